// SPDX-License-Identifier: GPL-2.0
/*
 * The words of the parameters: what is understood, what is refused and with
 * which words.  Written from docs/events.md and the grammar at the
 * head of pmu_parse.c.
 */
#include <kunit/test.h>
#include <linux/ctype.h>
#include <linux/errno.h>
#include <linux/string.h>

#include "pmu_ops.h"
#include "pmu_parse.h"
#include "pmu_why.h"

#define ANY		MY_PMC_ANY
#define GP(n)		(n)
#define FIXED(n)	(32 + (n))

#define ZEROS_10	"0000000000"
#define ZEROS_24	"000000000000000000000000"
#define ZEROS_39	"000000000000000000000000000000000000000"
#define ZEROS_40	"0000000000000000000000000000000000000000"
#define ZEROS_80	"00000000000000000000000000000000000000000000000000000000000000000000000000000000"
#define ZEROS_57	"000000000000000000000000000000000000000000000000000000000"

/* Ends of messages. */
#define KNOWN \
	"known are instructions, cycles, branches and others that perf has for this CPU, rUUEE, cpu/event=,umask=,edge,inv,cmask=,config1=/"
#define UNPRINTABLE \
	"blanks, control characters and non-ASCII are in no event; " KNOWN
#define MISSING		"an event is missing; " KNOWN
#define TERMS \
	"event=, umask=, cmask=, edge, inv, eq, pc, config=, config1=, period= or an event's name, each once, are known"
#define NUMBER		"a number from 0 to 0xff is needed"
#define EVENT_NUMBER	"a number from 0 to 0xfff is needed"
#define UMASK_NUMBER	"a number from 0 to 0xffff is needed"
#define BIT_NUMBER	"a number from 0 to 0x1 is needed"
#define LONG_NUMBER	"a number from 0 to 0xffffffffffffffff is needed"
#define WORD		"a word is needed"
#define EXTRA \
	"it needs an extra register, which is not programmed here"
#define TRANSACTIONS	"transactions are not told apart here"
#define ANY_THREAD \
	"AnyThread (any, bit 21) counts the sibling thread, too; it is never set here"
#define SLASH		"the second slash is missing"
#define MODIFIERS \
	"u (user), k (kernel), h (hypervisor) and D (always on a counter), each once, are known"
#define COUNTERS \
	"@gpN and @fixedN are, N from 0 to 31, and sets like @gp0-3+fixed1"
#define BACKWARDS	"a range goes from the lower counter to the higher"
#define COUNTER_TWICE	"a counter is there twice"
#define TOO_LONG	"longer than the 143 characters of any event"
#define NAME_TOO_LONG	"longer than 95 characters without its counter"
#define H_ALONE \
	"modifier h (hypervisor) alone: no counter can tell it from the kernel"
#define NOT_TAKEN	"which are not taken"
#define EACH_RECORD	"each record has the counts of the group"
#define NOBODY_ELSE	"while the module is loaded nobody else has the PMU"
#define IN_BOTH		"they count in both"
#define BEHIND_BRACE \
	"behind its brace there may be a colon and modifiers, as in {cycles,branches}:u"
#define X_95 \
	"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
#define MILLISECONDS	"whole milliseconds from 1 on are needed"
#define INTERVAL_UNPRINTABLE \
	"blanks, control characters or non-ASCII; " MILLISECONDS
#define INTERVAL_TOO_LONG "more than 4294967295 milliseconds"

/* What is passed to the parser, and what it must leave alone. */
struct parse_context {
	struct my_perf_event_attr attr[MY_PMC_MAX];
	u8 attr_guard[64];
	struct my_pmu_why why;
	u8 why_guard[64];	/* zeros: the text ends here at the latest */
	char list[4096 + 1];
};

#define ATTR_FILL	0xa5
#define WHY_FILL	0xff

static int parse_init(struct kunit *test)
{
	struct parse_context *ctx;

	ctx = kunit_kzalloc(test, sizeof(*ctx), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, ctx);
	memset(ctx->attr, ATTR_FILL, sizeof(ctx->attr));
	memset(ctx->attr_guard, ATTR_FILL, sizeof(ctx->attr_guard));
	memset(&ctx->why, WHY_FILL, sizeof(ctx->why));
	test->priv = ctx;
	return 0;
}

static int parse(struct kunit *test, const char *list, unsigned int max)
{
	struct parse_context *ctx = test->priv;

	return my_parse_events(list, ctx->attr, max, &ctx->why);
}

static const char *why_text(struct kunit *test)
{
	struct parse_context *ctx = test->priv;

	return ctx->why.text;
}

/* --- what holds whatever is parsed ---------------------------------------- */

static void expect_guards(struct kunit *test)
{
	struct parse_context *ctx = test->priv;

	KUNIT_EXPECT_NULL(test, memchr_inv(ctx->attr_guard, ATTR_FILL,
					   sizeof(ctx->attr_guard)));
	KUNIT_EXPECT_NULL(test, memchr_inv(ctx->why_guard, 0,
					   sizeof(ctx->why_guard)));
}

/* Printable ASCII: one line of the log, whatever was passed. */
static void expect_one_line(struct kunit *test)
{
	const char *text = why_text(test);
	size_t len = strlen(text);
	size_t i;

	KUNIT_EXPECT_GT(test, len, 0);
	KUNIT_EXPECT_LT(test, len, sizeof_field(struct my_pmu_why, text));
	for (i = 0; i < len; i++)
		KUNIT_EXPECT_TRUE_MSG(test,
				      isascii(text[i]) && isprint(text[i]),
				      "byte %zu is 0x%02x", i, (u8)text[i]);
}

static void expect_refusal(struct kunit *test, int err, int want_err,
			   const char *want_text)
{
	expect_guards(test);
	expect_one_line(test);
	KUNIT_EXPECT_EQ(test, err, want_err);
	KUNIT_EXPECT_STREQ(test, why_text(test), want_text);
}

/* Success says nothing. */
static void expect_no_words(struct kunit *test)
{
	struct parse_context *ctx = test->priv;

	expect_guards(test);
	KUNIT_EXPECT_NULL(test, memchr_inv(&ctx->why, WHY_FILL,
					   sizeof(ctx->why)));
}

/* What the tables below leave out: how perf knows what they name by encoding. */
static struct my_perf_event_attr with_perf(const struct my_perf_event_attr *attr)
{
	static const u16 generic[] = {
		0x003c, 0x00c0, 0x4f2e, 0x412e, 0x00c4, 0x00c5, 0x013c, 0, 0,
		0x0300,
	};
	struct my_perf_event_attr full = *attr;
	u64 code = attr->config & 0xffff;
	unsigned int i;

	if (attr->perf_type || attr->perf_config)
		return full;
	if (!attr->named) {
		full.perf_type = 4;
		full.perf_config = attr->config;
		return full;
	}
	for (i = 0; i < ARRAY_SIZE(generic); i++) {
		if (code == generic[i])
			full.perf_config = i;
	}
	return full;
}

static void expect_attr(struct kunit *test, unsigned int i,
			const struct my_perf_event_attr *brief)
{
	struct parse_context *ctx = test->priv;
	const struct my_perf_event_attr *attr = &ctx->attr[i];
	const struct my_perf_event_attr full = with_perf(brief), *want = &full;

	KUNIT_EXPECT_STREQ(test, attr->name, want->name);
	KUNIT_EXPECT_EQ(test, attr->config, want->config);
	KUNIT_EXPECT_EQ(test, attr->perf_type, want->perf_type);
	KUNIT_EXPECT_EQ(test, attr->perf_config, want->perf_config);
	KUNIT_EXPECT_EQ(test, attr->added, want->added);
	KUNIT_EXPECT_EQ(test, attr->extra.config, want->extra.config);
	KUNIT_EXPECT_EQ(test, attr->extra.msr, 0);
	KUNIT_EXPECT_FALSE(test, attr->confirmed);
	KUNIT_EXPECT_FALSE(test, attr->optional);
	KUNIT_EXPECT_EQ(test, attr->allowed, want->allowed);
	KUNIT_EXPECT_EQ(test, attr->pinned, want->pinned);
	KUNIT_EXPECT_EQ(test, attr->group, want->group);
	KUNIT_EXPECT_EQ(test, attr->named, want->named);
	KUNIT_EXPECT_EQ(test, attr->exclude_user, want->exclude_user);
	KUNIT_EXPECT_EQ(test, attr->exclude_kernel, want->exclude_kernel);
	KUNIT_EXPECT_EQ(test, attr->constraint, want->constraint);
}

/* --- one event that is understood ----------------------------------------- */

struct one_event {
	const char *text;
	/* name, config, named, exclude_user, exclude_kernel */
	struct my_perf_event_attr want;
};

static const struct one_event one_event[] = {
	/* an extra register's value, whatever it is called */
	{ "cpu/event=0xb7,umask=1,config1=0xffffffffffffffff/",
	  { "cpu/event=0xb7,umask=1,config1=0xffffffffffffffff/", 0x1b7, .constraint = ANY,
	    .extra.config = ~0ULL } },
	{ "cpu/offcore_rsp=0x30,event=0xb7,config1=3,umask=1/k",
	  { "cpu/offcore_rsp=0x30,event=0xb7,config1=3,umask=1/k", 0x1b7, false, true,
	    .constraint = ANY, .extra.config = 0x33 } },
	{ "cpu/event=0xc6,umask=1,frontend=0xffffff/",
	  { "cpu/event=0xc6,umask=1,frontend=0xffffff/", 0x1c6, .constraint = ANY,
	    .extra.config = 0xffffff } },
	/* names */
	{ "instructions", { "instructions", 0xc0, true, .constraint = ANY } },
	{ "cycles", { "cycles", 0x3c, true, .constraint = ANY } },
	{ "cpu-cycles", { "cpu-cycles", 0x3c, true, .constraint = ANY } },
	{ "ref-cycles", { "ref-cycles", 0x300, true, .constraint = ANY } },
	{ "bus-cycles", { "bus-cycles", 0x13c, true, .constraint = ANY } },
	{ "cache-references", { "cache-references", 0x4f2e, true, .constraint = ANY } },
	{ "cache-misses", { "cache-misses", 0x412e, true, .constraint = ANY } },
	{ "branches", { "branches", 0xc4, true, .constraint = ANY } },
	{ "branch-instructions",
	  { "branch-instructions", 0xc4, true, .constraint = ANY } },
	{ "branch-misses", { "branch-misses", 0xc5, true, .constraint = ANY } },

	/* raw */
	{ "r01c2", { "r01c2", 0x1c2, .constraint = ANY } },
	{ "r412e", { "r412e", 0x412e, .constraint = ANY } },
	{ "rc0", { "rc0", 0xc0, .constraint = ANY } },
	{ "r3", { "r3", 0x3, .constraint = ANY } },
	{ "r1c0", { "r1c0", 0x1c0, .constraint = ANY } },
	{ "r0", { "r0", 0, .constraint = ANY } },
	{ "r0300", { "r0300", 0x300, .constraint = ANY } },
	{ "rffff", { "rffff", 0xffff, .constraint = ANY } },
	{ "rFFFF", { "rFFFF", 0xffff, .constraint = ANY } },
	{ "rAbCd", { "rAbCd", 0xabcd, .constraint = ANY } },
	{ "r010", { "r010", 0x10, .constraint = ANY } },
	{ "r000001c2", { "r000001c2", 0x1c2, .constraint = ANY } },
	{ "r" ZEROS_40 "0001c2", { "r" ZEROS_40 "0001c2", 0x1c2, .constraint = ANY } },

	/* terms */
	{ "cpu/event=0xc4/", { "cpu/event=0xc4/", 0xc4, .constraint = ANY } },
	{ "cpu/event=0xc4,umask=0x11/",
	  { "cpu/event=0xc4,umask=0x11/", 0x11c4, .constraint = ANY } },
	{ "cpu/umask=0x11,event=0xc4/",
	  { "cpu/umask=0x11,event=0xc4/", 0x11c4, .constraint = ANY } },
	{ "cpu/event=196,umask=17/",
	  { "cpu/event=196,umask=17/", 0x11c4, .constraint = ANY } },
	{ "cpu/event=0xFF,umask=0xfF/",
	  { "cpu/event=0xFF,umask=0xfF/", 0xffff, .constraint = ANY } },
	{ "cpu/event=255,umask=255/",
	  { "cpu/event=255,umask=255/", 0xffff, .constraint = ANY } },
	{ "cpu/event=0,umask=0/", { "cpu/event=0,umask=0/", 0, .constraint = ANY } },
	{ "cpu/event=0x0,umask=3/",
	  { "cpu/event=0x0,umask=3/", 0x300, .constraint = ANY } },
	/* never octal */
	{ "cpu/event=010,umask=0011/",
	  { "cpu/event=010,umask=0011/", 0xb0a, .constraint = ANY } },
	{ "cpu/event=0x010/", { "cpu/event=0x010/", 0x10, .constraint = ANY } },
	{ "cpu/event=0x" ZEROS_24 "c0/",
	  { "cpu/event=0x" ZEROS_24 "c0/", 0xc0, .constraint = ANY } },

	/* raw: all the bits of an event, and none of the others */
	{ "r12345",
	  { "r12345", 0x2345, .constraint = ANY, .perf_type = 4,
	    .perf_config = 0x12345 } },
	{ "r2840001c2",
	  { "r2840001c2", 0x2840001c2, .constraint = ANY, .perf_type = 4,
	    .perf_config = 0x2840001c2 } },
	{ "r68401c2",
	  { "r68401c2", 0x68401c2, .constraint = ANY, .perf_type = 4,
	    .perf_config = 0x68401c2 } },
	{ "r801c2",
	  { "r801c2", 0x1c2, .constraint = ANY, .perf_type = 4,
	    .perf_config = 0x801c2 } },
	{ "r8001c2",
	  { "r8001c2", 0x8001c2, .constraint = ANY, .perf_type = 4,
	    .perf_config = 0x8001c2 } },
	{ "rffffffff00df01c2",
	  { "rffffffff00df01c2", 0xff1f008401c2, .constraint = ANY, .perf_type = 4,
	    .perf_config = 0xffffffff00df01c2 } },

	/* fields */
	{ "cpu/event=0xc0,edge/",
	  { "cpu/event=0xc0,edge/", 0x400c0, .constraint = ANY } },
	{ "cpu/edge=1,event=0xc0/",
	  { "cpu/edge=1,event=0xc0/", 0x400c0, .constraint = ANY } },
	{ "cpu/event=0xc0,edge=0,inv=0,cmask=0/",
	  { "cpu/event=0xc0,edge=0,inv=0,cmask=0/", 0xc0, .constraint = ANY } },
	{ "cpu/event=0xc0,inv,cmask=2/u",
	  { "cpu/event=0xc0,inv,cmask=2/u", 0x28000c0, false, false, true,
	    .constraint = ANY } },
	{ "cpu/event=0xc0,cmask=255/",
	  { "cpu/event=0xc0,cmask=255/", 0xff0000c0, .constraint = ANY } },
	/* version 6: the upper half of umask, bits 40 to 47; eq, bit 36 */
	{ "cpu/event=0xc0,umask=0x1234/",
	  { "cpu/event=0xc0,umask=0x1234/", 0x1200000034c0, .constraint = ANY, .perf_type = 4,
	    .perf_config = 0x1200000034c0 } },
	{ "cpu/umask=65535,event=0xff/",
	  { "cpu/umask=65535,event=0xff/", 0xff000000ffff, .constraint = ANY } },
	{ "cpu/event=0xc0,umask=0x100/",
	  { "cpu/event=0xc0,umask=0x100/", 0x100000000c0, .constraint = ANY } },
	{ "cpu/event=0xc0,cmask=2,eq/",
	  { "cpu/event=0xc0,cmask=2,eq/", 0x10020000c0, .constraint = ANY, .perf_type = 4,
	    .perf_config = 0x10020000c0 } },
	{ "cpu/eq=0,event=0xc0/", { "cpu/eq=0,event=0xc0/", 0xc0, .constraint = ANY } },
	{ "r1210028001c2",
	  { "r1210028001c2", 0x1210028001c2, .constraint = ANY, .perf_type = 4,
	    .perf_config = 0x1210028001c2 } },
	{ "cpu/event=0xc0,pc/",
	  { "cpu/event=0xc0,pc/", 0xc0, .constraint = ANY, .perf_type = 4,
	    .perf_config = 0x800c0 } },
	{ "cpu/event=0xc0,any=0/",
	  { "cpu/event=0xc0,any=0/", 0xc0, .constraint = ANY } },
	{ "cpu/config=0x18401c2/",
	  { "cpu/config=0x18401c2/", 0x18401c2, .constraint = ANY, .perf_type = 4,
	    .perf_config = 0x18401c2 } },
	{ "cpu/config=0x1c0,cmask=1/",
	  { "cpu/config=0x1c0,cmask=1/", 0x10001c0, .constraint = ANY } },
	{ "cpu/r1c2/", { "cpu/r1c2/", 0x1c2, .constraint = ANY } },
	{ "cpu/r0x1c2/", { "cpu/r0x1c2/", 0x1c2, .constraint = ANY } },
	{ "cpu/umask=1,r0c2,event=0/",
	  { "cpu/umask=1,r0c2,event=0/", 0x1c2, .constraint = ANY } },
	{ "cpu/r1c2,edge/", { "cpu/r1c2,edge/", 0x401c2, .constraint = ANY } },

	/* names between the slashes */
	{ "cpu/cycles/", { "cpu/cycles/", 0x3c, true, .constraint = ANY } },
	{ "cpu/cache-misses/u",
	  { "cpu/cache-misses/u", 0x412e, true, false, true, .constraint = ANY } },
	{ "cpu/Cache-MISSES/",
	  { "cpu/Cache-MISSES/", 0x412e, true, .constraint = ANY } },
	{ "cpu/event=cpu-cycles/",
	  { "cpu/event=cpu-cycles/", 0x3c, true, .constraint = ANY } },
	{ "cpu/instructions,inv,cmask=2/",
	  { "cpu/instructions,inv,cmask=2/", 0x28000c0, true, .constraint = ANY } },
	{ "cpu/cmask=1,branches/",
	  { "cpu/cmask=1,branches/", 0x10000c4, true, .constraint = ANY } },

	/* what means nothing to a counter */
	{ "cpu/event=0xc0,name=foo/",
	  { "cpu/event=0xc0,name=foo/", 0xc0, .constraint = ANY } },
	{ "cpu/event=0xc0,name=a.b:c-d_1*?/:u",
	  { "cpu/event=0xc0,name=a.b:c-d_1*?/:u", 0xc0, false, false, true,
	    .constraint = ANY } },
	{ "cpu/event=0xc0,percore,metric-id=x/",
	  { "cpu/event=0xc0,percore,metric-id=x/", 0xc0, .constraint = ANY } },

	/* how often it interrupts */
	{ "cpu/event=0xc0,period=100000/",
	  { "cpu/event=0xc0,period=100000/", 0xc0, .constraint = ANY, .period = 100000 } },
	{ "cpu/instructions,period=100/u",
	  { "cpu/instructions,period=100/u", 0xc0, true, false, true, .constraint = ANY,
	    .period = 100 } },
	{ "cycles/period=0x7fffffff/",
	  { "cycles/period=0x7fffffff/", 0x3c, true, .constraint = ANY,
	    .period = 0x7fffffff } },
	{ "cycles//u", { "cycles//u", 0x3c, true, false, true, .constraint = ANY } },
	{ "cycles/name=n/", { "cycles/name=n/", 0x3c, true, .constraint = ANY } },
	{ "r1c2//", { "r1c2//", 0x1c2, .constraint = ANY } },

	/* perf's other names */
	{ "stalled-cycles-frontend",
	  { "stalled-cycles-frontend", 0, true, .constraint = ANY, .perf_config = 7 } },
	{ "idle-cycles-frontend",
	  { "idle-cycles-frontend", 0, true, .constraint = ANY, .perf_config = 7 } },
	{ "stalled-cycles-backend",
	  { "stalled-cycles-backend", 0, true, .constraint = ANY, .perf_config = 8 } },
	{ "idle-cycles-backend",
	  { "idle-cycles-backend", 0, true, .constraint = ANY, .perf_config = 8 } },
	/* the other events of leaf 0AH */
	{ "arch-topdown-slots",
	  { "arch-topdown-slots", 0x1a4, true, .constraint = ANY, .perf_type = 4,
	    .perf_config = 0x1a4 } },
	{ "arch-topdown-be-bound",
	  { "arch-topdown-be-bound", 0x2a4, true, .constraint = ANY, .perf_type = 4,
	    .perf_config = 0x2a4 } },
	{ "arch-topdown-bad-spec",
	  { "arch-topdown-bad-spec", 0x73, true, .constraint = ANY, .perf_type = 4,
	    .perf_config = 0x73 } },
	{ "arch-topdown-fe-bound",
	  { "arch-topdown-fe-bound", 0x19c, true, .constraint = ANY, .perf_type = 4,
	    .perf_config = 0x19c } },
	{ "arch-topdown-retiring",
	  { "arch-topdown-retiring", 0x2c2, true, .constraint = ANY, .perf_type = 4,
	    .perf_config = 0x2c2 } },
	{ "arch-lbr-inserts",
	  { "arch-lbr-inserts", 0x1e4, true, .constraint = ANY, .perf_type = 4,
	    .perf_config = 0x1e4 } },

	/* numbers beside a name, in any order */
	{ "cpu/cycles,event=1/",
	  { "cpu/cycles,event=1/", 0x3c, true, .constraint = ANY, .added = 1 } },
	{ "cpu/event=1,umask=2,cycles,edge/",
	  { "cpu/event=1,umask=2,cycles,edge/", 0x4003c, true, .constraint = ANY,
	    .added = 0x201 } },
	{ "cpu/umask=0x10,event=branches/",
	  { "cpu/umask=0x10,event=branches/", 0xc4, true, .constraint = ANY,
	    .added = 0x1000 } },
	{ "cpu/event=branches,event=2/",
	  { "cpu/event=branches,event=2/", 0xc4, true, .constraint = ANY,
	    .added = 2 } },
	{ "cpu/cycles,r2000801ff/",
	  { "cpu/cycles,r2000801ff/", 0x3c, true, .constraint = ANY,
	    .added = 0x2000001ff } },
	{ "cpu/cycles,umask=0x1201,eq/",
	  { "cpu/cycles,umask=0x1201,eq/", 0x100000003c, true, .constraint = ANY,
	    .added = 0x121000000100 } },
	{ "cpu/config=0x1000010,cycles/",
	  { "cpu/config=0x1000010,cycles/", 0x100003c, true, .constraint = ANY,
	    .added = 0x10 } },

	/* what perf has in sysfs, in any case between the slashes */
	{ "mem-loads", { "mem-loads", 0, true, .constraint = ANY, .perf_type = ~0U } },
	{ "mem-stores:u@gp1",
	  { "mem-stores:u", 0, true, false, true, .constraint = GP(1), .perf_type = ~0U,
	    .perf_config = 2 } },
	{ "cpu/MEM-Loads-aux,cmask=1/",
	  { "cpu/MEM-Loads-aux,cmask=1/", 0x1000000, true, .constraint = ANY,
	    .perf_type = ~0U,
	    .perf_config = 1 } },
	{ "el-capacity-write",
	  { "el-capacity-write", 0, true, .constraint = ANY, .perf_type = ~0U,
	    .perf_config = 32 } },

	/* modifiers */
	{ "cycles:uh", { "cycles:uh", 0x3c, true, false, true, .constraint = ANY } },
	{ "cycles:hk", { "cycles:hk", 0x3c, true, true, false, .constraint = ANY } },
	{ "cycles:ukh", { "cycles:ukh", 0x3c, true, .constraint = ANY } },
	{ "cycles:D", { "cycles:D", 0x3c, true, .constraint = ANY, .pinned = true } },
	{ "cpu/event=1/uDk",
	  { "cpu/event=1/uDk", 0x1, .constraint = ANY, .pinned = true } },
	{ "cycles:u", { "cycles:u", 0x3c, true, false, true, .constraint = ANY } },
	{ "cycles:k", { "cycles:k", 0x3c, true, true, false, .constraint = ANY } },
	{ "cycles:uk", { "cycles:uk", 0x3c, true, .constraint = ANY } },
	{ "cycles:ku", { "cycles:ku", 0x3c, true, .constraint = ANY } },
	{ "r01c2:u", { "r01c2:u", 0x1c2, false, false, true, .constraint = ANY } },
	{ "r01c2:k", { "r01c2:k", 0x1c2, false, true, false, .constraint = ANY } },
	{ "r01c2:uk", { "r01c2:uk", 0x1c2, .constraint = ANY } },
	{ "r01c2:ku", { "r01c2:ku", 0x1c2, .constraint = ANY } },
	{ "cpu/event=1/u",
	  { "cpu/event=1/u", 0x1, false, false, true, .constraint = ANY } },
	{ "cpu/event=1/k",
	  { "cpu/event=1/k", 0x1, false, true, false, .constraint = ANY } },
	{ "cpu/event=1/uk", { "cpu/event=1/uk", 0x1, .constraint = ANY } },
	{ "cpu/event=1/ku", { "cpu/event=1/ku", 0x1, .constraint = ANY } },
	{ "cpu/event=1/:u",
	  { "cpu/event=1/:u", 0x1, false, false, true, .constraint = ANY } },
	{ "cpu/event=1/:k",
	  { "cpu/event=1/:k", 0x1, false, true, false, .constraint = ANY } },
	{ "cpu/event=1/:uk", { "cpu/event=1/:uk", 0x1, .constraint = ANY } },
	{ "cpu/event=1/:ku", { "cpu/event=1/:ku", 0x1, .constraint = ANY } },

	/* counters: no part of the name; decimal, as everywhere */
	{ "instructions@gp2", { "instructions", 0xc0, true, .constraint = GP(2) } },
	{ "cycles@fixed1", { "cycles", 0x3c, true, .constraint = FIXED(1) } },
	{ "r01c2@gp31", { "r01c2", 0x1c2, .constraint = GP(31) } },
	{ "cycles@gp007", { "cycles", 0x3c, true, .constraint = GP(7) } },
	{ "cycles@gp010", { "cycles", 0x3c, true, .constraint = GP(10) } },
	{ "cycles@fixed002", { "cycles", 0x3c, true, .constraint = FIXED(2) } },
	{ "cycles:u@gp0",
	  { "cycles:u", 0x3c, true, false, true, .constraint = GP(0) } },
	{ "cpu/event=0xc4,umask=0x00/@gp3",
	  { "cpu/event=0xc4,umask=0x00/", 0xc4, .constraint = GP(3) } },
	{ "cpu/event=1/k@fixed31",
	  { "cpu/event=1/k", 0x1, false, true, false, .constraint = FIXED(31) } },
	{ "cpu/event=1/:u@gp10",
	  { "cpu/event=1/:u", 0x1, false, false, true, .constraint = GP(10) } },
	/* more than one counter, or a range of one: the module chooses */
	{ "cycles@gp0-3", { "cycles", 0x3c, true, .constraint = ANY, .allowed = 0xf } },
	{ "cycles@gp1-1", { "cycles", 0x3c, true, .constraint = ANY, .allowed = 0x2 } },
	{ "cycles@gp0+gp2",
	  { "cycles", 0x3c, true, .constraint = ANY, .allowed = 0x5 } },
	{ "cycles@fixed0-31",
	  { "cycles", 0x3c, true, .constraint = ANY, .allowed = 0xffffffff00000000 } },
	{ "cycles@gp0-31+fixed0-31",
	  { "cycles", 0x3c, true, .constraint = ANY, .allowed = 0xffffffffffffffff } },
	{ "cycles:u@fixed1+gp31+gp004-7",
	  { "cycles:u", 0x3c, true, false, true, .constraint = ANY,
	    .allowed = 0x2800000f0 } },
	/* 95 characters, and 48 of the counter: the longest */
	{ "r" ZEROS_80 ZEROS_10 "01c2@fixed" ZEROS_40 "31",
	  { "r" ZEROS_80 ZEROS_10 "01c2", 0x1c2, .constraint = FIXED(31) } },
};

static void describe_one_event(const struct one_event *row, char *desc)
{
	strscpy(desc, row->text, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(one_event, one_event, describe_one_event);

static void events_one(struct kunit *test)
{
	const struct one_event *row = test->param_value;

	KUNIT_EXPECT_EQ(test, parse(test, row->text, MY_PMC_MAX), 1);
	expect_attr(test, 0, &row->want);
	expect_no_words(test);
}

/* Each counter that there is a name for. */
static void events_every_counter(struct kunit *test)
{
	struct parse_context *ctx = test->priv;
	unsigned int id;

	for (id = 0; id < 64; id++) {
		snprintf(ctx->list, sizeof(ctx->list), "cycles@%s%u",
			 id < 32 ? "gp" : "fixed", id % 32);
		KUNIT_EXPECT_EQ_MSG(test, parse(test, ctx->list, 1), 1, "%s",
				    ctx->list);
		KUNIT_EXPECT_EQ_MSG(test, ctx->attr[0].constraint, (int)id, "%s",
				    ctx->list);
	}
	expect_no_words(test);
}

/* --- caches ---------------------------------------------------------------- */

/* perf's words; what is in a row means the same. */
static const char *const cache_words[][5] = {
	{ "L1-dcache", "l1-d", "l1d", "L1-data" },
	{ "L1-icache", "l1-i", "l1i", "L1-instruction" },
	{ "LLC", "L2" },
	{ "dTLB", "d-tlb", "Data-TLB" },
	{ "iTLB", "i-tlb", "Instruction-TLB" },
	{ "branch", "bpu", "btb", "bpc" },	/* "branches" is another event */
	{ "node" },
};

static const char *const operation_words[][5] = {
	{ "load", "loads", "read" },
	{ "store", "stores", "write" },
	{ "prefetch", "prefetches", "speculative-read", "speculative-load" },
};

static const char *const result_words[][5] = {
	{ "refs", "Reference", "ops", "access" },
	{ "misses", "miss" },
};

/* The instructions' caches are not written, the last two only read. */
static bool has_operation(unsigned int cache, unsigned int operation)
{
	return !((cache == 1 && operation == 1) ||
		 ((cache == 4 || cache == 5) && operation));
}

static void expect_cache(struct kunit *test, const char *name,
			 unsigned int cache, unsigned int operation,
			 unsigned int result)
{
	struct parse_context *ctx = test->priv;
	int ret = parse(test, name, 1);

	if (!has_operation(cache, operation)) {
		KUNIT_EXPECT_EQ_MSG(test, ret, -EINVAL, "%s", name);
		return;
	}
	KUNIT_EXPECT_EQ_MSG(test, ret, 1, "%s", name);
	KUNIT_EXPECT_TRUE(test, ctx->attr[0].named);
	KUNIT_EXPECT_EQ(test, ctx->attr[0].perf_type, 3U);
	KUNIT_EXPECT_EQ_MSG(test, ctx->attr[0].perf_config,
			    (u64)(cache | operation << 8 | result << 16), "%s",
			    name);
	KUNIT_EXPECT_EQ(test, ctx->attr[0].config, 0ULL);
}

/* Alone, with each word, and with both in each order. */
static void expect_cache_words(struct kunit *test, const char *cache,
			       unsigned int c, unsigned int i, unsigned int j)
{
	struct parse_context *ctx = test->priv;
	const char *operation = operation_words[i / 5][i % 5];
	const char *result = result_words[j / 5][j % 5];
	size_t size = sizeof(ctx->list);

	if (!operation || !result)
		return;
	expect_cache(test, cache, c, 0, 0);
	snprintf(ctx->list, size, "%s-%s", cache, operation);
	expect_cache(test, ctx->list, c, i / 5, 0);
	snprintf(ctx->list, size, "%s-%s", cache, result);
	/* perf has this for another event */
	if (strcmp(ctx->list, "branch-misses"))
		expect_cache(test, ctx->list, c, 0, j / 5);
	snprintf(ctx->list, size, "%s-%s-%s", cache, operation, result);
	expect_cache(test, ctx->list, c, i / 5, j / 5);
	snprintf(ctx->list, size, "%s-%s-%s", cache, result, operation);
	expect_cache(test, ctx->list, c, i / 5, j / 5);
}

static void events_caches(struct kunit *test)
{
	unsigned int c, word, i, j;

	for (c = 0; c < ARRAY_SIZE(cache_words); c++)
		for (word = 0; word < 5 && cache_words[c][word]; word++)
			for (i = 0; i < 5 * ARRAY_SIZE(operation_words); i++)
				for (j = 0; j < 5 * ARRAY_SIZE(result_words); j++)
					expect_cache_words(test,
							   cache_words[c][word],
							   c, i, j);
}

/* A second word of a kind is not looked at, as in perf. */
static void events_caches_doubled(struct kunit *test)
{
	expect_cache(test, "LLC-loads-stores", 2, 0, 0);
	expect_cache(test, "LLC-stores-loads", 2, 1, 0);
	expect_cache(test, "LLC-misses-refs", 2, 0, 1);
	expect_cache(test, "LLC-refs-misses", 2, 0, 0);
	expect_cache(test, "branches-loads", 5, 0, 0);
}

/* --- lists ----------------------------------------------------------------- */

struct event_list {
	const char *list;
	unsigned int nr;
	struct my_perf_event_attr want[4];
};

static const struct event_list event_lists[] = {
	/* the module's default */
	{ "instructions@gp2,cycles@gp3,instructions@fixed0,cycles@fixed1", 4, {
		{ "instructions", 0xc0, true, .constraint = GP(2) },
		{ "cycles", 0x3c, true, .constraint = GP(3), .group = 1 },
		{ "instructions", 0xc0, true, .constraint = FIXED(0), .group = 2 },
		{ "cycles", 0x3c, true, .constraint = FIXED(1), .group = 3 },
	} },
	/* a comma between slashes is no end, one behind them is */
	{ "cpu/event=1,umask=2/,cpu/umask=3,event=4/k@gp0,r5", 3, {
		{ "cpu/event=1,umask=2/", 0x201, .constraint = ANY },
		{ "cpu/umask=3,event=4/k", 0x304, false, true, false, .constraint = GP(0),
		  .group = 1 },
		{ "r5", 0x5, .constraint = ANY, .group = 2 },
	} },
	/* nothing of one event is left in the next */
	{ "cycles:u@gp1,r1,cycles:k@fixed1,r2", 4, {
		{ "cycles:u", 0x3c, true, false, true, .constraint = GP(1) },
		{ "r1", 0x1, .constraint = ANY, .group = 1 },
		{ "cycles:k", 0x3c, true, true, false, .constraint = FIXED(1),
		  .group = 2 },
		{ "r2", 0x2, .constraint = ANY, .group = 3 },
	} },
	/* twice the same is for others to judge */
	{ "cycles@gp0,cycles@gp0", 2, {
		{ "cycles", 0x3c, true, .constraint = GP(0) },
		{ "cycles", 0x3c, true, .constraint = GP(0), .group = 1 },
	} },
	/* all of a row of terms and counters is gone in the next */
	{ "cpu/event=1,edge,inv,cmask=9/D@gp0-1,r2", 2, {
		{ "cpu/event=1,edge,inv,cmask=9/D", 0x9840001, .constraint = ANY,
		  .pinned = true,
		  .allowed = 3 },
		{ "r2", 0x2, .constraint = ANY, .group = 1 },
	} },
	/* braces */
	{ "{cycles}", 1, {
		{ "cycles", 0x3c, true, .constraint = ANY },
	} },
	{ "r1,{r2@gp1,cpu/event=3,umask=4/u},r5", 4, {
		{ "r1", 0x1, .constraint = ANY },
		{ "r2", 0x2, .constraint = GP(1), .group = 1 },
		{ "cpu/event=3,umask=4/u", 0x403, false, false, true, .constraint = ANY,
		  .group = 1 },
		{ "r5", 0x5, .constraint = ANY, .group = 2 },
	} },
	{ "{r1},{r2},{r3,r4}", 4, {
		{ "r1", 0x1, .constraint = ANY },
		{ "r2", 0x2, .constraint = ANY, .group = 1 },
		{ "r3", 0x3, .constraint = ANY, .group = 2 },
		{ "r4", 0x4, .constraint = ANY, .group = 2 },
	} },
	/* their modifiers: added to an event's own, as perf does it */
	{ "{cycles:u,instructions}:k", 2, {
		{ "cycles:uk", 0x3c, true, .constraint = ANY },
		{ "instructions:k", 0xc0, true, true, false, .constraint = ANY },
	} },
	{ "{r1:uk,r2:ku@gp3,r3:h}:u,r4", 4, {
		{ "r1:uk", 0x1, .constraint = ANY },
		{ "r2:uk", 0x2, .constraint = GP(3) },
		{ "r3:u", 0x3, false, false, true, .constraint = ANY },
		{ "r4", 0x4, .constraint = ANY, .group = 1 },
	} },
	/* which begins anew where nothing was left out */
	{ "{r1:ukh,r2}:u", 2, {
		{ "r1:u", 0x1, false, false, true, .constraint = ANY },
		{ "r2:u", 0x2, false, false, true, .constraint = ANY },
	} },
	{ "{cpu/event=1/,cpu/event=2/:k,cpu/event=3/u,r4//}:u", 4, {
		{ "cpu/event=1/u", 0x1, false, false, true, .constraint = ANY },
		{ "cpu/event=2/uk", 0x2, .constraint = ANY },
		{ "cpu/event=3/u", 0x3, false, false, true, .constraint = ANY },
		{ "r4//u", 0x4, false, false, true, .constraint = ANY },
	} },
	{ "{r1,r2:u}:D,{r3:D,r4}", 4, {
		{ "r1", 0x1, .constraint = ANY, .pinned = true },
		{ "r2:u", 0x2, false, false, true, .constraint = ANY, .pinned = true },
		{ "r3:D", 0x3, .constraint = ANY, .pinned = true, .group = 1 },
		{ "r4", 0x4, .constraint = ANY, .pinned = true, .group = 1 },
	} },
};

static void describe_list(const struct event_list *row, char *desc)
{
	strscpy(desc, row->list, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(event_list, event_lists, describe_list);

static void events_list(struct kunit *test)
{
	const struct event_list *row = test->param_value;
	struct parse_context *ctx = test->priv;
	unsigned int i;

	KUNIT_ASSERT_EQ(test, parse(test, row->list, MY_PMC_MAX), row->nr);
	for (i = 0; i < row->nr; i++)
		expect_attr(test, i, &row->want[i]);
	KUNIT_EXPECT_NULL(test, memchr_inv(&ctx->attr[row->nr], ATTR_FILL,
					   sizeof(ctx->attr[0])));
	expect_no_words(test);
}

/* r0,r1,...: so many. */
static const char *numbered_events(struct kunit *test, unsigned int nr)
{
	struct parse_context *ctx = test->priv;
	unsigned int i, len = 0;

	for (i = 0; i < nr; i++)
		len += scnprintf(ctx->list + len, sizeof(ctx->list) - len,
				 "%sr%x", i ? "," : "", i);
	return ctx->list;
}

static void events_as_many_as_fit(struct kunit *test)
{
	struct parse_context *ctx = test->priv;
	unsigned int i;

	KUNIT_ASSERT_EQ(test, parse(test, numbered_events(test, 64), 64), 64);
	for (i = 0; i < 64; i++)
		KUNIT_EXPECT_EQ(test, ctx->attr[i].config, (u64)i);
	expect_no_words(test);
}

static void events_one_too_many(struct kunit *test)
{
	expect_refusal(test, parse(test, numbered_events(test, 65), 64),
		       -ENOSPC,
		       "more than 64 events; leave some out");
}

static void events_one_too_many_for_room(struct kunit *test)
{
	struct parse_context *ctx = test->priv;

	expect_refusal(test, parse(test, "r0,r1,r2", 2), -ENOSPC,
		       "more than 2 events; leave some out");
	KUNIT_EXPECT_NULL(test, memchr_inv(&ctx->attr[2], ATTR_FILL,
					   sizeof(ctx->attr[2])));
}

/* --- what is refused ------------------------------------------------------- */

struct refused {
	const char *what;
	const char *text;
	const char *why;
	int err;		/* 0 stands for -EINVAL */
};

static void describe_refused(const struct refused *row, char *desc)
{
	strscpy(desc, row->what, KUNIT_PARAM_DESC_SIZE);
}

static const struct refused refused_events[] = {
	/* no event */
	{ "empty", "", MISSING },
	{ "lone comma", ",", MISSING },
	{ "comma at the start", ",cycles", MISSING },
	{ "comma at the end", "cycles,", MISSING },
	{ "doubled comma", "cycles,,instructions", MISSING },
	{ "nothing but a counter", "@gp0", "'@gp0': no event ''; " KNOWN },
	{ "nothing but modifiers", ":u", "':u': no event ''; " KNOWN },
	{ "lone colon", ":", "':': no event ''; " KNOWN },
	{ "lone at", "@", "'@': '@' is no counter; " COUNTERS },
	{ "lone slash", "/", "'/': " SLASH },
	{ "two slashes", "//", "'//': no event ''; " KNOWN },

	/* bytes */
	{ "blank", " ", UNPRINTABLE },
	{ "blank at the start", " cycles", UNPRINTABLE },
	{ "blank at the end", "cycles ", UNPRINTABLE },
	{ "blank after a comma", "cycles, instructions", UNPRINTABLE },
	{ "blank instead of a comma", "cycles instructions", UNPRINTABLE },
	{ "blank between slashes", "cpu/event=1, umask=2/", UNPRINTABLE },
	{ "newline at the end", "cycles\n", UNPRINTABLE },
	{ "newline after a number", "cpu/event=1\n/", UNPRINTABLE },
	{ "newline after a raw event", "rc0\n", UNPRINTABLE },
	{ "newline after a counter", "cycles@gp0\n", UNPRINTABLE },
	{ "lone newline", "\n", UNPRINTABLE },
	{ "tab", "\tcycles", UNPRINTABLE },
	{ "carriage return", "cycles\r", UNPRINTABLE },
	{ "bell", "cyc\ales", UNPRINTABLE },
	{ "escape", "\033[31mcycles", UNPRINTABLE },
	{ "delete", "cycles\177", UNPRINTABLE },
	{ "byte 0x80", "cycles\x80", UNPRINTABLE },
	{ "no-break space", "cycles\xa0", UNPRINTABLE },
	{ "Latin-1", "cycl\xe9s", UNPRINTABLE },
	{ "UTF-8", "cycl\xc3\xa9s", UNPRINTABLE },
	{ "byte 0xff", "\xff", UNPRINTABLE },
	{ "long and with a newline", "r" ZEROS_57 "\n", UNPRINTABLE },

	/* names */
	{ "unknown name", "instrs", "'instrs': no event 'instrs'; " KNOWN },
	{ "prefix of a name", "cycle", "'cycle': no event 'cycle'; " KNOWN },
	{ "one more than a name", "cycless",
	  "'cycless': no event 'cycless'; " KNOWN },
	{ "prefix of two names", "bran", "'bran': no event 'bran'; " KNOWN },
	{ "prefix of two names with the hyphen", "cache-",
	  "'cache-': no event 'cache-'; " KNOWN },
	{ "capitals", "CYCLES", "'CYCLES': no event 'CYCLES'; " KNOWN },
	{ "one capital", "Cycles", "'Cycles': no event 'Cycles'; " KNOWN },
	{ "underscore", "cpu_cycles",
	  "'cpu_cycles': no event 'cpu_cycles'; " KNOWN },
	{ "a name of perf's that is no hardware's", "page-faults",
	  "'page-faults': no event 'page-faults'; " KNOWN },
	{ "number", "192", "'192': no event '192'; " KNOWN },
	{ "cpu", "cpu", "'cpu': no event 'cpu'; " KNOWN },
	{ "second of a list", "cycles,nonsense:u@gp0",
	  "'nonsense:u@gp0': no event 'nonsense'; " KNOWN },
	{ "first of a list", "nonsense,cycles",
	  "'nonsense': no event 'nonsense'; " KNOWN },
	{ "slash after a name", "cycles/", "'cycles/': " SLASH },
	{ "name of another PMU", "cpu_core/event=1,umask=2/",
	  "'cpu_core/event=1,umask=2/': no event 'cpu_core'; " KNOWN },
	{ "CPU in capitals", "CPU/event=1/",
	  "'CPU/event=1/': no event 'CPU'; " KNOWN },
	{ "encoding of a name", "cycles/event=1/",
	  "'cycles/event=1/': term 'event'; " TERMS },
	{ "field of a name", "cycles/edge/",
	  "'cycles/edge/': term 'edge'; " TERMS },
	{ "name of a name", "cycles/branches/",
	  "'cycles/branches/': term 'branches'; " TERMS },
	{ "number of a cache", "LLC-loads/r1/",
	  "'LLC-loads/r1/': term 'r1'; " TERMS },

	/* caches */
	{ "cache in capitals", "l1-dcache-loads",
	  "'l1-dcache-loads': no event 'l1-dcache-loads'; " KNOWN },
	{ "cache and a hyphen", "LLC-", "'LLC-': no event 'LLC-'; " KNOWN },
	{ "cache, loads and a hyphen", "LLC-loads-",
	  "'LLC-loads-': no event 'LLC-loads-'; " KNOWN },
	{ "two hyphens", "LLC--loads",
	  "'LLC--loads': no event 'LLC--loads'; " KNOWN },
	{ "hyphen alone", "-", "'-': no event '-'; " KNOWN },
	{ "operation alone", "loads", "'loads': no event 'loads'; " KNOWN },
	{ "unknown cache", "L3-loads",
	  "'L3-loads': no event 'L3-loads'; " KNOWN },
	{ "unknown word", "LLC-hits", "'LLC-hits': no event 'LLC-hits'; " KNOWN },
	{ "word in capitals", "LLC-Loads",
	  "'LLC-Loads': no event 'LLC-Loads'; " KNOWN },
	{ "three words", "LLC-loads-misses-refs",
	  "'LLC-loads-misses-refs': no event 'LLC-loads-misses-refs'; " KNOWN },
	{ "L1I stores", "L1-icache-stores",
	  "'L1-icache-stores': no event 'L1-icache-stores'; " KNOWN },
	{ "ITLB prefetches", "iTLB-prefetch-misses",
	  "'iTLB-prefetch-misses': no event 'iTLB-prefetch-misses'; " KNOWN },
	{ "branch stores", "branch-stores",
	  "'branch-stores': no event 'branch-stores'; " KNOWN },
	{ "cache and a modifier without colon", "LLCu",
	  "'LLCu': no event 'LLCu'; " KNOWN },
	{ "cache between slashes", "cpu/LLC-loads/",
	  "'cpu/LLC-loads/': term 'LLC-loads'; " TERMS },
	{ "conversions", "%s%n%d", "'%s%n%d': no event '%s%n%d'; " KNOWN },

	/* raw */
	{ "r alone", "r", "'r': no event 'r'; " KNOWN },
	{ "r and modifiers alone", "r:u", "'r:u': no event 'r'; " KNOWN },
	{ "r with AnyThread", "r2000c0", "'r2000c0': " ANY_THREAD },
	{ "r with 0x and 16 digits", "r0x1000000000000001",
	  "'r0x1000000000000001': no event 'r0x1000000000000001'; " KNOWN },
	{ "r with 17 digits", "r10000000000000000",
	  "'r10000000000000000': no event 'r10000000000000000'; " KNOWN },
	{ "r with 0x", "r0xc0", "'r0xc0': no event 'r0xc0'; " KNOWN },
	{ "r with 0X", "r0Xc0", "'r0Xc0': no event 'r0Xc0'; " KNOWN },
	{ "r with a letter behind f", "r00g0", "'r00g0': no event 'r00g0'; " KNOWN },
	{ "r with a sign", "r-1", "'r-1': no event 'r-1'; " KNOWN },
	{ "r with a plus", "r+1", "'r+1': no event 'r+1'; " KNOWN },
	{ "R", "R01c2", "'R01c2': no event 'R01c2'; " KNOWN },

	/* terms */
	{ "no terms", "cpu//", "'cpu//': term ''; " TERMS },
	{ "lone comma between slashes", "cpu/,/", "'cpu/,/': term ''; " TERMS },
	{ "comma after the terms", "cpu/event=1,/",
	  "'cpu/event=1,/': term ''; " TERMS },
	{ "unknown term", "cpu/event=1,edged=1/",
	  "'cpu/event=1,edged=1/': term 'edged'; " TERMS },
	{ "unknown word", "cpu/event=1,edged/",
	  "'cpu/event=1,edged/': term 'edged'; " TERMS },
	{ "AnyThread", "cpu/event=1,any/", "'cpu/event=1,any/': " ANY_THREAD },
	{ "AnyThread of a name", "cpu/cycles,any=1/",
	  "'cpu/cycles,any=1/': " ANY_THREAD },
	{ "two names", "cpu/cycles,branches/",
	  "'cpu/cycles,branches/': term 'branches'; " TERMS },
	{ "name, config= and number", "cpu/cycles,config=1,r1/",
	  "'cpu/cycles,config=1,r1/': term 'r1'; " TERMS },
	{ "two numbers between slashes", "cpu/r1,r2/",
	  "'cpu/r1,r2/': term 'r2'; " TERMS },
	{ "name as two events", "cpu/event=cycles,event=branches/",
	  "'cpu/event=cycles,event=branches/': event=branches; " EVENT_NUMBER },
	{ "period too short", "cpu/cycles,period=99/",
	  "'cpu/cycles,period=99/': period=99; a number from 100 to 2147483647 is needed" },
	{ "period too long", "cpu/cycles,period=2147483648/",
	  "'cpu/cycles,period=2147483648/': period=2147483648; a number from 100 to 2147483647 is needed",
	},
	{ "period without a number", "cpu/cycles,period/",
	  "'cpu/cycles,period/': period=; a number from 100 to 2147483647 is needed" },
	{ "edge twice", "cpu/event=1,edge,edge/",
	  "'cpu/event=1,edge,edge/': term 'edge'; " TERMS },
	{ "r0x alone", "cpu/r0x/", "'cpu/r0x/': term 'r0x'; " TERMS },
	{ "r0x with 17 digits", "cpu/r0x10000000000000000/",
	  "'cpu/r0x10000000000000000/': term 'r0x10000000000000000'; " TERMS },
	{ "eq of 2", "cpu/event=1,eq=2/", "'cpu/event=1,eq=2/': eq=2; " BIT_NUMBER },
	{ "eq beside a name", "cycles/eq/", "'cycles/eq/': term 'eq'; " TERMS },
	{ "umask beside a name", "cycles/umask=1/",
	  "'cycles/umask=1/': term 'umask'; " TERMS },
	{ "edge of 2", "cpu/event=1,edge=2/",
	  "'cpu/event=1,edge=2/': edge=2; " BIT_NUMBER },
	{ "empty edge", "cpu/event=1,edge=/",
	  "'cpu/event=1,edge=/': edge=; " BIT_NUMBER },
	{ "cmask without number", "cpu/event=1,cmask/",
	  "'cpu/event=1,cmask/': cmask=; " NUMBER },
	{ "cmask too large", "cpu/event=1,cmask=256/",
	  "'cpu/event=1,cmask=256/': cmask=256; " NUMBER },
	{ "config too large", "cpu/config=0x10000000000000000/",
	  "'cpu/config=0x10000000000000000/': config=0x10000000000000000; "
	  LONG_NUMBER },
	{ "name without a word", "cpu/event=1,name/",
	  "'cpu/event=1,name/': name=; " WORD },
	{ "empty name", "cpu/event=1,name=/",
	  "'cpu/event=1,name=/': name=; " WORD },
	{ "number as a name", "cpu/event=1,name=3/",
	  "'cpu/event=1,name=3/': name=3; " WORD },
	{ "name with a quote", "cpu/event=1,name='x'/",
	  "'cpu/event=1,name='x'/': name='x'; " WORD },
	{ "edge alone", "cpu/edge/",
	  "'cpu/edge/': event= is missing between the slashes" },
	{ "in_tx", "cpu/event=1,in_tx/", "'cpu/event=1,in_tx/': in_tx: "
	  TRANSACTIONS, -EOPNOTSUPP },
	{ "in_tx_cp", "cpu/event=1,in_tx_cp=1/",
	  "'cpu/event=1,in_tx_cp=1/': in_tx_cp: " TRANSACTIONS, -EOPNOTSUPP },
	{ "ldlat", "cpu/event=0xcd,umask=1,ldlat=3/",
	  "'cpu/event=0xcd,umask=1,ldlat=3/': ldlat: " EXTRA, -EOPNOTSUPP },
	{ "snoop_rsp", "cpu/event=1,snoop_rsp=1/",
	  "'cpu/event=1,snoop_rsp=1/': snoop_rsp: " EXTRA, -EOPNOTSUPP },
	{ "long frontend", "cpu/event=0xc6,frontend=0x1000000/",
	  "'cpu/event=0xc6,frontend=0x1000000/': frontend=0x1000000; "
	  "a number from 0 to 0xffffff is needed" },
	{ "config1 without a number", "cpu/event=1,config1/",
	  "'cpu/event=1,config1/': config1=; " LONG_NUMBER },
	{ "config1 beside a name", "cycles/config1=1/",
	  "'cycles/config1=1/': term 'config1'; " TERMS },
	{ "config2", "cpu/event=1,config2=1/",
	  "'cpu/event=1,config2=1/': config2: " EXTRA, -EOPNOTSUPP },
	{ "term in capitals", "cpu/EVENT=1/",
	  "'cpu/EVENT=1/': term 'EVENT'; " TERMS },
	{ "prefix of a term", "cpu/even=1/",
	  "'cpu/even=1/': term 'even'; " TERMS },
	{ "event twice", "cpu/event=1,event=1/",
	  "'cpu/event=1,event=1/': term 'event'; " TERMS },
	{ "umask twice", "cpu/umask=1,event=1,umask=1/",
	  "'cpu/umask=1,event=1,umask=1/': term 'umask'; " TERMS },
	{ "conversions between slashes", "cpu/%s%n=1/",
	  "'cpu/%s%n=1/': term '%s%n'; " TERMS },
	{ "no event=", "cpu/umask=1/",
	  "'cpu/umask=1/': event= is missing between the slashes" },

	/* numbers */
	{ "no =", "cpu/event/", "'cpu/event/': event=; " EVENT_NUMBER },
	{ "no number", "cpu/event=/", "'cpu/event=/': event=; " EVENT_NUMBER },
	{ "no number for umask", "cpu/event=1,umask=/",
	  "'cpu/event=1,umask=/': umask=; " UMASK_NUMBER },
	{ "= twice", "cpu/event==1/", "'cpu/event==1/': event==1; " EVENT_NUMBER },
	{ "two numbers", "cpu/event=1=2/",
	  "'cpu/event=1=2/': event=1=2; " EVENT_NUMBER },
	{ "too large, hexadecimal", "cpu/event=0x1000/",
	  "'cpu/event=0x1000/': event=0x1000; " EVENT_NUMBER },
	{ "too large, decimal", "cpu/event=1,umask=65536/",
	  "'cpu/event=1,umask=65536/': umask=65536; " UMASK_NUMBER },
	{ "2 to the 64", "cpu/event=18446744073709551616/",
	  "'cpu/event=18446744073709551616/': event=18446744073709551616; "
	  EVENT_NUMBER },
	{ "hexadecimal without 0x", "cpu/event=c0/",
	  "'cpu/event=c0/': event=c0; " EVENT_NUMBER },
	{ "decimal and a letter", "cpu/event=1c/",
	  "'cpu/event=1c/': event=1c; " EVENT_NUMBER },
	{ "0x alone", "cpu/event=0x/", "'cpu/event=0x/': event=0x; " EVENT_NUMBER },
	{ "0X", "cpu/event=0Xc0/", "'cpu/event=0Xc0/': event=0Xc0; " EVENT_NUMBER },
	{ "0x twice", "cpu/event=0x0x1/",
	  "'cpu/event=0x0x1/': event=0x0x1; " EVENT_NUMBER },
	{ "0xg", "cpu/event=0xg/", "'cpu/event=0xg/': event=0xg; " EVENT_NUMBER },
	{ "binary", "cpu/event=0b1/", "'cpu/event=0b1/': event=0b1; " EVENT_NUMBER },
	{ "sign", "cpu/event=-1/", "'cpu/event=-1/': event=-1; " EVENT_NUMBER },
	{ "plus", "cpu/event=+1/", "'cpu/event=+1/': event=+1; " EVENT_NUMBER },
	{ "conversions as a number", "cpu/event=%d/",
	  "'cpu/event=%d/': event=%d; " EVENT_NUMBER },

	/* slashes */
	{ "cpu/", "cpu/", "'cpu/': " SLASH },
	{ "second slash missing", "cpu/event=1", "'cpu/event=1': " SLASH },
	{ "second slash missing, and a list", "cpu/event=1,cycles",
	  "'cpu/event=1,cycles': " SLASH },
	{ "second slash missing, and a counter", "cpu/event=1@gp0",
	  "'cpu/event=1@gp0': " SLASH },
	{ "second slash missing, and modifiers", "cpu/event=1:u",
	  "'cpu/event=1:u': " SLASH },
	{ "second slash missing, and a list of counters",
	  "cpu/event=0xc4,instructions@gp2,cycles@gp3",
	  "'cpu/event=0xc4,instructions@gp2,cycles@gp3': " SLASH },
	{ "second slash missing, and a long list",
	  "cpu/event=0xc4,instructions@gp2,cycles@gp3,instructions@fixed0,cycles,r"
	  ZEROS_80,
	  "'cpu/event=0xc4,instructions@gp2,cycles@g...': " TOO_LONG
	  "; a slash is missing" },

	/* modifiers */
	{ "unknown modifier", "cycles:x", "'cycles:x': modifiers 'x'; " MODIFIERS },
	{ "unknown modifier behind a known one", "cycles:ux",
	  "'cycles:ux': modifiers 'ux'; " MODIFIERS },
	{ "h alone", "cycles:h", "'cycles:h': " H_ALONE },
	{ "h alone, and others", "cycles:hD", "'cycles:hD': " H_ALONE },
	{ "D twice", "cycles:DD", "'cycles:DD': modifiers 'DD'; " MODIFIERS },
	{ "p", "cycles:p",
	  "'cycles:p': modifier p (precise) needs samples by PEBS, " NOT_TAKEN },
	{ "ppp", "cycles:uppp",
	  "'cycles:uppp': modifier p (precise) needs samples by PEBS, " NOT_TAKEN },
	{ "P", "cycles:P",
	  "'cycles:P': modifier P (most precise) needs samples by PEBS, " NOT_TAKEN },
	{ "S", "cycles:S",
	  "'cycles:S': modifier S (read the group at a sample): "
	  EACH_RECORD },
	{ "G", "cycles:G",
	  "'cycles:G': modifier G (guest) needs counters that stop in the host; " IN_BOTH },
	{ "H", "cycles:uH",
	  "'cycles:uH': modifier H (host) needs counters that stop in guests; " IN_BOTH },
	{ "I", "cycles:I",
	  "'cycles:I': modifier I (not in idle): no PMU can tell; halted CPUs have no cycles" },
	{ "W", "cycles:W",
	  "'cycles:W': modifier W (weak group): a group is never taken apart" },
	{ "e", "cycles:e",
	  "'cycles:e': modifier e (exclusive): " NOBODY_ELSE },
	{ "b", "cycles:b",
	  "'cycles:b': modifier b (counted by BPF): there is no BPF in it" },
	{ "modifier in capitals", "cycles:U",
	  "'cycles:U': modifiers 'U'; " MODIFIERS },
	{ "empty modifiers", "cycles:", "'cycles:': modifiers ''; " MODIFIERS },
	{ "empty modifiers and a counter", "cycles:@gp0",
	  "'cycles:@gp0': modifiers ''; " MODIFIERS },
	{ "user twice", "cycles:uu", "'cycles:uu': modifiers 'uu'; " MODIFIERS },
	{ "kernel twice", "cycles:kk", "'cycles:kk': modifiers 'kk'; " MODIFIERS },
	{ "user twice around kernel", "cycles:uku",
	  "'cycles:uku': modifiers 'uku'; " MODIFIERS },
	{ "modifiers twice", "cycles:u:k",
	  "'cycles:u:k': modifiers 'u:k'; " MODIFIERS },
	{ "two colons", "cycles::u", "'cycles::u': modifiers ':u'; " MODIFIERS },
	{ "slash after modifiers", "cycles:u/", "'cycles:u/': " SLASH },
	{ "two slashes after modifiers", "cycles:u//",
	  "'cycles:u//': modifiers 'u//'; " MODIFIERS },
	{ "name and a modifier without colon", "cyclesu",
	  "'cyclesu': no event 'cyclesu'; " KNOWN },
	{ "conversions as modifiers", "cycles:%n",
	  "'cycles:%n': modifiers '%n'; " MODIFIERS },
	{ "unknown modifier after the slash", "cpu/event=1/x",
	  "'cpu/event=1/x': modifiers 'x'; " MODIFIERS },
	{ "user twice after the slash", "cpu/event=1/uu",
	  "'cpu/event=1/uu': modifiers 'uu'; " MODIFIERS },
	{ "modifiers twice after the slash", "cpu/event=1/u:k",
	  "'cpu/event=1/u:k': modifiers 'u:k'; " MODIFIERS },
	{ "empty modifiers after the slash", "cpu/event=1/:",
	  "'cpu/event=1/:': modifiers ''; " MODIFIERS },
	{ "two colons after the slash", "cpu/event=1/::u",
	  "'cpu/event=1/::u': modifiers ':u'; " MODIFIERS },
	{ "third slash", "cpu/event=1//", "'cpu/event=1//': " SLASH },
	{ "fourth slash", "cpu/event=1///",
	  "'cpu/event=1///': modifiers '//'; " MODIFIERS },

	/* counters */
	{ "empty counter", "cycles@", "'cycles@': '@' is no counter; " COUNTERS },
	{ "gp without number", "cycles@gp",
	  "'cycles@gp': '@gp' is no counter; " COUNTERS },
	{ "fixed without number", "cycles@fixed",
	  "'cycles@fixed': '@fixed' is no counter; " COUNTERS },
	{ "prefix of fixed", "cycles@fix0",
	  "'cycles@fix0': '@fix0' is no counter; " COUNTERS },
	{ "gp32", "cycles@gp32",
	  "'cycles@gp32': '@gp32' is no counter; " COUNTERS },
	{ "fixed32", "cycles@fixed32",
	  "'cycles@fixed32': '@fixed32' is no counter; " COUNTERS },
	{ "gp 2 to the 32", "cycles@gp4294967296",
	  "'cycles@gp4294967296': '@gp4294967296' is no counter; " COUNTERS },
	{ "gp-1", "cycles@gp-1",
	  "'cycles@gp-1': '@gp-1' is no counter; " COUNTERS },
	{ "gp+1", "cycles@gp+1",
	  "'cycles@gp+1': '@gp+1' is no counter; " COUNTERS },
	{ "gp0x1", "cycles@gp0x1",
	  "'cycles@gp0x1': '@gp0x1' is no counter; " COUNTERS },
	{ "gp1a", "cycles@gp1a",
	  "'cycles@gp1a': '@gp1a' is no counter; " COUNTERS },
	{ "GP0", "cycles@GP0",
	  "'cycles@GP0': '@GP0' is no counter; " COUNTERS },
	{ "number alone", "cycles@0",
	  "'cycles@0': '@0' is no counter; " COUNTERS },
	{ "pmc0", "cycles@pmc0",
	  "'cycles@pmc0': '@pmc0' is no counter; " COUNTERS },
	{ "two counters", "cycles@gp0@gp1",
	  "'cycles@gp0@gp1': '@gp0@gp1' is no counter; " COUNTERS },
	{ "two ats", "cycles@@gp0",
	  "'cycles@@gp0': '@@gp0' is no counter; " COUNTERS },
	{ "modifiers after the counter", "cycles@gp0:u",
	  "'cycles@gp0:u': '@gp0:u' is no counter; " COUNTERS },
	{ "counter between slashes", "cpu/event=1@gp0/",
	  "'cpu/event=1@gp0/': '@gp0/' is no counter; " COUNTERS },
	{ "range without its end", "cycles@gp1-",
	  "'cycles@gp1-': '@gp1-' is no counter; " COUNTERS },
	{ "range without its start", "cycles@gp-1",
	  "'cycles@gp-1': '@gp-1' is no counter; " COUNTERS },
	{ "range with two ends", "cycles@gp0-1-2",
	  "'cycles@gp0-1-2': '@gp0-1-2' is no counter; " COUNTERS },
	{ "range to another kind", "cycles@gp0-fixed1",
	  "'cycles@gp0-fixed1': '@gp0-fixed1' is no counter; " COUNTERS },
	{ "range too far", "cycles@gp0-32",
	  "'cycles@gp0-32': '@gp0-32' is no counter; " COUNTERS },
	{ "set and a plus", "cycles@gp0+",
	  "'cycles@gp0+': '@gp0+' is no counter; " COUNTERS },
	{ "plus and a counter", "cycles@+gp0",
	  "'cycles@+gp0': '@+gp0' is no counter; " COUNTERS },
	{ "two pluses", "cycles@gp0++gp1",
	  "'cycles@gp0++gp1': '@gp0++gp1' is no counter; " COUNTERS },
	{ "second without kind", "cycles@gp0+1",
	  "'cycles@gp0+1': '@gp0+1' is no counter; " COUNTERS },
	{ "backwards", "cycles@gp3-1", "'cycles@gp3-1': '@gp3-1': " BACKWARDS },
	{ "second backwards", "cycles@gp0+fixed1-0",
	  "'cycles@gp0+fixed1-0': '@gp0+fixed1-0': " BACKWARDS },
	{ "counter twice", "cycles@gp0+gp0",
	  "'cycles@gp0+gp0': '@gp0+gp0': " COUNTER_TWICE },
	{ "counter twice in ranges", "cycles@gp0-3+gp3-5",
	  "'cycles@gp0-3+gp3-5': '@gp0-3+gp3-5': " COUNTER_TWICE },
	{ "conversions as a counter", "cycles@%s",
	  "'cycles@%s': '@%s' is no counter; " COUNTERS },

	/* braces */
	{ "empty braces", "{}", MISSING },
	{ "comma in braces", "{,}", MISSING },
	{ "comma before a brace", "{cycles,}", MISSING },
	{ "comma behind a brace", "{,cycles}", MISSING },
	{ "two braces", "{{cycles}}", "'{cycles}}': a brace within braces" },
	{ "braces within braces", "{r1,{r2}}",
	  "'{r2}}': a brace within braces" },
	{ "brace in an event", "{r1,x{r2}}", "'x{r2}}': a brace within braces" },
	{ "name of a group", "x{r1}",
	  "'x{r1}': a brace stands at the start, or behind a comma" },
	{ "no second brace", "{cycles", "'{cycles': a brace is missing" },
	{ "brace alone", "{", "'{': a brace is missing" },
	{ "closing brace alone", "}", "'}': a brace is closed that was not opened" },
	{ "no first brace", "cycles}",
	  "'cycles}': a brace is closed that was not opened" },
	{ "no first brace in a list", "r1,cycles},r2",
	  "'cycles},r2': a brace is closed that was not opened" },
	{ "third brace", "{r1}}", "'{r1}}': " BEHIND_BRACE },
	{ "two groups without comma", "{r1}{r2}", "'{r1}{r2}': " BEHIND_BRACE },
	{ "group modifiers without colon", "{r1}u", "'{r1}u': " BEHIND_BRACE },
	{ "group modifiers missing", "{r1}:", "'{r1}:': " BEHIND_BRACE },
	{ "group modifiers missing, and a list", "{r1}:,r2",
	  "'{r1}:,r2': " BEHIND_BRACE },
	{ "counter of a group", "{r1}@gp0", "'{r1}@gp0': " BEHIND_BRACE },
	{ "16 group modifiers", "{r1}:uuuuuuuuuuuuuuuu",
	  "'{r1}:uuuuuuuuuuuuuuuu': " BEHIND_BRACE },
	{ "long group", "{r1," ZEROS_40 "}}",
	  "'{r1,000000000000000000000000000000000000...': " BEHIND_BRACE },
	{ "unknown group modifier", "{r1}:x", "'r1': modifiers 'x'; " MODIFIERS },
	{ "group modifier with a reason", "{r1,r2}:S",
	  "'r1': modifier S (read the group at a sample): "
	  EACH_RECORD },
	{ "group modifier twice", "{r1}:uu", "'r1': modifiers 'uu'; " MODIFIERS },
	{ "two colons behind a brace", "{r1}::u",
	  "'r1': modifiers ':u'; " MODIFIERS },
	{ "h of a group", "{r1}:h",
	  "'r1': " H_ALONE },
	{ "second is pinned", "{r1,r2:D}",
	  "'r2:D': modifier D in a group stands at its first event, or behind its brace" },
	{ "no event in braces", "{r1,foo}", "'foo': no event 'foo'; " KNOWN },
	{ "slash missing in braces", "{cpu/event=1,r2}",
	  "'{cpu/event=1,r2}': a slash is missing" },
	{ "brace between slashes", "cpu/{r1}/", "'cpu/{r1}/': term '{r1}'; " TERMS },

	/* lengths */
	{ "96 characters", "r" ZEROS_80 ZEROS_10 "0001c2",
	  "'r" ZEROS_80 ZEROS_10 "0001c2': " NAME_TOO_LONG },
	{ "96 characters and a counter", "r" ZEROS_80 ZEROS_10 "0001c2@gp0",
	  "'r" ZEROS_80 ZEROS_10 "0001c2@gp0': " NAME_TOO_LONG },
	{ "143 characters", "r" ZEROS_80 ZEROS_57 "01c2x",
	  "'r" ZEROS_80 ZEROS_57 "01c2x': " NAME_TOO_LONG },
	{ "144 characters", "r" ZEROS_80 ZEROS_57 "001c2x",
	  "'r" ZEROS_39 "...': " TOO_LONG },
	{ "144 characters, most of them the counter's",
	  "r1c2@fixed" ZEROS_80 ZEROS_40 "00000000000031",
	  "'r1c2@fixed000000000000000000000000000000...': " TOO_LONG },
	{ "long, between two slashes",
	  "cpu/event=0x" ZEROS_80 ZEROS_57 "c0/",
	  "'cpu/event=0x0000000000000000000000000000...': " TOO_LONG },
	{ "long, with conversions", "%s%n%s%n%s" ZEROS_80 ZEROS_57,
	  "'%s%n%s%n%s000000000000000000000000000000...': " TOO_LONG },
	{ "no room for a group's modifiers",
	  "{r" ZEROS_80 "000000000001c2}:u",
	  "'r" ZEROS_80 "000000000001c2': longer than 92 characters without its counter" },
	{ "longest message", X_95 "@fixed" ZEROS_40 "31",
	  "'" X_95 "@fixed" ZEROS_40 "31': no event '" X_95 "'; " KNOWN },
};

KUNIT_ARRAY_PARAM(refused_events, refused_events, describe_refused);

static void events_refused(struct kunit *test)
{
	const struct refused *row = test->param_value;

	expect_refusal(test, parse(test, row->text, MY_PMC_MAX),
		       row->err ?: -EINVAL, row->why);
}

/* A page of what might lead a parser astray. */
static const char *const pieces[] = {
	"x", "r1,", ",", "/", "cpu/", "cpu/event=1,umask=2/,", "event=1,", "=",
	":", ":u", "@", "@gp0", "@gp0,", "%s", "%n,", "r", "0", " ", "\n",
	"\xff", "{", "}", "{}", "{r1,", "{r1},", "{r1}:u,", "+", "-", "@gp0+gp1",
	"@gp0-", "LLC-", "cpu/r1,",
};

static void describe_piece(const char *const *piece, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "'%*pEhp'", (int)strlen(*piece),
		 *piece);
}

KUNIT_ARRAY_PARAM(piece, pieces, describe_piece);

/* All 4096 are refused, with one line and within bounds. */
static void events_a_page_full(struct kunit *test)
{
	const char *piece = *(const char *const *)test->param_value;
	struct parse_context *ctx = test->priv;
	size_t i, len = strlen(piece);

	for (i = 0; i < sizeof(ctx->list) - 1; i++)
		ctx->list[i] = piece[i % len];
	KUNIT_EXPECT_LT(test, parse(test, ctx->list, MY_PMC_MAX), 0);
	expect_guards(test);
	expect_one_line(test);
}

/* --- the interval ---------------------------------------------------------- */

struct interval {
	const char *text;
	unsigned int ms;
};

static const struct interval intervals[] = {
	{ "1", 1 },
	{ "5", 5 },
	{ "1000", 1000 },
	{ "5000", 5000 },
	{ "2147483648", 2147483648 },
	{ "4294967295", 4294967295 },
	/* never octal */
	{ "010", 10 },
	{ "0099", 99 },
	{ ZEROS_57 "5", 5 },
	{ ZEROS_40 "4294967295", 4294967295 },
};

static void describe_interval(const struct interval *row, char *desc)
{
	strscpy(desc, row->text, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(interval, intervals, describe_interval);

static void interval_understood(struct kunit *test)
{
	const struct interval *row = test->param_value;
	struct parse_context *ctx = test->priv;
	unsigned int ms = 0;

	KUNIT_EXPECT_EQ(test, my_parse_interval(row->text, &ms, &ctx->why), 0);
	KUNIT_EXPECT_EQ(test, ms, row->ms);
	expect_no_words(test);
}

static const struct refused refused_intervals[] = {
	{ "empty", "", "''; " MILLISECONDS },
	{ "0", "0", "'0'; " MILLISECONDS },
	{ "00", "00", "'00'; " MILLISECONDS },
	{ "-0", "-0", "'-0'; " MILLISECONDS },
	{ "-1", "-1", "'-1'; " MILLISECONDS },
	{ "+5", "+5", "'+5'; " MILLISECONDS },
	{ "lone sign", "-", "'-'; " MILLISECONDS },
	{ "0x10", "0x10", "'0x10'; " MILLISECONDS },
	{ "0X10", "0X10", "'0X10'; " MILLISECONDS },
	{ "5s", "5s", "'5s'; " MILLISECONDS },
	{ "5ms", "5ms", "'5ms'; " MILLISECONDS },
	{ "1.5", "1.5", "'1.5'; " MILLISECONDS },
	{ "1e3", "1e3", "'1e3'; " MILLISECONDS },
	{ "two", "5,6", "'5,6'; " MILLISECONDS },
	{ "underscore", "1_000", "'1_000'; " MILLISECONDS },
	{ "word", "second", "'second'; " MILLISECONDS },
	{ "conversions", "%s%n", "'%s%n'; " MILLISECONDS },
	{ "too large and no number", "4294967296s",
	  "'4294967296s'; " MILLISECONDS },
	{ "much too large and no number", "99999999999999999999999s",
	  "'99999999999999999999999s'; " MILLISECONDS },
	{ "40 characters", "x" ZEROS_39,
	  "'x" ZEROS_39 "'; " MILLISECONDS },
	{ "41 characters", ZEROS_40 "x", "'" ZEROS_40 "...'; " MILLISECONDS },

	{ "blank at the start", " 5", INTERVAL_UNPRINTABLE },
	{ "blank at the end", "5 ", INTERVAL_UNPRINTABLE },
	{ "blank within", "1 000", INTERVAL_UNPRINTABLE },
	{ "newline at the end", "5\n", INTERVAL_UNPRINTABLE },
	{ "lone newline", "\n", INTERVAL_UNPRINTABLE },
	{ "tab", "5\t", INTERVAL_UNPRINTABLE },
	{ "escape", "\033[31m5", INTERVAL_UNPRINTABLE },
	{ "delete", "5\177", INTERVAL_UNPRINTABLE },
	{ "Latin-1", "5\xb5s", INTERVAL_UNPRINTABLE },
	{ "UTF-8", "\xc3\xa9", INTERVAL_UNPRINTABLE },
	{ "newline behind 40 characters", ZEROS_40 "5\n",
	  INTERVAL_UNPRINTABLE },

	{ "2 to the 32", "4294967296", "'4294967296': " INTERVAL_TOO_LONG,
	  -ERANGE },
	{ "2 to the 32 plus 5", "4294967301",
	  "'4294967301': " INTERVAL_TOO_LONG, -ERANGE },
	{ "2 to the 64", "18446744073709551616",
	  "'18446744073709551616': " INTERVAL_TOO_LONG, -ERANGE },
	{ "2 to the 64 plus 5", "18446744073709551621",
	  "'18446744073709551621': " INTERVAL_TOO_LONG, -ERANGE },
	{ "41 digits", "1" ZEROS_40,
	  "'1" ZEROS_39 "...': " INTERVAL_TOO_LONG,
	  -ERANGE },
};

KUNIT_ARRAY_PARAM(refused_intervals, refused_intervals, describe_refused);

static void interval_refused(struct kunit *test)
{
	const struct refused *row = test->param_value;
	struct parse_context *ctx = test->priv;
	unsigned int ms = 0;

	expect_refusal(test, my_parse_interval(row->text, &ms, &ctx->why),
		       row->err ?: -EINVAL, row->why);
}

/* All 4096 are refused, with one line and within bounds. */
static void interval_a_page_full(struct kunit *test)
{
	const char *piece = *(const char *const *)test->param_value;
	struct parse_context *ctx = test->priv;
	size_t i, len = strlen(piece);
	unsigned int ms;

	for (i = 0; i < sizeof(ctx->list) - 1; i++)
		ctx->list[i] = piece[i % len];
	KUNIT_EXPECT_LT(test, my_parse_interval(ctx->list, &ms, &ctx->why), 0);
	expect_guards(test);
	expect_one_line(test);
}

static void switch_understood(struct kunit *test)
{
	struct parse_context *ctx = test->priv;
	bool on = false;

	KUNIT_EXPECT_EQ(test, my_parse_switch("1", &on, &ctx->why), 0);
	KUNIT_EXPECT_TRUE(test, on);
	KUNIT_EXPECT_EQ(test, my_parse_switch("0", &on, &ctx->why), 0);
	KUNIT_EXPECT_FALSE(test, on);
	expect_no_words(test);
}

#define ONE_OR_NONE		"0 or 1 is needed"
#define SWITCH_UNPRINTABLE	\
	"blanks, control characters or non-ASCII; " ONE_OR_NONE

static const struct refused refused_switches[] = {
	{ "empty", "", "''; " ONE_OR_NONE },
	{ "2", "2", "'2'; " ONE_OR_NONE },
	{ "01", "01", "'01'; " ONE_OR_NONE },
	{ "10", "10", "'10'; " ONE_OR_NONE },
	{ "-1", "-1", "'-1'; " ONE_OR_NONE },
	{ "word", "yes", "'yes'; " ONE_OR_NONE },
	{ "conversions", "%s%n", "'%s%n'; " ONE_OR_NONE },
	{ "41 characters", ZEROS_40 "1", "'" ZEROS_40 "...'; " ONE_OR_NONE },
	{ "newline at the end", "1\n", SWITCH_UNPRINTABLE },
	{ "blank", " ", SWITCH_UNPRINTABLE },
};

KUNIT_ARRAY_PARAM(refused_switches, refused_switches, describe_refused);

static void switch_refused(struct kunit *test)
{
	const struct refused *row = test->param_value;
	struct parse_context *ctx = test->priv;
	bool on;

	expect_refusal(test, my_parse_switch(row->text, &on, &ctx->why), -EINVAL,
		       row->why);
}

static struct kunit_case parse_cases[] = {
	KUNIT_CASE(switch_understood),
	KUNIT_CASE_PARAM(switch_refused, refused_switches_gen_params),
	KUNIT_CASE_PARAM(events_one, one_event_gen_params),
	KUNIT_CASE(events_every_counter),
	KUNIT_CASE(events_caches),
	KUNIT_CASE(events_caches_doubled),
	KUNIT_CASE_PARAM(events_list, event_list_gen_params),
	KUNIT_CASE(events_as_many_as_fit),
	KUNIT_CASE(events_one_too_many),
	KUNIT_CASE(events_one_too_many_for_room),
	KUNIT_CASE_PARAM(events_refused, refused_events_gen_params),
	KUNIT_CASE_PARAM(events_a_page_full, piece_gen_params),
	KUNIT_CASE_PARAM(interval_understood, interval_gen_params),
	KUNIT_CASE_PARAM(interval_refused, refused_intervals_gen_params),
	KUNIT_CASE_PARAM(interval_a_page_full, piece_gen_params),
	{}
};

static struct kunit_suite parse_suite = {
	.name = "my_pmu_parse",
	.init = parse_init,
	.test_cases = parse_cases,
};

kunit_test_suites(&parse_suite);
