/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The bare programs: a PMU is asked whether it does what the SDM says, with no
 * operating system between.
 *
 * What the tests expect is the architecture's, so that they would pass on a
 * processor, too.  Names that begin with "model: " are of what only the lab's
 * PMU promises: an instruction takes one cycle, an overflow's interrupt comes
 * on the very next boundary, and the like.
 */
#ifndef BARE_H
#define BARE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "layout.h"

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long u64;

#define __printf(a, b)	__attribute((format(printf, a, b)))
#define __noreturn	__attribute((noreturn))
#define noinline	__attribute((noinline))
#define __noclone	__attribute((noclone))
#define __packed	__attribute((packed))

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define BIT(n)		(1UL << (n))
/* The lowest n bits, n below 64. */
#define LOW_BITS(n)	(BIT(n) - 1)

#define MSR_APIC_BASE		0x01b
#define MSR_SYSENTER_CS		0x174
#define MSR_SYSENTER_ESP	0x175
#define MSR_SYSENTER_EIP	0x176
#define MSR_MISC_ENABLE		0x1a0
#define MSR_OFFCORE_RSP_0	0x1a6	/* the extra registers: these, and PEBS_FRONTEND */
#define MSR_OFFCORE_RSP_1	0x1a7
#define MSR_DEBUGCTL		0x1d9
#define MSR_FIXED_CTR		0x309
#define MSR_PERF_METRICS	0x329
#define MSR_PERF_CAPABILITIES	0x345
#define MSR_FIXED_CTR_CTRL	0x38d
#define MSR_GLOBAL_STATUS	(pmu.amd ? 0xc0000300 : 0x38eU)
#define MSR_GLOBAL_CTRL		(pmu.amd ? 0xc0000301 : 0x38fU)
#define MSR_GLOBAL_OVF_CTRL	(pmu.amd ? 0xc0000302 : 0x390U)
#define MSR_GLOBAL_STATUS_SET	(pmu.amd ? 0xc0000303 : 0x391U)
#define MSR_GLOBAL_INUSE	0x392
#define MSR_PEBS_FRONTEND	0x3f7
#define MSR_A_PMC		0x4c1
#define MSR_X2APIC_LVTPC	0x834
/* Of version 6: four registers for each counter */
#define MSR_GP_CTR(n)		(0x1900 + 4 * (n))
#define MSR_GP_CFG_A(n)		(0x1901 + 4 * (n))
#define MSR_GP_CFG_B(n)		(0x1902 + 4 * (n))
#define MSR_GP_CFG_C(n)		(0x1903 + 4 * (n))
#define MSR_FX_CTR(n)		(0x1980 + 4 * (n))
#define MSR_FX_CFG_B(n)		(0x1982 + 4 * (n))
#define MSR_FX_CFG_C(n)		(0x1983 + 4 * (n))
#define MSR_FAULT		0x4000f000	/* the lab's, with faults=on */
/* The lab's, with odometer=on: the first of a CPU, the others are behind it */
#define ODOMETER_OF(cpu)	(0x4000f100 + NR_ODOMETERS * (cpu))
/* Of the first generic counter; AMD has them elsewhere, and two apart */
#define MSR_EVTSEL		evtsel_msr(0)
#define MSR_PMC			pmc_msr(0)
#define MSR_AMD_LEGACY_CTL	0xc0010000
#define MSR_AMD_LEGACY_CTR	0xc0010004
#define MSR_AMD_HWCR		0xc0010015
#define MSR_AMD_VM_HSAVE_PA	0xc0010117
#define MSR_AMD_CTL		0xc0010200
#define MSR_AMD_CTR		0xc0010201
#define MSR_AMD_MPERF_RO	0xc00000e7
#define MSR_AMD_APERF_RO	0xc00000e8
#define MSR_AMD_IRPERF		0xc00000e9
#define MSR_MPERF		0x0e7
#define MSR_APERF		0x0e8
#define MSR_EFER		0xc0000080
#define MSR_STAR		0xc0000081
#define MSR_LSTAR		0xc0000082
#define MSR_FMASK		0xc0000084

/* What a CPU has done: instructions by privilege, accesses to its PMU, writes of LVTPC */
enum {
	ODOMETER_OS, ODOMETER_USR, ODOMETER_WRITES, ODOMETER_READS, ODOMETER_RDPMC,
	ODOMETER_RDTSC, ODOMETER_LVTPC, NR_ODOMETERS
};

/*
 * IA32_PERFEVTSELx; with the events, also what a fixed counter counts.  encode() makes
 * of it what AMD's event selects have for the same.
 */
#define EVENT_CYCLES		0x003c
#define EVENT_INSTRUCTIONS	0x00c0
#define EVENT_REF_CYCLES	0x013c
#define EVENT_BRANCHES		0x00c4
/* Of Skylake's models: see branches.c */
#define EVENT_CONDITIONAL	0x01c4
#define EVENT_NEAR_CALLS	0x02c4
#define EVENT_BRANCHES_PEBS	0x04c4
#define EVENT_NEAR_RETURNS	0x08c4
#define EVENT_NOT_TAKEN		0x10c4
#define EVENT_NEAR_TAKEN	0x20c4
#define EVENT_FAR_BRANCHES	0x40c4
#define SEL_USR			BIT(16)
#define SEL_OS			BIT(17)
#define SEL_EDGE		BIT(18)
#define SEL_INT			BIT(20)
#define SEL_ANY			BIT(21)
#define SEL_EN			BIT(22)
#define SEL_INV			BIT(23)
#define SEL_CMASK(n)		((u64)(n) << 24)
#define SEL_EQ			BIT(36)
#define SEL_UMASK2(n)		((u64)(n) << 40)

#define AMD_CYCLES		0x076
#define AMD_INSTRUCTIONS	0x0c0
#define AMD_FLOW		0x0c2	/* branches, interrupts and exceptions */
#define AMD_FAR			0x0c6
#define AMD_INTERRUPTS		0x02c
#define AMD_REF_CYCLES		0x100000120
#define AMD_GUEST		BIT(40)
#define AMD_HOST		BIT(41)

#define HWCR_IRPERF		BIT(30)

#define CFG_C_EN		BIT(63)

#define FIXED_OS		1
#define FIXED_USR		2
#define FIXED_ANY		4
#define FIXED_PMI		8

#define STATUS_FIXED(n)		BIT(32 + (n))
#define STATUS_CTR_FRZ		BIT(59)
#define DEBUGCTL_FREEZE		BIT(12)

#define RDPMC_FIXED		BIT(30)
#define RDPMC_FAST		BIT(31)

#define CR4_DE			BIT(3)
#define CR4_PCE			BIT(8)

#define APIC_BASE_X2APIC	BIT(10)
#define APIC_BASE_ENABLE	BIT(11)
#define CPUID_X2APIC		BIT(21)	/* leaf 1, ECX */

#define APIC_ID			0x20
#define APIC_SVR		0xf0
#define APIC_ICR_LOW		0x300
#define APIC_ICR_HIGH		0x310
#define APIC_LVT_THERMAL	0x330
#define APIC_LVTPC		0x340
#define APIC_LVT_LINT0		0x350
#define APIC_TMICT		0x380
#define APIC_TMCCT		0x390
#define APIC_SVR_ENABLE		BIT(8)
#define APIC_MODE_NMI		0x400
#define APIC_MASKED		0x10000

#define VECTOR_DB		1
#define VECTOR_NMI		2
#define VECTOR_OF		4
#define VECTOR_UD		6
#define VECTOR_GP		13
#define VECTOR_PF		14

/* Instructions of a pause of all counters, in the lab */
#define PAUSE			1000UL

/* How the lab's PMU can be broken, see x86_pmu.c. */
enum broken {
	BROKEN_NOT, BROKEN_IGNORES_WRITES, BROKEN_CONSTANT, BROKEN_DEAD, BROKEN_HALVED,
	BROKEN_NO_OVERFLOW, BROKEN_SHORT, BROKEN_STARVED,
};

/**
 * struct pmu - the PMU that the program was told to expect
 * @off: there is no PMU
 * @amd: it is AMD's, or Hygon's
 * @core: of these one with the counters of perfctr-core
 * @freeze: counters can freeze on a PMI
 * @streamlined: they do so by GLOBAL_STATUS, and not by GLOBAL_CTRL
 * @free_running: there are IRPERF, APERF and MPERF
 * @skylake: its CPU is one of Intel's that count branches by kind
 * @version: CPUID.0AH:EAX[7:0]; 0 if @off
 * @gp: generic counters, as CPUID.0AH says
 * @generic: bitmap of the generic counters
 * @width: their bits
 * @contiguous: CPUID.0AH:EDX[4:0]
 * @fixed: bitmap of the fixed counters
 * @fixed_width: their bits
 * @ebx: CPUID.0AH:EBX
 * @ebx_length: CPUID.0AH:EAX[31:24]
 * @full_width: IA32_A_PMCx exist
 * @pdcm: IA32_PERF_CAPABILITIES exists
 * @hypervisor: CPUID.1:ECX[31]
 * @acr: CFG_B and CFG_C exist
 * @reload: they are set at reset
 * @extra: there are the extra registers
 * @broken: what is wrong with it
 * @broken_counters: with which, as in the GLOBAL registers
 * @starved: if they are starved, how many count at a time
 * @paused: instructions from one pause of all counters to the next, or 0
 * @pmi_skid: instructions from an overflow to its PMI
 * @firmware: the counters that run from reset on, likewise
 * @faults: MSR_FAULT exists
 * @odometer: ODOMETER_OF() exist
 */
struct pmu {
	bool off;
	bool amd;
	bool core;
	bool freeze;
	bool streamlined;
	bool free_running;
	bool skylake;
	unsigned int version;
	unsigned int gp;
	u64 generic;
	unsigned int width;
	unsigned int contiguous;
	u64 fixed;
	unsigned int fixed_width;
	u32 ebx;
	unsigned int ebx_length;
	bool full_width;
	bool pdcm;
	bool hypervisor;
	bool acr;
	bool reload;
	bool extra;
	enum broken broken;
	u64 broken_counters;
	unsigned int starved;
	unsigned int paused;
	unsigned int pmi_skid;
	u64 firmware;
	bool faults;
	bool odometer;
};

/**
 * struct counter - one of the PMU's counters
 * @fixed: it is a fixed one
 * @index: of its kind
 * @msr: through which all of its bits can be written, if there is one
 * @rdpmc: what RDPMC takes for it
 * @bit: in the GLOBAL registers
 * @mask: of its width
 */
struct counter {
	bool fixed;
	unsigned int index;
	u32 msr;
	u32 rdpmc;
	u64 bit;
	u64 mask;
};

#define FIXED_MAX	7
#define COUNTERS_MAX	(18 + FIXED_MAX)

/**
 * struct run - what measure() writes; boot.S knows its layout
 * @msr: where
 * @on: what lets the counters run
 * @off: what stops them
 */
struct run {
	u64 msr;
	u64 on;
	u64 off;
};

/**
 * struct pmi - the interrupts that came; boot.S knows its layout
 * @rip: what the last one interrupted
 * @cs: likewise
 * @count: all of them
 * @nmis: those that were NMIs
 */
struct pmi {
	u64 rip;
	u64 cs;
	u32 count;
	u32 nmis;
};

/**
 * struct nmi_msr - what nmi_write_entry writes; boot.S knows its layout
 * @msr: where
 * @value: what
 */
struct nmi_msr {
	u64 msr;
	u64 value;
};

/**
 * struct work - instructions whose number is known, see work.S
 * @fn: the code
 * @title: what it is
 * @instructions: that retire in it
 * @branches: that retire in it
 * @flags: WORK_*
 * @pad: to a multiple of 8 bytes
 */
struct work {
	const void *fn;
	const char *title;
	u32 instructions;
	u32 branches;
	u32 flags;
	u32 pad;
};

/**
 * struct mode - a way to run BODY
 * @name: of the mode
 * @enter: runs a routine in the mode
 * @body: BODY_INSTRUCTIONS
 * @empty: nothing
 * @ring: its privilege
 */
struct mode {
	const char *name;
	void (*enter)(const void *fn);
	const void *body;
	const void *empty;
	unsigned int ring;
};

/* A 64-bit interrupt gate. */
struct gate {
	u16 offset_low;
	u16 selector;
	u16 flags;
	u16 offset_middle;
	u32 offset_high;
	u32 zero;
};

/* What trap() is given; boot.S pushes it. */
struct frame {
	u64 regs[9];
	u64 vector;
	u64 error;
	u64 rip;
	u64 cs;
};

/* ---------------------------------------------------------------- boot.S */

extern const char into32[];
extern const char low_start[], low_end[], low_fault[];
extern const char low_empty[], low_body[], low_rdpmc[], low_result[];
extern const char body32[], empty32[], body64[], empty64[], user64[];
extern const char trap_entries[], trap_stack[], measure_call[];
extern const char nmi_entry[], pmi_entry[], timer_entry[], skip_entry[];
extern const char rdpmc_code[], rdpmc_done[];
extern const char break_entry[], nmi_write_entry[];
extern const char sysenter_entry[];
extern const char syscall_entry[], user_exit[], step_entry[];
extern const char skip_ud2[], skip_ud2_2[], skip_gp[], mend_pf[], mend_pf_2[];
extern const char timer_entry_2[], body64_loop[];
extern u64 scratch_pages[];
extern u64 gdt_tss[2];
extern char idt_pointer[];

void in_kernel(const void *fn);
void in_user(const void *fn);
void in_user32(const void *fn);
void in_protected(const void *fn);
void in_real(const void *fn);
void measure(const struct run *run, void (*fn)(const void *a), const void *a);
void single_step(const void *fn);

/* ---------------------------------------------------------------- work.S */

extern const struct work work_table[], work_table_end[];
extern const char path[], path_end[], lret_only[], hlt_next[];
extern const char breakable[], breakable_at[], rewrite[], rewrite_at[];
extern const char ud2_at[], int_at[], pf_movs_at[];
extern const char sled_nop_at[], sled_nop[], sled_wrmsr_at[], sled_wrmsr_done[];
extern const char sled_lvtpc_at[], sled_lvtpc_written[];
extern const char sled_rep[], sled_rep_at[], sled_rep_done[];
extern const char sled_long[], sled_long_at[], sled_long_done[];
extern const char sled_int[], sled_int_done[];
extern const char vm_guest[];
extern u32 pmc0_msr;
extern u32 hlt_ticks;		/* the timer's, until it ends halting_work() */
#define HLT_TICKS_LONG	4000000000U	/* four seconds: only if nothing else ends it */

void vm_enter(const void *vmcb);
void sled_wrmsr(const void *a);
void sled_lvtpc(const void *lvtpc);
void spin(const void *turns);

/* ---------------------------------------------------------------- lib.c */

extern struct gate idt[256];
extern struct pmi pmi;
extern struct nmi_msr nmi_msr;
extern u32 trace[TRACE_MAX];
extern u32 trace_length;
extern u32 breaks;

__printf(1, 2) void say(const char *format, ...);
__printf(2, 3) bool ok(bool good, const char *name, ...);
__printf(3, 4) bool is(u64 got, u64 wanted, const char *name, ...);
void __noreturn finish(void);
void __noreturn die(const char *why);

void set_gate(unsigned int vector, const void *entry);
void set_trap(unsigned int vector);
void trap(struct frame *frame);
void setup_machine(void);
void bare_main(const u32 *multiboot_info);
void ap_main(void);
u32 apic_read(u32 reg);
void apic_write(u32 reg, u32 value);
void pmi_arm(u32 lvtpc);
void settle(void);

int try_rdmsr(u32 msr, u64 *value);
int try_wrmsr(u32 msr, u64 value);
int try_rdpmc(u64 index, u64 *value);
void user_rdpmc(void (*enter)(const void *fn), u32 index, int *vector, u64 *value);

static inline void outb(u16 port, u8 value)
{
	asm volatile("out %0, %1" : : "a"(value), "Nd"(port));
}

static inline u8 inb(u16 port)
{
	u8 value;

	asm volatile("in %1, %0" : "=a"(value) : "Nd"(port));
	return value;
}

static inline void wrmsr(u32 msr, u64 value)
{
	asm volatile("wrmsr" : : "c"(msr), "a"((u32)value), "d"((u32)(value >> 32)) : "memory");
}

static inline u64 rdmsr(u32 msr)
{
	u32 low, high;

	asm volatile("rdmsr" : "=a"(low), "=d"(high) : "c"(msr) : "memory");
	return (u64)high << 32 | low;
}

static inline u64 rdtsc(void)
{
	u32 low, high;

	asm volatile("rdtsc" : "=a"(low), "=d"(high) : : "memory");
	return (u64)high << 32 | low;
}

static inline u64 read_cr4(void)
{
	u64 value;

	asm volatile("mov %%cr4, %0" : "=r"(value));
	return value;
}

static inline void write_cr4(u64 value)
{
	asm volatile("mov %0, %%cr4" : : "r"(value) : "memory");
}

static inline void cpuid_count(u32 leaf, u32 subleaf, u32 *eax, u32 *ebx, u32 *ecx, u32 *edx)
{
	asm volatile("cpuid" : "=a"(*eax), "=b"(*ebx), "=c"(*ecx), "=d"(*edx)
		     : "a"(leaf), "c"(subleaf));
}

static inline void cpuid(u32 leaf, u32 *eax, u32 *ebx, u32 *ecx, u32 *edx)
{
	cpuid_count(leaf, 0, eax, ebx, ecx, edx);
}

static inline void write_debug(u64 dr0, u64 dr7)
{
	asm volatile("mov %0, %%dr0" : : "r"(dr0));
	asm volatile("mov %0, %%dr7" : : "r"(dr7) : "memory");
}

/* ---------------------------------------------------------------- pmu.c */

extern struct pmu pmu;
extern struct counter counters[COUNTERS_MAX];
extern unsigned int nr_counters, nr_all, nr_generic;

bool pmu_parse(const char *text);
u32 evtsel_msr(unsigned int index);
u32 pmc_msr(unsigned int index);
u64 encode(u64 select);
bool event_present(unsigned int select);
const char *counter_name(const struct counter *c);
const char *mark(bool only);
bool counts_exactly(const struct counter *c);
enum broken how_broken(const struct counter *c);
const struct counter *counter_for(u64 event);
u64 instruction_select(const struct counter *c);
u64 counters_mask(void);
u64 counting_mask(void);
unsigned int last_generic(void);
u64 fixed_control(u64 select);
void quiet(void);
void program(const struct counter *c, u64 select);
void counter_write(const struct counter *c, u64 value);
struct run run_of(u64 mask, u64 select);
u64 count_on(const struct counter *c, u64 select, void (*fn)(const void *a), const void *a);
u64 count(const struct counter *c, u64 select, u64 start,
	  void (*fn)(const void *a), const void *a);

/* ---------------------------------------------------------------- tests */

const struct work *halting_work(void);
const struct work *find_work(const char *title);
void set_work_traps(bool on);

void test_cpuid(void);
u64 not_as_at_reset(void);
void test_reset(void);
void test_registers(void);
void is_plain(u32 msr, u64 allowed, const char *name);
bool faults(u32 msr);
u64 evtsel_bits(void);
void test_injection(void);
void test_odometer(void);
void test_broken(void);
void test_paused(void);
void test_cpuid_version_6(void);
void test_left_behind(void);
void test_version_6(void);
void test_more_fixed(void);
void extra_fill(void);
u64 extra_not_filled(void);
u64 extra_not_clear(void);
void test_extra(void);
void test_no_extra(void);
void test_machine_reset(void);
void test_rdpmc(void);
void test_work(void);
void test_branches(void);
void test_debugging(void);
void test_modes(void);
void test_conditions(void);
void test_gates(void);
void test_overflow(void);
void test_interrupts(void);
void test_apic_off(void);
void test_freeze(void);
void test_boundaries(void);
u64 held_back(const char *at, const char *sled);
void test_skid(void);
void test_migration(void);
void test_smp(void);
void test_amd_cpuid(void);
void test_amd_registers(void);
void test_amd_events(void);
void test_amd_free_running(void);

#endif
