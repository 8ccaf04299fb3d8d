# SPDX-License-Identifier: GPL-2.0
# Events with a period: pmi.sh PMU-LIST. Each overflow has a record, at its instruction.
#
# lab: program pinned pinned INSTRUCTIONS=10000000
# in check: version=5,gp=8 6.1
# in sample, lab: version=5,gp=8 6.12 unstable
# in sample, lab: version=2,gp=4,width=32,full-width=off 6.1
# in sample, lab: version=3,gp=4,width=40 6.1
# in sample, lab: version=6 6.12
# in lab: MY_PMU_QEMU=10.0 version=5,gp=8 6.1
# in lab: MY_PMU_QEMU=10.2 version=5,gp=8 6.1
# shellcheck shell=dash disable=SC1091 # lib.sh is beside it in the guest
. /root/guest/lib.sh

cpu=3
instructions=10000000
tracing=/sys/kernel/tracing
trace_overflows $tracing 8192
version=$(echo "$1" | sed -n 's/^.*version=\([0-9]*\).*$/\1/p')
orders=v3
[ "$version" -lt 4 ] || orders="v3 v4"
before=$(/root/pmu-registers $cpu)

# field NAME: of each record
field() {
	sed -n "s/^.* $1=\([^ ]*\).*\$/\1/p" /tmp/records
}

# The addresses that the program's text has behind instructions P, 2 P, ...: behind a DEC,
# which are the even ones, comes the JNZ.
addresses() {
	awk -v p="$1" -v n=$instructions 'BEGIN {
		for (i = p; i <= n - 3; i += p)
			print i % 2 ? "000" : "002"
	}'
}

# What is right of one event with this period.
expect_records() {
	is "$1: as many records as whole periods" "$(wc -l < /tmp/records)" \
		$((instructions / $2))
	is "$1: each behind the instruction at that distance" \
		"$(field ip | sed 's/^.*\(...\)$/\1/')" "$(addresses "$2")"
	is "$1: and its count says so" "$(field counts | tr -d '{}' |
		while read -r hex; do echo $((hex)); done | awk -v p="$2" '$1 != NR * p' | head -n 3)" ''
	is "$1: all of the program" "$(field user | sort -u) $(field cpu | sort -u)" "1 $cpu"
	is "$1: no sample is lost, none throttled" \
		"$(grep -c ' lost=0 throttled=0' /tmp/counters)" 1
}

for order in $orders; do
	for period in 99991 20011 10007; do
		event=cpu/instructions,period=$period/u
		run_pinned pmi="$order" "counters=$event,instructions:u"
		expect_records "$order, $period" $period
		is "$order, $period: the count is exact" \
			"$(log | grep -o " $event@[a-z0-9]*=[0-9]*" | awk -F = '{ n += $NF } END { print n }')" \
			$instructions
		is "$order, $period: and that of an event beside it" \
			"$(log | grep -o ' instructions:u@[a-z0-9]*=[0-9]*' | awk -F = '{ n += $NF } END { print n }')" \
			$instructions
		is "$order, $period: nothing else is said" \
			"$(samples | grep -cE ' (stolen|late|stuck|throttled)=')" 0
	done
	# --- several at once: on a fixed counter, too, and all generic ones
	event=cpu/instructions,period=99991/u
	run_pinned pmi="$order" "counters={$event@gp0,$event@gp1}"
	is "$order: two counters that overflow together have two records each time" \
		"$(field counter | sort | uniq -c | tr -s ' \n' ' ')" \
		" $((instructions / 99991)) gp0 $((instructions / 99991)) gp1 "
	is "$order: and each has the counts of both, which are the same" \
		"$(field counts | tr -d '{}' | awk -F , '$1 != $2' | wc -l)" 0
	run_pinned pmi="$order" "counters=$event@fixed0,cpu/instructions,period=30011/u@gp0,instructions:u@gp1"
	is "$order: a fixed and a generic counter, with other periods" \
		"$(field counter | sort | uniq -c | tr -s ' \n' ' ')" \
		" $((instructions / 99991)) fixed0 $((instructions / 30011)) gp0 "
	is "$order: the count beside them is exact" \
		"$(log | grep -o ' instructions:u@gp1=[0-9]*' | awk -F = '{ n += $NF } END { print n }')" \
		$instructions
done
case $1 in
*gp=8*)
	for order in $orders; do
		list=
		for i in 0 1 2 3 4 5 6 7; do
			list=$list,$event@gp$i
		done
		run_pinned pmi="$order" "counters=${list#,}"
		is "$order: eight counters that overflow together have eight records each time" \
			"$(field counter | sort | uniq -c | awk '{ print $1 }' | sort -u)" \
			$((instructions / 99991))
		is "$order: of eight counters" "$(field counter | sort -u | wc -l)" 8
	done
	;;
esac

# --- the CPU goes and comes: the period goes on where it was
load cpu=$cpu interval=100 counters=cpu/instructions,period=99991/u
wait_samples 1
/root/pinned
echo 0 > /sys/devices/system/cpu/cpu$cpu/online
is "offline the CPU's registers are put back" "$(rdmsr -p 0 0x38d)" \
	"$(echo "$before" | sed -n 's/^.* 0x38d //p')"
echo 1 > /sys/devices/system/cpu/cpu$cpu/online
/root/pinned
has "and online it goes on: no period is lost" "$(cat /sys/kernel/debug/my_pmu/counters)" \
	" samples=$((2 * instructions / 99991)) lost=0 throttled=0"
unload

# --- refused, in one line
load cpu=$cpu pmi=v5
is "another order is refused" "$(log)" "pmi: 'v5'; v3, v4 or auto is needed"
load cpu=$cpu counters=cpu/instructions,period=99/u
is "a shorter period is refused" "$(log)" \
	"counters: 'cpu/instructions,period=99/u': period=99; a number from 100 to 2147483647 is needed"
if [ "$orders" = v3 ]; then
	load cpu=$cpu pmi=v4 counters=cpu/instructions,period=1000/u
	has "the order of version 4 is refused where counters do not freeze" "$(log)" \
		"cpu$cpu: pmi=v4: the counters do not freeze at an overflow"
fi

is "nothing is an unknown NMI" "$(dmesg | grep -c Uhhuh)" 0
is "all registers are as before" "$(/root/pmu-registers $cpu)" "$before"

finish
