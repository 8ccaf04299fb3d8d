// SPDX-License-Identifier: GPL-2.0
/* The lab's MSR_FAULT, which makes one access to the PMU fault. */
#include "bare.h"

static const char * const ways[] = { "RDMSR", "WRMSR", "RDPMC" };

/* Accesses counter 0; WRMSR sets it to 7. */
static int access(unsigned int way)
{
	const struct counter *c = &counters[0];
	u64 value;

	switch (way) {
	case 0:
		return try_rdmsr(c->msr, &value);
	case 1:
		return try_wrmsr(c->msr, 7);
	default:
		return try_rdpmc(c->rdpmc, &value);
	}
}

static void test_each_way(void)
{
	unsigned int way;

	for (way = 0; way < ARRAY_SIZE(ways); way++) {
		counter_write(&counters[0], 5);
		wrmsr(MSR_FAULT, 1);
		is(access(way), VECTOR_GP, "model: fault: %s", ways[way]);
		is(rdmsr(MSR_FAULT), 0, "model: fault: %s: it is over", ways[way]);
		is(rdmsr(counters[0].msr), 5, "model: fault: %s: nothing is changed", ways[way]);
		is(access(way), 0, "model: fault: %s: only once", ways[way]);
	}
}

/* Which of 9 accesses fault, and what MSR_FAULT reads before each. */
static void test_nth(u64 n, u64 wanted)
{
	u64 seen = 0, wrong = 0;
	unsigned int i;

	wrmsr(MSR_FAULT, n);
	for (i = 0; i < 9; i++) {
		if (rdmsr(MSR_FAULT) != (n > i ? n - i : 0))
			wrong |= BIT(i);
		if (access(i % ARRAY_SIZE(ways)))
			seen |= BIT(i);
	}
	is(seen, wanted, "model: fault: of 9 accesses that with number %lu", n);
	is(wrong, 0, "model: fault: how many are left until that with number %lu", n);
	wrmsr(MSR_FAULT, 0);
}

/* What faults by itself would be no fault of ours; nor is every MSR the PMU's. */
static void test_not_counted(void)
{
	u64 value;

	wrmsr(MSR_FAULT, 1);
	if (!pmu.amd)
		is(try_wrmsr(MSR_EVTSEL, BIT(32)), VECTOR_GP, "a reserved bit faults");
	is(try_rdpmc(RDPMC_FAST, &value), VECTOR_GP, "RDPMC of no counter faults");
	rdmsr(MSR_MISC_ENABLE);
	is(rdmsr(MSR_FAULT), 1, "model: fault: what is not counted");
	wrmsr(MSR_FAULT, 0);
}

static int vector;

static void rdpmc_refused(const void *unused)
{
	u64 value;

	(void)unused;
	user_rdpmc(in_user, 0, &vector, &value);
}

static void rdpmc_injected(const void *unused)
{
	wrmsr(MSR_FAULT, 1);
	rdpmc_refused(unused);
}

/* In ring 3, while it counts, an RDPMC that faults is as another that does. */
static void test_while_counting(void)
{
	const struct counter *c = counter_for(EVENT_INSTRUCTIONS);
	u64 wanted;

	if (!c)
		return;
	wanted = count(c, EVENT_INSTRUCTIONS | SEL_USR, 0, rdpmc_refused, NULL);
	is(vector, VECTOR_GP, "RDPMC in ring 3 faults");
	write_cr4(read_cr4() | CR4_PCE);
	is(count(c, EVENT_INSTRUCTIONS | SEL_USR, 0, rdpmc_injected, NULL), wanted,
	   "model: fault: while it counts, the instructions");
	is(vector, VECTOR_GP, "model: fault: while it counts");
	write_cr4(read_cr4() & ~CR4_PCE);
	quiet();
}

/**
 * test_injection() - faults that were asked for
 */
void test_injection(void)
{
	quiet();
	is(rdmsr(MSR_FAULT), 0, "model: fault: none to come");
	test_each_way();
	test_nth(0, 0);
	test_nth(1, BIT(0));
	test_nth(6, BIT(5));
	test_nth(10, 0);
	test_not_counted();
	test_while_counting();
	quiet();
}
