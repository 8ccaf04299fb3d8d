/* SPDX-License-Identifier: GPL-2.0 */
/* The counters of RISC-V, which the firmware hands out: the PMU extension of SBI. */
#ifndef MY_PMU_SBI_H
#define MY_PMU_SBI_H

#include <linux/types.h>

struct my_pmu_state;
struct my_pmu_why;
struct my_x86_pmu;

int my_sbi_pmu_probe(struct my_x86_pmu *pmu, struct my_pmu_why *why);
u64 my_sbi_find_counters(const struct my_x86_pmu *pmu, const struct my_pmu_state *state,
			 u64 config);

#endif
