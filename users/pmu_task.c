// SPDX-License-Identifier: GPL-2.0
/*
 * Events of tasks, for other modules: perf's core schedules them, on the PMU "my_pmu" of
 * pmu_frontend.c.
 */
#include <linux/err.h>
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/perf_event.h>
#include <linux/sched.h>

#include "my_pmu.h"
#include "pmu_frontend.h"
#include "pmu_hotplug.h"
#include "pmu_names.h"
#include "pmu_parse.h"
#include "pmu_set.h"
#include "pmu_why.h"

/* As perf_event_open() would have it from perf. */
static int encode(const char *string, struct perf_event_attr *to, struct my_pmu_why *why)
{
	struct my_perf_event_attr attr;
	struct my_pmu_why reason;
	int nr, cpu, type, err;

	type = my_frontend_type(&cpu);
	if (type < 0)
		return my_refuse(why, -EOPNOTSUPP,
				 "there is no PMU my_pmu of perf: load my_pmu without perf=0");
	nr = my_parse_events(string, &attr, 1, why);
	if (nr < 0)
		return nr;
	if (attr.period || attr.pinned || attr.optional)
		return my_refuse(why, -EOPNOTSUPP,
				 "'%s': an event of a task has no period, :D or :W", attr.name);
	err = my_names_lookup(my_hotplug_names(my_pmu_cpu_of(cpu)), &my_pmu_cpu_of(cpu)->pmu, cpu,
			      &attr, why);
	if (err)
		return err;
	*to = (struct perf_event_attr) {
		.type = type,
		.size = sizeof(*to),
		.config = attr.config,
		.config1 = attr.constraint == MY_PMC_ANY ? attr.allowed :
							   BIT_ULL(attr.constraint),
		.exclude_user = attr.exclude_user,
		.exclude_kernel = attr.exclude_kernel,
		.exclude_hv = 1,
		.exclude_guest = 1,
	};
	if (attr.extra.msr)
		return my_refuse(why, -EOPNOTSUPP,
				 "'%s' needs an extra register, which events of tasks do not have",
				 attr.name);
	err = my_frontend_accepts(to, &reason);
	if (err)
		return my_refuse(why, err, "'%s': %s", attr.name, reason.text);
	return 0;
}

/**
 * my_perf_event_create_on_task() - an event that counts while a task runs, on any CPU
 * @task: the task; it alone, not its children.  The caller holds a reference until this returns
 * @event: one event, as the parameter counters= has it, without a period
 * @why: if refused, the reason
 *
 * It counts from now on.  It is an event of perf: it goes with the task from CPU to CPU, and may
 * have to share counters with others.  Read it by my_perf_event_read_on_task(); it ends with
 * perf_event_release_kernel(), also if the task has ended.  Until then my_pmu stays loaded.
 *
 * Context: task; sleeps.  Not in a hotplug callback.
 * Return: the event; or ERR_PTR: -EINVAL if @event is wrong; -EOPNOTSUPP if the CPU that names are
 * looked up on does not have it, it needs more than a counter, or there is no PMU my_pmu; -ESRCH if
 * the task is about to end; or what else perf says.
 */
struct perf_event *my_perf_event_create_on_task(struct task_struct *task, const char *event,
						struct my_pmu_why *why)
{
	struct perf_event_attr attr;
	struct perf_event *perf_event;
	int err = encode(event, &attr, why);

	if (err)
		return ERR_PTR(err);
	perf_event = perf_event_create_kernel_counter(&attr, -1, task, NULL, NULL);
	if (IS_ERR(perf_event))
		my_refuse(why, PTR_ERR(perf_event),
			  "'%s': perf refuses it on this task (error %ld)", event,
			  PTR_ERR(perf_event));
	return perf_event;
}
EXPORT_SYMBOL_GPL(my_perf_event_create_on_task);

/**
 * my_perf_event_read_on_task() - what it has counted
 * @event: of my_perf_event_create_on_task()
 * @count: filled in
 *
 * Context: task, interrupts on; one cross-call if the task runs on another CPU.
 * Return: 0; or -EAGAIN if it had no counter for some of the time in which the task ran: then
 * @count is what it has counted in the rest.
 */
int my_perf_event_read_on_task(struct perf_event *event, u64 *count)
{
	u64 enabled, running;

	*count = perf_event_read_value(event, &enabled, &running);
	return enabled == running ? 0 : -EAGAIN;
}
EXPORT_SYMBOL_GPL(my_perf_event_read_on_task);
