// SPDX-License-Identifier: GPL-2.0
/* A module that does not let go of its CPU, for the NMI watchdog to notice. */
#include <linux/compiler.h>
#include <linux/irqflags.h>
#include <linux/ktime.h>
#include <linux/module.h>

static unsigned int seconds = 60;
module_param(seconds, uint, 0);
MODULE_PARM_DESC(seconds, "how long");

static bool stop;
module_param(stop, bool, 0600);
MODULE_PARM_DESC(stop, "that is enough");

/* Cycles are what the watchdog goes by: an emulated CPU has few in mdelay(). */
static void run_cycles(void)
{
	unsigned int i;

	for (i = 0; i < 10000000; i++)
		barrier();
}

/* Does not stay loaded. */
static int __init stuck_init(void)
{
	u64 end = ktime_get_ns() + seconds * NSEC_PER_SEC;
	unsigned long flags;

	local_irq_save(flags);
	while (ktime_get_ns() < end && !READ_ONCE(stop))
		run_cycles();
	local_irq_restore(flags);
	return -ECANCELED;
}

module_init(stuck_init);

MODULE_DESCRIPTION("Keep a CPU stuck, interrupts off");
MODULE_LICENSE("GPL");
