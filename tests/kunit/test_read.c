// SPDX-License-Identifier: GPL-2.0
/*
 * Arithmetic: growth in any width, what can be, how seldom a counter may be
 * read, when a sample is due.
 */
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/random.h>

#include "test.h"

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
	/* bits above the width are nobody's */
	if (bits < 64)
		KUNIT_EXPECT_EQ(test, my_pmu_delta(max + 1, 5, bits), 5ULL);
}

/*
 * Against arithmetic that has no width to wrap at: a total of 128 bits, of
 * which the counter shows the lowest.
 */
static void read_accumulates(struct kunit *test)
{
	unsigned int bits = *(const unsigned int *)test->param_value, i;
	struct my_perf_event event = { .hw.cntval_bits = bits };
	u128 total = get_random_u64() & range(bits), start = total;
	u64 time = 1;

	event.hw.prev_count = total;
	event.hw.prev_time = time;
	for (i = 0; i < 1000; i++) {
		u64 growth = get_random_u64() & range(bits);

		growth >>= get_random_u32() % bits;
		total += growth;
		/* As much time as that takes at one in a nanosecond. */
		time += growth + 1;
		KUNIT_ASSERT_TRUE(test,
				  my_perf_event_update(&event,
						       (u64)total & range(bits),
						       time));
		KUNIT_ASSERT_EQ_MSG(test, event.count, (u64)(total - start),
				    "step %u", i);
		KUNIT_ASSERT_EQ(test, event.hw.prev_count,
				(u64)total & range(bits));
		KUNIT_ASSERT_EQ(test, event.hw.prev_time, time);
	}
}

/* What is not plausible is left out, and the next growth begins there. */
static void read_backwards(struct kunit *test)
{
	unsigned int bits = *(const unsigned int *)test->param_value;
	struct my_perf_event event = {
		.count = 1000,
		.hw = { .cntval_bits = bits, .prev_count = 500, .prev_time = 5 },
	};

	/* Below 2^27 events of growth nothing can be told: it wrapped. */
	KUNIT_EXPECT_FALSE(test, my_perf_event_update(&event, 499, 1000));
	KUNIT_EXPECT_EQ(test, event.count, 1000ULL);
	KUNIT_EXPECT_EQ(test, event.hw.prev_count, 499ULL);
	KUNIT_EXPECT_EQ(test, event.hw.prev_time, 1000ULL);
	KUNIT_EXPECT_TRUE(test, my_perf_event_update(&event, 509, 2000));
	KUNIT_EXPECT_EQ(test, event.count, 1010ULL);
}

/* The bound: at 2^26 events in a millisecond half the range is not reached. */
static void read_max_interval(struct kunit *test)
{
	unsigned int bits = *(const unsigned int *)test->param_value;
	unsigned int ms = my_pmu_max_interval_ms(bits);
	u128 events = (u128)ms << 26;

	KUNIT_EXPECT_GE(test, ms, 1U);
	KUNIT_EXPECT_TRUE(test, 2 * events <= (u128)1 << bits);
	/* and the bound is no smaller than it must be, but for its own type */
	if (ms < 1U << 31)
		KUNIT_EXPECT_TRUE(test, 4 * events > (u128)1 << bits);
}

/* --- what can be ---------------------------------------------------------------------- */

struct plausible_row {
	const char *name;
	u64 delta, ns;
	bool plausible;
};

static const struct plausible_row plausible_rows[] = {
	{ "nothing", 0, 0, true },
	{ "little-in-no-time", (1 << 27) - 1, 0, true },
	{ "much-in-no-time", 1 << 27, 0, false },
	{ "much-in-too-little", 1 << 27, (1 << 20) - 1, false },
	{ "much-in-a-millisecond", 1 << 27, 1 << 20, true },
	{ "twice-as-much", 1 << 28, 1 << 20, false },
	{ "8-per-ns-for-an-hour", LONG_NS * 8, LONG_NS, true },
	{ "129-per-ns-for-an-hour", LONG_NS * 129, LONG_NS, false },
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

/* A counter that somebody writes while it counts: told, and left out. */
static void read_stolen(struct kunit *test)
{
	struct my_pmu_cpu *c = test_cpu(test, PMU(V4),
					"instructions@gp1,cycles@fixed1");
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct my_pmu_sample *s;

	s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, s);
	KUNIT_ASSERT_EQ(test, my_pmu_cpu_up(c), 0);
	sim->regs.pmc[1] = 1000;
	KUNIT_ASSERT_EQ(test, my_pmu_cpu_read(c, s), 0);
	KUNIT_EXPECT_EQ(test, s->stolen, 0ULL);
	sim->regs.pmc[1] = 0;
	sim->regs.fixed[1] = 30;
	KUNIT_ASSERT_EQ(test, my_pmu_cpu_read(c, s), 0);
	KUNIT_EXPECT_EQ(test, s->stolen, BIT_ULL(1));
	KUNIT_EXPECT_EQ(test, s->count[0], 1000ULL);
	KUNIT_EXPECT_EQ(test, s->count[1], 30ULL);
	sim->regs.pmc[1] = 5;
	KUNIT_ASSERT_EQ(test, my_pmu_cpu_read(c, s), 0);
	KUNIT_EXPECT_EQ(test, s->stolen, 0ULL);
	KUNIT_EXPECT_EQ(test, s->count[0], 1005ULL);
	KUNIT_ASSERT_EQ(test, my_pmu_cpu_down(c), 0);
}

/* The moment of a sample is one at which the counters stand still. */
static void read_time(struct kunit *test)
{
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct my_pmu_cpu *c = test_cpu(test, PMU(V4), "cycles");
	struct my_pmu_sample *s;
	u64 before;

	s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, s);
	before = ktime_get_ns();
	KUNIT_ASSERT_EQ(test, my_pmu_cpu_up(c), 0);
	KUNIT_EXPECT_GE(test, c->event[0].hw.prev_time, before);
	sim_clear_log(sim);
	KUNIT_ASSERT_EQ(test, my_pmu_cpu_read(c, s), 0);
	/* between the write that stops them and the first that is read */
	KUNIT_EXPECT_GE(test, s->time, sim->log[0].time);
	KUNIT_EXPECT_LE(test, s->time, sim->log[1].time);
	KUNIT_EXPECT_EQ(test, c->event[0].hw.prev_time, s->time);
	KUNIT_ASSERT_EQ(test, my_pmu_cpu_down(c), 0);
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
	KUNIT_CASE_PARAM(read_max_interval, width_gen_params),
	KUNIT_CASE_PARAM(read_plausible, plausible_gen_params),
	KUNIT_CASE(read_stolen),
	KUNIT_CASE(read_time),
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
