// SPDX-License-Identifier: GPL-2.0
/*
 * my_pmu: count events of CPUs with their PMUs, and print how they grow.
 *
 * This file is the module's parameters, and the order in which it is loaded and
 * unloaded.
 */
#include <linux/debugfs.h>
#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/string.h>

#include "pmu_debugfs.h"
#include "pmu_device.h"
#include "pmu_frontend.h"
#include "pmu_hotplug.h"
#include "pmu_parse.h"
#include "pmu_pmi.h"
#include "pmu_sampler.h"
#include "pmu_session.h"
#include "pmu_why.h"

/* CPUs to count on, as the kernel writes CPU lists, or "all"; default 0. */
static char *param_cpu = "0";
module_param_named(cpu, param_cpu, charp, 0444);
MODULE_PARM_DESC(cpu, "CPUs to count on, e.g. 3 or 0-3,8 or all (default 0)");

/* Events, comma-separated; "default", see pmu_session.c; "none", for other modules and perf. */
static char *param_counters = "default";
module_param_named(counters, param_counters, charp, 0444);
MODULE_PARM_DESC(counters, "events, e.g. instructions:u,r01c2@gp0; none: only for other modules and perf (default: instructions and cycles, each on a fixed and on a generic counter where both are free)");

/* Milliseconds between samples; default 5000. */
static char *param_interval = "5000";
module_param_named(interval, param_interval, charp, 0444);
MODULE_PARM_DESC(interval, "milliseconds between samples (default 5000)");

/* Whether counters are stopped while they are read; default auto. */
static char *param_freeze = "auto";
module_param_named(freeze, param_freeze, charp, 0444);
MODULE_PARM_DESC(freeze, "1: all counters of a CPU are stopped while they are read, and show the same instant; 0: read while running, no MSR is written; auto is 1 where counters can be stopped at once (default auto)");

/* Whether samples are printed; /dev/my_pmu has them in any case.  Default 1. */
static char *param_log = "1";
module_param_named(log, param_log, charp, 0444);
MODULE_PARM_DESC(log, "1: print the samples; 0: only /dev/my_pmu and debugfs have them (default 1)");

/* In which order an interrupt of a counter is handled; default auto, which is v3. */
static char *param_pmi = "auto";
module_param_named(pmi, param_pmi, charp, 0444);
MODULE_PARM_DESC(pmi, "how interrupts of events with a period are handled: v3, all counters are stopped by a write; v4, the CPU freezes them at the overflow; auto is v3 (default auto)");

/* Whether perf has a PMU of the name my_pmu; default 1. */
static char *param_perf = "1";
module_param_named(perf, param_perf, charp, 0444);
MODULE_PARM_DESC(perf, "1: perf can count with the PMU my_pmu, as in perf stat -e my_pmu/event=0xc0/u; 0: it has no such PMU (default 1)");

static struct my_session *session;
static struct dentry *files;
static bool perf;
static bool has_device;

static int __init parse_settings(struct my_session *s)
{
	const char *parameter = "interval";
	struct my_pmu_why why;
	int err;

	err = my_session_parse_cpus(s, param_cpu);
	if (err) {
		pr_err("%s\n", s->why.text);
		return err;
	}
	err = my_parse_interval(param_interval, &s->interval_ms, &why);
	if (!err) {
		parameter = "freeze";
		s->freeze = !strcmp(param_freeze, "auto");
		if (!s->freeze)
			err = my_parse_switch(param_freeze, &s->freeze, &why);
		s->must_freeze = !strcmp(param_freeze, "1");
	}
	if (!err) {
		parameter = "log";
		err = my_parse_switch(param_log, &s->log, &why);
	}
	if (!err) {
		parameter = "perf";
		err = my_parse_switch(param_perf, &perf, &why);
	}
	if (err)
		pr_err("%s: %s\n", parameter, why.text);
	my_pmi_freeze = !strcmp(param_pmi, "v4");
	if (err || my_pmi_freeze || !strcmp(param_pmi, "v3") || !strcmp(param_pmi, "auto"))
		return err;
	pr_err("pmi: '%*pE'; v3, v4 or auto is needed\n",
	       (int)min(strlen(param_pmi), 40UL), param_pmi);
	return -EINVAL;
}

static int __init my_pmu_init(void)
{
	struct my_pmu_why why;
	int err = -ENOMEM;

	session = my_session_new();
	if (!session)
		return err;
	err = parse_settings(session);
	if (err)
		goto err_free_session;
	err = my_hotplug_start(session, param_counters);
	if (err)
		goto err_free_session;
	err = my_sampler_init(session);
	if (err)
		goto err_stop;
	err = my_sampler_start();
	if (err)
		goto err_free_sampler;
	/* Last: whoever has a file open would keep a module that failed to load. */
	files = my_debugfs_create(session);
	if (perf && my_frontend_register(session->names_cpu, &why)) {
		pr_warn("perf: %s; counting goes on without it\n", why.text);
		perf = false;
	}
	err = misc_register(&my_device);
	has_device = !err;
	if (err)
		pr_warn("/dev/my_pmu cannot be made (error %d); counting goes on without it\n",
			err);
	return 0;

err_free_sampler:
	my_sampler_free();
err_stop:
	my_hotplug_stop();
err_free_session:
	my_session_free(session);
	return err;
}

static void __exit my_pmu_exit(void)
{
	if (has_device)
		misc_deregister(&my_device);
	debugfs_remove(files);
	my_sampler_stop();
	my_hotplug_stop();
	if (perf)
		my_frontend_unregister();
	my_sampler_free();
	my_session_free(session);
}

module_init(my_pmu_init);
module_exit(my_pmu_exit);

MODULE_AUTHOR("Seed 650e4ba3 maintainers <maintainers@users.noreply.a-seed-650e4ba3.example>");
MODULE_DESCRIPTION("Count PMU events on CPUs and print how they grow");
MODULE_LICENSE("GPL");
MODULE_VERSION(MY_PMU_VERSION);
