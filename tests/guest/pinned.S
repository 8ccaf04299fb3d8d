/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Goes to CPU 3 and executes INSTRUCTIONS user instructions there, an even number: MOV, then
 * DEC and JNZ in turns, the DEC at the beginning of a page and the JNZ two bytes behind it,
 * and three that end the program.
 */
	.globl _start
	.balign	4096
	.skip	4096 - (turn - _start)
_start:
	mov	$203, %eax		/* sched_setaffinity(0, 8, mask) */
	xor	%edi, %edi
	mov	$8, %esi
	lea	mask(%rip), %rdx
	syscall
	mov	$((INSTRUCTIONS - 4) / 2), %ecx
turn:
	dec	%ecx
	jnz	turn
	mov	$60, %eax		/* exit(0) */
	xor	%edi, %edi
	syscall
mask:
	.quad	8
