// SPDX-License-Identifier: GPL-2.0
/*
 * How fast the time stamp counter runs, in kHz. QEMU shows it to the guest as it
 * is; a guest that shares its CPUs with others measures it wrong.
 */
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

#define MEASURE_NS	50000000

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

/* The two read together: of some tries the fastest. */
static void read_both(uint64_t *ticks, uint64_t *ns)
{
	uint64_t least = UINT64_MAX, before, after, middle;
	int i;

	for (i = 0; i < 10; i++) {
		before = now_ns();
		middle = __rdtsc();
		after = now_ns();
		if (after - before < least) {
			least = after - before;
			*ticks = middle;
			*ns = before + least / 2;
		}
	}
}

int main(void)
{
	uint64_t ticks, ns, start_ticks, start_ns;

	read_both(&start_ticks, &start_ns);
	do {
		read_both(&ticks, &ns);
	} while (ns - start_ns < MEASURE_NS);
	printf("%.0f\n", (ticks - start_ticks) * 1e6 / (ns - start_ns));
	return 0;
}
