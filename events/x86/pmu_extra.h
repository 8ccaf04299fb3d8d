/* SPDX-License-Identifier: GPL-2.0 */
/* Events that need another register besides their event select: tables for pmu_names.c. */
#ifndef MY_PMU_EXTRA_H
#define MY_PMU_EXTRA_H

#include <linux/types.h>

/*
 * Umask and event select of what needs an extra register on one CPU or another: offcore
 * responses, load latencies, the frontend's, top-down metrics.  The kernel knows on which
 * (arch/x86/events/intel/core.c), and is asked.
 */
static const u16 extra_events[] = {
	0x0127, 0x0227, 0x012a, 0x012b, 0x01b7, 0x02b7, 0x01bb, 0x01c6, 0x02c6, 0x03c6,
	0x04c2, 0x40ad, 0x01cd, 0x05d0, 0x100b,
	0x8000, 0x8100, 0x8200, 0x8300, 0x8400, 0x8500, 0x8600, 0x8700,
};

/* Offcore responses are counted by two events, each with a register of its own. */
static const u16 twins[][2] = {
	{ 0x01b7, 0x01bb }, { 0x012a, 0x012b },
};

/*
 * Event 0 with the umasks 80H to 87H is perf's for what is read from the register
 * PERF_METRICS (INTEL_TD_METRIC_*).  Where there is one perf refuses them alone.
 */
#define FIRST_METRIC	0x8000

static bool is_metric(u64 config)
{
	return (config & 0xf8ff) == FIRST_METRIC;
}

#endif
