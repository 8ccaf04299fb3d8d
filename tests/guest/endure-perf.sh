# SPDX-License-Identifier: GPL-2.0
# Events of the PMU my_pmu, opened and closed, counted and sampled, forked, executed and ended,
# while the module is loaded and unloaded, a CPU goes and comes, and other modules have events.
#
# lab: vm --timeout 7200 --with perf --mem 2048
# lab: sample
# lab: sample client.c
# lab: program family family CHILDREN=50 INNER=1000
# lab: program waiting loop INSTRUCTIONS=1000000 WAIT=1
# in endurance long: debug
# in endurance long: kcsan
# in brief long: 6.12
# shellcheck shell=dash disable=SC1091 # it is beside this in the guest
. /root/guest/endure.sh

online=/sys/devices/system/cpu/cpu2/online
seconds=$(by_kernel 2400 1200 40)
until=$(($(date +%s) + seconds))
echo 1 > /sys/kernel/rcu_expedited
# Without the counters and event selects, in which perf leaves what its own events, by which it
# tries what the kernel can, have counted.
registers() {
	/root/pmu-registers 0 1 2 3 | grep -vE ' 0x(c|4c|30|18|19)[0-9a-f] '
}
registers > /tmp/before
for done in went loads clients tasks counts samples execs; do
	: > /tmp/$done
done

# over_and_over COMMAND...: until then, by itself; then it ends. Not while the module is about to go.
over_and_over() {
	while [ "$(date +%s)" -lt "$until" ]; do
		if [ -e /tmp/goes ]; then
			sleep 0.02
		else
			"$@"
		fi
	done 2> "/tmp/err.$1" &
}

hotplug() {
	echo 0 > $online && echo >> /tmp/went
	sleep 0.05
	echo 1 > $online
	sleep 1
}

# While it is in use rmmod is refused: it is tried until the last event is closed.
reload() {
	insmod /root/my_pmu.ko cpu=3 interval=10 counters=instructions:u@gp2 log=0 && echo >> /tmp/loads
	sleep "$(by_kernel 15 15 4)"
	touch /tmp/goes
	until rmmod my_pmu || ! [ -e /sys/module/my_pmu ]; do
		sleep 0.01
	done
	rm /tmp/goes
}

client() {
	if insmod /root/client.ko cpu=3; then
		echo >> /tmp/clients
		cat /sys/module/my_pmu_sample/parameters/counts > /dev/null
		rmmod my_pmu_sample
	fi
	sleep 0.1
}

# A task of another module's, which counts all of it, or is told that this was a part.
task() {
	/root/waiting &
	task=$!
	wait_stop $task
	if insmod /root/my_pmu_sample_task.ko pid=$task; then
		kill -CONT $task
		wait $task
		cat /sys/module/my_pmu_sample_task/parameters/count >> /tmp/tasks
		rmmod my_pmu_sample_task
	else
		kill -9 $task
	fi
	sleep 0.1
}

events=my_pmu/event=0xc0/u,my_pmu/event=0x3c/,my_pmu/event=0xc4/,my_pmu/event=0xc5/k

# fork NAME EVENTS: children; refused while it is not loaded
fork() {
	perf stat -x , -o "/tmp/stat.$1" -e "$2" /root/family &&
		sed -n 's/^\([0-9]*\),.*event=0xc0.*,100.00,.*$/\1/p' "/tmp/stat.$1" >> /tmp/counts
}

cpus() {
	perf stat -a -x , -o /tmp/stat.a -e "{my_pmu/event=0xc0/,my_pmu/event=0xc4/}" -e $events sleep 0.2
	perf stat -C 1,3 -x , -o /tmp/stat.c -e $events true
}

execute() {
	perf stat -x , -o /tmp/stat.e -e $events env env env env true && echo >> /tmp/execs
	perf stat -x , -o /tmp/stat.p -e $events -p $$ sleep 0.1
}

record() {
	perf record -q -o /tmp/perf.data -e my_pmu/event=0xc0,period=1009/u /root/family &&
		perf script -i /tmp/perf.data -F ip | wc -l >> /tmp/samples
	perf record -q -a -g -F 500 -o /tmp/perf.a -e my_pmu/event=0x3c/ sleep 0.2
}

over_and_over hotplug
over_and_over reload
over_and_over client
over_and_over task
over_and_over fork few $events
over_and_over fork in_turns $events,$events,$events,$events
over_and_over cpus
over_and_over execute
over_and_over record
wait
echo 1 > $online 2> /dev/null
for module in my_pmu_sample_task my_pmu_sample my_pmu; do
	rmmod $module 2> /dev/null
done

lines() {
	wc -l < "/tmp/$1"
}
sort /tmp/err.* | uniq -c | sort -rn | head -n 40 | sed 's,^,# ,'
figure "in $seconds s: loaded $(lines loads) times; the CPU went $(lines went) times; another module had events $(lines clients) times, and those of a task $(lines tasks) times; perf counted $(lines counts) times to the end, $(lines execs) times over exec, and recorded $(lines samples) times"
# A short run has not time enough for all of them.
# shellcheck disable=SC2046,SC2086 # a list
for done in $(by_kernel 'clients tasks samples execs' 'clients tasks samples execs' '') went loads counts; do
	expect "$done: $(lines "$done")" [ "$(lines "$done")" -gt 0 ]
done
# What perf has not scaled is all that family.S executes.
exact=$((14 * 50 + 5 + 50 * 2007))
is "no count is more than there was" "$(awk -v n=$exact '$1 > n' /tmp/counts | head -n 3)" ''
expect "most are exact ($(grep -c "^$exact$" /tmp/counts) of $(lines counts))" \
	[ $((2 * $(grep -c "^$exact$" /tmp/counts))) -gt "$(lines counts)" ]
is "nor of a task's" "$(awk '$1 > 1000000' /tmp/tasks | head -n 3)" ''
is "what is less is said to be a part" "$(awk '$1 < 1000000' /tmp/tasks | grep -v part | head -n 3)" ''
is "no more samples than periods" "$(awk -v n=$((exact / 1009)) '$1 > n' /tmp/samples | head -n 3)" ''
is "the registers are as before" "$(registers | diff /tmp/before -)" ''
all_well

finish
