# SPDX-License-Identifier: GPL-2.0
# Another module counts with ours: samples/my_pmu_sample.c, which has the
# instructions and branches of a loop, beside what ours counts for itself.
#
# lab: sample
# lab: sample client.c
# lab: program loop10 loop INSTRUCTIONS=10000000
# in check: 6.1
# in sample long, lab: 6.12
# in endurance: debug kcsan
# shellcheck shell=dash disable=SC1091 # lib.sh is beside it in the guest
. /root/guest/lib.sh

watchdog 0
before2=$(/root/pmu-registers 2)
before3=$(/root/pmu-registers 3)

# sample PARAMETER...: what it says, after its name; it stays loaded
sample() {
	sample_seen=$(dmesg | grep -c 'my_pmu_sample: ')
	insmod /root/my_pmu_sample.ko "$@" 2> /tmp/insmod.err
	sample_status=$?
	dmesg | sed -n 's/^.*my_pmu_sample: //p' | tail -n +$((sample_seen + 1))
	return $sample_status
}

# counted_on CPU: for 1000, 2000 and 3000 turns
counted_on() {
	for turns in 1000 2000 3000; do
		sample cpu="$1" turns=$turns
		rmmod my_pmu_sample
	done
}

# is_linear NAME LINES: so many more for each thousand turns, a whole number of each
# turn's instructions, and one branch
is_linear() {
	linear=$(echo "$2" | sed -n 's/^\([0-9]*\) turns: \([0-9]*\) instructions, \([0-9]*\) branches .*/\2 \3/p' | tr '\n' ' ')
	# shellcheck disable=SC2086 # six numbers
	set -- "$1" $linear
	is "$1: six numbers ($linear)" $# 7
	is "$1: as many for the third thousand turns as for the second" \
		"$(($6 - $4)) $(($7 - $5))" "$(($4 - $2)) $(($5 - $3))"
	is "$1: a branch in each turn" $(($5 - $3)) 1000
	expect "$1: some instructions in each turn" [ $((($4 - $2) % 1000)) = 0 ]
	expect "$1: two at least" [ $(($4 - $2)) -ge 2000 ]
}

sample > /dev/null
is "it cannot be loaded without ours" $? 1
has "its symbols are ours" "$(dmesg | tail -n 20)" 'Unknown symbol my_perf_event_create'

# --- beside a session on CPU 3, which counts what it counts there
busy 3
load cpu=3 interval=100 counters=instructions:u@gp2,instructions:u@fixed0
wait_samples 2
here=$(counted_on 3)
there=$(counted_on 2)
is_linear "on the CPU that is sampled" "$here"
is_linear "on another" "$there"
is "both have counted the same" "$here" "$there"
wait_samples $(($(samples | wc -l) + 2))
is "ours has lost nothing" "$(samples | grep -c 'stolen=\|late=')" 0
samples > /tmp/samples
is "and counts right" \
	"$(sed 's/.*instructions:u@gp2=\([0-9]*\) instructions:u@fixed0=\1$//' /tmp/samples | sort -u)" ''
idle
sample cpu=2 > /dev/null
rmmod my_pmu 2> /tmp/rmmod.err
is "ours stays while it is loaded" $? 1
has "and rmmod says why" "$(cat /tmp/rmmod.err)" 'temporarily unavailable|in use'
rmmod my_pmu_sample
has "a CPU that is not there" "$(sample cpu=9)" '^there is no CPU 9$'
echo 0 > /sys/devices/system/cpu/cpu2/online
has "one that is offline" "$(sample cpu=2)" '^CPU 2 is offline$'
echo 1 > /sys/devices/system/cpu/cpu2/online
unload
is "ours can go when it has gone" $? 0

# --- with no counter left
all=instructions@gp0
for n in 1 2 3 4 5 6 7; do
	all=$all,instructions@gp$n
done
load cpu=3 counters="$all,instructions@fixed0"
has "no counter is left for it" "$(sample cpu=3)" \
	"^'instructions:k': no counter is left that counts it; .* and other events of my_pmu use some$"
has "but on another CPU" "$(sample cpu=2)" '^1000 turns: '
rmmod my_pmu_sample
unload

# --- for others alone
load cpu=3 counters=none interval=1
sleep 0.5
is "ours counts nothing" "$(log | grep -c ' t=')" 0
has "and says so" "$(log)" 'counting: none;'
alone=$(counted_on 3)
is_linear "for others alone" "$alone"
is "as beside ours" "$alone" "$here"

# --- one that stays, while its CPU goes and comes
counts=/sys/module/my_pmu_sample/parameters/counts
online=/sys/devices/system/cpu/cpu2/online
insmod /root/client.ko cpu=2
is "what is lent is shown" "$(grep -c '^cpu2 \(gp0\|fixed0\) lent instructions:u$' /sys/kernel/debug/my_pmu/counters)" 2
taskset 4 /root/loop10
echo 0 > $online
is "while its CPU is away it cannot be read" "$(cat $counts)" "error -6"
echo 1 > $online
taskset 4 /root/loop10
seen=$(cat $counts)
is "two counters agree ($seen)" "${seen% *}" "${seen#* }"
expect "and have what was before and after" [ "${seen% *}" -ge 20000000 ]
echo 0 > $online
echo 0 > $counts
echo 1 > $online
is "stopped while it was away, it has not started" "$(/root/pmu-registers 2)" "$before2"
echo 1 > $counts
taskset 4 /root/loop10
again=$(cat $counts)
is "started again, two counters agree ($again)" "${again% *}" "${again#* }"
expect "and count on" [ $((${again% *} - ${seen% *})) -ge 10000000 ]
rmmod my_pmu_sample

# --- at any moment
while_loaded() {
	while_loaded_seen=$(cat $counts)
	case $while_loaded_seen in
	*[0-9]' '[0-9]* | 'error -6') ;;
	*) echo "counts: $while_loaded_seen" ;;
	esac
}
load_while_toggled 2 my_pmu_sample /root/client.ko cpu=2
unload
is "every register of CPU 2 is as before" "$(/root/pmu-registers 2)" "$before2"
is "and of CPU 3" "$(/root/pmu-registers 3)" "$before3"

finish
