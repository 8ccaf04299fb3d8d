/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The clock that counting goes by.  A test that brings its own version of this
 * header is not at the mercy of how fast its machine is: tests/kunit/ has one.
 */
#ifndef MY_PMU_CLOCK_H
#define MY_PMU_CLOCK_H

#include <linux/delay.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/types.h>

#include "pmu_ticks.h"

/**
 * my_pmu_now() - the moment
 *
 * Context: any.
 * Return: CLOCK_MONOTONIC, ns.
 */
static inline u64 my_pmu_now(void)
{
	return ktime_get_ns();
}

/**
 * my_pmu_nmi_now() - the moment, for NMIs, which may have interrupted who sets the clock
 *
 * Context: any, including NMI.
 * Return: CLOCK_MONOTONIC, ns; right after the clock was set it may be a little behind.
 */
static inline u64 my_pmu_nmi_now(void)
{
	return ktime_get_mono_fast_ns();
}

/**
 * my_pmu_fast_ticks() - the moment, for what is measured often and not exactly
 *
 * Context: any, including NMI.
 * Return: the CPU's own clock (TSC), not ordered.
 */
static inline u64 my_pmu_fast_ticks(void)
{
	return hw_ticks();
}

/**
 * my_pmu_ticks_ns() - how long ago a moment was
 * @then: the moment, by my_pmu_fast_ticks() on this CPU
 *
 * A clock that stands still while the CPU sleeps does so when the counters do.
 *
 * Context: any.
 * Return: ns, or a thousandth and a microsecond more.
 */
static inline u64 my_pmu_ticks_ns(u64 then)
{
	u64 ticks = max_t(s64, hw_ticks() - then, 0);

	return (div64_u64(ticks, max(hw_ticks_khz() / 1000, 1U)) + 1) * NSEC_PER_USEC;
}

/**
 * my_pmu_tick_ticks() - how long a tick of the kernel is
 *
 * Context: any.
 * Return: in ticks of the CPU's own clock.
 */
static inline u64 my_pmu_tick_ticks(void)
{
	return hw_ticks_khz() * (1000ULL / HZ);
}

/**
 * my_pmu_sleep_ms() - let a millisecond pass, by my_pmu_now()
 *
 * Context: task; sleeps.
 */
static inline void my_pmu_sleep_ms(void)
{
	usleep_range(1000, 1100);
}

/**
 * my_pmu_has_ticks() - do the clocks of all CPUs show the same?
 *
 * Context: any.
 * Return: false if they do not, or their pace is not steady, as far as Linux knows.
 */
static inline bool my_pmu_has_ticks(void)
{
	return hw_ticks_are_steady();
}

/**
 * my_pmu_ticks() - the moment, as a capture has it
 *
 * Context: any.
 * Return: the CPU's own clock, read after all that comes before.
 */
static inline u64 my_pmu_ticks(void)
{
	return hw_ticks_ordered();
}

#endif
