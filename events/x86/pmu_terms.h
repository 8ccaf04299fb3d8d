/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What perf calls events on x86, and the terms of its format/: tables for pmu_encode.c, which
 * has their types.
 */
#ifndef MY_PMU_TERMS_H
#define MY_PMU_TERMS_H

#include "pmu_config.h"
#include "pmu_ops.h"

/* The fields of an event select, which are those of a raw event, too. */
#define CONFIG_EVENT_SHIFT	0
#define CONFIG_UMASK_SHIFT	8
#define CONFIG_EDGE_SHIFT	18
#define CONFIG_PC_SHIFT		19
#define CONFIG_ANY_SHIFT	21
#define CONFIG_INV_SHIFT	23
#define CONFIG_CMASK_SHIFT	24
#define CONFIG_EVENT2_SHIFT	32
#define CONFIG_EQ_SHIFT		36
#define CONFIG_UMASK2_SHIFT	40

#define CONFIG_REFUSED		BIT_ULL(CONFIG_ANY_SHIFT)
#define CONFIG_REFUSAL \
	"AnyThread (any, bit 21) counts the sibling thread, too; it is never set here"

/* --- names ------------------------------------------------------------------ */

#define HARDWARE(_name, _config, _event, _umask) {			\
	.name = _name, .type = PERF_TYPE_HARDWARE,			\
	.config = PERF_COUNT_HW_##_config,				\
	.code = (_umask) << CONFIG_UMASK_SHIFT | (_event),		\
}

/*
 * perf's names, each before its other ones, with the encodings of CPUID leaf 0AH
 * and of the fixed counters: ref-cycles is the one that runs at the TSC's rate,
 * bus-cycles the event select 3CH, 01H.  What has none there has 0.  perf has no
 * names for the last events of leaf 0AH; those like topdown-retiring mean others.
 */
static const struct event_name event_names[] = {
	HARDWARE("cpu-cycles",		CPU_CYCLES,		0x3c, 0x00),
	HARDWARE("instructions",	INSTRUCTIONS,		0xc0, 0x00),
	HARDWARE("cache-references",	CACHE_REFERENCES,	0x2e, 0x4f),
	HARDWARE("cache-misses",	CACHE_MISSES,		0x2e, 0x41),
	HARDWARE("branch-instructions",	BRANCH_INSTRUCTIONS,	0xc4, 0x00),
	HARDWARE("branch-misses",	BRANCH_MISSES,		0xc5, 0x00),
	HARDWARE("bus-cycles",		BUS_CYCLES,		0x3c, 0x01),
	HARDWARE("stalled-cycles-frontend",
		 STALLED_CYCLES_FRONTEND, 0, 0),
	HARDWARE("stalled-cycles-backend",
		 STALLED_CYCLES_BACKEND, 0, 0),
	HARDWARE("ref-cycles",		REF_CPU_CYCLES,		0x00, 0x03),
	{ "arch-topdown-slots", PERF_TYPE_RAW, 0x01a4, 0x01a4 },
	{ "arch-topdown-be-bound", PERF_TYPE_RAW, 0x02a4, 0x02a4 },
	{ "arch-topdown-bad-spec", PERF_TYPE_RAW, 0x0073, 0x0073 },
	{ "arch-topdown-fe-bound", PERF_TYPE_RAW, 0x019c, 0x019c },
	{ "arch-topdown-retiring", PERF_TYPE_RAW, 0x02c2, 0x02c2 },
	{ "arch-lbr-inserts", PERF_TYPE_RAW, 0x01e4, 0x01e4 },
};

static const struct event_name other_names[] = {
	HARDWARE("cycles",		CPU_CYCLES,		0x3c, 0x00),
	HARDWARE("branches",		BRANCH_INSTRUCTIONS,	0xc4, 0x00),
	HARDWARE("idle-cycles-frontend",
		 STALLED_CYCLES_FRONTEND, 0, 0),
	HARDWARE("idle-cycles-backend",
		 STALLED_CYCLES_BACKEND, 0, 0),
};

/*
 * What perf has in sysfs on one model or another, beside the names above
 * (arch/x86/events/intel/core.c).  What a name stands for differs, and is read
 * there (pmu_names.c).
 */
static const char * const sysfs_names[] = {
	"mem-loads", "mem-loads-aux", "mem-stores",
	"slots",
	"topdown-total-slots", "topdown-slots-issued", "topdown-slots-retired",
	"topdown-fetch-bubbles", "topdown-recovery-bubbles",
	"topdown-retiring", "topdown-bad-spec", "topdown-fe-bound",
	"topdown-be-bound", "topdown-heavy-ops", "topdown-br-mispredict",
	"topdown-fetch-lat", "topdown-mem-bound",
	"cycles-t", "cycles-ct",
	"tx-start", "tx-commit", "tx-abort", "tx-conflict", "tx-capacity",
	"tx-capacity-read", "tx-capacity-write",
	"el-start", "el-commit", "el-abort", "el-conflict", "el-capacity",
	"el-capacity-read", "el-capacity-write",
};

/* --- terms ----------------------------------------------------------------------- */

#define EXTRA_REGISTER	"it needs an extra register, which is not programmed here"
#define TRANSACTIONS	"transactions are not told apart here"

/* Those of perf's format/, and those that `perf stat` takes besides. */
static const struct term terms_known[] = {
	{ "event", TERM_FIELD, CONFIG_EVENT_SHIFT, 0xfff, CONFIG_EVENT2_SHIFT },
	{ "umask", TERM_FIELD, CONFIG_UMASK_SHIFT, 0xffff, CONFIG_UMASK2_SHIFT },
	{ "edge", TERM_FIELD, CONFIG_EDGE_SHIFT, 1 },
	{ "pc", TERM_FIELD, CONFIG_PC_SHIFT, 1 },
	{ "any", TERM_FIELD, CONFIG_ANY_SHIFT, 1 },
	{ "inv", TERM_FIELD, CONFIG_INV_SHIFT, 1 },
	{ "cmask", TERM_FIELD, CONFIG_CMASK_SHIFT, 0xff },
	{ "config", TERM_FIELD, 0, U64_MAX },
	{ "eq", TERM_FIELD, CONFIG_EQ_SHIFT, 1 },
	{ "period", TERM_PERIOD, 0, MY_PERIOD_MAX },
	{ "percore", TERM_NUMBER, 0, 1 },
	{ "name", TERM_TEXT },
	{ "metric-id", TERM_TEXT },
	{ "in_tx", TERM_REFUSED, .refusal = TRANSACTIONS },
	{ "in_tx_cp", TERM_REFUSED, .refusal = TRANSACTIONS },
	{ "config1", TERM_EXTRA, 0, U64_MAX },
	{ "offcore_rsp", TERM_EXTRA, 0, U64_MAX },
	{ "frontend", TERM_EXTRA, 0, 0xffffff },
	{ "ldlat", TERM_REFUSED, .refusal = EXTRA_REGISTER },
	{ "snoop_rsp", TERM_REFUSED, .refusal = EXTRA_REGISTER },
	{ "config2", TERM_REFUSED, .refusal = EXTRA_REGISTER },
};

#define SEEN_EVENT	BIT(0)
#define SEEN_CONFIG	BIT(7)

#define TERMS_ACCEPTED \
	"event=, umask=, cmask=, edge, inv, eq, pc, config=, config1=, period= or an event's name, each once, are known"

#endif
