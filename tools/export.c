// SPDX-License-Identifier: GPL-2.0
/*
 * my-pmu export: counters for Prometheus, in a file that node_exporter's textfile collector
 * reads.  They go on from what the file says, so that they never go back, whoever was loaded
 * or started anew meanwhile.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "my-pmu.h"

#define FILE_NAME "my_pmu.prom"
#define NEW_NAME FILE_NAME ".new"
#define NS 1000000000ULL

/* Each event of each CPU has one of each; with --sum each event. */
enum counter { EVENTS, COUNTED, WANTED, UNKNOWN, MISSED, NR_COUNTERS };

static const struct {
	const char *name;
	const char *help;
	bool in_ns;
} families[NR_COUNTERS] = {
	[EVENTS] = { "my_pmu_events_total",
		     "How often the event was counted; scaled if it was multiplexed." },
	[COUNTED] = { "my_pmu_running_seconds_total",
		      "For how long the event was on a counter.", true },
	[WANTED] = { "my_pmu_enabled_seconds_total",
		     "For how long the event was to be counted.", true },
	[UNKNOWN] = { "my_pmu_unknown_samples_total",
		      "Samples whose count is not known and is in no other counter." },
	[MISSED] = { "my_pmu_missed_samples_total",
		     "Samples that were due and not taken; their counts are in the next one." },
};

/* Instead of a CPU's number. */
#define ALL_CPUS UINT_MAX
#define ALL_CPUS_LABELS "{event=\""

/* Of a CPU and an event, whose text is as in the file: with backslashes. */
struct series {
	unsigned int cpu;
	char *event;
	__u64 value[NR_COUNTERS];
	/* The last row that was added. */
	__u64 sample;
	unsigned int row_cpu;
};

/* Of all CPUs and events: rows that the module had to drop. */
#define LOST_NAME "my_pmu_lost_rows_total"
static __u64 lost_rows;

static struct series *series;
static size_t nr_series;
static struct setup setup;
static char *directory;
static int directory_fd;
/* Instead of the module's. */
static char *rows_file;
/* One series for each event, of all CPUs. */
static bool sums;

static error_t parse(int key, char *arg, struct argp_state *state)
{
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &setup;
		state->err_stream = fopen("/dev/null", "we") ?: stderr;
		return 0;
	case KEY_TEXTFILE:
		directory = arg;
		return 0;
	case KEY_ROWS:
		rows_file = arg;
		return 0;
	case KEY_SUM:
		sums = true;
		return 0;
	case ARGP_KEY_ARG:
		bad_usage("'%s' is no option", arg);
	case ARGP_KEY_END:
		if (!directory)
			bad_usage("--textfile DIR is needed, the folder that node_exporter reads");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static struct series *find_series(unsigned int cpu, const char *event)
{
	size_t i;

	for (i = 0; i < nr_series; i++)
		if (series[i].cpu == cpu && !strcmp(series[i].event, event))
			return &series[i];
	series = need(realloc(series, ++nr_series * sizeof(*series)));
	series[i] = (struct series){ .cpu = cpu, .event = text("%s", event) };
	return &series[i];
}

/* --- the file */

static bool parse_value(const char *number, bool in_ns, __u64 *value)
{
	__u64 whole, rest = 0;
	char digits[10] = "";
	int read = 0;

	if (sscanf(number, "%llu%n.%9[0-9]%n", &whole, &read, digits, &read) < 1 ||
	    number[read] != '\n')
		return false;
	if (in_ns) {
		strncat(digits, "000000000", 9 - strlen(digits));
		rest = strtoull(digits, NULL, 10);
	}
	*value = in_ns ? whole * NS + rest : whole;
	return true;
}

/* my_pmu_events_total{cpu="3",event="instructions"} 12345, or of all CPUs, without cpu */
static bool parse_line(char *line)
{
	size_t i, name_len = strcspn(line, "{");
	unsigned int cpu = ALL_CPUS;
	char *event, *end;
	__u64 value;
	int at = 0;

	if (line[0] == '#')
		return true;
	if (!strncmp(line, LOST_NAME " ", strlen(LOST_NAME " ")))
		return parse_value(line + strlen(LOST_NAME " "), false, &lost_rows);
	for (i = 0; i < NR_COUNTERS; i++)
		if (strlen(families[i].name) == name_len &&
		    !strncmp(line, families[i].name, name_len))
			break;
	if (i == NR_COUNTERS)
		return false;
	event = line + name_len;
	if (!strncmp(event, ALL_CPUS_LABELS, strlen(ALL_CPUS_LABELS)))
		at = strlen(ALL_CPUS_LABELS);
	else if (sscanf(event, "{cpu=\"%u\",event=\"%n", &cpu, &at) < 1 || !at)
		return false;
	event += at;
	end = strstr(event, "\"} ");
	if (!end || !parse_value(end + 3, families[i].in_ns, &value))
		return false;
	*end = 0;
	find_series(cpu, event)->value[i] = value;
	return true;
}

/* As one who may write the folder could have put a link or a FIFO there, it must be a file. */
static FILE *open_file(void)
{
	int fd = openat(directory_fd, FILE_NAME, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat status;

	if (fd >= 0 && (fstat(fd, &status) || !S_ISREG(status.st_mode))) {
		close(fd);
		errno = EINVAL;
		return NULL;
	}
	return fd < 0 ? NULL : need(fdopen(fd, "r"));
}

/* What was counted before; false if the file is another one's, which must not be lost. */
static bool read_file(void)
{
	FILE *file = open_file();
	bool right = true;
	char *line = NULL;
	unsigned int number = 0;
	size_t size = 0;

	if (!file && errno == ENOENT)
		return true;
	if (!file) {
		say("cannot read %s/" FILE_NAME ": %s", directory,
		    errno == EINVAL || errno == ELOOP ? "it is no regular file" : strerror(errno));
		return false;
	}
	while (right && getline(&line, &size, file) > 0) {
		number++;
		right = parse_line(line);
		if (!right)
			say("%s/" FILE_NAME ": line %u is not from my-pmu export: move the file away, its counters begin at 0 then",
			    directory, number);
	}
	if (ferror(file)) {
		say("cannot read %s/" FILE_NAME ": %s", directory, strerror(errno));
		right = false;
	}
	fclose(file);
	free(line);
	return right;
}

static void print_family(FILE *file, enum counter c)
{
	size_t i;

	fprintf(file, "# HELP %s %s\n# TYPE %s counter\n", families[c].name, families[c].help,
		families[c].name);
	for (i = 0; i < nr_series; i++) {
		__u64 value = series[i].value[c];

		fprintf(file, "%s{", families[c].name);
		if (series[i].cpu != ALL_CPUS)
			fprintf(file, "cpu=\"%u\",", series[i].cpu);
		fprintf(file, "event=\"%s\"} ", series[i].event);
		if (families[c].in_ns)
			fprintf(file, "%llu.%09llu\n", value / NS, value % NS);
		else
			fprintf(file, "%llu\n", value);
	}
}

/* A new file in the place of the old one, so that nobody reads half of it.  The collector
 * reads what ends in .prom, so the new one does not, until it is complete.  What has its name
 * already is not written to: it may be a link, by one who may write the folder.
 */
static bool write_file(void)
{
	enum counter c;
	bool written;
	FILE *file;
	int fd;

	unlinkat(directory_fd, NEW_NAME, 0);
	fd = openat(directory_fd, NEW_NAME,
		    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	file = fd < 0 ? NULL : need(fdopen(fd, "w"));
	for (c = 0; file && c < NR_COUNTERS; c++)
		print_family(file, c);
	if (file)
		fprintf(file, "# HELP %s Rows, each of a CPU and an event in a sample, that are in no other counter: the reader was too slow.\n# TYPE %s counter\n%s %llu\n",
			LOST_NAME, LOST_NAME, LOST_NAME, lost_rows);
	/* node_exporter is another user. */
	written = file && !fflush(file) && !ferror(file) && !fsync(fd) && !fchmod(fd, 0644);
	if (file && fclose(file))
		written = false;
	written = written && !renameat(directory_fd, NEW_NAME, directory_fd, FILE_NAME) &&
		!fsync(directory_fd);
	if (!written) {
		say("cannot write %s/" FILE_NAME ": %s", directory, strerror(errno));
		unlinkat(directory_fd, NEW_NAME, 0);
	}
	return written;
}

/* One export at a time, as each goes on from what it has read. */
static bool take_directory(void)
{
	directory_fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (directory_fd < 0 || access(directory, W_OK)) {
		say("%s: %s", directory, strerror(errno));
		return false;
	}
	if (flock(directory_fd, LOCK_EX | LOCK_NB)) {
		say("%s: another my-pmu export writes there: end it first", directory);
		return false;
	}
	return true;
}

/* --- */

/* An event that is there twice, on two counters, is taken once. */
static void add_row(const struct row *row, const char *event)
{
	unsigned int cpu = row->cpu;
	struct series *s = find_series(sums ? ALL_CPUS : cpu, event);

	if (s->sample == row->sample && s->row_cpu == cpu)
		return;
	s->sample = row->sample;
	s->row_cpu = cpu;
	s->value[EVENTS] += row->growth;
	s->value[COUNTED] += row->running;
	s->value[WANTED] += row->enabled;
	s->value[UNKNOWN] += !row->known;
	s->value[MISSED] += row->missed;
}

/* Names with quotes or backslashes are refused by the module; but they may be in a row. */
static void add_sample(const struct sample *sample)
{
	char event[1024];
	size_t i, len;
	const char *c;

	for (i = 0; i < sample->count; i++) {
		len = 0;
		for (c = sample->row[i].event; *c && len < sizeof(event) - 3; c++) {
			if (*c == '\\')
				event[len++] = '\\';
			event[len++] = *c;
		}
		event[len] = 0;
		add_row(&sample->row[i], event);
	}
}

static void add_lost(struct rows *rows)
{
	if (rows->dropped)
		say("%llu rows are lost: my-pmu was too slow", rows->dropped);
	lost_rows += rows->dropped;
	rows->dropped = 0;
}

static bool export(struct rows *rows)
{
	struct sample sample = { 0 };
	enum rows_event event;
	bool right = true;

	while (right && !stop_signal) {
		event = rows_next(rows, &sample, -1);
		if (event == ROWS_SAMPLE) {
			add_sample(&sample);
			add_lost(rows);
			right = write_file();
		} else if (event != ROWS_SIGNAL) {
			say("the module's rows: %s", event == ROWS_END ? "they end" : rows->wrong);
			right = false;
		}
	}
	free(sample.row);
	return right;
}

/* Those of a file, all at once. */
static bool export_file(void)
{
	struct sample sample = { 0 };
	enum rows_event event;
	struct rows rows;
	int fd = open(rows_file, O_RDONLY | O_CLOEXEC);

	if (fd < 0) {
		say("%s: %s", rows_file, strerror(errno));
		return false;
	}
	rows_begin(&rows, fd, 0);
	while ((event = rows_next(&rows, &sample, -1)) == ROWS_SAMPLE)
		add_sample(&sample);
	if (event == ROWS_WRONG)
		say("%s: %s", rows_file, rows.wrong);
	add_lost(&rows);
	rows_end(&rows);
	free(sample.row);
	return event == ROWS_END && write_file();
}

static bool export_module(void)
{
	/*
	 * An export that ran before on the same module has counted what was before.  It has ended,
	 * as the folder is ours.  Of a module that is loaded now no sample is left out.
	 */
	__u64 start = rows_now();
	struct rows rows;
	bool right;

	if (!module_begin(&setup))
		return false;
	rows_begin(&rows, module_open_rows(), start);
	right = rows.fd >= 0 && export(&rows);
	rows_end(&rows);
	module_end();
	return right;
}

int run_export(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ "textfile", KEY_TEXTFILE, "DIR", 0, "the folder that node_exporter reads", 0 },
		{ "sum", KEY_SUM, NULL, 0, "sums over the CPUs, without the label cpu", 0 },
		{ "rows", KEY_ROWS, "FILE", 0, "adds the rows of stat --csv, and ends", 0 },
		{ 0 }
	};
	static const struct argp_child children[] = { { &setup_argp, 0, NULL, 0 }, { 0 } };
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.doc = "Counts, and writes counters for Prometheus into DIR/my_pmu.prom, anew with each sample, until a signal comes.\vExample: my-pmu export --textfile /var/lib/prometheus/node-exporter -I 15000",
		.children = children,
	};

	parse_options(&argp, argc, argv, NULL);
	if (!rows_file)
		need_root();
	setup.usual_interval = "15000";
	if (!take_directory() || !read_file())
		return 1;
	return (rows_file ? export_file() : export_module()) ? 0 : 1;
}
