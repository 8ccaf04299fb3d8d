/* SPDX-License-Identifier: GPL-2.0 */
/*
 * By how much a counter has grown between two reads, and whether that can be
 * known: it has a width, it wraps, and somebody else may have written it.
 *
 * Pure arithmetic, whatever the counter.
 */
#ifndef MY_PMU_GROWTH_H
#define MY_PMU_GROWTH_H

#include <linux/bits.h>
#include <linux/math64.h>
#include <linux/time64.h>
#include <linux/types.h>

/*
 * No CPU is known to have so many events in 2^20 ns: 2^30 is 1024 in a nanosecond.  A
 * counter that grew by more was written by somebody.
 */
#define MY_MAX_EVENTS_LOG2	30
#define MY_MAX_EVENTS_NS_LOG2	20

/**
 * my_pmu_delta() - growth of a counter between two reads
 * @prev: raw value at the earlier read
 * @now: raw value at the later read
 * @bits: the counter's width, 1 to 64
 *
 * Exact as long as the counter grew by less than 2^@bits, wrap or no wrap;
 * bits that the counter does not have are ignored.
 *
 * Context: any; pure.
 * Return: the growth in events.
 */
static inline u64 my_pmu_delta(u64 prev, u64 now, unsigned int bits)
{
	return (now - prev) & GENMASK_ULL(bits - 1, 0);
}

/**
 * my_pmu_plausible() - can a counter have grown by so much?
 * @delta: events
 * @ns: for how long it counted between the two reads, or more
 *
 * Context: any; pure.
 * Return: false if no CPU counts as fast.
 */
static inline bool my_pmu_plausible(u64 delta, u64 ns)
{
	return delta >> MY_MAX_EVENTS_LOG2 <= ns >> MY_MAX_EVENTS_NS_LOG2;
}

/**
 * my_pmu_may_wrap_again() - was there time for this growth and a whole round?
 * @delta: growth by my_pmu_delta()
 * @bits: the counter's width, 32 to 64
 * @rate_log2: of its event, in a millisecond
 * @ns: for how long it counted between the two reads, or more
 *
 * Context: any; pure.
 * Return: true if the counter may have gone round once more than @delta tells.
 */
static inline bool my_pmu_may_wrap_again(u64 delta, unsigned int bits,
					 unsigned int rate_log2, u64 ns)
{
	u64 round = 1ULL << (bits - rate_log2);

	return (delta >> rate_log2) + round <= div_u64(ns, NSEC_PER_MSEC);
}

/**
 * my_pmu_scale() - what would have been counted in all of the time
 * @count: events, in @running
 * @running: for how long they were counted
 * @enabled: how long all of it was; not less
 * @scaled: @count * @enabled / @running, cut off
 *
 * Context: any; pure.
 * Return: false if nothing can be said: they were not counted at all, or so briefly
 * that it is more than 64 bits hold.
 */
static inline bool my_pmu_scale(u64 count, u64 running, u64 enabled,
				u64 *scaled)
{
	if (mul_u64_u64_shr(count, enabled, 64) >= running)
		return false;
	*scaled = mul_u64_u64_div_u64(count, enabled, running);
	return true;
}

/**
 * struct my_pmu_step - a counter at two reads
 * @prev: raw value at the earlier read
 * @now: raw value at the later read
 * @bits: the counter's width, 32 to 64
 * @ns: for how long it counted between the two, or more
 * @reliable: it sets its overflow bit when it wraps
 * @overflowed: and has set it between the two
 * @rate_log2: how fast its event can be, in a millisecond
 */
struct my_pmu_step {
	u64 prev;
	u64 now;
	unsigned int bits;
	u64 ns;
	bool reliable;
	bool overflowed;
	unsigned int rate_log2;
};

enum my_pmu_growth {
	MY_GROWTH_KNOWN,	/* it is my_pmu_delta() */
	MY_GROWTH_CLOBBERED,	/* no counting explains it: somebody wrote it */
	MY_GROWTH_LATE,		/* it may have wrapped more than once */
};

/**
 * my_pmu_growth() - can the growth of a counter be known?
 * @step: the counter at two reads
 *
 * A counter with a reliable overflow bit that is not set has not wrapped, however
 * much time has passed.
 *
 * Context: any; pure.
 * Return: whether it can, and if not, why.
 */
static inline enum my_pmu_growth my_pmu_growth(const struct my_pmu_step *step)
{
	u64 delta = my_pmu_delta(step->prev, step->now, step->bits);
	bool wrapped = step->now < step->prev;

	if (!my_pmu_plausible(delta, step->ns))
		return MY_GROWTH_CLOBBERED;
	if (step->reliable && !step->overflowed)
		return wrapped ? MY_GROWTH_CLOBBERED : MY_GROWTH_KNOWN;
	if (my_pmu_may_wrap_again(delta, step->bits, step->rate_log2, step->ns))
		return MY_GROWTH_LATE;
	return step->overflowed && !wrapped ? MY_GROWTH_CLOBBERED :
					      MY_GROWTH_KNOWN;
}

#endif
