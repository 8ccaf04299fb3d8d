/* SPDX-License-Identifier: GPL-2.0 */
/*
 * my_pmu for other modules: count events of a CPU, from kernel code.
 *
 *	event = my_perf_event_create(cpu, "{instructions,branches}:k", &why);
 *	my_perf_event_enable(event);
 *	...
 *	my_perf_event_read_group(event, counts, 2);
 *	my_perf_event_destroy(event);
 *
 * my_pmu.ko must be loaded, and stays while a module that calls this is.  It leaves
 * to modules the counters that its own events do not use: all with counters=none.
 * samples/ has a whole module.
 *
 * Or one event of a task, wherever it runs; the last call is <linux/perf_event.h>'s:
 *
 *	event = my_perf_event_create_on_task(task, "instructions:u", &why);
 *	...
 *	my_perf_event_read_on_task(event, &count);
 *	perf_event_release_kernel(event);
 */
#ifndef MY_PMU_H
#define MY_PMU_H

#include <linux/types.h>

struct my_perf_event;
struct perf_event;
struct task_struct;

/**
 * struct my_pmu_why - why something was refused; never NULL
 * @text: one line: what was wrong and what would be right, without a newline
 */
struct my_pmu_why {
	char text[448];
};

struct my_perf_event *my_perf_event_create(int cpu, const char *events,
					   struct my_pmu_why *why);
void my_perf_event_destroy(struct my_perf_event *event);
int my_perf_event_enable(struct my_perf_event *event);
int my_perf_event_disable(struct my_perf_event *event);
int my_perf_event_read(struct my_perf_event *event, u64 *count);
int my_perf_event_read_group(struct my_perf_event *event, u64 *counts,
			     unsigned int nr);

struct perf_event *my_perf_event_create_on_task(struct task_struct *task, const char *event,
						struct my_pmu_why *why);
int my_perf_event_read_on_task(struct perf_event *event, u64 *count);

#endif
