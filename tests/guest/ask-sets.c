// SPDX-License-Identifier: GPL-2.0
/*
 * ask-sets SEED SETS EVENT...: random sets of these raw events, as groups: can perf count
 * them at the same time, and can my_pmu (sets_core.c)?  Prints where they differ, and at
 * the end how many sets of each kind there were.
 *
 * perf says whether a group can ever be on the counters when it is opened.  Where it counts
 * an event show copies of it that are pinned: each has another counter, until one is in the
 * error state, because none is left.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TEST_CPU	1
#define MOST_EVENTS	12
#define COPIES		64
#define FIXED_RDPMC	0x40000000
#define PARAMETER	"/sys/module/my_pmu/parameters/set"

struct event {
	uint64_t config;
	uint64_t counters;	/* by my_pmu's ids */
};

static unsigned int perf_alone, module_alone, both, neither, misplaced;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static int open_event(uint64_t config, bool pinned, bool disabled, int leader)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_RAW, .size = sizeof(attr), .config = config,
		.pinned = pinned, .disabled = disabled,
	};

	return syscall(SYS_perf_event_open, &attr, -1, TEST_CPU, leader, 0);
}

/* --- perf ----------------------------------------------------------------------------- */

/* The id of the counter that the event is on. */
static uint64_t counter_of(int fd)
{
	long size = sysconf(_SC_PAGESIZE);
	struct perf_event_mmap_page *page = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	uint32_t index;

	if (page == MAP_FAILED)
		die("mmap of an event");
	index = page->index;
	munmap(page, size);
	if (!index) {
		fprintf(stderr, "ask-sets: an event that counts has no counter\n");
		exit(1);
	}
	index--;
	return 1ULL << (index & FIXED_RDPMC ? 32 + (index & ~FIXED_RDPMC) : index);
}

/* In the error state there is nothing to read. */
static bool counts(int fd)
{
	uint64_t count;

	return read(fd, &count, sizeof(count)) == sizeof(count);
}

static uint64_t find_counters(uint64_t config)
{
	uint64_t counters = 0;
	int fd[COPIES], n = 0, i;

	do {
		fd[n] = open_event(config, true, false, -1);
		if (fd[n] < 0)
			die("perf_event_open of a copy");
	} while (counts(fd[n++]) && n < COPIES);
	for (i = 0; i < n - 1; i++)
		counters |= counter_of(fd[i]);
	while (n-- > 0)
		close(fd[n]);
	return counters;
}

/* The first is off, so that none counts; perf leaves out others that are. */
static bool perf_places(const struct event *const *set, unsigned int nr)
{
	int fd[MOST_EVENTS];
	unsigned int i, n;

	for (n = 0; n < nr; n++) {
		fd[n] = open_event(set[n]->config, false, !n, n ? fd[0] : -1);
		if (fd[n] < 0 && errno != EINVAL)
			die("perf_event_open");
		if (fd[n] < 0)
			break;
	}
	for (i = n; i-- > 0;)
		close(fd[i]);
	return n == nr;
}

/* --- my_pmu --------------------------------------------------------------------------- */

/* What it says of a list: "gp0 gp1 fixed0", or "-28: why". */
static void ask_module(const char *list, char *answer, size_t size)
{
	FILE *file = fopen(PARAMETER, "w");

	if (!file || fputs(list, file) == EOF || fclose(file))
		die(PARAMETER);
	file = fopen(PARAMETER, "r");
	if (!file || !fgets(answer, size, file))
		die(PARAMETER);
	fclose(file);
	answer[strcspn(answer, "\n")] = '\0';
}

static uint64_t parse_counter(const char *word)
{
	unsigned int n;

	if (sscanf(word, "gp%u", &n) == 1)
		return 1ULL << n;
	if (sscanf(word, "fixed%u", &n) == 1)
		return 1ULL << (32 + n);
	return 0;
}

/* Each event has a counter that perf has for it, and none is there twice. */
static bool is_right(const struct event *const *set, unsigned int nr, char *answer)
{
	uint64_t taken = 0, counter;
	unsigned int i;
	char *word;

	for (i = 0; i < nr; i++) {
		word = strtok(i ? NULL : answer, " ");
		counter = word ? parse_counter(word) : 0;
		if (!(counter & set[i]->counters & ~taken))
			return false;
		taken |= counter;
	}
	return !strtok(NULL, " ");
}

/* --- both ----------------------------------------------------------------------------- */

/* An LCG (Knuth, TAOCP 3.3.4), so that the sets are the same with any libc. */
static unsigned int get_random(uint64_t *state, unsigned int below)
{
	*state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (*state >> 33) % below;
}

static void compare(const struct event *const *set, unsigned int nr, const char *list)
{
	char answer[512], said[512];
	bool perf = perf_places(set, nr), module;

	ask_module(list, answer, sizeof(answer));
	strcpy(said, answer);
	module = answer[0] != '-';
	if (!module && strncmp(answer, "-28: ", 5)) {
		printf("# my_pmu refuses %s, and not for want of counters: %s\n", list, answer);
		exit(1);
	}
	both += perf && module;
	neither += !perf && !module;
	perf_alone += perf && !module;
	module_alone += !perf && module;
	if (perf != module)
		printf("# perf %s %s, and my_pmu says: %s\n", perf ? "places" : "refuses",
		       list, said);
	if (module && !is_right(set, nr, answer)) {
		misplaced++;
		printf("# %s is misplaced: %s\n", list, said);
	}
}

static void try_set(const struct event *events, unsigned int nr_events, uint64_t *random)
{
	const struct event *set[MOST_EVENTS];
	unsigned int nr = 1 + get_random(random, MOST_EVENTS), i;
	char list[512];
	size_t len = 0;

	for (i = 0; i < nr; i++) {
		set[i] = &events[get_random(random, nr_events)];
		len += snprintf(list + len, sizeof(list) - len, "%cr%jx", i ? ',' : '{',
				(uintmax_t)set[i]->config);
	}
	snprintf(list + len, sizeof(list) - len, "}");
	compare(set, nr, list);
}

int main(int argc, char **argv)
{
	unsigned int nr_events = argc - 3, sets, i;
	struct event *events;
	uint64_t random;
	int held;

	if (argc < 4) {
		fprintf(stderr, "usage: ask-sets SEED SETS EVENT...\n");
		return 2;
	}
	random = strtoull(argv[1], NULL, 0);
	sets = strtoul(argv[2], NULL, 0);
	events = calloc(nr_events, sizeof(*events));
	if (!events)
		die("calloc");
	/* perf keeps its buffers as long as there is one event. */
	held = open_event(0xc0, false, true, -1);
	if (held < 0)
		die("perf_event_open");
	for (i = 0; i < nr_events; i++) {
		events[i].config = strtoull(argv[3 + i], NULL, 16);
		events[i].counters = find_counters(events[i].config);
		printf("# perf has r%jx on %#jx\n", (uintmax_t)events[i].config,
		       (uintmax_t)events[i].counters);
	}
	for (i = 0; i < sets; i++)
		try_set(events, nr_events, &random);
	close(held);
	printf("both %u neither %u perf alone %u my_pmu alone %u misplaced %u\n", both, neither,
	       perf_alone, module_alone, misplaced);
	return 0;
}
