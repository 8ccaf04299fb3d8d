# SPDX-License-Identifier: GPL-2.0
# Counters that ran before Linux did, gp2 and fixed0: they are the firmware's, are
# left alone, and said to be so.
#
# Linux itself is not to use such a PMU.
# lab: vm --append nmi_watchdog=0
# in check: firmware=0x100000004 6.1
# shellcheck shell=dash disable=SC1091 # lib.sh is beside it in the guest
. /root/guest/lib.sh

cpu=3
state=/sys/kernel/debug/my_pmu/counters

is "gp2 is enabled" "$(rdmsr -p $cpu 0x188)" 4300c0
is "fixed0 is enabled" $((0x$(rdmsr -p $cpu 0x38d) & 0xf)) 3
ctrl=$(rdmsr -p $cpu 0x38f)

# What counts on is no constant.
still() {
	/root/pmu-registers $cpu | grep -v -E ' (0xc3|0x309) '
}
before=$(still)

# refused LINE EVENTS
refused() {
	load cpu=$cpu "counters=$2"
	has "refuses $2" "$(cat /tmp/insmod.err)" 'Device or resource busy'
	is "says why" "$(log)" "counters: $1"
}
refused "'cycles@gp2': gp2 is in use on CPU 3, and not by Linux: its firmware or microcode (TSX) uses it; without a counter, as in counters=instructions,cycles, the module chooses" cycles@gp2
refused "'instructions@fixed0': fixed0 is in use on CPU 3, and not by Linux: its firmware or microcode (TSX) uses it; without a counter, as in counters=instructions,cycles, the module chooses" instructions@gp0,instructions@fixed0
is "nothing is touched then" "$(still)" "$before"

load cpu=$cpu interval=100 counters=cycles,instructions,branches,r00c0,r003c
is "loads what can go elsewhere" "$(cat /tmp/insmod.err)" ''
has "says whose they are" "$(log | grep held)" "counting: gp0-1,3-4 fixed1; the firmware's: gp2 fixed0\$"
is "and so does the file" "$(grep -c 'cpu3 \(gp2\|fixed0\) firmware' $state)" 2
is "the firmware's control registers are as they were" \
	"$(rdmsr -p $cpu 0x188) $((0x$(rdmsr -p $cpu 0x38d) & 0xf))" "4300c0 3"
is "they run" $((0x$(rdmsr -p $cpu 0x38f) & 0x100000004)) $((0x100000004))
generic=$(rdmsr -p $cpu 0xc3)
fixed=$(rdmsr -p $cpu 0x309)
wait_samples 3
expect "gp2 counts on meanwhile" [ $((0x$(rdmsr -p $cpu 0xc3) > 0x$generic)) = 1 ]
expect "and so does fixed0" [ $((0x$(rdmsr -p $cpu 0x309) > 0x$fixed)) = 1 ]
is "nobody is said to have written ours" "$(samples | grep -c stolen)" 0
unload
is "all is as before" "$(still)" "$before"
is "GLOBAL_CTRL, too" "$(rdmsr -p $cpu 0x38f)" "$ctrl"

finish
