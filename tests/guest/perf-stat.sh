# SPDX-License-Identifier: GPL-2.0
# Exact counts by perf stat: perf-stat.sh PMU-LIST
#
# perf switches jump labels on and off, and QEMU 7.2 may translate an INT3 that another
# CPU is just removing ("Oops: int3"): one CPU where one will do.
# lab: vm --smp 1 --with perf
# lab: program loop10 loop INSTRUCTIONS=10000000
# lab: program loop1 loop INSTRUCTIONS=1000000
# lab: program loop20 loop INSTRUCTIONS=20000000
# lab: program crossing crossing TURNS=1000
# lab: program calls3000 calls TURNS=3000 INNER=1 CALL=110 # getppid()
# lab: program calls10000 calls TURNS=10000 INNER=1 CALL=110 # getppid()
# lab: program calls20000 calls TURNS=20000 INNER=1 CALL=110 # getppid()
# lab: program calls30000 calls TURNS=30000 INNER=1 CALL=110 # getppid()
# in part long, lab: 6.1
# in lab: 6.12
# in lab: MY_PMU_QEMU=10.0 6.1
# in lab: version=1,gp=4,width=40 6.1
# in lab: version=5,gp=8,fixed=1,fixed-bitmap=5 6.1
# shellcheck shell=dash disable=SC1091,SC2154 # lib.sh and pmu.sh are beside it in the guest
. /root/guest/lib.sh
. /root/guest/pmu.sh

pmu_from "$1"
ten=/root/loop10
watchdog 0

# --- after the module has been here
load cpu=0 interval=100 counters=instructions,cycles
wait_samples 3
unload

# --- user instructions, cycles, branches of programs that have exactly so many
is "10,000,000 user instructions" "$(tally instructions:u $ten)" 10000000
is "20,000,000 user instructions" "$(tally instructions:u /root/loop20)" 20000000
is "one cycle per instruction" "$(tally cycles:u $ten)" 10000000
if has_fixed 2; then
	is "one reference cycle per instruction" "$(tally ref-cycles:u $ten)" 10000000
else
	is "no reference cycles without fixed counter 2" "$(tally ref-cycles:u $ten)" '<not supported>'
fi
is "one bus cycle per instruction" "$(tally bus-cycles:u $ten)" 10000000
# 4,999,998 turns of the loop, and SYSCALL.
is "branches" "$(tally branches:u $ten)" 4999999
is "a branch across a page boundary is one branch and one instruction" \
	"$(tally branches:u,instructions:u /root/crossing)" '2002 4005'
is "not supported is what CPUID flags absent" \
	"$(tally cache-misses,cache-references,branch-misses $ten)" \
	'<not supported> <not supported> <not supported>'
is "what the model does not have counts nothing" "$(tally r01a2:u $ten)" 0

# --- generic and fixed counters, names and raw codes, alone and in a group
is "raw codes are the same" "$(tally r00c0:u,r003c:u $ten)" '10000000 10000000'
is "a group of two" "$(tally '{instructions:u,branches:u}' $ten)" '10000000 4999999'
is "a modifier of the whole group" "$(tally '{r00c0,r00c4}:u' $ten)" '10000000 4999999'
is "the same each time" "$(for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
	counted instructions:u $ten
done | sort -u)" 10000000

# --- user, kernel, and both: they start and stop at the same instant
for event in instructions cycles branches; do
	sum=$(tally "{$event:u,$event:k,$event}" $ten)
	# shellcheck disable=SC2086 # three numbers
	set -- $sum
	# Version 1 has no register that starts all of them at the same instant.
	apart=$(($3 - $1 - $2))
	expect "$event: user and kernel make both ($sum)" \
		[ $((version >= 2 ? apart == 0 : apart > -200 && apart < 200)) = 1 ]
	expect "$event: the kernel's are some" [ "$2" -gt 100 ]
done

# --- CMASK and INV, in cycles of one instruction each
is "cmask=1: each user cycle has an instruction" \
	"$(tally cpu/event=0xc0,cmask=1/u $ten)" 10000000
is "cmask=2: none has two" "$(tally cpu/event=0xc0,cmask=2/u $ten)" 0
is "cmask=2,inv: all have fewer than two" \
	"$(tally cpu/event=0xc0,cmask=2,inv=1/u $ten)" 10000000
is "cmask=1,inv: none has fewer than one" \
	"$(tally cpu/event=0xc0,cmask=1,inv=1/u $ten)" 0
is "cmask=0,inv: INV is ignored" "$(tally cpu/event=0xc0,inv=1/u $ten)" 10000000
is "cmask=1: cycles with a branch" "$(tally cpu/event=0xc4,cmask=1/u $ten)" 4999999
is "cmask=1,inv: cycles without a branch" \
	"$(tally cpu/event=0xc4,cmask=1,inv=1/u $ten)" 5000001

# --- EDGE. No two branches of the program follow each other.
is "edge: each branch is a rise" "$(tally cpu/event=0xc4,edge=1/u /root/loop1)" 499999
is "cmask=1,edge: the same" "$(tally cpu/event=0xc4,cmask=1,edge=1/u /root/loop1)" 499999
# User cycles rise when the kernel is left, kernel cycles when it is entered, and
# whenever perf, in the kernel, switches the counters on again: in an interrupt
# or a change of tasks, some in each tick of 4 ms.
sum=$(tally '{cpu/event=0x3c,cmask=1,edge=1/u,cpu/event=0x3c,cmask=1,edge=1/k}' /root/calls3000)
difference=$((${sum#* } - ${sum% *}))
expect "edge: as often into the kernel as out of it, and some ($sum)" \
	[ $((difference >= -1 && difference <= 200)) = 1 ]
expect "edge: at least once for each system call" [ "${sum% *}" -ge 3000 ]

# --- kernel instructions: as many for each ten thousand system calls. What comes
# with them, a tick each 4 ms and what exec() and exit() take, is some percent.
least() {
	for _ in 1 2 3 4 5; do
		counted instructions:k "$1"
	done | sort -n | head -n 1
}
one=$(least /root/calls10000)
two=$(least /root/calls20000)
three=$(least /root/calls30000)
second=$((two - one))
third=$((three - two))
expect "kernel: the third 10,000 system calls take what the second do ($one $two $three)" \
	[ $((second > 1000000 && third > second * 9 / 10 && third < second * 11 / 10)) = 1 ]

watchdog 1
is "the NMI watchdog starts again" "$(cat /proc/sys/kernel/nmi_watchdog)" 1
is "nothing is an unknown NMI" "$(dmesg | grep -c Uhhuh)" 0

finish
