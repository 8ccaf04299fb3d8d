// SPDX-License-Identifier: GPL-2.0
/* Overflow, its interrupt, and freezing. */
#include "bare.h"

#define SOON		100	/* events after which to overflow, within the body */

static u64 status(void)
{
	return pmu.version >= 2 ? rdmsr(MSR_GLOBAL_STATUS) : 0;
}

/* What status() should be. */
static u64 shown(u64 bits)
{
	return pmu.version >= 2 ? bits : 0;
}

/* ---------------------------------------------------------------- overflow */

static void is_overflow(const struct counter *c, u64 select, const char *name)
{
	u64 got;

	quiet();
	got = count(c, select, 1UL - ALL_OF_BODY, in_kernel, body64);
	is(got, 1, "%s%s overflows %s and counts on from 0",
	   mark(!counts_exactly(c)), counter_name(c), name);
	is(status(), shown(c->bit), "%s%s overflows %s: GLOBAL_STATUS",
	   mark(!counts_exactly(c)), counter_name(c), name);
}

static void test_wrap(const struct counter *c)
{
	u64 select = instruction_select(c);

	is_overflow(c, select, "without INT");
	/* LVTPC is masked */
	is_overflow(c, select | SEL_INT, "with INT");
	quiet();
	is(count(c, select, -(u64)ALL_OF_BODY - 1, in_kernel, body64), c->mask,
	   "%s%s: all ones", mark(!counts_exactly(c)), counter_name(c));
	is(status(), 0, "%s%s: all ones is no overflow", mark(!counts_exactly(c)),
	   counter_name(c));
	is(count(c, select, -(u64)ALL_OF_BODY, in_kernel, body64), 0,
	   "%s%s: 0 after all ones", mark(!counts_exactly(c)), counter_name(c));
	is(status(), shown(c->bit), "%s%s: 0 is the overflow", mark(!counts_exactly(c)),
	   counter_name(c));
}

static void test_other_events(void)
{
	const struct counter *c = &counters[0];
	u64 n;

	quiet();
	if (event_present(EVENT_BRANCHES)) {
		n = BODY_BRANCHES + MEASURE_BRANCHES + 1;
		is(count(c, EVENT_BRANCHES | SEL_OS, 1 - n, in_kernel, body64), 1,
		   "branches overflow");
		is(status(), shown(c->bit), "branches overflow: GLOBAL_STATUS");
	}
	if (!event_present(EVENT_INSTRUCTIONS))
		return;
	quiet();
	n = count(c, EVENT_INSTRUCTIONS | SEL_USR, 0, in_user, body64);
	is(count(c, EVENT_INSTRUCTIONS | SEL_USR, 1 - n, in_user, body64), 1,
	   "instructions of ring 3 overflow");
	is(status(), shown(c->bit), "instructions of ring 3 overflow: GLOBAL_STATUS");
}

/* All together, then cleared one by one. */
static void test_many(void)
{
	struct run run = run_of(counters_mask(), 0);
	u64 left = counting_mask(), wrong = 0;
	unsigned int i;

	quiet();
	for (i = 0; i < nr_counters; i++) {
		program(&counters[i], instruction_select(&counters[i]));
		counter_write(&counters[i], -(u64)SOON);
	}
	measure(&run, in_kernel, body64);
	is(status(), left, "all counters overflow together");
	for (i = 0; i < nr_counters; i++) {
		wrmsr(MSR_GLOBAL_OVF_CTRL, counters[i].bit);
		left &= ~counters[i].bit;
		wrong |= status() ^ left;
	}
	is(wrong, 0, "GLOBAL_OVF_CTRL clears one after the other");
}

/**
 * test_overflow() - the wrap at the width, and GLOBAL_STATUS
 */
void test_overflow(void)
{
	unsigned int i;

	for (i = 0; i < nr_counters; i++) {
		if (i < 2 || i + 1 == nr_generic || counters[i].fixed)
			test_wrap(&counters[i]);
		else
			is_overflow(&counters[i], instruction_select(&counters[i]), "without INT");
	}
	test_other_events();
	if (pmu.version >= 2)
		test_many();
	quiet();
}

/* ---------------------------------------------------------------- the interrupt */

#define LVTPC_NMI	APIC_MODE_NMI
#define LVTPC_FIXED	VECTOR_PMI

/* Overflows, and waits for what may come of it. */
static void overflow(const struct counter *c, u64 select)
{
	count(c, select, -(u64)SOON, in_kernel, body64);
	settle();
}

static void test_delivery(const struct counter *c)
{
	static const struct {
		const char *name;
		u32 lvtpc;
		bool interrupt;	/* select INT */
		u32 count;
		u32 nmis;
	} rows[] = {
		{ "an NMI", LVTPC_NMI, true, 1, 1 },
		{ "a vector", LVTPC_FIXED, true, 1, 0 },
		{ "LVTPC masked", LVTPC_NMI | APIC_MASKED, true, 0, 0 },
		{ "an NMI but no INT", LVTPC_NMI, false, 0, 0 },
		{ "a vector but no INT", LVTPC_FIXED, false, 0, 0 },
	};
	u64 select = instruction_select(c);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		quiet();
		pmi_arm(rows[i].lvtpc);
		overflow(c, select | (rows[i].interrupt ? SEL_INT : 0));
		is((u64)pmi.nmis << 32 | pmi.count, (u64)rows[i].nmis << 32 | rows[i].count,
		   "PMI of %s, %s: how many", counter_name(c), rows[i].name);
		is(apic_read(APIC_LVTPC),
		   rows[i].lvtpc | (rows[i].count && !pmu.amd ? APIC_MASKED : 0),
		   "PMI of %s, %s: whether delivery masks LVTPC", counter_name(c),
		   rows[i].name);
		is(status(), shown(c->bit), "PMI of %s, %s: GLOBAL_STATUS",
		   counter_name(c), rows[i].name);
	}
}

static void test_every_counter(void)
{
	u64 wrong = 0;
	unsigned int i;

	for (i = 0; i < nr_counters; i++) {
		quiet();
		pmi_arm(LVTPC_NMI);
		overflow(&counters[i], instruction_select(&counters[i]) | SEL_INT);
		if (pmi.count != 1)
			wrong |= counters[i].bit;
	}
	is(wrong, 0, "PMI of each counter");
}

static void test_masking(const struct counter *c)
{
	u64 select = instruction_select(c) | SEL_INT;

	quiet();
	pmi_arm(LVTPC_NMI);
	overflow(c, select);
	overflow(c, select);
	if (pmu.amd) {
		is(pmi.count, 2, "PMI: a second one, LVTPC was not masked");
	} else {
		is(pmi.count, 1, "PMI: no second one before LVTPC is unmasked");
		apic_write(APIC_LVTPC, LVTPC_NMI);
		settle();
		is(pmi.count, 1, "model: PMI: what was masked does not come later");
		overflow(c, select);
		is(pmi.count, 2, "PMI: again after LVTPC was unmasked");
	}

	quiet();
	pmi_arm(LVTPC_NMI);
	apic_write(APIC_SVR, VECTOR_SPURIOUS);
	overflow(c, select);
	apic_write(APIC_SVR, VECTOR_SPURIOUS | APIC_SVR_ENABLE);
	settle();
	is(pmi.count, 0, "the APIC disabled by software: no PMI");
	is(status(), shown(c->bit), "the APIC disabled by software: GLOBAL_STATUS");
}

/* Several counters overflow on one instruction: one interrupt. */
static void test_one_interrupt(void)
{
	struct run run = run_of(counters_mask(), 0);
	unsigned int i;

	quiet();
	pmi_arm(LVTPC_NMI);
	for (i = 0; i < nr_counters; i++) {
		program(&counters[i], instruction_select(&counters[i]) | SEL_INT);
		counter_write(&counters[i], -(u64)SOON);
	}
	measure(&run, in_kernel, body64);
	settle();
	is(pmi.count, 1, "PMI: one for all counters together");
}

/**
 * test_interrupts() - what LVTPC makes of an overflow
 */
void test_interrupts(void)
{
	const struct counter *last = &counters[nr_counters - 1];

	test_delivery(&counters[0]);
	if (last->fixed)
		test_delivery(last);
	test_every_counter();
	test_masking(&counters[0]);
	if (pmu.version >= 2)
		test_one_interrupt();
	quiet();
}

/**
 * test_apic_off() - no APIC, no interrupt
 *
 * To be run last: not every APIC can be enabled again.
 */
void test_apic_off(void)
{
	const struct counter *c = &counters[0];

	quiet();
	pmi_arm(LVTPC_NMI);
	wrmsr(MSR_APIC_BASE, rdmsr(MSR_APIC_BASE) & ~APIC_BASE_ENABLE);
	overflow(c, instruction_select(c) | SEL_INT);
	is(pmi.count, 0, "the APIC disabled: no PMI");
	is(status(), shown(c->bit), "the APIC disabled: GLOBAL_STATUS");
}

/* ---------------------------------------------------------------- freezing */

/**
 * struct freeze - what is expected of a counter's overflow while another runs
 * @name: of the case
 * @debugctl: DEBUGCTL
 * @interrupt: select INT
 * @lvtpc: LVTPC
 * @frozen: counting stops
 */
struct freeze {
	const char *name;
	u64 debugctl;
	bool interrupt;
	u32 lvtpc;
	bool frozen;
};

/* Another counter that runs while one overflows. */
static const struct counter *another(const struct counter *c)
{
	return c == &counters[0] ? &counters[nr_counters - 1] : &counters[0];
}

static void start_both(const struct counter *c, const struct freeze *f)
{
	const struct counter *other = another(c);

	quiet();
	pmi_arm(f->lvtpc);
	program(c, instruction_select(c) | (f->interrupt ? SEL_INT : 0));
	program(other, instruction_select(other));
	counter_write(c, -(u64)SOON);
	wrmsr(MSR_DEBUGCTL, f->debugctl);
	wrmsr(MSR_GLOBAL_CTRL, c->bit | other->bit);
	in_kernel(body64);
}

static void is_frozen(const struct counter *c, const struct freeze *f)
{
	const struct counter *other = another(c);
	const char *name = counter_name(c);
	u64 ctrl, value;

	start_both(c, f);
	ctrl = rdmsr(MSR_GLOBAL_CTRL);
	value = rdmsr(other->msr);
	in_kernel(body64);
	is(rdmsr(other->msr) != value, !f->frozen, "freeze, %s, %s: whether others count on",
	   name, f->name);
	is(ctrl, f->frozen && !pmu.streamlined ? 0 : c->bit | other->bit,
	   "freeze, %s, %s: GLOBAL_CTRL", name, f->name);
	is(status(), c->bit | (f->frozen && pmu.streamlined ? STATUS_CTR_FRZ : 0),
	   "freeze, %s, %s: GLOBAL_STATUS", name, f->name);
	if (!f->frozen)
		return;
	is(value, SOON, "model: freeze, %s, %s: the other's count", name, f->name);
	is(rdmsr(c->msr), 0, "model: freeze, %s, %s: its own count", name, f->name);
	/* version 4: by clearing the bit; before: by GLOBAL_CTRL */
	wrmsr(MSR_GLOBAL_OVF_CTRL, status());
	if (!pmu.streamlined)
		wrmsr(MSR_GLOBAL_CTRL, other->bit);
	in_kernel(body64);
	ok(rdmsr(other->msr) - value >= BODY_INSTRUCTIONS,
	   "%sfreeze, %s, %s: counting goes on", mark(!counts_exactly(other)), name, f->name);
}

static void test_status_set_freezes(void)
{
	const struct counter *c = &counters[0];

	quiet();
	wrmsr(MSR_GLOBAL_STATUS_SET, STATUS_CTR_FRZ);
	is(count(c, instruction_select(c), 0, in_kernel, body64), 0,
	   "GLOBAL_STATUS[59]: nothing counts while it is set");
	wrmsr(MSR_GLOBAL_OVF_CTRL, STATUS_CTR_FRZ);
	ok(count(c, instruction_select(c), 0, in_kernel, body64) > 0,
	   "GLOBAL_STATUS[59]: counts after it is cleared");
}

/**
 * test_freeze() - DEBUGCTL's freeze on PMI
 */
void test_freeze(void)
{
	static const struct freeze rows[] = {
		{ "with the bit and INT", DEBUGCTL_FREEZE, true, LVTPC_NMI, true },
		{ "without the bit", 0, true, LVTPC_NMI, false },
		{ "without INT", DEBUGCTL_FREEZE, false, LVTPC_NMI, false },
		{ "model: LVTPC masked", DEBUGCTL_FREEZE, true, LVTPC_NMI | APIC_MASKED, true },
	};
	const struct counter *last = &counters[nr_counters - 1];
	unsigned int i;

	if (pmu.streamlined)
		test_status_set_freezes();
	for (i = 0; pmu.freeze && nr_counters > 1 && i < ARRAY_SIZE(rows); i++) {
		is_frozen(&counters[0], &rows[i]);
		is_frozen(last, &rows[i]);
	}
	quiet();
}
