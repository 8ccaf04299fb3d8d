// SPDX-License-Identifier: GPL-2.0
/*
 * The simulated register file.  Register numbers are the SDM's, written here
 * once more and not taken from any header, so that a mistake in one of the two
 * shows.
 */
#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/bitops.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/errno.h>
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/perf_event.h>
#include <linux/smp.h>
#include <linux/string.h>

#include "pmu_frontend.h"
#include "pmu_hw.h"
#include "pmu_perf.h"
#include "pmu_sim.h"
#include "pmu_why.h"

#define PERFEVTSEL0		0x186
#define PMC0			0x0c1
#define A_PMC0			0x4c1
#define FIXED_CTR0		0x309
#define GP0_CTR			0x1900	/* from version 6 on, in steps of 4 */
#define GP0_CFG_A		0x1901
#define FX0_CTR			0x1980
#define CFG_B			2
#define CFG_C			3
#define CFG_C_EN		BIT_ULL(63)
#define MAY_HAVE_CFG		(GENMASK_ULL(SIM_CFG - 1, 0) * BIT_ULL(32) | \
				 GENMASK_ULL(SIM_CFG - 1, 0))
#define TSX_FORCE_ABORT		0x10f
#define PERF_CAPABILITIES	0x345
#define FIXED_CTR_CTRL		0x38d
#define GLOBAL_STATUS		0x38e
#define GLOBAL_CTRL		0x38f
#define GLOBAL_OVF_CTRL		0x390
#define GLOBAL_INUSE		0x392
#define DEBUGCTL		0x1d9
#define DEBUGCTL_FREEZE		BIT_ULL(12)
#define STATUS_FROZEN		BIT_ULL(59)

/* AMD's: APM volume 2, "Performance Monitoring Counters" */
#define K7_EVNTSEL0		0xc0010000
#define K7_PERFCTR0		0xc0010004
#define PERF_CTL0		0xc0010200	/* and PERF_CTR0 behind it, and so forth */
#define PERF_LEGACY		4
#define AMD_GLOBAL_STATUS	0xc0000300
#define AMD_GLOBAL_CTL		0xc0000301
#define AMD_GLOBAL_STATUS_CLR	0xc0000302
/* Bits of PERF_CTL that are none read as zeros. */
#define PERF_CTL_BITS		(GENMASK_ULL(41, 40) | (GENMASK_ULL(35, 0) & ~BIT_ULL(19) & \
				  ~BIT_ULL(21)))

#define RDPMC_FIXED		0x40000000

#define EVTSEL_USR		BIT_ULL(16)
#define EVTSEL_OS		BIT_ULL(17)
#define EVTSEL_INT		BIT_ULL(20)
#define FIXED_INT		8
#define EVTSEL_ANY		BIT_ULL(21)
#define EVTSEL_EN		BIT_ULL(22)
#define EVTSEL_EQ		BIT_ULL(36)		/* if leaf 23H has it */
#define EVTSEL_UMASK2		GENMASK_ULL(47, 40)	/* likewise */

/* Not per-CPU data, of which modules can have little. */
static struct sim_cpu sim_cpus[SIM_CPUS];

struct sim_reservations sim_reservations;

struct sim_cpu *sim_cpu(unsigned int cpu)
{
	return &sim_cpus[cpu];
}

static struct sim_cpu *this_sim(void)
{
	return sim_cpu(raw_smp_processor_id());
}

static void note_wrong(struct sim_cpu *sim, const char *rule, u32 reg)
{
	if (!sim->wrong++) {
		sim->first_wrong = rule;
		sim->first_wrong_reg = reg;
	}
}

static void sim_nmi_nears(struct sim_cpu *sim);

static u64 ones(unsigned int n)
{
	return n ? GENMASK_ULL(n - 1, 0) : 0;
}

static bool is_broken(const struct sim_cpu *sim, unsigned int bit,
		      enum sim_broken how)
{
	return sim->broken == how && sim->broken_counters & BIT_ULL(bit);
}

/* The counter's width, as it is and not as it is said to be. */
static u64 mask_of(const struct sim_cpu *sim, unsigned int bit)
{
	unsigned int bits = bit < 32 ? sim->pmu.width : sim->pmu.fixed_width;

	return ones(is_broken(sim, bit, SIM_SHORT) ? bits - 8 : bits);
}

/* --- what there is --------------------------------------------------------- */

static bool has_ext(const struct sim_pmu *pmu)
{
	return pmu->ext || pmu->version >= 6;
}

/* CPUID.23H.0:EBX: UMASK2 and EQ. */
static u32 select_bits(const struct sim_pmu *pmu)
{
	return has_ext(pmu) ? 3 & ~pmu->lacks : 0;
}

bool sim_has_generic(const struct sim_pmu *pmu, unsigned int i)
{
	if (i >= SIM_GENERIC)
		return false;
	return pmu->gp_bitmap ? pmu->gp_bitmap & BIT(i) : i < pmu->gp;
}

static bool has_generic(const struct sim_cpu *sim, u32 i)
{
	return sim_has_generic(&sim->pmu, i);
}

static u32 generic_bitmap(const struct sim_pmu *pmu)
{
	return pmu->gp_bitmap ?: ones(pmu->gp);
}

/* CPUID.0AH: ECX[i] || EDX[4:0] > i; ECX from version 5 on.  Or CPUID.23H.1:EBX[i]. */
static bool has_fixed(const struct sim_cpu *sim, u32 i)
{
	if (sim->pmu.version < 2 || i >= SIM_FIXED)
		return false;
	if (i < sim->pmu.fixed && !has_ext(&sim->pmu))
		return true;
	return sim->pmu.version >= 5 && sim->pmu.fixed_bitmap & BIT(i);
}

static u64 all_counters(const struct sim_cpu *sim)
{
	u64 all = generic_bitmap(&sim->pmu);
	unsigned int i;

	for (i = 0; i < SIM_FIXED; i++) {
		if (has_fixed(sim, i))
			all |= BIT_ULL(32 + i);
	}
	return all;
}

/**
 * sim_reset() - a CPU at power-on
 * @cpu: the CPU
 * @pmu: what it has
 *
 * SDM volume 3, "IA-32 and Intel 64 processor states following power-up":
 * GLOBAL_CTRL lets the generic counters run, everything else is 0.
 */
void sim_reset(unsigned int cpu, const struct sim_pmu *pmu)
{
	struct sim_cpu *sim = sim_cpu(cpu);
	unsigned int wrong = sim->wrong;
	const char *rule = sim->first_wrong;
	u32 reg = sim->first_wrong_reg;

	memset(sim, 0, sizeof(*sim));
	sim->wrong = wrong;
	sim->first_wrong = rule;
	sim->first_wrong_reg = reg;
	sim->pmu = *pmu;
	sim->regs.lvtpc = HW_LVTPC_NMI;	/* as Linux has left it */
	if (pmu->version >= 2)
		sim->regs.global_ctrl = generic_bitmap(pmu);
}

void sim_clear_log(struct sim_cpu *sim)
{
	sim->accesses = 0;
}

/* --- the clock ------------------------------------------------------------------ */

static atomic64_t held_clock;
static bool clock_is_held;

/**
 * sim_hold_clock() - shall time be what was looked at, or the machine's?
 * @hold: no time passes but HELD_CLOCK_NS with each look at the clock, so that what
 *	a test sees does not depend on who else wants this machine
 *
 * Context: while nothing counts.
 */
void sim_hold_clock(bool hold)
{
	clock_is_held = hold;
}

/**
 * sim_now() - the moment; no two looks at a held clock see the same
 *
 * Context: any.
 * Return: ns.
 */
u64 sim_now(void)
{
	if (!clock_is_held)
		return ktime_get_ns();
	return atomic64_add_return(HELD_CLOCK_NS, &held_clock);
}

/**
 * sim_pass_ms() - let time pass, by the held clock
 * @ms: how much
 *
 * Context: any.
 */
void sim_pass_ms(unsigned int ms)
{
	atomic64_add(ms * NSEC_PER_MSEC, &held_clock);
}

/**
 * sim_sleep_ms() - a millisecond of either clock
 *
 * Context: task.
 */
void sim_sleep_ms(void)
{
	if (clock_is_held)
		sim_pass_ms(1);
	else
		usleep_range(1000, 1100);
}

/* --- interrupts -------------------------------------------------------------- */

bool sim_without_apic, sim_without_nmis;

static int (*nmi_handler)(unsigned int cmd, struct pt_regs *regs);

bool hw_has_apic(void)
{
	return !sim_without_apic;
}

bool sim_handles_nmis(void)
{
	return nmi_handler;
}

int hw_take_nmis(int (*handler)(unsigned int cmd, struct pt_regs *regs))
{
	if (sim_without_nmis)
		return -EBUSY;
	nmi_handler = handler;
	return 0;
}

void hw_release_nmis(void)
{
	might_sleep();
	nmi_handler = NULL;
}

u32 hw_read_lvtpc(void)
{
	return this_sim()->regs.lvtpc;
}

/* As each access it may be the one after which an NMI comes. */
void hw_write_lvtpc(u32 val)
{
	struct sim_cpu *sim = this_sim();

	if (!irqs_disabled())
		note_wrong(sim, "LVTPC written with interrupts on", val);
	sim->regs.lvtpc = val;
	if (sim->accesses < SIM_ACCESSES)
		sim->log[sim->accesses] = (struct sim_access) {
			.op = SIM_LVTPC, .val = val, .time = sim_now() };
	sim->accesses++;
	sim_nmi_nears(sim);
}

/* Linux takes more than one overflow for as many NMIs, and does not ask who claims the others. */
void sim_nmi(struct sim_cpu *sim)
{
	struct pt_regs regs = { .ip = sim->ip, .cs = sim->user ? 3 : 0 };
	int handled = 0;

	sim->in_nmi = true;
	sim->nmis++;
	if (nmi_handler)
		handled = nmi_handler(0, &regs);
	sim->in_nmi = false;
	if (handled > 1)
		sim->spare += handled - 1;
	else if (!handled && sim->spare)
		sim->spare--;
	else if (!handled)
		sim->unknown++;
}

void sim_nmi_comes(struct sim_cpu *sim)
{
	sim->nmi_in = 0;
	if (sim->regs.lvtpc & SIM_LVTPC_MASKED) {
		sim->dropped++;
		return;
	}
	if (!sim->pmu.amd)
		sim->regs.lvtpc |= SIM_LVTPC_MASKED;
	sim_nmi(sim);
}

/* One access less; but not within an NMI. */
static void sim_nmi_nears(struct sim_cpu *sim)
{
	if (sim->nmi_in && !sim->in_nmi && !--sim->nmi_in)
		sim_nmi_comes(sim);
}

/* A counter has overflowed that interrupts. */
static void raise_pmi(struct sim_cpu *sim)
{
	sim->freezes |= sim->regs.debugctl & DEBUGCTL_FREEZE &&
			(sim->pmu.version >= 4 || sim->pmu.freezes);
	if (sim->regs.lvtpc & SIM_LVTPC_MASKED)
		sim->dropped++;
	else if (!sim->nmi_in)
		sim->nmi_in = sim->skid + 1;
}

/* --- counting -------------------------------------------------------------- */

static u64 *counter_at(struct sim_cpu *sim, unsigned int bit)
{
	return bit < 32 ? &sim->regs.pmc[bit] : &sim->regs.fixed[bit - 32];
}

static bool gate_is_open(const struct sim_cpu *sim, unsigned int bit)
{
	return sim->pmu.version < 2 || (sim->regs.global_ctrl & BIT_ULL(bit) &&
					!(sim->regs.global_status & STATUS_FROZEN));
}

static bool interrupts(const struct sim_cpu *sim, unsigned int bit)
{
	return bit < 32 ? sim->regs.evtsel[bit] & EVTSEL_INT :
			  sim->regs.fixed_ctr_ctrl >> 4 * (bit - 32) & FIXED_INT;
}

static bool is_counting(const struct sim_cpu *sim, unsigned int bit)
{
	u64 on = bit < 32 ? sim->regs.evtsel[bit] & EVTSEL_EN :
			    sim->regs.fixed_ctr_ctrl >> 4 * (bit - 32) & 3;

	return on && gate_is_open(sim, bit);
}

/* A hypervisor has counters of its own for so many, the lowest ones. */
static bool starves(const struct sim_cpu *sim, unsigned int bit)
{
	unsigned int before = 0;
	u64 left;

	if (!is_broken(sim, bit, SIM_STARVED))
		return false;
	for (left = sim->broken_counters & all_counters(sim); left; left &= left - 1) {
		if (__ffs64(left) < bit && is_counting(sim, __ffs64(left)))
			before++;
	}
	return before >= sim->starved;
}

/* A counter that counts is reloaded by what CFG_B names, and by its own if CFG_C says so. */
static void reload(struct sim_cpu *sim, unsigned int overflowed)
{
	u64 left;

	if (!(sim->pmu.subleaves & BIT(2)))
		return;
	for (left = all_counters(sim) & MAY_HAVE_CFG; left; left &= left - 1) {
		unsigned int bit = __ffs64(left);
		u64 cfg_c = sim->regs.cfg_c[sim_cfg(bit)];
		u64 by = sim->regs.cfg_b[sim_cfg(bit)];

		if (cfg_c & CFG_C_EN)
			by |= BIT_ULL(bit);
		if (by & BIT_ULL(overflowed) && is_counting(sim, bit))
			*counter_at(sim, bit) = (s64)(s32)cfg_c & mask_of(sim, bit);
	}
}

static void grow(struct sim_cpu *sim, u64 *counter, unsigned int bit, u64 n)
{
	u64 mask = mask_of(sim, bit);

	if (is_broken(sim, bit, SIM_DEAD) || starves(sim, bit))
		return;
	if (is_broken(sim, bit, SIM_HALVED))
		n /= 2;
	bool overflows = n > mask - *counter;

	if (sim->pmu.version >= 2 && overflows && !is_broken(sim, bit, SIM_NO_OVERFLOW))
		sim->regs.global_status |= BIT_ULL(bit);
	*counter = (*counter + n) & mask;
	if (overflows)
		reload(sim, bit);
	if (overflows && interrupts(sim, bit))
		raise_pmi(sim);
}

static void count_generic(struct sim_cpu *sim, unsigned int i, u8 event,
			  u8 umask, bool user, u64 n)
{
	u64 sel = sim->regs.evtsel[i];

	/* TOPDOWN_RETIRING.ALL, which only a fixed counter has on this model. */
	if (event == 0xc2 && umask == 0x02)
		return;
	if (!(sel & EVTSEL_EN) || !gate_is_open(sim, i))
		return;
	/* AMD's cycles have another number, and events four bits more. */
	if (sim->pmu.amd && event == 0x3c)
		event = 0x76;
	if (sim->pmu.amd ? sel >> 32 & 0xf : sel & EVTSEL_UMASK2)
		return;
	if ((sel & 0xff) != event || (sel >> 8 & 0xff) != umask)
		return;
	if (sel & (user ? EVTSEL_USR : EVTSEL_OS))
		grow(sim, &sim->regs.pmc[i], i, n);
}

/*
 * INST_RETIRED.ANY, CPU_CLK_UNHALTED.THREAD and .REF_TSC, TOPDOWN.SLOTS,
 * TOPDOWN_BAD_SPECULATION.ALL, TOPDOWN_FE_BOUND.ALL, TOPDOWN_RETIRING.ALL
 */
static bool fixed_counts(unsigned int i, u8 event, u8 umask)
{
	switch (i) {
	case 0:
		return event == 0xc0 && umask == 0x00;
	case 1:
		return event == 0x3c && umask == 0x00;
	case 2:
		return event == 0x00 && umask == 0x03;
	case 3:
		return event == 0x00 && umask == 0x04;
	case 4:
		return event == 0x73 && umask == 0x00;
	case 5:
		return event == 0x9c && umask == 0x01;
	case 6:
		return event == 0xc2 && umask == 0x02;
	default:
		return false;
	}
}

static void count_fixed(struct sim_cpu *sim, unsigned int i, u8 event,
			u8 umask, bool user, u64 n)
{
	u64 field = sim->regs.fixed_ctr_ctrl >> (4 * i);

	if (!fixed_counts(i, event, umask) || !gate_is_open(sim, 32 + i))
		return;
	if (field & (user ? 2 : 1))
		grow(sim, &sim->regs.fixed[i], 32 + i, n);
}

/**
 * sim_retire() - the CPU has events
 * @sim: the CPU
 * @event: event select; 0 with umask 3 is the reference clock of fixed counter 2
 * @umask: unit mask
 * @user: at CPL 3, else at CPL 0
 * @n: how many, less than 2^width of any counter
 */
void sim_retire(struct sim_cpu *sim, u8 event, u8 umask, bool user, u64 n)
{
	u64 left = GENMASK_ULL(32 + SIM_FIXED - 1, 32) | GENMASK_ULL(SIM_GENERIC - 1, 0);
	unsigned int bit;

	if (!n)
		return;	/* no write at all: a test may be writing */
	/* A look at each counter would be most of the tests' time. */
	if (sim->pmu.version >= 2)
		left &= sim->regs.global_ctrl;
	for (; left; left &= left - 1) {
		bit = __ffs64(left);
		if (bit < 32)
			count_generic(sim, bit, event, umask, user, n);
		else if (has_fixed(sim, bit - 32))
			count_fixed(sim, bit - 32, event, umask, user, n);
	}
	/* Others may have overflowed on the same instruction. */
	if (sim->freezes)
		sim->regs.global_status |= STATUS_FROZEN;
	sim->freezes = false;
	if (sim->nmi_in == 1 && !sim->in_nmi) {
		sim->user = user;
		sim_nmi_comes(sim);
	}
}

/* --- MSRs: each returns -EIO for what raises #GP ---------------------------- */

static int write_evtsel(struct sim_cpu *sim, unsigned int i, u64 val)
{
	u64 reserved = GENMASK_ULL(63, 32);

	if (select_bits(&sim->pmu) & BIT(0))
		reserved &= ~EVTSEL_UMASK2;
	if (select_bits(&sim->pmu) & BIT(1))
		reserved &= ~EVTSEL_EQ;
	if (sim->pmu.version < 3 || sim->pmu.version > 4)
		reserved |= EVTSEL_ANY;
	if (sim->pmu.amd)
		val &= PERF_CTL_BITS;
	else if (val & reserved)
		return -EIO;
	if (!is_broken(sim, i, SIM_CONTROL_IGNORES))
		sim->regs.evtsel[i] = val;
	return 0;
}

/* SDM: a counter must not be written while it is enabled. */
static void note_if_counting(struct sim_cpu *sim, unsigned int bit, u32 msr)
{
	u64 control = bit < 32 ? sim->regs.evtsel[bit] & EVTSEL_EN :
		      sim->regs.fixed_ctr_ctrl >> (4 * (bit - 32)) & 3;

	if (control && gate_is_open(sim, bit) && !sim->has_failed)
		note_wrong(sim, "a counter was written while it counted", msr);
}

static void set_counter(struct sim_cpu *sim, u64 *counter, unsigned int bit,
			u64 val)
{
	if (!is_broken(sim, bit, SIM_COUNTER_IGNORES))
		*counter = val & mask_of(sim, bit);
}

static u64 value_of(const struct sim_cpu *sim, u64 counter, unsigned int bit)
{
	if (is_broken(sim, bit, SIM_CONSTANT))
		return 42;
	return counter & mask_of(sim, bit);
}

/* 32 bits, sign-extended to the counter's width. */
static int write_pmc(struct sim_cpu *sim, unsigned int i, u64 val)
{
	u64 extended = val & 0xffffffff;

	note_if_counting(sim, i, PMC0 + i);
	if (extended & BIT_ULL(31))
		extended |= GENMASK_ULL(63, 32);
	set_counter(sim, &sim->regs.pmc[i], i, extended);
	return 0;
}

static int write_a_pmc(struct sim_cpu *sim, unsigned int i, u64 val)
{
	if (val & ~ones(sim->pmu.width))
		return -EIO;
	note_if_counting(sim, i, A_PMC0 + i);
	set_counter(sim, &sim->regs.pmc[i], i, val);
	return 0;
}

static int write_fixed(struct sim_cpu *sim, unsigned int i, u64 val)
{
	if (val & ~ones(sim->pmu.fixed_width))
		return -EIO;
	note_if_counting(sim, 32 + i, FIXED_CTR0 + i);
	set_counter(sim, &sim->regs.fixed[i], 32 + i, val);
	return 0;
}

static int write_fixed_ctr_ctrl(struct sim_cpu *sim, u64 val)
{
	/* OS, USR and PMI; AnyThread in versions 3 and 4. */
	u64 field = sim->pmu.version == 3 || sim->pmu.version == 4 ? 0xf : 0xb;
	u64 defined = 0, ignored = 0;
	unsigned int i;

	for (i = 0; i < SIM_FIXED; i++) {
		if (has_fixed(sim, i))
			defined |= field << (4 * i);
		if (is_broken(sim, 32 + i, SIM_CONTROL_IGNORES))
			ignored |= 0xfULL << (4 * i);
	}
	if (val & ~defined)
		return -EIO;
	sim->regs.fixed_ctr_ctrl &= ignored;
	sim->regs.fixed_ctr_ctrl |= val & ~ignored;
	return 0;
}

static int write_global_ctrl(struct sim_cpu *sim, u64 val)
{
	if (sim->pmu.amd)
		val &= all_counters(sim);
	if (val & ~all_counters(sim))
		return -EIO;
	sim->regs.global_ctrl = val;
	return 0;
}

/* OvfBuf and CondChgd always; Uncore from 3, LBR_Frz, CTR_Frz, ASCI from 4. */
static int write_ovf_ctrl(struct sim_cpu *sim, u64 val)
{
	u64 defined = all_counters(sim) | BIT_ULL(62) | BIT_ULL(63);

	if (sim->pmu.version >= 3)
		defined |= BIT_ULL(61);
	if (sim->pmu.version >= 4)
		defined |= BIT_ULL(58) | BIT_ULL(59) | BIT_ULL(60);
	if (val & ~defined && !sim->pmu.amd)
		return -EIO;
	if (!sim->pmu.ack_running || sim->regs.global_ctrl)
		sim->regs.global_status &= ~val | sim->sticky;
	return 0;
}

static bool has_a_pmc(const struct sim_cpu *sim)
{
	return sim->pmu.version >= 6 || (sim->pmu.pdcm && sim->pmu.full_width) || sim->pmu.amd;
}

/* The register of Intel's that is like it; 0 if there is none. */
static u32 like_intels(const struct sim_cpu *sim, u32 msr)
{
	u32 i = (msr - PERF_CTL0) / 2;

	if (msr >= K7_EVNTSEL0 && msr < K7_EVNTSEL0 + PERF_LEGACY)
		return PERFEVTSEL0 + msr - K7_EVNTSEL0;
	if (msr >= K7_PERFCTR0 && msr < K7_PERFCTR0 + PERF_LEGACY)
		return A_PMC0 + msr - K7_PERFCTR0;
	if (sim->pmu.amd == SIM_AMD_CORE && msr >= PERF_CTL0 && i < sim->pmu.gp)
		return i + ((msr - PERF_CTL0) % 2 ? A_PMC0 : PERFEVTSEL0);
	if (msr == AMD_GLOBAL_STATUS)
		return GLOBAL_STATUS;
	if (msr == AMD_GLOBAL_CTL)
		return GLOBAL_CTRL;
	if (msr == AMD_GLOBAL_STATUS_CLR)
		return GLOBAL_OVF_CTRL;
	return msr == DEBUGCTL ? msr : 0;
}

/*
 * By the address that it has before version 6.  There such an address is no register here:
 * it would be one, of some counters, and nobody needs it.
 */
static u32 legacy(const struct sim_cpu *sim, u32 msr)
{
	u32 n = (msr & 0x7f) / 4;
	bool fixed = msr & 0x80;

	if (sim->pmu.amd)
		return like_intels(sim, msr);
	if (sim->pmu.version < 6)
		return msr;
	if (msr < GP0_CTR || msr >= GP0_CTR + 0x100)
		return msr >= FIXED_CTR_CTRL && msr <= GLOBAL_INUSE ? msr :
		       msr == PERF_CAPABILITIES || msr == TSX_FORCE_ABORT ||
		       msr == DEBUGCTL ? msr : 0;
	if (msr % 4 == GP0_CTR % 4)
		return n + (fixed ? FIXED_CTR0 : A_PMC0);
	return msr % 4 == GP0_CFG_A % 4 && !fixed ? n + PERFEVTSEL0 : 0;
}

/* CFG_B or CFG_C, or NULL if it is none of them. */
static u64 *cfg_at(struct sim_cpu *sim, u32 msr)
{
	unsigned int n = (msr & 0x7f) / 4, bit = msr & 0x80 ? 32 + n : n;
	u64 has = all_counters(sim) & MAY_HAVE_CFG;

	if (sim->pmu.version < 6 || msr < GP0_CTR || msr >= GP0_CTR + 0x100)
		return NULL;
	if (!(sim->pmu.subleaves & BIT(2)))
		has = 0;
	if (msr % 4 == CFG_B && has & BIT_ULL(bit))
		return &sim->regs.cfg_b[sim_cfg(bit)];
	if (sim->pmu.subleaves & BIT(5))
		has |= all_counters(sim) & (BIT_ULL(0) | BIT_ULL(32));
	return msr % 4 == CFG_C && has & BIT_ULL(bit) ? &sim->regs.cfg_c[sim_cfg(bit)] : NULL;
}

/* A register that some events need besides, or NULL if it is none. */
static u64 *extra_at(struct sim_cpu *sim, u32 msr)
{
	static const u32 msrs[] = { 0x1a6, 0x1a7, 0x3f7 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(msrs) && sim->pmu.extra; i++) {
		if (msrs[i] == msr)
			return &sim->regs.extra[i];
	}
	return NULL;
}

/* Version 0 is a CPU without any of these. */
static int write_msr(struct sim_cpu *sim, u32 msr, u64 val)
{
	if (sim->pmu.version < 1)
		return -EIO;
	if (msr == DEBUGCTL) {
		if (sim->no_freeze == 1)
			return -EIO;
		sim->regs.debugctl = sim->no_freeze ? val & ~DEBUGCTL_FREEZE : val;
		return 0;
	}
	if (extra_at(sim, msr)) {
		if (val >> 37)
			return -EIO;
		*extra_at(sim, msr) = val;
		return 0;
	}
	if (has_generic(sim, msr - PERFEVTSEL0))
		return write_evtsel(sim, msr - PERFEVTSEL0, val);
	if (has_generic(sim, msr - PMC0))
		return write_pmc(sim, msr - PMC0, val);
	if (has_a_pmc(sim) && has_generic(sim, msr - A_PMC0))
		return write_a_pmc(sim, msr - A_PMC0, val);
	if (sim->pmu.version < 2)
		return -EIO;
	if (has_fixed(sim, msr - FIXED_CTR0))
		return write_fixed(sim, msr - FIXED_CTR0, val);
	switch (msr) {
	case FIXED_CTR_CTRL:
		return write_fixed_ctr_ctrl(sim, val);
	case GLOBAL_CTRL:
		return write_global_ctrl(sim, val);
	case GLOBAL_OVF_CTRL:
		return write_ovf_ctrl(sim, val);
	default:
		return -EIO;	/* GLOBAL_STATUS, too, is read-only */
	}
}

/* SDM, "IA32_PERF_GLOBAL_INUSE MSR": computed; bit 63 is about interrupts. */
static int read_inuse(const struct sim_cpu *sim, u64 *val)
{
	unsigned int i;

	if (sim->pmu.version < 4)
		return -EIO;
	for (i = 0; i < SIM_GENERIC; i++) {
		if (sim->regs.evtsel[i] & 0xff)
			*val |= BIT_ULL(i);
		if (sim->regs.evtsel[i] & EVTSEL_INT)
			*val |= BIT_ULL(63);
	}
	for (i = 0; i < SIM_FIXED; i++) {
		if (sim->regs.fixed_ctr_ctrl >> (4 * i) & 3)
			*val |= BIT_ULL(32 + i);
		if (sim->regs.fixed_ctr_ctrl >> (4 * i) & 8)
			*val |= BIT_ULL(63);
	}
	return 0;
}

static int read_global(struct sim_cpu *sim, u32 msr, u64 *val)
{
	switch (msr) {
	case FIXED_CTR_CTRL:
		*val = sim->regs.fixed_ctr_ctrl;
		return 0;
	case GLOBAL_STATUS:
		*val = sim->regs.global_status;
		return 0;
	case GLOBAL_CTRL:
		*val = sim->regs.global_ctrl;
		return 0;
	case GLOBAL_OVF_CTRL:
		*val = 0;
		return 0;
	case GLOBAL_INUSE:
		return read_inuse(sim, val);
	default:
		return -EIO;
	}
}

static u64 generic_value(const struct sim_cpu *sim, unsigned int i)
{
	return value_of(sim, sim->regs.pmc[i], i);
}

static u64 fixed_value(const struct sim_cpu *sim, unsigned int i)
{
	return value_of(sim, sim->regs.fixed[i], 32 + i);
}

static int read_msr(struct sim_cpu *sim, u32 msr, u64 *val)
{
	*val = 0;
	if (msr == PERF_CAPABILITIES && sim->pmu.pdcm) {
		*val = sim->pmu.full_width ? BIT_ULL(13) : 0;
		return 0;
	}
	if (msr == TSX_FORCE_ABORT && sim->pmu.tfa) {
		*val = sim->regs.tsx_force_abort;
		return 0;
	}
	if (sim->pmu.version < 1)
		return -EIO;
	if (msr == DEBUGCTL)
		*val = sim->regs.debugctl;
	else if (extra_at(sim, msr))
		*val = *extra_at(sim, msr);
	else if (has_generic(sim, msr - PERFEVTSEL0))
		*val = sim->regs.evtsel[msr - PERFEVTSEL0];
	else if (has_generic(sim, msr - PMC0))
		*val = generic_value(sim, msr - PMC0);
	else if (has_a_pmc(sim) && has_generic(sim, msr - A_PMC0))
		*val = generic_value(sim, msr - A_PMC0);
	else if (has_fixed(sim, msr - FIXED_CTR0))
		*val = fixed_value(sim, msr - FIXED_CTR0);
	else
		return sim->pmu.version < 2 ? -EIO : read_global(sim, msr, val);
	return 0;
}

/* SDM, RDPMC: bit 30 selects the fixed counters; bit 31 is reserved. */
static int read_pmc(struct sim_cpu *sim, u32 index, u64 *val)
{
	*val = 0;
	if (sim->pmu.version < 1)
		return -EIO;
	if (has_generic(sim, index))
		*val = generic_value(sim, index);
	else if (index & RDPMC_FIXED && has_fixed(sim, index & ~RDPMC_FIXED))
		*val = fixed_value(sim, index & ~RDPMC_FIXED);
	else
		return -EIO;
	return 0;
}

/* --- accesses: faults on demand, the log, the cost -------------------------- */

static bool fails_on_demand(struct sim_cpu *sim, u32 reg)
{
	if (sim->fail_reg && sim->fail_reg == reg)
		return true;
	if (!sim->fail_nth)
		return false;
	if (sim->fail_nth > 1) {
		sim->fail_nth--;
		return false;
	}
	if (!sim->fail_all_after)
		sim->fail_nth = 0;
	return true;
}

/* Instructions, the cycles that they take, and slots that are lost to each cause. */
static void own_work(struct sim_cpu *sim, u64 n, u64 lost)
{
	if (!(n | lost))
		return;
	sim_retire(sim, 0xc0, 0x00, false, n);
	sim_retire(sim, 0x3c, 0x00, false, n * (sim->cycles ?: 1));
	sim_retire(sim, 0x73, 0x00, false, lost);
	sim_retire(sim, 0x9c, 0x01, false, lost);
	sim_retire(sim, 0xc2, 0x02, false, n);
}

static int access_register(enum sim_op op, u32 reg, u64 *val)
{
	struct sim_cpu *sim = this_sim();
	int err = -EIO;

	if (!irqs_disabled())
		note_wrong(sim, "an access with interrupts on", reg);
	own_work(sim, sim->insns_per_access, sim->insns_per_access);
	if (fails_on_demand(sim, reg)) {
		sim->has_failed = true;
		sim->failed = (struct sim_access) {
			.op = op,
			.reg = op == SIM_RDPMC || cfg_at(sim, reg) ? reg : legacy(sim, reg),
			.val = *val, .faulted = true };
		if (op != SIM_WRMSR)
			*val = 0;
	} else if (op == SIM_RDMSR) {
		err = cfg_at(sim, reg) ? (*val = *cfg_at(sim, reg), 0) :
					 read_msr(sim, legacy(sim, reg), val);
	} else if (op == SIM_WRMSR) {
		err = cfg_at(sim, reg) ? (*cfg_at(sim, reg) = *val, 0) :
					 write_msr(sim, legacy(sim, reg), *val);
	} else {
		err = read_pmc(sim, reg, val);
	}
	if (sim->accesses < SIM_ACCESSES)
		sim->log[sim->accesses] = (struct sim_access) {
			.op = op, .reg = reg, .val = *val, .faulted = err,
			.time = sim_now() };
	sim->accesses++;
	sim_nmi_nears(sim);
	return err;
}

int hw_rdmsr(u32 msr, u64 *val)
{
	return access_register(SIM_RDMSR, msr, val);
}

int hw_wrmsr(u32 msr, u64 val)
{
	return access_register(SIM_WRMSR, msr, &val);
}

int hw_peek_msr(u32 msr, u64 *val)
{
	return access_register(SIM_RDMSR, msr, val);
}

int hw_rdpmc(u32 index, u64 *val)
{
	return access_register(SIM_RDPMC, index, val);
}

bool sim_without_ticks;

u64 sim_tick_ns = SIM_TICK_NS;

u64 hw_fast_ticks(void)
{
	return sim_now();
}

/* --- code whose instruction count is known --------------------------------------- */

/* One cycle, reference cycle and slot for each instruction, as in our lab. */
void hw_run_known_code(unsigned int rounds)
{
	struct sim_cpu *sim = this_sim();
	u64 n = rounds * HW_ROUND_INSTRUCTIONS;

	if (sim->known_codes < 64 &&
	    sim->disturb_calls & BIT_ULL(sim->known_codes))
		n += sim->disturb;
	if (sim->disturb_pmis && sim->known_codes % 2 && sim->regs.evtsel[0] & BIT(20))
		n += sim->disturb;
	sim->known_codes++;
	own_work(sim, n, sim->uneven ? sim->uneven << sim->known_codes % 2 : n);
	sim_retire(sim, 0x00, 0x03, false, n);
	sim_retire(sim, 0x00, 0x04, false, n);
}

/* --- CPUID ------------------------------------------------------------------ */

static void leaf_1(const struct sim_pmu *pmu, u32 *eax, u32 *ecx)
{
	u32 family = pmu->family ?: pmu->amd ? 0x17 : 6, base = min(family, 0xfU);

	*eax = base << 8 | (family - base) << 20 | (pmu->model & 0xf) << 4 |
	       (pmu->model >> 4) << 16;
	*ecx = (pmu->pdcm ? BIT(15) : 0) | (pmu->hypervisor ? BIT(31) : 0);
}

static void leaf_a(const struct sim_pmu *pmu, u32 *eax, u32 *ebx, u32 *ecx,
		   u32 *edx)
{
	*eax = pmu->version | pmu->gp << 8 | pmu->width << 16 |
	       pmu->ebx_length << 24;
	*ebx = pmu->ebx;
	*ecx = pmu->fixed_bitmap;
	*edx = pmu->secret ? 0 : pmu->fixed | pmu->fixed_width << 5;
}

/*
 * Which sub-leaves there are; counters; those that can be reloaded; events, of which those
 * that exist are ones; counters of precise events.
 */
static void leaf_23(const struct sim_pmu *pmu, u32 subleaf, u32 *eax, u32 *ebx, u32 *ecx)
{
	switch (subleaf) {
	case 0:
		*eax = pmu->subleaves ?: 0xb;
		*ebx = select_bits(pmu);
		break;
	case 1:
		*eax = generic_bitmap(pmu);
		*ebx = pmu->fixed_bitmap;
		break;
	case 2:
		*eax = generic_bitmap(pmu);
		*ebx = pmu->fixed_bitmap;
		break;
	case 5:
		*eax = generic_bitmap(pmu) & -generic_bitmap(pmu);
		*ecx = pmu->fixed_bitmap & -pmu->fixed_bitmap;
		break;
	case 3:
		*eax = (~pmu->ebx & ones(pmu->ebx_length)) | pmu->more_events;
		break;
	}
}

/* As the seam promises: a leaf beyond the CPU's last reads as zeros. */
void hw_cpuid(u32 leaf, u32 subleaf, u32 *eax, u32 *ebx, u32 *ecx, u32 *edx)
{
	struct sim_cpu *sim = this_sim();
	const struct sim_pmu *pmu = &sim->pmu;

	if (!irqs_disabled())
		note_wrong(sim, "CPUID with interrupts on", leaf);
	*eax = 0;
	*ebx = 0;
	*ecx = 0;
	*edx = 0;
	if (leaf == 0x80000001 && pmu->amd == SIM_AMD_CORE)
		*ecx = BIT(23);
	if (leaf == 0x80000022 && pmu->amd && pmu->version >= 2) {
		*eax = 1 | (pmu->freezes ? BIT(2) : 0);
		*ebx = pmu->gp;
	}
	if (leaf > (pmu->last_leaf ?: has_ext(pmu) ? 0x23 : 0x16))
		return;
	if (leaf == 1)
		leaf_1(pmu, eax, ecx);
	else if (leaf == 0xb)
		*ebx = pmu->threads;
	else if (leaf == 0xa)
		leaf_a(pmu, eax, ebx, ecx, edx);
	else if (leaf == 7 && subleaf == 0)
		*eax = 1;
	else if (leaf == 7 && subleaf == 1)
		*eax = has_ext(pmu) ? BIT(8) : 0;
	else if (leaf == 0x23)
		leaf_23(pmu, subleaf, eax, ebx, ecx);
}

bool hw_has_architectural_vendor(void)
{
	return !this_sim()->pmu.other_vendor && !this_sim()->pmu.amd;
}

bool hw_has_amd_vendor(void)
{
	return this_sim()->pmu.amd;
}

bool hw_has_tsx_force_abort(void)
{
	return this_sim()->pmu.tfa;
}

bool hw_acks_while_running(void)
{
	return this_sim()->pmu.ack_running;
}

bool hw_user_may_rdpmc(void)
{
	return this_sim()->pmu.user_rdpmc;
}

bool hw_is_hybrid(void)
{
	return sim_cpu(0)->pmu.hybrid;
}

bool hw_is_xen_pv(void)
{
	return this_sim()->pmu.xen_pv;
}

/* --- reservations ----------------------------------------------------------- */

static void take(struct sim_reservations *r, u32 *held, u32 bit, u32 msr)
{
	*held |= bit;
	r->order[r->nr++] = msr;
}

/* What was taken last is given back first. */
static void give(struct sim_reservations *r, u32 *held, u32 bit, u32 msr)
{
	if (!(*held & bit)) {
		r->wrong++;
		return;
	}
	*held &= ~bit;
	r->nr--;
	if (r->order[r->nr] != msr)
		r->wrong++;
}

/* A counter's number, by the first register of its kind. */
static unsigned int number_of(u32 msr, u32 intels, u32 amds)
{
	return msr - (msr >= amds ? amds : intels);
}

bool hw_reserve_evntsel(u32 msr)
{
	struct sim_reservations *r = &sim_reservations;
	u32 bit = BIT(number_of(msr, PERFEVTSEL0, K7_EVNTSEL0));

	if (r->fail_nth && --r->fail_nth == 0)
		return false;
	if ((r->held | r->foreign) & bit)
		return false;
	take(r, &r->held, bit, msr);
	return true;
}

/* Whoever takes it next must not find it counting for us. */
void hw_release_evntsel(u32 msr)
{
	struct sim_reservations *r = &sim_reservations;
	unsigned int i = number_of(msr, PERFEVTSEL0, K7_EVNTSEL0), cpu;

	for (cpu = 0; cpu < SIM_CPUS; cpu++) {
		if (sim_cpu(cpu)->regs.evtsel[i] & EVTSEL_EN &&
		    !(r->firmware & BIT(i)))
			r->wrong++;
	}
	give(r, &r->held, BIT(i), msr);
}

bool hw_reserve_perfctr(u32 msr)
{
	struct sim_reservations *r = &sim_reservations;
	unsigned int i = number_of(msr, PMC0, K7_PERFCTR0);
	u32 bit;

	/* Linux knows no other, and lets everybody have it. */
	if (i >= SIM_GENERIC)
		return true;
	bit = BIT(i);
	if (r->fail_nth && --r->fail_nth == 0)
		return false;
	if ((r->held_perfctr | r->foreign_perfctr) & bit)
		return false;
	take(r, &r->held_perfctr, bit, msr);
	return true;
}

void hw_release_perfctr(u32 msr)
{
	struct sim_reservations *r = &sim_reservations;

	give(r, &r->held_perfctr, BIT(number_of(msr, PMC0, K7_PERFCTR0)), msr);
}

/* --- perf -------------------------------------------------------------------- */

struct sim_perf sim_perf;

/* While the module has reserved event selects perf has no PMU; or it has, all the same. */
void *my_perf_hold(int cpu, bool *knows_model)
{
	unsigned int i;

	might_sleep();
	if (knows_model)
		*knows_model = !sim_perf.unknown_model;
	if (sim_perf.err)
		return ERR_PTR(sim_perf.err);
	if (sim_perf.fail_hold && !--sim_perf.fail_hold)
		return ERR_PTR(-ENOMEM);
	if (sim_reservations.held && !sim_perf.stays)
		return ERR_PTR(-EBUSY);
	sim_perf.held++;
	if (sim_perf.writes_ctrl)
		sim_cpu(cpu)->regs.global_ctrl = all_counters(sim_cpu(cpu));
	for (i = 0; i < SIM_GENERIC && sim_perf.ends & BIT(cpu); i++)
		sim_cpu(cpu)->regs.evtsel[i] &= ~EVTSEL_EN;
	return &sim_perf;
}

/* Of each CPU two, so that the one that comes is not the one that goes. */
static char guards[SIM_CPUS][2];

/* perf's writes, for an event that has no counter. */
static void guard_cpu(void *unused)
{
	struct sim_cpu *sim = this_sim();
	unsigned int i;

	sim->regs.global_ctrl = all_counters(sim);
	for (i = 0; i < SIM_GENERIC && sim_perf.stops & BIT(raw_smp_processor_id()); i++)
		sim->regs.evtsel[i] &= ~EVTSEL_EN;
}

void *my_perf_exclude(int cpu)
{
	might_sleep();
	if (!sim_perf.excludes)
		return ERR_PTR(-EINVAL);
	if (sim_perf.fail_nth && !--sim_perf.fail_nth)
		return ERR_PTR(-ENOMEM);
	if (sim_perf.pinned & BIT(cpu))
		return ERR_PTR(-EBUSY);
	/* One that was put off may be there until another one is. */
	if (sim_perf.guards & ~sim_perf.lost & BIT(cpu))
		sim_perf.wrong++;
	sim_perf.excluded++;
	sim_perf.open++;
	sim_perf.guards |= BIT(cpu);
	sim_perf.lost &= ~BIT(cpu);
	sim_perf.second ^= BIT(cpu);
	smp_call_function_single(cpu, guard_cpu, NULL, 1);
	if (sim_perf.meanwhile)
		sim_perf.meanwhile();
	return &guards[cpu][!!(sim_perf.second & BIT(cpu))];
}

bool my_perf_excludes(void *guard)
{
	unsigned int cpu;

	for (cpu = 0; cpu < SIM_CPUS; cpu++) {
		if (guard == &guards[cpu][!!(sim_perf.second & BIT(cpu))])
			return !(sim_perf.lost & BIT(cpu));
	}
	return false;
}

/* Somebody else has events of perf's on this CPU. */
static void take_counters(struct sim_cpu *sim)
{
	sim_reservations.foreign = ~0;
	sim->regs.evtsel[2] = 0x4300c4;
	sim->regs.pmc[2] = 42;
	sim->regs.fixed[1] = 42;
	sim->regs.fixed_ctr_ctrl |= 0xb0;
	sim->regs.global_ctrl = all_counters(sim);
}

void my_perf_let_go(void *held)
{
	unsigned int cpu;

	might_sleep();
	if (IS_ERR(held))
		return;
	if (held == &sim_perf) {
		sim_perf.held--;
		for (cpu = 0; cpu < SIM_CPUS; cpu++) {
			if (sim_perf.taken & BIT(cpu))
				take_counters(sim_cpu(cpu));
		}
		return;
	}
	if (sim_perf.meanwhile)
		sim_perf.meanwhile();
	sim_perf.open--;
	for (cpu = 0; cpu < SIM_CPUS; cpu++) {
		if (held == &guards[cpu][!!(sim_perf.second & BIT(cpu))])
			sim_perf.guards &= ~BIT(cpu);
	}
}

/* A question, to whatever answer; 0 if there may be one. */
static int asked(int cpu)
{
	might_sleep();
	sim_perf.asked++;
	sim_perf.cpu = cpu;
	if (!(sim_perf.held || sim_perf.err) || sim_reservations.held)
		sim_perf.wrong++;
	if (sim_perf.fail_nth && !--sim_perf.fail_nth)
		return -ENOMEM;
	return sim_perf.err;
}

/* As the kernel's: sysfs wants a page of its own, and some texts end in a newline. */
int my_perf_show(int cpu, const char *name, char *page)
{
	int err = asked(cpu);
	unsigned int i;

	if (offset_in_page(page) || memchr_inv(page, 0, PAGE_SIZE))
		sim_perf.wrong++;
	for (i = 0; i < sim_perf.nr_names && !err; i++) {
		if (strcmp(sim_perf.names[i].name, name))
			continue;
		strscpy(page, sim_perf.names[i].text, PAGE_SIZE);
		return 0;
	}
	return err ?: -ENOENT;
}

/* It leaves traces in each counter that it uses, as perf does. */
static void count_on_cpu(void *counters)
{
	struct sim_cpu *sim = this_sim();
	u64 left;

	for (left = *(u64 *)counters & all_counters(sim); left; left &= left - 1) {
		int i = __ffs64(left);

		if (i < 32) {
			sim->regs.evtsel[i] = 0x1300c0 + i;
			sim->regs.pmc[i] = 0x80000000 & mask_of(sim, i);
		} else {
			sim->regs.fixed[i - 32] = 0x80000000 & mask_of(sim, i);
		}
	}
	if (sim->pmu.version >= 2) {
		sim->regs.fixed_ctr_ctrl = 0;
		sim->regs.global_ctrl = all_counters(sim);
	}
}

int my_perf_find_counters(int cpu, u32 type, u64 config, u64 *counters)
{
	int err = asked(cpu);
	unsigned int i;

	sim_perf.asked--;
	sim_perf.counted++;
	sim_perf.counted_on |= BIT(cpu);
	*counters = 0;
	for (i = 0; i < sim_perf.nr && !err; i++) {
		const struct sim_perf_event *event = &sim_perf.events[i];

		if ((event->type == type && event->config == config) ||
		    (type == PERF_TYPE_RAW && (event->answer & 0xff84ffff) == config))
			*counters = event->counters;
	}
	smp_call_function_single(cpu, count_on_cpu, counters, 1);
	return err ?: *counters ? 0 : -ENOENT;
}

int my_perf_ask(int cpu, u32 type, u64 config, u64 config1, struct my_perf_answer *answer)
{
	int err = asked(cpu);
	unsigned int i;

	for (i = 0; i < sim_perf.nr && !err; i++) {
		const struct sim_perf_event *event = &sim_perf.events[i];

		if (event->type != type || event->config != config ||
		    sim_perf.unlike & BIT(cpu))
			continue;
		answer->config = event->answer;
		answer->extra_msr = event->extra;
		answer->extra_config = event->value ?: event->extra ? config1 : 0;
		return event->extra && config1 & ~event->valid ? -EINVAL : event->err;
	}
	return err ?: -ENOENT;
}

int my_frontend_register(int cpu, struct my_pmu_why *why)
{
	if (sim_perf.refuses)
		return my_refuse(why, -ENOMEM, "no memory");
	sim_perf.wrong += sim_perf.registered ? 1 : 0;
	sim_perf.registered = BIT(cpu);
	return 0;
}

void my_frontend_unregister(void)
{
	sim_perf.wrong += sim_perf.registered ? 0 : 1;
	sim_perf.registered = 0;
}
