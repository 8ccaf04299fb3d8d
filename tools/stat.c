// SPDX-License-Identifier: GPL-2.0
/* my-pmu stat: counts, and prints counts as perf stat does. */
#define _GNU_SOURCE
#include <errno.h>
#include <jansson.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "my-pmu.h"

extern char **environ;

/* Without -I, milliseconds: that much more than a COMMAND's own time is counted, at most; and
 * that much less than until a signal.
 */
#define COMMAND_INTERVAL "10"
#define TOTAL_INTERVAL "100"

enum form { TABLE, JSON, CSV };

static struct options {
	struct setup setup;
	enum form form;
	bool each_cpu;
	char **command;
} options;

/* With -I each sample is printed; without it there is one total. */
static bool each_sample;
static __u64 first_time;
static pid_t child;
static int child_status;

static error_t parse(int key, char *arg, struct argp_state *state)
{
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &options.setup;
		state->err_stream = fopen("/dev/null", "we") ?: stderr;
		return 0;
	case KEY_JSON:
		options.form = JSON;
		return 0;
	case KEY_CSV:
		options.form = CSV;
		return 0;
	case 'A':
		options.each_cpu = true;
		return 0;
	case ARGP_KEY_ARG:
		(void)arg;
		options.command = state->argv + state->next - 1;
		state->next = state->argc;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option stat_options[] = {
	{ "no-aggr", 'A', NULL, 0, "a line for each CPU, not their sum", 0 },
	{ "json", KEY_JSON, NULL, 0, "an object a line, with the keys of perf stat -j", 0 },
	{ "csv", KEY_CSV, NULL, 0, "the module's rows (docs/output.md), of each CPU", 0 },
	{ 0 }
};

/* --- the command */

static bool start_command(void)
{
	posix_spawnattr_t attributes;
	sigset_t defaults;
	int err;

	posix_spawnattr_init(&attributes);
	sigemptyset(&defaults);
	sigaddset(&defaults, SIGPIPE);
	posix_spawnattr_setsigdefault(&attributes, &defaults);
	posix_spawnattr_setsigmask(&attributes, &waiting_mask);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
	err = posix_spawnp(&child, options.command[0], NULL, &attributes, options.command, environ);
	posix_spawnattr_destroy(&attributes);
	if (!err)
		return true;
	child = 0;
	child_status = err == ENOENT ? 127 : 126;
	say("%s: %s", options.command[0], strerror(err));
	return false;
}

static void note_end(int status)
{
	child = 0;
	child_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* It may be stopped, or ignore SIGTERM: another signal to us kills it. */
static void end_command(void)
{
	int status;
	pid_t ended;

	if (!child)
		return;
	stop_signal = 0;
	kill(child, SIGTERM);
	kill(child, SIGCONT);
	while (!(ended = waitpid(child, &status, WNOHANG))) {
		sigsuspend(&waiting_mask);
		if (stop_signal)
			kill(child, SIGKILL);
	}
	if (ended == child)
		note_end(status);
}

/* --- printing */

static const char *count_of(const struct row *row)
{
	static char count[40];

	if (row->known)
		snprintf(count, sizeof(count), "%'llu", row->growth);
	else
		snprintf(count, sizeof(count), "<not known>");
	return count;
}

/* What is derived from the count, or how often it was in a second. */
static double derive(const struct sample *sample, const struct row *row, const char **unit)
{
	static char of_rate[16];
	double value;
	char *end;
	size_t i;

	for (i = 0; i < nr_metrics; i++) {
		*unit = metrics[i].unit;
		if (metric_value(&metrics[i], sample, row, &value))
			return value;
	}
	value = row_rate(row);
	snprintf(of_rate, sizeof(of_rate), "/sec");
	for (end = " KMG"; end[1] && value >= 1000; end++) {
		value /= 1000;
		snprintf(of_rate, sizeof(of_rate), "%c/sec", end[1]);
	}
	*unit = of_rate;
	return value;
}

static void print_line(const struct sample *sample, const struct row *row)
{
	const char *unit;
	double value;

	if (each_sample)
		printf("%15.9f ", (row->time - first_time) / 1e9);
	if (options.each_cpu)
		printf("CPU%-5d", row->cpu);
	printf("%20s      %-24s", count_of(row), row->event);
	if (row->known) {
		value = derive(sample, row, &unit);
		printf("  # %8.2f %s", value, unit);
	}
	if (row->known && row->running < row->enabled)
		printf("  (%.2f%%)", row_share(row));
	if (*row->flag)
		printf("  %s", row->flag);
	putchar('\n');
}

static void print_json(const struct sample *sample, const struct row *row)
{
	json_t *object = json_object();
	const char *unit;
	double value;

	if (each_sample)
		json_object_set_new(object, "interval", json_real((row->time - first_time) / 1e9));
	json_object_set_new(object, "cpu",
			    row->cpu < 0 ? json_string("all") : json_integer(row->cpu));
	json_object_set_new(object, "event", json_string(row->event));
	json_object_set_new(object, "counter-value",
			    row->known ? json_integer(row->growth) : json_null());
	json_object_set_new(object, "event-runtime", json_integer(row->running));
	json_object_set_new(object, "pcnt-running", json_real(row_share(row)));
	if (row->known) {
		value = derive(sample, row, &unit);
		json_object_set_new(object, "metric-value", json_real(value));
		json_object_set_new(object, "metric-unit", json_string(unit));
	}
	if (*row->flag)
		json_object_set_new(object, "flag", json_string(row->flag));
	json_dumpf(object, stdout, JSON_COMPACT | JSON_REAL_PRECISION(9));
	putchar('\n');
	json_decref(object);
}

static void print_sample(const struct sample *sample)
{
	static struct sample sum;
	const struct sample *shown = sample;
	size_t i;

	if (!options.each_cpu && options.form != CSV) {
		sample_sum(&sum, sample);
		shown = &sum;
	}
	for (i = 0; i < shown->count; i++) {
		if (options.form == CSV)
			print_csv(stdout, &shown->row[i]);
		else if (options.form == JSON)
			print_json(shown, &shown->row[i]);
		else
			print_line(shown, &shown->row[i]);
	}
}

static void print_head(void)
{
	if (options.form == CSV)
		puts(rows_head());
	else if (options.form == TABLE && each_sample)
		printf("#          time %s%20s      %s\n", options.each_cpu ? "CPU     " : "",
		       "counts", "event");
}

static void print_total(const struct sample *total)
{
	__u64 last = total->count ? total->row[0].time : first_time;

	if (options.form != TABLE) {
		print_sample(total);
		return;
	}
	printf("\n Performance counter stats for CPUs %s:\n\n", options.setup.cpus);
	print_sample(total);
	printf("\n %14.9f seconds time elapsed\n\n", (last - first_time) / 1e9);
}

/* --- */

/*
 * Counts until the command ends, or a signal comes, or nobody reads what is printed.  What
 * counts is up to the first sample that was taken after the end.
 */
static bool count(struct rows *rows, struct sample *total)
{
	struct sample sample = { 0 };
	enum rows_event event;
	__u64 end = ~0ULL;
	bool right = true;
	int status;

	while (!stop_signal) {
		event = rows_next(rows, &sample, -1);
		if (event == ROWS_SIGNAL && child && waitpid(child, &status, WNOHANG) == child) {
			note_end(status);
			end = rows_now();
		}
		if (event == ROWS_WRONG || event == ROWS_END) {
			say("the module's rows: %s", event == ROWS_END ? "they end" : rows->wrong);
			return false;
		}
		if (event != ROWS_SAMPLE)
			continue;
		if (!first_time)
			first_time = sample.row[0].time - sample.row[0].dt;
		if (each_sample)
			print_sample(&sample);
		else
			sample_add(total, &sample);
		if (!flushed(&right))
			break;
		if (sample.row[0].time >= end)
			break;
	}
	free(sample.row);
	return right;
}

static bool count_all(void)
{
	struct sample total = { 0 };
	__u64 start = rows_now();
	struct rows rows;
	bool right = true;
	int fd = module_open_rows();

	if (fd < 0)
		return false;
	rows_begin(&rows, fd, start);
	print_head();
	if (!flushed(&right) || (options.command && !start_command())) {
		rows_end(&rows);
		return right && !child_status;
	}
	right = count(&rows, &total);
	end_command();
	if (rows.dropped)
		say("%llu rows are lost: my-pmu was too slow; take a longer interval",
		    rows.dropped);
	rows_end(&rows);
	if (!each_sample && right) {
		print_total(&total);
		flushed(&right);
	}
	return right;
}

int run_stat(int argc, char **argv)
{
	static const struct argp_child children[] = { { &setup_argp, 0, NULL, 0 }, { 0 } };
	static const struct argp argp = {
		.options = stat_options,
		.parser = parse,
		.args_doc = "[-- COMMAND [ARG...]]",
		.doc = "Counts events of whole CPUs as long as COMMAND runs, or until Control-C. With -I each sample is printed, without it the total.\vExample: my-pmu stat -C 5 -e instructions,cycles,cache-misses -I 1000",
		.children = children,
	};
	bool right;

	parse_options(&argp, argc, argv, NULL);
	need_root();
	each_sample = options.setup.interval;
	if (!each_sample)
		options.setup.usual_interval = options.command ? COMMAND_INTERVAL : TOTAL_INTERVAL;
	if (!module_begin(&options.setup))
		return 1;
	right = count_all();
	module_end();
	if (child_status)
		return child_status;
	return right ? 0 : 1;
}
