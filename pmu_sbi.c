// SPDX-License-Identifier: GPL-2.0
/*
 * The counters of RISC-V: the Supervisor Binary Interface specification, "Performance Monitoring
 * Unit Extension".  The kernel cannot program a counter itself.  It asks the firmware
 * which counters there are, to configure one for an event, to start and to stop it; and reads
 * it as a CSR.  Each call is about the CPU that makes it.
 *
 * The firmware knows no owners.  It gives a counter that is not configured to whoever asks first:
 * perf (Linux's driver of the same extension) and this module can count side by side, and neither
 * is told what the other one has.  What tells is the answer to a start: "already started" for a
 * counter that runs, an invalid parameter for one that is not configured.  So each of our counters
 * is started once more whenever it is looked at: one that was not running was stopped by
 * somebody else.
 *
 * Without the extension Sscofpmf, cycle and instret are given to everybody who asks for cycles or
 * instructions, and the number of the counter that was asked for is not looked at.  perf starts
 * its counters with a negative number: a counter of 64 bits that shows one is not ours any more.
 *
 * A counter's id here is that of its CSR: cycle and instret are fixed0 and fixed2, hpmcounter3 to
 * hpmcounter31 are gp3 to gp31.  The firmware's own counters, of its own events, are not used.
 */
#include <linux/bitops.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/lockdep.h>
#include <linux/minmax.h>
#include <linux/smp.h>

#include "pmu_config.h"
#include "pmu_hw.h"
#include "pmu_ops.h"
#include "pmu_sbi.h"
#include "pmu_why.h"

/* Functions of the extension. */
#define SBI_NUM_COUNTERS		0
#define SBI_GET_INFO			1
#define SBI_CFG_MATCH			2
#define SBI_START			3
#define SBI_STOP			4

/* What a function returns. */
#define SBI_OK				0
#define SBI_INVALID_PARAM		(-3)
#define SBI_ALREADY_STARTED		(-7)
#define SBI_ALREADY_STOPPED		(-8)

/* What GET_INFO says of a counter. */
#define INFO_CSR			GENMASK_ULL(11, 0)
#define INFO_WIDTH_SHIFT		12
#define INFO_WIDTH			GENMASK_ULL(5, 0)	/* less one */
#define INFO_FIRMWARE			BIT_ULL(63)

/* Flags of CFG_MATCH: modes in which the counter stands still. */
#define CFG_SKIP_GUEST_USER		BIT(3)
#define CFG_SKIP_GUEST_KERNEL		BIT(4)
#define CFG_SKIP_USER			BIT(5)
#define CFG_SKIP_KERNEL			BIT(6)

#define START_WITH_VALUE		BIT(0)
#define STOP_AND_FREE			BIT(0)

/* Type 2, code 0: an event of the platform, which the data say. */
#define EVENT_RAW			0x20000

#define FIRST_CSR			0xc00		/* cycle */
#define MIN_BIT_WIDTH		32		/* what has fewer is not read in time */
#define MAX_COUNTERS			32
#define TIME				1	/* its number, and that of its CSR */
#define FIRST_GENERIC			3		/* hpmcounter3 */
#define FIXED_CYCLES			BIT_ULL(MY_PMC_IDX_FIXED + 0)
#define FIXED_INSTRUCTIONS		BIT_ULL(MY_PMC_IDX_FIXED + 2)

/* The sign of 64 bits: a counter of ours begins at 0, and does not come to half of its range. */
#define NOT_OURS			BIT_ULL(63)

/* Types of SBI's events, in the upper bits of an index: hardware, cache. */
#define INDEX_TYPE_SHIFT		16
#define INDEX_TYPE_MAX			1

#define EVENT_CYCLES			MY_SBI_HARDWARE(PERF_COUNT_HW_CPU_CYCLES)
#define EVENT_INSTRUCTIONS		MY_SBI_HARDWARE(PERF_COUNT_HW_INSTRUCTIONS)

/* struct my_x86_pmu.flags */
#define SBI_FILTERS	BIT(0)	/* Sscofpmf: a counter can count some modes only */

/**
 * struct sbi_state - what struct my_pmu_state is here
 * @ours: counters that are configured for us
 * @on: those of them that are started
 * @event: of each of them for which event
 * @flags: and in which modes it stands still
 */
struct sbi_state {
	u64 ours;
	u64 on;
	u64 event[MY_PMC_NR];
	u32 flags[MY_PMC_NR];
};

static_assert(sizeof(struct sbi_state) <= sizeof(struct my_pmu_state));

static struct sbi_state *sbi_state(struct my_pmu_state *state)
{
	return (struct sbi_state *)state->word;
}

static const struct my_pmu_others sbi_others = {
	.key = "perf",
	.label = "perf's",
	.name = "perf",
	.in_use = "by perf, or whoever else has asked the firmware (SBI) for it",
};

#define EVENT(_name, _config)	{					\
	.name = _name, .config = _config, .named = true,		\
	.constraint = MY_PMC_ANY,					\
}

/* Not the kernel alone: not all counters can do that.  Bounds as those of Intel's counters. */
static const struct my_pmu_probe sbi_probes[] = {
	{ "instructions", EVENT("instructions", EVENT_INSTRUCTIONS),
	  HW_ROUND_INSTRUCTIONS, HW_ROUND_INSTRUCTIONS },
	{ "cycles", EVENT("cycles", EVENT_CYCLES),
	  HW_ROUND_INSTRUCTIONS * 3 / 4, HW_ROUND_INSTRUCTIONS * 64 },
};

/* --- calls -------------------------------------------------------------------------- */

static long sbi_call(unsigned long function, unsigned int counter, unsigned long flags, u64 arg)
{
	unsigned long unused;

	return hw_sbi_pmu(function, counter, 1, flags, arg, 0, &unused);
}

static long start(unsigned int counter)
{
	return sbi_call(SBI_START, counter, 0, 0);
}

/*
 * What the firmware says to a start, and the counter is as before.  One that stood still has run
 * for a moment: whoever has it does not see that, as he starts it with a value.
 */
static long look(unsigned int counter)
{
	long answer = start(counter);

	if (answer == SBI_OK)
		sbi_call(SBI_STOP, counter, 0, 0);
	return answer;
}

/*
 * The firmware is asked for a counter by its number, for an event: 0 if it has configured that one.
 * If it has another one instead, that was free, and is freed; or it is fixed0 or fixed2, which
 * count cycles and instructions for whoever asks: that stays, and counts in all modes, as ours do.
 */
static int sbi_configure(unsigned int counter, u64 config, unsigned long flags)
{
	u64 event = config & MY_CONFIG_SBI ? config & MY_CONFIG_RAW : EVENT_RAW;
	u64 data = config & MY_CONFIG_SBI ? 0 : config & MY_CONFIG_RAW;
	unsigned long given;

	if (hw_sbi_pmu(SBI_CFG_MATCH, counter, 1, flags, event, data, &given))
		return -EBUSY;
	if (given == counter)
		return 0;
	if (given >= FIRST_GENERIC)
		sbi_call(SBI_STOP, given, STOP_AND_FREE, 0);
	else if (flags)
		hw_sbi_pmu(SBI_CFG_MATCH, given, 1, 0, event, data, &given);
	return -EBUSY;
}

/* --- events: pure --------------------------------------------------------------------- */

/* The counter that counts this event and no other. */
static u64 fixed_for(const struct my_x86_pmu *pmu, u64 config)
{
	if (config == EVENT_CYCLES)
		return FIXED_CYCLES & pmu->counters;
	return config == EVENT_INSTRUCTIONS ? FIXED_INSTRUCTIONS & pmu->counters : 0;
}

/*
 * Which counters count an event was asked of the firmware by my_sbi_find_counters(), unless the
 * event is the self-test's or a raw one of another module: then any may.
 */
static u64 sbi_counters_for(const struct my_x86_pmu *pmu, const struct my_perf_event_attr *attr,
			    u64 *doubtful, const char **reason)
{
	bool filtered = attr->exclude_user || attr->exclude_kernel;
	u64 counters = pmu->counters & MY_GENERIC_COUNTERS;
	u64 fixed = fixed_for(pmu, attr->config);

	if (doubtful)
		*doubtful = 0;
	if (attr->period) {
		*reason = "has interrupts of counters for perf alone (RISC-V): there is no period";
		return 0;
	}
	if (attr->added) {
		*reason = "has no events that are a name and a number";
		return 0;
	}
	if (!attr->config) {
		*reason = "counts nothing by the number 0";
		return 0;
	}
	if (attr->config & MY_CONFIG_SBI &&
	    (attr->config & MY_CONFIG_RAW) >> INDEX_TYPE_SHIFT > INDEX_TYPE_MAX) {
		*reason = "has no such event of SBI: 1 to 0x1ffff are, hardware and caches";
		return 0;
	}
	if (filtered && !(pmu->flags & SBI_FILTERS)) {
		*reason = "cannot count one mode alone (:u, :k): it does not have Sscofpmf";
		return 0;
	}
	if (attr->counters) {
		counters &= attr->counters;
		fixed &= attr->counters;
	}
	/* The fixed ones have no modes without Smcntrpmf, which nothing tells. */
	*reason = "has no counter that counts it, as its firmware (SBI) says";
	if (filtered)
		return counters;
	/* Without Sscofpmf nobody is given another one. */
	return fixed && !(pmu->flags & SBI_FILTERS) ? fixed : counters | fixed;
}

static void sbi_encode(const struct my_x86_pmu *pmu, const struct my_perf_event_attr *attr,
		       struct my_hw_perf_event *hw)
{
	unsigned int counter = my_pmc_number(hw->idx);

	hw->config = attr->config;
	hw->config_mask = ~0ULL;
	hw->config_base = (attr->exclude_user ? CFG_SKIP_USER | CFG_SKIP_GUEST_USER : 0) |
			  (attr->exclude_kernel ? CFG_SKIP_KERNEL | CFG_SKIP_GUEST_KERNEL : 0);
	hw->event_base = counter;
	hw->event_base_rdpmc = FIRST_CSR + counter;
	hw->cntval_bits = my_pmc_is_fixed(hw->idx) ? pmu->cntval_bits_fixed : pmu->cntval_bits;
	hw->rate_log2 = attr->config & MY_CONFIG_SBI ? MY_RATE_LOG2 : MY_OCCUPANCY_RATE_LOG2;
	hw->any_code = !attr->exclude_kernel && (attr->config == EVENT_CYCLES ||
						 attr->config == EVENT_INSTRUCTIONS);
	hw->more = 0;
	hw->extra_msr = 0;
	hw->extra_config = 0;
}

/* --- one counter ------------------------------------------------------------------------ */

static int sbi_peek(const struct my_hw_perf_event *hw, u64 *val)
{
	*val = hw_read_counter(hw->event_base_rdpmc) & GENMASK_ULL(hw->cntval_bits - 1, 0);
	return 0;
}

/* Whether it counts for us is seen by sbi_stop(). */
static int sbi_read(const struct my_hw_perf_event *hw, u64 *val)
{
	lockdep_assert_irqs_disabled();
	return sbi_peek(hw, val);
}

/*
 * Somebody else has started it since, from a negative number: perf does.  Of a counter of fewer
 * bits nothing tells.
 */
static bool is_theirs(const struct my_x86_pmu *pmu, unsigned int counter)
{
	return (counter < FIRST_GENERIC || pmu->cntval_bits == 64) &&
	       hw_read_counter(FIRST_CSR + counter) & NOT_OURS;
}

/* If it stood still, or is configured for nobody, it is stopped, too. */
static int sbi_stop_one(unsigned int counter, unsigned long flags)
{
	switch (sbi_call(SBI_STOP, counter, flags, 0)) {
	case SBI_OK:
	case SBI_ALREADY_STOPPED:
	case SBI_INVALID_PARAM:
		return 0;
	default:
		return -EIO;
	}
}

/*
 * Whether nobody has it.  A generic counter that can be started is configured for somebody who has
 * stopped it; a fixed one may stay configured when nobody has it.
 */
static bool is_free(unsigned int counter)
{
	long answer = look(counter);

	return answer == SBI_INVALID_PARAM || (answer == SBI_OK && counter < FIRST_GENERIC);
}

/*
 * A counter that nobody has is configured and started for us: from 0 on, so that it is long until
 * it wraps.
 */
static int sbi_take(struct sbi_state *s, const struct my_hw_perf_event *hw)
{
	unsigned int counter = hw->event_base;
	int err;

	if (!is_free(counter))
		return -EBUSY;
	err = sbi_configure(counter, hw->config, hw->config_base);
	if (err)
		return err;
	if (sbi_call(SBI_START, counter, START_WITH_VALUE, 0)) {
		sbi_call(SBI_STOP, counter, STOP_AND_FREE, 0);
		return -EBUSY;
	}
	s->event[hw->idx] = hw->config;
	s->flags[hw->idx] = hw->config_base;
	s->ours |= BIT_ULL(hw->idx);
	s->on |= BIT_ULL(hw->idx);
	return 0;
}

/* It is not ours any more; it is freed, unless somebody else has it. */
static int sbi_give_up(const struct my_x86_pmu *pmu, struct sbi_state *s,
		       const struct my_hw_perf_event *hw)
{
	s->ours &= ~BIT_ULL(hw->idx);
	s->on &= ~BIT_ULL(hw->idx);
	return is_theirs(pmu, hw->event_base) ? 0 : sbi_stop_one(hw->event_base, STOP_AND_FREE);
}

static int sbi_enable(const struct my_x86_pmu *pmu, struct my_pmu_state *state,
		      struct my_hw_perf_event *hw)
{
	int err;

	lockdep_assert_irqs_disabled();
	err = sbi_take(sbi_state(state), hw);
	return err ?: sbi_read(hw, &hw->prev_count);
}

static int sbi_disable(const struct my_x86_pmu *pmu, struct my_pmu_state *state,
		       struct my_hw_perf_event *hw)
{
	lockdep_assert_irqs_disabled();
	if (!(sbi_state(state)->ours & BIT_ULL(hw->idx)))
		return 0;
	return sbi_give_up(pmu, sbi_state(state), hw);
}

/*
 * One that we had stopped goes on from where it is.  One that was to be on is programmed when it
 * was not found so: perf may have been given it meanwhile, and have changed its modes.
 */
static int sbi_program(const struct my_x86_pmu *pmu, struct my_pmu_state *state,
		       const struct my_hw_perf_event *hw, u64 config)
{
	struct sbi_state *s = sbi_state(state);
	u64 bit = BIT_ULL(hw->idx);
	bool stopped = !(s->on & bit);
	long answer;
	int err;

	lockdep_assert_irqs_disabled();
	if (!(s->ours & bit))
		return config ? sbi_take(s, hw) : 0;
	s->on &= ~bit;
	if (is_theirs(pmu, hw->event_base)) {
		/* He may have left it since. */
		s->ours &= ~bit;
		return config ? sbi_take(s, hw) : 0;
	}
	if (!config)
		return sbi_stop_one(hw->event_base, 0);
	if (stopped && s->event[hw->idx] == hw->config &&
	    s->flags[hw->idx] == hw->config_base) {
		answer = start(hw->event_base);
		if (answer == SBI_OK || answer == SBI_ALREADY_STARTED) {
			s->on |= bit;
			return 0;
		}
	}
	err = sbi_give_up(pmu, s, hw);
	return err ?: sbi_take(s, hw);
}

/* --- all of them ------------------------------------------------------------------------- */

/* No register is shared. */
static int sbi_save(const struct my_x86_pmu *pmu, struct my_pmu_state *state, u64 counters)
{
	lockdep_assert_irqs_disabled();
	return 0;
}

/* They are started when they are configured, one after the other. */
static int sbi_start(const struct my_x86_pmu *pmu, struct my_pmu_state *state, u64 counters,
		     u64 ack)
{
	lockdep_assert_irqs_disabled();
	return 0;
}

static int sbi_start_beside(const struct my_x86_pmu *pmu, struct my_pmu_state *state, u64 ours,
			    u64 counters, u64 ack)
{
	lockdep_assert_irqs_disabled();
	return 0;
}

/*
 * They count on.  To ask whether one was stopped is to start it; whoever hears that it was programs
 * it anew.  Nobody stops ours for a moment, as perf's core does on Intel's CPUs: so those that
 * should run count as enabled.
 */
static int sbi_stop(const struct my_x86_pmu *pmu, struct my_pmu_state *state, u64 counters,
		    struct my_pmu_stopped *stopped)
{
	u64 on = sbi_state(state)->on & counters, left, running = 0;

	lockdep_assert_irqs_disabled();
	for (left = on; left; left &= left - 1) {
		unsigned int idx = __ffs64(left), counter = my_pmc_number(idx);

		if (!is_theirs(pmu, counter) && start(counter) == SBI_ALREADY_STARTED)
			running |= BIT_ULL(idx);
	}
	*stopped = (struct my_pmu_stopped) { .running = running, .enabled = counters };
	return 0;
}

/* Those that are configured: they run, or can be started.  Of fixed ones see is_free(). */
static int sbi_find_in_use(const struct my_x86_pmu *pmu, u64 counters, u64 *in_use)
{
	u64 left;

	lockdep_assert_irqs_disabled();
	*in_use = 0;
	for (left = counters & pmu->counters; left; left &= left - 1) {
		unsigned int idx = __ffs64(left), counter = my_pmc_number(idx);
		long answer = look(counter);

		if (answer == SBI_ALREADY_STARTED ||
		    (answer == SBI_OK && !my_pmc_is_fixed(idx)))
			*in_use |= BIT_ULL(idx);
	}
	return 0;
}

/* perf is not asked about events, and writes nothing. */
static int sbi_snapshot(const struct my_x86_pmu *pmu, struct my_pmu_state *state,
			struct my_pmu_snapshot *snapshot)
{
	lockdep_assert_irqs_disabled();
	sbi_state(state)->ours = 0;
	sbi_state(state)->on = 0;
	if (!snapshot)
		return 0;
	snapshot->interrupts = 0;
	return sbi_find_in_use(pmu, pmu->counters, &snapshot->in_use);
}

static int sbi_put_back(const struct my_x86_pmu *pmu, struct my_pmu_state *state,
			const struct my_pmu_snapshot *snapshot, u64 in_use)
{
	lockdep_assert_irqs_disabled();
	return 0;
}

/* --- cross-calls ---------------------------------------------------------------------------- */

static void sbi_capture_one(void *request)
{
	struct my_pmu_request *r = request;

	lockdep_assert_irqs_disabled();
	r->otherwise(r, 1);
}

static void sbi_capture_cpus(void *by_cpu)
{
	struct my_pmu_request **requests = by_cpu;

	lockdep_assert_irqs_disabled();
	sbi_capture_one(requests[smp_processor_id()]);
}

/* --- what the firmware says ------------------------------------------------------------------ */

#define SBI_OPS								\
	.code_bits = MY_CONFIG_CODE,					\
	.single = true,							\
	.failed = "the firmware (SBI) gives no counter for an event",	\
	.others = &sbi_others,						\
	.probes = sbi_probes,						\
	.nr_probes = ARRAY_SIZE(sbi_probes),				\
	.counters_for = sbi_counters_for,				\
	.encode = sbi_encode,						\
	.snapshot = sbi_snapshot,					\
	.put_back = sbi_put_back,					\
	.save = sbi_save,						\
	.restore = sbi_save,						\
	.enable = sbi_enable,						\
	.disable = sbi_disable,						\
	.program = sbi_program,						\
	.start = sbi_start,						\
	.stop = sbi_stop,						\
	.start_beside = sbi_start_beside,				\
	.read = sbi_read,						\
	.capture_one = sbi_capture_one,					\
	.capture_cpus = sbi_capture_cpus,				\
	.peek = sbi_peek,						\
	.find_in_use = sbi_find_in_use

static const struct my_pmu_ops sbi_ops = {
	SBI_OPS,
};

static const char shared[] =
	"no Sscofpmf: perf shares these counters, and its cycles and instructions are wrong";

/* Without Sscofpmf. */
static const struct my_pmu_ops sbi_shared_ops = {
	SBI_OPS,
	.remark = shared,
};

/**
 * my_sbi_find_counters() - the counters that count an event, as the firmware says
 * @pmu: of this CPU
 * @state: of this CPU
 * @config: the event
 *
 * Each counter that is free is configured for the event, and freed again.  A generic one that we
 * count on cannot be asked: it is taken for like the others; so is one that somebody else has.  A
 * fixed one that is configured counts its event, whoever has it.  While perf runs that, no
 * generic one is asked: the firmware might configure perf's instead.
 *
 * Context: the CPU in question, interrupts off.
 * Return: the counters; 0 if there is none.
 */
u64 my_sbi_find_counters(const struct my_x86_pmu *pmu, const struct my_pmu_state *state,
			 u64 config)
{
	u64 ours = ((const struct sbi_state *)state->word)->ours;
	u64 fixed = fixed_for(pmu, config), generic = 0;
	u64 asked = 0, found = 0, theirs = 0, left;

	lockdep_assert_irqs_disabled();
	/* Without Sscofpmf nobody is given another one. */
	if (!fixed || pmu->flags & SBI_FILTERS)
		generic = pmu->counters & MY_GENERIC_COUNTERS;
	if (generic && fixed & ~ours && look(my_pmc_number(__ffs64(fixed))) == SBI_ALREADY_STARTED)
		return generic | fixed;
	for (left = (generic & ~ours) | fixed; left; left &= left - 1) {
		unsigned int idx = __ffs64(left), counter = my_pmc_number(idx);

		if (look(counter) != SBI_INVALID_PARAM) {
			found |= fixed & BIT_ULL(idx);
			theirs |= generic & BIT_ULL(idx);
			continue;
		}
		asked |= generic & BIT_ULL(idx);
		if (sbi_configure(counter, config, 0))
			continue;
		sbi_call(SBI_STOP, counter, STOP_AND_FREE, 0);
		found |= BIT_ULL(idx);
	}
	if (found & generic || !asked)
		found |= (ours & generic) | theirs;
	return found;
}

/*
 * Whether a counter that runs says so when it is started once more: not where the CPU has no
 * mcountinhibit.  If none can be had that counts cycles nothing is tried.
 */
static bool tells_what_runs(const struct my_x86_pmu *pmu)
{
	unsigned long mask = pmu->counters >> MY_PMC_IDX_FIXED |
			     (pmu->counters & MY_GENERIC_COUNTERS);
	unsigned long counter = 0;
	long answer = start(0);
	bool configured = answer == SBI_OK;

	if (answer == SBI_ALREADY_STARTED)
		return true;
	if (!configured) {
		if (hw_sbi_pmu(SBI_CFG_MATCH, 0, mask, 0, EVENT_CYCLES & MY_CONFIG_RAW, 0,
			       &counter))
			return true;
		start(counter);
	}
	answer = start(counter);
	sbi_call(SBI_STOP, counter, configured ? 0 : STOP_AND_FREE, 0);
	return answer == SBI_ALREADY_STARTED;
}

/**
 * my_sbi_pmu_probe() - the PMU of this CPU
 * @pmu: filled in
 * @why: if refused, the reason
 *
 * The firmware numbers its counters as their CSRs are numbered; one that is not so would not be
 * found again, and is left out, as are those of fewer than 32 bits.  A firmware that does not tell
 * whose a counter is cannot be used: KVM's starts what nobody has configured, and says that it
 * has.
 *
 * Context: the CPU in question, interrupts off.  One counter that is free counts for a moment.
 * Return: 0, or -ENODEV if the firmware has no counters for us.
 */
int my_sbi_pmu_probe(struct my_x86_pmu *pmu, struct my_pmu_why *why)
{
	unsigned int bits = 64, counter, width;
	unsigned long nr, info;
	long answer = SBI_INVALID_PARAM;

	lockdep_assert_irqs_disabled();
	*pmu = (struct my_x86_pmu) { .ops = hw_has_sscofpmf() ? &sbi_ops : &sbi_shared_ops };
	if (!hw_has_sbi_pmu() || hw_sbi_pmu(SBI_NUM_COUNTERS, 0, 0, 0, 0, 0, &nr))
		return my_refuse(why, -ENODEV,
				 "no PMU: the firmware (SBI) does not have the PMU extension");
	pmu->version = hw_sbi_version();
	pmu->flags = pmu->ops == &sbi_ops ? SBI_FILTERS : 0;
	for (counter = 0; counter < min_t(unsigned long, nr, MAX_COUNTERS); counter++) {
		if (hw_sbi_pmu(SBI_GET_INFO, counter, 0, 0, 0, 0, &info) ||
		    info & INFO_FIRMWARE || (info & INFO_CSR) != FIRST_CSR + counter)
			continue;
		if (counter < FIRST_GENERIC) {
			pmu->counters |= BIT_ULL(MY_PMC_IDX_FIXED + counter);
			continue;
		}
		width = (info >> INFO_WIDTH_SHIFT & INFO_WIDTH) + 1;
		if (width < MIN_BIT_WIDTH)
			continue;
		pmu->counters |= BIT_ULL(counter);
		bits = min(bits, width);
	}
	pmu->counters &= MY_GENERIC_COUNTERS | FIXED_CYCLES | FIXED_INSTRUCTIONS;
	pmu->cntval_bits = bits;
	pmu->cntval_bits_fixed = 64;
	if (!pmu->counters)
		return my_refuse(why, -ENODEV,
				 "no PMU: the firmware (SBI) has no counters of the hardware");
	/* Counter 1 is nobody's, unless it is another one than time. */
	if (hw_sbi_pmu(SBI_GET_INFO, TIME, 0, 0, 0, 0, &info) ||
	    (info & INFO_CSR) == FIRST_CSR + TIME)
		answer = look(TIME);
	if (answer == SBI_OK || answer == SBI_ALREADY_STARTED || !tells_what_runs(pmu))
		return my_refuse(why, -ENODEV,
				 "no PMU: the firmware (SBI) does not tell which counters are in use (a guest of KVM, or a CPU without mcountinhibit)");
	return 0;
}
