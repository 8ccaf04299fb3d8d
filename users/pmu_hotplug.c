// SPDX-License-Identifier: GPL-2.0
/*
 * CPUs come and go: by hotplug, in suspend, at the end of the machine; and at load and
 * unload, when all of them do.  So there is one way up and one way down, and under
 * cpus_read_lock() neither can race with a CPU.
 */
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/reboot.h>
#include <linux/suspend.h>

#include "pmu_client.h"
#include "pmu_event.h"
#include "pmu_hotplug.h"
#include "pmu_pool.h"
#include "pmu_sampler.h"
#include "pmu_session.h"
#include "pmu_why.h"

/* How often a lock is tried that must not be waited for, once in a millisecond. */
#define TRIES	200

/*
 * The hotplug callbacks get no argument of ours.
 *
 * @session: whose CPUs come and go; NULL while it is not counting
 * @state: dynamic CPU hotplug state
 * @up: CPUs that have reached it since it was set up
 * @asleep: between the notices of suspend and resume
 */
static struct {
	struct my_session *session;
	int state;
	struct cpumask up;
	bool asleep;
} hotplug;

/*
 * Serializes changes of the session with each other, with the creation of counters for perf's
 * events and with suspend.  Taken before cpus_read_lock(); where locks of perf are held it is
 * only tried.
 */
static DEFINE_MUTEX(start_lock);

static bool lock_start(void)
{
	if (!mutex_trylock(&start_lock))
		return false;
	if (cpus_read_trylock())
		return true;
	mutex_unlock(&start_lock);
	return false;
}

static void unlock_start(void)
{
	cpus_read_unlock();
	mutex_unlock(&start_lock);
}

/* Above our state.  One that was half online at the load may call no callback on its way up. */
static bool has_come_up(int cpu)
{
	return cpumask_test_cpu(cpu, &hotplug.up) || cpu_active(cpu);
}

static void target_comes(struct my_target *t, const char *how)
{
	struct my_session *s = hotplug.session;
	int cpu = t->set.cpu->cpu;
	struct my_pmu_why why;
	int err;

	if (!t->set.offline || !has_come_up(cpu))
		return;
	mutex_lock(&s->sample_lock);
	/* In suspend, too, before other tasks wake up. */
	err = my_session_guard(s, t->set.cpu, &why);
	if (hotplug.asleep) {
		mutex_unlock(&s->sample_lock);
		return;
	}
	if (err || my_event_set_up(&t->set, &why)) {
		pr_err("cpu%d %s, but cannot be counted on: %s\n", cpu, how, why.text);
	} else {
		if (!t->last.time)
			t->last.time = t->set.up_since;
		pr_info("cpu%d %s, counting goes on\n", cpu, how);
	}
	mutex_unlock(&s->sample_lock);
}

static void report_fault(int cpu, int err)
{
	if (err)
		pr_err("cpu%d: %s, not all are as they were\n", cpu,
		       my_pmu_failed(&my_pmu_cpu_of(cpu)->pmu));
}

static void target_goes(struct my_session *s, struct my_target *t, const char *how)
{
	int cpu = t->set.cpu->cpu;

	if (t->set.offline)
		return;
	mutex_lock(&s->sample_lock);
	report_fault(cpu, my_event_set_down(&t->set));
	pr_info("cpu%d %s, counting rests\n", cpu, how);
	mutex_unlock(&s->sample_lock);
}

/* Events of other modules. */
static void clients_come(int cpu)
{
	struct my_pmu_why why;

	/* There are none, or the reason is printed. */
	if (hotplug.session->guarded && !my_pmu_cpu_is_guarded(my_pmu_cpu_of(cpu)))
		return;
	if (my_clients_come(cpu, &why))
		pr_err("cpu%d is back, but an event of another module cannot be counted: %s\n",
		       cpu, why.text);
}

/* Events of perf. */
static void pool_comes(int cpu)
{
	struct my_pmu_why why;

	if (my_pools_come(cpu, &why))
		pr_err("cpu%d: events of perf (my_pmu/.../) are not counted there: %s\n", cpu,
		       why.text);
}

/* It must not fail: that would keep the CPU offline. */
static int cpu_up_callback(unsigned int cpu)
{
	struct my_session *s = hotplug.session;
	struct my_target *t = s->target[cpu];
	const char *how = t ? "is back" : "is new";

	cpumask_set_cpu(cpu, &hotplug.up);
	if (!t && s->all)
		t = my_session_join(s, cpu);
	if (t)
		target_comes(t, how);
	clients_come(cpu);
	pool_comes(cpu);
	return 0;
}

static int cpu_down_callback(unsigned int cpu)
{
	struct my_session *s = hotplug.session;

	report_fault(cpu, my_pools_go(cpu));
	report_fault(cpu, my_clients_go(cpu));
	if (s->target[cpu])
		target_goes(s, s->target[cpu], "goes offline");
	mutex_lock(&s->sample_lock);
	my_session_unguard(my_pmu_cpu_of(cpu));
	mutex_unlock(&s->sample_lock);
	cpumask_clear_cpu(cpu, &hotplug.up);
	return 0;
}

static void sleep_begins(const char *how)
{
	struct my_session *s = hotplug.session;
	struct my_target *t;
	int cpu;

	my_pools_sleep(true);
	my_clients_sleep(true);
	for_each_online_cpu(cpu) {
		report_fault(cpu, my_pools_go(cpu));
		report_fault(cpu, my_clients_go(cpu));
	}
	for (t = my_session_next(s, NULL); t; t = my_session_next(s, t))
		target_goes(s, t, how);
	hotplug.asleep = true;
}

static void sleep_ends(void)
{
	struct my_session *s = hotplug.session;
	struct my_target *t;
	int cpu;

	hotplug.asleep = false;
	for (t = my_session_next(s, NULL); t; t = my_session_next(s, t))
		target_comes(t, "is back");
	my_clients_sleep(false);
	my_pools_sleep(false);
	for_each_online_cpu(cpu) {
		if (!has_come_up(cpu))
			continue;
		clients_come(cpu);
		pool_comes(cpu);
	}
}

/*
 * In suspend the boot CPU does not go through hotplug, and loses its registers
 * nevertheless.
 */
static int sleep_callback(struct notifier_block *nb, unsigned long event, void *unused)
{
	mutex_lock(&start_lock);
	cpus_read_lock();
	switch (event) {
	case PM_SUSPEND_PREPARE:
	case PM_HIBERNATION_PREPARE:
	case PM_RESTORE_PREPARE:
		sleep_begins("is suspended");
		break;
	case PM_POST_SUSPEND:
	case PM_POST_HIBERNATION:
	case PM_POST_RESTORE:
		sleep_ends();
		break;
	}
	unlock_start();
	return NOTIFY_DONE;
}

/* After a kexec no counter of ours may be found counting. */
static int reboot_callback(struct notifier_block *nb, unsigned long event, void *unused)
{
	mutex_lock(&start_lock);
	cpus_read_lock();
	sleep_begins("shuts down");
	unlock_start();
	return NOTIFY_DONE;
}

static struct notifier_block sleep_notifier = { .notifier_call = sleep_callback };
static struct notifier_block reboot_notifier = { .notifier_call = reboot_callback };

static const struct my_names *names_of(const struct my_pmu_cpu *cpu)
{
	return my_session_names(hotplug.session, cpu);
}

/* What other modules' events depend on. */
static struct my_client_host client_host = { .names = names_of };

static void down_all(struct my_session *s)
{
	struct my_target *t;

	for (t = my_session_next(s, NULL); t; t = my_session_next(s, t)) {
		if (!t->set.offline)
			report_fault(t->set.cpu->cpu, my_event_set_down(&t->set));
	}
}

/*
 * Under cpus_read_lock().  The hotplug state is set up without calling our callbacks, and
 * removed so: that would wait for a thread on each CPU, also where a real-time task never
 * yields.
 */
static int up_all(struct my_session *s)
{
	struct my_pmu_why why;
	struct my_target *t;
	int err = 0, cpu;

	for_each_cpu(cpu, s->cpus) {
		if (cpu_active(cpu))
			continue;
		/* Online, but hotplug was stopped by hand on its way. */
		pr_err("cpu: %d is not all the way online\n", cpu);
		return -ENXIO;
	}
	cpumask_clear(&hotplug.up);
	for_each_online_cpu(cpu) {
		if (cpu_active(cpu))
			cpumask_set_cpu(cpu, &hotplug.up);
	}
	hotplug.asleep = false;
	hotplug.session = s;
	hotplug.state = cpuhp_setup_state_nocalls_cpuslocked(CPUHP_AP_ONLINE_DYN,
							     "my_pmu:online",
							     cpu_up_callback,
							     cpu_down_callback);
	if (hotplug.state < 0) {
		pr_err("no CPU hotplug state can be set up (error %d)\n",
		       hotplug.state);
		return hotplug.state;
	}
	for (t = my_session_next(s, NULL); t; t = my_session_next(s, t)) {
		err = my_event_set_up(&t->set, &why);
		if (err) {
			pr_err("cpu%d: %s\n", t->set.cpu->cpu, why.text);
			break;
		}
		t->last.time = t->set.up_since;
	}
	if (!err) {
		s->start = my_session_next(s, NULL)->last.time;
		return 0;
	}
	__cpuhp_remove_state_cpuslocked(hotplug.state, false);
	down_all(s);
	return err;
}

/* Not under cpus_read_lock(), which the callbacks take. */
static int register_notifiers(void)
{
	int err;

	err = register_pm_notifier(&sleep_notifier);
	if (err) {
		pr_err("no notifier of suspend can be registered (error %d)\n", err);
		return err;
	}
	err = register_reboot_notifier(&reboot_notifier);
	if (err) {
		pr_err("no notifier of reboot can be registered (error %d)\n", err);
		unregister_pm_notifier(&sleep_notifier);
	}
	return err;
}

static void stop_counting(struct my_session *s)
{
	unsigned int left = my_clients_end();
	int cpu;

	if (left)
		pr_err("other modules have not destroyed what they had created, %u times; it is gone\n",
		       left);
	cpus_read_lock();
	__cpuhp_remove_state_cpuslocked(hotplug.state, false);
	down_all(s);
	/* Now: a CPU that goes later has no callback that does it. */
	for_each_online_cpu(cpu)
		report_fault(cpu, my_pools_go(cpu));
	cpus_read_unlock();
	my_pools_end();
	my_session_hand_back(s);
}

/**
 * my_hotplug_start() - start counting on the CPUs of a session
 * @s: the session; the settings are filled in, and @s->cpus unless @s->all
 * @counters: the events, as the parameter has them
 *
 * From the first look at the CPUs until they are counting none may come or go.
 * Messages say what was refused.
 *
 * Context: task.
 * Return: 0; or the errno of what was refused, and then nothing is programmed or
 * reserved.
 */
int my_hotplug_start(struct my_session *s, const char *counters)
{
	unsigned int flags;
	int err;

	/* A suspend that has begun already would not notify us. */
	flags = lock_system_sleep();
	cpus_read_lock();
	err = my_session_take_over(s, counters);
	if (err && *s->why.text) {
		pr_err("%s\n", s->why.text);
	} else if (!err) {
		err = up_all(s);
		if (err)
			my_session_hand_back(s);
	}
	if (!err) {
		my_session_print(s, true);
		client_host.reserved = s->held.counters & MY_GENERIC_COUNTERS;
		client_host.guarded = s->guarded;
		my_clients_begin(&client_host);
	}
	cpus_read_unlock();
	if (!err) {
		err = register_notifiers();
		if (err)
			stop_counting(s);
	}
	unlock_system_sleep(flags);
	return err;
}

/**
 * my_hotplug_stop() - stop counting, and give the PMUs back
 *
 * Context: task.
 */
void my_hotplug_stop(void)
{
	unsigned int flags = lock_system_sleep();

	unregister_reboot_notifier(&reboot_notifier);
	unregister_pm_notifier(&sleep_notifier);
	stop_counting(hotplug.session);
	unlock_system_sleep(flags);
}

/**
 * my_hotplug_start_pools() - events of perf need counters
 * @known: the counters that they may have
 *
 * On CPUs that have none a message says why.  What begins with the first call lasts until
 * my_hotplug_stop().
 *
 * Context: task, between my_hotplug_start() and my_hotplug_stop(); sleeps.  The caller may
 * hold locks of perf for which a CPU waits that goes, so it does not wait long for that CPU.
 * Return: 0; -ENOMEM; -EAGAIN if CPUs come or go, or what is counted is being changed, for 0.2 s.
 */
int my_hotplug_start_pools(u64 known)
{
	unsigned int tries = 0;
	int err, cpu;

	while (!lock_start()) {
		if (++tries == TRIES)
			return -EAGAIN;
		usleep_range(1000, 1100);
	}
	err = my_pools_begin(client_host.reserved, client_host.guarded, known);
	if (!err) {
		for_each_online_cpu(cpu) {
			if (has_come_up(cpu))
				pool_comes(cpu);
		}
	}
	unlock_start();
	return min(err, 0);
}

/* --- something else is counted ----------------------------------------------------- */

/* The CPU has another target in @next than in @s, or none. */
static int change_cpu(struct my_session *s, struct my_session *next, int cpu)
{
	struct my_target *old = s->target[cpu], *t = next->target[cpu];
	struct my_pmu_why why;
	int err;

	if (old && !old->set.offline)
		report_fault(cpu, my_event_set_down(&old->set));
	if (!t && s->guarded && cpu_online(cpu))
		report_fault(cpu, my_pools_go(cpu));	/* the guard goes, too */
	if (!t || !has_come_up(cpu))
		return 0;
	err = my_session_guard(s, t->set.cpu, &why);
	if (!err)
		err = my_event_set_up(&t->set, &why);
	if (err)
		return my_refuse(&next->why, err, "cpu%d: %s", cpu, why.text);
	t->last.time = t->set.up_since;
	return 0;
}

/* As before; what @s had there counts on, if it did. */
static void change_cpu_back(struct my_session *s, struct my_session *next, int cpu, bool counted)
{
	struct my_target *old = s->target[cpu], *t = next->target[cpu];
	size_t len = strlen(next->why.text);
	struct my_pmu_why why;

	if (t && !t->set.offline)
		report_fault(cpu, my_event_set_down(&t->set));
	if (!counted || !my_event_set_up(&old->set, &why))
		return;
	pr_err("cpu%d: it cannot be counted on any more: %s\n", cpu, why.text);
	snprintf(next->why.text + len, sizeof(next->why.text) - len,
		 "; and cpu%d is not counted on any more", cpu);
}

/* Before any CPU is stopped: perf's events may have just taken a counter. */
static int withdraw(struct my_session *s, struct my_session *next)
{
	struct my_pmu_why why;
	struct my_target *t;
	int err;

	for (t = my_session_next(next, NULL); t; t = my_session_next(next, t)) {
		int cpu = t->set.cpu->cpu;

		if (s->target[cpu] == t || !has_come_up(cpu))
			continue;
		err = my_pools_withdraw(cpu, t->set.used, &why);
		if (err)
			return my_refuse(&next->why, err, "cpu%d: %s", cpu, why.text);
	}
	return 0;
}

/* All CPUs, or none. */
static int change_cpus(struct my_session *s, struct my_session *next)
{
	struct cpumask *counted = next->scratch[1];
	int cpu, done, err;

	cpumask_clear(counted);
	for_each_possible_cpu(cpu) {
		if (s->target[cpu] == next->target[cpu])
			continue;
		if (s->target[cpu] && !s->target[cpu]->set.offline)
			cpumask_set_cpu(cpu, counted);
		err = change_cpu(s, next, cpu);
		if (!err)
			continue;
		for_each_possible_cpu(done) {
			if (done <= cpu && s->target[done] != next->target[done])
				change_cpu_back(s, next, done, cpumask_test_cpu(done, counted));
		}
		return err;
	}
	return 0;
}

/* CPUs that are new to the session have to be all the way up. */
static int check_new_cpus(struct my_session *s, struct my_session *next)
{
	int cpu;

	for_each_cpu(cpu, next->cpus) {
		if (!s->target[cpu] && cpu_online(cpu) && !has_come_up(cpu))
			return my_refuse(&next->why, -ENXIO, "cpu: %d is not all the way online",
					 cpu);
	}
	return 0;
}

/* What is not asked for is as it is. */
static void fill_in(struct my_session *s, struct my_session *next)
{
	if (!next->interval_ms)
		next->interval_ms = s->interval_ms;
	if (next->all) {
		cpumask_or(next->cpus, s->cpus, cpu_online_mask);
	} else if (cpumask_empty(next->cpus)) {
		next->all = s->all;
		cpumask_copy(next->cpus, s->cpus);
	}
}

static void find_changed(struct my_session *s, struct my_session *next, struct cpumask *changed)
{
	int cpu;

	cpumask_clear(changed);
	for_each_online_cpu(cpu) {
		if (s->target[cpu] != next->target[cpu])
			cpumask_set_cpu(cpu, changed);
	}
}

static int change_session(struct my_session *s, struct my_session *next, const char *counters)
{
	struct cpumask *changed = next->scratch[0];
	int err, cpu;

	if (hotplug.asleep)
		return my_refuse(&next->why, -EBUSY, "the machine goes to sleep");
	fill_in(s, next);
	err = check_new_cpus(s, next) ?: my_session_plan(s, next, counters);
	if (err)
		return err;
	find_changed(s, next, changed);
	err = my_sampler_prepare(next);
	if (err)
		my_refuse(&next->why, err, "no memory for the samples, or no thread for them");
	err = err ?: withdraw(s, next);
	if (!err) {
		my_sampler_sample();
		err = change_cpus(s, next);
	}
	if (err)
		my_session_unplan(s, next);
	else
		my_session_commit(s, next);
	for_each_cpu(cpu, changed)
		my_pools_lend(cpu);	/* if a register faults, perf's events do without */
	if (err)
		return err;
	my_sampler_begin();
	if (!cpumask_empty(changed))
		my_session_print(s, false);
	return 0;
}

/**
 * my_hotplug_change() - count something else from now on
 * @next: a new session; of its CPUs, @all and the interval what shall change is filled in
 * @counters: the events, as the parameter has them; NULL: as they are
 *
 * All of it, or nothing.  A CPU that keeps its events counts on.  On others counting stops for
 * the self-tests, one CPU after the other: what they count between the sample that ends what was
 * before and that is in no sample.  Meanwhile nothing is read: where a CPU's self-test is slow, a
 * counter of 32 bits may be read late, and its sample says so.
 *
 * Context: task, between my_hotplug_start() and my_hotplug_stop(); sleeps.
 * Return: 0; or the errno of what was refused, and @next->why says it.
 */
int my_hotplug_change(struct my_session *next, const char *counters)
{
	struct my_session *s = hotplug.session;
	unsigned int flags;
	int err;

	flags = lock_system_sleep();
	mutex_lock(&start_lock);
	cpus_read_lock();
	my_clients_lock();
	mutex_lock(&s->sample_lock);
	my_refuse(&next->why, 0, "no memory");
	err = change_session(s, next, counters);
	mutex_unlock(&s->sample_lock);
	my_clients_unlock();
	unlock_start();
	unlock_system_sleep(flags);
	return err;
}

/**
 * my_hotplug_names() - what names mean on a CPU
 * @cpu: the CPU; probed
 *
 * Context: task, between my_hotplug_start() and my_hotplug_stop().
 * Return: what perf said for a CPU like this one; NULL if it was asked for none.
 */
const struct my_names *my_hotplug_names(const struct my_pmu_cpu *cpu)
{
	return names_of(cpu);
}
