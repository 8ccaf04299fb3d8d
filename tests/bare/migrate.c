// SPDX-License-Identifier: GPL-2.0
/* What the PMU holds and counts stays right when the machine is moved. */
#include "bare.h"

#define COM1		0x3f8
#define COM1_STATUS	(COM1 + 5)
#define COM1_RECEIVED	0x01

#define FEW		1000UL		/* turns of spin() */
#define MANY		400000000UL	/* enough to be moved meanwhile */
#define PER_TURN	2		/* instructions */
#define FAR_AWAY	1000		/* accesses */
#define A_LOT		BIT(40)		/* instructions */

/* Moves the machine, if somebody reads this; goes on where it is told so. */
static void be_moved(const char *when)
{
	say("# move: %s\n", when);
	while (!(inb(COM1_STATUS) & COM1_RECEIVED))
		;
	inb(COM1);
}

/* A value for DEBUGCTL that is not the one at reset. */
static u64 some_debugctl(void)
{
	return pmu.freeze ? DEBUGCTL_FREEZE : BIT(1);
}

/* The bits that are set in any event select or counter. */
static u64 all_selects(void)
{
	u64 set = 0;
	unsigned int i;

	for (i = 0; i < nr_generic; i++)
		set |= rdmsr(evtsel_msr(counters[i].index)) |
		       rdmsr(pmc_msr(counters[i].index));
	return set;
}

/* A counter whose register QEMU does not know from KVM, or NULL. */
static const struct counter *beyond(void)
{
	const struct counter *c;

	for (c = counters; c < counters + nr_all; c++) {
		if (c->fixed && c->index > 2)
			return c;
	}
	return NULL;
}

/* What version 6, more than three fixed counters, the extra registers and AMD's PMU add. */
static void leave_beyond(void)
{
	if (pmu.free_running) {
		wrmsr(MSR_AMD_HWCR, HWCR_IRPERF);
		wrmsr(MSR_AMD_IRPERF, A_LOT);
		wrmsr(MSR_APERF, 2 * A_LOT);
		wrmsr(MSR_MPERF, 3 * A_LOT);
	}
	if (pmu.extra)
		extra_fill();
	if (beyond())
		wrmsr(beyond()->msr, 0x12345678);
	if (pmu.acr) {
		wrmsr(MSR_GP_CFG_B(last_generic()), BIT(last_generic()));
		wrmsr(MSR_GP_CFG_C(last_generic()), CFG_C_EN | 0x1234);
	}
}

static void test_beyond(void)
{
	if (pmu.free_running) {
		is(rdmsr(MSR_AMD_HWCR), HWCR_IRPERF, "moved: HWCR");
		is(rdmsr(MSR_AMD_IRPERF) / A_LOT, 1, "moved: IRPERF");
		is(rdmsr(MSR_APERF) / A_LOT, 2, "moved: APERF");
		is(rdmsr(MSR_MPERF) / A_LOT, 3, "moved: MPERF");
		wrmsr(MSR_AMD_HWCR, 0);
	}
	if (pmu.extra)
		is(extra_not_filled(), 0, "moved: the extra registers");
	if (beyond()) {
		is(rdmsr(beyond()->msr), 0x12345678, "moved: %s", counter_name(beyond()));
		wrmsr(beyond()->msr, 0);
	}
	if (pmu.acr) {
		is(rdmsr(MSR_GP_CFG_B(last_generic())), BIT(last_generic()), "moved: CFG_B");
		is(rdmsr(MSR_GP_CFG_C(last_generic())), CFG_C_EN | 0x1234, "moved: CFG_C");
		wrmsr(MSR_GP_CFG_B(last_generic()), 0);
		wrmsr(MSR_GP_CFG_C(last_generic()), 0);
	}
}

/*
 * All of the registers that QEMU knows from KVM are 0 here, and with that not
 * as at reset.
 */
static void test_rest(void)
{
	u64 writes = 0;

	quiet();
	wrmsr(MSR_DEBUGCTL, some_debugctl());
	if (pmu.faults)
		wrmsr(MSR_FAULT, FAR_AWAY);
	if (pmu.odometer)
		writes = rdmsr(ODOMETER_OF(0) + ODOMETER_WRITES);
	leave_beyond();
	be_moved("at rest");
	test_beyond();
	if (pmu.faults) {
		is(rdmsr(MSR_FAULT), FAR_AWAY, "moved: a fault to come");
		wrmsr(MSR_FAULT, 0);
	}
	if (pmu.odometer)
		is(rdmsr(ODOMETER_OF(0) + ODOMETER_WRITES), writes,
		   "moved: the odometer of writes");
	is(rdmsr(MSR_DEBUGCTL), some_debugctl(), "moved: DEBUGCTL");
	if (pmu.version >= 2)
		is(rdmsr(MSR_GLOBAL_CTRL), 0, "moved: GLOBAL_CTRL is 0");
	if (pmu.version >= 2 && !pmu.amd)
		is(rdmsr(MSR_FIXED_CTR_CTRL), 0, "moved: FIXED_CTR_CTRL is 0");
	is(all_selects(), 0, "moved: generic counters and event selects are 0");
	wrmsr(MSR_DEBUGCTL, 0);
}

/* A halved counter has seen one event more than it shows. */
static void test_odd_event(const struct counter *c)
{
	u64 select = instruction_select(c);

	quiet();
	count(c, select, 0, in_kernel, empty64);
	be_moved("with an odd event");
	is(count_on(c, select, in_kernel, empty64), ALL_OF_EMPTY, "moved: an odd event");
}

/* Which counts a kind of branches meanwhile, or NULL. */
static const struct counter *by_kind(void)
{
	bool can = pmu.version >= 2 && nr_generic > 1 && !pmu.broken &&
		   event_present(EVENT_CONDITIONAL);

	return can ? &counters[1] : NULL;
}

/* Counts a spin of so many turns, on the first counter, with an overflow half-way. */
static u64 count_turns(const struct counter *c, u64 turns)
{
	u64 select = instruction_select(c) | SEL_INT;
	const struct counter *other = by_kind();
	struct run run = run_of(c->bit | (other ? other->bit : 0), select);

	quiet();
	pmi_arm(APIC_MODE_NMI);
	counter_write(c, -turns);
	program(c, select);
	if (other)
		program(other, EVENT_CONDITIONAL | SEL_OS);
	measure(&run, spin, (const void *)turns);
	return (rdmsr(c->msr) + turns) & c->mask;
}

static void test_counting(void)
{
	const struct counter *c = &counters[0];
	u64 few = count_turns(c, FEW);
	u64 per_turn = how_broken(c) == BROKEN_HALVED ? PER_TURN / 2 : PER_TURN;

	say("# move: while it counts\n");
	is(count_turns(c, MANY), few + per_turn * (MANY - FEW),
	   "moved while it counts: instructions");
	is(pmi.count, 1, "moved while it counts: one PMI");
	if (by_kind())
		is(rdmsr(by_kind()->msr), MANY, "moved while it counts: conditional branches");
	if (pmu.version >= 2)
		is(rdmsr(MSR_GLOBAL_STATUS), c->bit, "moved while it counts: GLOBAL_STATUS");
	quiet();
}

/* Counts runs shorter than a pause, until one has begun and is over. */
static void go_behind_pause(const struct counter *c)
{
	u64 turns = PAUSE / PER_TURN / 2;
	u64 all = MEASURE_INSTRUCTIONS + PER_TURN * turns;

	while (count(c, instruction_select(c), 0, spin, (void *)turns) == all)
		;
	while (count(c, instruction_select(c), 0, spin, (void *)turns) != all)
		;
}

/*
 * In so many periods there are so many pauses, wherever they begin.  If the place in the
 * period were lost in the move, there would be one less, unless the move came before the place
 * where the count began: that is just behind a pause.
 */
static void test_pauses(void)
{
	const struct counter *c = &counters[0];
	u64 periods = PER_TURN * MANY / pmu.paused;
	u64 turns = (periods * pmu.paused - MEASURE_INSTRUCTIONS) / PER_TURN;

	be_moved("at rest");
	quiet();
	go_behind_pause(c);
	say("# move: while it counts\n");
	is(count(c, instruction_select(c), 0, spin, (void *)turns),
	   periods * (pmu.paused - PAUSE), "moved while it counts: the pauses");
}

/* The overflow comes before the one instruction that takes long, the PMI behind it. */
static void test_held_back(void)
{
	const struct counter *c = &counters[0];

	quiet();
	pmi_arm(APIC_MODE_NMI);
	say("# move: while a PMI is held back\n");
	count(c, instruction_select(c) | SEL_INT, -5UL, in_kernel, sled_long);
	is(pmi.rip, held_back(sled_long_at, sled_long_done),
	   "moved while a PMI is held back: where it comes");
	is(pmi.count, 1, "moved while a PMI is held back: one PMI");
	quiet();
}

/**
 * test_migration() - two moves, which tests/bare-migrate makes
 */
void test_migration(void)
{
	if (pmu.reload)
		test_left_behind();
	if (pmu.paused) {
		test_pauses();
		return;
	}
	if (how_broken(&counters[0]) == BROKEN_HALVED)
		test_odd_event(&counters[0]);
	else
		test_rest();
	if (pmu.pmi_skid)
		test_held_back();
	else
		test_counting();
}
