// SPDX-License-Identifier: GPL-2.0
/*
 * What names mean on a CPU.
 *
 * perf has tables for each model, and they grow with each kernel; here are none.
 * An event of perf's that is made and never started shows its event select, so
 * the running kernel is asked, before its PMU is taken from it.  Where it does
 * not answer, there are the encodings that the architecture defines.
 */
#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/gfp.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/perf_event.h>

#include "pmu_encode.h"
#include "pmu_extra.h"
#include "pmu_names.h"
#include "pmu_ops.h"
#include "pmu_perf.h"
#include "pmu_why.h"

static_assert(ARRAY_SIZE(extra_events) == MY_EXTRA_EVENTS);

/* The event that does as well; 0 if there is none. */
static u16 find_twin(u64 config)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(twins); i++) {
		if ((config & MY_CONFIG_CODE) == twins[i][0])
			return twins[i][1];
		if ((config & MY_CONFIG_CODE) == twins[i][1])
			return twins[i][0];
	}
	return 0;
}

/*
 * Why an event is refused is kept for those who ask later: -ENXIO for an extra
 * register, -ENOENT for what the CPU does not have, or else -EOPNOTSUPP.  To
 * everybody else it is -EOPNOTSUPP.
 */
static int to_all(int err)
{
	return err == -ENXIO || err == -ENOENT ? -EOPNOTSUPP : err;
}

static int refuse_extra(const struct my_perf_event_attr *attr,
			struct my_pmu_why *why)
{
	return my_refuse(why, -ENXIO,
			 "'%s': it needs an extra register, which is not programmed here",
			 attr->name);
}

/* It is needed, and perf has seen that it does not work; or it is PERF_METRICS. */
static bool lacks_extra(int err, u64 config)
{
	return err == -ENXIO || (err == -EINVAL && is_metric(config));
}

/* A value for a register that the event does not need, which perf does not look at. */
static int refuse_value(const struct my_perf_event_attr *attr, struct my_pmu_why *why)
{
	return my_refuse(why, -EOPNOTSUPP,
			 "'%s': the event needs no extra register, so that config1=%#llx means nothing",
			 attr->name, (unsigned long long)attr->extra.config);
}

static int refuse_memory(const struct my_perf_event_attr *attr,
			 struct my_pmu_why *why)
{
	return my_refuse(why, -ENOMEM, "'%s': no memory to ask perf for it",
			 attr->name);
}

/* perf drops what the CPU does not have, and keeps the rest. */
static int check_bits(const struct my_perf_event_attr *attr, u64 config,
		      struct my_pmu_why *why)
{
	u64 others = config & MY_CONFIG_OTHERS;

	if (!others)
		return 0;
	return my_refuse(why, -EOPNOTSUPP,
			 "'%s': it needs bits %#llx of the event select, which are not programmed here",
			 attr->name, (unsigned long long)others);
}

/* Has the architecture an encoding of what perf does not know? */
static int without_perf(int cpu, int err, const struct my_perf_event_attr *attr,
			struct my_pmu_why *why)
{
	if (err == -ENOMEM)
		return refuse_memory(attr, why);
	if (attr->extra.config)
		return my_refuse(why, -EOPNOTSUPP,
				 "'%s': perf, which knows the register that config1=%#llx is for, and its bits, does not take it for CPU %d (error %d)",
				 attr->name, (unsigned long long)attr->extra.config, cpu, err);
	if (!MY_EVENTS_ALL_KNOWN &&
	    (attr->perf_type == PERF_TYPE_RAW || attr->config & MY_CONFIG_CODE))
		return 0;
	if (err == -ENOENT || err == -EINVAL)
		return my_refuse(why, -ENOENT,
				 "'%s': CPU %d does not have this event, as %s says (error %d), nor does the architecture define it",
				 attr->name, cpu, MY_EVENTS_ASKED, err);
	return my_refuse(why, -EOPNOTSUPP,
			 "'%s': the architecture does not define it, and perf, which may know it, does not answer for CPU %d (error %d)",
			 attr->name, cpu, err);
}

/* sysfs writes to pages, and to nothing else. */
static int read_sysfs(int cpu, const struct my_perf_event_attr *attr, u64 *config,
		      struct my_pmu_why *why)
{
	char *page = (char *)get_zeroed_page(GFP_KERNEL);
	char whole[MY_EVENT_NAME_LEN + 16];
	int err;

	if (!page)
		return refuse_memory(attr, why);
	snprintf(whole, sizeof(whole), "%s, in sysfs", attr->name);
	err = my_perf_show(cpu, my_sysfs_name(attr), page);
	if (err)
		err = without_perf(cpu, err, attr, why);
	else
		err = my_encode_sysfs(page, whole, config, why);
	free_page((unsigned long)page);
	return err;
}

/*
 * Asks perf for an event, and refuses what cannot be done here.  Returns 0, too, if
 * perf does not answer and need not: answer->config is 0 then.
 */
static int ask(const struct my_x86_pmu *pmu, int cpu, u32 type, u64 config, u64 config1,
	       const struct my_perf_event_attr *attr, struct my_perf_answer *answer,
	       struct my_pmu_why *why)
{
	int err;

	*answer = (struct my_perf_answer) {};
	err = my_perf_ask(cpu, type, config, config1, answer);
	if (pmu->ops)
		answer->config &= ~pmu->ops->host_guest_bits;
	if (lacks_extra(err, config))
		return refuse_extra(attr, why);
	if (!err && config1 && !answer->extra_msr)
		return refuse_value(attr, why);
	if (!err)
		return check_bits(attr, answer->config, why);
	answer->config = 0;
	return without_perf(cpu, err, attr, why);
}

/* perf says which register the event needs, and whether another event does as well. */
static int set_extra(int cpu, const struct my_perf_answer *answer,
		     struct my_perf_event_attr *attr, struct my_pmu_why *why)
{
	struct my_perf_answer twin = {};
	u64 config = find_twin(attr->config);
	int err;

	attr->extra = (struct my_extra_reg) {
		.config = answer->extra_config,
		.msr = min(answer->extra_msr, MY_MSR_REFUSED),
	};
	if (!config)
		return 0;
	err = my_perf_ask(cpu, PERF_TYPE_RAW, config, attr->extra.config, &twin);
	if (err == -ENOMEM)
		return refuse_memory(attr, why);
	if (err)
		return 0;
	attr->extra.other_msr = min(twin.extra_msr, MY_MSR_REFUSED);
	attr->extra.other_code = config;
	return 0;
}

/*
 * With @count perf counts the event, to say where; what is written beside a name makes
 * another event of it.  Where it counts those that need an extra register is not asked:
 * it would leave its value there.
 */
static int resolve(const struct my_x86_pmu *pmu, int cpu, bool count,
		   struct my_perf_event_attr *attr, struct my_pmu_why *why)
{
	struct my_perf_answer answer;
	u64 config = attr->perf_config;
	u32 type = attr->perf_type;
	int err;

	my_set_code(pmu->ops, attr);
	if (type == MY_TYPE_SYSFS) {
		err = read_sysfs(cpu, attr, &config, why);
		if (err)
			return err;
		type = PERF_TYPE_RAW;
	}
	err = ask(pmu, cpu, type, config, attr->added ? 0 : attr->extra.config, attr, &answer, why);
	if (err)
		return err;
	/* Whoever wrote the event's number means it, whatever perf says. */
	attr->confirmed = answer.config && attr->perf_type != PERF_TYPE_RAW;
	my_add_config((attr->confirmed ? answer.config : attr->config) | attr->added, attr);
	if (attr->added || attr->config != (answer.config & MY_CONFIG_EVENT)) {
		type = PERF_TYPE_RAW;
		config = attr->config | attr->added;
	}
	if (attr->added)
		err = ask(pmu, cpu, type, config, attr->extra.config, attr, &answer, why);
	if (!err && answer.extra_msr)
		return set_extra(cpu, &answer, attr, why);
	attr->counters = answer.counters;
	/* An event that perf does not know it would take for another one. */
	if (err || answer.counters || !count || (attr->config ^ answer.config) & MY_CONFIG_NEW)
		return err;
	err = my_perf_find_counters(cpu, type, config, &attr->counters);
	if (err)
		attr->counters = 0;
	return err == -ENOMEM ? refuse_memory(attr, why) : 0;
}

/**
 * my_names_resolve() - the encoding of an event, as perf has it on this CPU
 * @pmu: that of the CPU
 * @cpu: the CPU; if it is offline perf does not answer
 * @count: perf may count there, to say which counters count it: @attr->counters
 * @attr: the event, as it was parsed; one with a name gets its encoding
 * @why: if refused, the reason
 *
 * Context: task; sleeps.  After my_perf_hold(), and before my_pmu_reserve():
 * later perf has no PMU, and does not answer.
 * Return: 0; -EOPNOTSUPP for an event that the CPU does not have, or that cannot
 * be programmed here; -ENOMEM.
 */
int my_names_resolve(const struct my_x86_pmu *pmu, int cpu, bool count,
		     struct my_perf_event_attr *attr, struct my_pmu_why *why)
{
	return to_all(resolve(pmu, cpu, count, attr, why));
}

static int list_extra(int cpu, struct my_names *names, struct my_pmu_why *why)
{
	struct my_perf_answer answer;
	unsigned int n;
	int err;

	for (n = 0; n < MY_EXTRA_EVENTS; n++) {
		answer = (struct my_perf_answer) {};
		err = my_perf_ask(cpu, PERF_TYPE_RAW, extra_events[n], 0, &answer);
		if (err == -ENOMEM)
			return my_refuse(why, err,
					 "'r%x': no memory to ask perf for it",
					 extra_events[n]);
		names->raw_msr[n] = lacks_extra(err, extra_events[n]) ? MY_MSR_REFUSED :
				    min(answer.extra_msr, MY_MSR_REFUSED);
	}
	return 0;
}

/**
 * my_names_list() - the encodings of all events that have names
 * @pmu: that of the CPU
 * @cpu: the CPU
 * @count: perf may count there
 * @names: filled in
 * @why: if that fails, the reason
 *
 * Context: as my_names_resolve().
 * Return: 0 or -ENOMEM.
 */
int my_names_list(const struct my_x86_pmu *pmu, int cpu, bool count, struct my_names *names,
		  struct my_pmu_why *why)
{
	struct my_perf_event_attr attr;
	unsigned int n;
	int err;

	*names = (struct my_names) {};
	err = list_extra(cpu, names, why);
	if (err)
		return err;
	for (n = 0; n < MY_KNOWN_EVENTS; n++) {
		if (!my_known_event(n, &attr))
			continue;
		err = resolve(pmu, cpu, count, &attr, why);
		if (err == -ENOMEM)
			return err;
		names->refused[n] = err;
		names->confirmed[n] = attr.confirmed;
		names->counters[n] = attr.counters;
		names->config[n] = attr.config;
		names->extra[n] = attr.extra;
	}
	return 0;
}

/* Of the events that perf has names for. */
static bool is_same(const struct my_perf_event_attr *a,
		    const struct my_perf_event_attr *b)
{
	return a->perf_type == b->perf_type && a->perf_config == b->perf_config;
}

/* The register that a raw event needs; without @names that is unknown, and it may. */
static u16 look_up_msr(const struct my_names *names, u64 config)
{
	unsigned int n;

	for (n = 0; n < MY_EXTRA_EVENTS; n++) {
		if (extra_events[n] == (u16)config)
			return names ? names->raw_msr[n] : MY_MSR_REFUSED;
	}
	return 0;
}

/* Which bits a register takes is not known: a write of others faults. */
static int look_up_number(const struct my_names *names, u64 config,
			  struct my_perf_event_attr *attr, struct my_pmu_why *why)
{
	u16 twin = find_twin(attr->config);

	attr->extra.msr = look_up_msr(names, attr->config);
	if (attr->extra.msr == MY_MSR_REFUSED)
		return refuse_extra(attr, why);
	if (!attr->extra.msr && attr->extra.config)
		return refuse_value(attr, why);
	if (attr->extra.msr && twin && look_up_msr(names, twin) != MY_MSR_REFUSED) {
		attr->extra.other_msr = look_up_msr(names, twin);
		attr->extra.other_code = twin;
	}
	return check_bits(attr, config, why);
}

/* As resolve(). */
static int look_up_beside(const struct my_names *names, u64 config,
			  struct my_perf_event_attr *attr, struct my_pmu_why *why)
{
	bool value = attr->extra.config && !attr->extra.msr;

	my_add_config(config | attr->added, attr);
	return attr->added || value ? look_up_number(names, attr->added, attr, why) : 0;
}

static int take_known(const struct my_names *names, unsigned int n, int cpu,
		      struct my_perf_event_attr *attr, struct my_pmu_why *why)
{
	if (names->refused[n] == -ENXIO)
		return refuse_extra(attr, why);
	if (names->refused[n] == -ENOENT)
		return my_refuse(why, -ENOENT,
				 "'%s': CPU %d does not have this event, nor does the architecture define it",
				 attr->name, cpu);
	if (names->refused[n])
		return my_refuse(why, -EOPNOTSUPP,
				 "'%s': it needs what is not programmed here",
				 attr->name);
	attr->confirmed = names->confirmed[n];
	if (!attr->added)
		attr->counters = names->counters[n];
	if (!attr->added && !attr->extra.config)
		attr->extra = names->extra[n];
	return look_up_beside(names, names->config[n], attr, why);
}

static int look_up(const struct my_names *names, const struct my_x86_pmu *pmu, int cpu,
		   struct my_perf_event_attr *attr, struct my_pmu_why *why)
{
	struct my_perf_event_attr known;
	unsigned int n;

	my_set_code(pmu->ops, attr);
	if (attr->perf_type == PERF_TYPE_RAW)
		return look_up_number(names, attr->perf_config, attr, why);
	for (n = 0; names && n < MY_KNOWN_EVENTS; n++) {
		if (my_known_event(n, &known) && is_same(&known, attr))
			return take_known(names, n, cpu, attr, why);
	}
	if (attr->config & MY_CONFIG_CODE)	/* the architecture's */
		return look_up_beside(names, attr->config, attr, why);
	return my_refuse(why, -EOPNOTSUPP,
			 "'%s': the architecture does not define it, and perf, which may know it, was not asked for a CPU like CPU %d when my_pmu was loaded",
			 attr->name, cpu);
}

/**
 * my_names_lookup() - my_names_resolve(), when perf cannot be asked any more
 * @names: what my_names_list() has found for such a CPU; or NULL
 * @pmu: that of the CPU
 * @cpu: the CPU, for the reason
 * @attr: the event, as it was parsed; one with a name gets its encoding
 * @why: if refused, the reason
 *
 * Whether a raw event needs an extra register is known of those that do so on some
 * CPU of today.  The firmware of RISC-V can be asked at any time.
 *
 * Context: task, interrupts on.
 * Return: 0; -EOPNOTSUPP for an event that the CPU does not have, or that cannot
 * be programmed here.
 */
int my_names_lookup(const struct my_names *names, const struct my_x86_pmu *pmu, int cpu,
		    struct my_perf_event_attr *attr, struct my_pmu_why *why)
{
	int err = look_up(names, pmu, cpu, attr, why);

	if (!MY_EVENTS_ALL_KNOWN || err || attr->counters)
		return to_all(err);
	err = my_perf_find_counters(cpu, PERF_TYPE_RAW, attr->config, &attr->counters);
	return err == -ENOENT ? to_all(without_perf(cpu, err, attr, why)) : 0;
}

/**
 * my_names_event() - one of the events that my_names_list() has asked for
 * @names: what perf has said
 * @n: which, from 0 to MY_KNOWN_EVENTS - 1
 * @attr: filled in
 *
 * The CPU's PMU has the last word: it knows which events of the architecture are
 * absent.
 *
 * Context: any; pure.
 * Return: false if there is none at this place that can be programmed.
 */
bool my_names_event(const struct my_names *names, unsigned int n,
		    struct my_perf_event_attr *attr)
{
	if (!my_known_event(n, attr) || names->refused[n])
		return false;
	my_add_config(names->config[n], attr);
	attr->confirmed = names->confirmed[n];
	attr->counters = names->counters[n];
	attr->extra = names->extra[n];
	return true;
}
