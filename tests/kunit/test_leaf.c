// SPDX-License-Identifier: GPL-2.0
/*
 * CPUID leaves 0AH and 23H: what real CPUs and made-up ones say in them, and what the
 * decoder makes of that.  Written from the SDM, volume 2, CPUID; for real CPUs
 * by make-leaves.  Register numbers are the SDM's, written here once more.
 */
#include <kunit/test.h>
#include <linux/errno.h>
#include <linux/irqflags.h>
#include <linux/smp.h>
#include <linux/string.h>

#include "leaves.h"
#include "pmu_event.h"
#include "pmu_intel.h"
#include "pmu_sim.h"
#include "pmu_why.h"

#define PERFEVTSEL0		0x186
#define PMC0			0x0c1
#define A_PMC0			0x4c1
#define FIXED_CTR0		0x309
#define GP0_CTR			0x1900
#define GP0_CFG_A		0x1901
#define FX0_CTR			0x1980
#define PERF_CAPABILITIES	0x345

#define VERSION_0 \
	"no PMU: CPUID.0AH says version 0 (in a virtual machine, its hypervisor must provide one)"
#define OTHER_VENDOR \
	"no PMU that is known here: those of Intel, AMD, Hygon, Zhaoxin and Centaur are"
#define XEN_PV		"no PMU: a Xen PV guest's belongs to the hypervisor"
#define CAP_FAULTS \
	"no PMU: IA32_PERF_CAPABILITIES faults though CPUID promises it"

/* The fields of the leaf. */
#define EAX(version, gp, width, events) \
	((u32)(version) | (u32)(gp) << 8 | (u32)(width) << 16 | \
	 (u32)(events) << 24)
#define EDX(fixed, width)	((u32)(fixed) | (u32)(width) << 5)
#define ONES			0xffffffff

/* As if a PMU with everything had been there before. */
static void soil(struct my_x86_pmu *pmu, struct my_pmu_why *why)
{
	memset(pmu, 0xff, sizeof(*pmu));
	memset(why, 0xff, sizeof(*why));
}

static int decode(struct my_x86_pmu *pmu, const struct intel_pmu_leaf *leaf,
		  struct my_pmu_why *why)
{
	soil(pmu, why);
	return my_intel_pmu_decode(pmu, leaf, why);
}

static void expect_decoded(struct kunit *test, const struct my_x86_pmu *pmu,
			   const struct decoded *want)
{
	KUNIT_EXPECT_EQ(test, pmu->version, want->version);
	KUNIT_EXPECT_EQ(test, (u32)pmu->counters, want->generic);
	KUNIT_EXPECT_EQ(test, (u32)(pmu->counters >> 32), want->fixed);
	KUNIT_EXPECT_EQ(test, pmu->cntval_bits, want->width);
	/* The width of no counters is nothing to compare. */
	if (want->fixed)
		KUNIT_EXPECT_EQ(test, pmu->cntval_bits_fixed,
				want->fixed_width);
	KUNIT_EXPECT_EQ(test, pmu->arch_events_len, want->nr_events);
	KUNIT_EXPECT_EQ(test, pmu->arch_events, want->events);
	KUNIT_EXPECT_EQ(test, pmu->ops->eventsel_reserve, PERFEVTSEL0);
	KUNIT_EXPECT_EQ(test, pmu->ops->perfctr_reserve, PMC0);
	KUNIT_EXPECT_EQ(test, pmu->msr_step, want->version < 6 ? 1 : 4);
	KUNIT_EXPECT_EQ(test, pmu->eventsel, want->version < 6 ? PERFEVTSEL0 : GP0_CFG_A);
	KUNIT_EXPECT_EQ(test, pmu->fixedctr, want->version < 6 ? FIXED_CTR0 : FX0_CTR);
}

/* A leaf does not tell of full-width writes, which version 6 always has. */
static void expect_narrow_writes(struct kunit *test,
				 const struct my_x86_pmu *pmu)
{
	KUNIT_EXPECT_EQ(test, pmu->flags, pmu->version < 6 ? 0U : 1U);
	KUNIT_EXPECT_EQ(test, pmu->perfctr, pmu->version < 6 ? PMC0 : GP0_CTR);
}

static void expect_ops(struct kunit *test, const struct my_x86_pmu *pmu)
{
	const struct my_pmu_ops *ops = pmu->ops;

	KUNIT_ASSERT_NOT_NULL(test, ops);
	KUNIT_EXPECT_NOT_NULL(test, ops->probes);
	KUNIT_EXPECT_EQ(test, ops->nr_probes, 7U);
	KUNIT_EXPECT_NOT_NULL(test, ops->counters_for);
	KUNIT_EXPECT_NOT_NULL(test, ops->encode);
	KUNIT_EXPECT_NOT_NULL(test, ops->save);
	KUNIT_EXPECT_NOT_NULL(test, ops->restore);
	KUNIT_EXPECT_NOT_NULL(test, ops->enable);
	KUNIT_EXPECT_NOT_NULL(test, ops->disable);
	KUNIT_EXPECT_NOT_NULL(test, ops->program);
	KUNIT_EXPECT_NOT_NULL(test, ops->start);
	KUNIT_EXPECT_NOT_NULL(test, ops->stop);
	KUNIT_EXPECT_NOT_NULL(test, ops->read);
	KUNIT_EXPECT_NOT_NULL(test, ops->write);
	KUNIT_EXPECT_NOT_NULL(test, ops->find_in_use);
	KUNIT_EXPECT_NOT_NULL(test, ops->plan);
	KUNIT_EXPECT_NOT_NULL(test, ops->capture);
}

/* --- the simulated CPU ----------------------------------------------------- */

struct probe_result {
	int err;
	struct my_x86_pmu pmu;
	struct my_pmu_why why;
	unsigned int accesses;
	struct sim_access first;
	unsigned int wrong;
};

/* What has gone wrong is reported later, with interrupts on. */
static void probe_on(const struct sim_pmu *has, u32 fail_reg,
		     struct probe_result *result)
{
	unsigned long flags;
	struct sim_cpu *sim;

	soil(&result->pmu, &result->why);
	local_irq_save(flags);
	sim_reset(smp_processor_id(), has);
	sim = sim_cpu(smp_processor_id());
	sim->fail_reg = fail_reg;
	result->err = my_intel_pmu_probe(&result->pmu, &result->why);
	result->accesses = sim->accesses;
	result->first = sim->log[0];
	result->wrong = sim->wrong;
	local_irq_restore(flags);
}

static struct probe_result *probe_anew(struct kunit *test,
				       const struct sim_pmu *has, u32 fail_reg)
{
	struct probe_result *result;

	result = kunit_kzalloc(test, sizeof(*result), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, result);
	probe_on(has, fail_reg, result);
	KUNIT_EXPECT_EQ(test, result->wrong, 0);
	return result;
}

static void expect_probe_refused(struct kunit *test,
				 const struct probe_result *result, int err,
				 const char *why)
{
	KUNIT_ASSERT_EQ(test, result->err, err);
	KUNIT_EXPECT_STREQ(test, result->why.text, why);
}

/* --- real CPUs ------------------------------------------------------------- */

static void describe_leaf(const struct leaf_row *row, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s %s %s", row->vendor,
		 row->signature, row->name);
}

KUNIT_ARRAY_PARAM(leaf, leaf_rows, describe_leaf);

/* The decoder does not ask for the vendor. */
static void leaf_decoded(struct kunit *test)
{
	const struct leaf_row *row = test->param_value;
	struct my_pmu_why why;
	struct my_x86_pmu pmu;

	KUNIT_ASSERT_EQ(test, decode(&pmu, &row->leaf, &why), 0);
	expect_decoded(test, &pmu, &row->want);
	expect_narrow_writes(test, &pmu);
	expect_ops(test, &pmu);
}

static struct sim_pmu sim_of_leaf(const struct leaf_row *row)
{
	u32 eax = row->leaf.eax, edx = row->leaf.edx;

	return (struct sim_pmu) {
		.name = row->name,
		.version = eax & 0xff,
		.gp = eax >> 8 & 0xff,
		.width = eax >> 16 & 0xff,
		.ebx_length = eax >> 24,
		.ebx = row->leaf.ebx,
		.fixed_bitmap = row->leaf.ecx,
		.fixed = edx & 0x1f,
		.fixed_width = edx >> 5 & 0xff,
		.other_vendor = row->other_vendor,
		.lacks = 3,	/* leaf 0AH does not tell */
	};
}

/* A CPU of another vendor is refused, whatever leaf 0AH says. */
static void leaf_on_its_cpu(struct kunit *test)
{
	const struct leaf_row *row = test->param_value;
	struct sim_pmu has = sim_of_leaf(row);
	struct probe_result *result = probe_anew(test, &has, 0);

	KUNIT_EXPECT_EQ(test, result->accesses, 0);
	if (row->other_vendor) {
		expect_probe_refused(test, result, -ENODEV, OTHER_VENDOR);
		return;
	}
	KUNIT_ASSERT_EQ(test, result->err, 0);
	expect_decoded(test, &result->pmu, &row->want);
	expect_narrow_writes(test, &result->pmu);
	expect_ops(test, &result->pmu);
}

/* --- other leaves of real CPUs --------------------------------------------- */

static void describe_other_leaf(const struct other_leaf_row *row, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s %s leaf %s %08x %08x: %s",
		 row->signature, row->name, row->leaf, row->eax, row->ebx,
		 row->reason);
}

KUNIT_ARRAY_PARAM(other_leaf, other_leaf_rows, describe_other_leaf);

/* Leaf 0AH of the same CPU, or NULL. */
static const struct leaf_row *leaf_a_of(const struct other_leaf_row *other)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(leaf_rows); i++) {
		const struct leaf_row *row = &leaf_rows[i];

		if (!strcmp(row->vendor, other->vendor) &&
		    !strcmp(row->signature, other->signature) &&
		    !strcmp(row->name, other->name))
			return row;
	}
	return NULL;
}

/* Leaf 23H, sub-leaf 1: EAX generic counters, EBX fixed ones. */
static void compare_counters(struct kunit *test,
			     const struct other_leaf_row *row)
{
	const struct leaf_row *leaf_a = leaf_a_of(row);
	u64 has = (u64)row->ebx << 32 | row->eax;
	struct intel_pmu_leaf leaf;
	struct my_pmu_why why;
	struct my_x86_pmu pmu;

	KUNIT_ASSERT_NOT_NULL(test, leaf_a);
	leaf = leaf_a->leaf;
	KUNIT_ASSERT_EQ(test, decode(&pmu, &leaf, &why), 0);
	/* No counter is used that this core does not have. */
	KUNIT_EXPECT_EQ(test, pmu.counters & ~has, 0);
	KUNIT_EXPECT_EQ(test, pmu.counters == has, row->fate == LEAF_AGREES);
	leaf.generic = row->eax;
	leaf.fixed = row->ebx;
	KUNIT_ASSERT_EQ(test, decode(&pmu, &leaf, &why), 0);
	KUNIT_EXPECT_EQ(test, pmu.counters, has);
}

/* What the decoder does not look at, and why it need not; and the counters. */
static void leaf_other(struct kunit *test)
{
	const struct other_leaf_row *row = test->param_value;

	switch (row->fate) {
	case LEAF_NO_LEAF_A:
		KUNIT_EXPECT_NULL(test, leaf_a_of(row));
		break;
	case LEAF_NO_COUNTERS:
		KUNIT_EXPECT_NOT_NULL(test, leaf_a_of(row));
		break;
	case LEAF_AGREES:
	case LEAF_HAS_MORE:
		compare_counters(test, row);
		break;
	}
}

static void describe_amd(const struct amd_leaf_row *row, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s %07x: %08x %08x", row->name,
		 row->leaf.signature, row->leaf.eax, row->leaf.ebx);
}

KUNIT_ARRAY_PARAM(amd, amd_leaf_rows, describe_amd);

static void leaf_amd(struct kunit *test)
{
	const struct amd_leaf_row *row = test->param_value;
	struct my_x86_pmu pmu;
	struct my_pmu_why why;

	soil(&pmu, &why);
	KUNIT_ASSERT_EQ(test, my_amd_pmu_decode(&pmu, &row->leaf, &why), 0);
	KUNIT_EXPECT_EQ(test, pmu.version, 2U);
	KUNIT_EXPECT_EQ(test, pmu.counters, (u64)row->counters);
	KUNIT_EXPECT_EQ(test, pmu.cntval_bits, 48U);
	KUNIT_EXPECT_EQ(test, pmu.eventsel, 0xc0010200U);
	KUNIT_EXPECT_EQ(test, pmu.flags & 1, row->freezes ? 1U : 0U);
}

/* --- made-up CPUs ----------------------------------------------------------- */

struct made_up {
	const char *what;
	struct intel_pmu_leaf leaf;
	/* version, generic, width, fixed, fixed_width, nr_events, events */
	struct decoded want;
};

static const struct made_up made_up[] = {
	/* fixed counters: from version 5 on ECX[i] or i < EDX[4:0] */
	{ "fixed counters with a hole",
	  { EAX(5, 8, 48, 7), 0, 0x0d, EDX(0, 48) },
	  { 5, 0xff, 48, 0x0d, 48, 7, 0x7f } },
	{ "fixed counters with a hole, the first in EDX",
	  { EAX(5, 8, 48, 7), 0, 0x09, EDX(2, 48) },
	  { 5, 0xff, 48, 0x0b, 48, 7, 0x7f } },
	{ "no fixed0",
	  { EAX(5, 8, 48, 7), 0, 0x02, EDX(0, 48) },
	  { 5, 0xff, 48, 0x02, 48, 7, 0x7f } },
	{ "fixed counters in EDX alone",
	  { EAX(5, 8, 48, 7), 0, 0, EDX(3, 48) },
	  { 5, 0xff, 48, 0x07, 48, 7, 0x7f } },
	{ "fixed counters in ECX alone",
	  { EAX(5, 8, 48, 7), 0, 0x0f, EDX(0, 48) },
	  { 5, 0xff, 48, 0x0f, 48, 7, 0x7f } },
	{ "fixed15", { EAX(5, 8, 48, 7), 0, 0x8001, EDX(0, 48) },
	  { 5, 0xff, 48, 0x8001, 48, 7, 0x7f } },
	/* IA32_FIXED_CTR_CTRL has fields for 16 */
	{ "fixed16", { EAX(5, 8, 48, 7), 0, 0x10001, EDX(0, 48) },
	  { 5, 0xff, 48, 0x0001, 48, 7, 0x7f } },
	{ "all fixed counters", { EAX(5, 8, 48, 7), 0, ONES, EDX(31, 48) },
	  { 5, 0xff, 48, 0xffff, 48, 7, 0x7f } },
	{ "version 5, no fixed counters",
	  { EAX(5, 8, 48, 7), 0, 0, EDX(0, 0) },
	  { 5, 0xff, 48, 0, 0, 7, 0x7f } },
	{ "version 5, one fixed counter",
	  { EAX(5, 8, 48, 7), 0, 0, EDX(1, 48) },
	  { 5, 0xff, 48, 0x01, 48, 7, 0x7f } },

	/* in versions 2 to 4 ECX is reserved; bare metal has three at least */
	{ "version 4, ECX set", { EAX(4, 8, 48, 7), 0, ONES, EDX(3, 48) },
	  { 4, 0xff, 48, 0x07, 48, 7, 0x7f } },
	{ "version 2, ECX set", { EAX(2, 8, 48, 7), 0, 0x08, EDX(3, 48) },
	  { 2, 0xff, 48, 0x07, 48, 7, 0x7f } },
	{ "version 2, bare metal, EDX 0",
	  { EAX(2, 2, 40, 7), 0, 0, EDX(0, 0) },
	  { 2, 0x3, 40, 0x07, 40, 7, 0x7f } },
	{ "version 4, bare metal, EDX 0",
	  { EAX(4, 4, 48, 7), 0, 0, EDX(0, 0) },
	  { 4, 0xf, 48, 0x07, 48, 7, 0x7f } },
	{ "bare metal, one fixed counter",
	  { EAX(3, 4, 48, 7), 0, 0, EDX(1, 40) },
	  { 3, 0xf, 48, 0x07, 40, 7, 0x7f } },
	{ "bare metal, two fixed counters, no width",
	  { EAX(2, 4, 48, 7), 0, 0, EDX(2, 0) },
	  { 2, 0xf, 48, 0x07, 48, 7, 0x7f } },
	{ "bare metal, four fixed counters",
	  { EAX(4, 4, 48, 7), 0, 0, EDX(4, 48) },
	  { 4, 0xf, 48, 0x0f, 48, 7, 0x7f } },
	{ "bare metal, 31 fixed counters",
	  { EAX(4, 4, 48, 7), 0, 0, EDX(31, 48) },
	  { 4, 0xf, 48, 0xffff, 48, 7, 0x7f } },

	/* a hypervisor means what it says */
	{ "version 2, hypervisor, EDX 0",
	  { EAX(2, 4, 48, 7), 0, 0, EDX(0, 0), true },
	  { 2, 0xf, 48, 0, 0, 7, 0x7f } },
	{ "version 4, hypervisor, no fixed counters",
	  { EAX(4, 4, 48, 7), 0, 0, EDX(0, 48), true },
	  { 4, 0xf, 48, 0, 0, 7, 0x7f } },
	{ "hypervisor, a wrong width of no fixed counters",
	  { EAX(4, 4, 48, 7), 0, 0, EDX(0, 31), true },
	  { 4, 0xf, 48, 0, 0, 7, 0x7f } },
	{ "hypervisor, one fixed counter",
	  { EAX(2, 4, 48, 7), 0, 0, EDX(1, 40), true },
	  { 2, 0xf, 48, 0x01, 40, 7, 0x7f } },
	{ "hypervisor, three fixed counters",
	  { EAX(2, 4, 48, 7), 0, 0, EDX(3, 48), true },
	  { 2, 0xf, 48, 0x07, 48, 7, 0x7f } },
	{ "version 5, hypervisor, no fixed counters",
	  { EAX(5, 4, 48, 7), 0, 0, EDX(0, 0), true },
	  { 5, 0xf, 48, 0, 0, 7, 0x7f } },

	/* in version 1 EDX and ECX are reserved */
	{ "version 1", { EAX(1, 2, 40, 7), 0, 0, 0 },
	  { 1, 0x3, 40, 0, 0, 7, 0x7f } },
	{ "version 1, EDX set", { EAX(1, 2, 40, 7), 0, 0, ONES },
	  { 1, 0x3, 40, 0, 0, 7, 0x7f } },
	{ "version 1, three fixed counters of no width",
	  { EAX(1, 2, 40, 7), 0, 0, EDX(3, 0) },
	  { 1, 0x3, 40, 0, 0, 7, 0x7f } },
	{ "version 1, ECX set", { EAX(1, 2, 40, 7), 0, ONES, 0 },
	  { 1, 0x3, 40, 0, 0, 7, 0x7f } },
	{ "version 1, hypervisor", { EAX(1, 2, 40, 7), 0, 0, 0, true },
	  { 1, 0x3, 40, 0, 0, 7, 0x7f } },

	/* later versions are taken for 6 */
	{ "version 6", { EAX(6, 10, 48, 13), 0x280, 0x77, EDX(3, 48) },
	  { 6, 0x3ff, 48, 0x77, 48, 13, 0x1d7f } },
	{ "version 255", { EAX(255, 8, 48, 7), 0, 0x05, EDX(0, 48) },
	  { 255, 0xff, 48, 0x05, 48, 7, 0x7f } },

	/* leaf 23H has all counters of this CPU, and more events; see also leaf_cfg() */
	{ "holes", { EAX(6, 6, 48, 7), 0, 0x01, EDX(1, 48), false, 0xb7, 0x75, 0x7f },
	  { 6, 0xb7, 48, 0x75, 48, 7, 0x7f } },
	{ "no gp0", { EAX(6, 2, 48, 7), 0, 0, EDX(0, 48), false, 0x6, 0x2, 0x7f },
	  { 6, 0x6, 48, 0x2, 48, 7, 0x7f } },
	{ "fewer counters than leaf 0AH",
	  { EAX(6, 8, 48, 7), 0, 0x0f, EDX(4, 48), false, 0x3, 0x1, 0x7f },
	  { 6, 0x3, 48, 0x1, 48, 7, 0x7f } },
	{ "no fixed counters",
	  { EAX(6, 8, 48, 7), 0, 0x0f, EDX(4, 48), false, 0xff, 0, 0x7f },
	  { 6, 0xff, 48, 0, 0, 7, 0x7f } },
	{ "no generic counters, so no leaf 23H",
	  { EAX(6, 8, 48, 7), 0, 0x0f, EDX(4, 48), false, 0, 0x3, 0 },
	  { 6, 0xff, 48, 0x0f, 48, 7, 0x7f } },
	{ "32 generic counters, 32 fixed ones",
	  { EAX(6, 8, 48, 7), 0, 0, EDX(0, 48), false, ONES, ONES, 0x7f },
	  { 6, ONES, 48, 0xffff, 48, 7, 0x7f } },
	{ "version 5, 32 generic counters",
	  { EAX(5, 8, 48, 7), 0, 0, EDX(0, 48), false, ONES, 0x7, 0x7f },
	  { 5, 0x3ffff, 48, 0x7, 48, 7, 0x7f } },
	{ "events that leaf 0AH has not, and more of them",
	  { EAX(6, 8, 48, 7), 0x21, 0, EDX(0, 48), false, 0xff, 0, 0x1d01 },
	  { 6, 0xff, 48, 0, 0, 13, 0x1d5f } },
	{ "fewer events than leaf 0AH",
	  { EAX(6, 8, 48, 13), 0, 0, EDX(0, 48), false, 0xff, 0, 0x1 },
	  { 6, 0xff, 48, 0, 0, 13, 0x1fff } },
	{ "event 31", { EAX(6, 8, 48, 7), 0, 0, EDX(0, 48), false, 0xff, 0, 0x80000000 },
	  { 6, 0xff, 48, 0, 0, 32, 0x8000007f } },
	{ "version 6, 32 generic counters in leaf 0AH",
	  { EAX(6, 32, 48, 7), 0, 0, EDX(0, 48) },
	  { 6, ONES, 48, 0, 0, 7, 0x7f } },
	{ "version 6, 255 generic counters in leaf 0AH",
	  { EAX(6, 255, 48, 7), 0, 0, EDX(0, 48) },
	  { 6, ONES, 48, 0, 0, 7, 0x7f } },

	/* EDX[15] is AnyThread deprecation; the rest is reserved */
	{ "EDX beyond its fields",
	  { EAX(4, 4, 48, 7), 0, 0, 0xffffe000 | EDX(3, 48) },
	  { 4, 0xf, 48, 0x07, 48, 7, 0x7f } },

	/* generic counters: IA32_PERFEVTSELx are MSRs 186H to 197H */
	{ "1 generic counter", { EAX(4, 1, 48, 7), 0, 0, EDX(3, 48) },
	  { 4, 0x1, 48, 0x07, 48, 7, 0x7f } },
	{ "17 generic counters", { EAX(4, 17, 48, 7), 0, 0, EDX(3, 48) },
	  { 4, 0x1ffff, 48, 0x07, 48, 7, 0x7f } },
	{ "18 generic counters", { EAX(4, 18, 48, 7), 0, 0, EDX(3, 48) },
	  { 4, 0x3ffff, 48, 0x07, 48, 7, 0x7f } },
	{ "19 generic counters", { EAX(4, 19, 48, 7), 0, 0, EDX(3, 48) },
	  { 4, 0x3ffff, 48, 0x07, 48, 7, 0x7f } },
	{ "255 generic counters", { EAX(4, 255, 48, 7), 0, 0, EDX(3, 48) },
	  { 4, 0x3ffff, 48, 0x07, 48, 7, 0x7f } },

	/* widths */
	{ "generic counters of 32 bits",
	  { EAX(4, 4, 32, 7), 0, 0, EDX(3, 48) },
	  { 4, 0xf, 32, 0x07, 48, 7, 0x7f } },
	{ "generic counters of 64 bits",
	  { EAX(4, 4, 64, 7), 0, 0, EDX(3, 48) },
	  { 4, 0xf, 64, 0x07, 48, 7, 0x7f } },
	{ "fixed counters of 32 bits",
	  { EAX(4, 4, 48, 7), 0, 0, EDX(3, 32) },
	  { 4, 0xf, 48, 0x07, 32, 7, 0x7f } },
	{ "fixed counters of 64 bits",
	  { EAX(4, 4, 48, 7), 0, 0, EDX(3, 64) },
	  { 4, 0xf, 48, 0x07, 64, 7, 0x7f } },

	/* events: i exists if it is below the length and EBX[i] is 0 */
	{ "EBX of no length, zeros",
	  { EAX(4, 4, 48, 0), 0, 0, EDX(3, 48) },
	  { 4, 0xf, 48, 0x07, 48, 0, 0 } },
	{ "EBX of no length, ones",
	  { EAX(4, 4, 48, 0), ONES, 0, EDX(3, 48) },
	  { 4, 0xf, 48, 0x07, 48, 0, 0 } },
	{ "EBX of length 1", { EAX(4, 4, 48, 1), 0, 0, EDX(3, 48) },
	  { 4, 0xf, 48, 0x07, 48, 1, 0x1 } },
	{ "EBX of length 7, ones", { EAX(4, 4, 48, 7), ONES, 0, EDX(3, 48) },
	  { 4, 0xf, 48, 0x07, 48, 7, 0 } },
	{ "EBX of length 7, mixed", { EAX(4, 4, 48, 7), 0x58, 0, EDX(3, 48) },
	  { 4, 0xf, 48, 0x07, 48, 7, 0x27 } },
	{ "EBX of length 7, ones beyond",
	  { EAX(4, 4, 48, 7), 0xffffff80, 0, EDX(3, 48) },
	  { 4, 0xf, 48, 0x07, 48, 7, 0x7f } },
	{ "EBX of length 13, zeros", { EAX(4, 4, 48, 13), 0, 0, EDX(3, 48) },
	  { 4, 0xf, 48, 0x07, 48, 13, 0x1fff } },
	{ "EBX of length 13, ones", { EAX(4, 4, 48, 13), ONES, 0, EDX(3, 48) },
	  { 4, 0xf, 48, 0x07, 48, 13, 0 } },
	{ "EBX of length 32, zeros", { EAX(4, 4, 48, 32), 0, 0, EDX(3, 48) },
	  { 4, 0xf, 48, 0x07, 48, 32, ONES } },
	{ "EBX of length 32, ones", { EAX(4, 4, 48, 32), ONES, 0, EDX(3, 48) },
	  { 4, 0xf, 48, 0x07, 48, 32, 0 } },
	{ "EBX of length 33, zeros", { EAX(4, 4, 48, 33), 0, 0, EDX(3, 48) },
	  { 4, 0xf, 48, 0x07, 48, 32, ONES } },
	{ "EBX of length 255, zeros",
	  { EAX(4, 4, 48, 255), 0, 0, EDX(3, 48) },
	  { 4, 0xf, 48, 0x07, 48, 32, ONES } },
	{ "EBX of length 255, ones",
	  { EAX(4, 4, 48, 255), ONES, 0, EDX(3, 48) },
	  { 4, 0xf, 48, 0x07, 48, 32, 0 } },
};

static void describe_made_up(const struct made_up *row, char *desc)
{
	strscpy(desc, row->what, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(made_up, made_up, describe_made_up);

static void leaf_made_up(struct kunit *test)
{
	const struct made_up *row = test->param_value;
	struct my_pmu_why why;
	struct my_x86_pmu pmu;

	KUNIT_ASSERT_EQ(test, decode(&pmu, &row->leaf, &why), 0);
	expect_decoded(test, &pmu, &row->want);
	expect_narrow_writes(test, &pmu);
	expect_ops(test, &pmu);
}

struct refused_leaf {
	const char *what;
	struct intel_pmu_leaf leaf;
	const char *why;
};

#define GENERIC_WIDTH(n) \
	"no PMU: CPUID.0AH says generic counters of " #n " bits, not 32 to 64"
#define FIXED_WIDTH(n) \
	"no PMU: CPUID.0AH says fixed counters of " #n " bits, not 32 to 64"
#define NO_GENERIC(version) \
	"no PMU: CPUID.0AH says version " #version " but no generic counter"

static const struct refused_leaf refused_leaves[] = {
	{ "version 0, all zero", { 0, 0, 0, 0 }, VERSION_0 },
	{ "version 0, all zero, hypervisor", { 0, 0, 0, 0, true }, VERSION_0 },
	{ "version 0, all ones", { 0xffffff00, ONES, ONES, ONES }, VERSION_0 },
	{ "version 0, a PMU in the other fields",
	  { EAX(0, 4, 48, 7), 0, 0, EDX(3, 48) }, VERSION_0 },
	{ "version 1, no generic counter", { EAX(1, 0, 48, 7), 0, 0, 0 },
	  NO_GENERIC(1) },
	{ "version 4, no generic counter",
	  { EAX(4, 0, 48, 7), 0, 0, EDX(3, 48) }, NO_GENERIC(4) },
	{ "version 255, nothing else", { EAX(255, 0, 0, 0), 0, 0, 0 },
	  NO_GENERIC(255) },
	{ "generic counters of no width",
	  { EAX(4, 4, 0, 7), 0, 0, EDX(3, 48) }, GENERIC_WIDTH(0) },
	{ "generic counters of 31 bits",
	  { EAX(4, 4, 31, 7), 0, 0, EDX(3, 48) }, GENERIC_WIDTH(31) },
	{ "generic counters of 65 bits",
	  { EAX(4, 4, 65, 7), 0, 0, EDX(3, 48) }, GENERIC_WIDTH(65) },
	{ "generic counters of 255 bits",
	  { EAX(4, 4, 255, 7), 0, 0, EDX(3, 48) }, GENERIC_WIDTH(255) },
	{ "fixed counters of no width",
	  { EAX(4, 4, 48, 7), 0, 0, EDX(3, 0) }, FIXED_WIDTH(0) },
	{ "fixed counters of no width, hypervisor",
	  { EAX(2, 4, 48, 7), 0, 0, EDX(1, 0), true }, FIXED_WIDTH(0) },
	{ "fixed counters of no width, in ECX alone",
	  { EAX(5, 4, 48, 7), 0, 0x4, EDX(0, 0) }, FIXED_WIDTH(0) },
	{ "fixed counters of 31 bits",
	  { EAX(4, 4, 48, 7), 0, 0, EDX(3, 31) }, FIXED_WIDTH(31) },
	{ "fixed counters of 31 bits, none of them in EDX",
	  { EAX(2, 4, 48, 7), 0, 0, EDX(0, 31) }, FIXED_WIDTH(31) },
	{ "fixed counters of 65 bits",
	  { EAX(4, 4, 48, 7), 0, 0, EDX(3, 65) }, FIXED_WIDTH(65) },
	{ "fixed counters of 255 bits",
	  { EAX(4, 4, 48, 7), 0, 0, EDX(3, 255) }, FIXED_WIDTH(255) },
	{ "all ones", { ONES, ONES, ONES, ONES }, GENERIC_WIDTH(255) },
};

static void describe_refused_leaf(const struct refused_leaf *row, char *desc)
{
	strscpy(desc, row->what, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(refused_leaf, refused_leaves, describe_refused_leaf);

static void leaf_refused(struct kunit *test)
{
	const struct refused_leaf *row = test->param_value;
	struct my_pmu_why why;
	struct my_x86_pmu pmu;

	KUNIT_ASSERT_EQ(test, decode(&pmu, &row->leaf, &why), -ENODEV);
	KUNIT_EXPECT_STREQ(test, why.text, row->why);
}

/* Counters that can be reloaded have CFG_B and CFG_C, those of precise events CFG_C. */
static void leaf_cfg(struct kunit *test)
{
	struct intel_pmu_leaf leaf = {
		EAX(6, 8, 48, 7), 0, 0x7, EDX(3, 48), false, 0xff, 0x7, 0x7f,
		.reload = 0x4000001fcULL << 1, .precise = 0x300000401ULL,
	};
	struct my_pmu_why why;
	struct my_x86_pmu pmu;

	KUNIT_ASSERT_EQ(test, decode(&pmu, &leaf, &why), 0);
	KUNIT_EXPECT_EQ(test, pmu.cfg_b, 0xf8ULL);
	KUNIT_EXPECT_EQ(test, pmu.cfg_c, 0x3000000f9ULL);
	leaf.eax = EAX(5, 8, 48, 7);
	KUNIT_ASSERT_EQ(test, decode(&pmu, &leaf, &why), 0);
	KUNIT_EXPECT_EQ(test, pmu.cfg_b | pmu.cfg_c, 0ULL);
}

/* The CPUs of a hybrid one after the other: nothing of the first is left. */
static void leaf_hybrid(struct kunit *test)
{
	static const struct made_up cores[] = {
		{ "large", { EAX(6, 10, 48, 13), 0, 0x0f, EDX(4, 48) },
		  { 6, 0x3ff, 48, 0x0f, 48, 13, 0x1fff } },
		{ "small", { EAX(5, 8, 40, 7), 0x41, 0x77, EDX(3, 40) },
		  { 5, 0xff, 40, 0x77, 40, 7, 0x3e } },
		{ "old", { EAX(1, 2, 32, 0), ONES, 0, 0 },
		  { 1, 0x3, 32, 0, 0, 0, 0 } },
		{ "large again", { EAX(6, 10, 48, 13), 0, 0x0f, EDX(4, 48) },
		  { 6, 0x3ff, 48, 0x0f, 48, 13, 0x1fff } },
	};
	struct my_pmu_why why;
	struct my_x86_pmu pmu;
	unsigned int i;
	int err;

	soil(&pmu, &why);
	for (i = 0; i < ARRAY_SIZE(cores); i++) {
		err = my_intel_pmu_decode(&pmu, &cores[i].leaf, &why);
		KUNIT_ASSERT_EQ_MSG(test, err, 0, "%s", cores[i].what);
		expect_decoded(test, &pmu, &cores[i].want);
		expect_narrow_writes(test, &pmu);
		pmu.flags = 1;
		pmu.perfctr = A_PMC0;
	}
}

/* --- my_intel_pmu_probe() ---------------------------------------------------- */

struct probe_row {
	const char *what;
	bool pdcm, full_width, xen_pv, other_vendor;
	u32 last_leaf, fail_reg;
	unsigned int want_reads;	/* of IA32_PERF_CAPABILITIES */
	int want_err;
	const char *want_why;
};

static const struct probe_row probe_rows[] = {
	{ .what = "no IA32_PERF_CAPABILITIES" },
	{ .what = "no IA32_PERF_CAPABILITIES, and it would fault",
	  .fail_reg = PERF_CAPABILITIES },
	{ .what = "no full-width writes", .pdcm = true, .want_reads = 1 },
	{ .what = "full-width writes", .pdcm = true, .full_width = true,
	  .want_reads = 1 },
	{ .what = "IA32_PERF_CAPABILITIES faults", .pdcm = true,
	  .full_width = true, .fail_reg = PERF_CAPABILITIES, .want_reads = 1,
	  .want_err = -EIO, .want_why = CAP_FAULTS },
	{ .what = "last leaf is 0AH", .last_leaf = 0xa },
	{ .what = "last leaf is 09H", .pdcm = true, .last_leaf = 0x9,
	  .want_err = -ENODEV, .want_why = VERSION_0 },
	{ .what = "last leaf is 01H", .pdcm = true, .last_leaf = 0x1,
	  .want_err = -ENODEV, .want_why = VERSION_0 },
	{ .what = "Xen PV", .pdcm = true, .xen_pv = true,
	  .want_err = -ENODEV, .want_why = XEN_PV },
	{ .what = "other vendor", .pdcm = true, .other_vendor = true,
	  .want_err = -ENODEV, .want_why = OTHER_VENDOR },
};

static void describe_probe(const struct probe_row *row, char *desc)
{
	strscpy(desc, row->what, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(probe_row, probe_rows, describe_probe);

static const struct sim_pmu sim_skylake = {
	.name = "Skylake",
	.version = 4,
	.gp = 4,
	.width = 48,
	.fixed = 3,
	.fixed_width = 48,
	.ebx_length = 7,
};

static const struct decoded decoded_skylake = {
	4, 0xf, 48, 0x07, 48, 7, 0x7f
};

static void expect_probe_accepted(struct kunit *test,
				  const struct probe_result *result,
				  bool pdcm, bool full_width)
{
	KUNIT_ASSERT_EQ(test, result->err, 0);
	expect_decoded(test, &result->pmu, &decoded_skylake);
	expect_ops(test, &result->pmu);
	KUNIT_EXPECT_EQ(test, result->pmu.flags, (full_width ? 1U : 0U) | (pdcm ? 0x20U : 0U));
	KUNIT_EXPECT_EQ(test, result->pmu.perfctr, full_width ? A_PMC0 : PMC0);
}

static void probe_decides(struct kunit *test)
{
	const struct probe_row *row = test->param_value;
	struct sim_pmu has = sim_skylake;
	struct probe_result *result;

	has.pdcm = row->pdcm;
	has.full_width = row->full_width;
	has.xen_pv = row->xen_pv;
	has.other_vendor = row->other_vendor;
	has.last_leaf = row->last_leaf;
	result = probe_anew(test, &has, row->fail_reg);

	KUNIT_EXPECT_EQ(test, result->accesses, row->want_reads);
	if (row->want_reads) {
		KUNIT_EXPECT_EQ(test, result->first.op, SIM_RDMSR);
		KUNIT_EXPECT_EQ(test, result->first.reg, PERF_CAPABILITIES);
	}
	if (row->want_err)
		expect_probe_refused(test, result, row->want_err, row->want_why);
	else
		expect_probe_accepted(test, result, row->pdcm, row->full_width);
}

/* CPUID.1:ECX[31] decides whether EDX 0 is believed. */
static void probe_hypervisor(struct kunit *test)
{
	struct sim_pmu has = sim_skylake;
	struct probe_result *result;

	has.fixed = 0;
	has.fixed_width = 0;
	result = probe_anew(test, &has, 0);
	KUNIT_EXPECT_EQ(test, result->err, 0);
	KUNIT_EXPECT_EQ(test, result->pmu.counters, 0x70000000fULL);
	KUNIT_EXPECT_EQ(test, result->pmu.cntval_bits_fixed, 48);

	has.hypervisor = true;
	result = probe_anew(test, &has, 0);
	KUNIT_EXPECT_EQ(test, result->err, 0);
	KUNIT_EXPECT_EQ(test, result->pmu.counters, 0xfULL);
}

/* Leaf 23H is looked at where CPUID says that it is there. */
static void probe_ext(struct kunit *test)
{
	struct sim_pmu has = sim_skylake;
	struct probe_result *result;

	has.ext = true;
	has.gp_bitmap = 0x5;
	has.fixed_bitmap = 0x3;
	result = probe_anew(test, &has, 0);
	KUNIT_EXPECT_EQ(test, result->err, 0);
	KUNIT_EXPECT_EQ(test, result->pmu.counters, 0x300000005ULL);
	KUNIT_EXPECT_EQ(test, result->pmu.eventsel, PERFEVTSEL0);
	KUNIT_EXPECT_EQ(test, result->pmu.flags, 0x18U);

	has.last_leaf = 0x22;
	result = probe_anew(test, &has, 0);
	KUNIT_EXPECT_EQ(test, result->pmu.counters, 0x70000000fULL);
	KUNIT_EXPECT_EQ(test, result->pmu.flags, 0U);

	/* Its sub-leaves come one by one. */
	has.last_leaf = 0;
	has.more_events = BIT(9);
	has.subleaves = 0x9;
	result = probe_anew(test, &has, 0);
	KUNIT_EXPECT_EQ(test, result->pmu.counters, 0x70000000fULL);
	KUNIT_EXPECT_EQ(test, result->pmu.arch_events_len, 10);
	KUNIT_EXPECT_EQ(test, result->pmu.arch_events, 0x27fULL);
	has.subleaves = 0x3;
	result = probe_anew(test, &has, 0);
	KUNIT_EXPECT_EQ(test, result->pmu.counters, 0x300000005ULL);
	KUNIT_EXPECT_EQ(test, result->pmu.arch_events_len, 7);
	has.subleaves = 0;

	has.last_leaf = 0x23;
	has.ext = false;
	result = probe_anew(test, &has, 0);
	KUNIT_EXPECT_EQ(test, result->pmu.counters, 0x70000000fULL);

	has.last_leaf = 0;
	has.version = 6;
	has.pdcm = true;
	result = probe_anew(test, &has, 0);
	KUNIT_EXPECT_EQ(test, result->err, 0);
	KUNIT_EXPECT_EQ(test, result->pmu.counters, 0x300000005ULL);
	KUNIT_EXPECT_EQ(test, result->pmu.perfctr, GP0_CTR);
	KUNIT_EXPECT_EQ(test, result->pmu.flags, 0x39U);
	KUNIT_EXPECT_EQ(test, result->pmu.cfg_b | result->pmu.cfg_c, 0ULL);
	has.lacks = BIT(0);
	result = probe_anew(test, &has, 0);
	KUNIT_EXPECT_EQ(test, result->pmu.flags, 0x31U);
	has.lacks = BIT(1);
	result = probe_anew(test, &has, 0);
	KUNIT_EXPECT_EQ(test, result->pmu.flags, 0x29U);
	has.lacks = 0;
	has.subleaves = 0x7;
	result = probe_anew(test, &has, 0);
	KUNIT_EXPECT_EQ(test, result->pmu.cfg_b, 0x300000005ULL);
	KUNIT_EXPECT_EQ(test, result->pmu.cfg_c, 0x300000005ULL);
	has.subleaves = 0x23;
	result = probe_anew(test, &has, 0);
	KUNIT_EXPECT_EQ(test, result->pmu.cfg_b, 0ULL);
	KUNIT_EXPECT_EQ(test, result->pmu.cfg_c, 0x100000001ULL);
	has.subleaves = 0;

	/* The addresses of version 6 are better than those of full-width writes. */
	has.full_width = true;
	result = probe_anew(test, &has, 0);
	KUNIT_EXPECT_EQ(test, result->pmu.perfctr, GP0_CTR);
	KUNIT_EXPECT_EQ(test, result->pmu.flags, 0x39U);
}

/* What the leaf refuses, the registers are not asked about. */
static void probe_wrong_leaf(struct kunit *test)
{
	struct sim_pmu has = sim_skylake;
	struct probe_result *result;

	has.pdcm = true;
	has.width = 31;
	result = probe_anew(test, &has, 0);
	expect_probe_refused(test, result, -ENODEV, GENERIC_WIDTH(31));
	KUNIT_EXPECT_EQ(test, result->accesses, 0);
}

static struct kunit_case leaf_cases[] = {
	KUNIT_CASE_PARAM(leaf_decoded, leaf_gen_params),
	KUNIT_CASE_PARAM(leaf_on_its_cpu, leaf_gen_params),
	KUNIT_CASE_PARAM(leaf_other, other_leaf_gen_params),
	KUNIT_CASE_PARAM(leaf_amd, amd_gen_params),
	KUNIT_CASE_PARAM(leaf_made_up, made_up_gen_params),
	KUNIT_CASE_PARAM(leaf_refused, refused_leaf_gen_params),
	KUNIT_CASE(leaf_cfg),
	KUNIT_CASE(leaf_hybrid),
	KUNIT_CASE_PARAM(probe_decides, probe_row_gen_params),
	KUNIT_CASE(probe_hypervisor),
	KUNIT_CASE(probe_ext),
	KUNIT_CASE(probe_wrong_leaf),
	{}
};

static struct kunit_suite leaf_suite = {
	.name = "my_pmu_leaf",
	.test_cases = leaf_cases,
};

kunit_test_suites(&leaf_suite);
