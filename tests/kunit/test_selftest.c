// SPDX-License-Identifier: GPL-2.0
/*
 * The self-test: every way in which a counter may not count, what is said of it, and
 * that its registers are put back; what disturbs a measurement once and what does so
 * for ever.
 */
#include "test.h"

#define ROUNDS		128
#define CODE		(ROUNDS * 16)

/* The counter's value when it is started. */
#define START		(-64LL)

static u64 ones(unsigned int n)
{
	return GENMASK_ULL(n - 1, 0);
}

static u64 *counter_of(struct sim_registers *regs, int idx)
{
	return idx < 32 ? &regs->pmc[idx] : &regs->fixed[idx - 32];
}

static unsigned int width_of(const struct sim_pmu *pmu, int idx)
{
	return idx < 32 ? pmu->width : pmu->fixed_width;
}

/* --- broken counters ----------------------------------------------------------- */

/* Slots are lost in what surrounds the code, and not always as many. */
static void selftest_uneven(struct kunit *test)
{
	struct my_event_set *set = test_all_counters(test, PMU(V6_HOLES));

	sim_cpu(TEST_CPU)->uneven = 100;
	test_up(test, set);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
}

/* A slow multiplication, as Bonnell's, also beside a sibling; then more than any takes. */
static void selftest_slow(struct kunit *test)
{
	struct my_event_set *set = test_set(test, PMU(V4), "cycles@gp0,cycles@fixed1");
	static const unsigned int cycles[] = { 14, 28, 64 };
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct my_pmu_why why = {};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cycles); i++) {
		sim->cycles = cycles[i];
		test_up(test, set);
		KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
	}
	sim->cycles = 65;
	KUNIT_EXPECT_EQ(test, my_event_set_up(set, &why), -ENODEV);
	KUNIT_EXPECT_STREQ(test, why.text,
			   "gp0 counts wrong: 133120 cycles in code of 2048 instructions; plausible are 1536 to 131072");
}

struct broken_row {
	const char *name;
	enum sim_broken how;
};

static const struct broken_row broken_rows[] = {
	{ "counter-ignores-writes", SIM_COUNTER_IGNORES },
	{ "control-ignores-writes", SIM_CONTROL_IGNORES },
	{ "constant", SIM_CONSTANT },
	{ "dead", SIM_DEAD },
	{ "halved", SIM_HALVED },
	{ "short", SIM_SHORT },
};

/* What the first probe of a counter counts, and how many would be right. */
struct unit {
	const char *name;
	unsigned int least, most;
};

static struct unit unit_of(int idx)
{
	static const struct unit units[] = {
		{ "instructions", CODE, CODE },
		{ "cycles", CODE * 3 / 4, CODE * 64 },
		{ "reference cycles", CODE / 8, CODE * 64 },
		{ "slots", CODE, CODE * 128 },
		{ "slots of bad speculation", 0, CODE * 128 },
		{ "slots without an instruction", 0, CODE * 128 },
		{ "slots of what retired", CODE / 2, CODE * 4 },
	};

	return units[idx < 32 ? 0 : idx - 32];
}

/* The one sentence, or none if that is not seen of this counter. */
static const char *sentence(struct kunit *test, const struct sim_pmu *pmu,
			    const struct sim_registers *before, int idx,
			    enum sim_broken how)
{
	unsigned int width = width_of(pmu, idx), n = idx & 31;
	const char *kind = idx < 32 ? "gp" : "fixed";
	u64 written = START & ones(width), read = 42;
	struct unit unit = unit_of(idx);
	char *text;

	text = kunit_kzalloc(test, 320, GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, text);
	switch (how) {
	case SIM_COUNTER_IGNORES:
	case SIM_SHORT:
	case SIM_CONSTANT:
		if (how == SIM_COUNTER_IGNORES)
			read = idx < 32 ? before->pmc[n] : before->fixed[n];
		if (how == SIM_SHORT)
			read = START & ones(width - 8);
		snprintf(text, 320,
			 "%s%u does not keep what is written to it: %#llx written, %#llx read",
			 kind, n, written, read);
		return text;
	case SIM_CONTROL_IGNORES:
		snprintf(text, 320,
			 "%s%u does not take an event: its control register does not keep what is written to it",
			 kind, n);
		return text;
	case SIM_DEAD:
		/* It may have been so. */
		if (!unit.least)
			return NULL;
		snprintf(text, 320,
			 "%s%u stands still: it counts no %s in code of 2048 instructions",
			 kind, n, unit.name);
		return text;
	case SIM_HALVED:
		/* Reference cycles might be as few. */
		if (CODE / 2 >= unit.least)
			return NULL;
		if (unit.least == unit.most)
			snprintf(text, 320,
				 "%s%u counts wrong: 1024 %s where the CPU has executed 2048",
				 kind, n, unit.name);
		else
			snprintf(text, 320,
				 "%s%u counts wrong: 1024 %s in code of 2048 instructions; plausible are %u to %u",
				 kind, n, unit.name, unit.least, unit.most);
		return text;
	default:
		return NULL;
	}
}

/* What a counter held that shows something else cannot be known. */
static void forgive_broken(struct sim_registers *before,
			   struct sim_registers *now, int idx,
			   enum sim_broken how)
{
	if (how == SIM_CONSTANT || how == SIM_SHORT)
		*counter_of(before, idx) = *counter_of(now, idx);
}

static void expect_refused(struct kunit *test, struct my_event_set *set, int idx,
			   const struct broken_row *row)
{
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct sim_registers before = sim->regs;
	struct my_pmu_why why = {};
	const char *text;

	text = sentence(test, &sim->pmu, &before, idx, row->how);
	sim->broken = row->how;
	sim->broken_counters = BIT_ULL(idx);
	if (!text) {
		test_up(test, set);
		KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
	} else {
		KUNIT_EXPECT_EQ_MSG(test, my_event_set_up(set, &why), -ENODEV,
				    "%s, counter %d", row->name, idx);
		KUNIT_EXPECT_STREQ(test, why.text, text);
		KUNIT_EXPECT_EQ(test, set->active_counters, 0ULL);
		KUNIT_EXPECT_TRUE(test, set->offline);
	}
	KUNIT_EXPECT_EQ(test, set->cpu->refused, text ? BIT_ULL(idx) : 0ULL);
	sim->broken = SIM_SOUND;
	forgive_broken(&before, &sim->regs, idx, row->how);
	test_expect_registers(test, &sim->pmu, &before, &sim->regs);
	sim->regs = before;
}

/* Each counter in each way; repaired it is accepted. */
static void selftest_broken(struct kunit *test)
{
	const struct sim_pmu *pmu = test->param_value;
	struct my_event_set *set = test_all_counters(test, pmu);
	unsigned int i, row;

	test_leave_traces(sim_cpu(TEST_CPU));
	for (row = 0; row < ARRAY_SIZE(broken_rows); row++) {
		for (i = 0; i < set->nr_events; i++)
			expect_refused(test, set, set->event[i].hw.idx,
				       &broken_rows[row]);
	}
	test_up(test, set);
	KUNIT_EXPECT_EQ(test, set->active_counters, set->used);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
}

/* A counter that is not used may be as broken as it likes. */
static void selftest_of_used(struct kunit *test)
{
	struct my_event_set *set = test_set(test, PMU(V4), "branches@gp3,cycles@fixed1");
	struct sim_cpu *sim = sim_cpu(TEST_CPU);

	sim->broken = SIM_DEAD;
	sim->broken_counters = ~(BIT_ULL(3) | BIT_ULL(33));
	test_up(test, set);
	KUNIT_EXPECT_EQ(test, set->cpu->overflow_reliable, set->used);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
}

/* A counter of slots: fixed3, which has a unit of its own. */
static void selftest_slots(struct kunit *test)
{
	static const struct sim_pmu has_slots = {
		.name = "slots", .version = 5, .gp = 4, .width = 48,
		.fixed = 4, .fixed_width = 48, .ebx_length = 7 };
	struct my_event_set *set = test_set(test, &has_slots, "r0400@fixed3");
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct my_pmu_why why = {};

	sim->broken = SIM_HALVED;
	sim->broken_counters = BIT_ULL(35);
	KUNIT_EXPECT_EQ(test, my_event_set_up(set, &why), -ENODEV);
	KUNIT_EXPECT_STREQ(test, why.text,
			   "fixed3 counts wrong: 1024 slots in code of 2048 instructions; plausible are 2048 to 262144");
	sim->broken = SIM_SOUND;
	test_up(test, set);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
}

/* --- counters without a reliable overflow bit --------------------------------------- */

/*
 * That is no reason to refuse one; it is noted, and a wrap is counted right and
 * reported.
 */
static void selftest_no_overflow(struct kunit *test)
{
	const struct sim_pmu *pmu = test->param_value;
	struct my_event_set *set = test_all_counters(test, pmu);
	u64 silent = 0;
	struct my_pmu_sample *s = test_sample(test);
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	unsigned int i, round;

	/* The narrowest would soon be late, as slow as a guest may be. */
	if (pmu->width >= 40)
		silent |= set->used & (BIT_ULL(0) | BIT_ULL(pmu->gp - 1));
	if (pmu->fixed_width >= 40)
		silent |= set->used & BIT_ULL(33);
	sim->broken = SIM_NO_OVERFLOW;
	sim->broken_counters = silent;
	test_near_wrap(sim);
	test_up(test, set);
	KUNIT_EXPECT_EQ(test, set->cpu->overflow_reliable,
			pmu->version < 2 ? 0 : set->used & ~silent);
	for (round = 1; round <= 3; round++) {
		test_retire(test, 100, 0);
		KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
		for (i = 0; i < set->nr_events; i++)
			KUNIT_EXPECT_EQ_MSG(test, s->count[i], round * 100ULL,
					    "event %u", i);
		KUNIT_EXPECT_EQ(test, s->marks.clobbered | s->marks.late, 0ULL);
		KUNIT_EXPECT_EQ(test, s->marks.wrapped,
				round == 1 ? set->used : 0ULL);
	}
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
}

/* A bit that was set before says nothing, and is not ours to clear. */
static void selftest_bit_was_set(struct kunit *test)
{
	struct my_event_set *set = test_set(test, PMU(V4), "cycles@gp1,cycles@fixed1");
	struct my_pmu_sample *s = test_sample(test);
	struct sim_cpu *sim = sim_cpu(TEST_CPU);

	sim->regs.global_status = BIT_ULL(1) | BIT_ULL(5);
	test_near_wrap(sim);
	test_up(test, set);
	KUNIT_EXPECT_EQ(test, sim->regs.global_status, BIT_ULL(1) | BIT_ULL(5));
	KUNIT_EXPECT_EQ(test, set->cpu->overflow_reliable, BIT_ULL(33));
	test_retire(test, 100, 0);
	KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
	KUNIT_EXPECT_EQ(test, s->marks.wrapped, set->used);
	KUNIT_EXPECT_EQ(test, s->marks.clobbered | s->marks.late, 0ULL);
	/* Ours is acknowledged by the sample. */
	KUNIT_EXPECT_EQ(test, sim->regs.global_status, BIT_ULL(1) | BIT_ULL(5));
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
}

/* What was seen when a counter was last tested is seen anew. */
static void selftest_overflow_no_more(struct kunit *test)
{
	struct my_event_set *set = test_set(test, PMU(V4), "cycles@gp1");
	struct sim_cpu *sim = sim_cpu(TEST_CPU);

	test_up(test, set);
	KUNIT_EXPECT_EQ(test, set->cpu->overflow_reliable, set->used);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
	sim->broken = SIM_NO_OVERFLOW;
	sim->broken_counters = set->used;
	test_up(test, set);
	KUNIT_EXPECT_EQ(test, set->cpu->overflow_reliable, 0ULL);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
}

/* --- beside counters that count --------------------------------------------------------- */

/* Of another set nothing is lost, and what was known of its counters is still known. */
static void selftest_beside(struct kunit *test)
{
	struct my_event_set *set = test_set(test, PMU(V4), "instructions:u@gp0,cycles:u@fixed1");
	struct my_pmu_sample *s = test_sample(test);
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct my_perf_event_attr attr[2];
	struct my_event_set *other;
	struct my_pmu_why why;
	unsigned int i;

	other = kunit_kzalloc(test, sizeof(*other), GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, other);
	test_near_wrap(sim);
	test_up(test, set);
	test_retire(test, 100, 100);
	my_event_set_init(other, set->cpu);
	KUNIT_ASSERT_EQ(test, my_parse_events("cycles@gp1,instructions@fixed0", attr, 2, &why), 2);
	KUNIT_ASSERT_EQ(test, test_assign(other, attr, 2, &why), 0);
	sim->broken = SIM_NO_OVERFLOW;
	sim->broken_counters = other->used;
	test_up(test, other);
	KUNIT_EXPECT_EQ(test, set->cpu->overflow_reliable, set->used);
	test_retire(test, 10, 10);
	KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
	for (i = 0; i < 2; i++)
		KUNIT_EXPECT_EQ_MSG(test, s->count[i], 110ULL, "event %u", i);
	KUNIT_EXPECT_EQ(test, s->marks.clobbered | s->marks.late, 0ULL);
	KUNIT_EXPECT_EQ(test, s->marks.wrapped, set->used);
	KUNIT_ASSERT_EQ(test, my_event_set_read(other, s), 0);
	for (i = 0; i < 2; i++)
		KUNIT_EXPECT_EQ_MSG(test, s->count[i], 20ULL, "event %u", i);
	KUNIT_ASSERT_EQ(test, my_event_set_down(other), 0);
	KUNIT_EXPECT_EQ(test, set->cpu->overflow_reliable & set->used, set->used);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
	my_event_set_release(set);
}

/* --- counters that count at the same time ------------------------------------------------ */

/**
 * struct starved_row - counters that starve
 * @name: the case
 * @pmu: on this
 * @events: the set
 * @starved: so many of its counters count at a time
 * @starves: the one that does not, or NULL
 * @together: when so many count
 */
struct starved_row {
	const char *name;
	const struct sim_pmu *pmu;
	const char *events;
	unsigned int starved;
	const char *starves;
	unsigned int together;
};

static const struct starved_row starved_rows[] = {
	{ "one-at-a-time", PMU(V4), "instructions@gp7", 1 },
	{ "none-left-for-the-second", PMU(V4), "instructions@gp3,cycles@gp7", 1, "gp7", 2 },
	{ "enough-for-both", PMU(V4), "instructions@gp3,cycles@gp7", 2 },
	{ "a-fixed-one", PMU(V4), "instructions@gp3,cycles@gp7,cycles@fixed1", 2, "fixed1", 3 },
	{ "two-fixed-ones", PMU(V4), "instructions@fixed0,cycles@fixed1", 1, "fixed1", 2 },
	{ "the-first-of-two", PMU(V4),
	  "instructions@gp0,branches@gp1,cycles@gp2,cycles@gp4", 2, "gp2", 4 },
	{ "version-1", PMU(V1_FULL), "instructions@gp0,branches@gp1,cycles@gp3", 2, "gp3", 3 },
	{ "version-1-enough", PMU(V1_FULL), "instructions@gp0,branches@gp1,cycles@gp3", 3 },
	{ "version-6", PMU(V6_HOLES), "instructions@gp0,r2c2@fixed6,instructions@fixed0", 2,
	  "fixed6", 3 },
	{ "first-rotation", PMU(V4),
	  "{branches@gp0-2,cycles@gp0-2,branches:u@gp0-2},{instructions@gp0-1,branches:k@gp0-1}",
	  2, "gp2", 3 },
	{ "first-rotation-before-one-that-has-enough", PMU(V4),
	  "{branches@gp0-2,cycles@gp0-2,branches:u@gp0-2},{instructions@gp0-0,branches:k@gp4-4}",
	  2, "gp2", 3 },
	{ "second-rotation", PMU(V4),
	  "{instructions@gp0-1,branches:k@gp0-1},{branches@gp0-2,cycles@gp0-2,branches:u@gp0-2}",
	  2, "gp2", 3 },
	{ "each-rotation-has-enough", PMU(V4),
	  "{instructions@gp0-1,branches:k@gp0-1},{branches@gp0-1,cycles@gp0-1},{cycles:u@gp2}", 3 },
	{ "not-all-rotations-together", PMU(V4),
	  "{instructions@gp0-1,branches:k@gp0-1},{branches@gp1-2,cycles@gp1-2}", 2 },
};

static void starved_desc(const struct starved_row *row, char *desc)
{
	strscpy(desc, row->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(starved, starved_rows, starved_desc);

static const char *starved_sentence(struct kunit *test, const char *counter,
				    const char *how, unsigned int together)
{
	char *text = kunit_kzalloc(test, 320, GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, text);
	snprintf(text, 320,
		 "%s %s when %u counters count together; alone it counts: fewer count at a time than there are, as in a virtual machine whose host has no more of them; count fewer events at a time",
		 counter, how, together);
	return text;
}

/* All of them are well alone; and also when they starve all registers are put back. */
static void selftest_starved(struct kunit *test)
{
	const struct starved_row *row = test->param_value;
	struct my_event_set *set = test_set(test, row->pmu, row->events);
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct sim_registers before;
	struct my_pmu_why why = {};

	test_leave_traces(sim);
	before = sim->regs;
	sim->broken = SIM_STARVED;
	sim->broken_counters = ~0ULL;
	sim->starved = row->starved;
	if (row->starves) {
		KUNIT_EXPECT_EQ(test, my_event_set_up(set, &why), -ENODEV);
		KUNIT_EXPECT_STREQ(test, why.text,
				   starved_sentence(test, row->starves, "stands still",
						    row->together));
		KUNIT_EXPECT_EQ(test, set->cpu->refused, set->used);
		KUNIT_EXPECT_EQ(test, set->active_counters, 0ULL);
		KUNIT_EXPECT_EQ(test, set->up_err, -ENODEV);
	} else {
		test_up(test, set);
		KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
	}
	test_expect_registers(test, &sim->pmu, &before, &sim->regs);
	/* It is given more of them, and less again before the CPU comes back. */
	sim->starved = 64;
	test_up(test, set);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
	sim->starved = row->starved;
	KUNIT_EXPECT_EQ(test, my_event_set_up(set, &why), row->starves ? -ENODEV : 0);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
}

/* Another set's counters are counters, too, as long as they count; they are not touched. */
static void selftest_starved_beside(struct kunit *test)
{
	struct my_event_set *set = test_set(test, PMU(V4), "instructions:u@gp0,cycles:u@fixed1");
	struct my_pmu_sample *s = test_sample(test);
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct my_perf_event_attr attr[2];
	struct my_event_set *other;
	struct my_pmu_why why;
	unsigned int i;

	other = kunit_kzalloc(test, sizeof(*other), GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, other);
	my_event_set_init(other, set->cpu);
	KUNIT_ASSERT_EQ(test, my_parse_events("branches@gp1,cycles@gp2", attr, 2, &why), 2);
	KUNIT_ASSERT_EQ(test, test_assign(other, attr, 2, &why), 0);
	sim->broken = SIM_STARVED;
	sim->broken_counters = BIT_ULL(0) | BIT_ULL(1) | BIT_ULL(2);
	sim->starved = 2;
	test_up(test, other);
	KUNIT_ASSERT_EQ(test, my_event_set_down(other), 0);
	test_up(test, set);
	test_retire(test, 100, 0);
	KUNIT_EXPECT_EQ(test, my_event_set_up(other, &why), -ENODEV);
	KUNIT_EXPECT_STREQ(test, why.text, starved_sentence(test, "gp2", "stands still", 4));
	sim->starved = 1;
	KUNIT_EXPECT_EQ(test, my_event_set_up(other, &why), -ENODEV);
	KUNIT_EXPECT_STREQ(test, why.text,
			   "gp1 stands still: it counts no instructions in code of 2048 instructions, while other events of my_pmu are counted: fewer may count at a time than there are");
	test_retire(test, 10, 0);
	KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
	for (i = 0; i < 2; i++)
		KUNIT_EXPECT_EQ_MSG(test, s->count[i], 110ULL, "event %u", i);
	KUNIT_EXPECT_EQ(test, s->marks.clobbered | s->marks.late, 0ULL);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
	sim->starved = 2;
	test_up(test, other);
	KUNIT_ASSERT_EQ(test, my_event_set_down(other), 0);
	my_event_set_release(set);
}

/**
 * struct together_row - somebody else's instructions while counters count together
 * @name: the case
 * @calls: as of struct disturb_row, from the first run with all counters on
 * @runs: how many there are then
 * @refused: in the end
 */
struct together_row {
	const char *name;
	u64 calls;
	unsigned int runs;
	bool refused;
};

static const struct together_row together_rows[] = {
	{ "never", 0, 4 },
	{ "once-in-the-first-run", 0x1, 6 },
	{ "once-in-the-second-run", 0x2, 6 },
	{ "once-in-the-second-measurement", 0x4, 8 },
	{ "as-much-in-both-runs", 0x3, 4 },
	{ "except-the-last-two", 0x555, 16 },
	{ "except-the-last", 0x1555, 16, true },
	{ "every-other", 0x1111, 16, true },
	{ "for-ever", 0xaaaa, 16, true },
};

static void together_desc(const struct together_row *row, char *desc)
{
	strscpy(desc, row->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(together, together_rows, together_desc);

/* One of the counters alone has had four runs, and the other one, too. */
static void selftest_together(struct kunit *test)
{
	const struct together_row *row = test->param_value;
	struct my_event_set *set = test_set(test, PMU(V4), "instructions@fixed0,cycles@fixed1");
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct my_pmu_why why = {};
	int err;

	test_near_wrap(sim);
	sim->disturb = 1000;
	sim->disturb_calls = row->calls << 8;
	err = my_event_set_up(set, &why);
	KUNIT_EXPECT_EQ(test, sim->known_codes, 8 + row->runs);
	KUNIT_EXPECT_EQ_MSG(test, err, row->refused ? -ENODEV : 0, "%s", why.text);
	if (row->refused)
		KUNIT_EXPECT_STREQ(test, why.text,
				   starved_sentence(test, "fixed0", "counts wrong", 2));
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
}

/* What has no counter more than what was tested is not tested again. */
static void selftest_rotations(struct kunit *test)
{
	static const struct {
		const char *events;
		/* A generic counter is tested with two events alone, a fixed one with one. */
		unsigned int alone, together;
	} rows[] = {
		{ "ref-cycles@fixed2", 1, 0 },
		{ "cycles@fixed1,ref-cycles@fixed2", 2, 1 },
		{ "{cycles@fixed1,ref-cycles@fixed2},{instructions@fixed0,branches@gp0}",
		  5, 1 },
		/* gp0 alone beside the others, twice */
		{ "cycles@fixed1,{instructions:u@gp0-0},{branches@gp0-0}", 3, 1 },
		/* gp0 and gp1; gp0; gp0 and gp2, each with fixed1 */
		{ "cycles@fixed1,{r4@gp0-1,r4:u@gp0-1},{r4:k@gp0-0},{r4@gp0-0,r4@gp2-3,r4@gp1-1}",
		  7, 2 },
	};
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct my_event_set *set = test_set(test, PMU(V4), rows[i].events);

		test_up(test, set);
		KUNIT_EXPECT_EQ_MSG(test, sim->known_codes,
				    4 * (rows[i].alone + rows[i].together), "%s", rows[i].events);
		KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
	}
}

/* --- what comes between ------------------------------------------------------------ */

/**
 * struct disturb_row - instructions of somebody else while a counter is tested
 * @name: the case
 * @instructions: how many
 * @calls: in these runs of the code, of two each measurement, by bit
 * @runs: how many there are then
 * @wrong: what is reported of it at the end, or 0 if it is accepted
 */
struct disturb_row {
	const char *name;
	u64 instructions, calls;
	unsigned int runs;
	u64 wrong;
};

static const struct disturb_row disturb_rows[] = {
	{ "never", 0, 0, 4 },
	{ "once-in-the-first-run", 1000, 0x1, 6 },
	{ "once-in-the-second-run", 1000, 0x2, 6 },
	{ "once-in-the-second-measurement", 1000, 0x4, 8 },
	{ "tolerable-in-the-first-run", 4, 0x5, 4 },
	{ "tolerable-in-the-second-run", 4, 0xa, 4 },
	{ "a-little-more-in-the-first-run", 5, 0x1, 6 },
	{ "a-little-more-in-the-second-run", 5, 0x2, 6 },
	{ "as-much-in-both-runs", 1000, 0x3, 4 },
	{ "except-the-last-two", 1000, 0x555, 16 },
	{ "except-the-last", 1000, 0x1555, 16, 1048 },
	{ "every-other", 1000, 0x1111, 16, 1048 },
	{ "for-ever", 1000, 0xaaaa, 16, 3048 },
};

static void disturb_desc(const struct disturb_row *row, char *desc)
{
	strscpy(desc, row->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(disturb, disturb_rows, disturb_desc);

static void selftest_disturbed(struct kunit *test)
{
	const struct disturb_row *row = test->param_value;
	struct my_event_set *set = test_set(test, PMU(V4), "instructions@fixed0");
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct my_pmu_why why = {};
	char text[128];
	int err;

	sim->disturb = row->instructions;
	sim->disturb_calls = row->calls;
	err = my_event_set_up(set, &why);
	KUNIT_EXPECT_EQ(test, sim->known_codes, row->runs);
	if (row->wrong) {
		KUNIT_EXPECT_EQ(test, err, -ENODEV);
		snprintf(text, sizeof(text),
			 "fixed0 counts wrong: %llu instructions where the CPU has executed 2048",
			 row->wrong);
		KUNIT_EXPECT_STREQ(test, why.text, text);
	} else {
		KUNIT_EXPECT_EQ_MSG(test, err, 0, "%s", why.text);
	}
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
}

/* --- a probe that the CPU does not have is left out ----------------------------------- */

struct absent_row {
	const char *name;
	u32 ebx;
	unsigned int length;
	const char *event;
	unsigned int runs;	/* of a sound counter */
	const char *dead;	/* said of one that is dead, if it is noticed */
};

static const struct absent_row absent_rows[] = {
	{ "none", 0x00, 7, "branches@gp0", 8,
	  "gp0 stands still: it counts no instructions in code of 2048 instructions" },
	{ "instructions", 0x02, 7, "branches@gp0", 4,
	  "gp0 stands still: it counts no cycles in code of 2048 instructions" },
	{ "cycles", 0x01, 7, "branches@gp0", 4,
	  "gp0 stands still: it counts no instructions in code of 2048 instructions" },
	{ "both", 0x03, 7, "branches@gp0", 0 },
	{ "cycles-alone-are-spoken-of", 0x00, 1, "r00c4@gp0", 4,
	  "gp0 stands still: it counts no cycles in code of 2048 instructions" },
	{ "ebx-says-nothing", 0x00, 0, "r00c4@gp0", 0 },
	{ "instructions-and-a-fixed-counter", 0x02, 7, "cycles@fixed1", 4,
	  "fixed1 stands still: it counts no cycles in code of 2048 instructions" },
	{ "reference-cycles-are-not-in-ebx", 0x7f, 7, "ref-cycles@fixed2", 4,
	  "fixed2 stands still: it counts no reference cycles in code of 2048 instructions" },
};

static void absent_desc(const struct absent_row *row, char *desc)
{
	strscpy(desc, row->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(absent, absent_rows, absent_desc);

static void selftest_absent(struct kunit *test)
{
	const struct absent_row *row = test->param_value;
	struct sim_pmu pmu = *PMU(V4);
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct my_pmu_why why = {};
	struct my_event_set *set;

	pmu.ebx = row->ebx;
	pmu.ebx_length = row->length;
	set = test_set(test, &pmu, row->event);
	test_up(test, set);
	KUNIT_EXPECT_EQ(test, sim->known_codes, row->runs);
	KUNIT_EXPECT_EQ(test, set->active_counters, set->used);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
	sim->broken = SIM_DEAD;
	sim->broken_counters = ~0ULL;
	KUNIT_EXPECT_EQ(test, my_event_set_up(set, &why), row->dead ? -ENODEV : 0);
	if (row->dead)
		KUNIT_EXPECT_STREQ(test, why.text, row->dead);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
}

static struct kunit_case selftest_cases[] = {
	KUNIT_CASE(selftest_uneven),
	KUNIT_CASE(selftest_slow),
	KUNIT_CASE_PARAM(selftest_broken, test_pmu_gen_params),
	KUNIT_CASE(selftest_of_used),
	KUNIT_CASE(selftest_slots),
	KUNIT_CASE_PARAM(selftest_no_overflow, test_pmu_gen_params),
	KUNIT_CASE(selftest_bit_was_set),
	KUNIT_CASE(selftest_overflow_no_more),
	KUNIT_CASE(selftest_beside),
	KUNIT_CASE_PARAM(selftest_starved, starved_gen_params),
	KUNIT_CASE(selftest_starved_beside),
	KUNIT_CASE_PARAM(selftest_together, together_gen_params),
	KUNIT_CASE(selftest_rotations),
	KUNIT_CASE_PARAM(selftest_disturbed, disturb_gen_params),
	KUNIT_CASE_PARAM(selftest_absent, absent_gen_params),
	{}
};

static struct kunit_suite selftest_suite = {
	.name = "my_pmu_selftest",
	.exit = test_expect_good_manners,
	.test_cases = selftest_cases,
};

kunit_test_suite(selftest_suite);
