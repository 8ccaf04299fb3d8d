/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The seam to the hardware.  Nothing else in the module executes CPUID, RDMSR,
 * WRMSR or RDPMC, reserves registers or asks perf, so a test that brings its own
 * version of this header brings its own PMU: tests/kunit/ has one.
 *
 * But for the reservations and perf all of it acts on the CPU it runs on.
 */
#ifndef MY_PMU_HW_H
#define MY_PMU_HW_H

#include <linux/device.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/kmsan-checks.h>
#include <linux/perf_event.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include <linux/types.h>
#include <asm/asm.h>
#include <asm/cpufeature.h>
#include <asm/nmi.h>
#include <asm/processor.h>

#include "pmu_capture.h"
#include "pmu_compat.h"

#ifndef CONFIG_X86_64
#error "my_pmu is for x86-64"
#endif

/* CPUID leaf and sub-leaf 0; a leaf beyond the CPU's last reads as zeros. */
static inline void hw_cpuid(u32 leaf, u32 *eax, u32 *ebx, u32 *ecx, u32 *edx)
{
	*eax = 0;
	*ebx = 0;
	*ecx = 0;
	*edx = 0;
	if (cpuid_eax(leaf & 0x80000000) >= leaf)
		cpuid_count(leaf, 0, eax, ebx, ecx, edx);
}

/*
 * Vendors whose PMU is CPUID leaf 0AH and whose event selects
 * reserve_evntsel_nmi() knows (arch/x86/kernel/cpu/perfctr-watchdog.c).
 */
static inline bool hw_has_architectural_vendor(void)
{
	switch (boot_cpu_data.x86_vendor) {
	case X86_VENDOR_INTEL:
	case X86_VENDOR_CENTAUR:
	case X86_VENDOR_ZHAOXIN:
		return true;
	default:
		return false;
	}
}

/* A Xen PV guest's MSRs are the hypervisor's, its APIC a hypercall. */
static inline bool hw_is_xen_pv(void)
{
	return boot_cpu_has(X86_FEATURE_XENPV);
}

/* The CPU's microcode may use a counter of its own accord: MSR_TSX_FORCE_ABORT. */
static inline bool hw_has_tsx_force_abort(void)
{
	return boot_cpu_has(X86_FEATURE_TSX_FORCE_ABORT);
}

/*
 * An event select, in the bitmap that perf uses, too; one for all CPUs.
 * Returns false if somebody has it.
 */
static inline bool hw_reserve_evntsel(u32 msr)
{
	return reserve_evntsel_nmi(msr);
}

static inline void hw_release_evntsel(u32 msr)
{
	release_evntsel_nmi(msr);
}

/* A counter, by its first address, likewise; of the others it knows nothing. */
static inline bool hw_reserve_perfctr(u32 msr)
{
	return reserve_perfctr_nmi(msr);
}

static inline void hw_release_perfctr(u32 msr)
{
	release_perfctr_nmi(msr);
}

/**
 * struct hw_perf_answer - how perf would count an event
 * @config: the event select, with what says how it counts
 * @extra: it would program another register for it, too
 */
struct hw_perf_answer {
	u64 config;
	bool extra;
};

/* An event of perf's that is never started: no register is touched. */
static inline struct perf_event *hw_open_perf(int cpu, u32 type, u64 config)
{
	struct perf_event_attr attr = {
		.type = type,
		.size = sizeof(attr),
		.config = config,
		.disabled = 1,
	};

	return perf_event_create_kernel_counter(&attr, cpu, NULL, NULL, NULL);
}

/* Raw events of this CPU's PMU: on hybrids PERF_TYPE_RAW is that of the P-cores. */
static inline u32 hw_raw_type(int cpu)
{
	struct perf_event *event = hw_open_perf(cpu, PERF_TYPE_HARDWARE,
						PERF_COUNT_HW_CPU_CYCLES);
	u32 type = PERF_TYPE_RAW;

	if (!IS_ERR(event)) {
		type = event->pmu->type;
		perf_event_release_kernel(event);
	}
	return type;
}

/*
 * Asks perf for an event; it sleeps.  -ENOENT or -EINVAL if the CPU does not have
 * it, -ENXIO if it needs a register that does not work, -ENODEV if the CPU is
 * offline, -EBUSY if somebody else has the PMU.
 */
static inline int hw_ask_perf(int cpu, u32 type, u64 config,
			      struct hw_perf_answer *answer)
{
	struct perf_event *event = hw_open_perf(cpu, type, config);

	if (event == ERR_PTR(-ENOENT) && type == PERF_TYPE_RAW)
		event = hw_open_perf(cpu, hw_raw_type(cpu), config);
	if (IS_ERR(event))
		return PTR_ERR(event);
	answer->config = event->hw.config;
	answer->extra = event->hw.extra_reg.reg;
	perf_event_release_kernel(event);
	return 0;
}

/* The attribute of this name that perf's PMU has in its events/; none is there twice. */
static inline struct device_attribute *
hw_find_event(const struct attribute_group **groups, struct device *dev,
	      const char *name)
{
	const struct attribute_group *group;
	int i;

	for (; groups && *groups; groups++) {
		group = *groups;
		if (!group->name || strcmp(group->name, "events"))
			continue;
		for (i = 0; group->attrs && group->attrs[i]; i++) {
			if (!strcmp(group->attrs[i]->name, name) &&
			    (!group->is_visible ||
			     0777 & group->is_visible(&dev->kobj,
						      group->attrs[i], i)))
				return container_of(group->attrs[i],
						    struct device_attribute,
						    attr);
		}
	}
	return NULL;
}

static inline int hw_show_event(const struct pmu *pmu, const char *name, char *page)
{
	struct device_attribute *attr;

	if (!pmu->dev)
		return -ENOENT;
	attr = hw_find_event(pmu->attr_groups, pmu->dev, name) ?:
	       hw_find_event(pmu->attr_update, pmu->dev, name);
	if (!attr || !attr->show)
		return -ENOENT;
	return attr->show(pmu->dev, attr, page) > 0 ? 0 : -ENOENT;
}

/*
 * What can be read in /sys/bus/event_source/devices/cpu/events/ under a name, for the
 * PMU of this CPU; it sleeps. -ENOENT if there is nothing, or as hw_ask_perf().
 */
static inline int hw_show_perf(int cpu, const char *name, char *page)
{
	struct perf_event *event = hw_open_perf(cpu, PERF_TYPE_HARDWARE,
						PERF_COUNT_HW_CPU_CYCLES);
	int err;

	if (IS_ERR(event))
		return PTR_ERR(event);
	err = hw_show_event(event->pmu, name, page);
	perf_event_release_kernel(event);
	return err;
}

/* From here on perf has its buffers ready, until it may go; NULL if it has none. */
static inline void *hw_hold_perf(int cpu)
{
	struct perf_event *event = hw_open_perf(cpu, PERF_TYPE_HARDWARE,
						PERF_COUNT_HW_CPU_CYCLES);

	return IS_ERR(event) ? NULL : event;
}

static inline void hw_let_perf_go(void *held)
{
	if (held)
		perf_event_release_kernel(held);
}

/*
 * RDMSR or RDPMC, which take a number in ECX and answer in EDX:EAX.  -EIO if it
 * faults; *val is 0 then.
 */
#define hw_read_or_fault(insn, number, val) ({				\
	u32 __low = 0, __high = 0;					\
	int __err = -EIO;						\
									\
	asm volatile("1:	" insn "\n"				\
		     "	xorl %[err], %[err]\n"				\
		     "2:\n"						\
		     _ASM_EXTABLE(1b, 2b)				\
		     : [err] "+r" (__err), "+a" (__low), "+d" (__high)	\
		     : "c" (number)					\
		     : "cc");						\
	*(val) = (u64)__high << 32 | __low;				\
	__err;								\
})

/* Returns -EIO if the MSR faults; *val is 0 then. */
static inline int hw_rdmsr(u32 msr, u64 *val)
{
	*val = 0;
	return rdmsrq_safe(msr, val);
}

/*
 * The same at the least cost, for what is looked at in each sample.  Whoever
 * traces MSRs does not see it.
 */
static inline int hw_peek_msr(u32 msr, u64 *val)
{
	return hw_read_or_fault("rdmsr", msr, val);
}

/* Returns -EIO if the write faults, and has changed nothing then. */
static inline int hw_wrmsr(u32 msr, u64 val)
{
	return wrmsrq_safe(msr, val);
}

/*
 * Returns -EIO if RDPMC faults: there is no such counter; *val is 0 then.  The
 * kernel has no form of RDPMC that may fault.  The instruction itself is what
 * a Xen PV guest must not use, see hw_is_xen_pv().
 */
static inline int hw_rdpmc(u32 index, u64 *val)
{
	return hw_read_or_fault("rdpmc", index, val);
}

/*
 * The capture, see struct my_pmu_plan: with each instruction the CPU that is measured
 * loses one, so it is written out.  12 for a counter with an event select, 7 for one
 * without, some 40 besides.  Both looks at GLOBAL_CTRL and the event selects cost less
 * than to miss that somebody else has written them.
 *
 * The status comes behind the counters: if it says that none has wrapped, none had when
 * it was read, whether they stand still or not.
 *
 * Returns 0 if all registers held what they must; 1 if one did not, and -EIO if an access
 * faulted: then what was captured means nothing, and the counters run as before, unless
 * it was that which faulted; then they stand still until somebody reads them in full.
 * Whoever traces MSRs does not see it.
 */
#define IN_PLAN(field)		"i" (offsetof(struct my_pmu_plan, field))
#define IN_CAPTURE(field)	"i" (offsetof(struct my_pmu_capture, field))

static __always_inline int hw_capture(const struct my_pmu_plan *plan,
				      struct my_pmu_capture *capture)
{
	u32 differs;
	int err = 0;
	u64 i;

	asm volatile("	jmp 10f\n"
		/* Where one faulted: while they stand still, or else. */
		"80:	movl %[eio], %[err]\n"
		"	jmp 70f\n"
		"90:	movl %[eio], %[err]\n"
		"	jmp 9f\n"
		/* Is GLOBAL_CTRL as we left it? */
		"10:	movl %c[ctrl_msr](%[plan]), %%ecx\n"
		"1:	rdmsr\n"
		"	xorl %c[ctrl](%[plan]), %%eax\n"
		"	xorl %c[ctrl] + 4(%[plan]), %%edx\n"
		"	orl %%edx, %%eax\n"
		"	movl %%eax, %[differs]\n"
		"	jnz 9f\n"
		/* Stop the counters. */
		"	cmpb $0, %c[freeze](%[plan])\n"
		"	je 20f\n"
		"	movl %c[stopped](%[plan]), %%eax\n"
		"	movl %c[stopped] + 4(%[plan]), %%edx\n"
		"2:	wrmsr\n"
		"20:	rdtsc\n"
		"	movl %%eax, %c[ticks](%[capture])\n"
		"	movl %%edx, %c[ticks] + 4(%[capture])\n"
		/* Those with an event select of their own */
		"	movq %c[first](%[plan]), %[i]\n"
		"	testq %[i], %[i]\n"
		"	je 40f\n"
		"30:	movl %c[counter](%[plan], %[i], 8), %%ecx\n"
		"3:	rdpmc\n"
		"	movl %%eax, %c[value](%[capture], %[i], 8)\n"
		"	movl %%edx, %c[value] + 4(%[capture], %[i], 8)\n"
		"	movl %c[counter] + 4(%[plan], %[i], 8), %%ecx\n"
		"4:	rdmsr\n"
		"	xorl %c[config](%[plan], %[i], 8), %%eax\n"
		"	xorl %c[config] + 4(%[plan], %[i], 8), %%edx\n"
		"	orl %%eax, %[differs]\n"
		"	orl %%edx, %[differs]\n"
		"	addq $1, %[i]\n"
		"	jnz 30b\n"
		/* Those that share one */
		"40:	cmpq %c[end](%[plan]), %[i]\n"
		"	je 60f\n"
		"50:	movl %c[counter](%[plan], %[i], 8), %%ecx\n"
		"5:	rdpmc\n"
		"	movl %%eax, %c[value](%[capture], %[i], 8)\n"
		"	movl %%edx, %c[value] + 4(%[capture], %[i], 8)\n"
		"	addq $1, %[i]\n"
		"	cmpq %c[end](%[plan]), %[i]\n"
		"	jne 50b\n"
		"	movl %c[shared_msr](%[plan]), %%ecx\n"
		"6:	rdmsr\n"
		"	xorl %c[shared_config](%[plan]), %%eax\n"
		"	xorl %c[shared_config] + 4(%[plan]), %%edx\n"
		"	andl %c[shared_mask](%[plan]), %%eax\n"
		"	andl %c[shared_mask] + 4(%[plan]), %%edx\n"
		"	orl %%eax, %[differs]\n"
		"	orl %%edx, %[differs]\n"
		/* Has one wrapped, or has somebody frozen them? */
		"60:	movl %c[status_msr](%[plan]), %%ecx\n"
		"7:	rdmsr\n"
		"	andl %c[quiet](%[plan]), %%eax\n"
		"	andl %c[quiet] + 4(%[plan]), %%edx\n"
		"	orl %%eax, %[differs]\n"
		"	orl %%edx, %[differs]\n"
		/* Let them run. */
		"70:	cmpb $0, %c[freeze](%[plan])\n"
		"	je 9f\n"
		"	movl %c[ctrl](%[plan]), %%eax\n"
		"	movl %c[ctrl] + 4(%[plan]), %%edx\n"
		"	movl %c[ctrl_msr](%[plan]), %%ecx\n"
		"8:	wrmsr\n"
		"9:\n"
		_ASM_EXTABLE(1b, 90b)
		_ASM_EXTABLE(2b, 90b)
		_ASM_EXTABLE(3b, 80b)
		_ASM_EXTABLE(4b, 80b)
		_ASM_EXTABLE(5b, 80b)
		_ASM_EXTABLE(6b, 80b)
		_ASM_EXTABLE(7b, 80b)
		_ASM_EXTABLE(8b, 90b)
		: [err] "+r" (err), [differs] "=&r" (differs), [i] "=&r" (i)
		: [plan] "r" (plan), [capture] "r" (capture), [eio] "i" (-EIO),
		  [ctrl_msr] IN_PLAN(ctrl_msr), [ctrl] IN_PLAN(ctrl),
		  [freeze] IN_PLAN(freeze), [stopped] IN_PLAN(stopped),
		  [first] IN_PLAN(first), [end] IN_PLAN(end),
		  [counter] IN_PLAN(counter[MY_CAPTURE_MIDDLE]),
		  [config] IN_PLAN(config[MY_CAPTURE_MIDDLE]),
		  [shared_msr] IN_PLAN(shared_msr), [shared_mask] IN_PLAN(shared_mask),
		  [shared_config] IN_PLAN(shared_config),
		  [status_msr] IN_PLAN(status_msr), [quiet] IN_PLAN(quiet),
		  [ticks] IN_CAPTURE(ticks),
		  [value] IN_CAPTURE(value[MY_CAPTURE_MIDDLE])
		: "eax", "ecx", "edx", "cc", "memory");
	kmsan_unpoison_memory(capture, sizeof(*capture));
	return err ?: !!differs;
}

#undef IN_PLAN
#undef IN_CAPTURE

/* Instructions of one turn of hw_run_known_code(), one of them a branch. */
#define HW_TURN_INSTRUCTIONS	16

/*
 * Code of which is known what the CPU does, between two writes of an MSR: so many
 * turns, in which each multiplication waits for the one before, and three
 * instructions more.  Nothing that a compiler or a tracer adds comes between.
 * Returns -EIO if a write faults; what is behind it is not done then.
 */
static inline int hw_run_known_code(u32 msr, u64 before, u64 after,
				    unsigned int turns)
{
	u32 low = before, high = before >> 32;
	unsigned long chain = 1;
	int err = -EIO;

	asm volatile("1:	wrmsr\n"
		     "2:\n"
		     "	.rept 14\n"
		     "	imul %[chain], %[chain]\n"
		     "	.endr\n"
		     "	decl %[turns]\n"
		     "	jnz 2b\n"
		     "	movl %[after_low], %%eax\n"
		     "	movl %[after_high], %%edx\n"
		     "3:	wrmsr\n"
		     "	xorl %[err], %[err]\n"
		     "4:\n"
		     _ASM_EXTABLE(1b, 4b)
		     _ASM_EXTABLE(3b, 4b)
		     : [err] "+r" (err), [turns] "+r" (turns),
		       [chain] "+r" (chain), "+a" (low), "+d" (high)
		     : "c" (msr), [after_low] "r" ((u32)after),
		       [after_high] "r" ((u32)(after >> 32))
		     : "cc", "memory");
	return err;
}

#endif
