/* SPDX-License-Identifier: GPL-2.0 */
/* The back ends of this architecture: for pmu_cpu.c alone. */
#ifndef MY_PMU_BACKENDS_H
#define MY_PMU_BACKENDS_H

#include "pmu_hw.h"
#include "pmu_sbi.h"

/**
 * my_backend_probe() - the PMU of this CPU, and who drives it
 * @pmu: filled in
 * @why: if refused, the reason
 *
 * Context: the CPU in question, interrupts off.
 * Return: 0; -ENODEV if it has no usable PMU.
 */
static inline int my_backend_probe(struct my_x86_pmu *pmu, struct my_pmu_why *why)
{
	return my_sbi_pmu_probe(pmu, why);
}

#endif
