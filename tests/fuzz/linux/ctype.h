/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A stand-in for the kernel's.  There, too, each takes the lowest byte of what
 * it is given, of whatever sign (but for isdigit(), which needs no table).
 */
#ifndef FUZZ_LINUX_CTYPE_H
#define FUZZ_LINUX_CTYPE_H

#include <linux/types.h>

static inline int isascii(int c)
{
	return (u8)c < 0x80;
}

static inline int isdigit(int c)
{
	return c >= '0' && c <= '9';
}

static inline int isxdigit(int c)
{
	return isdigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* Of ASCII only: what is asked for that has been looked at before. */
static inline int isalnum(int c)
{
	return isdigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* lib/ctype.c: Latin-1's letters and signs have their places in the table. */
static inline int isgraph(int c)
{
	u8 byte = c;

	return (byte > ' ' && byte < 0x7f) || byte > 0xa0;
}

#endif
