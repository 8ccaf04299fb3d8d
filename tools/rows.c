// SPDX-License-Identifier: GPL-2.0
/*
 * Rows of comma-separated values, as docs/output.md has them: from the module, which gives
 * them as they come, or from a file.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "my-pmu.h"

/* A sample is complete when no more of its rows come for so long. */
#define QUIET_NS 20000000

enum kind { NUMBER, CPU, GROWTH, NAME, TEXT };

static const struct column {
	const char *name;
	enum kind kind;
	size_t offset;
} columns[] = {
	{ "sample", NUMBER, offsetof(struct row, sample) },
	{ "cpu", CPU, offsetof(struct row, cpu) },
	{ "time_ns", NUMBER, offsetof(struct row, time) },
	{ "dt_ns", NUMBER, offsetof(struct row, dt) },
	{ "latency_ns", NUMBER, offsetof(struct row, latency) },
	{ "missed", NUMBER, offsetof(struct row, missed) },
	{ "event", NAME, offsetof(struct row, event) },
	{ "counter", TEXT, offsetof(struct row, counter) },
	{ "growth", GROWTH, offsetof(struct row, growth) },
	{ "enabled_ns", NUMBER, offsetof(struct row, enabled) },
	{ "running_ns", NUMBER, offsetof(struct row, running) },
	{ "flag", TEXT, offsetof(struct row, flag) },
};

#define MOST_FIELDS 32
#define MOST_LINE 65536

const char *rows_head(void)
{
	static char head[256];
	size_t i, len = 0;

	for (i = 0; i < ARRAY_SIZE(columns); i++)
		len += snprintf(head + len, sizeof(head) - len, "%s%s", i ? "," : "",
				columns[i].name);
	return head;
}

void print_csv(FILE *out, const struct row *row)
{
	fprintf(out, "%llu,%d,%llu,%llu,%llu,%llu,\"%s\",%s,",
		row->sample, row->cpu, row->time, row->dt, row->latency, row->missed,
		row->event, row->counter);
	if (row->known)
		fprintf(out, "%llu", row->growth);
	fprintf(out, ",%llu,%llu,%s\n", row->enabled, row->running, row->flag);
}

/* The one copy of a text: there are few, and they live as long as we do. */
static const char *only_copy(const char *word)
{
	static struct known {
		struct known *next;
		char word[];
	} *known;
	struct known *k;

	for (k = known; k; k = k->next)
		if (!strcmp(k->word, word))
			return k->word;
	k = need(malloc(sizeof(*k) + strlen(word) + 1));
	memcpy(k->word, word, strlen(word) + 1);
	k->next = known;
	known = k;
	return k->word;
}

static bool wrong(struct rows *rows, const char *what, const char *word)
{
	snprintf(rows->wrong, sizeof(rows->wrong), "line %u: %s '%.80s'", rows->line, what, word);
	return false;
}

/* Cuts a line at its commas, except those in quotes; returns how many fields it has, 0 if a
 * quote is missing.
 */
static int split(char *line, char **field)
{
	int count = 0;
	char *end;

	while (count < MOST_FIELDS) {
		field[count++] = line;
		if (*line == '"') {
			field[count - 1] = ++line;
			end = strchr(line, '"');
			if (!end || (end[1] != ',' && end[1]))
				return 0;
			*end++ = 0;
		} else {
			end = line + strcspn(line, ",");
		}
		if (!*end)
			return count;
		*end = 0;
		line = end + 1;
	}
	return count;
}

static bool parse_head(struct rows *rows, char **field, int count)
{
	size_t i;
	int k;

	for (i = 0; i < ARRAY_SIZE(columns); i++) {
		rows->place[i] = -1;
		for (k = 0; k < count; k++)
			if (!strcmp(field[k], columns[i].name))
				rows->place[i] = k;
		if (rows->place[i] < 0)
			return wrong(rows, "the head line has no column", columns[i].name);
	}
	rows->has_head = true;
	return true;
}

static bool parse_number(const char *field, __u64 *value)
{
	char *end;

	errno = 0;
	*value = strtoull(field, &end, 10);
	return field[0] >= '0' && field[0] <= '9' && !*end && !errno;
}

static bool parse_row(struct rows *rows, char **field, int count, struct row *row)
{
	const struct column *c;
	__u64 number;
	char *word;
	size_t i;

	*row = (struct row){ .cpus = 1, .known = true };
	for (i = 0; i < ARRAY_SIZE(columns); i++) {
		c = &columns[i];
		if (rows->place[i] >= count)
			return wrong(rows, "it ends before the column", c->name);
		word = field[rows->place[i]];
		if (c->kind == NAME && !*word)
			return wrong(rows, "nothing in the column", c->name);
		if (c->kind == NAME || c->kind == TEXT) {
			*(const char **)((char *)row + c->offset) = only_copy(word);
			continue;
		}
		if (c->kind == GROWTH && !*word) {
			row->known = false;
			continue;
		}
		if (!parse_number(word, &number) || (c->kind == CPU && number > 65535)) {
			snprintf(rows->wrong, sizeof(rows->wrong),
				 "line %u: %s is no number: '%.60s'", rows->line, c->name, word);
			return false;
		}
		if (c->kind == CPU)
			row->cpu = number;
		else
			*(__u64 *)((char *)row + c->offset) = number;
	}
	return true;
}

/* Sets @is_row if the line is one. */
static bool parse_line(struct rows *rows, char *line, struct row *row, bool *is_row)
{
	char *field[MOST_FIELDS];
	__u64 dropped;
	int count;

	*is_row = false;
	rows->line++;
	if (sscanf(line, "# dropped %llu rows", &dropped) == 1)
		rows->dropped += dropped;
	if (*line == '#' || !*line)
		return true;
	count = split(line, field);
	if (!count) {
		snprintf(rows->wrong, sizeof(rows->wrong),
			 "line %u: a quote is missing, or stands within a field", rows->line);
		return false;
	}
	if (!rows->has_head)
		return parse_head(rows, field, count);
	*is_row = true;
	return parse_row(rows, field, count, row);
}

/* On the clock of the rows. */
__u64 rows_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

/* The module also has samples from before: those that were taken before @start are left out. */
void rows_begin(struct rows *rows, int fd, __u64 start)
{
	*rows = (struct rows){ .fd = fd, .start = start };
}

void rows_end(struct rows *rows)
{
	if (rows->fd >= 0)
		close(rows->fd);
	free(rows->text);
	free(rows->next.row);
	*rows = (struct rows){ .fd = -1 };
}

/* Reads what there is; false if that failed. */
static bool read_more(struct rows *rows)
{
	ssize_t got;

	if (rows->len > MOST_LINE) {
		snprintf(rows->wrong, sizeof(rows->wrong), "line %u: it is longer than %d bytes",
			 rows->line + 1, MOST_LINE);
		return false;
	}
	if (rows->size - rows->len < 4096) {
		rows->size += 65536;
		rows->text = need(realloc(rows->text, rows->size));
	}
	got = read(rows->fd, rows->text + rows->len, rows->size - rows->len - 2);
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return true;
	if (got < 0) {
		snprintf(rows->wrong, sizeof(rows->wrong), "cannot be read: %s", strerror(errno));
		return false;
	}
	if (!got) {
		rows->at_end = true;
		/* The last line may end without a newline. */
		if (rows->len)
			rows->text[rows->len++] = '\n';
	}
	rows->len += got;
	return true;
}

static void hand_out(struct rows *rows, struct sample *sample)
{
	struct sample spare = *sample;

	*sample = rows->next;
	rows->next = spare;
	rows->next.count = 0;
}

static bool is_wanted(const struct rows *rows, const struct sample *sample)
{
	return sample->row[0].time >= rows->start;
}

/*
 * Takes whole lines until a sample is complete, which the first row of the next one tells;
 * that row is then the first of rows->next.  Returns 1 if one is complete, 0 if more must be
 * read, and -1 if a line is wrong.
 */
static int take_lines(struct rows *rows, struct sample *sample)
{
	size_t used = 0;
	struct row row;
	bool is_row;
	char *end;
	int done = 0;

	while (!done && (end = memchr(rows->text + used, '\n', rows->len - used))) {
		char *line = rows->text + used;

		*end = 0;
		if (end > line && end[-1] == '\r')
			end[-1] = 0;
		used = end + 1 - rows->text;
		if (!parse_line(rows, line, &row, &is_row))
			return -1;
		if (!is_row)
			continue;
		if (rows->next.count && rows->next.row[0].sample != row.sample) {
			hand_out(rows, sample);
			done = 1;
		}
		sample_append(&rows->next, &row);
	}
	rows->len -= used;
	memmove(rows->text, rows->text + used, rows->len);
	return done;
}

/**
 * rows_next() - wait for the next sample, or for something else
 * @rows: where from
 * @sample: becomes the sample; what it held is reused
 * @input: a file that is waited for, too, or -1
 *
 * A signal that waits comes first, even if rows are always there.
 *
 * Return: ROWS_SAMPLE; ROWS_INPUT if @input can be read; ROWS_SIGNAL after a signal;
 * ROWS_END behind the last sample; ROWS_WRONG if a line is wrong: rows->wrong says how.
 */
enum rows_event rows_next(struct rows *rows, struct sample *sample, int input)
{
	const struct timespec quiet = { .tv_nsec = QUIET_NS }, no_time = { 0 };
	struct pollfd fds[2] = {
		{ .fd = rows->fd, .events = POLLIN },
		{ .fd = input, .events = POLLIN },
	};
	int done, ready;

	if (ppoll(NULL, 0, &no_time, &waiting_mask) < 0)
		return ROWS_SIGNAL;
	for (;;) {
		done = rows->len ? take_lines(rows, sample) : 0;
		if (done < 0)
			return ROWS_WRONG;
		if (done && is_wanted(rows, sample))
			return ROWS_SAMPLE;
		if (done)
			continue;
		if (rows->at_end && !rows->next.count)
			return ROWS_END;
		ready = rows->at_end ? 0 :
			ppoll(fds, 2, rows->next.count ? &quiet : NULL, &waiting_mask);
		if (ready < 0)
			return ROWS_SIGNAL;
		if (!ready) {
			hand_out(rows, sample);
			if (is_wanted(rows, sample))
				return ROWS_SAMPLE;
			continue;
		}
		if (fds[1].revents)
			return ROWS_INPUT;
		if (!read_more(rows))
			return ROWS_WRONG;
	}
}
