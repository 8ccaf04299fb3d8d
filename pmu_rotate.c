// SPDX-License-Identifier: GPL-2.0
/*
 * Turns: a timer on the CPU itself, in its interrupt, ends one and begins the next.
 * No cross-call is needed, and without turns there is no timer.
 *
 * Like perf's (kernel/events/core.c, perf_mux_hrtimer_handler) a turn takes some
 * milliseconds: long against the work of a change, short against a sample.
 */
#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/lockdep.h>

#include "pmu_compat.h"
#include "pmu_rotate.h"

#define TURN_NS			(4 * NSEC_PER_MSEC)

static enum hrtimer_restart turn_is_over(struct hrtimer *timer)
{
	struct my_rotation *rotation = container_of(timer, struct my_rotation,
						    timer);

	rotation->end_turn(rotation);
	/* From now: however long the change took, the CPU has that time. */
	hrtimer_set_expires(timer, ktime_add_ns(ktime_get(), TURN_NS));
	return HRTIMER_RESTART;
}

/**
 * my_rotation_init() - before the first turn
 * @rotation: the turns
 * @end_turn: to be called when one ends, on its CPU, with interrupts off
 *
 * Context: any.
 */
void my_rotation_init(struct my_rotation *rotation,
		      void (*end_turn)(struct my_rotation *rotation))
{
	rotation->end_turn = end_turn;
	hrtimer_setup(&rotation->timer, turn_is_over, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_PINNED_HARD);
}

/**
 * my_rotation_start() - from now on turns end
 * @rotation: the turns; the first has begun
 *
 * Context: the CPU in question, interrupts off.
 */
void my_rotation_start(struct my_rotation *rotation)
{
	lockdep_assert_irqs_disabled();
	hrtimer_start(&rotation->timer, ns_to_ktime(TURN_NS),
		      HRTIMER_MODE_REL_PINNED_HARD);
}

/**
 * my_rotation_stop() - this turn does not end
 * @rotation: the turns; nothing happens if they were not started
 *
 * Context: the CPU in question, interrupts off: so the timer's function, which is
 * called nowhere else, is not running.
 */
void my_rotation_stop(struct my_rotation *rotation)
{
	lockdep_assert_irqs_disabled();
	hrtimer_try_to_cancel(&rotation->timer);
}
