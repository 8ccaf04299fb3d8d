// SPDX-License-Identifier: GPL-2.0
/*
 * From an event to what the registers hold: the ids of counters, encodings,
 * and each write and read, in order.  The values are written out from the SDM.
 */
#include "test.h"

/* --- ids -------------------------------------------------------------------- */

struct id_row {
	int idx;
	const char *kind;
	int number;
	u32 rdpmc;
};

static const struct id_row id_rows[] = {
	{ 0, "gp", 0, 0x0 },
	{ 1, "gp", 1, 0x1 },
	{ 17, "gp", 17, 0x11 },
	{ 31, "gp", 31, 0x1f },
	{ 32, "fixed", 0, 0x40000000 },
	{ 33, "fixed", 1, 0x40000001 },
	{ 47, "fixed", 15, 0x4000000f },
	{ 63, "fixed", 31, 0x4000001f },
};

static void id_desc(const struct id_row *row, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s%d", row->kind, row->number);
}

KUNIT_ARRAY_PARAM(id, id_rows, id_desc);

static void intel_ids(struct kunit *test)
{
	const struct id_row *row = test->param_value;
	struct my_pmu_cpu *c = test_cpu(test, PMU(V4), "cycles");

	KUNIT_EXPECT_STREQ(test, my_pmc_kind(row->idx), row->kind);
	KUNIT_EXPECT_EQ(test, my_pmc_number(row->idx), row->number);
	KUNIT_EXPECT_EQ(test, my_pmc_is_fixed(row->idx),
			row->kind[0] == 'f');
	KUNIT_EXPECT_EQ(test, c->pmu.rdpmc_index(row->idx), row->rdpmc);
}

/* --- encodings --------------------------------------------------------------- */

/**
 * struct config_row - an event on a counter, and its registers
 * @event: as a user writes it, with a pin
 * @pmu: on this
 * @config: the event select, or the field in FIXED_CTR_CTRL
 * @config_base: in this MSR
 * @event_base: the counter's MSR
 * @rdpmc: its RDPMC index
 * @bits: its width
 */
struct config_row {
	const char *event;
	const struct sim_pmu *pmu;
	u64 config;
	u32 config_base, event_base, rdpmc;
	unsigned int bits;
};

static const struct config_row config_rows[] = {
	{ "instructions@gp0", PMU(V4), 0x4300c0, 0x186, 0x4c1, 0, 48 },
	{ "instructions:u@gp1", PMU(V4), 0x4100c0, 0x187, 0x4c2, 1, 48 },
	{ "instructions:k@gp2", PMU(V4), 0x4200c0, 0x188, 0x4c3, 2, 48 },
	{ "instructions:uk@gp7", PMU(V4), 0x4300c0, 0x18d, 0x4c8, 7, 48 },
	{ "cycles@gp3", PMU(V4), 0x43003c, 0x189, 0x4c4, 3, 48 },
	{ "bus-cycles@gp0", PMU(V4), 0x43013c, 0x186, 0x4c1, 0, 48 },
	{ "cache-references@gp0", PMU(V4), 0x434f2e, 0x186, 0x4c1, 0, 48 },
	{ "cache-misses@gp0", PMU(V4), 0x43412e, 0x186, 0x4c1, 0, 48 },
	{ "branches@gp0", PMU(V4), 0x4300c4, 0x186, 0x4c1, 0, 48 },
	{ "branch-misses@gp0", PMU(V4), 0x4300c5, 0x186, 0x4c1, 0, 48 },
	{ "r01c2:u@gp4", PMU(V4), 0x4101c2, 0x18a, 0x4c5, 4, 48 },
	{ "rff01@gp5", PMU(V4), 0x43ff01, 0x18b, 0x4c6, 5, 48 },
	{ "cpu/event=0xc4,edge/@gp0", PMU(V4), 0x4700c4, 0x186, 0x4c1, 0, 48 },
	{ "cpu/event=0xc4,inv/@gp0", PMU(V4), 0xc300c4, 0x186, 0x4c1, 0, 48 },
	{ "cpu/event=0xc4,cmask=0xa5/u@gp0", PMU(V4), 0xa54100c4, 0x186, 0x4c1, 0, 48 },
	{ "cpu/event=0xc4,umask=1,pc,edge,inv,cmask=255/k@gp0", PMU(V4),
	  0xffc601c4, 0x186, 0x4c1, 0, 48 },
	{ "rffdfffc4@gp0", PMU(V4), 0xffc7ffc4, 0x186, 0x4c1, 0, 48 },
	{ "cpu/instructions,cmask=1/@gp0", PMU(V4), 0x14300c0, 0x186, 0x4c1, 0, 48 },
	{ "cpu/event=0xa3,umask=0x14/k@gp6", PMU(V4), 0x4214a3, 0x18c, 0x4c7, 6, 48 },
	{ "instructions@gp0", PMU(V3_LEGACY), 0x4300c0, 0x186, 0x0c1, 0, 48 },
	{ "cycles@gp7", PMU(V3_LEGACY), 0x43003c, 0x18d, 0x0c8, 7, 48 },
	{ "cycles@gp1", PMU(V1_40), 0x43003c, 0x187, 0x0c2, 1, 40 },
	{ "instructions@fixed0", PMU(V4), 0x003, 0x38d, 0x309, 0x40000000, 48 },
	{ "instructions:u@fixed0", PMU(V4), 0x002, 0x38d, 0x309, 0x40000000, 48 },
	{ "instructions:k@fixed0", PMU(V4), 0x001, 0x38d, 0x309, 0x40000000, 48 },
	{ "cycles@fixed1", PMU(V4), 0x030, 0x38d, 0x30a, 0x40000001, 48 },
	{ "cycles:k@fixed1", PMU(V4), 0x010, 0x38d, 0x30a, 0x40000001, 48 },
	{ "ref-cycles@fixed2", PMU(V4), 0x300, 0x38d, 0x30b, 0x40000002, 48 },
	{ "ref-cycles:u@fixed2", PMU(V4), 0x200, 0x38d, 0x30b, 0x40000002, 48 },
	{ "cycles@fixed1", PMU(V4_NARROW_FIXED), 0x030, 0x38d, 0x30a, 0x40000001, 32 },
	{ "ref-cycles@fixed2", PMU(V5_HOLE), 0x300, 0x38d, 0x30b, 0x40000002, 48 },
};

static void config_desc(const struct config_row *row, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s-%s", row->event,
		 row->pmu->name);
}

KUNIT_ARRAY_PARAM(config, config_rows, config_desc);

static void intel_config(struct kunit *test)
{
	const struct config_row *row = test->param_value;
	struct my_pmu_cpu *c = test_cpu(test, row->pmu, row->event);
	const struct my_hw_perf_event *hw = &c->event[0].hw;

	KUNIT_EXPECT_EQ(test, hw->config, row->config);
	KUNIT_EXPECT_EQ(test, hw->config_base, row->config_base);
	KUNIT_EXPECT_EQ(test, hw->event_base, row->event_base);
	KUNIT_EXPECT_EQ(test, hw->event_base_rdpmc, row->rdpmc);
	KUNIT_EXPECT_EQ(test, hw->cntval_bits, row->bits);
}

/* --- which counter counts what ------------------------------------------------ */

struct counts_row {
	u8 event, umask;
	u64 counters;		/* those of V4 that count it */
	u8 cmask;
	bool edge, inv;
};

static const struct counts_row counts_rows[] = {
	{ 0xc0, 0x00, 0x1000000ff },
	{ 0x3c, 0x00, 0x2000000ff },
	{ 0x00, 0x03, 0x400000000 },
	{ 0x00, 0x04, 0x800000000 },	/* slots: fixed3, which V4 lacks */
	{ 0x3c, 0x01, 0x0000000ff },
	{ 0xc4, 0x00, 0x0000000ff },
	{ 0xc0, 0x01, 0x0000000ff },
	{ 0x00, 0x01, 0 },
	{ 0x00, 0x00, 0 },
	/* fixed counters count nothing but plain events */
	{ 0xc0, 0x00, 0x0000000ff, .cmask = 1 },
	{ 0xc0, 0x00, 0x0000000ff, .edge = true },
	{ 0x3c, 0x00, 0x0000000ff, .inv = true },
	{ 0x00, 0x03, 0, .cmask = 255 },
};

static void counts_desc(const struct counts_row *row, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "r%02x%02x%s%s%s", row->umask,
		 row->event, row->cmask ? "-cmask" : "",
		 row->edge ? "-edge" : "", row->inv ? "-inv" : "");
}

KUNIT_ARRAY_PARAM(counts, counts_rows, counts_desc);

static void intel_counts(struct kunit *test)
{
	const struct counts_row *row = test->param_value;
	struct my_perf_event_attr attr = { .event = row->event,
					   .umask = row->umask,
					   .cmask = row->cmask,
					   .edge = row->edge,
					   .inv = row->inv };
	struct my_pmu_cpu *c = test_cpu(test, PMU(V4), "cycles");
	int idx;

	for (idx = 0; idx < 64; idx++) {
		if (idx > 7 && idx < 32)
			continue;	/* V4 has none of these */
		KUNIT_EXPECT_EQ_MSG(test, c->pmu.counts(&attr, idx),
				    !!(row->counters & BIT_ULL(idx)),
				    "counter id %d", idx);
	}
}

/* --- what is read and written, in order --------------------------------------- */

#define PARTS		16

/**
 * struct sequence_part - accesses, one after the other
 * @times: so often
 * @length: accesses expected
 * @access: which, with what was written; what was read is not compared
 */
struct sequence_part {
	unsigned int times;
	unsigned int length;
	struct sim_access access[24];
};

/**
 * struct sequence_row - a step in the life of a CPU's events
 * @name: the step
 * @pmu: on this
 * @counters: the events
 * @part: what is expected, up to the first that is not there
 */
struct sequence_row {
	const char *name;
	const struct sim_pmu *pmu;
	const char *counters;
	struct sequence_part part[PARTS];
};

static const struct sequence_row up_rows[] = {
	/*
	 * Look who uses what.  Of instructions, then of cycles, four times:
	 * stopped, written, read back, programmed, looked at; run, read.  Then
	 * what is to be counted.
	 */
	{ "v1", PMU(V1_40), "instructions@gp1", {
		{ 1, 2, {
			{ SIM_RDMSR, 0x186 },
			{ SIM_RDMSR, 0x187 },
		} },
		{ 1, 4, {
			{ SIM_RDMSR, 0x187 },
			{ SIM_RDMSR, 0x0c2 },
			{ SIM_WRMSR, 0x187, 0x4200c0 },
			{ SIM_RDPMC, 1 },
		} },
		{ 4, 8, {
			{ SIM_WRMSR, 0x187, 0x4200c0 },
			{ SIM_RDMSR, 0x187 },
			{ SIM_WRMSR, 0x187, 0 },
			{ SIM_WRMSR, 0x0c2, 0xffffffffc0 },
			{ SIM_RDPMC, 1 },
			{ SIM_WRMSR, 0x187, 0x4200c0 },
			{ SIM_WRMSR, 0x187, 0 },
			{ SIM_RDPMC, 1 },
		} },
		{ 1, 6, {
			{ SIM_WRMSR, 0x187, 0 },
			{ SIM_WRMSR, 0x187, 0x110051 },
			{ SIM_RDMSR, 0x187 },
			{ SIM_RDMSR, 0x0c2 },
			{ SIM_WRMSR, 0x187, 0x42003c },
			{ SIM_RDPMC, 1 },
		} },
		{ 4, 8, {
			{ SIM_WRMSR, 0x187, 0x42003c },
			{ SIM_RDMSR, 0x187 },
			{ SIM_WRMSR, 0x187, 0 },
			{ SIM_WRMSR, 0x0c2, 0xffffffffc0 },
			{ SIM_RDPMC, 1 },
			{ SIM_WRMSR, 0x187, 0x42003c },
			{ SIM_WRMSR, 0x187, 0 },
			{ SIM_RDPMC, 1 },
		} },
		/* What the proof has left of the counter can be written. */
		{ 1, 7, {
			{ SIM_WRMSR, 0x187, 0 },
			{ SIM_WRMSR, 0x0c2, 0xfc0 },
			{ SIM_WRMSR, 0x187, 0x110051 },
			{ SIM_RDMSR, 0x187 },
			{ SIM_RDMSR, 0x0c2 },
			{ SIM_WRMSR, 0x187, 0x4300c0 },
			{ SIM_RDPMC, 1 },
		} },
	} },
	/*
	 * Look who uses what; note all, stop ours.  Of each, four times:
	 * programmed, looked at, stopped, written, read back; programmed, run,
	 * looked whether it has overflowed, read.  Give back, and acknowledge;
	 * note all, stop ours, program each, start ours.
	 */
	{ "v4-generic-and-fixed", PMU(V4), "r01c2:u@gp2,cycles@fixed1", {
		{ 1, 10, {
			{ SIM_RDMSR, 0x392 },
			{ SIM_RDMSR, 0x186 },
			{ SIM_RDMSR, 0x187 },
			{ SIM_RDMSR, 0x188 },
			{ SIM_RDMSR, 0x189 },
			{ SIM_RDMSR, 0x18a },
			{ SIM_RDMSR, 0x18b },
			{ SIM_RDMSR, 0x18c },
			{ SIM_RDMSR, 0x18d },
			{ SIM_RDMSR, 0x38d },
		} },
		{ 1, 9, {
			{ SIM_RDMSR, 0x38f },
			{ SIM_RDMSR, 0x38e },
			{ SIM_RDMSR, 0x38f },
			{ SIM_WRMSR, 0x38f, 0x5000000fa },
			{ SIM_RDMSR, 0x38e },
			{ SIM_RDMSR, 0x188 },
			{ SIM_RDMSR, 0x4c3 },
			{ SIM_WRMSR, 0x188, 0x4200c0 },
			{ SIM_RDPMC, 2 },
		} },
		{ 4, 12, {
			{ SIM_WRMSR, 0x188, 0x4200c0 },
			{ SIM_RDMSR, 0x188 },
			{ SIM_WRMSR, 0x188, 0 },
			{ SIM_WRMSR, 0x4c3, 0xffffffffffc0 },
			{ SIM_RDPMC, 2 },
			{ SIM_WRMSR, 0x188, 0x4200c0 },
			{ SIM_WRMSR, 0x38f, 0x5000000fe },
			{ SIM_WRMSR, 0x38f, 0x5000000fa },
			{ SIM_RDMSR, 0x38f },
			{ SIM_WRMSR, 0x38f, 0x5000000fa },
			{ SIM_RDMSR, 0x38e },
			{ SIM_RDPMC, 2 },
		} },
		{ 1, 7, {
			{ SIM_WRMSR, 0x188, 0 },
			{ SIM_WRMSR, 0x4c3, 0x369d0369d034 },
			{ SIM_WRMSR, 0x188, 0x110052 },
			{ SIM_RDMSR, 0x188 },
			{ SIM_RDMSR, 0x4c3 },
			{ SIM_WRMSR, 0x188, 0x42003c },
			{ SIM_RDPMC, 2 },
		} },
		{ 4, 12, {
			{ SIM_WRMSR, 0x188, 0x42003c },
			{ SIM_RDMSR, 0x188 },
			{ SIM_WRMSR, 0x188, 0 },
			{ SIM_WRMSR, 0x4c3, 0xffffffffffc0 },
			{ SIM_RDPMC, 2 },
			{ SIM_WRMSR, 0x188, 0x42003c },
			{ SIM_WRMSR, 0x38f, 0x5000000fe },
			{ SIM_WRMSR, 0x38f, 0x5000000fa },
			{ SIM_RDMSR, 0x38f },
			{ SIM_WRMSR, 0x38f, 0x5000000fa },
			{ SIM_RDMSR, 0x38e },
			{ SIM_RDPMC, 2 },
		} },
		{ 1, 8, {
			{ SIM_WRMSR, 0x188, 0 },
			{ SIM_WRMSR, 0x4c3, 0x369d0369d034 },
			{ SIM_WRMSR, 0x188, 0x110052 },
			{ SIM_RDMSR, 0x38d },
			{ SIM_RDMSR, 0x30a },
			{ SIM_RDMSR, 0x38d },
			{ SIM_WRMSR, 0x38d, 0x018 },
			{ SIM_RDPMC, 0x40000001 },
		} },
		{ 4, 15, {
			{ SIM_RDMSR, 0x38d },
			{ SIM_WRMSR, 0x38d, 0x018 },
			{ SIM_RDMSR, 0x38d },
			{ SIM_RDMSR, 0x38d },
			{ SIM_WRMSR, 0x38d, 0x008 },
			{ SIM_WRMSR, 0x30a, 0xffffffffffc0 },
			{ SIM_RDPMC, 0x40000001 },
			{ SIM_RDMSR, 0x38d },
			{ SIM_WRMSR, 0x38d, 0x018 },
			{ SIM_WRMSR, 0x38f, 0x7000000fa },
			{ SIM_WRMSR, 0x38f, 0x5000000fa },
			{ SIM_RDMSR, 0x38f },
			{ SIM_WRMSR, 0x38f, 0x5000000fa },
			{ SIM_RDMSR, 0x38e },
			{ SIM_RDPMC, 0x40000001 },
		} },
		{ 1, 8, {
			{ SIM_RDMSR, 0x38d },
			{ SIM_WRMSR, 0x38d, 0x008 },
			{ SIM_WRMSR, 0x30a, 0x468acf13579a },
			{ SIM_RDMSR, 0x38d },
			{ SIM_WRMSR, 0x38d, 0x008 },
			{ SIM_WRMSR, 0x38f, 0x7000000fe },
			{ SIM_RDMSR, 0x38e },
			{ SIM_WRMSR, 0x390, 0x200000004 },
		} },
		{ 1, 15, {
			{ SIM_RDMSR, 0x38f },
			{ SIM_RDMSR, 0x38e },
			{ SIM_RDMSR, 0x38f },
			{ SIM_WRMSR, 0x38f, 0x5000000fa },
			{ SIM_RDMSR, 0x38e },
			{ SIM_RDMSR, 0x188 },
			{ SIM_RDMSR, 0x4c3 },
			{ SIM_WRMSR, 0x188, 0x4101c2 },
			{ SIM_RDPMC, 2 },
			{ SIM_RDMSR, 0x38d },
			{ SIM_RDMSR, 0x30a },
			{ SIM_RDMSR, 0x38d },
			{ SIM_WRMSR, 0x38d, 0x038 },
			{ SIM_RDPMC, 0x40000001 },
			{ SIM_WRMSR, 0x38f, 0x7000000fe },
		} },
	} },
};

/* Stop, read once more; no enable, the old count, the old control; in reverse. */
static const struct sequence_row down_rows[] = {
	{ "v1", PMU(V1_40), "instructions@gp1", { { 1, 5, {
		{ SIM_RDPMC, 1 },
		{ SIM_RDMSR, 0x187 },
		{ SIM_WRMSR, 0x187, 0 },
		{ SIM_WRMSR, 0x0c2, 0xfc0 },
		{ SIM_WRMSR, 0x187, 0x110051 },
	} } } },
	{ "v1-writable", PMU(V1_40), "instructions@gp0", { { 1, 5, {
		{ SIM_RDPMC, 0 },
		{ SIM_RDMSR, 0x186 },
		{ SIM_WRMSR, 0x186, 0 },
		{ SIM_WRMSR, 0x0c1, 0x1234567 },
		{ SIM_WRMSR, 0x186, 0x110050 },
	} } } },
	{ "v4-generic-and-fixed", PMU(V4), "r01c2:u@gp2,cycles@fixed1", { { 1, 17, {
		{ SIM_RDMSR, 0x38f },
		{ SIM_WRMSR, 0x38f, 0x5000000fa },
		{ SIM_RDMSR, 0x38e },
		{ SIM_RDPMC, 2 },
		{ SIM_RDMSR, 0x188 },
		{ SIM_RDPMC, 0x40000001 },
		{ SIM_RDMSR, 0x38d },
		{ SIM_RDMSR, 0x38d },
		{ SIM_WRMSR, 0x38d, 0x008 },
		{ SIM_WRMSR, 0x30a, 0x468acf13579a },
		{ SIM_RDMSR, 0x38d },
		{ SIM_WRMSR, 0x38d, 0x008 },
		{ SIM_WRMSR, 0x188, 0 },
		{ SIM_WRMSR, 0x4c3, 0x369d0369d034 },
		{ SIM_WRMSR, 0x188, 0x110052 },
		{ SIM_WRMSR, 0x38f, 0x7000000fe },
		{ SIM_RDMSR, 0x38e },
	} } } },
};

/*
 * One write before, one after: all stand still in between.  Of each the counter,
 * and whether its control is still ours; fixed ones have one together.
 */
static const struct sequence_row read_rows[] = {
	{ "v1", PMU(V1_40), "instructions@gp1,cycles@gp0", { { 1, 4, {
		{ SIM_RDPMC, 1 },
		{ SIM_RDMSR, 0x187 },
		{ SIM_RDPMC, 0 },
		{ SIM_RDMSR, 0x186 },
	} } } },
	{ "v4-generic-and-fixed", PMU(V4), "r01c2:u@gp2,cycles@fixed1", { { 1, 8, {
		{ SIM_RDMSR, 0x38f },
		{ SIM_WRMSR, 0x38f, 0x5000000fa },
		{ SIM_RDPMC, 2 },
		{ SIM_RDMSR, 0x188 },
		{ SIM_RDPMC, 0x40000001 },
		{ SIM_RDMSR, 0x38d },
		{ SIM_RDMSR, 0x38e },
		{ SIM_WRMSR, 0x38f, 0x7000000fe },
	} } } },
	{ "v4-generic", PMU(V4), "cycles@gp1,instructions@gp0", { { 1, 8, {
		{ SIM_RDMSR, 0x38f },
		{ SIM_WRMSR, 0x38f, 0x7000000fc },
		{ SIM_RDPMC, 0 },
		{ SIM_RDMSR, 0x186 },
		{ SIM_RDPMC, 1 },
		{ SIM_RDMSR, 0x187 },
		{ SIM_RDMSR, 0x38e },
		{ SIM_WRMSR, 0x38f, 0x7000000ff },
	} } } },
	{ "v4-fixed", PMU(V4), "cycles,instructions", { { 1, 7, {
		{ SIM_RDMSR, 0x38f },
		{ SIM_WRMSR, 0x38f, 0x4000000fe },
		{ SIM_RDPMC, 0x40000001 },
		{ SIM_RDPMC, 0x40000000 },
		{ SIM_RDMSR, 0x38d },
		{ SIM_RDMSR, 0x38e },
		{ SIM_WRMSR, 0x38f, 0x7000000fe },
	} } } },
};

static void sequence_desc(const struct sequence_row *row, char *desc)
{
	strscpy(desc, row->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(up, up_rows, sequence_desc);
KUNIT_ARRAY_PARAM(down, down_rows, sequence_desc);
KUNIT_ARRAY_PARAM(read, read_rows, sequence_desc);

static void expect_access(struct kunit *test, const struct sim_access *wanted,
			  unsigned int i)
{
	const struct sim_access *got = &sim_cpu(TEST_CPU)->log[i];

	KUNIT_EXPECT_EQ_MSG(test, (int)got->op, (int)wanted->op, "access %u", i);
	KUNIT_EXPECT_EQ_MSG(test, got->reg, wanted->reg, "access %u", i);
	if (wanted->op == SIM_WRMSR)
		KUNIT_EXPECT_EQ_MSG(test, got->val, wanted->val, "access %u", i);
	KUNIT_EXPECT_FALSE_MSG(test, got->faulted, "access %u", i);
}

static void expect_sequence(struct kunit *test, const struct sequence_row *row)
{
	const struct sim_cpu *sim = sim_cpu(TEST_CPU);
	unsigned int p, i, length = 0;

	for (p = 0; p < PARTS; p++)
		length += row->part[p].times * row->part[p].length;
	KUNIT_ASSERT_EQ(test, sim->accesses, length);
	KUNIT_ASSERT_LE(test, length, (unsigned int)SIM_ACCESSES);
	length = 0;
	for (p = 0; p < PARTS; p++) {
		const struct sequence_part *part = &row->part[p];

		for (i = 0; i < part->times * part->length; i++)
			expect_access(test, &part->access[i % part->length],
				      length++);
	}
}

static struct my_pmu_cpu *begin(struct kunit *test)
{
	const struct sequence_row *row = test->param_value;
	struct my_pmu_cpu *c = test_cpu(test, row->pmu, row->counters);

	test_leave_traces(sim_cpu(TEST_CPU));
	sim_clear_log(sim_cpu(TEST_CPU));
	return c;
}

static void intel_up_sequence(struct kunit *test)
{
	struct my_pmu_cpu *c = begin(test);

	test_up(test, c);
	expect_sequence(test, test->param_value);
}

static void intel_down_sequence(struct kunit *test)
{
	struct my_pmu_cpu *c = begin(test);

	test_up(test, c);
	sim_clear_log(sim_cpu(TEST_CPU));
	KUNIT_ASSERT_EQ(test, my_pmu_cpu_down(c), 0);
	expect_sequence(test, test->param_value);
}

static void intel_read_sequence(struct kunit *test)
{
	struct my_pmu_sample *sample = test_sample(test);
	struct my_pmu_cpu *c = begin(test);

	test_up(test, c);
	sim_clear_log(sim_cpu(TEST_CPU));
	KUNIT_ASSERT_EQ(test, my_pmu_cpu_read(c, sample), 0);
	expect_sequence(test, test->param_value);
}

static struct kunit_case intel_cases[] = {
	KUNIT_CASE_PARAM(intel_ids, id_gen_params),
	KUNIT_CASE_PARAM(intel_config, config_gen_params),
	KUNIT_CASE_PARAM(intel_counts, counts_gen_params),
	KUNIT_CASE_PARAM(intel_up_sequence, up_gen_params),
	KUNIT_CASE_PARAM(intel_down_sequence, down_gen_params),
	KUNIT_CASE_PARAM(intel_read_sequence, read_gen_params),
	{}
};

static struct kunit_suite intel_suite = {
	.name = "my_pmu_intel",
	.exit = test_expect_good_manners,
	.test_cases = intel_cases,
};

kunit_test_suite(intel_suite);
