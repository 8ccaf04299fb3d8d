/* SPDX-License-Identifier: GPL-2.0 */
/* A stand-in for the kernel's: its static_assert() needs no words. */
#define static_assert(cond)	extern int asserted[(cond) ? 1 : -1]
