# SPDX-License-Identifier: GPL-2.0
# The CPU that is measured goes and comes, at any moment.
#
# lab: program loop10 loop INSTRUCTIONS=10000000
# lab: program loop20 loop INSTRUCTIONS=20000000
# lab: vm --append isolcpus=domain,3
# in check: 6.1
# in endurance: debug
# shellcheck shell=dash disable=SC1091 # lib.sh is beside it in the guest
. /root/guest/lib.sh

cpu=3 # isolated: nobody else's user code runs there
online=/sys/devices/system/cpu/cpu$cpu/online

watchdog 0
before=$(/root/pmu-registers $cpu)

# --- what was counted until it went is in the total, to the last instruction
away_total() {
	load cpu=$cpu interval=100 counters=instructions:u,instructions:u@gp1
	wait_samples 1
	taskset 8 "$1"
	echo 0 > $online
	sleep 0.5
	echo 1 > $online
	taskset 8 "$1"
	wait_samples $(($(samples | wc -l) + 3))
	unload
	total instructions:u@fixed0
}
ten=$(away_total /root/loop10)
is "the other counter says the same" "$(total instructions:u@gp1)" "$ten"
twenty=$(away_total /root/loop20)
is "twice 20,000,000 user instructions are 20,000,000 more than twice 10,000,000" \
	$((twenty - ten)) 20000000

# --- what is said
is "one line says that it went" "$(log | grep -c 'cpu3 goes offline, counting rests')" 1
is "one line says that it is back" "$(log | grep -c 'cpu3 is back, counting goes on')" 1
is "none is printed while it is away" \
	"$(log | sed -n '/goes offline/,/is back/p' | wc -l)" 2
is "the samples that were due are told as missed" \
	"$(log | sed -n '/is back/,$p' | grep -m 1 ' t=' | grep -c ' missed=\([3-9]\|[1-9][0-9]\)')" 1
is "every register is as before" "$(/root/pmu-registers $cpu)" "$before"

# --- while it is away
load cpu=$cpu interval=100
echo 0 > $online
is "the file says that they rest" \
	"$(grep -c resting /sys/kernel/debug/my_pmu/counters)" 4
unload
is "unloads while it is away" "$?" 0
load cpu=$cpu
has "is refused while it is away" "$(log)" 'cpu: 3 is offline; bring it online'
echo 1 > $online

# --- at any moment, also during load and unload
while_loaded() { :; }
load_while_toggled $cpu my_pmu /root/my_pmu.ko cpu=$cpu interval=5
is "and every register is as before" "$(/root/pmu-registers $cpu)" "$before"

finish
