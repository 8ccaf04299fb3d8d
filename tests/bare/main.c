// SPDX-License-Identifier: GPL-2.0
/* The order of the tests. */
#include "bare.h"

#define MULTIBOOT_CMDLINE	BIT(2)

/* QEMU puts the program's name first. */
static const char *arguments(const u32 *multiboot_info)
{
	const char *s = "";

	if (multiboot_info[0] & MULTIBOOT_CMDLINE)
		s = (const char *)(u64)multiboot_info[4];
	while (*s && *s != ' ')
		s++;
	return *s ? s + 1 : s;
}

static void test_counters(void)
{
	test_work();
	test_modes();
	test_conditions();
	test_gates();
	test_overflow();
	test_interrupts();
	if (pmu.version >= 2)
		test_freeze();
	test_boundaries();
}

/**
 * bare_main() - all tests
 * @multiboot_info: has the command line: the PMU that is expected
 */
void bare_main(const u32 *multiboot_info)
{
	setup_machine();
	if (!pmu_parse(arguments(multiboot_info)))
		die("a command line that is no PMU");
	test_cpuid();
	if (pmu.version)
		test_reset();
	if (!pmu.off)
		test_registers();
	test_rdpmc();
	if (pmu.version)
		test_counters();
	finish();
}
