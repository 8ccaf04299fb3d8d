/* SPDX-License-Identifier: GPL-2.0 */
/* The back ends of this architecture: for pmu_cpu.c alone. */
#ifndef MY_PMU_BACKENDS_H
#define MY_PMU_BACKENDS_H

#include "pmu_amd.h"
#include "pmu_hw.h"
#include "pmu_intel.h"

/**
 * my_backend_probe() - the PMU of this CPU, and who drives it
 * @pmu: filled in
 * @why: if refused, the reason
 *
 * Context: the CPU in question, interrupts off.
 * Return: 0; -ENODEV if it has no usable PMU; -EIO if a register faults that should not.
 */
static inline int my_backend_probe(struct my_x86_pmu *pmu, struct my_pmu_why *why)
{
	return hw_has_amd_vendor() ? my_amd_pmu_probe(pmu, why) : my_intel_pmu_probe(pmu, why);
}

#endif
