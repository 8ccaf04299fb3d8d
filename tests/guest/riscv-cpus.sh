# SPDX-License-Identifier: GPL-2.0
# The module on two CPUs of RISC-V: one call for each and sample, and one of them goes and comes.
#
# lab: vm --smp 2 --with perf
# lab: program loop10 riscv-loop INSTRUCTIONS=10000000
# in sample, lab: 6.12-riscv64
# in lab: unstable-riscv64
# shellcheck shell=dash disable=SC1091 # lib.sh is beside it in the guest
. /root/guest/lib.sh

watchdog 0
# This script and what it starts keep off the CPU that is measured.
taskset -p 1 $$ > /dev/null
online=/sys/devices/system/cpu/cpu1/online

# They have one clock: a little of what the other one does, which is idle, may be counted.
taskset 2 perf stat -x , -o /tmp/stat -e instructions:u -- /root/loop10
counted=$(sed -n 's/,.*instructions.*//p' /tmp/stat)
expect "10,000,000 user instructions of CPU 1, and few of CPU 0's ($counted)" \
	[ "$counted" -ge 10000000 -a "$counted" -lt 11000000 ]

load cpu=0-1 interval=50
is "loads on both" "$?" 0
if [ ! -e /sys/module/my_pmu ]; then
	log | sed 's/^/# /'
	finish	# what follows would wait for samples
fi
wait_samples 6
echo 0 > $online
wait_samples $(($(samples | wc -l) + 4))
echo 1 > $online
wait_samples $(($(samples | wc -l) + 6))
unload
is "says once that the CPU went" "$(log | grep -c 'cpu1 goes offline')" 1
is "says once that it is back" "$(log | grep -c 'cpu1 is back')" 1
has "samples both" "$(samples | head -n 3)" '^all t=.* cpus=2 '
has "then one" "$(samples)" '^all t=.* cpus=1 '
has "and both again" "$(samples | tail -n 1)" '^all t=.* cpus=2 '

finish
