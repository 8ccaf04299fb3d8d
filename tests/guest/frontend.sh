# SPDX-License-Identifier: GPL-2.0
# For the guest's tests of the PMU my_pmu, after lib.sh: registers, a CPU that goes, and what
# must hold at the end.
# shellcheck shell=dash

watchdog 0

registers() {
	/root/pmu-registers 0 1 2 3
}

# Three times, while a task is counted.
cpu_goes_and_comes() {
	for _ in 1 2 3; do
		echo 0 > /sys/devices/system/cpu/cpu2/online
		echo 1 > /sys/devices/system/cpu/cpu2/online
	done
}

# all_is_as_before REGISTERS: once the module has gone
all_is_as_before() {
	unload
	is "the registers are as before" "$(registers)" "$1"
}
