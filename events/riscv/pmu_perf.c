// SPDX-License-Identifier: GPL-2.0
/*
 * On RISC-V perf is not asked what events are: SBI has numbers for those that have names.  The
 * firmware of the CPU is asked which counters count one, as perf asks it
 * (drivers/perf/riscv_pmu_sbi.c).
 */
#include <linux/err.h>
#include <linux/errno.h>
#include <linux/perf_event.h>
#include <linux/smp.h>

#include "pmu_config.h"
#include "pmu_perf.h"
#include "pmu_sbi.h"
#include "pmu_set.h"

static u64 config_of(u32 type, u64 config)
{
	switch (type) {
	case PERF_TYPE_HARDWARE:
		return MY_SBI_HARDWARE(config);
	case PERF_TYPE_HW_CACHE:
		return my_cache_config(config);
	default:
		return config;
	}
}

struct question {
	u64 config;
	u64 counters;
	int err;
};

static void ask_on_cpu(void *info)
{
	const struct my_pmu_cpu *cpu = this_cpu_ptr(&my_pmu_cpus);
	struct question *question = info;

	question->counters = my_sbi_find_counters(&cpu->pmu, &cpu->state, question->config);
	question->err = question->counters ? 0 : -ENOENT;
}

/* The functions are those of pmu_perf.c, which describes them. */

int my_perf_find_counters(int cpu, u32 type, u64 config, u64 *counters)
{
	struct question question = { .config = config_of(type, config), .err = -EIO };

	if (smp_call_function_single(cpu, ask_on_cpu, &question, 1))
		return -ENODEV;
	*counters = question.counters;
	return question.err;
}

int my_perf_ask(int cpu, u32 type, u64 config, u64 config1, struct my_perf_answer *answer)
{
	answer->config = config_of(type, config);
	return my_perf_find_counters(cpu, type, config, &answer->counters);
}

int my_perf_show(int cpu, const char *name, char *page)
{
	return -ENOENT;
}

/* Nothing of perf's is to be kept; and the firmware knows the model. */
void *my_perf_hold(int cpu, bool *knows_model)
{
	if (knows_model)
		*knows_model = true;
	return ERR_PTR(-ENOENT);
}

/* perf and the module count side by side. */
void *my_perf_exclude(int cpu)
{
	return ERR_PTR(-ENOENT);
}

bool my_perf_excludes(void *guard)
{
	return false;
}

void my_perf_let_go(void *held)
{
}
