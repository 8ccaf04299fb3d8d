/* SPDX-License-Identifier: GPL-2.0 */
/* Which CPU it is, as Linux has it. */
#ifndef MY_PMU_MODEL_H
#define MY_PMU_MODEL_H

#include <linux/kernel.h>
#include <linux/types.h>
#include <asm/processor.h>
#include <asm/sbi.h>

/* CPUs with another model may have other events, though their PMUs look the same. */
static inline unsigned long my_cpu_model(int cpu)
{
	return riscv_cached_marchid(cpu);
}

/* What a CPU is called, for messages. */
#define MY_CPU_NAME_LEN		128

static inline void my_cpu_name(int cpu, char *text, size_t size)
{
	snprintf(text, size, "mvendorid %#lx marchid %#lx mimpid %#lx",
		 riscv_cached_mvendorid(cpu), riscv_cached_marchid(cpu),
		 riscv_cached_mimpid(cpu));
}

#endif
