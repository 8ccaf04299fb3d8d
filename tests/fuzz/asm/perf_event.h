/* SPDX-License-Identifier: GPL-2.0 */
/* A stand-in for the kernel's arch/x86/include/asm/perf_event.h. */
#ifndef FUZZ_ASM_PERF_EVENT_H
#define FUZZ_ASM_PERF_EVENT_H

#define INTEL_PMC_IDX_FIXED	32

#endif
