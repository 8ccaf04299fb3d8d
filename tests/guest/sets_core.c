// SPDX-License-Identifier: GPL-2.0
/*
 * In place of pmu_core.c: says on which counters a list of events would be on CPU 1.
 *
 * The list is written to the parameter "set", and the answer read there: a counter for
 * each event, or why there is none.  As at load perf is asked where it counts each of
 * them; but the PMU is not taken from perf, which can be asked by others, too.
 */
#include <linux/err.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "pmu_cpu.h"
#include "pmu_names.h"
#include "pmu_parse.h"
#include "pmu_perf.h"
#include "pmu_schedule.h"
#include "pmu_why.h"

#define TEST_CPU	1
#define EVENTS		16

static struct my_event_set *set;
static struct my_perf_event_attr *attr;
static char answer[512];

static int place(const char *list, struct my_pmu_why *why)
{
	unsigned int culprit;
	int nr, i, err = 0;
	void *held;

	nr = my_parse_events(list, attr, EVENTS, why);
	if (nr < 0)
		return nr;
	held = my_perf_hold(TEST_CPU, NULL);
	for (i = 0; i < nr && !err; i++)
		err = my_names_resolve(&my_pmu_cpu_of(TEST_CPU)->pmu, TEST_CPU, true,
				       &attr[i], why);
	my_perf_let_go(held);
	return err ?: my_event_set_assign(set, attr, nr, &culprit, why);
}

static int set_list(const char *value, const struct kernel_param *param)
{
	char *list = kstrdup(value, GFP_KERNEL);
	struct my_pmu_why why;
	unsigned int i;
	size_t len = 0;
	int err;

	if (!list)
		return -ENOMEM;
	err = place(strim(list), &why);
	kfree(list);
	if (err)
		len = scnprintf(answer, sizeof(answer), "%d: %s", err, why.text);
	for (i = 0; i < set->nr_events && !err; i++) {
		int idx = set->schedule.home[i];

		len += scnprintf(answer + len, sizeof(answer) - len, "%s%s%d", i ? " " : "",
				 my_pmc_kind(idx), my_pmc_number(idx));
	}
	return 0;
}

static int get_answer(char *buffer, const struct kernel_param *param)
{
	return sprintf(buffer, "%s\n", answer);
}

static const struct kernel_param_ops set_ops = {
	.set = set_list,
	.get = get_answer,
};
module_param_cb(set, &set_ops, NULL, 0600);

static void free_all(void)
{
	kfree(attr);
	kfree(set);
}

static int __init sets_init(void)
{
	struct my_pmu_why why = {};
	int err = -ENOMEM;

	set = kzalloc(sizeof(*set), GFP_KERNEL);
	attr = kcalloc(EVENTS, sizeof(*attr), GFP_KERNEL);
	if (set && attr) {
		my_event_set_init(set, my_pmu_cpu_of(TEST_CPU));
		err = my_pmu_probe(set->cpu, NULL, &why);
	}
	if (!err)
		return 0;
	pr_err("%s\n", why.text);
	free_all();
	return err;
}

static void __exit sets_exit(void)
{
	free_all();
}

module_init(sets_init);
module_exit(sets_exit);

MODULE_DESCRIPTION("Test: counters for lists of events");
MODULE_LICENSE("GPL");
