/* SPDX-License-Identifier: GPL-2.0 */
/* The lines in the kernel log. */
#ifndef MY_PMU_PRINT_H
#define MY_PMU_PRINT_H

#include <linux/types.h>

#include "pmu_set.h"

struct cpumask;
struct my_target;

/* printk cuts a record near 1000 bytes; what does not fit begins a new line. */
#define MY_LINE_LEN	960

/* So many lines of one sample, and no more, are for the kernel log. */
#define MY_LINES_MAX	24U

/**
 * struct my_printer - lines that are made, to be printed
 * @nr_lines: how many; may be more than there is room for
 * @lines: the first of them
 */
struct my_printer {
	unsigned int nr_lines;
	char lines[MY_LINES_MAX][MY_LINE_LEN];
};

/**
 * struct my_summary - a sample of several CPUs, in one line
 * @time: when the last of them was read, CLOCK_MONOTONIC, ns
 * @first: and the first
 * @nr_cpus: how many were read
 * @missed: samples of any of them that were due since the one before
 * @marks: how many counters have which mark
 * @unknown: events whose growth is not known on all CPUs, by place in the session's
 *	list
 * @growth: of all others, on all CPUs
 */
struct my_summary {
	u64 time;
	u64 first;
	unsigned int nr_cpus;
	u64 missed;
	struct {
		unsigned int wrapped;
		unsigned int clobbered;
		unsigned int late;
		unsigned int stuck;
		unsigned int throttled;
	} marks;
	u64 unknown;
	u64 growth[MY_EVENTS_MAX];
};

void my_print_pmu(const struct cpumask *cpus, const struct my_pmu_cpu *cpu);
void my_print_owners(const struct cpumask *cpus, const struct my_event_set *set,
		     u64 reserved, bool guarded);
void my_print_sample(struct my_printer *p, const struct my_target *t);
void my_summary_add(struct my_summary *sum, const struct my_target *t);
void my_print_summary(struct my_printer *p, const struct my_summary *sum,
		      const struct my_perf_event_attr *attr, unsigned int nr);
void my_print_doubtful(const struct my_event_set *set);
void my_print_flush(struct my_printer *p);

#endif
