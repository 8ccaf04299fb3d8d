// SPDX-License-Identifier: GPL-2.0
/*
 * What the model promises beyond the architecture: a PMI comes on the very
 * boundary behind the instruction that overflowed the counter.
 */
#include "bare.h"

/* The WRMSR, CALL and JMP that retire before work begins. */
#define BEFORE_WORK	3

/* Overflow after n events, and where that interrupts. */
static u64 interrupted(const struct counter *c, u64 select, u64 n,
		       void (*fn)(const void *a), const void *a)
{
	quiet();
	pmi_arm(APIC_MODE_NMI);
	count(c, select | SEL_INT, -n, fn, a);
	return pmi.rip;
}

/* ---------------------------------------------------------------- the path */

/*
 * Where single-stepping stops on the path, from its first instruction on.  A
 * REP instruction traps behind each iteration but retires once.
 */
static u32 trace_path(void)
{
	u32 i, n = 0;

	trace_length = 0;
	set_gate(VECTOR_DB, step_entry);
	single_step(path);
	set_trap(VECTOR_DB);
	for (i = 0; i < trace_length; i++) {
		if ((trace[i] < (u64)path || trace[i] >= (u64)path_end) &&
		    trace[i] != (u64)lret_only)
			break;
		if (!n || trace[n - 1] != trace[i])
			trace[n++] = trace[i];
	}
	return n;
}

static void is_on_every_boundary(const struct counter *c, u64 select, u32 steps)
{
	u64 wanted = 0, missed = 0;
	u32 n;

	/* the WRMSR is the first that counts, CALL the second */
	for (n = 1; n < steps + 2; n++) {
		quiet();
		pmi_arm(APIC_MODE_NMI);
		count(c, select | SEL_INT, -(u64)n, (void (*)(const void *))path, NULL);
		wanted = n == 1 ? (u64)measure_call : trace[n - 2];
		missed += pmi.count != 1;
		if (pmi.rip != wanted)
			break;
	}
	if (!is(pmi.rip, wanted, "model: PMI of %s on each of %u boundaries", counter_name(c),
		steps + 1))
		say("#   with an overflow after %u\n", n);
	is(missed, 0, "model: PMI of %s: one each time", counter_name(c));
}

/* Freezing after each instruction: another counter tells how many there were. */
static void test_freeze_boundaries(void)
{
	const struct counter *c = &counters[0], *other = &counters[nr_counters - 1];
	struct run run = run_of(c->bit | other->bit, 0);
	u64 counted;
	u32 n;

	for (n = 1; n <= ALL_OF_BODY; n++) {
		quiet();
		wrmsr(MSR_DEBUGCTL, DEBUGCTL_FREEZE);
		program(c, instruction_select(c) | SEL_INT);
		program(other, instruction_select(other));
		counter_write(c, -(u64)n);
		measure(&run, in_kernel, body64);
		counted = rdmsr(other->msr);
		if (counted != n)
			break;
	}
	is(n, ALL_OF_BODY + 1,
	   "model: freeze after each instruction: what %s has counted", counter_name(other));
}

/* ---------------------------------------------------------------- rings */

/* The NOPs that begin BODY, one after the other, in ring 3. */
static void test_user_nops(const struct counter *c, void (*enter)(const void *fn),
			   const char *body, const char *name)
{
	u64 wrong = 0;
	unsigned int n;

	/* CALL is the first of ring 3 */
	for (n = 1; n <= 50; n++) {
		if (interrupted(c, EVENT_INSTRUCTIONS | SEL_USR, n, enter, body) !=
		    (u64)body + n - 1)
			wrong |= BIT(n);
	}
	is(wrong, 0, "model: PMI on each NOP in %s", name);
}

/* Overflow on the last instruction of a ring: see boot.S for the CALL. */
static void test_ring_ends(const struct counter *c)
{
	u64 select = EVENT_INSTRUCTIONS | SEL_USR;

	is(interrupted(c, select, 3, in_user, empty64), (u64)user_exit,
	   "model: PMI of ring 3's INT: before the handler's first");
	is(pmi.cs, KERNEL_CS, "model: PMI of ring 3's INT: in ring 0");
	is(interrupted(c, select, 3, in_user, find_work("SYSCALL")->fn), (u64)syscall_entry,
	   "model: PMI of SYSCALL: before the handler's first");
	is(interrupted(c, select, 1, in_user, empty64), (u64)empty64,
	   "model: PMI of ring 3's first instruction: behind it");
	is(pmi.cs, USER_CS, "model: PMI of ring 3's first instruction: in ring 3");
}

/* Into ring 3 on the last of ring 0: WRMSR, CALL, and all of in_user(). */
static void test_ring_begin(const struct counter *c)
{
	is(interrupted(c, instruction_select(c), 2 + IN_USER_INSTRUCTIONS, in_user, empty64),
	   (u64)user64, "model: PMI of IRET to ring 3: before ring 3's first");
	is(pmi.cs, USER_CS, "model: PMI of IRET to ring 3: in ring 3");
}

/* PMC0, while it runs, is set to -5 by a WRMSR that then is the first to count. */
static void test_rewrite(const struct counter *c)
{
	is(interrupted(c, instruction_select(c), 100000, in_kernel, rewrite),
	   (u64)rewrite_at + 4, "model: PMI after a counter was written while it ran");
	is(pmi.count, 1, "model: PMI after a counter was written while it ran: one");
}

static void test_hlt(const struct counter *c)
{
	hlt_ticks = HLT_TICKS_LONG;
	interrupted(c, instruction_select(c), BEFORE_WORK + HLT_INSTRUCTION, in_kernel,
		    halting_work()->fn);
	ok(apic_read(APIC_TMCCT), "model: PMI of HLT: ends it");
	apic_write(APIC_TMICT, 0);
	is(pmi.rip, (u64)hlt_next, "model: PMI of HLT: behind it");
	quiet();
	pmi_arm(VECTOR_PMI);
	count(c, instruction_select(c) | SEL_INT, -(u64)(BEFORE_WORK + HLT_INSTRUCTION),
	      in_kernel, halting_work()->fn);
	apic_write(APIC_TMICT, 0);
	is(pmi.rip, (u64)hlt_next, "model: PMI of HLT as a vector: behind it");
	hlt_ticks = 100000;
}

/* ---------------------------------------------------------------- traps and branches */

static void test_traps(const struct counter *c)
{
	const struct {
		const char *work;
		u32 retired;	/* of the work */
		const char *rip;
	} rows[] = {
		{ "UD2", 0, ud2_at },
		{ "UD2", 1, skip_ud2_2 },
		{ "UD2", 2, ud2_at + 2 },
		{ "INT n", 1, int_at },
		{ "INT n", 2, skip_entry },
		{ "INT n", 3, int_at + 2 },
		{ "a REP MOVSB with a fault", 5, pf_movs_at },
		{ "a REP MOVSB with a fault", 6, mend_pf_2 },
		{ "a REP MOVSB with a fault", 8, pf_movs_at },
		{ "a REP MOVSB with a fault", 9, pf_movs_at + 2 },
		{ "HLT", HLT_INSTRUCTION + 1, timer_entry_2 },
	};
	unsigned int i;

	set_work_traps(true);
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		is(interrupted(c, instruction_select(c), BEFORE_WORK + rows[i].retired,
			       in_kernel, find_work(rows[i].work)->fn), (u64)rows[i].rip,
		   "model: PMI after %u instructions of: %s", rows[i].retired, rows[i].work);
	set_work_traps(false);
}

static void test_branch_boundaries(const struct counter *c)
{
	const char *not_taken = find_work("10 branches not taken")->fn;
	u64 wrong = 0;
	unsigned int n;

	/* a CALL and a JMP come before; then XOR and Jcc are of two bytes each */
	for (n = 1; n <= 10; n++) {
		if (interrupted(c, EVENT_BRANCHES | SEL_OS, 2 + n, in_kernel, not_taken) !=
		    (u64)not_taken + 2 + 2 * n)
			wrong |= BIT(n);
	}
	is(wrong, 0, "model: PMI behind each branch not taken");
	for (n = 1; n < BODY_BRANCHES; n++) {
		if (interrupted(c, EVENT_BRANCHES | SEL_OS, 2 + n, in_kernel, body64) !=
		    (u64)body64_loop)
			break;
	}
	is(n, BODY_BRANCHES, "model: PMI behind each branch taken");
}

/* ---------------------------------------------------------------- far and conditional */

/* Of the DEC before it. */
#define SPIN_JNZ	3

static void test_far(const struct counter *c)
{
	const u32 turns = 1500000;
	u64 select = instruction_select(c);
	u32 n;

	is(count(c, select, 0, spin, (void *)(u64)turns), MEASURE_INSTRUCTIONS + 2UL * turns,
	   "%sa long loop", mark(!counts_exactly(c)));
	/* the WRMSR and CALL come before, then DEC and JNZ by turns */
	for (n = 2 * turns - 10; n < 2 * turns; n++) {
		if (interrupted(c, select, n, spin, (void *)(u64)turns) !=
		    (u64)spin + (n & 1 ? SPIN_JNZ : 0))
			break;
	}
	is(n, 2 * turns, "model: PMI far away, on each of 10 boundaries");
	is(interrupted(c, select, 0x80000000, spin, (void *)(u64)turns), 0,
	   "model: no PMI when the overflow is not reached");
}

/* With a condition a counter overflows as it counts. */
static void test_conditions_overflow(const struct counter *c)
{
	static const struct {
		const char *name;
		u64 select;
	} rows[] = {
		{ "branches, INV", EVENT_BRANCHES | SEL_CMASK(1) | SEL_INV },
		{ "branches, CMASK=1", EVENT_BRANCHES | SEL_CMASK(1) },
		{ "branches, EDGE", EVENT_BRANCHES | SEL_CMASK(1) | SEL_EDGE },
		{ "branches, INV, EDGE", EVENT_BRANCHES | SEL_CMASK(1) | SEL_INV | SEL_EDGE },
		{ "cycles, CMASK=2, INV", EVENT_CYCLES | SEL_CMASK(2) | SEL_INV },
		{ "cycles, EDGE", EVENT_CYCLES | SEL_CMASK(1) | SEL_EDGE },
	};
	unsigned int i, ring;
	u64 select, n;

	for (i = 0; i < 2 * ARRAY_SIZE(rows); i++) {
		ring = i & 1;
		select = rows[i / 2].select | (ring ? SEL_USR : SEL_OS);
		if (!event_present(select & 0xffff))
			continue;
		quiet();
		n = count(c, select, 0, in_user, body64);
		is(count(c, select, -n, in_user, body64), 0,
		   "model: %s of ring %u overflow", rows[i / 2].name, 3 * ring);
		is(pmu.version >= 2 ? rdmsr(MSR_GLOBAL_STATUS) : c->bit, c->bit,
		   "model: %s of ring %u overflow: GLOBAL_STATUS", rows[i / 2].name, 3 * ring);
	}
}

/* Two counters of which one overflows an instruction after the other. */
static void test_neighbours(void)
{
	struct run run = run_of(counters_mask(), 0);
	u64 wrong = 0;
	unsigned int i;

	quiet();
	for (i = 0; i < nr_counters; i++) {
		program(&counters[i], instruction_select(&counters[i]));
		counter_write(&counters[i], -(u64)(50 + i));
	}
	measure(&run, in_kernel, body64);
	for (i = 0; i < nr_counters; i++) {
		if (rdmsr(counters[i].msr) !=
		    ALL_OF_BODY - 50 - i)
			wrong |= counters[i].bit;
	}
	is(wrong, 0, "model: counters that overflow one after the other");
	is(rdmsr(MSR_GLOBAL_STATUS), counting_mask(),
	   "model: counters that overflow one after the other: GLOBAL_STATUS");
}

/**
 * test_boundaries() - interrupts that are exact
 */
void test_boundaries(void)
{
	const struct counter *c = &counters[0], *last = &counters[nr_counters - 1];
	u64 select = instruction_select(c);
	u32 steps = trace_path();

	ok(steps > 500 && steps < TRACE_MAX, "the path has %u steps", steps);
	is_on_every_boundary(c, select, steps);
	is_on_every_boundary(c, select | SEL_USR, steps);
	if (last->fixed)
		is_on_every_boundary(last, SEL_OS, steps);
	if (counts_exactly(c)) {
		test_ring_ends(c);
		test_user_nops(c, in_user, body64, "64-bit ring 3");
		test_user_nops(c, in_user32, body32, "32-bit ring 3");
	}
	test_ring_begin(c);
	test_rewrite(c);
	if (pmu.freeze && nr_counters > 1)
		test_freeze_boundaries();
	test_hlt(c);
	test_traps(c);
	if (event_present(EVENT_BRANCHES))
		test_branch_boundaries(c);
	test_far(c);
	test_conditions_overflow(c);
	if (pmu.version >= 2)
		test_neighbours();
	quiet();
}
