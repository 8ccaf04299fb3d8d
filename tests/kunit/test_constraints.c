// SPDX-License-Identifier: GPL-2.0
/*
 * Random sets of events on the counter constraints of ten models: no event is put on a
 * counter that does not count it, and whatever can be counted at the same time is.
 *
 * Which counters count an event on a model is what Linux has in
 * arch/x86/events/intel/core.c of 6.12, in intel_*_event_constraints; of several there the
 * first that fits.  (Broadwell's for 08a3 fits more events there, by some of their bits.)
 * Whether events can have different counters says Hall's theorem: they can if any number of
 * them have as many counters at least.
 */
#include <linux/perf_event.h>
#include <linux/prandom.h>

#include "pmu_names.h"
#include "pmu_perf.h"
#include "test.h"

/* perf.h's number, written here once more; and INT, USR and OS, which perf sets. */
#define RAW		4
#define PERFS		0x130000

/* --- ten models --------------------------------------------------------------------- */

#define ALL_UMASKS	0xffff
#define RULES		32

/**
 * struct rule - some events of a model, and their counters
 * @first: event select
 * @last: event select, of the last of a range; 0 if there is no range
 * @umask: unit mask, or ALL_UMASKS
 * @counters: those that count them; a generic one that the CPU does not have does not
 */
struct rule {
	u8 first, last;
	u16 umask;
	u64 counters;
};

#define FIXED(n)	BIT_ULL(32 + (n))

/* Of all models that have so many; generic counters count what has an event select, too. */
static const struct rule fixed_rules[] = {
	{ 0xc0, 0, 0x00, ~0U | FIXED(0) },
	{ 0x3c, 0, 0x00, ~0U | FIXED(1) },
	{ 0x00, 0, 0x03, FIXED(2) },
	{ 0x00, 0, 0x04, FIXED(3) },
};

/* Loads and stores that have retired, from Sandy Bridge to Skylake. */
#define RETIRED_MEMORY						\
	{ 0xd0, 0xd2, ALL_UMASKS, 0xf }

/**
 * struct model - a CPU, and what is special about its counters
 * @pmu: what its CPUID says
 * @rules: those of fixed counters come before; the first that fits an event is the event's
 */
struct model {
	struct sim_pmu pmu;
	struct rule rules[RULES];
};

static const struct model models[] = {
	{
		{ .name = "Core 2", .model = 15, .version = 2, .gp = 2, .width = 40,
		  .fixed = 3, .fixed_width = 40, .ebx_length = 7 },
		{ { 0x10, 0, ALL_UMASKS, 0x1 }, { 0x11, 0x13, ALL_UMASKS, 0x2 },
		  { 0x14, 0, ALL_UMASKS, 0x1 }, { 0x18, 0, ALL_UMASKS, 0x1 },
		  { 0x19, 0, ALL_UMASKS, 0x2 }, { 0xa1, 0, ALL_UMASKS, 0x1 },
		  { 0xc9, 0, ALL_UMASKS, 0x1 }, { 0xcb, 0, ALL_UMASKS, 0x1 } },
	}, {
		{ .name = "Silvermont", .model = 55, .version = 3, .gp = 2, .width = 40,
		  .fixed = 3, .fixed_width = 40, .ebx_length = 7 },
		{ },
	}, {
		{ .name = "Sandy Bridge", .model = 42, .version = 3, .gp = 8, .width = 48,
		  .fixed = 3, .fixed_width = 48, .ebx_length = 7 },
		{ { 0xa3, 0, 0x04, 0xf }, { 0xa3, 0, 0x05, 0xf }, { 0xa3, 0, 0x02, 0x4 },
		  { 0xa3, 0, 0x06, 0x4 }, { 0x48, 0, ALL_UMASKS, 0x4 },
		  { 0xc0, 0, 0x01, 0x2 }, { 0xcd, 0, ALL_UMASKS, 0x8 },
		  RETIRED_MEMORY, { 0xd3, 0, ALL_UMASKS, 0xf } },
	}, {
		{ .name = "Ivy Bridge", .model = 58, .version = 3, .gp = 4, .width = 48,
		  .fixed = 3, .fixed_width = 48, .ebx_length = 7 },
		{ { 0x48, 0, 0x01, 0x4 }, { 0x79, 0, 0x02, 0xf }, { 0x9c, 0, 0x01, 0xf },
		  { 0xa3, 0, 0x02, 0xf }, { 0xa3, 0, 0x04, 0xf }, { 0xa3, 0, 0x05, 0xf },
		  { 0xa3, 0, 0x06, 0xf }, { 0xa3, 0, 0x08, 0x4 }, { 0xa3, 0, 0x0c, 0x4 },
		  { 0xc0, 0, 0x01, 0x2 },
		  RETIRED_MEMORY, { 0xd3, 0, ALL_UMASKS, 0xf } },
	}, {
		{ .name = "Haswell", .model = 60, .version = 3, .gp = 8, .width = 48,
		  .fixed = 3, .fixed_width = 48, .ebx_length = 7 },
		{ { 0x48, 0, 0x01, 0x4 }, { 0xc0, 0, 0x01, 0x2 },
		  { 0xcd, 0, ALL_UMASKS, 0x8 }, { 0xa3, 0, 0x08, 0x4 },
		  { 0xa3, 0, 0x0c, 0x4 }, { 0xa3, 0, 0x04, 0xf },
		  RETIRED_MEMORY, { 0xd3, 0, ALL_UMASKS, 0xf } },
	}, {
		{ .name = "Broadwell", .model = 61, .version = 3, .gp = 8, .width = 48,
		  .fixed = 3, .fixed_width = 48, .ebx_length = 7 },
		{ { 0x48, 0, 0x01, 0x4 }, { 0xa3, 0, 0x08, 0x4 }, { 0xa3, 0, 0x0c, 0x4 },
		  RETIRED_MEMORY, { 0xcd, 0, ALL_UMASKS, 0xf } },
	}, {
		{ .name = "Skylake", .model = 94, .version = 4, .gp = 8, .width = 48,
		  .fixed = 3, .fixed_width = 48, .ebx_length = 7 },
		{ { 0xc0, 0, 0x01, 0x2 }, RETIRED_MEMORY,
		  { 0xcd, 0, ALL_UMASKS, 0xf }, { 0xc6, 0, ALL_UMASKS, 0xf } },
	}, {
		{ .name = "Ice Lake", .model = 125, .version = 5, .gp = 8, .width = 48,
		  .fixed = 4, .fixed_width = 48, .fixed_bitmap = 0xf, .ebx_length = 8 },
		{ { 0xc0, 0, 0x01, ~0U | FIXED(0) },
		  { 0x03, 0x0a, ALL_UMASKS, 0xf }, { 0x1f, 0x28, ALL_UMASKS, 0xf },
		  { 0x32, 0, ALL_UMASKS, 0xf }, { 0x48, 0x56, ALL_UMASKS, 0xf },
		  { 0x60, 0x8b, ALL_UMASKS, 0xf }, { 0xa3, 0, 0x04, 0xff },
		  { 0xa3, 0, 0x10, 0xff }, { 0xa3, 0, 0x14, 0xff },
		  { 0xa3, 0, ALL_UMASKS, 0xf }, { 0xa8, 0xb0, ALL_UMASKS, 0xf },
		  { 0xb7, 0xbd, ALL_UMASKS, 0xf }, { 0xd0, 0xe6, ALL_UMASKS, 0xf },
		  { 0xef, 0xf4, ALL_UMASKS, 0xf } },
	}, {
		{ .name = "Golden Cove", .model = 143, .version = 5, .gp = 8, .width = 48,
		  .fixed = 4, .fixed_width = 48, .fixed_bitmap = 0xf, .ebx_length = 8 },
		{ { 0x3c, 0, 0x01, ~0U | FIXED(2) },
		  { 0x2e, 0, ALL_UMASKS, 0xff }, { 0x3c, 0, ALL_UMASKS, 0xff },
		  { 0x01, 0x8f, ALL_UMASKS, 0xf }, { 0xa3, 0, 0x01, 0xf },
		  { 0xa3, 0, 0x02, 0xf }, { 0xa3, 0, 0x08, 0xf }, { 0xa4, 0, 0x04, 0x1 },
		  { 0xa4, 0, 0x08, 0x1 }, { 0xcd, 0, 0x02, 0x1 },
		  { 0xce, 0, ALL_UMASKS, 0x1 }, { 0xd0, 0xdf, ALL_UMASKS, 0xf } },
	}, {
		{ .name = "Lion Cove", .model = 189, .version = 6, .gp = 8, .width = 48,
		  .gp_bitmap = 0x3ff, .fixed = 4, .fixed_width = 48, .fixed_bitmap = 0xf,
		  .ebx_length = 8 },
		{ { 0x3c, 0, 0x01, ~0U | FIXED(2) },
		  { 0x20, 0, ALL_UMASKS, 0xf }, { 0x2a, 0x2b, 0x01, 0xf },
		  { 0x48, 0, 0x01, 0x4 }, { 0x75, 0, 0x01, 0x4 }, { 0xa3, 0, 0x08, 0x4 },
		  { 0xa3, 0, 0x0c, 0x4 }, { 0xa4, 0, 0x04, 0x1 }, { 0xa4, 0, 0x08, 0x1 },
		  { 0xa4, 0, 0x10, 0x8 }, { 0xb1, 0, 0x01, 0x8 }, { 0xcd, 0, 0x01, 0x3fc },
		  { 0xcd, 0, 0x02, 0x3 }, { 0xd0, 0, 0x87, 0x3ff },
		  { 0xd0, 0xdf, ALL_UMASKS, 0xf },
		  { 0xe0, 0, 0x00, 0xf } },
	},
};

static void model_desc(const struct model *model, char *desc)
{
	strscpy(desc, model->pmu.name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(model, models, model_desc);

/* Behind the last one is one without counters. */
static const struct rule *rule_at(const struct model *model, unsigned int n)
{
	return n < model->pmu.fixed ? &fixed_rules[n] : &model->rules[n - model->pmu.fixed];
}

static bool fits(const struct rule *rule, u16 code)
{
	u8 event = code, last = rule->last ?: rule->first;

	return event >= rule->first && event <= last &&
	       (rule->umask == ALL_UMASKS || rule->umask == code >> 8);
}

/* The counters of the model that count this event. */
static u64 counters_of(const struct model *model, u16 code)
{
	u64 exist = (u64)(model->pmu.fixed_bitmap ?: 7) << 32 |
		    (model->pmu.gp_bitmap ?: GENMASK(model->pmu.gp - 1, 0));
	unsigned int n;

	for (n = 0; rule_at(model, n)->counters; n++) {
		if (fits(rule_at(model, n), code))
			return rule_at(model, n)->counters & exist;
	}
	return code & 0xff ? exist & ~0U : 0;
}

/* --- random events ------------------------------------------------------------------ */

#define POOL		40
#define MOST_EVENTS	12
#define SETS		1000
#define SEED		20261124

/**
 * struct pool - events of a model, as the module has them
 * @attr: with what perf says of them
 * @perf: that
 * @counters: those that count them
 */
struct pool {
	struct my_perf_event_attr attr[POOL];
	struct sim_perf_event perf[POOL];
	u64 counters[POOL];
};

/* Of each rule one, and then as many of any kind, and so forth. */
static u16 invent_event(const struct model *model, unsigned int n, struct rnd_state *rnd)
{
	u32 random = prandom_u32_state(rnd);
	u8 event = 1 + random % 255, umask = random >> 8 & 15;
	const struct rule *rule;
	unsigned int rules;

	for (rules = 0; rule_at(model, rules)->counters; rules++)
		;
	if (n % (2 * rules) < rules) {
		rule = rule_at(model, n % (2 * rules));
		event = rule->first;
		if (rule->last)
			event += (random >> 12) % (rule->last - rule->first + 1);
		if (rule->umask != ALL_UMASKS)
			umask = rule->umask;
	}
	return umask << 8 | event;
}

/* As at load: each is parsed, and perf is asked for it. */
static struct pool *make_pool(struct kunit *test, const struct model *model,
			      struct rnd_state *rnd)
{
	struct pool *pool = kunit_kzalloc(test, sizeof(*pool), GFP_KERNEL);
	struct my_pmu_why why;
	char text[16];
	unsigned int i;
	void *held;
	int err;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, pool);
	for (i = 0; i < POOL; i++) {
		u16 code = invent_event(model, i, rnd);

		pool->counters[i] = counters_of(model, code);
		pool->perf[i] = (struct sim_perf_event) {
			.type = RAW, .config = code, .answer = PERFS | code,
			.counters = pool->counters[i],
		};
		snprintf(text, sizeof(text), "r%x", code);
		KUNIT_ASSERT_EQ(test, my_parse_events(text, &pool->attr[i], 1, &why), 1);
	}
	sim_perf = (struct sim_perf) { .events = pool->perf, .nr = POOL };
	held = my_perf_hold(TEST_CPU, NULL);
	for (i = 0; i < POOL; i++) {
		err = my_names_resolve(&my_pmu_cpu_of(TEST_CPU)->pmu, TEST_CPU, true,
				       &pool->attr[i], &why);
		KUNIT_ASSERT_EQ_MSG(test, err, 0, "%s", why.text);
	}
	my_perf_let_go(held);
	KUNIT_EXPECT_EQ(test, sim_perf.wrong, 0U);
	memset(&sim_perf, 0, sizeof(sim_perf));
	return pool;
}

/**
 * struct random_set - some of them, in groups
 * @attr: the events
 * @counters: of each those that count it
 * @nr: how many
 * @group: of each group its events, by place
 * @nr_groups: how many
 * @always: events that are always on, by place
 */
struct random_set {
	struct my_perf_event_attr attr[MOST_EVENTS];
	u64 counters[MOST_EVENTS];
	unsigned int nr;
	u64 group[MOST_EVENTS];
	unsigned int nr_groups;
	u64 always;
};

/* In a third of them each event is alone, another third is one group; some are pinned. */
static void invent_set(struct random_set *set, const struct pool *pool, struct rnd_state *rnd)
{
	u32 random = prandom_u32_state(rnd), kind = random % 3;
	unsigned int i, n;

	set->nr = 1 + random / 3 % MOST_EVENTS;
	set->nr_groups = 0;
	set->always = 0;
	for (i = 0; i < set->nr; i++) {
		random = prandom_u32_state(rnd);
		n = random % POOL;
		if (!i || kind == 0 || (kind == 1 && random >> 28 < 6))
			set->group[set->nr_groups++] = 0;
		set->attr[i] = pool->attr[n];
		set->counters[i] = pool->counters[n];
		set->attr[i].group = set->nr_groups - 1;
		set->attr[i].pinned = (random >> 20 & 15) == 0;
		set->group[set->nr_groups - 1] |= BIT_ULL(i);
	}
	for (i = 0; i < set->nr; i++) {
		if (set->attr[i].pinned)
			set->always |= set->group[set->attr[i].group];
	}
}

/* Can each of these events have a counter of its own? */
static bool is_possible(const struct random_set *set, u64 events)
{
	u64 some = events;

	for (; some; some = (some - 1) & events) {
		u64 left, counters = 0;

		for (left = some; left; left &= left - 1)
			counters |= set->counters[__ffs64(left)];
		if (hweight64(counters) < hweight64(some))
			return false;
	}
	return true;
}

/* Some groups are never on together with what is always on. */
static bool should_be_refused(const struct random_set *set)
{
	unsigned int i;

	for (i = 0; i < set->nr_groups; i++) {
		if (!is_possible(set, set->always | set->group[i]))
			return true;
	}
	return false;
}

/* --- what the module makes of them ---------------------------------------------------- */

struct tally {
	unsigned int at_once, in_turns, refused;
};

static const char *describe(const struct random_set *set, char *text, size_t size)
{
	size_t len = 0;
	unsigned int i;

	text[0] = '\0';
	for (i = 0; i < set->nr; i++)
		len += scnprintf(text + len, size - len, "%s%s%s",
				 !i ? "" : set->attr[i].group == set->attr[i - 1].group ?
				 "," : " | ",
				 set->attr[i].name, set->attr[i].pinned ? ":D" : "");
	return text;
}

/* No event is on a counter that does not count it, nor where another one is. */
static bool is_right(const struct random_set *set, const struct my_pmu_rotation *rotation)
{
	u64 taken = 0;
	unsigned int i;

	for (i = 0; i < set->nr; i++) {
		int idx = rotation->idx[i];

		if (idx == MY_NO_COUNTER)
			continue;
		if (!(set->counters[i] & BIT_ULL(idx)) || taken & BIT_ULL(idx))
			return false;
		taken |= BIT_ULL(idx);
	}
	return true;
}

static void expect_placed(struct kunit *test, const struct random_set *set,
			  const struct my_pmu_schedule *schedule, const char *text)
{
	unsigned int i;

	for (i = 0; i < schedule->nr_rotations; i++)
		KUNIT_ASSERT_TRUE_MSG(test, is_right(set, &schedule->rotation[i]),
				      "rotation %u of %s", i, text);
}

static void try_set(struct kunit *test, const struct random_set *set,
		    struct my_event_set *events, const char *text, struct tally *tally)
{
	bool refused = should_be_refused(set);
	bool at_once = is_possible(set, GENMASK_ULL(set->nr - 1, 0));
	struct my_pmu_why why = {};
	int err;

	err = test_assign(events, set->attr, set->nr, &why);
	KUNIT_ASSERT_EQ_MSG(test, err, refused ? -ENOSPC : 0, "%s: %s", text, why.text);
	tally->refused += refused;
	if (refused)
		return;
	expect_placed(test, set, &events->schedule, text);
	KUNIT_ASSERT_EQ_MSG(test, events->schedule.nr_rotations == 1, at_once, "%s", text);
	tally->at_once += at_once;
	tally->in_turns += !at_once;
}

/* 10,000 sets, a thousand for each model, as perf knows its counters. */
static void constraints_sets(struct kunit *test)
{
	const struct model *model = test->param_value;
	struct my_event_set *events = test_set(test, &model->pmu, "instructions");
	struct random_set *set;
	struct tally tally = {};
	struct rnd_state rnd;
	struct pool *pool;
	char *text;
	unsigned int i;
	size_t len;

	prandom_seed_state(&rnd, SEED);
	test_run_there(test);
	pool = make_pool(test, model, &rnd);
	set = kunit_kzalloc(test, sizeof(*set), GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, set);
	text = kunit_kzalloc(test, 512, GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, text);
	for (i = 0; i < SETS; i++) {
		invent_set(set, pool, &rnd);
		len = scnprintf(text, 512, "set %u of seed %u: ", i, SEED);
		describe(set, text + len, 512 - len);
		try_set(test, set, events, text, &tally);
	}
	/* There were some of each. */
	KUNIT_EXPECT_GT(test, tally.at_once, 100U);
	KUNIT_EXPECT_GT(test, tally.in_turns, 100U);
	KUNIT_EXPECT_GT(test, tally.refused, 100U);
}

/*
 * Where perf does not answer an event is on no counter either that does not count it, on
 * none of these models; and it is counted, if the model counts it.
 */
static void constraints_unknown(struct kunit *test)
{
	const struct model *model = test->param_value;
	struct my_event_set *set = test_set(test, &model->pmu, "instructions");
	const struct my_x86_pmu *pmu = &set->cpu->pmu;
	struct my_perf_event_attr attr = {};
	const char *reason;
	unsigned int code;
	u64 counters;

	for (code = 1; code < 0x2000; code++) {
		attr.config = code;
		counters = pmu->ops->counters_for(pmu, &attr, NULL, &reason);
		KUNIT_ASSERT_EQ_MSG(test, counters & ~counters_of(model, code), 0ULL,
				    "r%x", code);
		KUNIT_ASSERT_EQ_MSG(test, !counters, !counters_of(model, code), "r%x", code);
	}
}

static struct kunit_case constraints_cases[] = {
	KUNIT_CASE_PARAM(constraints_unknown, model_gen_params),
	KUNIT_CASE_PARAM(constraints_sets, model_gen_params),
	{}
};

static struct kunit_suite constraints_suite = {
	.name = "my_pmu_constraints",
	.test_cases = constraints_cases,
};

kunit_test_suite(constraints_suite);
