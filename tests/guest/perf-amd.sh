# SPDX-License-Identifier: GPL-2.0
# Linux's own driver on an AMD PMU, without the module: boot lines, exact counts, samples, more
# events than counters, the NMI watchdog: perf-amd.sh PMU-LIST. The rules are those of
# arch/x86/events/amd/core.c, amd_core_pmu_init().
#
# perf switches jump labels on and off, and QEMU 7.2 may translate an INT3 that another
# CPU is just removing ("Oops: int3"): one CPU where one will do.
# lab: vm --smp 1 --with perf --with chrt
# lab: boots
# lab: program loop10 loop INSTRUCTIONS=10000000
# lab: program loop400 loop INSTRUCTIONS=400000000
# lab: program crossing crossing TURNS=1000
# in part, lab: vendor=amd,version=2 6.12
# in sample, lab: vendor=amd 6.1
# in sample, lab: vendor=amd,core=off 6.12
# in sample, lab: vendor=amd,version=2,gp=15 unstable
# in sample, lab: vendor=hygon 6.1
# in lab: vendor=amd,version=2 6.1 unstable
# in lab: vendor=amd 6.12 unstable
# shellcheck shell=dash disable=SC1091,SC2154 # both are beside it in the guest
. /root/guest/lib.sh
. /root/guest/record.sh

ten=/root/loop10
version=0
gp=6
driver='Fam17h+ core perfctr, AMD PMU driver.'
case ",$1," in
*,version=2,*) version=2 ;;
*,core=off,*)
	gp=4
	driver='AMD PMU driver.'
	;;
esac
case "$1" in *gp=*) gp=$(echo "$1" | sed 's/^.*gp=\([0-9]*\).*$/\1/') ;; esac
vendor=$(sed -n 's/^vendor_id[[:space:]]*: //p' /proc/cpuinfo | head -n 1)
[ "$vendor" != HygonGenuine ] || driver=$(echo "$driver" | sed s/AMD/HYGON/)

# --- the driver at boot
lines=$(dmesg | grep -F '... ')
says() {
	is "... $1: $2" "$(echo "$lines" | sed -n "s/^.*\.\.\. $1: *//p")" "$2"
}
has "Performance Events: $driver" "$(dmesg | sed -n 's/^.*Performance Events: //p')" "^$(echo "$driver" | sed 's/[+.]/\\&/g')\$"
says version $version
says 'bit width' 48
says 'generic \(registers\|counters\)' "$gp"
says 'value mask' 0000ffffffffffff
says 'max period' 00007fffffffffff
says 'fixed-purpose \(events\|counters\)' 0
says '\(event\|global_ctrl\) mask' "$(printf '%016x' $(((1 << gp) - 1)))"
is "the NMI watchdog runs" "$(dmesg | grep -c 'NMI watchdog: Enabled')" 1
is "nothing on the way is amiss" \
	"$(dmesg | grep -cE 'WARNING: CPU|unchecked MSR|hw-PMU resources|Failed to access|Firmware Bug')" 0
watchdog 0

# --- counts of programs that have exactly so many. SYSCALL, and the IRET or SYSRET to the
# program, are branches, and so are interrupts.
is "10,000,000 user instructions" "$(tally instructions:u $ten)" 10000000
is "one cycle per instruction" "$(tally cycles:u $ten)" 10000000
is "raw codes are the same" "$(tally r00c0:u,r0076:u $ten)" '10000000 10000000'
# Zen 4 has them, and Linux knows that since 6.12.
reference='<not supported>'
case "$version $(uname -r)" in
*' 6.1.'*) ;;
2*) reference=10000000 ;;
esac
is "reference cycles" "$(tally ref-cycles:u $ten)" "$reference"
# 4,999,998 turns of the loop, and SYSCALL; exceptions and interrupts are branches, too.
set -- "$(tally '{branches:u,cpu/event=0x2c/u}' $ten)"
branches=${1% *} interrupts=${1#* }
expect "branches, and what interrupts ($branches, $interrupts)" \
	[ $((branches >= 4999999 + interrupts && branches <= 4999999 + interrupts + 20)) = 1 ]
# perf switches them on one after the other, but not in user code.
is "a group of two" "$(tally '{instructions:u,cycles:u}' $ten)" '10000000 10000000'
is "the same each time" "$(for _ in 1 2 3 4 5 6 7 8; do
	counted instructions:u $ten
done | sort -u)" 10000000
is "cmask=1: each user cycle has an instruction" "$(tally cpu/event=0xc0,cmask=1/u $ten)" 10000000
is "cmask=2,inv: all have fewer than two" "$(tally cpu/event=0xc0,cmask=2,inv=1/u $ten)" 10000000
is "what the model does not have counts nothing" "$(tally cpu/event=0x1c7/u $ten)" 0

# --- samples
by_period 99991 -e instructions:u -c 99991
by_period 7919 -e instructions:u -c 7919
at_each_address -e instructions:u

# --- more events than counters
number=$((3 * gp))
events=$(seq $number | sed 's,.*,cpu/event=0xc0\,cmask=1/u,' | tr '\n' ',' | sed 's/,$//')
perf stat -x \; --no-scale -o /tmp/raw -e "$events" /root/loop400
is "all $number events have counted" "$(awk -F \; '/cmask/ { print $1 }' /tmp/raw | grep -c '^[1-9]')" $number
is "together they have counted each instruction $gp times" \
	"$(awk -F \; '/cmask/ { n += $1 } END { printf "%.0f", n }' /tmp/raw)" $((gp * 400000000))

watchdog 1
is "the NMI watchdog starts again" "$(cat /proc/sys/kernel/nmi_watchdog)" 1
is "nothing is an unknown NMI" "$(dmesg | grep -c 'Uhhuh\|unknown reason')" 0
finish
