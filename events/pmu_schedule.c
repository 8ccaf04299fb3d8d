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
 * When not all groups fit, they are multiplexed.  Groups rotate round-robin: a rotation
 * takes as many consecutive groups as fit together, and the next one
 * begins with the group at which this one stopped.  So between two rotations of a
 * group each other group has had at least one, and after any time the
 * numbers of rotations of any two groups differ by one at most.
 */
#include <linux/bitops.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "pmu_schedule.h"
#include "pmu_set.h"
#include "pmu_why.h"

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

/*
 * A counter out of @among for one more event, breadth first, lowest first.  When a free
 * one is reached, each event on the path moves to the counter that it has reached, from
 * the free end back to the event at which the path begins.
 */
static bool add_event(struct matching *m, int event, u64 among)
{
	s8 queue[MY_EVENTS_MAX], reached_by[MY_PMC_MAX];
	unsigned int first = 0, last = 0;
	int idx = MY_NO_COUNTER;
	u64 seen = 0, left = 0;

	queue[last++] = event;
	while (first < last || left) {
		if (!left) {
			event = queue[first++];
			left = m->demand[event].counters & among & ~seen;
			continue;
		}
		idx = __ffs64(left);
		left &= left - 1;
		seen |= BIT_ULL(idx);
		reached_by[idx] = event;
		if (!(m->taken & BIT_ULL(idx)))
			break;
		queue[last++] = m->event[idx];
		idx = MY_NO_COUNTER;
	}
	if (idx == MY_NO_COUNTER)
		return false;
	while (idx != MY_NO_COUNTER) {
		int left_behind;

		event = reached_by[idx];
		left_behind = m->idx[event];
		m->idx[event] = idx;
		m->event[idx] = event;
		m->taken |= BIT_ULL(idx);
		idx = left_behind;
	}
	return true;
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
	for (left = events; left; left &= left - 1) {
		if (demand[__ffs64(left)].conflicts & events)
			return false;
	}
	for (left = events; left; left &= left - 1)
		add_event(&m, __ffs64(left), MY_FIXED_COUNTERS);
	return add_events(&m, events, true) && add_events(&m, events, false);
}

/* --- rotations ---------------------------------------------------------------- */

/**
 * struct ring - the groups that are multiplexed
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

/* Each takes the groups from where the one before it stopped, as many as fit. */
static int make_rotations(const struct ring *ring, struct my_pmu_schedule *s,
			  unsigned int *culprit)
{
	s8 rotation_at[MY_EVENTS_MAX], idx[MY_EVENTS_MAX];
	unsigned int start = 0, n;

	memset(rotation_at, -1, sizeof(rotation_at));
	s->nr_rotations = 0;
	do {
		struct my_pmu_rotation *rotation = &s->rotation[s->nr_rotations];

		rotation->events = ring->always;
		my_pmu_match(ring->demand, rotation->events, rotation->idx);
		for (n = 0; n < ring->nr; n++) {
			u64 more = ring->group[(start + n) % ring->nr];

			if (!my_pmu_match(ring->demand, rotation->events | more, idx))
				break;
			rotation->events |= more;
			memcpy(rotation->idx, idx, sizeof(idx));
		}
		if (!n && ring->nr) {
			*culprit = __ffs64(ring->group[start]);
			return -ENOSPC;
		}
		rotation_at[start] = s->nr_rotations++;
		start = ring->nr ? (start + n) % ring->nr : 0;
		rotation->next = s->nr_rotations;
	} while (rotation_at[start] < 0);
	s->rotation[s->nr_rotations - 1].next = rotation_at[start];
	return 0;
}

/* The first event for which there is no counter with those before it; there is one. */
static unsigned int find_culprit(const struct ring *ring)
{
	u64 left = ring->always, events = left & -left;
	s8 idx[MY_EVENTS_MAX];

	while (my_pmu_match(ring->demand, events, idx)) {
		left &= left - 1;
		events |= left & -left;
	}
	return __ffs64(left);
}

static void find_homes(struct my_pmu_schedule *s)
{
	unsigned int i, j;

	s->always = ~0ULL;
	memcpy(s->home, s->rotation[0].idx, sizeof(s->home));
	for (i = 0; i < s->nr_rotations; i++) {
		s->always &= s->rotation[i].events;
		for (j = 0; j < MY_EVENTS_MAX; j++) {
			if (s->rotation[i].idx[j] != s->home[j])
				s->home[j] = MY_NO_COUNTER;
		}
	}
}

/**
 * my_pmu_schedule() - in which rotations these events are counted
 * @s: filled in
 * @demand: what they need; groups are contiguous
 * @nr: how many, at most MY_EVENTS_MAX
 * @culprit: if refused, the place of the event that has no counter, or of the
 *	first one of its group
 *
 * If all fit at the same time, there is one rotation.  Otherwise all groups get the same
 * number of rotations, plus or minus one at any moment; those always on get all.
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
	err = make_rotations(&ring, s, culprit);
	if (err)
		return err;
	find_homes(s);
	return 0;
}

/* --- the counters of an event set ------------------------------------------- */

/* The sentence, which names the counter that was asked for, ends with what is wrong. */
static int refuse_constraint(const struct my_pmu_cpu *cpu,
			     const struct my_perf_event_attr *attr, u64 can,
			     struct my_pmu_why *why)
{
	const char *kind = my_pmc_kind(attr->constraint);
	int number = my_pmc_number(attr->constraint);
	u64 bit = BIT_ULL(attr->constraint);

	if (!(cpu->pmu.counters & bit))
		return my_refuse(why, -EINVAL,
				 "'%s@%s%d': CPU %d has no %s%d; it has %u generic (gp) and %u fixed counters",
				 attr->name, kind, number, cpu->cpu, kind, number,
				 my_pmu_num_counters(&cpu->pmu),
				 my_pmu_num_counters_fixed(&cpu->pmu));
	if (!(can & bit))
		return my_refuse(why, -EINVAL,
				 "'%s@%s%d': %s%d cannot count this event; leave the counter out and the module chooses",
				 attr->name, kind, number, kind, number);
	if (cpu->firmware & bit)
		return my_refuse(why, -EBUSY,
				 "'%s@%s%d': %s%d is in use on CPU %d, %s; without a counter, as in counters=instructions,cycles, the module chooses",
				 attr->name, kind, number, kind, number, cpu->cpu,
				 cpu->pmu.ops->others->in_use);
	if (cpu->used & bit)
		return my_refuse(why, -EBUSY,
				 "'%s@%s%d': %s%d is in use on CPU %d, for other events of my_pmu; without a counter it chooses",
				 attr->name, kind, number, kind, number, cpu->cpu);
	if (READ_ONCE(cpu->busy) & bit)
		return my_refuse(why, -EBUSY,
				 "'%s@%s%d': %s%d is in use on CPU %d, for an event of perf (my_pmu/.../); without a counter it chooses",
				 attr->name, kind, number, kind, number, cpu->cpu);
	return my_refuse(why, -EINVAL,
			 "'%s@%s%d': %s%d is taken by another event; each counter takes one",
			 attr->name, kind, number, kind, number);
}

/* @what has no counters left, or not enough: who has them? */
static int refuse_full(const struct my_pmu_cpu *cpu, const char *name,
		       const char *what, struct my_pmu_why *why)
{
	const char *firmware = "", *use = "";

	if (READ_ONCE(cpu->busy)) {
		use = ", and events of perf (my_pmu/.../) use some";
	} else if (cpu->firmware) {
		firmware = cpu->pmu.ops->others->name;
		use = cpu->used ? " and other events of my_pmu use some" : " uses some";
	} else if (cpu->used) {
		use = ", and other events of my_pmu use some";
	}
	return my_refuse(why, -ENOSPC,
			 "'%s'%s; CPU %d has %u generic (gp) and %u fixed counters%s%s%s",
			 name, what, cpu->cpu, my_pmu_num_counters(&cpu->pmu),
			 my_pmu_num_counters_fixed(&cpu->pmu), *firmware ? ", and " : "",
			 firmware, use);
}

static const char no_counter[] = ": no counter is left that counts it";

/* Which counters could have the event, if there were no other event in its set. */
static int find_counters(const struct my_pmu_cpu *cpu,
			 const struct my_perf_event_attr *attr, u64 *counters,
			 struct my_pmu_why *why)
{
	u64 right, doubtful, can, allowed = attr->allowed;
	const char *reason;

	if (attr->constraint != MY_PMC_ANY)
		allowed = BIT_ULL(attr->constraint);
	right = cpu->pmu.ops->counters_for(&cpu->pmu, attr, &doubtful, &reason);
	can = right | (allowed ? doubtful : 0);
	allowed = allowed ?: ~0ULL;
	/* Whoever names a counter on which it may count wrong means it. */
	*counters = right & allowed ?: can & allowed;
	*counters &= ~(cpu->firmware | cpu->used | READ_ONCE(cpu->busy));
	if (*counters)
		return 0;
	if (attr->constraint != MY_PMC_ANY && !(cpu->pmu.counters & allowed))
		return refuse_constraint(cpu, attr, can, why);
	if (!can)
		return my_refuse(why, -EOPNOTSUPP, "'%s': CPU %d %s", attr->name,
				 cpu->cpu, reason);
	if (attr->constraint != MY_PMC_ANY)
		return refuse_constraint(cpu, attr, can, why);
	if (!(can & allowed))
		return my_refuse(why, -EINVAL,
				 "'%s': none of the counters behind its @ exists and counts it; without them the module chooses",
				 attr->name);
	return refuse_full(cpu, attr->name, no_counter, why);
}

/**
 * my_perf_event_doubtful() - is an event where the CPU's model may count it wrong?
 * @event: the event, assigned
 * @right: filled in: the counters that count it, as far as is known
 *
 * Context: any; pure.
 * Return: the counters that it has, in some rotation, and that are not among them.
 */
u64 my_perf_event_doubtful(const struct my_perf_event *event, u64 *right)
{
	const struct my_event_set *set = event->set;
	const struct my_x86_pmu *pmu = &set->cpu->pmu;
	const char *reason;
	u64 has = 0;
	unsigned int i;

	*right = pmu->ops->counters_for(pmu, &event->attr, NULL, &reason);
	for (i = 0; i < set->schedule.nr_rotations; i++) {
		int idx = set->schedule.rotation[i].idx[event - set->event];

		if (idx != MY_NO_COUNTER)
			has |= BIT_ULL(idx);
	}
	return has & ~*right;
}

/**
 * my_perf_event_group() - the events that start and stop with this one
 * @event: the event
 *
 * Context: any; pure.
 * Return: it and the others of its group, by place.
 */
u64 my_perf_event_group(const struct my_perf_event *event)
{
	const struct my_event_set *set = event->set;
	u64 events = 0;
	unsigned int i;

	for (i = 0; i < set->nr_events; i++) {
		if (set->event[i].attr.group == event->attr.group)
			events |= BIT_ULL(i);
	}
	return events;
}

/* The event at @culprit has no counter together with those that must be on with it. */
static int refuse_schedule(const struct my_event_set *set, unsigned int culprit,
			   struct my_pmu_why *why)
{
	const struct my_perf_event_attr *attr = &set->event[culprit].attr;
	unsigned int nr = hweight64(my_perf_event_group(&set->event[culprit])), i;
	char what[96];

	for (i = 0; i < culprit && attr->constraint != MY_PMC_ANY; i++) {
		if (set->event[i].attr.constraint == attr->constraint)
			return refuse_constraint(set->cpu, attr, ~0ULL, why);
	}
	if (nr == 1)
		return refuse_full(set->cpu, attr->name, no_counter, why);
	snprintf(what, sizeof(what),
		 " and its group in braces: no counters are left that count these %u events at the same time",
		 nr);
	return refuse_full(set->cpu, attr->name, what, why);
}

/* --- extra registers ------------------------------------------------------------ */

/* From worst to best: what it is for an event to use a register. */
enum fit {
	TAKEN,		/* what is counted at the same time wants something else there */
	TURNS,		/* what wants something else there takes turns with it */
	FREE,
	SHARED,		/* with what wants the same there */
};

/* @others have their registers; those of @always are on in each rotation. */
static enum fit fit_into(u32 msr, const struct my_perf_event *event,
			 const struct my_event_set *others, u64 chosen, u64 always)
{
	enum fit fit = FREE;

	for (; chosen; chosen &= chosen - 1) {
		const struct my_perf_event *other = &others->event[__ffs64(chosen)];

		if (other->attr.extra.msr != msr)
			continue;
		if (other->attr.extra.config == event->attr.extra.config)
			fit = SHARED;
		else if (always & my_perf_event_bit(other) ||
			 other->attr.group == event->attr.group)
			return TAKEN;
		else if (fit == FREE)
			fit = TURNS;
	}
	return fit;
}

/* Of the events of all sets of the CPU; those of others are on at any time. */
static enum fit judge(u32 msr, const struct my_perf_event *event, u64 chosen, u64 always)
{
	enum fit fit = fit_into(msr, event, event->set, chosen, always), theirs;
	const struct my_event_set *other;
	int idx;

	for (idx = 0; idx < MY_PMC_MAX && fit != TAKEN; idx++) {
		other = event->set->cpu->owner[idx];
		if (!other)
			continue;
		theirs = fit_into(msr, event, other, GENMASK_ULL(other->nr_events - 1, 0), ~0ULL);
		if (theirs != FREE)
			fit = theirs;
	}
	return fit;
}

/* With the other register goes the other event; done twice it changes nothing. */
static void take_other(struct my_perf_event_attr *attr)
{
	u16 code = attr->config;

	attr->config ^= code ^ attr->extra.other_code;
	attr->extra.other_code = code;
	swap(attr->extra.msr, attr->extra.other_msr);
}

static int choose_register(struct my_perf_event *event, u64 chosen, u64 always,
			   struct my_pmu_why *why)
{
	struct my_extra_reg *extra = &event->attr.extra;
	const struct my_x86_pmu *pmu = &event->set->cpu->pmu;
	enum fit fit, other = TAKEN;
	const char *reason;

	fit = judge(extra->msr, event, chosen, always);
	if (extra->other_msr) {
		take_other(&event->attr);
		/* perf may know registers that the back end does not. */
		if (pmu->ops->counters_for(pmu, &event->attr, NULL, &reason))
			other = judge(extra->msr, event, chosen, always);
		if (other <= fit)
			take_other(&event->attr);
	}
	if (fit != TAKEN || other != TAKEN)
		return 0;
	return my_refuse(why, -ENOSPC,
			 "'%s': what it needs in register %#x is %#llx, and events that are counted at the same time on CPU %d need something else there",
			 event->attr.name, extra->msr, (unsigned long long)extra->config,
			 event->set->cpu->cpu);
}

/* Events of its set that want something else in its register. */
static u64 find_conflicts(const struct my_perf_event *event)
{
	const struct my_extra_reg *extra = &event->attr.extra, *other;
	u64 conflicts = 0;
	unsigned int i;

	for (i = 0; i < event->set->nr_events; i++) {
		other = &event->set->event[i].attr.extra;
		if (other->msr == extra->msr && other->config != extra->config)
			conflicts |= BIT_ULL(i);
	}
	return conflicts;
}

/*
 * Which of two registers one of @events uses is the same in each rotation.  Those that are on
 * in all of them choose first.
 */
static int choose_registers(struct my_event_set *set, struct my_pmu_demand *demand,
			    u64 events, unsigned int *culprit, struct my_pmu_why *why)
{
	u64 always = 0, chosen = 0, left = events;
	unsigned int i;
	int err;

	for (i = 0; i < set->nr_events; i++) {
		if (demand[i].always)
			always |= my_perf_event_group(&set->event[i]);
	}
	for (; left; left &= ~BIT_ULL(i)) {
		i = __ffs64(left & always ?: left);
		*culprit = i;
		err = choose_register(&set->event[i], chosen, always, why);
		if (err)
			return err;
		chosen |= BIT_ULL(i);
	}
	for (left = events; left; left &= left - 1) {
		i = __ffs64(left);
		demand[i].conflicts = find_conflicts(&set->event[i]);
	}
	return 0;
}

/**
 * my_event_set_place() - events onto the counters that they have in a rotation
 * @set: the set; the events that change their counter are not programmed
 * @number: of the rotation
 *
 * Context: as the events themselves, see struct my_event_set; pure.
 */
void my_event_set_place(struct my_event_set *set, unsigned int number)
{
	const struct my_pmu_rotation *rotation = &set->schedule.rotation[number];
	const struct my_x86_pmu *pmu = &set->cpu->pmu;
	unsigned int i;

	set->rotation = number;
	for (i = 0; i < set->nr_events; i++) {
		struct my_perf_event *event = &set->event[i];

		if (event->hw.idx == rotation->idx[i])
			continue;
		event->hw.idx = rotation->idx[i];
		if (event->hw.idx != MY_NO_COUNTER)
			pmu->ops->encode(pmu, &event->attr, &event->hw);
	}
}

/**
 * my_event_set_release() - the counters of a set become free
 * @set: the set; nothing of it is programmed
 *
 * Context: as my_event_set_assign().
 */
void my_event_set_release(struct my_event_set *set)
{
	struct my_pmu_cpu *cpu = set->cpu;
	int idx;

	for (idx = 0; idx < MY_PMC_MAX; idx++) {
		if (cpu->owner[idx] != set)
			continue;
		cpu->owner[idx] = NULL;
		cpu->used &= ~BIT_ULL(idx);
	}
}

/**
 * my_event_set_assign() - which events, and when they are on which counters
 * @set: the set; nothing of it is programmed; it loses the counters that it had
 * @attr: the events
 * @nr: how many, at most MY_EVENTS_MAX
 * @culprit: if refused, the place of the event that caused it
 * @why: and the reason
 *
 * If all can be counted at the same time, they are; otherwise groups rotate, except
 * those that name a counter or are pinned.  All are to count when the CPU comes up,
 * see my_event_set_up().  From then until my_event_set_release() the counters belong to
 * the set.
 *
 * Context: task, with 4 kB of stack; see struct my_pmu_cpu.  No register is touched.
 * Return: 0; -EINVAL for a counter that does not exist or cannot count the event,
 * -EBUSY for one that is in use; -EOPNOTSUPP if the CPU does not have the event;
 * -ENOSPC if some could never have their counters.
 */
int my_event_set_assign(struct my_event_set *set,
			const struct my_perf_event_attr *attr, unsigned int nr,
			unsigned int *culprit, struct my_pmu_why *why)
{
	struct my_pmu_demand demand[MY_EVENTS_MAX];
	unsigned int i, j;
	u64 extra = 0;
	int err;

	my_event_set_release(set);
	memset_startat(set, 0, rotation);
	set->nr_events = nr;
	set->used = 0;
	for (i = 0; i < nr; i++) {
		*culprit = i;
		err = find_counters(set->cpu, &attr[i], &demand[i].counters, why);
		if (err)
			return err;
		extra |= attr[i].extra.msr ? BIT_ULL(i) : 0;
		demand[i].conflicts = 0;
		demand[i].group = attr[i].group;
		demand[i].always = attr[i].pinned || attr[i].constraint != MY_PMC_ANY;
		set->event[i] = (struct my_perf_event) {
			.attr = attr[i],
			.hw.idx = MY_NO_COUNTER,
			.set = set,
		};
	}
	if (extra) {
		err = choose_registers(set, demand, extra, culprit, why);
		if (err)
			return err;
	}
	err = my_pmu_schedule(&set->schedule, demand, nr, culprit);
	if (err)
		return refuse_schedule(set, *culprit, why);
	set->rate_log2 = 0;
	set->any_code = 0;
	set->periods = 0;
	for (i = 0; i < nr; i++) {
		if (!attr[i].period)
			continue;
		set->periods |= BIT_ULL(i);
		set->period[i].group = my_perf_event_group(&set->event[i]);
	}
	/* The first rotation comes last: counting begins with it. */
	for (i = set->schedule.nr_rotations; i-- > 0;) {
		my_event_set_place(set, i);
		for (j = 0; j < nr; j++) {
			int idx = set->schedule.rotation[i].idx[j];

			if (idx == MY_NO_COUNTER)
				continue;
			set->used |= BIT_ULL(idx);
			set->rate_log2 = max(set->rate_log2, set->event[j].hw.rate_log2);
			set->any_code |= set->event[j].hw.any_code ? BIT_ULL(j) : 0;
		}
	}
	my_event_set_claim(set);
	set->enabled = nr ? GENMASK_ULL(nr - 1, 0) : 0;
	return 0;
}
