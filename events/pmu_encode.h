/* SPDX-License-Identifier: GPL-2.0 */
/* From an event's name, number or terms to its encoding: pure. */
#ifndef MY_PMU_ENCODE_H
#define MY_PMU_ENCODE_H

#include <linux/perf_event.h>

#include "pmu_config.h"
#include "pmu_ops.h"

struct my_pmu_why;

/* Places of my_known_event(). */
#define MY_KNOWN_EVENTS		(MY_NR_NAMES + MY_NR_SYSFS_NAMES + 42)

int my_encode_event(const char *what, char *terms, const char *whole,
		    struct my_perf_event_attr *attr, struct my_pmu_why *why);
int my_encode_sysfs(char *terms, const char *whole, u64 *config,
		    struct my_pmu_why *why);
const char *my_sysfs_name(const struct my_perf_event_attr *attr);
bool my_known_event(unsigned int n, struct my_perf_event_attr *attr);

/*
 * What an event is, from an event select or a raw event.  Modifiers are added to those
 * that are there, as perf adds the terms that are written beside a name.
 */
static inline void my_add_config(u64 config, struct my_perf_event_attr *attr)
{
	attr->config &= MY_CONFIG_MODIFIERS;
	attr->config |= config & (MY_CONFIG_CODE | MY_CONFIG_MODIFIERS);
}

/* What perf's name of a hardware event stands for if perf does not answer; @ops may be NULL. */
static inline void my_set_code(const struct my_pmu_ops *ops, struct my_perf_event_attr *attr)
{
	if (attr->perf_type == PERF_TYPE_HARDWARE && ops && ops->hardware_codes)
		my_add_config(ops->hardware_codes[attr->perf_config], attr);
}

#endif
