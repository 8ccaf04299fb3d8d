// SPDX-License-Identifier: GPL-2.0
/* The PMU that is expected, and how to use one. */
#include "bare.h"

struct pmu pmu;
struct counter counters[COUNTERS_MAX];
/*
 * Those that count something in this program come first, and the generic ones first of
 * all; nr_all has those, too, that never do.
 */
unsigned int nr_counters, nr_all, nr_generic;

/* ---------------------------------------------------------------- description */

#define NOT_GIVEN	~0UL

static u64 opt_version, opt_gp, opt_width, opt_fixed, opt_fixed_width, opt_bitmap;
static u64 opt_ebx, opt_ebx_length, opt_full_width, opt_pdcm, opt_hypervisor;
static u64 opt_broken, opt_broken_counters, opt_firmware, opt_faults, opt_odometer;
static u64 opt_gp_bitmap, opt_acr, opt_reload, opt_extra, opt_starved, opt_paused;
static u64 opt_pmi_skid, opt_vendor, opt_core, opt_freeze, opt_free_running, opt_model;

/* As scripts/lib.sh's pmu_properties takes them, with QEMU's defaults. */
static const struct option {
	const char *key;
	u64 *value;
	u64 by_default;
} options[] = {
	{ "version", &opt_version, NOT_GIVEN },
	{ "gp", &opt_gp, NOT_GIVEN },
	{ "gp-bitmap", &opt_gp_bitmap, NOT_GIVEN },
	{ "width", &opt_width, 48 },
	{ "fixed", &opt_fixed, NOT_GIVEN },
	{ "fixed-width", &opt_fixed_width, NOT_GIVEN },
	{ "fixed-bitmap", &opt_bitmap, NOT_GIVEN },
	{ "ebx", &opt_ebx, 0x58 },
	{ "ebx-length", &opt_ebx_length, 7 },
	{ "full-width", &opt_full_width, 1 },
	{ "pdcm", &opt_pdcm, 1 },
	{ "hypervisor", &opt_hypervisor, 1 },
	{ "broken", &opt_broken, BROKEN_NOT },
	{ "broken-counters", &opt_broken_counters, ~0UL },
	{ "firmware", &opt_firmware, 0 },
	{ "faults", &opt_faults, 0 },
	{ "odometer", &opt_odometer, 0 },
	{ "acr", &opt_acr, 1 },
	{ "reload", &opt_reload, 0 },
	{ "extra", &opt_extra, 0 },
	{ "starved", &opt_starved, 1 },
	{ "paused", &opt_paused, 0 },
	{ "pmi-skid", &opt_pmi_skid, 0 },
	{ "vendor", &opt_vendor, 0 },
	{ "core", &opt_core, 1 },
	{ "freeze", &opt_freeze, 0 },
	{ "free-running", &opt_free_running, 0 },
	{ "model", &opt_model, 94 },
};

/* Values that are words. */
static const struct {
	const char *name;
	u64 value;
} words[] = {
	{ "on", 1 },
	{ "off", 0 },
	{ "ignores-writes", BROKEN_IGNORES_WRITES },
	{ "constant", BROKEN_CONSTANT },
	{ "dead", BROKEN_DEAD },
	{ "halved", BROKEN_HALVED },
	{ "no-overflow", BROKEN_NO_OVERFLOW },
	{ "short", BROKEN_SHORT },
	{ "starved", BROKEN_STARVED },
	{ "amd", 1 },
	{ "hygon", 1 },
};

static bool starts_with(const char *text, const char *word)
{
	while (*word) {
		if (*text++ != *word++)
			return false;
	}
	return true;
}

static unsigned int length(const char *s)
{
	unsigned int n = 0;

	while (s[n])
		n++;
	return n;
}

/* A number in decimal or with 0x, or a word. */
static u64 parse_value(const char **text)
{
	u64 value = 0, base = 10, digit;
	const char *s = *text;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(words); i++) {
		if (starts_with(s, words[i].name)) {
			*text += length(words[i].name);
			return words[i].value;
		}
	}
	if (starts_with(s, "0x")) {
		base = 16;
		s += 2;
	}
	for (;; s++) {
		digit = *s >= 'a' ? *s - 'a' + 10UL : *s - '0' + 0UL;
		if (digit >= base)
			break;
		value = value * base + digit;
	}
	*text = s;
	return value;
}

static const struct option *find_option(const char *text)
{
	unsigned int i, n;

	for (i = 0; i < ARRAY_SIZE(options); i++) {
		n = length(options[i].key);
		if (starts_with(text, options[i].key) && text[n] == '=')
			return &options[i];
	}
	return NULL;
}

static bool parse_options(const char *s)
{
	const struct option *option;

	while (*s && *s != ' ') {
		option = find_option(s);
		if (!option)
			return false;
		s += length(option->key) + 1;
		*option->value = parse_value(&s);
		if (*s == ',')
			s++;
		else if (*s && *s != ' ')
			return false;
	}
	return true;
}

static void derive_fixed(void)
{
	if (pmu.version < 2 || pmu.amd)
		return;
	pmu.contiguous = opt_fixed != NOT_GIVEN ? opt_fixed : 3;
	if (opt_bitmap == NOT_GIVEN) {
		pmu.fixed = LOW_BITS(pmu.contiguous);
		return;
	}
	pmu.fixed = opt_bitmap;
	if (opt_fixed == NOT_GIVEN)
		pmu.contiguous = __builtin_ctzl(~opt_bitmap);
}

static unsigned int weight(u64 mask)
{
	unsigned int n = 0;

	for (; mask; mask &= mask - 1)
		n++;
	return n;
}

static unsigned int default_generic(void)
{
	if (!pmu.amd)
		return 8;
	return pmu.core ? 6 : 4;
}

static void derive_generic(void)
{
	if (opt_gp_bitmap == NOT_GIVEN)
		opt_gp_bitmap = LOW_BITS(opt_gp == NOT_GIVEN ? default_generic() : opt_gp);
	pmu.generic = opt_gp_bitmap;
	pmu.gp = opt_gp == NOT_GIVEN ? weight(pmu.generic) : opt_gp;
}

/* Of family 6 those whose events of branches are Skylake's. */
static bool has_kinds_of_branches(u64 model)
{
	static const u8 models[] = { 78, 85, 94, 142, 158, 165, 166 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(models); i++) {
		if (models[i] == model)
			return true;
	}
	return false;
}

/* Bad speculation and frontend bound are never there. */
static bool never_counts(unsigned int fixed)
{
	return fixed == 4 || fixed == 5;
}

static void list_fixed(bool never)
{
	unsigned int i;

	for (i = 0; i < FIXED_MAX; i++) {
		if (!(pmu.fixed & BIT(i)) || never_counts(i) != never)
			continue;
		counters[nr_all++] = (struct counter) {
			.fixed = true,
			.index = i,
			.msr = MSR_FIXED_CTR + i,
			.rdpmc = RDPMC_FIXED + i,
			.bit = STATUS_FIXED(i),
			.mask = LOW_BITS(pmu.fixed_width),
		};
	}
}

static void list_counters(void)
{
	unsigned int i;

	for (i = 0; i <= last_generic(); i++) {
		if (!(pmu.generic & BIT(i)))
			continue;
		counters[nr_all++] = (struct counter) {
			.index = i,
			.msr = pmu.full_width ? MSR_A_PMC + i : pmc_msr(i),
			.rdpmc = i,
			.bit = BIT(i),
			.mask = LOW_BITS(pmu.width),
		};
	}
	nr_generic = nr_all;
	list_fixed(false);
	nr_counters = nr_all;
	list_fixed(true);
}

/**
 * pmu_parse() - learn which PMU to expect
 * @text: KEY=VALUE,... or off
 *
 * Return: whether the text made sense
 */
bool pmu_parse(const char *text)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(options); i++)
		*options[i].value = options[i].by_default;
	if (starts_with(text, "off")) {
		pmu.off = true;
		return true;
	}
	if (!parse_options(text))
		return false;
	pmu.amd = opt_vendor;
	pmu.core = opt_core;
	pmu.version = opt_version != NOT_GIVEN ? opt_version : pmu.amd ? 1 : 4;
	pmu.hypervisor = opt_hypervisor;
	if (!pmu.version)
		return true;
	derive_generic();
	pmu.width = opt_width;
	pmu.fixed_width = opt_fixed_width != NOT_GIVEN ? opt_fixed_width : opt_width;
	pmu.ebx_length = opt_ebx_length;
	pmu.ebx = opt_ebx;
	pmu.pdcm = opt_pdcm && !pmu.amd;
	pmu.full_width = opt_full_width && pmu.pdcm;
	pmu.freeze = pmu.version >= 2 && (pmu.amd ? opt_freeze : pmu.pdcm);
	pmu.streamlined = pmu.amd || pmu.version >= 4;
	pmu.free_running = opt_free_running;
	pmu.skylake = !pmu.amd && has_kinds_of_branches(opt_model);
	derive_fixed();
	list_counters();
	pmc0_msr = pmc_msr(0);
	pmu.broken = opt_broken;
	pmu.broken_counters = opt_broken_counters & counters_mask();
	pmu.starved = opt_starved;
	pmu.paused = opt_paused;
	pmu.pmi_skid = opt_pmi_skid;
	pmu.acr = pmu.version >= 6 && opt_acr;
	pmu.reload = opt_reload;
	pmu.extra = opt_extra;
	pmu.firmware = opt_firmware;
	pmu.faults = opt_faults;
	pmu.odometer = opt_odometer;
	return true;
}

/* ---------------------------------------------------------------- addresses */

/**
 * evtsel_msr() - the event select of a generic counter
 * @index: which
 *
 * Return: its MSR
 */
u32 evtsel_msr(unsigned int index)
{
	if (!pmu.amd)
		return 0x186 + index;
	return pmu.core ? MSR_AMD_CTL + 2 * index : MSR_AMD_LEGACY_CTL + index;
}

/**
 * pmc_msr() - a generic counter
 * @index: which
 *
 * Return: its MSR
 */
u32 pmc_msr(unsigned int index)
{
	if (!pmu.amd)
		return 0x0c1 + index;
	return pmu.core ? MSR_AMD_CTR + 2 * index : MSR_AMD_LEGACY_CTR + index;
}

/* ---------------------------------------------------------------- events */

/**
 * encode() - an event select for this PMU
 * @select: with an architectural event; of others the event stays
 *
 * Return: the same with what AMD has for it, if that is the PMU
 */
u64 encode(u64 select)
{
	static const struct {
		u16 event;
		u64 amd;
	} rows[] = {
		{ EVENT_CYCLES, AMD_CYCLES },
		{ EVENT_REF_CYCLES, AMD_REF_CYCLES },
		{ EVENT_BRANCHES, AMD_FLOW },
	};
	unsigned int i;

	for (i = 0; pmu.amd && i < ARRAY_SIZE(rows); i++) {
		if ((select & 0xffff) == rows[i].event)
			return (select & ~0xffffUL) | rows[i].amd;
	}
	return select;
}

/* The architectural events, in the order of CPUID.0AH:EBX. */
static const u16 architectural[] = {
	EVENT_CYCLES, EVENT_INSTRUCTIONS, EVENT_REF_CYCLES, 0x4f2e, 0x412e,
	EVENT_BRANCHES, 0x00c5,
};

static const u16 by_kind[] = {
	EVENT_CONDITIONAL, EVENT_NEAR_CALLS, EVENT_BRANCHES_PEBS, EVENT_NEAR_RETURNS,
	EVENT_NOT_TAKEN, EVENT_NEAR_TAKEN, EVENT_FAR_BRANCHES,
};

/**
 * event_present() - whether CPUID has an architectural event, or the model another one
 * @select: its event and unit mask
 *
 * Return: whether it has
 */
bool event_present(unsigned int select)
{
	unsigned int i;

	if (pmu.amd)
		return encode(select) != select || select == EVENT_INSTRUCTIONS;
	for (i = 0; i < ARRAY_SIZE(architectural); i++) {
		if (architectural[i] == select)
			return i < pmu.ebx_length && !(pmu.ebx & BIT(i));
	}
	for (i = 0; i < ARRAY_SIZE(by_kind) && pmu.skylake; i++) {
		if (by_kind[i] == select)
			return true;
	}
	return false;
}

/**
 * counter_name() - a counter's name
 * @c: the counter
 *
 * Return: the name, which lasts for three calls
 */
const char *counter_name(const struct counter *c)
{
	static char names[3][16];
	static unsigned int turn;
	char *name = names[turn++ % 3], *s = name;
	const char *kind = c->fixed ? "FIXED_CTR" : "PMC";

	while (*kind)
		*s++ = *kind++;
	if (c->index >= 10)
		*s++ = '0' + c->index / 10;
	*s++ = '0' + c->index % 10;
	*s = 0;
	return name;
}

/**
 * mark() - the beginning of a test's name
 * @only: it is true of the lab's PMU only
 *
 * Return: the prefix
 */
const char *mark(bool only)
{
	return only ? "model: " : "";
}

/**
 * counts_exactly() - whether a counter can count instructions
 * @c: the counter
 *
 * The others have cycles in place of them, which in the model are as many.
 *
 * Return: whether it can
 */
bool counts_exactly(const struct counter *c)
{
	return c->fixed ? c->index == 0 : event_present(EVENT_INSTRUCTIONS);
}

/**
 * how_broken() - what is wrong with a counter
 * @c: the counter
 *
 * Return: that, or BROKEN_NOT
 */
enum broken how_broken(const struct counter *c)
{
	return pmu.broken_counters & c->bit ? pmu.broken : BROKEN_NOT;
}

/**
 * instruction_select() - what makes a counter count instructions
 * @c: the counter
 *
 * Return: the event, in ring 0
 */
u64 instruction_select(const struct counter *c)
{
	if (!c->fixed && !counts_exactly(c))
		return EVENT_CYCLES | SEL_OS;
	return EVENT_INSTRUCTIONS | SEL_OS;
}

/**
 * counter_for() - a counter that can count an event
 * @event: the event
 *
 * Return: the counter, NULL if there is none
 */
const struct counter *counter_for(u64 event)
{
	static const u16 fixed_event[FIXED_MAX] = {
		EVENT_INSTRUCTIONS, EVENT_CYCLES, EVENT_REF_CYCLES,
	};
	unsigned int i;

	for (i = 0; i < nr_counters; i++) {
		if (counters[i].fixed ? fixed_event[counters[i].index] == event :
					event_present(event))
			return &counters[i];
	}
	return NULL;
}

/**
 * counters_mask() - all counters' bits in the GLOBAL registers
 *
 * Return: the bits
 */
u64 counters_mask(void)
{
	return pmu.generic | pmu.fixed << 32;
}

/**
 * counting_mask() - the bits of those counters that count something here
 *
 * Return: the bits
 */
u64 counting_mask(void)
{
	u64 mask = 0;
	unsigned int i;

	for (i = 0; i < nr_counters; i++)
		mask |= counters[i].bit;
	return mask;
}

/**
 * last_generic() - the generic counter with the highest number
 *
 * Return: the number
 */
unsigned int last_generic(void)
{
	return 63 - __builtin_clzl(pmu.generic);
}

/* ---------------------------------------------------------------- use */

/**
 * quiet() - stop and clear everything
 */
void quiet(void)
{
	unsigned int i;

	if (pmu.version >= 2)
		wrmsr(MSR_GLOBAL_CTRL, 0);
	if (pmu.version >= 2 && !pmu.amd)
		wrmsr(MSR_FIXED_CTR_CTRL, 0);
	if (pmu.freeze)
		wrmsr(MSR_DEBUGCTL, 0);
	for (i = 0; i < nr_all; i++) {
		if (!counters[i].fixed)
			wrmsr(evtsel_msr(counters[i].index), 0);
		wrmsr(counters[i].msr, 0);
	}
	if (pmu.version >= 2)
		wrmsr(MSR_GLOBAL_OVF_CTRL, rdmsr(MSR_GLOBAL_STATUS));
	apic_write(APIC_LVTPC, APIC_MASKED);
}

/**
 * fixed_control() - what makes a fixed counter count like a generic one
 * @select: as for IA32_PERFEVTSELx
 *
 * Return: its bits of FIXED_CTR_CTRL, not yet in their place
 */
u64 fixed_control(u64 select)
{
	return (select & SEL_OS ? FIXED_OS : 0) | (select & SEL_USR ? FIXED_USR : 0) |
	       (select & SEL_INT ? FIXED_PMI : 0);
}

/**
 * program() - set what a counter counts
 * @c: the counter
 * @select: as for IA32_PERFEVTSELx, without SEL_EN
 *
 * From version 2 on GLOBAL_CTRL is what still keeps it from counting, in
 * version 1 SEL_EN.
 */
void program(const struct counter *c, u64 select)
{
	u64 control;

	if (c->fixed) {
		control = rdmsr(MSR_FIXED_CTR_CTRL) & ~(0xfUL << 4 * c->index);
		wrmsr(MSR_FIXED_CTR_CTRL, control | fixed_control(select) << 4 * c->index);
	} else {
		wrmsr(evtsel_msr(c->index), encode(select) | (pmu.version >= 2 ? SEL_EN : 0));
	}
}

/**
 * counter_write() - set a counter
 * @c: the counter
 * @value: its value; without full-width writes one of 32 bits, sign-extended
 */
void counter_write(const struct counter *c, u64 value)
{
	wrmsr(c->msr, value & c->mask);
}

/**
 * run_of() - what lets programmed counters run
 * @mask: their bits, from version 2 on
 * @select: what counter 0 counts, in version 1
 *
 * Return: a run for measure()
 */
struct run run_of(u64 mask, u64 select)
{
	if (pmu.version >= 2)
		return (struct run) { MSR_GLOBAL_CTRL, mask, 0 };
	select = encode(select);
	return (struct run) { MSR_EVTSEL, select | SEL_EN, select };
}

/**
 * count_on() - go on counting with a counter as it is programmed
 * @c: the counter
 * @select: what it counts, without SEL_EN
 * @fn: the routine
 * @a: its argument
 *
 * Return: the counter's value, with what measure() adds
 */
u64 count_on(const struct counter *c, u64 select, void (*fn)(const void *a), const void *a)
{
	struct run run = run_of(c->bit, select);

	if (pmu.version < 2)
		run.msr = evtsel_msr(c->index);
	measure(&run, fn, a);
	return rdmsr(c->msr);
}

/**
 * count() - count with one counter what happens in a routine
 * @c: the counter
 * @select: what to count, without SEL_EN
 * @start: the counter's value before
 * @fn: the routine
 * @a: its argument
 *
 * Return: the counter's value, with what measure() adds
 */
u64 count(const struct counter *c, u64 select, u64 start,
	  void (*fn)(const void *a), const void *a)
{
	counter_write(c, start);
	program(c, select);
	return count_on(c, select, fn, a);
}
