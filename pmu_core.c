// SPDX-License-Identifier: GPL-2.0
/*
 * my_pmu: count events of one CPU with its PMU, and print how they grow.
 *
 * This file is the module: its parameters, its thread, its messages, and what
 * happens when the CPU goes and comes.  It knows no register.
 *
 * Registers are programmed by a CPU hotplug state: loading the module brings
 * its target CPU "up", unloading takes it "down", and so does hotplug itself.
 * So there is one way in and one way out, and neither can race with the CPU.
 */
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/cpumask.h>
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/sched/isolation.h>
#include <linux/slab.h>
#include <asm/processor.h>

#include "pmu_event.h"
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
 * @c: the CPU and its events
 * @interval_ms: between samples
 * @counting: counting has begun and not ended: that the CPU goes and comes is
 *	news. Changes only under cpus_read_lock()
 * @hotplug_state: dynamic CPU hotplug state
 * @sampler: the thread; it alone uses what follows
 * @missed: samples that were due since the last one that was printed
 * @sample: the sample in hand
 * @last: the one that was printed before
 * @line: where lines are made
 */
struct my_session {
	struct my_pmu_cpu c;
	unsigned int interval_ms;
	bool counting;
	int hotplug_state;
	struct task_struct *sampler;
	u64 missed;
	struct my_pmu_sample sample;
	struct my_pmu_sample last;
	char line[LINE_LEN];
};

/* The hotplug callbacks get no argument of ours. */
static struct my_session *session;

/* --- what is printed ------------------------------------------------------- */

static void __init print_pmu(const struct my_pmu_cpu *c)
{
	const struct cpuinfo_x86 *info = &cpu_data(c->cpu);
	const struct my_x86_pmu *pmu = &c->pmu;
	unsigned long generic = pmu->counters & MY_GENERIC_COUNTERS;
	unsigned long fixed = pmu->counters >> INTEL_PMC_IDX_FIXED;

	pr_info("cpu%d: %s, family %u model %u stepping %u\n", c->cpu,
		info->x86_model_id, info->x86, info->x86_model,
		info->x86_stepping);
	pr_info("... version:              %u\n", pmu->version);
	pr_info("... bit width:            %u\n", pmu->cntval_bits);
	pr_info("... generic registers:    %u (gp%*pbl)\n",
		my_pmu_num_counters(pmu), INTEL_PMC_IDX_FIXED, &generic);
	if (!fixed) {
		pr_info("... fixed-purpose events: 0\n");
		return;
	}
	pr_info("... fixed-purpose events: %u (fixed%*pbl), %u bits\n",
		my_pmu_num_counters_fixed(pmu), INTEL_PMC_IDX_FIXED, &fixed,
		pmu->cntval_bits_fixed);
}

static u64 whole_seconds(u64 ns, u32 *us)
{
	u32 rest;
	u64 s = div_u64_rem(ns, NSEC_PER_SEC, &rest);

	*us = rest / NSEC_PER_USEC;
	return s;
}

static size_t start_line(struct my_session *s)
{
	u32 t_us, dt_us;
	u64 t = whole_seconds(s->sample.time, &t_us);
	u64 dt = whole_seconds(s->sample.time - s->last.time, &dt_us);
	size_t len;

	len = scnprintf(s->line, LINE_LEN, "cpu%d t=%llu.%06u dt=%llu.%06u",
			s->c.cpu, t, t_us, dt, dt_us);
	if (s->missed)
		len += scnprintf(s->line + len, LINE_LEN - len, " missed=%llu",
				 s->missed);
	return len;
}

/* What somebody else wrote into a counter is no growth. */
static int add_event(struct my_session *s, size_t len, unsigned int i)
{
	const struct my_perf_event *event = &s->c.event[i];
	const char *kind = my_pmc_kind(event->hw.idx);
	int number = my_pmc_number(event->hw.idx);

	if (s->sample.stolen & BIT_ULL(event->hw.idx))
		return snprintf(s->line + len, LINE_LEN - len, " stolen=%s%d",
				kind, number);
	return snprintf(s->line + len, LINE_LEN - len, " %s@%s%d=%llu",
			event->attr.name, kind, number,
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

static bool take_sample(struct my_session *s)
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
	return true;
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
		s->missed = take_sample(s) ? 0 : s->missed + 1;
		next = my_pmu_next_tick(ktime_get_ns() - start, interval);
		s->missed += next - tick - 1;
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

/* Only the first time may it fail: later that would keep the CPU offline. */
static int cpu_up_callback(unsigned int cpu)
{
	struct my_session *s = session;
	int err;

	if (cpu != s->c.cpu)
		return 0;
	err = my_pmu_cpu_up(&s->c);
	if (!s->hotplug_state)
		return err;
	if (err)
		pr_err("cpu%u is back, but cannot be counted on: a PMU register faulted\n",
		       cpu);
	else
		pr_info("cpu%u is back, counting goes on\n", cpu);
	return 0;
}

static int cpu_down_callback(unsigned int cpu)
{
	struct my_session *s = session;

	if (cpu != s->c.cpu)
		return 0;
	if (my_pmu_cpu_down(&s->c))
		pr_err("cpu%u: a PMU register faulted, not all are as they were\n",
		       cpu);
	if (s->counting)
		pr_info("cpu%u goes offline, counting rests\n", cpu);
	return 0;
}

/* Under cpus_read_lock(). */
static int __init start_counting(struct my_session *s)
{
	int state;

	state = cpuhp_setup_state_cpuslocked(CPUHP_AP_ONLINE_DYN, "my_pmu:online",
					     cpu_up_callback, cpu_down_callback);
	if (state == -EIO)
		pr_err("cpu%d: a PMU register faulted\n", s->c.cpu);
	else if (state < 0)
		pr_err("no CPU hotplug state is to be had (error %d)\n", state);
	if (state < 0)
		return state;
	s->hotplug_state = state;
	if (s->c.away) {
		/* Online, but hotplug was stopped by hand below our state. */
		pr_err("cpu: %d is not all the way online\n", s->c.cpu);
		__cpuhp_remove_state_cpuslocked(state, true);
		return -ENXIO;
	}
	s->counting = true;
	s->last.time = s->c.event[0].hw.prev_time;
	return 0;
}

static void stop_counting(struct my_session *s)
{
	cpus_read_lock();
	s->counting = false;
	__cpuhp_remove_state_cpuslocked(s->hotplug_state, true);
	cpus_read_unlock();
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

static int __init parse_counters(struct my_session *s)
{
	struct my_perf_event_attr *attr;
	struct my_pmu_why why;
	int nr, err;

	attr = kcalloc(MY_PMC_MAX, sizeof(*attr), GFP_KERNEL);
	if (!attr)
		return -ENOMEM;
	nr = my_parse_events(param_counters, attr, MY_PMC_MAX, &why);
	err = nr < 0 ? nr : my_pmu_cpu_init(&s->c, attr, nr, &why);
	if (err)
		pr_err("counters: %s\n", why.text);
	kfree(attr);
	return err;
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

/* --- load and unload -------------------------------------------------------- */

/* Until reserve() nothing has been touched, whatever is refused. */
static int __init prepare(struct my_session *s)
{
	int err;

	err = parse_cpu(&s->c.cpu);
	if (err)
		return err;
	err = parse_interval(s);
	if (err)
		return err;
	err = detect(s);
	if (err)
		return err;
	err = parse_counters(s);
	if (err)
		return err;
	return check_interval(s);
}

static int __init take_over(struct my_session *s)
{
	int err;

	err = reserve(s);
	if (err)
		return err;
	print_pmu(&s->c);
	err = start_counting(s);
	if (err)
		my_pmu_release(&s->c.pmu);
	return err;
}

static void hand_back(struct my_session *s)
{
	stop_counting(s);
	my_pmu_release(&s->c.pmu);
}

static int __init my_pmu_init(void)
{
	int err;

	session = kzalloc(sizeof(*session), GFP_KERNEL);
	if (!session)
		return -ENOMEM;

	/* From the first look at the CPU until it is ours it must not go. */
	cpus_read_lock();
	err = prepare(session);
	if (!err)
		err = take_over(session);
	cpus_read_unlock();
	if (err)
		goto err_free;

	err = start_sampler(session);
	if (err)
		goto err_hand_back;
	return 0;

err_hand_back:
	hand_back(session);
err_free:
	kfree(session);
	return err;
}

static void __exit my_pmu_exit(void)
{
	kthread_stop(session->sampler);
	hand_back(session);
	kfree(session);
}

module_init(my_pmu_init);
module_exit(my_pmu_exit);

MODULE_DESCRIPTION("Count x86 PMU events on a CPU and print how they grow");
MODULE_LICENSE("GPL");
