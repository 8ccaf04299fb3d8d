/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How kernels differ.  The module is written for the newest; here older ones
 * get the names that it uses.  A version is tested nowhere else, and not here
 * either for what can be had in all of them by one name.
 */
#ifndef MY_PMU_COMPAT_H
#define MY_PMU_COMPAT_H

#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
#include <linux/hrtimer.h>

static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*function)(struct hrtimer *),
				 clockid_t clock_id, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock_id, mode);
	timer->function = function;
}
#endif

/* Linux 6.17 gave it a name that says what it is, and warns of the old one since. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 17, 0)
#define system_dfl_wq		system_unbound_wq
#endif

#endif
