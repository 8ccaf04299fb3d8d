# SPDX-License-Identifier: GPL-2.0
# kdump: after a panic nothing is put back. What the crash kernel finds, that its perf and the
# dump work, and what the module does there.
#
# lab: tool load-crash-kernel
# lab: program loop10 loop INSTRUCTIONS=10000000
# lab: vm --with perf --append "crashkernel=192M nmi_watchdog=0"
# lab: vm --add "$("$here/../scripts/lab-kernel" "$kernel")/vmlinuz"
# lab: vm --allow "Kernel panic - not syncing: sysrq triggered crash"
# lab: boots
# in lab: 6.1
# in lab: 6.12
# shellcheck shell=dash disable=SC1091 # lib.sh is beside it in the guest
. /root/guest/lib.sh

# --- the kernel that panics, on the CPU that counts; its last words are not ours
# The crash kernel boots from what this guest was booted from, and so runs this script, too.
panic() {
	load cpu=0 interval=100 counters=instructions,cycles,branches@gp2 || return
	(cd / && find . -xdev ! -path ./root/vmlinuz ! -type p | cpio -o -H newc | gzip -1) \
		> /tmp/initrd 2> /dev/null
	/root/load-crash-kernel /root/vmlinuz /tmp/initrd \
		"$(sed 's/crashkernel=[^ ]*//' /proc/cmdline) nr_cpus=1 reset_devices" || return
	wait_samples 2
	taskset 1 sh -c 'echo c > /proc/sysrq-trigger'
}

if [ ! -e /proc/vmcore ]; then
	panic
	fail "it panics, and the crash kernel starts" "$(cat /tmp/insmod.err) $(log)"
	finish
fi

# --- the crash kernel
is "gp2 has its event select, enabled" "$(rdmsr -p 0 0x188)" 4300c4
is "so have fixed0 and fixed1" $((0x$(rdmsr -p 0 0x38d) & 0x33)) $((0x33))
has "Linux says so" "$(dmesg)" 'Performance Events: .* Broken BIOS detected'
is "the dump is there" "$(dd if=/proc/vmcore bs=1 skip=1 count=3 2> /dev/null)" ELF
perf stat -x, -o /tmp/stat -e instructions:u /root/loop10
is "perf counts right" "$(sed -n 's/^\([0-9]*\),.*instructions:u.*/\1/p' /tmp/stat)" 10000000
load cpu=0 interval=100 counters=instructions,cycles
is "the module loads" "$(cat /tmp/insmod.err)" ''
has "and leaves gp2 alone, as firmware's" "$(cat /sys/kernel/debug/my_pmu/counters)" \
	'^cpu0 gp2 firmware'
wait_samples 2
unload
is "gp2 is as it was" "$(rdmsr -p 0 0x188)" 4300c4

finish
