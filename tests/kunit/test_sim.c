// SPDX-License-Identifier: GPL-2.0
/*
 * The simulated PMU itself: what faults on hardware must fault here, or the
 * other suites prove nothing.
 */
#include "pmu_hw.h"
#include "test.h"

#define PERFEVTSEL0		0x186
#define PMC0			0x0c1
#define A_PMC0			0x4c1
#define FIXED_CTR0		0x309
#define GP0_CTR			0x1900
#define GP0_CFG_A		0x1901
#define FX0_CTR			0x1980
#define PERF_CAPABILITIES	0x345
#define FIXED_CTR_CTRL		0x38d
#define GLOBAL_STATUS		0x38e
#define GLOBAL_CTRL		0x38f
#define GLOBAL_OVF_CTRL		0x390
#define GLOBAL_INUSE		0x392

static const struct sim_pmu v1 = {
	.version = 1, .gp = 2, .width = 40 };
static const struct sim_pmu v2 = {
	.version = 2, .gp = 4, .width = 40, .fixed = 3, .fixed_width = 40,
	.pdcm = true };
static const struct sim_pmu v4 = {
	.version = 4, .gp = 8, .width = 48, .fixed = 3, .fixed_width = 44,
	.pdcm = true, .full_width = true };
static const struct sim_pmu v5 = {
	.version = 5, .gp = 6, .width = 48, .fixed = 1, .fixed_width = 48,
	.fixed_bitmap = 5, .pdcm = true, .full_width = true };
static const struct sim_pmu v6 = {
	.version = 6, .gp = 3, .gp_bitmap = 0xb, .width = 48, .fixed_width = 44,
	.fixed_bitmap = 0x41, .pdcm = true };
static const struct sim_pmu v6_plain = {
	.version = 6, .gp = 2, .width = 48, .lacks = 3 };
static const struct sim_pmu v5_ext = {
	.version = 5, .gp = 2, .width = 48, .ext = true, .lacks = 1 };
static const struct sim_pmu v0 = { .version = 0 };

/**
 * struct msr_row - a write, and what comes of it
 * @name: the rule
 * @pmu: on this
 * @msr: the register
 * @val: what is written
 * @err: does that fault?
 * @read: what is read then, if it does not; -1 is what was written
 */
struct msr_row {
	const char *name;
	const struct sim_pmu *pmu;
	u32 msr;
	u64 val;
	int err;
	u64 read;
};

#define SAME	(~0ULL)

static const struct msr_row msr_rows[] = {
	{ "evtsel", &v1, PERFEVTSEL0 + 1, 0x4300c0, 0, SAME },
	{ "evtsel-absent", &v1, PERFEVTSEL0 + 2, 0, -EIO },
	{ "evtsel-bit-32", &v4, PERFEVTSEL0, BIT_ULL(32), -EIO },
	{ "evtsel-any-v1", &v1, PERFEVTSEL0, BIT_ULL(21), -EIO },
	{ "evtsel-any-v4", &v4, PERFEVTSEL0, BIT_ULL(21), 0, SAME },
	{ "evtsel-any-v5", &v5, PERFEVTSEL0, BIT_ULL(21), -EIO },
	{ "evtsel-v0", &v0, PERFEVTSEL0, 0, -EIO },
	{ "pmc-positive", &v4, PMC0, 0x7fffffff, 0, SAME },
	{ "pmc-negative", &v4, PMC0, 0x80000000, 0, 0xffff80000000 },
	{ "pmc-negative-40", &v1, PMC0, 0xffffffff, 0, 0xffffffffff },
	{ "pmc-ignores-edx", &v4, PMC0, 0xabcd00000001, 0, 1 },
	{ "pmc-absent", &v1, PMC0 + 2, 0, -EIO },
	{ "a-pmc", &v4, A_PMC0 + 7, 0xabcd00000001, 0, SAME },
	{ "a-pmc-too-wide", &v4, A_PMC0, BIT_ULL(48), -EIO },
	{ "a-pmc-without-fw-write", &v2, A_PMC0, 0, -EIO },
	{ "fixed", &v4, FIXED_CTR0 + 2, 0xabc00000001, 0, SAME },
	{ "fixed-too-wide", &v4, FIXED_CTR0, BIT_ULL(44), -EIO },
	{ "fixed-absent", &v4, FIXED_CTR0 + 3, 0, -EIO },
	{ "fixed-hole", &v5, FIXED_CTR0 + 1, 0, -EIO },
	{ "fixed-behind-hole", &v5, FIXED_CTR0 + 2, 1, 0, SAME },
	{ "fixed-v1", &v1, FIXED_CTR0, 0, -EIO },
	{ "fixed-ctrl", &v4, FIXED_CTR_CTRL, 0xfff, 0, SAME },
	{ "fixed-ctrl-absent", &v4, FIXED_CTR_CTRL, 0x1000, -EIO },
	{ "fixed-ctrl-any-v2", &v2, FIXED_CTR_CTRL, 0x4, -EIO },
	{ "fixed-ctrl-hole", &v5, FIXED_CTR_CTRL, 0x10, -EIO },
	{ "fixed-ctrl-v1", &v1, FIXED_CTR_CTRL, 0, -EIO },
	{ "global-ctrl", &v4, GLOBAL_CTRL, 0x7000000ff, 0, SAME },
	{ "global-ctrl-absent-generic", &v4, GLOBAL_CTRL, 0x100, -EIO },
	{ "global-ctrl-absent-fixed", &v4, GLOBAL_CTRL, BIT_ULL(35), -EIO },
	{ "global-ctrl-hole", &v5, GLOBAL_CTRL, BIT_ULL(33), -EIO },
	{ "global-ctrl-v1", &v1, GLOBAL_CTRL, 0, -EIO },
	{ "global-status", &v4, GLOBAL_STATUS, 0, -EIO },
	{ "ovf-ctrl", &v4, GLOBAL_OVF_CTRL, 0xdc000007000000ff, 0, 0 },
	{ "ovf-ctrl-absent", &v4, GLOBAL_OVF_CTRL, 0x100, -EIO },
	{ "ovf-ctrl-uncore-v2", &v2, GLOBAL_OVF_CTRL, BIT_ULL(61), -EIO },
	{ "ovf-ctrl-v1", &v1, GLOBAL_OVF_CTRL, 0, -EIO },
	{ "inuse", &v4, GLOBAL_INUSE, 0, -EIO },
	{ "capabilities", &v4, PERF_CAPABILITIES, 0, -EIO },
	{ "debugctl", &v4, 0x1d9, 0x1000, 0, SAME },
	{ "no-such-msr", &v4, 0x1da, 0, -EIO },
	{ "gp-ctr", &v6, GP0_CTR + 12, 0xabcd00000001, 0, SAME },
	{ "gp-ctr-too-wide", &v6, GP0_CTR, BIT_ULL(48), -EIO },
	{ "gp-ctr-hole", &v6, GP0_CTR + 8, 0, -EIO },
	{ "gp-ctr-v5", &v5, GP0_CTR, 0, -EIO },
	{ "gp-cfg-a", &v6, GP0_CFG_A + 12, 0xff10004300c0, 0, SAME },
	{ "gp-cfg-a-hole", &v6, GP0_CFG_A + 8, 0, -EIO },
	{ "gp-cfg-a-bit-32", &v6, GP0_CFG_A, BIT_ULL(32), -EIO },
	{ "eq-v5", &v5, PERFEVTSEL0, BIT_ULL(36), -EIO },
	{ "umask2-v5", &v5, PERFEVTSEL0, BIT_ULL(40), -EIO },
	{ "eq-v6-plain", &v6_plain, GP0_CFG_A, BIT_ULL(36), -EIO },
	{ "umask2-v6-plain", &v6_plain, GP0_CFG_A, BIT_ULL(47), -EIO },
	{ "eq-v5-ext", &v5_ext, PERFEVTSEL0, BIT_ULL(36), 0, SAME },
	{ "umask2-v5-ext", &v5_ext, PERFEVTSEL0, BIT_ULL(47), -EIO },
	{ "fx-ctr", &v6, FX0_CTR + 24, 0xabc00000001, 0, SAME },
	{ "fx-ctr-too-wide", &v6, FX0_CTR, BIT_ULL(44), -EIO },
	{ "fx-ctr-hole", &v6, FX0_CTR + 4, 0, -EIO },
	{ "fx-has-no-cfg-a", &v6, FX0_CTR + 1, 0, -EIO },
	{ "evtsel-v6", &v6, PERFEVTSEL0, 0, -EIO },
	{ "fixed-v6", &v6, FIXED_CTR0, 0, -EIO },
	{ "global-ctrl-v6", &v6, GLOBAL_CTRL, 0x410000000b, 0, SAME },
	{ "global-ctrl-hole-v6", &v6, GLOBAL_CTRL, 4, -EIO },
};

static void msr_desc(const struct msr_row *row, char *desc)
{
	strscpy(desc, row->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(msr, msr_rows, msr_desc);

struct msr_access {
	u32 msr;
	u64 written, read;
	int write_err, read_err;
};

static void write_and_read(void *data)
{
	struct msr_access *a = data;

	a->write_err = hw_wrmsr(a->msr, a->written);
	a->read_err = hw_rdmsr(a->msr, &a->read);
}

static void sim_msr(struct kunit *test)
{
	const struct msr_row *row = test->param_value;
	struct msr_access a = { .msr = row->msr, .written = row->val };

	sim_reset(TEST_CPU, row->pmu);
	KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, write_and_read, &a));
	KUNIT_EXPECT_EQ(test, a.write_err, row->err);
	if (row->err)
		return;
	KUNIT_EXPECT_EQ(test, a.read_err, 0);
	KUNIT_EXPECT_EQ(test, a.read, row->read == SAME ? row->val : row->read);
}

struct rdpmc_row {
	const char *name;
	const struct sim_pmu *pmu;
	u32 index;
	int err;
};

static const struct rdpmc_row rdpmc_rows[] = {
	{ "generic", &v4, 7, 0 },
	{ "generic-absent", &v4, 8, -EIO },
	{ "fixed", &v4, 0x40000002, 0 },
	{ "fixed-absent", &v4, 0x40000003, -EIO },
	{ "fixed-hole", &v5, 0x40000001, -EIO },
	{ "fixed-v1", &v1, 0x40000000, -EIO },
	{ "fast", &v4, 0x80000000, -EIO },
	{ "metrics", &v4, 0x20000000, -EIO },
};

static void rdpmc_desc(const struct rdpmc_row *row, char *desc)
{
	strscpy(desc, row->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(rdpmc, rdpmc_rows, rdpmc_desc);

static void read_counter(void *data)
{
	struct msr_access *a = data;

	a->read_err = hw_rdpmc(a->msr, &a->read);
}

static void sim_rdpmc(struct kunit *test)
{
	const struct rdpmc_row *row = test->param_value;
	struct msr_access a = { .msr = row->index };

	sim_reset(TEST_CPU, row->pmu);
	KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, read_counter, &a));
	KUNIT_EXPECT_EQ(test, a.read_err, row->err);
}

/* Each of: enable, privilege, event, umask, GLOBAL_CTRL is needed. */
static void sim_gates(struct kunit *test)
{
	struct sim_cpu *sim = sim_cpu(TEST_CPU);

	sim_reset(TEST_CPU, &v4);
	sim->regs.evtsel[2] = 0x4101c2;		/* EN, USR */
	sim_retire(sim, 0xc2, 0x01, true, 5);
	KUNIT_EXPECT_EQ(test, sim->regs.pmc[2], 5ULL);
	sim_retire(sim, 0xc2, 0x01, false, 5);
	sim_retire(sim, 0xc2, 0x00, true, 5);
	sim_retire(sim, 0xc1, 0x01, true, 5);
	sim->regs.global_ctrl = 0xfb;
	sim_retire(sim, 0xc2, 0x01, true, 5);
	sim->regs.global_ctrl = 0xff;
	sim->regs.evtsel[2] = 0x0101c2;
	sim_retire(sim, 0xc2, 0x01, true, 5);
	KUNIT_EXPECT_EQ(test, sim->regs.pmc[2], 5ULL);

	sim->regs.fixed_ctr_ctrl = 0x010;	/* fixed1, OS */
	sim_retire(sim, 0x3c, 0x00, false, 7);
	KUNIT_EXPECT_EQ(test, sim->regs.fixed[1], 0ULL);
	sim->regs.global_ctrl = BIT_ULL(33);
	sim_retire(sim, 0x3c, 0x00, false, 7);
	sim_retire(sim, 0x3c, 0x00, true, 7);
	sim_retire(sim, 0xc0, 0x00, false, 7);
	KUNIT_EXPECT_EQ(test, sim->regs.fixed[1], 7ULL);
}

/* The event after all ones wraps to 0 and sets the counter's bit. */
static void sim_overflow(struct kunit *test)
{
	struct sim_cpu *sim = sim_cpu(TEST_CPU);

	sim_reset(TEST_CPU, &v4);
	sim->regs.evtsel[1] = 0x4200c0;
	sim->regs.pmc[1] = 0xfffffffffff0;
	sim_retire(sim, 0xc0, 0x00, false, 15);
	KUNIT_EXPECT_EQ(test, sim->regs.global_status, 0ULL);
	sim_retire(sim, 0xc0, 0x00, false, 1);
	KUNIT_EXPECT_EQ(test, sim->regs.pmc[1], 0ULL);
	KUNIT_EXPECT_EQ(test, sim->regs.global_status, BIT_ULL(1));
}

/* Computed: any event; OS or USR; and, in bit 63, any interrupt.  From version 4. */
static void sim_inuse(struct kunit *test)
{
	struct msr_access a = { .msr = GLOBAL_INUSE, .written = 0 };
	struct sim_cpu *sim = sim_cpu(TEST_CPU);

	sim_reset(TEST_CPU, &v4);
	KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, write_and_read, &a));
	KUNIT_EXPECT_EQ(test, a.write_err, -EIO);
	KUNIT_EXPECT_EQ(test, a.read_err, 0);
	KUNIT_EXPECT_EQ(test, a.read, 0ULL);
	sim->regs.evtsel[0] = 0x430000;		/* counts no event */
	sim->regs.evtsel[3] = 0x0000c0;		/* not enabled */
	sim->regs.fixed_ctr_ctrl = 0x120;
	KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, write_and_read, &a));
	KUNIT_EXPECT_EQ(test, a.read, 0x600000008ULL);
	sim->regs.evtsel[3] = 0x100000;
	KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, write_and_read, &a));
	KUNIT_EXPECT_EQ(test, a.read, BIT_ULL(63) | 0x600000000ULL);
	sim->regs.evtsel[3] = 0;
	sim->regs.fixed_ctr_ctrl = 0x008;
	KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, write_and_read, &a));
	KUNIT_EXPECT_EQ(test, a.read, BIT_ULL(63));

	sim_reset(TEST_CPU, &v2);
	KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, write_and_read, &a));
	KUNIT_EXPECT_EQ(test, a.read_err, -EIO);
}

/* A fault on demand, once, and from then on. */
static void sim_faults(struct kunit *test)
{
	struct msr_access a = { .msr = PERFEVTSEL0, .written = 0x53 };
	struct sim_cpu *sim = sim_cpu(TEST_CPU);

	sim_reset(TEST_CPU, &v4);
	sim->fail_nth = 1;
	KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, write_and_read, &a));
	KUNIT_EXPECT_EQ(test, a.write_err, -EIO);
	KUNIT_EXPECT_EQ(test, a.read_err, 0);
	KUNIT_EXPECT_EQ(test, a.read, 0ULL);
	sim->fail_nth = 2;
	sim->fail_all_after = true;
	KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, write_and_read, &a));
	KUNIT_EXPECT_EQ(test, a.write_err, 0);
	KUNIT_EXPECT_EQ(test, a.read_err, -EIO);
	KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, write_and_read, &a));
	KUNIT_EXPECT_EQ(test, a.write_err, -EIO);
	KUNIT_EXPECT_EQ(test, sim->accesses, 6U);
	KUNIT_EXPECT_EQ(test, (int)sim->log[3].op, (int)SIM_RDMSR);
	KUNIT_EXPECT_TRUE(test, sim->log[3].faulted);
}

static struct kunit_case sim_cases[] = {
	KUNIT_CASE_PARAM(sim_msr, msr_gen_params),
	KUNIT_CASE_PARAM(sim_rdpmc, rdpmc_gen_params),
	KUNIT_CASE(sim_gates),
	KUNIT_CASE(sim_overflow),
	KUNIT_CASE(sim_inuse),
	KUNIT_CASE(sim_faults),
	{}
};

static struct kunit_suite sim_suite = {
	.name = "my_pmu_sim",
	.test_cases = sim_cases,
};

kunit_test_suite(sim_suite);
