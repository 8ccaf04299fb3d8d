/* SPDX-License-Identifier: GPL-2.0 */
/* What an event's config holds on x86: the fields of an event select, as perf has them. */
#ifndef MY_PMU_CONFIG_H
#define MY_PMU_CONFIG_H

#include <linux/bits.h>

/* What to write as an event: the end of some refusals. */
#define MY_EVENTS_ACCEPTED \
	"known are instructions, cycles, branches and others that perf has for this CPU, rUUEE, cpu/event=,umask=,edge,inv,cmask=,config1=/"

/* Who is asked for events, and whether what he does not have is not there. */
#define MY_EVENTS_ASKED		"perf"
#define MY_EVENTS_ALL_KNOWN	false

/* How many names there are: tables in pmu_terms.h. */
#define MY_NR_NAMES		16
#define MY_NR_SYSFS_NAMES	33

/* Raw events that need another register on some CPU: a table in pmu_terms.h. */
#define MY_EXTRA_EVENTS		23

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

#endif
