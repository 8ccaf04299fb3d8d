// SPDX-License-Identifier: GPL-2.0
/*
 * Reading: one cross-call for all events of a CPU, in which, from version 2 on,
 * they stand still.
 */
#include <linux/bitops.h>
#include <linux/errno.h>
#include <linux/ktime.h>
#include <linux/lockdep.h>
#include <linux/math64.h>
#include <linux/minmax.h>

#include "pmu_event.h"

/*
 * By this many events of a kind in a millisecond the interval is bounded: 2^26
 * is 11 in each cycle at 6 GHz.  The reserve below covers what is faster.
 */
#define MAX_EVENTS_PER_MS_LOG2	26

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
	return 1U << min(cntval_bits - MAX_EVENTS_PER_MS_LOG2 - LATE_LOG2, 31U);
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

static bool update_event(struct my_perf_event *event, u64 time)
{
	return my_perf_event_update(event, event->cpu->pmu.read(event), time);
}

/* With none enabled there is nothing to stop, and nothing noted to keep. */
static int run(struct my_pmu_cpu *c, u64 counters)
{
	if (!c->enabled)
		return 0;
	return c->pmu.run(&c->pmu, &c->found, c->used, counters);
}

/*
 * From version 2 on the counters stand still while they are read: they show
 * the same instant, and our own work here is not counted.  An event that is
 * not enabled keeps the count that it had.
 */
static int __my_pmu_read(struct my_pmu_cpu *c, u64 counters, void *data)
{
	struct my_pmu_sample *sample = data;
	unsigned int i;
	int err;

	lockdep_assert_irqs_disabled();
	if (c->away)
		return -ENXIO;
	err = run(c, 0);
	if (err)
		return err;
	sample->time = ktime_get_ns();
	sample->stolen = 0;
	for (i = 0; i < c->nr_events; i++) {
		u64 bit = BIT_ULL(c->event[i].hw.idx);

		if ((counters & c->enabled & bit) &&
		    !update_event(&c->event[i], sample->time))
			sample->stolen |= bit;
		sample->count[i] = c->event[i].count;
	}
	return run(c, c->enabled);
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
	return my_pmu_call(c, c->used, __my_pmu_read, sample);
}

/**
 * my_perf_event_read() - one count
 * @event: the event, one of its CPU's
 * @count: what it has counted since it was first enabled, whether or not it is
 *	enabled now; not touched on error
 *
 * Context: task, interrupts on; one cross-call.
 * Return: as my_pmu_cpu_read().
 */
int my_perf_event_read(struct my_perf_event *event, u64 *count)
{
	struct my_pmu_sample sample;
	int err;

	err = my_pmu_call(event->cpu, BIT_ULL(event->hw.idx), __my_pmu_read,
			  &sample);
	if (!err)
		*count = sample.count[event - event->cpu->event];
	return err;
}
