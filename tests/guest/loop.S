/* SPDX-License-Identifier: GPL-2.0 */
/*
 * INSTRUCTIONS user instructions exactly, a multiple of two: 4 and 2 a turn. With WAIT the program
 * stops itself before, by SIGSTOP, and they are those that follow.
 */
	.globl _start
_start:
#ifdef WAIT
	mov	$39, %eax		/* getpid() */
	syscall
	mov	%eax, %edi
	mov	$19, %esi
	mov	$62, %eax		/* kill(pid, SIGSTOP) */
	syscall
#endif
	mov	$((INSTRUCTIONS - 4) / 2), %rcx
1:	dec	%rcx
	jnz	1b
	mov	$60, %eax		/* exit(0) */
	xor	%edi, %edi
	syscall
