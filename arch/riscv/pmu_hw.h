/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The seam to the hardware of RISC-V.  Nothing else in the module calls the firmware (SBI) or
 * reads a counter, so a test that brings its own version of this header brings its own PMU.
 *
 * All of it acts on the CPU it runs on.
 */
#ifndef MY_PMU_HW_H
#define MY_PMU_HW_H

#include <linux/errno.h>
#include <linux/types.h>
#include <asm/csr.h>
#include <asm/hwcap.h>
#include <asm/cpufeature.h>
#include <asm/sbi.h>

#ifndef CONFIG_64BIT
#error "my_pmu is for x86-64 and riscv64"
#endif

/* SBI has it since version 0.3. */
static inline bool hw_has_sbi_pmu(void)
{
	return !sbi_spec_is_0_1() && sbi_probe_extension(SBI_EXT_PMU) > 0;
}

/* Of the specification that the firmware follows: 2 for 2.0. */
static inline unsigned int hw_sbi_version(void)
{
	return sbi_spec_version >> SBI_SPEC_VERSION_MAJOR_SHIFT & SBI_SPEC_VERSION_MAJOR_MASK;
}

/* Counters can count some modes only; and interrupt at an overflow, which is perf's. */
static inline bool hw_has_sscofpmf(void)
{
	return riscv_isa_extension_available(NULL, SSCOFPMF);
}

/*
 * A call of the PMU extension: 0 and *val, or one of SBI's errors.  With 64 bits a call has no
 * use for more arguments than these.
 */
static inline long hw_sbi_pmu(unsigned long function, unsigned long arg0, unsigned long arg1,
			      unsigned long arg2, unsigned long arg3, unsigned long arg4,
			      unsigned long *val)
{
	struct sbiret ret = sbi_ecall(SBI_EXT_PMU, function, arg0, arg1, arg2, arg3, arg4, 0);

	*val = ret.value;
	return ret.error;
}

/* A CSR's number is a part of the instruction that reads it. */
static inline u64 hw_read_lower(unsigned int csr)
{
	switch (csr) {
	case CSR_CYCLE:
		return csr_read(CSR_CYCLE);
	case CSR_INSTRET:
		return csr_read(CSR_INSTRET);
	case CSR_HPMCOUNTER3:
		return csr_read(CSR_HPMCOUNTER3);
	case CSR_HPMCOUNTER4:
		return csr_read(CSR_HPMCOUNTER4);
	case CSR_HPMCOUNTER5:
		return csr_read(CSR_HPMCOUNTER5);
	case CSR_HPMCOUNTER6:
		return csr_read(CSR_HPMCOUNTER6);
	case CSR_HPMCOUNTER7:
		return csr_read(CSR_HPMCOUNTER7);
	case CSR_HPMCOUNTER8:
		return csr_read(CSR_HPMCOUNTER8);
	case CSR_HPMCOUNTER9:
		return csr_read(CSR_HPMCOUNTER9);
	case CSR_HPMCOUNTER10:
		return csr_read(CSR_HPMCOUNTER10);
	case CSR_HPMCOUNTER11:
		return csr_read(CSR_HPMCOUNTER11);
	case CSR_HPMCOUNTER12:
		return csr_read(CSR_HPMCOUNTER12);
	case CSR_HPMCOUNTER13:
		return csr_read(CSR_HPMCOUNTER13);
	case CSR_HPMCOUNTER14:
		return csr_read(CSR_HPMCOUNTER14);
	case CSR_HPMCOUNTER15:
		return csr_read(CSR_HPMCOUNTER15);
	default:
		return 0;
	}
}

static inline u64 hw_read_upper(unsigned int csr)
{
	switch (csr) {
	case CSR_HPMCOUNTER16:
		return csr_read(CSR_HPMCOUNTER16);
	case CSR_HPMCOUNTER17:
		return csr_read(CSR_HPMCOUNTER17);
	case CSR_HPMCOUNTER18:
		return csr_read(CSR_HPMCOUNTER18);
	case CSR_HPMCOUNTER19:
		return csr_read(CSR_HPMCOUNTER19);
	case CSR_HPMCOUNTER20:
		return csr_read(CSR_HPMCOUNTER20);
	case CSR_HPMCOUNTER21:
		return csr_read(CSR_HPMCOUNTER21);
	case CSR_HPMCOUNTER22:
		return csr_read(CSR_HPMCOUNTER22);
	case CSR_HPMCOUNTER23:
		return csr_read(CSR_HPMCOUNTER23);
	case CSR_HPMCOUNTER24:
		return csr_read(CSR_HPMCOUNTER24);
	case CSR_HPMCOUNTER25:
		return csr_read(CSR_HPMCOUNTER25);
	case CSR_HPMCOUNTER26:
		return csr_read(CSR_HPMCOUNTER26);
	case CSR_HPMCOUNTER27:
		return csr_read(CSR_HPMCOUNTER27);
	case CSR_HPMCOUNTER28:
		return csr_read(CSR_HPMCOUNTER28);
	case CSR_HPMCOUNTER29:
		return csr_read(CSR_HPMCOUNTER29);
	case CSR_HPMCOUNTER30:
		return csr_read(CSR_HPMCOUNTER30);
	case CSR_HPMCOUNTER31:
		return csr_read(CSR_HPMCOUNTER31);
	default:
		return 0;
	}
}

/*
 * A counter by the number of its CSR, cycle to hpmcounter31.  Of one that does not exist, or that
 * the firmware does not let be read, that is an illegal instruction: only what the firmware has
 * told of is read.
 */
static inline u64 hw_read_counter(unsigned int csr)
{
	return csr < CSR_HPMCOUNTER16 ? hw_read_lower(csr) : hw_read_upper(csr);
}

/* --- what the other architecture has ---------------------------------------------- */

/* All CPUs have the same kind of PMU, or tell so themselves. */
static inline bool hw_is_hybrid(void)
{
	return false;
}

/* If processes may read counters (scounteren), perf nevertheless writes none of them. */
static inline bool hw_user_may_rdpmc(void)
{
	return false;
}

/* Linux has no reservations: the firmware gives a counter to whoever asks first. */
static inline bool hw_reserve_evntsel(u32 number)
{
	return true;
}

static inline void hw_release_evntsel(u32 number)
{
}

static inline bool hw_reserve_perfctr(u32 number)
{
	return true;
}

static inline void hw_release_perfctr(u32 number)
{
}

/* The interrupt of counters has one handler, perf's (drivers/perf/riscv_pmu_sbi.c). */
#define HW_PERIODS_NEED "interrupts of counters, whose one handler is perf's on RISC-V"

static inline bool hw_has_apic(void)
{
	return false;
}

enum { NMI_DONE, NMI_HANDLED };

#define hw_take_nmis(handler)	((void)(handler), -EOPNOTSUPP)

static inline void hw_release_nmis(void)
{
}

/* --- code of known length ------------------------------------------------------------ */

/* Instructions of a round of hw_run_known_code(), one of them a branch. */
#define HW_ROUND_INSTRUCTIONS	16

/*
 * Code whose instruction count is known: so many rounds, in which each multiplication
 * waits for the one before.
 */
static __always_inline void hw_run_known_code(unsigned int rounds)
{
	unsigned long chain = 1, left = rounds;

	asm volatile("1:\n"
		     "	.rept 14\n"
		     "	mul %[chain], %[chain], %[chain]\n"
		     "	.endr\n"
		     "	addi %[left], %[left], -1\n"
		     "	bnez %[left], 1b\n"
		     : [left] "+r" (left), [chain] "+r" (chain)
		     : : "memory");
}

#endif
