/* SPDX-License-Identifier: GPL-2.0 */
/* A stand-in for the kernel's: what pmu_capture.h uses of it. */
#ifndef FUZZ_LINUX_MATH64_H
#define FUZZ_LINUX_MATH64_H

#include <linux/types.h>

static inline u64 mul_u64_u64_div_u64(u64 a, u64 b, u64 c)
{
	return (__uint128_t)a * b / c;
}

#endif
