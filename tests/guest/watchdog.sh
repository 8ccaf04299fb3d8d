# SPDX-License-Identifier: GPL-2.0
# The NMI watchdog for a minute, on CPUs that are busy now and then.
#
# lab: vm --smp 4
# in lab alone: 6.1 6.12
# in lab alone: vendor=amd 6.1
# in lab alone: vendor=amd,version=2 6.12
# shellcheck shell=dash disable=SC1091 # lib.sh is beside it in the guest
. /root/guest/lib.sh

# Its NMI comes after so many seconds' worth of cycles at the TSC's rate, and
# emulated ones take several times as long. The soft one is about the scheduler,
# and sees the host's load as ours.
sysctl -q -w kernel.soft_watchdog=0
sysctl -q -w kernel.watchdog_thresh=1
watchdog 0
watchdog 1
is "runs" "$(cat /proc/sys/kernel/nmi_watchdog)" 1

for cpu in 0 1 2 3; do
	eval "before$cpu=$(nmis_of $cpu)"
done
# 25 seconds all, 10 seconds half of them, 25 seconds all.
for seconds in 25 10 25; do
	for cpu in 0 1 2 3; do
		if [ $seconds = 25 ] || [ $cpu -ge 2 ]; then
			taskset "$(printf '%x' $((1 << cpu)))" timeout $seconds sh -c 'while :; do :; done' &
		fi
	done
	sleep $seconds
	wait
done
for cpu in 0 1 2 3; do
	eval "ticks=\$(($(nmis_of $cpu) - before$cpu))"
	# shellcheck disable=SC2154 # eval's
	expect "CPU $cpu: it has ticked ($ticks)" [ "$ticks" -ge 1 ]
done
is "no hard lockup" "$(dmesg | grep -ci 'hard LOCKUP')" 0
is "nothing is an unknown NMI" "$(dmesg | grep -c Uhhuh)" 0
is "and it still runs" "$(cat /proc/sys/kernel/nmi_watchdog)" 1

finish
