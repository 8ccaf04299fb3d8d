/* SPDX-License-Identifier: GPL-2.0 */
/* Interrupts of counters (PMIs): who handles them, and what they do to an event. */
#ifndef MY_PMU_PMI_H
#define MY_PMU_PMI_H

#include <linux/bitops.h>
#include <linux/minmax.h>

#include "pmu_set.h"

struct my_pmu_why;

/*
 * Some CPUs do not like a counter that is about to overflow (arch/x86/events/core.c,
 * x86_perf_event_set_period()).  The record comes a little later then; nothing else changes.
 */
#define MY_PERIOD_LEAST_LEFT	2

/*
 * An event that counts the kernel and has a shorter period than an NMI has instructions or
 * cycles overflows again in each NMI, and what was interrupted makes no step, nor does any tick
 * come.  With this period, or a longer one, that cannot be; with a shorter one PMIs that find
 * the CPU at the same place are too many in any case.
 */
#define MY_PERIOD_NMI		BIT(15)

/* Parameter "pmi": an overflow freezes all counters until its PMI was handled. */
extern bool my_pmi_freeze;

int my_pmi_get(struct my_pmu_why *why);
void my_pmi_put(void);
int my_pmi_begin(struct my_pmu_cpu *cpu, struct my_pmu_why *why);
int my_pmi_end(struct my_pmu_cpu *cpu);
void my_pmi_watch(struct my_perf_event *event);
void my_pmi_forget(struct my_perf_event *event, u64 overflowed);
int my_pmi_rearm(struct my_pmu_cpu *cpu, u64 counters);
bool my_pmi_throttle(struct my_pmu_cpu *cpu);
int my_pmi_unthrottle(struct my_perf_event *event);
void my_restart_init(struct my_restart *restart,
		     void (*expired)(struct my_restart *restart));
void my_restart_cancel(struct my_restart *restart);

/**
 * my_pmi_reload() - write a counter, so that it overflows when its period ends
 * @ops: of its CPU
 * @event: the event; its counter stands still
 * @left: events until then
 *
 * Context: the event's CPU, interrupts off, or an NMI.
 * Return: 0, and then the counter shows @event->hw.prev_count; or -EIO.
 */
static __always_inline int my_pmi_reload(const struct my_pmu_ops *ops,
					 struct my_perf_event *event, u64 left)
{
	struct my_hw_perf_event *hw = &event->hw;
	int err;

	left = max_t(u64, left, MY_PERIOD_LEAST_LEFT);
	err = ops->write(hw, -(s32)left);
	if (!err)
		hw->prev_count = -left & GENMASK_ULL(hw->cntval_bits - 1, 0);
	return err;
}

/**
 * my_pmi_note_period() - an event that is watched has another period
 * @event: the event
 *
 * Context: the event's CPU, interrupts off, or an NMI.
 */
static __always_inline void my_pmi_note_period(struct my_perf_event *event)
{
	const struct my_perf_event_attr *attr = &event->attr;

	assign_bit(event->hw.idx, &event->set->cpu->may_stand,
		   attr->period < MY_PERIOD_NMI && !attr->exclude_kernel);
}

#endif
