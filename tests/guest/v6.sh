# SPDX-License-Identifier: GPL-2.0
# Linux's own driver on version 6: v6.sh PMU-LIST KERNEL. From 6.12 on perf uses the
# registers from 0x1900 on. 6.1 does not know them; nor does it, or 6.12 on a CPU that is
# no hybrid, read leaf 23H: both believe leaf 0AH, that there are the first so many.
#
# lab: vm --smp 1 --with perf
# lab: program loop10 loop INSTRUCTIONS=10000000
# in part, lab: version=6,gp=3,gp-bitmap=0xb7 6.1
# in lab: version=6 6.1 6.12 unstable
# in lab: version=6,gp=3,gp-bitmap=0xb7 6.12 unstable
# in lab: version=6,gp-bitmap=0xb5,fixed=7 unstable
# in lab: version=6,gp=2,fixed-bitmap=0x75,fixed=1,full-width=off unstable
# shellcheck shell=dash disable=SC1091,SC2154 # lib.sh and pmu.sh are beside it in the guest
. /root/guest/lib.sh
. /root/guest/pmu.sh

pmu_from "$1"
ten=/root/loop10
case $(uname -r) in
6.*)
	used=$(ones "$gp")
	;;
*)
	used=$gp_bitmap
	;;
esac
number=$(weight "$used")

# says LABEL: what the driver says of its PMU
says() {
	dmesg | sed -n "s/^.*\.\.\. $1: *//p"
}

# 7.2 breaks the line to say that Skylake's event 0x1c0 lacks counter 1, if that is a hole.
is "perf has a driver" "$(dmesg | grep -c 'Intel PMU driver\.$')" 1
is "... version: 6" "$(says version)" 6
is "... generic counters: $number" "$(says 'generic \(registers\|counters\)')" "$number"
is "... fixed counters: $(weight $((bitmap)))" \
	"$(says 'fixed-purpose \(events\|counters\)')" "$(weight $((bitmap)))"
is "... all of them" "$(says '\(event\|global_ctrl\) mask')" "$(hex $((bitmap << 32 | used)))"
is "the NMI watchdog runs" "$(dmesg | grep -c 'NMI watchdog: Enabled')" 1
is "nothing on the way is amiss" \
	"$(dmesg | grep -cE 'WARNING: CPU|unchecked MSR|hw-PMU resources|Failed to access')" 0
watchdog 0

# --- a program of known length
is "10,000,000 user instructions" "$(tally instructions:u $ten)" 10000000
is "one cycle per instruction" "$(tally cycles:u $ten)" 10000000
is "branches" "$(tally branches:u $ten)" 4999999
# More than the fixed counters take: all generic ones, at the same time.
group=''
wanted=''
for _ in $(seq "$number"); do
	group=$group${group:+,}branches:u
	wanted="$wanted${wanted:+ }4999999"
done
is "$number generic counters in one group" "$(tally "{$group}" $ten)" "$wanted"
is "one more takes turns" "$(counted "$group,branches:u" $ten | wc -l)" $((number + 1))

# --- what version 6 adds to an event select
if [ -e /sys/bus/event_source/devices/cpu/format/eq ]; then
	is "eq: cycles without a branch" "$(tally cpu/event=0xc4,eq=1/u $ten)" 5000001
	is "eq, cmask=1: cycles with one" "$(tally cpu/event=0xc4,eq=1,cmask=1/u $ten)" 4999999
fi

watchdog 1
is "the NMI watchdog starts again" "$(cat /proc/sys/kernel/nmi_watchdog)" 1
is "nothing is an unknown NMI" "$(dmesg | grep -c Uhhuh)" 0
dmesg | grep -F '... ' | sed 's/^/# /'

finish
