/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Everything the module may touch on a CPU, read through the msr driver.
 */
#ifndef REGISTERS_H
#define REGISTERS_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

static const struct {
	uint32_t first;
	uint32_t last;
} register_ranges[] = {
	{ 0x186, 0x197 },	/* event selects */
	{ 0xc1, 0xd2 },		/* generic counters */
	{ 0x309, 0x30b },	/* fixed counters */
	{ 0x38d, 0x38f },	/* FIXED_CTR_CTRL, GLOBAL_STATUS, GLOBAL_CTRL */
	{ 0x1d9, 0x1d9 },	/* DEBUGCTL */
};

#define REGISTERS_MAX	64	/* at least as many as they are */

struct register_value {
	uint32_t msr;
	bool present;
	uint64_t value;
};

static inline bool read_msr(int fd, uint32_t msr, uint64_t *value)
{
	return pread(fd, value, sizeof(*value), msr) == sizeof(*value);
}

/* How many they are. */
static inline unsigned int read_registers(int fd, struct register_value *to)
{
	unsigned int i, n = 0;
	uint32_t msr;

	for (i = 0; i < sizeof(register_ranges) / sizeof(register_ranges[0]); i++) {
		for (msr = register_ranges[i].first; msr <= register_ranges[i].last; msr++) {
			to[n].msr = msr;
			to[n].value = 0;
			to[n].present = read_msr(fd, msr, &to[n].value);
			n++;
		}
	}
	return n;
}

static inline int open_msrs(const char *cpu, int flags)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/dev/cpu/%s/msr", cpu);
	fd = open(path, flags);
	if (fd < 0)
		perror(path);
	return fd;
}

#endif
