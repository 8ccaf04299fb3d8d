# SPDX-License-Identifier: GPL-2.0
# Events of tasks for other modules, by the sample: tasks.sh PMU-LIST KERNEL
#
# lab: vm --with perf
# lab: sample
# lab: program waiting loop INSTRUCTIONS=100000000 WAIT=1
# lab: program loop10 loop INSTRUCTIONS=10000000
# in check: 6.1
# in sample, lab: 6.12
# in lab: unstable
# shellcheck shell=dash disable=SC1091 # lib.sh is beside it in the guest
. /root/guest/lib.sh

watchdog 0
count=/sys/module/my_pmu_sample_task/parameters/count

# count_task PARAMETER...: $task is a program that waits
count_task() {
	/root/waiting &
	task=$!
	wait_stop $task
	insmod /root/my_pmu_sample_task.ko pid=$task "$@" 2> /tmp/insmod.err
}

load cpu=3 counters=none
before=$(/root/pmu-registers 0 1 2 3)
count_task
kill -CONT $task
wait $task
is "a task is counted, from then to its end" "$(cat $count)" 100000000
is "and once more" "$(cat $count)" 100000000
has "my_pmu stays meanwhile" "$(rmmod my_pmu 2>&1)" 'temporarily unavailable|in use'
rmmod my_pmu_sample_task

# Each tick elsewhere, beside others who want the counters.
count_task event=branches:u@gp0-1
kill -CONT $task
while [ -e /proc/$task/cmdline ] && ! grep -q '^State:.Z' /proc/$task/status; do
	for mask in 1 2 4 8; do
		taskset -p $mask $task > /dev/null 2>&1
		usleep 4000
	done
done
wait $task
is "wherever it runs" "$(cat $count)" 49999999
perf stat -x , -o /tmp/stat -e my_pmu/event=0xc0/u /root/loop10
is "perf's events beside it" "$(sed -n 's/^\([0-9]*\),.*/\1/p' /tmp/stat)" 10000000
rmmod my_pmu_sample_task

# --- refused
refused() {
	dmesg -c > /dev/null
	count_task "$@"
	dmesg | sed -n 's/^.*my_pmu_sample_task: //p'
	kill -9 $task
}
has "no such event" "$(refused event=nonsense)" "no event 'nonsense'"
has "one event" "$(refused event=instructions,branches)" "more than 1"
has "no period" "$(refused event=cpu/instructions,period=1000/)" "no period"
has "no such task" "$(dmesg -c > /dev/null; insmod /root/my_pmu_sample_task.ko pid=999999 2>&1; dmesg)" \
	'there is no task 999999'
unload
is "the registers are as before" "$(/root/pmu-registers 0 1 2 3)" "$before"
load cpu=3 counters=none perf=0
has "perf=0: there is no PMU for it" "$(refused)" "without perf=0"
unload

finish
