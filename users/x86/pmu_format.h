/* SPDX-License-Identifier: GPL-2.0 */
/* What the PMU "my_pmu" of perf has in format/ and events/ on x86: tables for pmu_frontend.c. */
#ifndef MY_PMU_FORMAT_H
#define MY_PMU_FORMAT_H

#include "pmu_config.h"
#include "pmu_set.h"

/* What an event may say. */
#define MY_FORMAT_BITS	(0xff84ffffULL | MY_CONFIG_NEW)

static ssize_t show_event2(struct device *dev, struct device_attribute *attr, char *page)
{
	return sysfs_emit(page, "config:0-7,32-35\n");
}

static ssize_t show_umask1(struct device *dev, struct device_attribute *attr, char *page)
{
	return sysfs_emit(page, "config:8-15\n");
}

PMU_FORMAT_ATTR(event, "config:0-7");
PMU_FORMAT_ATTR(umask, "config:8-15,40-47");

/* AMD's, by the same names. */
static struct device_attribute format_attr_event2 =
	__ATTR(event, 0444, show_event2, NULL);
static struct device_attribute format_attr_umask1 =
	__ATTR(umask, 0444, show_umask1, NULL);

PMU_FORMAT_ATTR(edge, "config:18");
PMU_FORMAT_ATTR(inv, "config:23");
PMU_FORMAT_ATTR(cmask, "config:24-31");
PMU_FORMAT_ATTR(eq, "config:36");
PMU_FORMAT_ATTR(counter, "config1:0-47");

static struct attribute *formats[] = {
	&format_attr_event.attr,
	&format_attr_event2.attr,
	&format_attr_umask.attr,
	&format_attr_umask1.attr,
	&format_attr_edge.attr,
	&format_attr_inv.attr,
	&format_attr_cmask.attr,
	&format_attr_counter.attr,
	&format_attr_eq.attr,
	NULL
};

/* Those bits of an event's number that this CPU's config has. */
static u64 format_code_bits(void)
{
	const struct my_pmu_ops *ops = my_pmu_cpu_of(names_cpu)->pmu.ops;

	return ops ? ops->code_bits : 0;
}

static umode_t format_is_visible(struct kobject *kobj, struct attribute *attribute, int n)
{
	bool shown = true;

	if (attribute == &format_attr_event.attr || attribute == &format_attr_event2.attr)
		shown = !!(format_code_bits() & MY_CONFIG_EVENT2) ==
			(attribute == &format_attr_event2.attr);
	if (attribute == &format_attr_umask.attr || attribute == &format_attr_umask1.attr)
		shown = !(format_code_bits() & MY_CONFIG_UMASK2) ==
			(attribute == &format_attr_umask1.attr);
	if (!shown)
		return 0;
	if (attribute == &format_attr_eq.attr)
		return if_counted(attribute, 0x3c | MY_CONFIG_EQ);
	return attribute->mode;
}

/*
 * The architectural events, by their names in the SDM (volume 3, "Pre-defined Architectural
 * Performance Events"), and what all of AMD's CPUs have, by the names in its manuals.  None is
 * a name that perf itself knows: a plain "-e instructions" must not be drawn to this PMU.
 */
PMU_EVENT_ATTR_STRING(unhalted_core_cycles, event_cycles, "event=0x3c");
PMU_EVENT_ATTR_STRING(instruction_retired, event_instructions, "event=0xc0");
PMU_EVENT_ATTR_STRING(unhalted_reference_cycles, event_reference, "event=0x3c,umask=0x01");
PMU_EVENT_ATTR_STRING(llc_reference, event_llc, "event=0x2e,umask=0x4f");
PMU_EVENT_ATTR_STRING(llc_miss, event_llc_miss, "event=0x2e,umask=0x41");
PMU_EVENT_ATTR_STRING(branch_retired, event_branches, "event=0xc4");
PMU_EVENT_ATTR_STRING(branch_miss_retired, event_branch_miss, "event=0xc5");
PMU_EVENT_ATTR_STRING(topdown_slots, event_slots, "event=0xa4,umask=0x01");
PMU_EVENT_ATTR_STRING(cycles_not_in_halt, event_amd_cycles, "event=0x76");
PMU_EVENT_ATTR_STRING(retired_instructions, event_amd_instructions, "event=0xc0");
PMU_EVENT_ATTR_STRING(retired_branches, event_amd_branches, "event=0xc2");
PMU_EVENT_ATTR_STRING(retired_branches_mispredicted, event_amd_misses, "event=0xc3");

static struct attribute *events[] = {
	&event_cycles.attr.attr,
	&event_instructions.attr.attr,
	&event_reference.attr.attr,
	&event_llc.attr.attr,
	&event_llc_miss.attr.attr,
	&event_branches.attr.attr,
	&event_branch_miss.attr.attr,
	&event_slots.attr.attr,
	&event_amd_cycles.attr.attr,
	&event_amd_instructions.attr.attr,
	&event_amd_branches.attr.attr,
	&event_amd_misses.attr.attr,
	NULL
};

/* Their event selects, in the same order; those of AMD's are the last ones. */
#define FIRST_OF_AMD	8
static const u16 event_codes[] = {
	0x003c, 0x00c0, 0x013c, 0x4f2e, 0x412e, 0x00c4, 0x00c5, 0x01a4,
	0x0076, 0x00c0, 0x00c2, 0x00c3,
};

static umode_t event_is_visible(struct kobject *kobj, struct attribute *attribute, int n)
{
	bool amds = n >= FIRST_OF_AMD;

	if (!!(format_code_bits() & MY_CONFIG_EVENT2) != amds)
		return 0;
	return if_counted(attribute, event_codes[n]);
}

#endif
