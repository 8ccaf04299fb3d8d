// SPDX-License-Identifier: GPL-2.0
/* A module that does not let go of its CPU, for the NMI watchdog to notice. */
#include <linux/irqflags.h>
#include <linux/ktime.h>
#include <linux/module.h>

static unsigned int seconds = 60;
module_param(seconds, uint, 0);
MODULE_PARM_DESC(seconds, "how long");

/*
 * Cycles are what the watchdog goes by.  The lab's CPU counts one for each instruction,
 * and a NOP takes least of the machine's time.
 */
static void run_cycles(void)
{
	unsigned int i;

	for (i = 0; i < 100000; i++)
		asm volatile(".fill 200, 1, 0x90");
}

/* Does not stay loaded. */
static int __init stuck_init(void)
{
	u64 end = ktime_get_ns() + seconds * NSEC_PER_SEC;
	unsigned long flags;

	local_irq_save(flags);
	while (ktime_get_ns() < end)
		run_cycles();
	local_irq_restore(flags);
	return -ECANCELED;
}

module_init(stuck_init);

MODULE_DESCRIPTION("Keep a CPU stuck, interrupts off");
MODULE_LICENSE("GPL");
