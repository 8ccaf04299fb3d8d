// SPDX-License-Identifier: GPL-2.0
/* What the suites share. */
#include <linux/cpu.h>
#include <linux/hrtimer.h>
#include <linux/moduleparam.h>
#include <linux/sched.h>

#include "test.h"

KUNIT_ARRAY_PARAM(pmu, test_pmus, test_pmu_desc);

const void *test_pmu_gen_params(const void *prev, char *desc)
{
	return pmu_gen_params(prev, desc);
}

const void *test_global_gen_params(const void *prev, char *desc)
{
	const void *pmu = prev;

	do {
		pmu = pmu_gen_params(pmu, desc);
	} while (pmu && ((const struct sim_pmu *)pmu)->version < 2);
	return pmu;
}

/* The thread is of this test alone. */
void test_run_there(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, set_cpus_allowed_ptr(current, cpumask_of(TEST_CPU)), 0);
}

void test_leave_traces(struct sim_cpu *sim)
{
	const struct sim_pmu *pmu = &sim->pmu;
	u64 mask = GENMASK_ULL(pmu->width - 1, 0);
	unsigned int i;

	for (i = 0; i < SIM_GENERIC; i++) {
		if (!sim_has_generic(pmu, i))
			continue;
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
		/* The first has PMI, and is not enabled. */
		if (!sim->regs.fixed_ctr_ctrl)
			sim->regs.fixed_ctr_ctrl = 0x8ULL << (4 * i);
		sim->regs.global_ctrl |= BIT_ULL(32 + i);
	}
	/* Any overflow would reload any counter, so that it overflows again soon. */
	for (i = 0; i < ARRAY_SIZE(sim->regs.cfg_b) && pmu->subleaves & BIT(2); i++) {
		sim->regs.cfg_b[i] = ~0ULL;
		sim->regs.cfg_c[i] = BIT_ULL(63) | 0xfffff000;
	}
	for (i = 0; i < ARRAY_SIZE(sim->regs.extra) && pmu->extra; i++)
		sim->regs.extra[i] = 0x1f80400244ULL + i;
	sim->regs.global_ctrl &= ~BIT_ULL(0);
	sim->regs.global_status = BIT_ULL(pmu->gp - 1);
}

void test_near_wrap(struct sim_cpu *sim)
{
	const struct sim_pmu *pmu = &sim->pmu;
	unsigned int i;

	for (i = 0; i < SIM_GENERIC; i++)
		sim->regs.pmc[i] = GENMASK_ULL(pmu->width - 1, 0) - i;
	for (i = 0; i < SIM_FIXED && pmu->version >= 2; i++) {
		if (i < pmu->fixed || pmu->fixed_bitmap & BIT(i))
			sim->regs.fixed[i] =
				GENMASK_ULL(pmu->fixed_width - 1, 0) - i;
	}
}

static u64 except_unwritable(const struct sim_pmu *pmu, u64 before, u64 now)
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
				    except_unwritable(pmu, before->pmc[i],
						      now->pmc[i]), "PMC%u", i);
	}
	for (i = 0; i < SIM_FIXED; i++)
		KUNIT_EXPECT_EQ_MSG(test, before->fixed[i], now->fixed[i],
				    "FIXED_CTR%u", i);
	for (i = 0; i < ARRAY_SIZE(now->extra); i++)
		KUNIT_EXPECT_EQ_MSG(test, before->extra[i], now->extra[i], "extra register %u", i);
	for (i = 0; i < ARRAY_SIZE(now->cfg_b); i++) {
		KUNIT_EXPECT_EQ_MSG(test, before->cfg_b[i], now->cfg_b[i], "CFG_B %u", i);
		KUNIT_EXPECT_EQ_MSG(test, before->cfg_c[i], now->cfg_c[i], "CFG_C %u", i);
	}
	KUNIT_EXPECT_EQ(test, before->fixed_ctr_ctrl, now->fixed_ctr_ctrl);
	KUNIT_EXPECT_EQ(test, before->global_ctrl, now->global_ctrl);
	KUNIT_EXPECT_EQ(test, before->global_status, now->global_status);
	KUNIT_EXPECT_EQ(test, before->debugctl, now->debugctl);
	KUNIT_EXPECT_EQ(test, before->lvtpc & ~SIM_LVTPC_MASKED, now->lvtpc);
}

u64 *test_cfg(struct sim_registers *regs, u32 reg)
{
	unsigned int i = sim_cfg((reg & 0x80 ? 32 : 0) + (reg & 0x7f) / 4);

	return reg % 4 == 2 ? &regs->cfg_b[i] : &regs->cfg_c[i];
}

void test_forgive_restoring(struct sim_registers *before,
			    const struct sim_cpu *sim)
{
	const struct sim_access *failed = &sim->failed;
	const struct sim_registers *now = &sim->regs;
	u32 reg = failed->reg;
	u64 val = failed->val;

	if (reg == 0x38d && (failed->op == SIM_RDMSR ||
			     val == before->fixed_ctr_ctrl))
		before->fixed_ctr_ctrl = now->fixed_ctr_ctrl;
	if (reg == 0x38e || reg == 0x390)
		before->global_status = now->global_status;
	if (failed->op != SIM_WRMSR)
		return;
	if (reg >= 0x186 && reg < 0x186 + SIM_GENERIC &&
	    val == before->evtsel[reg - 0x186])
		before->evtsel[reg - 0x186] = now->evtsel[reg - 0x186];
	else if (reg >= 0x0c1 && reg < 0x0c1 + SIM_GENERIC &&
		 val == before->pmc[reg - 0x0c1])
		before->pmc[reg - 0x0c1] = now->pmc[reg - 0x0c1];
	else if (reg >= 0x4c1 && reg < 0x4c1 + SIM_GENERIC &&
		 val == before->pmc[reg - 0x4c1])
		before->pmc[reg - 0x4c1] = now->pmc[reg - 0x4c1];
	else if (reg >= 0x309 && reg < 0x309 + SIM_FIXED &&
		 val == before->fixed[reg - 0x309])
		before->fixed[reg - 0x309] = now->fixed[reg - 0x309];
	else if (reg == 0x38f && val == before->global_ctrl)
		before->global_ctrl = now->global_ctrl;
	else if (reg == 0x1a6 && val == before->extra[0])
		before->extra[0] = now->extra[0];
	else if (reg == 0x1a7 && val == before->extra[1])
		before->extra[1] = now->extra[1];
	else if (reg >= 0x1900 && val == *test_cfg(before, reg))
		*test_cfg(before, reg) = *test_cfg((struct sim_registers *)now, reg);
}

struct my_pmu_cpu *test_fresh_cpu(void)
{
	struct my_pmu_cpu *cpu = my_pmu_cpu_of(TEST_CPU);

	memset(cpu, 0, sizeof(*cpu));
	return my_pmu_cpu_of(TEST_CPU);
}

static struct my_event_set *new_set(struct kunit *test, const struct sim_pmu *pmu)
{
	struct my_event_set *set;
	struct my_pmu_why why;
	int err;

	sim_hold_clock(true);
	sim_reset(TEST_CPU, pmu);
	set = kunit_kzalloc(test, sizeof(*set), GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, set);
	my_event_set_init(set, test_fresh_cpu());
	err = my_pmu_probe(set->cpu, NULL, &why);
	KUNIT_ASSERT_EQ_MSG(test, err, 0, "%s", why.text);
	return set;
}

void test_claim(struct my_event_set *set, u64 counters)
{
	u64 left;

	set->used = counters;
	for (left = counters; left; left &= left - 1)
		set->cpu->owner[__ffs64(left)] = set;
	set->cpu->used |= counters;
}

int test_assign(struct my_event_set *set, const struct my_perf_event_attr *attr,
		unsigned int nr, struct my_pmu_why *why)
{
	unsigned int culprit;

	return my_event_set_assign(set, attr, nr, &culprit, why);
}

struct my_event_set *test_set(struct kunit *test, const struct sim_pmu *pmu,
			      const char *counters)
{
	struct my_perf_event_attr *attr;
	struct my_event_set *set;
	struct my_pmu_why why;
	int nr, err, i;

	set = new_set(test, pmu);
	attr = kunit_kcalloc(test, MY_PMC_MAX, sizeof(*attr), GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, attr);
	nr = my_parse_events(counters, attr, MY_PMC_MAX, &why);
	KUNIT_ASSERT_GT_MSG(test, nr, 0, "%s", why.text);
	for (i = 0; i < nr && pmu->amd; i++) {
		err = my_names_lookup(NULL, &set->cpu->pmu, TEST_CPU, &attr[i], &why);
		KUNIT_ASSERT_EQ_MSG(test, err, 0, "%s", why.text);
	}
	err = test_assign(set, attr, nr, &why);
	KUNIT_ASSERT_EQ_MSG(test, err, 0, "%s", why.text);
	return set;
}

/* What each fixed counter counts. */
static const char * const fixed_names[] = {
	"instructions", "cycles", "ref-cycles", "slots", "r73", "r19c", "r2c2",
};

struct my_event_set *test_all_counters(struct kunit *test,
				       const struct sim_pmu *pmu)
{
	struct my_event_set *set = new_set(test, pmu);
	char list[512] = "";
	size_t len = 0;
	u64 left;

	for (left = set->cpu->pmu.counters; left; left &= left - 1) {
		int idx = __ffs64(left), n = my_pmc_number(idx);
		const char *name = my_pmc_is_fixed(idx) ? fixed_names[n] :
				   n % 2 ? "instructions" : "cycles";

		len += scnprintf(list + len, sizeof(list) - len, "%s%s@%s%d",
				 len ? "," : "", name, my_pmc_kind(idx), n);
	}
	return test_set(test, pmu, list);
}

int test_try_up(struct my_event_set *set)
{
	struct my_pmu_why why;

	return my_event_set_up(set, &why);
}

void test_up(struct kunit *test, struct my_event_set *set)
{
	struct my_pmu_why why = {};
	int err = my_event_set_up(set, &why);

	KUNIT_ASSERT_EQ_MSG(test, err, 0, "%s", why.text);
}

static int rotate_on_cpu(struct my_event_set *set, u64 unused, void *also_unused)
{
	return my_event_set_rotate(set);
}

int test_rotate(struct my_event_set *set)
{
	return my_event_set_call(set, 0, rotate_on_cpu, NULL);
}

void test_up_without_timer(struct kunit *test, struct my_event_set *set)
{
	unsigned int first = set->rotation, tries;

	KUNIT_ASSERT_TRUE(test, my_event_set_multiplexes(set));
	test_up(test, set);
	KUNIT_ASSERT_EQ(test, hrtimer_cancel(&set->timer.timer), 1);
	/* On a busy machine the timer may have ended a rotation by then. */
	for (tries = 0; set->rotation != first && tries < MY_EVENTS_MAX; tries++)
		KUNIT_ASSERT_EQ(test, test_rotate(set), 0);
	KUNIT_ASSERT_EQ(test, set->rotation, first);
}

struct retire {
	u64 user, kernel;
};

static void retire_on_cpu(void *data)
{
	static const u8 codes[][2] = {
		{ 0xc0, 0 }, { 0x3c, 0 }, { 0, 3 }, { 0x73, 0 }, { 0x9c, 1 }, { 0xc2, 2 },
	};
	struct sim_cpu *sim = sim_cpu(smp_processor_id());
	struct retire *r = data;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(codes); i++) {
		sim_retire(sim, codes[i][0], codes[i][1], true, r->user);
		sim_retire(sim, codes[i][0], codes[i][1], false, r->kernel);
	}
}

void test_retire(struct kunit *test, u64 user, u64 kernel)
{
	struct retire r = { .user = user, .kernel = kernel };

	KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, retire_on_cpu, &r));
}

struct my_pmu_sample *test_sample(struct kunit *test)
{
	struct my_pmu_sample *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, s);
	return s;
}

static bool every_access;
module_param(every_access, bool, 0444);

static unsigned int access_phase;
module_param(access_phase, uint, 0444);

unsigned int test_next_access(unsigned int nth)
{
	if (every_access)
		return nth + 1;
	return nth + 1 + nth / 64 + (nth == 64 ? access_phase : 0);
}

void test_bring_cpu_back(void)
{
	if (!cpu_online(TEST_CPU))
		add_cpu(TEST_CPU);
}

/* What was reported is not reported of the tests that follow. */
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
	KUNIT_EXPECT_FALSE_MSG(test, sim_handles_nmis(), "a handler of NMIs is still registered");
	KUNIT_EXPECT_EQ_MSG(test, sim_reservations.wrong, 0U,
			    "a counter released that was not held, or still counted");
	sim_reservations.wrong = 0;
}
