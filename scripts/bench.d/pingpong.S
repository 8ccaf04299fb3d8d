/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A parent and its child, on one CPU, pass a byte to and fro ROUNDS times: in each round each of
 * them leaves the CPU once and gets it once.
 */
	.globl _start
_start:
	sub	$16, %rsp
	mov	$22, %eax		/* pipe() */
	mov	%rsp, %rdi
	syscall
	mov	$22, %eax
	lea	8(%rsp), %rdi
	syscall
	mov	$57, %eax		/* fork() */
	syscall
	test	%eax, %eax
	jz	child
	mov	$ROUNDS, %ebx
1:	mov	4(%rsp), %edi
	call	put
	mov	8(%rsp), %edi
	call	get
	dec	%ebx
	jnz	1b
quit:
	mov	$231, %eax		/* exit_group(0) */
	xor	%edi, %edi
	syscall
child:
	mov	4(%rsp), %edi
	mov	$3, %eax		/* close(): so that the parent's end is the last */
	syscall
2:	mov	(%rsp), %edi
	call	get
	test	%eax, %eax
	jle	quit
	mov	12(%rsp), %edi
	call	put
	jmp	2b

get:	xor	%eax, %eax		/* read(fd, byte, 1) */
	jmp	3f
put:	mov	$1, %eax		/* write(fd, byte, 1) */
3:	lea	-128(%rsp), %rsi
	mov	$1, %edx
	syscall
	ret
