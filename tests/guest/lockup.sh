# SPDX-License-Identifier: GPL-2.0
# The NMI watchdog and we: who has the PMU, and that it fires after us.
#
# lab: module stuck.c
# lab: vm --allow 'Watchdog detected hard LOCKUP|BUG: soft lockup|rcu.*detected.*stall|Kernel panic - not syncing: Hard LOCKUP'
# in check: 6.1
# in sample, lab: vendor=amd 6.1
# in sample, lab: vendor=amd,version=2 6.12
# shellcheck shell=dash disable=SC1091 # lib.sh is beside it in the guest
. /root/guest/lib.sh

watchdog 1
is "the NMI watchdog is on" "$(cat /proc/sys/kernel/nmi_watchdog)" 1
load cpu=3
has "is refused then" "$(cat /tmp/insmod.err)" 'Device or resource busy'
is "in one line, which says how to free it" "$(log)" \
	"the PMU is in use, by perf, the NMI watchdog, or KVM for a guest with a PMU: end them; 'sysctl kernel.nmi_watchdog=0' ends the watchdog"
watchdog 0
load cpu=3 interval=100
is "loads when it is off" "$?" 0
wait_samples 3
# Linux takes the 1 and gets no counter; a second 1 changes nothing (docs/using.md).
watchdog 1
unload
watchdog 1
load cpu=3 interval=100
is "a 1 that was written while it was loaded starts no watchdog" "$?" 0
unload
watchdog 0
be_stuck
is "the NMI watchdog is on again" "$(cat /proc/sys/kernel/nmi_watchdog)" 1
has "it fires on a CPU that is stuck" "$(dmesg)" 'Watchdog detected hard LOCKUP on cpu 3'
is "on that CPU alone" "$(dmesg | grep -c 'hard LOCKUP on cpu [012]')" 0

finish
