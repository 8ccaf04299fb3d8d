/* SPDX-License-Identifier: GPL-2.0 */
/* Does a counter count? */
#ifndef MY_PMU_TRUTH_H
#define MY_PMU_TRUTH_H

struct my_pmu_cpu;
struct my_pmu_why;

int my_pmu_prove(struct my_pmu_cpu *c, struct my_pmu_why *why);

#endif
