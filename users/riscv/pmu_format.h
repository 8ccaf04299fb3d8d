/* SPDX-License-Identifier: GPL-2.0 */
/* What the PMU "my_pmu" of perf has in format/ and events/ on RISC-V: for pmu_frontend.c. */
#ifndef MY_PMU_FORMAT_H
#define MY_PMU_FORMAT_H

#include "pmu_config.h"
#include "pmu_set.h"

/* What an event may say. */
#define MY_FORMAT_BITS	MY_CONFIG_CODE

/* Bit 62: one of SBI's tables, whose index is the rest. */
PMU_FORMAT_ATTR(event, "config:0-47");
PMU_FORMAT_ATTR(sbi, "config:62");
PMU_FORMAT_ATTR(counter, "config1:0-47");

static struct attribute *formats[] = {
	&format_attr_event.attr,
	&format_attr_sbi.attr,
	&format_attr_counter.attr,
	NULL
};

static umode_t format_is_visible(struct kobject *kobj, struct attribute *attribute, int n)
{
	return attribute->mode;
}

/* By the names of SBI's specification: a plain "-e instructions" must not be drawn to this PMU. */
PMU_EVENT_ATTR_STRING(hw_cpu_cycles, event_cycles, "event=1,sbi");
PMU_EVENT_ATTR_STRING(hw_instructions, event_instructions, "event=2,sbi");
PMU_EVENT_ATTR_STRING(hw_cache_references, event_references, "event=3,sbi");
PMU_EVENT_ATTR_STRING(hw_cache_misses, event_misses, "event=4,sbi");
PMU_EVENT_ATTR_STRING(hw_branch_instructions, event_branches, "event=5,sbi");
PMU_EVENT_ATTR_STRING(hw_branch_misses, event_branch_misses, "event=6,sbi");

static struct attribute *events[] = {
	&event_cycles.attr.attr,
	&event_instructions.attr.attr,
	&event_references.attr.attr,
	&event_misses.attr.attr,
	&event_branches.attr.attr,
	&event_branch_misses.attr.attr,
	NULL
};

static umode_t event_is_visible(struct kobject *kobj, struct attribute *attribute, int n)
{
	return if_counted(attribute, MY_CONFIG_SBI | (n + 1));
}

#endif
