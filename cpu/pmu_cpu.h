/* SPDX-License-Identifier: GPL-2.0 */
/* The PMU of a CPU: what it is, and whose its counters are. */
#ifndef MY_PMU_CPU_H
#define MY_PMU_CPU_H

#include "pmu_set.h"

struct my_pmu_why;

int my_pmu_probe(struct my_pmu_cpu *cpu, struct my_pmu_snapshot *snapshot,
		 struct my_pmu_why *why);
int my_refuse_busy(struct my_pmu_why *why);
int my_pmu_reserve(const struct my_x86_pmu *pmu, struct my_pmu_why *why);
void my_pmu_release(const struct my_x86_pmu *pmu);
int my_pmu_find_firmware(struct my_pmu_cpu *cpu, struct my_pmu_snapshot *snapshot,
			 struct my_pmu_why *why);

#endif
