# SPDX-License-Identifier: GPL-2.0
# The PMU my_pmu of perf: perf-pmu.sh PMU-LIST KERNEL
#
# lab: vm --with perf
# lab: sample client.c
# lab: program loop10 loop INSTRUCTIONS=10000000
# lab: program calls3000 calls TURNS=3000 INNER=10000 CALL=24 # sched_yield()
# lab: program calls5000 calls TURNS=5000 INNER=50000 CALL=24 # sched_yield()
# lab: program family family CHILDREN=50 INNER=100000
# in part long, lab: 6.12
# in sample long, lab: 6.1
# in lab: unstable
# in sample long, lab: version=2,gp=4,fixed=3,width=32 6.12
# shellcheck shell=dash disable=SC1091,SC2154 # both are beside it in the guest
. /root/guest/lib.sh
. /root/guest/frontend.sh

instructions=my_pmu/event=0xc0/u
before=$(registers)
devices=/sys/bus/event_source/devices

# --- what perf sees of it
load cpu=3 counters=none perf=0
expect "perf=0: there is no such PMU" [ ! -e $devices/my_pmu ]
unload
load cpu=3 counters=none perf=2
has "perf=2 is refused" "$(log)" "^perf: "
load cpu=3 counters=none
is "an event has these fields" "$(find $devices/my_pmu/format -type f -exec basename {} \; | sort | tr '\n' ' ')" \
	"cmask counter edge event inv umask "
has "perf list shows its events" "$(perf list 2> /dev/null)" 'my_pmu/instruction_retired/'
expect "no file says on which CPUs" [ ! -e $devices/my_pmu/cpumask -a ! -e $devices/my_pmu/cpus ]
is "nothing is touched before the first event" "$(registers)" "$before"

# --- a program of known length
is "it is counted" "$(tally $instructions /root/loop10)" 10000000
is "by its name in the SDM, too" "$(tally my_pmu/instruction_retired/u /root/loop10)" 10000000
perf stat -r 20 -x , -o /tmp/stat -e $instructions /root/loop10
is "20 times, without a deviation" "$(sed -n 's/^\([0-9]*\),.*,\([0-9.]*%\),.*$/\1 \2/p' /tmp/stat)" \
	"10000000 0.00%"
for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
	perf stat -x , -o /tmp/stat.$n -e $instructions /root/calls3000 &
done
wait
is "16 at once, each right" "$(cat /tmp/stat.* | sed -n 's/^\([0-9]*\),.*/\1/p' | sort -u)" \
	$((3000 * 20005 + 4))
taskset 2 perf stat -x , -o /tmp/one -e $instructions /root/calls3000 &
first=$!
taskset 2 perf stat -x , -o /tmp/two -e $instructions,my_pmu/event=0xc4/u /root/calls5000
wait $first
is "two on one CPU" "$(cat /tmp/one /tmp/two | sed -n 's/^\([0-9]*\),.*/\1/p' | tr '\n' ' ')" \
	"$((3000 * 20005 + 4)) $((5000 * 100005 + 4)) $((5000 * 50002 + 1)) "
is "50 children are counted with their parent" \
	"$(tally $instructions /root/family)" $((14 * 50 + 5 + 50 * 200007))
is "or are not" "$(perf stat -x , -i -e $instructions /root/family 2>&1 | cut -d , -f 1)" $((14 * 50 + 5))

# --- counters
is "on a counter that is named" \
	"$(tally my_pmu/event=0xc0,counter=0x1/u,my_pmu/event=0xc0,counter=0x2/u /root/loop10)" \
	"10000000 10000000"
has "not on one that cannot count it" \
	"$(perf stat -e my_pmu/event=0xc4,counter=0x100000000/u true 2>&1)" 'not supported|Invalid argument'
perf stat -x , -o /tmp/stat -e "{$instructions,my_pmu/event=0xc0,counter=0x1/u,my_pmu/event=0xc0,counter=0x2/u}" \
	-e my_pmu/event=0x3c/u,my_pmu/event=0xc4/u,my_pmu/event=0xc5/u,my_pmu/event=0xd1/u \
	-e my_pmu/event=0xd2/u,my_pmu/event=0xd3/u,my_pmu/event=0xd4/u,my_pmu/event=0xc6/u \
	-e my_pmu/event=0xc8/u,my_pmu/event=0xc9/u /root/calls5000
sed -e '/^#/d' -e '/^$/d' /tmp/stat | head -n 3 > /tmp/group
is "more events than counters: a group in turns is equal ($(cut -d , -f 1,5 /tmp/group | tr '\n' ' '))" \
	"$(cut -d , -f 1 /tmp/group | sort -u | wc -l)" 1
expect "and took turns" [ "$(cut -d , -f 5 /tmp/group | sort -u)" != 100.00 ]
has "a group with more events than counters is refused" \
	"$(perf stat -e "{$(for n in 1 2 3 4 5 6 7 8 9 10 11 12; do printf '%smy_pmu/event=0xc4/' "${comma:-}"; comma=,; done)}" true 2>&1)" \
	'Invalid argument|not supported|not counted'
has "no field that it does not have" "$(perf stat -e my_pmu/config=0x100000/ true 2>&1)" 'Invalid argument|not supported'

# --- in the kernel, all of a CPU
perf stat -x , -C 2 -o /tmp/stat -e "{my_pmu/event=0xc0,counter=0x1/,my_pmu/event=0xc0,counter=0x2/,my_pmu/event=0xc0/}" sleep 2
is "a group that counts the kernel is equal ($(sed -n 's/^\([0-9]*\),.*/\1/p' /tmp/stat | tr '\n' ' '))" \
	"$(sed -n 's/^\([0-9]*\),.*/\1/p' /tmp/stat | sort -u | wc -l)" 1
perf stat -x , -a -I 100 -o /tmp/stat -e "{my_pmu/event=0xc0,counter=0x1/,my_pmu/event=0xc0,counter=0x2/,my_pmu/event=0xc0/}" sleep 2
is "also while it is read" "$(awk -F , '/my_pmu/ { if (!($1 in n)) t++; n[$1] = n[$1] " " $2 }
	END { for (i in n) { split(n[i], c, " "); if (c[1] != c[2] || c[2] != c[3]) print n[i] } }' /tmp/stat | head -n 3)" ''
unload
is "rmmod at once: the registers are as before" "$(registers)" "$before"

# --- all three kinds of users
load cpu=3 interval=100 counters=instructions:u@gp2
insmod /root/client.ko cpu=3
wait_samples 2
seen=$(total instructions:u@gp2)
perf stat -x , -C 3 -o /tmp/stat -e $instructions sh -c "taskset 8 /root/loop10;
	taskset 8 perf stat -x , -o /tmp/task -e $instructions /root/loop10"
wait_samples $(($(samples | wc -l) + 2))
is "beside two others: a task" "$(sed -n 's/^\([0-9]*\),.*/\1/p' /tmp/task)" 10000000
counts=$(cat /sys/module/my_pmu_sample/parameters/counts)
is "another module's two counters agree ($counts)" "${counts% *}" "${counts#* }"
is "nothing is stolen of the sampler" "$(samples | grep -c 'stolen=\|late=')" 0
expect "it has the programs ($(total instructions:u@gp2), $seen before)" \
	[ "$(($(total instructions:u@gp2) - seen))" -ge 20000000 ]
expect "and so has the CPU's event ($(sed -n 's/^\([0-9]*\),.*/\1/p' /tmp/stat))" \
	[ "$(sed -n 's/^\([0-9]*\),.*/\1/p' /tmp/stat)" -ge 20000000 ]
rmmod my_pmu_sample
is "a counter comes back from another module" "$(tally $instructions /root/loop10)" 10000000

# --- CPUs that go and come, and the end
perf stat -o /tmp/sleep -e $instructions sleep 2 &
task=$!
until [ "$(cat /sys/module/my_pmu/refcnt)" -gt 0 ] || ! kill -0 $task; do
	usleep 10000
done
has "rmmod while an event is open" "$(rmmod my_pmu 2>&1)" 'temporarily unavailable|in use'
wait $task
perf stat -x , -o /tmp/stat -e $instructions /root/calls5000 &
task=$!
cpu_goes_and_comes
wait $task
is "CPUs go and come: a task" "$(sed -n 's/^\([0-9]*\),.*/\1/p' /tmp/stat)" $((5000 * 100005 + 4))
all_is_as_before "$before"
load cpu=3 counters=none
is "loaded again, for a task that perf has counted before" "$(tally $instructions /root/loop10)" 10000000
unload
is "perf has its own PMU again" "$(tally instructions:u /root/loop10)" 10000000

finish
