# SPDX-License-Identifier: GPL-2.0
# Samples by perf record: perf-record.sh PMU-LIST
#
# perf switches jump labels on and off, and QEMU 7.2 may translate an INT3 that another
# CPU is just removing ("Oops: int3"): one CPU where one will do.
# lab: vm --smp 1 --with perf --with chrt
# lab: program loop10 loop INSTRUCTIONS=10000000
# lab: program loop loop INSTRUCTIONS=1600000000
# in check, lab: 6.1
# in lab: 6.12
# in lab: MY_PMU_QEMU=10.0 6.1
# in lab: version=2,gp=2,width=32,full-width=off 6.1
# shellcheck shell=dash disable=SC1091 # lib.sh is beside it in the guest
. /root/guest/lib.sh

watchdog 0
# An emulated NMI takes long: perf would soon take fewer samples than asked for.
sysctl -q -w kernel.perf_event_max_sample_rate=1000000
sysctl -q -w kernel.perf_cpu_time_max_percent=0

# record OPTION... -- PROGRAM: into /tmp/samples, a line for each: time, period,
# address, symbol
record() {
	perf record -q -o /tmp/perf.data "$@" 2> /tmp/perf.err
	perf script -i /tmp/perf.data -F time,period,ip,sym,dso 2> /dev/null |
		tr -d : > /tmp/samples
}

lost() {
	perf report -i /tmp/perf.data --stats 2> /dev/null | grep -cE 'LOST|THROTTLE'
}

# --- by period: a sample behind each PERIODth user instruction
# by_period PERIOD: of 10,000,000
by_period() {
	record -e instructions:u -c "$1" /root/loop10
	is "each $1: as many samples as whole periods" \
		"$(wc -l < /tmp/samples)" $((10000000 / $1))
	is "each $1: of this period, all of them" "$(awk '{ print $2 }' /tmp/samples | sort -u)" "$1"
	is "each $1: none lost, none throttled" "$(lost)" 0
}
# Odd, so that the samples come to lie on both instructions of the loop.
by_period 99991
by_period 1000003
by_period 7919

# Instruction 1 is the program's first; from 2 on DEC and JNZ take turns. Behind
# an odd one comes the DEC, behind an even one the JNZ, 3 bytes on. At a real-time
# priority, because Linux never has a counter overflow after a single event
# (x86_perf_event_set_period()): a program that loses its CPU one instruction before a
# sample has it one late.
chrt -f -p 1 $$
record -e instructions:u -c 99991 /root/loop10
chrt -o -p 0 $$
dec=$(awk 'NR == 1 { print $3 }' /tmp/samples)
wanted=$(printf '%x' $((0x$dec + 3)))
is "each address is the next instruction's" \
	"$(awk -v dec="$dec" -v jnz="$wanted" '$3 != (NR % 2 ? dec : jnz)' /tmp/samples)" ''
has "which is the program's loop" "$(awk '{ print $5 }' /tmp/samples | sort -u)" '^\(?/root/loop10\)?$'

# --- of the kernel too: what the kernel does for the program is a small part
record -e instructions -c 100003 /root/loop10
all=$(wc -l < /tmp/samples)
users=$(grep -c /root/loop10 /tmp/samples)
expect "user and kernel: $all samples, $users of them in the program" \
	[ $((all >= 100 && all <= 110 && users >= 98)) = 1 ]

# --- by branches
record -e branches:u -c 10007 /root/loop10
is "by branches: as many as whole periods" "$(wc -l < /tmp/samples)" $((4999999 / 10007))
is "by branches: behind each JNZ taken is the DEC" "$(awk '{ print $3 }' /tmp/samples | sort -u)" "$dec"

# --- by frequency. The kernel starts at a period of 1 and adjusts it at each
# tick by what the last one has counted; half a second is time enough for that.
# It does not aim better than this. While the host takes the CPU away the clock
# goes on, and no samples come: judged is the half second that has most of them.
record -e instructions:u -F 1000 /root/loop
rate=$(awk 'NR == 1 { start = $1 } { n[int(2 * ($1 - start))]++ }
	END {
		for (i = 1; i < int(2 * ($1 - start)); i++)
			most = n[i] > most ? n[i] : most
		printf "%d", 2 * most
	}' /tmp/samples)
expect "1000 Hz: $(wc -l < /tmp/samples) samples, $rate a second" \
	[ $((rate >= 600 && rate <= 1400)) = 1 ]
is "1000 Hz: none lost" "$(perf report -i /tmp/perf.data --stats 2> /dev/null | grep -c LOST)" 0
is "1000 Hz: all in the program" "$(grep -v /root/loop /tmp/samples)" ''
is "nothing is an unknown NMI" "$(dmesg | grep -c Uhhuh)" 0

finish
