// SPDX-License-Identifier: GPL-2.0
/*
 * Events with a period: each overflow is a sample, at its place, whatever the NMI
 * interrupts; nothing is counted twice, and nothing is left in a register.
 */
#include <linux/bitops.h>
#include <linux/delay.h>
#include <linux/ptrace.h>
#include <linux/tracepoint.h>

#include "pmu_pmi.h"
#include "pmu_trace.h"
#include "test.h"

#define SAMPLES		64
#define GROUP		4

/**
 * struct sample - what the tracepoint has shown
 * @name: the event
 * @counter: its counter
 * @period: its period
 * @ip: where the CPU was interrupted
 * @user: at CPL 3
 * @nr: how many counts
 * @counts: the first of them
 */
struct sample {
	char name[64];
	int counter;
	u32 period;
	u64 ip;
	bool user;
	unsigned int nr;
	u64 counts[GROUP];
};

/* Those of a test, in their order; there may be more than there is room for. */
static struct sample samples[SAMPLES];
static unsigned int nr_samples;

static void see_sample(void *data, const char *name, int counter, u32 period,
		       struct pt_regs *regs, u64 time, const u64 *group, unsigned int nr)
{
	struct sample *sample = &samples[min(nr_samples++, SAMPLES - 1U)];

	/* A loop without end is seen in the log. */
	WARN_ONCE(nr_samples > 1000000, "a million samples");
	strscpy(sample->name, name, sizeof(sample->name));
	sample->counter = counter;
	sample->period = period;
	sample->ip = regs->ip;
	sample->user = user_mode(regs);
	sample->nr = nr;
	memcpy(sample->counts, group, min(nr, GROUP + 0U) * sizeof(*group));
}

static int pmi_init(struct kunit *test)
{
	nr_samples = 0;
	my_pmi_freeze = false;
	return register_trace_my_pmu_overflow(see_sample, NULL);
}

static void pmi_exit(struct kunit *test)
{
	unregister_trace_my_pmu_overflow(see_sample, NULL);
	tracepoint_synchronize_unregister();
	my_pmi_freeze = false;
	sim_tick_ns = SIM_TICK_NS;
	sim_without_apic = false;
	sim_without_nmis = false;
	test_expect_good_manners(test);
}

/* --- what the CPU does ----------------------------------------------------------------- */

struct work {
	unsigned int steps;
	u64 step;
	bool user;
};

/* Instructions and cycles, of each kind @step at a time. */
static void retire_steps(void *data)
{
	struct sim_cpu *sim = sim_cpu(smp_processor_id());
	const struct work *work = data;
	unsigned int i;

	for (i = 0; i < work->steps; i++) {
		sim->ip += work->step;
		sim_retire(sim, 0xc0, 0x00, work->user, work->step);
		sim_retire(sim, 0x3c, 0x00, work->user, work->step);
	}
}

static void run(struct kunit *test, unsigned int steps, u64 step)
{
	struct work work = { .steps = steps, .step = step, .user = true };

	KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, retire_steps, &work));
}

static void nmi_on_cpu(void *unused)
{
	sim_nmi(sim_cpu(smp_processor_id()));
}

static void flush_on_cpu(void *unused)
{
	struct sim_cpu *sim = sim_cpu(smp_processor_id());

	if (sim->nmi_in)
		sim_nmi_comes(sim);
}

/* The NMI that is on its way comes now. */
static void flush(struct kunit *test)
{
	KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, flush_on_cpu, NULL));
}

static bool can_freeze(const struct sim_pmu *pmu)
{
	return (pmu->version >= 4 && pmu->pdcm) || pmu->freezes;
}

/* One counter of each kind that counts it, and what it is called. */
static const char *one_counter(const struct sim_pmu *pmu, bool fixed)
{
	if (!fixed)
		return "cpu/instructions,period=1000/u@gp0";
	if (pmu->fixed && pmu->version < 6)
		return "cpu/instructions,period=1000/u@fixed0";
	if (pmu->fixed_bitmap & BIT(0))
		return "cpu/instructions,period=1000/u@fixed0";
	if (pmu->fixed_bitmap & BIT(1))
		return "cpu/cycles,period=1000/u@fixed1";
	return NULL;
}

static u64 read_count(struct kunit *test, struct my_event_set *set, unsigned int i)
{
	struct my_pmu_sample *sample = test_sample(test);

	KUNIT_ASSERT_EQ(test, my_event_set_read(set, sample), 0);
	KUNIT_EXPECT_EQ(test, sample->marks.clobbered | sample->marks.late, 0ULL);
	return sample->count[i];
}

/* --- periods -------------------------------------------------------------------- */

struct step_row {
	u64 left, delta, overflows, after;
};

static const struct step_row step_rows[] = {
	{ 1000, 0, 0, 1000 },
	{ 1000, 999, 0, 1 },
	{ 1000, 1000, 1, 1000 },
	{ 1000, 1001, 1, 999 },
	{ 1, 1, 1, 1000 },
	{ 1, 1000, 1, 1 },
	{ 1, 1001, 2, 1000 },
	{ 1000, 1999, 1, 1 },
	{ 1000, 2000, 2, 1000 },
	{ 7, 10007, 11, 1000 },
	{ 7, 1ULL << 40, 1099511628, 231 },
};

static void pmi_step(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(step_rows); i++) {
		const struct step_row *row = &step_rows[i];
		u64 left = row->left;

		KUNIT_EXPECT_EQ_MSG(test, my_period_step(&left, 1000, row->delta),
				    row->overflows, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, left, row->after, "row %u", i);
	}
}

/* --- each overflow is a sample -------------------------------------------------- */

#define STEP	7
#define STEPS	2500

static void exact(struct kunit *test, const struct sim_pmu *pmu, const char *counter)
{
	struct my_event_set *set = test_set(test, pmu, counter);
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct sim_registers before;
	unsigned int i;

	nr_samples = 0;
	test_leave_traces(sim);
	sim->regs.lvtpc = 0xfe;		/* whoever wanted that gets it back */
	before = sim->regs;
	test_up(test, set);
	KUNIT_EXPECT_EQ(test, sim->regs.global_status & set->used, 0ULL);
	run(test, STEPS, STEP);
	KUNIT_EXPECT_EQ(test, nr_samples, STEPS * STEP / 1000U);
	for (i = 0; i < min(nr_samples, SAMPLES + 0U); i++) {
		u64 at = DIV_ROUND_UP(1000 * (i + 1), STEP) * STEP;

		KUNIT_EXPECT_STREQ(test, samples[i].name, set->event[0].attr.name);
		KUNIT_EXPECT_EQ(test, samples[i].counter, set->event[0].hw.idx);
		KUNIT_EXPECT_EQ(test, samples[i].period, 1000U);
		KUNIT_EXPECT_EQ(test, samples[i].ip, at);
		KUNIT_EXPECT_TRUE(test, samples[i].user);
		KUNIT_EXPECT_EQ(test, samples[i].nr, 1U);
		KUNIT_EXPECT_EQ(test, samples[i].counts[0], at);
	}
	KUNIT_EXPECT_EQ(test, read_count(test, set, 0), (u64)STEPS * STEP);
	KUNIT_EXPECT_EQ(test, set->period[0].samples, (u64)nr_samples);
	KUNIT_EXPECT_EQ(test, set->period[0].lost, 0ULL);
	KUNIT_EXPECT_EQ(test, sim->nmis, nr_samples);
	KUNIT_EXPECT_EQ(test, sim->unknown | sim->dropped, 0U);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
	/* An overflow from before us must not look like one of ours. */
	before.global_status &= ~set->used;
	test_expect_registers(test, pmu, &before, &sim->regs);
}

/* On a generic and on a fixed counter, of each width, in both orders. */
static void pmi_exact(struct kunit *test)
{
	const struct sim_pmu *pmu = test->param_value;
	unsigned int fixed;

	test_run_there(test);
	for (fixed = 0; fixed < 2; fixed++) {
		if (!one_counter(pmu, fixed))
			continue;
		my_pmi_freeze = false;
		exact(test, pmu, one_counter(pmu, fixed));
		my_pmi_freeze = can_freeze(pmu);
		exact(test, pmu, one_counter(pmu, fixed));
	}
}

#define EACH_1000	"cpu/instructions,period=1000/u"

static const char both[] = "{" EACH_1000 "@gp0," EACH_1000 "@gp1,instructions:u@gp2}";

/**
 * struct kind - a PMU, of a kind that sees and handles overflows in its own way
 * @pmu: the PMU
 * @crowd: events on three of its counters, two of them with a period
 * @first_read: up to so many accesses from the overflow on, the second of two reads finds that
 *	it was there at the first, too
 * @handler: at least as many accesses as a PMI has
 */
struct kind {
	const struct sim_pmu *pmu;
	const char *crowd;
	unsigned int first_read;
	unsigned int handler;
};

static const struct kind kinds[] = {
	{ PMU(V4),
	  "cpu/instructions,period=1000/u@gp0,cycles:u@gp1,cpu/cycles,period=700/u@fixed1", 14, 9 },
	{ PMU(AMD_CORE),
	  "cpu/instructions,period=1000/u@gp0,cycles:u@gp1,cpu/cycles,period=700/u@gp2", 29, 10 },
	{ PMU(AMD_V2),
	  "cpu/instructions,period=1000/u@gp0,cycles:u@gp1,cpu/cycles,period=700/u@gp2", 14, 9 },
};

static void kind_desc(const struct kind *kind, char *desc)
{
	strscpy(desc, kind->pmu->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(kind, kinds, kind_desc);

/* Two overflow on the same instruction; what counts beside them loses nothing. */
static void pmi_together(struct kunit *test)
{
	const struct kind *kind = test->param_value;
	struct my_event_set *set = test_set(test, kind->pmu, both);
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	unsigned int i;

	test_up(test, set);
	run(test, 1000, 10);
	KUNIT_EXPECT_EQ(test, nr_samples, 20U);
	KUNIT_EXPECT_EQ(test, sim->nmis, 10U);
	KUNIT_EXPECT_EQ(test, sim->spare, 10U);
	for (i = 0; i < min(nr_samples, SAMPLES + 0U); i++) {
		KUNIT_EXPECT_EQ(test, samples[i].counter, (int)(i % 2));
		KUNIT_EXPECT_EQ(test, samples[i].ip, 1000ULL * (i / 2 + 1));
		KUNIT_EXPECT_EQ(test, samples[i].nr, 3U);
		KUNIT_EXPECT_EQ(test, samples[i].counts[0], samples[i].ip);
		KUNIT_EXPECT_EQ(test, samples[i].counts[1], samples[i].ip);
		KUNIT_EXPECT_EQ(test, samples[i].counts[2], samples[i].ip);
	}
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ(test, read_count(test, set, i), 10000ULL);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
}

/* Of a group that is partly off the count is what it was. */
static void pmi_group_count(struct kunit *test)
{
	struct my_event_set *set = test_set(test, PMU(V4),
					    "cpu/instructions,period=1000/u@gp0,cycles:u@gp1");

	test_up(test, set);
	run(test, 2, 500);
	KUNIT_ASSERT_EQ(test, nr_samples, 1U);
	KUNIT_EXPECT_EQ(test, samples[0].nr, 1U);	/* the other one is no member */
	set->active &= ~BIT_ULL(0);
	run(test, 2, 500);
	set->active |= BIT_ULL(0);
	KUNIT_ASSERT_EQ(test, nr_samples, 2U);
	KUNIT_EXPECT_EQ(test, samples[1].counts[0], 2000ULL);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
}

/* --- accesses in their order ---------------------------------------------------- */

struct order_row {
	const char *counters;
	bool freeze;
	const char *accesses;
};

static const struct order_row order_rows[] = {
	{ "cpu/instructions,period=1000/u@gp0", false,
	  "R38e R38f W38f=0 W390=1 P0 W4c1=fffffffffc18 R38e L W38f=7000000ff" },
	{ "cpu/instructions,period=1000/u@fixed0", false,
	  "R38e R38f W38f=0 W390=100000000 P40000000 W309=fffffffffc18 R38e L W38f=7000000ff" },
	{ EACH_1000 "@gp0," EACH_1000 "@gp1", false,
	  "R38e R38f W38f=0 W390=3 P0 W4c1=fffffffffc18 P1 W4c2=fffffffffc18 R38e L W38f=7000000ff",
	},
	{ "cpu/instructions,period=1000/u@gp0", true,
	  "R38e P0 W4c1=fffffffffc18 L W390=800000000000001" },
	{ "cpu/instructions,period=1000/u@gp0,cpu/instructions,period=1000/u@gp1", true,
	  "R38e P0 W4c1=fffffffffc18 P1 W4c2=fffffffffc18 L W390=800000000000003" },
};

static void log_of(const struct sim_cpu *sim, char *text, size_t size)
{
	size_t len = 0;
	unsigned int i;

	*text = '\0';
	for (i = 0; i < sim->accesses; i++) {
		const struct sim_access *access = &sim->log[i];
		const char *space = i ? " " : "";

		if (access->op == SIM_LVTPC)
			len += scnprintf(text + len, size - len, "%sL", space);
		else if (access->op == SIM_WRMSR)
			len += scnprintf(text + len, size - len, "%sW%x=%llx", space,
					 access->reg, access->val);
		else
			len += scnprintf(text + len, size - len, "%s%c%x", space,
					 access->op == SIM_RDPMC ? 'P' : 'R', access->reg);
	}
}

/* Nobody reads samples: they are counted all the same. */
static void quiet_trace(void)
{
	unregister_trace_my_pmu_overflow(see_sample, NULL);
	tracepoint_synchronize_unregister();
}

static void pmi_order(struct kunit *test)
{
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct my_event_set *set;
	char text[256];
	unsigned int i;

	/* A reader of samples has the group read, too. */
	quiet_trace();
	for (i = 0; i < ARRAY_SIZE(order_rows); i++) {
		my_pmi_freeze = order_rows[i].freeze;
		set = test_set(test, PMU(V4), order_rows[i].counters);
		sim->regs.global_ctrl = 0x7000000ff;
		test_up(test, set);
		run(test, 9, 100);
		sim_clear_log(sim);
		run(test, 1, 100);
		log_of(sim, text, sizeof(text));
		KUNIT_EXPECT_STREQ(test, text, order_rows[i].accesses);
		KUNIT_EXPECT_EQ(test, set->period[0].samples, 1ULL);
		/* Also where the CPU is at work on them. */
		run(test, 9, 100);
		sim->skid = 3;
		run(test, 1, 100);
		KUNIT_EXPECT_EQ(test, read_count(test, set, 0), 2000ULL);
		KUNIT_EXPECT_EQ(test, set->period[0].samples, 2ULL);
		sim->skid = 0;
		KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
	}
	/* A guest of KVM's has its own IA32_DEBUGCTL: there nothing freezes. */
	set = test_set(test, PMU(V4), order_rows[0].counters);
	sim->regs.global_ctrl = 0x7000000ff;
	my_pmi_freeze = true;
	test_up(test, set);
	sim->regs.debugctl = 0;
	run(test, 9, 100);
	sim_clear_log(sim);
	run(test, 1, 100);
	log_of(sim, text, sizeof(text));
	KUNIT_EXPECT_STREQ(test, text, order_rows[0].accesses);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
	KUNIT_ASSERT_EQ(test, register_trace_my_pmu_overflow(see_sample, NULL), 0);
}

static const char overflow_by_sign[] =
	"P0 Rc0010200 Wc0010200=1100c0 Rc0010202 Wc0010202=10076 P0 Wc0010201=fffffffffc18 P0 ";
static const char exit_by_sign[] = "L Rc0010200 Wc0010200=5100c0 Rc0010202 Wc0010202=410076";

/* Where no register stops them all, nor has their overflows. */
static void pmi_order_by_sign(struct kunit *test)
{
	struct my_event_set *set = test_set(test, PMU(AMD_CORE),
					    "cpu/instructions,period=1000/u@gp0,cycles:u@gp1");
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	char text[256], *lvtpc;

	quiet_trace();
	test_up(test, set);
	run(test, 9, 100);
	sim_clear_log(sim);
	run(test, 1, 100);
	log_of(sim, text, sizeof(text));
	lvtpc = strchr(text, 'L');
	KUNIT_ASSERT_NOT_NULL(test, lvtpc);
	KUNIT_EXPECT_STREQ(test, lvtpc, exit_by_sign);
	*lvtpc = '\0';
	KUNIT_EXPECT_STREQ(test, text, overflow_by_sign);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
	KUNIT_ASSERT_EQ(test, register_trace_my_pmu_overflow(see_sample, NULL), 0);
}

/* --- each access of the handler made to fail ------------------------------------ */

/*
 * What it does not do the next read does, or says that it cannot; and afterwards samples
 * come again.
 */
static void one_fault(struct kunit *test, const struct sim_pmu *pmu, unsigned int nth)
{
	struct my_event_set *set = test_set(test, pmu, "cpu/instructions,period=1000/u@gp0");
	struct my_pmu_sample *sample = test_sample(test);
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	u64 count;

	nr_samples = 0;
	test_up(test, set);
	run(test, 9, 100);
	sim->fail_nth = nth;
	run(test, 1, 100);
	sim->fail_nth = 0;
	/* As a tick does. */
	KUNIT_ASSERT_EQ(test, my_event_set_read(set, sample), 0);
	if (!sample->marks.clobbered)
		KUNIT_EXPECT_EQ_MSG(test, sample->count[0], 1000ULL, "access %u", nth);
	count = sample->count[0];
	/* What has not come by then is overdue. */
	sim_pass_ms(2);
	KUNIT_ASSERT_EQ(test, my_event_set_read(set, sample), 0);
	KUNIT_EXPECT_EQ_MSG(test, sample->count[0], count, "access %u", nth);
	sim_pass_ms(2);
	KUNIT_ASSERT_EQ(test, my_event_set_read(set, sample), 0);
	KUNIT_EXPECT_EQ_MSG(test, sample->marks.clobbered, 0ULL, "access %u", nth);
	nr_samples = 0;
	run(test, 50, 100);
	flush(test);
	KUNIT_EXPECT_GE_MSG(test, nr_samples, 4U, "access %u", nth);
	KUNIT_EXPECT_EQ_MSG(test, read_count(test, set, 0), count + 5000, "access %u", nth);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
	KUNIT_EXPECT_EQ(test, sim->regs.debugctl, 0ULL);
	KUNIT_EXPECT_EQ(test, sim->regs.global_status, 0ULL);
}

static void pmi_faults(struct kunit *test)
{
	const struct kind *kind = test->param_value;
	unsigned int nth;

	test_run_there(test);
	for (nth = 1; nth <= kind->handler; nth++) {
		my_pmi_freeze = false;
		one_fault(test, kind->pmu, nth);
		my_pmi_freeze = can_freeze(kind->pmu);
		one_fault(test, kind->pmu, nth);
	}
}

/* --- an NMI behind each access of ours ------------------------------------------ */

/* More than any of the calls has. */
#define ANYWHERE	80

/* @wait: between the reads, in ms */
static void one_skid(struct kunit *test, const struct kind *kind, unsigned int skid,
		     unsigned int wait, u64 *count)
{
	struct my_event_set *set = test_set(test, kind->pmu, kind->crowd);
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	unsigned int i;
	u64 other;

	nr_samples = 0;
	test_up(test, set);
	run(test, 1, 990);
	sim->skid = skid;
	run(test, 1, 10);
	for (i = 0; i < 3; i++) {
		KUNIT_EXPECT_EQ_MSG(test, read_count(test, set, 0), 1000ULL, "skid %u", skid);
		sim_pass_ms(wait);
	}
	/* Once it has come another one is somebody else's. */
	if (!sim->nmi_in) {
		sim_pass_ms(101);
		KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, nmi_on_cpu, NULL));
		KUNIT_EXPECT_EQ_MSG(test, sim->unknown, 1U, "skid %u", skid);
		sim->unknown = 0;
	}
	flush(test);
	sim->skid = 0;
	run(test, 1, 990);
	run(test, 1, 10);
	*count = read_count(test, set, 0);
	KUNIT_EXPECT_EQ_MSG(test, set->period[0].samples + set->period[0].lost, 2ULL,
			    "skid %u", skid);
	KUNIT_EXPECT_EQ_MSG(test, local_read(&set->period[0].owed), 0L, "skid %u", skid);
	KUNIT_EXPECT_EQ_MSG(test, set->period[2].samples + set->period[2].lost, 2ULL,
			    "skid %u", skid);
	/* Frozen, all others lose what happens before the NMI. */
	other = my_pmi_freeze && skid ? 1990 : 2000;
	KUNIT_EXPECT_EQ_MSG(test, read_count(test, set, 1), other, "skid %u", skid);
	KUNIT_EXPECT_EQ_MSG(test, read_count(test, set, 2), other, "skid %u", skid);
	KUNIT_EXPECT_EQ_MSG(test, sim->unknown, 0U, "skid %u", skid);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
}

/* Reads: each overflow is counted once, and once a sample. */
static void pmi_anywhere(struct kunit *test)
{
	const struct kind *kind = test->param_value;
	unsigned int skid, order;
	u64 count;

	test_run_there(test);
	for (order = 0; order < 1 + can_freeze(kind->pmu); order++) {
		my_pmi_freeze = order;
		for (skid = 0; skid < ANYWHERE; skid++) {
			one_skid(test, kind, skid, 2, &count);
			KUNIT_EXPECT_EQ_MSG(test, count, 2000ULL, "skid %u", skid);
			/* What has not come by the second read is given up. */
			KUNIT_EXPECT_EQ_MSG(test, nr_samples, skid < kind->first_read ? 4U : 3U,
					    "skid %u", skid);
			/* However often it is read within a millisecond, it is not. */
			if (skid % 5)
				continue;
			one_skid(test, kind, skid, 0, &count);
			KUNIT_EXPECT_EQ_MSG(test, count, 2000ULL, "skid %u", skid);
			KUNIT_EXPECT_EQ_MSG(test, nr_samples, 4U, "skid %u", skid);
		}
	}
}

static struct my_event_set *about_to_overflow(struct kunit *test, unsigned int skid)
{
	const struct kind *kind = test->param_value;
	struct my_event_set *set = test_set(test, kind->pmu, kind->crowd);
	struct sim_cpu *sim = sim_cpu(TEST_CPU);

	test_up(test, set);
	run(test, 1, 990);
	sim->skid = skid;
	run(test, 1, 10);
	return set;
}

/* Stops and starts: the NMI is ours, whenever it comes, and the count goes on. */
static void pmi_stop_anywhere(struct kunit *test)
{
	const struct kind *kind = test->param_value;
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct sim_registers before;
	struct my_event_set *set;
	unsigned int skid;

	test_run_there(test);
	for (skid = 0; skid < 2 * ANYWHERE; skid++) {
		my_pmi_freeze = skid % 2 && can_freeze(kind->pmu);
		set = about_to_overflow(test, skid / 2);
		KUNIT_ASSERT_EQ(test, my_perf_event_disable(&set->event[0]), 0);
		flush(test);
		sim->skid = 0;
		run(test, 10, 10);
		KUNIT_ASSERT_EQ(test, my_perf_event_enable(&set->event[0]), 0);
		run(test, 99, 10);
		flush(test);
		KUNIT_EXPECT_EQ_MSG(test, read_count(test, set, 0), 1990ULL, "skid %u", skid);
		KUNIT_EXPECT_EQ(test, set->period[0].samples + set->period[0].lost, 1ULL);
		run(test, 1, 10);
		flush(test);
		KUNIT_EXPECT_EQ_MSG(test, read_count(test, set, 0), 2000ULL, "skid %u", skid);
		KUNIT_EXPECT_EQ(test, set->period[0].samples + set->period[0].lost, 2ULL);
		KUNIT_EXPECT_EQ_MSG(test, sim->unknown, 0U, "skid %u", skid);
		KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
		KUNIT_EXPECT_EQ_MSG(test, sim->regs.global_status, 0ULL, "skid %u", skid);
	}
	/* One that has not come by the end is waited for. */
	for (skid = 0; skid < 2 * ANYWHERE; skid += 5) {
		my_pmi_freeze = skid % 2 && can_freeze(kind->pmu);
		set = test_set(test, kind->pmu, kind->crowd);
		before = sim->regs;
		test_up(test, set);
		run(test, 99, 10);
		sim->skid = skid / 2;
		run(test, 1, 10);
		KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
		sim->regs.lvtpc &= ~SIM_LVTPC_MASKED;
		test_expect_registers(test, kind->pmu, &before, &sim->regs);
		KUNIT_EXPECT_EQ(test, set->event[0].count, 1000ULL);
	}
}

/* The PMI that ends a storm comes at any access of a read: INT is as the event has it. */
static void pmi_storm_anywhere(struct kunit *test)
{
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct my_event_set *set;
	unsigned int skid;

	test_run_there(test);
	for (skid = 0; skid < ANYWHERE; skid++) {
		set = about_to_overflow(test, skid);
		set->cpu->storm.since = sim_now();
		set->cpu->storm.nr = 100000 / HZ;
		KUNIT_EXPECT_EQ_MSG(test, read_count(test, set, 0), 1000ULL, "skid %u", skid);
		flush(test);
		KUNIT_EXPECT_EQ_MSG(test, sim->regs.evtsel[0] & BIT(20),
				    set->event[0].hw.config & BIT(20), "skid %u", skid);
		sim->skid = 0;
		run(test, 10, 10);
		KUNIT_EXPECT_EQ_MSG(test, read_count(test, set, 0), 1100ULL, "skid %u", skid);
		KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
	}
}

/* Two overflows before the NMI of the first: the second has no sample of its own. */
static void pmi_too_late(struct kunit *test)
{
	struct my_event_set *set = test_set(test, PMU(V4), "cpu/instructions,period=1000/u@gp0");
	struct sim_cpu *sim = sim_cpu(TEST_CPU);

	test_up(test, set);
	sim->skid = 1000;
	run(test, 250, 10);
	flush(test);
	KUNIT_EXPECT_EQ(test, nr_samples, 1U);
	KUNIT_EXPECT_EQ(test, set->period[0].lost, 1ULL);
	KUNIT_EXPECT_EQ(test, read_count(test, set, 0), 2500ULL);
	sim->skid = 0;
	run(test, 50, 10);
	KUNIT_EXPECT_EQ(test, nr_samples, 2U);
	KUNIT_EXPECT_EQ(test, samples[1].ip, 3000ULL);
	/* A read finds the first, and the NMI both. */
	sim->skid = 1000;
	run(test, 100, 10);
	KUNIT_EXPECT_EQ(test, read_count(test, set, 0), 4000ULL);
	run(test, 100, 10);
	flush(test);
	KUNIT_EXPECT_EQ(test, nr_samples, 4U);
	KUNIT_EXPECT_EQ(test, set->period[0].lost, 1ULL);
	KUNIT_EXPECT_EQ(test, read_count(test, set, 0), 5000ULL);
	/* A read alone, that comes after two. */
	run(test, 200, 10);
	KUNIT_EXPECT_EQ(test, read_count(test, set, 0), 7000ULL);
	KUNIT_EXPECT_EQ(test, set->period[0].lost, 2ULL);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
}

/* --- whose an NMI is ------------------------------------------------------------ */

static void pmi_foreign(struct kunit *test)
{
	struct my_event_set *set = test_set(test, PMU(V4), "cpu/instructions,period=1000/u@gp0");
	struct sim_cpu *sim = sim_cpu(TEST_CPU);

	/* Of a counter that somebody else has. */
	sim->regs.evtsel[5] = 0x5100c0;
	sim->regs.pmc[5] = GENMASK_ULL(47, 0) - 49;
	test_up(test, set);
	run(test, 10, 10);
	KUNIT_EXPECT_EQ(test, sim->nmis, 1U);
	KUNIT_EXPECT_EQ(test, sim->unknown, 1U);
	KUNIT_EXPECT_EQ(test, sim->regs.global_status, BIT_ULL(5));
	KUNIT_EXPECT_EQ(test, nr_samples, 0U);
	KUNIT_EXPECT_TRUE(test, sim->regs.lvtpc & SIM_LVTPC_MASKED);
	/* Theirs is acknowledged by nobody but them, also beside ours. */
	sim->regs.lvtpc = 0x400;
	run(test, 90, 10);
	KUNIT_EXPECT_EQ(test, nr_samples, 1U);
	KUNIT_EXPECT_EQ(test, sim->regs.global_status, BIT_ULL(5));
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
	KUNIT_EXPECT_EQ(test, sim->regs.global_status, BIT_ULL(5));
	KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, nmi_on_cpu, NULL));
	KUNIT_EXPECT_EQ(test, sim->unknown, 2U);
}

/* An overflow bit from before, and an NMI of others while events are enabled. */
static void foreign_anywhere(struct kunit *test, const struct sim_pmu *pmu)
{
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	unsigned int skid, left = 0;
	struct my_event_set *set;

	set = test_set(test, pmu,
		       "{cpu/instructions,period=1000/u@gp0,cycles:u@gp1,branches:u@gp2}");
	test_up(test, set);
	for (skid = 1; !left; skid++) {
		KUNIT_ASSERT_EQ(test, my_perf_event_disable(&set->event[0]), 0);
		/* Of AMD's there may be more after one that was handled. */
		sim_pass_ms(101);
		sim->regs.global_status = BIT_ULL(0);
		nr_samples = 0;
		sim->nmi_in = skid;
		KUNIT_ASSERT_EQ(test, my_perf_event_enable(&set->event[0]), 0);
		KUNIT_EXPECT_EQ_MSG(test, nr_samples, 0U, "skid %u", skid);
		/* The enable has fewer accesses than that. */
		left = sim->nmi_in;
		KUNIT_EXPECT_EQ_MSG(test, sim->unknown, left ? skid - 1 : skid, "skid %u", skid);
		sim->nmi_in = 0;
		sim->regs.lvtpc &= ~SIM_LVTPC_MASKED;
		run(test, 100, 10);
		KUNIT_EXPECT_EQ_MSG(test, nr_samples, 1U, "skid %u", skid);
	}
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
}

static void pmi_foreign_anywhere(struct kunit *test)
{
	test_run_there(test);
	foreign_anywhere(test, PMU(V4));
	foreign_anywhere(test, PMU(AMD_V2));
}

/* Others let the counters freeze: then they do in the order of version 3, too, and go on. */
static void pmi_freezes_anyway(struct kunit *test)
{
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct my_event_set *set;
	unsigned int skid;

	test_run_there(test);
	for (skid = 0; skid < ANYWHERE; skid++) {
		set = test_set(test, PMU(V4), kinds[0].crowd);
		sim->regs.debugctl = BIT_ULL(12);
		test_up(test, set);
		run(test, 99, 10);
		sim->skid = skid;
		run(test, 1, 10);
		KUNIT_EXPECT_EQ_MSG(test, read_count(test, set, 0), 1000ULL, "skid %u", skid);
		flush(test);
		sim->skid = 0;
		run(test, 100, 10);
		KUNIT_EXPECT_EQ_MSG(test, read_count(test, set, 0), 2000ULL, "skid %u", skid);
		KUNIT_EXPECT_EQ(test, set->period[0].samples + set->period[0].lost, 2ULL);
		/* They may also have changed their mind since. */
		sim->regs.debugctl = skid % 2 ? BIT_ULL(12) : 0;
		KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
		KUNIT_EXPECT_EQ(test, sim->regs.debugctl, skid % 2 ? BIT_ULL(12) : 0ULL);
		KUNIT_EXPECT_EQ_MSG(test, sim->regs.global_status, 0ULL, "skid %u", skid);
	}
	sim->regs.debugctl = 0;
}

/* No event of ours has caused the freeze any more: the next NMI ends it. */
static void pmi_thaws(struct kunit *test)
{
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct my_event_set *set;
	unsigned int frozen;

	my_pmi_freeze = true;
	set = test_set(test, PMU(V4), EACH_1000 "@gp0");
	test_up(test, set);
	for (frozen = 0; frozen < 2; frozen++) {
		sim->regs.global_status = frozen ? BIT_ULL(59) : 0;
		KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, nmi_on_cpu, NULL));
		KUNIT_EXPECT_EQ(test, sim->regs.global_status, 0ULL);
		KUNIT_EXPECT_EQ(test, sim->unknown, frozen + 1);
	}
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
}

/* Of a counter that was stopped meanwhile one is claimed, for a while. */
static void pmi_late(struct kunit *test)
{
	const struct kind *kind = test->param_value;
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct my_event_set *set;
	unsigned int waits;

	test_run_there(test);
	for (waits = 0; waits < 2; waits++) {
		set = test_set(test, kind->pmu,
			       "cpu/instructions,period=1000/u@gp0,cpu/instructions,period=777777/u@gp1");
		test_up(test, set);
		sim->skid = 1000;
		run(test, 100, 10);
		KUNIT_ASSERT_EQ(test, my_perf_event_disable(&set->event[0]), 0);
		KUNIT_EXPECT_EQ(test, sim->regs.global_status, 0ULL);
		KUNIT_EXPECT_EQ(test, set->period[0].lost, 1ULL);
		/* 100 ms, by the simulated clock */
		if (waits)
			sim_pass_ms(101);
		flush(test);
		KUNIT_EXPECT_EQ(test, sim->unknown, waits);
		/* Of AMD's there may be more. */
		KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, nmi_on_cpu, NULL));
		KUNIT_EXPECT_EQ(test, sim->unknown, waits + !(kind->pmu->amd && !waits));
		KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
	}
}

/* Of an event that counts again it is not: that overflow was accounted for when it stopped. */
static void pmi_late_again(struct kunit *test)
{
	const struct kind *kind = test->param_value;
	struct my_event_set *set =
		test_set(test, kind->pmu, EACH_1000 "@gp0,cpu/instructions,period=777777/u@gp1");
	struct sim_cpu *sim = sim_cpu(TEST_CPU);

	test_run_there(test);
	test_up(test, set);
	sim->skid = 1000;
	run(test, 100, 10);
	KUNIT_ASSERT_EQ(test, my_perf_event_disable(&set->event[0]), 0);
	sim_pass_ms(101);
	KUNIT_ASSERT_EQ(test, my_perf_event_enable(&set->event[0]), 0);
	flush(test);
	KUNIT_EXPECT_EQ(test, sim->unknown, 1U);
	KUNIT_EXPECT_EQ(test, nr_samples, 0U);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
}

/*
 * It comes behind the stop, before its event is given up: none is late.  One that comes during
 * the access with which the stop looked is not known to have come.
 */
static void pmi_not_late(struct kunit *test)
{
	struct my_event_set *set = test_set(test, PMU(V4), EACH_1000 "@gp0");
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	unsigned int skid, unsure = 0;
	bool has_come = true;

	test_run_there(test);
	test_up(test, set);
	for (skid = 1; has_come; skid++) {
		set->cpu->late_until = 0;
		sim->skid = skid;
		run(test, 1, 1000);
		KUNIT_ASSERT_EQ(test, my_perf_event_disable(&set->event[0]), 0);
		has_come = !sim->nmi_in;
		unsure += has_come && set->cpu->late_until;
		flush(test);
		KUNIT_EXPECT_EQ_MSG(test, sim->unknown, 0U, "skid %u", skid);
		KUNIT_ASSERT_EQ(test, my_perf_event_enable(&set->event[0]), 0);
	}
	KUNIT_EXPECT_LE(test, unsure, 1U);
	KUNIT_EXPECT_GT(test, skid, 5U);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
}

/* Of AMD's another one may come behind one that was handled. */
static void pmi_late_behind(struct kunit *test)
{
	const struct kind *kind = test->param_value;
	struct my_event_set *set = test_set(test, kind->pmu, EACH_1000 "@gp0");
	struct sim_cpu *sim = sim_cpu(TEST_CPU);

	test_up(test, set);
	run(test, 100, 10);
	KUNIT_EXPECT_EQ(test, nr_samples, 1U);
	KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, nmi_on_cpu, NULL));
	KUNIT_EXPECT_EQ(test, sim->unknown, kind->pmu->amd ? 0U : 1U);
	sim->unknown = 0;
	sim_pass_ms(101);
	KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, nmi_on_cpu, NULL));
	KUNIT_EXPECT_EQ(test, sim->unknown, 1U);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
}

/* --- PMIs that do not come ------------------------------------------------------ */

/* The first event of @set overflows after 1000, while the local APIC lets no PMI through. */
static void drop_pmi(struct kunit *test, struct my_event_set *set)
{
	struct sim_cpu *sim = sim_cpu(TEST_CPU);

	test_up(test, set);
	sim->regs.lvtpc |= SIM_LVTPC_MASKED;
	run(test, 100, 10);
	KUNIT_EXPECT_EQ(test, sim->dropped, 1U);
	KUNIT_EXPECT_EQ(test, read_count(test, set, 0), 1000ULL);
}

static void pmi_masked(struct kunit *test)
{
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct my_event_set *set;
	unsigned int order;

	for (order = 0; order < 2; order++) {
		my_pmi_freeze = order;
		set = test_set(test, PMU(V4), "cpu/instructions,period=1000/u@gp0,cycles:u@gp1");
		nr_samples = 0;
		drop_pmi(test, set);
		KUNIT_EXPECT_TRUE(test, sim->regs.lvtpc & SIM_LVTPC_MASKED);
		KUNIT_EXPECT_EQ(test, read_count(test, set, 0), 1000ULL);
		KUNIT_EXPECT_TRUE(test, sim->regs.lvtpc & SIM_LVTPC_MASKED);
		sim_pass_ms(1);
		KUNIT_EXPECT_EQ(test, read_count(test, set, 0), 1000ULL);
		KUNIT_EXPECT_EQ(test, sim->regs.lvtpc, 0x400U);
		KUNIT_EXPECT_EQ(test, sim->regs.global_status, 0ULL);
		KUNIT_EXPECT_EQ(test, set->period[0].lost, 1ULL);
		run(test, 100, 10);
		KUNIT_EXPECT_EQ(test, nr_samples, 1U);
		KUNIT_EXPECT_EQ(test, samples[0].ip, 2000ULL);
		KUNIT_EXPECT_EQ(test, read_count(test, set, 0), 2000ULL);
		/* And if its register faults a later read tries again. */
		sim->regs.lvtpc |= SIM_LVTPC_MASKED;
		run(test, 100, 10);
		KUNIT_EXPECT_EQ(test, read_count(test, set, 0), 3000ULL);
		sim_pass_ms(1);
		sim->fail_reg = 0x390;
		KUNIT_EXPECT_EQ(test, my_event_set_keep_up(set), 0);
		KUNIT_EXPECT_EQ(test, sim->regs.global_status & BIT(0), 1ULL);
		sim->fail_reg = 0;
		KUNIT_EXPECT_EQ(test, read_count(test, set, 0), 3000ULL);
		KUNIT_EXPECT_EQ(test, sim->regs.global_status & BIT(0), 1ULL);
		sim_pass_ms(1);
		KUNIT_EXPECT_EQ(test, read_count(test, set, 0), 3000ULL);
		KUNIT_EXPECT_EQ(test, sim->regs.global_status, 0ULL);
		/* The next one has its time, long after one that was overdue, too. */
		sim_pass_ms(1);
		run(test, 99, 10);
		sim->skid = 1000;
		run(test, 1, 10);
		KUNIT_EXPECT_EQ(test, read_count(test, set, 0), 4000ULL);
		KUNIT_EXPECT_EQ(test, read_count(test, set, 0), 4000ULL);
		flush(test);
		KUNIT_EXPECT_EQ(test, nr_samples, 2U);
		sim->skid = 0;
		KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
	}
}

/* One that overflows while another one is overdue has its own time. */
static void pmi_overdue_in_turn(struct kunit *test)
{
	struct my_event_set *set =
		test_set(test, PMU(V4), EACH_1000 "@gp0,cpu/cycles,period=1500/u@gp1");
	struct sim_cpu *sim = sim_cpu(TEST_CPU);

	drop_pmi(test, set);
	sim->regs.lvtpc &= ~SIM_LVTPC_MASKED;
	run(test, 49, 10);
	sim->skid = 1000;
	run(test, 1, 10);
	KUNIT_EXPECT_EQ(test, read_count(test, set, 0), 1500ULL);
	sim_pass_ms(1);
	KUNIT_EXPECT_EQ(test, read_count(test, set, 1), 1500ULL);
	KUNIT_EXPECT_EQ(test, set->period[0].lost, 1ULL);
	KUNIT_EXPECT_EQ(test, nr_samples, 0U);
	flush(test);
	KUNIT_EXPECT_EQ(test, set->period[1].lost, 0ULL);
	KUNIT_EXPECT_EQ(test, nr_samples, 1U);
	KUNIT_EXPECT_EQ(test, samples[0].counter, 1);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
}

/* One that has come while the CPU was at work does not take the time of the next one. */
static void pmi_in_time(struct kunit *test)
{
	const struct kind *kind = test->param_value;
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct my_event_set *set;
	unsigned int skid;

	test_run_there(test);
	for (skid = 0; skid < 30; skid++) {
		set = test_set(test, kind->pmu, kind->crowd);
		test_up(test, set);
		run(test, 1, 990);
		sim->skid = skid;
		run(test, 1, 10);
		KUNIT_EXPECT_EQ_MSG(test, read_count(test, set, 0), 1000ULL, "skid %u", skid);
		flush(test);
		sim_pass_ms(2);
		run(test, 1, 990);
		sim->skid = 1000;
		run(test, 1, 10);
		KUNIT_EXPECT_EQ_MSG(test, read_count(test, set, 0), 2000ULL, "skid %u", skid);
		KUNIT_EXPECT_EQ_MSG(test, set->period[0].lost, 0ULL, "skid %u", skid);
		flush(test);
		KUNIT_EXPECT_EQ_MSG(test, set->period[0].samples, 2ULL, "skid %u", skid);
		sim->skid = 0;
		KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
	}
}

/* Where no register has overflows nothing is left of one that was given up. */
static void pmi_masked_by_sign(struct kunit *test)
{
	struct my_event_set *set = test_set(test, PMU(AMD_CORE),
					    "cpu/instructions,period=1000/u@gp0,cycles:u@gp1");
	struct sim_cpu *sim = sim_cpu(TEST_CPU);

	drop_pmi(test, set);
	sim_pass_ms(1);
	KUNIT_EXPECT_EQ(test, read_count(test, set, 0), 1000ULL);
	KUNIT_EXPECT_EQ(test, sim->regs.lvtpc, 0x400U);
	KUNIT_EXPECT_EQ(test, set->period[0].lost, 1ULL);
	sim_pass_ms(101);
	KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, nmi_on_cpu, NULL));
	KUNIT_EXPECT_EQ(test, sim->unknown, 1U);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
}

/* Somebody writes the counter: it has its period again, and what it has counted is known. */
static void pmi_stolen(struct kunit *test)
{
	struct my_event_set *set = test_set(test, PMU(V4), "cpu/instructions,period=1000/u@gp0");
	struct my_pmu_sample *sample = test_sample(test);
	struct sim_cpu *sim = sim_cpu(TEST_CPU);

	test_up(test, set);
	run(test, 70, 10);
	KUNIT_EXPECT_EQ(test, read_count(test, set, 0), 700ULL);
	sim->regs.evtsel[0] = 0;
	sim->regs.pmc[0] = 42;
	run(test, 70, 10);
	KUNIT_ASSERT_EQ(test, my_event_set_read(set, sample), 0);
	KUNIT_EXPECT_EQ(test, sample->marks.clobbered, BIT_ULL(0));
	KUNIT_EXPECT_EQ(test, sample->count[0], 700ULL);
	run(test, 29, 10);
	KUNIT_EXPECT_EQ(test, nr_samples, 0U);
	run(test, 1, 10);
	KUNIT_EXPECT_EQ(test, nr_samples, 1U);
	KUNIT_EXPECT_EQ(test, read_count(test, set, 0), 1000ULL);
	/* What no counting explains, with an NMI between. */
	sim->regs.pmc[0] = 1ULL << 40;
	KUNIT_ASSERT_EQ(test, my_event_set_read(set, sample), 0);
	KUNIT_EXPECT_EQ(test, sample->marks.clobbered, BIT_ULL(0));
	run(test, 100, 10);
	KUNIT_EXPECT_EQ(test, nr_samples, 2U);
	/* Or stops it, who knows when. */
	sim->regs.global_ctrl = 0;
	KUNIT_ASSERT_EQ(test, my_event_set_read(set, sample), 0);
	KUNIT_EXPECT_EQ(test, sample->marks.clobbered, BIT_ULL(0));
	run(test, 100, 10);
	KUNIT_EXPECT_EQ(test, nr_samples, 3U);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
}

static struct my_event_set *second_set(struct kunit *test, const char *events)
{
	struct my_event_set *set = kunit_kzalloc(test, sizeof(*set), GFP_KERNEL);
	struct my_perf_event_attr attr[2];
	struct my_pmu_why why = {};
	int nr;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, set);
	my_event_set_init(set, my_pmu_cpu_of(TEST_CPU));
	nr = my_parse_events(events, attr, 2, &why);
	KUNIT_ASSERT_GE_MSG(test, nr, 1, "%s", why.text);
	KUNIT_ASSERT_EQ_MSG(test, test_assign(set, attr, nr, &why), 0, "%s", why.text);
	return set;
}

/* An overflow that was noted of a counter is not its next user's. */
static void pmi_leftover(struct kunit *test)
{
	struct my_event_set *beside = test_set(test, PMU(AMD_CORE), EACH_1000 "@gp1");
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct my_event_set *set = second_set(test, "cpu/event=0xc0,period=500/u@gp0");
	unsigned int i;

	test_up(test, beside);
	for (i = 0; i < 2; i++) {
		test_up(test, set);
		if (i) {
			sim_pass_ms(101);
			KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, nmi_on_cpu, NULL));
			KUNIT_EXPECT_EQ(test, sim->unknown, 1U);
		} else {
			sim->skid = 1000;
			run(test, 50, 10);
			sim->nmi_in = 0;
			sim->skid = 0;
		}
		KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
	}
	KUNIT_ASSERT_EQ(test, my_event_set_down(beside), 0);
}

/* --- too many ------------------------------------------------------------------- */

static void sticky(struct kunit *test, bool freeze)
{
	struct my_event_set *set;
	struct sim_cpu *sim = sim_cpu(TEST_CPU);

	my_pmi_freeze = freeze;
	set = test_set(test, PMU(V4), "cpu/instructions,period=1000/u@gp0");
	nr_samples = 0;
	test_up(test, set);
	sim->sticky = BIT_ULL(0);
	run(test, 100, 10);
	KUNIT_EXPECT_EQ(test, nr_samples, 1U);
	KUNIT_EXPECT_EQ(test, set->period[0].throttles, freeze ? 0ULL : 1ULL);
	KUNIT_EXPECT_EQ(test, read_count(test, set, 0), 1000ULL);
	sim->sticky = 0;
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
}

/* A status that cannot be cleared does not keep the CPU. */
static void pmi_sticky(struct kunit *test)
{
	sticky(test, false);
	sticky(test, true);
}

static bool comes_back(const struct my_event_set *set)
{
	unsigned int i;

	for (i = 0; i < 500 && READ_ONCE(set->period[0].throttled); i++)
		usleep_range(1000, 2000);
	return !READ_ONCE(set->period[0].throttled);
}

/* PMIs until there are too many; how many samples that were. */
static unsigned int storm(struct kunit *test, struct my_event_set *set)
{
	nr_samples = 0;
	run(test, 1000, 100);
	KUNIT_EXPECT_EQ(test, sim_cpu(TEST_CPU)->unknown, 0U);
	return nr_samples;
}

static const char stormy[] =
	"cpu/instructions,period=100/u@gp0,cpu/instructions,period=7777777/u@gp1";

/* After so many as a tick may have there are none for a tick. */
static void pmi_storm(struct kunit *test)
{
	const struct kind *kind = test->param_value;
	struct my_event_set *set = test_set(test, kind->pmu, stormy);
	struct my_pmu_sample *sample = test_sample(test);
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	unsigned int seen;

	test_up(test, set);
	seen = storm(test, set);
	KUNIT_EXPECT_EQ(test, seen, 100000U / HZ + 1);
	KUNIT_EXPECT_EQ(test, set->period[0].throttles, 1ULL);
	KUNIT_EXPECT_TRUE(test, comes_back(set));
	KUNIT_ASSERT_EQ(test, my_event_set_read(set, sample), 0);
	KUNIT_EXPECT_EQ(test, sample->marks.throttled, BIT_ULL(0));
	KUNIT_EXPECT_EQ(test, sample->marks.clobbered, 0ULL);
	KUNIT_EXPECT_EQ(test, sample->count[0], 100000ULL);
	KUNIT_EXPECT_EQ(test, sample->count[1], 100000ULL);
	KUNIT_EXPECT_EQ(test, set->period[0].samples + set->period[0].lost, 1000ULL);
	KUNIT_EXPECT_TRUE(test, sim->regs.evtsel[0] & BIT(20));
	KUNIT_EXPECT_EQ(test, sim->regs.global_status, 0ULL);
	KUNIT_ASSERT_EQ(test, my_event_set_read(set, sample), 0);
	KUNIT_EXPECT_EQ(test, sample->marks.throttled, 0ULL);
	run(test, 10, 10);
	KUNIT_EXPECT_EQ(test, nr_samples, seen + 1);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
}

/* Each of them is quick, but they are too many. */
static void pmi_storm_number(struct kunit *test)
{
	struct my_event_set *set = test_set(test, PMU(V4), stormy);
	struct my_pmu_cpu *cpu = set->cpu;
	unsigned int nr;

	test_up(test, set);
	run(test, 1, 100);
	KUNIT_EXPECT_EQ(test, cpu->storm.nr, 1ULL);
	cpu->storm.nr = 100000 / HZ - 1;
	cpu->storm.least = 0;
	run(test, 1, 100);
	KUNIT_EXPECT_EQ(test, set->period[0].throttles, 0ULL);
	run(test, 1, 100);
	KUNIT_EXPECT_EQ(test, set->period[0].throttles, 1ULL);
	KUNIT_EXPECT_TRUE(test, comes_back(set));
	/* Or they take too much of the tick. */
	for (nr = 50; nr <= 350; nr += 300) {
		cpu->storm = (struct my_pmi_storm) {
			.since = sim_now(), .nr = nr, .least = SIM_TICK_NS };
		/* What is logged takes simulated time. */
		sim_clear_log(sim_cpu(TEST_CPU));
		run(test, 1, 100);
		KUNIT_EXPECT_EQ(test, set->period[0].throttles, nr == 50 ? 1ULL : 2ULL);
	}
	KUNIT_EXPECT_TRUE(test, comes_back(set));
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
}

/* Each takes a twentieth of the tick, or more; of a few that is not known yet. */
static void pmi_storm_few(struct kunit *test)
{
	struct my_event_set *set = test_set(test, PMU(V4), stormy);
	struct my_pmu_cpu *cpu = set->cpu;

	test_up(test, set);
	cpu->storm = (struct my_pmi_storm) { .since = sim_now(), .least = SIM_TICK_NS };
	sim_clear_log(sim_cpu(TEST_CPU));
	sim_tick_ns = 100 * HELD_CLOCK_NS;
	run(test, 7, 100);
	KUNIT_EXPECT_EQ(test, cpu->storm.nr, 7ULL);
	KUNIT_EXPECT_GE(test, cpu->storm.least, 5ULL * HELD_CLOCK_NS);
	KUNIT_EXPECT_EQ(test, set->period[0].throttles, 0ULL);
	run(test, 1, 100);
	KUNIT_EXPECT_EQ(test, set->period[0].throttles, 1ULL);
	KUNIT_EXPECT_TRUE(test, comes_back(set));
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
}

/* Another event has overflowed, and its NMI is on its way, when the one may interrupt again. */
static void storm_and_overflow(void *unused)
{
	struct sim_cpu *sim = sim_cpu(smp_processor_id());
	struct my_pmu_cpu *cpu = this_cpu_ptr(&my_pmu_cpus);
	struct work work = { .steps = 1, .step = 100, .user = true };

	cpu->storm = (struct my_pmi_storm) { .since = sim_now(), .nr = 100000 };
	retire_steps(&work);
	cpu->storm = (struct my_pmi_storm) {};
	sim->skid = SIM_ACCESSES;
	work.steps = 9;
	retire_steps(&work);
}

static void pmi_storm_other(struct kunit *test)
{
	struct my_event_set *set = test_set(test, PMU(V4),
					    "cpu/instructions,period=100/u@gp0," EACH_1000 "@gp1");
	struct sim_cpu *sim = sim_cpu(TEST_CPU);

	test_up(test, set);
	KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, storm_and_overflow, NULL));
	KUNIT_EXPECT_EQ(test, set->period[0].throttles, 1ULL);
	KUNIT_EXPECT_TRUE(test, comes_back(set));
	KUNIT_EXPECT_EQ(test, set->period[1].samples, 0ULL);
	KUNIT_EXPECT_NE(test, sim->nmi_in, 0U);
	flush(test);
	KUNIT_EXPECT_EQ(test, set->period[1].samples, 1ULL);
	KUNIT_EXPECT_EQ(test, set->period[1].lost, 0ULL);
	KUNIT_EXPECT_EQ(test, sim->unknown, 0U);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
}

/* Its PMIs disturb the self-test of another set each time: they wait until it is done. */
static void pmi_selftest_beside(struct kunit *test)
{
	struct my_event_set *set = test_set(test, PMU(V4), "cpu/instructions,period=100/u@gp0");
	struct my_event_set *other = second_set(test, "instructions@gp1");
	struct sim_cpu *sim = sim_cpu(TEST_CPU);

	test_up(test, set);
	sim->disturb = 500;
	sim->disturb_calls = BIT_ULL(1) << sim->known_codes;
	test_up(test, other);
	KUNIT_EXPECT_FALSE(test, set->period[0].throttled);
	KUNIT_ASSERT_EQ(test, my_event_set_down(other), 0);
	sim->disturb_calls = 0;
	sim->disturb_pmis = true;
	test_up(test, other);
	KUNIT_EXPECT_EQ(test, set->period[0].throttles, 1ULL);
	KUNIT_EXPECT_GT(test, set->cpu->late_until, sim_now());
	KUNIT_EXPECT_TRUE(test, comes_back(set));
	KUNIT_EXPECT_TRUE(test, sim->regs.evtsel[0] & BIT(20));
	run(test, 1, 100);
	KUNIT_EXPECT_EQ(test, nr_samples, 1U);
	KUNIT_ASSERT_EQ(test, my_event_set_down(other), 0);
	sim->disturb_pmis = false;
	test_up(test, other);
	KUNIT_EXPECT_EQ(test, set->period[0].throttles, 1ULL);
	KUNIT_ASSERT_EQ(test, my_event_set_down(other), 0);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
}

/* Each counter alone is right. What stands still is not disturbed. */
static void pmi_selftest_together(struct kunit *test)
{
	struct my_event_set *set = test_set(test, PMU(V4), "cpu/instructions,period=100/u@gp0");
	struct my_event_set *other = second_set(test, "instructions@gp1,cycles@gp2");
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct my_pmu_why why = {};

	test_up(test, set);
	sim->disturb = 500;
	sim->disturb_calls = 0xaaaaULL << (sim->known_codes + 16);
	test_up(test, other);
	KUNIT_EXPECT_EQ(test, set->period[0].throttles, 1ULL);
	KUNIT_EXPECT_TRUE(test, comes_back(set));
	KUNIT_ASSERT_EQ(test, my_event_set_down(other), 0);
	sim->disturb_calls = 0;
	sim->broken = SIM_STARVED;
	sim->broken_counters = BIT_ULL(0) | BIT_ULL(1) | BIT_ULL(2);
	sim->starved = 2;
	KUNIT_EXPECT_EQ(test, my_event_set_up(other, &why), -ENODEV);
	KUNIT_EXPECT_EQ(test, set->period[0].throttles, 1ULL);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
}

static void throttle_on_cpu(void *unused)
{
	my_pmi_throttle(my_pmu_cpu_of(smp_processor_id()));
}

/* It has just overflowed: its PMI is known, and ends the freeze. */
static void pmi_selftest_late(struct kunit *test)
{
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct my_event_set *set;
	unsigned int order;

	test_run_there(test);
	for (order = 0; order < 2; order++) {
		my_pmi_freeze = order;
		set = test_set(test, PMU(V4), EACH_1000 "@gp0");
		test_up(test, set);
		sim->skid = 1000;
		run(test, 100, 10);
		KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, throttle_on_cpu, NULL));
		KUNIT_EXPECT_EQ(test, sim->regs.evtsel[0] & BIT(20), 0ULL);
		flush(test);
		KUNIT_EXPECT_EQ(test, sim->unknown, 0U);
		KUNIT_EXPECT_EQ(test, sim->regs.global_status & BIT_ULL(59), 0ULL);
		KUNIT_EXPECT_TRUE(test, comes_back(set));
		sim->skid = 0;
		run(test, 100, 10);
		KUNIT_EXPECT_EQ(test, set->period[0].samples + set->period[0].lost, 2ULL);
		KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
	}
}

static void start_restart(void *set)
{
	irq_work_queue(&((struct my_event_set *)set)->restart.work);
}

/* What is throttled can be stopped, started, and is whole then. */
static void pmi_storm_stop(struct kunit *test)
{
	struct my_event_set *set = test_set(test, PMU(V4), stormy);
	struct my_pmu_cpu *cpu = set->cpu;
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct sim_registers before = sim->regs;

	test_up(test, set);
	storm(test, set);
	KUNIT_ASSERT_EQ(test, my_perf_event_disable(&set->event[0]), 0);
	KUNIT_EXPECT_FALSE(test, set->period[0].throttled);
	KUNIT_ASSERT_EQ(test, my_perf_event_enable(&set->event[0]), 0);
	KUNIT_EXPECT_TRUE(test, sim->regs.evtsel[0] & BIT(20));
	nr_samples = 0;
	run(test, 1, 100);
	KUNIT_EXPECT_EQ(test, nr_samples, 1U);
	msleep(20);	/* the timer finds nothing to do */
	KUNIT_ASSERT_EQ(test, my_perf_event_disable(&set->event[0]), 0);
	KUNIT_ASSERT_EQ(test, my_perf_event_disable(&set->event[1]), 0);
	sim_clear_log(sim);
	KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, start_restart, set));
	msleep(20);	/* nor if no event is active */
	KUNIT_EXPECT_EQ(test, sim->accesses, 0U);
	KUNIT_ASSERT_EQ(test, my_perf_event_enable(&set->event[0]), 0);
	KUNIT_ASSERT_EQ(test, my_perf_event_enable(&set->event[1]), 0);
	storm(test, set);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
	test_expect_registers(test, PMU(V4), &before, &sim->regs);
	/* In the middle of work on registers that counters share it has to wait. */
	test_up(test, set);
	run(test, 1, 50);
	cpu->storm.nr = 100000;
	cpu->storm.least = 0;
	cpu->storm.since = sim_now();
	sim->skid = 3;
	run(test, 1, 50);
	KUNIT_ASSERT_EQ(test, my_event_set_keep_up(set), 0);
	KUNIT_EXPECT_EQ(test, set->period[0].throttled, false);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
}

/*
 * In the kernel a period may be shorter than an NMI: the next one comes before anything else
 * happens, tick or no tick.  So those that find the CPU at the same place are counted on.
 */
static void stand(struct kunit *test, const char *event, u64 steps, bool counted_on)
{
	struct my_event_set *set = test_set(test, PMU(V4), event);
	struct my_pmi_storm *storm = &set->cpu->storm;
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	u64 ip;

	test_up(test, set);
	run(test, 1, steps);
	ip = sim->ip;
	storm->nr = 5;
	storm->since = sim_now() - 2 * SIM_TICK_NS;
	sim->ip = ip - steps;
	run(test, 1, steps);
	KUNIT_EXPECT_EQ(test, storm->nr, counted_on ? 6ULL : 1ULL);
	/* It has made a step. */
	storm->since = sim_now() - 2 * SIM_TICK_NS;
	run(test, 1, steps);
	KUNIT_EXPECT_EQ(test, storm->nr, 1ULL);
	/* With another stack it is somewhere else, too. */
	storm->nr = 5;
	storm->since = sim_now() - 2 * SIM_TICK_NS;
	storm->sp = 8;
	sim->ip -= steps;
	run(test, 1, steps);
	KUNIT_EXPECT_EQ(test, storm->nr, 1ULL);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
}

static void pmi_storm_stands(struct kunit *test)
{
	stand(test, "cpu/instructions,period=100/@gp0", 100, true);
	stand(test, "cpu/instructions,period=32767/@gp0", 32767, true);
	stand(test, "cpu/instructions,period=32768/@gp0", 32768, false);
	stand(test, "cpu/instructions,period=100/u@gp0", 100, false);
}

/* While the CPU is at work on another set, INT cannot go; but the counter can be left alone. */
static void pmi_storm_beside(struct kunit *test)
{
	struct my_event_set *set = test_set(test, PMU(V4), "cpu/instructions,period=100/u@gp0");
	struct my_event_set *other = second_set(test, "cpu/instructions,period=7777777/u@gp1");
	struct sim_cpu *sim = sim_cpu(TEST_CPU);

	test_up(test, set);
	test_up(test, other);
	run(test, 1, 50);
	sim_tick_ns = U64_MAX;	/* it does not end by itself */
	set->cpu->storm = (struct my_pmi_storm) { .since = sim_now(), .nr = 100000 };
	sim->skid = 3;
	run(test, 1, 50);
	KUNIT_ASSERT_EQ(test, my_event_set_keep_up(other), 0);
	KUNIT_EXPECT_EQ(test, nr_samples, 1U);
	KUNIT_EXPECT_FALSE(test, set->period[0].throttled);
	KUNIT_EXPECT_EQ(test, sim->regs.pmc[0], 0ULL);
	set->cpu->storm = (struct my_pmi_storm) {};
	sim->skid = 0;
	KUNIT_EXPECT_EQ(test, read_count(test, set, 0), 100ULL);
	run(test, 1, 100);
	KUNIT_EXPECT_EQ(test, nr_samples, 2U);
	KUNIT_EXPECT_EQ(test, read_count(test, set, 0), 200ULL);
	KUNIT_ASSERT_EQ(test, my_event_set_down(other), 0);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
}

/* Nor while counters are started, each by its event select: what starts them must go on. */
static void pmi_storm_starting(struct kunit *test)
{
	struct my_event_set *set = test_set(test, PMU(AMD_CORE),
					    "cpu/instructions,period=100/u@gp0");
	struct sim_cpu *sim = sim_cpu(TEST_CPU);

	test_up(test, set);
	run(test, 1, 50);
	sim_tick_ns = U64_MAX;	/* it does not end by itself */
	set->cpu->storm = (struct my_pmi_storm) { .since = sim_now(), .nr = 100000 };
	set->cpu->starting = true;
	run(test, 1, 50);
	set->cpu->starting = false;
	KUNIT_EXPECT_EQ(test, nr_samples, 1U);
	KUNIT_EXPECT_EQ(test, sim->regs.pmc[0], 0ULL);
	set->cpu->storm = (struct my_pmi_storm) {};
	KUNIT_EXPECT_EQ(test, read_count(test, set, 0), 100ULL);
	run(test, 1, 100);
	KUNIT_EXPECT_EQ(test, nr_samples, 2U);
	KUNIT_EXPECT_EQ(test, read_count(test, set, 0), 200ULL);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
}

/* Of a fixed counter it is a field of a register that others have fields in. */
static void pmi_storm_fixed(struct kunit *test)
{
	struct my_event_set *set = test_set(test, PMU(V4),
					    "cpu/instructions,period=100/u@fixed0,cpu/cycles,period=77777/u@fixed1");
	struct sim_cpu *sim = sim_cpu(TEST_CPU);

	test_up(test, set);
	/* It faults when it is read, and then it is tried again. */
	sim->fail_reg = 0x38d;
	storm(test, set);
	KUNIT_EXPECT_EQ(test, set->period[0].throttles, 0ULL);
	sim->fail_reg = 0;
	storm(test, set);
	KUNIT_EXPECT_EQ(test, set->period[0].throttles, 1ULL);
	KUNIT_EXPECT_TRUE(test, comes_back(set));
	KUNIT_EXPECT_EQ(test, sim->regs.fixed_ctr_ctrl, 0xaaULL);
	KUNIT_EXPECT_EQ(test, read_count(test, set, 0), 200000ULL);
	KUNIT_EXPECT_EQ(test, read_count(test, set, 1), 200000ULL);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
}

/* Whoever is disabled meanwhile has nothing to restart. */
static void pmi_storm_alone(struct kunit *test)
{
	struct my_event_set *set = test_set(test, PMU(V4), "cpu/instructions,period=100/u@gp0");

	test_up(test, set);
	/* It is up already. */
	test_up(test, set);
	storm(test, set);
	/* A tick later, which may be now, it interrupts again. */
	KUNIT_EXPECT_GT(test, set->period[0].throttles, 0ULL);
	KUNIT_ASSERT_EQ(test, my_perf_event_disable(&set->event[0]), 0);
	msleep(20);
	KUNIT_ASSERT_EQ(test, my_perf_event_enable(&set->event[0]), 0);
	set->cpu->storm = (struct my_pmi_storm) {};
	run(test, 1, 100);
	KUNIT_EXPECT_FALSE(test, set->period[0].throttled);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
}

/* Interrupts are off: the timer does not find one register that faults, and then another. */
static void fault_on_cpu(void *reg)
{
	sim_cpu(smp_processor_id())->fail_reg = *(u32 *)reg;
}

/* Interrupts are off until the register faults, so the timer cannot run before. */
static void storm_and_fault(void *reg)
{
	struct work work = { .steps = 1000, .step = 100, .user = true };

	retire_steps(&work);
	fault_on_cpu(reg);
}

/* If the register of INT faults, it is tried again: to be off, and to be on. */
static void pmi_storm_faults(struct kunit *test)
{
	const struct kind *kind = test->param_value;
	u32 select = kind->pmu->amd ? 0xc0010200 : 0x186;
	u32 ctrl = kind->pmu->version < 2 ? select : kind->pmu->amd ? 0xc0000301 : 0x38f;
	struct my_event_set *set = test_set(test, kind->pmu, stormy);
	struct sim_cpu *sim = sim_cpu(TEST_CPU);

	test_up(test, set);
	sim->fail_reg = select;
	storm(test, set);
	KUNIT_EXPECT_EQ(test, set->period[0].throttles, 0ULL);
	sim->fail_reg = 0;
	KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, storm_and_fault, &select));
	KUNIT_EXPECT_TRUE(test, set->period[0].throttles > 0);
	msleep(20);
	KUNIT_EXPECT_TRUE(test, set->period[0].throttled);
	KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, fault_on_cpu, &ctrl));
	msleep(20);
	KUNIT_EXPECT_TRUE(test, set->period[0].throttled);
	sim->fail_reg = 0;
	KUNIT_EXPECT_TRUE(test, comes_back(set));
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
}

/* Where events are rotated, too. */
static void pmi_rotate(struct kunit *test)
{
	struct my_event_set *set = test_set(test, PMU(V5_ONE_OF_EACH),
					    "cpu/instructions,period=1000/u,branches:u");
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	unsigned int i;

	test_up_without_timer(test, set);
	/* 700 instructions with it, 700 without. */
	for (i = 0; i < 10; i++) {
		sim->skid = i % 2 ? 1000 : 0;
		run(test, 70, 10);
		KUNIT_ASSERT_EQ(test, test_rotate(set), 0);
		flush(test);
	}
	KUNIT_EXPECT_EQ(test, set->event[0].count, 3500ULL);
	KUNIT_EXPECT_EQ(test, set->period[0].samples + set->period[0].lost, 3ULL);
	KUNIT_EXPECT_EQ(test, sim->unknown, 0U);
	/* A storm in one of them. */
	set->cpu->storm = (struct my_pmi_storm) { .since = sim_now(), .nr = 100000 };
	sim->skid = 0;
	run(test, 70, 10);
	KUNIT_EXPECT_EQ(test, set->period[0].throttles, 1ULL);
	KUNIT_EXPECT_TRUE(test, comes_back(set));
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
}

/* An event that stays on its counter interrupts on, whenever its NMI comes. */
static void pmi_rotate_stays(struct kunit *test)
{
	struct my_event_set *set = test_set(test, PMU(V5_ONE_OF_EACH),
					    "cpu/cycles,period=1000/u@fixed1,instructions:u,branches:u");
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	unsigned int skid;

	test_run_there(test);
	test_up_without_timer(test, set);
	for (skid = 0; skid < ANYWHERE; skid++) {
		run(test, 99, 10);
		sim->skid = skid;
		run(test, 1, 10);
		KUNIT_ASSERT_EQ(test, test_rotate(set), 0);
		flush(test);
		sim->skid = 0;
		run(test, 100, 10);
		KUNIT_EXPECT_EQ_MSG(test, set->period[0].samples, 2 * skid + 2ULL,
				    "skid %u", skid);
	}
	KUNIT_EXPECT_EQ(test, set->period[0].lost, 0ULL);
	KUNIT_EXPECT_EQ(test, read_count(test, set, 0), 2000ULL * ANYWHERE);
	KUNIT_EXPECT_EQ(test, sim->unknown, 0U);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
}

/* Others start and stop, or are only asked to: likewise. */
static void pmi_beside_anywhere(struct kunit *test)
{
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct my_event_set *set;
	unsigned int skid, nth;

	test_run_there(test);
	set = test_set(test, PMU(V4), EACH_1000 "@gp0,cycles:u@gp1");
	test_up(test, set);
	for (skid = 0; skid < 4 * ANYWHERE; skid++) {
		run(test, 99, 10);
		sim->skid = skid / 4;
		run(test, 1, 10);
		if (skid & 2)
			KUNIT_ASSERT_EQ(test, my_perf_event_enable(&set->event[1]), 0);
		else
			KUNIT_ASSERT_EQ(test, my_perf_event_disable(&set->event[1]), 0);
		flush(test);
		sim->skid = 0;
		KUNIT_EXPECT_EQ_MSG(test, set->period[0].samples + set->period[0].lost,
				    skid + 1ULL, "skid %u", skid);
	}
	/* Also if a register faults. */
	KUNIT_ASSERT_EQ(test, my_perf_event_disable(&set->event[1]), 0);
	for (nth = 1; ; nth++) {
		sim->fail_nth = nth;
		if (!my_perf_event_enable(&set->event[1]))
			break;
		KUNIT_ASSERT_EQ(test, sim->fail_nth, 0U);
		KUNIT_EXPECT_EQ(test, set->active, 1ULL);
		my_event_set_keep_up(set);
	}
	sim->fail_nth = 0;
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
}

/* --- refused -------------------------------------------------------------------- */

static void expect_refused(struct kunit *test, struct my_event_set *set, int err,
			   const char *text)
{
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct sim_registers before = sim->regs;
	struct my_pmu_why why = {};

	KUNIT_EXPECT_EQ(test, my_event_set_up(set, &why), err);
	KUNIT_EXPECT_STREQ(test, why.text, text);
	test_expect_registers(test, &sim->pmu, &before, &sim->regs);
	KUNIT_EXPECT_FALSE(test, sim_handles_nmis());
	KUNIT_EXPECT_FALSE(test, set->pmi_held);
}

#define NO_FREEZE \
	"pmi=v4: the counters do not freeze at an overflow: that needs version 4, IA32_PERF_CAPABILITIES, and bit 12 of IA32_DEBUGCTL; pmi=v3 needs none of them"

static const struct sim_pmu v4_without_pdcm = {
	.name = "v4-without-pdcm", .version = 4, .gp = 4, .width = 48,
	.fixed = 3, .fixed_width = 48, .ebx_length = 7 };

static void pmi_refused(struct kunit *test)
{
	static const char event[] = "cpu/instructions,period=1000/u@gp0";
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct my_event_set *set = test_set(test, PMU(V4), event);

	sim_without_apic = true;
	expect_refused(test, set, -ENODEV,
		       "a period needs a local APIC, by which counters interrupt");
	sim_without_apic = false;
	sim_without_nmis = true;
	expect_refused(test, set, -EBUSY, "no handler of NMIs can be registered (error -16)");
	sim_without_nmis = false;
	my_pmi_freeze = true;
	sim->no_freeze = 1;
	expect_refused(test, set, -EOPNOTSUPP, NO_FREEZE);
	sim->no_freeze = 2;
	expect_refused(test, set, -EOPNOTSUPP, NO_FREEZE);
	sim->no_freeze = 0;
	sim->fail_reg = 0x1d9;
	expect_refused(test, set, -EOPNOTSUPP, NO_FREEZE);
	expect_refused(test, test_set(test, PMU(V3_LEGACY), event), -EOPNOTSUPP, NO_FREEZE);
	expect_refused(test, test_set(test, PMU(AMD_CORE), event), -EOPNOTSUPP, NO_FREEZE);
	expect_refused(test, test_set(test, &v4_without_pdcm, event), -EOPNOTSUPP, NO_FREEZE);
	my_pmi_freeze = false;
	set = test_set(test, PMU(V4), event);
	sim->broken = SIM_NO_OVERFLOW;
	sim->broken_counters = BIT_ULL(0);
	expect_refused(test, set, -ENODEV,
		       "gp0 does not set its overflow bit, so that no interrupt can be told to be its own; a period needs that");
}

static const struct sim_pmu zhaoxin = {
	.name = "zhaoxin", .version = 2, .gp = 4, .width = 48,
	.fixed = 3, .fixed_width = 48, .ebx_length = 7, .ack_running = true };

/* Version 1 does not say whose an interrupt is; and where it is said for ever is not better. */
static void pmi_version_1(struct kunit *test)
{
	struct my_event_set *set = test_set(test, PMU(V1_40), "instructions");
	struct my_perf_event_attr attr;
	struct my_pmu_why why = {};

	KUNIT_ASSERT_EQ(test, my_parse_events("cpu/instructions,period=100/", &attr, 1, &why), 1);
	KUNIT_EXPECT_EQ(test, test_assign(set, &attr, 1, &why), -EOPNOTSUPP);
	KUNIT_EXPECT_STREQ(test, why.text,
			   "'cpu/instructions,period=100/': CPU 1 has version 1 of the PMU; a period needs version 2");
	set = test_set(test, &zhaoxin, "instructions");
	KUNIT_EXPECT_EQ(test, test_assign(set, &attr, 1, &why), -EOPNOTSUPP);
	KUNIT_EXPECT_STREQ(test, why.text,
			   "'cpu/instructions,period=100/': CPU 1 is not Intel's; a period needs a PMU that is");
}

/* Up, each access made to fail: nothing is left, and the next try succeeds. */
static void pmi_up_unwinds(struct kunit *test)
{
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct sim_registers before, wanted;
	struct my_event_set *set;
	unsigned int nth, order;

	test_run_there(test);
	for (order = 0; order < 2; order++) {
		my_pmi_freeze = order;
		set = test_set(test, PMU(V4), kinds[0].crowd);
		test_leave_traces(sim);
		before = sim->regs;
		for (nth = 1; ; nth++) {
			sim->fail_nth = nth;
			if (!test_try_up(set))
				break;
			KUNIT_ASSERT_EQ(test, sim->fail_nth, 0U);
			KUNIT_EXPECT_EQ(test, set->cpu->interrupts, 0ULL);
			KUNIT_EXPECT_EQ(test, set->cpu->pmi_users, 0U);
			KUNIT_EXPECT_FALSE(test, sim_handles_nmis());
			wanted = before;
			test_forgive_restoring(&wanted, sim);
			if (sim->failed.reg == 0x1d9)
				wanted.debugctl = sim->regs.debugctl;
			test_expect_registers(test, PMU(V4), &wanted, &sim->regs);
			sim->regs = before;
		}
		sim->fail_nth = 0;
		KUNIT_EXPECT_EQ(test, set->cpu->pmi_users, 1U);
		KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
		test_expect_registers(test, PMU(V4), &before, &sim->regs);
	}
}

/* And down: all that can be put back is, whatever fails. */
static void pmi_down_goes_on(struct kunit *test)
{
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct sim_registers before, wanted;
	struct my_event_set *set;
	unsigned int nth, order;

	test_run_there(test);
	for (order = 0; order < 2; order++) {
		my_pmi_freeze = order;
		set = test_set(test, PMU(V4), "cpu/instructions,period=1000/u@gp0");
		test_leave_traces(sim);
		before = sim->regs;
		for (nth = 1; ; nth++) {
			sim->has_failed = false;
			test_up(test, set);
			run(test, 50, 10);
			sim->skid = 1000;
			run(test, 51, 10);
			sim->fail_nth = nth;
			if (!my_event_set_down(set))
				break;
			KUNIT_ASSERT_EQ(test, sim->fail_nth, 0U);
			flush(test);
			sim->skid = 0;
			KUNIT_EXPECT_EQ(test, set->cpu->pmi_users, 0U);
			KUNIT_EXPECT_FALSE(test, sim_handles_nmis());
			wanted = before;
			test_forgive_restoring(&wanted, sim);
			if (sim->failed.reg == 0x1d9)
				wanted.debugctl = sim->regs.debugctl;
			sim->regs.lvtpc &= ~SIM_LVTPC_MASKED;
			test_expect_registers(test, PMU(V4), &wanted, &sim->regs);
			sim->regs = before;
		}
		KUNIT_EXPECT_EQ(test, sim->fail_nth, 1U);
		sim->fail_nth = 0;
		sim->nmi_in = 0;
	}
}

/* --- several sets --------------------------------------------------------------- */

/* While the CPU works on one, overflows of the other are handled as ever. */
static void pmi_sets(struct kunit *test)
{
	struct my_event_set *set, *other, *counting;
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	u64 count = 0;

	set = test_set(test, PMU(V4), "cpu/instructions,period=1000/u@gp0");
	other = second_set(test, "cpu/instructions,period=700/u@gp1");
	counting = second_set(test, "instructions:u@gp2");
	test_up(test, set);
	test_up(test, other);
	test_up(test, counting);
	KUNIT_EXPECT_EQ(test, set->cpu->pmi_users, 2U);
	run(test, 99, 10);
	sim->skid = 4;
	run(test, 1, 10);
	KUNIT_EXPECT_EQ(test, read_count(test, other, 0), 1000ULL);
	KUNIT_EXPECT_EQ(test, nr_samples, 2U);
	KUNIT_EXPECT_EQ(test, samples[1].counts[0], 1000ULL);
	sim->skid = 0;
	run(test, 40, 10);
	KUNIT_EXPECT_EQ(test, nr_samples, 3U);
	/* What counts beside them is captured as ever. */
	KUNIT_EXPECT_TRUE(test, counting->plan.valid);
	KUNIT_EXPECT_FALSE(test, set->plan.valid);
	KUNIT_ASSERT_EQ(test, my_perf_event_read(&counting->event[0], &count), 0);
	KUNIT_EXPECT_EQ(test, count, 1400ULL);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
	KUNIT_EXPECT_TRUE(test, sim_handles_nmis());
	run(test, 70, 10);
	KUNIT_EXPECT_EQ(test, nr_samples, 4U);
	KUNIT_ASSERT_EQ(test, my_event_set_down(other), 0);
	KUNIT_ASSERT_EQ(test, my_event_set_down(counting), 0);
	KUNIT_EXPECT_EQ(test, sim->unknown, 0U);
}

/* One goes whose overflow has frozen all counters, and its NMI does not thaw them any more. */
static void pmi_sets_freeze(struct kunit *test)
{
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct my_event_set *set, *other;

	my_pmi_freeze = true;
	set = test_set(test, PMU(V4), EACH_1000 "@gp0");
	other = second_set(test, "cpu/instructions,period=7777777/u@gp1");
	test_up(test, set);
	test_up(test, other);
	run(test, 99, 10);
	sim->skid = 1000;
	run(test, 1, 10);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
	KUNIT_EXPECT_EQ(test, sim->regs.global_status, 0ULL);
	run(test, 5, 10);
	flush(test);
	run(test, 5, 10);
	KUNIT_EXPECT_EQ(test, sim->regs.global_status, 0ULL);
	KUNIT_EXPECT_EQ(test, read_count(test, other, 0), 1100ULL);
	KUNIT_ASSERT_EQ(test, my_event_set_down(other), 0);
	KUNIT_EXPECT_EQ(test, sim->unknown, 0U);
}

/* Likewise beside an event of its own set. */
static void pmi_stop_frozen(struct kunit *test)
{
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct my_event_set *set;

	my_pmi_freeze = true;
	set = test_set(test, PMU(V4), EACH_1000 "@gp0,instructions:u@gp1");
	test_up(test, set);
	run(test, 99, 10);
	sim->skid = 1000;
	run(test, 1, 10);
	KUNIT_ASSERT_EQ(test, my_perf_event_disable(&set->event[0]), 0);
	KUNIT_EXPECT_EQ(test, sim->regs.global_status, 0ULL);
	run(test, 10, 10);
	flush(test);
	KUNIT_EXPECT_EQ(test, read_count(test, set, 1), 1100ULL);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
	KUNIT_EXPECT_EQ(test, sim->unknown, 0U);
}

static void rearm_on_cpu(void *cpu)
{
	my_pmi_rearm(cpu, BIT_ULL(0));
}

/* What an NMI has written a sample of, while the CPU is at work, is not lost with the others. */
static void pmi_in_advance(struct kunit *test)
{
	struct my_event_set *set = test_set(test, PMU(V4), EACH_1000 "@gp0");
	long owed;

	test_up(test, set);
	for (owed = -1; owed < 3; owed++) {
		set->period[0].lost = 0;
		local_set(&set->period[0].owed, owed);
		KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, rearm_on_cpu, set->cpu));
		KUNIT_EXPECT_EQ(test, set->period[0].lost, owed > 0 ? (u64)owed : 0ULL);
		KUNIT_EXPECT_EQ(test, local_read(&set->period[0].owed), min(owed, 0L));
	}
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
}

static struct kunit_case pmi_cases[] = {
	KUNIT_CASE(pmi_step),
	KUNIT_CASE_PARAM(pmi_exact, test_global_gen_params),
	KUNIT_CASE_PARAM(pmi_together, kind_gen_params),
	KUNIT_CASE(pmi_group_count),
	KUNIT_CASE(pmi_order),
	KUNIT_CASE(pmi_order_by_sign),
	KUNIT_CASE_PARAM(pmi_faults, kind_gen_params),
	KUNIT_CASE_PARAM(pmi_anywhere, kind_gen_params),
	KUNIT_CASE_PARAM(pmi_stop_anywhere, kind_gen_params),
	KUNIT_CASE_PARAM(pmi_storm_anywhere, kind_gen_params),
	KUNIT_CASE(pmi_too_late),
	KUNIT_CASE(pmi_foreign),
	KUNIT_CASE(pmi_foreign_anywhere),
	KUNIT_CASE_PARAM(pmi_late, kind_gen_params),
	KUNIT_CASE_PARAM(pmi_late_again, kind_gen_params),
	KUNIT_CASE(pmi_not_late),
	KUNIT_CASE_PARAM(pmi_late_behind, kind_gen_params),
	KUNIT_CASE(pmi_leftover),
	KUNIT_CASE(pmi_masked),
	KUNIT_CASE(pmi_overdue_in_turn),
	KUNIT_CASE(pmi_masked_by_sign),
	KUNIT_CASE_PARAM(pmi_in_time, kind_gen_params),
	KUNIT_CASE(pmi_stolen),
	KUNIT_CASE(pmi_sticky),
	KUNIT_CASE_PARAM(pmi_storm, kind_gen_params),
	KUNIT_CASE(pmi_storm_number),
	KUNIT_CASE(pmi_storm_few),
	KUNIT_CASE(pmi_storm_stop),
	KUNIT_CASE(pmi_storm_stands),
	KUNIT_CASE(pmi_storm_beside),
	KUNIT_CASE(pmi_storm_starting),
	KUNIT_CASE(pmi_storm_fixed),
	KUNIT_CASE(pmi_storm_alone),
	KUNIT_CASE(pmi_storm_other),
	KUNIT_CASE_PARAM(pmi_storm_faults, kind_gen_params),
	KUNIT_CASE(pmi_selftest_beside),
	KUNIT_CASE(pmi_selftest_together),
	KUNIT_CASE(pmi_selftest_late),
	KUNIT_CASE(pmi_rotate),
	KUNIT_CASE(pmi_rotate_stays),
	KUNIT_CASE(pmi_beside_anywhere),
	KUNIT_CASE(pmi_freezes_anyway),
	KUNIT_CASE(pmi_thaws),
	KUNIT_CASE(pmi_refused),
	KUNIT_CASE(pmi_version_1),
	KUNIT_CASE(pmi_up_unwinds),
	KUNIT_CASE(pmi_down_goes_on),
	KUNIT_CASE(pmi_sets),
	KUNIT_CASE(pmi_sets_freeze),
	KUNIT_CASE(pmi_stop_frozen),
	KUNIT_CASE(pmi_in_advance),
	{}
};

static struct kunit_suite pmi_suite = {
	.name = "my_pmu_pmi",
	.init = pmi_init,
	.exit = pmi_exit,
	.test_cases = pmi_cases,
};

kunit_test_suite(pmi_suite);
