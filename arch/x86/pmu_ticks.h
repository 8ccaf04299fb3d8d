/* SPDX-License-Identifier: GPL-2.0 */
/* The CPU's own clock: the TSC. */
#ifndef MY_PMU_TICKS_H
#define MY_PMU_TICKS_H

#include <linux/types.h>
#include <asm/tsc.h>

static inline u64 hw_ticks(void)
{
	return rdtsc();
}

/* What comes before it is done. */
static inline u64 hw_ticks_ordered(void)
{
	return rdtsc_ordered();
}

static inline unsigned int hw_ticks_khz(void)
{
	return tsc_khz;
}

/* Those of all CPUs show the same, as far as Linux knows. */
static inline bool hw_ticks_are_steady(void)
{
	return !check_tsc_unstable();
}

#endif
