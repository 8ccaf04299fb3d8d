/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The running kernel's perf, asked what an event is on a CPU, and where it is counted; and
 * kept off a CPU's counters.
 */
#ifndef MY_PMU_PERF_H
#define MY_PMU_PERF_H

#include <linux/types.h>

/**
 * struct my_perf_answer - how perf would count an event
 * @config: the event select, with what says how it counts
 * @extra_msr: another register that it would program, too; 0 if there is none
 * @extra_config: and what that would hold
 * @counters: those that count it; 0 if only my_perf_find_counters() tells
 */
struct my_perf_answer {
	u64 config;
	u32 extra_msr;
	u64 extra_config;
	u64 counters;
};

int my_perf_ask(int cpu, u32 type, u64 config, u64 config1, struct my_perf_answer *answer);
int my_perf_find_counters(int cpu, u32 type, u64 config, u64 *counters);
int my_perf_show(int cpu, const char *name, char *page);
void *my_perf_hold(int cpu, bool *knows_model);
void *my_perf_exclude(int cpu);
bool my_perf_excludes(void *guard);
void my_perf_let_go(void *held);

#endif
