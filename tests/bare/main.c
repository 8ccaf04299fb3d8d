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

/* The word behind the PMU asks for other tests: its first letter, or 0. */
static char second_word(const char *text)
{
	while (*text && *text != ' ')
		text++;
	return *text ? text[1] : 0;
}

static void test_counters(void)
{
	test_work();
	test_branches();
	test_debugging();
	test_modes();
	test_conditions();
	test_gates();
	test_overflow();
	test_interrupts();
	if (pmu.version >= 2)
		test_freeze();
	test_boundaries();
	test_skid();
	test_apic_off();
}

/* PMIs, where they are late; all else is as it is without that. */
static void test_late(void)
{
	test_skid();
	if (pmu.odometer)
		test_odometer();
	test_interrupts();
	if (pmu.version >= 2)
		test_freeze();
	test_apic_off();
}

/**
 * bare_main() - all tests
 * @multiboot_info: has the command line: the PMU that is expected; and "smp"
 *	if there are two processors, "move" if the machine is migrated, or "reset" if
 *	it can be, whose tests are then the only ones; a PMU that is broken or paused,
 *	or whose PMIs are late, has its own, too
 */
void bare_main(const u32 *multiboot_info)
{
	const char *text = arguments(multiboot_info);

	setup_machine();
	if (!pmu_parse(text))
		die("a command line that is no PMU");
	switch (second_word(text)) {
	case 's':
		test_smp();
		finish();
	case 'm':
		test_migration();
		finish();
	case 'r':
		test_machine_reset();
		finish();
	}
	test_cpuid();
	if (pmu.broken) {
		test_broken();
		finish();
	}
	if (pmu.paused) {
		test_paused();
		finish();
	}
	if (pmu.pmi_skid) {
		test_late();
		finish();
	}
	if (pmu.version)
		test_reset();
	if (pmu.acr)
		test_left_behind();
	if (!pmu.off)
		test_registers();
	if (pmu.extra)
		test_extra();
	if (pmu.faults)
		test_injection();
	if (pmu.odometer)
		test_odometer();
	test_rdpmc();
	if (pmu.version >= 2 && !pmu.amd)
		test_more_fixed();
	if (pmu.amd)
		test_amd_events();
	if (pmu.free_running)
		test_amd_free_running();
	if (pmu.version >= 6)
		test_version_6();
	if (pmu.version)
		test_counters();
	finish();
}
