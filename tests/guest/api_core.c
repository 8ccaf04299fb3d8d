// SPDX-License-Identifier: GPL-2.0
/*
 * In place of pmu_core.c: calls my_perf_event_*() as another module would, on
 * CPU 3, prints TAP into the kernel log, and does not stay loaded.
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "pmu_event.h"
#include "pmu_owner.h"
#include "pmu_parse.h"
#include "pmu_why.h"

#define TEST_CPU	3
#define FIXED0		BIT_ULL(INTEL_PMC_IDX_FIXED)
#define GP0		BIT_ULL(0)
#define GP2		BIT_ULL(2)

static unsigned int tests;

static void ok(bool good, const char *name)
{
	pr_info("%sok %u - %s\n", good ? "" : "not ", ++tests, name);
}

static u64 count_of(struct my_perf_event *event)
{
	u64 count = 0;
	int err = my_perf_event_read(event, &count);

	return err ? (u64)err : count;
}

/* The cross-calls themselves are instructions on the CPU. */
static bool grows(struct my_perf_event *event)
{
	u64 before = count_of(event);

	return (s64)before >= 0 && count_of(event) > before;
}

static void test_one_event(struct my_pmu_cpu *c)
{
	struct my_perf_event *event = &c->event[0];
	u64 count;

	ok(!my_perf_event_enable(event), "enable one of three");
	ok(c->enabled == FIXED0, "only that one is enabled");
	ok(grows(event), "it counts");
	ok(!my_perf_event_enable(event), "enabling it again is nothing");
	ok(!my_perf_event_disable(event), "disable it");
	count = count_of(event);
	ok((s64)count > 0, "what it has counted can be read then");
	ok(count_of(event) == count, "and stays");
	ok(!my_perf_event_disable(event), "disabling it again is nothing");
	ok(!my_perf_event_enable(event), "enable it again");
	ok(count_of(event) > count, "it goes on from where it was");
}

static void test_some_events(struct my_pmu_cpu *c)
{
	struct my_pmu_sample sample;

	ok(!my_perf_event_enable(&c->event[1]), "enable a second one");
	ok(c->enabled == (FIXED0 | GP2), "both are enabled");
	ok(!my_pmu_cpu_read(c, &sample), "read all with one not enabled");
	ok(sample.count[0] && sample.count[1] && !sample.count[2],
	   "those that are enabled have counted");
	ok(!sample.marks.stolen, "none was stolen");
}

static void test_down_and_up(struct my_pmu_cpu *c)
{
	struct my_pmu_sample sample;
	u64 count = count_of(&c->event[0]);
	struct my_pmu_why why;

	ok(!my_pmu_cpu_down(c), "the CPU goes down");
	ok(!c->enabled, "nothing is enabled");
	ok(my_perf_event_enable(&c->event[2]) == -ENXIO, "nothing can be enabled");
	ok(my_pmu_cpu_read(c, &sample) == -ENXIO, "nothing can be read");
	ok(!my_perf_event_disable(&c->event[1]), "but disabled");
	ok(!my_pmu_cpu_up(c, &why), "the CPU comes up");
	ok(c->enabled == FIXED0, "what is wanted is enabled");
	ok(count_of(&c->event[0]) > count, "it goes on from where it was");
}

static int run_tests(struct my_pmu_cpu *c)
{
	struct my_perf_event_attr attr[3];
	struct my_pmu_why why;
	int nr, err;

	c->cpu = TEST_CPU;
	nr = my_parse_events("instructions,cycles@gp2,branches", attr,
			     ARRAY_SIZE(attr), &why);
	ok(nr == 3, "parse three events");
	err = my_pmu_detect(c->cpu, &c->pmu, &why);
	ok(!err, "detect");
	ok(!my_pmu_cpu_init(c, attr, nr, &why), "init");
	ok(c->used == (FIXED0 | GP2 | GP0), "three counters are used");
	err = my_pmu_reserve(&c->pmu, &why);
	ok(!err, "reserve");
	if (err)
		return err;
	ok(my_pmu_reserve(&c->pmu, &why) == -EBUSY, "and no second time");
	ok(!my_pmu_survey(c, &why) && !c->foreign, "no firmware uses any");
	c->wanted = 0;
	ok(my_perf_event_enable(&c->event[0]) == -ENXIO,
	   "nothing can be enabled before the CPU is up");
	ok(!my_pmu_cpu_up(c, &why) && !c->enabled, "up, with nothing wanted");
	ok(count_of(&c->event[0]) == 0, "read before it was ever enabled");
	test_one_event(c);
	test_some_events(c);
	test_down_and_up(c);
	ok(!my_pmu_cpu_down(c), "down for good");
	my_pmu_release(&c->pmu);
	return 0;
}

static int __init api_init(void)
{
	struct my_pmu_cpu *c = kzalloc(sizeof(*c), GFP_KERNEL);

	if (!c)
		return -ENOMEM;
	run_tests(c);
	kfree(c);
	pr_info("1..%u\n", tests);
	return -ECANCELED;
}
module_init(api_init);

MODULE_DESCRIPTION("Tests of my_perf_event_*()");
MODULE_LICENSE("GPL");
