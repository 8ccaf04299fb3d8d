# SPDX-License-Identifier: GPL-2.0
# Samples of the PMU my_pmu by perf record, of many tasks: none is lost when they yield, end, or
# their CPU goes.
#
# lab: vm --with perf --with chrt
# lab: program calls3000 calls TURNS=3000 INNER=50000 CALL=24 # sched_yield()
# lab: program short3000 calls TURNS=3000 INNER=20000 CALL=24
# lab: program family family CHILDREN=50 INNER=100000
# in part long, lab: 6.12
# in sample long, lab: 6.1
# in lab: unstable
# in sample long, lab: version=2,gp=4,fixed=3,width=32 6.12
# shellcheck shell=dash disable=SC1091,SC2154 # all three are beside it in the guest
. /root/guest/lib.sh
. /root/guest/record.sh
. /root/guest/frontend.sh

instructions=my_pmu/event=0xc0/u
before=$(registers)
load cpu=3 counters=none

# --- many at once. By default perf has an event for each CPU, and each of them a rest.
for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
	perf record -q -T --per-thread -o /tmp/perf.$n -e $instructions -c 40005 /root/short3000 2> /tmp/perf.err &
done
wait
# By time, because on a busy host perf record sometimes writes its first round twice, with the
# COMM and MMAP2 records that are in it.
for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
	perf script -i /tmp/perf.$n --ns -F time,ip 2> /dev/null | sort -u | wc -l
done | sort | uniq -c > /tmp/numbers
# On a host that takes the CPUs of the guest away for milliseconds the module was seen to lose a few,
# and to count them: it is not known why. It says if it was because of too many interrupts.
{ grep 'perf lost' /sys/kernel/debug/my_pmu/counters; dmesg | grep 'interrupts are too many'; } | sed 's/^/# /'
is "16 programs that yield 3000 times, each has its samples" "$(awk '{ print $1, $2 }' /tmp/numbers)" "16 3000"
# Behind the call is the DEC that overflows; or, if its counter was just written, JNZ, which goes
# to MOV or, the last time, on.
is "all of them at their place" "$(for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
	perf script -i /tmp/perf.$n -F ip 2> /dev/null
done | tr -d ' ' | sort -u | grep -vE '^4010(05|17|19)$')" ''
taskset 2 perf record -q -o /tmp/perf.data -e $instructions -c 10007 /root/family 2> /tmp/perf.err
# Where one of them follows another on a CPU, perf lets it have the other's events, with their rest.
children=$(perf script -i /tmp/perf.data -F ip 2> /dev/null | wc -l)
expect "children have theirs: $children" \
	[ $((children >= 50 * (200007 / 10007) && children <= (50 * 200007 + 14 * 50 + 5) / 10007)) = 1 ]

# --- a CPU goes and comes
perf record -q --per-thread -o /tmp/perf.data -e $instructions -c 100005 /root/calls3000 2> /tmp/perf.err &
task=$!
cpu_goes_and_comes
wait $task
is "a CPU goes and comes: a task has its samples" "$(perf script -i /tmp/perf.data -F ip 2> /dev/null | wc -l)" 3000
all_is_as_before "$before"
watchdog 1
expect "perf has its own PMU again" [ "$(cat /proc/sys/kernel/nmi_watchdog)" = 1 ]

finish
