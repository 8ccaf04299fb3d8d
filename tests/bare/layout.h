/* SPDX-License-Identifier: GPL-2.0 */
/* What the assembly and the C of the bare programs share: where things are. */
#ifndef BARE_LAYOUT_H
#define BARE_LAYOUT_H

/* Selectors; SYSRET wants USER_CS32, USER_DS, USER_CS in this order. */
#define KERNEL_CS	0x08
#define KERNEL_DS	0x10
#define USER_CS32	0x1b
#define USER_DS		0x23
#define USER_CS		0x2b
#define KERNEL_CS32	0x30
#define KERNEL_CS16	0x38
#define KERNEL_DS16	0x40
#define KERNEL_TSS	0x48

#define VECTOR_SKIP	0x70	/* returns at once */
#define VECTOR_PMI	0x71
#define VECTOR_TIMER	0x72
#define VECTOR_USER	0x80	/* ends a ring 3 excursion */
#define VECTOR_SPURIOUS	0xff

/* Real mode code and its stack; a page, as a start-up IPI wants it. */
#define LOW		0x8000
#define LOW_STACK	0x7ff0

/* 2 MB of 4 KB pages; the work of faults unmaps the second one. */
#define SCRATCH		0x2000000
#define SCRATCH_HOT	(SCRATCH + 0x1000)

/* Neither RAM nor a device of the machine's. */
#define NO_MEMORY	0x10000000

#define APIC		0xfee00000
#define APIC_EOI	0xb0

#define TRACE_MAX	4096

/* What measure() itself adds to a routine, CALL and RET included. */
#define MEASURE_INSTRUCTIONS	6
#define MEASURE_BRANCHES	2
/* ... and what that makes of an empty one, in ring 0: an odd number */
#define ALL_OF_EMPTY		(MEASURE_INSTRUCTIONS + 1)

/* Of the routine that is there for each mode of the CPU */
#define BODY_INSTRUCTIONS	251
#define ALL_OF_BODY		(BODY_INSTRUCTIONS + ALL_OF_EMPTY)
#define BODY_BRANCHES		100

/* In in_user(), up to ring 3 */
#define IN_USER_INSTRUCTIONS	13

/* What step_entry and break_entry execute for each #DB */
#define STEP_INSTRUCTIONS	11
#define BREAK_INSTRUCTIONS	3

/* NOPs on which a PMI that is held back comes: up to SKID_MAX, and twice */
#define SKID_MAX		2000
#define SLED_LENGTH		5000
/* How often sled_long reads; each of it leaves QEMU's translated code */
#define LONG_READS		60000000

/* Flags of a piece of work, see work.S */
#define WORK_RING0	1	/* not for ring 3 */
#define WORK_RING3	2	/* only for ring 3 */
#define WORK_HALTS	8	/* until the APIC timer wakes it */
#define WORK_FAR	4	/* whether far transfers are branches is the model's */
#define WORK_INTEL	16	/* not for AMD's CPUs */
#define WORK_TRAPS	32	/* an exception or interrupt comes meanwhile, one */

/* The how manieth instruction HLT is in it */
#define HLT_INSTRUCTION	7

#endif
