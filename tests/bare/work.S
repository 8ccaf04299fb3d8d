/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Work whose instructions and branches are known: the numbers are without the
 * RET at the end, and with what handlers execute.  All of it may use every
 * register but RBX, RBP, RSP and R12 to R15.
 *
 * SDM vol 3, "Architectural Performance Events": a REP-prefixed instruction
 * counts once, one that faults does not count, counting goes on in handlers.
 */
#include "layout.h"

	/* WORK name, instructions, branches, flags, title */
	.macro WORK name, instructions, branches, flags, title:vararg
	.pushsection .rodata
title_\name:
	.asciz	\title
	.popsection
	.pushsection .work, "a"
	.quad	work_\name, title_\name
	.long	\instructions, \branches, \flags, 0
	.popsection
	.balign	16
work_\name:
	.endm

	/* RCX, RSI and RDI for a string instruction within a page */
	.macro STRINGS count
	mov	$\count, %ecx
	mov	$SCRATCH + 0x4000, %esi
	mov	$SCRATCH + 0x6000, %edi
	.endm

	/* The work that follows begins so many bytes before the end of a page. */
	.macro BEFORE_PAGE_END bytes
	.balign	4096
	.skip	4096 - \bytes
	.endm

	.text
	.code64

WORK nops, 100, 0, 0, "100 NOPs"
	.rept	100
	nop
	.endr
	ret

WORK loop, 2001, 1000, 0, "1000 turns of DEC and JNZ"
	mov	$1000, %ecx
1:	dec	%ecx
	jnz	1b
	ret

WORK tight, 51, 50, 0, "50 turns of LOOP to itself"
	mov	$50, %ecx
1:	loop	1b
	ret

WORK not_taken, 11, 10, 0, "10 branches not taken"
	xor	%eax, %eax
	.rept	10
	jnz	1f
	.endr
1:	ret

WORK taken, 11, 10, 0, "10 branches taken"
	xor	%eax, %eax
	.rept	10
	jz	1f
	ud2
1:
	.endr
	ret

WORK jumps, 6, 4, 0, "JMP: short, near, to a register, through memory"
	jmp	1f
	ud2
1:	.byte	0xe9
	.long	2f - . - 4
	ud2
2:	lea	3f(%rip), %rax
	jmp	*%rax
	ud2
3:	lea	jump_target(%rip), %rax
	jmp	*(%rax)
	ud2
jump_done:
	ret

WORK calls, 8, 6, 0, "CALL and RET: direct, to a register, through memory"
	call	1f
	lea	1f(%rip), %rax
	call	*%rax
	lea	call_target(%rip), %rdx
	call	*(%rdx)
	ret
1:	ret

WORK jecxz, 4, 2, 0, "JECXZ taken and not"
	xor	%ecx, %ecx
	jecxz	1f
	ud2
1:	inc	%ecx
	jecxz	2f
2:	ret

WORK jcc_long, 3, 2, 0, "Jcc with 32-bit distances"
	xor	%eax, %eax
	{disp32} jnz 1f
	{disp32} jz 1f
	ud2
1:	ret

WORK loops, 12, 7, 0, "LOOPE, LOOPNE, JRCXZ, RET that pops"
	mov	$3, %ecx
	xor	%eax, %eax
1:	loope	1b
	mov	$3, %ecx
	test	%eax, %eax
2:	loopne	2b
	jrcxz	2b
	push	$0
	call	3f
	ret
3:	ret	$8

WORK calls_alone, 7, 3, 0, "two CALLs without a RET, a RET without a CALL"
	call	1f
1:	call	2f
2:	add	$16, %rsp
	lea	3f(%rip), %rax
	push	%rax
	ret
	ud2
3:	nop
	ret

WORK page_jcc, 4, 3, 0, "Jcc to another page, taken and not"
	xor	%eax, %eax
	jnz	1f
	jz	1f
2:	ret
	.balign	4096
1:	jz	2b

	BEFORE_PAGE_END 16
WORK page_end_jcc, 15, 1, 0, "Jcc at the end of a page, not taken"
	xor	%eax, %eax
	.rept	12
	nop
	.endr
	jnz	1f
	nop
1:	ret

WORK movs_none, 4, 0, 0, "REP MOVSB of none"
	STRINGS 0
	rep movsb
	ret

WORK movs_one, 4, 0, 0, "REP MOVSB of one"
	STRINGS 1
	rep movsb
	ret

WORK movs_many, 4, 0, 0, "REP MOVSQ of 500"
	STRINGS 500
	rep movsq
	ret

WORK movs_cross, 4, 0, 0, "REP MOVSB across a page boundary"
	mov	$64, %ecx
	mov	$SCRATCH + 0x2fe0, %esi
	mov	$SCRATCH + 0x3fe0, %edi
	rep movsb
	ret

WORK stos, 5, 0, 0, "REP STOSD of 1000"
	xor	%eax, %eax
	STRINGS 1000
	rep stosl
	ret

WORK lods, 4, 0, 0, "REP LODSB of 30"
	STRINGS 30
	rep lodsb
	ret

WORK scas, 5, 0, 0, "REPNE SCASB that ends early"
	mov	$4, %al
	mov	$10, %ecx
	mov	$text, %edi
	repne scasb
	nop
	ret

WORK cmps, 5, 0, 0, "REPE CMPSB that ends early"
	mov	$10, %ecx
	mov	$text, %esi
	mov	$text + 10, %edi
	repe cmpsb
	nop
	ret

WORK stos_loop, 83, 20, 0, "20 turns with a REP STOSB of one in them"
	mov	$20, %edx
	mov	$SCRATCH + 0x2000, %edi
	xor	%eax, %eax
1:	mov	$1, %ecx
	rep stosb
	dec	%edx
	jnz	1b
	ret

	BEFORE_PAGE_END 32
WORK page, 40, 0, 0, "straight code across a page boundary"
	.rept	40
	nop
	.endr
	ret

	BEFORE_PAGE_END 16
WORK page_insn, 17, 0, 0, "an instruction across a page boundary"
	.rept	12
	nop
	.endr
	nop
	nop
	mov	$0x12345678, %eax
	nop
	nop
	ret

	BEFORE_PAGE_END 16
WORK page_branch, 17, 1, 0, "a branch across a page boundary"
	.rept	12
	nop
	.endr
	nop
	nop
	.byte	0xe9
	.long	1f - . - 4
	ud2
1:	nop
	nop
	ret

WORK page_jump, 2, 2, 0, "branches to another page and back"
	jmp	1f
2:	ret
	.balign	4096
1:	jmp	2b

WORK cpuid, 3, 0, 0, "CPUID"
	/* the caller's RBX is nobody's while we have it in R8 */
	mov	%rbx, %r8
	cpuid
	mov	%r8, %rbx
	ret

WORK rdtsc, 2, 0, 0, "RDTSC and PAUSE"
	rdtsc
	pause
	ret

WORK x87, 4, 0, 0, "x87"
	fninit
	fld1
	fldpi
	fstp	%st(0)
	ret

WORK atomic, 3, 0, 0, "LOCK and XCHG"
	lock incl SCRATCH + 0x2000
	xchg	%eax, SCRATCH + 0x2000
	lock xaddl %eax, SCRATCH + 0x2000
	ret

WORK split, 3, 0, 0, "LOCK across a cache line"
	lock incl SCRATCH + 0x203e
	lock xaddl %eax, SCRATCH + 0x203e
	lock incl SCRATCH + 0x2ffe
	ret

WORK stack, 4, 0, 0, "PUSHF and POPF"
	pushf
	popf
	push	%rax
	pop	%rax
	ret

WORK io, 4, 0, WORK_RING0, "IN and OUT"
	in	$0x80, %al
	mov	$0x80, %edx
	out	%al, %dx
	nop
	ret

WORK msr, 3, 0, WORK_RING0, "RDMSR and WRMSR of another register"
	mov	$0xc0000102, %ecx
	rdmsr
	wrmsr
	ret

WORK control, 6, 0, WORK_RING0, "control registers, INVLPG, WBINVD"
	mov	%cr3, %rax
	mov	%rax, %cr3
	mov	%cr0, %rax
	mov	%rax, %cr0
	invlpg	SCRATCH
	wbinvd
	ret

WORK segments, 3, 0, WORK_RING0, "MOV to SS and what follows"
	mov	$KERNEL_DS, %eax
	mov	%eax, %ss
	nop
	ret

WORK smc, 4, 0, 0, "code that changes itself"
	/* to and fro, so that it is the same the next time */
	xorb	$1, 1f + 1(%rip)
1:	mov	$0x10, %al
	nop
	xorb	$1, 1b + 1(%rip)
	ret

WORK ud2, 3, 1, WORK_RING0 | WORK_FAR | WORK_TRAPS, "UD2 is not counted"
	/* ADD and IRETQ of the handler, and a NOP */
	.globl	ud2_at
ud2_at:
	ud2
	nop
	ret

WORK gp, 4, 1, WORK_RING0 | WORK_FAR | WORK_TRAPS, "a load that faults is not counted"
	movabs	$0x8000000000000000, %rax	/* not canonical: #GP */
	mov	(%rax), %al
	ret

WORK pf, 6, 1, WORK_RING0 | WORK_FAR | WORK_TRAPS, "a load that faults and is restarted counts once"
	andb	$~1, scratch_pages + 8
	invlpg	SCRATCH_HOT
	mov	SCRATCH_HOT, %al
	ret

WORK pf_movs, 9, 1, WORK_RING0 | WORK_FAR | WORK_TRAPS, "a REP MOVSB with a fault in it counts once"
	andb	$~1, scratch_pages + 8
	invlpg	SCRATCH_HOT
	mov	$64, %ecx
	mov	$SCRATCH + 0x2000, %esi
	mov	$SCRATCH_HOT - 32, %edi
	.globl	pf_movs_at
pf_movs_at:
	rep movsb
	ret

WORK pf_store, 6, 1, WORK_RING0 | WORK_FAR | WORK_TRAPS, "a store into two pages that faults counts once"
	andb	$~1, scratch_pages + 8
	invlpg	SCRATCH_HOT
	mov	%eax, SCRATCH_HOT - 2
	ret

WORK pf_fetch, 18, 3, WORK_RING0 | WORK_FAR | WORK_TRAPS, "an instruction that is fetched with a fault counts once"
	/* five NOPs, MOV $0x12345678 to EAX in two pages, NOP, RET */
	movabs	$0x5678b89090909090, %rax
	mov	%rax, SCRATCH_HOT - 8
	movl	$0xc3901234, SCRATCH_HOT
	andb	$~1, scratch_pages + 8
	invlpg	SCRATCH_HOT
	mov	$SCRATCH_HOT - 8, %eax
	call	*%rax
	ret

WORK int, 4, 2, WORK_RING0 | WORK_FAR, "INT n and IRET"
	nop
	.globl	int_at
int_at:
	int	$VECTOR_SKIP
	nop
	ret

WORK iret, 7, 1, WORK_RING0 | WORK_FAR, "IRET to the same ring"
	mov	%rsp, %rax
	pushq	$KERNEL_DS
	push	%rax
	pushf
	pushq	$KERNEL_CS
	pushq	$1f
	iretq
1:	ret

WORK far, 4, 2, WORK_RING0 | WORK_FAR, "far JMP and far RET"
	ljmp	*far_target
far_done:
	pushq	$KERNEL_CS
	pushq	$1f
	lretq
1:	ret

WORK far_call, 2, 2, WORK_RING0 | WORK_FAR, "far CALL and far RET"
	lcall	*far_call_target
	ret

WORK rdpmc, 5, 0, WORK_RING0, "RDPMC and RDMSR of a counter that runs"
	xor	%ecx, %ecx
	rdpmc
	mov	$0xc1, %ecx
	rdmsr
	rdmsr
	ret

WORK pmu_gp, 15, 3, WORK_RING0 | WORK_FAR | WORK_INTEL, "accesses to the PMU that fault are not counted"
	/* an event select's reserved bits, a counter, a register: all absent */
	mov	$0x186, %ecx
	mov	$~0, %edx
	wrmsr
	mov	$0x19ff, %ecx
	rdmsr
	mov	$0x8000, %ecx
	rdpmc
	mov	%edx, %edx
	mov	%eax, %eax
	ret

WORK syscall, 4, 2, WORK_RING3 | WORK_FAR, "SYSCALL and SYSRET"
	nop
	syscall
	nop
	ret

WORK sysenter, 4, 2, WORK_RING3 | WORK_FAR | WORK_INTEL, "SYSENTER and SYSEXIT"
	mov	%rsp, %rcx
	lea	1f(%rip), %rdx
	sysenter
1:	ret

WORK user_int, 4, 2, WORK_RING3 | WORK_FAR, "INT n and IRET"
	nop
	int	$VECTOR_SKIP
	nop
	ret

WORK hlt, 14, 1, WORK_RING0 | WORK_FAR | WORK_HALTS | WORK_TRAPS, "HLT and the interrupt that ends it"
	/* the interrupt cannot come before HLT: STI holds it for one more */
	mov	$APIC, %eax
	movl	$VECTOR_TIMER, 0x320(%rax)
	movl	$0xb, 0x3e0(%rax)
	mov	hlt_ticks, %ecx
	mov	%ecx, 0x380(%rax)
	sti
	hlt
	.globl	hlt_next
hlt_next:
	cli
	nop
	ret				/* and five in the handler */

	.section .rodata
	.balign	8
jump_target:
	.quad	jump_done
call_target:
	.quad	empty64
far_target:
	.long	far_done
	.word	KERNEL_CS
far_call_target:
	.long	lret_only
	.word	KERNEL_CS
	.globl	text
text:	.byte	0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 0, 4, 5, 6, 7, 8, 9
	.data
	.globl	hlt_ticks, pmc0_msr
hlt_ticks:
	.long	100000
pmc0_msr:
	.long	0
	.text
	.globl	lret_only
lret_only:
	lretl

/* ---------------------------------------------------------------- breakpoints */

	/* Something for each kind of breakpoint; 12 instructions. */
	.globl	breakable, breakable_at
breakable:
	nop
	nop
breakable_at:
	nop
	mov	%eax, SCRATCH + 0x2000
	nop
	nop
	mov	SCRATCH + 0x2000, %eax
	nop
	out	%al, $0x80
	nop
	nop
	nop
	ret

	/* A guest that executes BODY. RDI is the address of its VMCB. */
	.globl	vm_enter, vm_guest
vm_enter:
	push	%rbx
	push	%rbp
	push	%r12
	push	%r13
	push	%r14
	push	%r15
	mov	%rdi, %rax
	clgi
	vmrun
	stgi
	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
	pop	%rbp
	pop	%rbx
	ret
vm_guest:
	call	body64
	vmmcall

	/* PMC0 is made to overflow four events ahead while it runs. */
	.globl	rewrite, rewrite_at
rewrite:
	mov	pmc0_msr, %ecx
	mov	$-5, %eax
	mov	$-1, %edx
	wrmsr
rewrite_at:
	.rept	20
	nop
	.endr
	ret

/* ---------------------------------------------------------------- PMIs that are late */

	/*
	 * Where a PMI comes that is held back, when the instruction before NAME_at
	 * overflows: behind it, or after so many instructions in the NOPs.
	 */
	.macro SLED name
	.globl	sled_\name
sled_\name:
	.rept	SLED_LENGTH
	nop
	.endr
	ret
	.endm

	.globl	sled_nop_at
sled_nop_at:
	nop
SLED nop

	/* void sled_wrmsr(const void *a): to MSR a[31:0] goes a[63:32] */
	.globl	sled_wrmsr, sled_wrmsr_at
sled_wrmsr:
	mov	%edi, %ecx
	mov	%rdi, %rax
	shr	$32, %rax
	xor	%edx, %edx
sled_wrmsr_at:
	wrmsr
SLED wrmsr_done

	/* void sled_lvtpc(const void *lvtpc) */
	.globl	sled_lvtpc, sled_lvtpc_at
sled_lvtpc:
	mov	$APIC, %eax
sled_lvtpc_at:
	mov	%edi, 0x340(%rax)
SLED lvtpc_written

	.globl	sled_rep, sled_rep_at
sled_rep:
	mov	$SCRATCH + 0x4000, %esi
	mov	$1000, %ecx
sled_rep_at:
	rep lodsb
SLED rep_done

	/* One instruction that takes a second: memory that is not there. */
	.globl	sled_long, sled_long_at
sled_long:
	mov	$NO_MEMORY, %esi
	mov	$LONG_READS, %ecx
sled_long_at:
	rep lodsb
SLED long_done

	/* In ring 3. */
	.globl	sled_int
sled_int:
	int	$VECTOR_SKIP
SLED int_done

/* ---------------------------------------------------------------- a long loop */

	/* void spin(const void *turns): two instructions each */
	.globl	spin
spin:
	dec	%rdi
	jnz	spin
	ret

/* ---------------------------------------------------------------- the path */

	/*
	 * Mixed instructions for the test of the PMI on every boundary.  None
	 * may turn single-stepping off or hold its trap back, and no branch
	 * may go to itself: see trace_path().
	 */
	.balign	4096
	.globl	path, path_end
path:
	push	%rbx
	nop
	mov	$3, %ecx
1:	dec	%ecx
	jnz	1b
	mov	$4, %ecx
2:	nop
	loop	2b
	xor	%ecx, %ecx
	jecxz	3f
	nop
3:	call	path_leaf
	mov	$SCRATCH + 0x2fe0, %esi
	mov	$SCRATCH + 0x3fe0, %edi
	.irp	n, 0, 1, 5, 64
	mov	$\n, %ecx
	rep movsb
	.endr
	nop
	mov	$4, %al
	mov	$10, %ecx
	mov	$text, %edi
	repne scasb
	mov	$10, %ecx
	mov	$text, %esi
	mov	$text + 10, %edi
	repe cmpsb
	jmp	4f
	.balign	4096
	.skip	4096 - 3
4:	nop
	mov	$0x12345678, %eax	/* across the page boundary */
	nop
	jmp	5f
	.balign	4096
	.skip	4096 - 4
5:	nop
	nop
	.byte	0xe9			/* a branch across it */
	.long	6f - . - 4
	nop
6:	xorb	$1, 7f + 1(%rip)	/* changes the next instruction */
7:	mov	$0x10, %al
	xorb	$1, 7b + 1(%rip)
	xor	%ecx, %ecx
	cpuid
	rdtsc
	mov	$0xc0000102, %ecx
	rdmsr
	wrmsr
	mov	$0xc1, %ecx		/* the PMU's own: a counter, DEBUGCTL */
	rdmsr
	mov	$0x1d9, %ecx
	rdmsr
	wrmsr
	xor	%ecx, %ecx
	rdpmc
	cli
	pushf
	pop	%rax
	lock incl SCRATCH + 0x2000
	lock incl SCRATCH + 0x203e	/* two cache lines */
	mov	%cr0, %rax
	mov	%rax, %cr0
	mov	%cr3, %rax
	mov	%rax, %cr3
	invlpg	SCRATCH
	in	$0x80, %al
	out	%al, $0x80
	fninit
	fld1
	fstp	%st(0)
	mov	$USER_DS, %eax
	mov	%eax, %es
	ljmp	*path_far_target
path_far_done:
	lcall	*far_call_target
	mov	$20, %edx
	mov	$SCRATCH + 0x2000, %edi
8:	mov	$3, %ecx
	rep stosl
	test	$1, %dl
	jz	9f
	call	path_leaf
9:	dec	%edx
	jnz	8b
	mov	$10f, %eax
	jmp	*%rax
	nop
10:	wbinvd
	.rept	300			/* longer than a block of TCG's */
	nop
	.endr
	pop	%rbx
	ret
path_leaf:
	nop
	ret
path_end:
	.section .rodata
path_far_target:
	.long	path_far_done
	.word	KERNEL_CS
