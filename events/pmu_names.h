/* SPDX-License-Identifier: GPL-2.0 */
/* What names mean on a CPU: the running kernel's perf knows. */
#ifndef MY_PMU_NAMES_H
#define MY_PMU_NAMES_H

#include <linux/types.h>

#include "pmu_encode.h"

struct my_perf_event_attr;
struct my_pmu_why;
struct my_x86_pmu;

/**
 * struct my_names - what perf says of each event that has a name
 * @config: event select: event, umask, edge, inv and cmask; by my_known_event()
 * @confirmed: perf has one
 * @counters: those that count it on this model, as perf says; 0 if it does not
 * @extra: the register that it needs, too
 * @refused: it cannot be programmed here: 0, or an error that says why
 * @raw_msr: of the raw events that need an extra register on some CPU, by place: which one
 *	on this CPU; 0 if none, or MY_MSR_REFUSED
 */
struct my_names {
	u64 config[MY_KNOWN_EVENTS];
	bool confirmed[MY_KNOWN_EVENTS];
	u64 counters[MY_KNOWN_EVENTS];
	struct my_extra_reg extra[MY_KNOWN_EVENTS];
	s8 refused[MY_KNOWN_EVENTS];
	u16 raw_msr[MY_EXTRA_EVENTS];
};

int my_names_resolve(const struct my_x86_pmu *pmu, int cpu, bool count,
		     struct my_perf_event_attr *attr, struct my_pmu_why *why);
int my_names_list(const struct my_x86_pmu *pmu, int cpu, bool count, struct my_names *names,
		  struct my_pmu_why *why);
int my_names_lookup(const struct my_names *names, const struct my_x86_pmu *pmu, int cpu,
		    struct my_perf_event_attr *attr, struct my_pmu_why *why);
bool my_names_event(const struct my_names *names, unsigned int n,
		    struct my_perf_event_attr *attr);

#endif
