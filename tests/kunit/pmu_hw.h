/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The seam to the hardware as the KUnit tests have it: the module's sources are
 * built beside this file instead of the module's pmu_hw.h, and what they then
 * drive is the simulated PMU of pmu_sim.c.
 */
#ifndef MY_PMU_HW_H
#define MY_PMU_HW_H

#include <linux/types.h>
#include <asm/nmi.h>

void hw_cpuid(u32 leaf, u32 subleaf, u32 *eax, u32 *ebx, u32 *ecx, u32 *edx);
bool hw_has_architectural_vendor(void);
bool hw_has_amd_vendor(void);
bool hw_is_hybrid(void);
bool hw_is_xen_pv(void);
bool hw_acks_while_running(void);
bool hw_has_tsx_force_abort(void);
bool hw_user_may_rdpmc(void);
bool hw_reserve_evntsel(u32 msr);
void hw_release_evntsel(u32 msr);
bool hw_reserve_perfctr(u32 msr);
void hw_release_perfctr(u32 msr);
int hw_rdmsr(u32 msr, u64 *val);
int hw_wrmsr(u32 msr, u64 val);
int hw_peek_msr(u32 msr, u64 *val);
int hw_rdpmc(u32 index, u64 *val);

/* The single instructions of a capture. */
static inline int hw_fast_rdmsr(u32 msr, u32 *low, u32 *high)
{
	u64 val;
	int err = hw_peek_msr(msr, &val);

	*low = val;
	*high = val >> 32;
	return err;
}

static inline int hw_fast_rdpmc(u32 index, u32 *low, u32 *high)
{
	u64 val;
	int err = hw_rdpmc(index, &val);

	*low = val;
	*high = val >> 32;
	return err;
}

static inline int hw_fast_wrmsr(u32 msr, u32 low, u32 high)
{
	return hw_wrmsr(msr, (u64)high << 32 | low);
}

u64 hw_fast_ticks(void);

/* Interrupts of counters. */
struct pt_regs;

#define HW_LVTPC_NMI	0x400	/* SDM, "Local vector table": delivery mode NMI */

#define HW_PERIODS_NEED		"a local APIC, by which counters interrupt"

bool hw_has_apic(void);
u32 hw_read_lvtpc(void);
void hw_write_lvtpc(u32 val);
int hw_take_nmis(int (*handler)(unsigned int cmd, struct pt_regs *regs));
void hw_release_nmis(void);

#define HW_ROUND_INSTRUCTIONS	16

void hw_run_known_code(unsigned int rounds);

#endif
