/* SPDX-License-Identifier: GPL-2.0 */
/* Does a counter count? */
#ifndef MY_PMU_SELFTEST_H
#define MY_PMU_SELFTEST_H

#include <linux/types.h>

struct my_pmu_cpu;
struct my_pmu_why;

int my_pmu_selftest(struct my_pmu_cpu *cpu, u64 counters, struct my_pmu_why *why);

#endif
