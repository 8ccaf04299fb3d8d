/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which events are on which counters, and in which rotation if there are more events
 * than counters (multiplexing).
 */
#ifndef MY_PMU_SCHEDULE_H
#define MY_PMU_SCHEDULE_H

#include "pmu_set.h"

struct my_pmu_why;

/**
 * struct my_pmu_demand - what an event needs
 * @counters: those that can count it, by id
 * @conflicts: events that cannot be counted at the same time, by place: they want something
 *	else in an extra register
 * @group: its group; groups are numbered from 0 on, in the order of the events
 * @always: is on a counter in each rotation, and so is its group
 */
struct my_pmu_demand {
	u64 counters;
	u64 conflicts;
	unsigned int group;
	bool always;
};

bool my_pmu_match(const struct my_pmu_demand *demand, u64 events, s8 *idx);
int my_pmu_schedule(struct my_pmu_schedule *schedule,
		    const struct my_pmu_demand *demand, unsigned int nr,
		    unsigned int *culprit);

int my_event_set_assign(struct my_event_set *set,
			const struct my_perf_event_attr *attr, unsigned int nr,
			unsigned int *culprit, struct my_pmu_why *why);
void my_event_set_release(struct my_event_set *set);
void my_event_set_place(struct my_event_set *set, unsigned int number);
u64 my_perf_event_doubtful(const struct my_perf_event *event, u64 *right);
u64 my_perf_event_group(const struct my_perf_event *event);

/**
 * my_event_set_claim() - the counters of a set that was released are the set's again
 * @set: the set; nobody has had its counters meanwhile
 *
 * Context: as my_event_set_assign().
 */
static inline void my_event_set_claim(struct my_event_set *set)
{
	u64 left;

	for (left = set->used; left; left &= left - 1)
		set->cpu->owner[__ffs64(left)] = set;
	set->cpu->used |= set->used;
}

#endif
