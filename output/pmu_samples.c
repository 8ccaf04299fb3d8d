// SPDX-License-Identifier: GPL-2.0
/*
 * All samples, in a file: comma-separated values, one row for each CPU, event and
 * sample.
 *
 * The newest rows are kept in a ring.  Each reader has a place in it of his own; if
 * he is so slow that rows are gone before he comes to them, he is told how many.
 * "samples" ends where the rows end, for now: read on later, there may be more.
 * "samples_pipe" waits for them.
 */
#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/mm.h>
#include <linux/poll.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "pmu_samples.h"
#include "pmu_target.h"

#define HEADER \
	"sample,cpu,time_ns,dt_ns,latency_ns,missed,event,counter,growth,enabled_ns,running_ns,flag\n"

/* What is kept: so many samples, in at least and at most so many rows. */
#define KEPT_SAMPLES		64U
#define LEAST_ROWS		4096U
#define MOST_ROWS		65536U

/* The longest row: a name, ten numbers. */
#define TEXT_LEN		(MY_EVENT_NAME_LEN + 320)

/**
 * struct my_samples_row - one event of one CPU in one sample
 * @event: the event; it lives as long as the module is loaded
 * @number: of the sample
 * @time: when its CPU was read
 * @dt: time since the sample before
 * @latency: from when it was asked until then
 * @missed: samples that were due before
 * @grown: its growth
 * @home: the counter that it never leaves, or MY_NO_COUNTER
 * @flag: the mark of that counter, or of the event; or ""
 */
struct my_samples_row {
	const struct my_perf_event *event;
	u64 number;
	u64 time;
	u64 dt;
	u64 latency;
	u64 missed;
	struct my_grown grown;
	s8 home;
	const char *flag;
};

/**
 * struct reader - who has the file open
 * @lock: for what follows: several threads may read
 * @samples: the rows
 * @next: number of the row that he comes to next
 * @has_header: he has had it
 * @text: what he is about to get
 * @len: so much of it
 * @done: and so much he has got
 */
struct reader {
	struct mutex lock;	/* of the text */
	struct my_samples *samples;
	u64 next;
	bool has_header;
	char text[TEXT_LEN];
	size_t len;
	size_t done;
};

/**
 * my_samples_init() - room for rows
 * @samples: filled in
 * @per_sample: how many rows a sample has
 *
 * Context: task.
 * Return: 0, or -ENOMEM.
 */
int my_samples_init(struct my_samples *samples, unsigned int per_sample)
{
	mutex_init(&samples->lock);
	init_waitqueue_head(&samples->more);
	samples->head = 0;
	samples->size = clamp(KEPT_SAMPLES * per_sample, LEAST_ROWS, MOST_ROWS);
	samples->size = max(samples->size, 2 * per_sample);
	samples->row = kvcalloc(samples->size, sizeof(*samples->row), GFP_KERNEL);
	return samples->row ? 0 : -ENOMEM;
}

/**
 * my_samples_free() - give the room back
 * @samples: the rows
 *
 * Context: task; the file is not open any more.
 */
void my_samples_free(struct my_samples *samples)
{
	kvfree(samples->row);
}

/* The flag is the one that matters most: without growth there is always one of the others. */
static void fill_row(struct my_samples_row *row, const struct my_target *t,
		     unsigned int i, u64 number)
{
	const struct my_pmu_marks *marks = &t->sample.marks;
	int home = t->set.schedule.home[i];
	u64 counter = home == MY_NO_COUNTER ? 0 : BIT_ULL(home);

	*row = (struct my_samples_row) {
		.event = &t->set.event[i],
		.number = number,
		.time = t->sample.time,
		.dt = t->sample.time - t->last.time,
		.latency = t->sample.time - t->sample.asked,
		.missed = t->missed,
		.grown = t->grown[i],
		.home = home,
		.flag = marks->throttled & counter ? "throttled" :
			marks->wrapped & counter ? "wrapped" : "",
	};
	if (t->grown[i].stuck)
		row->flag = "stuck";
	if (marks->late & counter)
		row->flag = "late";
	if (marks->clobbered & counter)
		row->flag = "stolen";
}

/**
 * my_samples_add() - the rows of a CPU's sample
 * @samples: the rows
 * @t: the CPU, with its sample and the one before
 * @number: of the sample
 *
 * Context: task.
 */
void my_samples_add(struct my_samples *samples, const struct my_target *t,
		    u64 number)
{
	unsigned int i, at;

	mutex_lock(&samples->lock);
	for (i = 0; i < t->set.nr_events; i++) {
		div_u64_rem(samples->head, samples->size, &at);
		fill_row(&samples->row[at], t, i, number);
		samples->head++;
	}
	mutex_unlock(&samples->lock);
}

/**
 * my_samples_wake() - a sample is complete: who waits for rows may read
 * @samples: the rows
 *
 * Context: task.
 */
void my_samples_wake(struct my_samples *samples)
{
	wake_up_interruptible(&samples->more);
}

/* --- reading ------------------------------------------------------------------- */

static size_t format_grown(char *text, size_t size, const struct my_grown *grown)
{
	if (!grown->known)
		return scnprintf(text, size, ",,%llu,%llu", grown->enabled,
				 grown->running);
	return scnprintf(text, size, ",%llu,%llu,%llu", grown->growth,
			 grown->enabled, grown->running);
}

static void format_row(struct reader *r, const struct my_samples_row *row)
{
	const char *name = row->event->attr.name;
	size_t len;

	len = scnprintf(r->text, TEXT_LEN, "%llu,%d,%llu,%llu,%llu,%llu,\"%s\",",
			row->number, row->event->set->cpu->cpu, row->time, row->dt,
			row->latency, row->missed, name);
	if (row->home != MY_NO_COUNTER)
		len += scnprintf(r->text + len, TEXT_LEN - len, "%s%d",
				 my_pmc_kind(row->home), my_pmc_number(row->home));
	len += format_grown(r->text + len, TEXT_LEN - len, &row->grown);
	len += scnprintf(r->text + len, TEXT_LEN - len, ",%s\n", row->flag);
	r->len = len;
}

static u64 oldest(const struct my_samples *samples)
{
	return samples->head > samples->size ? samples->head - samples->size : 0;
}

/* The header, a row, or how many are gone; false if there is nothing for now. */
static bool __next_text(struct reader *r)
{
	struct my_samples *samples = r->samples;
	u64 first = oldest(samples);
	unsigned int at;

	if (!r->has_header) {
		r->has_header = true;
		r->len = strscpy(r->text, HEADER, TEXT_LEN);
		r->next = first;	/* what was gone before is no loss */
		return true;
	}
	if (r->next < first) {
		r->len = scnprintf(r->text, TEXT_LEN, "# dropped %llu rows\n",
				   first - r->next);
		r->next = first;
		return true;
	}
	if (r->next == samples->head)
		return false;
	div_u64_rem(r->next++, samples->size, &at);
	format_row(r, &samples->row[at]);
	return true;
}

static bool next_text(struct reader *r)
{
	bool any;

	mutex_lock(&r->samples->lock);
	any = __next_text(r);
	mutex_unlock(&r->samples->lock);
	r->done = 0;
	if (!any)
		r->len = 0;
	return any;
}

static ssize_t __read_rows(struct reader *r, char __user *to, size_t size)
{
	size_t got = 0, n;

	while (got < size) {
		if (r->done == r->len && !next_text(r))
			break;
		n = min(size - got, r->len - r->done);
		if (copy_to_user(to + got, r->text + r->done, n))
			return got ?: -EFAULT;
		r->done += n;
		got += n;
	}
	return got;
}

static ssize_t read_rows(struct reader *r, char __user *to, size_t size)
{
	ssize_t got;

	mutex_lock(&r->lock);
	got = __read_rows(r, to, size);
	mutex_unlock(&r->lock);
	return got;
}

static ssize_t samples_read(struct file *file, char __user *to, size_t size,
			    loff_t *pos)
{
	return read_rows(file->private_data, to, size);
}

static bool is_more(struct reader *r)
{
	return r->done < r->len || !r->has_header ||
	       READ_ONCE(r->samples->head) != r->next;
}

static ssize_t samples_pipe_read(struct file *file, char __user *to, size_t size,
				 loff_t *pos)
{
	struct reader *r = file->private_data;
	ssize_t got;

	for (;;) {
		got = read_rows(r, to, size);
		if (got || !size)
			return got;	/* else another thread has it */
		if (file->f_flags & O_NONBLOCK)
			return -EAGAIN;
		got = wait_event_interruptible(r->samples->more, is_more(r));
		if (got)
			return got;
	}
}

static __poll_t samples_poll(struct file *file, poll_table *wait)
{
	struct reader *r = file->private_data;

	poll_wait(file, &r->samples->more, wait);
	return is_more(r) ? EPOLLIN | EPOLLRDNORM : 0;
}

static int samples_open(struct inode *inode, struct file *file)
{
	struct reader *r = kzalloc(sizeof(*r), GFP_KERNEL);

	if (!r)
		return -ENOMEM;
	mutex_init(&r->lock);
	r->samples = inode->i_private;
	file->private_data = r;
	return stream_open(inode, file);
}

static int samples_release(struct inode *inode, struct file *file)
{
	kfree(file->private_data);
	return 0;
}

static const struct file_operations samples_fops = {
	.owner = THIS_MODULE,
	.open = samples_open,
	.read = samples_read,
	.release = samples_release,
};

static const struct file_operations samples_pipe_fops = {
	.owner = THIS_MODULE,
	.open = samples_open,
	.read = samples_pipe_read,
	.poll = samples_poll,
	.release = samples_release,
};

/**
 * my_samples_show() - make the files
 * @samples: the rows
 * @dir: where, in debugfs
 *
 * Counts tell what others do: they are root's only.
 *
 * Context: task.
 */
void my_samples_show(struct my_samples *samples, struct dentry *dir)
{
	debugfs_create_file("samples", 0400, dir, samples, &samples_fops);
	debugfs_create_file("samples_pipe", 0400, dir, samples,
			    &samples_pipe_fops);
}
