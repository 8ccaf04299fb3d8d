// SPDX-License-Identifier: GPL-2.0
/*
 * The PMU of a CPU: which back end drives it, and whose its counters are.
 *
 * On x86 Linux has bitmaps of reserved counters (arch/x86/kernel/cpu/perfctr-watchdog.c), one
 * for all CPUs, which say that a register is reserved and not by whom.  A counter that
 * is not reserved there and nevertheless in use was programmed outside Linux: by the
 * firmware, most likely.  On RISC-V nothing is reserved, and a counter in use is perf's.  Both
 * are left alone.
 */
#include <linux/bitops.h>
#include <linux/errno.h>
#include <linux/percpu.h>
#include <linux/smp.h>
#include <linux/string.h>

#include "pmu_backends.h"
#include "pmu_cpu.h"
#include "pmu_hw.h"
#include "pmu_why.h"

DEFINE_PER_CPU(struct my_pmu_cpu, my_pmu_cpus);

struct request {
	struct my_pmu_cpu *cpu;
	struct my_pmu_snapshot *snapshot;
	struct my_pmu_why *why;
	int err;
};

/* @func sets the request's error, and may set its reason. */
static int call(struct my_pmu_cpu *cpu, smp_call_func_t func,
		struct my_pmu_snapshot *snapshot, struct my_pmu_why *why)
{
	struct request req = { .cpu = cpu, .snapshot = snapshot, .why = why, .err = -EIO };

	my_refuse(why, -EIO, "%s", my_pmu_failed(&cpu->pmu));
	if (smp_call_function_single(cpu->cpu, func, &req, 1))
		return my_refuse(why, -ENXIO, "CPU %d is offline", cpu->cpu);
	return req.err;
}

/*
 * Event sets that are counting go on by what is known of the PMU, also if it is probed
 * once more and that fails.  What perf writes when it is asked for events is undone by
 * my_pmu_find_firmware().
 */
static void probe_on_cpu(void *info)
{
	struct request *req = info;
	struct my_pmu_cpu *cpu = req->cpu;
	struct my_x86_pmu pmu;

	req->err = my_backend_probe(&pmu, req->why);
	if (req->err)
		return;
	/* Others may be reading what is the same as before. */
	if (memcmp(&cpu->pmu, &pmu, sizeof(pmu)))
		cpu->pmu = pmu;
	if (!(cpu->used | READ_ONCE(cpu->pooled)))
		req->err = pmu.ops->snapshot(&pmu, &cpu->state, req->snapshot);
}

/**
 * my_pmu_probe() - find out what PMU a CPU has
 * @cpu: the CPU; @cpu->pmu is filled in, unless it is refused
 * @snapshot: its registers, filled in, unless a counter belongs to an event set; or NULL
 * @why: if refused, the reason
 *
 * CPUs may differ (hybrid), so the CPU itself is asked; and the boot CPU, for @snapshot.
 *
 * Context: task, interrupts on; one cross-call, or two.  No counter is changed; on RISC-V one
 * that stands still is started for a moment.
 * Return: 0; -ENXIO if the CPU is offline; -ENODEV if it has no usable PMU; -EIO if a
 * register faults that should not.
 */
int my_pmu_probe(struct my_pmu_cpu *cpu, struct my_pmu_snapshot *snapshot,
		 struct my_pmu_why *why)
{
	struct my_pmu_cpu *boot = my_pmu_cpu_of(0);
	int err, boot_err = 0;

	/*
	 * perf has seen the boot CPU's PMU, and takes all others for the same, and fixed
	 * counters for as wide as generic ones.
	 */
	if (snapshot && cpu != boot)
		boot_err = call(boot, probe_on_cpu, snapshot, why);
	err = call(cpu, probe_on_cpu, snapshot, why);
	if (snapshot)
		snapshot->unlike = my_pmu_bits(&cpu->pmu, cpu->pmu.counters) <
				   cpu->pmu.cntval_bits ||
				   (!hw_is_hybrid() &&
				    (boot_err || memcmp(&boot->pmu, &cpu->pmu,
							sizeof(boot->pmu))));
	return err;
}

/* --- whose the counters are ------------------------------------------------------ */

/**
 * my_refuse_busy() - somebody else within Linux has the PMU
 * @why: the reason and the cure
 *
 * Context: any.
 * Return: -EBUSY.
 */
int my_refuse_busy(struct my_pmu_why *why)
{
	return my_refuse(why, -EBUSY,
			 "the PMU is in use, by perf, the NMI watchdog, or KVM for a guest with a PMU: end them; 'sysctl kernel.nmi_watchdog=0' ends the watchdog");
}

static void release_counters(const struct my_x86_pmu *pmu, u64 counters)
{
	int i;

	for (i = fls64(counters) - 1; i >= 0; i--) {
		if (!(counters & BIT_ULL(i)))
			continue;
		hw_release_perfctr(pmu->ops->perfctr_reserve + i);
		hw_release_evntsel(pmu->ops->eventsel_reserve + i);
	}
}

/**
 * my_pmu_reserve() - reserve the generic counters, against perf
 * @pmu: whose
 * @why: if refused, the reason and the cure
 *
 * perf reserves every generic counter's event select before it opens its
 * first hardware event (arch/x86/events/core.c), fixed counters or not: whoever
 * has reserved one keeps perf out.  A counter is reserved by its first address, by
 * which not even perf writes it where there is a better one.
 *
 * Context: task.  No register is touched.
 * Return: 0, or -EBUSY if one is reserved; then nothing is.
 */
int my_pmu_reserve(const struct my_x86_pmu *pmu, struct my_pmu_why *why)
{
	u64 left = my_pmu_reservable(pmu), done = 0;

	for (; left; left &= left - 1) {
		int i = __ffs64(left);

		if (!hw_reserve_evntsel(pmu->ops->eventsel_reserve + i))
			break;
		if (!hw_reserve_perfctr(pmu->ops->perfctr_reserve + i)) {
			hw_release_evntsel(pmu->ops->eventsel_reserve + i);
			break;
		}
		done |= BIT_ULL(i);
	}
	if (!left)
		return 0;
	release_counters(pmu, done);
	return my_refuse_busy(why);
}

/**
 * my_pmu_release() - give the generic counters back
 * @pmu: what my_pmu_reserve() was called with
 *
 * Context: task; after the registers have been put back.
 */
void my_pmu_release(const struct my_x86_pmu *pmu)
{
	release_counters(pmu, my_pmu_reservable(pmu));
}

/*
 * perf writes IA32_PERF_GLOBAL_CTRL when an event is created on a CPU, even one that is
 * never started; and a counter's registers when one is.
 */
static void find_firmware_on_cpu(void *info)
{
	struct request *req = info;
	struct my_pmu_cpu *cpu = req->cpu;
	u64 in_use = 0;
	int err;

	req->err = 0;
	if (cpu->pmu.ops->find_in_use)
		req->err = cpu->pmu.ops->find_in_use(&cpu->pmu, cpu->pmu.counters, &in_use);
	if (!(cpu->used | cpu->pooled)) {
		err = cpu->pmu.ops->put_back(&cpu->pmu, &cpu->state, req->snapshot, in_use);
		req->err = req->err ?: err;
	}
	/* Whoever was not there before perf was asked has come to perf meanwhile. */
	if (req->snapshot)
		in_use &= req->snapshot->in_use;
	if (!req->err)
		cpu->firmware = in_use & ~(cpu->used | cpu->pooled);
	cpu->user_rdpmc = hw_user_may_rdpmc();
}

/**
 * my_pmu_find_firmware() - find the counters that are in use outside Linux
 * @cpu: the CPU, probed before perf was asked; @cpu->firmware is filled in
 * @snapshot: what my_pmu_probe() has noted; or NULL
 * @why: if that fails, the reason
 *
 * What perf has written when it was asked for events is undone, unless a counter
 * belongs to an event set.  While my_pmu_reserve() holds, or a guard, no user within Linux is
 * left but us.  If perf has somebody else's events by now, those are left alone.
 *
 * Context: task, interrupts on; one cross-call.
 * Return: 0; -ENXIO if the CPU is offline; -EIO if a register faulted.
 */
int my_pmu_find_firmware(struct my_pmu_cpu *cpu, struct my_pmu_snapshot *snapshot,
			 struct my_pmu_why *why)
{
	return call(cpu, find_firmware_on_cpu, snapshot, why);
}
