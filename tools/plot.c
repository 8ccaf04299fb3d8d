// SPDX-License-Identifier: GPL-2.0
/*
 * my-pmu plot: a picture of the rows that my-pmu stat --csv or the module has written: one
 * panel for each event and for each value that is derived, over time, with a line for each
 * CPU.  gnuplot draws.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "my-pmu.h"

/* With more CPUs there is no room for a legend. */
#define MOST_IN_LEGEND 16
/* With more samples, no points. */
#define MOST_POINTS 60

struct panel {
	const char *event;
	const struct metric *metric;	/* NULL: the event's rate */
};

static char *input, *output;

/* All rows, and where each sample begins; behind the last one, where it ends. */
static struct sample all;
static size_t *begin, nr_samples;
static struct panel *panel;
static size_t nr_panels;
static int *cpu;
static size_t nr_cpus;

static error_t parse(int key, char *arg, struct argp_state *state)
{
	switch (key) {
	case ARGP_KEY_INIT:
		state->err_stream = fopen("/dev/null", "we") ?: stderr;
		return 0;
	case 'o':
		output = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (input)
			bad_usage("one file of rows is enough, and there are '%s' and '%s'", input,
				  arg);
		input = arg;
		return 0;
	case ARGP_KEY_END:
		if (!input)
			bad_usage("which file? one that my-pmu stat --csv has written, or - for standard input");
		if (!output)
			bad_usage("-o FILE.png or -o FILE.svg is needed");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* --- what is in the file */

static void add_sample(const struct sample *sample)
{
	size_t i;

	begin = need(realloc(begin, (nr_samples + 2) * sizeof(*begin)));
	begin[nr_samples++] = all.count;
	for (i = 0; i < sample->count; i++)
		sample_append(&all, &sample->row[i]);
	begin[nr_samples] = all.count;
}

static bool read_rows(void)
{
	struct sample sample = { 0 };
	enum rows_event event;
	struct rows rows;
	int fd = 0;

	if (strcmp(input, "-"))
		fd = open(input, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		say("%s: %s", input, strerror(errno));
		return false;
	}
	rows_begin(&rows, fd, 0);
	while ((event = rows_next(&rows, &sample, -1)) == ROWS_SAMPLE)
		add_sample(&sample);
	if (event == ROWS_WRONG)
		say("%s: %s", input, rows.wrong);
	else if (event == ROWS_END && !nr_samples)
		say("%s: there are no samples in it", input);
	rows_end(&rows);
	free(sample.row);
	return event == ROWS_END && nr_samples;
}

static struct sample sample_at(size_t n)
{
	return (struct sample){ .row = all.row + begin[n], .count = begin[n + 1] - begin[n] };
}

static void add_panel(const char *event, const struct metric *metric)
{
	size_t i;

	for (i = 0; i < nr_panels; i++)
		if (panel[i].event == event && panel[i].metric == metric)
			return;
	panel = need(realloc(panel, ++nr_panels * sizeof(*panel)));
	panel[i] = (struct panel){ event, metric };
}

static int compare_cpus(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static void find_cpus(void)
{
	size_t i, k;

	for (i = 0; i < all.count; i++) {
		for (k = 0; k < nr_cpus && cpu[k] != all.row[i].cpu; k++)
			;
		if (k < nr_cpus)
			continue;
		cpu = need(realloc(cpu, ++nr_cpus * sizeof(*cpu)));
		cpu[k] = all.row[i].cpu;
	}
	qsort(cpu, nr_cpus, sizeof(*cpu), compare_cpus);
}

/* A metric has one if it has a value anywhere; what is by time is the rate once more. */
static void find_panels(void)
{
	double value;
	size_t i, k, n;

	for (i = 0; i < all.count; i++)
		add_panel(all.row[i].event, NULL);
	for (k = 0; k < nr_metrics; k++) {
		if (!metrics[k].per)
			continue;
		for (n = 0; n < nr_samples; n++) {
			struct sample s = sample_at(n);

			for (i = 0; i < s.count; i++)
				if (metric_value(&metrics[k], &s, &s.row[i], &value))
					add_panel(s.row[i].event, &metrics[k]);
		}
	}
}

/* --- what gnuplot is told */

/* The points of a CPU's line; what is not known is a gap in it. */
static void print_line(FILE *to, const struct panel *p, int on_cpu, __u64 start)
{
	size_t n, i;

	for (n = 0; n < nr_samples; n++) {
		struct sample s = sample_at(n);

		for (i = 0; i < s.count; i++) {
			const struct row *row = &s.row[i];
			double value = row_rate(row);
			bool known = row->known;

			if (row->cpu != on_cpu || row->event != p->event)
				continue;
			if (p->metric)
				known = metric_value(p->metric, &s, row, &value);
			fprintf(to, "%.9f ", (row->time - start) / 1e9);
			fprintf(to, known ? "%.9g\n" : "NaN\n", value);
			break;
		}
	}
	fputs("\n\n", to);
}

/* In single quotes of gnuplot, which has no other escape in them; but a newline ends them. */
static void print_quoted(FILE *to, const char *word)
{
	char shown;

	fputc('\'', to);
	for (; *word; word++) {
		shown = iscntrl((unsigned char)*word) ? '?' : *word;
		fprintf(to, shown == '\'' ? "''" : "%c", shown);
	}
	fputc('\'', to);
}

static void print_head(FILE *to, bool svg)
{
	const struct row *first = &all.row[0], *last = &all.row[all.count - 1];

	fprintf(to, "set terminal %s size 1000,%zu font 'sans,11' noenhanced background rgb 'white'\n",
		svg ? "svg" : "pngcairo", 70 + 210 * nr_panels);
	fprintf(to, "set multiplot layout %zu,1 title ", nr_panels);
	if (nr_cpus == 1) {
		char *title = text("%s - CPU %d, %.3g s", input, cpu[0],
				   (last->time - first->time + first->dt) / 1e9);
		print_quoted(to, title);
		free(title);
	} else {
		char *title = text("%s - %zu CPUs, %d%s to %d%s, %.3g s", input, nr_cpus, cpu[0],
				   nr_cpus > MOST_IN_LEGEND ? " (red)" : "", cpu[nr_cpus - 1],
				   nr_cpus > MOST_IN_LEGEND ? " (violet)" : "",
				   (last->time - first->time + first->dt) / 1e9);
		print_quoted(to, title);
		free(title);
	}
	fprintf(to, "\nset lmargin 12\nset rmargin %d\nset yrange [0:0.01<*]\nset xrange [0:*]\n",
		nr_cpus > 1 && nr_cpus <= MOST_IN_LEGEND ? 14 : 4);
	fputs("set grid\nset border 3\nset tics nomirror\nset key outside right samplen 2\n", to);
}

/* Only the first panel has the legend, and the last one has the axis' name. */
static void print_panel(FILE *to, size_t n)
{
	const struct panel *p = &panel[n];
	const char *with = nr_samples > MOST_POINTS ? "lines" : "linespoints pt 7 ps 0.5";
	char *name = text("%s%s", p->metric ? p->metric->unit : p->event,
			  p->metric ? "" : " in a second");
	size_t i;

	fputs("set title ", to);
	print_quoted(to, name);
	fprintf(to, "\nset format y '%s'\nset xlabel '%s'\n%s\nplot", p->metric ? "%g" : "%.1s%c",
		n + 1 == nr_panels ? "seconds" : "",
		n || nr_cpus < 2 || nr_cpus > MOST_IN_LEGEND ? "unset key" : "");
	for (i = 0; i < nr_cpus; i++) {
		fprintf(to, "%s $panel%zu index %zu using 1:2 with %s lw 1.5", i ? "," : "", n, i,
			with);
		if (nr_cpus > MOST_IN_LEGEND)
			fprintf(to, " lc rgb hsv2rgb(%f,1,0.8)", 0.8 * i / (nr_cpus - 1));
		else
			fprintf(to, " lt %zu dt %d", i % 8 + 1, i < 8 ? 1 : 2);
		fprintf(to, " title 'CPU %d'", cpu[i]);
	}
	fputc('\n', to);
	free(name);
}

static void print_all(FILE *to, bool svg)
{
	__u64 start = all.row[0].time - all.row[0].dt;
	size_t n, i;

	for (n = 0; n < nr_panels; n++) {
		fprintf(to, "$panel%zu << END\n", n);
		for (i = 0; i < nr_cpus; i++)
			print_line(to, &panel[n], cpu[i], start);
		fputs("END\n", to);
	}
	print_head(to, svg);
	for (n = 0; n < nr_panels; n++)
		print_panel(to, n);
	fputs("unset multiplot\n", to);
}

bool have_gnuplot(void)
{
	return !system("command -v gnuplot > /dev/null");
}

/* gnuplot's standard output becomes the picture: it takes a name for more than a name, a pipe
 * for example.  What has the name already is not written to: it may be a link.
 */
static bool open_picture(const char *path)
{
	int fd;

	unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	if (fd >= 0 && dup2(fd, STDOUT_FILENO) >= 0 && !close(fd))
		return true;
	say("cannot write %s: %s", path, strerror(errno));
	return false;
}

/* Into another file first: what is there stays if anything fails. */
static bool draw(bool svg)
{
	char *path = text("%s.new", output);
	FILE *gnuplot;
	int status;

	if (!have_gnuplot()) {
		say("gnuplot draws, and is not here: apt-get install gnuplot-nox");
		goto out;
	}
	if (!open_picture(path))
		goto out;
	/* -d: no ~/.gnuplot. */
	gnuplot = popen("gnuplot -d -", "w");
	if (gnuplot)
		print_all(gnuplot, svg);
	status = gnuplot ? pclose(gnuplot) : -1;
	if (status) {
		say("gnuplot has failed, see above");
	} else if (rename(path, output)) {
		say("cannot write %s: %s", output, strerror(errno));
	} else {
		free(path);
		return true;
	}
	unlink(path);
out:
	free(path);
	return false;
}

int run_plot(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ "output", 'o', "FILE", 0, "the picture: FILE.png or FILE.svg", 0 },
		{ 0 }
	};
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "FILE.csv",
		.doc = "Draws what my-pmu stat --csv has written, or the module's file samples: a panel for each event and for what is derived, with a line for each CPU.\vExample: my-pmu plot samples.csv -o samples.png",
	};
	const char *ending;
	bool svg;

	parse_options(&argp, argc, argv, NULL);
	ending = strrchr(output, '.');
	svg = ending && !strcmp(ending, ".svg");
	if (!svg && !(ending && !strcmp(ending, ".png")))
		bad_usage("-o %s: a name that ends with .png or .svg is needed", output);
	setlocale(LC_NUMERIC, "C");
	if (!read_rows())
		return 1;
	find_cpus();
	find_panels();
	return draw(svg) ? 0 : 1;
}
