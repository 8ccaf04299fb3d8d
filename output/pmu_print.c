// SPDX-License-Identifier: GPL-2.0
/* The lines in the kernel log: what was found, who owns what, and the samples. */
#include <linux/bitops.h>
#include <linux/cpumask.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/time64.h>

#include "pmu_model.h"
#include "pmu_print.h"
#include "pmu_schedule.h"
#include "pmu_target.h"

/* --- what was found ---------------------------------------------------------- */

/* The counters of a set as bitmaps of the two kinds, for "%*pbl". */
struct counter_set {
	unsigned long generic;
	unsigned long fixed;
};

static struct counter_set by_kind(u64 counters)
{
	return (struct counter_set) {
		.generic = counters & MY_GENERIC_COUNTERS,
		.fixed = counters >> MY_PMC_IDX_FIXED,
	};
}

/**
 * my_print_pmu() - what was found
 * @cpus: CPUs that have it
 * @cpu: one of them
 *
 * Context: task.
 */
void my_print_pmu(const struct cpumask *cpus, const struct my_pmu_cpu *cpu)
{
	char name[MY_CPU_NAME_LEN];
	const struct my_x86_pmu *pmu = &cpu->pmu;
	const struct counter_set set = by_kind(pmu->counters);

	my_cpu_name(cpu->cpu, name, sizeof(name));
	pr_info("cpu%*pbl: %s\n", cpumask_pr_args(cpus), name);
	pr_info("... version:              %u\n", pmu->version);
	pr_info("... bit width:            %u\n", pmu->cntval_bits);
	pr_info("... generic registers:    %u (gp%*pbl)\n",
		my_pmu_num_counters(pmu), MY_PMC_IDX_FIXED, &set.generic);
	if (!set.fixed) {
		pr_info("... fixed-purpose events: 0\n");
		return;
	}
	pr_info("... fixed-purpose events: %u (fixed%*pbl), %u bits\n",
		my_pmu_num_counters_fixed(pmu), MY_PMC_IDX_FIXED, &set.fixed,
		pmu->cntval_bits_fixed);
}

#define COUNTER_SET_LEN	128

/* " gp0-3,5 fixed0-1", or " none". */
static const char *counter_list(char text[COUNTER_SET_LEN], u64 counters)
{
	const struct counter_set set = by_kind(counters);
	size_t len = 0;

	if (set.generic)
		len += scnprintf(text + len, COUNTER_SET_LEN - len, " gp%*pbl",
				 MY_PMC_IDX_FIXED, &set.generic);
	if (set.fixed)
		len += scnprintf(text + len, COUNTER_SET_LEN - len,
				 " fixed%*pbl", MY_PMC_IDX_FIXED,
				 &set.fixed);
	if (!len)
		scnprintf(text, COUNTER_SET_LEN, " none");
	return text;
}

/**
 * my_print_owners() - whose the counters are: one line
 * @cpus: CPUs on which it is so
 * @set: the event set of one of them
 * @reserved: the counters that are reserved
 * @guarded: that does not keep perf out, guards on these CPUs do
 *
 * Context: task.
 */
void my_print_owners(const struct cpumask *cpus, const struct my_event_set *set,
		     u64 reserved, bool guarded)
{
	char held[COUNTER_SET_LEN], used[COUNTER_SET_LEN], firmware[COUNTER_SET_LEN];

	pr_info("cpu%*pbl: held against perf, on %s CPUs:%s; counting:%s; %s:%s\n",
		cpumask_pr_args(cpus), guarded ? "these" : "all",
		counter_list(held, guarded ? set->cpu->pmu.counters : reserved),
		counter_list(used, set->used), set->cpu->pmu.ops->others->label,
		counter_list(firmware, set->cpu->firmware));
}

/**
 * my_print_doubtful() - events on counters on which they may count wrong: a line for each
 * @set: the events, assigned
 *
 * Context: task.
 */
void my_print_doubtful(const struct my_event_set *set)
{
	char has[COUNTER_SET_LEN], right[COUNTER_SET_LEN];
	u64 counters, doubtful;
	unsigned int i;

	for (i = 0; i < set->nr_events; i++) {
		doubtful = my_perf_event_doubtful(&set->event[i], &counters);
		if (doubtful)
			pr_warn("cpu%d: '%s' may count wrong on%s; this model is known to count it on%s\n",
				set->cpu->cpu, set->event[i].attr.name,
				counter_list(has, doubtful), counter_list(right, counters));
	}
}

/* --- lines of a sample --------------------------------------------------------- */

/**
 * my_print_flush() - print the lines that were made
 * @p: the lines; none are left
 *
 * Context: task.
 */
void my_print_flush(struct my_printer *p)
{
	unsigned int i;

	for (i = 0; i < min(p->nr_lines, MY_LINES_MAX); i++)
		pr_info("%s\n", p->lines[i]);
	p->nr_lines = 0;
}

/* Lines beyond the last one are only counted. */
static char *line_of(struct my_printer *p)
{
	return p->lines[min(p->nr_lines, MY_LINES_MAX - 1)];
}

static u64 whole_seconds(u64 ns, u32 *us)
{
	u32 rest;
	u64 s = div_u64_rem(ns, NSEC_PER_SEC, &rest);

	*us = rest / NSEC_PER_USEC;
	return s;
}

/* " key=gp2,fixed0", or nothing. */
static size_t add_marks(char *line, size_t len, const char *key, u64 counters)
{
	const char *sep = "=";
	size_t start = len;

	if (!counters)
		return 0;
	len += scnprintf(line + len, MY_LINE_LEN - len, " %s", key);
	for (; counters; counters &= counters - 1, sep = ",") {
		int idx = __ffs64(counters);

		len += scnprintf(line + len, MY_LINE_LEN - len, "%s%s%d", sep,
				 my_pmc_kind(idx), my_pmc_number(idx));
	}
	return len - start;
}

/* " key=3", or nothing. */
static size_t add_number(char *line, size_t len, const char *key, u64 number)
{
	if (!number)
		return 0;
	return scnprintf(line + len, MY_LINE_LEN - len, " %s=%llu", key, number);
}

/* " instructions:u@fixed0", or without a counter if it does not stay on one. */
static int format_name(char *text, size_t size, const char *name, int idx)
{
	if (idx < 0)
		return snprintf(text, size, " %s", name);
	return snprintf(text, size, " %s@%s%d", name, my_pmc_kind(idx),
			my_pmc_number(idx));
}

static unsigned int percent_of(u64 part, u64 whole)
{
	return whole ? div64_u64(part * 100 + whole / 2, whole) : 100;
}

/* As snprintf(): it may be more than there is room for. */
static size_t add_event(char *line, size_t len, const struct my_target *t,
			unsigned int i)
{
	const struct my_grown *grown = &t->grown[i];
	size_t start = len;

	if (!grown->known)
		return 0;
	len += format_name(line + len, MY_LINE_LEN - len, t->set.event[i].attr.name,
			   t->set.schedule.home[i]);
	if (len < MY_LINE_LEN)
		len += snprintf(line + len, MY_LINE_LEN - len, "=%llu", grown->growth);
	if (len < MY_LINE_LEN && grown->multiplexed)
		len += snprintf(line + len, MY_LINE_LEN - len, "(%u%%)",
				percent_of(grown->running, grown->enabled));
	return len - start;
}

/* With marks of very many counters the head alone may leave too little room. */
static size_t end_of_event(char *line, size_t len, size_t n)
{
	if (len + n < MY_LINE_LEN)
		return len + n;
	line[len] = '\0';
	return len;
}

/**
 * my_print_sample() - make one line; or more, if one is too short
 * @p: the lines
 * @t: the CPU, with its sample and the one before
 *
 * Each begins with the CPU and the time.  There is nothing of an event whose growth is
 * not known.
 *
 * Context: task.
 */
void my_print_sample(struct my_printer *p, const struct my_target *t)
{
	const struct my_pmu_sample *sample = &t->sample;
	char *line = line_of(p), *next;
	u32 t_us, dt_us;
	u64 time = whole_seconds(sample->time, &t_us);
	u64 dt = whole_seconds(sample->time - t->last.time, &dt_us);
	size_t head, len, n;
	unsigned int i;

	head = scnprintf(line, MY_LINE_LEN,
			 "cpu%d t=%llu.%06u dt=%llu.%06u latency=%llu",
			 t->set.cpu->cpu, time, t_us, dt, dt_us,
			 sample->time - sample->asked);
	head += add_number(line, head, "missed", t->missed);
	head += add_marks(line, head, "wrapped", sample->marks.wrapped);
	head += add_marks(line, head, "stolen", sample->marks.clobbered);
	head += add_marks(line, head, "late", sample->marks.late);
	head += add_marks(line, head, "stuck", sample->marks.stuck);
	head += add_marks(line, head, "throttled", sample->marks.throttled);
	for (i = 0, len = head; i < t->set.nr_events; i++) {
		n = add_event(line, len, t, i);
		if (len + n >= MY_LINE_LEN) {
			line[len] = '\0';
			p->nr_lines++;
			next = line_of(p);
			memmove(next, line, head);
			line = next;
			len = head;
			n = add_event(line, len, t, i);
		}
		len = end_of_event(line, len, n);
	}
	p->nr_lines++;
}

/* --- the line for several CPUs ---------------------------------------------------- */

/**
 * my_summary_add() - one more CPU
 * @sum: the sum; all 0 at first
 * @t: the CPU, with its sample and the one before
 *
 * Context: task.
 */
void my_summary_add(struct my_summary *sum, const struct my_target *t)
{
	unsigned int i;

	sum->first = sum->nr_cpus ? min(sum->first, t->sample.time) :
				    t->sample.time;
	sum->time = max(sum->time, t->sample.time);
	sum->nr_cpus++;
	sum->missed += t->missed;
	sum->marks.wrapped += hweight64(t->sample.marks.wrapped);
	sum->marks.clobbered += hweight64(t->sample.marks.clobbered);
	sum->marks.late += hweight64(t->sample.marks.late);
	sum->marks.stuck += hweight64(t->sample.marks.stuck);
	sum->marks.throttled += hweight64(t->sample.marks.throttled);
	for (i = 0; i < t->set.nr_events; i++) {
		if (t->grown[i].known)
			sum->growth[t->place[i]] += t->grown[i].growth;
		else
			sum->unknown |= BIT_ULL(t->place[i]);
	}
}

/* An event that is counted twice to check it is in the sum once. */
static size_t add_sum(char *line, size_t len, const struct my_summary *sum,
		      const struct my_perf_event_attr *attr, unsigned int i)
{
	size_t start = len;

	if (sum->unknown & BIT_ULL(i) || attr[i].optional)
		return 0;
	len += format_name(line + len, MY_LINE_LEN - len, attr[i].name,
			   attr[i].constraint);
	if (len < MY_LINE_LEN)
		len += snprintf(line + len, MY_LINE_LEN - len, "=%llu",
				sum->growth[i]);
	return len - start;
}

/**
 * my_print_summary() - make the line for several CPUs
 * @p: the lines; what does not fit begins another
 * @sum: the sum
 * @attr: the session's events
 * @nr: how many
 *
 * Context: task.
 */
void my_print_summary(struct my_printer *p, const struct my_summary *sum,
		      const struct my_perf_event_attr *attr, unsigned int nr)
{
	char *line = line_of(p), *next;
	u32 us;
	u64 time = whole_seconds(sum->time, &us);
	size_t head, len, n;
	unsigned int i;

	head = scnprintf(line, MY_LINE_LEN, "all t=%llu.%06u cpus=%u spread=%llu",
			 time, us, sum->nr_cpus, sum->time - sum->first);
	head += add_number(line, head, "missed", sum->missed);
	head += add_number(line, head, "wrapped", sum->marks.wrapped);
	head += add_number(line, head, "stolen", sum->marks.clobbered);
	head += add_number(line, head, "late", sum->marks.late);
	head += add_number(line, head, "stuck", sum->marks.stuck);
	head += add_number(line, head, "throttled", sum->marks.throttled);
	for (i = 0, len = head; i < nr; i++) {
		n = add_sum(line, len, sum, attr, i);
		if (len + n >= MY_LINE_LEN) {
			line[len] = '\0';
			p->nr_lines++;
			next = line_of(p);
			memmove(next, line, head);
			line = next;
			len = head;
			n = add_sum(line, len, sum, attr, i);
		}
		len = end_of_event(line, len, n);
	}
	p->nr_lines++;
}
