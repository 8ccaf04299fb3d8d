// SPDX-License-Identifier: GPL-2.0
/*
 * Events of other modules, on any CPU, beside those that the module's parameters ask
 * for.
 *
 * What is created together, one event or a group, is an event set with counters of its
 * own: so it starts, stops, and goes and comes with its CPU without touching those of
 * others, and is never multiplexed.  It has its counters from its creation to its end,
 * counting or not.
 */
#include <linux/bitops.h>
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/export.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include "pmu_client.h"
#include "pmu_compat.h"
#include "pmu_cpu.h"
#include "pmu_event.h"
#include "pmu_names.h"
#include "pmu_parse.h"
#include "pmu_pool.h"
#include "pmu_print.h"
#include "pmu_read.h"
#include "pmu_schedule.h"
#include "pmu_why.h"

/**
 * struct my_client - what one call of my_perf_event_create() has created
 * @list: of all
 * @set: its events
 */
struct my_client {
	struct list_head list;
	struct my_event_set set;
};

/* Taken under cpus_read_lock(), in a hotplug callback, or in the keeper's work. */
static DEFINE_MUTEX(clients_lock);
static LIST_HEAD(clients);
static const struct my_client_host *host;
static bool asleep;
static unsigned long period;	/* in which all of them are read, jiffies */

/**
 * my_clients_lock() - from now on no event of another module is created or destroyed
 *
 * Context: task; sleeps.  Until my_clients_unlock().
 */
void my_clients_lock(void)
{
	mutex_lock(&clients_lock);
}

/**
 * my_clients_unlock() - and now they are again
 *
 * Context: task.
 */
void my_clients_unlock(void)
{
	mutex_unlock(&clients_lock);
}

/* --- so that no counter wraps twice unseen, whenever its module reads it ---------- */

/* How often the narrowest counter in use is read. */
static unsigned long find_period(void)
{
	struct my_client *client;
	unsigned int ms = UINT_MAX;

	list_for_each_entry(client, &clients, list)
		ms = min(ms, my_pmu_max_interval_ms(my_event_set_bits(&client->set),
						    client->set.rate_log2));
	return my_pmu_keep_up_jiffies(ms);
}

static void keep_up(struct work_struct *work)
{
	struct my_client *client;

	mutex_lock(&clients_lock);
	list_for_each_entry(client, &clients, list)
		my_event_set_keep_up(&client->set);	/* whoever reads it sees what fails */
	period = find_period();
	if (!list_empty(&clients))
		queue_delayed_work(system_dfl_wq, to_delayed_work(work), period);
	mutex_unlock(&clients_lock);
}

static DECLARE_DELAYED_WORK(keeper, keep_up);

/* For the first client, or one with narrower counters than all others. */
static void keep_up_with_new(void)
{
	unsigned long new_period = find_period();

	if (!list_is_singular(&clients) && new_period >= period)
		return;
	period = new_period;
	mod_delayed_work(system_dfl_wq, &keeper, period);
}

/* --- one of them ------------------------------------------------------------------ */

/* One group, which is never multiplexed: its counts need no scaling. */
static int parse_group(const char *events, struct my_perf_event_attr *attr,
		       struct my_pmu_why *why)
{
	int nr = my_parse_events(events, attr, MY_EVENTS_MAX, why), i;

	if (nr > 0 && attr[nr - 1].group)
		return my_refuse(why, -EINVAL,
				 "'%s' is a second one: give one event, or a group in braces",
				 attr[nr - 1].name);
	for (i = 0; i < nr; i++)
		attr[i].pinned = true;
	return nr;
}

static void release(struct my_event_set *set)
{
	my_event_set_release(set);
	my_pools_lend(set->cpu->cpu);	/* if a register faults they do without */
}

static int start(struct my_event_set *set, struct my_perf_event_attr *attr,
		 unsigned int nr, struct my_pmu_why *why)
{
	struct my_pmu_cpu *cpu = set->cpu;
	const struct my_names *names;
	unsigned int i;
	int err;

	if (asleep)
		return my_refuse(why, -EBUSY, "the machine goes to sleep");
	if (!cpu_active(cpu->cpu))
		return my_refuse(why, -ENXIO, "CPU %d is offline", cpu->cpu);
	err = my_pmu_probe(cpu, NULL, why);
	if (err)
		return err;
	if (!my_pmu_cpu_is_kept(cpu, host->reserved, host->guarded))
		return my_refuse(why, -EBUSY,
				 "CPU %d has counters that are not kept from perf: load my_pmu with cpu= naming it, too",
				 cpu->cpu);
	err = my_pmu_find_firmware(cpu, NULL, why);
	names = host->names(cpu);
	for (i = 0; i < nr && !err; i++)
		err = my_names_lookup(names, &cpu->pmu, cpu->cpu, &attr[i], why);
	if (err)
		return err;
	err = my_event_set_assign(set, attr, nr, &i, why);
	if (err)
		return err;
	set->enabled = 0;	/* yet */
	err = my_pools_withdraw(cpu->cpu, set->used, why);
	if (!err)
		err = my_event_set_up(set, why);
	if (!err)
		my_print_doubtful(set);
	else
		release(set);
	return err;
}

/* CPUs must not go between the look at them and the entry in the list. */
static int fill_client(struct my_client *client, const char *events,
		       struct my_pmu_why *why)
{
	struct my_perf_event_attr *attr;
	int nr, err;

	attr = kvcalloc(MY_EVENTS_MAX, sizeof(*attr), GFP_KERNEL);
	if (!attr)
		return my_refuse(why, -ENOMEM, "no memory for the events");
	nr = parse_group(events, attr, why);
	if (nr < 0) {
		kvfree(attr);
		return nr;
	}
	cpus_read_lock();
	mutex_lock(&clients_lock);
	err = start(&client->set, attr, nr, why);
	if (!err) {
		list_add_tail(&client->list, &clients);
		keep_up_with_new();
	}
	mutex_unlock(&clients_lock);
	cpus_read_unlock();
	kvfree(attr);
	return err;
}

/**
 * my_perf_event_create() - an event, or a group, on a CPU
 * @cpu: the CPU; online
 * @events: one event, or several in braces, as the parameter counters= has them
 * @why: if refused, the reason
 *
 * What is in braces starts, stops and is read at the same instant (from version 2
 * on).  It gets counters that no other event has, and keeps them; it is never multiplexed.
 * Each of them is tested, with some ten thousand instructions on the CPU, which
 * whatever counts there sees.  Nothing of this counts before
 * my_perf_event_enable(); and while it does not, firmware that looks only whether a
 * counter is in use could take it.
 *
 * Context: task; sleeps.  Takes cpus_read_lock(): not in a hotplug callback.
 * Return: the first event, which stands for all of them; or ERR_PTR: -EINVAL if
 * @events is wrong or @cpu is no CPU; -ENXIO if it is offline; -EOPNOTSUPP if it
 * does not have the event; -ENOSPC if no counter is left for it; -EBUSY if a counter is
 * named that is in use, if the CPU has counters that are not kept from perf, or if the
 * machine is about to sleep; -ENODEV if a counter, or all of the PMU, does not work; -EIO
 * if a register faulted; -ENOMEM.
 */
struct my_perf_event *my_perf_event_create(int cpu, const char *events,
					   struct my_pmu_why *why)
{
	struct my_client *client;
	int err;

	if (cpu < 0 || cpu >= nr_cpu_ids || !cpu_possible(cpu))
		return ERR_PTR(my_refuse(why, -EINVAL, "there is no CPU %d",
					 cpu));
	client = kvzalloc(sizeof(*client), GFP_KERNEL);
	if (!client)
		return ERR_PTR(my_refuse(why, -ENOMEM, "no memory for the events"));
	my_event_set_init(&client->set, my_pmu_cpu_of(cpu));
	err = fill_client(client, events, why);
	if (!err)
		return &client->set.event[0];
	kvfree(client);
	return ERR_PTR(err);
}
EXPORT_SYMBOL_GPL(my_perf_event_create);

/* If a register faults, nothing is left to do about it. */
static void end_client(struct my_client *client)
{
	my_event_set_down(&client->set);
	release(&client->set);
	list_del(&client->list);
	kvfree(client);
}

/**
 * my_perf_event_destroy() - the end of what my_perf_event_create() has created
 * @event: what that returned; no longer in use
 *
 * Its registers are as they were before, except for generic counters' values that
 * cannot be written.
 *
 * Context: task; sleeps.  Takes cpus_read_lock(): not in a hotplug callback.
 */
void my_perf_event_destroy(struct my_perf_event *event)
{
	cpus_read_lock();
	mutex_lock(&clients_lock);
	end_client(container_of(event->set, struct my_client, set));
	mutex_unlock(&clients_lock);
	cpus_read_unlock();
}
EXPORT_SYMBOL_GPL(my_perf_event_destroy);

/* --- all of them ------------------------------------------------------------------ */

/**
 * my_clients_sleep() - whether the machine is about to sleep, or to end
 * @sleeps: it is: until it is not any more, no CPU comes, and no event
 *
 * Context: task; sleeps.
 */
void my_clients_sleep(bool sleeps)
{
	mutex_lock(&clients_lock);
	asleep = sleeps;
	mutex_unlock(&clients_lock);
}

/**
 * my_clients_begin() - from now on other modules can have events
 * @new_host: what these depend on; until my_clients_end()
 *
 * Context: task; sleeps.
 */
void my_clients_begin(const struct my_client_host *new_host)
{
	host = new_host;
	my_clients_sleep(false);
}

/**
 * my_clients_end() - the end of events of other modules
 *
 * No caller is left: a module that calls this one keeps it loaded.  But one may have
 * been unloaded without destroying its events.
 *
 * Context: task; sleeps.
 * Return: how many calls of my_perf_event_create() have left something, which is
 * gone now.
 */
unsigned int my_clients_end(void)
{
	struct my_client *client, *next;
	unsigned int left = 0;

	cancel_delayed_work_sync(&keeper);
	cpus_read_lock();
	mutex_lock(&clients_lock);
	list_for_each_entry_safe(client, next, &clients, list) {
		end_client(client);
		left++;
	}
	mutex_unlock(&clients_lock);
	cpus_read_unlock();
	return left;
}

/**
 * my_clients_come() - a CPU is back: what was enabled there counts on
 * @cpu: the CPU; nothing happens while the machine is about to sleep
 * @why: if one of them does not, the reason of the first
 *
 * Context: task; sleeps.  Under cpus_read_lock(), or in a hotplug callback.
 * Return: 0, or what my_event_set_up() says of the first that cannot.
 */
int my_clients_come(int cpu, struct my_pmu_why *why)
{
	struct my_pmu_why reason;
	struct my_client *client;
	int first = 0, err;

	mutex_lock(&clients_lock);
	list_for_each_entry(client, &clients, list) {
		if (asleep || client->set.cpu->cpu != cpu)
			continue;
		err = my_event_set_up(&client->set, &reason);
		if (err && !first) {
			first = err;
			*why = reason;
		}
	}
	mutex_unlock(&clients_lock);
	return first;
}

/**
 * my_clients_go() - a CPU goes: all registers are put back, all counts are kept
 * @cpu: the CPU
 *
 * Context: as my_clients_come().
 * Return: 0, or -EIO if a register faulted; then some reads may return -ESTALE.
 */
int my_clients_go(int cpu)
{
	struct my_client *client;
	int first = 0, err;

	mutex_lock(&clients_lock);
	list_for_each_entry_reverse(client, &clients, list) {
		if (client->set.cpu->cpu != cpu)
			continue;
		err = my_event_set_down(&client->set);
		first = first ?: err;
	}
	mutex_unlock(&clients_lock);
	return first;
}
