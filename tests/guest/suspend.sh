# SPDX-License-Identifier: GPL-2.0
# Suspend to RAM, which resets the PMU: of a CPU that goes offline for it, and of
# the boot CPU, which does not.
#
# lab: sample client.c
# lab: program loop10 loop INSTRUCTIONS=10000000
# lab: vm --vmlinuz
# lab: boots
# in part, lab: 6.1
# in endurance: debug
# shellcheck shell=dash disable=SC1091 # lib.sh is beside it in the guest
. /root/guest/lib.sh

watchdog 0
# So that what we find is what a resume leaves.
sleep_and_wake
is "the lab can be suspended" "$(dmesg | grep -c 'PM: suspend exit')" 1
before=$(/root/pmu-registers 0 3)

for cpu in 0 3; do
	load cpu=$cpu interval=200 counters=instructions:u,instructions:u@gp2
	wait_samples 2
	taskset $((1 << cpu)) /root/loop10
	sleep_and_wake
	taskset $((1 << cpu)) /root/loop10
	wait_samples $(($(samples | wc -l) + 3))
	unload
	is "cpu$cpu: one line says that it is suspended" \
		"$(log | grep -c "cpu$cpu is suspended, counting rests")" 1
	is "cpu$cpu: one line says that it is back" \
		"$(log | grep -c "cpu$cpu is back, counting goes on")" 1
	is "cpu$cpu: none between" "$(log | sed -n '/is suspended/,/is back/p' | wc -l)" 2
	is "cpu$cpu: nothing is told as stolen" "$(samples | grep -c stolen)" 0
	total=$(total instructions:u@fixed0)
	is "cpu$cpu: two counters agree" "$(total instructions:u@gp2)" "$total"
	expect "cpu$cpu: what was before and after is in the total ($total)" \
		[ "$total" -ge 20000000 ]
	is "cpu$cpu: every register is as a resume leaves it" "$(/root/pmu-registers 0 3)" "$before"
done

# --- another module's events, on the boot CPU
load cpu=3 counters=none
insmod /root/client.ko cpu=0
taskset 1 /root/loop10
sleep_and_wake
taskset 1 /root/loop10
counts=$(cat /sys/module/my_pmu_sample/parameters/counts)
rmmod my_pmu_sample
unload
is "another module's two counters agree ($counts)" "${counts% *}" "${counts#* }"
expect "and have what was before and after" [ "${counts% *}" -ge 20000000 ]
is "every register is as a resume leaves it" "$(/root/pmu-registers 0 3)" "$before"

finish
