// SPDX-License-Identifier: GPL-2.0
/*
 * pmu-registers CPU...: everything the module may touch on these CPUs, one
 * register in a line.  One process instead of one rdmsr for each register.
 */
#include "registers.h"

static void print_register(const char *cpu, const struct register_value *reg)
{
	if (reg->present)
		printf("cpu%s %#x %jx\n", cpu, reg->msr, (uintmax_t)reg->value);
	else
		printf("cpu%s %#x absent\n", cpu, reg->msr);
}

static int print_cpu(const char *cpu)
{
	struct register_value now[REGISTERS_MAX];
	int fd = open_msrs(cpu, O_RDONLY);
	unsigned int i, n;

	if (fd < 0)
		return 1;
	n = read_registers(fd, now);
	close(fd);
	for (i = 0; i < n; i++)
		print_register(cpu, &now[i]);
	return 0;
}

int main(int argc, char **argv)
{
	int i, status = 0;

	for (i = 1; i < argc; i++)
		status |= print_cpu(argv[i]);
	return status;
}
