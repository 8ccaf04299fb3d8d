/* SPDX-License-Identifier: GPL-2.0 */
/* Whose the counters are: ours, the firmware's, nobody's. */
#ifndef MY_PMU_OWNER_H
#define MY_PMU_OWNER_H

#include <linux/types.h>

struct my_pmu_cpu;
struct my_pmu_why;
struct my_x86_pmu;

int my_pmu_reserve(const struct my_x86_pmu *pmu, struct my_pmu_why *why);
void my_pmu_release(const struct my_x86_pmu *pmu);
int my_pmu_note(struct my_pmu_cpu *c, struct my_pmu_why *why);
int my_pmu_put_back(struct my_pmu_cpu *c, struct my_pmu_why *why);
int my_pmu_survey(struct my_pmu_cpu *c, struct my_pmu_why *why);

#endif
