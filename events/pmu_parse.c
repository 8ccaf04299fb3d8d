// SPDX-License-Identifier: GPL-2.0
/*
 * The words of the parameters.
 *
 *	list	:= item { "," item }
 *	item	:= event | "{" event { "," event } "}" [ ":" modifiers ]
 *	event	:= what [ [":"] modifiers ] [ "@" counters ]
 *	counters := piece { "+" piece }
 *	piece	:= ( "gp" | "fixed" ) decimal [ "-" decimal ]
 *	modifiers := { "u" | "k" | "h" | "D" }, each at most once
 *
 * It is perf's syntax, except for the counters.  What an event may be is in pmu_encode.c.
 * After a name the modifiers need their colon; after a slash perf takes them
 * without.
 */
#include <linux/bits.h>
#include <linux/ctype.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "pmu_encode.h"
#include "pmu_ops.h"
#include "pmu_parse.h"
#include "pmu_why.h"

/* The name, its modifiers and its counters. */
#define EVENT_TEXT_LEN		(MY_EVENT_NAME_LEN + 48)

/* All that there are, each once, are fewer. */
#define MODIFIERS_LEN		16

#define DIGITS			"0123456789"

/* --- counters ------------------------------------------------------------------ */

/* A counter id; its number ends where digits do. */
static bool parse_number(const char **text, unsigned int *number)
{
	char digits[EVENT_TEXT_LEN];
	size_t len = strspn(*text, DIGITS);

	memcpy(digits, *text, len);
	digits[len] = '\0';
	*text += len;
	return len && !kstrtouint(digits, 10, number) &&
	       *number < MY_PMC_IDX_FIXED;
}

/* One piece; the first and the last counter, by id. */
static bool parse_piece(const char **text, unsigned int *first,
			unsigned int *last, bool *range)
{
	unsigned int base = 0;

	if (str_has_prefix(*text, "gp")) {
		*text += strlen("gp");
	} else if (str_has_prefix(*text, "fixed")) {
		*text += strlen("fixed");
		base = MY_PMC_IDX_FIXED;
	} else {
		return false;
	}
	if (!parse_number(text, first))
		return false;
	*last = *first;
	*range = **text == '-';
	if (*range) {
		++*text;
		if (!parse_number(text, last))
			return false;
	}
	*first += base;
	*last += base;
	return !**text || **text == '+';
}

/* One counter is a pin; more of them, or a range, are those that are allowed. */
static int parse_counters(const char *text, const char *whole,
			  struct my_perf_event_attr *attr,
			  struct my_pmu_why *why)
{
	unsigned int first, last, pieces = 0;
	const char *p = text;
	bool range;

	do {
		u64 set;

		p += pieces++ ? 1 : 0;
		if (!parse_piece(&p, &first, &last, &range))
			return my_refuse(why, -EINVAL,
					 "'%s': '@%s' is no counter; @gpN and @fixedN are, N from 0 to 31, and sets like @gp0-3+fixed1",
					 whole, text);
		if (first > last)
			return my_refuse(why, -EINVAL,
					 "'%s': '@%s': a range goes from the lower counter to the higher",
					 whole, text);
		set = GENMASK_ULL(last, first);
		if (attr->allowed & set)
			return my_refuse(why, -EINVAL,
					 "'%s': '@%s': a counter is there twice",
					 whole, text);
		attr->allowed |= set;
	} while (*p);
	if (pieces > 1 || range)
		return 0;
	attr->allowed = 0;
	attr->constraint = first;
	return 0;
}

/* --- modifiers ----------------------------------------------------------------- */

/**
 * struct modifiers - as perf has them, get_event_modifier() in its parse-events.c
 * @exclude_user: u is not there, and k or h is
 * @exclude_kernel: k is not there, and u or h is
 * @exclude_hv: h is not there, and u or k is; no register knows it
 * @pinned: D is there
 * @privilege: u, k or h is
 */
struct modifiers {
	bool exclude_user;
	bool exclude_kernel;
	bool exclude_hv;
	bool pinned;
	bool privilege;
};

struct refused_modifier {
	char letter;
	const char *reason;
};

static const struct refused_modifier refused_modifiers[] = {
	{ 'p', "p (precise) needs samples by PEBS, which are not taken" },
	{ 'P', "P (most precise) needs samples by PEBS, which are not taken" },
	{ 'S', "S (read the group at a sample): each record has the counts of the group" },
	{ 'H', "H (host) needs counters that stop in guests; they count in both" },
	{ 'G', "G (guest) needs counters that stop in the host; they count in both" },
	{ 'I', "I (not in idle): no PMU can tell; halted CPUs have no cycles" },
	{ 'W', "W (weak group): a group is never taken apart" },
	{ 'e', "e (exclusive): while the module is loaded nobody else has the PMU" },
	{ 'b', "b (counted by BPF): there is no BPF in it" },
	{ 'R', "R (retry on another PMU): there is no other" },
	{ 'X', "X (not regrouped): nothing ever is" },
};

static const char *reason_against(char letter)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(refused_modifiers); i++) {
		if (refused_modifiers[i].letter == letter)
			return refused_modifiers[i].reason;
	}
	return NULL;
}

static void set_modifier(struct modifiers *m, char letter)
{
	bool *exclude = letter == 'u' ? &m->exclude_user :
			letter == 'k' ? &m->exclude_kernel :
			letter == 'h' ? &m->exclude_hv : NULL;

	if (letter == 'D')
		m->pinned = true;
	if (!exclude)
		return;
	/* The first says that the others are not wanted. */
	if (!m->exclude_user && !m->exclude_kernel && !m->exclude_hv) {
		m->exclude_user = true;
		m->exclude_kernel = true;
		m->exclude_hv = true;
	}
	*exclude = false;
	m->privilege = true;
}

/* Adds to what is there already: an event's own, when a group's are parsed. */
static int parse_modifiers(const char *text, const char *whole,
			   struct modifiers *m, struct my_pmu_why *why)
{
	const char *p;

	if (!*text)
		goto refuse;
	for (p = text; *p; p++) {
		const char *reason = reason_against(*p);

		if (reason)
			return my_refuse(why, -EINVAL,
					 "'%s': modifier %s", whole, reason);
		if (!strchr("ukhD", *p) || strchr(p + 1, *p))
			goto refuse;
		set_modifier(m, *p);
	}
	return 0;

refuse:
	return my_refuse(why, -EINVAL,
			 "'%s': modifiers '%s'; u (user), k (kernel), h (hypervisor) and D (always on a counter), each once, are known",
			 whole, text);
}

/**
 * struct group - the braces around an event
 * @number: of the group
 * @modifiers: behind them, for all that is in them; "" if there are none
 * @pinned: D is among them, or its first event has it
 * @braces: there are any
 * @members: events that were parsed
 */
struct group {
	unsigned int number;
	char modifiers[MODIFIERS_LEN];
	bool pinned;
	bool braces;
	unsigned int members;
};

/* "", ":u", ":k" or ":uk"; after a slash without the colon. */
static void canonical(char *to, size_t size, const struct modifiers *m, bool slash)
{
	scnprintf(to, size, "%s%s%s", m->privilege && !slash ? ":" : "",
		  m->privilege && !m->exclude_user ? "u" : "",
		  m->privilege && !m->exclude_kernel ? "k" : "");
}

/* The modifiers that there are, the event's and then its group's. */
static int set_modifiers(const char *own, struct group *group, const char *whole,
			 struct my_perf_event_attr *attr, struct my_pmu_why *why)
{
	size_t end = strlen(attr->name);
	struct modifiers m = {};
	int err = 0;

	if (own)
		err = parse_modifiers(own, whole, &m, why);
	if (!err && group->modifiers[0])
		err = parse_modifiers(group->modifiers, whole, &m, why);
	if (err)
		return err;
	if (!group->members)
		group->pinned = m.pinned;
	/* perf's kernel side refuses it likewise. */
	if (m.pinned && !group->pinned)
		return my_refuse(why, -EINVAL,
				 "'%s': modifier D in a group stands at its first event, or behind its brace",
				 whole);
	if (m.exclude_user && m.exclude_kernel)
		return my_refuse(why, -EINVAL,
				 "'%s': modifier h (hypervisor) alone: no counter can tell it from the kernel",
				 whole);
	attr->exclude_user = m.exclude_user;
	attr->exclude_kernel = m.exclude_kernel;
	attr->pinned = group->pinned;
	if (group->modifiers[0])
		canonical(attr->name + end, sizeof(attr->name) - end, &m,
			  attr->name[end - 1] == '/');
	return 0;
}

/* --- events --------------------------------------------------------------------- */

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

/**
 * struct pieces - an event, taken apart
 * @what: its name, number or the PMU's name
 * @terms: what is between its slashes, or NULL
 * @modifiers: or NULL
 */
struct pieces {
	char *what;
	char *terms;
	char *modifiers;
};

static struct pieces take_apart(char *text)
{
	struct pieces pieces = { .what = strsep(&text, ":") };

	if (strchr(pieces.what, '/')) {
		/* A colon belongs to a term unless it is behind the slashes. */
		if (text)
			text[-1] = ':';
		text = pieces.what;
		strsep(&text, "/");
		pieces.terms = strsep(&text, "/");
		/* There are two slashes: slash_is_missing() has counted them. */
		if (*text == ':')
			text++;
		else if (!*text)
			text = NULL;
	}
	pieces.modifiers = text;
	return pieces;
}

/* What is printed before the counter: all, or all but modifiers that will follow. */
static int set_name(const char *text, const struct pieces *pieces,
		    const struct group *group, const char *whole, struct my_perf_event_attr *attr,
		    struct my_pmu_why *why)
{
	size_t len = strlen(text), room = sizeof(attr->name) - 1;

	if (group->modifiers[0]) {
		room -= strlen(":uk");
		if (pieces->modifiers)
			len = pieces->modifiers - pieces->what;
		if (pieces->modifiers && text[len - 1] == ':')
			len--;
	}
	if (len > room)
		return my_refuse(why, -EINVAL,
				 "'%s': longer than %zu characters without its counter",
				 whole, room);
	memcpy(attr->name, text, len);
	attr->name[len] = '\0';
	return 0;
}

static int parse_event(const char *start, size_t len, struct group *group,
		       struct my_perf_event_attr *attr, struct my_pmu_why *why)
{
	char text[EVENT_TEXT_LEN], whole[EVENT_TEXT_LEN], name[EVENT_TEXT_LEN];
	struct pieces pieces;
	char *counters;
	int err;

	if (!len)
		return my_refuse(why, -EINVAL, "an event is missing; %s",
				 MY_EVENTS_ACCEPTED);
	if (len >= sizeof(text))
		return my_refuse(why, -EINVAL,
				 "'%.40s...': longer than the %zu characters of any event%s",
				 start, sizeof(text) - 1,
				 slash_is_missing(start, len) ?
				 "; a slash is missing" : "");
	memcpy(text, start, len);
	text[len] = '\0';
	strscpy(whole, text, sizeof(whole));
	if (slash_is_missing(start, len))
		return my_refuse(why, -EINVAL,
				 "'%s': the second slash is missing", whole);
	*attr = (struct my_perf_event_attr) {
		.constraint = MY_PMC_ANY,
		.group = group->number,
	};
	counters = strchr(text, '@');
	if (counters) {
		*counters++ = '\0';
		err = parse_counters(counters, whole, attr, why);
		if (err)
			return err;
	}
	strscpy(name, text, sizeof(name));
	pieces = take_apart(text);
	err = set_name(name, &pieces, group, whole, attr, why);
	if (!err)
		err = my_encode_event(pieces.what, pieces.terms, whole, attr, why);
	if (!err)
		err = set_modifiers(pieces.modifiers, group, whole, attr, why);
	if (!err)
		group->members++;
	return err;
}

/* --- lists and groups -------------------------------------------------------------- */

/* A comma or a brace ends an event unless it is between slashes. */
static size_t event_len(const char *list)
{
	bool slashes = false;
	const char *p;

	for (p = list; *p && (slashes || !strchr(",{}", *p)); p++) {
		if (*p == '/')
			slashes = !slashes;
	}
	return p - list;
}

/**
 * struct event_list - the parameter, and what has come of it
 * @rest: what is still to be parsed
 * @attr: the events
 * @max: room for them
 * @nr: how many there are
 * @why: if refused, the reason
 */
struct event_list {
	const char *rest;
	struct my_perf_event_attr *attr;
	unsigned int max;
	unsigned int nr;
	struct my_pmu_why *why;
};

/* The beginning of what is quoted; it may be long. */
#define QUOTE_LEN	40

static int refuse_brace(const struct event_list *list, const char *start,
			const char *what)
{
	return my_refuse(list->why, -EINVAL, "'%.*s%s': %s", QUOTE_LEN, start,
			 strlen(start) > QUOTE_LEN ? "..." : "", what);
}

static int parse_next(struct event_list *list, struct group *group)
{
	size_t len = event_len(list->rest);
	int err;

	if (list->nr == list->max)
		return my_refuse(list->why, -ENOSPC,
				 "more than %u events; leave some out",
				 list->max);
	if (list->rest[len] == '{')
		return refuse_brace(list, list->rest, group->braces ?
				    "a brace within braces" :
				    "a brace stands at the start, or behind a comma");
	if (list->rest[len] == '}' && !group->braces)
		return refuse_brace(list, list->rest,
				    "a brace is closed that was not opened");
	err = parse_event(list->rest, len, group, &list->attr[list->nr],
			  list->why);
	if (err)
		return err;
	list->nr++;
	list->rest += len;
	return 0;
}

/* The next brace: the closing one, if all is well; or NULL. */
static const char *next_brace(const char *p)
{
	p += event_len(p);
	while (*p == ',') {
		p++;
		p += event_len(p);
	}
	return *p ? p : NULL;
}

/* What is behind the closing brace, up to the next item. */
static int parse_group_modifiers(struct event_list *list, const char *start,
				 const char *behind, struct group *group)
{
	size_t len = strcspn(behind, ",");

	if (!len)
		return 0;
	if (*behind != ':' || len == 1 || len > sizeof(group->modifiers))
		return refuse_brace(list, start,
				    "behind its brace there may be a colon and modifiers, as in {cycles,branches}:u");
	memcpy(group->modifiers, behind + 1, len - 1);
	return 0;
}

static int parse_group(struct event_list *list, struct group *group)
{
	const char *start = list->rest, *end = next_brace(start + 1);
	int err;

	if (!end)
		return refuse_brace(list, start,
				    slash_is_missing(start, strlen(start)) ?
				    "a slash is missing" : "a brace is missing");
	if (*end == '}') {
		err = parse_group_modifiers(list, start, end + 1, group);
		if (err)
			return err;
	}
	group->braces = true;
	do {
		list->rest++;	/* the brace, or a comma */
		err = parse_next(list, group);
		if (err)
			return err;
	} while (*list->rest == ',');
	list->rest = end + 1 + strcspn(end + 1, ",");
	return 0;
}

/**
 * my_parse_events() - the events of the parameter "counters"
 * @list: the parameter
 * @attr: filled in, in the list's order
 * @max: room in @attr
 * @why: if refused, the piece that is wrong and what would be right
 *
 * Context: any; pure.
 * Return: how many there are; -EINVAL; -EOPNOTSUPP for what is known and cannot be
 * had here; -ENOSPC if there are more than @max.
 */
int my_parse_events(const char *list, struct my_perf_event_attr *attr,
		    unsigned int max, struct my_pmu_why *why)
{
	struct event_list state = {
		.rest = list, .attr = attr, .max = max, .why = why,
	};
	unsigned int number;
	int err;

	if (!is_printable(list, strlen(list)))
		return my_refuse(why, -EINVAL,
				 "blanks, control characters and non-ASCII are in no event; %s",
				 MY_EVENTS_ACCEPTED);
	for (number = 0;; number++) {
		struct group group = { .number = number };

		err = *state.rest == '{' ? parse_group(&state, &group) :
					   parse_next(&state, &group);
		if (err)
			return err;
		if (!*state.rest)
			return state.nr;
		state.rest++;
	}
}

/**
 * my_parse_interval() - the parameter "interval"
 * @text: the parameter
 * @ms: milliseconds, at least 1
 * @why: if refused, the reason
 *
 * Context: any; pure.
 * Return: 0; -EINVAL, or -ERANGE if it is more than an unsigned int holds.
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
				 "'%.40s%s': more than 4294967295 milliseconds",
				 text, dots);
	if (err || !*ms)
		return my_refuse(why, -EINVAL,
				 "'%.40s%s'; whole milliseconds from 1 on are needed",
				 text, dots);
	return 0;
}

/**
 * my_parse_switch() - a parameter that is on or off
 * @text: the parameter
 * @on: which
 * @why: if refused, the reason
 *
 * Context: any; pure.
 * Return: 0, or -EINVAL.
 */
int my_parse_switch(const char *text, bool *on, struct my_pmu_why *why)
{
	*on = !strcmp(text, "1");
	if (*on || !strcmp(text, "0"))
		return 0;
	if (!is_printable(text, strlen(text)))
		return my_refuse(why, -EINVAL,
				 "blanks, control characters or non-ASCII; 0 or 1 is needed");
	return my_refuse(why, -EINVAL, "'%.40s%s'; 0 or 1 is needed", text,
			 strlen(text) > 40 ? "..." : "");
}
