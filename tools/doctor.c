// SPDX-License-Identifier: GPL-2.0
/* my-pmu doctor: can it run here, who has the PMU, and what to type next. */
#define _GNU_SOURCE
#include <cpuid.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "my-pmu.h"

#define EFI_SECURE_BOOT \
	"/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"

static const struct argp_option doctor_options[] = {
	{ "module", KEY_MODULE, "PATH", 0, "the my_pmu.ko to look at [the installed one]", 0 },
	{ 0 }
};

static char *module_option;
/* What to type first of all. */
static char *first_cure;
/* Another my-pmu, which counts. */
static pid_t holder;

static error_t parse(int key, char *arg, struct argp_state *state)
{
	switch (key) {
	case ARGP_KEY_INIT:
		state->err_stream = fopen("/dev/null", "we") ?: stderr;
		return 0;
	case KEY_MODULE:
		module_option = arg;
		return 0;
	case ARGP_KEY_ARG:
		bad_usage("'%s' is no option", arg);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* --- what is found */

static void found(const char *mark, const char *what, const char *cure)
{
	printf("%-5s %s\n", mark, what);
	if (cure)
		printf("        %s\n", cure);
}

static void good(char *what)
{
	found("ok", what, NULL);
	free(what);
}

static void note(const char *what, const char *cure)
{
	found("note", what, cure);
}

/* As long as it is so, my-pmu cannot count. */
static void wrong(char *what, const char *cure)
{
	found("WRONG", what, cure);
	if (!first_cure)
		first_cure = text("%s", cure);
	free(what);
}

/* --- what is looked at */

static void check_root(void)
{
	if (geteuid())
		wrong(text("you are not root: who has the PMU is not seen, and nothing can count"),
		      "sudo my-pmu doctor");
	else
		good(text("root"));
}

static void check_kernel(void)
{
	unsigned int major = 0, minor = 0;
	struct utsname name;
	char *path;

	uname(&name);
	if (sscanf(name.release, "%u.%u", &major, &minor) == 2 &&
	    (major > 6 || (major == 6 && minor >= 1)))
		good(text("Linux %s", name.release));
	else
		wrong(text("Linux %s: my_pmu needs 6.1 or newer", name.release),
		      "install a newer kernel");
	path = text("/lib/modules/%s/build/Makefile", name.release);
	if (!access(path, R_OK)) {
		good(text("the headers of this kernel, to build my_pmu"));
	} else {
		free(path);
		path = text("needed only to build my_pmu here: apt-get install linux-headers-%s",
			    name.release);
		note("no headers of this kernel", path);
	}
	free(path);
}

static char *describe_intel(void)
{
	unsigned int eax, ebx, ecx, edx;

	if (!__get_cpuid_count(0xa, 0, &eax, &ebx, &ecx, &edx) || !(eax & 0xff))
		return NULL;
	return text("the architectural PMU, version %u: %u generic counters of %u bits, %u fixed ones",
		    eax & 0xff, eax >> 8 & 0xff, eax >> 16 & 0xff, edx & 0x1f);
}

static char *describe_amd(void)
{
	unsigned int eax, ebx, ecx, edx;

	if (access("/sys/bus/event_source/devices/cpu", F_OK))
		return NULL;
	if (__get_cpuid(0x80000022, &eax, &ebx, &ecx, &edx) && (eax & 1))
		return text("AMD's PMU, PerfMonV2: %u counters", ebx & 0xf);
	if (__get_cpuid(0x80000001, &eax, &ebx, &ecx, &edx) && (ecx & 1U << 23))
		return text("AMD's PMU, PERFCTR_CORE: 6 counters");
	return text("AMD's PMU: 4 counters");
}

static const struct vendor {
	const char *name;
	char *(*describe)(void);
} vendors[] = {
	{ "GenuineIntel", describe_intel },
	{ "CentaurHauls", describe_intel },
	{ "  Shanghai  ", describe_intel },
	{ "AuthenticAMD", describe_amd },
	{ "HygonGenuine", describe_amd },
};

static void check_cpu(void)
{
	unsigned int eax, ebx, ecx = 0, edx, name[4] = { 0 };
	char *what = NULL;
	bool known = false;
	size_t i;

	__get_cpuid(0, &eax, &name[0], &name[2], &name[1]);
	for (i = 0; i < ARRAY_SIZE(vendors); i++) {
		if (memcmp(vendors[i].name, name, 12))
			continue;
		known = true;
		what = vendors[i].describe();
	}
	__get_cpuid(1, &eax, &ebx, &ecx, &edx);
	if (what)
		good(text("%.12s: %s", (char *)name, what));
	else if (!known)
		wrong(text("%.12s: my_pmu knows no PMU of this vendor", (char *)name),
		      "use a CPU of Intel, AMD, Hygon, Zhaoxin or Centaur");
	else if (ecx & 1U << 31)
		wrong(text("this virtual machine has no PMU"),
		      "have its host offer one (KVM: -cpu host,pmu=on), or try the lab: make run");
	else
		wrong(text("this CPU has no PMU that my_pmu knows"),
		      "use another machine, or try the lab: make run");
	free(what);
}

static bool must_be_signed(void)
{
	char *lockdown = read_text("/sys/kernel/security/lockdown");
	int fd = open(EFI_SECURE_BOOT, O_RDONLY | O_CLOEXEC);
	/* The value is behind four bytes of attributes. */
	unsigned char variable[5] = { 0 };
	bool secure = fd >= 0 && read(fd, variable, 5) == 5 && variable[4] == 1;
	bool locked = lockdown && !strstr(lockdown, "[none]");

	if (secure)
		note("Secure Boot is on: the kernel loads signed modules only", NULL);
	if (locked)
		note("the kernel is locked down: it loads signed modules only", NULL);
	if (!secure && !locked)
		good(text("no Secure Boot and no lockdown: the module needs no signature"));
	if (fd >= 0)
		close(fd);
	free(lockdown);
	return secure || locked;
}

static void check_module(void)
{
	char *looked, *path = module_find(module_option, &looked), *magic, *signer, *what;
	bool is_signed_only = must_be_signed();
	struct utsname name;

	uname(&name);
	if (!path && !module_option && module_loaded()) {
		what = text("my_pmu is loaded from a file; in %s there is none", looked);
		found("ok", what, "to install it: DKMS or the Debian packages (docs/using.md); until then, once it is unloaded: --module PATH of its file");
		free(what);
		free(looked);
		return;
	}
	if (!path) {
		what = text("build it with make, then: my-pmu doctor --module ./my_pmu.ko; or install it with DKMS (docs/using.md): modprobe my_pmu must find it");
		wrong(text("there is no module my_pmu in %s", looked), what);
		free(what);
		free(looked);
		return;
	}
	magic = module_info(path, "vermagic");
	signer = module_info(path, "signer");
	if (!magic || !module_is_ours(path))
		wrong(text("%s is no my_pmu.ko", path), "build it again: make");
	else if (strncmp(magic, name.release, strcspn(magic, " ")) ||
		 strlen(name.release) != strcspn(magic, " "))
		wrong(text("%s is for Linux %.*s", path, (int)strcspn(magic, " "), magic),
		      "build it for this kernel: make clean, make");
	else if (is_signed_only && !signer)
		wrong(text("%s has no signature", path),
		      "sign it with an enrolled key: docs/using.md, Secure Boot");
	else
		good(text("%s%s%s", path, signer ? ", signed by " : "", signer ?: ""));
	free(magic);
	free(signer);
	free(looked);
	free(path);
}

/* perf says so when the machine boots. */
static bool firmware_counts(void)
{
	int log = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	bool counts = false;
	char record[8192];
	ssize_t len;

	/* EPIPE: the next record was overwritten; those behind it are still to be read. */
	while (log >= 0 && !counts && ((len = read(log, record, sizeof(record) - 1)) > 0 ||
				       (len < 0 && errno == EPIPE))) {
		record[len > 0 ? len : 0] = 0;
		counts = strstr(record, "Broken BIOS detected");
	}
	if (log >= 0)
		close(log);
	return counts;
}

static void check_users(void)
{
	char *parameters = module_parameters(), *what, *rdpmc;
	unsigned int users;

	if (holder) {
		wrong(text("process %d is a my-pmu: one at a time can count", holder),
		      "end it before you start another one");
	} else if (parameters) {
		what = text("my_pmu is loaded (%s): my-pmu reads its rows and leaves it as it is",
			    parameters);
		note(what, "to count something else: rmmod my_pmu");
		free(what);
	}
	free(parameters);
	users = tell_users(note);
	if (firmware_counts()) {
		note("the firmware uses counters of this machine (\"Broken BIOS detected\")",
		     "my_pmu leaves these alone; look in the firmware's menu for power or performance monitoring");
		users++;
	}
	rdpmc = read_text("/sys/bus/event_source/devices/cpu/rdpmc");
	if (rdpmc && !strcmp(rdpmc, "2"))
		note("every process may read the counters (rdpmc is 2), and perf clears some then",
		     "echo 1 > /sys/bus/event_source/devices/cpu/rdpmc");
	free(rdpmc);
	if (!users && !geteuid())
		good(text("nobody else is seen to use the PMU"));
}

static void check_gnuplot(void)
{
	if (!have_gnuplot())
		note("no gnuplot: my-pmu plot needs it", "apt-get install gnuplot-nox");
}

int run_doctor(int argc, char **argv)
{
	static const struct argp argp = {
		.options = doctor_options,
		.parser = parse,
		.doc = "Says whether my-pmu can count here, who has the PMU, and what to type next. It changes nothing, except that it puts back what a my-pmu that was killed has left. Exit status: 0 if it can, 1 if not.\vExample: sudo my-pmu doctor",
	};

	parse_options(&argp, argc, argv, NULL);
	if (!geteuid() && state_take(&holder))
		state_release();
	check_root();
	check_kernel();
	check_cpu();
	check_module();
	check_users();
	check_gnuplot();
	if (first_cure)
		printf("\nmy-pmu cannot count here yet. Next: %s\n", first_cure);
	else
		printf("\nmy-pmu can count here. Next: my-pmu stat%s%s%s -- sleep 1\n",
		       module_option ? " --module " : "", module_option ?: "",
		       module_loaded() ? "" : " -C 0");
	return fflush(stdout) || first_cure ? 1 : 0;
}
