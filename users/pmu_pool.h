/* SPDX-License-Identifier: GPL-2.0 */
/* Counters for events that come and go with interrupts off: those that perf opens. */
#ifndef MY_PMU_POOL_H
#define MY_PMU_POOL_H

#include <linux/percpu.h>

#include "pmu_ops.h"

struct my_pool;
struct pt_regs;

/**
 * struct my_pool_event - an event that comes and goes, on one CPU at a time
 * @attr: what is counted
 * @id: the same for events that count the same, as those of a task and its child; not 0
 * @kind: of a CPU, see my_pool_kind()
 * @counters: those that count the event on CPUs of that kind; a set
 * @anywhere: CPUs of other kinds have the same event, or none
 * @pool: on which it is now, or NULL
 * @idx: the counter that it has there, or had last
 * @runs: it counts, once the pool's counters are started
 * @seen: the count of its place that it has been told of
 * @grown: what it has counted and has not been asked for
 * @sample: of an event that has a period (@attr.period): called in an NMI on its CPU for each
 *	overflow, with @last events since the one before.  @busy: what it has counted cannot be
 *	known now.  May change @attr.period, for the period after the one that has begun.  False if
 *	nothing was recorded
 * @left: events until the next overflow, while it does not run; 0: a whole period
 * @last: the period that is under way, or 0
 *
 * The caller fills in @attr to @anywhere, and @sample; the rest is zeroed.  While the event does
 * not run he may change @attr.period and @left.
 */
struct my_pool_event {
	struct my_perf_event_attr attr;
	u64 id;
	int kind;
	u64 counters;
	bool anywhere;
	struct my_pool *pool;
	int idx;
	bool runs;
	u64 seen;
	u64 grown;
	bool (*sample)(struct my_pool_event *event, bool busy, struct pt_regs *regs);
	u64 left;
	u32 last;
};

struct my_pmu_why;

int my_pools_begin(u64 reserved, bool guarded, u64 known);
void my_pools_end(void);
int my_pools_take_pmis(struct my_pmu_why *why);
void my_pools_sleep(bool sleeps);
int my_pools_come(int cpu, struct my_pmu_why *why);
int my_pools_go(int cpu);
int my_pools_withdraw(int cpu, u64 counters, struct my_pmu_why *why);
int my_pools_lend(int cpu);
int my_pool_kind(int cpu);
u64 my_pool_counters(const struct my_x86_pmu *pmu, const struct my_perf_event_attr *attr);
int my_pools_accept(int cpu, const struct my_pool_event *const events[], unsigned int nr);

DECLARE_PER_CPU(struct my_pool *, my_pools);

/**
 * my_pool_here() - the pool of this CPU
 *
 * Context: interrupts off, as long as it is used.
 * Return: the pool; NULL outside of my_pools_begin() and my_pools_end().
 */
static inline struct my_pool *my_pool_here(void)
{
	return this_cpu_read(my_pools);
}

void my_pool_stop(struct my_pool *pool);
void my_pool_start(struct my_pool *pool, u64 others);
int my_pool_add(struct my_pool *pool, struct my_pool_event *event, bool run);
u64 my_pool_del(struct my_pool_event *event);
void my_pool_pause(struct my_pool_event *event);
int my_pool_resume(struct my_pool_event *event);
u64 my_pool_read(struct my_pool_event *event);
u64 my_pool_peek(struct my_pool_event *event);

#endif
