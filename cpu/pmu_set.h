/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The two objects that counting is made of: the CPU, which owns its PMU, and the
 * event set, which is what one user counts on one CPU.
 *
 * Sets of a CPU share its PMU: each counter belongs to one set at most.  A set of
 * events within an event set is a u64 with a bit for each by its place.
 */
#ifndef MY_PMU_SET_H
#define MY_PMU_SET_H

#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/percpu.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include "my_pmu.h"
#include "pmu_ops.h"
#include "pmu_period.h"
#include "pmu_rotate.h"

/* Events of a set, and so rotations: each begins with another group. */
#define MY_EVENTS_MAX		64

struct my_event_set;
struct pt_regs;

/**
 * struct my_perf_event - one event counted on one CPU
 * @count: what it has counted since it was first enabled, 64 bits
 * @running: for how long its counter was counting for @count, ns
 * @hw: where and how
 * @attr: what is counted
 * @set: the set that it belongs to
 *
 * Under the set's lock.
 */
struct my_perf_event {
	u64 count;
	u64 running;
	struct my_hw_perf_event hw;
	struct my_perf_event_attr attr;
	struct my_event_set *set;
};

/* A read finds each event by its place: a shift. */
static_assert(sizeof(struct my_perf_event) == 256);

/**
 * struct my_pmi_storm - the PMIs of about one tick of the kernel; or of more, as long as the CPU
 *	may have done nothing else
 * @since: when it began, TSC
 * @nr: how many there were
 * @least: what the shortest of them took, TSC.  That is taken for all: where one takes
 *	longer an SMI or a hypervisor has come between
 * @ip: what the last one has interrupted
 * @sp: its stack pointer
 */
struct my_pmi_storm {
	u64 since;
	u64 nr;
	u64 least;
	unsigned long ip;
	unsigned long sp;
};

/**
 * struct my_pmu_cpu - the PMU of one CPU, and who uses it
 * @cpu: the CPU
 * @pmu: what it has, and how it is driven
 * @state: what the back end keeps of it
 * @firmware: counters in use outside Linux
 * @guard: what keeps perf off its counters, where reservations do not, unless perf has put
 *	it off (my_perf_excludes()); or NULL.  While the CPU is counted on it is replaced, but
 *	not removed, by the sampler
 * @unguarded: perf has put @guard off, and another one could not be had when the sampler last
 *	looked
 * @user_rdpmc: any process could read counters when that was last looked at
 * @used: counters that belong to an event set
 * @pooled: counters that belong to none, and that events which come and go may have
 * @busy: those of them that have one
 * @lost: how often it is not known what one of those events has counted
 * @lost_samples: overflows of those events that have no sample of their own
 * @owner: of each counter the set that it belongs to, or NULL
 * @refused: counters that their last self-test has refused
 * @disturbed: the last self-test found a counter that counts, and wrong; an NMI counts, too
 * @active: counters that are programmed for an event
 * @overflow_reliable: counters that were seen to set their overflow bit when they
 *	wrap: of these only, no bit means no wrap
 * @overflow_unknown: counters whose overflow bit could not be tested: it was set before, or
 *	perf's handler may clear it
 * @interrupts: counters that interrupt when they overflow
 * @arming: those of them that the CPU, at work, has just begun to watch and not yet started:
 *	an overflow bit that is set is from before
 * @may_stand: those of them whose event may overflow again in each NMI, so that what it has
 *	interrupted makes no step
 * @interrupting: of each of them its event
 * @working: the set that the CPU works on, with interrupts off: an NMI leaves its counts and
 *	counters alone
 * @pmi_users: sets that have such counters
 * @starting: its counters are being started: an NMI does not change whether they interrupt
 * @late_until: up to this time an NMI that nobody caused is a PMI of a counter that has been
 *	stopped since: one of them; or, with @late_pmis of the back end, any number, and also
 *	behind a PMI that was handled; CLOCK_MONOTONIC, ns; 0: none
 * @storm: how much of the CPU's time PMIs take
 *
 * One for each CPU of the machine, see my_pmu_cpu_of().  @state, @pooled, @busy, @lost,
 * @lost_samples, @active, @overflow_reliable and what follows are changed on the CPU only, with
 * interrupts off; no lock is needed, and an NMI can use them; it writes @late_until, @may_stand
 * and @storm, and of a counter that is throttled @interrupts.  The others change by request of
 * one task at a time, with CPU hotplug held off: while the module is loaded or a CPU comes, and
 * under the lock of pmu_client.c.  @pmu is written only if it is not what it was before, which
 * others may be reading.
 */
struct my_pmu_cpu {
	int cpu;
	struct my_x86_pmu pmu;
	struct my_pmu_state state;
	u64 firmware;
	void *guard;
	bool unguarded;
	bool user_rdpmc;
	u64 used;
	u64 pooled;
	u64 busy;
	u64 lost;
	u64 lost_samples;
	struct my_event_set *owner[MY_PMC_MAX];
	u64 refused;
	bool disturbed;
	u64 active;
	u64 overflow_reliable;
	u64 overflow_unknown;
	u64 interrupts;
	u64 arming;
	unsigned long may_stand;
	struct my_perf_event *interrupting[MY_PMC_NR];
	struct my_event_set *working;
	bool starting;
	unsigned int pmi_users;
	u64 late_until;
	struct my_pmi_storm storm;
};

DECLARE_PER_CPU(struct my_pmu_cpu, my_pmu_cpus);

/* The object that owns the PMU of a CPU; any CPU that is possible has one. */
static inline struct my_pmu_cpu *my_pmu_cpu_of(int cpu)
{
	struct my_pmu_cpu *c = per_cpu_ptr(&my_pmu_cpus, cpu);

	/* Once: others may be reading it. */
	if (c->cpu != cpu)
		c->cpu = cpu;
	return c;
}

/*
 * As far as is known: is perf kept off the counters by a guard?  The guard itself may be
 * looked at by the sampler only, which may replace it at any time.
 */
static inline bool my_pmu_cpu_is_guarded(const struct my_pmu_cpu *cpu)
{
	return cpu->guard && !READ_ONCE(cpu->unguarded);
}

/*
 * Are all counters of a CPU kept from perf?  The generic counters of @reserved are, on all CPUs;
 * with @guarded, those of CPUs that have a guard.
 */
static inline bool my_pmu_cpu_is_kept(const struct my_pmu_cpu *cpu, u64 reserved, bool guarded)
{
	return !(cpu->pmu.counters & MY_GENERIC_COUNTERS & ~reserved) &&
	       (!guarded || my_pmu_cpu_is_guarded(cpu));
}

/*
 * A group of events is on the counters as a whole, or not at all.  A rotation is a set
 * of groups that fit together.
 */

/**
 * struct my_pmu_rotation - groups that are on the counters at the same time
 * @idx: of each event its counter id, or MY_NO_COUNTER
 * @events: those that have one, by place
 * @next: the rotation that follows
 */
struct my_pmu_rotation {
	s8 idx[MY_EVENTS_MAX];
	u64 events;
	unsigned int next;
};

/**
 * struct my_pmu_schedule - the rotations of a set's events
 * @nr_rotations: how many different ones; 1 if all events are always on
 * @always: the events that are on in each rotation, by place
 * @home: of each event the counter that it never leaves, or MY_NO_COUNTER
 * @rotation: the first is where it begins; @next leads from each to the one after it
 */
struct my_pmu_schedule {
	unsigned int nr_rotations;
	u64 always;
	s8 home[MY_EVENTS_MAX];
	struct my_pmu_rotation rotation[MY_EVENTS_MAX];
};

/**
 * struct my_pmu_marks - counters, by id, whose last growth was not as usual
 * @clobbered: its registers were written by somebody else; nothing was added to the
 *	count, it was programmed again and counts on from there
 * @late: read so late that it may have wrapped more than once; nothing was added to
 *	the count
 * @wrapped: it has wrapped; the growth was added all the same
 * @stuck: it stands still although the CPU has executed what it counts, see my_target_grow()
 * @throttled: its interrupts were off for a while, because there were too many, or they
 *	disturbed a self-test
 */
struct my_pmu_marks {
	u64 clobbered;
	u64 late;
	u64 wrapped;
	u64 stuck;
	u64 throttled;
};

/**
 * struct my_restart - lets events interrupt again that were throttled
 * @work: queued by the NMI: from there a timer cannot be started
 * @timer: a tick later
 * @expired: called then, on the CPU, with interrupts off
 */
struct my_restart {
	struct irq_work work;
	struct hrtimer timer;
	void (*expired)(struct my_restart *restart);
};

/**
 * struct my_event_set - the events that one user counts on one CPU
 * @cpu: the CPU
 * @freeze: its counters are stopped while they are read
 * @offline: the CPU is down, or not yet up: nothing is programmed
 * @just_timed: all counts were just added together with their time
 * @up_err: while @offline: -ENXIO, or why the set could not be started when its CPU came
 *	back
 * @local_cpu: the CPU on which a capture can be added without a look at the clock: @cpu's
 *	if @plan is valid and its counters tell of their wraps; otherwise -1.  Written on
 *	@cpu with interrupts off; read anywhere, without a lock, since only on @cpu, with
 *	interrupts off, can it be the CPU that reads it
 * @lock: held while events change or counts are added; not taken by NMIs
 * @accounted: up to which of the things done with the events, see @plan.seq, the counts
 *	include it
 * @timed: when the counts were last added together with the time, TSC
 * @nr_events: how many events
 * @rate_log2: of the fastest event, see struct my_hw_perf_event
 * @any_code: events that grow with any code that the kernel executes, by place
 * @used: counters that belong to an event in any rotation
 * @schedule: which events are on which counters, in each rotation
 * @timer: ends rotations, if there is more than one
 * @periods: events that have a period, by place
 * @pmi_held: my_pmi_get() was called for it
 * @restart: lets throttled events interrupt again
 * @plan: how the counters are captured
 * @capture: the last one that was made for a read on the CPU itself; kernels that zero
 *	the stack would zero it for each
 * @event: the events, in the order in which they were given
 * @rotation: the current one, see @schedule
 * @enabled: events that are to count whenever the CPU is up
 * @active: events that are programmed: those of @enabled in this rotation; none
 *	while @offline
 * @active_counters: their counters
 * @stopped_externally: counters that somebody else has stopped, at an unknown time
 * @marks: what the next sample will say
 * @rotate_err: an access in a rotation failed, in an interrupt; the next read says so
 * @up_since: when the CPU came up, CLOCK_MONOTONIC, ns
 * @up_before: for how long it had been up before, ns
 * @excluded: for how long the counters were stopped by rotations, ns
 * @stopped: what was seen when the counters were last stopped
 * @overdue: counters that interrupt whose overflow bit was set at a stop, and whose PMI is
 *	waited for
 * @came: counters whose PMI has come since that was last looked at; set by NMIs
 * @patience: until then those of @overdue may still come, ns
 * @period: of each event that has one, how far it is
 * @overflow: called in the NMI for each sample, in place of the tracepoint; or NULL.  @busy:
 *	the CPU is at work on counts of the set
 *
 * @nr_events, @used, @rate_log2, @any_code, @periods, @schedule and the events' encodings are
 * written in task context while the set is offline; in the sets of pmu_pool.c on the CPU, at
 * any time.  All else changes under @lock: on @cpu with
 * interrupts off, or, if it is offline, on any CPU.  On any CPU, also while it is online,
 * captures are accounted for (my_event_set_account()) and marks are taken.  On @cpu with
 * interrupts off @plan.seq and @capture are written without @lock.  Where events are rotated
 * nothing is captured, so that a rotation, on @cpu, needs no lock.  Nor is anything captured
 * where an event has a period: an NMI writes counts, also without @lock, unless the CPU works
 * on the set.
 */
struct my_event_set {
	struct my_pmu_cpu *cpu;
	bool freeze;
	bool offline;
	bool just_timed;
	int up_err;
	int local_cpu;
	raw_spinlock_t lock;
	u64 accounted;
	u64 timed;
	unsigned int nr_events;
	unsigned int rate_log2;
	u64 any_code;
	u64 used;
	struct my_pmu_schedule schedule;
	struct my_rotate_timer timer;
	u64 periods;
	bool pmi_held;
	struct my_restart restart;
	struct my_pmu_plan plan;
	struct my_pmu_capture capture;
	struct my_perf_event event[MY_EVENTS_MAX];
	/* From here on it is 0 when events are assigned. */
	unsigned int rotation;
	u64 enabled;
	u64 active;
	u64 active_counters;
	u64 stopped_externally;
	struct my_pmu_marks marks;
	int rotate_err;
	u64 up_since;
	u64 up_before;
	u64 excluded;
	struct my_pmu_stopped stopped;
	u64 overdue;
	u64 came;
	u64 patience;
	struct my_period period[MY_EVENTS_MAX];
	void (*overflow)(struct my_perf_event *event, bool busy, struct pt_regs *regs);
};

/**
 * my_event_set_init() - before anything else is done with an event set
 * @set: zeroed
 * @cpu: its CPU
 *
 * Context: any.
 */
static inline void my_event_set_init(struct my_event_set *set, struct my_pmu_cpu *cpu)
{
	set->cpu = cpu;
	set->freeze = true;
	set->offline = true;
	set->up_err = -ENXIO;
	set->local_cpu = -1;
	raw_spin_lock_init(&set->lock);
}

/**
 * my_pmu_cpu_begin() - the CPU begins to work on a set's counts and counters
 * @cpu: the CPU
 * @set: the set
 *
 * Context: the CPU, interrupts off.
 */
static inline void my_pmu_cpu_begin(struct my_pmu_cpu *cpu, struct my_event_set *set)
{
	WRITE_ONCE(cpu->working, set);
	barrier();
}

/**
 * my_pmu_cpu_end() - and is done, before the set's counters are started
 * @cpu: the CPU
 *
 * An overflow that comes before this has its counter written anew by whoever works on the
 * set next.  So it must not come after they were started.
 *
 * Context: the CPU, interrupts off.
 */
static inline void my_pmu_cpu_end(struct my_pmu_cpu *cpu)
{
	barrier();
	WRITE_ONCE(cpu->working, NULL);
}

/* The one writer of counts: @delta since the last time; the counter shows @now. */
static __always_inline void accumulate(struct my_perf_event *event, u64 delta,
				       u64 now, u64 time)
{
	event->count += delta;
	event->running += time - event->hw.prev_time;
	event->hw.prev_count = now;
	event->hw.prev_time = time;
}

/* How far an event with a period is. */
static inline struct my_period *my_period_of(struct my_perf_event *event)
{
	return &event->set->period[event - event->set->event];
}

/* The set of events that has this event alone. */
static inline u64 my_perf_event_bit(const struct my_perf_event *event)
{
	return BIT_ULL(event - event->set->event);
}

/* Are there more events than can be counted at the same time? */
static inline bool my_event_set_multiplexes(const struct my_event_set *set)
{
	return set->schedule.nr_rotations > 1;
}

/* Width of the narrowest of these counters; 64 if there is none. */
static inline unsigned int my_pmu_bits(const struct my_x86_pmu *pmu, u64 counters)
{
	unsigned int bits = 64;

	if (counters & MY_GENERIC_COUNTERS)
		bits = pmu->cntval_bits;
	if (counters & MY_FIXED_COUNTERS && pmu->cntval_bits_fixed < bits)
		bits = pmu->cntval_bits_fixed;
	return bits;
}

/* Width of the narrowest counter that it uses; 64 if it uses none. */
static inline unsigned int my_event_set_bits(const struct my_event_set *set)
{
	return my_pmu_bits(&set->cpu->pmu, set->used);
}

#endif
