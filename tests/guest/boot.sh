# SPDX-License-Identifier: GPL-2.0
# What Linux's Intel driver finds at boot: boot.sh PMU-LIST. The rules are
# those of arch/x86/events/intel/core.c, intel_pmu_init(), and of
# arch/x86/kernel/cpu/intel.c; the same in 6.1 and 6.12, but for one: 6.12 takes
# a version from 2 to 4 without fixed counters for one with 64 of them.
#
# lab: vm --smp 1
# lab: boots
# shellcheck shell=dash disable=SC1091,SC2154 # lib.sh and pmu.sh are beside it in the guest
. /root/guest/lib.sh
. /root/guest/pmu.sh

pmu_from "$1"
banner=$(dmesg | sed -n 's/^.*Performance Events: //p')
lines=$(dmesg | grep -F '... ')

# says LABEL WANTED
says() {
	is "... $1: $2" "$(echo "$lines" | sed -n "s/^.*\.\.\. $1: *//p")" "$2"
}

refuses() {
	is "Performance Events: $1" "$banner" "$1"
	is "says nothing of counters" "$(echo "$lines" | grep -cE 'version:|event mask:')" 0
	is "the NMI watchdog cannot run" "$(dmesg | grep -c 'Perf NMI watchdog permanently disabled')" 1
	expect "perf has no hardware events" [ ! -e /sys/bus/event_source/devices/cpu ]
}

# In the order in which the driver says them.
wanted_banner() {
	printf 'Skylake events, '
	if [ "$version" -ge 5 ]; then
		printf 'AnyThread deprecated, '
	fi
	# Where there is no hypervisor the driver does not probe, and trusts the model.
	if [ "$hypervisor" = off ]; then
		printf '32-deep LBR, '
	fi
	if [ "$full_width" = on ]; then
		printf 'full-width counters, '
	fi
	# Version 1 has a driver of its own.
	if [ "$version" = 1 ]; then
		echo 'core PMU driver.'
	else
		echo 'Intel PMU driver.'
	fi
}

# What the driver says of the seven events that CPUID.0AH:EBX can take away.
# It does not look at what lies beyond EBX's length: with fewer than these
# seven it refuses the PMU.
wanted_absent() {
	set -- 'cpu cycles' 'instructions' 'bus cycles' 'cache references' \
		'cache misses' 'branch instructions' 'branch misses'
	absent_bit=0
	for absent_name; do
		has_event $absent_bit || echo "CPUID marked event: '$absent_name' unavailable"
		absent_bit=$((absent_bit + 1))
	done
}

accepts() {
	# Legacy writes reach 32 bits, the top one of them the sign.
	max_period=$(ones 31)
	if [ "$full_width" = on ]; then
		max_period=$(ones $((width - 1)))
	fi
	is "Performance Events: $(wanted_banner)" "$banner" "$(wanted_banner)"
	says version "$version"
	says 'bit width' "$width"
	says 'generic \(registers\|counters\)' "$gp"
	says 'value mask' "$(hex "$(ones "$width")")"
	says 'max period' "$(hex "$max_period")"
	says 'fixed-purpose events' "$(weight "$bitmap")"
	says 'event mask' "$(hex $((bitmap << 32 | (1 << gp) - 1)))"
	is "says which events are absent" \
		"$(dmesg | sed -n 's/^.*\(CPUID marked event.*\)$/\1/p')" "$(wanted_absent)"
	# The watchdog counts cycles; perf has no event for them where bit 0 says so,
	# not on a fixed counter either.
	if has_event 0; then
		is "the NMI watchdog runs" "$(dmesg | grep -c 'NMI watchdog: Enabled')" 1
	fi
}

if [ "$version" = 0 ] || [ "$gp" -lt 2 ]; then
	refuses 'unsupported p6 CPU model 94 no PMU driver, software events only.'
elif [ "$ebx_length" -lt 7 ]; then
	refuses 'no PMU driver, software events only.'
else
	accepts
fi
is "nothing on the way is amiss" \
	"$(dmesg | grep -cE 'WARNING: CPU|unchecked MSR|hw-PMU resources|Failed to access')" 0

finish
