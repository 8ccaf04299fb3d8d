/* SPDX-License-Identifier: GPL-2.0 */
/* A stand-in for the kernel's: that there is a timer. */
#ifndef FUZZ_LINUX_HRTIMER_H
#define FUZZ_LINUX_HRTIMER_H

struct hrtimer {
	int unused;
};

#endif
