/* SPDX-License-Identifier: GPL-2.0 */
/* How the cores of perf differ, for who registers a PMU there; as pmu_compat.h. */
#ifndef MY_PMU_COMPAT_PERF_H
#define MY_PMU_COMPAT_PERF_H

#include <linux/bits.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/hrtimer.h>
#include <linux/kmemleak.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/version.h>

/**
 * struct my_perf_lasting - what a task may point to until it ends
 * @kept: the PMU of its events
 * @idle: a PMU of perf's whose functions do nothing
 * @known: the counters that perf starts with its own, by id; 0 if it may not start all that
 *	the CPU has
 *
 * Before Linux 6.2 all PMUs of hardware share a context of a task.  It may point to the struct
 * pmu of the first event that was opened there until the task ends, and the core calls its
 * functions for events of any PMU (kernel/events/core.c: alloc_perf_context(),
 * group_sched_in()).  So events have another struct pmu than the one that is registered.  When
 * the module is unloaded that gets functions which stay.
 */
struct my_perf_lasting {
	struct pmu kept;
	struct pmu idle;
	u64 known;
};

/*
 * KVM's mediated vPMU gives all of the PMU to a guest while it runs (Linux 7.x,
 * arch/x86/kvm/pmu.c).  By this the core stops events without guests meanwhile, and refuses
 * others while there are such guests.
 */
#ifdef PERF_PMU_CAP_MEDIATED_VPMU
#define MY_PERF_CAP_GUESTS	PERF_PMU_CAP_MEDIATED_VPMU
#else
#define MY_PERF_CAP_GUESTS	0
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)

#include <asm/cpufeature.h>
#include <asm/perf_event.h>
#include <asm/processor.h>

/* A second PMU of hardware must say that it knows of the first. */
#define MY_PERF_CAP_SECOND_PMU	PERF_PMU_CAP_HETEROGENEOUS_CPUS

static inline u64 my_perf_find_known(u64 counters)
{
	struct x86_pmu_capability cap;
	u64 known;

	/* Others clear an overflow bit only while counters run. */
	if (boot_cpu_data.x86_vendor != X86_VENDOR_INTEL)
		return 0;
	perf_get_x86_pmu_capability(&cap);
	known = GENMASK_ULL(31, 0) >> (32 - cap.num_counters_gp) |
		(GENMASK_ULL(31, 0) >> (32 - cap.num_counters_fixed)) << 32;
	/* With a hole the core's write would fault. */
	return known & ~counters ? 0 : known;
}

static inline struct my_perf_lasting *my_perf_make_lasting(const struct pmu *pmu, int cpu,
							   u64 counters)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.size = sizeof(attr),
		.exclude_guest = 1,
	};
	struct my_perf_lasting *lasting;
	struct perf_event *event;

	/* It would be the context's own PMU. */
	if (per_cpu_ptr(pmu->pmu_cpu_context, cpu)->ctx.pmu == pmu ||
	    boot_cpu_has(X86_FEATURE_HYBRID_CPU))
		return ERR_PTR(-ENODEV);
	event = perf_event_create_kernel_counter(&attr, cpu, NULL, NULL, NULL);
	if (IS_ERR(event))
		return ERR_CAST(event);
	lasting = kmalloc(sizeof(*lasting), GFP_KERNEL);
	if (lasting) {
		lasting->kept = *pmu;
		lasting->idle = *event->pmu;
		lasting->known = my_perf_find_known(counters);
		lasting->kept.pmu_disable_count = alloc_percpu(int);
	}
	perf_event_release_kernel(event);
	if (lasting && lasting->kept.pmu_disable_count)
		return lasting;
	kfree(lasting);
	return ERR_PTR(-ENOMEM);
}

/* The core calls it with interrupts off. */
static inline void my_perf_leave_lasting(struct my_perf_lasting *lasting, bool used)
{
	if (!used) {
		free_percpu(lasting->kept.pmu_disable_count);
		kfree(lasting);
		return;
	}
	lasting->kept.start_txn = lasting->idle.start_txn;
	lasting->kept.commit_txn = lasting->idle.commit_txn;
	lasting->kept.cancel_txn = lasting->idle.cancel_txn;
	lasting->kept.pmu_enable = lasting->idle.pmu_enable;
	lasting->kept.pmu_disable = lasting->idle.pmu_disable;
	synchronize_rcu();
	kmemleak_not_leak(lasting);
}

static inline struct pmu *my_perf_lasting_pmu(struct my_perf_lasting *lasting, struct pmu *pmu)
{
	return &lasting->kept;
}

/*
 * Counters that start when the core has done what it does: it has stopped perf's own PMU on
 * this CPU, and will start all counters that perf knows with one write
 * (arch/x86/events/intel/core.c: __intel_pmu_enable_all()).
 */
static inline u64 my_perf_to_start(struct my_perf_lasting *lasting)
{
	const struct pmu *theirs = this_cpu_ptr(lasting->kept.pmu_cpu_context)->ctx.pmu;

	return this_cpu_read(*theirs->pmu_disable_count) ? lasting->known : 0;
}

/* Others it would stop when it starts these. */
static inline u64 my_perf_known(const struct my_perf_lasting *lasting)
{
	return lasting->known ?: ~0ULL;
}

/* The timer that rotates events is that of perf's own PMU. */
static inline void my_perf_stop_rotating(struct pmu *pmu)
{
}

#else

#define MY_PERF_CAP_SECOND_PMU	0

static inline u64 my_perf_to_start(struct my_perf_lasting *lasting)
{
	return 0;
}

static inline u64 my_perf_known(const struct my_perf_lasting *lasting)
{
	return ~0ULL;
}

static inline struct my_perf_lasting *my_perf_make_lasting(const struct pmu *pmu, int cpu,
							   u64 counters)
{
	return NULL;
}

static inline void my_perf_leave_lasting(struct my_perf_lasting *lasting, bool used)
{
}

static inline struct pmu *my_perf_lasting_pmu(struct my_perf_lasting *lasting, struct pmu *pmu)
{
	return pmu;
}

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 15, 0)
#define my_perf_cpu_context(pmu, cpu)	per_cpu_ptr((pmu)->cpu_pmu_context, cpu)
#else
#define my_perf_cpu_context(pmu, cpu)	(*per_cpu_ptr((pmu)->cpu_pmu_context, cpu))
#endif

/* After the last event the core leaves it running, in memory that is freed next. */
static inline void my_perf_stop_rotating(struct pmu *pmu)
{
	struct perf_cpu_pmu_context *context;
	int cpu;

	for_each_possible_cpu(cpu) {
		context = my_perf_cpu_context(pmu, cpu);
		if (context)
			hrtimer_cancel(&context->hrtimer);
	}
}

#endif

#endif
