/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A parent of 14 * CHILDREN + 5 user instructions, and as many children as
 * that of 2 * INNER + 7 each, all alive at the same time.
 */
	.globl _start
_start:
	mov	$CHILDREN, %ebx
1:	mov	$57, %eax		/* fork() */
	syscall
	test	%eax, %eax
	jz	child
	dec	%ebx
	jnz	1b
	mov	$CHILDREN, %ebx
2:	mov	$61, %eax		/* wait4(-1, NULL, 0, NULL) */
	mov	$-1, %rdi
	xor	%esi, %esi
	xor	%edx, %edx
	xor	%r10d, %r10d
	syscall
	dec	%ebx
	jnz	2b
quit:
	mov	$60, %eax		/* exit(0) */
	xor	%edi, %edi
	syscall
child:
	mov	$INNER, %ecx
3:	dec	%ecx
	jnz	3b
	jmp	quit
