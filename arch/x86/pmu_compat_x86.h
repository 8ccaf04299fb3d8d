/* SPDX-License-Identifier: GPL-2.0 */
/* How kernels differ in what is x86; as pmu_compat.h. */
#ifndef MY_PMU_COMPAT_X86_H
#define MY_PMU_COMPAT_X86_H

#include <linux/version.h>

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 16, 0)
#include <asm/cpuid/api.h>
#include <asm/msr.h>
#else
#include <asm/msr.h>
#include <asm/processor.h>

/* The accessors of all 64 bits had an "l" where they have a "q" now. */
#define rdmsrq_safe(msr, val)	rdmsrl_safe(msr, val)
#define wrmsrq_safe(msr, val)	wrmsrl_safe(msr, val)
#endif

/*
 * The name is Linux 6.8's, and that of stable kernels since.  Some compilers, gcc 12.2
 * among them, miscompile an "asm goto" with outputs unless it is used.
 */
#ifndef asm_goto_output
#define asm_goto_output(x...)	asm_volatile_goto(x)
#endif

#endif
