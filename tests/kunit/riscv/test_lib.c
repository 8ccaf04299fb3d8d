// SPDX-License-Identifier: GPL-2.0
/* What the suites of RISC-V share. */
#include <linux/module.h>

#include "test.h"

/* pmu_core.c is not among these tests. */
MODULE_DESCRIPTION("KUnit tests of my_pmu, on a simulated firmware (SBI)");
MODULE_LICENSE("GPL");

static const struct sim_event all_events[] = {
	{ SIM_CYCLES, 0, 0xfffffff8 },
	{ SIM_INSTRUCTIONS, 0, 0xfffffff8 },
	{ SIM_DTLB_READ_MISS, 0, 0xfffffff8 },
	{ SIM_BRANCHES, 0, 0x30 },
	{ SIM_RAW, 0x1234, 0x28 },
};

#define ALL_EVENTS	.events = all_events, .nr_events = ARRAY_SIZE(all_events)

/* As QEMU has them, with and without the extensions; with a hole; and fewer than events. */
const struct sim_pmu test_pmus[] = {
	[WITH] = {
	  .name = "sscofpmf, 0 2 3-18", .counters = 0x7fffd, .width = 64, .firmware = 16,
	  .sscofpmf = true, .version = 2, ALL_EVENTS },
	[WITHOUT] = {
	  .name = "no sscofpmf, 0 2 3-18", .counters = 0x7fffd, .width = 64, .firmware = 16,
	  .version = 1, ALL_EVENTS },
	[NARROW] = {
	  .name = "sscofpmf, 0 2 3-6 9, 40 bits", .counters = 0x27d, .width = 40, .firmware = 1,
	  .sscofpmf = true, .version = 2, ALL_EVENTS },
	[FEW] = {
	  .name = "no sscofpmf, 0 2 3 4", .counters = 0x1d, .width = 48, .firmware = 16,
	  .version = 3, ALL_EVENTS },
};

static void pmu_desc(const struct sim_pmu *pmu, char *desc)
{
	strscpy(desc, pmu->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(pmu, test_pmus, pmu_desc);

const void *test_pmu_gen_params(const void *prev, char *desc)
{
	return pmu_gen_params(prev, desc);
}

void test_forget(void)
{
	struct sim_cpu *sim = sim_cpu(TEST_CPU);

	sim->counter[0].configured = sim->counter[0].running;
	sim->counter[2].configured = sim->counter[2].running;
	sim_clear_log(sim);
}

struct my_pmu_cpu *test_probed_cpu(struct kunit *test, const struct sim_pmu *pmu)
{
	struct my_pmu_cpu *cpu = my_pmu_cpu_of(TEST_CPU);
	struct my_pmu_why why;

	sim_reset(TEST_CPU, pmu);
	memset(cpu, 0, sizeof(*cpu));
	cpu = my_pmu_cpu_of(TEST_CPU);
	KUNIT_ASSERT_EQ_MSG(test, my_pmu_probe(cpu, NULL, &why), 0, "%s", why.text);
	test_forget();
	return cpu;
}

struct my_event_set *test_another_set(struct kunit *test, struct my_pmu_cpu *cpu,
				      const char *events)
{
	struct my_event_set *set = kunit_kzalloc(test, sizeof(*set), GFP_KERNEL);
	struct my_perf_event_attr *attr;
	struct my_pmu_why why = {};
	unsigned int culprit;
	int nr, i, err;

	attr = kunit_kcalloc(test, MY_EVENTS_MAX, sizeof(*attr), GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, set);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, attr);
	my_event_set_init(set, cpu);
	nr = my_parse_events(events, attr, MY_EVENTS_MAX, &why);
	KUNIT_ASSERT_GT_MSG(test, nr, 0, "%s", why.text);
	for (i = 0; i < nr; i++) {
		err = my_names_resolve(&cpu->pmu, TEST_CPU, true, &attr[i], &why);
		KUNIT_ASSERT_EQ_MSG(test, err, 0, "%s", why.text);
	}
	err = my_event_set_assign(set, attr, nr, &culprit, &why);
	KUNIT_ASSERT_EQ_MSG(test, err, 0, "%s", why.text);
	test_forget();
	return set;
}

struct my_event_set *test_set(struct kunit *test, const struct sim_pmu *pmu, const char *events)
{
	return test_another_set(test, test_probed_cpu(test, pmu), events);
}

int test_try_up(struct my_event_set *set)
{
	struct my_pmu_why why;

	return my_event_set_up(set, &why);
}

void test_up(struct kunit *test, struct my_event_set *set)
{
	struct my_pmu_why why = {};
	int err = my_event_set_up(set, &why);

	KUNIT_ASSERT_EQ_MSG(test, err, 0, "%s", why.text);
	sim_clear_log(sim_cpu(TEST_CPU));
}

struct retire {
	u64 user, kernel;
};

static void retire_on_cpu(void *data)
{
	struct sim_cpu *sim = sim_cpu(smp_processor_id());
	const struct retire *r = data;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(all_events); i++) {
		sim_count(sim, all_events[i].event, all_events[i].data, true, r->user);
		sim_count(sim, all_events[i].event, all_events[i].data, false, r->kernel);
	}
}

void test_retire(struct kunit *test, u64 user, u64 kernel)
{
	struct retire r = { .user = user, .kernel = kernel };

	KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, retire_on_cpu, &r));
}

struct my_pmu_sample *test_sample(struct kunit *test)
{
	struct my_pmu_sample *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, s);
	return s;
}

#define CALLS_LEN	4096

void test_expect_calls(struct kunit *test, const char *calls)
{
	char *text = kunit_kzalloc(test, CALLS_LEN, GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, text);
	sim_describe(sim_cpu(TEST_CPU), text, CALLS_LEN);
	KUNIT_EXPECT_STREQ(test, text, calls);
	sim_clear_log(sim_cpu(TEST_CPU));
}

void test_expect_free(struct kunit *test, u32 except)
{
	const struct sim_cpu *sim = sim_cpu(TEST_CPU);
	unsigned int i;

	for (i = 0; i < SIM_COUNTERS; i++) {
		if (except & BIT(i))
			continue;
		KUNIT_EXPECT_FALSE_MSG(test, sim->counter[i].running, "counter %u runs", i);
		if (i > 2)
			KUNIT_EXPECT_FALSE_MSG(test, sim->counter[i].configured,
					       "counter %u is configured", i);
	}
}

/* What was reported is not reported of the tests that follow. */
void test_expect_good_manners(struct kunit *test)
{
	unsigned int cpu;

	for (cpu = 0; cpu < SIM_CPUS; cpu++) {
		struct sim_cpu *sim = sim_cpu(cpu);

		KUNIT_EXPECT_EQ_MSG(test, sim->wrong, 0U, "CPU %u, first: %s", cpu,
				    sim->first_wrong);
		sim->wrong = 0;
	}
}
