// SPDX-License-Identifier: GPL-2.0
/*
 * PMIs that come some instructions after the overflow, in the lab: how many these are,
 * that all of them count, whatever the counters do, and what happens meanwhile. Where
 * PMIs are not late the same is true of 0 instructions.
 */
#include "bare.h"

/* Instructions that count before the routine: measure()'s WRMSR and CALL; in_kernel()'s JMP */
#define BEFORE		2
#define BEFORE_JUMP	3

#define LVTPC_NMI	APIC_MODE_NMI
#define LVTPC_MASKED	(APIC_MODE_NMI | APIC_MASKED)

/**
 * held_back() - where the PMI of an overflow comes
 * @at: the instruction behind the overflow
 * @sled: the NOPs behind that
 *
 * Return: the address
 */
u64 held_back(const char *at, const char *sled)
{
	return pmu.pmi_skid ? (u64)sled + pmu.pmi_skid - 1 : (u64)at;
}

static u64 in_ring_3(const struct counter *c)
{
	return (instruction_select(c) & ~SEL_OS) | SEL_USR;
}

static void arm(u32 lvtpc)
{
	quiet();
	pmi_arm(lvtpc);
}

/* ---------------------------------------------------------------- where it comes */

static void test_places(const struct counter *c)
{
	const u64 select_msr = c->fixed ? MSR_FIXED_CTR_CTRL : evtsel_msr(c->index);
	const u64 ctrl_msr = pmu.version >= 2 ? MSR_GLOBAL_CTRL : select_msr;
	const u64 clear_bit = pmu.version >= 2 && !c->fixed ?
			      MSR_GLOBAL_OVF_CTRL | c->bit << 32 : select_msr;
	const struct {
		const char *name;
		u64 select;
		u32 n;		/* events to the overflow */
		void (*fn)(const void *a);
		const void *a;
		const char *at, *sled;
		u32 ring;	/* in which it comes, if it is late, and */
		u32 ring_at;	/* if it is not */
	} rows[] = {
		{ "in ring 0", SEL_OS, BEFORE_JUMP, in_kernel, sled_nop_at,
		  sled_nop_at, sled_nop, 0, 0 },
		{ "while all counters are stopped", SEL_OS, BEFORE + 4, sled_wrmsr,
		  (void *)ctrl_msr, sled_wrmsr_at, sled_wrmsr_done, 0, 0 },
		{ "though it shall not interrupt any more", SEL_OS, BEFORE + 4, sled_wrmsr,
		  (void *)select_msr, sled_wrmsr_at, sled_wrmsr_done, 0, 0 },
		{ "though its overflow is cleared", SEL_OS, BEFORE + 4, sled_wrmsr,
		  (void *)clear_bit, sled_wrmsr_at, sled_wrmsr_done, 0, 0 },
		{ "REP is one instruction", SEL_OS, BEFORE_JUMP + 2, in_kernel, sled_rep,
		  sled_rep_at, sled_rep_done, 0, 0 },
		{ "of ring 0 in ring 3", SEL_OS, BEFORE + IN_USER_INSTRUCTIONS, in_user, sled_nop,
		  user64, sled_nop, 3, 3 },
		{ "of ring 3 after an INT n", SEL_USR, 2, in_user, sled_int,
		  skip_entry, sled_int_done, 3, 0 },
	};
	u64 select;
	u32 i, ring;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		select = (instruction_select(c) & ~SEL_OS) | rows[i].select;
		ring = pmu.pmi_skid ? rows[i].ring : rows[i].ring_at;
		arm(LVTPC_NMI);
		count(c, select | SEL_INT, -(u64)rows[i].n, rows[i].fn, rows[i].a);
		is(pmi.rip, held_back(rows[i].at, rows[i].sled),
		   "model: PMI of %s, %u late: %s: where", counter_name(c), pmu.pmi_skid,
		   rows[i].name);
		is(pmi.cs & 3, ring, "model: PMI of %s, %u late: %s: ring", counter_name(c),
		   pmu.pmi_skid, rows[i].name);
		settle();
		is(pmi.count, 1, "model: PMI of %s, %u late: %s: one", counter_name(c),
		   pmu.pmi_skid, rows[i].name);
	}
}

/* Blocks of QEMU's are of 512 instructions at most. */
static void test_everywhere(const struct counter *c)
{
	u64 n;

	for (n = 0; n < 1100; n += 7) {
		arm(LVTPC_NMI);
		count(c, instruction_select(c) | SEL_INT, -(BEFORE_JUMP + n), in_kernel, sled_nop);
		if (pmi.rip != (u64)sled_nop + n + pmu.pmi_skid)
			break;
	}
	if (!ok(n >= 1100, "model: PMI of %s, %u late: wherever it overflows", counter_name(c),
		pmu.pmi_skid))
		say("#   with an overflow %lu instructions on, it interrupts %lx\n", n, pmi.rip);
}

/* ---------------------------------------------------------------- what is seen meanwhile */

static u64 status_then;
static u32 pmis_then;

static void look(const void *unused)
{
	(void)unused;
	pmis_then = pmi.count;
	status_then = rdmsr(MSR_GLOBAL_STATUS);
}

/* CALL overflows; look() is shorter than that. */
static void test_status(const struct counter *c)
{
	arm(LVTPC_NMI);
	count(c, instruction_select(c) | SEL_INT, -(u64)BEFORE, look, NULL);
	is(status_then, c->bit, "GLOBAL_STATUS after an overflow: at once");
	if (pmu.pmi_skid > 20)
		is(pmis_then, 0, "model: GLOBAL_STATUS after an overflow: before the PMI");
	settle();
	is(pmi.count, 1, "GLOBAL_STATUS after an overflow: and a PMI");
}

/* It is dropped if LVTPC is masked when it comes; when the overflow comes does not matter. */
static void test_lvtpc(const struct counter *c)
{
	static const struct {
		const char *name;
		u32 before, after;	/* the instruction behind the overflow */
	} rows[] = {
		{ "unmasked", LVTPC_NMI, LVTPC_NMI },
		{ "masked", LVTPC_MASKED, LVTPC_MASKED },
		{ "masked behind the overflow", LVTPC_NMI, LVTPC_MASKED },
		{ "unmasked behind the overflow", LVTPC_MASKED, LVTPC_NMI },
	};
	u32 i, lvtpc;
	u64 comes;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		arm(rows[i].before);
		count(c, instruction_select(c) | SEL_INT, -(u64)(BEFORE + 1), sled_lvtpc,
		      (void *)(u64)rows[i].after);
		settle();
		apic_write(APIC_LVTPC, LVTPC_NMI);
		settle();
		lvtpc = pmu.pmi_skid ? rows[i].after : rows[i].before;
		comes = lvtpc == LVTPC_NMI;
		is(pmi.count, comes, "model: PMI, %u late, LVTPC is %s: how many", pmu.pmi_skid,
		   rows[i].name);
		is(pmi.rip, comes ? held_back(sled_lvtpc_at, sled_lvtpc_written) : 0,
		   "model: PMI, %u late, LVTPC is %s: where", pmu.pmi_skid, rows[i].name);
	}
}

/* ---------------------------------------------------------------- several overflows */

#define FIRST	11	/* instruction of ring 3 that overflows, counting CALL */

/*
 * Another counter overflows so many instructions later. The handler unmasks LVTPC, so that
 * two PMIs would come.
 */
static void test_join(const struct counter *c, const struct counter *other, u32 later)
{
	struct run run = run_of(c->bit | other->bit, 0);
	bool joins = later <= pmu.pmi_skid;
	u32 late = joins ? pmu.pmi_skid : later + pmu.pmi_skid;

	arm(LVTPC_NMI);
	nmi_msr = (struct nmi_msr) { MSR_GLOBAL_CTRL, c->bit | other->bit };
	program(c, in_ring_3(c) | SEL_INT);
	program(other, in_ring_3(other) | SEL_INT);
	counter_write(c, -(u64)FIRST);
	counter_write(other, -(u64)(FIRST + later));
	measure(&run, in_user, sled_nop);
	is(pmi.rip, (u64)sled_nop + FIRST - 1 + late,
	   "model: PMI, %u late, of an overflow %u after another: where", pmu.pmi_skid, later);
	settle();
	is(pmi.count, joins ? 1 : 2,
	   "model: PMI, %u late, of an overflow %u after another: how many", pmu.pmi_skid, later);
	is(rdmsr(MSR_GLOBAL_STATUS), c->bit | other->bit,
	   "model: PMI, %u late, of an overflow %u after another: GLOBAL_STATUS", pmu.pmi_skid,
	   later);
}

static void test_joins(void)
{
	const struct counter *c = &counters[0], *other = &counters[nr_counters - 1];
	const u32 later[] = { 1, pmu.pmi_skid / 2, pmu.pmi_skid, pmu.pmi_skid + 1 };
	u32 i;

	set_gate(VECTOR_NMI, nmi_write_entry);
	for (i = 0; i < ARRAY_SIZE(later); i++) {
		if (later[i])
			test_join(c, other, later[i]);
	}
	set_gate(VECTOR_NMI, nmi_entry);
}

/* ---------------------------------------------------------------- freezing */

/* Of ring 3, with its CALL and INT. */
static u64 count_all(const struct counter *c)
{
	quiet();
	return count(c, in_ring_3(c), 0, in_user, sled_nop);
}

/*
 * The handler resumes counting. What another counter lacks then are the instructions from
 * the overflow to the PMI.
 */
static void test_lost(const struct counter *c, const struct counter *other, bool freeze)
{
	const char *name = freeze ? "with freezing" : "without freezing";
	struct run run = run_of(c->bit | other->bit, 0);
	u64 all = count_all(other), lost = freeze ? pmu.pmi_skid : 0;

	arm(LVTPC_NMI);
	nmi_msr = (struct nmi_msr) { MSR_GLOBAL_CTRL, c->bit | other->bit };
	if (pmu.streamlined)
		nmi_msr = (struct nmi_msr) { MSR_GLOBAL_OVF_CTRL, c->bit | STATUS_CTR_FRZ };
	program(c, in_ring_3(c) | SEL_INT);
	program(other, in_ring_3(other));
	counter_write(c, -(u64)FIRST);
	wrmsr(MSR_DEBUGCTL, freeze ? DEBUGCTL_FREEZE : 0);
	measure(&run, in_user, sled_nop);
	is(pmi.count, 1, "model: PMI, %u late, of %s, %s: one", pmu.pmi_skid, counter_name(c),
	   name);
	is(all - rdmsr(other->msr), lost, "model: PMI, %u late, of %s, %s: what %s loses",
	   pmu.pmi_skid, counter_name(c), name, counter_name(other));
	is(all - FIRST - rdmsr(c->msr), lost, "model: PMI, %u late, of %s, %s: what it loses",
	   pmu.pmi_skid, counter_name(c), name);
}

static void test_losses(void)
{
	const struct counter *c = &counters[0], *last = &counters[nr_counters - 1];

	set_gate(VECTOR_NMI, nmi_write_entry);
	test_lost(c, last, false);
	test_lost(c, last, true);
	test_lost(last, c, false);
	test_lost(last, c, true);
	set_gate(VECTOR_NMI, nmi_entry);
}

/* ---------------------------------------------------------------- HLT */

/* The overflow comes two instructions before HLT, behind which there are none for long. */
static void test_hlt(const struct counter *c)
{
	hlt_ticks = HLT_TICKS_LONG;
	arm(LVTPC_NMI);
	count(c, instruction_select(c) | SEL_INT, -(u64)(BEFORE_JUMP + HLT_INSTRUCTION - 2),
	      in_kernel, halting_work()->fn);
	ok(apic_read(APIC_TMCCT), "model: PMI, %u late, before HLT: ends it", pmu.pmi_skid);
	apic_write(APIC_TMICT, 0);
	is(pmi.rip, (u64)hlt_next, "model: PMI, %u late, before HLT: behind it", pmu.pmi_skid);
	settle();
	is(pmi.count, 1, "model: PMI, %u late, before HLT: one", pmu.pmi_skid);
	hlt_ticks = 100000;
}

/**
 * test_skid() - PMIs that are late
 */
void test_skid(void)
{
	const struct counter *c = &counters[0], *last = &counters[nr_counters - 1];

	if (pmu.pmi_skid > SKID_MAX)
		die("a PMI that is later than these tests can tell");
	test_places(c);
	if (last->fixed)
		test_places(last);
	test_everywhere(c);
	test_lvtpc(c);
	if (pmu.version >= 2)
		test_status(c);
	if (pmu.version >= 2 && nr_counters > 1)
		test_joins();
	if (pmu.freeze && nr_counters > 1)
		test_losses();
	if (pmu.pmi_skid > 2)
		test_hlt(c);
	quiet();
}
