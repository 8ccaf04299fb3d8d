# SPDX-License-Identifier: GPL-2.0
# In the guest: loads the instrumented module, awaits samples, unloads it. Prints where
# its sections were, "section NAME ADDRESS", and the log of its functions.
# shellcheck shell=dash
# $1: the CPU that is measured; $2: samples

fail() {
	echo "walk: $*" >&2
	dmesg | tail -n 5 >&2
	exit 1
}

has_samples() {
	[ "$(dmesg | grep -c 'my_pmu: cpu.* t=')" -ge "$1" ]
}

sysctl -q -w kernel.nmi_watchdog=0
# Not on the CPU that is measured, so that it is called.
taskset -p 1 $$ > /dev/null || fail taskset
insmod /root/my_pmu_sample.ko || fail "the log's module"
insmod /root/my_pmu.ko cpu="$1" counters=instructions interval=500 || fail "my_pmu.ko"
for file in /sys/module/my_pmu/sections/.*text*; do
	echo "section ${file##*/} $(cat "$file")"
done
# rmmod comes right after a sample, so that none is under way.
tries=0
until has_samples "$2"; do
	tries=$((tries + 1))
	[ $tries -lt 600 ] || fail "no $2 samples in a minute"
	sleep 0.1
done
rmmod my_pmu || fail rmmod
cat /sys/kernel/debug/my_pmu_walk
