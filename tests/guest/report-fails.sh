# SPDX-License-Identifier: GPL-2.0
# scripts/report, packed into one file, on a PMU that others use, and on a machine that is not
# as before afterwards: which of its checks fails, and with which words.
#
# lab: report
# lab: vm --with perf
# in part long, lab: 6.1
# shellcheck shell=dash disable=SC1091,SC2154 # both are beside it in the guest
. /root/guest/lib.sh
. /root/guest/page.sh

cpu=3

# while_sampling COMMAND...: runs it again and again while report takes samples
while_sampling() {
	(
		wait_for /sys/module/my_pmu/parameters/interval 1
		while [ "$(cat /sys/module/my_pmu/parameters/interval)" = 1 ]; do
			"$@"
		done
	) 2> /dev/null &
}

# fake COMMAND: from now on report has a program of that name that is in standard input;
# $real is the true one there
fake() {
	mkdir -p /tmp/fake
	{
		echo '#!/bin/sh'
		echo "real=$(command -v "$1")"
		cat
	} > "/tmp/fake/$1"
	chmod +x "/tmp/fake/$1"
}

with_fakes() {
	PATH=/tmp/fake:$PATH report
	rm -r /tmp/fake
}

# --- others use the PMU
perf stat -C $cpu -e instructions sleep 1000 2> /dev/null &
sleep 2
report
failed "perf counts" load 'refused'
has "perf counts: it is named" "$(cat /tmp/page)" '^load: .*perf'
has "perf counts: the rest is skipped" "$(cat /tmp/page)" '^skipped self-test +the module does not load'
nothing_left "perf counts"
kill $!
wait $! 2> /dev/null

while_sampling wrmsr -p $cpu 0x186 0
report
wait
failed "an event select is written" samples 'stolen=gp0'
nothing_left "an event select is written"

# 2^28 further on, which is plausible.
# shellcheck disable=SC2016 # for the shell below
while_sampling sh -c 'wrmsr -p 3 0x309 $((0x$(rdmsr -p 3 0x309) + (1 << 28)))'
report
wait
failed "a counter is set on" generic-fixed '[0-9]* of [0-9]* pairs differ, by [0-9]{9}'

# --- the machine is not as before: after the last unload something is done
# after_last COMMAND: once the module that took samples is unloaded
after_last() {
	fake rmmod <<-END
		[ "\$1 \$(cat /sys/module/my_pmu/parameters/interval)" = "my_pmu 1" ] && last=yes
		\$real "\$@" || exit
		[ "\$last" != yes ] || $1
	END
}

after_last "wrmsr -p $cpu 0x18d 0x300c0"
with_fakes
failed "a register is left" registers 'cpu3 0x18d: 0x[0-9a-f]+ before, 0x300c0 after'
wrmsr -p $cpu 0x18d 0

after_last "insmod /root/my_pmu.ko counters=none cpu=$cpu"
with_fakes
failed "the PMU is not given back" perf-after 'refused: errno 16, expected: counted'
failed "the PMU is not given back" perf-stat 'before: counts; after: '
failed "the PMU is not given back" put-back 'kernel.nmi_watchdog is not 1'
# It is not report's.
rmmod my_pmu
echo "$watchdog" > /proc/sys/kernel/nmi_watchdog
nothing_left "the PMU is not given back"

fake insmod <<-'END'
	case "$*" in
	*counters=none*) exit 0 ;;
	esac
	exec $real "$@"
END
with_fakes
failed "perf is not kept out" perf-out 'counted, expected: refused'

fake rmmod <<-'END'
	[ "$1" = my_pmu ] || exit 1
	exec $real "$@"
END
with_fakes
failed "a module stays" put-back 'my_pmu_report is still loaded'
rmmod my_pmu_report
nothing_left "a module stays"

finish
