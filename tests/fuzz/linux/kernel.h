/* SPDX-License-Identifier: GPL-2.0 */
/* A stand-in for the kernel's: numbers and messages. */
#ifndef FUZZ_LINUX_KERNEL_H
#define FUZZ_LINUX_KERNEL_H

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>

#include <linux/types.h>

#define U64_MAX			(~0UL)

#define ARRAY_SIZE(a)		(sizeof(a) / sizeof((a)[0]))
#define __printf(a, b)		__attribute((format(printf, a, b)))
#define __noreturn		__attribute((noreturn))

/* The value of a digit in whatever base, or one that is too large for all. */
static inline unsigned int kstrto_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return 16;
}

/*
 * lib/kstrtox.c, for the bases 10 and 16.  A plus may be there, and "0x" if the
 * base is 16, and a newline at the end.  A number too large for 64 bits is
 * -ERANGE, whatever follows its digits; one that is only too large for its type
 * is -ERANGE if nothing does.  If it fails, the result is not touched.
 */
static inline int kstrto(const char *text, unsigned int base,
			 unsigned long long max, unsigned long long *val)
{
	unsigned long long sum = 0;
	bool overflow = false;
	const char *digits;

	if (*text == '+')
		text++;
	if (base == 16 && text[0] == '0' && (text[1] | 0x20) == 'x')
		text += 2;
	for (digits = text; kstrto_digit(*text) < base; text++) {
		overflow |= __builtin_mul_overflow(sum, base, &sum);
		overflow |= __builtin_add_overflow(sum, kstrto_digit(*text),
						   &sum);
	}
	if (overflow)
		return -ERANGE;
	if (text == digits)
		return -EINVAL;
	if (*text == '\n')
		text++;
	if (*text)
		return -EINVAL;
	if (sum > max)
		return -ERANGE;
	*val = sum;
	return 0;
}

static inline int kstrtou64(const char *text, unsigned int base, u64 *val)
{
	unsigned long long wide;
	int err = kstrto(text, base, ULLONG_MAX, &wide);

	if (!err)
		*val = wide;
	return err;
}

static inline int kstrtouint(const char *text, unsigned int base,
			     unsigned int *val)
{
	unsigned long long wide;
	int err = kstrto(text, base, UINT_MAX, &wide);

	if (!err)
		*val = wide;
	return err;
}

/* lib/vsprintf.c: the length of what was written, not of what there was. */
static inline int vscnprintf(char *to, size_t size, const char *fmt,
			     va_list args)
{
	int len = vsnprintf(to, size, fmt, args);

	return len < (int)size ? len : (int)size - 1;
}

static inline __printf(3, 4)
int scnprintf(char *to, size_t size, const char *fmt, ...)
{
	va_list args;
	int len;

	va_start(args, fmt);
	len = vscnprintf(to, size, fmt, args);
	va_end(args);
	return len;
}

#endif
