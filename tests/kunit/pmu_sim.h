/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A simulated register file: one architectural PMU for each CPU, with the rules
 * of the SDM that matter to software that drives it.  Written from the SDM,
 * volume 3, "Architectural performance monitoring", and volume 2, RDPMC and
 * CPUID; it includes nothing of the module's but the seam that it stands behind.
 *
 * Not modelled: interrupts of overflows, the freeze, edge, inv and cmask.
 *
 * Tests set it up from any CPU while nobody uses it, and look at it afterwards.
 */
#ifndef MY_PMU_SIM_H
#define MY_PMU_SIM_H

#include <linux/types.h>

#define SIM_CPUS	2	/* as many as the tests' kernel has */
#define SIM_GENERIC	18	/* counters of a kind that there is room for */
#define SIM_FIXED	16
#define SIM_ACCESSES	512	/* room in the log */

/**
 * struct sim_pmu - what a CPU has, as its CPUID and its registers tell
 * @name: for messages
 * @version: 0 to 5
 * @gp: generic counters
 * @width: their bits
 * @fixed: contiguous fixed counters, CPUID.0AH:EDX[4:0]
 * @secret: but EDX says 0, as that of the first CPUs of version 2 does
 * @fixed_width: bits of all fixed counters
 * @fixed_bitmap: CPUID.0AH:ECX, version 5
 * @ebx: events that are absent, CPUID.0AH:EBX
 * @ebx_length: how many @ebx speaks of
 * @pdcm: there is IA32_PERF_CAPABILITIES
 * @full_width: its bit 13, and IA32_A_PMCx
 * @hypervisor: CPUID.1:ECX[31]
 * @xen_pv: a Xen PV guest
 * @other_vendor: not one of those with an architectural PMU
 * @last_leaf: CPUID's highest basic leaf; 0 stands for 16H
 */
struct sim_pmu {
	const char *name;
	unsigned int version;
	unsigned int gp, width;
	unsigned int fixed, fixed_width;
	u32 fixed_bitmap;
	u32 ebx;
	unsigned int ebx_length;
	bool pdcm, full_width, hypervisor, xen_pv, other_vendor, secret;
	u32 last_leaf;
};

/**
 * struct sim_registers - what can be read back
 * @evtsel: IA32_PERFEVTSELx
 * @pmc: IA32_PMCx
 * @fixed: IA32_FIXED_CTRx
 * @fixed_ctr_ctrl: IA32_FIXED_CTR_CTRL
 * @global_ctrl: IA32_PERF_GLOBAL_CTRL
 * @global_status: IA32_PERF_GLOBAL_STATUS
 */
struct sim_registers {
	u64 evtsel[SIM_GENERIC];
	u64 pmc[SIM_GENERIC];
	u64 fixed[SIM_FIXED];
	u64 fixed_ctr_ctrl;
	u64 global_ctrl;
	u64 global_status;
};

enum sim_op { SIM_RDMSR, SIM_WRMSR, SIM_RDPMC };

/**
 * struct sim_access - one access, as the log has it
 * @op: which instruction
 * @reg: MSR number, or RDPMC index
 * @val: what was read or written
 * @faulted: it faulted
 * @time: when, CLOCK_MONOTONIC, ns
 */
struct sim_access {
	enum sim_op op;
	u32 reg;
	u64 val;
	bool faulted;
	u64 time;
};

/**
 * struct sim_cpu - the PMU of one CPU
 * @pmu: what it has
 * @regs: its registers
 * @insns_per_access: instructions, each of one cycle, that retire in the kernel
 *	with each access: what the code that drives the PMU costs
 * @fail_nth: this access from now on faults, 1 is the next; 0 is none. RDPMC in
 *	its form that must not fault is not counted
 * @fail_all_after: with @fail_nth, all that follow it fault, too
 * @fail_reg: each access to this MSR or RDPMC index faults; 0 is none
 * @has_failed: one has, so that what follows may be out of order
 * @accesses: how many there were
 * @log: the first of them
 * @wrong: accesses with interrupts on; RDPMC in its form that must not fault
 *	when it did; writes of a counter while it counts. Outlives a reset
 * @first_wrong: the rule that was first broken
 * @first_wrong_reg: MSR or RDPMC index with which it was
 */
struct sim_cpu {
	struct sim_pmu pmu;
	struct sim_registers regs;
	unsigned int insns_per_access;
	unsigned int fail_nth;
	bool fail_all_after;
	u32 fail_reg;
	bool has_failed;
	unsigned int accesses;
	struct sim_access log[SIM_ACCESSES];
	unsigned int wrong;
	const char *first_wrong;
	u32 first_wrong_reg;
};

struct sim_cpu *sim_cpu(unsigned int cpu);
void sim_reset(unsigned int cpu, const struct sim_pmu *pmu);
void sim_clear_log(struct sim_cpu *sim);

void sim_retire(struct sim_cpu *sim, u8 event, u8 umask, bool user, u64 n);

/**
 * struct sim_reservations - who holds the event selects, for all CPUs
 * @held: by MSR - IA32_PERFEVTSEL0, those that the module holds
 * @foreign: those that somebody else holds
 * @fail_nth: this reservation from now on is refused, 1 is the next
 * @wrong: releases of what was not held, or still counted
 */
struct sim_reservations {
	u32 held;
	u32 foreign;
	unsigned int fail_nth;
	unsigned int wrong;
};

extern struct sim_reservations sim_reservations;

#endif
