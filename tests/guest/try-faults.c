// SPDX-License-Identifier: GPL-2.0
/*
 * try-faults CPU FILE PARAMETERS
 *
 * Loads a module with the first access to a register of the CPU's PMU faulting, then
 * the second, ... until none is left that faults; it stays loaded then.  Without a
 * process for each step.
 *
 * Each load has to be refused with EIO, with a last line in the kernel log that says
 * that a register has faulted, and has to leave all registers as they were; when the
 * write has faulted that was to put one back, that one may be another, and no other.
 * A load that is not refused though an access has faulted is unloaded: some of the
 * accesses are perf's, which is asked for events, and does not care.
 *
 * Prints, each in a line: "accesses N", how many have been tried until none faulted;
 * "left N", how many have left their own register; "perfs N...", which have not been
 * refused; "rest N", what the injector had left in the end; and "wrong ...", if
 * something is, where it stops.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>
#include <sys/syscall.h>

#include "registers.h"

#define LOG_SIZE	(1 << 20)
#define READ_ALL	3	/* klogctl()'s actions */
#define CLEAR		5

#define INJECTOR	0x4000f000	/* see scripts/qemu/x86_pmu.c */
#define GLOBAL_STATUS	0x38e
#define GLOBAL_OVF_CTRL	0x390

static char log_text[LOG_SIZE + 1];
static const char *cpu_name;
static int msrs;

static struct register_value before[REGISTERS_MAX];
static unsigned int registers;

static unsigned int nth;
static unsigned int left;

static void is_wrong(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	printf("wrong %u: ", nth);
	vprintf(format, arguments);
	printf("\n");
	va_end(arguments);
}

static uint64_t read_or_die(uint32_t msr)
{
	uint64_t value;

	if (read_msr(msrs, msr, &value))
		return value;
	is_wrong("%#x cannot be read: %s", msr, strerror(errno));
	exit(1);
}

static void write_or_die(uint32_t msr, uint64_t value)
{
	if (pwrite(msrs, &value, sizeof(value), msr) == sizeof(value))
		return;
	is_wrong("%#x cannot be written: %s", msr, strerror(errno));
	exit(1);
}

/* GLOBAL_STATUS, which was 0, is cleared by another register. */
static void put_back(void)
{
	unsigned int i;

	write_or_die(GLOBAL_OVF_CTRL, read_or_die(GLOBAL_STATUS));
	for (i = 0; i < registers; i++) {
		if (before[i].present && before[i].msr != GLOBAL_STATUS)
			write_or_die(before[i].msr, before[i].value);
	}
}

/* How many registers are not as before. */
static unsigned int changed(void)
{
	struct register_value now[REGISTERS_MAX];
	unsigned int i, n = 0;

	read_registers(msrs, now);
	for (i = 0; i < registers; i++)
		n += now[i].present != before[i].present ||
		     now[i].value != before[i].value;
	return n;
}

static int load(int file, const char *parameters)
{
	klogctl(CLEAR, NULL, 0);
	return syscall(SYS_finit_module, file, parameters, 0) ? errno : 0;
}

static bool unload(void)
{
	if (!syscall(SYS_delete_module, "my_pmu", O_NONBLOCK))
		return true;
	is_wrong("it does not unload: %s", strerror(errno));
	return false;
}

/* The module's line, without what the kernel says of any such module. */
static const char *message_in(const char *line)
{
	static const char prefix[] = "my_pmu: ";
	const char *message = NULL, *next = line;

	if (strstr(line, "out-of-tree module taints") ||
	    strstr(line, "module verification failed"))
		return NULL;
	while ((next = strstr(next, prefix)))
		message = next += sizeof(prefix) - 1;
	return message;
}

static const char *last_message(void)
{
	int len = klogctl(READ_ALL, log_text, LOG_SIZE);
	const char *message, *last = "";
	char *line;

	log_text[len > 0 ? len : 0] = '\0';
	for (line = strtok(log_text, "\n"); line; line = strtok(NULL, "\n")) {
		message = message_in(line);
		if (message)
			last = message;
	}
	return last;
}

/* "cpu3: ...fault..." */
static bool tells_of_fault(const char *message)
{
	size_t len = strlen(cpu_name);

	return !strncmp(message, "cpu", 3) &&
	       !strncmp(message + 3, cpu_name, len) &&
	       !strncmp(message + 3 + len, ": ", 2) && strstr(message, "fault");
}

static bool is_refused_well(int err)
{
	const char *message = last_message();
	unsigned int others;

	if (err != EIO) {
		is_wrong("%s", strerror(err));
		return false;
	}
	if (!tells_of_fault(message)) {
		is_wrong("%s", message);
		return false;
	}
	if (read_or_die(INJECTOR)) {
		is_wrong("it has not faulted");
		return false;
	}
	others = changed();
	if (others > 1) {
		is_wrong("%u registers have changed", others);
		return false;
	}
	if (others) {
		left++;
		put_back();
	}
	return true;
}

static bool is_unloaded_well(void)
{
	if (!unload())
		return false;
	if (!changed())
		return true;
	is_wrong("perf's has changed a register");
	return false;
}

/* Returns false if something is wrong. */
static bool try_all(int file, const char *parameters)
{
	static char perfs[1 << 16];
	size_t len = 0;
	bool well = true;
	int err;

	do {
		nth++;
		write_or_die(INJECTOR, nth);
		err = load(file, parameters);
		if (err) {
			well = is_refused_well(err);
		} else if (read_or_die(INJECTOR)) {
			break;
		} else {
			if (len < sizeof(perfs) - 16)
				len += sprintf(perfs + len, " %u", nth);
			well = is_unloaded_well();
		}
	} while (well);
	printf("accesses %u\nleft %u\nperfs%s\nrest %ju\n", nth - 1, left, perfs,
	       (uintmax_t)read_or_die(INJECTOR));
	return err == 0 && well;
}

int main(int argc, char **argv)
{
	int file;

	if (argc != 4) {
		fprintf(stderr, "try-faults CPU FILE PARAMETERS\n");
		return 2;
	}
	cpu_name = argv[1];
	msrs = open_msrs(cpu_name, O_RDWR);
	file = open(argv[2], O_RDONLY | O_CLOEXEC);
	if (file < 0)
		perror(argv[2]);
	if (msrs < 0 || file < 0)
		return 2;
	registers = read_registers(msrs, before);
	return !try_all(file, argv[3]);
}
