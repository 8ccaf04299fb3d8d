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

/* The longest row: a name, ten numbers. */
#define TEXT_LEN		(MY_EVENT_NAME_LEN + 320)

/**
 * struct my_samples_row - one event of one CPU in one sample
 * @event: its name, which is kept as long as the module is loaded
 * @cpu: the CPU
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
	const char *event;
	int cpu;
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
 * struct my_reader - who has the file open
 * @lock: for what follows: several threads may read
 * @samples: the rows
 * @next: number of the row that he comes to next
 * @has_header: he has had it
 * @remark: what he is told before the next row; or ""
 * @text: what he is about to get
 * @len: so much of it
 * @done: and so much he has got
 */
struct my_reader {
	struct mutex lock;	/* of the text */
	struct my_samples *samples;
	u64 next;
	bool has_header;
	char remark[TEXT_LEN - 4];
	char text[TEXT_LEN];
	size_t len;
	size_t done;
};

static u64 oldest(const struct my_samples *samples)
{
	return samples->head > samples->first + samples->size ? samples->head - samples->size :
								samples->first;
}

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
	samples->first = 0;
	samples->size = my_samples_size(per_sample);
	samples->row = kvcalloc(samples->size, sizeof(*samples->row), GFP_KERNEL);
	return samples->row ? 0 : -ENOMEM;
}

/**
 * my_samples_make_room() - samples are to have more rows
 * @samples: the rows
 * @per_sample: how many rows a sample has
 *
 * No row is lost.
 *
 * Context: task.
 * Return: 0, or -ENOMEM.
 */
int my_samples_make_room(struct my_samples *samples, unsigned int per_sample)
{
	unsigned int size = my_samples_size(per_sample), from, to;
	struct my_samples_row *row;
	u64 i;

	if (size <= samples->size)
		return 0;
	row = kvcalloc(size, sizeof(*row), GFP_KERNEL);
	if (!row)
		return -ENOMEM;
	mutex_lock(&samples->lock);
	samples->first = oldest(samples);
	for (i = samples->first; i < samples->head; i++) {
		div_u64_rem(i, samples->size, &from);
		div_u64_rem(i, size, &to);
		row[to] = samples->row[from];
	}
	swap(samples->row, row);
	samples->size = size;
	mutex_unlock(&samples->lock);
	kvfree(row);
	return 0;
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
		.event = t->event_name[i],
		.cpu = t->set.cpu->cpu,
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

static void format_row(struct my_reader *r, const struct my_samples_row *row)
{
	size_t len;

	len = scnprintf(r->text, TEXT_LEN, "%llu,%d,%llu,%llu,%llu,%llu,\"%s\",",
			row->number, row->cpu, row->time, row->dt, row->latency, row->missed,
			row->event);
	if (row->home != MY_NO_COUNTER)
		len += scnprintf(r->text + len, TEXT_LEN - len, "%s%d",
				 my_pmc_kind(row->home), my_pmc_number(row->home));
	len += format_grown(r->text + len, TEXT_LEN - len, &row->grown);
	len += scnprintf(r->text + len, TEXT_LEN - len, ",%s\n", row->flag);
	r->len = len;
}

/* The header, a remark, a row, or how many are gone; false if there is nothing for now. */
static bool __next_text(struct my_reader *r)
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
	if (*r->remark) {
		r->len = scnprintf(r->text, TEXT_LEN, "# %s\n", r->remark);
		*r->remark = '\0';
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

static bool next_text(struct my_reader *r)
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

static ssize_t __read_rows(struct my_reader *r, char __user *to, size_t size)
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

static ssize_t read_rows(struct my_reader *r, char __user *to, size_t size)
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

static bool is_more(struct my_reader *r)
{
	return r->done < r->len || !r->has_header || *r->remark ||
	       READ_ONCE(r->samples->head) != r->next;
}

/**
 * my_reader_wait() - the next rows, as soon as there are some
 * @r: the reader
 * @to: where they go
 * @size: room there
 * @nonblock: do not wait
 *
 * Context: task; sleeps.
 * Return: how much was read; -EAGAIN if there is nothing and @nonblock; -ERESTARTSYS; -EFAULT.
 */
ssize_t my_reader_wait(struct my_reader *r, char __user *to, size_t size, bool nonblock)
{
	ssize_t got;

	for (;;) {
		got = read_rows(r, to, size);
		if (got || !size)
			return got;	/* else another thread has it */
		if (nonblock)
			return -EAGAIN;
		got = wait_event_interruptible(r->samples->more, is_more(r));
		if (got)
			return got;
	}
}

/**
 * my_reader_poll() - is there something to read?
 * @r: the reader
 * @file: the file that it has open
 * @wait: as poll has it
 *
 * Context: task.
 * Return: as of poll.
 */
__poll_t my_reader_poll(struct my_reader *r, struct file *file, struct poll_table_struct *wait)
{
	poll_wait(file, &r->samples->more, wait);
	return is_more(r) ? EPOLLIN | EPOLLRDNORM : 0;
}

/**
 * my_reader_tell() - a remark for one reader, before its unread rows
 * @r: the reader
 * @remark: a line, without a newline; replaces an unread one
 *
 * Context: task; sleeps.
 */
void my_reader_tell(struct my_reader *r, const char *remark)
{
	mutex_lock(&r->lock);
	mutex_lock(&r->samples->lock);
	strscpy(r->remark, remark, sizeof(r->remark));
	mutex_unlock(&r->samples->lock);
	mutex_unlock(&r->lock);
	wake_up_interruptible(&r->samples->more);
}

/**
 * my_reader_new() - create a reader; it begins with the oldest row
 * @samples: the rows
 *
 * Context: task.
 * Return: NULL if there is no memory.
 */
struct my_reader *my_reader_new(struct my_samples *samples)
{
	struct my_reader *r = kzalloc(sizeof(*r), GFP_KERNEL);

	if (!r)
		return NULL;
	mutex_init(&r->lock);
	r->samples = samples;
	return r;
}

/**
 * my_reader_free() - free a reader
 * @r: the reader
 *
 * Context: task.
 */
void my_reader_free(struct my_reader *r)
{
	kfree(r);
}

static ssize_t samples_pipe_read(struct file *file, char __user *to, size_t size,
				 loff_t *pos)
{
	return my_reader_wait(file->private_data, to, size, file->f_flags & O_NONBLOCK);
}

static __poll_t samples_poll(struct file *file, poll_table *wait)
{
	return my_reader_poll(file->private_data, file, wait);
}

static int samples_open(struct inode *inode, struct file *file)
{
	file->private_data = my_reader_new(inode->i_private);
	return file->private_data ? stream_open(inode, file) : -ENOMEM;
}

static int samples_release(struct inode *inode, struct file *file)
{
	my_reader_free(file->private_data);
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
