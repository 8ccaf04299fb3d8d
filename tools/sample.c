// SPDX-License-Identifier: GPL-2.0
/* Samples: sums over time and over CPUs, and what is derived from counts. */
#include <stdlib.h>
#include <string.h>

#include "my-pmu.h"

/* The first that an event has is what perf stat prints behind it, too. */
const struct metric metrics[] = {
	{ "IPC", "insn per cycle", "instructions", "cycles", 1 },
	{ "GHz", "GHz", "cycles", NULL, 1 },
	{ "MPKI", "misses per 1000 insn", "cache-misses", "instructions", 1000 },
	{ "miss%", "% of all cache refs", "cache-misses", "cache-references", 100 },
	{ "brmiss%", "% of all branches", "branch-misses", "branches", 100 },
};

const size_t nr_metrics = ARRAY_SIZE(metrics);

static const struct alias {
	const char *alias, *name;
} aliases[] = {
	{ "cpu-cycles", "cycles" },
	{ "branch-instructions", "branches" },
};

struct row *sample_append(struct sample *sample, const struct row *row)
{
	if (sample->count == sample->size) {
		sample->size = sample->size ? 2 * sample->size : 16;
		sample->row = need(realloc(sample->row, sample->size * sizeof(*row)));
	}
	sample->row[sample->count] = *row;
	return &sample->row[sample->count++];
}

static void add_row(struct row *sum, const struct row *row)
{
	sum->growth += row->growth;
	sum->dt += row->dt;
	sum->enabled += row->enabled;
	sum->running += row->running;
	sum->missed += row->missed;
	/* The reason why it is not known is not lost to a later flag. */
	if (*row->flag && (sum->known || !row->known))
		sum->flag = row->flag;
	sum->known = sum->known && row->known;
}

/* The row of @event before which there are @earlier ones of it; NULL if there is none. */
const struct row *nth_of_event(const struct row *rows, size_t count, const char *event,
			       size_t earlier)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (rows[i].event == event && !earlier--)
			return &rows[i];
	return NULL;
}

/* How many rows before @place are of the same event. */
size_t earlier_of_event(const struct row *rows, size_t place)
{
	size_t i, earlier = 0;

	for (i = 0; i < place; i++)
		earlier += rows[i].event == rows[place].event;
	return earlier;
}

/*
 * The row of @total for @event of @cpu before which there are @earlier ones of it; NULL if there
 * is none.  Mostly the CPU's rows begin at @first.
 */
static struct row *nth_of_cpu(struct sample *total, size_t first, int cpu, const char *event,
			      size_t earlier)
{
	size_t i, begin;

	begin = first < total->count && total->row[first].cpu == cpu &&
		(!first || total->row[first - 1].cpu != cpu) ? first : 0;
	for (i = 0; i < total->count; i++) {
		struct row *row = &total->row[(begin + i) % total->count];

		if (row->cpu == cpu && row->event == event && !earlier--)
			return row;
	}
	return NULL;
}

/* Of the same CPU and event; one that is there twice has a row for each. */
void sample_add(struct sample *total, const struct sample *sample)
{
	size_t i, first = 0;
	struct row *sum;

	for (i = 0; i < sample->count; i++) {
		const struct row *row = &sample->row[i];

		if (row->cpu != sample->row[first].cpu)
			first = i;
		sum = nth_of_cpu(total, first, row->cpu, row->event,
				 earlier_of_event(&sample->row[first], i - first));
		if (!sum) {
			sample_append(total, row);
			continue;
		}
		add_row(sum, row);
		sum->time = row->time;
		sum->sample = row->sample;
	}
}

/* Over all CPUs.  On some of them an event may have another counter, or may not be there. */
void sample_sum(struct sample *sum, const struct sample *sample)
{
	size_t i, first = 0, earlier;
	struct row *to;

	sum->count = 0;
	for (i = 0; i < sample->count; i++) {
		const struct row *row = &sample->row[i];

		if (row->cpu != sample->row[first].cpu)
			first = i;
		earlier = earlier_of_event(&sample->row[first], i - first);
		to = (struct row *)nth_of_event(sum->row, sum->count, row->event, earlier);
		if (!to) {
			sample_append(sum, row)->cpu = -1;
			continue;
		}
		add_row(to, row);
		to->cpus++;
		if (row->time > to->time)
			to->time = row->time;
	}
}

/* Is @event the event @name, with the modifiers that @like has? */
static bool is_event(const char *event, const char *name, const char *like)
{
	size_t len = strcspn(event, ":"), i;

	for (i = 0; i < ARRAY_SIZE(aliases); i++)
		if (strlen(aliases[i].alias) == len && !strncmp(event, aliases[i].alias, len) &&
		    !strcmp(aliases[i].name, name))
			goto same_name;
	if (strlen(name) != len || strncmp(event, name, len))
		return false;
same_name:
	return !like || !strcmp(event + len, like + strcspn(like, ":"));
}

/**
 * sample_find() - the row of another event
 * @sample: where it is looked for
 * @like: the row whose CPU and modifiers it has
 * @event: its name
 */
const struct row *sample_find(const struct sample *sample, const struct row *like,
			      const char *event)
{
	size_t i;

	for (i = 0; i < sample->count; i++)
		if (sample->row[i].cpu == like->cpu &&
		    is_event(sample->row[i].event, event, like->event))
			return &sample->row[i];
	return NULL;
}

/* False if the row is of another event, or if what it is divided by is not counted. */
bool metric_value(const struct metric *metric, const struct sample *sample,
		  const struct row *row, double *value)
{
	const struct row *per;
	double divisor = row->dt;

	if (!row->known || !is_event(row->event, metric->event, NULL))
		return false;
	if (metric->per) {
		per = sample_find(sample, row, metric->per);
		if (!per || !per->known)
			return false;
		divisor = per->growth;
	}
	if (divisor == 0)
		return false;
	*value = metric->factor * row->growth / divisor;
	return true;
}

/* In a second. */
double row_rate(const struct row *row)
{
	return row->dt ? 1e9 * row->growth * row->cpus / row->dt : 0;
}

/* Of the time, in percent, in which the event was to be counted. */
double row_share(const struct row *row)
{
	return row->enabled ? 100.0 * row->running / row->enabled : 0;
}

/* Four digits, or fewer, and what they are multiplied by. */
void format_short(char *to, size_t size, double value)
{
	static const char prefix[] = " KMGTP";
	int i = 0;

	for (; value >= 999.95 && prefix[i + 1]; i++)
		value /= 1000;
	if (i)
		snprintf(to, size, "%.*f%c", value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value,
			 prefix[i]);
	else
		snprintf(to, size, "%.0f", value);
}
