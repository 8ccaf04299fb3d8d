// SPDX-License-Identifier: GPL-2.0
/*
 * my_pmu: count events of one CPU with its PMU, and print how they grow.
 *
 * This file is the module: its parameters, its thread, its messages, and what
 * happens when the CPU goes and comes.  It knows no register.
 *
 * Loading the module brings its target CPU "up", unloading takes it "down", and
 * so do hotplug, by a state of ours, and suspend.  So there is one way in and one
 * way out, and under cpus_read_lock() neither can race with the CPU.
 */
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/cpumask.h>
#include <linux/debugfs.h>
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/rcupdate.h>
#include <linux/reboot.h>
#include <linux/sched/isolation.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/suspend.h>
#include <asm/processor.h>

#include "pmu_encode.h"
#include "pmu_event.h"
#include "pmu_names.h"
#include "pmu_owner.h"
#include "pmu_parse.h"
#include "pmu_why.h"

/* printk cuts a record near 1000 bytes; what does not fit begins a new line. */
#define LINE_LEN	960

/* CPU to count on, as the kernel writes CPU lists; one for now; default 0. */
static char *param_cpu = "0";
module_param_named(cpu, param_cpu, charp, 0444);
MODULE_PARM_DESC(cpu, "CPU to count on (default 0)");

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

/**
 * struct my_session - one load of the module
 * @attr: the events as they were asked for
 * @nr_events: how many
 * @names: the events that the CPU has
 * @c: the CPU and its events
 * @interval_ms: between samples
 * @counting: counting has begun and not ended: that the CPU goes and comes is
 *	news. Changes only under cpus_read_lock()
 * @hotplug_state: dynamic CPU hotplug state
 * @up: the CPU has reached it
 * @asleep: between the notices of suspend and resume
 * @sleep: tells of suspend and resume
 * @reboot: tells of reboot
 * @dir: in debugfs; or an error, and then there is none
 * @news: held from a sample's reading to its printing, and while the CPU goes:
 *	what was read before it went is not printed after the line that says so
 * @sampler: the thread; it alone uses what follows
 * @missed: samples that were due since the last one that was printed
 * @nr_samples: printed so far; whoever shows it reads it meanwhile
 * @nr_missed: and those that were due
 * @sample: the sample in hand
 * @last: the one that was printed before
 * @line: where lines are made
 */
struct my_session {
	struct my_perf_event_attr attr[MY_PMC_MAX];
	int nr_events;
	struct my_names names;
	struct my_pmu_cpu c;
	unsigned int interval_ms;
	bool counting;
	int hotplug_state;
	bool up;
	bool asleep;
	struct notifier_block sleep;
	struct notifier_block reboot;
	struct dentry *dir;
	struct mutex news;	/* a sample and its line, against the CPU that goes */
	struct task_struct *sampler;
	u64 missed;
	u64 nr_samples;
	u64 nr_missed;
	struct my_pmu_sample sample;
	struct my_pmu_sample last;
	char line[LINE_LEN];
};

/* The hotplug callbacks get no argument of ours. */
static struct my_session *session;

/* --- what is printed ------------------------------------------------------- */

/* The counters of a set as bitmaps of the two kinds, for "%*pbl". */
struct counter_set {
	unsigned long generic;
	unsigned long fixed;
};

static struct counter_set by_kind(u64 counters)
{
	return (struct counter_set) {
		.generic = counters & MY_GENERIC_COUNTERS,
		.fixed = counters >> INTEL_PMC_IDX_FIXED,
	};
}

static void __init print_pmu(const struct my_pmu_cpu *c)
{
	const struct cpuinfo_x86 *info = &cpu_data(c->cpu);
	const struct my_x86_pmu *pmu = &c->pmu;
	const struct counter_set set = by_kind(pmu->counters);

	pr_info("cpu%d: %s, family %u model %u stepping %u\n", c->cpu,
		info->x86_model_id, info->x86, info->x86_model,
		info->x86_stepping);
	pr_info("... version:              %u\n", pmu->version);
	pr_info("... bit width:            %u\n", pmu->cntval_bits);
	pr_info("... generic registers:    %u (gp%*pbl)\n",
		my_pmu_num_counters(pmu), INTEL_PMC_IDX_FIXED, &set.generic);
	if (!set.fixed) {
		pr_info("... fixed-purpose events: 0\n");
		return;
	}
	pr_info("... fixed-purpose events: %u (fixed%*pbl), %u bits\n",
		my_pmu_num_counters_fixed(pmu), INTEL_PMC_IDX_FIXED, &set.fixed,
		pmu->cntval_bits_fixed);
}

#define COUNTER_SET_LEN	128

/* " gp0-3,5 fixed0-1", or " none". */
static const char *counter_list(char text[COUNTER_SET_LEN], u64 counters)
{
	const struct counter_set set = by_kind(counters);
	size_t len = 0;

	if (set.generic)
		len += scnprintf(text + len, COUNTER_SET_LEN - len, " gp%*pbl",
				 INTEL_PMC_IDX_FIXED, &set.generic);
	if (set.fixed)
		len += scnprintf(text + len, COUNTER_SET_LEN - len,
				 " fixed%*pbl", INTEL_PMC_IDX_FIXED,
				 &set.fixed);
	if (!len)
		scnprintf(text, COUNTER_SET_LEN, " none");
	return text;
}

/* Whose the counters are: one line. */
static void __init print_owners(const struct my_pmu_cpu *c)
{
	char held[COUNTER_SET_LEN], used[COUNTER_SET_LEN];
	char foreign[COUNTER_SET_LEN];

	pr_info("cpu%d: held against perf, on all CPUs:%s; counting:%s; the firmware's:%s\n",
		c->cpu,
		counter_list(held, c->pmu.counters & MY_GENERIC_COUNTERS),
		counter_list(used, c->used), counter_list(foreign, c->foreign));
}

static u64 whole_seconds(u64 ns, u32 *us)
{
	u32 rest;
	u64 s = div_u64_rem(ns, NSEC_PER_SEC, &rest);

	*us = rest / NSEC_PER_USEC;
	return s;
}

/* " key=gp2,fixed0", or nothing. */
static size_t add_marks(struct my_session *s, size_t len, const char *key,
			u64 counters)
{
	const char *sep = "=";
	size_t start = len;

	if (!counters)
		return 0;
	len += scnprintf(s->line + len, LINE_LEN - len, " %s", key);
	for (; counters; counters &= counters - 1, sep = ",") {
		int idx = __ffs64(counters);

		len += scnprintf(s->line + len, LINE_LEN - len, "%s%s%d", sep,
				 my_pmc_kind(idx), my_pmc_number(idx));
	}
	return len - start;
}

static size_t start_line(struct my_session *s)
{
	const struct my_pmu_sample *sample = &s->sample;
	u32 t_us, dt_us;
	u64 t = whole_seconds(sample->time, &t_us);
	u64 dt = whole_seconds(sample->time - s->last.time, &dt_us);
	size_t len;

	len = scnprintf(s->line, LINE_LEN,
			"cpu%d t=%llu.%06u dt=%llu.%06u latency=%llu", s->c.cpu,
			t, t_us, dt, dt_us, sample->time - sample->asked);
	if (s->missed)
		len += scnprintf(s->line + len, LINE_LEN - len, " missed=%llu",
				 s->missed);
	len += add_marks(s, len, "wrapped", sample->marks.wrapped);
	len += add_marks(s, len, "stolen", sample->marks.stolen);
	len += add_marks(s, len, "late", sample->marks.late);
	return len;
}

/* Nothing of an event of which the growth is not known. */
static int add_event(struct my_session *s, size_t len, unsigned int i)
{
	const struct my_perf_event *event = &s->c.event[i];
	u64 unknown = s->sample.marks.stolen | s->sample.marks.late;

	if (unknown & BIT_ULL(event->hw.idx))
		return 0;
	return snprintf(s->line + len, LINE_LEN - len, " %s@%s%d=%llu",
			event->attr.name, my_pmc_kind(event->hw.idx),
			my_pmc_number(event->hw.idx),
			s->sample.count[i] - s->last.count[i]);
}

/* One line; or more, each with the CPU and the time, if one is too short. */
static void print_sample(struct my_session *s)
{
	size_t head = start_line(s), len = head;
	unsigned int i;
	int n;

	for (i = 0; i < s->c.nr_events; i++) {
		n = add_event(s, len, i);
		if (len + n >= LINE_LEN) {
			s->line[len] = '\0';
			pr_info("%s\n", s->line);
			len = head;
			n = add_event(s, len, i);
		}
		len += n;
	}
	pr_info("%s\n", s->line);
}

/* --- the sampler ----------------------------------------------------------- */

static bool __take_sample(struct my_session *s)
{
	int err;

	err = my_pmu_cpu_read(&s->c, &s->sample);
	if (err == -ENXIO)
		return false;	/* away; the hotplug callbacks have said so */
	if (err) {
		pr_err_ratelimited("cpu%d: no sample: a PMU register faulted\n",
				   s->c.cpu);
		return false;
	}
	print_sample(s);
	s->last = s->sample;
	WRITE_ONCE(s->nr_samples, s->nr_samples + 1);
	return true;
}

static bool take_sample(struct my_session *s)
{
	bool taken;

	mutex_lock(&s->news);
	taken = __take_sample(s);
	mutex_unlock(&s->news);
	return taken;
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

/* Anywhere but on the CPU that is measured, if there is another. */
static void keep_off(int cpu)
{
	cpumask_var_t mask;

	if (!zalloc_cpumask_var(&mask, GFP_KERNEL))
		return;	/* it disturbs more, but counts right */
	/* Newer kernels replace the mask when isolation changes. */
	rcu_read_lock();
	cpumask_copy(mask, housekeeping_cpumask(HK_TYPE_KTHREAD));
	rcu_read_unlock();
	cpumask_clear_cpu(cpu, mask);
	if (cpumask_intersects(mask, cpu_online_mask))
		set_cpus_allowed_ptr(current, mask);
	free_cpumask_var(mask);
}

static int sampler(void *data)
{
	struct my_session *s = data;
	u64 interval = (u64)s->interval_ms * NSEC_PER_MSEC;
	u64 start = s->last.time, tick = 1, next;

	keep_off(s->c.cpu);
	while (sleep_until(start + tick * interval)) {
		u64 missed = take_sample(s) ? 0 : 1;

		s->missed = missed ? s->missed : 0;
		next = my_pmu_next_tick(ktime_get_ns() - start, interval);
		/* Its clock may be a little behind the timer's. */
		next = max(next, tick + 1);
		missed += next - tick - 1;
		s->missed += missed;
		WRITE_ONCE(s->nr_missed, s->nr_missed + missed);
		tick = next;
	}
	return 0;
}

static int __init start_sampler(struct my_session *s)
{
	struct task_struct *task;

	task = kthread_run(sampler, s, "my_pmu/%d", s->c.cpu);
	if (IS_ERR(task)) {
		pr_err("no thread can be started\n");
		return PTR_ERR(task);
	}
	s->sampler = task;
	return 0;
}

/* --- the CPU goes and comes ------------------------------------------------ */

/* All of it under cpus_read_lock(), or in a hotplug callback. */

static void cpu_comes(struct my_session *s)
{
	struct my_pmu_why why;

	if (!s->c.away || !s->up || s->asleep)
		return;
	if (my_pmu_cpu_up(&s->c, &why))
		pr_err("cpu%d is back, but cannot be counted on: %s\n",
		       s->c.cpu, why.text);
	else
		pr_info("cpu%d is back, counting goes on\n", s->c.cpu);
}

static void __cpu_goes(struct my_session *s, const char *how)
{
	if (my_pmu_cpu_down(&s->c))
		pr_err("cpu%d: a PMU register faulted, not all are as they were\n",
		       s->c.cpu);
	if (s->counting)
		pr_info("cpu%d %s, counting rests\n", s->c.cpu, how);
}

static void cpu_goes(struct my_session *s, const char *how)
{
	if (s->c.away)
		return;
	mutex_lock(&s->news);
	__cpu_goes(s, how);
	mutex_unlock(&s->news);
}

/* It must not fail: that would keep the CPU offline. */
static int cpu_up_callback(unsigned int cpu)
{
	struct my_session *s = session;

	if (cpu != s->c.cpu)
		return 0;
	s->up = true;
	cpu_comes(s);
	return 0;
}

static int cpu_down_callback(unsigned int cpu)
{
	struct my_session *s = session;

	if (cpu != s->c.cpu)
		return 0;
	cpu_goes(s, "goes offline");
	s->up = false;
	return 0;
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
		cpu_goes(s, "is suspended");
		s->asleep = true;
		break;
	case PM_POST_SUSPEND:
	case PM_POST_HIBERNATION:
	case PM_POST_RESTORE:
		s->asleep = false;
		cpu_comes(s);
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
	cpu_goes(s, "shuts down");
	s->asleep = true;
	cpus_read_unlock();
	return NOTIFY_DONE;
}

/*
 * Under cpus_read_lock().  The state is set up without calls, and removed so: they
 * would wait for a thread on each CPU, also where a real-time task never lets go.
 */
static int __init start_counting(struct my_session *s)
{
	struct my_pmu_why why;
	int err, state;

	if (!cpu_active(s->c.cpu)) {
		/* Online, but hotplug was stopped by hand on its way. */
		pr_err("cpu: %d is not all the way online\n", s->c.cpu);
		return -ENXIO;
	}
	state = cpuhp_setup_state_nocalls_cpuslocked(CPUHP_AP_ONLINE_DYN,
						     "my_pmu:online",
						     cpu_up_callback,
						     cpu_down_callback);
	if (state < 0) {
		pr_err("no CPU hotplug state is to be had (error %d)\n", state);
		return state;
	}
	err = my_pmu_cpu_up(&s->c, &why);
	if (err) {
		pr_err("cpu%d: %s\n", s->c.cpu, why.text);
		__cpuhp_remove_state_cpuslocked(state, false);
		return err;
	}
	s->hotplug_state = state;
	s->up = true;
	s->counting = true;
	s->last.time = s->c.event[0].hw.prev_time;
	return 0;
}

static void stop_counting(struct my_session *s)
{
	cpus_read_lock();
	s->counting = false;
	__cpuhp_remove_state_cpuslocked(s->hotplug_state, false);
	cpu_goes(s, "is left");
	cpus_read_unlock();
}

/* --- who owns what, to be read at any time ------------------------------------ */

static const struct my_perf_event *event_on(const struct my_pmu_cpu *c, int idx)
{
	unsigned int i;

	for (i = 0; i < c->nr_events; i++) {
		if (c->event[i].hw.idx == idx)
			return &c->event[i];
	}
	return NULL;
}

static void show_counter(struct seq_file *m, const struct my_pmu_cpu *c, int idx)
{
	const struct my_perf_event *event = event_on(c, idx);

	seq_printf(m, "cpu%d %s%d ", c->cpu, my_pmc_kind(idx),
		   my_pmc_number(idx));
	if (event)
		seq_printf(m, "%s %s\n", READ_ONCE(c->away) ? "resting" : "counting",
			   event->attr.name);
	else if (c->foreign & BIT_ULL(idx))
		seq_puts(m, "firmware\n");
	else
		seq_puts(m, my_pmc_is_fixed(idx) ? "unused\n" : "held\n");
}

static int counters_show(struct seq_file *m, void *unused)
{
	const struct my_session *s = m->private;
	u64 left;

	seq_printf(m, "cpu%d samples %llu missed %llu\n", s->c.cpu,
		   READ_ONCE(s->nr_samples), READ_ONCE(s->nr_missed));
	cpus_read_lock();
	for (left = s->c.pmu.counters; left; left &= left - 1)
		show_counter(m, &s->c, __ffs64(left));
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
	struct my_perf_event_attr attr;
	unsigned int n;
	u64 counters;

	for (n = 0; n < MY_KNOWN_EVENTS; n++) {
		if (!my_names_event(&s->names, n, &attr))
			continue;
		counters = counters_for(&s->c.pmu, &attr);
		if (!counters)
			continue;
		seq_printf(m, "cpu%d %s %#x ", s->c.cpu, attr.name,
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
}

/* --- parameters ------------------------------------------------------------ */

static int __init parse_cpu(int *cpu)
{
	cpumask_var_t mask;
	int err;

	if (!zalloc_cpumask_var(&mask, GFP_KERNEL))
		return -ENOMEM;
	err = cpulist_parse(param_cpu, mask);
	if (err == -ERANGE || (!err && !cpumask_subset(mask, cpu_present_mask))) {
		pr_err("cpu: '%.40s': no such CPU; %*pbl are there\n", param_cpu,
		       cpumask_pr_args(cpu_present_mask));
		err = -EINVAL;
	} else if (err || cpumask_weight(mask) != 1) {
		pr_err("cpu: '%.40s': one CPU is needed, of %*pbl\n", param_cpu,
		       cpumask_pr_args(cpu_present_mask));
		err = -EINVAL;
	} else {
		*cpu = cpumask_first(mask);
	}
	free_cpumask_var(mask);
	return err;
}

/*
 * perf sleeps and takes locks when it is asked: before cpus_read_lock().  If that
 * fails it is told later, when the CPU is known to have a PMU at all.
 */
static int __init parse_counters(struct my_session *s, struct my_pmu_why *why)
{
	int err;

	s->nr_events = my_parse_events(param_counters, s->attr, MY_PMC_MAX, why);
	if (s->nr_events < 0)
		return s->nr_events;
	err = my_names_resolve(s->c.cpu, s->attr, s->nr_events, why);
	return err ?: my_names_list(s->c.cpu, &s->names, why);
}

static int __init parse_interval(struct my_session *s)
{
	struct my_pmu_why why;
	int err;

	err = my_parse_interval(param_interval, &s->interval_ms, &why);
	if (err)
		pr_err("interval: %s\n", why.text);
	return err;
}

/* The narrowest counter in use must not be able to wrap twice. */
static int __init check_interval(const struct my_session *s)
{
	unsigned int bits = 64, max, i;

	for (i = 0; i < s->c.nr_events; i++)
		bits = min(bits, s->c.event[i].hw.cntval_bits);
	max = my_pmu_max_interval_ms(bits);
	if (s->interval_ms <= max)
		return 0;
	pr_err("interval: %u: a %u-bit counter must be read every %u ms at least, or it could wrap unseen\n",
	       s->interval_ms, bits, max);
	return -ERANGE;
}

static int __init assign(struct my_session *s)
{
	struct my_pmu_why why;
	int err;

	err = my_pmu_cpu_init(&s->c, s->attr, s->nr_events, &why);
	if (err) {
		pr_err("counters: %s\n", why.text);
		return err;
	}
	return check_interval(s);
}

static int __init detect(struct my_session *s)
{
	struct my_pmu_why why;
	int err;

	if (!cpu_online(s->c.cpu)) {
		pr_err("cpu: %d is offline; bring it online, or choose of %*pbl\n",
		       s->c.cpu, cpumask_pr_args(cpu_online_mask));
		return -ENXIO;
	}
	err = my_pmu_detect(s->c.cpu, &s->c.pmu, &why);
	if (err)
		pr_err("cpu%d: %s\n", s->c.cpu, why.text);
	return err;
}

static int __init reserve(struct my_session *s)
{
	struct my_pmu_why why;
	int err;

	err = my_pmu_reserve(&s->c.pmu, &why);
	if (err)
		pr_err("%s\n", why.text);
	return err;
}

/* The firmware's counters, which only now can be told from those of Linux. */
static int __init leave_firmware_alone(struct my_session *s)
{
	struct my_pmu_why why;
	int err;

	err = my_pmu_survey(&s->c, &why);
	if (err)
		pr_err("cpu%d: %s\n", s->c.cpu, why.text);
	else if (s->c.foreign & s->c.used)
		err = assign(s);
	return err;
}

/* --- load and unload -------------------------------------------------------- */

/* Until reserve() nothing has been touched, whatever is refused. */
static int __init prepare(struct my_session *s, int counters_err,
			  const struct my_pmu_why *why)
{
	int err;

	err = detect(s);
	if (err)
		return err;
	if (counters_err) {
		pr_err("counters: %s\n", why->text);
		return counters_err;
	}
	return assign(s);
}

static int __init take_over(struct my_session *s)
{
	int err;

	err = reserve(s);
	if (err)
		return err;
	err = leave_firmware_alone(s);
	if (err)
		goto err_release;
	print_pmu(&s->c);
	err = start_counting(s);
	if (err)
		goto err_release;
	print_owners(&s->c);
	return 0;

err_release:
	my_pmu_release(&s->c.pmu);
	return err;
}

static void hand_back(struct my_session *s)
{
	stop_counting(s);
	my_pmu_release(&s->c.pmu);
}

static int __init start_session(struct my_session *s)
{
	struct my_pmu_why why;
	int err, counters_err;

	mutex_init(&s->news);
	err = parse_cpu(&s->c.cpu);
	if (err)
		return err;
	err = parse_interval(s);
	if (err)
		return err;
	counters_err = parse_counters(s, &why);
	/* From the first look at the CPU until it is ours it must not go. */
	cpus_read_lock();
	err = prepare(s, counters_err, &why);
	if (!err)
		err = take_over(s);
	cpus_read_unlock();
	if (err)
		return err;

	/* Not under the lock that its callback takes. */
	s->sleep.notifier_call = sleep_callback;
	s->reboot.notifier_call = reboot_callback;
	err = register_pm_notifier(&s->sleep);
	if (err) {
		pr_err("no notice of suspend is to be had (error %d)\n", err);
		goto err_hand_back;
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
err_hand_back:
	hand_back(s);
	return err;
}

static int __init my_pmu_init(void)
{
	int err;

	session = kzalloc(sizeof(*session), GFP_KERNEL);
	if (!session)
		return -ENOMEM;
	err = start_session(session);
	if (err)
		kfree(session);
	return err;
}

static void __exit my_pmu_exit(void)
{
	debugfs_remove(session->dir);
	kthread_stop(session->sampler);
	unregister_reboot_notifier(&session->reboot);
	unregister_pm_notifier(&session->sleep);
	hand_back(session);
	kfree(session);
}

module_init(my_pmu_init);
module_exit(my_pmu_exit);

MODULE_DESCRIPTION("Count x86 PMU events on a CPU and print how they grow");
MODULE_LICENSE("GPL");
