// SPDX-License-Identifier: GPL-2.0
/*
 * The module, as the rest of my-pmu sees it: begin, change, open the rows, end.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <libkmod.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "my-pmu.h"

#define SYSFS "/sys/module/my_pmu"
#define DEVICE "/dev/my_pmu"

/* Why the last load was refused. */
static char *why;
static bool loaded_by_us;

bool module_loaded(void)
{
	return !access(SYSFS "/parameters/cpu", F_OK);
}

/* It is another one after each load. */
ino_t module_inode(void)
{
	struct stat status;

	return stat(SYSFS, &status) ? 0 : status.st_ino;
}

static char *parameters_of(const struct setup *setup)
{
	return text("cpu=%s counters=%s interval=%s", setup->cpus, setup->events, setup->interval);
}

static void read_setup(struct setup *setup)
{
	setup->cpus = read_text(SYSFS "/parameters/cpu") ?: text("?");
	setup->events = read_text(SYSFS "/parameters/counters") ?: text("?");
	setup->interval = read_text(SYSFS "/parameters/interval") ?: text("?");
}

/* Those that the module was loaded with, or NULL. */
char *module_parameters(void)
{
	struct setup setup;
	char *parameters;

	if (!module_loaded())
		return NULL;
	read_setup(&setup);
	parameters = parameters_of(&setup);
	free(setup.cpus);
	free(setup.events);
	free(setup.interval);
	return parameters;
}

static void set_why(char *sentence)
{
	free(why);
	why = sentence;
}

const char *module_why(void)
{
	return why ?: "";
}

/* --- the kernel log */

/* Opened before a load: what is read from it afterwards is about the load. */
static int open_log(void)
{
	int log = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (log >= 0)
		lseek(log, 0, SEEK_END);
	return log;
}

/* The last line of the module itself, or what the kernel says of the module; or NULL. */
static char *read_log(int log)
{
	char record[8192], *found = NULL, *line;
	ssize_t len;

	while ((len = read(log, record, sizeof(record) - 1)) > 0 || (len < 0 && errno == EPIPE)) {
		if (len <= 0)
			continue;
		record[len] = 0;
		line = strchr(record, ';');
		if (!line || strncmp(line, ";my_pmu: ", 9))
			continue;
		line += 9;
		line[strcspn(line, "\n")] = 0;
		if (strstr(line, "taints kernel") || strstr(line, "tainting kernel"))
			continue;
		free(found);
		found = text("%s", line);
	}
	return found;
}

/* --- load and unload */

/* The module's file, which the caller frees, or NULL; and where it was looked for. */
char *module_find(const char *path, char **looked)
{
	struct kmod_module *mod = NULL;
	struct kmod_ctx *kmod;
	char *found = NULL;
	struct utsname name;

	if (path) {
		*looked = text("%s", path);
		return access(path, R_OK) ? NULL : text("%s", path);
	}
	uname(&name);
	*looked = text("/lib/modules/%s", name.release);
	kmod = need(kmod_new(NULL, NULL));
	if (!kmod_module_new_from_name(kmod, "my_pmu", &mod)) {
		path = kmod_module_get_path(mod);
		found = path ? text("%s", path) : NULL;
		kmod_module_unref(mod);
	}
	kmod_unref(kmod);
	return found;
}

/* What modinfo prints for @key, which the caller frees; NULL if the module does not have it. */
char *module_info(const char *path, const char *key)
{
	struct kmod_ctx *kmod = need(kmod_new(NULL, NULL));
	struct kmod_list *list = NULL, *entry;
	struct kmod_module *mod = NULL;
	char *value = NULL;

	kmod_set_log_priority(kmod, 0);
	if (!kmod_module_new_from_path(kmod, path, &mod) &&
	    kmod_module_get_info(mod, &list) >= 0) {
		kmod_list_foreach(entry, list) {
			if (!value && !strcmp(kmod_module_info_get_key(entry), key))
				value = text("%s", kmod_module_info_get_value(entry));
		}
		kmod_module_info_free_list(list);
	}
	if (mod)
		kmod_module_unref(mod);
	kmod_unref(kmod);
	return value;
}

bool module_is_ours(const char *path)
{
	char *name = module_info(path, "name");
	bool ours = name && !strcmp(name, "my_pmu");

	free(name);
	return ours;
}

/* With what modprobe.d says of it, too: ours come behind that.  0 or -errno. */
static int insert(const char *path, const char *parameters)
{
	struct kmod_module *mod = NULL;
	struct kmod_ctx *kmod;
	int err, log = open_log();

	kmod = need(kmod_new(NULL, NULL));
	kmod_set_log_priority(kmod, 0);
	err = kmod_module_new_from_path(kmod, path, &mod);
	if (!err)
		err = kmod_module_probe_insert_module(mod, KMOD_PROBE_FAIL_ON_LOADED, parameters,
						      NULL, NULL, NULL);
	if (mod)
		kmod_module_unref(mod);
	kmod_unref(kmod);
	if (err)
		set_why(read_log(log) ?: text("%s", strerror(-err)));
	close(log);
	return err;
}

/* False if somebody uses it. */
bool module_remove(void)
{
	struct kmod_module *mod = NULL;
	struct kmod_ctx *kmod = need(kmod_new(NULL, NULL));
	int err;

	kmod_set_log_priority(kmod, 0);
	err = kmod_module_new_from_name(kmod, "my_pmu", &mod);
	if (!err)
		err = kmod_module_remove_module(mod, KMOD_REMOVE_NOWAIT);
	if (mod)
		kmod_module_unref(mod);
	kmod_unref(kmod);
	if (err && err != -ENOENT)
		errno = -err;
	return !err || err == -ENOENT;
}

/* 0; -errno if it is refused; 1 if it could not be noted, which was said. */
static int load(const struct setup *setup)
{
	char *noted = parameters_of(setup), *all = text("%s log=0", noted);
	int err = 1;

	if (state_module(noted, 0))
		err = insert(setup->path, all);
	if (err)
		state_module(NULL, 0);
	else
		state_module(noted, module_inode());
	free(noted);
	free(all);
	return err;
}

static void tell_user(const char *what, const char *cure)
{
	say("  %s; %s", what, cure);
}

static void tell_refusal(int err)
{
	say("my_pmu refuses: %s", module_why());
	if (err == -EBUSY && !tell_users(tell_user))
		say("  no process has perf events open, and the NMI watchdog is off: my-pmu doctor looks further");
	if (err == -EKEYREJECTED || err == -EPERM)
		say("  Secure Boot or lockdown wants a signed module: see docs/using.md, Secure Boot");
	if (err == -ENOEXEC)
		say("  it was built for another kernel: build it for this one, with make");
}

/* What somebody else has loaded is read as it is. */
static bool use_loaded(struct setup *setup)
{
	struct setup is;

	read_setup(&is);
	if ((setup->cpus && strcmp(setup->cpus, is.cpus)) ||
	    (setup->events && strcmp(setup->events, is.events)) ||
	    (setup->interval && strcmp(setup->interval, is.interval))) {
		say("my_pmu is loaded already (-C %s -e %s -I %s), not by my-pmu: rmmod my_pmu, or leave these options out",
		    is.cpus, is.events, is.interval);
		return false;
	}
	if (!strcmp(is.events, "none")) {
		say("my_pmu is loaded already, and counts nothing (counters=none): rmmod my_pmu");
		return false;
	}
	/* What was written to the device since is not in /sys. */
	say("my_pmu is loaded already (-C %s -e %s -I %s): it stays as it is; if it was told to count something else since, that is counted",
	    is.cpus, is.events, is.interval);
	is.path = setup->path;
	*setup = is;
	return true;
}

/**
 * module_begin() - have the module count
 * @setup: what; what is not given is filled in
 *
 * Return: false if it does not count, and that was said.  module_end() ends it.
 */
bool module_begin(struct setup *setup)
{
	char *looked, *path;
	int err;

	if (module_loaded())
		return use_loaded(setup);
	path = module_find(setup->path, &looked);
	if (!path) {
		say("there is no module my_pmu in %s: install it ('modprobe my_pmu' must find it; docs/using.md has how), or say --module PATH of a my_pmu.ko",
		    looked);
		free(looked);
		return false;
	}
	free(looked);
	if (!module_is_ours(path)) {
		say("%s is no my_pmu.ko", path);
		free(path);
		return false;
	}
	setup->path = path;
	set_default(&setup->cpus, "all");
	set_default(&setup->events, "instructions,cycles");
	set_default(&setup->interval, setup->usual_interval ?: "1000");
	if (!watchdog_off())
		return false;
	err = load(setup);
	if (err) {
		if (err < 0)
			tell_refusal(err);
		watchdog_restore();
		return false;
	}
	loaded_by_us = true;
	say("my_pmu is loaded until my-pmu ends (-C %s -e %s -I %s)",
	    setup->cpus, setup->events, setup->interval);
	return true;
}

/* Of rows that whoever was refused reads: the remark, without its "# "; or what @err says. */
static char *read_remark(int fd, int err)
{
	char rows[65536], *remark = NULL;
	ssize_t len = read(fd, rows, sizeof(rows) - 1);

	if (len > 0) {
		rows[len] = 0;
		remark = strstr(rows, "\n# ");
	}
	if (!remark)
		return text("%s", strerror(err));
	remark += 3;
	remark[strcspn(remark, "\n")] = 0;
	return text("%s", remark);
}

/**
 * module_change() - count something else; the rows go on
 * @setup: what is counted; becomes @wanted, with its texts, if that is accepted
 * @wanted: what shall be; a text that is NULL is as before
 *
 * Return: false if it is refused: module_why() says why, and nothing has changed.
 */
bool module_change(struct setup *setup, const struct setup *wanted)
{
	struct setup next = {
		.cpus = wanted->cpus ?: setup->cpus,
		.events = wanted->events ?: setup->events,
		.interval = wanted->interval ?: setup->interval,
		.path = setup->path,
	};
	char *request;
	ssize_t len;
	int fd;

	if (!loaded_by_us) {
		set_why(text("my-pmu has not loaded my_pmu, and does not change it"));
		return false;
	}
	fd = open(DEVICE, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0) {
		set_why(text("%s: %s", DEVICE, strerror(errno)));
		return false;
	}
	request = parameters_of(&next);
	len = write(fd, request, strlen(request));
	if (len < 0)
		set_why(read_remark(fd, errno));
	else
		*setup = next;
	free(request);
	close(fd);
	return len >= 0;
}

/* The rows from now on, or -1 if there are none. */
int module_open_rows(void)
{
	int fd = open(DEVICE, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		say("cannot read %s: %s", DEVICE, strerror(errno));
	return fd;
}

/* Puts back what module_begin() has changed; the rows are closed. */
void module_end(void)
{
	if (!loaded_by_us)
		return;
	if (!module_remove()) {
		say("my_pmu stays loaded, and the NMI watchdog as it is: somebody else uses my_pmu (%s); the next my-pmu unloads it",
		    strerror(errno));
		return;
	}
	state_module(NULL, 0);
	loaded_by_us = false;
	say("my_pmu is unloaded again");
	watchdog_restore();
}
