/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The clock that counting goes by.  A test that brings its own version of this
 * header is not at the mercy of how fast its machine is: tests/kunit/ has one.
 */
#ifndef MY_PMU_CLOCK_H
#define MY_PMU_CLOCK_H

#include <linux/ktime.h>
#include <linux/types.h>
#include <asm/tsc.h>

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
 * my_pmu_has_ticks() - do the TSCs of all CPUs show the same?
 *
 * Context: any.
 * Return: false if they do not, or their pace is not steady, as far as Linux knows.
 */
static inline bool my_pmu_has_ticks(void)
{
	return !check_tsc_unstable();
}

/**
 * my_pmu_ticks() - the moment, as a capture has it
 *
 * Context: any.
 * Return: the TSC.
 */
static inline u64 my_pmu_ticks(void)
{
	return rdtsc_ordered();
}

#endif
