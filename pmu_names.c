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
#include <linux/kernel.h>
#include <linux/perf_event.h>

#include "pmu_encode.h"
#include "pmu_event.h"
#include "pmu_hw.h"
#include "pmu_names.h"
#include "pmu_why.h"

/*
 * Umask and event select of what needs an extra register on one CPU or another: offcore
 * responses, load latencies, the frontend's.  The kernel knows on which
 * (arch/x86/events/intel/core.c), and is asked.
 */
static const u16 extra_events[] = {
	0x0127, 0x0227, 0x012a, 0x012b, 0x01b7, 0x02b7, 0x01bb, 0x01c6, 0x02c6, 0x03c6,
	0x04c2, 0x40ad, 0x01cd, 0x05d0, 0x100b,
};

static_assert(ARRAY_SIZE(extra_events) == MY_EXTRA_EVENTS);

static int refuse_extra(const struct my_perf_event_attr *attr,
			struct my_pmu_why *why)
{
	return my_refuse(why, -EOPNOTSUPP,
			 "'%s': it needs an extra register, which is not programmed here",
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

/*
 * Whoever wrote the event's number means it, whatever perf says; what it would do
 * besides could not be done here.
 */
static bool is_encoded(const struct my_perf_event_attr *attr)
{
	return attr->perf_type == PERF_TYPE_RAW;
}

/* Has the architecture an encoding of what perf does not know? */
static int without_perf(int cpu, int err, const struct my_perf_event_attr *attr,
			struct my_pmu_why *why)
{
	if (err == -ENOMEM)
		return my_refuse(why, err, "'%s': no memory to ask perf for it",
				 attr->name);
	if (is_encoded(attr) || attr->event || attr->umask)
		return 0;
	return my_refuse(why, -EOPNOTSUPP,
			 "'%s': CPU %d does not have this event, as perf says (error %d), nor does the architecture define it",
			 attr->name, cpu, err);
}

/**
 * my_names_begin() - before events are resolved or listed
 * @cpu: a CPU
 *
 * perf makes its buffers, of all CPUs, for the first of its events and frees them
 * after the last: so one is kept.
 *
 * Context: task; sleeps.
 * Return: what my_names_end() wants.
 */
void *my_names_begin(int cpu)
{
	return hw_hold_perf(cpu);
}

/**
 * my_names_end() - when they are
 * @held: what my_names_begin() returned
 *
 * Context: task; sleeps.
 */
void my_names_end(void *held)
{
	hw_let_perf_go(held);
}

/**
 * my_names_resolve() - the encoding of an event, as perf has it on this CPU
 * @cpu: the CPU; if it is offline perf does not answer
 * @attr: the event, as it was parsed; one with a name gets its encoding
 * @why: if refused, the reason
 *
 * Context: task; sleeps.  After my_names_begin(), and before my_pmu_reserve():
 * later perf has no PMU, and does not answer.
 * Return: 0; -EOPNOTSUPP for an event that the CPU does not have, or that cannot
 * be programmed here; -ENOMEM.
 */
int my_names_resolve(int cpu, struct my_perf_event_attr *attr,
		     struct my_pmu_why *why)
{
	struct hw_perf_answer answer = {};
	int err;

	err = hw_ask_perf(cpu, attr->perf_type, attr->perf_config, &answer);
	/* The register is needed, but perf has seen that it does not work. */
	if (err == -ENXIO || (!err && answer.extra))
		return refuse_extra(attr, why);
	if (err)
		return without_perf(cpu, err, attr, why);
	err = check_bits(attr, answer.config, why);
	if (err || is_encoded(attr))
		return err;
	my_decode_config(answer.config, attr);
	attr->confirmed = true;
	return 0;
}

static int list_extra(int cpu, struct my_names *names, struct my_pmu_why *why)
{
	struct hw_perf_answer answer;
	unsigned int n;
	int err;

	for (n = 0; n < MY_EXTRA_EVENTS; n++) {
		answer = (struct hw_perf_answer) {};
		err = hw_ask_perf(cpu, PERF_TYPE_RAW, extra_events[n], &answer);
		if (err == -ENOMEM)
			return my_refuse(why, err,
					 "'r%x': no memory to ask perf for it",
					 extra_events[n]);
		names->extra[n] = err == -ENXIO || (!err && answer.extra);
	}
	return 0;
}

/**
 * my_names_list() - the encodings of all events that have names
 * @cpu: the CPU
 * @names: filled in
 * @why: if that fails, the reason
 *
 * Context: as my_names_resolve().
 * Return: 0 or -ENOMEM.
 */
int my_names_list(int cpu, struct my_names *names, struct my_pmu_why *why)
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
		err = my_names_resolve(cpu, &attr, why);
		if (err == -ENOMEM)
			return err;
		names->refused[n] = err;
		names->confirmed[n] = attr.confirmed;
		names->config[n] = my_event_config(&attr);
	}
	return 0;
}

/* Of the events that perf has names for. */
static bool is_same(const struct my_perf_event_attr *a,
		    const struct my_perf_event_attr *b)
{
	return a->perf_type == b->perf_type && a->perf_config == b->perf_config;
}

/* Of a CPU of which nothing is known it may be so. */
static bool may_need_extra(const struct my_names *names,
			   const struct my_perf_event_attr *attr)
{
	unsigned int n;

	for (n = 0; n < MY_EXTRA_EVENTS; n++) {
		if (extra_events[n] == (attr->umask << 8 | attr->event))
			return !names || names->extra[n];
	}
	return false;
}

static int look_up_raw(const struct my_names *names,
		       const struct my_perf_event_attr *attr,
		       struct my_pmu_why *why)
{
	if (may_need_extra(names, attr))
		return refuse_extra(attr, why);
	return check_bits(attr, attr->perf_config, why);
}

static int take_known(const struct my_names *names, unsigned int n, int cpu,
		      struct my_perf_event_attr *attr, struct my_pmu_why *why)
{
	if (names->refused[n])
		return my_refuse(why, -EOPNOTSUPP,
				 "'%s': CPU %d does not have this event, or it needs what is not programmed here",
				 attr->name, cpu);
	my_decode_config(names->config[n], attr);
	attr->confirmed = names->confirmed[n];
	return 0;
}

/**
 * my_names_lookup() - my_names_resolve(), when perf cannot be asked any more
 * @names: what my_names_list() has found for such a CPU; or NULL
 * @cpu: the CPU, for the reason
 * @attr: the event, as it was parsed; one with a name gets its encoding
 * @why: if refused, the reason
 *
 * Whether a raw event needs an extra register is known of those that do so on some
 * CPU of today.
 *
 * Context: any; pure.
 * Return: 0; -EOPNOTSUPP for an event that the CPU does not have, or that cannot
 * be programmed here.
 */
int my_names_lookup(const struct my_names *names, int cpu,
		    struct my_perf_event_attr *attr, struct my_pmu_why *why)
{
	struct my_perf_event_attr known;
	unsigned int n;

	if (is_encoded(attr))
		return look_up_raw(names, attr, why);
	for (n = 0; names && n < MY_KNOWN_EVENTS; n++) {
		if (my_known_event(n, &known) && is_same(&known, attr))
			return take_known(names, n, cpu, attr, why);
	}
	if (attr->event || attr->umask)
		return 0;	/* the architecture's */
	return my_refuse(why, -EOPNOTSUPP,
			 "'%s': the architecture does not define it, and perf, which may know it, was not asked for a CPU like CPU %d when my_pmu was loaded",
			 attr->name, cpu);
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
	my_decode_config(names->config[n], attr);
	attr->confirmed = names->confirmed[n];
	return true;
}
