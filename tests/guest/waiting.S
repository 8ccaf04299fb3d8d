/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Stops itself by SIGSTOP, and executes INSTRUCTIONS user instructions once it goes on, an even
 * number.
 */
	.globl _start
_start:
	mov	$39, %eax		/* getpid() */
	syscall
	mov	%eax, %edi
	mov	$19, %esi
	mov	$62, %eax		/* kill(pid, SIGSTOP) */
	syscall
	mov	$((INSTRUCTIONS - 4) / 2), %rcx
1:	dec	%rcx
	jnz	1b
	mov	$60, %eax		/* exit(0) */
	xor	%edi, %edi
	syscall
