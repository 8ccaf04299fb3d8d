# SPDX-License-Identifier: GPL-2.0
# Counts that belong to tasks: perf-task.sh PMU-LIST
#
# lab: vm --with perf
# lab: program calls3000 calls TURNS=3000 INNER=50000 CALL=24 # sched_yield()
# lab: program calls5000 calls TURNS=5000 INNER=50000 CALL=24 # sched_yield()
# lab: program calls7000 calls TURNS=7000 INNER=50000 CALL=24 # sched_yield()
# lab: program family family CHILDREN=50 INNER=100000
# in part, lab: 6.1
# in lab: 6.12
# shellcheck shell=dash disable=SC1091 # lib.sh is beside it in the guest
. /root/guest/lib.sh

watchdog 0

# switching TURNS: calls.S with INNER=50000, alone or among others on CPU 1
switching() {
	taskset 2 perf stat -x , -o "/tmp/stat$1" -e instructions:u,branches:u,context-switches \
		"/root/calls$1"
}
field() {
	awk -F , -v event="$2" '$3 == event { print $1 }' "/tmp/stat$1"
}
instructions() {
	echo $(($1 * 100005 + 4))
}
# A turn's branches: 50000, SYSCALL, and the turn's own; and the last SYSCALL.
branches() {
	echo $(($1 * 50002 + 1))
}

all='3000 5000 7000'
for turns in $all; do
	switching "$turns"
	is "alone: $turns turns" "$(field "$turns" instructions:u) $(field "$turns" branches:u)" \
		"$(instructions "$turns") $(branches "$turns")"
done
# Each runs for so long that it does not matter when the others begin.
for turns in $all; do
	switching "$turns" &
done
wait
for turns in $all; do
	switches=$(field "$turns" context-switches)
	is "three on one CPU: $turns turns, $switches switches" \
		"$(field "$turns" instructions:u) $(field "$turns" branches:u)" \
		"$(instructions "$turns") $(branches "$turns")"
	expect "which are thousands" [ "$switches" -ge 2000 ]
done

# --- with an event that counts the CPU at the same time
perf stat -x , -o /tmp/cpu -C 1 -e instructions:u sleep 30 &
cpu_perf=$!
sleep 0.5
switching 3000 &
first=$!
switching 5000
wait $first
kill -INT $cpu_perf
wait $cpu_perf
is "beside a CPU's event: each task's is the same" \
	"$(field 3000 instructions:u) $(field 5000 instructions:u)" \
	"$(instructions 3000) $(instructions 5000)"
cpu=$(awk -F , '/instructions/ { print $1 }' /tmp/cpu)
expect "and the CPU's are no fewer than both ($cpu)" \
	[ "$cpu" -ge $(($(instructions 3000) + $(instructions 5000))) ]

# --- what children count belongs to the parent's event, or does not: family.S
is "50 children are counted with their parent" \
	"$(tally instructions:u /root/family)" $((14 * 50 + 5 + 50 * 200007))
is "or are not" "$(perf stat -x , -i -e instructions:u /root/family 2>&1 | cut -d , -f 1)" \
	$((14 * 50 + 5))
taskset 2 perf stat -x , -o /tmp/one -e instructions:u /root/family
is "on one CPU, too" "$(awk -F , '/instructions/ { print $1 }' /tmp/one)" \
	$((14 * 50 + 5 + 50 * 200007))
is "nothing is an unknown NMI" "$(dmesg | grep -c Uhhuh)" 0

finish
