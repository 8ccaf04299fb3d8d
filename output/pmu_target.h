/* SPDX-License-Identifier: GPL-2.0 */
/* One CPU of a session: its event set, and its samples. */
#ifndef MY_PMU_TARGET_H
#define MY_PMU_TARGET_H

#include "pmu_growth.h"
#include "pmu_read.h"
#include "pmu_set.h"

/**
 * struct my_grown - by how much an event has grown since the sample before
 * @known: whether it is known
 * @stuck: its counter stands still although it counts what the CPU has executed
 * @multiplexed: it is not on a counter throughout, and @growth is scaled
 * @growth: the growth, in events
 * @running: for how long it was on a counter, ns
 * @enabled: of so long, ns
 */
struct my_grown {
	bool known;
	bool stuck;
	bool multiplexed;
	u64 growth;
	u64 running;
	u64 enabled;
};

/**
 * struct my_target - one CPU of a session
 * @set: what is counted there
 * @attr: its events, as this CPU has them
 * @place: of each of them the place in the session's list: what the CPU does not
 *	have is left out
 * @nr_events: how many
 * @event_name: their names, which rows of samples refer to
 * @lacks: what is left out, by place in that list
 * @snapshot: the CPU's registers before perf was asked what the events are
 * @reading: how the CPU is asked
 * @sample: the current sample
 * @last: the one before
 * @grown: from that one to this, by event
 * @missed: samples that were due since then
 * @nr_samples: samples so far; debugfs reads it meanwhile
 * @nr_missed: and those that were due and not had
 */
struct my_target {
	struct my_event_set set;
	struct my_perf_event_attr attr[MY_EVENTS_MAX];
	u8 place[MY_EVENTS_MAX];
	unsigned int nr_events;
	const char *event_name[MY_EVENTS_MAX];
	u64 lacks;
	struct my_pmu_snapshot snapshot;
	struct my_pmu_reading reading;
	struct my_pmu_sample sample;
	struct my_pmu_sample last;
	struct my_grown grown[MY_EVENTS_MAX];
	u64 missed;
	u64 nr_samples;
	u64 nr_missed;
};

/**
 * my_target_grow() - by how much each event has grown since the sample before
 * @t: the CPU, with two samples; @t->grown and the marks of stuck counters are filled in
 *
 * An event that is multiplexed is scaled.  The growth of another one is known as it is,
 * or not at all: then its counter was somebody else's for a while.
 *
 * After counters were started the CPU executes at least the kernel's return from that
 * interrupt.  So an event that counts something in any code of the kernel has grown if it
 * was on a counter.  If it has not, its counter stands still, and its growth is not known.
 *
 * Context: the sampler.
 */
static inline void my_target_grow(struct my_target *t)
{
	unsigned int i;

	for (i = 0; i < t->set.nr_events; i++) {
		u64 count = t->sample.count[i] - t->last.count[i];
		struct my_grown grown = {
			.multiplexed = !(t->set.schedule.always & BIT_ULL(i)),
			.growth = count,
			.running = t->sample.running[i] - t->last.running[i],
			.enabled = t->sample.uptime - t->last.uptime,
		};

		if (grown.multiplexed)
			grown.known = my_pmu_scale(count, grown.running,
						   grown.enabled, &grown.growth);
		else
			grown.known = grown.running == grown.enabled;
		grown.stuck = !count && grown.running && t->set.any_code & BIT_ULL(i);
		grown.known &= !grown.stuck;
		if (grown.stuck && t->set.schedule.home[i] != MY_NO_COUNTER)
			t->sample.marks.stuck |= BIT_ULL(t->set.schedule.home[i]);
		t->grown[i] = grown;
	}
}

#endif
