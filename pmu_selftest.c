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
	u64 mask = GENMASK_ULL(hw->cntval_bits - 1, 0), seen;
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
	err = ops->write(hw, START);
	if (err)
		return err;
	err = ops->read(hw, &seen);
	if (err < 0)
		return err;
	if (seen != ((s64)START & mask))
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
	*count = my_pmu_delta((s64)START, seen, hw->cntval_bits);
	cpu->overflow_reliable |= stopped.overflowed;
	return ops->program(pmu, &cpu->state, hw, 0);
}

static bool is_right(const struct my_pmu_probe *probe, u64 count)
{
	u64 least = ROUNDS * probe->least, most = ROUNDS * probe->most;

	return count + (least >> TOLERANCE_LOG2) >= least &&
	       count <= most + (most >> TOLERANCE_LOG2);
}

static int refuse_rate(const struct my_hw_perf_event *hw,
		       const struct my_pmu_probe *probe, u64 count,
		       struct my_pmu_why *why)
{
	unsigned int least = ROUNDS * probe->least, most = ROUNDS * probe->most;
	const char *kind = my_pmc_kind(hw->idx);
	int number = my_pmc_number(hw->idx);

	if (!count)
		return my_refuse(why, -ENODEV,
				 "%s%d stands still: it counts no %s in code of %u instructions",
				 kind, number, probe->unit,
				 ROUNDS * HW_ROUND_INSTRUCTIONS);
	if (least == most)
		return my_refuse(why, -ENODEV,
				 "%s%d counts wrong: %lld %s where the CPU has executed %u",
				 kind, number, (long long)count, probe->unit, least);
	return my_refuse(why, -ENODEV,
			 "%s%d counts wrong: %lld %s in code of %u instructions; plausible are %u to %u",
			 kind, number, (long long)count, probe->unit,
			 ROUNDS * HW_ROUND_INSTRUCTIONS, least, most);
}

/* With one probe; a counter that does not count its event passes. */
static int test_counter(struct my_pmu_cpu *cpu, int idx,
			const struct my_pmu_probe *probe, struct my_pmu_why *why)
{
	const struct my_x86_pmu *pmu = &cpu->pmu;
	struct my_hw_perf_event hw = { .idx = idx };
	unsigned int tries, right = 0;
	u64 once, twice, wrong = 0;
	const char *reason;
	int first = 0, err;

	if (!(pmu->ops->counters_for(pmu, &probe->attr, NULL, &reason) &
	      (probe->attr.allowed ?: ~0ULL) & BIT_ULL(idx)))
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
	if (!first && right < TRIES_RIGHT)
		first = refuse_rate(&hw, probe, wrong, why);
	err = pmu->ops->disable(pmu, &cpu->state, &hw);
	return first ?: err;
}

/**
 * my_pmu_selftest() - is each of these counters free, and does it count?
 * @cpu: the CPU
 * @counters: which; no event is programmed on them
 * @why: if one does not, which and how
 *
 * Afterwards all registers are as before, except for generic counters' values that
 * cannot be written, and @cpu->overflow_reliable has the counters that set their
 * overflow bit.
 *
 * Context: the CPU in question, interrupts off; some hundred accesses to registers
 * for each counter, which take a virtual machine milliseconds.
 * Return: 0; -EBUSY if one is in use; -ENODEV if one does not count; -EIO if a register faulted.
 */
int my_pmu_selftest(struct my_pmu_cpu *cpu, u64 counters, struct my_pmu_why *why)
{
	const struct my_x86_pmu *pmu = &cpu->pmu;
	const struct my_pmu_ops *ops = pmu->ops;
	struct my_pmu_stopped stopped;
	u64 left, in_use = 0;
	int first, err = 0;
	unsigned int i;

	lockdep_assert_irqs_disabled();
	if (ops->find_in_use)
		err = ops->find_in_use(pmu, &in_use);
	if (err)
		return err;
	in_use &= counters;
	if (in_use)
		return my_refuse(why, -EBUSY,
				 "%s%d is in use, and not by Linux: its firmware or microcode (TSX) uses it",
				 my_pmc_kind(__ffs64(in_use)),
				 my_pmc_number(__ffs64(in_use)));
	cpu->overflow_reliable &= ~counters;
	err = ops->save(pmu, &cpu->state, counters);
	if (err)
		return err;
	err = ops->stop(pmu, &cpu->state, counters, &stopped);
	if (err)
		return err;
	first = 0;
	for (left = counters; left; left &= left - 1) {
		for (i = 0; i < ops->nr_probes && !first; i++)
			first = test_counter(cpu, __ffs64(left), &ops->probes[i], why);
	}
	/* An overflow bit that was set before tells nothing; nor where NMIs let perf clear it. */
	cpu->overflow_reliable &= ~(cpu->guard ? counters : stopped.overflowed & counters);
	err = ops->restore(pmu, &cpu->state, counters);
	return first ?: err;
}
