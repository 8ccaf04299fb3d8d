// SPDX-License-Identifier: GPL-2.0
/*
 * Each counter proves that it counts, before anything that it counted is shown.
 *
 * Some hypervisors ignore what is written to the PMU's registers, or answer with
 * constants.  So a counter has to keep what is written to it, and then to count
 * code of which is known what a CPU does in it: instructions to the last one,
 * cycles as many as can be.  It is asked again and again until it was right
 * twice in a row, because an NMI or an SMI may have come between.
 *
 * What little surrounds the code is counted as well; of two runs, one of them twice
 * as long, it is the same, so their difference is the code's own.
 */
#include <linux/bitops.h>
#include <linux/errno.h>
#include <linux/lockdep.h>

#include "pmu_event.h"
#include "pmu_growth.h"
#include "pmu_hw.h"
#include "pmu_truth.h"
#include "pmu_why.h"

#define TURNS		128
#define TIMES_RIGHT	2
#define TIMES		8

/* A hypervisor may lose an event or two when it interrupts us. */
#define TOLERANCE_LOG2	9

/* A counter starts so little before its wrap that any of the runs reaches it. */
#define START		(-64)

static const char *kind(const struct my_perf_event *event)
{
	return my_pmc_kind(event->hw.idx);
}

static int number(const struct my_perf_event *event)
{
	return my_pmc_number(event->hw.idx);
}

static int refuse_event(const struct my_perf_event *event,
			struct my_pmu_why *why)
{
	return my_refuse(why, -ENODEV,
			 "%s%d does not take an event: its control register does not keep what is written to it",
			 kind(event), number(event));
}

/* Its control takes the event; stopped again, the counter takes a value. */
static int set_up(const struct my_perf_event *event, struct my_pmu_why *why)
{
	const struct my_x86_pmu *pmu = &event->cpu->pmu;
	u64 wanted = (s64)START & GENMASK_ULL(event->hw.cntval_bits - 1, 0);
	int err, kept;
	u64 seen;

	err = pmu->program(event, true);
	if (err)
		return err;
	kept = pmu->is_programmed(event);
	if (kept < 0)
		return kept;
	err = pmu->program(event, false);
	if (err)
		return err;
	err = pmu->write(event, START);
	if (err)
		return err;
	err = pmu->read(event, &seen);
	if (err)
		return err;
	if (seen != wanted)
		return my_refuse(why, -ENODEV,
				 "%s%d does not keep what is written to it: %#llx written, %#llx read",
				 kind(event), number(event), wanted, seen);
	return kept ? 0 : refuse_event(event, why);
}

/*
 * What it counts while the code runs.  Of a counter that had set its overflow bit
 * before, or does not set it, the bit tells nothing.
 */
static int count_turns(const struct my_perf_event *event, unsigned int turns,
		       u64 *count, struct my_pmu_why *why)
{
	struct my_pmu_cpu *c = event->cpu;
	u64 bit = BIT_ULL(event->hw.idx), now;
	int err;

	err = set_up(event, why);
	if (err)
		return err;
	err = c->pmu.run_known_code(event, &c->stopped, turns);
	if (err)
		return err;
	err = my_pmu_stop(c);	/* they are; it sees who has overflowed */
	if (err)
		return err;
	err = c->pmu.read(event, &now);
	if (err)
		return err;
	*count = my_pmu_delta((s64)START, now, event->hw.cntval_bits);
	c->tell |= c->stopped.overflowed & bit & ~c->found.global_status;
	return 0;
}

static bool is_right(const struct my_pmu_probe *probe, u64 count)
{
	u64 least = TURNS * probe->least, most = TURNS * probe->most;

	return count + (least >> TOLERANCE_LOG2) >= least &&
	       count <= most + (most >> TOLERANCE_LOG2);
}

static int refuse_rate(const struct my_perf_event *event,
		       const struct my_pmu_probe *probe, u64 count,
		       struct my_pmu_why *why)
{
	unsigned int least = TURNS * probe->least, most = TURNS * probe->most;

	if (!count)
		return my_refuse(why, -ENODEV,
				 "%s%d stands still: it counts no %s in code of %u instructions",
				 kind(event), number(event), probe->unit,
				 TURNS * HW_TURN_INSTRUCTIONS);
	if (least == most)
		return my_refuse(why, -ENODEV,
				 "%s%d counts wrong: %lld %s where the CPU has executed %u",
				 kind(event), number(event), (long long)count,
				 probe->unit, least);
	return my_refuse(why, -ENODEV,
			 "%s%d counts wrong: %lld %s in code of %u instructions; plausible are %u to %u",
			 kind(event), number(event), (long long)count, probe->unit,
			 TURNS * HW_TURN_INSTRUCTIONS, least, most);
}

static int prove_rate(const struct my_perf_event *event,
		      const struct my_pmu_probe *probe, struct my_pmu_why *why)
{
	unsigned int times, right = 0;
	u64 once, twice, wrong = 0;
	int err;

	for (times = 0; times < TIMES; times++) {
		err = count_turns(event, TURNS, &once, why);
		if (err)
			return err;
		err = count_turns(event, 2 * TURNS, &twice, why);
		if (err)
			return err;
		if (!is_right(probe, twice - once)) {
			wrong = twice - once;
			right = 0;
			continue;
		}
		right++;
		if (right == TIMES_RIGHT)
			return 0;
	}
	return refuse_rate(event, probe, wrong, why);
}

static int prove_with(struct my_pmu_cpu *c, int idx,
		      const struct my_pmu_probe *probe, struct my_pmu_why *why)
{
	struct my_perf_event event = {
		.attr = probe->attr,
		.hw.idx = idx,
		.cpu = c,
	};
	int first, err;

	/* What the CPU does not have can prove nothing. */
	if (!c->pmu.counts(&event.attr, idx) ||
	    c->pmu.hw_config(&c->pmu, &event))
		return 0;
	err = c->pmu.enable(&c->pmu, &event);
	if (err)
		return err;
	first = prove_rate(&event, probe, why);
	err = c->pmu.disable(&c->pmu, &event);
	return first ?: err;
}

static int prove_counter(struct my_pmu_cpu *c, int idx, struct my_pmu_why *why)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < c->pmu.nr_probes && !err; i++)
		err = prove_with(c, idx, &c->pmu.probes[i], why);
	return err;
}

/**
 * my_pmu_prove() - let all counters that belong to events prove that they count
 * @c: the CPU; nothing is enabled
 * @why: if one does not, which and how
 *
 * Afterwards all registers are as before, but for generic counters' values that
 * cannot be written, and @c->tell has the counters that tell of their wraps.
 *
 * Context: the CPU in question, interrupts off; some hundred accesses to registers
 * for each counter, which take a virtual machine milliseconds.
 * Return: 0; -ENODEV if one does not count; -EIO if a register faulted.
 */
int my_pmu_prove(struct my_pmu_cpu *c, struct my_pmu_why *why)
{
	int first, err;
	u64 left;

	lockdep_assert_irqs_disabled();
	c->tell = 0;
	err = c->pmu.take(&c->pmu, &c->found);
	if (err)
		return err;
	err = my_pmu_stop(c);
	if (err)
		return err;
	first = 0;
	for (left = c->used; left && !first; left &= left - 1)
		first = prove_counter(c, __ffs64(left), why);
	err = c->pmu.give_back(&c->pmu, &c->found, &c->stopped, c->used);
	return first ?: err;
}
