// SPDX-License-Identifier: GPL-2.0
/*
 * One my-pmu at a time, and what it has changed: the NMI watchdog's setting, and that the
 * module is loaded.  Both are noted in a file before they are changed, so that the next
 * my-pmu can put them back if this one is killed.
 *
 *	watchdog 1
 *	module cpu=3 counters=instructions,cycles interval=1000
 *	inode 4711
 *	end
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "my-pmu.h"

static int state = -1;
static char *watchdog_before;
static char *module_noted;
/* Of its folder in /sys: another load, by somebody else, has another one.  0 if not known. */
static ino_t inode_noted;

/* The whole text at once, and its old rest behind "end" afterwards: whenever we are killed,
 * one or the other is there.
 */
static bool note(void)
{
	char *watchdog = watchdog_before ? text("watchdog %s\n", watchdog_before) : text("%s", "");
	char *module = module_noted ? text("module %s\ninode %ju\n", module_noted,
					   (uintmax_t)inode_noted) : text("%s", "");
	char *now = text("%s%send\n", watchdog, module);
	ssize_t len = strlen(now);
	bool noted = pwrite(state, now, len, 0) == len && !ftruncate(state, len);

	if (!noted)
		say("cannot write %s: %s", STATE_FILE, strerror(errno));
	free(watchdog);
	free(module);
	free(now);
	return noted;
}

static bool write_watchdog(const char *value)
{
	int fd = open(WATCHDOG_FILE, O_WRONLY | O_CLOEXEC);
	ssize_t len = strlen(value);
	bool written = fd >= 0 && write(fd, value, len) == len;

	if (fd >= 0)
		close(fd);
	return written;
}

/* Stops the NMI watchdog, which has a counter, until watchdog_restore(). */
bool watchdog_off(void)
{
	char *value = read_text(WATCHDOG_FILE);
	bool is_off = !value || !strcmp(value, "0");

	if (is_off) {
		free(value);
		return true;
	}
	watchdog_before = value;
	if (note() && write_watchdog("0")) {
		say("the NMI watchdog is off until my-pmu ends (kernel.nmi_watchdog was %s)",
		    value);
		return true;
	}
	say("cannot switch the NMI watchdog off by %s: %s", WATCHDOG_FILE, strerror(errno));
	free(value);
	watchdog_before = NULL;
	note();
	return false;
}

/* A write of what is there already does nothing in the kernel: so 0 comes first. */
void watchdog_restore(void)
{
	if (!watchdog_before)
		return;
	if (!write_watchdog("0") || !write_watchdog(watchdog_before)) {
		/* It stays noted: the next my-pmu tries it again. */
		say("cannot set the NMI watchdog: sysctl kernel.nmi_watchdog=%s", watchdog_before);
		return;
	}
	say("the NMI watchdog is on again (kernel.nmi_watchdog=%s)", watchdog_before);
	free(watchdog_before);
	watchdog_before = NULL;
	note();
}

/**
 * state_module() - note that the module is loaded
 * @parameters: those that it is loaded with, or is about to be; NULL: it is not any more
 * @inode: of its folder, if it is loaded already
 *
 * Return: false if that cannot be noted, which was said.
 */
bool state_module(const char *parameters, ino_t inode)
{
	free(module_noted);
	module_noted = parameters ? text("%s", parameters) : NULL;
	inode_noted = inode;
	return note();
}

static bool is_noted(const char *parameters)
{
	return parameters && module_noted && !strcmp(parameters, module_noted) &&
	       (!inode_noted || inode_noted == module_inode());
}

/* Of a my-pmu that was killed, or could not unload the module.  The module is unloaded only
 * if it is the one that was loaded then.
 */
static void put_back(void)
{
	char *parameters = module_parameters();

	if (is_noted(parameters)) {
		if (!module_remove()) {
			say("an earlier my-pmu has left my_pmu loaded, and it is in use: end that, then type rmmod my_pmu");
			free(parameters);
			return;
		}
		say("an earlier my-pmu has left my_pmu loaded: it is unloaded now");
	}
	free(parameters);
	state_module(NULL, 0);
	if (watchdog_before && module_loaded()) {
		say("the NMI watchdog stays off: somebody has loaded my_pmu");
		return;
	}
	watchdog_restore();
}

static void read_state(void)
{
	/* Not by another file descriptor: to close it would give the lock back. */
	char all[8192], *rest = all, *line;
	ssize_t len = pread(state, all, sizeof(all) - 1, 0);

	all[len > 0 ? len : 0] = 0;
	while (rest && (line = strsep(&rest, "\n")) && strcmp(line, "end")) {
		if (!strncmp(line, "watchdog ", 9))
			watchdog_before = text("%s", line + 9);
		if (!strncmp(line, "module ", 7))
			module_noted = text("%s", line + 7);
		if (!strncmp(line, "inode ", 6))
			inode_noted = strtoull(line + 6, NULL, 10);
	}
}

/**
 * state_take() - become the only my-pmu, and put back what one that was killed has left
 * @holder: who is the only one already, or 0
 *
 * Return: false if we are not; if @holder is 0 then, errno says why.
 */
bool state_take(pid_t *holder)
{
	struct flock lock;

	*holder = 0;
	if (mkdir(STATE_DIR, 0700) && errno != EEXIST)
		return false;
	state = open(STATE_FILE, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (state < 0)
		return false;
	for (;;) {
		lock = (struct flock){ .l_type = F_WRLCK, .l_whence = SEEK_SET };
		if (!fcntl(state, F_SETLK, &lock))
			break;
		if ((errno != EAGAIN && errno != EACCES) || fcntl(state, F_GETLK, &lock))
			return false;
		/* Otherwise it has ended between the two. */
		if (lock.l_type != F_UNLCK) {
			*holder = lock.l_pid ?: -1;
			return false;
		}
	}
	read_state();
	if (module_noted || watchdog_before)
		put_back();
	return true;
}

/* Whoever does not count leaves the place to one who does. */
void state_release(void)
{
	struct flock lock = { .l_type = F_UNLCK, .l_whence = SEEK_SET };

	fcntl(state, F_SETLK, &lock);
}
