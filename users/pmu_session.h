/* SPDX-License-Identifier: GPL-2.0 */
/* A session: one load of the module, the CPUs and events that it counts. */
#ifndef MY_PMU_SESSION_H
#define MY_PMU_SESSION_H

#include <linux/cpumask.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/string.h>

#include "pmu_names.h"
#include "pmu_target.h"
#include "pmu_why.h"

/* Different names of events in the life of the module. */
#define MY_NAMES_MAX		512U

/**
 * struct my_session - one load of the module
 * @attr: the events as they were asked for
 * @nr_events: how many
 * @interval_ms: between samples
 * @freeze: counters are stopped while they are read, if they can be
 * @must_freeze: a CPU on which they cannot is refused
 * @log: samples are printed
 * @all: CPUs that come online later are counted on, too
 * @guarded: perf is kept off each CPU by a guard, see struct my_pmu_cpu
 * @names: the events that a CPU has
 * @names_cpu: that CPU
 * @cpus: those that there are targets for; changes under @sample_lock
 * @scratch: for whoever prints, or changes what is counted
 * @target: these, by CPU
 * @request: how each is asked, by CPU
 * @start: since when events count, CLOCK_MONOTONIC, ns
 * @held: the PMU whose generic counters are reserved: all that any CPU has
 * @why: why what was asked for last was refused
 * @event_name: each name that an event has had; rows of samples refer to them
 * @nr_names: how many
 * @sample_lock: held from a sample's reading to its printing, and while a CPU comes
 *	or goes: what was read before it went is not printed after the line that says so
 */
struct my_session {
	struct my_perf_event_attr attr[MY_EVENTS_MAX];
	unsigned int nr_events;
	unsigned int interval_ms;
	bool freeze;
	bool must_freeze;
	bool log;
	bool all;
	bool guarded;
	struct my_names names;
	int names_cpu;
	cpumask_var_t cpus;
	cpumask_var_t scratch[2];
	struct my_target **target;
	struct my_pmu_request **request;
	u64 start;
	struct my_x86_pmu held;
	struct my_pmu_why why;
	const char *event_name[MY_NAMES_MAX];
	unsigned int nr_names;
	struct mutex sample_lock;	/* a sample and its lines, against CPUs that go */
};

/* In the order of CPUs: the first, and then the one after @t; NULL behind the last. */
static inline struct my_target *my_session_next(const struct my_session *s,
						const struct my_target *t)
{
	unsigned int cpu = cpumask_next(t ? t->set.cpu->cpu : -1, s->cpus);

	return cpu < nr_cpu_ids ? s->target[cpu] : NULL;
}

/* How many rows a sample has.  With @all so many CPUs may come; without events there is one. */
static inline unsigned int my_session_rows(const struct my_session *s)
{
	return max(s->nr_events, 1U) * (s->all ? num_present_cpus() : cpumask_weight(s->cpus));
}

/**
 * my_session_parse_cpus() - the CPUs of a session, as the parameter cpu= has them
 * @s: the session; @s->cpus or @s->all is filled in, or @s->why
 * @text: a list as the kernel writes CPU lists, or "all"
 *
 * Context: task.
 * Return: 0 or -EINVAL.
 */
static inline int my_session_parse_cpus(struct my_session *s, const char *text)
{
	int err, len = strnlen(text, 40);

	s->all = !strcmp(text, "all");
	if (s->all)
		return 0;
	err = cpulist_parse(text, s->cpus);
	if (err == -ERANGE || (!err && !cpumask_subset(s->cpus, cpu_present_mask)))
		return my_refuse(&s->why, -EINVAL, "cpu: '%*pE': no such CPU; %*pbl are there",
				 len, text, cpumask_pr_args(cpu_present_mask));
	if (err || cpumask_empty(s->cpus))
		return my_refuse(&s->why, -EINVAL,
				 "cpu: '%*pE': a list of CPUs is needed, as 3 or 0-3,8, of %*pbl; or all",
				 len, text, cpumask_pr_args(cpu_present_mask));
	return 0;
}

struct my_session *my_session_new(void);
void my_session_free(struct my_session *s);
int my_session_take_over(struct my_session *s, const char *counters);
void my_session_print(struct my_session *s, bool pmu);
int my_session_guard(const struct my_session *s, struct my_pmu_cpu *cpu,
		     struct my_pmu_why *why);
void my_session_unguard(struct my_pmu_cpu *cpu);
void my_session_hand_back(struct my_session *s);
struct my_target *my_session_join(struct my_session *s, int cpu);
int my_session_plan(struct my_session *s, struct my_session *next, const char *counters);
void my_session_unplan(struct my_session *s, struct my_session *next);
void my_session_commit(struct my_session *s, struct my_session *next);
const struct my_names *my_session_names(const struct my_session *s,
					const struct my_pmu_cpu *cpu);

#endif
