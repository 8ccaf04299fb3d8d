// SPDX-License-Identifier: GPL-2.0
/*
 * Which events are on which counters.
 *
 * For a set of events that is a matching of events and counters.  It is built one
 * event at a time: if the counters that can count it are all taken, one of their
 * events may move to another counter, whose event may move on, and so forth: an
 * augmenting path (C. Berge, "Two theorems in graph theory", 1957).  If there
 * is none, there is no matching of these events at all.
 *
 * When not all groups fit, they take turns.  The groups stand in a ring; a turn
 * is as many of them, one after the other, as fit together, and the next one
 * begins with the group at which this one stopped.  So between two turns of a
 * group each other group has had at least one, and after any time the
 * numbers of turns of any two groups differ by one at most.
 */
#include <linux/bitops.h>
#include <linux/errno.h>
#include <linux/string.h>

#include "pmu_event.h"
#include "pmu_schedule.h"

static_assert(MY_PMC_MAX == 64 && MY_EVENTS_MAX == 64, "sets of both are a u64");

/* --- a set of events, all at the same time ---------------------------------- */

/**
 * struct matching - events on counters
 * @demand: of all events
 * @idx: of each event its counter, or MY_NO_COUNTER
 * @event: of each counter its event, by place; only if it is @taken
 * @taken: the counters that have one
 */
struct matching {
	const struct my_pmu_demand *demand;
	s8 *idx;
	s8 event[MY_PMC_MAX];
	u64 taken;
};

/* Along the path, from its free end back to the event at which it begins. */
static void move_along(struct matching *m, const s8 *reached_by, int idx)
{
	while (idx != MY_NO_COUNTER) {
		int event = reached_by[idx], left = m->idx[event];

		m->idx[event] = idx;
		m->event[idx] = event;
		m->taken |= BIT_ULL(idx);
		idx = left;
	}
}

/* A counter out of @among for one more event, breadth first, lowest first. */
static bool add_event(struct matching *m, int event, u64 among)
{
	s8 queue[MY_EVENTS_MAX], reached_by[MY_PMC_MAX];
	unsigned int first = 0, last = 0;
	u64 seen = 0, left;

	queue[last++] = event;
	while (first < last) {
		event = queue[first++];
		left = m->demand[event].counters & among & ~seen;
		for (; left; left &= left - 1) {
			int idx = __ffs64(left);

			seen |= BIT_ULL(idx);
			reached_by[idx] = event;
			if (!(m->taken & BIT_ULL(idx))) {
				move_along(m, reached_by, idx);
				return true;
			}
			queue[last++] = m->event[idx];
		}
	}
	return false;
}

static bool is_pinned(const struct my_pmu_demand *demand)
{
	return hweight64(demand->counters) == 1;
}

/* Those of the events that have none yet, if @pinned: only those with one choice. */
static bool add_events(struct matching *m, u64 events, bool pinned)
{
	for (; events; events &= events - 1) {
		int event = __ffs64(events);

		if (m->idx[event] != MY_NO_COUNTER ||
		    (pinned && !is_pinned(&m->demand[event])))
			continue;
		if (!add_event(m, event, ~0ULL))
			return false;
	}
	return true;
}

/**
 * my_pmu_match() - all of these events, at the same time
 * @demand: of all events, by place
 * @events: those that are to be on counters, by place
 * @idx: filled in: their counter ids; MY_NO_COUNTER for all others
 *
 * As many of them as possible are on fixed counters: those are matched first, and
 * an augmenting path takes no counter out of use.  Then come those that have no
 * choice, so that the others go to the lowest counters that are left.
 *
 * Context: any; pure.
 * Return: whether that is possible; if not, @idx is of no use.
 */
bool my_pmu_match(const struct my_pmu_demand *demand, u64 events, s8 *idx)
{
	struct matching m = { .demand = demand, .idx = idx };
	u64 left;

	memset(idx, MY_NO_COUNTER, MY_EVENTS_MAX);
	for (left = events; left; left &= left - 1)
		add_event(&m, __ffs64(left), MY_FIXED_COUNTERS);
	return add_events(&m, events, true) && add_events(&m, events, false);
}

/* --- turns -------------------------------------------------------------------- */

/**
 * struct ring - the groups that take turns
 * @demand: of all events
 * @always: the events of all other groups, by place
 * @group: of each group in the ring its events, by place
 * @nr: how many groups
 */
struct ring {
	const struct my_pmu_demand *demand;
	u64 always;
	u64 group[MY_EVENTS_MAX];
	unsigned int nr;
};

static void make_ring(struct ring *ring, const struct my_pmu_demand *demand,
		      unsigned int nr)
{
	unsigned int i = 0, group;

	*ring = (struct ring) { .demand = demand };
	while (i < nr) {
		bool always = false;
		u64 events = 0;

		group = demand[i].group;
		for (; i < nr && demand[i].group == group; i++) {
			events |= BIT_ULL(i);
			always |= demand[i].always;
		}
		if (always)
			ring->always |= events;
		else
			ring->group[ring->nr++] = events;
	}
}

/* The turn that begins with group @start; returns how many of the ring fit. */
static unsigned int make_turn(const struct ring *ring, unsigned int start,
			      struct my_pmu_turn *turn)
{
	s8 idx[MY_EVENTS_MAX];
	unsigned int n;

	turn->events = ring->always;
	my_pmu_match(ring->demand, turn->events, turn->idx);
	for (n = 0; n < ring->nr; n++) {
		u64 more = ring->group[(start + n) % ring->nr];

		if (!my_pmu_match(ring->demand, turn->events | more, idx))
			break;
		turn->events |= more;
		memcpy(turn->idx, idx, sizeof(idx));
	}
	return n;
}

static int make_turns(const struct ring *ring, struct my_pmu_schedule *s,
		      unsigned int *culprit)
{
	unsigned int start = 0, n;
	s8 turn_at[MY_EVENTS_MAX];

	memset(turn_at, -1, sizeof(turn_at));
	s->nr_turns = 0;
	do {
		struct my_pmu_turn *turn = &s->turn[s->nr_turns];

		n = make_turn(ring, start, turn);
		if (!n && ring->nr) {
			*culprit = __ffs64(ring->group[start]);
			return -ENOSPC;
		}
		turn_at[start] = s->nr_turns++;
		start = ring->nr ? (start + n) % ring->nr : 0;
		turn->next = s->nr_turns;
	} while (turn_at[start] < 0);
	s->turn[s->nr_turns - 1].next = turn_at[start];
	return 0;
}

/* The first event for which there is no counter with those before it. */
static unsigned int find_culprit(const struct ring *ring)
{
	s8 idx[MY_EVENTS_MAX];
	u64 left, events = 0;

	for (left = ring->always; left; left &= left - 1) {
		events |= left & -left;
		if (!my_pmu_match(ring->demand, events, idx))
			break;
	}
	return __ffs64(left);
}

static void find_homes(struct my_pmu_schedule *s)
{
	unsigned int i, j;

	s->always = ~0ULL;
	memcpy(s->home, s->turn[0].idx, sizeof(s->home));
	for (i = 0; i < s->nr_turns; i++) {
		s->always &= s->turn[i].events;
		for (j = 0; j < MY_EVENTS_MAX; j++) {
			if (s->turn[i].idx[j] != s->home[j])
				s->home[j] = MY_NO_COUNTER;
		}
	}
}

/**
 * my_pmu_schedule() - in which turns these events are counted
 * @s: filled in
 * @demand: what they need; groups are contiguous
 * @nr: how many, at most MY_EVENTS_MAX
 * @culprit: if refused, the place of the event that has no counter, or of the
 *	first one of its group
 *
 * If all fit at the same time, there is one turn.  Otherwise all groups get the same
 * number of turns, but for one at any moment, and those that are always on all.
 *
 * Context: any that has 1.5 kB of stack; pure.
 * Return: 0, or -ENOSPC if some would never have its counters.
 */
int my_pmu_schedule(struct my_pmu_schedule *s,
		    const struct my_pmu_demand *demand, unsigned int nr,
		    unsigned int *culprit)
{
	s8 idx[MY_EVENTS_MAX];
	struct ring ring;
	int err;

	make_ring(&ring, demand, nr);
	if (!my_pmu_match(demand, ring.always, idx)) {
		*culprit = find_culprit(&ring);
		return -ENOSPC;
	}
	err = make_turns(&ring, s, culprit);
	if (err)
		return err;
	find_homes(s);
	return 0;
}
