// SPDX-License-Identifier: GPL-2.0
/* my-pmu: counts events of CPUs by the module my_pmu, for people who do not read dmesg. */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "my-pmu.h"

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *doc;
} commands[] = {
	{ "stat", run_stat, "count, and print counts: lines, a table, JSON or CSV" },
	{ "top", run_top, "the CPUs and what they do, live" },
	{ "plot", run_plot, "a picture of what stat --csv has written" },
	{ "export", run_export, "counters for Prometheus, by node_exporter's textfile collector" },
	{ "doctor", run_doctor, "can it run here? who has the PMU? what to type next" },
};

/* For argp, which has --version of it. */
const char *argp_program_version = "my-pmu " MY_PMU_VERSION;
const char *command_name = "my-pmu";
volatile sig_atomic_t stop_signal;
sigset_t waiting_mask;

/* --- messages */

void say(const char *format, ...)
{
	va_list arguments;

	fputs("my-pmu: ", stderr);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
}

void bad_usage(const char *format, ...)
{
	va_list arguments;

	fprintf(stderr, "%s: ", command_name);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fprintf(stderr, "; %s --help has what there is\n", command_name);
	exit(2);
}

/* Writes standard output; whoever has read enough is no failure. */
bool flushed(bool *right)
{
	if (!fflush(stdout) && !ferror(stdout))
		return true;
	*right = errno == EPIPE;
	if (!*right)
		say("cannot write: %s", strerror(errno));
	return false;
}

/* --- texts; without memory nothing can go on, and the next my-pmu puts back what is changed */

void *need(void *memory)
{
	if (!memory) {
		say("there is no memory");
		exit(1);
	}
	return memory;
}

char *text(const char *format, ...)
{
	va_list arguments;
	char *made = NULL;

	va_start(arguments, format);
	if (vasprintf(&made, format, arguments) < 0)
		made = NULL;
	va_end(arguments);
	return need(made);
}

/* A small file, without the newline at its end; NULL if it cannot be read. */
char *read_text(const char *path)
{
	FILE *file = fopen(path, "re");
	char *all = NULL;
	size_t size = 0;
	ssize_t len;

	if (!file)
		return NULL;
	len = getdelim(&all, &size, 0, file);
	if (len <= 0) {
		free(all);
		all = ferror(file) ? NULL : text("%s", "");
	} else if (all[len - 1] == '\n') {
		all[len - 1] = 0;
	}
	fclose(file);
	return all;
}

/* A text of another process, made harmless for a terminal. */
char *printable(char *name)
{
	char *c;

	for (c = name; c && *c; c++)
		if (!isprint((unsigned char)*c))
			*c = '?';
	return name;
}

/* --- options */

static const struct argp_option setup_options[] = {
	{ "cpu", 'C', "LIST", 0, "CPUs: 3 or 0-3,8 or all [all]", 0 },
	{ "event", 'e', "EVENTS", 0, "events, as in docs/events.md [instructions,cycles]", 0 },
	{ "interval-print", 'I', "MS", 0,
	  "milliseconds between samples [top: 1000, export: 15000, stat: one total]", 0 },
	{ "module", KEY_MODULE, "PATH", 0, "the my_pmu.ko to load [the installed one]", 0 },
	{ 0 }
};

/* What is a parameter of the module goes through the kernel's parser, which takes blanks and
 * quotes for its own.
 */
static void set_parameter(char **to, const char *option, char *value)
{
	if (!*value || value[strcspn(value, " \t\n\r\v\f\"")])
		bad_usage("%s '%s': one word is needed, without blanks or quotes", option, value);
	*to = value;
}

static error_t parse_setup(int key, char *arg, struct argp_state *state)
{
	struct setup *setup = state->input;
	char *end;

	switch (key) {
	case 'C':
		set_parameter(&setup->cpus, "-C", arg);
		return 0;
	case 'e':
		set_parameter(&setup->events, "-e",
			      setup->events ? text("%s,%s", setup->events, arg) : arg);
		return 0;
	case 'I':
		if (arg[0] < '1' || arg[0] > '9' || strtoul(arg, &end, 10) > 86400000 || *end)
			bad_usage("-I '%s': milliseconds are needed, 1 to 86400000", arg);
		setup->interval = arg;
		return 0;
	case KEY_MODULE:
		setup->path = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp setup_argp = { .options = setup_options, .parser = parse_setup };

/* A wrong option is one line, which getopt writes; argp's second one goes nowhere. */
void parse_options(const struct argp *argp, int argc, char **argv, void *input)
{
	int err;

	argp_err_exit_status = 2;
	err = argp_parse(argp, argc, argv, ARGP_IN_ORDER, NULL, input);
	if (err)
		bad_usage("%s", strerror(err));
}

void set_default(char **value, const char *fallback)
{
	if (!*value)
		*value = text("%s", fallback);
}

/* --- signals, and who may count */

static void stop(int signal)
{
	stop_signal = signal;
}

static void child_ended(int signal)
{
	(void)signal;
}

/* They come only while a subcommand waits, so that none is lost and no load is interrupted. */
static void catch_signals(void)
{
	static const int stops[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	struct sigaction action = { .sa_handler = stop }, before;
	sigset_t blocked;
	size_t i;

	sigemptyset(&blocked);
	for (i = 0; i < ARRAY_SIZE(stops); i++) {
		/* As nohup has it. */
		sigaction(stops[i], NULL, &before);
		if (stops[i] == SIGHUP && before.sa_handler == SIG_IGN)
			continue;
		sigaction(stops[i], &action, NULL);
		sigaddset(&blocked, stops[i]);
	}
	action.sa_handler = child_ended;
	sigaction(SIGCHLD, &action, NULL);
	sigaddset(&blocked, SIGCHLD);
	sigprocmask(SIG_BLOCK, &blocked, &waiting_mask);
}

/* Ends unless we are root and the only my-pmu, which has put back what a killed one left. */
void need_root(void)
{
	pid_t holder;
	char *path, *name;

	if (geteuid()) {
		say("only root can count: sudo %s ...", command_name);
		exit(1);
	}
	catch_signals();
	if (state_take(&holder))
		return;
	if (!holder) {
		say("cannot write %s: %s", STATE_FILE, strerror(errno));
		exit(1);
	}
	path = text("/proc/%d/comm", holder);
	name = printable(read_text(path));
	say("process %d (%s) is a my-pmu, too: one at a time can have the PMU; end it first",
	    holder, name ?: "?");
	exit(1);
}

static const struct command *chosen;

static error_t parse_command(int key, char *arg, struct argp_state *state)
{
	size_t i;

	switch (key) {
	case ARGP_KEY_INIT:
		state->err_stream = fopen("/dev/null", "we") ?: stderr;
		return 0;
	case ARGP_KEY_ARG:
		for (i = 0; i < ARRAY_SIZE(commands); i++)
			if (!strcmp(arg, commands[i].name))
				chosen = &commands[i];
		if (!chosen)
			bad_usage("there is no subcommand '%s'", arg);
		/* The rest is the subcommand's. */
		*(int *)state->input = state->next - 1;
		state->next = state->argc;
		return 0;
	case ARGP_KEY_NO_ARGS:
		bad_usage("which subcommand?");
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static char *list_commands(int key, const char *doc, void *input)
{
	char *list, *longer;
	size_t i;

	(void)input;
	if (key != ARGP_KEY_HELP_POST_DOC)
		return (char *)doc;
	list = NULL;
	longer = text("Subcommands, each with --help:\n\n");
	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		free(list);
		list = longer;
		longer = text("%s  %-8s %s\n", list, commands[i].name, commands[i].doc);
	}
	free(list);
	list = text("%s\nExample: sudo my-pmu stat -C 0 -- sleep 1\n", longer);
	free(longer);
	return list;
}

int main(int argc, char **argv)
{
	static const struct argp argp = {
		.parser = parse_command,
		.args_doc = "SUBCOMMAND [OPTION...]",
		.doc = "Counts events of CPUs, and puts back whatever it changes.\v ",
		.help_filter = list_commands,
	};
	int first = 0;

	setlocale(LC_ALL, "");
	parse_options(&argp, argc, argv, &first);
	signal(SIGPIPE, SIG_IGN);
	sigprocmask(SIG_BLOCK, NULL, &waiting_mask);
	command_name = text("my-pmu %s", chosen->name);
	argv[first] = (char *)command_name;
	return chosen->run(argc - first, argv + first);
}
