/* SPDX-License-Identifier: GPL-2.0 */
/* A stand-in for the kernel's: what pmu_parse.c and its headers use of it. */
#ifndef FUZZ_LINUX_TYPES_H
#define FUZZ_LINUX_TYPES_H

#include_next <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

typedef signed char s8;
typedef unsigned char u8;
typedef long s64;
typedef unsigned short u16;
typedef unsigned int u32;
typedef int s32;
typedef unsigned long u64;

#endif
