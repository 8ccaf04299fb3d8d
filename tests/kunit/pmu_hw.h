/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The seam to the hardware as the KUnit tests have it: the module's sources are
 * built beside this file instead of the module's pmu_hw.h, and what they then
 * drive is the simulated PMU of pmu_sim.c.
 */
#ifndef MY_PMU_HW_H
#define MY_PMU_HW_H

#include <linux/types.h>

#include "pmu_capture.h"

void hw_cpuid(u32 leaf, u32 *eax, u32 *ebx, u32 *ecx, u32 *edx);
bool hw_has_architectural_vendor(void);
bool hw_is_xen_pv(void);
bool hw_has_tsx_force_abort(void);
bool hw_reserve_evntsel(u32 msr);
void hw_release_evntsel(u32 msr);
bool hw_reserve_perfctr(u32 msr);
void hw_release_perfctr(u32 msr);
int hw_rdmsr(u32 msr, u64 *val);
int hw_wrmsr(u32 msr, u64 val);
int hw_peek_msr(u32 msr, u64 *val);
int hw_rdpmc(u32 index, u64 *val);
int hw_capture(const struct my_pmu_plan *plan, struct my_pmu_capture *capture);

struct hw_perf_answer {
	u64 config;
	bool extra;
};

int hw_ask_perf(int cpu, u32 type, u64 config, struct hw_perf_answer *answer);
int hw_show_perf(int cpu, const char *name, char *page);
void *hw_hold_perf(int cpu);
void hw_let_perf_go(void *held);

#define HW_TURN_INSTRUCTIONS	16

int hw_run_known_code(u32 msr, u64 before, u64 after, unsigned int turns);

#endif
