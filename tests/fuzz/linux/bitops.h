/* SPDX-License-Identifier: GPL-2.0 */
/* A stand-in for the kernel's: what pmu_ops.h's inline functions use of it. */
#ifndef FUZZ_LINUX_BITOPS_H
#define FUZZ_LINUX_BITOPS_H

#define BIT(nr)			(1UL << (nr))
#define BIT_ULL(nr)		(1ULL << (nr))
#define GENMASK_ULL(h, l)	(~0ULL >> (63 - (h)) & ~0ULL << (l))
#define hweight64(w)		((unsigned int)__builtin_popcountll(w))

#endif
