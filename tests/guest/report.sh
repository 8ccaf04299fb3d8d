# SPDX-License-Identifier: GPL-2.0
# scripts/report, packed into one file: its page, what it puts back, and that each of its
# checks fails on a PMU, or on a machine, on which it should: report.sh PMU-LIST.
#
# lab: report
# lab: vm --with perf
# in part long, lab: 6.1
# in sample, lab: version=0 6.1
# in sample, lab: version=1,gp=3,width=40 6.1
# in sample, lab: version=6,gp=3,gp-bitmap=0xb7 6.12
# in sample, lab: version=3,gp=4,fixed=3,firmware=0x100000001 6.1
# in sample, lab: broken=halved,broken-counters=0x2 6.1
# in sample, lab: broken=dead,broken-counters=0x200000000 6.1
# in sample, lab: broken=no-overflow,broken-counters=0x4 6.1
# in sample, lab: broken=short,broken-counters=0x100000000 6.1
# in sample, lab: broken=starved,starved=4 6.1
# in sample, lab: paused=20000 6.1
# shellcheck shell=dash disable=SC1091 # lib.sh is beside it in the guest
. /root/guest/lib.sh

cpu=3
status=0

# What is broken is found with few samples, too.
seconds=1
runs=10

# report [OPTION...]: its page is in /tmp/page then
report() {
	sh /root/my_pmu-report --modules /root --seconds $seconds --runs $runs "$@" > /tmp/page 2> /tmp/report.err
	status=$?
	sed 's/^/# /' /tmp/page
}

# failed NAME CHECK PATTERN: that check failed, with these words
failed() {
	has "$1: $2 fails" "$(grep "^FAILED  $2 " /tmp/page)" "$3"
	is "$1: exit status 1" $status 1
}

# nothing_left NAME
nothing_left() {
	is "$1: all is put back" "$(grep -o '^my_pmu[^ ]*' /proc/modules)$(ls -d /tmp/my_pmu-report* 2> /dev/null)$(cat /proc/sys/kernel/nmi_watchdog)" "$watchdog"
}

# all_is_well NAME
all_is_well() {
	is "$1: exit status" $status 0
	is "$1: no check failed" "$(grep '^FAILED' /tmp/page)" ''
	nothing_left "$1"
}

# wait_for FILE WORD: 60 s at most
wait_for() {
	for _ in $(seq 600); do
		[ "$(cat "$1" 2> /dev/null)" = "$2" ] && return
		usleep 100000
	done
	return 1
}

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

hostname machine-of-somebody
watchdog=$(cat /proc/sys/kernel/nmi_watchdog)

# --- PMUs that are not as they should be
# A refusal of the module's, or what report itself sees: which check, and its words.
case $1 in
version=0) wrong='leaves no PMU' why='^load: .*no PMU: CPUID.0AH says version 0' ;;
broken=halved*) wrong='self-test gp1: 1024 to 1024 instructions, not 2048' why='^events: cpu3: gp1 counts wrong' ;;
broken=dead*) wrong='self-test fixed1: 0 to 0 cycles, not' why='^samples: cpu3: fixed1 stands still' ;;
broken=no-overflow*) wrong='wraps gp2: no overflow bit at 2^48 of 48 bits' why='' ;;
broken=short*) wrong='wraps fixed0: 0x7fffffffffc0 written, 0xffffffffc0 read' why='^self-test: fixed0 does not keep' ;;
broken=starved*) wrong='events instructions: ' why='' ;;
paused=*) wrong='self-test [a-z]*[0-9]: [0-9]* to [0-9]* instructions, not 2048' why='' ;;
*) wrong='' ;;
esac
[ -n "$wrong" ] || seconds=2 runs=50
report
seconds=1 runs=10
if [ -n "$wrong" ]; then
	failed "$1" "${wrong%% *}" "$(echo "${wrong#* }" | sed 's/\^/\\^/')"
	[ -z "$why" ] || has "$1: the page says why" "$(cat /tmp/page)" "$why"
	case $1 in
	version=0) failed "$1" perf-before 'refused: errno 2' ;;
	broken=halved*) failed "$1" events 'refused' ;;
	esac
	nothing_left "$1"
	finish
fi
all_is_well "as it should be"
is "a page" "$(awk 'length > 80 { n++ } END { print (NR <= 60 && NR > 20), n + 0 }' /tmp/page)" '1 0'
is "names neither host nor user" "$(grep -c 'somebody\|root' /tmp/page)" 0
if [ -n "$1" ]; then
	finish
fi

# --- the same PMU, and others who use it
has "each counter is tested by all that it counts" "$(cat /tmp/page)" \
	'^  cycles, 9 counters: 450 of 450; 2048, 2048 to 2048, 2048'
is "nothing is skipped" "$(grep '^skipped' /tmp/page)" ''
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

# --- it does not come to its end
report --limit 20 --seconds 60
has "time is over: what is under way fails" "$(cat /tmp/page)" \
	'^FAILED .*the time limit of 20 s is over'
has "time is over: the rest is skipped" "$(cat /tmp/page)" '^skipped registers +the time limit'
is "time is over: exit status" $status 1
nothing_left "time is over"

sh /root/my_pmu-report --modules /root > /tmp/page 2> /tmp/report.err &
pid=$!
wait_for /sys/module/my_pmu/parameters/interval 1
kill $pid
wait $pid
is "it is killed: exit status" $? 143
nothing_left "it is killed"

# --- it does not begin
watchdog 0
insmod /root/my_pmu.ko
report
is "my_pmu is loaded: one line, exit status 1" "$(cat /tmp/report.err) $status" \
	"report: my_pmu is loaded: rmmod my_pmu first 1"
expect "and stays" rmmod my_pmu
report --cpu 64
is "there is no such CPU: one line, exit status 2" "$(cat /tmp/report.err) $status" \
	"report: --cpu 64: there is no such CPU 2"
echo 0 > /sys/devices/system/cpu/cpu2/online
report --cpu 2
failed "the CPU is offline" load 'my_pmu_report: '
finish
