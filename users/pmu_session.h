/* SPDX-License-Identifier: GPL-2.0 */
/* A session: one load of the module, the CPUs and events that it counts. */
#ifndef MY_PMU_SESSION_H
#define MY_PMU_SESSION_H

#include <linux/cpumask.h>
#include <linux/mutex.h>

#include "pmu_names.h"
#include "pmu_target.h"

/**
 * struct my_session - one load of the module
 * @attr: the events as they were asked for
 * @nr_events: how many
 * @interval_ms: between samples
 * @freeze: counters are stopped while they are read
 * @log: samples are printed
 * @all: CPUs that come online later are counted on, too
 * @guarded: perf is kept off each CPU by a guard, see struct my_pmu_cpu
 * @names: the events that a CPU has
 * @names_cpu: that CPU
 * @cpus: those that there are targets for; changes under @sample_lock
 * @scratch: for whoever prints, at load
 * @target: these, by CPU
 * @request: how each is asked, by CPU
 * @start: since when events count, CLOCK_MONOTONIC, ns
 * @held: the PMU whose generic counters are reserved: all that any CPU has
 * @sample_lock: held from a sample's reading to its printing, and while a CPU comes
 *	or goes: what was read before it went is not printed after the line that says so
 */
struct my_session {
	struct my_perf_event_attr attr[MY_EVENTS_MAX];
	unsigned int nr_events;
	unsigned int interval_ms;
	bool freeze;
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
	struct mutex sample_lock;	/* a sample and its lines, against CPUs that go */
};

/* In the order of CPUs: the first, and then the one after @t; NULL behind the last. */
static inline struct my_target *my_session_next(const struct my_session *s,
						const struct my_target *t)
{
	unsigned int cpu = cpumask_next(t ? t->set.cpu->cpu : -1, s->cpus);

	return cpu < nr_cpu_ids ? s->target[cpu] : NULL;
}

struct my_session *my_session_new(void);
void my_session_free(struct my_session *s);
int my_session_take_over(struct my_session *s, const char *counters);
void my_session_print(struct my_session *s);
int my_session_guard(const struct my_session *s, struct my_pmu_cpu *cpu,
		     struct my_pmu_why *why);
void my_session_unguard(struct my_pmu_cpu *cpu);
void my_session_hand_back(struct my_session *s);
struct my_target *my_session_join(struct my_session *s, int cpu);
const struct my_names *my_session_names(const struct my_session *s,
					const struct my_pmu_cpu *cpu);

#endif
