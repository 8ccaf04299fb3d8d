// SPDX-License-Identifier: GPL-2.0
/*
 * Version 6: CPUID leaf 23H, a block of registers for each counter, UMASK2 and EQ, auto
 * counter reload.  And fixed counters from the fourth on, which came with version 5.
 */
#include "bare.h"

#define LEAF		0x23
#define SOON		100	/* events after which to overflow, within the body */

/* Bits of CFG_C that Linux 7.2 knows. */
#define CFG_C_BITS	(0xffffffff | 0xfUL << 35 | 3UL << 40 | BIT(49) | 7UL << 61)
/* What the lab leaves in it: 4096 events to the overflow. */
#define CFG_C_LEFT	(CFG_C_EN | 0xfffff000)

/* ---------------------------------------------------------------- CPUID */

static void is_leaf(u32 subleaf, u64 ab, u64 cd)
{
	u32 eax, ebx, ecx, edx;

	cpuid_count(LEAF, subleaf, &eax, &ebx, &ecx, &edx);
	is((u64)ebx << 32 | eax, ab, "CPUID.23H.%u: EBX and EAX", subleaf);
	is((u64)edx << 32 | ecx, cd, "CPUID.23H.%u: EDX and ECX", subleaf);
}

/**
 * test_cpuid_version_6() - leaf 23H, and whether CPUID says that there is one
 */
void test_cpuid_version_6(void)
{
	u64 acr = pmu.acr ? counters_mask() : 0;
	u32 eax, ebx, ecx, edx;

	cpuid_count(7, 1, &eax, &ebx, &ecx, &edx);
	is(eax >> 8 & 1, pmu.version >= 6, "CPUID.7.1: ARCH_PERFMON_EXT");
	if (pmu.version < 6)
		return;
	cpuid(7, &eax, &ebx, &ecx, &edx);
	ok(eax >= 1, "CPUID.7: has a sub-leaf 1");
	cpuid(0, &eax, &ebx, &ecx, &edx);
	ok(eax >= LEAF, "CPUID.0: there are leaves up to 23H");
	/* UMASK2 and EQ; counters, reload, events */
	is_leaf(0, 3UL << 32 | 1 | 2 | (pmu.acr ? 4 : 0) | 8, 0);
	is_leaf(1, counters_mask(), 0);
	is_leaf(2, acr, acr);
	is_leaf(3, ~pmu.ebx & LOW_BITS(pmu.ebx_length), 0);
	is_leaf(4, 0, 0);
	is_leaf(5, 0, 0);
}

/* ---------------------------------------------------------------- reload */

static u32 cfg_b(const struct counter *c)
{
	return c->fixed ? MSR_FX_CFG_B(c->index) : MSR_GP_CFG_B(c->index);
}

static u32 cfg_c(const struct counter *c)
{
	return c->fixed ? MSR_FX_CFG_C(c->index) : MSR_GP_CFG_C(c->index);
}

/**
 * test_left_behind() - CFG_B and CFG_C at reset, and all to 0
 */
void test_left_behind(void)
{
	const struct counter *c;
	u64 wrong = 0;

	for (c = counters; c < counters + nr_all; c++) {
		if (rdmsr(cfg_b(c)) != (pmu.reload ? counters_mask() : 0) ||
		    rdmsr(cfg_c(c)) != (pmu.reload ? CFG_C_LEFT : 0))
			wrong |= c->bit;
	}
	is(wrong, 0, "model: reset: CFG_B and CFG_C");
	c = &counters[0];
	if (pmu.reload) {
		quiet();
		is(count(c, instruction_select(c), -(u64)SOON, in_kernel, body64),
		   (ALL_OF_BODY - SOON - 4096UL) & c->mask,
		   "model: with what is left behind a count is wrong");
	}
	for (c = counters; c < counters + nr_all; c++) {
		wrmsr(cfg_b(c), 0);
		wrmsr(cfg_c(c), 0);
	}
	quiet();
}

static void is_reloaded(const struct counter *c, u64 b, u64 config, u64 wanted, const char *name)
{
	const struct counter *first = &counters[0], *last = &counters[nr_counters - 1];
	struct run run = run_of(first->bit | last->bit, 0);

	quiet();
	wrmsr(cfg_b(c), b);
	wrmsr(cfg_c(c), config);
	program(first, instruction_select(first));
	program(last, instruction_select(last));
	counter_write(first, -(u64)SOON);
	measure(&run, in_kernel, body64);
	is(rdmsr(c->msr), wanted & c->mask, "model: %s, %s", counter_name(c), name);
	is(rdmsr(MSR_GLOBAL_STATUS), first->bit, "model: %s, %s: GLOBAL_STATUS",
	   counter_name(c), name);
	wrmsr(cfg_b(c), 0);
	wrmsr(cfg_c(c), 0);
}

/* The first counter overflows, and nothing else does. */
static void test_reload(void)
{
	const struct counter *c = &counters[0], *last = &counters[nr_counters - 1];
	const u64 rest = ALL_OF_BODY - SOON, few = 0x12345, many = 0xffff0000;

	is_reloaded(c, 0, 0, rest, "no reload");
	is_reloaded(c, 0, CFG_C_EN | few, rest + few, "EN: its own overflow reloads it");
	is_reloaded(c, 0, CFG_C_EN | many, rest - 0x10000, "EN: a value of 32 bits is negative");
	is_reloaded(c, 0, few, rest, "a value without EN");
	is_reloaded(c, c->bit, few, rest + few, "CFG_B names itself");
	/* then after each 16 events, until the end */
	is_reloaded(c, 0, CFG_C_EN | (u32)-16, rest % 16 - 16, "EN: again and again");
	quiet();
	wrmsr(cfg_c(c), CFG_C_EN);
	pmi_arm(APIC_MODE_NMI);
	count(c, instruction_select(c) | SEL_INT, -(u64)SOON, in_kernel, body64);
	is(pmi.count, 1, "model: %s, EN: PMI", counter_name(c));
	wrmsr(cfg_c(c), 0);
	if (c == last)
		return;
	is_reloaded(last, 0, CFG_C_EN | few, ALL_OF_BODY, "EN: but no other's overflow");
	is_reloaded(last, c->bit, few, rest + few, "CFG_B names the other");
	is_reloaded(last, last->bit, few, ALL_OF_BODY, "CFG_B does not name the other");
	is_reloaded(last, counters_mask(), many, rest - 0x10000, "CFG_B names all");
	/* one that does not count now */
	quiet();
	wrmsr(cfg_b(last), c->bit);
	wrmsr(cfg_c(last), few);
	counter_write(last, 77);
	count(c, instruction_select(c), -(u64)SOON, in_kernel, body64);
	is(rdmsr(last->msr), 77, "model: %s is not reloaded while it does not count",
	   counter_name(last));
	wrmsr(cfg_b(last), 0);
	wrmsr(cfg_c(last), 0);
}

/* ---------------------------------------------------------------- registers */

static u64 present(u32 offset)
{
	unsigned int n = offset % 0x80 / 4, way = offset % 4;
	bool fixed = offset >= 0x80;
	u64 exists = (fixed ? pmu.fixed : pmu.generic) >> n & 1;

	if (way >= 2)
		return exists && pmu.acr;
	return exists && !(fixed && way == 1);
}

static void test_block(void)
{
	u32 offset, wrong = 0;

	for (offset = 0; offset < 0x100; offset++) {
		if (faults(MSR_GP_CTR(0) + offset) != !present(offset)) {
			say("#   0x%x\n", MSR_GP_CTR(0) + offset);
			wrong++;
		}
	}
	is(wrong, 0, "0x1900 to 0x19ff: the absent ones fault");
}

/* Of each counter: what is written at one address is read at the other. */
static void test_aliases(void)
{
	const struct counter *c;
	u64 wrong = 0, value;
	u32 msr;

	quiet();
	for (c = counters; c < counters + nr_all; c++) {
		msr = c->fixed ? MSR_FX_CTR(c->index) : MSR_GP_CTR(c->index);
		value = 0x5a5a5a5a00 + c->index;
		wrmsr(msr, value & c->mask);
		if (rdmsr(c->msr) != (value & c->mask))
			wrong |= c->bit;
		counter_write(c, 0x1234 + c->index);
		if (rdmsr(msr) != 0x1234 + c->index || try_rdpmc(c->rdpmc, &value) ||
		    value != 0x1234 + c->index)
			wrong |= c->bit;
		if (c->fixed)
			continue;
		wrmsr(MSR_GP_CFG_A(c->index), EVENT_CYCLES | SEL_USR);
		if (rdmsr(evtsel_msr(c->index)) != (EVENT_CYCLES | SEL_USR))
			wrong |= c->bit;
		wrmsr(evtsel_msr(c->index), EVENT_BRANCHES | SEL_OS);
		if (rdmsr(MSR_GP_CFG_A(c->index)) != (EVENT_BRANCHES | SEL_OS))
			wrong |= c->bit;
	}
	is(wrong, 0, "each register has its two addresses");
	quiet();
}

static void test_bits(void)
{
	unsigned int last = last_generic();
	const struct counter *c;

	is_plain(MSR_GP_CTR(last), LOW_BITS(pmu.width), "GPn_CTR");
	is_plain(MSR_GP_CFG_A(last), evtsel_bits(), "GPn_CFG_A");
	for (c = counters; pmu.acr && c < counters + nr_all; c++) {
		is_plain(cfg_b(c), counters_mask(), "CFG_B");
		is_plain(cfg_c(c), CFG_C_BITS, "CFG_C");
	}
}

/* ---------------------------------------------------------------- events */

/* What the body is more than an empty routine. */
static u64 of_body(const struct counter *c, u64 select)
{
	u64 with;

	quiet();
	with = count(c, select, 0, in_kernel, body64);
	quiet();
	return with - count(c, select, 0, in_kernel, empty64);
}

static void test_selects(void)
{
	const u64 others = BODY_INSTRUCTIONS - BODY_BRANCHES;
	const struct {
		const char *name;
		u64 select;
		u64 wanted;
	} rows[] = {
		{ "UMASK2=1", EVENT_BRANCHES | SEL_UMASK2(1), 0 },
		{ "UMASK2=0x80", EVENT_BRANCHES | SEL_UMASK2(0x80), 0 },
		{ "conditional, UMASK2=1", EVENT_CONDITIONAL | SEL_UMASK2(1), 0 },
		{ "EQ, CMASK=0", EVENT_BRANCHES | SEL_EQ, others },
		{ "EQ, CMASK=0, INV", EVENT_BRANCHES | SEL_EQ | SEL_INV, BODY_BRANCHES },
		{ "EQ, CMASK=1", EVENT_BRANCHES | SEL_EQ | SEL_CMASK(1), BODY_BRANCHES },
		{ "EQ, CMASK=1, INV", EVENT_BRANCHES | SEL_EQ | SEL_CMASK(1) | SEL_INV, others },
		{ "EQ, CMASK=2", EVENT_BRANCHES | SEL_EQ | SEL_CMASK(2), 0 },
		{ "EQ, CMASK=2, INV", EVENT_BRANCHES | SEL_EQ | SEL_CMASK(2) | SEL_INV,
		  BODY_INSTRUCTIONS },
	};
	unsigned int i;

	if (!event_present(EVENT_BRANCHES))
		return;
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		is(of_body(&counters[0], rows[i].select | SEL_OS), rows[i].wanted,
		   "model: branches, %s", rows[i].name);
}

/* ---------------------------------------------------------------- fixed counters */

/**
 * test_more_fixed() - fixed counters from the fourth on
 */
void test_more_fixed(void)
{
	static const char * const names[] = {
		[3] = "slots: one in a cycle", [4] = "bad speculation: none",
		[5] = "frontend bound: none", [6] = "retiring: each instruction",
	};
	const struct counter *c;

	for (c = counters; c < counters + nr_all; c++) {
		if (!c->fixed || c->index < 3)
			continue;
		is(of_body(c, SEL_OS), c->index == 4 || c->index == 5 ? 0 : BODY_INSTRUCTIONS,
		   "model: %s, %s", counter_name(c), names[c->index]);
		quiet();
		is(count(c, SEL_OS, 55, in_user, body64) > 55,
		   c->index != 4 && c->index != 5, "model: %s goes on from what is written",
		   counter_name(c));
	}
	quiet();
}

/**
 * test_version_6() - what version 6 adds
 */
void test_version_6(void)
{
	test_block();
	test_aliases();
	test_bits();
	test_selects();
	if (pmu.acr)
		test_reload();
	quiet();
}
