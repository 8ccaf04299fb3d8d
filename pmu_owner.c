// SPDX-License-Identifier: GPL-2.0
/*
 * Whose the counters are.
 *
 * Linux has bitmaps for that (arch/x86/kernel/cpu/perfctr-watchdog.c), one for
 * all CPUs, which say that somebody has a register and not who.  What is not
 * reserved there and nevertheless in use has been programmed by somebody outside
 * Linux: the firmware, most likely.  That is left alone.
 */
#include <linux/bitops.h>
#include <linux/errno.h>

#include "pmu_event.h"
#include "pmu_hw.h"
#include "pmu_owner.h"
#include "pmu_why.h"

/*
 * The counter is known to the bitmaps by its first address, by which not even
 * perf goes where it has a better one; the event select is what keeps perf out.
 */
static bool reserve_counter(const struct my_x86_pmu *pmu, unsigned int i)
{
	if (!hw_reserve_evntsel(pmu->eventsel + i))
		return false;
	if (hw_reserve_perfctr(pmu->perfctr_reserve + i))
		return true;
	hw_release_evntsel(pmu->eventsel + i);
	return false;
}

static void release_counters(const struct my_x86_pmu *pmu, u64 counters)
{
	int i;

	for (i = fls64(counters) - 1; i >= 0; i--) {
		if (!(counters & BIT_ULL(i)))
			continue;
		hw_release_perfctr(pmu->perfctr_reserve + i);
		hw_release_evntsel(pmu->eventsel + i);
	}
}

/**
 * my_pmu_reserve() - take the generic counters, against perf
 * @pmu: whose
 * @why: if refused, the reason and the cure
 *
 * perf reserves every generic counter's event select before it opens its
 * first hardware event (arch/x86/events/core.c), fixed counters or not: who
 * holds one keeps perf out.
 *
 * Context: task.  No register is touched.
 * Return: 0, or -EBUSY if somebody holds one; then nothing is reserved.
 */
int my_pmu_reserve(const struct my_x86_pmu *pmu, struct my_pmu_why *why)
{
	u64 left = pmu->counters & MY_GENERIC_COUNTERS, done = 0;

	for (; left; left &= left - 1) {
		if (!reserve_counter(pmu, __ffs64(left))) {
			release_counters(pmu, done);
			return my_refuse(why, -EBUSY,
					 "the PMU is in use, by perf or the NMI watchdog: end perf, and 'sysctl kernel.nmi_watchdog=0'");
		}
		done |= left & -left;
	}
	return 0;
}

/**
 * my_pmu_release() - give the generic counters back
 * @pmu: what my_pmu_reserve() was called with
 *
 * Context: task; after the registers have been put back.
 */
void my_pmu_release(const struct my_x86_pmu *pmu)
{
	release_counters(pmu, pmu->counters & MY_GENERIC_COUNTERS);
}

static int call(struct my_pmu_cpu *c, my_pmu_func_t func, struct my_pmu_why *why)
{
	int err = my_pmu_call(c, 0, func, NULL);

	if (err)
		my_refuse(why, err, "a PMU register faulted");
	return err;
}

static int survey_on_cpu(struct my_pmu_cpu *c, u64 counters, void *unused)
{
	int err = c->pmu.survey(&c->pmu, &c->foreign);

	c->foreign &= ~c->taken;
	return err;
}

/**
 * my_pmu_survey() - find the counters that somebody outside Linux uses
 * @c: @c->cpu, @c->pmu and @c->taken are set, @c->foreign is filled in
 * @why: if that fails, the reason
 *
 * Only while my_pmu_reserve() holds: then whoever uses one is none of Linux.
 *
 * Context: task, interrupts on; one cross-call.  Only reads.
 * Return: 0; -ENXIO if the CPU is offline; -EIO if a register faulted.
 */
int my_pmu_survey(struct my_pmu_cpu *c, struct my_pmu_why *why)
{
	return call(c, survey_on_cpu, why);
}

static int note_on_cpu(struct my_pmu_cpu *c, u64 events, void *unused)
{
	return c->pmu.take(&c->pmu, &c->found);
}

/**
 * my_pmu_note() - note the registers that perf writes when it is asked for an event
 * @c: the CPU; @c->cpu and @c->pmu are set, @c->found is filled in
 * @why: if that fails, the reason
 *
 * Context: task, interrupts on; one cross-call.  Only reads.
 * Return: 0; -ENXIO if the CPU is offline; -EIO if a register faulted.
 */
int my_pmu_note(struct my_pmu_cpu *c, struct my_pmu_why *why)
{
	return call(c, note_on_cpu, why);
}

static int put_back_on_cpu(struct my_pmu_cpu *c, u64 events, void *unused)
{
	const struct my_pmu_stopped nothing = {};
	struct my_pmu_found now;
	int err;

	err = c->pmu.take(&c->pmu, &now);
	if (err || now.global_ctrl == c->found.global_ctrl)
		return err;
	return c->pmu.give_back(&c->pmu, &c->found, &nothing, ~0ULL);
}

/**
 * my_pmu_put_back() - undo what perf has written when it was asked for an event
 * @c: what my_pmu_note() was called with
 * @why: if that fails, the reason
 *
 * perf writes IA32_PERF_GLOBAL_CTRL when an event is made on a CPU, also one that
 * is never to count.  Only while my_pmu_reserve() holds: then perf has no event.
 *
 * Context: task, interrupts on; one cross-call.
 * Return: as my_pmu_note().
 */
int my_pmu_put_back(struct my_pmu_cpu *c, struct my_pmu_why *why)
{
	return call(c, put_back_on_cpu, why);
}
