// SPDX-License-Identifier: GPL-2.0
/*
 * What can be read at any time: who owns which counter, which events there are and
 * where they can be counted, and all samples.
 */
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/debugfs.h>
#include <linux/seq_file.h>

#include "pmu_client.h"
#include "pmu_debugfs.h"
#include "pmu_sampler.h"
#include "pmu_session.h"

/* All events of the set that are on the counter in some rotation. */
static void show_events(struct seq_file *m, const struct my_event_set *set, int idx)
{
	unsigned int i, j;

	for (j = 0; j < set->nr_events; j++) {
		for (i = 0; i < set->schedule.nr_rotations; i++) {
			if (set->schedule.rotation[i].idx[j] == idx)
				break;
		}
		if (i == set->schedule.nr_rotations)
			continue;
		seq_printf(m, " %s", set->event[j].attr.name);
		if (set->event[j].attr.period)
			seq_printf(m, " samples=%llu lost=%llu throttled=%llu",
				   READ_ONCE(set->period[j].samples),
				   READ_ONCE(set->period[j].lost),
				   READ_ONCE(set->period[j].throttles));
	}
	seq_putc(m, '\n');
}

static void show_counter(struct seq_file *m, const struct my_pmu_cpu *cpu,
			 const struct my_event_set *ours, int idx)
{
	const struct my_event_set *owner = cpu->owner[idx];
	bool perf = READ_ONCE(cpu->busy) & BIT_ULL(idx), held;

	if (!owner && !ours && !perf)
		return;
	seq_printf(m, "cpu%d %s%d ", cpu->cpu, my_pmc_kind(idx), my_pmc_number(idx));
	if (owner) {
		if (owner != ours)
			seq_puts(m, "lent");
		else
			seq_puts(m, READ_ONCE(owner->offline) ? "resting" : "counting");
		show_events(m, owner, idx);
	} else if (perf) {
		seq_puts(m, "perf\n");
	} else if (cpu->firmware & BIT_ULL(idx)) {
		seq_printf(m, "%s\n", cpu->pmu.ops->others->key);
	} else {
		held = cpu->guard || my_pmu_reservable(&cpu->pmu) & BIT_ULL(idx);
		seq_puts(m, held ? "held\n" : "unused\n");
	}
}

/* On a CPU that the module does not count on for itself only what it has lent. */
static int counters_show(struct seq_file *m, void *unused)
{
	const struct my_session *s = m->private;
	const struct my_target *t;
	const struct my_pmu_cpu *c;
	u64 left;
	int cpu;

	cpus_read_lock();
	my_clients_lock();
	for_each_possible_cpu(cpu) {
		t = s->target[cpu];
		c = my_pmu_cpu_of(cpu);
		if (t)
			seq_printf(m, "cpu%d samples %llu missed %llu\n", cpu,
				   READ_ONCE(t->nr_samples),
				   READ_ONCE(t->nr_missed));
		for (left = c->pmu.counters; left; left &= left - 1)
			show_counter(m, c, t ? &t->set : NULL, __ffs64(left));
		if (READ_ONCE(c->lost))
			seq_printf(m, "cpu%d perf lost %llu\n", cpu, READ_ONCE(c->lost));
		if (READ_ONCE(c->lost_samples))
			seq_printf(m, "cpu%d perf lost samples %llu\n", cpu,
				   READ_ONCE(c->lost_samples));
	}
	my_clients_unlock();
	cpus_read_unlock();
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(counters);

/* "gp0-3,gp5,fixed0": runs of neighbours. */
static void show_set(struct seq_file *m, u64 counters)
{
	const char *sep = "";

	while (counters) {
		int first = __ffs64(counters), last = first;

		/* The last generic counter is no neighbour of fixed0. */
		while (last + 1 < MY_PMC_MAX && counters & BIT_ULL(last + 1) &&
		       last + 1 != MY_PMC_IDX_FIXED)
			last++;
		seq_printf(m, "%s%s%d", sep, my_pmc_kind(first),
			   my_pmc_number(first));
		if (last > first)
			seq_printf(m, "-%d", my_pmc_number(last));
		counters &= ~GENMASK_ULL(last, first);
		sep = ",";
	}
}

/* The events that the CPU has, and where they can be counted. */
static int events_show(struct seq_file *m, void *unused)
{
	const struct my_session *s = m->private;
	const struct my_x86_pmu *pmu = &my_pmu_cpu_of(s->names_cpu)->pmu;
	struct my_perf_event_attr attr;
	const char *reason;
	unsigned int n;
	u64 counters;

	for (n = 0; n < MY_KNOWN_EVENTS; n++) {
		if (!my_names_event(&s->names, n, &attr))
			continue;
		counters = pmu->ops->counters_for(pmu, &attr, NULL, &reason);
		if (!counters)
			continue;
		seq_printf(m, "cpu%d %s %#llx ", s->names_cpu, attr.name, attr.config);
		show_set(m, counters);
		if (attr.extra.msr)
			seq_printf(m, " %#x=%#llx", attr.extra.msr, attr.extra.config);
		seq_puts(m, "\n");
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(events);

/**
 * my_debugfs_create() - make the files
 * @s: the session
 *
 * Counts tell what others do: the files are root's only.  Without debugfs there are
 * none.
 *
 * Context: task.
 * Return: their directory, for debugfs_remove(), which waits for whoever reads one.
 */
struct dentry *my_debugfs_create(struct my_session *s)
{
	struct dentry *dir = debugfs_create_dir("my_pmu", NULL);

	debugfs_create_file("counters", 0400, dir, s, &counters_fops);
	debugfs_create_file("events", 0400, dir, s, &events_fops);
	my_sampler_show(dir);
	return dir;
}
