// SPDX-License-Identifier: GPL-2.0
/* The simulated firmware: see pmu_sim.h. */
#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/time64.h>

#include "pmu_hw.h"
#include "pmu_sim.h"

static struct sim_cpu sims[SIM_CPUS];

struct sim_cpu *sim_cpu(unsigned int cpu)
{
	return &sims[cpu];
}

static struct sim_cpu *this_sim(void)
{
	return &sims[smp_processor_id()];
}

static void report(struct sim_cpu *sim, const char *rule)
{
	if (!sim->wrong++)
		sim->first_wrong = rule;
}

/**
 * sim_reset() - a CPU as it is before anybody has used it
 * @cpu: which
 * @pmu: what it has
 *
 * Context: while nobody uses it.
 */
void sim_reset(unsigned int cpu, const struct sim_pmu *pmu)
{
	struct sim_cpu *sim = &sims[cpu];
	unsigned int wrong = sim->wrong, i;
	const char *first_wrong = sim->first_wrong;

	memset(sim, 0, sizeof(*sim));
	sim->pmu = *pmu;
	sim->wrong = wrong;
	sim->first_wrong = first_wrong;
	/* What counters hold before they are started is anybody's. */
	for (i = 0; i < SIM_COUNTERS; i++)
		sim->counter[i].value = (0x1234567 * (i + 1ULL)) & GENMASK_ULL(pmu->width - 1, 0);
}

/* --- time --------------------------------------------------------------------------- */

u64 sim_tick_ns = 4 * NSEC_PER_MSEC;
bool sim_without_ticks;

/* What a look at the clock takes, and a call. */
#define LOOK_NS		1000

static atomic64_t now = ATOMIC64_INIT(NSEC_PER_SEC);

/**
 * sim_now() - the moment; no two looks see the same
 *
 * Context: any.
 * Return: ns.
 */
u64 sim_now(void)
{
	return atomic64_add_return(LOOK_NS, &now);
}

/**
 * sim_pass_ms() - let time pass
 * @ms: how much
 *
 * Context: any.
 */
void sim_pass_ms(unsigned int ms)
{
	atomic64_add(ms * NSEC_PER_MSEC, &now);
}

/**
 * sim_sleep_ms() - a millisecond
 *
 * Context: task.
 */
void sim_sleep_ms(void)
{
	sim_pass_ms(1);
}

/* --- the firmware -------------------------------------------------------------------- */

#define FIXED_COUNTERS	0x5U

/* Flags of the functions. */
#define CFG_CLEAR_VALUE		BIT(1)
#define CFG_AUTO_START		BIT(2)
#define CFG_SKIP_USER		BIT(5)
#define CFG_SKIP_KERNEL		BIT(6)
#define START_WITH_VALUE	BIT(0)
#define STOP_AND_FREE		BIT(0)

#define FIRST_CSR		0xc00
#define INFO_FIRMWARE		BIT_ULL(63)

static bool is_fixed(unsigned int i)
{
	return FIXED_COUNTERS & BIT(i);
}

static u64 mask_of(const struct sim_cpu *sim, unsigned int i)
{
	return GENMASK_ULL((is_fixed(i) ? 64 : sim->pmu.width) - 1, 0);
}

static unsigned int count_counters(const struct sim_pmu *pmu)
{
	return fls(pmu->counters) + pmu->firmware;
}

/* Time is none of the counters, nor is a hole. */
static long get_info(const struct sim_cpu *sim, unsigned long i, unsigned long *val)
{
	const struct sim_pmu *pmu = &sim->pmu;
	unsigned int hardware = fls(pmu->counters);

	if (i >= count_counters(pmu))
		return SIM_INVALID_PARAM;
	if (i >= hardware) {
		/* The rest means nothing. */
		*val = INFO_FIRMWARE | 63 << 12 | (FIRST_CSR + i);
		return 0;
	}
	if (!(pmu->counters & BIT(i)))
		return SIM_INVALID_PARAM;
	*val = (FIRST_CSR + i + (pmu->moved & BIT(i) ? 1 : 0)) |
	       ((is_fixed(i) ? 64 : pmu->width) - 1) << 12;
	return 0;
}

static int fixed_of(const struct sim_pmu *pmu, u32 event)
{
	if (event == SIM_CYCLES && pmu->counters & BIT(0))
		return 0;
	if (event == SIM_INSTRUCTIONS && pmu->counters & BIT(2))
		return 2;
	return -1;
}

static const struct sim_event *find_event(const struct sim_pmu *pmu, u32 event, u64 data)
{
	unsigned int i;

	for (i = 0; i < pmu->nr_events; i++) {
		if (pmu->events[i].event == event &&
		    (event != SIM_RAW || pmu->events[i].data == data))
			return &pmu->events[i];
	}
	return NULL;
}

/*
 * The highest programmable one of those asked for that counts the event and is not configured.
 * Without Sscofpmf whoever wants cycles or instructions gets the fixed counter, whatever was
 * asked for; with it, if there is no other.
 */
static long choose(const struct sim_cpu *sim, unsigned long wanted, u32 event, u64 data)
{
	const struct sim_event *known = find_event(&sim->pmu, event, data);
	int fixed = sim->pmu.fixed_refused ? -1 : fixed_of(&sim->pmu, event), i;

	if (fixed >= 0 && !sim->pmu.sscofpmf)
		return fixed;
	if (sim->gives)
		wanted = BIT(sim->gives);
	wanted &= known ? known->counters & sim->pmu.counters & ~FIXED_COUNTERS : 0;
	for (i = SIM_COUNTERS - 1; i >= 0; i--) {
		if (wanted & BIT(i) && !sim->counter[i].configured)
			return i;
	}
	return fixed >= 0 ? fixed : SIM_NOT_SUPPORTED;
}

static long cfg_match(struct sim_cpu *sim, unsigned long wanted, unsigned long flags, u64 event,
		      u64 data, unsigned long *val)
{
	struct sim_counter *c;
	long i;

	/* Types are hardware, cache and raw; there is no hardware event 0. */
	if (!event || event >> 16 > 2)
		return SIM_INVALID_PARAM;
	i = choose(sim, wanted, event, data);
	if (i < 0)
		return i;
	c = &sim->counter[i];
	c->configured = true;
	c->event = event;
	c->data = data;
	/* The fixed ones have no modes without Smcntrpmf. */
	c->flags = is_fixed(i) ? 0 : flags;
	if (flags & CFG_CLEAR_VALUE)
		c->value = 0;
	if (flags & CFG_AUTO_START)
		c->running = true;
	*val = i;
	return 0;
}

static long start(struct sim_cpu *sim, unsigned long counters, unsigned long flags, u64 value)
{
	long err = sim->pmu.starts_any ? 0 : SIM_INVALID_PARAM;
	unsigned int i;

	for (i = 0; i < SIM_COUNTERS; i++) {
		struct sim_counter *c = &sim->counter[i];

		if (!(counters & BIT(i)) || !c->configured)
			continue;
		err = c->running && !sim->pmu.no_inhibit ? SIM_ALREADY_STARTED : 0;
		if (!c->running && flags & START_WITH_VALUE)
			c->value = value & mask_of(sim, i);
		c->running = true;
	}
	return err;
}

/* The fixed ones stay configured. */
static long stop(struct sim_cpu *sim, unsigned long counters, unsigned long flags)
{
	long err = SIM_INVALID_PARAM;
	unsigned int i;

	for (i = 0; i < SIM_COUNTERS; i++) {
		struct sim_counter *c = &sim->counter[i];

		if (!(counters & BIT(i)) || !c->configured)
			continue;
		err = c->running ? 0 : SIM_ALREADY_STOPPED;
		c->running = false;
		if (flags & STOP_AND_FREE && !is_fixed(i))
			c->configured = false;
	}
	return err;
}

/**
 * sim_sbi() - a call of the firmware, by whoever it may be
 * @sim: the CPU
 * @function: which
 * @base: the first counter that it is about
 * @mask: those behind it, by bit
 * @flags: of the function
 * @arg: the event's index, or the value to start from
 * @data: of a raw event
 * @val: filled in, if the function answers with a value
 *
 * Context: any; not in the log.
 * Return: 0 or SBI's error.
 */
long sim_sbi(struct sim_cpu *sim, enum sim_function function, unsigned long base,
	     unsigned long mask, unsigned long flags, u64 arg, u64 data, unsigned long *val)
{
	if (function == SIM_NUM_COUNTERS) {
		*val = count_counters(&sim->pmu);
		return 0;
	}
	if (function == SIM_GET_INFO)
		return get_info(sim, base, val);
	if (base + fls64(mask) > count_counters(&sim->pmu))
		return SIM_INVALID_PARAM;
	switch (function) {
	case SIM_CFG_MATCH:
		return cfg_match(sim, mask << base, flags, arg, data, val);
	case SIM_START:
		return start(sim, mask << base, flags, arg);
	case SIM_STOP:
		return stop(sim, mask << base, flags);
	default:
		return SIM_NOT_SUPPORTED;
	}
}

/* --- what counts ---------------------------------------------------------------------- */

/**
 * sim_count() - an event happens
 * @sim: on this CPU
 * @event: its index
 * @data: of a raw one
 * @user: in user mode
 * @n: how often
 *
 * Context: the CPU, or any while it does nothing.
 */
void sim_count(struct sim_cpu *sim, u32 event, u64 data, bool user, u64 n)
{
	bool first = true, first_of_event = true;
	unsigned int i;

	for (i = 0; i < SIM_COUNTERS; i++) {
		struct sim_counter *c = &sim->counter[i];
		bool broken = sim->broken_counters & BIT(i), lost;
		bool was_first = first, was_first_of_event = first_of_event;

		if (!c->configured || !c->running)
			continue;
		first = false;
		if (c->event != event || (event == SIM_RAW && c->data != data) ||
		    c->flags & (user ? CFG_SKIP_USER : CFG_SKIP_KERNEL))
			continue;
		first_of_event = false;
		lost = sim->broken == SIM_DEAD ||
		       (sim->broken == SIM_SINGLE && !was_first_of_event) ||
		       (sim->broken == SIM_STARVED && !was_first);
		if (broken && lost)
			continue;
		c->value += broken && sim->broken == SIM_HALVED ? n / 2 : n;
		c->value &= mask_of(sim, i);
	}
}

/**
 * sim_retire() - instructions retire, each in a cycle
 * @sim: on this CPU
 * @user: in user mode
 * @n: how many
 *
 * Context: as sim_count().
 */
void sim_retire(struct sim_cpu *sim, bool user, u64 n)
{
	sim_count(sim, SIM_INSTRUCTIONS, 0, user, n);
	sim_count(sim, SIM_CYCLES, 0, user, n);
}

/* --- the seam --------------------------------------------------------------------------- */

static void note(struct sim_cpu *sim, const struct sim_call *call)
{
	if (!irqs_disabled())
		report(sim, "interrupts are off");
	if (sim->nr_calls < SIM_CALLS)
		sim->call[sim->nr_calls] = *call;
	sim->nr_calls++;
	sim_now();
}

bool hw_has_sbi_pmu(void)
{
	return !this_sim()->pmu.absent;
}

unsigned int hw_sbi_version(void)
{
	return this_sim()->pmu.version;
}

bool hw_has_sscofpmf(void)
{
	return this_sim()->pmu.sscofpmf;
}

/* One that fails has done nothing. */
long hw_sbi_pmu(unsigned long function, unsigned long arg0, unsigned long arg1,
		unsigned long arg2, unsigned long arg3, unsigned long arg4, unsigned long *val)
{
	struct sim_cpu *sim = this_sim();
	struct sim_call call = {
		.function = function, .counter = arg0, .flags = arg2, .arg = arg3, .data = arg4,
	};
	bool fails = sim->fail_nth == 1 || (function && sim->fail_function == function);

	if (sim->fail_nth)
		sim->fail_nth--;
	/* What is found there means nothing if there is an error, and looks as if it did. */
	*val = function == SIM_GET_INFO ? 63 << 12 | (FIRST_CSR + arg0) : arg0;
	call.err = fails ? sim->fail_err :
			   sim_sbi(sim, function, arg0, arg1, arg2, arg3, arg4, val);
	call.val = *val;
	if (fails) {
		sim->failed = call;
		sim->has_failed = true;
	}
	note(sim, &call);
	return call.err;
}

u64 hw_read_counter(unsigned int csr)
{
	struct sim_cpu *sim = this_sim();
	unsigned int i = csr - FIRST_CSR;
	struct sim_call call = { .function = SIM_READ, .counter = csr };

	if (i >= SIM_COUNTERS || !(sim->pmu.counters & BIT(i))) {
		report(sim, "a CSR that is read exists");
		return 0;
	}
	call.val = sim->counter[i].value;
	note(sim, &call);
	return call.val;
}

/* One cycle for each instruction. */
void hw_run_known_code(unsigned int rounds)
{
	sim_retire(this_sim(), false, rounds * HW_ROUND_INSTRUCTIONS);
}

/* --- the log ------------------------------------------------------------------------------ */

void sim_clear_log(struct sim_cpu *sim)
{
	sim->nr_calls = 0;
}

/**
 * sim_drop_calls() - forget the first ones of the log
 * @sim: the CPU
 * @nr: so many
 *
 * Context: any.
 */
void sim_drop_calls(struct sim_cpu *sim, unsigned int nr)
{
	sim->nr_calls -= nr;
	memmove(&sim->call[0], &sim->call[nr], sim->nr_calls * sizeof(sim->call[0]));
}

/**
 * sim_describe() - the log, as a line
 * @sim: the CPU
 * @text: filled in
 * @size: of it
 *
 * "count", "info 3", "cfg 3 0x10019", with "/0x5" for a raw event's data and " flags 0x28" if
 * there are some; "start 3" and "start 3=0"; "stop 3" and "free 3"; "read 3"; each with the answer
 * of a call that did not do what it says: ">4" or "!-3".
 *
 * Context: any.
 */
void sim_describe(const struct sim_cpu *sim, char *text, size_t size)
{
	static const char * const verbs[][2] = {
		[SIM_NUM_COUNTERS] = { "count", "count" }, [SIM_GET_INFO] = { "info", "info" },
		[SIM_CFG_MATCH] = { "cfg", "cfg" }, [SIM_START] = { "start", "start" },
		[SIM_STOP] = { "stop", "free" }, [SIM_READ] = { "read", "read" },
	};
	size_t len = 0;
	unsigned int i;

	*text = '\0';
	for (i = 0; i < min(sim->nr_calls, SIM_CALLS * 1U); i++) {
		const struct sim_call *c = &sim->call[i];
		unsigned long counter = c->function == SIM_READ ? c->counter - FIRST_CSR :
								  c->counter;

		len += scnprintf(text + len, size - len, "%s%s", i ? ", " : "",
				 verbs[c->function][c->flags & 1]);
		if (c->function != SIM_NUM_COUNTERS)
			len += scnprintf(text + len, size - len, " %lu", counter);
		if (c->function == SIM_CFG_MATCH)
			len += scnprintf(text + len, size - len, " %#llx", c->arg);
		if (c->function == SIM_CFG_MATCH && c->data)
			len += scnprintf(text + len, size - len, "/%#llx", c->data);
		if (c->function == SIM_CFG_MATCH && c->flags)
			len += scnprintf(text + len, size - len, " flags %#lx", c->flags);
		if (c->function == SIM_START && c->flags & START_WITH_VALUE)
			len += scnprintf(text + len, size - len, "=%llu", c->arg);
		if (c->err)
			len += scnprintf(text + len, size - len, "!%ld", c->err);
		else if (c->function == SIM_CFG_MATCH && c->val != c->counter)
			len += scnprintf(text + len, size - len, ">%lu", c->val);
	}
}
