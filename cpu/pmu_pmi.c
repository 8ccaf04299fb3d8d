// SPDX-License-Identifier: GPL-2.0
/*
 * Interrupts of counters (PMIs), which are NMIs here: the handler, and what it does to an
 * event with a period.
 *
 * The handler may interrupt anything, work on the same event included.  Then it writes the
 * sample, which nobody else can, and leaves the counter and the count to that work, which
 * finds the overflow by the counter's value.  Otherwise it does all of it.  So each overflow
 * is added once, and has one sample, whoever comes first; see @owed of struct my_period.
 *
 * The order of accesses to registers is the back end's.
 */
#include <linux/bitops.h>
#include <linux/cpumask.h>
#include <linux/errno.h>
#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/jiffies.h>
#include <linux/kprobes.h>
#include <linux/lockdep.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/nmi.h>
#include <linux/percpu.h>
#include <linux/printk.h>

#include "pmu_clock.h"
#include "pmu_compat.h"
#include "pmu_growth.h"
#include "pmu_hw.h"
#include "pmu_pmi.h"
#include "pmu_trace.h"
#include "pmu_why.h"

/* A status that cannot be cleared must not keep the CPU in the handler. */
#define ROUNDS_MAX	100

/*
 * More PMIs in a tick of the kernel are too many, as to Linux (perf_event_max_sample_rate);
 * and so are those that take more than a quarter of it.  Of fewer than STORM_LEAST it is not
 * known what each takes.
 */
#define PMIS_MAX	(100000 / HZ)
#define STORM_SHARE	4
#define STORM_LEAST	8

/* For so long a PMI may be on its way: microseconds on hardware. */
#define LATE_NS		(100 * NSEC_PER_MSEC)

bool my_pmi_freeze;

/* --- the handler: an NMI ------------------------------------------------------------- */

/* With the counts of its group, unless the CPU was just at work on them. */
static noinline void trace_overflow(struct my_perf_event *event, bool busy,
				    struct pt_regs *regs)
{
	const struct my_event_set *set = event->set;
	u64 counts[MY_EVENTS_MAX], left, now;
	unsigned int nr = 0;

	for (left = busy ? 0 : my_period_of(event)->group; left; left &= left - 1, nr++) {
		unsigned int i = __ffs64(left);
		const struct my_hw_perf_event *hw = &set->event[i].hw;

		counts[nr] = set->event[i].count;
		if (set->active & BIT_ULL(i) && !set->cpu->pmu.ops->peek(hw, &now))
			counts[nr] += my_pmu_delta(hw->prev_count, now, hw->cntval_bits);
	}
	trace_my_pmu_overflow(event->attr.name, event->hw.idx, event->attr.period, regs,
			      my_pmu_nmi_now(), counts, nr);
}

NOKPROBE_SYMBOL(trace_overflow);

static __always_inline void write_sample(const struct my_event_set *set,
					 struct my_perf_event *event,
					 struct my_period *period, bool busy,
					 struct pt_regs *regs)
{
	local_dec(&period->owed);
	period->samples++;
	if (unlikely(set->overflow))
		set->overflow(event, busy, regs);
	else if (trace_my_pmu_overflow_enabled())
		trace_overflow(event, busy, regs);
}

/* If its counter cannot be read or written, who looks at it next finds the overflow. */
static __always_inline void add_overflow(const struct my_pmu_ops *ops,
					 struct my_perf_event *event,
					 struct my_period *period)
{
	struct my_hw_perf_event *hw = &event->hw;
	u64 now, delta, left = period->left, overflows;

	if (ops->peek(hw, &now))
		return;
	delta = my_pmu_delta(hw->prev_count, now, hw->cntval_bits);
	overflows = my_period_step(&left, event->attr.period, delta);
	if (!overflows || my_pmi_reload(ops, event, left))
		return;
	period->left = left;
	period->lost += overflows - 1;
	local_inc(&period->owed);
	accumulate(event, delta, hw->prev_count, hw->prev_time);
}

/* INT goes, EN stays: the count is right all the same. */
static noinline void throttle(struct my_pmu_cpu *cpu, u64 counters)
{
	struct my_perf_event *event;
	struct my_period *period;

	for (counters &= cpu->interrupts; counters; counters &= counters - 1) {
		event = cpu->interrupting[__ffs64(counters)];
		period = my_period_of(event);
		if (cpu->pmu.ops->interrupt(&event->hw, false))
			continue;
		cpu->interrupts &= ~BIT_ULL(event->hw.idx);
		period->throttled = true;
		period->throttles++;
		irq_work_queue(&event->set->restart.work);
	}
}

NOKPROBE_SYMBOL(throttle);

/* Not while registers that counters share may be half written; the next PMI is soon. */
static noinline void end_storm(struct my_pmu_cpu *cpu, u64 counters)
{
	if (cpu->working || cpu->starting)
		return;
	throttle(cpu, counters);
	/* One more is one too many; but until then there is no storm. */
	cpu->storm.nr = PMIS_MAX;
}

NOKPROBE_SYMBOL(end_storm);

/* @counters have overflowed. */
static __always_inline bool is_storm(struct my_pmu_cpu *cpu, u64 began, u64 counters,
				     struct pt_regs *regs)
{
	unsigned long ip = instruction_pointer(regs), sp = kernel_stack_pointer(regs);
	struct my_pmi_storm *storm = &cpu->storm;
	u64 took = my_pmu_fast_ticks() - began, tick = my_pmu_tick_ticks();

	if (began - storm->since > tick &&
	    !(ip == storm->ip && sp == storm->sp && counters & cpu->may_stand))
		*storm = (struct my_pmi_storm) { .since = began, .least = took };
	storm->ip = ip;
	storm->sp = sp;
	storm->nr++;
	storm->least = min(storm->least, took);
	return storm->nr > PMIS_MAX ||
	       (storm->nr >= STORM_LEAST && storm->nr * storm->least > tick / STORM_SHARE);
}

/*
 * Does somebody else write this counter when he works on the set?  In a storm, too, which
 * end_storm() cannot end while the CPU works on another set, or starts counters: a counter that
 * is left alone does not overflow again soon.
 */
static bool is_busy(const struct my_pmu_cpu *cpu, const struct my_event_set *set)
{
	return cpu->working == set || cpu->storm.nr > PMIS_MAX;
}

NOKPROBE_SYMBOL(is_busy);

/* A counter that was stopped after it had overflowed: its PMI was on its way. */
static noinline int claim_late(struct my_pmu_cpu *cpu)
{
	u64 until = cpu->late_until;

	if (!until)
		return NMI_DONE;
	if (my_pmu_nmi_now() > until) {
		WRITE_ONCE(cpu->late_until, 0);
		return NMI_DONE;
	}
	/* There may be more of them. */
	if (!cpu->pmu.ops->late_pmis)
		WRITE_ONCE(cpu->late_until, 0);
	cpu->pmu.ops->pmi_late(&cpu->state);
	return NMI_HANDLED;
}

NOKPROBE_SYMBOL(claim_late);

/* Returns how many overflows are ours: Linux expects one NMI for each. */
static int handle_nmi(unsigned int cmd, struct pt_regs *regs)
{
	struct my_pmu_cpu *cpu = this_cpu_ptr(&my_pmu_cpus);
	const struct my_pmu_ops *ops = cpu->pmu.ops;
	u64 began, overflowed = 0, left, seen = 0;
	unsigned int rounds = 0;
	int handled = 0;

	/* A late one may have frozen the counters, too. */
	if (cpu->interrupts || cpu->late_until)
		overflowed = ops->pmi_enter(&cpu->state, cpu->interrupts);
	if (!overflowed)
		return claim_late(cpu);
	began = my_pmu_fast_ticks();
	do {
		seen |= overflowed;
		for (left = overflowed; left; left &= left - 1) {
			struct my_perf_event *event = cpu->interrupting[__ffs64(left)];
			struct my_period *period = my_period_of(event);
			struct my_event_set *set = event->set;
			bool at_work = cpu->working || cpu->starting;

			/* It stands still: its overflow bit is from before. */
			if (unlikely(at_work) && left & -left & cpu->arming)
				continue;
			handled++;
			set->came |= left & -left;
			if (unlikely(at_work) && is_busy(cpu, set)) {
				write_sample(set, event, period, true, regs);
				/* If it is another set, who finds the overflow? */
				if (cpu->working != set)
					irq_work_queue(&set->restart.work);
				continue;
			}
			add_overflow(ops, event, period);
			while (local_read(&period->owed) > 0)
				write_sample(set, event, period, false, regs);
		}
		overflowed = ++rounds < ROUNDS_MAX ?
			     ops->pmi_again(&cpu->state, cpu->interrupts) : 0;
	} while (overflowed);
	if (is_storm(cpu, began, seen, regs) || rounds == ROUNDS_MAX)
		end_storm(cpu, seen);
	ops->pmi_exit(&cpu->state);
	/* Another one may be on its way: of an overflow that was handled with these. */
	if (ops->late_pmis && handled)
		WRITE_ONCE(cpu->late_until, my_pmu_nmi_now() + LATE_NS);
	return handled ?: claim_late(cpu);
}

NOKPROBE_SYMBOL(handle_nmi);

/* --- who has it ------------------------------------------------------------------------ */

static DEFINE_MUTEX(users_lock);	/* taken in a hotplug callback, too */
static unsigned int users;

/**
 * my_pmi_get() - from now on PMIs are handled, on any CPU
 * @why: if refused, the reason
 *
 * Context: task; sleeps.  Until my_pmi_put(); several may have it.
 * Return: 0; -ENODEV if there is no local APIC; or what register_nmi_handler() says.
 */
int my_pmi_get(struct my_pmu_why *why)
{
	int err = 0;

	if (!hw_has_apic())
		return my_refuse(why, -ENODEV,
				 "a period needs " HW_PERIODS_NEED);
	mutex_lock(&users_lock);
	if (!users)
		err = hw_take_nmis(handle_nmi);
	if (err)
		my_refuse(why, err, "no handler of NMIs can be registered (error %d)", err);
	else
		users++;
	mutex_unlock(&users_lock);
	return err;
}

static void await_late(const struct my_pmu_cpu *cpu)
{
	while (READ_ONCE(cpu->late_until) > my_pmu_now())
		my_pmu_sleep_ms();
}

/**
 * my_pmi_put() - the end of my_pmi_get()
 *
 * Context: task; sleeps.
 */
void my_pmi_put(void)
{
	int cpu;

	mutex_lock(&users_lock);
	if (!--users) {
		/* Without us Linux would report one that is still on its way. */
		for_each_online_cpu(cpu)
			await_late(my_pmu_cpu_of(cpu));
		hw_release_nmis();
	}
	mutex_unlock(&users_lock);
}

/**
 * my_pmi_begin() - from now on counters of a CPU may interrupt
 * @cpu: the CPU
 * @why: if refused, the reason
 *
 * Context: the CPU, interrupts off, between my_pmi_get() and my_pmi_put().  Until
 * my_pmi_end(); several may have it.
 * Return: 0, or -EOPNOTSUPP if the CPU cannot freeze its counters.
 */
int my_pmi_begin(struct my_pmu_cpu *cpu, struct my_pmu_why *why)
{
	int err = 0;

	if (!cpu->pmi_users)
		err = cpu->pmu.ops->pmi_take(&cpu->pmu, &cpu->state, my_pmi_freeze);
	if (err)
		return my_refuse(why, err,
				 "pmi=v4: the counters do not freeze at an overflow: that needs version 4, IA32_PERF_CAPABILITIES, and bit 12 of IA32_DEBUGCTL; pmi=v3 needs none of them");
	cpu->pmi_users++;
	return 0;
}

/**
 * my_pmi_end() - the end of my_pmi_begin()
 * @cpu: the CPU
 *
 * Context: the CPU, interrupts off; the counters of who had begun do not interrupt.
 * Return: 0, or -EIO if a register faulted.
 */
int my_pmi_end(struct my_pmu_cpu *cpu)
{
	return --cpu->pmi_users ? 0 : cpu->pmu.ops->pmi_put(&cpu->pmu, &cpu->state);
}

/* --- events on their CPU ----------------------------------------------------------------- */

/**
 * my_pmi_watch() - from now on the overflows of an event are samples
 * @event: the event, which has a period
 *
 * Context: the event's CPU, interrupts off, its counter stands still.
 */
void my_pmi_watch(struct my_perf_event *event)
{
	struct my_pmu_cpu *cpu = event->set->cpu;

	cpu->interrupting[event->hw.idx] = event;
	my_pmi_note_period(event);
	cpu->arming |= BIT_ULL(event->hw.idx);
	barrier();
	cpu->interrupts |= BIT_ULL(event->hw.idx);
}

/* Their PMI does not come any more. */
static void lose_owed(struct my_period *period)
{
	long owed = max(local_read(&period->owed), 0L);

	period->lost += owed;
	local_sub(owed, &period->owed);
}

/**
 * my_pmi_forget() - from now on they are not
 * @event: the event, which has a period
 * @overflowed: counters that have overflowed, and whose PMI may be late
 *
 * Context: as my_pmi_watch().
 */
void my_pmi_forget(struct my_perf_event *event, u64 overflowed)
{
	struct my_period *period = my_period_of(event);
	struct my_pmu_cpu *cpu = event->set->cpu;
	u64 counter = BIT_ULL(event->hw.idx);

	/* Unless it has come behind the stop, and was left to who works on the set. */
	if (cpu->interrupts & overflowed & ~READ_ONCE(event->set->came) & counter)
		cpu->late_until = my_pmu_now() + LATE_NS;
	cpu->interrupts &= ~counter;
	cpu->arming &= ~counter;
	period->throttled = false;
	lose_owed(period);
	local_set(&period->owed, 0);
}

/**
 * my_pmi_rearm() - PMIs have not come: let the next ones come
 * @cpu: the CPU
 * @counters: those that have overflowed
 *
 * Context: as my_pmi_watch().
 * Return: 0, or -EIO if a register faulted.
 */
int my_pmi_rearm(struct my_pmu_cpu *cpu, u64 counters)
{
	u64 left;

	for (left = counters; left; left &= left - 1)
		lose_owed(my_period_of(cpu->interrupting[__ffs64(left)]));
	/* Unless it is only later than any that is known. */
	cpu->late_until = my_pmu_now() + LATE_NS;
	return cpu->pmu.ops->pmi_rearm(&cpu->state, counters);
}

/**
 * my_pmi_throttle() - for about a tick of the kernel no event interrupts
 * @cpu: the CPU
 *
 * What overflows meanwhile is counted, and has no sample.
 *
 * Context: the CPU, interrupts off, not in an NMI; no register is half written.
 * Return: false if there was none that did, or that could be throttled.
 */
bool my_pmi_throttle(struct my_pmu_cpu *cpu)
{
	u64 before = cpu->interrupts;

	if (!before)
		return false;
	/* One may overflow just before it is throttled. */
	WRITE_ONCE(cpu->late_until, my_pmu_now() + LATE_NS);
	barrier();
	throttle(cpu, before);
	return cpu->interrupts != before;
}

/**
 * my_pmi_unthrottle() - an event may interrupt again
 * @event: the event, which is throttled
 *
 * Context: as my_pmi_watch().
 * Return: 0, or -EIO if a register faulted.
 */
int my_pmi_unthrottle(struct my_perf_event *event)
{
	int err = event->set->cpu->pmu.ops->interrupt(&event->hw, true);

	if (err)
		return err;
	my_period_of(event)->throttled = false;
	my_pmi_watch(event);
	return 0;
}

/* --- after a storm -------------------------------------------------------------- */

static enum hrtimer_restart restart_expired(struct hrtimer *timer)
{
	struct my_restart *restart = container_of(timer, struct my_restart, timer);

	restart->expired(restart);
	return HRTIMER_NORESTART;
}

/* In the interrupt that follows the NMI, on its CPU. */
static void rest(struct irq_work *work)
{
	struct my_restart *restart = container_of(work, struct my_restart, work);
	struct my_event_set *set = container_of(restart, struct my_event_set, restart);
	u64 left;

	for (left = set->periods; left; left &= left - 1) {
		if (set->period[__ffs64(left)].throttled)
			pr_warn_ratelimited("cpu%d: '%s': its interrupts are too many, more than a quarter of the time, or they disturbed a self-test: none for a tick, its samples are lost; a longer period helps\n",
					    set->cpu->cpu,
					    set->event[__ffs64(left)].attr.name);
	}
	hrtimer_start(&restart->timer, TICK_NSEC, HRTIMER_MODE_REL_PINNED_HARD);
}

/**
 * my_restart_init() - before an event of a set may be throttled
 * @restart: the set's
 * @expired: called on its CPU with interrupts off, a tick after events were throttled
 *
 * Context: task.
 */
void my_restart_init(struct my_restart *restart,
		     void (*expired)(struct my_restart *restart))
{
	restart->expired = expired;
	restart->work = IRQ_WORK_INIT_HARD(rest);
	hrtimer_setup(&restart->timer, restart_expired, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_PINNED_HARD);
}

/**
 * my_restart_cancel() - @expired is not called any more
 * @restart: the set's; no event of it can be throttled any more
 *
 * Context: task; sleeps.
 */
void my_restart_cancel(struct my_restart *restart)
{
	irq_work_sync(&restart->work);
	hrtimer_cancel(&restart->timer);
}
