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
#include "pmu_hw.h"
#include "pmu_intel.h"
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

/**
 * my_pmu_reserve() - take the event selects, against perf
 * @pmu: whose
 * @why: if refused, the reason and the cure
 *
 * perf reserves every generic counter's event select before it opens its
 * first hardware event (arch/x86/events/core.c), fixed counters or not: who
 * holds one keeps perf out.  The bitmap behind it
 * (arch/x86/kernel/cpu/perfctr-watchdog.c) is one for all CPUs.
 *
 * Context: task.  No register is touched.
 * Return: 0, or -EBUSY if somebody holds one; then nothing is reserved.
 */
int my_pmu_reserve(const struct my_x86_pmu *pmu, struct my_pmu_why *why)
{
	unsigned long generic = pmu->counters & MY_GENERIC_COUNTERS;
	unsigned int i, j;

	for_each_set_bit(i, &generic, INTEL_PMC_IDX_FIXED) {
		if (!hw_reserve_evntsel(pmu->eventsel + i))
			goto err_release;
	}
	return 0;

err_release:
	for_each_set_bit(j, &generic, i)
		hw_release_evntsel(pmu->eventsel + j);
	return my_refuse(why, -EBUSY,
			 "the PMU is in use, by perf or the NMI watchdog: end perf, and 'sysctl kernel.nmi_watchdog=0'");
}

/**
 * my_pmu_release() - give the event selects back
 * @pmu: what my_pmu_reserve() was called with
 *
 * Context: task; after the registers have been put back.
 */
void my_pmu_release(const struct my_x86_pmu *pmu)
{
	unsigned long generic = pmu->counters & MY_GENERIC_COUNTERS;
	unsigned int i;

	for_each_set_bit(i, &generic, INTEL_PMC_IDX_FIXED)
		hw_release_evntsel(pmu->eventsel + i);
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
	u64 left = c->pmu.counters & ~c->used;
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
			 "'%s': no counter is left that counts it; CPU %d has %u generic (gp) and %u fixed counters",
			 attr->name, c->cpu, my_pmu_num_counters(&c->pmu),
			 my_pmu_num_counters_fixed(&c->pmu));
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
 * Return: 0; -EINVAL for a pin that cannot be; -EOPNOTSUPP if the CPU does
 * not have the event; -ENOSPC if no counter is left for it.
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
 * @c: @c->cpu and @c->pmu are set, the rest is filled in
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
	return c->pmu.run(&c->pmu, &c->found, c->used, counters);
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

static int start_counters(struct my_pmu_cpu *c, u64 counters)
{
	int err;

	if (!c->enabled) {
		err = c->pmu.take(&c->pmu, &c->found);
		if (err)
			return err;
	}
	err = run(c, c->enabled);
	if (err)
		return err;
	err = enable_counters(c, counters);
	if (err)
		goto err_give_back;
	stamp_counters(c, counters);
	err = run(c, c->enabled | counters);
	if (err)
		goto err_disable;
	c->enabled |= counters;
	return 0;

err_disable:
	disable_counters(c, counters);
err_give_back:
	/* If some run already, GLOBAL_CTRL is as it was. */
	if (!c->enabled)
		c->pmu.give_back(&c->pmu, &c->found, c->used);
	return err;
}

/* Nothing is left out because something before it failed. */
static int stop_counters(struct my_pmu_cpu *c, u64 counters)
{
	int first, err;
	unsigned int i;
	u64 now;

	first = run(c, c->enabled & ~counters);
	now = ktime_get_ns();
	for (i = 0; i < c->nr_events; i++) {
		if (counters & BIT_ULL(c->event[i].hw.idx))
			my_perf_event_update(&c->event[i],
					     c->pmu.read(&c->event[i]), now);
	}
	err = disable_counters(c, counters);
	first = first ?: err;
	c->enabled &= ~counters;
	if (!c->enabled) {
		err = c->pmu.give_back(&c->pmu, &c->found, c->used);
		first = first ?: err;
	}
	return first;
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

static int __my_pmu_up(struct my_pmu_cpu *c, u64 counters, void *unused)
{
	int err = 0;

	lockdep_assert_irqs_disabled();
	if (c->wanted)
		err = start_counters(c, c->wanted);
	if (!err)
		c->away = false;
	return err;
}

static int __my_pmu_down(struct my_pmu_cpu *c, u64 counters, void *unused)
{
	lockdep_assert_irqs_disabled();
	c->away = true;
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
 * @c: the CPU
 *
 * Counts go on from where they were.  If it fails, the registers are as they
 * were before, but for generic counters' values that cannot be written.
 *
 * Context: task, interrupts on; one cross-call.
 * Return: 0; -ENXIO if the CPU is offline; -EIO if a register faulted.
 */
int my_pmu_cpu_up(struct my_pmu_cpu *c)
{
	return my_pmu_call(c, 0, __my_pmu_up, NULL);
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
