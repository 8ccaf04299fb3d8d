# SPDX-License-Identifier: GPL-2.0
# Samples by perf record: perf-record.sh PMU-LIST
#
# perf switches jump labels on and off, and QEMU 7.2 may translate an INT3 that another
# CPU is just removing ("Oops: int3"): one CPU where one will do.
# lab: vm --smp 1 --with perf --with chrt
# lab: program loop10 loop INSTRUCTIONS=10000000
# lab: program loop loop INSTRUCTIONS=1600000000
# in part, lab: 6.1
# in lab: 6.12
# in lab: MY_PMU_QEMU=10.0 6.1
# in lab: version=2,gp=2,width=32,full-width=off 6.1
# shellcheck shell=dash disable=SC1091,SC2154 # both are beside it in the guest
. /root/guest/lib.sh
. /root/guest/record.sh

watchdog 0

# --- by period
# Odd, so that the samples come to lie on both instructions of the loop.
by_period 99991 -e instructions:u -c 99991
by_period 1000003 -e instructions:u -c 1000003
by_period 7919 -e instructions:u -c 7919

at_each_address -e instructions:u

# --- of the kernel too: what the kernel does for the program is a small part
record -e instructions -c 100003 /root/loop10
all=$(wc -l < /tmp/samples)
users=$(grep -c /root/loop10 /tmp/samples)
expect "user and kernel: $all samples, $users of them in the program" \
	[ $((all >= 100 && all <= 110 && users >= 98)) = 1 ]

# --- by branches
record_task -e branches:u -c 10007 /root/loop10
is "by branches: as many as whole periods" "$(wc -l < /tmp/samples)" $((4999999 / 10007))
is "by branches: behind each JNZ taken is the DEC" "$(awk '{ print $3 }' /tmp/samples | sort -u)" "$dec"

# --- by frequency. The kernel starts at a period of 1 and adjusts it at each
# tick by what the last one has counted; half a second is time enough for that.
# It does not aim better than this.
record -e instructions:u -F 1000 /root/loop
rate=$(rate)
expect "1000 Hz: $(wc -l < /tmp/samples) samples, $rate a second" \
	[ $((rate >= 600 && rate <= 1400)) = 1 ]
is "1000 Hz: none lost" "$(perf report -i /tmp/perf.data --stats 2> /dev/null | grep -c LOST)" 0
is "1000 Hz: all in the program" "$(grep -v /root/loop /tmp/samples)" ''
is "nothing is an unknown NMI" "$(dmesg | grep -c Uhhuh)" 0

finish
