// SPDX-License-Identifier: GPL-2.0
/*
 * my-pmu top: CPUs as rows; rates of events, and what is derived from them, as columns.  On a
 * terminal it is live; otherwise each sample is printed as a table.
 */
#define _GNU_SOURCE
#include <curses.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "my-pmu.h"

/* What stands above the CPUs, the heads of the columns among it. */
#define HEAD_LINES 4
#define CPU_WIDTH 5
#define LEAST_WIDTH 8
#define MOST_WIDTH 18

/* The rate of an event, or what is derived from it. */
struct column {
	const char *event;
	size_t earlier;		/* rows of a CPU with that event that come before it */
	const struct metric *metric;	/* NULL: the rate */
	int width;
};

/* Of a CPU, or of all. */
struct line {
	int cpu;
	struct cell {
		char text[24];
		double value;	/* to sort by; -1 if it is not known */
	} *cell;
};

static struct setup setup;
static unsigned long samples_left;

/* What is shown: the sum's line is the first one, if there are two CPUs or more. */
static struct column *column;
static size_t nr_columns;
static struct line *line;
static size_t nr_lines;
static __u64 sample_number;

/* How it is shown. */
static size_t sort_column;	/* 0: by CPU */
static bool reverse, paused;
static size_t first_column, first_line;
static char message[512];
/* What is typed now, where in it, and which of the module's parameters it is for; 0: none. */
static char typed[4096];
static size_t cursor;
static int typing;
/* It is the old value still: the first character that is typed takes its place. */
static bool selected;

static error_t parse(int key, char *arg, struct argp_state *state)
{
	char *end;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &setup;
		state->err_stream = fopen("/dev/null", "we") ?: stderr;
		return 0;
	case 'n':
		samples_left = strtoul(arg, &end, 10);
		if (arg[0] < '1' || arg[0] > '9' || *end || samples_left > 1000000000)
			bad_usage("-n '%s': how many samples? 1 to 1000000000", arg);
		return 0;
	case ARGP_KEY_ARG:
		bad_usage("'%s' is no option", arg);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* --- from a sample to lines */

static void add_column(const struct sample *sum, size_t place, const struct metric *metric)
{
	const char *event = sum->row[place].event;
	int width = strlen(metric ? metric->name : event);

	width = width < LEAST_WIDTH ? LEAST_WIDTH : width > MOST_WIDTH ? MOST_WIDTH : width;
	column = need(realloc(column, ++nr_columns * sizeof(*column)));
	column[nr_columns - 1] = (struct column){
		.event = event, .earlier = earlier_of_event(sum->row, place),
		.metric = metric, .width = width + 2,
	};
}

/* Events first, in their order, then the metrics that they allow. */
static void make_columns(const struct sample *sum)
{
	double value;
	size_t i, k;

	nr_columns = 0;
	for (i = 0; i < sum->count; i++)
		add_column(sum, i, NULL);
	for (k = 0; k < nr_metrics; k++)
		for (i = 0; i < sum->count; i++)
			if (metric_value(&metrics[k], sum, &sum->row[i], &value)) {
				add_column(sum, i, &metrics[k]);
				break;
			}
	if (sort_column > nr_columns)
		sort_column = 0;
	if (first_column >= nr_columns)
		first_column = 0;
}

static void fill_cell(struct cell *cell, const struct sample *sample, const struct row *row,
		      const struct metric *metric)
{
	char rate[16];

	*cell = (struct cell){ .text = "-", .value = -1 };
	if (metric) {
		if (metric_value(metric, sample, row, &cell->value))
			snprintf(cell->text, sizeof(cell->text), "%.2f", cell->value);
	} else if (!row->known) {
		snprintf(cell->text, sizeof(cell->text), "%.12s", row->flag);
	} else {
		cell->value = row_rate(row);
		format_short(rate, sizeof(rate), cell->value);
		if (row->running < row->enabled)
			snprintf(cell->text, sizeof(cell->text), "%s %.0f%%", rate,
				 row_share(row));
		else
			snprintf(cell->text, sizeof(cell->text), "%s", rate);
	}
}

/* @rows: those of one CPU, or the sums */
static void add_line(const struct sample *sample, const struct row *rows, size_t count)
{
	const struct row *row;
	struct line *l;
	size_t c;

	line = need(realloc(line, ++nr_lines * sizeof(*line)));
	l = &line[nr_lines - 1];
	l->cpu = rows->cpu;
	l->cell = need(calloc(nr_columns ?: 1, sizeof(*l->cell)));
	for (c = 0; c < nr_columns; c++) {
		/* Not every type of CPU has every event. */
		row = nth_of_event(rows, count, column[c].event, column[c].earlier);
		if (row)
			fill_cell(&l->cell[c], sample, row, column[c].metric);
		else
			l->cell[c] = (struct cell){ .text = "-", .value = -1 };
	}
}

static int compare(const void *a, const void *b)
{
	const struct line *x = a, *y = b;
	double difference;

	if (sort_column)
		difference = y->cell[sort_column - 1].value - x->cell[sort_column - 1].value;
	else
		difference = x->cpu - y->cpu;
	if (difference == 0)
		return x->cpu - y->cpu;
	return (difference > 0) != reverse ? 1 : -1;
}

static void sort_lines(void)
{
	size_t first = nr_lines && line[0].cpu < 0;

	if (nr_lines > first)
		qsort(line + first, nr_lines - first, sizeof(*line), compare);
}

static void take_sample(const struct sample *sample)
{
	static struct sample sum;
	size_t i, count;

	while (nr_lines)
		free(line[--nr_lines].cell);
	sample_number = sample->row[0].sample;
	sample_sum(&sum, sample);
	make_columns(&sum);
	if (sum.row[0].cpus > 1)
		add_line(&sum, sum.row, sum.count);
	for (i = 0; i < sample->count; i += count) {
		for (count = 1; i + count < sample->count; count++)
			if (sample->row[i + count].cpu != sample->row[i].cpu)
				break;
		add_line(sample, &sample->row[i], count);
	}
	sort_lines();
}

/* --- as text, and on the screen */

static void format_cpu(char *to, size_t size, int cpu)
{
	if (cpu < 0)
		snprintf(to, size, "%-*s", CPU_WIDTH, "all");
	else
		snprintf(to, size, "%-*d", CPU_WIDTH, cpu);
}

static const char *head_of(size_t c)
{
	return column[c].metric ? column[c].metric->name : column[c].event;
}

static void print_table(void)
{
	char cpu[16];
	size_t i, c;

	printf("sample %llu\n%-*s", sample_number, CPU_WIDTH, "CPU");
	for (c = 0; c < nr_columns; c++)
		printf("%*.*s", column[c].width, MOST_WIDTH, head_of(c));
	putchar('\n');
	for (i = 0; i < nr_lines; i++) {
		format_cpu(cpu, sizeof(cpu), line[i].cpu);
		fputs(cpu, stdout);
		for (c = 0; c < nr_columns; c++)
			printf("%*s", column[c].width, line[i].cell[c].text);
		putchar('\n');
	}
	putchar('\n');
}

/* The last column that is on the screen if @first_column is the first one, and one more. */
static size_t end_column(void)
{
	int width = CPU_WIDTH;
	size_t c;

	for (c = first_column; c < nr_columns; c++) {
		width += column[c].width;
		if (width > COLS)
			break;
	}
	return c > first_column ? c : first_column + (first_column < nr_columns);
}

static void draw_line(int y, const struct line *l, size_t end)
{
	char cpu[16];
	size_t c;
	int x = CPU_WIDTH;

	format_cpu(cpu, sizeof(cpu), l->cpu);
	mvaddnstr(y, 0, cpu, COLS);
	for (c = first_column; c < end; c++) {
		mvprintw(y, x, "%*s", column[c].width, l->cell[c].text);
		x += column[c].width;
	}
}

static void draw_heads(int y, size_t end)
{
	int x = CPU_WIDTH;
	size_t c;

	attron(A_REVERSE);
	mvhline(y, 0, ' ', COLS);
	mvprintw(y, 0, "CPU%s", sort_column ? "" : reverse ? "-" : "+");
	for (c = first_column; c < end; c++) {
		const char *mark = sort_column != c + 1 ? "" : reverse ? "-" : "+";

		mvprintw(y, x, "%*.*s%s", column[c].width - (int)strlen(mark), MOST_WIDTH,
			 head_of(c), mark);
		x += column[c].width;
	}
	attroff(A_REVERSE);
	if (first_column)
		mvaddch(y, CPU_WIDTH - 1, '<');
	if (end < nr_columns)
		mvaddch(y, COLS - 1, '>');
}

/* The last line. */
static const char keys[] =
	"q quit  space pause  < > sort  r reverse  e events  c CPUs  i interval  arrows scroll";
static const char typing_keys[] =
	"type a new one, or edit it with arrows and Backspace; Enter takes it, Escape leaves it";

static const char *typed_for(void)
{
	return typing == 'e' ? "events" : typing == 'c' ? "CPUs" : "interval in ms";
}

/* A message, or what is typed.  Either may need more than a line: how many more. */
static int draw_message(int y)
{
	if (!typing) {
		mvaddstr(y, 0, message);
		return *message ? (strlen(message) - 1) / COLS : 0;
	}
	mvprintw(y, 0, "%s: ", typed_for());
	if (selected)
		attron(A_REVERSE);
	addstr(typed);
	attroff(A_REVERSE);
	return (strlen(typed_for()) + 2 + strlen(typed)) / COLS;
}

/* On the terminal's own cursor, which is seen while something is typed. */
static void draw_cursor(int y)
{
	size_t at = strlen(typed_for()) + 2 + cursor;

	curs_set(!!typing);
	if (typing)
		move(y + at / COLS, at % COLS);
}

static void draw(void)
{
	size_t end = end_column(), i, shown;
	char row[160];
	int y = HEAD_LINES;

	erase();
	snprintf(row, sizeof(row), "my-pmu top - CPUs %.40s, every %.12s ms, sample %llu%s",
		 setup.cpus, setup.interval, sample_number, paused ? ", PAUSED" : "");
	mvaddnstr(0, 0, row, COLS);
	mvaddnstr(1, 0, setup.events, COLS);
	y += draw_message(HEAD_LINES - 2);
	draw_heads(y - 1, end);
	shown = y + 1 < LINES ? LINES - y - 1 : 0;
	if (first_line + shown > nr_lines)
		first_line = nr_lines > shown ? nr_lines - shown : 0;
	for (i = 0; i < shown && first_line + i < nr_lines; i++)
		draw_line(y++, &line[first_line + i], end);
	mvaddnstr(LINES - 1, 0, typing ? typing_keys : keys, COLS);
	draw_cursor(HEAD_LINES - 2);
	refresh();
}

/* --- keys */

static void change(void)
{
	struct setup wanted = { 0 };
	char *value = text("%s", typed);

	if (!*value || value[strcspn(value, " \t\"")]) {
		snprintf(message, sizeof(message), "one word is needed, without blanks or quotes");
		return;
	}
	*(typing == 'e' ? &wanted.events : typing == 'c' ? &wanted.cpus : &wanted.interval) = value;
	typing = 0;
	message[0] = 0;
	if (!module_change(&setup, &wanted))
		snprintf(message, sizeof(message), "refused: %s", module_why());
}

static void erase_at(size_t place)
{
	if (place < strlen(typed))
		memmove(typed + place, typed + place + 1, strlen(typed + place));
}

static void insert(char letter)
{
	size_t len;

	if (selected) {
		typed[0] = 0;
		cursor = 0;
	}
	len = strlen(typed);
	if (len == sizeof(typed) - 1)
		return;
	memmove(typed + cursor + 1, typed + cursor, len - cursor + 1);
	typed[cursor++] = letter;
}

static void type_key(int key)
{
	switch (key) {
	case '\n':
	case '\r':
	case KEY_ENTER:
		change();
		typing = 0;
		return;
	case 27:
		typing = 0;
		return;
	case KEY_LEFT:
		cursor -= cursor > 0;
		break;
	case KEY_RIGHT:
		cursor += cursor < strlen(typed);
		break;
	case KEY_HOME:
	case 1:		/* Control-A */
		cursor = 0;
		break;
	case KEY_END:
	case 5:		/* Control-E */
		cursor = strlen(typed);
		break;
	case KEY_BACKSPACE:
	case 127:
	case 8:
		if (cursor)
			erase_at(--cursor);
		break;
	case KEY_DC:
		erase_at(cursor);
		break;
	case 21:	/* Control-U */
		typed[0] = 0;
		cursor = 0;
		break;
	default:
		if (key < ' ' || key > '~')
			return;
		insert(key);
	}
	selected = false;
}

static void begin_typing(int key, const char *old)
{
	typing = key;
	snprintf(typed, sizeof(typed), "%s", old);
	cursor = strlen(typed);
	selected = true;
	message[0] = 0;
}

static void show_sort_column(void)
{
	size_t c = sort_column - 1;

	sort_lines();
	if (!sort_column)
		return;
	if (c < first_column)
		first_column = c;
	while (c >= end_column() && first_column < c)
		first_column++;
}

/* False if my-pmu shall end. */
static bool take_key(int key)
{
	if (typing) {
		type_key(key);
		return true;
	}
	if (key != KEY_RESIZE)
		message[0] = 0;
	switch (key) {
	case 'q':
		return false;
	case ' ':
	case 'p':
		paused = !paused;
		break;
	case '>':
		sort_column = sort_column < nr_columns ? sort_column + 1 : 0;
		show_sort_column();
		break;
	case '<':
		sort_column = sort_column ? sort_column - 1 : nr_columns;
		show_sort_column();
		break;
	case 'r':
		reverse = !reverse;
		sort_lines();
		break;
	case 'e':
		begin_typing(key, setup.events);
		break;
	case 'c':
		begin_typing(key, setup.cpus);
		break;
	case 'i':
		begin_typing(key, setup.interval);
		break;
	case KEY_RIGHT:
		first_column += end_column() < nr_columns;
		break;
	case KEY_LEFT:
		first_column -= first_column > 0;
		break;
	case KEY_DOWN:
		first_line++;
		break;
	case KEY_UP:
		first_line -= first_line > 0;
		break;
	}
	return true;
}

/* A terminal that is gone can be read for ever, and has no key. */
static bool take_keys(bool is_input)
{
	static int nothing;
	int key = getch();

	nothing = key == ERR && is_input ? nothing + 1 : 0;
	for (; key != ERR; key = getch())
		if (!take_key(key))
			return false;
	return nothing < 100;
}

/* --- */

static bool show(struct rows *rows, bool live)
{
	struct sample sample = { 0 };
	enum rows_event event;
	bool right = true;

	while (!stop_signal) {
		event = rows_next(rows, &sample, live ? STDIN_FILENO : -1);
		if (event == ROWS_END || event == ROWS_WRONG) {
			snprintf(message, sizeof(message), "the module's rows: %s",
				 event == ROWS_END ? "they end" : rows->wrong);
			right = false;
			break;
		}
		if (event == ROWS_SAMPLE && !paused)
			take_sample(&sample);
		if (event == ROWS_SAMPLE && !live)
			print_table();
		if (live && !take_keys(event == ROWS_INPUT))
			break;
		if (live)
			draw();
		else if (!flushed(&right))
			break;
		if (event == ROWS_SAMPLE && samples_left && !--samples_left)
			break;
	}
	free(sample.row);
	return right;
}

/* Whatever exits. */
static void end_screen(void)
{
	if (!isendwin())
		endwin();
}

static bool begin_screen(void)
{
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return false;
	if (!newterm(NULL, stdout, stdin)) {
		say("the terminal %s is not known here: plain output", getenv("TERM") ?: "?");
		return false;
	}
	atexit(end_screen);
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(50);
	curs_set(0);
	return true;
}

int run_top(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ "samples", 'n', "N", 0, "end after so many samples", 0 },
		{ 0 }
	};
	static const struct argp_child children[] = { { &setup_argp, 0, NULL, 0 }, { 0 } };
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.doc = "Shows what CPUs do: events in a second, and what is derived from them. On a terminal it is live, and has keys; elsewhere each sample is a table.\vExample: my-pmu top -C 0-3 -e instructions,cycles,branches",
		.children = children,
	};
	struct rows rows;
	bool live, right;
	__u64 start;
	int fd;

	parse_options(&argp, argc, argv, NULL);
	need_root();
	if (!module_begin(&setup))
		return 1;
	start = rows_now();
	fd = module_open_rows();
	if (fd < 0) {
		module_end();
		return 1;
	}
	rows_begin(&rows, fd, start);
	live = begin_screen();
	right = show(&rows, live);
	if (live)
		end_screen();
	rows_end(&rows);
	/* What was refused was seen on the screen. */
	if (!right && message[0])
		say("%s", message);
	module_end();
	return right ? 0 : 1;
}
