/* SPDX-License-Identifier: GPL-2.0 */
/* What the suites share: PMUs to run on, and how to look at one afterwards. */
#ifndef MY_PMU_TEST_H
#define MY_PMU_TEST_H

#include <kunit/test.h>
#include <linux/irqflags.h>
#include <linux/smp.h>
#include <linux/string.h>

#include "pmu_cpu.h"
#include "pmu_event.h"
#include "pmu_names.h"
#include "pmu_schedule.h"
#include "pmu_parse.h"
#include "pmu_read.h"
#include "pmu_sim.h"
#include "pmu_why.h"

/* The CPU that tests count on, not the one that they run on. */
#define TEST_CPU	1

enum {
	V1_40,
	V1_FULL,
	V2_40,
	V2_NO_FIXED,
	V2_32,
	V3_LEGACY,
	V4,
	V4_64,
	V4_NARROW_FIXED,
	V5_HOLE,
	V2_SECRET,
	V5_ONE_OF_EACH,
	V6_HOLES, AMD_LEGACY, AMD_CORE, AMD_V2,
};

static const struct sim_pmu test_pmus[] __maybe_unused = {
	[V1_40] = {
	  .name = "v1-gp2-40", .ebx_length = 7,
	  .version = 1, .gp = 2, .width = 40 },
	[V1_FULL] = {
	  .name = "v1-gp4-48-full", .ebx_length = 7,
	  .version = 1, .gp = 4, .width = 48,
	  .pdcm = true, .full_width = true },
	[V2_40] = {
	  .name = "v2-gp4-fixed3-40", .ebx_length = 7,
	  .version = 2, .gp = 4, .width = 40,
	  .fixed = 3, .fixed_width = 40 },
	[V2_NO_FIXED] = {
	  .name = "v2-gp4-fixed0-48-full", .ebx_length = 7,
	  .version = 2, .gp = 4, .width = 48,
	  .hypervisor = true, .pdcm = true, .full_width = true },
	[V2_32] = {
	  .name = "v2-gp2-fixed3-32", .ebx_length = 7,
	  .version = 2, .gp = 2, .width = 32,
	  .fixed = 3, .fixed_width = 32, .pdcm = true },
	[V3_LEGACY] = {
	  .name = "v3-gp8-fixed3-48", .ebx_length = 7,
	  .version = 3, .gp = 8, .width = 48,
	  .fixed = 3, .fixed_width = 48, .pdcm = true },
	[V4] = {
	  .name = "v4-gp8-fixed3-48-full", .ebx_length = 7,
	  .version = 4, .gp = 8, .width = 48,
	  .fixed = 3, .fixed_width = 48, .pdcm = true, .full_width = true,
	  .extra = true },
	[V4_64] = {
	  .name = "v4-gp18-fixed3-64-full", .ebx_length = 7,
	  .version = 4, .gp = 18, .width = 64,
	  .fixed = 3, .fixed_width = 64, .pdcm = true, .full_width = true,
	  .extra = true },
	[V4_NARROW_FIXED] = {
	  .name = "v4-gp4-48-fixed3-32", .ebx_length = 7,
	  .version = 4, .gp = 4, .width = 48,
	  .fixed = 3, .fixed_width = 32, .pdcm = true, .full_width = true },
	[V5_HOLE] = {
	  .name = "v5-gp6-fixed0-and-2-48-full", .ebx_length = 7,
	  .version = 5, .gp = 6,
	  .width = 48, .fixed = 1, .fixed_width = 48, .fixed_bitmap = 5,
	  .pdcm = true, .full_width = true },
	[V2_SECRET] = {
	  .name = "v2-gp2-secret-fixed3-40", .ebx_length = 7,
	  .version = 2, .gp = 2, .width = 40, .fixed = 3, .fixed_width = 40,
	  .secret = true },
	[V5_ONE_OF_EACH] = {
	  .name = "v5-gp1-fixed1-40", .ebx_length = 7,
	  .version = 5, .gp = 1, .width = 40,
	  .fixed_width = 40, .fixed_bitmap = 2 },
	[V6_HOLES] = {
	  .name = "v6-gp012457-fixed02456-48", .ebx_length = 7,
	  .version = 6, .gp = 6, .gp_bitmap = 0xb7, .width = 48,
	  .fixed = 1, .fixed_width = 48, .fixed_bitmap = 0x75, .subleaves = 0x2f },
	[AMD_LEGACY] = {
	  .name = "amd-legacy-gp4-48",
	  .amd = SIM_AMD_LEGACY, .version = 1, .gp = 4, .width = 48, .full_width = true,
	  .pdcm = true },
	[AMD_CORE] = {
	  .name = "amd-core-gp6-48",
	  .amd = SIM_AMD_CORE, .version = 1, .gp = 6, .width = 48, .full_width = true,
	  .pdcm = true },
	[AMD_V2] = {
	  .name = "amd-v2-gp6-48",
	  .amd = SIM_AMD_CORE, .version = 2, .gp = 6, .width = 48, .full_width = true,
	  .pdcm = true, .freezes = true },
};

#define PMU(id)		(&test_pmus[id])

static inline void test_pmu_desc(const struct sim_pmu *pmu, char *desc)
{
	strscpy(desc, pmu->name, KUNIT_PARAM_DESC_SIZE);
}

/* Each of them; and those with GLOBAL registers. */
const void *test_pmu_gen_params(const void *prev, char *desc);
const void *test_global_gen_params(const void *prev, char *desc);

/* func(data) on that CPU, interrupts off; false if it is offline. */
static inline bool test_call(unsigned int cpu, smp_call_func_t func, void *data)
{
	return !smp_call_function_single(cpu, func, data, 1);
}

/*
 * The test moves to TEST_CPU, where it calls instead of interrupting: for tests that
 * call a thousand times, and are not about the way there.  A call of an idle CPU
 * mostly waits for it to wake up.
 */
void test_run_there(struct kunit *test);

/* Does a legacy write, 32 bits and sign-extended, give this value? */
static inline bool test_is_writable(const struct sim_pmu *pmu, u64 val)
{
	u64 mask = GENMASK_ULL(pmu->width - 1, 0);

	return pmu->version >= 6 || (pmu->pdcm && pmu->full_width) ||
	       val == ((u64)(s64)(s32)val & mask);
}

/*
 * What somebody may have left in a CPU's registers: everything has some value,
 * and nothing is in use; what GLOBAL_CTRL and GLOBAL_STATUS hold is neither all
 * nor nothing.
 */
void test_leave_traces(struct sim_cpu *sim);

/* All counters are about to wrap, each at another time, before 100 events. */
void test_near_wrap(struct sim_cpu *sim);

/* Are all registers as they were, except for what cannot be written? */
void test_expect_registers(struct kunit *test, const struct sim_pmu *pmu,
			   const struct sim_registers *before,
			   const struct sim_registers *now);

/*
 * Takes what may differ after the access that failed from what is compared: a
 * write of what had been there before cannot be undone if it fails; nor can a
 * field of FIXED_CTR_CTRL be, if it cannot be read.
 */
void test_forgive_restoring(struct sim_registers *before,
			    const struct sim_cpu *sim);

/* CFG_B or CFG_C, by its address. */
u64 *test_cfg(struct sim_registers *regs, u32 reg);

/* The CPU's object, as if nothing had ever been done with it. */
struct my_pmu_cpu *test_fresh_cpu(void);

/* These counters belong to the set, whatever was assigned. */
void test_claim(struct my_event_set *set, u64 counters);

/* This pool from now on cannot be allocated, 1 is the next; 0 is none. */
extern unsigned int test_fail_pool;

/* Adds an event of perf on a CPU, or deletes it, there. */
struct my_pool_event;
int test_pool_add(int cpu, struct my_pool_event *event);
void test_pool_del(int cpu, struct my_pool_event *event);

/* my_event_set_assign(), whichever event it refuses. */
int test_assign(struct my_event_set *set, const struct my_perf_event_attr *attr,
		unsigned int nr, struct my_pmu_why *why);

/* The events of a list on a CPU with this PMU; assertions that they fit. */
struct my_event_set *test_set(struct kunit *test, const struct sim_pmu *pmu,
			      const char *counters);

/* As many events as the PMU has counters, each counter with one. */
struct my_event_set *test_all_counters(struct kunit *test,
				       const struct sim_pmu *pmu);

/* What my_event_set_up() returns; and an assertion that it is 0. */
int test_try_up(struct my_event_set *set);
void test_up(struct kunit *test, struct my_event_set *set);

/*
 * Brings up a set that multiplexes, and cancels its timer: the first rotation goes on until the
 * test calls test_rotate(), which returns what my_event_set_rotate() returned on the set's CPU.
 */
void test_up_without_timer(struct kunit *test, struct my_event_set *set);
int test_rotate(struct my_event_set *set);

/* That many instructions, cycles and reference cycles of both kinds retire. */
void test_retire(struct kunit *test, u64 user, u64 kernel);

struct my_pmu_sample *test_sample(struct kunit *test);

/* For a test that may have ended while it was offline. */
void test_bring_cpu_back(void);
/*
 * Which access is to fail next in a test of what takes thousands: of the first 64 each, later
 * some of them, others with another access_phase; with the parameter every_access, each.
 */
unsigned int test_next_access(unsigned int nth);

/* Nothing was done with interrupts on, and no RDPMC faulted unexpected. */
void test_expect_good_manners(struct kunit *test);

#endif
