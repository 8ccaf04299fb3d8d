// SPDX-License-Identifier: GPL-2.0
/*
 * Events: from what is wanted to a counter, and on and off on their CPU.
 *
 * All counters of a CPU that are enabled together start with one write of
 * IA32_PERF_GLOBAL_CTRL (from version 2 on), so they count the same
 * instructions.  What the registers held before is kept and put back.
 */
#include <linux/bitops.h>
#include <linux/errno.h>
#include <linux/lockdep.h>
#include <linux/ktime.h>
#include <linux/smp.h>

#include "pmu_event.h"
#include "pmu_growth.h"
#include "pmu_intel.h"
#include "pmu_truth.h"
#include "pmu_why.h"

/* --- what the CPU has ----------------------------------------------------- */

struct detect_request {
	struct my_x86_pmu *pmu;
	struct my_pmu_why *why;
	int err;
};

static void detect_on_cpu(void *info)
{
	struct detect_request *req = info;

	req->err = my_intel_pmu_init(req->pmu, req->why);
}

/**
 * my_pmu_detect() - the PMU of a CPU
 * @cpu: the CPU
 * @pmu: filled in
 * @why: if refused, the reason
 *
 * Touches nothing.  CPUs may differ (hybrid), so the CPU itself is asked.
 *
 * Context: task, interrupts on; sends one cross-call and waits for it.
 * Return: 0; -ENXIO if @cpu is offline; -ENODEV if it has no usable PMU;
 * -EIO if it does not answer as it promises.
 */
int my_pmu_detect(int cpu, struct my_x86_pmu *pmu, struct my_pmu_why *why)
{
	struct detect_request req = { .pmu = pmu, .why = why, .err = -EIO };
	int err;

	err = smp_call_function_single(cpu, detect_on_cpu, &req, 1);
	if (err)
		return my_refuse(why, err,
				 "CPU %d is offline", cpu);
	return req.err;
}

/* --- counter assignment: pure --------------------------------------------- */

/* Is there any counter, free or not, that counts it? */
static bool countable(const struct my_x86_pmu *pmu,
		      const struct my_perf_event_attr *attr)
{
	u64 set;

	for (set = pmu->counters; set; set &= set - 1) {
		if (pmu->counts(attr, __ffs64(set)))
			return true;
	}
	return false;
}

static int refuse_uncountable(const struct my_pmu_cpu *c,
			      const struct my_perf_event_attr *attr,
			      struct my_pmu_why *why)
{
	return my_refuse(why, -EOPNOTSUPP,
			 "'%s': CPU %d has no counter that counts it",
			 attr->name, c->cpu);
}

static int choose_pinned(const struct my_pmu_cpu *c,
			 const struct my_perf_event_attr *attr,
			 struct my_pmu_why *why)
{
	const char *kind = my_pmc_kind(attr->pin);
	int number = my_pmc_number(attr->pin);
	const struct my_x86_pmu *pmu = &c->pmu;

	if (!(pmu->counters & BIT_ULL(attr->pin)))
		return my_refuse(why, -EINVAL,
				 "'%s@%s%d': CPU %d has no %s%d; it has %u generic (gp) and %u fixed counters",
				 attr->name, kind, number, c->cpu, kind, number,
				 my_pmu_num_counters(pmu),
				 my_pmu_num_counters_fixed(pmu));
	if (!countable(pmu, attr))
		return refuse_uncountable(c, attr, why);
	if (!pmu->counts(attr, attr->pin))
		return my_refuse(why, -EINVAL,
				 "'%s@%s%d': %s%d cannot count this event; leave the pin out and the module chooses",
				 attr->name, kind, number, kind, number);
	if (c->foreign & BIT_ULL(attr->pin))
		return my_refuse(why, -EBUSY,
				 "'%s@%s%d': %s%d is in use on CPU %d, and not by Linux: its firmware has it; without a pin, as in counters=instructions,cycles, the module chooses",
				 attr->name, kind, number, kind, number, c->cpu);
	if (c->used & BIT_ULL(attr->pin))
		return my_refuse(why, -EINVAL,
				 "'%s@%s%d': %s%d is taken by another event; each counter takes one",
				 attr->name, kind, number, kind, number);
	return attr->pin;
}

/* The fixed counter that counts this event, else the lowest generic one. */
static int choose_free(const struct my_pmu_cpu *c,
		       const struct my_perf_event_attr *attr,
		       struct my_pmu_why *why)
{
	u64 left = c->pmu.counters & ~c->used & ~c->foreign &
		   (attr->counters ?: ~0ULL);
	u64 sets[] = { left & MY_FIXED_COUNTERS, left & MY_GENERIC_COUNTERS };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sets); i++) {
		for (; sets[i]; sets[i] &= sets[i] - 1) {
			int idx = __ffs64(sets[i]);

			if (c->pmu.counts(attr, idx))
				return idx;
		}
	}
	return my_refuse(why, -ENOSPC,
			 "'%s': no counter is left that counts it; CPU %d has %u generic (gp) and %u fixed counters%s",
			 attr->name, c->cpu, my_pmu_num_counters(&c->pmu),
			 my_pmu_num_counters_fixed(&c->pmu),
			 c->foreign ? ", and its firmware uses some" : "");
}

static int choose_counter(const struct my_pmu_cpu *c,
			  const struct my_perf_event_attr *attr,
			  struct my_pmu_why *why)
{
	if (attr->pin != MY_PMC_ANY)
		return choose_pinned(c, attr, why);
	if (!countable(&c->pmu, attr))
		return refuse_uncountable(c, attr, why);
	return choose_free(c, attr, why);
}

/**
 * my_perf_event_init() - an event on a CPU, on a counter of its own
 * @event: filled in; belongs to @c from now on if this succeeds
 * @c: the CPU; its PMU must be known
 * @attr: what to count
 * @why: if refused, the reason
 *
 * Context: any; pure, no register is touched.
 * Return: 0; -EINVAL for a pin that cannot be, -EBUSY for one to a counter that
 * is not ours; -EOPNOTSUPP if the CPU does not have the event; -ENOSPC if no
 * counter is left for it.
 */
int my_perf_event_init(struct my_perf_event *event, struct my_pmu_cpu *c,
		       const struct my_perf_event_attr *attr,
		       struct my_pmu_why *why)
{
	int idx = choose_counter(c, attr, why);
	int err;

	if (idx < 0)
		return idx;
	*event = (struct my_perf_event) {
		.attr = *attr,
		.hw.idx = idx,
		.cpu = c,
	};
	err = c->pmu.hw_config(&c->pmu, event);
	if (err)
		return my_refuse(why, err,
				 "'%s': CPU %d does not have this event (CPUID.0AH:EBX flags it absent)",
				 attr->name, c->cpu);
	c->used |= BIT_ULL(idx);
	return 0;
}

static int init_events(struct my_pmu_cpu *c,
		       const struct my_perf_event_attr *attr, bool pinned,
		       struct my_pmu_why *why)
{
	unsigned int i;
	int err;

	for (i = 0; i < c->nr_events; i++) {
		bool is_pinned = attr[i].pin != MY_PMC_ANY;

		if (is_pinned != pinned)
			continue;
		err = my_perf_event_init(&c->event[i], c, &attr[i], why);
		if (err)
			return err;
	}
	return 0;
}

/**
 * my_pmu_cpu_init() - all events of a CPU, pins first
 * @c: @c->cpu, @c->pmu and @c->foreign are set, the rest is filled in
 * @attr: the events
 * @nr: how many, at most MY_PMC_MAX
 * @why: if refused, the reason
 *
 * An event without a pin never takes a counter that a later one is pinned to.
 * All are to run when the CPU comes up, see my_pmu_cpu_up().
 *
 * Context: any; pure.
 * Return: 0, or what my_perf_event_init() refused with.
 */
int my_pmu_cpu_init(struct my_pmu_cpu *c, const struct my_perf_event_attr *attr,
		    unsigned int nr, struct my_pmu_why *why)
{
	int err;

	c->nr_events = nr;
	c->used = 0;
	c->enabled = 0;
	c->tell = 0;
	c->suspect = 0;
	c->marks = (struct my_pmu_marks) {};
	c->away = true;
	err = init_events(c, attr, true, why);
	if (err)
		return err;
	err = init_events(c, attr, false, why);
	c->wanted = c->used;
	return err;
}

/* --- on the event's CPU, interrupts off ------------------------------------ */

static int run(struct my_pmu_cpu *c, u64 counters)
{
	return c->pmu.run(&c->pmu, &c->stopped, counters);
}

/* What the counter itself tells; whether it is programmed is another question. */
static enum my_pmu_growth growth(const struct my_perf_event *event, u64 now,
				 u64 time)
{
	const struct my_pmu_cpu *c = event->cpu;
	const struct my_hw_perf_event *hw = &event->hw;
	u64 tells = c->tell & BIT_ULL(hw->idx);
	const struct my_pmu_step step = {
		.prev = hw->prev_count,
		.now = now,
		.bits = hw->cntval_bits,
		.ns = time - hw->prev_time,
		.tells = tells,
		.overflowed = tells & c->stopped.overflowed,
	};

	if (c->suspect & BIT_ULL(hw->idx))
		return MY_GROWTH_STOLEN;
	return my_pmu_growth(&step);
}

/* Until all of it is done, what the counter shows is nobody's count. */
static int program_anew(const struct my_perf_event *event, u64 *now)
{
	const struct my_x86_pmu *pmu = &event->cpu->pmu;
	int err;

	event->cpu->suspect |= BIT_ULL(event->hw.idx);
	err = pmu->program(event, true);
	return err ?: pmu->read(event, now);
}

static void note_growth(struct my_perf_event *event, enum my_pmu_growth known,
			u64 now)
{
	struct my_pmu_marks *marks = &event->cpu->marks;
	const struct my_hw_perf_event *hw = &event->hw;
	u64 bit = BIT_ULL(hw->idx);

	switch (known) {
	case MY_GROWTH_KNOWN:
		event->count += my_pmu_delta(hw->prev_count, now,
					     hw->cntval_bits);
		if (now < hw->prev_count)
			marks->wrapped |= bit;
		break;
	case MY_GROWTH_STOLEN:
		marks->stolen |= bit;
		break;
	case MY_GROWTH_LATE:
		marks->late |= bit;
		break;
	}
}

/**
 * my_perf_event_update() - add what the counter has grown by to the count
 * @event: the event; it is enabled
 * @time: when its CPU's counters were stopped, CLOCK_MONOTONIC, ns
 *
 * If its growth cannot be known nothing is added, and the CPU's marks say why.
 * One that somebody else has written is programmed anew.
 *
 * Context: the event's CPU, interrupts off, its counters stopped.
 * Return: 0, or -EIO if a register faulted; then nothing was added, and the next
 * time it will be.
 */
int my_perf_event_update(struct my_perf_event *event, u64 time)
{
	struct my_pmu_cpu *c = event->cpu;
	struct my_hw_perf_event *hw = &event->hw;
	enum my_pmu_growth known;
	int programmed, err;
	u64 now;

	err = c->pmu.read(event, &now);
	if (err)
		return err;
	programmed = c->pmu.is_programmed(event);
	if (programmed < 0)
		return programmed;
	known = programmed ? growth(event, now, time) : MY_GROWTH_STOLEN;
	if (known == MY_GROWTH_STOLEN) {
		err = program_anew(event, &now);
		if (err)
			return err;
	}
	note_growth(event, known, now);
	c->suspect &= ~BIT_ULL(hw->idx);
	hw->prev_count = now;
	hw->prev_time = time;
	return 0;
}

/**
 * my_pmu_update() - my_perf_event_update() for some events of a CPU
 * @c: the CPU
 * @counters: their counters, by id; all are enabled
 * @time: when its counters were stopped, CLOCK_MONOTONIC, ns
 *
 * One that fails leaves the others alone; its overflow is not accounted for, and
 * is taken out of @c->stopped.overflowed.
 *
 * Context: the CPU in question, interrupts off, its counters stopped.
 * Return: 0, or -EIO if a register faulted.
 */
int my_pmu_update(struct my_pmu_cpu *c, u64 counters, u64 time)
{
	int first = 0, err;
	unsigned int i;

	for (i = 0; i < c->nr_events; i++) {
		u64 bit = BIT_ULL(c->event[i].hw.idx);

		if (!(counters & bit))
			continue;
		err = my_perf_event_update(&c->event[i], time);
		if (err)
			c->stopped.overflowed &= ~bit;
		first = first ?: err;
	}
	return first;
}

static int disable_counters(struct my_pmu_cpu *c, u64 counters)
{
	int first = 0, err, i;

	for (i = c->nr_events - 1; i >= 0; i--) {
		if (!(counters & BIT_ULL(c->event[i].hw.idx)))
			continue;
		err = c->pmu.disable(&c->pmu, &c->event[i]);
		first = first ?: err;
	}
	return first;
}

/* On failure what had been enabled is disabled again, in reverse order. */
static int enable_counters(struct my_pmu_cpu *c, u64 counters)
{
	u64 done = 0;
	unsigned int i;
	int err;

	for (i = 0; i < c->nr_events; i++) {
		u64 bit = BIT_ULL(c->event[i].hw.idx);

		if (!(counters & bit))
			continue;
		c->suspect &= ~bit;
		err = c->pmu.enable(&c->pmu, &c->event[i]);
		if (err) {
			disable_counters(c, done);
			return err;
		}
		done |= bit;
	}
	return 0;
}

/* The moment from which they count. */
static void stamp_counters(struct my_pmu_cpu *c, u64 counters)
{
	u64 now = ktime_get_ns();
	unsigned int i;

	for (i = 0; i < c->nr_events; i++) {
		if (counters & BIT_ULL(c->event[i].hw.idx))
			c->event[i].hw.prev_time = now;
	}
}

static int enable_and_run(struct my_pmu_cpu *c, u64 counters)
{
	int err;

	err = enable_counters(c, counters);
	if (err)
		return err;
	stamp_counters(c, counters);
	err = run(c, c->enabled | counters);
	if (err) {
		disable_counters(c, counters);
		return err;
	}
	/* Enabled now, they must not seem to have wrapped before. */
	return c->pmu.acknowledge(&c->pmu, c->stopped.overflowed & counters &
					   c->tell);
}

/* As it was before them: whatever else runs, runs on. */
static int run_others(struct my_pmu_cpu *c)
{
	if (c->enabled)
		return run(c, c->enabled);
	return c->pmu.give_back(&c->pmu, &c->found, &c->stopped, c->used);
}

static int start_counters(struct my_pmu_cpu *c, u64 counters)
{
	int err;

	if (!c->enabled) {
		err = c->pmu.take(&c->pmu, &c->found);
		if (err)
			return err;
	}
	err = my_pmu_stop(c);
	if (err)
		return err;
	err = enable_and_run(c, counters);
	if (err)
		run_others(c);
	else
		c->enabled |= counters;
	return err;
}

/* Nothing is left out because something before it failed. */
static int stop_counters(struct my_pmu_cpu *c, u64 counters)
{
	int first, err;

	first = my_pmu_stop(c);
	if (first)
		c->stopped.overflowed = 0;	/* it was seen by another stop */
	err = my_pmu_update(c, counters, ktime_get_ns());
	first = first ?: err;
	err = disable_counters(c, counters);
	first = first ?: err;
	c->enabled &= ~counters;
	err = run_others(c);
	first = first ?: err;
	if (!c->enabled)
		return first;
	/* Enabled again it must not seem to have wrapped once more. */
	err = c->pmu.acknowledge(&c->pmu, c->stopped.overflowed & counters &
					  c->tell);
	return first ?: err;
}

static int __my_pmu_enable(struct my_pmu_cpu *c, u64 counters, void *unused)
{
	int err = 0;

	lockdep_assert_irqs_disabled();
	if (c->away)
		return -ENXIO;
	counters &= ~c->enabled;
	if (counters)
		err = start_counters(c, counters);
	if (!err)
		c->wanted |= counters;
	return err;
}

static int __my_pmu_disable(struct my_pmu_cpu *c, u64 counters, void *unused)
{
	lockdep_assert_irqs_disabled();
	c->wanted &= ~counters;
	counters &= c->enabled;
	return counters ? stop_counters(c, counters) : 0;
}

/* Neither the firmware, nor a counter that does not count, is overlooked. */
static int look_first(struct my_pmu_cpu *c, struct my_pmu_why *why)
{
	u64 in_use;
	int err;

	err = c->pmu.survey(&c->pmu, &in_use);
	if (err)
		return err;
	if (in_use & c->used)
		return my_refuse(why, -EBUSY,
				 "%s%d is in use, and not by Linux: its firmware has it",
				 my_pmc_kind(__ffs64(in_use & c->used)),
				 my_pmc_number(__ffs64(in_use & c->used)));
	return my_pmu_prove(c, why);
}

static int __my_pmu_up(struct my_pmu_cpu *c, u64 counters, void *why)
{
	int err;

	lockdep_assert_irqs_disabled();
	if (!c->away)
		return 0;
	my_refuse(why, -EIO, "a PMU register faulted");
	err = look_first(c, why);
	if (!err && c->wanted)
		err = start_counters(c, c->wanted);
	if (!err)
		WRITE_ONCE(c->away, false);
	return err;
}

static int __my_pmu_down(struct my_pmu_cpu *c, u64 counters, void *unused)
{
	lockdep_assert_irqs_disabled();
	WRITE_ONCE(c->away, true);
	return c->enabled ? stop_counters(c, c->enabled) : 0;
}

/* --- cross-calls ----------------------------------------------------------- */

struct call_request {
	struct my_pmu_cpu *c;
	u64 counters;
	my_pmu_func_t func;
	void *data;
	int err;
};

static void call_on_cpu(void *info)
{
	struct call_request *req = info;

	req->err = req->func(req->c, req->counters, req->data);
}

/**
 * my_pmu_call() - do something with counters of a CPU, on that CPU
 * @c: the CPU
 * @counters: which, by id
 * @func: called there with interrupts off
 * @data: for @func
 *
 * Context: task, interrupts on; sends one cross-call and waits for it.
 * Return: what @func returned, or -ENXIO if the CPU is offline.
 */
int my_pmu_call(struct my_pmu_cpu *c, u64 counters, my_pmu_func_t func,
		void *data)
{
	struct call_request req = {
		.c = c,
		.counters = counters,
		.func = func,
		.data = data,
		.err = -EIO,
	};
	int err;

	err = smp_call_function_single(c->cpu, call_on_cpu, &req, 1);
	return err ?: req.err;
}

/**
 * my_pmu_cpu_up() - the CPU is up: start what is to run there, together
 * @c: the CPU; if it is up already, nothing happens
 * @why: if refused, the reason
 *
 * First each counter proves that it counts.  Counts go on from where they were.
 * If it fails, the registers are as they were before, but for generic counters'
 * values that cannot be written.
 *
 * Context: task, interrupts on; one cross-call.
 * Return: 0; -ENXIO if the CPU is offline; -EBUSY if its firmware uses one of
 * the counters; -ENODEV if one does not count; -EIO if a register faulted.
 */
int my_pmu_cpu_up(struct my_pmu_cpu *c, struct my_pmu_why *why)
{
	my_refuse(why, -ENXIO, "CPU %d is offline", c->cpu);
	return my_pmu_call(c, 0, __my_pmu_up, why);
}

/**
 * my_pmu_cpu_down() - the CPU goes down: put its registers back
 * @c: the CPU
 *
 * The counts have all that was counted until now.  Until my_pmu_cpu_up()
 * nothing can be enabled or read.
 *
 * Context: task, interrupts on; one cross-call.
 * Return: 0; -ENXIO if the CPU is offline; -EIO if a register faulted, all
 * others have been put back then.
 */
int my_pmu_cpu_down(struct my_pmu_cpu *c)
{
	return my_pmu_call(c, 0, __my_pmu_down, NULL);
}

/**
 * my_perf_event_enable() - start one event
 * @event: the event; if it is on already, nothing happens
 *
 * Its count goes on from where it was.
 *
 * Context: task, interrupts on; one cross-call.
 * Return: 0; -ENXIO if the CPU is down; -EIO if a register faulted, nothing
 * has changed then.
 */
int my_perf_event_enable(struct my_perf_event *event)
{
	return my_pmu_call(event->cpu, BIT_ULL(event->hw.idx),
			   __my_pmu_enable, NULL);
}

/**
 * my_perf_event_disable() - stop one event, put its registers back
 * @event: the event; if it is off already, nothing happens
 *
 * my_perf_event_read() gives what it has counted.
 *
 * Context: task, interrupts on; one cross-call.
 * Return: as my_pmu_cpu_down().
 */
int my_perf_event_disable(struct my_perf_event *event)
{
	return my_pmu_call(event->cpu, BIT_ULL(event->hw.idx),
			   __my_pmu_disable, NULL);
}
