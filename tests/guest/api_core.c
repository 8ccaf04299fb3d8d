// SPDX-License-Identifier: GPL-2.0
/*
 * In place of pmu_core.c: calls my_perf_event_*() as another module would, on
 * CPU 3, prints TAP into the kernel log, and does not stay loaded.
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "pmu_cpu.h"
#include "pmu_event.h"
#include "pmu_parse.h"
#include "pmu_read.h"
#include "pmu_schedule.h"
#include "pmu_why.h"

#define TEST_CPU	3
#define EVENTS		3
#define FIXED0		BIT_ULL(MY_PMC_IDX_FIXED)
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

static void test_one_event(struct my_event_set *set)
{
	struct my_perf_event *event = &set->event[0];
	u64 count;

	ok(!my_perf_event_enable(event), "enable one of three");
	ok(set->active_counters == FIXED0, "only that one is active");
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

static void test_some_events(struct my_event_set *set)
{
	struct my_pmu_sample *sample = kzalloc(sizeof(*sample), GFP_KERNEL);

	ok(!my_perf_event_enable(&set->event[1]), "enable a second one");
	ok(set->active_counters == (FIXED0 | GP2), "both are active");
	ok(sample && !my_event_set_read(set, sample), "read all with one not enabled");
	ok(sample && sample->count[0] && sample->count[1] && !sample->count[2],
	   "those that are enabled have counted");
	ok(sample && !sample->marks.clobbered, "none was clobbered");
	kfree(sample);
}

static void test_down_and_up(struct my_event_set *set)
{
	struct my_pmu_sample *sample = kzalloc(sizeof(*sample), GFP_KERNEL);
	u64 count = count_of(&set->event[0]);
	struct my_pmu_why why;

	ok(!my_event_set_down(set), "the set goes down");
	ok(!set->active, "nothing is active");
	ok(my_perf_event_enable(&set->event[2]) == -ENXIO, "nothing can be enabled");
	ok(sample && my_event_set_read(set, sample) == -ENXIO, "nothing can be read");
	ok(!my_perf_event_disable(&set->event[1]), "but disabled");
	ok(!my_event_set_up(set, &why), "the set comes up");
	ok(set->active_counters == FIXED0, "what is enabled is active");
	ok(count_of(&set->event[0]) > count, "it goes on from where it was");
	kfree(sample);
}

static int run_tests(struct my_event_set *set, struct my_perf_event_attr *attr)
{
	struct my_pmu_cpu *cpu = my_pmu_cpu_of(TEST_CPU);
	struct my_pmu_why why;
	unsigned int culprit;
	int nr, err;

	my_event_set_init(set, cpu);
	nr = my_parse_events("instructions,cycles@gp2,branches", attr, EVENTS, &why);
	ok(nr == EVENTS, "parse three events");
	err = my_pmu_probe(cpu, NULL, &why);
	ok(!err, "probe");
	ok(!my_event_set_assign(set, attr, nr, &culprit, &why), "assign");
	ok(set->used == (FIXED0 | GP2 | GP0), "three counters are used");
	ok(cpu->owner[0] == set && cpu->owner[2] == set && !cpu->owner[1],
	   "they belong to the set");
	err = my_pmu_reserve(&cpu->pmu, &why);
	ok(!err, "reserve");
	if (err)
		return err;
	ok(my_pmu_reserve(&cpu->pmu, &why) == -EBUSY, "and no second time");
	ok(!my_pmu_find_firmware(cpu, NULL, &why) && !cpu->firmware, "no firmware uses any");
	set->enabled = 0;
	ok(my_perf_event_enable(&set->event[0]) == -ENXIO,
	   "nothing can be enabled before the set is up");
	ok(!my_event_set_up(set, &why) && !set->active, "up, with nothing enabled");
	ok(count_of(&set->event[0]) == 0, "read before it was ever enabled");
	test_one_event(set);
	test_some_events(set);
	test_down_and_up(set);
	ok(!my_event_set_down(set), "down for good");
	my_event_set_release(set);
	ok(!cpu->used && !cpu->owner[0], "no counter belongs to it any more");
	my_pmu_release(&cpu->pmu);
	return 0;
}

static int __init api_init(void)
{
	struct my_event_set *set = kzalloc(sizeof(*set), GFP_KERNEL);
	struct my_perf_event_attr *attr = kcalloc(EVENTS, sizeof(*attr), GFP_KERNEL);

	if (set && attr) {
		run_tests(set, attr);
		pr_info("1..%u\n", tests);
	}
	kfree(attr);
	kfree(set);
	return -ECANCELED;
}
module_init(api_init);

MODULE_DESCRIPTION("Tests of my_perf_event_*()");
MODULE_LICENSE("GPL");
