/* SPDX-License-Identifier: GPL-2.0 */
/* CPUs come and go, the machine sleeps and wakes. */
#ifndef MY_PMU_HOTPLUG_H
#define MY_PMU_HOTPLUG_H

struct my_names;
struct my_pmu_cpu;
struct my_session;

int my_hotplug_start(struct my_session *s, const char *counters);
void my_hotplug_stop(void);
int my_hotplug_start_pools(u64 known);
int my_hotplug_change(struct my_session *next, const char *counters);
const struct my_names *my_hotplug_names(const struct my_pmu_cpu *cpu);

#endif
