// SPDX-License-Identifier: GPL-2.0
/* A PMU for each processor. */
#include "bare.h"

/**
 * ap_main() - where another processor arrives
 */
void ap_main(void)
{
}
