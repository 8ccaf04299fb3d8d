# SPDX-License-Identifier: GPL-2.0
# Linux's own driver on RISC-V, without the module: what the lab's CPU counts, and how exactly.
# riscv-perf.sh PMU-LIST KERNEL.
#
# lab: vm --no-module --with perf
# lab: program loop10 riscv-loop INSTRUCTIONS=10000000
# in check: 6.12-riscv64
# in lab: unstable-riscv64
# in lab: sscofpmf=off 6.12-riscv64
# shellcheck shell=dash disable=SC1091 # lib.sh is beside it in the guest
. /root/guest/lib.sh

ten=/root/loop10

# says TEXT: whether Linux did at boot
says() {
	dmesg | grep -c "riscv-pmu-sbi: .*$1"
}

watchdog 0
has "it is RISC-V" "$(uname -m)" '^riscv64$'
is "perf has a driver" "$(says '16 firmware and 18 hardware counters')" 1
case $1 in
*sscofpmf=off*)
	is "which knows that no overflow interrupts" "$(says 'sampling/filtering is not supported')" 1
	is "and so refuses to count user mode alone" "$(tally instructions:u $ten)" '<not supported>'
	# The kernel's, of fork to exit, are in it.
	all=$(tally instructions $ten)
	expect "10,000,000 user instructions and the kernel's ($all)" [ "$all" -gt 10000000 ]
	finish
	;;
esac

is "10,000,000 user instructions" "$(tally instructions:u $ten)" 10000000
is "again" "$(tally instructions:u $ten)" 10000000
is "one cycle for each" "$(tally cycles:u,instructions:u $ten)" "10000000 10000000"
is "no branches" "$(tally branches:u $ten)" '<not supported>'
# An instruction is a nanosecond: so many are in a tenth of a second, and in what perf does
# around it.
busy 0
perf stat -a -x , -o /tmp/stat -e cycles -- usleep 100000
idle
second=$(sed -n 's/,.*cycles.*//p' /tmp/stat)
expect "a busy CPU's cycles are nanoseconds ($second)" \
	[ "$second" -ge 100000000 -a "$second" -lt 200000000 ]
perf record -q -o /tmp/perf.data -e instructions:u -c 100000 -- $ten > /dev/null
number=$(perf script -i /tmp/perf.data -F event | grep -c instructions:u)
expect "overflows interrupt, if not each in time ($number of 100)" \
	[ "$number" -gt 9 -a "$number" -le 100 ]

finish
