// SPDX-License-Identifier: GPL-2.0
/*
 * The self-test: a counter counts a known number of events before anything that it
 * counted is shown.
 *
 * Some hypervisors ignore what is written to the PMU's registers, or answer with
 * constants.  So a counter has to keep what is written to it, and then to count code
 * whose instruction count is known: instructions exactly, cycles within what a CPU can
 * take.  It is tried until it was right twice in a row, because an NMI or an SMI may
 * have come between.
 *
 * What surrounds the code is counted, too.  It is the same in two runs, so the
 * difference between one run and another of twice the length is the code's own.
 *
 * KVM counts each counter of a guest with one of the host's.  If the host has none left, the
 * guest's counter stands still, and no register shows that.  So the counters that will count
 * at the same time also count the code at the same time.
 */
#include <linux/bitops.h>
#include <linux/errno.h>
#include <linux/lockdep.h>

#include "pmu_growth.h"
#include "pmu_hw.h"
#include "pmu_selftest.h"
#include "pmu_set.h"
#include "pmu_why.h"

#define ROUNDS		128
#define TRIES_RIGHT	2
#define TRIES		8

/* A hypervisor may lose an event or two when it interrupts us. */
#define TOLERANCE_LOG2	9

/* A counter starts so little before its wrap that any of the runs reaches it. */
#define START		(-64)

/* What the counter @hw is on counts in @rounds of the known code. */
static int count_rounds(struct my_pmu_cpu *cpu, const struct my_hw_perf_event *hw,
			unsigned int rounds, u64 *count, struct my_pmu_why *why)
{
	const struct my_x86_pmu *pmu = &cpu->pmu;
	const struct my_pmu_ops *ops = pmu->ops;
	u64 mask = GENMASK_ULL(hw->cntval_bits - 1, 0), from = START, seen;
	const char *kind = my_pmc_kind(hw->idx);
	int number = my_pmc_number(hw->idx);
	struct my_pmu_stopped stopped;
	int err, differs;

	err = ops->program(pmu, &cpu->state, hw, hw->config);
	if (err)
		return err;
	differs = ops->read(hw, &seen);
	if (differs < 0)
		return differs;
	err = ops->program(pmu, &cpu->state, hw, 0);
	if (err)
		return err;
	err = ops->write ? ops->write(hw, START) : ops->read(hw, &from);
	if (err < 0)
		return err;
	err = ops->read(hw, &seen);
	if (err < 0)
		return err;
	if (ops->write && seen != ((s64)START & mask))
		return my_refuse(why, -ENODEV,
				 "%s%d does not keep what is written to it: %#llx written, %#llx read",
				 kind, number, (s64)START & mask, seen);
	if (differs)
		return my_refuse(why, -ENODEV,
				 "%s%d does not take an event: its control register does not keep what is written to it",
				 kind, number);
	err = ops->program(pmu, &cpu->state, hw, hw->config);
	if (err)
		return err;
	err = ops->start(pmu, &cpu->state, BIT_ULL(hw->idx), 0);
	if (err)
		return err;
	hw_run_known_code(rounds);
	err = ops->stop(pmu, &cpu->state, BIT_ULL(hw->idx), &stopped);
	if (err)
		return err;
	err = ops->read(hw, &seen);
	if (err < 0)
		return err;
	*count = my_pmu_delta(from, seen, hw->cntval_bits);
	cpu->overflow_reliable |= stopped.overflowed;
	return ops->program(pmu, &cpu->state, hw, 0);
}

static bool is_right(const struct my_pmu_probe *probe, u64 count)
{
	u64 least = ROUNDS * probe->least, most = ROUNDS * probe->most;

	return count + (least >> TOLERANCE_LOG2) >= least &&
	       count <= most + (most >> TOLERANCE_LOG2);
}

static const char beside_others[] =
	", while other events of my_pmu are counted: fewer may count at a time than there are";

/* @others: counters of other sets are counting. */
static int refuse_rate(const struct my_hw_perf_event *hw,
		       const struct my_pmu_probe *probe, u64 count, bool others,
		       struct my_pmu_why *why)
{
	unsigned int least = ROUNDS * probe->least, most = ROUNDS * probe->most;
	const char *kind = my_pmc_kind(hw->idx);
	int number = my_pmc_number(hw->idx);

	if (!count)
		return my_refuse(why, -ENODEV,
				 "%s%d stands still: it counts no %s in code of %u instructions%s",
				 kind, number, probe->unit,
				 ROUNDS * HW_ROUND_INSTRUCTIONS,
				 others ? beside_others : "");
	if (least == most)
		return my_refuse(why, -ENODEV,
				 "%s%d counts wrong: %lld %s where the CPU has executed %u",
				 kind, number, (long long)count, probe->unit, least);
	return my_refuse(why, -ENODEV,
			 "%s%d counts wrong: %lld %s in code of %u instructions; plausible are %u to %u",
			 kind, number, (long long)count, probe->unit,
			 ROUNDS * HW_ROUND_INSTRUCTIONS, least, most);
}

/* Not all counters count the probe's event, and on some that do it need not be tried. */
static bool counts_probe(const struct my_x86_pmu *pmu, int idx,
			 const struct my_pmu_probe *probe)
{
	const char *reason;

	return pmu->ops->counters_for(pmu, &probe->attr, NULL, &reason) &
	       (probe->attr.allowed ?: ~0ULL) & BIT_ULL(idx);
}

/* Where a second counter of an event may stand still, its own events are a counter's probes. */
static bool is_probed(const struct my_event_set *set, int idx, const struct my_pmu_probe *probe)
{
	const struct my_x86_pmu *pmu = &set->cpu->pmu;
	unsigned int i, j;

	if (!pmu->ops->single)
		return counts_probe(pmu, idx, probe);
	for (i = 0; i < set->schedule.nr_rotations; i++) {
		for (j = 0; j < set->nr_events; j++) {
			if (set->schedule.rotation[i].idx[j] == idx &&
			    set->event[j].attr.config == probe->attr.config)
				return counts_probe(pmu, idx, probe);
		}
	}
	return false;
}

/* With one probe; a counter that does not count its event passes. */
static int test_counter(const struct my_event_set *set, int idx,
			const struct my_pmu_probe *probe, struct my_pmu_why *why)
{
	struct my_pmu_cpu *cpu = set->cpu;
	const struct my_x86_pmu *pmu = &cpu->pmu;
	struct my_hw_perf_event hw = { .idx = idx };
	unsigned int tries, right = 0;
	u64 once, twice, wrong = 0;
	int first = 0, err;

	if (!is_probed(set, idx, probe))
		return 0;
	pmu->ops->encode(pmu, &probe->attr, &hw);
	err = pmu->ops->enable(pmu, &cpu->state, &hw);
	if (err)
		return err;
	for (tries = 0; tries < TRIES && right < TRIES_RIGHT; tries++) {
		first = count_rounds(cpu, &hw, ROUNDS, &once, why);
		if (!first)
			first = count_rounds(cpu, &hw, 2 * ROUNDS, &twice, why);
		if (first)
			break;
		/* What surrounds the code may differ: nothing of it is expected then. */
		if (is_right(probe, probe->least ? twice - once : twice)) {
			right++;
			continue;
		}
		wrong = twice - once;
		right = 0;
	}
	if (!first && right < TRIES_RIGHT) {
		first = refuse_rate(&hw, probe, wrong, cpu->active, why);
		cpu->disturbed = wrong;
	}
	err = pmu->ops->disable(pmu, &cpu->state, &hw);
	return first ?: err;
}

/* --- counters that count at the same time ------------------------------------------ */

/*
 * The first probe whose event the counter counts and that cannot be 0; @hw is filled in.
 * NULL if there is none: whether such a counter counts cannot be tested.
 */
static const struct my_pmu_probe *find_probe(const struct my_event_set *set, int idx,
					     struct my_hw_perf_event *hw)
{
	const struct my_x86_pmu *pmu = &set->cpu->pmu;
	unsigned int i;

	*hw = (struct my_hw_perf_event) { .idx = idx };
	for (i = 0; i < pmu->ops->nr_probes; i++) {
		const struct my_pmu_probe *probe = &pmu->ops->probes[i];

		if (!probe->least || !is_probed(set, idx, probe))
			continue;
		pmu->ops->encode(pmu, &probe->attr, hw);
		return probe;
	}
	return NULL;
}

/* To @sum of each counter, @sign times what it shows. */
static int add_values(const struct my_event_set *set, u64 counters, int sign, u64 *sum)
{
	struct my_hw_perf_event hw;
	u64 seen;
	int err;

	for (; counters; counters &= counters - 1) {
		find_probe(set, __ffs64(counters), &hw);
		err = set->cpu->pmu.ops->read(&hw, &seen);
		if (err < 0)
			return err;
		sum[hw.idx] += sign * seen;
	}
	return 0;
}

/* To @sum of each counter, @sign times what it counts in @rounds of the known code. */
static int count_together(const struct my_event_set *set, u64 counters, unsigned int rounds,
			  int sign, u64 *sum)
{
	struct my_pmu_cpu *cpu = set->cpu;
	const struct my_x86_pmu *pmu = &cpu->pmu;
	struct my_pmu_stopped stopped;
	int err;

	err = add_values(set, counters, -sign, sum);
	if (!err)
		err = pmu->ops->start(pmu, &cpu->state, counters, 0);
	if (err)
		return err;
	hw_run_known_code(rounds);
	err = pmu->ops->stop(pmu, &cpu->state, counters, &stopped);
	return err ?: add_values(set, counters, sign, sum);
}

/* The first that is wrong, and whether it stands still; or MY_NO_COUNTER. */
static int find_wrong(const struct my_event_set *set, u64 counters, const u64 *sum,
		      bool *stands_still)
{
	const struct my_pmu_probe *probe;
	struct my_hw_perf_event hw;
	u64 count;

	for (; counters; counters &= counters - 1) {
		probe = find_probe(set, __ffs64(counters), &hw);
		count = my_pmu_delta(0, sum[hw.idx], hw.cntval_bits);
		if (is_right(probe, count))
			continue;
		*stands_still = !count;
		return hw.idx;
	}
	return MY_NO_COUNTER;
}

/* @counters are programmed with their probes. */
static int try_together(const struct my_event_set *set, u64 counters, struct my_pmu_why *why)
{
	struct my_pmu_cpu *cpu = set->cpu;
	unsigned int tries, right = 0;
	bool stands_still = false;
	int err, wrong = 0;

	for (tries = 0; tries < TRIES && right < TRIES_RIGHT; tries++) {
		u64 sum[MY_PMC_NR] = {};
		int idx;

		err = count_together(set, counters, ROUNDS, -1, sum);
		if (!err)
			err = count_together(set, counters, 2 * ROUNDS, 1, sum);
		if (err)
			return err;
		idx = find_wrong(set, counters, sum, &stands_still);
		right = idx == MY_NO_COUNTER ? right + 1 : 0;
		wrong = idx == MY_NO_COUNTER ? wrong : idx;
	}
	if (right == TRIES_RIGHT)
		return 0;
	cpu->disturbed = !stands_still;
	return my_refuse(why, -ENODEV,
			 "%s%d %s when %u counters count together; alone it counts: fewer count at a time than there are, as in a virtual machine whose host has no more of them; count fewer events at a time",
			 my_pmc_kind(wrong), my_pmc_number(wrong),
			 stands_still ? "stands still" : "counts wrong",
			 (unsigned int)hweight64(counters | cpu->active));
}

/*
 * Counters of other sets go on counting, as in the test of a single counter: they, too, need
 * counters of the host, which is what is tested here.  They are not checked, because their
 * events may not occur in this code.  A host that has no counter left leaves out what was
 * programmed last, which is a counter of this set.
 */
static int test_together(const struct my_event_set *set, u64 counters, struct my_pmu_why *why)
{
	struct my_pmu_cpu *cpu = set->cpu;
	const struct my_x86_pmu *pmu = &cpu->pmu;
	struct my_hw_perf_event hw;
	u64 left, enabled = 0;
	int first = 0, err;

	for (left = counters; left && !first; left &= left - 1) {
		if (!find_probe(set, __ffs64(left), &hw))
			continue;
		first = pmu->ops->enable(pmu, &cpu->state, &hw);
		enabled |= first ? 0 : BIT_ULL(hw.idx);
	}
	if (!first)
		first = try_together(set, enabled, why);
	/* In reverse order, as those that share a register must be. */
	for (left = enabled; left; left &= ~BIT_ULL(hw.idx)) {
		find_probe(set, fls64(left) - 1, &hw);
		err = pmu->ops->disable(pmu, &cpu->state, &hw);
		first = first ?: err;
	}
	return first;
}

static u64 counters_in(const struct my_pmu_rotation *rotation)
{
	u64 events = rotation->events, counters = 0;

	for (; events; events &= events - 1)
		counters |= BIT_ULL(rotation->idx[__ffs64(events)]);
	return counters;
}

/* A rotation all of whose counters are in an earlier one has been tested with that. */
static int test_rotations(struct my_event_set *set, struct my_pmu_why *why)
{
	u64 tested[MY_EVENTS_MAX];
	unsigned int i, j;
	int err = 0;

	for (i = 0; i < set->schedule.nr_rotations && !err; i++) {
		tested[i] = counters_in(&set->schedule.rotation[i]);
		for (j = 0; tested[i] & ~tested[j]; j++)
			;
		if (j == i && hweight64(tested[i]) > 1)
			err = test_together(set, tested[i], why);
	}
	return err;
}

/**
 * my_pmu_selftest() - is each counter of a set free, and does it count?
 * @set: the set; nothing of it is programmed
 * @why: if one does not, which and how
 *
 * First alone, then together with the others of its rotation.
 *
 * Afterwards all registers are as before, except for generic counters' values that
 * cannot be written, and @set->cpu->overflow_reliable has the counters that set their
 * overflow bit, @overflow_unknown those that may or may not, @refused those that are in use or
 * do not count: the first, or all if only together they do not.  If @set->cpu->disturbed is set,
 * NMIs may be why it was refused.
 *
 * Context: the CPU in question, interrupts off; some hundred accesses to registers
 * for each counter, which take a virtual machine milliseconds.
 * Return: 0; -EBUSY if one is in use; -ENODEV if one does not count; -EIO if a register faulted.
 */
int my_pmu_selftest(struct my_event_set *set, struct my_pmu_why *why)
{
	struct my_pmu_cpu *cpu = set->cpu;
	const struct my_x86_pmu *pmu = &cpu->pmu;
	const struct my_pmu_ops *ops = pmu->ops;
	u64 counters = set->used, left, unknown, in_use = 0;
	struct my_pmu_stopped stopped;
	int first, err = 0;
	unsigned int i;

	lockdep_assert_irqs_disabled();
	cpu->disturbed = false;
	if (ops->find_in_use)
		err = ops->find_in_use(pmu, counters, &in_use);
	if (err)
		return err;
	in_use &= counters;
	cpu->refused = (cpu->refused & ~counters) | in_use;
	if (in_use)
		return my_refuse(why, -EBUSY,
				 "%s%d is in use, %s", my_pmc_kind(__ffs64(in_use)),
				 my_pmc_number(__ffs64(in_use)), ops->others->in_use);
	cpu->overflow_reliable &= ~counters;
	err = ops->save(pmu, &cpu->state, counters);
	if (err)
		return err;
	err = ops->stop(pmu, &cpu->state, counters, &stopped);
	if (err)
		return err;
	first = 0;
	for (left = counters; left && !first; left &= left - 1) {
		for (i = 0; i < ops->nr_probes && !first; i++)
			first = test_counter(set, __ffs64(left), &ops->probes[i], why);
		if (first)
			cpu->refused |= left & -left;
	}
	if (!first) {
		first = test_rotations(set, why);
		if (first)
			cpu->refused |= counters;
	}
	/*
	 * An overflow bit that was set before tells nothing; nor where NMIs let perf clear it, nor
	 * the sign of a counter that does not interrupt.
	 */
	unknown = cpu->guard || ops->overflow_by_sign ? counters : stopped.overflowed & counters;
	cpu->overflow_reliable &= ~unknown;
	cpu->overflow_unknown = (cpu->overflow_unknown & ~counters) | unknown;
	err = ops->restore(pmu, &cpu->state, counters);
	return first ?: err;
}
