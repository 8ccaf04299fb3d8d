// SPDX-License-Identifier: GPL-2.0
/*
 * The back end of RISC-V: what the firmware says, encodings, and each call in order.  The values
 * are written out from the SBI specification, "Performance Monitoring Unit Extension".
 */
#include "pmu_sbi.h"
#include "test.h"

/* --- the probe ----------------------------------------------------------------- */

struct probe_row {
	struct sim_pmu pmu;
	u64 counters;
	unsigned int width;
	const char *why;
};

static const struct probe_row probe_rows[] = {
	{ { .name = "as QEMU has it", .version = 2, .counters = 0x7fffd, .width = 64,
	    .firmware = 16 },
	  FIXED(0) | FIXED(2) | 0x7fff8, 64 },
	{ { .name = "all there can be", .counters = 0xfffffffd, .width = 64, .firmware = 16 },
	  FIXED(0) | FIXED(2) | 0xfffffff8, 64 },
	{ { .name = "fixed ones alone", .counters = 0x5, .width = 64, .firmware = 16 },
	  FIXED(0) | FIXED(2), 64 },
	{ { .name = "none of the firmware's", .counters = 0xd, .width = 48 },
	  FIXED(0) | FIXED(2) | 0x8, 48 },
	{ { .name = "holes", .counters = 0x80000a1c, .width = 40, .firmware = 3 },
	  FIXED(2) | 0x80000a18, 40 },
	{ { .name = "another CSR", .counters = 0x3d, .moved = 0x11, .width = 33, .firmware = 3 },
	  FIXED(2) | 0x28, 33 },
	{ { .name = "time is none", .counters = 0xf, .width = 64, .firmware = 3 },
	  FIXED(0) | FIXED(2) | 0x8, 64 },
	{ { .name = "32 bits", .counters = 0x1d, .width = 32, .firmware = 3 },
	  FIXED(0) | FIXED(2) | 0x18, 32 },
	{ { .name = "31 bits", .counters = 0x1d, .width = 31, .firmware = 3 },
	  FIXED(0) | FIXED(2), 64 },
	{ { .name = "no extension", .counters = 0x7fffd, .width = 64, .absent = true }, .why =
	  "no PMU: the firmware (SBI) does not have the PMU extension" },
	{ { .name = "counters of the firmware alone", .width = 64, .firmware = 16 }, .why =
	  "no PMU: the firmware (SBI) has no counters of the hardware" },
	{ { .name = "no counters", .width = 64 }, .why =
	  "no PMU: the firmware (SBI) has no counters of the hardware" },
};

static void probe_desc(const struct probe_row *row, char *desc)
{
	strscpy(desc, row->pmu.name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(probe, probe_rows, probe_desc);

struct probe {
	struct my_x86_pmu pmu;
	struct my_pmu_why why;
	int err;
};

static void probe_on_cpu(void *data)
{
	struct probe *probe = data;

	probe->err = my_sbi_pmu_probe(&probe->pmu, &probe->why);
}

static void sbi_probe(struct kunit *test)
{
	const struct probe_row *row = test->param_value;
	struct probe probe = {};

	sim_reset(TEST_CPU, &row->pmu);
	KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, probe_on_cpu, &probe));
	KUNIT_EXPECT_EQ(test, probe.err, row->why ? -ENODEV : 0);
	KUNIT_EXPECT_STREQ(test, probe.why.text, row->why ?: "");
	if (row->why)
		return;
	KUNIT_EXPECT_EQ(test, probe.pmu.counters, row->counters);
	KUNIT_EXPECT_EQ(test, probe.pmu.cntval_bits, row->width);
	KUNIT_EXPECT_EQ(test, probe.pmu.cntval_bits_fixed, 64U);
	KUNIT_EXPECT_EQ(test, probe.pmu.version, row->pmu.version);
}

/* Each call of it fails in turn, with any error: what a counter is stays unknown, or all of it. */
static void sbi_probe_fails(struct kunit *test)
{
	static const long errs[] = { SIM_FAILED, SIM_NOT_SUPPORTED, SIM_INVALID_PARAM, SIM_DENIED };
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct probe probe = {};
	unsigned int nth, i;

	for (i = 0; i < ARRAY_SIZE(errs); i++) {
		for (nth = 1; nth <= 6; nth++) {
			sim_reset(TEST_CPU, PMU(FEW));
			sim->pmu.firmware = 0;
			sim->fail_nth = nth;
			sim->fail_err = errs[i];
			KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, probe_on_cpu, &probe));
			KUNIT_EXPECT_TRUE(test, sim->has_failed);
			KUNIT_EXPECT_EQ_MSG(test, probe.err, nth == 1 ? -ENODEV : 0, "call %u",
					    nth);
			if (nth == 1) {
				KUNIT_EXPECT_STREQ(test, probe.why.text,
						   "no PMU: the firmware (SBI) does not have the PMU extension");
				continue;
			}
			/* The others are 0, 1 (time), 2, 3 and 4, one after the other. */
			KUNIT_EXPECT_EQ_MSG(test, probe.pmu.counters,
					    (FIXED(0) | FIXED(2) | GP(3) | GP(4)) &
					    ~(nth < 5 ? FIXED(nth - 2) : GP(nth - 2)),
					    "call %u", nth);
		}
	}
}

static void sbi_probe_asks(struct kunit *test)
{
	struct probe probe;

	sim_reset(TEST_CPU, PMU(FEW));
	KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, probe_on_cpu, &probe));
	/* The 16 that follow are the firmware's.  1 is time, which nobody can have configured. */
	test_expect_calls(test,
			  "count, info 0, info 1!-3, info 2, info 3, info 4, info 5, info 6, info 7, info 8, info 9, info 10, info 11, info 12, info 13, info 14, info 15, info 16, info 17, info 18, info 19, info 20, info 1!-3, start 1!-3, start 0!-3, cfg 0 0x1, start 0, start 0!-7, free 0");
}

/* What somebody else has done with a counter before we come, and what since. */
enum others {
	NOBODY,
	STANDS,		/* has configured it */
	RUNS,		/* and started it, as perf does, from a negative value */
	STOPPED,	/* has stopped ours */
	FREED,		/* and freed it */
	TAKEN,		/* and has it run from a negative value for himself */
	LEFT,		/* and has stopped that, and freed it */
};

#define THEIRS		0x8000000000000123ULL

/* Somebody else, at the counter, for an event. */
static void act(struct sim_cpu *sim, enum others what, unsigned int counter, u32 event)
{
	unsigned long given;

	if (what >= STOPPED)
		sim_sbi(sim, SIM_STOP, counter, 1, what == STOPPED ? 0 : 1, 0, 0, &given);
	if (what == STANDS || what == RUNS || what >= TAKEN)
		sim_sbi(sim, SIM_CFG_MATCH, counter, 1, 0, event, 0, &given);
	if (what == RUNS || what >= TAKEN)
		sim_sbi(sim, SIM_START, counter, 1, 1, THEIRS, 0, &given);
	if (what == LEFT)
		sim_sbi(sim, SIM_STOP, counter, 1, 1, 0, 0, &given);
}

/* The answer to a start must tell whose a counter is. */
static const struct tells_row {
	const char *name;
	int pmu;
	bool starts_any, no_inhibit, one;
	enum others fixed0;
	bool refused;
	const char *calls;	/* behind the questions about counters */
} tells_rows[] = {
	{ "it does", FEW,
	  .calls = "info 1!-3, start 1!-3, start 0!-3, cfg 0 0x1, start 0, start 0!-7, free 0" },
	{ "it does, Sscofpmf", NARROW,
	  .calls = "info 1!-3, start 1!-3, start 0!-3, cfg 0 0x1>9, start 9, start 9!-7, free 9" },
	{ "it does, of one that stands", FEW, .fixed0 = STANDS,
	  .calls = "info 1!-3, start 1!-3, start 0, start 0!-7, stop 0" },
	{ "it does, of one that runs", FEW, .fixed0 = RUNS,
	  .calls = "info 1!-3, start 1!-3, start 0!-7" },
	{ "a guest of KVM", NARROW, .starts_any = true, .refused = true,
	  .calls = "info 1!-3, start 1, stop 1!-3" },
	{ "a counter 1 that is not time", FEW, .starts_any = true, .one = true,
	  .calls = "info 1, start 0, start 0, stop 0!-3", .refused = true },
	{ "no mcountinhibit", FEW, .no_inhibit = true, .refused = true,
	  .calls = "info 1!-3, start 1!-3, start 0!-3, cfg 0 0x1, start 0, start 0, free 0" },
	{ "no mcountinhibit, Sscofpmf", NARROW, .no_inhibit = true, .refused = true,
	  .calls = "info 1!-3, start 1!-3, start 0!-3, cfg 0 0x1>9, start 9, start 9, free 9" },
	{ "no mcountinhibit, one that stands", FEW, .no_inhibit = true, .fixed0 = STANDS,
	  .refused = true, .calls = "info 1!-3, start 1!-3, start 0, start 0, stop 0" },
};

static void tells_desc(const struct tells_row *row, char *desc)
{
	strscpy(desc, row->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(tells, tells_rows, tells_desc);

static void sbi_tells(struct kunit *test)
{
	const struct tells_row *row = test->param_value;
	struct sim_pmu pmu = *PMU(row->pmu);
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct sim_counter before;
	struct probe probe = {};

	pmu.firmware = 0;
	pmu.starts_any = row->starts_any;
	pmu.counters |= row->one ? BIT(1) : 0;
	pmu.moved = row->one ? BIT(1) : 0;
	pmu.no_inhibit = row->no_inhibit;
	sim_reset(TEST_CPU, &pmu);
	act(sim, row->fixed0, 0, SIM_CYCLES);
	before = sim->counter[0];
	KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, probe_on_cpu, &probe));
	KUNIT_EXPECT_EQ(test, probe.err, row->refused ? -ENODEV : 0);
	if (row->refused)
		KUNIT_EXPECT_STREQ(test, probe.why.text,
				   "no PMU: the firmware (SBI) does not tell which counters are in use (a guest of KVM, or a CPU without mcountinhibit)");
	sim_drop_calls(sim, 1 + fls(pmu.counters));
	test_expect_calls(test, row->calls);
	if (row->fixed0)
		KUNIT_EXPECT_EQ(test, memcmp(&before, &sim->counter[0], sizeof(before)), 0);
	test_expect_free(test, 0x1);
}

/* --- events -------------------------------------------------------------------- */

struct event_row {
	int pmu;
	const char *event;
	u64 counters;
	u64 config;
	u32 flags;
	const char *reason;
};

#define SBI(event)	(BIT_ULL(62) | (event))
#define NO_FILTERS \
	"cannot count one mode alone (:u, :k): it does not have Sscofpmf"
#define NO_PERIODS \
	"has interrupts of counters for perf alone (RISC-V): there is no period"

static const struct event_row event_rows[] = {
	{ WITH, "instructions", FIXED(2) | 0x7fff8, SBI(2) },
	{ WITH, "cycles", FIXED(0) | 0x7fff8, SBI(1) },
	{ WITH, "instructions:u", 0x7fff8, SBI(2), NOT_KERNEL },
	{ WITH, "cycles:k", 0x7fff8, SBI(1), NOT_USER },
	{ WITH, "branches", 0x30, SBI(5) },
	{ WITH, "branches:k", 0x30, SBI(5), NOT_USER },
	{ WITH, "dTLB-load-misses", 0x7fff8, SBI(0x10019) },
	{ WITH, "r1234", 0x28, 0x1234 },
	{ WITH, "cpu/event=0x1234/u", 0x28, 0x1234, NOT_KERNEL },
	{ WITH, "cpu/instructions,period=1000/", .reason = NO_PERIODS },
	{ WITHOUT, "instructions", FIXED(2), SBI(2) },
	{ WITHOUT, "cycles", FIXED(0), SBI(1) },
	{ WITHOUT, "dTLB-load-misses", 0x7fff8, SBI(0x10019) },
	{ WITHOUT, "instructions:u", .reason = NO_FILTERS },
	{ WITHOUT, "r1234:k", .reason = NO_FILTERS },
	{ WITHOUT, "cpu/instructions,period=1000/u", .reason = NO_PERIODS },
	{ NARROW, "cycles", FIXED(0) | 0x278, SBI(1) },
	{ NARROW, "branches", 0x30, SBI(5) },
	{ FEW, "branches", 0x10, SBI(5) },
};

static void event_desc(const struct event_row *row, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s, %s", row->event, PMU(row->pmu)->name);
}

KUNIT_ARRAY_PARAM(event, event_rows, event_desc);

/* The event as its name is resolved; on no counter yet. */
static void resolve(struct kunit *test, const struct my_pmu_cpu *cpu, const char *event,
		    struct my_perf_event_attr *attr)
{
	struct my_pmu_why why;

	KUNIT_ASSERT_EQ_MSG(test, my_parse_events(event, attr, 1, &why), 1, "%s", why.text);
	KUNIT_ASSERT_EQ_MSG(test, my_names_resolve(&cpu->pmu, TEST_CPU, true, attr, &why), 0,
			    "%s", why.text);
	test_forget();
}

static void sbi_events(struct kunit *test)
{
	const struct event_row *row = test->param_value;
	const struct my_pmu_cpu *cpu = test_probed_cpu(test, PMU(row->pmu));
	const struct my_x86_pmu *pmu = &cpu->pmu;
	struct my_hw_perf_event hw = {};
	struct my_perf_event_attr attr;
	u64 doubtful = 1, left;
	const char *reason;

	resolve(test, cpu, row->event, &attr);
	test_expect_free(test, 0);
	KUNIT_EXPECT_EQ(test, pmu->ops->counters_for(pmu, &attr, &doubtful, &reason),
			row->counters);
	KUNIT_EXPECT_EQ(test, doubtful, 0ULL);
	if (row->reason)
		KUNIT_EXPECT_STREQ(test, reason, row->reason);
	for (left = row->counters; left; left &= left - 1) {
		bool fixed = __ffs64(left) >= 32;

		hw = (struct my_hw_perf_event) { .idx = __ffs64(left), .extra_msr = 1 };
		pmu->ops->encode(pmu, &attr, &hw);
		KUNIT_EXPECT_EQ(test, hw.config, row->config);
		KUNIT_EXPECT_EQ(test, hw.config_mask, ~0ULL);
		KUNIT_EXPECT_EQ(test, hw.config_base, row->flags);
		KUNIT_EXPECT_EQ(test, hw.event_base, hw.idx % 32U);
		KUNIT_EXPECT_EQ(test, hw.event_base_rdpmc, 0xc00U + hw.idx % 32U);
		KUNIT_EXPECT_EQ(test, hw.cntval_bits, fixed ? 64 : PMU(row->pmu)->width);
		KUNIT_EXPECT_EQ(test, hw.rate_log2, row->config == 0x1234 ? 30 : 26);
		KUNIT_EXPECT_EQ(test, hw.any_code, row->config <= SBI(2) && !(row->flags & 0x40) &&
				row->config != 0x1234);
		KUNIT_EXPECT_EQ(test, hw.extra_msr, 0U);
	}
}

static void sbi_events_of_others(struct kunit *test)
{
	struct sim_pmu no_fixed = *PMU(WITHOUT);
	struct my_perf_event_attr attr = { .config = SBI(2), .added = 1 };
	static const struct { u64 index, counters; } indices[] = {
		{ 1, 0x18 }, { 0xffff, 0x18 }, { 0x10000, 0x18 }, { 0x1ffff, 0x18 },
		{ 0x20000, 0 }, { 0xf0001, 0 }, { 0x100001, 0 }, { 0x800000000001, 0 },
	};
	const struct my_x86_pmu *pmu;
	const char *reason = "";
	unsigned int i;

	no_fixed.counters = 0x18;
	pmu = &test_probed_cpu(test, &no_fixed)->pmu;
	KUNIT_EXPECT_EQ(test, pmu->ops->counters_for(pmu, &attr, NULL, &reason), 0ULL);
	KUNIT_EXPECT_STREQ(test, reason, "has no events that are a name and a number");
	/* All are taken to count one that nobody has asked for; there is no cycle, no instret. */
	attr.added = 0;
	KUNIT_EXPECT_EQ(test, pmu->ops->counters_for(pmu, &attr, NULL, &reason), 0x18ULL);
	/* SBI's index has types, hardware and cache here, and 16 bits. */
	for (i = 0; i < ARRAY_SIZE(indices); i++) {
		attr.config = SBI(indices[i].index);
		KUNIT_EXPECT_EQ(test, pmu->ops->counters_for(pmu, &attr, NULL, &reason),
				indices[i].counters);
		if (!indices[i].counters)
			KUNIT_EXPECT_STREQ(test, reason,
					   "has no such event of SBI: 1 to 0x1ffff are, hardware and caches");
	}
	/* 0 is what stops a counter. */
	attr.config = 0;
	KUNIT_EXPECT_EQ(test, pmu->ops->counters_for(pmu, &attr, NULL, &reason), 0ULL);
	KUNIT_EXPECT_STREQ(test, reason, "counts nothing by the number 0");
	attr.config = SBI(2);
	attr.counters = 0x20;
	KUNIT_EXPECT_EQ(test, pmu->ops->counters_for(pmu, &attr, NULL, &reason), 0ULL);
	KUNIT_EXPECT_STREQ(test, reason,
			   "has no counter that counts it, as its firmware (SBI) says");
	/* Where there is a fixed one, nobody is given another one without Sscofpmf. */
	attr.counters = 0;
	pmu = &test_probed_cpu(test, PMU(WITHOUT))->pmu;
	KUNIT_EXPECT_EQ(test, pmu->ops->counters_for(pmu, &attr, NULL, &reason), FIXED(2));
	pmu = &test_probed_cpu(test, PMU(WITH))->pmu;
	KUNIT_EXPECT_EQ(test, pmu->ops->counters_for(pmu, &attr, NULL, &reason),
			FIXED(2) | 0x7fff8);
	/* Nor is the fixed one, if the firmware does not give it. */
	attr.counters = 0x28;
	KUNIT_EXPECT_EQ(test, pmu->ops->counters_for(pmu, &attr, NULL, &reason), 0x28ULL);
}

/* --- calls, one operation at a time ------------------------------------------------ */

enum op { ENABLE, DISABLE, PROGRAM, UNPROGRAM, STOP, LOOK, PEEK };

struct op_row {
	int pmu;
	const char *event;
	enum others before;
	bool ours;	/* enabled before the operation */
	enum others since;
	enum op op;
	int err;
	u64 val;	/* STOP: what runs */
	const char *calls;
};

static const struct op_row op_rows[] = {
	{ WITH, "cycles@gp5", .op = ENABLE,
	  .calls = "start 5!-3, cfg 5 0x1, start 5=0, read 5" },
	{ WITH, "cycles:u@gp5", .op = ENABLE,
	  .calls = "start 5!-3, cfg 5 0x1 flags 0x50, start 5=0, read 5" },
	{ WITH, "cycles:k@gp5", .op = ENABLE,
	  .calls = "start 5!-3, cfg 5 0x1 flags 0x28, start 5=0, read 5" },
	{ WITH, "dTLB-load-misses@gp18", .op = ENABLE,
	  .calls = "start 18!-3, cfg 18 0x10019, start 18=0, read 18" },
	{ WITH, "r1234@gp5", .op = ENABLE,
	  .calls = "start 5!-3, cfg 5 0x20000/0x1234, start 5=0, read 5" },
	{ WITH, "instructions@fixed2", .op = ENABLE,
	  .calls = "start 2!-3, cfg 2 0x2, start 2=0, read 2" },
	{ WITHOUT, "instructions@fixed2", .op = ENABLE,
	  .calls = "start 2!-3, cfg 2 0x2, start 2=0, read 2" },
	{ WITHOUT, "cycles@fixed0", .op = ENABLE,
	  .calls = "start 0!-3, cfg 0 0x1, start 0=0, read 0" },
	{ WITHOUT, "cycles@gp5", .op = ENABLE, .err = -EBUSY,
	  .calls = "start 5!-3, cfg 5 0x1>0" },
	{ WITH, "dTLB-load-misses@gp5", .before = RUNS, .op = ENABLE, .err = -EBUSY,
	  .calls = "start 5!-7" },
	{ WITH, "cycles@gp5", .before = RUNS, .op = ENABLE, .err = -EBUSY,
	  .calls = "start 5!-7" },
	{ WITH, "cycles@gp5", .before = STANDS, .op = ENABLE, .err = -EBUSY,
	  .calls = "start 5, stop 5" },
	{ WITH, "instructions@fixed2", .before = RUNS, .op = ENABLE, .err = -EBUSY,
	  .calls = "start 2!-7" },
	{ WITHOUT, "instructions@fixed2", .before = RUNS, .op = ENABLE, .err = -EBUSY,
	  .calls = "start 2!-7" },
	{ WITHOUT, "instructions@fixed2", .before = STANDS, .op = ENABLE,
	  .calls = "start 2, stop 2, cfg 2 0x2, start 2=0, read 2" },
	{ WITH, "branches@gp6", .op = ENABLE, .err = -EBUSY,
	  .calls = "start 6!-3, cfg 6 0x5!-2" },

	{ WITH, "cycles@gp5", .op = DISABLE, .calls = "" },
	{ WITH, "cycles@gp5", .before = RUNS, .op = DISABLE, .calls = "" },
	{ WITH, "cycles@gp5", .ours = true, .op = DISABLE, .calls = "read 5, free 5" },
	{ WITH, "cycles@gp5", .ours = true, .since = STOPPED, .op = DISABLE,
	  .calls = "read 5, free 5!-8" },
	{ WITH, "cycles@gp5", .ours = true, .since = FREED, .op = DISABLE,
	  .calls = "read 5, free 5!-3" },
	{ WITH, "cycles@gp5", .ours = true, .since = TAKEN, .op = DISABLE, .calls = "read 5" },
	{ WITH, "cycles@fixed0", .ours = true, .op = DISABLE, .calls = "read 0, free 0" },
	{ WITH, "cycles@fixed0", .ours = true, .since = TAKEN, .op = DISABLE, .calls = "read 0" },
	{ WITHOUT, "cycles@fixed0", .ours = true, .op = DISABLE, .calls = "read 0, free 0" },
	{ WITHOUT, "cycles@fixed0", .ours = true, .since = STOPPED, .op = DISABLE,
	  .calls = "read 0, free 0!-8" },
	{ WITHOUT, "cycles@fixed0", .ours = true, .since = TAKEN, .op = DISABLE,
	  .calls = "read 0" },
	{ WITHOUT, "r1234@gp5", .ours = true, .op = DISABLE, .calls = "read 5, free 5" },
	{ NARROW, "r1234@gp5", .ours = true, .op = DISABLE, .calls = "free 5" },
	{ NARROW, "cycles@fixed0", .ours = true, .since = TAKEN, .op = DISABLE,
	  .calls = "read 0" },

	{ WITH, "cycles@gp5", .op = PROGRAM, .calls = "start 5!-3, cfg 5 0x1, start 5=0" },
	{ WITH, "cycles@gp5", .before = RUNS, .op = PROGRAM, .err = -EBUSY,
	  .calls = "start 5!-7" },
	{ WITH, "cycles@gp5", .ours = true, .op = PROGRAM,
	  .calls = "read 5, read 5, free 5, start 5!-3, cfg 5 0x1, start 5=0" },
	{ WITH, "cycles@gp5", .ours = true, .since = STOPPED, .op = PROGRAM,
	  .calls = "read 5, read 5, free 5!-8, start 5!-3, cfg 5 0x1, start 5=0" },
	{ WITH, "cycles:u@gp5", .ours = true, .since = FREED, .op = PROGRAM,
	  .calls =
	  "read 5, read 5, free 5!-3, start 5!-3, cfg 5 0x1 flags 0x50, start 5=0" },
	{ WITH, "cycles@gp5", .ours = true, .since = TAKEN, .op = PROGRAM, .err = -EBUSY,
	  .calls = "read 5, start 5!-7" },
	{ WITH, "cycles@gp5", .ours = true, .since = LEFT, .op = PROGRAM,
	  .calls = "read 5, start 5!-3, cfg 5 0x1, start 5=0" },
	{ WITHOUT, "cycles@fixed0", .ours = true, .op = PROGRAM,
	  .calls = "read 0, read 0, free 0, start 0, stop 0, cfg 0 0x1, start 0=0" },
	{ WITHOUT, "cycles@fixed0", .ours = true, .since = STOPPED, .op = PROGRAM,
	  .calls = "read 0, read 0, free 0!-8, start 0, stop 0, cfg 0 0x1, start 0=0" },
	{ WITHOUT, "cycles@fixed0", .ours = true, .since = TAKEN, .op = PROGRAM, .err = -EBUSY,
	  .calls = "read 0, start 0!-7" },
	{ WITHOUT, "cycles@fixed0", .ours = true, .since = LEFT, .op = PROGRAM,
	  .calls = "read 0, start 0, stop 0, cfg 0 0x1, start 0=0" },

	{ WITH, "cycles@gp5", .op = UNPROGRAM, .calls = "" },
	{ WITH, "cycles@gp5", .ours = true, .op = UNPROGRAM, .calls = "read 5, stop 5" },
	{ WITHOUT, "cycles@fixed0", .ours = true, .op = UNPROGRAM, .calls = "read 0, stop 0" },
	{ WITHOUT, "cycles@fixed0", .ours = true, .since = TAKEN, .op = UNPROGRAM,
	  .calls = "read 0" },
	{ WITHOUT, "cycles@fixed0", .ours = true, .since = LEFT, .op = UNPROGRAM,
	  .calls = "read 0" },

	{ WITH, "cycles@gp5", .op = STOP, .calls = "" },
	{ WITH, "cycles@gp5", .ours = true, .op = STOP, .val = GP(5),
	  .calls = "read 5, start 5!-7" },
	{ WITH, "cycles@gp5", .ours = true, .since = STOPPED, .op = STOP,
	  .calls = "read 5, start 5" },
	{ WITH, "cycles@gp5", .ours = true, .since = FREED, .op = STOP,
	  .calls = "read 5, start 5!-3" },
	{ WITH, "cycles@gp5", .ours = true, .since = TAKEN, .op = STOP, .calls = "read 5" },
	{ NARROW, "cycles@gp5", .ours = true, .op = STOP, .val = GP(5), .calls = "start 5!-7" },
	{ WITH, "cycles@fixed0", .ours = true, .op = STOP, .val = FIXED(0),
	  .calls = "read 0, start 0!-7" },
	{ WITHOUT, "cycles@fixed0", .ours = true, .op = STOP, .val = FIXED(0),
	  .calls = "read 0, start 0!-7" },
	{ WITHOUT, "cycles@fixed0", .ours = true, .since = STOPPED, .op = STOP,
	  .calls = "read 0, start 0" },
	{ WITHOUT, "cycles@fixed0", .ours = true, .since = TAKEN, .op = STOP, .calls = "read 0" },

	{ WITH, "cycles@gp5", .ours = true, .op = LOOK, .val = 0x123456789abcdef0,
	  .calls = "read 5" },
	{ WITH, "cycles@gp5", .ours = true, .op = PEEK, .val = 0x123456789abcdef0,
	  .calls = "read 5" },
	{ NARROW, "cycles@gp5", .ours = true, .op = LOOK, .val = 0x789abcdef0,
	  .calls = "read 5" },
	{ NARROW, "cycles@gp9", .ours = true, .op = PEEK, .val = 0x789abcdef0,
	  .calls = "read 9" },
	{ NARROW, "cycles@fixed0", .ours = true, .op = LOOK, .val = 0x123456789abcdef0,
	  .calls = "read 0" },
};

static void op_desc(const struct op_row *row, char *desc)
{
	static const char * const verbs[] = {
		[ENABLE] = "enable", [DISABLE] = "disable", [PROGRAM] = "program",
		[UNPROGRAM] = "program 0", [STOP] = "stop", [LOOK] = "read", [PEEK] = "peek",
	};
	static const char * const others[] = {
		[NOBODY] = "", [STANDS] = ", stands", [RUNS] = ", runs", [STOPPED] = ", stopped",
		[FREED] = ", freed", [TAKEN] = ", taken", [LEFT] = ", taken and left",
	};

	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s %s%s%s, %s", verbs[row->op], row->event,
		 others[row->before], others[row->since], PMU(row->pmu)->name);
}

KUNIT_ARRAY_PARAM(op, op_rows, op_desc);

struct doing {
	struct my_pmu_cpu *cpu;
	struct my_hw_perf_event hw;
	enum op op;
	int err;
	u64 val, enabled;
};

static void do_on_cpu(void *data)
{
	struct doing *d = data;
	struct my_pmu_cpu *cpu = d->cpu;
	const struct my_x86_pmu *pmu = &cpu->pmu;
	const struct my_pmu_ops *ops = pmu->ops;
	struct my_pmu_stopped stopped = { .still = true, .overflowed = 1 };

	d->err = 0;
	d->val = 0;
	switch (d->op) {
	case ENABLE:
		d->err = ops->enable(pmu, &cpu->state, &d->hw);
		break;
	case DISABLE:
		d->err = ops->disable(pmu, &cpu->state, &d->hw);
		break;
	case PROGRAM:
		d->err = ops->program(pmu, &cpu->state, &d->hw, d->hw.config);
		break;
	case UNPROGRAM:
		d->err = ops->program(pmu, &cpu->state, &d->hw, 0);
		break;
	case STOP:
		d->err = ops->stop(pmu, &cpu->state, ~0ULL, &stopped);
		if (stopped.overflowed || stopped.still)
			d->err = -EINVAL;
		d->val = stopped.running;
		d->enabled = stopped.enabled;
		break;
	case LOOK:
		d->err = ops->read(&d->hw, &d->val);
		break;
	case PEEK:
		d->err = ops->peek(&d->hw, &d->val);
		break;
	}
}

static void sbi_operations(struct kunit *test)
{
	const struct op_row *row = test->param_value;
	struct doing d = { .cpu = test_probed_cpu(test, PMU(row->pmu)), .op = ENABLE };
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct my_perf_event_attr attr;
	struct sim_counter *c, before;

	resolve(test, d.cpu, row->event, &attr);
	d.hw.idx = attr.constraint;
	d.cpu->pmu.ops->encode(&d.cpu->pmu, &attr, &d.hw);
	c = &sim->counter[d.hw.idx % 32];
	act(sim, row->before, d.hw.idx % 32, attr.config);
	if (row->ours) {
		KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, do_on_cpu, &d));
		KUNIT_ASSERT_EQ(test, d.err, 0);
		KUNIT_EXPECT_EQ(test, d.hw.prev_count, 0ULL);
	}
	act(sim, row->since, d.hw.idx % 32, attr.config);
	if (row->op >= LOOK)
		c->value = 0x123456789abcdef0;
	before = *c;
	sim_clear_log(sim);
	d.op = row->op;
	KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, do_on_cpu, &d));
	KUNIT_EXPECT_EQ(test, d.err, row->err);
	KUNIT_EXPECT_EQ(test, d.val, row->val);
	test_expect_calls(test, row->calls);
	/* Of those that do not run somebody else has stopped each. */
	if (row->op == STOP)
		KUNIT_EXPECT_EQ(test, d.enabled, ~0ULL);
	/* One that was not had has not become ours; one that was given back is it no more. */
	if (row->op == DISABLE || row->op == UNPROGRAM || row->err == -EBUSY) {
		d.op = STOP;
		KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, do_on_cpu, &d));
		KUNIT_EXPECT_EQ(test, d.val, 0ULL);
		test_expect_calls(test, "");
	}
	if (row->op == DISABLE || row->err == -EBUSY) {
		d.op = DISABLE;
		KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, do_on_cpu, &d));
		KUNIT_EXPECT_EQ(test, d.err, 0);
		test_expect_calls(test, "");
	}
	/* What is theirs stays as it is. */
	if (row->before == RUNS || row->since == TAKEN)
		KUNIT_EXPECT_EQ(test, memcmp(c, &before, sizeof(before)), 0);
}

/* One that was stopped goes on; or counts another event, or in other modes. */
static void sbi_programmed_anew(struct kunit *test)
{
	static const struct { const char *event, *calls; } rows[] = {
		{ "cycles@gp5", "read 5, start 5" },
		{ "cycles:u@gp5",
		  "read 5, read 5, free 5!-8, start 5!-3, cfg 5 0x1 flags 0x50, start 5=0" },
		{ "r1234@gp5",
		  "read 5, read 5, free 5!-8, start 5!-3, cfg 5 0x20000/0x1234, start 5=0" },
		{ "instructions@gp5",
		  "read 5, read 5, free 5!-8, start 5!-3, cfg 5 0x2, start 5=0" },
		{ "instructions@gp5", "read 5, start 5" },
	};
	struct doing d = { .cpu = test_probed_cpu(test, PMU(WITH)), .hw = { .idx = 5 } };
	static const enum op ops[] = { UNPROGRAM, PROGRAM, STOP };
	struct my_perf_event_attr attr;
	unsigned int i, j;

	KUNIT_ASSERT_EQ(test, my_parse_events("cycles@gp5", &attr, 1, NULL), 1);
	d.cpu->pmu.ops->encode(&d.cpu->pmu, &attr, &d.hw);
	KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, do_on_cpu, &d));
	test_expect_calls(test, "start 5!-3, cfg 5 0x1, start 5=0, read 5");
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		KUNIT_ASSERT_EQ(test, my_parse_events(rows[i].event, &attr, 1, NULL), 1);
		d.cpu->pmu.ops->encode(&d.cpu->pmu, &attr, &d.hw);
		for (j = 0; j < ARRAY_SIZE(ops); j++) {
			d.op = ops[j];
			KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, do_on_cpu, &d));
			KUNIT_EXPECT_EQ(test, d.err, 0);
			test_expect_calls(test, d.op == UNPROGRAM ? "read 5, stop 5" :
					  d.op == PROGRAM ? rows[i].calls : "read 5, start 5!-7");
		}
		KUNIT_EXPECT_EQ(test, d.val, GP(5));
	}
}

/* Or it gives cycle, which counted for us in all modes, and does so again. */
static void sbi_gives_fixed(struct kunit *test)
{
	static const struct sim_event only[] = { { SIM_CYCLES, 0, 0x10 } };
	struct sim_pmu pmu = *PMU(WITH);
	struct doing d = { .op = ENABLE, .hw = { .idx = 5 } };
	struct my_perf_event_attr attr;

	pmu.events = only;
	pmu.nr_events = ARRAY_SIZE(only);
	d.cpu = test_probed_cpu(test, &pmu);
	resolve(test, d.cpu, "cycles:u@gp5", &attr);
	KUNIT_EXPECT_EQ(test, attr.counters, FIXED(0) | GP(4));
	d.cpu->pmu.ops->encode(&d.cpu->pmu, &attr, &d.hw);
	KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, do_on_cpu, &d));
	KUNIT_EXPECT_EQ(test, d.err, -EBUSY);
	test_expect_calls(test, "start 5!-3, cfg 5 0x1 flags 0x50>0, cfg 0 0x1");
	test_expect_free(test, 0);
}

/* A firmware that gives another counter than the one that was asked for. */
static void sbi_gives_another(struct kunit *test)
{
	struct doing d = { .cpu = test_probed_cpu(test, PMU(WITH)), .op = ENABLE };
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct my_perf_event_attr attr;

	resolve(test, d.cpu, "dTLB-load-misses@gp5", &attr);
	d.hw.idx = 5;
	d.cpu->pmu.ops->encode(&d.cpu->pmu, &attr, &d.hw);
	sim->gives = 7;
	KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, do_on_cpu, &d));
	KUNIT_EXPECT_EQ(test, d.err, -EBUSY);
	test_expect_calls(test, "start 5!-3, cfg 5 0x10019>7, free 7!-8");
	test_expect_free(test, 0);
}

/* --- who has counters --------------------------------------------------------------- */

static const struct use_row {
	const char *name;
	enum others others;
	unsigned int counter;
	u64 in_use;
	const char *calls;
} use_rows[] = {
	{ "nobody", NOBODY, 3, 0, "start 3!-3, start 4!-3, start 0!-3, start 2!-3" },
	{ "gp3 runs", RUNS, 3, GP(3), "start 3!-7, start 4!-3, start 0!-3, start 2!-3" },
	{ "gp4 stands", STANDS, 4, GP(4), "start 3!-3, start 4, stop 4, start 0!-3, start 2!-3" },
	{ "fixed0 runs", RUNS, 0, FIXED(0), "start 3!-3, start 4!-3, start 0!-7, start 2!-3" },
	{ "fixed2 stands", STANDS, 2, 0, "start 3!-3, start 4!-3, start 0!-3, start 2, stop 2" },
};

static void use_desc(const struct use_row *row, char *desc)
{
	strscpy(desc, row->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(use, use_rows, use_desc);

struct use {
	struct my_pmu_cpu *cpu;
	struct my_pmu_snapshot snapshot;
	u64 wanted, in_use;
	int err;
};

static void find_in_use_on_cpu(void *data)
{
	struct use *use = data;

	use->err = use->cpu->pmu.ops->find_in_use(&use->cpu->pmu, use->wanted, &use->in_use);
}

static void snapshot_on_cpu(void *data)
{
	struct use *use = data;

	use->snapshot.interrupts = ~0ULL;
	use->err = use->cpu->pmu.ops->snapshot(&use->cpu->pmu, &use->cpu->state, &use->snapshot);
}

static void stop_on_cpu(void *data)
{
	struct my_pmu_cpu *cpu = data;
	struct my_pmu_stopped stopped;

	cpu->pmu.ops->stop(&cpu->pmu, &cpu->state, ~0ULL, &stopped);
}

static void sbi_in_use(struct kunit *test)
{
	static const u32 event_of[] = { SIM_CYCLES, 0, SIM_INSTRUCTIONS, SIM_DTLB_READ_MISS,
					SIM_DTLB_READ_MISS };
	const struct use_row *row = test->param_value;
	struct use *use = kunit_kzalloc(test, sizeof(*use), GFP_KERNEL);
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct sim_counter before;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, use);
	use->cpu = test_probed_cpu(test, PMU(FEW));
	/* Who has been looked at anew has none of ours. */
	memset(&use->cpu->state, 0xff, sizeof(use->cpu->state));
	act(sim, row->others, row->counter, event_of[row->counter]);
	before = sim->counter[row->counter];
	/* Others are not looked at. */
	use->wanted = GP(3) | GP(5);
	KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, find_in_use_on_cpu, use));
	KUNIT_EXPECT_EQ(test, use->in_use, row->in_use & GP(3));
	test_expect_calls(test, row->in_use & GP(3) ? "start 3!-7" : "start 3!-3");
	use->wanted = ~0ULL;
	KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, find_in_use_on_cpu, use));
	KUNIT_EXPECT_EQ(test, use->err, 0);
	KUNIT_EXPECT_EQ(test, use->in_use, row->in_use);
	test_expect_calls(test, row->calls);
	KUNIT_EXPECT_EQ(test, memcmp(&before, &sim->counter[row->counter], sizeof(before)), 0);
	KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, snapshot_on_cpu, use));
	KUNIT_EXPECT_EQ(test, use->snapshot.in_use, row->in_use);
	KUNIT_EXPECT_EQ(test, use->snapshot.interrupts, 0ULL);
	test_expect_calls(test, row->calls);
	KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, stop_on_cpu, use->cpu));
	test_expect_calls(test, "");
}

struct question {
	struct my_pmu_cpu *cpu;
	u64 config, counters;
};

static void find_counters_on_cpu(void *data)
{
	struct question *q = data;

	q->counters = my_sbi_find_counters(&q->cpu->pmu, &q->cpu->state, q->config);
}

static void expect_found(struct kunit *test, struct question *q, u64 config, u64 counters,
			 const char *calls)
{
	q->config = config;
	KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, find_counters_on_cpu, q));
	KUNIT_EXPECT_EQ(test, q->counters, counters);
	test_expect_calls(test, calls);
}

/* One of ours is not asked, and taken for like the others; nor is one of somebody else's. */
static void sbi_find_counters(struct kunit *test)
{
	struct question q = { .cpu = test_probed_cpu(test, PMU(FEW)) };
	struct doing d = { .cpu = q.cpu, .op = ENABLE, .hw = { .idx = 3 } };
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct my_perf_event_attr attr;

	/* They are not started. */
	expect_found(test, &q, SBI(0x10019), 0x18,
		     "start 3!-3, cfg 3 0x10019, free 3!-8, start 4!-3, cfg 4 0x10019, free 4!-8");
	expect_found(test, &q, SBI(2), FIXED(2), "start 2!-3, cfg 2 0x2, free 2!-8");
	act(sim, RUNS, 2, SIM_INSTRUCTIONS);
	expect_found(test, &q, SBI(2), FIXED(2), "start 2!-7");
	act(sim, FREED, 2, 0);
	expect_found(test, &q, SBI(2), FIXED(2), "start 2, stop 2");
	expect_found(test, &q, SBI(7), 0,
		     "start 3!-3, cfg 3 0x7!-2, start 4!-3, cfg 4 0x7!-2");
	resolve(test, d.cpu, "dTLB-load-misses@gp3", &attr);
	d.cpu->pmu.ops->encode(&d.cpu->pmu, &attr, &d.hw);
	KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, do_on_cpu, &d));
	KUNIT_ASSERT_EQ(test, d.err, 0);
	sim_clear_log(sim);
	expect_found(test, &q, SBI(5), 0x18, "start 4!-3, cfg 4 0x5, free 4!-8");
	expect_found(test, &q, SBI(7), 0, "start 4!-3, cfg 4 0x7!-2");
	/* Nobody can be asked: ours may count it, and theirs. */
	act(sim, RUNS, 4, SIM_DTLB_READ_MISS);
	expect_found(test, &q, SBI(0x10019), 0x18, "start 4!-7");
	expect_found(test, &q, SBI(1), FIXED(0), "start 0!-3, cfg 0 0x1, free 0!-8");
	act(sim, FREED, 4, 0);
	d.hw.idx = 4;
	d.cpu->pmu.ops->encode(&d.cpu->pmu, &attr, &d.hw);
	KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, do_on_cpu, &d));
	sim_clear_log(sim);
	expect_found(test, &q, SBI(0x10019), 0x18, "");
	/* All are somebody else's, what runs, and what stands: they may. */
	q.cpu = test_probed_cpu(test, PMU(FEW));
	act(sim, RUNS, 4, SIM_DTLB_READ_MISS);
	act(sim, STANDS, 3, SIM_DTLB_READ_MISS);
	expect_found(test, &q, SBI(5), 0x18, "start 3, stop 3, start 4!-7");
}

/* With Sscofpmf: any of them; the fixed ones, if the firmware gives them. */
static void sbi_find_fixed(struct kunit *test)
{
	struct sim_pmu pmu = *PMU(NARROW);
	struct question q = {};

	pmu.counters = 0x1d;
	q.cpu = test_probed_cpu(test, &pmu);
	expect_found(test, &q, SBI(1), FIXED(0) | 0x18,
		     "start 0!-3, start 3!-3, cfg 3 0x1, free 3!-8, start 4!-3, cfg 4 0x1, free 4!-8, start 0!-3, cfg 0 0x1, free 0!-8");
	act(sim_cpu(TEST_CPU), RUNS, 4, SIM_DTLB_READ_MISS);
	expect_found(test, &q, SBI(2), FIXED(2) | 0x18,
		     "start 2!-3, start 3!-3, cfg 3 0x2, free 3!-8, start 4!-7, start 2!-3, cfg 2 0x2, free 2!-8");
	/* While perf runs that one no other is asked. */
	act(sim_cpu(TEST_CPU), RUNS, 0, SIM_CYCLES);
	expect_found(test, &q, SBI(1), FIXED(0) | 0x18, "start 0!-7");
	/* That the others do not count it says that perf's does not. */
	expect_found(test, &q, SBI(7), 0, "start 3!-3, cfg 3 0x7!-2, start 4!-7");
	pmu.fixed_refused = true;
	q.cpu = test_probed_cpu(test, &pmu);
	expect_found(test, &q, SBI(1), 0x18,
		     "start 0!-3, start 3!-3, cfg 3 0x1, free 3!-8, start 4!-3, cfg 4 0x1, free 4!-8, start 0!-3, cfg 0 0x1!-2");
}

static void sbi_exit(struct kunit *test)
{
	test_expect_good_manners(test);
}

static struct kunit_case sbi_cases[] = {
	KUNIT_CASE_PARAM(sbi_probe, probe_gen_params),
	KUNIT_CASE(sbi_probe_fails),
	KUNIT_CASE(sbi_probe_asks),
	KUNIT_CASE_PARAM(sbi_tells, tells_gen_params),
	KUNIT_CASE_PARAM(sbi_events, event_gen_params),
	KUNIT_CASE(sbi_events_of_others),
	KUNIT_CASE_PARAM(sbi_operations, op_gen_params),
	KUNIT_CASE(sbi_gives_another),
	KUNIT_CASE(sbi_gives_fixed),
	KUNIT_CASE(sbi_programmed_anew),
	KUNIT_CASE_PARAM(sbi_in_use, use_gen_params),
	KUNIT_CASE(sbi_find_counters),
	KUNIT_CASE(sbi_find_fixed),
	{}
};

static struct kunit_suite sbi_suite = {
	.name = "my_pmu_sbi",
	.exit = sbi_exit,
	.test_cases = sbi_cases,
};

kunit_test_suite(sbi_suite);
