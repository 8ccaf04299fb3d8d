// SPDX-License-Identifier: GPL-2.0
/* The lab's odometers: what a CPU has done, whatever its counters do. */
#include "bare.h"

/*
 * How far one of CPU 0, which these tests run on, goes while fn does it; on the way the
 * same instructions of ours each time, so there is one copy of it.
 */
static noinline __noclone u64 distance(unsigned int which, void (*fn)(const void *a),
				       const void *a)
{
	u64 before = rdmsr(ODOMETER_OF(0) + which);

	fn(a);
	return rdmsr(ODOMETER_OF(0) + which) - before;
}

static u64 further(unsigned int which, void (*enter)(const void *fn))
{
	return distance(which, enter, body64) - distance(which, enter, empty64);
}

static void test_instructions(const char *when)
{
	is(further(ODOMETER_OS, in_kernel), BODY_INSTRUCTIONS,
	   "model: odometer: %s: ring 0", when);
	is(further(ODOMETER_USR, in_kernel), 0, "model: odometer: %s: not for ring 3", when);
	is(further(ODOMETER_USR, in_user), BODY_INSTRUCTIONS,
	   "model: odometer: %s: ring 3", when);
	is(further(ODOMETER_OS, in_user), 0, "model: odometer: %s: not for ring 0", when);
}

static void access_pmu(const void *unused)
{
	u64 value;

	(void)unused;
	wrmsr(MSR_EVTSEL, 0);
	wrmsr(MSR_PMC, 1);
	wrmsr(MSR_PMC, 0);
	rdmsr(MSR_PMC);
	try_rdpmc(0, &value);
	try_rdpmc(0, &value);
	rdtsc();
	rdtsc();
	rdtsc();
}

/* Neither what faults, nor what is not the PMU's, nor the lab's own. */
static void access_others(const void *unused)
{
	u64 value;

	(void)unused;
	if (!pmu.amd)
		try_wrmsr(MSR_EVTSEL, BIT(32));
	try_rdpmc(RDPMC_FAST, &value);
	rdmsr(MSR_MISC_ENABLE);
	rdmsr(ODOMETER_OF(0));
}

static void write_lvtpc(const void *unused)
{
	(void)unused;
	apic_write(APIC_LVTPC, APIC_MASKED);
	apic_write(APIC_LVTPC, APIC_MODE_NMI | APIC_MASKED);
}

/* An entry beside it, a write that is too short to be one, a read, and a PMI, which masks it. */
static void leave_lvtpc(const void *unused)
{
	const struct counter *c = &counters[0];

	(void)unused;
	apic_write(APIC_LVT_THERMAL, APIC_MASKED);
	apic_write(APIC_LVT_LINT0, APIC_MASKED);
	asm volatile("movb $0, (%0)" : : "r"((u64)APIC + APIC_LVTPC) : "memory");
	apic_read(APIC_LVTPC);
	count(c, instruction_select(c) | SEL_INT, -100UL, in_kernel, body64);
	settle();
}

static void write_lvtpc_msr(const void *unused)
{
	(void)unused;
	wrmsr(MSR_X2APIC_LVTPC - 1, APIC_MASKED);
	wrmsr(MSR_X2APIC_LVTPC, APIC_MASKED);
	rdmsr(MSR_X2APIC_LVTPC);
}

/* Not all versions of QEMU have it. The way back leads through an APIC that is disabled. */
static void test_x2apic(void)
{
	u64 base = rdmsr(MSR_APIC_BASE);
	u32 eax, ebx, ecx, edx;

	cpuid(1, &eax, &ebx, &ecx, &edx);
	if (!(ecx & CPUID_X2APIC))
		return;
	wrmsr(MSR_APIC_BASE, base | APIC_BASE_X2APIC);
	is(distance(ODOMETER_LVTPC, write_lvtpc_msr, NULL), 1,
	   "model: odometer: LVTPC in x2APIC mode");
	is(distance(ODOMETER_WRITES, write_lvtpc_msr, NULL), 0,
	   "model: odometer: LVTPC in x2APIC mode is no register of the PMU");
	wrmsr(MSR_APIC_BASE, base & ~APIC_BASE_ENABLE);
	wrmsr(MSR_APIC_BASE, base);
}

static void test_lvtpc(void)
{
	is(distance(ODOMETER_LVTPC, write_lvtpc, NULL), 2, "model: odometer: LVTPC");
	is(distance(ODOMETER_WRITES, write_lvtpc, NULL), 0,
	   "model: odometer: LVTPC is no register of the PMU");
	quiet();
	pmi_arm(APIC_MODE_NMI);
	is(distance(ODOMETER_LVTPC, leave_lvtpc, NULL), 0, "model: odometer: no write of LVTPC");
	is(pmi.count, 1, "model: odometer: no write of LVTPC, but a PMI");
	quiet();
}

static void test_accesses(void)
{
	is(distance(ODOMETER_WRITES, access_pmu, NULL), 3, "model: odometer: writes");
	is(distance(ODOMETER_READS, access_pmu, NULL), 1, "model: odometer: reads");
	is(distance(ODOMETER_RDPMC, access_pmu, NULL), 2, "model: odometer: RDPMC");
	is(distance(ODOMETER_RDTSC, access_pmu, NULL), 3, "model: odometer: RDTSC");
	is(distance(ODOMETER_WRITES, access_others, NULL), 0, "model: odometer: no writes");
	is(distance(ODOMETER_READS, access_others, NULL), 0, "model: odometer: no reads");
	is(distance(ODOMETER_RDPMC, access_others, NULL), 0, "model: odometer: no RDPMC");
	is(distance(ODOMETER_RDTSC, access_others, NULL), 0, "model: odometer: no RDTSC");
}

/* Counting is the same with and without. */
static void test_beside_counters(void)
{
	const struct counter *c = counter_for(EVENT_INSTRUCTIONS);
	u64 before = rdmsr(ODOMETER_OF(0)), counted;

	if (!c)
		return;
	counted = count(c, instruction_select(c), 0, spin, (void *)10000);
	is(counted, MEASURE_INSTRUCTIONS + 20000, "model: odometer: a counter beside it");
	ok(rdmsr(ODOMETER_OF(0)) - before > counted, "model: odometer: goes farther");
	program(c, instruction_select(c));
	if (pmu.version >= 2)
		wrmsr(MSR_GLOBAL_CTRL, c->bit);
	test_instructions("while a counter counts");
	quiet();
}

/**
 * test_odometer() - instructions and accesses of a CPU, and its writes of LVTPC
 */
void test_odometer(void)
{
	u64 value;

	quiet();
	is(try_wrmsr(ODOMETER_OF(0), 0), VECTOR_GP, "model: odometer: cannot be set");
	is(try_rdmsr(ODOMETER_OF(1), &value), VECTOR_GP, "model: odometer: not without a CPU");
	test_instructions("while nothing counts");
	test_accesses();
	test_x2apic();
	test_lvtpc();
	test_beside_counters();
}
