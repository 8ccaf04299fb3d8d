/* SPDX-License-Identifier: GPL-2.0 */
/* From an event's name, number or terms to its encoding: pure. */
#ifndef MY_PMU_ENCODE_H
#define MY_PMU_ENCODE_H

#include <linux/bits.h>
#include <linux/perf_event.h>

#include "pmu_ops.h"

struct my_pmu_why;

/* What to write as an event: the end of some refusals. */
#define MY_EVENTS_ACCEPTED \
	"known are instructions, cycles, branches and others that perf has for this CPU, rUUEE, cpu/event=,umask=,edge,inv,cmask=,config1=/"

/* Places of my_known_event(). */
#define MY_KNOWN_EVENTS	91

/*
 * Event and umask, with the upper bits of AMD's events, and the upper half of the umask, UMASK2,
 * which few of Intel's CPUs have.
 */
#define MY_CONFIG_EVENT2	GENMASK_ULL(35, 32)
#define MY_CONFIG_UMASK2	GENMASK_ULL(47, 40)
#define MY_CONFIG_CODE		(0xffffULL | MY_CONFIG_EVENT2 | MY_CONFIG_UMASK2)

/* What says how to count an event: edge, inv, cmask and eq, which few CPUs have. */
#define MY_CONFIG_EQ		BIT_ULL(36)
#define MY_CONFIG_MODIFIERS	(0xff840000ULL | MY_CONFIG_EQ)

/* Both. */
#define MY_CONFIG_EVENT		(MY_CONFIG_CODE | MY_CONFIG_MODIFIERS)

/* Those of them that perf drops where the CPU or the kernel does not know them. */
#define MY_CONFIG_NEW		(MY_CONFIG_EVENT2 | MY_CONFIG_UMASK2 | MY_CONFIG_EQ)

/*
 * Of an event select as perf has it: all but an event (event, umask, edge, inv,
 * cmask, eq), pin control, and what says how it counts (USR, OS, INT, EN).
 */
#define MY_CONFIG_OTHERS	(~(0xffdfffffULL | MY_CONFIG_NEW))

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
