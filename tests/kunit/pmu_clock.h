/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The clock as the KUnit tests have it: like pmu_hw.h of this directory, built
 * instead of the module's, so that time is the simulation's; see sim_now().
 */
#ifndef MY_PMU_CLOCK_H
#define MY_PMU_CLOCK_H

#include "pmu_sim.h"

static inline u64 my_pmu_now(void)
{
	return sim_now();
}

static inline u64 my_pmu_nmi_now(void)
{
	return sim_now();
}

static inline u64 my_pmu_fast_ticks(void)
{
	return sim_now();
}

static inline u64 my_pmu_ticks_ns(u64 then)
{
	return sim_now() - then;
}

/* So many looks at a held clock. */
static inline u64 my_pmu_tick_ticks(void)
{
	return sim_tick_ns;
}

static inline void my_pmu_sleep_ms(void)
{
	sim_sleep_ms();
}

static inline bool my_pmu_has_ticks(void)
{
	return !sim_without_ticks;
}

static inline u64 my_pmu_ticks(void)
{
	return sim_now();
}

#endif
