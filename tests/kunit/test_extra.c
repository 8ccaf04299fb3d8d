// SPDX-License-Identifier: GPL-2.0
/*
 * Events that need an extra register: which one each has, beside others of its set and of
 * other sets; what is written there, looked at, and put back.
 */
#include "pmu_schedule.h"
#include "test.h"

#define RSP(value)	"cpu/event=0xb7,umask=1,config1=" #value "/u"
#define TWIN(value)	"cpu/event=0xbb,umask=1,config1=" #value "/u"
#define FRONTEND(value)	"cpu/event=0xc6,umask=1,config1=" #value "/u"
#define TAKEN(event, msr, value) \
	"'" event "': what it needs in register " #msr " is " #value			\
	", and events that are counted at the same time on CPU 1 need something else there"

#define UNKNOWN(event) \
	"'" event "': CPU 1 needs an extra register for it, which is not programmed here"

/* As perf says it (pmu_names.c). */
static void find_registers(struct my_perf_event_attr *attr)
{
	switch (attr->config) {
	case 0x1b7:
		attr->extra.msr = 0x1a6;
		attr->extra.other_msr = 0x1a7;
		attr->extra.other_code = 0x1bb;
		break;
	case 0x1bb:
		attr->extra.msr = 0x1a7;
		attr->extra.other_msr = 0x1a6;
		attr->extra.other_code = 0x1b7;
		break;
	case 0x1c6:
		attr->extra.msr = 0x3f7;
		break;
	case 0x1cd:
		attr->extra.msr = 0x3f6;
		break;
	}
}

static int assign(struct kunit *test, struct my_event_set *set, const char *events,
		  struct my_pmu_why *why)
{
	struct my_perf_event_attr *attr;
	int nr, i;

	attr = kunit_kcalloc(test, MY_EVENTS_MAX, sizeof(*attr), GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, attr);
	nr = my_parse_events(events, attr, MY_EVENTS_MAX, why);
	KUNIT_ASSERT_GT_MSG(test, nr, 0, "%s", why->text);
	for (i = 0; i < nr; i++)
		find_registers(&attr[i]);
	return test_assign(set, attr, nr, why);
}

static struct my_event_set *another(struct kunit *test)
{
	struct my_event_set *set = kunit_kzalloc(test, sizeof(*set), GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, set);
	my_event_set_init(set, my_pmu_cpu_of(TEST_CPU));
	return set;
}

static struct my_event_set *new_set(struct kunit *test, const char *events)
{
	struct my_event_set *set = test_set(test, PMU(V4), "cycles");
	struct my_pmu_why why;

	KUNIT_ASSERT_EQ_MSG(test, assign(test, set, events, &why), 0, "%s", why.text);
	test_leave_traces(sim_cpu(TEST_CPU));
	return set;
}

/**
 * struct extra_case - events, and the registers that they have
 * @events: as a user writes them
 * @msr: of each event its register, 0 is none
 * @rotations: how many there are
 * @why: it is refused, because
 */
struct extra_case {
	const char *events;
	u16 msr[6];
	unsigned int rotations;
	const char *why;
};

static const struct extra_case extra_cases[] = {
	{ RSP(5) ",cycles", { 0x1a6, 0 }, 1 },
	{ RSP(5) "," RSP(5) "," TWIN(5), { 0x1a6, 0x1a6, 0x1a6 }, 1 },
	{ RSP(5) "," RSP(6) "," TWIN(6) "," TWIN(5), { 0x1a6, 0x1a7, 0x1a7, 0x1a6 }, 1 },
	{ FRONTEND(1) "," RSP(1) "," FRONTEND(1), { 0x3f7, 0x1a6, 0x3f7 }, 1 },
	/* they take turns */
	{ FRONTEND(1) "," FRONTEND(2), { 0x3f7, 0x3f7 }, 2 },
	{ RSP(1) "," RSP(2) "," RSP(3), { 0x1a6, 0x1a7, 0x1a6 }, 2 },
	{ RSP(1) "," RSP(2) "," RSP(3) "," RSP(1), { 0x1a6, 0x1a7, 0x1a6, 0x1a6 }, 3 },
	{ "{" RSP(1) "," RSP(2) "},{" RSP(3) "," RSP(4) "}", { 0x1a6, 0x1a7, 0x1a6, 0x1a7 }, 2 },
	{ "{" RSP(1) "," RSP(2) "},{" RSP(2) "," RSP(3) "}", { 0x1a6, 0x1a7, 0x1a7, 0x1a6 }, 2 },
	/* what is always on chooses first, and so does its group */
	{ RSP(1) "," RSP(2) "," RSP(3) "@gp1", { 0x1a7, 0x1a7, 0x1a6 }, 2 },
	{ RSP(1) "," RSP(2) ",{cycles@gp3," RSP(3) "}", { 0x1a7, 0x1a7, 0, 0x1a6 }, 2 },
	{ RSP(1) "@gp0," RSP(2) "@gp1," RSP(3), .why = TAKEN(RSP(3), 0x1a6, 0x3) },
	{ "{" RSP(1) "," RSP(2) "," TWIN(3) "}", .why = TAKEN(TWIN(3), 0x1a7, 0x3) },
	{ "{" FRONTEND(1) "," FRONTEND(2) "}", .why = TAKEN(FRONTEND(2), 0x3f7, 0x2) },
	{ FRONTEND(1) "D,cycles," FRONTEND(2), .why = TAKEN(FRONTEND(2), 0x3f7, 0x2) },
	{ "cpu/event=0xcd,umask=1,config1=3/u",
	  .why = UNKNOWN("cpu/event=0xcd,umask=1,config1=3/u") },
};

static void extra_desc(const struct extra_case *t, char *desc)
{
	strscpy(desc, t->events, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(extra, extra_cases, extra_desc);

/* Which event goes with which register. */
static void expect_code(struct kunit *test, const struct my_perf_event *event, u16 msr)
{
	static const u16 codes[][2] = { { 0x1a6, 0x1b7 }, { 0x1a7, 0x1bb }, { 0x3f7, 0x1c6 } };
	unsigned int i;

	KUNIT_EXPECT_EQ_MSG(test, event->attr.extra.msr, msr, "%s", event->attr.name);
	for (i = 0; i < ARRAY_SIZE(codes); i++) {
		if (codes[i][0] == msr)
			KUNIT_EXPECT_EQ(test, event->attr.config & 0xffff, codes[i][1]);
	}
}

static void extra_assign(struct kunit *test)
{
	const struct extra_case *t = test->param_value;
	struct my_event_set *set = test_set(test, PMU(V4), "cycles");
	struct my_pmu_why why = {};
	unsigned int i, j, k;
	int err = assign(test, set, t->events, &why);

	KUNIT_ASSERT_EQ_MSG(test, !!err, !!t->why, "%s", why.text);
	if (t->why) {
		KUNIT_EXPECT_STREQ(test, why.text, t->why);
		KUNIT_EXPECT_EQ(test, set->cpu->used, 0ULL);
		return;
	}
	for (i = 0; i < set->nr_events; i++)
		expect_code(test, &set->event[i], t->msr[i]);
	KUNIT_EXPECT_EQ(test, set->schedule.nr_rotations, t->rotations);
	for (i = 0; i < set->schedule.nr_rotations; i++) {
		u64 events = set->schedule.rotation[i].events;

		for (j = 0; j < set->nr_events; j++) {
			for (k = 0; k < j; k++) {
				const struct my_extra_reg *a = &set->event[j].attr.extra;
				const struct my_extra_reg *b = &set->event[k].attr.extra;

				KUNIT_EXPECT_FALSE(test, events & BIT_ULL(j) &&
						   events & BIT_ULL(k) && a->msr &&
						   a->msr == b->msr && a->config != b->config);
			}
		}
	}
	my_event_set_release(set);
}

/* Events of two sets share what they want alike, and the last one puts it back. */
static void extra_sets(struct kunit *test)
{
	struct my_event_set *set = new_set(test, RSP(5)), *same, *other, *late;
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct sim_registers before = sim->regs;
	struct my_pmu_why why;

	same = another(test);
	other = another(test);
	late = another(test);
	KUNIT_ASSERT_EQ(test, assign(test, same, TWIN(5), &why), 0);
	expect_code(test, &same->event[0], 0x1a6);
	KUNIT_ASSERT_EQ(test, assign(test, other, RSP(6), &why), 0);
	expect_code(test, &other->event[0], 0x1a7);
	KUNIT_EXPECT_EQ(test, assign(test, late, RSP(7), &why), -ENOSPC);
	KUNIT_EXPECT_STREQ(test, why.text, TAKEN(RSP(7), 0x1a6, 0x7));
	/* Not even one of several, in turns. */
	KUNIT_EXPECT_EQ(test, assign(test, late, RSP(6) "," RSP(7), &why), -ENOSPC);
	test_up(test, set);
	KUNIT_EXPECT_EQ(test, sim->regs.extra[0], 5ULL);
	KUNIT_EXPECT_EQ(test, sim->regs.extra[1], before.extra[1]);
	test_up(test, same);
	test_up(test, other);
	KUNIT_EXPECT_EQ(test, sim->regs.extra[0], 5ULL);
	KUNIT_EXPECT_EQ(test, sim->regs.extra[1], 6ULL);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
	KUNIT_EXPECT_EQ(test, sim->regs.extra[0], 5ULL);
	KUNIT_ASSERT_EQ(test, my_event_set_down(other), 0);
	KUNIT_EXPECT_EQ(test, sim->regs.extra[1], before.extra[1]);
	KUNIT_ASSERT_EQ(test, my_event_set_down(same), 0);
	test_expect_registers(test, PMU(V4), &before, &sim->regs);
	/* What nobody has any more another set can have. */
	my_event_set_release(set);
	my_event_set_release(same);
	KUNIT_ASSERT_EQ(test, assign(test, late, TWIN(7), &why), 0);
	expect_code(test, &late->event[0], 0x1a6);
	my_event_set_release(late);
	my_event_set_release(other);
}

struct read_there {
	struct my_perf_event *event;
	u64 count;
	int err;
};

static long read_there(void *data)
{
	struct read_there *read = data;

	read->err = my_perf_event_read(read->event, &read->count);
	return 0;
}

static void happen(void *unused)
{
	sim_retire(sim_cpu(TEST_CPU), 0xb7, 1, true, 10);
	sim_retire(sim_cpu(TEST_CPU), 0xbb, 1, true, 20);
	sim_retire(sim_cpu(TEST_CPU), 0xc6, 1, true, 30);
}

/* It is counted, by captures and on the CPU itself; whoever writes the register is noticed. */
static void extra_counts(struct kunit *test)
{
	static const u64 counts[] = { 10, 20, 30 };
	struct my_event_set *set = new_set(test, RSP(5) "," RSP(6) "," FRONTEND(7));
	struct my_pmu_sample *s = test_sample(test);
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct sim_registers before = sim->regs;
	struct read_there r = {};
	unsigned int i;

	test_up(test, set);
	KUNIT_EXPECT_TRUE(test, set->plan.valid);
	KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, happen, NULL));
	KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
	KUNIT_EXPECT_EQ(test, set->plan.end - set->plan.first, 6U);
	for (i = 0; i < 3; i++) {
		KUNIT_EXPECT_EQ(test, s->count[i], counts[i]);
		r.event = &set->event[i];
		KUNIT_ASSERT_EQ(test, work_on_cpu(TEST_CPU, read_there, &r), 0L);
		KUNIT_EXPECT_EQ(test, r.err, 0);
		KUNIT_EXPECT_EQ(test, r.count, counts[i]);
	}
	for (i = 0; i < 3; i++) {
		sim->regs.extra[i] = 0x100;
		KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
		KUNIT_EXPECT_EQ(test, s->marks.clobbered, BIT_ULL(set->event[i].hw.idx));
		KUNIT_EXPECT_EQ(test, sim->regs.extra[i], 5ULL + i);
		KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, happen, NULL));
		KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
		KUNIT_EXPECT_EQ(test, s->marks.clobbered | s->marks.late, 0ULL);
		KUNIT_EXPECT_EQ(test, s->count[i], (i + 2) * counts[i]);
		sim->regs.extra[i] |= BIT_ULL(36);
		r.event = &set->event[i];
		KUNIT_ASSERT_EQ(test, work_on_cpu(TEST_CPU, read_there, &r), 0L);
		KUNIT_EXPECT_EQ(test, r.err, -ESTALE);
	}
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
	test_expect_registers(test, PMU(V4), &before, &sim->regs);
}

/*
 * What all users of a register have counted since somebody else wrote it is lost, not only
 * what the first of them has that looks.
 */
static void extra_shared_theft(struct kunit *test)
{
	struct my_event_set *set = new_set(test, RSP(5) "," RSP(5)), *other;
	struct my_pmu_sample *s = test_sample(test);
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct sim_registers before = sim->regs;
	struct my_pmu_why why;

	test_up(test, set);
	sim->regs.extra[0] = 0x100;
	KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, happen, NULL));
	KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
	KUNIT_EXPECT_EQ(test, s->marks.clobbered, set->used);
	KUNIT_EXPECT_EQ(test, s->count[0] + s->count[1], 0ULL);
	KUNIT_EXPECT_EQ(test, sim->regs.extra[0], 5ULL);
	KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, happen, NULL));
	KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
	KUNIT_EXPECT_EQ(test, s->marks.clobbered, 0ULL);
	KUNIT_EXPECT_EQ(test, s->count[0], 10ULL);
	KUNIT_EXPECT_EQ(test, s->count[1], 10ULL);

	/* An event of another set that begins finds it so. */
	other = another(test);
	KUNIT_ASSERT_EQ(test, assign(test, other, TWIN(5), &why), 0);
	sim->regs.extra[0] = 0x100;
	test_up(test, other);
	KUNIT_EXPECT_EQ(test, sim->regs.extra[0], 5ULL);
	KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
	KUNIT_EXPECT_EQ(test, s->marks.clobbered, set->used);
	KUNIT_ASSERT_EQ(test, my_event_set_read(other, s), 0);
	KUNIT_EXPECT_EQ(test, s->marks.clobbered, 0ULL);

	/* The other set looks first. */
	sim->regs.extra[0] = 0x100;
	KUNIT_ASSERT_EQ(test, my_event_set_read(other, s), 0);
	KUNIT_EXPECT_EQ(test, s->marks.clobbered, other->used);
	KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
	KUNIT_EXPECT_EQ(test, s->marks.clobbered, set->used);

	/* A counter that has gone is nobody's: its event select stays as it was before. */
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
	sim->regs.extra[0] = 0x100;
	KUNIT_ASSERT_EQ(test, my_event_set_read(other, s), 0);
	KUNIT_ASSERT_EQ(test, my_event_set_down(other), 0);
	test_expect_registers(test, PMU(V4), &before, &sim->regs);
	my_event_set_release(other);
}

/* perf may know another register that does as well, and the back end does not. */
static void extra_unknown_other(struct kunit *test)
{
	struct my_event_set *set = test_set(test, PMU(V4), "cycles");
	struct my_perf_event_attr *attr;
	struct my_pmu_why why;
	int i;

	attr = kunit_kcalloc(test, MY_EVENTS_MAX, sizeof(*attr), GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, attr);
	KUNIT_ASSERT_EQ(test, my_parse_events(RSP(1) "D," RSP(2), attr, MY_EVENTS_MAX, &why), 2);
	for (i = 0; i < 2; i++) {
		find_registers(&attr[i]);
		attr[i].extra.other_msr = 0x3e1;
	}
	KUNIT_EXPECT_EQ(test, test_assign(set, attr, 2, &why), -ENOSPC);
	KUNIT_EXPECT_STREQ(test, why.text, TAKEN(RSP(2), 0x1a6, 0x2));
}

/* Each rotation has its own values, and what was there before comes back. */
static void extra_rotate(struct kunit *test)
{
	struct my_event_set *set = new_set(test, RSP(1) "," RSP(2) "," RSP(3));
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct sim_registers before = sim->regs;
	unsigned int n, i;

	test_up_without_timer(test, set);
	for (n = 0; n < 6; n++) {
		for (i = 0; i < 3; i++) {
			const struct my_perf_event *event = &set->event[i];

			if (set->active & BIT_ULL(i))
				KUNIT_EXPECT_EQ(test, 1ULL + i,
						sim->regs.extra[event->attr.extra.msr - 0x1a6]);
		}
		KUNIT_ASSERT_EQ(test, test_rotate(set), 0);
	}
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
	test_expect_registers(test, PMU(V4), &before, &sim->regs);
}

/* Whichever access fails, all is as before; and a value that faults. */
static void extra_fails(struct kunit *test)
{
	struct my_event_set *set = new_set(test, RSP(5) "," TWIN(5) "," RSP(6));
	struct my_pmu_sample *s = test_sample(test);
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct sim_registers before = sim->regs, wanted;
	struct my_pmu_why why;
	unsigned int nth;
	int err;

	test_run_there(test);
	for (nth = 1; ; nth++) {
		sim->fail_nth = nth;
		if (!test_try_up(set))
			break;
		KUNIT_ASSERT_EQ(test, sim->fail_nth, 0U);
		wanted = before;
		test_forgive_restoring(&wanted, sim);
		test_expect_registers(test, PMU(V4), &wanted, &sim->regs);
		sim->regs = before;
	}
	sim->fail_nth = 0;
	/* A theft that cannot be mended is found again. */
	for (nth = 1; ; nth++) {
		sim->regs.extra[0] = 0x100;
		sim->fail_nth = nth;
		err = my_event_set_read(set, s);
		if (sim->fail_nth)
			break;
		KUNIT_EXPECT_EQ(test, err, -EIO);
		my_event_set_read(set, s);	/* so that it is captured the next time */
	}
	sim->fail_nth = 0;
	KUNIT_EXPECT_EQ(test, sim->regs.extra[0], 5ULL);
	KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
	KUNIT_EXPECT_EQ(test, s->marks.clobbered, 0ULL);
	for (nth = 1; ; nth++) {
		sim->fail_nth = nth;
		if (!my_event_set_down(set))
			break;
		KUNIT_ASSERT_EQ(test, sim->fail_nth, 0U);
		wanted = before;
		test_forgive_restoring(&wanted, sim);
		test_expect_registers(test, PMU(V4), &wanted, &sim->regs);
		sim->regs = before;
		test_up(test, set);
	}
	KUNIT_EXPECT_GT(test, nth, 20U);
	sim->fail_nth = 0;
	test_expect_registers(test, PMU(V4), &before, &sim->regs);
	KUNIT_ASSERT_EQ(test, assign(test, set, RSP(0x2000000000), &why), 0);
	KUNIT_EXPECT_EQ(test, test_try_up(set), -EIO);
	test_expect_registers(test, PMU(V4), &before, &sim->regs);
	my_event_set_release(set);
}

/* More places than a capture has: the CPU itself reads. */
static void extra_places(struct kunit *test)
{
	struct my_event_set *set = test_set(test, PMU(V4_64), "cycles");
	struct my_perf_event_attr *attr;
	struct my_pmu_why why;
	unsigned int nr, i;

	attr = kunit_kcalloc(test, SIM_GENERIC, sizeof(*attr), GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, attr);
	KUNIT_ASSERT_EQ(test, my_parse_events(RSP(5), attr, 1, &why), 1);
	find_registers(attr);
	attr->counters = MY_GENERIC_COUNTERS;
	for (i = 1; i < SIM_GENERIC; i++)
		attr[i] = attr[0];
	for (nr = 16; nr < SIM_GENERIC; nr++) {
		KUNIT_ASSERT_EQ(test, test_assign(set, attr, nr, &why), 0);
		test_up(test, set);
		KUNIT_EXPECT_EQ(test, set->plan.valid, nr == 16);
		KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
	}
	my_event_set_release(set);
}

static struct kunit_case extra_test_cases[] = {
	KUNIT_CASE_PARAM(extra_assign, extra_gen_params),
	KUNIT_CASE(extra_sets),
	KUNIT_CASE(extra_counts),
	KUNIT_CASE(extra_shared_theft),
	KUNIT_CASE(extra_unknown_other),
	KUNIT_CASE(extra_rotate),
	KUNIT_CASE(extra_fails),
	KUNIT_CASE(extra_places),
	{}
};

static struct kunit_suite extra_suite = {
	.name = "my_pmu_extra",
	.exit = test_expect_good_manners,
	.test_cases = extra_test_cases,
};

kunit_test_suite(extra_suite);
