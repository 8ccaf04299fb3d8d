/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A jump that lies across a page boundary, behind an instruction that an
 * emulator would put into the same block: TURNS turns of 4 instructions, 2 of
 * them branches; and 5 instructions, 2 of them branches, for the rest.
 */
	.globl _start
_start:
	mov	$TURNS, %ecx
	jmp	turn
	.balign	4096
	.skip	4096 - 3
turn:
	nop
	.byte	0xe9		/* jmp rel32: two bytes here, three there */
	.long	1f - . - 4
	.skip	64
1:	dec	%ecx
	jnz	turn
	mov	$60, %eax	/* exit(0) */
	xor	%edi, %edi
	syscall
