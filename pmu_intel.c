// SPDX-License-Identifier: GPL-2.0
/*
 * The architectural PMU: what CPUID leaf 0AH says, and the registers it
 * promises.  SDM volume 3, "Performance monitoring", "Architectural
 * performance monitoring"; register numbers and layouts are in its tables of
 * architectural MSRs.
 *
 * Everything below the decoder acts on the CPU it runs on, with interrupts
 * off; nothing here prints, sleeps, allocates or calls another CPU.
 */
#include <linux/bitfield.h>
#include <linux/bitops.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/lockdep.h>
#include <linux/string.h>
#include <asm/msr-index.h>

#include "pmu_capture.h"
#include "pmu_event.h"
#include "pmu_hw.h"
#include "pmu_intel.h"
#include "pmu_why.h"

#define INTEL_PMU_LEAF			0xa

#define LEAF_EAX_VERSION		GENMASK(7, 0)
#define LEAF_EAX_NUM_COUNTERS		GENMASK(15, 8)
#define LEAF_EAX_BIT_WIDTH		GENMASK(23, 16)
#define LEAF_EAX_MASK_LENGTH		GENMASK(31, 24)
#define LEAF_EDX_NUM_FIXED		GENMASK(4, 0)
#define LEAF_EDX_BIT_WIDTH_FIXED	GENMASK(12, 5)

/* From version 4 on; the kernel has no name for it. */
#define MSR_CORE_PERF_GLOBAL_INUSE	0x392

#define CPUID_1_ECX_PDCM		BIT(15)
#define CPUID_1_ECX_HYPERVISOR		BIT(31)
#define PERF_CAP_FULL_WIDTH_WRITE	BIT_ULL(13)

/* One fixed counter's field in IA32_FIXED_CTR_CTRL. */
#define FIXED_FIELD_BITS		4
#define FIXED_FIELD			GENMASK_ULL(FIXED_FIELD_BITS - 1, 0)
#define FIXED_OS			BIT_ULL(0)
#define FIXED_USR			BIT_ULL(1)

/* IA32_PERF_GLOBAL_STATUS, from version 4 on: no counter counts. */
#define STATUS_CTR_FRZ			BIT_ULL(59)

/* The generic counter that microcode takes for TSX. */
#define TSX_COUNTER			3

/* What every CPU of version 2 has, whatever it says. */
#define FIXED_OF_VERSION_2		3

/* Counters narrower than this or wider cannot be right. */
#define MIN_BIT_WIDTH			32
#define MAX_BIT_WIDTH			64

#define MAX_FIXED	(BITS_PER_LONG_LONG / FIXED_FIELD_BITS)

/* The event selects end where IA32_PERF_STATUS begins. */
#define MAX_GENERIC	(MSR_IA32_PERF_STATUS - MSR_ARCH_PERFMON_EVENTSEL0)

struct intel_event {
	u8 event;
	u8 umask;
};

/*
 * The architectural events, in the order of their bits in EBX: SDM,
 * "Pre-defined architectural performance events".
 */
static const struct intel_event intel_arch_events[] = {
	{ 0x3c, 0x00 },		/* unhalted core cycles */
	{ 0xc0, 0x00 },		/* instructions retired */
	{ 0x3c, 0x01 },		/* unhalted reference cycles */
	{ 0x2e, 0x4f },		/* last-level cache references */
	{ 0x2e, 0x41 },		/* last-level cache misses */
	{ 0xc4, 0x00 },		/* branch instructions retired */
	{ 0xc5, 0x00 },		/* branch misses retired */
	{ 0xa4, 0x01 },		/* topdown slots */
	{ 0xa4, 0x02 },		/* topdown backend bound */
	{ 0x73, 0x00 },		/* topdown bad speculation */
	{ 0x9c, 0x01 },		/* topdown frontend bound */
	{ 0xc2, 0x02 },		/* topdown retiring */
	{ 0xe4, 0x01 },		/* LBR inserts */
};

/*
 * What the fixed counters count.  Fixed counter 2 counts at the TSC's rate;
 * the event select 3CH, 01H counts another clock on most CPUs.  So like perf
 * we name what fixed counter 2 counts, and the slots of 3, by event 0 and a
 * umask.
 */
static const struct intel_event intel_fixed_events[] = {
	{ 0xc0, 0x00 },		/* INST_RETIRED.ANY */
	{ 0x3c, 0x00 },		/* CPU_CLK_UNHALTED.THREAD */
	{ 0x00, 0x03 },		/* CPU_CLK_UNHALTED.REF_TSC */
	{ 0x00, 0x04 },		/* TOPDOWN.SLOTS */
};

/*
 * How many of them a turn of hw_run_known_code() has, of 16 instructions in a chain:
 * a multiplication waits for the one before, 3 cycles or more on CPUs of today;
 * the emulated PMU of our lab has 1.  The reference clock may run at an eighth
 * of the core's, or at many times.
 */
#define KERNEL_EVENT(_name, _event, _umask)	{		\
	.name = _name, .event = _event, .umask = _umask,	\
	.named = true, .exclude_user = true, .pin = MY_PMC_ANY,	\
}

static const struct my_pmu_probe intel_probes[] = {
	{ "instructions", KERNEL_EVENT("instructions", 0xc0, 0x00),
	  HW_TURN_INSTRUCTIONS, HW_TURN_INSTRUCTIONS },
	{ "cycles", KERNEL_EVENT("cycles", 0x3c, 0x00),
	  HW_TURN_INSTRUCTIONS * 3 / 4, HW_TURN_INSTRUCTIONS * 16 },
	{ "reference cycles", KERNEL_EVENT("ref-cycles", 0x00, 0x03),
	  HW_TURN_INSTRUCTIONS / 8, HW_TURN_INSTRUCTIONS * 64 },
	{ "slots", KERNEL_EVENT("slots", 0x00, 0x04),
	  HW_TURN_INSTRUCTIONS, HW_TURN_INSTRUCTIONS * 128 },
};

static bool same_event(const struct my_perf_event_attr *attr,
		       const struct intel_event *e)
{
	return attr->event == e->event && attr->umask == e->umask;
}

/*
 * EBX says of the events that it covers whether they exist.  What it does not
 * cover may be an event of this model, with the same encoding or another: the
 * user who writes it raw knows it, a name would promise it.  Whoever knows the
 * model may know better than EBX: Nehalem's is wrong (erratum AAJ80).
 */
static bool intel_has_event(const struct my_x86_pmu *pmu,
			    const struct my_perf_event_attr *attr)
{
	unsigned int i;

	if (attr->confirmed)
		return true;
	for (i = 0; i < ARRAY_SIZE(intel_arch_events); i++) {
		if (!same_event(attr, &intel_arch_events[i]))
			continue;
		if (i >= pmu->arch_events_len)
			return !attr->named;
		return pmu->arch_events & BIT(i);
	}
	return true;
}

/* Fixed counters count events as they come, not the cycles that have some. */
static bool intel_counts(const struct my_perf_event_attr *attr, int idx)
{
	unsigned int i = my_pmc_number(idx);

	if (!my_pmc_is_fixed(idx))
		return attr->event != 0;
	return i < ARRAY_SIZE(intel_fixed_events) &&
	       !attr->cmask && !attr->edge && !attr->inv &&
	       same_event(attr, &intel_fixed_events[i]);
}

/* SDM, RDPMC: ECX[30] selects the fixed counters. */
static u32 intel_rdpmc_index(int idx)
{
	u32 i = my_pmc_number(idx);

	return my_pmc_is_fixed(idx) ? i | INTEL_PMC_FIXED_RDPMC_BASE : i;
}

static unsigned int fixed_shift(int idx)
{
	return my_pmc_number(idx) * FIXED_FIELD_BITS;
}

/*
 * INT and PMI stay 0: there is no overflow handler, and an NMI that nobody
 * claims is reported as unknown.  AnyThread stays 0: it would count the
 * sibling thread too.
 */
static void intel_config_generic(const struct my_x86_pmu *pmu,
				 const struct my_perf_event_attr *attr,
				 struct my_hw_perf_event *hw)
{
	hw->config = FIELD_PREP(ARCH_PERFMON_EVENTSEL_EVENT, attr->event) |
		     FIELD_PREP(ARCH_PERFMON_EVENTSEL_UMASK, attr->umask) |
		     FIELD_PREP(ARCH_PERFMON_EVENTSEL_CMASK, attr->cmask) |
		     ARCH_PERFMON_EVENTSEL_ENABLE;
	if (!attr->exclude_user)
		hw->config |= ARCH_PERFMON_EVENTSEL_USR;
	if (!attr->exclude_kernel)
		hw->config |= ARCH_PERFMON_EVENTSEL_OS;
	if (attr->edge)
		hw->config |= ARCH_PERFMON_EVENTSEL_EDGE;
	if (attr->inv)
		hw->config |= ARCH_PERFMON_EVENTSEL_INV;
	hw->config_base = pmu->eventsel + hw->idx;
	hw->event_base = pmu->perfctr + hw->idx;
	hw->cntval_bits = pmu->cntval_bits;
}

static void intel_config_fixed(const struct my_x86_pmu *pmu,
			       const struct my_perf_event_attr *attr,
			       struct my_hw_perf_event *hw)
{
	u64 field = 0;

	if (!attr->exclude_user)
		field |= FIXED_USR;
	if (!attr->exclude_kernel)
		field |= FIXED_OS;
	hw->config = field << fixed_shift(hw->idx);
	hw->config_base = MSR_CORE_PERF_FIXED_CTR_CTRL;
	hw->event_base = MSR_CORE_PERF_FIXED_CTR0 + my_pmc_number(hw->idx);
	hw->cntval_bits = pmu->cntval_bits_fixed;
}

static int intel_hw_config(const struct my_x86_pmu *pmu,
			   struct my_perf_event *event)
{
	struct my_hw_perf_event *hw = &event->hw;

	if (!intel_has_event(pmu, &event->attr))
		return -EOPNOTSUPP;
	if (my_pmc_is_fixed(hw->idx))
		intel_config_fixed(pmu, &event->attr, hw);
	else
		intel_config_generic(pmu, &event->attr, hw);
	hw->event_base_rdpmc = pmu->rdpmc_index(hw->idx);
	return 0;
}

/* Version 1 has no GLOBAL registers; its counters run when they are enabled. */
static bool has_global(const struct my_x86_pmu *pmu)
{
	return pmu->version >= 2;
}

/*
 * Whoever has enabled a counter uses it.  From version 4 on IA32_PERF_GLOBAL_INUSE
 * tells of those, too, that are claimed and not enabled: it looks at the event
 * select's event (SDM, "IA32_PERF_GLOBAL_INUSE MSR").  But perf clears EN and
 * nothing else when it is done with a counter; its selects are known by INT,
 * which it always sets (arch/x86/events/core.c).
 */
static bool in_use(u64 evtsel, bool claimed)
{
	if (evtsel & ARCH_PERFMON_EVENTSEL_ENABLE)
		return true;
	return claimed && !(evtsel & ARCH_PERFMON_EVENTSEL_INT);
}

static int survey_generic(const struct my_x86_pmu *pmu, u64 inuse, u64 *used)
{
	u64 left, evtsel;
	int err, idx;

	for (left = pmu->counters & MY_GENERIC_COUNTERS; left; left &= left - 1) {
		idx = __ffs64(left);
		err = hw_rdmsr(pmu->eventsel + idx, &evtsel);
		if (err)
			return err;
		if (in_use(evtsel, inuse & BIT_ULL(idx)))
			*used |= BIT_ULL(idx);
	}
	return 0;
}

static int survey_fixed(const struct my_x86_pmu *pmu, u64 *used)
{
	u64 left = pmu->counters & MY_FIXED_COUNTERS, ctrl;
	int err, idx;

	if (!left)
		return 0;
	err = hw_rdmsr(MSR_CORE_PERF_FIXED_CTR_CTRL, &ctrl);
	if (err)
		return err;
	for (; left; left &= left - 1) {
		idx = __ffs64(left);
		if (ctrl & (FIXED_OS | FIXED_USR) << fixed_shift(idx))
			*used |= BIT_ULL(idx);
	}
	return 0;
}

/*
 * Some CPUs' microcode runs TSX with the help of a counter, unless it is told to
 * abort each transaction (arch/x86/events/intel/core.c: TSX_FORCE_ABORT).
 */
static int survey_microcode(u64 *used)
{
	u64 val;
	int err;

	if (!hw_has_tsx_force_abort())
		return 0;
	err = hw_rdmsr(MSR_TSX_FORCE_ABORT, &val);
	if (!err && !(val & MSR_TFA_RTM_FORCE_ABORT))
		*used |= BIT_ULL(TSX_COUNTER);
	return err;
}

static int intel_survey(const struct my_x86_pmu *pmu, u64 *used)
{
	u64 inuse = 0;
	int err = 0;

	lockdep_assert_irqs_disabled();
	*used = 0;
	if (pmu->version >= 4)
		err = hw_rdmsr(MSR_CORE_PERF_GLOBAL_INUSE, &inuse);
	if (err)
		return err;
	err = survey_generic(pmu, inuse, used);
	if (err)
		return err;
	err = survey_fixed(pmu, used);
	return err ?: survey_microcode(used);
}

static int intel_take(const struct my_x86_pmu *pmu, struct my_pmu_found *found)
{
	int err;

	lockdep_assert_irqs_disabled();
	if (!has_global(pmu))
		return 0;
	err = hw_rdmsr(MSR_CORE_PERF_GLOBAL_CTRL, &found->global_ctrl);
	if (err)
		return err;
	return hw_rdmsr(MSR_CORE_PERF_GLOBAL_STATUS, &found->global_status);
}

/* What others have changed in the register meanwhile is theirs. */
static int intel_stop(const struct my_x86_pmu *pmu, u64 ours,
		      struct my_pmu_stopped *stopped)
{
	u64 ctrl, status;
	int err;

	lockdep_assert_irqs_disabled();
	if (!has_global(pmu)) {
		*stopped = (struct my_pmu_stopped) { .running = ours };
		return 0;
	}
	stopped->still = true;
	err = hw_peek_msr(MSR_CORE_PERF_GLOBAL_CTRL, &ctrl);
	if (err)
		return err;
	err = hw_wrmsr(MSR_CORE_PERF_GLOBAL_CTRL, ctrl & ~ours);
	if (err)
		return err;
	err = hw_peek_msr(MSR_CORE_PERF_GLOBAL_STATUS, &status);
	if (err) {
		hw_wrmsr(MSR_CORE_PERF_GLOBAL_CTRL, ctrl);
		return err;
	}
	stopped->others = ctrl & ~ours;
	/* Frozen they only seem to run: somebody had asked for that. */
	stopped->running = status & STATUS_CTR_FRZ ? 0 : ctrl & ours;
	stopped->overflowed = status & ours;
	return 0;
}

static int intel_run(const struct my_x86_pmu *pmu,
		     const struct my_pmu_stopped *stopped, u64 running)
{
	lockdep_assert_irqs_disabled();
	if (!has_global(pmu))
		return 0;
	return hw_wrmsr(MSR_CORE_PERF_GLOBAL_CTRL, stopped->others | running);
}

/* Nothing to clear, no write; version 1 has nothing. */
static int intel_acknowledge(const struct my_x86_pmu *pmu, u64 overflowed)
{
	lockdep_assert_irqs_disabled();
	if (!overflowed)
		return 0;
	return hw_wrmsr(MSR_CORE_PERF_GLOBAL_OVF_CTRL, overflowed);
}

/*
 * A counter that wraps sets its status bit, handler or no handler.  Whoever
 * uses it next must not take our overflow for his.  Some CPUs take an
 * acknowledgment only while GLOBAL_CTRL is not 0 (arch/x86/events/zhaoxin/core.c),
 * so it comes last.
 */
static int intel_give_back(const struct my_x86_pmu *pmu,
			   const struct my_pmu_found *found,
			   const struct my_pmu_stopped *stopped, u64 ours)
{
	int err, first;
	u64 status;

	lockdep_assert_irqs_disabled();
	if (!has_global(pmu))
		return 0;
	first = hw_wrmsr(MSR_CORE_PERF_GLOBAL_CTRL,
			 stopped->others | (found->global_ctrl & ours));
	err = hw_rdmsr(MSR_CORE_PERF_GLOBAL_STATUS, &status);
	if (!err)
		err = intel_acknowledge(pmu, status & ours &
					~found->global_status);
	return first ?: err;
}

/* Write one event's field of the register that all fixed counters share. */
static int write_fixed_field(const struct my_hw_perf_event *hw, u64 field)
{
	u64 mask = FIXED_FIELD << fixed_shift(hw->idx);
	u64 ctrl;
	int err;

	err = hw_rdmsr(hw->config_base, &ctrl);
	if (err)
		return err;
	return hw_wrmsr(hw->config_base, (ctrl & ~mask) | field);
}

static int write_config(const struct my_hw_perf_event *hw, u64 config)
{
	if (my_pmc_is_fixed(hw->idx))
		return write_fixed_field(hw, config);
	return hw_wrmsr(hw->config_base, config);
}

static int read_config(const struct my_hw_perf_event *hw, u64 *config)
{
	int err = hw_rdmsr(hw->config_base, config);

	if (my_pmc_is_fixed(hw->idx))
		*config &= FIXED_FIELD << fixed_shift(hw->idx);
	return err;
}

/*
 * Without full-width writes a generic counter takes 32 bits, sign-extended.
 * Another value cannot be put back: the counter is left with what it has
 * counted, which is no worse than half of the value that it had.
 */
static int put_count_back(const struct my_x86_pmu *pmu,
			  const struct my_hw_perf_event *hw)
{
	u64 written = (s64)(s32)hw->found_count;

	written &= GENMASK_ULL(hw->cntval_bits - 1, 0);
	if (!my_pmc_is_fixed(hw->idx) && !pmu->full_width &&
	    written != hw->found_count)
		return 0;
	return hw_wrmsr(hw->event_base, hw->found_count);
}

/*
 * Stop, then the counter, then the control: SDM asks that a counter not be
 * written while it is enabled.  All three are tried, whatever fails.
 */
static int intel_disable(const struct my_x86_pmu *pmu,
			 struct my_perf_event *event)
{
	struct my_hw_perf_event *hw = &event->hw;
	int stop, count, config;

	lockdep_assert_irqs_disabled();
	stop = write_config(hw, 0);
	count = put_count_back(pmu, hw);
	config = write_config(hw, hw->found_config);
	return stop ?: count ?: config;
}

/*
 * The counter goes on from whatever it holds: only its growth is counted.
 */
static int intel_enable(const struct my_x86_pmu *pmu,
			struct my_perf_event *event)
{
	struct my_hw_perf_event *hw = &event->hw;
	int err;

	lockdep_assert_irqs_disabled();
	err = read_config(hw, &hw->found_config);
	if (err)
		return err;
	err = hw_rdmsr(hw->event_base, &hw->found_count);
	if (err)
		return err;
	err = write_config(hw, hw->config);
	if (err)
		return err;
	err = hw_rdpmc(hw->event_base_rdpmc, &hw->prev_count);
	if (err)
		intel_disable(pmu, event);	/* in version 1 it has counted */
	return err;
}

static int intel_program(const struct my_perf_event *event, bool on)
{
	lockdep_assert_irqs_disabled();
	return write_config(&event->hw, on ? event->hw.config : 0);
}

static int intel_is_programmed(const struct my_perf_event *event)
{
	const struct my_hw_perf_event *hw = &event->hw;
	u64 config;
	int err;

	lockdep_assert_irqs_disabled();
	err = hw_peek_msr(hw->config_base, &config);
	if (err)
		return err;
	if (my_pmc_is_fixed(hw->idx))
		config &= FIXED_FIELD << fixed_shift(hw->idx);
	return config == hw->config;
}

/* In version 1 the event select itself is what starts it and stops it. */
static int intel_run_known_code(const struct my_perf_event *event,
				const struct my_pmu_stopped *stopped,
				unsigned int turns)
{
	const struct my_hw_perf_event *hw = &event->hw;
	u64 others = stopped->others;
	int err;

	lockdep_assert_irqs_disabled();
	if (!has_global(&event->cpu->pmu))
		return hw_run_known_code(hw->config_base, hw->config, 0, turns);
	err = write_config(hw, hw->config);
	if (err)
		return err;
	return hw_run_known_code(MSR_CORE_PERF_GLOBAL_CTRL,
				 others | BIT_ULL(hw->idx), others, turns);
}

/* What the counter's width cuts off must not be written. */
static int intel_write(const struct my_perf_event *event, s32 val)
{
	const struct my_hw_perf_event *hw = &event->hw;

	lockdep_assert_irqs_disabled();
	return hw_wrmsr(hw->event_base,
			(s64)val & GENMASK_ULL(hw->cntval_bits - 1, 0));
}

static int intel_read(const struct my_perf_event *event, u64 *val)
{
	lockdep_assert_irqs_disabled();
	return hw_rdpmc(event->hw.event_base_rdpmc, val);
}

/* In version 1 nothing tells whether somebody has stopped a counter. */
static bool intel_plan(const struct my_pmu_cpu *c, struct my_pmu_plan *plan)
{
	u64 left;

	plan->ctrl_msr = MSR_CORE_PERF_GLOBAL_CTRL;
	plan->status_msr = MSR_CORE_PERF_GLOBAL_STATUS;
	plan->shared_msr = MSR_CORE_PERF_FIXED_CTR_CTRL;
	plan->quiet = (c->enabled & c->tell) | STATUS_CTR_FRZ;
	plan->shared_mask = 0;
	plan->shared_config = 0;
	for (left = c->on; left; left &= left - 1) {
		const struct my_hw_perf_event *hw = &c->event[__ffs64(left)].hw;

		if (!my_pmc_is_fixed(hw->idx))
			continue;
		plan->shared_mask |= FIXED_FIELD << fixed_shift(hw->idx);
		plan->shared_config |= hw->config;
	}
	return has_global(&c->pmu);
}

/*
 * The first CPUs of version 2 answer 0 in EDX and have the three fixed counters
 * nevertheless.  A hypervisor that says so means it.  perf decides likewise for
 * Intel's CPUs (arch/x86/events/intel/core.c); all known ones of the other
 * vendors say that they have three.
 */
static bool keeps_fixed_secret(unsigned int version,
			       const struct intel_pmu_leaf *leaf)
{
	return version >= 2 && version < 5 && !leaf->hypervisor &&
	       FIELD_GET(LEAF_EDX_NUM_FIXED, leaf->edx) < FIXED_OF_VERSION_2;
}

/* CPUID.0AH: fixed counter i exists iff ECX[i] or i < EDX[4:0]. */
static u64 decode_fixed(unsigned int version, const struct intel_pmu_leaf *leaf)
{
	unsigned int num = FIELD_GET(LEAF_EDX_NUM_FIXED, leaf->edx);
	u32 fixed;

	if (version < 2)
		return 0;
	if (keeps_fixed_secret(version, leaf))
		num = FIXED_OF_VERSION_2;
	fixed = num ? GENMASK(num - 1, 0) : 0;
	if (version >= 5)
		fixed |= leaf->ecx;
	/* More have no field in IA32_FIXED_CTR_CTRL. */
	fixed &= GENMASK(MAX_FIXED - 1, 0);
	return (u64)fixed << INTEL_PMC_IDX_FIXED;
}

static unsigned int decode_width_fixed(unsigned int version,
				       const struct intel_pmu_leaf *leaf)
{
	unsigned int bits = FIELD_GET(LEAF_EDX_BIT_WIDTH_FIXED, leaf->edx);

	if (!bits && keeps_fixed_secret(version, leaf))
		bits = FIELD_GET(LEAF_EAX_BIT_WIDTH, leaf->eax);
	return bits;
}

static u64 decode_generic(const struct intel_pmu_leaf *leaf)
{
	unsigned int num = FIELD_GET(LEAF_EAX_NUM_COUNTERS, leaf->eax);

	num = min_t(unsigned int, num, MAX_GENERIC);
	return num ? GENMASK_ULL(num - 1, 0) : 0;
}

/* The length could be more than EBX has bits. */
static unsigned int decode_arch_events_len(const struct intel_pmu_leaf *leaf)
{
	unsigned int len = FIELD_GET(LEAF_EAX_MASK_LENGTH, leaf->eax);

	return min(len, 32U);
}

/* Event i exists iff i is below the length of the vector and EBX[i] is 0. */
static u32 decode_arch_events(const struct intel_pmu_leaf *leaf)
{
	unsigned int len = decode_arch_events_len(leaf);

	return len ? ~leaf->ebx & GENMASK(len - 1, 0) : 0;
}

static bool wrong_width(unsigned int bits)
{
	return bits < MIN_BIT_WIDTH || bits > MAX_BIT_WIDTH;
}

/**
 * my_intel_pmu_decode() - a PMU from CPUID leaf 0AH
 * @pmu: filled in
 * @leaf: the leaf's four registers
 * @why: if refused, the reason
 *
 * SDM volume 2, CPUID, "Architectural performance monitoring leaf".
 *
 * Context: any; pure.
 * Return: 0, or -ENODEV if the leaf describes no PMU that can be used.
 */
int my_intel_pmu_decode(struct my_x86_pmu *pmu,
			const struct intel_pmu_leaf *leaf,
			struct my_pmu_why *why)
{
	unsigned int version = FIELD_GET(LEAF_EAX_VERSION, leaf->eax);

	memset(pmu, 0, sizeof(*pmu));	/* the holes, too: they are compared */
	*pmu = (struct my_x86_pmu) {
		.version = version,
		.eventsel = MSR_ARCH_PERFMON_EVENTSEL0,
		.perfctr = MSR_ARCH_PERFMON_PERFCTR0,
		.perfctr_reserve = MSR_ARCH_PERFMON_PERFCTR0,
		.counters = decode_generic(leaf) | decode_fixed(version, leaf),
		.cntval_bits = FIELD_GET(LEAF_EAX_BIT_WIDTH, leaf->eax),
		.cntval_bits_fixed = decode_width_fixed(version, leaf),
		.arch_events = decode_arch_events(leaf),
		.arch_events_len = decode_arch_events_len(leaf),
		.probes = intel_probes,
		.nr_probes = ARRAY_SIZE(intel_probes),
		.rdpmc_index = intel_rdpmc_index,
		.counts = intel_counts,
		.hw_config = intel_hw_config,
		.survey = intel_survey,
		.take = intel_take,
		.stop = intel_stop,
		.run = intel_run,
		.acknowledge = intel_acknowledge,
		.give_back = intel_give_back,
		.enable = intel_enable,
		.disable = intel_disable,
		.program = intel_program,
		.is_programmed = intel_is_programmed,
		.run_known_code = intel_run_known_code,
		.write = intel_write,
		.read = intel_read,
		.plan = intel_plan,
	};
	if (!version)
		return my_refuse(why, -ENODEV,
				 "no PMU: CPUID.0AH says version 0 (in a virtual machine, its hypervisor must provide one)");
	if (!my_pmu_num_counters(pmu))
		return my_refuse(why, -ENODEV,
				 "no PMU: CPUID.0AH says version %u but no generic counter",
				 version);
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

/*
 * SDM, "Full-width writes to performance counter registers": through the
 * original addresses only 32 bits can be written, sign-extended.
 */
static int intel_full_width(struct my_x86_pmu *pmu, u32 cpuid_1_ecx)
{
	u64 cap;
	int err;

	if (!(cpuid_1_ecx & CPUID_1_ECX_PDCM))
		return 0;
	err = hw_rdmsr(MSR_IA32_PERF_CAPABILITIES, &cap);
	if (err)
		return err;
	pmu->full_width = cap & PERF_CAP_FULL_WIDTH_WRITE;
	if (pmu->full_width)
		pmu->perfctr = MSR_IA32_PMC0;
	return 0;
}

/**
 * my_intel_pmu_init() - the architectural PMU of this CPU
 * @pmu: filled in
 * @why: if refused, the reason
 *
 * Only reads: CPUID leaves 1 and 0AH, and IA32_PERF_CAPABILITIES if there.
 *
 * Context: the CPU in question, interrupts off.
 * Return: 0; -ENODEV if it has no PMU; -EIO if a promised register faults.
 */
int my_intel_pmu_init(struct my_x86_pmu *pmu, struct my_pmu_why *why)
{
	struct intel_pmu_leaf leaf;
	u32 eax, ebx, ecx, edx;
	int err;

	lockdep_assert_irqs_disabled();
	if (hw_is_xen_pv())
		return my_refuse(why, -ENODEV,
				 "no PMU: a Xen PV guest's belongs to the hypervisor");
	if (!hw_has_architectural_vendor())
		return my_refuse(why, -ENODEV,
				 "no PMU that is known here: Intel's, Zhaoxin's and Centaur's are, AMD's is not yet");
	hw_cpuid(1, &eax, &ebx, &ecx, &edx);
	leaf.hypervisor = ecx & CPUID_1_ECX_HYPERVISOR;
	hw_cpuid(INTEL_PMU_LEAF, &leaf.eax, &leaf.ebx, &leaf.ecx, &leaf.edx);
	err = my_intel_pmu_decode(pmu, &leaf, why);
	if (err)
		return err;
	err = intel_full_width(pmu, ecx);
	if (err)
		return my_refuse(why, err,
				 "no PMU: IA32_PERF_CAPABILITIES faults though CPUID promises it");
	return 0;
}
