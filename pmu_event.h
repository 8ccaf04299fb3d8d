/* SPDX-License-Identifier: GPL-2.0 */
/* Event sets on their CPU: start and stop, and what they have counted. */
#ifndef MY_PMU_EVENT_H
#define MY_PMU_EVENT_H

#include <linux/compiler.h>
#include <linux/types.h>

#include "pmu_set.h"

struct my_pmu_why;

/* What my_event_set_call() does on the CPU, there, with interrupts off. */
typedef int (*my_event_set_func_t)(struct my_event_set *set, u64 events, void *data);

int my_event_set_up(struct my_event_set *set, struct my_pmu_why *why);
int my_event_set_down(struct my_event_set *set);
int my_event_set_stop(struct my_event_set *set);
int my_event_set_update(struct my_event_set *set, u64 events, u64 time);
void my_event_set_changed(struct my_event_set *set);
bool my_event_set_account(struct my_event_set *set,
			  const struct my_pmu_capture *capture, u64 time);
void my_event_set_exclude_time(struct my_event_set *set, u64 since, u64 came);
int my_event_set_rotate(struct my_event_set *set);

int my_event_set_do(struct my_event_set *set, u64 events,
		    my_event_set_func_t func, void *data);
int my_event_set_call(struct my_event_set *set, u64 events,
		      my_event_set_func_t func, void *data);

/* The one writer of counts: @delta since the last time; the counter shows @now. */
static __always_inline void accumulate(struct my_perf_event *event, u64 delta,
				       u64 now, u64 time)
{
	event->count += delta;
	event->running += time - event->hw.prev_time;
	event->hw.prev_count = now;
	event->hw.prev_time = time;
}

#endif
