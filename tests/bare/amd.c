// SPDX-License-Identifier: GPL-2.0
/*
 * What AMD's PMU has of its own (APM volume 2, "Performance Monitoring Counters"): CPUID,
 * registers that drop reserved bits, events that are no instructions, and counters that
 * are not the PMU's.
 */
#include "bare.h"

#define CPUID_PERFCTR_CORE	BIT(23)	/* leaf 80000001H, ECX */
#define CPUID_IRPERF		BIT(1)	/* leaf 80000008H, EBX */
#define CPUID_APERF		BIT(0)	/* leaf 6, ECX */
#define PMU_LEAF		0x80000022
#define FREEZE_FEATURE		BIT(2)

#define EFER_SVME		BIT(12)
#define HWCR_LOCK		BIT(27)

/* Of PERF_CTL those that are not reserved. */
#define CTL_BITS		(0x0000030fffdfffffUL & ~BIT(19))
#define STATUS_BITS		(pmu.generic | BIT(58) | BIT(59))

#define COUNTERS_KNOWN		15	/* that CPUID could speak of */

/* ---------------------------------------------------------------- CPUID */

/**
 * test_amd_cpuid() - what CPUID says about AMD's PMU
 */
void test_amd_cpuid(void)
{
	u32 eax, ebx, ecx, edx, last;

	cpuid(0x0a, &eax, &ebx, &ecx, &edx);
	is(eax | ebx | ecx | edx, 0, "CPUID.0AH: reserved");
	cpuid(0x80000000, &last, &ebx, &ecx, &edx);
	cpuid(0x80000001, &eax, &ebx, &ecx, &edx);
	is(!!(ecx & CPUID_PERFCTR_CORE), pmu.core, "CPUID.80000001H: six counters");
	cpuid(6, &eax, &ebx, &ecx, &edx);
	is(!!(ecx & CPUID_APERF), pmu.free_running, "CPUID.06H: APERF and MPERF");
	cpuid(0x80000008, &eax, &ebx, &ecx, &edx);
	is(!!(ebx & CPUID_IRPERF), pmu.free_running, "CPUID.80000008H: IRPERF");
	is(last >= PMU_LEAF, pmu.version >= 2,
	   "CPUID.80000000H: whether there is a leaf of the PMU");
	if (pmu.version < 2)
		return;
	cpuid(PMU_LEAF, &eax, &ebx, &ecx, &edx);
	is(eax, 1 | (pmu.freeze ? FREEZE_FEATURE : 0), "CPUID.80000022H: version, freezing");
	is(ebx, pmu.gp, "CPUID.80000022H: counters");
	is(ecx | edx, 0, "CPUID.80000022H: nothing else");
}

/* ---------------------------------------------------------------- registers */

/* What it holds once all ones were written, with no fault; 0 is there again then. */
static void drops(u32 msr, u64 bits, const char *name)
{
	u64 value = 0;

	is(try_wrmsr(msr, ~0UL), 0, "%s: no bit faults", name);
	try_rdmsr(msr, &value);
	is(value, bits, "%s: holds its bits, and no others", name);
	try_wrmsr(msr, 0);
}

static void test_counters_exist(void)
{
	u64 there = 0;
	unsigned int i;

	for (i = 0; i < COUNTERS_KNOWN; i++) {
		if (!faults(MSR_AMD_CTL + 2 * i) && !faults(MSR_AMD_CTR + 2 * i))
			there |= BIT(i);
	}
	is(there, pmu.core ? pmu.generic : 0, "PERF_CTL and PERF_CTR: those that are there");
	there = 0;
	for (i = 0; i < 4; i++) {
		if (!faults(MSR_AMD_LEGACY_CTL + i) && !faults(MSR_AMD_LEGACY_CTR + i))
			there |= BIT(i);
	}
	is(there, pmu.generic & 0xf, "the legacy four: those that are there");
}

/* Both addresses are of one register. */
static void test_aliases(void)
{
	unsigned int i;
	u64 wrong = 0;

	for (i = 0; i < 4; i++) {
		if (!(pmu.generic & BIT(i)))
			continue;
		wrmsr(MSR_AMD_LEGACY_CTL + i, 0x1200c0 + i);
		wrmsr(MSR_AMD_CTR + 2 * i, 0x800012345678UL + i);
		if (rdmsr(MSR_AMD_CTL + 2 * i) != 0x1200c0 + i ||
		    rdmsr(MSR_AMD_LEGACY_CTR + i) != 0x800012345678UL + i)
			wrong |= BIT(i);
		wrmsr(MSR_AMD_CTL + 2 * i, 0);
		wrmsr(MSR_AMD_LEGACY_CTR + i, 0);
	}
	is(wrong, 0, "the legacy four are the first four");
}

static void test_global(void)
{
	const u32 msrs[] = {
		0xc0000300, 0xc0000301, 0xc0000302, 0xc0000303,
	};
	unsigned int i;
	u64 wrong = 0;

	if (pmu.version < 2) {
		for (i = 0; i < ARRAY_SIZE(msrs); i++)
			wrong |= faults(msrs[i]) ? 0 : BIT(i);
		is(wrong, 0, "the global registers fault before version 2");
		return;
	}
	drops(MSR_GLOBAL_CTRL, pmu.generic, "PerfCntrGlobalCtl");
	is(try_wrmsr(MSR_GLOBAL_STATUS, ~0UL), 0, "PerfCntrGlobalStatus: a write does not fault");
	is(rdmsr(MSR_GLOBAL_STATUS), 0, "PerfCntrGlobalStatus: and does nothing");
	is(try_wrmsr(MSR_GLOBAL_STATUS_SET, ~0UL), 0, "PerfCntrGlobalStatusSet: no bit faults");
	is(rdmsr(MSR_GLOBAL_STATUS), STATUS_BITS, "PerfCntrGlobalStatusSet: sets");
	wrmsr(MSR_GLOBAL_OVF_CTRL, BIT(0) | BIT(59));
	is(rdmsr(MSR_GLOBAL_STATUS), STATUS_BITS & ~(BIT(0) | BIT(59)),
	   "PerfCntrGlobalStatusClr: clears what is written");
	is(try_wrmsr(MSR_GLOBAL_OVF_CTRL, ~0UL), 0, "PerfCntrGlobalStatusClr: no bit faults");
	is(rdmsr(MSR_GLOBAL_STATUS), 0, "PerfCntrGlobalStatusClr: clears all");
	is(rdmsr(MSR_GLOBAL_OVF_CTRL) | rdmsr(MSR_GLOBAL_STATUS_SET), 0,
	   "model: PerfCntrGlobalStatusClr and Set read 0");
}

/* What is set in status does not interrupt. */
static void test_set_does_not_interrupt(void)
{
	pmi_arm(APIC_MODE_NMI);
	program(&counters[0], EVENT_INSTRUCTIONS | SEL_USR | SEL_INT);
	wrmsr(MSR_GLOBAL_STATUS_SET, BIT(0));
	settle();
	is(pmi.count, 0, "PerfCntrGlobalStatusSet: no PMI");
	quiet();
}

static void test_not_configured(void)
{
	u64 value = 1;

	if (!pmu.faults) {
		wrmsr(MSR_FAULT, 1);
		is(try_rdmsr(MSR_EVTSEL, &value), 0, "model: no fault if not configured so");
	}
	if (!pmu.odometer) {
		wrmsr(MSR_EVTSEL, 0);
		is(rdmsr(ODOMETER_OF(0) + ODOMETER_WRITES), 0,
		   "model: no odometer of writes if not configured so");
	}
	if (!pmu.free_running) {
		try_rdmsr(MSR_APERF, &value);
		is(value, 0, "model: no APERF if not configured so");
	}
}

/**
 * test_amd_registers() - what can be written and what faults
 */
void test_amd_registers(void)
{
	drops(MSR_EVTSEL, CTL_BITS, "PERF_CTL0");
	drops(evtsel_msr(last_generic()), CTL_BITS, "the last PERF_CTL");
	drops(MSR_PMC, LOW_BITS(48), "PERF_CTR0");
	drops(pmc_msr(last_generic()), LOW_BITS(48), "the last PERF_CTR");
	drops(MSR_DEBUGCTL, BIT(1) | (pmu.freeze ? DEBUGCTL_FREEZE : 0), "model: DebugCtl");
	test_counters_exist();
	if (pmu.core)
		test_aliases();
	test_global();
	if (pmu.version >= 2)
		test_set_does_not_interrupt();
	test_not_configured();
}

/* ---------------------------------------------------------------- events */

static u64 events_of(u64 event, void (*enter)(const void *fn), const char *title)
{
	const void *fn = title ? find_work(title)->fn : empty64;

	return count(&counters[0], event | SEL_OS | SEL_USR, 0, enter, fn);
}

static void test_far(void)
{
	static const struct {
		const char *title;
		u32 far;
	} rows[] = {
		{ "100 NOPs", 0 },
		{ "IRET to the same ring", 1 },
		{ "far JMP and far RET", 2 },
		{ "far CALL and far RET", 2 },
		{ "INT n and IRET", 2 },
		{ "UD2 is not counted", 2 },
		{ "HLT and the interrupt", 2 },
	};
	u64 none = events_of(AMD_FAR, in_kernel, NULL);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		is(events_of(AMD_FAR, in_kernel, rows[i].title) - none, rows[i].far,
		   "far transfers: %s", rows[i].title);
	is(count(&counters[0], AMD_FAR | SEL_OS, 0, in_kernel, body64) -
	   count(&counters[0], AMD_FAR | SEL_OS, 0, in_kernel, empty64), 0,
	   "far transfers: none of the near branches");
}

static void test_interrupts_taken(void)
{
	u64 none = events_of(AMD_INTERRUPTS, in_kernel, NULL);

	is(events_of(AMD_INTERRUPTS, in_kernel, "HLT and the interrupt") - none, 1,
	   "interrupts taken: one that ends HLT");
	is(events_of(AMD_INTERRUPTS, in_kernel, "UD2 is not counted") - none, 0,
	   "interrupts taken: an exception is none");
	is(events_of(AMD_INTERRUPTS, in_kernel, "INT n and IRET") - none, 0,
	   "interrupts taken: INT n is none");
}

/* No instruction retires with it that would show the overflow. */
static void test_delivery_overflows(void)
{
	const struct counter *c = &counters[0];

	quiet();
	pmi_arm(APIC_MODE_NMI);
	is(count(c, AMD_INTERRUPTS | SEL_OS | SEL_INT, -1UL, in_kernel,
		 find_work("HLT and the interrupt")->fn), 1,
	   "an interrupt overflows a counter of them, and the PMI is the next");
	settle();
	is(pmi.count, 1, "an interrupt overflows a counter of them: PMI");
	if (pmu.version >= 2)
		is(rdmsr(MSR_GLOBAL_STATUS), c->bit,
		   "an interrupt overflows a counter of them: PerfCntrGlobalStatus");
	quiet();
}

/* The number of the event has twelve bits, and the unit mask is its own. */
static void test_event_field(void)
{
	is(events_of(AMD_REF_CYCLES & ~0xff00UL, in_kernel, "100 NOPs"), 0,
	   "event 120H with another unit mask counts nothing");
	is(events_of(BIT(32) | AMD_INSTRUCTIONS, in_kernel, "100 NOPs"), 0,
	   "event 1C0H is not 0C0H");
	is(events_of(AMD_FLOW + 1, in_kernel, "100 NOPs"), 0, "model: event 0C3H counts nothing");
}

static void test_worlds(void)
{
	static const struct {
		const char *name;
		u64 select;
		bool without_svme;
		bool with_svme;
	} rows[] = {
		{ "neither", 0, true, true },
		{ "Guest", AMD_GUEST, false, false },
		{ "Host", AMD_HOST, false, true },
		{ "both", AMD_GUEST | AMD_HOST, false, true },
	};
	u64 efer = rdmsr(MSR_EFER);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		is(events_of(AMD_INSTRUCTIONS | rows[i].select, in_kernel, "100 NOPs") > 100,
		   rows[i].without_svme, "%s, EFER.SVME=0", rows[i].name);
	wrmsr(MSR_EFER, efer | EFER_SVME);
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		is(events_of(AMD_INSTRUCTIONS | rows[i].select, in_kernel, "100 NOPs") > 100,
		   rows[i].with_svme, "%s, EFER.SVME=1", rows[i].name);
	wrmsr(MSR_EFER, efer);
	is(rdmsr(MSR_EFER), efer, "EFER is as before");
}

/* WRMSR to EFER lets a counter run as a write of its own select does. */
static void test_svme_starts(void)
{
	const struct counter *c = &counters[0];
	u64 efer = rdmsr(MSR_EFER);
	struct run run = { MSR_EFER, efer | EFER_SVME, efer };

	quiet();
	wrmsr(MSR_EVTSEL, AMD_INSTRUCTIONS | SEL_OS | SEL_EN | AMD_HOST);
	if (pmu.version >= 2)
		wrmsr(MSR_GLOBAL_CTRL, c->bit);
	measure(&run, in_kernel, body64);
	is(rdmsr(c->msr), ALL_OF_BODY, "EFER.SVME starts and stops a counter with Host");
	quiet();
}

/* ---------------------------------------------------------------- a guest */

/* Of a VMCB (APM2, appendix B); the state begins at 400H. */
#define VMCB_INTERCEPT_4	0x010	/* VMRUN, VMMCALL */
#define VMCB_ASID		0x058
#define VMCB_EXITCODE		0x070
#define VMCB_SEGMENT(n)		(0x400 + 0x10 * (n))	/* ES CS SS DS FS GS GDTR LDTR IDTR TR */
#define VMCB_EFER		0x4d0
#define VMCB_CR4		0x548
#define VMCB_CR3		0x550
#define VMCB_CR0		0x558
#define VMCB_RFLAGS		0x570
#define VMCB_RIP		0x578
#define VMCB_RSP		0x5d8
#define EXIT_VMMCALL		0x81
#define VMRUN_CALL_RET		3

static u8 vmcb[4096] __attribute((aligned(4096)));
static u8 host_save[4096] __attribute((aligned(4096)));
static u8 guest_stack[4096] __attribute((aligned(16)));

static u64 *vmcb_field(unsigned int offset)
{
	return (u64 *)(vmcb + offset);
}

/* Selector, attributes, limit; the base is 0. */
static void set_segment(unsigned int n, u16 selector, u16 attributes)
{
	*vmcb_field(VMCB_SEGMENT(n)) = 0xffffffffUL << 32 | (u64)attributes << 16 | selector;
}

/* It shares our memory, and intercepts nothing but its end. */
static void set_guest_up(void)
{
	u64 cr;

	*vmcb_field(VMCB_INTERCEPT_4) = BIT(0) | BIT(1);
	*(u32 *)(vmcb + VMCB_ASID) = 1;
	set_segment(1, KERNEL_CS, 0x29b);
	set_segment(2, KERNEL_DS, 0xc93);
	set_segment(3, KERNEL_DS, 0xc93);
	*vmcb_field(VMCB_EFER) = rdmsr(MSR_EFER);
	asm volatile("mov %%cr0, %0" : "=r"(cr));
	*vmcb_field(VMCB_CR0) = cr;
	asm volatile("mov %%cr3, %0" : "=r"(cr));
	*vmcb_field(VMCB_CR3) = cr;
	*vmcb_field(VMCB_CR4) = read_cr4();
	*vmcb_field(VMCB_RFLAGS) = 2;
}

static u64 guest_events(u64 select)
{
	*vmcb_field(VMCB_RIP) = (u64)vm_guest;
	*vmcb_field(VMCB_RSP) = (u64)(guest_stack + sizeof(guest_stack));
	return count(&counters[0], select | SEL_OS, 0, vm_enter, vmcb);
}

static void test_guest(void)
{
	u64 efer = rdmsr(MSR_EFER), all, guest, host;

	wrmsr(MSR_EFER, efer | EFER_SVME);
	wrmsr(MSR_AMD_VM_HSAVE_PA, (u64)host_save);
	set_guest_up();
	all = guest_events(AMD_INSTRUCTIONS);
	is(*vmcb_field(VMCB_EXITCODE), EXIT_VMMCALL, "a guest ends with VMMCALL");
	guest = guest_events(AMD_INSTRUCTIONS | AMD_GUEST);
	host = guest_events(AMD_INSTRUCTIONS | AMD_HOST);
	is(guest, BODY_INSTRUCTIONS + VMRUN_CALL_RET, "Guest counts a guest, and VMRUN");
	is(host, all - guest, "Host counts the rest");
	is(guest_events(AMD_INSTRUCTIONS | AMD_HOST | AMD_GUEST), all, "both count all");
	is(guest_events(AMD_FLOW | AMD_GUEST), BODY_BRANCHES + 2, "Guest, branches");
	wrmsr(MSR_EFER, efer);
}

/**
 * test_amd_events() - what AMD counts, and Intel does not
 */
void test_amd_events(void)
{
	quiet();
	set_work_traps(true);
	test_far();
	test_interrupts_taken();
	set_work_traps(false);
	test_delivery_overflows();
	test_event_field();
	test_worlds();
	test_svme_starts();
	test_guest();
	quiet();
}

/* ---------------------------------------------------------------- free-running */

/**
 * test_amd_free_running() - IRPERF, APERF and MPERF
 */
void test_amd_free_running(void)
{
	u64 aperf = rdmsr(MSR_APERF), mperf = rdmsr(MSR_MPERF), value;

	spin((void *)1000);
	ok(rdmsr(MSR_APERF) - aperf >= 2000, "APERF counts");
	ok(rdmsr(MSR_MPERF) - mperf >= 2000, "MPERF counts");
	wrmsr(MSR_APERF, 0x1000);
	aperf = rdmsr(MSR_APERF);
	value = rdmsr(MSR_AMD_APERF_RO);
	ok(aperf - 0x1000 < 100, "APERF can be set");
	ok(value - aperf < 100, "APERF can be read at its other address");
	is(try_wrmsr(MSR_AMD_APERF_RO, 0), VECTOR_GP, "APERF: not written there");
	is(try_wrmsr(MSR_AMD_MPERF_RO, 0), VECTOR_GP, "MPERF: not written at its other address");
	value = rdmsr(MSR_AMD_IRPERF);
	spin((void *)1000);
	is(rdmsr(MSR_AMD_IRPERF), value, "IRPERF stands still without HWCR[30]");
	wrmsr(MSR_AMD_HWCR, HWCR_IRPERF);
	value = rdmsr(MSR_AMD_IRPERF);
	spin((void *)1000);
	ok(rdmsr(MSR_AMD_IRPERF) - value >= 2000, "IRPERF counts with HWCR[30]");
	wrmsr(MSR_AMD_HWCR, HWCR_IRPERF | HWCR_LOCK);
	is(try_rdmsr(MSR_AMD_IRPERF, &value), VECTOR_GP, "IRPERF faults with HWCR[27]");
	wrmsr(MSR_AMD_HWCR, 0);
}
