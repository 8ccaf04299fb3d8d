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
	uint32_t step;
} register_ranges[] = {
	{ 0x186, 0x197, 1 },	/* event selects */
	{ 0xc1, 0xd2, 1 },	/* generic counters */
	{ 0x309, 0x30f, 1 },	/* fixed counters */
	{ 0x38d, 0x38f, 1 },	/* FIXED_CTR_CTRL, GLOBAL_STATUS, GLOBAL_CTRL */
	{ 0x1d9, 0x1d9, 1 },	/* DEBUGCTL */
	{ 0x1a6, 0x1a7, 1 },	/* OFFCORE_RSP_0 and 1, PEBS_FRONTEND */
	{ 0x3f7, 0x3f7, 1 },
	{ 0x1902, 0x1946, 4 },	/* of version 6, CFG_B and CFG_C of generic counters */
	{ 0x1903, 0x1947, 4 },
	{ 0x1982, 0x199a, 4 },	/* and of fixed ones */
	{ 0x1983, 0x199b, 4 },
	{ 0xc0010000, 0xc0010007, 1 },	/* AMD's event selects and counters */
	{ 0xc0010200, 0xc001020b, 1 },	/* with PERFCTR_CORE */
	{ 0xc0000300, 0xc0000301, 1 },	/* PerfMonV2: status, and what starts them */
};

#define REGISTERS_MAX	160	/* at least as many as they are */

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
		for (msr = register_ranges[i].first; msr <= register_ranges[i].last;
		     msr += register_ranges[i].step) {
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
