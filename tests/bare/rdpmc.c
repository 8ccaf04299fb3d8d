// SPDX-License-Identifier: GPL-2.0
/* RDPMC: what it reads, and when it faults (SDM vol 2B). */
#include "bare.h"

#define FIXED_INDICES	16

static void test_none(void)
{
	u64 value;

	is(try_rdpmc(0, &value), VECTOR_GP, "RDPMC: faults without a PMU");
	is(try_rdpmc(RDPMC_FIXED, &value), VECTOR_GP, "RDPMC: fixed, faults without a PMU");
	is(try_rdpmc(RDPMC_FAST, &value), VECTOR_GP, "RDPMC: fast, faults without a PMU");
}

static void test_values(void)
{
	unsigned int i;
	u64 value, wrong = 0, wide = 0;

	for (i = 0; i < nr_all; i++) {
		counter_write(&counters[i], 0x12345670 + i);
		if (try_rdpmc(counters[i].rdpmc, &value) || value != 0x12345670 + i)
			wrong |= counters[i].bit;
		counter_write(&counters[i], ~0UL);
		if (try_rdpmc(counters[i].rdpmc, &value) || value != counters[i].mask)
			wide |= counters[i].bit;
		counter_write(&counters[i], 0);
	}
	is(wrong, 0, "RDPMC: reads each counter");
	is(wide, 0, "RDPMC: all ones of the width, zeros above");
}

/* Which of so many indices of a type fault. */
static u64 faulting(u32 type, unsigned int number)
{
	u64 mask = 0, value;
	unsigned int i;

	for (i = 0; i < number; i++) {
		if (try_rdpmc(type + i, &value) == VECTOR_GP)
			mask |= BIT(i);
	}
	return mask;
}

static void test_faults(void)
{
	u64 value, wrong = 0;
	unsigned int i;

	is(faulting(0, 32), 0xffffffff & ~pmu.generic, "RDPMC: absent generic counters fault");
	/* AMD's index has no type: these are too large */
	is(faulting(RDPMC_FIXED, FIXED_INDICES), LOW_BITS(FIXED_INDICES) & ~pmu.fixed,
	   "RDPMC: absent fixed counters fault");
	is(faulting(RDPMC_FAST, 1), 1, "RDPMC: the fast bit faults");
	is(faulting(RDPMC_FAST | RDPMC_FIXED, 1), 1,
	   "RDPMC: the fast bit faults for a fixed counter");
	is(faulting(0x20000000, 1), 1, "model: RDPMC: performance metrics fault");
	for (i = 5; i < 32; i++) {
		if (BIT(i) != RDPMC_FIXED && try_rdpmc(BIT(i), &value) != VECTOR_GP)
			wrong |= BIT(i);
	}
	is(wrong, 0, "RDPMC: every other type faults");
}

static void test_halves(void)
{
	u64 value = 0;

	counter_write(&counters[0], 0x1234);
	is(try_rdpmc(0x123456780UL << 4 & ~0xffffffffUL, &value), 0,
	   "RDPMC: RCX[63:32] is ignored, RAX[63:32] and RDX[63:32] become 0");
	is(value, 0x1234, "RDPMC: and the value is right");
}

static void is_user(void (*enter)(const void *fn), bool pce, const char *name)
{
	u64 value = 0;
	int vector;

	write_cr4(pce ? read_cr4() | CR4_PCE : read_cr4() & ~CR4_PCE);
	user_rdpmc(enter, 0, &vector, &value);
	write_cr4(read_cr4() & ~CR4_PCE);
	is(vector, pce ? 0 : VECTOR_GP, "RDPMC: %s, CR4.PCE=%u", name, pce);
	if (pce)
		is(value, 0x1234, "RDPMC: %s, the value", name);
}

static void test_user(void)
{
	counter_write(&counters[0], 0x1234);
	is_user(in_user, false, "64-bit ring 3");
	is_user(in_user, true, "64-bit ring 3");
	is_user(in_user32, false, "32-bit ring 3");
	is_user(in_user32, true, "32-bit ring 3");
}

/* In the copy at LOW, how in_real() wants it. */
static const void *in_low(const char *label)
{
	return (const void *)(LOW + (label - low_start));
}

static void test_real(void)
{
	const u32 *result = in_low(low_result);
	int vector;
	u64 value;

	counter_write(&counters[0], 0x5678);
	in_real(in_low(low_rdpmc));
	vector = result[2];
	value = (u64)result[1] << 32 | result[0];
	is(vector, 0, "RDPMC: real mode, CR4.PCE=0");
	is(value, 0x5678, "RDPMC: real mode, the value");
	user_rdpmc(in_protected, 0, &vector, &value);
	is(vector, 0, "RDPMC: 32-bit ring 0, CR4.PCE=0");
	is(value, 0x5678, "RDPMC: 32-bit ring 0, the value");
}

/**
 * test_rdpmc() - everything about the instruction
 */
void test_rdpmc(void)
{
	if (!pmu.version) {
		test_none();
		return;
	}
	quiet();
	test_values();
	test_faults();
	test_halves();
	test_user();
	test_real();
	quiet();
}
