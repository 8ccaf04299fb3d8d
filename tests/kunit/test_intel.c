// SPDX-License-Identifier: GPL-2.0
/*
 * From an event to what the registers hold: the ids of counters, encodings,
 * each write and read, in order, and captures.  The values are written out from the
 * SDM.
 */
#include "test.h"

/* --- ids -------------------------------------------------------------------- */

#define NONE		0xffffffff

/**
 * struct id_row - a counter's id
 * @idx: the id
 * @kind: what it is called
 * @number: and its number
 * @rdpmc: its RDPMC index, or NONE: it has no field in IA32_FIXED_CTR_CTRL
 */
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
	{ 63, "fixed", 31, NONE },
};

static void id_desc(const struct id_row *row, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s%d", row->kind, row->number);
}

KUNIT_ARRAY_PARAM(id, id_rows, id_desc);

static void intel_ids(struct kunit *test)
{
	const struct id_row *row = test->param_value;
	struct my_event_set *set = test_set(test, PMU(V4), "cycles");
	const struct my_x86_pmu *pmu = &set->cpu->pmu;
	struct my_hw_perf_event hw = { .idx = row->idx };

	KUNIT_EXPECT_STREQ(test, my_pmc_kind(row->idx), row->kind);
	KUNIT_EXPECT_EQ(test, my_pmc_number(row->idx), row->number);
	KUNIT_EXPECT_EQ(test, my_pmc_is_fixed(row->idx),
			row->kind[0] == 'f');
	if (row->rdpmc == NONE)
		return;
	pmu->ops->encode(pmu, &set->event[0].attr, &hw);
	KUNIT_EXPECT_EQ(test, hw.event_base_rdpmc, row->rdpmc);
}

/* --- encodings --------------------------------------------------------------- */

/**
 * struct config_row - an event on a counter, and its registers
 * @event: as a user writes it, with its counter
 * @pmu: on this
 * @config: the event select, or the field in FIXED_CTR_CTRL
 * @config_base: in this MSR
 * @event_base: the counter's MSR
 * @rdpmc: its RDPMC index
 * @bits: its width
 * @occupancy: it may be that
 */
struct config_row {
	const char *event;
	const struct sim_pmu *pmu;
	u64 config;
	u32 config_base, event_base, rdpmc;
	unsigned int bits;
	bool occupancy;
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
	{ "r01c2:u@gp4", PMU(V4), 0x4101c2, 0x18a, 0x4c5, 4, 48, true },
	{ "rff01@gp5", PMU(V4), 0x43ff01, 0x18b, 0x4c6, 5, 48, true },
	{ "cpu/event=0xc4,edge/@gp0", PMU(V4), 0x4700c4, 0x186, 0x4c1, 0, 48 },
	{ "cpu/event=0xc4,inv/@gp0", PMU(V4), 0xc300c4, 0x186, 0x4c1, 0, 48 },
	{ "cpu/event=0xc4,cmask=0xa5/u@gp0", PMU(V4), 0xa54100c4, 0x186, 0x4c1, 0, 48 },
	{ "cpu/event=0xc4,umask=1,pc,edge,inv,cmask=255/k@gp0", PMU(V4),
	  0xffc601c4, 0x186, 0x4c1, 0, 48 },
	{ "rffdfffc4@gp0", PMU(V4), 0xffc7ffc4, 0x186, 0x4c1, 0, 48 },
	{ "cpu/instructions,cmask=1/@gp0", PMU(V4), 0x14300c0, 0x186, 0x4c1, 0, 48 },
	{ "cpu/event=0xa3,umask=0x14/k@gp6", PMU(V4), 0x4214a3, 0x18c, 0x4c7, 6, 48, true },
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
	{ "instructions@gp0", PMU(V6_HOLES), 0x4300c0, 0x1901, 0x1900, 0, 48 },
	{ "cycles:u@gp7", PMU(V6_HOLES), 0x41003c, 0x191d, 0x191c, 7, 48 },
	{ "instructions@fixed0", PMU(V6_HOLES), 0x003, 0x38d, 0x1980, 0x40000000, 48 },
	{ "ref-cycles@fixed2", PMU(V6_HOLES), 0x300, 0x38d, 0x1988, 0x40000002, 48 },
	{ "cpu/event=0xc0,umask=0x1234/@gp1", PMU(V6_HOLES), 0x1200004334c0, 0x1905, 0x1904, 1, 48,
	  true },
	{ "cpu/event=0xc4,eq,cmask=3/u@gp2", PMU(V6_HOLES), 0x10034100c4, 0x1909, 0x1908, 2, 48 },
	{ "r200000003c@gp0", PMU(V6_HOLES), 0x43003c, 0x1901, 0x1900, 0, 48 },
	{ "r73@fixed4", PMU(V6_HOLES), 0x30000, 0x38d, 0x1990, 0x40000004, 48 },
	{ "r19c:u@fixed5", PMU(V6_HOLES), 0x200000, 0x38d, 0x1994, 0x40000005, 48 },
	{ "r2c2:k@fixed6", PMU(V6_HOLES), 0x1000000, 0x38d, 0x1998, 0x40000006, 48 },
};

static void config_desc(const struct config_row *row, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s-%s", row->event,
		 row->pmu->name);
}

KUNIT_ARRAY_PARAM(config, config_rows, config_desc);

/* All of an event select; of IA32_FIXED_CTR_CTRL four bits. */
static u64 config_mask(const struct config_row *row)
{
	return row->config_base == 0x38d ? 0xfULL << (4 * (row->rdpmc & 0xff)) : ~0ULL;
}

static void intel_config(struct kunit *test)
{
	const struct config_row *row = test->param_value;
	struct my_event_set *set = test_set(test, row->pmu, row->event);
	const struct my_hw_perf_event *hw = &set->event[0].hw;

	KUNIT_EXPECT_EQ(test, hw->config, row->config);
	KUNIT_EXPECT_EQ(test, hw->config_mask, config_mask(row));
	KUNIT_EXPECT_EQ(test, hw->config_base, row->config_base);
	KUNIT_EXPECT_EQ(test, hw->event_base, row->event_base);
	KUNIT_EXPECT_EQ(test, hw->event_base_rdpmc, row->rdpmc);
	KUNIT_EXPECT_EQ(test, hw->cntval_bits, row->bits);
	KUNIT_EXPECT_EQ(test, hw->rate_log2, row->occupancy ? 30U : 26U);
}

/* --- which counter counts what ------------------------------------------------ */

/**
 * struct counters_row - an event, and the counters that count it
 * @config: the event, as perf's raw config
 * @counters: of V4's generic counters and 16 fixed ones those that count it
 */
struct counters_row {
	u32 config;
	u64 counters;
};

static const struct counters_row counters_rows[] = {
	{ 0x00c0, 0x1000000ff },
	{ 0x003c, 0x2000000ff },
	{ 0x0300, 0x400000000 },
	{ 0x0400, 0x800000000 },	/* slots: fixed3, which V4 lacks */
	{ 0x013c, 0x0000000ff },
	{ 0x00c4, 0x0000000ff },
	/* what is not architectural, or not by each CPU's EBX */
	{ 0x01c0, 0x000000002 },
	{ 0x0099, 0x00000000f },
	{ 0x00ff, 0x00000000f },
	{ 0x01a4, 0x00000000f },
	{ 0x04a4, 0x000000001 },
	{ 0x10a4, 0x000000008 },
	{ 0x20a4, 0x00000000f },
	{ 0x0248, 0x000000004 },
	{ 0x1048, 0x000000004 },
	{ 0x0073, 0x100000000f },
	{ 0x019c, 0x200000000f },
	{ 0x02c2, 0x400000000f },
	{ 0x00c5, 0x0000000ff },
	{ 0x0100, 0 },
	{ 0x0000, 0 },
	/* fixed counters count nothing but plain events: cmask, edge, inv, cmask */
	{ 0x010000c0, 0x0000000ff },
	{ 0x000400c0, 0x0000000ff },
	{ 0x0080003c, 0x0000000ff },
	{ 0xff000300, 0 },
};

static void counters_desc(const struct counters_row *row, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "r%04x", row->config);
}

KUNIT_ARRAY_PARAM(counters, counters_rows, counters_desc);

static void intel_counters(struct kunit *test)
{
	const struct counters_row *row = test->param_value;
	const struct my_perf_event_attr attr = { .config = row->config };
	const struct my_perf_event_attr amds = { .config = row->config | BIT_ULL(35) };
	struct my_event_set *set = test_set(test, PMU(V4), "cycles");
	struct my_x86_pmu pmu = set->cpu->pmu;
	const char *reason = NULL;
	u64 counters;

	KUNIT_ASSERT_EQ(test, pmu.counters, 0x7000000ffULL);
	counters = pmu.ops->counters_for(&pmu, &attr, NULL, &reason);
	KUNIT_EXPECT_EQ(test, counters, row->counters & pmu.counters);
	if (!counters)
		KUNIT_EXPECT_STREQ(test, reason, "has no counter that counts it");
	pmu.counters = 0xffff000000ff;
	counters = pmu.ops->counters_for(&pmu, &attr, NULL, &reason);
	KUNIT_EXPECT_EQ(test, counters, row->counters);
	KUNIT_EXPECT_EQ(test, pmu.ops->counters_for(&pmu, &amds, NULL, &reason), 0ULL);
	KUNIT_EXPECT_STREQ(test, reason, "has events of 8 bits; more are AMD's");
}

/* perf, which knows the model, is believed; and where an event can be programmed, too. */
static void intel_counters_by_perf(struct kunit *test)
{
	static const u64 modifiers[] = { BIT(18), BIT(23), BIT(24), BIT(31) };
	struct my_event_set *set = test_set(test, PMU(V4), "cycles");
	struct my_perf_event_attr attr = { .config = 0x01c0 };
	struct my_x86_pmu pmu = set->cpu->pmu;
	const char *reason;
	unsigned int i;
	u64 doubtful;

	KUNIT_EXPECT_EQ(test, pmu.ops->counters_for(&pmu, &attr, &doubtful, &reason), 0x2ULL);
	KUNIT_EXPECT_EQ(test, doubtful, 0xfdULL);
	attr.counters = 0x3c;
	KUNIT_EXPECT_EQ(test, pmu.ops->counters_for(&pmu, &attr, &doubtful, &reason), 0x3cULL);
	KUNIT_EXPECT_EQ(test, doubtful, 0xc3ULL);
	/* Only counters that there are. */
	attr.counters = 0x100;
	KUNIT_EXPECT_EQ(test, pmu.ops->counters_for(&pmu, &attr, &doubtful, &reason), 0ULL);
	KUNIT_EXPECT_EQ(test, doubtful, 0xffULL);
	KUNIT_EXPECT_STREQ(test, reason, "has no counter that counts it");
	/* What a fixed counter counts by its number, it counts whether perf knows it or not. */
	attr.config = 0x00c0;
	attr.counters = 0x7;
	KUNIT_EXPECT_EQ(test, pmu.ops->counters_for(&pmu, &attr, &doubtful, &reason),
			0x100000007ULL);
	KUNIT_EXPECT_EQ(test, doubtful, 0xf8ULL);
	/* What perf says of an event it does not say of those that are made of it. */
	attr.counters = 0x1000000ffULL;
	for (i = 0; i < ARRAY_SIZE(modifiers); i++) {
		attr.config = 0x00c0 | modifiers[i];
		KUNIT_EXPECT_EQ(test, pmu.ops->counters_for(&pmu, &attr, &doubtful, &reason),
				0xffULL);
		KUNIT_EXPECT_EQ(test, doubtful, 0ULL);
	}
	attr.config = 0x10001c0;
	attr.counters = 0x10000003cULL;
	KUNIT_EXPECT_EQ(test, pmu.ops->counters_for(&pmu, &attr, &doubtful, &reason), 0x3cULL);
	/* A fixed counter that counts more than others do; bus-cycles on Gracemont. */
	attr.config = 0x013c;
	attr.counters = BIT_ULL(34);
	KUNIT_EXPECT_EQ(test, pmu.ops->counters_for(&pmu, &attr, &doubtful, &reason),
			BIT_ULL(34));
	KUNIT_EXPECT_EQ(test, doubtful, 0xffULL);
	/* Where EBX has the later events of the architecture they are like the first. */
	attr = (struct my_perf_event_attr) { .config = 0x01a4 };
	pmu.arch_events_len = 13;
	pmu.arch_events = BIT(7);
	KUNIT_EXPECT_EQ(test, pmu.ops->counters_for(&pmu, &attr, &doubtful, &reason), 0xffULL);
	KUNIT_EXPECT_EQ(test, doubtful, 0ULL);
	attr.config = 0x02a4;
	KUNIT_EXPECT_EQ(test, pmu.ops->counters_for(&pmu, &attr, &doubtful, &reason), 0ULL);
	KUNIT_EXPECT_EQ(test, doubtful, 0ULL);
}

#define NO_UMASK2 \
	"does not have UMASK2 (CPUID.23H:EBX), bits 40 to 47 of an event select"
#define NO_EQ		"does not have EQ (CPUID.23H:EBX), bit 36 of an event select"

/* The bits of version 6: each where CPUID has it. */
static void intel_new_bits(struct kunit *test)
{
	static const struct {
		u64 config;
		u32 needs;
		u64 counters;
	} rows[] = {
		{ 0x0100000000c0, 1, 0x7 },	/* no event of the architecture */
		{ 0x80000000003c, 1, 0x7 },
		{ 0x010000000300, 1, 0 },
		{ 0x0100000001c0, 1, 0x2 },	/* as perf has it, which looks at 16 bits */
		{ 0x0010000000c0, 2, 0xb7 },	/* nothing for a fixed counter */
		{ 0x0010000000ff, 2, 0x7 },
		{ 0x01100000003c, 3, 0x7 },
		{ 0xff10000000c0, 3, 0x7 },
		{ 0x0000000000c0, 0, 0x1000000b7 },
	};
	struct sim_pmu has = *PMU(V6_HOLES);
	u64 counters, doubtful;
	const char *reason;
	unsigned int i;

	for (has.lacks = 0; has.lacks < 4; has.lacks++) {
		struct my_event_set *set = test_set(test, &has, "cycles");
		const struct my_x86_pmu *pmu = &set->cpu->pmu;

		for (i = 0; i < ARRAY_SIZE(rows); i++) {
			struct my_perf_event_attr attr = { .config = rows[i].config };
			u32 lacks = rows[i].needs & has.lacks;

			counters = pmu->ops->counters_for(pmu, &attr, &doubtful, &reason);
			KUNIT_EXPECT_EQ_MSG(test, counters, lacks ? 0ULL : rows[i].counters,
					    "%llx without %u", rows[i].config, has.lacks);
			if (!lacks)
				continue;
			KUNIT_EXPECT_EQ(test, doubtful, 0ULL);
			KUNIT_EXPECT_STREQ(test, reason, lacks & 1 ? NO_UMASK2 : NO_EQ);
		}
	}
	/* Whatever perf says: Linux 6.12 takes these for what fixed0 counts. */
	for (i = 0; i < 2; i++) {
		struct my_perf_event_attr attr = {
			.config = 0xc0 | (i ? BIT_ULL(36) : BIT_ULL(40)),
			.counters = 0x1000000b7,
		};
		struct my_x86_pmu pmu = test_set(test, PMU(V6_HOLES), "cycles")->cpu->pmu;

		KUNIT_EXPECT_EQ(test, pmu.ops->counters_for(&pmu, &attr, NULL, &reason),
				0xb7ULL);
	}
}

/* What is accepted can be programmed; what is not would fault. */
static void intel_new_bits_programmed(struct kunit *test)
{
	static const char * const events[] = {
		"cpu/event=0xc0,umask=0xff00/@gp0", "cpu/event=0xc0,eq,cmask=1/@gp0",
	};
	struct sim_pmu has = *PMU(V6_HOLES);
	struct my_perf_event_attr attr;
	struct my_event_set *set;
	struct my_pmu_why why;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(events); i++) {
		has.lacks = 2 >> i;
		set = test_set(test, &has, events[i]);
		test_up(test, set);
		KUNIT_EXPECT_EQ(test, sim_cpu(TEST_CPU)->regs.evtsel[0], set->event[0].hw.config);
		KUNIT_EXPECT_EQ(test, my_event_set_down(set), 0);
		has.lacks = 1 << i;
		set = test_set(test, &has, "cycles");
		KUNIT_ASSERT_EQ(test, my_parse_events(events[i], &attr, 1, &why), 1);
		KUNIT_EXPECT_EQ(test, test_assign(set, &attr, 1, &why), -EOPNOTSUPP);
	}
}

/* --- errata ----------------------------------------------------------------------- */

struct errata_row {
	u8 model, threads;
	bool centaur;
	int err;
	u32 flags;
	u8 family;
};

static const struct errata_row errata_rows[] = {
	{ 26, 1, false, -ENODEV }, { 30, 2, false, -ENODEV }, { 46, 2, false, -ENODEV },
	{ 37, 2, false, -ENODEV }, { 44, 2, false, -ENODEV }, { 47, 2, false, -ENODEV },
	{ 26, 1, true, 0, 2 },
	{ 42, 2, false, 0, 4 }, { 45, 2, false, 0, 4 }, { 58, 2, false, 0, 4 },
	{ 62, 2, false, 0, 4 }, { 60, 2, false, 0, 4 }, { 63, 2, false, 0, 4 },
	{ 69, 2, false, 0, 4 }, { 70, 2, false, 0, 4 },
	{ 42, 1, false, 0, 0 }, { 42, 2, true, 0, 2 },
	{ 61, 2, false, 0, 0 }, { 94, 2, false, 0, 0 }, { 10, 2, false, 0, 0 },
	{ 26, 2, false, 0, 0, 15 }, { 42, 2, false, 0, 0, 15 },
};

static void errata_desc(const struct errata_row *row, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%u-model-%u-threads-%u%s",
		 row->family, row->model, row->threads, row->centaur ? "-not-Intel" : "");
}

KUNIT_ARRAY_PARAM(errata, errata_rows, errata_desc);

/* Models that count wrong; and events that make siblings count wrong. */
static void intel_errata_of(struct kunit *test)
{
	const struct errata_row *row = test->param_value;
	struct my_pmu_cpu *cpu = test_fresh_cpu();
	struct my_perf_event_attr attr = {};
	struct sim_pmu pmu = *PMU(V2_40);
	struct my_pmu_why why;
	const char *reason;
	unsigned int code;

	pmu.family = row->family;
	pmu.model = row->model;
	pmu.threads = row->threads;
	pmu.ack_running = row->centaur;
	sim_reset(TEST_CPU, &pmu);
	KUNIT_ASSERT_EQ(test, my_pmu_probe(cpu, NULL, &why), row->err);
	if (row->err) {
		char text[200];

		snprintf(text, sizeof(text),
			 "no PMU that can be used: counters of this model (%u) count wrong without a workaround that only perf has (errata AAK100, AAP53, BD53)",
			 row->model);
		KUNIT_EXPECT_STREQ(test, why.text, text);
		return;
	}
	KUNIT_EXPECT_EQ(test, cpu->pmu.flags, row->flags);
	for (code = 0xcf; code <= 0xd4; code++) {
		bool bad = row->flags & 4 && code >= 0xd0 && code <= 0xd3;

		attr.config = code | 0x100;
		KUNIT_EXPECT_EQ(test, cpu->pmu.ops->counters_for(&cpu->pmu, &attr, NULL, &reason),
				bad ? 0ULL : 0xfULL);
		if (bad)
			KUNIT_EXPECT_STREQ(test, reason,
					   "has the erratum BJ122 (BV98, HSD29): it spoils the sibling's counts");
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
 * @run_on: they are not stopped while they are read
 */
struct sequence_row {
	const char *name;
	const struct sim_pmu *pmu;
	const char *counters;
	struct sequence_part part[PARTS];
	bool run_on;
};

static const struct sequence_row up_rows[] = {
	/*
	 * Which counters are in use.  Of instructions, then of cycles, four
	 * times: programmed, verified, stopped, written, read back; programmed,
	 * read, stopped.  Then what is to be counted.
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
		{ 4, 11, {
			{ SIM_WRMSR, 0x187, 0x4200c0 },
			{ SIM_RDPMC, 1 },
			{ SIM_RDMSR, 0x187 },
			{ SIM_WRMSR, 0x187, 0 },
			{ SIM_WRMSR, 0x0c2, 0xffffffffc0 },
			{ SIM_RDPMC, 1 },
			{ SIM_RDMSR, 0x187 },
			{ SIM_WRMSR, 0x187, 0x4200c0 },
			{ SIM_RDPMC, 1 },
			{ SIM_RDMSR, 0x187 },
			{ SIM_WRMSR, 0x187, 0 },
		} },
		{ 1, 6, {
			{ SIM_WRMSR, 0x187, 0 },
			{ SIM_WRMSR, 0x187, 0x110051 },
			{ SIM_RDMSR, 0x187 },
			{ SIM_RDMSR, 0x0c2 },
			{ SIM_WRMSR, 0x187, 0x42003c },
			{ SIM_RDPMC, 1 },
		} },
		{ 4, 11, {
			{ SIM_WRMSR, 0x187, 0x42003c },
			{ SIM_RDPMC, 1 },
			{ SIM_RDMSR, 0x187 },
			{ SIM_WRMSR, 0x187, 0 },
			{ SIM_WRMSR, 0x0c2, 0xffffffffc0 },
			{ SIM_RDPMC, 1 },
			{ SIM_RDMSR, 0x187 },
			{ SIM_WRMSR, 0x187, 0x42003c },
			{ SIM_RDPMC, 1 },
			{ SIM_RDMSR, 0x187 },
			{ SIM_WRMSR, 0x187, 0 },
		} },
		/* What the self-test has left in the counter can be written. */
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
	 * Which counters are in use; save, stop ours.  Of each, four times:
	 * programmed, verified, stopped, written, read back; programmed,
	 * started, stopped with a look at its overflow, read, no event any more.
	 * Both are programmed; four times read, started, stopped, read; and put back.
	 * Restore, and acknowledge; save, stop ours, program each, start ours.
	 */
	{ "v4-generic-and-fixed", PMU(V4), "r01c2:u@gp2,cycles@fixed1", {
		{ 1, 9, {
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
		{ 4, 15, {
			{ SIM_WRMSR, 0x188, 0x4200c0 },
			{ SIM_RDPMC, 2 },
			{ SIM_RDMSR, 0x188 },
			{ SIM_WRMSR, 0x188, 0 },
			{ SIM_WRMSR, 0x4c3, 0xffffffffffc0 },
			{ SIM_RDPMC, 2 },
			{ SIM_RDMSR, 0x188 },
			{ SIM_WRMSR, 0x188, 0x4200c0 },
			{ SIM_WRMSR, 0x38f, 0x5000000fe },
			{ SIM_RDMSR, 0x38f },
			{ SIM_WRMSR, 0x38f, 0x5000000fa },
			{ SIM_RDMSR, 0x38e },
			{ SIM_RDPMC, 2 },
			{ SIM_RDMSR, 0x188 },
			{ SIM_WRMSR, 0x188, 0 },
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
		{ 4, 15, {
			{ SIM_WRMSR, 0x188, 0x42003c },
			{ SIM_RDPMC, 2 },
			{ SIM_RDMSR, 0x188 },
			{ SIM_WRMSR, 0x188, 0 },
			{ SIM_WRMSR, 0x4c3, 0xffffffffffc0 },
			{ SIM_RDPMC, 2 },
			{ SIM_RDMSR, 0x188 },
			{ SIM_WRMSR, 0x188, 0x42003c },
			{ SIM_WRMSR, 0x38f, 0x5000000fe },
			{ SIM_RDMSR, 0x38f },
			{ SIM_WRMSR, 0x38f, 0x5000000fa },
			{ SIM_RDMSR, 0x38e },
			{ SIM_RDPMC, 2 },
			{ SIM_RDMSR, 0x188 },
			{ SIM_WRMSR, 0x188, 0 },
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
		{ 4, 19, {
			{ SIM_RDMSR, 0x38d },
			{ SIM_WRMSR, 0x38d, 0x018 },
			{ SIM_RDPMC, 0x40000001 },
			{ SIM_RDMSR, 0x38d },
			{ SIM_RDMSR, 0x38d },
			{ SIM_WRMSR, 0x38d, 0x008 },
			{ SIM_WRMSR, 0x30a, 0xffffffffffc0 },
			{ SIM_RDPMC, 0x40000001 },
			{ SIM_RDMSR, 0x38d },
			{ SIM_RDMSR, 0x38d },
			{ SIM_WRMSR, 0x38d, 0x018 },
			{ SIM_WRMSR, 0x38f, 0x7000000fa },
			{ SIM_RDMSR, 0x38f },
			{ SIM_WRMSR, 0x38f, 0x5000000fa },
			{ SIM_RDMSR, 0x38e },
			{ SIM_RDPMC, 0x40000001 },
			{ SIM_RDMSR, 0x38d },
			{ SIM_RDMSR, 0x38d },
			{ SIM_WRMSR, 0x38d, 0x008 },
		} },
		{ 1, 14, {
			{ SIM_RDMSR, 0x38d },
			{ SIM_WRMSR, 0x38d, 0x008 },
			{ SIM_WRMSR, 0x30a, 0x468acf13579a },
			{ SIM_RDMSR, 0x38d },
			{ SIM_WRMSR, 0x38d, 0x008 },
			{ SIM_RDMSR, 0x188 },
			{ SIM_RDMSR, 0x4c3 },
			{ SIM_WRMSR, 0x188, 0x4200c0 },
			{ SIM_RDPMC, 2 },
			{ SIM_RDMSR, 0x38d },
			{ SIM_RDMSR, 0x30a },
			{ SIM_RDMSR, 0x38d },
			{ SIM_WRMSR, 0x38d, 0x018 },
			{ SIM_RDPMC, 0x40000001 },
		} },
		{ 4, 12, {
			{ SIM_RDPMC, 2 },
			{ SIM_RDMSR, 0x188 },
			{ SIM_RDPMC, 0x40000001 },
			{ SIM_RDMSR, 0x38d },
			{ SIM_WRMSR, 0x38f, 0x7000000fe },
			{ SIM_RDMSR, 0x38f },
			{ SIM_WRMSR, 0x38f, 0x5000000fa },
			{ SIM_RDMSR, 0x38e },
			{ SIM_RDPMC, 2 },
			{ SIM_RDMSR, 0x188 },
			{ SIM_RDPMC, 0x40000001 },
			{ SIM_RDMSR, 0x38d },
		} },
		{ 1, 12, {
			{ SIM_RDMSR, 0x38d },
			{ SIM_WRMSR, 0x38d, 0x008 },
			{ SIM_WRMSR, 0x30a, 0x468acf13579a },
			{ SIM_RDMSR, 0x38d },
			{ SIM_WRMSR, 0x38d, 0x008 },
			{ SIM_WRMSR, 0x188, 0 },
			{ SIM_WRMSR, 0x4c3, 0x369d0369d034 },
			{ SIM_WRMSR, 0x188, 0x110052 },
			{ SIM_RDMSR, 0x38f },
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

/*
 * Stop, read once more; no event, the old count, the old control; in reverse.  Of
 * GLOBAL_CTRL what others have there now is kept.
 */
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
	{ "v4-generic-and-fixed", PMU(V4), "r01c2:u@gp2,cycles@fixed1", { { 1, 18, {
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
		{ SIM_RDMSR, 0x38f },
		{ SIM_WRMSR, 0x38f, 0x7000000fe },
		{ SIM_RDMSR, 0x38e },
	} } } },
	/* GLOBAL_CTRL had not let it run: it is as it was already. */
	{ "v4-was-stopped", PMU(V4), "instructions@gp0", { { 1, 10, {
		{ SIM_RDMSR, 0x38f },
		{ SIM_WRMSR, 0x38f, 0x7000000fe },
		{ SIM_RDMSR, 0x38e },
		{ SIM_RDPMC, 0 },
		{ SIM_RDMSR, 0x186 },
		{ SIM_WRMSR, 0x186, 0 },
		{ SIM_WRMSR, 0x4c1, 0x1234567 },
		{ SIM_WRMSR, 0x186, 0x110050 },
		{ SIM_RDMSR, 0x38f },
		{ SIM_RDMSR, 0x38e },
	} } } },
};

/*
 * One write before, one after: all stand still in between, unless they are not to be.
 * Of each the counter, and whether its control is still ours; fixed ones have one
 * together.
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
	{ "v4-run-on", PMU(V4), "r01c2:u@gp2,cycles@fixed1", { { 1, 6, {
		{ SIM_RDMSR, 0x38f },
		{ SIM_RDPMC, 2 },
		{ SIM_RDMSR, 0x188 },
		{ SIM_RDPMC, 0x40000001 },
		{ SIM_RDMSR, 0x38d },
		{ SIM_RDMSR, 0x38e },
	} } }, .run_on = true },
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

static struct my_event_set *begin(struct kunit *test)
{
	const struct sequence_row *row = test->param_value;
	struct my_event_set *set = test_set(test, row->pmu, row->counters);

	set->freeze = !row->run_on;
	test_leave_traces(sim_cpu(TEST_CPU));
	sim_clear_log(sim_cpu(TEST_CPU));
	return set;
}

static void intel_up_sequence(struct kunit *test)
{
	struct my_event_set *set = begin(test);

	test_up(test, set);
	expect_sequence(test, test->param_value);
}

static void intel_down_sequence(struct kunit *test)
{
	struct my_event_set *set = begin(test);

	test_up(test, set);
	sim_clear_log(sim_cpu(TEST_CPU));
	KUNIT_ASSERT_EQ(test, my_event_set_down(set), 0);
	expect_sequence(test, test->param_value);
}

static void intel_read_sequence(struct kunit *test)
{
	struct my_pmu_sample *sample = test_sample(test);
	struct my_event_set *set = begin(test);

	test_up(test, set);
	sim_clear_log(sim_cpu(TEST_CPU));
	KUNIT_ASSERT_EQ(test, my_event_set_read(set, sample), 0);
	expect_sequence(test, test->param_value);
}

/* --- stops that fail ------------------------------------------------------------ */

/**
 * struct stop_test - two users of a CPU, and a fault when one of them stops its counters
 * @cpu: the CPU
 * @nth: the access of that stop which faults
 * @ours: the counters that it stops
 * @theirs: those of the other one, which was there later
 * @stop_err: what the stop returns
 * @err: what all others return
 * @running: GLOBAL_CTRL while both count
 * @started: after what was to be stopped was started again
 * @restored: after it was restored
 * @kept: the same, where only the stop failed, and what a third user has set since
 */
struct stop_test {
	struct my_pmu_cpu *cpu;
	unsigned int nth;
	u64 ours, theirs;
	int stop_err, err;
	u64 running, started, restored, kept;
};

static int save(struct my_pmu_cpu *cpu, u64 counters)
{
	return cpu->pmu.ops->save(&cpu->pmu, &cpu->state, counters);
}

static int stop(struct my_pmu_cpu *cpu, u64 counters)
{
	struct my_pmu_stopped stopped;

	return cpu->pmu.ops->stop(&cpu->pmu, &cpu->state, counters, &stopped);
}

static int start(struct my_pmu_cpu *cpu, u64 counters)
{
	return cpu->pmu.ops->start(&cpu->pmu, &cpu->state, counters, 0);
}

static int restore(struct my_pmu_cpu *cpu, u64 counters)
{
	return cpu->pmu.ops->restore(&cpu->pmu, &cpu->state, counters);
}

/* What an event set does with its counters when its first event starts. */
static int save_and_start(struct my_pmu_cpu *cpu, u64 counters)
{
	return save(cpu, counters) ?: stop(cpu, counters) ?: start(cpu, counters);
}

static void stop_and_fail(void *data)
{
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct stop_test *t = data;

	t->err = save_and_start(t->cpu, t->ours) ?: save_and_start(t->cpu, t->theirs);
	t->running = sim->regs.global_ctrl;
	sim->fail_nth = t->nth;
	t->stop_err = stop(t->cpu, t->ours);
	t->err = t->err ?: start(t->cpu, t->ours);
	t->started = sim->regs.global_ctrl;
	sim->fail_nth = t->nth;
	stop(t->cpu, t->ours);
	/* Neither can what was in GLOBAL_CTRL be read now. */
	sim->fail_nth = 1;
	restore(t->cpu, t->ours);
	t->restored = sim->regs.global_ctrl;
	sim->regs.global_ctrl |= BIT_ULL(3);
	sim->fail_nth = t->nth;
	stop(t->cpu, t->ours);
	t->err = t->err ?: restore(t->cpu, t->ours);
	t->kept = sim->regs.global_ctrl;
}

/* Whichever access faults, counters of others count on. */
static void intel_stop_fails(struct kunit *test)
{
	struct stop_test t = { .ours = 0x100000001, .theirs = 0x200000004 };
	struct sim_cpu *sim = sim_cpu(TEST_CPU);

	for (t.nth = 1; t.nth <= 3; t.nth++) {
		t.cpu = test_set(test, PMU(V4), "cycles")->cpu;
		sim->regs.global_ctrl = 0x4000000f2;
		KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, stop_and_fail, &t));
		KUNIT_ASSERT_EQ(test, t.err, 0);
		KUNIT_EXPECT_EQ_MSG(test, t.stop_err, -EIO, "access %u", t.nth);
		KUNIT_EXPECT_EQ_MSG(test, t.running, 0x7000000f7ULL, "access %u", t.nth);
		KUNIT_EXPECT_EQ_MSG(test, t.started, 0x7000000f7ULL, "access %u", t.nth);
		KUNIT_EXPECT_EQ_MSG(test, t.restored, 0x6000000f6ULL, "access %u", t.nth);
		KUNIT_EXPECT_EQ_MSG(test, t.kept, 0x6000000feULL, "access %u", t.nth);
	}
}

/*
 * The bit that others had set in GLOBAL_CTRL is there again after the restore, and stays
 * when the next stop cannot read the register.
 */
static void restore_and_fail(void *data)
{
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct stop_test *t = data;

	t->err = save_and_start(t->cpu, t->ours) ?: save_and_start(t->cpu, t->theirs) ?:
		 stop(t->cpu, t->ours) ?: restore(t->cpu, t->ours);
	t->restored = sim->regs.global_ctrl;
	sim->fail_nth = 1;
	t->stop_err = stop(t->cpu, t->theirs);
	t->err = t->err ?: start(t->cpu, t->theirs);
	t->started = sim->regs.global_ctrl;
}

static void intel_stop_fails_after_restore(struct kunit *test)
{
	struct stop_test t = { .ours = 0x100000001, .theirs = 0x200000004 };

	t.cpu = test_set(test, PMU(V4), "cycles")->cpu;
	sim_cpu(TEST_CPU)->regs.global_ctrl = 0x4000000f3;
	KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, restore_and_fail, &t));
	KUNIT_ASSERT_EQ(test, t.err, 0);
	KUNIT_EXPECT_EQ(test, t.stop_err, -EIO);
	KUNIT_EXPECT_EQ(test, t.restored, 0x6000000f7ULL);
	KUNIT_EXPECT_EQ(test, t.started, 0x6000000f7ULL);
}

/*
 * A counter wraps before other counters are saved: it is its own overflow all the same.
 * Once it is restored an overflow is that of another user.
 */
static void wrap_and_save(void *data)
{
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct stop_test *t = data;

	t->err = save_and_start(t->cpu, t->ours);
	sim->regs.global_status |= t->ours;
	t->err = t->err ?: save(t->cpu, t->theirs) ?: restore(t->cpu, t->ours);
	t->restored = sim->regs.global_status;
	t->err = t->err ?: save(t->cpu, ~0ULL);
	sim->regs.global_status |= t->ours;
	t->err = t->err ?: restore(t->cpu, ~0ULL);
	t->kept = sim->regs.global_status;
}

static void intel_saves_status(struct kunit *test)
{
	struct stop_test t = { .ours = 0x100000001, .theirs = 0x200000004 };
	struct sim_cpu *sim = sim_cpu(TEST_CPU);

	t.cpu = test_set(test, PMU(V4), "cycles")->cpu;
	sim->regs.global_status = t.theirs;
	KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, wrap_and_save, &t));
	KUNIT_EXPECT_EQ(test, t.err, 0);
	KUNIT_EXPECT_EQ(test, t.restored, t.theirs);
	KUNIT_EXPECT_EQ(test, t.kept, t.theirs | t.ours);
}

/* --- captures ------------------------------------------------------------------ */

/* As many counters as there can be: each shared register has some in both halves. */
static const struct sim_pmu most_counters = {
	.name = "v5-gp18-fixed16-64-full", .ebx_length = 7,
	.version = 5, .gp = 18, .width = 64,
	.fixed = 16, .fixed_width = 64, .pdcm = true, .full_width = true };

#define ALL_COUNTERS	0xffff0003ffffULL

/**
 * struct capture_row - what is captured
 * @name: the case
 * @counters: of these
 * @quiet: bits that must not be in the overflow status
 * @freeze: they are stopped while they are read
 */
struct capture_row {
	const char *name;
	u64 counters;
	u64 quiet;
	bool freeze;
};

static const struct capture_row capture_rows[] = {
	{ "all-frozen", ALL_COUNTERS, ALL_COUNTERS, true },
	{ "all-run-on", ALL_COUNTERS, ALL_COUNTERS, false },
	{ "some-frozen", 0x800200020004, 0x800000000004, true },
	{ "some-run-on", 0x800200020004, 0x000200020000, false },
	{ "generic", 0x00000002a015, 0x00000002a015, true },
	{ "fixed", 0x408200000000, 0, true },
	{ "one-generic", 0x000000000001, 0, true },
	{ "one-fixed", 0x000100000000, 0x000100000000, false },
};

static void capture_desc(const struct capture_row *row, char *desc)
{
	strscpy(desc, row->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(capture, capture_rows, capture_desc);

/**
 * struct capture_test - counters that are captured
 * @row: the case
 * @cpu: theirs
 * @hw: what they count
 * @on: of the same the addresses, for the back end
 * @nr: how many
 * @plan: how they are captured
 * @capture: what is captured
 * @err: what the back end returns
 */
struct capture_test {
	const struct capture_row *row;
	struct my_pmu_cpu *cpu;
	struct my_hw_perf_event hw[MY_PMC_MAX];
	const struct my_hw_perf_event *on[MY_PMC_MAX];
	unsigned int nr;
	struct my_pmu_plan plan;
	struct my_pmu_capture capture;
	int err;
};

/* Instructions or cycles, each with a cmask of its own. */
static void encode_counters(struct capture_test *t)
{
	const struct my_x86_pmu *pmu = &t->cpu->pmu;
	u64 left;

	for (left = t->row->counters; left; left &= left - 1) {
		struct my_hw_perf_event *hw = &t->hw[t->nr];
		u64 cmask = (u64)(t->nr + 1) << 24;
		const struct my_perf_event_attr attr = {
			.config = cmask | (t->nr % 2 ? 0x3c : 0xc0),
			.exclude_user = t->nr % 3 == 0,
		};

		hw->idx = __ffs64(left);
		pmu->ops->encode(pmu, &attr, hw);
		t->on[t->nr++] = hw;
	}
}

static void start_counters(void *data)
{
	struct capture_test *t = data;
	const struct my_x86_pmu *pmu = &t->cpu->pmu;
	struct my_pmu_state *state = &t->cpu->state;
	u64 counters = t->row->counters;
	struct my_pmu_stopped stopped;
	unsigned int i;

	t->err = pmu->ops->save(pmu, state, counters) ?:
		 pmu->ops->stop(pmu, state, counters, &stopped);
	for (i = 0; i < t->nr && !t->err; i++)
		t->err = pmu->ops->enable(pmu, state, &t->hw[i]);
	if (!t->err)
		t->err = pmu->ops->start(pmu, state, counters, 0);
}

/* Each of these counters counts; its value has bits in both halves, and is its own. */
static struct capture_test *begin_capture(struct kunit *test)
{
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct capture_test *t;
	unsigned int i;

	t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, t);
	t->row = test->param_value;
	t->cpu = test_set(test, &most_counters, "cycles")->cpu;
	KUNIT_ASSERT_EQ(test, t->cpu->pmu.counters, ALL_COUNTERS);
	test_leave_traces(sim);
	sim->regs.global_status = 0;
	for (i = 0; i < SIM_GENERIC; i++)
		sim->regs.pmc[i] = 0xfedcba9876540000 | (i + 1) << 8 | (u64)i << 40;
	for (i = 0; i < SIM_FIXED; i++)
		sim->regs.fixed[i] = 0x89abcdef01230000 | (i + 1) << 8 | (u64)i << 40;
	encode_counters(t);
	KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, start_counters, t));
	KUNIT_ASSERT_EQ(test, t->err, 0);
	KUNIT_ASSERT_TRUE(test, t->cpu->pmu.ops->plan(&t->cpu->pmu, &t->cpu->state,
						      t->on, t->nr, t->row->quiet,
						      t->row->freeze, &t->plan));
	return t;
}

#define UNTOUCHED	0x5a5a5a5a5a5a5a5aULL

static void capture_on_cpu(void *data)
{
	struct capture_test *t = data;

	memset(&t->capture, 0x5a, sizeof(t->capture));
	t->err = t->cpu->pmu.ops->capture(&t->plan, &t->capture);
}

static int capture(struct kunit *test, struct capture_test *t)
{
	sim_clear_log(sim_cpu(TEST_CPU));
	t->err = -ENXIO;
	KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, capture_on_cpu, t));
	return t->err;
}

static u64 counter_value(const struct sim_registers *regs, int idx)
{
	return idx < 32 ? regs->pmc[idx] : regs->fixed[idx - 32];
}

/* Each counter at one place, in both halves; nothing is written at other places. */
static void intel_capture_values(struct kunit *test)
{
	struct capture_test *t = begin_capture(test);
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct sim_registers before = sim->regs;
	unsigned int place;
	u64 seen = 0;

	KUNIT_ASSERT_EQ(test, capture(test, t), 0);
	KUNIT_EXPECT_EQ(test, memcmp(&before, &sim->regs, sizeof(before)), 0);
	KUNIT_ASSERT_LE(test, t->plan.end, (unsigned int)MY_CAPTURE_MAX);
	KUNIT_ASSERT_EQ(test, t->plan.end - t->plan.first, t->nr);
	for (place = 0; place < MY_CAPTURE_MAX; place++) {
		u64 value = t->capture.value[place];
		int idx;

		if (place < t->plan.first || place >= t->plan.end) {
			KUNIT_EXPECT_EQ_MSG(test, value, UNTOUCHED, "place %u", place);
			continue;
		}
		KUNIT_ASSERT_LT(test, (unsigned int)t->plan.event[place], t->nr);
		idx = t->hw[t->plan.event[place]].idx;
		seen |= BIT_ULL(idx);
		KUNIT_EXPECT_EQ_MSG(test, value, counter_value(&before, idx),
				    "counter id %d", idx);
	}
	KUNIT_EXPECT_EQ(test, seen, t->row->counters);
	KUNIT_EXPECT_EQ(test, t->capture.seq, UNTOUCHED);
}

/* The log's number of the access that reads a counter. */
static unsigned int access_of(const struct sim_cpu *sim, u32 rdpmc)
{
	unsigned int i;

	for (i = 0; i < sim->accesses; i++) {
		if (sim->log[i].op == SIM_RDPMC && sim->log[i].reg == rdpmc)
			break;
	}
	return i;
}

/*
 * Frozen all show the moment of the write that stops them, and go on from there;
 * otherwise each shows when it was read.  The time is that of the first one.
 */
static void intel_capture_moment(struct kunit *test)
{
	struct capture_test *t = begin_capture(test);
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct sim_registers before = sim->regs;
	unsigned int place, stop = t->row->freeze ? 1 : 0;

	sim->insns_per_access = 7;
	KUNIT_ASSERT_EQ(test, capture(test, t), 0);
	for (place = t->plan.first; place < t->plan.end; place++) {
		const struct my_hw_perf_event *hw = &t->hw[t->plan.event[place]];
		unsigned int access = access_of(sim, hw->event_base_rdpmc);
		/* What fixed2, fixed3 and those from fixed7 on count, an access does not do. */
		u64 grown = 0x73ffffffffULL & BIT_ULL(hw->idx) ? 7 : 0;

		grown *= (t->row->freeze ? stop : access) + 1;
		KUNIT_EXPECT_EQ_MSG(test, t->capture.value[place],
				    counter_value(&before, hw->idx) + grown,
				    "counter id %d", hw->idx);
		if (t->row->freeze)
			KUNIT_EXPECT_EQ_MSG(test, t->capture.value[place],
					    counter_value(&sim->regs, hw->idx),
					    "counter id %d", hw->idx);
		KUNIT_EXPECT_LT(test, t->capture.ticks, sim->log[access].time);
	}
	KUNIT_EXPECT_GT(test, t->capture.ticks, sim->log[stop].time);
}

/* Each bit of a register is changed in turn: of @bits alone that is noticed. */
static void expect_noticed(struct kunit *test, struct capture_test *t, u64 *reg,
			   u64 bits, const char *name)
{
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct sim_registers before;
	unsigned int i;

	for (i = 0; i < 64; i++) {
		*reg ^= BIT_ULL(i);
		before = sim->regs;
		KUNIT_EXPECT_EQ_MSG(test, capture(test, t), bits & BIT_ULL(i) ? 1 : 0,
				    "%s, bit %u", name, i);
		/* As it was found the counters run on. */
		KUNIT_EXPECT_EQ_MSG(test, memcmp(&before, &sim->regs, sizeof(before)), 0,
				    "%s, bit %u", name, i);
		/* Nothing is written, nor read any more. */
		if (reg == &sim->regs.global_ctrl)
			KUNIT_EXPECT_EQ(test, sim->accesses, 1U);
		*reg ^= BIT_ULL(i);
	}
}

static void intel_capture_differs(struct kunit *test)
{
	struct capture_test *t = begin_capture(test);
	struct sim_registers *regs = &sim_cpu(TEST_CPU)->regs;
	u64 counters = t->row->counters, fields = 0;
	char name[16];
	unsigned int i;

	expect_noticed(test, t, &regs->global_ctrl, ~0ULL, "GLOBAL_CTRL");
	for (i = 0; i < SIM_GENERIC; i++) {
		snprintf(name, sizeof(name), "PERFEVTSEL%u", i);
		expect_noticed(test, t, &regs->evtsel[i],
			       counters & BIT_ULL(i) ? ~0ULL : 0, name);
	}
	for (i = 0; i < SIM_FIXED; i++)
		fields |= counters & BIT_ULL(32 + i) ? 0xfULL << (4 * i) : 0;
	expect_noticed(test, t, &regs->fixed_ctr_ctrl, fields, "FIXED_CTR_CTRL");
	/* CTR_FRZ: an interrupt of somebody else's counter has stopped all of them. */
	expect_noticed(test, t, &regs->global_status, t->row->quiet | BIT_ULL(59),
		       "GLOBAL_STATUS");
	KUNIT_EXPECT_EQ(test, capture(test, t), 0);
}

/*
 * Each access faults in turn, alone or with all that follow it: then nothing has
 * changed, except that the counters stay stopped if it is the write which should
 * start them.
 */
static void expect_fault(struct kunit *test, struct capture_test *t, unsigned int nth,
			 unsigned int last, bool all_after)
{
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct sim_registers before = sim->regs, wanted = before;

	if (t->row->freeze && (nth == last || (all_after && nth > 2)))
		wanted.global_ctrl &= ~t->row->counters;
	sim->fail_nth = nth;
	sim->fail_all_after = all_after;
	KUNIT_EXPECT_EQ_MSG(test, capture(test, t), -EIO, "access %u", nth);
	sim->fail_nth = 0;
	KUNIT_EXPECT_EQ_MSG(test, memcmp(&wanted, &sim->regs, sizeof(wanted)), 0,
			    "access %u", nth);
	/* Behind it nothing is done any more, except that they are started. */
	KUNIT_EXPECT_EQ_MSG(test, sim->accesses,
			    nth + (t->row->freeze && nth > 2 && nth < last), "access %u",
			    nth);
	KUNIT_EXPECT_TRUE(test, sim->log[nth - 1].faulted);
	sim->regs = before;
}

static void intel_capture_faults(struct kunit *test)
{
	struct capture_test *t = begin_capture(test);
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	unsigned int nth, last;

	KUNIT_ASSERT_EQ(test, capture(test, t), 0);
	last = sim->accesses;
	/* Two each of generic counters, one each of fixed ones, what they share. */
	KUNIT_EXPECT_EQ(test, last, 2 + 2 * t->row->freeze +
				    2 * hweight32(t->row->counters) +
				    hweight32(t->row->counters >> 32) +
				    !!(t->row->counters >> 32));
	for (nth = 1; nth <= last; nth++) {
		expect_fault(test, t, nth, last, false);
		expect_fault(test, t, nth, last, true);
	}
	KUNIT_EXPECT_EQ(test, capture(test, t), 0);
}

/* Version 1 has nothing that would tell whether a counter was stopped. */
static void intel_capture_v1(struct kunit *test)
{
	struct my_event_set *set = test_set(test, PMU(V1_40), "cycles");
	const struct my_hw_perf_event *hw = &set->event[0].hw;
	struct my_pmu_plan *plan;

	plan = kunit_kzalloc(test, sizeof(*plan), GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, plan);
	KUNIT_EXPECT_FALSE(test, set->cpu->pmu.ops->plan(&set->cpu->pmu, &set->cpu->state,
							 &hw, 1, 0, true, plan));
}

/* --- overflows of before are cleared with the start ---------------------------------- */

struct ack_test {
	struct my_pmu_cpu *cpu;
	int err;
};

static void start_and_ack(void *data)
{
	struct ack_test *t = data;

	t->err = stop(t->cpu, 0x100000001);
	sim_clear_log(sim_cpu(TEST_CPU));
	t->err = t->err ?: t->cpu->pmu.ops->start(&t->cpu->pmu, &t->cpu->state,
						  0x100000001, 0x100000001);
}

/* Before it, so that a wrap right behind it is not lost; on some CPUs that does nothing. */
static void intel_start_acks(struct kunit *test)
{
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct sim_pmu pmu = *PMU(V4);
	unsigned int running, first;
	struct ack_test t;

	for (running = 0; running < 2; running++) {
		pmu.ack_running = running;
		t.cpu = test_set(test, &pmu, "cycles")->cpu;
		sim->regs.global_ctrl = 0;
		sim->regs.global_status = 0x300000003;
		KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, start_and_ack, &t));
		KUNIT_EXPECT_EQ(test, t.err, 0);
		KUNIT_EXPECT_EQ(test, sim->regs.global_status, 0x200000002ULL);
		KUNIT_ASSERT_EQ(test, sim->accesses, 2U);
		first = running;
		KUNIT_EXPECT_EQ(test, sim->log[first].reg, 0x390U);
		KUNIT_EXPECT_EQ(test, sim->log[first].val, 0x100000001ULL);
		KUNIT_EXPECT_EQ(test, sim->log[!first].reg, 0x38fU);
	}
}

/* Whichever of the two accesses faults, the other is made. */
static void intel_start_fails(struct kunit *test)
{
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct sim_pmu pmu = *PMU(V4);
	unsigned int running;
	struct ack_test t;
	u32 reg;

	for (running = 0; running < 2; running++) {
		pmu.ack_running = running;
		for (reg = 0x38f; reg <= 0x390; reg++) {
			t.cpu = test_set(test, &pmu, "cycles")->cpu;
			sim->regs.global_ctrl = 0x4;
			sim->regs.global_status = 0x300000003;
			sim->fail_reg = reg == 0x390 ? reg : 0;
			sim->fail_nth = reg == 0x390 ? 0 : running ? 4 : 5;
			KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, start_and_ack, &t));
			KUNIT_EXPECT_EQ(test, t.err, -EIO);
			KUNIT_EXPECT_EQ(test, sim->accesses, 2U);
			KUNIT_EXPECT_EQ(test, sim->regs.global_ctrl,
					reg == 0x390 ? 0x100000005ULL : 0x4ULL);
			KUNIT_EXPECT_EQ(test, sim->regs.global_status,
					reg == 0x390 ? 0x300000003ULL : 0x200000002ULL);
		}
	}
}

static struct kunit_case intel_cases[] = {
	KUNIT_CASE_PARAM(intel_ids, id_gen_params),
	KUNIT_CASE_PARAM(intel_config, config_gen_params),
	KUNIT_CASE_PARAM(intel_counters, counters_gen_params),
	KUNIT_CASE(intel_counters_by_perf),
	KUNIT_CASE(intel_new_bits),
	KUNIT_CASE(intel_new_bits_programmed),
	KUNIT_CASE_PARAM(intel_errata_of, errata_gen_params),
	KUNIT_CASE_PARAM(intel_up_sequence, up_gen_params),
	KUNIT_CASE_PARAM(intel_down_sequence, down_gen_params),
	KUNIT_CASE_PARAM(intel_read_sequence, read_gen_params),
	KUNIT_CASE(intel_stop_fails),
	KUNIT_CASE(intel_stop_fails_after_restore),
	KUNIT_CASE(intel_saves_status),
	KUNIT_CASE_PARAM(intel_capture_values, capture_gen_params),
	KUNIT_CASE_PARAM(intel_capture_moment, capture_gen_params),
	KUNIT_CASE_PARAM(intel_capture_differs, capture_gen_params),
	KUNIT_CASE_PARAM(intel_capture_faults, capture_gen_params),
	KUNIT_CASE(intel_capture_v1),
	KUNIT_CASE(intel_start_acks),
	KUNIT_CASE(intel_start_fails),
	{}
};

static struct kunit_suite intel_suite = {
	.name = "my_pmu_intel",
	.exit = test_expect_good_manners,
	.test_cases = intel_cases,
};

kunit_test_suite(intel_suite);
