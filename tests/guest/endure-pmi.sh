# SPDX-License-Identifier: GPL-2.0
# Millions of interrupts of counters (PMIs), in both orders, while a CPU goes off- and online,
# the machine is suspended, the module is loaded and unloaded, and perf tries to have
# events: each overflow has a sample or is told as lost, no NMI is unknown, nothing is left in
# a register, and the NMI watchdog fires afterwards. scripts/vm finds an NMI that nobody knew
# in the kernel log.
#
# lab: program loop loop INSTRUCTIONS=100000000
# lab: module stuck.c
# lab: module lvtpc.c
# lab: vm --timeout 5400 --vmlinuz --with perf --mem 2048
# lab: vm --append pmis=${MY_PMU_PMIS:-30000}
# lab: vm --allow 'Watchdog detected hard LOCKUP|BUG: soft lockup|rcu.*detected.*stall|Kernel panic - not syncing: Hard LOCKUP'
# in endurance long: MY_PMU_PMIS=10000000 6.1
# in endurance long: MY_PMU_PMIS=1000000 debug
# PMIs that come 51 instructions late:
# in endurance long: MY_PMU_PMIS=1000000 vendor=amd,version=2,freeze=on,pmi-skid=51 6.12
# in endurance long: MY_PMU_PMIS=1000000 vendor=amd,pmi-skid=51 6.1
# in brief long: 6.1
# in brief long: vendor=amd,pmi-skid=51 6.1
# shellcheck shell=dash disable=SC1091 # it is beside this in the guest
. /root/guest/endure.sh

pmis=$(sed 's/^.*\<pmis=\([0-9]*\).*$/\1/' /proc/cmdline)
# Ten rounds have each list of events in both orders, or twice; five have it in one.
rounds=10
cycles=40
if [ "$pmis" -lt 100000 ]; then
	rounds=5
	cycles=10
fi
# What not all PMUs have.
beside=fixed1
orders=2
apart=no
case $1 in
*vendor=amd*freeze=on*) beside=gp3 ;;
*vendor=amd*)
	beside=gp3
	orders=1
	apart=yes
	;;
esac
suspends=3
state=/sys/kernel/debug/my_pmu
online=/sys/devices/system/cpu/cpu3/online

# This script and what it starts keep off the CPUs that are measured, 0 and 3.
sleep_off_them() {
	sleep_and_wake
	# On a busy host one may be too slow to come back by itself.
	for woken in 1 2 3; do
		echo 1 > /sys/devices/system/cpu/cpu$woken/online
	done
	# Of whoever calls this, which may be a subshell.
	sh -c 'taskset -p 6 $PPID' > /dev/null
}

# So that what we find is what a resume leaves.
sleep_off_them
taskset -p 6 $$ > /dev/null

registers() {
	dmesg -c > /dev/null
	insmod /root/lvtpc.ko 2> /dev/null
	dmesg | sed -n 's/^.*lvtpc: //p'
	/root/pmu-registers 0 3
}

nmis() {
	awk '$1 == "NMI:" { for (i = 2; $i ~ /^[0-9]+$/; i++) n += $i; print n }' /proc/interrupts
}

# work CPU: user code and, between its programs, the kernel's
work() {
	while [ ! -e /tmp/rest ]; do
		taskset $((1 << $1)) /root/loop 2> /dev/null || usleep 20000
	done
}

# sum FILE CPU COUNTER: of an event's growth, where an event may have commas
sum() {
	awk -F , -v cpu="$2" -v counter="$3" \
		'$2 == cpu && $(NF - 4) == counter { n += $(NF - 3) } END { printf "%.0f", n }' "$1"
}

# events N: of round N: with a period on gp0, and the same without one on gp1; or more than
# there are counters. All periods are primes.
events() {
	case $(($1 % 5)) in
	0) echo "cpu/instructions,period=10007/u@gp0,instructions:u@gp1" ;;
	1) echo "cpu/instructions,period=2003/u@gp0,instructions:u@gp1,cpu/cycles,period=3001/@$beside" ;;
	2) echo "cpu/instructions,period=5003/@gp0,instructions@gp1,cpu/branches,period=5003/u@gp2" ;;
	3) echo "cpu/instructions,period=307/@gp0,instructions@gp1" ;;
	4)
		for period in 4001 5003 6007 7001 8009 9001 10007 11003 12007 13001 14009 15013; do
			echo "cpu/instructions,period=$period/u"
		done | tr '\n' ',' | sed 's/,$//'
		;;
	esac
}

# both_have_nmis: since now, each of the two CPUs; its program may have to come back first
both_have_nmis() {
	both_0=$(nmis_of 0)
	both_3=$(nmis_of 3)
	for _ in $(seq 300); do
		sleep 0.1
		[ "$(nmis_of 0)" -le "$both_0" ] || [ "$(nmis_of 3)" -le "$both_3" ] || return 0
	done
	echo "CPU 0 or 3 has had no PMI in 30 s"
	return 1
}

# trouble NMIS ROUND: until there have been so many, all that may happen meanwhile
trouble() {
	trouble_turn=0
	while [ "$(nmis)" -lt "$1" ] || [ $trouble_turn -lt 2 ]; do
		sleep 0.3
		echo 0 > $online
		usleep $((trouble_turn * 7919 % 50000))
		echo 1 > $online
		both_have_nmis || return
		if [ $((trouble_turn % 8)) = 0 ]; then
			perf stat -e cycles:u -C 3 true > /tmp/stat 2>&1
			grep -q 'resource busy' /tmp/stat || cat /tmp/stat
		fi
		[ $trouble_turn != 1 ] || [ "$2" -gt $suspends ] || {
			sleep_off_them
			both_have_nmis || return
		}
		trouble_turn=$((trouble_turn + 1))
	done
}

# same WHAT COUNT COUNT EVENTS: where each counter is stopped by itself, an NMI in between is
# counted in the kernel by those that still run (docs/amd.md): then they may be a ten-thousandth
# apart.
same() {
	case $apart,$4 in
	no,* | yes,*/u@gp0*) is "$1" "$2" "$3" ;;
	*)
		expect "$1, except for NMIs: $2, $3" \
			[ $(($2 - $3 < $3 / 10000 && $3 - $2 < $3 / 10000)) = 1 ]
		;;
	esac
}

# round N
round() {
	list=$(events "$1")
	order=v$((3 + $1 % orders))
	name="round $1, $order, $(echo "$list" | sed 's/,cpu.*,period=15013/ ... 15013/')"
	period=$(echo "$list" | sed 's/^[^=]*=\([0-9]*\).*$/\1/')
	load cpu=0,3 interval=100 log=0 pmi=$order "counters=$list" || {
		fail "$name: loads" "$(cat /tmp/insmod.err) $(log | tail -n 3)"
		return
	}
	cat $state/samples_pipe > /tmp/rows &
	reader=$!
	rm -f /tmp/rest
	work 0 &
	works=$!
	work 3 &
	works="$works $!"
	is "$name: PMIs come, and perf has no event" \
		"$(trouble $(($(nmis) + pmis / rounds)) "$1")" ''
	touch /tmp/rest
	# shellcheck disable=SC2086 # they are two
	wait $works
	# Between samples, which say how many overflows there must be: the kernel does not rest.
	sleep 0.3
	cp /tmp/rows /tmp/rows-before
	cat $state/counters > /tmp/counters
	sleep 0.3
	kill $reader
	wait $reader 2> /dev/null
	unload
	is "$name: nothing is stolen, late, or stuck" \
		"$(grep -E ',(stolen|late|stuck)$|dropped' /tmp/rows | head -n 3)" ''
	is "$name: each event has samples" "$(grep -c ' samples=0 ' /tmp/counters)" 0
	if [ $(($1 % 5)) = 4 ]; then
		# Multiplexed: the growth is scaled, which no number of samples is compared with.
		is "$name: it is multiplexed on both CPUs" \
			"$(grep -o 'period=15013/u samples=' /tmp/counters | wc -l)" 2
	else
		for cpu in 0 3; do
			least=$(($(sum /tmp/rows-before $cpu gp0) / period))
			most=$(($(sum /tmp/rows $cpu gp0) / period))
			told=$(($(sed -n "s/^cpu$cpu gp0 .* samples=\([0-9]*\) lost=\([0-9]*\) .*/\1 + \2/p" \
				/tmp/counters)))
			same "$name: cpu$cpu: the count is that of an event without a period" \
				"$(sum /tmp/rows $cpu gp0)" "$(sum /tmp/rows $cpu gp1)" "$list"
			expect "$name: cpu$cpu: each overflow has a sample or is lost ($least, $told, $most)" \
				[ $((told > 0 && least <= told && told <= most)) = 1 ]
		done
	fi
	figure "$name: $(sed -n 's/^\(cpu.\) gp0 .* \(samples=.*\)/\1 \2/p' /tmp/counters | tr '\n' ' ')"
	is "$name: registers and LVTPC are as before" "$(registers)" "$before"
}

before=$(registers)
has "LVTPC can be read" "$before" '^cpu3 0x[0-9a-f]+$'
began=$(nmis)
for round in $(seq $rounds); do
	round "$round"
done

# --- loaded and unloaded while PMIs come
rm -f /tmp/rest
work 0 &
works=$!
work 3 &
works="$works $!"
wrong=''
for i in $(seq "$cycles"); do
	load cpu=0,3 interval=100 pmi=v$((3 + i % orders)) "counters=$(events 3)" ||
		wrong="$wrong $i: $(cat /tmp/insmod.err)"
	usleep $((i * 7919 % 30000))
	unload || wrong="$wrong $i: rmmod"
done
touch /tmp/rest
# shellcheck disable=SC2086 # they are two
wait $works
is "loads and unloads $cycles times while PMIs come" "$wrong" ''
is "registers and LVTPC are as before" "$(registers)" "$before"
figure "$(($(nmis) - began)) NMIs"
is "it was suspended" "$(cat /sys/power/suspend_stats/success)" $((1 + suspends))
all_well

be_stuck
has "the NMI watchdog fires afterwards" "$(dmesg)" 'Watchdog detected hard LOCKUP on cpu 3'

finish
