/* SPDX-License-Identifier: GPL-2.0 */
/* Event sets on their CPU: start and stop, and what they have counted. */
#ifndef MY_PMU_EVENT_H
#define MY_PMU_EVENT_H

#include <linux/types.h>

#include "pmu_set.h"

struct my_pmu_why;

/* What my_event_set_call() does on the CPU, there, with interrupts off. */
typedef int (*my_event_set_func_t)(struct my_event_set *set, u64 events, void *data);

int my_event_set_up(struct my_event_set *set, struct my_pmu_why *why);
int my_event_set_down(struct my_event_set *set);
int my_event_set_stop(struct my_event_set *set);
void my_event_set_find_overdue(struct my_event_set *set);
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

/**
 * my_event_set_start() - let the counters of a set run that are active
 * @set: the set, stopped
 * @ack: counters whose overflow is accounted for; none whose PMI is still to be handled
 *
 * Context: the set's CPU, interrupts off.  Nothing may be done with events of a period
 * afterwards.
 * Return: 0, or -EIO if a register faulted.
 */
static inline int my_event_set_start(struct my_event_set *set, u64 ack)
{
	struct my_pmu_cpu *cpu = set->cpu;
	int err;

	WRITE_ONCE(cpu->starting, true);
	my_pmu_cpu_end(cpu);
	WRITE_ONCE(cpu->arming, 0);	/* not before that */
	err = cpu->pmu.ops->start(&cpu->pmu, &cpu->state, set->active_counters, ack);
	WRITE_ONCE(cpu->starting, false);
	return err;
}

#endif
