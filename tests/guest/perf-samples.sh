# SPDX-License-Identifier: GPL-2.0
# Samples of the PMU my_pmu by perf record, of one program and of CPUs; those of many tasks are in
# perf-sample-tasks.sh.
#
# lab: vm --with perf --with chrt
# lab: program loop10 loop INSTRUCTIONS=10000000
# lab: program loop loop INSTRUCTIONS=1600000000
# lab: program nested nested CALLS=100 INNER=50000
# in part long, lab: 6.12
# in sample long, lab: 6.1
# in lab: unstable
# in sample long, lab: version=2,gp=4,fixed=3,width=32 6.12
# shellcheck shell=dash disable=SC1091,SC2154 # all three are beside it in the guest
. /root/guest/lib.sh
. /root/guest/record.sh
. /root/guest/frontend.sh

instructions=my_pmu/event=0xc0/u

# --- what perf's own PMU does, for later
record -e instructions:u -F 1000 /root/loop
perfs_rate=$(rate)
# That has left its counts in the counters.
before=$(registers)

load cpu=3 counters=none

# --- by period. Odd, so that the samples come to lie on both instructions of the loop.
for period in 99991 1000003 7919; do
	by_period $period -e my_pmu/event=0xc0,period=$period/u
done
is "the module has lost none" "$(grep 'perf lost' /sys/kernel/debug/my_pmu/counters)" ''
at_each_address -e $instructions
record_task -e my_pmu/event=0xc4/u -c 10007 /root/loop10
is "by branches: the module has lost none" "$(grep 'perf lost' /sys/kernel/debug/my_pmu/counters)" ''
is "by branches: as many as whole periods" "$(wc -l < /tmp/samples)" $((4999999 / 10007))
is "by branches: behind each JNZ taken is the DEC" "$(awk '{ print $3 }' /tmp/samples | sort -u)" "$dec"
record -e my_pmu/event=0xc0/ -c 100003 /root/loop10
all=$(wc -l < /tmp/samples)
users=$(grep -c /root/loop10 /tmp/samples)
expect "user and kernel: $all samples, $users of them in the program" \
	[ $((all >= 100 && all <= 110 && users >= 98)) = 1 ]

# --- with what perf adds to a sample
perf record -q -g --per-thread -o /tmp/perf.data -e $instructions -c 100003 /root/nested 2> /tmp/perf.err
perf script -i /tmp/perf.data -F ip,sym 2> /dev/null |
	awk 'NF { chain = chain " " $2; next } chain != "" { print chain; chain = "" }' | sort | uniq -c > /tmp/chains
is "callchains are the program's: $(head -n 3 /tmp/chains | tr -s ' \n' ' ')" \
	"$(awk '{ $1 = ""; print }' /tmp/chains | sort -u)" " inner outer _start"
is "with callchains: as many as whole periods" "$(awk '{ n += $1 } END { print n }' /tmp/chains)" \
	$(((100 * (2 * 50000 + 5 + 5 + 3) + 5) / 100003))
perf record -q --per-thread -o /tmp/perf.data -e "{my_pmu/event=0xc0,period=99991/u,my_pmu/event=0xc0,counter=0x1/u,my_pmu/event=0xc4/u}:S" \
	/root/loop10 2> /tmp/perf.err
perf script -i /tmp/perf.data -D 2> /dev/null | sed -n 's/^\.\.\.\.\. id [0-9a-f]*, value \([0-9a-f]*\).*/0x\1/p' |
	paste -d ' ' - - - | while read -r first second third; do
		echo $((first)) $((second)) $((third))
	done > /tmp/counts
is "the counts of a group, each at one instant" \
	"$(awk -v p=99991 '$1 != NR * p || $2 != $1 || $3 != int(($1 - 1) / 2) { print NR ": " $0 }' /tmp/counts | head -n 3)" ''
is "one for each sample" "$(wc -l < /tmp/counts)" 100

# --- a CPU's
record -C 2 -e my_pmu/event=0xc0/ -c 100003 -- taskset 4 /root/loop10
expect "all of a CPU: $(wc -l < /tmp/samples) samples" [ "$(wc -l < /tmp/samples)" -ge 99 ]

# --- by frequency
record -e $instructions -F 1000 /root/loop
ours=$(rate)
expect "1000 Hz: $ours a second, perf's own PMU had $perfs_rate" \
	[ $((ours >= 600 && ours <= 1400)) = 1 ]
is "1000 Hz: all in the program" "$(grep -v /root/loop /tmp/samples)" ''
record -a -F 2000 -e my_pmu/event=0x3c/ -- sleep 1
expect "2000 Hz on all CPUs, the kernel, too: $(wc -l < /tmp/samples)" [ "$(wc -l < /tmp/samples)" -gt 100 ]

# --- refused
has "a period that is too short" "$(perf record -o /tmp/perf.data -e my_pmu/event=0xc0,period=99/u true 2>&1)" \
	'Invalid argument|Error'
has "raw data" "$(perf record -R -o /tmp/perf.data -e $instructions true 2>&1)" 'not supported|Error'
has "precise samples" "$(perf record -o /tmp/perf.data -e my_pmu/event=0xc0/pu true 2>&1)" 'not supported|Error'

# --- beside a sampler whose interrupts come into each self-test
unload
load cpu=3 interval=100 counters=cpu/instructions,period=7919/k
taskset -p 8 $$ > /dev/null
is "beside a short period of the kernel: a task is counted" "$(tally $instructions /root/loop10)" 10000000
taskset -p f $$ > /dev/null

# --- the end
all_is_as_before "$before"
watchdog 1
expect "perf has its own PMU again" [ "$(cat /proc/sys/kernel/nmi_watchdog)" = 1 ]

finish
