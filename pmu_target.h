/* SPDX-License-Identifier: GPL-2.0 */
/* One CPU of a session: its events, and its samples. */
#ifndef MY_PMU_TARGET_H
#define MY_PMU_TARGET_H

#include "pmu_event.h"
#include "pmu_growth.h"

/**
 * struct my_target - one CPU of a session
 * @c: the CPU and its events
 * @attr: these events, as this CPU has them
 * @place: of each of them the place in the session's list: what the CPU does not
 *	have is left out
 * @lacks: what is left out, by place in that list
 * @reading: how the CPU is asked
 * @sample: the sample in hand
 * @last: the one that was had before
 * @missed: samples that were due since then
 * @nr_samples: had so far; whoever shows it reads it meanwhile
 * @nr_missed: and those that were due
 */
struct my_target {
	struct my_pmu_cpu c;
	struct my_perf_event_attr attr[MY_EVENTS_MAX];
	u8 place[MY_EVENTS_MAX];
	u64 lacks;
	struct my_pmu_reading reading;
	struct my_pmu_sample sample;
	struct my_pmu_sample last;
	u64 missed;
	u64 nr_samples;
	u64 nr_missed;
};

/**
 * struct my_grown - by how much an event has grown since the sample before
 * @known: whether it is known
 * @growth: then this, in events; scaled if it has not been on a counter throughout
 * @running: for how long it was on one, ns
 * @enabled: of so long, ns
 */
struct my_grown {
	bool known;
	u64 growth;
	u64 running;
	u64 enabled;
};

/* An event that never leaves its counter, or its counters, for others. */
static inline bool my_target_always(const struct my_target *t, unsigned int i)
{
	return t->c.schedule.always & BIT_ULL(i);
}

/**
 * my_target_growth() - by how much an event has grown since the sample before
 * @t: the CPU, with two samples
 * @i: the event's place there
 *
 * An event that takes turns is scaled.  One that does not is told as it is, or not
 * at all: then its counter was somebody else's for a while.
 *
 * Context: the sampler.
 * Return: the growth.
 */
static inline struct my_grown my_target_growth(const struct my_target *t,
					       unsigned int i)
{
	u64 count = t->sample.count[i] - t->last.count[i];
	struct my_grown grown = {
		.growth = count,
		.running = t->sample.running[i] - t->last.running[i],
		.enabled = t->sample.uptime - t->last.uptime,
	};

	if (my_target_always(t, i))
		grown.known = grown.running == grown.enabled;
	else
		grown.known = my_pmu_scale(count, grown.running, grown.enabled,
					   &grown.growth);
	return grown;
}

#endif
