/* SPDX-License-Identifier: GPL-2.0 */
/* The timer that ends a turn. */
#ifndef MY_PMU_ROTATE_H
#define MY_PMU_ROTATE_H

#include <linux/hrtimer.h>
#include <linux/types.h>

/**
 * struct my_rotation - turns of a CPU, one after the other
 * @timer: runs on the CPU
 * @end_turn: called when a turn ends, on the CPU, with interrupts off
 */
struct my_rotation {
	struct hrtimer timer;
	void (*end_turn)(struct my_rotation *rotation);
};

void my_rotation_init(struct my_rotation *rotation,
		      void (*end_turn)(struct my_rotation *rotation));
void my_rotation_start(struct my_rotation *rotation);
void my_rotation_stop(struct my_rotation *rotation);

#endif
