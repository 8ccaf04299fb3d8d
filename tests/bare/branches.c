// SPDX-License-Identifier: GPL-2.0
/*
 * The kinds of branches that CPUs of Skylake's models count apart: BR_INST_RETIRED's unit
 * masks, as perf's table for skylake has them.
 */
#include "bare.h"

/* Of a piece of work, beside the number of its branches; work that is not here has JMPs alone. */
struct kinds {
	const char *title;
	u32 conditional;
	u32 not_taken;
	u32 calls;
	u32 returns;
	u32 far;
	u32 far_back;	/* those of them that are in ring 0 if the work is in ring 3 */
};

static const struct kinds kinds_table[] = {
	{ "1000 turns of DEC and JNZ", .conditional = 1000, .not_taken = 1 },
	{ "50 turns of LOOP", .conditional = 50, .not_taken = 1 },
	{ "10 branches not taken", .conditional = 10, .not_taken = 10 },
	{ "10 branches taken", .conditional = 10 },
	{ "CALL and RET", .calls = 3, .returns = 3 },
	{ "two CALLs without", .calls = 2, .returns = 1 },
	{ "JECXZ", .conditional = 2, .not_taken = 1 },
	{ "Jcc with 32-bit", .conditional = 2, .not_taken = 1 },
	{ "LOOPE, LOOPNE", .conditional = 5, .not_taken = 3, .calls = 1, .returns = 1 },
	{ "Jcc to another page", .conditional = 3, .not_taken = 1 },
	{ "Jcc at the end of a page", .conditional = 1, .not_taken = 1 },
	{ "20 turns with a REP STOSB", .conditional = 20, .not_taken = 1 },
	{ "UD2", .far = 1 },
	{ "a load that faults is not", .far = 1 },
	{ "a load that faults and", .far = 1 },
	{ "a REP MOVSB with a fault", .far = 1 },
	{ "a store into two pages", .far = 1 },
	{ "an instruction that is fetched", .calls = 1, .returns = 1, .far = 1 },
	{ "INT n", .far = 2, .far_back = 1 },
	{ "IRET", .far = 1 },
	{ "far JMP", .far = 2 },
	{ "far CALL", .far = 2 },
	{ "accesses to the PMU that fault", .far = 3 },
	{ "SYSCALL", .far = 2, .far_back = 1 },
	{ "SYSENTER", .far = 2, .far_back = 1 },
	{ "HLT", .far = 1 },
};

static const u16 events[] = {
	EVENT_CONDITIONAL, EVENT_NEAR_CALLS, EVENT_BRANCHES_PEBS, EVENT_NEAR_RETURNS,
	EVENT_NOT_TAKEN, EVENT_NEAR_TAKEN, EVENT_FAR_BRANCHES,
};

static bool begins(const char *s, const char *with)
{
	while (*with) {
		if (*s++ != *with++)
			return false;
	}
	return true;
}

static const struct kinds *kinds_of(const struct work *w)
{
	static const struct kinds none;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(kinds_table); i++) {
		if (begins(w->title, kinds_table[i].title))
			return &kinds_table[i];
	}
	return &none;
}

/* How many of an event there are, in all rings. */
static u64 wanted(u16 event, const struct work *w, const struct kinds *k)
{
	switch (event) {
	case EVENT_CONDITIONAL:
		return k->conditional;
	case EVENT_NEAR_CALLS:
		return k->calls;
	case EVENT_NEAR_RETURNS:
		return k->returns;
	case EVENT_NOT_TAKEN:
		return k->not_taken;
	case EVENT_NEAR_TAKEN:
		return w->branches - k->not_taken - k->far;
	case EVENT_FAR_BRANCHES:
		return k->far;
	default:
		return w->branches;
	}
}

/* How many of an event there are outside the ring that the work is in. */
static u64 wanted_back(u16 event, const struct kinds *k)
{
	return event == EVENT_FAR_BRANCHES || event == EVENT_BRANCHES_PEBS ? k->far_back : 0;
}

/* Each event in the ring of the work, and then in the other one. */
static void test_kinds_in(void (*enter)(const void *fn), unsigned int ring, u32 unless)
{
	const struct counter *c = &counters[0];
	u64 select[2] = { ring ? SEL_USR : SEL_OS, ring ? SEL_OS : SEL_USR };
	u64 empty[ARRAY_SIZE(events)][2], got, want[2], wrong;
	const struct kinds *k;
	const struct work *w;
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(events); i++) {
		for (j = 0; j < 2; j++)
			empty[i][j] = count(c, events[i] | select[j], 0, enter, empty64);
	}
	for (w = work_table; w < work_table_end; w++) {
		if (w->flags & unless)
			continue;
		k = kinds_of(w);
		wrong = 0;
		for (i = 0; i < ARRAY_SIZE(events); i++) {
			want[1] = ring ? wanted_back(events[i], k) : 0;
			want[0] = wanted(events[i], w, k) - want[1];
			for (j = 0; j < 2; j++) {
				got = count(c, events[i] | select[j], 0, enter, w->fn);
				wrong |= got - empty[i][j] != want[j] ? BIT(2 * i + j) : 0;
			}
		}
		is(wrong, 0, "model: ring %u, branches by kind: %s", ring, w->title);
	}
}

/* The overflow comes with the branch of this kind. */
static void test_kind_overflows(void)
{
	const struct counter *c = &counters[0];
	const char *not_taken = find_work("10 branches not taken")->fn;
	const char *calls = find_work("CALL and RET")->fn;
	const struct {
		u16 event;
		u32 before;	/* of the event */
		const char *fn;
		u64 rip;
	} rows[] = {
		{ EVENT_CONDITIONAL, 6, not_taken, (u64)not_taken + 2 + 2 * 7 },
		{ EVENT_NOT_TAKEN, 6, not_taken, (u64)not_taken + 2 + 2 * 7 },
		{ EVENT_NEAR_RETURNS, 0, calls, (u64)calls + 5 },
		{ EVENT_NEAR_RETURNS, 1, calls, (u64)calls + 5 + 7 + 2 },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		quiet();
		pmi_arm(APIC_MODE_NMI);
		count(c, rows[i].event | SEL_OS | SEL_INT, -(u64)(rows[i].before + 1),
		      in_kernel, rows[i].fn);
		is(pmi.rip, rows[i].rip, "model: PMI of event 0x%x, behind number %u",
		   rows[i].event, rows[i].before + 1);
	}
}

/**
 * test_branches() - branches by their kind
 */
void test_branches(void)
{
	if (!event_present(EVENT_CONDITIONAL))
		return;
	quiet();
	set_work_traps(true);
	test_kinds_in(in_kernel, 0, WORK_RING3);
	test_kinds_in(in_user, 3, WORK_RING0);
	set_work_traps(false);
	test_kind_overflows();
	quiet();
}
