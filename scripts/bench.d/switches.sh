# SPDX-License-Identifier: GPL-2.0
# In the guest: what a switch of tasks costs more if the task is counted: out and in once, with
# 1 and with 4 events, by perf's own PMU and by my_pmu. Its argument is put into the names.
# Prints "figure NAME VALUE".
# shellcheck shell=dash
cpu=3		# measured
helper=2	# where perf is; both CPUs are isolated
rounds=20000	# as pingpong was built

fail() {
	echo "switches: $*" >&2
	dmesg | tail -n 5 >&2
	kill $$	# the script, also from a subshell
	exit 1
}

# odometer N: of the measured CPU: 0 instructions, 2 WRMSR, 3 RDMSR, 4 RDPMC
odometer() {
	rdmsr -d -p $helper $((0x4000f100 + 7 * cpu + $1))
}

# run NAME COMMAND...: into /tmp/NAME how often in a round, less what is in /tmp/none. The
# kernel's ticks add to it, the more the slower the machine is: the least of three times counts.
run() {
	name=$1
	shift
	for _ in 1 2 3; do
		before="$(odometer 0) $(odometer 2) $(odometer 3) $(odometer 4)"
		"$@" || fail "$name: $*: $(cat /tmp/perf.err)"
		echo "$before $(odometer 0) $(odometer 2) $(odometer 3) $(odometer 4)"
	done | awk -v n=$rounds '
		{ for (i = 1; i <= 4; i++) {
			each = ($(i + 4) - $i) / n
			if (NR == 1 || each < least[i]) least[i] = each
		} }
		END { for (i = 1; i <= 4; i++) printf "%f ", least[i] }' > "/tmp/$name"
	[ "$name" = none ] || paste -d ' ' "/tmp/$name" /tmp/none |
		awk -v name="switch_$name" '{ split("instructions WRMSR RDMSR RDPMC", of)
			for (i = 1; i <= 4; i++) printf "figure %s_%s %.2f\n", name, of[i], $i - $(i + 4) }'
}

# counted NAME EVENTS: the parent alone
counted() {
	run "$1" taskset -c $helper perf stat -i -x , -o /tmp/perf.err -e "$2" taskset -c $cpu /root/pingpong
}

four() {
	echo "$1/event=0xc0/u,$1/event=0xc4/u,$1/event=0x3c/u,$1/event=0xc5/u"
}

# opened EVENT: what is done on each CPU when the first one is opened, such as our self-test, is
# not done at a switch
opened() {
	perf stat -x , -o /tmp/perf.err -e "$1" true || fail "$1: $(cat /tmp/perf.err)"
}

sysctl -q kernel.nmi_watchdog=0
run none taskset -c $cpu /root/pingpong
opened cpu/event=0xc0/u
counted "perf_1_$1" cpu/event=0xc0/u
counted "perf_4_$1" "$(four cpu)"
insmod /root/my_pmu.ko cpu=$cpu counters=none || fail my_pmu.ko
opened my_pmu/event=0xc0/u
counted "ours_1_$1" my_pmu/event=0xc0/u
counted "ours_4_$1" "$(four my_pmu)"
rmmod my_pmu
