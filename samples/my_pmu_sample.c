// SPDX-License-Identifier: GPL-2.0
/* Counts the instructions and branches of a function of its own, by my_pmu. */
#include <linux/err.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/workqueue.h>

#include "my_pmu.h"

static int cpu;
module_param(cpu, int, 0444);
static unsigned int turns = 1000;
module_param(turns, uint, 0444);

static noinline u64 scramble(u64 x)
{
	unsigned int i;

	for (i = 0; i < turns; i++)
		x = x * 6364136223846793005ULL + 1;
	return x;
}

/* Here, on the CPU: what is between two reads, less what is between two in a row. */
static long measure(void *event)
{
	u64 count[3][2], read[2] = { U64_MAX, U64_MAX }, all[2] = { U64_MAX, U64_MAX }, x = 1;
	int i, n, err = 0;

	/* The least of ten has no interrupt in it. */
	for (n = 0; n < 10 && !err; n++) {
		cond_resched();	/* each read would look whether somebody waits */
		err = my_perf_event_read_group(event, count[0], 2);
		err = err ?: my_perf_event_read_group(event, count[1], 2);
		x = scramble(x);
		err = err ?: my_perf_event_read_group(event, count[2], 2);
		for (i = 0; i < 2 && !err; i++) {
			read[i] = min(read[i], count[1][i] - count[0][i]);
			all[i] = min(all[i], count[2][i] - count[1][i]);
		}
	}
	if (!err)
		pr_info("my_pmu_sample: %u turns: %llu instructions, %llu branches (%llx)\n",
			turns, all[0] - read[0], all[1] - read[1], x);
	return err;
}

static int __init sample_init(void)
{
	struct my_perf_event *event;
	struct my_pmu_why why;
	long err;

	event = my_perf_event_create(cpu, "{instructions,branches}:k", &why);
	if (IS_ERR(event)) {
		pr_err("my_pmu_sample: %s\n", why.text);
		return PTR_ERR(event);
	}
	err = my_perf_event_enable(event) ?: work_on_cpu(cpu, measure, event);
	my_perf_event_destroy(event);
	return err;
}

static void __exit sample_exit(void)
{
}

module_init(sample_init);
module_exit(sample_exit);

MODULE_DESCRIPTION("Sample: count a function with my_pmu");
MODULE_LICENSE("GPL");
