/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What an event's config holds on RISC-V: 48 bits that mean something to the platform alone,
 * perf's raw events; or an event that SBI has a number for.
 */
#ifndef MY_PMU_CONFIG_H
#define MY_PMU_CONFIG_H

#include <linux/bits.h>
#include <linux/perf_event.h>

/* What to write as an event: the end of some refusals. */
#define MY_EVENTS_ACCEPTED \
	"known are instructions, cycles and others that perf has names for, rHEX, cpu/event=,config=/"

/* Who is asked for events, and whether what he does not have is not there. */
#define MY_EVENTS_ASKED		"its firmware (SBI)"
#define MY_EVENTS_ALL_KNOWN	true

/* How many names there are: tables in pmu_terms.h. */
#define MY_NR_NAMES		10
#define MY_NR_SYSFS_NAMES	0

/* No event needs another register. */
#define MY_EXTRA_EVENTS		0

/* An event of SBI's tables, whose index has 20 bits: type and code. */
#define MY_CONFIG_SBI		BIT_ULL(62)
#define MY_CONFIG_RAW		GENMASK_ULL(47, 0)
#define MY_CONFIG_CODE		(MY_CONFIG_SBI | MY_CONFIG_RAW)

/* Nothing says how to count an event but its code. */
#define MY_CONFIG_MODIFIERS	0ULL
#define MY_CONFIG_EQ		0ULL
#define MY_CONFIG_EVENT		MY_CONFIG_CODE
#define MY_CONFIG_NEW		0ULL
#define MY_CONFIG_OTHERS	0ULL

/* Hardware events have perf's numbers, and one more. */
#define MY_SBI_HARDWARE(n)	(MY_CONFIG_SBI | ((n) + 1))

/* perf: cache, operation << 8, result << 16; SBI: type 1, cache << 3, operation << 1, result. */
static inline u64 my_cache_config(u64 config)
{
	return MY_CONFIG_SBI | 1 << 16 | (config & 0xff) << 3 | (config >> 8 & 0xff) << 1 |
	       (config >> 16 & 0xff);
}

#endif
