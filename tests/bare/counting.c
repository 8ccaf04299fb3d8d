// SPDX-License-Identifier: GPL-2.0
/* What is counted: which events, in which rings, under which conditions. */
#include "bare.h"

#define RINGS		(SEL_OS | SEL_USR)

/* An event counted over a routine less over an empty one. */
static u64 difference(const struct counter *c, u64 select, void (*enter)(const void *fn),
		      const void *fn, const void *empty)
{
	u64 with = count(c, select, 0, enter, fn);

	return with - count(c, select, 0, enter, empty);
}

/* ---------------------------------------------------------------- work */

/**
 * halting_work() - the work that halts
 *
 * Return: its description
 */
const struct work *halting_work(void)
{
	const struct work *w = work_table;

	while (!(w->flags & WORK_HALTS))
		w++;
	return w;
}

/**
 * find_work() - work by its title
 * @title: how it begins
 *
 * Return: its description
 */
const struct work *find_work(const char *title)
{
	const struct work *w;
	unsigned int i;

	for (w = work_table; w < work_table_end; w++) {
		for (i = 0; title[i] && title[i] == w->title[i]; i++)
			;
		if (!title[i])
			return w;
	}
	die("no such work");
}

/**
 * set_work_traps() - have the faults of work stepped over, or end the program
 * @on: the former
 */
void set_work_traps(bool on)
{
	static const struct {
		unsigned int vector;
		const void *entry;
	} rows[] = {
		{ VECTOR_UD, skip_ud2 }, { VECTOR_GP, skip_gp }, { VECTOR_PF, mend_pf },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		if (on)
			set_gate(rows[i].vector, rows[i].entry);
		else
			set_trap(rows[i].vector);
	}
}

static void test_work_in(u64 event, void (*enter)(const void *fn), u32 unless, const char *ring)
{
	bool branches = event == EVENT_BRANCHES;
	const struct counter *c = counter_for(event);
	const struct work *w;
	u32 traps;

	if (!c)
		return;
	for (w = work_table; w < work_table_end; w++) {
		if (w->flags & (unless | (pmu.amd ? WORK_INTEL : 0)))
			continue;
		/* AMD counts what interrupts code among the branches. */
		traps = pmu.amd && w->flags & WORK_TRAPS;
		is(difference(c, event | RINGS, enter, w->fn, empty64),
		   branches ? w->branches + traps : w->instructions,
		   "%s%s, %s: %s",
		   mark(branches && w->flags & WORK_FAR), ring,
		   branches ? "branches" : "instructions", w->title);
	}
}

/* Nothing runs between that is not in measure(). */
static void test_ends(void)
{
	const struct counter *c = counter_for(EVENT_INSTRUCTIONS);

	if (c)
		is(count(c, EVENT_INSTRUCTIONS | SEL_OS, 0, in_kernel, empty64),
		   MEASURE_INSTRUCTIONS + 1,
		   "of the two WRMSRs that let count and stop exactly one counts");
	c = counter_for(EVENT_BRANCHES);
	if (c)
		is(count(c, EVENT_BRANCHES | SEL_OS, 0, in_kernel, empty64),
		   MEASURE_BRANCHES + 1, "branches between the two WRMSRs");
}

/*
 * An interrupt can end HLT whenever it likes: neither cycles nor instructions
 * depend on how long it took.
 */
static void test_halted(u64 event, const char *name)
{
	const struct counter *c = counter_for(event);
	const struct work *w = halting_work();
	u64 cycles, tsc;

	if (!c)
		return;
	hlt_ticks = 20000000;
	tsc = rdtsc();
	cycles = count(c, event | SEL_OS, 0, in_kernel, w->fn);
	tsc = rdtsc() - tsc;
	hlt_ticks = 100000;
	ok(cycles > 0 && cycles < tsc / 4, "%s: none while halted", name);
	is(cycles, w->instructions + MEASURE_INSTRUCTIONS + 1,
	   "model: %s: as many as instructions around HLT", name);
}

/**
 * test_work() - instructions, branches and cycles of known code
 */
void test_work(void)
{
	quiet();
	test_ends();
	set_work_traps(true);
	test_work_in(EVENT_INSTRUCTIONS, in_kernel, WORK_RING3, "ring 0");
	test_work_in(EVENT_BRANCHES, in_kernel, WORK_RING3, "ring 0");
	test_work_in(EVENT_INSTRUCTIONS, in_user, WORK_RING0, "ring 3");
	test_work_in(EVENT_BRANCHES, in_user, WORK_RING0, "ring 3");
	set_work_traps(false);
	test_halted(EVENT_CYCLES, "cycles");
	test_halted(EVENT_REF_CYCLES, "reference cycles");
	quiet();
}

/* ---------------------------------------------------------------- debugging */

/* A #DB behind an instruction does not count that twice. */
static void test_single_step(const struct counter *c)
{
	u64 select = EVENT_INSTRUCTIONS | SEL_OS, empty, traps, got;

	set_gate(VECTOR_DB, step_entry);
	trace_length = 0;
	empty = count(c, select, 0, single_step, empty64);
	traps = trace_length;
	is(count(c, select, 0, single_step, find_work("100 NOPs")->fn) - empty,
	   100 * (1 + STEP_INSTRUCTIONS), "single-stepping: each instruction counts once");
	/* How many turns trap is not the PMU's: QEMU 10 has one more. */
	traps = -3 * traps - 100;
	got = count(c, select, 0, single_step, find_work("REP MOVSQ of 500")->fn) - empty;
	traps += trace_length;
	ok(traps >= 503, "single-stepping: a REP traps at each turn");
	is(got, 4 + traps * STEP_INSTRUCTIONS, "single-stepping: a REP counts once");
	set_trap(VECTOR_DB);
}

static void test_breakpoints(const struct counter *c)
{
	/* DR7 for one breakpoint: enabled, its kind, its length */
	const struct {
		const char *name;
		u64 address;
		u64 control;
		u32 breaks;
	} rows[] = {
		{ "none", 0, 0, 0 },
		{ "an instruction", (u64)breakable_at, 0x00002, 1 },
		{ "a write", SCRATCH + 0x2000, 0xd0002, 1 },
		{ "reads and writes", SCRATCH + 0x2000, 0xf0002, 2 },
		{ "a port", 0x80, 0x20002, 1 },
	};
	unsigned int i;
	u64 got, empty;

	set_gate(VECTOR_DB, break_entry);
	write_cr4(read_cr4() | CR4_DE);
	empty = count(c, EVENT_INSTRUCTIONS | SEL_OS, 0, in_kernel, empty64);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		breaks = 0;
		write_debug(rows[i].address, rows[i].control);
		got = count(c, EVENT_INSTRUCTIONS | SEL_OS, 0, in_kernel, breakable);
		write_debug(0, 0);
		is(breaks, rows[i].breaks, "a breakpoint on %s: how often", rows[i].name);
		is(got - empty, 12 + rows[i].breaks * BREAK_INSTRUCTIONS,
		   "a breakpoint on %s: each instruction counts once", rows[i].name);
	}
	write_cr4(read_cr4() & ~CR4_DE);
	set_trap(VECTOR_DB);
}

/**
 * test_debugging() - counting what a debugger stops
 */
void test_debugging(void)
{
	const struct counter *c = counter_for(EVENT_INSTRUCTIONS);

	if (!c)
		return;
	quiet();
	test_single_step(c);
	test_breakpoints(c);
	quiet();
}

/* ---------------------------------------------------------------- modes */

#define IN_LOW(label)	((const void *)(LOW + ((label) - low_start)))

static const struct {
	const char *name;
	u64 event;
	u32 wanted;
	bool exact;	/* not only in the model */
} events[] = {
	{ "instructions", EVENT_INSTRUCTIONS, BODY_INSTRUCTIONS, true },
	{ "branches", EVENT_BRANCHES, BODY_BRANCHES, true },
	{ "conditional branches", EVENT_CONDITIONAL, BODY_BRANCHES, true },
	{ "branches not taken", EVENT_NOT_TAKEN, 1, true },
	{ "near branches taken", EVENT_NEAR_TAKEN, BODY_BRANCHES - 1, true },
	{ "cycles", EVENT_CYCLES, BODY_INSTRUCTIONS, false },
	{ "reference cycles", EVENT_REF_CYCLES, BODY_INSTRUCTIONS, false },
};

static void test_mode(const struct mode *mode, const struct counter *c, unsigned int event)
{
	static const struct {
		const char *name;
		u64 select;
		bool ring[2];	/* counts in ring 0, in ring 3 */
	} rows[] = {
		{ "OS", SEL_OS, { true, false } },
		{ "USR", SEL_USR, { false, true } },
		{ "OS and USR", RINGS, { true, true } },
		{ "neither", 0, { false, false } },
	};
	unsigned int i;
	u64 got;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		got = difference(c, events[event].event | rows[i].select, mode->enter,
				 mode->body, mode->empty);
		is(got, rows[i].ring[mode->ring != 0] ? events[event].wanted : 0,
		   "%s%s of %s, %s: %s", mark(!events[event].exact), events[event].name,
		   mode->name, counter_name(c), rows[i].name);
	}
}

static const struct counter *fixed_counter_for(u64 event)
{
	static const u64 fixed_event[FIXED_MAX] = {
		EVENT_INSTRUCTIONS, EVENT_CYCLES, EVENT_REF_CYCLES,
	};
	unsigned int i;

	for (i = 0; i < nr_counters; i++) {
		if (counters[i].fixed && fixed_event[counters[i].index] == event)
			return &counters[i];
	}
	return NULL;
}

static void test_events_in(const struct mode *mode)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(events); i++) {
		if (event_present(events[i].event))
			test_mode(mode, &counters[0], i);
		if (fixed_counter_for(events[i].event))
			test_mode(mode, fixed_counter_for(events[i].event), i);
	}
}

/* 64-bit code has no INTO. */
static void test_into(const struct counter *c)
{
	u64 instructions = EVENT_INSTRUCTIONS | SEL_USR;
	u64 branches = EVENT_BRANCHES | SEL_USR;

	set_gate(VECTOR_OF, skip_entry);
	is(count(c, instructions, 0, in_user32, into32) -
	   count(c, instructions, 0, in_user32, empty32), 5, "INTO, not taken and taken");
	if (event_present(EVENT_BRANCHES) && !c->fixed)
		is(count(c, branches, 0, in_user32, into32) -
		   count(c, branches, 0, in_user32, empty32), 1,
		   "model: INTO, not taken and taken: branches");
	set_trap(VECTOR_OF);
}

/**
 * test_modes() - each event in each mode of the CPU, by privilege
 */
void test_modes(void)
{
	const struct mode modes[] = {
		{ "64-bit ring 0", in_kernel, body64, empty64, 0 },
		{ "32-bit ring 0", in_protected, body32, empty32, 0 },
		{ "real mode", in_real, IN_LOW(low_body), IN_LOW(low_empty), 0 },
		{ "64-bit ring 3", in_user, body64, empty64, 3 },
		{ "32-bit ring 3", in_user32, body32, empty32, 3 },
	};
	unsigned int i;

	quiet();
	for (i = 0; i < ARRAY_SIZE(modes); i++)
		test_events_in(&modes[i]);
	if (event_present(EVENT_INSTRUCTIONS))
		test_into(&counters[0]);
	quiet();
}

/* ---------------------------------------------------------------- conditions */

/* Goes to ring 3 and back so many times. */
static void visit_user(const void *times)
{
	u64 n;

	for (n = (u64)times; n; n--)
		in_user(empty64);
}

/* Halts, and is woken, so many times. */
static void halt(const void *times)
{
	const struct work *w = halting_work();
	u64 n;

	for (n = (u64)times; n; n--)
		in_kernel(w->fn);
}

/* What 10 more turns add to an event. */
static u64 slope(const struct counter *c, u64 select, void (*fn)(const void *times))
{
	u64 many = count(c, select, 0, fn, (void *)15);

	return many - count(c, select, 0, fn, (void *)5);
}

static void test_edges(void)
{
	const struct counter *c = &counters[0];
	u64 edge = SEL_EDGE | SEL_CMASK(1);

	if (event_present(EVENT_CYCLES)) {
		is(slope(c, EVENT_CYCLES | SEL_OS | edge, visit_user), 10,
		   "EDGE, cycles, OS: transitions to ring 0");
		is(slope(c, EVENT_CYCLES | SEL_USR | edge, visit_user), 10,
		   "EDGE, cycles, USR: transitions to ring 3");
		is(slope(c, EVENT_CYCLES | RINGS | edge, visit_user), 0,
		   "EDGE, cycles, OS and USR: no transitions");
		is(slope(c, EVENT_CYCLES | SEL_OS | edge, halt), 10,
		   "EDGE, cycles: wake-ups from HLT");
		is(slope(c, EVENT_CYCLES | SEL_OS | SEL_EDGE, visit_user), 10,
		   "model: EDGE without CMASK is as with 1");
		is(slope(c, EVENT_CYCLES | SEL_OS | SEL_EDGE | SEL_INV, visit_user), 10,
		   "model: EDGE without CMASK: INV is ignored");
		is(count(c, EVENT_CYCLES | SEL_OS | edge, 0, in_kernel, body64), 1,
		   "model: EDGE, cycles: the start is one");
	}
	if (event_present(EVENT_INSTRUCTIONS))
		is(slope(c, EVENT_INSTRUCTIONS | SEL_OS | edge, visit_user), 10,
		   "model: EDGE, instructions, OS: transitions to ring 0");
	if (!event_present(EVENT_BRANCHES))
		return;
	/* 100 turns of DEC and JNZ are 100 runs of branches, CALL and RET more */
	is(difference(c, EVENT_BRANCHES | SEL_OS | edge, in_kernel, body64, empty64), 100,
	   "model: EDGE, branches: runs of them");
	is(difference(c, EVENT_BRANCHES | SEL_OS | edge | SEL_INV, in_kernel, body64, empty64),
	   100, "model: EDGE, INV, branches: runs of other instructions");
}

static void test_cmask(void)
{
	static const struct {
		const char *name;
		u64 select;
		u32 wanted;
	} rows[] = {
		{ "cycles, CMASK=1", EVENT_CYCLES | SEL_CMASK(1), BODY_INSTRUCTIONS },
		{ "cycles, CMASK=2", EVENT_CYCLES | SEL_CMASK(2), 0 },
		{ "cycles, INV", EVENT_CYCLES | SEL_INV, BODY_INSTRUCTIONS },
		{ "cycles, CMASK=1, INV", EVENT_CYCLES | SEL_CMASK(1) | SEL_INV, 0 },
		{ "cycles, CMASK=2, INV", EVENT_CYCLES | SEL_CMASK(2) | SEL_INV,
		  BODY_INSTRUCTIONS },
		{ "instructions, CMASK=1", EVENT_INSTRUCTIONS | SEL_CMASK(1),
		  BODY_INSTRUCTIONS },
		{ "instructions, CMASK=255, INV",
		  EVENT_INSTRUCTIONS | SEL_CMASK(255) | SEL_INV, BODY_INSTRUCTIONS },
		{ "branches, CMASK=1", EVENT_BRANCHES | SEL_CMASK(1), BODY_BRANCHES },
		{ "branches, CMASK=2", EVENT_BRANCHES | SEL_CMASK(2), 0 },
		{ "branches, INV", EVENT_BRANCHES | SEL_INV, BODY_BRANCHES },
		{ "branches, CMASK=1, INV", EVENT_BRANCHES | SEL_CMASK(1) | SEL_INV,
		  BODY_INSTRUCTIONS - BODY_BRANCHES },
		{ "branches, CMASK=2, INV", EVENT_BRANCHES | SEL_CMASK(2) | SEL_INV,
		  BODY_INSTRUCTIONS },
		{ "near branches taken, CMASK=1, INV",
		  EVENT_NEAR_TAKEN | SEL_CMASK(1) | SEL_INV,
		  BODY_INSTRUCTIONS - BODY_BRANCHES + 1 },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		if (!event_present(rows[i].select & 0xffff))
			continue;
		is(difference(&counters[0], rows[i].select | SEL_OS, in_kernel,
			      body64, empty64), rows[i].wanted, "model: %s", rows[i].name);
	}
	if (event_present(EVENT_BRANCHES))
		is(difference(&counters[0], EVENT_BRANCHES | SEL_OS | SEL_CMASK(1) | SEL_INV,
			      in_user, body64, empty64), 0,
		   "CMASK=1, INV, OS: cycles of ring 3 are not counted");
}

/* Events that CPUID says are absent, and some that are no events at all. */
static void test_absent(void)
{
	static const u16 selects[] = {
		EVENT_CYCLES, EVENT_INSTRUCTIONS, EVENT_REF_CYCLES, EVENT_BRANCHES,
		0x4f2e, 0x412e, 0x00c5, 0x0000, 0x00ff, 0x01c0, 0x023c,
		/* branches by kind; not of Skylake, but of others */
		EVENT_CONDITIONAL, EVENT_NEAR_CALLS, EVENT_BRANCHES_PEBS, EVENT_NEAR_RETURNS,
		EVENT_NOT_TAKEN, EVENT_NEAR_TAKEN, EVENT_FAR_BRANCHES, 0x11c4, 0x7ec4, 0x80c4,
	};
	unsigned int i;

	/* AMD's CPUID does not say which there are. */
	for (i = 0; i < ARRAY_SIZE(selects) && !pmu.amd; i++) {
		if (!event_present(selects[i]))
			is(count(&counters[0], selects[i] | SEL_OS, 0, in_kernel, body64), 0,
			   "model: event 0x%x is absent and counts nothing", selects[i]);
	}
}

/**
 * test_conditions() - CMASK, INV, EDGE, and events that do not exist
 */
void test_conditions(void)
{
	quiet();
	test_cmask();
	test_edges();
	test_absent();
	quiet();
}

/* ---------------------------------------------------------------- gates */

/* Each counter counts, and no other with it. */
static void test_walk(void)
{
	unsigned int i, j;
	u64 got;

	for (i = 0; i < nr_counters; i++) {
		quiet();
		got = count(&counters[i], instruction_select(&counters[i]), 0, in_kernel, body64);
		for (j = 0; j < nr_counters; j++) {
			if (j != i)
				got += rdmsr(counters[j].msr) << 32;
		}
		is(got, ALL_OF_BODY, "%s%s counts by itself",
		   mark(!counts_exactly(&counters[i])), counter_name(&counters[i]));
	}
}

static void program_all(void)
{
	unsigned int i;

	quiet();
	for (i = 0; i < nr_counters; i++)
		program(&counters[i], instruction_select(&counters[i]));
}

/* Counters that did not count all of the body. */
static u64 counters_but(u64 wanted)
{
	u64 mask = 0;
	unsigned int i;

	for (i = 0; i < nr_counters; i++) {
		if (rdmsr(counters[i].msr) != wanted)
			mask |= counters[i].bit;
	}
	return mask;
}

static void test_together(void)
{
	struct run run = run_of(counters_mask(), 0);
	const struct counter *c = &counters[0];
	u64 wrong = 0;
	unsigned int i;

	program_all();
	measure(&run, in_kernel, body64);
	is(counters_but(ALL_OF_BODY), 0, "model: all counters agree");
	/* all but one let run */
	for (i = 0; i < nr_counters; i++) {
		program_all();
		run.on = counters_mask() & ~counters[i].bit;
		measure(&run, in_kernel, body64);
		if (counters_but(ALL_OF_BODY) != counters[i].bit)
			wrong |= counters[i].bit;
	}
	is(wrong, 0, "model: GLOBAL_CTRL holds back each by itself");
	quiet();
	wrmsr(MSR_EVTSEL, encode(instruction_select(c)));
	run.on = c->bit;
	measure(&run, in_kernel, body64);
	is(rdmsr(c->msr), 0, "EN clear: does not count");
}

static void test_fixed_control(void)
{
	struct run run = { .msr = MSR_FIXED_CTR_CTRL };
	unsigned int i;

	for (i = 0; i < nr_counters; i++) {
		if (!counters[i].fixed)
			continue;
		quiet();
		wrmsr(MSR_GLOBAL_CTRL, counters_mask());
		run.on = (u64)FIXED_OS << 4 * counters[i].index;
		measure(&run, in_kernel, body64);
		is(rdmsr(counters[i].msr), ALL_OF_BODY, "%s%s started and stopped by its control",
		   mark(!counts_exactly(&counters[i])), counter_name(&counters[i]));
	}
}

/* Two instructions' distance between writing and reading, at most some more. */
static bool near(u64 value, u64 written)
{
	return value - written < 1000;
}

static void test_running_writes(void)
{
	const struct counter *c;
	unsigned int i;
	u64 value;

	for (i = 0; i < nr_counters; i++) {
		c = &counters[i];
		if (c->index > 1 || (!c->fixed && c->index == 1 && pmu.version < 2))
			continue;
		quiet();
		program(c, instruction_select(c) | SEL_EN);
		if (pmu.version >= 2)
			wrmsr(MSR_GLOBAL_CTRL, c->bit);
		in_kernel(body64);
		counter_write(c, 0x10000000);
		value = rdmsr(c->msr);
		ok(near(value, 0x10000000) && value != 0x10000000,
		   "%s written while it runs goes on from there", counter_name(c));
		in_kernel(body64);
		ok(rdmsr(c->msr) - value >= (counts_exactly(c) ? BODY_INSTRUCTIONS : 1),
		   "%s then counts on", counter_name(c));
	}
}

/* A write to the select ends one event and begins the next. */
static void test_running_select(void)
{
	const struct counter *c = &counters[0];
	struct run run = { .msr = MSR_EVTSEL };

	if (!event_present(EVENT_INSTRUCTIONS))
		return;
	quiet();
	if (pmu.version >= 2)
		wrmsr(MSR_GLOBAL_CTRL, c->bit);
	run.on = EVENT_INSTRUCTIONS | SEL_OS | SEL_EN;
	measure(&run, in_kernel, body64);
	is(rdmsr(c->msr), ALL_OF_BODY, "event select: EN set and cleared while GLOBAL_CTRL is on");
	wrmsr(c->msr, 0);
	run.off = EVENT_INSTRUCTIONS | SEL_USR | SEL_EN;
	measure(&run, in_kernel, body64);
	in_kernel(body64);
	is(rdmsr(c->msr), ALL_OF_BODY, "event select: OS to USR while it runs");
}

static void test_running_control(void)
{
	struct run run = { .msr = MSR_FIXED_CTR_CTRL };
	const struct counter *c = counter_for(EVENT_INSTRUCTIONS);
	unsigned int i;

	for (i = 0; i < nr_counters; i++) {
		if (counters[i].fixed && counters[i].index == 0)
			c = &counters[i];
	}
	if (!c || !c->fixed)
		return;
	quiet();
	wrmsr(MSR_GLOBAL_CTRL, c->bit);
	run.on = FIXED_OS;
	run.off = FIXED_USR;
	measure(&run, in_kernel, body64);
	in_kernel(body64);
	is(rdmsr(c->msr), ALL_OF_BODY, "FIXED_CTR_CTRL: OS to USR while it runs");
	in_user(body64);
	ok(rdmsr(c->msr) >= ALL_OF_BODY + BODY_INSTRUCTIONS,
	   "FIXED_CTR_CTRL: and ring 3 counts");
}

/**
 * test_gates() - what lets a counter count, and stops it
 */
void test_gates(void)
{
	test_walk();
	if (pmu.version >= 2)
		test_together();
	if (pmu.version >= 2 && !pmu.amd)
		test_fixed_control();
	test_running_writes();
	test_running_select();
	if (pmu.version >= 2 && !pmu.amd)
		test_running_control();
	quiet();
}
