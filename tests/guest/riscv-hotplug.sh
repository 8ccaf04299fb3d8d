# SPDX-License-Identifier: GPL-2.0
# RISC-V: a CPU goes and comes at any moment, the module is unloaded at any moment, and what
# cannot be is refused. riscv-hotplug.sh PMU-LIST KERNEL.
#
# lab: vm --smp 2
# in lab: 6.12-riscv64
# in lab: unstable-riscv64
# shellcheck shell=dash disable=SC1091 # lib.sh is beside it in the guest
. /root/guest/lib.sh

cpu=1
online=/sys/devices/system/cpu/cpu$cpu/online

watchdog 0
load cpu=all interval=50
is "counts on all CPUs" "$?" 0
wait_samples 12
for n in 0 1; do
	expect "CPU $n has grown" [ "$(samples | grep -c "cpu$n .*instructions@fixed2=[1-9]")" -ge 2 ]
done
unload

# --- a CPU goes and comes: Linux stops and resets all of its counters meanwhile
load cpu=$cpu interval=50
wait_samples 2
echo 0 > $online
sleep 0.3
is "the file says that they rest" "$(grep -c resting /sys/kernel/debug/my_pmu/counters)" 2
echo 1 > $online
wait_samples $(($(samples | wc -l) + 3))
has "one line says that it went" "$(log)" 'cpu1 goes offline, counting rests'
has "one that it is back" "$(log)" 'cpu1 is back, counting goes on'
is "and it counts" "$(samples | tail -n 1 | grep -c 'instructions@fixed2=[1-9]')" 1
is "no counter was lost" "$(samples | grep -c stolen=)" 0
echo 0 > $online
unload
is "unloads while it is away" "$?" 0
load cpu=$cpu
has "is refused while it is away" "$(log)" 'cpu: 1 is offline; bring it online'
echo 1 > $online

# --- at any moment, also during load and unload, and in the middle of samples
while_loaded() { :; }
# With one clock for both CPUs a guest is slow.
# shellcheck disable=SC2034 # it is lib.sh's
toggles=6
load_while_toggled $cpu my_pmu /root/my_pmu.ko cpu=$cpu interval=5
rm /tmp/stop
i=0
while [ $i -lt 6 ]; do
	load cpu=all interval=1 log=0 || break
	# shellcheck disable=SC3028 # busybox has RANDOM
	usleep $((RANDOM % 20000))
	unload || break
	i=$((i + 1))
done
is "is unloaded in the middle of samples, again and again" $i 6

# --- what there is not
refused() {
	load "$1"
	has "$1 is refused" "$(log)" "$2"
}
refused counters=branches "'branches': CPU 0 does not have this event, as its firmware \(SBI\) says"
refused counters=L1-dcache-loads "'L1-dcache-loads': CPU 0 does not have this event"
refused counters=r123 "'r123': CPU 0 does not have this event"
refused counters=r8000000000000005 'events of the firmware \(bit 63\) are not counted here'
refused counters=cpu/event=3,firmware/ 'events of the firmware are not counted here'
refused counters=cpu/umask=1/ "term 'umask'; event=, config=, period= or an event's name"
refused counters=cycles/period=100000/ "CPU 0 has interrupts of counters for perf alone"
refused counters=instructions@fixed0 'fixed0 cannot count this event'
refused counters=instructions@gp31 'CPU 0 has no gp31'
refused counters=instructions@gp3,instructions@gp4 'gp4 stands still when 2 counters count together'
refused freeze=1 'freeze=1: nothing stops all counters of CPU 0 at once'
refused cpu=2 "cpu: '2': no such CPU; 0-1 are there"
load cpu=0 interval=50
is "after all that it loads" "$?" 0
wait_samples 2
unload
is "and unloads" "$?" 0
finish
