// SPDX-License-Identifier: GPL-2.0
/* The console, TAP, traps and the local APIC. */
#include "bare.h"

#define COM1		0x3f8
#define COM1_STATUS	(COM1 + 5)
#define COM1_EMPTY	0x20
#define DEBUG_EXIT	0xf4
#define PIC_MASTER_MASK	0x21
#define PIC_SLAVE_MASK	0xa1

struct pmi pmi;
struct nmi_msr nmi_msr;
u32 trace[TRACE_MAX];
u32 trace_length;
u32 breaks;

/* ---------------------------------------------------------------- console */

static void put_char(char c)
{
	while (!(inb(COM1_STATUS) & COM1_EMPTY))
		;
	outb(COM1, c);
}

static void put_string(const char *s)
{
	while (*s)
		put_char(*s++);
}

static void put_number(u64 value, unsigned int base)
{
	char digits[24];
	unsigned int n = 0;

	do {
		digits[n++] = "0123456789abcdef"[value % base];
		value /= base;
	} while (value);
	while (n)
		put_char(digits[--n]);
}

/* Only %s, %u, %x, %lu and %lx. */
static void put_format(const char *format, va_list args)
{
	bool wide;

	for (; *format; format++) {
		if (*format != '%') {
			put_char(*format);
			continue;
		}
		wide = *++format == 'l';
		format += wide;
		if (*format == 's')
			put_string(va_arg(args, const char *));
		else
			put_number(wide ? va_arg(args, u64) : va_arg(args, u32),
				   *format == 'x' ? 16 : 10);
	}
}

/**
 * say() - print to the console
 * @format: understands %s, %u, %x, %lu and %lx
 */
void say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	put_format(format, args);
	va_end(args);
}

/* ---------------------------------------------------------------- TAP */

static u32 tests;

static void result(bool good, const char *name, va_list args)
{
	say("%sok %u - ", good ? "" : "not ", ++tests);
	put_format(name, args);
	put_char('\n');
}

/**
 * ok() - a test that has passed or not
 * @good: it has
 * @name: of the test
 *
 * Return: @good
 */
bool ok(bool good, const char *name, ...)
{
	va_list args;

	va_start(args, name);
	result(good, name, args);
	va_end(args);
	return good;
}

/**
 * is() - a test that has passed if a value is what was wanted
 * @got: the value
 * @wanted: what it should be
 * @name: of the test
 *
 * Return: whether it is
 */
bool is(u64 got, u64 wanted, const char *name, ...)
{
	va_list args;

	va_start(args, name);
	result(got == wanted, name, args);
	va_end(args);
	if (got != wanted)
		say("#   got %lu (0x%lx), wanted %lu (0x%lx)\n", got, got, wanted, wanted);
	return got == wanted;
}

/**
 * finish() - end the program, and the machine with it
 */
void finish(void)
{
	say("1..%u\n", tests);
	outb(DEBUG_EXIT, 0);
	for (;;)
		asm volatile("cli; hlt");
}

/**
 * die() - end the program without a plan
 * @why: the reason
 */
void die(const char *why)
{
	say("Bail out! %s\n", why);
	outb(DEBUG_EXIT, 1);
	for (;;)
		asm volatile("cli; hlt");
}

/* ---------------------------------------------------------------- traps */

struct tss {
	u32 zero;
	u64 rsp0;
	u8 rest[92];
} __packed;

#define GATE_RING3	0xee00		/* interrupt gate that INT n may use */
#define TSS_AVAILABLE	0x89
#define TRAP_ENTRY_SIZE	16

struct gate idt[256];
static struct tss tss;

/* Where to go on when an instruction faults; the vector goes to faulted. */
static u64 fixup;
static int faulted;

/**
 * set_gate() - have a vector handled by an entry of one's own
 * @vector: the vector
 * @entry: code that ends with IRETQ
 */
void set_gate(unsigned int vector, const void *entry)
{
	u64 address = (u64)entry;

	idt[vector] = (struct gate) {
		.offset_low = address,
		.selector = KERNEL_CS,
		.flags = GATE_RING3,
		.offset_middle = address >> 16,
		.offset_high = address >> 32,
	};
}

/**
 * set_trap() - have an exception handled by trap()
 * @vector: the vector
 */
void set_trap(unsigned int vector)
{
	set_gate(vector, trap_entries + vector * TRAP_ENTRY_SIZE);
}

/**
 * trap() - go on behind an instruction that faulted, if that was expected
 * @frame: what the fault interrupted
 */
void trap(struct frame *frame)
{
	if (!fixup) {
		say("# vector %lu, error %lx, at %lx:%lx\n",
		    frame->vector, frame->error, frame->cs, frame->rip);
		die("an exception that nobody expected");
	}
	faulted = frame->vector;
	frame->rip = fixup;
	fixup = 0;
}

static void setup_tss(void)
{
	u64 base = (u64)&tss;

	tss.rsp0 = (u64)trap_stack;
	gdt_tss[0] = (sizeof(tss) - 1) | (base & 0xffffff) << 16 |
		     (u64)TSS_AVAILABLE << 40 | (base >> 24 & 0xff) << 56;
	gdt_tss[1] = base >> 32;
	asm volatile("ltr %w0" : : "r"(KERNEL_TSS));
}

/* Real mode's vectors are at 0; a #GP there shall not end the program. */
static void setup_real_mode(void)
{
	char *low = (char *)LOW;
	u32 *vector;
	long i;

	for (i = 0; i < low_end - low_start; i++)
		low[i] = low_start[i];
	vector = (u32 *)(VECTOR_GP * 4UL);
	asm("" : "+r"(vector));	/* no null pointer for the compiler */
	*vector = LOW + (low_fault - low_start);
}

/**
 * setup_machine() - traps, ring 3, SYSCALL and SYSENTER, real mode, the local APIC
 */
void setup_machine(void)
{
	unsigned int i;

	for (i = 0; i < 32; i++)
		set_trap(i);
	set_gate(VECTOR_NMI, nmi_entry);
	set_gate(VECTOR_PMI, pmi_entry);
	set_gate(VECTOR_TIMER, timer_entry);
	set_gate(VECTOR_SKIP, skip_entry);
	set_gate(VECTOR_SPURIOUS, skip_entry);
	set_gate(VECTOR_USER, user_exit);
	asm volatile("lidt %0" : : "m"(*idt_pointer));
	setup_tss();
	setup_real_mode();
	/* the firmware's timer interrupts are not ours */
	outb(PIC_MASTER_MASK, 0xff);
	outb(PIC_SLAVE_MASK, 0xff);
	wrmsr(MSR_STAR, (u64)USER_CS32 << 48 | (u64)KERNEL_CS << 32);
	wrmsr(MSR_LSTAR, (u64)syscall_entry);
	wrmsr(MSR_FMASK, 0);
	wrmsr(MSR_SYSENTER_CS, KERNEL_CS);
	wrmsr(MSR_SYSENTER_ESP, (u64)trap_stack);
	wrmsr(MSR_SYSENTER_EIP, (u64)sysenter_entry);
}

/* ---------------------------------------------------------------- the APIC */

/**
 * apic_read() - read a register of the local APIC
 * @reg: its offset
 *
 * Return: the value
 */
u32 apic_read(u32 reg)
{
	u32 value;

	asm volatile("movl (%1), %0" : "=r"(value) : "r"((u64)APIC + reg) : "memory");
	return value;
}

/**
 * apic_write() - write a register of the local APIC
 * @reg: its offset
 * @value: what to write
 */
void apic_write(u32 reg, u32 value)
{
	asm volatile("movl %0, (%1)" : : "r"(value), "r"((u64)APIC + reg) : "memory");
}

/**
 * pmi_arm() - have PMIs delivered, and forget those that came
 * @lvtpc: how
 */
void pmi_arm(u32 lvtpc)
{
	apic_write(APIC_SVR, APIC_SVR_ENABLE | VECTOR_SPURIOUS);
	apic_write(APIC_LVTPC, lvtpc);
	pmi = (struct pmi) {};
}

/**
 * settle() - let an interrupt that is on its way come
 */
void settle(void)
{
	unsigned int i;

	asm volatile("sti" : : : "memory");
	for (i = 0; i < 1000; i++)
		asm volatile("pause" : : : "memory");
	asm volatile("cli" : : : "memory");
}

/* ---------------------------------------------------------------- to try */

/**
 * try_rdmsr() - RDMSR that may fault
 * @msr: what to read
 * @value: what was read
 *
 * Return: the vector of the fault, 0 if there was none
 */
int try_rdmsr(u32 msr, u64 *value)
{
	u32 low = 0, high = 0;

	faulted = 0;
	asm volatile("movq $1f, %3\n\trdmsr\n1:\tmovq $0, %3"
		     : "+a"(low), "+d"(high) : "c"(msr), "m"(fixup) : "memory");
	*value = (u64)high << 32 | low;
	return faulted;
}

/**
 * try_wrmsr() - WRMSR that may fault
 * @msr: what to write
 * @value: to write
 *
 * Return: the vector of the fault, 0 if there was none
 */
int try_wrmsr(u32 msr, u64 value)
{
	faulted = 0;
	asm volatile("movq $1f, %3\n\twrmsr\n1:\tmovq $0, %3"
		     : : "a"((u32)value), "d"((u32)(value >> 32)), "c"(msr), "m"(fixup)
		     : "memory");
	return faulted;
}

/**
 * try_rdpmc() - RDPMC that may fault
 * @index: for RCX
 * @value: what was read
 *
 * Return: the vector of the fault, 0 if there was none; -1 if RDPMC left
 * something in the upper halves of RAX and RDX
 */
int try_rdpmc(u64 index, u64 *value)
{
	u64 low = ~0UL, high = ~0UL;

	faulted = 0;
	asm volatile("movq $1f, %3\n\trdpmc\n1:\tmovq $0, %3"
		     : "+a"(low), "+d"(high) : "c"(index), "m"(fixup) : "memory");
	*value = high << 32 | (u32)low;
	if (!faulted && (low | high) >> 32)
		return -1;
	return faulted;
}

/**
 * user_rdpmc() - RDPMC in another mode
 * @enter: in_user() or in_user32()
 * @index: for ECX
 * @vector: of the fault, 0 if there was none
 * @value: what was read
 */
void user_rdpmc(void (*enter)(const void *fn), u32 index, int *vector, u64 *value)
{
	u64 low = (u64)rdpmc_code, high = index;

	faulted = 0;
	fixup = (u64)rdpmc_done;
	asm volatile("call *%2"
		     : "+D"(low), "+S"(high)
		     : "r"(enter)
		     : "rax", "rcx", "rdx", "r8", "r9", "r10", "r11", "memory", "cc");
	fixup = 0;
	*vector = faulted;
	*value = high << 32 | (u32)low;
}
