// SPDX-License-Identifier: GPL-2.0
/* The tracepoints' code, which pmu_trace.h makes. */
#define CREATE_TRACE_POINTS
#include "pmu_trace.h"
