// SPDX-License-Identifier: GPL-2.0
/*
 * The fuzzer's target: the parameters' parser, pmu_parse.c as it is, on the
 * host.  Each input is taken for a list of events and for an interval.
 *
 * What must come of it is said here once more, from README.md, "Parameters":
 * an event is what a regular expression matches, and its numbers are read off
 * the text with the C library.
 *
 * With FUZZ_REPLAY there is a main() that takes files, one input in each;
 * without, libFuzzer has it.
 */
#include <errno.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pmu_event.h"
#include "pmu_parse.h"
#include "pmu_why.h"

#define LIST_MAX	4096
#define EVENT_MAX	63	/* with the pin */
#define NAME_MAX_LEN	47	/* without */
#define QUOTED_MAX	40	/* of what is too long */

#define BYTE \
	"(0*(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])|0x0*[0-9a-fA-F]{1,2})"
#define EVENT_TERM	"event=" BYTE
#define UMASK_TERM	"umask=" BYTE
#define TERMS \
	"(" EVENT_TERM "|" EVENT_TERM "," UMASK_TERM "|" UMASK_TERM "," EVENT_TERM ")"
#define MODIFIERS	"(u|k|uk|ku)"
#define NAME \
	"(instructions|(cpu-|ref-|bus-)?cycles|cache-(references|misses)|branches|branch-(instructions|misses))"
#define RAW		"r0*[0-9a-fA-F]{1,4}"
#define PIN		"@(gp|fixed)0*([12]?[0-9]|3[01])"
#define EVENT \
	"((" NAME "|" RAW ")(:" MODIFIERS ")?|cpu/" TERMS "/(:?" MODIFIERS ")?)(" PIN ")?"

/* Intel SDM, "Predefined Architectural Performance Events"; perf's ref-cycles. */
static const struct {
	const char *name;
	u8 umask;
	u8 event;
} codes[] = {
	{ "branch-instructions", 0x00, 0xc4 },
	{ "branch-misses", 0x00, 0xc5 },
	{ "branches", 0x00, 0xc4 },
	{ "bus-cycles", 0x01, 0x3c },
	{ "cache-misses", 0x41, 0x2e },
	{ "cache-references", 0x4f, 0x2e },
	{ "cpu-cycles", 0x00, 0x3c },
	{ "cycles", 0x00, 0x3c },
	{ "instructions", 0x00, 0xc0 },
	{ "ref-cycles", 0x03, 0x00 },
};

/* What must come of a list. */
struct expected {
	int ret;
	unsigned int nr;	/* events before the one that is refused */
	const char *refused;	/* which begins here */
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

/* Up to the pin, or to the end; text is one event. */
static size_t name_len(const char *text, size_t len)
{
	const char *pin = memchr(text, '@', len);

	return pin ? (size_t)(pin - text) : len;
}

/* The length of the event that the list begins with; 0 if that is none. */
static size_t event_len(const char *list)
{
	/* one that is a character too long, and its comma */
	size_t len = strnlen(list, EVENT_MAX + 2);
	static regex_t event;
	static bool ready;
	char text[EVENT_MAX + 3];
	regmatch_t match;

	if (!ready)
		expect(!regcomp(&event, "^" EVENT "(,|$)", REG_EXTENDED));
	ready = true;
	memcpy(text, list, len);
	text[len] = '\0';
	if (regexec(&event, text, 1, &match, 0))
		return 0;
	len = match.rm_eo;
	if (text[len - 1] == ',')
		len--;
	if (len > EVENT_MAX || name_len(text, len) > NAME_MAX_LEN)
		return 0;
	return len;
}

/* The number behind a key that may not be there: 0. */
static unsigned long number_behind(const char *text, const char *key)
{
	const char *number = strstr(text, key);

	if (!number)
		return 0;
	number += strlen(key);
	return strtoul(number, NULL, strncmp(number, "0x", 2) ? 10 : 16);
}

static void set_code(const char *name, struct my_perf_event_attr *attr)
{
	unsigned long raw;
	size_t i;

	attr->event = number_behind(name, "event=");
	attr->umask = number_behind(name, "umask=");
	if (!strncmp(name, "cpu/", 4))
		return;
	for (i = 0; i < ARRAY_SIZE(codes); i++) {
		size_t len = strlen(codes[i].name);

		if (strncmp(name, codes[i].name, len) ||
		    (name[len] && name[len] != ':'))
			continue;
		attr->event = codes[i].event;
		attr->umask = codes[i].umask;
		attr->named = true;
		return;
	}
	raw = strtoul(name + 1, NULL, 16);
	attr->event = raw % 256;
	attr->umask = raw / 256;
}

/* Modifiers are what is behind the last colon or slash. */
static void set_privilege(const char *name, struct my_perf_event_attr *attr)
{
	const char *colon = strrchr(name, ':');
	const char *slash = strrchr(name, '/');
	const char *modifiers = colon ? colon : slash ? slash : "";
	bool user = strchr(modifiers, 'u');
	bool kernel = strchr(modifiers, 'k');

	attr->exclude_user = kernel && !user;
	attr->exclude_kernel = user && !kernel;
}

/* What an event that there is means. */
static void set_attr(const char *text, size_t len,
		     struct my_perf_event_attr *attr)
{
	size_t name = name_len(text, len);
	const char *pin = text + name;

	memset(attr, 0, sizeof(*attr));
	memcpy(attr->name, text, name);
	set_code(attr->name, attr);
	set_privilege(attr->name, attr);
	attr->pin = -1;
	if (name == len)
		return;
	if (pin[1] == 'g')
		attr->pin = strtol(pin + strlen("@gp"), NULL, 10);
	else
		attr->pin = 32 + strtol(pin + strlen("@fixed"), NULL, 10);
}

static void set_expected(const char *list, unsigned int max,
			 struct expected *want)
{
	want->nr = 0;
	for (;;) {
		size_t len = event_len(list);

		want->refused = list;
		want->ret = want->nr == max ? -ENOSPC : -EINVAL;
		if (want->nr == max || !len)
			return;
		set_attr(list, len, &want->attr[want->nr++]);
		if (!list[len])
			break;
		list += len + 1;
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
	if (why->text[0] != '\'')
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
	expect(attr->event == want->event);
	expect(attr->umask == want->umask);
	expect(attr->named == want->named);
	expect(attr->exclude_user == want->exclude_user);
	expect(attr->exclude_kernel == want->exclude_kernel);
	expect(!attr->exclude_user || !attr->exclude_kernel);
	expect(attr->pin == want->pin);
	expect(attr->pin == MY_PMC_ANY ||
	       (attr->pin >= 0 && attr->pin < MY_PMC_MAX));
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
	expect(ret == want->ret);
	for (i = 0; i < want->nr; i++)
		expect_same(&room.attr[i], &want->attr[i]);
	if (ret == -EINVAL)
		touched++;	/* half of one */
	expect_untouched(&room.attr[touched],
			 (MY_PMC_MAX - touched) * sizeof(room.attr[0]), fill);
	if (ret < 0)
		expect_reason(&room.why, want->refused);
	else
		expect_untouched(&room.why, sizeof(room.why), fill);
	expect_guards(&room, fill);
}

/* What was understood, written again, is understood as before. */
static void check_round_trip(const struct expected *want)
{
	static char list[LIST_MAX];
	unsigned int i;
	size_t len = 0;

	for (i = 0; i < want->nr; i++) {
		const struct my_perf_event_attr *attr = &want->attr[i];

		len += snprintf(list + len, sizeof(list) - len, "%s%s",
				i ? "," : "", attr->name);
		if (attr->pin == MY_PMC_ANY)
			continue;
		len += snprintf(list + len, sizeof(list) - len, "@%s%d",
				my_pmc_kind(attr->pin),
				my_pmc_number(attr->pin));
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
