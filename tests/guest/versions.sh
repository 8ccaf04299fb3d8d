# SPDX-License-Identifier: GPL-2.0
# The module on another PMU: versions.sh VERSION GENERIC FIXED WIDTH
# shellcheck shell=dash disable=SC1091 # lib.sh is beside it in the guest
. /root/guest/lib.sh

version=$1
generic=$2
fixed=$3
width=$4

cpu=1
# Half the range at 2^26 events in a millisecond, see pmu_read.c.
max=$((1 << (width - 27)))
interval=$((max < 100 ? max : 100))
watchdog 0
taskset -p 1 $$ > /dev/null

# --- what is found
before=$(/root/pmu-registers $cpu)
load cpu=$cpu interval=$interval counters=instructions,instructions:u,cycles
is "loads on version $version" "$?" 0
has "says version $version" "$(log)" "\.\.\. version: +$version\$"
has "says $generic generic counters" "$(log)" "\.\.\. generic registers: +$generic \(gp0"
has "says $width bits" "$(log)" "\.\.\. bit width: +$width\$"
has "says $fixed fixed counters" "$(log)" "\.\.\. fixed-purpose events: +$fixed( |\$)"
wait_samples 2
unload
is "puts every register back" "$(/root/pmu-registers $cpu)" "$before"
if [ "$fixed" = 0 ]; then
	keys="instructions@gp0 instructions:u@gp1 cycles@gp2 "
else
	keys="instructions@fixed0 instructions:u@gp0 cycles@fixed1 "
fi
is "chooses the counters" \
	"$(samples | head -n 1 | tr ' ' '\n' | sed '1,3d;s/=[0-9]*$//' | tr '\n' ' ')" "$keys"

# --- bounds
refused_at() {
	refused_errno=$1
	shift
	load cpu=$cpu "$@"
	has "refuses $*" "$(cat /tmp/insmod.err)" "$refused_errno"
}
refused_at 'out of range' counters=cycles interval=$((max + 1))
refused_at 'Invalid' counters=cycles@gp"$generic"
refused_at 'Invalid' counters=cycles@fixed"$fixed"

# --- counting, over the wrap
wrmsr -p $cpu 0xc1 0xffff0000
busy $cpu
load cpu=$cpu interval=$interval counters=instructions@gp0,instructions@gp1
wait_samples 5
unload
idle
if [ "$version" -ge 2 ]; then
	is "a wrapped counter counts on" "$(value instructions@gp0)" \
		"$(value instructions@gp1)"
else
	# Without GLOBAL_CTRL two counters start and are read one after the other.
	difference=$(($(total instructions@gp0) - $(total instructions@gp1)))
	expect "a wrapped counter counts on, but for what is between two reads ($difference)" \
		[ $((difference > -1000 && difference < 1000)) = 1 ]
fi
expect "it has counted ($(total instructions@gp0))" \
	[ "$(total instructions@gp0)" -gt 100000 ]
is "its value is put back" "$(rdmsr -p $cpu 0xc1)" \
	"$(printf '%x' $(((1 << width) - 0x10000)))"
is "nothing of it stays in GLOBAL_STATUS" \
	"$(rdmsr -p $cpu 0x38e 2> /dev/null || echo absent)" \
	"$([ "$version" -ge 2 ] && echo 0 || echo absent)"

finish
