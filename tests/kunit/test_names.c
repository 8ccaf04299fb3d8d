// SPDX-License-Identifier: GPL-2.0
/*
 * What names mean on a CPU: what comes of perf's answers, and of none.
 */
#include "pmu_names.h"
#include "pmu_perf.h"
#include "test.h"

#define PMU_1	(&my_pmu_cpu_of(1)->pmu)

/* perf.h's numbers, written here once more. */
#define HARDWARE	0
#define CACHE		3
#define RAW		4

/* INT, USR and OS, which perf sets. */
#define PERFS		0x130000

/* Much like Nehalem's, which has some of everything. */
static const struct sim_perf_event perfs_events[] = {
	{ HARDWARE, 0, PERFS | 0x3c },
	{ HARDWARE, 1, PERFS | 0xc0 },
	{ HARDWARE, 2, .err = -ENOENT },
	{ HARDWARE, 5, PERFS | 0x7f89 },
	{ HARDWARE, 7, PERFS | 0x180010e },
	{ HARDWARE, 8, PERFS | 0x18401b1 },
	{ HARDWARE, 9, PERFS | 0x300 },
	{ CACHE, 0x00000, PERFS | 0x10b },
	{ CACHE, 0x10000, PERFS | 0x151 },
	{ CACHE, 0x00002, PERFS | 0x1b7, .extra = 0x1a6, .value = 0x10001 },
	{ CACHE, 0x10002, .err = -ENXIO },
	{ CACHE, 0x00006, .err = -EINVAL },
	{ CACHE, 0x10005, PERFS | 0xc5 },
	{ RAW, 0x1c2, PERFS | 0x1c2 },
	{ RAW, 0x800c4, PERFS | 0xc4 },
	{ RAW, 0x18401c3, PERFS | 0x18401c3 },
	{ RAW, 0x1b7, PERFS | 0x1b7, .extra = 0x1a6, .valid = 0x3ffff },
	{ RAW, 0x1bb, PERFS | 0x1bb, .extra = 0x1a7, .valid = 0x3ffff },
	{ RAW, 0x10001b7, PERFS | 0x10001b7, .extra = 0x1a6, .valid = 0x3ffff },
	{ RAW, 0x18401b7, PERFS | 0x18401b7, .extra = 0x1a6, .valid = 0x3ffff },
	{ RAW, 0x1c6, PERFS | 0x1c6, .extra = 0x3f7, .valid = 0x7fff17 },
	{ RAW, 0x1cd, PERFS | 0x1cd, .extra = 0x3f6, .valid = 0xffff },
	{ RAW, 0x12b, .err = -ENXIO },
	{ RAW, 0x20000000c0, PERFS | 0x20000000c0 },
	{ RAW, 0x40000000c0, PERFS | 0xc0 },
	{ RAW, 0x82d0, PERFS | 0x82d0 },
	{ RAW, 0x100019c, PERFS | 0x100019c },
	{ RAW, 0x48408c2, PERFS | 0x48408c2 },
	{ RAW, 0x12a, PERFS | 0x12a, .extra = 0x1a6, .valid = 0x3ffff },
	{ RAW, 0x2cd, .err = -ENXIO },
	{ RAW, 0x400, PERFS | 0x400 },
	{ RAW, 0x8000, .err = -EINVAL },
	{ RAW, 0x8700, .err = -EINVAL },
	{ RAW, 0x8800, PERFS | 0x8800 },
	{ RAW, 0x8900, .err = -EINVAL },
	{ RAW, 0x4c9, .err = -EINVAL },
	{ RAW, 0x1c0, PERFS | 0x1c0 },
	{ RAW, 0x200000003c, PERFS | 0x200000003c },
	{ RAW, 0xfb, .err = -ENXIO },
	/* version 6: it takes the first four as they are, and drops bits of the others */
	{ RAW, 0x1200000034c0, PERFS | 0x1200000034c0, .counters = 0xff },
	{ RAW, 0x1200000001b7, PERFS | 0x1200000001b7, .extra = 0x1a6, .valid = 0x3ffff },
	{ RAW, 0x10010000c0, PERFS | 0x10010000c0, .counters = 0xff },
	{ RAW, 0x100000010c0, PERFS | 0x100000010c0, .counters = 0xf },
	{ RAW, 0x110000001c0, PERFS | 0x1c0, .counters = 0x2 },
	{ RAW, 0x1200000001c0, PERFS | 0x1c0, .counters = 0x2 },
	{ RAW, 0x10000001c0, PERFS | 0x1c0, .counters = 0x2 },
	{ RAW, 0x100100003c, PERFS | 0x100003c, .counters = 0xff },
};

/* What there is in sysfs; some of it nowhere so far. */
static const struct sim_perf_name perfs_names[] = {
	{ "mem-loads", "event=0xcd,umask=0x1,ldlat=3" },
	{ "mem-stores", "event=0xd0,umask=0x82" },
	{ "mem-loads-aux", "event=0x2b,umask=0x1" },
	{ "slots", "event=0x00,umask=0x4\n" },
	{ "topdown-fetch-bubbles", "umask=1,event=0x9c,cmask=1\n" },
	{ "topdown-slots-retired", "event=0xc2,umask=0x8,inv=1,cmask=4,edge\n" },
	{ "topdown-total-slots", "event=0x3c,umask=0x0,any=1" },
	{ "topdown-retiring", "event=0x00,umask=0x80" },
	{ "cycles-t", "event=0x3c,in_tx=1" },
	{ "tx-start", "event=0xcd,umask=0x2" },
	{ "tx-commit", "event=0xc9,colour=2" },
	{ "tx-abort", "" },
	{ "tx-conflict", "event=0xc9,umask=4" },
	{ "tx-capacity", "instructions,cmask=1" },
	{ "tx-capacity-read", "event=0xb7,umask=1,offcore_rsp=3" },
	{ "cpu-cycles", "event=0x77" },
};

static int names_init(struct kunit *test)
{
	memset(&sim_reservations, 0, sizeof(sim_reservations));
	sim_perf = (struct sim_perf) {
		.events = perfs_events,
		.nr = ARRAY_SIZE(perfs_events),
		.names = perfs_names,
		.nr_names = ARRAY_SIZE(perfs_names),
	};
	return 0;
}

static void names_exit(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, sim_perf.held, 0);
	KUNIT_EXPECT_EQ(test, sim_perf.wrong, 0U);
	memset(&sim_perf, 0, sizeof(sim_perf));
}

/**
 * struct name_row - an event, and what perf has made of it
 * @event: as a user writes it
 * @config: its encoding, as perf's raw config
 * @confirmed: perf has said so
 */
struct name_row {
	const char *event;
	u64 config;
	bool confirmed;
};

static const struct name_row name_rows[] = {
	{ "cycles", 0x3c, true },
	{ "instructions:u", 0xc0, true },
	{ "branch-misses", 0x7f89, true },
	{ "stalled-cycles-frontend", 0x180010e, true },
	{ "idle-cycles-backend", 0x18401b1, true },
	{ "ref-cycles", 0x300, true },
	{ "L1-dcache-loads", 0x10b, true },
	{ "L1-dcache-load-misses", 0x151, true },
	{ "branch-load-misses", 0xc5, true },
	/* what is written beside a name is added */
	{ "cpu/instructions,cmask=2,inv/", 0x28000c0, true },
	{ "cpu/branch-misses,edge/", 0x47f89, true },
	{ "cpu/stalled-cycles-frontend,cmask=2,edge/", 0x384010e, true },
	/* perf does not know it, and the architecture does */
	{ "cache-references", 0x4f2e, false },
	{ "cache-misses", 0x412e, false },
	{ "bus-cycles", 0x13c, false },
	{ "arch-topdown-slots", 0x1a4, false },
	/* who writes a number means it */
	{ "r1c2", 0x1c2, false },
	{ "r99", 0x99, false },
	{ "cpu/event=0xc4,pc/", 0xc4, false },
	{ "cpu/event=0xc3,umask=1,edge,inv,cmask=1/", 0x18401c3, false },
	{ "r40000000c0", 0xc0, false },
	/* the bits of version 6, whether perf knows them or not */
	{ "cpu/event=0xc0,umask=0x1234/", 0x1200000034c0, false },
	{ "r10010000c0", 0x10010000c0, false },
	{ "r1200000001c0", 0x1200000001c0, false },
	{ "cpu/event=0xc0,umask=1,eq/", 0x10000001c0, false },
	{ "cpu/instructions,eq,cmask=1/", 0x10010000c0, true },
	{ "cpu/instructions,umask=0x110/", 0x100000010c0, true },
	{ "cpu/cycles,cmask=1,eq/", 0x100100003c, true },
	/* what has a name in sysfs alone */
	{ "mem-stores", 0x82d0, true },
	{ "slots:u", 0x400, true },
	{ "topdown-fetch-bubbles", 0x100019c, true },
	{ "cpu/topdown-slots-retired/k", 0x48408c2, true },
	{ "cpu/event=MEM-stores,cmask=3/", 0x30082d0, true },
	/* and what makes another event of it */
	{ "cpu/instructions,umask=1/", 0x1c0, true },
	{ "cpu/event=0x40,umask=0x7f,bus-cycles,edge/", 0x47f7c, false },
	{ "cpu/mem-stores,config=0x1000001/", 0x10082d1, true },
	/* umasks of event 0 that are no metrics here */
	{ "r8800", 0x8800, false },
	{ "r8900", 0x8900, false },
};

static void name_desc(const struct name_row *row, char *desc)
{
	strscpy(desc, row->event, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(name, name_rows, name_desc);

static int resolve(struct kunit *test, const char *events,
		   struct my_perf_event_attr *attr, unsigned int max,
		   struct my_pmu_why *why)
{
	int i, err = 0, nr = my_parse_events(events, attr, max, why);
	void *held;

	KUNIT_ASSERT_GT_MSG(test, nr, 0, "%s", why->text);
	held = my_perf_hold(1, NULL);
	for (i = 0; i < nr && !err; i++)
		err = my_names_resolve(PMU_1, 1, false, &attr[i], why);
	my_perf_let_go(held);
	return err;
}

static int list(struct my_names *names, struct my_pmu_why *why)
{
	void *held = my_perf_hold(1, NULL);
	int err = my_names_list(PMU_1, 1, false, names, why);

	my_perf_let_go(held);
	return err;
}

static void names_resolve(struct kunit *test)
{
	const struct name_row *row = test->param_value;
	struct my_perf_event_attr attr;
	struct my_pmu_why why;
	int err = resolve(test, row->event, &attr, 1, &why);
	/* of what is in sysfs perf is asked for what that means, too */
	unsigned int asked = (my_sysfs_name(&attr) ? 2 : 1) + !!attr.added;

	KUNIT_ASSERT_EQ_MSG(test, err, 0, "%s", why.text);
	KUNIT_EXPECT_EQ(test, attr.config, row->config);
	KUNIT_EXPECT_EQ(test, attr.confirmed, row->confirmed);
	KUNIT_EXPECT_EQ(test, sim_perf.asked, asked);
	KUNIT_EXPECT_EQ(test, sim_perf.cpu, 1);
}

/*
 * perf is asked where it counts an event unless it would count another one: it drops the
 * bits of version 6 if the kernel does not know them.
 */
static void names_new_bits(struct kunit *test)
{
	static const struct {
		const char *event;
		u64 counters;
	} rows[] = {
		{ "cpu/event=0xc0,umask=0x1234/", 0xff },
		{ "r10010000c0", 0xff },
		{ "cpu/instructions,eq,cmask=1/", 0xff },
		{ "cpu/instructions,umask=0x110/", 0xf },
		{ "r110000001c0", 0 },
		{ "cpu/event=0xc0,umask=0x1201/", 0 },
		{ "cpu/event=0xc0,umask=1,eq/", 0 },
		{ "cpu/cycles,cmask=1,eq/", 0 },
	};
	struct my_perf_event_attr attr;
	struct my_pmu_why why;
	unsigned int i;
	void *held;

	held = my_perf_hold(1, NULL);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		KUNIT_ASSERT_EQ(test, my_parse_events(rows[i].event, &attr, 1, &why), 1);
		KUNIT_EXPECT_EQ(test, my_names_resolve(PMU_1, 1, true, &attr, &why), 0);
		KUNIT_EXPECT_EQ_MSG(test, attr.counters, rows[i].counters, "%s", rows[i].event);
	}
	my_perf_let_go(held);
}

/* All of a list, and not what is behind it. */
static void names_resolve_all(struct kunit *test)
{
	struct my_perf_event_attr attr[4] = {};
	struct my_pmu_why why;

	attr[3].perf_type = CACHE;
	KUNIT_ASSERT_EQ(test, resolve(test, "branch-misses,r1c2,L1-dcache-loads",
				      attr, 3, &why), 0);
	KUNIT_EXPECT_EQ(test, attr[0].config, 0x7f89ULL);
	KUNIT_EXPECT_EQ(test, attr[1].config, 0x1c2ULL);
	KUNIT_EXPECT_EQ(test, attr[2].config, 0x10bULL);
	KUNIT_EXPECT_EQ(test, attr[3].config, 0ULL);
	KUNIT_EXPECT_EQ(test, sim_perf.asked, 3U);
}

#define NOT_HERE	"nor does the architecture define it"
#define NO_BITS		"of the event select, which are not programmed here"
#define ANY_THREAD \
	"AnyThread (any, bit 21) counts the sibling thread, too; it is never set here"
#define TERMS \
	"event=, umask=, cmask=, edge, inv, eq, pc, config=, config1=, period= or an event's name, each once, are known"
#define NOT_TAKEN(value, error)	\
	"perf, which knows the register that config1=" #value " is for, and its bits, "	\
	"does not take it for CPU 1 (error " #error ")"
#define NO_VALUE(value)	\
	"the event needs no extra register, so that config1=0x" #value " means nothing"
#define EXTRA		"it needs an extra register, which is not programmed here"

struct refused_name {
	const char *event;
	const char *why;
};

static const struct refused_name refused_names[] = {
	{ "LLC-load-misses:u", "'LLC-load-misses:u': " EXTRA },
	{ "r12b", "'r12b': " EXTRA },
	{ "cycles,cpu/event=0x2b,umask=1/", "'cpu/event=0x2b,umask=1/': " EXTRA },
	{ "cpu/event=0xb7,umask=1,config1=0x40000/",
	  "'cpu/event=0xb7,umask=1,config1=0x40000/': " NOT_TAKEN(0x40000, -22) },
	{ "cpu/event=0xc2,umask=1,config1=1/",
	  "'cpu/event=0xc2,umask=1,config1=1/': " NO_VALUE(1) },
	{ "cpu/cycles,config1=7/", "'cpu/cycles,config1=7/': " NO_VALUE(7) },
	{ "r20000000c0", "'r20000000c0': it needs bits 0x2000000000 " NO_BITS },
	{ "node-loads",
	  "'node-loads': CPU 1 does not have this event, as perf says (error -22), "
	  NOT_HERE },
	{ "dTLB-loads",
	  "'dTLB-loads': CPU 1 does not have this event, as perf says (error -2), "
	  NOT_HERE },
	{ "el-start",
	  "'el-start': CPU 1 does not have this event, as perf says (error -2), "
	  NOT_HERE },
	{ "mem-loads:u", "'mem-loads:u, in sysfs': ldlat: " EXTRA },
	{ "mem-loads-aux", "'mem-loads-aux': " EXTRA },
	{ "tx-start", "'tx-start': " EXTRA },
	{ "topdown-retiring", "'topdown-retiring': " EXTRA },
	{ "r8000", "'r8000': " EXTRA },
	{ "cpu/event=0,umask=0x87/k", "'cpu/event=0,umask=0x87/k': " EXTRA },
	/* what it becomes by what is written beside it */
	{ "cpu/cycles,r200000003c/",
	  "'cpu/cycles,r200000003c/': it needs bits 0x2000000000 " NO_BITS },
	{ "cpu/instructions,event=0x3b/", "'cpu/instructions,event=0x3b/': " EXTRA },
	/* perf has it in sysfs, and then does not take it */
	{ "tx-conflict",
	  "'tx-conflict': CPU 1 does not have this event, as perf says (error -22), "
	  NOT_HERE },
	{ "tx-capacity", "'tx-capacity, in sysfs': it is more than an event select" },
	{ "tx-capacity-read", "'tx-capacity-read, in sysfs': it is more than an event select" },
	{ "topdown-total-slots",
	  "'topdown-total-slots, in sysfs': " ANY_THREAD },
	{ "cycles-t", "'cycles-t, in sysfs': in_tx: transactions are not told apart here" },
	{ "tx-commit",
	  "'tx-commit, in sysfs': term 'colour'; " TERMS },
	{ "tx-abort",
	  "'tx-abort, in sysfs': term ''; " TERMS },
};

static void refused_desc(const struct refused_name *row, char *desc)
{
	strscpy(desc, row->event, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(refused, refused_names, refused_desc);

static void names_refused(struct kunit *test)
{
	const struct refused_name *row = test->param_value;
	struct my_perf_event_attr attr[2];
	struct my_pmu_why why;

	KUNIT_EXPECT_EQ(test, resolve(test, row->event, attr, 2, &why),
			-EOPNOTSUPP);
	KUNIT_EXPECT_STREQ(test, why.text, row->why);
}

/* Without perf there are the architecture's events and raw ones, and no others. */
static void names_without_perf(struct kunit *test)
{
	static const int errors[] = { -ENOENT, -ENODEV, -EBUSY, -EACCES };
	struct my_perf_event_attr attr[4];
	struct my_pmu_why why;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(errors); i++) {
		sim_perf.err = errors[i];
		KUNIT_EXPECT_EQ(test, resolve(test, "cycles,branch-misses,ref-cycles,r1b7",
					      attr, 4, &why), 0);
		KUNIT_EXPECT_EQ(test, attr[0].config, 0x3cULL);
		KUNIT_EXPECT_EQ(test, attr[1].config, 0xc5ULL);
		KUNIT_EXPECT_EQ(test, attr[2].config, 0x300ULL);
		KUNIT_EXPECT_EQ(test, attr[3].config, 0x1b7ULL);
		KUNIT_EXPECT_FALSE(test, attr[0].confirmed);
		KUNIT_EXPECT_EQ(test, resolve(test, "LLC-loads", attr, 4, &why),
				-EOPNOTSUPP);
		KUNIT_EXPECT_EQ(test, resolve(test, "stalled-cycles-frontend",
					      attr, 4, &why), -EOPNOTSUPP);
		KUNIT_EXPECT_EQ(test, resolve(test, "mem-stores", attr, 4, &why),
				-EOPNOTSUPP);
		KUNIT_EXPECT_EQ(test, !!strstr(why.text, "does not answer for CPU 1"),
				errors[i] != -ENOENT);
	}
}

/* What an encoding is must not depend on how much memory there was. */
static void names_no_memory(struct kunit *test)
{
	struct my_perf_event_attr attr[2];
	static struct my_names names;
	struct my_pmu_why why;
	unsigned int i;

	sim_perf.fail_nth = 2;
	KUNIT_EXPECT_EQ(test, resolve(test, "cycles,branch-misses", attr, 2,
				      &why), -ENOMEM);
	KUNIT_EXPECT_STREQ(test, why.text,
			   "'branch-misses': no memory to ask perf for it");
	for (i = 1; i <= 2; i++) {
		sim_perf.fail_nth = i;
		KUNIT_EXPECT_EQ(test, resolve(test, "mem-stores", attr, 2, &why),
				-ENOMEM);
		KUNIT_EXPECT_STREQ(test, why.text,
				   "'mem-stores': no memory to ask perf for it");
	}
	for (i = 1; ; i++) {
		sim_perf.fail_nth = i;
		if (list(&names, &why) != -ENOMEM)
			break;
		KUNIT_ASSERT_EQ(test, sim_perf.fail_nth, 0U);
		KUNIT_EXPECT_TRUE(test, strstr(why.text, ": no memory to ask perf for it"));
	}
	sim_perf.fail_nth = 0;
	KUNIT_EXPECT_GT(test, i, MY_EXTRA_EVENTS + 50U);
}

/* --- the list ---------------------------------------------------------------------- */

/* perf's canonical names, in its order of types; the CPU lacks those between them. */
static const struct name_row listed[] = {
	{ "cpu-cycles", 0x3c, true },
	{ "instructions", 0xc0, true },
	{ "cache-references", 0x4f2e, false },
	{ "cache-misses", 0x412e, false },
	{ "branch-instructions", 0xc4, false },
	{ "branch-misses", 0x7f89, true },
	{ "bus-cycles", 0x13c, false },
	{ "stalled-cycles-frontend", 0x180010e, true },
	{ "stalled-cycles-backend", 0x18401b1, true },
	{ "ref-cycles", 0x300, true },
	{ "arch-topdown-slots", 0x1a4, false },
	{ "arch-topdown-be-bound", 0x2a4, false },
	{ "arch-topdown-bad-spec", 0x73, false },
	{ "arch-topdown-fe-bound", 0x19c, false },
	{ "arch-topdown-retiring", 0x2c2, false },
	{ "arch-lbr-inserts", 0x1e4, false },
	{ "mem-stores", 0x82d0, true },
	{ "slots", 0x400, true },
	{ "topdown-slots-retired", 0x48408c2, true },
	{ "topdown-fetch-bubbles", 0x100019c, true },
	{ "L1-dcache-loads", 0x10b, true },
	{ "L1-dcache-load-misses", 0x151, true },
	{ "LLC-loads", 0x1b7, true },
	{ "branch-load-misses", 0xc5, true },
};

static void names_list(struct kunit *test)
{
	struct my_perf_event_attr attr;
	struct my_names *names;
	unsigned int n, nr = 0;
	struct my_pmu_why why;

	names = kunit_kzalloc(test, sizeof(*names), GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, names);
	memset(names, 0xa5, sizeof(*names));
	KUNIT_ASSERT_EQ(test, list(names, &why), 0);
	for (n = 0; n < MY_KNOWN_EVENTS; n++) {
		if (!my_names_event(names, n, &attr))
			continue;
		KUNIT_ASSERT_LT(test, nr, ARRAY_SIZE(listed));
		KUNIT_EXPECT_STREQ(test, attr.name, listed[nr].event);
		KUNIT_EXPECT_EQ(test, attr.config, listed[nr].config);
		KUNIT_EXPECT_EQ(test, attr.confirmed, listed[nr].confirmed);
		KUNIT_EXPECT_EQ(test, attr.constraint, MY_PMC_ANY);
		nr++;
	}
	KUNIT_EXPECT_EQ(test, nr, ARRAY_SIZE(listed));
}

/* Without perf, and with the list: the same as when it was asked, or refused. */
static void names_lookup(struct kunit *test)
{
	const struct name_row *row = test->param_value;
	struct my_perf_event_attr asked, found;
	struct my_pmu_why why;
	struct my_names *names;

	names = kunit_kzalloc(test, sizeof(*names), GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, names);
	KUNIT_ASSERT_EQ(test, list(names, &why), 0);
	KUNIT_ASSERT_EQ(test, resolve(test, row->event, &asked, 1, &why), 0);
	sim_perf.asked = 0;
	KUNIT_ASSERT_EQ(test, my_parse_events(row->event, &found, 1, &why), 1);
	/* perf drops the bits that the CPU does not have; without it nobody knows them. */
	if (found.perf_config & ~0xff10ffffffffULL) {
		KUNIT_EXPECT_EQ(test, my_names_lookup(names, PMU_1, 1, &found, &why),
				-EOPNOTSUPP);
		return;
	}
	KUNIT_EXPECT_EQ_MSG(test, my_names_lookup(names, PMU_1, 1, &found, &why), 0, "%s",
			    why.text);
	KUNIT_EXPECT_EQ(test, memcmp(&found, &asked, sizeof(found)), 0);
	KUNIT_EXPECT_EQ(test, sim_perf.asked, 0U);
}

#define NOT_ASKED	\
	"the architecture does not define it, and perf, which may know it, was not asked for a CPU like CPU 1 when my_pmu was loaded"

static void names_lookup_refused(struct kunit *test)
{
	static const struct refused_name rows[] = {
		{ "LLC-load-misses", "'LLC-load-misses': " EXTRA },
		{ "node-loads",
		  "'node-loads': CPU 1 does not have this event, " NOT_HERE },
		{ "r20000000c0", "'r20000000c0': it needs bits 0x2000000000 " NO_BITS },
		{ "r12b", "'r12b': " EXTRA },
		{ "cpu/event=0xc2,umask=1,config1=1/",
		  "'cpu/event=0xc2,umask=1,config1=1/': " NO_VALUE(1) },
		{ "cpu/cycles,config1=7/", "'cpu/cycles,config1=7/': " NO_VALUE(7) },
		{ "cpu/bus-cycles,config1=7/", "'cpu/bus-cycles,config1=7/': " NO_VALUE(7) },
		{ "r8000", "'r8000': " EXTRA },
		{ "cpu/bus-cycles,r200000003c/",
		  "'cpu/bus-cycles,r200000003c/': it needs bits 0x2000000000 " NO_BITS },
		{ "mem-loads-aux", "'mem-loads-aux': " EXTRA },
		{ "mem-loads", "'mem-loads': it needs what is not programmed here" },
		{ "cpu/event=0x2b,umask=1,cmask=1/k",
		  "'cpu/event=0x2b,umask=1,cmask=1/k': " EXTRA },
	};
	struct my_perf_event_attr attr;
	struct my_pmu_why why;
	struct my_names *names;
	unsigned int i;

	names = kunit_kzalloc(test, sizeof(*names), GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, names);
	KUNIT_ASSERT_EQ(test, list(names, &why), 0);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		KUNIT_ASSERT_EQ(test, my_parse_events(rows[i].event, &attr, 1, &why), 1);
		KUNIT_EXPECT_EQ(test, my_names_lookup(names, PMU_1, 1, &attr, &why),
				-EOPNOTSUPP);
		KUNIT_EXPECT_STREQ(test, why.text, rows[i].why);
	}
	/* Of a CPU of which nothing is known there is what the architecture has. */
	KUNIT_ASSERT_EQ(test, my_parse_events("branch-misses", &attr, 1, &why), 1);
	KUNIT_EXPECT_EQ(test, my_names_lookup(NULL, PMU_1, 1, &attr, &why), 0);
	KUNIT_EXPECT_EQ(test, attr.config, 0xc5ULL);
	KUNIT_ASSERT_EQ(test, my_parse_events("L1-dcache-loads", &attr, 1, &why), 1);
	KUNIT_EXPECT_EQ(test, my_names_lookup(NULL, PMU_1, 1, &attr, &why), -EOPNOTSUPP);
	KUNIT_EXPECT_STREQ(test, why.text, "'L1-dcache-loads': " NOT_ASKED);
	KUNIT_ASSERT_EQ(test, my_parse_events("r1b7", &attr, 1, &why), 1);
	KUNIT_EXPECT_EQ(test, my_names_lookup(NULL, PMU_1, 1, &attr, &why), -EOPNOTSUPP);
	KUNIT_ASSERT_EQ(test, my_parse_events("r8100", &attr, 1, &why), 1);
	KUNIT_EXPECT_EQ(test, my_names_lookup(names, PMU_1, 1, &attr, &why), 0);
	KUNIT_ASSERT_EQ(test, my_parse_events("r1cd", &attr, 1, &why), 1);
	KUNIT_EXPECT_EQ(test, my_names_lookup(names, PMU_1, 1, &attr, &why), 0);
}

/**
 * struct extra_row - an event that needs another register
 * @event: as a user writes it
 * @config: its encoding
 * @extra: and what is known of the register
 */
struct extra_row {
	const char *event;
	u64 config;
	struct my_extra_reg extra;
};

static const struct extra_row extra_rows[] = {
	{ "LLC-loads", 0x1b7, { 0x10001, 0x1a6, 0x1a7, 0x1bb } },
	{ "r1b7", 0x1b7, { 0, 0x1a6, 0x1a7, 0x1bb } },
	{ "cpu/event=0xbb,umask=1,config1=5/", 0x1bb, { 5, 0x1a7, 0x1a6, 0x1b7 } },
	{ "cpu/event=0xb7,umask=1,cmask=1,offcore_rsp=0x3f/u", 0x10001b7,
	  { 0x3f, 0x1a6, 0x1a7, 0x1bb } },
	{ "cpu/event=0xc6,umask=1,frontend=0x11/", 0x1c6, { 0x11, 0x3f7 } },
	{ "cpu/event=0xb7,umask=1,offcore_rsp=0x30,config1=0x3/", 0x1b7,
	  { 0x33, 0x1a6, 0x1a7, 0x1bb } },
	/* of what is written beside a name, as of what that makes of it */
	{ "cpu/stalled-cycles-backend,event=6,config1=4/", 0x18401b7,
	  { 4, 0x1a6, 0x1a7, 0x1bb } },
	/* the other one does not work */
	{ "cpu/event=0x2a,umask=1,config1=2/", 0x12a, { 2, 0x1a6 } },
	/* whether that can be programmed the back end knows */
	{ "cpu/event=0xcd,umask=1,config1=3/", 0x1cd, { 3, 0x3f6 } },
	{ "r1c2", 0x1c2 },
	/* UMASK2 makes another event of it, which has no twin, and the same register */
	{ "cpu/event=0xb7,umask=0x1201,config1=3/", 0x1200000001b7, { 3, 0x1a6 } },
};

static void expect_extra(struct kunit *test, const struct extra_row *row,
			 const struct my_perf_event_attr *attr)
{
	KUNIT_EXPECT_EQ_MSG(test, attr->config, row->config, "%s", row->event);
	KUNIT_EXPECT_EQ_MSG(test, attr->extra.config, row->extra.config, "%s", row->event);
	KUNIT_EXPECT_EQ_MSG(test, attr->extra.msr, row->extra.msr, "%s", row->event);
	KUNIT_EXPECT_EQ_MSG(test, attr->extra.other_msr, row->extra.other_msr, "%s", row->event);
	KUNIT_EXPECT_EQ_MSG(test, attr->extra.other_code, row->extra.other_code, "%s",
			    row->event);
}

/* perf is asked, or has been; and where it counts them it is not asked. */
static void names_extra(struct kunit *test)
{
	struct my_perf_event_attr attr;
	struct my_pmu_why why;
	struct my_names *names;
	unsigned int i;

	names = kunit_kzalloc(test, sizeof(*names), GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, names);
	KUNIT_ASSERT_EQ(test, list(names, &why), 0);
	for (i = 0; i < ARRAY_SIZE(extra_rows); i++) {
		const struct extra_row *row = &extra_rows[i];
		void *held = my_perf_hold(1, NULL);

		KUNIT_ASSERT_EQ(test, my_parse_events(row->event, &attr, 1, &why), 1);
		sim_perf.counted = 0;
		KUNIT_EXPECT_EQ(test, my_names_resolve(PMU_1, 1, true, &attr, &why), 0);
		KUNIT_EXPECT_EQ(test, sim_perf.counted, row->extra.msr ? 0U : 1U);
		expect_extra(test, row, &attr);
		my_perf_let_go(held);
		KUNIT_ASSERT_EQ(test, my_parse_events(row->event, &attr, 1, &why), 1);
		KUNIT_EXPECT_EQ_MSG(test, my_names_lookup(names, PMU_1, 1, &attr, &why), 0, "%s",
				    why.text);
		expect_extra(test, row, &attr);
	}
	sim_perf.err = -ENODEV;
	KUNIT_ASSERT_EQ(test, my_parse_events(extra_rows[2].event, &attr, 1, &why), 1);
	KUNIT_EXPECT_EQ(test, my_names_resolve(PMU_1, 1, true, &attr, &why), -EOPNOTSUPP);
	KUNIT_EXPECT_STREQ(test, why.text,
			   "'cpu/event=0xbb,umask=1,config1=5/': " NOT_TAKEN(0x5, -19));
}

/* Whatever is listed is understood, and means the same. */
static void names_known(struct kunit *test)
{
	struct my_perf_event_attr known, attr;
	unsigned int n, nr = 0;
	struct my_pmu_why why;

	for (n = 0; n < MY_KNOWN_EVENTS; n++) {
		if (!my_known_event(n, &known))
			continue;
		KUNIT_EXPECT_EQ_MSG(test, my_parse_events(known.name, &attr, 1, &why),
				    1, "%s", why.text);
		KUNIT_EXPECT_EQ_MSG(test, memcmp(&attr, &known, sizeof(attr)), 0,
				    "%s", known.name);
		nr++;
	}
	/* ten of perf's, six more, 33 of sysfs, and 32 of the caches */
	KUNIT_EXPECT_EQ(test, nr, 81U);
}

static struct kunit_case names_cases[] = {
	KUNIT_CASE_PARAM(names_resolve, name_gen_params),
	KUNIT_CASE(names_resolve_all),
	KUNIT_CASE(names_new_bits),
	KUNIT_CASE_PARAM(names_refused, refused_gen_params),
	KUNIT_CASE(names_without_perf),
	KUNIT_CASE(names_no_memory),
	KUNIT_CASE(names_list),
	KUNIT_CASE_PARAM(names_lookup, name_gen_params),
	KUNIT_CASE(names_lookup_refused),
	KUNIT_CASE(names_extra),
	KUNIT_CASE(names_known),
	{ }
};

static struct kunit_suite names_suite = {
	.name = "my_pmu_names",
	.init = names_init,
	.exit = names_exit,
	.test_cases = names_cases,
};

kunit_test_suite(names_suite);
