/* SPDX-License-Identifier: GPL-2.0 */
/* Reading event sets: one cross-call for all events of a CPU. */
#ifndef MY_PMU_READ_H
#define MY_PMU_READ_H

#include "pmu_set.h"

struct cpumask;

/**
 * struct my_pmu_sample - all counts of a set at one instant
 * @asked: when the CPU was asked for it, CLOCK_MONOTONIC, ns
 * @time: when the counters were read, on the CPU; from version 2 on while they
 *	were stopped, unless they are not to be
 * @uptime: for how long the set's events have been up until then, ns
 * @marks: what happened to the counters since the sample before
 * @count: of each event, in the order of struct my_event_set
 * @running: for how long each was counted, likewise, ns
 */
struct my_pmu_sample {
	u64 asked;
	u64 time;
	u64 uptime;
	struct my_pmu_marks marks;
	u64 count[MY_EVENTS_MAX];
	u64 running[MY_EVENTS_MAX];
};

/**
 * struct my_pmu_reading - a set that is read, and what comes of it
 * @request: what its CPU is asked for, and has answered if all was as expected
 * @set: the set
 * @events: whose marks are reported, by place
 * @sample: filled in; NULL: counts are brought up to date, and no more
 * @err: what my_event_set_read() would return
 */
struct my_pmu_reading {
	struct my_pmu_request request;
	struct my_event_set *set;
	u64 events;
	struct my_pmu_sample *sample;
	int err;
};

int my_event_set_read(struct my_event_set *set, struct my_pmu_sample *sample);
int my_event_set_keep_up(struct my_event_set *set);
void my_pmu_read_cpus(const struct cpumask *cpus, struct my_pmu_request **by_cpu);
unsigned int my_pmu_max_interval_ms(unsigned int cntval_bits, unsigned int rate_log2);
unsigned long my_pmu_keep_up_jiffies(unsigned int ms);
u64 my_pmu_next_tick(u64 elapsed_ns, u64 interval_ns);

#endif
