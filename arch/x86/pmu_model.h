/* SPDX-License-Identifier: GPL-2.0 */
/* Which CPU it is, as Linux has it. */
#ifndef MY_PMU_MODEL_H
#define MY_PMU_MODEL_H

#include <linux/kernel.h>
#include <linux/types.h>
#include <asm/processor.h>

/* CPUs with another model may have other events, though their PMUs look the same. */
static inline u32 my_cpu_model(int cpu)
{
	return cpu_data(cpu).x86_model;
}

/* What a CPU is called, for messages. */
#define MY_CPU_NAME_LEN		128

static inline void my_cpu_name(int cpu, char *text, size_t size)
{
	const struct cpuinfo_x86 *info = &cpu_data(cpu);

	snprintf(text, size, "%s, family %u model %u stepping %u", info->x86_model_id,
		 info->x86, info->x86_model, info->x86_stepping);
}

#endif
