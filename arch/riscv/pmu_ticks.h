/* SPDX-License-Identifier: GPL-2.0 */
/* The CPU's own clock: the CSR time, one for all CPUs. */
#ifndef MY_PMU_TICKS_H
#define MY_PMU_TICKS_H

#include <linux/types.h>
#include <asm/barrier.h>
#include <asm/timex.h>

static inline u64 hw_ticks(void)
{
	return get_cycles64();
}

/* What comes before it is done. */
static inline u64 hw_ticks_ordered(void)
{
	mb();	/* reads of counters come before it */
	return get_cycles64();
}

static inline unsigned int hw_ticks_khz(void)
{
	return riscv_timebase / 1000;
}

/* Those of all CPUs show the same, at a steady pace: the privileged architecture says so. */
static inline bool hw_ticks_are_steady(void)
{
	return true;
}

#endif
