/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The event: what is to be counted (attr), on which counter and how (hw), and
 * the count; the PMU of a CPU as the CPU describes it (struct my_x86_pmu, the
 * vtable), and what we use of it (struct my_pmu_cpu).
 *
 * Counter ids share one space, laid out as IA32_PERF_GLOBAL_CTRL is: 0 to 31
 * are generic counters (gp0 ...), 32 (INTEL_PMC_IDX_FIXED) and up are fixed
 * ones (fixed0 ...).  A set of counters is a u64 with those bits.  A set of a
 * CPU's events is a u64, too, with a bit for each by its place.
 */
#ifndef MY_PMU_EVENT_H
#define MY_PMU_EVENT_H

#include <linux/bitops.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <asm/perf_event.h>

#include "my_pmu.h"
#include "pmu_capture.h"
#include "pmu_rotate.h"
#include "pmu_schedule.h"

struct cpumask;
struct my_pmu_cpu;
struct my_x86_pmu;

#define MY_PMC_ANY		(-1)	/* the module chooses the counter */
#define MY_PMC_MAX		64	/* ids */
#define MY_EVENT_NAME_LEN	96

#define MY_GENERIC_COUNTERS	GENMASK_ULL(INTEL_PMC_IDX_FIXED - 1, 0)
#define MY_FIXED_COUNTERS	(~MY_GENERIC_COUNTERS)

static inline bool my_pmc_is_fixed(int idx)
{
	return idx >= INTEL_PMC_IDX_FIXED;
}

/* "gp" and "fixed", and the number that follows: for "%s%d". */
static inline const char *my_pmc_kind(int idx)
{
	return my_pmc_is_fixed(idx) ? "fixed" : "gp";
}

static inline int my_pmc_number(int idx)
{
	return my_pmc_is_fixed(idx) ? idx - INTEL_PMC_IDX_FIXED : idx;
}

/* An event that perf knows by a name in sysfs alone; no type of perf's. */
#define MY_TYPE_SYSFS		(~0U)

/**
 * struct my_perf_event_attr - what is to be counted
 * @name: as the user wrote it, with the modifiers (those of its group, too),
 *	without the pin
 * @event: event select, SDM "architectural performance events"; 0 with a
 *	umask is perf's pseudo event for what only a fixed counter counts
 * @umask: unit mask
 * @named: given by name, not raw
 * @exclude_user: not at CPL 1, 2 and 3
 * @exclude_kernel: not at CPL 0
 * @pin: counter id, or MY_PMC_ANY
 * @cmask: counts the cycles with at least so many events; 0 counts events
 * @edge: counts how often that begins
 * @inv: counts the cycles with fewer than @cmask
 * @perf_type: by which perf knows the event: PERF_TYPE_HARDWARE, _HW_CACHE, _RAW;
 *	or MY_TYPE_SYSFS
 * @perf_config: likewise, within its type; of a raw event all bits as written
 * @beside: event, umask and bits of some CPUs only that were written beside a name:
 *	they are added to those that it stands for
 * @confirmed: perf, which knows the CPU's model, says that it has the event
 * @counters: the counters that the user allows, a set; 0 if any
 * @pinned: shall always be on a counter
 * @group: events with the same number are counted together; from 0 on, in the
 *	order of the list
 */
struct my_perf_event_attr {
	char name[MY_EVENT_NAME_LEN];
	u8 event;
	u8 umask;
	bool named;
	bool exclude_user;
	bool exclude_kernel;
	int pin;
	u8 cmask;
	bool edge;
	bool inv;
	u32 perf_type;
	u64 perf_config;
	u64 beside;
	bool confirmed;
	u64 counters;
	bool pinned;
	unsigned int group;
};

/**
 * struct my_hw_perf_event - the event on its counter
 * @config: what the control register holds while counting: all of an event
 *	select, or one counter's field of FIXED_CTR_CTRL in its place
 * @config_base: MSR of the control register
 * @event_base: MSR by which the counter is written
 * @event_base_rdpmc: RDPMC index by which it is read
 * @idx: counter id; MY_NO_COUNTER while other events have their turn, and then
 *	the rest means nothing
 * @cntval_bits: the counter's width
 * @prev_count: raw value at the last read, or when it was last programmed
 * @prev_time: when that was, CLOCK_MONOTONIC, ns; later by the time in which it has
 *	stood still since, if that is nobody's
 * @found_config: what the control register (field) held before us
 * @found_count: what the counter held before us
 */
struct my_hw_perf_event {
	u64 config;
	u32 config_base;
	u32 event_base;
	u32 event_base_rdpmc;
	int idx;
	unsigned int cntval_bits;
	u64 prev_count;
	u64 prev_time;
	u64 found_config;
	u64 found_count;
};

/**
 * struct my_perf_event - one event counted on one CPU
 * @count: what it has counted since it was first enabled, 64 bits
 * @running: for how long its counter was counting for @count, ns
 * @attr: what is counted
 * @hw: where and how
 * @cpu: the CPU's PMU, as far as we use it
 *
 * Under the CPU's lock, see struct my_pmu_cpu.
 */
struct my_perf_event {
	u64 count;
	u64 running;
	struct my_perf_event_attr attr;
	struct my_hw_perf_event hw;
	struct my_pmu_cpu *cpu;
};

/**
 * struct my_pmu_found - registers of a whole CPU as they were before us
 * @global_ctrl: IA32_PERF_GLOBAL_CTRL
 * @global_status: IA32_PERF_GLOBAL_STATUS
 */
struct my_pmu_found {
	u64 global_ctrl;
	u64 global_status;
};

/**
 * struct my_pmu_stopped - what was seen when our counters were stopped
 * @others: IA32_PERF_GLOBAL_CTRL but for our counters; it goes back with them
 * @running: those of ours that had run until then
 * @overflowed: those of ours with their bit set in IA32_PERF_GLOBAL_STATUS
 * @still: our counters stand still
 *
 * In version 1, which has neither register, all of ours were running and none
 * has overflowed; they count on.
 */
struct my_pmu_stopped {
	u64 others;
	u64 running;
	u64 overflowed;
	bool still;
};

/**
 * struct my_pmu_probe - an event that tells whether a counter counts
 * @unit: its name, in plural, for messages
 * @attr: the event, in the kernel
 * @least: of these, that a turn of hw_run_known_code() has
 * @most: and at most
 */
struct my_pmu_probe {
	const char *unit;
	struct my_perf_event_attr attr;
	unsigned int least;
	unsigned int most;
};

/**
 * struct my_x86_pmu - the PMU that a CPU has, and how it is driven
 * @version: of the architectural PMU, CPUID.0AH:EAX[7:0]
 * @eventsel: MSR of the first event select
 * @perfctr: MSR by which the first generic counter is written
 * @perfctr_reserve: MSR by which Linux's bitmaps know the first generic counter
 * @counters: the counters that exist, by id; there may be holes
 * @cntval_bits: width of the generic counters
 * @cntval_bits_fixed: width of the fixed counters
 * @full_width: generic counters can be written in all their bits
 * @arch_events: architectural events that exist, in the order of EBX
 * @arch_events_len: how many of them EBX speaks of
 * @probes: events of which the CPU executes a known number
 * @nr_probes: how many
 * @rdpmc_index: RDPMC index of a counter id
 * @counts: can this counter count this event?
 * @hw_config: fill event->hw from event->attr and event->hw.idx; -EOPNOTSUPP
 *	if the CPU does not have the event
 * @survey: the counters that somebody has programmed to count, or claims
 * @take: note what the registers of the CPU hold that all events share
 * @stop: from version 2 on, stop our counters, with one write; say what was
 *	seen. Only after @take
 * @run: from version 2 on, let exactly these of our counters run, with one
 *	write; what is not ours stays as @stop saw it
 * @acknowledge: clear the overflow bits of these counters
 * @give_back: put back what @take noted of our counters
 * @enable: note what the event's registers hold, program them, read once
 * @disable: put back what @enable noted; a generic counter's value only as
 *	far as it can be written
 * @program: write the event's control register, or, to stop it, 0
 * @is_programmed: does the control register still hold what @program wrote?
 * @run_known_code: let the event's counter, which is stopped, count so many turns
 *	of hw_run_known_code(), and nothing else
 * @write: the counter, in the low 32 bits, sign-extended
 * @read: the counter's raw value
 * @plan: fill in what of the registers that counters share is to be expected while the
 *	same events are on; false if these cannot be captured
 *
 * @rdpmc_index, @counts, @hw_config and @plan are pure.  The others act on the CPU
 * they run on, with interrupts off, and return 0 or -EIO for an access that
 * faulted; @is_programmed returns 1 or 0 otherwise.
 */
struct my_x86_pmu {
	unsigned int version;
	u32 eventsel;
	u32 perfctr;
	u32 perfctr_reserve;
	u64 counters;
	unsigned int cntval_bits;
	unsigned int cntval_bits_fixed;
	bool full_width;
	u32 arch_events;
	unsigned int arch_events_len;
	const struct my_pmu_probe *probes;
	unsigned int nr_probes;

	u32 (*rdpmc_index)(int idx);
	bool (*counts)(const struct my_perf_event_attr *attr, int idx);
	int (*hw_config)(const struct my_x86_pmu *pmu,
			 struct my_perf_event *event);
	int (*survey)(const struct my_x86_pmu *pmu, u64 *in_use);
	int (*take)(const struct my_x86_pmu *pmu, struct my_pmu_found *found);
	int (*stop)(const struct my_x86_pmu *pmu, u64 ours,
		    struct my_pmu_stopped *stopped);
	int (*run)(const struct my_x86_pmu *pmu,
		   const struct my_pmu_stopped *stopped, u64 running);
	int (*acknowledge)(const struct my_x86_pmu *pmu, u64 overflowed);
	int (*give_back)(const struct my_x86_pmu *pmu,
			 const struct my_pmu_found *found,
			 const struct my_pmu_stopped *stopped, u64 ours);
	int (*enable)(const struct my_x86_pmu *pmu,
		      struct my_perf_event *event);
	int (*disable)(const struct my_x86_pmu *pmu,
		       struct my_perf_event *event);
	int (*program)(const struct my_perf_event *event, bool on);
	int (*is_programmed)(const struct my_perf_event *event);
	int (*run_known_code)(const struct my_perf_event *event,
			      const struct my_pmu_stopped *stopped,
			      unsigned int turns);
	int (*write)(const struct my_perf_event *event, s32 val);
	int (*read)(const struct my_perf_event *event, u64 *val);
	bool (*plan)(const struct my_pmu_cpu *c, struct my_pmu_plan *plan);
};

static inline unsigned int my_pmu_num_counters(const struct my_x86_pmu *pmu)
{
	return hweight64(pmu->counters & MY_GENERIC_COUNTERS);
}

static inline unsigned int
my_pmu_num_counters_fixed(const struct my_x86_pmu *pmu)
{
	return hweight64(pmu->counters & MY_FIXED_COUNTERS);
}

/**
 * struct my_pmu_marks - counters, by id, of which there is something to say
 * @stolen: somebody else has written its registers; nothing was added to its
 *	count, it has been programmed anew and goes on from there
 * @late: read so late that it may have wrapped more than once; nothing was
 *	added to its count
 * @wrapped: it has wrapped; its growth is known all the same
 */
struct my_pmu_marks {
	u64 stolen;
	u64 late;
	u64 wrapped;
};

/**
 * struct my_pmu_cpu - what we use of one CPU's PMU
 * @cpu: the CPU
 * @pmu: what it has
 * @event: the events, in the order of the parameter
 * @nr_events: how many
 * @schedule: when they are on which counters
 * @foreign: counters that somebody outside Linux uses: its firmware
 * @taken: counters that others of us have: the module itself, or other modules
 * @used: counters that belong to an event in any turn
 * @turn: whose turn it is, see @schedule
 * @wanted: events that are to count whenever the CPU is up
 * @on: events that are programmed: of @wanted, those whose turn it is; or none
 *	while @away
 * @enabled: their counters
 * @tell: counters that set their overflow bit when they wrap, as was seen; only
 *	of these it is known that they have not
 * @suspect: counters that somebody else has stopped, we do not know when
 * @marks: what the next sample has to say
 * @away: the CPU is down, or not yet up
 * @failed: an access in a change of turns, which nobody waits for
 * @up_since: when it came up, CLOCK_MONOTONIC, ns
 * @up_before: for how long it had been up before, ns
 * @still: for how long its counters have stood still because of turns, ns
 * @stopped: what was seen when the counters were last stopped
 * @found: registers as they were before the first was enabled
 * @rotation: ends turns; only if there are several
 * @plan: how its counters are captured
 * @seq: what has been done with its events so far: captures, and all else
 * @accounted: up to which of these the counts have it
 * @timed: when the counts last had it together with the time, by the TSC
 * @unfrozen: reads do not stop the counters, if nothing else makes them
 * @lock: of all that changes while it is up
 *
 * From @turn on all of it changes only on @cpu, with interrupts off, under @lock; but
 * for what a capture adds (my_pmu_account()) and what is told of @marks, which is done on
 * any CPU under @lock, and @seq, which is @cpu's own.  Where events take turns nothing is
 * captured, so that a change of turns, on @cpu, needs no lock.
 */
struct my_pmu_cpu {
	int cpu;
	bool unfrozen;
	struct my_x86_pmu pmu;
	struct my_perf_event event[MY_EVENTS_MAX];
	unsigned int nr_events;
	struct my_pmu_schedule schedule;
	u64 foreign;
	u64 taken;
	u64 used;
	unsigned int turn;
	u64 wanted;
	u64 on;
	u64 enabled;
	u64 tell;
	u64 suspect;
	struct my_pmu_marks marks;
	bool away;
	int failed;
	u64 up_since;
	u64 up_before;
	u64 still;
	struct my_pmu_stopped stopped;
	struct my_pmu_found found;
	struct my_rotation rotation;
	struct my_pmu_plan plan;
	u64 seq;
	u64 accounted;
	u64 timed;
	raw_spinlock_t lock;
};

/* The set that has this event alone. */
static inline u64 my_perf_event_bit(const struct my_perf_event *event)
{
	return BIT_ULL(event - event->cpu->event);
}

/* Are there more events than can be counted at the same time? */
static inline bool my_pmu_takes_turns(const struct my_pmu_cpu *c)
{
	return c->schedule.nr_turns > 1;
}

/* Width of the narrowest counter that it uses; 64 if it uses none. */
static inline unsigned int my_pmu_bits(const struct my_pmu_cpu *c)
{
	unsigned int bits = 64;

	if (c->used & MY_GENERIC_COUNTERS)
		bits = c->pmu.cntval_bits;
	if (c->used & MY_FIXED_COUNTERS && c->pmu.cntval_bits_fixed < bits)
		bits = c->pmu.cntval_bits_fixed;
	return bits;
}

/*
 * For how long it has been up in all, until @now, but for the time that is nobody's, see
 * my_pmu_leave_out(); on it, while it is up.
 */
static inline u64 my_pmu_uptime(const struct my_pmu_cpu *c, u64 now)
{
	return c->up_before + (now - c->up_since) - c->still;
}

/**
 * struct my_pmu_sample - all counts of a CPU at one instant
 * @asked: when the CPU was asked for it, CLOCK_MONOTONIC, ns
 * @time: when the counters were read, on the CPU; from version 2 on while they
 *	stood still, unless they are not to
 * @uptime: for how long the CPU's events have had their turns until then, ns
 * @marks: what is to be said of the counters since the sample before
 * @count: of each event, in the order of struct my_pmu_cpu
 * @running: of each event, likewise
 */
struct my_pmu_sample {
	u64 asked;
	u64 time;
	u64 uptime;
	struct my_pmu_marks marks;
	u64 count[MY_EVENTS_MAX];
	u64 running[MY_EVENTS_MAX];
};

/**
 * struct my_pmu_reading - what comes of asking a CPU for its sample
 * @c: the CPU
 * @sample: filled in
 * @err: what my_pmu_cpu_read() would return
 * @capture: what it has answered, if all was as expected
 */
struct my_pmu_reading {
	struct my_pmu_cpu *c;
	struct my_pmu_sample *sample;
	int err;
	struct my_pmu_capture capture;
};

/*
 * In so many ticks, a millisecond or two, what cannot be is nearly as little as in no time
 * at all; a growth that the clock has not seen for longer could hide more.
 */
#define MY_UNTIMED_TICKS	BIT_ULL(22)

/**
 * my_pmu_stop() - from version 2 on, let all of our counters stand still
 * @c: the CPU; something is enabled there, or about to be
 *
 * @c->stopped is filled in.  One of ours that does not run was stopped by
 * somebody, we do not know when; its event, which may not be the one that we are
 * here for, will know of it.
 *
 * Context: the CPU in question, interrupts off; until @c->pmu.run().
 * Return: 0, or -EIO if a register faulted.
 */
static inline int my_pmu_stop(struct my_pmu_cpu *c)
{
	int err = c->pmu.stop(&c->pmu, c->used, &c->stopped);

	if (!err)
		c->suspect |= c->enabled & ~c->stopped.running;
	return err;
}

/* What my_pmu_call() has done on the CPU, there, with interrupts off. */
typedef int (*my_pmu_func_t)(struct my_pmu_cpu *c, u64 events, void *data);

/* pmu_event.c */
void my_pmu_cpu_begin(struct my_pmu_cpu *c, int cpu);
int my_pmu_detect(int cpu, struct my_x86_pmu *pmu, struct my_pmu_why *why);
int my_pmu_cpu_init(struct my_pmu_cpu *c, const struct my_perf_event_attr *attr,
		    unsigned int nr, struct my_pmu_why *why);
int my_perf_event_check(struct my_pmu_cpu *c,
			const struct my_perf_event_attr *attr,
			struct my_pmu_why *why);
int my_pmu_do(struct my_pmu_cpu *c, u64 events, my_pmu_func_t func, void *data);
int my_pmu_call(struct my_pmu_cpu *c, u64 events, my_pmu_func_t func,
		void *data);
int my_pmu_cpu_up(struct my_pmu_cpu *c, struct my_pmu_why *why);
int my_pmu_cpu_down(struct my_pmu_cpu *c);
int my_perf_event_update(struct my_perf_event *event, u64 time);
int my_pmu_update(struct my_pmu_cpu *c, u64 events, u64 time);
bool my_pmu_account(struct my_pmu_cpu *c, const struct my_pmu_capture *capture,
		    u64 time);
u64 my_pmu_counters_of(const struct my_pmu_cpu *c, u64 events);
void my_pmu_leave_out(struct my_pmu_cpu *c, u64 since, u64 came);
int my_pmu_next_turn(struct my_pmu_cpu *c);
u64 my_perf_event_group(const struct my_perf_event *event);

/* pmu_read.c */
int my_pmu_cpu_read(struct my_pmu_cpu *c, struct my_pmu_sample *sample);
int my_pmu_keep_up(struct my_pmu_cpu *c);
void my_pmu_read_cpus(const struct cpumask *cpus,
		      struct my_pmu_reading **by_cpu);
unsigned int my_pmu_max_interval_ms(unsigned int cntval_bits);
u64 my_pmu_next_tick(u64 elapsed_ns, u64 interval_ns);

#endif
