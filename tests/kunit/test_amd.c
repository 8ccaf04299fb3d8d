// SPDX-License-Identifier: GPL-2.0
/*
 * AMD's PMU: what CPUID says, encodings, each access in order, and how overflows are seen where
 * no register has them. The values are written out from APM volume 2 and the kernel's
 * arch/x86/events/amd/core.c.
 */
#include <linux/perf_event.h>

#include "pmu_amd.h"
#include "pmu_names.h"
#include "pmu_perf.h"
#include "test.h"

/* --- CPUID ------------------------------------------------------------------- */

struct decode_row {
	const char *name;
	struct amd_pmu_leaf leaf;
	u64 counters;
	u32 eventsel, perfctr, step, version;
	const char *why;
};

#define FAM_6	0x00000662
#define FAM_5	0x00000580
#define FAM_15	0x00600f12	/* Bulldozer */
#define FAM_17	0x00830f10	/* Rome */
#define FAM_19	0x00a10f11	/* Genoa */
#define CORE	BIT(23)

static const struct decode_row decode_rows[] = {
	{ "K7", { FAM_6 }, 0xf, 0xc0010000, 0xc0010004, 1, 0 },
	{ "without PERFCTR_CORE", { FAM_17 }, 0xf, 0xc0010000, 0xc0010004, 1, 0 },
	{ "with it", { FAM_17, CORE }, 0x3f, 0xc0010200, 0xc0010201, 2, 0 },
	{ "PerfMonV2", { FAM_19, CORE, 1, 6 }, 0x3f, 0xc0010200, 0xc0010201, 2, 2 },
	{ "of 15 counters", { FAM_19, CORE, 7, 0xf0ff }, 0x7fff, 0xc0010200, 0xc0010201, 2, 2 },
	/* as perf has it */
	{ "PerfMonV2 without PERFCTR_CORE", { FAM_19, 0, 1, 6 }, 0xf, 0xc0010000, 0xc0010004, 1,
	  0 },
	{ "a leaf without its bit", { FAM_19, CORE, 6, 4 }, 0x3f, 0xc0010200, 0xc0010201, 2, 0 },
	{ "no counters", { FAM_19, CORE, 1, 0x30 }, .why =
	  "no PMU: CPUID.80000022H says version 2 but no counter" },
	{ "K6", { FAM_5 }, .why = "no PMU: a CPU of AMD's family 5 has none" },
};

static void decode_desc(const struct decode_row *row, char *desc)
{
	strscpy(desc, row->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(decode, decode_rows, decode_desc);

static void amd_decode(struct kunit *test)
{
	const struct decode_row *row = test->param_value;
	struct my_pmu_why why = {};
	struct my_x86_pmu pmu;
	int err = my_amd_pmu_decode(&pmu, &row->leaf, &why);

	KUNIT_EXPECT_EQ(test, err, row->why ? -ENODEV : 0);
	KUNIT_EXPECT_STREQ(test, why.text, row->why ?: "");
	if (row->why)
		return;
	KUNIT_EXPECT_EQ(test, pmu.counters, row->counters);
	KUNIT_EXPECT_EQ(test, pmu.eventsel, row->eventsel);
	KUNIT_EXPECT_EQ(test, pmu.perfctr, row->perfctr);
	KUNIT_EXPECT_EQ(test, pmu.msr_step, row->step);
	KUNIT_EXPECT_EQ(test, pmu.version, row->version);
	KUNIT_EXPECT_EQ(test, pmu.cntval_bits, 48U);
}

struct probe {
	struct my_x86_pmu pmu;
	struct my_pmu_why why;
	int err;
};

static void probe_on_cpu(void *data)
{
	struct probe *probe = data;

	probe->err = my_amd_pmu_probe(&probe->pmu, &probe->why);
}

static void expect_no_pmu(struct kunit *test, int err, const char *why)
{
	struct probe probe = {};

	KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, probe_on_cpu, &probe));
	KUNIT_EXPECT_EQ(test, probe.err, err);
	KUNIT_EXPECT_STREQ(test, probe.why.text, why);
}

static void amd_probe_refuses(struct kunit *test)
{
	struct sim_pmu pmu = *PMU(AMD_CORE);

	sim_reset(TEST_CPU, &pmu);
	sim_cpu(TEST_CPU)->fail_reg = 0xc0010200;
	expect_no_pmu(test, -EIO,
		      "no PMU: its first counter faults (in a virtual machine, its hypervisor must provide a PMU)");
	KUNIT_EXPECT_EQ(test, sim_cpu(TEST_CPU)->accesses, 1U);
	pmu.family = 5;
	sim_reset(TEST_CPU, &pmu);
	expect_no_pmu(test, -ENODEV, "no PMU: a CPU of AMD's family 5 has none");
	pmu.family = 0;
	pmu.xen_pv = true;
	sim_reset(TEST_CPU, &pmu);
	expect_no_pmu(test, -ENODEV, "no PMU: a Xen PV guest's belongs to the hypervisor");
	KUNIT_EXPECT_EQ(test, sim_cpu(TEST_CPU)->accesses, 0U);
}

/* --- events -------------------------------------------------------------------- */

struct event_row {
	const char *event;
	u32 signature;
	u64 config;		/* of the event select, with PerfMonV2 */
	u64 counters;
	const char *reason;
};

static const struct event_row event_rows[] = {
	{ "instructions", FAM_19, 0x4300c0, 0x3f },
	{ "instructions:u", FAM_19, 0x4100c0, 0x3f },
	{ "cycles:k", FAM_19, 0x420076, 0x3f },
	{ "branches", FAM_19, 0x4300c2, 0x3f },
	{ "branch-misses", FAM_19, 0x4300c3, 0x3f },
	{ "r100000120", FAM_19, 0x100430120, 0x3f },
	{ "cpu/event=0x120,umask=1/", FAM_19, 0x100430120, 0x3f },
	{ "cpu/event=0xfc0,umask=0x41,cmask=3,inv,edge/", FAM_19, 0xf03c741c0, 0x3f },
	{ "cpu/event=0x3/", FAM_19, .reason =
	  "counts it by two counters (event FFFH, Merge), which are not paired here" },
	{ "cpu/event=0xfff/", FAM_17, .reason =
	  "counts it by two counters (event FFFH, Merge), which are not paired here" },
	{ "cpu/event=0xfff/", FAM_15, .reason =
	  "has no counter of the core that counts it (family 15h)" },
	{ "cpu/event=0x76,umask=0x100/", FAM_19, .reason =
	  "does not have UMASK2 and EQ (bits 40 to 47, 36), which are Intel's" },
	{ "cpu/event=0x76,eq/", FAM_19, .reason =
	  "does not have UMASK2 and EQ (bits 40 to 47, 36), which are Intel's" },
	{ "arch-topdown-slots", FAM_19, .reason = "does not have this event, which is Intel's" },
	/* family 15h */
	{ "cycles", FAM_15, 0x430076, 0x07 },
	{ "instructions", FAM_15, 0x4300c0, 0x3f },
	{ "branches", FAM_15, 0x4300c2, 0x3f },
	{ "cpu/event=0x3/", FAM_15, 0x430003, 0x08 },
	{ "cpu/event=0x0/", FAM_15, 0x430000, 0x08 },
	{ "cpu/event=0x4/", FAM_15, 0x430004, 0x08 },
	{ "cpu/event=0xb/", FAM_15, 0x43000b, 0x08 },
	{ "cpu/event=0xd/", FAM_15, 0x43000d, 0x08 },
	{ "cpu/event=0x1/", FAM_15, 0x430001, 0x38 },
	{ "cpu/event=0x23/", FAM_15, 0x430023, 0x07 },
	{ "cpu/event=0x29/", FAM_15, 0x430029, 0x3f },
	{ "cpu/event=0x2d/", FAM_15, 0x43002d, 0x08 },
	{ "cpu/event=0x2e/", FAM_15, 0x43002e, 0x09 },
	{ "cpu/event=0x31/", FAM_15, 0x430031, 0x07 },
	{ "cpu/event=0x31,umask=3/", FAM_15, .reason =
	  "has no counter of the core that counts it (family 15h)" },
	{ "cpu/event=0x43/", FAM_15, 0x430043, 0x07 },
	{ "cpu/event=0x45/", FAM_15, 0x430045, 0x07 },
	{ "cpu/event=0x46/", FAM_15, 0x430046, 0x07 },
	{ "cpu/event=0x54/", FAM_15, 0x430054, 0x07 },
	{ "cpu/event=0x55/", FAM_15, 0x430055, 0x07 },
	{ "cpu/event=0x41/", FAM_15, 0x430041, 0x3f },
	{ "cpu/event=0x80/", FAM_15, 0x430080, 0x07 },
	{ "cpu/event=0x8f/", FAM_15, 0x43008f, 0x01 },
	{ "cpu/event=0x187/", FAM_15, 0x100430087, 0x01 },
	{ "cpu/event=0x188/", FAM_15, 0x100430088, 0x01 },
	{ "cpu/event=0xd1/", FAM_15, 0x4300d1, 0x07 },
	{ "cpu/event=0xdb/", FAM_15, 0x4300db, 0x3f },
	{ "cpu/event=0xdf/", FAM_15, 0x4300df, 0x3f },
	{ "cpu/event=0x1c0/", FAM_15, 0x1004300c0, 0x38 },
	{ "cpu/event=0x1d6/", FAM_15, 0x1004300d6, 0x3f },
	{ "cpu/event=0x1d8/", FAM_15, 0x1004300d8, 0x3f },
	{ "cpu/event=0xe0/", FAM_15, .reason =
	  "has no counter of the core that counts it (family 15h)" },
};

static void event_desc(const struct event_row *row, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s, %#x", row->event, row->signature);
}

KUNIT_ARRAY_PARAM(event, event_rows, event_desc);

static void amd_events(struct kunit *test)
{
	const struct event_row *row = test->param_value;
	const struct amd_pmu_leaf leaf = { row->signature, CORE, 1, 6 }, first = { FAM_17 };
	struct my_hw_perf_event hw = { .idx = 1 };
	struct my_perf_event_attr attr;
	const char *reason = NULL;
	struct my_x86_pmu pmu;
	struct my_pmu_why why;
	u64 doubtful;

	KUNIT_ASSERT_EQ(test, my_amd_pmu_decode(&pmu, &leaf, &why), 0);
	KUNIT_ASSERT_EQ_MSG(test, my_parse_events(row->event, &attr, 1, &why), 1, "%s", why.text);
	KUNIT_ASSERT_EQ(test, my_names_lookup(NULL, &pmu, TEST_CPU, &attr, &why), 0);
	KUNIT_EXPECT_EQ(test, pmu.ops->counters_for(&pmu, &attr, &doubtful, &reason),
			row->counters);
	KUNIT_EXPECT_STREQ(test, reason ?: "", row->reason ?: "");
	KUNIT_EXPECT_EQ(test, doubtful, row->reason ? 0 : 0x3f & ~row->counters);
	if (row->reason)
		return;
	pmu.ops->encode(&pmu, &attr, &hw);
	KUNIT_EXPECT_EQ(test, hw.config, row->config);
	KUNIT_EXPECT_EQ(test, hw.config_mask, ~0ULL);
	KUNIT_EXPECT_EQ(test, hw.config_base, 0xc0010202U);
	KUNIT_EXPECT_EQ(test, hw.event_base, 0xc0010203U);
	KUNIT_EXPECT_EQ(test, hw.event_base_rdpmc, 1U);
	/* What perf says of the model comes first. */
	attr.counters = 0x2;
	KUNIT_EXPECT_EQ(test, pmu.ops->counters_for(&pmu, &attr, NULL, &reason), 0x2ULL);
	/* One that interrupts; and before PerfMonV2, EN is not of it. */
	attr.period = 1000;
	KUNIT_ASSERT_EQ(test, my_amd_pmu_decode(&pmu, &first, &why), 0);
	pmu.ops->encode(&pmu, &attr, &hw);
	KUNIT_EXPECT_EQ(test, hw.config, (row->config & ~BIT_ULL(22)) | BIT_ULL(20));
	KUNIT_EXPECT_EQ(test, hw.config_mask, ~BIT_ULL(22));
	KUNIT_EXPECT_EQ(test, hw.config_base, 0xc0010001U);
	KUNIT_EXPECT_EQ(test, hw.event_base, 0xc0010005U);
}

static void amd_extra_refused(struct kunit *test)
{
	const struct amd_pmu_leaf leaf = { FAM_19, CORE, 1, 6 };
	struct my_perf_event_attr attr = { .config = 0xc0, .extra = { .msr = 0x1a6 } };
	const char *reason = "";
	struct my_x86_pmu pmu;
	struct my_pmu_why why;

	KUNIT_ASSERT_EQ(test, my_amd_pmu_decode(&pmu, &leaf, &why), 0);
	KUNIT_EXPECT_EQ(test, pmu.ops->counters_for(&pmu, &attr, NULL, &reason), 0ULL);
	KUNIT_EXPECT_STREQ(test, reason,
			   "needs an extra register for it, which is not programmed here");
	attr = (struct my_perf_event_attr) { .config = 0xc0, .counters = 0x40 };
	KUNIT_EXPECT_EQ(test, pmu.ops->counters_for(&pmu, &attr, NULL, &reason), 0ULL);
	KUNIT_EXPECT_STREQ(test, reason, "has no counter that counts it");
}

/* --- accesses ---------------------------------------------------------------------- */

#define R(reg)	{ SIM_RDMSR, reg }
#define W(reg)	{ SIM_WRMSR, reg }
#define P(idx)	{ SIM_RDPMC, idx }

static const struct order {
	const struct sim_pmu *pmu;
	struct { enum sim_op op; u32 reg; } access[20];
	unsigned int nr;
} orders[] = {
	{ PMU(AMD_LEGACY), {
	  R(0xc0010000), W(0xc0010000), R(0xc0010001), W(0xc0010001),
	  P(0), R(0xc0010000), P(1), R(0xc0010001),
	  R(0xc0010000), W(0xc0010000), R(0xc0010001), W(0xc0010001) }, 12 },
	{ PMU(AMD_CORE), {
	  R(0xc0010200), W(0xc0010200), R(0xc0010202), W(0xc0010202),
	  P(0), R(0xc0010200), P(1), R(0xc0010202),
	  R(0xc0010200), W(0xc0010200), R(0xc0010202), W(0xc0010202) }, 12 },
	{ PMU(AMD_V2), {
	  R(0xc0000301), W(0xc0000301), P(1), R(0xc0010202), P(0), R(0xc0010200),
	  R(0xc0000300), W(0xc0000301) }, 8 },
};

static void order_desc(const struct order *order, char *desc)
{
	strscpy(desc, order->pmu->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(order, orders, order_desc);

/* A sample; one of counters that are not stopped; and nobody else's registers are touched. */
static void amd_sample(struct kunit *test)
{
	const struct order *order = test->param_value;
	struct my_event_set *set = test_set(test, order->pmu, "instructions@gp0,cycles@gp1");
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct my_pmu_sample *s = test_sample(test);
	unsigned int i;

	test_up(test, set);
	test_retire(test, 100, 20);
	sim_clear_log(sim);
	KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
	KUNIT_EXPECT_EQ(test, s->count[0], 120ULL);
	KUNIT_EXPECT_EQ(test, s->count[1], 120ULL);
	KUNIT_ASSERT_EQ(test, sim->accesses, order->nr);
	for (i = 0; i < order->nr; i++) {
		KUNIT_EXPECT_EQ_MSG(test, sim->log[i].op, order->access[i].op, "access %u", i);
		KUNIT_EXPECT_EQ_MSG(test, sim->log[i].reg, order->access[i].reg, "access %u", i);
	}
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
	set->freeze = false;
	test_up(test, set);
	test_retire(test, 1, 1);
	sim_clear_log(sim);
	KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
	KUNIT_EXPECT_EQ(test, s->count[0], 122ULL);
	for (i = 0; i < sim->accesses; i++)
		KUNIT_EXPECT_NE_MSG(test, sim->log[i].op, SIM_WRMSR, "access %u", i);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
}

/* Each access of it fails in turn: the counters run on, and the next sample is right. */
static void amd_sample_fails(struct kunit *test)
{
	const struct order *order = test->param_value;
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct my_pmu_sample *s = test_sample(test);
	struct my_event_set *set;
	unsigned int nth;
	u64 clobbered;

	test_run_there(test);
	for (nth = 1; nth <= order->nr; nth++) {
		set = test_set(test, order->pmu, "instructions@gp0,cycles@gp1");
		test_up(test, set);
		test_retire(test, 10, 0);
		sim->fail_nth = nth;
		my_event_set_read(set, s);
		sim->fail_nth = 0;
		my_event_set_read(set, s);
		clobbered = s->marks.clobbered;
		test_retire(test, 7, 0);
		my_event_set_read(set, s);
		if (!(clobbered | s->marks.clobbered))
			KUNIT_EXPECT_EQ_MSG(test, s->count[0], 17ULL, "access %u", nth);
		test_retire(test, 5, 0);
		KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
		KUNIT_EXPECT_EQ_MSG(test, s->marks.clobbered, 0ULL, "access %u", nth);
		KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
		KUNIT_EXPECT_EQ(test, sim->regs.evtsel[0] & BIT_ULL(22), 0ULL);
	}
}

/* Somebody stops a counter, by EN of its own; or writes another event. */
static void amd_theft(struct kunit *test)
{
	const struct order *order = test->param_value;
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct my_pmu_sample *s = test_sample(test);
	struct my_event_set *set;
	unsigned int i;

	for (i = 0; i < 4; i++) {
		set = test_set(test, order->pmu, "instructions@gp0,cycles@gp1");
		set->freeze = i % 2;
		test_up(test, set);
		test_retire(test, 10, 0);
		KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
		sim->regs.evtsel[1] ^= i < 2 ? BIT_ULL(22) : 1;
		KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
		KUNIT_EXPECT_EQ_MSG(test, s->marks.clobbered, 2ULL, "round %u", i);
		test_retire(test, 10, 0);
		KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
		KUNIT_EXPECT_EQ_MSG(test, s->marks.clobbered, 0ULL, "round %u", i);
		KUNIT_EXPECT_EQ(test, s->count[0], 20ULL);
		KUNIT_EXPECT_EQ(test, s->count[1], 20ULL);
		KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
	}
}

/* Several CPUs at once: there is no plan, each access faults, a counter is stolen. */
static void amd_sample_cpus(struct kunit *test)
{
	const struct order *order = test->param_value;
	struct my_event_set *set = test_set(test, order->pmu, "instructions@gp0,cycles@gp1");
	struct my_pmu_request *by_cpu[TEST_CPU + 1] = {};
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct my_pmu_reading *reading;
	unsigned int nth;

	reading = kunit_kzalloc(test, sizeof(*reading), GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, reading);
	reading->set = set;
	reading->sample = test_sample(test);
	by_cpu[TEST_CPU] = &reading->request;
	for (nth = 0; nth <= order->nr; nth++) {
		test_up(test, set);
		set->marks = (struct my_pmu_marks) {};
		sim->fail_nth = nth;
		set->plan.valid = nth;
		my_pmu_read_cpus(cpumask_of(TEST_CPU), by_cpu);
		KUNIT_EXPECT_EQ_MSG(test, reading->err, nth ? -EIO : 0, "access %u", nth);
		sim->fail_nth = 0;
		KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
	}
	test_up(test, set);
	set->marks = (struct my_pmu_marks) {};
	sim->regs.evtsel[1] ^= 1;
	my_pmu_read_cpus(cpumask_of(TEST_CPU), by_cpu);
	KUNIT_EXPECT_EQ(test, reading->err, 0);
	KUNIT_EXPECT_EQ(test, reading->sample->marks.clobbered, 2ULL);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
}

/* Somebody has come to perf while it was asked: what is his stays. */
static void amd_puts_back(struct kunit *test)
{
	const struct order *order = test->param_value;
	struct my_pmu_cpu *cpu = test_fresh_cpu();
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct my_pmu_snapshot *snapshot;
	struct sim_registers before;
	struct my_pmu_why why;
	unsigned int others;

	snapshot = kunit_kzalloc(test, sizeof(*snapshot), GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, snapshot);
	for (others = 0; others < 2; others++) {
		sim_reset(TEST_CPU, order->pmu);
		test_leave_traces(sim);
		before = sim->regs;
		KUNIT_ASSERT_EQ(test, my_pmu_probe(cpu, snapshot, &why), 0);
		snapshot->counted = true;
		sim->regs.evtsel[1] = 0x1300c1;
		sim->regs.pmc[1] = 42;
		sim->regs.global_ctrl = order->pmu->version < 2 ? 0 : 0x3f;
		if (others) {
			sim->regs.evtsel[2] = 0x5300c2;
			before.evtsel[2] = 0x5300c2;
			before.global_ctrl = sim->regs.global_ctrl;
		}
		KUNIT_ASSERT_EQ(test, my_pmu_find_firmware(cpu, snapshot, &why), 0);
		test_expect_registers(test, order->pmu, &before, &sim->regs);
		KUNIT_EXPECT_EQ(test, cpu->firmware, 0ULL);
	}
}

/* perf excludes guests from what it is asked for, by bits that are Intel's UMASK2. */
static void amd_names(struct kunit *test)
{
	static const struct sim_perf_event events[] = {
		{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 0x20000530076 },
		{ PERF_TYPE_RAW, 0x100000120, 0x20100530120 },
	};
	static const struct {
		const char *event;
		u64 config;
	} rows[] = {
		{ "cycles", 0x76 }, { "instructions:u", 0xc0 },
		{ "cpu/event=0x120,umask=1/", 0x100000120 },
	};
	struct my_event_set *set = test_set(test, PMU(AMD_V2), "instructions");
	const struct my_x86_pmu none = {};
	struct my_perf_event_attr attr;
	struct my_pmu_why why;
	unsigned int i;
	void *held;

	sim_perf.events = events;
	sim_perf.nr = ARRAY_SIZE(events);
	held = my_perf_hold(TEST_CPU, NULL);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		KUNIT_ASSERT_EQ(test, my_parse_events(rows[i].event, &attr, 1, &why), 1);
		KUNIT_EXPECT_EQ_MSG(test, my_names_resolve(&set->cpu->pmu, TEST_CPU, false, &attr,
							   &why), 0, "%s", why.text);
		KUNIT_EXPECT_EQ_MSG(test, attr.config, rows[i].config, "%s", rows[i].event);
	}
	/* Of a CPU that was not probed nothing is known but what perf says, and the SDM. */
	for (i = 0; i < 2; i++) {
		KUNIT_ASSERT_EQ(test, my_parse_events(i ? "instructions" : "cycles", &attr, 1,
						      &why), 1);
		KUNIT_EXPECT_EQ(test, my_names_resolve(&none, TEST_CPU, false, &attr, &why), 0);
		KUNIT_EXPECT_EQ(test, attr.config, i ? 0xc0ULL : 0x20000000076ULL);
	}
	my_perf_let_go(held);
	sim_perf = (struct sim_perf) {};
}

/* The sign of a counter that has a period cannot be read when it is stopped. */
static void amd_sign_fails(struct kunit *test)
{
	struct my_event_set *set = test_set(test, PMU(AMD_CORE),
					    "cpu/instructions,period=1000/u@gp1");
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct my_pmu_sample *s = test_sample(test);

	test_up(test, set);
	test_retire(test, 100, 0);
	sim->fail_reg = 1;	/* RDPMC */
	KUNIT_EXPECT_EQ(test, my_event_set_read(set, s), -EIO);
	sim->fail_reg = 0;
	KUNIT_ASSERT_EQ(test, my_event_set_read(set, s), 0);
	KUNIT_EXPECT_EQ(test, s->count[0], 100ULL);
	KUNIT_EXPECT_EQ(test, s->marks.clobbered, 0ULL);
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
}

static void start_on_cpu(void *data)
{
	struct my_pmu_cpu *cpu = data;
	const struct my_pmu_ops *ops = cpu->pmu.ops;
	struct my_pmu_stopped stopped;

	ops->save(&cpu->pmu, &cpu->state, 3);
	ops->stop(&cpu->pmu, &cpu->state, 3, &stopped);
	ops->start_beside(&cpu->pmu, &cpu->state, 3, 3, 1);
	ops->pmi_late(&cpu->state);
}

/* An overflow is cleared before the start; and a PMI that comes after the end opens LVTPC. */
static void amd_starts_beside(struct kunit *test)
{
	struct my_event_set *set = test_set(test, PMU(AMD_V2), "instructions");
	struct sim_cpu *sim = sim_cpu(TEST_CPU);

	sim->regs.global_status = 3;
	sim->regs.global_ctrl = 0x3c;
	sim->regs.lvtpc = 0x400 | SIM_LVTPC_MASKED;
	KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, start_on_cpu, set->cpu));
	KUNIT_EXPECT_EQ(test, sim->regs.global_status, 2ULL);
	KUNIT_EXPECT_EQ(test, sim->regs.global_ctrl, 0x3fULL);
	KUNIT_EXPECT_EQ(test, sim->regs.lvtpc, 0U);	/* as it was before us: nothing was taken */
}

static void amd_exit(struct kunit *test)
{
	test_expect_good_manners(test);
}

static struct kunit_case amd_cases[] = {
	KUNIT_CASE_PARAM(amd_decode, decode_gen_params),
	KUNIT_CASE(amd_probe_refuses),
	KUNIT_CASE_PARAM(amd_events, event_gen_params),
	KUNIT_CASE(amd_extra_refused),
	KUNIT_CASE_PARAM(amd_sample, order_gen_params),
	KUNIT_CASE_PARAM(amd_sample_fails, order_gen_params),
	KUNIT_CASE_PARAM(amd_theft, order_gen_params),
	KUNIT_CASE_PARAM(amd_sample_cpus, order_gen_params),
	KUNIT_CASE_PARAM(amd_puts_back, order_gen_params),
	KUNIT_CASE(amd_names),
	KUNIT_CASE(amd_sign_fails),
	KUNIT_CASE(amd_starts_beside),
	{}
};

static struct kunit_suite amd_suite = {
	.name = "my_pmu_amd",
	.exit = amd_exit,
	.test_cases = amd_cases,
};

kunit_test_suite(amd_suite);
