/* SPDX-License-Identifier: GPL-2.0 */
/* A stand-in for the kernel's, which is the compiler's, too. */
#include <stdarg.h>
