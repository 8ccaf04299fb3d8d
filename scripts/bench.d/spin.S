/* SPDX-License-Identifier: GPL-2.0 */
/* Busy, and nothing of it in the kernel. */
	.globl	_start
_start:	jmp	_start
	.section .note.GNU-stack,"",@progbits
