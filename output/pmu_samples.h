/* SPDX-License-Identifier: GPL-2.0 */
/* The file that has all samples, as far back as there is room. */
#ifndef MY_PMU_SAMPLES_H
#define MY_PMU_SAMPLES_H

#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/types.h>
#include <linux/wait.h>

struct dentry;
struct file;
struct my_reader;
struct my_samples_row;
struct my_target;
struct poll_table_struct;

/**
 * struct my_samples - rows that can be read, the newest of them
 * @lock: for all that follows
 * @row: a ring
 * @size: rows in it
 * @head: number of the next row, of all since the module was loaded
 * @first: no row before this one is there, though there is room
 * @more: there are new rows
 */
struct my_samples {
	struct mutex lock;	/* of the ring */
	struct my_samples_row *row;
	unsigned int size;
	u64 head;
	u64 first;
	wait_queue_head_t more;
};

/* What is kept: so many samples, in at least and at most so many rows, but two samples. */
#define MY_KEPT_SAMPLES		64U
#define MY_LEAST_ROWS		4096U
#define MY_MOST_ROWS		65536U

static inline unsigned int my_samples_size(unsigned int per_sample)
{
	return max(clamp(MY_KEPT_SAMPLES * per_sample, MY_LEAST_ROWS, MY_MOST_ROWS),
		   2 * per_sample);
}

int my_samples_init(struct my_samples *samples, unsigned int per_sample);
int my_samples_make_room(struct my_samples *samples, unsigned int per_sample);
void my_samples_free(struct my_samples *samples);
void my_samples_add(struct my_samples *samples, const struct my_target *t,
		    u64 number);
void my_samples_wake(struct my_samples *samples);
void my_samples_show(struct my_samples *samples, struct dentry *dir);

struct my_reader *my_reader_new(struct my_samples *samples);
ssize_t my_reader_wait(struct my_reader *r, char __user *to, size_t size, bool nonblock);
__poll_t my_reader_poll(struct my_reader *r, struct file *file, struct poll_table_struct *wait);
void my_reader_tell(struct my_reader *r, const char *remark);
void my_reader_free(struct my_reader *r);

#endif
