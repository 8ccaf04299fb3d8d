// SPDX-License-Identifier: GPL-2.0
/*
 * Events: from what is wanted to a counter, and on and off on their CPU.
 *
 * All counters of a CPU that are enabled together start with one write of
 * IA32_PERF_GLOBAL_CTRL (from version 2 on), so they count the same
 * instructions.  What the registers held before is kept and put back.
 */
#include <linux/bitops.h>
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/lockdep.h>
#include <linux/smp.h>

#include "pmu_capture.h"
#include "pmu_clock.h"
#include "pmu_event.h"
#include "pmu_growth.h"
#include "pmu_intel.h"
#include "pmu_truth.h"
#include "pmu_why.h"

/* --- what the CPU has ----------------------------------------------------- */

/**
 * my_pmu_cpu_begin() - before anything else is done with a CPU
 * @c: zeroed
 * @cpu: the CPU
 *
 * Context: any.
 */
void my_pmu_cpu_begin(struct my_pmu_cpu *c, int cpu)
{
	c->cpu = cpu;
	c->away = true;
	raw_spin_lock_init(&c->lock);
}

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

/* --- which events, on which counters: pure ---------------------------------- */

/* The counters, free or not, that count it. */
static u64 counting(const struct my_x86_pmu *pmu,
		    const struct my_perf_event_attr *attr)
{
	u64 set, counting = 0;

	for (set = pmu->counters; set; set &= set - 1) {
		if (pmu->counts(attr, __ffs64(set)))
			counting |= set & -set;
	}
	return counting;
}

static int refuse_pin(const struct my_pmu_cpu *c,
		      const struct my_perf_event_attr *attr, u64 can,
		      struct my_pmu_why *why)
{
	const char *kind = my_pmc_kind(attr->pin);
	int number = my_pmc_number(attr->pin);

	if (!(can & BIT_ULL(attr->pin)))
		return my_refuse(why, -EINVAL,
				 "'%s@%s%d': %s%d cannot count this event; leave the pin out and the module chooses",
				 attr->name, kind, number, kind, number);
	if (c->foreign & BIT_ULL(attr->pin))
		return my_refuse(why, -EBUSY,
				 "'%s@%s%d': %s%d is in use on CPU %d, and not by Linux: its firmware has it; without a pin, as in counters=instructions,cycles, the module chooses",
				 attr->name, kind, number, kind, number, c->cpu);
	if (c->taken & BIT_ULL(attr->pin))
		return my_refuse(why, -EBUSY,
				 "'%s@%s%d': %s%d is in use on CPU %d, for other events of my_pmu; without a pin it chooses",
				 attr->name, kind, number, kind, number, c->cpu);
	return my_refuse(why, -EINVAL,
			 "'%s@%s%d': %s%d is taken by another event; each counter takes one",
			 attr->name, kind, number, kind, number);
}

static int refuse_missing_pin(const struct my_pmu_cpu *c,
			      const struct my_perf_event_attr *attr,
			      struct my_pmu_why *why)
{
	const char *kind = my_pmc_kind(attr->pin);
	int number = my_pmc_number(attr->pin);

	return my_refuse(why, -EINVAL,
			 "'%s@%s%d': CPU %d has no %s%d; it has %u generic (gp) and %u fixed counters",
			 attr->name, kind, number, c->cpu, kind, number,
			 my_pmu_num_counters(&c->pmu),
			 my_pmu_num_counters_fixed(&c->pmu));
}

/* Where the counters are of which there are not enough. */
static const char *other_users(const struct my_pmu_cpu *c)
{
	if (c->foreign && c->taken)
		return ", and its firmware and other events of my_pmu use some";
	if (c->taken)
		return ", and other events of my_pmu use some";
	return c->foreign ? ", and its firmware uses some" : "";
}

static int refuse_full(const struct my_pmu_cpu *c,
		       const struct my_perf_event_attr *attr,
		       struct my_pmu_why *why)
{
	return my_refuse(why, -ENOSPC,
			 "'%s': no counter is left that counts it; CPU %d has %u generic (gp) and %u fixed counters%s",
			 attr->name, c->cpu, my_pmu_num_counters(&c->pmu),
			 my_pmu_num_counters_fixed(&c->pmu),
			 other_users(c));
}

static u64 allowed(const struct my_perf_event_attr *attr)
{
	if (attr->pin != MY_PMC_ANY)
		return BIT_ULL(attr->pin);
	return attr->counters ?: ~0ULL;
}

/* Which counters could have it, if there were no other event. */
static int find_counters(const struct my_pmu_cpu *c,
			 const struct my_perf_event_attr *attr, u64 *counters,
			 struct my_pmu_why *why)
{
	u64 can = counting(&c->pmu, attr);

	if (attr->pin != MY_PMC_ANY && !(c->pmu.counters & BIT_ULL(attr->pin)))
		return refuse_missing_pin(c, attr, why);
	if (!can)
		return my_refuse(why, -EOPNOTSUPP,
				 "'%s': CPU %d has no counter that counts it",
				 attr->name, c->cpu);
	*counters = can & allowed(attr) & ~(c->foreign | c->taken);
	if (*counters)
		return 0;
	if (attr->pin != MY_PMC_ANY)
		return refuse_pin(c, attr, can, why);
	if (!(can & allowed(attr)))
		return my_refuse(why, -EINVAL,
				 "'%s': none of the counters behind its @ is there and counts it; without them the module chooses",
				 attr->name);
	return refuse_full(c, attr, why);
}

/* An event on one of its counters, whichever: that the CPU has it. */
static int init_event(struct my_perf_event *event, struct my_pmu_cpu *c,
		      const struct my_perf_event_attr *attr, u64 counters,
		      struct my_pmu_why *why)
{
	int err;

	*event = (struct my_perf_event) {
		.attr = *attr,
		.hw.idx = __ffs64(counters),
		.cpu = c,
	};
	err = c->pmu.hw_config(&c->pmu, event);
	if (err)
		return my_refuse(why, err,
				 "'%s': CPU %d does not have this event (CPUID.0AH:EBX flags it absent)",
				 attr->name, c->cpu);
	return 0;
}

/**
 * my_perf_event_check() - can this event be counted on this CPU?
 * @c: the CPU; @c->cpu, @c->pmu and @c->foreign are set
 * @attr: the event
 * @why: if not, the reason
 *
 * Context: any; pure.
 * Return: 0; -EOPNOTSUPP if the CPU does not have it, or as my_pmu_cpu_init().
 */
int my_perf_event_check(struct my_pmu_cpu *c,
			const struct my_perf_event_attr *attr,
			struct my_pmu_why *why)
{
	struct my_perf_event event;
	u64 counters;
	int err;

	err = find_counters(c, attr, &counters, why);
	return err ?: init_event(&event, c, attr, counters, why);
}

static int init_events(struct my_pmu_cpu *c,
		       const struct my_perf_event_attr *attr,
		       struct my_pmu_demand *demand, struct my_pmu_why *why)
{
	unsigned int i;
	int err;

	for (i = 0; i < c->nr_events; i++) {
		err = find_counters(c, &attr[i], &demand[i].counters, why);
		if (err)
			return err;
		err = init_event(&c->event[i], c, &attr[i], demand[i].counters,
				 why);
		if (err)
			return err;
		demand[i].group = attr[i].group;
		demand[i].always = attr[i].pinned || attr[i].pin != MY_PMC_ANY;
	}
	return 0;
}

/* Two events that are always on, on one counter: the later one is told. */
static bool is_taken(const struct my_pmu_cpu *c, unsigned int i)
{
	const struct my_perf_event_attr *attr = &c->event[i].attr;
	unsigned int j;

	if (attr->pin == MY_PMC_ANY)
		return false;
	for (j = 0; j < i; j++) {
		if (c->event[j].attr.pin == attr->pin)
			return true;
	}
	return false;
}

/**
 * my_perf_event_group() - the events that start and stop with this one
 * @event: the event
 *
 * Context: any; pure.
 * Return: it and the others of its group, by place.
 */
u64 my_perf_event_group(const struct my_perf_event *event)
{
	const struct my_pmu_cpu *c = event->cpu;
	u64 events = 0;
	unsigned int i;

	for (i = 0; i < c->nr_events; i++) {
		if (c->event[i].attr.group == event->attr.group)
			events |= BIT_ULL(i);
	}
	return events;
}

static int refuse_schedule(const struct my_pmu_cpu *c, unsigned int culprit,
			   struct my_pmu_why *why)
{
	const struct my_perf_event_attr *attr = &c->event[culprit].attr;
	unsigned int group = hweight64(my_perf_event_group(&c->event[culprit]));

	if (is_taken(c, culprit))
		return refuse_pin(c, attr, ~0ULL, why);
	if (group == 1)
		return refuse_full(c, attr, why);
	return my_refuse(why, -ENOSPC,
			 "'%s' and what is in its braces: no counters are left that count these %u events at the same time; CPU %d has %u generic (gp) and %u fixed counters%s",
			 attr->name, group, c->cpu, my_pmu_num_counters(&c->pmu),
			 my_pmu_num_counters_fixed(&c->pmu),
			 other_users(c));
}

/* Where the events are in this turn. */
static void set_turn(struct my_pmu_cpu *c, unsigned int number)
{
	const struct my_pmu_turn *turn = &c->schedule.turn[number];
	unsigned int i;

	c->turn = number;
	for (i = 0; i < c->nr_events; i++) {
		struct my_perf_event *event = &c->event[i];

		if (event->hw.idx == turn->idx[i])
			continue;
		event->hw.idx = turn->idx[i];
		if (event->hw.idx != MY_NO_COUNTER)
			c->pmu.hw_config(&c->pmu, event);	/* it could */
	}
}

static u64 counters_of_all_turns(const struct my_pmu_cpu *c)
{
	unsigned int i, j;
	u64 counters = 0;

	for (i = 0; i < c->schedule.nr_turns; i++) {
		for (j = 0; j < c->nr_events; j++) {
			int idx = c->schedule.turn[i].idx[j];

			counters |= idx == MY_NO_COUNTER ? 0 : BIT_ULL(idx);
		}
	}
	return counters;
}

/* What fails is kept for the next read. */
static void end_turn(struct my_rotation *rotation)
{
	my_pmu_next_turn(container_of(rotation, struct my_pmu_cpu, rotation));
}

/**
 * my_pmu_cpu_init() - all events of a CPU, and when they are on which counters
 * @c: @c->cpu, @c->pmu and @c->foreign are set, the rest is filled in
 * @attr: the events
 * @nr: how many, at most MY_EVENTS_MAX
 * @why: if refused, the reason
 *
 * If there is a way to have them all at the same time, they have; otherwise they take
 * turns, group by group, but for those with a pin and their groups.  All are to
 * count when the CPU comes up, see my_pmu_cpu_up().
 *
 * Context: any that has 2 kB of stack; pure.
 * Return: 0; -EINVAL for a pin that cannot be, -EBUSY for one to a counter that
 * is not ours; -EOPNOTSUPP if the CPU does not have the event; -ENOSPC if some
 * could never have their counters.
 */
int my_pmu_cpu_init(struct my_pmu_cpu *c, const struct my_perf_event_attr *attr,
		    unsigned int nr, struct my_pmu_why *why)
{
	struct my_pmu_demand demand[MY_EVENTS_MAX];
	unsigned int culprit;
	int err;

	c->nr_events = nr;
	c->used = 0;
	c->on = 0;
	c->enabled = 0;
	c->tell = 0;
	c->suspect = 0;
	c->marks = (struct my_pmu_marks) {};
	c->away = true;
	c->failed = 0;
	c->up_since = 0;
	c->up_before = 0;
	c->still = 0;
	err = init_events(c, attr, demand, why);
	if (err)
		return err;
	err = my_pmu_schedule(&c->schedule, demand, nr, &culprit);
	if (err)
		return refuse_schedule(c, culprit, why);
	set_turn(c, 0);
	c->used = counters_of_all_turns(c);
	c->wanted = nr ? GENMASK_ULL(nr - 1, 0) : 0;
	my_rotation_init(&c->rotation, end_turn);
	return 0;
}

/* --- on the event's CPU, interrupts off ------------------------------------ */

static int run(struct my_pmu_cpu *c, u64 counters)
{
	return c->pmu.run(&c->pmu, &c->stopped, counters);
}

/* What the counter itself tells; whether it is programmed is another question. */
static enum my_pmu_growth growth(const struct my_perf_event *event, u64 now,
				 u64 time, u64 overflowed)
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
		.overflowed = tells & overflowed,
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

/* From here on it grows anew. */
static void note_growth(struct my_perf_event *event, enum my_pmu_growth known,
			u64 now, u64 time)
{
	struct my_pmu_marks *marks = &event->cpu->marks;
	struct my_hw_perf_event *hw = &event->hw;
	u64 bit = BIT_ULL(hw->idx);

	switch (known) {
	case MY_GROWTH_KNOWN:
		event->count += my_pmu_delta(hw->prev_count, now,
					     hw->cntval_bits);
		event->running += time - hw->prev_time;
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
	hw->prev_count = now;
	hw->prev_time = time;
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
	enum my_pmu_growth known;
	int programmed, err;
	u64 now;

	err = c->pmu.read(event, &now);
	if (err)
		return err;
	programmed = c->pmu.is_programmed(event);
	if (programmed < 0)
		return programmed;
	known = programmed ? growth(event, now, time, c->stopped.overflowed) :
			     MY_GROWTH_STOLEN;
	if (known == MY_GROWTH_STOLEN) {
		err = program_anew(event, &now);
		if (err)
			return err;
	}
	note_growth(event, known, now, time);
	c->suspect &= ~BIT_ULL(event->hw.idx);
	return 0;
}

/**
 * my_pmu_update() - my_perf_event_update() for some events of a CPU
 * @c: the CPU
 * @events: which, by place; all are on
 * @time: when its counters were stopped, CLOCK_MONOTONIC, ns
 *
 * One that fails leaves the others alone; its overflow is not accounted for, and
 * is taken out of @c->stopped.overflowed.
 *
 * Context: the CPU in question, interrupts off, its counters stopped.
 * Return: 0, or -EIO if a register faulted.
 */
int my_pmu_update(struct my_pmu_cpu *c, u64 events, u64 time)
{
	int first = 0, err;

	for (; events; events &= events - 1) {
		struct my_perf_event *event = &c->event[__ffs64(events)];

		err = my_perf_event_update(event, time);
		if (err)
			c->stopped.overflowed &= ~BIT_ULL(event->hw.idx);
		first = first ?: err;
	}
	return first;
}

/*
 * Of those that take turns it must be known for how long each was on, so the moment must
 * be on the same clock as those of the changes.
 */
static bool can_be_captured(const struct my_pmu_cpu *c)
{
	return c->on && !c->suspect && !my_pmu_takes_turns(c) && my_pmu_has_ticks();
}

/* Those on generic counters before the middle, those on fixed ones from there on. */
static void place_counters(const struct my_pmu_cpu *c, struct my_pmu_plan *plan)
{
	u64 left;

	plan->first = 0;
	plan->end = 0;
	for (left = c->on; left; left &= left - 1) {
		unsigned int i = __ffs64(left);
		const struct my_hw_perf_event *hw = &c->event[i].hw;
		s64 place = my_pmc_is_fixed(hw->idx) ? plan->end++ : --plan->first;

		place += MY_CAPTURE_MIDDLE;
		plan->counter[place].rdpmc = hw->event_base_rdpmc;
		plan->counter[place].select = hw->config_base;
		plan->config[place] = hw->config;
		plan->event[place] = i;
	}
}

/* Until something else is done here, or to IA32_PERF_GLOBAL_CTRL. */
static void make_plan(struct my_pmu_cpu *c)
{
	struct my_pmu_plan *plan = &c->plan;

	plan->ready = false;
	plan->plain = false;
	if (!can_be_captured(c) || !c->pmu.plan(c, plan))
		return;
	plan->freeze = !c->unfrozen;
	plan->ctrl = c->stopped.others | c->enabled;
	plan->stopped = c->stopped.others;
	place_counters(c, plan);
	plan->ready = true;
	plan->plain = !(c->enabled & ~c->tell || c->marks.stolen | c->marks.late);
}

static struct my_perf_event *event_at(struct my_pmu_cpu *c, s64 i)
{
	return &c->event[c->plan.event[MY_CAPTURE_MIDDLE + i]];
}

static bool all_known(struct my_pmu_cpu *c, const struct my_pmu_capture *capture,
		      u64 time)
{
	const u64 *value = &capture->value[MY_CAPTURE_MIDDLE];
	s64 i;

	for (i = c->plan.first; i < c->plan.end; i++) {
		const struct my_perf_event *event = event_at(c, i);

		if (time < event->hw.prev_time ||
		    growth(event, value[i], time, 0) != MY_GROWTH_KNOWN)
			return false;
	}
	return true;
}

/**
 * my_pmu_account() - add what the counters have grown by until a capture
 * @c: the CPU
 * @capture: of its counters
 * @time: when that was, CLOCK_MONOTONIC, ns
 *
 * Context: any CPU, under @c->lock.
 * Return: false if that cannot be: the counts have a later moment already, or a growth is
 * not known for sure.  Nothing was added then; the CPU itself must look.
 */
bool my_pmu_account(struct my_pmu_cpu *c, const struct my_pmu_capture *capture,
		    u64 time)
{
	const u64 *value = &capture->value[MY_CAPTURE_MIDDLE];
	s64 i;

	lockdep_assert_held(&c->lock);
	if (capture->seq <= c->accounted || !all_known(c, capture, time))
		return false;
	for (i = c->plan.first; i < c->plan.end; i++)
		note_growth(event_at(c, i), MY_GROWTH_KNOWN, value[i], time);
	c->accounted = capture->seq;
	c->timed = capture->ticks;
	return true;
}

/**
 * my_pmu_counters_of() - the counters that these events have in this turn
 * @c: the CPU
 * @events: which, by place; all have one
 *
 * Context: the CPU in question, interrupts off; or before it is up.
 * Return: their ids.
 */
u64 my_pmu_counters_of(const struct my_pmu_cpu *c, u64 events)
{
	u64 counters = 0;

	for (; events; events &= events - 1)
		counters |= BIT_ULL(c->event[__ffs64(events)].hw.idx);
	return counters;
}

static u64 events_of_this_turn(const struct my_pmu_cpu *c)
{
	return c->schedule.turn[c->turn].events;
}

static void note_on(struct my_pmu_cpu *c, u64 events)
{
	c->on = events;
	c->enabled = my_pmu_counters_of(c, events);
}

/* In reverse order. */
static int disable_events(struct my_pmu_cpu *c, u64 events)
{
	int first = 0, err;

	while (events) {
		unsigned int i = fls64(events) - 1;

		err = c->pmu.disable(&c->pmu, &c->event[i]);
		first = first ?: err;
		events &= ~BIT_ULL(i);
	}
	return first;
}

/* On failure what had been enabled is disabled again, in reverse order. */
static int enable_events(struct my_pmu_cpu *c, u64 events)
{
	u64 left, done = 0;
	int err;

	for (left = events; left; left &= left - 1) {
		struct my_perf_event *event = &c->event[__ffs64(left)];

		c->suspect &= ~BIT_ULL(event->hw.idx);
		err = c->pmu.enable(&c->pmu, event);
		if (err) {
			disable_events(c, done);
			return err;
		}
		done |= left & -left;
	}
	return 0;
}

/* The moment from which they count. */
static void stamp_events(struct my_pmu_cpu *c, u64 events, u64 now)
{
	for (; events; events &= events - 1)
		c->event[__ffs64(events)].hw.prev_time = now;
}

static int enable_and_run(struct my_pmu_cpu *c, u64 events)
{
	u64 counters = my_pmu_counters_of(c, events);
	int err;

	err = enable_events(c, events);
	if (err)
		return err;
	stamp_events(c, events, my_pmu_now());
	err = run(c, c->enabled | counters);
	if (err) {
		disable_events(c, events);
		return err;
	}
	/* Enabled now, they must not seem to have wrapped before. */
	err = c->pmu.acknowledge(&c->pmu, c->stopped.overflowed & counters &
					  c->tell);
	if (err)
		disable_events(c, events);
	return err;
}

/* As it was before them: whatever else runs, runs on. */
static int run_others(struct my_pmu_cpu *c)
{
	if (c->enabled)
		return run(c, c->enabled);
	return c->pmu.give_back(&c->pmu, &c->found, &c->stopped, c->used);
}

static int start_events(struct my_pmu_cpu *c, u64 events)
{
	int err;

	if (!c->on) {
		err = c->pmu.take(&c->pmu, &c->found);
		if (err)
			return err;
	}
	err = my_pmu_stop(c);
	if (err)
		return err;
	err = enable_and_run(c, events);
	if (err)
		run_others(c);
	else
		note_on(c, c->on | events);
	return err;
}

/* What they have counted since they were read before, and nobody will know. */
static void mark_lost(struct my_pmu_cpu *c, u64 events, u64 time)
{
	for (; events; events &= events - 1) {
		const struct my_hw_perf_event *hw = &c->event[__ffs64(events)].hw;

		if (hw->prev_time != time)
			c->marks.late |= BIT_ULL(hw->idx);
	}
}

/* Nothing is left out because something before it failed. */
static int stop_events(struct my_pmu_cpu *c, u64 events, u64 *time)
{
	u64 counters = my_pmu_counters_of(c, events);
	int first, err;

	first = my_pmu_stop(c);
	if (first)
		c->stopped.overflowed = 0;	/* it was seen by another stop */
	*time = my_pmu_now();
	err = my_pmu_update(c, events, *time);
	first = first ?: err;
	mark_lost(c, events, *time);
	err = disable_events(c, events);
	first = first ?: err;
	note_on(c, c->on & ~events);
	err = run_others(c);
	first = first ?: err;
	if (!c->on)
		return first;
	/* Enabled again it must not seem to have wrapped once more. */
	err = c->pmu.acknowledge(&c->pmu, c->stopped.overflowed & counters &
					  c->tell);
	return first ?: err;
}

static int __my_pmu_enable(struct my_pmu_cpu *c, u64 events, void *unused)
{
	u64 start;
	int err = 0;

	lockdep_assert_irqs_disabled();
	if (c->away)
		return -ENXIO;
	start = events & events_of_this_turn(c) & ~c->on;
	if (start)
		err = start_events(c, start);
	if (!err)
		c->wanted |= events;
	return err;
}

static int __my_pmu_disable(struct my_pmu_cpu *c, u64 events, void *unused)
{
	u64 time;

	lockdep_assert_irqs_disabled();
	c->wanted &= ~events;
	events &= c->on;
	return events ? stop_events(c, events, &time) : 0;
}

/*
 * Those that are wanted in this turn and not yet on.  If that fails, they miss
 * the turn.
 */
static int fill_turn(struct my_pmu_cpu *c, u64 now)
{
	u64 events = c->wanted & events_of_this_turn(c) & ~c->on;
	int err;

	err = enable_events(c, events);
	if (err)
		return err;
	stamp_events(c, events, now);
	note_on(c, c->on | events);
	return 0;
}

/* Those that are on and do not stay where they are. */
static u64 leaving(const struct my_pmu_cpu *c, const struct my_pmu_turn *next)
{
	u64 left, leaving = 0;

	for (left = c->on; left; left &= left - 1) {
		unsigned int i = __ffs64(left);

		if (next->idx[i] != c->event[i].hw.idx)
			leaving |= BIT_ULL(i);
	}
	return leaving;
}

/**
 * my_pmu_leave_out() - the time in which all stand still is nobody's
 * @c: the CPU, whose events take turns
 * @since: when they were stopped, CLOCK_MONOTONIC, ns
 * @came: those that have come since, and count from @since on as if they had not
 *
 * It is longer for those that have more company: taken for time in which they counted,
 * it would make their counts too small against those of others.  In version 1, where
 * those that stay count on, it is left out for those that come.
 *
 * Context: the CPU in question, interrupts off, its counters stopped; the last that is
 * done before they run again.
 */
void my_pmu_leave_out(struct my_pmu_cpu *c, u64 since, u64 came)
{
	u64 events = c->stopped.still ? c->on : came;
	u64 ns = my_pmu_now() - since;

	if (c->stopped.still)
		c->still += ns;
	for (; events; events &= events - 1)
		c->event[__ffs64(events)].hw.prev_time += ns;
}

/*
 * While all stand still.  Returns the overflows that are accounted for, or are none
 * of the event that has come.
 */
static u64 change_turn(struct my_pmu_cpu *c)
{
	u64 overflowed = c->stopped.overflowed;
	unsigned int next = c->schedule.turn[c->turn].next;
	u64 now = my_pmu_now();
	u64 out = leaving(c, &c->schedule.turn[next]);
	u64 counters = my_pmu_counters_of(c, out), stay = c->on & ~out, came;
	int err;

	err = my_pmu_update(c, out, now);
	c->failed = c->failed ?: err;
	err = disable_events(c, out);
	c->failed = c->failed ?: err;
	set_turn(c, next);
	note_on(c, stay);
	err = fill_turn(c, now);
	c->failed = c->failed ?: err;
	came = c->on & ~stay;
	counters |= my_pmu_counters_of(c, came);
	my_pmu_leave_out(c, now, came);
	return overflowed & counters & c->tell;
}

/**
 * my_pmu_next_turn() - the next groups get the counters
 * @c: the CPU; it is up
 *
 * Events that stay on their counter go on counting there; no other register is
 * touched, and nothing is lost of what was counted.
 *
 * Context: the CPU in question, interrupts off.
 * Return: 0, or -EIO if a register faulted; then the next read says so, too.
 */
int my_pmu_next_turn(struct my_pmu_cpu *c)
{
	u64 overflowed;
	int err;

	lockdep_assert_irqs_disabled();
	err = c->on ? 0 : c->pmu.take(&c->pmu, &c->found);
	if (!err)
		err = my_pmu_stop(c);
	if (err) {
		c->failed = err;
		return err;
	}
	overflowed = change_turn(c);
	err = run_others(c);
	c->failed = c->failed ?: err;
	err = c->pmu.acknowledge(&c->pmu, overflowed);
	c->failed = c->failed ?: err;
	return c->failed;
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

static int start_wanted(struct my_pmu_cpu *c)
{
	u64 events = c->wanted & events_of_this_turn(c);
	int err = 0;

	if (events)
		err = start_events(c, events);
	if (err)
		return err;
	c->up_since = events ? c->event[__ffs64(events)].hw.prev_time :
			       my_pmu_now();
	if (my_pmu_takes_turns(c))
		my_rotation_start(&c->rotation);
	return 0;
}

static int __my_pmu_up(struct my_pmu_cpu *c, u64 unused, void *why)
{
	int err;

	lockdep_assert_irqs_disabled();
	if (!c->away)
		return 0;
	my_refuse(why, -EIO, "a PMU register faulted");
	err = look_first(c, why);
	if (!err)
		err = start_wanted(c);
	if (!err)
		WRITE_ONCE(c->away, false);
	return err;
}

static int __my_pmu_down(struct my_pmu_cpu *c, u64 unused, void *also_unused)
{
	u64 time = my_pmu_now();
	int err = 0;

	lockdep_assert_irqs_disabled();
	if (c->away)
		return 0;
	my_rotation_stop(&c->rotation);
	WRITE_ONCE(c->away, true);
	if (c->on)
		err = stop_events(c, c->on, &time);
	c->up_before += time - c->up_since;
	c->up_since = time;
	return err;
}

/* --- cross-calls ----------------------------------------------------------- */

struct call_request {
	struct my_pmu_cpu *c;
	u64 events;
	my_pmu_func_t func;
	void *data;
	int err;
};

/**
 * my_pmu_do() - do something with events of this CPU
 * @c: the CPU
 * @events: which, by place
 * @func: what
 * @data: for @func
 *
 * What was captured before, and has not been accounted for yet, is of no use any more.
 *
 * Context: the CPU in question, interrupts off.
 * Return: what @func returned.
 */
int my_pmu_do(struct my_pmu_cpu *c, u64 events, my_pmu_func_t func, void *data)
{
	int err;

	raw_spin_lock(&c->lock);
	err = func(c, events, data);
	c->accounted = ++c->seq;
	c->timed = my_pmu_ticks();
	make_plan(c);
	raw_spin_unlock(&c->lock);
	return err;
}

static void call_on_cpu(void *info)
{
	struct call_request *req = info;

	req->err = my_pmu_do(req->c, req->events, req->func, req->data);
}

/**
 * my_pmu_call() - do something with events of a CPU, on that CPU
 * @c: the CPU
 * @events: which, by place
 * @func: called there with interrupts off
 * @data: for @func
 *
 * Context: task, interrupts on; sends one cross-call and waits for it.
 * Return: what @func returned, or -ENXIO if the CPU is offline.
 */
int my_pmu_call(struct my_pmu_cpu *c, u64 events, my_pmu_func_t func,
		void *data)
{
	struct call_request req = {
		.c = c,
		.events = events,
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
 * my_perf_event_enable() - start an event and its group
 * @event: the event; if it is on already, nothing happens
 *
 * All of the group start with one write of IA32_PERF_GLOBAL_CTRL (from version 2 on).
 * Counts go on from where they were.
 *
 * Context: task, interrupts on; one cross-call.
 * Return: 0; -ENXIO if the CPU is down; -EIO if a register faulted, nothing
 * has changed then.
 */
int my_perf_event_enable(struct my_perf_event *event)
{
	return my_pmu_call(event->cpu, my_perf_event_group(event),
			   __my_pmu_enable, NULL);
}
EXPORT_SYMBOL_GPL(my_perf_event_enable);

/* It must not start again when its CPU is back.  Here it can neither come nor go. */
static int disable_away(struct my_perf_event *event)
{
	struct my_pmu_cpu *c = event->cpu;
	int err = 0;

	cpus_read_lock();
	if (cpu_online(c->cpu))
		err = my_pmu_call(c, my_perf_event_group(event),
				  __my_pmu_disable, NULL);
	else
		c->wanted &= ~my_perf_event_group(event);
	cpus_read_unlock();
	return err;
}

/**
 * my_perf_event_disable() - stop an event and its group, put their registers back
 * @event: the event; if it is off already, nothing happens
 *
 * my_perf_event_read() gives what it has counted.  If its CPU is offline, it does not
 * start when that is back.
 *
 * Context: task, interrupts on; one cross-call.  If its CPU is offline, also
 * cpus_read_lock().
 * Return: 0, or -EIO if a register faulted, all others have been put back then.
 */
int my_perf_event_disable(struct my_perf_event *event)
{
	int err = my_pmu_call(event->cpu, my_perf_event_group(event),
			      __my_pmu_disable, NULL);

	return err == -ENXIO ? disable_away(event) : err;
}
EXPORT_SYMBOL_GPL(my_perf_event_disable);
