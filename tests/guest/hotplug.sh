# SPDX-License-Identifier: GPL-2.0
# CPUs that go and come while perf counts on them: hotplug.sh PMU-LIST
#
# lab: vm --with perf
# lab: program loop loop INSTRUCTIONS=6000000000
# lab: program loop10 loop INSTRUCTIONS=10000000
# in lab: 6.1 6.12
# in lab: vendor=amd 6.1
# in lab: vendor=amd,version=2 6.12 unstable
# shellcheck shell=dash disable=SC1091 # lib.sh is beside it in the guest
. /root/guest/lib.sh

cpu=3
loop=6000000000

online() {
	echo "$1" > /sys/devices/system/cpu/cpu$cpu/online
}

# --- per task, per CPU, and system-wide, with the NMI watchdog running
perf stat -x , -o /tmp/system -a -A -e instructions:u sleep 60 &
system=$!
sleep 0.5
# It is thrown off the CPU when that goes, and comes back to it.
perf stat -x , -o /tmp/task -e instructions:u,cpu-migrations /root/loop &
task=$!
until program=$(pidof loop); do
	sleep 0.1
done
for _ in 1 2 3 4 5; do
	taskset -p 8 "$program" > /dev/null
	sleep 0.3
	online 0
	sleep 0.2
	online 1
done
is "the program still runs after five times" "$(pidof loop)" "$program"
wait $task
kill -INT $system
wait $system

is "a task's count is exact" "$(awk -F , '$3 == "instructions:u" { print $1 }' /tmp/task)" $loop
expect "it was moved each time ($(awk -F , '/migrations/ { print $1 }' /tmp/task))" \
	[ "$(awk -F , '/migrations/ { print $1 }' /tmp/task)" -ge 5 ]
# Of CPU 3's event only the time until it first went is left.
sum=$(awk -F , '/instructions/ { n += $2 } END { printf "%.0f", n }' /tmp/system)
expect "the system's count is no leap ($sum)" [ $((sum > 0 && sum < 4 * loop)) = 1 ]
others=$(awk -F , '/^CPU[012],/ && $2 > 0 { n++ } END { print n + 0 }' /tmp/system)
is "the other CPUs' events have counted" "$others" 3

# --- and afterwards
is "a new count on the CPU is exact" \
	"$(taskset 8 perf stat -x , -e instructions:u /root/loop10 2>&1 | cut -d , -f 1)" 10000000
perf stat -x , -o /tmp/cpu -C $cpu -e instructions:u taskset 8 /root/loop10
expect "an event of the CPU counts ($(awk -F , '/instr/ { print $1 }' /tmp/cpu))" \
	[ "$(awk -F , '/instr/ { print $1 }' /tmp/cpu)" -ge 10000000 ]
is "the NMI watchdog is still on" "$(cat /proc/sys/kernel/nmi_watchdog)" 1
is "no warning" "$(dmesg | grep -cE 'WARNING: CPU|Uhhuh|irq loop stuck|hard LOCKUP')" 0

finish
