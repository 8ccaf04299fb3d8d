// SPDX-License-Identifier: GPL-2.0
/*
 * What counting costs a CPU, in instructions: the lab's odometers (scripts/vm --pmu
 * odometer=on) are read on this CPU, and the one that is measured does not notice.
 *
 * Each load measures one thing, what=, prints one line, and is refused afterwards, so
 * that there is nothing to unload:
 *
 *   my_pmu_bench: WHAT: mode M (N of ALL), least L, median D, most H
 *
 * what=watch prints the modes of what else the CPU did at a stretch, too: WRMSR and RDMSR of
 * the PMU's registers, RDPMC, RDTSC, writes of LVTPC.  With perf_events= that many events of
 * perf's overflow there meanwhile, on the same instruction, and their handler does nothing.
 *
 * what=nmi: an NMI that the first handler claims.
 *
 * my_pmu's functions are looked up, not linked: perf's are measured without it.
 */
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/nmi.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/sort.h>
#include <linux/workqueue.h>
#include <asm/apic.h>
#include <asm/msr.h>
#include <asm/nmi.h>

#include "my_pmu.h"
#include "pmu_target.h"

static char *what = "";
module_param(what, charp, 0444);
MODULE_PARM_DESC(what, "what is measured");
static int cpu = 3;
module_param(cpu, int, 0444);
MODULE_PARM_DESC(cpu, "on which CPU");
static int last_cpu = -1;
module_param(last_cpu, int, 0444);
MODULE_PARM_DESC(last_cpu, "what=watch: on all CPUs from cpu= to this one");
static unsigned int times = 50;
module_param(times, uint, 0444);
MODULE_PARM_DESC(times, "how often");
static unsigned int pause;
module_param(pause, uint, 0444);
MODULE_PARM_DESC(pause, "what=local-...: milliseconds between two");
static bool user;
module_param(user, bool, 0444);
MODULE_PARM_DESC(user, "count what is done at CPL 3, too");

static unsigned int perf_events;
module_param(perf_events, uint, 0444);
MODULE_PARM_DESC(perf_events, "what=watch: events of perf's with a period");
static unsigned int period = 20000003;
module_param(period, uint, 0444);
MODULE_PARM_DESC(period, "theirs");

static unsigned int pmu;
module_param(pmu, uint, 0444);
MODULE_PARM_DESC(pmu, "what=perf-...: the type of another PMU than perf's own");

/* A CPU that has had nothing to do for so long has done what it had to do. */
#define SETTLE_MS	4

#define MAX_VALUES	4096

struct values {
	u64 *value;
	unsigned int nr;
};

static void add_value(struct values *to, u64 value)
{
	if (to->nr < MAX_VALUES)
		to->value[to->nr++] = value;
}

/* --- odometers ------------------------------------------------------------------------ */

enum odometer {
	ODOMETER_OS, ODOMETER_USR, ODOMETER_WRITES, ODOMETER_READS, ODOMETER_RDPMC,
	ODOMETER_RDTSC, ODOMETER_LVTPC, NR_ODOMETERS
};

#define MSR_ODOMETERS		0x4000f100

/* Of accesses; the first has the instructions. */
static struct values values[NR_ODOMETERS];

static const char *const accesses[NR_ODOMETERS] = {
	[ODOMETER_WRITES] = "WRMSR", [ODOMETER_READS] = "RDMSR",
	[ODOMETER_RDPMC] = "RDPMC", [ODOMETER_RDTSC] = "RDTSC", [ODOMETER_LVTPC] = "LVTPC",
};

static u64 read_odometer(int of, enum odometer which)
{
	u64 value = 0;

	rdmsrl_safe(MSR_ODOMETERS + NR_ODOMETERS * of + which, &value);
	return value;
}

static u64 instructions_of(int of)
{
	return read_odometer(of, ODOMETER_OS) +
	       (user ? read_odometer(of, ODOMETER_USR) : 0);
}

/* --- what is compared ----------------------------------------------------------------- */

#define NR_EVENTS	4

/* Four events, in both worlds; and the first of them alone. */
#define MY_EVENT	"instructions@gp0"
#define MY_GROUP	"{instructions@gp0,cycles@gp1,instructions@gp2,cycles@gp3}"

static const u64 perf_configs[NR_EVENTS] = {
	PERF_COUNT_HW_INSTRUCTIONS, PERF_COUNT_HW_CPU_CYCLES,
	PERF_COUNT_HW_INSTRUCTIONS, PERF_COUNT_HW_CPU_CYCLES,
};

static struct my_perf_event *mine;
static struct perf_event *perfs[NR_EVENTS];

static typeof(my_perf_event_create) *create;
static typeof(my_perf_event_destroy) *destroy;
static typeof(my_perf_event_enable) *enable;
static typeof(my_perf_event_disable) *disable;
static typeof(my_perf_event_read) *read_one;
static typeof(my_perf_event_read_group) *read_group;

static void let_mine_go(void)
{
	if (!IS_ERR_OR_NULL(mine))
		destroy(mine);
	if (create)
		symbol_put(my_perf_event_create);
	if (destroy)
		symbol_put(my_perf_event_destroy);
	if (enable)
		symbol_put(my_perf_event_enable);
	if (disable)
		symbol_put(my_perf_event_disable);
	if (read_one)
		symbol_put(my_perf_event_read);
	if (read_group)
		symbol_put(my_perf_event_read_group);
}

static int take_these(const char *events)
{
	struct my_pmu_why why;

	create = symbol_get(my_perf_event_create);
	destroy = symbol_get(my_perf_event_destroy);
	enable = symbol_get(my_perf_event_enable);
	disable = symbol_get(my_perf_event_disable);
	read_one = symbol_get(my_perf_event_read);
	read_group = symbol_get(my_perf_event_read_group);
	if (!create || !destroy || !enable || !disable || !read_one || !read_group) {
		pr_err("my_pmu_bench: load my_pmu first, with counters=none\n");
		return -ENOENT;
	}
	mine = create(cpu, events, &why);
	if (IS_ERR(mine)) {
		pr_err("my_pmu_bench: %s\n", why.text);
		return PTR_ERR(mine);
	}
	return enable(mine);
}

static int take_one(void)
{
	return take_these(MY_EVENT);
}

static int take_group(void)
{
	return take_these(MY_GROUP);
}

static void let_perf_go(void)
{
	int i;

	for (i = 0; i < NR_EVENTS; i++) {
		if (!IS_ERR_OR_NULL(perfs[i]))
			perf_event_release_kernel(perfs[i]);
	}
}

static int take_perf(void)
{
	int i;

	for (i = 0; i < NR_EVENTS; i++) {
		struct perf_event_attr attr = {
			.type = PERF_TYPE_HARDWARE,
			.size = sizeof(attr),
			.config = perf_configs[i],
			.pinned = 1,
		};

		if (pmu) {
			attr.type = pmu;
			attr.config = i % 2 ? 0x3c : 0xc0;
		}
		perfs[i] = perf_event_create_kernel_counter(&attr, cpu, NULL, NULL, NULL);
		if (IS_ERR(perfs[i])) {
			pr_err("my_pmu_bench: perf: %pe\n", perfs[i]);
			return PTR_ERR(perfs[i]);
		}
	}
	return 0;
}

static int take_nothing(void)
{
	return 0;
}

static void let_nothing_go(void)
{
}

static void do_nothing(void)
{
}

static bool nmi_is_ours;

static int claim_nmi(unsigned int cmd, struct pt_regs *regs)
{
	bool ours = nmi_is_ours;

	nmi_is_ours = false;
	return ours ? NMI_HANDLED : NMI_DONE;
}

static int take_nmis(void)
{
	return register_nmi_handler(NMI_LOCAL, claim_nmi, NMI_FLAG_FIRST, "my_pmu_bench");
}

static void let_nmis_go(void)
{
	unregister_nmi_handler(NMI_LOCAL, "my_pmu_bench");
}

static void send_nmi(void)
{
	nmi_is_ours = true;
	apic->send_IPI_mask(cpumask_of(cpu), NMI_VECTOR);
}

static void empty(void *unused)
{
}

static void call(void)
{
	smp_call_function_single(cpu, empty, NULL, 1);
}

static void read_mine(void)
{
	u64 count;

	read_one(mine, &count);
}

static void read_my_group(void)
{
	u64 counts[NR_EVENTS];

	read_group(mine, counts, NR_EVENTS);
}

static void read_perf(void)
{
	u64 enabled, running;

	perf_event_read_value(perfs[0], &enabled, &running);
}

static void read_all_of_perf(void)
{
	u64 enabled, running;
	int i;

	for (i = 0; i < NR_EVENTS; i++)
		perf_event_read_value(perfs[i], &enabled, &running);
}

/* Between two calls of an idle CPU: whether it is idle again by then is not left to chance. */
static void settle(void)
{
	if (raw_smp_processor_id() != cpu)
		msleep(SETTLE_MS);
}

static void toggle_mine(void)
{
	disable(mine);
	settle();
	enable(mine);
}

static void toggle_perf(void)
{
	int i;

	for (i = 0; i < NR_EVENTS; i++)
		perf_event_disable(perfs[i]);
	settle();
	for (i = 0; i < NR_EVENTS; i++)
		perf_event_enable(perfs[i]);
}

static const struct action {
	const char *name;
	int (*take)(void);
	void (*act)(void);
	void (*let_go)(void);
} actions[] = {
	{ "nothing", take_nothing, do_nothing, let_nothing_go },
	{ "call", take_nothing, call, let_nothing_go },
	{ "nmi", take_nmis, send_nmi, let_nmis_go },
	{ "read", take_one, read_mine, let_mine_go },
	{ "read-group", take_group, read_my_group, let_mine_go },
	{ "toggle", take_group, toggle_mine, let_mine_go },
	{ "perf-read", take_perf, read_perf, let_perf_go },
	{ "perf-read-all", take_perf, read_all_of_perf, let_perf_go },
	{ "perf-toggle", take_perf, toggle_perf, let_perf_go },
};

/* --- ways to measure ------------------------------------------------------------------- */

/* From here, on the other CPU, all that it does until it has settled again. */
static void measure_remote(const struct action *action)
{
	unsigned int i;

	for (i = 0; i < times; i++) {
		u64 before;

		msleep(SETTLE_MS);
		before = instructions_of(cpu);
		action->act();
		msleep(SETTLE_MS);
		add_value(values, instructions_of(cpu) - before);
	}
}

/* There. */
static long measure_here(void *data)
{
	const struct action *action = data;
	unsigned int i;

	for (i = 0; i < times; i++) {
		u64 before;

		if (pause)
			msleep(pause);
		before = read_odometer(cpu, ODOMETER_OS);
		action->act();
		add_value(values, read_odometer(cpu, ODOMETER_OS) - before);
		cond_resched();
	}
	return 0;
}

/**
 * struct burst - what a CPU does at a stretch
 * @begin: where its odometer was before
 * @last: where it was last seen
 * @since: when it last moved, ns
 * @moves: it has, and has not settled yet
 * @accesses: where the odometers of accesses were before
 */
struct burst {
	u64 begin;
	u64 last;
	u64 since;
	bool moves;
	u64 accesses[NR_ODOMETERS];
};

static void note_accesses(struct burst *burst, int of, bool add)
{
	u64 now;
	int i;

	for (i = ODOMETER_WRITES; i < NR_ODOMETERS; i++) {
		now = read_odometer(of, i);
		if (add)
			add_value(&values[i], now - burst->accesses[i]);
		burst->accesses[i] = now;
	}
}

static void look_at(struct burst *burst, int of)
{
	u64 now = ktime_get_ns(), odometer = instructions_of(of);

	if (odometer != burst->last) {
		burst->last = odometer;
		burst->since = now;
		burst->moves = true;
	} else if (burst->moves && now - burst->since > SETTLE_MS * NSEC_PER_MSEC) {
		add_value(values, burst->last - burst->begin);
		note_accesses(burst, of, true);
		burst->begin = burst->last;
		burst->moves = false;
	}
}

#define MAX_PERF_EVENTS		8U

static struct perf_event *overflowing[MAX_PERF_EVENTS];

static void ignore_overflow(struct perf_event *event, struct perf_sample_data *data,
			    struct pt_regs *regs)
{
}

/* While this runs there the CPU has no user instructions: so they count in step. */
static long enable_overflowing(void *unused)
{
	unsigned int i;

	sched_set_fifo(current);
	for (i = 0; i < perf_events; i++)
		perf_event_enable(overflowing[i]);
	sched_set_normal(current, 0);
	return 0;
}

static int take_overflowing(void)
{
	unsigned int i;

	perf_events = min(perf_events, MAX_PERF_EVENTS);
	for (i = 0; i < perf_events; i++) {
		struct perf_event_attr attr = {
			.type = PERF_TYPE_HARDWARE,
			.size = sizeof(attr),
			.config = PERF_COUNT_HW_INSTRUCTIONS,
			.sample_period = period,
			.exclude_kernel = 1,
			.disabled = 1,
			.pinned = 1,
		};

		overflowing[i] = perf_event_create_kernel_counter(&attr, cpu, NULL,
								  ignore_overflow, NULL);
		if (IS_ERR(overflowing[i])) {
			pr_err("my_pmu_bench: perf: %pe\n", overflowing[i]);
			return PTR_ERR(overflowing[i]);
		}
	}
	return work_on_cpu(cpu, enable_overflowing, NULL);
}

static void let_overflowing_go(void)
{
	unsigned int i;

	for (i = 0; i < perf_events; i++) {
		if (!IS_ERR_OR_NULL(overflowing[i]))
			perf_event_release_kernel(overflowing[i]);
	}
}

/* Whatever others have these CPUs do, for so many milliseconds. */
static int watch(void)
{
	u64 end = ktime_get_ns() + times * NSEC_PER_MSEC;
	struct burst *bursts;
	int of, to = max(cpu, last_cpu);

	bursts = kcalloc(to + 1, sizeof(*bursts), GFP_KERNEL);
	if (!bursts)
		return -ENOMEM;
	for (of = cpu; of <= to; of++) {
		bursts[of].begin = instructions_of(of);
		bursts[of].last = bursts[of].begin;
		note_accesses(&bursts[of], of, false);
	}
	while (ktime_get_ns() < end) {
		for (of = cpu; of <= to; of++)
			look_at(&bursts[of], of);
		usleep_range(200, 400);
	}
	kfree(bursts);
	return 0;
}

/* --- results ----------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

/* The most frequent one, of those that are sorted; *most is how often. */
static u64 mode_of(const struct values *of, unsigned int *most)
{
	unsigned int i, run = 0;
	u64 mode = 0;

	*most = 0;
	for (i = 0; i < of->nr; i++) {
		run = i && of->value[i] == of->value[i - 1] ? run + 1 : 1;
		if (run > *most) {
			*most = run;
			mode = of->value[i];
		}
	}
	return mode;
}

static void report(void)
{
	const u64 *value = values->value;
	unsigned int i, nr = values->nr, most;
	char more[80] = "";
	int len = 0;
	u64 mode;

	if (!nr) {
		pr_info("my_pmu_bench: %s: nothing seen\n", what);
		return;
	}
	for (i = 0; i < NR_ODOMETERS; i++)
		sort(values[i].value, values[i].nr, sizeof(*value), compare, NULL);
	for (i = ODOMETER_WRITES; i < NR_ODOMETERS; i++) {
		if (values[i].nr)
			len += scnprintf(more + len, sizeof(more) - len, ", %s %llu", accesses[i],
					 mode_of(&values[i], &most));
	}
	mode = mode_of(values, &most);
	pr_info("my_pmu_bench: %s: mode %llu (%u of %u), least %llu, median %llu, most %llu%s\n",
		what, mode, most, nr, value[0], value[nr / 2], value[nr - 1], more);
}

static void report_sizes(void)
{
	pr_info("my_pmu_bench: sizes: %zu bytes for each CPU, of these %zu for each of %u events\n",
		sizeof(struct my_target),
		sizeof(struct my_perf_event) + sizeof(struct my_perf_event_attr),
		MY_EVENTS_MAX);
}

/* --- what= -------------------------------------------------------------------------------- */

static int measure_action(const struct action *action, bool here)
{
	int err = action->take();

	if (!err && here)
		err = work_on_cpu(cpu, measure_here, (void *)action);
	else if (!err)
		measure_remote(action);
	action->let_go();
	return err;
}

static int measure(void)
{
	const char *name = what;
	bool here = !strncmp(name, "local-", strlen("local-"));
	int i, err;

	if (!strcmp(name, "watch")) {
		err = take_overflowing();
		err = err ?: watch();
		let_overflowing_go();
		return err;
	}
	name += here ? strlen("local-") : 0;
	for (i = 0; i < ARRAY_SIZE(actions); i++) {
		if (!strcmp(name, actions[i].name))
			return measure_action(&actions[i], here);
	}
	pr_err("my_pmu_bench: what=%s: there is no such thing\n", what);
	return -EINVAL;
}

static int __init bench_init(void)
{
	u64 *all;
	int i, err;

	if (!strcmp(what, "sizes")) {
		report_sizes();
		return -ECANCELED;
	}
	all = kvcalloc(NR_ODOMETERS * MAX_VALUES, sizeof(*all), GFP_KERNEL);
	if (!all)
		return -ENOMEM;
	for (i = 0; i < NR_ODOMETERS; i++)
		values[i].value = all + i * MAX_VALUES;
	err = measure();
	if (!err)
		report();
	kvfree(all);
	return err ?: -ECANCELED;
}
module_init(bench_init);

MODULE_DESCRIPTION("What my_pmu costs, beside perf, in the lab");
MODULE_LICENSE("GPL");
