// SPDX-License-Identifier: GPL-2.0
/*
 * Events of other modules, on any CPU, beside those that the module's parameters ask
 * for.
 *
 * What is made together, one event or a group, is a struct my_pmu_cpu of its own, on
 * counters that nobody else has: so it starts, stops, and goes and comes with its
 * CPU without touching anybody else's, and needs no turns.  It has its counters from
 * its making to its end, counting or not.
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
#include "pmu_event.h"
#include "pmu_names.h"
#include "pmu_owner.h"
#include "pmu_parse.h"
#include "pmu_why.h"

/**
 * struct my_client - what one call of my_perf_event_create() has made
 * @list: of all
 * @c: its CPU, and its events
 */
struct my_client {
	struct list_head list;
	struct my_pmu_cpu c;
};

/* Under cpus_read_lock(), or in a hotplug callback. */
static DEFINE_MUTEX(clients_lock);
static LIST_HEAD(clients);
static const struct my_client_host *host;
static bool asleep;
static unsigned long period;	/* in which all of them are read, jiffies */

/* 48-bit counters have 35 minutes; more is not needed. */
#define KEEP_UP_MAX_MS		(60U * 60 * MSEC_PER_SEC)

static u64 used_of(int cpu)
{
	struct my_client *client;
	u64 used = 0;

	list_for_each_entry(client, &clients, list)
		used |= client->c.cpu == cpu ? client->c.used : 0;
	return used;
}

/**
 * my_clients_used() - the counters of a CPU that other modules have
 * @cpu: the CPU
 *
 * Context: task; sleeps.
 * Return: their ids.
 */
u64 my_clients_used(int cpu)
{
	u64 used;

	mutex_lock(&clients_lock);
	used = used_of(cpu);
	mutex_unlock(&clients_lock);
	return used;
}

/**
 * my_clients_event() - the event of another module that has a counter
 * @cpu: the CPU
 * @idx: the counter
 * @name: filled in, MY_EVENT_NAME_LEN characters
 *
 * Context: task; sleeps.
 * Return: false if there is none.
 */
bool my_clients_event(int cpu, int idx, char *name)
{
	struct my_client *client;
	bool found = false;
	unsigned int i;

	mutex_lock(&clients_lock);
	list_for_each_entry(client, &clients, list) {
		if (client->c.cpu != cpu)
			continue;
		for (i = 0; i < client->c.nr_events; i++) {
			if (client->c.event[i].hw.idx != idx)
				continue;
			strscpy(name, client->c.event[i].attr.name,
				MY_EVENT_NAME_LEN);
			found = true;
		}
	}
	mutex_unlock(&clients_lock);
	return found;
}

/* --- so that no counter wraps twice unseen, whenever its module reads it ---------- */

/* How often the narrowest counter in use must be read. */
static unsigned long find_period(void)
{
	struct my_client *client;
	unsigned int ms = KEEP_UP_MAX_MS;

	list_for_each_entry(client, &clients, list)
		ms = min(ms, my_pmu_max_interval_ms(my_pmu_bits(&client->c)));
	return msecs_to_jiffies(ms);
}

static void keep_up(struct work_struct *work)
{
	struct my_client *client;

	mutex_lock(&clients_lock);
	list_for_each_entry(client, &clients, list)
		my_pmu_keep_up(&client->c);	/* who reads it sees what fails */
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

/* Nobody shall have to look at shares of the time. */
static int check_group(const struct my_perf_event_attr *attr, unsigned int nr,
		       struct my_pmu_why *why)
{
	if (!attr[nr - 1].group)
		return 0;
	return my_refuse(why, -EINVAL,
			 "'%s' is a second one: give one event, or a group in braces",
			 attr[nr - 1].name);
}

static int look_up(const struct my_pmu_cpu *c, struct my_perf_event_attr *attr,
		   unsigned int nr, struct my_pmu_why *why)
{
	const struct my_names *names = host->names(c);
	unsigned int i;
	int err = 0;

	for (i = 0; i < nr && !err; i++) {
		attr[i].pinned = true;
		err = my_names_lookup(names, c->cpu, &attr[i], why);
	}
	return err;
}

static int look_around(struct my_pmu_cpu *c, struct my_pmu_why *why)
{
	int err;

	err = my_pmu_detect(c->cpu, &c->pmu, why);
	if (err)
		return err;
	if (c->pmu.counters & MY_GENERIC_COUNTERS & ~host->reserved)
		return my_refuse(why, -EBUSY,
				 "CPU %d has counters that are not kept from perf: load my_pmu with cpu= naming it, too",
				 c->cpu);
	c->taken = host->used(c->cpu) | used_of(c->cpu);
	return my_pmu_survey(c, why);
}

static int start(struct my_pmu_cpu *c, struct my_perf_event_attr *attr,
		 unsigned int nr, struct my_pmu_why *why)
{
	int err;

	if (asleep)
		return my_refuse(why, -EBUSY, "the machine goes to sleep");
	if (!cpu_active(c->cpu))
		return my_refuse(why, -ENXIO, "CPU %d is offline", c->cpu);
	err = look_around(c, why);
	if (err)
		return err;
	err = look_up(c, attr, nr, why);
	if (err)
		return err;
	err = my_pmu_cpu_init(c, attr, nr, why);
	if (err)
		return err;
	c->wanted = 0;	/* yet */
	return my_pmu_cpu_up(c, why);
}

/* CPUs must not go between the look at them and the entry in the list. */
static int start_client(struct my_client *client, struct my_perf_event_attr *attr,
			unsigned int nr, struct my_pmu_why *why)
{
	int err;

	cpus_read_lock();
	mutex_lock(&clients_lock);
	err = start(&client->c, attr, nr, why);
	if (!err) {
		list_add_tail(&client->list, &clients);
		keep_up_with_new();
	}
	mutex_unlock(&clients_lock);
	cpus_read_unlock();
	return err;
}

static int parse_and_start(struct my_client *client, const char *events,
			   struct my_perf_event_attr *attr,
			   struct my_pmu_why *why)
{
	int nr, err;

	nr = my_parse_events(events, attr, MY_EVENTS_MAX, why);
	if (nr < 0)
		return nr;
	err = check_group(attr, nr, why);
	return err ?: start_client(client, attr, nr, why);
}

static int fill_client(struct my_client *client, const char *events,
		       struct my_pmu_why *why)
{
	struct my_perf_event_attr *attr;
	int err;

	attr = kvcalloc(MY_EVENTS_MAX, sizeof(*attr), GFP_KERNEL);
	if (!attr)
		return my_refuse(why, -ENOMEM, "no memory for the events");
	err = parse_and_start(client, events, attr, why);
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
 * on).  It gets counters that no other event has, and keeps them; it never takes turns.
 * Each of them proves that it counts, with some ten thousand instructions on the CPU,
 * which whatever counts there sees.  Nothing of this counts before
 * my_perf_event_enable(); and while it does not, firmware that looks only whether a
 * counter is in use could take it.
 *
 * Context: task; sleeps.  Takes cpus_read_lock(): not in a hotplug callback.
 * Return: the first event, which stands for all of them; or ERR_PTR: -EINVAL if
 * @events is wrong or @cpu is no CPU; -ENXIO if it is offline; -EOPNOTSUPP if it
 * does not have the event; -ENOSPC if no counter is left for it; -EBUSY if a pin is
 * to one that is taken, if the CPU has counters that are not kept from perf, or if the
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
	my_pmu_cpu_begin(&client->c, cpu);
	err = fill_client(client, events, why);
	if (!err)
		return &client->c.event[0];
	kvfree(client);
	return ERR_PTR(err);
}
EXPORT_SYMBOL_GPL(my_perf_event_create);

/* Where a register faults there is nothing left to do about it. */
static void end_client(struct my_client *client)
{
	my_pmu_cpu_down(&client->c);
	list_del(&client->list);
	kvfree(client);
}

/**
 * my_perf_event_destroy() - the end of what my_perf_event_create() has made
 * @event: what that returned; nobody uses it meanwhile
 *
 * Its registers are as they were before, but for generic counters' values that cannot
 * be written.
 *
 * Context: task; sleeps.  Takes cpus_read_lock(): not in a hotplug callback.
 */
void my_perf_event_destroy(struct my_perf_event *event)
{
	cpus_read_lock();
	mutex_lock(&clients_lock);
	end_client(container_of(event->cpu, struct my_client, c));
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
 * my_clients_end() - nobody can have events any more
 *
 * Nobody is left who could: a module that calls this one keeps it loaded.  But it
 * may have gone without destroying what it has made.
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

static int come(int cpu, struct my_pmu_why *why)
{
	struct my_pmu_why reason;
	struct my_client *client;
	int first = 0, err;

	list_for_each_entry(client, &clients, list) {
		if (client->c.cpu != cpu)
			continue;
		err = my_pmu_cpu_up(&client->c, &reason);
		if (err && !first) {
			first = err;
			*why = reason;
		}
	}
	return first;
}

static int go(int cpu)
{
	struct my_client *client;
	int first = 0, err;

	list_for_each_entry_reverse(client, &clients, list) {
		if (client->c.cpu != cpu)
			continue;
		err = my_pmu_cpu_down(&client->c);
		first = first ?: err;
	}
	return first;
}

/**
 * my_clients_come() - a CPU is back: what was enabled there counts on
 * @cpu: the CPU; nothing happens while the machine is about to sleep
 * @why: if one of them does not, the reason of the first
 *
 * Context: task; sleeps.  Under cpus_read_lock(), or in a hotplug callback.
 * Return: 0, or what my_pmu_cpu_up() says of the first that cannot.
 */
int my_clients_come(int cpu, struct my_pmu_why *why)
{
	int err;

	mutex_lock(&clients_lock);
	err = asleep ? 0 : come(cpu, why);
	mutex_unlock(&clients_lock);
	return err;
}

/**
 * my_clients_go() - a CPU goes: all registers are put back, all counts are kept
 * @cpu: the CPU
 *
 * Context: as my_clients_come().
 * Return: 0, or -EIO if a register faulted; then some may be told -ESTALE.
 */
int my_clients_go(int cpu)
{
	int err;

	mutex_lock(&clients_lock);
	err = go(cpu);
	mutex_unlock(&clients_lock);
	return err;
}
