/* SPDX-License-Identifier: GPL-2.0 */
/* Events that need another register: there are none on RISC-V. */
#ifndef MY_PMU_EXTRA_H
#define MY_PMU_EXTRA_H

#include <linux/types.h>

static const u16 extra_events[] = {};

static const u16 twins[][2] = {};

static inline bool is_metric(u64 config)
{
	return false;
}

#endif
