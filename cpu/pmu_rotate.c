// SPDX-License-Identifier: GPL-2.0
/*
 * Rotation: a timer on the CPU itself ends one and begins the next in its interrupt.
 * No cross-call is needed; where nothing is multiplexed no timer runs.
 *
 * Like perf's (kernel/events/core.c, perf_mux_hrtimer_handler) a rotation takes some
 * milliseconds: long against the work of changing it, short against a sample.
 */
#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/lockdep.h>

#include "pmu_compat.h"
#include "pmu_rotate.h"

#define ROTATION_NS		(4 * NSEC_PER_MSEC)

static enum hrtimer_restart rotation_ends(struct hrtimer *timer)
{
	struct my_rotate_timer *rotate = container_of(timer, struct my_rotate_timer,
						      timer);

	rotate->expired(rotate);
	/* From now: however long the change took, the CPU has that time. */
	hrtimer_set_expires(timer, ktime_add_ns(ktime_get(), ROTATION_NS));
	return HRTIMER_RESTART;
}

/**
 * my_rotate_start() - from now on rotations end
 * @rotate: the timer, which is not running; the first rotation has begun
 * @expired: to be called when a rotation ends, on its CPU, with interrupts off
 *
 * Context: the CPU in question, interrupts off.
 */
void my_rotate_start(struct my_rotate_timer *rotate,
		     void (*expired)(struct my_rotate_timer *rotate))
{
	lockdep_assert_irqs_disabled();
	rotate->expired = expired;
	hrtimer_setup(&rotate->timer, rotation_ends, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_PINNED_HARD);
	hrtimer_start(&rotate->timer, ns_to_ktime(ROTATION_NS),
		      HRTIMER_MODE_REL_PINNED_HARD);
}

/**
 * my_rotate_stop() - the current rotation does not end
 * @rotate: the timer, which was started
 *
 * Context: the CPU in question, interrupts off: so the timer's function, which is
 * called nowhere else, is not running.
 */
void my_rotate_stop(struct my_rotate_timer *rotate)
{
	lockdep_assert_irqs_disabled();
	hrtimer_try_to_cancel(&rotate->timer);
}
