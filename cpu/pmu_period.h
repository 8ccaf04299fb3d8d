/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Periods: when a counter interrupts, and which of its interrupts are still to come.
 *
 * Pure arithmetic, whatever the counter.
 */
#ifndef MY_PMU_PERIOD_H
#define MY_PMU_PERIOD_H

#include <linux/compiler.h>
#include <linux/math64.h>
#include <linux/types.h>
#include <asm/local.h>

/**
 * struct my_period - how far an event is in its period
 * @left: events until the next overflow, from @hw.prev_count of its event on
 * @group: the events of its group, by place
 * @owed: overflows that have been found, minus those whose sample was written.  An NMI
 *	that interrupts work on the event writes the sample, and leaves it to that work to
 *	find the overflow
 * @samples: samples that were written
 * @lost: overflows without a sample of their own
 * @throttles: how often its interrupts were switched off, because there were too many, or
 *	they disturbed a self-test
 * @told: @throttles as it was at the last read
 * @throttled: they are off, until a timer switches them on again
 *
 * On the event's CPU: with interrupts off, between my_pmu_cpu_begin() and my_pmu_cpu_end();
 * otherwise in an NMI.
 */
struct my_period {
	u64 left;
	u64 group;
	local_t owed;
	u64 samples;
	u64 lost;
	u64 throttles;
	u64 told;
	bool throttled;
};

/**
 * my_period_step() - an event has grown
 * @left: events until the next overflow; as it is afterwards
 * @period: from one overflow to the next
 * @delta: by how much
 *
 * What is beyond an overflow belongs to the next period: nothing is lost of it.
 *
 * Context: any; pure.
 * Return: overflows, usually none or one.
 */
static __always_inline u64 my_period_step(u64 *left, u32 period, u64 delta)
{
	u64 beyond = delta - *left, more = 1;

	if (delta < *left) {
		*left -= delta;
		return 0;
	}
	if (unlikely(beyond >= period)) {
		more += div_u64(beyond, period);
		beyond -= (more - 1) * period;
	}
	*left = period - beyond;
	return more;
}

#endif
