// SPDX-License-Identifier: GPL-2.0
/*
 * perf is asked by its in-kernel events: one that is created, never started and
 * released again shows the event select that perf found for it.  Copies of it that are
 * started show the counters that perf has for it on this model.
 */
#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/device.h>
#include <linux/err.h>
#include <linux/gfp.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "pmu_perf.h"

/* Of an event: it is never started; it is; and no other is beside it. */
enum how { ASLEEP, STARTED, ALONE };

/*
 * Unless the event is started no counter's register is touched.  With exclude_guest,
 * because KVM may refuse others (mediated vPMU); but one that is to be alone is against
 * KVM's guests, too.  Raw events are of this CPU's PMU: on
 * hybrids PERF_TYPE_RAW is that of the P-cores.
 */
static struct perf_event *open_event(int cpu, u32 type, u64 config, u64 config1,
				     enum how how)
{
	struct perf_event_attr attr = {
		.type = type,
		.size = sizeof(attr),
		.config = config,
		.config1 = config1,
		.disabled = how == ASLEEP,
		.pinned = how != ASLEEP,
		.exclusive = how == ALONE,
		.exclude_guest = how != ALONE,
	};
	struct perf_event *event, *cycles;

	event = perf_event_create_kernel_counter(&attr, cpu, NULL, NULL, NULL);
	if (event != ERR_PTR(-ENOENT) || type != PERF_TYPE_RAW)
		return event;
	cycles = open_event(cpu, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 0,
			    ASLEEP);
	if (IS_ERR(cycles))
		return event;
	attr.type = cycles->pmu->type;
	perf_event_release_kernel(cycles);
	return perf_event_create_kernel_counter(&attr, cpu, NULL, NULL, NULL);
}

/**
 * my_perf_ask() - how would perf count this event?
 * @cpu: on this CPU
 * @type: perf's type
 * @config: perf's config
 * @config1: perf's config1: what the register that the event needs, too, is to hold
 * @answer: filled in
 *
 * Context: task; sleeps.
 * Return: 0; -ENOENT or -EINVAL if the CPU does not have it, or its register not all bits of
 * @config1; -ENXIO if it needs a
 * register that does not work; -ENODEV if the CPU is offline; -EBUSY if the PMU is
 * reserved by another user.
 */
int my_perf_ask(int cpu, u32 type, u64 config, u64 config1, struct my_perf_answer *answer)
{
	struct perf_event *event = open_event(cpu, type, config, config1, ASLEEP);

	if (IS_ERR(event))
		return PTR_ERR(event);
	answer->config = event->hw.config;
	answer->extra_msr = event->hw.extra_reg.reg;
	answer->extra_config = event->hw.extra_reg.config;
	perf_event_release_kernel(event);
	return 0;
}

/* More than any CPU has counters. */
#define COPIES		64

/**
 * my_perf_find_counters() - where would perf count this event?
 * @cpu: on this CPU
 * @type: perf's type
 * @config: perf's config
 * @counters: filled in, by id; 0 if perf finds none
 *
 * perf knows the model's counter constraints.  It is given pinned copies of the event
 * until one of them finds no counter and goes into the error state; the others then have
 * all the counters that the event can have.  So they count, for as long as it takes,
 * and perf writes event selects, counters and IA32_PERF_GLOBAL_CTRL of the CPU.  If
 * somebody else has an event there, some counters are missing in the answer.
 *
 * Context: task; sleeps; some ten cross-calls to @cpu.
 * Return: 0, or as my_perf_ask().
 */
int my_perf_find_counters(int cpu, u32 type, u64 config, u64 *counters)
{
	struct perf_event *copy[COPIES];
	unsigned int n, i;
	int err = 0;

	*counters = 0;
	for (n = 0; n < COPIES;) {
		copy[n] = open_event(cpu, type, config, 0, STARTED);
		if (IS_ERR(copy[n])) {
			err = PTR_ERR(copy[n]);
			break;
		}
		if (READ_ONCE(copy[n++]->state) != PERF_EVENT_STATE_ACTIVE)
			break;
	}
	/* perf may have moved those that were there before. */
	for (i = 0; i < n; i++) {
		if (READ_ONCE(copy[i]->state) == PERF_EVENT_STATE_ACTIVE)
			*counters |= BIT_ULL(READ_ONCE(copy[i]->hw.idx));
	}
	while (n-- > 0)
		perf_event_release_kernel(copy[n]);
	return err;
}

/* The attribute of this name in a folder of perf's PMU; no name is there twice. */
static struct device_attribute *find_file(const struct attribute_group **groups,
					  struct device *dev, const char *folder,
					  const char *name)
{
	const struct attribute_group *group;
	int i;

	for (; groups && *groups; groups++) {
		group = *groups;
		if (!group->name || strcmp(group->name, folder))
			continue;
		for (i = 0; group->attrs && group->attrs[i]; i++) {
			if (!strcmp(group->attrs[i]->name, name) &&
			    (!group->is_visible ||
			     0777 & group->is_visible(&dev->kobj,
						      group->attrs[i], i)))
				return container_of(group->attrs[i],
						    struct device_attribute,
						    attr);
		}
	}
	return NULL;
}

/* What such a file says, in a page; or an error. */
static int show_file(struct pmu *pmu, const char *folder, const char *name, char *page)
{
	struct device_attribute *attr = NULL;

	if (pmu->dev)
		attr = find_file(pmu->attr_groups, pmu->dev, folder, name) ?:
		       find_file(pmu->attr_update, pmu->dev, folder, name);
	return attr && attr->show && attr->show(pmu->dev, attr, page) > 0 ? 0 : -ENOENT;
}

/**
 * my_perf_show() - what /sys/bus/event_source/devices/cpu/events/ says of a name
 * @cpu: for the PMU of this CPU
 * @name: the file
 * @page: filled in, a page
 *
 * Context: task; sleeps.
 * Return: 0; -ENOENT if there is no such file, or as my_perf_ask().
 */
int my_perf_show(int cpu, const char *name, char *page)
{
	struct perf_event *event = open_event(cpu, PERF_TYPE_HARDWARE,
					      PERF_COUNT_HW_CPU_CYCLES, 0, ASLEEP);
	int err;

	if (IS_ERR(event))
		return PTR_ERR(event);
	err = show_file(event->pmu, "events", name, page);
	perf_event_release_kernel(event);
	return err;
}

/**
 * my_perf_hold() - keep perf's buffers while it is asked again and again
 * @cpu: a CPU
 * @knows_model: filled in, unless it is NULL: perf knows the CPU's model; not so if the
 *	model is newer than the kernel, or that cannot be told
 *
 * perf allocates its buffers, for all CPUs, for the first of its events and frees them
 * after the last.
 *
 * Context: task; sleeps.
 * Return: for my_perf_let_go(); ERR_PTR if perf has no event: -EBUSY if the PMU is
 * reserved by another user, -ENOENT if perf knows none; -ENOMEM.
 */
void *my_perf_hold(int cpu, bool *knows_model)
{
	struct perf_event *event = open_event(cpu, PERF_TYPE_HARDWARE,
					      PERF_COUNT_HW_CPU_CYCLES, 0, ASLEEP);
	char *page;

	if (!knows_model)
		return event;
	*knows_model = false;
	if (IS_ERR(event))
		return event;
	page = (char *)get_zeroed_page(GFP_KERNEL);
	if (!page) {
		perf_event_release_kernel(event);
		return ERR_PTR(-ENOMEM);
	}
	if (!show_file(event->pmu, "caps", "pmu_name", page))
		*knows_model = !str_has_prefix(page, "generic");
	free_page((unsigned long)page);
	return event;
}

/*
 * What KVM opens for a guest with LBRs: an event that takes no counter, on all models
 * (arch/x86/events/intel/core.c: INTEL_FIXED_VLBR_EVENT).
 */
#define EVENT_WITHOUT_COUNTER	0x1b00

/**
 * my_perf_exclude() - keep perf's events off the counters of a CPU
 * @cpu: the CPU
 *
 * An exclusive event of perf's, and pinned: as long as it is on, no other one that needs
 * a counter is scheduled on this CPU, of whatever task; such events are opened and do not
 * count, and pinned ones of tasks are in the error state from then on.  When it is opened,
 * and whenever perf tries, perf writes IA32_PERF_GLOBAL_CTRL.
 *
 * perf's oldest pinned event comes first: one that was there, and was not on, can put
 * this one off for good, see my_perf_excludes().
 *
 * Context: task, or a hotplug callback; sleeps.
 * Return: for my_perf_let_go(); ERR_PTR: -EBUSY if another pinned event is on, as that
 * of the NMI watchdog; or as perf refuses it.
 */
void *my_perf_exclude(int cpu)
{
	struct perf_event *event = open_event(cpu, PERF_TYPE_RAW, EVENT_WITHOUT_COUNTER,
					      0, ALONE);

	if (IS_ERR(event) || my_perf_excludes(event))
		return event;
	perf_event_release_kernel(event);
	return ERR_PTR(-EBUSY);
}

/**
 * my_perf_excludes() - are perf's events still kept off?
 * @guard: what my_perf_exclude() returned
 *
 * It is off for moments in which perf schedules events anew, and in the error state once
 * there was another one before it.
 *
 * Context: any.
 * Return: false if they are not.
 */
bool my_perf_excludes(void *guard)
{
	struct perf_event *event = guard;

	return READ_ONCE(event->state) >= PERF_EVENT_STATE_INACTIVE;
}

/**
 * my_perf_let_go() - the end of my_perf_hold(), or my_perf_exclude()
 * @held: what that returned
 *
 * Context: task; sleeps.
 */
void my_perf_let_go(void *held)
{
	if (!IS_ERR(held))
		perf_event_release_kernel(held);
}
