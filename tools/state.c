// SPDX-License-Identifier: GPL-2.0
/*
 * One my-pmu at a time, and what it has changed: the NMI watchdog's setting, and that the
 * module is loaded.  Both are noted in a file before they are changed, so that the next
 * my-pmu can put them back if this one is killed.
 *
 *	watchdog 1
 *	module cpu=3 counters=instructions,cycles interval=1000
 *	end
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "my-pmu.h"

#define STATE_DIR "/run/my-pmu"
#define STATE_FILE STATE_DIR "/state"

static int state = -1;
static char *watchdog_before;
static char *module_noted;

/* The whole text at once, and its old rest behind "end" afterwards: whenever we are killed,
 * one or the other is there.
 */
static void note(void)
{
	char *now = text("%s%s%s%s%s%send\n",
			 watchdog_before ? "watchdog " : "", watchdog_before ?: "",
			 watchdog_before ? "\n" : "",
			 module_noted ? "module " : "", module_noted ?: "",
			 module_noted ? "\n" : "");
	ssize_t len = strlen(now);

	if (pwrite(state, now, len, 0) != len || ftruncate(state, len))
		say("cannot write %s: %s", STATE_FILE, strerror(errno));
	free(now);
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
	note();
	is_off = write_watchdog("0");
	if (!is_off) {
		say("cannot write 0 to %s: %s", WATCHDOG_FILE, strerror(errno));
		return false;
	}
	say("the NMI watchdog is off until my-pmu ends (kernel.nmi_watchdog was %s)", value);
	return true;
}

/* A write of what is there already does nothing in the kernel: so 0 comes first. */
void watchdog_restore(void)
{
	if (!watchdog_before)
		return;
	if (write_watchdog("0") && write_watchdog(watchdog_before))
		say("the NMI watchdog is on again (kernel.nmi_watchdog=%s)", watchdog_before);
	else
		say("cannot set the NMI watchdog: sysctl kernel.nmi_watchdog=%s", watchdog_before);
	free(watchdog_before);
	watchdog_before = NULL;
	note();
}

/* The module is loaded with @parameters, or about to be; NULL: it is not any more. */
void state_module(const char *parameters)
{
	free(module_noted);
	module_noted = parameters ? text("%s", parameters) : NULL;
	note();
}

/* Of a my-pmu that was killed, or could not unload the module.  The module is unloaded only
 * if it is the one that was loaded then.
 */
static void put_back(void)
{
	char *parameters = module_parameters();

	if (parameters && module_noted && !strcmp(parameters, module_noted)) {
		if (!module_remove()) {
			say("an earlier my-pmu has left my_pmu loaded, and it is in use: end that, then type rmmod my_pmu");
			free(parameters);
			return;
		}
		say("an earlier my-pmu has left my_pmu loaded: it is unloaded now");
	}
	free(parameters);
	if (watchdog_before && module_loaded()) {
		say("the NMI watchdog stays off: somebody has loaded my_pmu");
		return;
	}
	watchdog_restore();
	state_module(NULL);
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
	}
}

/* Becomes the only my-pmu, and puts back what one that was killed has left. */
bool state_take(void)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	if (mkdir(STATE_DIR, 0700) && errno != EEXIST)
		goto failed;
	state = open(STATE_FILE, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (state < 0)
		goto failed;
	if (fcntl(state, F_SETLK, &lock))
		return false;
	read_state();
	if (module_noted || watchdog_before)
		put_back();
	return true;

failed:
	say("cannot write %s: %s", STATE_FILE, strerror(errno));
	return false;
}

/* Who is the only my-pmu, 0 if nobody or if it is us. */
pid_t state_holder(void)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	if (state < 0 || fcntl(state, F_GETLK, &lock) || lock.l_type == F_UNLCK)
		return 0;
	return lock.l_pid;
}
