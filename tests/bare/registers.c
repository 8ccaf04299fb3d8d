// SPDX-License-Identifier: GPL-2.0
/* CPUID, and every register of the PMU: what it holds, takes and refuses. */
#include "bare.h"

/* ---------------------------------------------------------------- CPUID */

static void test_leaf_0a(void)
{
	u32 eax, ebx, ecx, edx;

	cpuid(0x0a, &eax, &ebx, &ecx, &edx);
	is(eax & 0xff, pmu.version, "CPUID.0AH: version");
	is(eax >> 8 & 0xff, pmu.gp, "CPUID.0AH: generic counters");
	is(eax >> 16 & 0xff, pmu.width, "CPUID.0AH: width of generic counters");
	is(eax >> 24, pmu.ebx_length, "CPUID.0AH: length of the vector of events");
	is(ebx & LOW_BITS(pmu.ebx_length), pmu.ebx & LOW_BITS(pmu.ebx_length),
	   "CPUID.0AH: absent events");
	is(edx & 0x1f, pmu.contiguous, "CPUID.0AH: contiguous fixed counters");
	is(edx >> 5 & 0xff, pmu.version >= 2 ? pmu.fixed_width : 0,
	   "CPUID.0AH: width of fixed counters");
	is(ecx, pmu.version >= 5 ? pmu.fixed : 0, "CPUID.0AH: bitmap of fixed counters");
	is(edx >> 15, pmu.version >= 5, "CPUID.0AH: AnyThread deprecated, nothing above");
}

/**
 * test_cpuid() - what CPUID and the model's registers say about the PMU
 */
void test_cpuid(void)
{
	u32 eax, ebx, ecx, edx;
	u64 value;

	if (pmu.amd) {
		test_amd_cpuid();
		return;
	}
	test_leaf_0a();
	test_cpuid_version_6();
	cpuid(1, &eax, &ebx, &ecx, &edx);
	is(ecx >> 15 & 1, pmu.pdcm, "CPUID.1: PDCM");
	if (!pmu.off)
		is(ecx >> 31, pmu.hypervisor, "model: CPUID.1: the hypervisor bit");
	if (!pmu.version)
		return;
	is(rdmsr(MSR_MISC_ENABLE) & (BIT(7) | BIT(11) | BIT(12)),
	   BIT(7) | BIT(11) | BIT(12), "model: MISC_ENABLE: PMU there, BTS and PEBS not");
	if (pmu.pdcm)
		is(rdmsr(MSR_PERF_CAPABILITIES) >> 13 & 1, pmu.full_width,
		   "PERF_CAPABILITIES: full-width writes");
	else
		is(try_rdmsr(MSR_PERF_CAPABILITIES, &value), VECTOR_GP,
		   "PERF_CAPABILITIES: absent without PDCM");
}

/* ---------------------------------------------------------------- reset */

static void is_reset(u32 msr, u64 wanted, const char *name)
{
	is(rdmsr(msr), wanted, "reset: %s", name);
}

/* What firmware makes its counters count. */
#define FIRMWARE_SELECT	(EVENT_INSTRUCTIONS | SEL_EN | SEL_OS | SEL_USR)

/**
 * not_as_at_reset() - counters that are neither at rest nor firmware's
 *
 * Return: the bits of those that are not 0, or whose event select is not, or
 * that should run and do not
 */
u64 not_as_at_reset(void)
{
	const struct counter *c;
	u64 wrong = 0, value;
	bool runs;

	for (c = counters; c < counters + nr_all; c++) {
		runs = pmu.firmware & c->bit;
		value = rdmsr(c->msr);
		if (!c->fixed && rdmsr(evtsel_msr(c->index)) != (runs ? FIRMWARE_SELECT : 0))
			wrong |= c->bit;
		if (runs ? rdmsr(c->msr) <= value : value)
			wrong |= c->bit;
	}
	return wrong;
}

static u64 fixed_control_at_reset(void)
{
	u64 control = 0;
	unsigned int i;

	for (i = 0; i < FIXED_MAX; i++) {
		if (pmu.firmware & STATUS_FIXED(i))
			control |= fixed_control(FIRMWARE_SELECT) << 4 * i;
	}
	return control;
}

/**
 * test_reset() - what the registers hold after reset
 *
 * To be run before anything else has written to them.
 */
void test_reset(void)
{
	is(apic_read(APIC_LVTPC), APIC_MASKED, "reset: LVTPC");
	is(not_as_at_reset(), 0, "reset: counters and event selects");
	if (pmu.version < 2)
		return;
	if (!pmu.amd)
		is_reset(MSR_FIXED_CTR_CTRL, fixed_control_at_reset(), "FIXED_CTR_CTRL");
	is_reset(MSR_GLOBAL_STATUS, 0, "GLOBAL_STATUS");
	/* so that software for version 1 works */
	is_reset(MSR_GLOBAL_CTRL, pmu.generic | pmu.firmware, "GLOBAL_CTRL");
	if (pmu.pdcm || pmu.amd)
		is_reset(MSR_DEBUGCTL, 0, "DEBUGCTL");
	if (pmu.version >= 4)
		is_reset(MSR_GLOBAL_INUSE, pmu.firmware, "GLOBAL_INUSE");
}

/* ---------------------------------------------------------------- writable bits */

/*
 * The bits that a register takes, each written alone.  Of the others none may
 * let a write through, whatever comes with it: then this is ~0.
 */
static u64 bits_taken(u32 msr, u64 allowed)
{
	u64 taken = 0, before, after;
	unsigned int i;

	for (i = 0; i < 64; i++) {
		if (!try_wrmsr(msr, BIT(i)))
			taken |= BIT(i);
	}
	try_wrmsr(msr, 0);
	try_rdmsr(msr, &before);
	for (i = 0; i < 64; i++) {
		if (allowed & BIT(i))
			continue;
		if (!try_wrmsr(msr, allowed | BIT(i)))
			return ~0UL;
		try_rdmsr(msr, &after);
		if (after != before)
			return ~0UL;
	}
	return taken;
}

/**
 * is_plain() - that a register holds what is written to it
 * @msr: the register
 * @allowed: the bits that it has
 * @name: its name
 */
void is_plain(u32 msr, u64 allowed, const char *name)
{
	u64 value = 0;

	is(bits_taken(msr, allowed), allowed, "%s: bits that can be written", name);
	try_wrmsr(msr, allowed);
	try_rdmsr(msr, &value);
	is(value, allowed, "%s: holds them", name);
	try_wrmsr(msr, 0);
}

/**
 * evtsel_bits() - the bits of an event select
 *
 * Return: those that are not reserved
 */
u64 evtsel_bits(void)
{
	u64 any = pmu.version == 3 || pmu.version == 4 ? SEL_ANY : 0;

	return (0xffffffff & ~SEL_ANY) | any |
	       (pmu.version >= 6 ? SEL_EQ | SEL_UMASK2(0xff) : 0);
}

static u64 fixed_control_bits(void)
{
	u64 field = FIXED_OS | FIXED_USR | FIXED_PMI, bits = 0;
	unsigned int i;

	if (pmu.version == 3 || pmu.version == 4)
		field |= FIXED_ANY;
	for (i = 0; i < FIXED_MAX; i++) {
		if (pmu.fixed & BIT(i))
			bits |= field << 4 * i;
	}
	return bits;
}

static u64 status_bits(void)
{
	static const u64 top[] = {
		[2] = BIT(62) | BIT(63),
		[3] = BIT(61) | BIT(62) | BIT(63),
		[4] = 0x3fUL << 58,
		[5] = 0x3fUL << 58,
		[6] = 0x3fUL << 58,
	};

	return counters_mask() | top[pmu.version];
}

static void test_plain_registers(void)
{
	static const char * const evtsel[] = { "model: EVTSEL0", "model: the last EVTSEL" };
	unsigned int i;

	for (i = 0; i < 1 + (nr_generic > 1); i++)
		is_plain(evtsel_msr(i * last_generic()), evtsel_bits(), evtsel[i]);
	if (pmu.full_width)
		is_plain(MSR_A_PMC, LOW_BITS(pmu.width), "A_PMC0");
	if (pmu.full_width && nr_generic > 1)
		is_plain(MSR_A_PMC + last_generic(), LOW_BITS(pmu.width), "the last A_PMC");
	if (pmu.version < 2)
		return;
	for (i = 0; i < nr_all; i++) {
		if (counters[i].fixed)
			is_plain(counters[i].msr, counters[i].mask, counter_name(&counters[i]));
	}
	is_plain(MSR_FIXED_CTR_CTRL, fixed_control_bits(), "FIXED_CTR_CTRL");
	is_plain(MSR_GLOBAL_CTRL, counters_mask(), "GLOBAL_CTRL");
}

/* ---------------------------------------------------------------- legacy writes */

static void test_legacy_writes(void)
{
	static const struct {
		u64 written;
		u64 read;
		const char *name;
	} rows[] = {
		{ 0x7fffffff, 0x7fffffff, "PMC0: bit 31 clear is kept so" },
		{ 0x80000000, 0xffffffff80000000, "PMC0: bit 31 is extended to the width" },
		{ 0xffffffff, ~0UL, "PMC0: all ones are all ones of the width" },
		{ 0xdeadbeef12345678, 0x12345678, "PMC0: EDX is ignored" },
		{ 0x00000000fedcba98, 0xfffffffffedcba98, "PMC0: EDX=0 does not keep it positive" },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		wrmsr(MSR_PMC, rows[i].written);
		is(rdmsr(MSR_PMC), rows[i].read & LOW_BITS(pmu.width), "%s", rows[i].name);
	}
	is(bits_taken(MSR_PMC, ~0UL), ~0UL, "PMC0: no bit of EDX faults");
	if (!pmu.full_width)
		return;
	wrmsr(MSR_A_PMC, LOW_BITS(pmu.width) / 3);
	is(rdmsr(MSR_PMC), LOW_BITS(pmu.width) / 3, "A_PMC0 is PMC0 with all its bits");
}

/* ---------------------------------------------------------------- existence */

/**
 * faults() - whether a register is absent
 * @msr: the register
 *
 * Return: whether reading and writing it faults
 */
bool faults(u32 msr)
{
	u64 value;

	return try_rdmsr(msr, &value) == VECTOR_GP && try_wrmsr(msr, 0) == VECTOR_GP;
}

/* Which of a range's addresses #GP on reads and writes. */
static u64 absent(u32 first, unsigned int from, unsigned int to)
{
	u64 mask = 0;
	unsigned int i;

	for (i = from; i < to; i++) {
		if (faults(first + i))
			mask |= BIT(i);
	}
	return mask;
}

/*
 * Eight generic counters have addresses that are theirs on every processor;
 * behind those are other registers, unless there are more counters.
 */
static void is_range(u32 first, u64 present, const char *name)
{
	unsigned int number = pmu.version && last_generic() >= 8 ? last_generic() + 1 : 8;

	is(absent(first, 0, number), LOW_BITS(number) & ~present,
	   "%s0 to %u: the absent ones fault", name, number - 1);
}

static void test_ranges(void)
{
	is_range(MSR_EVTSEL, pmu.generic, "EVTSEL");
	is_range(MSR_PMC, pmu.generic, "PMC");
	is_range(MSR_A_PMC, pmu.full_width ? pmu.generic : 0, "A_PMC");
	is(absent(MSR_FIXED_CTR, 0, 16), ~pmu.fixed & 0xffff,
	   "FIXED_CTR0 to 15: the absent ones fault");
	ok(faults(MSR_PERF_METRICS), "model: PERF_METRICS: faults");
	if (pmu.version < 6)
		is(absent(MSR_GP_CTR(0), 0, 4), 0xf, "the registers of version 6 fault");
}

static void test_versions(void)
{
	const struct {
		u32 msr;
		unsigned int version;
		const char *name;
	} rows[] = {
		{ MSR_FIXED_CTR_CTRL, 2, "FIXED_CTR_CTRL" },
		{ MSR_GLOBAL_STATUS, 2, "GLOBAL_STATUS" },
		{ MSR_GLOBAL_CTRL, 2, "GLOBAL_CTRL" },
		{ MSR_GLOBAL_OVF_CTRL, 2, "GLOBAL_OVF_CTRL" },
		{ MSR_GLOBAL_STATUS_SET, 4, "GLOBAL_STATUS_SET" },
		{ MSR_GLOBAL_INUSE, 4, "GLOBAL_INUSE" },
	};
	unsigned int i;
	u64 value;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		if (pmu.version >= rows[i].version)
			is(try_rdmsr(rows[i].msr, &value), 0, "%s: there", rows[i].name);
		else
			ok(faults(rows[i].msr), "%s: faults before version %u",
			   rows[i].name, rows[i].version);
	}
	if (pmu.pdcm)
		is(bits_taken(MSR_PERF_CAPABILITIES, 0), 0, "PERF_CAPABILITIES: read-only");
}

/* ---------------------------------------------------------------- status */

static void test_status_registers(void)
{
	u64 bits = status_bits();

	is(bits_taken(MSR_GLOBAL_STATUS, 0), 0, "GLOBAL_STATUS: read-only");
	is(bits_taken(MSR_GLOBAL_OVF_CTRL, bits), bits,
	   "model: GLOBAL_OVF_CTRL: bits that can be written");
	is(rdmsr(MSR_GLOBAL_OVF_CTRL), 0, "model: GLOBAL_OVF_CTRL: reads 0");
	if (pmu.version < 4)
		return;
	bits &= ~BIT(63);
	is(bits_taken(MSR_GLOBAL_STATUS_SET, bits), bits,
	   "GLOBAL_STATUS_SET: bits that can be written");
	wrmsr(MSR_GLOBAL_OVF_CTRL, status_bits());
	wrmsr(MSR_GLOBAL_STATUS_SET, bits);
	is(rdmsr(MSR_GLOBAL_STATUS), bits, "GLOBAL_STATUS_SET: sets them");
	wrmsr(MSR_GLOBAL_OVF_CTRL, BIT(0) | STATUS_CTR_FRZ);
	is(rdmsr(MSR_GLOBAL_STATUS), bits & ~(BIT(0) | STATUS_CTR_FRZ),
	   "GLOBAL_STATUS_RESET: clears only what is written");
	wrmsr(MSR_GLOBAL_OVF_CTRL, bits);
	is(rdmsr(MSR_GLOBAL_STATUS), 0, "GLOBAL_STATUS_RESET: clears all");
}

static void test_debugctl(void)
{
	bool freeze = pmu.pdcm && pmu.version >= 2;
	u64 value = 0;

	is(!try_wrmsr(MSR_DEBUGCTL, DEBUGCTL_FREEZE), freeze,
	   "DEBUGCTL: bit 12 with PDCM and version 2 only");
	try_rdmsr(MSR_DEBUGCTL, &value);
	is(value, freeze ? DEBUGCTL_FREEZE : 0, "DEBUGCTL: holds it");
	try_wrmsr(MSR_DEBUGCTL, 0);
	is(bits_taken(MSR_DEBUGCTL, BIT(1) | (freeze ? DEBUGCTL_FREEZE : 0)),
	   BIT(1) | (freeze ? DEBUGCTL_FREEZE : 0), "model: DEBUGCTL: bits that can be written");
	try_wrmsr(MSR_DEBUGCTL, 0);
}

/* ---------------------------------------------------------------- the lab's */

static void test_no_faults(void)
{
	u64 value;

	wrmsr(MSR_FAULT, 1);
	is(try_rdmsr(MSR_EVTSEL, &value), 0, "model: no fault if not configured so");
	is(rdmsr(MSR_FAULT), 0, "model: and no register that could make one");
}

/* What no CPU has, and QEMU does not know, it reads as 0. */
static void test_no_odometer(void)
{
	wrmsr(MSR_EVTSEL, 0);
	is(rdmsr(ODOMETER_OF(0) + ODOMETER_WRITES), 0,
	   "model: no odometer of writes if not configured so");
}

/* ---------------------------------------------------------------- INUSE */

static void test_inuse(void)
{
	u64 wrong = 0, wanted;
	unsigned int i;

	is(bits_taken(MSR_GLOBAL_INUSE, 0), 0, "GLOBAL_INUSE: read-only");
	for (i = 0; i < nr_all; i++) {
		quiet();
		/* an event is enough, enabled or not; for a fixed one a ring */
		program(&counters[i], EVENT_CYCLES | SEL_OS);
		if (rdmsr(MSR_GLOBAL_INUSE) != counters[i].bit)
			wrong |= counters[i].bit;
	}
	is(wrong, 0, "GLOBAL_INUSE: each counter's bit");
	wrong = 0;
	for (i = 0; i < nr_all; i++) {
		quiet();
		program(&counters[i], EVENT_CYCLES | SEL_OS | SEL_INT);
		wanted = counters[i].bit | BIT(63);
		if (rdmsr(MSR_GLOBAL_INUSE) != wanted)
			wrong |= counters[i].bit;
	}
	is(wrong, 0, "GLOBAL_INUSE: bit 63 for a PMI of each counter");
	quiet();
	wrmsr(MSR_EVTSEL, 0xff00 | SEL_EN | SEL_OS);
	is(rdmsr(MSR_GLOBAL_INUSE), 0, "GLOBAL_INUSE: a unit mask is no event");
	quiet();
}

/* ---------------------------------------------------------------- all */

static void test_no_registers(void)
{
	is_range(MSR_EVTSEL, 0, "EVTSEL");
	is_range(MSR_PMC, 0, "PMC");
	is_range(MSR_A_PMC, 0, "A_PMC");
	is(absent(MSR_FIXED_CTR, 0, 16), 0xffff, "FIXED_CTR0 to 15: the absent ones fault");
	is(absent(MSR_FIXED_CTR_CTRL, 0, 6), 0x3f, "the GLOBAL registers fault");
	ok(faults(MSR_PERF_CAPABILITIES), "PERF_CAPABILITIES: faults");
	is(try_wrmsr(MSR_DEBUGCTL, DEBUGCTL_FREEZE), VECTOR_GP, "DEBUGCTL: bit 12 faults");
}

/**
 * test_registers() - what can be written and what faults
 */
void test_registers(void)
{
	if (!pmu.version) {
		test_no_registers();
		return;
	}
	quiet();
	if (pmu.amd) {
		test_amd_registers();
		quiet();
		return;
	}
	test_plain_registers();
	test_legacy_writes();
	test_ranges();
	test_versions();
	test_debugctl();
	if (pmu.version >= 2)
		test_status_registers();
	if (pmu.version >= 4)
		test_inuse();
	if (!pmu.faults)
		test_no_faults();
	if (!pmu.odometer)
		test_no_odometer();
	if (!pmu.extra)
		test_no_extra();
	quiet();
}
