/* SPDX-License-Identifier: GPL-2.0 */
/* The timer that ends a rotation. */
#ifndef MY_PMU_ROTATE_H
#define MY_PMU_ROTATE_H

#include <linux/hrtimer.h>

/**
 * struct my_rotate_timer - ends one rotation after the other
 * @timer: runs on the CPU
 * @expired: called when a rotation ends, on the CPU, with interrupts off
 */
struct my_rotate_timer {
	struct hrtimer timer;
	void (*expired)(struct my_rotate_timer *rotate);
};

void my_rotate_start(struct my_rotate_timer *rotate,
		     void (*expired)(struct my_rotate_timer *rotate));
void my_rotate_stop(struct my_rotate_timer *rotate);

#endif
