// SPDX-License-Identifier: GPL-2.0
/*
 * Counters for events that come and go with interrupts off, many times in a second: those
 * that perf's core schedules on a CPU, for itself or for the task that runs there.
 *
 * The pool of a CPU has the counters that no event set has.  It has an event set of its own,
 * whose places are counters: the event at place 3 is whatever is counted on counter 3.  An
 * event that comes gets a counter; if all that could count it are taken, an event on one of
 * them moves to another, as in pmu_schedule.c.
 *
 * A counter stays programmed when its event goes, and only does not run.  If the same event
 * is the next one there, as that of a task which is back, nothing is written but
 * IA32_PERF_GLOBAL_CTRL, once when it goes and once when it comes, for any number of events.
 *
 * perf's core stops and starts its own PMU, too, around what it does with our events: it
 * writes 0 to IA32_PERF_GLOBAL_CTRL, and then all ones (arch/x86/events/intel/core.c), before
 * or after we do.  So a counter that does not run was stopped by somebody else only if another
 * one of the CPU runs; and what others run is looked at again before ours are started.
 *
 * All ones start counters without an event, too.  That is seldom: so if no event counts, the
 * pool's counters are not stopped.  They are when a counter has grown without an event, or is
 * found to run.
 *
 * The counters' registers are put back when the CPU goes, at unload, and when another module
 * gets the counter.
 *
 * An event with a period takes what is left of it along, from counter to counter and from CPU to
 * CPU.
 */
#include <linux/bitops.h>
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/errno.h>
#include <linux/irq_work.h>
#include <linux/jiffies.h>
#include <linux/kprobes.h>
#include <linux/lockdep.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include "pmu_clock.h"
#include "pmu_compat.h"
#include "pmu_cpu.h"
#include "pmu_event.h"
#include "pmu_growth.h"
#include "pmu_model.h"
#include "pmu_pmi.h"
#include "pmu_pool.h"
#include "pmu_read.h"
#include "pmu_schedule.h"
#include "pmu_selftest.h"
#include "pmu_why.h"

/**
 * struct my_pool - the counters of a CPU for events that come and go
 * @set: its event set, whose places are counters.  Its counters are @set.used; those with an
 *	event that runs are @set.active, as places and as counters
 * @stops: how many calls of my_pool_stop() are open
 * @taken_to_stand: since the first of them no event has counted, and no counter was stopped
 * @now: a moment since then, CLOCK_MONOTONIC, ns; or 0
 * @ack: overflows that are accounted for
 * @shows: what a counter has just shown.  It is not on the stack: a function that passes the
 *	address of a local variable pays for the stack protector, at each switch of tasks
 * @timed: counters for which @began tells since when they count, and not their event
 * @began: by my_pmu_fast_ticks()
 * @held: counters that are programmed: what their registers held before is saved
 * @holds: of each of them the id of the event for which; 0 if it is not programmed
 * @on: of each counter the event that has it, or NULL
 * @inside: registers are being written.  That may be traced, and whoever traces it may read
 *	an event
 * @kind: see my_pool_kind()
 * @pmis: its counters may interrupt
 * @next: when all are freed
 *
 * Used on the CPU alone, with interrupts off; except that @set.used and @set.offline change under
 * pools_lock, too, and @kind under that alone.  An NMI finds in @on the event that has
 * overflowed, and changes no count while the CPU works on @set.
 */
struct my_pool {
	struct my_event_set set;
	unsigned int stops;
	bool taken_to_stand;
	u64 now;
	u64 ack;
	u64 shows;
	u64 timed;
	u64 began[MY_PMC_NR];
	u64 held;
	u64 holds[MY_PMC_NR];
	struct my_pool_event *on[MY_PMC_NR];
	bool inside;
	int kind;
	bool pmis;
	struct my_pool *next;
};

DEFINE_PER_CPU(struct my_pool *, my_pools);

/*
 * Taken under cpus_read_lock(), or in a hotplug callback.
 *
 * @reserved: the generic counters that are kept from perf, on all CPUs
 * @guarded: that is done by a guard, on CPUs that have one
 * @known: the counters that pools may have
 * @begun: there are pools
 * @asleep: the machine is about to sleep, or to end
 * @pmis: my_pmi_get() was called
 * @rate_log2: of the fastest event that was ever accepted, see struct my_hw_perf_event
 */
static DEFINE_MUTEX(pools_lock);
static struct {
	u64 reserved;
	bool guarded;
	u64 known;
	bool begun;
	bool asleep;
	bool pmis;
	unsigned int rate_log2;
} state;

/* --- stop and start ----------------------------------------------------------------- */

static u64 time_of(struct my_pool *pool)
{
	if (!pool->now)
		pool->now = my_pmu_now();
	return pool->now;
}

/*
 * As my_event_set_stop(); but if no counter of the CPU runs, perf's core has stopped ours, and
 * not long ago.
 */
static noinline void stop_counters(struct my_pool *pool)
{
	struct my_event_set *set = &pool->set;
	struct my_pmu_cpu *cpu = set->cpu;
	int err;

	err = cpu->pmu.ops->stop(&cpu->pmu, &cpu->state, set->used, &set->stopped);
	if (err) {
		set->stopped.overflowed = 0;	/* that is of another stop */
	} else {
		if (set->stopped.enabled && !pool->taken_to_stand)
			set->stopped_externally |= set->active_counters & ~set->stopped.running;
		if (unlikely(set->periods))
			my_event_set_find_overdue(set);
	}
	pool->taken_to_stand = false;
}

static noinline void begin_stop(struct my_pool *pool)
{
	struct my_event_set *set = &pool->set;

	my_pmu_cpu_begin(set->cpu, set);
	pool->now = 0;
	pool->ack = 0;
	if (set->active) {
		stop_counters(pool);
	} else {
		pool->taken_to_stand = true;
		set->stopped.overflowed = 0;
	}
	pool->stops = 1;
}

/**
 * my_pool_stop() - the counters of a pool stand still
 * @pool: this CPU's
 *
 * Until as many calls of my_pool_start() have followed.  Otherwise each function that needs
 * it stops them for itself.
 *
 * Context: the CPU, interrupts off; not in an NMI.
 */
void my_pool_stop(struct my_pool *pool)
{
	lockdep_assert_irqs_disabled();
	if (pool->stops)
		pool->stops++;
	else
		begin_stop(pool);
}

/*
 * The counters stand still.  If a register faults, what has been counted is added later.  What
 * is not known is lost: perf cannot be told.
 */
static int update(struct my_pool *pool, u64 counters)
{
	struct my_event_set *set = &pool->set;
	u64 lost, wrapped, left = counters & pool->timed;
	bool inside = pool->inside;
	int err;

	for (pool->timed &= ~left; left; left &= left - 1) {
		int idx = __ffs64(left);

		set->event[idx].hw.prev_time = time_of(pool) - my_pmu_ticks_ns(pool->began[idx]);
	}
	pool->inside = true;
	err = my_event_set_update(set, counters, time_of(pool));
	pool->inside = inside;
	lost = set->marks.clobbered | set->marks.late;
	if (unlikely(lost))
		WRITE_ONCE(set->cpu->lost, set->cpu->lost + hweight64(lost));
	set->marks = (struct my_pmu_marks) {};
	/* By the others the handler knows that the NMI is ours. */
	wrapped = set->stopped.overflowed & counters & set->cpu->overflow_reliable &
		  ~set->cpu->interrupts;
	pool->ack |= wrapped;
	/* It is accounted for, also if the counter is looked at again before it is started. */
	set->stopped.overflowed &= ~wrapped;
	return err;
}

/*
 * Likewise, of one counter: as nearly always it has grown by little, and nobody has touched it.
 * Returns whether it was so: then its event's time is not brought up to date.
 */
static __always_inline bool update_one(struct my_pool *pool, int idx)
{
	struct my_event_set *set = &pool->set;
	struct my_perf_event *event = &set->event[idx];
	const struct my_pmu_cpu *cpu = set->cpu;
	u64 unusual = set->stopped_externally | set->stopped.overflowed | set->periods |
		      ~cpu->overflow_reliable;

	if (unlikely(unusual & BIT_ULL(idx)) || cpu->pmu.ops->read(&event->hw, &pool->shows) ||
	    !my_pmu_plausible(pool->shows - event->hw.prev_count, 0)) {
		update(pool, BIT_ULL(idx));
		return false;
	}
	accumulate(event, pool->shows - event->hw.prev_count, pool->shows, event->hw.prev_time);
	return true;
}

/* The counters were not stopped, and run. */
static noinline void stop_after_all(struct my_pool *pool)
{
	struct my_event_set *set = &pool->set;
	bool inside = pool->inside;
	u64 left;

	pool->inside = true;
	my_pmu_cpu_begin(set->cpu, set);
	stop_counters(pool);
	/* Those that have just begun begin now; of none has a period begun. */
	for (left = set->active; left; left &= left - 1) {
		struct my_hw_perf_event *hw = &set->event[__ffs64(left)].hw;

		set->cpu->pmu.ops->read(hw, &hw->prev_count);
	}
	pool->ack |= set->stopped.overflowed & set->active & set->cpu->overflow_reliable;
	pool->inside = inside;
}

static noinline void start_counters(struct my_pool *pool, u64 counters)
{
	struct my_event_set *set = &pool->set;
	struct my_pmu_cpu *cpu = set->cpu;
	int running;

	/* If a register faults the next stop says what became of it. */
	running = cpu->pmu.ops->start_beside(&cpu->pmu, &cpu->state, set->used, counters,
					     pool->ack);
	if (unlikely(running > 0)) {
		if (pool->taken_to_stand) {
			stop_after_all(pool);
			my_pmu_cpu_end(cpu);
		}
		cpu->pmu.ops->start(&cpu->pmu, &cpu->state, counters, pool->ack);
	}
}

static noinline void end_stop(struct my_pool *pool, u64 others)
{
	struct my_event_set *set = &pool->set;

	/* Meanwhile an NMI has left overflows to us. */
	if (unlikely(set->periods))
		update(pool, set->periods);
	WRITE_ONCE(set->cpu->starting, true);
	my_pmu_cpu_end(set->cpu);
	WRITE_ONCE(set->cpu->arming, 0);	/* not before that */
	if (set->active & ~others || pool->ack)
		start_counters(pool, set->active & ~others);
	WRITE_ONCE(set->cpu->starting, false);
	pool->taken_to_stand = false;
	pool->stops = 0;
}

/**
 * my_pool_start() - the end of my_pool_stop()
 * @pool: this CPU's
 * @others: counters that somebody else is about to start: these are left to him
 *
 * Those counters run whose event is to count; all of them with one write of
 * IA32_PERF_GLOBAL_CTRL (from version 2 on).
 *
 * Context: as my_pool_stop().
 */
void my_pool_start(struct my_pool *pool, u64 others)
{
	if (pool->stops > 1)
		pool->stops--;
	else
		end_stop(pool, others);
}

/* --- an event on its counter ---------------------------------------------------------- */

/* What is left of its period is counted first.  On return @value is what the counter shows. */
static noinline int begin_period(struct my_pool *pool, struct my_pool_event *event, int idx,
				 u64 *value)
{
	struct my_event_set *set = &pool->set;
	struct my_perf_event *place = &set->event[idx];
	struct my_period *period = my_period_of(place);
	int err;

	event->last = event->last ?: event->attr.period;
	*period = (struct my_period) { .left = event->left ?: event->attr.period };
	err = my_pmi_reload(set->cpu->pmu.ops, place, period->left);
	if (err)
		return err;
	*value = place->hw.prev_count;
	place->attr = event->attr;
	set->periods |= BIT_ULL(idx);
	my_pmi_watch(place);
	return 0;
}

static noinline void end_period(struct my_pool *pool, struct my_pool_event *event, int idx)
{
	struct my_event_set *set = &pool->set;
	struct my_perf_event *place = &set->event[idx];
	struct my_period *period = my_period_of(place);

	/* Somebody else may start it: then it must not interrupt. */
	pool->inside = true;
	set->cpu->pmu.ops->interrupt(&place->hw, false);
	pool->inside = false;
	pool->holds[idx] = 0;
	my_pmi_forget(place, set->stopped.overflowed);
	pool->ack |= set->stopped.overflowed & BIT_ULL(idx);
	set->periods &= ~BIT_ULL(idx);
	set->overdue &= ~BIT_ULL(idx);
	place->attr.period = 0;
	event->left = period->left;
	WRITE_ONCE(set->cpu->lost_samples, set->cpu->lost_samples + period->lost);
}

/* The TSC is read in an instruction; what time that was is asked for seldom. */
static __always_inline void begin_time(struct my_pool *pool, int idx)
{
	pool->began[idx] = my_pmu_fast_ticks();
	pool->timed |= BIT_ULL(idx);
}

/* Its counter shows @value. */
static __always_inline void run_from(struct my_pool *pool, int idx, u64 value)
{
	struct my_event_set *set = &pool->set;
	struct my_hw_perf_event *hw = &set->event[idx].hw;
	u64 bit = BIT_ULL(idx);

	hw->prev_count = value;
	begin_time(pool, idx);
	/* It is from before. */
	pool->ack |= set->stopped.overflowed & bit &
		     (set->cpu->overflow_reliable | set->cpu->interrupts);
	set->stopped_externally &= ~bit;
	set->active |= bit;
	set->active_counters |= bit;
	set->cpu->active |= bit;
}

static int run(struct my_pool *pool, struct my_pool_event *event, int idx, u64 value)
{
	int err = 0;

	if (unlikely(event->attr.period))
		err = begin_period(pool, event, idx, &value);
	if (!err)
		run_from(pool, idx, value);
	return err;
}

/* Its last growth has been added. */
static __always_inline void end_run(struct my_pool *pool, int idx)
{
	struct my_event_set *set = &pool->set;
	u64 bit = BIT_ULL(idx);

	if (unlikely(set->periods & bit))
		end_period(pool, pool->on[idx], idx);
	set->active &= ~bit;
	set->active_counters &= ~bit;
	set->cpu->active &= ~bit;
}

static void rest(struct my_pool *pool, int idx)
{
	update(pool, BIT_ULL(idx));
	end_run(pool, idx);
}

/* @value is what the counter shows.  If its control is as it was left, nothing is written. */
static int program(struct my_pool *pool, const struct my_pool_event *event, int idx,
		   u64 *value)
{
	struct my_pmu_cpu *cpu = pool->set.cpu;
	const struct my_pmu_ops *ops = cpu->pmu.ops;
	struct my_hw_perf_event *hw = &pool->set.event[idx].hw;
	u64 bit = BIT_ULL(idx);
	int err;

	if (pool->holds[idx] == event->id) {
		err = ops->read(hw, value);
		if (unlikely(pool->taken_to_stand && *value != hw->prev_count)) {
			stop_after_all(pool);
			err = ops->read(hw, value);
		}
		if (err <= 0)
			return err;
	}
	if (pool->taken_to_stand)
		stop_after_all(pool);
	pool->holds[idx] = event->id;
	ops->encode(&cpu->pmu, &event->attr, hw);
	pool->inside = true;
	if (pool->held & bit)
		err = ops->program(&cpu->pmu, &cpu->state, hw, hw->config);
	else
		err = ops->enable(&cpu->pmu, &cpu->state, hw);
	pool->inside = false;
	if (err) {
		pool->holds[idx] = 0;
		return err;
	}
	pool->held |= bit;
	err = ops->read(hw, value);
	return err > 0 ? -EIO : err;	/* it does not keep what was written */
}

static void take_count(struct my_pool_event *event)
{
	u64 count = event->pool->set.event[event->idx].count;

	event->grown += count - event->seen;
	event->seen = count;
}

static __always_inline void have(struct my_pool *pool, struct my_pool_event *event, int idx)
{
	struct my_pmu_cpu *cpu = pool->set.cpu;

	pool->on[idx] = event;
	WRITE_ONCE(cpu->busy, cpu->busy | BIT_ULL(idx));
	event->pool = pool;
	event->idx = idx;
	event->seen = pool->set.event[idx].count;
}

static void let_go(struct my_pool_event *event)
{
	struct my_pool *pool = event->pool;
	struct my_pmu_cpu *cpu = pool->set.cpu;

	pool->on[event->idx] = NULL;
	WRITE_ONCE(cpu->busy, cpu->busy & ~BIT_ULL(event->idx));
}

/* The counters stand still, and @idx is free. */
static int put_on(struct my_pool *pool, struct my_pool_event *event, int idx)
{
	u64 value;
	int err = program(pool, event, idx, &value);

	if (err)
		return err;
	have(pool, event, idx);
	err = event->runs ? run(pool, event, idx, value) : 0;
	if (err) {
		let_go(event);
		event->pool = NULL;
	}
	return err;
}

static void take_off(struct my_pool_event *event)
{
	struct my_pool *pool = event->pool;

	if (pool->set.active & BIT_ULL(event->idx)) {
		update_one(pool, event->idx);
		end_run(pool, event->idx);
	}
	take_count(event);
	let_go(event);
}

/* --- which counter -------------------------------------------------------------------- */

/**
 * my_pool_counters() - the counters that count an event
 * @pmu: on a CPU that has this one
 * @attr: the event; whoever names counters on which it may count wrong means it
 *
 * Context: any; pure.
 * Return: a set; 0 if the CPU does not have the event.
 */
u64 my_pool_counters(const struct my_x86_pmu *pmu, const struct my_perf_event_attr *attr)
{
	u64 right, doubtful;
	const char *reason;

	right = pmu->ops->counters_for(pmu, attr, &doubtful, &reason);
	if (!attr->allowed)
		return right;
	return right & attr->allowed ?: doubtful & attr->allowed;
}

static u64 counters_of(const struct my_pool *pool, const struct my_pool_event *event)
{
	const struct my_pmu_cpu *cpu = pool->set.cpu;
	u64 counters = 0;

	if (event->kind == pool->kind)
		counters = event->counters;
	else if (event->anywhere)
		counters = my_pool_counters(&cpu->pmu, &event->attr);
	if (unlikely(event->attr.period))
		counters &= pool->pmis ? cpu->overflow_reliable | cpu->overflow_unknown : 0;
	return counters;
}

/* To @to, which is free.  If a register faults it stays, and may not count. */
static int move(struct my_pool *pool, int idx, int to)
{
	struct my_pool_event *event = pool->on[idx];
	int err;

	take_off(event);
	err = put_on(pool, event, to);
	if (err && put_on(pool, event, idx))
		have(pool, event, idx);
	return err;
}

/*
 * All of @can are taken: find, breadth first, a counter whose event can go to a free one, or
 * to one whose event can, and so forth.  Then each of them moves, and the first counter of the
 * way is free.
 */
static noinline int find_way(struct my_pool *pool, u64 can, u64 not)
{
	u64 used = pool->set.used & ~not, free = used & ~pool->set.cpu->busy, reached = can, left;
	unsigned int first = 0, nr = 0;
	s8 from[MY_PMC_NR], queue[MY_PMC_NR];

	for (left = can; left; left &= left - 1) {
		queue[nr] = __ffs64(left);
		from[queue[nr++]] = MY_NO_COUNTER;
	}
	for (; first < nr; first++) {
		u64 next = counters_of(pool, pool->on[queue[first]]) & used & ~reached;

		if (next & free) {
			int idx = queue[first], to = __ffs64(next & free), err = 0;

			for (; idx != MY_NO_COUNTER && !err; idx = from[idx]) {
				err = move(pool, idx, to);
				to = idx;
			}
			return err ?: to;
		}
		for (reached |= next; next; next &= next - 1) {
			queue[nr] = __ffs64(next);
			from[queue[nr++]] = queue[first];
		}
	}
	return -EAGAIN;
}

/* Of @free those that are programmed for such an event, whose it was. */
static u64 with_event(const struct my_pool *pool, const struct my_pool_event *event, u64 free)
{
	const struct my_x86_pmu *pmu = &pool->set.cpu->pmu;
	struct my_hw_perf_event hw = {};
	u64 left, found = 0;

	for (left = free & pool->held; left; left &= left - 1) {
		hw.idx = __ffs64(left);
		pmu->ops->encode(pmu, &event->attr, &hw);
		if (pool->set.event[hw.idx].hw.config == hw.config)
			found |= BIT_ULL(hw.idx);
	}
	return found;
}

/*
 * The one that still holds the event; else a fixed one, which could count no other event; none of
 * @not.
 */
static int choose(struct my_pool *pool, const struct my_pool_event *event, u64 not)
{
	u64 free = pool->set.used & ~(pool->set.cpu->busy | not), can;

	if (pool->holds[event->idx] == event->id && free & BIT_ULL(event->idx))
		return event->idx;
	can = counters_of(pool, event) & pool->set.used & ~not;
	free &= can;
	if (!free)
		return find_way(pool, can, not);
	if (free & MY_FIXED_COUNTERS)
		free &= MY_FIXED_COUNTERS;
	if (pool->set.cpu->pmu.ops->single)
		free = with_event(pool, event, free) ?: free;
	return __ffs64(free & ~pool->held ?: free);
}

/* --- events come and go --------------------------------------------------------------- */

/*
 * To the counter that still holds the event, as nearly always when its task is back: then
 * there is nothing to choose or to write.  False if not all is as it was left.
 */
static bool add_again(struct my_pool *pool, struct my_pool_event *event)
{
	struct my_pmu_cpu *cpu = pool->set.cpu;
	int idx = event->idx;
	struct my_hw_perf_event *hw = &pool->set.event[idx].hw;

	if (pool->holds[idx] != event->id || pool->on[idx] || event->attr.period || !event->runs)
		return false;
	if (cpu->pmu.ops->read(hw, &pool->shows) ||
	    (pool->taken_to_stand && pool->shows != hw->prev_count))
		return false;
	have(pool, event, idx);
	run_from(pool, idx, pool->shows);
	return true;
}

/**
 * my_pool_add() - an event gets a counter
 * @pool: this CPU's
 * @event: the event; it has none
 * @run: it counts, once the counters are started; otherwise see my_pool_resume()
 *
 * Context: the CPU, interrupts off; not in an NMI.
 * Return: 0; -EAGAIN if no counter is free that can count it, or the CPU is about to go;
 * -EIO if a register faulted.
 */
int my_pool_add(struct my_pool *pool, struct my_pool_event *event, bool run)
{
	int idx, err = 0;
	u64 taken = 0;

	my_pool_stop(pool);
	event->runs = run;
	if (!add_again(pool, event)) {
		/* perf may have taken one for itself (RISC-V). */
		do {
			idx = choose(pool, event, taken);
			if (idx < 0) {
				err = idx == -EBUSY ? -EAGAIN : idx;
				break;
			}
			err = put_on(pool, event, idx);
			taken |= BIT_ULL(idx);
		} while (err == -EBUSY);
	}
	my_pool_start(pool, 0);
	return err;
}

static u64 tell(struct my_pool_event *event)
{
	u64 grown = event->grown;

	event->grown = 0;
	return grown;
}

/**
 * my_pool_del() - an event goes
 * @event: the event; its pool is this CPU's; or it has lost it, as all below
 *
 * Its counter stays programmed.
 *
 * Context: as my_pool_add().
 * Return: as my_pool_read().
 */
u64 my_pool_del(struct my_pool_event *event)
{
	struct my_pool *pool = event->pool;

	if (pool) {
		my_pool_stop(pool);
		take_off(event);
		event->pool = NULL;
		my_pool_start(pool, 0);
	}
	return tell(event);
}

/**
 * my_pool_pause() - an event stops counting, and keeps its counter
 * @event: the event; its pool is this CPU's
 *
 * Context: as my_pool_add().
 */
void my_pool_pause(struct my_pool_event *event)
{
	struct my_pool *pool = event->pool;

	event->runs = false;
	if (!pool)
		return;
	my_pool_stop(pool);
	if (pool->set.active & BIT_ULL(event->idx))
		rest(pool, event->idx);
	my_pool_start(pool, 0);
}

/**
 * my_pool_resume() - and counts on
 * @event: the event; its pool is this CPU's
 *
 * Context: as my_pool_add().
 * Return: 0, or -EIO if a register faulted.
 */
int my_pool_resume(struct my_pool_event *event)
{
	struct my_pool *pool = event->pool;
	u64 value;
	int err = 0;

	event->runs = true;
	if (!pool)
		return 0;
	my_pool_stop(pool);
	if (!pool->set.offline && !(pool->set.active & BIT_ULL(event->idx))) {
		err = program(pool, event, event->idx, &value) ?:
		      run(pool, event, event->idx, value);
	}
	my_pool_start(pool, 0);
	return err;
}

/* Counters are stopped or started, or it is the work of another set. */
static bool is_at_work(const struct my_pool *pool)
{
	return pool->inside || pool->set.cpu->starting ||
	       pool->set.cpu->working != (pool->stops ? &pool->set : NULL);
}

/**
 * my_pool_read() - what an event has counted
 * @event: the event; its pool, if it is on one, is this CPU's
 *
 * While the counters are stopped all events show the same instant.  In the middle of work on
 * registers, which may be traced, nothing is read.
 *
 * Context: as my_pool_add().
 * Return: since the last call.
 */
u64 my_pool_read(struct my_pool_event *event)
{
	struct my_pool *pool = event->pool;

	if (pool && !is_at_work(pool)) {
		my_pool_stop(pool);
		if (pool->set.active & BIT_ULL(event->idx) && update_one(pool, event->idx))
			begin_time(pool, event->idx);
		take_count(event);
		my_pool_start(pool, 0);
	}
	return tell(event);
}

/**
 * my_pool_peek() - what an event has counted, in an NMI
 * @event: the event; its pool, if it is on one, is this CPU's
 *
 * Nothing if the NMI has interrupted work on the pool.
 *
 * Context: the CPU, in an NMI.
 * Return: since the last call, or the last one of my_pool_read().
 */
u64 my_pool_peek(struct my_pool_event *event)
{
	struct my_pool *pool = event->pool;
	const struct my_hw_perf_event *hw;
	u64 count, now, grown;

	if (!pool || pool->inside || pool->set.cpu->working == &pool->set)
		return 0;
	hw = &pool->set.event[event->idx].hw;
	count = pool->set.event[event->idx].count;
	/* What is found to be wrong later is taken back then. */
	if (pool->set.active & BIT_ULL(event->idx) && !pool->set.cpu->pmu.ops->peek(hw, &now))
		count += my_pmu_delta(hw->prev_count, now, hw->cntval_bits);
	grown = count - event->seen;
	event->seen = count;
	return grown;
}

NOKPROBE_SYMBOL(my_pool_peek);

/* --- samples -------------------------------------------------------------------------- */

/* In an NMI. */
static void overflow(struct my_perf_event *place, bool busy, struct pt_regs *regs)
{
	struct my_pool *pool = container_of(place->set, struct my_pool, set);
	struct my_pool_event *event = pool->on[place->hw.idx];

	if (!event->sample(event, busy, regs))
		my_period_of(place)->lost++;
	/* Who is at work and has not found it yet begins a period with the new one. */
	event->last = busy && local_read(&my_period_of(place)->owed) < 0 ?
		      event->attr.period : place->attr.period;
	place->attr.period = event->attr.period;
	my_pmi_note_period(place);
}

NOKPROBE_SYMBOL(overflow);

/* What overflowed while it was throttled has no sample. */
static void restart_expired(struct my_restart *restart)
{
	struct my_event_set *set = container_of(restart, struct my_event_set, restart);
	struct my_pool *pool = container_of(set, struct my_pool, set);
	bool again = false;
	u64 left;

	my_pool_stop(pool);
	for (left = set->periods; left; left &= left - 1) {
		struct my_perf_event *place = &set->event[__ffs64(left)];

		if (!my_period_of(place)->throttled)
			continue;
		update(pool, left & -left);
		pool->ack |= set->stopped.overflowed & left & -left;
		pool->inside = true;
		again |= my_pmi_unthrottle(place);
		pool->inside = false;
	}
	my_pool_start(pool, 0);
	if (again)
		irq_work_queue(&restart->work);
}

/* Returns 1 if its counters may interrupt now. */
static int begin_pmis(struct my_event_set *set, u64 unused, void *why)
{
	struct my_pool *pool = container_of(set, struct my_pool, set);
	int err;

	if (set->offline)
		return 0;
	err = my_pmi_begin(set->cpu, why);
	pool->pmis = !err;
	return err ?: 1;
}

/* --- the pool itself ------------------------------------------------------------------ */

/* A self-test looks for the counters in a schedule. */
static void set_counters(struct my_event_set *set, u64 counters)
{
	struct my_pmu_rotation *rotation = &set->schedule.rotation[0];
	u64 left;

	set->used = counters;
	rotation->events = counters;
	for (left = counters; left; left &= left - 1)
		rotation->idx[__ffs64(left)] = __ffs64(left);
	WRITE_ONCE(set->cpu->pooled, counters);
}

/* Those that nobody has; none if perf itself could have them. */
static u64 find_counters(const struct my_pmu_cpu *cpu)
{
	if (!my_pmu_cpu_is_kept(cpu, state.reserved, state.guarded))
		return 0;
	return cpu->pmu.counters & state.known & ~(cpu->firmware | cpu->used | cpu->pooled);
}

/*
 * Events that had a counter when the CPU went, as in suspend, count on.  If it is somebody
 * else's now they get another one, or none.  perf is not told of those that do not count: the
 * file "counters" has them.
 */
static void put_back_on(struct my_pool *pool)
{
	struct my_pool_event *moves[MY_PMC_NR];
	struct my_pmu_cpu *cpu = pool->set.cpu;
	u64 had = 0, stay = 0, left, value;
	unsigned int nr = 0, lost = 0, i;
	int idx, to;

	for (idx = 0; idx < MY_PMC_NR; idx++) {
		if (!pool->on[idx])
			continue;
		had |= BIT_ULL(idx);
		stay |= counters_of(pool, pool->on[idx]) & pool->set.used & BIT_ULL(idx);
	}
	if (!had)
		return;
	my_pool_stop(pool);
	WRITE_ONCE(cpu->busy, stay);
	for (left = stay; left; left &= left - 1) {
		idx = __ffs64(left);
		if (pool->on[idx]->runs && (program(pool, pool->on[idx], idx, &value) ||
					    run(pool, pool->on[idx], idx, value)))
			lost++;
	}
	/* All of them leave before one moves: a counter that is free has no event then. */
	for (left = had & ~stay; left; left &= left - 1) {
		moves[nr] = pool->on[__ffs64(left)];
		take_off(moves[nr++]);
	}
	for (i = 0; i < nr; i++) {
		to = choose(pool, moves[i], 0);
		if (to >= 0 && !put_on(pool, moves[i], to))
			continue;
		moves[i]->pool = NULL;
		lost++;
	}
	WRITE_ONCE(cpu->lost, cpu->lost + lost);
	my_pool_start(pool, 0);
}

static int come_on_cpu(struct my_event_set *set, u64 counters, void *why)
{
	struct my_pool *pool = container_of(set, struct my_pool, set);
	struct my_pmu_cpu *cpu = set->cpu;
	int err;

	my_pmu_cpu_begin(cpu, set);
	set_counters(set, counters);
	my_refuse(why, -EIO, "%s", my_pmu_failed(&set->cpu->pmu));
	err = my_pmu_selftest(set, why);
	if (cpu->disturbed && my_pmi_throttle(cpu))
		err = my_pmu_selftest(set, why);
	if (!err)
		err = cpu->pmu.ops->save(&cpu->pmu, &cpu->state, counters);
	if (err) {
		set_counters(set, 0);
		return err;
	}
	WRITE_ONCE(set->offline, false);
	/* Without them there are no events with a period, and all others. */
	if (state.pmis)
		begin_pmis(set, 0, why);
	put_back_on(pool);
	return 0;
}

/* Their registers are put back; none of them runs. */
static int give_up(struct my_pool *pool, u64 counters)
{
	struct my_event_set *set = &pool->set;
	struct my_pmu_cpu *cpu = set->cpu;
	int first = 0, err, idx;
	u64 left;

	pool->inside = true;
	for (left = counters & pool->held; left; left &= ~BIT_ULL(idx)) {
		idx = fls64(left) - 1;
		pool->holds[idx] = 0;
		err = cpu->pmu.ops->disable(&cpu->pmu, &cpu->state, &set->event[idx].hw);
		first = first ?: err;
	}
	pool->held &= ~counters;
	set_counters(set, set->used & ~counters);
	err = cpu->pmu.ops->restore(&cpu->pmu, &cpu->state, counters);
	pool->inside = false;
	return first ?: err;
}

static int go_on_cpu(struct my_event_set *set, u64 unused, void *data)
{
	struct my_pool *pool = container_of(set, struct my_pool, set);
	int err, pmi_err;
	u64 left;

	if (set->offline)
		return 0;
	my_pool_stop(pool);
	for (left = set->active; left; left &= left - 1)
		rest(pool, __ffs64(left));
	WRITE_ONCE(set->cpu->busy, 0);
	err = give_up(pool, set->used);
	pool->ack = 0;	/* done */
	WRITE_ONCE(set->offline, true);
	my_pool_start(pool, 0);
	if (pool->pmis) {
		pmi_err = my_pmi_end(set->cpu);
		err = err ?: pmi_err;
	}
	pool->pmis = false;
	return err;
}

static int withdraw_on_cpu(struct my_event_set *set, u64 counters, void *why)
{
	struct my_pool *pool = container_of(set, struct my_pool, set);
	int err;

	counters &= set->used;
	if (!counters)
		return 0;
	if (set->cpu->busy & counters)
		return my_refuse(why, -EBUSY,
				 "an event of perf (my_pmu/.../) has just got a counter on CPU %d; try again",
				 set->cpu->cpu);
	my_refuse(why, -EIO, "%s", my_pmu_failed(&set->cpu->pmu));
	my_pool_stop(pool);
	err = give_up(pool, counters);
	my_pool_start(pool, 0);
	return err;
}

static int lend_on_cpu(struct my_event_set *set, u64 counters, void *unused)
{
	struct my_pmu_cpu *cpu = set->cpu;
	int err = cpu->pmu.ops->save(&cpu->pmu, &cpu->state, counters);

	if (!err)
		set_counters(set, set->used | counters);
	return err;
}

static int keep_up_on_cpu(struct my_event_set *set, u64 unused, void *data)
{
	struct my_pool *pool = container_of(set, struct my_pool, set);
	int err;

	my_pool_stop(pool);
	err = update(pool, set->active);
	my_pool_start(pool, 0);
	return err;
}

/* --- all pools ------------------------------------------------------------------------- */

static void keep_up(struct work_struct *work);
static DECLARE_DELAYED_WORK(keeper, keep_up);

/* So that no counter wraps twice unseen. */
static void keep_up(struct work_struct *work)
{
	unsigned int ms = UINT_MAX;
	struct my_pool *pool;
	int cpu;

	cpus_read_lock();
	mutex_lock(&pools_lock);
	for_each_online_cpu(cpu) {
		pool = per_cpu(my_pools, cpu);
		ms = min(ms, my_pmu_max_interval_ms(my_event_set_bits(&pool->set),
						    state.rate_log2));
		if (READ_ONCE(pool->set.active) &&
		    my_event_set_call(&pool->set, 0, keep_up_on_cpu, NULL))
			ms = min_t(unsigned int, ms, MSEC_PER_SEC);
	}
	mutex_unlock(&pools_lock);
	cpus_read_unlock();
	queue_delayed_work(system_dfl_wq, &keeper, my_pmu_keep_up_jiffies(ms));
}

/* Who has called my_pool_here() may use it until then. */
static void free_pools(void)
{
	struct my_pool *pool, *first = NULL;
	int cpu;

	for_each_possible_cpu(cpu) {
		pool = per_cpu(my_pools, cpu);
		if (!pool)
			break;
		pool->next = first;
		first = pool;
		WRITE_ONCE(per_cpu(my_pools, cpu), NULL);
	}
	synchronize_rcu();
	while (first) {
		pool = first;
		first = pool->next;
		kvfree(pool);
	}
}

static int make_pools(void)
{
	struct my_pool *pool;
	int cpu, idx;

	for_each_possible_cpu(cpu) {
		pool = kvzalloc(sizeof(*pool), GFP_KERNEL);
		if (!pool) {
			free_pools();
			return -ENOMEM;
		}
		my_event_set_init(&pool->set, my_pmu_cpu_of(cpu));
		pool->kind = -1;
		pool->set.nr_events = MY_PMC_NR;
		pool->set.schedule.nr_rotations = 1;
		pool->set.overflow = overflow;
		my_restart_init(&pool->set.restart, restart_expired);
		for (idx = 0; idx < MY_PMC_NR; idx++) {
			pool->set.event[idx].set = &pool->set;
			pool->set.event[idx].hw.idx = idx;
		}
		per_cpu(my_pools, cpu) = pool;
	}
	return 0;
}

/**
 * my_pools_begin() - from now on there are pools
 * @reserved: the generic counters that are kept from perf, on all CPUs
 * @guarded: that is done by a guard, on CPUs that have one
 * @known: the counters that they may have
 *
 * They have no counters before my_pools_come().
 *
 * Context: task; sleeps.
 * Return: 0; 1 if there were pools already; or -ENOMEM.
 */
int my_pools_begin(u64 reserved, bool guarded, u64 known)
{
	int err;

	mutex_lock(&pools_lock);
	err = state.begun ? 1 : make_pools();
	if (!err) {
		state.reserved = reserved;
		state.guarded = guarded;
		state.known = known;
		state.rate_log2 = MY_RATE_LOG2;
		state.begun = true;
		queue_delayed_work(system_dfl_wq, &keeper, 1);
	}
	mutex_unlock(&pools_lock);
	return err;
}

/**
 * my_pools_take_pmis() - from now on events may have a period
 * @why: if refused, the reason
 *
 * Context: task; sleeps.  Between my_pools_begin() and my_pools_end().
 * Return: 0, also if some CPUs only can; otherwise as my_pmi_get(), or as my_pmi_begin() on the
 * last one.
 */
int my_pools_take_pmis(struct my_pmu_why *why)
{
	int err = 0, cpu, cpu_err;
	struct my_pool *pool;
	bool any = false;

	mutex_lock(&pools_lock);
	if (!state.pmis)
		err = my_pmi_get(why);
	if (err)
		goto unlock;
	state.pmis = true;
	for_each_online_cpu(cpu) {
		pool = per_cpu(my_pools, cpu);
		/* Not again for each event: the CPU would be disturbed. */
		cpu_err = 1;
		if (!READ_ONCE(pool->pmis))
			cpu_err = my_event_set_call(&pool->set, 0, begin_pmis, why);
		any |= cpu_err == 1;
		err = cpu_err < 0 ? cpu_err : err;
	}
unlock:
	mutex_unlock(&pools_lock);
	return any ? 0 : err;
}

/**
 * my_pools_sleep() - whether the machine is about to sleep, or to end
 * @sleeps: it is: until it is not any more, no CPU comes
 *
 * Context: task; sleeps.
 */
void my_pools_sleep(bool sleeps)
{
	mutex_lock(&pools_lock);
	state.asleep = sleeps;
	mutex_unlock(&pools_lock);
}

/**
 * my_pools_end() - the end of my_pools_begin()
 *
 * No event is on a pool, and each CPU has gone (my_pools_go()).
 *
 * Context: task; sleeps.  Not under cpus_read_lock(): a work that takes it is waited for.
 */
void my_pools_end(void)
{
	mutex_lock(&pools_lock);
	state.begun = false;
	mutex_unlock(&pools_lock);
	cancel_delayed_work_sync(&keeper);
	free_pools();
	if (state.pmis)
		my_pmi_put();
	state.pmis = false;
}

/*
 * The CPUs that are like each other have the number of one of them, that which came first:
 * events keep it, whatever CPUs come later.
 */
static int find_kind(const struct my_pmu_cpu *cpu)
{
	const struct my_pmu_cpu *other;
	int i;

	for_each_possible_cpu(i) {
		other = my_pmu_cpu_of(i);
		if (per_cpu(my_pools, i)->kind >= 0 &&
		    my_cpu_model(i) == my_cpu_model(cpu->cpu) &&
		    !memcmp(&other->pmu, &cpu->pmu, sizeof(cpu->pmu)))
			return per_cpu(my_pools, i)->kind;
	}
	return cpu->cpu;
}

/* Under pools_lock. */
static int come(int cpu, struct my_pmu_why *why)
{
	struct my_pmu_cpu *c = my_pmu_cpu_of(cpu);
	struct my_pool *pool = per_cpu(my_pools, cpu);
	u64 counters;
	int err;

	if (!state.begun || state.asleep || !pool->set.offline)
		return 0;
	err = my_pmu_probe(c, NULL, why);
	if (!err)
		err = my_pmu_find_firmware(c, NULL, why);
	if (err)
		return err;
	pool->kind = find_kind(c);
	counters = find_counters(c);
	if (!counters)
		return my_refuse(why, -ENOSPC,
				 "no counter is left for events of perf (my_pmu/.../)");
	err = my_event_set_call(&pool->set, counters, come_on_cpu, why);
	if (!err)
		mod_delayed_work(system_dfl_wq, &keeper, 1);
	return err;
}

/**
 * my_pools_come() - a CPU is there: its pool gets the counters that no event set has
 * @cpu: the CPU
 * @why: if refused, the reason
 *
 * Each is tested before.  Events that were on the pool when it went count on.
 *
 * Context: task, interrupts on; sleeps.  Under cpus_read_lock(), or in a hotplug callback.
 * Return: 0, also if there are no pools, it has its counters, or the machine is to sleep;
 * -ENXIO if the CPU is offline; -ENODEV if it has no PMU, or a counter does not work; -ENOSPC
 * if no counter is left; -EIO if a register faulted.
 */
int my_pools_come(int cpu, struct my_pmu_why *why)
{
	int err;

	mutex_lock(&pools_lock);
	err = come(cpu, why);
	mutex_unlock(&pools_lock);
	return err;
}

/**
 * my_pools_go() - a CPU goes, or the module: the registers are put back
 * @cpu: the CPU
 *
 * All counts are kept.  Events that are on the pool stay on it, and do not count.
 *
 * Context: as my_pools_come().
 * Return: 0, or -EIO if a register faulted.
 */
int my_pools_go(int cpu)
{
	int err = 0;

	mutex_lock(&pools_lock);
	if (state.begun)
		err = my_event_set_call(&per_cpu(my_pools, cpu)->set, 0, go_on_cpu, NULL);
	if (state.begun)
		my_restart_cancel(&per_cpu(my_pools, cpu)->set.restart);
	mutex_unlock(&pools_lock);
	return err;
}

/**
 * my_pools_withdraw() - counters are to be an event set's
 * @cpu: the CPU
 * @counters: which; no harm is done if some of them are not the pool's
 * @why: if refused, the reason
 *
 * Context: as my_pools_come().
 * Return: 0; -EBUSY if an event has one, nothing has changed then; -EIO if a register
 * faulted.
 */
int my_pools_withdraw(int cpu, u64 counters, struct my_pmu_why *why)
{
	int err = 0;

	mutex_lock(&pools_lock);
	if (state.begun)
		err = my_event_set_call(&per_cpu(my_pools, cpu)->set, counters, withdraw_on_cpu,
					why);
	mutex_unlock(&pools_lock);
	return err;
}

/**
 * my_pools_lend() - counters were an event set's, and are free
 * @cpu: the CPU
 *
 * If its pool had none at all, they are tested, and it has some from now on.  Otherwise the set
 * has tested them; of those that it was refused the pool gets none.
 *
 * Context: as my_pools_come().
 * Return: 0; or as my_pools_come(), and then the pool does without them.
 */
int my_pools_lend(int cpu)
{
	struct my_pmu_cpu *c = my_pmu_cpu_of(cpu);
	struct my_pmu_why why;
	u64 counters;
	int err = 0;

	mutex_lock(&pools_lock);
	counters = find_counters(c) & ~c->refused;
	if (state.begun && per_cpu(my_pools, cpu)->set.offline) {
		err = cpu_active(cpu) ? come(cpu, &why) : 0;
	} else if (state.begun && counters) {
		err = my_event_set_call(&per_cpu(my_pools, cpu)->set, counters, lend_on_cpu, NULL);
		/* They may have to be read sooner. */
		mod_delayed_work(system_dfl_wq, &keeper, 1);
	}
	mutex_unlock(&pools_lock);
	return err;
}

/**
 * my_pool_kind() - which CPUs have the same counters for an event
 * @cpu: a CPU
 *
 * Context: task; sleeps.
 * Return: a number that it shares with CPUs of the same PMU and model; -1 if it has no pool.
 */
int my_pool_kind(int cpu)
{
	int kind = -1;

	mutex_lock(&pools_lock);
	if (state.begun && per_cpu(my_pools, cpu)->set.used)
		kind = per_cpu(my_pools, cpu)->kind;
	mutex_unlock(&pools_lock);
	return kind;
}

/* Under pools_lock. */
static bool have_counters(const struct my_pool *pool, const struct my_pool_event *const events[],
			  unsigned int nr)
{
	struct my_pmu_demand demand[MY_EVENTS_MAX];
	s8 idx[MY_EVENTS_MAX];
	unsigned int i;

	for (i = 0; i < nr; i++) {
		struct my_hw_perf_event hw = { .idx = 0 };

		pool->set.cpu->pmu.ops->encode(&pool->set.cpu->pmu, &events[i]->attr, &hw);
		if (hw.rate_log2 > state.rate_log2) {
			state.rate_log2 = hw.rate_log2;
			mod_delayed_work(system_dfl_wq, &keeper, 1);
		}
		demand[i] = (struct my_pmu_demand) {
			.counters = counters_of(pool, events[i]) & pool->set.used,
			.group = i,
		};
	}
	return my_pmu_match(demand, GENMASK_ULL(nr - 1, 0), idx);
}

/**
 * my_pools_accept() - could these events all have counters at the same time?
 * @cpu: on this CPU; -1: on any
 * @events: the events; from now on there may be such
 * @nr: how many
 *
 * Context: task; sleeps.
 * Return: 0 if they could, with no other event there; -EINVAL if not; -EBUSY if no CPU in
 * question has a pool.
 */
int my_pools_accept(int cpu, const struct my_pool_event *const events[], unsigned int nr)
{
	int err = -EBUSY, other;

	mutex_lock(&pools_lock);
	for_each_online_cpu(other) {
		if ((cpu >= 0 && cpu != other) || !per_cpu(my_pools, other)->set.used)
			continue;
		err = have_counters(per_cpu(my_pools, other), events, nr) ? 0 : -EINVAL;
		if (!err)
			break;
	}
	mutex_unlock(&pools_lock);
	return err;
}
