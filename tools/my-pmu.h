/* SPDX-License-Identifier: GPL-2.0 */
/* What the files of my-pmu share. */
#ifndef MY_PMU_TOOL_H
#define MY_PMU_TOOL_H

#include <argp.h>
#include <linux/types.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define __printf(a, b) __attribute__((__format__(printf, a, b)))
#define __noreturn __attribute__((__noreturn__))

/* --- my-pmu.c: messages, options, signals */

/**
 * struct setup - what is counted: the module's parameters as text, NULL if not given
 * @cpus: as for cpu=
 * @events: as for counters=
 * @interval: as for interval=, milliseconds
 * @path: the module's file
 * @usual_interval: the interval if none is given and the module is not loaded
 */
struct setup {
	char *cpus;
	char *events;
	char *interval;
	char *path;
	const char *usual_interval;
};

extern const char *command_name;
/* The signal that asked to stop, or 0. */
extern volatile sig_atomic_t stop_signal;
/* What is blocked except while a subcommand waits. */
extern sigset_t waiting_mask;

void __printf(1, 2) say(const char *format, ...);
void __printf(1, 2) __noreturn bad_usage(const char *format, ...);
bool flushed(bool *right);
void *need(void *memory);
char *__printf(1, 2) text(const char *format, ...);
char *read_text(const char *path);
char *printable(char *name);
void parse_options(const struct argp *argp, int argc, char **argv, void *input);
void need_root(void);
void set_default(char **value, const char *fallback);

/* -C, -e, -I and --module, of the subcommands that count; their input is a struct setup. */
extern const struct argp setup_argp;
/* Its keys that are no letters, and others'. */
enum { KEY_MODULE = 0x100, KEY_JSON, KEY_CSV, KEY_TEXTFILE, KEY_ROWS, KEY_SUM };

int run_stat(int argc, char **argv);
int run_top(int argc, char **argv);
int run_plot(int argc, char **argv);
int run_export(int argc, char **argv);
int run_doctor(int argc, char **argv);

bool have_gnuplot(void);

/* --- state.c: one my-pmu at a time, and what it has changed */

#define STATE_DIR "/run/my-pmu"
#define STATE_FILE STATE_DIR "/state"

bool state_take(pid_t *holder);
void state_release(void);
bool watchdog_off(void);
void watchdog_restore(void);
bool state_module(const char *parameters, ino_t inode);

/* --- module.c: loading, changing and unloading the module, its rows */

bool module_loaded(void);
ino_t module_inode(void);
char *module_parameters(void);
bool module_remove(void);
bool module_begin(struct setup *setup);
bool module_change(struct setup *setup, const struct setup *wanted);
const char *module_why(void);
int module_open_rows(void);
void module_end(void);
char *module_find(const char *path, char **looked);
char *module_info(const char *path, const char *key);
bool module_is_ours(const char *path);

/* --- who.c: who has the PMU */

#define WATCHDOG_FILE "/proc/sys/kernel/nmi_watchdog"

typedef void (*tell_fn)(const char *what, const char *cure);
unsigned int tell_users(tell_fn tell);

/* --- rows.c: the module's rows, from it or from a file */

/**
 * struct row - an event of a CPU in a sample; or of many CPUs: their sum
 * @sample: the number of the sample
 * @time: when, ns of CLOCK_MONOTONIC
 * @dt: since the sample before, ns; of a sum, those of all its CPUs
 * @latency: from the request to the reading, ns
 * @missed: samples that were due before, and could not be taken
 * @growth: of the event's count, if @known
 * @enabled: for how long the event was to be counted, ns
 * @running: for how long it was counted, ns
 * @cpu: the CPU, or -1 for a sum
 * @cpus: of a sum, how many
 * @known: false: something was wrong, and @flag says what
 * @event: its name; these three texts are equal if their pointers are
 * @counter: its counter, or "" if it is multiplexed
 * @flag: the mark, or ""
 */
struct row {
	__u64 sample, time, dt, latency, missed, growth, enabled, running;
	int cpu;
	unsigned int cpus;
	bool known;
	const char *event, *counter, *flag;
};

struct sample {
	struct row *row;
	size_t count, size;
};

struct rows {
	int fd;
	__u64 start;
	bool at_end;
	char *text;
	size_t len, size;
	unsigned int line;
	/* the place of each column in a line, or -1; all -1 before the head line */
	int place[16];
	bool has_head;
	struct sample next;
	__u64 dropped;
	char wrong[160];
};

enum rows_event { ROWS_SAMPLE, ROWS_INPUT, ROWS_SIGNAL, ROWS_END, ROWS_WRONG };

__u64 rows_now(void);
void rows_begin(struct rows *rows, int fd, __u64 start);
enum rows_event rows_next(struct rows *rows, struct sample *sample, int input);
void rows_end(struct rows *rows);
const char *rows_head(void);
void print_csv(FILE *out, const struct row *row);

/* --- sample.c: sums, and what is derived from counts */

struct metric {
	const char *name;	/* the head of a column */
	const char *unit;	/* what stands behind the value */
	const char *event;
	const char *per;	/* another event; NULL: the time in ns */
	double factor;
};

extern const struct metric metrics[];
extern const size_t nr_metrics;

struct row *sample_append(struct sample *sample, const struct row *row);
void sample_add(struct sample *total, const struct sample *sample);
const struct row *nth_of_event(const struct row *rows, size_t count, const char *event,
			       size_t earlier);
size_t earlier_of_event(const struct row *rows, size_t place);
void sample_sum(struct sample *sum, const struct sample *sample);
const struct row *sample_find(const struct sample *sample, const struct row *like,
			      const char *event);
bool metric_value(const struct metric *metric, const struct sample *sample,
		  const struct row *row, double *value);
double row_rate(const struct row *row);
double row_share(const struct row *row);
void format_short(char *to, size_t size, double value);

#endif
