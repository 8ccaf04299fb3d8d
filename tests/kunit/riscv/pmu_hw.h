/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The seam to the hardware of RISC-V as the KUnit tests have it: the module's sources are built
 * beside this file instead of the module's pmu_hw.h, and what they then call is the simulated
 * firmware of pmu_sim.c.
 */
#ifndef MY_PMU_HW_H
#define MY_PMU_HW_H

#include <linux/errno.h>
#include <linux/types.h>

bool hw_has_sbi_pmu(void);
unsigned int hw_sbi_version(void);
bool hw_has_sscofpmf(void);
long hw_sbi_pmu(unsigned long function, unsigned long arg0, unsigned long arg1,
		unsigned long arg2, unsigned long arg3, unsigned long arg4, unsigned long *val);
u64 hw_read_counter(unsigned int csr);

static inline bool hw_is_hybrid(void)
{
	return false;
}

static inline bool hw_user_may_rdpmc(void)
{
	return false;
}

static inline bool hw_reserve_evntsel(u32 number)
{
	return true;
}

static inline void hw_release_evntsel(u32 number)
{
}

static inline bool hw_reserve_perfctr(u32 number)
{
	return true;
}

static inline void hw_release_perfctr(u32 number)
{
}

#define HW_PERIODS_NEED "interrupts of counters, whose one handler is perf's on RISC-V"

static inline bool hw_has_apic(void)
{
	return false;
}

enum { NMI_DONE, NMI_HANDLED };

#define hw_take_nmis(handler)	((void)(handler), -EOPNOTSUPP)

static inline void hw_release_nmis(void)
{
}

#define HW_ROUND_INSTRUCTIONS	16

void hw_run_known_code(unsigned int rounds);

#endif
