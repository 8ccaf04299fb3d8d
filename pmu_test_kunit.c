// SPDX-License-Identifier: GPL-2.0
/*
 * The whole module on a simulated PMU: what it refuses and says, what it does
 * while it is loaded, and that each step of loading, made to fail in turn,
 * leaves nothing behind.  The suites of its parts are in tests/kunit/.
 *
 * What loads and unloads the module, samples and prints is included.  Its thread
 * and its hotplug state are real; its messages are caught, and what may fail in it
 * can be made to.
 */
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/cpumask.h>
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/reboot.h>
#include <linux/sched/isolation.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/suspend.h>
#include <linux/uaccess.h>

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
static int half_online;

static bool step_fails(void)
{
	return fail_step && !--fail_step;
}

/* This copy to a reader faults, 1 is the next; 0 is none. */
static unsigned int fail_copy;

/* A reader is one of the tests, whose memory is the kernel's. */
static unsigned long test_copy_to_user(void __user *to, const void *from,
				       unsigned long n)
{
	if (fail_copy && !--fail_copy)
		return n;
	memcpy((__force void *)to, from, n);
	return 0;
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

static char *test_kstrdup(const char *s, gfp_t gfp)
{
	char *copy = step_fails() ? NULL : kstrdup(s, gfp);

	nr_allocated += copy ? 1 : 0;
	return copy;
}

/* Who writes is one of the tests, too. */
static void *test_memdup_user_nul(const void __user *from, size_t len)
{
	char *copy = step_fails() ? NULL : kmemdup_nul((__force const char *)from, len, GFP_KERNEL);

	nr_allocated += copy ? 1 : 0;
	return copy ?: ERR_PTR(-ENOMEM);
}

/* The device is there; it has no node.  It can be made to fail. */
static struct miscdevice *test_device;
static bool fail_device;

static int test_misc_register(struct miscdevice *misc)
{
	if (fail_device)
		return -EBUSY;
	test_device = misc;
	return 0;
}

static void test_misc_deregister(struct miscdevice *misc)
{
	test_device = NULL;
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

/*
 * In steps the sampler sleeps until the test lets it go on, and it is then as late as
 * it wanted: what happens does not depend on the machine.
 *
 * @on: whether it is so
 * @granted: it may go on
 * @now: the moment
 * @late_ns: how late it is made to be, once
 */
static struct {
	bool on;
	bool granted;
	u64 now;
	u64 late_ns;
} steps;

static DECLARE_WAIT_QUEUE_HEAD(step_granted);

static bool is_anew(void);

static int sleep_a_step(u64 until)
{
	__set_current_state(TASK_RUNNING);
	wait_event_idle(step_granted,
			READ_ONCE(steps.granted) || kthread_should_stop() || is_anew());
	if (kthread_should_stop() || is_anew())
		return -EINTR;
	WRITE_ONCE(steps.granted, false);
	steps.now = until + steps.late_ns;
	steps.late_ns = 0;
	return 0;
}

static u64 test_ktime_get_ns(void);

static int test_schedule_hrtimeout(ktime_t *expires, enum hrtimer_mode mode)
{
	int err;

	if (nr_wakeups < WAKEUPS) {
		wakeups[nr_wakeups] = ktime_to_ns(*expires);
		/* What was done before is seen by who sees it, see count_wakeups(). */
		smp_store_release(&nr_wakeups, nr_wakeups + 1);
	}
	if (steps.on)
		return sleep_a_step(ktime_to_ns(*expires));
	err = schedule_hrtimeout(expires, mode);
	if (!err && oversleep_ms) {
		__set_current_state(TASK_RUNNING);
		msleep(oversleep_ms);
		oversleep_ms = 0;
	}
	return err;
}

/* How often counters were handed back before the thread had ended. */
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
	return !below_state && cpu != half_online && cpu_active(cpu);
}

/* Notifiers of suspend and reboot that are registered. */
static int nr_notifiers;

static int test_register_pm_notifier(struct notifier_block *nb)
{
	int err = step_fails() ? -EEXIST : register_pm_notifier(nb);

	nr_notifiers += err ? 0 : 1;
	return err;
}

static int test_register_reboot_notifier(struct notifier_block *nb)
{
	int err = step_fails() ? -EEXIST : register_reboot_notifier(nb);

	nr_notifiers += err ? 0 : 1;
	return err;
}

static int test_unregister_reboot_notifier(struct notifier_block *nb)
{
	nr_notifiers--;
	return unregister_reboot_notifier(nb);
}

static int test_unregister_pm_notifier(struct notifier_block *nb)
{
	nr_notifiers--;
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
#undef pr_warn
#define pr_warn			catch_line
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
#undef kstrdup
#define kstrdup			test_kstrdup
#undef memdup_user_nul
#define memdup_user_nul		test_memdup_user_nul
#undef misc_register
#define misc_register		test_misc_register
#undef misc_deregister
#define misc_deregister		test_misc_deregister
#undef copy_to_user
#define copy_to_user		test_copy_to_user
#undef ktime_get_ns
#define ktime_get_ns		test_ktime_get_ns
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
#include "pmu_session.c"
/* A CPU comes or goes. */
static bool hotplug_is_busy;

static bool test_cpus_read_trylock(void)
{
	if (hotplug_is_busy)
		return false;
	cpus_read_lock();
	return true;
}

#define cpus_read_trylock	test_cpus_read_trylock

/* What perf's events may still have on any CPU when these may go again. */
static u64 pooled_at_unlock;

static void test_cpus_read_unlock(void)
{
	unsigned int cpu;

	pooled_at_unlock = 0;
	for (cpu = 0; cpu < SIM_CPUS; cpu++)
		pooled_at_unlock |= my_pmu_cpu_of(cpu)->pooled;
	cpus_read_unlock();
}

#define cpus_read_unlock	test_cpus_read_unlock

#include "pmu_hotplug.c"
#include "pmu_sampler.c"
#include "pmu_debugfs.c"
#include "pmu_device.c"
#include "pmu_print.c"
#include "pmu_samples.c"

#undef kzalloc
#undef kcalloc
#undef kfree
#undef kvzalloc
#undef kvcalloc
#undef kvfree
#undef kstrdup
#undef memdup_user_nul
#undef misc_register
#undef misc_deregister
#undef copy_to_user
#undef ktime_get_ns
#undef schedule_hrtimeout
#undef zalloc_cpumask_var

static bool is_anew(void)
{
	return READ_ONCE(sampler->anew);
}

/* In steps, time passes only while the sampler sleeps. */
static u64 test_ktime_get_ns(void)
{
	if (!steps.on)
		return ktime_get_ns();
	if (!steps.now)
		steps.now = sampler->start;
	return steps.now;
}

/* --- loading -------------------------------------------------------------------- */

static bool loaded;

/* CPUs in whose objects a load that was refused or an unload has left something. */
static unsigned int nr_unclean;
static char first_unclean[80];

static void look_for_traces(const char *after)
{
	struct my_pmu_cpu *c;
	int cpu;

	for_each_possible_cpu(cpu) {
		c = my_pmu_cpu_of(cpu);
		if (!c->used && !c->active &&
		    !memchr_inv(c->owner, 0, sizeof(c->owner)))
			continue;
		if (!nr_unclean++)
			snprintf(first_unclean, sizeof(first_unclean),
				 "after %s: CPU %d, used %#llx, active %#llx",
				 after, cpu, c->used, c->active);
	}
}

static int load_module(void)
{
	int err = load();

	loaded = !err;
	if (err)
		look_for_traces("a refused load");
	return err;
}

static void unload_module(void)
{
	loaded = false;
	unload();
	look_for_traces("an unload");
}

/**
 * struct parameters - of the module
 * @cpu: parameter
 * @counters: parameter
 * @interval: parameter
 * @freeze: parameter
 * @log: parameter
 * @pmi: parameter
 * @perf: parameter
 */
struct parameters {
	char *cpu, *counters, *interval, *freeze, *log, *pmi, *perf;
};

/* As they are if none is given. */
static struct parameters defaults;

static void set_parameters(const char *cpu, const char *counters,
			   const char *interval)
{
	if (!defaults.cpu)
		defaults = (struct parameters) {
			param_cpu, param_counters, param_interval, param_freeze,
			param_log, param_pmi, param_perf,
		};
	param_cpu = (char *)cpu;
	param_counters = (char *)counters;
	param_interval = (char *)interval;
	param_freeze = "auto";
	param_log = "1";
	param_pmi = "auto";
	param_perf = "1";
}

/* Lines before the first sample: what the PMU is, and whose its counters are. */
#define HEAD_LINES	6U

/* A list that each of the PMUs can count. */
#define EVERYWHERE	"instructions@gp0,cycles"

static int fresh_start(struct kunit *test)
{
	int cpu;

	/* What other suites have left there is theirs. */
	for_each_possible_cpu(cpu)
		memset(my_pmu_cpu_of(cpu), 0, sizeof(struct my_pmu_cpu));
	nr_unclean = 0;
	memset(&sim_reservations, 0, sizeof(sim_reservations));
	memset(&sim_perf, 0, sizeof(sim_perf));
	sim_hold_clock(false);
	fail_step = 0;
	fail_copy = 0;
	below_state = false;
	half_online = -1;
	nr_lines = 0;
	nr_wakeups = 0;
	memset(&steps, 0, sizeof(steps));
	oversleep_ms = 0;
	slow_print_ms = 0;
	nr_allocated = 0;
	nr_notifiers = 0;
	early_releases = 0;
	return 0;
}

#define OPENED		2

/* Files that a test has open; no thread reads them any more when it ends. */
static struct file *opened[OPENED];

static void close_file(struct file **file)
{
	if (*file)
		__fput_sync(*file);
	*file = NULL;
}

/* So many counters of a CPU belong to event sets: these. */
static void expect_owned(struct kunit *test, int cpu, u64 counters)
{
	const struct my_pmu_cpu *c = my_pmu_cpu_of(cpu);
	u64 owned = 0;
	int idx;

	for (idx = 0; idx < MY_PMC_MAX; idx++)
		owned |= c->owner[idx] ? BIT_ULL(idx) : 0;
	KUNIT_EXPECT_EQ(test, c->used, counters);
	KUNIT_EXPECT_EQ(test, owned, counters);
}

/* Removes what a test that ended in the middle has left behind. */
static void clean_up(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < OPENED; i++)
		close_file(&opened[i]);
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
	KUNIT_EXPECT_EQ_MSG(test, nr_unclean, 0U, "%s", first_unclean);
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
	KUNIT_EXPECT_EQ(test, sim_perf.guards, 0U);
	KUNIT_EXPECT_EQ(test, sim_perf.open, 0);
	KUNIT_EXPECT_EQ(test, nr_allocated, 0);
	KUNIT_EXPECT_EQ(test, nr_notifiers, 0);
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
static const struct sim_pmu other = { .name = "other", .other_vendor = true };
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
	{ "\033[2J\r", EVERYWHERE, "5", -EINVAL,
	  "cpu: '\\e[2J\\r': a list of CPUs is needed, as 3 or 0-3,8, of 0-1; or all\n" },
	{ "-1", EVERYWHERE, "5", -EINVAL,
	  "cpu: '-1': a list of CPUs is needed, as 3 or 0-3,8, of 0-1; or all\n" },
	{ "1", EVERYWHERE, "0", -EINVAL,
	  "interval: '0'; whole milliseconds from 1 on are needed\n" },
	{ "1", "cycles@gp9", "5", -EINVAL,
	  "counters: 'cycles@gp9': CPU 1 has no gp9; it has 8 generic (gp) and 3 fixed counters\n",
	},
	{ "1", "cycle", "5", -EINVAL,
	  "counters: 'cycle': no event 'cycle'; known are instructions, cycles, branches and others that perf has for this CPU, rUUEE, cpu/event=,umask=,edge,inv,cmask=,config1=/\n",
	},
	{ "1", "ref-cycles:D,ref-cycles:D", "5", -ENOSPC,
	  "counters: 'ref-cycles:D': no counter is left that counts it; CPU 1 has 8 generic (gp) and 3 fixed counters\n",
	},
	{ "1", EVERYWHERE, "5", -ENODEV,
	  "cpu1: no PMU: CPUID.0AH says version 0 (in a virtual machine, its hypervisor must provide one)\n",
	  &no_pmu },
	{ "1", EVERYWHERE, "5", -ENODEV,
	  "cpu1: no PMU that is known here: those of Intel, AMD, Hygon, Zhaoxin and Centaur are\n",
	  &other },
	{ "1", EVERYWHERE, "5", -ENODEV,
	  "cpu1: no PMU: a Xen PV guest's belongs to the hypervisor\n",
	  &xen },
};

static void refusal_desc(const struct refusal *row, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "cpu=%*pE counters=%s interval=%s %s",
		 (int)strlen(row->cpu), row->cpu, row->counters, row->interval,
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
	param_freeze = "auto";
	param_log = "no";
	KUNIT_EXPECT_EQ(test, load_module(), -EINVAL);
	KUNIT_EXPECT_STREQ(test, last_line(), "log: 'no'; 0 or 1 is needed\n");
	param_log = "1";
	param_perf = "";
	KUNIT_EXPECT_EQ(test, load_module(), -EINVAL);
	KUNIT_EXPECT_STREQ(test, last_line(), "perf: ''; 0 or 1 is needed\n");
	param_perf = "1";
	param_pmi = "v5\n";
	KUNIT_EXPECT_EQ(test, load_module(), -EINVAL);
	KUNIT_EXPECT_STREQ(test, last_line(), "pmi: 'v5\\n'; v3, v4 or auto is needed\n");
	KUNIT_EXPECT_EQ(test, nr_lines, 4U);
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
			   "the PMU is in use, by perf, the NMI watchdog, or KVM for a guest with a PMU: end them; 'sysctl kernel.nmi_watchdog=0' ends the watchdog\n");
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
 * Four times on each PMU, 64 in all, is more often than there are dynamic hotplug
 * states (30 in Linux 6.1, 40 in 6.12): one that is left behind shows, too.
 */
static void core_unwinds_steps(struct kunit *test)
{
	const struct sim_pmu *pmu = test->param_value;
	struct sim_registers before;
	unsigned int step, round;

	test_run_there(test);
	for (round = 0; round < 4; round++) {
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
		 * two names, sampler, the file's rows,
		 * notices of suspend and of reboot, thread; the step after it
		 * is the thread's own mask, without which it goes on.
		 */
		KUNIT_EXPECT_EQ(test, step, 16U);
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

	test_run_there(test);
	for (nth = 1; ; nth++) {
		sim_reservations.fail_nth = nth;
		if (!load_on(pmu, &before))
			break;
		KUNIT_ASSERT_EQ_MSG(test, sim_reservations.fail_nth, 0U,
				    "refused: %s", last_line());
		/* What perf has counted is not removed once somebody else has the PMU. */
		if (nth <= 2 * pmu->gp)
			expect_untouched(test, pmu, &before);
	}
	/* Of each counter the event select, and the counter: before perf counts, and after. */
	KUNIT_EXPECT_EQ(test, nth, 2 * 2 * pmu->gp + 1);
	sim_reservations.fail_nth = 0;
	unload_module();
	expect_untouched(test, pmu, &before);
}

/* It counts them on some counters of either kind. */
static const struct sim_perf_event perfs_instructions[] = {
	{ 0, 0, 0x13003c, .counters = 0x200000003 },
	{ 0, 1, 0x1300c0, .counters = 0x100000003 },
};

static void core_unwinds_registers(struct kunit *test)
{
	const struct sim_pmu *pmu = test->param_value;
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct sim_registers before;
	unsigned int nth;

	test_run_there(test);
	sim_reset(0, pmu);
	sim_perf.events = perfs_instructions;
	sim_perf.nr = ARRAY_SIZE(perfs_instructions);
	for (nth = 1; ; nth = test_next_access(nth)) {
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

/* --- events with a period --------------------------------------------------------------- */

#define WITH_PERIOD	"cpu/instructions,period=1000/u"

static atomic_t rows_traced, growth_traced;

static void see_row(void *data, const char *name, int cpu, u64 number, u64 time, bool known,
		    u64 growth, u64 enabled, u64 running)
{
	if (cpu != TEST_CPU || !known || !number || !time || running > enabled)
		return;
	atomic_inc(&rows_traced);
	if (!strcmp(name, "cycles:u"))
		atomic_add(growth, &growth_traced);
}

/* What the file of counters says of an event, and the tracepoint of samples. */
static void periods(struct kunit *test, const char *order)
{
	struct seq_file m = { .size = 4096 };
	struct sim_registers before;
	unsigned int i, lines;

	sim_reset(TEST_CPU, PMU(V4));
	before = sim_cpu(TEST_CPU)->regs;
	set_parameters("1", WITH_PERIOD "@gp0,cycles:u", "2");
	param_pmi = (char *)order;
	atomic_set(&rows_traced, 0);
	atomic_set(&growth_traced, 0);
	KUNIT_ASSERT_EQ(test, load_module(), 0);
	KUNIT_EXPECT_EQ(test, sim_cpu(TEST_CPU)->regs.debugctl,
			strcmp(order, "v4") ? 0ULL : BIT_ULL(12));
	KUNIT_ASSERT_EQ(test, register_trace_my_pmu_sample(see_row, NULL), 0);
	for (i = 0; i < 10; i++)
		KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, retire_1000, NULL));
	lines = count_lines("cpu1 t=");
	KUNIT_EXPECT_TRUE(test, wait_for_lines("cpu1 t=", lines + 2));
	m.private = session;
	m.buf = kunit_kzalloc(test, m.size, GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, m.buf);
	KUNIT_EXPECT_EQ(test, counters_show(&m, NULL), 0);
	KUNIT_EXPECT_NOT_NULL(test, strstr(m.buf, " gp0 counting " WITH_PERIOD
					   " samples=10 lost=0 throttled=0\n"));
	KUNIT_EXPECT_NOT_NULL(test, strstr(m.buf, "cpu1 fixed1 counting cycles:u\n"));
	unregister_trace_my_pmu_sample(see_row, NULL);
	tracepoint_synchronize_unregister();
	KUNIT_EXPECT_GE(test, atomic_read(&rows_traced), 4);
	KUNIT_EXPECT_EQ(test, atomic_read(&growth_traced), 30000);
	unload_module();
	KUNIT_EXPECT_EQ(test, total(WITH_PERIOD "@gp0="), 10000ULL);
	expect_untouched(test, PMU(V4), &before);
}

static void core_periods(struct kunit *test)
{
	periods(test, "auto");
	fresh_start(test);
	periods(test, "v3");
	fresh_start(test);
	periods(test, "v4");
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

/* The sampler does not run on the CPU that is measured, unless there is no other. */
static void core_sampler_keeps_off(struct kunit *test)
{
	sim_reset(0, PMU(V4));
	sim_reset(1, PMU(V4));
	set_parameters("1", EVERYWHERE, "1");
	KUNIT_ASSERT_EQ(test, load_module(), 0);
	KUNIT_EXPECT_TRUE(test, wait_for_lines("cpu1 t=", 1));
	KUNIT_EXPECT_FALSE(test, cpumask_test_cpu(1, &sampler->task->cpus_mask));
	KUNIT_EXPECT_TRUE(test, cpumask_test_cpu(0, &sampler->task->cpus_mask));
	unload_module();

	KUNIT_ASSERT_EQ(test, remove_cpu(1), 0);
	set_parameters("0", EVERYWHERE, "1");
	KUNIT_ASSERT_EQ(test, load_module(), 0);
	KUNIT_EXPECT_TRUE(test, wait_for_lines("cpu0 t=", 1));
	KUNIT_EXPECT_TRUE(test, cpumask_test_cpu(0, &sampler->task->cpus_mask));
	unload_module();
	KUNIT_ASSERT_EQ(test, add_cpu(1), 0);
}

/* It runs on the CPU, because the sampler reads there meanwhile. */
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

/* A sample has no growth of a counter that somebody wrote, and says so. */
static void core_clobbered(struct kunit *test)
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
	KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, retire_1000, NULL));
	KUNIT_EXPECT_TRUE(test, wait_for_lines("cpu1 t=",
					       count_lines("cpu1 t=") + 2));
	unload_module();
	KUNIT_EXPECT_EQ(test, count_having(" stolen=gp0"), 1U);
	KUNIT_EXPECT_EQ(test, count_having(" stolen="), 1U);
	KUNIT_EXPECT_EQ(test, total(" instructions@gp0="), 1000ULL);
	KUNIT_EXPECT_EQ(test, count_having(" instructions@gp0="), 1U);
}

/* What a line begins with, up to its marks. */
#define HEAD	"cpu1 t=12.000345 dt=5.000000 latency=678"

static void print_sample(struct my_target *t)
{
	my_target_grow(t);
	my_print_sample(&sampler->printer, t);
	my_print_flush(&sampler->printer);
}

static void core_marks(struct kunit *test)
{
	static const struct {
		struct my_pmu_marks marks;
		u64 missed;
		const char *line;
		u64 stand;	/* counters that have not moved */
	} rows[] = {
		{ { 0, 0, 0 }, 0,
		  HEAD " instructions@gp0=7 cycles@fixed1=9\n" },
		{ { 0, 0, 0 }, 3,
		  HEAD " missed=3 instructions@gp0=7 cycles@fixed1=9\n" },
		{ { .wrapped = BIT_ULL(33) }, 0,
		  HEAD " wrapped=fixed1 instructions@gp0=7 cycles@fixed1=9\n" },
		{ { .clobbered = BIT_ULL(0) }, 0,
		  HEAD " stolen=gp0 cycles@fixed1=9\n" },
		{ { .late = BIT_ULL(33) }, 0,
		  HEAD " late=fixed1 instructions@gp0=7\n" },
		{ { .clobbered = BIT_ULL(0) | BIT_ULL(33) }, 0,
		  HEAD " stolen=gp0,fixed1\n" },
		{ { .clobbered = BIT_ULL(0), .late = BIT_ULL(33),
		    .wrapped = BIT_ULL(0) | BIT_ULL(33) }, 1,
		  HEAD " missed=1 wrapped=gp0,fixed1 stolen=gp0 late=fixed1\n" },
		{ { 0, 0, 0 }, 0,
		  HEAD " stuck=gp0 cycles@fixed1=9\n", .stand = BIT_ULL(0) },
		{ { 0, 0, 0 }, 0,
		  HEAD " stuck=fixed1 instructions@gp0=7\n", .stand = BIT_ULL(33) },
		{ { 0, 0, 0 }, 2,
		  HEAD " missed=2 stuck=gp0,fixed1\n", .stand = BIT_ULL(0) | BIT_ULL(33) },
		{ { .throttled = BIT_ULL(0) }, 0,
		  HEAD " throttled=gp0 instructions@gp0=7 cycles@fixed1=9\n" },
		{ { .late = BIT_ULL(0) }, 0,
		  HEAD " late=gp0 stuck=gp0,fixed1\n", .stand = BIT_ULL(0) | BIT_ULL(33) },
	};
	struct my_target *t;
	unsigned int i;

	sim_reset(TEST_CPU, PMU(V4));
	set_parameters("1", EVERYWHERE, "2000000");
	KUNIT_ASSERT_EQ(test, load_module(), 0);
	t = my_session_next(session, NULL);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		u64 unknown = rows[i].marks.clobbered | rows[i].marks.late;

		t->missed = rows[i].missed;
		t->sample = (struct my_pmu_sample) {
			.asked = 12000344999ULL, .time = 12000345677ULL,
			.uptime = 5005, .marks = rows[i].marks,
			.count = { rows[i].stand & BIT_ULL(0) ? 1000 : 1007,
				   rows[i].stand & BIT_ULL(33) ? 100 : 109 },
			.running = { unknown & BIT_ULL(0) ? 6 : 5005,
				     unknown & BIT_ULL(33) ? 6 : 5005 } };
		t->last = (struct my_pmu_sample) {
			.time = 7000345677ULL, .uptime = 5,
			.count = { 1000, 100 }, .running = { 5, 5 } };
		print_sample(t);
		KUNIT_EXPECT_STREQ(test, last_line(), rows[i].line);
	}
	unload_module();
}

/* A multiplexed event: on no counter of its own, scaled, with its share of the time. */
static void core_line_multiplexed(struct kunit *test)
{
	static const struct {
		u64 count, running, enabled;
		const char *events;
		bool user;	/* of code that may not have been executed at all */
	} rows[] = {
		{ 7, 100, 100, " instructions=7(100%)" },
		{ 7, 50, 100, " instructions=14(50%)" },
		{ 7, 3, 100, " instructions=233(3%)" },
		/* The share is rounded. */
		{ 7, 4, 1000, " instructions=1750(0%)" },
		{ 7, 5, 1000, " instructions=1400(1%)" },
		/* It was on one, and that stood still. */
		{ 0, 1, 100, "" },
		/* It was on none, or so briefly that it is more than a number holds. */
		{ 0, 0, 100, "" },
		{ 1ULL << 60, 1, 16, "" },
		{ 1ULL << 60, 2, 16, " instructions=9223372036854775808(13%)" },
		{ 0, 1, 0, " branches:u=0(100%)", .user = true },
	};
	char line[128];
	struct my_target *t;
	unsigned int i;

	sim_reset(TEST_CPU, PMU(V1_40));
	set_parameters("1", "instructions,cycles,branches:u", "8000");
	KUNIT_ASSERT_EQ(test, load_module(), 0);
	t = my_session_next(session, NULL);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		unsigned int event = rows[i].user ? 2 : 0;

		t->missed = 0;
		t->sample = (struct my_pmu_sample) {
			.asked = 12000344999ULL, .time = 12000345677ULL,
			.uptime = 5 + rows[i].enabled };
		t->last = (struct my_pmu_sample) { .time = 7000345677ULL, .uptime = 5 };
		t->sample.count[event] = 1000 + rows[i].count;
		t->sample.running[event] = 5 + rows[i].running;
		t->last.count[event] = 1000;
		t->last.running[event] = 5;
		print_sample(t);
		snprintf(line, sizeof(line), HEAD "%s\n", rows[i].events);
		KUNIT_EXPECT_STREQ(test, last_line(), line);
	}
	unload_module();
}

/* Each line has the time from asking the CPU until its counters stood still. */
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

/* A counter does not report its wraps, and the thread oversleeps. */
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
	/* Whether fixed1 was once read in time, and did not move, is up to the host. */
	KUNIT_EXPECT_TRUE(test, strstr(lines[HEAD_LINES], " late=fixed1 stuck=gp0"));
	KUNIT_EXPECT_FALSE(test, strstr(lines[HEAD_LINES], "cycles@fixed1"));
}

/* --- counters that must be read between samples -------------------------------------------- */

/* What the sampler did before it last went to sleep is seen by the caller. */
static unsigned int count_wakeups(void)
{
	/* Pairs with test_schedule_hrtimeout(). */
	return smp_load_acquire(&nr_wakeups);
}

/* The sampler has started, has what it needs, and sleeps. */
static void await_sleep(struct kunit *test)
{
	unsigned int tries;

	for (tries = 0; tries < 5000 && !count_wakeups(); tries++)
		usleep_range(1000, 2000);
	KUNIT_ASSERT_EQ(test, nr_wakeups, 1U);
}

/* In steps, with a clock in which nearly no time passes. */
static void load_in_steps(struct kunit *test, const char *cpu, const char *counters,
			  unsigned int interval_ms)
{
	static char interval[16];

	snprintf(interval, sizeof(interval), "%u", interval_ms);
	steps.on = true;
	steps.now = 0;
	nr_wakeups = 0;
	sim_hold_clock(true);
	set_parameters(cpu, counters, interval);
	KUNIT_ASSERT_EQ_MSG(test, load_module(), 0, "%s", last_line());
	await_sleep(test);
}

/* The moment until which the sampler sleeps. */
static u64 sleeps_until(void)
{
	return wakeups[nr_wakeups - 1];
}

/* The sampler wakes up, does what is due, and sleeps again. */
static void step(struct kunit *test)
{
	unsigned int n = nr_wakeups, tries;

	WRITE_ONCE(steps.granted, true);
	wake_up(&step_granted);
	for (tries = 0; tries < 20000 && count_wakeups() == n; tries++)
		usleep_range(100, 200);
	KUNIT_ASSERT_EQ(test, nr_wakeups, n + 1);
}

/* Until there is one sample more; returns how often the sampler woke up. */
static unsigned int step_to_sample(struct kunit *test)
{
	unsigned int samples = count_lines("cpu1 t="), n = 0;

	while (count_lines("cpu1 t=") == samples) {
		step(test);
		n++;
		KUNIT_ASSERT_LT(test, n, 1000U);
	}
	KUNIT_EXPECT_EQ(test, count_lines("cpu1 t="), samples + 1);
	return n;
}

/* Is each of these counters read, and once? */
static void expect_reads(struct kunit *test, u64 counters)
{
	const struct sim_cpu *sim = sim_cpu(TEST_CPU);
	unsigned int i, reads[64] = {};
	int idx;

	for (i = 0; i < min_t(unsigned int, sim->accesses, SIM_ACCESSES); i++) {
		if (sim->log[i].op != SIM_RDPMC)
			continue;
		idx = sim->log[i].reg & 0x40000000 ? 32 + (sim->log[i].reg & 31) :
						     sim->log[i].reg;
		reads[idx]++;
	}
	for (idx = 0; idx < 64; idx++)
		KUNIT_EXPECT_EQ_MSG(test, reads[idx], counters & BIT_ULL(idx) ? 1U : 0U,
				    "counter %d", idx);
}

/* How long the counters of EVERYWHERE may be left unread. */
static unsigned int longest_ms(const struct sim_pmu *pmu)
{
	return my_pmu_max_interval_ms(min(pmu->width, pmu->fixed_width ?: pmu->width),
				      26);
}

/*
 * The interval is longer than the counters may be left unread: they are read four times
 * as often as they must be, and no line comes of it.
 */
static void core_keeps_up(struct kunit *test)
{
	const struct sim_pmu *pmu = test->param_value;
	u64 longest = longest_ms(pmu) * (u64)NSEC_PER_MSEC;
	unsigned int interval_ms = min(longest_ms(pmu) * 5ULL / 2 + 1, (u64)UINT_MAX);
	u64 interval = interval_ms * (u64)NSEC_PER_MSEC;
	unsigned int samples = 0, keep_ups = 0, n;
	u64 start, last, due, until;

	sim_reset(TEST_CPU, pmu);
	load_in_steps(test, "1", EVERYWHERE, interval_ms);
	start = my_session_next(session, NULL)->set.up_since;
	last = start;
	while (samples < 3) {
		due = start + (samples + 1) * interval;
		until = min(due, last + longest / 4);
		KUNIT_EXPECT_EQ(test, sleeps_until(), until);
		n = nr_lines;
		sim_clear_log(sim_cpu(TEST_CPU));
		step(test);
		expect_reads(test, my_session_next(session, NULL)->set.used);
		KUNIT_ASSERT_EQ(test, nr_lines - n, until == due ? 1U : 0U);
		samples += until == due ? 1 : 0;
		keep_ups += until == due ? 0 : 1;
		last = until;
	}
	/* Ten times for each sample; 64-bit counters have no interval as long. */
	KUNIT_EXPECT_EQ(test, keep_ups, pmu->width == 64 ? 3 * 7U : 3 * 10U);
	unload_module();
	KUNIT_EXPECT_EQ(test, count_lines("cpu1 t="), 3U);
	KUNIT_EXPECT_EQ(test, total(" missed="), 0ULL);
	test_expect_good_manners(test);
}

/* The longest interval that needs nothing in between, and the shortest that does. */
static void core_interval_bounds(struct kunit *test)
{
	unsigned int quarter = my_pmu_max_interval_ms(32, 26) / 4;

	sim_reset(TEST_CPU, PMU(V2_32));
	load_in_steps(test, "1", EVERYWHERE, quarter);
	KUNIT_EXPECT_EQ(test, step_to_sample(test), 1U);
	KUNIT_EXPECT_EQ(test, step_to_sample(test), 1U);
	unload_module();
	load_in_steps(test, "1", EVERYWHERE, quarter + 1);
	KUNIT_EXPECT_EQ(test, step_to_sample(test), 2U);
	KUNIT_EXPECT_EQ(test, step_to_sample(test), 2U);
	unload_module();
	/* What may be an occupancy is read sooner. */
	sim_reset(TEST_CPU, PMU(V4));
	load_in_steps(test, "1", "cycles,r99", 131072 / 4);
	KUNIT_EXPECT_EQ(test, step_to_sample(test), 1U);
	unload_module();
	load_in_steps(test, "1", "cycles,r99", 131072 / 4 + 1);
	KUNIT_EXPECT_EQ(test, step_to_sample(test), 2U);
	unload_module();
	/* Only those counters matter that are in use. */
	sim_reset(TEST_CPU, PMU(V4_NARROW_FIXED));
	load_in_steps(test, "1", "cycles@gp0,instructions@gp1", 2097152 / 4);
	KUNIT_EXPECT_EQ(test, step_to_sample(test), 1U);
	unload_module();
}

static const struct sim_pmu v1_32 = {
	.name = "v1-gp2-32", .ebx_length = 7, .version = 1, .gp = 2, .width = 32 };

struct wraps_row {
	const struct sim_pmu *pmu;
	enum sim_broken broken;
	const char *wrapped;
};

static const struct wraps_row wraps_rows[] = {
	{ PMU(V2_32), SIM_SOUND, " wrapped=gp0,fixed1 " },
	{ PMU(V2_32), SIM_NO_OVERFLOW, " wrapped=gp0,fixed1 " },
	{ PMU(V4_NARROW_FIXED), SIM_SOUND, " wrapped=fixed1 " },
	{ PMU(V4_NARROW_FIXED), SIM_NO_OVERFLOW, " wrapped=fixed1 " },
	{ &v1_32, SIM_SOUND, " wrapped=gp0,gp1 " },
};

static void wraps_desc(const struct wraps_row *row, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s%s", row->pmu->name,
		 row->broken == SIM_NO_OVERFLOW ? " without overflow bits" : "");
}

KUNIT_ARRAY_PARAM(wraps, wraps_rows, wraps_desc);

#define QUARTER_ROUND	0x3fffffffULL

static void retire_a_quarter(void *unused)
{
	struct sim_cpu *sim = sim_cpu(smp_processor_id());

	sim_retire(sim, 0xc0, 0x00, true, QUARTER_ROUND);
	sim_retire(sim, 0x3c, 0x00, false, QUARTER_ROUND - 1);
}

/* 32-bit counters wrap six times in an interval, and all of it is counted. */
static void core_counts_wraps(struct kunit *test)
{
	const struct wraps_row *row = test->param_value;
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	const char *line;
	unsigned int i;

	sim_reset(TEST_CPU, row->pmu);
	sim->broken = row->broken;
	sim->broken_counters = ~0ULL;
	load_in_steps(test, "1", EVERYWHERE, 25 * my_pmu_max_interval_ms(32, 26) / 4);
	for (i = 0; i < 25; i++) {
		KUNIT_EXPECT_EQ(test, nr_lines, HEAD_LINES);
		KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, retire_a_quarter, NULL));
		step(test);
	}
	KUNIT_ASSERT_EQ(test, nr_lines, HEAD_LINES + 1);
	line = last_line();
	KUNIT_EXPECT_TRUE_MSG(test, strstr(line, row->wrapped), "%s", line);
	KUNIT_EXPECT_FALSE_MSG(test, strstr(line, "stolen=") || strstr(line, "late="),
			       "%s", line);
	KUNIT_EXPECT_EQ(test, total(" instructions@gp0="), 25 * QUARTER_ROUND);
	KUNIT_EXPECT_EQ(test, total(" cycles@fixed1=") + total(" cycles@gp1="),
			25 * (QUARTER_ROUND - 1));
	/* What has wrapped is reported once. */
	step_to_sample(test);
	KUNIT_EXPECT_FALSE_MSG(test, strstr(last_line(), "wrapped="), "%s", last_line());
	unload_module();
}

static void let_pass(u64 ns)
{
	u64 until = sim_now() + ns;

	while (sim_now() < until)
		;
}

/* What happened to a counter is found by a read that no sample comes of. */
static void find_mark(struct kunit *test, const char *mark)
{
	step(test);
	KUNIT_EXPECT_EQ(test, count_having(mark), 0U);
	KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, retire_1000, NULL));
	step(test);
	KUNIT_EXPECT_EQ(test, count_having(mark), 0U);
	step_to_sample(test);
	KUNIT_EXPECT_EQ(test, count_having(mark), 1U);
	KUNIT_EXPECT_TRUE_MSG(test, strstr(last_line(), mark), "%s", last_line());
	KUNIT_EXPECT_FALSE_MSG(test, strstr(last_line(), "instructions@gp0="), "%s",
			       last_line());
	KUNIT_EXPECT_TRUE_MSG(test, strstr(last_line(), " cycles@fixed1=3000"), "%s",
			      last_line());
	/* It is reported once. */
	KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, retire_1000, NULL));
	step(test);
	step_to_sample(test);
	KUNIT_EXPECT_EQ(test, count_having(mark), 1U);
	KUNIT_EXPECT_TRUE_MSG(test, strstr(last_line(), " instructions@gp0=1000 "), "%s",
			      last_line());
}

/* The next sample has the marks of all reads since the one before. */
static void core_keep_up_marks(struct kunit *test)
{
	struct sim_cpu *sim = sim_cpu(TEST_CPU);

	sim_reset(TEST_CPU, PMU(V2_32));
	sim->regs.pmc[0] = 1000;
	load_in_steps(test, "1", EVERYWHERE, 100);
	KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, write_7, &sim->regs.pmc[0]));
	find_mark(test, " stolen=gp0 ");
	unload_module();

	fresh_start(test);
	sim_reset(TEST_CPU, PMU(V2_32));
	sim->broken = SIM_NO_OVERFLOW;
	sim->broken_counters = BIT_ULL(0);
	load_in_steps(test, "1", EVERYWHERE, 100);
	let_pass(65 * NSEC_PER_MSEC);
	find_mark(test, " late=gp0 ");
	unload_module();
}

static void enable_gp0(void *select)
{
	sim_cpu(TEST_CPU)->regs.evtsel[0] = *(u64 *)select;
}

/* A hypervisor that has two counters left has none for ours when another one counts. */
static void core_starved(struct kunit *test)
{
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	u64 select = 0x4300c4, none = 0;

	sim_reset(TEST_CPU, PMU(V4));
	sim->broken = SIM_STARVED;
	sim->broken_counters = ~0ULL;
	sim->starved = 2;
	load_in_steps(test, "1", "instructions@gp1,instructions@gp2", 100);
	KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, retire_1000, NULL));
	step_to_sample(test);
	KUNIT_EXPECT_TRUE(test, strstr(last_line(),
				       " instructions@gp1=1000 instructions@gp2=1000\n"));
	KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, enable_gp0, &select));
	KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, retire_1000, NULL));
	step_to_sample(test);
	KUNIT_EXPECT_TRUE(test, strstr(last_line(), " stuck=gp2 instructions@gp1=1000\n"));
	KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, enable_gp0, &none));
	KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, retire_1000, NULL));
	step_to_sample(test);
	KUNIT_EXPECT_TRUE(test, strstr(last_line(),
				       " instructions@gp1=1000 instructions@gp2=1000\n"));
	KUNIT_EXPECT_EQ(test, count_having(" stuck="), 1U);
	unload_module();
}

/* A register faults between samples: what it lost none of them lacks. */
static void core_keep_up_faults(struct kunit *test)
{
	sim_reset(TEST_CPU, PMU(V2_32));
	load_in_steps(test, "1", EVERYWHERE, 100);
	KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, retire_1000, NULL));
	KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, fail_next, NULL));
	step(test);
	KUNIT_EXPECT_EQ(test, sim_cpu(TEST_CPU)->fail_nth, 0U);
	step_to_sample(test);
	unload_module();
	KUNIT_EXPECT_EQ(test, nr_lines, HEAD_LINES + 1);
	KUNIT_EXPECT_EQ(test, total(" instructions@gp0="), 1000ULL);
	KUNIT_EXPECT_EQ(test, total(" cycles@fixed1="), 3000ULL);
	KUNIT_EXPECT_EQ(test, total(" missed="), 0ULL);
}

static void rotate_with_fault(void *set)
{
	fail_next(NULL);
	my_event_set_rotate(set);
}

/* A rotation that failed is reported by the next sample, whoever read meanwhile. */
static void core_keep_up_rotation_fails(struct kunit *test)
{
	struct my_event_set *set;
	unsigned int n;

	sim_reset(TEST_CPU, PMU(V2_32));
	load_in_steps(test, "1", "branches:u,branch-misses:u,cache-misses:u", 100);
	set = &my_session_next(session, NULL)->set;
	KUNIT_ASSERT_TRUE(test, my_event_set_multiplexes(set));
	KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, rotate_with_fault, set));
	KUNIT_ASSERT_EQ(test, set->rotate_err, -EIO);
	step(test);
	step(test);
	KUNIT_EXPECT_EQ(test, nr_lines, HEAD_LINES + 1);	/* and that it is multiplexed */
	for (n = 0; n < 20 && nr_lines == HEAD_LINES + 1; n++)
		step(test);
	KUNIT_EXPECT_STREQ(test, last_line(), "cpu1: no sample: a PMU register faulted\n");
	step_to_sample(test);
	KUNIT_EXPECT_EQ(test, total(" missed="), 1ULL);
	unload_module();
	KUNIT_EXPECT_EQ(test, count_lines("cpu1: no sample"), 1U);
}

/* It comes late, and does not make up for what it has missed. */
static void core_keep_up_late(struct kunit *test)
{
	u64 quarter = my_pmu_max_interval_ms(32, 26) / 4 * (u64)NSEC_PER_MSEC;
	u64 start;

	sim_reset(TEST_CPU, PMU(V2_32));
	load_in_steps(test, "1", EVERYWHERE, 1000);
	start = sleeps_until() - quarter;
	steps.late_ns = 10 * quarter + quarter / 2;
	step(test);
	KUNIT_EXPECT_EQ(test, sleeps_until(), start + 12 * quarter + quarter / 2);
	step(test);
	KUNIT_EXPECT_EQ(test, sleeps_until(), start + 13 * quarter + quarter / 2);
	/* So late that samples are missed, too. */
	steps.late_ns = 3 * NSEC_PER_SEC - 13 * quarter;
	step(test);
	KUNIT_EXPECT_EQ(test, nr_lines, HEAD_LINES);
	KUNIT_EXPECT_EQ(test, sleeps_until(), start + NSEC_PER_SEC);
	steps.late_ns = 2 * NSEC_PER_SEC + quarter / 2;
	step(test);
	KUNIT_EXPECT_EQ(test, nr_lines, HEAD_LINES + 1);
	KUNIT_EXPECT_EQ(test, sleeps_until(),
			start + 3 * NSEC_PER_SEC + quarter + quarter / 2);
	step_to_sample(test);
	KUNIT_EXPECT_EQ(test, total(" missed="), 2ULL);
	unload_module();
}

/* The clock may show less than what the timer has waited for. */
static void core_clock_is_behind(struct kunit *test)
{
	unsigned int n;
	u64 due;

	sim_reset(TEST_CPU, PMU(V4));
	load_in_steps(test, "1", EVERYWHERE, 1000);
	for (n = 0; n < 3; n++) {
		due = sleeps_until();
		steps.late_ns = -1000;
		step(test);
		KUNIT_EXPECT_EQ(test, sleeps_until(), due + NSEC_PER_SEC);
	}
	unload_module();
	KUNIT_EXPECT_EQ(test, count_lines("cpu1 t="), 3U);
	KUNIT_EXPECT_EQ(test, total(" missed="), 0ULL);
}

/* Its CPU is offline for some reads, and for some samples. */
static void core_keep_up_offline(struct kunit *test)
{
	unsigned int n, i;

	sim_reset(TEST_CPU, PMU(V2_32));
	load_in_steps(test, "1", EVERYWHERE, 20);
	KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, retire_1000, NULL));
	step(test);
	KUNIT_ASSERT_EQ(test, remove_cpu(TEST_CPU), 0);
	n = nr_lines;
	/* It wakes up at 16, 20, 28, 36 and 40 ms; samples are due at 20 and 40. */
	for (i = 0; i < 5; i++)
		step(test);
	KUNIT_EXPECT_EQ(test, nr_lines, n);
	KUNIT_ASSERT_EQ(test, add_cpu(TEST_CPU), 0);
	KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, retire_1000, NULL));
	step_to_sample(test);
	unload_module();
	KUNIT_EXPECT_EQ(test, total(" instructions@gp0="), 2000ULL);
	KUNIT_EXPECT_EQ(test, total(" missed="), 2ULL);
}

/*
 * A CPU that joins may have narrower counters in use than those that were there at load:
 * there the firmware has the narrow one.
 */
static void core_keep_up_joins(struct kunit *test)
{
	unsigned int i;

	sim_reset(0, PMU(V4_NARROW_FIXED));
	sim_cpu(0)->regs.fixed_ctr_ctrl = 0x20;
	sim_reset(1, PMU(V4_NARROW_FIXED));
	KUNIT_ASSERT_EQ(test, remove_cpu(1), 0);
	load_in_steps(test, "all", "cycles", 25 * my_pmu_max_interval_ms(32, 26) / 4);
	KUNIT_ASSERT_EQ(test, session->target[0]->set.used, BIT_ULL(0));
	KUNIT_ASSERT_EQ(test, add_cpu(1), 0);
	KUNIT_ASSERT_EQ(test, session->target[1]->set.used, BIT_ULL(33));
	for (i = 0; i < 25; i++) {
		KUNIT_EXPECT_EQ(test, count_lines("cpu1 t="), 0U);
		KUNIT_ASSERT_TRUE(test, test_call(1, retire_a_quarter, NULL));
		step(test);
	}
	KUNIT_EXPECT_EQ(test, count_lines("cpu1 t="), 1U);
	unload_module();
	KUNIT_EXPECT_EQ(test, total(" cycles@fixed1="), 25 * (QUARTER_ROUND - 1));
}

/* --- which events are counted if none is named -------------------------------------------- */

static const struct sim_pmu v1_gp1 = {
	.name = "v1-gp1-40", .ebx_length = 7, .version = 1, .gp = 1, .width = 40 };
static const struct sim_pmu v5_gp1_fixed0 = {
	.name = "v5-gp1-fixed0-40", .ebx_length = 7, .version = 5, .gp = 1, .width = 40,
	.fixed_width = 40, .fixed_bitmap = 1 };
static const struct sim_pmu v2_gp1_fixed3 = {
	.name = "v2-gp1-fixed3-40", .ebx_length = 7, .version = 2, .gp = 1, .width = 40,
	.fixed = 3, .fixed_width = 40 };

/**
 * struct default_row - what counters=default is
 * @pmu: on this PMU
 * @counters: events and their counters, as a sample's line has them
 * @firmware: the firmware uses these counters, by id
 */
struct default_row {
	const struct sim_pmu *pmu;
	const char *counters;
	u64 firmware;
};

#define TWICE_ON_USUAL	"instructions@fixed0 cycles@fixed1 instructions@gp0 cycles@gp1"

static const struct default_row default_rows[] = {
	/* Nothing is fixed: no event is counted twice. */
	{ PMU(V1_40), "instructions@gp0 cycles@gp1" },
	{ PMU(V1_FULL), "instructions@gp0 cycles@gp1" },
	{ PMU(V2_NO_FIXED), "instructions@gp0 cycles@gp1" },
	{ PMU(V2_40), TWICE_ON_USUAL },
	{ PMU(V2_32), TWICE_ON_USUAL },
	{ PMU(V3_LEGACY), TWICE_ON_USUAL },
	{ PMU(V4), TWICE_ON_USUAL },
	{ PMU(V4_64), TWICE_ON_USUAL },
	{ PMU(V4_NARROW_FIXED), TWICE_ON_USUAL },
	{ PMU(V2_SECRET), TWICE_ON_USUAL },
	/* There is no fixed1. */
	{ PMU(V5_HOLE), "instructions@fixed0 cycles@gp0 instructions@gp1" },
	/* There is no counter for more. */
	{ PMU(V5_ONE_OF_EACH), "instructions@gp0 cycles@fixed1" },
	{ &v5_gp1_fixed0, "instructions@fixed0 cycles@gp0" },
	{ &v2_gp1_fixed3, "instructions@fixed0 cycles@fixed1 instructions@gp0" },
	/* Not even the two events fit. */
	{ &v1_gp1, "instructions cycles" },
	{ PMU(V1_40), "instructions cycles", 0x1 },
	{ PMU(V5_ONE_OF_EACH), "instructions cycles", 0x200000000 },
	{ PMU(V4), "instructions@fixed0 cycles@fixed1 instructions@gp1 cycles@gp2", 0x1 },
	{ PMU(V4), "instructions@fixed0 cycles@fixed1 instructions@gp0 cycles@gp2", 0x2 },
	{ PMU(V4), "instructions@fixed0 cycles@fixed1 instructions@gp7", 0x7f },
	{ PMU(V4), "instructions@fixed0 cycles@fixed1", 0xff },
	{ PMU(V4), "instructions@gp0 cycles@fixed1 cycles@gp1", 0x100000000 },
	{ PMU(V4), "instructions@fixed0 cycles@gp0 instructions@gp1", 0x200000000 },
	{ PMU(V4), "instructions@gp0 cycles@gp1", 0x300000000 },
	{ PMU(V4), "instructions@gp3 cycles@fixed1 cycles@gp4", 0x100000007 },
	{ PMU(V2_32), "instructions@fixed0 cycles@fixed1 instructions@gp1", 0x1 },
	{ PMU(V2_32), "instructions@fixed0 cycles@fixed1 instructions@gp0", 0x2 },
	{ PMU(V2_32), "instructions@fixed0 cycles@gp1", 0x200000001 },
	{ PMU(V2_32), "instructions@gp0 cycles@fixed1 cycles@gp1", 0x100000000 },
	{ PMU(V2_32), "instructions@gp0 cycles@gp1", 0x300000000 },
	{ PMU(V2_32), "instructions cycles", 0x300000001 },
};

static void default_desc(const struct default_row *row, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s firmware %#llx", row->pmu->name,
		 row->firmware);
}

KUNIT_ARRAY_PARAM(default, default_rows, default_desc);

static void let_firmware_use(unsigned int cpu, u64 counters)
{
	struct sim_registers *regs = &sim_cpu(cpu)->regs;
	int i;

	for (i = 0; i < 32; i++) {
		if (counters & BIT_ULL(i))
			regs->evtsel[i] = 0x4300c4;
		if (counters & BIT_ULL(32 + i))
			regs->fixed_ctr_ctrl |= 0x2ULL << (4 * i);
	}
	sim_reservations.firmware |= counters;
}

/* Its events, each with the counter that it never leaves, if there is one. */
static void list_events(const struct my_target *t, char *text, size_t size)
{
	const char *sep = "";
	unsigned int i;
	size_t len = 0;

	for (i = 0; i < t->set.nr_events; i++, sep = " ") {
		int home = t->set.schedule.home[i];

		len += scnprintf(text + len, size - len, "%s%s", sep,
				 t->set.event[i].attr.name);
		if (home != MY_NO_COUNTER)
			len += scnprintf(text + len, size - len, "@%s%d",
					 my_pmc_kind(home), my_pmc_number(home));
	}
}

static void expect_events(struct kunit *test, unsigned int cpu, const char *wanted)
{
	char text[256];

	list_events(session->target[cpu], text, sizeof(text));
	KUNIT_EXPECT_STREQ(test, text, wanted);
}

static void core_default(struct kunit *test)
{
	const struct default_row *row = test->param_value;
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct sim_registers before;
	struct my_target *t;
	bool multiplexed;

	sim_reset(TEST_CPU, row->pmu);
	test_leave_traces(sim);
	/* These have PMI, which is the firmware's then. */
	if (row->firmware >> 32)
		sim->regs.fixed_ctr_ctrl = 0;
	let_firmware_use(TEST_CPU, row->firmware);
	before = sim->regs;
	set_parameters("1", "default", "1");
	KUNIT_ASSERT_EQ_MSG(test, load_module(), 0, "%s", last_line());
	t = session->target[TEST_CPU];
	expect_events(test, TEST_CPU, row->counters);
	multiplexed = !strchr(row->counters, '@');
	KUNIT_EXPECT_EQ(test, my_event_set_multiplexes(&t->set), multiplexed);
	KUNIT_EXPECT_EQ(test, count_lines("cpu1: more events than counters: they are "),
			multiplexed ? 1U : 0U);
	KUNIT_EXPECT_EQ(test, t->set.used & row->firmware, 0ULL);
	KUNIT_EXPECT_EQ(test, t->set.cpu->firmware, row->firmware);
	/* What is left out is not reported. */
	KUNIT_EXPECT_EQ(test, count_having("left out"), 0U);
	KUNIT_EXPECT_TRUE(test, str_has_prefix(lines[HEAD_LINES - 1], "cpu1: held against"));
	KUNIT_ASSERT_TRUE(test, wait_for_lines("cpu1 t=", 1));
	unload_module();
	expect_untouched(test, row->pmu, &before);
}

/* All that is counted twice shows the same, in the order of the list. */
static void core_default_agrees(struct kunit *test)
{
	static const char grown[] = {
		" instructions@fixed0=1000 cycles@fixed1=3000 instructions@gp0=1000 cycles@gp1=3000\n"
	};

	sim_reset(TEST_CPU, PMU(V4));
	set_parameters("1", "default", "1");
	KUNIT_ASSERT_EQ(test, load_module(), 0);
	/* The first sample may be there already. */
	KUNIT_EXPECT_STREQ(test, lines[HEAD_LINES - 1],
			   "cpu1: held against perf, on all CPUs: gp0-7; counting: gp0-1 fixed0-1; the firmware's: none\n");
	KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, retire_1000, NULL));
	KUNIT_ASSERT_TRUE(test, wait_for_lines("cpu1 t=", 3));
	unload_module();
	KUNIT_EXPECT_EQ(test, count_having(grown), 1U);
	KUNIT_EXPECT_EQ(test, total(" instructions@fixed0="), 1000ULL);
	KUNIT_EXPECT_EQ(test, total(" instructions@gp0="), 1000ULL);
	KUNIT_EXPECT_EQ(test, total(" cycles@fixed1="), 3000ULL);
	KUNIT_EXPECT_EQ(test, total(" cycles@gp1="), 3000ULL);
}

/* Without any parameter: CPU 0, every 5 seconds, stopped while read, printed. */
static void core_without_parameters(struct kunit *test)
{
	sim_reset(0, PMU(V4));
	set_parameters("", "", "");
	steps.on = true;
	param_cpu = defaults.cpu;
	param_counters = defaults.counters;
	param_interval = defaults.interval;
	param_freeze = defaults.freeze;
	param_log = defaults.log;
	param_pmi = defaults.pmi;
	param_perf = defaults.perf;
	KUNIT_ASSERT_EQ_MSG(test, load_module(), 0, "%s", last_line());
	KUNIT_EXPECT_EQ(test, cpumask_weight(session->cpus), 1U);
	expect_events(test, 0, TWICE_ON_USUAL);
	KUNIT_EXPECT_EQ(test, session->interval_ms, 5000U);
	KUNIT_EXPECT_TRUE(test, session->freeze);
	KUNIT_EXPECT_TRUE(test, session->log);
	KUNIT_EXPECT_EQ(test, sim_perf.registered, BIT(0));
	unload_module();
}

/* It is refused as if the two events had been named. */
static void core_default_is_refused(struct kunit *test)
{
	static const struct sim_pmu no_cycles = {
		.name = "no-cycles", .version = 4, .gp = 4, .width = 48,
		.ebx = 0x1, .ebx_length = 7, .hypervisor = true };
	struct sim_registers before;

	sim_reset(TEST_CPU, &no_cycles);
	before = sim_cpu(TEST_CPU)->regs;
	set_parameters("1", "default", "5");
	KUNIT_EXPECT_EQ(test, load_module(), -EOPNOTSUPP);
	KUNIT_EXPECT_STREQ(test, last_line(),
			   "counters: 'cycles': CPU 1 does not have this event (CPUID.0AH:EBX flags it absent)\n");
	KUNIT_EXPECT_EQ(test, nr_lines, 1U);
	expect_untouched(test, &no_cycles, &before);

	sim_reset(TEST_CPU, PMU(V1_40));
	let_firmware_use(TEST_CPU, 0x3);
	before = sim_cpu(TEST_CPU)->regs;
	KUNIT_EXPECT_EQ(test, load_module(), -ENOSPC);
	KUNIT_EXPECT_STREQ(test, last_line(),
			   "counters: 'instructions': no counter is left that counts it; CPU 1 has 2 generic (gp) and 0 fixed counters, and its firmware uses some\n");
	KUNIT_EXPECT_EQ(test, nr_lines, 2U);
	expect_untouched(test, PMU(V1_40), &before);
}

/* How often the text is in the line. */
static unsigned int count_in(const char *line, const char *text)
{
	unsigned int n = 0;

	while ((line = strstr(line, text))) {
		line += strlen(text);
		n++;
	}
	return n;
}

/* The line for all CPUs has each event once, and of each CPU once. */
static void core_default_summary(struct kunit *test)
{
	const char *line;

	sim_reset(0, PMU(V4));
	sim_reset(1, PMU(V1_40));
	load_in_steps(test, "0-1", "default", 1000);
	expect_events(test, 0, TWICE_ON_USUAL);
	expect_events(test, 1, "instructions@gp0 cycles@gp1");
	KUNIT_EXPECT_EQ(test, count_having("left out"), 0U);
	KUNIT_ASSERT_TRUE(test, test_call(0, retire_1000, NULL));
	KUNIT_ASSERT_TRUE(test, test_call(1, retire_1000, NULL));
	step_to_sample(test);
	line = last_line();
	KUNIT_EXPECT_TRUE_MSG(test, str_has_prefix(line, "all t="), "%s", line);
	KUNIT_EXPECT_TRUE_MSG(test, strstr(line, " instructions=2000 cycles=6000\n"), "%s",
			      line);
	KUNIT_EXPECT_EQ(test, count_in(line, "instructions"), 1U);
	KUNIT_EXPECT_EQ(test, count_in(line, "cycles"), 1U);
	unload_module();
}

/* A CPU that joins leaves out what its firmware leaves no counter for. */
static void core_default_joins(struct kunit *test)
{
	sim_reset(0, PMU(V2_32));
	sim_reset(1, PMU(V2_32));
	KUNIT_ASSERT_EQ(test, remove_cpu(1), 0);
	load_in_steps(test, "all", "default", 1000);
	let_firmware_use(1, 0x1);
	KUNIT_ASSERT_EQ(test, add_cpu(1), 0);
	KUNIT_EXPECT_STREQ(test, last_line(), "cpu1 is new, counting goes on\n");
	expect_events(test, 0, TWICE_ON_USUAL);
	expect_events(test, 1, "instructions@fixed0 cycles@fixed1 instructions@gp1");
	KUNIT_EXPECT_EQ(test, count_having("left out"), 0U);
	KUNIT_ASSERT_TRUE(test, test_call(0, retire_1000, NULL));
	KUNIT_ASSERT_TRUE(test, test_call(1, retire_1000, NULL));
	step_to_sample(test);
	KUNIT_EXPECT_TRUE_MSG(test, strstr(last_line(), " instructions=2000 cycles=6000\n"),
			      "%s", last_line());
	unload_module();
}

/* --- who owns what ----------------------------------------------------------------------- */

/* The whole file except for its first line; ours are in this state. */
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
static void expect_opens(struct kunit *test, const struct file_operations *fops,
			 struct inode *inode)
{
	struct file *file = kunit_kzalloc(test, sizeof(*file), GFP_KERNEL);
	struct seq_file *m;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, file);
	KUNIT_ASSERT_EQ(test, fops->open(inode, file), 0);
	m = file->private_data;
	KUNIT_EXPECT_PTR_EQ(test, m->private, (void *)session);
	KUNIT_EXPECT_EQ(test, fops->release(inode, file), 0);
}

/* Guards are for all counters, fixed ones, too. */
static void core_counters_file_guarded(struct kunit *test)
{
	struct seq_file m = { .size = 4096 };
	struct sim_registers before;

	sim_perf.stays = true;
	sim_perf.excludes = true;
	KUNIT_ASSERT_EQ(test, load_on(PMU(V4), &before), 0);
	m.private = session;
	m.buf = kunit_kzalloc(test, m.size, GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, m.buf);
	KUNIT_EXPECT_EQ(test, counters_show(&m, NULL), 0);
	KUNIT_EXPECT_NOT_NULL(test, strstr(m.buf, "cpu1 fixed2 held\n"));
	unload_module();
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

	/* The file is root's only, and gone with the module. */
	KUNIT_ASSERT_FALSE(test, IS_ERR_OR_NULL(files));
	file = debugfs_lookup("counters", files);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, file);
	KUNIT_EXPECT_EQ(test, d_inode(file)->i_mode, S_IFREG | 0400);
	expect_opens(test, &counters_fops, d_inode(file));
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
	{ 0, 7, 0x193010e, .counters = 0x7 },
	{ 0, 9, 0x130300 },
	{ 3, 0, 0x1381d0, .counters = 0xf },
	{ 4, 0x1c2, 0x1301c2, .counters = 0x20 },
	{ 3, 2, 0x1301b7, .extra = 0x3f6 },
	{ 3, 0x10002, 0x1301b7, .extra = 0x1a6, .value = 0x3fffc00001 },
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

	sim_reset(0, &v4_without_caches);
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
			   "cpu1 stalled-cycles-frontend 0x180010e gp0-2\n"
			   "cpu1 ref-cycles 0x300 fixed2\n"
			   "cpu1 L1-dcache-loads 0x81d0 gp0-3\n"
			   "cpu1 LLC-load-misses 0x1b7 gp0-3 0x1a6=0x3fffc00001\n");

	KUNIT_ASSERT_FALSE(test, IS_ERR_OR_NULL(files));
	file = debugfs_lookup("events", files);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, file);
	KUNIT_EXPECT_EQ(test, d_inode(file)->i_mode, S_IFREG | 0400);
	expect_opens(test, &events_fops, d_inode(file));
	dput(file);
	unload_module();
}

/* perf counts to say where, on one CPU of those that are alike, and leaves no traces. */
static void core_asks_where(struct kunit *test)
{
	struct sim_registers before[SIM_CPUS], *theirs;
	unsigned int cpu, counted;

	for (cpu = 0; cpu < SIM_CPUS; cpu++) {
		sim_reset(cpu, PMU(V4));
		test_leave_traces(sim_cpu(cpu));
		before[cpu] = sim_cpu(cpu)->regs;
	}
	sim_perf.events = perfs_events;
	sim_perf.nr = ARRAY_SIZE(perfs_events);
	set_parameters("0-1", "r01c2,instructions", "30");
	KUNIT_ASSERT_EQ(test, load_module(), 0);
	KUNIT_EXPECT_EQ(test, sim_cpu(0)->regs.evtsel[5], 0x4301c2ULL);
	KUNIT_EXPECT_EQ(test, sim_cpu(1)->regs.evtsel[5], 0x4301c2ULL);
	counted = sim_perf.counted;
	KUNIT_EXPECT_GT(test, counted, 5U);
	KUNIT_EXPECT_EQ(test, sim_perf.counted_on, BIT(0));
	unload_module();
	for (cpu = 0; cpu < SIM_CPUS; cpu++)
		test_expect_registers(test, PMU(V4), &before[cpu], &sim_cpu(cpu)->regs);
	sim_perf.counted = 0;
	set_parameters("0", "r01c2,instructions", "30");
	KUNIT_ASSERT_EQ(test, load_module(), 0);
	KUNIT_EXPECT_EQ(test, sim_perf.counted, counted);
	unload_module();
	test_expect_registers(test, PMU(V4), &before[0], &sim_cpu(0)->regs);
	/*
	 * Somebody has come to perf while it was asked: he keeps his counters, and all others are
	 * as before.
	 */
	sim_perf.taken = BIT(0);
	set_parameters("0-1", "r01c2,instructions", "30");
	KUNIT_ASSERT_EQ(test, load_module(), -EBUSY);
	sim_reservations.foreign = 0;
	sim_perf.taken = 0;
	theirs = kunit_kzalloc(test, sizeof(*theirs), GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, theirs);
	*theirs = before[0];
	theirs->evtsel[2] = 0x4300c4;
	theirs->pmc[2] = 42;
	theirs->fixed[1] = 42;
	theirs->fixed_ctr_ctrl = (theirs->fixed_ctr_ctrl & ~0xf0ULL) | 0xb0;
	theirs->global_ctrl = 0x7000000ff;
	test_expect_registers(test, PMU(V4), theirs, &sim_cpu(0)->regs);
	test_expect_registers(test, PMU(V4), &before[1], &sim_cpu(1)->regs);
	sim_cpu(0)->regs = before[0];
	/* What perf does not know it is not asked. */
	sim_perf.counted = 0;
	sim_perf.unknown_model = true;
	KUNIT_ASSERT_EQ(test, load_module(), 0);
	KUNIT_EXPECT_EQ(test, sim_perf.counted, 0U);
	unload_module();
	sim_perf.unknown_model = false;
	/* What was found of the boot CPU the last time is not believed if it fails now. */
	sim_cpu(0)->pmu.pdcm = true;
	sim_cpu(0)->fail_reg = 0x345;
	set_parameters("1", "r01c2,instructions", "30");
	KUNIT_ASSERT_EQ(test, load_module(), 0);
	KUNIT_EXPECT_EQ(test, sim_perf.counted, 0U);
	unload_module();
	sim_cpu(0)->fail_reg = 0;
	/* What firmware uses was in use before, and is no reason to leave GLOBAL_CTRL as it is. */
	sim_cpu(1)->regs.evtsel[3] = 0x4300c0;
	sim_perf.writes_ctrl = true;
	set_parameters("1", "instructions", "30");
	KUNIT_ASSERT_EQ(test, load_module(), 0);
	KUNIT_EXPECT_EQ(test, my_pmu_cpu_of(1)->firmware, BIT_ULL(3));
	unload_module();
	sim_perf.writes_ctrl = false;
	sim_cpu(1)->regs.evtsel[3] = before[1].evtsel[3];
	sim_cpu(1)->regs.pmc[3] = before[1].pmc[3];
	test_expect_registers(test, PMU(V4), &before[1], &sim_cpu(1)->regs);
	/* CPUs that differ are asked one by one, if perf knows that they do. */
	sim_reset(0, PMU(V3_LEGACY));
	before[0] = sim_cpu(0)->regs;
	sim_perf.counted_on = 0;
	set_parameters("0-1", "r01c2,instructions", "30");
	KUNIT_ASSERT_EQ(test, load_module(), 0);
	KUNIT_EXPECT_EQ(test, sim_perf.counted_on, BIT(0));
	KUNIT_EXPECT_EQ(test, sim_cpu(0)->regs.evtsel[5], 0x4301c2ULL);
	KUNIT_EXPECT_EQ(test, sim_cpu(1)->regs.evtsel[0], 0x4301c2ULL);
	unload_module();
	sim_cpu(0)->pmu.hybrid = true;
	KUNIT_ASSERT_EQ(test, load_module(), 0);
	KUNIT_EXPECT_EQ(test, sim_perf.counted_on, BIT(0) | BIT(1));
	KUNIT_EXPECT_EQ(test, sim_cpu(0)->regs.evtsel[5], 0x4301c2ULL);
	KUNIT_EXPECT_EQ(test, sim_cpu(1)->regs.evtsel[5], 0x4301c2ULL);
	unload_module();
	for (cpu = 0; cpu < SIM_CPUS; cpu++)
		test_expect_registers(test, &sim_cpu(cpu)->pmu, &before[cpu],
				      &sim_cpu(cpu)->regs);
}

/* Not where the boot CPU has no PMU, since perf has none then. */
static void core_asks_if_there_is_perf(struct kunit *test)
{
	sim_reset(0, &no_pmu);
	sim_reset(TEST_CPU, PMU(V4));
	sim_perf.events = perfs_events;
	sim_perf.nr = ARRAY_SIZE(perfs_events);
	set_parameters("1", "r01c2", "30");
	KUNIT_ASSERT_EQ(test, load_module(), 0);
	KUNIT_EXPECT_EQ(test, sim_perf.counted, 0U);
	unload_module();
	sim_reset(0, PMU(V4));
	sim_perf.err = -ENOENT;
	KUNIT_ASSERT_EQ(test, load_module(), 0);
	KUNIT_EXPECT_EQ(test, sim_cpu(TEST_CPU)->regs.evtsel[0], 0x4301c2ULL);
	unload_module();
}

/* Nor where perf would write more bits to a fixed counter than it has. */
static void core_asks_not_narrow(struct kunit *test)
{
	sim_reset(0, PMU(V4_NARROW_FIXED));
	sim_reset(TEST_CPU, PMU(V4_NARROW_FIXED));
	sim_perf.events = perfs_events;
	sim_perf.nr = ARRAY_SIZE(perfs_events);
	set_parameters("1", "r01c2", "30");
	KUNIT_ASSERT_EQ(test, load_module(), 0);
	KUNIT_EXPECT_EQ(test, sim_perf.counted, 0U);
	unload_module();
}

/* Nor does it while somebody else has the PMU. */
static void core_asks_when_free(struct kunit *test)
{
	sim_reset(0, PMU(V4));
	sim_reset(TEST_CPU, PMU(V4));
	sim_perf.events = perfs_events;
	sim_perf.nr = ARRAY_SIZE(perfs_events);
	sim_reservations.foreign = BIT(2);
	set_parameters("1", "r01c2", "30");
	KUNIT_EXPECT_EQ(test, load_module(), -EBUSY);
	KUNIT_EXPECT_EQ(test, sim_perf.counted, 0U);
}

/* It would take the counters that somebody uses outside Linux. */
static void core_asks_beside_nobody(struct kunit *test)
{
	struct sim_registers before;

	KUNIT_ASSERT_EQ(test, set_cpus_allowed_ptr(current, cpumask_of(TEST_CPU)), 0);
	sim_reset(0, PMU(V4));
	sim_reset(TEST_CPU, PMU(V4));
	sim_cpu(TEST_CPU)->regs.evtsel[7] = 0x430051;
	sim_reservations.firmware = BIT(7);
	before = sim_cpu(TEST_CPU)->regs;
	sim_perf.events = perfs_events;
	sim_perf.nr = ARRAY_SIZE(perfs_events);
	set_parameters("1", "r01c2", "30");
	KUNIT_ASSERT_EQ(test, load_module(), 0);
	KUNIT_EXPECT_EQ(test, sim_perf.counted, 0U);
	KUNIT_EXPECT_EQ(test, sim_cpu(TEST_CPU)->regs.evtsel[0], 0x4301c2ULL);
	unload_module();
	test_expect_registers(test, PMU(V4), &before, &sim_cpu(TEST_CPU)->regs);
}

/* The event selects are reserved, and perf has a PMU all the same. */
static void core_refuses_perf_that_stays(struct kunit *test)
{
	struct sim_registers before;

	sim_reset(TEST_CPU, PMU(V4));
	before = sim_cpu(TEST_CPU)->regs;
	sim_perf.stays = true;
	set_parameters("1", EVERYWHERE, "30");
	KUNIT_EXPECT_EQ(test, load_module(), -EBUSY);
	KUNIT_EXPECT_STREQ(test, last_line(),
			   "nothing keeps perf out of a PMU of version 4 in this kernel\n");
	/* What perf has written is its own. */
	before.global_ctrl = sim_cpu(TEST_CPU)->regs.global_ctrl;
	expect_untouched(test, PMU(V4), &before);
}

static const char * const doubts[] = {
	"cpu1: 'r01c0' may count wrong on gp2; this model is known to count it on gp1\n",
	"cpu1: 'r99' may count wrong on gp4; this model is known to count it on gp0-3\n",
	"cpu1: every process can read the counters, and perf may zero them: 'echo 1 > /sys/bus/event_source/devices/cpu/rdpmc'\n",
};

/* Whoever names a counter means it, and is told. */
static void core_doubtful(struct kunit *test)
{
	sim_reset(TEST_CPU, PMU(V4));
	set_parameters("1", "r01c0@gp2,r01c0,r99@gp4-5,r98@gp3-4", "30");
	KUNIT_ASSERT_EQ(test, load_module(), 0);
	KUNIT_EXPECT_EQ(test, sim_cpu(TEST_CPU)->regs.evtsel[2], 0x4301c0ULL);
	KUNIT_EXPECT_EQ(test, sim_cpu(TEST_CPU)->regs.evtsel[1], 0x4301c0ULL);
	KUNIT_EXPECT_EQ(test, sim_cpu(TEST_CPU)->regs.evtsel[4], 0x430099ULL);
	KUNIT_EXPECT_EQ(test, sim_cpu(TEST_CPU)->regs.evtsel[3], 0x430098ULL);
	unload_module();
	KUNIT_EXPECT_EQ(test, count_lines("cpu1: '"), 2U);
	KUNIT_EXPECT_EQ(test, count_lines(doubts[0]), 1U);
	KUNIT_EXPECT_EQ(test, count_lines(doubts[1]), 1U);
	/* Of those that were named, one that is known to be right. */
	set_parameters("1", "r01c0@gp0-1", "30");
	KUNIT_ASSERT_EQ(test, load_module(), 0);
	KUNIT_EXPECT_EQ(test, sim_cpu(TEST_CPU)->regs.evtsel[1], 0x4301c0ULL);
	unload_module();
}

/* Any process can read what is counted. */
static void core_rdpmc(struct kunit *test)
{
	struct sim_pmu pmu = *PMU(V4);

	sim_reset(TEST_CPU, &pmu);
	set_parameters("1", EVERYWHERE, "30");
	KUNIT_ASSERT_EQ(test, load_module(), 0);
	unload_module();
	KUNIT_EXPECT_EQ(test, count_lines("cpu1: every process"), 0U);
	pmu.user_rdpmc = true;
	sim_reset(TEST_CPU, &pmu);
	KUNIT_ASSERT_EQ(test, load_module(), 0);
	unload_module();
	KUNIT_EXPECT_EQ(test, count_lines(doubts[2]), 1U);
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

/* What perf says is reported if there is a PMU; no register is touched. */
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
			   "counters: 'LLC-loads': CPU 1 needs an extra register for it, which is not programmed here\n");
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

/* Each question that perf has no memory for refuses the load; there are CPUs before it. */
static void core_unwinds_names(struct kunit *test)
{
	struct sim_registers before;
	unsigned int nth;

	sim_reset(0, PMU(V4));
	sim_reset(TEST_CPU, PMU(V4));
	before = sim_cpu(TEST_CPU)->regs;
	set_parameters("0-1", "instructions,cycles", "30");
	for (nth = 1; ; nth++) {
		sim_perf.fail_nth = nth;
		nr_lines = 0;
		if (!load_module())
			break;
		KUNIT_ASSERT_EQ(test, sim_perf.fail_nth, 0U);
		KUNIT_EXPECT_EQ(test, nr_lines, 1U);
		KUNIT_EXPECT_TRUE(test, strstr(lines[0], ": no memory to ask perf for it\n"));
		expect_untouched(test, PMU(V4), &before);
	}
	sim_perf.fail_nth = 0;
	unload_module();
	/* Both events, on both CPUs; then all that have names. */
	KUNIT_EXPECT_GT(test, nth, 4U + 50U);
	/* Nor for the event that it is held by, or that tells whether reservations keep it out. */
	for (nth = 1; nth <= 2; nth++) {
		sim_perf.fail_hold = nth;
		nr_lines = 0;
		KUNIT_EXPECT_EQ(test, load_module(), -ENOMEM);
		KUNIT_EXPECT_EQ(test, sim_perf.fail_hold, 0U);
		KUNIT_EXPECT_EQ(test, nr_lines, 1U);
		KUNIT_EXPECT_STREQ(test, last_line(), "no memory for an event of perf's\n");
		KUNIT_EXPECT_EQ(test, sim_reservations.held, 0U);
		expect_untouched(test, PMU(V4), &before);
	}
}

/* Linux's reservations are for all CPUs; what a firmware uses is said of each. */
static void core_unlike_owners(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < 2; i++)
		sim_reset(i, PMU(V4));
	sim_cpu(1)->regs.evtsel[2] = 0x4300c4;
	sim_reservations.firmware = BIT(2);
	set_parameters("0-1", "instructions", "5000");
	KUNIT_ASSERT_EQ(test, load_module(), 0);
	KUNIT_EXPECT_EQ(test, count_lines("cpu0: held against"), 1U);
	KUNIT_EXPECT_EQ(test, count_having(" counting: fixed0; the firmware's: none\n"), 1U);
	KUNIT_EXPECT_EQ(test, count_lines("cpu1: held against"), 1U);
	KUNIT_EXPECT_EQ(test, count_having(" counting: fixed0; the firmware's: gp2\n"), 1U);
	unload_module();
}

static void retire_firmware(void *unused)
{
	sim_retire(sim_cpu(TEST_CPU), 0xc4, 0x00, true, 11);
	sim_retire(sim_cpu(TEST_CPU), 0xc0, 0x00, true, 1000);
}

/* The firmware's counter counts on as if the module were not there. */
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

/* An event names it: the load is refused, and has touched nothing. */
static void core_firmware_is_named(struct kunit *test)
{
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct sim_registers before;

	sim_reset(TEST_CPU, PMU(V4));
	test_leave_traces(sim);
	sim->regs.evtsel[2] = 0x4300c4;
	sim_reservations.firmware = BIT(2);
	before = sim->regs;
	set_parameters("1", "instructions@gp2,cycles", "5000");
	KUNIT_EXPECT_EQ(test, load_module(), -EBUSY);
	KUNIT_EXPECT_EQ(test, nr_lines, 1U);
	KUNIT_EXPECT_STREQ(test, last_line(),
			   "counters: 'instructions@gp2': gp2 is in use on CPU 1, and not by Linux: its firmware or microcode (TSX) uses it; without a counter, as in counters=instructions,cycles, the module chooses\n");
	expect_untouched(test, PMU(V4), &before);
}

/* While the CPU was offline its firmware took a counter of ours; later it is free. */
static void core_firmware_while_offline(struct kunit *test)
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
			   "cpu1 is back, but cannot be counted on: gp0 is in use, and not by Linux: its firmware or microcode (TSX) uses it\n");
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
	/* A CPU that goes is reported only if it counted. */
	KUNIT_EXPECT_EQ(test, count_lines("cpu1 goes offline, counting rests\n"), 1U);
	KUNIT_EXPECT_EQ(test, total(" instructions@gp0="), 2000ULL);
	expect_untouched(test, PMU(V4), &before);
}

/* The message says why a CPU cannot be counted on. */
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

/* Waits for so many samples more, whether or not they are printed. */
static bool wait_for_samples(unsigned int n)
{
	const struct my_target *t = session->target[TEST_CPU];
	u64 wanted = READ_ONCE(t->nr_samples) + n;
	unsigned int i;

	for (i = 0; i < 1000 && READ_ONCE(t->nr_samples) < wanted; i++)
		msleep(20);
	return READ_ONCE(t->nr_samples) >= wanted;
}

/* Samples are taken, and are in the file, but not in the log. */
static void core_log_off(struct kunit *test)
{
	sim_reset(TEST_CPU, PMU(V4));
	set_parameters("1", EVERYWHERE, "1");
	param_log = "0";
	KUNIT_ASSERT_EQ(test, load_module(), 0);
	KUNIT_EXPECT_TRUE(test, wait_for_samples(5));
	KUNIT_EXPECT_GE(test, sampler->samples.head, 2 * 5ULL);
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

/* A register faults: there is no sample but a message, and the sample is missed. */
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

/* 18 events with long names; the first few are shorter by so much together. */
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
			       i ? "," : "", longest - lack, 0xc4);
	}
	nr_lines = 0;
	sim_reset(TEST_CPU, &many);
	set_parameters("1", list, "1");
	KUNIT_ASSERT_EQ_MSG(test, load_module(), 0, "%s", last_line());
	KUNIT_ASSERT_TRUE(test, wait_for_lines("cpu1 t=", 2));
	unload_module();
}

/* How many events the line has, whole. */
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

/* Marks of so many counters that no event has room behind them. */
static void core_lines_of_marks(struct kunit *test)
{
	struct my_printer *p = kunit_kzalloc(test, sizeof(*p), GFP_KERNEL);
	struct my_target *t;
	unsigned int i;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, p);
	sim_reset(TEST_CPU, PMU(V4));
	set_parameters("1", "instructions,cycles,branches", "2000000");
	KUNIT_ASSERT_EQ(test, load_module(), 0);
	t = session->target[TEST_CPU];
	mutex_lock(&session->sample_lock);
	for (i = 0; i < t->set.nr_events; i++)
		t->grown[i] = (struct my_grown) { .known = true, .growth = ~0ULL };
	t->sample.marks = (struct my_pmu_marks) {
		.wrapped = ~0ULL, .clobbered = ~0ULL, .late = ~0ULL, .stuck = ~0ULL,
	};
	my_print_sample(p, t);
	mutex_unlock(&session->sample_lock);
	KUNIT_EXPECT_EQ(test, p->nr_lines, 4U);
	for (i = 0; i < p->nr_lines; i++) {
		KUNIT_EXPECT_LT(test, strnlen(p->lines[i], MY_LINE_LEN), (size_t)MY_LINE_LEN);
		KUNIT_EXPECT_NULL(test, strstr(p->lines[i], "instructions"));
	}
	unload_module();
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

/* Another CPU goes and comes: that is not reported. */
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

/* Faults while the CPU goes and comes are reported, and hold up nothing. */
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

static void notify(unsigned long event)
{
	sleep_notifier.notifier_call(&sleep_notifier, event, NULL);
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

static void expect_reports(struct kunit *test, unsigned int suspended,
			   unsigned int offline, unsigned int back)
{
	KUNIT_EXPECT_EQ(test, count_lines(SUSPENDED), suspended);
	KUNIT_EXPECT_EQ(test, count_lines(OFFLINE), offline);
	KUNIT_EXPECT_EQ(test, count_lines(BACK), back);
}

/* A line when it goes, none while it is offline, one when it is back. */
static void core_sleep(struct kunit *test)
{
	const struct sleep_row *row = test->param_value;
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct sim_registers before;
	unsigned int n;

	KUNIT_ASSERT_EQ(test, load_on(PMU(V4), &before), 0);
	KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, retire_1000, NULL));
	notify(row->prepare);
	expect_reports(test, 1, 0, 0);
	notify(row->prepare);
	test_expect_registers(test, PMU(V4), &before, &sim->regs);
	n = nr_lines;
	msleep(20);
	KUNIT_EXPECT_EQ(test, nr_lines, n);
	/* Suspend loses all registers. */
	sim_reset(TEST_CPU, PMU(V4));
	before = sim->regs;
	notify(row->post);
	notify(row->post);
	expect_reports(test, 1, 0, 1);
	KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, retire_1000, NULL));
	KUNIT_EXPECT_TRUE(test, wait_for_lines("cpu1 t=",
					       count_lines("cpu1 t=") + 2));
	unload_module();
	KUNIT_EXPECT_EQ(test, total(" instructions@gp0="), 2000ULL);
	KUNIT_EXPECT_EQ(test, total(" cycles@fixed1="), 6000ULL);
	KUNIT_EXPECT_EQ(test, count_having(" stolen="), 0U);
	KUNIT_EXPECT_GE(test, total(" missed="), 5ULL);
	expect_reports(test, 1, 0, 1);
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
	notify(PM_SUSPEND_PREPARE);
	msleep(100);
	KUNIT_EXPECT_STREQ(test, last_line(), SUSPENDED);
	notify(PM_POST_SUSPEND);
	unload_module();
}

/* Notices of something else. */
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
		notify(event);
	}
	KUNIT_EXPECT_FALSE(test, my_session_next(session, NULL)->set.offline);
	unload_module();
	expect_reports(test, 0, 0, 0);
	expect_untouched(test, PMU(V4), &before);
}

/* It is brought down and up while the machine sleeps, as all but the boot CPU are. */
static void core_sleep_then_offline(struct kunit *test)
{
	struct sim_registers before;

	KUNIT_ASSERT_EQ(test, load_on(PMU(V4), &before), 0);
	KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, retire_1000, NULL));
	notify(PM_SUSPEND_PREPARE);
	KUNIT_ASSERT_EQ(test, remove_cpu(TEST_CPU), 0);
	expect_reports(test, 1, 0, 0);
	KUNIT_ASSERT_EQ(test, add_cpu(TEST_CPU), 0);
	expect_reports(test, 1, 0, 0);
	notify(PM_POST_SUSPEND);
	expect_reports(test, 1, 0, 1);
	KUNIT_ASSERT_TRUE(test, test_call(TEST_CPU, retire_1000, NULL));
	unload_module();
	expect_untouched(test, PMU(V4), &before);
}

/* It stays offline when all others are back. */
static void core_sleep_stays_offline(struct kunit *test)
{
	struct sim_registers before;

	KUNIT_ASSERT_EQ(test, load_on(PMU(V4), &before), 0);
	notify(PM_SUSPEND_PREPARE);
	KUNIT_ASSERT_EQ(test, remove_cpu(TEST_CPU), 0);
	notify(PM_POST_SUSPEND);
	expect_reports(test, 1, 0, 0);
	KUNIT_EXPECT_EQ(test, count_lines("cpu1 is back"), 0U);
	KUNIT_ASSERT_EQ(test, add_cpu(TEST_CPU), 0);
	expect_reports(test, 1, 0, 1);
	unload_module();
	expect_untouched(test, PMU(V4), &before);
}

/* It was offline before the machine slept. */
static void core_offline_then_sleep(struct kunit *test)
{
	struct sim_registers before;

	KUNIT_ASSERT_EQ(test, load_on(PMU(V4), &before), 0);
	KUNIT_ASSERT_EQ(test, remove_cpu(TEST_CPU), 0);
	notify(PM_SUSPEND_PREPARE);
	notify(PM_POST_SUSPEND);
	expect_reports(test, 0, 1, 0);
	KUNIT_ASSERT_EQ(test, add_cpu(TEST_CPU), 0);
	expect_reports(test, 0, 1, 1);
	unload_module();
	expect_untouched(test, PMU(V4), &before);
}

/* It is below our state, where somebody stopped it: the end of sleep starts nothing. */
static void core_sleep_half_down(struct kunit *test)
{
	struct sim_registers before;

	KUNIT_ASSERT_EQ(test, load_on(PMU(V4), &before), 0);
	below_state = true;	/* it is not active any more */
	cpus_read_lock();
	cpu_down_callback(TEST_CPU);
	cpus_read_unlock();
	notify(PM_SUSPEND_PREPARE);
	notify(PM_POST_SUSPEND);
	expect_reports(test, 0, 1, 0);
	test_expect_registers(test, PMU(V4), &before, &sim_cpu(TEST_CPU)->regs);
	cpus_read_lock();
	cpu_up_callback(TEST_CPU);
	cpus_read_unlock();
	below_state = false;
	expect_reports(test, 0, 1, 1);
	unload_module();
	expect_untouched(test, PMU(V4), &before);
}

static void core_unload_in_sleep(struct kunit *test)
{
	struct sim_registers before;

	KUNIT_ASSERT_EQ(test, load_on(PMU(V4), &before), 0);
	notify(PM_SUSPEND_PREPARE);
	unload_module();
	expect_reports(test, 1, 0, 0);
	expect_untouched(test, PMU(V4), &before);
}

/* Nobody unloads the module before a kexec. */
static void core_reboot(struct kunit *test)
{
	struct sim_registers before;

	KUNIT_ASSERT_EQ(test, load_on(PMU(V4), &before), 0);
	reboot_notifier.notifier_call(&reboot_notifier, SYS_RESTART, NULL);
	KUNIT_EXPECT_EQ(test, count_lines("cpu1 shuts down, counting rests\n"), 1U);
	test_expect_registers(test, PMU(V4), &before, &sim_cpu(TEST_CPU)->regs);
	KUNIT_ASSERT_EQ(test, remove_cpu(TEST_CPU), 0);
	KUNIT_ASSERT_EQ(test, add_cpu(TEST_CPU), 0);
	expect_reports(test, 0, 0, 0);
	unload_module();
	expect_untouched(test, PMU(V4), &before);
}

/* A counter broke in suspend: the message says which, and the CPU does not count. */
static void core_sleep_breaks(struct kunit *test)
{
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct sim_registers before;

	KUNIT_ASSERT_EQ(test, load_on(PMU(V4), &before), 0);
	notify(PM_SUSPEND_PREPARE);
	sim->broken = SIM_HALVED;
	sim->broken_counters = BIT_ULL(0);
	notify(PM_POST_SUSPEND);
	KUNIT_EXPECT_STREQ(test, last_line(),
			   "cpu1 is back, but cannot be counted on: gp0 counts wrong: 1024 instructions where the CPU has executed 2048\n");
	sim->broken = SIM_SOUND;
	unload_module();
	expect_reports(test, 1, 0, 0);
	expect_untouched(test, PMU(V4), &before);
}

/* --- several CPUs -------------------------------------------------------------------- */

/* User mode alone: that may stand still, and one of them often does in a sample. */

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

/* Two CPUs that are alike: each has its lines, and there is one for both. */
static void core_two_cpus(struct kunit *test)
{
	struct sim_registers before[2];
	unsigned int i;

	for (i = 0; i < 2; i++) {
		sim_reset(i, PMU(V4));
		test_leave_traces(sim_cpu(i));
		before[i] = sim_cpu(i)->regs;
	}
	set_parameters("0-1", "instructions:u@gp1,instructions:u", "5");
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
	KUNIT_EXPECT_EQ(test, total(" instructions:u@gp1="), 2 * 201ULL);
	KUNIT_EXPECT_EQ(test, total(" instructions:u@fixed0="), 201ULL);
	KUNIT_EXPECT_EQ(test, total(" instructions:u="), 201ULL);
	for (i = 0; i < 2; i++)
		test_expect_registers(test, PMU(V4), &before[i], &sim_cpu(i)->regs);
	KUNIT_EXPECT_EQ(test, sim_reservations.held, 0U);
}

/* What one of them does not have is reported once, and left out there. */
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
	unload_module();
	/* Until then the next sample's first line may have come. */
	KUNIT_EXPECT_TRUE(test, strstr(last_line(), " ref-cycles="));
	KUNIT_EXPECT_EQ(test, total(" instructions@fixed0="), 100ULL);
	KUNIT_EXPECT_EQ(test, total(" instructions@gp0="), 201ULL);
	KUNIT_EXPECT_EQ(test, total(" instructions@gp1="), 101ULL);
	/* What CPU 1 has in other places of its list is summed up in the right ones. */
	KUNIT_EXPECT_EQ(test, total(" ref-cycles="), 0ULL);
	/* If none has it, it is refused as for one. */
	sim_reset(0, PMU(V1_40));
	nr_lines = 0;
	KUNIT_EXPECT_EQ(test, load_module(), -EOPNOTSUPP);
	KUNIT_EXPECT_STREQ(test, last_line(),
			   "counters: 'ref-cycles': CPU 0 has no counter that counts it\n");
	/* So it is if one of them lacks another one, too. */
	sim_reset(1, PMU(V4));
	set_parameters("all", "ref-cycles,arch-lbr-inserts,instructions", "5");
	KUNIT_EXPECT_EQ(test, load_module(), -EOPNOTSUPP);
	KUNIT_EXPECT_STREQ(test, last_line(),
			   "counters: 'arch-lbr-inserts': none of the CPUs has this event\n");
}

/* Likewise what only perf knows, and not on each of them. */
static void core_unlike_names(struct kunit *test)
{
	sim_reset(0, PMU(V4));
	sim_reset(1, PMU(V4));
	sim_perf.events = perfs_events;
	sim_perf.nr = ARRAY_SIZE(perfs_events);
	sim_perf.unlike = BIT(1);
	set_parameters("0-1", "stalled-cycles-frontend,cycles", "5");
	KUNIT_ASSERT_EQ(test, load_module(), 0);
	KUNIT_EXPECT_EQ(test, 1U,
			count_lines("cpu1: 'stalled-cycles-frontend' is not there, and left out"));
	unload_module();
	sim_perf.unlike = BIT(0) | BIT(1);
	KUNIT_EXPECT_EQ(test, load_module(), -EOPNOTSUPP);
}

/* Of the generic counters that only the last of them has, too. */
static void core_reserves_for_all(struct kunit *test)
{
	sim_reset(0, PMU(V1_40));
	sim_reset(1, PMU(V4));
	set_parameters("0-1", "instructions@gp0", "5000");
	KUNIT_ASSERT_EQ(test, load_module(), 0);
	KUNIT_EXPECT_EQ(test, sim_reservations.held, 0xffU);
	unload_module();
	KUNIT_EXPECT_EQ(test, sim_reservations.held, 0U);
}

/* All are those that are online when none can come or go any more. */
static void core_all_is_late(struct kunit *test)
{
	struct my_session *s = my_session_new();
	int err;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, s);
	sim_reset(0, PMU(V4));
	sim_reset(1, PMU(V4));
	set_parameters("all", EVERYWHERE, "5");
	KUNIT_EXPECT_EQ(test, parse_settings(s), 0);
	KUNIT_EXPECT_EQ(test, remove_cpu(TEST_CPU), 0);
	cpus_read_lock();
	err = my_session_take_over(s, "none");
	KUNIT_EXPECT_EQ(test, err, 0);
	KUNIT_EXPECT_TRUE(test, cpumask_equal(s->cpus, cpu_online_mask));
	if (!err)
		my_session_hand_back(s);
	cpus_read_unlock();
	my_session_free(s);
	KUNIT_ASSERT_EQ(test, add_cpu(TEST_CPU), 0);
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
	set_parameters("all", "instructions:u@gp0,cycles@fixed1", "5");
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
	KUNIT_EXPECT_EQ(test, total(" instructions:u@gp0="), 2 * 201ULL);
	test_expect_registers(test, PMU(V4), &before, &sim->regs);
}

/* Until it has counters each register may fault; it joins when it comes once more. */
static void core_joins_late(struct kunit *test)
{
	struct sim_cpu *sim = sim_cpu(1);
	struct sim_registers before;
	unsigned int nth;

	sim_reset(0, PMU(V4));
	sim_reset(1, PMU(V4));
	test_leave_traces(sim);
	before = sim->regs;
	KUNIT_ASSERT_EQ(test, remove_cpu(1), 0);
	set_parameters("all", "instructions@gp2", "2000000");
	KUNIT_ASSERT_EQ(test, load_module(), 0);
	for (nth = 1; ; nth++) {
		sim->fail_nth = nth;
		KUNIT_ASSERT_EQ(test, add_cpu(1), 0);
		if (session->target[1])
			break;
		KUNIT_ASSERT_EQ(test, sim->fail_nth, 0U);
		KUNIT_EXPECT_TRUE(test, str_has_prefix(last_line(), "cpu1: "));
		KUNIT_EXPECT_TRUE(test, strstr(last_line(), " fault"));
		KUNIT_ASSERT_EQ(test, remove_cpu(1), 0);
		test_expect_registers(test, PMU(V4), &before, &sim->regs);
	}
	KUNIT_EXPECT_GT(test, nth, 8U);
	sim->fail_nth = 0;
	unload_module();

	/* Its firmware uses the counter. */
	KUNIT_ASSERT_EQ(test, remove_cpu(1), 0);
	sim->regs.evtsel[2] = 0x4300c4;
	sim_reservations.firmware = BIT(2);
	KUNIT_ASSERT_EQ(test, load_module(), 0);
	KUNIT_ASSERT_EQ(test, add_cpu(1), 0);
	KUNIT_EXPECT_PTR_EQ(test, session->target[1], NULL);
	KUNIT_EXPECT_TRUE(test, strstr(last_line(), "gp2 is in use on CPU 1, and not by Linux"));
	unload_module();
}

/* A CPU cannot join that is like none of the others; nor without memory. */
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

static struct my_target *sampled_target(struct kunit *test)
{
	struct my_target *t = my_session_next(session, NULL);

	t->missed = 2;
	t->sample = (struct my_pmu_sample) {
		.asked = 990, .time = 1000, .uptime = 100,
		.marks = { .wrapped = BIT_ULL(0), .late = BIT_ULL(33) },
		.count = { 7, 9 }, .running = { 100, 50 } };
	t->last = (struct my_pmu_sample) { .time = 900 };
	my_target_grow(t);
	return t;
}

/* As a process has them: by their names, in debugfs. */
static struct file *try_open(const char *name, int flags)
{
	static struct file_system_type *debugfs;
	static struct vfsmount *mount;
	static int users;
	struct file *file;
	struct path root;
	int err;

	debugfs = debugfs ?: get_fs_type("debugfs");
	err = debugfs ? simple_pin_fs(debugfs, &mount, &users) : -ENODEV;
	if (err)
		return ERR_PTR(err);
	root = (struct path) { .mnt = mount, .dentry = mount->mnt_root };
	file = file_open_root(&root, name, O_RDONLY | flags, 0);
	simple_release_fs(&mount, &users);
	return file;
}

static struct file *open_file(struct kunit *test, unsigned int n,
			      const char *name, int flags)
{
	struct file *file = try_open(name, flags);

	KUNIT_ASSERT_FALSE_MSG(test, IS_ERR(file), "%s: %pe", name, file);
	opened[n] = file;
	return file;
}

static ssize_t read_file(struct file *file, char *text, size_t size)
{
	return file->f_op->read(file, (__force char __user *)text, size,
				&file->f_pos);
}

#define TEXT_SIZE	8192

/* All that can be read now, by so many bytes at a time. */
static void read_pieces(struct kunit *test, struct file *file, char *text,
			size_t size)
{
	size_t len = 0;
	ssize_t got;

	do {
		KUNIT_ASSERT_LT(test, len + size, (size_t)TEXT_SIZE);
		got = read_file(file, text + len, size);
		len += max_t(ssize_t, got, 0);
	} while (got > 0);
	KUNIT_EXPECT_EQ(test, got, file->f_flags & O_NONBLOCK ? -EAGAIN : 0);
	text[len] = '\0';
}

static char *new_text(struct kunit *test)
{
	char *text = kunit_kzalloc(test, TEXT_SIZE, GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, text);
	return text;
}

/* What is read next, all of it. */
static void expect_text(struct kunit *test, struct file *file, const char *wanted)
{
	char *text = new_text(test);

	read_pieces(test, file, text, TEXT_SIZE / 2);
	KUNIT_EXPECT_STREQ(test, text, wanted);
}

/* A session that samples by itself too seldom to be in our way. */
static struct my_target *load_for_rows_of(struct kunit *test, const char *counters)
{
	sim_reset(TEST_CPU, PMU(V4));
	set_parameters("1", counters, "2000000");
	nr_wakeups = 0;
	KUNIT_ASSERT_EQ(test, load_module(), 0);
	await_sleep(test);
	return sampled_target(test);
}

static struct my_target *load_for_rows(struct kunit *test)
{
	return load_for_rows_of(test, EVERYWHERE);
}

static void add_sample(const struct my_target *t, u64 number)
{
	my_samples_add(&sampler->samples, t, number);
	my_samples_wake(&sampler->samples);
}

#define SAMPLES_FILE	"my_pmu/samples"
#define PIPE_FILE	"my_pmu/samples_pipe"

#define HEADER_TEXT \
	"sample,cpu,time_ns,dt_ns,latency_ns,missed,event,counter,growth,enabled_ns,running_ns,flag\n"
/* A sample's two rows, behind their number; and a sample. */
#define FIRST_ROW	",1,1000,100,10,2,\"instructions\",gp0,7,100,100,wrapped\n"
#define SECOND_ROW	",1,1000,100,10,2,\"cycles\",fixed1,,100,50,late\n"
#define ROWS_3		"3" FIRST_ROW "3" SECOND_ROW
#define ROWS_4		"4" FIRST_ROW "4" SECOND_ROW
#define ROWS_5		"5" FIRST_ROW "5" SECOND_ROW

/* The file ends where the rows end; each reader has its own place. */
static void core_samples_file(struct kunit *test)
{
	struct my_target *t = load_for_rows(test);
	struct file *one = open_file(test, 0, SAMPLES_FILE, 0);
	struct file *other;

	KUNIT_EXPECT_EQ(test, file_inode(one)->i_mode, S_IFREG | 0400);
	expect_text(test, one, HEADER_TEXT);
	expect_text(test, one, "");
	add_sample(t, 3);
	expect_text(test, one, ROWS_3);
	expect_text(test, one, "");
	other = open_file(test, 1, SAMPLES_FILE, 0);
	add_sample(t, 4);
	expect_text(test, other, HEADER_TEXT ROWS_3 ROWS_4);
	expect_text(test, one, ROWS_4);
	close_file(&opened[0]);
	add_sample(t, 5);
	expect_text(test, other, ROWS_5);
	close_file(&opened[1]);
	fail_step = 1;
	KUNIT_EXPECT_PTR_EQ(test, try_open(SAMPLES_FILE, 0), ERR_PTR(-ENOMEM));
	unload_module();
	KUNIT_EXPECT_PTR_EQ(test, try_open(SAMPLES_FILE, 0), ERR_PTR(-ENOENT));
	KUNIT_EXPECT_EQ(test, nr_allocated, 0);
}

/* What is multiplexed has no counter, and its growth is scaled. */
static void core_samples_multiplexed(struct kunit *test)
{
	struct my_target *t = load_for_rows_of(test,
					       "instructions@gp0-1,cycles@gp0-1,branches@gp0-1");
	struct file *file = open_file(test, 0, SAMPLES_FILE, 0);

	KUNIT_ASSERT_TRUE(test, my_event_set_multiplexes(&t->set));
	expect_text(test, file, HEADER_TEXT);
	add_sample(t, 3);
	expect_text(test, file,
		    "3,1,1000,100,10,2,\"instructions\",,7,100,100,\n"
		    "3,1,1000,100,10,2,\"cycles\",,18,100,50,\n"
		    "3,1,1000,100,10,2,\"branches\",,,100,0,\n");
	close_file(&opened[0]);
	unload_module();
}

/* What stands still has no growth; on no counter of its own, too. */
static void core_samples_stuck(struct kunit *test)
{
	struct my_target *t = load_for_rows_of(test,
					       "instructions@gp0-1,cycles@gp0-1,branches@gp0-1");
	struct file *file = open_file(test, 0, SAMPLES_FILE, 0);

	expect_text(test, file, HEADER_TEXT);
	memset(t->sample.count, 0, sizeof(t->sample.count));
	t->sample.running[1] = 0;
	t->sample.running[2] = 50;
	my_target_grow(t);
	KUNIT_EXPECT_EQ(test, t->sample.marks.stuck, 0ULL);
	add_sample(t, 3);
	expect_text(test, file,
		    "3,1,1000,100,10,2,\"instructions\",,,100,100,stuck\n"
		    "3,1,1000,100,10,2,\"cycles\",,,100,0,\n"
		    "3,1,1000,100,10,2,\"branches\",,0,100,50,\n");
	close_file(&opened[0]);
	unload_module();

	fresh_start(test);
	t = load_for_rows(test);
	file = open_file(test, 0, SAMPLES_FILE, 0);
	expect_text(test, file, HEADER_TEXT);
	memset(t->sample.count, 0, sizeof(t->sample.count));
	my_target_grow(t);
	KUNIT_EXPECT_EQ(test, t->sample.marks.stuck, BIT_ULL(0) | BIT_ULL(33));
	add_sample(t, 3);
	/* The first one has wrapped, too; that the other one is late says more. */
	expect_text(test, file,
		    "3,1,1000,100,10,2,\"instructions\",gp0,,100,100,stuck\n"
		    "3,1,1000,100,10,2,\"cycles\",fixed1,,100,50,late\n");
	t->sample.count[0] = 7;
	t->last.count[0] = 0;
	t->sample.marks = (struct my_pmu_marks) {
		.throttled = BIT_ULL(0), .wrapped = BIT_ULL(0) | BIT_ULL(33) };
	my_target_grow(t);
	t->sample.marks.stuck = 0;
	t->grown[1].stuck = false;
	add_sample(t, 4);
	expect_text(test, file,
		    "4,1,1000,100,10,2,\"instructions\",gp0,7,100,100,throttled\n"
		    "4,1,1000,100,10,2,\"cycles\",fixed1,,100,50,wrapped\n");
	close_file(&opened[0]);
	unload_module();
}

/* However short the reads are, they add up to the same text. */
static void core_samples_short_reads(struct kunit *test)
{
	static const size_t sizes[] = { 1, 2, 7, 64, 91, 92, 100, 1000 };
	struct my_target *t = load_for_rows(test);
	char *text = new_text(test);
	unsigned int i;

	add_sample(t, 3);
	add_sample(t, 4);
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		read_pieces(test, open_file(test, 0, SAMPLES_FILE, 0), text, sizes[i]);
		KUNIT_EXPECT_STREQ(test, text, HEADER_TEXT ROWS_3 ROWS_4);
		close_file(&opened[0]);
		read_pieces(test, open_file(test, 0, PIPE_FILE, O_NONBLOCK), text,
			    sizes[i]);
		KUNIT_EXPECT_STREQ(test, text, HEADER_TEXT ROWS_3 ROWS_4);
		close_file(&opened[0]);
	}
	unload_module();
}

/* Adds so many samples that this many rows do not fit any more. */
static void overwrite_rows(const struct my_target *t, unsigned int rows)
{
	u64 wanted = sampler->samples.size + rows;
	u64 number;

	for (number = 0; number < wanted / t->set.nr_events; number++)
		add_sample(t, number);
}

/* Rows that are gone before they were read are reported, as a comment, once. */
static void core_samples_dropped(struct kunit *test)
{
	struct my_target *t = load_for_rows(test);
	struct file *slow = open_file(test, 0, SAMPLES_FILE, 0);
	struct file *late = open_file(test, 1, SAMPLES_FILE, 0);
	char *text = new_text(test);

	add_sample(t, 3);
	/* This reader is in the middle of a row, and gets all of it. */
	KUNIT_EXPECT_EQ(test, read_file(slow, text, strlen(HEADER_TEXT) + 5),
			(ssize_t)strlen(HEADER_TEXT) + 5);
	overwrite_rows(t, 10);
	KUNIT_EXPECT_EQ(test, read_file(slow, text, 300), 300L);
	KUNIT_EXPECT_TRUE_MSG(test,
			      str_has_prefix(text, "3" FIRST_ROW + 5),
			      "%s", text);
	/* The other row of that sample, and those of the first five behind it. */
	KUNIT_EXPECT_TRUE_MSG(test,
			      str_has_prefix(text + strlen("3" FIRST_ROW) - 5,
					     "# dropped 11 rows\n" ROWS_5),
			      "%s", text);
	KUNIT_EXPECT_PTR_EQ(test, strstr(text + strlen("3" FIRST_ROW), "#"), NULL);
	/* Whoever begins now is told of no loss. */
	KUNIT_EXPECT_EQ(test, read_file(late, text, 300), 300L);
	KUNIT_EXPECT_TRUE_MSG(test, str_has_prefix(text, HEADER_TEXT ROWS_5),
			      "%s", text);
	unload_module();
}

/* Nothing is lost if a reader's memory faults: the next read has it. */
static void core_samples_faults(struct kunit *test)
{
	struct my_target *t = load_for_rows(test);
	struct file *file = open_file(test, 0, SAMPLES_FILE, 0);
	char *text = new_text(test);

	add_sample(t, 3);
	fail_copy = 1;
	KUNIT_EXPECT_EQ(test, read_file(file, text, 1000), (ssize_t)-EFAULT);
	fail_copy = 2;
	KUNIT_EXPECT_EQ(test, read_file(file, text, 1000),
			(ssize_t)strlen(HEADER_TEXT));
	KUNIT_EXPECT_STREQ(test, text, HEADER_TEXT);
	expect_text(test, file, ROWS_3);
	unload_module();
}

/**
 * struct poller - who waits for a file, as by poll()
 * @table: what the file is given
 * @wait: in the file's queue
 * @head: that queue
 * @nr_woken: so often
 */
struct poller {
	poll_table table;
	wait_queue_entry_t wait;
	wait_queue_head_t *head;
	unsigned int nr_woken;
};

static int note_woken(wait_queue_entry_t *wait, unsigned int mode, int flags,
		      void *key)
{
	container_of(wait, struct poller, wait)->nr_woken++;
	return 0;
}

static void queue_poller(struct file *file, wait_queue_head_t *head,
			 poll_table *table)
{
	struct poller *p = container_of(table, struct poller, table);

	p->head = head;
	add_wait_queue(head, &p->wait);
}

static unsigned int poll_file(struct file *file, struct poller *p)
{
	return (__force unsigned int)file->f_op->poll(file, p ? &p->table : NULL);
}

#define READABLE	((__force unsigned int)(EPOLLIN | EPOLLRDNORM))

/* The pipe does not end: it waits, or says that there is nothing for now. */
static void core_samples_pipe(struct kunit *test)
{
	struct my_target *t = load_for_rows(test);
	struct file *pipe = open_file(test, 0, PIPE_FILE, O_NONBLOCK);
	char *text = new_text(test);
	struct poller p = {};

	KUNIT_EXPECT_EQ(test, file_inode(pipe)->i_mode, S_IFREG | 0400);
	init_poll_funcptr(&p.table, queue_poller);
	init_waitqueue_func_entry(&p.wait, note_woken);
	KUNIT_EXPECT_EQ(test, poll_file(pipe, NULL), READABLE);
	expect_text(test, pipe, HEADER_TEXT);
	KUNIT_EXPECT_EQ(test, read_file(pipe, text, 1), (ssize_t)-EAGAIN);
	KUNIT_EXPECT_EQ(test, read_file(pipe, text, 0), 0L);
	KUNIT_EXPECT_EQ(test, poll_file(pipe, &p), 0U);
	KUNIT_ASSERT_NOT_NULL(test, p.head);
	KUNIT_EXPECT_EQ(test, p.nr_woken, 0U);
	add_sample(t, 3);
	KUNIT_EXPECT_EQ(test, p.nr_woken, 1U);
	remove_wait_queue(p.head, &p.wait);
	KUNIT_EXPECT_EQ(test, poll_file(pipe, NULL), READABLE);
	KUNIT_EXPECT_EQ(test, read_file(pipe, text, strlen(ROWS_3) - 1),
			(ssize_t)strlen(ROWS_3) - 1);
	/* The end of a line. */
	KUNIT_EXPECT_EQ(test, poll_file(pipe, NULL), READABLE);
	expect_text(test, pipe, "\n");
	KUNIT_EXPECT_EQ(test, poll_file(pipe, NULL), 0U);
	unload_module();
}

/**
 * struct waiter - a thread that reads from a file that waits
 * @file: the file
 * @text: what it has read
 * @got: so much, or what was returned
 * @done: it has
 * @thread: the thread
 */
struct waiter {
	struct file *file;
	char text[512];
	ssize_t got;
	struct completion done;
	struct task_struct *thread;
};

static int wait_for_rows(void *data)
{
	struct waiter *w = data;

	allow_signal(SIGUSR1);
	w->got = read_file(w->file, w->text, sizeof(w->text) - 1);
	complete(&w->done);
	return 0;
}

static struct waiter *start_waiter(struct kunit *test, struct file *file)
{
	struct waiter *w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, w);
	w->file = file;
	init_completion(&w->done);
	w->thread = kthread_run(wait_for_rows, w, "my_pmu/reader");
	KUNIT_ASSERT_FALSE(test, IS_ERR(w->thread));
	get_task_struct(w->thread);
	return w;
}

static bool has_read(struct waiter *w)
{
	return wait_for_completion_timeout(&w->done, 10 * HZ);
}

static bool is_waiting(const struct waiter *w)
{
	return READ_ONCE(w->thread->__state) & TASK_INTERRUPTIBLE;
}

/* Does it come to wait, and still wait after a while? */
static bool waits(const struct waiter *w)
{
	unsigned int tries;

	for (tries = 0; tries < 5000 && !is_waiting(w); tries++)
		usleep_range(1000, 2000);
	msleep(20);
	return is_waiting(w);
}

/* A signal ends its wait, if it still does; what it has read is kept. */
static void end_waiter(struct waiter *w)
{
	send_sig(SIGUSR1, w->thread, 1);
	kthread_stop(w->thread);
	put_task_struct(w->thread);
}

static void core_samples_pipe_waits(struct kunit *test)
{
	struct my_target *t = load_for_rows(test);
	struct file *pipe = open_file(test, 0, PIPE_FILE, 0);
	char *text = new_text(test);
	struct waiter *w;

	read_file(pipe, text, strlen(HEADER_TEXT));
	w = start_waiter(test, pipe);
	KUNIT_EXPECT_TRUE(test, waits(w));
	/* Woken, and there is nothing. */
	my_samples_wake(&sampler->samples);
	KUNIT_EXPECT_TRUE(test, waits(w));
	add_sample(t, 3);
	KUNIT_EXPECT_TRUE(test, has_read(w));
	end_waiter(w);
	KUNIT_EXPECT_EQ(test, w->got, (ssize_t)strlen(ROWS_3));
	KUNIT_EXPECT_STREQ(test, w->text, ROWS_3);

	w = start_waiter(test, pipe);
	KUNIT_EXPECT_TRUE(test, waits(w));
	end_waiter(w);
	KUNIT_EXPECT_EQ(test, w->got, (ssize_t)-ERESTARTSYS);
	unload_module();
}

/* Two threads read from one file: each row is for one of them, and whole. */
static void core_samples_pipe_is_shared(struct kunit *test)
{
	struct my_target *t = load_for_rows(test);
	struct file *pipe = open_file(test, 0, PIPE_FILE, 0);
	struct waiter *one, *other, *first;
	char *text = new_text(test);
	unsigned int tries;

	read_file(pipe, text, strlen(HEADER_TEXT));
	one = start_waiter(test, pipe);
	other = start_waiter(test, pipe);
	KUNIT_EXPECT_TRUE(test, waits(one));
	KUNIT_EXPECT_TRUE(test, waits(other));
	my_samples_add(&sampler->samples, t, 3);
	my_samples_wake(&sampler->samples);
	for (tries = 0; tries < 5000 && !completion_done(&one->done) &&
	     !completion_done(&other->done); tries++)
		usleep_range(1000, 2000);
	first = completion_done(&one->done) ? one : other;
	KUNIT_EXPECT_TRUE(test, waits(first == one ? other : one));
	KUNIT_EXPECT_STREQ(test, first->text, ROWS_3);
	add_sample(t, 4);
	KUNIT_EXPECT_TRUE(test, has_read(one));
	KUNIT_EXPECT_TRUE(test, has_read(other));
	end_waiter(one);
	end_waiter(other);
	KUNIT_EXPECT_STREQ(test, (first == one ? other : one)->text, ROWS_4);
	unload_module();
}

/* Room for 64 samples, in 4096 to 65536 rows; or more, if two samples need more. */
static void core_samples_room(struct kunit *test)
{
	static const struct {
		unsigned int per_sample, rows;
	} rows[] = {
		{ 1, 4096 }, { 64, 4096 }, { 65, 4160 }, { 100, 6400 },
		{ 1024, 65536 }, { 1025, 65536 }, { 32768, 65536 }, { 40000, 80000 },
	};
	struct my_samples samples;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		KUNIT_ASSERT_EQ(test, my_samples_init(&samples, rows[i].per_sample), 0);
		KUNIT_EXPECT_EQ(test, samples.size, rows[i].rows);
		my_samples_free(&samples);
	}
	fail_step = 1;
	KUNIT_EXPECT_EQ(test, my_samples_init(&samples, 1), -ENOMEM);
	KUNIT_EXPECT_EQ(test, nr_allocated, 0);
}

/* --- the line for all CPUs ----------------------------------------------------------- */

static void add_to_summary(struct my_summary *sum, struct my_target *t)
{
	my_target_grow(t);
	my_summary_add(sum, t);
}

/* In one line. */
static void print_summary(struct kunit *test, struct my_printer *p,
			  const struct my_summary *sum)
{
	my_print_summary(p, sum, session->attr, 2);
	KUNIT_EXPECT_EQ(test, p->nr_lines, 1U);
	my_print_flush(p);
	KUNIT_EXPECT_EQ(test, p->nr_lines, 0U);
}

/* The line for all CPUs has what is known of each of them. */
static void core_summary(struct kunit *test)
{
	struct my_printer *p = kunit_kzalloc(test, sizeof(*p), GFP_KERNEL);
	struct my_summary *sum = kunit_kzalloc(test, sizeof(*sum), GFP_KERNEL);
	struct my_target *t;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, p);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, sum);
	t = load_for_rows(test);
	t->sample.marks.late = 0;
	t->sample.marks.wrapped = BIT_ULL(0) | BIT_ULL(33);
	t->sample.running[1] = 100;
	add_to_summary(sum, t);
	print_summary(test, p, sum);
	KUNIT_EXPECT_STREQ(test, last_line(),
			   "all t=0.000001 cpus=1 spread=0 missed=2 wrapped=2 instructions@gp0=7 cycles=9\n");
	/* One was read earlier, and one of its growths is not known. */
	t->sample.time = 400;
	t->missed = 0;
	t->sample.marks = (struct my_pmu_marks) {
		.clobbered = BIT_ULL(33), .late = BIT_ULL(1) | BIT_ULL(2) };
	t->sample.running[1] = 50;
	add_to_summary(sum, t);
	t->sample.time = 700;
	t->sample.marks = (struct my_pmu_marks) {};
	t->sample.running[1] = 100;
	add_to_summary(sum, t);
	print_summary(test, p, sum);
	KUNIT_EXPECT_STREQ(test, last_line(),
			   "all t=0.000001 cpus=3 spread=600 missed=2 wrapped=2 stolen=1 late=2 instructions@gp0=21\n");
	/* And a fourth stands still, after a storm. */
	t->sample.count[0] = t->last.count[0];
	t->sample.marks.throttled = BIT_ULL(0);
	add_to_summary(sum, t);
	print_summary(test, p, sum);
	KUNIT_EXPECT_STREQ(test, last_line(),
			   "all t=0.000001 cpus=4 spread=600 missed=2 wrapped=2 stolen=1 late=2 stuck=1 throttled=1\n");
	unload_module();
}

#define MANY_EVENTS	20

/* How often an event stands in the lines, with its number, whole. */
static unsigned int count_whole(unsigned int event)
{
	unsigned int i, n = 0;
	char end[24];

	snprintf(end, sizeof(end), "=%u", 1000 + event);
	for (i = 0; i < nr_lines; i++) {
		const char *at = strstr(lines[i], end);

		n += at && (at[strlen(end)] == ' ' || at[strlen(end)] == '\n') ? 1 : 0;
	}
	return n;
}

/* More events than a line holds: all of them, in lines that begin alike. */
static void core_long_summary(struct kunit *test)
{
	static struct my_perf_event_attr attr[MANY_EVENTS];
	struct my_printer *p = kunit_kzalloc(test, sizeof(*p), GFP_KERNEL);
	struct my_summary *sum = kunit_kzalloc(test, sizeof(*sum), GFP_KERNEL);
	size_t head = strlen("all t=0.000000 cpus=2 spread=0");
	unsigned int len, i;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, p);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, sum);
	sum->nr_cpus = 2;
	for (len = 20; len < 90; len++) {
		for (i = 0; i < MANY_EVENTS; i++) {
			attr[i] = (struct my_perf_event_attr) {
				.constraint = i % 2 ? MY_PMC_ANY : 33 };
			memset(attr[i].name, 'x', len);
			sum->growth[i] = 1000 + i;
		}
		nr_lines = 0;
		my_print_summary(p, sum, attr, MANY_EVENTS);
		my_print_flush(p);
		for (i = 0; i < MANY_EVENTS; i++)
			KUNIT_EXPECT_EQ_MSG(test, count_whole(i), 1U,
					    "event %u, %u characters", i, len);
		for (i = 0; i < nr_lines; i++) {
			KUNIT_EXPECT_LE(test, strlen(lines[i]), (size_t)MY_LINE_LEN);
			KUNIT_EXPECT_EQ(test, strncmp(lines[i], lines[0], head), 0);
		}
	}
	KUNIT_EXPECT_GE(test, nr_lines, 2U);
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

/* Counters of a CPU that belong to other modules' events. */
static u64 lent_counters(int cpu)
{
	const struct my_pmu_cpu *c = my_pmu_cpu_of(cpu);
	const struct my_target *t = session->target[cpu];

	return c->used & ~(t ? t->set.used : 0);
}

/* --- perf is kept off by a guard on each CPU ------------------------------------------------ */

#define GUARDED \
	"cpu1: held against perf, on these CPUs: gp0-2,4-5,7 fixed0,2,4-6; counting: "
#define LOST \
	"cpu1: perf is not kept out any more, counts may be wrong: the PMU is in use, by perf, "
#define LOST_MEANWHILE \
	"cpu1: perf was not kept out for a while, counts may be wrong\n"
#define BACK_BUSY \
	"cpu1 is back, but cannot be counted on: the PMU is in use, by perf, "

/* A guard keeps it off the CPUs that are counted on; there it cannot be asked any more. */
static void core_guards(struct kunit *test)
{
	struct sim_registers before;

	sim_perf.stays = true;
	sim_perf.excludes = true;
	KUNIT_ASSERT_EQ(test, load_on(PMU(V6_HOLES), &before), 0);
	KUNIT_EXPECT_EQ(test, sim_perf.guards, BIT(TEST_CPU));
	KUNIT_EXPECT_EQ(test, sim_perf.held, 0);
	KUNIT_EXPECT_EQ(test, count_lines(GUARDED), 1U);
	KUNIT_EXPECT_EQ(test, sim_cpu(TEST_CPU)->regs.global_ctrl,
			before.global_ctrl | session->target[TEST_CPU]->set.used);
	/* perf's NMI handler may clear overflows before they are seen. */
	KUNIT_EXPECT_EQ(test, session->target[TEST_CPU]->set.cpu->overflow_reliable, 0ULL);
	unload_module();
	expect_untouched(test, PMU(V6_HOLES), &before);
}

static void core_guards_all(struct kunit *test)
{
	unsigned int nth;

	sim_perf.stays = true;
	sim_perf.excludes = true;
	sim_reset(0, PMU(V4));
	sim_reset(1, PMU(V4));
	set_parameters("all", EVERYWHERE, "30");
	sim_perf.pinned = BIT(1);
	KUNIT_EXPECT_EQ(test, load_module(), -EBUSY);
	KUNIT_EXPECT_EQ(test, count_lines("the PMU is in use, by perf, "), 1U);
	KUNIT_EXPECT_EQ(test, sim_perf.guards, 0U);
	sim_perf.pinned = 0;
	KUNIT_ASSERT_EQ(test, load_module(), 0);
	KUNIT_EXPECT_EQ(test, sim_perf.guards, 3U);
	unload_module();
	KUNIT_EXPECT_EQ(test, sim_perf.guards, 0U);
	KUNIT_EXPECT_EQ(test, sim_reservations.held, 0U);
	for (nth = 1; ; nth++) {
		sim_perf.fail_nth = nth;
		if (!load_module())
			break;
		KUNIT_ASSERT_EQ(test, sim_perf.fail_nth, 0U);
		KUNIT_EXPECT_EQ(test, sim_perf.guards, 0U);
	}
	sim_perf.fail_nth = 0;
	unload_module();
	KUNIT_EXPECT_EQ(test, count_lines("no memory for an event of perf's\n"), 2U);

	/* Each has its own counters. */
	sim_reset(1, PMU(V6_HOLES));
	sim_cpu(0)->pmu.hybrid = true;
	set_parameters("all", "cycles@gp0", "30");
	KUNIT_ASSERT_EQ(test, load_module(), 0);
	KUNIT_EXPECT_EQ(test, count_lines("cpu0: held against perf, on these CPUs: gp0-7 "), 1U);
	KUNIT_EXPECT_EQ(test, count_lines(GUARDED), 1U);
	unload_module();
}

/* What was counting before the guard came, and does not any more, was perf's. */
static void core_guard_stops(struct kunit *test)
{
	sim_perf.stays = true;
	sim_perf.excludes = true;
	sim_reset(TEST_CPU, PMU(V4));
	sim_cpu(TEST_CPU)->regs.evtsel[7] = 0x430051;
	sim_reservations.firmware = BIT(7);
	sim_perf.stops = BIT(TEST_CPU);
	set_parameters("1", EVERYWHERE, "30");
	KUNIT_EXPECT_EQ(test, load_module(), -EBUSY);
	KUNIT_EXPECT_EQ(test, count_lines("the PMU is in use, by perf, "), 1U);
	KUNIT_EXPECT_EQ(test, sim_perf.guards, 0U);
	KUNIT_EXPECT_EQ(test, sim_reservations.held, 0U);
	KUNIT_EXPECT_EQ(test, nr_allocated, 0);
	/* What interrupts is not the firmware's, and is not disturbed. */
	sim_cpu(TEST_CPU)->regs.evtsel[7] = 0x530051;
	KUNIT_EXPECT_EQ(test, load_module(), -EBUSY);
	KUNIT_EXPECT_EQ(test, sim_cpu(TEST_CPU)->regs.evtsel[7], 0x530051ULL);
	sim_cpu(TEST_CPU)->regs.evtsel[7] = 0;
	sim_cpu(TEST_CPU)->regs.fixed_ctr_ctrl = 0x900;
	KUNIT_EXPECT_EQ(test, load_module(), -EBUSY);
	KUNIT_EXPECT_EQ(test, sim_cpu(TEST_CPU)->regs.fixed_ctr_ctrl, 0x900ULL);
	sim_cpu(TEST_CPU)->regs.fixed_ctr_ctrl = 0;
	nr_lines = 0;
	/* What is wrong with the events comes first. */
	sim_cpu(TEST_CPU)->regs.evtsel[7] = 0x430051;
	set_parameters("1", "cycles@gp9", "30");
	KUNIT_EXPECT_EQ(test, load_module(), -EINVAL);
	KUNIT_EXPECT_EQ(test, count_lines("the PMU is in use, by perf, "), 0U);
	KUNIT_EXPECT_EQ(test, sim_perf.guards, 0U);
	set_parameters("1", EVERYWHERE, "30");
	/* What counts on was not. */
	sim_cpu(TEST_CPU)->regs.evtsel[7] = 0x430051;
	sim_perf.stops = 0;
	KUNIT_ASSERT_EQ(test, load_module(), 0);
	KUNIT_EXPECT_EQ(test, session->target[TEST_CPU]->set.cpu->firmware, BIT_ULL(7));
	unload_module();
	/* With reservations, perf has only ended meanwhile. */
	sim_perf.stays = false;
	sim_perf.ends = BIT(TEST_CPU);
	KUNIT_ASSERT_EQ(test, load_module(), 0);
	KUNIT_EXPECT_EQ(test, sim_perf.guards, 0U);
	unload_module();
}

static unsigned int nr_unguarded;

static void look_for_guard(void)
{
	nr_unguarded += !my_pmu_cpu_of(TEST_CPU)->guard;
}

/* perf has an older event, which was not on; samples find that, and when it has ended. */
static void core_guard_lost(struct kunit *test)
{
	struct sim_registers before;
	struct my_pmu_why why;

	sim_perf.stays = true;
	sim_perf.excludes = true;
	sim_reset(TEST_CPU, PMU(V4));
	before = sim_cpu(TEST_CPU)->regs;
	load_in_steps(test, "1", EVERYWHERE, 1000);
	step_to_sample(test);
	KUNIT_EXPECT_EQ(test, sim_perf.excluded, 1U);
	KUNIT_EXPECT_EQ(test, count_lines("cpu1: perf is"), 0U);
	sim_perf.pinned = BIT(TEST_CPU);
	sim_perf.lost = BIT(TEST_CPU);
	step_to_sample(test);
	step_to_sample(test);
	KUNIT_EXPECT_EQ(test, count_lines(LOST), 1U);
	KUNIT_EXPECT_EQ(test, PTR_ERR(my_perf_event_create(TEST_CPU, "cycles:u", &why)), -EBUSY);
	sim_perf.pinned = 0;
	nr_unguarded = 0;
	sim_perf.meanwhile = look_for_guard;
	step_to_sample(test);
	step_to_sample(test);
	KUNIT_EXPECT_EQ(test, count_lines("cpu1: perf is kept out again\n"), 1U);
	KUNIT_EXPECT_EQ(test, sim_perf.guards, BIT(TEST_CPU));
	KUNIT_EXPECT_EQ(test, sim_perf.excluded, 2U);
	my_perf_event_destroy(new_client(test, TEST_CPU, "cycles:u"));
	/* One that can be replaced at once. */
	sim_perf.lost = BIT(TEST_CPU);
	step_to_sample(test);
	step_to_sample(test);
	KUNIT_EXPECT_EQ(test, count_lines(LOST_MEANWHILE), 1U);
	KUNIT_EXPECT_EQ(test, count_lines(LOST), 1U);
	KUNIT_EXPECT_EQ(test, sim_perf.excluded, 3U);
	KUNIT_EXPECT_EQ(test, sim_perf.open, 1);
	/* Whoever starts counting meanwhile sees that there is one. */
	KUNIT_EXPECT_EQ(test, nr_unguarded, 0U);
	sim_perf.meanwhile = NULL;
	/* Not of a CPU that is offline. */
	KUNIT_ASSERT_EQ(test, remove_cpu(TEST_CPU), 0);
	step(test);
	KUNIT_EXPECT_EQ(test, sim_perf.guards, 0U);
	KUNIT_ASSERT_EQ(test, add_cpu(TEST_CPU), 0);
	KUNIT_EXPECT_EQ(test, count_lines("cpu1: perf is"), 2U);
	unload_module();
	before.global_ctrl = 0x7000000ff;	/* perf's, when the CPU came back */
	expect_untouched(test, PMU(V4), &before);
}

/* Also where other modules' events alone are counted. */
static void core_guard_lost_to_clients(struct kunit *test)
{
	struct sim_registers before;

	sim_perf.stays = true;
	sim_perf.excludes = true;
	sim_reset(TEST_CPU, PMU(V4));
	before = sim_cpu(TEST_CPU)->regs;
	load_in_steps(test, "1", "none", 1000);
	step(test);
	KUNIT_EXPECT_EQ(test, sim_perf.excluded, 1U);
	sim_perf.lost = BIT(TEST_CPU);
	step(test);
	step(test);
	KUNIT_EXPECT_EQ(test, sim_perf.excluded, 2U);
	KUNIT_EXPECT_EQ(test, count_lines(LOST_MEANWHILE), 1U);
	KUNIT_EXPECT_EQ(test, count_lines("cpu1 t="), 0U);
	unload_module();
	before.global_ctrl = 0x7000000ff;	/* perf's, with the second guard */
	expect_untouched(test, PMU(V4), &before);
}

/* It goes and comes with its CPU, and other modules' events need it, too. */
static void core_guard_hotplug(struct kunit *test)
{
	struct sim_registers before;
	struct my_perf_event *event;
	struct my_pmu_why why;
	u64 count;

	sim_perf.stays = true;
	sim_perf.excludes = true;
	sim_reset(0, PMU(V4));
	event = load_with_client(test, &before, "cycles:u");
	KUNIT_EXPECT_EQ(test, PTR_ERR(my_perf_event_create(0, "cycles:u", &why)), -EBUSY);
	KUNIT_EXPECT_STREQ(test, why.text,
			   "CPU 0 has counters that are not kept from perf: load my_pmu with cpu= naming it, too");
	KUNIT_ASSERT_EQ(test, remove_cpu(TEST_CPU), 0);
	KUNIT_EXPECT_EQ(test, sim_perf.guards, 0U);
	sim_perf.pinned = BIT(TEST_CPU);
	KUNIT_ASSERT_EQ(test, add_cpu(TEST_CPU), 0);
	KUNIT_EXPECT_EQ(test, count_lines(BACK_BUSY), 1U);
	KUNIT_EXPECT_EQ(test, my_perf_event_read(event, &count), -ENXIO);
	test_expect_registers(test, PMU(V4), &before, &sim_cpu(TEST_CPU)->regs);
	sim_perf.pinned = 0;
	KUNIT_ASSERT_EQ(test, remove_cpu(TEST_CPU), 0);
	KUNIT_ASSERT_EQ(test, add_cpu(TEST_CPU), 0);
	KUNIT_EXPECT_EQ(test, sim_perf.guards, BIT(TEST_CPU));
	KUNIT_EXPECT_EQ(test, my_perf_event_read(event, &count), 0);
	notify(PM_SUSPEND_PREPARE);
	KUNIT_EXPECT_EQ(test, sim_perf.guards, BIT(TEST_CPU));
	KUNIT_ASSERT_EQ(test, remove_cpu(TEST_CPU), 0);
	KUNIT_EXPECT_EQ(test, sim_perf.guards, 0U);
	KUNIT_ASSERT_EQ(test, add_cpu(TEST_CPU), 0);
	KUNIT_EXPECT_EQ(test, sim_perf.guards, BIT(TEST_CPU));
	notify(PM_POST_SUSPEND);
	KUNIT_EXPECT_EQ(test, my_perf_event_read(event, &count), 0);
	my_perf_event_destroy(event);
	unload_module();
	/* perf's, when the CPU came back. */
	before.global_ctrl = 0x7000000ff;
	expect_untouched(test, PMU(V4), &before);
}

static void core_guard_joins(struct kunit *test)
{
	sim_perf.stays = true;
	sim_perf.excludes = true;
	sim_reset(0, PMU(V4));
	sim_reset(1, PMU(V4));
	KUNIT_ASSERT_EQ(test, remove_cpu(1), 0);
	set_parameters("all", EVERYWHERE, "30");
	KUNIT_ASSERT_EQ(test, load_module(), 0);
	sim_perf.pinned = BIT(1);
	KUNIT_ASSERT_EQ(test, add_cpu(1), 0);
	KUNIT_EXPECT_EQ(test, count_lines("cpu1: the PMU is in use, by perf, "), 1U);
	KUNIT_EXPECT_NULL(test, session->target[1]);
	KUNIT_ASSERT_EQ(test, remove_cpu(1), 0);
	sim_perf.pinned = 0;
	let_firmware_use(1, 0xff);
	KUNIT_ASSERT_EQ(test, add_cpu(1), 0);
	KUNIT_EXPECT_NULL(test, session->target[1]);
	KUNIT_EXPECT_EQ(test, sim_perf.guards, BIT(0));
	KUNIT_ASSERT_EQ(test, remove_cpu(1), 0);
	sim_reset(1, PMU(V4));
	KUNIT_ASSERT_EQ(test, add_cpu(1), 0);
	KUNIT_EXPECT_NOT_NULL(test, session->target[1]);
	KUNIT_EXPECT_EQ(test, sim_perf.guards, 3U);
	unload_module();
	KUNIT_EXPECT_EQ(test, sim_perf.guards, 0U);
}

/* --- other modules' events, once more --------------------------------------------------------- */

/* Through hotplug and sleep, beside the module's own events, and in the file. */
static void core_client(struct kunit *test)
{
	struct my_perf_event *here, *there;
	struct sim_registers before;
	u64 count;

	sim_reset(0, PMU(V4));
	KUNIT_ASSERT_EQ(test, load_on(PMU(V4), &before), 0);
	my_perf_event_destroy(new_client(test, TEST_CPU, "r99@gp5"));
	KUNIT_EXPECT_EQ(test, count_lines("cpu1: 'r99' may count wrong on gp5; "), 1U);
	here = new_client(test, TEST_CPU, "{instructions:u,cycles:u@gp7}");
	there = new_client(test, 0, "branches:u");
	/* EVERYWHERE has gp0 and fixed1. */
	KUNIT_EXPECT_EQ(test, lent_counters(TEST_CPU), BIT_ULL(7) | BIT_ULL(32));
	KUNIT_EXPECT_EQ(test, lent_counters(0), BIT_ULL(0));
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
	notify(PM_SUSPEND_PREPARE);
	test_expect_registers(test, PMU(V4), &before, &sim_cpu(TEST_CPU)->regs);
	KUNIT_EXPECT_EQ(test, my_perf_event_read(there, &count), -ENXIO);
	notify(PM_POST_SUSPEND);
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

/* What is stopped while its CPU is offline does not start when that is back. */
static void core_client_disabled_offline(struct kunit *test)
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

/* What both of them had cannot be put back: that is reported once. */
static void core_clients_fault(struct kunit *test)
{
	struct my_perf_event *first, *second;
	struct sim_registers before;

	first = load_with_client(test, &before, "instructions:u");
	second = new_client(test, TEST_CPU, "cycles");
	KUNIT_ASSERT_EQ(test, my_perf_event_enable(second), 0);
	/* In this order: a sample may come between them. */
	sim_cpu(TEST_CPU)->fail_all_after = true;
	WRITE_ONCE(sim_cpu(TEST_CPU)->fail_nth, 1);
	KUNIT_ASSERT_EQ(test, remove_cpu(TEST_CPU), 0);
	sim_cpu(TEST_CPU)->fail_nth = 0;
	sim_cpu(TEST_CPU)->fail_all_after = false;
	KUNIT_EXPECT_EQ(test, 2U,
			count_lines("cpu1: a PMU register faulted, not all are as they were\n"));
	sim_cpu(TEST_CPU)->regs = before;
	KUNIT_ASSERT_EQ(test, add_cpu(TEST_CPU), 0);
	my_perf_event_destroy(second);
	my_perf_event_destroy(first);
	unload_module();
	expect_untouched(test, PMU(V4), &before);
}

/* perf was asked on a CPU of another kind: there are the architecture's names. */
static void core_client_elsewhere(struct kunit *test)
{
	struct my_perf_event *event;
	struct my_pmu_why why;

	sim_reset(0, PMU(V4));
	sim_reset(1, PMU(V1_40));
	set_parameters("0", "instructions", "5000");
	KUNIT_ASSERT_EQ(test, load_module(), 0);
	event = new_client(test, 1, "cycles");
	my_perf_event_destroy(event);
	event = my_perf_event_create(1, "LLC-loads", &why);
	KUNIT_EXPECT_PTR_EQ(test, event, ERR_PTR(-EOPNOTSUPP));
	KUNIT_EXPECT_STREQ(test, why.text,
			   "'LLC-loads': the architecture does not define it, and perf, which may know it, was not asked for a CPU like CPU 1 when my_pmu was loaded");
	unload_module();
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
	notify(PM_SUSPEND_PREPARE);
	notify(PM_POST_SUSPEND);
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

/* Another module's events keep their counters when their CPU joins. */
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
	KUNIT_EXPECT_EQ(test, session->target[TEST_CPU]->set.used, BIT_ULL(1) | BIT_ULL(2));
	KUNIT_EXPECT_EQ(test, session->target[TEST_CPU]->set.cpu->firmware, 0ULL);
	my_perf_event_destroy(event);
	unload_module();
	test_expect_registers(test, PMU(V4), &before, &sim->regs);
}

/* For other modules alone: nothing is counted or printed, all counters are free. */
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
			   "{rc4,rc5,r13c,r412e,r4f2e,rc4:u,rc5:u,r13c:u,instructions,cycles,ref-cycles}");
	KUNIT_EXPECT_EQ(test, lent_counters(TEST_CPU),
			session->target[TEST_CPU]->set.cpu->pmu.counters);
	my_perf_event_destroy(event);
	unload_module();
	expect_untouched(test, PMU(V4), &before);
}

/* --- the PMU of perf ------------------------------------------------------------------------- */

/* Its counters are found when it needs them, and go and come with their CPU. */
static void core_with_perf(struct kunit *test)
{
	struct my_pool_event *perf_event = kunit_kzalloc(test, sizeof(*perf_event), GFP_KERNEL);
	const struct my_pmu_cpu *cpu = my_pmu_cpu_of(TEST_CPU);
	struct seq_file m = { .buf = kunit_kzalloc(test, 4096, GFP_KERNEL), .size = 4096 };
	struct sim_registers before;
	struct my_perf_event *event;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, perf_event);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, m.buf);
	sim_reset(0, PMU(V4));
	KUNIT_ASSERT_EQ(test, load_on(PMU(V4), &before), 0);
	m.private = session;
	KUNIT_EXPECT_EQ(test, sim_perf.registered, BIT(TEST_CPU));
	KUNIT_EXPECT_EQ(test, cpu->pooled, 0ULL);
	KUNIT_EXPECT_PTR_EQ(test, my_hotplug_names(cpu), (const struct my_names *)&session->names);
	KUNIT_ASSERT_EQ(test, my_hotplug_start_pools(~0ULL), 0);
	/* EVERYWHERE has gp0 and fixed1. */
	KUNIT_EXPECT_EQ(test, cpu->pooled, 0x5000000feULL);
	KUNIT_EXPECT_EQ(test, my_pmu_cpu_of(0)->pooled, 0x7000000ffULL);
	event = new_client(test, TEST_CPU, "instructions");
	KUNIT_EXPECT_EQ(test, cpu->pooled, 0x4000000feULL);
	my_perf_event_destroy(event);
	KUNIT_EXPECT_EQ(test, cpu->pooled, 0x5000000feULL);
	*perf_event = (struct my_pool_event) {
		.attr.config = 0xc4,
		.id = 1,
		.kind = my_pool_kind(TEST_CPU),
		.counters = BIT_ULL(3),
	};
	KUNIT_ASSERT_EQ(test, test_pool_add(TEST_CPU, perf_event), 0);
	KUNIT_ASSERT_EQ(test, counters_show(&m, NULL), 0);
	KUNIT_EXPECT_TRUE_MSG(test, strstr(m.buf, "cpu1 gp2 held\ncpu1 gp3 perf\ncpu1 gp4 held\n"),
			      "%s", m.buf);
	test_pool_del(TEST_CPU, perf_event);
	m.count = 0;
	KUNIT_ASSERT_EQ(test, counters_show(&m, NULL), 0);
	KUNIT_EXPECT_TRUE_MSG(test, strstr(m.buf, "cpu1 gp3 held\n"), "%s", m.buf);
	/* On a CPU that the module does not count on only what is in use is shown. */
	KUNIT_EXPECT_TRUE_MSG(test, str_has_prefix(m.buf, "cpu1 "), "%s", m.buf);
	KUNIT_ASSERT_EQ(test, test_pool_add(0, perf_event), 0);
	m.count = 0;
	KUNIT_ASSERT_EQ(test, counters_show(&m, NULL), 0);
	KUNIT_EXPECT_TRUE_MSG(test, str_has_prefix(m.buf, "cpu0 gp3 perf\ncpu1 "), "%s", m.buf);
	my_pmu_cpu_of(0)->lost = 7;
	my_pmu_cpu_of(0)->lost_samples = 3;
	m.count = 0;
	KUNIT_ASSERT_EQ(test, counters_show(&m, NULL), 0);
	KUNIT_EXPECT_TRUE_MSG(test, str_has_prefix(m.buf, "cpu0 gp3 perf\ncpu0 perf lost 7\n"),
			      "%s", m.buf);
	KUNIT_EXPECT_NOT_NULL(test, strstr(m.buf, "cpu0 perf lost samples 3\ncpu1 "));
	my_pmu_cpu_of(0)->lost = 0;
	my_pmu_cpu_of(0)->lost_samples = 0;
	test_pool_del(0, perf_event);
	KUNIT_ASSERT_EQ(test, remove_cpu(TEST_CPU), 0);
	KUNIT_EXPECT_EQ(test, cpu->pooled, 0ULL);
	KUNIT_ASSERT_EQ(test, add_cpu(TEST_CPU), 0);
	KUNIT_EXPECT_EQ(test, cpu->pooled, 0x5000000feULL);
	notify(PM_SUSPEND_PREPARE);
	KUNIT_EXPECT_EQ(test, cpu->pooled, 0ULL);
	KUNIT_ASSERT_EQ(test, my_hotplug_start_pools(~0ULL), 0);
	KUNIT_EXPECT_EQ(test, cpu->pooled, 0ULL);
	notify(PM_POST_SUSPEND);
	KUNIT_EXPECT_EQ(test, cpu->pooled, 0x5000000feULL);
	unload_module();
	KUNIT_EXPECT_EQ(test, pooled_at_unlock, 0ULL);
	KUNIT_EXPECT_EQ(test, sim_perf.registered, 0U);
	KUNIT_EXPECT_EQ(test, cpu->pooled | my_pmu_cpu_of(0)->pooled, 0ULL);
	expect_untouched(test, PMU(V4), &before);
}

/* A message says on which CPU there are none; the others have theirs. */
static void core_pool_faults(struct kunit *test)
{
	struct sim_registers before;

	sim_reset(0, PMU(V4));
	KUNIT_ASSERT_EQ(test, load_on(PMU(V4), &before), 0);
	test_fail_pool = 1;
	KUNIT_EXPECT_EQ(test, my_hotplug_start_pools(~0ULL), -ENOMEM);
	hotplug_is_busy = true;
	KUNIT_EXPECT_EQ(test, my_hotplug_start_pools(~0ULL), -EAGAIN);
	hotplug_is_busy = false;
	mutex_lock(&start_lock);
	KUNIT_EXPECT_EQ(test, my_hotplug_start_pools(~0ULL), -EAGAIN);
	mutex_unlock(&start_lock);
	below_state = true;
	cpus_read_lock();
	cpu_down_callback(TEST_CPU);
	cpus_read_unlock();
	KUNIT_EXPECT_EQ(test, my_hotplug_start_pools(~0ULL), 0);
	KUNIT_EXPECT_EQ(test, my_pmu_cpu_of(TEST_CPU)->pooled, 0ULL);
	cpus_read_lock();
	cpu_up_callback(TEST_CPU);
	cpus_read_unlock();
	below_state = false;
	KUNIT_EXPECT_EQ(test, my_pmu_cpu_of(TEST_CPU)->pooled, 0x5000000feULL);
	/* None is looked for again, but when it comes. */
	KUNIT_EXPECT_EQ(test, my_pools_go(0), 0);
	KUNIT_ASSERT_EQ(test, my_hotplug_start_pools(~0ULL), 0);
	KUNIT_EXPECT_EQ(test, my_pmu_cpu_of(0)->pooled, 0ULL);
	sim_cpu(0)->broken = SIM_DEAD;
	sim_cpu(0)->broken_counters = BIT_ULL(7);
	cpus_read_lock();
	cpu_up_callback(0);
	cpus_read_unlock();
	KUNIT_EXPECT_EQ(test, count_lines("cpu0: events of perf (my_pmu/.../) are not count"), 1U);
	KUNIT_EXPECT_EQ(test, count_having("there: gp7 stands still"), 1U);
	KUNIT_EXPECT_EQ(test, my_pmu_cpu_of(TEST_CPU)->pooled, 0x5000000feULL);
	KUNIT_EXPECT_EQ(test, my_pmu_cpu_of(0)->pooled, 0ULL);
	sim_cpu(0)->broken = SIM_SOUND;
	KUNIT_EXPECT_EQ(test, my_pools_lend(0), 0);
	sim_cpu(0)->fail_nth = 1;
	unload_module();
	KUNIT_EXPECT_EQ(test,
			count_lines("cpu0: a PMU register faulted, not all are as they were"), 1U);
	expect_untouched(test, PMU(V4), &before);
}

static void core_without_perf(struct kunit *test)
{
	struct sim_registers before;

	sim_perf.refuses = true;
	KUNIT_ASSERT_EQ(test, load_on(PMU(V4), &before), 0);
	KUNIT_EXPECT_EQ(test, count_lines("perf: no memory; counting goes on without it\n"), 1U);
	unload_module();
	sim_perf.refuses = false;
	set_parameters("1", EVERYWHERE, "5");
	param_perf = "0";
	KUNIT_ASSERT_EQ(test, load_module(), 0);
	KUNIT_EXPECT_EQ(test, sim_perf.registered, 0U);
	unload_module();
	expect_untouched(test, PMU(V4), &before);
}

/* --- /dev/my_pmu ---------------------------------------------------------------------- */

static const struct inode device_inode;

/* As whoever opens the device has it, until the test ends. */
static struct file *open_device(struct kunit *test)
{
	struct file *file = kunit_kzalloc(test, sizeof(*file), GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, file);
	KUNIT_ASSERT_NOT_NULL(test, test_device);
	KUNIT_ASSERT_EQ(test, test_device->fops->open((struct inode *)&device_inode, file), 0);
	file->f_flags = O_NONBLOCK;
	file->f_mode |= FMODE_READ | FMODE_WRITE;
	return file;
}

#define WRITABLE	((__force unsigned int)(EPOLLOUT | EPOLLWRNORM))

static unsigned int poll_device(struct file *file)
{
	return (__force unsigned int)device_fops.poll(file, NULL);
}

static void close_device(struct file *file)
{
	device_fops.release(NULL, file);
}

static ssize_t write_device(struct file *file, const char *words)
{
	return device_fops.write(file, (const char __user __force *)words, strlen(words), NULL);
}

static const char *read_device(struct kunit *test, struct file *file)
{
	char *text = new_text(test);
	ssize_t got = device_fops.read(file, (char __user __force *)text, TEXT_SIZE - 1, NULL);

	text[max_t(ssize_t, got, 0)] = '\0';
	return text;
}

/* Whoever asks is granted it; the sampler's thread, which allocates, knows of it afterwards. */
static void ask(struct kunit *test, const char *words)
{
	struct file *file = open_device(test);
	unsigned int tries;

	KUNIT_EXPECT_EQ_MSG(test, write_device(file, words), (ssize_t)strlen(words), "%s", words);
	KUNIT_EXPECT_NULL(test, strstr(read_device(test, file), "# "));
	close_device(file);
	for (tries = 0; tries < 5000 && sampler->task && is_anew(); tries++)
		usleep_range(1000, 2000);
	mutex_lock(&session->sample_lock);
	mutex_unlock(&session->sample_lock);
}

/* He is refused it, with this line. */
static void ask_in_vain(struct kunit *test, const char *words, int err, const char *line)
{
	struct file *file = open_device(test);
	const char *text;

	KUNIT_EXPECT_EQ_MSG(test, write_device(file, words), (ssize_t)err, "%s", words);
	text = read_device(test, file);
	KUNIT_EXPECT_TRUE(test, str_has_prefix(text, HEADER_TEXT "# "));
	text += strlen(HEADER_TEXT "# ");
	KUNIT_EXPECT_TRUE_MSG(test, str_has_prefix(text, line), "%s", text);
	KUNIT_EXPECT_EQ(test, strcspn(text, "\n"), strlen(line));
	close_device(file);
}

static void core_device(struct kunit *test)
{
	struct my_target *t = load_for_rows(test);
	struct file *file, *other;

	KUNIT_ASSERT_NOT_NULL(test, test_device);
	KUNIT_EXPECT_STREQ(test, test_device->name, "my_pmu");
	KUNIT_EXPECT_EQ(test, test_device->mode, 0600);
	file = open_device(test);
	KUNIT_EXPECT_EQ(test, poll_device(file), READABLE | WRITABLE);
	KUNIT_EXPECT_STREQ(test, read_device(test, file), HEADER_TEXT);
	KUNIT_EXPECT_EQ(test, poll_device(file), WRITABLE);
	KUNIT_EXPECT_EQ(test, device_fops.read(file, NULL, 1, NULL), (ssize_t)-EAGAIN);
	add_sample(t, 3);
	KUNIT_EXPECT_STREQ(test, read_device(test, file), ROWS_3);
	/* Only he is told who was refused something. */
	other = open_device(test);
	KUNIT_EXPECT_EQ(test, write_device(file, "x"), (ssize_t)-EINVAL);
	KUNIT_EXPECT_EQ(test, poll_device(file), READABLE | WRITABLE);
	add_sample(t, 4);
	KUNIT_EXPECT_STREQ(test, read_device(test, file),
			   "# 'x': cpu=, counters= or interval= is needed\n" ROWS_4);
	KUNIT_EXPECT_STREQ(test, read_device(test, other), HEADER_TEXT ROWS_3 ROWS_4);
	close_device(other);
	close_device(file);
	file = kunit_kzalloc(test, sizeof(*file), GFP_KERNEL);
	fail_step = 1;
	KUNIT_EXPECT_EQ(test, device_fops.open(NULL, file), -ENOMEM);
	unload_module();
	KUNIT_EXPECT_NULL(test, test_device);
	KUNIT_EXPECT_EQ(test, nr_allocated, 0);
}

/* Without the device the module counts. */
static void core_device_is_not_needed(struct kunit *test)
{
	sim_reset(TEST_CPU, PMU(V4));
	set_parameters("1", EVERYWHERE, "5000");
	fail_device = true;
	KUNIT_ASSERT_EQ(test, load_module(), 0);
	fail_device = false;
	KUNIT_EXPECT_STREQ(test, last_line(),
			   "/dev/my_pmu cannot be made (error -16); counting goes on without it\n");
	unload_module();
	KUNIT_EXPECT_EQ(test, nr_allocated, 0);
}

/**
 * struct change - what is asked for, and refused
 * @words: the request
 * @err: errno
 * @line: what he is told
 */
struct change {
	const char *words;
	int err;
	const char *line;
};

static const struct change changes[] = {
	{ "", -EINVAL, "nothing: cpu=, counters= or interval= is needed" },
	{ " \t\n", -EINVAL, "nothing: cpu=, counters= or interval= is needed" },
	{ "freeze=1", -EINVAL, "'freeze=1': cpu=, counters= or interval= is needed" },
	{ "interval=7 cycles", -EINVAL, "'cycles': cpu=, counters= or interval= is needed" },
	{ "cpu=1 interval=7 cpu=1", -EINVAL, "cpu= is there twice" },
	{ "interval=0 counters=cycles", -EINVAL,
	  "interval: '0'; whole milliseconds from 1 on are needed" },
	{ "cpu=2 interval=7", -EINVAL, "cpu: '2': no such CPU; 0-1 are there" },
	{ "cpu= interval=7", -EINVAL,
	  "cpu: '': a list of CPUs is needed, as 3 or 0-3,8, of 0-1; or all" },
	{ "counters=cycle", -EINVAL,
	  "counters: 'cycle': no event 'cycle'; known are instructions, cycles, branches and others that perf has for this CPU, rUUEE, cpu/event=,umask=,edge,inv,cmask=,config1=/",
	},
	{ "counters=cycles@gp9 interval=7", -EINVAL,
	  "counters: 'cycles@gp9': CPU 1 has no gp9; it has 8 generic (gp) and 3 fixed counters" },
	{ "counters=cycles@gp1,r99@gp1 cpu=0-1", -EINVAL,
	  "counters: 'r99@gp1': gp1 is taken by another event; each counter takes one" },
	{ "cpu=0-1 counters=ref-cycles:D,ref-cycles:D", -ENOSPC,
	  "counters: 'ref-cycles:D': no counter is left that counts it; CPU 0 has 8 generic (gp) and 3 fixed counters",
	},
	{ "counters=L1-icache-prefetches", -EOPNOTSUPP,
	  "counters: 'L1-icache-prefetches': CPU 1 does not have this event, nor does the architecture define it",
	},
};

static void change_desc(const struct change *row, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "'%*pE'", (int)strlen(row->words), row->words);
}

KUNIT_ARRAY_PARAM(change, changes, change_desc);

static void core_device_refuses(struct kunit *test)
{
	const struct change *row = test->param_value;
	struct sim_registers before, counting;
	const struct my_target *t;
	unsigned int allocated;

	sim_reset(0, PMU(V4));
	KUNIT_ASSERT_EQ(test, load_on(PMU(V4), &before), 0);
	ask(test, "interval=100000");
	allocated = nr_allocated;
	counting = sim_cpu(TEST_CPU)->regs;
	t = session->target[TEST_CPU];
	ask_in_vain(test, row->words, row->err, row->line);
	test_expect_registers(test, PMU(V4), &counting, &sim_cpu(TEST_CPU)->regs);
	KUNIT_EXPECT_PTR_EQ(test, session->target[TEST_CPU], (struct my_target *)t);
	KUNIT_EXPECT_NULL(test, session->target[0]);
	KUNIT_EXPECT_EQ(test, session->interval_ms, 100000U);
	KUNIT_EXPECT_EQ(test, nr_allocated, (int)allocated);
	expect_owned(test, TEST_CPU, BIT_ULL(0) | BIT_ULL(33));
	expect_owned(test, 0, 0);
	unload_module();
	expect_untouched(test, PMU(V4), &before);
}

static void core_device_refuses_size(struct kunit *test)
{
	struct my_target *t = load_for_rows(test);
	char *words = kunit_kzalloc(test, REQUEST_LEN + 1, GFP_KERNEL);
	struct file *file;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, words);
	memset(words, ' ', REQUEST_LEN);
	memcpy(words, "interval=7", 10);
	ask_in_vain(test, words, -EMSGSIZE, "too long: at most 4095 characters");
	KUNIT_EXPECT_EQ(test, session->interval_ms, 2000000U);
	words[REQUEST_LEN - 1] = '\0';
	ask(test, words);
	KUNIT_EXPECT_EQ(test, session->interval_ms, 7U);
	file = open_device(test);
	KUNIT_EXPECT_EQ(test, device_fops.write(file, (const char __user __force *)"interval=9\0",
						11, NULL), (ssize_t)-EINVAL);
	KUNIT_EXPECT_NOT_NULL(test, strstr(read_device(test, file),
					   "# a zero byte: text is needed\n"));
	/* Who cannot read finds the reason in the log. */
	file->f_mode &= ~FMODE_READ;
	KUNIT_EXPECT_EQ(test, write_device(file, "interval=0"), (ssize_t)-EINVAL);
	KUNIT_EXPECT_STREQ(test, last_line(),
			   "interval: '0'; whole milliseconds from 1 on are needed\n");
	close_device(file);
	KUNIT_EXPECT_EQ(test, session->interval_ms, 7U);
	KUNIT_EXPECT_PTR_EQ(test, session->target[TEST_CPU], t);
	unload_module();
}

/* A sample ends what was before; the thread begins anew, and the CPU counts on. */
static void core_device_interval(struct kunit *test)
{
	struct my_target *t;
	u64 start;

	sim_reset(TEST_CPU, PMU(V4));
	load_in_steps(test, "1", EVERYWHERE, 1000);
	t = session->target[TEST_CPU];
	step(test);
	test_retire(test, 0, 5);
	steps.now += 100 * NSEC_PER_MSEC;
	start = steps.now;
	nr_lines = 0;
	nr_wakeups = 0;
	ask(test, "interval=300");
	KUNIT_EXPECT_EQ(test, count_lines("cpu1 t="), 1U);
	KUNIT_EXPECT_EQ(test, total(" instructions@gp0="), 5ULL);
	await_sleep(test);
	KUNIT_EXPECT_EQ(test, wakeups[nr_wakeups - 1], start + 300 * NSEC_PER_MSEC);
	test_retire(test, 0, 7);
	step(test);
	KUNIT_EXPECT_EQ(test, wakeups[nr_wakeups - 1], start + 600 * NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, total(" instructions@gp0="), 12ULL);
	KUNIT_EXPECT_EQ(test, count_having(" missed="), 0U);
	KUNIT_EXPECT_PTR_EQ(test, session->target[TEST_CPU], t);
	unload_module();
}

static void core_device_events(struct kunit *test)
{
	struct sim_registers before;
	struct file *file;
	const char *text;

	sim_reset(TEST_CPU, PMU(V4));
	test_leave_traces(sim_cpu(TEST_CPU));
	before = sim_cpu(TEST_CPU)->regs;
	load_in_steps(test, "1", EVERYWHERE, 1000);
	file = open_device(test);
	test_retire(test, 0, 5);
	nr_wakeups = 0;
	ask(test, "counters=branches@gp2,instructions@gp3");
	/* gp0 and fixed1 are as before, and free. */
	KUNIT_EXPECT_EQ(test, sim_cpu(TEST_CPU)->regs.evtsel[0], before.evtsel[0]);
	KUNIT_EXPECT_EQ(test, sim_cpu(TEST_CPU)->regs.fixed_ctr_ctrl, before.fixed_ctr_ctrl);
	expect_owned(test, TEST_CPU, BIT_ULL(2) | BIT_ULL(3));
	/* The first sample has what is counted from here on. */
	KUNIT_EXPECT_EQ(test, session->target[TEST_CPU]->last.time,
			session->target[TEST_CPU]->set.up_since);
	await_sleep(test);
	test_retire(test, 0, 7);
	step(test);
	text = read_device(test, file);
	/* Rows of events that are gone keep their names. */
	KUNIT_EXPECT_NOT_NULL(test, strstr(text, ",\"instructions\",gp0,5,"));
	KUNIT_EXPECT_NOT_NULL(test, strstr(text, ",\"instructions\",gp3,7,"));
	KUNIT_EXPECT_NOT_NULL(test, strstr(text, ",\"branches\",gp2,"));
	KUNIT_EXPECT_NULL(test, strstr(text, "stolen"));
	KUNIT_EXPECT_EQ(test, session->nr_names, 3U);
	close_device(file);
	unload_module();
	test_expect_registers(test, PMU(V4), &before, &sim_cpu(TEST_CPU)->regs);
	KUNIT_EXPECT_EQ(test, nr_allocated, 0);
}

/* Nothing is programmed if nothing changes. */
static void core_device_same_events(struct kunit *test)
{
	struct my_target *t = load_for_rows(test);

	ask(test, "counters=" EVERYWHERE " interval=1000000");
	KUNIT_EXPECT_PTR_EQ(test, session->target[TEST_CPU], t);
	ask(test, "cpu=1");
	KUNIT_EXPECT_PTR_EQ(test, session->target[TEST_CPU], t);
	unload_module();
}

/* The sampler has a thread as soon as there is something to sample. */
static void core_device_none(struct kunit *test)
{
	sim_reset(TEST_CPU, PMU(V4));
	set_parameters("1", "none", "5");
	KUNIT_ASSERT_EQ(test, load_module(), 0);
	KUNIT_EXPECT_NULL(test, sampler->task);
	ask(test, "interval=7");
	KUNIT_EXPECT_NULL(test, sampler->task);
	ask(test, "counters=" EVERYWHERE);
	KUNIT_EXPECT_TRUE(test, wait_for_lines("cpu1 t=", 2));
	ask(test, "counters=none");
	nr_lines = 0;
	expect_owned(test, TEST_CPU, 0);
	msleep(20);
	KUNIT_EXPECT_EQ(test, nr_lines, 0U);
	ask(test, "counters=default");
	KUNIT_EXPECT_TRUE(test, wait_for_lines("cpu1 t=", 2));
	expect_owned(test, TEST_CPU, BIT_ULL(0) | BIT_ULL(1) | BIT_ULL(32) | BIT_ULL(33));
	unload_module();
}

static void core_device_cpus(struct kunit *test)
{
	struct sim_registers before, before0;
	struct my_target *t;

	sim_reset(0, PMU(V4));
	before0 = sim_cpu(0)->regs;
	KUNIT_ASSERT_EQ(test, load_on(PMU(V4), &before), 0);
	t = session->target[TEST_CPU];
	ask(test, "cpu=0-1");
	KUNIT_EXPECT_PTR_EQ(test, session->target[TEST_CPU], t);
	expect_owned(test, 0, BIT_ULL(0) | BIT_ULL(33));
	KUNIT_EXPECT_TRUE(test, wait_for_lines("cpu0 t=", 1));
	ask(test, "cpu=0");
	KUNIT_EXPECT_NULL(test, session->target[TEST_CPU]);
	test_expect_registers(test, PMU(V4), &before, &sim_cpu(TEST_CPU)->regs);
	expect_owned(test, TEST_CPU, 0);
	/* What it counted on at load says what names mean. */
	KUNIT_EXPECT_NOT_NULL(test, my_hotplug_names(my_pmu_cpu_of(0)));
	ask(test, "cpu=1 counters=cycles@gp4");
	test_expect_registers(test, PMU(V4), &before0, &sim_cpu(0)->regs);
	expect_owned(test, TEST_CPU, BIT_ULL(4));
	unload_module();
	expect_untouched(test, PMU(V4), &before);
}

/* CPUs that come later are counted on, or not any more. */
static void core_device_all(struct kunit *test)
{
	struct sim_registers before;
	struct my_target *t;

	sim_reset(0, PMU(V4));
	KUNIT_ASSERT_EQ(test, load_on(PMU(V4), &before), 0);
	ask(test, "cpu=0");
	KUNIT_ASSERT_EQ(test, remove_cpu(TEST_CPU), 0);
	ask(test, "cpu=all");
	KUNIT_EXPECT_NULL(test, session->target[TEST_CPU]);
	KUNIT_ASSERT_EQ(test, add_cpu(TEST_CPU), 0);
	KUNIT_EXPECT_NOT_NULL(test, session->target[TEST_CPU]);
	/* One that is away is still one of them. */
	KUNIT_ASSERT_EQ(test, remove_cpu(TEST_CPU), 0);
	t = session->target[TEST_CPU];
	ask(test, "interval=1000000");
	ask(test, "cpu=all");
	KUNIT_EXPECT_PTR_EQ(test, session->target[TEST_CPU], t);
	KUNIT_ASSERT_EQ(test, add_cpu(TEST_CPU), 0);
	ask(test, "cpu=0");
	KUNIT_ASSERT_EQ(test, remove_cpu(TEST_CPU), 0);
	KUNIT_ASSERT_EQ(test, add_cpu(TEST_CPU), 0);
	KUNIT_EXPECT_NULL(test, session->target[TEST_CPU]);
	unload_module();
	expect_untouched(test, PMU(V4), &before);
}

static void core_device_unlike(struct kunit *test)
{
	struct sim_registers before;

	sim_reset(0, PMU(V5_HOLE));
	KUNIT_ASSERT_EQ(test, load_on(PMU(V4), &before), 0);
	ask_in_vain(test, "cpu=0-1", -EOPNOTSUPP,
		    "cpu0: it is like none of the CPUs that are counted on; load the module again");
	sim_reset(0, &no_pmu);
	ask_in_vain(test, "cpu=all", -ENODEV,
		    "cpu0: no PMU: CPUID.0AH says version 0 (in a virtual machine, its hypervisor must provide one)");
	unload_module();
	expect_untouched(test, PMU(V4), &before);
}

/* Of a CPU like the first one names are known, though none like it is counted on. */
static void core_device_unlike_names(struct kunit *test)
{
	sim_reset(0, PMU(V5_HOLE));
	sim_reset(TEST_CPU, PMU(V4));
	set_parameters("0-1", "instructions,cycles", "2000000");
	KUNIT_ASSERT_EQ(test, load_module(), 0);
	ask(test, "cpu=1");
	ask_in_vain(test, "counters=stalled-cycles-frontend", -EOPNOTSUPP,
		    "counters: 'stalled-cycles-frontend': the architecture does not define it, and perf, which may know it, was not asked for a CPU like CPU 1 when my_pmu was loaded");
	ask(test, "cpu=0");
	expect_owned(test, 0, BIT_ULL(0) | BIT_ULL(32));
	expect_owned(test, TEST_CPU, 0);
	ask_in_vain(test, "cpu=0-1", -EOPNOTSUPP,
		    "cpu1: it is like none of the CPUs that are counted on; load the module again");
	memset(session->names.refused, -EINVAL, sizeof(session->names.refused));
	ask_in_vain(test, "counters=branches", -EOPNOTSUPP,
		    "counters: 'branches': it needs what is not programmed here");
	unload_module();
}

/* What is away counts the new events when it is back. */
static void core_device_offline(struct kunit *test)
{
	struct sim_registers before;

	sim_reset(0, PMU(V4));
	KUNIT_ASSERT_EQ(test, load_on(PMU(V4), &before), 0);
	ask(test, "interval=1000000");
	KUNIT_ASSERT_EQ(test, remove_cpu(TEST_CPU), 0);
	ask(test, "counters=branches@gp5");
	KUNIT_EXPECT_TRUE(test, session->target[TEST_CPU]->set.offline);
	test_expect_registers(test, PMU(V4), &before, &sim_cpu(TEST_CPU)->regs);
	KUNIT_ASSERT_EQ(test, add_cpu(TEST_CPU), 0);
	KUNIT_EXPECT_FALSE(test, session->target[TEST_CPU]->set.offline);
	KUNIT_EXPECT_NE(test, session->target[TEST_CPU]->last.time, 0ULL);
	KUNIT_EXPECT_EQ(test, sim_cpu(TEST_CPU)->regs.evtsel[5] & 0xffff, 0x00c4ULL);
	ask(test, "cpu=0");
	KUNIT_ASSERT_EQ(test, remove_cpu(TEST_CPU), 0);
	ask_in_vain(test, "cpu=0-1", -ENXIO,
		    "cpu: 1 is offline; bring it online, or choose of 0");
	KUNIT_ASSERT_EQ(test, add_cpu(TEST_CPU), 0);
	notify(PM_SUSPEND_PREPARE);
	ask_in_vain(test, "interval=7", -EBUSY, "the machine goes to sleep");
	notify(PM_POST_SUSPEND);
	ask(test, "interval=7");
	unload_module();
	expect_untouched(test, PMU(V4), &before);
}

/* Hotplug is stopped by hand above our state: it is counted on; also if that was at the load. */
static void core_device_half_down(struct kunit *test)
{
	struct sim_registers before;

	sim_reset(0, PMU(V4));
	half_online = 0;
	KUNIT_ASSERT_EQ(test, load_on(PMU(V4), &before), 0);
	ask_in_vain(test, "cpu=all", -ENXIO, "cpu: 0 is not all the way online");
	half_online = TEST_CPU;
	ask(test, "cpu=0-1 counters=cycles");
	KUNIT_EXPECT_FALSE(test, session->target[0]->set.offline);
	KUNIT_EXPECT_FALSE(test, session->target[TEST_CPU]->set.offline);
	half_online = -1;
	unload_module();
	expect_untouched(test, PMU(V4), &before);
}

static void core_device_half_online(struct kunit *test)
{
	struct sim_registers before;

	sim_reset(0, PMU(V4));
	KUNIT_ASSERT_EQ(test, load_on(PMU(V4), &before), 0);
	cpus_read_lock();
	cpu_down_callback(0);
	cpus_read_unlock();
	below_state = true;
	ask_in_vain(test, "cpu=all", -ENXIO, "cpu: 0 is not all the way online");
	cpus_read_lock();
	cpu_up_callback(TEST_CPU);
	cpus_read_unlock();
	ask(test, "interval=1000000");
	below_state = false;
	unload_module();
	expect_untouched(test, PMU(V4), &before);
}

/* With guards: of CPUs that come, those that go, and those that others need. */
static void core_device_guards(struct kunit *test)
{
	struct my_perf_event *event;
	struct my_pool_event *perf_event = kunit_kzalloc(test, sizeof(*perf_event), GFP_KERNEL);
	unsigned int nth;
	struct file *file;
	int err;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, perf_event);

	sim_perf.stays = true;
	sim_perf.excludes = true;
	sim_reset(0, PMU(V4));
	sim_reset(TEST_CPU, PMU(V4));
	set_parameters("1", EVERYWHERE, "2000000");
	KUNIT_ASSERT_EQ(test, load_module(), 0);
	ask(test, "cpu=0-1");
	KUNIT_EXPECT_EQ(test, sim_perf.guards, BIT(0) | BIT(1));
	event = new_client(test, 0, "branches");
	ask_in_vain(test, "cpu=1", -EBUSY,
		    "cpu: events of other modules or of perf are counted on CPU 0, and need that my_pmu counts there");
	my_perf_event_destroy(event);
	ask(test, "cpu=1");
	KUNIT_EXPECT_EQ(test, sim_perf.guards, BIT(1));
	/* What is refused later has no guard. */
	ask_in_vain(test, "cpu=0-1 counters=cycles@gp9", -EINVAL,
		    "counters: 'cycles@gp9': CPU 0 has no gp9; it has 8 generic (gp) and 3 fixed counters");
	KUNIT_EXPECT_EQ(test, sim_perf.guards, BIT(1));
	sim_perf.excludes = false;
	ask_in_vain(test, "cpu=0-1", -EBUSY,
		    "cpu0: nothing keeps perf out of a PMU of version 4 in this kernel");
	sim_perf.excludes = true;
	for (nth = 1, err = -ENODEV; err == -ENODEV; nth++) {
		file = open_device(test);
		sim_cpu(0)->fail_nth = nth;
		err = write_device(file, "cpu=0-1");
		close_device(file);
	}
	KUNIT_EXPECT_EQ(test, err, -EIO);
	KUNIT_EXPECT_EQ(test, sim_perf.guards, BIT(1));
	ask(test, "cpu=0-1");
	KUNIT_ASSERT_EQ(test, my_hotplug_start_pools(~0ULL), 0);
	KUNIT_EXPECT_NE(test, my_pmu_cpu_of(0)->pooled, 0ULL);
	*perf_event = (struct my_pool_event) {
		.attr.config = 0xc4,
		.id = 1,
		.kind = my_pool_kind(0),
		.counters = BIT_ULL(3),
	};
	KUNIT_ASSERT_EQ(test, test_pool_add(0, perf_event), 0);
	ask_in_vain(test, "cpu=1", -EBUSY,
		    "cpu: events of other modules or of perf are counted on CPU 0, and need that my_pmu counts there");
	test_pool_del(0, perf_event);
	ask(test, "cpu=1");
	KUNIT_EXPECT_EQ(test, my_pmu_cpu_of(0)->pooled, 0ULL);
	KUNIT_EXPECT_EQ(test, sim_perf.guards, BIT(1));
	/* Nothing faults on a CPU that is offline. */
	ask(test, "cpu=0-1");
	KUNIT_ASSERT_EQ(test, remove_cpu(TEST_CPU), 0);
	ask(test, "cpu=0");
	KUNIT_EXPECT_EQ(test, count_having("not all are as they were"), 0U);
	KUNIT_ASSERT_EQ(test, add_cpu(TEST_CPU), 0);
	unload_module();
	KUNIT_EXPECT_EQ(test, sim_perf.guards, 0U);
}

/* A CPU on which perf could not be kept out is not counted on by a change, either. */
static void core_device_needs_guard(struct kunit *test)
{
	sim_perf.stays = true;
	sim_perf.excludes = true;
	sim_reset(0, PMU(V4));
	sim_reset(TEST_CPU, PMU(V4));
	set_parameters("1", EVERYWHERE, "2000000");
	KUNIT_ASSERT_EQ(test, load_module(), 0);
	KUNIT_ASSERT_EQ(test, remove_cpu(TEST_CPU), 0);
	sim_perf.excludes = false;
	KUNIT_ASSERT_EQ(test, add_cpu(TEST_CPU), 0);
	ask_in_vain(test, "counters=cycles@gp3", -EBUSY,
		    "cpu1: nothing keeps perf out of a PMU of version 4 in this kernel");
	KUNIT_EXPECT_TRUE(test, session->target[TEST_CPU]->set.offline);
	sim_perf.excludes = true;
	ask(test, "counters=" EVERYWHERE);
	KUNIT_EXPECT_FALSE(test, session->target[TEST_CPU]->set.offline);
	KUNIT_EXPECT_EQ(test, sim_perf.guards, BIT(1));
	/* Nor is one on which others count already. */
	sim_cpu(0)->regs.evtsel[2] = 0x5300c4;
	ask_in_vain(test, "cpu=0-1", -EBUSY,
		    "cpu0: the PMU is in use, by perf, the NMI watchdog, or KVM for a guest with a PMU: end them; 'sysctl kernel.nmi_watchdog=0' ends the watchdog");
	KUNIT_EXPECT_EQ(test, sim_perf.guards, BIT(1));
	/* What the guard stops was not the firmware's. */
	sim_cpu(0)->regs.evtsel[2] = 0x4300c4;
	sim_perf.stops = BIT(0);
	ask_in_vain(test, "cpu=0-1", -EBUSY,
		    "cpu0: the PMU is in use, by perf, the NMI watchdog, or KVM for a guest with a PMU: end them; 'sysctl kernel.nmi_watchdog=0' ends the watchdog");
	KUNIT_EXPECT_EQ(test, sim_perf.guards, BIT(1));
	unload_module();
}

/* Names are kept, but not without end. */
static void core_device_names(struct kunit *test)
{
	struct my_target *t = load_for_rows(test);
	struct my_pmu_why why;
	unsigned int i;

	for (i = 0; session->nr_names < MY_NAMES_MAX; i++) {
		snprintf(t->attr[0].name, sizeof(t->attr[0].name), "r1%03x", i);
		KUNIT_ASSERT_EQ(test, name_events(session, t, &why), 0);
	}
	strscpy(t->attr[0].name, "instructions", sizeof(t->attr[0].name));
	ask_in_vain(test, "counters=branches", -ENOSPC,
		    "counters: there have been 512 different events since my_pmu was loaded, and no more are possible: load it again");
	KUNIT_EXPECT_PTR_EQ(test, session->target[TEST_CPU], t);
	ask(test, "counters=r1007,cycles");
	unload_module();
	KUNIT_EXPECT_EQ(test, nr_allocated, 0);
}

/* Events of other modules keep their counters, and perf's have what is left. */
static void core_device_beside_others(struct kunit *test)
{
	struct my_pmu_cpu *cpu = my_pmu_cpu_of(TEST_CPU);
	struct sim_registers before;
	struct my_perf_event *event;
	u64 count;

	sim_reset(0, PMU(V4));
	KUNIT_ASSERT_EQ(test, load_on(PMU(V4), &before), 0);
	event = new_client(test, TEST_CPU, "instructions:u@gp6");
	KUNIT_EXPECT_EQ(test, my_perf_event_enable(event), 0);
	KUNIT_ASSERT_EQ(test, my_hotplug_start_pools(~0ULL), 0);
	/* EVERYWHERE has gp0 and fixed1. */
	KUNIT_EXPECT_EQ(test, cpu->pooled, 0x5000000beULL);
	test_retire(test, 10, 0);
	ask(test, "counters=cycles@gp2,branches@gp3");
	KUNIT_EXPECT_EQ(test, cpu->pooled, 0x7000000b3ULL);
	test_retire(test, 10, 0);
	ask_in_vain(test, "counters=cycles@gp6", -EBUSY,
		    "counters: 'cycles@gp6': gp6 is in use on CPU 1, for other events of my_pmu; without a counter it chooses");
	KUNIT_EXPECT_EQ(test, cpu->pooled, 0x7000000b3ULL);
	expect_owned(test, TEST_CPU, BIT_ULL(2) | BIT_ULL(3) | BIT_ULL(6));
	KUNIT_EXPECT_EQ(test, my_perf_event_read(event, &count), 0);
	KUNIT_EXPECT_EQ(test, count, 20ULL);
	my_perf_event_destroy(event);
	unload_module();
	expect_untouched(test, PMU(V4), &before);
}

/* A sample that has more rows needs a larger ring; what is in it stays. */
static void core_device_room(struct kunit *test)
{
	struct my_target *t = load_for_rows(test);
	unsigned int size = sampler->samples.size, i;
	struct file *file = open_device(test), *other;
	static char words[REQUEST_LEN] = "counters=cycles";
	const char *text;

	for (i = 0; i < size; i++)
		add_sample(t, 3);
	add_sample(t, 4);
	for (i = 1; i < MY_EVENTS_MAX; i++)
		strlcat(words, ",r99", sizeof(words));
	read_device(test, file);
	/* 64 samples of 64 events are as many rows as there is room for in any case. */
	KUNIT_EXPECT_EQ(test, my_samples_make_room(&sampler->samples, 64), 0);
	KUNIT_EXPECT_EQ(test, sampler->samples.size, size);
	fail_step = 1;
	KUNIT_EXPECT_EQ(test, my_samples_make_room(&sampler->samples, 65), -ENOMEM);
	KUNIT_EXPECT_EQ(test, my_samples_make_room(&sampler->samples, 65), 0);
	KUNIT_EXPECT_EQ(test, sampler->samples.size, 64 * 65U);
	KUNIT_EXPECT_EQ(test, sampler->samples.head, 2 * size + 2ULL);
	/* What was overwritten before is not there. */
	KUNIT_EXPECT_EQ(test, oldest(&sampler->samples), size + 2ULL);
	other = open_device(test);
	text = read_device(test, other);
	KUNIT_EXPECT_TRUE_MSG(test, str_has_prefix(text, HEADER_TEXT "3,1,"), "%.200s", text);
	close_device(other);
	ask(test, words);
	text = read_device(test, file);
	KUNIT_EXPECT_NOT_NULL(test, text);
	for (i = 0; i < size - 64; i++)
		KUNIT_ASSERT_EQ(test, sampler->samples.row[(size + 66 + i) % (64 * 65)].number,
				i < size - 66 ? 3ULL : 4ULL);
	close_device(file);
	unload_module();
	KUNIT_EXPECT_EQ(test, nr_allocated, 0);
}

/* Whatever there is no memory for: all is as it was. */
static void core_device_unwinds_steps(struct kunit *test)
{
	static const char words[] = "cpu=0-1 counters=branches@gp2,r99@gp3 interval=900000";
	struct file *file;
	struct sim_registers before;
	unsigned int step;
	int allocated, names;
	ssize_t got;

	sim_reset(0, PMU(V4));
	KUNIT_ASSERT_EQ(test, load_on(PMU(V4), &before), 0);
	ask(test, "interval=1000000");
	file = open_device(test);
	read_device(test, file);
	for (step = 1; ; step++) {
		allocated = nr_allocated;
		names = session->nr_names;
		fail_step = step;
		got = write_device(file, words);
		if (got > 0)
			break;
		KUNIT_EXPECT_EQ(test, got, (ssize_t)-ENOMEM);
		KUNIT_ASSERT_EQ(test, fail_step, 0U);
		KUNIT_EXPECT_EQ(test, nr_allocated - allocated,
				(int)session->nr_names - names);
		KUNIT_EXPECT_EQ(test, session->interval_ms, 1000000U);
		expect_owned(test, TEST_CPU, BIT_ULL(0) | BIT_ULL(33));
		expect_owned(test, 0, 0);
	}
	fail_step = 0;
	/*
	 * Session, two tables, three masks, text; two targets, two names.  An attempt finds the
	 * name that the one before has kept.
	 */
	KUNIT_EXPECT_EQ(test, step, 11U);
	expect_owned(test, 0, BIT_ULL(2) | BIT_ULL(3));
	close_device(file);
	unload_module();
	expect_untouched(test, PMU(V4), &before);
}

/* Also for more rows, and for the thread that takes samples. */
static void core_device_unwinds_thread(struct kunit *test)
{
	static char words[REQUEST_LEN] = "cpu=0-1 interval=900000 counters=r99";
	unsigned int step, i, size;
	struct my_pmu_why why;
	struct my_target *t;
	struct file *file;
	ssize_t got;

	sim_reset(0, PMU(V4));
	sim_reset(TEST_CPU, PMU(V4));
	set_parameters("1", "none", "5");
	KUNIT_ASSERT_EQ(test, load_module(), 0);
	t = session->target[TEST_CPU];
	for (i = 1; i < 40; i++)
		strlcat(words, ",r99", sizeof(words));
	strscpy(t->attr[0].name, "r99", sizeof(t->attr[0].name));
	t->nr_events = 1;
	KUNIT_ASSERT_EQ(test, name_events(session, t, &why), 0);
	t->nr_events = 0;
	size = sampler->samples.size;
	file = open_device(test);
	read_device(test, file);
	for (step = 1; ; step++) {
		fail_step = step;
		got = write_device(file, words);
		if (got > 0)
			break;
		KUNIT_ASSERT_EQ(test, fail_step, 0U);
		KUNIT_EXPECT_NULL(test, sampler->task);
		expect_owned(test, 0, 0);
		expect_owned(test, TEST_CPU, 0);
	}
	/* Session, two tables, three masks, text, two targets, rows, thread. */
	KUNIT_EXPECT_EQ(test, step, 12U);
	fail_step = 0;
	KUNIT_EXPECT_GT(test, sampler->samples.size, size);
	KUNIT_EXPECT_NOT_NULL(test, sampler->task);
	close_device(file);
	unload_module();
	KUNIT_EXPECT_EQ(test, nr_allocated, 0);
}

/* @pools: events of perf have the counters that are left. */
static void unwind_registers(struct kunit *test, const char *words, bool pools)
{
	struct sim_cpu *sim = sim_cpu(TEST_CPU);
	struct sim_registers before;
	struct file *file;
	unsigned int nth, back = 0, whole = 0;
	ssize_t got;

	sim_reset(0, PMU(V4));
	for (nth = 1; ; nth = test_next_access(nth)) {
		KUNIT_ASSERT_EQ(test, load_on(PMU(V4), &before), 0);
		ask(test, "interval=1000000");
		if (pools)
			KUNIT_ASSERT_EQ(test, my_hotplug_start_pools(~0ULL), 0);
		file = open_device(test);
		sim->fail_nth = nth;
		got = write_device(file, words);
		close_device(file);
		if (got > 0 && sim->fail_nth)
			break;
		if (got < 0) {
			KUNIT_EXPECT_EQ(test, got, (ssize_t)-EIO);
			expect_owned(test, TEST_CPU, BIT_ULL(0) | BIT_ULL(33));
			expect_owned(test, 0, 0);
			back += session->target[TEST_CPU]->set.offline ? 0 : 1;
		} else {
			expect_owned(test, TEST_CPU, BIT_ULL(2) | BIT_ULL(3));
		}
		unload_module();
		if (count_having("not all "))
			continue;
		/* What GLOBAL_CTRL holds cannot be known then. */
		if (sim->failed.op == SIM_RDMSR && sim->failed.reg == 0x38f)
			continue;
		test_forgive_restoring(&before, sim);
		expect_untouched(test, PMU(V4), &before);
		whole++;
	}
	sim->fail_nth = 0;
	KUNIT_EXPECT_GT(test, nth, 20U);
	KUNIT_EXPECT_GT(test, whole, 10U);
	KUNIT_EXPECT_GT(test, back, 10U);
	unload_module();
	expect_untouched(test, PMU(V4), &before);
}

/* Whichever access to a register faults: all is as it was, or it is said that it is not. */
static void core_device_unwinds_registers(struct kunit *test)
{
	test_run_there(test);
	unwind_registers(test, "counters=branches@gp2,r99@gp3", false);
	unwind_registers(test, "counters=branches@gp2,r99@gp3", true);
	unwind_registers(test, "counters=branches@gp2,r99@gp3 cpu=0-1", false);
}

/* The last CPU refuses: those before it count what they did. */
static void core_device_goes_back(struct kunit *test)
{
	struct my_target *t;

	sim_reset(0, PMU(V4));
	sim_reset(TEST_CPU, PMU(V4));
	set_parameters("0-1", EVERYWHERE, "2000000");
	KUNIT_ASSERT_EQ(test, load_module(), 0);
	t = session->target[0];
	sim_cpu(TEST_CPU)->broken = SIM_DEAD;
	sim_cpu(TEST_CPU)->broken_counters = BIT_ULL(2);
	ask_in_vain(test, "cpu=1 counters=cycles@gp2", -ENODEV,
		    "cpu1: gp2 stands still: it counts no instructions in code of 2048 instructions");
	KUNIT_EXPECT_PTR_EQ(test, session->target[0], t);
	KUNIT_EXPECT_FALSE(test, t->set.offline);
	expect_owned(test, 0, BIT_ULL(0) | BIT_ULL(33));
	expect_owned(test, TEST_CPU, BIT_ULL(0) | BIT_ULL(33));
	unload_module();
}

/* A message names the CPU that cannot be counted on any more; a later request starts it. */
static void core_device_cannot_go_back(struct kunit *test)
{
	struct sim_registers before;

	KUNIT_ASSERT_EQ(test, load_on(PMU(V4), &before), 0);
	ask(test, "interval=1000000");
	sim_cpu(TEST_CPU)->broken = SIM_DEAD;
	sim_cpu(TEST_CPU)->broken_counters = BIT_ULL(0) | BIT_ULL(2);
	ask_in_vain(test, "counters=cycles@gp2", -ENODEV,
		    "cpu1: gp2 stands still: it counts no instructions in code of 2048 instructions; and cpu1 is not counted on any more");
	KUNIT_EXPECT_EQ(test,
			count_lines("cpu1: it cannot be counted on any more: gp0 stands"), 1U);
	expect_owned(test, TEST_CPU, BIT_ULL(0) | BIT_ULL(33));
	sim_cpu(TEST_CPU)->broken = SIM_SOUND;
	ask(test, "counters=" EVERYWHERE);
	KUNIT_EXPECT_FALSE(test, session->target[TEST_CPU]->set.offline);
	ask(test, "counters=cycles@gp2");
	expect_owned(test, TEST_CPU, BIT_ULL(2));
	KUNIT_EXPECT_FALSE(test, session->target[TEST_CPU]->set.offline);
	unload_module();
	expect_untouched(test, PMU(V4), &before);
}

static struct kunit_case core_cases[] = {
	KUNIT_CASE(core_with_perf),
	KUNIT_CASE(core_pool_faults),
	KUNIT_CASE(core_without_perf),
	KUNIT_CASE_PARAM(core_refuses, refusal_gen_params),
	KUNIT_CASE(core_refuses_switches),
	KUNIT_CASE(core_refuses_offline),
	KUNIT_CASE(core_refuses_busy),
	KUNIT_CASE(core_refuses_half_online),
	KUNIT_CASE_PARAM(core_prints_pmu, pmu_lines_gen_params),
	KUNIT_CASE_PARAM(core_unwinds_reservations, test_pmu_gen_params),
	KUNIT_CASE(core_samples),
	KUNIT_CASE(core_periods),
	KUNIT_CASE(core_line),
	KUNIT_CASE(core_ticks),
	KUNIT_CASE(core_sampler_keeps_off),
	KUNIT_CASE(core_clobbered),
	KUNIT_CASE(core_starved),
	KUNIT_CASE(core_marks),
	KUNIT_CASE(core_line_multiplexed),
	KUNIT_CASE(core_latency),
	KUNIT_CASE(core_late),
	KUNIT_CASE_PARAM(core_keeps_up, test_pmu_gen_params),
	KUNIT_CASE(core_interval_bounds),
	KUNIT_CASE_PARAM(core_counts_wraps, wraps_gen_params),
	KUNIT_CASE(core_keep_up_marks),
	KUNIT_CASE(core_keep_up_faults),
	KUNIT_CASE(core_keep_up_rotation_fails),
	KUNIT_CASE(core_keep_up_late),
	KUNIT_CASE(core_clock_is_behind),
	KUNIT_CASE(core_keep_up_offline),
	KUNIT_CASE(core_keep_up_joins),
	KUNIT_CASE_PARAM(core_default, default_gen_params),
	KUNIT_CASE(core_default_agrees),
	KUNIT_CASE(core_without_parameters),
	KUNIT_CASE(core_default_is_refused),
	KUNIT_CASE(core_default_summary),
	KUNIT_CASE(core_default_joins),
	KUNIT_CASE(core_counters_file),
	KUNIT_CASE(core_counters_file_guarded),
	KUNIT_CASE(core_events_file),
	KUNIT_CASE(core_asks_where),
	KUNIT_CASE(core_asks_if_there_is_perf),
	KUNIT_CASE(core_asks_not_narrow),
	KUNIT_CASE(core_asks_when_free),
	KUNIT_CASE(core_asks_beside_nobody),
	KUNIT_CASE(core_refuses_perf_that_stays),
	KUNIT_CASE(core_guards),
	KUNIT_CASE(core_guards_all),
	KUNIT_CASE(core_guard_stops),
	KUNIT_CASE(core_guard_lost),
	KUNIT_CASE(core_guard_lost_to_clients),
	KUNIT_CASE(core_guard_hotplug),
	KUNIT_CASE(core_guard_joins),
	KUNIT_CASE(core_doubtful),
	KUNIT_CASE(core_rdpmc),
	KUNIT_CASE(core_show_set),
	KUNIT_CASE(core_refuses_names),
	KUNIT_CASE(core_unlike_owners),
	KUNIT_CASE(core_unwinds_names),
	KUNIT_CASE(core_firmware),
	KUNIT_CASE(core_firmware_is_named),
	KUNIT_CASE(core_firmware_while_offline),
	KUNIT_CASE(core_refuses_liar),
	KUNIT_CASE(core_log_off),
	KUNIT_CASE(core_freeze),
	KUNIT_CASE(core_no_sample),
	KUNIT_CASE(core_long_lines),
	KUNIT_CASE(core_lines_of_marks),
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
	KUNIT_CASE(core_unlike_names),
	KUNIT_CASE(core_reserves_for_all),
	KUNIT_CASE(core_all_is_late),
	KUNIT_CASE(core_joins),
	KUNIT_CASE(core_joins_late),
	KUNIT_CASE(core_cannot_join),
	KUNIT_CASE(core_samples_file),
	KUNIT_CASE(core_samples_multiplexed),
	KUNIT_CASE(core_samples_stuck),
	KUNIT_CASE(core_samples_short_reads),
	KUNIT_CASE(core_samples_dropped),
	KUNIT_CASE(core_samples_faults),
	KUNIT_CASE(core_samples_pipe),
	KUNIT_CASE(core_samples_pipe_waits),
	KUNIT_CASE(core_samples_pipe_is_shared),
	KUNIT_CASE(core_samples_room),
	KUNIT_CASE(core_summary),
	KUNIT_CASE(core_long_summary),
	KUNIT_CASE(core_client),
	KUNIT_CASE(core_client_is_shown),
	KUNIT_CASE(core_client_breaks),
	KUNIT_CASE(core_client_disabled_offline),
	KUNIT_CASE(core_client_half_down),
	KUNIT_CASE(core_client_elsewhere),
	KUNIT_CASE(core_clients_fault),
	KUNIT_CASE(core_client_is_left),
	KUNIT_CASE(core_client_was_there_first),
	KUNIT_CASE(core_counts_nothing),
	KUNIT_CASE(core_device),
	KUNIT_CASE(core_device_is_not_needed),
	KUNIT_CASE_PARAM(core_device_refuses, change_gen_params),
	KUNIT_CASE(core_device_refuses_size),
	KUNIT_CASE(core_device_interval),
	KUNIT_CASE(core_device_events),
	KUNIT_CASE(core_device_same_events),
	KUNIT_CASE(core_device_none),
	KUNIT_CASE(core_device_cpus),
	KUNIT_CASE(core_device_all),
	KUNIT_CASE(core_device_unlike),
	KUNIT_CASE(core_device_unlike_names),
	KUNIT_CASE(core_device_offline),
	KUNIT_CASE(core_device_half_down),
	KUNIT_CASE(core_device_half_online),
	KUNIT_CASE(core_device_guards),
	KUNIT_CASE(core_device_needs_guard),
	KUNIT_CASE(core_device_names),
	KUNIT_CASE(core_device_beside_others),
	KUNIT_CASE(core_device_room),
	KUNIT_CASE(core_device_unwinds_steps),
	KUNIT_CASE(core_device_unwinds_thread),
	KUNIT_CASE(core_device_unwinds_registers),
	KUNIT_CASE(core_device_goes_back),
	KUNIT_CASE(core_device_cannot_go_back),
	KUNIT_CASE_PARAM(core_unwinds_steps, test_pmu_gen_params),
	KUNIT_CASE_PARAM(core_unwinds_registers, test_pmu_gen_params),
	{}
};

static struct kunit_suite core_suite = {
	.name = "my_pmu",
	.init = fresh_start,
	.exit = clean_up,
	.test_cases = core_cases,
};

kunit_test_suite(core_suite);
