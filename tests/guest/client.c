// SPDX-License-Identifier: GPL-2.0
/*
 * Has events on a CPU for as long as it is loaded: a user's instructions, on a generic
 * and on a fixed counter, in a group.  Reading the parameter "counts" reads them.
 */
#include <linux/err.h>
#include <linux/module.h>

#include "my_pmu.h"

static int cpu = 2;
module_param(cpu, int, 0444);

static struct my_perf_event *event;

static int get_counts(char *buffer, const struct kernel_param *param)
{
	u64 counts[2];
	int err = my_perf_event_read_group(event, counts, 2);

	return err ? sprintf(buffer, "error %d\n", err) :
		     sprintf(buffer, "%llu %llu\n", counts[0], counts[1]);
}

/* "1" and "0": on and off */
static int set_counts(const char *value, const struct kernel_param *param)
{
	return *value == '1' ? my_perf_event_enable(event) :
			       my_perf_event_disable(event);
}

static const struct kernel_param_ops counts_ops = {
	.get = get_counts,
	.set = set_counts,
};
module_param_cb(counts, &counts_ops, NULL, 0600);

static int __init client_init(void)
{
	struct my_pmu_why why;
	int err;

	event = my_perf_event_create(cpu, "{instructions@gp0-7,instructions@fixed0}:u", &why);
	if (IS_ERR(event)) {
		pr_err("client: %s\n", why.text);
		return PTR_ERR(event);
	}
	err = my_perf_event_enable(event);
	if (err)
		my_perf_event_destroy(event);
	return err;
}

static void __exit client_exit(void)
{
	my_perf_event_destroy(event);
}

module_init(client_init);
module_exit(client_exit);

MODULE_DESCRIPTION("Test: a module that counts");
MODULE_LICENSE("GPL");
