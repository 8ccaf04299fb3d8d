/* SPDX-License-Identifier: GPL-2.0 */
/* What the suites of RISC-V share. */
#ifndef MY_PMU_TEST_H
#define MY_PMU_TEST_H

#include <kunit/test.h>
#include <linux/smp.h>
#include <linux/string.h>

#include "pmu_cpu.h"
#include "pmu_event.h"
#include "pmu_names.h"
#include "pmu_parse.h"
#include "pmu_read.h"
#include "pmu_schedule.h"
#include "pmu_sim.h"
#include "pmu_why.h"

/* The CPU that tests count on, not the one that they run on. */
#define TEST_CPU	1

/* Ids of counters, as the module has them. */
#define GP(n)		BIT_ULL(n)
#define FIXED(n)	BIT_ULL(32 + (n))

/* Flags of CFG_MATCH for :u and :k. */
#define NOT_KERNEL	0x50
#define NOT_USER	0x28

enum { WITH, WITHOUT, NARROW, FEW };

extern const struct sim_pmu test_pmus[];

#define PMU(id)		(&test_pmus[id])

const void *test_pmu_gen_params(const void *prev, char *desc);

/* func(data) on that CPU, interrupts off; false if it is offline. */
static inline bool test_call(unsigned int cpu, smp_call_func_t func, void *data)
{
	return !smp_call_function_single(cpu, func, data, 1);
}

/* Forget the log; and that fixed counters that do not run have been configured. */
void test_forget(void);

/* The CPU's object, probed, as if nothing had ever been done with it. */
struct my_pmu_cpu *test_probed_cpu(struct kunit *test, const struct sim_pmu *pmu);

/* The events of a list on a CPU with this PMU; assertions that they fit. */
struct my_event_set *test_set(struct kunit *test, const struct sim_pmu *pmu, const char *events);

/* Another set of that CPU. */
struct my_event_set *test_another_set(struct kunit *test, struct my_pmu_cpu *cpu,
				      const char *events);

/* What my_event_set_up() returns; and an assertion that it is 0. */
int test_try_up(struct my_event_set *set);
void test_up(struct kunit *test, struct my_event_set *set);

/* So many of all that the firmware has a name for happen on TEST_CPU. */
void test_retire(struct kunit *test, u64 user, u64 kernel);

struct my_pmu_sample *test_sample(struct kunit *test);

/* The calls since the log was cleared are these, as sim_describe() has them; clears it. */
void test_expect_calls(struct kunit *test, const char *calls);

/* Nothing is configured or runs, on TEST_CPU, except for these and the fixed ones. */
void test_expect_free(struct kunit *test, u32 except);

/* No call with interrupts on, no read of what does not exist. */
void test_expect_good_manners(struct kunit *test);

#endif
