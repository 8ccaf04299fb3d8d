// SPDX-License-Identifier: GPL-2.0
/*
 * The log of a module that is compiled with -finstrument-functions: its compiler calls
 * the two functions here at the entry and the exit of each function.
 *
 * /sys/kernel/debug/my_pmu_walk has a line for each, in their order: "+" or "-"; the
 * function's address; and who runs it, "t" and the number of a task, or "c" and that of
 * a CPU which was called.  It outlives the module that it is about.
 */
#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/debugfs.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/smp.h>

#define MAX_ENTRIES	BIT(19)

struct entry {
	void *function;
	int number;	/* of who runs it */
	char who;
	char what;
};

static struct entry entries[MAX_ENTRIES];
static atomic_t nr_entries;	/* may be more than there was room for */

/* An idle CPU takes calls without an interrupt. */
static bool is_called(void)
{
	return !in_task() || is_idle_task(current);
}

static void add_entry(void *function, char what)
{
	unsigned int i = atomic_inc_return(&nr_entries) - 1;

	if (i >= MAX_ENTRIES)
		return;
	entries[i] = (struct entry) {
		.function = function,
		.number = is_called() ? raw_smp_processor_id() : current->pid,
		.who = is_called() ? 'c' : 't',
		.what = what,
	};
}

void __cyg_profile_func_enter(void *function, void *caller)
{
	add_entry(function, '+');
}
EXPORT_SYMBOL_GPL(__cyg_profile_func_enter);

void __cyg_profile_func_exit(void *function, void *caller)
{
	add_entry(function, '-');
}
EXPORT_SYMBOL_GPL(__cyg_profile_func_exit);

static void *walk_start(struct seq_file *m, loff_t *pos)
{
	if (*pos >= min_t(unsigned int, atomic_read(&nr_entries), MAX_ENTRIES))
		return NULL;
	return &entries[*pos];
}

static void *walk_next(struct seq_file *m, void *entry, loff_t *pos)
{
	++*pos;
	return walk_start(m, pos);
}

static void walk_stop(struct seq_file *m, void *entry)
{
}

static int walk_show(struct seq_file *m, void *data)
{
	const struct entry *entry = data;

	if (entry == entries && atomic_read(&nr_entries) > MAX_ENTRIES)
		seq_puts(m, "too long\n");
	seq_printf(m, "%c %lx %c%d\n", entry->what, (unsigned long)entry->function,
		   entry->who, entry->number);
	return 0;
}

static const struct seq_operations walk_sops = {
	.start = walk_start,
	.next = walk_next,
	.stop = walk_stop,
	.show = walk_show,
};
DEFINE_SEQ_ATTRIBUTE(walk);

static struct dentry *file;

static int __init my_pmu_walk_init(void)
{
	file = debugfs_create_file("my_pmu_walk", 0400, NULL, NULL, &walk_fops);
	return 0;
}

static void __exit my_pmu_walk_exit(void)
{
	debugfs_remove(file);
}

module_init(my_pmu_walk_init);
module_exit(my_pmu_walk_exit);

MODULE_DESCRIPTION("Logs the functions of an instrumented module");
MODULE_LICENSE("GPL");
