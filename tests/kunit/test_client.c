// SPDX-License-Identifier: GPL-2.0
/*
 * Events of other modules: on counters that no other event has, together or not at
 * all, gone without a trace; and what a read returns when something was lost.
 *
 * pmu_client.c is included, so that its allocations can be made to fail.
 */
#include <linux/cpu.h>
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "test.h"

/* The allocation that fails, 1 is the next; 0 is none. */
static unsigned int fail_allocation;
static int nr_allocated;

static bool allocation_fails(void)
{
	return fail_allocation && !--fail_allocation;
}

static void *test_kvcalloc(size_t n, size_t size, gfp_t gfp)
{
	void *p = allocation_fails() ? NULL : kvcalloc(n, size, gfp);

	nr_allocated += p ? 1 : 0;
	return p;
}

static void test_kvfree(const void *p)
{
	nr_allocated -= p ? 1 : 0;
	kvfree(p);
}

/* The work is done when a test does it. */
static unsigned int nr_started, nr_again;
static unsigned long started_in, again_in;

static bool test_mod_delayed_work(struct workqueue_struct *wq,
				  struct delayed_work *work, unsigned long delay)
{
	nr_started++;
	started_in = delay;
	return true;
}

static bool test_queue_delayed_work(struct workqueue_struct *wq,
				    struct delayed_work *work, unsigned long delay)
{
	nr_again++;
	again_in = delay;
	return true;
}

/* The CPU is online, but not up to the module's state. */
static bool below_state;

static bool test_cpu_active(unsigned int cpu)
{
	return !below_state && cpu_active(cpu);
}

#define mod_delayed_work	test_mod_delayed_work
#define queue_delayed_work	test_queue_delayed_work
#undef cpu_active
#define cpu_active		test_cpu_active
#undef kvcalloc
#define kvcalloc		test_kvcalloc
#undef kvzalloc
#define kvzalloc(size, gfp)	test_kvcalloc(1, size, gfp)
#undef kvfree
#define kvfree			test_kvfree

#include "pmu_client.c"

/* --- the module's part --------------------------------------------------------------- */

static const struct my_names *names_of_host;

static const struct my_names *test_names(const struct my_pmu_cpu *cpu)
{
	return names_of_host;
}

static struct my_client_host test_host = { .names = test_names };

/* Counters that belong to an event set; and that each of them has an owner. */
static u64 used(struct kunit *test)
{
	const struct my_pmu_cpu *cpu = my_pmu_cpu_of(TEST_CPU);
	u64 owned = 0;
	int idx;

	for (idx = 0; idx < MY_PMC_MAX; idx++)
		owned |= cpu->owner[idx] ? BIT_ULL(idx) : 0;
	KUNIT_EXPECT_EQ(test, owned, cpu->used);
	return cpu->used;
}

/* The module's own events have these counters, as if they had been assigned. */
static struct my_event_set *claim_for_module(struct kunit *test, u64 counters)
{
	struct my_event_set *set = kunit_kzalloc(test, sizeof(*set), GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, set);
	my_event_set_init(set, my_pmu_cpu_of(TEST_CPU));
	test_claim(set, counters);
	return set;
}

static int client_init(struct kunit *test)
{
	names_of_host = NULL;
	test_host.reserved = GENMASK(7, 0);
	fail_allocation = 0;
	nr_allocated = 0;
	nr_started = 0;
	nr_again = 0;
	below_state = false;
	sim_hold_clock(true);
	test_fresh_cpu();
	my_clients_begin(&test_host);
	return 0;
}

static void client_exit(struct kunit *test)
{
	sim_cpu(TEST_CPU)->fail_nth = 0;
	KUNIT_EXPECT_EQ_MSG(test, my_clients_end(), 0U, "some were left");
	KUNIT_EXPECT_EQ(test, nr_allocated, 0);
	KUNIT_EXPECT_EQ(test, used(test), 0ULL);
	my_clients_sleep(false);
	test_bring_cpu_back();
}

static struct sim_cpu *fresh_cpu(const struct sim_pmu *pmu,
				 struct sim_registers *before)
{
	struct sim_cpu *sim = sim_cpu(TEST_CPU);

	sim_reset(TEST_CPU, pmu);
	test_leave_traces(sim);
	*before = sim->regs;
	return sim;
}

static struct my_perf_event *create(struct kunit *test, const char *events)
{
	struct my_perf_event *event;
	struct my_pmu_why why = {};

	event = my_perf_event_create(TEST_CPU, events, &why);
	KUNIT_ASSERT_FALSE_MSG(test, IS_ERR(event), "%s", why.text);
	return event;
}

/* --- one of them ------------------------------------------------------------------------ */

static void client_counts(struct kunit *test)
{
	struct sim_registers before;
	struct sim_cpu *sim = fresh_cpu(PMU(V4), &before);
	struct my_perf_event *event;
	u64 counts[3] = {}, count = 0;

	event = create(test, "{instructions@gp1,cycles:u,instructions:k}");
	test_expect_registers(test, PMU(V4), &before, &sim->regs);
	test_retire(test, 10, 20);
	KUNIT_EXPECT_EQ(test, my_perf_event_read(event, &count), 0);
	KUNIT_EXPECT_EQ(test, count, 0ULL);
	KUNIT_EXPECT_EQ(test, my_perf_event_enable(event), 0);
	test_retire(test, 100, 200);
	KUNIT_EXPECT_EQ(test, my_perf_event_read(event, &count), 0);
	KUNIT_EXPECT_EQ(test, count, 300ULL);
	test_retire(test, 10, 20);
	KUNIT_EXPECT_EQ(test, my_perf_event_read_group(event, counts, 3), 0);
	KUNIT_EXPECT_EQ(test, counts[0], 330ULL);
	KUNIT_EXPECT_EQ(test, counts[1], 110ULL);
	KUNIT_EXPECT_EQ(test, counts[2], 220ULL);
	KUNIT_EXPECT_EQ(test, my_perf_event_disable(event), 0);
	test_expect_registers(test, PMU(V4), &before, &sim->regs);
	test_retire(test, 1, 1);
	KUNIT_EXPECT_EQ(test, my_perf_event_enable(event), 0);
	test_retire(test, 1, 2);
	KUNIT_EXPECT_EQ(test, my_perf_event_read_group(event, counts, 3), 0);
	KUNIT_EXPECT_EQ(test, counts[0], 333ULL);
	KUNIT_EXPECT_EQ(test, counts[1], 111ULL);
	KUNIT_EXPECT_EQ(test, counts[2], 222ULL);
	my_perf_event_destroy(event);
	test_expect_registers(test, PMU(V4), &before, &sim->regs);
	test_expect_good_manners(test);
}

/* Only the whole group, and nothing is written when it is not. */
static void client_group_size(struct kunit *test)
{
	struct my_perf_event *event;
	struct sim_registers before;
	u64 counts[3] = { 7, 7, 7 };

	fresh_cpu(PMU(V4), &before);
	event = create(test, "{instructions,cycles}");
	KUNIT_EXPECT_EQ(test, my_perf_event_read_group(event, counts, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, my_perf_event_read_group(event, counts, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, my_perf_event_read_group(event, counts, 3), -EINVAL);
	KUNIT_EXPECT_EQ(test, counts[0] + counts[1] + counts[2], 21ULL);
	KUNIT_EXPECT_EQ(test, my_perf_event_read_group(event, counts, 2), 0);
	KUNIT_EXPECT_EQ(test, counts[0] + counts[1] + counts[2], 7ULL);
	my_perf_event_destroy(event);
}

struct refused_client {
	int cpu;
	const char *events;
	int err;
	const char *why;
	u32 reserved;
	bool offline;
};

static const struct refused_client refused_clients[] = {
	{ -1, "cycles", -EINVAL, "there is no CPU -1" },
	{ 1 << 20, "cycles", -EINVAL, "there is no CPU 1048576" },
	{ 2, "cycles", -ENXIO, "CPU 2 is offline" },
	{ 1, "cycles", -ENXIO, "CPU 1 is offline", .offline = true },
	{ 1, "cycles,instructions", -EINVAL,
	  "'instructions' is a second one: give one event, or a group in braces" },
	{ 1, "{cycles,branches},r99", -EINVAL,
	  "'r99' is a second one: give one event, or a group in braces" },
	{ 1, "cycle", -EINVAL, "'cycle': no event 'cycle'; " MY_EVENTS_ACCEPTED },
	{ 1, "cycles@gp8", -EINVAL,
	  "'cycles@gp8': CPU 1 has no gp8; it has 8 generic (gp) and 3 fixed counters" },
	{ 1, "cycles@gp2", -EBUSY,
	  "'cycles@gp2': gp2 is in use on CPU 1, for other events of my_pmu; without a counter it chooses",
	},
	{ 1, "{rc4,rc5,r13c,r412e,r4f2e,rc4:u,rc5:u}", -ENOSPC,
	  "'rc5:u' and its group in braces: no counters are left that count these 7 events at the same time; CPU 1 has 8 generic (gp) and 3 fixed counters, and other events of my_pmu use some",
	},
	{ 1, "r20000000c0", -EOPNOTSUPP,
	  "'r20000000c0': it needs bits 0x2000000000 of the event select, which are not programmed here",
	},
	{ 1, "LLC-loads", -EOPNOTSUPP,
	  "'LLC-loads': the architecture does not define it, and perf, which may know it, was not asked for a CPU like CPU 1 when my_pmu was loaded",
	},
	{ 1, "cycles", -EBUSY,
	  "CPU 1 has counters that are not kept from perf: load my_pmu with cpu= naming it, too",
	  .reserved = 0x7f },
};

/* What perf said of a name is not true of it with other bits beside it. */
static void client_beside_a_name(struct kunit *test)
{
	struct my_names *names = kunit_kzalloc(test, sizeof(*names), GFP_KERNEL);
	struct my_perf_event_attr known;
	struct sim_registers before;
	struct my_perf_event *event;
	struct my_event_set *set;
	unsigned int n;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, names);
	fresh_cpu(PMU(V4), &before);
	for (n = 0; n < MY_KNOWN_EVENTS && my_known_event(n, &known); n++) {
		names->config[n] = 0xc4;
		names->counters[n] = BIT_ULL(0);
		names->confirmed[n] = true;
	}
	names_of_host = names;
	event = create(test, "branches");
	KUNIT_EXPECT_EQ(test, event->hw.idx, 0);
	my_perf_event_destroy(event);
	/* Cycles with two of them no fixed counter counts. */
	for (n = 0; n < MY_KNOWN_EVENTS; n++)
		names->counters[n] |= BIT_ULL(32);
	event = create(test, "cpu/branches,cmask=2/");
	KUNIT_EXPECT_EQ(test, event->hw.idx, 0);
	my_perf_event_destroy(event);
	set = claim_for_module(test, 0x1);
	event = create(test, "cpu/branches,umask=1/");
	KUNIT_EXPECT_EQ(test, event->hw.idx, 1);
	my_perf_event_destroy(event);
	names_of_host = NULL;
	my_event_set_release(set);
}

static void refused_desc(const struct refused_client *row, char *desc)
{
	strscpy(desc, row->events, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(refused, refused_clients, refused_desc);

static void client_refused(struct kunit *test)
{
	const struct refused_client *row = test->param_value;
	struct sim_registers before;
	struct sim_cpu *sim = fresh_cpu(PMU(V4), &before);
	struct my_perf_event *event;
	struct my_pmu_why why = {};
	struct my_event_set *set;
	/* Not every kernel can be told that there could be a CPU 2. */
	bool never = row->cpu == 2 && nr_cpu_ids == 2;

	set = claim_for_module(test, 0x6);
	test_host.reserved = row->reserved ?: 0xff;
	if (row->offline)
		KUNIT_ASSERT_EQ(test, remove_cpu(TEST_CPU), 0);
	event = my_perf_event_create(row->cpu, row->events, &why);
	if (row->offline)
		KUNIT_ASSERT_EQ(test, add_cpu(TEST_CPU), 0);
	KUNIT_ASSERT_TRUE(test, IS_ERR(event));
	KUNIT_EXPECT_EQ(test, PTR_ERR(event), never ? (long)-EINVAL : (long)row->err);
	KUNIT_EXPECT_STREQ(test, why.text, never ? "there is no CPU 2" : row->why);
	KUNIT_EXPECT_EQ(test, used(test), 0x6ULL);
	KUNIT_EXPECT_EQ(test, nr_allocated, 0);
	test_expect_registers(test, PMU(V4), &before, &sim->regs);
	my_event_set_release(set);
}

/* Refused is what the firmware uses, and what other events use; the reasons differ. */
static void client_firmware(struct kunit *test)
{
	struct sim_registers before;
	struct my_perf_event *event, *other;
	struct my_pmu_why why;
	struct sim_cpu *sim = fresh_cpu(PMU(V4), &before);

	sim->regs.evtsel[0] |= BIT_ULL(22);
	other = create(test, "r99");
	KUNIT_EXPECT_EQ(test, used(test), BIT_ULL(1));
	KUNIT_EXPECT_EQ(test, my_perf_event_enable(other), 0);
	event = my_perf_event_create(TEST_CPU, "r99@gp0", &why);
	KUNIT_EXPECT_EQ(test, PTR_ERR(event), -EBUSY);
	KUNIT_EXPECT_TRUE_MSG(test, strstr(why.text, "its firmware or microcode"), "%s",
			      why.text);
	event = my_perf_event_create(TEST_CPU, "r99@gp1", &why);
	KUNIT_EXPECT_EQ(test, PTR_ERR(event), -EBUSY);
	KUNIT_EXPECT_TRUE_MSG(test, strstr(why.text, "other events of my_pmu"), "%s",
			      why.text);
	event = my_perf_event_create(TEST_CPU, "{rc4,rc5,r13c,r412e,r4f2e,rc4:u,rc5:u}", &why);
	KUNIT_EXPECT_EQ(test, PTR_ERR(event), -ENOSPC);
	KUNIT_EXPECT_TRUE_MSG(test, strstr(why.text, "its firmware and other events of my_pmu"),
			      "%s", why.text);
	my_perf_event_destroy(other);
}

/* Hotplug was stopped by hand on its way. */
static void client_half_online(struct kunit *test)
{
	struct my_perf_event *event;
	struct sim_registers before;
	struct my_pmu_why why;

	fresh_cpu(PMU(V4), &before);
	below_state = true;
	event = my_perf_event_create(TEST_CPU, "cycles", &why);
	KUNIT_EXPECT_EQ(test, PTR_ERR(event), -ENXIO);
	KUNIT_EXPECT_STREQ(test, why.text, "CPU 1 is offline");
}

static void client_unwinds_allocations(struct kunit *test)
{
	struct my_perf_event *event;
	struct sim_registers before;
	struct my_pmu_why why;
	unsigned int nth;

	fresh_cpu(PMU(V4), &before);
	for (nth = 1; ; nth++) {
		fail_allocation = nth;
		event = my_perf_event_create(TEST_CPU, "cycles", &why);
		if (!IS_ERR(event))
			break;
		KUNIT_EXPECT_EQ(test, PTR_ERR(event), -ENOMEM);
		KUNIT_EXPECT_STREQ(test, why.text, "no memory for the events");
		KUNIT_EXPECT_EQ(test, nr_allocated, 0);
	}
	/* itself, and its events as they are asked for */
	KUNIT_EXPECT_EQ(test, nth, 3U);
	fail_allocation = 0;
	my_perf_event_destroy(event);
}

static void client_unwinds_registers(struct kunit *test)
{
	const struct sim_pmu *pmu = test->param_value;
	struct my_perf_event *event;
	struct sim_registers before;
	struct my_pmu_why why;
	struct sim_cpu *sim;
	unsigned int nth;

	test_run_there(test);
	test_host.reserved = ~0U;
	for (nth = 1; ; nth++) {
		sim = fresh_cpu(pmu, &before);
		sim->fail_nth = nth;
		event = my_perf_event_create(TEST_CPU, "instructions@gp0", &why);
		if (!IS_ERR(event))
			break;
		KUNIT_EXPECT_EQ(test, PTR_ERR(event), -EIO);
		KUNIT_ASSERT_EQ(test, sim->fail_nth, 0U);
		KUNIT_EXPECT_TRUE_MSG(test, strstr(why.text, "fault"), "access %u: %s",
				      nth, why.text);
		KUNIT_EXPECT_EQ(test, used(test), 0ULL);
		test_forgive_restoring(&before, sim);
		test_expect_registers(test, pmu, &before, &sim->regs);
	}
	KUNIT_EXPECT_GT(test, nth, 8U);
	sim->fail_nth = 0;
	my_perf_event_destroy(event);
	test_expect_registers(test, pmu, &before, &sim->regs);
}

/* The same while another set counts, which does not notice, and leaves no trace. */
static void client_unwinds_beside(struct kunit *test)
{
	const struct sim_pmu *pmu = test->param_value;
	const char *own = pmu->gp > 1 ? "cycles:u@gp1" : "cycles:u@fixed1";
	struct my_pmu_sample *s = test_sample(test);
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct my_perf_event *event;
	struct sim_registers before;
	struct my_event_set *set;
	struct my_pmu_why why;
	unsigned int nth;

	test_run_there(test);
	test_host.reserved = ~0U;
	for (nth = 1; ; nth++) {
		set = test_set(test, pmu, own);
		test_leave_traces(sim);
		before = sim->regs;
		test_up(test, set);
		test_retire(test, 10, 0);
		sim->fail_nth = nth;
		event = my_perf_event_create(TEST_CPU, "instructions@gp0", &why);
		sim->fail_nth = 0;
		KUNIT_EXPECT_EQ(test, used(test) & set->used, set->used);
		if (!IS_ERR(event))
			my_perf_event_destroy(event);
		else
			KUNIT_EXPECT_EQ(test, PTR_ERR(event), -EIO);
		KUNIT_EXPECT_EQ(test, used(test), set->used);
		test_retire(test, 10, 0);
		KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
		KUNIT_EXPECT_EQ(test, s->count[0], 20ULL);
		KUNIT_EXPECT_EQ(test, s->marks.clobbered | s->marks.late, 0ULL);
		KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
		my_event_set_release(set);
		if (sim->has_failed)
			test_forgive_restoring(&before, sim);
		test_expect_registers(test, pmu, &before, &sim->regs);
		if (!sim->has_failed)
			break;
		kunit_kfree(test, set);
	}
	KUNIT_EXPECT_GT(test, nth, 8U);
}

static void client_liar(struct kunit *test)
{
	struct sim_registers before;
	struct sim_cpu *sim = fresh_cpu(PMU(V4), &before);
	struct my_perf_event *event;
	struct my_pmu_why why;

	sim->broken = SIM_DEAD;
	sim->broken_counters = BIT_ULL(3);
	event = my_perf_event_create(TEST_CPU, "cycles@gp3", &why);
	KUNIT_EXPECT_EQ(test, PTR_ERR(event), -ENODEV);
	KUNIT_EXPECT_TRUE_MSG(test, strstr(why.text, "gp3 stands still"), "%s", why.text);
	my_perf_event_destroy(create(test, "cycles@gp2"));
	sim->broken = SIM_SOUND;
	test_expect_registers(test, PMU(V4), &before, &sim->regs);
}

/* --- beside others ------------------------------------------------------------------------- */

/* Whatever it does, other sets' counters are as they were. */
static void client_beside(struct kunit *test)
{
	/* Not in the kernel: the self-test runs there. */
	static const char *own =
		"instructions:u@gp2,cycles:u@gp3,instructions:u@fixed0,cycles:u@fixed1";
	struct my_event_set *set = test_set(test, PMU(V4), own);
	struct my_pmu_sample *s = test_sample(test);
	struct my_perf_event *first, *second, *third;
	unsigned int round;
	u64 count;

	test_up(test, set);
	for (round = 1; round <= 3; round++) {
		first = create(test, "instructions");
		KUNIT_EXPECT_EQ(test, used(test) & ~set->used, BIT_ULL(0));
		second = create(test, "{ref-cycles,cycles,cycles}");
		KUNIT_EXPECT_EQ(test, used(test) & ~set->used,
				BIT_ULL(0) | BIT_ULL(1) | BIT_ULL(4) | BIT_ULL(34));
		KUNIT_EXPECT_PTR_EQ(test, set->cpu->owner[0], first->set);
		KUNIT_EXPECT_PTR_EQ(test, set->cpu->owner[34], second->set);
		KUNIT_EXPECT_EQ(test, my_perf_event_enable(second), 0);
		test_retire(test, 10, 0);
		KUNIT_EXPECT_EQ(test, my_perf_event_enable(first), 0);
		test_retire(test, 10, 0);
		KUNIT_EXPECT_EQ(test, my_perf_event_read(second, &count), 0);
		KUNIT_EXPECT_EQ(test, my_perf_event_disable(second), 0);
		KUNIT_EXPECT_EQ(test, my_perf_event_read(first, &count), 0);
		KUNIT_EXPECT_EQ(test, count, 10ULL);
		my_perf_event_destroy(first);
		third = create(test, "r99");
		KUNIT_EXPECT_TRUE(test, used(test) & BIT_ULL(0));
		my_perf_event_destroy(third);
		my_perf_event_destroy(second);
		KUNIT_EXPECT_EQ(test, used(test), set->used);
		KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
		KUNIT_EXPECT_EQ(test, s->marks.clobbered | s->marks.late, 0ULL);
		KUNIT_EXPECT_EQ(test, s->count[0], 20ULL * round);
		KUNIT_EXPECT_EQ(test, s->count[2], 20ULL * round);
		KUNIT_EXPECT_EQ(test, s->count[3], s->count[1]);
	}
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
	my_event_set_release(set);
}

/* Those with as many generic counters as the test below needs. */
static const void *four_gp_gen_params(const void *prev, char *desc)
{
	const void *pmu = prev;

	do {
		pmu = test_pmu_gen_params(pmu, desc);
	} while (pmu && ((const struct sim_pmu *)pmu)->gp < 4);
	return pmu;
}

/* In whatever order they begin, end, start and stop, nothing is left. */
static void client_any_order(struct kunit *test)
{
	static const unsigned int orders[][3] = {
		{ 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 }, { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 },
	};
	static const char * const what[] = {
		"instructions@gp0", "{cycles@gp1,branches@gp2}", "branches:u",
	};
	const struct sim_pmu *pmu = test->param_value;
	struct my_perf_event *event[3];
	struct sim_registers before;
	unsigned int start, end, i;
	struct sim_cpu *sim;
	u64 count;

	test_host.reserved = ~0U;
	for (start = 0; start < ARRAY_SIZE(orders); start++) {
		for (end = 0; end < ARRAY_SIZE(orders); end++) {
			sim = fresh_cpu(pmu, &before);
			for (i = 0; i < 3; i++)
				event[i] = create(test, what[i]);
			for (i = 0; i < 3; i++)
				KUNIT_EXPECT_EQ(test, my_perf_event_enable(event[orders[start][i]]),
						0);
			test_retire(test, 10, 10);
			KUNIT_EXPECT_EQ(test, my_perf_event_disable(event[orders[end][0]]), 0);
			for (i = 0; i < 3; i++) {
				KUNIT_EXPECT_EQ(test, my_perf_event_read(event[i], &count), 0);
				my_perf_event_destroy(event[orders[end][i]]);
				event[orders[end][i]] = create(test, "instructions");
			}
			for (i = 0; i < 3; i++)
				my_perf_event_destroy(event[i]);
			test_expect_registers(test, pmu, &before, &sim->regs);
		}
	}
}

/* --- what was lost ---------------------------------------------------------------------------- */

static void client_stale(struct kunit *test)
{
	struct sim_registers before;
	struct sim_cpu *sim = fresh_cpu(PMU(V4), &before);
	struct my_perf_event *event = create(test, "{instructions@gp0,cycles@gp1}");
	u64 count = 7, counts[2] = { 7, 7 };

	KUNIT_EXPECT_EQ(test, my_perf_event_enable(event), 0);
	test_retire(test, 10, 0);
	sim->regs.evtsel[0] = 0;
	KUNIT_EXPECT_EQ(test, my_perf_event_read(event, &count), -ESTALE);
	KUNIT_EXPECT_EQ(test, count, 7ULL);
	test_retire(test, 5, 0);
	KUNIT_EXPECT_EQ(test, my_perf_event_read(event, &count), 0);
	KUNIT_EXPECT_EQ(test, count, 5ULL);
	/* of any of the group; but not of what others are asked for */
	sim->regs.evtsel[1] = 0;
	KUNIT_EXPECT_EQ(test, my_perf_event_read(event, &count), 0);
	KUNIT_EXPECT_EQ(test, my_perf_event_read_group(event, counts, 2), -ESTALE);
	KUNIT_EXPECT_EQ(test, counts[0] + counts[1], 14ULL);
	test_retire(test, 1, 0);
	KUNIT_EXPECT_EQ(test, my_perf_event_read_group(event, counts, 2), 0);
	KUNIT_EXPECT_EQ(test, counts[0], 6ULL);
	/* as whoever marks it would leave the plan */
	event->set->marks.late = BIT_ULL(0);
	event->set->local_cpu = -1;
	event->set->plan.valid = false;
	KUNIT_EXPECT_EQ(test, my_perf_event_read(event, &count), -ESTALE);
	/* seen when it is stopped, and reported when it is read */
	sim->regs.evtsel[0] = 0;
	KUNIT_EXPECT_EQ(test, my_perf_event_disable(event), 0);
	KUNIT_EXPECT_EQ(test, my_perf_event_read(event, &count), -ESTALE);
	KUNIT_EXPECT_EQ(test, my_perf_event_read(event, &count), 0);
	KUNIT_EXPECT_EQ(test, count, 6ULL);
	my_perf_event_destroy(event);
	test_expect_registers(test, PMU(V4), &before, &sim->regs);
}

/* A register faults while its CPU goes: what it had counted then is not known. */
static void client_lost(struct kunit *test)
{
	struct sim_registers before;
	struct sim_cpu *sim = fresh_cpu(PMU(V4), &before);
	struct my_perf_event *event = create(test, "{instructions@gp0,cycles:u@gp1}");
	struct my_pmu_why why;
	u64 count;

	KUNIT_EXPECT_EQ(test, my_perf_event_enable(event), 0);
	test_retire(test, 10, 0);
	KUNIT_EXPECT_EQ(test, my_perf_event_read(event + 1, &count), 0);
	test_retire(test, 10, 0);
	sim->fail_reg = 1;	/* RDPMC of gp1 */
	KUNIT_EXPECT_EQ(test, my_clients_go(TEST_CPU), -EIO);
	sim->fail_reg = 0;
	KUNIT_EXPECT_EQ(test, my_clients_come(TEST_CPU, &why), 0);
	KUNIT_EXPECT_EQ(test, my_perf_event_read(event, &count), 0);
	KUNIT_EXPECT_EQ(test, count, 20ULL);
	KUNIT_EXPECT_EQ(test, my_perf_event_read(event + 1, &count), -ESTALE);
	KUNIT_EXPECT_EQ(test, my_perf_event_read(event + 1, &count), 0);
	KUNIT_EXPECT_EQ(test, count, 10ULL);
	my_perf_event_destroy(event);
}

/* Read in time by us, and what there is to say is left to the module. */
static void client_keep_up(struct kunit *test)
{
	struct sim_registers before;
	struct sim_cpu *sim = fresh_cpu(PMU(V2_32), &before);
	struct my_perf_event *event;
	u64 count;

	sim->regs.pmc[0] = 0xfffffff0;
	before = sim->regs;
	event = create(test, "instructions@gp0");
	KUNIT_EXPECT_EQ(test, nr_started, 1U);
	KUNIT_EXPECT_EQ(test, started_in, msecs_to_jiffies(8));
	keep_up(&keeper.work);
	KUNIT_EXPECT_EQ(test, nr_again, 1U);
	KUNIT_EXPECT_EQ(test, again_in, msecs_to_jiffies(8));
	test_expect_registers(test, PMU(V2_32), &before, &sim->regs);
	KUNIT_EXPECT_EQ(test, my_perf_event_enable(event), 0);
	test_retire(test, 20, 0);
	keep_up(&keeper.work);
	KUNIT_EXPECT_EQ(test, event->count, 20ULL);
	KUNIT_EXPECT_EQ(test, event->hw.prev_count, 4ULL);
	KUNIT_EXPECT_EQ(test, event->set->marks.wrapped, BIT_ULL(0));
	KUNIT_EXPECT_EQ(test, my_perf_event_read(event, &count), 0);
	KUNIT_EXPECT_EQ(test, count, 20ULL);
	/* It was not read for so long that it may have wrapped again. */
	event->hw.prev_time -= 100 * NSEC_PER_MSEC;
	event->set->cpu->overflow_reliable = 0;
	keep_up(&keeper.work);
	KUNIT_EXPECT_EQ(test, my_perf_event_read(event, &count), -ESTALE);
	sim->regs.evtsel[0] = 0;
	keep_up(&keeper.work);
	KUNIT_EXPECT_EQ(test, my_perf_event_read(event, &count), -ESTALE);
	KUNIT_EXPECT_EQ(test, my_perf_event_read(event, &count), 0);
	KUNIT_EXPECT_EQ(test, my_clients_go(TEST_CPU), 0);
	keep_up(&keeper.work);
	my_perf_event_destroy(event);
	KUNIT_EXPECT_EQ(test, nr_again, 5U);
	keep_up(&keeper.work);
	KUNIT_EXPECT_EQ(test, nr_again, 5U);
	test_expect_registers(test, PMU(V2_32), &before, &sim->regs);
}

/* As often as the narrowest counter in use needs it. */
static void client_keep_up_how_often(struct kunit *test)
{
	struct my_perf_event *wide, *narrow;
	struct sim_registers before;

	fresh_cpu(PMU(V4_NARROW_FIXED), &before);
	wide = create(test, "cycles:u@gp0");
	keep_up(&keeper.work);
	KUNIT_EXPECT_EQ(test, again_in, msecs_to_jiffies(1 << 19));
	/* What is as wide does not put it off. */
	narrow = create(test, "cycles:u@gp1");
	KUNIT_EXPECT_EQ(test, nr_started, 1U);
	my_perf_event_destroy(narrow);
	/* What may be an occupancy is read sooner. */
	narrow = create(test, "r99");
	KUNIT_EXPECT_EQ(test, nr_started, 2U);
	KUNIT_EXPECT_EQ(test, started_in, msecs_to_jiffies(1 << 15));
	my_perf_event_destroy(narrow);
	keep_up(&keeper.work);
	KUNIT_EXPECT_EQ(test, again_in, msecs_to_jiffies(1 << 19));
	narrow = create(test, "cycles@fixed1");
	KUNIT_EXPECT_EQ(test, nr_started, 3U);
	KUNIT_EXPECT_EQ(test, started_in, msecs_to_jiffies(8));
	keep_up(&keeper.work);
	KUNIT_EXPECT_EQ(test, again_in, msecs_to_jiffies(8));
	my_perf_event_destroy(narrow);
	keep_up(&keeper.work);
	KUNIT_EXPECT_EQ(test, again_in, msecs_to_jiffies(1 << 19));
	my_perf_event_destroy(wide);
	fresh_cpu(PMU(V4_64), &before);
	test_host.reserved = ~0U;
	wide = create(test, "r99");
	keep_up(&keeper.work);
	KUNIT_EXPECT_EQ(test, again_in, msecs_to_jiffies(60 * 60 * 1000));
	my_perf_event_destroy(wide);
}

/* A counter of 32 bits and what may be an occupancy: as often as can be, but not at once. */
static void client_keep_up_no_oftener(struct kunit *test)
{
	struct sim_registers before;
	struct my_perf_event *event;

	fresh_cpu(PMU(V2_32), &before);
	event = create(test, "r99");
	KUNIT_EXPECT_EQ(test, started_in, 1UL);
	keep_up(&keeper.work);
	KUNIT_EXPECT_EQ(test, again_in, 1UL);
	my_perf_event_destroy(event);
}

/* --- CPUs go and come ----------------------------------------------------------------------- */

static void client_goes_and_comes(struct kunit *test)
{
	struct sim_registers before;
	struct sim_cpu *sim = fresh_cpu(PMU(V4), &before);
	struct my_perf_event *on = create(test, "instructions:u");
	struct my_perf_event *off = create(test, "cycles");
	struct my_pmu_why why;
	u64 count;

	KUNIT_EXPECT_EQ(test, my_perf_event_enable(on), 0);
	test_retire(test, 10, 0);
	KUNIT_EXPECT_EQ(test, my_clients_go(0), 0);
	test_retire(test, 10, 0);
	KUNIT_EXPECT_EQ(test, my_clients_go(TEST_CPU), 0);
	test_expect_registers(test, PMU(V4), &before, &sim->regs);
	KUNIT_EXPECT_EQ(test, my_perf_event_enable(off), -ENXIO);
	KUNIT_EXPECT_EQ(test, my_perf_event_read(on, &count), -ENXIO);
	test_retire(test, 1000, 0);
	KUNIT_EXPECT_EQ(test, my_clients_come(0, &why), 0);
	KUNIT_EXPECT_EQ(test, my_perf_event_read(on, &count), -ENXIO);
	my_clients_sleep(true);
	KUNIT_EXPECT_EQ(test, my_clients_come(TEST_CPU, &why), 0);
	KUNIT_EXPECT_EQ(test, my_perf_event_read(on, &count), -ENXIO);
	KUNIT_EXPECT_EQ(test, PTR_ERR(my_perf_event_create(TEST_CPU, "r99", &why)),
			-EBUSY);
	KUNIT_EXPECT_STREQ(test, why.text, "the machine goes to sleep");
	my_clients_sleep(false);
	KUNIT_EXPECT_EQ(test, my_clients_come(TEST_CPU, &why), 0);
	test_retire(test, 10, 0);
	KUNIT_EXPECT_EQ(test, my_perf_event_read(on, &count), 0);
	KUNIT_EXPECT_EQ(test, count, 30ULL);
	KUNIT_EXPECT_EQ(test, my_perf_event_read(off, &count), 0);
	KUNIT_EXPECT_EQ(test, count, 0ULL);
	my_perf_event_destroy(on);
	my_perf_event_destroy(off);
	test_expect_registers(test, PMU(V4), &before, &sim->regs);
}

/* Of two the first that fails is reported, and the third one counts. */
static void client_comes_broken(struct kunit *test)
{
	struct sim_registers before;
	struct sim_cpu *sim = fresh_cpu(PMU(V4), &before);
	struct my_perf_event *one = create(test, "cycles@gp0");
	struct my_perf_event *two = create(test, "cycles@gp1");
	struct my_perf_event *three = create(test, "cycles@gp2");
	struct my_pmu_why why;
	u64 count;

	KUNIT_EXPECT_EQ(test, my_perf_event_enable(three), 0);
	KUNIT_EXPECT_EQ(test, my_clients_go(TEST_CPU), 0);
	sim->broken = SIM_DEAD;
	sim->broken_counters = BIT_ULL(0) | BIT_ULL(1);
	KUNIT_EXPECT_EQ(test, my_clients_come(TEST_CPU, &why), -ENODEV);
	KUNIT_EXPECT_TRUE_MSG(test, strstr(why.text, "gp0 stands still"), "%s", why.text);
	sim->broken = SIM_SOUND;
	test_retire(test, 10, 0);
	/* It is not that the CPU is offline, until it is. */
	KUNIT_EXPECT_EQ(test, my_perf_event_read(one, &count), -ENODEV);
	KUNIT_EXPECT_EQ(test, my_perf_event_enable(one), -ENODEV);
	KUNIT_EXPECT_EQ(test, my_perf_event_disable(one), 0);
	KUNIT_EXPECT_EQ(test, my_perf_event_read(three, &count), 0);
	KUNIT_EXPECT_EQ(test, count, 10ULL);
	KUNIT_EXPECT_EQ(test, my_clients_go(TEST_CPU), 0);
	KUNIT_EXPECT_EQ(test, my_perf_event_read(one, &count), -ENXIO);
	KUNIT_EXPECT_EQ(test, my_perf_event_enable(one), -ENXIO);
	my_perf_event_destroy(two);
	my_perf_event_destroy(one);
	my_perf_event_destroy(three);
	test_expect_registers(test, PMU(V4), &before, &sim->regs);
}

/* A module has gone and left them. */
static void client_left(struct kunit *test)
{
	struct sim_registers before;
	struct sim_cpu *sim = fresh_cpu(PMU(V4), &before);

	KUNIT_EXPECT_EQ(test, my_perf_event_enable(create(test, "cycles")), 0);
	create(test, "{instructions,r99}");
	KUNIT_EXPECT_EQ(test, my_clients_end(), 2U);
	KUNIT_EXPECT_EQ(test, nr_allocated, 0);
	test_expect_registers(test, PMU(V4), &before, &sim->regs);
}

/* Events of perf have counters, and keep them. */
static void client_beside_perf(struct kunit *test)
{
	struct my_pool_event *of_perf = kunit_kzalloc(test, sizeof(*of_perf), GFP_KERNEL);
	struct my_pmu_cpu *cpu = my_pmu_cpu_of(TEST_CPU);
	struct sim_registers before;
	struct sim_cpu *sim = fresh_cpu(PMU(V2_32), &before);
	struct my_perf_event *event;
	struct my_pmu_why why;
	unsigned int nth, refused = 0;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, of_perf);
	KUNIT_ASSERT_EQ(test, my_pools_begin(0xff, false, ~0ULL), 0);
	KUNIT_ASSERT_EQ(test, my_pools_come(TEST_CPU, &why), 0);
	of_perf->attr.config = 0xc4;
	of_perf->id = 1;
	of_perf->kind = my_pool_kind(TEST_CPU);
	of_perf->counters = BIT_ULL(0);
	KUNIT_ASSERT_EQ(test, test_pool_add(TEST_CPU, of_perf), 0);
	event = my_perf_event_create(TEST_CPU, "branches@gp0", &why);
	KUNIT_EXPECT_PTR_EQ(test, event, ERR_PTR(-EBUSY));
	KUNIT_EXPECT_STREQ(test, why.text,
			   "'branches@gp0': gp0 is in use on CPU 1, for an event of perf (my_pmu/.../); without a counter it chooses");
	event = my_perf_event_create(TEST_CPU, "{branches,branches:u}", &why);
	KUNIT_EXPECT_PTR_EQ(test, event, ERR_PTR(-ENOSPC));
	KUNIT_EXPECT_STREQ(test, why.text,
			   "'branches:u' and its group in braces: no counters are left that count these 2 events at the same time; CPU 1 has 2 generic (gp) and 3 fixed counters, and events of perf (my_pmu/.../) use some");
	event = create(test, "branches");
	KUNIT_EXPECT_EQ(test, event->hw.idx, 1);
	KUNIT_EXPECT_EQ(test, cpu->pooled, 0x700000001ULL);
	my_perf_event_destroy(event);
	KUNIT_EXPECT_EQ(test, cpu->pooled, 0x700000003ULL);
	/* One that fails its test is not theirs, until it has passed another one. */
	sim->broken = SIM_DEAD;
	sim->broken_counters = BIT_ULL(1);
	event = my_perf_event_create(TEST_CPU, "{branches@gp1,instructions@fixed0}", &why);
	KUNIT_EXPECT_PTR_EQ(test, event, ERR_PTR(-ENODEV));
	KUNIT_EXPECT_EQ(test, cpu->pooled, 0x700000001ULL);
	sim->broken_counters = 0;
	my_perf_event_destroy(create(test, "branches@gp1"));
	KUNIT_EXPECT_EQ(test, cpu->pooled, 0x700000003ULL);
	/* Whatever faults, also when the pool gives the counter up. */
	for (nth = 1; nth < 100; nth++) {
		test_pool_del(TEST_CPU, of_perf);
		sim->fail_nth = nth;
		event = my_perf_event_create(TEST_CPU, "branches@gp0", &why);
		sim->fail_nth = 0;
		if (IS_ERR(event))
			refused++;
		else	/* one at the stop is of no consequence */
			my_perf_event_destroy(event);
		KUNIT_EXPECT_EQ(test, cpu->used, 0ULL);
		my_pools_go(TEST_CPU);
		sim->regs = before;
		KUNIT_ASSERT_EQ(test, my_pools_come(TEST_CPU, &why), 0);
		KUNIT_ASSERT_EQ(test, test_pool_add(TEST_CPU, of_perf), 0);
	}
	KUNIT_EXPECT_GT(test, refused, 90U);
	test_pool_del(TEST_CPU, of_perf);
	KUNIT_EXPECT_EQ(test, my_pools_go(TEST_CPU), 0);
	my_pools_end();
	test_expect_registers(test, PMU(V2_32), &before, &sim->regs);
}

static struct kunit_case client_cases[] = {
	KUNIT_CASE(client_counts),
	KUNIT_CASE(client_beside_perf),
	KUNIT_CASE(client_group_size),
	KUNIT_CASE(client_beside_a_name),
	KUNIT_CASE_PARAM(client_refused, refused_gen_params),
	KUNIT_CASE(client_firmware),
	KUNIT_CASE(client_unwinds_allocations),
	KUNIT_CASE_PARAM(client_unwinds_registers, test_pmu_gen_params),
	KUNIT_CASE(client_liar),
	KUNIT_CASE(client_beside),
	KUNIT_CASE(client_stale),
	KUNIT_CASE(client_goes_and_comes),
	KUNIT_CASE(client_comes_broken),
	KUNIT_CASE(client_left),
	KUNIT_CASE(client_half_online),
	KUNIT_CASE_PARAM(client_any_order, four_gp_gen_params),
	KUNIT_CASE(client_lost),
	KUNIT_CASE(client_keep_up),
	KUNIT_CASE(client_keep_up_how_often),
	KUNIT_CASE(client_keep_up_no_oftener),
	KUNIT_CASE_PARAM(client_unwinds_beside, test_pmu_gen_params),
	{ }
};

static struct kunit_suite client_suite = {
	.name = "my_pmu_client",
	.init = client_init,
	.exit = client_exit,
	.test_cases = client_cases,
};

kunit_test_suite(client_suite);
