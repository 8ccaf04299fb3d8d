/* SPDX-License-Identifier: GPL-2.0 */
/* The PMU "my_pmu" of perf. */
#ifndef MY_PMU_FRONTEND_H
#define MY_PMU_FRONTEND_H

struct my_pmu_why;
struct perf_event_attr;

int my_frontend_register(int cpu, struct my_pmu_why *why);
void my_frontend_unregister(void);
int my_frontend_accepts(const struct perf_event_attr *attr, struct my_pmu_why *why);
int my_frontend_type(int *cpu);

#endif
