// SPDX-License-Identifier: GPL-2.0
/*
 * Reading: one cross-call for all events of a CPU, in which they stand still.
 */
#include <linux/bitops.h>
#include <linux/errno.h>
#include <linux/ktime.h>
#include <linux/lockdep.h>
#include <linux/math64.h>
#include <linux/minmax.h>

#include "pmu_event.h"

/*
 * No CPU has more events of a kind than this in a millisecond: 2^26 is 11 in
 * each cycle at 6 GHz.
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

/* What of a sample is wanted: one event's count, or all and the time. */
struct read_request {
	struct my_pmu_sample *sample;
	u64 *count;
};

static void update_event(struct my_pmu_cpu *c, unsigned int i,
			 const struct read_request *req)
{
	struct my_perf_event *event = &c->event[i];

	my_perf_event_update(event, c->pmu.read(event));
	if (req->sample)
		req->sample->count[i] = event->count;
	else
		*req->count = event->count;
}

/*
 * From version 2 on the counters stand still while they are read: they show
 * the same instant, and our own work here is not counted.
 */
static int __my_pmu_read(struct my_pmu_cpu *c, u64 counters, void *data)
{
	const struct read_request *req = data;
	unsigned int i;
	int err;

	lockdep_assert_irqs_disabled();
	if (counters & ~c->enabled)
		return -ENXIO;
	err = c->pmu.run(&c->pmu, &c->found, c->used, 0);
	if (err)
		return err;
	if (req->sample)
		req->sample->time = ktime_get_ns();
	for (i = 0; i < c->nr_events; i++) {
		if (counters & BIT_ULL(c->event[i].hw.idx))
			update_event(c, i, req);
	}
	return c->pmu.run(&c->pmu, &c->found, c->used, c->enabled);
}

/**
 * my_pmu_cpu_read() - all counts of a CPU
 * @c: the CPU
 * @sample: filled in
 *
 * Context: task, interrupts on; one cross-call, however many events.
 * Return: 0; -ENXIO if the CPU is offline or its events are not enabled;
 * -EIO if a register faulted.
 */
int my_pmu_cpu_read(struct my_pmu_cpu *c, struct my_pmu_sample *sample)
{
	struct read_request req = { .sample = sample };

	return my_pmu_call(c, c->used, __my_pmu_read, &req);
}

/**
 * my_perf_event_read() - one count
 * @event: the event
 * @count: what it has counted since it was first enabled
 *
 * Context: task, interrupts on; one cross-call.
 * Return: as my_pmu_cpu_read().
 */
int my_perf_event_read(struct my_perf_event *event, u64 *count)
{
	struct read_request req = { .count = count };

	return my_pmu_call(event->cpu, BIT_ULL(event->hw.idx), __my_pmu_read,
			   &req);
}
