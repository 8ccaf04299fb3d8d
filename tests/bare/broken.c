// SPDX-License-Identifier: GPL-2.0
/* PMUs that are broken on purpose: that they are, and how. */
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
	return rdmsr(MSR_EVTSEL + c->index) & 0xffff;
}

static void is_as_expected(const struct counter *c)
{
	const char *name = counter_name(c);
	const char *how = how_broken(c) ? "broken" : "not broken";
	struct expected e = expect(c);
	u64 select = instruction_select(c), value = 0;

	quiet();
	program(c, select);
	is(control_of(c), !e.control ? 0 : c->fixed ? fixed_control(select) : select & 0xffff,
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

	for (i = 0; i < pmu.gp; i++) {
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
	if (pmu.version >= 2 && pmu.pdcm)
		test_halved_overflow(c, good);
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
	quiet();
}
