// SPDX-License-Identifier: GPL-2.0
/* What the suites share. */
#include <linux/cpu.h>

#include "test.h"

void test_leave_traces(struct sim_cpu *sim)
{
	const struct sim_pmu *pmu = &sim->pmu;
	u64 mask = GENMASK_ULL(pmu->width - 1, 0);
	unsigned int i;

	for (i = 0; i < pmu->gp; i++) {
		/* INT and USR, but not enabled */
		sim->regs.evtsel[i] = 0x110000 | (0x50 + i);
		sim->regs.pmc[i] = (0x123456789abcULL * (i + 1)) & mask;
	}
	sim->regs.pmc[0] = 0x1234567;		/* can be written by 32 bits */
	if (pmu->version < 2)
		return;
	for (i = 0; i < SIM_FIXED; i++) {
		if (i >= pmu->fixed && !(pmu->fixed_bitmap & BIT(i)))
			continue;
		sim->regs.fixed[i] = (0x23456789abcdULL * (i + 1)) &
				     GENMASK_ULL(pmu->fixed_width - 1, 0);
		/* The first counts user code for somebody, with PMI. */
		if (!sim->regs.fixed_ctr_ctrl)
			sim->regs.fixed_ctr_ctrl = 0xaULL << (4 * i);
		sim->regs.global_ctrl |= BIT_ULL(32 + i);
	}
	sim->regs.global_ctrl &= ~BIT_ULL(0);
	sim->regs.global_status = BIT_ULL(pmu->gp - 1);
}

static u64 but_unwritable(const struct sim_pmu *pmu, u64 before, u64 now)
{
	return test_is_writable(pmu, before) ? now : before;
}

void test_expect_registers(struct kunit *test, const struct sim_pmu *pmu,
			   const struct sim_registers *before,
			   const struct sim_registers *now)
{
	unsigned int i;

	for (i = 0; i < SIM_GENERIC; i++) {
		KUNIT_EXPECT_EQ_MSG(test, before->evtsel[i], now->evtsel[i],
				    "PERFEVTSEL%u", i);
		KUNIT_EXPECT_EQ_MSG(test, before->pmc[i],
				    but_unwritable(pmu, before->pmc[i],
						   now->pmc[i]), "PMC%u", i);
	}
	for (i = 0; i < SIM_FIXED; i++)
		KUNIT_EXPECT_EQ_MSG(test, before->fixed[i], now->fixed[i],
				    "FIXED_CTR%u", i);
	KUNIT_EXPECT_EQ(test, before->fixed_ctr_ctrl, now->fixed_ctr_ctrl);
	KUNIT_EXPECT_EQ(test, before->global_ctrl, now->global_ctrl);
	KUNIT_EXPECT_EQ(test, before->global_status, now->global_status);
}

static struct my_pmu_cpu *detect(struct kunit *test, const struct sim_pmu *pmu)
{
	struct my_pmu_cpu *c;
	struct my_pmu_why why;
	int err;

	sim_reset(TEST_CPU, pmu);
	c = kunit_kzalloc(test, sizeof(*c), GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, c);
	c->cpu = TEST_CPU;
	err = my_pmu_detect(TEST_CPU, &c->pmu, &why);
	KUNIT_ASSERT_EQ_MSG(test, err, 0, "%s", why.text);
	return c;
}

struct my_pmu_cpu *test_cpu(struct kunit *test, const struct sim_pmu *pmu,
			    const char *counters)
{
	struct my_perf_event_attr *attr;
	struct my_pmu_why why;
	struct my_pmu_cpu *c;
	int nr, err;

	c = detect(test, pmu);
	attr = kunit_kcalloc(test, MY_PMC_MAX, sizeof(*attr), GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, attr);
	nr = my_parse_events(counters, attr, MY_PMC_MAX, &why);
	KUNIT_ASSERT_GT_MSG(test, nr, 0, "%s", why.text);
	err = my_pmu_cpu_init(c, attr, nr, &why);
	KUNIT_ASSERT_EQ_MSG(test, err, 0, "%s", why.text);
	return c;
}

/* What each fixed counter counts. */
static const char * const fixed_names[] = {
	"instructions", "cycles", "ref-cycles",
};

struct my_pmu_cpu *test_all_counters(struct kunit *test,
				     const struct sim_pmu *pmu)
{
	struct my_pmu_cpu *c = detect(test, pmu);
	char list[512] = "";
	size_t len = 0;
	u64 left;

	for (left = c->pmu.counters; left; left &= left - 1) {
		int idx = __ffs64(left), n = my_pmc_number(idx);
		const char *name = my_pmc_is_fixed(idx) ? fixed_names[n] :
				   n % 2 ? "instructions" : "cycles";

		len += scnprintf(list + len, sizeof(list) - len, "%s%s@%s%d",
				 len ? "," : "", name, my_pmc_kind(idx), n);
	}
	return test_cpu(test, pmu, list);
}

void test_bring_cpu_back(void)
{
	if (!cpu_online(TEST_CPU))
		add_cpu(TEST_CPU);
}

/* What is told once is not told of the tests that follow. */
void test_expect_good_manners(struct kunit *test)
{
	struct sim_cpu *sim;
	unsigned int cpu;

	for (cpu = 0; cpu < SIM_CPUS; cpu++) {
		sim = sim_cpu(cpu);
		KUNIT_EXPECT_EQ_MSG(test, sim->wrong, 0U,
				    "CPU %u, first: %s, register %#x", cpu,
				    sim->first_wrong, sim->first_wrong_reg);
		sim->wrong = 0;
	}
	KUNIT_EXPECT_EQ_MSG(test, sim_reservations.wrong, 0U,
			    "an event select released that was not held, or still counted");
	sim_reservations.wrong = 0;
}
