/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A simulated firmware: the PMU extension of SBI, with the counters of each CPU.  Written from the
 * specification ("Performance Monitoring Unit Extension") and from what OpenSBI 1.5 does where
 * that leaves it open; of the module it includes the seam that it stands behind, pmu_hw.h, and
 * nothing else.
 *
 * The firmware knows no owners: whoever calls has all counters.  Tests are somebody else by
 * sim_sbi(), which is not in the log.
 *
 * Tests set it up from any CPU while nobody uses it, and look at it afterwards.
 */
#ifndef MY_PMU_SIM_H
#define MY_PMU_SIM_H

#include <linux/types.h>

#define SIM_CPUS	2	/* as many as the tests' kernel has */
#define SIM_COUNTERS	32	/* of the hardware that there is room for */
#define SIM_CALLS	512	/* room in the log */

/* Functions of the extension; and a read of a counter's CSR, for the log. */
enum sim_function {
	SIM_NUM_COUNTERS,
	SIM_GET_INFO,
	SIM_CFG_MATCH,
	SIM_START,
	SIM_STOP,
	SIM_READ,
};

/* Errors of SBI. */
#define SIM_FAILED		(-1)
#define SIM_NOT_SUPPORTED	(-2)
#define SIM_INVALID_PARAM	(-3)
#define SIM_DENIED		(-4)
#define SIM_INVALID_ADDRESS	(-5)
#define SIM_ALREADY_AVAILABLE	(-6)
#define SIM_ALREADY_STARTED	(-7)
#define SIM_ALREADY_STOPPED	(-8)
#define SIM_NO_SHMEM		(-9)

/* Indices of events. */
#define SIM_CYCLES		1
#define SIM_INSTRUCTIONS	2
#define SIM_BRANCHES		5
#define SIM_DTLB_READ_MISS	0x10019
#define SIM_RAW			0x20000

/**
 * struct sim_event - which programmable counters count an event
 * @event: its index
 * @data: of a raw one
 * @counters: by number
 */
struct sim_event {
	u32 event;
	u64 data;
	u32 counters;
};

/**
 * struct sim_pmu - what the firmware of a CPU has
 * @name: for messages
 * @counters: of the hardware, by number: 0 and 2 are cycle and instret
 * @width: bits of the programmable ones
 * @firmware: how many counters of its own are behind them
 * @sscofpmf: programmable counters can count some modes only
 * @version: of SBI
 * @absent: it does not have the extension
 * @moved: counters that are read by another CSR than theirs
 * @starts_any: a start of what is not configured succeeds, and does nothing (KVM)
 * @no_inhibit: it cannot tell whether a counter runs (no mcountinhibit)
 * @fixed_refused: cycle and instret cannot be configured (OpenSBI 1.9 without Smcntrpmf)
 * @events: what programmable counters can count
 * @nr_events: how many these are
 */
struct sim_pmu {
	const char *name;
	u32 counters;
	unsigned int width, firmware;
	bool sscofpmf;
	unsigned int version;
	bool absent;
	u32 moved;
	bool starts_any, no_inhibit, fixed_refused;
	const struct sim_event *events;
	unsigned int nr_events;
};

/**
 * struct sim_counter - a counter
 * @configured: for @event
 * @running: it counts
 * @flags: of its configuration: modes in which it does not
 * @event: what it counts
 * @data: likewise, of a raw event
 * @value: what it shows
 */
struct sim_counter {
	bool configured, running;
	unsigned long flags;
	u32 event;
	u64 data, value;
};

/**
 * struct sim_call - a call, as the log has it
 * @function: which
 * @counter: the first that it is about; of a read, the CSR
 * @flags: its flags
 * @arg: the event's index, or the value to start from
 * @data: of a raw event
 * @err: the answer
 * @val: likewise
 */
struct sim_call {
	enum sim_function function;
	unsigned long counter, flags;
	u64 arg, data;
	long err;
	unsigned long val;
};

/* How a counter does not do what it should. */
enum sim_broken {
	SIM_SOUND,
	SIM_DEAD,		/* never grows */
	SIM_HALVED,		/* counts every other event */
	SIM_SINGLE,		/* of those that count an event the first grows alone */
	SIM_STARVED,		/* the first that counts, whatever it does, grows alone */
};

/**
 * struct sim_cpu - a CPU
 * @pmu: what it has
 * @counter: its counters
 * @broken: what is wrong with
 * @broken_counters: these, by number
 * @gives: whoever asks for a programmable counter is given this one; 0: as he asks
 * @fail_nth: this call from now on fails, 1 is the next; 0: none
 * @fail_err: with this error
 * @fail_function: each call of this function fails, too, if it is not 0
 * @failed: the last that has failed because it was to
 * @has_failed: one has
 * @nr_calls: how many calls there were
 * @call: the first of them
 * @wrong: calls with interrupts on; reads of what does not exist.  Outlives a reset
 * @first_wrong: the rule that was first broken
 */
struct sim_cpu {
	struct sim_pmu pmu;
	struct sim_counter counter[SIM_COUNTERS];
	enum sim_broken broken;
	u32 broken_counters;
	unsigned int gives;
	unsigned int fail_nth;
	long fail_err;
	enum sim_function fail_function;
	struct sim_call failed;
	bool has_failed;
	unsigned int nr_calls;
	struct sim_call call[SIM_CALLS];
	unsigned int wrong;
	const char *first_wrong;
};

/* A tick of the kernel, for pmu_clock.h. */
extern u64 sim_tick_ns;

/* The clocks of two CPUs do not show the same. */
extern bool sim_without_ticks;

u64 sim_now(void);
void sim_pass_ms(unsigned int ms);
void sim_sleep_ms(void);

struct sim_cpu *sim_cpu(unsigned int cpu);
void sim_reset(unsigned int cpu, const struct sim_pmu *pmu);
void sim_clear_log(struct sim_cpu *sim);
void sim_drop_calls(struct sim_cpu *sim, unsigned int nr);
void sim_describe(const struct sim_cpu *sim, char *text, size_t size);

long sim_sbi(struct sim_cpu *sim, enum sim_function function, unsigned long base,
	     unsigned long mask, unsigned long flags, u64 arg, u64 data, unsigned long *val);

void sim_count(struct sim_cpu *sim, u32 event, u64 data, bool user, u64 n);
void sim_retire(struct sim_cpu *sim, bool user, u64 n);

#endif
