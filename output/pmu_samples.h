/* SPDX-License-Identifier: GPL-2.0 */
/* The file that has all samples, as far back as there is room. */
#ifndef MY_PMU_SAMPLES_H
#define MY_PMU_SAMPLES_H

#include <linux/mutex.h>
#include <linux/types.h>
#include <linux/wait.h>

struct dentry;
struct my_samples_row;
struct my_target;

/**
 * struct my_samples - rows that can be read, the newest of them
 * @lock: for all that follows
 * @row: a ring
 * @size: rows in it
 * @head: number of the next row, of all since the module was loaded
 * @more: there are new rows
 */
struct my_samples {
	struct mutex lock;	/* of the ring */
	struct my_samples_row *row;
	unsigned int size;
	u64 head;
	wait_queue_head_t more;
};

int my_samples_init(struct my_samples *samples, unsigned int per_sample);
void my_samples_free(struct my_samples *samples);
void my_samples_add(struct my_samples *samples, const struct my_target *t,
		    u64 number);
void my_samples_wake(struct my_samples *samples);
void my_samples_show(struct my_samples *samples, struct dentry *dir);

#endif
