# SPDX-License-Identifier: GPL-2.0
# A hypervisor that has fewer counters at a time than it has told: each counts alone, and
# only two count together: starved.sh PMU-LIST. More are refused; one that stands still later
# is told.
#
# lab: vm --append nmi_watchdog=0
# lab: sample
# in part, lab: broken=starved,starved=2 6.1
# in sample, lab: broken=starved,starved=2,version=5,gp=6,fixed=3 6.12
# in endurance: broken=starved,starved=2 debug
# shellcheck shell=dash disable=SC1091 # lib.sh is beside it in the guest
. /root/guest/lib.sh

cpu=3
online=/sys/devices/system/cpu/cpu$cpu/online
enabled=0x4300c0	# instructions, as the event select has them
watchdog 0
# Nothing of ours runs on the CPU, unless it is to be busy.
taskset -p 7 $$ > /dev/null
before=$(/root/pmu-registers $cpu)

# was MSR: what that held
was() {
	echo "0x$(echo "$before" | sed -n "s/^cpu$cpu $1 //p")"
}

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
		"cpu$cpu: $1 stands still when $2 counters count together; alone it counts: fewer count at a time than there are, as in a virtual machine whose host has no more of them; count fewer events at a time"
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
is "the other has lost nothing" "$(samples | grep -c 'stolen=\|late=\|stuck=\|=0$')" 0
unload
load cpu=$cpu counters=none
insmod /root/my_pmu_sample.ko cpu=$cpu turns=1000 2> /tmp/insmod.err
is "has them alone" "$(cat /tmp/insmod.err)" ''
rmmod my_pmu_sample
unload
idle

# --- while they count: somebody enables another counter, which comes before them
# wait_for N PATTERN: N samples more that have it
wait_for() {
	for _ in $(seq 600); do
		[ "$(samples | grep -cE "$2")" -ge "$1" ] && return
		sleep 0.1
	done
	echo "# no $1 samples with $2"
}

# What the last samples say of events, without their numbers.
last_keys() {
	samples | tail -n "$1" | tr ' ' '\n' | sed -n 's/^\([a-z:]*@[a-z0-9]*\)=.*/\1/p' | sort -u | tr '\n' ' '
}

# stands_still COUNTER EVENT EVENT NAME: the second event is on the counter
stands_still() {
	load cpu=$cpu interval=100 "counters=$2,$3"
	wait_samples 5
	is "$4: nothing stands still at first" "$(samples | grep -c 'stuck=')" 0
	has "$4: and both count" "$(last_keys 3)" "^$2 $3 \$|^$3 $2 \$"
	wrmsr -p $cpu 0x186 $enabled
	wait_for 5 " stuck=$1 "
	is "$4: $1 stands still and has no growth" "$(last_keys 3)" "$2 "
	is "$4: nothing else does" \
		"$(samples | sed -n 's/.* stuck=\([^ ]*\).*/\1/p' | sort -u)" "$1"
	has "$4: the file has it, too" "$(tail -n 2 /sys/kernel/debug/my_pmu/samples)" \
		"\"${3%@*}\",$1,,[0-9]+,[0-9]+,stuck\$"
	wrmsr -p $cpu 0x186 "$(was 0x186)"
	wait_samples $(($(samples | wc -l) + 3))
	has "$4: then it counts on" "$(last_keys 2)" "^$2 $3 \$|^$3 $2 \$"
}
stands_still gp3 cycles@gp2 instructions@gp3 "an idle CPU"
unload
busy $cpu
stands_still fixed1 instructions@gp3 cycles@fixed1 "a busy CPU"

# --- and the CPU comes back meanwhile
wrmsr -p $cpu 0x186 $enabled
echo 0 > $online
echo 1 > $online
has "refuses to count on when the CPU is back" "$(log)" \
	"cpu$cpu is back, but cannot be counted on: fixed1 stands still when 2 counters count together"
wrmsr -p $cpu 0x186 "$(was 0x186)"
dmesg -c > /dev/null
echo 0 > $online
echo 1 > $online
has "counts on when it can" "$(log)" "cpu$cpu is back, counting goes on"
wait_for 1 " cycles@fixed1="
unload
idle

# --- what may stand still: user mode alone, on an idle CPU
load cpu=$cpu interval=100 counters=instructions:u@gp2,cycles@gp3
wait_samples 5
unload
expect "no user code runs in some samples" [ "$(samples | grep -c 'instructions:u@gp2=0 ')" -gt 0 ]
is "which is not told" "$(samples | grep -c 'stuck=')" 0
wrmsr -p $cpu 0xc1 "$(was 0xc1)"
is "every register is as before" "$(/root/pmu-registers $cpu)" "$before"

finish
