/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a back end of the PMU is: the capabilities that it finds, the operations
 * that it offers, and the event as it programs it.  A back end includes this
 * header and pmu_hw.h, and nothing above them; only pmu_cpu.c names back ends.
 *
 * Counter ids share one space, laid out as IA32_PERF_GLOBAL_CTRL is: 0 to 31
 * are generic counters (gp0 ...), 32 (MY_PMC_IDX_FIXED) and up are fixed ones
 * (fixed0 ...).  A set of counters is a u64 with those bits; there may be
 * holes.
 */
#ifndef MY_PMU_OPS_H
#define MY_PMU_OPS_H

#include <linux/bitops.h>
#include <linux/build_bug.h>
#include <linux/types.h>

struct my_x86_pmu;

#define MY_PMC_ANY		(-1)	/* the module chooses the counter */
#define MY_PMC_MAX		64	/* ids */
#define MY_PMC_IDX_FIXED	32	/* the first fixed counter */
#define MY_PMC_NR		48	/* those that a counter can have: 32 and 16 */
#define MY_NO_COUNTER		(-1)
#define MY_EVENT_NAME_LEN	96

/*
 * A counter is read so often that it cannot wrap twice at its event's rate.  Of most
 * events there are a few in a cycle: 2^26 in a millisecond is 11 in each cycle at 6 GHz.
 * An event that adds up what is under way (occupancy) has some hundreds in a nanosecond.
 */
#define MY_RATE_LOG2		26	/* in a millisecond */
#define MY_OCCUPANCY_RATE_LOG2	30

#define MY_GENERIC_COUNTERS	GENMASK_ULL(MY_PMC_IDX_FIXED - 1, 0)
#define MY_FIXED_COUNTERS	(~MY_GENERIC_COUNTERS)

static inline bool my_pmc_is_fixed(int idx)
{
	return idx >= MY_PMC_IDX_FIXED;
}

/* "gp" and "fixed", and the number that follows: for "%s%d". */
static inline const char *my_pmc_kind(int idx)
{
	return my_pmc_is_fixed(idx) ? "fixed" : "gp";
}

static inline int my_pmc_number(int idx)
{
	return my_pmc_is_fixed(idx) ? idx - MY_PMC_IDX_FIXED : idx;
}

/* The type of an event that perf has in sysfs only; not one of perf's types. */
#define MY_TYPE_SYSFS		(~0U)

/* The value of extra.msr that stands for a register which no back end programs. */
#define MY_MSR_REFUSED	0xffffU

/**
 * struct my_extra_reg - the register that an event needs besides its event select
 * @config: what it must hold
 * @msr: which; 0 if the event needs none; those of events have small numbers
 * @other_msr: one that does as well, with @other_code; 0 if there is none
 * @other_code: umask and event select that go with it
 */
struct my_extra_reg {
	u64 config;
	u16 msr;
	u16 other_msr;
	u16 other_code;
};

/**
 * struct my_perf_event_attr - what is to be counted
 * @name: as the user wrote it, with the modifiers (its group's, too), without
 *	the counter
 * @config: as perf's raw config: event select, umask, edge, inv, cmask and eq, in the
 *	back end's layout; event 0 with a umask is perf's pseudo event for what only
 *	a fixed counter counts; 0 if the name is not resolved yet
 * @named: given by name, not raw
 * @exclude_user: not at CPL 1, 2 and 3
 * @exclude_kernel: not at CPL 0
 * @pinned: always on a counter, never multiplexed (perf's :D)
 * @optional: left out where it would have to be multiplexed
 * @confirmed: perf, which knows the CPU's model, says that it has the event
 * @constraint: the counter that the user named, or MY_PMC_ANY
 * @perf_type: perf's type: PERF_TYPE_HARDWARE, _HW_CACHE, _RAW; or MY_TYPE_SYSFS
 * @counters: those that count it, as perf, which knows the CPU's model, says; a set;
 *	0 if that is not known
 * @allowed: the counters among which the module chooses, a set; 0 if any
 * @perf_config: perf's config within that type; of a raw event as written
 * @added: event, umask, eq and model-specific bits that were written beside a name;
 *	they are added to those that it stands for
 * @extra: the register that it needs, too; before it is known which, its @config alone
 * @group: events with the same number are counted together; from 0 on, in the
 *	order of the list
 * @period: the counter interrupts each time it has counted so many; 0: never
 */
struct my_perf_event_attr {
	char name[MY_EVENT_NAME_LEN];
	u64 config;
	bool named;
	bool exclude_user;
	bool exclude_kernel;
	bool pinned;
	bool optional;
	bool confirmed;
	s8 constraint;
	u8 group;
	u64 counters;
	u64 allowed;
	u64 perf_config;
	u64 added;
	struct my_extra_reg extra;
	u32 perf_type;
	u32 period;
};

/**
 * struct my_hw_perf_event - an event on its counter
 * @idx: counter id; MY_NO_COUNTER while the event is rotated out, and then the
 *	rest means nothing
 * @cntval_bits: the counter's width
 * @config: what the control register holds while the event counts: all of an
 *	event select, or the counter's field of a shared register, in its place
 * @config_mask: the bits of the control register that are this counter's
 * @config_base: MSR of the control register
 * @event_base: MSR by which the counter is written
 * @event_base_rdpmc: RDPMC index by which it is read
 * @more: the back end's: which other registers the event has
 * @rate_log2: in a millisecond there are never as many of its event
 * @any_code: it grows with any code that the kernel executes
 * @prev_count: raw value at the last read, or when it was last programmed
 * @prev_time: when that was, CLOCK_MONOTONIC, ns; or up to UNTIMED_TICKS (pmu_read.c)
 *	before it; moved forward by the time that is excluded since, see
 *	my_event_set_exclude_time().  A pool brings it up to date when it asks for it (pmu_pool.c)
 * @extra_msr: another register that the event needs; 0 if there is none
 * @extra_config: what that holds while the event counts
 */
struct my_hw_perf_event {
	int idx;
	u8 cntval_bits;
	u8 rate_log2;
	u8 more;
	bool any_code;
	u64 config;
	u64 config_mask;
	u32 config_base;
	u32 event_base;
	u32 event_base_rdpmc;
	u32 extra_msr;
	u64 extra_config;
	u64 prev_count;
	u64 prev_time;
};

/**
 * struct my_pmu_state - what the back end keeps of one CPU
 * @word: opaque above the back end: the registers that all counters share, before
 *	us and as they were last seen, and what it notes of each counter
 */
struct my_pmu_state {
	u64 word[16 + 4 * MY_PMC_NR];
};

/**
 * struct my_pmu_snapshot - all of a PMU's registers before perf is asked about events
 * @in_use: counters that were counting: perf, which would take one, must not count
 * @interrupts: those of them that interrupt at an overflow, as perf's do
 * @unlike: the PMU is another one than perf thinks: perf must not count
 * @counted: perf has counted since
 * @word: opaque above the back end
 */
struct my_pmu_snapshot {
	u64 in_use;
	u64 interrupts;
	bool unlike;
	bool counted;
	u64 word[2 * MY_PMC_MAX + 2];
};

/**
 * struct my_pmu_stopped - what was seen when counters were stopped
 * @running: those that had been counting until then
 * @enabled: of all counters of the CPU, also of others, those that were started
 * @overflowed: those with their overflow bit set
 * @still: the counters stand still; not so where they cannot be stopped together
 *	(version 1): there all were running, none has overflowed, they count on
 */
struct my_pmu_stopped {
	u64 running;
	u64 enabled;
	u64 overflowed;
	bool still;
};

/*
 * A period is written to a counter as a negative number of 32 bits.  Below the least one
 * the CPU does nothing but handle its interrupts.
 */
#define MY_PERIOD_MIN		100U
#define MY_PERIOD_MAX		((1U << 31) - 1)

/* Places of counters in a capture. */
#define MY_CAPTURE_MAX		MY_PMC_NR

/**
 * struct my_pmu_plan - which registers a capture reads, and what they must hold
 * @seq: number of the last thing done with the events: a capture, or anything else
 * @valid: the rest can be used
 * @first: the first place that is used
 * @end: the one behind the last
 * @event: of each place, the event's number in the list that was planned
 * @word: opaque above the back end
 */
struct my_pmu_plan {
	u64 seq;
	bool valid;
	unsigned int first;
	unsigned int end;
	u8 event[MY_CAPTURE_MAX];
	u64 word[16 + 2 * MY_CAPTURE_MAX];
};

/**
 * struct my_pmu_capture - what the counters of a plan showed
 * @seq: number of the capture among all that was done with the event set; 0: none
 * @ticks: when, by the TSC; while the counters stood still, if the plan freezes
 * @value: raw value of each counter, by its place
 */
struct my_pmu_capture {
	u64 seq;
	u64 ticks;
	u64 value[MY_CAPTURE_MAX];
};

/**
 * struct my_pmu_request - what another CPU is asked for
 * @plan: of its event set
 * @otherwise: called there if nothing was captured, with what @capture would return
 * @capture: filled in
 */
struct my_pmu_request {
	struct my_pmu_plan *plan;
	void (*otherwise)(struct my_pmu_request *request, int err);
	struct my_pmu_capture capture;
};

/**
 * struct my_pmu_probe - an event that code of known length causes a known number of times
 * @unit: its name, in plural, for messages
 * @attr: the event, in the kernel
 * @least: in a round of hw_run_known_code() there are at least so many
 * @most: and at most
 */
struct my_pmu_probe {
	const char *unit;
	struct my_perf_event_attr attr;
	unsigned int least;
	unsigned int most;
};

/**
 * struct my_pmu_others - who has counters that nobody within Linux has reserved
 * @key: in lists of counters
 * @label: before a list of them
 * @name: in sentences
 * @in_use: "gp0 is in use, ...": by whom
 */
struct my_pmu_others {
	const char *key;
	const char *label;
	const char *name;
	const char *in_use;
};

/**
 * struct my_pmu_ops - how a PMU is driven
 * @eventsel_reserve: MSR by which Linux's reservations know the first event select; 0: it has
 *	none for this PMU, and whoever asks for a counter first has it
 * @perfctr_reserve: MSR by which they know the first generic counter
 * @code_bits: the bits of perf's raw config that say which event it is; the back end refuses
 *	others that are an event's on other CPUs
 * @host_guest_bits: bits by which perf's event selects tell host from guest
 * @hardware_codes: of each PERF_COUNT_HW_... the event select and umask that all CPUs of this
 *	kind have for it, or 0; NULL: those of CPUID leaf 0AH
 * @overflow_by_sign: no register has overflow bits: an overflow is seen by the sign of a
 *	counter that interrupts, and of others not at all
 * @late_pmis: a PMI may come when its overflow has been handled: it does not mask its entry, so
 *	there is one for each overflow; and some come late
 * @single: some of these PMUs count an event by one counter alone, however many are to (QEMU's):
 *	unless the user asks for it, one is, and the self-test tries no other events than
 *	those that are to be counted
 * @failed: what was wrong if @enable or @program failed, see my_pmu_failed()
 * @remark: what the user is told when it is counted on, or NULL
 * @others: who has the counters of @find_in_use
 * @probes: events for the self-test
 * @nr_probes: how many
 * @counters_for: the counters that count this event, as far as is known of the CPU's
 *	model; 0 if the CPU has none, and then @reason ends the sentence "CPU 3 ...".
 *	@doubtful, which may be NULL: it can be programmed on these, too
 * @encode: fill @hw from @attr and @hw->idx, one of @counters_for
 * @snapshot: @save for all counters; and note all registers, unless there is no
 *	snapshot (NULL)
 * @put_back: @restore for all counters; and write all registers, if there is a snapshot
 *	and perf has counted since.  Counters that are in use now, and were not then, are
 *	somebody's who came meanwhile: they are left alone, and IA32_PERF_GLOBAL_CTRL, too
 * @save: note what the registers that counters share hold of these counters,
 *	before the first of them is programmed
 * @restore: put these counters' bits back as @save noted them
 * @enable: save the event's own registers, program them, read the counter once
 * @disable: put back what @enable saved; a counter's value as far as it can be
 *	written
 * @program: write the event's control register: @hw->config, or 0 to stop; what others
 *	may have left beside it, so that it does more than count, is cleared before
 * @start: let these counters count, with one write where the PMU can (Intel from
 *	version 2 on); overflow bits of @ack are cleared before, so that none that is set
 *	from now on is lost
 * @stop: stop them, likewise, and say what was seen; after @save
 * @start_beside: @start after others have started or stopped counters since @stop, which this
 *	leaves so.  1 if counters of @ours run: then none of ours was started, and @start
 *	leaves those of others as they are now
 * @read: the counter's raw value; 1 if its control register does not hold @hw->config,
 *	where that can be seen
 * @write: optional: the counter, from the low 32 bits, sign-extended; not where it is written
 *	only when it is started
 * @capture_one: the function of a cross-call, with a struct my_pmu_request: a capture if
 *	the plan is valid, in as few instructions as can be; or else request->otherwise()
 * @capture_cpus: likewise, with the requests of several CPUs, by CPU
 * @peek: the counter's raw value, in as few instructions as can be
 * @interrupt: whether the counter interrupts when it overflows, from now on and in
 *	@hw->config
 * @pmi_take: before the first counter of this CPU that interrupts is started: save the
 *	local APIC's entry (LVTPC) and let the interrupts of counters (PMIs) be NMIs; with
 *	@freeze an overflow of such a counter is to stop all counters until its PMI was
 *	handled.  -EOPNOTSUPP if the CPU does not do that
 * @pmi_put: put back what @pmi_take has changed
 * @pmi_enter: in an NMI: those of @counters that have overflowed.  If there is one, all
 *	counters of the CPU stand still until @pmi_exit
 * @pmi_again: likewise: those that have overflowed since, or were not seen before
 * @pmi_exit: let the counters go on, and the next PMI come
 * @pmi_late: likewise, where nothing is left to do for a PMI: let the next one come
 * @pmi_rearm: a PMI for overflows of @counters has not come: clear their overflow bits,
 *	and let the next one come
 * @find_in_use: optional: the counters that are enabled, or that microcode uses; of @counters at
 *	least
 * @plan: optional: plan a capture of @nr events, which are counting; bits of
 *	@quiet must not be in the overflow status; @freeze: the counters stand still
 *	while they are read.  False if these cannot be captured
 * @capture: with @plan: read what was planned; 1 if a register did not hold what
 *	it must: then what was captured means nothing, and the counters run on
 *
 * @counters_for, @encode and @plan are pure.  The others act on the CPU they run on,
 * with interrupts off, and return 0, -EIO for an access that faulted, or -EBUSY for a counter
 * that somebody else has.  None
 * sleeps, prints, allocates or calls another CPU, and none takes a lock, except that
 * the functions of cross-calls call request->otherwise(), which may.
 *
 * An NMI can use @peek, @write, @interrupt and @pmi_enter to @pmi_late, whatever of the
 * others it has interrupted; except for @interrupt, which changes registers that
 * counters share: it must not have interrupted anything that changes them, too.
 */
struct my_pmu_ops {
	u32 eventsel_reserve;
	u32 perfctr_reserve;
	u64 code_bits;
	u64 host_guest_bits;
	const u64 *hardware_codes;
	bool overflow_by_sign;
	bool late_pmis;
	bool single;
	const char *failed;
	const char *remark;
	const struct my_pmu_others *others;
	const struct my_pmu_probe *probes;
	unsigned int nr_probes;
	u64 (*counters_for)(const struct my_x86_pmu *pmu,
			    const struct my_perf_event_attr *attr,
			    u64 *doubtful, const char **reason);
	void (*encode)(const struct my_x86_pmu *pmu,
		       const struct my_perf_event_attr *attr,
		       struct my_hw_perf_event *hw);
	int (*snapshot)(const struct my_x86_pmu *pmu, struct my_pmu_state *state,
			struct my_pmu_snapshot *snapshot);
	int (*put_back)(const struct my_x86_pmu *pmu, struct my_pmu_state *state,
			const struct my_pmu_snapshot *snapshot, u64 in_use);
	int (*save)(const struct my_x86_pmu *pmu, struct my_pmu_state *state,
		    u64 counters);
	int (*restore)(const struct my_x86_pmu *pmu, struct my_pmu_state *state,
		       u64 counters);
	int (*enable)(const struct my_x86_pmu *pmu, struct my_pmu_state *state,
		      struct my_hw_perf_event *hw);
	int (*disable)(const struct my_x86_pmu *pmu, struct my_pmu_state *state,
		       struct my_hw_perf_event *hw);
	int (*program)(const struct my_x86_pmu *pmu, struct my_pmu_state *state,
		       const struct my_hw_perf_event *hw, u64 config);
	int (*start)(const struct my_x86_pmu *pmu, struct my_pmu_state *state,
		     u64 counters, u64 ack);
	int (*stop)(const struct my_x86_pmu *pmu, struct my_pmu_state *state,
		    u64 counters, struct my_pmu_stopped *stopped);
	int (*start_beside)(const struct my_x86_pmu *pmu, struct my_pmu_state *state,
			    u64 ours, u64 counters, u64 ack);
	int (*read)(const struct my_hw_perf_event *hw, u64 *val);
	int (*write)(const struct my_hw_perf_event *hw, s32 val);
	void (*capture_one)(void *request);
	void (*capture_cpus)(void *by_cpu);
	int (*peek)(const struct my_hw_perf_event *hw, u64 *val);
	int (*interrupt)(struct my_hw_perf_event *hw, bool on);
	int (*pmi_take)(const struct my_x86_pmu *pmu, struct my_pmu_state *state,
			bool freeze);
	int (*pmi_put)(const struct my_x86_pmu *pmu, struct my_pmu_state *state);
	u64 (*pmi_enter)(struct my_pmu_state *state, u64 counters);
	u64 (*pmi_again)(struct my_pmu_state *state, u64 counters);
	void (*pmi_exit)(struct my_pmu_state *state);
	void (*pmi_late)(const struct my_pmu_state *state);
	int (*pmi_rearm)(struct my_pmu_state *state, u64 counters);

	int (*find_in_use)(const struct my_x86_pmu *pmu, u64 counters, u64 *in_use);
	bool (*plan)(const struct my_x86_pmu *pmu,
		     const struct my_pmu_state *state,
		     const struct my_hw_perf_event *const hw[],
		     unsigned int nr, u64 quiet, bool freeze,
		     struct my_pmu_plan *plan);
	int (*capture)(const struct my_pmu_plan *plan,
		       struct my_pmu_capture *capture);
};

/**
 * struct my_x86_pmu - the PMU that a CPU has: its capabilities, and how it is driven
 * @counters: the counters that exist, by id; there may be holes
 * @arch_events: the back end's: architectural events that exist
 * @cfg_b: the back end's: counters that have a register of that name
 * @cfg_c: the back end's: counters that have a register of that name
 * @ops: the operations
 * @arch_events_len: the back end's: how many of them are known to exist or not
 * @version: of the architectural PMU
 * @msr_step: the back end's: from a counter's MSRs to those of the next one of its kind
 * @cntval_bits: width of the generic counters
 * @cntval_bits_fixed: width of the fixed counters
 * @eventsel: the back end's: MSR of the first event select
 * @perfctr: the back end's: MSR by which the first generic counter is written
 * @fixedctr: the back end's: MSR by which the first fixed counter is written
 * @flags: the back end's: what it can do, and what must be heeded
 */
struct my_x86_pmu {
	u64 counters;
	u64 arch_events;
	u64 cfg_b;
	u64 cfg_c;
	const struct my_pmu_ops *ops;
	u32 arch_events_len;
	u16 version;
	u16 msr_step;
	u32 cntval_bits;
	u32 cntval_bits_fixed;
	u32 eventsel;
	u32 perfctr;
	u32 fixedctr;
	u32 flags;
};

/* PMUs are compared byte by byte: are CPUs alike? */
static_assert(sizeof(struct my_x86_pmu) ==
	      5 * sizeof(u64) + 2 * sizeof(u16) + 7 * sizeof(u32));

/* MSR of a generic counter's event select, and of any counter. */
static inline u32 my_pmu_eventsel_msr(const struct my_x86_pmu *pmu, int idx)
{
	return pmu->eventsel + idx * pmu->msr_step;
}

static inline u32 my_pmu_counter_msr(const struct my_x86_pmu *pmu, int idx)
{
	return (my_pmc_is_fixed(idx) ? pmu->fixedctr : pmu->perfctr) +
	       my_pmc_number(idx) * pmu->msr_step;
}

/* The counters that Linux's reservations know. */
static inline u64 my_pmu_reservable(const struct my_x86_pmu *pmu)
{
	return pmu->ops->eventsel_reserve ? pmu->counters & MY_GENERIC_COUNTERS : 0;
}

/* What was wrong if an operation failed that is not refused with a reason. */
static inline const char *my_pmu_failed(const struct my_x86_pmu *pmu)
{
	return pmu->ops && pmu->ops->failed ? pmu->ops->failed : "a PMU register faulted";
}

static inline unsigned int my_pmu_num_counters(const struct my_x86_pmu *pmu)
{
	return hweight64(pmu->counters & MY_GENERIC_COUNTERS);
}

static inline unsigned int
my_pmu_num_counters_fixed(const struct my_x86_pmu *pmu)
{
	return hweight64(pmu->counters & MY_FIXED_COUNTERS);
}

#endif
