/* SPDX-License-Identifier: GPL-2.0 */
/* A stand-in for the kernel's: that there is a lock. */
#ifndef FUZZ_LINUX_SPINLOCK_H
#define FUZZ_LINUX_SPINLOCK_H

#define raw_spinlock_t	int

#endif
