// SPDX-License-Identifier: GPL-2.0
/*
 * The sampler: a thread reads all CPUs every interval, and prints how the events have
 * grown.
 *
 * Where the interval is longer than a counter may be left unread (32-bit counters wrap
 * within a second), the thread reads the counters in between, and no sample comes of
 * that.
 */
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/sched/isolation.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "pmu_print.h"
#include "pmu_read.h"
#include "pmu_sampler.h"
#include "pmu_samples.h"
#include "pmu_session.h"
#include "pmu_trace.h"

/**
 * struct my_sampler - the thread and what it uses
 * @session: whose samples
 * @task: the thread; NULL if there is nothing to sample and no guard to look after
 * @start: the time from which samples are due, CLOCK_MONOTONIC, ns
 * @anew: what is counted, or how often it is read, has changed: the thread begins at @start
 * @number: of the sample
 * @samples: the file with all samples
 * @summary: of several CPUs
 * @printer: where lines are made
 */
struct my_sampler {
	struct my_session *session;
	struct task_struct *task;
	u64 start;
	bool anew;
	u64 number;
	struct my_samples samples;
	struct my_summary summary;
	struct my_printer printer;
};

static struct my_sampler *sampler;

static void print_samples(struct my_session *s)
{
	struct my_printer *p = &sampler->printer;
	bool single = cpumask_weight(s->cpus) == 1;
	struct my_target *t;

	memset(&sampler->summary, 0, sizeof(sampler->summary));
	for (t = my_session_next(s, NULL); t; t = my_session_next(s, t)) {
		if (t->reading.err)
			continue;
		my_print_sample(p, t);
		if (!single)
			my_summary_add(&sampler->summary, t);
	}
	/* More than a screenful is in the file only. */
	if (!single && p->nr_lines > MY_LINES_MAX)
		p->nr_lines = 0;
	my_print_flush(p);
	if (!sampler->summary.nr_cpus)
		return;
	my_print_summary(p, &sampler->summary, s->attr, s->nr_events);
	my_print_flush(p);
}

/* All CPUs at once; if @keep_up, their counts are only brought up to date. */
static void read_cpus(struct my_session *s, bool keep_up)
{
	struct my_target *t;

	for (t = my_session_next(s, NULL); t; t = my_session_next(s, t))
		t->reading.sample = keep_up ? NULL : &t->sample;
	my_pmu_read_cpus(s->cpus, s->request);
}

/*
 * perf may put a guard off (my_perf_exclude()).  A CPU whose set is online cannot go
 * meanwhile: its hotplug callback waits for @sample_lock.
 */
static void check_guards(struct my_session *s)
{
	struct my_pmu_why why;
	struct my_target *t;
	void *before;
	bool lost;
	int err;

	for (t = my_session_next(s, NULL); t; t = my_session_next(s, t)) {
		if (t->set.offline)
			continue;
		before = t->set.cpu->guard;
		lost = t->set.cpu->unguarded;
		err = my_session_guard(s, t->set.cpu, &why);
		if (err && !lost)
			pr_err("cpu%d: perf is not kept out any more, counts may be wrong: %s\n",
			       t->set.cpu->cpu, why.text);
		else if (lost && !err)
			pr_info("cpu%d: perf is kept out again\n", t->set.cpu->cpu);
		else if (t->set.cpu->guard != before)
			pr_err("cpu%d: perf was not kept out for a while, counts may be wrong\n",
			       t->set.cpu->cpu);
	}
}

static void trace_sample(const struct my_target *t)
{
	unsigned int i;

	for (i = 0; i < t->set.nr_events; i++) {
		const struct my_grown *grown = &t->grown[i];

		trace_my_pmu_sample(t->set.event[i].attr.name, t->set.cpu->cpu,
				    sampler->number, t->sample.time, grown->known,
				    grown->growth, grown->enabled, grown->running);
	}
}

static void take_samples(struct my_session *s)
{
	struct my_target *t;

	if (!s->nr_events)
		return;
	read_cpus(s, false);
	sampler->number++;
	for (t = my_session_next(s, NULL); t; t = my_session_next(s, t)) {
		if (t->reading.err == -EIO)
			pr_err_ratelimited("cpu%d: no sample: %s\n", t->set.cpu->cpu,
					   my_pmu_failed(&t->set.cpu->pmu));
		if (t->reading.err)
			continue;	/* offline: a message has said so */
		my_target_grow(t);
		my_samples_add(&sampler->samples, t, sampler->number);
		if (trace_my_pmu_sample_enabled())
			trace_sample(t);
	}
	if (s->log)
		print_samples(s);
	for (t = my_session_next(s, NULL); t; t = my_session_next(s, t)) {
		if (t->reading.err) {
			t->missed++;
			WRITE_ONCE(t->nr_missed, t->nr_missed + 1);
			continue;
		}
		t->last = t->sample;	/* the next growth is from here */
		t->missed = 0;
		WRITE_ONCE(t->nr_samples, t->nr_samples + 1);
	}
	my_samples_wake(&sampler->samples);
}

static void note_missed(struct my_session *s, u64 ticks)
{
	struct my_target *t;

	for (t = my_session_next(s, NULL); t; t = my_session_next(s, t)) {
		t->missed += ticks;
		WRITE_ONCE(t->nr_missed, t->nr_missed + ticks);
	}
}

/* Or until there is something new.  Returns false as soon as the thread is to stop. */
static bool sleep_until(u64 ns)
{
	ktime_t expires = ns_to_ktime(ns);

	for (;;) {
		set_current_state(TASK_IDLE);
		if (kthread_should_stop())
			break;
		if (READ_ONCE(sampler->anew)) {
			__set_current_state(TASK_RUNNING);
			return true;
		}
		if (!schedule_hrtimeout(&expires, HRTIMER_MODE_ABS))
			return true;
	}
	__set_current_state(TASK_RUNNING);
	return false;
}

/* Anywhere but on the CPUs that are measured, if there is another. */
static void avoid_cpus(const struct cpumask *cpus)
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

/*
 * How long the narrowest counter is left unread: a quarter of what it may be, since
 * without a reliable overflow bit one late read loses the growth of a whole sample.
 */
static u64 keep_up_ns(struct my_session *s)
{
	unsigned int ms = UINT_MAX, bits;
	const struct my_x86_pmu *pmu;
	struct my_target *t;

	for (t = my_session_next(s, NULL); t; t = my_session_next(s, t)) {
		pmu = &t->set.cpu->pmu;
		/* A CPU that joins may use any counter. */
		bits = my_pmu_bits(pmu, s->all ? pmu->counters : t->set.used);
		ms = min(ms, my_pmu_max_interval_ms(bits, t->set.rate_log2));
	}
	return (u64)ms * NSEC_PER_MSEC / 4;
}

static int run_sampler(void *data)
{
	u64 interval = 0, keep_up = 0, tick = 0, next, due, wake;
	struct my_session *s = data;

	mutex_lock(&s->sample_lock);
	for (;;) {
		if (sampler->anew) {
			WRITE_ONCE(sampler->anew, false);
			avoid_cpus(s->cpus);
			interval = (u64)s->interval_ms * NSEC_PER_MSEC;
			keep_up = keep_up_ns(s);
			tick = 1;
		}
		due = sampler->start + tick * interval;
		wake = min(due, ktime_get_ns() + keep_up);
		mutex_unlock(&s->sample_lock);
		if (!sleep_until(wake))
			return 0;
		mutex_lock(&s->sample_lock);
		if (sampler->anew)
			continue;
		if (s->guarded)
			check_guards(s);
		if (wake < due) {
			read_cpus(s, true);
			continue;
		}
		take_samples(s);
		next = my_pmu_next_tick(ktime_get_ns() - sampler->start, interval);
		/* Its clock may be a little behind the timer's. */
		next = max(next, tick + 1);
		note_missed(s, next - tick - 1);
		tick = next;
	}
}

/**
 * my_sampler_init() - room for samples
 * @s: the session
 *
 * Context: task.
 * Return: 0 or -ENOMEM.
 */
int my_sampler_init(struct my_session *s)
{
	int err;

	sampler = kvzalloc(sizeof(*sampler), GFP_KERNEL);
	if (!sampler)
		return -ENOMEM;
	sampler->session = s;
	err = my_samples_init(&sampler->samples, my_session_rows(s));
	if (err)
		kvfree(sampler);
	return err;
}

/**
 * my_sampler_start() - take samples from now on
 *
 * Context: task; the session's CPUs are counting.
 * Return: 0, or the errno of what refused the thread.
 */
int my_sampler_start(void)
{
	struct my_session *s = sampler->session;
	struct task_struct *task;

	/* Without events of its own it looks after the guards. */
	if (!s->nr_events && !s->guarded)
		return 0;
	sampler->start = s->start;
	sampler->anew = true;
	task = kthread_run(run_sampler, s, "my_pmu/%*pbl", cpumask_pr_args(s->cpus));
	if (IS_ERR(task)) {
		pr_err("no thread can be started\n");
		return PTR_ERR(task);
	}
	sampler->task = task;
	return 0;
}

/**
 * my_sampler_prepare() - something else is to be sampled
 * @next: what
 *
 * Context: task, under the session's lock.
 * Return: 0; -ENOMEM, or what refused the thread.
 */
int my_sampler_prepare(struct my_session *next)
{
	struct my_session *s = sampler->session;
	struct task_struct *task;
	int err;

	err = my_samples_make_room(&sampler->samples, my_session_rows(next));
	if (err || sampler->task || !next->nr_events)
		return err;
	/* It finds that there is nothing to do, until it is told. */
	sampler->start = ktime_get_ns();
	sampler->anew = true;
	task = kthread_run(run_sampler, s, "my_pmu/%*pbl", cpumask_pr_args(next->cpus));
	if (IS_ERR(task))
		return PTR_ERR(task);
	sampler->task = task;
	return 0;
}

/**
 * my_sampler_sample() - a sample that was not due
 *
 * Context: task, under the session's lock.
 */
void my_sampler_sample(void)
{
	if (sampler->session->guarded)
		check_guards(sampler->session);
	take_samples(sampler->session);
}

/**
 * my_sampler_begin() - samples are due anew from now on
 *
 * Context: task, under the session's lock.
 */
void my_sampler_begin(void)
{
	sampler->start = ktime_get_ns();
	WRITE_ONCE(sampler->anew, true);
	if (sampler->task)
		wake_up_process(sampler->task);
}

/**
 * my_sampler_samples() - the rows
 *
 * Context: any, between my_sampler_init() and my_sampler_free().
 * Return: the rows, for who reads them.
 */
struct my_samples *my_sampler_samples(void)
{
	return &sampler->samples;
}

/**
 * my_sampler_show() - make the files with all samples
 * @dir: where, in debugfs
 *
 * Context: task.
 */
void my_sampler_show(struct dentry *dir)
{
	my_samples_show(&sampler->samples, dir);
}

/**
 * my_sampler_stop() - take no more samples
 *
 * Context: task; waits for the one that is being taken.
 */
void my_sampler_stop(void)
{
	if (sampler->task)
		kthread_stop(sampler->task);
}

/**
 * my_sampler_free() - the end of my_sampler_init()
 *
 * Context: task; the thread has stopped, and no file is open.
 */
void my_sampler_free(void)
{
	my_samples_free(&sampler->samples);
	kvfree(sampler);
}
