// SPDX-License-Identifier: GPL-2.0
/*
 * A session: which CPUs, and which events on each of them.
 *
 * CPUs are added to it, and events assigned, under cpus_read_lock() or in a hotplug
 * callback.  The sampler uses it under @sample_lock.
 */
#include <linux/cpu.h>
#include <linux/err.h>
#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "pmu_cpu.h"
#include "pmu_event.h"
#include "pmu_model.h"
#include "pmu_parse.h"
#include "pmu_perf.h"
#include "pmu_print.h"
#include "pmu_schedule.h"
#include "pmu_session.h"
#include "pmu_why.h"

/*
 * counters=default: each of two events on a fixed and on a generic counter, where both
 * are free: they must agree.
 */
#define DEFAULT_EVENTS		"instructions,cycles,instructions,cycles"
#define DEFAULT_EVENTS_NEEDED	2

static int refuse_counters(struct my_session *s, int err, const struct my_pmu_why *why)
{
	return my_refuse(&s->why, err, "counters: %s", why->text);
}

/* Something is done with one CPU after the other, up to the first that refuses. */
static int with_each_cpu(struct my_session *s,
			 int (*func)(struct my_pmu_cpu *cpu,
				     struct my_pmu_snapshot *snapshot,
				     struct my_pmu_why *why))
{
	struct my_pmu_why why;
	struct my_target *t;
	int err;

	for (t = my_session_next(s, NULL); t; t = my_session_next(s, t)) {
		err = func(t->set.cpu, &t->snapshot, &why);
		if (err)
			return my_refuse(&s->why, err, "cpu%d: %s", t->set.cpu->cpu, why.text);
	}
	return 0;
}

/* --- CPUs ------------------------------------------------------------------------ */

/**
 * my_session_free() - the end of a session
 * @s: the session; nothing is counted
 *
 * Context: task.
 */
void my_session_free(struct my_session *s)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		if (s->target)
			kvfree(s->target[cpu]);
	}
	while (s->nr_names)
		kfree(s->event_name[--s->nr_names]);
	kfree(s->request);
	kfree(s->target);
	free_cpumask_var(s->scratch[1]);
	free_cpumask_var(s->scratch[0]);
	free_cpumask_var(s->cpus);
	kfree(s);
}

/**
 * my_session_new() - a session without CPUs and events
 *
 * Context: task.
 * Return: the session, or NULL if there is no memory.
 */
struct my_session *my_session_new(void)
{
	struct my_session *s = kzalloc(sizeof(*s), GFP_KERNEL);

	if (!s)
		return NULL;
	mutex_init(&s->sample_lock);
	s->target = kcalloc(nr_cpu_ids, sizeof(*s->target), GFP_KERNEL);
	s->request = kcalloc(nr_cpu_ids, sizeof(*s->request), GFP_KERNEL);
	if (s->target && s->request &&
	    zalloc_cpumask_var(&s->cpus, GFP_KERNEL) &&
	    zalloc_cpumask_var(&s->scratch[0], GFP_KERNEL) &&
	    zalloc_cpumask_var(&s->scratch[1], GFP_KERNEL))
		return s;
	my_session_free(s);
	return NULL;
}

/* With all events of the session. */
static struct my_target *new_target(struct my_session *s, int cpu)
{
	struct my_target *t = kvzalloc(sizeof(*t), GFP_KERNEL);
	unsigned int i;

	if (!t)
		return NULL;
	t->nr_events = s->nr_events;
	memcpy(t->attr, s->attr, sizeof(t->attr));
	for (i = 0; i < s->nr_events; i++)
		t->place[i] = i;
	my_event_set_init(&t->set, my_pmu_cpu_of(cpu));
	t->set.freeze = s->freeze;
	t->reading.set = &t->set;
	s->target[cpu] = t;
	s->request[cpu] = &t->reading.request;
	return t;
}

static int refuse_offline(struct my_session *s, const struct cpumask *offline)
{
	return my_refuse(&s->why, -ENXIO,
			 "cpu: %*pbl is offline; bring it online, or choose of %*pbl",
			 cpumask_pr_args(offline), cpumask_pr_args(cpu_online_mask));
}

/* All of them. */
static int make_targets(struct my_session *s)
{
	struct cpumask *offline = s->scratch[0];
	struct my_target *t;
	int cpu;

	for_each_cpu(cpu, s->cpus) {
		t = new_target(s, cpu);
		if (!t)
			return -ENOMEM;
	}
	if (cpumask_andnot(offline, s->cpus, cpu_online_mask))
		return refuse_offline(s, offline);
	return 0;
}

static bool alike(const struct my_pmu_cpu *a, const struct my_pmu_cpu *b)
{
	return my_cpu_model(a->cpu) == my_cpu_model(b->cpu) &&
	       !memcmp(&a->pmu, &b->pmu, sizeof(a->pmu));
}

static bool same_pmu(const struct my_target *a, const struct my_target *b)
{
	return alike(a->set.cpu, b->set.cpu);
}

static bool same_owners(const struct my_target *a, const struct my_target *b)
{
	return a->set.used == b->set.used &&
	       a->set.cpu->firmware == b->set.cpu->firmware &&
	       (!a->set.cpu->guard ||
		a->set.cpu->pmu.counters == b->set.cpu->pmu.counters);
}

/* Once for all CPUs that are alike: their PMU, or else who owns its counters. */
static void print_alike(struct my_session *s,
			bool (*same)(const struct my_target *a,
				     const struct my_target *b))
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
		if (same == same_pmu)
			my_print_pmu(cpus, t->set.cpu);
		else
			my_print_owners(cpus, &t->set,
					my_pmu_reservable(&s->held),
					s->guarded);
		cpumask_andnot(left, left, cpus);
	}
}

static void print_remarks(struct my_session *s)
{
	struct cpumask *multiplexed = s->scratch[0], *open = s->scratch[1];
	struct my_target *t;

	cpumask_clear(multiplexed);
	cpumask_clear(open);
	for (t = my_session_next(s, NULL); t; t = my_session_next(s, t)) {
		if (my_event_set_multiplexes(&t->set))
			cpumask_set_cpu(t->set.cpu->cpu, multiplexed);
		if (t->set.cpu->user_rdpmc)
			cpumask_set_cpu(t->set.cpu->cpu, open);
	}
	if (!cpumask_empty(multiplexed))
		pr_info("cpu%*pbl: more events than counters: they are multiplexed; a growth is scaled, and '(N%%)' is the time in which it was counted\n",
			cpumask_pr_args(multiplexed));
	/* With rdpmc=2 perf also zeroes counters when it switches between processes. */
	if (!cpumask_empty(open))
		pr_warn("cpu%*pbl: every process can read the counters, and perf may zero them: 'echo 1 > /sys/bus/event_source/devices/cpu/rdpmc'\n",
			cpumask_pr_args(open));
	t = my_session_next(s, NULL);
	if (t->set.cpu->pmu.ops->remark)
		pr_warn("cpu%*pbl: %s\n", cpumask_pr_args(s->cpus),
			t->set.cpu->pmu.ops->remark);
}

/**
 * my_session_print() - what is counted on: a few lines for CPUs that are alike
 * @s: the session
 * @pmu: also what PMUs they have
 *
 * Whose the counters are; whether events are multiplexed; and what may make their counts
 * wrong, or known to others.
 *
 * Context: task.
 */
void my_session_print(struct my_session *s, bool pmu)
{
	struct my_target *t;

	if (pmu)
		print_alike(s, same_pmu);
	print_alike(s, same_owners);
	print_remarks(s);
	for (t = my_session_next(s, NULL); t; t = my_session_next(s, t))
		my_print_doubtful(&t->set);
}

/* --- the events of each CPU ------------------------------------------------------ */

/* @why is empty if all is well. */
static int parse_counters(struct my_session *s, const char *counters,
			  struct my_pmu_why *why)
{
	bool defaults = !strcmp(counters, "default");
	int nr, i;

	*why->text = '\0';
	/* For other modules alone. */
	if (!strcmp(counters, "none"))
		return 0;
	nr = my_parse_events(defaults ? DEFAULT_EVENTS : counters, s->attr,
			     MY_EVENTS_MAX, why);
	if (nr < 0)
		return nr;
	for (i = DEFAULT_EVENTS_NEEDED; defaults && i < nr; i++)
		s->attr[i].optional = true;
	s->nr_events = nr;
	*why->text = '\0';
	return 0;
}

static void leave_out(struct my_target *t, unsigned int i)
{
	unsigned int left = --t->nr_events - i;

	t->lacks |= BIT_ULL(t->place[i]);
	memmove(&t->attr[i], &t->attr[i + 1], left * sizeof(t->attr[0]));
	memmove(&t->place[i], &t->place[i + 1], left * sizeof(t->place[0]));
}

/**
 * struct lacking - the first event that a CPU does not have
 * @place: its place in the session's list
 * @why: why; empty if there is none
 */
struct lacking {
	unsigned int place;
	struct my_pmu_why why;
};

/* Event @i is refused with @err: what the CPU does not have is left out. */
static int refuse_event(struct my_target *t, unsigned int i, int err,
			const struct my_pmu_why *why, struct lacking *first)
{
	if (err != -EOPNOTSUPP || !*first->why.text) {
		first->why = *why;
		first->place = t->place[i];
	}
	if (err != -EOPNOTSUPP)
		return err;
	leave_out(t, i);
	return 0;
}

/*
 * perf says what names mean on this CPU; and, if it is the first @like this, on which
 * counters the events are counted, unless it must not count (@free).
 */
static int resolve_events(struct my_target *t, const struct my_target *like, bool free,
			  struct lacking *first)
{
	bool count = free && t == like && !t->snapshot.in_use && !t->snapshot.unlike;
	struct my_pmu_why why;
	unsigned int i = 0, j;
	int err;

	t->snapshot.counted = count;
	while (i < t->nr_events) {
		err = my_names_resolve(&t->set.cpu->pmu, t->set.cpu->cpu, count, &t->attr[i], &why);
		if (err)
			err = refuse_event(t, i, err, &why, first);
		else
			i++;
		if (err)
			return err;
	}
	for (i = 0; i < t->nr_events; i++) {
		for (j = 0; j < like->nr_events; j++) {
			if (like->place[j] == t->place[i])
				t->attr[i].counters = like->attr[j].counters;
		}
	}
	return 0;
}

/*
 * perf has its PMU as long as nothing is reserved.  If nobody else had it, and perf knows
 * the model (@free), perf may count, to say where: on one CPU of those that are alike.
 */
static int ask_perf(struct my_session *s, bool free, struct lacking *first)
{
	struct my_target *t, *like;
	struct my_pmu_why why;
	int err = 0;

	for (t = my_session_next(s, NULL); t && !err; t = my_session_next(s, t)) {
		like = my_session_next(s, NULL);
		while (!alike(like->set.cpu, t->set.cpu))
			like = my_session_next(s, like);
		err = resolve_events(t, like, free, first);
	}
	if (!err) {
		t = my_session_next(s, NULL);
		err = my_names_list(&my_pmu_cpu_of(s->names_cpu)->pmu, s->names_cpu,
				    t->snapshot.counted, &s->names, &why);
		if (err)
			first->why = why;
	}
	return err;
}

/* An event that some CPUs do not have is reported once, with the CPUs. */
static int check_left_out(struct my_session *s, const struct lacking *first)
{
	struct cpumask *lacking = s->scratch[0];
	struct my_target *t;
	unsigned int i;

	for (i = 0; i < s->nr_events; i++) {
		cpumask_clear(lacking);
		for (t = my_session_next(s, NULL); t; t = my_session_next(s, t)) {
			if (t->lacks & BIT_ULL(i))
				cpumask_set_cpu(t->set.cpu->cpu, lacking);
		}
		if (cpumask_empty(lacking) || s->attr[i].optional)
			continue;
		if (!cpumask_equal(lacking, s->cpus)) {
			pr_info("cpu%*pbl: '%s' is not there, and left out\n",
				cpumask_pr_args(lacking), s->attr[i].name);
			continue;
		}
		if (i == first->place)
			return refuse_counters(s, -EOPNOTSUPP, &first->why);
		return my_refuse(&s->why, -EOPNOTSUPP,
				 "counters: '%s': none of the CPUs has this event",
				 s->attr[i].name);
	}
	return 0;
}

/*
 * An optional event is kept if the other one that counts the same can have a fixed
 * counter, if both count, and if it needs no multiplexing.  Returns one that is not to be kept.
 */
static int find_unwanted(const struct my_target *t)
{
	const struct my_pmu_cpu *cpu = t->set.cpu;
	u64 fixed = MY_FIXED_COUNTERS & ~cpu->firmware & ~(cpu->used & ~t->set.used);
	int i, j, last = -1;
	const char *reason;

	for (i = t->nr_events - 1; i >= 0; i--) {
		if (!t->attr[i].optional)
			continue;
		for (j = 0; t->attr[j].config != t->attr[i].config; j++)
			;
		if (cpu->pmu.ops->single ||
		    !(cpu->pmu.ops->counters_for(&cpu->pmu, &t->attr[j], NULL, &reason) & fixed))
			return i;
		last = max(last, i);
	}
	return my_event_set_multiplexes(&t->set) ? last : -1;
}

/* What the CPU does not have, and what is optional and unwanted, is left out. */
static int assign(struct my_session *s, struct my_target *t, struct lacking *first)
{
	unsigned int culprit = 0;
	struct my_pmu_why why;
	int err, unwanted;

	for (;;) {
		err = my_event_set_assign(&t->set, t->attr, t->nr_events, &culprit,
					  &why);
		/* Optional are the last ones. */
		unwanted = -1;
		if (t->nr_events && t->attr[t->nr_events - 1].optional)
			unwanted = find_unwanted(t);
		if (err == -EOPNOTSUPP)
			err = refuse_event(t, culprit, err, &why, first);
		else if (unwanted >= 0)
			leave_out(t, unwanted);
		else
			break;
	}
	return err ? refuse_counters(s, err, &why) : 0;
}

/* --- names ------------------------------------------------------------------------ */

/* Rows of samples outlive the events: each name is kept until the module is unloaded. */
static int name_events(struct my_session *s, struct my_target *t, struct my_pmu_why *why)
{
	unsigned int i, j;

	for (i = 0; i < t->nr_events; i++) {
		for (j = 0; j < s->nr_names && strcmp(s->event_name[j], t->attr[i].name); j++)
			;
		if (j == MY_NAMES_MAX)
			return my_refuse(why, -ENOSPC,
					 "counters: there have been %u different events since my_pmu was loaded, and no more are possible: load it again",
					 MY_NAMES_MAX);
		if (j == s->nr_names) {
			s->event_name[j] = kstrdup(t->attr[i].name, GFP_KERNEL);
			if (!s->event_name[j])
				return my_refuse(why, -ENOMEM, "no memory for the events");
			s->nr_names++;
		}
		t->event_name[i] = s->event_name[j];
	}
	return 0;
}

/* --- all of it -------------------------------------------------------------------- */

/**
 * my_session_unguard() - the end of my_session_guard()
 * @cpu: the CPU; nothing is counted there
 *
 * Context: task, or a hotplug callback; sleeps.
 */
void my_session_unguard(struct my_pmu_cpu *cpu)
{
	if (cpu->guard)
		my_perf_let_go(cpu->guard);
	cpu->guard = NULL;
	cpu->unguarded = false;
}

static const char no_memory[] = "no memory for an event of perf's";

/**
 * my_session_guard() - keep perf off a CPU's counters, where reservations do not
 * @s: the session
 * @cpu: the CPU; online
 * @why: if refused, the reason and the cure
 *
 * From Linux 6.11 on perf has registers of version 6 that Linux's reservations do not know.
 * A guard that perf has put off is replaced, and kept if there is no other one: the
 * self-test sees by it that overflow bits cannot be relied on.
 *
 * Context: task, or a hotplug callback; sleeps.
 * Return: 0, also if it has a guard, or needs none; -EBUSY; -ENOMEM.
 */
int my_session_guard(const struct my_session *s, struct my_pmu_cpu *cpu,
		     struct my_pmu_why *why)
{
	void *guard, *before = cpu->guard;

	if (!s->guarded || (before && my_perf_excludes(before)))
		return 0;
	guard = my_perf_exclude(cpu->cpu);
	WRITE_ONCE(cpu->unguarded, IS_ERR(guard));
	if (guard == ERR_PTR(-EBUSY))
		return my_refuse_busy(why);
	if (guard == ERR_PTR(-ENOMEM))
		return my_refuse(why, -ENOMEM, no_memory);
	if (IS_ERR(guard))
		return my_refuse(why, -EBUSY,
				 "nothing keeps perf out of a PMU of version %u in this kernel",
				 s->held.version);
	WRITE_ONCE(cpu->guard, guard);
	if (before)
		my_perf_let_go(before);
	return 0;
}

/* Of all CPUs: Linux's reservations are for all of them. */
static int reserve(struct my_session *s, struct my_pmu_why *why)
{
	struct my_target *t;

	s->held = my_session_next(s, NULL)->set.cpu->pmu;
	for (t = my_session_next(s, NULL); t; t = my_session_next(s, t))
		s->held.counters |= t->set.cpu->pmu.counters;
	return my_pmu_reserve(&s->held, why);
}

static void release_perf(struct my_session *s)
{
	struct my_target *t;

	for (t = my_session_next(s, NULL); t; t = my_session_next(s, t))
		my_session_unguard(t->set.cpu);
	my_pmu_release(&s->held);
}

static int check_freeze(struct my_session *s)
{
	struct my_target *t;

	for (t = my_session_next(s, NULL); t && s->must_freeze; t = my_session_next(s, t)) {
		if (!t->set.cpu->pmu.ops->plan)
			return my_refuse(&s->why, -EOPNOTSUPP,
					 "freeze=1: nothing stops all counters of CPU %d at once; leave freeze out",
					 t->set.cpu->cpu);
	}
	return 0;
}

/* @tried: the event of perf's that the reservations have not kept out, or -ENOMEM. */
static int guard_all(struct my_session *s, const void *tried, struct my_pmu_why *why)
{
	struct my_target *t;
	int err = 0;

	if (tried == ERR_PTR(-ENOMEM))
		err = my_refuse(why, -ENOMEM, no_memory);
	/* A guard would end what others count, for good if it is pinned. */
	for (t = my_session_next(s, NULL); t && !err; t = my_session_next(s, t))
		err = t->snapshot.interrupts ? my_refuse_busy(why) : 0;
	for (t = my_session_next(s, NULL); t && !err; t = my_session_next(s, t))
		err = my_session_guard(s, t->set.cpu, why);
	if (err)
		release_perf(s);
	return err;
}

/*
 * A guard stops those who count already.  What counted when the CPU was first looked at,
 * and does not any more, was theirs.
 */
static int check_free(struct my_session *s, struct my_pmu_why *why)
{
	struct my_target *t;

	for (t = my_session_next(s, NULL); t; t = my_session_next(s, t)) {
		if (t->snapshot.in_use & ~t->set.cpu->firmware)
			return my_refuse_busy(why);
	}
	return 0;
}

static void release_all(struct my_session *s)
{
	struct my_target *t;

	for (t = my_session_next(s, NULL); t; t = my_session_next(s, t))
		my_event_set_release(&t->set);
}

/**
 * my_session_take_over() - find the CPUs' PMUs, and take them from perf
 * @s: the session; the settings are filled in, and @s->cpus unless @s->all
 * @counters: the events, as the parameter has them
 *
 * What is wrong with the events is reported once the CPUs are known to have a PMU, and
 * that the PMU is in use if nothing is wrong with the events.  perf may be asked under
 * cpus_read_lock(): the kernel's NMI watchdog creates its events in a hotplug callback
 * (kernel/watchdog.c).
 *
 * Context: task, under cpus_read_lock(), on which CPUs' counters depend until
 * my_session_hand_back().
 * Return: 0; all events have their counters, nothing is programmed.  Or the errno of
 * what was refused, and @s->why says it, unless there is no memory; then nothing is reserved.
 */
int my_session_take_over(struct my_session *s, const char *counters)
{
	int err, parsed, asked, busy, theirs = 0;
	bool known, free;
	struct lacking first = {};
	struct my_pmu_why whose;
	struct my_target *t;
	void *held;

	if (s->all)
		cpumask_copy(s->cpus, cpu_online_mask);
	parsed = parse_counters(s, counters, &first.why);
	err = make_targets(s);
	err = err ?: with_each_cpu(s, my_pmu_probe);
	err = err ?: check_freeze(s);
	if (err)
		return err;
	if (parsed)
		return refuse_counters(s, parsed, &first.why);
	busy = reserve(s, &whose);
	if (!busy)
		my_pmu_release(&s->held);
	s->names_cpu = cpumask_first(s->cpus);
	held = my_perf_hold(s->names_cpu, &known);
	if (held == ERR_PTR(-ENOMEM))
		return my_refuse(&s->why, -ENOMEM, no_memory);
	free = !busy && known;
	asked = ask_perf(s, free, &first);
	my_perf_let_go(held);
	busy = busy ?: reserve(s, &whose);
	/* That keeps perf out, unless it has registers that nobody can reserve. */
	held = busy ? ERR_PTR(-EBUSY) : my_perf_hold(s->names_cpu, NULL);
	my_perf_let_go(held);
	s->guarded = held != ERR_PTR(-EBUSY) && held != ERR_PTR(-ENOENT);
	if (s->guarded)
		busy = guard_all(s, held, &whose);
	/*
	 * Whatever is refused later, registers are as they were before perf was asked: also
	 * if somebody else has come to perf meanwhile.
	 */
	err = busy && !free ? 0 : with_each_cpu(s, my_pmu_find_firmware);
	if (!busy && !err && s->guarded)
		theirs = check_free(s, &whose);
	if (asked && !err)
		err = refuse_counters(s, asked, &first.why);
	for (t = my_session_next(s, NULL); t; t = my_session_next(s, t))
		err = err ?: assign(s, t, &first);
	err = err ?: check_left_out(s, &first);
	if ((busy || theirs) && !err)
		s->why = whose;
	for (t = my_session_next(s, NULL); t; t = my_session_next(s, t))
		err = err ?: name_events(s, t, &s->why);
	if (!busy && !theirs && !err)
		return 0;
	release_all(s);
	if (!busy)
		release_perf(s);
	return err ?: busy ?: theirs;
}

/**
 * my_session_hand_back() - give the PMUs back
 * @s: the session; nothing of it is programmed
 *
 * Context: task.
 */
void my_session_hand_back(struct my_session *s)
{
	release_all(s);
	release_perf(s);
}

/**
 * my_session_join() - count on a CPU that was not there at load
 * @s: the session
 * @cpu: the CPU
 *
 * perf cannot be asked any more what names mean there; but a CPU that is like another
 * one has the same events.
 *
 * Context: hotplug callback.
 * Return: the CPU's target; NULL if it cannot be counted on, and a message says why.
 */
struct my_target *my_session_join(struct my_session *s, int cpu)
{
	struct my_target *t = new_target(s, cpu), *other;
	struct lacking first = {};
	struct my_pmu_why why;

	if (!t) {
		pr_err("cpu%d: no memory to count on it\n", cpu);
		return NULL;
	}
	if (my_pmu_probe(t->set.cpu, NULL, &why) ||
	    my_session_guard(s, t->set.cpu, &why) ||
	    my_pmu_find_firmware(t->set.cpu, NULL, &why)) {
		pr_err("cpu%d: %s\n", cpu, why.text);
		goto err_free;
	}
	for (other = my_session_next(s, NULL); other; other = my_session_next(s, other)) {
		if (same_pmu(other, t))
			break;
	}
	if (!other) {
		pr_err("cpu%d: it is like none of the CPUs that were online at load; load the module again\n",
		       cpu);
		goto err_free;
	}
	t->nr_events = other->nr_events;
	memcpy(t->attr, other->attr, sizeof(t->attr));
	memcpy(t->place, other->place, sizeof(t->place));
	if (assign(s, t, &first)) {
		pr_err("cpu%d: %s\n", cpu, s->why.text);
		goto err_free;
	}
	name_events(s, t, &why);	/* the other one has the same */
	mutex_lock(&s->sample_lock);
	cpumask_set_cpu(cpu, s->cpus);
	mutex_unlock(&s->sample_lock);
	return t;

err_free:
	my_session_unguard(t->set.cpu);
	s->request[cpu] = NULL;
	s->target[cpu] = NULL;
	kvfree(t);
	return NULL;
}

/* --- another one in its place ------------------------------------------------------ */

/* A CPU that is like this one, and counted on. */
static struct my_target *find_like(struct my_session *s, const struct my_pmu_cpu *cpu)
{
	struct my_target *t = my_session_next(s, NULL);

	while (t && !alike(t->set.cpu, cpu))
		t = my_session_next(s, t);
	return t;
}

/*
 * perf cannot be asked any more: what it said at load is what names mean.  Where it was not
 * asked, an event that the architecture does not define is not left out: the CPU may have it.
 */
static int look_up_events(struct my_session *s, struct my_target *t, struct lacking *first)
{
	const struct my_names *names = my_session_names(s, t->set.cpu);
	struct my_pmu_why why;
	unsigned int i = 0;
	int err;

	while (i < t->nr_events) {
		err = my_names_lookup(names, &t->set.cpu->pmu, t->set.cpu->cpu, &t->attr[i], &why);
		if (err && names)
			err = refuse_event(t, i, err, &why, first);
		else if (err)
			first->why = why;
		else
			i++;
		if (err)
			return err;
	}
	return 0;
}

/*
 * A CPU that is not counted on, and shall be.  As at load, a guard must not end what others
 * count there already.
 */
static int plan_new_cpu(struct my_session *s, struct my_session *next, struct my_target *t)
{
	struct my_pmu_snapshot *snapshot = s->guarded ? &t->snapshot : NULL;
	struct my_pmu_cpu *cpu = t->set.cpu;
	struct my_pmu_why why;
	int err;

	err = my_pmu_probe(cpu, snapshot, &why);
	if (!err && !find_like(s, cpu) && !my_session_names(s, cpu))
		err = my_refuse(&why, -EOPNOTSUPP,
				"it is like none of the CPUs that are counted on; load the module again");
	if (!err && t->snapshot.interrupts)
		err = my_refuse_busy(&why);
	if (!err)
		err = my_session_guard(s, cpu, &why);
	if (!err)
		err = my_pmu_find_firmware(cpu, NULL, &why);
	if (!err && t->snapshot.in_use & ~cpu->firmware)
		err = my_refuse_busy(&why);
	return err ? my_refuse(&next->why, err, "cpu%d: %s", cpu->cpu, why.text) : 0;
}

/*
 * @anew: the events are others than before.  A target that could not be started, though its CPU
 * is there, is not kept: whoever asks for the same again wants it started.
 */
static int plan_cpu(struct my_session *s, struct my_session *next, int cpu, bool anew,
		    struct lacking *first)
{
	struct my_target *old = s->target[cpu], *like = NULL, *t;
	int err = 0;

	if (old && !anew && !(old->set.offline && cpu_online(cpu))) {
		next->target[cpu] = old;
		next->request[cpu] = s->request[cpu];
		return 0;
	}
	t = new_target(next, cpu);
	if (!t)
		return -ENOMEM;
	if (!old)
		err = plan_new_cpu(s, next, t);
	if (err)
		return err;
	if (!anew)
		like = find_like(s, t->set.cpu);
	if (like) {
		t->nr_events = like->nr_events;
		t->lacks = like->lacks;
		memcpy(t->attr, like->attr, sizeof(t->attr));
		memcpy(t->place, like->place, sizeof(t->place));
	} else {
		err = look_up_events(s, t, first);
		if (err)
			return refuse_counters(next, err, &first->why);
	}
	if (old)
		my_event_set_release(&old->set);
	err = assign(next, t, first);
	return err ?: name_events(s, t, &next->why);
}

/* Events of other modules and of perf rely on the guard of a CPU that is to be left. */
static int check_left_cpus(struct my_session *s, struct my_session *next)
{
	struct my_target *t;

	for (t = my_session_next(s, NULL); t && s->guarded; t = my_session_next(s, t)) {
		struct my_pmu_cpu *cpu = t->set.cpu;

		if (!cpumask_test_cpu(cpu->cpu, next->cpus) &&
		    ((cpu->used & ~t->set.used) || READ_ONCE(cpu->busy)))
			return my_refuse(&next->why, -EBUSY,
					 "cpu: events of other modules or of perf are counted on CPU %d, and need that my_pmu counts there",
					 cpu->cpu);
	}
	return 0;
}

/**
 * my_session_plan() - prepare what shall be counted in place of what is
 * @s: the session; counting
 * @next: a session for the plan; the CPUs and the interval are filled in
 * @counters: the events, as the parameter has them; NULL: as they are
 *
 * A CPU that keeps its events keeps its target, which is in both sessions then.  On all others
 * the counters belong to @next from now on; those that @s has programmed there count on.  CPUs
 * that are new have their guards.
 *
 * Context: task, under cpus_read_lock(), my_clients_lock() and @s->sample_lock; perf's events
 * neither begin nor end to have counters; sleeps.
 * Return: 0; or the errno of what was refused, and @next->why says it, unless there is no
 * memory; then all is as it was.
 */
int my_session_plan(struct my_session *s, struct my_session *next, const char *counters)
{
	struct cpumask *offline = next->scratch[0];
	struct lacking first = {};
	bool anew = counters;
	int err, cpu;

	next->freeze = s->freeze;
	cpumask_andnot(offline, next->cpus, cpu_online_mask);
	cpumask_andnot(offline, offline, s->cpus);
	if (!cpumask_empty(offline))
		return refuse_offline(next, offline);
	if (counters) {
		err = parse_counters(next, counters, &first.why);
		if (err)
			return refuse_counters(next, err, &first.why);
		anew = next->nr_events != s->nr_events ||
		       memcmp(next->attr, s->attr, sizeof(s->attr));
	} else {
		next->nr_events = s->nr_events;
		memcpy(next->attr, s->attr, sizeof(s->attr));
	}
	err = check_left_cpus(s, next);
	if (err)
		return err;
	for_each_cpu(cpu, next->cpus)
		err = err ?: plan_cpu(s, next, cpu, anew, &first);
	if (!err && anew)
		err = check_left_out(next, &first);
	if (err)
		my_session_unplan(s, next);
	return err;
}

/**
 * my_session_unplan() - the end of my_session_plan(), and nothing has changed
 * @s: the session
 * @next: the plan; nothing of it alone is programmed
 *
 * Context: as my_session_plan().
 */
void my_session_unplan(struct my_session *s, struct my_session *next)
{
	struct my_target *old, *t;
	int cpu;

	for_each_possible_cpu(cpu) {
		old = s->target[cpu];
		t = next->target[cpu];
		next->target[cpu] = NULL;
		if (!t || t == old)
			continue;
		my_event_set_release(&t->set);
		if (old)
			my_event_set_claim(&old->set);
		else
			my_session_unguard(t->set.cpu);
		kvfree(t);
	}
}

/**
 * my_session_commit() - a plan is what is counted now
 * @s: the session
 * @next: the plan; what it alone has is programmed, what @s alone had is not.  That is in
 *	@next afterwards, for my_session_free()
 *
 * Context: as my_session_plan().
 */
void my_session_commit(struct my_session *s, struct my_session *next)
{
	struct my_target *old;
	int cpu;

	for_each_possible_cpu(cpu) {
		old = s->target[cpu];
		if (old == next->target[cpu]) {
			s->target[cpu] = NULL;	/* @next has it, too */
		} else if (old && !next->target[cpu]) {
			my_event_set_release(&old->set);
			my_session_unguard(old->set.cpu);
		}
	}
	swap(s->target, next->target);
	swap(s->request, next->request);
	memcpy(s->attr, next->attr, sizeof(s->attr));
	s->nr_events = next->nr_events;
	s->interval_ms = next->interval_ms;
	s->all = next->all;
	cpumask_copy(s->cpus, next->cpus);
}

/**
 * my_session_names() - what names mean on a CPU
 * @s: the session
 * @cpu: the CPU; probed
 *
 * Context: task; perf cannot be asked any more.
 * Return: what perf said for a CPU like this one; NULL if it was asked for none.
 */
const struct my_names *my_session_names(const struct my_session *s,
					const struct my_pmu_cpu *cpu)
{
	return alike(cpu, my_pmu_cpu_of(s->names_cpu)) ? &s->names : NULL;
}
