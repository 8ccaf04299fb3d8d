/* SPDX-License-Identifier: GPL-2.0 */
/* A stand-in for the kernel's, which is part of this one here. */
#include <linux/bitops.h>
