/* SPDX-License-Identifier: GPL-2.0 */
/*
 * CALLS times outer() calls inner(), which executes 2 * INNER + 5 user instructions; with frame
 * pointers, and nothing else that takes long.
 */
	.globl _start
_start:
	xor	%ebp, %ebp
	mov	$CALLS, %ebx
1:	call	outer
	dec	%ebx
	jnz	1b
	mov	$60, %eax		/* exit(0) */
	xor	%edi, %edi
	syscall

	.type	outer, @function
outer:
	push	%rbp
	mov	%rsp, %rbp
	call	inner
	pop	%rbp
	ret
	.size	outer, . - outer

	.type	inner, @function
inner:
	push	%rbp
	mov	%rsp, %rbp
	mov	$INNER, %ecx
1:	dec	%ecx
	jnz	1b
	pop	%rbp
	ret
	.size	inner, . - inner
