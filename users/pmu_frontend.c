// SPDX-License-Identifier: GPL-2.0
/*
 * The PMU "my_pmu" of perf: perf stat -e my_pmu/event=0xc0/u, perf record likewise.
 *
 * perf's core opens, schedules, multiplexes and inherits its events as those of any other
 * PMU.  Here they get counters of pmu_pool.c, beside what the module counts for itself and for
 * other modules.
 *
 * The core stops the PMU, adds or deletes all events of a group, and starts it: so a group
 * counts the same instructions.  Up to Linux 6.1 it does so with perf's own PMU alone, and with
 * ours around each event: then ours is left to what starts perf's, see my_perf_to_start().
 *
 * What perf's own PMU calls at an overflow is not exported.  perf_tp_event() is, which records the
 * hit of a tracepoint in all events of a list: here in one.
 *
 * Each event keeps the module loaded; pmu_compat_perf.h has what is left of one after its end.
 */
#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/device.h>
#include <linux/err.h>
#include <linux/errno.h>
#include <linux/kprobes.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/preempt.h>
#include <linux/slab.h>
#include <linux/trace_events.h>

#include "pmu_compat_perf.h"
#include "pmu_frontend.h"
#include "pmu_hotplug.h"
#include "pmu_names.h"
#include "pmu_pmi.h"
#include "pmu_pool.h"
#include "pmu_set.h"
#include "pmu_why.h"

/* perf_tp_event() is there with it alone. */
#ifndef CONFIG_EVENT_TRACING
#error "my_pmu needs CONFIG_EVENT_TRACING=y: CONFIG_FTRACE=y, and any tracer of its menu"
#endif

/* What an event may say: format/ below. */
#define CONFIG1_BITS	GENMASK_ULL(MY_PMC_NR - 1, 0)

/* What stands behind an event of perf: what the pool counts, and for which. */
struct frontend_event {
	struct my_pool_event counted;
	struct perf_event *event;
};

static struct pmu frontend;
static struct my_perf_lasting *lasting;
static bool ready;	/* events may be opened */
static bool opened;	/* somebody has tried */
static int names_cpu;
static atomic64_t last_id;

/* --- what sysfs shows ----------------------------------------------------------------- */

/* Not if the CPU does not count it, or was never looked at. */
static umode_t if_counted(struct attribute *attribute, u64 config)
{
	const struct my_x86_pmu *pmu = &my_pmu_cpu_of(names_cpu)->pmu;
	struct my_perf_event_attr attr = {
		.config = config, .perf_type = PERF_TYPE_RAW, .perf_config = config,
		.constraint = MY_PMC_ANY,
	};
	struct my_pmu_why unused;

	if (!pmu->ops || my_names_lookup(NULL, pmu, names_cpu, &attr, &unused))
		return 0;
	return my_pool_counters(pmu, &attr) ? attribute->mode : 0;
}

/* Formats and events are the architecture's. */
#include "pmu_format.h"

static const struct attribute_group format_group = {
	.name = "format",
	.attrs = formats,
	.is_visible = format_is_visible,
};

static const struct attribute_group event_group = {
	.name = "events",
	.attrs = events,
	.is_visible = event_is_visible,
};

static const struct attribute_group *groups[] = { &format_group, &event_group, NULL };

/* --- samples --------------------------------------------------------------------------- */

/* A frequency begins with a period of 1. */
static u32 period_of(const struct perf_event *event)
{
	return clamp_t(u64, event->hw.sample_period, MY_PERIOD_LEAST_LEFT, MY_PERIOD_MAX);
}

/*
 * perf may have changed it since the event was last there; and if it is to begin anew, it has set
 * @period_left to 0; once: it is negative then, also after a sample.
 */
static void set_period(struct perf_event *event, struct my_pool_event *e)
{
	u32 period = period_of(event);

	if (!is_sampling_event(event))
		return;
	if (!local64_read(&event->hw.period_left)) {
		local64_set(&event->hw.period_left, -(s64)period);
		e->left = period;
		e->last = period;
	} else if (e->left > period) {
		/* What has been counted of it is in the next sample. */
		e->last -= e->left - period;
		e->left = period;
	}
	e->attr.period = period;
}

/*
 * In an NMI.
 *
 * perf_tp_event() adds its number of events to the count, which has them already, and to
 * @period_left: at 0 there is one sample, of @last_period.  So the number is 0; unless the sample
 * is to have the period in it, which is that number then, and is taken from the count before.  It
 * may change @sample_period, if perf adapts that to a frequency (kernel/events/core.c:
 * perf_swevent_event(), perf_swevent_set_period()).  It does nothing for an event without the
 * kernel if the NMI found the CPU there: the last instruction of the program was what enters it.
 */
static bool write_sample(struct my_pool_event *e, bool busy, struct pt_regs *regs)
{
	struct perf_event *event = container_of(e, struct frontend_event, counted)->event;
	struct hlist_head list = { .first = &event->hlist_entry };
	struct hw_perf_event *hw = &event->hw;
	struct {
		struct trace_entry entry;
		u32 unused;
	} record = {};
	int context;
	u64 nr;

	if (!busy)
		local64_add(my_pool_peek(e), &event->count);
	if (event->attr.exclude_kernel && !user_mode(regs))
		return false;
	context = perf_swevent_get_recursion_context();
	if (context < 0)
		return false;
	nr = event->attr.sample_type & PERF_SAMPLE_PERIOD && !event->attr.freq ? e->last : 0;
	local64_sub(nr, &event->count);
	hw->last_period = e->last;
	local64_set(&hw->period_left, -(s64)nr);
	perf_tp_event(0, nr, &record, sizeof(record), regs, &list, context, NULL);
	e->attr.period = period_of(event);
	return true;
}

NOKPROBE_SYMBOL(write_sample);

/* --- opening and closing --------------------------------------------------------------- */

static struct my_pool_event *counted(const struct perf_event *event)
{
	return &((struct frontend_event *)event->pmu_private)->counted;
}

static void event_destroy(struct perf_event *event)
{
	kfree(event->pmu_private);
}

static bool is_ours(const struct perf_event *event)
{
	return event->attr.type == frontend.type;
}

/* Which counters count it, on that CPU. */
static int find_event(int cpu, const struct perf_event_attr *attr, struct my_pool_event *e,
		      struct my_pmu_why *why)
{
	const struct my_x86_pmu *pmu = &my_pmu_cpu_of(cpu)->pmu;
	struct my_perf_event_attr other;
	struct my_pmu_why unused;
	int err;

	e->kind = my_pool_kind(cpu);
	e->attr = (struct my_perf_event_attr) {
		.name = "my_pmu/.../",
		.config = attr->config,
		.perf_type = PERF_TYPE_RAW,
		.perf_config = attr->config,
		.constraint = MY_PMC_ANY,
		.allowed = attr->config1,
		.exclude_user = attr->exclude_user,
		.exclude_kernel = attr->exclude_kernel,
		/* Not the one that it will have; but that it has one. */
		.period = attr->sample_period ? MY_PERIOD_MIN : 0,
	};
	err = my_names_lookup(my_hotplug_names(my_pmu_cpu_of(cpu)), pmu, cpu, &e->attr, why);
	if (err)
		return err;
	e->counters = pmu->ops ? my_pool_counters(pmu, &e->attr) : 0;
	/* An extra register may be an event set's. */
	if (e->attr.extra.msr)
		return my_refuse(why, -EOPNOTSUPP,
				 "it needs an extra register, which events of perf do not have here");
	if (!e->counters)
		return my_refuse(why, -EOPNOTSUPP, "CPU %d has no counter for it%s", cpu,
				 attr->config1 ? " among those of counter=" : "");
	other = e->attr;
	err = my_names_lookup(NULL, pmu, cpu, &other, &unused);
	e->anywhere = !err && !other.extra.msr;
	return 0;
}

/* On its CPU; or, if it may come to any, on the first that has it. */
static int find_event_on(int cpu, const struct perf_event_attr *attr, struct my_pool_event *e,
			 struct my_pmu_why *why)
{
	int err = -EOPNOTSUPP;

	if (cpu >= 0)
		return find_event(cpu, attr, e, why);
	for_each_online_cpu(cpu) {
		err = find_event(cpu, attr, e, why);
		if (!err)
			break;
	}
	return err;
}

static int accept_group(int cpu, const struct my_pool_event *const members[], unsigned int nr,
			struct my_pmu_why *why)
{
	int err = my_pools_accept(cpu, members, nr);

	if (err == -EBUSY)
		return my_refuse(why, err,
				 "no CPU in question has a counter to spare that passed its self-test");
	if (err)
		return my_refuse(why, err,
				 "a group of %u events does not fit on the counters that perf can have",
				 nr);
	return 0;
}

/* Its group with it. */
static int check_group(struct perf_event *event, struct my_pool_event *e, struct my_pmu_why *why)
{
	const struct my_pool_event *members[MY_PMC_NR] = { e };
	struct perf_event *leader = event->group_leader, *sibling;
	unsigned int nr = 1;

	if (leader == event)
		return accept_group(event->cpu, members, nr, why);
	if (is_ours(leader))
		members[nr++] = counted(leader);
	else if (!is_software_event(leader))
		return my_refuse(why, -EINVAL, "its group has hardware events of another PMU");
	for_each_sibling_event(sibling, leader) {
		if (!is_ours(sibling))
			continue;
		if (nr == MY_PMC_NR)
			return my_refuse(why, -EINVAL, "a group of more than %u events", nr);
		members[nr++] = counted(sibling);
	}
	return accept_group(event->cpu, members, nr, why);
}

/* Of a frequency perf adapts the period all the time. */
static int check_period(struct perf_event *event, u64 period)
{
	return event->attr.freq || (period >= MY_PERIOD_MIN && period <= MY_PERIOD_MAX) ?
	       0 : -EINVAL;
}

static int init_sampling(struct perf_event *event, struct my_pool_event *e,
			 struct my_pmu_why *why)
{
	int err = check_period(event, event->attr.sample_period);

	if (err)
		return my_refuse(why, err, "period %llu: give %u to %u",
				 (u64)event->attr.sample_period, MY_PERIOD_MIN, MY_PERIOD_MAX);
	/* That would be what a tracepoint says of its hit: the PID outside of a container, too. */
	if (event->attr.sample_type & PERF_SAMPLE_RAW)
		return my_refuse(why, -EOPNOTSUPP, "there are no raw data (-R)");
	e->sample = write_sample;
	set_period(event, e);
	return !event->parent && my_pools_take_pmis(why) ? -EOPNOTSUPP : 0;
}

static int begin_event(struct perf_event *event, struct my_pmu_why *why)
{
	const struct perf_event_attr *attr = &event->attr;
	struct frontend_event *f;
	struct my_pool_event *e;
	int err;

	if (has_branch_stack(event) || attr->precise_ip)
		return my_refuse(why, -EOPNOTSUPP,
				 "there are no branch stacks and no precise samples (:p)");
	if (attr->config & ~MY_FORMAT_BITS || attr->config1 & ~CONFIG1_BITS || attr->config2 ||
	    attr->exclude_host)
		return my_refuse(why, -EINVAL,
				 "it has more than the fields of format/, or excludes the host");
	if (!READ_ONCE(opened)) {
		err = my_hotplug_start_pools(my_perf_known(lasting));
		/* Somebody else may have done it meanwhile. */
		if (err && !READ_ONCE(opened))
			return my_refuse(why, err, "no CPU's counters can be tested now");
		WRITE_ONCE(opened, true);
	}
	f = kzalloc(sizeof(*f), GFP_KERNEL);
	if (!f)
		return -ENOMEM;
	f->event = event;
	e = &f->counted;
	err = 0;
	if (event->parent) {
		const struct my_pool_event *parent = counted(event->parent);

		e->attr = parent->attr;
		e->id = parent->id;
		e->kind = parent->kind;
		e->counters = parent->counters;
		e->anywhere = parent->anywhere;
	} else {
		e->id = atomic64_inc_return(&last_id);
		err = find_event_on(event->cpu, attr, e, why);
	}
	if (!err && is_sampling_event(event))
		err = init_sampling(event, e, why);
	if (!err && !event->parent)
		err = check_group(event, e, why);
	if (err) {
		kfree(f);
		return err;
	}
	event->pmu_private = f;
	event->destroy = event_destroy;
	event->pmu = my_perf_lasting_pmu(lasting, &frontend);
	return 0;
}

/* perf's users have the errno; why it is that is for whoever turns dynamic debug on. */
static int event_init(struct perf_event *event)
{
	struct my_pmu_why why;
	int err;

	if (!is_ours(event) || !smp_load_acquire(&ready))	/* see my_frontend_register() */
		return -ENOENT;
	why.text[0] = '\0';
	err = begin_event(event, &why);
	if (err)
		pr_debug("perf: config=%#llx counter=%#llx: error %d: %s\n",
			 event->attr.config, event->attr.config1, err, why.text);
	return err;
}

/* --- on a CPU, interrupts off ---------------------------------------------------------- */

/*
 * A task whose first event was ours may have events of another PMU, on Linux 6.1: its core then
 * calls these while there are no pools.
 */
static void pmu_stop(struct pmu *pmu)
{
	struct my_pool *pool = my_pool_here();

	if (pool)
		my_pool_stop(pool);
}

static void pmu_start(struct pmu *pmu)
{
	struct my_pool *pool = my_pool_here();

	if (pool)
		my_pool_start(pool, my_perf_to_start(lasting));
}

/* What is read in a transaction is of one instant. */
static void start_txn(struct pmu *pmu, unsigned int flags)
{
	pmu_stop(pmu);
}

static void cancel_txn(struct pmu *pmu)
{
	pmu_start(pmu);
}

static int commit_txn(struct pmu *pmu)
{
	pmu_start(pmu);
	return 0;
}

/* Whoever has mapped it reads its count there. */
static void update_page(struct perf_event *event)
{
	if (READ_ONCE(event->rb))
		perf_event_update_userpage(event);
}

static int event_add(struct perf_event *event, int flags)
{
	int err;

	event->hw.state = flags & PERF_EF_START ? 0 : PERF_HES_STOPPED | PERF_HES_UPTODATE;
	set_period(event, counted(event));
	err = my_pool_add(my_pool_here(), counted(event), flags & PERF_EF_START);
	update_page(event);
	return err;
}

static void event_read(struct perf_event *event)
{
	struct my_pool_event *e = counted(event);

	local64_add(in_nmi() ? my_pool_peek(e) : my_pool_read(e), &event->count);
}

static void event_del(struct perf_event *event, int flags)
{
	struct my_pool_event *e = counted(event);

	local64_add(my_pool_del(e), &event->count);
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	update_page(event);
}

static void event_start(struct perf_event *event, int flags)
{
	event->hw.state = 0;
	set_period(event, counted(event));
	/* If a register faults it does not count; perf's core cannot be told. */
	my_pool_resume(counted(event));
	update_page(event);
}

static void event_stop(struct perf_event *event, int flags)
{
	my_pool_pause(counted(event));
	event_read(event);
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
}

/* --- registered ------------------------------------------------------------------------- */

static struct pmu frontend = {
	.module = THIS_MODULE,
	.task_ctx_nr = perf_hw_context,
	.capabilities = MY_PERF_CAP_SECOND_PMU | MY_PERF_CAP_GUESTS,
	.attr_groups = groups,
	.event_init = event_init,
	.pmu_enable = pmu_start,
	.pmu_disable = pmu_stop,
	.add = event_add,
	.del = event_del,
	.start = event_start,
	.stop = event_stop,
	.read = event_read,
	.check_period = check_period,
	.start_txn = start_txn,
	.commit_txn = commit_txn,
	.cancel_txn = cancel_txn,
};

/**
 * my_frontend_register() - the PMU "my_pmu" is there for perf
 * @cpu: a CPU that is counted on: its events are those that sysfs shows
 * @why: if refused, the reason
 *
 * No register is touched before the first of its events is opened.
 *
 * Context: task; sleeps.  Between my_hotplug_start() and my_hotplug_stop().
 * Return: 0, or what perf_pmu_register() says; -ENODEV before Linux 6.2 if perf has no PMU, or
 * CPUs are of several kinds; -ENOMEM.
 */
int my_frontend_register(int cpu, struct my_pmu_why *why)
{
	int err;

	names_cpu = cpu;
	err = perf_pmu_register(&frontend, "my_pmu", -1);
	if (err)
		return my_refuse(why, err, "perf does not take the PMU my_pmu (error %d)", err);
	lasting = my_perf_make_lasting(&frontend, cpu, my_pmu_cpu_of(cpu)->pmu.counters);
	if (IS_ERR(lasting)) {
		err = PTR_ERR(lasting);
		perf_pmu_unregister(&frontend);
		return my_refuse(why, err,
				 "the PMU my_pmu is left out (error %d); before Linux 6.2 perf must have a PMU, one for all CPUs",
				 err);
	}
	smp_store_release(&ready, true);	/* pairs with event_init() */
	return 0;
}

/**
 * my_frontend_unregister() - and is no more
 *
 * No event of it is open: each has kept the module.
 *
 * Context: task; sleeps.  After my_hotplug_stop(), too.
 */
void my_frontend_unregister(void)
{
	my_perf_leave_lasting(lasting, opened);
	my_perf_stop_rotating(&frontend);
	perf_pmu_unregister(&frontend);
}

/**
 * my_frontend_accepts() - whether an event of a task could be counted
 * @attr: the event, of this PMU
 * @why: if not, the reason
 *
 * Context: task.
 * Return: 0 if any CPU counts it; -EOPNOTSUPP, -EINVAL.
 */
int my_frontend_accepts(const struct perf_event_attr *attr, struct my_pmu_why *why)
{
	struct my_pool_event e;

	return find_event_on(-1, attr, &e, why);
}

/**
 * my_frontend_type() - by which perf_event_open() knows the PMU
 * @cpu: a CPU that is counted on: what names mean there is known
 *
 * Context: any.
 * Return: the type; -1 if there is no such PMU.
 */
int my_frontend_type(int *cpu)
{
	*cpu = names_cpu;
	return smp_load_acquire(&ready) ? frontend.type : -1;	/* see event_init() */
}
