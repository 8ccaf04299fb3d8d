/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's, as it is for programs: perf's numbers. */
#include_next <linux/perf_event.h>
