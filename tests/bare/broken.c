// SPDX-License-Identifier: GPL-2.0
/* PMUs that are broken on purpose, or that others pause: that they are, and how. */
#include "bare.h"

#define SOON		100	/* events after which to overflow, within half of the body */
#define CONSTANT	0x1234
#define SHORT_BY	8	/* bits */

/* In every width, also where 32 bits are written and extended by their sign. */
#define WRITTEN		-0x12345678UL

/**
 * struct expected - what a counter makes of some tests
 * @control: its event select, or its field of FIXED_CTR_CTRL, can be written
 * @held: WRITTEN
 * @counted: the body, from 0 on
 * @wrapped: the body, from SOON events before the overflow on
 * @overflows: GLOBAL_STATUS and a PMI come of the latter
 */
struct expected {
	bool control;
	u64 held;
	u64 counted;
	u64 wrapped;
	bool overflows;
};

static struct expected expect(const struct counter *c)
{
	struct expected e = {
		.control = true,
		.held = WRITTEN & c->mask,
		.counted = ALL_OF_BODY,
		.wrapped = ALL_OF_BODY - SOON,
		.overflows = true,
	};

	switch (how_broken(c)) {
	case BROKEN_NOT:
	case BROKEN_STARVED: /* alone it counts */
		break;
	case BROKEN_IGNORES_WRITES:
		e = (struct expected) {};
		break;
	case BROKEN_CONSTANT:
		e.held = CONSTANT;
		e.counted = CONSTANT;
		e.wrapped = CONSTANT;
		break;
	case BROKEN_DEAD:
		e.counted = 0;
		e.wrapped = -(u64)SOON & c->mask;
		e.overflows = false;
		break;
	case BROKEN_HALVED:
		e.counted = ALL_OF_BODY / 2;
		e.wrapped = ALL_OF_BODY / 2 - SOON;
		break;
	case BROKEN_NO_OVERFLOW:
		e.overflows = false;
		break;
	case BROKEN_SHORT:
		e.held &= c->mask >> SHORT_BY;
		break;
	}
	return e;
}

/* The event of an event select, or the field of FIXED_CTR_CTRL. */
static u64 control_of(const struct counter *c)
{
	if (c->fixed)
		return rdmsr(MSR_FIXED_CTR_CTRL) >> 4 * c->index & 0xf;
	return rdmsr(evtsel_msr(c->index)) & 0xffff;
}

static void is_as_expected(const struct counter *c)
{
	const char *name = counter_name(c);
	const char *how = how_broken(c) ? "broken" : "not broken";
	struct expected e = expect(c);
	u64 select = instruction_select(c), value = 0;

	quiet();
	program(c, select);
	is(control_of(c),
	   !e.control ? 0 : c->fixed ? fixed_control(select) : encode(select) & 0xffff,
	   "%s, %s: its control", name, how);
	counter_write(c, WRITTEN);
	is(rdmsr(c->msr), e.held, "%s, %s: what is written", name, how);
	try_rdpmc(c->rdpmc, &value);
	is(value, e.held, "%s, %s: RDPMC", name, how);
	quiet();
	is(count(c, select, 0, in_kernel, body64), e.counted, "%s, %s: counts", name, how);
	quiet();
	is(count(c, select, -(u64)SOON, in_kernel, body64), e.wrapped,
	   "%s, %s: counts across its overflow", name, how);
	if (pmu.version >= 2)
		is(rdmsr(MSR_GLOBAL_STATUS), e.overflows ? c->bit : 0,
		   "%s, %s: GLOBAL_STATUS", name, how);
	quiet();
	pmi_arm(APIC_MODE_NMI);
	count(c, select | SEL_INT, -(u64)SOON, in_kernel, body64);
	is(pmi.count, e.overflows, "%s, %s: PMI", name, how);
}

/* ---------------------------------------------------------------- halved */

static void test_odd_events(const struct counter *c)
{
	u64 select = instruction_select(c);
	const char *name = counter_name(c);

	quiet();
	is(count(c, select, 0, in_kernel, empty64), ALL_OF_EMPTY / 2,
	   "%s, halved: an odd number of events", name);
	is(count_on(c, select, in_kernel, empty64), ALL_OF_EMPTY,
	   "%s, halved: the odd one is not forgotten", name);
	count_on(c, select, in_kernel, empty64);
	is(count(c, select, 0, in_kernel, empty64), ALL_OF_EMPTY / 2,
	   "%s, halved: but when it is written", name);
}

/* Every other event, whatever makes the events; @good counts them all. */
static void test_halves(const struct counter *c, const struct counter *good)
{
	static const struct {
		const char *name;
		u64 select;
	} rows[] = {
		{ "instructions", EVENT_INSTRUCTIONS },
		{ "branches", EVENT_BRANCHES },
		{ "branches, INV", EVENT_BRANCHES | SEL_CMASK(1) | SEL_INV },
		{ "branches, EDGE", EVENT_BRANCHES | SEL_CMASK(1) | SEL_EDGE },
	};
	unsigned int i, ring;
	u64 select, all;

	for (i = 0; i < 2 * ARRAY_SIZE(rows); i++) {
		ring = i & 1;
		select = rows[i / 2].select | (ring ? SEL_USR : SEL_OS);
		quiet();
		all = count(good, select, 0, in_user, body64);
		quiet();
		is(count(c, select, 0, in_user, body64), all / 2, "%s, halved: %s of ring %u",
		   counter_name(c), rows[i / 2].name, 3 * ring);
	}
}

/* What another counter has counted when this one freezes it, after n events. */
static u64 frozen_after(const struct counter *c, const struct counter *good, u64 n,
			void (*fn)(const void *a), const void *a)
{
	struct run run = run_of(c->bit | good->bit, 0);

	quiet();
	wrmsr(MSR_DEBUGCTL, DEBUGCTL_FREEZE);
	program(c, instruction_select(c) | SEL_INT);
	program(good, instruction_select(good));
	counter_write(c, -n);
	measure(&run, fn, a);
	return rdmsr(good->msr);
}

static void test_halved_overflow(const struct counter *c, const struct counter *good)
{
	const u64 turns = 2000000, far = 1234567;
	u64 n;

	for (n = 1; n <= ALL_OF_BODY / 2; n++) {
		if (frozen_after(c, good, n, in_kernel, body64) != 2 * n)
			break;
	}
	is(n, ALL_OF_BODY / 2 + 1, "%s, halved: overflows on each second instruction",
	   counter_name(c));
	is(frozen_after(c, good, far, spin, (void *)turns), 2 * far,
	   "%s, halved: an overflow far away", counter_name(c));
}

/* A generic counter that is whole. */
static const struct counter *good_counter(void)
{
	unsigned int i;

	for (i = 0; i < nr_generic; i++) {
		if (!how_broken(&counters[i]))
			return &counters[i];
	}
	return NULL;
}

static void test_halved(const struct counter *c)
{
	const struct counter *good = good_counter();

	test_odd_events(c);
	if (!good)
		return;
	if (!c->fixed)
		test_halves(c, good);
	if (pmu.freeze)
		test_halved_overflow(c, good);
}

/* ---------------------------------------------------------------- starved */

/*
 * Of these counters, which all are programmed, some are enabled: those that did not
 * count what they should.
 */
static u64 not_starving_as(u64 enabled)
{
	struct run run = run_of(enabled, 0);
	unsigned int i, fed = 0;
	const struct counter *c;
	u64 wrong = 0;
	bool counts;

	quiet();
	for (i = 0; i < nr_counters; i++)
		program(&counters[i], instruction_select(&counters[i]));
	measure(&run, in_kernel, body64);
	for (c = counters; c < counters + nr_counters; c++) {
		counts = enabled & c->bit;
		if (counts && how_broken(c))
			counts = fed++ < pmu.starved;
		if (rdmsr(c->msr) != (counts ? ALL_OF_BODY : 0))
			wrong |= c->bit;
	}
	return wrong;
}

static void test_starved(void)
{
	u64 all = counting_mask(), left = pmu.broken_counters;
	const struct counter *c = &counters[0];

	is(not_starving_as(all), 0, "starved, all enabled: the first %u count", pmu.starved);
	/* one after the other the first is not enabled, and the next one has its place */
	while (left) {
		left &= left - 1;
		is(not_starving_as((all & ~pmu.broken_counters) | left), 0,
		   "starved, 0x%lx of them enabled: the first %u count", left, pmu.starved);
	}
	/* one that is programmed for no ring needs nothing */
	if (how_broken(c) && nr_generic > 1 && how_broken(c + 1) && pmu.starved == 1) {
		struct run run = run_of(c->bit | (c + 1)->bit, 0);

		quiet();
		program(c, EVENT_CYCLES);
		program(c + 1, instruction_select(c + 1));
		measure(&run, in_kernel, body64);
		is(rdmsr((c + 1)->msr), ALL_OF_BODY,
		   "starved: another that counts in no ring takes nothing");
	}
}

/* ---------------------------------------------------------------- all */

/**
 * test_broken() - counters that are broken, and those beside them
 */
void test_broken(void)
{
	unsigned int i;

	for (i = 0; i < nr_counters; i++) {
		is_as_expected(&counters[i]);
		if (how_broken(&counters[i]) == BROKEN_HALVED)
			test_halved(&counters[i]);
	}
	if (pmu.broken == BROKEN_STARVED && pmu.version >= 2)
		test_starved();
	quiet();
}

/* ---------------------------------------------------------------- paused */

/* What a counter counts while so many instructions retire. */
static u64 counted_of(const struct counter *c, u64 instructions)
{
	quiet();
	return count(c, instruction_select(c), 0, spin,
		     (void *)((instructions - MEASURE_INSTRUCTIONS) / 2));
}

/*
 * From wherever they begin, so many periods have so many pauses; and less than a pause
 * is either counted, or not, or in part, as that comes over it.
 */
static void test_pauses(const struct counter *c)
{
	const char *name = counter_name(c);
	u64 periods, got, none = 0, some = 0, wrong = 0;
	unsigned int i;

	for (periods = 1; periods <= 5; periods++)
		is(counted_of(c, periods * pmu.paused), periods * (pmu.paused - PAUSE),
		   "%s, paused: %lu periods", name, periods);
	for (i = 0; i < 2 * pmu.paused / 100; i++) {
		got = counted_of(c, 100);
		none += got == 0;
		some += got == 100;
		wrong += got > 100;
	}
	ok(none && some && !wrong, "%s, paused: 100 instructions count or do not", name);
}

/**
 * test_paused() - counters that stand still, behind the back of who uses them
 */
void test_paused(void)
{
	const struct counter *c = &counters[0];
	unsigned int i;

	for (i = 0; i < nr_counters; i++)
		test_pauses(&counters[i]);
	quiet();
	wrmsr(MSR_GLOBAL_CTRL, c->bit);
	for (i = 0; i < pmu.paused / 10; i++) {
		if (rdmsr(MSR_GLOBAL_CTRL) != c->bit)
			break;
	}
	is(i, pmu.paused / 10, "paused: GLOBAL_CTRL always reads as it was written");
	quiet();
	is(count(c, instruction_select(c), -10UL * (pmu.paused - PAUSE), spin,
		 (void *)((10UL * pmu.paused - MEASURE_INSTRUCTIONS) / 2)), 0,
	   "paused: the overflow is late by the pauses");
	is(rdmsr(MSR_GLOBAL_STATUS), c->bit, "paused: GLOBAL_STATUS");
	quiet();
}
