// SPDX-License-Identifier: GPL-2.0
/*
 * Which events are on which counters, and in which rotations: against an exhaustive
 * search; and the rotations themselves, on the simulated PMU.
 */
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/prandom.h>

#include "test.h"

/* --- an exhaustive search, which is too slow for more than some events ----------- */

/* Can events from the lowest of @events on have different counters out of @free? */
static bool search(const struct my_pmu_demand *demand, u64 events, u64 free,
		   int fixed, int *most_fixed)
{
	u64 left;
	bool found = false;

	if (!events) {
		*most_fixed = max(*most_fixed, fixed);
		return true;
	}
	left = demand[__ffs64(events)].counters & free;
	for (; left; left &= left - 1) {
		int idx = __ffs64(left);

		found |= search(demand, events & (events - 1),
				free & ~BIT_ULL(idx),
				fixed + my_pmc_is_fixed(idx), most_fixed);
	}
	return found;
}

static bool is_possible(const struct my_pmu_demand *demand, u64 events)
{
	int most_fixed = -1;

	return search(demand, events, ~0ULL, 0, &most_fixed);
}

/* Each of the events has one of its counters, and no other event has that. */
static bool is_right(const struct my_pmu_demand *demand, u64 events, const s8 *idx)
{
	u64 taken = 0;
	unsigned int i;

	for (i = 0; i < MY_EVENTS_MAX; i++) {
		if (!(events & BIT_ULL(i))) {
			if (idx[i] != MY_NO_COUNTER)
				return false;
			continue;
		}
		if (idx[i] < 0 || !(demand[i].counters & BIT_ULL(idx[i])) ||
		    taken & BIT_ULL(idx[i]))
			return false;
		taken |= BIT_ULL(idx[i]);
	}
	return true;
}

static int count_fixed(u64 events, const s8 *idx)
{
	int n = 0;

	for (; events; events &= events - 1)
		n += my_pmc_is_fixed(idx[__ffs64(events)]);
	return n;
}

/* Two generic counters and two fixed ones. */
static u64 some_counters(unsigned int bits)
{
	return (bits & 3) | (u64)(bits >> 2 & 3) << MY_PMC_IDX_FIXED;
}

#define SMALL	4

/* Up to four events, each with each set of four counters: all cases. */
static void schedule_match(struct kunit *test)
{
	struct my_pmu_demand demand[SMALL] = {};
	s8 idx[MY_EVENTS_MAX];
	unsigned int n, code;

	for (n = 0; n <= SMALL; n++) {
		u64 events = BIT_ULL(n) - 1;

		for (code = 0; code < 1U << (4 * n); code++) {
			int most_fixed = -1;
			bool possible;
			unsigned int i;

			for (i = 0; i < n; i++)
				demand[i].counters = some_counters(code >> (4 * i) & 15);
			possible = search(demand, events, ~0ULL, 0, &most_fixed);
			KUNIT_ASSERT_EQ_MSG(test, my_pmu_match(demand, events, idx),
					    possible, "%u events, %#x", n, code);
			if (!possible)
				continue;
			KUNIT_ASSERT_TRUE_MSG(test, is_right(demand, events, idx),
					      "%u events, %#x", n, code);
			KUNIT_ASSERT_EQ_MSG(test, count_fixed(events, idx), most_fixed,
					    "%u events, %#x", n, code);
		}
	}
}

/* --- rotations --------------------------------------------------------------------- */

#define SOME	7

struct rotations_case {
	struct my_pmu_demand demand[SOME];
	unsigned int nr;
	u64 always;
	u64 group[SOME];
	unsigned int nr_groups;		/* that are not always on */
};

/* Some events in some groups; most may have many counters, some are always on. */
static void invent(struct rotations_case *t, struct rnd_state *rnd)
{
	unsigned int i, group = 0;

	*t = (struct rotations_case) { .nr = 1 + prandom_u32_state(rnd) % SOME };
	for (i = 0; i < t->nr; i++) {
		u32 random = prandom_u32_state(rnd);

		if (i && random & 1)
			group++;
		t->demand[i] = (struct my_pmu_demand) {
			.counters = some_counters(random >> 1 & 15) |
				    some_counters(random >> 5 & 15),
			.group = group,
			.always = (random >> 9 & 7) == 0,
		};
	}
	for (i = 0; i < t->nr; ) {
		u64 events = 0;
		bool always = false;

		for (group = t->demand[i].group;
		     i < t->nr && t->demand[i].group == group; i++) {
			events |= BIT_ULL(i);
			always |= t->demand[i].always;
		}
		if (always)
			t->always |= events;
		else
			t->group[t->nr_groups++] = events;
	}
}

static bool should_be_refused(const struct rotations_case *t)
{
	unsigned int i;

	if (!is_possible(t->demand, t->always))
		return true;
	for (i = 0; i < t->nr_groups; i++) {
		if (!is_possible(t->demand, t->always | t->group[i]))
			return true;
	}
	return false;
}

static void expect_rotation(struct kunit *test, const struct rotations_case *t,
			    const struct my_pmu_schedule *s,
			    const struct my_pmu_rotation *rotation)
{
	unsigned int i;

	KUNIT_ASSERT_TRUE(test, is_right(t->demand, rotation->events, rotation->idx));
	KUNIT_ASSERT_EQ(test, rotation->events & t->always, t->always);
	KUNIT_ASSERT_EQ(test, rotation->events & s->always, s->always);
	for (i = 0; i < t->nr_groups; i++) {
		u64 on = rotation->events & t->group[i];

		KUNIT_ASSERT_TRUE(test, !on || on == t->group[i]);
	}
	for (i = 0; i < t->nr; i++) {
		if (s->home[i] != MY_NO_COUNTER)
			KUNIT_ASSERT_EQ(test, rotation->idx[i], s->home[i]);
	}
}

/* As many groups as fit, one after the other; shared out evenly at any moment. */
static void expect_rotations(struct kunit *test, const struct rotations_case *t,
			     const struct my_pmu_schedule *s)
{
	const struct my_pmu_rotation *rotation = &s->rotation[0];
	unsigned int times[SOME] = {}, next = 0, i, n, least, most;

	for (n = 0; n < 50; n++, rotation = &s->rotation[rotation->next]) {
		u64 expected = t->always;

		expect_rotation(test, t, s, rotation);
		for (i = 0; i < t->nr_groups; i++) {
			unsigned int group = (next + i) % t->nr_groups;

			if (!is_possible(t->demand, expected | t->group[group]))
				break;
			expected |= t->group[group];
			times[group]++;
		}
		next = t->nr_groups ? (next + i) % t->nr_groups : 0;
		KUNIT_ASSERT_EQ(test, rotation->events, expected);
		least = times[0];
		most = times[0];
		for (i = 0; i < t->nr_groups; i++) {
			least = min(least, times[i]);
			most = max(most, times[i]);
		}
		KUNIT_ASSERT_LE(test, most - least, 1U);
	}
}

static void schedule_rotations(struct kunit *test)
{
	unsigned int i, refused = 0, single = 0, culprit;
	struct my_pmu_schedule *s;
	struct rnd_state rnd;
	struct rotations_case t;
	int err;

	s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, s);
	prandom_seed_state(&rnd, 1);
	for (i = 0; i < 3000; i++) {
		invent(&t, &rnd);
		culprit = ~0U;
		err = my_pmu_schedule(s, t.demand, t.nr, &culprit);
		KUNIT_ASSERT_EQ_MSG(test, err, should_be_refused(&t) ? -ENOSPC : 0,
				    "case %u", i);
		if (err) {
			refused++;
			KUNIT_ASSERT_LT(test, culprit, t.nr);
			continue;
		}
		single += s->nr_rotations == 1;
		KUNIT_ASSERT_EQ_MSG(test, s->nr_rotations == 1,
				    is_possible(t.demand, BIT_ULL(t.nr) - 1),
				    "case %u", i);
		expect_rotations(test, &t, s);
	}
	/* There were some of each. */
	KUNIT_EXPECT_GT(test, refused, 100U);
	KUNIT_EXPECT_GT(test, single, 100U);
	KUNIT_EXPECT_GT(test, i - refused - single, 100U);
}

/* 64 events on a counter: 64 rotations; and on 64 counters. */
static void schedule_most(struct kunit *test)
{
	struct my_pmu_demand *demand;
	struct my_pmu_schedule *s;
	unsigned int i, culprit;

	s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, s);
	demand = kunit_kcalloc(test, MY_EVENTS_MAX, sizeof(*demand), GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, demand);
	for (i = 0; i < MY_EVENTS_MAX; i++)
		demand[i] = (struct my_pmu_demand) { .counters = 4, .group = i };
	KUNIT_ASSERT_EQ(test, my_pmu_schedule(s, demand, MY_EVENTS_MAX, &culprit), 0);
	KUNIT_EXPECT_EQ(test, s->nr_rotations, 64U);
	KUNIT_EXPECT_EQ(test, s->rotation[63].next, 0U);
	KUNIT_EXPECT_EQ(test, s->rotation[63].idx[63], 2);
	KUNIT_EXPECT_EQ(test, s->always, 0ULL);
	for (i = 0; i < MY_EVENTS_MAX; i++)
		demand[i].counters = ~0ULL;
	KUNIT_ASSERT_EQ(test, my_pmu_schedule(s, demand, MY_EVENTS_MAX, &culprit), 0);
	KUNIT_EXPECT_EQ(test, s->nr_rotations, 1U);
	KUNIT_EXPECT_EQ(test, s->always, ~0ULL);
	for (i = 0; i < MY_EVENTS_MAX; i++)
		demand[i].group = 0;
	demand[63].counters = 1;
	demand[62].counters = 1;
	KUNIT_EXPECT_EQ(test, my_pmu_schedule(s, demand, MY_EVENTS_MAX, &culprit), -ENOSPC);
	KUNIT_EXPECT_EQ(test, culprit, 0U);
	demand[0].always = true;
	KUNIT_EXPECT_EQ(test, my_pmu_schedule(s, demand, MY_EVENTS_MAX, &culprit), -ENOSPC);
	KUNIT_EXPECT_EQ(test, culprit, 63U);
}

/* --- rotations on a CPU --------------------------------------------------------------- */

/* More of one event than any of the PMUs has generic counters left for. */
#define THREE_ON_TWO	"instructions@gp0-1,instructions@gp0-1,instructions@gp0-1"

/*
 * Where no event is enabled the registers are saved first, and that may fault: the next
 * read says so, once.
 */
static void rotate_none_enabled(struct kunit *test)
{
	struct my_event_set *set = test_set(test, PMU(V2_32), THREE_ON_TWO);
	struct my_pmu_sample *s = test_sample(test);
	unsigned int i, nth;
	u64 ctrl;

	test_up_without_timer(test, set);
	for (i = 0; i < 3; i++)
		KUNIT_ASSERT_EQ(test, my_perf_event_disable(&set->event[i]), 0);
	KUNIT_EXPECT_EQ(test, set->active, 0ULL);
	for (nth = 1; nth <= 2; nth++) {
		sim_cpu(TEST_CPU)->fail_nth = nth;
		KUNIT_EXPECT_EQ(test, test_rotate(set), -EIO);
		KUNIT_EXPECT_EQ(test, sim_cpu(TEST_CPU)->fail_nth, 0U);
		KUNIT_EXPECT_EQ(test, my_event_set_read(set, s), -EIO);
		KUNIT_EXPECT_EQ(test, my_event_set_read(set, s), 0);
	}
	/* What others have changed since is not put back. */
	sim_cpu(TEST_CPU)->regs.global_ctrl ^= 1;
	ctrl = sim_cpu(TEST_CPU)->regs.global_ctrl;
	KUNIT_EXPECT_EQ(test, test_rotate(set), 0);
	KUNIT_EXPECT_EQ(test, sim_cpu(TEST_CPU)->regs.global_ctrl, ctrl);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
}

/* An overflow that is accounted for is not taken for one of the event that comes. */
static void rotate_acknowledges(struct kunit *test)
{
	struct my_event_set *set = test_set(test, PMU(V4), THREE_ON_TWO);
	struct my_pmu_sample *s = test_sample(test);
	unsigned int n;

	test_near_wrap(sim_cpu(TEST_CPU));
	test_up_without_timer(test, set);
	for (n = 0; n < 12; n++) {
		test_retire(test, 1000, 0);
		KUNIT_ASSERT_EQ(test, test_rotate(set), 0);
		KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
		KUNIT_EXPECT_EQ(test, s->marks.clobbered | s->marks.late, 0ULL);
	}
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
}

/* Each event has what retired while it was on; all registers are as before. */
static void rotate_counts(struct kunit *test)
{
	const struct sim_pmu *pmu = test->param_value;
	struct my_event_set *set = test_set(test, pmu, THREE_ON_TWO);
	struct my_pmu_sample *s = test_sample(test);
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	u64 wanted[3] = {}, last_running[3] = {};
	struct sim_registers before;
	unsigned int n, i;

	test_leave_traces(sim);
	test_near_wrap(sim);
	before = sim->regs;
	test_up_without_timer(test, set);
	for (n = 0; n < 30; n++) {
		for (i = 0; i < 3; i++)
			wanted[i] += set->active & BIT_ULL(i) ? 1000 + n : 0;
		test_retire(test, 1000 + n, 0);
		if (n % 3 == 0) {
			KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
			for (i = 0; i < 3; i++) {
				KUNIT_EXPECT_EQ(test, s->count[i], wanted[i]);
				KUNIT_EXPECT_GE(test, s->running[i], last_running[i]);
				KUNIT_EXPECT_LE(test, s->running[i], s->uptime);
				last_running[i] = s->running[i];
			}
			KUNIT_EXPECT_EQ(test, s->marks.clobbered | s->marks.late, 0ULL);
		}
		KUNIT_ASSERT_EQ(test, test_rotate(set), 0);
	}
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ(test, set->event[i].count, wanted[i]);
	/* Their numbers of rotations differ by one at most. */
	KUNIT_EXPECT_LE(test, max(wanted[0], wanted[2]) - min(wanted[0], wanted[2]), 2060ULL);
	test_expect_registers(test, pmu, &before, &sim->regs);
	test_expect_good_manners(test);
}

/* One that is always on misses nothing, and no rotation touches it. */
static void rotate_beside(struct kunit *test)
{
	struct my_event_set *set = test_set(test, PMU(V4),
					    "instructions@gp2,cycles@fixed1," THREE_ON_TWO);
	struct my_pmu_sample *s = test_sample(test);
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	unsigned int n;

	test_up_without_timer(test, set);
	KUNIT_EXPECT_EQ(test, set->schedule.always, 3ULL);
	for (n = 1; n <= 10; n++) {
		test_retire(test, 100, 0);
		sim->regs.evtsel[2] |= BIT_ULL(20);	/* a trace of ours */
		KUNIT_ASSERT_EQ(test, test_rotate(set), 0);
		KUNIT_ASSERT_TRUE(test, sim->regs.evtsel[2] & BIT_ULL(20));
		sim->regs.evtsel[2] &= ~BIT_ULL(20);
		KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
		KUNIT_EXPECT_EQ(test, s->count[0], 100ULL * n);
		KUNIT_EXPECT_EQ(test, s->running[0], s->uptime);
		KUNIT_EXPECT_EQ(test, s->running[1], s->uptime);
	}
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
}

/* Two groups, each in a rotation of its own. */
#define TWO_OR_ONE	"{cycles@gp0-1,cycles@gp0-1},instructions@gp0-1"

static void expect_times(struct kunit *test, const struct my_pmu_sample *s)
{
	KUNIT_EXPECT_EQ(test, s->running[0] + s->running[2], s->uptime);
	KUNIT_EXPECT_EQ(test, s->running[1], s->running[0]);
}

/*
 * The time of a change, and that of a read, is excluded, to the nanosecond: what is
 * left is that of one rotation or of the other.
 */
static void rotate_time(struct kunit *test)
{
	struct my_event_set *set = test_set(test, PMU(V4), TWO_OR_ONE);
	struct my_pmu_sample *s = test_sample(test);
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	unsigned int n, on, accesses;
	u64 time, uptime;

	test_up_without_timer(test, set);
	for (n = 0; n < 10; n++) {
		sim->accesses = 0;
		KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
		expect_times(test, s);
		time = s->time;
		uptime = s->uptime;
		on = hweight64(set->active);
		accesses = sim->accesses;
		KUNIT_ASSERT_EQ(test, test_rotate(set), 0);
		accesses = sim->accesses - accesses;
		KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
		/*
		 * Two registers of each event are read; of the change all accesses are
		 * excluded, except the three that stop the counters and the one that
		 * starts them.
		 */
		KUNIT_EXPECT_EQ(test, s->time - time - (s->uptime - uptime),
				(2 * on + 1 + accesses - 4 + 1) * HELD_CLOCK_NS);
	}
	uptime = s->uptime;
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
	KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), -ENXIO);
	test_up(test, set);
	KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
	KUNIT_EXPECT_GT(test, s->uptime, uptime);
	expect_times(test, s);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
}

/* In version 1 what stays counts on: only for those that come a change is excluded. */
static void rotate_time_v1(struct kunit *test)
{
	struct my_event_set *set = test_set(test, PMU(V1_40), TWO_OR_ONE);
	struct my_pmu_sample *s = test_sample(test);
	u64 since, before[3];
	unsigned int n, i;

	test_up_without_timer(test, set);
	for (n = 0; n < 10; n++) {
		KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
		KUNIT_EXPECT_EQ(test, s->uptime, s->time - set->up_since);
		since = s->time;
		for (i = 0; i < 3; i++)
			before[i] = s->running[i];
		KUNIT_ASSERT_EQ(test, test_rotate(set), 0);
		KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
		KUNIT_EXPECT_LT(test, s->running[0] - before[0] + s->running[2] - before[2],
				s->time - since);
	}
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
}

/* Each access of a change fails in turn: the next read says so, once. */
static void rotate_fails(struct kunit *test)
{
	const struct sim_pmu *pmu = test->param_value;
	struct my_event_set *set = test_set(test, pmu, THREE_ON_TWO);
	struct my_pmu_sample *s = test_sample(test);
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct sim_registers before, wanted;
	unsigned int nth, i;
	int err;

	test_leave_traces(sim);
	before = sim->regs;
	for (nth = 1; ; nth++) {
		sim->regs = before;
		sim->has_failed = false;
		test_up_without_timer(test, set);
		test_retire(test, 10, 0);
		sim->fail_nth = nth;
		err = test_rotate(set);
		sim->fail_nth = 0;
		if (!err)
			break;
		KUNIT_ASSERT_EQ(test, err, -EIO);
		KUNIT_EXPECT_EQ_MSG(test, my_event_set_read(set, s), -EIO, "access %u", nth);
		KUNIT_EXPECT_EQ_MSG(test, my_event_set_read(set, s), 0, "access %u", nth);
		for (i = 0; i < 3; i++)
			KUNIT_EXPECT_LE_MSG(test, s->running[i], s->uptime, "access %u", nth);
		KUNIT_EXPECT_EQ(test, test_rotate(set), 0);
		KUNIT_EXPECT_EQ(test, my_event_set_down(set), 0);
		wanted = before;
		test_forgive_restoring(&wanted, sim);
		test_expect_registers(test, pmu, &wanted, &sim->regs);
	}
	KUNIT_EXPECT_GT(test, nth, 8U);
	KUNIT_EXPECT_EQ(test, my_event_set_down(set), 0);
}

/* Nothing else is needed: the timer rotates, and ends when the CPU goes down. */
static void rotate_by_timer(struct kunit *test)
{
	struct my_event_set *set = test_set(test, PMU(V4), THREE_ON_TWO);
	struct my_pmu_sample *s = test_sample(test);
	unsigned int i, tries, rotation;

	sim_hold_clock(false);	/* the timer goes by the machine's */
	test_up(test, set);
	for (tries = 0; tries < 1000; tries++) {
		usleep_range(5000, 6000);
		KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
		if (min3(s->running[0], s->running[1], s->running[2]) >
		    20 * NSEC_PER_MSEC)
			break;
	}
	KUNIT_EXPECT_LT(test, tries, 1000U);
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_LT(test, s->running[i], s->uptime);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
	rotation = set->rotation;
	msleep(20);
	KUNIT_EXPECT_EQ(test, set->rotation, rotation);
	KUNIT_EXPECT_FALSE(test, hrtimer_active(&set->timer.timer));
}

/* What is disabled is in no rotation; enabled again it goes on in its own. */
static void rotate_enable(struct kunit *test)
{
	struct my_event_set *set = test_set(test, PMU(V4), THREE_ON_TWO);
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct sim_registers before;
	unsigned int n, i;

	test_leave_traces(sim);
	before = sim->regs;
	test_up_without_timer(test, set);
	for (i = 0; i < 3; i++)
		KUNIT_ASSERT_EQ(test, my_perf_event_disable(&set->event[i]), 0);
	test_expect_registers(test, PMU(V4), &before, &sim->regs);
	for (n = 0; n < 5; n++) {
		test_retire(test, 100, 0);
		KUNIT_ASSERT_EQ(test, test_rotate(set), 0);
		test_expect_registers(test, PMU(V4), &before, &sim->regs);
	}
	KUNIT_ASSERT_EQ(test, my_perf_event_enable(&set->event[2]), 0);
	for (n = 0, i = 0; n < 6; n++) {
		i += set->active ? 100 : 0;
		test_retire(test, 100, 0);
		KUNIT_ASSERT_EQ(test, test_rotate(set), 0);
	}
	KUNIT_EXPECT_EQ(test, i, 400U);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
	KUNIT_EXPECT_EQ(test, set->event[2].count, (u64)i);
	KUNIT_EXPECT_EQ(test, set->event[0].count + set->event[1].count, 0ULL);
	test_expect_registers(test, PMU(V4), &before, &sim->regs);
}

/* The set's rate is that of its fastest event, in whichever rotation, and no older one. */
static void schedule_rate(struct kunit *test)
{
	struct my_event_set *set = test_set(test, PMU(V1_40), "cycles,instructions,branches");
	struct my_perf_event_attr *attr;
	struct my_pmu_why why;
	unsigned int i;
	int nr;

	KUNIT_EXPECT_EQ(test, set->rate_log2, 26U);
	attr = kunit_kcalloc(test, 3, sizeof(*attr), GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, attr);
	for (i = 0; i < 3; i++) {
		static const char * const lists[] = {
			"r99,cycles,instructions", "cycles,r99,instructions",
			"cycles,instructions,r99",
		};

		nr = my_parse_events(lists[i], attr, 3, &why);
		KUNIT_ASSERT_EQ(test, test_assign(set, attr, nr, &why), 0);
		KUNIT_EXPECT_EQ_MSG(test, set->rate_log2, 30U, "%s", lists[i]);
		KUNIT_EXPECT_EQ(test, set->rotation, 0U);
	}
	nr = my_parse_events("cycles", attr, 3, &why);
	KUNIT_ASSERT_EQ(test, test_assign(set, attr, nr, &why), 0);
	KUNIT_EXPECT_EQ(test, set->rate_log2, 26U);
}

/* Which events have some of whatever code the kernel executes. */
static void schedule_any_code(struct kunit *test)
{
	static const struct {
		const char *events;
		u64 any_code;
	} rows[] = {
		{ "instructions@gp0,instructions@fixed0,cycles@gp1,cycles@fixed1", 0xf },
		{ "instructions:k@gp0,instructions:k@fixed0,cycles:uk@gp1,cycles:k@fixed1", 0xf },
		{ "instructions:u@gp0,instructions:u@fixed0,cycles:u@gp1,cycles:u@fixed1", 0 },
		{ "branches,ref-cycles@fixed2,cache-misses,r99", 0 },
		{ "r00c0,r003c,r01c0,r013c", 0x3 },
		{ "cpu/instructions,cmask=1/,cpu/cycles,inv/,cpu/cycles,edge/,cycles", 0x8 },
		/* In whichever rotation */
		{ "{branches@gp0-1,cycles@gp0-1},{instructions@gp0-1,instructions:u@gp0-1}", 0x6 },
		{ "branches", 0 },
	};
	struct my_event_set *set = test_set(test, PMU(V4), "cycles,instructions");
	struct my_perf_event_attr *attr;
	struct my_pmu_why why;
	unsigned int i;
	int nr;

	attr = kunit_kcalloc(test, 4, sizeof(*attr), GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, attr);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		nr = my_parse_events(rows[i].events, attr, 4, &why);
		KUNIT_ASSERT_GT_MSG(test, nr, 0, "%s", why.text);
		KUNIT_ASSERT_EQ_MSG(test, test_assign(set, attr, nr, &why), 0, "%s", why.text);
		KUNIT_EXPECT_EQ_MSG(test, set->any_code, rows[i].any_code, "%s", rows[i].events);
	}
}

static struct kunit_case schedule_cases[] = {
	KUNIT_CASE(schedule_rate),
	KUNIT_CASE(schedule_any_code),
	KUNIT_CASE(schedule_match),
	KUNIT_CASE(schedule_rotations),
	KUNIT_CASE(schedule_most),
	KUNIT_CASE(rotate_acknowledges),
	KUNIT_CASE_PARAM(rotate_counts, test_pmu_gen_params),
	KUNIT_CASE(rotate_none_enabled),
	KUNIT_CASE(rotate_beside),
	KUNIT_CASE(rotate_time),
	KUNIT_CASE(rotate_time_v1),
	KUNIT_CASE_PARAM(rotate_fails, test_global_gen_params),
	KUNIT_CASE(rotate_by_timer),
	KUNIT_CASE(rotate_enable),
	{}
};

static struct kunit_suite schedule_suite = {
	.name = "my_pmu_schedule",
	.test_cases = schedule_cases,
};

kunit_test_suite(schedule_suite);
