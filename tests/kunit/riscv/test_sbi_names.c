// SPDX-License-Identifier: GPL-2.0
/*
 * Names of events on RISC-V: which number SBI has for each ("Performance Monitoring Unit
 * Extension", "Event: Hardware general events" and "Hardware cache events"), which counters the
 * firmware has for it, and what is refused, in which words.
 */
#include <linux/err.h>

#include "pmu_perf.h"
#include "test.h"

#define SBI(event)	(BIT_ULL(62) | (event))

static const struct code_row {
	const char *event;
	u32 code;
	u64 raw;
} code_rows[] = {
	{ "cpu-cycles", 1 }, { "cycles", 1 }, { "instructions", 2 }, { "cache-references", 3 },
	{ "cache-misses", 4 }, { "branch-instructions", 5 }, { "branches", 5 },
	{ "branch-misses", 6 }, { "bus-cycles", 7 }, { "stalled-cycles-frontend", 8 },
	{ "idle-cycles-frontend", 8 }, { "stalled-cycles-backend", 9 },
	{ "idle-cycles-backend", 9 }, { "ref-cycles", 10 },
	{ "cpu/CPU-CYCLES/", 1 }, { "cpu/event=instructions/", 2 },
	{ "L1-dcache-loads", 0x10000 }, { "L1-dcache-load-misses", 0x10001 },
	{ "L1-dcache-stores", 0x10002 }, { "L1-icache-load-misses", 0x10009 },
	{ "LLC-store-misses", 0x10013 }, { "LLC-prefetches", 0x10014 },
	{ "dTLB-load-misses", 0x10019 }, { "dTLB-misses", 0x10019 },
	{ "dTLB-store-misses", 0x1001b }, { "iTLB-load-misses", 0x10021 },
	{ "branch-loads", 0x10028 }, { "node-prefetch-misses", 0x10035 },
	{ "r1234", SIM_RAW, 0x1234 }, { "cpu/event=0x1234/", SIM_RAW, 0x1234 },
	{ "cpu/config=0xffffffffffff/", SIM_RAW, 0xffffffffffff },
};

static void code_desc(const struct code_row *row, char *desc)
{
	strscpy(desc, row->event, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(code, code_rows, code_desc);

static int resolve(const struct my_pmu_cpu *cpu, const char *event,
		   struct my_perf_event_attr *attr, struct my_pmu_why *why)
{
	int nr = my_parse_events(event, attr, 1, why);

	return nr < 0 ? nr : my_names_resolve(&cpu->pmu, TEST_CPU, true, attr, why);
}

/* A firmware that has a counter for this event, and for no other. */
static void names_codes(struct kunit *test)
{
	const struct code_row *row = test->param_value;
	const struct sim_event event = { row->code, row->raw, 0x50 };
	const struct sim_pmu pmu = {
		.counters = 0x78, .firmware = 1, .width = 64, .sscofpmf = true,
		.events = &event, .nr_events = 1,
	};
	const struct my_pmu_cpu *cpu = test_probed_cpu(test, &pmu);
	struct my_perf_event_attr attr;
	struct my_pmu_why why = {};

	KUNIT_ASSERT_EQ_MSG(test, resolve(cpu, row->event, &attr, &why), 0, "%s", why.text);
	KUNIT_EXPECT_EQ(test, attr.config, row->raw ?: SBI(row->code));
	KUNIT_EXPECT_EQ(test, attr.counters, 0x50ULL);
	KUNIT_EXPECT_EQ(test, attr.confirmed, !row->raw);
	test_expect_free(test, 0);
}

static const struct refused_row {
	int pmu;
	const char *event;
	int err;
	const char *why;
} refused_rows[] = {
	{ WITH, "foo", -EINVAL,
	  "'foo': no event 'foo'; known are instructions, cycles and others that perf has names for, rHEX, cpu/event=,config=/"
	},
	{ WITH, "mem-loads", -EINVAL,
	  "'mem-loads': no event 'mem-loads'; known are instructions, cycles and others that perf has names for, rHEX, cpu/event=,config=/"
	},
	{ WITH, "r1000000000000", -EINVAL,
	  "'r1000000000000': an event of the platform has 48 bits; events of the firmware (bit 63) are not counted here"
	},
	{ WITH, "cpu/config=0x8000000000000005/", -EINVAL,
	  "'cpu/config=0x8000000000000005/': an event of the platform has 48 bits; events of the firmware (bit 63) are not counted here"
	},
	{ WITH, "cpu/firmware=1/", -EOPNOTSUPP,
	  "'cpu/firmware=1/': firmware: events of the firmware are not counted here" },
	{ WITH, "cpu/umask=1/", -EINVAL,
	  "'cpu/umask=1/': term 'umask'; event=, config=, period= or an event's name, each once, are known"
	},
	{ WITH, "cpu/event=0x1000000000000/", -EINVAL,
	  "'cpu/event=0x1000000000000/': event=0x1000000000000; a number from 0 to 0xffffffffffff is needed"
	},
	{ WITH, "cache-misses", -EOPNOTSUPP,
	  "'cache-misses': CPU 1 does not have this event, as its firmware (SBI) says (error -2), nor does the architecture define it"
	},
	{ WITH, "L1-dcache-loads", -EOPNOTSUPP,
	  "'L1-dcache-loads': CPU 1 does not have this event, as its firmware (SBI) says (error -2), nor does the architecture define it"
	},
	{ WITH, "r4321", -EOPNOTSUPP,
	  "'r4321': CPU 1 does not have this event, as its firmware (SBI) says (error -2), nor does the architecture define it"
	},
	{ WITH, "cpu/cycles,event=6/", -EOPNOTSUPP,
	  "'cpu/cycles,event=6/': CPU 1 does not have this event, as its firmware (SBI) says (error -2), nor does the architecture define it"
	},
	/* 1 and 4 make 5, branches */
	{ WITH, "cpu/cycles,event=4/", -EOPNOTSUPP,
	  "'cpu/cycles,event=4/': CPU 1 has no events that are a name and a number" },
	{ WITH, "cpu/cycles,period=1000/", -EOPNOTSUPP,
	  "'cpu/cycles,period=1000/': CPU 1 has interrupts of counters for perf alone (RISC-V): there is no period"
	},
	{ WITHOUT, "dTLB-load-misses:u", -EOPNOTSUPP,
	  "'dTLB-load-misses:u': CPU 1 cannot count one mode alone (:u, :k): it does not have Sscofpmf"
	},
	{ WITHOUT, "cycles:k", -EOPNOTSUPP,
	  "'cycles:k': CPU 1 cannot count one mode alone (:u, :k): it does not have Sscofpmf"
	},
	{ WITHOUT, "cycles@gp5", -EINVAL,
	  "'cycles@gp5': gp5 cannot count this event; leave the counter out and the module chooses"
	},
	{ WITH, "cycles:u@fixed0", -EINVAL,
	  "'cycles:u@fixed0': fixed0 cannot count this event; leave the counter out and the module chooses"
	},
	{ WITH, "instructions@fixed0", -EINVAL,
	  "'instructions@fixed0': fixed0 cannot count this event; leave the counter out and the module chooses"
	},
	{ WITH, "branches@gp6", -EINVAL,
	  "'branches@gp6': gp6 cannot count this event; leave the counter out and the module chooses"
	},
	{ WITH, "cycles@gp25", -EINVAL,
	  "'cycles@gp25': CPU 1 has no gp25; it has 16 generic (gp) and 2 fixed counters" },
};

static void refused_desc(const struct refused_row *row, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s, %s", row->event, PMU(row->pmu)->name);
}

KUNIT_ARRAY_PARAM(refused, refused_rows, refused_desc);

/* By whoever comes first: the parser, the firmware, the assignment. */
static void names_refused(struct kunit *test)
{
	const struct refused_row *row = test->param_value;
	struct my_pmu_cpu *cpu = test_probed_cpu(test, PMU(row->pmu));
	struct my_event_set *set = kunit_kzalloc(test, sizeof(*set), GFP_KERNEL);
	struct my_perf_event_attr attr;
	struct my_pmu_why why = {};
	unsigned int culprit;
	int err;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, set);
	my_event_set_init(set, cpu);
	err = resolve(cpu, row->event, &attr, &why);
	if (!err)
		err = my_event_set_assign(set, &attr, 1, &culprit, &why);
	KUNIT_EXPECT_EQ(test, err, row->err);
	KUNIT_EXPECT_STREQ(test, why.text, row->why);
	test_expect_free(test, 0);
}

/* Counters that somebody has cannot be asked: they are taken for like the others. */
static void names_taken(struct kunit *test)
{
	const struct my_pmu_cpu *cpu = test_probed_cpu(test, PMU(WITH));
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct my_perf_event_attr attr;
	struct my_pmu_why why = {};
	unsigned long given;

	sim_sbi(sim, SIM_CFG_MATCH, 0, 0x20, 0, SIM_DTLB_READ_MISS, 0, &given);
	KUNIT_EXPECT_EQ(test, resolve(cpu, "branches", &attr, &why), 0);
	KUNIT_EXPECT_EQ(test, attr.counters, 0x30ULL);
	sim_sbi(sim, SIM_CFG_MATCH, 0, 0x10, 0, SIM_DTLB_READ_MISS, 0, &given);
	KUNIT_EXPECT_EQ(test, resolve(cpu, "branches", &attr, &why), -EOPNOTSUPP);
	/* Cycles and instructions have counters of their own. */
	KUNIT_EXPECT_EQ(test, resolve(cpu, "cycles", &attr, &why), 0);
	KUNIT_EXPECT_EQ(test, attr.counters, FIXED(0) | 0x7fff8);
	test_expect_free(test, 0x30);
}

/* What was listed when the module was loaded is known later. */
static void names_listed(struct kunit *test)
{
	const struct my_pmu_cpu *cpu = test_probed_cpu(test, PMU(WITH));
	struct my_names *names = kunit_kzalloc(test, sizeof(*names), GFP_KERNEL);
	struct my_perf_event_attr attr;
	struct my_pmu_why why = {};

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, names);
	KUNIT_ASSERT_EQ(test, my_names_list(&cpu->pmu, TEST_CPU, true, names, &why), 0);
	test_expect_free(test, 0);
	my_parse_events("branches", &attr, 1, &why);
	KUNIT_EXPECT_EQ(test, my_names_lookup(names, &cpu->pmu, TEST_CPU, &attr, &why), 0);
	KUNIT_EXPECT_EQ(test, attr.config, SBI(5));
	KUNIT_EXPECT_EQ(test, attr.counters, 0x30ULL);
	my_parse_events("cache-misses", &attr, 1, &why);
	KUNIT_EXPECT_EQ(test, my_names_lookup(names, &cpu->pmu, TEST_CPU, &attr, &why),
			-EOPNOTSUPP);
	KUNIT_EXPECT_STREQ(test, why.text,
			   "'cache-misses': CPU 1 does not have this event, nor does the architecture define it");
	my_parse_events("r1234", &attr, 1, &why);
	KUNIT_EXPECT_EQ(test, my_names_lookup(names, &cpu->pmu, TEST_CPU, &attr, &why), 0);
	KUNIT_EXPECT_EQ(test, attr.config, 0x1234ULL);
	KUNIT_EXPECT_EQ(test, attr.counters, 0x28ULL);
	/* Hardware events have their numbers without any list. */
	my_parse_events("cycles", &attr, 1, &why);
	KUNIT_EXPECT_EQ(test, my_names_lookup(NULL, &cpu->pmu, TEST_CPU, &attr, &why), 0);
	KUNIT_EXPECT_EQ(test, attr.config, SBI(1));
}

/* perf is not asked, nor kept away. */
static void names_without_perf(struct kunit *test)
{
	const struct my_pmu_cpu *cpu = test_probed_cpu(test, PMU(WITH));
	struct my_perf_event_attr attr;
	struct my_pmu_why why = {};
	bool knows_model = false;
	char page[8];

	KUNIT_EXPECT_PTR_EQ(test, my_perf_hold(TEST_CPU, &knows_model), ERR_PTR(-ENOENT));
	KUNIT_EXPECT_TRUE(test, knows_model);
	KUNIT_EXPECT_PTR_EQ(test, my_perf_hold(TEST_CPU, NULL), ERR_PTR(-ENOENT));
	KUNIT_EXPECT_PTR_EQ(test, my_perf_exclude(TEST_CPU), ERR_PTR(-ENOENT));
	KUNIT_EXPECT_FALSE(test, my_perf_excludes(ERR_PTR(-ENOENT)));
	KUNIT_EXPECT_EQ(test, my_perf_show(TEST_CPU, "cycles", page), -ENOENT);
	my_perf_let_go(ERR_PTR(-ENOENT));
	/* A CPU that is not there does not answer. */
	my_parse_events("dTLB-loads", &attr, 1, &why);
	KUNIT_EXPECT_EQ(test, my_names_resolve(&cpu->pmu, nr_cpu_ids, true, &attr, &why),
			-EOPNOTSUPP);
	test_expect_calls(test, "");
}

static void names_exit(struct kunit *test)
{
	test_expect_good_manners(test);
}

static struct kunit_case names_cases[] = {
	KUNIT_CASE_PARAM(names_codes, code_gen_params),
	KUNIT_CASE_PARAM(names_refused, refused_gen_params),
	KUNIT_CASE(names_taken),
	KUNIT_CASE(names_listed),
	KUNIT_CASE(names_without_perf),
	{}
};

static struct kunit_suite names_suite = {
	.name = "my_pmu_sbi_names",
	.exit = names_exit,
	.test_cases = names_cases,
};

kunit_test_suite(names_suite);
