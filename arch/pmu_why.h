/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Why something was refused, in one line.  Few files print, see tests/layers; the code
 * below them is pure or runs where printing is unwelcome, and leaves the words
 * here, beside the errno it returns.
 */
#ifndef MY_PMU_WHY_H
#define MY_PMU_WHY_H

#include <linux/kernel.h>
#include <linux/stdarg.h>

#include "my_pmu.h"

/**
 * my_refuse() - say why, and return the errno
 * @why: where the line goes
 * @err: the negative errno
 * @fmt: what was wrong and what would be right, no newline
 *
 * Context: any, including NMI.
 * Return: @err, so that a refusal is one statement.
 */
static inline __printf(3, 4)
int my_refuse(struct my_pmu_why *why, int err, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vscnprintf(why->text, sizeof(why->text), fmt, args);
	va_end(args);
	return err;
}

#endif
