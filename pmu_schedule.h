/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which events are on which counters, and in turns if there are too many: pure.
 *
 * Events stand in groups.  A group is on the counters as a whole, or not at all.
 * A turn is a set of groups that fit together.
 */
#ifndef MY_PMU_SCHEDULE_H
#define MY_PMU_SCHEDULE_H

#include <linux/types.h>

/* Events of one CPU, and so turns: each turn begins with another group. */
#define MY_EVENTS_MAX		64
#define MY_NO_COUNTER		(-1)

/**
 * struct my_pmu_demand - what an event needs
 * @counters: those that can count it, by id
 * @group: its group; groups are numbered from 0 on, in the order of the events
 * @always: shall be on a counter in each turn, and so its group
 */
struct my_pmu_demand {
	u64 counters;
	unsigned int group;
	bool always;
};

/**
 * struct my_pmu_turn - one set of groups on the counters
 * @idx: of each event its counter id, or MY_NO_COUNTER
 * @events: those that have one, by place
 * @next: the turn that follows
 */
struct my_pmu_turn {
	s8 idx[MY_EVENTS_MAX];
	u64 events;
	unsigned int next;
};

/**
 * struct my_pmu_schedule - the turns of a CPU's events
 * @nr_turns: how many different ones; 1 if all events are always on
 * @always: the events that are on in each turn, by place
 * @home: of each event the counter that it never leaves, or MY_NO_COUNTER
 * @turn: the first is where it begins; @next leads from each to the one after it
 */
struct my_pmu_schedule {
	unsigned int nr_turns;
	u64 always;
	s8 home[MY_EVENTS_MAX];
	struct my_pmu_turn turn[MY_EVENTS_MAX];
};

bool my_pmu_match(const struct my_pmu_demand *demand, u64 events, s8 *idx);
int my_pmu_schedule(struct my_pmu_schedule *schedule,
		    const struct my_pmu_demand *demand, unsigned int nr,
		    unsigned int *culprit);

#endif
