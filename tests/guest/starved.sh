# SPDX-License-Identifier: GPL-2.0
# A hypervisor that has fewer counters at a time than it has told: each counts alone, and
# only two count together: starved.sh PMU-LIST. More are refused.
#
# lab: vm --append nmi_watchdog=0
# lab: sample
# in check: broken=starved,starved=2 6.1
# in sample, lab: broken=starved,starved=2,version=5,gp=6,fixed=3 6.12
# in endurance: broken=starved,starved=2 debug
# shellcheck shell=dash disable=SC1091 # lib.sh is beside it in the guest
. /root/guest/lib.sh

cpu=3
watchdog 0
# Nothing of ours runs on the CPU, unless it is to be busy.
taskset -p 7 $$ > /dev/null
before=$(/root/pmu-registers $cpu)

# counts_together EVENT,EVENT...
counts_together() {
	load cpu=$cpu interval=100 counters="$1"
	is "loads $1" "$(cat /tmp/insmod.err)" ''
	wait_samples 2
	unload
	is "counts with all of them" "$(samples | tr ' ' '\n' | grep -c '@.*=0$')" 0
	is "puts every register back" "$(/root/pmu-registers $cpu)" "$before"
}

# starves COUNTER TOGETHER EVENT,EVENT...
starves() {
	load cpu=$cpu interval=100 counters="$3"
	has "refuses $3" "$(cat /tmp/insmod.err)" 'No such device'
	is "says why" "$(log | tail -n 1)" \
		"cpu$cpu: $1 stands still when $2 counters count together; alone it counts: fewer count at a time than CPUID says, as in a virtual machine whose host has no more of them; count fewer events at a time"
	is "prints no sample" "$(samples)" ''
	is "is not loaded" "$(lsmod | grep -c my_pmu)" 0
	is "puts every register back after that" "$(/root/pmu-registers $cpu)" "$before"
}

# --- at load
counts_together instructions@gp5
counts_together instructions@gp1,instructions@fixed0
counts_together '{branches@gp0-1,branches:u@gp0-1},{cycles@gp0-1,cycles:u@gp0-1}'
starves gp2 3 instructions@gp0,branches@gp1,cycles@gp2
starves fixed0 3 instructions@gp2,instructions@gp3,instructions@fixed0
starves fixed0 4 instructions@gp2,cycles@gp3,instructions@fixed0,cycles@fixed1
# In the second rotation
starves gp2 3 '{branches@gp0-1,branches:u@gp0-1},{branches@gp0-2,branches:u@gp0-2,branches:k@gp0-2}'

# --- events of another module, beside one that counts
busy $cpu
load cpu=$cpu interval=100 counters=instructions@gp0
insmod /root/my_pmu_sample.ko cpu=$cpu 2> /tmp/insmod.err
has "refuses two more events" "$(cat /tmp/insmod.err)" 'No such device'
has "says why, of those" "$(dmesg)" \
	'my_pmu_sample: (gp1|fixed0) stands still when 3 counters count together'
wait_samples $(($(samples | wc -l) + 2))
is "the other has lost nothing" "$(samples | grep -c 'stolen=\|late=\|=0$')" 0
unload
load cpu=$cpu counters=none
insmod /root/my_pmu_sample.ko cpu=$cpu turns=1000 2> /tmp/insmod.err
is "has them alone" "$(cat /tmp/insmod.err)" ''
rmmod my_pmu_sample
unload
idle

finish
