// SPDX-License-Identifier: GPL-2.0
/*
 * The architectural PMU: what CPUID leaves 0AH and 23H say, and the registers they
 * promise.  SDM volume 3, "Performance monitoring", "Architectural
 * performance monitoring"; register numbers and layouts are in its tables of
 * architectural MSRs.
 *
 * Everything below the decoder acts on the CPU it runs on, with interrupts
 * off; nothing here prints, sleeps, allocates or calls another CPU.
 */
#include <linux/bitfield.h>
#include <linux/bitops.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/lockdep.h>
#include <linux/minmax.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <asm/msr-index.h>

#include "pmu_global.h"
#include "pmu_hw.h"
#include "pmu_intel.h"
#include "pmu_ops.h"
#include "pmu_why.h"

#define INTEL_PMU_LEAF			0xa

#define LEAF_EAX_VERSION		GENMASK(7, 0)
#define LEAF_EAX_NUM_COUNTERS		GENMASK(15, 8)
#define LEAF_EAX_BIT_WIDTH		GENMASK(23, 16)
#define LEAF_EAX_MASK_LENGTH		GENMASK(31, 24)
#define LEAF_EDX_NUM_FIXED		GENMASK(4, 0)
#define LEAF_EDX_BIT_WIDTH_FIXED	GENMASK(12, 5)

#define CPUID_1_EAX_MODEL		GENMASK(7, 4)
#define CPUID_1_EAX_FAMILY		GENMASK(11, 8)
#define CPUID_1_EAX_EXT_MODEL		GENMASK(19, 16)
#define CPUID_1_ECX_PDCM		BIT(15)
#define CPUID_1_ECX_HYPERVISOR		BIT(31)
#define PERF_CAP_FULL_WIDTH_WRITE	BIT_ULL(13)

/* One fixed counter's field in IA32_FIXED_CTR_CTRL. */
#define FIXED_FIELD_BITS		4
#define FIXED_FIELD			GENMASK_ULL(FIXED_FIELD_BITS - 1, 0)
#define FIXED_OS			BIT_ULL(0)
#define FIXED_USR			BIT_ULL(1)
#define FIXED_PMI			BIT_ULL(3)

/* Version 1 has no GLOBAL registers: a counter counts when its select has EN. */
#define GLOBAL_VERSION			2

static const struct my_global intel_global = {
	.ctrl = MSR_CORE_PERF_GLOBAL_CTRL,
	.status = MSR_CORE_PERF_GLOBAL_STATUS,
	.clear = MSR_CORE_PERF_GLOBAL_OVF_CTRL,
};

/*
 * From version 4 on an overflow that interrupts can freeze all counters, until
 * IA32_PERF_GLOBAL_STATUS.CTR_FRZ is cleared; SDM, "Freezing LBR and performance counters on
 * PMI".  Before, it clears IA32_PERF_GLOBAL_CTRL instead, which has another owner here.
 */
#define FREEZE_VERSION			4

/* The generic counter that microcode uses for TSX. */
#define TSX_COUNTER			3

/* What every CPU of version 2 has, whatever it says. */
#define FIXED_OF_VERSION_2		3

/*
 * Leaf 23H has what leaf 0AH has no room for; on hybrids it speaks of the CPU that asks,
 * and leaf 0AH of what all kinds have.
 */
#define INTEL_FEATURE_LEAF		7
#define FEATURE_1_EAX_PERFMON_EXT	BIT(8)
#define INTEL_PERFMON_EXT_LEAF		0x23
/* EBX of its sub-leaf 0: bits of event selects. */
#define EXT_EBX_UMASK2			BIT(0)
#define EXT_EBX_EQ			BIT(1)
/* Its sub-leaves; EAX of sub-leaf 0 has a bit for each that there is. */
#define EXT_COUNTERS			1
#define EXT_RELOAD			2
#define EXT_EVENTS			3
#define EXT_PRECISE			5

/*
 * From version 6 on all registers of a counter stand together: the counter, its event
 * select, and two more, by which other counters' overflows reload it, or its own writes a
 * record (PEBS).
 */
#define REGISTERS_OF_VERSION_6		6
#define MSR_PMC_GP0_CTR			0x1900
#define MSR_PMC_GP0_CFG_A		0x1901
#define MSR_PMC_FX0_CTR			0x1980
#define MSR_PMC_STEP			4
#define PMC_CFG_B			2	/* from the counter's MSR on */
#define PMC_CFG_C			3

/* Topology; EBX of its first sub-leaf: how many threads a core has. */
#define INTEL_TOPOLOGY_LEAF		0xb
#define LEAF_EBX_THREADS		GENMASK(15, 0)

/* struct my_x86_pmu.flags */
#define INTEL_FULL_WIDTH	BIT(0)	/* generic counters can be written in all their bits */
/*
 * Overflow bits are cleared while a counter runs: Zhaoxin's ZX-C clears them only while
 * GLOBAL_CTRL is not 0 (arch/x86/events/zhaoxin/core.c: enabled_ack).
 */
#define INTEL_ACK_RUNNING	BIT(1)
#define INTEL_HT_ERRATUM	BIT(2)	/* some events make the sibling thread's counts wrong */
#define INTEL_UMASK2		BIT(3)	/* event selects have it */
#define INTEL_EQ		BIT(4)	/* likewise */
#define INTEL_PDCM		BIT(5)	/* there is IA32_PERF_CAPABILITIES */

/* struct my_hw_perf_event.more */
#define INTEL_HW_CFG		BIT(0)	/* CFG_C, and perhaps CFG_B */
#define INTEL_HW_EXTRA		BIT(1)	/* an extra register */

/* Counters narrower than this or wider cannot be right. */
#define MIN_BIT_WIDTH			32
#define MAX_BIT_WIDTH			64

#define MAX_FIXED	(BITS_PER_LONG_LONG / FIXED_FIELD_BITS)

/*
 * Before version 6 the event selects end where IA32_PERF_STATUS begins; since, there are
 * bits for so many.
 */
#define MAX_GENERIC_LEGACY	(MSR_IA32_PERF_STATUS - MSR_ARCH_PERFMON_EVENTSEL0)
#define MAX_GENERIC		INTEL_PMC_IDX_FIXED

/* More fixed counters have no field in IA32_FIXED_CTR_CTRL. */
#define MAX_COUNTERS(generic)	(GENMASK_ULL((generic) - 1, 0) |	\
				 GENMASK_ULL(MAX_FIXED - 1, 0) << INTEL_PMC_IDX_FIXED)

#define CONFIG_EVENT	ARCH_PERFMON_EVENTSEL_EVENT
#define CONFIG_EVENT_AMD GENMASK_ULL(35, 32)	/* the upper bits of AMD's */
#define CONFIG_UMASK2	GENMASK_ULL(47, 40)
#define CONFIG_EQ	BIT_ULL(36)
#define CONFIG_CODE	(ARCH_PERFMON_EVENTSEL_EVENT | ARCH_PERFMON_EVENTSEL_UMASK | \
			 CONFIG_UMASK2)

/* The bits of perf's raw config that say how to count an event, not which one. */
#define CONFIG_MODIFIERS (ARCH_PERFMON_EVENTSEL_EDGE | ARCH_PERFMON_EVENTSEL_INV | \
			  ARCH_PERFMON_EVENTSEL_CMASK | CONFIG_EQ)

/*
 * The architectural events, umask and event select, in the order of their bits in
 * EBX: SDM, "Pre-defined architectural performance events".
 */
static const u16 intel_arch_events[] = {
#define ARCH_CYCLES		0
	0x003c,		/* unhalted core cycles */
#define ARCH_INSTRUCTIONS	1
	0x00c0,		/* instructions retired */
	0x013c,		/* unhalted reference cycles */
	0x4f2e,		/* last-level cache references */
	0x412e,		/* last-level cache misses */
	0x00c4,		/* branch instructions retired */
	0x00c5,		/* branch misses retired */
#define LAST_OLD_EVENT	6	/* older models use the encodings of those that follow for others */
	0x01a4,		/* topdown slots */
	0x02a4,		/* topdown backend bound */
	0x0073,		/* topdown bad speculation */
	0x019c,		/* topdown frontend bound */
	0x02c2,		/* topdown retiring */
	0x01e4,		/* LBR inserts */
};

/*
 * What the fixed counters count.  Fixed counter 2 counts at the TSC's rate; event
 * select 3CH, 01H counts another clock on most CPUs.  So, like perf, we call what
 * fixed counter 2 counts, and the slots of 3, event 0 with a umask.
 */
static const u16 intel_fixed_events[] = {
	0x00c0,		/* INST_RETIRED.ANY */
	0x003c,		/* CPU_CLK_UNHALTED.THREAD */
	0x0300,		/* CPU_CLK_UNHALTED.REF_TSC */
	0x0400,		/* TOPDOWN.SLOTS */
	0x0073,		/* TOPDOWN_BAD_SPECULATION.ALL */
	0x019c,		/* TOPDOWN_FE_BOUND.ALL */
	0x02c2,		/* TOPDOWN_RETIRING.ALL */
};

/*
 * What a round of hw_run_known_code() has: 16 instructions in a chain, in which a
 * multiplication waits for the one before: 3 cycles on the big cores of today, 14 on Bonnell,
 * twice that beside a sibling that multiplies, too; 1 in the emulated PMU of our lab.  The
 * reference clock may run at an eighth of the core's rate, or at many times that.  The
 * bounds only have to tell a counter from a constant or another event.
 */
#define KERNEL_EVENT(_name, _config)	{				\
	.name = _name, .config = _config, .named = true,		\
	.exclude_user = true, .constraint = MY_PMC_ANY,			\
}

/* On some models a generic counter does not count it, and here it need not. */
#define FIXED_EVENT(_name, _config)	{				\
	.name = _name, .config = _config, .allowed = MY_FIXED_COUNTERS,	\
	.exclude_user = true, .constraint = MY_PMC_ANY,			\
}

static const struct my_pmu_probe intel_probes[] = {
	{ "instructions", KERNEL_EVENT("instructions", 0x00c0),
	  HW_ROUND_INSTRUCTIONS, HW_ROUND_INSTRUCTIONS },
	{ "cycles", KERNEL_EVENT("cycles", 0x003c),
	  HW_ROUND_INSTRUCTIONS * 3 / 4, HW_ROUND_INSTRUCTIONS * 64 },
	{ "reference cycles", KERNEL_EVENT("ref-cycles", 0x0300),
	  HW_ROUND_INSTRUCTIONS / 8, HW_ROUND_INSTRUCTIONS * 64 },
	{ "slots", KERNEL_EVENT("slots", 0x0400),
	  HW_ROUND_INSTRUCTIONS, HW_ROUND_INSTRUCTIONS * 128 },
	{ "slots of bad speculation", FIXED_EVENT("bad speculation", 0x0073),
	  0, HW_ROUND_INSTRUCTIONS * 128 },
	{ "slots without an instruction", FIXED_EVENT("frontend bound", 0x019c),
	  0, HW_ROUND_INSTRUCTIONS * 128 },
	{ "slots of what retired", FIXED_EVENT("retiring", 0x02c2),
	  HW_ROUND_INSTRUCTIONS / 2, HW_ROUND_INSTRUCTIONS * 4 },
};

/*
 * What some events need besides their event select: which responses from beyond the core
 * (OFFCORE_RSP), which stalls of the front end.  A load's latency (3F6H) is of no use
 * without PEBS.  From Sandy Bridge on each thread has its own.
 */
static const u32 intel_extra_msrs[] = {
	MSR_OFFCORE_RSP_0, MSR_OFFCORE_RSP_1, MSR_PEBS_FRONTEND,
};

/**
 * struct intel_state - what struct my_pmu_state is here
 * @global: of the registers that all counters share
 * @before: of each counter, by id, what its registers held before us; of
 *	IA32_FIXED_CTR_CTRL its field
 * @extra: of each register of intel_extra_msrs the counters whose events use it, and what
 *	it held before the first of them
 */
struct intel_state {
	struct my_global_state global;
	struct intel_before {
		u64 config, count, cfg_b, cfg_c;
	} before[MY_PMC_NR];
	struct intel_extra {
		u64 before;
		u64 users;
	} extra[ARRAY_SIZE(intel_extra_msrs)];
};

static_assert(sizeof(struct intel_state) <= sizeof(struct my_pmu_state));
static_assert(INTEL_PMC_IDX_FIXED + MAX_FIXED <= MY_PMC_NR);
static_assert(MAX_FIXED == MY_GLOBAL_MAX_FIXED);

/**
 * struct intel_snapshot - what struct my_pmu_snapshot is here
 * @select: of each generic counter its event select
 * @count: of each counter its value, by id
 * @fixed_ctrl: IA32_FIXED_CTR_CTRL
 */
struct intel_snapshot {
	u64 select[MAX_GENERIC];
	u64 count[INTEL_PMC_IDX_FIXED + MAX_FIXED];
	u64 fixed_ctrl;
};

static_assert(sizeof(struct intel_snapshot) <= sizeof(struct my_pmu_snapshot));

/* --- events: pure ----------------------------------------------------------- */

/* Its place among intel_extra_msrs; or one behind them. */
static unsigned int find_extra(u32 msr)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(intel_extra_msrs); i++) {
		if (intel_extra_msrs[i] == msr)
			break;
	}
	return i;
}

/* Its bit in EBX; or one that EBX does not have. */
static unsigned int intel_arch_event(u64 config)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(intel_arch_events); i++) {
		if ((config & CONFIG_CODE) == intel_arch_events[i])
			break;
	}
	return i;
}

/*
 * What one generic counter alone counts on some model or another
 * (arch/x86/events/intel/core.c has the models): where the model is not known, that
 * counter is right on all of them that have it and this version or a later one.  0 in the
 * upper byte stands for any umask; the first that fits is the event's.
 */
static const struct {
	u16 code;
	u8 umasks;
	u8 counter;
	u8 version;
} intel_single[] = {
	{ 0x0010, 0x00, 0 },	/* FP_COMP_OPS_EXE: Core 2 */
	{ 0x0011, 0x00, 1 },	/* FP_ASSIST: Core 2 */
	{ 0x0012, 0x00, 1 },	/* MUL: Core 2 */
	{ 0x0013, 0x00, 1 },	/* DIV: Core 2 */
	{ 0x0014, 0x00, 0 },	/* CYCLES_DIV_BUSY: Core 2 */
	{ 0x0018, 0x00, 0 },	/* IDLE_DURING_DIV: Core 2 */
	{ 0x0019, 0x00, 1 },	/* DELAYED_BYPASS: Core 2 */
	{ 0x0048, 0x00, 2 },	/* L1D_PEND_MISS: Sandy Bridge to Broadwell, Lion Cove */
	{ 0x0060, 0x00, 0 },	/* OFFCORE_REQUESTS_OUTSTANDING: Westmere */
	{ 0x0175, 0xff, 2 },	/* Lion Cove */
	{ 0x00a1, 0x00, 0 },	/* RS_UOPS_DISPATCH_CYCLES: Core 2 */
	{ 0x02a3, 0xff, 2 },	/* CYCLE_ACTIVITY.*: Sandy Bridge to Lion Cove */
	{ 0x06a3, 0xff, 2 },
	{ 0x08a3, 0xff, 2 },
	{ 0x0ca3, 0xff, 2 },
	{ 0x04a4, 0xff, 0 },	/* TOPDOWN.*: Golden Cove and later */
	{ 0x08a4, 0xff, 0 },
	{ 0x10a4, 0xff, 3 },
	{ 0x01b1, 0xff, 3 },	/* Lion Cove */
	{ 0x00b3, 0x00, 0 },	/* SNOOPQ_REQUESTS_OUTSTANDING: Westmere */
	{ 0x01c0, 0xff, 1 },	/* INST_RETIRED.PREC_DIST: Sandy Bridge to Skylake */
	{ 0x00c9, 0x00, 0 },	/* ITLB_MISS_RETIRED: Core 2 */
	{ 0x00cb, 0x00, 0 },	/* MEM_LOAD_RETIRED: Core 2 */
	{ 0x02cd, 0xff, 0, 5 },	/* MEM_TRANS_RETIRED.STORE_SAMPLE: Golden Cove, Lion Cove */
	{ 0x00cd, 0x00, 3 },	/* MEM_TRANS_RETIRED: Sandy Bridge, Haswell, Lion Cove */
	{ 0x00ce, 0x00, 0 },	/* Golden Cove */
};

/*
 * Where perf does not say where a model counts an event.  What is architectural, by its
 * first bits in EBX or because EBX has it, any counter counts.  Of the others there are
 * some on each model that only generic counters 0 to 3 count.
 */
static u64 intel_constraint(const struct my_x86_pmu *pmu, u64 config)
{
	unsigned int i = intel_arch_event(config);

	if (i <= LAST_OLD_EVENT ||
	    (i < ARRAY_SIZE(intel_arch_events) && pmu->arch_events & BIT(i)))
		return ~0ULL;
	for (i = 0; i < ARRAY_SIZE(intel_single); i++) {
		u16 code = config & (CONFIG_EVENT | intel_single[i].umasks << 8);
		u64 counter = BIT_ULL(intel_single[i].counter);

		if (code == intel_single[i].code && counter & pmu->counters &&
		    pmu->version >= intel_single[i].version)
			return counter;
	}
	return MY_FIXED_COUNTERS | GENMASK_ULL(3, 0);
}

/*
 * Generic counters count what has an event select.  Fixed counters count one event
 * each, and neither cycles with a number of them (cmask) nor edges, whether perf knows them
 * or not; or what perf says.
 *
 * EBX says of the events that it covers whether they exist.  What it does not
 * cover may be an event of this model, with the same encoding or another: the
 * user who writes it raw knows it, a name would promise it.  perf, which knows the
 * model, is believed before EBX: Nehalem's is wrong (erratum AAJ80).
 */
static u64 intel_counters_for(const struct my_x86_pmu *pmu,
			      const struct my_perf_event_attr *attr,
			      u64 *doubtful, const char **reason)
{
	u64 known = attr->counters, counters, right = 0;
	unsigned int i;

	if (doubtful)
		*doubtful = 0;
	if (attr->config & CONFIG_UMASK2 && !(pmu->flags & INTEL_UMASK2)) {
		*reason = "does not have UMASK2 (CPUID.23H:EBX), bits 40 to 47 of an event select";
		return 0;
	}
	if (attr->config & CONFIG_EVENT_AMD) {
		*reason = "has events of 8 bits; more are AMD's";
		return 0;
	}
	if (attr->period && pmu->version < GLOBAL_VERSION) {
		*reason = "has version 1 of the PMU; a period needs version 2";
		return 0;
	}
	/* Their overflow bits cannot be cleared while all counters stand still. */
	if (attr->period && pmu->flags & INTEL_ACK_RUNNING) {
		*reason = "is not Intel's; a period needs a PMU that is";
		return 0;
	}
	if (attr->config & CONFIG_EQ && !(pmu->flags & INTEL_EQ)) {
		*reason = "does not have EQ (CPUID.23H:EBX), bit 36 of an event select";
		return 0;
	}
	/* Where perf counts the plain event says nothing of fixed counters for this one. */
	if (attr->config & (CONFIG_MODIFIERS | CONFIG_UMASK2))
		known &= MY_GENERIC_COUNTERS;
	counters = known & pmu->counters & MY_FIXED_COUNTERS;
	if (attr->config & CONFIG_EVENT)
		counters |= pmu->counters & MY_GENERIC_COUNTERS;
	for (i = 0; i < ARRAY_SIZE(intel_fixed_events); i++) {
		if ((attr->config & (CONFIG_CODE | CONFIG_MODIFIERS)) == intel_fixed_events[i])
			right |= pmu->counters & BIT_ULL(INTEL_PMC_IDX_FIXED + i);
	}
	counters |= right;
	i = intel_arch_event(attr->config);
	if (counters && !attr->confirmed && i < ARRAY_SIZE(intel_arch_events) &&
	    (i < pmu->arch_events_len ? !(pmu->arch_events & BIT(i)) : attr->named)) {
		*reason = "does not have this event (CPUID.0AH:EBX flags it absent)";
		return 0;
	}
	if (attr->extra.msr && find_extra(attr->extra.msr) == ARRAY_SIZE(intel_extra_msrs)) {
		*reason = "needs an extra register for it, which is not programmed here";
		return 0;
	}
	if (pmu->flags & INTEL_HT_ERRATUM && (attr->config & CONFIG_EVENT) >= 0xd0 &&
	    (attr->config & CONFIG_EVENT) <= 0xd3) {
		*reason =
			"has the erratum BJ122 (BV98, HSD29): it spoils the sibling's counts";
		return 0;
	}
	*reason = "has no counter that counts it";
	right |= counters & (known ?: intel_constraint(pmu, attr->config));
	if (doubtful)
		*doubtful = counters & ~right;
	return right;
}

/*
 * INT and PMI are 0 unless the event has a period: Linux reports an NMI that no handler
 * claims.  AnyThread stays 0: it would count the sibling thread, too.
 *
 * Of architectural events there are a few in a cycle, and with a cmask one at most;
 * any other may be an occupancy.  Any code has some instructions and cycles; reference
 * cycles it need not have, because their clock may be slow.
 */
static void intel_encode(const struct my_x86_pmu *pmu,
			 const struct my_perf_event_attr *attr,
			 struct my_hw_perf_event *hw)
{
	unsigned int i = my_pmc_number(hw->idx), shift = i * FIXED_FIELD_BITS;
	u64 user = !attr->exclude_user, kernel = !attr->exclude_kernel;
	u64 event = attr->config & (CONFIG_CODE | CONFIG_MODIFIERS);

	hw->rate_log2 = MY_RATE_LOG2;
	hw->any_code = kernel && (event == intel_arch_events[ARCH_CYCLES] ||
				  event == intel_arch_events[ARCH_INSTRUCTIONS]);
	hw->more = pmu->cfg_c & BIT_ULL(hw->idx) ? INTEL_HW_CFG : 0;
	hw->more |= attr->extra.msr ? INTEL_HW_EXTRA : 0;
	hw->extra_msr = attr->extra.msr;
	hw->extra_config = attr->extra.config;
	if (my_pmc_is_fixed(hw->idx)) {
		hw->config = (user * FIXED_USR | kernel * FIXED_OS |
			      (attr->period ? FIXED_PMI : 0)) << shift;
		hw->config_mask = FIXED_FIELD << shift;
		hw->config_base = MSR_CORE_PERF_FIXED_CTR_CTRL;
		hw->event_base = my_pmu_counter_msr(pmu, hw->idx);
		/* SDM, RDPMC: ECX[30] selects the fixed counters. */
		hw->event_base_rdpmc = i | INTEL_PMC_FIXED_RDPMC_BASE;
		hw->cntval_bits = pmu->cntval_bits_fixed;
		return;
	}
	hw->config = (attr->config & (CONFIG_CODE | CONFIG_MODIFIERS)) |
		     user * ARCH_PERFMON_EVENTSEL_USR |
		     kernel * ARCH_PERFMON_EVENTSEL_OS |
		     (attr->period ? ARCH_PERFMON_EVENTSEL_INT : 0) |
		     ARCH_PERFMON_EVENTSEL_ENABLE;
	if (!(attr->config & ARCH_PERFMON_EVENTSEL_CMASK) &&
	    intel_arch_event(attr->config) == ARRAY_SIZE(intel_arch_events))
		hw->rate_log2 = MY_OCCUPANCY_RATE_LOG2;
	hw->config_mask = ~0ULL;
	hw->config_base = my_pmu_eventsel_msr(pmu, hw->idx);
	hw->event_base = my_pmu_counter_msr(pmu, hw->idx);
	hw->event_base_rdpmc = i;
	hw->cntval_bits = pmu->cntval_bits;
}

/* --- registers that all counters share ---------------------------------------- */

/* Version 1 has none of them. */
static int intel_save(const struct my_x86_pmu *pmu, struct my_pmu_state *state,
		      u64 counters)
{
	struct intel_state *s = (struct intel_state *)state->word;

	lockdep_assert_irqs_disabled();
	return pmu->version < GLOBAL_VERSION ? 0 :
	       my_global_save(&intel_global, &s->global, counters);
}

static int intel_stop(const struct my_x86_pmu *pmu, struct my_pmu_state *state,
		      u64 counters, struct my_pmu_stopped *stopped)
{
	struct intel_state *s = (struct intel_state *)state->word;

	lockdep_assert_irqs_disabled();
	if (pmu->version < GLOBAL_VERSION) {
		*stopped = (struct my_pmu_stopped) { .running = counters, .enabled = counters };
		return 0;
	}
	return my_global_stop(&intel_global, &s->global, counters, stopped);
}

static int intel_start(const struct my_x86_pmu *pmu, struct my_pmu_state *state,
		       u64 counters, u64 ack)
{
	struct intel_state *s = (struct intel_state *)state->word;

	lockdep_assert_irqs_disabled();
	return pmu->version < GLOBAL_VERSION ? 0 :
	       my_global_start(&intel_global, &s->global, counters, ack,
			       pmu->flags & INTEL_ACK_RUNNING);
}

static int intel_start_beside(const struct my_x86_pmu *pmu, struct my_pmu_state *state,
			      u64 ours, u64 counters, u64 ack)
{
	struct intel_state *s = (struct intel_state *)state->word;

	int err;

	lockdep_assert_irqs_disabled();
	if (pmu->version < GLOBAL_VERSION)
		return 0;
	err = my_global_start_beside(&intel_global, &s->global, ours, counters, ack);
	return err == -EAGAIN ? intel_start(pmu, state, counters, ack) : err;
}

static int intel_restore(const struct my_x86_pmu *pmu, struct my_pmu_state *state,
			 u64 counters)
{
	struct intel_state *s = (struct intel_state *)state->word;

	lockdep_assert_irqs_disabled();
	return pmu->version < GLOBAL_VERSION ? 0 :
	       my_global_restore(&intel_global, &s->global, counters);
}

/* --- one event's registers ------------------------------------------------------ */

/* What is 0, as nearly always, is not written. */
static int intel_put_cfg(const struct my_hw_perf_event *hw,
			 const struct intel_before *before)
{
	int b = 0, c = 0;

	if (before->cfg_b)
		b = hw_wrmsr(hw->event_base + PMC_CFG_B, before->cfg_b);
	if (before->cfg_c)
		c = hw_wrmsr(hw->event_base + PMC_CFG_C, before->cfg_c);
	return b ?: c;
}

/*
 * Of a counter that has CFG_C: those that have CFG_B have that, too.
 *
 * Linux clears neither CFG_B nor CFG_C when it disables an event, so that a counter would
 * be reloaded by overflows of others, or write records and interrupt.
 */
static int intel_take_cfg(const struct my_x86_pmu *pmu, const struct my_hw_perf_event *hw,
			  struct intel_before *before)
{
	int err;

	before->cfg_b = 0;
	err = hw_rdmsr(hw->event_base + PMC_CFG_C, &before->cfg_c);
	if (!err && pmu->cfg_b & BIT_ULL(hw->idx))
		err = hw_rdmsr(hw->event_base + PMC_CFG_B, &before->cfg_b);
	if (!err && before->cfg_b)
		err = hw_wrmsr(hw->event_base + PMC_CFG_B, 0);
	if (!err && before->cfg_c)
		err = hw_wrmsr(hw->event_base + PMC_CFG_C, 0);
	return err;
}

/*
 * An event's register holds what all its users want, unless somebody else has written it
 * since.  Then the others have counted something else, too, and would not see that once it
 * is mended: the event selects of all are cleared, which the next look at each of them
 * notices.  The caller writes that of this one.
 */
static int intel_program_extra(const struct my_x86_pmu *pmu, const struct intel_extra *extra,
			       const struct my_hw_perf_event *hw)
{
	u64 left = extra->users, val;
	int err = hw_rdmsr(hw->extra_msr, &val);

	if (err || val == hw->extra_config)
		return err;
	for (; left; left &= left - 1) {
		err = hw_wrmsr(my_pmu_eventsel_msr(pmu, __ffs64(left)), 0);
		if (err)
			return err;
	}
	return hw_wrmsr(hw->extra_msr, hw->extra_config);
}

static int intel_take_extra(const struct my_x86_pmu *pmu, struct intel_state *s,
			    const struct my_hw_perf_event *hw)
{
	struct intel_extra *extra = &s->extra[find_extra(hw->extra_msr)];
	int err = 0;

	if (!extra->users)
		err = hw_rdmsr(hw->extra_msr, &extra->before);
	if (!err)
		err = intel_program_extra(pmu, extra, hw);
	if (!err)
		extra->users |= BIT_ULL(hw->idx);
	return err;
}

static int intel_put_extra(struct intel_state *s, const struct my_hw_perf_event *hw)
{
	struct intel_extra *extra = &s->extra[find_extra(hw->extra_msr)];

	extra->users &= ~BIT_ULL(hw->idx);
	return extra->users ? 0 : hw_wrmsr(hw->extra_msr, extra->before);
}

/* What few events have; out of the way of all others. */
static noinline int intel_take_more(const struct my_x86_pmu *pmu, struct intel_state *s,
				    const struct my_hw_perf_event *hw)
{
	struct intel_before *before = &s->before[hw->idx];
	int err = 0;

	if (hw->more & INTEL_HW_CFG)
		err = intel_take_cfg(pmu, hw, before);
	if (!err && hw->more & INTEL_HW_EXTRA)
		err = intel_take_extra(pmu, s, hw);
	if (err && hw->more & INTEL_HW_CFG)
		intel_put_cfg(hw, before);
	return err;
}

static noinline int intel_put_more(struct intel_state *s, const struct my_hw_perf_event *hw)
{
	int extra = 0, cfg = 0;

	if (hw->more & INTEL_HW_EXTRA)
		extra = intel_put_extra(s, hw);
	if (hw->more & INTEL_HW_CFG)
		cfg = intel_put_cfg(hw, &s->before[hw->idx]);
	return extra ?: cfg;
}

/* What somebody else has left there since it was taken is not put back. */
static noinline int intel_program_more(const struct my_x86_pmu *pmu,
				       const struct intel_state *s,
				       const struct my_hw_perf_event *hw)
{
	struct intel_before theirs;
	int err = 0;

	if (hw->more & INTEL_HW_CFG)
		err = intel_take_cfg(pmu, hw, &theirs);
	if (!err && hw->more & INTEL_HW_EXTRA)
		err = intel_program_extra(pmu, &s->extra[find_extra(hw->extra_msr)], hw);
	return err;
}

/* The register that fixed counters share has fields of others, which stay. */
static __always_inline int intel_write_control(const struct my_hw_perf_event *hw, u64 config)
{
	u64 ctrl = 0;
	int err;

	if (hw->config_mask != ~0ULL) {
		err = hw_rdmsr(hw->config_base, &ctrl);
		if (err)
			return err;
	}
	return hw_wrmsr(hw->config_base, (ctrl & ~hw->config_mask) | config);
}

static int intel_program(const struct my_x86_pmu *pmu, struct my_pmu_state *state,
			 const struct my_hw_perf_event *hw, u64 config)
{
	int err;

	lockdep_assert_irqs_disabled();
	if (unlikely(hw->more)) {
		err = intel_program_more(pmu, (const struct intel_state *)state->word, hw);
		if (err)
			return err;
	}
	return intel_write_control(hw, config);
}

static int intel_read(const struct my_hw_perf_event *hw, u64 *val)
{
	u64 config;
	int err;

	lockdep_assert_irqs_disabled();
	err = hw_rdpmc(hw->event_base_rdpmc, val);
	if (err)
		return err;
	err = hw_peek_msr(hw->config_base, &config);
	if (err || (config & hw->config_mask) != hw->config)
		return err ?: 1;
	if (likely(!hw->extra_msr))
		return 0;
	err = hw_peek_msr(hw->extra_msr, &config);
	return err ?: config != hw->extra_config;
}

/* SDM: bits beyond the counter's width must be 0 in a full-width write. */
static int intel_write(const struct my_hw_perf_event *hw, s32 val)
{
	lockdep_assert_irqs_disabled();
	return hw_wrmsr(hw->event_base,
			(s64)val & GENMASK_ULL(hw->cntval_bits - 1, 0));
}

/*
 * Without full-width writes a generic counter takes 32 bits, sign-extended.  A value
 * that cannot be written is not put back: the counter keeps what it has counted,
 * which is no worse than half of the value that it had.
 */
static __always_inline int intel_write_saved(const struct my_x86_pmu *pmu, int idx, u32 msr,
					     u64 count)
{
	u64 legacy = (s64)(s32)count & GENMASK_ULL(pmu->cntval_bits - 1, 0);

	if (my_pmc_is_fixed(idx) || pmu->flags & INTEL_FULL_WIDTH || legacy == count)
		return hw_wrmsr(msr, count);
	return 0;
}

/*
 * Stop, then the counter, then the control: SDM asks that a counter not be
 * written while it is enabled.  All are tried, whatever fails.
 */
static int intel_disable(const struct my_x86_pmu *pmu, struct my_pmu_state *state,
			 struct my_hw_perf_event *hw)
{
	struct intel_state *s = (struct intel_state *)state->word;
	const struct intel_before *before = &s->before[hw->idx];
	int first, err;

	lockdep_assert_irqs_disabled();
	first = intel_write_control(hw, 0);
	err = intel_write_saved(pmu, hw->idx, hw->event_base, before->count);
	first = first ?: err;
	if (unlikely(hw->more)) {
		err = intel_put_more(s, hw);
		first = first ?: err;
	}
	err = intel_write_control(hw, before->config);
	return first ?: err;
}

/* The counter counts on from its existing value: only its growth is counted. */
static int intel_enable(const struct my_x86_pmu *pmu, struct my_pmu_state *state,
			struct my_hw_perf_event *hw)
{
	struct intel_state *s = (struct intel_state *)state->word;
	struct intel_before *before = &s->before[hw->idx];
	int err;

	lockdep_assert_irqs_disabled();
	err = hw_rdmsr(hw->config_base, &before->config);
	if (err)
		return err;
	before->config &= hw->config_mask;
	err = hw_rdmsr(hw->event_base, &before->count);
	if (err)
		return err;
	if (unlikely(hw->more)) {
		err = intel_take_more(pmu, s, hw);
		if (err)
			return err;
	}
	err = intel_write_control(hw, hw->config);
	if (err) {
		intel_put_more(s, hw);
		return err;
	}
	err = hw_rdpmc(hw->event_base_rdpmc, &hw->prev_count);
	if (err)
		intel_disable(pmu, state, hw);	/* in version 1 it has counted */
	return err;
}

/* --- interrupts ------------------------------------------------------------------ */

static int intel_interrupt(struct my_hw_perf_event *hw, bool on)
{
	unsigned int i = my_pmc_number(hw->idx);
	u64 bit = my_pmc_is_fixed(hw->idx) ? FIXED_PMI << i * FIXED_FIELD_BITS :
					     ARCH_PERFMON_EVENTSEL_INT;
	u64 config = on ? hw->config | bit : hw->config & ~bit;
	int err = intel_write_control(hw, config);

	if (!err)
		hw->config = config;
	return err;
}

static int intel_pmi_take(const struct my_x86_pmu *pmu, struct my_pmu_state *state,
			  bool freeze)
{
	struct intel_state *s = (struct intel_state *)state->word;

	lockdep_assert_irqs_disabled();
	return my_global_pmi_take(&s->global, pmu->version >= FREEZE_VERSION,
				  pmu->flags & INTEL_PDCM, freeze);
}

static int intel_pmi_put(const struct my_x86_pmu *pmu, struct my_pmu_state *state)
{
	lockdep_assert_irqs_disabled();
	return my_global_pmi_put(&intel_global, &((struct intel_state *)state->word)->global);
}

static u64 intel_pmi_enter(struct my_pmu_state *state, u64 counters)
{
	return my_global_pmi_enter(&intel_global, &((struct intel_state *)state->word)->global,
				   counters);
}

static u64 intel_pmi_again(struct my_pmu_state *state, u64 counters)
{
	return my_global_pmi_again(&intel_global, &((struct intel_state *)state->word)->global,
				   counters);
}

static void intel_pmi_exit(struct my_pmu_state *state)
{
	my_global_pmi_exit(&intel_global, &((struct intel_state *)state->word)->global);
}

static void intel_pmi_late(const struct my_pmu_state *state)
{
	my_global_pmi_late(&((const struct intel_state *)state->word)->global);
}

static int intel_pmi_rearm(struct my_pmu_state *state, u64 counters)
{
	lockdep_assert_irqs_disabled();
	return my_global_pmi_rearm(&intel_global, &((struct intel_state *)state->word)->global,
				   counters);
}

/* --- who uses a counter ----------------------------------------------------------- */

/*
 * Whoever has enabled a counter uses it.  That an event select names an event, as
 * IA32_PERF_GLOBAL_INUSE would tell, says nothing: perf clears EN and leaves the rest
 * behind, after a precise event (PEBS) without INT (arch/x86/events/intel/ds.c).
 *
 * Some CPUs' microcode uses a generic counter to run TSX, unless it aborts each transaction,
 * always or when it is told to (arch/x86/events/intel/core.c: TSX_FORCE_ABORT).
 */
static int intel_find_in_use(const struct my_x86_pmu *pmu, u64 counters, u64 *in_use)
{
	u64 left, val;
	int err, idx;

	lockdep_assert_irqs_disabled();
	*in_use = 0;
	err = my_select_find_in_use(pmu, pmu->counters & MY_GENERIC_COUNTERS, in_use);
	if (err)
		return err;
	left = pmu->counters & MY_FIXED_COUNTERS;
	if (left) {
		err = hw_rdmsr(MSR_CORE_PERF_FIXED_CTR_CTRL, &val);
		if (err)
			return err;
	}
	for (; left; left &= left - 1) {
		idx = __ffs64(left);
		if (val >> my_pmc_number(idx) * FIXED_FIELD_BITS & (FIXED_OS | FIXED_USR))
			*in_use |= BIT_ULL(idx);
	}
	if (!hw_has_tsx_force_abort())
		return 0;
	err = hw_rdmsr(MSR_TSX_FORCE_ABORT, &val);
	if (!err && !(val & MSR_TFA_RTM_FORCE_ABORT))
		*in_use |= BIT_ULL(TSX_COUNTER);
	return err;
}

/* --- what perf writes when it is asked ----------------------------------------------- */

static int intel_snapshot(const struct my_x86_pmu *pmu, struct my_pmu_state *state,
			  struct my_pmu_snapshot *snapshot)
{
	struct intel_snapshot *s = (struct intel_snapshot *)snapshot->word;
	u64 left, in_use;
	int err, idx;

	lockdep_assert_irqs_disabled();
	err = intel_save(pmu, state, ~0ULL);
	if (err || !snapshot)
		return err;
	err = intel_find_in_use(pmu, pmu->counters, &in_use);
	snapshot->in_use = in_use;
	snapshot->interrupts = 0;
	if (!err)
		err = my_select_snapshot(pmu, pmu->counters & MY_GENERIC_COUNTERS, s->count,
					 s->select, snapshot);
	left = pmu->counters & MY_FIXED_COUNTERS;
	if (left && !err)
		err = hw_rdmsr(MSR_CORE_PERF_FIXED_CTR_CTRL, &s->fixed_ctrl);
	for (; left && !err; left &= left - 1) {
		idx = __ffs64(left);
		err = hw_rdmsr(my_pmu_counter_msr(pmu, idx), &s->count[idx]);
		if (s->fixed_ctrl >> my_pmc_number(idx) * FIXED_FIELD_BITS & FIXED_PMI)
			snapshot->interrupts |= in_use & BIT_ULL(idx);
	}
	return err;
}

/*
 * The events by which perf was asked are gone.  If perf counts an event of somebody else by
 * now, its counter is enabled.  Of events that perf does not count just now it writes all
 * registers before it does.
 */
static int intel_put_back(const struct my_x86_pmu *pmu, struct my_pmu_state *state,
			  const struct my_pmu_snapshot *snapshot, u64 in_use)
{
	const struct intel_snapshot *s = (const struct intel_snapshot *)snapshot->word;
	u64 others = snapshot ? in_use & ~snapshot->in_use : 0, left, config;
	struct my_hw_perf_event hw;
	int first = 0, err, idx;

	lockdep_assert_irqs_disabled();
	if (!others)
		first = intel_restore(pmu, state, ~0ULL);
	if (!snapshot || !snapshot->counted)
		return first;
	for (left = pmu->counters & ~others; left; left &= left - 1) {
		idx = __ffs64(left);
		err = intel_write_saved(pmu, idx, my_pmu_counter_msr(pmu, idx), s->count[idx]);
		first = first ?: err;
		if (my_pmc_is_fixed(idx)) {
			hw.config_base = MSR_CORE_PERF_FIXED_CTR_CTRL;
			hw.config_mask = FIXED_FIELD << my_pmc_number(idx) * FIXED_FIELD_BITS;
			config = s->fixed_ctrl & hw.config_mask;
		} else {
			hw.config_base = my_pmu_eventsel_msr(pmu, idx);
			hw.config_mask = ~0ULL;
			config = s->select[idx];
		}
		err = intel_write_control(&hw, config);
		first = first ?: err;
	}
	return first;
}

/* --- capture ------------------------------------------------------------------------ */

/* In version 1 nothing tells whether somebody has stopped a counter. */
static bool intel_plan(const struct my_x86_pmu *pmu, const struct my_pmu_state *state,
		       const struct my_hw_perf_event *const hw[], unsigned int nr,
		       u64 quiet, bool freeze, struct my_pmu_plan *plan)
{
	const struct intel_state *s = (const struct intel_state *)state->word;

	return pmu->version >= GLOBAL_VERSION &&
	       my_global_plan(&s->global, hw, nr, quiet, freeze, plan);
}

static __always_inline int intel_capture(const struct my_pmu_plan *plan,
					 struct my_pmu_capture *capture)
{
	lockdep_assert_irqs_disabled();
	return my_global_capture(&intel_global, MSR_CORE_PERF_FIXED_CTR_CTRL, plan, capture);
}

static void intel_capture_one(void *request)
{
	lockdep_assert_irqs_disabled();
	my_capture_requested(request, intel_capture);
}

static void intel_capture_cpus(void *by_cpu)
{
	struct my_pmu_request **requests = by_cpu;

	lockdep_assert_irqs_disabled();
	my_capture_requested(requests[smp_processor_id()], intel_capture);
}

/* --- CPUID --------------------------------------------------------------------------- */

static const struct my_pmu_ops intel_ops = {
	.eventsel_reserve = MSR_ARCH_PERFMON_EVENTSEL0,
	.perfctr_reserve = MSR_ARCH_PERFMON_PERFCTR0,
	.code_bits = CONFIG_CODE,
	.others = &my_firmware,
	.probes = intel_probes,
	.nr_probes = ARRAY_SIZE(intel_probes),
	.counters_for = intel_counters_for,
	.encode = intel_encode,
	.snapshot = intel_snapshot,
	.put_back = intel_put_back,
	.save = intel_save,
	.restore = intel_restore,
	.enable = intel_enable,
	.disable = intel_disable,
	.program = intel_program,
	.start = intel_start,
	.stop = intel_stop,
	.start_beside = intel_start_beside,
	.read = intel_read,
	.write = intel_write,
	.find_in_use = intel_find_in_use,
	.plan = intel_plan,
	.capture = intel_capture,
	.capture_one = intel_capture_one,
	.capture_cpus = intel_capture_cpus,
	.peek = my_select_peek,
	.interrupt = intel_interrupt,
	.pmi_take = intel_pmi_take,
	.pmi_put = intel_pmi_put,
	.pmi_enter = intel_pmi_enter,
	.pmi_again = intel_pmi_again,
	.pmi_exit = intel_pmi_exit,
	.pmi_late = intel_pmi_late,
	.pmi_rearm = intel_pmi_rearm,
};

/*
 * CPUID.0AH: fixed counter i exists if ECX[i] (from version 5 on) or i < EDX[4:0].
 *
 * The first CPUs of version 2 answer 0 in EDX and have the three fixed counters
 * nevertheless.  A hypervisor that says so means it.  perf decides likewise for
 * Intel's CPUs (arch/x86/events/intel/core.c); all known ones of the other
 * vendors say that they have three.
 */
static u64 decode_counters(struct my_x86_pmu *pmu, const struct intel_pmu_leaf *leaf)
{
	unsigned int generic = min_t(unsigned int, MAX_GENERIC,
				     FIELD_GET(LEAF_EAX_NUM_COUNTERS, leaf->eax));
	unsigned int num = FIELD_GET(LEAF_EDX_NUM_FIXED, leaf->edx);
	unsigned int bits = FIELD_GET(LEAF_EDX_BIT_WIDTH_FIXED, leaf->edx);
	u64 fixed = 0, counters = generic ? GENMASK_ULL(generic - 1, 0) : 0;

	pmu->cntval_bits_fixed = bits;
	/* If there is a leaf 23H, what it has is all that this CPU has. */
	if (leaf->generic)
		return (u64)leaf->fixed << INTEL_PMC_IDX_FIXED | leaf->generic;
	if (pmu->version < 2)
		return counters;
	if (pmu->version < 5 && !leaf->hypervisor && num < FIXED_OF_VERSION_2) {
		num = FIXED_OF_VERSION_2;
		pmu->cntval_bits_fixed = bits ?: pmu->cntval_bits;
	}
	if (num)
		fixed = GENMASK_ULL(num - 1, 0);
	if (pmu->version >= 5)
		fixed |= leaf->ecx;
	return counters | fixed << INTEL_PMC_IDX_FIXED;
}

/*
 * SDM, "Full-width writes to performance counter registers": through their original
 * addresses only 32 bits of generic counters can be written, sign-extended.
 */
static const struct my_x86_pmu intel_registers[] = {
	{
		.eventsel = MSR_ARCH_PERFMON_EVENTSEL0,
		.perfctr = MSR_ARCH_PERFMON_PERFCTR0,
		.fixedctr = MSR_CORE_PERF_FIXED_CTR0,
		.msr_step = 1,
		.counters = MAX_COUNTERS(MAX_GENERIC_LEGACY),
	}, {	/* from version 6 on */
		.eventsel = MSR_PMC_GP0_CFG_A,
		.perfctr = MSR_PMC_GP0_CTR,
		.fixedctr = MSR_PMC_FX0_CTR,
		.msr_step = MSR_PMC_STEP,
		.flags = INTEL_FULL_WIDTH,
		.counters = MAX_COUNTERS(MAX_GENERIC),
	},
};

static bool wrong_width(unsigned int bits)
{
	return bits < MIN_BIT_WIDTH || bits > MAX_BIT_WIDTH;
}

/**
 * my_intel_pmu_decode() - a PMU from CPUID leaves 0AH and 23H
 * @pmu: filled in
 * @leaf: the leaves' registers
 * @why: if refused, the reason
 *
 * SDM volume 2, CPUID, "Architectural performance monitoring leaf" and "extended leaf".
 *
 * Context: any; pure.
 * Return: 0, or -ENODEV if the leaf describes no PMU that can be used.
 */
int my_intel_pmu_decode(struct my_x86_pmu *pmu,
			const struct intel_pmu_leaf *leaf,
			struct my_pmu_why *why)
{
	/* EBX has 32 bits, whatever the length. */
	unsigned int len = min_t(unsigned int, 32,
				 FIELD_GET(LEAF_EAX_MASK_LENGTH, leaf->eax));
	unsigned int version = FIELD_GET(LEAF_EAX_VERSION, leaf->eax);

	*pmu = intel_registers[version >= REGISTERS_OF_VERSION_6];
	pmu->ops = &intel_ops;
	pmu->version = version;
	pmu->cntval_bits = FIELD_GET(LEAF_EAX_BIT_WIDTH, leaf->eax);
	pmu->counters &= decode_counters(pmu, leaf);
	if (version >= REGISTERS_OF_VERSION_6) {
		pmu->cfg_b = pmu->counters & leaf->reload;
		pmu->cfg_c = pmu->counters & (leaf->reload | leaf->precise);
	}
	pmu->flags |= (leaf->select & EXT_EBX_UMASK2 ? INTEL_UMASK2 : 0) |
		      (leaf->select & EXT_EBX_EQ ? INTEL_EQ : 0);
	/*
	 * Event i exists if i is below the length and EBX[i] is 0; or by leaf 23H: leaf 0AH
	 * of a hybrid has those that all CPUs have.
	 */
	pmu->arch_events = len ? ~leaf->ebx & GENMASK(len - 1, 0) : 0;
	pmu->arch_events |= leaf->events;
	pmu->arch_events_len = max_t(u32, len, fls(leaf->events));
	if (!pmu->version)
		return my_refuse(why, -ENODEV,
				 "no PMU: CPUID.0AH says version 0 (in a virtual machine, its hypervisor must provide one)");
	if (!my_pmu_num_counters(pmu))
		return my_refuse(why, -ENODEV,
				 "no PMU: CPUID.0AH says version %u but no generic counter",
				 pmu->version);
	if (wrong_width(pmu->cntval_bits))
		return my_refuse(why, -ENODEV,
				 "no PMU: CPUID.0AH says generic counters of %u bits, not 32 to 64",
				 pmu->cntval_bits);
	if (my_pmu_num_counters_fixed(pmu) && wrong_width(pmu->cntval_bits_fixed))
		return my_refuse(why, -ENODEV,
				 "no PMU: CPUID.0AH says fixed counters of %u bits, not 32 to 64",
				 pmu->cntval_bits_fixed);
	return 0;
}

/* What models of family 6 count wrong, or let others count wrong (specification updates). */
static const struct {
	u8 model;
	u32 flag;	/* 0: all counters */
} intel_errata[] = {
	/* AAK100, AAP53, BD53 and their likes: Nehalem, Westmere */
	{ 26, 0 }, { 30, 0 }, { 46, 0 }, { 37, 0 }, { 44, 0 }, { 47, 0 },
	/* BJ122, BV98, HSD29: Sandy Bridge, Ivy Bridge, Haswell */
	{ 42, INTEL_HT_ERRATUM }, { 45, INTEL_HT_ERRATUM },
	{ 58, INTEL_HT_ERRATUM }, { 62, INTEL_HT_ERRATUM },
	{ 60, INTEL_HT_ERRATUM }, { 63, INTEL_HT_ERRATUM },
	{ 69, INTEL_HT_ERRATUM }, { 70, INTEL_HT_ERRATUM },
};

/* The second erratum takes two threads on a core. */
static int find_errata(struct my_x86_pmu *pmu, u32 signature, struct my_pmu_why *why)
{
	u32 model = FIELD_GET(CPUID_1_EAX_MODEL, signature) |
		    FIELD_GET(CPUID_1_EAX_EXT_MODEL, signature) << 4;
	u32 eax, threads, ecx, edx;
	unsigned int i;

	if (FIELD_GET(CPUID_1_EAX_FAMILY, signature) != 6 || pmu->flags & INTEL_ACK_RUNNING)
		return 0;
	for (i = 0; i < ARRAY_SIZE(intel_errata); i++) {
		if (intel_errata[i].model != model)
			continue;
		if (!intel_errata[i].flag)
			return my_refuse(why, -ENODEV,
					 "no PMU that can be used: counters of this model (%u) count wrong without a workaround that only perf has (errata AAK100, AAP53, BD53)",
					 model);
		hw_cpuid(INTEL_TOPOLOGY_LEAF, 0, &eax, &threads, &ecx, &edx);
		if (FIELD_GET(LEAF_EBX_THREADS, threads) > 1)
			pmu->flags |= intel_errata[i].flag;
	}
	return 0;
}

/* Leaf 23H, of the CPU that this runs on. */
static void read_ext(struct intel_pmu_leaf *leaf)
{
	u32 last, subleaves, features, eax, ebx, ecx, edx;

	hw_cpuid(INTEL_FEATURE_LEAF, 0, &last, &ebx, &ecx, &edx);
	if (!last)
		return;
	hw_cpuid(INTEL_FEATURE_LEAF, 1, &features, &ebx, &ecx, &edx);
	if (!(features & FEATURE_1_EAX_PERFMON_EXT))
		return;
	hw_cpuid(INTEL_PERFMON_EXT_LEAF, 0, &subleaves, &leaf->select, &ecx, &edx);
	if (subleaves & BIT(EXT_COUNTERS))
		hw_cpuid(INTEL_PERFMON_EXT_LEAF, EXT_COUNTERS, &leaf->generic, &leaf->fixed,
			 &ecx, &edx);
	if (subleaves & BIT(EXT_RELOAD)) {
		hw_cpuid(INTEL_PERFMON_EXT_LEAF, EXT_RELOAD, &eax, &ebx, &ecx, &edx);
		leaf->reload = (u64)ebx << INTEL_PMC_IDX_FIXED | eax;
	}
	if (subleaves & BIT(EXT_EVENTS))
		hw_cpuid(INTEL_PERFMON_EXT_LEAF, EXT_EVENTS, &leaf->events, &ebx, &ecx, &edx);
	if (subleaves & BIT(EXT_PRECISE)) {
		hw_cpuid(INTEL_PERFMON_EXT_LEAF, EXT_PRECISE, &eax, &ebx, &ecx, &edx);
		leaf->precise = (u64)ecx << INTEL_PMC_IDX_FIXED | eax;
	}
}

/**
 * my_intel_pmu_probe() - the architectural PMU of this CPU
 * @pmu: filled in
 * @why: if refused, the reason
 *
 * Only reads: CPUID leaves 1, 7, 0AH, 0BH and 23H, and IA32_PERF_CAPABILITIES if there.
 *
 * Context: the CPU in question, interrupts off.
 * Return: 0; -ENODEV if it has no PMU, or one that counts wrong; -EIO if a promised
 * register faults.
 */
int my_intel_pmu_probe(struct my_x86_pmu *pmu, struct my_pmu_why *why)
{
	struct intel_pmu_leaf leaf = {};
	u32 signature, ebx, ecx, edx;
	u64 cap = 0;
	int err;

	lockdep_assert_irqs_disabled();
	if (hw_is_xen_pv())
		return my_refuse(why, -ENODEV,
				 "no PMU: a Xen PV guest's belongs to the hypervisor");
	if (!hw_has_architectural_vendor())
		return my_refuse(why, -ENODEV,
				 "no PMU that is known here: those of Intel, AMD, Hygon, Zhaoxin and Centaur are");
	hw_cpuid(1, 0, &signature, &ebx, &ecx, &edx);
	leaf.hypervisor = ecx & CPUID_1_ECX_HYPERVISOR;
	hw_cpuid(INTEL_PMU_LEAF, 0, &leaf.eax, &leaf.ebx, &leaf.ecx, &leaf.edx);
	read_ext(&leaf);
	err = my_intel_pmu_decode(pmu, &leaf, why);
	if (err)
		return err;
	if (ecx & CPUID_1_ECX_PDCM) {
		err = hw_rdmsr(MSR_IA32_PERF_CAPABILITIES, &cap);
		if (err)
			return my_refuse(why, err,
					 "no PMU: IA32_PERF_CAPABILITIES faults though CPUID promises it");
		pmu->flags |= INTEL_PDCM;
	}
	if (cap & PERF_CAP_FULL_WIDTH_WRITE && !(pmu->flags & INTEL_FULL_WIDTH)) {
		pmu->flags |= INTEL_FULL_WIDTH;
		pmu->perfctr = MSR_IA32_PMC0;
	}
	if (hw_acks_while_running())
		pmu->flags |= INTEL_ACK_RUNNING;
	return find_errata(pmu, signature, why);
}
