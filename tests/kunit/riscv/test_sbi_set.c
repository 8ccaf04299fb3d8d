// SPDX-License-Identifier: GPL-2.0
/*
 * Event sets on the counters that the firmware hands out: counts, each call made to fail,
 * counters that somebody else takes, the self-test.
 */
#include <linux/hrtimer.h>

#include "test.h"

static const long all_errs[] = {
	SIM_FAILED, SIM_NOT_SUPPORTED, SIM_INVALID_PARAM, SIM_DENIED, SIM_INVALID_ADDRESS,
	SIM_ALREADY_AVAILABLE, SIM_ALREADY_STARTED, SIM_ALREADY_STOPPED, SIM_NO_SHMEM,
};

/* What fits at the same time on each PMU. */
static const char * const events_on[] = {
	[WITH] = "instructions,cycles,dTLB-load-misses,cycles:u,r1234,branches,instructions:k",
	[WITHOUT] = "instructions,cycles,dTLB-load-misses,branches,r1234",
	[NARROW] = "instructions:u,cycles,branches,dTLB-load-misses,r1234",
	[FEW] = "instructions,cycles,branches,dTLB-load-misses",
};

static const char *events_for(const struct sim_pmu *pmu)
{
	return events_on[pmu - test_pmus];
}

/* Of all that tests count so many happen in each mode. */
static u64 expected(const struct my_perf_event *event, u64 user, u64 kernel)
{
	return (event->attr.exclude_user ? 0 : user) + (event->attr.exclude_kernel ? 0 : kernel);
}

/* A counter of somebody else's, that runs, from a negative value; or one that stands. */
#define THEIRS		0x8000000000000123ULL

static void take(struct sim_cpu *sim, unsigned int counter, u32 event, bool run)
{
	unsigned long given;

	sim_sbi(sim, SIM_CFG_MATCH, counter, 1, 0, event, 0, &given);
	if (run)
		sim_sbi(sim, SIM_START, counter, 1, 1, THEIRS, 0, &given);
}

static void leave(struct sim_cpu *sim, unsigned int counter, bool free)
{
	unsigned long unused;

	sim_sbi(sim, SIM_STOP, counter, 1, free, 0, 0, &unused);
}

/* --- counts -------------------------------------------------------------------------- */

static void set_counts(struct kunit *test)
{
	const struct sim_pmu *pmu = test->param_value;
	struct my_event_set *set = test_set(test, pmu, events_for(pmu));
	struct my_pmu_sample *s = test_sample(test);
	u64 user = 0, kernel = 0;
	unsigned int i, round;

	KUNIT_ASSERT_EQ(test, set->schedule.nr_rotations, 1U);
	test_retire(test, 999, 999);	/* is not counted */
	for (round = 0; round < 4; round++) {
		if (round == 0 || round == 2)
			test_up(test, set);
		test_retire(test, 1000 + round, 10 + round);
		user += 1000 + round;
		kernel += 10 + round;
		KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
		KUNIT_EXPECT_EQ(test, s->marks.clobbered | s->marks.late | s->marks.wrapped, 0ULL);
		for (i = 0; i < set->nr_events; i++)
			KUNIT_EXPECT_EQ_MSG(test, s->count[i],
					    expected(&set->event[i], user, kernel), "%s",
					    set->event[i].attr.name);
		if (round != 1)
			continue;
		KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
		test_expect_free(test, 0);
		test_retire(test, 77, 77);
	}
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
	test_expect_free(test, 0);
}

/* What a set does, call by call, on one counter that is shared and one that is not. */
static void set_calls(struct kunit *test)
{
	struct my_event_set *set = test_set(test, PMU(FEW), "instructions,dTLB-load-misses");
	struct my_pmu_sample *s = test_sample(test);

	test_up(test, set);
	KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
	test_expect_calls(test, "start 3!-7, read 2, start 2!-7, read 2, read 3");
	KUNIT_ASSERT_EQ(test, my_perf_event_disable(&set->event[1]), 0);
	test_expect_calls(test, "start 3!-7, read 2, start 2!-7, read 3, free 3");
	KUNIT_ASSERT_EQ(test, my_perf_event_enable(&set->event[1]), 0);
	test_expect_calls(test, "read 2, start 2!-7, start 3!-3, cfg 3 0x10019, start 3=0, read 3");
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
	test_expect_calls(test,
			  "start 3!-7, read 2, start 2!-7, read 2, read 3, free 3, read 2, free 2");
	/* No counter counts a probe's event here: none is tried. */
	set = test_set(test, PMU(WITH), "branches,r1234");
	KUNIT_ASSERT_EQ(test, test_try_up(set), 0);
	KUNIT_EXPECT_EQ(test, sim_cpu(TEST_CPU)->nr_calls, 2U + 2U * 4U);
	sim_clear_log(sim_cpu(TEST_CPU));
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
	test_expect_calls(test,
			  "read 3, start 3!-7, read 4, start 4!-7, read 4, read 3, read 3, free 3, read 4, free 4");
}

/* One wraps at its own width; one that was not read for long may have gone round. */
static void set_wraps(struct kunit *test)
{
	struct my_event_set *set = test_set(test, PMU(NARROW), "cycles:u@gp5,cycles@fixed0");
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct my_pmu_sample *s = test_sample(test);

	test_up(test, set);
	sim->counter[5].value = GENMASK_ULL(39, 0) - 9;
	set->event[0].hw.prev_count = sim->counter[5].value;
	test_retire(test, 100, 50);
	KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
	KUNIT_EXPECT_EQ(test, s->count[0], 100ULL);
	KUNIT_EXPECT_EQ(test, s->count[1], 150ULL);
	KUNIT_EXPECT_EQ(test, s->marks.wrapped, GP(5));
	KUNIT_EXPECT_EQ(test, sim->counter[5].value, 90ULL);
	/* 2^40 at 2^26 in a millisecond are 16384 ms. */
	sim_pass_ms(16000);
	test_retire(test, 10, 0);
	KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
	KUNIT_EXPECT_EQ(test, s->count[0], 110ULL);
	KUNIT_EXPECT_EQ(test, s->marks.late, 0ULL);
	sim_pass_ms(16400);
	test_retire(test, 10, 0);
	KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
	KUNIT_EXPECT_EQ(test, s->count[0], 110ULL);
	KUNIT_EXPECT_EQ(test, s->count[1], 170ULL);
	KUNIT_EXPECT_EQ(test, s->marks.late, GP(5));
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
}

/* Sets of a CPU count side by side. */
static void set_beside_set(struct kunit *test)
{
	struct my_event_set *set = test_set(test, PMU(WITH), "cycles:u,dTLB-load-misses");
	struct my_pmu_sample *s = test_sample(test);
	struct my_event_set *other;

	test_up(test, set);
	other = test_another_set(test, set->cpu, "cycles:k,dTLB-load-misses,instructions");
	KUNIT_EXPECT_EQ(test, set->used & other->used, 0ULL);
	test_up(test, other);
	test_retire(test, 5, 3);
	KUNIT_ASSERT_EQ(test, my_event_set_read(other, s), 0);
	KUNIT_EXPECT_EQ(test, s->count[0], 3ULL);
	KUNIT_EXPECT_EQ(test, s->count[1], 8ULL);
	KUNIT_EXPECT_EQ(test, s->count[2], 8ULL);
	KUNIT_ASSERT_EQ(test, my_event_set_down(other), 0);
	/* What the other's self-test has executed is counted, too: in the kernel. */
	KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
	KUNIT_EXPECT_EQ(test, s->count[0], 5ULL);
	KUNIT_EXPECT_EQ(test, s->count[1], 8ULL);
	KUNIT_EXPECT_EQ(test, s->marks.clobbered, 0ULL);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
	test_expect_free(test, 0);
}

/* Several CPUs at once, by the other function of a cross-call. */
static void set_of_cpus(struct kunit *test)
{
	struct my_event_set *set = test_set(test, PMU(WITHOUT), "instructions,branches");
	struct my_pmu_request *by_cpu[TEST_CPU + 1] = {};
	struct my_pmu_reading *reading;

	reading = kunit_kzalloc(test, sizeof(*reading), GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, reading);
	reading->set = set;
	reading->sample = test_sample(test);
	by_cpu[TEST_CPU] = &reading->request;
	test_up(test, set);
	test_retire(test, 20, 3);
	my_pmu_read_cpus(cpumask_of(TEST_CPU), by_cpu);
	KUNIT_EXPECT_EQ(test, reading->err, 0);
	KUNIT_EXPECT_EQ(test, reading->sample->count[0], 23ULL);
	KUNIT_EXPECT_EQ(test, reading->sample->count[1], 23ULL);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
}

static int rotate(struct my_event_set *set, u64 events, void *unused)
{
	return my_event_set_rotate(set);
}

/* More events than counters: each counts what happens while it has one. */
static void set_rotates(struct kunit *test)
{
	struct my_event_set *set = test_set(test, PMU(FEW),
					    "instructions,dTLB-load-misses,branches,r1234,dTLB-load-misses");
	struct my_pmu_sample *s = test_sample(test);
	unsigned int round, i;
	u64 counts[5] = {};

	KUNIT_ASSERT_GT(test, set->schedule.nr_rotations, 1U);
	test_up(test, set);
	/* Rotations end when the test says so. */
	KUNIT_EXPECT_EQ(test, hrtimer_cancel(&set->timer.timer), 1);
	for (round = 0; round < 12; round++) {
		test_retire(test, 100 + round, round);
		for (i = 0; i < 5; i++)
			counts[i] += set->active & BIT_ULL(i) ? 100 + 2 * round : 0;
		if (round % 3 == 1)
			KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
		sim_pass_ms(4);
		KUNIT_ASSERT_EQ(test, my_event_set_call(set, 0, rotate, NULL), 0);
	}
	KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
	KUNIT_EXPECT_EQ(test, s->marks.clobbered, 0ULL);
	for (i = 0; i < 5; i++) {
		KUNIT_EXPECT_EQ_MSG(test, s->count[i], counts[i], "event %u", i);
		KUNIT_EXPECT_GT_MSG(test, s->count[i], 0ULL, "event %u", i);
	}
	/* Two programmable counters, all of the time. */
	KUNIT_EXPECT_GE(test, s->running[1] + s->running[2] + s->running[3] + s->running[4],
			2 * 12 * 4 * NSEC_PER_MSEC);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
	test_expect_free(test, 0);
}

/*
 * perf takes a counter that a rotation is to bring: the events of that rotation miss it, which is
 * marked; the others are read, and what is on a counter of its own loses nothing.
 */
static void set_rotates_beside(struct kunit *test)
{
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct my_pmu_sample *s = test_sample(test);
	struct sim_pmu pmu = *PMU(FEW);
	struct my_event_set *set;
	u64 clobbered = 0, count = 0;
	unsigned int round;

	/* With fewer bits perf's start does not show. */
	pmu.width = 64;
	set = test_set(test, &pmu, "instructions,dTLB-load-misses,branches,r1234,dTLB-load-misses");
	test_up(test, set);
	hrtimer_cancel(&set->timer.timer);
	KUNIT_ASSERT_EQ(test, my_event_set_call(set, 0, rotate, NULL), 0);
	/* What stands on gp3 and gp4 is freed, and perf takes one of them. */
	leave(sim, 3, true);
	take(sim, 3, SIM_DTLB_READ_MISS, true);
	for (round = 0; round < 6; round++) {
		test_retire(test, 10, 0);
		count += set->active & 1 ? 10 : 0;
		sim_pass_ms(4);
		KUNIT_ASSERT_EQ(test, my_event_set_call(set, 0, rotate, NULL), 0);
		KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
		/* The one that counted when it was taken is marked, too. */
		clobbered |= round > 2 ? s->marks.clobbered : 0;
		KUNIT_EXPECT_EQ(test, s->count[0], count);
		KUNIT_EXPECT_TRUE(test, sim->counter[3].running);
	}
	KUNIT_EXPECT_GT(test, count, 10ULL);
	KUNIT_EXPECT_TRUE(test, clobbered & GP(3));
	/* It is had again when perf has left it. */
	leave(sim, 3, true);
	for (round = 0; round < 4; round++)
		KUNIT_ASSERT_EQ(test, my_event_set_call(set, 0, rotate, NULL), 0);
	KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
	KUNIT_ASSERT_EQ(test, my_event_set_call(set, 0, rotate, NULL), 0);
	KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
	KUNIT_EXPECT_EQ(test, s->marks.clobbered, 0ULL);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
	test_expect_free(test, 0);
}

/* --- beside somebody else ------------------------------------------------------------- */

/* perf has the highest counters, and one that it has stopped for now; and what it may. */
static void set_beside_perf(struct kunit *test)
{
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct my_pmu_cpu *cpu = test_probed_cpu(test, PMU(WITH));
	struct my_pmu_sample *s = test_sample(test);
	struct my_pmu_snapshot *snapshot;
	struct my_event_set *set;
	struct my_pmu_why why;

	snapshot = kunit_kzalloc(test, sizeof(*snapshot), GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, snapshot);
	sim_reset(0, PMU(WITH));
	take(sim, 18, SIM_CYCLES, true);
	take(sim, 17, SIM_INSTRUCTIONS, true);
	take(sim, 16, SIM_DTLB_READ_MISS, false);
	KUNIT_ASSERT_EQ(test, my_pmu_probe(cpu, snapshot, &why), 0);
	KUNIT_EXPECT_EQ(test, snapshot->in_use, GP(16) | GP(17) | GP(18));
	KUNIT_ASSERT_EQ(test, my_pmu_find_firmware(cpu, snapshot, &why), 0);
	KUNIT_EXPECT_EQ(test, cpu->firmware, GP(16) | GP(17) | GP(18));
	set = test_another_set(test, cpu,
			       "instructions:u,cycles:u,dTLB-load-misses,instructions,cycles");
	test_up(test, set);
	test_retire(test, 30, 4);
	KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
	KUNIT_EXPECT_EQ(test, s->count[0], 30ULL);
	KUNIT_EXPECT_EQ(test, s->count[4], 34ULL);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
	test_expect_free(test, BIT(16) | BIT(17) | BIT(18));
	KUNIT_EXPECT_TRUE(test, sim->counter[18].running && sim->counter[17].running);
	KUNIT_EXPECT_EQ(test, sim->counter[18].event, SIM_CYCLES * 1U);
	KUNIT_EXPECT_EQ(test, sim->counter[17].event, SIM_INSTRUCTIONS * 1U);
	/* All that was executed, and nothing lost: it never stood still. */
	KUNIT_EXPECT_EQ(test, sim->counter[18].value, sim->counter[17].value);
	KUNIT_EXPECT_GE(test, sim->counter[18].value, THEIRS + 34);
	KUNIT_EXPECT_FALSE(test, sim->counter[16].running);
	KUNIT_EXPECT_TRUE(test, sim->counter[16].configured);
}

static const struct theft_row {
	const char *name;
	int pmu;
	const char *events;
	unsigned int counter;
	bool free;	/* not only stopped */
} theft_rows[] = {
	{ "gp stopped", WITH, "instructions@fixed2,cycles@gp5", 5 },
	{ "gp freed", WITH, "instructions@fixed2,cycles@gp5", 5, true },
	{ "gp freed, no sscofpmf", WITHOUT, "instructions@fixed2,dTLB-load-misses@gp5", 5, true },
	{ "fixed stopped", WITH, "instructions@gp4,cycles@fixed0", 0 },
	{ "fixed stopped, no sscofpmf", WITHOUT, "instructions@fixed2,cycles@fixed0", 0 },
	{ "fixed freed, no sscofpmf", WITHOUT, "branches@gp4,cycles@fixed0", 0, true },
};

static void theft_desc(const struct theft_row *row, char *desc)
{
	strscpy(desc, row->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(theft, theft_rows, theft_desc);

/* Somebody stops a counter of ours: a mark says so, once, and it counts on. */
static void set_is_stopped(struct kunit *test)
{
	const struct theft_row *row = test->param_value;
	struct my_event_set *set = test_set(test, PMU(row->pmu), row->events);
	u64 bit = row->counter < 3 ? FIXED(row->counter) : GP(row->counter);
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct my_pmu_sample *s = test_sample(test);

	test_up(test, set);
	test_retire(test, 10, 0);
	KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
	test_retire(test, 10, 0);
	leave(sim, row->counter, row->free);
	test_retire(test, 10, 0);
	KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
	KUNIT_EXPECT_EQ(test, s->marks.clobbered, bit);
	KUNIT_EXPECT_EQ(test, s->count[0], 30ULL);
	KUNIT_EXPECT_EQ(test, s->count[1], 10ULL);
	KUNIT_EXPECT_TRUE(test, sim->counter[row->counter].running);
	test_retire(test, 7, 0);
	KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
	KUNIT_EXPECT_EQ(test, s->marks.clobbered, 0ULL);
	KUNIT_EXPECT_EQ(test, s->count[0], 37ULL);
	KUNIT_EXPECT_EQ(test, s->count[1], 17ULL);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
	test_expect_free(test, 0);
}

/*
 * Without Sscofpmf perf has the counter for itself, while ours counts: that is marked at each read,
 * others are read, and it is not touched, until perf has left it; then ours counts on.
 */
static void set_is_taken(struct kunit *test)
{
	struct my_event_set *set = test_set(test, PMU(WITHOUT), "cycles,instructions");
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct my_pmu_sample *s = test_sample(test);
	struct sim_counter theirs;
	unsigned int i;

	test_up(test, set);
	test_retire(test, 10, 0);
	KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
	leave(sim, 0, true);
	take(sim, 0, SIM_CYCLES, true);
	theirs = sim->counter[0];
	for (i = 0; i < 2; i++) {
		KUNIT_EXPECT_EQ(test, my_event_set_read(set, s), 0);
		KUNIT_EXPECT_EQ(test, s->marks.clobbered, FIXED(0));
		KUNIT_EXPECT_EQ(test, s->count[0], 10ULL);
		KUNIT_EXPECT_EQ(test, s->count[1], 10ULL);
		KUNIT_EXPECT_EQ(test, memcmp(&theirs, &sim->counter[0], sizeof(theirs)), 0);
	}
	test_retire(test, 5, 0);
	leave(sim, 0, true);
	KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
	KUNIT_EXPECT_EQ(test, s->marks.clobbered, FIXED(0));
	KUNIT_EXPECT_EQ(test, s->count[0], 10ULL);
	KUNIT_EXPECT_EQ(test, s->count[1], 15ULL);
	test_retire(test, 7, 0);
	KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
	KUNIT_EXPECT_EQ(test, s->count[0], 17ULL);
	KUNIT_EXPECT_EQ(test, s->count[1], 22ULL);
	/* It has it again when ours end. */
	leave(sim, 0, true);
	take(sim, 0, SIM_CYCLES, true);
	theirs = sim->counter[0];
	KUNIT_EXPECT_EQ(test, my_event_set_down(set), 0);
	KUNIT_EXPECT_EQ(test, memcmp(&theirs, &sim->counter[0], sizeof(theirs)), 0);
	test_expect_free(test, BIT(0));
}

/* --- each call fails -------------------------------------------------------------------- */

static struct sim_counter theirs[2];

/* Somebody else has a counter that runs and one that stands, if there are as many. */
static u32 let_others_in(struct sim_cpu *sim)
{
	if (!(sim->pmu.counters & BIT(9)))
		return 0;
	take(sim, 9, SIM_DTLB_READ_MISS, true);
	take(sim, 6, SIM_DTLB_READ_MISS, false);
	theirs[0] = sim->counter[9];
	theirs[1] = sim->counter[6];
	return BIT(9) | BIT(6);
}

/* A counter that could not be stopped runs on. */
static void forgive(struct sim_cpu *sim, u32 others)
{
	const struct sim_call *failed = &sim->failed;

	if (sim->has_failed && failed->function == SIM_STOP)
		leave(sim, failed->counter, !(others & BIT(failed->counter)));
	sim->has_failed = false;
}

static void expect_theirs(struct kunit *test, const struct sim_cpu *sim, u32 others)
{
	if (!others)
		return;
	KUNIT_EXPECT_EQ(test, memcmp(&theirs[0], &sim->counter[9], sizeof(theirs[0])), 0);
	KUNIT_EXPECT_EQ(test, memcmp(&theirs[1], &sim->counter[6], sizeof(theirs[1])), 0);
}

/* What happens while nothing fails is counted, to the last event, unless it is rotated out. */
static void expect_counting(struct kunit *test, struct my_event_set *set,
			    struct my_pmu_sample *before, struct my_pmu_sample *s)
{
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	unsigned int i;

	KUNIT_ASSERT_EQ(test, my_event_set_read(set, before), 0);
	sim_retire(sim, true, 11);
	sim_retire(sim, false, 5);
	KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
	KUNIT_EXPECT_EQ(test, s->marks.clobbered | s->marks.late, 0ULL);
	for (i = 0; i < 2; i++)
		KUNIT_EXPECT_EQ_MSG(test, s->count[i] - before->count[i],
				    set->active & BIT_ULL(i) ?
				    expected(&set->event[i], 11, 5) : 0, "%s, behind call %d",
				    set->event[i].attr.name, sim->failed.function);
}

/* Two that tests execute, one on a counter that may be shared; and one that none executes. */
static const char *few_events(const struct sim_pmu *pmu)
{
	return pmu->sscofpmf ? "instructions:u,cycles,branches" : "instructions,cycles,branches";
}

/* The test moves to TEST_CPU, so that calls are calls. */
static void run_there(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, set_cpus_allowed_ptr(current, cpumask_of(TEST_CPU)), 0);
}

/* Each call with which a set comes up, self-test and all. */
static void set_up_fails(struct kunit *test)
{
	const struct sim_pmu *pmu = test->param_value;
	struct my_pmu_sample *before = test_sample(test), *s = test_sample(test);
	struct my_event_set *set = test_set(test, pmu, few_events(pmu));
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	u32 others = let_others_in(sim);
	unsigned int i, nth;
	bool failed;
	int err;

	run_there(test);
	for (i = 0; i < ARRAY_SIZE(all_errs); i++) {
		for (nth = 1, failed = true; failed; nth++) {
			sim->fail_nth = nth;
			sim->fail_err = all_errs[i];
			err = test_try_up(set);
			sim->fail_nth = 0;
			failed = sim->has_failed;
			if (!err) {
				expect_counting(test, set, before, s);
				KUNIT_EXPECT_EQ(test, my_event_set_down(set), 0);
			}
			forgive(sim, others);
			test_expect_free(test, others);
			expect_theirs(test, sim, others);
		}
		KUNIT_EXPECT_EQ(test, err, 0);
		KUNIT_EXPECT_GT(test, nth, 50U);
	}
}

/* Each call of a read: it is told of, or nothing is lost; and the next ones are right. */
static void set_read_fails(struct kunit *test)
{
	const struct sim_pmu *pmu = test->param_value;
	struct my_pmu_sample *before = test_sample(test), *s = test_sample(test);
	struct my_event_set *set = test_set(test, pmu, few_events(pmu));
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	u32 others = let_others_in(sim);
	u64 clobbered, user, kernel;
	unsigned int i, nth, j;
	bool failed;
	int err;

	run_there(test);
	for (i = 0; i < ARRAY_SIZE(all_errs); i++) {
		for (nth = 1, failed = true; failed; nth++) {
			test_up(test, set);
			KUNIT_ASSERT_EQ(test, my_event_set_read(set, before), 0);
			user = 10;
			kernel = 3;
			sim_retire(sim, true, user);
			sim_retire(sim, false, kernel);
			sim->fail_nth = nth;
			sim->fail_err = all_errs[i];
			err = my_event_set_read(set, s);
			sim->fail_nth = 0;
			failed = sim->has_failed;
			clobbered = err ? 0 : s->marks.clobbered;
			KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
			clobbered |= s->marks.clobbered;
			for (j = 0; j < 2; j++) {
				if (clobbered & BIT_ULL(set->event[j].hw.idx))
					continue;
				KUNIT_EXPECT_EQ_MSG(test, s->count[j] - before->count[j],
						    expected(&set->event[j], user, kernel),
						    "call %u, error %ld", nth, all_errs[i]);
			}
			expect_counting(test, set, before, s);
			KUNIT_EXPECT_EQ(test, my_event_set_down(set), 0);
			forgive(sim, others);
			test_expect_free(test, others);
			expect_theirs(test, sim, others);
		}
		KUNIT_EXPECT_EQ(test, clobbered, 0ULL);
		KUNIT_EXPECT_GT(test, nth, 3U);
	}
}

/* Each call with which a set goes down: a counter that could not be stopped is told of. */
static void set_down_fails(struct kunit *test)
{
	const struct sim_pmu *pmu = test->param_value;
	struct my_event_set *set = test_set(test, pmu, few_events(pmu));
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	u32 others = let_others_in(sim);
	unsigned int i, nth;
	bool failed;
	int err;

	run_there(test);
	for (i = 0; i < ARRAY_SIZE(all_errs); i++) {
		for (nth = 1, failed = true; failed; nth++) {
			test_up(test, set);
			sim->fail_nth = nth;
			sim->fail_err = all_errs[i];
			err = my_event_set_down(set);
			sim->fail_nth = 0;
			failed = sim->has_failed;
			/* That it was stopped, or is nobody's, is as good. */
			if (failed && sim->failed.function == SIM_STOP)
				KUNIT_EXPECT_EQ_MSG(test, err,
						    all_errs[i] == SIM_ALREADY_STOPPED ||
						    all_errs[i] == SIM_INVALID_PARAM ? 0 : -EIO,
						    "call %u, error %ld", nth, all_errs[i]);
			forgive(sim, others);
			test_expect_free(test, others);
			expect_theirs(test, sim, others);
		}
		KUNIT_EXPECT_EQ(test, err, 0);
		KUNIT_EXPECT_GT(test, nth, 5U);
	}
}

/* Each call of a rotation: afterwards the next ones rotate and count. */
static void set_rotation_fails(struct kunit *test)
{
	struct my_event_set *set = test_set(test, PMU(FEW),
					    "instructions,cycles,dTLB-load-misses,branches,r1234");
	struct my_pmu_sample *before = test_sample(test), *s = test_sample(test);
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	unsigned int i, nth;
	bool failed;

	run_there(test);
	for (i = 0; i < ARRAY_SIZE(all_errs); i++) {
		for (nth = 1, failed = true; failed; nth++) {
			test_up(test, set);
			hrtimer_cancel(&set->timer.timer);
			sim->fail_nth = nth;
			sim->fail_err = all_errs[i];
			my_event_set_call(set, 0, rotate, NULL);
			sim->fail_nth = 0;
			failed = sim->has_failed;
			forgive(sim, 0);
			my_event_set_call(set, 0, rotate, NULL);
			/* What has failed is told once. */
			my_event_set_read(set, s);
			my_event_set_read(set, s);
			expect_counting(test, set, before, s);
			KUNIT_EXPECT_EQ(test, my_event_set_down(set), 0);
			test_expect_free(test, 0);
		}
		KUNIT_EXPECT_GT(test, nth, 5U);
	}
}

/* --- the self-test -------------------------------------------------------------------------- */

static const struct broken_row {
	const char *name;
	int pmu;
	const char *events;
	enum sim_broken broken;
	const char *why;	/* NULL: it passes */
} broken_rows[] = {
	{ "fixed2 stands still", WITHOUT, "instructions,branches", SIM_DEAD,
	  "fixed2 stands still: it counts no instructions in code of 2048 instructions" },
	{ "fixed2 counts half", WITHOUT, "instructions,branches", SIM_HALVED,
	  "fixed2 counts wrong: 1024 instructions where the CPU has executed 2048" },
	{ "gp5 counts half of the cycles", WITH, "cycles:u@gp5", SIM_HALVED,
	  "gp5 counts wrong: 1024 cycles in code of 2048 instructions; plausible are 1536 to 131072"
	},
	{ "fewer count than there are", WITH, "cycles@gp5,instructions@gp6", SIM_STARVED,
	  "gp6 stands still when 2 counters count together; alone it counts: fewer count at a time than there are, as in a virtual machine whose host has no more of them; count fewer events at a time"
	},
	{ "one counter for each event", WITH,
	  "cycles@gp5,instructions@gp6,branches,dTLB-load-misses",
	  SIM_SINGLE },
	{ "one counter for an event twice", WITH, "cycles@gp5,cycles:k@gp6", SIM_SINGLE,
	  "gp6 stands still when 2 counters count together; alone it counts: fewer count at a time than there are, as in a virtual machine whose host has no more of them; count fewer events at a time"
	},
	{ "what no known code causes", WITH, "branches,dTLB-load-misses", SIM_DEAD },
};

static void broken_desc(const struct broken_row *row, char *desc)
{
	strscpy(desc, row->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(broken, broken_rows, broken_desc);

static void set_is_broken(struct kunit *test)
{
	const struct broken_row *row = test->param_value;
	struct my_event_set *set = test_set(test, PMU(row->pmu), row->events);
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct my_pmu_why why = {};

	sim->broken = row->broken;
	sim->broken_counters = ~0U;
	KUNIT_EXPECT_EQ(test, my_event_set_up(set, &why), row->why ? -ENODEV : 0);
	if (row->why)
		KUNIT_EXPECT_STREQ(test, why.text, row->why);
	else
		KUNIT_EXPECT_EQ(test, my_event_set_down(set), 0);
	test_expect_free(test, 0);
}

/* Between the assignment and the start somebody else has come. */
static void set_is_late(struct kunit *test)
{
	struct my_event_set *set = test_set(test, PMU(WITH), "cycles:u,branches");
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct my_pmu_why why = {};

	KUNIT_ASSERT_EQ(test, set->used, GP(3) | GP(4));
	take(sim, 4, SIM_DTLB_READ_MISS, true);
	KUNIT_EXPECT_EQ(test, my_event_set_up(set, &why), -EBUSY);
	KUNIT_EXPECT_STREQ(test, why.text,
			   "gp4 is in use, by perf, or whoever else has asked the firmware (SBI) for it");
	leave(sim, 4, true);
	sim->fail_function = SIM_CFG_MATCH;
	sim->fail_err = SIM_NOT_SUPPORTED;
	KUNIT_EXPECT_EQ(test, my_event_set_up(set, &why), -EBUSY);
	KUNIT_EXPECT_STREQ(test, why.text,
			   "the firmware (SBI) gives no counter for an event");
	sim->fail_function = 0;
	test_expect_free(test, 0);
	test_up(test, set);
	KUNIT_EXPECT_EQ(test, my_event_set_down(set), 0);
}

/* What other back ends do with registers that counters share is no call here. */
static void nothing_on_cpu(void *data)
{
	struct my_pmu_cpu *cpu = data;
	const struct my_x86_pmu *pmu = &cpu->pmu;
	struct my_pmu_snapshot *unused = NULL;

	if (pmu->ops->save(pmu, &cpu->state, ~0ULL) || pmu->ops->restore(pmu, &cpu->state, ~0ULL) ||
	    pmu->ops->start(pmu, &cpu->state, ~0ULL, ~0ULL) ||
	    pmu->ops->start_beside(pmu, &cpu->state, ~0ULL, ~0ULL, ~0ULL) ||
	    pmu->ops->put_back(pmu, &cpu->state, unused, ~0ULL) ||
	    pmu->ops->snapshot(pmu, &cpu->state, unused))
		cpu->disturbed = true;
}

static void set_nothing(struct kunit *test)
{
	struct my_pmu_cpu *cpu = test_probed_cpu(test, PMU(WITH));

	KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, nothing_on_cpu, cpu));
	KUNIT_EXPECT_FALSE(test, cpu->disturbed);
	test_expect_calls(test, "");
}

static void set_exit(struct kunit *test)
{
	test_expect_good_manners(test);
}

static struct kunit_case set_cases[] = {
	KUNIT_CASE_PARAM(set_counts, test_pmu_gen_params),
	KUNIT_CASE(set_calls),
	KUNIT_CASE(set_wraps),
	KUNIT_CASE(set_beside_set),
	KUNIT_CASE(set_of_cpus),
	KUNIT_CASE(set_rotates),
	KUNIT_CASE(set_rotates_beside),
	KUNIT_CASE(set_beside_perf),
	KUNIT_CASE_PARAM(set_is_stopped, theft_gen_params),
	KUNIT_CASE(set_is_taken),
	KUNIT_CASE_PARAM(set_is_broken, broken_gen_params),
	KUNIT_CASE(set_is_late),
	KUNIT_CASE(set_nothing),
	KUNIT_CASE_PARAM(set_read_fails, test_pmu_gen_params),
	KUNIT_CASE_PARAM(set_down_fails, test_pmu_gen_params),
	KUNIT_CASE(set_rotation_fails),
	KUNIT_CASE_PARAM(set_up_fails, test_pmu_gen_params),
	{}
};

static struct kunit_suite set_suite = {
	.name = "my_pmu_sbi_set",
	.exit = set_exit,
	.test_cases = set_cases,
};

kunit_test_suite(set_suite);
