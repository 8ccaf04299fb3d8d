// SPDX-License-Identifier: GPL-2.0
/*
 * The extra registers, which some events need besides the event select.  The lab's are
 * those of Skylake.
 */
#include "bare.h"

static const struct {
	u32 msr;
	u64 bits;
	const char *name;
} registers[] = {
	{ MSR_OFFCORE_RSP_0, 0x3fffff8fff, "OFFCORE_RSP_0" },
	{ MSR_OFFCORE_RSP_1, 0x3fffff8fff, "OFFCORE_RSP_1" },
	{ MSR_PEBS_FRONTEND, 0x7fff17, "PEBS_FRONTEND" },
};

/* Another one for each. */
static u64 fill_of(unsigned int i)
{
	return registers[i].bits & ~BIT(i);
}

/**
 * extra_fill() - write something else to each extra register
 */
void extra_fill(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(registers); i++)
		wrmsr(registers[i].msr, fill_of(i));
}

static u64 extra_other_than(bool filled)
{
	unsigned int i;
	u64 wrong = 0;

	for (i = 0; i < ARRAY_SIZE(registers); i++)
		wrong |= rdmsr(registers[i].msr) != (filled ? fill_of(i) : 0) ? BIT(i) : 0;
	return wrong;
}

/**
 * extra_not_filled() - which extra registers do not hold what extra_fill() wrote
 *
 * Return: a bitmap, in the order OFFCORE_RSP_0, OFFCORE_RSP_1, PEBS_FRONTEND
 */
u64 extra_not_filled(void)
{
	return extra_other_than(true);
}

/**
 * extra_not_clear() - which extra registers are not 0
 *
 * Return: a bitmap, as from extra_not_filled()
 */
u64 extra_not_clear(void)
{
	return extra_other_than(false);
}

static void extra_clear(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(registers); i++)
		wrmsr(registers[i].msr, 0);
}

/* The events that need them, with any value there. */
static void test_events(void)
{
	static const u16 events[] = { 0x01b7, 0x01bb, 0x01c6 };
	const struct counter *c = &counters[0];
	unsigned int i;

	extra_fill();
	for (i = 0; i < ARRAY_SIZE(events); i++) {
		quiet();
		is(count(c, events[i] | SEL_OS | SEL_USR, 0, in_kernel, body64), 0,
		   "model: %s: its event counts nothing", registers[i].name);
	}
	is(extra_not_filled(), 0, "the extra registers are as before counting");
	quiet();
	extra_clear();
}

/* Linux uses 3F6H, too, where there is PEBS. */
static void test_neighbours(void)
{
	static const u32 msrs[] = { 0x1a5, 0x1a8, 0x3f6, 0x3f8 };
	u64 value = 0, held = 0;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(msrs); i++) {
		if (!try_wrmsr(msrs[i], 0x11) && !try_rdmsr(msrs[i], &value) && value)
			held |= BIT(i);
	}
	is(held, 0, "model: no other register beside the extra ones");
}

static void test_lab(void)
{
	u64 value = 0, writes;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(registers); i++) {
		if (pmu.faults) {
			wrmsr(MSR_FAULT, 1);
			is(try_rdmsr(registers[i].msr, &value), VECTOR_GP, "model: fault: %s",
			   registers[i].name);
			wrmsr(MSR_FAULT, 0);
		}
		if (pmu.odometer) {
			writes = rdmsr(ODOMETER_OF(0) + ODOMETER_WRITES);
			wrmsr(registers[i].msr, 0);
			is(rdmsr(ODOMETER_OF(0) + ODOMETER_WRITES) - writes, 1,
			   "model: odometer: %s", registers[i].name);
		}
	}
}

/**
 * test_extra() - the extra registers, from reset on
 */
void test_extra(void)
{
	unsigned int i;

	is(extra_not_clear(), 0, "reset: the extra registers");
	for (i = 0; i < ARRAY_SIZE(registers); i++)
		is_plain(registers[i].msr, registers[i].bits, registers[i].name);
	extra_fill();
	is(extra_not_filled(), 0, "each extra register is one of its own");
	extra_clear();
	is(extra_not_clear(), 0, "the extra registers are 0 again");
	test_events();
	test_neighbours();
	test_lab();
}

/**
 * test_no_extra() - where there are none, QEMU reads as 0 what it does not know
 */
void test_no_extra(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(registers); i++)
		wrmsr(registers[i].msr, 0x11);
	is(extra_not_clear(), 0, "model: no extra registers if not configured so");
}

/* ---------------------------------------------------------------- reset */

#define CMOS_INDEX	0x70
#define CMOS_DATA	0x71
#define CMOS_BYTE	0x70	/* nobody's, and 0 when the machine is switched on */
#define RESET_CONTROL	0xcf9
#define RESET_ALL	0x06

/**
 * test_machine_reset() - what a reset of the machine makes of registers that were used
 *
 * The program is begun a second time by the reset.
 */
void test_machine_reset(void)
{
	const struct counter *c = &counters[0];

	outb(CMOS_INDEX, CMOS_BYTE);
	if (!inb(CMOS_DATA)) {
		outb(CMOS_DATA, 1);
		quiet();
		program(c, instruction_select(c) | SEL_EN);
		counter_write(c, 1000);
		extra_fill();
		outb(RESET_CONTROL, RESET_ALL);
		for (;;)
			asm volatile("hlt");
	}
	test_reset();
	is(extra_not_clear(), 0, "reset: the extra registers");
}
