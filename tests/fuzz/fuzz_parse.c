// SPDX-License-Identifier: GPL-2.0
/*
 * The fuzzer's target: the parameters' parser, pmu_parse.c and pmu_encode.c as they
 * are, on the host.  Each input is taken for a list of events and for an interval.
 *
 * What must come of it is said here once more, from docs/events.md:
 * an event and its words are what regular expressions match, and its numbers are
 * read off the text with the C library.
 *
 * With FUZZ_REPLAY there is a main() that takes files, one input in each;
 * without, libFuzzer has it.
 */
#include <errno.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pmu_encode.h"
#include "pmu_ops.h"
#include "pmu_parse.h"
#include "pmu_why.h"

#define LIST_MAX	4096
#define EVENT_MAX	143	/* with the counters */
#define NAME_MAX_LEN	95	/* without */
#define QUOTED_MAX	40	/* of what is too long */

/*
 * An event as it looks; what its words and terms are is asked later.  Slashes, and
 * what is between them, first, for what is there may look like all the rest.
 */
#define SLASHED		"([^,{}/:@]*)/([^/]*)/:?([^,{}/@]*)"
#define PLAIN		"([^,{}/:@]*)(:([^,{}/@]*))?"
#define COUNTERS	"(@([^,{}/]*))?"

#define NUMBER		"(0x[0-9a-fA-F]+|[0-9]+)"
#define CACHE \
	"(L1-dcache|l1-d|l1d|L1-data|L1-icache|l1-i|l1i|L1-instruction|LLC|L2|dTLB|d-tlb|Data-TLB|iTLB|i-tlb|Instruction-TLB|branch|branches|bpu|btb|bpc|node)"
#define CACHE_WORD \
	"(loads?|read|stores?|write|prefetch(es)?|speculative-(read|load)|refs|Reference|ops|access|miss(es)?)"
#define RAW		"r[0-9a-fA-F]+"
#define WORD		"[-A-Za-z_.:*?][-A-Za-z0-9_.:*?]*"
#define ONE_COUNTER	"(gp|fixed)0*([12]?[0-9]|3[01])"
#define PIECE		ONE_COUNTER "(-0*([12]?[0-9]|3[01]))?"

/* Intel SDM, "Predefined Architectural Performance Events"; perf's numbers. */
static const struct {
	const char *name;
	u8 umask;
	u8 event;
	u8 perf_type;
	u16 perf_config;
} codes[] = {
	{ "arch-lbr-inserts", 0x01, 0xe4, 4, 0x1e4 },
	{ "arch-topdown-bad-spec", 0x00, 0x73, 4, 0x73 },
	{ "arch-topdown-be-bound", 0x02, 0xa4, 4, 0x2a4 },
	{ "arch-topdown-fe-bound", 0x01, 0x9c, 4, 0x19c },
	{ "arch-topdown-retiring", 0x02, 0xc2, 4, 0x2c2 },
	{ "arch-topdown-slots", 0x01, 0xa4, 4, 0x1a4 },
	{ "branch-instructions", 0x00, 0xc4, 0, 4 },
	{ "branch-misses", 0x00, 0xc5, 0, 5 },
	{ "branches", 0x00, 0xc4, 0, 4 },
	{ "bus-cycles", 0x01, 0x3c, 0, 6 },
	{ "cache-misses", 0x41, 0x2e, 0, 3 },
	{ "cache-references", 0x4f, 0x2e, 0, 2 },
	{ "cpu-cycles", 0x00, 0x3c, 0, 0 },
	{ "cycles", 0x00, 0x3c, 0, 0 },
	{ "idle-cycles-backend", 0, 0, 0, 8 },
	{ "idle-cycles-frontend", 0, 0, 0, 7 },
	{ "instructions", 0x00, 0xc0, 0, 1 },
	{ "ref-cycles", 0x03, 0x00, 0, 9 },
	{ "stalled-cycles-backend", 0, 0, 0, 8 },
	{ "stalled-cycles-frontend", 0, 0, 0, 7 },
};

/* perf's files in /sys/bus/event_source/devices/cpu/events, of all CPUs. */
static const char *const in_sysfs[] = {
	"cycles-ct", "cycles-t", "el-abort", "el-capacity", "el-capacity-read",
	"el-capacity-write", "el-commit", "el-conflict", "el-start", "mem-loads",
	"mem-loads-aux", "mem-stores", "slots", "topdown-bad-spec",
	"topdown-be-bound", "topdown-br-mispredict", "topdown-fe-bound",
	"topdown-fetch-bubbles", "topdown-fetch-lat", "topdown-heavy-ops",
	"topdown-mem-bound", "topdown-recovery-bubbles", "topdown-retiring",
	"topdown-slots-issued", "topdown-slots-retired", "topdown-total-slots",
	"tx-abort", "tx-capacity", "tx-capacity-read", "tx-capacity-write",
	"tx-commit", "tx-conflict", "tx-start",
};

/* What must come of a list. */
struct expected {
	int ret;
	unsigned int nr;	/* events before the one that is refused */
	const char *refused;	/* which begins here; NULL: anywhere in braces */
	struct my_perf_event_attr attr[MY_PMC_MAX];
};

/* What the parser writes to, between guards. */
struct room {
	char before[64];
	struct my_perf_event_attr attr[MY_PMC_MAX];
	char between[64];
	struct my_pmu_why why;
	char behind[64];
};

#define expect(cond) \
	do { \
		if (!(cond)) \
			broken(#cond, __func__); \
	} while (0)

static void __noreturn broken(const char *what, const char *where)
{
	fprintf(stderr, "fuzz_parse: %s: this does not hold: %s\n", where, what);
	abort();
}

/* --- what must come of it -------------------------------------------------- */

/* Each pattern is compiled once. */
struct pattern {
	const char *text;
	int flags;
	bool ready;
	regex_t regex;
};

#define PATTERN(_text)	{ .text = "^(" _text ")$", .flags = REG_EXTENDED }

static bool matches(struct pattern *pattern, const char *text,
		    regmatch_t *match, size_t nr)
{
	if (!pattern->ready)
		expect(!regcomp(&pattern->regex, pattern->text, pattern->flags));
	pattern->ready = true;
	return !regexec(&pattern->regex, text, nr, match, 0);
}

/* A copy of what a part of a pattern has matched; "" if it has not. */
static char *part_of(char *to, const char *text, const regmatch_t *match)
{
	size_t len = match->rm_so < 0 ? 0 : match->rm_eo - match->rm_so;

	if (len)
		memcpy(to, text + match->rm_so, len);
	to[len] = '\0';
	return to;
}

/* Up to 64 bits; in hexadecimal with or without 0x if the base is 16. */
static bool number(const char *text, int base, u64 max, u64 *val)
{
	errno = 0;
	*val = strtoull(text, NULL, base);
	return !errno && *val <= max;
}

static bool c_number(const char *text, u64 max, u64 *val)
{
	static struct pattern pattern = PATTERN(NUMBER);

	return matches(&pattern, text, NULL, 0) &&
	       number(text, strncmp(text, "0x", 2) ? 10 : 16, max, val);
}

static bool set_named(const char *name, bool any_case,
		      struct my_perf_event_attr *attr)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(codes); i++) {
		if (any_case ? strcasecmp(name, codes[i].name) :
			       strcmp(name, codes[i].name))
			continue;
		attr->config = codes[i].umask << 8 | codes[i].event;
		attr->perf_type = codes[i].perf_type;
		attr->perf_config = codes[i].perf_config;
		attr->named = true;
		return true;
	}
	for (i = 0; i < ARRAY_SIZE(in_sysfs); i++) {
		if (any_case ? strcasecmp(name, in_sysfs[i]) :
			       strcmp(name, in_sysfs[i]))
			continue;
		attr->perf_type = MY_TYPE_SYSFS;
		attr->perf_config = i;
		attr->named = true;
		return true;
	}
	return false;
}

/* Patterns of a dozen of literals, which are compiled once, too. */
static bool begins(const char *text, const char *words)
{
	static struct pattern patterns[24];
	struct pattern *pattern = patterns;

	while (pattern->text && strcmp(pattern->text, words))
		pattern++;
	expect(pattern + 1 < patterns + ARRAY_SIZE(patterns));
	pattern->text = words;
	pattern->flags = REG_EXTENDED;
	return matches(pattern, text, NULL, 0);
}

/* perf: type | operation << 8 | result << 16; tools/perf/util/evsel.c */
static bool set_cache(const char *text, struct my_perf_event_attr *attr)
{
	static struct pattern whole = PATTERN(CACHE "(-" CACHE_WORD ")?(-" CACHE_WORD ")?");
	static const char *const types[] = {
		"^(L1-d|l1-?d)", "^(L1-i|l1-?i)", "^L[L2]", "^([dD])", "^[iI]",
		"^b", "^n",
	};
	regmatch_t match[7];
	u64 type = 0, op = 9, result = 9;
	int i;

	if (!matches(&whole, text, match, 7))
		return false;
	for (i = 0; i < (int)ARRAY_SIZE(types); i++) {
		if (begins(text, types[i]))
			type = i;
	}
	for (i = match[2].rm_eo; text[i]; i += strcspn(text + i, "-")) {
		const char *word = text + ++i;
		u64 is_op = begins(word, "^(load|read)") ? 0 :
			    begins(word, "^(store|write)") ? 1 :
			    begins(word, "^(prefetch|speculative)") ? 2 : 9;

		if (is_op < 9 && op == 9)
			op = is_op;
		if (is_op == 9 && result == 9)
			result = begins(word, "^miss") ? 1 : 0;
		if (begins(word, "^speculative-"))
			i += strlen("speculative-");
	}
	op = op == 9 ? 0 : op;
	result = result == 9 ? 0 : result;
	if ((type == 1 && op == 1) || ((type == 4 || type == 5) && op))
		return false;
	attr->named = true;
	attr->perf_type = 3;
	attr->perf_config = type | op << 8 | result << 16;
	return true;
}

/* Of an event select: event and umask, each in two pieces; edge, inv, cmask and eq. */
#define WHAT_MASK	0xff0f0000ffffUL
#define HOW_MASK	0x10ff840000UL

static bool set_raw(u64 config, struct my_perf_event_attr *attr)
{
	if (config & 1 << 21)
		return false;
	if (attr->named) {
		attr->added = config & ~0xffdf0000UL;
		attr->config |= config & HOW_MASK;
	} else {
		attr->config = config & (WHAT_MASK | HOW_MASK);
		attr->perf_type = 4;
		attr->perf_config = config;
	}
	return true;
}

static bool set_number(const char *text, struct my_perf_event_attr *attr)
{
	static struct pattern raw = PATTERN(RAW);
	u64 config;

	return matches(&raw, text, NULL, 0) &&
	       number(text + 1, 16, ~0UL, &config) && set_raw(config, attr);
}

/* What has been said between slashes. */
struct said {
	bool cpu;		/* the terms say what the event is */
	unsigned int keys;	/* by their place */
	bool event;		/* event=, config= or rNNN */
	u64 config;
	u64 config1;
};

static const struct {
	const char *key;
	/* -1: it means nothing, -2: nor is it a number, -3: the period, -4: of config1 */
	int shift;
	u64 max;
} keys[] = {
	{ "event", 0, 0xfff }, { "umask", 8, 0xffff }, { "config", 0, ~0UL },
	{ "edge", 18, 1 }, { "pc", 19, 1 }, { "any", 21, 1 }, { "inv", 23, 1 },
	{ "cmask", 24, 0xff }, { "period", -3, 0x7fffffff }, { "percore", -1, 1 },
	{ "name", -2, 0 }, { "metric-id", -2, 0 }, { "eq", 36, 1 },
	{ "config1", -4, ~0UL }, { "offcore_rsp", -4, ~0UL }, { "frontend", -4, 0xffffff },
};

static bool say_key(size_t i, const char *value, struct said *said,
		    struct my_perf_event_attr *attr)
{
	static struct pattern word = PATTERN(WORD);
	bool encodes = i < 3;
	u64 val = 1;

	if (said->keys & 1 << i || ((keys[i].shift >= 0 || keys[i].shift == -4) && !said->cpu))
		return false;
	if (i == 0 && value && !attr->named &&
	    set_named(value, true, attr))
		return true;
	if (keys[i].shift == -2) {
		if (!value || !matches(&word, value, NULL, 0))
			return false;
	} else if (value ? !c_number(value, keys[i].max, &val) :
			   keys[i].max != 1) {
		return false;
	}
	if (keys[i].shift == -3) {
		if (val < 100)
			return false;
		attr->period = val;
	}
	if (keys[i].shift == -4)
		said->config1 |= val;
	said->keys |= 1 << i;
	said->event |= encodes && i != 1;
	if (i <= 1)
		val = val % 256 + (val / 256 << 32);
	if (keys[i].shift >= 0)
		said->config |= val << keys[i].shift;
	return true;
}

static bool say_word(const char *text, struct said *said,
		     struct my_perf_event_attr *attr)
{
	static struct pattern raw = PATTERN("r(0x)?[0-9a-fA-F]+");
	u64 config;

	if (!said->cpu)
		return false;
	if (!attr->named && set_named(text, true, attr))
		return true;
	if (said->keys & 1 << 2 || !matches(&raw, text, NULL, 0) ||
	    !number(text + 1, 16, ~0UL, &config))
		return false;
	said->keys |= 1 << 2;
	said->event = true;
	said->config |= config;
	return true;
}

static bool say_term(char *text, struct said *said,
		     struct my_perf_event_attr *attr)
{
	char *value = strchr(text, '=');
	size_t i;

	if (value)
		*value++ = '\0';
	for (i = 0; i < ARRAY_SIZE(keys); i++) {
		if (!strcmp(text, keys[i].key))
			return say_key(i, value, said, attr);
	}
	return !value && say_word(text, said, attr);
}

static bool set_terms(char *terms, bool cpu, struct my_perf_event_attr *attr)
{
	struct said said = { .cpu = cpu };
	char *next = terms;

	if (!cpu && !*terms)
		return true;
	while (next) {
		terms = strsep(&next, ",");
		if (!say_term(terms, &said, attr))
			return false;
	}
	if (!cpu)
		return true;
	attr->extra.config = said.config1;
	return (attr->named || said.event) && set_raw(said.config, attr);
}

/* A set of counters, by id; false if it is none. */
static bool set_counters(char *text, struct my_perf_event_attr *attr)
{
	static struct pattern piece = PATTERN(PIECE);
	bool range = false, more = strchr(text, '+');
	regmatch_t match[6];
	char digits[EVENT_MAX + 1];
	char *next;

	do {
		int first, last, i;

		next = strchr(text, '+');
		if (next)
			*next++ = '\0';
		if (!matches(&piece, text, match, 6))
			return false;
		first = strtol(part_of(digits, text, &match[3]), NULL, 10);
		range = match[4].rm_so >= 0;
		last = range ? strtol(part_of(digits, text, &match[5]), NULL, 10) :
			       first;
		if (last < first)
			return false;
		for (i = first; i <= last; i++) {
			u64 bit = 1UL << i << (text[0] == 'f' ? 32 : 0);

			if (attr->allowed & bit)
				return false;
			attr->allowed |= bit;
		}
		attr->constraint = first + (text[0] == 'f' ? 32 : 0);
		text = next;
	} while (next);
	if (more || range)
		attr->constraint = -1;
	else
		attr->allowed = 0;
	return true;
}

/* perf's exclude_user, exclude_kernel and exclude_hv, in this order. */
struct privilege {
	bool not[3];
	bool said;
	bool pinned;
};

static bool add_modifiers(const char *text, struct privilege *p)
{
	static const char letters[] = "ukh";
	const char *m;

	if (!*text || text[strspn(text, "ukhD")])
		return false;
	for (m = text; *m; m++) {
		const char *letter = strchr(letters, *m);

		if (strchr(m + 1, *m))
			return false;
		p->pinned |= *m == 'D';
		if (!letter)
			continue;
		if (!p->not[0] && !p->not[1] && !p->not[2])
			memset(p->not, true, sizeof(p->not));
		p->not[letter - letters] = false;
		p->said = true;
	}
	return true;
}

static bool set_privilege(const char *own, const char *group,
			  struct my_perf_event_attr *attr)
{
	struct privilege p = {};
	size_t end = strlen(attr->name);

	if (own && !add_modifiers(own, &p))
		return false;
	if (*group && !add_modifiers(group, &p))
		return false;
	attr->exclude_user = p.not[0];
	attr->exclude_kernel = p.not[1];
	attr->pinned = p.pinned;
	if (*group && p.said)
		sprintf(attr->name + end, "%s%s%s",
			end && attr->name[end - 1] == '/' ? "" : ":",
			p.not[0] ? "" : "u", p.not[1] ? "" : "k");
	return !p.not[0] || !p.not[1];
}

/* One event, all of the text. */
static bool set_attr(const char *text, const char *group,
		     struct my_perf_event_attr *attr)
{
	static struct pattern slashed = PATTERN(SLASHED COUNTERS);
	static struct pattern plain = PATTERN(PLAIN COUNTERS);
	char what[EVENT_MAX + 1], terms[EVENT_MAX + 1] = "";
	char modifiers[EVENT_MAX + 1], counters[EVENT_MAX + 1];
	bool slashes, has_modifiers, cpu;
	regmatch_t match[7];
	size_t len, own = 0;

	memset(attr, 0, sizeof(*attr));
	attr->constraint = -1;
	if (strlen(text) > EVENT_MAX)
		return false;
	slashes = matches(&slashed, text, match, 7);
	if (!slashes && !matches(&plain, text, match, 7))
		return false;
	part_of(what, text, &match[2]);
	if (slashes)
		part_of(terms, text, &match[3]);
	part_of(modifiers, text, &match[4]);
	part_of(counters, text, &match[6]);
	if (match[5].rm_so >= 0 && !set_counters(counters, attr))
		return false;
	/* a colon, and nothing behind it, is wrong */
	len = match[5].rm_so >= 0 ? match[5].rm_so : (regoff_t)strlen(text);
	own = slashes ? (size_t)match[3].rm_eo + 1 : strlen(what);
	has_modifiers = len > own;
	if (*group)
		len = own;
	if (len > NAME_MAX_LEN - (*group ? 3 : 0))
		return false;
	memcpy(attr->name, text, len);
	cpu = slashes && !strcmp(what, "cpu");
	if (!cpu && !set_named(what, false, attr) && !set_cache(what, attr) &&
	    !set_number(what, attr))
		return false;
	if (slashes && !set_terms(terms, cpu, attr))
		return false;
	return set_privilege(has_modifiers ? modifiers : NULL, group, attr);
}

/* Up to a comma or a brace that is not between slashes. */
static size_t event_len(const char *list)
{
	size_t len = 0, slash;

	for (;;) {
		len += strcspn(list + len, "/,{}");
		if (list[len] != '/')
			return len;
		slash = strcspn(list + len + 1, "/");
		len += 1 + slash;
		if (!list[len])
			return len;
		len++;
	}
}

static bool set_one(const char *list, size_t len, const char *group,
		    struct my_perf_event_attr *attr)
{
	char text[LIST_MAX + 1];

	memcpy(text, list, len);
	text[len] = '\0';
	return len && set_attr(text, group, attr);
}

/* The modifiers behind a group's brace; NULL if there is none, or something else. */
static const char *group_modifiers(const char *list, char *modifiers)
{
	const char *p = list;
	size_t len;

	do {
		p++;
		p += event_len(p);
	} while (*p == ',');
	if (*p != '}')
		return NULL;
	p++;
	modifiers[0] = '\0';
	if (!*p || *p == ',')
		return p;
	len = strcspn(p, ",");
	if (*p != ':' || len == 1 || len > 16)
		return NULL;
	memcpy(modifiers, p + 1, len - 1);
	modifiers[len - 1] = '\0';
	return p + len;
}

/* Returns what is behind the group, or NULL if it is refused. */
static const char *set_group(const char *list, unsigned int number,
			     unsigned int max, struct expected *want)
{
	unsigned int first = want->nr;
	char modifiers[LIST_MAX + 1];
	const char *end = group_modifiers(list, modifiers);

	if (!end)
		return NULL;
	do {
		struct my_perf_event_attr *attr = &want->attr[want->nr];
		size_t len = event_len(++list);

		if (want->nr == max || !set_one(list, len, modifiers, attr))
			return NULL;
		attr->group = number;
		if (attr->pinned && !want->attr[first].pinned)
			return NULL;
		attr->pinned = want->attr[first].pinned;
		want->nr++;
		list += len;
	} while (*list == ',');
	return end;
}

/* Of more than ASCII nothing is looked at. */
static bool is_ascii(const char *text)
{
	for (; *text; text++) {
		if (*text <= ' ' || *text > '~')
			return false;
	}
	return true;
}

static void set_expected(const char *list, unsigned int max,
			 struct expected *want)
{
	unsigned int number = 0, nr;
	size_t len;

	want->nr = 0;
	want->refused = list;
	want->ret = -EINVAL;
	if (!is_ascii(list))
		return;
	for (;; number++) {
		nr = want->nr;
		want->refused = list;
		if (*list == '{') {
			list = set_group(list, number, max, want);
			if (!list) {
				want->nr = nr;
				want->refused = NULL;
				return;
			}
		} else {
			len = event_len(list);
			want->ret = nr == max ? -ENOSPC : -EINVAL;
			if (nr == max || (list[len] && list[len] != ',') ||
			    !set_one(list, len, "", &want->attr[nr]))
				return;
			want->attr[nr].group = number;
			want->nr++;
			list += len;
		}
		want->ret = -EINVAL;
		if (!*list)
			break;
		list++;
	}
	want->ret = want->nr;
	want->refused = NULL;
}

static int expected_interval(const char *text, unsigned int *ms)
{
	unsigned long long val;

	if (!*text || text[strspn(text, "0123456789")])
		return -EINVAL;
	val = strtoull(text, NULL, 10);	/* or the greatest there is */
	*ms = val;
	if (val > 0xffffffff)
		return -ERANGE;
	return val ? 0 : -EINVAL;
}

/* --- what came of it ------------------------------------------------------- */

static void expect_untouched(const void *start, size_t len, char fill)
{
	const char *bytes = start;

	/* each is what the one before it is */
	expect(!len || (*bytes == fill && !memcmp(bytes, bytes + 1, len - 1)));
}

static void expect_guards(const struct room *room, char fill)
{
	expect_untouched(room->before, sizeof(room->before), fill);
	expect_untouched(room->between, sizeof(room->between), fill);
	expect_untouched(room->behind, sizeof(room->behind), fill);
}

/*
 * One line of printable ASCII, all of it, about what was refused: that, or its
 * beginning, stands between the first quotes, if there are any.
 */
static void expect_reason(const struct my_pmu_why *why, const char *refused)
{
	size_t len = strnlen(why->text, sizeof(why->text));
	size_t i;

	/* one that fills its room may have been cut */
	expect(len > 0 && len < sizeof(why->text) - 1);
	for (i = 0; i < len; i++)
		expect(why->text[i] >= ' ' && why->text[i] <= '~');
	if (why->text[0] != '\'' || !refused)
		return;
	for (i = 0; refused[i] && why->text[i + 1] == refused[i];)
		i++;
	expect(why->text[i + 1] == '\'' ||
	       (i >= QUOTED_MAX &&
		!strncmp(&why->text[QUOTED_MAX + 1], "...'", 4)));
}

static void expect_same(const struct my_perf_event_attr *attr,
			const struct my_perf_event_attr *want)
{
	expect(memchr(attr->name, '\0', sizeof(attr->name)));
	expect(!strcmp(attr->name, want->name));
	expect(attr->config == want->config);
	expect(attr->named == want->named);
	expect(attr->exclude_user == want->exclude_user);
	expect(attr->exclude_kernel == want->exclude_kernel);
	expect(!attr->exclude_user || !attr->exclude_kernel);
	expect(attr->perf_type == want->perf_type);
	expect(attr->period == want->period);
	expect(attr->extra.config == want->extra.config);
	if (want->perf_type == MY_TYPE_SYSFS)
		expect(!strcmp(my_sysfs_name(attr), in_sysfs[want->perf_config]));
	else
		expect(attr->perf_config == want->perf_config);
	expect(attr->added == want->added);
	expect(!attr->confirmed);
	expect(!attr->optional);
	expect(attr->allowed == want->allowed);
	expect(attr->pinned == want->pinned);
	expect(attr->group == want->group);
	expect(attr->constraint == want->constraint);
	expect(!attr->allowed || attr->constraint == MY_PMC_ANY);
	expect(attr->constraint == MY_PMC_ANY ||
	       (attr->constraint >= 0 && attr->constraint < MY_PMC_MAX));
}

/*
 * Of a refusal only this: what is known and cannot be had has another errno, and
 * which of a group's events is the first that is wrong is not asked.
 */
static void expect_result(const char *list, int ret, const struct expected *want)
{
	static const char *const known[] = {
		"in_tx", "ldlat", "snoop_rsp", "config2",
	};
	bool is_known = false;
	size_t i;

	if (ret == want->ret)
		return;
	expect(want->ret < 0);
	for (i = 0; i < ARRAY_SIZE(known); i++) {
		if (strstr(list, known[i]))
			is_known = true;
	}
	expect((ret == -EOPNOTSUPP && is_known) ||
	       (!want->refused && (ret == -EINVAL || ret == -ENOSPC)));
}

/* Nothing depends on what was in the room before. */
static void check_list(const char *list, unsigned int max, char fill,
		       const struct expected *want)
{
	static struct room room;
	unsigned int i, touched = want->nr;
	int ret;

	memset(&room, fill, sizeof(room));
	ret = my_parse_events(list, room.attr, max, &room.why);
	expect_result(list, ret, want);
	for (i = 0; i < want->nr; i++)
		expect_same(&room.attr[i], &want->attr[i]);
	if (ret == -EINVAL || ret == -EOPNOTSUPP)
		touched++;	/* half of one */
	if (ret < 0 && !want->refused)
		touched = max;	/* some of a group */
	expect_untouched(&room.attr[touched],
			 (MY_PMC_MAX - touched) * sizeof(room.attr[0]), fill);
	if (ret < 0)
		expect_reason(&room.why, want->refused);
	else
		expect_untouched(&room.why, sizeof(room.why), fill);
	expect_guards(&room, fill);
}

/* "@gp2", or each counter of a set for itself. */
static size_t write_counters(char *to, size_t size,
			     const struct my_perf_event_attr *attr)
{
	u64 set = attr->constraint == MY_PMC_ANY ? attr->allowed : BIT_ULL(attr->constraint);
	const char *sep = "@";
	size_t len = 0;
	int i;

	for (i = 0; i < MY_PMC_MAX; i++) {
		if (!(set & BIT_ULL(i)))
			continue;
		len += snprintf(to + len, size - len, "%s%s%d", sep,
				my_pmc_kind(i), my_pmc_number(i));
		sep = "+";
	}
	/* A set of one counter is a range. */
	if (attr->allowed && !(set & (set - 1)))
		len += snprintf(to + len, size - len, "-%d",
				my_pmc_number(__builtin_ctzl(set)));
	return len;
}

/* Those of a group that has D not from its first event have canonical names. */
static bool is_pinned_by_group(const struct my_perf_event_attr *attr)
{
	const char *slash = strrchr(attr->name, '/');
	const char *modifiers = slash ? slash : strchr(attr->name, ':');

	return attr->pinned && !(modifiers && strchr(modifiers, 'D'));
}

/* What was understood, written again, is understood as before. */
static void check_round_trip(const struct expected *want)
{
	static char list[64 * LIST_MAX];
	unsigned int i, first = 0;
	size_t len = 0;

	for (i = 0; i < want->nr; i++) {
		const struct my_perf_event_attr *attr = &want->attr[i];
		size_t size = sizeof(list) - len;
		char counters[LIST_MAX] = "";

		if (!i || attr->group != attr[-1].group)
			first = i;
		write_counters(counters, sizeof(counters), attr);
		/* As many single counters are no event any more. */
		if (strlen(attr->name) + strlen(counters) > EVENT_MAX)
			return;
		len += snprintf(list + len, size, "%s%s%s%s", i ? "," : "",
				first == i ? "{" : "", attr->name, counters);
		size = sizeof(list) - len;
		if (i + 1 == want->nr || attr->group != attr[1].group)
			len += snprintf(list + len, size, "}%s",
					is_pinned_by_group(&want->attr[first]) ?
					":D" : "");
	}
	check_list(list, want->nr, 0x33, want);
}

static void check_events(const char *list, unsigned int max)
{
	static struct expected want;

	set_expected(list, max, &want);
	check_list(list, max, 0x5a, &want);
	check_list(list, max, 0xa5, &want);
	if (want.ret > 0)
		check_round_trip(&want);
}

static void check_interval(const char *text, char fill)
{
	struct {
		char before[64];
		unsigned int ms;
		char behind[64];
	} number;
	static struct room room;
	unsigned int want_ms = 0;
	int want = expected_interval(text, &want_ms);
	int ret;

	memset(&number, fill, sizeof(number));
	memset(&room, fill, sizeof(room));
	ret = my_parse_interval(text, &number.ms, &room.why);
	expect(ret == want);
	if (ret)
		expect_reason(&room.why, text);
	else
		expect_untouched(&room.why, sizeof(room.why), fill);
	expect(ret || number.ms == want_ms);
	expect_untouched(number.before, sizeof(number.before), fill);
	expect_untouched(number.behind, sizeof(number.behind), fill);
	expect_guards(&room, fill);
}

/* --- inputs ---------------------------------------------------------------- */

/* The name that libFuzzer looks for is none of the kernel's style. */
int fuzz_parse(const char *data, size_t size) asm("LLVMFuzzerTestOneInput");

/*
 * A C string of its own size, so that the sanitizer knows where it ends.  There
 * is room for as many events as a CPU may have, and for few.
 */
int fuzz_parse(const char *data, size_t size)
{
	size_t len = strnlen(data, size < LIST_MAX ? size : LIST_MAX);
	char *text = malloc(len + 1);

	expect(text);
	memcpy(text, data, len);
	text[len] = '\0';
	check_events(text, MY_PMC_MAX);
	check_events(text, len % 4);
	check_interval(text, 0x5a);
	check_interval(text, 0xa5);
	expect(!memcmp(text, data, len) && !text[len]);
	free(text);
	return 0;
}

#ifdef FUZZ_REPLAY
static void replay(const char *name)
{
	static char data[LIST_MAX];
	FILE *file = fopen(name, "r");
	size_t size;

	expect(file);
	size = fread(data, 1, sizeof(data), file);
	expect(!ferror(file));
	fclose(file);
	fprintf(stderr, "fuzz_parse: reading %s\n", name);
	fuzz_parse(data, size);
}

int main(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++)
		replay(argv[i]);
	return 0;
}
#endif
