# SPDX-License-Identifier: GPL-2.0
# Too many interrupts of counters: a period of 1000 and of 100, in the kernel and in user
# space, on a busy CPU with a slow reader of the samples. The machine stays usable, the log
# and the samples tell, and what is counted beside them is right.
#
# With the kernel's mitigations an NMI takes more instructions than the shortest period has:
# in the kernel the next one is due before it has returned.
# lab: vm --append mitigations=auto
# lab: program pinned pinned INSTRUCTIONS=10000000
# in part, lab: version=5,gp=8 6.1
# in sample, lab: version=5,gp=8 6.12
# in lab: version=2,gp=4,width=32,full-width=off 6.1
# shellcheck shell=dash disable=SC1091 # lib.sh is beside it in the guest
. /root/guest/lib.sh

cpu=3
tracing=/sys/kernel/tracing
trace_overflows $tracing 64
before=$(/root/pmu-registers $cpu)

# Reads little at a time, and sleeps: most samples are lost to it.
slow_reader() {
	while :; do
		dd if=$tracing/trace_pipe bs=4096 count=1 2> /dev/null > /dev/null
		sleep 0.2
	done
}

# storm NAME EVENT: for three seconds; samples each 200 ms
storm() {
	dmesg -c > /dev/null
	busy $cpu
	insmod /root/my_pmu.ko cpu=$cpu interval=200 "counters=$2@gp0,instructions@gp1,instructions@gp2" || {
		fail "$1: loads" "$(log | tail -n 1)"
		idle
		return
	}
	echo 1 > $tracing/events/my_pmu/my_pmu_overflow/enable
	slow_reader &
	reader=$!
	wait_samples 15
	# What a user of that CPU sees: a program that takes no time takes little.
	start=$(cut -d ' ' -f 1 /proc/uptime | tr -d .)
	taskset 8 true
	end=$(cut -d ' ' -f 1 /proc/uptime | tr -d .)
	kill $reader
	wait $reader 2> /dev/null
	echo 0 > $tracing/events/my_pmu/my_pmu_overflow/enable
	counters=$(grep ' gp0 ' /sys/kernel/debug/my_pmu/counters)
	unload
	idle
	echo "# $counters"
	case "$counters" in
	*throttled=0)
		# They take less than a quarter of the time, if the host is quick; nothing to tell.
		is "$1: nothing is told" "$(log | grep -c 'too many')$(samples | grep -c throttled=)" 00
		;;
	*)
		has "$1: the log tells" "$(log)" "cpu$cpu: '$2': its interrupts are too many"
		expect "$1: and so do samples" [ "$(samples | grep -c ' throttled=gp0 ')" -ge 1 ]
		;;
	esac
	is "$1: what is counted beside it is right" "$(value instructions@gp1)" \
		"$(value instructions@gp2)"
	is "$1: nothing is taken for a theft" "$(samples | grep -cE ' (stolen|late|stuck)=')" 0
	# A machine in the lab has as much time as its host gives it.
	expect "$1: a program on that CPU ends in 3 s ($((end - start))0 ms)" \
		[ $((end - start)) -lt 300 ]
	late=$(samples | sed -n 's/^.* dt=\([0-9]*\)\..*$/\1/p' | sort -n | tail -n 1)
	expect "$1: no sample comes 3 s late ($late s)" [ "${late:-9}" -lt 3 ]
}

# must_throttle NAME: the last storm was one on any host
must_throttle() {
	has "$1: it is counted how often, and what has no sample" "$counters" \
		' samples=[1-9][0-9]* lost=[1-9][0-9]* throttled=[1-9][0-9]*$'
	expect "$1: samples tell ($(samples | grep -c ' throttled=gp0 '))" \
		[ "$(samples | grep -c ' throttled=gp0 ')" -ge 3 ]
}

storm "each 1000 of user space" cpu/instructions,period=1000/u
storm "each 1000 of all" cpu/instructions,period=1000/
storm "each 200 of all" cpu/instructions,period=200/
must_throttle "each 200 of all"
storm "each 100 of all" cpu/instructions,period=100/
must_throttle "each 100 of all"
storm "each 100 cycles of the kernel" cpu/cycles,period=100/k
must_throttle "each 100 cycles of the kernel"

# --- afterwards all is as if nothing had been
load cpu=$cpu interval=100 counters=cpu/instructions,period=99991/u
wait_samples 1
/root/pinned
has "afterwards no sample is lost" "$(cat /sys/kernel/debug/my_pmu/counters)" \
	' samples=100 lost=0 throttled=0$'
unload
is "nothing is an unknown NMI" "$(dmesg | grep -c Uhhuh)" 0
is "all registers are as before" "$(/root/pmu-registers $cpu)" "$before"

finish
