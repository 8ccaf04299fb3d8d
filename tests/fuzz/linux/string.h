/* SPDX-License-Identifier: GPL-2.0 */
/* A stand-in for the kernel's: what is not in the C library's. */
#ifndef FUZZ_LINUX_STRING_H
#define FUZZ_LINUX_STRING_H

#include <errno.h>
#include <string.h>
#include <strings.h>

#include <linux/types.h>

/* include/linux/string.h */
static inline size_t str_has_prefix(const char *text, const char *prefix)
{
	size_t len = strlen(prefix);

	return strncmp(text, prefix, len) ? 0 : len;
}

/* lib/string.c: what does not fit is cut, ends with a NUL, and is told. */
static inline ssize_t strscpy(char *to, const char *from, size_t size)
{
	size_t len = strnlen(from, size);

	if (!size)
		return -E2BIG;
	memcpy(to, from, len);
	if (len == size) {
		to[len - 1] = '\0';
		return -E2BIG;
	}
	to[len] = '\0';
	return len;
}

/* lib/string_helpers.c: the blanks at both ends are gone. */
static inline char *strim(char *text)
{
	size_t len;

	text += strspn(text, " \t\n\v\f\r");
	len = strlen(text);
	while (len && strchr(" \t\n\v\f\r", text[len - 1]))
		text[--len] = '\0';
	return text;
}

#endif
