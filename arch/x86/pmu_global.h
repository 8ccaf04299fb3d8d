/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One register starts and stops all counters, and another one has their overflow bits.  In
 * Intel's PMUs from version 2 on these are IA32_PERF_GLOBAL_CTRL and IA32_PERF_GLOBAL_STATUS.
 * AMD's PerfMonV2 has the same registers at other addresses.
 * Back ends include this header, and have the rest of their PMUs themselves.
 *
 * SDM volume 3, "Architectural performance monitoring version 2" and "version 4"; AMD64
 * Architecture Programmer's Manual volume 2, "Performance Monitoring Counters".
 *
 * All of it acts on the CPU it runs on, with interrupts off.  It is inlined with the numbers
 * of the registers, because the CPU that is measured loses each instruction.
 */
#ifndef MY_PMU_GLOBAL_H
#define MY_PMU_GLOBAL_H

#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/types.h>
#include <asm/msr-index.h>
#include <asm/perf_event.h>

#include "pmu_hw.h"
#include "pmu_ops.h"

static const struct my_pmu_others my_firmware = {
	.key = "firmware",
	.label = "the firmware's",
	.name = "its firmware",
	.in_use = "and not by Linux: its firmware or microcode (TSX) uses it",
};

/**
 * struct my_global - the registers
 * @ctrl: of each counter whether it may count
 * @status: of each counter whether it has overflowed
 * @clear: where a 1 is written for what is to be cleared in @status
 */
struct my_global {
	u32 ctrl;
	u32 status;
	u32 clear;
};

/**
 * struct my_global_state - what is kept of one CPU
 * @saved_ctrl: the control before us, by counter
 * @saved_status: the status before us
 * @touched: counters that were stopped since they were saved
 * @others: the control at the last stop, without the counters stopped
 * @ctrl: the control as it was last written
 * @pmi: of interrupts: what IA32_DEBUGCTL and the local APIC's entry held before us; whether
 *	the entry is ours now, whether an overflow freezes all counters, and whether that is
 *	because we have asked for it; and in an NMI, what the control and the status held, and
 *	whether the counters had been frozen
 */
struct my_global_state {
	u64 saved_ctrl;
	u64 saved_status;
	u64 touched;
	u64 others;
	u64 ctrl;
	struct my_global_pmi {
		u64 debugctl;
		u64 ctrl;
		u64 status;
		u32 lvtpc;
		bool taken;
		bool freeze;
		bool asked;
		bool frozen;
	} pmi;
};

/* --- save, stop, start, restore ---------------------------------------------------- */

static __always_inline int my_global_save(const struct my_global *g, struct my_global_state *s,
					  u64 counters)
{
	u64 ctrl, status;
	int err;

	err = hw_rdmsr(g->ctrl, &ctrl);
	if (err)
		return err;
	err = hw_rdmsr(g->status, &status);
	if (err)
		return err;
	s->saved_ctrl = (s->saved_ctrl & ~counters) | (ctrl & counters);
	s->saved_status = (s->saved_status & ~counters) | (status & counters);
	return 0;
}

/*
 * Bits of others are kept as they are now, not as they were when we saved; nor as they
 * were at the stop before, which may have been that of another event set.  If they cannot
 * be read, they are as last written: my_global_start() writes them after a failed stop, too.
 */
static __always_inline int my_global_stop(const struct my_global *g, struct my_global_state *s,
					  u64 counters, struct my_pmu_stopped *stopped)
{
	u64 ctrl, status;
	int err;

	stopped->still = true;
	err = hw_peek_msr(g->ctrl, &ctrl);
	s->others = (err ? s->ctrl : ctrl) & ~counters;
	if (err)
		return err;
	err = hw_fast_wrmsr(g->ctrl, s->others, s->others >> 32);
	if (err)
		return err;
	err = hw_peek_msr(g->status, &status);
	if (err) {
		hw_wrmsr(g->ctrl, ctrl);
		return err;
	}
	s->touched |= counters;
	s->ctrl = s->others;
	/* Frozen they only seem to count, unless we have asked for that. */
	stopped->running = status & GLOBAL_STATUS_COUNTERS_FROZEN && !s->pmi.freeze ?
			   0 : ctrl & counters;
	stopped->enabled = ctrl;
	stopped->overflowed = status & counters;
	return 0;
}

/* Overflow bits are cleared before: a counter that is started may be about to wrap. */
static __always_inline int my_global_start(const struct my_global *g, struct my_global_state *s,
					   u64 counters, u64 ack, bool ack_running)
{
	int first = 0, err;

	s->ctrl = s->others | counters;
	/* Who has stopped a counter that has frozen all of them handles no PMI of it. */
	if (ack && s->pmi.freeze)
		ack |= GLOBAL_STATUS_COUNTERS_FROZEN;
	if (ack && !ack_running)
		first = hw_wrmsr(g->clear, ack);
	err = hw_wrmsr(g->ctrl, s->ctrl);
	first = first ?: err;
	if (ack && ack_running) {
		err = hw_wrmsr(g->clear, ack);
		first = first ?: err;
	}
	return first;
}

/*
 * As nearly always there is nothing to clear; or else -EAGAIN: it takes my_global_start().  If
 * the control cannot be read, the bits of others are those of the last stop.
 */
static __always_inline int my_global_start_beside(const struct my_global *g,
						  struct my_global_state *s, u64 ours,
						  u64 counters, u64 ack)
{
	u64 ctrl;
	int err;

	err = hw_peek_msr(g->ctrl, &ctrl);
	if (!err)
		s->others = ctrl & ~ours;
	if (ctrl & ours)	/* 0 if it faulted */
		return 1;
	if (ack)
		return -EAGAIN;
	s->ctrl = s->others | counters;
	return hw_fast_wrmsr(g->ctrl, s->ctrl, s->ctrl >> 32);
}

/*
 * A counter that wraps sets its status bit, with an overflow handler or without.
 * Its next user must not take our overflow for its own.  That is cleared last, when
 * our counters have stopped, and the control may be not 0, see @ack_running of
 * my_global_start().  If the control cannot be read, what the last stop saw is the best that
 * is known of the bits of others.
 */
static __always_inline int my_global_restore(const struct my_global *g,
					     struct my_global_state *s, u64 counters)
{
	u64 before, ctrl, status, ours;
	int first, err;

	first = hw_peek_msr(g->ctrl, &before);
	ctrl = (first ? s->others : before) & ~counters;
	ctrl |= s->saved_ctrl & counters;
	if (first || ctrl != before) {
		err = hw_wrmsr(g->ctrl, ctrl);
		first = first ?: err;
	}
	s->ctrl = ctrl;
	ours = s->touched & counters;
	s->touched &= ~counters;
	if (!ours)
		return first;
	err = hw_rdmsr(g->status, &status);
	ours &= status & ~s->saved_status;
	if (ours && s->pmi.freeze)
		ours |= status & GLOBAL_STATUS_COUNTERS_FROZEN;
	if (!err && ours)
		err = hw_wrmsr(g->clear, ours);
	return first ?: err;
}

/* --- interrupts ------------------------------------------------------------------ */

/*
 * A hypervisor may refuse the bit that freezes, or ignore it.  If somebody else has set it,
 * counters freeze whether we want it or not.  @has_bit: the PMU has it; @may_ask: and it may be
 * set.
 */
static __always_inline int my_global_pmi_take(struct my_global_state *s, bool has_bit,
					      bool may_ask, bool freeze)
{
	struct my_global_pmi *pmi = &s->pmi;
	u64 seen = 0;

	pmi->asked = freeze;
	if (freeze) {
		if (!has_bit || !may_ask ||
		    hw_rdmsr(MSR_IA32_DEBUGCTLMSR, &pmi->debugctl) ||
		    hw_wrmsr(MSR_IA32_DEBUGCTLMSR,
			     pmi->debugctl | DEBUGCTLMSR_FREEZE_PERFMON_ON_PMI))
			return -EOPNOTSUPP;
		if (hw_rdmsr(MSR_IA32_DEBUGCTLMSR, &seen) ||
		    !(seen & DEBUGCTLMSR_FREEZE_PERFMON_ON_PMI)) {
			hw_wrmsr(MSR_IA32_DEBUGCTLMSR, pmi->debugctl);
			return -EOPNOTSUPP;
		}
	} else if (has_bit && !hw_rdmsr(MSR_IA32_DEBUGCTLMSR, &pmi->debugctl)) {
		freeze = pmi->debugctl & DEBUGCTLMSR_FREEZE_PERFMON_ON_PMI;
	}
	pmi->freeze = freeze;
	pmi->lvtpc = hw_read_lvtpc();
	pmi->taken = true;
	hw_write_lvtpc(HW_LVTPC_NMI);
	return 0;
}

/*
 * Other bits of IA32_DEBUGCTL are as others have set them since.  If the last overflow has
 * frozen the counters its PMI is late, or was lost, and nobody else would thaw them.
 */
static __always_inline int my_global_pmi_put(const struct my_global *g,
					     struct my_global_state *s)
{
	struct my_global_pmi *pmi = &s->pmi;
	u64 now, status;
	int first = 0, err;

	pmi->taken = false;
	hw_write_lvtpc(pmi->lvtpc);
	if (!pmi->freeze)
		return 0;
	pmi->freeze = false;
	if (pmi->asked)
		first = hw_rdmsr(MSR_IA32_DEBUGCTLMSR, &now);
	if (pmi->asked && !first) {
		now &= ~DEBUGCTLMSR_FREEZE_PERFMON_ON_PMI;
		now |= pmi->debugctl & DEBUGCTLMSR_FREEZE_PERFMON_ON_PMI;
		first = hw_wrmsr(MSR_IA32_DEBUGCTLMSR, now);
	}
	err = hw_rdmsr(g->status, &status);
	status &= GLOBAL_STATUS_COUNTERS_FROZEN;
	if (!err && status)
		err = hw_wrmsr(g->clear, status);
	return first ?: err;
}

/*
 * Each order in which a PMI can be handled is one line of this: what is read (R) and
 * written (W) for n overflows, where C is a counter.
 *
 *	not frozen	R STATUS, R CTRL, W CTRL = 0, W OVF_CTRL, n (R C, W C), R STATUS,
 *			W LVTPC, W CTRL
 *	frozen		R STATUS, n (R C, W C), W LVTPC, W STATUS_RESET
 *
 * What is not frozen is stopped by us, as Linux does since it can; what IA32_PERF_GLOBAL_CTRL
 * holds is read, because the NMI may be in the middle of my_global_stop() or a capture.  The
 * second look at the status finds what overflowed before the stop took effect.
 *
 * Frozen counters go on with the last write, IA32_PERF_GLOBAL_STATUS_RESET (Linux had this
 * order from 4.19 to 5.10, for version 4).  LVTPC comes before: a PMI that comes while it is
 * masked is lost.
 *
 * Bits of others are left to them.  In an NMI nothing is left to do about an access that
 * faults.
 */
static __always_inline u64 my_global_rdmsr_nmi(u32 msr)
{
	u32 low, high;

	return hw_fast_rdmsr(msr, &low, &high) ? 0 : (u64)high << 32 | low;
}

static __always_inline u64 my_global_pmi_enter(const struct my_global *g,
					       struct my_global_state *s, u64 counters)
{
	struct my_global_pmi *pmi = &s->pmi;
	u64 status = my_global_rdmsr_nmi(g->status), ours = status & counters;
	u64 freeze = pmi->freeze ? status & GLOBAL_STATUS_COUNTERS_FROZEN : 0;

	if (!ours) {
		/* Its counter was stopped meanwhile; nobody else would end the freeze. */
		if (freeze)
			hw_fast_wrmsr(g->clear, freeze, freeze >> 32);
		return 0;
	}
	pmi->status = ours | freeze;
	pmi->frozen = freeze;
	if (pmi->frozen)
		return ours;
	pmi->ctrl = my_global_rdmsr_nmi(g->ctrl);
	hw_fast_wrmsr(g->ctrl, 0, 0);
	hw_fast_wrmsr(g->clear, ours, ours >> 32);
	return ours;
}

static __always_inline u64 my_global_pmi_again(const struct my_global *g,
					       struct my_global_state *s, u64 counters)
{
	struct my_global_pmi *pmi = &s->pmi;
	u64 status, ack;

	if (pmi->frozen)
		return 0;
	status = my_global_rdmsr_nmi(g->status);
	/* What overflowed just before the stop may have frozen all of them. */
	ack = status & (counters | (pmi->freeze ? GLOBAL_STATUS_COUNTERS_FROZEN : 0));
	if (ack)
		hw_fast_wrmsr(g->clear, ack, ack >> 32);
	return status & counters;
}

static __always_inline void my_global_pmi_exit(const struct my_global *g,
					       const struct my_global_state *s)
{
	const struct my_global_pmi *pmi = &s->pmi;

	hw_write_lvtpc(HW_LVTPC_NMI);
	if (pmi->frozen)
		hw_fast_wrmsr(g->clear, pmi->status, pmi->status >> 32);
	else
		hw_fast_wrmsr(g->ctrl, pmi->ctrl, pmi->ctrl >> 32);
}

/* Perhaps it was put back meanwhile to what it had been; what was delivered has masked it. */
static __always_inline void my_global_pmi_late(const struct my_global_state *s)
{
	const struct my_global_pmi *pmi = &s->pmi;

	hw_write_lvtpc(pmi->taken ? HW_LVTPC_NMI : pmi->lvtpc);
}

static __always_inline int my_global_pmi_rearm(const struct my_global *g,
					       struct my_global_state *s, u64 counters)
{
	struct my_global_pmi *pmi = &s->pmi;

	hw_write_lvtpc(HW_LVTPC_NMI);
	return hw_wrmsr(g->clear, counters | (pmi->freeze ? GLOBAL_STATUS_COUNTERS_FROZEN : 0));
}

/* --- capture --------------------------------------------------------------------- */

/* Generic counters are captured before this place, fixed ones from it on. */
#define MIDDLE		32

/* As many as IA32_FIXED_CTR_CTRL has fields for. */
#define MY_GLOBAL_MAX_FIXED	16

union my_register {
	u64 val;
	struct {
		u32 low;
		u32 high;
	};
};

/**
 * struct my_global_plan - what struct my_pmu_plan has for my_global_capture()
 * @ctrl: what the control must hold, all of it
 * @stopped: the same while these counters are stopped
 * @quiet: bits of the status that must not be set
 * @fixed_mask: fields of IA32_FIXED_CTR_CTRL
 * @fixed_config: what they must hold
 * @first: place of the first counter from the middle: not more than 0
 * @end: place behind the last one, likewise: not less than 0
 * @freeze: stop the counters while they are read
 * @generic: of each generic counter its RDPMC index, and the MSR of its event select
 * @config: and what that must hold
 * @fixed: of each fixed counter its RDPMC index
 */
struct my_global_plan {
	union my_register ctrl;
	union my_register stopped;
	union my_register quiet;
	union my_register fixed_mask;
	union my_register fixed_config;
	long first;
	long end;
	bool freeze;
	struct {
		u32 rdpmc;
		u32 select;
	} generic[MIDDLE];
	union my_register config[MIDDLE];
	u32 fixed[MY_GLOBAL_MAX_FIXED];
};

static_assert(sizeof(struct my_global_plan) <= sizeof_field(struct my_pmu_plan, word));
static_assert(MIDDLE + MY_GLOBAL_MAX_FIXED <= MY_CAPTURE_MAX);

/*
 * An extra register is looked at like an event select, at a place of its own; so its
 * counter is read twice, and what the second time shows more is accounted for, too.
 */
static inline bool my_global_plan(const struct my_global_state *s,
				  const struct my_hw_perf_event *const hw[], unsigned int nr,
				  u64 quiet, bool freeze, struct my_pmu_plan *plan)
{
	struct my_global_plan *p = (struct my_global_plan *)plan->word;
	unsigned int i, places = 0;
	u64 ours = 0;

	for (i = 0; i < nr; i++)
		places += my_pmc_is_fixed(hw[i]->idx) ? 0 : 1 + !!hw[i]->extra_msr;
	if (places > MIDDLE)
		return false;
	*p = (struct my_global_plan) {
		.quiet.val = quiet | GLOBAL_STATUS_COUNTERS_FROZEN,
		.freeze = freeze,
	};
	for (i = 0; i < nr; i++) {
		ours |= BIT_ULL(hw[i]->idx);
		if (my_pmc_is_fixed(hw[i]->idx)) {
			p->fixed[p->end] = hw[i]->event_base_rdpmc;
			p->fixed_mask.val |= hw[i]->config_mask;
			p->fixed_config.val |= hw[i]->config;
			plan->event[MIDDLE + p->end++] = i;
			continue;
		}
		p->first--;
		p->generic[MIDDLE + p->first].rdpmc = hw[i]->event_base_rdpmc;
		p->generic[MIDDLE + p->first].select = hw[i]->config_base;
		p->config[MIDDLE + p->first].val = hw[i]->config;
		plan->event[MIDDLE + p->first] = i;
		if (likely(!hw[i]->extra_msr))
			continue;
		p->first--;
		p->generic[MIDDLE + p->first].rdpmc = hw[i]->event_base_rdpmc;
		p->generic[MIDDLE + p->first].select = hw[i]->extra_msr;
		p->config[MIDDLE + p->first].val = hw[i]->extra_config;
		plan->event[MIDDLE + p->first] = i;
	}
	plan->first = MIDDLE + p->first;
	plan->end = MIDDLE + p->end;
	p->ctrl.val = s->ctrl;
	p->stopped.val = s->ctrl & ~ours;
	return true;
}

/*
 * The CPU that is measured loses each instruction that is executed here.  What others can
 * write is seen in the control, each event select and extra register, the fixed counters'
 * control (@fixed_ctrl, or 0 if there are none) and the status; CFG_B and CFG_C of Intel's
 * version 6 are not looked at.  With gcc 12 a generic counter takes 12 instructions, a fixed
 * one 7, the rest some 40; `make bench` measures it.
 *
 * The status comes after the counters: if it says that none has wrapped, none had
 * when it was read, whether they stood still or not.
 *
 * After a fault while they stand still they are started again.  If it is that write
 * which faults they stay stopped until somebody reads them by my_global_stop().
 */
static __always_inline int my_global_capture(const struct my_global *g, u32 fixed_ctrl,
					     const struct my_pmu_plan *plan,
					     struct my_pmu_capture *capture)
{
	const struct my_global_plan *p = (const struct my_global_plan *)plan->word;
	union my_register *value = (union my_register *)&capture->value[MIDDLE];
	u32 low, high, differs;
	int err = -EIO;
	long i;

	if (hw_fast_rdmsr(g->ctrl, &low, &high))
		return -EIO;
	differs = (low ^ p->ctrl.low) | (high ^ p->ctrl.high);
	if (differs)
		return 1;
	if (likely(p->freeze) && hw_fast_wrmsr(g->ctrl, p->stopped.low, p->stopped.high))
		return -EIO;
	capture->ticks = hw_fast_ticks();
	for (i = p->first; i; i++) {
		if (hw_fast_rdpmc(p->generic[MIDDLE + i].rdpmc, &low, &high))
			goto start;
		value[i].low = low;
		value[i].high = high;
		if (hw_fast_rdmsr(p->generic[MIDDLE + i].select, &low, &high))
			goto start;
		differs |= low ^ p->config[MIDDLE + i].low;
		differs |= high ^ p->config[MIDDLE + i].high;
	}
	if (fixed_ctrl && likely(i != p->end)) {
		do {
			if (hw_fast_rdpmc(p->fixed[i], &low, &high))
				goto start;
			value[i].low = low;
			value[i].high = high;
		} while (++i != p->end);
		if (hw_fast_rdmsr(fixed_ctrl, &low, &high))
			goto start;
		differs |= (low ^ p->fixed_config.low) & p->fixed_mask.low;
		differs |= (high ^ p->fixed_config.high) & p->fixed_mask.high;
	}
	if (hw_fast_rdmsr(g->status, &low, &high))
		goto start;
	differs |= (low & p->quiet.low) | (high & p->quiet.high);
	err = !!differs;
start:
	if (p->freeze && hw_fast_wrmsr(g->ctrl, p->ctrl.low, p->ctrl.high))
		return -EIO;
	return err;
}

/* --- event selects, with or without such registers --------------------------------- */

/* struct my_pmu_ops.peek */
static inline int my_select_peek(const struct my_hw_perf_event *hw, u64 *val)
{
	u32 low, high;

	if (hw_fast_rdpmc(hw->event_base_rdpmc, &low, &high))
		return -EIO;
	*val = (u64)high << 32 | low;
	return 0;
}

/* Those of @counters, which are generic, whose event select has EN are added to @in_use. */
static inline int my_select_find_in_use(const struct my_x86_pmu *pmu, u64 counters, u64 *in_use)
{
	u64 left, val;
	int err, idx;

	for (left = counters; left; left &= left - 1) {
		idx = __ffs64(left);
		err = hw_rdmsr(my_pmu_eventsel_msr(pmu, idx), &val);
		if (err)
			return err;
		if (val & ARCH_PERFMON_EVENTSEL_ENABLE)
			*in_use |= BIT_ULL(idx);
	}
	return 0;
}

/* Notes them; those that are in use and interrupt are added to @snapshot->interrupts. */
static inline int my_select_snapshot(const struct my_x86_pmu *pmu, u64 counters, u64 *count,
				     u64 *select, struct my_pmu_snapshot *snapshot)
{
	int err = 0, idx;
	u64 left;

	for (left = counters; left && !err; left &= left - 1) {
		idx = __ffs64(left);
		err = hw_rdmsr(my_pmu_counter_msr(pmu, idx), &count[idx]) ?:
		      hw_rdmsr(my_pmu_eventsel_msr(pmu, idx), &select[idx]);
		if (select[idx] & ARCH_PERFMON_EVENTSEL_INT)
			snapshot->interrupts |= snapshot->in_use & BIT_ULL(idx);
	}
	return err;
}

/* --- cross-calls --------------------------------------------------------------------- */

/* The function of a cross-call; @capture is inlined. */
static __always_inline void
my_capture_requested(struct my_pmu_request *request,
		     int (*capture)(const struct my_pmu_plan *plan,
				    struct my_pmu_capture *capture))
{
	struct my_pmu_plan *plan = request->plan;
	int err = 1;

	if (likely(plan->valid))
		err = capture(plan, &request->capture);
	if (likely(!err))
		request->capture.seq = ++plan->seq;
	else
		request->otherwise(request, err);
}

#endif
