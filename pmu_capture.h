/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The capture: what the counters of a CPU show at one instant, raw.  It is all that
 * the CPU itself has to do for a sample if nothing unexpected has happened; what
 * comes of it is worked out by whoever asked, on another CPU.
 */
#ifndef MY_PMU_CAPTURE_H
#define MY_PMU_CAPTURE_H

#include <linux/math64.h>
#include <linux/types.h>

/*
 * Places of counters.  Those with an event select of their own come first and end in
 * the middle; those that share a register begin there.
 */
#define MY_CAPTURE_MIDDLE	32
#define MY_CAPTURE_MAX		(MY_CAPTURE_MIDDLE + 16)

/**
 * struct my_pmu_plan - which registers are looked at, and what they must hold
 * @ready: it can be used
 * @plain: and all counters tell of their wraps, and there is nothing to say of any
 * @freeze: the counters shall stand still while they are read
 * @ctrl_msr: the register that lets counters run
 * @status_msr: the one that says which have overflowed
 * @shared_msr: the one in which several counters have a field
 * @ctrl: what the first must hold; all of it, ours and others'
 * @stopped: the same while our counters stand still
 * @quiet: bits of the second of which none may be set
 * @shared_mask: fields of the third
 * @shared_config: and what they must hold
 * @first: place of the first counter, from the middle: not more than 0
 * @end: behind the last, likewise: not less than 0
 * @counter: RDPMC index; and, up to the middle, MSR of its event select
 * @config: what that must hold
 * @event: which it is, by place in struct my_pmu_cpu
 *
 * hw_capture() goes by it, to the letter.
 */
struct my_pmu_plan {
	bool ready;
	bool plain;
	bool freeze;
	u32 ctrl_msr;
	u32 status_msr;
	u32 shared_msr;
	u64 ctrl;
	u64 stopped;
	u64 quiet;
	u64 shared_mask;
	u64 shared_config;
	s64 first;
	s64 end;
	struct {
		u32 rdpmc;
		u32 select;
	} counter[MY_CAPTURE_MAX];
	u64 config[MY_CAPTURE_MAX];
	u8 event[MY_CAPTURE_MAX];
};

/**
 * struct my_pmu_capture - what the counters of a plan have shown
 * @seq: which it is of all that was done with the CPU's events; 0 if there is none
 * @ticks: when, by the TSC; while they stood still, if the plan says so
 * @value: of each counter, by its place
 */
struct my_pmu_capture {
	u64 seq;
	u64 ticks;
	u64 value[MY_CAPTURE_MAX];
};

/**
 * struct my_pmu_window - the time between two looks at the clock and the TSC
 * @ns: the moments, CLOCK_MONOTONIC
 * @ticks: the TSC
 */
struct my_pmu_window {
	u64 ns[2];
	u64 ticks[2];
};

/**
 * my_pmu_moment() - the moment of a capture
 * @window: around it
 * @ticks: when it was, by the TSC
 *
 * Context: any; pure.
 * Return: CLOCK_MONOTONIC, ns; within the window whatever the TSC says.
 */
static inline u64 my_pmu_moment(const struct my_pmu_window *window, u64 ticks)
{
	u64 ns = window->ns[1] - window->ns[0];
	u64 all = window->ticks[1] - window->ticks[0];
	u64 passed = ticks - window->ticks[0];

	if ((s64)passed <= 0)
		return window->ns[0];
	if (passed >= all)
		return window->ns[1];
	return window->ns[0] + mul_u64_u64_div_u64(passed, ns, all);
}

#endif
