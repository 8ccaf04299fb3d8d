/* SPDX-License-Identifier: GPL-2.0 */
/* The architectural PMU of Intel (and compatible) CPUs: CPUID leaves 0AH and 23H. */
#ifndef MY_PMU_INTEL_H
#define MY_PMU_INTEL_H

#include <linux/types.h>

struct my_pmu_why;
struct my_x86_pmu;

/**
 * struct intel_pmu_leaf - CPUID leaves 0AH and 23H as the CPU answered them
 * @eax: version, number and width of the generic counters, length of @ebx
 * @ebx: one bit per architectural event; set means the event is absent
 * @ecx: bitmap of fixed counters, from version 5 on
 * @edx: number and width of the fixed counters, from version 2 on
 * @hypervisor: CPUID.1:ECX[31]: it is a hypervisor's answer
 * @generic: leaf 23H: bitmap of generic counters; 0 if there is no leaf 23H
 * @fixed: leaf 23H: bitmap of fixed counters
 * @events: leaf 23H: one bit per architectural event; set means that it exists
 * @reload: leaf 23H: counters that can be reloaded by overflows, by id
 * @precise: leaf 23H: counters of architectural PEBS, by id
 * @select: leaf 23H: bits of event selects that there are
 */
struct intel_pmu_leaf {
	u32 eax, ebx, ecx, edx;
	bool hypervisor;
	u32 generic, fixed, events;
	u64 reload, precise;
	u32 select;
};

int my_intel_pmu_decode(struct my_x86_pmu *pmu,
			const struct intel_pmu_leaf *leaf,
			struct my_pmu_why *why);
int my_intel_pmu_probe(struct my_x86_pmu *pmu, struct my_pmu_why *why);

#endif
