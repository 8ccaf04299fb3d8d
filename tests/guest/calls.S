/* SPDX-License-Identifier: GPL-2.0 */
/*
 * TURNS times 2 * INNER + 5 user instructions with a system call among them, of
 * number CALL; and 4 for the rest.
 */
	.globl _start
_start:
	mov	$TURNS, %ebx
turn:
	mov	$INNER, %ecx
1:	dec	%ecx
	jnz	1b
	mov	$CALL, %eax
	syscall
	dec	%ebx
	jnz	turn
	mov	$60, %eax		/* exit(0) */
	xor	%edi, %edi
	syscall
