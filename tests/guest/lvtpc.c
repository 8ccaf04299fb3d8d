// SPDX-License-Identifier: GPL-2.0
/* A module that tells what each CPU's local APIC has for interrupts of counters (LVTPC). */
#include <linux/cpu.h>
#include <linux/errno.h>
#include <linux/module.h>
#include <linux/printk.h>
#include <linux/smp.h>

#include <asm/apic.h>

static void read_lvtpc(void *val)
{
	*(u32 *)val = apic->read(APIC_LVTPC);
}

/* Does not stay loaded. */
static int __init lvtpc_init(void)
{
	u32 val;
	int cpu;

	cpus_read_lock();
	for_each_online_cpu(cpu) {
		if (!smp_call_function_single(cpu, read_lvtpc, &val, 1))
			pr_info("lvtpc: cpu%d %#x\n", cpu, val);
	}
	cpus_read_unlock();
	return -ECANCELED;
}

module_init(lvtpc_init);

MODULE_DESCRIPTION("Tell LVTPC of all CPUs");
MODULE_LICENSE("GPL");
