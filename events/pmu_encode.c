// SPDX-License-Identifier: GPL-2.0
/*
 * What an event is: from its name, number or terms to its encoding.
 *
 *	what	:= word [ "/" [ term { "," term } ] "/" ] | "cpu/" terms "/"
 *	word	:= name | cache { "-" ( operation | result ) } | "r" hex
 *	term	:= field [ "=" number ] | name | "event=" name | "r" hex
 *
 * It is perf's syntax (tools/perf/util/parse-events.[ly]), with perf's tables and
 * its rules where it is lenient, so that what perf takes means the same here.
 * Which encoding a name stands for depends on the CPU, and perf is asked for it
 * later (pmu_names.c); here are only those that the architecture defines.
 */
#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/ctype.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>
#include <linux/string.h>

#include "pmu_encode.h"
#include "pmu_ops.h"
#include "pmu_why.h"

/* --- names ------------------------------------------------------------------ */

struct event_name {
	const char *name;
	u32 type;
	u64 config;
	u64 code;
};

enum term_kind {
	TERM_FIELD,	/* of the config */
	TERM_EXTRA,	/* of the extra register; all up to here make the event */
	TERM_PERIOD,	/* how often it interrupts; it means nothing to the config */
	TERM_NUMBER,	/* nor does this */
	TERM_TEXT,	/* likewise */
	TERM_REFUSED,
};

/**
 * struct term - a term that is known
 * @name: before its "="
 * @kind: what it is for
 * @shift: of a field: where it is in the config
 * @max: the largest value
 * @upper: of a field in two pieces: where those above its low 8 bits are
 * @refusal: why it is refused
 */
struct term {
	const char *name;
	enum term_kind kind;
	u8 shift;
	u64 max;
	u8 upper;
	const char *refusal;
};

/* Names, terms and the fields of a config are the architecture's. */
#include "pmu_terms.h"

static void set_name(const struct event_name *name,
		     struct my_perf_event_attr *attr)
{
	attr->named = true;
	attr->perf_type = name->type;
	attr->perf_config = name->config;
	attr->config = name->code;
}

static void set_sysfs_name(unsigned int i, struct my_perf_event_attr *attr)
{
	attr->named = true;
	attr->perf_type = MY_TYPE_SYSFS;
	attr->perf_config = i;
}

static const struct event_name *find_name(const char *text)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(event_names); i++) {
		if (!strcasecmp(text, event_names[i].name))
			return &event_names[i];
	}
	for (i = 0; i < ARRAY_SIZE(other_names); i++) {
		if (!strcasecmp(text, other_names[i].name))
			return &other_names[i];
	}
	return NULL;
}

/* perf takes any case between the slashes only, where names are file names. */
static bool encode_name(const char *text, bool any_case, struct my_perf_event_attr *attr)
{
	const struct event_name *name = find_name(text);
	const char *p;
	size_t i;

	for (p = text; *p && !any_case; p++) {
		if (*p >= 'A' && *p <= 'Z')
			return false;
	}
	if (name) {
		set_name(name, attr);
		return true;
	}
	for (i = 0; i < ARRAY_SIZE(sysfs_names); i++) {
		if (strcasecmp(text, sysfs_names[i]))
			continue;
		set_sysfs_name(i, attr);
		return true;
	}
	return false;
}

/* --- caches ------------------------------------------------------------------ */

struct cache_word {
	const char *word;
	u8 val;
};

/* perf's words for caches, operations and results (tools/perf/util/evsel.c). */
static const struct cache_word caches[] = {
	{ "L1-dcache",		PERF_COUNT_HW_CACHE_L1D },
	{ "l1-d",		PERF_COUNT_HW_CACHE_L1D },
	{ "l1d",		PERF_COUNT_HW_CACHE_L1D },
	{ "L1-data",		PERF_COUNT_HW_CACHE_L1D },
	{ "L1-icache",		PERF_COUNT_HW_CACHE_L1I },
	{ "l1-i",		PERF_COUNT_HW_CACHE_L1I },
	{ "l1i",		PERF_COUNT_HW_CACHE_L1I },
	{ "L1-instruction",	PERF_COUNT_HW_CACHE_L1I },
	{ "LLC",		PERF_COUNT_HW_CACHE_LL },
	{ "L2",			PERF_COUNT_HW_CACHE_LL },
	{ "dTLB",		PERF_COUNT_HW_CACHE_DTLB },
	{ "d-tlb",		PERF_COUNT_HW_CACHE_DTLB },
	{ "Data-TLB",		PERF_COUNT_HW_CACHE_DTLB },
	{ "iTLB",		PERF_COUNT_HW_CACHE_ITLB },
	{ "i-tlb",		PERF_COUNT_HW_CACHE_ITLB },
	{ "Instruction-TLB",	PERF_COUNT_HW_CACHE_ITLB },
	{ "branch",		PERF_COUNT_HW_CACHE_BPU },
	{ "branches",		PERF_COUNT_HW_CACHE_BPU },
	{ "bpu",		PERF_COUNT_HW_CACHE_BPU },
	{ "btb",		PERF_COUNT_HW_CACHE_BPU },
	{ "bpc",		PERF_COUNT_HW_CACHE_BPU },
	{ "node",		PERF_COUNT_HW_CACHE_NODE },
};

static const struct cache_word operations[] = {
	{ "load",		PERF_COUNT_HW_CACHE_OP_READ },
	{ "loads",		PERF_COUNT_HW_CACHE_OP_READ },
	{ "read",		PERF_COUNT_HW_CACHE_OP_READ },
	{ "store",		PERF_COUNT_HW_CACHE_OP_WRITE },
	{ "stores",		PERF_COUNT_HW_CACHE_OP_WRITE },
	{ "write",		PERF_COUNT_HW_CACHE_OP_WRITE },
	{ "prefetch",		PERF_COUNT_HW_CACHE_OP_PREFETCH },
	{ "prefetches",		PERF_COUNT_HW_CACHE_OP_PREFETCH },
	{ "speculative-read",	PERF_COUNT_HW_CACHE_OP_PREFETCH },
	{ "speculative-load",	PERF_COUNT_HW_CACHE_OP_PREFETCH },
};

static const struct cache_word results[] = {
	{ "refs",		PERF_COUNT_HW_CACHE_RESULT_ACCESS },
	{ "Reference",		PERF_COUNT_HW_CACHE_RESULT_ACCESS },
	{ "ops",		PERF_COUNT_HW_CACHE_RESULT_ACCESS },
	{ "access",		PERF_COUNT_HW_CACHE_RESULT_ACCESS },
	{ "misses",		PERF_COUNT_HW_CACHE_RESULT_MISS },
	{ "miss",		PERF_COUNT_HW_CACHE_RESULT_MISS },
};

#define OP_READ		BIT(PERF_COUNT_HW_CACHE_OP_READ)
#define OP_WRITE	BIT(PERF_COUNT_HW_CACHE_OP_WRITE)
#define OP_PREFETCH	BIT(PERF_COUNT_HW_CACHE_OP_PREFETCH)

/* What perf takes: its evsel__is_cache_op_valid(); and the name that it prints. */
static const struct cache {
	const char *name;
	u8 operations;
} cache_of[PERF_COUNT_HW_CACHE_MAX] = {
	[PERF_COUNT_HW_CACHE_L1D] = {
		"L1-dcache", OP_READ | OP_WRITE | OP_PREFETCH },
	[PERF_COUNT_HW_CACHE_L1I] = {
		"L1-icache", OP_READ | OP_PREFETCH },
	[PERF_COUNT_HW_CACHE_LL] = {
		"LLC", OP_READ | OP_WRITE | OP_PREFETCH },
	[PERF_COUNT_HW_CACHE_DTLB] = {
		"dTLB", OP_READ | OP_WRITE | OP_PREFETCH },
	[PERF_COUNT_HW_CACHE_ITLB] = { "iTLB", OP_READ },
	[PERF_COUNT_HW_CACHE_BPU] = { "branch", OP_READ },
	[PERF_COUNT_HW_CACHE_NODE] = {
		"node", OP_READ | OP_WRITE | OP_PREFETCH },
};

/* As perf prints them: alone, and before "-misses". */
static const struct {
	const char *alone;
	const char *missing;
} operation_of[PERF_COUNT_HW_CACHE_OP_MAX] = {
	[PERF_COUNT_HW_CACHE_OP_READ] = { "loads", "load" },
	[PERF_COUNT_HW_CACHE_OP_WRITE] = { "stores", "store" },
	[PERF_COUNT_HW_CACHE_OP_PREFETCH] = { "prefetches", "prefetch" },
};

#define CACHE_NAMES	(PERF_COUNT_HW_CACHE_MAX *			\
			 PERF_COUNT_HW_CACHE_OP_MAX *			\
			 PERF_COUNT_HW_CACHE_RESULT_MAX)

static_assert(ARRAY_SIZE(event_names) + ARRAY_SIZE(sysfs_names) + CACHE_NAMES ==
	      MY_KNOWN_EVENTS);

static u64 cache_config(unsigned int cache, unsigned int operation,
			unsigned int result)
{
	return cache | operation << 8 | result << 16;
}

/* Takes a word, and the hyphen that is between it and the next; -1 if none fits. */
static int take_word(const char **text, const struct cache_word *words, size_t nr)
{
	size_t i, len;

	for (i = 0; i < nr; i++) {
		len = str_has_prefix(*text, words[i].word);
		if (!len || ((*text)[len] && (*text)[len] != '-'))
			continue;
		if ((*text)[len] && !(*text)[len + 1])
			continue;	/* a hyphen, and nothing behind it */
		*text += len + ((*text)[len] ? 1 : 0);
		return words[i].val;
	}
	return -1;
}

/*
 * Operation and result in any order, or one of them, or none: as perf does, it
 * is reads, and accesses, unless said otherwise, and a second word of a kind is
 * not looked at.
 */
static bool encode_cache(const char *text, struct my_perf_event_attr *attr)
{
	int cache = take_word(&text, caches, ARRAY_SIZE(caches));
	int operation = -1, result = -1, words, val;

	if (cache < 0)
		return false;
	for (words = 0; *text; words++) {
		val = take_word(&text, operations, ARRAY_SIZE(operations));
		if (val >= 0 && operation < 0)
			operation = val;
		if (val >= 0)
			continue;
		val = take_word(&text, results, ARRAY_SIZE(results));
		if (val < 0)
			return false;
		if (result < 0)
			result = val;
	}
	if (operation < 0)
		operation = PERF_COUNT_HW_CACHE_OP_READ;
	if (result < 0)
		result = PERF_COUNT_HW_CACHE_RESULT_ACCESS;
	if (words > 2 || !(cache_of[cache].operations & BIT(operation)))
		return false;
	attr->named = true;
	attr->perf_type = PERF_TYPE_HW_CACHE;
	attr->perf_config = cache_config(cache, operation, result);
	return true;
}

/* --- numbers ------------------------------------------------------------------- */

/* "0x" and hexadecimal, or decimal, as perf has it; never octal. */
static bool parse_number(const char *text, u64 max, u64 *val)
{
	return isdigit(text[0]) &&
	       !kstrtou64(text, str_has_prefix(text, "0x") ? 16 : 10, val) &&
	       *val <= max;
}

/* rNNN; not every word with an r is. */
static bool parse_raw(const char *text, u64 *config)
{
	return text[0] == 'r' && isxdigit(text[1]) &&
	       strncmp(text + 1, "0x", 2) && strncmp(text + 1, "0X", 2) &&
	       !kstrtou64(text + 1, 16, config);
}

/*
 * Bits that are no part of an event are dropped, as perf does; among them is pin
 * control.  The bits of some CPUs only are seen when perf is asked; whether a CPU has
 * UMASK2 and EQ the back end knows.
 */
static int encode_raw(u64 config, const char *whole,
		      struct my_perf_event_attr *attr, struct my_pmu_why *why)
{
	if (config & CONFIG_REFUSED)
		return my_refuse(why, -EINVAL, "'%s': " CONFIG_REFUSAL, whole);
	if (attr->named) {
		attr->added = config & (MY_CONFIG_CODE | MY_CONFIG_EQ | MY_CONFIG_OTHERS);
		attr->config |= config & MY_CONFIG_MODIFIERS;
		return 0;
	}
	my_add_config(config, attr);
	attr->perf_type = PERF_TYPE_RAW;
	attr->perf_config = config;
	return 0;
}

/* --- terms ----------------------------------------------------------------------- */

/**
 * struct term_list - what has been seen between the slashes
 * @config: as perf puts it together
 * @config1: likewise
 * @seen: terms, by their place in the table
 * @own: the terms may say what the event is
 */
struct term_list {
	u64 config;
	u64 config1;
	u32 seen;
	bool own;
};

static int find_term(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(terms_known); i++) {
		if (!strcmp(name, terms_known[i].name))
			return i;
	}
	return -1;
}

static int refuse_term(const char *whole, const char *term,
		       struct my_pmu_why *why)
{
	return my_refuse(why, -EINVAL, "'%s': term '%s'; %s", whole, term,
			 TERMS_ACCEPTED);
}

/* A name, if there is none yet; numbers may stand beside it, and are added. */
static bool add_name(const struct term_list *list, const char *name,
		     struct my_perf_event_attr *attr)
{
	return list->own && !attr->named && encode_name(name, true, attr);
}

/* An event of its own between the slashes: a name, or rNNN. */
static int add_word(struct term_list *list, const char *word, const char *whole,
		    struct my_perf_event_attr *attr, struct my_pmu_why *why)
{
	u64 config;

	if (add_name(list, word, attr))
		return 0;
	if (!list->own || list->seen & SEEN_CONFIG)
		return refuse_term(whole, word, why);
	/* There, and only there, perf takes r0xNNN, too. */
	if (!parse_raw(word, &config) &&
	    (!str_has_prefix(word, "r0x") || kstrtou64(word + 1, 16, &config)))
		return refuse_term(whole, word, why);
	list->config |= config;
	list->seen |= SEEN_CONFIG;
	return 0;
}

static bool is_text(const char *text)
{
	const char *p;

	for (p = text; *p; p++) {
		if (!isalnum(*p) && !strchr("-_.:*?", *p))
			return false;
	}
	return p > text && !isdigit(text[0]);
}

/* A term without a number is 1, if it has room for no more. */
static bool parse_value(const struct term *term, const char *text, u64 *val)
{
	*val = 1;
	if (term->kind == TERM_TEXT)
		return text && is_text(text);
	if (!text)
		return term->max == 1;
	return parse_number(text, term->max, val) &&
	       *val >= (term->kind == TERM_PERIOD ? MY_PERIOD_MIN : 0);
}

static int refuse_value(const struct term *term, const char *text,
			const char *whole, struct my_pmu_why *why)
{
	if (term->kind == TERM_TEXT)
		return my_refuse(why, -EINVAL, "'%s': %s=%s; a word is needed",
				 whole, term->name, text ?: "");
	if (term->kind == TERM_PERIOD)
		return my_refuse(why, -EINVAL, "'%s': %s=%s; a number from %u to %u is needed",
				 whole, term->name, text ?: "", MY_PERIOD_MIN, MY_PERIOD_MAX);
	return my_refuse(why, -EINVAL,
			 "'%s': %s=%s; a number from 0 to %#llx is needed",
			 whole, term->name, text ?: "",
			 (unsigned long long)term->max);
}

static int add_term(struct term_list *list, char *text, const char *whole,
		    struct my_perf_event_attr *attr, struct my_pmu_why *why)
{
	char *value = strchr(text, '=');
	const struct term *term;
	int i;
	u64 val;

	if (value)
		*value++ = '\0';
	i = find_term(text);
	if (i < 0 && !value)
		return add_word(list, text, whole, attr, why);
	if (i < 0 || list->seen & BIT(i))
		return refuse_term(whole, text, why);
	term = &terms_known[i];
	if (term->kind == TERM_REFUSED)
		return my_refuse(why, -EOPNOTSUPP, "'%s': %s: %s", whole,
				 term->name, term->refusal);
	if (term->kind <= TERM_EXTRA && !list->own)
		return refuse_term(whole, text, why);
	if (BIT(i) & SEEN_EVENT && value && add_name(list, value, attr))
		return 0;
	if (!parse_value(term, value, &val))
		return refuse_value(term, value, whole, why);
	list->seen |= BIT(i);
	if (term->kind == TERM_FIELD && term->upper)
		list->config |= (val & 0xff) << term->shift | val >> 8 << term->upper;
	else if (term->kind == TERM_FIELD)
		list->config |= val << term->shift;
	if (term->kind == TERM_EXTRA)
		list->config1 |= val;
	if (term->kind == TERM_PERIOD)
		attr->period = val;
	return 0;
}

/* What is between the slashes. */
static int parse_terms(struct term_list *list, char *terms, const char *whole,
		       struct my_perf_event_attr *attr, struct my_pmu_why *why)
{
	char *term;
	int err;

	while ((term = strsep(&terms, ","))) {
		err = add_term(list, term, whole, attr, why);
		if (err)
			return err;
	}
	return 0;
}

static int encode_terms(char *terms, const char *whole,
			struct my_perf_event_attr *attr, struct my_pmu_why *why)
{
	struct term_list list = { .own = true };
	int err;

	err = parse_terms(&list, terms, whole, attr, why);
	if (err)
		return err;
	if (!attr->named && !(list.seen & (SEEN_EVENT | SEEN_CONFIG)))
		return my_refuse(why, -EINVAL,
				 "'%s': event= is missing between the slashes",
				 whole);
	attr->extra.config = list.config1;
	return encode_raw(list.config, whole, attr, why);
}

/**
 * my_encode_event() - what an event is
 * @what: a word; or what stands before the slashes
 * @terms: what stands between them, NULL if there are none; it is taken apart
 * @whole: the event as it was written, for messages
 * @attr: the fields of the encoding are filled in; all of it was 0
 * @why: if refused, the piece that is wrong and what would be right
 *
 * Context: any; pure.
 * Return: 0; -EINVAL; -EOPNOTSUPP for what is known and cannot be programmed.
 */
int my_encode_event(const char *what, char *terms, const char *whole,
		    struct my_perf_event_attr *attr, struct my_pmu_why *why)
{
	struct term_list list = {};
	int err = 0;
	u64 config;

	if (terms && !strcmp(what, "cpu"))
		return encode_terms(terms, whole, attr, why);
	if (parse_raw(what, &config))
		err = encode_raw(config, whole, attr, why);
	else if (!encode_name(what, false, attr) && !encode_cache(what, attr))
		err = my_refuse(why, -EINVAL, "'%s': no event '%s'; %s", whole,
				what, MY_EVENTS_ACCEPTED);
	if (err || !terms || !*terms)
		return err;
	return parse_terms(&list, terms, whole, attr, why);
}

/**
 * my_encode_sysfs() - what a name of sysfs stands for
 * @terms: what perf has there, "event=0xcd,umask=0x2"; it is taken apart
 * @whole: what it is, for messages
 * @config: the raw event
 * @why: if refused, the piece that cannot be programmed
 *
 * Context: any; pure.
 * Return: 0 or -EOPNOTSUPP.
 */
int my_encode_sysfs(char *terms, const char *whole, u64 *config,
		    struct my_pmu_why *why)
{
	struct my_perf_event_attr raw = {};

	if (encode_terms(strim(terms), whole, &raw, why))
		return -EOPNOTSUPP;
	if (raw.named || raw.extra.config)
		return my_refuse(why, -EOPNOTSUPP,
				 "'%s': it is more than an event select", whole);
	*config = raw.perf_config;
	return 0;
}

/**
 * my_sysfs_name() - how perf calls an event that it knows by a name in sysfs alone
 * @attr: the event
 *
 * Context: any; pure.
 * Return: the name, or NULL for other events.
 */
const char *my_sysfs_name(const struct my_perf_event_attr *attr)
{
	return attr->perf_type == MY_TYPE_SYSFS ?
	       sysfs_names[attr->perf_config] : NULL;
}

static bool known_cache(unsigned int n, struct my_perf_event_attr *attr)
{
	unsigned int result = n % PERF_COUNT_HW_CACHE_RESULT_MAX;
	unsigned int operation = n / PERF_COUNT_HW_CACHE_RESULT_MAX %
				 PERF_COUNT_HW_CACHE_OP_MAX;
	unsigned int cache = n / PERF_COUNT_HW_CACHE_RESULT_MAX /
			     PERF_COUNT_HW_CACHE_OP_MAX;

	if (!(cache_of[cache].operations & BIT(operation)))
		return false;
	attr->named = true;
	attr->perf_type = PERF_TYPE_HW_CACHE;
	attr->perf_config = cache_config(cache, operation, result);
	if (result == PERF_COUNT_HW_CACHE_RESULT_MISS)
		snprintf(attr->name, sizeof(attr->name), "%s-%s-misses",
			 cache_of[cache].name, operation_of[operation].missing);
	else
		snprintf(attr->name, sizeof(attr->name), "%s-%s",
			 cache_of[cache].name, operation_of[operation].alone);
	return true;
}

/**
 * my_known_event() - all events that have names, one after the other
 * @n: which, from 0 to MY_KNOWN_EVENTS - 1
 * @attr: filled in, with the name that perf prints
 *
 * Context: any; pure.
 * Return: false if there is none at this place.
 */
bool my_known_event(unsigned int n, struct my_perf_event_attr *attr)
{
	*attr = (struct my_perf_event_attr) { .constraint = MY_PMC_ANY };
	if (n < ARRAY_SIZE(event_names)) {
		set_name(&event_names[n], attr);
		strscpy(attr->name, event_names[n].name, sizeof(attr->name));
		return true;
	}
	n -= ARRAY_SIZE(event_names);
	if (n >= ARRAY_SIZE(sysfs_names))
		return known_cache(n - ARRAY_SIZE(sysfs_names), attr);
	set_sysfs_name(n, attr);
	strscpy(attr->name, sysfs_names[n], sizeof(attr->name));
	return true;
}
