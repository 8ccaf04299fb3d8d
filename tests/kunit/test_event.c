// SPDX-License-Identifier: GPL-2.0
/*
 * Events on their counters: who gets which, what happens on the CPU, and that
 * whatever fails in between leaves everything as it was.
 */
#include <linux/cpu.h>
#include <linux/delay.h>

#include "test.h"

/* --- assignment ----------------------------------------------------------------- */

#define END	(-1)

/**
 * struct assign_row - events, and their counters
 * @counters: the parameter
 * @pmu: on this
 * @idx: counter ids, in order; END ends them
 */
struct assign_row {
	const char *counters;
	const struct sim_pmu *pmu;
	int idx[20];
};

static const struct assign_row assign_rows[] = {
	{ "instructions", PMU(V4), { 32, END } },
	{ "instructions,instructions", PMU(V4), { 32, 0, END } },
	{ "cycles,instructions,ref-cycles", PMU(V4), { 33, 32, 34, END } },
	{ "branches,cache-references", PMU(V4), { 0, 1, END } },
	{ "bus-cycles", PMU(V4), { 0, END } },
	{ "branches,r01c2@gp0", PMU(V4), { 1, 0, END } },
	{ "instructions,instructions@fixed0", PMU(V4), { 0, 32, END } },
	{ "r01c2@gp1,branches,cycles@gp0,branches:u", PMU(V4), { 1, 2, 0, 3, END } },
	{ "instructions:u", PMU(V4), { 32, END } },
	{ "cycles", PMU(V5_HOLE), { 0, END } },
	{ "ref-cycles", PMU(V5_HOLE), { 34, END } },
	{ "instructions", PMU(V1_40), { 0, END } },
	{ "instructions,cycles", PMU(V5_ONE_OF_EACH), { 0, 33, END } },
	{ "cycles,instructions", PMU(V5_ONE_OF_EACH), { 33, 0, END } },
	/* among those that the user allows, in the same order */
	{ "cycles@gp2-4", PMU(V4), { 2, END } },
	{ "cycles@gp2-4+fixed0-2", PMU(V4), { 33, END } },
	{ "branches@gp1+gp3,branches@gp1+gp3", PMU(V4), { 1, 3, END } },
	{ "instructions@gp0-31+fixed0-31", PMU(V4), { 32, END } },
	{ "rc4,rc5,r13c,r412e,r4f2e,rc4:u,rc5:u,r13c:u", PMU(V4), { 0, 1, 2, 3, 4, 5, 6, 7, END } },
};

static void assign_desc(const struct assign_row *row, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s-%s", row->counters,
		 row->pmu->name);
}

KUNIT_ARRAY_PARAM(assign, assign_rows, assign_desc);

static void event_assign(struct kunit *test)
{
	const struct assign_row *row = test->param_value;
	struct my_event_set *set = test_set(test, row->pmu, row->counters);
	u64 used = 0;
	unsigned int i;

	for (i = 0; row->idx[i] != END; i++) {
		KUNIT_EXPECT_EQ_MSG(test, set->event[i].hw.idx, row->idx[i],
				    "event %u", i);
		used |= BIT_ULL(row->idx[i]);
	}
	KUNIT_EXPECT_EQ(test, set->nr_events, i);
	KUNIT_EXPECT_EQ(test, set->used, used);
	KUNIT_EXPECT_EQ(test, set->enabled, GENMASK_ULL(i - 1, 0));
	KUNIT_EXPECT_EQ(test, set->active | set->active_counters, 0ULL);
	KUNIT_EXPECT_FALSE(test, my_event_set_multiplexes(set));
	KUNIT_EXPECT_TRUE(test, set->offline);
}

/**
 * struct refuse_row - events that cannot be, and why
 * @counters: the parameter
 * @pmu: on this
 * @err: errno
 * @text: and message
 */
struct refuse_row {
	const char *counters;
	const struct sim_pmu *pmu;
	int err;
	const char *text;
};

static const struct sim_pmu no_cache = {
	.name = "no-cache", .version = 4, .gp = 4, .width = 48,
	.fixed = 3, .fixed_width = 48, .ebx = 0x18, .ebx_length = 7 };
static const struct sim_pmu short_ebx = {
	.name = "short-ebx", .version = 4, .gp = 4, .width = 48,
	.fixed = 3, .fixed_width = 48, .ebx_length = 3 };

static const struct refuse_row refuse_rows[] = {
	{ "instructions@gp8", PMU(V4), -EINVAL,
	  "'instructions@gp8': CPU 1 has no gp8; it has 8 generic (gp) and 3 fixed counters" },
	/* nor is the event */
	{ "r0400@fixed3", PMU(V4), -EINVAL,
	  "'r0400@fixed3': CPU 1 has no fixed3; it has 8 generic (gp) and 3 fixed counters" },
	{ "cycles@fixed3", PMU(V4), -EINVAL,
	  "'cycles@fixed3': CPU 1 has no fixed3; it has 8 generic (gp) and 3 fixed counters" },
	{ "cycles@fixed1", PMU(V5_HOLE), -EINVAL,
	  "'cycles@fixed1': CPU 1 has no fixed1; it has 6 generic (gp) and 2 fixed counters" },
	{ "cycles@fixed0", PMU(V4), -EINVAL,
	  "'cycles@fixed0': fixed0 cannot count this event; leave the counter out and the module chooses",
	},
	{ "ref-cycles@gp0", PMU(V4), -EINVAL,
	  "'ref-cycles@gp0': gp0 cannot count this event; leave the counter out and the module chooses",
	},
	{ "branches:u@fixed0", PMU(V4), -EINVAL,
	  "'branches:u@fixed0': fixed0 cannot count this event; leave the counter out and the module chooses",
	},
	{ "cycles@gp1,branches@gp1", PMU(V4), -EINVAL,
	  "'branches@gp1': gp1 is taken by another event; each counter takes one" },
	{ "cycles@gp0,instructions@gp1,branches@gp1", PMU(V4), -EINVAL,
	  "'branches@gp1': gp1 is taken by another event; each counter takes one" },
	{ "ref-cycles", PMU(V1_40), -EOPNOTSUPP,
	  "'ref-cycles': CPU 1 has no counter that counts it" },
	{ "ref-cycles@gp0", PMU(V1_40), -EOPNOTSUPP,
	  "'ref-cycles': CPU 1 has no counter that counts it" },
	{ "r0000", PMU(V4), -EOPNOTSUPP,
	  "'r0000': CPU 1 has no counter that counts it" },
	{ "ref-cycles:D,ref-cycles:D", PMU(V4), -ENOSPC,
	  "'ref-cycles:D': no counter is left that counts it; CPU 1 has 8 generic (gp) and 3 fixed counters",
	},
	{ "{cycles@gp1-1,branches@gp1-1}", PMU(V4), -ENOSPC,
	  "'cycles' and its group in braces: no counters are left that count these 2 events at the same time; CPU 1 has 8 generic (gp) and 3 fixed counters",
	},
	{ "cycles@gp8-9", PMU(V4), -EINVAL,
	  "'cycles': none of the counters behind its @ exists and counts it; without them the module chooses",
	},
	{ "cpu/instructions,cmask=1/@fixed0", PMU(V4), -EINVAL,
	  "'cpu/instructions,cmask=1/@fixed0': fixed0 cannot count this event; leave the counter out and the module chooses",
	},
	{ "arch-topdown-slots", PMU(V4), -EOPNOTSUPP,
	  "'arch-topdown-slots': CPU 1 does not have this event (CPUID.0AH:EBX flags it absent)" },
	{ "cycles:D,branches:D,branches:D", PMU(V1_40), -ENOSPC,
	  "'branches:D': no counter is left that counts it; CPU 1 has 2 generic (gp) and 0 fixed counters",
	},
	{ "cache-misses", &no_cache, -EOPNOTSUPP,
	  "'cache-misses': CPU 1 does not have this event (CPUID.0AH:EBX flags it absent)" },
	{ "r412e@gp0", &no_cache, -EOPNOTSUPP,
	  "'r412e': CPU 1 does not have this event (CPUID.0AH:EBX flags it absent)" },
	{ "branches", &short_ebx, -EOPNOTSUPP,
	  "'branches': CPU 1 does not have this event (CPUID.0AH:EBX flags it absent)" },
};

static void refuse_desc(const struct refuse_row *row, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s-%s", row->counters,
		 row->pmu->name);
}

KUNIT_ARRAY_PARAM(refuse, refuse_rows, refuse_desc);

static void event_refuse(struct kunit *test)
{
	const struct refuse_row *row = test->param_value;
	struct my_event_set *set = test_set(test, row->pmu, "instructions@gp0");
	struct my_perf_event_attr *attr;
	struct my_pmu_why why = {};
	int nr;

	sim_clear_log(sim_cpu(TEST_CPU));
	attr = kunit_kcalloc(test, MY_PMC_MAX, sizeof(*attr), GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, attr);
	nr = my_parse_events(row->counters, attr, MY_PMC_MAX, &why);
	KUNIT_ASSERT_GT_MSG(test, nr, 0, "%s", why.text);
	KUNIT_EXPECT_EQ(test, test_assign(set, attr, nr, &why), row->err);
	KUNIT_EXPECT_STREQ(test, why.text, row->text);
	KUNIT_EXPECT_EQ(test, sim_cpu(TEST_CPU)->accesses, 0U);
}

/* Raw, what EBX does not speak of is the user's own business. */
static void event_raw_beyond_ebx(struct kunit *test)
{
	struct my_event_set *set = test_set(test, &short_ebx, "rc4,r4f2e");

	KUNIT_EXPECT_EQ(test, set->event[0].hw.config, 0x4300c4ULL);
	/* the first of them */
	KUNIT_EXPECT_EQ(test, set->event[1].hw.config, 0x434f2eULL);
}

/* The architectural events, in the order of EBX's bits. */
static const char * const arch_events[] = {
	"r003c", "r00c0", "r013c", "r4f2e", "r412e", "r00c4", "r00c5",
	"r01a4", "r02a4", "r0073", "r019c", "r02c2", "r01e4",
};

static void arch_event_desc(const char * const *event, char *desc)
{
	strscpy(desc, *event, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(arch_event, arch_events, arch_event_desc);

static int init_on_generic(struct kunit *test, const char *event, u32 ebx)
{
	struct sim_pmu pmu = { .version = 1, .gp = 2, .width = 48, .ebx = ebx,
			       .ebx_length = ARRAY_SIZE(arch_events) };
	struct my_event_set *set = test_set(test, &pmu, "r0001");
	struct my_perf_event_attr attr;
	struct my_pmu_why why;

	KUNIT_ASSERT_EQ(test, my_parse_events(event, &attr, 1, &why), 1);
	return test_assign(set, &attr, 1, &why);
}

/* Each bit is about its event, and about no other. */
static void event_flagged_absent(struct kunit *test)
{
	const char * const *event = test->param_value;
	u32 bit = BIT(event - arch_events);

	KUNIT_EXPECT_EQ(test, init_on_generic(test, *event, bit), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, init_on_generic(test, *event, ~bit), 0);
}

/* --- on the CPU --------------------------------------------------------------------- */

/* Every counter of the PMU at once: exact counts, and all registers back. */
static void event_counts_and_restores(struct kunit *test)
{
	const struct sim_pmu *pmu = test->param_value;
	struct my_event_set *set = test_all_counters(test, pmu);
	struct my_pmu_sample *s = test_sample(test);
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct sim_registers before;
	unsigned int i;

	test_leave_traces(sim);
	before = sim->regs;
	test_up(test, set);
	KUNIT_EXPECT_EQ(test, set->active_counters, set->used);
	/* It is up: nothing happens. */
	sim_clear_log(sim);
	test_up(test, set);
	KUNIT_EXPECT_EQ(test, sim->accesses, 0U);
	/* No handler, no interrupt: neither INT nor PMI, whoever had set it. */
	for (i = 0; i < SIM_GENERIC; i++)
		KUNIT_EXPECT_FALSE(test, sim->regs.evtsel[i] & BIT_ULL(20));
	KUNIT_EXPECT_EQ(test, sim->regs.fixed_ctr_ctrl & 0x888, 0ULL);
	test_retire(test, 1000, 20);
	KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
	for (i = 0; i < set->nr_events; i++)
		KUNIT_EXPECT_EQ_MSG(test, s->count[i], 1020ULL, "event %u", i);
	KUNIT_EXPECT_EQ(test, s->marks.clobbered, 0ULL);
	test_retire(test, 3, 0);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
	for (i = 0; i < set->nr_events; i++)
		KUNIT_EXPECT_EQ_MSG(test, set->event[i].count, 1023ULL,
				    "event %u", i);
	KUNIT_EXPECT_EQ(test, set->active_counters, 0ULL);
	KUNIT_EXPECT_TRUE(test, set->offline);
	test_expect_registers(test, pmu, &before, &sim->regs);
}

/*
 * The code that drives the PMU is executed by the CPU that is counted on.  From
 * version 2 on it counts as two instructions a read, and the same for all: the
 * look at GLOBAL_CTRL, and the WRMSR that stops the counters.
 */
static void event_own_work(struct kunit *test)
{
	const struct sim_pmu *pmu = test->param_value;
	struct my_event_set *set = test_all_counters(test, pmu);
	struct my_pmu_sample *s = test_sample(test);
	unsigned int i, reads = 5;

	sim_cpu(TEST_CPU)->insns_per_access = 1;
	test_up(test, set);
	for (i = 0; i < reads; i++) {
		test_retire(test, 100, 0);
		KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
	}
	for (i = 0; i < set->nr_events; i++) {
		u64 own = set->event[i].attr.config & 0xff ? 2 * reads : 0;

		KUNIT_EXPECT_EQ_MSG(test, s->count[i], reads * 100 + own,
				    "event %u", i);
	}
	sim_cpu(TEST_CPU)->insns_per_access = 0;
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
}

/* Overflows of ours are taken back, what was there before stays. */
static void event_overflow_status(struct kunit *test)
{
	const struct sim_pmu *pmu = test->param_value;
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct my_event_set *set;
	struct sim_registers before;

	set = test_set(test, pmu, "instructions:u@gp0");
	sim->regs.pmc[0] = GENMASK_ULL(pmu->width - 1, 0) - 10;
	sim->regs.global_status = BIT_ULL(62);
	before = sim->regs;
	test_up(test, set);
	test_retire(test, 30, 0);
	KUNIT_EXPECT_EQ(test, sim->regs.pmc[0], 19ULL);
	KUNIT_EXPECT_EQ(test, sim->regs.global_status, BIT_ULL(62) | 1);
	sim->regs.global_status |= BIT_ULL(63);	/* somebody's, meanwhile */
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
	KUNIT_EXPECT_EQ(test, set->event[0].count, 30ULL);
	before.global_status |= BIT_ULL(63);
	test_expect_registers(test, pmu, &before, &sim->regs);

	/* A bit that was set before is not ours to clear. */
	sim->regs.global_status = BIT_ULL(0);
	test_up(test, set);
	test_retire(test, 30, 0);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
	KUNIT_EXPECT_EQ(test, sim->regs.global_status, BIT_ULL(0));
}

/* All of them overflow, generic and fixed. */
static void event_overflow_of_all(struct kunit *test)
{
	const struct sim_pmu *pmu = test->param_value;
	struct my_event_set *set = test_all_counters(test, pmu);
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct sim_registers before;
	unsigned int i;

	test_near_wrap(sim);
	before = sim->regs;
	test_up(test, set);
	test_retire(test, 100, 0);
	KUNIT_EXPECT_EQ(test, sim->regs.global_status, set->used);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
	for (i = 0; i < set->nr_events; i++)
		KUNIT_EXPECT_EQ_MSG(test, set->event[i].count, 100ULL,
				    "event %u", i);
	test_expect_registers(test, pmu, &before, &sim->regs);
}

/*
 * A counter that has wrapped is stopped and started again, and while another one is
 * started: it has wrapped once.
 */
static void event_overflow_and_again(struct kunit *test)
{
	struct my_event_set *set = test_set(test, PMU(V4), "cycles@gp0,instructions@gp1");
	struct my_pmu_sample *s = test_sample(test);

	test_near_wrap(sim_cpu(TEST_CPU));
	test_up(test, set);
	test_retire(test, 100, 0);
	KUNIT_ASSERT_EQ(test, my_perf_event_disable(&set->event[0]), 0);
	KUNIT_ASSERT_EQ(test, my_perf_event_enable(&set->event[0]), 0);
	test_retire(test, 10, 0);
	KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
	KUNIT_EXPECT_EQ(test, s->marks.clobbered, 0ULL);
	KUNIT_EXPECT_EQ(test, s->marks.wrapped, BIT_ULL(0) | BIT_ULL(1));
	KUNIT_EXPECT_EQ(test, s->count[0], 110ULL);
	KUNIT_EXPECT_EQ(test, s->count[1], 110ULL);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
}

/* What the stop before has seen is not taken for what a stop that fails would see. */
static void event_overflow_of_another_stop(struct kunit *test)
{
	struct my_event_set *set = test_set(test, PMU(V4), "cycles@gp0,instructions@gp1");
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct my_pmu_sample *s = test_sample(test);

	test_near_wrap(sim);
	test_up(test, set);
	test_retire(test, 100, 0);
	KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
	KUNIT_EXPECT_EQ(test, s->marks.wrapped, BIT_ULL(0) | BIT_ULL(1));
	test_retire(test, 10, 0);
	sim->fail_nth = 1;
	KUNIT_EXPECT_EQ(test, my_perf_event_disable(&set->event[0]), -EIO);
	KUNIT_EXPECT_EQ(test, set->event[0].count, 110ULL);
	KUNIT_EXPECT_EQ(test, set->marks.clobbered, 0ULL);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
}

/*
 * While one is programmed the others stand still, from version 2 on, from the
 * write that stops them; and their time goes on.
 */
static void event_others_count_on(struct kunit *test)
{
	const struct sim_pmu *pmu = test->param_value;
	struct my_event_set *set = test_all_counters(test, pmu);
	struct my_perf_event *last = &set->event[set->nr_events - 1];
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	u64 time, own, count = 0;
	unsigned int all;

	KUNIT_ASSERT_EQ(test, my_perf_event_disable(last), 0);
	test_up(test, set);
	time = set->event[0].hw.prev_time;
	sim_clear_log(sim);
	sim->insns_per_access = 1;
	KUNIT_ASSERT_EQ(test, my_perf_event_enable(last), 0);
	sim->insns_per_access = 0;
	KUNIT_EXPECT_EQ(test, set->event[0].hw.prev_time, time);
	KUNIT_EXPECT_GT(test, last->hw.prev_time, time);
	own = pmu->version < 2 ? sim->accesses : 2;
	if (pmu->amd && pmu->version < 2)	/* from one stop to the last start */
		own = 2 * pmu->gp;
	/* All that are on are looked at, whichever is asked for. */
	all = pmu->amd && pmu->version < 2 ? 6 * pmu->gp : 2 * pmu->gp;
	if (pmu->version >= 2)
		all += 4 + hweight64(set->active_counters & MY_FIXED_COUNTERS) +
		       !!(set->active_counters & MY_FIXED_COUNTERS);
	sim_clear_log(sim);
	KUNIT_ASSERT_EQ(test, my_perf_event_read(&set->event[0], &count), 0);
	KUNIT_EXPECT_EQ(test, count, own);
	KUNIT_EXPECT_EQ(test, sim->accesses, all);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
}

/* One event goes off and on; the other counts on, its own count is kept. */
static void event_one_of_two(struct kunit *test)
{
	const struct sim_pmu *pmu = test->param_value;
	struct my_event_set *set = test_all_counters(test, pmu);
	struct my_perf_event *last = &set->event[set->nr_events - 1];
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct sim_registers before;
	u64 count = 0;

	test_leave_traces(sim);
	before = sim->regs;
	test_up(test, set);
	test_retire(test, 10, 0);
	KUNIT_ASSERT_EQ(test, my_perf_event_disable(last), 0);
	KUNIT_EXPECT_EQ(test, set->active_counters,
			set->used & ~BIT_ULL(last->hw.idx));
	KUNIT_EXPECT_EQ(test, set->enabled, set->active);
	KUNIT_EXPECT_EQ(test, set->enabled & my_perf_event_bit(last), 0ULL);
	test_retire(test, 100, 0);
	KUNIT_ASSERT_EQ(test, my_perf_event_read(last, &count), 0);
	KUNIT_EXPECT_EQ(test, count, 10ULL);
	KUNIT_ASSERT_EQ(test, my_perf_event_disable(last), 0);
	KUNIT_ASSERT_EQ(test, my_perf_event_enable(last), 0);
	KUNIT_ASSERT_EQ(test, my_perf_event_enable(last), 0);
	test_retire(test, 1000, 0);
	KUNIT_ASSERT_EQ(test, my_perf_event_read(last, &count), 0);
	KUNIT_EXPECT_EQ(test, count, 1010ULL);
	KUNIT_ASSERT_EQ(test, my_perf_event_read(&set->event[0], &count), 0);
	KUNIT_EXPECT_EQ(test, count, set->nr_events > 1 ? 1110ULL : 1010ULL);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
	test_up(test, set);
	KUNIT_EXPECT_EQ(test, set->active_counters, set->used);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
	test_expect_registers(test, pmu, &before, &sim->regs);
}

/* All off one by one is as good as all at once, and on again from there. */
static void event_all_off(struct kunit *test)
{
	const struct sim_pmu *pmu = test->param_value;
	struct my_event_set *set = test_all_counters(test, pmu);
	struct my_pmu_sample *s = test_sample(test);
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct sim_registers before;
	unsigned int i;

	test_leave_traces(sim);
	before = sim->regs;
	test_up(test, set);
	test_retire(test, 10, 0);
	for (i = 0; i < set->nr_events; i++)
		KUNIT_ASSERT_EQ(test, my_perf_event_disable(&set->event[i]), 0);
	test_expect_registers(test, pmu, &before, &sim->regs);

	/* A read with nothing on touches nothing, and still has the counts. */
	sim_clear_log(sim);
	KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
	KUNIT_EXPECT_EQ(test, sim->accesses, 0U);
	KUNIT_EXPECT_EQ(test, s->count[0], 10ULL);

	/* Nor does the CPU's going; its coming leaves no trace; one goes on. */
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
	KUNIT_EXPECT_EQ(test, sim->accesses, 0U);
	test_up(test, set);
	test_expect_registers(test, pmu, &before, &sim->regs);
	KUNIT_ASSERT_EQ(test, my_perf_event_enable(&set->event[0]), 0);
	test_retire(test, 5, 0);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
	KUNIT_EXPECT_EQ(test, set->event[0].count, 15ULL);
	test_expect_registers(test, pmu, &before, &sim->regs);
}

/* While the CPU is down nothing is touched, and nothing is said to count. */
static void event_cpu_down(struct kunit *test)
{
	struct my_event_set *set = test_set(test, PMU(V4), "instructions,cycles@gp0");
	struct my_pmu_sample *s = test_sample(test);
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	u64 count = 42;

	sim_clear_log(sim);
	KUNIT_EXPECT_EQ(test, my_event_set_read(set, s), -ENXIO);
	KUNIT_EXPECT_EQ(test, my_perf_event_read(&set->event[0], &count), -ENXIO);
	KUNIT_EXPECT_EQ(test, count, 42ULL);
	KUNIT_EXPECT_EQ(test, my_perf_event_enable(&set->event[0]), -ENXIO);
	KUNIT_EXPECT_EQ(test, my_event_set_down(set), 0);
	KUNIT_EXPECT_EQ(test, sim->accesses, 0U);

	/* As if it came up after it had answered that it is not. */
	set->up_err = 0;
	KUNIT_EXPECT_EQ(test, my_perf_event_read(&set->event[0], &count), -ENXIO);
	KUNIT_EXPECT_EQ(test, count, 42ULL);
	set->up_err = -ENXIO;

	/* What is switched off meanwhile stays off. */
	KUNIT_EXPECT_EQ(test, my_perf_event_disable(&set->event[1]), 0);
	test_up(test, set);
	KUNIT_EXPECT_EQ(test, set->active_counters, BIT_ULL(32));
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
}

/* A CPU that is not there at all. */
static void event_offline(struct kunit *test)
{
	struct my_event_set *set = test_set(test, PMU(V4), "instructions");
	struct my_pmu_sample *s = test_sample(test);
	struct my_pmu_why why = {};
	u64 count = 42;

	KUNIT_ASSERT_EQ(test, remove_cpu(TEST_CPU), 0);
	KUNIT_EXPECT_EQ(test, my_pmu_probe(set->cpu, NULL, &why), -ENXIO);
	KUNIT_EXPECT_STREQ(test, why.text, "CPU 1 is offline");
	KUNIT_EXPECT_EQ(test, test_try_up(set), -ENXIO);
	KUNIT_EXPECT_EQ(test, my_event_set_down(set), -ENXIO);
	KUNIT_EXPECT_EQ(test, my_event_set_read(set, s), -ENXIO);
	KUNIT_EXPECT_EQ(test, my_perf_event_enable(&set->event[0]), -ENXIO);
	KUNIT_EXPECT_EQ(test, my_perf_event_disable(&set->event[0]), 0);
	KUNIT_EXPECT_EQ(test, set->enabled & 1, 0ULL);
	KUNIT_EXPECT_EQ(test, my_perf_event_read(&set->event[0], &count), -ENXIO);
	KUNIT_EXPECT_EQ(test, count, 42ULL);
	KUNIT_ASSERT_EQ(test, add_cpu(TEST_CPU), 0);
}

/* Each CPU is asked itself. */
static void event_hybrid(struct kunit *test)
{
	struct my_pmu_cpu *big = my_pmu_cpu_of(0), *little = my_pmu_cpu_of(1);
	struct my_pmu_why why;

	sim_reset(0, PMU(V4));
	sim_reset(1, PMU(V5_HOLE));
	KUNIT_ASSERT_EQ(test, my_pmu_probe(big, NULL, &why), 0);
	KUNIT_ASSERT_EQ(test, my_pmu_probe(little, NULL, &why), 0);
	KUNIT_EXPECT_EQ(test, big->cpu, 0);
	KUNIT_EXPECT_EQ(test, little->cpu, 1);
	KUNIT_EXPECT_EQ(test, big->pmu.counters, 0x7000000ffULL);
	KUNIT_EXPECT_EQ(test, little->pmu.counters, 0x50000003fULL);
	KUNIT_EXPECT_EQ(test, big->pmu.version, 4U);
	KUNIT_EXPECT_EQ(test, little->pmu.version, 5U);
}

/* --- each access made to fail in turn --------------------------------------------------- */

/* Who refuses without a fault will refuse for ever. */
static void expect_failed(struct kunit *test, const struct sim_cpu *sim,
			  unsigned int nth)
{
	KUNIT_ASSERT_EQ_MSG(test, sim->fail_nth, 0U,
			    "refused, but no access %u failed", nth);
}

/* What was to fail came after all accesses of whoever succeeded. */
static void expect_noticed(struct kunit *test, struct sim_cpu *sim)
{
	KUNIT_EXPECT_NE_MSG(test, sim->fail_nth, 0U,
			    "an access failed, and nobody noticed");
	sim->fail_nth = 0;
}

/* A loop of cross-calls that takes long must leave RCU some time without one. */
static void be_brief(unsigned int nth)
{
	if (nth % 64 == 0)
		usleep_range(1000, 2000);
}

/* Up: nothing has changed, and the next try succeeds. */
static void event_up_unwinds(struct kunit *test)
{
	const struct sim_pmu *pmu = test->param_value;
	struct my_event_set *set = test_all_counters(test, pmu);
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct sim_registers before, wanted;
	unsigned int nth;

	test_run_there(test);
	test_leave_traces(sim);
	before = sim->regs;
	for (nth = 1; ; nth = test_next_access(nth)) {
		be_brief(nth);
		sim->fail_nth = nth;
		if (!test_try_up(set))
			break;
		expect_failed(test, sim, nth);
		KUNIT_EXPECT_EQ(test, set->active_counters, 0ULL);
		KUNIT_EXPECT_TRUE(test, set->offline);
		wanted = before;
		test_forgive_restoring(&wanted, sim);
		test_expect_registers(test, pmu, &wanted, &sim->regs);
		sim->regs = before;
	}
	expect_noticed(test, sim);
	KUNIT_EXPECT_EQ(test, set->active_counters, set->used);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
	test_expect_registers(test, pmu, &before, &sim->regs);
}

/* In version 1 one that could not be stopped counts the write after its own. */
static void forgive_running(struct sim_registers *before,
			    const struct sim_registers *now,
			    const struct sim_access *failed)
{
	unsigned int i = failed->reg - 0x186;

	if (i < SIM_GENERIC && failed->op == SIM_WRMSR && !failed->val &&
	    now->pmc[i] == before->pmc[i] + 1)
		before->pmc[i]++;
}

/* The same while the code itself is counted: what it wrote cannot show. */
static void event_up_unwinds_counts(struct kunit *test)
{
	const struct sim_pmu *pmu = test->param_value;
	struct my_event_set *set = test_all_counters(test, pmu);
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct sim_registers before, wanted;
	unsigned int nth;

	test_run_there(test);
	before = sim->regs;
	sim->insns_per_access = 1;
	for (nth = 1; ; nth = test_next_access(nth)) {
		be_brief(nth);
		sim->fail_nth = nth;
		if (!test_try_up(set))
			break;
		expect_failed(test, sim, nth);
		wanted = before;
		test_forgive_restoring(&wanted, sim);
		if (pmu->version < 2)
			forgive_running(&wanted, &sim->regs, &sim->failed);
		test_expect_registers(test, pmu, &wanted, &sim->regs);
		sim->regs = before;
	}
	expect_noticed(test, sim);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
	test_expect_registers(test, pmu, &before, &sim->regs);
}

/* A second event: the first counts on as if nothing had been. */
static void event_enable_unwinds(struct kunit *test)
{
	const struct sim_pmu *pmu = test->param_value;
	struct my_event_set *set = test_all_counters(test, pmu);
	struct my_perf_event *last = &set->event[set->nr_events - 1];
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct sim_registers before;
	unsigned int nth;
	u64 count = 0;

	test_run_there(test);
	test_leave_traces(sim);
	KUNIT_ASSERT_EQ(test, my_perf_event_disable(last), 0);
	test_up(test, set);
	before = sim->regs;
	for (nth = 1; ; nth++) {
		sim->fail_nth = nth;
		if (!my_perf_event_enable(last))
			break;
		expect_failed(test, sim, nth);
		KUNIT_EXPECT_EQ(test, set->active_counters & BIT_ULL(last->hw.idx),
				0ULL);
		KUNIT_EXPECT_EQ(test, set->enabled & my_perf_event_bit(last),
				0ULL);
		test_expect_registers(test, pmu, &before, &sim->regs);
	}
	expect_noticed(test, sim);
	test_retire(test, 7, 0);
	KUNIT_ASSERT_EQ(test, my_perf_event_read(&set->event[0], &count), 0);
	KUNIT_EXPECT_EQ(test, count, 7ULL);
	KUNIT_ASSERT_EQ(test, my_perf_event_read(last, &count), 0);
	KUNIT_EXPECT_EQ(test, count, 7ULL);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
}

/* Takes what may differ after this access failed from what is compared. */
static void forgive(struct sim_registers *before,
		    const struct sim_registers *now,
		    const struct sim_access *failed)
{
	u32 reg = failed->reg;

	if (reg >= 0x186 && reg < 0x186 + SIM_GENERIC)
		before->evtsel[reg - 0x186] = now->evtsel[reg - 0x186];
	else if (reg >= 0x0c1 && reg < 0x0c1 + SIM_GENERIC)
		before->pmc[reg - 0x0c1] = now->pmc[reg - 0x0c1];
	else if (reg >= 0x4c1 && reg < 0x4c1 + SIM_GENERIC)
		before->pmc[reg - 0x4c1] = now->pmc[reg - 0x4c1];
	else if (reg >= 0x309 && reg < 0x309 + SIM_FIXED)
		before->fixed[reg - 0x309] = now->fixed[reg - 0x309];
	else if (reg == 0x38d)
		before->fixed_ctr_ctrl = now->fixed_ctr_ctrl;
	else if (failed->op == SIM_WRMSR && reg == 0x38f)
		before->global_ctrl = now->global_ctrl;
	else if (reg >= 0x1900 && reg < 0x2000)
		*test_cfg(before, reg) = *test_cfg((struct sim_registers *)now, reg);
	else if (reg == 0x38e || reg == 0x390)
		before->global_status = now->global_status;
}

/* Down: all is tried, whatever fails; what did not fail is as it was. */
static void event_down_goes_on(struct kunit *test)
{
	const struct sim_pmu *pmu = test->param_value;
	struct my_event_set *set = test_all_counters(test, pmu);
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct sim_registers before, wanted;
	unsigned int nth;

	test_run_there(test);
	test_leave_traces(sim);
	test_near_wrap(sim);
	before = sim->regs;
	for (nth = 1; ; nth++) {
		sim->regs = before;
		sim->has_failed = false;
		test_up(test, set);
		test_retire(test, 50, 50);
		sim->fail_nth = nth;
		if (!my_event_set_down(set))
			break;
		expect_failed(test, sim, nth);
		KUNIT_EXPECT_EQ(test, set->active_counters, 0ULL);
		wanted = before;
		forgive(&wanted, &sim->regs, &sim->failed);
		test_expect_registers(test, pmu, &wanted, &sim->regs);
	}
	KUNIT_EXPECT_GT(test, nth, 1U);
	expect_noticed(test, sim);
	test_expect_registers(test, pmu, &before, &sim->regs);
}

/* The same of one event that has wrapped, while the others count on. */
static void event_disable_goes_on(struct kunit *test)
{
	const struct sim_pmu *pmu = test->param_value;
	struct my_event_set *set = test_all_counters(test, pmu);
	struct my_perf_event *last = &set->event[set->nr_events - 1];
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct sim_registers before, wanted;
	unsigned int nth;
	u64 count;

	test_near_wrap(sim);
	before = sim->regs;
	for (nth = 1; ; nth++) {
		sim->regs = before;
		sim->has_failed = false;
		KUNIT_ASSERT_EQ(test, my_perf_event_disable(last), 0);
		test_up(test, set);
		wanted = sim->regs;
		KUNIT_ASSERT_EQ(test, my_perf_event_enable(last), 0);
		test_retire(test, 50, 50);
		/* What the failure before has cost the others is another test. */
		set->marks = (struct my_pmu_marks) {};
		KUNIT_ASSERT_EQ(test, my_perf_event_read(&set->event[0], &count), 0);
		sim->fail_nth = nth;
		if (!my_perf_event_disable(last))
			break;
		expect_failed(test, sim, nth);
		KUNIT_EXPECT_EQ(test, set->active_counters,
				set->used & ~BIT_ULL(last->hw.idx));
		/* Those that count on have done so, and wrapped. */
		memcpy(wanted.pmc, sim->regs.pmc, sizeof(wanted.pmc));
		memcpy(wanted.fixed, sim->regs.fixed, sizeof(wanted.fixed));
		if (my_pmc_is_fixed(last->hw.idx))
			wanted.fixed[my_pmc_number(last->hw.idx)] =
				before.fixed[my_pmc_number(last->hw.idx)];
		else
			wanted.pmc[last->hw.idx] = before.pmc[last->hw.idx];
		wanted.global_status = sim->regs.global_status;
		forgive(&wanted, &sim->regs, &sim->failed);
		test_expect_registers(test, pmu, &wanted, &sim->regs);
		KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
	}
	expect_noticed(test, sim);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
	test_expect_registers(test, pmu, &before, &sim->regs);
}

/* The PMU is gone for good: errors, and an end. */
static void event_all_fails(struct kunit *test)
{
	const struct sim_pmu *pmu = test->param_value;
	struct my_event_set *set = test_all_counters(test, pmu);
	struct my_pmu_sample *s = test_sample(test);
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	unsigned int nth;

	/* Each of the first 16 accesses, and of the others one now and then. */
	for (nth = 1; ; nth += 1 + nth / 16) {
		sim->fail_nth = nth;
		sim->fail_all_after = true;
		if (!test_try_up(set))
			break;
		KUNIT_EXPECT_EQ(test, set->active_counters, 0ULL);
		KUNIT_EXPECT_TRUE(test, set->offline);
		sim_reset(TEST_CPU, pmu);
	}
	KUNIT_EXPECT_EQ(test, set->active_counters, set->used);
	sim->fail_nth = 1;
	sim->fail_all_after = true;
	if (pmu->version >= 2)
		KUNIT_EXPECT_EQ(test, my_event_set_read(set, s), -EIO);
	KUNIT_EXPECT_EQ(test, my_event_set_down(set), -EIO);
	KUNIT_EXPECT_EQ(test, set->active_counters, 0ULL);
	KUNIT_EXPECT_TRUE(test, set->offline);
	sim->fail_nth = 0;
}

/* A read that fails loses no count, and the next one has all. */
static void event_read_fails(struct kunit *test)
{
	const struct sim_pmu *pmu = test->param_value;
	struct my_event_set *set = test_all_counters(test, pmu);
	struct my_pmu_sample *s = test_sample(test);
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	u64 count = 42;

	test_up(test, set);
	test_retire(test, 10, 0);
	sim->fail_nth = 1;		/* does not stop them */
	KUNIT_EXPECT_EQ(test, my_event_set_read(set, s), -EIO);
	test_retire(test, 10, 0);
	sim->fail_nth = 1;
	KUNIT_EXPECT_EQ(test, my_perf_event_read(&set->event[0], &count), -EIO);
	KUNIT_EXPECT_EQ(test, count, 42ULL);
	sim_clear_log(sim);
	KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
	KUNIT_EXPECT_EQ(test, s->count[0], 20ULL);
	sim->fail_nth = sim->accesses;	/* does not start them again */
	KUNIT_EXPECT_EQ(test, my_event_set_read(set, s), -EIO);
	KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
	KUNIT_EXPECT_EQ(test, s->count[0], 20ULL);
	/* They have stood still, nobody knows for how long. */
	KUNIT_EXPECT_EQ(test, s->marks.clobbered, set->used);
	test_retire(test, 10, 0);
	KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
	KUNIT_EXPECT_EQ(test, s->count[0], 30ULL);
	KUNIT_EXPECT_EQ(test, s->marks.clobbered, 0ULL);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
}

/* The same, when several CPUs are asked at once, with each access, and with each read. */
static void event_read_cpus_fails(struct kunit *test)
{
	static const char three[] = "cycles@gp0,cycles@gp1,instructions@fixed0";
	struct my_event_set *set = test_set(test, PMU(V4), three);
	struct my_pmu_request *by_cpu[TEST_CPU + 1] = {};
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct my_pmu_reading *reading;
	unsigned int nth, freeze;
	u64 count;

	reading = kunit_kzalloc(test, sizeof(*reading), GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, reading);
	reading->set = set;
	reading->sample = test_sample(test);
	by_cpu[TEST_CPU] = &reading->request;
	for (freeze = 0; freeze < 2; freeze++) {
		set->freeze = freeze;
		for (nth = 1; nth <= 64; nth++) {
			test_up(test, set);
			/* With marks to report the CPU would read once more. */
			set->marks = (struct my_pmu_marks) {};
			sim->fail_nth = nth;
			my_pmu_read_cpus(cpumask_of(TEST_CPU), by_cpu);
			KUNIT_EXPECT_EQ(test, reading->err, sim->fail_nth ? 0 : -EIO);
			if (sim->fail_nth)
				break;
			KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
			test_up(test, set);
			sim->fail_nth = nth;
			KUNIT_EXPECT_EQ(test, my_event_set_read(set, reading->sample), -EIO);
			KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
			test_up(test, set);
			sim->fail_nth = nth;
			KUNIT_EXPECT_EQ(test, my_perf_event_read(&set->event[0], &count), -EIO);
			KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
		}
		sim->fail_nth = 0;
		/* GLOBAL_CTRL, five of the counters, their control, the status; the stop. */
		KUNIT_EXPECT_EQ(test, nth, freeze ? 11U : 9U);
		/* And each of them sees that somebody has stopped a counter. */
		sim->regs.global_ctrl &= ~BIT_ULL(0);
		my_pmu_read_cpus(cpumask_of(TEST_CPU), by_cpu);
		KUNIT_EXPECT_EQ(test, reading->err, 0);
		KUNIT_EXPECT_EQ(test, reading->sample->marks.clobbered, BIT_ULL(0));
		sim->regs.global_ctrl &= ~BIT_ULL(0);
		KUNIT_EXPECT_EQ(test, my_event_set_read(set, reading->sample), 0);
		KUNIT_EXPECT_EQ(test, reading->sample->marks.clobbered, BIT_ULL(0));
		sim->regs.global_ctrl &= ~BIT_ULL(0);
		KUNIT_EXPECT_EQ(test, my_perf_event_read(&set->event[0], &count), -ESTALE);
		KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
	}
}

/* The time of the last look at the clock is that of all counts, not of one. */
static void event_timed(struct kunit *test)
{
	struct my_event_set *set = test_set(test, PMU(V4), "cycles@gp0,instructions@gp1");
	struct my_pmu_sample *s = test_sample(test);

	test_up(test, set);
	KUNIT_EXPECT_GT(test, set->timed, 0ULL);
	set->timed = 1;
	KUNIT_ASSERT_EQ(test, my_perf_event_disable(&set->event[1]), 0);
	KUNIT_EXPECT_EQ(test, set->timed, 1ULL);
	KUNIT_ASSERT_EQ(test, my_perf_event_enable(&set->event[1]), 0);
	KUNIT_EXPECT_EQ(test, set->timed, 1ULL);
	KUNIT_ASSERT_EQ(test, my_perf_event_enable(&set->event[1]), 0);
	KUNIT_EXPECT_EQ(test, set->timed, 1ULL);
	/* The CPU itself reads all of them. */
	sim_cpu(TEST_CPU)->regs.evtsel[0] = 0;
	KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
	KUNIT_EXPECT_GT(test, set->timed, 1ULL);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
}

/* A mark that a read found which reports none: once it is reported the CPU plans anew. */
static void event_keep_up_marks(struct kunit *test)
{
	struct my_event_set *set = test_set(test, PMU(V4), "cycles@gp0");
	struct my_pmu_sample *s = test_sample(test);

	test_up(test, set);
	KUNIT_EXPECT_EQ(test, set->local_cpu, TEST_CPU);
	sim_cpu(TEST_CPU)->regs.evtsel[0] = 0x4300c0;
	KUNIT_ASSERT_EQ(test, my_event_set_keep_up(set), 0);
	KUNIT_EXPECT_EQ(test, set->local_cpu, -1);
	KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
	KUNIT_EXPECT_EQ(test, s->marks.clobbered, BIT_ULL(0));
	KUNIT_EXPECT_EQ(test, set->local_cpu, TEST_CPU);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
}

static void event_suite_case_exit(struct kunit *test)
{
	test_bring_cpu_back();
	test_expect_good_manners(test);
}

static struct kunit_case event_cases[] = {
	KUNIT_CASE_PARAM(event_assign, assign_gen_params),
	KUNIT_CASE_PARAM(event_refuse, refuse_gen_params),
	KUNIT_CASE(event_raw_beyond_ebx),
	KUNIT_CASE_PARAM(event_flagged_absent, arch_event_gen_params),
	KUNIT_CASE_PARAM(event_counts_and_restores, test_pmu_gen_params),
	KUNIT_CASE_PARAM(event_own_work, test_global_gen_params),
	KUNIT_CASE_PARAM(event_overflow_status, test_global_gen_params),
	KUNIT_CASE_PARAM(event_overflow_of_all, test_global_gen_params),
	KUNIT_CASE(event_overflow_and_again),
	KUNIT_CASE(event_overflow_of_another_stop),
	KUNIT_CASE_PARAM(event_others_count_on, test_pmu_gen_params),
	KUNIT_CASE_PARAM(event_one_of_two, test_pmu_gen_params),
	KUNIT_CASE_PARAM(event_all_off, test_pmu_gen_params),
	KUNIT_CASE(event_cpu_down),
	KUNIT_CASE(event_offline),
	KUNIT_CASE(event_hybrid),
	KUNIT_CASE_PARAM(event_enable_unwinds, test_pmu_gen_params),
	KUNIT_CASE_PARAM(event_down_goes_on, test_pmu_gen_params),
	KUNIT_CASE_PARAM(event_disable_goes_on, test_global_gen_params),
	KUNIT_CASE_PARAM(event_all_fails, test_pmu_gen_params),
	KUNIT_CASE_PARAM(event_read_fails, test_global_gen_params),
	KUNIT_CASE(event_read_cpus_fails),
	KUNIT_CASE(event_keep_up_marks),
	KUNIT_CASE(event_timed),
	KUNIT_CASE_PARAM(event_up_unwinds, test_pmu_gen_params),
	KUNIT_CASE_PARAM(event_up_unwinds_counts, test_pmu_gen_params),
	{}
};

static struct kunit_suite event_suite = {
	.name = "my_pmu_event",
	.exit = event_suite_case_exit,
	.test_cases = event_cases,
};

kunit_test_suite(event_suite);
