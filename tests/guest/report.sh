# SPDX-License-Identifier: GPL-2.0
# scripts/report, packed into one file: its page, what it puts back, that each of its checks
# fails on a PMU on which it should, and how it ends early: report.sh PMU-LIST.
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
# shellcheck shell=dash disable=SC1091,SC2034,SC2154 # both are beside it in the guest, and read seconds and runs
. /root/guest/lib.sh
. /root/guest/page.sh

# all_is_well NAME
all_is_well() {
	is "$1: exit status" "$status" 0
	is "$1: no check failed" "$(grep '^FAILED' /tmp/page)" ''
	nothing_left "$1"
}

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

# --- the lab's own PMU
has "each counter is tested by all that it counts" "$(cat /tmp/page)" \
	'^  cycles, 9 counters: 450 of 450; 2048, 2048 to 2048, 2048'
is "nothing is skipped" "$(grep '^skipped' /tmp/page)" ''

# --- it does not come to its end
report --limit 20 --seconds 60
has "time is over: what is under way fails" "$(cat /tmp/page)" \
	'^FAILED .*the time limit of 20 s is over'
has "time is over: the rest is skipped" "$(cat /tmp/page)" '^skipped registers +the time limit'
is "time is over: exit status" "$status" 1
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
