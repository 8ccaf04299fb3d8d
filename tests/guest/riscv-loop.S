/* SPDX-License-Identifier: GPL-2.0 */
/*
 * INSTRUCTIONS user instructions exactly, a multiple of two: six or eight and two a turn. The last
 * ecall is one of them: QEMU counts it, although by the ISA what traps does not retire. With PAUSE
 * the program sleeps before them, 0.3 s, and that ecall is for another sleep.
 */
#ifdef PAUSE
#define OTHERS	8
#else
#define OTHERS	6
#endif
	.option	norelax

	.macro	pause
	lla	a0, time		/* nanosleep(&time, NULL): two, and three */
	li	a1, 0
	li	a7, 101
	ecall
	.endm

	.globl	_start
_start:
#ifdef PAUSE
	pause
#endif
	lui	t0, %hi((INSTRUCTIONS - OTHERS) / 2)
	addi	t0, t0, %lo((INSTRUCTIONS - OTHERS) / 2)
1:	addi	t0, t0, -1
	bnez	t0, 1b
	nop
#ifdef PAUSE
	pause
#endif
	li	a0, 0			/* exit(0) */
	li	a7, 93
	ecall

	.balign	8
time:	.dword	0, 300000000
