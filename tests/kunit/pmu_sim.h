/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A simulated register file: one architectural PMU for each CPU, with the rules
 * of the SDM that matter to software that drives it.  Written from the SDM,
 * volume 3, "Architectural performance monitoring", and volume 2, RDPMC and
 * CPUID; of the module it includes the seams that it stands behind, pmu_hw.h, pmu_perf.h and
 * pmu_frontend.h, and nothing else.
 *
 * A counter that interrupts when it overflows does so through LVTPC: an NMI, which masks the
 * entry, except for AMD's.  One that comes while it is masked is lost.  With IA32_DEBUGCTL[12] the
 * overflow freezes all counters, from version 4 on.
 *
 * Not modelled: edge, inv, cmask and eq.
 *
 * Tests set it up from any CPU while nobody uses it, and look at it afterwards.
 */
#ifndef MY_PMU_SIM_H
#define MY_PMU_SIM_H

#include <linux/types.h>

#define SIM_CPUS	2	/* as many as the tests' kernel has */
#define SIM_GENERIC	18	/* counters of a kind that there is room for */
#define SIM_FIXED	16
#define SIM_CFG		8	/* of each kind have CFG_B and CFG_C */
#define SIM_ACCESSES	512	/* room in the log */

/**
 * struct sim_pmu - what a CPU has, as its CPUID and its registers tell
 * @name: for messages
 * @version: 0 to 6
 * @gp: generic counters, CPUID.0AH:EAX[15:8]
 * @gp_bitmap: CPUID.23H.1:EAX; 0 stands for the first @gp
 * @width: their bits
 * @fixed: contiguous fixed counters, CPUID.0AH:EDX[4:0]
 * @secret: but EDX says 0, as that of the first CPUs of version 2 does
 * @fixed_width: bits of all fixed counters
 * @fixed_bitmap: CPUID.0AH:ECX, version 5; and CPUID.23H.1:EBX
 * @ebx: events that are absent, CPUID.0AH:EBX
 * @ebx_length: how many @ebx speaks of
 * @pdcm: there is IA32_PERF_CAPABILITIES
 * @full_width: its bit 13, and IA32_A_PMCx
 * @hypervisor: CPUID.1:ECX[31]
 * @xen_pv: a Xen PV guest
 * @tfa: microcode takes generic counter 3 unless TSX_FORCE_ABORT[0] is set
 * @ack_running: overflow bits are cleared only while GLOBAL_CTRL is not 0
 * @user_rdpmc: CR4.PCE
 * @hybrid: X86_FEATURE_HYBRID_CPU, of CPU 0
 * @other_vendor: not one of those with an architectural PMU
 * @family: 0 stands for 6
 * @model: of the family
 * @threads: of a core
 * @ext: there is leaf 23H, as there always is from version 6 on; it has UMASK2 and EQ
 * @lacks: bits of CPUID.23H.0:EBX, UMASK2 and EQ, that are 0 all the same
 * @more_events: events that CPUID.23H.3:EAX has besides those of leaf 0AH
 * @subleaves: CPUID.23H.0:EAX; 0 stands for 0BH; with sub-leaf 2 all counters can be
 *	reloaded, with sub-leaf 5 the first of each kind can count precise events
 * @amd: AMD's PMU instead, with its registers and events: counters are @gp, of 48 bits, @version
 *	is 1 before PerfMonV2, which is 2
 * @freezes: with PerfMonV2: IA32_DEBUGCTL[12]
 * @extra: there are the registers of events that need another one; with 37 bits
 * @last_leaf: CPUID's highest basic leaf; 0 stands for 16H, or 23H
 */
struct sim_pmu {
	const char *name;
	unsigned int version;
	unsigned int gp, width;
	u32 gp_bitmap;
	unsigned int fixed, fixed_width;
	u32 fixed_bitmap;
	u32 ebx;
	unsigned int ebx_length;
	bool pdcm, full_width, hypervisor, xen_pv, other_vendor, secret, tfa;
	bool ack_running, user_rdpmc, hybrid, ext, extra, freezes;
	enum sim_amd { SIM_NOT_AMD, SIM_AMD_LEGACY, SIM_AMD_CORE } amd;
	u8 family, model, threads;
	u32 last_leaf, lacks, more_events, subleaves;
};

/**
 * struct sim_registers - what can be read back
 * @evtsel: IA32_PERFEVTSELx
 * @pmc: IA32_PMCx
 * @fixed: IA32_FIXED_CTRx
 * @fixed_ctr_ctrl: IA32_FIXED_CTR_CTRL
 * @global_ctrl: IA32_PERF_GLOBAL_CTRL
 * @global_status: IA32_PERF_GLOBAL_STATUS
 * @tsx_force_abort: MSR_TSX_FORCE_ABORT
 * @cfg_b: CFG_B of counters, by sim_cfg()
 * @cfg_c: CFG_C of counters, likewise
 * @extra: OFFCORE_RSP_0, OFFCORE_RSP_1, FRONTEND
 * @debugctl: IA32_DEBUGCTL
 * @lvtpc: the local APIC's entry for counters
 */
struct sim_registers {
	u64 evtsel[SIM_GENERIC];
	u64 pmc[SIM_GENERIC];
	u64 fixed[SIM_FIXED];
	u64 fixed_ctr_ctrl;
	u64 global_ctrl;
	u64 global_status;
	u64 tsx_force_abort;
	u64 cfg_b[2 * SIM_CFG];
	u64 cfg_c[2 * SIM_CFG];
	u64 extra[3];
	u64 debugctl;
	u32 lvtpc;
};

/* The place of a counter, if it has one. */
static inline unsigned int sim_cfg(unsigned int bit)
{
	return bit % 32 + (bit < 32 ? 0 : SIM_CFG);
}

enum sim_op { SIM_RDMSR, SIM_WRMSR, SIM_RDPMC, SIM_LVTPC };

/**
 * struct sim_access - one access, as the log has it
 * @op: which instruction
 * @reg: MSR number, or RDPMC index
 * @val: what was read or written
 * @faulted: it faulted
 * @time: when, by sim_now()
 */
struct sim_access {
	enum sim_op op;
	u32 reg;
	u64 val;
	bool faulted;
	u64 time;
};

/* How a counter does not do what it should. */
enum sim_broken {
	SIM_SOUND,
	SIM_COUNTER_IGNORES,	/* what is written to it is lost */
	SIM_CONTROL_IGNORES,	/* what is written to its control is */
	SIM_CONSTANT,		/* reads as 42 */
	SIM_DEAD,		/* never grows */
	SIM_HALVED,		/* counts every other event */
	SIM_SHORT,		/* lacks its 8 upper bits */
	SIM_NO_OVERFLOW,	/* wraps, and does not set its bit */
	SIM_STARVED,		/* of those that count the first ones grow, see @starved */
};

/**
 * struct sim_cpu - the PMU of one CPU
 * @pmu: what it has
 * @regs: its registers
 * @broken: what is wrong with
 * @broken_counters: these, by id
 * @starved: if they are starved, so many of them grow at a time
 * @disturb: so many instructions retire, too,
 * @disturb_calls: in these calls of hw_run_known_code(), by bit; the first is bit 0
 * @disturb_pmis: and in every other call, while generic counter 0 interrupts
 * @known_codes: calls of hw_run_known_code()
 * @uneven: in every other of them so many slots are lost, otherwise twice as many; 0: one
 *	with each instruction
 * @cycles: each instruction takes so many; 0: one
 * @insns_per_access: instructions that retire in the kernel
 *	with each access: what the code that drives the PMU costs
 * @fail_nth: this access from now on faults, 1 is the next; 0 is none
 * @fail_all_after: with @fail_nth, all that follow it fault, too
 * @fail_reg: each access to this MSR or RDPMC index faults; 0 is none
 * @has_failed: one has, so that what follows may be out of order
 * @failed: the last that has, with what was to be written; its register by the address
 *	that it has before version 6
 * @accesses: how many there were
 * @log: the first of them
 * @wrong: accesses with interrupts on; writes of a counter while it counts.
 *	Outlives a reset
 * @first_wrong: the rule that was first broken
 * @first_wrong_reg: MSR or RDPMC index with which it was
 * @skid: an NMI comes so many accesses after the overflow; 0: before the CPU goes on
 * @nmi_in: it comes in so many; 0: none is on its way
 * @freezes: an overflow of now freezes the counters
 * @in_nmi: the CPU handles one
 * @nmis: how many there were
 * @unknown: of these nobody claimed so many
 * @spare: NMIs that were claimed in advance: handlers have seen more than one overflow
 * @dropped: PMIs that were lost
 * @ip: where an NMI interrupts the CPU
 * @user: at CPL 3
 * @no_freeze: IA32_DEBUGCTL[12]: 1, a write of it faults; 2, it is lost
 * @sticky: overflow bits that cannot be cleared
 */
struct sim_cpu {
	struct sim_pmu pmu;
	struct sim_registers regs;
	enum sim_broken broken;
	u64 broken_counters;
	unsigned int starved;
	u64 disturb;
	u64 disturb_calls;
	bool disturb_pmis;
	unsigned int known_codes;
	unsigned int uneven;
	unsigned int cycles;
	unsigned int insns_per_access;
	unsigned int fail_nth;
	bool fail_all_after;
	u32 fail_reg;
	bool has_failed;
	struct sim_access failed;
	unsigned int accesses;
	struct sim_access log[SIM_ACCESSES];
	unsigned int wrong;
	const char *first_wrong;
	u32 first_wrong_reg;
	unsigned int skid;
	unsigned int nmi_in;
	bool freezes, in_nmi;
	unsigned int nmis, unknown, spare, dropped;
	unsigned long ip;
	bool user;
	unsigned int no_freeze;
	u64 sticky;
};

/* The tick of a kernel with 250 of them in a second; a test may have a shorter one. */
#define SIM_TICK_NS	4000000

extern u64 sim_tick_ns;

#define SIM_LVTPC_MASKED	0x10000

/* No CPU has a local APIC; no handler of NMIs can be registered. */
extern bool sim_without_apic, sim_without_nmis;

/* Is the module's handler of NMIs registered? */
bool sim_handles_nmis(void);

/* What a look at a held clock takes; an access to a register is one. */
#define HELD_CLOCK_NS	1000

/* The TSCs of two CPUs do not show the same. */
extern bool sim_without_ticks;

u64 sim_now(void);
void sim_pass_ms(unsigned int ms);
void sim_sleep_ms(void);
void sim_hold_clock(bool hold);
struct sim_cpu *sim_cpu(unsigned int cpu);
void sim_reset(unsigned int cpu, const struct sim_pmu *pmu);
void sim_clear_log(struct sim_cpu *sim);

/* Does it have this generic counter? */
bool sim_has_generic(const struct sim_pmu *pmu, unsigned int i);

void sim_retire(struct sim_cpu *sim, u8 event, u8 umask, bool user, u64 n);

/* An NMI of this CPU, whoever has caused it; and the one that is on its way. */
void sim_nmi(struct sim_cpu *sim);
void sim_nmi_comes(struct sim_cpu *sim);

/**
 * struct sim_reservations - who holds the event selects, for all CPUs
 * @held: by MSR - IA32_PERFEVTSEL0, those that the module holds
 * @held_perfctr: by MSR - IA32_PMC0, the counters that it holds
 * @foreign: event selects that somebody else holds
 * @foreign_perfctr: counters that somebody else holds
 * @firmware: event selects that count for somebody outside Linux
 * @fail_nth: this reservation from now on is refused, 1 is the next
 * @order: MSRs that the module holds, in the order in which it took them
 * @nr: how many
 * @wrong: releases of what was not held, still counted, or was not the last one
 *	taken
 */
struct sim_reservations {
	u32 held;
	u32 held_perfctr;
	u32 foreign;
	u32 foreign_perfctr;
	u32 firmware;
	unsigned int fail_nth;
	u32 order[2 * SIM_GENERIC];
	unsigned int nr;
	unsigned int wrong;
};

extern struct sim_reservations sim_reservations;

/**
 * struct sim_perf_event - what perf says of an event
 * @type: PERF_TYPE_...
 * @config: within its type
 * @answer: the event select that it shows
 * @extra: the register that it needs, too
 * @value: and what that is to hold, whatever config1 says
 * @valid: bits that config1 may have
 * @err: it says that instead
 * @counters: where it counts it; 0 is unknown
 */
struct sim_perf_event {
	u32 type;
	u64 config;
	u64 answer;
	u32 extra;
	u64 value, valid;
	int err;
	u64 counters;
};

/**
 * struct sim_perf_name - a file of perf's in sysfs
 * @name: its name
 * @text: what can be read there
 */
struct sim_perf_name {
	const char *name;
	const char *text;
};

/**
 * struct sim_perf - perf, as it is asked
 * @events: what it knows
 * @nr: how many; it says -ENOENT of all others
 * @unlike: CPUs of another kind, by bit, of which it knows none of them
 * @names: the files of its events
 * @nr_names: how many
 * @err: it says that of all of them, and does not let itself be held
 * @held: so often
 * @asked: so often
 * @fail_nth: this question from now on is answered with -ENOMEM, 1 is the next
 * @fail_hold: this time from now on it has no memory to be held, 1 is the next
 * @cpu: of the last question
 * @counted: so often it counted, to say where
 * @counted_on: on these CPUs
 * @unknown_model: it does not know the CPU's model
 * @stays: it has its PMU, whatever is reserved
 * @excludes: an exclusive event keeps its others away then
 * @excluded: so many of these have been opened
 * @pinned: except on these CPUs, where another one is pinned
 * @guards: CPUs that have such an event
 * @lost: CPUs on which it was put off
 * @second: CPUs that have the second of their two such events, and not the first
 * @open: how many there are
 * @meanwhile: called when one comes or goes
 * @writes_ctrl: it writes GLOBAL_CTRL when it is held, as perf does for each event
 * @taken: when it is let go somebody else has events on these CPUs, on counters gp2 and
 *	fixed1, and has reserved all
 * @ends: on these CPUs all events of it have ended when it is held
 * @stops: opening it stops the counters of these CPUs: an event of perf's had them
 * @refuses: it takes no PMU of the module
 * @registered: CPUs whose events the PMU of the module shows, by bit; 0: it has none
 * @wrong: questions while it was not held, though it could be; or while the
 *	module held event selects, when perf can have none; a second guard of a CPU
 */
struct sim_perf {
	const struct sim_perf_event *events;
	unsigned int nr;
	unsigned int unlike;
	const struct sim_perf_name *names;
	unsigned int nr_names;
	int err;
	int held;
	unsigned int asked;
	unsigned int fail_nth, fail_hold;
	int cpu;
	unsigned int counted;
	u32 counted_on;
	bool unknown_model, stays, excludes, writes_ctrl;
	u32 pinned, guards, lost, second, stops, ends, taken;
	int open;
	void (*meanwhile)(void);
	unsigned int excluded;
	bool refuses;
	u32 registered;
	unsigned int wrong;
};

extern struct sim_perf sim_perf;

#endif
