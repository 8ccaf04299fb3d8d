/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The seam to the hardware of x86.  Nothing else in the module executes CPUID, RDMSR,
 * WRMSR or RDPMC, or reserves registers, so a test that brings its own version of
 * this header brings its own PMU: tests/kunit/ has one.
 *
 * Except for the reservations, all of it acts on the CPU it runs on.
 */
#ifndef MY_PMU_HW_H
#define MY_PMU_HW_H

#include <linux/errno.h>
#include <linux/types.h>
#include <asm/apic.h>
#include <asm/asm.h>
#include <asm/cpufeature.h>
#include <asm/nmi.h>
#include <asm/processor-flags.h>
#include <asm/processor.h>
#include <asm/special_insns.h>

#include "pmu_compat_x86.h"

#ifndef CONFIG_X86_64
#error "my_pmu is for x86-64 and riscv64"
#endif

/* A leaf beyond the CPU's last reads as zeros. */
static inline void hw_cpuid(u32 leaf, u32 subleaf, u32 *eax, u32 *ebx, u32 *ecx, u32 *edx)
{
	*eax = 0;
	*ebx = 0;
	*ecx = 0;
	*edx = 0;
	if (cpuid_eax(leaf & 0x80000000) >= leaf)
		cpuid_count(leaf, subleaf, eax, ebx, ecx, edx);
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

/* Hygon's CPUs have AMD's PMU. */
static inline bool hw_has_amd_vendor(void)
{
	return boot_cpu_data.x86_vendor == X86_VENDOR_AMD ||
	       boot_cpu_data.x86_vendor == X86_VENDOR_HYGON;
}

/* Some of Zhaoxin's CPUs, which were Centaur's before: see intel_start(). */
static inline bool hw_acks_while_running(void)
{
	return boot_cpu_data.x86_vendor != X86_VENDOR_INTEL;
}

/* CPUs have PMUs of several kinds, and perf knows that. */
static inline bool hw_is_hybrid(void)
{
	return boot_cpu_has(X86_FEATURE_HYBRID_CPU);
}

/* A Xen PV guest's MSRs are the hypervisor's, its APIC a hypercall. */
static inline bool hw_is_xen_pv(void)
{
	return boot_cpu_has(X86_FEATURE_XENPV);
}

/*
 * The CPU's microcode may use a counter: MSR_TSX_FORCE_ABORT.  That of June 2021 and later
 * aborts each transaction and uses none.
 */
static inline bool hw_has_tsx_force_abort(void)
{
	return boot_cpu_has(X86_FEATURE_TSX_FORCE_ABORT) &&
	       !boot_cpu_has(X86_FEATURE_RTM_ALWAYS_ABORT);
}

/*
 * Any process may execute RDPMC: perf's file rdpmc holds 2.  With 1 a process may while it
 * has mapped one of perf's events.
 */
static inline bool hw_user_may_rdpmc(void)
{
	return __read_cr4() & X86_CR4_PCE;
}

/*
 * An event select, in the bitmap that perf uses, too; one for all CPUs.
 * Returns false if it is reserved already.
 */
static inline bool hw_reserve_evntsel(u32 msr)
{
	return reserve_evntsel_nmi(msr);
}

static inline void hw_release_evntsel(u32 msr)
{
	release_evntsel_nmi(msr);
}

/* A counter by its first address, likewise; Linux reserves no other address. */
static inline bool hw_reserve_perfctr(u32 msr)
{
	return reserve_perfctr_nmi(msr);
}

static inline void hw_release_perfctr(u32 msr)
{
	release_perfctr_nmi(msr);
}

/*
 * RDMSR or RDPMC, which take a number in ECX and answer in EDX:EAX, here in two halves.
 * -EIO if it faults.
 */
#ifdef CONFIG_CC_HAS_ASM_GOTO_OUTPUT
#define hw_fast_read(insn, number, low, high) ({			\
	__label__ fault;						\
	int __err = -EIO;						\
									\
	asm_goto_output("1:	" insn "\n"				\
			_ASM_EXTABLE(1b, %l[fault])			\
			: "=a" (low), "=d" (high)			\
			: "c" (number) : : fault);			\
	__err = 0;							\
fault:									\
	__err;								\
})
#else
#define hw_fast_read(insn, number, low, high) ({			\
	int __err;							\
									\
	asm volatile("1:	" insn "\n"				\
		     "	xorl %[err], %[err]\n"				\
		     "2:\n"						\
		     _ASM_EXTABLE_TYPE_REG(1b, 2b, EX_TYPE_RDMSR_SAFE, %[err]) \
		     : [err] "=r" (__err), "=a" (low), "=d" (high)	\
		     : "c" (number)					\
		     : "cc");						\
	__err;								\
})
#endif

/* The same as one value, which is 0 if it faults. */
#define hw_read_or_fault(insn, number, val) ({				\
	u32 __lower, __upper;						\
	int __failed = hw_fast_read(insn, number, __lower, __upper);	\
									\
	*(val) = __failed ? 0 : (u64)__upper << 32 | __lower;		\
	__failed;							\
})

/* Returns -EIO if the MSR faults; *val is 0 then. */
static inline int hw_rdmsr(u32 msr, u64 *val)
{
	*val = 0;
	return rdmsrq_safe(msr, val);
}

/*
 * The same at the least cost, for what is read in each sample.  Tracers of MSRs do not
 * see it.
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
 * RDMSR, RDPMC and WRMSR in single instructions: what is read or written is in two halves,
 * as the CPU has it.  Returns -EIO if it faults.  Tracers of MSRs do not see them.
 */
static __always_inline int hw_fast_rdmsr(u32 msr, u32 *low, u32 *high)
{
	return hw_fast_read("rdmsr", msr, *low, *high);
}

static __always_inline int hw_fast_rdpmc(u32 index, u32 *low, u32 *high)
{
	return hw_fast_read("rdpmc", index, *low, *high);
}

static __always_inline int hw_fast_wrmsr(u32 msr, u32 low, u32 high)
{
	asm volatile goto("1:	wrmsr\n"
			  _ASM_EXTABLE(1b, %l[fault])
			  : : "c" (msr), "a" (low), "d" (high)
			  : "memory" : fault);
	return 0;
fault:
	return -EIO;
}

/* The TSC, not ordered: WRMSR, which comes before it, waits for what is before. */
static __always_inline u64 hw_fast_ticks(void)
{
	return rdtsc();
}

/* --- interrupts of counters: the local APIC, and NMIs ----------------------------- */

/* Without one no counter can interrupt. */
#define HW_PERIODS_NEED		"a local APIC, by which counters interrupt"

static inline bool hw_has_apic(void)
{
	return boot_cpu_has(X86_FEATURE_APIC);
}

/* The local vector table's entry for counters. */
static inline u32 hw_read_lvtpc(void)
{
	return apic->read(APIC_LVTPC);
}

/* What is delivered by it masks it; so it is written after each. */
#define HW_LVTPC_NMI	APIC_DM_NMI

static inline void hw_write_lvtpc(u32 val)
{
	apic->write(APIC_LVTPC, val);
}

/*
 * NMIs of this CPU are shown to @handler, before others see them: if perf has counters in
 * use, too, its handler clears all overflow bits, whose they are.
 */
#define hw_take_nmis(handler) \
	register_nmi_handler(NMI_LOCAL, handler, NMI_FLAG_FIRST, "my_pmu")

/* Sleeps until no CPU is in the handler. */
#define hw_release_nmis()	unregister_nmi_handler(NMI_LOCAL, "my_pmu")

/* Instructions of a round of hw_run_known_code(), one of them a branch. */
#define HW_ROUND_INSTRUCTIONS	16

/*
 * Code whose instruction count is known: so many rounds, in which each multiplication
 * waits for the one before.  What surrounds it, which compilers and tracers may add to,
 * is the same however many rounds there are.
 */
static __always_inline void hw_run_known_code(unsigned int rounds)
{
	unsigned long chain = 1;

	asm volatile("1:\n"
		     "	.rept 14\n"
		     "	imul %[chain], %[chain]\n"
		     "	.endr\n"
		     "	decl %[rounds]\n"
		     "	jnz 1b\n"
		     : [rounds] "+r" (rounds), [chain] "+r" (chain)
		     : : "cc", "memory");
}

#endif
