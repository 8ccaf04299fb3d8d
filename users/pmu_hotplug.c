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

/* Since the hotplug state was set up; or before, and then no callback was called. */
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
		pr_err("cpu%d: a PMU register faulted, not all are as they were\n",
		       cpu);
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
	cpus_read_unlock();
	return NOTIFY_DONE;
}

/* After a kexec no counter of ours may be found counting. */
static int reboot_callback(struct notifier_block *nb, unsigned long event, void *unused)
{
	cpus_read_lock();
	sleep_begins("shuts down");
	cpus_read_unlock();
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

	if (left)
		pr_err("other modules have not destroyed what they had created, %u times; it is gone\n",
		       left);
	cpus_read_lock();
	__cpuhp_remove_state_cpuslocked(hotplug.state, false);
	down_all(s);
	cpus_read_unlock();
	if (my_pools_end())
		pr_err("a PMU register faulted, not all that perf's events had are as they were\n");
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
	if (!err) {
		err = up_all(s);
		if (err)
			my_session_hand_back(s);
	}
	if (!err) {
		my_session_print(s);
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
 * Return: 0; -EAGAIN if CPUs come or go all the time; -ENOMEM.
 */
int my_hotplug_start_pools(u64 known)
{
	static DEFINE_MUTEX(start_lock);	/* who comes second waits for the counters */
	unsigned int tries = 0;
	int err, cpu;

	mutex_lock(&start_lock);
	while (!cpus_read_trylock()) {
		if (++tries == TRIES) {
			mutex_unlock(&start_lock);
			return -EAGAIN;
		}
		usleep_range(1000, 1100);
	}
	err = my_pools_begin(client_host.reserved, client_host.guarded, known);
	if (!err) {
		for_each_online_cpu(cpu) {
			if (has_come_up(cpu))
				pool_comes(cpu);
		}
	}
	cpus_read_unlock();
	mutex_unlock(&start_lock);
	return min(err, 0);
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
