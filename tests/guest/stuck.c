// SPDX-License-Identifier: GPL-2.0
/* A module that does not let go of its CPU, for the NMI watchdog to notice. */
#include <linux/irqflags.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/stringify.h>
#include <asm/tsc.h>

static unsigned int seconds = 60;
module_param(seconds, uint, 0);
MODULE_PARM_DESC(seconds, "how long: so many seconds' cycles, at the TSC's rate");

#define NOPS	200
#define ROUNDS	10000

/*
 * Cycles are what the watchdog goes by.  The lab's CPU counts one for each instruction,
 * and a NOP takes least of the machine's time.  Not faster than the TSC: the watchdog does not
 * heed an NMI that comes too soon.
 */
static void run_cycles(u64 cycles)
{
	u64 begin = ktime_get_ns(), done;
	unsigned int i;

	for (done = 0; done < cycles; done += NOPS * ROUNDS) {
		for (i = 0; i < ROUNDS; i++)
			asm volatile(".fill " __stringify(NOPS) ", 1, 0x90");
		while (ktime_get_ns() - begin < done * 1000000 / tsc_khz)
			cpu_relax();
	}
}

/* Does not stay loaded. */
static int __init stuck_init(void)
{
	unsigned long flags;

	local_irq_save(flags);
	run_cycles(1000ULL * tsc_khz * seconds);
	local_irq_restore(flags);
	return -ECANCELED;
}

module_init(stuck_init);

MODULE_DESCRIPTION("Keep a CPU stuck, interrupts off");
MODULE_LICENSE("GPL");
