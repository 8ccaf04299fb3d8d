// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/my_pmu: a read returns all samples, as samples_pipe does; a write changes what is counted,
 * in the words of the module's parameters:
 *
 *	echo counters=instructions,cache-misses interval=500 > /dev/my_pmu
 *
 * If that is refused, whoever can also read is told why by the next read; otherwise the kernel
 * log has it.  Unlike debugfs the device is there in any kernel.
 */
#include <linux/capability.h>
#include <linux/err.h>
#include <linux/errno.h>
#include <linux/fs.h>
#include <linux/minmax.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "pmu_device.h"
#include "pmu_hotplug.h"
#include "pmu_parse.h"
#include "pmu_sampler.h"
#include "pmu_samples.h"
#include "pmu_session.h"
#include "pmu_why.h"

/* The longest request: 64 events of some 60 characters. */
#define REQUEST_LEN	4096

/**
 * struct request - what is to change
 * @next: a session, for my_hotplug_change()
 * @cpu: the value of cpu=, or NULL
 * @counters: of counters=
 * @interval: of interval=
 */
struct request {
	struct my_session *next;
	const char *cpu;
	const char *counters;
	const char *interval;
};

/* NAME=VALUE, with blanks between. */
static int parse_words(struct request *r, char *text)
{
	const struct {
		const char *name;
		const char **value;
	} words[] = {
		{ "cpu=", &r->cpu },
		{ "counters=", &r->counters },
		{ "interval=", &r->interval },
	};
	struct my_pmu_why *why = &r->next->why;
	unsigned int i, nr = 0;
	char *word;

	while ((word = strsep(&text, " \t\n"))) {
		if (!*word)
			continue;
		for (i = 0; i < ARRAY_SIZE(words) && !strstarts(word, words[i].name); i++)
			;
		if (i == ARRAY_SIZE(words))
			return my_refuse(why, -EINVAL,
					 "'%*pE': cpu=, counters= or interval= is needed",
					 (int)min(strlen(word), 40UL), word);
		if (*words[i].value)
			return my_refuse(why, -EINVAL, "%s is there twice", words[i].name);
		*words[i].value = word + strlen(words[i].name);
		nr++;
	}
	return nr ? 0 : my_refuse(why, -EINVAL, "nothing: cpu=, counters= or interval= is needed");
}

static int grant(struct request *r, char *text)
{
	struct my_session *next = r->next;
	struct my_pmu_why why;
	int err;

	err = parse_words(r, text);
	if (!err && r->cpu)
		err = my_session_parse_cpus(next, r->cpu);
	if (err)
		return err;
	if (r->interval)
		err = my_parse_interval(r->interval, &next->interval_ms, &why);
	if (err)
		return my_refuse(&next->why, err, "interval: %s", why.text);
	return my_hotplug_change(next, r->counters);
}

static ssize_t device_write(struct file *file, const char __user *from, size_t size, loff_t *pos)
{
	struct request r = { .next = my_session_new() };
	char *text;
	int err;

	if (!r.next)
		return -ENOMEM;
	text = memdup_user_nul(from, min_t(size_t, size, REQUEST_LEN));
	if (IS_ERR(text)) {
		my_session_free(r.next);
		return PTR_ERR(text);
	}
	if (size >= REQUEST_LEN)
		err = my_refuse(&r.next->why, -EMSGSIZE, "too long: at most %d characters",
				REQUEST_LEN - 1);
	else if (strlen(text) != size)
		err = my_refuse(&r.next->why, -EINVAL, "a zero byte: text is needed");
	else
		err = grant(&r, text);
	kfree(text);
	if (err && file->f_mode & FMODE_READ)
		my_reader_tell(file->private_data, r.next->why.text);
	else if (err)
		pr_err("%s\n", r.next->why.text);
	my_session_free(r.next);
	return err ?: size;
}

static ssize_t device_read(struct file *file, char __user *to, size_t size, loff_t *pos)
{
	return my_reader_wait(file->private_data, to, size, file->f_flags & O_NONBLOCK);
}

static __poll_t device_poll(struct file *file, struct poll_table_struct *wait)
{
	return my_reader_poll(file->private_data, file, wait) | EPOLLOUT | EPOLLWRNORM;
}

static int device_open(struct inode *inode, struct file *file)
{
	if (!perfmon_capable())
		return -EACCES;
	file->private_data = my_reader_new(my_sampler_samples());
	return file->private_data ? stream_open(inode, file) : -ENOMEM;
}

static int device_release(struct inode *inode, struct file *file)
{
	my_reader_free(file->private_data);
	return 0;
}

static const struct file_operations device_fops = {
	.owner = THIS_MODULE,
	.open = device_open,
	.read = device_read,
	.write = device_write,
	.poll = device_poll,
	.release = device_release,
};

/* pmu_core.c registers it last, and removes it first. */
struct miscdevice my_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "my_pmu",
	.fops = &device_fops,
	.mode = 0600,
};
