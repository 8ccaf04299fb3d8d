# SPDX-License-Identifier: GPL-2.0
# On an AMD PMU: counts, periods, the PMU of perf, who has the counters: amd-pmu.sh PMU-LIST
#
# lab: vm --with perf
# lab: program pinned pinned INSTRUCTIONS=10000000
# lab: program loop10 loop INSTRUCTIONS=10000000
# in part, lab: vendor=amd,version=2 6.12
# in part, lab: vendor=amd 6.1
# in sample, lab: vendor=amd,core=off 6.12
# in sample, lab: vendor=amd,version=2,gp=15,freeze=on unstable
# in sample, lab: vendor=hygon 6.1
# in lab: vendor=amd,version=2 6.1 unstable
# in lab: vendor=amd 6.12 unstable
# in lab: MY_PMU_QEMU=10.0 vendor=amd,version=2 6.12
# in lab: MY_PMU_QEMU=10.0 vendor=amd 6.1
# shellcheck shell=dash disable=SC1091 # lib.sh is beside it in the guest
. /root/guest/lib.sh

cpu=3
instructions=10000000
tracing=/sys/kernel/tracing
version=0
gp=6
case ",$1," in
*,version=2,*) version=2 ;;
*,core=off,*) gp=4 ;;
esac
case "$1" in *gp=*) gp=$(echo "$1" | sed 's/^.*gp=\([0-9]*\).*$/\1/') ;; esac
select=0xc0010200
[ "$gp" != 4 ] || select=0xc0010000

watchdog 0
trace_overflows $tracing 8192
before=$(/root/pmu-registers 0 1 2 3)

# --- what there is, and what is counted
busy $cpu
load cpu=$cpu interval=100 counters=instructions@gp0,instructions@gp1,cycles@gp2,branches@gp3
wait_samples 10
is "INT and the bits of guest and host are 0" $((0x$(rdmsr -p $cpu $select) & (3 << 40 | 1 << 20))) 0
is "one line says who owns what" "$(log | grep 'held against')" \
	"cpu3: held against perf, on all CPUs: gp0-$((gp - 1)); counting: gp0-3; the firmware's: none"
unload
idle
has "says the version" "$(log)" "\.\.\. version: +$version\$"
has "says the counters" "$(log)" "\.\.\. generic registers: +$gp \(gp0-$((gp - 1))\)\$"
has "says that no others are there" "$(log)" '\.\.\. fixed-purpose events: +0$'
is "two counters agree in each sample" "$(value instructions@gp0)" "$(value instructions@gp1)"
is "so do cycles: the lab has one for each instruction" "$(value instructions@gp0)" "$(value cycles@gp2)"
is "each sample of a busy CPU has grown" "$(value instructions@gp0 | grep -cx 0)" 0
expect "branches are fewer" [ "$(total branches@gp3)" -lt "$(total instructions@gp0)" ]
is "puts every register back" "$(/root/pmu-registers 0 1 2 3)" "$before"

# --- a program of known length, and not what the kernel does for it
load cpu=$cpu interval=100 counters=instructions:u,instructions:k,instructions,cycles:u
wait_samples 1
/root/pinned
wait_samples $(($(samples | wc -l) + 2))
unload
is "counts a program exactly" "$(total instructions:u@gp0)" $instructions
is "and its cycles" "$(total cycles:u@gp3)" $instructions
is "user and kernel are all" $(($(total instructions:u@gp0) + $(total instructions:k@gp1))) \
	"$(total instructions@gp2)"

# --- more events than counters
load cpu=$cpu interval=100 "counters={instructions@gp0-1,branches@gp0-1},{cycles@gp0-1,branch-misses@gp0-1}"
is "events take turns" "$?" 0
wait_samples 3
unload
is "nothing else is said of them" "$(samples | grep -cE ' (stolen|late|stuck)=')" 0

# --- periods
for period in 99991 10007; do
	event=cpu/instructions,period=$period/u
	run_pinned "counters=$event,instructions:u"
	is "$period: as many records as whole periods" "$(wc -l < /tmp/records)" $((instructions / period))
	is "$period: each at its count" "$(sed -n 's/^.* counts=\([^ ]*\).*$/\1/p' /tmp/records | tr -d '{}' |
		while read -r hex; do echo $((hex)); done | awk -v p=$period '$1 != NR * p' | head -n 3)" ''
	is "$period: the count is exact" \
		"$(log | grep -o " $event@[a-z0-9]*=[0-9]*" | awk -F = '{ n += $NF } END { print n }')" $instructions
	is "$period: and that of an event beside it" "$(total instructions:u@gp1)" $instructions
	is "$period: none lost, none throttled" "$(grep -c ' lost=0 throttled=0' /tmp/counters)" 1
done
event=cpu/instructions,period=99991/u
run_pinned "counters={$event@gp0,$event@gp1}"
is "two that overflow together have two records each time" "$(wc -l < /tmp/records)" $((2 * (instructions / 99991)))
load cpu=$cpu pmi=v4 "counters=$event"
case "$1" in
*freeze=on*)
	is "the counters freeze if asked" "$?" 0
	unload
	;;
*) has "the counters do not freeze" "$(log)" "pmi=v4: the counters do not freeze at an overflow" ;;
esac
is "puts every register back, after PMIs too" "$(/root/pmu-registers 0 1 2 3)" "$before"

# --- the PMU of perf, beside the sampler and against perf's own
load cpu=$cpu interval=100 counters=instructions
is "perf stat counts exactly" \
	"$(perf stat -x , -e my_pmu/retired_instructions/u,my_pmu/event=0x76/u /root/loop10 2>&1 |
		cut -d , -f 1 | tr '\n' ' ')" "$instructions $instructions "
perf record -q --per-thread -o /tmp/perf.data -e my_pmu/event=0xc0,period=99991/u /root/loop10 2> /tmp/perf.err
is "perf record has a sample for each period" "$(perf script -i /tmp/perf.data -F ip 2> /dev/null | wc -l)" \
	$((instructions / 99991))
has "an event of 12 bits is counted, if only as 0" \
	"$(perf stat -x , -e my_pmu/event=0x1c7/u true 2>&1)" '^0,,my_pmu/event=0x1c7/u'
has "perf's own PMU has no counter" "$(perf stat -e cpu/event=0xc0/u true 2>&1)" \
	'not (counted|supported)|[Dd]evice or resource busy'
unload
perf stat -o /dev/null -e cpu/event=0xc0/ -C $cpu sleep 30 &
perf_pid=$!
sleep 1
load cpu=$cpu
has "nor has the module one while perf counts" "$(log)" "the PMU is in use, by perf"
kill -INT $perf_pid
wait $perf_pid
is "no NMI was nobody's" "$(dmesg | grep -c 'Uhhuh\|unknown reason')" 0
watchdog 1
is "the NMI watchdog has its counter again" "$(sysctl -n kernel.nmi_watchdog)" 1
finish
