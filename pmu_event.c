// SPDX-License-Identifier: GPL-2.0
/*
 * Event sets on their CPU: start and stop, and what they have counted.
 *
 * All counters of a set that are enabled together start with one write of
 * IA32_PERF_GLOBAL_CTRL (from version 2 on), so they count the same instructions.
 * What the registers held before is saved and restored.
 *
 * All that adds to a count does so by accumulate().  A counter's raw value comes from
 * the CPU itself, which has stopped its counters and looks at each register
 * (my_event_set_update()); from a capture, which is added by whoever asked for it, on any
 * CPU (my_event_set_account()); or from a capture on the events' own CPU (pmu_read.c).
 * Each of them verifies the registers by which a counter counts what it is to count.
 */
#include <linux/bitops.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/lockdep.h>
#include <linux/smp.h>

#include "pmu_clock.h"
#include "pmu_event.h"
#include "pmu_growth.h"
#include "pmu_pmi.h"
#include "pmu_schedule.h"
#include "pmu_selftest.h"
#include "pmu_why.h"

/* --- counts --------------------------------------------------------------------- */

/* Whether the growth is known, from the counter's values; its control aside. */
static inline enum my_pmu_growth growth_of(const struct my_perf_event *event, u64 now,
					   u64 time, u64 overflowed)
{
	const struct my_hw_perf_event *hw = &event->hw;
	u64 reliable = event->set->cpu->overflow_reliable & BIT_ULL(hw->idx);
	const struct my_pmu_step step = {
		.prev = hw->prev_count,
		.now = now,
		.bits = hw->cntval_bits,
		.ns = time - hw->prev_time,
		.reliable = reliable,
		.overflowed = reliable & overflowed,
		.rate_log2 = hw->rate_log2,
	};

	if (event->set->stopped_externally & BIT_ULL(hw->idx))
		return MY_GROWTH_CLOBBERED;
	return my_pmu_growth(&step);
}

/*
 * With a period it wraps all the time, and the handler clears its overflow bit.  As all that is
 * about periods this is out of line: other events do not pay for it.
 */
static noinline enum my_pmu_growth growth_with_period(const struct my_perf_event *event,
						      u64 now, u64 time)
{
	const struct my_hw_perf_event *hw = &event->hw;
	u64 delta = my_pmu_delta(hw->prev_count, now, hw->cntval_bits);

	return event->set->stopped_externally & BIT_ULL(hw->idx) ||
	       !my_pmu_plausible(delta, time - hw->prev_time) ?
	       MY_GROWTH_CLOBBERED : MY_GROWTH_KNOWN;
}

/*
 * An event with a period has grown to @now; or @anew, its counter has lost what it held.  Its
 * PMI may have come, or is still to come.  While it is throttled none does.  If the growth is
 * known it is added; on return @now is the counter's value.
 */
static noinline int go_on(struct my_perf_event *event, bool anew, u64 *now, u64 time)
{
	struct my_period *period = my_period_of(event);
	u64 delta = my_pmu_delta(event->hw.prev_count, *now, event->hw.cntval_bits);
	u64 left = period->left, overflows;
	int err;

	overflows = my_period_step(&left, event->attr.period, anew ? 0 : delta);
	if (overflows || anew) {
		err = my_pmi_reload(event->set->cpu->pmu.ops, event, left);
		if (err)
			return err;
		*now = event->hw.prev_count;
	}
	if (!anew)
		accumulate(event, delta, *now, time);
	period->left = left;
	if (anew)
		local_set(&period->owed, 0);
	if (overflows && !period->throttled) {
		local_inc(&period->owed);
		overflows--;
	}
	period->lost += overflows;
	return 0;
}

/**
 * my_event_set_update() - add what counters have grown by to their counts
 * @set: the set
 * @events: which events, by place; all are active
 * @time: when the counters were stopped, CLOCK_MONOTONIC, ns
 *
 * Where a growth cannot be known nothing is added, and the set's marks say why; a
 * counter that somebody else has written is programmed again.  Until all of that is done
 * the counter's value is no growth of its event: if a register faults nothing is added,
 * the next update will do it, and the overflow, which is not accounted for, is taken out
 * of @set->stopped.overflowed.  Other events are updated all the same.  Where somebody else has
 * taken the counter for himself (RISC-V) the event counts nothing, and each update says so, until
 * he leaves it.
 *
 * Context: the set's CPU, interrupts off, its counters stopped.
 * Return: 0, or -EIO if a register faulted.
 */
int my_event_set_update(struct my_event_set *set, u64 events, u64 time)
{
	const struct my_pmu_ops *ops = set->cpu->pmu.ops;
	bool all = events == set->active;
	enum my_pmu_growth growth;
	int first = 0, err;
	u64 now = 0;

	for (; events; events &= events - 1) {
		struct my_perf_event *event = &set->event[__ffs64(events)];
		struct my_hw_perf_event *hw = &event->hw;
		u64 bit = BIT_ULL(hw->idx);

		err = ops->read(hw, &now);
		if (err)
			growth = MY_GROWTH_CLOBBERED;
		else if (unlikely(event->attr.period))
			growth = growth_with_period(event, now, time);
		else
			growth = growth_of(event, now, time, set->stopped.overflowed);
		if (err >= 0 && growth == MY_GROWTH_CLOBBERED) {
			set->stopped_externally |= bit;
			err = ops->program(&set->cpu->pmu, &set->cpu->state, hw,
					   hw->config);
			if (!err)
				err = ops->read(hw, &now);
		}
		if (unlikely(event->attr.period) && err >= 0)
			err = go_on(event, growth == MY_GROWTH_CLOBBERED, &now, time);
		if (likely(err >= 0)) {
			set->stopped_externally &= ~bit;
		} else if (err != -EBUSY) {
			set->stopped.overflowed &= ~bit;
			first = first ?: err;
			continue;
		}
		if (growth == MY_GROWTH_KNOWN) {
			if (unlikely(now < hw->prev_count))
				set->marks.wrapped |= bit;
			accumulate(event, my_pmu_delta(hw->prev_count, now,
						       hw->cntval_bits), now, time);
			continue;
		}
		set->marks.clobbered |= growth == MY_GROWTH_CLOBBERED ? bit : 0;
		set->marks.late |= growth == MY_GROWTH_LATE ? bit : 0;
		/* Neither growth nor time until now is known. */
		hw->prev_count = now;
		hw->prev_time = time;
	}
	set->just_timed |= all && !first;
	return first;
}

/* --- captures ------------------------------------------------------------------- */

/*
 * Of events that are multiplexed it must be known for how long each was on, by the clock
 * that rotations go by: these are not captured.  Nor are events with a period: a capture is
 * added later and elsewhere, and an NMI may have added to the count meanwhile.
 */
static void make_plan(struct my_event_set *set)
{
	const struct my_hw_perf_event *hw[MY_EVENTS_MAX];
	const struct my_x86_pmu *pmu = &set->cpu->pmu;
	u64 reliable = set->cpu->overflow_reliable;
	unsigned int i, nr = 0;
	u8 place[MY_EVENTS_MAX];
	u64 left;

	set->plan.valid = false;
	WRITE_ONCE(set->local_cpu, -1);
	if (!set->active || set->periods || set->stopped_externally || !pmu->ops->plan ||
	    my_event_set_multiplexes(set) || !my_pmu_has_ticks())
		return;
	/* A mark must be reported before anything is added. */
	if (set->marks.clobbered || set->marks.late)
		return;
	for (left = set->active; left; left &= left - 1) {
		place[nr] = __ffs64(left);
		hw[nr] = &set->event[place[nr]].hw;
		nr++;
	}
	set->plan.valid = pmu->ops->plan(pmu, &set->cpu->state, hw, nr,
					 set->active_counters & reliable, set->freeze,
					 &set->plan);
	for (i = set->plan.first; set->plan.valid && i < set->plan.end; i++)
		set->plan.event[i] = place[set->plan.event[i]];
	if (set->plan.valid && !(set->active_counters & ~reliable))
		WRITE_ONCE(set->local_cpu, set->cpu->cpu);
}

/**
 * my_event_set_changed() - something was done with the events of a set
 * @set: the set
 *
 * Captures from before that have not been accounted for yet are void from now on.
 *
 * Context: the set's CPU, interrupts off, under @set->lock.
 */
void my_event_set_changed(struct my_event_set *set)
{
	set->accounted = ++set->plan.seq;
	if (set->just_timed)
		set->timed = my_pmu_ticks();
	set->just_timed = false;
	make_plan(set);
}

/**
 * my_event_set_account() - add what counters have grown by until a capture
 * @set: the set
 * @capture: of its counters
 * @time: when that was, CLOCK_MONOTONIC, ns
 *
 * Context: any CPU, under @set->lock.
 * Return: false if that cannot be: the counts include a later moment already, or a growth
 * is not known for sure.  Nothing was added then; the CPU itself must look.
 */
bool my_event_set_account(struct my_event_set *set,
			  const struct my_pmu_capture *capture, u64 time)
{
	const struct my_pmu_plan *plan = &set->plan;
	const struct my_hw_perf_event *hw;
	struct my_perf_event *event;
	unsigned int i;
	u64 now;

	lockdep_assert_held(&set->lock);
	if (capture->seq <= set->accounted)
		return false;
	for (i = plan->first; i < plan->end; i++) {
		event = &set->event[plan->event[i]];
		if (time < event->hw.prev_time ||
		    growth_of(event, capture->value[i], time, 0) != MY_GROWTH_KNOWN)
			return false;
	}
	for (i = plan->first; i < plan->end; i++) {
		event = &set->event[plan->event[i]];
		hw = &event->hw;
		now = capture->value[i];
		set->marks.wrapped |= now < hw->prev_count ? BIT_ULL(hw->idx) : 0;
		accumulate(event, my_pmu_delta(hw->prev_count, now, hw->cntval_bits),
			   now, time);
	}
	set->accounted = capture->seq;
	set->timed = capture->ticks;
	return true;
}

/* --- start and stop, on the set's CPU, interrupts off ---------------------------- */

/* A PMI takes microseconds. */
#define PATIENCE_NS	NSEC_PER_MSEC

/**
 * my_event_set_find_overdue() - rearm counters whose PMI has not come
 * @set: the set, which has periods, and was stopped
 *
 * If an overflow is there at one stop, and still a millisecond later at another one, its PMI
 * does not come: somebody has masked it, or it came while it was masked.  Those that overflow
 * meanwhile have their millisecond afterwards.
 *
 * Context: the set's CPU, interrupts off; behind the stop.
 */
void my_event_set_find_overdue(struct my_event_set *set)
{
	struct my_pmu_cpu *cpu = set->cpu;
	u64 overdue = set->stopped.overflowed & set->active_counters & cpu->interrupts;
	u64 waiting;

	if (!(overdue | set->overdue))
		return;
	/* It may have come behind the stop, too. */
	overdue &= ~xchg(&set->came, 0);
	waiting = overdue & set->overdue;
	if (waiting && my_pmu_now() < set->patience) {
		set->overdue = waiting;
		return;
	}
	/* If a register faults a later stop tries again. */
	if (waiting)
		my_pmi_rearm(cpu, waiting);
	set->overdue = overdue & ~waiting;
	if (set->overdue)
		set->patience = my_pmu_now() + PATIENCE_NS;
}

/**
 * my_event_set_stop() - from version 2 on, stop all counters of a set
 * @set: the set; something of it is programmed, or about to be
 *
 * @set->stopped is filled in.  A counter of ours that does not run was stopped by
 * somebody else at an unknown time; the next update of its event says so, which may be
 * another one than the caller's.
 *
 * From here on an NMI leaves overflows of the set to its caller, who updates all events with
 * a period, whatever else it does.
 *
 * Context: the set's CPU, interrupts off; until my_event_set_start().
 * Return: 0, or -EIO if a register faulted.
 */
int my_event_set_stop(struct my_event_set *set)
{
	struct my_pmu_cpu *cpu = set->cpu;
	int err;

	my_pmu_cpu_begin(cpu, set);
	err = cpu->pmu.ops->stop(&cpu->pmu, &cpu->state, set->used, &set->stopped);
	if (err)
		return err;
	set->stopped_externally |= set->active_counters & ~set->stopped.running;
	if (unlikely(set->periods))
		my_event_set_find_overdue(set);
	return 0;
}

static u64 counters_of(const struct my_event_set *set, u64 events)
{
	u64 counters = 0;

	for (; events; events &= events - 1)
		counters |= BIT_ULL(set->event[__ffs64(events)].hw.idx);
	return counters;
}

static u64 events_in_rotation(const struct my_event_set *set)
{
	return set->schedule.rotation[set->rotation].events;
}

/* In reverse order; nothing is left out because something before it failed. */
static int disable_events(struct my_event_set *set, u64 events)
{
	struct my_pmu_cpu *cpu = set->cpu;
	const struct my_pmu_ops *ops = cpu->pmu.ops;
	u64 left = events, counters = 0;
	int first = 0, err;

	while (left) {
		unsigned int i = fls64(left) - 1;
		struct my_hw_perf_event *hw = &set->event[i].hw;

		if (unlikely(set->event[i].attr.period))
			my_pmi_forget(&set->event[i], set->stopped.overflowed);
		err = ops->disable(&cpu->pmu, &cpu->state, hw);
		first = first ?: err;
		counters |= BIT_ULL(hw->idx);
		left &= ~BIT_ULL(i);
	}
	set->stopped_externally &= ~counters;
	set->active &= ~events;
	set->active_counters &= ~counters;
	cpu->active &= ~counters;
	return first;
}

/* Where it was in its period; or at the start of the first one. */
static noinline int enable_period(struct my_perf_event *event)
{
	struct my_pmu_cpu *cpu = event->set->cpu;
	const struct my_x86_pmu *pmu = &cpu->pmu;
	struct my_period *period = my_period_of(event);
	int err;

	/* It may have been throttled when it was disabled. */
	pmu->ops->encode(pmu, &event->attr, &event->hw);
	period->left = period->left ?: event->attr.period;
	err = pmu->ops->enable(pmu, &cpu->state, &event->hw);
	if (err)
		return err;
	err = my_pmi_reload(pmu->ops, event, period->left);
	if (err)
		pmu->ops->disable(pmu, &cpu->state, &event->hw);
	else
		my_pmi_watch(event);
	return err;
}

/*
 * From @time on they count, once their counters are started.  On failure those that had
 * been enabled are disabled again, in reverse order.
 */
static int enable_events(struct my_event_set *set, u64 events, u64 time)
{
	struct my_pmu_cpu *cpu = set->cpu;
	const struct my_pmu_ops *ops = cpu->pmu.ops;
	u64 left, counters = 0;
	int err;

	for (left = events; left; left &= left - 1) {
		struct my_perf_event *event = &set->event[__ffs64(left)];
		struct my_hw_perf_event *hw = &event->hw;

		err = unlikely(event->attr.period) ?
		      enable_period(event) : ops->enable(&cpu->pmu, &cpu->state, hw);
		if (err) {
			disable_events(set, events & ~left);
			return err;
		}
		hw->prev_time = time;
		counters |= BIT_ULL(hw->idx);
	}
	set->stopped_externally &= ~counters;
	set->active |= events;
	set->active_counters |= counters;
	cpu->active |= counters;
	return 0;
}

/*
 * When the set's counters were stopped: those that are active run on, and what else runs
 * on this CPU; overflows of @ack are accounted for.  With none, the counters are as they
 * were before us.
 */
static int start_active(struct my_event_set *set, u64 ack)
{
	struct my_pmu_cpu *cpu = set->cpu;

	if (set->active)
		return my_event_set_start(set, ack);
	return cpu->pmu.ops->restore(&cpu->pmu, &cpu->state, set->used);
}

static int start_events(struct my_event_set *set, u64 events)
{
	struct my_pmu_cpu *cpu = set->cpu;
	const struct my_pmu_ops *ops = cpu->pmu.ops;
	u64 others = set->active_counters, before = set->active, time;
	int err = 0, update_err = 0;

	if (!set->active)
		err = ops->save(&cpu->pmu, &cpu->state, set->used);
	if (!err)
		err = my_event_set_stop(set);
	if (err)
		return err;
	time = my_pmu_now();
	if (set->periods)
		update_err = my_event_set_update(set, set->active & set->periods, time);
	err = enable_events(set, events, time);
	err = err ?: update_err;
	if (err) {
		disable_events(set, events & set->active & ~before);
		start_active(set, 0);
		return err;
	}
	set->just_timed |= !others;
	/*
	 * An overflow from before, also one that was accounted for when they were last
	 * stopped, is not taken for one of theirs; those of the others are still to be
	 * accounted for.
	 */
	err = my_event_set_start(set, set->stopped.overflowed & ~others & set->active_counters &
				 (cpu->overflow_reliable | cpu->interrupts));
	if (err) {
		my_pmu_cpu_begin(cpu, set);
		disable_events(set, events);
		start_active(set, 0);
	}
	return err;
}

/*
 * @stopped_at is filled in.  What events have counted since they were last read is lost
 * if this last read fails.
 */
static int stop_events(struct my_event_set *set, u64 events, u64 *stopped_at)
{
	u64 time, left, ack = 0;
	int first, err;

	first = my_event_set_stop(set);
	if (first)
		set->stopped.overflowed = 0;	/* that is of another stop */
	time = my_pmu_now();
	*stopped_at = time;
	err = my_event_set_update(set, events | (set->active & set->periods), time);
	first = first ?: err;
	for (left = err ? events : 0; left; left &= left - 1) {
		const struct my_hw_perf_event *hw = &set->event[__ffs64(left)].hw;

		if (hw->prev_time != time)
			set->marks.late |= BIT_ULL(hw->idx);
	}
	if (unlikely(set->periods))
		ack = set->stopped.overflowed & counters_of(set, events & set->periods);
	err = disable_events(set, events);
	first = first ?: err;
	err = start_active(set, ack);
	return first ?: err;
}

static int enable_on_cpu(struct my_event_set *set, u64 events, void *unused)
{
	u64 start = events & events_in_rotation(set) & ~set->active;
	int err;

	lockdep_assert_irqs_disabled();
	if (set->offline)
		return set->up_err;
	err = start ? start_events(set, start) : 0;
	if (!err)
		set->enabled |= events;
	return err;
}

static int disable_on_cpu(struct my_event_set *set, u64 events, void *unused)
{
	u64 time;

	lockdep_assert_irqs_disabled();
	set->enabled &= ~events;
	events &= set->active;
	return events ? stop_events(set, events, &time) : 0;
}

/* --- after a storm ---------------------------------------------------------------- */

/* What overflowed meanwhile has no sample. */
static int unthrottle_on_cpu(struct my_event_set *set, u64 events, void *unused)
{
	int first, err;
	u64 left, time, counters = 0;

	if (!set->active)
		return 0;
	first = my_event_set_stop(set);
	if (first)
		return first;
	time = my_pmu_now();
	first = my_event_set_update(set, events & set->active, time);
	for (left = events & set->active; left; left &= left - 1) {
		struct my_perf_event *event = &set->event[__ffs64(left)];

		if (!my_period_of(event)->throttled)
			continue;
		/* Meanwhile it has overflowed without a PMI. */
		counters |= BIT_ULL(event->hw.idx);
		err = my_pmi_unthrottle(event);
		first = first ?: err;
	}
	if (my_event_set_multiplexes(set))
		my_event_set_exclude_time(set, time, 0);
	err = start_active(set, set->stopped.overflowed & counters);
	return first ?: err;
}

static void restart_expired(struct my_restart *restart)
{
	struct my_event_set *set = container_of(restart, struct my_event_set, restart);

	/* If a register faulted it is tried again in a tick. */
	if (my_event_set_do(set, set->periods, unthrottle_on_cpu, NULL))
		irq_work_queue(&restart->work);
}

/* --- up and down ------------------------------------------------------------------ */

struct updown_request {
	struct my_event_set *set;
	struct my_pmu_why *why;
	int err;
};

static void rotation_expired(struct my_rotate_timer *timer)
{
	my_event_set_rotate(container_of(timer, struct my_event_set, timer));
}

static int begin_periods(struct my_event_set *set, struct my_pmu_why *why)
{
	u64 left, counters = 0;
	unsigned int i;

	for (left = set->periods; left; left &= left - 1) {
		for (i = 0; i < set->schedule.nr_rotations; i++) {
			int idx = set->schedule.rotation[i].idx[__ffs64(left)];

			counters |= idx == MY_NO_COUNTER ? 0 : BIT_ULL(idx);
		}
	}
	counters &= ~(set->cpu->overflow_reliable | set->cpu->overflow_unknown);
	if (counters)
		return my_refuse(why, -ENODEV,
				 "%s%d does not set its overflow bit, so that no interrupt can be told to be its own; a period needs that",
				 my_pmc_kind(__ffs64(counters)),
				 my_pmc_number(__ffs64(counters)));
	return my_pmi_begin(set->cpu, why);
}

static int test_and_start(struct my_event_set *set, struct my_pmu_why *why)
{
	u64 events = set->enabled & set->schedule.rotation[set->rotation].events;
	int err;

	err = my_pmu_selftest(set, why);
	/* What the NMIs of others executed was counted, too. */
	if (set->cpu->disturbed && my_pmi_throttle(set->cpu))
		err = my_pmu_selftest(set, why);
	if (!err && set->periods)
		err = begin_periods(set, why);
	if (err)
		return err;
	err = events ? start_events(set, events) : 0;
	if (err && set->periods)
		my_pmi_end(set->cpu);
	if (err)
		return err;
	set->up_since = events ? set->event[__ffs64(events)].hw.prev_time :
				 my_pmu_now();
	if (my_event_set_multiplexes(set))
		my_rotate_start(&set->timer, rotation_expired);
	WRITE_ONCE(set->offline, false);
	return 0;
}

static void up_on_cpu(void *info)
{
	struct updown_request *req = info;
	struct my_event_set *set = req->set;

	lockdep_assert_irqs_disabled();
	req->err = 0;
	if (!set->offline)
		return;
	my_refuse(req->why, -EIO, "%s", my_pmu_failed(&set->cpu->pmu));
	raw_spin_lock(&set->lock);
	/* The self-test writes a register that fixed counters share: nothing is throttled. */
	my_pmu_cpu_begin(set->cpu, set);
	req->err = test_and_start(set, req->why);
	my_pmu_cpu_end(set->cpu);
	WRITE_ONCE(set->up_err, req->err);
	my_event_set_changed(set);
	raw_spin_unlock(&set->lock);
}

static void let_go_of_pmis(struct my_event_set *set)
{
	my_restart_cancel(&set->restart);
	my_pmi_put();
	set->pmi_held = false;
}

/**
 * my_event_set_up() - the CPU is up: start what is enabled in a set, together
 * @set: the set; if it is up already, nothing happens
 * @why: if refused, the reason
 *
 * First each of its counters is tested.  Counts go on from where they were.  If it
 * fails, the registers are as they were before, except for generic counters' values
 * that cannot be written.
 *
 * Context: task, interrupts on; one cross-call.
 * Return: 0; -ENXIO if the CPU is offline; -EBUSY if its firmware uses one of
 * the counters; -ENODEV if one does not count; -EIO if a register faulted.
 */
int my_event_set_up(struct my_event_set *set, struct my_pmu_why *why)
{
	struct updown_request req = { .set = set, .why = why, .err = -EIO };
	int err;

	if (set->periods && !set->pmi_held) {
		err = my_pmi_get(why);
		if (err)
			return err;
		my_restart_init(&set->restart, restart_expired);
		set->pmi_held = true;
	}
	if (smp_call_function_single(set->cpu->cpu, up_on_cpu, &req, 1))
		req.err = my_refuse(why, -ENXIO, "CPU %d is offline", set->cpu->cpu);
	if (req.err && set->pmi_held)
		let_go_of_pmis(set);
	return req.err;
}

static void down_on_cpu(void *info)
{
	struct updown_request *req = info;
	struct my_event_set *set = req->set;
	u64 time = my_pmu_now();
	int err;

	lockdep_assert_irqs_disabled();
	req->err = 0;
	WRITE_ONCE(set->up_err, -ENXIO);
	if (set->offline)
		return;
	raw_spin_lock(&set->lock);
	if (my_event_set_multiplexes(set))
		my_rotate_stop(&set->timer);
	WRITE_ONCE(set->offline, true);
	if (set->active)
		req->err = stop_events(set, set->active, &time);
	if (set->periods) {
		err = my_pmi_end(set->cpu);
		req->err = req->err ?: err;
	}
	my_pmu_cpu_end(set->cpu);
	set->up_before += time - set->up_since;
	set->up_since = time;
	my_event_set_changed(set);
	raw_spin_unlock(&set->lock);
}

/**
 * my_event_set_down() - the CPU goes down: put the registers of a set back
 * @set: the set
 *
 * The counts include all that was counted until now.  Until my_event_set_up() nothing
 * can be enabled or read.
 *
 * Context: task, interrupts on; one cross-call.
 * Return: 0; -ENXIO if the CPU is offline; -EIO if a register faulted, all
 * others have been put back then.
 */
int my_event_set_down(struct my_event_set *set)
{
	struct updown_request req = { .set = set, .err = -EIO };

	if (smp_call_function_single(set->cpu->cpu, down_on_cpu, &req, 1))
		req.err = -ENXIO;
	if (set->pmi_held)
		let_go_of_pmis(set);
	return req.err;
}

/* --- rotation ------------------------------------------------------------------- */

/**
 * my_event_set_exclude_time() - exclude the time in which counters were stopped
 * @set: the set, whose events are rotated
 * @since: when they were stopped, CLOCK_MONOTONIC, ns
 * @came: events that were enabled since, and count from @since on as if they had not
 *
 * It is longer for events that have more company: taken for time in which they counted,
 * it would make their counts too small against those of others.  In version 1, where
 * those that stay count on, it is excluded for those that came.
 *
 * Context: the set's CPU, interrupts off, its counters stopped; the last that is
 * done before they are started again.
 */
void my_event_set_exclude_time(struct my_event_set *set, u64 since, u64 came)
{
	u64 events = set->stopped.still ? set->active : came;
	u64 ns = my_pmu_now() - since;

	if (set->stopped.still)
		set->excluded += ns;
	for (; events; events &= events - 1)
		set->event[__ffs64(events)].hw.prev_time += ns;
}

/* Active events that do not stay on their counter. */
static u64 leaving(const struct my_event_set *set, const struct my_pmu_rotation *next)
{
	u64 left, events = 0;

	for (left = set->active; left; left &= left - 1) {
		unsigned int i = __ffs64(left);

		if (next->idx[i] != set->event[i].hw.idx)
			events |= BIT_ULL(i);
	}
	return events;
}

static void note_rotate_err(struct my_event_set *set, int err)
{
	set->rotate_err = set->rotate_err ?: err;
}

/*
 * Somebody else has taken one of their counters (RISC-V): what is in a group with its event misses
 * the rotation.
 */
static noinline void enable_each(struct my_event_set *set, u64 events, u64 time)
{
	u64 left, group;
	int err;

	for (left = events; left; left &= ~group) {
		group = events & my_perf_event_group(&set->event[__ffs64(left)]);
		err = enable_events(set, group, time);
		if (err == -EBUSY)
			set->marks.clobbered |= counters_of(set, group);
		else
			note_rotate_err(set, err);
	}
}

/*
 * While the counters are stopped.  Returns the overflows that are accounted for, or are
 * not of the event that came.
 */
static u64 change_rotation(struct my_event_set *set)
{
	unsigned int next = set->schedule.rotation[set->rotation].next;
	u64 out = leaving(set, &set->schedule.rotation[next]);
	u64 overflowed = set->stopped.overflowed, now = my_pmu_now();
	u64 counters = counters_of(set, out), came;
	u64 pmis = counters_of(set, out & set->periods);
	int err;

	note_rotate_err(set, my_event_set_update(set, out | (set->active & set->periods), now));
	note_rotate_err(set, disable_events(set, out));
	my_event_set_place(set, next);
	came = set->enabled & events_in_rotation(set) & ~set->active;
	err = enable_events(set, came, now);
	if (unlikely(err == -EBUSY))
		enable_each(set, came, now);
	else
		note_rotate_err(set, err);
	came &= set->active;	/* the others miss the rotation */
	counters |= counters_of(set, came);
	pmis |= counters_of(set, came & set->periods);
	my_event_set_exclude_time(set, now, came);
	return overflowed & ((counters & set->cpu->overflow_reliable) | pmis);
}

/**
 * my_event_set_rotate() - the next groups get the counters
 * @set: the set; its CPU is up
 *
 * Events that stay on their counter go on counting there; their registers are not
 * touched, and nothing is lost of what was counted.
 *
 * Context: the set's CPU, interrupts off.
 * Return: 0, or -EIO if a register faulted; then the next read says so, too.
 */
int my_event_set_rotate(struct my_event_set *set)
{
	struct my_pmu_cpu *cpu = set->cpu;
	int err = 0;

	lockdep_assert_irqs_disabled();
	if (!set->active)
		err = cpu->pmu.ops->save(&cpu->pmu, &cpu->state, set->used);
	if (!err)
		err = my_event_set_stop(set);
	if (err)
		set->rotate_err = err;
	else
		note_rotate_err(set, start_active(set, change_rotation(set)));
	my_pmu_cpu_end(cpu);
	return set->rotate_err;
}

/* --- cross-calls ----------------------------------------------------------- */

struct call_request {
	struct my_event_set *set;
	u64 events;
	my_event_set_func_t func;
	void *data;
	int err;
};

/**
 * my_event_set_do() - do something with events of this CPU
 * @set: the set
 * @events: which, by place
 * @func: what
 * @data: for @func
 *
 * Context: the set's CPU, interrupts off.
 * Return: what @func returned.
 */
int my_event_set_do(struct my_event_set *set, u64 events,
		    my_event_set_func_t func, void *data)
{
	int err;

	raw_spin_lock(&set->lock);
	err = func(set, events, data);
	my_pmu_cpu_end(set->cpu);
	my_event_set_changed(set);
	raw_spin_unlock(&set->lock);
	return err;
}

static void call_on_cpu(void *info)
{
	struct call_request *req = info;

	req->err = my_event_set_do(req->set, req->events, req->func, req->data);
}

/**
 * my_event_set_call() - do something with events of a CPU, on that CPU
 * @set: the set
 * @events: which, by place
 * @func: called there with interrupts off, under @set->lock
 * @data: for @func
 *
 * Context: task, interrupts on; sends one cross-call and waits for it.
 * Return: what @func returned, or -ENXIO if the CPU is offline.
 */
int my_event_set_call(struct my_event_set *set, u64 events,
		      my_event_set_func_t func, void *data)
{
	struct call_request req = {
		.set = set,
		.events = events,
		.func = func,
		.data = data,
		.err = -EIO,
	};
	int err;

	err = smp_call_function_single(set->cpu->cpu, call_on_cpu, &req, 1);
	return err ?: req.err;
}

/**
 * my_perf_event_enable() - start an event and its group
 * @event: the event; if it is on already, nothing happens
 *
 * All of the group start with one write of IA32_PERF_GLOBAL_CTRL (from version 2 on).
 * Counts go on from where they were.
 *
 * Context: task, interrupts on; one cross-call.
 * Return: 0; -ENXIO if the CPU is offline, or what kept the event from starting when the
 * CPU came back, see my_event_set_up(); -EIO if a register faulted, nothing has changed
 * then.
 */
int my_perf_event_enable(struct my_perf_event *event)
{
	return my_event_set_call(event->set, my_perf_event_group(event),
				 enable_on_cpu, NULL);
}
EXPORT_SYMBOL_GPL(my_perf_event_enable);

/**
 * my_perf_event_disable() - stop an event and its group, put their registers back
 * @event: the event; if it is off already, nothing happens
 *
 * my_perf_event_read() gives what it has counted.  If its CPU is offline, it does not
 * start when that is back.
 *
 * Context: task, interrupts on; one cross-call.
 * Return: 0, or -EIO if a register faulted, all others have been put back then.
 */
int my_perf_event_disable(struct my_perf_event *event)
{
	u64 events = my_perf_event_group(event);
	struct my_event_set *set = event->set;
	unsigned long flags;
	bool offline;
	int err;

	do {
		err = my_event_set_call(set, events, disable_on_cpu, NULL);
		if (err != -ENXIO)
			return err;
		/* It must not start again when its CPU is back, which may be now. */
		raw_spin_lock_irqsave(&set->lock, flags);
		offline = set->offline;
		if (offline)
			set->enabled &= ~events;
		raw_spin_unlock_irqrestore(&set->lock, flags);
	} while (!offline);
	return 0;
}
EXPORT_SYMBOL_GPL(my_perf_event_disable);
