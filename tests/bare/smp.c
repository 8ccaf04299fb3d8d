// SPDX-License-Identifier: GPL-2.0
/* A PMU for each processor. */
#include "bare.h"

#define TURNS		1000000UL
#define PATIENCE	5000000000UL	/* of the TSC */

#define ICR_INIT	0xc4500		/* to all but self */
#define ICR_INIT_ONE	0x4500		/* to whom ICR_HIGH says */
/* Memory that nobody uses, below what real mode has of us. */
#define NMI_CODE	0x600UL
#define NMI_COUNT	0x700UL

#define ICR_STARTUP	(0xc4600 | LOW >> 12)

/* What the other processor is to do, and what it has to say of it. */
static u64 (*job)(void);
static u64 answer;
static u32 arrivals;

/**
 * ap_main() - where the other processor arrives, and waits for jobs
 */
void ap_main(void)
{
	arrivals++;
	for (;;) {
		asm volatile("pause" : : : "memory");
		if (!job)
			continue;
		answer = job();
		asm volatile("" : : : "memory");
		job = NULL;
	}
}

static void begin(u64 (*fn)(void))
{
	job = fn;
	asm volatile("" : : : "memory");
}

static u64 end(void)
{
	u64 start = rdtsc();

	while (job) {
		if (rdtsc() - start > PATIENCE)
			die("the other processor does not answer");
		asm volatile("pause" : : : "memory");
	}
	return answer;
}

static u64 there(u64 (*fn)(void))
{
	begin(fn);
	return end();
}

/* INIT, and up it comes again. */
static void start_other(void)
{
	u32 before = arrivals;
	u64 start = rdtsc();

	apic_write(APIC_SVR, APIC_SVR_ENABLE | VECTOR_SPURIOUS);
	apic_write(APIC_ICR_LOW, ICR_INIT);
	settle();
	apic_write(APIC_ICR_LOW, ICR_STARTUP);
	do {
		if (rdtsc() - start > PATIENCE)
			die("the other processor does not start");
		asm volatile("pause" : : : "memory");
	} while (arrivals == before);
}

/* ---------------------------------------------------------------- its jobs */

static u64 read_global_ctrl(void)
{
	return rdmsr(MSR_GLOBAL_CTRL);
}

static u64 read_lvtpc(void)
{
	return apic_read(APIC_LVTPC);
}

static u64 count_body(void)
{
	quiet();
	return count(&counters[0], instruction_select(&counters[0]), 0, in_kernel, body64);
}

static u64 count_spin(void)
{
	quiet();
	return count(&counters[0], instruction_select(&counters[0]), 0, spin, (void *)TURNS);
}

static u64 interrupt_self(void)
{
	quiet();
	pmi_arm(APIC_MODE_NMI);
	count(&counters[0], instruction_select(&counters[0]) | SEL_INT, -100UL,
	      in_kernel, body64);
	settle();
	return pmi.count;
}

static u64 leave_values(void)
{
	quiet();
	counter_write(&counters[0], 0x1234);
	wrmsr(MSR_EVTSEL, encode(EVENT_CYCLES | SEL_USR));
	if (pmu.extra)
		extra_fill();
	return 0;
}

static u64 read_select(void)
{
	return rdmsr(MSR_EVTSEL);
}

static u64 read_counter(void)
{
	return rdmsr(counters[0].msr);
}

static u64 count_rises(void)
{
	quiet();
	wrmsr(MSR_EVTSEL, encode(EVENT_CYCLES | SEL_OS | SEL_EDGE | SEL_CMASK(1) | SEL_EN));
	if (pmu.version >= 2)
		wrmsr(MSR_GLOBAL_CTRL, counters[0].bit);
	return 0;
}

static u64 until_overflow;

static void init_self(const void *unused)
{
	(void)unused;
	apic_write(APIC_ICR_HIGH, apic_read(APIC_ID));
	apic_write(APIC_ICR_LOW, ICR_INIT_ONE);
}

/* It does not come back from this. */
static u64 overflow_at_init(void)
{
	const struct counter *c = &counters[0];

	quiet();
	pmi_arm(APIC_MODE_NMI);
	count(c, instruction_select(c) | SEL_INT, -until_overflow, init_self, NULL);
	return 0;
}

/* ---------------------------------------------------------------- tests */

static void test_separate(void)
{
	const char *prefix = mark(!counts_exactly(&counters[0]));

	is(there(not_as_at_reset), 0, "the other CPU: counters and selects after reset");
	if (pmu.version >= 2)
		is(there(read_global_ctrl), pmu.generic | pmu.firmware,
		   "the other CPU: GLOBAL_CTRL after reset");
	is(count_body(), ALL_OF_BODY, "%sthis CPU counts", prefix);
	is(there(not_as_at_reset), 0, "the other CPU: untouched by it");
	is(there(count_body), ALL_OF_BODY, "%sthe other CPU counts", prefix);
	quiet();
	is(there(read_counter), ALL_OF_BODY, "the other CPU: keeps its count");
	if (pmu.extra) {
		extra_fill();
		is(there(extra_not_clear), 0, "the other CPU: has its own extra registers");
	}

	begin(count_spin);
	is(count_spin(), MEASURE_INSTRUCTIONS + 2 * TURNS, "%sthis CPU counts with the other",
	   prefix);
	is(end(), MEASURE_INSTRUCTIONS + 2 * TURNS, "%sthe other CPU counts with this", prefix);
}

static void test_interrupt(void)
{
	quiet();
	pmi_arm(APIC_MODE_NMI);
	is(there(interrupt_self), 1, "the other CPU: PMI");
	is(apic_read(APIC_LVTPC), APIC_MODE_NMI, "the other CPU: PMI is not this one's");
	is(there(read_lvtpc), APIC_MODE_NMI | (pmu.amd ? 0 : APIC_MASKED),
	   "the other CPU: whether PMI masks LVTPC");
	quiet();
}

static u64 spin_there(void)
{
	spin((void *)TURNS);
	return 0;
}

#define ACCESSES	3000
#define A_BLOCK		512	/* of QEMU's, at most */

/* Much more than a block is between two of them. */
static u64 access_often(void)
{
	unsigned int i;

	for (i = 0; i < ACCESSES; i++) {
		rdmsr(MSR_PMC);
		spin((void *)2000);
	}
	return 0;
}

/*
 * The other is read while it runs, and folds. Its odometer may be ahead by what is left
 * of a block, and then it comes back.
 */
static void test_odometer_there(void)
{
	const u32 msr = ODOMETER_OF(1);
	u64 before, now, reads, writes, backwards = 0;

	if (!pmu.odometer)
		return;
	reads = rdmsr(msr + ODOMETER_READS);
	before = rdmsr(msr);
	begin(access_often);
	while (job) {
		now = rdmsr(msr);
		backwards += now + A_BLOCK < before;
		before = now;
	}
	is(backwards, 0, "model: odometer: the other CPU's does not go backwards");
	is(rdmsr(msr + ODOMETER_READS) - reads, ACCESSES, "model: odometer: the other CPU's reads");
	before = rdmsr(msr);
	there(spin_there);
	ok(rdmsr(msr) - before > 2 * TURNS, "model: odometer: the other CPU's turns");
	is(rdmsr(ODOMETER_OF(0) + ODOMETER_USR), 0, "model: odometer: none of it in ring 3");
	writes = rdmsr(msr + ODOMETER_LVTPC);
	before = rdmsr(ODOMETER_OF(0) + ODOMETER_LVTPC);
	there(interrupt_self);
	is(rdmsr(msr + ODOMETER_LVTPC) - writes, 2, "model: odometer: the other CPU's LVTPC");
	is(rdmsr(ODOMETER_OF(0) + ODOMETER_LVTPC) - before, 0,
	   "model: odometer: the other CPU's LVTPC is not ours");
}

/* SDM, "IA-32 processor states following power-up, reset, or INIT" */
static void test_init(void)
{
	there(leave_values);
	start_other();
	is(there(read_counter), 0x1234, "INIT keeps counters");
	is(there(read_select), encode(EVENT_CYCLES | SEL_USR), "INIT keeps event selects");
	is(there(read_lvtpc), APIC_MASKED, "INIT masks LVTPC");
	if (pmu.extra)
		is(there(extra_not_filled), 0, "INIT keeps the extra registers");
	if (event_present(EVENT_CYCLES)) {
		there(count_rises);
		start_other();
		is(there(read_counter), 2, "model: EDGE, cycles: INIT ends the condition");
	}
}

/* The compiler knows nothing at such addresses. */
static void *memory(u64 address)
{
	asm("" : "+r" (address));
	return (void *)address;
}

/*
 * Whether the overflow comes before INIT, on the boundary where that is taken,
 * or behind it: a processor that waits for a SIPI takes no PMI. If it did, it
 * would be by the vectors of real mode, at 0.
 */
static void test_init_at_overflow(void)
{
	/* INC WORD [NMI_COUNT]; HLT; JMP to the HLT */
	static const u8 code[] = { 0xff, 0x06, NMI_COUNT & 0xff, NMI_COUNT >> 8,
				   0xf4, 0xeb, 0xfd };
	u16 *nmis = memory(NMI_COUNT);
	u32 *vectors = memory(0);
	u8 *handler = memory(NMI_CODE);
	unsigned int i;

	for (i = 0; i < sizeof(code); i++)
		handler[i] = code[i];
	vectors[VECTOR_NMI] = NMI_CODE;
	*nmis = 0;
	for (until_overflow = 1; until_overflow <= 40; until_overflow++) {
		begin(overflow_at_init);
		settle();
		settle();
		job = NULL;
		start_other();
	}
	is(*nmis, 0, "INIT around an overflow: no PMI while the CPU waits for SIPI");
	quiet();
}

/**
 * test_smp() - two processors, two PMUs
 */
void test_smp(void)
{
	if (pmu.acr)
		test_left_behind();
	start_other();
	test_separate();
	test_interrupt();
	test_odometer_there();
	test_init();
	test_init_at_overflow();
	/*
	 * Other code of QEMU's runs when there is another processor, even one
	 * that waits for ever.
	 */
	apic_write(APIC_ICR_LOW, ICR_INIT);
	test_work();
	if (!pmu.pmi_skid)
		test_boundaries();
	test_skid();
}
