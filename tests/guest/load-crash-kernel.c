// SPDX-License-Identifier: GPL-2.0
/*
 * load-crash-kernel KERNEL INITRD COMMAND-LINE: what starts after a panic
 */
#include <err.h>
#include <fcntl.h>
#include <linux/kexec.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int kernel, initrd;

	if (argc != 4)
		errx(2, "usage: load-crash-kernel KERNEL INITRD COMMAND-LINE");
	kernel = open(argv[1], O_RDONLY);
	if (kernel < 0)
		err(1, "%s", argv[1]);
	initrd = open(argv[2], O_RDONLY);
	if (initrd < 0)
		err(1, "%s", argv[2]);
	if (syscall(SYS_kexec_file_load, kernel, initrd, strlen(argv[3]) + 1, argv[3],
		    KEXEC_FILE_ON_CRASH))
		err(1, "kexec_file_load");
	return 0;
}
