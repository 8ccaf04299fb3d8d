/* SPDX-License-Identifier: GPL-2.0 */
/* Do the counters count? */
#ifndef MY_PMU_SELFTEST_H
#define MY_PMU_SELFTEST_H

struct my_event_set;
struct my_pmu_why;

int my_pmu_selftest(struct my_event_set *set, struct my_pmu_why *why);

#endif
