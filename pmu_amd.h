/* SPDX-License-Identifier: GPL-2.0 */
/* AMD's core PMU, and Hygon's. */
#ifndef MY_PMU_AMD_H
#define MY_PMU_AMD_H

#include <linux/types.h>

struct my_pmu_why;
struct my_x86_pmu;

/**
 * struct amd_pmu_leaf - what CPUID says of the PMU
 * @signature: leaf 1, EAX: family and model
 * @features: leaf 8000_0001H, ECX
 * @eax: leaf 8000_0022H, EAX; 0 if there is no such leaf
 * @ebx: leaf 8000_0022H, EBX
 */
struct amd_pmu_leaf {
	u32 signature;
	u32 features;
	u32 eax;
	u32 ebx;
};

int my_amd_pmu_decode(struct my_x86_pmu *pmu, const struct amd_pmu_leaf *leaf,
		      struct my_pmu_why *why);
int my_amd_pmu_probe(struct my_x86_pmu *pmu, struct my_pmu_why *why);

#endif
