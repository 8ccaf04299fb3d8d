/* SPDX-License-Identifier: GPL-2.0 */
/*
 * From QEMU's multiboot loader to 64-bit C, and from there on excursions into
 * ring 3, 32-bit protected mode and real mode.  All memory is mapped to itself,
 * for every ring.
 */
#include "layout.h"

#define MULTIBOOT_MAGIC	0x1badb002
#define MSR_EFER	0xc0000080
#define EFER_SCE_LME	0x101
#define CR0_PE		1
#define CR0_PG		0x80000000
#define CR4_PAE		0x20
#define PAGE_2M		0x87		/* present, writable, user, 2 MB */
#define PAGE_4K		0x07

	.section .multiboot, "a"
	.balign	4
	.long	MULTIBOOT_MAGIC, 0, -MULTIBOOT_MAGIC

/* ---------------------------------------------------------------- 32 bits */

	.text
	.code32
	.globl	start
start:
	cli
	cld
	mov	%ebx, multiboot_info
	mov	$boot_stack, %esp
	lgdt	gdt_pointer
	ljmp	$KERNEL_CS32, $1f
1:	mov	$KERNEL_DS, %eax
	mov	%eax, %ss
	mov	$USER_DS, %eax
	mov	%eax, %ds
	mov	%eax, %es
	call	make_page_tables
	call	enter_long
	ljmp	$KERNEL_CS, $start64

make_page_tables:
	movl	$page_dirpt + PAGE_4K, page_map
	mov	$page_dirs, %edi
	xor	%ecx, %ecx
1:	mov	%ecx, %eax
	shl	$21, %eax
	or	$PAGE_2M, %eax
	mov	%eax, (%edi, %ecx, 8)
	inc	%ecx
	cmp	$2048, %ecx
	jne	1b
	mov	$page_dirpt, %edi
	mov	$page_dirs + PAGE_4K, %eax
	mov	$4, %ecx
2:	mov	%eax, (%edi)
	add	$4096, %eax
	add	$8, %edi
	loop	2b
	mov	$scratch_pages, %edi
	mov	$SCRATCH + PAGE_4K, %eax
	mov	$512, %ecx
3:	mov	%eax, (%edi)
	add	$4096, %eax
	add	$8, %edi
	loop	3b
	movl	$scratch_pages + PAGE_4K, page_dirs + (SCRATCH >> 21) * 8
	ret

/* These two keep EBX, ESI, EDI and EBP. */
enter_long:
	mov	$page_map, %eax
	mov	%eax, %cr3
	mov	%cr4, %eax
	or	$CR4_PAE, %eax
	mov	%eax, %cr4
	mov	$MSR_EFER, %ecx
	rdmsr
	or	$EFER_SCE_LME, %eax
	wrmsr
	mov	%cr0, %eax
	or	$CR0_PG, %eax
	mov	%eax, %cr0
	ret

leave_long:
	mov	%cr0, %eax
	and	$~CR0_PG, %eax
	mov	%eax, %cr0
	mov	$MSR_EFER, %ecx
	rdmsr
	and	$~EFER_SCE_LME, %eax
	wrmsr
	ret

/* The 32-bit half of in_real(): the routine is in SI. */
real32:
	lidt	real_idt_pointer
	mov	%esp, %ebp
	ljmp	$KERNEL_CS16, $LOW + (real16 - low_start)
back32:
	mov	$KERNEL_DS, %eax
	mov	%eax, %ss
	mov	%ebp, %esp
	mov	$USER_DS, %eax
	mov	%eax, %ds
	mov	%eax, %es
	lidt	idt_pointer
	ret

ap32:
	mov	$KERNEL_DS, %eax
	mov	%eax, %ss
	mov	$USER_DS, %eax
	mov	%eax, %ds
	mov	%eax, %es
	mov	$ap_stack, %esp
	call	enter_long
	ljmp	$KERNEL_CS, $ap64

/* ---------------------------------------------------------------- 16 bits */

	/* Copied to LOW. */
	.section .rodata
	.code16
	.globl	low_start, low_end, low_fault, low_empty, low_body, low_rdpmc
low_start:
	/* an application processor starts here, with CS = LOW >> 4 */
	cli
	xor	%ax, %ax
	mov	%ax, %ds
	lgdtl	LOW + (low_gdt_pointer - low_start)
	mov	%cr0, %eax
	or	$CR0_PE, %eax
	mov	%eax, %cr0
	ljmpl	$KERNEL_CS32, $ap32

low_gdt_pointer:
	.word	gdt_end - gdt - 1
	.long	gdt

real16:
	mov	$KERNEL_DS16, %ax
	mov	%ax, %ds
	mov	%ax, %es
	mov	%ax, %ss
	mov	%cr0, %eax
	and	$~CR0_PE, %eax
	mov	%eax, %cr0
	ljmp	$0, $LOW + (1f - low_start)
1:	xor	%ax, %ax
	mov	%ax, %ds
	mov	%ax, %es
	mov	%ax, %ss
	mov	$LOW_STACK, %sp
	call	*%si
	mov	%cr0, %eax
	or	$CR0_PE, %eax
	mov	%eax, %cr0
	ljmpl	$KERNEL_CS32, $back32

	/* #GP in real mode: step over RDPMC, which EDI then tells */
low_fault:
	push	%bp
	mov	%sp, %bp
	addw	$2, 2(%bp)
	pop	%bp
	mov	$13, %edi
	iret

	/* RDPMC of ECX = 0; what came goes to rdpmc_real's three words */
low_rdpmc:
	xor	%edi, %edi
	xor	%ecx, %ecx
	rdpmc
	mov	%eax, LOW + (low_result - low_start)
	mov	%edx, LOW + (low_result - low_start) + 4
	mov	%edi, LOW + (low_result - low_start) + 8
	ret

	.globl	low_result
low_result:
	.long	0, 0, 0

	.macro BODY
	.rept	50
	nop
	.endr
	mov	$100, %ecx
1:	dec	%ecx
	jnz	1b
	.endm

low_body:
	BODY
low_empty:
	ret
low_end:

/* ---------------------------------------------------------------- 64 bits */

	.text
	.code32
	.globl	body32, empty32, body64, empty64
body32:
	BODY
empty32:
	ret

	/* INTO once as a NOP and once as INT 4: 5 instructions, one branch */
	.globl	into32
into32:
	xor	%eax, %eax
	into
	mov	$0x7fffffff, %eax
	inc	%eax
	into
	ret

	.code64
body64:
	BODY
	.globl	body64_loop
	.set	body64_loop, . - 4	/* DEC and JNZ */
empty64:
	ret

start64:
	mov	$boot_stack, %esp
	mov	multiboot_info, %edi
	call	bare_main
1:	hlt
	jmp	1b

ap64:
	mov	$ap_stack, %esp
	lidt	idt_pointer
	call	ap_main
2:	hlt
	jmp	2b

	.macro SAVE
	push	%rbx
	push	%rbp
	push	%r12
	push	%r13
	push	%r14
	push	%r15
	.endm

	.macro RESTORE
	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
	pop	%rbp
	pop	%rbx
	.endm

	/* void in_kernel(const void *fn) */
	.globl	in_kernel
in_kernel:
	jmp	*%rdi

	/* void in_user(const void *fn): 64 bits, ring 3, until it returns */
	.globl	in_user
in_user:
	SAVE
	mov	%rsp, kernel_rsp
	pushq	$USER_DS
	pushq	$user_stack
	pushq	$2
	pushq	$USER_CS
	pushq	$user64
	iretq

	/* void in_user32(const void *fn) */
	.globl	in_user32
in_user32:
	SAVE
	mov	%rsp, kernel_rsp
	pushq	$USER_DS
	pushq	$user_stack
	pushq	$2
	pushq	$USER_CS32
	pushq	$user32
	iretq

	/* RDPMC of ESI to EDI and ESI; the same bytes with 32 and 64 bits */
	.globl	rdpmc_code, rdpmc_done
rdpmc_code:
	mov	%esi, %ecx
	rdpmc
	mov	%eax, %edi
	mov	%edx, %esi
rdpmc_done:
	ret

	.globl	user64
user64:
	call	*%rdi
	int	$VECTOR_USER

	.code32
user32:
	call	*%edi
	int	$VECTOR_USER

	.code64
	.globl	user_exit
user_exit:
	mov	kernel_rsp, %rsp
	RESTORE
	ret

	/*
	 * void in_real(const void *fn): fn at an address below 64 KB
	 * void in_protected(const void *fn): 32 bits, paging off
	 */
	.globl	in_real, in_protected
in_real:
	mov	%edi, %esi
	mov	$real32, %edi
in_protected:
	SAVE
	pushq	$KERNEL_CS32
	pushq	$1f
	lretq
	.code32
1:	mov	$KERNEL_DS, %eax
	mov	%eax, %ss
	call	leave_long
	call	*%edi
	call	enter_long
	ljmp	$KERNEL_CS, $2f
	.code64
2:	mov	%esp, %esp	/* the upper half is undefined after 32 bits */
	RESTORE
	ret

	/*
	 * void measure(const struct run *run, fn, a, b): fn(a, b) between two
	 * writes of run's MSR.  MEASURE_INSTRUCTIONS are what it adds.
	 */
	.globl	measure, measure_call
measure:
	SAVE
	mov	%rdi, %rbx
	mov	%rsi, %rbp
	mov	%rdx, %rdi
	mov	%rcx, %rsi
	mov	(%rbx), %ecx
	mov	8(%rbx), %eax
	mov	12(%rbx), %edx
	wrmsr
measure_call:
	call	*%rbp
	mov	(%rbx), %ecx
	mov	16(%rbx), %eax
	mov	20(%rbx), %edx
	wrmsr
	RESTORE
	ret

	/* void single_step(const void *fn): fn() with a #DB behind each instruction */
	.globl	single_step
single_step:
	SAVE
	pushf
	orl	$0x100, (%rsp)
	popf
	call	*%rdi
	pushf
	andl	$~0x100, (%rsp)
	popf
	RESTORE
	ret

	.globl	step_entry
step_entry:
	push	%rax
	push	%rcx
	mov	trace_length, %ecx
	cmp	$TRACE_MAX, %ecx
	jae	1f
	mov	16(%rsp), %rax
	mov	%eax, trace(, %rcx, 4)
	incl	trace_length
1:	pop	%rcx
	pop	%rax
	iretq

/* ---------------------------------------------------------------- traps */

	/* A PMI; as short as can be, because it is counted, too. */
	.macro PMI_SEEN
	push	%rax
	mov	8(%rsp), %rax
	mov	%rax, pmi
	mov	16(%rsp), %rax
	mov	%rax, pmi + 8
	incl	pmi + 16
	.endm

	.globl	nmi_entry, pmi_entry, timer_entry, timer_entry_2, skip_entry, syscall_entry
nmi_entry:
	PMI_SEEN
	incl	pmi + 20
	pop	%rax
	iretq

	/* An NMI, then LVTPC and one MSR are written: see nmi_msr. */
	.globl	nmi_write_entry
nmi_write_entry:
	PMI_SEEN
	incl	pmi + 20
	push	%rcx
	push	%rdx
	mov	$APIC, %eax
	movl	$0x400, 0x340(%rax)
	mov	nmi_msr, %ecx
	mov	nmi_msr + 8, %eax
	mov	nmi_msr + 12, %edx
	wrmsr
	pop	%rdx
	pop	%rcx
	pop	%rax
	iretq

pmi_entry:
	PMI_SEEN
	mov	$APIC, %eax
	movl	$0, APIC_EOI(%rax)
	pop	%rax
	iretq

	/* Five instructions, which the work with HLT counts. */
timer_entry:
	push	%rax
timer_entry_2:
	mov	$APIC, %eax
	movl	$0, APIC_EOI(%rax)
	pop	%rax
skip_entry:
	iretq

syscall_entry:
	sysretq

	.globl	sysenter_entry
sysenter_entry:
	sysexitq

	/* For work that faults: step over it, or mend its cause. */
	.globl	skip_ud2, skip_ud2_2, skip_gp, mend_pf, mend_pf_2
skip_ud2:
	addq	$2, (%rsp)
skip_ud2_2:
	iretq
skip_gp:
	addq	$8, %rsp
	addq	$2, (%rsp)
	iretq
mend_pf:
	orb	$1, scratch_pages + 8
mend_pf_2:
	addq	$8, %rsp
	iretq

	/* A breakpoint: on with RF, lest one on an instruction comes again. */
	.globl	break_entry
break_entry:
	incl	breaks
	orl	$0x10000, 16(%rsp)
	iretq

	/* All other vectors: to trap() in C, with a frame. */
	.macro TRAP_ENTRY vector
	.balign	16
	.if	!(\vector == 8 || (\vector >= 10 && \vector <= 14) || \vector == 17 || \vector == 21)
	push	$0
	.endif
	push	$\vector
	jmp	trap_common
	.endm

	.balign	16
	.globl	trap_entries
trap_entries:
	.irp	vector, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, \
		16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	TRAP_ENTRY \vector
	.endr

trap_common:
	push	%rax
	push	%rcx
	push	%rdx
	push	%rsi
	push	%rdi
	push	%r8
	push	%r9
	push	%r10
	push	%r11
	mov	%rsp, %rdi
	cld
	call	trap
	pop	%r11
	pop	%r10
	pop	%r9
	pop	%r8
	pop	%rdi
	pop	%rsi
	pop	%rdx
	pop	%rcx
	pop	%rax
	add	$16, %rsp
	iretq

/* ---------------------------------------------------------------- data */

	.data
	.balign	8
	.globl	gdt, gdt_tss, idt_pointer
gdt:	.quad	0
	.quad	0x00af9b000000ffff	/* KERNEL_CS */
	.quad	0x00cf93000000ffff	/* KERNEL_DS */
	.quad	0x00cffb000000ffff	/* USER_CS32 */
	.quad	0x00cff3000000ffff	/* USER_DS */
	.quad	0x00affb000000ffff	/* USER_CS */
	.quad	0x00cf9b000000ffff	/* KERNEL_CS32 */
	.quad	0x00009b000000ffff	/* KERNEL_CS16 */
	.quad	0x000093000000ffff	/* KERNEL_DS16 */
gdt_tss:
	.quad	0, 0
gdt_end:

gdt_pointer:
	.word	gdt_end - gdt - 1
	.quad	gdt
idt_pointer:
	.word	256 * 16 - 1
	.quad	idt
real_idt_pointer:
	.word	256 * 4 - 1
	.quad	0

	.bss
	.balign	4096
page_map:
	.skip	4096
page_dirpt:
	.skip	4096
page_dirs:
	.skip	4 * 4096
	.globl	scratch_pages
scratch_pages:
	.skip	4096
	.skip	32768
boot_stack:
	.skip	8192
	.globl	trap_stack
trap_stack:
	.skip	8192
user_stack:
	.skip	8192
ap_stack:
kernel_rsp:
	.quad	0
multiboot_info:
	.long	0
