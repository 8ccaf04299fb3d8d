/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What perf calls events on RISC-V, and the terms of its format/: tables for pmu_encode.c, which
 * has their types.
 */
#ifndef MY_PMU_TERMS_H
#define MY_PMU_TERMS_H

#include "pmu_config.h"
#include "pmu_ops.h"

#define CONFIG_REFUSED		GENMASK_ULL(63, 48)
#define CONFIG_REFUSAL \
	"an event of the platform has 48 bits; events of the firmware (bit 63) are not counted here"

/* --- names ------------------------------------------------------------------ */

#define HARDWARE(_name, _config) {					\
	.name = _name, .type = PERF_TYPE_HARDWARE,			\
	.config = PERF_COUNT_HW_##_config,				\
	.code = MY_SBI_HARDWARE(PERF_COUNT_HW_##_config),		\
}

/* perf's names, each before its other ones. */
static const struct event_name event_names[] = {
	HARDWARE("cpu-cycles",		CPU_CYCLES),
	HARDWARE("instructions",	INSTRUCTIONS),
	HARDWARE("cache-references",	CACHE_REFERENCES),
	HARDWARE("cache-misses",	CACHE_MISSES),
	HARDWARE("branch-instructions",	BRANCH_INSTRUCTIONS),
	HARDWARE("branch-misses",	BRANCH_MISSES),
	HARDWARE("bus-cycles",		BUS_CYCLES),
	HARDWARE("stalled-cycles-frontend", STALLED_CYCLES_FRONTEND),
	HARDWARE("stalled-cycles-backend", STALLED_CYCLES_BACKEND),
	HARDWARE("ref-cycles",		REF_CPU_CYCLES),
};

static const struct event_name other_names[] = {
	HARDWARE("cycles",		CPU_CYCLES),
	HARDWARE("branches",		BRANCH_INSTRUCTIONS),
	HARDWARE("idle-cycles-frontend", STALLED_CYCLES_FRONTEND),
	HARDWARE("idle-cycles-backend", STALLED_CYCLES_BACKEND),
};

/* perf has none in sysfs. */
static const char * const sysfs_names[] = {};

/* --- terms ----------------------------------------------------------------------- */

/* Those of perf's format/, and those that `perf stat` takes besides. */
static const struct term terms_known[] = {
	{ "event", TERM_FIELD, 0, MY_CONFIG_RAW },
	{ "config", TERM_FIELD, 0, U64_MAX },
	{ "period", TERM_PERIOD, 0, MY_PERIOD_MAX },
	{ "percore", TERM_NUMBER, 0, 1 },
	{ "name", TERM_TEXT },
	{ "metric-id", TERM_TEXT },
	{ "firmware", TERM_REFUSED, .refusal = "events of the firmware are not counted here" },
};

#define SEEN_EVENT	BIT(0)
#define SEEN_CONFIG	BIT(1)

#define TERMS_ACCEPTED \
	"event=, config=, period= or an event's name, each once, are known"

#endif
