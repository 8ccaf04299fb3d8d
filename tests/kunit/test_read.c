// SPDX-License-Identifier: GPL-2.0
/*
 * Arithmetic: growth in any width, what is plausible, how seldom a counter may be
 * read, when a sample is due.  And captures: what they show, and when they are void.
 *
 * pmu_read.c is included, so that what it keeps for itself can be called.
 */
#include <linux/math64.h>
#include <linux/random.h>
#include <linux/workqueue.h>

#include "pmu_event.h"
#include "test.h"

#include "pmu_read.c"

/* Linux 6.1 has none of its own. */
#undef u128
#define u128		unsigned __int128

/* An hour: long enough for any growth of up to 2^48. */
#define LONG_NS		(3600ULL * NSEC_PER_SEC)

/* --- growth, in every width -------------------------------------------------------- */

static const unsigned int widths[] = {
	32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48,
	49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64,
};

static void width_desc(const unsigned int *bits, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%u-bits", *bits);
}

KUNIT_ARRAY_PARAM(width, widths, width_desc);

static u64 range(unsigned int bits)
{
	u64 max = 0;
	unsigned int i;

	for (i = 0; i < bits; i++)
		max = max << 1 | 1;
	return max;
}

static void read_delta(struct kunit *test)
{
	unsigned int bits = *(const unsigned int *)test->param_value;
	u64 max = range(bits);

	KUNIT_EXPECT_EQ(test, my_pmu_delta(0, 0, bits), 0ULL);
	KUNIT_EXPECT_EQ(test, my_pmu_delta(0, 1, bits), 1ULL);
	KUNIT_EXPECT_EQ(test, my_pmu_delta(0, max, bits), max);
	KUNIT_EXPECT_EQ(test, my_pmu_delta(max, max, bits), 0ULL);
	/* over the wrap */
	KUNIT_EXPECT_EQ(test, my_pmu_delta(max, 0, bits), 1ULL);
	KUNIT_EXPECT_EQ(test, my_pmu_delta(max, 1, bits), 2ULL);
	KUNIT_EXPECT_EQ(test, my_pmu_delta(max - 1, 0, bits), 2ULL);
	KUNIT_EXPECT_EQ(test, my_pmu_delta(max / 2 + 1, max / 2, bits), max);
	/* a step back is a growth of all but one */
	KUNIT_EXPECT_EQ(test, my_pmu_delta(7, 6, bits), max);
	/* bits above the width mean nothing */
	if (bits < 64)
		KUNIT_EXPECT_EQ(test, my_pmu_delta(max + 1, 5, bits), 5ULL);
}

/* A counter that shows what it is told to, and does not count. */
static u64 shown;
static unsigned int nr_programmed;

static int show(const struct my_hw_perf_event *hw, u64 *val)
{
	*val = shown;
	return 0;
}

static int note_programmed(const struct my_x86_pmu *pmu, struct my_pmu_state *state,
			   const struct my_hw_perf_event *hw,
			   u64 config)
{
	nr_programmed += config == hw->config;
	return 0;
}

static const struct my_pmu_ops show_ops = {
	.read = show,
	.program = note_programmed,
};

static struct my_perf_event *shown_event(struct kunit *test, unsigned int bits)
{
	struct my_event_set *set = kunit_kzalloc(test, sizeof(*set), GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, set);
	my_event_set_init(set, test_fresh_cpu());
	set->cpu->pmu.ops = &show_ops;
	set->nr_events = 1;
	set->event[0] = (struct my_perf_event) {
		.hw.idx = 3, .hw.cntval_bits = bits, .hw.config = 0x4300c0,
		.set = set };
	set->active = 1;
	set->active_counters = BIT_ULL(3);
	nr_programmed = 0;
	return &set->event[0];
}

/*
 * Against arithmetic that has no width to wrap at: a total of 128 bits, of
 * which the counter shows the lowest.  First its overflow bit is not reliable,
 * then it is.
 */
static void read_accumulates(struct kunit *test)
{
	unsigned int bits = *(const unsigned int *)test->param_value, i;
	struct my_perf_event *event = shown_event(test, bits);
	u128 total = get_random_u64() & range(bits), start = total;
	struct my_event_set *set = event->set;
	u64 time = 1, bit = BIT_ULL(3);

	event->hw.prev_count = total;
	event->hw.prev_time = time;
	for (i = 0; i < 1000; i++) {
		u64 growth = get_random_u64() & range(bits);
		bool wraps;

		growth >>= get_random_u32() % bits;
		wraps = ((u64)total & range(bits)) + (u128)growth > range(bits);
		total += growth;
		/* As much time as that takes at 64 in a nanosecond. */
		time += growth / 64 + 1;
		shown = (u64)total & range(bits);
		set->cpu->overflow_reliable = i < 500 ? 0 : bit;
		set->stopped.overflowed = wraps && i >= 500 ? bit : 0;
		set->marks = (struct my_pmu_marks) {};
		KUNIT_ASSERT_EQ(test, my_event_set_update(set, 1, time), 0);
		KUNIT_ASSERT_EQ_MSG(test, event->count, (u64)(total - start),
				    "step %u", i);
		KUNIT_ASSERT_EQ(test, event->hw.prev_count, shown);
		KUNIT_ASSERT_EQ(test, event->hw.prev_time, time);
		KUNIT_ASSERT_EQ(test, set->marks.clobbered | set->marks.late, 0ULL);
		KUNIT_ASSERT_EQ(test, set->marks.wrapped, wraps ? bit : 0ULL);
	}
	KUNIT_EXPECT_EQ(test, nr_programmed, 0U);
}

/* What is not plausible is left out, and the next growth begins there. */
static void read_backwards(struct kunit *test)
{
	unsigned int bits = *(const unsigned int *)test->param_value;
	struct my_perf_event *event = shown_event(test, bits);
	struct my_event_set *set = event->set;

	event->count = 1000;
	event->hw.prev_count = 500;
	event->hw.prev_time = 5;
	/* Below 2^30 events of growth it may as well have wrapped. */
	shown = 499;
	KUNIT_EXPECT_EQ(test, my_event_set_update(set, 1, 1000), 0);
	KUNIT_EXPECT_EQ(test, set->marks.clobbered, BIT_ULL(3));
	KUNIT_EXPECT_EQ(test, set->marks.wrapped | set->marks.late, 0ULL);
	KUNIT_EXPECT_EQ(test, nr_programmed, 1U);
	KUNIT_EXPECT_EQ(test, event->count, 1000ULL);
	KUNIT_EXPECT_EQ(test, event->hw.prev_count, 499ULL);
	KUNIT_EXPECT_EQ(test, event->hw.prev_time, 1000ULL);
	set->marks = (struct my_pmu_marks) {};
	shown = 509;
	KUNIT_EXPECT_EQ(test, my_event_set_update(set, 1, 2000), 0);
	KUNIT_EXPECT_EQ(test, set->marks.clobbered, 0ULL);
	KUNIT_EXPECT_EQ(test, nr_programmed, 1U);
	KUNIT_EXPECT_EQ(test, event->count, 1010ULL);
}

/* The bound: at so many events in a millisecond half the range is not reached. */
static void expect_max_interval(struct kunit *test, unsigned int bits, unsigned int rate)
{
	unsigned int ms = my_pmu_max_interval_ms(bits, rate);
	u128 events = (u128)ms << rate;

	KUNIT_EXPECT_GE(test, ms, 1U);
	KUNIT_EXPECT_TRUE(test, 2 * events <= (u128)1 << bits);
	/* and the bound is no smaller than it must be, but for its own type */
	if (ms < 1U << 31)
		KUNIT_EXPECT_TRUE(test, 4 * events > (u128)1 << bits);
}

/* Four times as often, at least once an hour, and not in a jiffy that has begun. */
static void read_keep_up(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, my_pmu_keep_up_jiffies(0), 1UL);
	KUNIT_EXPECT_EQ(test, my_pmu_keep_up_jiffies(1), 1UL);
	KUNIT_EXPECT_EQ(test, my_pmu_keep_up_jiffies(4000), 1UL * HZ);
	KUNIT_EXPECT_EQ(test, my_pmu_keep_up_jiffies(UINT_MAX), 3600UL * HZ);
}

static void read_max_interval(struct kunit *test)
{
	unsigned int bits = *(const unsigned int *)test->param_value;

	expect_max_interval(test, bits, 26);
	expect_max_interval(test, bits, 30);
}

/* --- what is plausible ---------------------------------------------------------------------- */

struct plausible_row {
	const char *name;
	u64 delta, ns;
	bool plausible;
};

static const struct plausible_row plausible_rows[] = {
	{ "nothing", 0, 0, true },
	{ "little-in-no-time", (1 << 30) - 1, 0, true },
	{ "much-in-no-time", 1 << 30, 0, false },
	{ "much-in-too-little", 1 << 30, (1 << 20) - 1, false },
	{ "much-in-a-millisecond", 1 << 30, 1 << 20, true },
	{ "twice-as-much", 1ULL << 31, 1 << 20, false },
	{ "8-per-ns-for-an-hour", LONG_NS * 8, LONG_NS, true },
	{ "1025-per-ns-for-an-hour", LONG_NS * 1025, LONG_NS, false },
	{ "all-ones", ~0ULL, LONG_NS, false },
	{ "all-ones-in-all-time", ~0ULL, ~0ULL, true },
};

static void plausible_desc(const struct plausible_row *row, char *desc)
{
	strscpy(desc, row->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(plausible, plausible_rows, plausible_desc);

static void read_plausible(struct kunit *test)
{
	const struct plausible_row *row = test->param_value;

	KUNIT_EXPECT_EQ(test, my_pmu_plausible(row->delta, row->ns),
			row->plausible);
}

/* --- whether a growth can be known ---------------------------------------------------------- */

struct growth_row {
	const char *name;
	struct my_pmu_step step;
	enum my_pmu_growth growth;
};

#define MS(n)		((u64)(n) * NSEC_PER_MSEC)
#define ONES_32		0xffffffffULL
#define ONES_48		0xffffffffffffULL
/* The first ns at which a counter may have gone round once, or once more. */
#define ROUND_32	MS(64)
#define ROUND_48	MS(1 << 22)

static const struct growth_row growth_rows[] = {
	/* prev, now, bits, ns, reliable, overflowed */
	{ "still", { 5, 5, 48, 0, true }, MY_GROWTH_KNOWN },
	{ "still-unreliable", { 5, 5, 48, 0 }, MY_GROWTH_KNOWN },
	{ "forward", { 5, 9, 48, 1000, true }, MY_GROWTH_KNOWN },
	{ "wrapped", { ONES_48, 3, 48, 1000, true, true }, MY_GROWTH_KNOWN },
	{ "wrapped-unreliable", { ONES_48, 3, 48, 1000 }, MY_GROWTH_KNOWN },
	{ "wrapped-without-bit", { ONES_48, 3, 48, 1000, true }, MY_GROWTH_CLOBBERED },
	{ "bit-and-not-wrapped", { 5, 9, 48, 1000, true, true },
	  MY_GROWTH_CLOBBERED },
	{ "back", { 9, 5, 48, 1000, true }, MY_GROWTH_CLOBBERED },
	{ "back-unreliable", { 9, 5, 48, 1000 }, MY_GROWTH_CLOBBERED },
	{ "back-with-bit", { 9, 5, 48, 1000, true, true }, MY_GROWTH_CLOBBERED },
	{ "leap", { 0, 1 << 30, 48, (1 << 20) - 1, true }, MY_GROWTH_CLOBBERED },
	{ "as-fast-as-can-be", { 0, 1 << 30, 48, 1 << 20, true },
	  MY_GROWTH_KNOWN },
	{ "a-year-without-bit", { 5, 9, 32, MS(31536000000), true },
	  MY_GROWTH_KNOWN },
	{ "back-after-a-year", { 9, 5, 32, MS(31536000000), true },
	  MY_GROWTH_CLOBBERED },
	{ "back-after-a-year-unreliable", { 9, 5, 32, MS(31536000000) },
	  MY_GROWTH_LATE },
	{ "just-in-time", { 5, 5, 32, ROUND_32 - 1 }, MY_GROWTH_KNOWN },
	{ "late", { 5, 5, 32, ROUND_32 }, MY_GROWTH_LATE },
	{ "just-in-time-48", { 5, 5, 48, ROUND_48 - 1 }, MY_GROWTH_KNOWN },
	{ "late-48", { 5, 5, 48, ROUND_48 }, MY_GROWTH_LATE },
	{ "bit-just-in-time", { ONES_32, 3, 32, ROUND_32 - 1, true, true },
	  MY_GROWTH_KNOWN },
	{ "bit-late", { ONES_32, 3, 32, ROUND_32, true, true },
	  MY_GROWTH_LATE },
	{ "bit-once-or-not-at-all", { 5, 9, 32, ROUND_32 - 1, true, true },
	  MY_GROWTH_CLOBBERED },
	{ "bit-round-once", { 5, 9, 32, ROUND_32, true, true },
	  MY_GROWTH_LATE },
	{ "much-and-a-round", { 0, 1 << 26, 32, MS(65) }, MY_GROWTH_LATE },
	{ "much-and-no-round", { 0, 1 << 26, 32, MS(65) - 1 },
	  MY_GROWTH_KNOWN },
	{ "occupancy-just-in-time", { 5, 5, 32, MS(4) - 1, .rate_log2 = 30 },
	  MY_GROWTH_KNOWN },
	{ "occupancy-late", { 5, 5, 32, MS(4), .rate_log2 = 30 }, MY_GROWTH_LATE },
	{ "occupancy-just-in-time-48", { 5, 5, 48, MS(1 << 18) - 1, .rate_log2 = 30 },
	  MY_GROWTH_KNOWN },
	{ "occupancy-late-48", { 5, 5, 48, MS(1 << 18), .rate_log2 = 30 },
	  MY_GROWTH_LATE },
};

static void growth_desc(const struct growth_row *row, char *desc)
{
	strscpy(desc, row->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(growth, growth_rows, growth_desc);

static void read_growth(struct kunit *test)
{
	const struct growth_row *row = test->param_value;
	struct my_pmu_step step = row->step;

	step.rate_log2 = step.rate_log2 ?: 26;
	KUNIT_EXPECT_EQ(test, my_pmu_growth(&step), row->growth);
}

/*
 * Against totals that do not wrap: which of them can the counter have had?  The
 * smallest, or one of those that are a round or more above it.
 */
static enum my_pmu_growth model(const struct my_pmu_step *step)
{
	u128 round = (u128)1 << step->bits;
	u128 total = step->now + (step->now < step->prev ? round : 0);
	u128 least = total - step->prev;
	bool wrapped = total >= round;
	bool least_fits = !step->reliable || step->overflowed == wrapped;
	bool more_fit = !step->reliable || step->overflowed;

	/* 2^30 in 2^20 ns each that has passed, and less than that besides */
	if (least >= ((u128)(step->ns >> 20) + 1) << 30)
		return MY_GROWTH_CLOBBERED;
	/* its rate in each ms */
	more_fit = more_fit && least + round <
		   ((u128)div_u64(step->ns, 1000000) + 1) << step->rate_log2;
	if (more_fit)
		return MY_GROWTH_LATE;
	return least_fits ? MY_GROWTH_KNOWN : MY_GROWTH_CLOBBERED;
}

/* A counter at two reads, at each time at which the verdict may change. */
static void expect_growth_as_model(struct kunit *test, struct my_pmu_step *step)
{
	u128 least = (step->now - step->prev) & range(step->bits);
	u64 fast = (u64)(least >> 30) << 20;
	u64 round = (u64)((least + ((u128)1 << step->bits)) >> step->rate_log2) *
		    1000000;
	u64 times[] = { 0, 1, fast - 1, fast, fast + 1, round - 1, round,
			round + 1, fast + (1 << 20), round + 1000000, ~0ULL };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(times); i++) {
		step->ns = times[i];
		KUNIT_ASSERT_EQ_MSG(test, (int)my_pmu_growth(step),
				    (int)model(step),
				    "%#llx to %#llx in %llu ns, reliable %d, overflowed %d",
				    step->prev, step->now, step->ns,
				    step->reliable, step->overflowed);
	}
}

static void read_growth_as_model(struct kunit *test)
{
	unsigned int bits = *(const unsigned int *)test->param_value;
	u64 max = range(bits), values[] = {
		0, 1, (1ULL << 26) - 1, 1ULL << 26, (1ULL << 30) - 1, 1ULL << 30,
		max / 2, max / 2 + 1, max - (1ULL << 30), max - 1, max,
		get_random_u64() & max, get_random_u64() & max,
	};
	unsigned int i, n = ARRAY_SIZE(values);
	struct my_pmu_step step = { .bits = bits };

	for (i = 0; i < n * n * 2; i++) {
		step.rate_log2 = i % 2 ? 30 : 26;
		step.prev = values[i / 2 / n];
		step.now = values[i / 2 % n];
		step.reliable = false;
		step.overflowed = false;
		expect_growth_as_model(test, &step);
		step.reliable = true;
		expect_growth_as_model(test, &step);
		step.overflowed = true;
		expect_growth_as_model(test, &step);
	}
}

/* An event that is not the first, alone; and the overflow of one that does not tell of it. */
static void read_captured(struct kunit *test)
{
	struct my_event_set *set = test_set(test, PMU(V4), "cycles:u@gp0,instructions:u@gp1");
	struct my_pmu_sample *s = test_sample(test);
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	unsigned int accesses;

	test_up(test, set);
	KUNIT_ASSERT_EQ(test, my_perf_event_disable(&set->event[0]), 0);
	KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
	KUNIT_EXPECT_TRUE(test, set->plan.valid);
	test_retire(test, 10, 0);
	sim_clear_log(sim);
	KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
	accesses = sim->accesses;
	KUNIT_EXPECT_EQ(test, s->count[0], 0ULL);
	KUNIT_EXPECT_EQ(test, s->count[1], 10ULL);

	set->cpu->overflow_reliable = 0;
	KUNIT_ASSERT_EQ(test, my_perf_event_enable(&set->event[0]), 0);
	KUNIT_ASSERT_EQ(test, my_perf_event_disable(&set->event[0]), 0);
	sim->regs.global_status |= BIT_ULL(1);
	KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
	sim_clear_log(sim);
	KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
	KUNIT_EXPECT_EQ(test, sim->accesses, accesses);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
}

/* A counter that somebody writes while it counts: reported, and left out. */
static void read_clobbered(struct kunit *test)
{
	struct my_event_set *set = test_set(test, PMU(V4),
					"instructions@gp1,cycles@fixed1");
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct my_pmu_sample *s = test_sample(test);

	test_up(test, set);
	sim->regs.pmc[1] = 1000;
	KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
	KUNIT_EXPECT_EQ(test, s->marks.clobbered, 0ULL);
	sim->regs.pmc[1] = 0;
	sim->regs.fixed[1] = 30;
	KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
	KUNIT_EXPECT_EQ(test, s->marks.clobbered, BIT_ULL(1));
	KUNIT_EXPECT_EQ(test, s->count[0], 1000ULL);
	KUNIT_EXPECT_EQ(test, s->count[1], 30ULL);
	sim->regs.pmc[1] = 5;
	KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
	KUNIT_EXPECT_EQ(test, s->marks.clobbered, 0ULL);
	KUNIT_EXPECT_EQ(test, s->count[0], 1005ULL);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
}

/* The moment of a sample is one at which the counters stand still. */
static void read_time(struct kunit *test)
{
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct my_event_set *set = test_set(test, PMU(V4), "cycles");
	struct my_pmu_sample *s = test_sample(test);
	u64 before;

	before = sim_now();
	test_up(test, set);
	KUNIT_EXPECT_GE(test, set->event[0].hw.prev_time, before);
	sim_clear_log(sim);
	KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
	/* asked for before all of it, and on its way for less than there was */
	KUNIT_EXPECT_LE(test, s->asked, sim->log[0].time);
	KUNIT_EXPECT_GE(test, s->asked, before);
	/* between the write that stops them and the first that is read */
	KUNIT_EXPECT_EQ(test, (int)sim->log[1].op, (int)SIM_WRMSR);
	KUNIT_EXPECT_GE(test, s->time, sim->log[1].time);
	KUNIT_EXPECT_EQ(test, (int)sim->log[2].op, (int)SIM_RDPMC);
	KUNIT_EXPECT_LE(test, s->time, sim->log[2].time);
	KUNIT_EXPECT_EQ(test, set->event[0].hw.prev_time, s->time);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
}

/* --- captures ------------------------------------------------------------------------- */

/* In the same window whatever the TSC says. */
static void read_moment(struct kunit *test)
{
	static const struct window w = {
		.ns = { 1000, 2000 }, .ticks = { 50000, 53000 } };
	static const struct window long_one = {
		.ns = { 0, 1ULL << 40 }, .ticks = { 0, 3ULL << 40 } };
	static const struct window none = {
		.ns = { 7, 7 }, .ticks = { 9, 9 } };

	KUNIT_EXPECT_EQ(test, moment(&w, 50000), 1000ULL);
	KUNIT_EXPECT_EQ(test, moment(&w, 50003), 1001ULL);
	KUNIT_EXPECT_EQ(test, moment(&w, 51500), 1500ULL);
	KUNIT_EXPECT_EQ(test, moment(&w, 52999), 1999ULL);
	KUNIT_EXPECT_EQ(test, moment(&w, 53000), 2000ULL);
	KUNIT_EXPECT_EQ(test, moment(&w, 49999), 1000ULL);
	KUNIT_EXPECT_EQ(test, moment(&w, 0), 1000ULL);
	KUNIT_EXPECT_EQ(test, moment(&w, 1ULL << 62), 2000ULL);
	KUNIT_EXPECT_EQ(test, moment(&long_one, 3ULL << 39), 1ULL << 39);
	KUNIT_EXPECT_EQ(test, moment(&none, 9), 7ULL);
}

/* One event on gp0; its counter shows 100, at @time. */
static void capture_at(struct my_event_set *set, struct my_pmu_capture *capture,
		       u64 seq)
{
	*capture = (struct my_pmu_capture) { .seq = seq };
	capture->value[set->plan.first] = set->event[0].hw.prev_count + 100;
}

static bool add_capture(struct my_event_set *set, const struct my_pmu_capture *capture,
			u64 time)
{
	unsigned long flags;
	bool done;

	raw_spin_lock_irqsave(&set->lock, flags);
	done = my_event_set_account(set, capture, time);
	raw_spin_unlock_irqrestore(&set->lock, flags);
	return done;
}

/* What was captured before something else was done is void. */
static void read_account(struct kunit *test)
{
	struct my_event_set *set = test_set(test, PMU(V4), "cycles@gp0");
	struct my_perf_event *event = &set->event[0];
	struct my_pmu_capture capture;
	u64 time, seq;

	test_up(test, set);
	time = event->hw.prev_time;
	seq = set->accounted;
	capture_at(set, &capture, seq);
	KUNIT_EXPECT_FALSE(test, add_capture(set, &capture, time + 10));
	capture_at(set, &capture, seq + 1);
	KUNIT_EXPECT_FALSE(test, add_capture(set, &capture, time - 1));
	capture.value[set->plan.first] += 1ULL << 40;
	KUNIT_EXPECT_FALSE(test, add_capture(set, &capture, time + 10));
	KUNIT_EXPECT_EQ(test, event->count, 0ULL);
	KUNIT_EXPECT_EQ(test, event->hw.prev_time, time);
	KUNIT_EXPECT_EQ(test, set->marks.clobbered | set->marks.late, 0ULL);

	capture_at(set, &capture, seq + 2);
	KUNIT_EXPECT_TRUE(test, add_capture(set, &capture, time + 10));
	KUNIT_EXPECT_EQ(test, event->count, 100ULL);
	KUNIT_EXPECT_EQ(test, event->running, 10ULL);
	/* Neither twice, nor what was captured before it. */
	KUNIT_EXPECT_FALSE(test, add_capture(set, &capture, time + 20));
	capture.seq = seq + 1;
	KUNIT_EXPECT_FALSE(test, add_capture(set, &capture, time + 20));
	KUNIT_EXPECT_EQ(test, event->count, 100ULL);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
}

/* Whatever is done with the events, captures from before it are void. */
static void read_account_after(struct kunit *test)
{
	struct my_event_set *set = test_set(test, PMU(V4), "cycles@gp0,cycles@gp1");
	struct my_pmu_sample *s = test_sample(test);
	struct my_pmu_capture capture;

	test_up(test, set);
	KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
	/* Late enough for all: nothing but the order forbids it. */
	capture_at(set, &capture, set->plan.seq);
	KUNIT_ASSERT_EQ(test, my_perf_event_disable(&set->event[1]), 0);
	KUNIT_EXPECT_FALSE(test, add_capture(set, &capture, sim_now() + 1000));
	capture_at(set, &capture, set->plan.seq);
	KUNIT_ASSERT_EQ(test, my_perf_event_enable(&set->event[1]), 0);
	KUNIT_EXPECT_FALSE(test, add_capture(set, &capture, sim_now() + 1000));
	capture_at(set, &capture, set->plan.seq);
	KUNIT_ASSERT_EQ(test, my_event_set_keep_up(set), 0);
	KUNIT_EXPECT_FALSE(test, add_capture(set, &capture, sim_now() + 1000));
	capture_at(set, &capture, set->plan.seq);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
	KUNIT_EXPECT_FALSE(test, add_capture(set, &capture, sim_now() + 1000));
	KUNIT_EXPECT_FALSE(test, set->plan.valid);
	KUNIT_EXPECT_EQ(test, my_event_set_read(set, s), -ENXIO);
}

/* The CPU's own work for a sample, in accesses. */
static unsigned int accesses_of_read(struct kunit *test, struct my_event_set *set,
				     struct my_pmu_sample *s)
{
	struct sim_cpu *sim = sim_cpu(TEST_CPU);

	sim_clear_log(sim);
	KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
	return sim->accesses;
}

#define ACCESSES_OF_CAPTURE	6U	/* of one event on a generic counter */

/* With TSCs that differ the CPU itself looks at the clock. */
static void read_without_ticks(struct kunit *test)
{
	struct my_event_set *set = test_set(test, PMU(V4), "cycles@gp0");
	struct my_pmu_sample *s = test_sample(test);

	test_up(test, set);
	KUNIT_EXPECT_EQ(test, accesses_of_read(test, set, s), ACCESSES_OF_CAPTURE);
	sim_without_ticks = true;
	test_retire(test, 0, 10);
	/* It is noticed when the first has been captured. */
	KUNIT_EXPECT_EQ(test, accesses_of_read(test, set, s), 2 * ACCESSES_OF_CAPTURE);
	KUNIT_EXPECT_EQ(test, s->count[0], 10ULL);
	KUNIT_EXPECT_EQ(test, accesses_of_read(test, set, s), ACCESSES_OF_CAPTURE);
	KUNIT_EXPECT_FALSE(test, set->plan.valid);
	sim_without_ticks = false;
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
}

/* After a clobbered counter, and after a wrap, the next read is a capture again. */
static void read_captures_again(struct kunit *test)
{
	struct my_event_set *set = test_set(test, PMU(V4), "cycles@gp0");
	struct my_pmu_sample *s = test_sample(test);
	struct sim_cpu *sim = sim_cpu(TEST_CPU);

	test_near_wrap(sim);
	test_up(test, set);
	KUNIT_EXPECT_EQ(test, accesses_of_read(test, set, s), ACCESSES_OF_CAPTURE);
	test_retire(test, 0, 10);
	KUNIT_EXPECT_EQ(test, accesses_of_read(test, set, s), 2 * ACCESSES_OF_CAPTURE + 1);
	KUNIT_EXPECT_EQ(test, s->marks.wrapped, BIT_ULL(0));
	KUNIT_EXPECT_EQ(test, s->count[0], 10ULL);
	KUNIT_EXPECT_EQ(test, accesses_of_read(test, set, s), ACCESSES_OF_CAPTURE);
	sim->regs.evtsel[0] ^= 1;
	KUNIT_EXPECT_GT(test, accesses_of_read(test, set, s), 2 * ACCESSES_OF_CAPTURE);
	KUNIT_EXPECT_EQ(test, s->marks.clobbered, BIT_ULL(0));
	KUNIT_EXPECT_EQ(test, accesses_of_read(test, set, s), ACCESSES_OF_CAPTURE);
	KUNIT_EXPECT_EQ(test, s->marks.clobbered | s->marks.wrapped, 0ULL);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
}

/* What others have in GLOBAL_CTRL may change; it is noticed, and kept. */
static void read_beside_others(struct kunit *test)
{
	struct my_event_set *set = test_set(test, PMU(V4), "cycles@gp0");
	struct my_pmu_sample *s = test_sample(test);
	struct sim_cpu *sim = sim_cpu(TEST_CPU);

	test_up(test, set);
	KUNIT_EXPECT_EQ(test, accesses_of_read(test, set, s), ACCESSES_OF_CAPTURE);
	sim->regs.global_ctrl ^= BIT_ULL(5);
	KUNIT_EXPECT_EQ(test, accesses_of_read(test, set, s), 1 + ACCESSES_OF_CAPTURE);
	KUNIT_EXPECT_EQ(test, accesses_of_read(test, set, s), ACCESSES_OF_CAPTURE);
	KUNIT_EXPECT_EQ(test, s->marks.clobbered, 0ULL);
	KUNIT_EXPECT_EQ(test, sim->regs.global_ctrl, 0xffULL ^ BIT_ULL(5));
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
	KUNIT_EXPECT_EQ(test, sim->regs.global_ctrl, 0xffULL ^ BIT_ULL(5));
}

/* No register is written, unless one has wrapped. */
static void read_without_freeze(struct kunit *test)
{
	struct my_event_set *set = test_set(test, PMU(V4), "cycles@gp0,instructions@fixed0");
	struct my_pmu_sample *s = test_sample(test);
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	unsigned int i;

	sim->regs.pmc[0] = range(48) - 50;
	sim->regs.fixed[0] = range(48) - 50;
	set->freeze = false;
	test_up(test, set);
	sim->insns_per_access = 1;
	KUNIT_EXPECT_EQ(test, accesses_of_read(test, set, s), 6U);
	for (i = 0; i < 6; i++)
		KUNIT_EXPECT_NE(test, (int)sim->log[i].op, (int)SIM_WRMSR);
	/* The second is read two accesses behind the first. */
	KUNIT_EXPECT_EQ(test, s->count[0] + 2, s->count[1]);
	sim->insns_per_access = 0;
	test_retire(test, 0, 100);
	KUNIT_EXPECT_GT(test, accesses_of_read(test, set, s), 6U);
	KUNIT_EXPECT_EQ(test, s->marks.wrapped, BIT_ULL(0) | BIT_ULL(32));
	KUNIT_EXPECT_EQ(test, s->marks.clobbered, 0ULL);
	KUNIT_EXPECT_EQ(test, accesses_of_read(test, set, s), 6U);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
}

/* --- on the event's own CPU ------------------------------------------------------------ */

/* So many ticks may pass without a look at the clock, written here once more. */
#define MAX_UNTIMED_TICKS	0x400000ULL

struct read_there {
	struct my_perf_event *event;
	u64 count;
	int err;
	unsigned int accesses;
};

static long read_there(void *data)
{
	struct read_there *read = data;
	struct sim_cpu *sim = sim_cpu(TEST_CPU);

	sim_clear_log(sim);
	read->err = my_perf_event_read(read->event, &read->count);
	read->accesses = sim->accesses;
	return 0;
}

/* No call, and no clock; but the same count, and the same doubts. */
static void read_on_its_cpu(struct kunit *test)
{
	struct my_event_set *set = test_set(test, PMU(V4), "cycles@gp0");
	struct my_pmu_sample *s = test_sample(test);
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct read_there r = { .event = &set->event[0] };
	struct my_pmu_capture capture;
	u64 time;

	test_up(test, set);
	time = r.event->hw.prev_time;
	capture_at(set, &capture, set->plan.seq + 1);
	capture.value[set->plan.first] -= 99;
	test_retire(test, 0, 10);
	KUNIT_ASSERT_EQ(test, work_on_cpu(TEST_CPU, read_there, &r), 0L);
	KUNIT_EXPECT_EQ(test, r.err, 0);
	KUNIT_EXPECT_EQ(test, r.count, 10ULL);
	KUNIT_EXPECT_EQ(test, r.accesses, ACCESSES_OF_CAPTURE);
	KUNIT_EXPECT_EQ(test, r.event->hw.prev_time, time);
	/* What was captured before it is void. */
	KUNIT_EXPECT_FALSE(test, add_capture(set, &capture, time + 10));
	/* The time of what it had is added with the next. */
	test_retire(test, 0, 5);
	KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
	KUNIT_EXPECT_EQ(test, s->count[0], 15ULL);
	KUNIT_EXPECT_EQ(test, s->running[0], s->time - time);
	/* So much that one must know in which time. */
	test_retire(test, 0, 1 << 30);
	KUNIT_ASSERT_EQ(test, work_on_cpu(TEST_CPU, read_there, &r), 0L);
	KUNIT_EXPECT_GT(test, r.accesses, ACCESSES_OF_CAPTURE);
	/* On a clock of which each look is a microsecond it is too much. */
	KUNIT_EXPECT_EQ(test, r.err, -ESTALE);
	KUNIT_ASSERT_EQ(test, work_on_cpu(TEST_CPU, read_there, &r), 0L);
	KUNIT_EXPECT_EQ(test, r.err, 0);
	KUNIT_EXPECT_EQ(test, r.count, 15ULL);
	/* Not for long without the clock. */
	time = r.event->hw.prev_time;
	set->timed = sim_now() - MAX_UNTIMED_TICKS - 100000;
	KUNIT_ASSERT_EQ(test, work_on_cpu(TEST_CPU, read_there, &r), 0L);
	KUNIT_EXPECT_GT(test, r.event->hw.prev_time, time);
	KUNIT_EXPECT_GT(test, set->timed, time);
	KUNIT_EXPECT_EQ(test, r.accesses, ACCESSES_OF_CAPTURE);
	time = r.event->hw.prev_time;
	KUNIT_ASSERT_EQ(test, work_on_cpu(TEST_CPU, read_there, &r), 0L);
	KUNIT_EXPECT_EQ(test, r.event->hw.prev_time, time);
	/* Set back, if only to where it was at the last sample. */
	test_retire(test, 0, 7);
	KUNIT_ASSERT_EQ(test, work_on_cpu(TEST_CPU, read_there, &r), 0L);
	sim->regs.pmc[0] -= 7;
	r.count = 42;
	KUNIT_ASSERT_EQ(test, work_on_cpu(TEST_CPU, read_there, &r), 0L);
	KUNIT_EXPECT_EQ(test, r.err, -ESTALE);
	KUNIT_EXPECT_EQ(test, r.count, 42ULL);
	/* What another reader has found is reported, too. */
	sim->regs.pmc[0] -= 1;
	KUNIT_ASSERT_EQ(test, my_event_set_keep_up(set), 0);
	KUNIT_ASSERT_EQ(test, work_on_cpu(TEST_CPU, read_there, &r), 0L);
	KUNIT_EXPECT_EQ(test, r.err, -ESTALE);
	KUNIT_ASSERT_EQ(test, work_on_cpu(TEST_CPU, read_there, &r), 0L);
	KUNIT_EXPECT_EQ(test, r.err, 0);
	KUNIT_EXPECT_EQ(test, r.count, 22ULL);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
	KUNIT_ASSERT_EQ(test, work_on_cpu(TEST_CPU, read_there, &r), 0L);
	KUNIT_EXPECT_EQ(test, r.err, -ENXIO);
}

static long read_group_there(void *data)
{
	u64 *counts = data;

	return my_perf_event_read_group((void *)counts[0], counts, 3);
}

static void read_group_on_its_cpu(struct kunit *test)
{
	struct my_event_set *set = test_set(test, PMU(V4),
					"instructions:u@gp1,{cycles@fixed1,cycles@gp0,instructions:u}");
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	u64 counts[3] = { (unsigned long)&set->event[2] };
	struct read_there r = { .event = &set->event[3] };

	test_up(test, set);
	test_retire(test, 100, 10);
	sim->insns_per_access = 1;
	sim_clear_log(sim);
	KUNIT_ASSERT_EQ(test, work_on_cpu(TEST_CPU, read_group_there, counts), 0L);
	sim->insns_per_access = 0;
	/* Of the four that are active, two with an event select; two accesses before all stop. */
	KUNIT_EXPECT_EQ(test, sim->accesses, 4U + 2 * 2 + 2 + 1);
	KUNIT_EXPECT_EQ(test, counts[0], 112ULL);
	KUNIT_EXPECT_EQ(test, counts[1], 112ULL);
	KUNIT_EXPECT_EQ(test, counts[2], 100ULL);
	KUNIT_ASSERT_EQ(test, work_on_cpu(TEST_CPU, read_there, &r), 0L);
	KUNIT_EXPECT_EQ(test, r.count, 100ULL);
	r.event = &set->event[1];
	KUNIT_ASSERT_EQ(test, work_on_cpu(TEST_CPU, read_there, &r), 0L);
	KUNIT_EXPECT_EQ(test, r.count, 112ULL);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
}

/* Not for long without the clock; not what is implausible; not what faults. */
static void read_group_otherwise(struct kunit *test)
{
	struct my_event_set *set = test_set(test, PMU(V4), "{cycles@gp0,cycles@gp1,r99@gp2}");
	unsigned long first = (unsigned long)&set->event[0];
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	u64 counts[3] = { first }, time;

	test_up(test, set);
	test_retire(test, 100, 10);
	time = set->event[0].hw.prev_time;
	set->timed = sim_now() - MAX_UNTIMED_TICKS - 100000;
	sim_clear_log(sim);
	KUNIT_ASSERT_EQ(test, work_on_cpu(TEST_CPU, read_group_there, counts), 0L);
	KUNIT_EXPECT_EQ(test, sim->accesses, 4U + 2 * 3);
	KUNIT_EXPECT_EQ(test, counts[0], 110ULL);
	KUNIT_EXPECT_EQ(test, counts[1], 110ULL);
	KUNIT_EXPECT_GT(test, set->event[0].hw.prev_time, time);
	counts[0] = first;
	sim->fail_nth = 1;
	KUNIT_EXPECT_EQ(test, work_on_cpu(TEST_CPU, read_group_there, counts), (long)-EIO);
	test_retire(test, 0, 1 << 30);
	KUNIT_EXPECT_EQ(test, work_on_cpu(TEST_CPU, read_group_there, counts), (long)-ESTALE);
	KUNIT_EXPECT_EQ(test, my_perf_event_read_group(&set->event[0], counts, 3), 0);
	KUNIT_EXPECT_EQ(test, counts[0], 110ULL);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
}

/* A counter that somebody had stopped, which was seen when another event was stopped. */
static void read_on_its_cpu_stopped(struct kunit *test)
{
	struct my_event_set *set = test_set(test, PMU(V4), "cycles@gp0,cycles@gp1");
	struct read_there r = { .event = &set->event[0], .count = 42 };

	test_up(test, set);
	test_retire(test, 0, 10);
	sim_cpu(TEST_CPU)->regs.global_ctrl &= ~BIT_ULL(0);
	test_retire(test, 0, 5);
	KUNIT_ASSERT_EQ(test, my_perf_event_disable(&set->event[1]), 0);
	test_retire(test, 0, 3);
	KUNIT_ASSERT_EQ(test, work_on_cpu(TEST_CPU, read_there, &r), 0L);
	KUNIT_EXPECT_EQ(test, r.err, -ESTALE);
	KUNIT_EXPECT_EQ(test, r.count, 42ULL);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
}

/* Where a counter's overflow bit is not reliable, it must be known how much time it had. */
static void read_on_its_cpu_unreliable(struct kunit *test)
{
	struct my_event_set *set = test_set(test, PMU(V4), "cycles@gp0");
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct read_there r = { .event = &set->event[0] };

	test_near_wrap(sim);
	sim->broken = SIM_NO_OVERFLOW;
	sim->broken_counters = BIT_ULL(0);
	test_up(test, set);
	test_retire(test, 0, 100);
	KUNIT_ASSERT_EQ(test, work_on_cpu(TEST_CPU, read_there, &r), 0L);
	KUNIT_EXPECT_EQ(test, r.err, 0);
	KUNIT_EXPECT_EQ(test, r.count, 100ULL);
	/* It is captured nevertheless, in a call. */
	KUNIT_EXPECT_EQ(test, r.accesses, ACCESSES_OF_CAPTURE);
	KUNIT_EXPECT_TRUE(test, set->plan.valid);
	KUNIT_EXPECT_EQ(test, set->local_cpu, -1);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
}

/* --- when a sample is due --------------------------------------------------------------- */

struct tick_row {
	const char *name;
	u64 elapsed, interval, tick;
};

static const struct tick_row tick_rows[] = {
	{ "at-the-start", 0, 1000, 1 },
	{ "early", 999, 1000, 1 },
	{ "on-time", 1000, 1000, 2 },
	{ "a-little-late", 1001, 1000, 2 },
	{ "just-before-the-next", 1999, 1000, 2 },
	{ "two-missed", 3500, 1000, 4 },
	{ "a-year-of-1ms", 31536000ULL * NSEC_PER_SEC, NSEC_PER_MSEC,
	  31536000001ULL },
	{ "longest-interval", 1ULL << 62, 1ULL << 51, 2049 },
};

static void tick_desc(const struct tick_row *row, char *desc)
{
	strscpy(desc, row->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(tick, tick_rows, tick_desc);

static void read_next_tick(struct kunit *test)
{
	const struct tick_row *row = test->param_value;

	KUNIT_EXPECT_EQ(test, my_pmu_next_tick(row->elapsed, row->interval),
			row->tick);
}

/*
 * A thread that is late by any time, for a while: no deadline drifts off the
 * grid, none comes twice, and those that passed are counted.
 */
static void read_ticks_do_not_drift(struct kunit *test)
{
	u64 interval = 7 * NSEC_PER_MSEC, now = 0, tick = 1, missed = 0;
	unsigned int samples = 0, i;

	for (i = 0; i < 10000; i++) {
		u64 late = get_random_u32() % (3 * interval), next;

		now = tick * interval + late;
		samples++;
		next = my_pmu_next_tick(now, interval);
		KUNIT_ASSERT_GT(test, next, tick);
		KUNIT_ASSERT_GT(test, next * interval, now);
		KUNIT_ASSERT_LE(test, (next - 1) * interval, now);
		missed += next - tick - 1;
		tick = next;
	}
	KUNIT_EXPECT_EQ(test, samples + missed, tick - 1);
	KUNIT_EXPECT_EQ(test, div64_u64(now, interval), tick - 1);
}

static struct kunit_case read_cases[] = {
	KUNIT_CASE_PARAM(read_delta, width_gen_params),
	KUNIT_CASE_PARAM(read_accumulates, width_gen_params),
	KUNIT_CASE_PARAM(read_backwards, width_gen_params),
	KUNIT_CASE(read_keep_up),
	KUNIT_CASE_PARAM(read_max_interval, width_gen_params),
	KUNIT_CASE_PARAM(read_plausible, plausible_gen_params),
	KUNIT_CASE_PARAM(read_growth, growth_gen_params),
	KUNIT_CASE_PARAM(read_growth_as_model, width_gen_params),
	KUNIT_CASE(read_captured),
	KUNIT_CASE(read_clobbered),
	KUNIT_CASE(read_time),
	KUNIT_CASE(read_moment),
	KUNIT_CASE(read_account),
	KUNIT_CASE(read_account_after),
	KUNIT_CASE(read_without_ticks),
	KUNIT_CASE(read_captures_again),
	KUNIT_CASE(read_beside_others),
	KUNIT_CASE(read_without_freeze),
	KUNIT_CASE(read_on_its_cpu),
	KUNIT_CASE(read_group_on_its_cpu),
	KUNIT_CASE(read_group_otherwise),
	KUNIT_CASE(read_on_its_cpu_stopped),
	KUNIT_CASE(read_on_its_cpu_unreliable),
	KUNIT_CASE_PARAM(read_next_tick, tick_gen_params),
	KUNIT_CASE(read_ticks_do_not_drift),
	{}
};

static struct kunit_suite read_suite = {
	.name = "my_pmu_read",
	.exit = test_expect_good_manners,
	.test_cases = read_cases,
};

kunit_test_suite(read_suite);
