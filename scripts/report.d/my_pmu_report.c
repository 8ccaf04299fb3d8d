// SPDX-License-Identifier: GPL-2.0
/*
 * What scripts/report needs the kernel for.  Each file in
 * /sys/kernel/debug/my_pmu_report/ measures when it is read:
 *
 *   leaves     what CPUID says of the PMU of CPU cpu=
 *   registers  the PMU's registers of all CPUs
 *   perf       whether perf counts on the CPU
 *   selftest   the self-test of each counter, runs= times
 *   wraps      each counter on its way over powers of two, and over its end
 *   costs      instructions and a cross-call, in TSC cycles
 *
 * The last three program counters and put them back.  They need my_pmu, loaded with
 * counters=none, which keeps perf away and uses none itself.  Columns are separated by
 * tabs; scripts/report says what is right and what is wrong.
 *
 * All that is done on the CPU is done in short cross-calls: a thread there would wait for
 * whatever keeps an isolated CPU busy, and could be moved to another CPU.
 */
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/perf_event.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/smp.h>
#include <linux/sort.h>

/* The module's back end and its self-test, as they are. */
#include "pmu_intel.c"
#include "pmu_selftest.c"

static int cpu;
module_param(cpu, int, 0444);
MODULE_PARM_DESC(cpu, "the CPU that is looked at");
static unsigned int runs = 1000;
module_param(runs, uint, 0444);
MODULE_PARM_DESC(runs, "how often each counter is tested, 1 to 100000");

#define MAX_RUNS	100000

/* So large a buffer holds what a file says, which else would be measured again. */
#define FILE_SIZE	65536

/* The PMU of that CPU; @refusal is empty if it can be used. */
static struct my_pmu_cpu self;
static struct my_pmu_why refusal;
static u64 in_use;
static u64 *values;
static struct dentry *dir;
static DEFINE_MUTEX(one_reader);

/* --- leaves ------------------------------------------------------------------------- */

static const struct {
	u32 leaf;
	u32 subleaf;
} leaves[] = {
	{ 1, 0 }, { 7, 0 }, { 7, 1 }, { 0xa, 0 },
	{ 0x23, 0 }, { 0x23, 1 }, { 0x23, 2 }, { 0x23, 3 }, { 0x23, 4 }, { 0x23, 5 },
};

static void show_leaves(void *m)
{
	u32 eax, ebx, ecx, edx;
	unsigned int i;
	u64 cap;

	for (i = 0; i < ARRAY_SIZE(leaves); i++) {
		hw_cpuid(leaves[i].leaf, leaves[i].subleaf, &eax, &ebx, &ecx, &edx);
		/* Beside which APIC it has, which is no property of the PMU. */
		if (leaves[i].leaf == 1)
			ebx &= GENMASK(23, 0);
		if (eax | ebx | ecx | edx)
			seq_printf(m, "leaf\t%02XH.%u\t%08x %08x %08x %08x\n", leaves[i].leaf,
				   leaves[i].subleaf, eax, ebx, ecx, edx);
	}
	hw_cpuid(1, 0, &eax, &ebx, &ecx, &edx);
	if (ecx & CPUID_1_ECX_PDCM && !hw_rdmsr(MSR_IA32_PERF_CAPABILITIES, &cap))
		seq_printf(m, "capabilities\t%#llx\n", cap);
}

/* The function of a cross-call: is this CPU's PMU like that of @cpu? */
static void compare_pmu(void *alike)
{
	struct my_pmu_why why;
	struct my_x86_pmu pmu;

	if (my_intel_pmu_probe(&pmu, &why) || memcmp(&pmu, &self.pmu, sizeof(pmu)))
		*(bool *)alike = false;
}

static int leaves_show(struct seq_file *m, void *unused)
{
	unsigned int nr_alike = 0;
	int other;

	smp_call_function_single(cpu, show_leaves, m, 1);
	if (refusal.text[0]) {
		seq_printf(m, "refused\t%s\n", refusal.text);
		return 0;
	}
	cpus_read_lock();
	for_each_online_cpu(other) {
		bool alike = true;

		smp_call_function_single(other, compare_pmu, &alike, 1);
		nr_alike += alike;
	}
	seq_printf(m, "pmu\t%u\t%u\t%u\t%u\t%u\n", self.pmu.version,
		   my_pmu_num_counters(&self.pmu), self.pmu.cntval_bits,
		   my_pmu_num_counters_fixed(&self.pmu), self.pmu.cntval_bits_fixed);
	seq_printf(m, "alike\t%u\t%u\n", nr_alike, num_online_cpus());
	cpus_read_unlock();
	return 0;
}

/* --- registers ---------------------------------------------------------------------- */

/* Of all counters together, from this version on; some CPUs do not have some of them. */
static const struct {
	u32 msr;
	unsigned int version;
} shared_registers[] = {
	{ MSR_CORE_PERF_FIXED_CTR_CTRL, GLOBAL_VERSION },
	{ MSR_CORE_PERF_GLOBAL_CTRL, GLOBAL_VERSION },
	{ MSR_CORE_PERF_GLOBAL_STATUS, GLOBAL_VERSION },
	{ MSR_IA32_DEBUGCTLMSR, 1 },
	{ MSR_OFFCORE_RSP_0, 1 }, { MSR_OFFCORE_RSP_1, 1 }, { MSR_PEBS_FRONTEND, 1 },
};

static void show_register(struct seq_file *m, u32 msr)
{
	u64 val;

	if (!hw_rdmsr(msr, &val))
		seq_printf(m, "cpu%d\t%#x\t%#llx\n", smp_processor_id(), msr, val);
}

/*
 * A value that cannot be written cannot be put back, and a counter that somebody uses does
 * not stay as it is: these are left out.
 */
static void show_counter(struct seq_file *m, const struct my_x86_pmu *pmu, int idx, u64 used)
{
	u32 msr = my_pmu_counter_msr(pmu, idx);
	u64 val;

	if (!my_pmc_is_fixed(idx))
		show_register(m, my_pmu_eventsel_msr(pmu, idx));
	if (pmu->cfg_b & BIT_ULL(idx))
		show_register(m, msr + PMC_CFG_B);
	if (pmu->cfg_c & BIT_ULL(idx))
		show_register(m, msr + PMC_CFG_C);
	if (used & BIT_ULL(idx) || hw_rdmsr(msr, &val))
		return;
	if (my_pmc_is_fixed(idx) || pmu->flags & INTEL_FULL_WIDTH ||
	    ((s64)(s32)val & GENMASK_ULL(pmu->cntval_bits - 1, 0)) == val)
		show_register(m, msr);
}

/* The function of a cross-call. */
static void show_registers(void *m)
{
	struct my_pmu_why why;
	struct my_x86_pmu pmu;
	u64 left, used;
	unsigned int i;

	if (my_intel_pmu_probe(&pmu, &why) || intel_find_in_use(&pmu, pmu.counters, &used))
		return;
	for (i = 0; i < ARRAY_SIZE(shared_registers); i++) {
		if (pmu.version >= shared_registers[i].version)
			show_register(m, shared_registers[i].msr);
	}
	for (left = pmu.counters; left; left &= left - 1)
		show_counter(m, &pmu, __ffs64(left), used);
}

static int registers_show(struct seq_file *m, void *unused)
{
	int of;

	cpus_read_lock();
	for_each_online_cpu(of)
		smp_call_function_single(of, show_registers, m, 1);
	cpus_read_unlock();
	return 0;
}

/* --- perf --------------------------------------------------------------------------- */

#define PERF_ROUNDS	1000

static void run_code(void *unused)
{
	hw_run_known_code(PERF_ROUNDS);
}

/* "refused", the errno; or "counted": how many instructions, of how many at least; ns */
static int perf_show(struct seq_file *m, void *unused)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_HW_INSTRUCTIONS,
		.pinned = 1,
		.exclude_guest = 1,
	};
	u64 count, enabled, running;
	struct perf_event *event;

	event = perf_event_create_kernel_counter(&attr, cpu, NULL, NULL, NULL);
	if (IS_ERR(event)) {
		seq_printf(m, "refused\t%ld\n", -PTR_ERR(event));
		return 0;
	}
	smp_call_function_single(cpu, run_code, NULL, 1);
	count = perf_event_read_value(event, &enabled, &running);
	perf_event_release_kernel(event);
	seq_printf(m, "counted\t%llu\t%u\t%llu\t%llu\n", count,
		   PERF_ROUNDS * HW_ROUND_INSTRUCTIONS, running, enabled);
	return 0;
}

/* --- counters, with nobody else on them ----------------------------------------------- */

/**
 * struct trial - what is done with one counter, on the CPU, interrupts off
 * @hw: the counter, and its event
 * @probe: what counts as right
 * @act: measures something, while the counter is programmed and stopped
 * @number: of this measurement, from 0 on
 * @nr: how many measurements
 * @right: how many of them were right
 * @err: of the last of them
 * @why: what was wrong, if one was refused
 */
struct trial {
	struct my_hw_perf_event hw;
	const struct my_pmu_probe *probe;
	int (*act)(struct trial *trial);
	unsigned int number;
	unsigned int nr;
	unsigned int right;
	int err;
	struct my_pmu_why why;
};

/* All registers are afterwards as they were before. */
static int try_once(struct trial *t)
{
	const struct my_x86_pmu *pmu = &self.pmu;
	const struct my_pmu_ops *ops = pmu->ops;
	u64 counter = BIT_ULL(t->hw.idx);
	struct my_pmu_stopped stopped;
	int first, err;

	err = ops->save(pmu, &self.state, counter);
	err = err ?: ops->stop(pmu, &self.state, counter, &stopped);
	if (err)
		return err;
	first = ops->enable(pmu, &self.state, &t->hw);
	if (!first) {
		first = t->act(t);
		err = ops->disable(pmu, &self.state, &t->hw);
		first = first ?: err;
	}
	err = ops->restore(pmu, &self.state, counter);
	return first ?: err;
}

/* The function of a cross-call. */
static void try_on_cpu(void *trial)
{
	struct trial *t = trial;

	t->err = try_once(t);
}

static int try_often(struct trial *t)
{
	t->err = 0;
	for (t->number = 0; t->number < t->nr && !t->err; t->number++) {
		if (signal_pending(current))
			return my_refuse(&t->why, -EINTR, "interrupted");
		if (smp_call_function_single(cpu, try_on_cpu, t, 1))
			return my_refuse(&t->why, -ENXIO, "CPU %d is offline", cpu);
		cond_resched();
	}
	if (t->err && !t->why.text[0])
		my_refuse(&t->why, t->err, "an access to a register faults (%d)", t->err);
	return t->err;
}

/* Does the counter of this trial count the event of this probe? */
static bool prepare(struct trial *t, int idx, const struct my_pmu_probe *probe)
{
	*t = (struct trial) { .probe = probe, .hw.idx = idx };
	if (!counts_probe(&self.pmu, idx, probe))
		return false;
	intel_encode(&self.pmu, &probe->attr, &t->hw);
	return true;
}

/* For each counter and each event that it counts; until somebody kills the reader. */
static int try_all(struct seq_file *m,
		   void (*act)(struct seq_file *m, struct trial *t))
{
	struct trial t;
	unsigned int i;
	u64 left;

	if (refusal.text[0]) {
		seq_printf(m, "refused\t%s\n", refusal.text);
		return 0;
	}
	/* With it nobody else is on the counters, and while we have this it stays. */
	if (!symbol_get(my_perf_event_create)) {
		seq_puts(m, "refused\tmy_pmu is not loaded\n");
		return 0;
	}
	for (left = self.pmu.counters & ~in_use; left; left &= left - 1) {
		for (i = 0; i < ARRAY_SIZE(intel_probes); i++) {
			if (!signal_pending(current) &&
			    prepare(&t, __ffs64(left), &intel_probes[i]))
				act(m, &t);
		}
	}
	symbol_put(my_perf_event_create);
	return signal_pending(current) ? -EINTR : 0;
}

static int compare_values(const void *a, const void *b)
{
	s64 x = *(const s64 *)a, y = *(const s64 *)b;

	return x < y ? -1 : x > y;
}

/* --- selftest: my_pmu_selftest(), with all that it sees ------------------------------- */

static int selftest_once(struct trial *t)
{
	u64 once, twice;
	int err;

	err = count_rounds(&self, &t->hw, ROUNDS, &once, &t->why);
	err = err ?: count_rounds(&self, &t->hw, 2 * ROUNDS, &twice, &t->why);
	if (err)
		return err;
	values[t->number] = t->probe->least ? twice - once : twice;
	t->right += is_right(t->probe, values[t->number]);
	return 0;
}

/* How many were right; least, median, most; and between which two they must be. */
static void selftest_of(struct seq_file *m, struct trial *t)
{
	t->act = selftest_once;
	t->nr = runs;
	seq_printf(m, "%s%d\t%s\t", my_pmc_kind(t->hw.idx), my_pmc_number(t->hw.idx),
		   t->probe->unit);
	if (try_often(t)) {
		seq_printf(m, "%s\n", t->why.text);
		return;
	}
	sort(values, runs, sizeof(*values), compare_values, NULL);
	seq_printf(m, "\t%u\t%u\t%lld\t%lld\t%lld\t%u\t%u\n", runs, t->right, values[0],
		   values[runs / 2], values[runs - 1], ROUNDS * t->probe->least,
		   ROUNDS * t->probe->most);
}

static int selftest_show(struct seq_file *m, void *unused)
{
	return try_all(m, selftest_of);
}

/* --- wraps -------------------------------------------------------------------------- */

/* Programming it and stopping it again takes some instructions, too. */
#define AROUND		1024

/* Up to where a counter counts: with half of its bits, with 32, with one less than all. */
static unsigned int power_of(const struct trial *t)
{
	const unsigned int powers[] = {
		31, 32, t->hw.cntval_bits - 1, t->hw.cntval_bits,
	};

	return powers[t->number];
}

#define NR_POWERS	4

/*
 * Of what may not come at all nothing wraps.  The overflow bit says nothing in version 1,
 * nor if it was set before.
 */
static int judge_wrap(struct trial *t, u64 count, bool overflowed)
{
	unsigned int power = power_of(t), bits = t->hw.cntval_bits;
	const char *kind = my_pmc_kind(t->hw.idx);
	int number = my_pmc_number(t->hw.idx);
	const struct intel_state *s = (const struct intel_state *)self.state.word;
	bool last = power == bits;

	if (count + (count >> TOLERANCE_LOG2) < ROUNDS * t->probe->least ||
	    count > (ROUNDS + (ROUNDS >> TOLERANCE_LOG2)) * t->probe->most + AROUND)
		return my_refuse(&t->why, -ENODEV, "%s%d: %lld %s over 2^%u, not %u", kind,
				 number, (long long)count, t->probe->unit, power,
				 ROUNDS * t->probe->least);
	if (self.pmu.version < GLOBAL_VERSION || s->global.saved_status & BIT_ULL(t->hw.idx) ||
	    count < -START || overflowed == last)
		return 0;
	return my_refuse(&t->why, -ENODEV, "%s%d: %s overflow bit at 2^%u of %u bits", kind,
			 number, last ? "no" : "an", power, bits);
}

/* Nothing is said of a power that cannot be reached: 32 bits are written at most. */
static int wrap_once(struct trial *t)
{
	unsigned int power = power_of(t), bits = t->hw.cntval_bits;
	u64 start = ((1ULL << (power - 1) << 1) + START) & GENMASK_ULL(bits - 1, 0);
	u64 counter = BIT_ULL(t->hw.idx), seen;
	struct my_pmu_stopped stopped;
	int err;

	if (!my_pmc_is_fixed(t->hw.idx) && !(self.pmu.flags & INTEL_FULL_WIDTH) &&
	    ((s64)(s32)start & GENMASK_ULL(bits - 1, 0)) != start)
		return 0;
	err = intel_program(&self.pmu, &self.state, &t->hw, 0);
	err = err ?: hw_wrmsr(t->hw.event_base, start);
	err = err ?: hw_rdpmc(t->hw.event_base_rdpmc, &seen);
	if (!err && seen != start)
		return my_refuse(&t->why, -ENODEV, "%s%d: %#llx written, %#llx read",
				 my_pmc_kind(t->hw.idx), my_pmc_number(t->hw.idx), start,
				 seen);
	err = err ?: intel_program(&self.pmu, &self.state, &t->hw, t->hw.config);
	err = err ?: intel_start(&self.pmu, &self.state, counter, 0);
	if (err)
		return err;
	hw_run_known_code(ROUNDS);
	err = intel_stop(&self.pmu, &self.state, counter, &stopped);
	err = err ?: hw_rdpmc(t->hw.event_base_rdpmc, &seen);
	return err ?: judge_wrap(t, my_pmu_delta(start, seen, bits),
				 stopped.overflowed & counter);
}

static void wraps_of(struct seq_file *m, struct trial *t)
{
	t->act = wrap_once;
	t->nr = NR_POWERS;
	seq_printf(m, "%s%d\t%s\t", my_pmc_kind(t->hw.idx), my_pmc_number(t->hw.idx),
		   t->probe->unit);
	try_often(t);
	seq_printf(m, "%s\t%u\n", t->why.text, t->hw.cntval_bits);
}

static int wraps_show(struct seq_file *m, void *unused)
{
	return try_all(m, wraps_of);
}

/* --- costs -------------------------------------------------------------------------- */

#define COST_RUNS	1000

static u64 global_ctrl, event_select;

static void do_nothing(const struct my_hw_perf_event *hw)
{
}

static void do_rdtsc(const struct my_hw_perf_event *hw)
{
	rdtsc();
}

static void do_rdpmc(const struct my_hw_perf_event *hw)
{
	u32 low, high;

	hw_fast_rdpmc(hw->event_base_rdpmc, &low, &high);
}

static void do_rdmsr_select(const struct my_hw_perf_event *hw)
{
	u32 low, high;

	hw_fast_rdmsr(hw->config_base, &low, &high);
}

static void do_wrmsr_select(const struct my_hw_perf_event *hw)
{
	hw_fast_wrmsr(hw->config_base, event_select, event_select >> 32);
}

static void do_rdmsr_global(const struct my_hw_perf_event *hw)
{
	u32 low, high;

	hw_fast_rdmsr(MSR_CORE_PERF_GLOBAL_CTRL, &low, &high);
}

static void do_wrmsr_global(const struct my_hw_perf_event *hw)
{
	hw_fast_wrmsr(MSR_CORE_PERF_GLOBAL_CTRL, global_ctrl, global_ctrl >> 32);
}

/**
 * struct cost - something that is done, and what it takes
 * @name: in the file
 * @act: does it
 * @version: of the PMU, from which on it can be done
 */
struct cost {
	const char *name;
	void (*act)(const struct my_hw_perf_event *hw);
	unsigned int version;
};

static const struct cost costs[] = {
	{ "nothing", do_nothing, 0 },
	{ "RDTSC", do_rdtsc, 0 },
	{ "RDPMC", do_rdpmc, 0 },
	{ "RDMSR of an event select", do_rdmsr_select, 0 },
	{ "WRMSR of an event select", do_wrmsr_select, 0 },
	{ "RDMSR of GLOBAL_CTRL", do_rdmsr_global, GLOBAL_VERSION },
	{ "WRMSR of GLOBAL_CTRL", do_wrmsr_global, GLOBAL_VERSION },
};

/**
 * struct stopwatch - what is timed
 * @cost: what
 * @hw: an event on a counter that nobody uses
 * @before: TSC cycles of the stopwatch itself
 * @ticks: TSC cycles of the last time, with those of the stopwatch
 */
struct stopwatch {
	const struct cost *cost;
	struct my_hw_perf_event hw;
	u64 before;
	u64 ticks;
};

/* The function of a cross-call.  What is written is what has just been read. */
static void time_on_cpu(void *stopwatch)
{
	struct stopwatch *watch = stopwatch;
	u64 t;

	hw_rdmsr(watch->hw.config_base, &event_select);
	if (self.pmu.version >= GLOBAL_VERSION)
		hw_rdmsr(MSR_CORE_PERF_GLOBAL_CTRL, &global_ctrl);
	t = rdtsc_ordered();
	watch->cost->act(&watch->hw);
	watch->ticks = rdtsc_ordered() - t;
}

static bool time_instruction(struct stopwatch *watch)
{
	return !smp_call_function_single(cpu, time_on_cpu, watch, 1);
}

static void do_nothing_there(void *unused)
{
}

/* From another CPU; scripts/report runs on one, if there is one. */
static bool time_cross_call(struct stopwatch *watch)
{
	bool elsewhere;
	int err;
	u64 t;

	preempt_disable();
	elsewhere = smp_processor_id() != cpu;
	t = rdtsc_ordered();
	err = smp_call_function_single(cpu, do_nothing_there, NULL, 1);
	watch->ticks = rdtsc_ordered() - t;
	preempt_enable();
	return elsewhere && !err;
}

static void time_often(struct seq_file *m, struct stopwatch *watch, const char *name,
		       bool (*time)(struct stopwatch *watch))
{
	unsigned int i;

	for (i = 0; i < COST_RUNS; i++) {
		if (signal_pending(current) || !time(watch))
			return;
		values[i] = watch->ticks - min(watch->ticks, watch->before);
		cond_resched();
	}
	sort(values, COST_RUNS, sizeof(*values), compare_values, NULL);
	seq_printf(m, "%s\t%llu\t%llu\t%llu\n", name, values[0], values[COST_RUNS / 2],
		   values[COST_RUNS - 1]);
}

static int costs_show(struct seq_file *m, void *unused)
{
	struct stopwatch watch = {};
	unsigned int i;

	if (refusal.text[0] || !(self.pmu.counters & MY_GENERIC_COUNTERS & ~in_use)) {
		seq_printf(m, "refused\t%s\n", refusal.text);
		return 0;
	}
	if (!symbol_get(my_perf_event_create)) {
		seq_puts(m, "refused\tmy_pmu is not loaded\n");
		return 0;
	}
	watch.hw.idx = __ffs64(self.pmu.counters & MY_GENERIC_COUNTERS & ~in_use);
	intel_encode(&self.pmu, &intel_probes[0].attr, &watch.hw);
	for (i = 0; i < ARRAY_SIZE(costs); i++) {
		if (self.pmu.version < costs[i].version)
			continue;
		watch.cost = &costs[i];
		time_often(m, &watch, costs[i].name, time_instruction);
		if (!i)
			watch.before = values[0];
	}
	time_often(m, &watch, "a cross-call", time_cross_call);
	symbol_put(my_perf_event_create);
	return 0;
}

/* --- the files ---------------------------------------------------------------------- */

static const struct report_file {
	const char *name;
	int (*show)(struct seq_file *m, void *unused);
} files[] = {
	{ "leaves", leaves_show },
	{ "registers", registers_show },
	{ "perf", perf_show },
	{ "selftest", selftest_show },
	{ "wraps", wraps_show },
	{ "costs", costs_show },
};

/* Each time: who uses a counter changes, as when the NMI watchdog ends. */
static void probe(void *unused)
{
	refusal.text[0] = '\0';
	if (!my_intel_pmu_probe(&self.pmu, &refusal) &&
	    intel_find_in_use(&self.pmu, self.pmu.counters, &in_use))
		my_refuse(&refusal, -EIO, "an event select faults");
}

static int show_file(struct seq_file *m, void *unused)
{
	const struct report_file *file = m->private;
	int err;

	mutex_lock(&one_reader);
	my_refuse(&refusal, -ENXIO, "CPU %d is offline", cpu);
	smp_call_function_single(cpu, probe, NULL, 1);
	err = file->show(m, unused);
	mutex_unlock(&one_reader);
	return err;
}

static int open_file(struct inode *inode, struct file *file)
{
	return single_open_size(file, show_file, inode->i_private, FILE_SIZE);
}

static const struct file_operations report_fops = {
	.owner = THIS_MODULE,
	.open = open_file,
	.read = seq_read,
	.llseek = seq_lseek,
	.release = single_release,
};

static int __init report_init(void)
{
	unsigned int i;

	if (cpu < 0 || cpu >= nr_cpu_ids || !cpu_online(cpu)) {
		pr_err("cpu=%d is not online\n", cpu);
		return -ENXIO;
	}
	if (!runs || runs > MAX_RUNS) {
		pr_err("runs=%u: give a number from 1 to %u\n", runs, MAX_RUNS);
		return -EINVAL;
	}
	values = kvcalloc(max_t(unsigned int, runs, COST_RUNS), sizeof(*values), GFP_KERNEL);
	if (!values)
		return -ENOMEM;
	self.cpu = cpu;
	dir = debugfs_create_dir("my_pmu_report", NULL);
	for (i = 0; i < ARRAY_SIZE(files); i++)
		debugfs_create_file(files[i].name, 0400, dir, (void *)&files[i], &report_fops);
	return 0;
}

static void __exit report_exit(void)
{
	debugfs_remove(dir);
	kvfree(values);
}

module_init(report_init);
module_exit(report_exit);

MODULE_DESCRIPTION("What scripts/report needs the kernel for");
MODULE_LICENSE("GPL");
