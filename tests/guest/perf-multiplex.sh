# SPDX-License-Identifier: GPL-2.0
# More events than counters: perf-multiplex.sh PMU-LIST
#
# perf switches jump labels on and off, and QEMU 7.2 may translate an INT3 that another
# CPU is just removing ("Oops: int3"): one CPU where one will do.
# lab: vm --smp 1 --with perf
# lab: program loop loop INSTRUCTIONS=400000000
# lab: program loop10 loop INSTRUCTIONS=10000000
# in check alone, lab alone: version=3,gp=4 6.1
# in lab alone: 6.1
# in lab alone: version=3,gp=4 6.12
# shellcheck shell=dash disable=SC1091,SC2154 # lib.sh and pmu.sh are beside it in the guest
. /root/guest/lib.sh
. /root/guest/pmu.sh

pmu_from "$1"
exact=400000000
watchdog 0

# events N: instructions, with a CMASK, which no fixed counter takes
events() {
	seq "$1" | sed 's,.*,cpu/event=0xc0\,cmask=1/u,' | tr '\n' ',' | sed 's/,$//'
}

number=$((3 * gp))
perf stat -x \; --no-scale -o /tmp/raw -e "$(events $number)" /root/loop

# Fields: count, unit, event, time running, percentage of the time enabled.
counts() {
	awk -F \; '/cmask/ { print $1 }' "$1"
}
is "all $number events have counted" "$(counts /tmp/raw | grep -c '^[1-9]')" $number
# The counters change hands in the kernel, and all of them are always in use:
# each user instruction is counted by as many events as there are counters.
sum=$(counts /tmp/raw | awk '{ n += $1 } END { printf "%.0f", n }')
is "together they have counted each instruction $gp times" "$sum" $((gp * exact))
# A third of the time is each one's share; what they get differs by the turns
# at the start and the end, and no share is less than half of that.
shares=$(awk -F \; '/cmask/ { print $5 }' /tmp/raw | sort -n)
expect "each ran for a part of the time it was enabled ($(echo "$shares" | tr "\n" " "))" \
	[ "$(echo "$shares" | awk '$1 < 16 || $1 > 67' | wc -l)" = 0 ]
# Scaling takes the rate while the event did not run for the rate while it
# ran. The loop's is constant but for what the host takes away: bursts that
# last for some turns of the hundreds. So an eighth is much; and the best of
# some runs, for a wrong scale would be wrong in each.
worst_of_run() {
	perf stat -x \; -o /tmp/scaled -e "$(events $number)" /root/loop
	counts /tmp/scaled | awk -v n=$exact '{ d = 100 * ($1 - n) / n; if (d < 0) d = -d; if (d > w) w = d } END { printf "%d", w }'
}
runs=$(for _ in 1 2 3 4 5; do
	worst_of_run
	echo
done | sort -n | tr '\n' ' ')
expect "scaled counts are at most 12 percent from the exact one ($runs)" [ "${runs%% *}" -le 12 ]

# --- groups: all or nothing
has "a group of $gp fits" "$(tally "{$(events "$gp")}" /root/loop10)" "^10000000( 10000000)*\$"
is "a group of $((gp + 1)) does not" \
	"$(tally "{$(events $((gp + 1)))}" /root/loop10 | tr ' ' '\n' | grep -c '[0-9]')" 0

finish
