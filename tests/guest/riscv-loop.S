/* SPDX-License-Identifier: GPL-2.0 */
/*
 * INSTRUCTIONS user instructions exactly, a multiple of two: six and two a turn. The ecall is one
 * of them: QEMU counts it, although by the ISA what traps does not retire.
 */
	.globl _start
_start:
	lui	t0, %hi((INSTRUCTIONS - 6) / 2)
	addi	t0, t0, %lo((INSTRUCTIONS - 6) / 2)
1:	addi	t0, t0, -1
	bnez	t0, 1b
	nop
	li	a0, 0			/* exit(0) */
	li	a7, 93
	ecall
