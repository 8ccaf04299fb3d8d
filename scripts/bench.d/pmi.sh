# SPDX-License-Identifier: GPL-2.0
# In the guest: what an interrupt of counters (PMI) costs one CPU that is busy in user
# space, with the module in both orders and with perf, for 1, 4 and 8 counters that overflow
# on the same instruction; and when samples are read. With "loss N" as its argument: what
# an event that counts beside them loses, with PMIs that come N instructions late. Prints
# "figure NAME VALUE".
# shellcheck shell=dash
cpu=3		# measured
helper=2	# where perf and what measures are; both CPUs are isolated
watched=2500	# milliseconds
period=20000003	# the CPU has some 20 of them in a second

fail() {
	echo "pmi: $*" >&2
	dmesg | tail -n 5 >&2
	exit 1
}

# watch NAME [ARG...]: what a PMI costs, and its accesses
watch() {
	local name=$1

	shift
	dmesg -c > /dev/null
	insmod /root/my_pmu_bench.ko cpu=$cpu times=$watched "$@" 2> /dev/null
	dmesg | sed -n "s/.*my_pmu_bench: [a-z]*: //p" > /tmp/line
	grep -q mode /tmp/line || fail "$name: no result"
	echo "figure $name $(sed -n 's/^mode \([0-9]*\) .*/\1/p' /tmp/line)"
	# What the buffer of samples costs is not the same each time.
	echo "figure ${name}_median $(sed -n 's/.* median \([0-9]*\),.*/\1/p' /tmp/line)"
	grep -o '[A-Z]\{5\} [0-9]*' /tmp/line | while read -r access number; do
		echo "figure ${name}_$access $number"
	done
	sed "s/^/# $name: /" /tmp/line
}

# events N EVENT
events() {
	seq "$1" | sed "s|.*|$2|" | tr '\n' ',' | sed 's/,$//'
}

# ours NAME ORDER N
ours() {
	insmod /root/my_pmu.ko cpu=$cpu interval=600000 log=0 "pmi=$2" \
		"counters={$(events "$3" "cpu/instructions,period=$period/u")}" || fail "my_pmu.ko $*"
	watch "$1" what=watch
	rmmod my_pmu
}

# recorded OPTION...: perf record, of the measured CPU, until end_record
recorded() {
	rm -f /tmp/recording
	taskset -c $helper perf record -q -o /tmp/perf.data -C $cpu "$@" \
		sh -c 'touch /tmp/recording; exec sleep 1000' 2> /tmp/perf.err &
	record=$!
	# What it runs is executed once the events are enabled.
	until [ -e /tmp/recording ]; do
		kill -0 $record 2> /dev/null || fail "perf record: $(cat /tmp/perf.err)"
		sleep 0.1
	done
}

end_record() {
	kill -INT $record
	wait $record 2> /dev/null
}

sysctl -q kernel.nmi_watchdog=0 kernel.perf_event_max_sample_rate=1000000 kernel.perf_cpu_time_max_percent=0

if [ "${1:-}" = loss ]; then
	for order in v3 v4; do
		insmod /root/my_pmu.ko cpu=$cpu interval=100 pmi="$order" \
			counters=cpu/instructions,period=99991/u,instructions:u@gp0 || fail my_pmu.ko
		/root/pinned
		sleep 1
		pmis=$(sed -n 's/^.* samples=\([0-9]*\) .*$/\1/p' /sys/kernel/debug/my_pmu/counters)
		rmmod my_pmu
		dmesg -c | grep -o 'instructions:u@gp0=[0-9]*' |
			awk -F = -v name="lost_${order}_$2" -v pmis="$pmis" '{ n += $2 }
				END { print "figure " name " " (10000000 - n) / pmis }'
	done
	exit
fi
taskset -c $cpu /root/spin &
sleep 1
watch pmi_floor what=nmi times=100
for n in 1 4 8; do
	ours pmi_v3_$n v3 $n
	ours pmi_v4_$n v4 $n
	watch pmi_perf_$n what=watch perf_events=$n period=$period
done
for n in 1 4 8; do
	insmod /root/my_pmu.ko cpu=$cpu interval=600000 log=0 \
		"counters={$(events "$n" "cpu/instructions,period=$period/u")}" || fail my_pmu.ko
	recorded -e my_pmu:my_pmu_overflow
	watch pmi_read_$n what=watch
	end_record
	rmmod my_pmu
	recorded -c $period -e "{$(events "$n" instructions:u)}"
	watch pmi_read_perf_$n what=watch
	end_record
done
exit 0
