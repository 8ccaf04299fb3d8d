// SPDX-License-Identifier: GPL-2.0
/*
 * The words of the parameters.
 *
 *	list	:= event { "," event }
 *	event	:= what [ [":"] modifiers ] [ "@" counter ]
 *	what	:= name | "r" hex | "cpu/" term { "," term } "/"
 *	term	:= ( "event" | "umask" ) "=" number
 *	modifiers := "u" | "k" | "uk" | "ku"
 *	counter	:= ( "gp" | "fixed" ) decimal
 *
 * It is perf's syntax but for the pin to a counter.  After a name the
 * modifiers need their colon; after a slash perf takes them without.
 */
#include <linux/ctype.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "pmu_event.h"
#include "pmu_parse.h"
#include "pmu_why.h"

/* The name, its modifiers and the pin. */
#define EVENT_TEXT_LEN		(MY_EVENT_NAME_LEN + 16)

#define PMU_PREFIX		"cpu/"
#define DIGITS			"0123456789"
#define HEX_DIGITS		DIGITS "abcdefABCDEF"

struct event_name {
	const char *name;
	u8 event;
	u8 umask;
};

/*
 * perf's names (tools/perf/util/parse-events.c) for the events of CPUID leaf
 * 0AH and of the fixed counters.  ref-cycles is the fixed counter that runs
 * at the TSC's rate, bus-cycles the event select 3CH, 01H.
 */
static const struct event_name event_names[] = {
	{ "instructions",		0xc0, 0x00 },
	{ "cycles",			0x3c, 0x00 },
	{ "cpu-cycles",			0x3c, 0x00 },
	{ "ref-cycles",			0x00, 0x03 },
	{ "bus-cycles",			0x3c, 0x01 },
	{ "cache-references",		0x2e, 0x4f },
	{ "cache-misses",		0x2e, 0x41 },
	{ "branches",			0xc4, 0x00 },
	{ "branch-instructions",	0xc4, 0x00 },
	{ "branch-misses",		0xc5, 0x00 },
};

#define EVENTS_ACCEPTED \
	"instructions, cycles (cpu-cycles), ref-cycles, bus-cycles, cache-references, cache-misses, branches (branch-instructions), branch-misses, rUUEE, cpu/event=,umask=/"

/* "0x" and hexadecimal, or decimal, as perf has it; never octal. */
static int parse_u8(const char *text, u8 *val)
{
	if (!isdigit(text[0]))
		return -EINVAL;
	return kstrtou8(text, str_has_prefix(text, "0x") ? 16 : 10, val);
}

static int parse_pin(const char *text, const char *whole, int *pin,
		     struct my_pmu_why *why)
{
	unsigned int number;
	const char *digits;
	int base;

	if (str_has_prefix(text, "gp")) {
		digits = text + strlen("gp");
		base = 0;
	} else if (str_has_prefix(text, "fixed")) {
		digits = text + strlen("fixed");
		base = INTEL_PMC_IDX_FIXED;
	} else {
		goto refuse;
	}
	if (!isdigit(digits[0]) || kstrtouint(digits, 10, &number) ||
	    number >= INTEL_PMC_IDX_FIXED)
		goto refuse;
	*pin = base + number;
	return 0;

refuse:
	return my_refuse(why, -EINVAL,
			 "'%s': '@%s' is no counter; @gpN and @fixedN are, N from 0 to 31",
			 whole, text);
}

static int parse_modifiers(const char *text, const char *whole,
			   struct my_perf_event_attr *attr,
			   struct my_pmu_why *why)
{
	bool user = false, kernel = false;
	const char *p;

	for (p = text; *p; p++) {
		bool *seen = *p == 'u' ? &user : *p == 'k' ? &kernel : NULL;

		if (!seen || *seen)
			goto refuse;
		*seen = true;
	}
	if (p == text)
		goto refuse;
	attr->exclude_user = !user;
	attr->exclude_kernel = !kernel;
	return 0;

refuse:
	return my_refuse(why, -EINVAL,
			 "'%s': modifiers '%s'; u (user), k (kernel) or both, each once, are known",
			 whole, text);
}

/* What is between the slashes of cpu/.../ . */
static int parse_terms(char *terms, const char *whole,
		       struct my_perf_event_attr *attr,
		       struct my_pmu_why *why)
{
	bool event = false, umask = false;
	char *term;

	while ((term = strsep(&terms, ","))) {
		char *number = strchr(term, '=');
		bool *seen = NULL;
		u8 val;

		if (number)
			*number++ = '\0';
		if (!strcmp(term, "event"))
			seen = &event;
		else if (!strcmp(term, "umask"))
			seen = &umask;
		if (!seen || *seen)
			return my_refuse(why, -EINVAL,
					 "'%s': term '%s'; event= and umask=, each once, are known",
					 whole, term);
		if (!number || parse_u8(number, &val))
			return my_refuse(why, -EINVAL,
					 "'%s': %s=%s; a number from 0 to 0xff is needed",
					 whole, term, number ?: "");
		*seen = true;
		if (seen == &event)
			attr->event = val;
		else
			attr->umask = val;
	}
	if (!event)
		return my_refuse(why, -EINVAL,
				 "'%s': event= is missing between the slashes",
				 whole);
	return 0;
}

/* True if text is rUUEE; not every word with an r is. */
static bool parse_raw(const char *text, struct my_perf_event_attr *attr)
{
	u16 raw;

	if (text[0] != 'r' || text[1 + strspn(text + 1, HEX_DIGITS)] ||
	    kstrtou16(text + 1, 16, &raw))
		return false;
	attr->event = raw & 0xff; /* r0000c0 is rc0, as for perf */
	attr->umask = raw >> 8;
	return true;
}

static bool parse_name(const char *text, struct my_perf_event_attr *attr)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(event_names); i++) {
		if (strcmp(text, event_names[i].name))
			continue;
		attr->event = event_names[i].event;
		attr->umask = event_names[i].umask;
		attr->named = true;
		return true;
	}
	return false;
}

static int parse_what(char *text, const char *whole,
		      struct my_perf_event_attr *attr, struct my_pmu_why *why)
{
	if (parse_name(text, attr) || parse_raw(text, attr))
		return 0;
	return my_refuse(why, -EINVAL,
			 "'%s': no event '%s'; known are %s",
			 whole, text, EVENTS_ACCEPTED);
}

static int parse_pmu(char *text, const char *whole,
		     struct my_perf_event_attr *attr, struct my_pmu_why *why)
{
	char *end = strchr(text, '/');
	char *modifiers;
	int err;

	if (!end)
		return my_refuse(why, -EINVAL,
				 "'%s': the second slash of cpu/.../ is missing",
				 whole);
	*end = '\0';
	modifiers = end + 1;
	err = parse_terms(text, whole, attr, why);
	if (err || !*modifiers)
		return err;
	if (*modifiers == ':')
		modifiers++;
	return parse_modifiers(modifiers, whole, attr, why);
}

static int parse_named(char *text, const char *whole,
		       struct my_perf_event_attr *attr, struct my_pmu_why *why)
{
	char *modifiers = strchr(text, ':');
	int err;

	if (modifiers)
		*modifiers++ = '\0';
	err = parse_what(text, whole, attr, why);
	if (err || !modifiers)
		return err;
	return parse_modifiers(modifiers, whole, attr, why);
}

/*
 * kstrto*() take a newline at the end, and a log line must stay one.  To
 * isgraph() Latin-1 is printable, too, and so are pieces of UTF-8.
 */
static bool is_printable(const char *text, size_t len)
{
	while (len--) {
		if (!isascii(text[len]) || !isgraph(text[len]))
			return false;
	}
	return true;
}

/* It makes one event of all that follows. */
static bool slash_is_missing(const char *text, size_t len)
{
	bool missing = false;

	while (len--)
		missing ^= text[len] == '/';
	return missing;
}

static int parse_event(const char *start, size_t len,
		       struct my_perf_event_attr *attr, struct my_pmu_why *why)
{
	char text[EVENT_TEXT_LEN], whole[EVENT_TEXT_LEN];
	char *pin;
	int err;

	if (!len)
		return my_refuse(why, -EINVAL,
				 "an event is missing; known are %s",
				 EVENTS_ACCEPTED);
	if (!is_printable(start, len))
		return my_refuse(why, -EINVAL,
				 "blanks, control characters and non-ASCII are in no event; known are %s",
				 EVENTS_ACCEPTED);
	if (len >= sizeof(text))
		return my_refuse(why, -EINVAL,
				 "'%.40s...': longer than the %zu characters of any event%s",
				 start, sizeof(text) - 1,
				 slash_is_missing(start, len) ?
				 "; a slash is missing" : "");
	memcpy(text, start, len);
	text[len] = '\0';
	strscpy(whole, text, sizeof(whole));
	*attr = (struct my_perf_event_attr) { .pin = MY_PMC_ANY };

	pin = strchr(text, '@');
	if (pin) {
		*pin++ = '\0';
		err = parse_pin(pin, whole, &attr->pin, why);
		if (err)
			return err;
	}
	if (strscpy(attr->name, text, sizeof(attr->name)) < 0)
		return my_refuse(why, -EINVAL,
				 "'%s': longer than %zu characters without its pin",
				 whole, sizeof(attr->name) - 1);
	if (str_has_prefix(text, PMU_PREFIX))
		return parse_pmu(text + strlen(PMU_PREFIX), whole, attr, why);
	return parse_named(text, whole, attr, why);
}

/* A comma ends an event unless it is between slashes. */
static size_t event_len(const char *list)
{
	bool slashes = false;
	const char *p;

	for (p = list; *p && (slashes || *p != ','); p++) {
		if (*p == '/')
			slashes = !slashes;
	}
	return p - list;
}

/**
 * my_parse_events() - the events of the parameter "counters"
 * @list: the parameter
 * @attr: filled in, in the list's order
 * @max: room in @attr
 * @why: if refused, the piece that is wrong and what would be right
 *
 * Context: any; pure.
 * Return: how many there are, or -EINVAL; -ENOSPC if more than @max.
 */
int my_parse_events(const char *list, struct my_perf_event_attr *attr,
		    unsigned int max, struct my_pmu_why *why)
{
	unsigned int nr = 0;

	for (;;) {
		size_t len = event_len(list);
		int err;

		if (nr == max)
			return my_refuse(why, -ENOSPC,
					 "more than %u events; no CPU has as many counters",
					 max);
		err = parse_event(list, len, &attr[nr], why);
		if (err)
			return err;
		nr++;
		if (!list[len])
			return nr;
		list += len + 1;
	}
}

/**
 * my_parse_interval() - the parameter "interval"
 * @text: the parameter
 * @ms: milliseconds, at least 1
 * @why: if refused, the reason
 *
 * Context: any; pure.
 * Return: 0; -EINVAL, or -ERANGE if no counter could be read so seldom.
 */
int my_parse_interval(const char *text, unsigned int *ms,
		      struct my_pmu_why *why)
{
	const char *rest = text + strspn(text, DIGITS);
	const char *dots = strlen(text) > 40 ? "..." : "";
	int err;

	if (!is_printable(text, strlen(text)))
		return my_refuse(why, -EINVAL,
				 "blanks, control characters or non-ASCII; whole milliseconds from 1 on are needed");
	/* kstrtouint() looks no further than to where a number is too large. */
	err = *rest ? -EINVAL : kstrtouint(text, 10, ms);
	if (err == -ERANGE)
		return my_refuse(why, err,
				 "'%.40s%s': so long that any counter could wrap unseen",
				 text, dots);
	if (err || !*ms)
		return my_refuse(why, -EINVAL,
				 "'%.40s%s'; whole milliseconds from 1 on are needed",
				 text, dots);
	return 0;
}
