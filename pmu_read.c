// SPDX-License-Identifier: GPL-2.0
/*
 * Reading: one cross-call for all events of a CPU, in which, from version 2 on,
 * they stand still, if they are to.
 *
 * As a rule the CPU does no more in it than to capture what its registers show; whoever
 * asked works out the rest.  Where a register is not as expected, and where events take
 * turns, the CPU does all of it.  Only if the sums show that something is wrong there is
 * a second cross-call.
 */
#include <linux/bitops.h>
#include <linux/compiler.h>
#include <linux/cpumask.h>
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/irqflags.h>
#include <linux/lockdep.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/smp.h>

#include "pmu_capture.h"
#include "pmu_clock.h"
#include "pmu_event.h"
#include "pmu_growth.h"
#include "pmu_hw.h"

#define ALL_EVENTS		(~0ULL)

/* Half a counter's range is left for a sample that comes late. */
#define LATE_LOG2		1

/**
 * my_pmu_max_interval_ms() - how seldom a counter may be read
 * @cntval_bits: the counter's width, 32 to 64
 *
 * In this time a counter grows by at most half its range, so that a read
 * that comes up to as late again is still right.
 *
 * Context: any; pure.
 * Return: milliseconds.
 */
unsigned int my_pmu_max_interval_ms(unsigned int cntval_bits)
{
	return 1U << min(cntval_bits - MY_EVENTS_PER_MS_LOG2 - LATE_LOG2, 31U);
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
	to->stolen |= from->stolen & counters;
	to->late |= from->late & counters;
	to->wrapped |= from->wrapped & counters;
	from->stolen &= ~counters;
	from->late &= ~counters;
	from->wrapped &= ~counters;
}

/* Those of which there may be something to say to whoever asks for these events. */
static u64 told_of(const struct my_pmu_cpu *c, u64 events)
{
	if (events == ALL_EVENTS)
		return ~0ULL;
	return my_pmu_counters_of(c, events & c->schedule.turn[c->turn].events);
}

/*
 * An event that is not enabled keeps the count that it had.  What there is to say
 * is said once.
 */
static void fill_sample(struct my_pmu_cpu *c, u64 events, u64 time,
			struct my_pmu_sample *sample)
{
	unsigned int i;

	sample->time = time;
	sample->uptime = my_pmu_uptime(c, time);
	sample->marks = (struct my_pmu_marks) {};
	move_marks(&sample->marks, &c->marks, told_of(c, events));
	for (i = 0; i < c->nr_events; i++) {
		sample->count[i] = c->event[i].count;
		sample->running[i] = c->event[i].running;
	}
}

/* Of a change of turns, which nobody waits for: told once. */
static int take_failure(struct my_pmu_cpu *c)
{
	int err = c->failed;

	c->failed = 0;
	return err;
}

/*
 * While the counters stand still: they show the same instant, and our own work
 * here is not counted.  What is left in c->stopped.overflowed is accounted for.
 */
static noinline int read_stopped(struct my_pmu_cpu *c, u64 events,
				 struct my_pmu_sample *sample)
{
	u64 now = my_pmu_now();
	int err;

	/* All, whichever are asked for: what one of them has would be found each time. */
	err = my_pmu_update(c, c->on, now);
	if (sample)
		fill_sample(c, events, now, sample);
	c->stopped.overflowed &= c->tell & c->enabled;
	err = err ?: take_failure(c);
	if (my_pmu_takes_turns(c))
		my_pmu_leave_out(c, now, 0);
	return err;
}

/* Overflows: some CPUs take it only while counters run. */
static noinline int finish_read(struct my_pmu_cpu *c,
				struct my_pmu_sample *sample, int first)
{
	int err = c->pmu.acknowledge(&c->pmu, c->stopped.overflowed);

	first = first ?: err;
	if (first && sample)
		move_marks(&c->marks, &sample->marks, ~0ULL);	/* for the next */
	return first;
}

/* From version 2 on; what is here, and not in those above, is counted. */
static int read_counters(struct my_pmu_cpu *c, u64 events,
			 struct my_pmu_sample *sample)
{
	int first, err;

	err = my_pmu_stop(c);
	if (err)
		return err;
	first = read_stopped(c, events, sample);
	err = c->pmu.run(&c->pmu, &c->stopped, c->enabled);
	first = first ?: err;
	if (likely(!first && !c->stopped.overflowed))
		return 0;
	return finish_read(c, sample, first);
}

static noinline int read_nothing(struct my_pmu_cpu *c, u64 events,
				 struct my_pmu_sample *sample)
{
	int err;

	if (c->away)
		return -ENXIO;
	fill_sample(c, events, my_pmu_now(), sample);
	err = take_failure(c);
	if (err)
		move_marks(&c->marks, &sample->marks, ~0ULL);	/* for the next */
	return err;
}

static int __my_pmu_read(struct my_pmu_cpu *c, u64 events, void *sample)
{
	lockdep_assert_irqs_disabled();
	return likely(c->on) ? read_counters(c, events, sample) :
			       read_nothing(c, events, sample);
}

/* --- by a capture, or else by the CPU itself ------------------------------------- */

/* Whoever asks. */
struct read_request {
	u64 events;
	struct my_pmu_reading *reading;
};

/*
 * What the CPU has to do if nothing unexpected has happened: each instruction here is
 * its own.
 */
static __always_inline void read_here(struct my_pmu_reading *reading, u64 events)
{
	struct my_pmu_cpu *c = reading->c;
	int differs = 1;

	if (likely(c->plan.ready))
		differs = hw_capture(&c->plan, &reading->capture);
	if (likely(!differs))
		reading->capture.seq = ++c->seq;
	else if (differs < 0)
		reading->err = differs;
	else
		reading->err = my_pmu_do(c, events, __my_pmu_read, reading->sample);
}

static void answer(void *info)
{
	struct read_request *req = info;

	read_here(req->reading, req->events);
}

/* The clock and the TSC belong together if nothing came between; a hypervisor can. */
#define TORN_TICKS		BIT_ULL(14)
#define LOOKS			4

static void look(struct my_pmu_window *window, unsigned int i)
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

static void begin_reading(struct my_pmu_reading *reading, u64 asked)
{
	reading->sample->asked = asked;
	reading->capture.seq = 0;
}

static bool account(struct my_pmu_cpu *c, u64 events,
		    const struct my_pmu_capture *capture,
		    const struct my_pmu_window *window, struct my_pmu_sample *sample)
{
	u64 time = my_pmu_moment(window, capture->ticks);

	if (!my_pmu_has_ticks() || !my_pmu_account(c, capture, time))
		return false;
	fill_sample(c, events, time, sample);
	return true;
}

/* If nobody but the CPU itself can make sense of it, that is asked once more. */
static void finish_reading(struct my_pmu_reading *reading, u64 events,
			   const struct my_pmu_window *window)
{
	struct my_pmu_cpu *c = reading->c;
	unsigned long flags;
	bool done;

	if (!reading->capture.seq)
		return;	/* the CPU has done it all */
	raw_spin_lock_irqsave(&c->lock, flags);
	done = account(c, events, &reading->capture, window, reading->sample);
	raw_spin_unlock_irqrestore(&c->lock, flags);
	if (done)
		reading->err = 0;
	else
		reading->err = my_pmu_call(c, events, __my_pmu_read,
					   reading->sample);
}

/* One cross-call, or two if something unexpected has happened meanwhile. */
static int read_cpu(struct my_pmu_cpu *c, u64 events, struct my_pmu_sample *sample)
{
	struct my_pmu_reading reading;
	struct read_request req = { .events = events, .reading = &reading };
	struct my_pmu_window window;

	reading.c = c;
	reading.sample = sample;
	look(&window, 0);
	begin_reading(&reading, window.ns[0]);
	reading.err = -EIO;
	if (smp_call_function_single(c->cpu, answer, &req, 1))
		return -ENXIO;
	look(&window, 1);
	finish_reading(&reading, events, &window);
	return reading.err;
}

/**
 * my_pmu_cpu_read() - all counts of a CPU
 * @c: the CPU
 * @sample: filled in
 *
 * Context: task, interrupts on; one cross-call, however many events.
 * Return: 0; -ENXIO if the CPU is down; -EIO if a register faulted.
 */
int my_pmu_cpu_read(struct my_pmu_cpu *c, struct my_pmu_sample *sample)
{
	return read_cpu(c, ALL_EVENTS, sample);
}

static int __my_pmu_keep_up(struct my_pmu_cpu *c, u64 unused, void *also_unused)
{
	lockdep_assert_irqs_disabled();
	return c->on ? read_counters(c, ALL_EVENTS, NULL) : 0;
}

/**
 * my_pmu_keep_up() - read the counters of a CPU, so that none wraps twice unseen
 * @c: the CPU
 *
 * For whoever cannot be relied on to read them in time, see
 * my_pmu_max_interval_ms().  What there is to say is left to whoever reads next.
 *
 * Context: task, interrupts on; one cross-call.
 * Return: 0; -ENXIO if the CPU is offline; -EIO if a register faulted.
 */
int my_pmu_keep_up(struct my_pmu_cpu *c)
{
	return my_pmu_call(c, ALL_EVENTS, __my_pmu_keep_up, NULL);
}

static void read_this_cpu(void *by_cpu)
{
	struct my_pmu_reading **readings = by_cpu;

	read_here(readings[smp_processor_id()], ALL_EVENTS);
}

/**
 * my_pmu_read_cpus() - all counts of some CPUs, all of them at once
 * @cpus: which
 * @by_cpu: for each of them, by its number, where to put them
 *
 * The CPUs are not read one after the other: each gets its interrupt before the
 * first has answered.
 *
 * Context: task, interrupts on; one cross-call for each CPU, and waits for all.
 */
void my_pmu_read_cpus(const struct cpumask *cpus,
		      struct my_pmu_reading **by_cpu)
{
	struct my_pmu_window window;
	int cpu;

	look(&window, 0);
	for_each_cpu(cpu, cpus) {
		begin_reading(by_cpu[cpu], window.ns[0]);
		by_cpu[cpu]->err = -ENXIO;	/* unless it answers */
	}
	on_each_cpu_mask(cpus, read_this_cpu, by_cpu, true);
	look(&window, 1);
	for_each_cpu(cpu, cpus)
		finish_reading(by_cpu[cpu], ALL_EVENTS, &window);
}

/* --- for other modules ------------------------------------------------------------ */

/*
 * Adds what the counters have grown by until a capture, made just now, with interrupts
 * off since.
 *
 * Without a look at the clock: a growth that any time explains needs none, and for how
 * long the events have counted is added when their growth is accounted for next, which
 * must be soon.  What was captured before, and is accounted for later, shows less than the
 * counts have by then: a step back, which is refused; or the same.
 *
 * Returns false if there is a growth of which more must be known, or the clock was not
 * looked at for long.  What was added is right all the same.
 */
static __always_inline bool advance(struct my_pmu_cpu *c,
				    const struct my_pmu_capture *capture)
{
	const u64 *value = &capture->value[MY_CAPTURE_MIDDLE];
	const u8 *place = &c->plan.event[MY_CAPTURE_MIDDLE];
	s64 i;

	lockdep_assert_irqs_disabled();
	lockdep_assert_held(&c->lock);
	if (capture->ticks - c->timed > MY_UNTIMED_TICKS)
		return false;
	for (i = c->plan.first; i < c->plan.end; i++) {
		struct my_perf_event *event = &c->event[place[i]];
		u64 grown = value[i] - event->hw.prev_count;

		/* It has not wrapped: that would have been told. */
		if (unlikely(!my_pmu_plausible(grown, 0)))
			return false;
		event->count += grown;
		event->hw.prev_count = value[i];
	}
	return true;
}

/*
 * On the events' own CPU: no call, and no clock.  Of those in @events, by place from
 * @first on.  Returns 1 if that will not do.
 */
static __always_inline int read_advanced(struct my_pmu_cpu *c,
					 const struct my_perf_event *first,
					 u64 events, u64 *counts)
{
	struct my_pmu_capture capture;
	bool done;
	int err;

	if (c->cpu != smp_processor_id() || !c->plan.plain)
		return 1;
	err = hw_capture(&c->plan, &capture);
	if (unlikely(err))
		return err;
	raw_spin_lock(&c->lock);
	done = advance(c, &capture);
	for (; done && events; events &= events - 1)
		*counts++ = first[__ffs64(events)].count;
	raw_spin_unlock(&c->lock);
	return !done;
}

/* Of these events nothing shall be missing. */
static noinline int read_all(struct my_pmu_cpu *c, u64 events, u64 *counts)
{
	struct my_pmu_sample sample;
	int err;

	err = read_cpu(c, events, &sample);
	if (err)
		return err;
	if (sample.marks.stolen | sample.marks.late)
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
 * Context: task, interrupts on; one cross-call, if it is not the event's CPU.
 * Return: 0; -ENXIO if the CPU is down; -EIO if a register faulted; -ESTALE, once, if
 * what it has counted since it was read before is not known: somebody else wrote the
 * counter's registers, or one of them faulted when it was stopped.  That is missing
 * from then on; it has been programmed anew, and the next read is right again.
 */
int my_perf_event_read(struct my_perf_event *event, u64 *count)
{
	struct my_pmu_cpu *c = event->cpu;
	unsigned long flags;
	int err;

	lockdep_assert_irqs_enabled();
	local_irq_save(flags);
	err = read_advanced(c, event, 1, count);
	local_irq_restore(flags);
	return likely(err <= 0) ? err : read_all(c, my_perf_event_bit(event), count);
}
EXPORT_SYMBOL_GPL(my_perf_event_read);

/**
 * my_perf_event_read_group() - the counts of an event and its group, at one instant
 * @event: one of them
 * @counts: filled in, in the order in which they were given; not touched on error
 * @nr: how many they are
 *
 * Context: as my_perf_event_read().  From version 2 on all of them stand
 * still while they are read.
 * Return: as my_perf_event_read(), where -ESTALE may be because of any of them; -EINVAL
 * if there are not @nr.
 */
int my_perf_event_read_group(struct my_perf_event *event, u64 *counts,
			     unsigned int nr)
{
	u64 events = my_perf_event_group(event);
	struct my_pmu_cpu *c = event->cpu;
	unsigned long flags;
	int err;

	lockdep_assert_irqs_enabled();
	if (hweight64(events) != nr)
		return -EINVAL;
	local_irq_save(flags);
	err = read_advanced(c, c->event, events, counts);
	local_irq_restore(flags);
	return likely(err <= 0) ? err : read_all(c, events, counts);
}
EXPORT_SYMBOL_GPL(my_perf_event_read_group);
