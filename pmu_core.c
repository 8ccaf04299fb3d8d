// SPDX-License-Identifier: GPL-2.0
/*
 * my_pmu: count events of CPUs with their PMUs, and print how they grow.
 *
 * This file is the module: its parameters, its thread, its messages, and what
 * happens when CPUs go and come.  It knows no register.
 *
 * Loading the module brings its target CPUs "up", unloading takes them "down", and
 * so do hotplug, by a state of ours, and suspend.  So there is one way in and one
 * way out, and under cpus_read_lock() neither can race with a CPU.
 */
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/cpumask.h>
#include <linux/debugfs.h>
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/rcupdate.h>
#include <linux/reboot.h>
#include <linux/sched/isolation.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/suspend.h>

#include "pmu_client.h"
#include "pmu_encode.h"
#include "pmu_event.h"
#include "pmu_names.h"
#include "pmu_owner.h"
#include "pmu_parse.h"
#include "pmu_print.h"
#include "pmu_samples.h"
#include "pmu_target.h"
#include "pmu_why.h"

/* More lines than this of one sample are not for the log: they are in the file. */
#define SCREEN_LINES	24

/* CPUs to count on, as the kernel writes CPU lists, or "all"; default 0. */
static char *param_cpu = "0";
module_param_named(cpu, param_cpu, charp, 0444);
MODULE_PARM_DESC(cpu, "CPUs to count on, e.g. 3 or 0-3,8 or all (default 0)");

/*
 * Events, comma-separated.  By default each of two is measured twice, on a
 * generic and on a fixed counter: they must agree.
 */
static char *param_counters =
	"instructions@gp2,cycles@gp3,instructions@fixed0,cycles@fixed1";
module_param_named(counters, param_counters, charp, 0444);
MODULE_PARM_DESC(counters, "events, e.g. instructions:u,r01c2@gp0 (default instructions@gp2,cycles@gp3,instructions@fixed0,cycles@fixed1)");

/* Milliseconds between samples; default 5000. */
static char *param_interval = "5000";
module_param_named(interval, param_interval, charp, 0444);
MODULE_PARM_DESC(interval, "milliseconds between samples (default 5000)");

/*
 * Whether counters stand still while they are read, so that all show the same instant;
 * otherwise no register is written for a sample, and each has its own.  Default 1.
 */
static char *param_freeze = "1";
module_param_named(freeze, param_freeze, charp, 0444);
MODULE_PARM_DESC(freeze, "1: all counters of a CPU stand still while they are read; 0: they run on, and no register is written (default 1)");

/* Whether samples are printed; the file has them all in any case.  Default 1. */
static char *param_log = "1";
module_param_named(log, param_log, charp, 0444);
MODULE_PARM_DESC(log, "1: print the samples; 0: only the file in debugfs has them (default 1)");

/**
 * struct my_session - one load of the module
 * @attr: the events as they were asked for
 * @nr_events: how many
 * @names: the events that a CPU has
 * @names_cpu: that CPU
 * @why_place: of the event of which it is known why a CPU does not have it
 * @all: CPUs that come online later are counted on, too
 * @cpus: those that there are targets for; whoever changes it holds @news
 * @up: CPUs that have reached the hotplug state since it is there; see has_come_up()
 * @scratch: for whoever prints, at load
 * @target: these, by CPU
 * @reading: how each is asked, by CPU
 * @held: the PMU of which the generic counters are reserved: all that any CPU has
 * @interval_ms: between samples
 * @freeze: counters stand still while they are read
 * @log: samples are printed
 * @counting: counting has begun and not ended: that a CPU goes and comes is
 *	news. Changes only under cpus_read_lock()
 * @host: for other modules' events
 * @hotplug_state: dynamic CPU hotplug state
 * @asleep: between the notices of suspend and resume
 * @sleep: tells of suspend and resume
 * @reboot: tells of reboot
 * @dir: in debugfs; or an error, and then there is none
 * @samples: the file with all samples
 * @news: held from a sample's reading to its printing, and while a CPU goes or
 *	comes: what was read before it went is not printed after the line that
 *	says so
 * @sampler: the thread; it alone uses what follows
 * @start: the time from which samples are due, CLOCK_MONOTONIC, ns
 * @number: of the sample
 * @printer: where lines are made
 * @summary: of several CPUs
 */
struct my_session {
	struct my_perf_event_attr attr[MY_EVENTS_MAX];
	int nr_events;
	struct my_names names;
	int names_cpu;
	unsigned int why_place;
	bool all;
	cpumask_var_t cpus;
	struct cpumask up;
	cpumask_var_t scratch[2];
	struct my_target **target;
	struct my_pmu_reading **reading;
	struct my_x86_pmu held;
	unsigned int interval_ms;
	bool freeze;
	bool log;
	bool counting;
	struct my_client_host host;
	int hotplug_state;
	bool asleep;
	struct notifier_block sleep;
	struct notifier_block reboot;
	struct dentry *dir;
	struct my_samples samples;
	struct mutex news;	/* a sample and its lines, against CPUs that go */
	struct task_struct *sampler;
	u64 start;
	u64 number;
	struct my_printer printer;
	struct my_summary summary;
};

/* The hotplug callbacks get no argument of ours. */
static struct my_session *session;

/* In their order; NULL behind the last. */
static struct my_target *next_target(const struct my_session *s,
				     const struct my_target *t)
{
	unsigned int cpu = cpumask_next(t ? t->c.cpu : -1, s->cpus);

	return cpu < nr_cpu_ids ? s->target[cpu] : NULL;
}

static struct my_target *first_target(const struct my_session *s)
{
	return next_target(s, NULL);
}

/* --- what is printed at load -------------------------------------------------- */

static bool alike(const struct my_pmu_cpu *a, const struct my_pmu_cpu *b)
{
	return cpu_data(a->cpu).x86_model == cpu_data(b->cpu).x86_model &&
	       !memcmp(&a->pmu, &b->pmu, sizeof(a->pmu));
}

static bool same_pmu(const struct my_target *a, const struct my_target *b)
{
	return alike(&a->c, &b->c);
}

static bool same_owners(const struct my_target *a, const struct my_target *b)
{
	return a->c.used == b->c.used && a->c.foreign == b->c.foreign;
}

/* Once for all CPUs that are alike. */
static void print_alike(struct my_session *s,
			bool (*same)(const struct my_target *a,
				     const struct my_target *b),
			void (*print)(const struct my_session *s,
				      const struct cpumask *cpus,
				      const struct my_target *t))
{
	struct cpumask *left = s->scratch[0], *cpus = s->scratch[1];
	struct my_target *t;
	int cpu;

	cpumask_copy(left, s->cpus);
	while (!cpumask_empty(left)) {
		t = s->target[cpumask_first(left)];
		cpumask_clear(cpus);
		for_each_cpu(cpu, left) {
			if (same(t, s->target[cpu]))
				cpumask_set_cpu(cpu, cpus);
		}
		print(s, cpus, t);
		cpumask_andnot(left, left, cpus);
	}
}

static void print_pmu(const struct my_session *s, const struct cpumask *cpus,
		      const struct my_target *t)
{
	my_print_pmu(cpus, &t->c);
}

static void print_owners(const struct my_session *s, const struct cpumask *cpus,
			 const struct my_target *t)
{
	my_print_owners(cpus, &t->c, s->held.counters & MY_GENERIC_COUNTERS);
}

/* --- the sampler ----------------------------------------------------------- */

/* Asked, and has it answered? */
static bool has_sample(const struct my_target *t)
{
	if (t->reading.err && t->reading.err != -ENXIO)
		pr_err_ratelimited("cpu%d: no sample: a PMU register faulted\n",
				   t->c.cpu);
	return !t->reading.err;	/* away: the hotplug callbacks have said so */
}

static void print_lines(struct my_session *s)
{
	struct my_target *t;

	s->printer.nr_lines = 0;
	for (t = first_target(s); t; t = next_target(s, t)) {
		if (!t->reading.err && s->printer.nr_lines <= SCREEN_LINES)
			my_print_sample(&s->printer, t);
	}
}

static bool is_a_screenful(struct my_session *s)
{
	s->printer.dry = true;
	print_lines(s);
	s->printer.dry = false;
	return s->printer.nr_lines <= SCREEN_LINES;
}

static void sum_up(struct my_session *s)
{
	struct my_target *t;

	memset(&s->summary, 0, sizeof(s->summary));
	for (t = first_target(s); t; t = next_target(s, t)) {
		if (!t->reading.err)
			my_summary_add(&s->summary, t);
	}
}

static void print_samples(struct my_session *s)
{
	if (cpumask_weight(s->cpus) == 1) {
		print_lines(s);
		return;
	}
	if (is_a_screenful(s))
		print_lines(s);
	sum_up(s);
	if (s->summary.nr_cpus)
		my_print_summary(&s->printer, &s->summary, s->attr,
				 s->nr_events);
}

/* What is due next is measured from this one. */
static void pass_sample(struct my_target *t)
{
	if (t->reading.err) {
		t->missed++;
		WRITE_ONCE(t->nr_missed, t->nr_missed + 1);
		return;
	}
	t->last = t->sample;
	t->missed = 0;
	WRITE_ONCE(t->nr_samples, t->nr_samples + 1);
}

static void __take_samples(struct my_session *s)
{
	struct my_target *t;

	my_pmu_read_cpus(s->cpus, s->reading);
	s->number++;
	for (t = first_target(s); t; t = next_target(s, t)) {
		if (has_sample(t))
			my_samples_add(&s->samples, t, s->number);
	}
	if (s->log)
		print_samples(s);
	for (t = first_target(s); t; t = next_target(s, t))
		pass_sample(t);
	my_samples_wake(&s->samples);
}

static void take_samples(struct my_session *s)
{
	mutex_lock(&s->news);
	__take_samples(s);
	mutex_unlock(&s->news);
}

static void note_missed(struct my_session *s, u64 ticks)
{
	struct my_target *t;

	if (!ticks)
		return;
	mutex_lock(&s->news);
	for (t = first_target(s); t; t = next_target(s, t)) {
		t->missed += ticks;
		WRITE_ONCE(t->nr_missed, t->nr_missed + ticks);
	}
	mutex_unlock(&s->news);
}

/* Returns false as soon as the thread is to stop. */
static bool sleep_until(u64 ns)
{
	ktime_t expires = ns_to_ktime(ns);

	for (;;) {
		set_current_state(TASK_IDLE);
		if (kthread_should_stop())
			break;
		if (!schedule_hrtimeout(&expires, HRTIMER_MODE_ABS))
			return true;
	}
	__set_current_state(TASK_RUNNING);
	return false;
}

/* Anywhere but on the CPUs that are measured, if there is another. */
static void keep_off(const struct cpumask *cpus)
{
	cpumask_var_t mask;

	if (!zalloc_cpumask_var(&mask, GFP_KERNEL))
		return;	/* it disturbs more, but counts right */
	/* Newer kernels replace the mask when isolation changes. */
	rcu_read_lock();
	cpumask_copy(mask, housekeeping_cpumask(HK_TYPE_KTHREAD));
	rcu_read_unlock();
	cpumask_andnot(mask, mask, cpus);
	if (cpumask_intersects(mask, cpu_online_mask))
		set_cpus_allowed_ptr(current, mask);
	free_cpumask_var(mask);
}

static int sampler(void *data)
{
	struct my_session *s = data;
	u64 interval = (u64)s->interval_ms * NSEC_PER_MSEC;
	u64 tick = 1, next;

	keep_off(s->cpus);
	while (sleep_until(s->start + tick * interval)) {
		take_samples(s);
		next = my_pmu_next_tick(ktime_get_ns() - s->start, interval);
		/* Its clock may be a little behind the timer's. */
		next = max(next, tick + 1);
		note_missed(s, next - tick - 1);
		tick = next;
	}
	return 0;
}

static int __init start_sampler(struct my_session *s)
{
	struct task_struct *task;

	if (!s->nr_events)
		return 0;
	task = kthread_run(sampler, s, "my_pmu/%*pbl", cpumask_pr_args(s->cpus));
	if (IS_ERR(task)) {
		pr_err("no thread can be started\n");
		return PTR_ERR(task);
	}
	s->sampler = task;
	return 0;
}

/* --- a CPU and its events -------------------------------------------------------- */

static struct my_target *new_target(struct my_session *s, int cpu)
{
	struct my_target *t = kvzalloc(sizeof(*t), GFP_KERNEL);

	if (!t)
		return NULL;
	my_pmu_cpu_begin(&t->c, cpu);
	t->c.unfrozen = !s->freeze;
	t->reading.c = &t->c;
	t->reading.sample = &t->sample;
	s->target[cpu] = t;
	s->reading[cpu] = &t->reading;
	return t;
}

static void free_target(struct my_session *s, int cpu)
{
	cpumask_clear_cpu(cpu, s->cpus);
	kvfree(s->target[cpu]);
	s->target[cpu] = NULL;
	s->reading[cpu] = NULL;
}

/* The narrowest counter in use must not be able to wrap twice. */
static int check_interval(const struct my_session *s, const struct my_pmu_cpu *c)
{
	unsigned int bits = my_pmu_bits(c), max = my_pmu_max_interval_ms(bits);

	if (s->interval_ms <= max)
		return 0;
	pr_err("interval: %u: a %u-bit counter must be read every %u ms at least, or it could wrap unseen\n",
	       s->interval_ms, bits, max);
	return -ERANGE;
}

static int report(const char *parameter, int err, const struct my_pmu_why *why)
{
	if (err)
		pr_err("%s: %s\n", parameter, why->text);
	return err;
}

static int tell_cpu(const struct my_target *t, int err, const struct my_pmu_why *why)
{
	if (err)
		pr_err("cpu%d: %s\n", t->c.cpu, why->text);
	return err;
}

static int assign(struct my_session *s, struct my_target *t)
{
	struct my_pmu_why why;
	int err;

	err = my_pmu_cpu_init(&t->c, t->attr, t->c.nr_events, &why);
	return report("counters", err, &why) ?: check_interval(s, &t->c);
}

static int detect(struct my_session *s, struct my_target *t)
{
	struct my_pmu_why why;
	int err;

	err = my_pmu_detect(t->c.cpu, &t->c.pmu, &why);
	return tell_cpu(t, err, &why);
}

/* The firmware's counters, which only now can be told from those of Linux. */
static int leave_firmware_alone(struct my_session *s, struct my_target *t)
{
	struct my_pmu_why why;
	int err;

	err = my_pmu_survey(&t->c, &why);
	if (tell_cpu(t, err, &why))
		return err;
	return t->c.foreign & t->c.used ? assign(s, t) : 0;
}

static int __init note(struct my_session *s, struct my_target *t)
{
	struct my_pmu_why why;
	int err;

	err = my_pmu_note(&t->c, &why);
	return tell_cpu(t, err, &why);
}

static int __init put_back(struct my_session *s, struct my_target *t)
{
	struct my_pmu_why why;
	int err;

	err = my_pmu_put_back(&t->c, &why);
	return tell_cpu(t, err, &why);
}

/* One after the other, up to the first that fails. */
static int __init for_all(struct my_session *s,
			  int (*func)(struct my_session *s, struct my_target *t))
{
	struct my_target *t;
	int err;

	for (t = first_target(s); t; t = next_target(s, t)) {
		err = func(s, t);
		if (err)
			return err;
	}
	return 0;
}

/* --- CPUs go and come ------------------------------------------------------ */

/* All of it under cpus_read_lock(), or in a hotplug callback. */

/*
 * perf cannot be asked any more what names mean there; but a CPU that is like
 * another one has the same events.
 */
static struct my_target *find_alike(struct my_session *s, struct my_target *t)
{
	struct my_target *other;

	for (other = first_target(s); other; other = next_target(s, other)) {
		if (other != t && same_pmu(other, t))
			return other;
	}
	return NULL;
}

static int prepare_to_join(struct my_session *s, struct my_target *t)
{
	const struct my_target *other;
	int err;

	err = detect(s, t);
	if (err)
		return err;
	other = find_alike(s, t);
	if (!other) {
		pr_err("cpu%d: it is like none of the CPUs that were online at load; load the module again\n",
		       t->c.cpu);
		return -ENODEV;
	}
	t->c.nr_events = other->c.nr_events;
	memcpy(t->attr, other->attr, sizeof(t->attr));
	memcpy(t->place, other->place, sizeof(t->place));
	t->c.taken = my_clients_used(t->c.cpu);
	err = assign(s, t);
	return err ?: leave_firmware_alone(s, t);
}

/* A CPU that was not there at load. */
static struct my_target *join(struct my_session *s, int cpu)
{
	struct my_target *t = new_target(s, cpu);

	if (!t) {
		pr_err("cpu%d: no memory to count on it\n", cpu);
		return NULL;
	}
	if (prepare_to_join(s, t)) {
		free_target(s, cpu);
		return NULL;
	}
	mutex_lock(&s->news);
	cpumask_set_cpu(cpu, s->cpus);
	mutex_unlock(&s->news);
	return t;
}

static void __cpu_comes(struct my_session *s, struct my_target *t,
			const char *how)
{
	struct my_pmu_why why;

	if (my_pmu_cpu_up(&t->c, &why)) {
		pr_err("cpu%d %s, but cannot be counted on: %s\n", t->c.cpu,
		       how, why.text);
		return;
	}
	if (!t->last.time)
		t->last.time = t->c.up_since;
	pr_info("cpu%d %s, counting goes on\n", t->c.cpu, how);
}

/* Since the hotplug state was set up, or before: then nobody was told. */
static bool has_come_up(const struct my_session *s, int cpu)
{
	return cpumask_test_cpu(cpu, &s->up) || cpu_active(cpu);
}

static void cpu_comes(struct my_session *s, struct my_target *t, const char *how)
{
	if (!t->c.away || !has_come_up(s, t->c.cpu) || s->asleep)
		return;
	mutex_lock(&s->news);
	__cpu_comes(s, t, how);
	mutex_unlock(&s->news);
}

static void tell_faulted(int cpu, int err)
{
	if (err)
		pr_err("cpu%d: a PMU register faulted, not all are as they were\n",
		       cpu);
}

static void __cpu_goes(struct my_session *s, struct my_target *t, const char *how)
{
	tell_faulted(t->c.cpu, my_pmu_cpu_down(&t->c));
	if (s->counting)
		pr_info("cpu%d %s, counting rests\n", t->c.cpu, how);
}

static void cpu_goes(struct my_session *s, struct my_target *t, const char *how)
{
	if (t->c.away)
		return;
	mutex_lock(&s->news);
	__cpu_goes(s, t, how);
	mutex_unlock(&s->news);
}

static void all_come(struct my_session *s)
{
	struct my_target *t;

	for (t = first_target(s); t; t = next_target(s, t))
		cpu_comes(s, t, "is back");
}

static void all_go(struct my_session *s, const char *how)
{
	struct my_target *t;

	for (t = first_target(s); t; t = next_target(s, t))
		cpu_goes(s, t, how);
}

/* Other modules' events. */
static void tell_clients_come(int cpu, int err, const struct my_pmu_why *why)
{
	if (err)
		pr_err("cpu%d is back, but an event of another module cannot be counted: %s\n",
		       cpu, why->text);
}

static void target_comes(struct my_session *s, int cpu)
{
	struct my_target *t = s->target[cpu];
	const char *how = t ? "is back" : "is new";

	if (!t && s->all)
		t = join(s, cpu);
	if (t)
		cpu_comes(s, t, how);
}

static void target_goes(struct my_session *s, int cpu)
{
	struct my_target *t = s->target[cpu];

	if (t)
		cpu_goes(s, t, "goes offline");
}

/* It must not fail: that would keep the CPU offline. */
static int cpu_up_callback(unsigned int cpu)
{
	struct my_pmu_why why;

	cpumask_set_cpu(cpu, &session->up);
	target_comes(session, cpu);
	tell_clients_come(cpu, my_clients_come(cpu, &why), &why);
	return 0;
}

static int cpu_down_callback(unsigned int cpu)
{
	tell_faulted(cpu, my_clients_go(cpu));
	target_goes(session, cpu);
	cpumask_clear_cpu(cpu, &session->up);
	return 0;
}

/* Under cpus_read_lock(), as what follows. */
static void sleep_ends(struct my_session *s)
{
	struct my_pmu_why why;
	int cpu;

	s->asleep = false;
	all_come(s);
	my_clients_sleep(false);
	for_each_online_cpu(cpu) {
		if (has_come_up(s, cpu))
			tell_clients_come(cpu, my_clients_come(cpu, &why), &why);
	}
}

static void sleep_begins(struct my_session *s, const char *how)
{
	int cpu;

	my_clients_sleep(true);
	for_each_online_cpu(cpu)
		tell_faulted(cpu, my_clients_go(cpu));
	all_go(s, how);
	s->asleep = true;
}

/*
 * In suspend the boot CPU does not go through hotplug, and loses its registers
 * nevertheless.
 */
static int sleep_callback(struct notifier_block *sleep, unsigned long event,
			  void *unused)
{
	struct my_session *s = container_of(sleep, struct my_session, sleep);

	cpus_read_lock();
	switch (event) {
	case PM_SUSPEND_PREPARE:
	case PM_HIBERNATION_PREPARE:
	case PM_RESTORE_PREPARE:
		sleep_begins(s, "is suspended");
		break;
	case PM_POST_SUSPEND:
	case PM_POST_HIBERNATION:
	case PM_POST_RESTORE:
		sleep_ends(s);
		break;
	}
	cpus_read_unlock();
	return NOTIFY_DONE;
}

/* Whoever comes after a kexec shall not find our counters counting. */
static int reboot_callback(struct notifier_block *reboot, unsigned long event,
			   void *unused)
{
	struct my_session *s = container_of(reboot, struct my_session, reboot);

	cpus_read_lock();
	sleep_begins(s, "shuts down");
	cpus_read_unlock();
	return NOTIFY_DONE;
}

static int __init start_target(struct my_session *s, struct my_target *t)
{
	struct my_pmu_why why;
	int err;

	err = my_pmu_cpu_up(&t->c, &why);
	if (tell_cpu(t, err, &why))
		return err;
	t->last.time = t->c.up_since;
	return 0;
}

static int __init start_targets(struct my_session *s)
{
	int err;

	err = for_all(s, start_target);
	if (err)
		all_go(s, "is left");
	else
		s->start = first_target(s)->last.time;
	return err;
}

static int __init check_active(const struct my_session *s)
{
	int cpu;

	for_each_cpu(cpu, s->cpus) {
		if (cpu_active(cpu))
			continue;
		/* Online, but hotplug was stopped by hand on its way. */
		pr_err("cpu: %d is not all the way online\n", cpu);
		return -ENXIO;
	}
	return 0;
}

/*
 * Under cpus_read_lock().  The state is set up without calls, and removed so: they
 * would wait for a thread on each CPU, also where a real-time task never lets go.
 */
static int __init start_counting(struct my_session *s)
{
	int err, state;

	err = check_active(s);
	if (err)
		return err;
	state = cpuhp_setup_state_nocalls_cpuslocked(CPUHP_AP_ONLINE_DYN,
						     "my_pmu:online",
						     cpu_up_callback,
						     cpu_down_callback);
	if (state < 0) {
		pr_err("no CPU hotplug state is to be had (error %d)\n", state);
		return state;
	}
	err = start_targets(s);
	if (err) {
		__cpuhp_remove_state_cpuslocked(state, false);
		return err;
	}
	s->hotplug_state = state;
	s->counting = true;
	return 0;
}

static void stop_counting(struct my_session *s)
{
	cpus_read_lock();
	s->counting = false;
	__cpuhp_remove_state_cpuslocked(s->hotplug_state, false);
	all_go(s, "is left");
	cpus_read_unlock();
}

/* --- who owns what, to be read at any time ------------------------------------ */

/* All events that are on it in some turn. */
static void show_events(struct seq_file *m, const struct my_pmu_cpu *c, int idx)
{
	u64 shown = 0;
	unsigned int i, j;

	for (i = 0; i < c->schedule.nr_turns; i++) {
		for (j = 0; j < c->nr_events; j++) {
			if (c->schedule.turn[i].idx[j] != idx ||
			    shown & BIT_ULL(j))
				continue;
			shown |= BIT_ULL(j);
			seq_printf(m, " %s", c->event[j].attr.name);
		}
	}
	seq_putc(m, '\n');
}

static void show_counter(struct seq_file *m, const struct my_pmu_cpu *c, int idx)
{
	char name[MY_EVENT_NAME_LEN];

	seq_printf(m, "cpu%d %s%d ", c->cpu, my_pmc_kind(idx),
		   my_pmc_number(idx));
	if (c->used & BIT_ULL(idx)) {
		seq_puts(m, READ_ONCE(c->away) ? "resting" : "counting");
		show_events(m, c, idx);
	} else if (my_clients_event(c->cpu, idx, name)) {
		seq_printf(m, "lent %s\n", name);
	} else if (c->foreign & BIT_ULL(idx)) {
		seq_puts(m, "firmware\n");
	} else {
		seq_puts(m, my_pmc_is_fixed(idx) ? "unused\n" : "held\n");
	}
}

static void show_target(struct seq_file *m, const struct my_target *t)
{
	u64 left;

	seq_printf(m, "cpu%d samples %llu missed %llu\n", t->c.cpu,
		   READ_ONCE(t->nr_samples), READ_ONCE(t->nr_missed));
	for (left = t->c.pmu.counters; left; left &= left - 1)
		show_counter(m, &t->c, __ffs64(left));
}

/* On a CPU that the module does not count on for itself. */
static void show_clients(struct seq_file *m, int cpu)
{
	char name[MY_EVENT_NAME_LEN];
	int idx;

	for (idx = 0; idx < MY_PMC_MAX; idx++) {
		if (my_clients_event(cpu, idx, name))
			seq_printf(m, "cpu%d %s%d lent %s\n", cpu,
				   my_pmc_kind(idx), my_pmc_number(idx), name);
	}
}

static int counters_show(struct seq_file *m, void *unused)
{
	const struct my_session *s = m->private;
	int cpu;

	cpus_read_lock();
	for_each_possible_cpu(cpu) {
		if (s->target[cpu])
			show_target(m, s->target[cpu]);
		else
			show_clients(m, cpu);
	}
	cpus_read_unlock();
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(counters);

/* "gp0-3,gp5,fixed0": runs of neighbours. */
static void show_set(struct seq_file *m, u64 counters)
{
	const char *sep = "";

	while (counters) {
		int first = __ffs64(counters), last = first;

		/* The last generic counter is no neighbour of fixed0. */
		while (last + 1 < MY_PMC_MAX && counters & BIT_ULL(last + 1) &&
		       last + 1 != INTEL_PMC_IDX_FIXED)
			last++;
		seq_printf(m, "%s%s%d", sep, my_pmc_kind(first),
			   my_pmc_number(first));
		if (last > first)
			seq_printf(m, "-%d", my_pmc_number(last));
		counters &= ~GENMASK_ULL(last, first);
		sep = ",";
	}
}

static u64 counters_for(const struct my_x86_pmu *pmu,
			const struct my_perf_event_attr *attr)
{
	struct my_perf_event event = { .attr = *attr };
	u64 left, set = 0;

	for (left = pmu->counters; left; left &= left - 1) {
		event.hw.idx = __ffs64(left);
		if (pmu->counts(attr, event.hw.idx) &&
		    !pmu->hw_config(pmu, &event))
			set |= left & -left;
	}
	return set;
}

/* The events that the CPU has, and where they can be counted. */
static int events_show(struct seq_file *m, void *unused)
{
	const struct my_session *s = m->private;
	const struct my_target *t = s->target[s->names_cpu];
	struct my_perf_event_attr attr;
	unsigned int n;
	u64 counters;

	for (n = 0; n < MY_KNOWN_EVENTS; n++) {
		if (!my_names_event(&s->names, n, &attr))
			continue;
		counters = counters_for(&t->c.pmu, &attr);
		if (!counters)
			continue;
		seq_printf(m, "cpu%d %s %#x ", t->c.cpu, attr.name,
			   my_event_config(&attr));
		show_set(m, counters);
		seq_puts(m, "\n");
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(events);

/* Counts tell what others do: root's only.  Without debugfs there is none. */
static void __init show_state(struct my_session *s)
{
	s->dir = debugfs_create_dir("my_pmu", NULL);
	debugfs_create_file("counters", 0400, s->dir, s, &counters_fops);
	debugfs_create_file("events", 0400, s->dir, s, &events_fops);
	my_samples_show(&s->samples, s->dir);
}

/* --- parameters ------------------------------------------------------------ */

static int __init parse_all(struct my_session *s)
{
	s->all = true;
	cpumask_copy(s->cpus, cpu_online_mask);
	return 0;
}

static int __init parse_cpu(struct my_session *s)
{
	int err;

	if (!strcmp(param_cpu, "all"))
		return parse_all(s);
	err = cpulist_parse(param_cpu, s->cpus);
	if (err == -ERANGE || (!err && !cpumask_subset(s->cpus, cpu_present_mask))) {
		pr_err("cpu: '%.40s': no such CPU; %*pbl are there\n", param_cpu,
		       cpumask_pr_args(cpu_present_mask));
		return -EINVAL;
	}
	if (err || cpumask_empty(s->cpus)) {
		pr_err("cpu: '%.40s': a list of CPUs is needed, as 3 or 0-3,8, of %*pbl; or all\n",
		       param_cpu, cpumask_pr_args(cpu_present_mask));
		return -EINVAL;
	}
	return 0;
}

static int __init parse_interval(struct my_session *s)
{
	struct my_pmu_why why;
	int err;

	err = my_parse_interval(param_interval, &s->interval_ms, &why);
	return report("interval", err, &why);
}

static int __init parse_switch(const char *name, const char *param, bool *on)
{
	struct my_pmu_why why;
	int err;

	err = my_parse_switch(param, on, &why);
	return report(name, err, &why);
}

static int __init parse_settings(struct my_session *s)
{
	int err;

	err = parse_cpu(s);
	if (err)
		return err;
	err = parse_interval(s);
	if (err)
		return err;
	err = parse_switch("freeze", param_freeze, &s->freeze);
	return err ?: parse_switch("log", param_log, &s->log);
}

/* --- the events of each CPU ------------------------------------------------------ */

static void __init leave_out(struct my_target *t, unsigned int i)
{
	unsigned int left = --t->c.nr_events - i;

	t->lacks |= BIT_ULL(t->place[i]);
	memmove(&t->attr[i], &t->attr[i + 1], left * sizeof(t->attr[0]));
	memmove(&t->place[i], &t->place[i + 1], left * sizeof(t->place[0]));
}

/* What @has refuses with -EOPNOTSUPP is left out; @why has the first reason. */
static int __init keep_those(struct my_session *s, struct my_target *t,
			     int (*has)(struct my_target *t, unsigned int i,
					struct my_pmu_why *why),
			     struct my_pmu_why *why)
{
	struct my_pmu_why reason;
	unsigned int i = 0;
	int err;

	while (i < t->c.nr_events) {
		err = has(t, i, &reason);
		if (!err) {
			i++;
			continue;
		}
		if (err != -EOPNOTSUPP || !*why->text) {
			*why = reason;
			s->why_place = t->place[i];
		}
		if (err != -EOPNOTSUPP)
			return err;
		leave_out(t, i);
	}
	return 0;
}

static int __init perf_has(struct my_target *t, unsigned int i,
			   struct my_pmu_why *why)
{
	return my_names_resolve(t->c.cpu, &t->attr[i], why);
}

static int __init pmu_has(struct my_target *t, unsigned int i,
			  struct my_pmu_why *why)
{
	return my_perf_event_check(&t->c, &t->attr[i], why);
}

static int __init make_targets(struct my_session *s)
{
	struct my_target *t;
	unsigned int i;
	int cpu;

	for_each_cpu(cpu, s->cpus) {
		t = new_target(s, cpu);
		if (!t)
			return -ENOMEM;
		t->c.nr_events = s->nr_events;
		memcpy(t->attr, s->attr, sizeof(t->attr));
		for (i = 0; i < s->nr_events; i++)
			t->place[i] = i;
	}
	return 0;
}

static int __init __ask_perf(struct my_session *s, struct my_pmu_why *why)
{
	struct my_pmu_why no_memory;
	struct my_target *t;
	int err;

	for (t = first_target(s); t; t = next_target(s, t)) {
		err = keep_those(s, t, perf_has, why);
		if (err)
			return err;
	}
	s->names_cpu = cpumask_first(s->cpus);
	err = my_names_list(s->names_cpu, &s->names, &no_memory);
	if (err)
		*why = no_memory;
	return err;
}

static int __init ask_perf(struct my_session *s, struct my_pmu_why *why)
{
	void *held = my_names_begin(cpumask_first(s->cpus));
	int err = __ask_perf(s, why);

	my_names_end(held);
	return err;
}

/* @why is empty if all is well. */
static int __init parse_counters(struct my_session *s, struct my_pmu_why *why)
{
	int nr;

	/* For other modules alone. */
	if (!strcmp(param_counters, "none"))
		return 0;
	nr = my_parse_events(param_counters, s->attr, MY_EVENTS_MAX, why);
	if (nr < 0)
		return nr;
	s->nr_events = nr;
	*why->text = '\0';
	return 0;
}

static int __init check_online(struct my_session *s)
{
	struct cpumask *offline = s->scratch[0];

	if (!cpumask_andnot(offline, s->cpus, cpu_online_mask))
		return 0;
	pr_err("cpu: %*pbl is offline; bring it online, or choose of %*pbl\n",
	       cpumask_pr_args(offline), cpumask_pr_args(cpu_online_mask));
	return -ENXIO;
}

/* An event that some CPUs do not have is told once, with the CPUs. */
static int __init tell_left_out(struct my_session *s, unsigned int i)
{
	struct cpumask *lacking = s->scratch[0];
	struct my_target *t;

	cpumask_clear(lacking);
	for (t = first_target(s); t; t = next_target(s, t)) {
		if (t->lacks & BIT_ULL(i))
			cpumask_set_cpu(t->c.cpu, lacking);
	}
	if (cpumask_equal(lacking, s->cpus))
		return -EOPNOTSUPP;
	if (!cpumask_empty(lacking))
		pr_info("cpu%*pbl: '%s' is not there, and left out\n",
			cpumask_pr_args(lacking), s->attr[i].name);
	return 0;
}

static int __init check_left_out(struct my_session *s,
				 const struct my_pmu_why *why)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < s->nr_events; i++) {
		err = tell_left_out(s, i);
		if (err)
			break;
	}
	if (err && i == s->why_place)
		report("counters", err, why);
	else if (err)
		pr_err("counters: '%s': none of the CPUs has this event\n",
		       s->attr[i].name);
	return err;
}

static int __init assign_all(struct my_session *s, struct my_pmu_why *why)
{
	struct my_target *t;
	int err;

	for (t = first_target(s); t; t = next_target(s, t)) {
		err = keep_those(s, t, pmu_has, why);
		if (report("counters", err, why))
			return err;
	}
	err = check_left_out(s, why);
	return err ?: for_all(s, assign);
}

/* Of all CPUs: the bitmaps of Linux are for all of them. */
static int __init reserve(struct my_session *s, struct my_pmu_why *why)
{
	struct my_target *t;

	s->held = first_target(s)->c.pmu;
	for (t = first_target(s); t; t = next_target(s, t))
		s->held.counters |= t->c.pmu.counters;
	return my_pmu_reserve(&s->held, why);
}

/* --- for other modules --------------------------------------------------------- */

static u64 session_uses(int cpu)
{
	return session->target[cpu] ? session->target[cpu]->c.used : 0;
}

static const struct my_names *session_names(const struct my_pmu_cpu *c)
{
	const struct my_target *t = session->target[session->names_cpu];

	return alike(c, &t->c) ? &session->names : NULL;
}

static void admit_clients(struct my_session *s)
{
	s->host = (struct my_client_host) {
		.reserved = s->held.counters & MY_GENERIC_COUNTERS,
		.used = session_uses,
		.names = session_names,
	};
	my_clients_begin(&s->host);
}

static void dismiss_clients(void)
{
	unsigned int left = my_clients_end();

	if (left)
		pr_err("other modules have not destroyed what they had created, %u times; it is gone\n",
		       left);
}

/* --- load and unload -------------------------------------------------------- */

/* What is there, before perf is asked. */
static int __init look(struct my_session *s)
{
	int err;

	err = check_online(s);
	if (err)
		return err;
	err = for_all(s, detect);
	return err ?: for_all(s, note);
}

static int __init take_over(struct my_session *s)
{
	int err;

	err = for_all(s, leave_firmware_alone);
	if (err)
		return err;
	print_alike(s, same_pmu, print_pmu);
	err = start_counting(s);
	if (err)
		return err;
	print_alike(s, same_owners, print_owners);
	admit_clients(s);
	return 0;
}

/*
 * Whatever is refused, once the counters are reserved all registers are put back
 * as they were before perf was asked.  That somebody has the PMU is told only if
 * nothing is wrong with the events.
 */
static int __init ask_and_take_over(struct my_session *s, struct my_pmu_why *why)
{
	struct my_pmu_why whose;
	int asked, busy, err;

	asked = ask_perf(s, why);
	busy = reserve(s, &whose);
	err = busy ? 0 : for_all(s, put_back);
	err = err ?: report("counters", asked, why);
	err = err ?: assign_all(s, why);
	if (busy) {
		if (!err)
			pr_err("%s\n", whose.text);
		return err ?: busy;
	}
	err = err ?: take_over(s);
	if (err)
		my_pmu_release(&s->held);
	return err;
}

static void hand_back(struct my_session *s)
{
	dismiss_clients();
	stop_counting(s);
	my_pmu_release(&s->held);
}

/*
 * What is wrong with the events is told when the CPUs are known to have a PMU at
 * all.  perf may be asked under cpus_read_lock(): the kernel's NMI watchdog makes its
 * events in a hotplug callback (kernel/watchdog.c).
 */
static int __init count_on_cpus(struct my_session *s)
{
	struct my_pmu_why why = {};
	int err, counters_err;

	err = parse_settings(s);
	if (err)
		return err;
	counters_err = parse_counters(s, &why);
	err = make_targets(s);
	if (err)
		return err;
	err = look(s);
	if (err)
		return err;
	err = report("counters", counters_err, &why);
	return err ?: ask_and_take_over(s, &why);
}

/* So many CPUs may come; without them there is one row for each event. */
static unsigned int __init rows_per_sample(const struct my_session *s)
{
	return max(s->nr_events, 1) * (s->all ? num_present_cpus() : cpumask_weight(s->cpus));
}

static int __init run_session(struct my_session *s)
{
	int err;

	err = my_samples_init(&s->samples, rows_per_sample(s));
	if (err)
		goto err_hand_back;
	/* Not under the lock that its callback takes. */
	s->sleep.notifier_call = sleep_callback;
	s->reboot.notifier_call = reboot_callback;
	err = register_pm_notifier(&s->sleep);
	if (err) {
		pr_err("no notice of suspend is to be had (error %d)\n", err);
		goto err_free_samples;
	}
	err = register_reboot_notifier(&s->reboot);
	if (err) {
		pr_err("no notice of reboot is to be had (error %d)\n", err);
		goto err_unregister_sleep;
	}
	err = start_sampler(s);
	if (err)
		goto err_unregister_reboot;
	/* Last: who has the file open keeps a module that failed to load. */
	show_state(s);
	return 0;

err_unregister_reboot:
	unregister_reboot_notifier(&s->reboot);
err_unregister_sleep:
	unregister_pm_notifier(&s->sleep);
err_free_samples:
	my_samples_free(&s->samples);
err_hand_back:
	hand_back(s);
	return err;
}

static int __init start_session(struct my_session *s)
{
	int err;

	mutex_init(&s->news);
	/* From the first look at the CPUs until they are ours they must not go. */
	cpus_read_lock();
	err = count_on_cpus(s);
	cpus_read_unlock();
	return err ?: run_session(s);
}

static void free_session(struct my_session *s)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		if (s->target && s->target[cpu])
			free_target(s, cpu);
	}
	kfree(s->reading);
	kfree(s->target);
	free_cpumask_var(s->scratch[1]);
	free_cpumask_var(s->scratch[0]);
	free_cpumask_var(s->cpus);
	kfree(s);
}

static bool __init fill_session(struct my_session *s)
{
	s->target = kcalloc(nr_cpu_ids, sizeof(*s->target), GFP_KERNEL);
	s->reading = kcalloc(nr_cpu_ids, sizeof(*s->reading), GFP_KERNEL);
	return s->target && s->reading &&
	       zalloc_cpumask_var(&s->cpus, GFP_KERNEL) &&
	       zalloc_cpumask_var(&s->scratch[0], GFP_KERNEL) &&
	       zalloc_cpumask_var(&s->scratch[1], GFP_KERNEL);
}

static struct my_session * __init new_session(void)
{
	struct my_session *s = kzalloc(sizeof(*s), GFP_KERNEL);

	if (!s || fill_session(s))
		return s;
	free_session(s);
	return NULL;
}

static int __init my_pmu_init(void)
{
	int err;

	session = new_session();
	if (!session)
		return -ENOMEM;
	err = start_session(session);
	if (err)
		free_session(session);
	return err;
}

static void __exit my_pmu_exit(void)
{
	debugfs_remove(session->dir);
	if (session->sampler)
		kthread_stop(session->sampler);
	unregister_reboot_notifier(&session->reboot);
	unregister_pm_notifier(&session->sleep);
	hand_back(session);
	my_samples_free(&session->samples);
	free_session(session);
}

module_init(my_pmu_init);
module_exit(my_pmu_exit);

MODULE_DESCRIPTION("Count x86 PMU events on CPUs and print how they grow");
MODULE_LICENSE("GPL");
