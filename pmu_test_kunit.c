// SPDX-License-Identifier: GPL-2.0
/*
 * The whole module on a simulated PMU: what it refuses and says, what it does
 * while it is loaded, and that each step of loading, made to fail in turn,
 * leaves nothing behind.  The suites of its parts are in tests/kunit/.
 *
 * pmu_core.c is included, so that the tests load and unload it.  Its thread and
 * its hotplug state are real; its messages are caught, and what may fail in it
 * can be made to.
 */
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/cpumask.h>
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/reboot.h>
#include <linux/sched/isolation.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/suspend.h>

#include "test.h"

/* --- what stands in for the kernel -------------------------------------------- */

#define LINES		4096
#define LINE_SIZE	1024

static DEFINE_SPINLOCK(lines_lock);
static char lines[LINES][LINE_SIZE];
static unsigned int nr_lines;
/* How long a sample's line takes to be printed, once. */
static unsigned int slow_print_ms;

static __printf(1, 2) void catch_line(const char *fmt, ...)
{
	unsigned int ms = strcmp(fmt, "%s\n") ? 0 : xchg(&slow_print_ms, 0);
	unsigned long flags;
	va_list args;

	if (ms)
		msleep(ms);
	va_start(args, fmt);
	spin_lock_irqsave(&lines_lock, flags);
	if (nr_lines < LINES) {
		vscnprintf(lines[nr_lines], LINE_SIZE, fmt, args);
		nr_lines++;	/* whoever waits for it reads it at once */
	}
	spin_unlock_irqrestore(&lines_lock, flags);
	va_end(args);
}

/* The step that fails, 1 is the next; 0 is none. */
static unsigned int fail_step;
/* The CPU is online, but not up to the state that is set up. */
static bool below_state;

static bool step_fails(void)
{
	return fail_step && !--fail_step;
}

/* What has been allocated and not been freed. */
static int nr_allocated;

static void *test_kzalloc(size_t size, gfp_t gfp)
{
	void *p = step_fails() ? NULL : kzalloc(size, gfp);

	nr_allocated += p ? 1 : 0;
	return p;
}

static void test_kfree(const void *p)
{
	nr_allocated -= p ? 1 : 0;
	kfree(p);
}

static void *test_kvzalloc(size_t size, gfp_t gfp)
{
	void *p = step_fails() ? NULL : kvzalloc(size, gfp);

	nr_allocated += p ? 1 : 0;
	return p;
}

static void *test_kcalloc(size_t n, size_t size, gfp_t gfp)
{
	return test_kzalloc(n * size, gfp);
}

static void *test_kvcalloc(size_t n, size_t size, gfp_t gfp)
{
	return test_kvzalloc(n * size, gfp);
}

static void test_kvfree(const void *p)
{
	nr_allocated -= p ? 1 : 0;
	kvfree(p);
}

static bool test_zalloc_cpumask_var(cpumask_var_t *mask, gfp_t gfp)
{
	return !step_fails() && zalloc_cpumask_var(mask, gfp);
}

static struct task_struct *test_kthread_run(int (*func)(void *), void *data)
{
	if (step_fails())
		return ERR_PTR(-EAGAIN);
	return kthread_run(func, data, "my_pmu/test");
}

#define WAKEUPS		8192

/* When the sampler wanted to be woken; and how late it is made to be, once. */
static u64 wakeups[WAKEUPS];
static unsigned int nr_wakeups;
static unsigned int oversleep_ms;

static int test_schedule_hrtimeout(ktime_t *expires, enum hrtimer_mode mode)
{
	int err;

	if (nr_wakeups < WAKEUPS)
		wakeups[nr_wakeups++] = ktime_to_ns(*expires);
	err = schedule_hrtimeout(expires, mode);
	if (!err && oversleep_ms) {
		__set_current_state(TASK_RUNNING);
		msleep(oversleep_ms);
		oversleep_ms = 0;
	}
	return err;
}

/* Hand-backs before the thread had ended. */
static unsigned int early_releases;

static int test_kthread_stop(struct task_struct *task)
{
	if (!sim_reservations.held)
		early_releases++;
	return kthread_stop(task);
}

static int test_setup_state(enum cpuhp_state state, const char *name,
			    int (*up)(unsigned int), int (*down)(unsigned int))
{
	if (step_fails())
		return -ENOSPC;
	return cpuhp_setup_state_nocalls_cpuslocked(state, name, up, down);
}

static bool test_cpu_active(unsigned int cpu)
{
	return !below_state && cpu_active(cpu);
}

/* Who is told of suspend and of reboot, and is not yet told that he is not. */
static int nr_told;

static int test_register_pm_notifier(struct notifier_block *nb)
{
	int err = step_fails() ? -EEXIST : register_pm_notifier(nb);

	nr_told += err ? 0 : 1;
	return err;
}

static int test_register_reboot_notifier(struct notifier_block *nb)
{
	int err = step_fails() ? -EEXIST : register_reboot_notifier(nb);

	nr_told += err ? 0 : 1;
	return err;
}

static int test_unregister_reboot_notifier(struct notifier_block *nb)
{
	nr_told--;
	return unregister_reboot_notifier(nb);
}

static int test_unregister_pm_notifier(struct notifier_block *nb)
{
	nr_told--;
	return unregister_pm_notifier(nb);
}

#undef __init
#define __init
#undef __exit
#define __exit
#undef module_init
#define module_init(func)	static int (*load)(void) = func
#undef module_exit
#define module_exit(func)	static void (*unload)(void) = func
#undef pr_info
#define pr_info			catch_line
#undef pr_err
#define pr_err			catch_line
#undef pr_err_ratelimited
#define pr_err_ratelimited	catch_line
#undef kzalloc
#define kzalloc			test_kzalloc
#undef kcalloc
#define kcalloc			test_kcalloc
#undef kfree
#define kfree			test_kfree
#undef kvzalloc
#define kvzalloc		test_kvzalloc
#undef kvcalloc
#define kvcalloc		test_kvcalloc
#undef kvfree
#define kvfree			test_kvfree
#undef schedule_hrtimeout
#define schedule_hrtimeout	test_schedule_hrtimeout
#undef zalloc_cpumask_var
#define zalloc_cpumask_var	test_zalloc_cpumask_var
#undef kthread_stop
#define kthread_stop		test_kthread_stop
#undef kthread_run
#define kthread_run(func, data, ...)	test_kthread_run(func, data)
#undef cpuhp_setup_state_nocalls_cpuslocked
#define cpuhp_setup_state_nocalls_cpuslocked	test_setup_state
#undef cpu_active
#define cpu_active		test_cpu_active
#undef register_reboot_notifier
#define register_reboot_notifier	test_register_reboot_notifier
#undef unregister_reboot_notifier
#define unregister_reboot_notifier	test_unregister_reboot_notifier
#undef register_pm_notifier
#define register_pm_notifier	test_register_pm_notifier
#undef unregister_pm_notifier
#define unregister_pm_notifier	test_unregister_pm_notifier

#include "pmu_core.c"
#include "pmu_print.c"
#include "pmu_samples.c"

#undef kzalloc
#undef kcalloc
#undef kfree
#undef kvzalloc
#undef kvcalloc
#undef kvfree
#undef schedule_hrtimeout
#undef zalloc_cpumask_var

/* --- loading -------------------------------------------------------------------- */

static bool loaded;

/* As it is without any. */
static const char *default_counters;

static int load_module(void)
{
	int err = load();

	loaded = !err;
	return err;
}

static void unload_module(void)
{
	loaded = false;
	unload();
}

static void set_parameters(const char *cpu, const char *counters,
			   const char *interval)
{
	if (!default_counters)
		default_counters = param_counters;
	param_cpu = (char *)cpu;
	param_counters = (char *)counters;
	param_interval = (char *)interval;
	param_freeze = "1";
	param_log = "1";
}

/* Of the PMU, and of its counters' owners, before the first sample. */
#define HEAD_LINES	6U

/* A list that each of the PMUs can count. */
#define EVERYWHERE	"instructions@gp0,cycles"

static int fresh_start(struct kunit *test)
{
	memset(&sim_reservations, 0, sizeof(sim_reservations));
	memset(&sim_perf, 0, sizeof(sim_perf));
	sim_hold_clock(false);
	fail_step = 0;
	below_state = false;
	nr_lines = 0;
	nr_wakeups = 0;
	oversleep_ms = 0;
	slow_print_ms = 0;
	nr_allocated = 0;
	nr_told = 0;
	early_releases = 0;
	return 0;
}

/* What a test that ended in the middle has left behind. */
static void clean_up(struct kunit *test)
{
	fail_step = 0;
	sim_cpu(TEST_CPU)->fail_nth = 0;
	sim_cpu(TEST_CPU)->fail_reg = 0;
	if (loaded)
		unload_module();
	test_bring_cpu_back();
	KUNIT_EXPECT_LT_MSG(test, nr_lines, (unsigned int)LINES,
			    "there may have been more");
	KUNIT_EXPECT_EQ_MSG(test, early_releases, 0U,
			    "handed back before the thread had ended");
	KUNIT_EXPECT_EQ_MSG(test, sim_perf.wrong, 0U,
			    "perf was asked when it had no PMU");
	KUNIT_EXPECT_EQ(test, sim_perf.held, 0);
}

/* How many of the lines begin so. */
static unsigned int count_lines(const char *start)
{
	unsigned int i, n = 0;

	for (i = 0; i < nr_lines; i++)
		n += str_has_prefix(lines[i], start) ? 1 : 0;
	return n;
}

static const char *last_line(void)
{
	return nr_lines ? lines[nr_lines - 1] : "";
}

/* Waits for that many lines that begin so. */
static bool wait_for_lines(const char *start, unsigned int n)
{
	unsigned int tries;

	for (tries = 0; tries < 5000; tries++) {
		if (count_lines(start) >= n)
			return true;
		usleep_range(1000, 2000);
	}
	return false;
}

static void expect_untouched(struct kunit *test, const struct sim_pmu *pmu,
			     const struct sim_registers *before)
{
	test_expect_registers(test, pmu, before, &sim_cpu(TEST_CPU)->regs);
	KUNIT_EXPECT_EQ(test, sim_reservations.held, 0U);
	KUNIT_EXPECT_EQ(test, sim_reservations.held_perfctr, 0U);
	KUNIT_EXPECT_EQ(test, nr_allocated, 0);
	KUNIT_EXPECT_EQ(test, nr_told, 0);
	test_expect_good_manners(test);
}

/**
 * struct refusal - parameters that are refused
 * @cpu: parameter
 * @counters: parameter
 * @interval: parameter
 * @err: errno
 * @line: the one message
 * @pmu: on this PMU; V4 if NULL
 */
struct refusal {
	const char *cpu, *counters, *interval;
	int err;
	const char *line;
	const struct sim_pmu *pmu;
};

static const struct sim_pmu no_pmu = { .name = "none", .version = 0 };
static const struct sim_pmu amd = { .name = "amd", .other_vendor = true };
static const struct sim_pmu xen = { .name = "xen", .xen_pv = true };

static const struct refusal refusals[] = {
	{ "2", EVERYWHERE, "5", -EINVAL,
	  "cpu: '2': no such CPU; 0-1 are there\n" },
	{ "99999", EVERYWHERE, "5", -EINVAL,
	  "cpu: '99999': no such CPU; 0-1 are there\n" },
	{ "2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2", EVERYWHERE,
	  "5", -EINVAL,
	  "cpu: '2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,': no such CPU; 0-1 are there\n" },
	{ "x123456789012345678901234567890123456789and-no-more", EVERYWHERE,
	  "5", -EINVAL,
	  "cpu: 'x123456789012345678901234567890123456789': a list of CPUs is needed, as 3 or 0-3,8, of 0-1; or all\n",
	},
	{ "", EVERYWHERE, "5", -EINVAL,
	  "cpu: '': a list of CPUs is needed, as 3 or 0-3,8, of 0-1; or all\n" },
	{ "x", EVERYWHERE, "5", -EINVAL,
	  "cpu: 'x': a list of CPUs is needed, as 3 or 0-3,8, of 0-1; or all\n" },
	{ "-1", EVERYWHERE, "5", -EINVAL,
	  "cpu: '-1': a list of CPUs is needed, as 3 or 0-3,8, of 0-1; or all\n" },
	{ "1", EVERYWHERE, "0", -EINVAL,
	  "interval: '0'; whole milliseconds from 1 on are needed\n" },
	{ "1", EVERYWHERE, "2097153", -ERANGE,
	  "interval: 2097153: a 48-bit counter must be read every 2097152 ms at least, or it could wrap unseen\n",
	},
	{ "1", "cycles@gp0,ref-cycles", "33", -ERANGE,
	  "interval: 33: a 32-bit counter must be read every 32 ms at least, or it could wrap unseen\n",
	  PMU(V4_NARROW_FIXED) },
	{ "1", "cycles@gp9", "5", -EINVAL,
	  "counters: 'cycles@gp9': CPU 1 has no gp9; it has 8 generic (gp) and 3 fixed counters\n",
	},
	{ "1", "cycle", "5", -EINVAL,
	  "counters: 'cycle': no event 'cycle'; known are instructions, cycles, LLC-loads and perf's other hardware and cache events, rUUEE, cpu/event=,umask=,edge,inv,cmask=/\n",
	},
	{ "1", "ref-cycles:D,ref-cycles:D", "5", -ENOSPC,
	  "counters: 'ref-cycles:D': no counter is left that counts it; CPU 1 has 8 generic (gp) and 3 fixed counters\n",
	},
	{ "1", EVERYWHERE, "5", -ENODEV,
	  "cpu1: no PMU: CPUID.0AH says version 0 (in a virtual machine, its hypervisor must provide one)\n",
	  &no_pmu },
	{ "1", EVERYWHERE, "5", -ENODEV,
	  "cpu1: no PMU that is known here: Intel's, Zhaoxin's and Centaur's are, AMD's is not yet\n",
	  &amd },
	{ "1", EVERYWHERE, "5", -ENODEV,
	  "cpu1: no PMU: a Xen PV guest's belongs to the hypervisor\n",
	  &xen },
};

static void refusal_desc(const struct refusal *row, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "cpu=%s counters=%s interval=%s %s",
		 row->cpu, row->counters, row->interval,
		 row->pmu ? row->pmu->name : "");
}

KUNIT_ARRAY_PARAM(refusal, refusals, refusal_desc);

static void core_refuses(struct kunit *test)
{
	const struct refusal *row = test->param_value;
	const struct sim_pmu *pmu = row->pmu ?: PMU(V4);
	struct sim_registers before;

	sim_reset(TEST_CPU, pmu);
	before = sim_cpu(TEST_CPU)->regs;
	set_parameters(row->cpu, row->counters, row->interval);
	KUNIT_EXPECT_EQ(test, load_module(), row->err);
	KUNIT_EXPECT_STREQ(test, last_line(), row->line);
	KUNIT_EXPECT_EQ(test, nr_lines, 1U);
	expect_untouched(test, pmu, &before);
}

static void core_refuses_switches(struct kunit *test)
{
	struct sim_registers before;

	sim_reset(TEST_CPU, PMU(V4));
	before = sim_cpu(TEST_CPU)->regs;
	set_parameters("1", EVERYWHERE, "5");
	param_freeze = "2";
	KUNIT_EXPECT_EQ(test, load_module(), -EINVAL);
	KUNIT_EXPECT_STREQ(test, last_line(), "freeze: '2'; 0 or 1 is needed\n");
	param_freeze = "1";
	param_log = "no";
	KUNIT_EXPECT_EQ(test, load_module(), -EINVAL);
	KUNIT_EXPECT_STREQ(test, last_line(), "log: 'no'; 0 or 1 is needed\n");
	KUNIT_EXPECT_EQ(test, nr_lines, 2U);
	expect_untouched(test, PMU(V4), &before);
}

static void core_refuses_offline(struct kunit *test)
{
	set_parameters("1", EVERYWHERE, "5");
	KUNIT_ASSERT_EQ(test, remove_cpu(TEST_CPU), 0);
	KUNIT_EXPECT_EQ(test, load_module(), -ENXIO);
	KUNIT_EXPECT_STREQ(test, last_line(),
			   "cpu: 1 is offline; bring it online, or choose of 0\n");
	KUNIT_ASSERT_EQ(test, add_cpu(TEST_CPU), 0);
}

static void core_refuses_busy(struct kunit *test)
{
	struct sim_registers before;

	sim_reset(TEST_CPU, PMU(V4));
	before = sim_cpu(TEST_CPU)->regs;
	set_parameters("1", EVERYWHERE, "5");
	sim_reservations.foreign = BIT(3);
	KUNIT_EXPECT_EQ(test, load_module(), -EBUSY);
	KUNIT_EXPECT_STREQ(test, last_line(),
			   "the PMU is in use, by perf or the NMI watchdog: end perf, and 'sysctl kernel.nmi_watchdog=0'\n");
	KUNIT_EXPECT_EQ(test, nr_lines, 1U);
	expect_untouched(test, PMU(V4), &before);
}

/* Hotplug of the CPU was stopped by hand, below our state. */
static void core_refuses_half_online(struct kunit *test)
{
	struct sim_registers before;

	sim_reset(TEST_CPU, PMU(V4));
	before = sim_cpu(TEST_CPU)->regs;
	set_parameters("1", EVERYWHERE, "5");
	below_state = true;
	KUNIT_EXPECT_EQ(test, load_module(), -ENXIO);
	KUNIT_EXPECT_STREQ(test, last_line(),
			   "cpu: 1 is not all the way online\n");
	expect_untouched(test, PMU(V4), &before);
}

/* --- what it says of the PMU -------------------------------------------------------- */

struct pmu_lines {
	const struct sim_pmu *pmu;
	const char *lines[4];
	const char *held, *used;
};

static const struct pmu_lines pmu_lines[] = {
	{ PMU(V4), { "... version:              4\n",
		"... bit width:            48\n",
		"... generic registers:    8 (gp0-7)\n",
		"... fixed-purpose events: 3 (fixed0-2), 48 bits\n" },
		"gp0-7", "gp0 fixed1" },
	{ PMU(V1_40), { "... version:              1\n",
		"... bit width:            40\n",
		"... generic registers:    2 (gp0-1)\n",
		"... fixed-purpose events: 0\n" },
		"gp0-1", "gp0-1" },
	{ PMU(V5_HOLE), { "... version:              5\n",
		"... bit width:            48\n",
		"... generic registers:    6 (gp0-5)\n",
		"... fixed-purpose events: 2 (fixed0,2), 48 bits\n" },
		"gp0-5", "gp0-1" },
};

static void pmu_lines_desc(const struct pmu_lines *row, char *desc)
{
	test_pmu_desc(row->pmu, desc);
}

KUNIT_ARRAY_PARAM(pmu_lines, pmu_lines, pmu_lines_desc);

static void core_prints_pmu(struct kunit *test)
{
	const struct pmu_lines *row = test->param_value;
	const struct cpuinfo_x86 *info = &cpu_data(1);
	char line[128];
	unsigned int i;

	sim_reset(TEST_CPU, row->pmu);
	set_parameters("1", EVERYWHERE, "8000");
	KUNIT_ASSERT_EQ(test, load_module(), 0);
	KUNIT_EXPECT_EQ(test, nr_lines, HEAD_LINES);
	snprintf(line, sizeof(line), "cpu1: %s, family %u model %u stepping %u\n",
		 info->x86_model_id, info->x86, info->x86_model,
		 info->x86_stepping);
	KUNIT_EXPECT_STREQ(test, lines[0], line);
	for (i = 0; i < ARRAY_SIZE(row->lines); i++)
		KUNIT_EXPECT_STREQ(test, lines[i + 1], row->lines[i]);
	snprintf(line, sizeof(line),
		 "cpu1: held against perf, on all CPUs: %s; counting: %s; the firmware's: none\n",
		 row->held, row->used);
	KUNIT_EXPECT_STREQ(test, lines[i + 1], line);
	unload_module();
}

/* --- each step made to fail in turn --------------------------------------------------- */

static int load_on(const struct sim_pmu *pmu, struct sim_registers *before)
{
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	unsigned int nth = sim->fail_nth;

	sim_reset(TEST_CPU, pmu);
	test_leave_traces(sim);
	*before = sim->regs;
	sim->fail_nth = nth;
	nr_lines = 0;
	set_parameters("1", EVERYWHERE, "1");
	return load_module();
}

/*
 * Ten times on each PMU, that is far more often than there are dynamic hotplug
 * states (30 in Linux 6.1, 40 in 6.12): one that is left behind shows, too.
 */
static void core_unwinds_steps(struct kunit *test)
{
	const struct sim_pmu *pmu = test->param_value;
	struct sim_registers before;
	unsigned int step, round;

	for (round = 0; round < 10; round++) {
		for (step = 1; ; step++) {
			fail_step = step;
			if (!load_on(pmu, &before))
				break;
			KUNIT_ASSERT_EQ_MSG(test, fail_step, 0U,
					    "refused: %s", last_line());
			expect_untouched(test, pmu, &before);
		}
		/*
		 * Session, its two tables and three masks, target, hotplug,
		 * the file's rows, notices of suspend and of reboot, thread; and
		 * the thread's own mask, which it goes without, if it has come
		 * so far.
		 */
		KUNIT_EXPECT_GE(test, step, 13U);
		KUNIT_EXPECT_LE(test, step, 14U);
		unload_module();
		fail_step = 0;
		expect_untouched(test, pmu, &before);
	}
}

static void core_unwinds_reservations(struct kunit *test)
{
	const struct sim_pmu *pmu = test->param_value;
	struct sim_registers before;
	unsigned int nth;

	for (nth = 1; ; nth++) {
		sim_reservations.fail_nth = nth;
		if (!load_on(pmu, &before))
			break;
		KUNIT_ASSERT_EQ_MSG(test, sim_reservations.fail_nth, 0U,
				    "refused: %s", last_line());
		expect_untouched(test, pmu, &before);
	}
	/* Of each counter the event select, and the counter. */
	KUNIT_EXPECT_EQ(test, nth, 2 * pmu->gp + 1);
	sim_reservations.fail_nth = 0;
	unload_module();
	expect_untouched(test, pmu, &before);
}

static void core_unwinds_registers(struct kunit *test)
{
	const struct sim_pmu *pmu = test->param_value;
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct sim_registers before;
	unsigned int nth;

	for (nth = 1; ; nth++) {
		sim->fail_nth = nth;
		if (!load_on(pmu, &before))
			break;
		KUNIT_ASSERT_EQ_MSG(test, sim->fail_nth, 0U,
				    "refused: %s", last_line());
		KUNIT_EXPECT_TRUE_MSG(test, strstr(last_line(), "fault"),
				      "access %u: %s", nth, last_line());
		test_forgive_restoring(&before, sim);
		expect_untouched(test, pmu, &before);
	}
	sim->fail_nth = 0;
	KUNIT_EXPECT_GT(test, nth, 8U);
	unload_module();
	expect_untouched(test, pmu, &before);
}

/* --- samples ------------------------------------------------------------------------------ */

static void retire_1000(void *unused)
{
	struct sim_cpu *sim = sim_cpu(smp_processor_id());

	sim_retire(sim, 0xc0, 0x00, true, 1000);
	sim_retire(sim, 0x3c, 0x00, true, 3000);
}

/* The sum of what the lines say of this counter. */
static u64 total(const char *key)
{
	unsigned int i;
	u64 sum = 0;

	for (i = 0; i < nr_lines; i++) {
		const char *at = strstr(lines[i], key);
		u64 n;

		if (at && sscanf(at + strlen(key), "%llu", &n) == 1)
			sum += n;
	}
	return sum;
}

static void core_samples(struct kunit *test)
{
	unsigned int before, i;

	sim_reset(TEST_CPU, PMU(V4));
	/* What a counter held before is not growth. */
	sim_cpu(TEST_CPU)->regs.pmc[2] = 12345;
	set_parameters("1", "instructions@gp2,cycles:u@fixed1", "2");
	KUNIT_ASSERT_EQ(test, load_module(), 0);
	for (i = 0; i < 10; i++) {
		KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, retire_1000, NULL));
		usleep_range(1000, 2000);
	}
	before = count_lines("cpu1 t=");
	KUNIT_EXPECT_TRUE(test, wait_for_lines("cpu1 t=", before + 2));
	unload_module();
	before = nr_lines;
	msleep(20);
	KUNIT_EXPECT_EQ(test, nr_lines, before);
	KUNIT_EXPECT_EQ(test, total(" instructions@gp2="), 10000ULL);
	KUNIT_EXPECT_EQ(test, total(" cycles:u@fixed1="), 30000ULL);
	test_expect_good_manners(test);
}

static u64 abs_diff_ns(u64 a, u64 b)
{
	return a > b ? a - b : b - a;
}

static bool woke_at(u64 ns)
{
	unsigned int i;

	for (i = 0; i < nr_wakeups; i++) {
		if (wakeups[i] == ns)
			return true;
	}
	return false;
}

struct sample_line {
	u64 t, dt;		/* ns, but in whole microseconds */
	u64 missed;
};

static bool parse_line(const char *line, struct sample_line *sample)
{
	u64 t, t_us, dt, dt_us;
	const char *missed = strstr(line, " missed=");

	if (sscanf(line, "cpu1 t=%llu.%6llu dt=%llu.%6llu ", &t, &t_us, &dt,
		   &dt_us) != 4)
		return false;
	sample->t = t * NSEC_PER_SEC + t_us * NSEC_PER_USEC;
	sample->dt = dt * NSEC_PER_SEC + dt_us * NSEC_PER_USEC;
	sample->missed = 0;
	return !missed || sscanf(missed, " missed=%llu", &sample->missed) == 1;
}

/* The format itself: seconds, and six digits. */
static void core_line(struct kunit *test)
{
	u64 t, t_us, dt, dt_us;
	char head[80];
	int n;

	sim_reset(TEST_CPU, PMU(V4));
	set_parameters("1", EVERYWHERE, "20");
	KUNIT_ASSERT_EQ(test, load_module(), 0);
	KUNIT_ASSERT_TRUE(test, wait_for_lines("cpu1 t=", 1));
	unload_module();
	n = sscanf(lines[HEAD_LINES], "cpu1 t=%llu.%6llu dt=%llu.%6llu ", &t, &t_us, &dt,
		   &dt_us);
	KUNIT_ASSERT_EQ(test, n, 4);
	snprintf(head, sizeof(head), "cpu1 t=%llu.%06llu dt=%llu.%06llu ", t,
		 t_us, dt, dt_us);
	KUNIT_EXPECT_EQ(test, strncmp(lines[HEAD_LINES], head, strlen(head)), 0);
}

/*
 * Sample k is due at the start + k intervals, however late one is; the ticks
 * that a line tells, and those that it says were missed, are all there were.
 */
static void core_ticks(struct kunit *test)
{
	u64 interval = 5 * NSEC_PER_MSEC, start, ticks = 0;
	u64 before, after;
	struct sample_line sample = {}, last = {};
	unsigned int i;

	sim_reset(TEST_CPU, PMU(V4));
	set_parameters("1", EVERYWHERE, "5");
	before = ktime_get_ns();
	KUNIT_ASSERT_EQ(test, load_module(), 0);
	after = ktime_get_ns();
	KUNIT_ASSERT_TRUE(test, wait_for_lines("cpu1 t=", 5));
	oversleep_ms = 37;
	KUNIT_ASSERT_TRUE(test, wait_for_lines("cpu1 t=",
					       count_lines("cpu1 t=") + 5));
	KUNIT_ASSERT_EQ(test, remove_cpu(TEST_CPU), 0);
	msleep(30);
	KUNIT_ASSERT_EQ(test, add_cpu(TEST_CPU), 0);
	KUNIT_ASSERT_TRUE(test, wait_for_lines("cpu1 t=",
					       count_lines("cpu1 t=") + 5));
	unload_module();

	KUNIT_EXPECT_GE(test, total(" missed="), 10ULL);
	start = wakeups[0] - interval;
	KUNIT_EXPECT_GE(test, start, before);
	KUNIT_EXPECT_LE(test, start, after);
	for (i = 0; i < nr_wakeups; i++)
		KUNIT_EXPECT_EQ(test, (wakeups[i] - start) % interval, 0ULL);
	for (i = 0; i < nr_lines; i++) {
		if (!parse_line(lines[i], &sample))
			continue;
		ticks += sample.missed + 1;
		/* to the microsecond, cut off in each of them */
		KUNIT_EXPECT_LE(test, abs_diff_ns(sample.t - sample.dt,
						  last.t ?: start), 2000ULL);
		KUNIT_EXPECT_TRUE(test, woke_at(start + ticks * interval));
		KUNIT_EXPECT_GE(test, sample.t + NSEC_PER_USEC,
				start + ticks * interval);
		last = sample;
	}
}

/* Not on the CPU that is measured; but where there is no other, there. */
static void core_sampler_keeps_off(struct kunit *test)
{
	sim_reset(0, PMU(V4));
	sim_reset(1, PMU(V4));
	set_parameters("1", EVERYWHERE, "1");
	KUNIT_ASSERT_EQ(test, load_module(), 0);
	KUNIT_EXPECT_TRUE(test, wait_for_lines("cpu1 t=", 1));
	KUNIT_EXPECT_FALSE(test, cpumask_test_cpu(1, &session->sampler->cpus_mask));
	KUNIT_EXPECT_TRUE(test, cpumask_test_cpu(0, &session->sampler->cpus_mask));
	unload_module();

	KUNIT_ASSERT_EQ(test, remove_cpu(1), 0);
	set_parameters("0", EVERYWHERE, "1");
	KUNIT_ASSERT_EQ(test, load_module(), 0);
	KUNIT_EXPECT_TRUE(test, wait_for_lines("cpu0 t=", 1));
	KUNIT_EXPECT_TRUE(test, cpumask_test_cpu(0, &session->sampler->cpus_mask));
	unload_module();
	KUNIT_ASSERT_EQ(test, add_cpu(1), 0);
}

/* On the CPU, because the sampler comes there while we do it. */
static void write_7(void *counter)
{
	*(u64 *)counter = 7;
}

static void fail_next(void *unused)
{
	sim_cpu(TEST_CPU)->fail_nth = 1;
}

static unsigned int count_having(const char *key)
{
	unsigned int i, n = 0;

	for (i = 0; i < nr_lines; i++)
		n += strstr(lines[i], key) ? 1 : 0;
	return n;
}

/* A counter that somebody writes is told instead of its growth. */
static void core_stolen(struct kunit *test)
{
	unsigned int tries;

	sim_reset(TEST_CPU, PMU(V4));
	sim_cpu(TEST_CPU)->regs.pmc[0] = 1000;
	set_parameters("1", EVERYWHERE, "1");
	KUNIT_ASSERT_EQ(test, load_module(), 0);
	KUNIT_EXPECT_TRUE(test, wait_for_lines("cpu1 t=", 1));
	KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, write_7,
					  &sim_cpu(TEST_CPU)->regs.pmc[0]));
	for (tries = 0; tries < 5000 && !count_having(" stolen="); tries++)
		usleep_range(1000, 2000);
	KUNIT_EXPECT_TRUE(test, wait_for_lines("cpu1 t=",
					       count_lines("cpu1 t=") + 2));
	unload_module();
	KUNIT_EXPECT_EQ(test, count_having(" stolen=gp0"), 1U);
	KUNIT_EXPECT_EQ(test, count_having(" stolen="), 1U);
	KUNIT_EXPECT_EQ(test, total(" instructions@gp0="), 0ULL);
	KUNIT_EXPECT_TRUE(test, strstr(lines[nr_lines - 1], " instructions@gp0=0"));
}

/* What a line begins with, up to the events: each mark only if there is one. */
#define HEAD	"cpu1 t=12.000345 dt=5.000000 latency=678"

static void core_marks(struct kunit *test)
{
	static const struct {
		struct my_pmu_marks marks;
		u64 missed;
		const char *line;
	} rows[] = {
		{ { 0, 0, 0 }, 0,
		  HEAD " instructions@gp0=7 cycles@fixed1=9\n" },
		{ { 0, 0, 0 }, 3,
		  HEAD " missed=3 instructions@gp0=7 cycles@fixed1=9\n" },
		{ { .wrapped = BIT_ULL(33) }, 0,
		  HEAD " wrapped=fixed1 instructions@gp0=7 cycles@fixed1=9\n" },
		{ { .stolen = BIT_ULL(0) }, 0,
		  HEAD " stolen=gp0 cycles@fixed1=9\n" },
		{ { .late = BIT_ULL(33) }, 0,
		  HEAD " late=fixed1 instructions@gp0=7\n" },
		{ { .stolen = BIT_ULL(0) | BIT_ULL(33) }, 0,
		  HEAD " stolen=gp0,fixed1\n" },
		{ { .stolen = BIT_ULL(0), .late = BIT_ULL(33),
		    .wrapped = BIT_ULL(0) | BIT_ULL(33) }, 1,
		  HEAD " missed=1 wrapped=gp0,fixed1 stolen=gp0 late=fixed1\n" },
	};
	struct my_target *t;
	unsigned int i;

	sim_reset(TEST_CPU, PMU(V4));
	set_parameters("1", EVERYWHERE, "2000000");
	KUNIT_ASSERT_EQ(test, load_module(), 0);
	t = first_target(session);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		u64 unknown = rows[i].marks.stolen | rows[i].marks.late;

		t->missed = rows[i].missed;
		t->sample = (struct my_pmu_sample) {
			.asked = 12000344999ULL, .time = 12000345677ULL,
			.uptime = 5005, .marks = rows[i].marks,
			.count = { 1007, 109 },
			.running = { unknown & BIT_ULL(0) ? 6 : 5005,
				     unknown & BIT_ULL(33) ? 6 : 5005 } };
		t->last = (struct my_pmu_sample) {
			.time = 7000345677ULL, .uptime = 5,
			.count = { 1000, 100 }, .running = { 5, 5 } };
		my_print_sample(&session->printer, t);
		KUNIT_EXPECT_STREQ(test, last_line(), rows[i].line);
	}
	unload_module();
}

/* How long it took from asking the CPU to its counters' standstill, in each line. */
static void core_latency(struct kunit *test)
{
	unsigned int i, n = 0;
	u64 ns;

	sim_reset(TEST_CPU, PMU(V4));
	set_parameters("1", EVERYWHERE, "1");
	KUNIT_ASSERT_EQ(test, load_module(), 0);
	KUNIT_ASSERT_TRUE(test, wait_for_lines("cpu1 t=", 5));
	unload_module();
	for (i = HEAD_LINES; i < nr_lines; i++) {
		const char *at = strstr(lines[i], " latency=");

		KUNIT_ASSERT_NOT_NULL(test, at);
		if (sscanf(at, " latency=%llu ", &ns) != 1)
			KUNIT_FAIL(test, "%s", lines[i]);
		KUNIT_EXPECT_GT(test, ns, 0ULL);
		KUNIT_EXPECT_LT(test, ns, (u64)NSEC_PER_SEC);
		n++;
	}
	KUNIT_EXPECT_GE(test, n, 5U);
}

/* A counter that does not tell of its wraps, and a thread that oversleeps. */
static void core_late(struct kunit *test)
{
	sim_reset(TEST_CPU, PMU(V4_NARROW_FIXED));
	sim_cpu(TEST_CPU)->broken = SIM_NO_OVERFLOW;
	sim_cpu(TEST_CPU)->broken_counters = BIT_ULL(33);
	set_parameters("1", EVERYWHERE, "30");
	oversleep_ms = 100;
	KUNIT_ASSERT_EQ(test, load_module(), 0);
	KUNIT_ASSERT_TRUE(test, wait_for_lines("cpu1 t=", 2));
	unload_module();
	KUNIT_EXPECT_TRUE(test, strstr(lines[HEAD_LINES], " late=fixed1 instructions@gp0=0\n"));
	KUNIT_EXPECT_FALSE(test, strstr(lines[HEAD_LINES], "cycles@fixed1"));
}

/* --- who owns what ----------------------------------------------------------------------- */

/* The whole file but for its first line, in which ours are in this state. */
static void expect_owners(struct kunit *test, const char *state)
{
	struct seq_file m = { .size = 4096, .private = session };
	const char *owners;
	char wanted[256];

	m.buf = kunit_kzalloc(test, m.size, GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, m.buf);
	KUNIT_EXPECT_EQ(test, counters_show(&m, NULL), 0);
	KUNIT_ASSERT_LT(test, m.count, m.size);
	snprintf(wanted, sizeof(wanted),
		 "cpu1 gp0 %s cycles:u\n"
		 "cpu1 gp1 firmware\n"
		 "cpu1 gp2 %s branches\n"
		 "cpu1 gp3 held\n"
		 "cpu1 fixed0 firmware\n"
		 "cpu1 fixed1 %s cycles\n"
		 "cpu1 fixed2 unused\n", state, state, state);
	KUNIT_EXPECT_TRUE(test, str_has_prefix(m.buf, "cpu1 samples "));
	owners = strchr(m.buf, '\n');
	KUNIT_ASSERT_NOT_NULL(test, owners);
	KUNIT_EXPECT_STREQ(test, owners + 1, wanted);
}

/* Whoever opens the file is shown this load. */
static void expect_opens(struct kunit *test, struct inode *inode)
{
	struct file *file = kunit_kzalloc(test, sizeof(*file), GFP_KERNEL);
	struct seq_file *m;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, file);
	KUNIT_ASSERT_EQ(test, counters_fops.open(inode, file), 0);
	m = file->private_data;
	KUNIT_EXPECT_PTR_EQ(test, m->private, (void *)session);
	KUNIT_EXPECT_EQ(test, counters_fops.release(inode, file), 0);
}

static void core_counters_file(struct kunit *test)
{
	struct dentry *file;

	sim_reset(TEST_CPU, PMU(V4_NARROW_FIXED));
	sim_cpu(TEST_CPU)->regs.evtsel[1] = 0x4300c4;
	sim_cpu(TEST_CPU)->regs.fixed_ctr_ctrl = 0x2;
	sim_reservations.firmware = BIT(1);
	set_parameters("1", "cycles,branches@gp2,cycles:u@gp0", "30");
	KUNIT_ASSERT_EQ(test, load_module(), 0);
	expect_owners(test, "counting");
	KUNIT_ASSERT_EQ(test, remove_cpu(TEST_CPU), 0);
	expect_owners(test, "resting");
	KUNIT_ASSERT_EQ(test, add_cpu(TEST_CPU), 0);
	expect_owners(test, "counting");

	/* Root's only, and gone with the module. */
	KUNIT_ASSERT_FALSE(test, IS_ERR_OR_NULL(session->dir));
	file = debugfs_lookup("counters", session->dir);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, file);
	KUNIT_EXPECT_EQ(test, d_inode(file)->i_mode, S_IFREG | 0400);
	expect_opens(test, d_inode(file));
	dput(file);
	unload_module();
	file = debugfs_lookup("my_pmu", NULL);
	KUNIT_EXPECT_NULL(test, file);
	dput(file);
	test_expect_good_manners(test);
}

/* --- names ------------------------------------------------------------------------------- */

static const struct sim_perf_event perfs_events[] = {
	{ 0, 0, 0x13003c },
	{ 0, 1, 0x1300c0 },
	{ 0, 2, 0x134f2e },	/* EBX says that it is absent */
	{ 0, 7, 0x193010e },
	{ 0, 9, 0x130300 },
	{ 3, 0, 0x1381d0 },
	{ 3, 2, 0x1301b7, true },
};

static const struct sim_pmu v4_without_caches = {
	.name = "v4-without-caches", .version = 4, .gp = 5, .width = 48,
	.fixed = 3, .fixed_width = 48, .pdcm = true, .full_width = true,
	.ebx = 0x18, .ebx_length = 7,
};

static void core_events_file(struct kunit *test)
{
	struct seq_file m = { .size = 4096 };
	struct dentry *file;

	sim_reset(TEST_CPU, &v4_without_caches);
	sim_perf.events = perfs_events;
	sim_perf.nr = ARRAY_SIZE(perfs_events);
	set_parameters("1", "stalled-cycles-frontend:u@gp2,cycles", "30");
	KUNIT_ASSERT_EQ(test, load_module(), 0);
	KUNIT_EXPECT_EQ(test, sim_cpu(TEST_CPU)->regs.evtsel[2], 0x1c1010eULL);
	KUNIT_EXPECT_EQ(test, sim_perf.cpu, TEST_CPU);
	m.private = session;
	m.buf = kunit_kzalloc(test, m.size, GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, m.buf);
	KUNIT_EXPECT_EQ(test, events_show(&m, NULL), 0);
	KUNIT_ASSERT_LT(test, m.count, m.size);
	KUNIT_EXPECT_STREQ(test, m.buf,
			   "cpu1 cpu-cycles 0x3c gp0-4,fixed1\n"
			   "cpu1 instructions 0xc0 gp0-4,fixed0\n"
			   "cpu1 cache-references 0x4f2e gp0-4\n"
			   "cpu1 branch-instructions 0xc4 gp0-4\n"
			   "cpu1 branch-misses 0xc5 gp0-4\n"
			   "cpu1 bus-cycles 0x13c gp0-4\n"
			   "cpu1 stalled-cycles-frontend 0x180010e gp0-4\n"
			   "cpu1 ref-cycles 0x300 fixed2\n"
			   "cpu1 L1-dcache-loads 0x81d0 gp0-4\n");

	KUNIT_ASSERT_FALSE(test, IS_ERR_OR_NULL(session->dir));
	file = debugfs_lookup("events", session->dir);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, file);
	KUNIT_EXPECT_EQ(test, d_inode(file)->i_mode, S_IFREG | 0400);
	dput(file);
	unload_module();
}

struct set_row {
	u64 set;
	const char *text;
};

static const struct set_row set_rows[] = {
	{ 0, "" },
	{ 0x1, "gp0" },
	{ 0x80000000, "gp31" },
	{ 0x180000000, "gp31,fixed0" },
	{ 0x8000000000000000, "fixed31" },
	{ 0xffffffffffffffff, "gp0-31,fixed0-31" },
	{ 0x500000019, "gp0,gp3-4,fixed0,fixed2" },
};

static void core_show_set(struct kunit *test)
{
	char text[128];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(set_rows); i++) {
		struct seq_file m = { .buf = text, .size = sizeof(text) };

		show_set(&m, set_rows[i].set);
		text[m.count] = '\0';
		KUNIT_EXPECT_STREQ(test, text, set_rows[i].text);
	}
}

/* What perf says is told when it is known that there is a PMU; nothing is touched. */
static void core_refuses_names(struct kunit *test)
{
	struct sim_registers before;

	sim_reset(TEST_CPU, PMU(V4));
	before = sim_cpu(TEST_CPU)->regs;
	sim_perf.events = perfs_events;
	sim_perf.nr = ARRAY_SIZE(perfs_events);
	set_parameters("1", "cycles,LLC-loads", "30");
	KUNIT_EXPECT_EQ(test, load_module(), -EOPNOTSUPP);
	KUNIT_EXPECT_STREQ(test, last_line(),
			   "counters: 'LLC-loads': it needs an extra register, which is not programmed here\n");
	sim_perf.fail_nth = 10;
	set_parameters("1", EVERYWHERE, "30");
	KUNIT_EXPECT_EQ(test, load_module(), -ENOMEM);
	KUNIT_EXPECT_EQ(test, nr_lines, 2U);
	expect_untouched(test, PMU(V4), &before);
	sim_reset(TEST_CPU, &no_pmu);
	sim_perf.err = -ENOENT;
	set_parameters("1", "LLC-loads", "30");
	KUNIT_EXPECT_EQ(test, load_module(), -ENODEV);
	KUNIT_EXPECT_EQ(test, nr_lines, 3U);
}

static void retire_firmware(void *unused)
{
	sim_retire(sim_cpu(TEST_CPU), 0xc4, 0x00, true, 11);
	sim_retire(sim_cpu(TEST_CPU), 0xc0, 0x00, true, 1000);
}

/* The firmware's counter counts on through all of our life, as if we were not. */
static void core_firmware(struct kunit *test)
{
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct sim_registers before;

	sim_reset(TEST_CPU, PMU(V4));
	test_leave_traces(sim);
	sim->regs.evtsel[2] = 0x4300c4;
	sim->regs.pmc[2] = 0xfffffffff000;
	sim_reservations.firmware = BIT(2);
	before = sim->regs;
	set_parameters("1", "instructions,cycles,instructions,cycles,branches,branches",
		       "1");
	KUNIT_ASSERT_EQ(test, load_module(), 0);
	KUNIT_EXPECT_STREQ(test, lines[HEAD_LINES - 1],
			   "cpu1: held against perf, on all CPUs: gp0-7; counting: gp0-1,3-4 fixed0-1; the firmware's: gp2\n");
	KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, retire_firmware, NULL));
	KUNIT_EXPECT_EQ(test, sim->regs.evtsel[2], 0x4300c4ULL);
	KUNIT_EXPECT_TRUE(test, sim->regs.global_ctrl & BIT_ULL(2));
	KUNIT_EXPECT_TRUE(test, wait_for_lines("cpu1 t=", 3));
	KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, retire_firmware, NULL));
	KUNIT_EXPECT_TRUE(test, wait_for_lines("cpu1 t=",
					       count_lines("cpu1 t=") + 2));
	unload_module();
	KUNIT_EXPECT_EQ(test, total(" instructions@gp0="), 2000ULL);
	KUNIT_EXPECT_EQ(test, total(" branches@gp3="), 22ULL);
	KUNIT_EXPECT_EQ(test, count_having(" stolen="), 0U);
	before.pmc[2] += 22;
	expect_untouched(test, PMU(V4), &before);
}

/* The default pins an event to it; then it says so, and has touched nothing. */
static void core_firmware_is_pinned(struct kunit *test)
{
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct sim_registers before;

	sim_reset(TEST_CPU, PMU(V4));
	test_leave_traces(sim);
	sim->regs.evtsel[2] = 0x4300c4;
	sim_reservations.firmware = BIT(2);
	before = sim->regs;
	set_parameters("1", "", "5000");
	param_counters = (char *)default_counters;
	KUNIT_EXPECT_EQ(test, load_module(), -EBUSY);
	KUNIT_EXPECT_EQ(test, nr_lines, 1U);
	KUNIT_EXPECT_STREQ(test, last_line(),
			   "counters: 'instructions@gp2': gp2 is in use on CPU 1, and not by Linux: its firmware has it; without a pin, as in counters=instructions,cycles, the module chooses\n");
	expect_untouched(test, PMU(V4), &before);
}

/* While the CPU was away its firmware has taken one of ours; then it gives it back. */
static void core_firmware_while_away(struct kunit *test)
{
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct sim_registers before, taken;
	unsigned int samples;

	KUNIT_ASSERT_EQ(test, load_on(PMU(V4), &before), 0);
	KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, retire_1000, NULL));
	KUNIT_ASSERT_EQ(test, remove_cpu(TEST_CPU), 0);
	sim->regs.evtsel[0] = 0x4300c4;
	taken = sim->regs;
	KUNIT_ASSERT_EQ(test, add_cpu(TEST_CPU), 0);
	KUNIT_EXPECT_STREQ(test, last_line(),
			   "cpu1 is back, but cannot be counted on: gp0 is in use, and not by Linux: its firmware has it\n");
	samples = count_lines("cpu1 t=");
	msleep(20);
	KUNIT_EXPECT_EQ(test, count_lines("cpu1 t="), samples);
	KUNIT_ASSERT_EQ(test, remove_cpu(TEST_CPU), 0);
	test_expect_registers(test, PMU(V4), &taken, &sim->regs);
	sim->regs.evtsel[0] = before.evtsel[0];
	KUNIT_ASSERT_EQ(test, add_cpu(TEST_CPU), 0);
	KUNIT_EXPECT_EQ(test, count_lines("cpu1 is back, counting goes on\n"), 1U);
	KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, retire_1000, NULL));
	KUNIT_EXPECT_TRUE(test, wait_for_lines("cpu1 t=",
					       count_lines("cpu1 t=") + 2));
	unload_module();
	/* That it goes is news only if it counted. */
	KUNIT_EXPECT_EQ(test, count_lines("cpu1 goes offline, counting rests\n"), 1U);
	KUNIT_EXPECT_EQ(test, total(" instructions@gp0="), 2000ULL);
	expect_untouched(test, PMU(V4), &before);
}

/* What the CPU is refused for at load is what is said. */
static void core_refuses_liar(struct kunit *test)
{
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct sim_registers before;

	sim_reset(TEST_CPU, PMU(V4));
	test_leave_traces(sim);
	before = sim->regs;
	sim->broken = SIM_DEAD;
	sim->broken_counters = BIT_ULL(33);
	set_parameters("1", EVERYWHERE, "5");
	KUNIT_EXPECT_EQ(test, load_module(), -ENODEV);
	KUNIT_EXPECT_STREQ(test, last_line(),
			   "cpu1: fixed1 stands still: it counts no cycles in code of 2048 instructions\n");
	expect_untouched(test, PMU(V4), &before);
}

/* So many samples more, whether or not they are printed. */
static bool wait_for_samples(unsigned int n)
{
	const struct my_target *t = session->target[TEST_CPU];
	u64 wanted = READ_ONCE(t->nr_samples) + n;
	unsigned int i;

	for (i = 0; i < 1000 && READ_ONCE(t->nr_samples) < wanted; i++)
		msleep(20);
	return READ_ONCE(t->nr_samples) >= wanted;
}

/* Samples go on, and are in the file; there are no lines of them. */
static void core_log_off(struct kunit *test)
{
	sim_reset(TEST_CPU, PMU(V4));
	set_parameters("1", EVERYWHERE, "1");
	param_log = "0";
	KUNIT_ASSERT_EQ(test, load_module(), 0);
	KUNIT_EXPECT_TRUE(test, wait_for_samples(5));
	KUNIT_EXPECT_GE(test, session->samples.head, 2 * 5ULL);
	unload_module();
	KUNIT_EXPECT_EQ(test, count_lines("cpu1 t="), 0U);
}

static void count_writes(void *count)
{
	struct sim_cpu *sim = sim_cpu(smp_processor_id());
	unsigned int i, n = min_t(unsigned int, sim->accesses, SIM_ACCESSES);

	for (i = 0; i < n; i++)
		*(unsigned int *)count += sim->log[i].op == SIM_WRMSR;
	sim_clear_log(sim);
}

static void core_freeze(struct kunit *test)
{
	unsigned int frozen = 0, unfrozen = 0;

	sim_reset(TEST_CPU, PMU(V4));
	set_parameters("1", EVERYWHERE, "1");
	KUNIT_ASSERT_EQ(test, load_module(), 0);
	KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, count_writes, &frozen));
	frozen = 0;
	KUNIT_EXPECT_TRUE(test, wait_for_samples(2));
	KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, count_writes, &frozen));
	KUNIT_EXPECT_GE(test, frozen, 2 * 2U);
	unload_module();
	param_freeze = "0";
	KUNIT_ASSERT_EQ(test, load_module(), 0);
	KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, count_writes, &unfrozen));
	unfrozen = 0;
	KUNIT_EXPECT_TRUE(test, wait_for_samples(5));
	KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, count_writes, &unfrozen));
	KUNIT_EXPECT_EQ(test, unfrozen, 0U);
	unload_module();
}

/* A register that faults: no sample, one message, and it is told as missed. */
static void core_no_sample(struct kunit *test)
{
	sim_reset(TEST_CPU, PMU(V4));
	set_parameters("1", EVERYWHERE, "1");
	KUNIT_ASSERT_EQ(test, load_module(), 0);
	KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, fail_next, NULL));
	KUNIT_EXPECT_TRUE(test, wait_for_lines("cpu1: no sample: a PMU register faulted\n", 1));
	KUNIT_EXPECT_TRUE(test, wait_for_lines("cpu1 t=",
					       count_lines("cpu1 t=") + 2));
	unload_module();
	KUNIT_EXPECT_EQ(test, count_lines("cpu1: no sample"), 1U);
	KUNIT_EXPECT_GE(test, total(" missed="), 1ULL);
}

/* 18 events with long names, of which the first few lack so much together. */
static void load_long_names(struct kunit *test, int less)
{
	static const struct sim_pmu many = {
		.name = "many", .version = 4, .gp = 18, .width = 48,
		.fixed = 3, .fixed_width = 48, .ebx_length = 7 };
	static char list[1200];
	int longest = 47 - strlen("cpu/event=0x/u");
	unsigned int i, n = 0;
	int lack;

	for (i = 0; i < 18; i++) {
		lack = min(less, 30);
		less -= lack;
		n += scnprintf(list + n, sizeof(list) - n, "%scpu/event=0x%0*x/u",
			       i ? "," : "", longest - lack, 0xc1);
	}
	nr_lines = 0;
	sim_reset(TEST_CPU, &many);
	set_parameters("1", list, "1");
	KUNIT_ASSERT_EQ_MSG(test, load_module(), 0, "%s", last_line());
	KUNIT_ASSERT_TRUE(test, wait_for_lines("cpu1 t=", 2));
	unload_module();
}

/* The events that the line has, whole. */
static unsigned int count_events(const char *line)
{
	unsigned int i, n = 0;
	char end[16];

	for (i = 0; i < 18; i++) {
		snprintf(end, sizeof(end), "@gp%u=0", i);
		n += strstr(line, end) ? 1 : 0;
	}
	return n;
}

/*
 * More events than a line holds: a second line, with the same head.  The names
 * get shorter by a character at a time, until all fit: on the way each event is
 * in one of the two lines, whole, also when the first is full to the last byte.
 */
static void core_long_lines(struct kunit *test)
{
	unsigned int less, first;
	const char *rest;

	for (less = 0; less < 120; less++) {
		load_long_names(test, less);
		first = count_events(lines[HEAD_LINES]);
		KUNIT_EXPECT_LT(test, strlen(lines[HEAD_LINES]), (size_t)961);
		if (first == 18)
			break;
		KUNIT_EXPECT_EQ_MSG(test, first + count_events(lines[HEAD_LINES + 1]), 18U,
				    "shorter by %u", less);
		rest = strstr(lines[HEAD_LINES + 1], " cpu/");
		KUNIT_ASSERT_NOT_NULL(test, rest);
		KUNIT_EXPECT_EQ(test, strncmp(lines[HEAD_LINES], lines[HEAD_LINES + 1],
					      rest - lines[HEAD_LINES + 1]), 0);
	}
	KUNIT_EXPECT_GT(test, less, 10U);
	KUNIT_EXPECT_LT(test, less, 120U);
}

/* --- the CPU goes and comes ------------------------------------------------------------------ */

static void core_hotplug(struct kunit *test)
{
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct sim_registers before;
	unsigned int samples;

	KUNIT_ASSERT_EQ(test, load_on(PMU(V4), &before), 0);
	KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, retire_1000, NULL));
	KUNIT_ASSERT_EQ(test, remove_cpu(TEST_CPU), 0);
	KUNIT_EXPECT_EQ(test, count_lines("cpu1 goes offline, counting rests\n"), 1U);
	test_expect_registers(test, PMU(V4), &before, &sim->regs);
	samples = count_lines("cpu1 t=");
	msleep(20);
	KUNIT_EXPECT_EQ(test, count_lines("cpu1 t="), samples);

	KUNIT_ASSERT_EQ(test, add_cpu(TEST_CPU), 0);
	KUNIT_EXPECT_EQ(test, count_lines("cpu1 is back, counting goes on\n"), 1U);
	KUNIT_EXPECT_TRUE(test, wait_for_lines("cpu1 t=", samples + 1));
	KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, retire_1000, NULL));
	KUNIT_EXPECT_TRUE(test, wait_for_lines("cpu1 t=",
					       count_lines("cpu1 t=") + 2));
	unload_module();
	KUNIT_EXPECT_EQ(test, total(" instructions@gp0="), 2000ULL);
	KUNIT_EXPECT_EQ(test, total(" cycles@fixed1="), 6000ULL);
	KUNIT_EXPECT_GE(test, total(" missed="), 5ULL);
	expect_untouched(test, PMU(V4), &before);
}

/* Another CPU's going and coming is no news, and no business of ours. */
static void core_hotplug_of_another(struct kunit *test)
{
	struct sim_registers before;

	sim_reset(0, PMU(V4));
	before = sim_cpu(0)->regs;
	set_parameters("0", EVERYWHERE, "2000000");
	KUNIT_ASSERT_EQ(test, load_module(), 0);
	KUNIT_ASSERT_EQ(test, remove_cpu(1), 0);
	KUNIT_ASSERT_EQ(test, add_cpu(1), 0);
	KUNIT_EXPECT_EQ(test, nr_lines, HEAD_LINES);
	unload_module();
	test_expect_registers(test, PMU(V4), &before, &sim_cpu(0)->regs);
}

/* Faults while it goes and while it comes are told, and hold up nobody. */
static void core_hotplug_faults(struct kunit *test)
{
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct sim_registers before;

	KUNIT_ASSERT_EQ(test, load_on(PMU(V4), &before), 0);
	sim->fail_reg = 0x186;
	KUNIT_EXPECT_EQ(test, remove_cpu(TEST_CPU), 0);
	KUNIT_EXPECT_EQ(test, 1U,
			count_lines("cpu1: a PMU register faulted, not all are as they were\n"));
	KUNIT_EXPECT_EQ(test, add_cpu(TEST_CPU), 0);
	KUNIT_EXPECT_STREQ(test, last_line(),
			   "cpu1 is back, but cannot be counted on: a PMU register faulted\n");
	sim->fail_reg = 0;
	unload_module();
	KUNIT_EXPECT_EQ(test, sim_reservations.held, 0U);
}

/* --- suspend and resume ----------------------------------------------------------------------- */

static void tell(unsigned long event)
{
	session->sleep.notifier_call(&session->sleep, event, NULL);
}

struct sleep_row {
	const char *name;
	unsigned long prepare, post;
};

static const struct sleep_row sleep_rows[] = {
	{ "suspend", PM_SUSPEND_PREPARE, PM_POST_SUSPEND },
	{ "hibernation", PM_HIBERNATION_PREPARE, PM_POST_HIBERNATION },
	{ "restore", PM_RESTORE_PREPARE, PM_POST_RESTORE },
};

static void sleep_desc(const struct sleep_row *row, char *desc)
{
	strscpy(desc, row->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(sleep, sleep_rows, sleep_desc);

#define SUSPENDED	"cpu1 is suspended, counting rests\n"
#define OFFLINE		"cpu1 goes offline, counting rests\n"
#define BACK		"cpu1 is back, counting goes on\n"

static void expect_news(struct kunit *test, unsigned int suspended,
			unsigned int offline, unsigned int back)
{
	KUNIT_EXPECT_EQ(test, count_lines(SUSPENDED), suspended);
	KUNIT_EXPECT_EQ(test, count_lines(OFFLINE), offline);
	KUNIT_EXPECT_EQ(test, count_lines(BACK), back);
}

/* A line when it goes, none while it is away, one when it is back. */
static void core_sleep(struct kunit *test)
{
	const struct sleep_row *row = test->param_value;
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct sim_registers before;
	unsigned int n;

	KUNIT_ASSERT_EQ(test, load_on(PMU(V4), &before), 0);
	KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, retire_1000, NULL));
	tell(row->prepare);
	expect_news(test, 1, 0, 0);
	tell(row->prepare);
	test_expect_registers(test, PMU(V4), &before, &sim->regs);
	n = nr_lines;
	msleep(20);
	KUNIT_EXPECT_EQ(test, nr_lines, n);
	/* All is lost in suspend. */
	sim_reset(TEST_CPU, PMU(V4));
	before = sim->regs;
	tell(row->post);
	tell(row->post);
	expect_news(test, 1, 0, 1);
	KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, retire_1000, NULL));
	KUNIT_EXPECT_TRUE(test, wait_for_lines("cpu1 t=",
					       count_lines("cpu1 t=") + 2));
	unload_module();
	KUNIT_EXPECT_EQ(test, total(" instructions@gp0="), 2000ULL);
	KUNIT_EXPECT_EQ(test, total(" cycles@fixed1="), 6000ULL);
	KUNIT_EXPECT_EQ(test, count_having(" stolen="), 0U);
	KUNIT_EXPECT_GE(test, total(" missed="), 5ULL);
	expect_news(test, 1, 0, 1);
	expect_untouched(test, PMU(V4), &before);
}

/* What was read before it went is printed before the line that says so. */
static void core_sleep_while_printing(struct kunit *test)
{
	unsigned int tries;

	set_parameters("1", EVERYWHERE, "2");
	sim_reset(TEST_CPU, PMU(V4));
	KUNIT_ASSERT_EQ(test, load_module(), 0);
	slow_print_ms = 50;
	for (tries = 0; READ_ONCE(slow_print_ms) && tries < 5000; tries++)
		usleep_range(1000, 2000);
	KUNIT_ASSERT_EQ(test, slow_print_ms, 0U);
	tell(PM_SUSPEND_PREPARE);
	msleep(100);
	KUNIT_EXPECT_STREQ(test, last_line(), SUSPENDED);
	tell(PM_POST_SUSPEND);
	unload_module();
}

/* What is none of our business. */
static void core_sleep_other_events(struct kunit *test)
{
	struct sim_registers before;
	unsigned long event;

	KUNIT_ASSERT_EQ(test, load_on(PMU(V4), &before), 0);
	for (event = 0; event < 16; event++) {
		switch (event) {
		case PM_SUSPEND_PREPARE:
		case PM_HIBERNATION_PREPARE:
		case PM_RESTORE_PREPARE:
			continue;
		}
		tell(event);
	}
	KUNIT_EXPECT_FALSE(test, first_target(session)->c.away);
	unload_module();
	expect_news(test, 0, 0, 0);
	expect_untouched(test, PMU(V4), &before);
}

/* As each but the boot CPU does: it is brought down and up while it is suspended. */
static void core_sleep_then_offline(struct kunit *test)
{
	struct sim_registers before;

	KUNIT_ASSERT_EQ(test, load_on(PMU(V4), &before), 0);
	KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, retire_1000, NULL));
	tell(PM_SUSPEND_PREPARE);
	KUNIT_ASSERT_EQ(test, remove_cpu(TEST_CPU), 0);
	expect_news(test, 1, 0, 0);
	KUNIT_ASSERT_EQ(test, add_cpu(TEST_CPU), 0);
	expect_news(test, 1, 0, 0);
	tell(PM_POST_SUSPEND);
	expect_news(test, 1, 0, 1);
	KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, retire_1000, NULL));
	unload_module();
	expect_untouched(test, PMU(V4), &before);
}

/* And stays down when all others are back. */
static void core_sleep_stays_offline(struct kunit *test)
{
	struct sim_registers before;

	KUNIT_ASSERT_EQ(test, load_on(PMU(V4), &before), 0);
	tell(PM_SUSPEND_PREPARE);
	KUNIT_ASSERT_EQ(test, remove_cpu(TEST_CPU), 0);
	tell(PM_POST_SUSPEND);
	expect_news(test, 1, 0, 0);
	KUNIT_EXPECT_EQ(test, count_lines("cpu1 is back"), 0U);
	KUNIT_ASSERT_EQ(test, add_cpu(TEST_CPU), 0);
	expect_news(test, 1, 0, 1);
	unload_module();
	expect_untouched(test, PMU(V4), &before);
}

/* It was offline before. */
static void core_offline_then_sleep(struct kunit *test)
{
	struct sim_registers before;

	KUNIT_ASSERT_EQ(test, load_on(PMU(V4), &before), 0);
	KUNIT_ASSERT_EQ(test, remove_cpu(TEST_CPU), 0);
	tell(PM_SUSPEND_PREPARE);
	tell(PM_POST_SUSPEND);
	expect_news(test, 0, 1, 0);
	KUNIT_ASSERT_EQ(test, add_cpu(TEST_CPU), 0);
	expect_news(test, 0, 1, 1);
	unload_module();
	expect_untouched(test, PMU(V4), &before);
}

/* Online, but brought below our state by hand: the end of sleep is not its up. */
static void core_sleep_half_down(struct kunit *test)
{
	struct sim_registers before;

	KUNIT_ASSERT_EQ(test, load_on(PMU(V4), &before), 0);
	below_state = true;	/* it is not active any more */
	cpus_read_lock();
	cpu_down_callback(TEST_CPU);
	cpus_read_unlock();
	tell(PM_SUSPEND_PREPARE);
	tell(PM_POST_SUSPEND);
	expect_news(test, 0, 1, 0);
	test_expect_registers(test, PMU(V4), &before, &sim_cpu(TEST_CPU)->regs);
	cpus_read_lock();
	cpu_up_callback(TEST_CPU);
	cpus_read_unlock();
	below_state = false;
	expect_news(test, 0, 1, 1);
	unload_module();
	expect_untouched(test, PMU(V4), &before);
}

static void core_unload_in_sleep(struct kunit *test)
{
	struct sim_registers before;

	KUNIT_ASSERT_EQ(test, load_on(PMU(V4), &before), 0);
	tell(PM_SUSPEND_PREPARE);
	unload_module();
	expect_news(test, 1, 0, 0);
	expect_untouched(test, PMU(V4), &before);
}

/* Nobody unloads it before a kexec. */
static void core_reboot(struct kunit *test)
{
	struct sim_registers before;

	KUNIT_ASSERT_EQ(test, load_on(PMU(V4), &before), 0);
	session->reboot.notifier_call(&session->reboot, SYS_RESTART, NULL);
	KUNIT_EXPECT_EQ(test, count_lines("cpu1 shuts down, counting rests\n"), 1U);
	test_expect_registers(test, PMU(V4), &before, &sim_cpu(TEST_CPU)->regs);
	KUNIT_ASSERT_EQ(test, remove_cpu(TEST_CPU), 0);
	KUNIT_ASSERT_EQ(test, add_cpu(TEST_CPU), 0);
	expect_news(test, 0, 0, 0);
	unload_module();
	expect_untouched(test, PMU(V4), &before);
}

/* Suspended, one of its counters was broken: it says which, and does not count. */
static void core_sleep_breaks(struct kunit *test)
{
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct sim_registers before;

	KUNIT_ASSERT_EQ(test, load_on(PMU(V4), &before), 0);
	tell(PM_SUSPEND_PREPARE);
	sim->broken = SIM_HALVED;
	sim->broken_counters = BIT_ULL(0);
	tell(PM_POST_SUSPEND);
	KUNIT_EXPECT_STREQ(test, last_line(),
			   "cpu1 is back, but cannot be counted on: gp0 counts wrong: 1024 instructions where the CPU has executed 2048\n");
	sim->broken = SIM_SOUND;
	unload_module();
	expect_news(test, 1, 0, 0);
	expect_untouched(test, PMU(V4), &before);
}

/* --- several CPUs -------------------------------------------------------------------- */

static void retire_some(void *cpu)
{
	struct sim_cpu *sim = sim_cpu((unsigned long)cpu);

	sim_retire(sim, 0xc0, 0x00, true, 100 + (unsigned long)cpu);
}

static void retire_on_both(struct kunit *test)
{
	KUNIT_ASSERT_TRUE(test, test_call(0, retire_some, (void *)0UL));
	KUNIT_ASSERT_TRUE(test, test_call(1, retire_some, (void *)1UL));
}

/* Two CPUs that are alike: each has its lines, and both have one. */
static void core_two_cpus(struct kunit *test)
{
	struct sim_registers before[2];
	unsigned int i;

	for (i = 0; i < 2; i++) {
		sim_reset(i, PMU(V4));
		test_leave_traces(sim_cpu(i));
		before[i] = sim_cpu(i)->regs;
	}
	set_parameters("0-1", "instructions@gp1,instructions", "5");
	KUNIT_ASSERT_EQ(test, load_module(), 0);
	KUNIT_EXPECT_TRUE(test, str_has_prefix(lines[0], "cpu0-1: "));
	KUNIT_EXPECT_STREQ(test, lines[HEAD_LINES - 1],
			   "cpu0-1: held against perf, on all CPUs: gp0-7; counting: gp1 fixed0; the firmware's: none\n");
	retire_on_both(test);
	KUNIT_EXPECT_TRUE(test, wait_for_lines("all t=", 3));
	unload_module();
	KUNIT_EXPECT_EQ(test, nr_lines, HEAD_LINES + 3 * count_lines("all t="));
	KUNIT_EXPECT_EQ(test, count_lines("cpu0 t="), count_lines("all t="));
	KUNIT_EXPECT_EQ(test, count_lines("cpu1 t="), count_lines("all t="));
	KUNIT_EXPECT_TRUE(test, strstr(last_line(), " cpus=2 spread="));
	/* 100 and 101, and their sum. */
	KUNIT_EXPECT_EQ(test, total(" instructions@gp1="), 2 * 201ULL);
	KUNIT_EXPECT_EQ(test, total(" instructions@fixed0="), 201ULL);
	KUNIT_EXPECT_EQ(test, total(" instructions="), 201ULL);
	for (i = 0; i < 2; i++)
		test_expect_registers(test, PMU(V4), &before[i], &sim_cpu(i)->regs);
	KUNIT_EXPECT_EQ(test, sim_reservations.held, 0U);
}

/* What one of them does not have is told once, and left out there. */
static void core_unlike_cpus(struct kunit *test)
{
	sim_reset(0, PMU(V4));
	sim_reset(1, PMU(V1_40));
	set_parameters("all", "ref-cycles,instructions,instructions", "5");
	KUNIT_ASSERT_EQ(test, load_module(), 0);
	KUNIT_EXPECT_EQ(test, 1U,
			count_lines("cpu1: 'ref-cycles' is not there, and left out\n"));
	KUNIT_EXPECT_EQ(test, sim_reservations.held, 0xffU);
	retire_on_both(test);
	KUNIT_EXPECT_TRUE(test, wait_for_lines("all t=", 3));
	KUNIT_EXPECT_TRUE(test, strstr(last_line(), " ref-cycles="));
	unload_module();
	KUNIT_EXPECT_EQ(test, total(" instructions@fixed0="), 100ULL);
	KUNIT_EXPECT_EQ(test, total(" instructions@gp0="), 201ULL);
	KUNIT_EXPECT_EQ(test, total(" instructions@gp1="), 101ULL);
	/* None has it: then it is refused as for one. */
	sim_reset(0, PMU(V1_40));
	nr_lines = 0;
	KUNIT_EXPECT_EQ(test, load_module(), -EOPNOTSUPP);
	KUNIT_EXPECT_STREQ(test, last_line(),
			   "counters: 'ref-cycles': CPU 0 has no counter that counts it\n");
}

/* A CPU that comes later. */
static void core_joins(struct kunit *test)
{
	struct sim_cpu *sim = sim_cpu(1);
	struct sim_registers before;

	sim_reset(0, PMU(V4));
	sim_reset(1, PMU(V4));
	test_leave_traces(sim);
	before = sim->regs;
	KUNIT_ASSERT_EQ(test, remove_cpu(1), 0);
	set_parameters("all", EVERYWHERE, "5");
	KUNIT_ASSERT_EQ(test, load_module(), 0);
	KUNIT_EXPECT_TRUE(test, wait_for_lines("cpu0 t=", 2));
	KUNIT_ASSERT_EQ(test, add_cpu(1), 0);
	KUNIT_EXPECT_EQ(test, count_lines("cpu1 is new, counting goes on\n"), 1U);
	retire_on_both(test);
	KUNIT_EXPECT_TRUE(test, wait_for_lines("cpu1 t=", 2));
	KUNIT_ASSERT_EQ(test, remove_cpu(1), 0);
	KUNIT_ASSERT_EQ(test, add_cpu(1), 0);
	KUNIT_EXPECT_EQ(test, count_lines("cpu1 is back, counting goes on\n"), 1U);
	unload_module();
	KUNIT_EXPECT_EQ(test, total(" instructions@gp0="), 2 * 201ULL);
	test_expect_registers(test, PMU(V4), &before, &sim->regs);
}

/* Not one of which nobody knows what names mean there; and not without memory. */
static void core_cannot_join(struct kunit *test)
{
	sim_reset(0, PMU(V4));
	sim_reset(1, PMU(V1_40));
	KUNIT_ASSERT_EQ(test, remove_cpu(1), 0);
	set_parameters("all", EVERYWHERE, "2000000");
	KUNIT_ASSERT_EQ(test, load_module(), 0);
	KUNIT_ASSERT_EQ(test, add_cpu(1), 0);
	KUNIT_EXPECT_STREQ(test, last_line(),
			   "cpu1: it is like none of the CPUs that were online at load; load the module again\n");
	KUNIT_ASSERT_EQ(test, remove_cpu(1), 0);
	fail_step = 1;
	KUNIT_ASSERT_EQ(test, add_cpu(1), 0);
	KUNIT_EXPECT_STREQ(test, last_line(), "cpu1: no memory to count on it\n");
	KUNIT_EXPECT_FALSE(test, cpumask_test_cpu(1, session->cpus));
	unload_module();
	KUNIT_EXPECT_EQ(test, nr_allocated, 0);
}

/* --- the file with all samples -------------------------------------------------------- */

static const char *next_row(struct reader *r)
{
	return next_text(r) ? r->text : "";
}

static struct my_target *sampled_target(struct kunit *test)
{
	struct my_target *t = first_target(session);

	t->missed = 2;
	t->sample = (struct my_pmu_sample) {
		.asked = 990, .time = 1000, .uptime = 100,
		.marks = { .wrapped = BIT_ULL(0), .late = BIT_ULL(33) },
		.count = { 7, 9 }, .running = { 100, 50 } };
	t->last = (struct my_pmu_sample) { .time = 900 };
	return t;
}

static void core_samples_rows(struct kunit *test)
{
	struct my_samples samples;
	struct my_target *t;
	struct reader *r;
	unsigned int i;

	sim_reset(TEST_CPU, PMU(V4));
	set_parameters("1", EVERYWHERE, "2000000");
	KUNIT_ASSERT_EQ(test, load_module(), 0);
	r = kunit_kzalloc(test, sizeof(*r), GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, r);
	r->samples = &samples;
	KUNIT_ASSERT_EQ(test, my_samples_init(&samples, 100), 0);
	KUNIT_EXPECT_EQ(test, samples.size, 6400U);
	my_samples_free(&samples);
	KUNIT_ASSERT_EQ(test, my_samples_init(&samples, 1), 0);
	KUNIT_EXPECT_EQ(test, samples.size, 4096U);
	samples.size = 5;
	t = sampled_target(test);
	KUNIT_EXPECT_TRUE(test, is_more(r));
	KUNIT_EXPECT_STREQ(test, next_row(r), HEADER);
	KUNIT_EXPECT_FALSE(test, is_more(r) && r->done == r->len);
	r->done = r->len;
	KUNIT_EXPECT_FALSE(test, is_more(r));
	KUNIT_EXPECT_STREQ(test, next_row(r), "");
	my_samples_add(&samples, t, 3);
	KUNIT_EXPECT_TRUE(test, is_more(r));
	KUNIT_EXPECT_STREQ(test, next_row(r),
			   "3,1,1000,100,10,2,\"instructions\",gp0,7,100,100,wrapped\n");
	KUNIT_EXPECT_STREQ(test, next_row(r),
			   "3,1,1000,100,10,2,\"cycles\",fixed1,,100,50,late\n");
	KUNIT_EXPECT_STREQ(test, next_row(r), "");
	/* Six rows more, and room for five. */
	for (i = 4; i < 7; i++)
		my_samples_add(&samples, t, i);
	KUNIT_EXPECT_STREQ(test, next_row(r), "# dropped 1 rows\n");
	KUNIT_EXPECT_TRUE(test, str_has_prefix(next_row(r), "4,1,1000,100,10,2,\"cycles\""));
	KUNIT_EXPECT_TRUE(test, str_has_prefix(next_row(r), "5,1,1000,100,10,2,\"instr"));
	/* Who begins now misses nothing that he could have had. */
	*r = (struct reader) { .samples = &samples };
	KUNIT_EXPECT_STREQ(test, next_row(r), HEADER);
	KUNIT_EXPECT_TRUE(test, str_has_prefix(next_row(r), "4,1,1000,100,10,2,\"cycles\""));
	my_samples_free(&samples);
	unload_module();
}

/* --- other modules' events ------------------------------------------------------------------ */

static struct my_perf_event *new_client(struct kunit *test, int cpu,
					const char *events)
{
	struct my_perf_event *event;
	struct my_pmu_why why = {};

	event = my_perf_event_create(cpu, events, &why);
	KUNIT_ASSERT_FALSE_MSG(test, IS_ERR(event), "%s", why.text);
	return event;
}

/* The module, and an event of another one that counts. */
static struct my_perf_event *load_with_client(struct kunit *test,
					      struct sim_registers *before,
					      const char *events)
{
	struct my_perf_event *event;

	KUNIT_ASSERT_EQ(test, load_on(PMU(V4), before), 0);
	event = new_client(test, TEST_CPU, events);
	KUNIT_EXPECT_EQ(test, my_perf_event_enable(event), 0);
	return event;
}

/* Through hotplug and sleep, beside the module's own events, and in the file. */
static void core_client(struct kunit *test)
{
	struct my_perf_event *here, *there;
	struct sim_registers before;
	u64 count;

	sim_reset(0, PMU(V4));
	KUNIT_ASSERT_EQ(test, load_on(PMU(V4), &before), 0);
	here = new_client(test, TEST_CPU, "{instructions:u,cycles:u@gp7}");
	there = new_client(test, 0, "branches:u");
	/* EVERYWHERE has gp0 and fixed1. */
	KUNIT_EXPECT_EQ(test, my_clients_used(TEST_CPU), BIT_ULL(7) | BIT_ULL(32));
	KUNIT_EXPECT_EQ(test, my_clients_used(0), BIT_ULL(0));
	KUNIT_EXPECT_EQ(test, my_perf_event_enable(here), 0);
	test_retire(test, 10, 0);
	KUNIT_ASSERT_EQ(test, remove_cpu(TEST_CPU), 0);
	test_expect_registers(test, PMU(V4), &before, &sim_cpu(TEST_CPU)->regs);
	KUNIT_EXPECT_EQ(test, my_perf_event_read(here, &count), -ENXIO);
	KUNIT_EXPECT_EQ(test, my_perf_event_read(there, &count), 0);
	KUNIT_ASSERT_EQ(test, add_cpu(TEST_CPU), 0);
	test_retire(test, 10, 0);
	KUNIT_EXPECT_EQ(test, my_perf_event_read(here, &count), 0);
	KUNIT_EXPECT_EQ(test, count, 20ULL);
	tell(PM_SUSPEND_PREPARE);
	test_expect_registers(test, PMU(V4), &before, &sim_cpu(TEST_CPU)->regs);
	KUNIT_EXPECT_EQ(test, my_perf_event_read(there, &count), -ENXIO);
	tell(PM_POST_SUSPEND);
	test_retire(test, 10, 0);
	KUNIT_EXPECT_EQ(test, my_perf_event_read(here, &count), 0);
	KUNIT_EXPECT_EQ(test, count, 30ULL);
	KUNIT_EXPECT_EQ(test, my_perf_event_read(there, &count), 0);
	my_perf_event_destroy(there);
	my_perf_event_destroy(here);
	KUNIT_EXPECT_EQ(test, count_having(" stolen="), 0U);
	unload_module();
	KUNIT_EXPECT_EQ(test, count_lines("other modules have not"), 0U);
	expect_untouched(test, PMU(V4), &before);
}

/* What the file says of a CPU that the module counts on, and of one that it does not. */
static void core_client_is_shown(struct kunit *test)
{
	struct my_perf_event *here, *there;
	struct sim_registers before;
	struct seq_file m = {
		.buf = kunit_kzalloc(test, 4096, GFP_KERNEL),
		.size = 4096,
	};

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, m.buf);
	sim_reset(0, PMU(V4));
	KUNIT_ASSERT_EQ(test, load_on(PMU(V4), &before), 0);
	here = new_client(test, TEST_CPU, "{cycles:u@gp7,instructions@fixed0}");
	there = new_client(test, 0, "r99:k");
	m.private = session;
	KUNIT_ASSERT_EQ(test, counters_show(&m, NULL), 0);
	KUNIT_EXPECT_TRUE_MSG(test, str_has_prefix(m.buf, "cpu0 gp0 lent r99:k\ncpu1 samples "),
			      "%s", m.buf);
	KUNIT_EXPECT_TRUE_MSG(test, strstr(m.buf, "cpu1 gp0 counting instructions\n"), "%s", m.buf);
	KUNIT_EXPECT_TRUE_MSG(test, strstr(m.buf,
					   "cpu1 gp6 held\n"
					   "cpu1 gp7 lent cycles:u\n"
					   "cpu1 fixed0 lent instructions\n"
					   "cpu1 fixed1 counting cycles\n"),
			      "%s", m.buf);
	my_perf_event_destroy(there);
	my_perf_event_destroy(here);
	unload_module();
	expect_untouched(test, PMU(V4), &before);
}

static void core_client_breaks(struct kunit *test)
{
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct my_perf_event *event;
	struct sim_registers before;

	KUNIT_ASSERT_EQ(test, load_on(PMU(V4), &before), 0);
	event = new_client(test, TEST_CPU, "cycles@gp5");
	KUNIT_ASSERT_EQ(test, remove_cpu(TEST_CPU), 0);
	sim->broken = SIM_DEAD;
	sim->broken_counters = BIT_ULL(5);
	KUNIT_ASSERT_EQ(test, add_cpu(TEST_CPU), 0);
	KUNIT_EXPECT_EQ(test, count_lines("cpu1 is back, but an event of another module"), 1U);
	KUNIT_EXPECT_EQ(test, count_having(": gp5 stands still"), 1U);
	KUNIT_EXPECT_EQ(test, count_lines("cpu1 is back, counting goes on"), 1U);
	sim->broken = SIM_SOUND;
	my_perf_event_destroy(event);
	unload_module();
	expect_untouched(test, PMU(V4), &before);
}

/* Stopped while its CPU is away, it is not started when that is back. */
static void core_client_disabled_away(struct kunit *test)
{
	struct sim_registers before;
	struct my_perf_event *event;
	u64 count;

	event = load_with_client(test, &before, "instructions:u");
	test_retire(test, 10, 0);
	KUNIT_ASSERT_EQ(test, remove_cpu(TEST_CPU), 0);
	KUNIT_EXPECT_EQ(test, my_perf_event_enable(event), -ENXIO);
	KUNIT_EXPECT_EQ(test, my_perf_event_disable(event), 0);
	KUNIT_ASSERT_EQ(test, add_cpu(TEST_CPU), 0);
	test_retire(test, 10, 0);
	KUNIT_EXPECT_EQ(test, my_perf_event_read(event, &count), 0);
	KUNIT_EXPECT_EQ(test, count, 10ULL);
	my_perf_event_destroy(event);
	unload_module();
	expect_untouched(test, PMU(V4), &before);
}

/* As core_sleep_half_down. */
static void core_client_half_down(struct kunit *test)
{
	struct sim_registers before;
	struct my_perf_event *event;
	u64 count;

	event = load_with_client(test, &before, "instructions:u");
	below_state = true;	/* it is not active any more */
	cpus_read_lock();
	cpu_down_callback(TEST_CPU);
	cpus_read_unlock();
	tell(PM_SUSPEND_PREPARE);
	tell(PM_POST_SUSPEND);
	test_expect_registers(test, PMU(V4), &before, &sim_cpu(TEST_CPU)->regs);
	KUNIT_EXPECT_EQ(test, my_perf_event_read(event, &count), -ENXIO);
	cpus_read_lock();
	cpu_up_callback(TEST_CPU);
	cpus_read_unlock();
	below_state = false;
	test_retire(test, 10, 0);
	KUNIT_EXPECT_EQ(test, my_perf_event_read(event, &count), 0);
	KUNIT_EXPECT_EQ(test, count, 10ULL);
	my_perf_event_destroy(event);
	unload_module();
	expect_untouched(test, PMU(V4), &before);
}

static void core_client_is_left(struct kunit *test)
{
	struct sim_registers before;

	load_with_client(test, &before, "r99");
	unload_module();
	KUNIT_EXPECT_STREQ(test, last_line(),
			   "other modules have not destroyed what they had created, 1 times; it is gone\n");
	expect_untouched(test, PMU(V4), &before);
}

/* A module's events keep their counters, also from a CPU that joins. */
static void core_client_was_there_first(struct kunit *test)
{
	struct sim_registers before;
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct my_perf_event *event;

	sim_reset(0, PMU(V4));
	KUNIT_ASSERT_EQ(test, remove_cpu(TEST_CPU), 0);
	set_parameters("all", "r99,instructions", "1");
	sim_reset(TEST_CPU, PMU(V4_64));	/* like none of the others */
	before = sim->regs;
	KUNIT_ASSERT_EQ(test, load_module(), 0);
	KUNIT_ASSERT_EQ(test, add_cpu(TEST_CPU), 0);
	KUNIT_EXPECT_EQ(test, count_lines("cpu1: it is like none"), 1U);
	sim_reset(TEST_CPU, PMU(V4));
	before = sim->regs;
	event = new_client(test, TEST_CPU, "{r98@gp0,instructions@fixed0}");
	KUNIT_ASSERT_EQ(test, remove_cpu(TEST_CPU), 0);
	KUNIT_ASSERT_EQ(test, add_cpu(TEST_CPU), 0);
	KUNIT_EXPECT_EQ(test, count_lines("cpu1 is new, counting goes on"), 1U);
	KUNIT_EXPECT_EQ(test, session->target[TEST_CPU]->c.used, BIT_ULL(1) | BIT_ULL(2));
	KUNIT_EXPECT_EQ(test, session->target[TEST_CPU]->c.foreign, 0ULL);
	my_perf_event_destroy(event);
	unload_module();
	test_expect_registers(test, PMU(V4), &before, &sim->regs);
}

/* For other modules alone: nothing is counted, nothing printed, all can be had. */
static void core_counts_nothing(struct kunit *test)
{
	struct sim_registers before;
	struct my_perf_event *event;
	unsigned int n;

	sim_reset(TEST_CPU, PMU(V4));
	test_leave_traces(sim_cpu(TEST_CPU));
	before = sim_cpu(TEST_CPU)->regs;
	set_parameters("1", "none", "1");
	KUNIT_ASSERT_EQ(test, load_module(), 0);
	KUNIT_EXPECT_EQ(test, count_having("counting: none"), 1U);
	n = nr_lines;
	msleep(20);
	KUNIT_EXPECT_EQ(test, nr_lines, n);
	event = new_client(test, TEST_CPU,
			   "{r1,r2,r3,r4,r5,r6,r7,r8,instructions,cycles,ref-cycles}");
	KUNIT_EXPECT_EQ(test, my_clients_used(TEST_CPU),
			session->target[TEST_CPU]->c.pmu.counters);
	my_perf_event_destroy(event);
	unload_module();
	expect_untouched(test, PMU(V4), &before);
}

static struct kunit_case core_cases[] = {
	KUNIT_CASE_PARAM(core_refuses, refusal_gen_params),
	KUNIT_CASE(core_refuses_switches),
	KUNIT_CASE(core_refuses_offline),
	KUNIT_CASE(core_refuses_busy),
	KUNIT_CASE(core_refuses_half_online),
	KUNIT_CASE_PARAM(core_prints_pmu, pmu_lines_gen_params),
	KUNIT_CASE_PARAM(core_unwinds_steps, test_pmu_gen_params),
	KUNIT_CASE_PARAM(core_unwinds_reservations, test_pmu_gen_params),
	KUNIT_CASE_PARAM(core_unwinds_registers, test_pmu_gen_params),
	KUNIT_CASE(core_samples),
	KUNIT_CASE(core_line),
	KUNIT_CASE(core_ticks),
	KUNIT_CASE(core_sampler_keeps_off),
	KUNIT_CASE(core_stolen),
	KUNIT_CASE(core_marks),
	KUNIT_CASE(core_latency),
	KUNIT_CASE(core_late),
	KUNIT_CASE(core_counters_file),
	KUNIT_CASE(core_events_file),
	KUNIT_CASE(core_show_set),
	KUNIT_CASE(core_refuses_names),
	KUNIT_CASE(core_firmware),
	KUNIT_CASE(core_firmware_is_pinned),
	KUNIT_CASE(core_firmware_while_away),
	KUNIT_CASE(core_refuses_liar),
	KUNIT_CASE(core_log_off),
	KUNIT_CASE(core_freeze),
	KUNIT_CASE(core_no_sample),
	KUNIT_CASE(core_long_lines),
	KUNIT_CASE(core_hotplug),
	KUNIT_CASE(core_hotplug_of_another),
	KUNIT_CASE(core_hotplug_faults),
	KUNIT_CASE_PARAM(core_sleep, sleep_gen_params),
	KUNIT_CASE(core_sleep_while_printing),
	KUNIT_CASE(core_sleep_other_events),
	KUNIT_CASE(core_sleep_then_offline),
	KUNIT_CASE(core_sleep_stays_offline),
	KUNIT_CASE(core_offline_then_sleep),
	KUNIT_CASE(core_sleep_half_down),
	KUNIT_CASE(core_unload_in_sleep),
	KUNIT_CASE(core_reboot),
	KUNIT_CASE(core_sleep_breaks),
	KUNIT_CASE(core_two_cpus),
	KUNIT_CASE(core_unlike_cpus),
	KUNIT_CASE(core_joins),
	KUNIT_CASE(core_cannot_join),
	KUNIT_CASE(core_samples_rows),
	KUNIT_CASE(core_client),
	KUNIT_CASE(core_client_is_shown),
	KUNIT_CASE(core_client_breaks),
	KUNIT_CASE(core_client_disabled_away),
	KUNIT_CASE(core_client_half_down),
	KUNIT_CASE(core_client_is_left),
	KUNIT_CASE(core_client_was_there_first),
	KUNIT_CASE(core_counts_nothing),
	{}
};

static struct kunit_suite core_suite = {
	.name = "my_pmu",
	.init = fresh_start,
	.exit = clean_up,
	.test_cases = core_cases,
};

kunit_test_suite(core_suite);
