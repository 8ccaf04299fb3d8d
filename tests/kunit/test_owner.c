// SPDX-License-Identifier: GPL-2.0
/*
 * Whose the counters are: the rest of Linux is kept out, what the firmware uses is
 * found and left alone, event sets share the others, and it is noticed when somebody
 * else writes the registers of one of ours.
 */
#include "test.h"

/* --- against the rest of Linux ------------------------------------------------------ */

static void owner_reserve(struct kunit *test)
{
	const struct sim_pmu *pmu = test->param_value;
	struct sim_reservations *r = &sim_reservations;
	struct my_event_set *set = test_all_counters(test, pmu);
	unsigned int accesses = sim_cpu(TEST_CPU)->accesses, i;
	u32 all = set->used;
	struct my_pmu_why why = {};

	/* Of each counter the event select, then the counter. */
	for (i = 0; i < 2 * pmu->gp; i++) {
		r->fail_nth = i + 1;
		KUNIT_EXPECT_EQ(test, my_pmu_reserve(&set->cpu->pmu, &why), -EBUSY);
		KUNIT_EXPECT_EQ_MSG(test, r->held, 0U, "reservation %u", i);
		KUNIT_EXPECT_EQ_MSG(test, r->held_perfctr, 0U, "reservation %u", i);
		KUNIT_EXPECT_STREQ(test, why.text,
				   "the PMU is in use, by perf, the NMI watchdog, or KVM for a guest with a PMU: end them; 'sysctl kernel.nmi_watchdog=0' ends the watchdog");
	}
	r->foreign = BIT(pmu->gp - 1);
	KUNIT_EXPECT_EQ(test, my_pmu_reserve(&set->cpu->pmu, &why), -EBUSY);
	r->foreign = 0;
	r->foreign_perfctr = BIT(pmu->gp - 1);
	KUNIT_EXPECT_EQ(test, my_pmu_reserve(&set->cpu->pmu, &why), -EBUSY);
	KUNIT_EXPECT_EQ(test, r->held | r->held_perfctr, 0U);
	r->foreign_perfctr = 0;
	KUNIT_EXPECT_EQ(test, my_pmu_reserve(&set->cpu->pmu, &why), 0);
	KUNIT_EXPECT_EQ(test, r->held, all);
	KUNIT_EXPECT_EQ(test, r->held_perfctr, all);
	my_pmu_release(&set->cpu->pmu);
	KUNIT_EXPECT_EQ(test, r->held | r->held_perfctr, 0U);
	KUNIT_EXPECT_EQ(test, sim_cpu(TEST_CPU)->accesses, accesses);
}

/* Sets may have holes, and only what is in them is taken. */
static void owner_reserve_holes(struct kunit *test)
{
	struct sim_reservations *r = &sim_reservations;
	struct my_event_set *set = test_set(test, PMU(V4), "cycles");
	struct my_x86_pmu pmu = set->cpu->pmu;
	struct my_pmu_why why;

	pmu.counters &= ~0x22ULL;
	r->foreign = 0x22;
	KUNIT_ASSERT_EQ(test, my_pmu_reserve(&pmu, &why), 0);
	KUNIT_EXPECT_EQ(test, r->held, 0xddU);
	KUNIT_EXPECT_EQ(test, r->held_perfctr, 0xddU);
	my_pmu_release(&pmu);
	KUNIT_EXPECT_EQ(test, r->held | r->held_perfctr, 0U);
}

/* --- what somebody outside Linux uses ------------------------------------------------ */

/**
 * struct firmware_row - what a control register holds, and what that means
 * @name: the case
 * @evtsel: event select of a generic counter
 * @field: or the field of a fixed one
 * @version: from this on it is in use; 0 is never
 */
struct firmware_row {
	const char *name;
	u64 evtsel, field;
	unsigned int version;
};

static const struct firmware_row firmware_rows[] = {
	{ "enabled", 0x4300c0, 0, 1 },
	{ "enabled-for-no-event", 0x430000, 0, 1 },
	{ "enabled-for-no-privilege-level", 0x4000c0, 0, 1 },
	{ "enabled-with-interrupt", 0x5300c0, 0, 1 },
	{ "left-behind-by-perf", 0x1300c0, 0, 0 },
	{ "left-behind-by-pebs", 0x0300c0, 0, 0 },
	{ "its-event-alone", 0x000001, 0, 0 },
	{ "interrupt-alone", 0x100000, 0, 0 },
	{ "umask-alone", 0x000100, 0, 0 },
	{ "fixed-os", 0, 0x1, 2 },
	{ "fixed-usr", 0, 0x2, 2 },
	{ "fixed-both-with-pmi", 0, 0xb, 2 },
	{ "fixed-pmi-alone", 0, 0x8, 0 },
};

/* One counter in each way. */
static void expect_firmware(struct kunit *test, struct my_event_set *set, int idx,
			    const struct firmware_row *row)
{
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	bool used = row->version && row->version <= sim->pmu.version;
	struct sim_registers before;
	struct my_pmu_why why;

	memset(&sim->regs, 0, sizeof(sim->regs));
	if (idx < 32)
		sim->regs.evtsel[idx] = row->evtsel;
	else
		sim->regs.fixed_ctr_ctrl = row->field << (4 * (idx - 32));
	before = sim->regs;
	set->cpu->firmware = ~0ULL;
	KUNIT_ASSERT_EQ(test, my_pmu_probe(set->cpu, NULL, &why), 0);
	KUNIT_ASSERT_EQ(test, my_pmu_find_firmware(set->cpu, NULL, &why), 0);
	KUNIT_EXPECT_EQ_MSG(test, set->cpu->firmware, used ? BIT_ULL(idx) : 0ULL,
			    "%s, counter %d", row->name, idx);
	test_expect_registers(test, &sim->pmu, &before, &sim->regs);
}

static void owner_firmware(struct kunit *test)
{
	struct my_event_set *set = test_all_counters(test, test->param_value);
	unsigned int row;
	u64 left;

	my_event_set_release(set);
	for (left = set->used; left; left &= left - 1) {
		int idx = __ffs64(left);

		for (row = 0; row < ARRAY_SIZE(firmware_rows); row++) {
			if (firmware_rows[row].field ? idx >= 32 : idx < 32)
				expect_firmware(test, set, idx, &firmware_rows[row]);
		}
	}
}

/* All at once; and what is left behind is in use by none. */
static void owner_firmware_everywhere(struct kunit *test)
{
	const struct sim_pmu *pmu = test->param_value;
	struct my_event_set *set = test_all_counters(test, pmu);
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct my_pmu_why why;
	unsigned int i;

	my_event_set_release(set);
	test_leave_traces(sim);
	KUNIT_ASSERT_EQ(test, my_pmu_find_firmware(set->cpu, NULL, &why), 0);
	KUNIT_EXPECT_EQ(test, set->cpu->firmware, 0ULL);
	for (i = 0; i < SIM_GENERIC; i++) {
		if (sim_has_generic(pmu, i))
			sim->regs.evtsel[i] |= BIT_ULL(22);
	}
	for (i = 0; i < SIM_FIXED; i++) {
		if (set->used & BIT_ULL(32 + i))
			sim->regs.fixed_ctr_ctrl |= 1ULL << (4 * i);
	}
	KUNIT_ASSERT_EQ(test, my_pmu_find_firmware(set->cpu, NULL, &why), 0);
	KUNIT_EXPECT_EQ(test, set->cpu->firmware, set->used);
}

/* Unless TSX is to abort, microcode has one of the counters. */
static void owner_firmware_microcode(struct kunit *test)
{
	struct sim_pmu pmu = *PMU(V4);
	struct my_event_set *set;
	struct my_pmu_why why;

	pmu.tfa = true;
	set = test_set(test, &pmu, "cycles");
	KUNIT_ASSERT_EQ(test, my_pmu_find_firmware(set->cpu, NULL, &why), 0);
	KUNIT_EXPECT_EQ(test, set->cpu->firmware, BIT_ULL(3));
	sim_cpu(TEST_CPU)->regs.tsx_force_abort = 1;
	KUNIT_ASSERT_EQ(test, my_pmu_find_firmware(set->cpu, NULL, &why), 0);
	KUNIT_EXPECT_EQ(test, set->cpu->firmware, 0ULL);
	sim_cpu(TEST_CPU)->fail_reg = 0x10f;
	KUNIT_EXPECT_EQ(test, my_pmu_find_firmware(set->cpu, NULL, &why), -EIO);
}

static void owner_firmware_fails(struct kunit *test)
{
	const struct sim_pmu *pmu = test->param_value;
	struct my_event_set *set = test_all_counters(test, pmu);
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	unsigned int nth, reads;
	struct my_pmu_why why;

	my_event_set_release(set);
	for (nth = 1; ; nth++) {
		sim->fail_nth = nth;
		why.text[0] = '\0';
		if (!my_pmu_find_firmware(set->cpu, NULL, &why))
			break;
		KUNIT_ASSERT_EQ(test, sim->fail_nth, 0U);
		KUNIT_EXPECT_STREQ(test, why.text, "a PMU register faulted");
	}
	sim->fail_nth = 0;
	/* GLOBAL_CTRL, the event selects, FIXED_CTR_CTRL; nothing has changed. */
	reads = (pmu->version >= 2) + pmu->gp + (set->used >> 32 ? 1 : 0);
	KUNIT_EXPECT_EQ(test, nth, reads + 1);
}

/* --- what is left for us --------------------------------------------------------------- */

/**
 * struct left_row - an event, on V4, while the firmware uses counters
 * @event: the parameter
 * @firmware: the counters that the firmware uses
 * @idx: the counter that it gets
 * @err: or why not
 * @text: and what is said
 */
struct left_row {
	const char *event;
	u64 firmware;
	int idx;
	int err;
	const char *text;
};

static const struct left_row left_rows[] = {
	{ "instructions", BIT_ULL(32), 0 },
	{ "instructions", BIT_ULL(32) | 0x3, 2 },
	{ "instructions", 0xff, 32 },
	{ "instructions@gp1", BIT_ULL(32) | 0xfd, 1 },
	{ "instructions@gp2", 0x4, 0, -EBUSY,
	  "'instructions@gp2': gp2 is in use on CPU 1, and not by Linux: its firmware or microcode (TSX) uses it; without a counter, as in counters=instructions,cycles, the module chooses",
	},
	{ "cycles:u@fixed1", BIT_ULL(33), 0, -EBUSY,
	  "'cycles:u@fixed1': fixed1 is in use on CPU 1, and not by Linux: its firmware or microcode (TSX) uses it; without a counter, as in counters=instructions,cycles, the module chooses",
	},
	/* Where it could not be anyway that is what is said. */
	{ "cycles@fixed0", BIT_ULL(32), 0, -EINVAL,
	  "'cycles@fixed0': fixed0 cannot count this event; leave the counter out and the module chooses",
	},
	{ "ref-cycles", BIT_ULL(34), 0, -ENOSPC,
	  "'ref-cycles': no counter is left that counts it; CPU 1 has 8 generic (gp) and 3 fixed counters, and its firmware uses some",
	},
	{ "branches", 0xff, 0, -ENOSPC,
	  "'branches': no counter is left that counts it; CPU 1 has 8 generic (gp) and 3 fixed counters, and its firmware uses some",
	},
};

static void left_desc(const struct left_row *row, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s-%llx", row->event,
		 row->firmware);
}

KUNIT_ARRAY_PARAM(left, left_rows, left_desc);

static void owner_left(struct kunit *test)
{
	const struct left_row *row = test->param_value;
	struct my_event_set *set = test_set(test, PMU(V4), "branches");
	struct my_perf_event_attr attr;
	struct my_pmu_why why = {};

	KUNIT_ASSERT_EQ(test, my_parse_events(row->event, &attr, 1, &why), 1);
	set->cpu->firmware = row->firmware;
	KUNIT_EXPECT_EQ(test, test_assign(set, &attr, 1, &why), row->err);
	if (row->err)
		KUNIT_EXPECT_STREQ(test, why.text, row->text);
	else
		KUNIT_EXPECT_EQ(test, set->event[0].hw.idx, row->idx);
	KUNIT_EXPECT_EQ(test, set->cpu->firmware, row->firmware);
}

/* One that has become somebody's meanwhile: refused, and nothing has changed. */
static void owner_up_refused(struct kunit *test)
{
	const struct sim_pmu *pmu = test->param_value;
	struct my_event_set *set = test_all_counters(test, pmu);
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct sim_registers before;
	struct my_pmu_why why = {};
	char text[80];

	test_leave_traces(sim);
	sim->regs.evtsel[pmu->gp - 1] = 0x4300c0;
	before = sim->regs;
	KUNIT_EXPECT_EQ(test, my_event_set_up(set, &why), -EBUSY);
	snprintf(text, sizeof(text),
		 "gp%u is in use, and not by Linux: its firmware or microcode (TSX) uses it",
		 pmu->gp - 1);
	KUNIT_EXPECT_STREQ(test, why.text, text);
	KUNIT_EXPECT_TRUE(test, set->offline);
	KUNIT_EXPECT_EQ(test, set->cpu->refused, BIT_ULL(pmu->gp - 1));
	test_expect_registers(test, pmu, &before, &sim->regs);
	sim->regs.evtsel[pmu->gp - 1] = 0;
	test_up(test, set);
	KUNIT_EXPECT_EQ(test, set->cpu->refused, 0ULL);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
}

/* --- others beside us ------------------------------------------------------------------- */

/* Somebody else's fixed counter counts, and counts on; ours beside it are exact. */
static void owner_fixed_of_another(struct kunit *test)
{
	struct my_event_set *set = test_set(test, PMU(V4),
					"instructions@gp1,cycles@fixed1");
	struct my_pmu_sample *s = test_sample(test);
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct sim_registers before;
	u64 value;

	sim->regs.fixed_ctr_ctrl = 0x00a;	/* user code, with PMI */
	sim->regs.global_ctrl |= BIT_ULL(32);
	before = sim->regs;
	test_up(test, set);
	KUNIT_EXPECT_EQ(test, sim->regs.fixed_ctr_ctrl, 0x03aULL);
	value = sim->regs.fixed[0];
	test_retire(test, 100, 10);
	KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
	test_retire(test, 20, 10);
	KUNIT_EXPECT_EQ(test, s->count[0], 110ULL);
	KUNIT_EXPECT_EQ(test, s->count[1], 110ULL);
	KUNIT_EXPECT_EQ(test, sim->regs.fixed[0], value + 120);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
	before.fixed[0] = value + 120;
	test_expect_registers(test, PMU(V4), &before, &sim->regs);
}

/* What others change in GLOBAL_CTRL meanwhile is theirs, also when we are gone. */
static void owner_others_change(struct kunit *test)
{
	struct my_event_set *set = test_set(test, PMU(V4),
					"instructions@gp1,cycles@fixed1");
	struct my_pmu_sample *s = test_sample(test);
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	u64 count;

	sim->regs.global_ctrl = 0x100000006ULL;
	test_up(test, set);
	KUNIT_EXPECT_EQ(test, sim->regs.global_ctrl, set->used | 0x100000004ULL);
	sim->regs.global_ctrl = set->used | 0x400000050ULL;
	KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
	KUNIT_EXPECT_EQ(test, s->marks.clobbered, 0ULL);
	KUNIT_EXPECT_EQ(test, sim->regs.global_ctrl, set->used | 0x400000050ULL);
	sim->regs.global_ctrl = set->used | 0x81;
	KUNIT_ASSERT_EQ(test, my_perf_event_read(&set->event[0], &count), 0);
	KUNIT_EXPECT_EQ(test, sim->regs.global_ctrl, set->used | 0x81);
	KUNIT_ASSERT_EQ(test, my_perf_event_disable(&set->event[0]), 0);
	KUNIT_EXPECT_EQ(test, sim->regs.global_ctrl, BIT_ULL(33) | 0x81);
	KUNIT_ASSERT_EQ(test, my_perf_event_enable(&set->event[0]), 0);
	sim->regs.global_ctrl = set->used | 0x10;
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
	/* Ours as it was found, theirs as they have it. */
	KUNIT_EXPECT_EQ(test, sim->regs.global_ctrl, BIT_ULL(1) | 0x10);
}

/* --- others write our registers --------------------------------------------------------- */

/**
 * struct clobber - somebody else writes a register of a counter of ours
 * @name: the register
 * @write: does it, on this counter
 * @kinds: of these counters
 * @version: from this on it can be done, and seen
 * @long_ago: the sample before was so long ago that time proves nothing
 */
struct clobber {
	const char *name;
	void (*write)(struct sim_cpu *sim, int idx);
	u64 kinds;
	unsigned int version;
	bool long_ago;
};

#define EACH	(~0ULL)

static u64 *counter_of(struct sim_cpu *sim, int idx)
{
	return idx < 32 ? &sim->regs.pmc[idx] : &sim->regs.fixed[idx - 32];
}

static unsigned int width_of(const struct sim_cpu *sim, int idx)
{
	return idx < 32 ? sim->pmu.width : sim->pmu.fixed_width;
}

static void add_to_counter(struct sim_cpu *sim, int idx, u64 n)
{
	u64 *counter = counter_of(sim, idx);

	*counter = (*counter + n) & GENMASK_ULL(width_of(sim, idx) - 1, 0);
}

static void change_event(struct sim_cpu *sim, int idx)
{
	sim->regs.evtsel[idx] ^= 0x01;
}

static void change_umask(struct sim_cpu *sim, int idx)
{
	sim->regs.evtsel[idx] ^= 0x8000;
}

static void clear_select(struct sim_cpu *sim, int idx)
{
	sim->regs.evtsel[idx] = 0;
}

static void clear_en(struct sim_cpu *sim, int idx)
{
	sim->regs.evtsel[idx] &= ~BIT_ULL(22);
}

static void set_int(struct sim_cpu *sim, int idx)
{
	sim->regs.evtsel[idx] |= BIT_ULL(20);
}

static void clear_os(struct sim_cpu *sim, int idx)
{
	sim->regs.fixed_ctr_ctrl &= ~(1ULL << (4 * (idx - 32)));
}

static void clear_field(struct sim_cpu *sim, int idx)
{
	sim->regs.fixed_ctr_ctrl &= ~(0xfULL << (4 * (idx - 32)));
}

static void set_pmi(struct sim_cpu *sim, int idx)
{
	sim->regs.fixed_ctr_ctrl |= 8ULL << (4 * (idx - 32));
}

static void clear_global(struct sim_cpu *sim, int idx)
{
	sim->regs.global_ctrl &= ~BIT_ULL(idx);
}

static void set_back(struct sim_cpu *sim, int idx)
{
	add_to_counter(sim, idx, -10ULL);
}

static void set_far_back(struct sim_cpu *sim, int idx)
{
	add_to_counter(sim, idx, -(1ULL << 30));
}

static void set_far_ahead(struct sim_cpu *sim, int idx)
{
	add_to_counter(sim, idx, 1ULL << (width_of(sim, idx) - 2));
}

static const struct clobber clobbers[] = {
	{ "event", change_event, MY_GENERIC_COUNTERS, 1 },
	{ "umask", change_umask, MY_GENERIC_COUNTERS, 1 },
	{ "event-select-cleared", clear_select, MY_GENERIC_COUNTERS, 1 },
	{ "en-cleared", clear_en, MY_GENERIC_COUNTERS, 1 },
	{ "int-set", set_int, MY_GENERIC_COUNTERS, 1 },
	{ "fixed-os-cleared", clear_os, MY_FIXED_COUNTERS, 2 },
	{ "fixed-field-cleared", clear_field, MY_FIXED_COUNTERS, 2 },
	{ "fixed-pmi-set", set_pmi, MY_FIXED_COUNTERS, 2 },
	{ "global-ctrl", clear_global, EACH, 2 },
	{ "set-back", set_back, EACH, 1 },
	/* Only its overflow bit shows it. */
	{ "set-back-long-ago", set_back, EACH, 2, true },
	{ "set-far-back", set_far_back, EACH, 1 },
	{ "set-far-back-long-ago", set_far_back, EACH, 2, true },
	{ "set-far-ahead", set_far_ahead, EACH, 1 },
};

/* How far such a leap is, the narrowest counters may count in a few samples. */
static bool can_be_seen(const struct clobber *clobber, const struct sim_cpu *sim,
			int idx)
{
	if (!(clobber->kinds & BIT_ULL(idx)) || sim->pmu.version < clobber->version)
		return false;
	return clobber->write != set_far_ahead || width_of(sim, idx) >= 40;
}

static void expect_growth(struct kunit *test, const struct my_event_set *set,
			  struct my_pmu_sample *s, u64 *wanted, u64 clobbered,
			  u64 growth)
{
	unsigned int i;

	for (i = 0; i < set->nr_events; i++) {
		if (!(clobbered & BIT_ULL(set->event[i].hw.idx)))
			wanted[i] += growth;
		KUNIT_EXPECT_EQ_MSG(test, s->count[i], wanted[i], "event %u", i);
	}
	KUNIT_EXPECT_EQ(test, s->marks.clobbered, clobbered);
	KUNIT_EXPECT_EQ(test, s->marks.late | s->marks.wrapped, 0ULL);
}

static void clobber_one(struct kunit *test, struct my_event_set *set,
			const struct clobber *clobber, unsigned int victim,
			u64 *wanted)
{
	struct my_hw_perf_event *hw = &set->event[victim].hw;
	struct my_pmu_sample *s = test_sample(test);
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	u64 control;

	test_retire(test, 10, 0);
	KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
	expect_growth(test, set, s, wanted, 0, 10);
	control = hw->idx < 32 ? sim->regs.evtsel[hw->idx] :
				 sim->regs.fixed_ctr_ctrl;
	clobber->write(sim, hw->idx);
	if (clobber->long_ago)
		hw->prev_time -= 1ULL << 62;
	test_retire(test, 0, 5);
	KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
	expect_growth(test, set, s, wanted, BIT_ULL(hw->idx), 5);
	KUNIT_EXPECT_EQ_MSG(test, control,
			    hw->idx < 32 ? sim->regs.evtsel[hw->idx] :
					   sim->regs.fixed_ctr_ctrl,
			    "%s, counter %d", clobber->name, hw->idx);
	test_retire(test, 3, 0);
	KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
	expect_growth(test, set, s, wanted, 0, 3);
	kunit_kfree(test, s);
}

/* Each register of each counter; the others beside it never notice. */
static void owner_clobbered(struct kunit *test)
{
	const struct sim_pmu *pmu = test->param_value;
	struct my_event_set *set = test_all_counters(test, pmu);
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	u64 wanted[MY_PMC_MAX] = {};
	struct sim_registers before;
	unsigned int i, t;

	/* So that the counters can be set back without a wrap. */
	for (i = 0; i < set->nr_events; i++)
		*counter_of(sim, set->event[i].hw.idx) = 0x7000000;
	test_up(test, set);
	for (i = 0; i < set->nr_events; i++) {
		for (t = 0; t < ARRAY_SIZE(clobbers); t++) {
			if (can_be_seen(&clobbers[t], sim, set->event[i].hw.idx))
				clobber_one(test, set, &clobbers[t], i, wanted);
		}
	}
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
	before = (struct sim_registers) { .lvtpc = 0x400 };
	for (i = 0; i < set->nr_events; i++)
		*(set->event[i].hw.idx < 32 ? &before.pmc[set->event[i].hw.idx] :
		  &before.fixed[set->event[i].hw.idx - 32]) = 0x7000000;
	if (pmu->version >= 2)
		before.global_ctrl = set->used & MY_GENERIC_COUNTERS;
	test_expect_registers(test, pmu, &before, &sim->regs);
}

/* All at once, with one write. */
static void owner_clobbered_all(struct kunit *test)
{
	const struct sim_pmu *pmu = test->param_value;
	struct my_event_set *set = test_all_counters(test, pmu);
	struct my_pmu_sample *s = test_sample(test);
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	u64 wanted[MY_PMC_MAX] = {};

	test_up(test, set);
	sim->regs.global_ctrl = 0;
	test_retire(test, 10, 0);
	KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
	expect_growth(test, set, s, wanted, set->used, 10);
	KUNIT_EXPECT_EQ(test, sim->regs.global_ctrl, set->used);
	test_retire(test, 3, 0);
	KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
	expect_growth(test, set, s, wanted, 0, 3);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
}

/* Whoever freezes the counters stops ours, too, though their bits stay set. */
static void owner_frozen(struct kunit *test)
{
	struct my_event_set *set = test_set(test, PMU(V4), "cycles@gp0,cycles@fixed1");
	struct my_pmu_sample *s = test_sample(test);
	struct sim_cpu *sim = sim_cpu(TEST_CPU);

	test_up(test, set);
	sim->regs.global_status |= BIT_ULL(59);
	KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
	KUNIT_EXPECT_EQ(test, s->marks.clobbered, set->used);
	sim->regs.global_status &= ~BIT_ULL(59);
	KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
	KUNIT_EXPECT_EQ(test, s->marks.clobbered, 0ULL);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
}

/*
 * A sample that finds a clobbered counter and fails, at each access: the next sample
 * has the mark, and what is known of the other counter is lost in none.
 */
static void owner_clobbered_sample_fails(struct kunit *test)
{
	struct my_event_set *set = test_set(test, PMU(V4), "cycles@gp0,cycles@gp1");
	struct my_pmu_sample *s = test_sample(test);
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	unsigned int nth;
	u64 had[2], grown;
	int err;

	for (nth = 1; ; nth++) {
		test_near_wrap(sim);
		test_up(test, set);
		had[0] = set->event[0].count;
		had[1] = set->event[1].count;
		test_retire(test, 100, 0);
		sim->regs.evtsel[0] = 0x4300c0;
		sim->fail_nth = nth;
		err = my_event_set_read(set, s);
		if (!err)
			break;
		KUNIT_ASSERT_EQ(test, err, -EIO);
		KUNIT_ASSERT_EQ(test, sim->fail_nth, 0U);
		KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
		KUNIT_EXPECT_TRUE(test, s->marks.clobbered & BIT_ULL(0));
		/* What lets them run again faulted before anything was counted. */
		grown = nth == 8 ? 0 : 100;
		KUNIT_EXPECT_TRUE(test, grown || s->marks.clobbered & BIT_ULL(1));
		KUNIT_EXPECT_EQ(test, s->marks.wrapped, grown ? BIT_ULL(1) : 0);
		KUNIT_EXPECT_EQ(test, s->count[0], had[0]);
		KUNIT_EXPECT_EQ(test, s->count[1], had[1] + grown);
		test_retire(test, 5, 0);
		KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
		KUNIT_EXPECT_EQ(test, s->marks.clobbered | s->marks.wrapped, 0ULL);
		KUNIT_EXPECT_EQ(test, s->count[0], had[0] + 5);
		KUNIT_EXPECT_EQ(test, s->count[1], had[1] + grown + 5);
		KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
	}
	sim->fail_nth = 0;
	/*
	 * Eight to capture both, which shows it.  Then three to stop them, two to look at
	 * each, three to program one and read it, one to let them run, one to acknowledge.
	 */
	KUNIT_EXPECT_EQ(test, nth, 21U);
	KUNIT_EXPECT_EQ(test, s->marks.clobbered, BIT_ULL(0));
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
}

/* Whoever took it has set it to be reloaded, and it is not once it is ours again. */
static void owner_stolen_with_reload(struct kunit *test)
{
	struct my_event_set *set = test_set(test, PMU(V6_HOLES), "instructions:u@gp0");
	struct my_pmu_sample *s = test_sample(test);
	struct sim_cpu *sim = sim_cpu(TEST_CPU);

	test_up(test, set);
	sim->regs.evtsel[0] = 0x100c4;
	sim->regs.cfg_b[0] = BIT_ULL(0);
	sim->regs.cfg_c[0] = BIT_ULL(63) | 0xfffff000;
	KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
	KUNIT_EXPECT_EQ(test, s->marks.clobbered, BIT_ULL(0));
	KUNIT_EXPECT_EQ(test, sim->regs.cfg_b[0] | sim->regs.cfg_c[0], 0ULL);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
}

/* A counter that can count precise events, and not be reloaded by others. */
static void owner_precise(struct kunit *test)
{
	struct sim_pmu pmu = *PMU(V6_HOLES);
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct sim_registers before;
	struct my_event_set *set;

	pmu.subleaves = 0x2b;
	set = test_set(test, &pmu, "instructions:u@gp0,cycles:u@gp1");
	sim->regs.cfg_c[0] = BIT_ULL(63) | 0xfffff000;
	before = sim->regs;
	test_up(test, set);
	KUNIT_EXPECT_EQ(test, sim->regs.cfg_c[0], 0ULL);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
	test_expect_registers(test, &pmu, &before, &sim->regs);
}

/* Where no overflow bit is reliable, much time makes anything possible: it is late. */
static void owner_set_back_unseen(struct kunit *test)
{
	struct my_event_set *set = test_set(test, PMU(V1_40), "cycles@gp0,cycles@gp1");
	struct my_pmu_sample *s = test_sample(test);

	test_up(test, set);
	test_retire(test, 10, 0);
	set->event[0].hw.prev_time -= 1ULL << 62;
	KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
	KUNIT_EXPECT_EQ(test, s->marks.late, BIT_ULL(0));
	KUNIT_EXPECT_EQ(test, s->marks.clobbered | s->marks.wrapped, 0ULL);
	KUNIT_EXPECT_EQ(test, s->count[0], 0ULL);
	KUNIT_EXPECT_EQ(test, s->count[1], 10ULL);
	test_retire(test, 7, 0);
	KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
	KUNIT_EXPECT_EQ(test, s->marks.late, 0ULL);
	KUNIT_EXPECT_EQ(test, s->count[0], 7ULL);
	KUNIT_EXPECT_EQ(test, s->count[1], 17ULL);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
}

/* In five seconds an occupancy event may have wrapped 40 bits again, instructions not. */
static void owner_late_by_rate(struct kunit *test)
{
	struct my_event_set *set = test_set(test, PMU(V1_40), "r99@gp0,instructions@gp1");
	struct my_pmu_sample *s = test_sample(test);

	test_up(test, set);
	test_retire(test, 10, 0);
	set->event[0].hw.prev_time -= 5 * NSEC_PER_SEC;
	set->event[1].hw.prev_time -= 5 * NSEC_PER_SEC;
	KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
	KUNIT_EXPECT_EQ(test, s->marks.late, BIT_ULL(0));
	KUNIT_EXPECT_EQ(test, s->count[1], 10ULL);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
}

enum while_doing {
	READING,
	READING_IT,
	DISABLING,
	DISABLING_IT,
	ENABLING,
};

static const char * const doings[] = {
	"reading-another", "reading-it", "disabling-another", "disabling-it",
	"enabling-another",
};

static void doing_desc(const char * const *doing, char *desc)
{
	strscpy(desc, *doing, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(doing, doings, doing_desc);

/* Noticed in passing, it is in the next sample, of the right counter, once. */
static void owner_clobbered_in_passing(struct kunit *test)
{
	enum while_doing doing = (const char * const *)test->param_value - doings;
	struct my_event_set *set = test_set(test, PMU(V4),
					"instructions@gp0,cycles@gp1,branches@gp2");
	struct my_pmu_sample *s = test_sample(test);
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	u64 count;

	test_up(test, set);
	KUNIT_ASSERT_EQ(test, my_perf_event_disable(&set->event[2]), 0);
	test_retire(test, 10, 0);
	KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
	sim->regs.global_ctrl &= ~BIT_ULL(1);
	test_retire(test, 10, 0);
	switch (doing) {
	case READING:
		KUNIT_ASSERT_EQ(test, my_perf_event_read(&set->event[0], &count), 0);
		break;
	case READING_IT:
		KUNIT_ASSERT_EQ(test, my_perf_event_read(&set->event[1], &count),
				-ESTALE);
		break;
	case DISABLING:
		KUNIT_ASSERT_EQ(test, my_perf_event_disable(&set->event[0]), 0);
		break;
	case DISABLING_IT:
		KUNIT_ASSERT_EQ(test, my_perf_event_disable(&set->event[1]), 0);
		break;
	case ENABLING:
		KUNIT_ASSERT_EQ(test, my_perf_event_enable(&set->event[2]), 0);
		break;
	}
	test_retire(test, 10, 0);
	KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
	/* It is reported once: whoever has read the event alone knows it. */
	KUNIT_EXPECT_EQ(test, s->marks.clobbered,
			doing == READING_IT ? 0 : BIT_ULL(1));
	KUNIT_EXPECT_EQ(test, s->count[0], doing == DISABLING ? 20ULL : 30ULL);
	/*
	 * Nobody knows how much of it counted before it was stopped.  Whichever is read, it
	 * counts on from there.
	 */
	KUNIT_EXPECT_EQ(test, s->count[1],
			doing == READING || doing == READING_IT ? 20ULL : 10ULL);
	test_retire(test, 10, 0);
	KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
	KUNIT_EXPECT_EQ(test, s->marks.clobbered, 0ULL);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
}

/* A wrap of one while another is read, once and again, is marked and counted. */
static void owner_wrap_in_passing(struct kunit *test)
{
	struct my_event_set *set = test_set(test, PMU(V4),
					"instructions@gp0,instructions@gp1");
	struct my_pmu_sample *s = test_sample(test);
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	u64 count;

	sim->regs.pmc[1] = 0xffffffffffff;
	test_up(test, set);
	test_retire(test, 10, 0);
	KUNIT_ASSERT_EQ(test, my_perf_event_read(&set->event[0], &count), 0);
	KUNIT_ASSERT_EQ(test, my_perf_event_read(&set->event[0], &count), 0);
	KUNIT_ASSERT_EQ(test, my_perf_event_disable(&set->event[0]), 0);
	KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
	KUNIT_EXPECT_EQ(test, s->marks.wrapped, BIT_ULL(1));
	KUNIT_EXPECT_EQ(test, s->marks.clobbered, 0ULL);
	KUNIT_EXPECT_EQ(test, s->count[1], 10ULL);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
}

/* A wrap that was seen when an event was switched off is over when it is on. */
static void owner_wrap_while_off(struct kunit *test)
{
	struct my_event_set *set = test_set(test, PMU(V4),
					"instructions@gp0,instructions@gp1");
	struct my_pmu_sample *s = test_sample(test);
	struct sim_cpu *sim = sim_cpu(TEST_CPU);

	sim->regs.pmc[1] = 0xffffffffffff;
	test_up(test, set);
	test_retire(test, 100, 0);
	KUNIT_ASSERT_EQ(test, my_perf_event_disable(&set->event[1]), 0);
	/* Its value is as it was: so it wraps once more. */
	KUNIT_ASSERT_EQ(test, my_perf_event_enable(&set->event[1]), 0);
	KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
	KUNIT_EXPECT_EQ(test, s->marks.clobbered, 0ULL);
	KUNIT_EXPECT_EQ(test, s->marks.wrapped, BIT_ULL(1));
	KUNIT_EXPECT_EQ(test, s->count[1], 100ULL);
	test_retire(test, 10, 0);
	KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
	KUNIT_EXPECT_EQ(test, s->marks.clobbered, 0ULL);
	KUNIT_EXPECT_EQ(test, s->marks.wrapped, BIT_ULL(1));
	KUNIT_EXPECT_EQ(test, s->count[0], 110ULL);
	KUNIT_EXPECT_EQ(test, s->count[1], 110ULL);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
}

static int owner_init(struct kunit *test)
{
	memset(&sim_reservations, 0, sizeof(sim_reservations));
	return 0;
}

static struct kunit_case owner_cases[] = {
	KUNIT_CASE_PARAM(owner_reserve, test_pmu_gen_params),
	KUNIT_CASE(owner_reserve_holes),
	KUNIT_CASE_PARAM(owner_firmware, test_pmu_gen_params),
	KUNIT_CASE_PARAM(owner_firmware_everywhere, test_pmu_gen_params),
	KUNIT_CASE(owner_firmware_microcode),
	KUNIT_CASE_PARAM(owner_firmware_fails, test_pmu_gen_params),
	KUNIT_CASE_PARAM(owner_left, left_gen_params),
	KUNIT_CASE_PARAM(owner_up_refused, test_pmu_gen_params),
	KUNIT_CASE(owner_fixed_of_another),
	KUNIT_CASE(owner_others_change),
	KUNIT_CASE_PARAM(owner_clobbered, test_pmu_gen_params),
	KUNIT_CASE_PARAM(owner_clobbered_all, test_global_gen_params),
	KUNIT_CASE(owner_frozen),
	KUNIT_CASE(owner_clobbered_sample_fails),
	KUNIT_CASE(owner_stolen_with_reload),
	KUNIT_CASE(owner_precise),
	KUNIT_CASE(owner_set_back_unseen),
	KUNIT_CASE(owner_late_by_rate),
	KUNIT_CASE_PARAM(owner_clobbered_in_passing, doing_gen_params),
	KUNIT_CASE(owner_wrap_in_passing),
	KUNIT_CASE(owner_wrap_while_off),
	{}
};

static struct kunit_suite owner_suite = {
	.name = "my_pmu_owner",
	.init = owner_init,
	.exit = test_expect_good_manners,
	.test_cases = owner_cases,
};

kunit_test_suite(owner_suite);
