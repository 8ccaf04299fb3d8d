// SPDX-License-Identifier: GPL-2.0
/*
 * Reading: one cross-call for all events of a set, in which, from version 2 on, its
 * counters are stopped, unless they are not to be.
 *
 * Usually the CPU only captures what its registers show, and whoever asked adds it up.
 * Where a register is not as expected, and where events are multiplexed, the CPU does
 * all of it.  Only if the sums show that something is wrong is there a second
 * cross-call.  Other modules read events of the CPU that they are on without any.
 */
#include <linux/bitops.h>
#include <linux/compiler.h>
#include <linux/cpumask.h>
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/irqflags.h>
#include <linux/jiffies.h>
#include <linux/lockdep.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/smp.h>

#include "pmu_clock.h"
#include "pmu_event.h"
#include "pmu_schedule.h"
#include "pmu_growth.h"
#include "pmu_read.h"

#define ALL_EVENTS		(~0ULL)

/* Half a counter's range is left for a sample that comes late. */
#define LATE_LOG2		1

/**
 * my_pmu_max_interval_ms() - how seldom a counter may be read
 * @cntval_bits: the counter's width, 32 to 64
 * @rate_log2: how fast its event can be, in a millisecond
 *
 * In this time a counter grows by at most half its range, so that a read
 * that comes up to as late again is still right.
 *
 * Context: any; pure.
 * Return: milliseconds.
 */
unsigned int my_pmu_max_interval_ms(unsigned int cntval_bits, unsigned int rate_log2)
{
	return 1U << min(cntval_bits - rate_log2 - LATE_LOG2, 31U);
}

/* Counters of 48 bits have 35 minutes; more is not needed. */
#define KEEP_UP_MAX_MS		(60U * 60 * MSEC_PER_SEC)

/**
 * my_pmu_keep_up_jiffies() - how often counters are read that nobody may read in time
 * @ms: how seldom they may be read, see my_pmu_max_interval_ms()
 *
 * Context: any; pure.
 * Return: four times as often, in jiffies; 1 at least.
 */
unsigned long my_pmu_keep_up_jiffies(unsigned int ms)
{
	return max(1UL * HZ * min(ms, 4 * KEEP_UP_MAX_MS) / (4 * MSEC_PER_SEC), 1UL);
}

/**
 * my_pmu_next_tick() - the first sample that is still to come
 * @elapsed_ns: time since the start, ns
 * @interval_ns: between samples, ns
 *
 * Sample k is due at start + k * interval, however long sampling takes, so
 * deadlines do not drift; ticks that have passed are passed over.
 *
 * Context: any; pure.
 * Return: k.
 */
u64 my_pmu_next_tick(u64 elapsed_ns, u64 interval_ns)
{
	return div64_u64(elapsed_ns, interval_ns) + 1;
}

static void move_marks(struct my_pmu_marks *to, struct my_pmu_marks *from,
		       u64 counters)
{
	to->clobbered |= from->clobbered & counters;
	to->late |= from->late & counters;
	to->wrapped |= from->wrapped & counters;
	to->throttled |= from->throttled & counters;
	from->clobbered &= ~counters;
	from->late &= ~counters;
	from->wrapped &= ~counters;
	from->throttled &= ~counters;
}

/* Events whose interrupts were switched off since the last read. */
static void mark_throttled(struct my_event_set *set)
{
	u64 left;

	for (left = set->periods & set->active; left; left &= left - 1) {
		struct my_period *period = &set->period[__ffs64(left)];

		if (period->told != period->throttles)
			set->marks.throttled |= BIT_ULL(set->event[__ffs64(left)].hw.idx);
		period->told = period->throttles;
	}
}

/*
 * An event that is not enabled keeps the count that it had.  A mark is reported once, to
 * whoever reads an event of the counter.
 */
static void fill_sample(struct my_event_set *set, u64 events, u64 time,
			struct my_pmu_sample *sample)
{
	u64 left, counters = events == ALL_EVENTS ? ~0ULL : 0;
	unsigned int i;

	sample->time = time;
	sample->uptime = set->up_before + (time - set->up_since) - set->excluded;
	sample->marks = (struct my_pmu_marks) {};
	left = counters ? 0 : events & set->schedule.rotation[set->rotation].events;
	for (; left; left &= left - 1)
		counters |= BIT_ULL(set->event[__ffs64(left)].hw.idx);
	move_marks(&sample->marks, &set->marks, counters);
	for (i = 0; i < set->nr_events; i++) {
		sample->count[i] = set->event[i].count;
		sample->running[i] = set->event[i].running;
	}
}

/*
 * On the CPU itself: the counters are stopped while they are read, so they show the same
 * instant, and our own work in between is not counted.  All events that are active are
 * read, whichever are asked for: marks of the others would be found each time.
 */
static int read_on_cpu(struct my_event_set *set, u64 events, void *data)
{
	struct my_pmu_sample *sample = data;
	int first, err = 0;
	u64 time;

	lockdep_assert_irqs_disabled();
	if (set->offline)
		return sample ? -ENXIO : 0;
	if (set->active)
		err = my_event_set_stop(set);
	if (err)
		return err;
	time = my_pmu_now();
	first = set->active ? my_event_set_update(set, set->active, time) : 0;
	if (sample) {
		mark_throttled(set);
		fill_sample(set, events, time, sample);
		first = first ?: set->rotate_err;	/* reported once */
		set->rotate_err = 0;
	}
	if (set->active && my_event_set_multiplexes(set))
		my_event_set_exclude_time(set, time, 0);
	if (set->active) {
		/* By the others the handler knows that the NMI is ours. */
		err = my_event_set_start(set, set->stopped.overflowed &
					 set->cpu->overflow_reliable &
					 ~set->cpu->interrupts);
		first = first ?: err;
	}
	if (first && sample)
		move_marks(&set->marks, &sample->marks, ~0ULL);	/* for the next */
	return first;
}

/* --- by a capture, or else by the CPU itself ------------------------------------- */

static void read_otherwise(struct my_pmu_request *request, int err)
{
	struct my_pmu_reading *reading = container_of(request, struct my_pmu_reading,
						      request);

	reading->err = err < 0 ? err : my_event_set_do(reading->set, reading->events,
						       read_on_cpu, reading->sample);
}

/* @reading->set and @reading->sample say what is wanted; there is no answer yet. */
static void begin_reading(struct my_pmu_reading *reading, u64 events)
{
	reading->events = events;
	reading->request.plan = &reading->set->plan;
	reading->request.otherwise = read_otherwise;
	reading->request.capture.seq = 0;
}

/* The clock and the TSC belong together if nothing came between; a hypervisor can. */
#define TORN_TICKS		BIT_ULL(14)
#define LOOKS			4

/**
 * struct window - the time between two looks at the clock and the TSC
 * @ns: the two moments, CLOCK_MONOTONIC
 * @ticks: likewise, TSC
 */
struct window {
	u64 ns[2];
	u64 ticks[2];
};

static void look(struct window *window, unsigned int i)
{
	unsigned int looks = LOOKS;
	unsigned long flags;
	u64 before;

	local_irq_save(flags);
	do {
		before = my_pmu_ticks();
		window->ns[i] = my_pmu_now();
		window->ticks[i] = my_pmu_ticks();
	} while (window->ticks[i] - before > TORN_TICKS && --looks);
	local_irq_restore(flags);
}

/* The moment of a capture; within the window whatever the TSC says. */
static u64 moment(const struct window *window, u64 ticks)
{
	u64 ns = window->ns[1] - window->ns[0];
	u64 all = window->ticks[1] - window->ticks[0];
	u64 passed = ticks - window->ticks[0];

	if ((s64)passed <= 0)
		return window->ns[0];
	if (passed >= all)
		return window->ns[1];
	return window->ns[0] + mul_u64_u64_div_u64(passed, ns, all);
}

/* If only the CPU itself can make sense of its registers, it is asked once more. */
static void finish_reading(struct my_pmu_reading *reading, const struct window *window)
{
	const struct my_pmu_capture *capture = &reading->request.capture;
	struct my_event_set *set = reading->set;
	unsigned long flags;
	bool done;
	u64 time;

	if (reading->sample)
		reading->sample->asked = window->ns[0];
	if (!capture->seq)
		return;	/* the CPU has done it all */
	time = moment(window, capture->ticks);
	raw_spin_lock_irqsave(&set->lock, flags);
	done = my_pmu_has_ticks() && my_event_set_account(set, capture, time);
	if (done && reading->sample)
		fill_sample(set, reading->events, time, reading->sample);
	raw_spin_unlock_irqrestore(&set->lock, flags);
	reading->err = 0;
	if (!done)
		reading->err = my_event_set_call(set, reading->events, read_on_cpu,
						 reading->sample);
}

/* One cross-call, or two if something unexpected has happened meanwhile. */
static int read_events(struct my_event_set *set, u64 events,
		       struct my_pmu_sample *sample)
{
	const struct my_pmu_ops *ops = set->cpu->pmu.ops;
	struct my_pmu_reading reading;
	struct window window;

	reading.set = set;
	reading.sample = sample;
	reading.err = -EIO;
	begin_reading(&reading, events);
	look(&window, 0);
	if (smp_call_function_single(set->cpu->cpu, ops->capture_one, &reading.request, 1))
		return -ENXIO;
	look(&window, 1);
	finish_reading(&reading, &window);
	return reading.err;
}

/**
 * my_event_set_read() - all counts of a set
 * @set: the set
 * @sample: filled in
 *
 * Context: task, interrupts on; one cross-call, however many events; a second one if a
 * growth is not what it should be.
 * Return: 0; -ENXIO if the CPU is down; -EIO if a register faulted.
 */
int my_event_set_read(struct my_event_set *set, struct my_pmu_sample *sample)
{
	return read_events(set, ALL_EVENTS, sample);
}

/**
 * my_event_set_keep_up() - read the counters of a set, so that none wraps twice unseen
 * @set: the set
 *
 * For users that cannot be relied on to read them in time, see
 * my_pmu_max_interval_ms().  Marks are left for whoever reads next.
 *
 * Context: task, interrupts on; cross-calls as of my_event_set_read().
 * Return: 0; -ENXIO if the CPU is offline; -EIO if a register faulted.
 */
int my_event_set_keep_up(struct my_event_set *set)
{
	return read_events(set, ALL_EVENTS, NULL);
}

/**
 * my_pmu_read_cpus() - all counts of sets on some CPUs, all of them at once
 * @cpus: which
 * @by_cpu: by CPU, the request of a struct my_pmu_reading: of its set, and where its
 *	sample goes
 *
 * The CPUs are not read one after the other: each gets its interrupt before the
 * first has answered.
 *
 * Context: task, interrupts on; one cross-call for each CPU, and waits for all.
 */
void my_pmu_read_cpus(const struct cpumask *cpus, struct my_pmu_request **by_cpu)
{
	const struct my_pmu_ops *ops = NULL;
	struct my_pmu_reading *reading;
	struct window window;
	int cpu;

	for_each_cpu(cpu, cpus) {
		reading = container_of(by_cpu[cpu], struct my_pmu_reading, request);
		reading->err = -ENXIO;	/* unless it answers */
		begin_reading(reading, ALL_EVENTS);
		ops = reading->set->cpu->pmu.ops;	/* one back end drives all CPUs */
	}
	look(&window, 0);
	on_each_cpu_mask(cpus, ops->capture_cpus, by_cpu, true);
	look(&window, 1);
	for_each_cpu(cpu, cpus)
		finish_reading(container_of(by_cpu[cpu], struct my_pmu_reading, request),
			       &window);
}

/*
 * So many TSC ticks, a millisecond or two, a count may be ahead of its time.  A growth
 * that is implausible in that time is as implausible in none.
 */
#define UNTIMED_TICKS		BIT_ULL(22)

/*
 * A growth that is plausible in any time needs no clock; for how long the events have
 * counted is added with the next growth, which must be soon.  A capture that was made
 * before, and is accounted for later, shows less than the counts have by then: a step
 * back, which is refused; or the same.
 *
 * Returns false if more must be known of a growth, or the clock was not read for long.
 * What was added is right all the same.
 */
static __always_inline bool advance(struct my_event_set *set)
{
	const struct my_pmu_capture *capture = &set->capture;
	const u8 *place = &set->plan.event[set->plan.first];
	const u8 *end = &set->plan.event[set->plan.end];
	const u64 *value = &capture->value[set->plan.first];

	if (capture->ticks - set->timed > UNTIMED_TICKS)
		return false;
	do {	/* there is one at least */
		struct my_perf_event *event = &set->event[*place];
		u64 delta = *value - event->hw.prev_count;

		/* It has not wrapped: the overflow status would have told. */
		if (unlikely(!my_pmu_plausible(delta, 0)))
			return false;
		accumulate(event, delta, *value++, event->hw.prev_time);
	} while (++place != end);
	return true;
}

/* The same capture; now there is a look at the clock. */
static noinline bool account_with_time(struct my_event_set *set)
{
	set->capture.seq = ++set->plan.seq;
	return my_event_set_account(set, &set->capture, my_pmu_now());
}

/*
 * Counts on the events' own CPU, with interrupts off: no IPI and no clock.  @first is the
 * event from which on @events has places; @counts is filled in, in their order.
 *
 * Returns 0; 1 if it must be done in another way; -EIO if a register faulted.  Inlined,
 * because the calls, and the loops for what is often one event, cost a quarter of it.
 */
static __always_inline int read_here(struct my_event_set *set,
				     const struct my_perf_event *first, u64 events,
				     u64 *counts)
{
	bool done;
	int err;

	lockdep_assert_irqs_disabled();
	if (READ_ONCE(set->local_cpu) != smp_processor_id())
		return 1;
	err = set->cpu->pmu.ops->capture(&set->plan, &set->capture);
	if (unlikely(err))
		return err;
	raw_spin_lock(&set->lock);
	done = advance(set) || account_with_time(set);
	for (; done && events; events &= events - 1)
		*counts++ = first[__ffs64(events)].count;
	raw_spin_unlock(&set->lock);
	return !done;
}

/* --- for other modules ------------------------------------------------------------ */

static noinline int read_all(struct my_event_set *set, u64 events, u64 *counts)
{
	struct my_pmu_sample sample;
	int err;

	err = read_events(set, events, &sample);
	/* It may have come up since; then nothing was read all the same. */
	if (err == -ENXIO)
		return READ_ONCE(set->up_err) ?: err;
	if (err)
		return err;
	if (sample.marks.clobbered | sample.marks.late)
		return -ESTALE;
	for (; events; events &= events - 1)
		*counts++ = sample.count[__ffs64(events)];
	return 0;
}

/**
 * my_perf_event_read() - one count
 * @event: the event
 * @count: what it has counted since it was first enabled, whether or not it is
 *	enabled now; not touched on error
 *
 * Context: task, interrupts on; cross-calls as of my_event_set_read(); usually none if
 * it is the event's CPU.
 * Return: 0; -ENXIO if the CPU is offline, or what kept the event from starting when the
 * CPU came back, see my_event_set_up(); -EIO if a register faulted; -ESTALE, once:
 * the counter's registers were overwritten, or one of them faulted when it was
 * stopped, and counts since the last read are lost.  It has been programmed again, and
 * the next read is right; on RISC-V as soon as nobody else has the counter.
 */
int my_perf_event_read(struct my_perf_event *event, u64 *count)
{
	struct my_event_set *set = event->set;
	unsigned long flags;
	int err;

	lockdep_assert_irqs_enabled();
	local_irq_save(flags);
	err = read_here(set, event, 1, count);
	local_irq_restore(flags);
	return likely(err <= 0) ? err : read_all(set, my_perf_event_bit(event), count);
}
EXPORT_SYMBOL_GPL(my_perf_event_read);

/**
 * my_perf_event_read_group() - the counts of an event and its group, at one instant
 * @event: one of them
 * @counts: filled in, in the order in which they were given; not touched on error
 * @nr: how many they are
 *
 * Context: as my_perf_event_read().  From version 2 on all of them are stopped while
 * they are read.
 * Return: as my_perf_event_read(), where -ESTALE may be because of any of them; -EINVAL
 * if there are not @nr.
 */
int my_perf_event_read_group(struct my_perf_event *event, u64 *counts,
			     unsigned int nr)
{
	u64 events = my_perf_event_group(event);
	struct my_event_set *set = event->set;
	unsigned long flags;
	int err;

	lockdep_assert_irqs_enabled();
	if (hweight64(events) != nr)
		return -EINVAL;
	local_irq_save(flags);
	err = read_here(set, set->event, events, counts);
	local_irq_restore(flags);
	return likely(err <= 0) ? err : read_all(set, events, counts);
}
EXPORT_SYMBOL_GPL(my_perf_event_read_group);
