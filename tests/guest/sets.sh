# SPDX-License-Identifier: GPL-2.0
# Random sets of events, as groups, on the constraints of a CPU's model: what perf would
# count at the same time the module does, too, and nothing else; and each event is on a
# counter that perf has for it. The sets are the same each time: see SEED.
#
# lab: vm --smp 2
# lab: vm --cpu "max,vendor=GenuineIntel,family=6,model=${MY_PMU_MODEL:-94},stepping=3,la57=off,pmu=on"
# lab: core sets_core.c
# lab: tool ask-sets
# in part, lab: 6.1
# in sample, lab: MY_PMU_MODEL=143 6.1
# in sample, lab: MY_PMU_MODEL=42 6.1
# in lab: 6.12
# in lab: MY_PMU_MODEL=143 6.12
# in lab: MY_PMU_MODEL=42 6.12
# shellcheck shell=dash disable=SC1091 # lib.sh is beside it in the guest
. /root/guest/lib.sh

SEED=20261124
SETS=400

watchdog 0
model=$(sed -n 's/^model[[:space:]]*: //p' /proc/cpuinfo | head -n 1)

# Those that arch/x86/events/intel/core.c restricts, those of fixed counters, and others.
# Those that need another register are in tests/guest/names.sh.
case $model in
94) events='1c0 81d0 1d1 1d2 2cd 2c6 151 148 4a3 c4 c0 3c 300' ;;
143) events='151 148 1c2 4a4 8a4 2cd 1ce 81d0 1a3 2a3 c4 c0 3c 300 100' ;;
42) events='1c0 148 2a3 6a3 4a3 5a3 2cd 81d0 1d1 151 c4 c0 3c 300' ;;
*) fail "there are events for model $model" ;;
esac

load
is "the module is there, and takes nothing" "$(cat /tmp/insmod.err)" ''
# shellcheck disable=SC2086 # a list
output=$(/root/ask-sets $SEED $SETS $events 2>&1)
echo "$output" | grep '^#'
counts=$(echo "$output" | tail -n 1)
has "all sets were tried" "$counts" '^both [0-9]+ neither [0-9]+ perf alone'
# field N: of the last line
field() {
	echo "$counts" | cut -d ' ' -f "$1"
}
expect "perf places some ($(field 2))" [ "$(field 2)" -ge 50 ]
expect "and refuses some ($(field 4))" [ "$(field 4)" -ge 50 ]
is "these are all" "$(($(field 2) + $(field 4) + $(field 7) + $(field 10)))" $SETS
is "the module refuses none that perf places" "$(field 7)" 0
is "perf refuses none that the module places" "$(field 10)" 0
is "each event is on a counter that perf has for it" "$(field 12)" 0
unload
finish
