/* SPDX-License-Identifier: GPL-2.0 */
/*
 * TURNS of 32 user instructions, one of them a branch. Counting branches costs the
 * emulator half a nanosecond for each: a tenth of a turn of loop.S, which is slower
 * then, but less than a thousandth of one of these, whose work is slow. So this
 * takes as long whatever is counted, once that does not change.
 */
	.globl _start
_start:
	mov	$TURNS, %rcx
	fld1
1:
	.rept	30
	fsqrt				/* of 1: each time the same work */
	.endr
	dec	%rcx
	jnz	1b
	mov	$60, %eax		/* exit(0) */
	xor	%edi, %edi
	syscall
