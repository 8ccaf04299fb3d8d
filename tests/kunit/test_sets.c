// SPDX-License-Identifier: GPL-2.0
/*
 * Event sets that share a CPU: each counter belongs to one of them, and whatever is
 * done with one, also if a register faults, the others count on as if it were alone.
 */
#include <linux/bitops.h>
#include <linux/workqueue.h>

#include "test.h"

/* --- which counters ---------------------------------------------------------------- */

/* Each counter in use has an owner, and no other has. */
static void expect_owners(struct kunit *test)
{
	const struct my_pmu_cpu *cpu = my_pmu_cpu_of(TEST_CPU);
	u64 owned = 0;
	int idx;

	for (idx = 0; idx < MY_PMC_MAX; idx++) {
		if (!cpu->owner[idx])
			continue;
		owned |= BIT_ULL(idx);
		KUNIT_EXPECT_TRUE(test, cpu->owner[idx]->used & BIT_ULL(idx));
	}
	KUNIT_EXPECT_EQ(test, owned, cpu->used);
}

static struct my_event_set *new_set(struct kunit *test)
{
	struct my_event_set *set = kunit_kzalloc(test, sizeof(*set), GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, set);
	my_event_set_init(set, my_pmu_cpu_of(TEST_CPU));
	return set;
}

/* One event, which gets its counter if the others have left one. */
static int assign_one(struct kunit *test, struct my_event_set *set, const char *event,
		      struct my_pmu_why *why)
{
	struct my_perf_event_attr attr;

	KUNIT_ASSERT_EQ(test, my_parse_events(event, &attr, 1, why), 1);
	*why = (struct my_pmu_why) {};
	return test_assign(set, &attr, 1, why);
}

static struct my_event_set *claim_one(struct kunit *test, const char *event)
{
	struct my_event_set *set = new_set(test);
	u64 before = set->cpu->used;
	struct my_pmu_why why;

	KUNIT_ASSERT_EQ_MSG(test, assign_one(test, set, event, &why), 0, "%s", why.text);
	KUNIT_EXPECT_EQ(test, set->used & before, 0ULL);
	KUNIT_EXPECT_EQ(test, set->used, BIT_ULL(set->event[0].hw.idx));
	KUNIT_EXPECT_EQ(test, set->cpu->used, before | set->used);
	expect_owners(test);
	return set;
}

/* As many sets as there are counters for their event, and not one more. */
static void sets_claim(struct kunit *test)
{
	const struct sim_pmu *pmu = test->param_value;
	struct my_event_set *set[MY_PMC_MAX], *late;
	struct my_pmu_why why = {};
	unsigned int nr, i, generic;
	struct my_pmu_cpu *cpu;
	char text[160];
	int idx;

	set[0] = test_set(test, pmu, "cycles");
	cpu = set[0]->cpu;
	generic = my_pmu_num_counters(&cpu->pmu);
	nr = generic + !!(cpu->pmu.counters & BIT_ULL(33));
	for (i = 1; i < nr; i++)
		set[i] = claim_one(test, "cycles");
	for (i = 0; i < nr; i++)
		KUNIT_EXPECT_PTR_EQ(test, cpu->owner[set[i]->event[0].hw.idx], set[i]);

	late = new_set(test);
	KUNIT_EXPECT_EQ(test, assign_one(test, late, "cycles", &why), -ENOSPC);
	snprintf(text, sizeof(text),
		 "'cycles': no counter is left that counts it; CPU 1 has %u generic (gp) and %u fixed counters, and other events of my_pmu use some",
		 generic, my_pmu_num_counters_fixed(&cpu->pmu));
	KUNIT_EXPECT_STREQ(test, why.text, text);
	KUNIT_EXPECT_EQ(test, assign_one(test, late, "cycles@gp0", &why), -EBUSY);
	KUNIT_EXPECT_STREQ(test, why.text,
			   "'cycles@gp0': gp0 is in use on CPU 1, for other events of my_pmu; without a counter it chooses");

	/* The one that another releases is free, and no other. */
	idx = set[1]->event[0].hw.idx;
	my_event_set_release(set[1]);
	expect_owners(test);
	KUNIT_EXPECT_NULL(test, cpu->owner[idx]);
	KUNIT_ASSERT_EQ(test, assign_one(test, late, "cycles", &why), 0);
	KUNIT_EXPECT_EQ(test, late->event[0].hw.idx, idx);
	/* Released once more, it is still another's. */
	my_event_set_release(set[1]);
	KUNIT_EXPECT_PTR_EQ(test, cpu->owner[idx], late);
	expect_owners(test);

	my_event_set_release(late);
	for (i = 0; i < nr; i++)
		my_event_set_release(set[i]);
	KUNIT_EXPECT_EQ(test, cpu->used, 0ULL);
	expect_owners(test);
}

/**
 * struct left_row - an event, on V4, while other sets and the firmware use counters
 * @event: the parameter
 * @used: by other sets
 * @firmware: by the firmware
 * @idx: the counter that it gets
 * @err: or why not
 * @text: and with which words
 */
struct left_row {
	const char *event;
	u64 used;
	u64 firmware;
	int idx;
	int err;
	const char *text;
};

static const struct left_row left_rows[] = {
	{ "instructions", BIT_ULL(32), 0, 0 },
	{ "instructions", BIT_ULL(32) | 0x3, 0x4, 3 },
	{ "instructions", 0x0f, 0xf0, 32 },
	{ "instructions@gp1", BIT_ULL(32) | 0xf5, 0x8, 1 },
	{ "cycles@gp0-1+gp5", 0x1, 0x2, 5 },
	{ "instructions@gp2", 0x4, 0, 0, -EBUSY,
	  "'instructions@gp2': gp2 is in use on CPU 1, for other events of my_pmu; without a counter it chooses",
	},
	{ "cycles:u@fixed1", BIT_ULL(33), 0, 0, -EBUSY,
	  "'cycles:u@fixed1': fixed1 is in use on CPU 1, for other events of my_pmu; without a counter it chooses",
	},
	{ "instructions@gp2", 0x8, 0x4, 0, -EBUSY,
	  "'instructions@gp2': gp2 is in use on CPU 1, and not by Linux: its firmware or microcode (TSX) uses it; without a counter, as in counters=instructions,cycles, the module chooses",
	},
	/* Where it could not be anyway that is what is said. */
	{ "cycles@fixed0", BIT_ULL(32), 0, 0, -EINVAL,
	  "'cycles@fixed0': fixed0 cannot count this event; leave the counter out and the module chooses",
	},
	{ "ref-cycles", BIT_ULL(34), 0, 0, -ENOSPC,
	  "'ref-cycles': no counter is left that counts it; CPU 1 has 8 generic (gp) and 3 fixed counters, and other events of my_pmu use some",
	},
	{ "branches", 0xf0, 0xf, 0, -ENOSPC,
	  "'branches': no counter is left that counts it; CPU 1 has 8 generic (gp) and 3 fixed counters, and its firmware and other events of my_pmu use some",
	},
	{ "cycles@gp2-3", 0xc, 0, 0, -ENOSPC,
	  "'cycles': no counter is left that counts it; CPU 1 has 8 generic (gp) and 3 fixed counters, and other events of my_pmu use some",
	},
};

static void left_desc(const struct left_row *row, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s-%llx-%llx", row->event, row->used,
		 row->firmware);
}

KUNIT_ARRAY_PARAM(left, left_rows, left_desc);

static void sets_left(struct kunit *test)
{
	const struct left_row *row = test->param_value;
	struct my_event_set *other = test_set(test, PMU(V4), "branches");
	struct my_event_set *set = new_set(test);
	struct my_pmu_why why = {};

	my_event_set_release(other);
	test_claim(other, row->used);
	set->cpu->firmware = row->firmware;
	KUNIT_EXPECT_EQ(test, assign_one(test, set, row->event, &why), row->err);
	if (row->err)
		KUNIT_EXPECT_STREQ(test, why.text, row->text);
	else
		KUNIT_EXPECT_EQ(test, set->event[0].hw.idx, row->idx);
	KUNIT_EXPECT_EQ(test, set->cpu->used, row->used | set->used);
	KUNIT_EXPECT_EQ(test, set->used & row->used, 0ULL);
	KUNIT_EXPECT_EQ(test, set->cpu->firmware, row->firmware);
	expect_owners(test);
	my_event_set_release(set);
	my_event_set_release(other);
}

/* --- two of them, which have all counters ------------------------------------------ */

/**
 * struct pair - two sets, each with every other counter
 * @pmu: what the CPU has
 * @set: the sets; something is done with the first, and the second is watched
 * @attr: their events
 * @nr: how many
 * @value: what the counters of the second showed
 * @growth: by how much each event of the second has grown since it is up
 */
struct pair {
	const struct sim_pmu *pmu;
	struct my_event_set *set[2];
	struct my_perf_event_attr attr[2][MY_EVENTS_MAX];
	unsigned int nr[2];
	u64 value[MY_EVENTS_MAX];
	u64 growth[MY_EVENTS_MAX];
};

/* A CPU that was just reset: both have their counters, nothing is programmed. */
static void restart(struct kunit *test, struct pair *pair)
{
	struct my_pmu_why why = {};
	struct my_pmu_cpu *cpu;
	unsigned int i;

	sim_reset(TEST_CPU, pair->pmu);
	cpu = test_fresh_cpu();
	KUNIT_ASSERT_EQ_MSG(test, my_pmu_probe(cpu, NULL, &why), 0, "%s", why.text);
	for (i = 0; i < 2; i++) {
		struct my_event_set *set = pair->set[i];
		int err;

		memset(set, 0, sizeof(*set));
		my_event_set_init(set, cpu);
		err = test_assign(set, pair->attr[i], pair->nr[i], &why);
		KUNIT_ASSERT_EQ_MSG(test, err, 0, "%s", why.text);
	}
	KUNIT_EXPECT_EQ(test, pair->set[0]->used & pair->set[1]->used, 0ULL);
	KUNIT_EXPECT_EQ(test, cpu->used, cpu->pmu.counters);
	expect_owners(test);
	memset(pair->growth, 0, sizeof(pair->growth));
}

/* User code only: then neither sees the other's self-test. */
static struct pair *new_pair(struct kunit *test, bool user_only)
{
	const struct sim_pmu *pmu = test->param_value;
	struct pair *pair = kunit_kzalloc(test, sizeof(*pair), GFP_KERNEL);
	struct my_event_set *all;
	unsigned int i;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, pair);
	all = test_all_counters(test, pmu);
	for (i = 0; i < all->nr_events; i++) {
		unsigned int *nr = &pair->nr[i % 2];

		pair->attr[i % 2][*nr] = all->event[i].attr;
		pair->attr[i % 2][*nr].exclude_kernel = user_only;
		pair->attr[i % 2][*nr].group = *nr;
		++*nr;
	}
	pair->pmu = pmu;
	pair->set[0] = all;
	pair->set[1] = new_set(test);
	restart(test, pair);
	return pair;
}

static u64 *counter_of(struct sim_cpu *sim, const struct my_perf_event *event)
{
	int idx = event->hw.idx;

	return my_pmc_is_fixed(idx) ? &sim->regs.fixed[my_pmc_number(idx)] :
				      &sim->regs.pmc[idx];
}

/* In @into all that belongs to the counters of a set is as in @from. */
static void copy_registers(struct sim_registers *into,
			   const struct sim_registers *from,
			   const struct my_event_set *set)
{
	unsigned int i;
	u64 left, fields = 0;

	for (left = set->used; left; left &= left - 1) {
		int idx = __ffs64(left), n = my_pmc_number(idx);

		if (my_pmc_is_fixed(idx)) {
			into->fixed[n] = from->fixed[n];
			fields |= 0xfULL << (4 * n);
			continue;
		}
		into->pmc[n] = from->pmc[n];
		into->evtsel[n] = from->evtsel[n];
	}
	into->fixed_ctr_ctrl &= ~fields;
	into->fixed_ctr_ctrl |= from->fixed_ctr_ctrl & fields;
	into->global_ctrl &= ~set->used;
	for (left = set->used; left; left &= left - 1) {
		i = sim_cfg(__ffs64(left));
		if (i >= ARRAY_SIZE(into->cfg_b))
			continue;
		into->cfg_b[i] = from->cfg_b[i];
		into->cfg_c[i] = from->cfg_c[i];
	}
	into->global_ctrl |= from->global_ctrl & set->used;
	into->global_status &= ~set->used;
	into->global_status |= from->global_status & set->used;
}

static void expect_counts(struct kunit *test, const struct my_event_set *set, u64 count)
{
	unsigned int i;

	for (i = 0; i < set->nr_events; i++)
		KUNIT_EXPECT_EQ_MSG(test, set->event[i].count, count, "event %u", i);
}

/* Whichever goes first, its registers are as before, and the other's as they are. */
static void expect_restored(struct kunit *test, struct pair *pair, unsigned int first)
{
	struct my_event_set *one = pair->set[first], *other = pair->set[!first];
	struct my_pmu_sample *s = test_sample(test);
	struct my_pmu_cpu *cpu = one->cpu;
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct sim_registers before, wanted;

	restart(test, pair);
	test_leave_traces(sim);
	test_near_wrap(sim);
	before = sim->regs;
	test_up(test, pair->set[0]);
	KUNIT_EXPECT_EQ(test, cpu->active, pair->set[0]->used);
	test_up(test, pair->set[1]);
	KUNIT_EXPECT_EQ(test, cpu->active, cpu->used);
	test_retire(test, 100, 40);

	wanted = sim->regs;
	copy_registers(&wanted, &before, one);
	KUNIT_ASSERT_EQ(test, my_event_set_down(one), 0);
	KUNIT_EXPECT_EQ(test, cpu->active, other->used);
	test_expect_registers(test, pair->pmu, &wanted, &sim->regs);
	expect_counts(test, one, 100);

	test_retire(test, 10, 5);
	KUNIT_ASSERT_EQ(test, my_event_set_read(other, s), 0);
	KUNIT_EXPECT_EQ(test, s->marks.clobbered | s->marks.late, 0ULL);
	KUNIT_EXPECT_EQ(test, s->marks.wrapped, other->used);
	expect_counts(test, other, 110);
	test_retire(test, 1, 0);
	KUNIT_ASSERT_EQ(test, my_event_set_down(other), 0);
	KUNIT_EXPECT_EQ(test, cpu->active, 0ULL);
	expect_counts(test, other, 111);
	expect_counts(test, one, 100);
	test_expect_registers(test, pair->pmu, &before, &sim->regs);

	/* And once more, the other way round. */
	test_up(test, other);
	test_up(test, one);
	test_retire(test, 10, 5);
	KUNIT_ASSERT_EQ(test, my_event_set_down(other), 0);
	KUNIT_ASSERT_EQ(test, my_event_set_down(one), 0);
	expect_counts(test, other, 121);
	expect_counts(test, one, 110);
	test_expect_registers(test, pair->pmu, &before, &sim->regs);

	KUNIT_EXPECT_EQ(test, cpu->used, cpu->pmu.counters);
	my_event_set_release(one);
	KUNIT_EXPECT_EQ(test, cpu->used, other->used);
	expect_owners(test);
	my_event_set_release(other);
	KUNIT_EXPECT_EQ(test, cpu->used, 0ULL);
	expect_owners(test);
}

static void sets_restore(struct kunit *test)
{
	struct pair *pair = new_pair(test, true);

	expect_restored(test, pair, 0);
	expect_restored(test, pair, 1);
}

/* What a set has enabled is not the firmware's; what no set has claimed is. */
static void sets_are_no_firmware(struct kunit *test)
{
	struct pair *pair = new_pair(test, true);
	struct my_event_set *set = pair->set[0];
	struct my_pmu_why why = {};

	test_up(test, pair->set[0]);
	test_up(test, pair->set[1]);
	KUNIT_ASSERT_EQ(test, my_pmu_find_firmware(set->cpu, NULL, &why), 0);
	KUNIT_EXPECT_EQ(test, set->cpu->firmware, 0ULL);
	my_event_set_release(pair->set[1]);
	KUNIT_ASSERT_EQ(test, my_pmu_find_firmware(set->cpu, NULL, &why), 0);
	KUNIT_EXPECT_EQ(test, set->cpu->firmware, pair->set[1]->used);
	KUNIT_ASSERT_EQ(test, my_event_set_down(pair->set[1]), 0);
	KUNIT_ASSERT_EQ(test, my_event_set_down(pair->set[0]), 0);
}

/* --- one counts on, to the instruction, whatever is done with the other -------------- */

static struct my_pmu_sample unused_sample;

static int do_read(struct my_event_set *set)
{
	return my_event_set_read(set, &unused_sample);
}

static int do_read_one(struct my_event_set *set)
{
	u64 count;

	return my_perf_event_read(&set->event[0], &count);
}

static int do_disable(struct my_event_set *set)
{
	return my_perf_event_disable(&set->event[0]);
}

static int do_enable(struct my_event_set *set)
{
	return my_perf_event_enable(&set->event[0]);
}

static int do_probe(struct my_event_set *set)
{
	struct my_pmu_why why;

	return my_pmu_probe(set->cpu, NULL, &why);
}

static int do_find_firmware(struct my_event_set *set)
{
	struct my_pmu_why why;

	return my_pmu_find_firmware(set->cpu, NULL, &why);
}

/**
 * struct deed - what is done with a set
 * @name: the name
 * @func: does it
 * @up: the set is up before
 * @off: but its first event is not enabled
 */
struct deed {
	const char *name;
	int (*func)(struct my_event_set *set);
	bool up;
	bool off;
};

static const struct deed deeds[] = {
	{ "up", test_try_up },
	{ "down", my_event_set_down, true },
	{ "down-in-part", my_event_set_down, true, true },
	{ "read", do_read, true },
	{ "keep-up", my_event_set_keep_up, true },
	{ "read-one", do_read_one, true },
	{ "disable", do_disable, true },
	{ "enable", do_enable, true, true },
	{ "probe", do_probe, true },
	{ "find-firmware", do_find_firmware, true },
};

/* What surrounds a deed: both sets are about to wrap. */
static void prepare(struct kunit *test, struct pair *pair, const struct deed *deed)
{
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	unsigned int i;

	restart(test, pair);
	test_near_wrap(sim);
	test_up(test, pair->set[1]);
	if (deed->up)
		test_up(test, pair->set[0]);
	if (deed->off)
		KUNIT_ASSERT_EQ(test, do_disable(pair->set[0]), 0);
	for (i = 0; i < pair->nr[1]; i++)
		pair->value[i] = *counter_of(sim, &pair->set[1]->event[i]);
	/* It has seen the self-test of the first set, if that is up. */
	KUNIT_ASSERT_EQ(test, my_event_set_read(pair->set[1], &unused_sample), 0);
	for (i = 0; i < pair->nr[1]; i++)
		pair->growth[i] = pair->set[1]->event[i].count;
	sim_clear_log(sim);
	sim->known_codes = 0;
}

/* Rounds of known code: the self-test runs 128, then twice as many, and so on. */
static u64 rounds_run(const struct sim_cpu *sim)
{
	return sim->known_codes / 2 * 384 + sim->known_codes % 2 * 128;
}

/* The second set has counted each access, and each round, and nothing is amiss. */
static void expect_undisturbed(struct kunit *test, struct pair *pair, const char *what,
			       unsigned int nth)
{
	struct my_event_set *set = pair->set[1];
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	u64 code = rounds_run(sim) * 16, accesses = sim->accesses;
	struct my_pmu_sample *s = &unused_sample;
	unsigned int i;

	sim->insns_per_access = 0;
	sim->fail_nth = 0;
	sim->fail_all_after = false;
	for (i = 0; i < pair->nr[1]; i++) {
		const struct my_perf_event *event = &set->event[i];
		/* There is no reference clock in an access. */
		u64 growth = code + (event->attr.config & 0xff ? accesses : 0);

		KUNIT_EXPECT_EQ_MSG(test, *counter_of(sim, event),
				    (pair->value[i] + growth) &
				    GENMASK_ULL(event->hw.cntval_bits - 1, 0),
				    "%s, access %u, event %u", what, nth, i);
		pair->growth[i] += growth;
	}
	KUNIT_ASSERT_EQ_MSG(test, my_event_set_read(set, s), 0, "%s, access %u", what,
			    nth);
	KUNIT_EXPECT_EQ_MSG(test, s->marks.clobbered | s->marks.late, 0ULL,
			    "%s, access %u", what, nth);
	for (i = 0; i < pair->nr[1]; i++)
		KUNIT_EXPECT_EQ_MSG(test, s->count[i], pair->growth[i],
				    "%s, access %u, event %u", what, nth, i);
	KUNIT_EXPECT_EQ(test, set->cpu->active & set->used, set->used);
}

static int do_deed(struct pair *pair, const struct deed *deed)
{
	sim_cpu(TEST_CPU)->insns_per_access = 1;
	return deed->func(pair->set[0]);
}

static void sets_deed(struct kunit *test)
{
	struct pair *pair = new_pair(test, false);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(deeds); i++) {
		prepare(test, pair, &deeds[i]);
		KUNIT_EXPECT_EQ(test, do_deed(pair, &deeds[i]), 0);
		expect_undisturbed(test, pair, deeds[i].name, 0);
	}
}

/* One access fails, or it and all that follow. */
static void fail_deed(struct kunit *test, struct pair *pair, const struct deed *deed,
		      bool all)
{
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	unsigned int nth;
	int err;

	for (nth = 1; ; nth = test_next_access(nth)) {
		prepare(test, pair, deed);
		sim->fail_nth = nth;
		sim->fail_all_after = all;
		err = do_deed(pair, deed);
		if (!sim->has_failed)
			break;
		expect_undisturbed(test, pair, deed->name, nth);
		KUNIT_EXPECT_EQ_MSG(test, err, -EIO, "%s, access %u", deed->name, nth);
	}
	KUNIT_EXPECT_EQ(test, err, 0);
	expect_undisturbed(test, pair, deed->name, nth);
}

static void sets_deed_fails(struct kunit *test)
{
	struct pair *pair = new_pair(test, false);
	unsigned int i;

	test_run_there(test);
	for (i = 0; i < ARRAY_SIZE(deeds); i++) {
		fail_deed(test, pair, &deeds[i], false);
		fail_deed(test, pair, &deeds[i], true);
	}
}

/* --- captures, and rotations -------------------------------------------------------- */

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

/* So many accesses are a capture of one generic counter, and a read by the CPU itself. */
#define OF_CAPTURE	6U
#define OF_READ		6U

static void expect_accesses(struct kunit *test, struct my_event_set *set,
			    unsigned int accesses, u64 count)
{
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct my_pmu_sample *s = &unused_sample;

	sim_clear_log(sim);
	KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
	KUNIT_EXPECT_EQ(test, sim->accesses, accesses);
	KUNIT_EXPECT_EQ(test, s->count[0], count);
	KUNIT_EXPECT_EQ(test, s->marks.clobbered | s->marks.late | s->marks.wrapped,
			0ULL);
}

/*
 * What the other set does to GLOBAL_CTRL makes a capture fail, once, before it has
 * stopped anything; the other's overflow does not.
 */
static void sets_capture(struct kunit *test)
{
	struct my_event_set *set = test_set(test, PMU(V4), "cycles:u@gp0"), *other;
	struct read_there r = { .event = &set->event[0] };

	other = claim_one(test, "instructions:u@gp1");
	sim_cpu(TEST_CPU)->regs.pmc[1] = GENMASK_ULL(47, 0);
	sim_cpu(TEST_CPU)->regs.global_ctrl = 0;
	test_up(test, set);
	expect_accesses(test, set, OF_CAPTURE, 0);
	test_up(test, other);
	expect_accesses(test, set, 1 + OF_READ, 0);
	test_retire(test, 10, 0);
	KUNIT_EXPECT_EQ(test, sim_cpu(TEST_CPU)->regs.global_status, BIT_ULL(1));
	expect_accesses(test, set, OF_CAPTURE, 10);
	KUNIT_ASSERT_EQ(test, my_perf_event_disable(&other->event[0]), 0);
	expect_accesses(test, set, 1 + OF_READ, 10);
	expect_accesses(test, set, OF_CAPTURE, 10);
	KUNIT_ASSERT_EQ(test, my_perf_event_enable(&other->event[0]), 0);
	test_retire(test, 5, 0);
	KUNIT_ASSERT_EQ(test, work_on_cpu(TEST_CPU, read_there, &r), 0L);
	KUNIT_EXPECT_EQ(test, r.err, 0);
	KUNIT_EXPECT_EQ(test, r.count, 15ULL);
	expect_accesses(test, set, OF_CAPTURE, 15);
	KUNIT_ASSERT_EQ(test, my_event_set_down(other), 0);
	expect_accesses(test, set, 1 + OF_READ, 15);
	KUNIT_EXPECT_EQ(test, other->event[0].count, 15ULL);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
	my_event_set_release(other);
	my_event_set_release(set);
}

/* One is multiplexed, and the other never notices. */
static void sets_rotate(struct kunit *test)
{
	struct my_event_set *set = test_set(test, PMU(V4),
					    "cycles:u@gp0-1,instructions:u@gp0-1,cycles:u@gp0-1");
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct my_pmu_sample *s = &unused_sample;
	struct my_event_set *other;
	u64 wanted[3] = {}, count, raw;
	unsigned int n, i;

	other = claim_one(test, "instructions@gp2");
	test_up(test, other);
	test_up_without_timer(test, set);
	KUNIT_ASSERT_EQ(test, my_event_set_read(other, s), 0);
	count = s->count[0];
	for (n = 0; n < 12; n++) {
		for (i = 0; i < 3; i++)
			wanted[i] += set->active & BIT_ULL(i) ? 100 + n : 0;
		test_retire(test, 100 + n, 0);
		raw = sim->regs.pmc[2];
		sim->insns_per_access = 1;
		sim_clear_log(sim);
		KUNIT_ASSERT_EQ(test, test_rotate(set), 0);
		KUNIT_EXPECT_EQ(test, sim->regs.pmc[2], raw + sim->accesses);
		sim->insns_per_access = 0;
		KUNIT_ASSERT_EQ(test, my_event_set_read(other, s), 0);
		KUNIT_EXPECT_EQ(test, s->marks.clobbered | s->marks.late, 0ULL);
		count += sim->regs.pmc[2] - raw + 100 + n;
		KUNIT_EXPECT_EQ(test, s->count[0], count);
	}
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ(test, set->event[i].count, wanted[i]);
	KUNIT_ASSERT_EQ(test, my_event_set_down(other), 0);
	my_event_set_release(other);
	my_event_set_release(set);
}

static struct kunit_case sets_cases[] = {
	KUNIT_CASE_PARAM(sets_claim, test_pmu_gen_params),
	KUNIT_CASE_PARAM(sets_left, left_gen_params),
	KUNIT_CASE_PARAM(sets_restore, test_pmu_gen_params),
	KUNIT_CASE_PARAM(sets_are_no_firmware, test_pmu_gen_params),
	KUNIT_CASE_PARAM(sets_deed, test_pmu_gen_params),
	KUNIT_CASE(sets_capture),
	KUNIT_CASE(sets_rotate),
	KUNIT_CASE_PARAM(sets_deed_fails, test_pmu_gen_params),
	{}
};

static struct kunit_suite sets_suite = {
	.name = "my_pmu_sets",
	.exit = test_expect_good_manners,
	.test_cases = sets_cases,
};

kunit_test_suite(sets_suite);
