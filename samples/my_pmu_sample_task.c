// SPDX-License-Identifier: GPL-2.0
/*
 * Counts an event of one task, by my_pmu: insmod my_pmu_sample_task.ko pid=PID.  Reading the
 * parameter "count" shows what it has counted since, also when the task has ended.
 */
#include <linux/err.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/sched/task.h>

#include "my_pmu.h"

static int pid;
module_param(pid, int, 0444);
static char *event = "instructions:u";
module_param(event, charp, 0444);

/* Under kernel_param_lock(), which whoever reads the parameter has; it may be read at any time. */
static struct perf_event *task_event;

static int get_count(char *buffer, const struct kernel_param *param)
{
	u64 count;
	int err;

	if (!task_event)
		return -ENODEV;
	err = my_perf_event_read_on_task(task_event, &count);
	return sprintf(buffer, "%llu%s\n", count, err ? " (in a part of the time)" : "");
}

static const struct kernel_param_ops count_ops = { .get = get_count };
module_param_cb(count, &count_ops, NULL, 0400);

static struct perf_event *exchange(struct perf_event *new)
{
	struct perf_event *old;

	kernel_param_lock(THIS_MODULE);
	old = task_event;
	task_event = new;
	kernel_param_unlock(THIS_MODULE);
	return old;
}

static int __init sample_init(void)
{
	struct pid *number = find_get_pid(pid);
	struct task_struct *task = get_pid_task(number, PIDTYPE_PID);
	struct perf_event *new;
	struct my_pmu_why why;

	put_pid(number);
	if (!task) {
		pr_err("my_pmu_sample_task: pid: there is no task %d\n", pid);
		return -EINVAL;	/* insmod has wrong words for ESRCH */
	}
	new = my_perf_event_create_on_task(task, event, &why);
	put_task_struct(task);
	if (IS_ERR(new)) {
		pr_err("my_pmu_sample_task: %s\n", why.text);
		return PTR_ERR(new);
	}
	exchange(new);
	return 0;
}

static void __exit sample_exit(void)
{
	perf_event_release_kernel(exchange(NULL));
}

module_init(sample_init);
module_exit(sample_exit);

MODULE_DESCRIPTION("Sample: count a task with my_pmu");
MODULE_LICENSE("GPL");
