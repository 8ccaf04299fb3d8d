// SPDX-License-Identifier: GPL-2.0
/*
 * pmu-registers CPU...: everything the module may touch on these CPUs, one
 * register in a line.  One process instead of one rdmsr for each register.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

static const struct {
	uint32_t first;
	uint32_t last;
} ranges[] = {
	{ 0x186, 0x197 },	/* event selects */
	{ 0xc1, 0xd2 },		/* generic counters */
	{ 0x309, 0x30b },	/* fixed counters */
	{ 0x38d, 0x38f },	/* FIXED_CTR_CTRL, GLOBAL_STATUS, GLOBAL_CTRL */
	{ 0x1d9, 0x1d9 },	/* DEBUGCTL */
};

static void print_register(int fd, const char *cpu, uint32_t msr)
{
	uint64_t value;

	if (pread(fd, &value, sizeof(value), msr) == sizeof(value))
		printf("cpu%s %#x %jx\n", cpu, msr, (uintmax_t)value);
	else
		printf("cpu%s %#x absent\n", cpu, msr);
}

static int print_cpu(const char *cpu)
{
	char path[64];
	unsigned int i;
	uint32_t msr;
	int fd;

	snprintf(path, sizeof(path), "/dev/cpu/%s/msr", cpu);
	fd = open(path, O_RDONLY);
	if (fd < 0) {
		perror(path);
		return 1;
	}
	for (i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
		for (msr = ranges[i].first; msr <= ranges[i].last; msr++)
			print_register(fd, cpu, msr);
	}
	close(fd);
	return 0;
}

int main(int argc, char **argv)
{
	int i, status = 0;

	for (i = 1; i < argc; i++)
		status |= print_cpu(argv[i]);
	return status;
}
