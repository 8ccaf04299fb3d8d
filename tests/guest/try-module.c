// SPDX-License-Identifier: GPL-2.0
/*
 * Loads a module again and again, without a process for each time.
 *
 *   try-module strings FILE < PARAMETERS   with each line; unloads it if it loads
 *   try-module fail FILE PARAMETERS        with the first allocation failing, then
 *                                          the second, ... until none is left
 *
 * Whatever is refused must be refused with a sane errno, and by the module with
 * one line in the kernel log.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOG_SIZE	(1 << 20)
#define READ_ALL	3	/* klogctl()'s actions */
#define CLEAR		5

static char log_text[LOG_SIZE + 1];
static unsigned int wrong;

static int load(int file, const char *parameters)
{
	klogctl(CLEAR, NULL, 0);
	return syscall(SYS_finit_module, file, parameters, 0) ? errno : 0;
}

static int unload(void)
{
	return syscall(SYS_delete_module, "my_pmu", O_NONBLOCK) ? errno : 0;
}

static void read_log(void)
{
	int len = klogctl(READ_ALL, log_text, LOG_SIZE);

	log_text[len > 0 ? len : 0] = '\0';
}

/* What it says of the CPU's PMU, and the kernel of any such module. */
static const char * const other_lines[] = {
	"my_pmu: ...", ", family ", "held against", "out-of-tree module taints",
	"module verification failed",
};

static bool is_refusal(const char *line)
{
	unsigned int i;

	for (i = 0; i < sizeof(other_lines) / sizeof(other_lines[0]); i++) {
		if (strstr(line, other_lines[i]))
			return false;
	}
	return strstr(line, "my_pmu: ");
}

static unsigned int count_refusals(void)
{
	unsigned int n = 0;
	char *line;

	read_log();
	for (line = strtok(log_text, "\n"); line; line = strtok(NULL, "\n"))
		n += is_refusal(line);
	return n;
}

static void complain(unsigned long n, const char *what, int err,
		     const char *parameters)
{
	if (wrong++ < 10)
		printf("# %lu: %s (%s): %s\n", n, what, strerror(err),
		       parameters);
}

static bool is_sane(int err)
{
	switch (err) {
	case EINVAL:
	case ERANGE:
	case ENOSPC:
	case EOPNOTSUPP:
		return true;
	default:
		return false;
	}
}

static int try_strings(int file)
{
	unsigned long n = 0, loaded = 0;
	char *line = NULL;
	size_t size = 0;
	ssize_t len;
	int err;

	while ((len = getline(&line, &size, stdin)) > 0) {
		if (line[len - 1] == '\n')
			line[len - 1] = '\0';
		n++;
		err = load(file, line);
		if (!err) {
			loaded++;
			err = unload();
			if (err)
				complain(n, "does not unload", err, line);
		} else if (!is_sane(err)) {
			complain(n, "a strange errno", err, line);
		} else if (count_refusals() != 1) {
			complain(n, "not refused in one line", err, line);
		}
	}
	printf("%lu %lu %u\n", n, loaded, wrong);
	return 0;
}

/* What is left of it after the call; 0 if it has happened. */
static int fail_nth(int fd, int n)
{
	char text[16];
	int len;

	if (n) {
		len = snprintf(text, sizeof(text), "%d", n);
		return pwrite(fd, text, len, 0) == len ? n : -1;
	}
	len = pread(fd, text, sizeof(text) - 1, 0);
	if (len < 0)
		return -1;
	text[len] = '\0';
	n = atoi(text);
	if (pwrite(fd, "0", 1, 0) != 1)
		return -1;
	return n;
}

static int try_failures(int file, const char *parameters)
{
	int fd = open("/proc/self/fail-nth", O_RDWR), n, left, err;
	unsigned long refused = 0, loaded = 0;

	if (fd < 0) {
		perror("/proc/self/fail-nth");
		return 1;
	}
	for (n = 1; ; n++) {
		klogctl(CLEAR, NULL, 0);
		if (fail_nth(fd, n) < 0)
			return 1;
		err = syscall(SYS_finit_module, file, parameters, 0) ? errno : 0;
		left = fail_nth(fd, 0);
		if (!err && unload())
			complain(n, "does not unload", errno, parameters);
		if (err && err != ENOMEM && err != EAGAIN)
			complain(n, "a strange errno", err, parameters);
		if (left)
			break;
		refused += err ? 1 : 0;
		loaded += err ? 0 : 1;
	}
	if (err)
		complain(n, "refused though nothing has failed", err, parameters);
	printf("%d %lu %lu %u\n", n - 1, refused, loaded, wrong);
	return 0;
}

int main(int argc, char **argv)
{
	int file = argc > 2 ? open(argv[2], O_RDONLY | O_CLOEXEC) : -1;

	if (file < 0) {
		perror(argc > 2 ? argv[2] : "try-module strings|fail FILE");
		return 2;
	}
	if (!strcmp(argv[1], "strings"))
		return try_strings(file);
	return try_failures(file, argc > 3 ? argv[3] : "");
}
