/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The event: what is to be counted (attr), on which counter and how (hw), and
 * the count; the PMU of a CPU as the CPU describes it (struct my_x86_pmu, the
 * vtable), and what we use of it (struct my_pmu_cpu).
 *
 * Counter ids share one space, laid out as IA32_PERF_GLOBAL_CTRL is: 0 to 31
 * are generic counters (gp0 ...), 32 (INTEL_PMC_IDX_FIXED) and up are fixed
 * ones (fixed0 ...).  A set of counters is a u64 with those bits.
 */
#ifndef MY_PMU_EVENT_H
#define MY_PMU_EVENT_H

#include <linux/bitops.h>
#include <linux/types.h>
#include <asm/perf_event.h>

struct my_pmu_why;
struct my_x86_pmu;

#define MY_PMC_ANY		(-1)	/* the module chooses the counter */
#define MY_PMC_MAX		64	/* ids, and so events of one CPU */
#define MY_EVENT_NAME_LEN	48

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

/**
 * struct my_perf_event_attr - what is to be counted
 * @name: as the user wrote it, with the modifiers, without the pin
 * @event: event select, SDM "architectural performance events"; 0 with a
 *	umask is perf's pseudo event for what only a fixed counter counts
 * @umask: unit mask
 * @named: given by name, not raw
 * @exclude_user: not at CPL 1, 2 and 3
 * @exclude_kernel: not at CPL 0
 * @pin: counter id, or MY_PMC_ANY
 */
struct my_perf_event_attr {
	char name[MY_EVENT_NAME_LEN];
	u8 event;
	u8 umask;
	bool named;
	bool exclude_user;
	bool exclude_kernel;
	int pin;
};

/**
 * struct my_hw_perf_event - the event on its counter
 * @config: what the control register holds while counting: all of an event
 *	select, or one counter's field of FIXED_CTR_CTRL in its place
 * @config_base: MSR of the control register
 * @event_base: MSR by which the counter is written
 * @event_base_rdpmc: RDPMC index by which it is read
 * @idx: counter id
 * @cntval_bits: the counter's width
 * @prev_count: raw value at the last read
 * @prev_time: when that was, CLOCK_MONOTONIC, ns
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
 * @attr: what is counted
 * @hw: where and how
 * @cpu: the CPU's PMU, as far as we use it
 *
 * @count and @hw change only on the event's CPU, with interrupts off, and are
 * read there.
 */
struct my_perf_event {
	u64 count;
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
 * struct my_x86_pmu - the PMU that a CPU has, and how it is driven
 * @version: of the architectural PMU, CPUID.0AH:EAX[7:0]
 * @eventsel: MSR of the first event select
 * @perfctr: MSR by which the first generic counter is written
 * @counters: the counters that exist, by id; there may be holes
 * @cntval_bits: width of the generic counters
 * @cntval_bits_fixed: width of the fixed counters
 * @full_width: generic counters can be written in all their bits
 * @arch_events: architectural events that exist, in the order of EBX
 * @arch_events_len: how many of them EBX speaks of
 * @rdpmc_index: RDPMC index of a counter id
 * @counts: can this counter count this event?
 * @hw_config: fill event->hw from event->attr and event->hw.idx; -EOPNOTSUPP
 *	if the CPU does not have the event
 * @take: note what the registers of the CPU hold that all events share
 * @run: from version 2 on, let exactly these of our counters run, with one
 *	write; counters that are not ours stay as they were found
 * @give_back: put back what @take noted
 * @enable: note what the event's registers hold, program them, read once
 * @disable: put back what @enable noted; a generic counter's value only as
 *	far as it can be written
 * @read: the counter's raw value
 *
 * @rdpmc_index, @counts and @hw_config are pure.  The others act on the CPU
 * they run on, with interrupts off, and return 0 or -EIO for an access that
 * faulted (@read cannot fail: @enable has tried it).
 */
struct my_x86_pmu {
	unsigned int version;
	u32 eventsel;
	u32 perfctr;
	u64 counters;
	unsigned int cntval_bits;
	unsigned int cntval_bits_fixed;
	bool full_width;
	u32 arch_events;
	unsigned int arch_events_len;

	u32 (*rdpmc_index)(int idx);
	bool (*counts)(const struct my_perf_event_attr *attr, int idx);
	int (*hw_config)(const struct my_x86_pmu *pmu,
			 struct my_perf_event *event);
	int (*take)(const struct my_x86_pmu *pmu, struct my_pmu_found *found);
	int (*run)(const struct my_x86_pmu *pmu,
		   const struct my_pmu_found *found, u64 ours, u64 running);
	int (*give_back)(const struct my_x86_pmu *pmu,
			 const struct my_pmu_found *found, u64 ours);
	int (*enable)(const struct my_x86_pmu *pmu,
		      struct my_perf_event *event);
	int (*disable)(const struct my_x86_pmu *pmu,
		       struct my_perf_event *event);
	u64 (*read)(const struct my_perf_event *event);
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
 * struct my_pmu_cpu - what we use of one CPU's PMU
 * @cpu: the CPU
 * @pmu: what it has
 * @event: the events, in the order of the parameter
 * @nr_events: how many
 * @used: counters that belong to an event
 * @wanted: counters that are to run whenever the CPU is up
 * @enabled: counters that are programmed: @wanted, or none while @away
 * @away: the CPU is down, or not yet up
 * @found: registers as they were before the first was enabled
 *
 * From @wanted on all of it changes only on @cpu, with interrupts off.
 */
struct my_pmu_cpu {
	int cpu;
	struct my_x86_pmu pmu;
	struct my_perf_event event[MY_PMC_MAX];
	unsigned int nr_events;
	u64 used;
	u64 wanted;
	u64 enabled;
	bool away;
	struct my_pmu_found found;
};

/**
 * struct my_pmu_sample - all counts of a CPU at one instant
 * @time: CLOCK_MONOTONIC, ns, taken on the CPU; from version 2 on while its
 *	counters stood still
 * @stolen: counters, by id, that moved in a way that no counting explains:
 *	somebody wrote them. Nothing was added to their counts
 * @count: of each event, in the order of struct my_pmu_cpu
 */
struct my_pmu_sample {
	u64 time;
	u64 stolen;
	u64 count[MY_PMC_MAX];
};

/* What my_pmu_call() has done on the CPU, there, with interrupts off. */
typedef int (*my_pmu_func_t)(struct my_pmu_cpu *c, u64 counters, void *data);

/* pmu_event.c */
int my_pmu_detect(int cpu, struct my_x86_pmu *pmu, struct my_pmu_why *why);
int my_pmu_cpu_init(struct my_pmu_cpu *c, const struct my_perf_event_attr *attr,
		    unsigned int nr, struct my_pmu_why *why);
int my_pmu_reserve(const struct my_x86_pmu *pmu, struct my_pmu_why *why);
void my_pmu_release(const struct my_x86_pmu *pmu);
int my_pmu_call(struct my_pmu_cpu *c, u64 counters, my_pmu_func_t func,
		void *data);
int my_pmu_cpu_up(struct my_pmu_cpu *c);
int my_pmu_cpu_down(struct my_pmu_cpu *c);
int my_perf_event_init(struct my_perf_event *event, struct my_pmu_cpu *c,
		       const struct my_perf_event_attr *attr,
		       struct my_pmu_why *why);
int my_perf_event_enable(struct my_perf_event *event);
int my_perf_event_disable(struct my_perf_event *event);

/* pmu_read.c */
int my_pmu_cpu_read(struct my_pmu_cpu *c, struct my_pmu_sample *sample);
int my_perf_event_read(struct my_perf_event *event, u64 *count);
unsigned int my_pmu_max_interval_ms(unsigned int cntval_bits);
u64 my_pmu_next_tick(u64 elapsed_ns, u64 interval_ns);

/**
 * my_pmu_delta() - growth of a counter between two reads
 * @prev: raw value at the earlier read
 * @now: raw value at the later read
 * @bits: the counter's width, 1 to 64
 *
 * Exact as long as the counter grew by less than 2^@bits, wrap or no wrap;
 * bits that the counter does not have are ignored.
 *
 * Context: any; pure.
 * Return: the growth in events.
 */
static inline u64 my_pmu_delta(u64 prev, u64 now, unsigned int bits)
{
	return (now - prev) & GENMASK_ULL(bits - 1, 0);
}

/*
 * No CPU is known to have so many events in 2^20 ns: 2^27 is 128 in a
 * nanosecond.  A counter that grew by more was written by somebody.
 */
#define MY_MAX_EVENTS_LOG2	27
#define MY_MAX_EVENTS_NS_LOG2	20

/**
 * my_pmu_plausible() - can a counter have grown by so much?
 * @delta: events
 * @ns: time between the two reads
 *
 * Context: any; pure.
 * Return: false if no CPU counts as fast.
 */
static inline bool my_pmu_plausible(u64 delta, u64 ns)
{
	return delta >> MY_MAX_EVENTS_LOG2 <= ns >> MY_MAX_EVENTS_NS_LOG2;
}

/**
 * my_perf_event_update() - add what the counter has grown by to the count
 * @event: the event
 * @now: raw value of its counter
 * @time: when it was read, CLOCK_MONOTONIC, ns
 *
 * Context: the event's CPU, interrupts off.
 * Return: false, and nothing added, if the growth is not plausible.
 */
static inline bool my_perf_event_update(struct my_perf_event *event, u64 now,
					u64 time)
{
	struct my_hw_perf_event *hw = &event->hw;
	u64 delta = my_pmu_delta(hw->prev_count, now, hw->cntval_bits);
	bool plausible = my_pmu_plausible(delta, time - hw->prev_time);

	if (plausible)
		event->count += delta;
	hw->prev_count = now;
	hw->prev_time = time;
	return plausible;
}

#endif
