// SPDX-License-Identifier: GPL-2.0
/*
 * AMD's core PMU, and Hygon's: AMD64 Architecture Programmer's Manual, volume 2 (APM2),
 * "Performance Monitoring Counters".  There are no fixed counters, and three generations:
 *
 *	legacy		four counters
 *	PERFCTR_CORE	six, by other addresses; those of the first four are aliases
 *	PerfMonV2	and registers that start, stop and tell overflows of all of them
 *
 * Without PerfMonV2 each counter is started and stopped by EN of its own event select, one
 * after the other, and nothing tells that a counter has overflowed but its sign: one that
 * interrupts begins at a negative number.  What is noted of that stands in for the register
 * with overflow bits: an overflow is reported by whoever sees it first, the PMI's handler or
 * who stops the counter, and until the PMI has come.
 *
 * CPUID tells neither that there are four counters nor how wide they are: Linux takes the one
 * from the family and the other for 48 (arch/x86/events/amd/core.c), and the self-test tries
 * them.
 */
#include <linux/bitfield.h>
#include <linux/bitops.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/lockdep.h>
#include <linux/perf_event.h>
#include <linux/smp.h>
#include <asm/msr-index.h>

#include "pmu_amd.h"
#include "pmu_global.h"
#include "pmu_hw.h"
#include "pmu_ops.h"
#include "pmu_why.h"

#define CPUID_1_EAX_MODEL		GENMASK(7, 4)
#define CPUID_1_EAX_FAMILY		GENMASK(11, 8)
#define CPUID_1_EAX_EXT_FAMILY		GENMASK(27, 20)

#define AMD_FEATURE_LEAF		0x80000001
#define FEATURE_ECX_PERFCTR_CORE	BIT(23)

#define AMD_PMU_LEAF			0x80000022
#define LEAF_EAX_VERSION_2		BIT(0)
#define LEAF_EAX_FREEZE			BIT(2)	/* DEBUGCTL[12] freezes counters */
#define LEAF_EBX_NUM_COUNTERS		GENMASK(3, 0)

#define LEGACY_COUNTERS			4
#define CORE_COUNTERS			6
#define MAX_COUNTERS			16
#define WIDTH				48

/* Before it has overflowed, a counter that interrupts has this bit. */
#define COUNTER_SIGN			BIT_ULL(WIDTH - 1)

/* From the family on that has counters at all, and others of interest. */
#define FAMILY_K7			0x06
#define FAMILY_15H			0x15
#define FAMILY_17H			0x17

/* struct my_x86_pmu.flags */
#define AMD_FREEZE	BIT(0)	/* an overflow can freeze all counters */
#define AMD_TIED	BIT(1)	/* family 15h: units of the core have counters of their own */
#define AMD_PAIRS	BIT(2)	/* from 17h on: event 003H takes two counters */

#define CONFIG_EVENT	(ARCH_PERFMON_EVENTSEL_EVENT | GENMASK_ULL(35, 32))
#define CONFIG_CODE	(CONFIG_EVENT | ARCH_PERFMON_EVENTSEL_UMASK)
#define CONFIG_MODIFIERS (ARCH_PERFMON_EVENTSEL_EDGE | ARCH_PERFMON_EVENTSEL_INV | \
			  ARCH_PERFMON_EVENTSEL_CMASK)
#define CONFIG_HOST_GUEST GENMASK_ULL(41, 40)
#define CONFIG_UMASK2	GENMASK_ULL(47, 40)
#define CONFIG_EQ	BIT_ULL(36)

#define EVENT_CYCLES		0x076
#define EVENT_INSTRUCTIONS	0x0c0
#define EVENT_BRANCHES		0x0c2	/* and interrupts and exceptions */
#define EVENT_BRANCH_MISSES	0x0c3
/* Floating point operations: more in a cycle than one counter adds up; and what pairs two. */
#define EVENT_FLOPS		0x003
#define EVENT_MERGE		0xfff

/* What all families have; perf knows the others. */
static const u64 amd_hardware_codes[PERF_COUNT_HW_MAX] = {
	[PERF_COUNT_HW_CPU_CYCLES] = EVENT_CYCLES,
	[PERF_COUNT_HW_INSTRUCTIONS] = EVENT_INSTRUCTIONS,
	[PERF_COUNT_HW_BRANCH_INSTRUCTIONS] = EVENT_BRANCHES,
	[PERF_COUNT_HW_BRANCH_MISSES] = EVENT_BRANCH_MISSES,
};

#define KERNEL_EVENT(_name, _config)	{				\
	.name = _name, .config = _config, .named = true,		\
	.exclude_user = true, .constraint = MY_PMC_ANY,			\
}

/* Bounds as those of Intel's counters. */
static const struct my_pmu_probe amd_probes[] = {
	{ "instructions", KERNEL_EVENT("instructions", EVENT_INSTRUCTIONS),
	  HW_ROUND_INSTRUCTIONS, HW_ROUND_INSTRUCTIONS },
	{ "cycles", KERNEL_EVENT("cycles", EVENT_CYCLES),
	  HW_ROUND_INSTRUCTIONS * 3 / 4, HW_ROUND_INSTRUCTIONS * 64 },
};

static const struct my_global amd_global = {
	.ctrl = MSR_AMD64_PERF_CNTR_GLOBAL_CTL,
	.status = MSR_AMD64_PERF_CNTR_GLOBAL_STATUS,
	.clear = MSR_AMD64_PERF_CNTR_GLOBAL_STATUS_CLR,
};

/**
 * struct amd_selects_at - where event selects are
 * @first: MSR of the first one
 * @step: from one to the next
 */
struct amd_selects_at {
	u32 first;
	u32 step;
};

/**
 * struct amd_state - what struct my_pmu_state is here
 * @global: of the registers that all counters share: PerfMonV2's, and LVTPC
 * @selects: without PerfMonV2: where event selects are
 * @on: counters that are started, or about to be, or were not stopped yet
 * @seen: counters whose overflow somebody has seen, and that do not count since, or were not
 *	written since
 * @overflowed: of those, the ones whose PMI has not come
 * @stopped_by_pmi: those that the PMI's handler has stopped
 * @before: of each counter what its registers held before us
 */
struct amd_state {
	struct my_global_state global;
	struct amd_selects_at selects;
	u64 on;
	unsigned long seen;
	unsigned long overflowed;
	u64 stopped_by_pmi;
	struct amd_before {
		u64 config, count;
	} before[MAX_COUNTERS];
};

static_assert(sizeof(struct amd_state) <= sizeof(struct my_pmu_state));

/**
 * struct amd_snapshot - what struct my_pmu_snapshot is here
 * @select: of each counter its event select
 * @count: and its value
 */
struct amd_snapshot {
	u64 select[MAX_COUNTERS];
	u64 count[MAX_COUNTERS];
};

static_assert(sizeof(struct amd_snapshot) <= sizeof_field(struct my_pmu_snapshot, word));

static struct amd_state *amd_state(struct my_pmu_state *state)
{
	return (struct amd_state *)state->word;
}

/* --- events: pure -------------------------------------------------------------- */

/* The event's number, which is in two pieces. */
static unsigned int amd_event(u64 config)
{
	return (config & ARCH_PERFMON_EVENTSEL_EVENT) | (config >> 32 & 0xf) << 8;
}

#define PMC(first, last)	GENMASK(last, first)

/*
 * Family 15h (arch/x86/events/amd/core.c: amd_get_event_constraints_f15h()): which counters
 * count an event; the first row that fits.  Some events are right on more counters with some
 * umasks; on these they are right with any.
 */
static const struct {
	u16 mask;
	u16 event;
	u8 counters;
} amd_tied[] = {
	{ 0xfff, 0x000, PMC(3, 3) }, { 0xfff, 0x003, PMC(3, 3) }, { 0xfff, 0x004, PMC(3, 3) },
	{ 0xfff, 0x00b, PMC(3, 3) }, { 0xfff, 0x00d, PMC(3, 3) },
	{ 0x0e0, 0x000, PMC(3, 5) },				/* FP */
	{ 0xfff, 0x02d, PMC(3, 3) }, { 0xfff, 0x02e, BIT(0) | BIT(3) },
	{ 0xfff, 0x023, PMC(0, 2) }, { 0xfff, 0x031, PMC(0, 2) }, { 0xfff, 0x043, PMC(0, 2) },
	{ 0xfff, 0x045, PMC(0, 2) }, { 0xfff, 0x046, PMC(0, 2) }, { 0xfff, 0x054, PMC(0, 2) },
	{ 0xfff, 0x055, PMC(0, 2) }, { 0xfff, 0x1c0, PMC(3, 5) },
	{ 0x0e0, 0x020, PMC(0, 5) }, { 0x0e0, 0x040, PMC(0, 5) },	/* LS, DC */
	{ 0x0f0, 0x0c0, PMC(0, 5) },				/* EX, LS */
	{ 0xfff, 0x08f, PMC(0, 0) }, { 0xfff, 0x187, PMC(0, 0) }, { 0xfff, 0x188, PMC(0, 0) },
	{ 0xfff, 0x0db, PMC(0, 5) }, { 0xffc, 0x0dc, PMC(0, 5) },
	{ 0xfff, 0x1d6, PMC(0, 5) }, { 0xfff, 0x1d8, PMC(0, 5) },
	{ 0x0e0, 0x060, PMC(0, 2) }, { 0x0e0, 0x080, PMC(0, 2) },	/* CU; IC, DE */
	{ 0x0f0, 0x0d0, PMC(0, 2) },				/* DE */
};

static u64 amd_constraint(const struct my_x86_pmu *pmu, u64 config)
{
	unsigned int i, event = amd_event(config);

	if (!(pmu->flags & AMD_TIED))
		return ~0ULL;
	/* One of its umasks at a time. */
	if (event == 0x031 && hweight64(config & ARCH_PERFMON_EVENTSEL_UMASK) > 1)
		return 0;
	for (i = 0; i < ARRAY_SIZE(amd_tied); i++) {
		if ((event & amd_tied[i].mask) == amd_tied[i].event)
			return amd_tied[i].counters;
	}
	return 0;
}

/* Nothing tells which events there are: any event select is accepted, and may count nothing. */
static u64 amd_counters_for(const struct my_x86_pmu *pmu,
			    const struct my_perf_event_attr *attr,
			    u64 *doubtful, const char **reason)
{
	unsigned int event = amd_event(attr->config);
	u64 right;

	if (doubtful)
		*doubtful = 0;
	if (attr->config & (CONFIG_UMASK2 | CONFIG_EQ)) {
		*reason =
			"does not have UMASK2 and EQ (bits 40 to 47, 36), which are Intel's";
		return 0;
	}
	if (attr->extra.msr) {
		*reason = "needs an extra register for it, which is not programmed here";
		return 0;
	}
	if (attr->named && attr->perf_type == PERF_TYPE_RAW) {
		*reason = "does not have this event, which is Intel's";
		return 0;
	}
	if (pmu->flags & AMD_PAIRS && (event == EVENT_FLOPS || event == EVENT_MERGE)) {
		*reason =
			"counts it by two counters (event FFFH, Merge), which are not paired here";
		return 0;
	}
	right = amd_constraint(pmu, attr->config);
	if (!right) {
		*reason = "has no counter of the core that counts it (family 15h)";
		return 0;
	}
	right = pmu->counters & (attr->counters ?: right);
	if (doubtful)
		*doubtful = pmu->counters & ~right;
	if (!right)
		*reason = "has no counter that counts it";
	return right;
}

/*
 * Bits 40 and 41 tell guest and host apart, once EFER.SVME is set; both are 0, which counts
 * either (APM2, table 13-4).  Without PerfMonV2 EN is no part of what an event select holds:
 * it is what starts the counter.
 */
static void amd_encode(const struct my_x86_pmu *pmu, const struct my_perf_event_attr *attr,
		       struct my_hw_perf_event *hw)
{
	u64 en = pmu->version >= 2 ? ARCH_PERFMON_EVENTSEL_ENABLE : 0;
	unsigned int event = amd_event(attr->config);

	hw->rate_log2 = event == EVENT_CYCLES || event == EVENT_INSTRUCTIONS ||
			event == EVENT_BRANCHES || attr->config & ARCH_PERFMON_EVENTSEL_CMASK ?
			MY_RATE_LOG2 : MY_OCCUPANCY_RATE_LOG2;
	hw->any_code = !attr->exclude_kernel &&
		       (attr->config & (CONFIG_CODE | CONFIG_MODIFIERS)) == event &&
		       (event == EVENT_CYCLES || event == EVENT_INSTRUCTIONS);
	hw->more = 0;
	hw->extra_msr = 0;
	hw->extra_config = 0;
	hw->config = (attr->config & (CONFIG_CODE | CONFIG_MODIFIERS)) |
		     (attr->exclude_user ? 0 : ARCH_PERFMON_EVENTSEL_USR) |
		     (attr->exclude_kernel ? 0 : ARCH_PERFMON_EVENTSEL_OS) |
		     (attr->period ? ARCH_PERFMON_EVENTSEL_INT : 0) | en;
	hw->config_mask = en ? ~0ULL : ~(u64)ARCH_PERFMON_EVENTSEL_ENABLE;
	hw->config_base = my_pmu_eventsel_msr(pmu, hw->idx);
	hw->event_base = my_pmu_counter_msr(pmu, hw->idx);
	hw->event_base_rdpmc = hw->idx;
	hw->cntval_bits = pmu->cntval_bits;
}

/* --- PerfMonV2: all counters together ------------------------------------------- */

static int amd_v2_save(const struct my_x86_pmu *pmu, struct my_pmu_state *state, u64 counters)
{
	lockdep_assert_irqs_disabled();
	return my_global_save(&amd_global, &amd_state(state)->global, counters);
}

static int amd_v2_stop(const struct my_x86_pmu *pmu, struct my_pmu_state *state, u64 counters,
		       struct my_pmu_stopped *stopped)
{
	lockdep_assert_irqs_disabled();
	return my_global_stop(&amd_global, &amd_state(state)->global, counters, stopped);
}

static int amd_v2_start(const struct my_x86_pmu *pmu, struct my_pmu_state *state, u64 counters,
			u64 ack)
{
	lockdep_assert_irqs_disabled();
	return my_global_start(&amd_global, &amd_state(state)->global, counters, ack, false);
}

static int amd_v2_start_beside(const struct my_x86_pmu *pmu, struct my_pmu_state *state,
			       u64 ours, u64 counters, u64 ack)
{
	int err;

	lockdep_assert_irqs_disabled();
	err = my_global_start_beside(&amd_global, &amd_state(state)->global, ours, counters, ack);
	return err == -EAGAIN ? amd_v2_start(pmu, state, counters, ack) : err;
}

static int amd_v2_restore(const struct my_x86_pmu *pmu, struct my_pmu_state *state,
			  u64 counters)
{
	lockdep_assert_irqs_disabled();
	return my_global_restore(&amd_global, &amd_state(state)->global, counters);
}

static int amd_v2_pmi_take(const struct my_x86_pmu *pmu, struct my_pmu_state *state, bool freeze)
{
	lockdep_assert_irqs_disabled();
	return my_global_pmi_take(&amd_state(state)->global, pmu->flags & AMD_FREEZE, true,
				  freeze);
}

static int amd_pmi_put(const struct my_x86_pmu *pmu, struct my_pmu_state *state)
{
	lockdep_assert_irqs_disabled();
	return my_global_pmi_put(&amd_global, &amd_state(state)->global);
}

static u64 amd_v2_pmi_enter(struct my_pmu_state *state, u64 counters)
{
	return my_global_pmi_enter(&amd_global, &amd_state(state)->global, counters);
}

static u64 amd_v2_pmi_again(struct my_pmu_state *state, u64 counters)
{
	return my_global_pmi_again(&amd_global, &amd_state(state)->global, counters);
}

static void amd_v2_pmi_exit(struct my_pmu_state *state)
{
	my_global_pmi_exit(&amd_global, &amd_state(state)->global);
}

static void amd_pmi_late(const struct my_pmu_state *state)
{
	my_global_pmi_late(&((const struct amd_state *)state->word)->global);
}

static int amd_v2_pmi_rearm(struct my_pmu_state *state, u64 counters)
{
	lockdep_assert_irqs_disabled();
	return my_global_pmi_rearm(&amd_global, &amd_state(state)->global, counters);
}

static bool amd_v2_plan(const struct my_x86_pmu *pmu, const struct my_pmu_state *state,
			const struct my_hw_perf_event *const hw[], unsigned int nr,
			u64 quiet, bool freeze, struct my_pmu_plan *plan)
{
	const struct amd_state *s = (const struct amd_state *)state->word;

	return my_global_plan(&s->global, hw, nr, quiet, freeze, plan);
}

static __always_inline int amd_v2_capture(const struct my_pmu_plan *plan,
					  struct my_pmu_capture *capture)
{
	lockdep_assert_irqs_disabled();
	return my_global_capture(&amd_global, 0, plan, capture);
}

static void amd_v2_capture_one(void *request)
{
	lockdep_assert_irqs_disabled();
	my_capture_requested(request, amd_v2_capture);
}

static void amd_v2_capture_cpus(void *by_cpu)
{
	struct my_pmu_request **requests = by_cpu;

	lockdep_assert_irqs_disabled();
	my_capture_requested(requests[smp_processor_id()], amd_v2_capture);
}

/* --- before: one counter after the other ------------------------------------------ */

/**
 * struct amd_selects - what event selects held
 * @enabled: counters with EN
 * @interrupt: counters with INT
 */
struct amd_selects {
	u64 enabled;
	u64 interrupt;
};

/*
 * With @en counters are started, with 0 stopped.  Either takes the same instructions from one
 * counter to the next.  Because all starts and stops are done here, counters that are started
 * and stopped together have run for equally many instructions, though not for the same ones.
 */
static noinline int amd_switch(const struct amd_selects_at *at, u64 counters, u64 en,
			       struct amd_selects *were)
{
	int first = 0, err;
	u64 left, ctl;

	*were = (struct amd_selects) {};
	for (left = counters; left; left &= left - 1) {
		unsigned int idx = __ffs64(left);
		u32 msr = at->first + idx * at->step;

		err = hw_peek_msr(msr, &ctl);
		if (!err) {
			were->enabled |= !!(ctl & ARCH_PERFMON_EVENTSEL_ENABLE) * BIT_ULL(idx);
			were->interrupt |= !!(ctl & ARCH_PERFMON_EVENTSEL_INT) * BIT_ULL(idx);
			ctl = (ctl & ~(u64)ARCH_PERFMON_EVENTSEL_ENABLE) | en;
			err = hw_fast_wrmsr(msr, ctl, ctl >> 32);
		}
		first = first ?: err;
	}
	return first;
}

/* Has this counter, which interrupts, overflowed since it was written? */
static __always_inline bool amd_is_positive(unsigned int idx)
{
	u32 low, high;

	return !hw_fast_rdpmc(idx, &low, &high) && !(high & (u32)(COUNTER_SIGN >> 32));
}

/*
 * The counters stand still.  An NMI may come at any point, and is the first to see an overflow
 * if it finds the bit in @seen before we do.
 */
static void amd_find_overflows(struct amd_state *s, u64 counters)
{
	for (; counters; counters &= counters - 1) {
		unsigned int idx = __ffs64(counters);

		if (!amd_is_positive(idx) || test_bit(idx, &s->seen))
			continue;
		__set_bit(idx, &s->overflowed);
		barrier();
		if (__test_and_set_bit(idx, &s->seen))
			__clear_bit(idx, &s->overflowed);
	}
}

static int amd_v1_save(const struct my_x86_pmu *pmu, struct my_pmu_state *state, u64 counters)
{
	struct amd_state *s = amd_state(state);

	lockdep_assert_irqs_disabled();
	s->selects = (struct amd_selects_at) { pmu->eventsel, pmu->msr_step };
	return 0;
}

static int amd_v1_stop(const struct my_x86_pmu *pmu, struct my_pmu_state *state, u64 counters,
		       struct my_pmu_stopped *stopped)
{
	struct amd_state *s = amd_state(state);
	struct amd_selects were, unused;
	int err;

	lockdep_assert_irqs_disabled();
	err = amd_switch(&s->selects, counters, 0, &were);
	if (err) {
		amd_switch(&s->selects, were.enabled, ARCH_PERFMON_EVENTSEL_ENABLE, &unused);
		return err;
	}
	s->on &= ~counters;
	amd_find_overflows(s, were.enabled & were.interrupt);
	*stopped = (struct my_pmu_stopped) {
		.running = were.enabled,
		.enabled = counters,	/* of those of others nothing is known */
		.overflowed = READ_ONCE(s->overflowed) & counters,
		.still = true,
	};
	return 0;
}

static int amd_v1_start(const struct my_x86_pmu *pmu, struct my_pmu_state *state, u64 counters,
			u64 ack)
{
	struct amd_state *s = amd_state(state);
	struct amd_selects unused;
	u64 left;

	lockdep_assert_irqs_disabled();
	for (left = ack & MY_GENERIC_COUNTERS; left; left &= left - 1)
		__clear_bit(__ffs64(left), &s->overflowed);
	for (left = counters & s->seen; left; left &= left - 1)
		__clear_bit(__ffs64(left), &s->seen);
	s->on |= counters;
	barrier();
	return amd_switch(&s->selects, counters, ARCH_PERFMON_EVENTSEL_ENABLE, &unused);
}

/* Nobody else starts them. */
static int amd_v1_start_beside(const struct my_x86_pmu *pmu, struct my_pmu_state *state,
			       u64 ours, u64 counters, u64 ack)
{
	lockdep_assert_irqs_disabled();
	return amd_v1_start(pmu, state, counters, ack);
}

/* No register is shared; but nothing that was noted of a counter is its next user's. */
static int amd_v1_restore(const struct my_x86_pmu *pmu, struct my_pmu_state *state,
			  u64 counters)
{
	struct amd_state *s = amd_state(state);
	u64 left;

	lockdep_assert_irqs_disabled();
	s->on &= ~counters;
	for (left = counters & (s->overflowed | s->seen); left; left &= left - 1) {
		__clear_bit(__ffs64(left), &s->overflowed);
		__clear_bit(__ffs64(left), &s->seen);
	}
	return 0;
}

static int amd_v1_pmi_take(const struct my_x86_pmu *pmu, struct my_pmu_state *state, bool freeze)
{
	lockdep_assert_irqs_disabled();
	return my_global_pmi_take(&amd_state(state)->global, false, false, freeze);
}

/* In an NMI: by the counters' signs, and what somebody who has stopped them has seen. */
static u64 amd_v1_overflowed(struct amd_state *s, u64 counters)
{
	u64 found = 0;

	for (; counters; counters &= counters - 1) {
		unsigned int idx = __ffs64(counters);
		bool known = __test_and_clear_bit(idx, &s->overflowed);

		if (!amd_is_positive(idx))
			__clear_bit(idx, &s->seen);
		else if (!__test_and_set_bit(idx, &s->seen))
			known = true;
		found |= known ? BIT_ULL(idx) : 0;
	}
	return found;
}

/*
 * For n overflows of m counters that count, where C is a counter and S an event select: n R C,
 * m (R S, W S), n (R C, W C), n R C, W LVTPC, m (R S, W S).
 */
static u64 amd_v1_pmi_enter(struct my_pmu_state *state, u64 counters)
{
	struct amd_state *s = amd_state(state);
	u64 found = amd_v1_overflowed(s, counters);
	struct amd_selects were;

	if (!found)
		return 0;
	amd_switch(&s->selects, s->on, 0, &were);
	s->stopped_by_pmi = were.enabled;
	return found;
}

static u64 amd_v1_pmi_again(struct my_pmu_state *state, u64 counters)
{
	return amd_v1_overflowed(amd_state(state), counters);
}

static void amd_v1_pmi_exit(struct my_pmu_state *state)
{
	struct amd_state *s = amd_state(state);
	struct amd_selects unused;

	hw_write_lvtpc(HW_LVTPC_NMI);
	amd_switch(&s->selects, s->stopped_by_pmi, ARCH_PERFMON_EVENTSEL_ENABLE, &unused);
}

static int amd_v1_pmi_rearm(struct my_pmu_state *state, u64 counters)
{
	struct amd_state *s = amd_state(state);

	lockdep_assert_irqs_disabled();
	hw_write_lvtpc(HW_LVTPC_NMI);
	for (; counters; counters &= counters - 1)
		__clear_bit(__ffs64(counters), &s->overflowed);
	return 0;
}

/**
 * struct amd_plan - what struct my_pmu_plan has without PerfMonV2
 * @selects: where event selects are
 * @counters: those that are captured; a set
 * @nr: how many
 * @freeze: stop them while they are read
 * @counter: of each its RDPMC index, its event select's MSR, and what that must hold then
 */
struct amd_plan {
	struct amd_selects_at selects;
	u64 counters;
	unsigned int nr;
	bool freeze;
	struct {
		u32 rdpmc;
		u32 select;
		union my_register config;
	} counter[MAX_COUNTERS];
};

static_assert(sizeof(struct amd_plan) <= sizeof_field(struct my_pmu_plan, word));

static bool amd_v1_plan(const struct my_x86_pmu *pmu, const struct my_pmu_state *state,
			const struct my_hw_perf_event *const hw[], unsigned int nr,
			u64 quiet, bool freeze, struct my_pmu_plan *plan)
{
	const struct amd_state *s = (const struct amd_state *)state->word;
	struct amd_plan *p = (struct amd_plan *)plan->word;
	unsigned int i;

	*p = (struct amd_plan) { .selects = s->selects, .nr = nr, .freeze = freeze };
	for (i = 0; i < nr; i++) {
		p->counters |= BIT_ULL(hw[i]->idx);
		p->counter[i].rdpmc = hw[i]->event_base_rdpmc;
		p->counter[i].select = hw[i]->config_base;
		p->counter[i].config.val = hw[i]->config |
					   (freeze ? 0 : ARCH_PERFMON_EVENTSEL_ENABLE);
		plan->event[i] = i;
	}
	plan->first = 0;
	plan->end = nr;
	return true;
}

/* For n counters: n (R S, W S), n (R C, R S), n (R S, W S); or n (R C, R S). */
static int amd_v1_capture(const struct my_pmu_plan *plan, struct my_pmu_capture *capture)
{
	const struct amd_plan *p = (const struct amd_plan *)plan->word;
	union my_register *value = (union my_register *)capture->value;
	struct amd_selects were = { .enabled = p->counters }, unused;
	u32 low, high, differs = 0;
	int first = 0, err = 0;
	unsigned int i;

	lockdep_assert_irqs_disabled();
	if (p->freeze)
		first = amd_switch(&p->selects, p->counters, 0, &were);
	capture->ticks = hw_fast_ticks();
	for (i = 0; i < p->nr && !first; i++) {
		first = hw_fast_rdpmc(p->counter[i].rdpmc, &value[i].low, &value[i].high) ?:
			hw_fast_rdmsr(p->counter[i].select, &low, &high);
		if (first)
			break;
		differs |= (low ^ p->counter[i].config.low) | (high ^ p->counter[i].config.high);
	}
	if (p->freeze)
		err = amd_switch(&p->selects, were.enabled, ARCH_PERFMON_EVENTSEL_ENABLE,
				 &unused);
	return first ?: err ?: differs || were.enabled != p->counters;
}

static void amd_v1_capture_one(void *request)
{
	lockdep_assert_irqs_disabled();
	my_capture_requested(request, amd_v1_capture);
}

static void amd_v1_capture_cpus(void *by_cpu)
{
	struct my_pmu_request **requests = by_cpu;

	lockdep_assert_irqs_disabled();
	my_capture_requested(requests[smp_processor_id()], amd_v1_capture);
}

/* --- one event's registers --------------------------------------------------------- */

static int amd_program(const struct my_x86_pmu *pmu, struct my_pmu_state *state,
		       const struct my_hw_perf_event *hw, u64 config)
{
	lockdep_assert_irqs_disabled();
	return hw_wrmsr(hw->config_base, config);
}

static int amd_read(const struct my_hw_perf_event *hw, u64 *val)
{
	u64 config;
	int err;

	lockdep_assert_irqs_disabled();
	err = hw_rdpmc(hw->event_base_rdpmc, val);
	if (err)
		return err;
	err = hw_peek_msr(hw->config_base, &config);
	return err ?: (config & hw->config_mask) != hw->config;
}

/* All bits are written; those beyond the width are dropped, or fault. */
static int amd_write(const struct my_hw_perf_event *hw, s32 val)
{
	lockdep_assert_irqs_disabled();
	return hw_wrmsr(hw->event_base, (s64)val & GENMASK_ULL(WIDTH - 1, 0));
}

/* Stop, then the counter, then the control.  All are tried, whatever fails. */
static int amd_disable(const struct my_x86_pmu *pmu, struct my_pmu_state *state,
		       struct my_hw_perf_event *hw)
{
	const struct amd_before *before = &amd_state(state)->before[hw->idx];
	int first, err;

	lockdep_assert_irqs_disabled();
	first = hw_wrmsr(hw->config_base, 0);
	err = hw_wrmsr(hw->event_base, before->count);
	first = first ?: err;
	err = hw_wrmsr(hw->config_base, before->config);
	return first ?: err;
}

/* The counter counts on from its existing value: only its growth is counted. */
static int amd_enable(const struct my_x86_pmu *pmu, struct my_pmu_state *state,
		      struct my_hw_perf_event *hw)
{
	struct amd_before *before = &amd_state(state)->before[hw->idx];
	int err;

	lockdep_assert_irqs_disabled();
	err = hw_rdmsr(hw->config_base, &before->config);
	if (!err)
		err = hw_rdmsr(hw->event_base, &before->count);
	if (!err)
		err = hw_wrmsr(hw->config_base, hw->config);
	if (err)
		return err;
	err = hw_rdpmc(hw->event_base_rdpmc, &hw->prev_count);
	if (err)
		amd_disable(pmu, state, hw);
	return err;
}

/* Whether it is started stays as it is. */
static int amd_interrupt(struct my_hw_perf_event *hw, bool on)
{
	u64 config = on ? hw->config | ARCH_PERFMON_EVENTSEL_INT :
			  hw->config & ~(u64)ARCH_PERFMON_EVENTSEL_INT;
	u64 now;
	int err = hw_rdmsr(hw->config_base, &now);

	if (!err)
		err = hw_wrmsr(hw->config_base, (now & ~hw->config_mask) | config);
	if (!err)
		hw->config = config;
	return err;
}

/* --- who uses a counter; what perf writes when it is asked ---------------------------- */

static int amd_find_in_use(const struct my_x86_pmu *pmu, u64 counters, u64 *in_use)
{
	lockdep_assert_irqs_disabled();
	*in_use = 0;
	return my_select_find_in_use(pmu, pmu->counters, in_use);
}

static int amd_snapshot(const struct my_x86_pmu *pmu, struct my_pmu_state *state,
			struct my_pmu_snapshot *snapshot)
{
	struct amd_snapshot *s = (struct amd_snapshot *)snapshot->word;
	int err;

	lockdep_assert_irqs_disabled();
	err = pmu->version >= 2 ? amd_v2_save(pmu, state, ~0ULL) :
				  amd_v1_save(pmu, state, ~0ULL);
	if (err || !snapshot)
		return err;
	snapshot->interrupts = 0;
	return amd_find_in_use(pmu, pmu->counters, &snapshot->in_use) ?:
	       my_select_snapshot(pmu, pmu->counters, s->count, s->select, snapshot);
}

/* See intel_put_back(). */
static int amd_put_back(const struct my_x86_pmu *pmu, struct my_pmu_state *state,
			const struct my_pmu_snapshot *snapshot, u64 in_use)
{
	const struct amd_snapshot *s = (const struct amd_snapshot *)snapshot->word;
	u64 others = snapshot ? in_use & ~snapshot->in_use : 0, left;
	int first = 0, err, idx;

	lockdep_assert_irqs_disabled();
	if (!others && pmu->version >= 2)
		first = amd_v2_restore(pmu, state, ~0ULL);
	if (!snapshot || !snapshot->counted)
		return first;
	for (left = pmu->counters & ~others; left; left &= left - 1) {
		idx = __ffs64(left);
		err = hw_wrmsr(my_pmu_counter_msr(pmu, idx), s->count[idx]);
		first = first ?: err;
		err = hw_wrmsr(my_pmu_eventsel_msr(pmu, idx), s->select[idx]);
		first = first ?: err;
	}
	return first;
}

/* --- CPUID ---------------------------------------------------------------------------- */

/*
 * Linux's reservations know a counter by its number, whichever of its addresses that is
 * counted from (arch/x86/kernel/cpu/perfctr-watchdog.c).
 */
#define AMD_OPS								\
	.eventsel_reserve = MSR_K7_EVNTSEL0,				\
	.perfctr_reserve = MSR_K7_PERFCTR0,				\
	.code_bits = CONFIG_CODE,					\
	.host_guest_bits = CONFIG_HOST_GUEST,				\
	.hardware_codes = amd_hardware_codes,				\
	.late_pmis = true,						\
	.others = &my_firmware,						\
	.probes = amd_probes,						\
	.nr_probes = ARRAY_SIZE(amd_probes),				\
	.counters_for = amd_counters_for,				\
	.encode = amd_encode,						\
	.snapshot = amd_snapshot,					\
	.put_back = amd_put_back,					\
	.enable = amd_enable,						\
	.disable = amd_disable,						\
	.program = amd_program,						\
	.read = amd_read,						\
	.write = amd_write,						\
	.find_in_use = amd_find_in_use,					\
	.peek = my_select_peek,						\
	.interrupt = amd_interrupt,					\
	.pmi_put = amd_pmi_put,						\
	.pmi_late = amd_pmi_late

static const struct my_pmu_ops amd_v1_ops = {
	AMD_OPS,
	.overflow_by_sign = true,
	.save = amd_v1_save,
	.restore = amd_v1_restore,
	.start = amd_v1_start,
	.stop = amd_v1_stop,
	.start_beside = amd_v1_start_beside,
	.plan = amd_v1_plan,
	.capture = amd_v1_capture,
	.capture_one = amd_v1_capture_one,
	.capture_cpus = amd_v1_capture_cpus,
	.pmi_take = amd_v1_pmi_take,
	.pmi_enter = amd_v1_pmi_enter,
	.pmi_again = amd_v1_pmi_again,
	.pmi_exit = amd_v1_pmi_exit,
	.pmi_rearm = amd_v1_pmi_rearm,
};

static const struct my_pmu_ops amd_v2_ops = {
	AMD_OPS,
	.save = amd_v2_save,
	.restore = amd_v2_restore,
	.start = amd_v2_start,
	.stop = amd_v2_stop,
	.start_beside = amd_v2_start_beside,
	.plan = amd_v2_plan,
	.capture = amd_v2_capture,
	.capture_one = amd_v2_capture_one,
	.capture_cpus = amd_v2_capture_cpus,
	.pmi_take = amd_v2_pmi_take,
	.pmi_enter = amd_v2_pmi_enter,
	.pmi_again = amd_v2_pmi_again,
	.pmi_exit = amd_v2_pmi_exit,
	.pmi_rearm = amd_v2_pmi_rearm,
};

/**
 * my_amd_pmu_decode() - a PMU from CPUID
 * @pmu: filled in
 * @leaf: what CPUID says
 * @why: if refused, the reason
 *
 * APM2, "Performance Monitoring Counters", and as Linux reads it
 * (arch/x86/events/amd/core.c: amd_core_pmu_init()): PerfMonV2 is looked at only where there is
 * PERFCTR_CORE.
 *
 * Context: any; pure.
 * Return: 0, or -ENODEV if there is no PMU.
 */
int my_amd_pmu_decode(struct my_x86_pmu *pmu, const struct amd_pmu_leaf *leaf,
		      struct my_pmu_why *why)
{
	unsigned int family = FIELD_GET(CPUID_1_EAX_FAMILY, leaf->signature);
	bool core = leaf->features & FEATURE_ECX_PERFCTR_CORE;
	unsigned int nr = core ? CORE_COUNTERS : LEGACY_COUNTERS;

	if (family == 0xf)
		family += FIELD_GET(CPUID_1_EAX_EXT_FAMILY, leaf->signature);
	*pmu = (struct my_x86_pmu) {
		.ops = &amd_v1_ops,
		.eventsel = core ? MSR_F15H_PERF_CTL : MSR_K7_EVNTSEL0,
		.perfctr = core ? MSR_F15H_PERF_CTR : MSR_K7_PERFCTR0,
		.msr_step = core ? 2 : 1,
		.cntval_bits = WIDTH,
	};
	if (core && leaf->eax & LEAF_EAX_VERSION_2) {
		pmu->ops = &amd_v2_ops;
		pmu->version = 2;
		nr = FIELD_GET(LEAF_EBX_NUM_COUNTERS, leaf->ebx);
		pmu->flags |= leaf->eax & LEAF_EAX_FREEZE ? AMD_FREEZE : 0;
	}
	pmu->flags |= family == FAMILY_15H ? AMD_TIED : 0;
	pmu->flags |= family >= FAMILY_17H ? AMD_PAIRS : 0;
	if (family < FAMILY_K7)
		return my_refuse(why, -ENODEV, "no PMU: a CPU of AMD's family %u has none",
				 family);
	if (!nr)
		return my_refuse(why, -ENODEV,
				 "no PMU: CPUID.80000022H says version 2 but no counter");
	pmu->counters = GENMASK_ULL(nr - 1, 0);
	return 0;
}

/**
 * my_amd_pmu_probe() - the PMU of this CPU
 * @pmu: filled in
 * @why: if refused, the reason
 *
 * Only reads: CPUID leaves 1, 8000_0001H and 8000_0022H, and the first event select.  A
 * hypervisor that has no PMU may let that fault (QEMU, KVM); or let all registers read as 0
 * and ignore what is written (KVM, the legacy ones), which the self-test tells.
 *
 * Context: the CPU in question, interrupts off.
 * Return: 0; -ENODEV if it has no PMU; -EIO if that register faults.
 */
int my_amd_pmu_probe(struct my_x86_pmu *pmu, struct my_pmu_why *why)
{
	struct amd_pmu_leaf leaf;
	u32 eax, ebx, ecx, edx;
	u64 select;
	int err;

	lockdep_assert_irqs_disabled();
	if (hw_is_xen_pv())
		return my_refuse(why, -ENODEV,
				 "no PMU: a Xen PV guest's belongs to the hypervisor");
	hw_cpuid(1, 0, &leaf.signature, &ebx, &ecx, &edx);
	hw_cpuid(AMD_FEATURE_LEAF, 0, &eax, &ebx, &leaf.features, &edx);
	hw_cpuid(AMD_PMU_LEAF, 0, &leaf.eax, &leaf.ebx, &ecx, &edx);
	err = my_amd_pmu_decode(pmu, &leaf, why);
	if (err)
		return err;
	err = hw_rdmsr(pmu->eventsel, &select) ?: hw_rdpmc(0, &select);
	if (err)
		my_refuse(why, err,
			  "no PMU: its first counter faults (in a virtual machine, its hypervisor must provide a PMU)");
	return err;
}
