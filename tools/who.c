// SPDX-License-Identifier: GPL-2.0
/* Who has the PMU, as far as user space can see it. */
#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "my-pmu.h"

/* What an open file of a process looks like that has to do with the PMU. */
static const struct sign {
	const char *link;
	const char *what;
	const char *cure;
} signs[] = {
	{ "anon_inode:[perf_event]", "perf events open", "end it: kill %d" },
	{ "anon_inode:kvm-vm", "a guest of KVM, which may have a virtual PMU",
	  "give the guest no PMU (QEMU: -cpu ...,pmu=off), or end it: %d" },
};

/* How many of them the process has. */
static unsigned int count_files(const char *pid, const struct sign *sign)
{
	char *path = text("/proc/%s/fd", pid), link[64];
	DIR *dir = opendir(path);
	unsigned int count = 0;
	struct dirent *entry;
	ssize_t len;

	free(path);
	if (!dir)
		return 0;
	while ((entry = readdir(dir))) {
		len = readlinkat(dirfd(dir), entry->d_name, link, sizeof(link) - 1);
		if (len < 0)
			continue;
		link[len] = 0;
		count += !strcmp(link, sign->link);
	}
	closedir(dir);
	return count;
}

static void tell_process(const char *pid, const struct sign *sign, unsigned int files, tell_fn tell)
{
	char *path = text("/proc/%s/comm", pid), *name, *what, *cure;

	name = printable(read_text(path));
	what = text("process %s (%s) has %s%s", pid, name ?: "?", sign->what,
		    files > 1 ? ", more than one" : "");
	cure = text(sign->cure, atoi(pid));
	tell(what, cure);
	free(path);
	free(name);
	free(what);
	free(cure);
}

/* Calls @tell for each; returns how many there are. */
unsigned int tell_users(tell_fn tell)
{
	char *watchdog = read_text(WATCHDOG_FILE);
	unsigned int count = 0, files;
	struct dirent *entry;
	DIR *proc;
	size_t i;

	if (watchdog && strcmp(watchdog, "0")) {
		tell("the NMI watchdog has a counter of each CPU",
		     "my-pmu switches it off while it counts; or: sysctl kernel.nmi_watchdog=0");
		count++;
	}
	free(watchdog);
	proc = opendir("/proc");
	while (proc && (entry = readdir(proc))) {
		if (!isdigit(entry->d_name[0]))
			continue;
		for (i = 0; i < ARRAY_SIZE(signs); i++) {
			files = count_files(entry->d_name, &signs[i]);
			if (!files)
				continue;
			tell_process(entry->d_name, &signs[i], files, tell);
			count++;
		}
	}
	if (proc)
		closedir(proc);
	return count;
}
