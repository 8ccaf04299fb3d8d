# SPDX-License-Identifier: GPL-2.0
# perf and the module side by side on RISC-V, where the firmware knows no owners: each counts
# right, or somebody says that it does not. riscv-beside.sh PMU-LIST KERNEL.
#
# lab: vm --with perf
# lab: program loop10 riscv-loop INSTRUCTIONS=10000000
# lab: program loop100 riscv-loop INSTRUCTIONS=100000000
# in part, lab: 6.12-riscv64
# in lab: unstable-riscv64
# in part long, lab: sscofpmf=off 6.12-riscv64
# in lab: sscofpmf=off unstable-riscv64
# shellcheck shell=dash disable=SC1091 # lib.sh is beside it in the guest
. /root/guest/lib.sh

ten=/root/loop10

# counters: which are not unused, but for the line about samples
counters() {
	sed -n '/unused$\| samples /!p' /sys/kernel/debug/my_pmu/counters
}

watchdog 0
case $1 in
*sscofpmf=off*)
	# --- perf is given the module's counters, and is told nothing
	load interval=50
	has "one line says what perf's counts are worth" "$(log)" \
		'no Sscofpmf: perf shares these counters, and its cycles and instructions are wrong'
	wait_samples 2
	perf stat -x , -o /tmp/stat -e instructions -- /root/loop100
	wait_samples $(($(samples | wc -l) + 3))
	samples | sed 's/^/# /'
	has "samples say that the counter was taken" "$(samples)" ' stolen=.*fixed2'
	is "and no sample counts what perf's value would make of it" \
		"$(value 'instructions@fixed2' | awk '$1 > 1000000000' | wc -l)" 0
	expect "when perf is gone it counts again" \
		[ "$(samples | tail -n 1 | grep -c 'instructions@fixed2=[1-9]')" = 1 ]
	unload
	is "unloads" "$?" 0
	all=$(tally instructions $ten)
	expect "perf counts right without it ($all)" [ "$all" -ge 10000000 -a "$all" -lt 12000000 ]

	# --- perf has them already
	perf stat -a -x , -o /tmp/stat -e cycles,instructions -- sleep 2 &
	sleep 0.5
	load interval=50
	has "what perf counts is refused" "$(log)" "'instructions': no counter is left.*, and perf uses some"
	wait
	cycles=$(sed -n 's/,.*cycles.*//p' /tmp/stat)
	expect "and perf's count is right ($cycles)" \
		[ "$cycles" -ge 2000000000 -a "$cycles" -lt 2500000000 ]

	# --- modes
	load counters=instructions:u
	has "one mode alone is refused" "$(log)" "'instructions:u': CPU 0 cannot count one mode alone"
	finish
	;;
esac

# --- the module first
# QEMU counts an event by one programmable counter: perf's instructions:u are not counted here, too.
load interval=50 counters=instructions,cycles,dTLB-load-misses
is "loads" "$?" 0
wait_samples 1
is "perf beside it counts to the digit" "$(tally instructions:u $ten)" 10000000
is "and with two events" "$(tally cycles:u,dTLB-load-misses:u $ten | sed 's/ .*//')" 10000000
wait_samples $(($(samples | wc -l) + 2))
is "no sample says that a counter was taken" "$(samples | grep -c stolen=)" 0
unload

# --- perf first
perf stat -a -x , -o /tmp/stat -e cycles,instructions -- sleep 2 &
sleep 0.5
load interval=50
is "loads beside perf" "$?" 0
has "and says what perf has" "$(log)" "counting: fixed0,2; perf's: gp17-18"
is "so does the file" "$(counters | tr '\n' ' ')" \
	'cpu0 gp17 perf cpu0 gp18 perf cpu0 fixed0 counting cycles cpu0 fixed2 counting instructions '
unload
load counters=cycles@gp18
has "a counter of perf's is refused" "$(log)" "'cycles@gp18': gp18 is in use on CPU 0, by perf"
wait
cycles=$(sed -n 's/,.*cycles.*//p' /tmp/stat)
expect "perf's count is right ($cycles)" [ "$cycles" -ge 2000000000 -a "$cycles" -lt 2500000000 ]

# --- perf through the module
load counters=none
is "perf's PMU my_pmu counts to the digit" "$(tally my_pmu/hw_instructions/u $ten)" 10000000
is "again, and with cycles" \
	"$(tally my_pmu/hw_instructions/u,my_pmu/hw_cpu_cycles/u $ten)" '10000000 10000000'
is "and again alone" "$(tally my_pmu/hw_instructions/u $ten)" 10000000
perf record -q -o /tmp/perf.data -e my_pmu/hw_instructions/u -c 10000 -- $ten 2> /tmp/record.err
has "sampling is refused" "$(cat /tmp/record.err)" 'sampling'
is "it names what the firmware has" \
	"$(cd /sys/bus/event_source/devices/my_pmu/events && echo *)" 'hw_cpu_cycles hw_instructions'
is "and refuses what it has not" "$(tally my_pmu/event=5,sbi/u $ten)" '<not supported>'
# perf has gp18 and then gp17, and leaves the first one. Anew: the counters of before still have
# their events, and QEMU counts these by no other one.
unload
load counters=none
perf stat -a -x , -o /tmp/first -e dTLB-load-misses -- sleep 1 &
sleep 0.5
perf stat -a -x , -o /tmp/stat -e cycles:u -- sleep 3 &
second=$!
sleep 1
is "a counter that perf has taken is passed over" \
	"$(tally my_pmu/hw_instructions,counter=0x60000/u $ten)" 10000000
wait "$second"
has "and perf's count is not lost" "$(cat /tmp/stat)" '^[1-9][0-9]*,.*cycles:u'
unload

# --- more events than counters
load interval=100 counters='{dTLB-load-misses@gp3-4},{dTLB-store-misses@gp3-4},{iTLB-load-misses@gp3-4}'
is "three events share two counters" "$?" 0
wait_samples 5
samples | sed 's/^/# /'
is "each is counted for a part of the time" \
	"$(samples | sed -n '3,5p' | grep -o '([0-9]*%)' | grep -vc '(\(0\|100\)%)')" 9
unload
finish
