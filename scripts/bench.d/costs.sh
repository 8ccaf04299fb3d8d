# SPDX-License-Identifier: GPL-2.0
# In the guest: what a sample costs one CPU, idle and busy, beside an empty cross-call
# and perf. With "reads" as its argument, only what reads, enabling and
# disabling of the module's events cost, which takes seconds; with "pmu PREFIX", what can be
# compared between PMUs. Prints "figure NAME VALUE", where NAME begins with that PREFIX.
# shellcheck shell=dash
cpu=3		# measured
helper=2	# where the sampler and perf are; both CPUs are isolated
interval=40	# milliseconds
watched=4000	# likewise
tracing=/sys/kernel/tracing

prefix=
[ "${1:-}" != pmu ] || prefix=$2

fail() {
	echo "costs: $*" >&2
	dmesg | tail -n 5 >&2
	exit 1
}

# bench WHAT [ARG...]: the line that the module prints; it is never loaded.
bench() {
	dmesg -c > /dev/null
	what=$1
	shift
	insmod /root/my_pmu_bench.ko "what=$what" cpu=$cpu "$@" 2> /dev/null
	dmesg | sed -n "s/.*my_pmu_bench: $what: //p" | grep . || fail "what=$what $*: no result"
}

mode() {
	bench "$@" | tee -a /tmp/lines | sed -n 's/^mode \([0-9]*\) .*/\1/p'
}

median() {
	bench "$@" | tee -a /tmp/lines | sed -n 's/.* median \([0-9]*\),.*/\1/p'
}

# accesses NAME: what the last measurement has counted beside instructions
accesses() {
	tail -n 1 /tmp/lines | grep -o '[A-Z]\{5\} [0-9]*' | while read -r access number; do
		figure "$1_$access" "$number"
	done
}

figure() {
	[ -n "$2" ] || fail "$1: no value"
	echo "figure $prefix$1 $2"
}

# With its thread on another CPU, where it disturbs nobody.
sampler_on=$helper
start_sampler() {
	insmod /root/my_pmu.ko cpu=$cpu interval=$interval log=0 "$@" || fail "my_pmu.ko $*"
	for task in /proc/[0-9]*; do
		case $(cat "$task/comm" 2> /dev/null) in
		my_pmu/*) taskset -p $((1 << sampler_on)) "${task#/proc/}" > /dev/null || fail taskset ;;
		esac
	done
}

# generic N: so many events, each on a generic counter
generic() {
	seq -s , 0 $(($1 - 1)) | sed 's/[0-9][0-9]*/instructions@gp&/g'
}

# sampled NAME [ARG...]: a sample's cost
sampled() {
	local name=$1

	shift
	start_sampler "$@"
	figure "$name" "$(mode watch times=$watched)"
	accesses "$name"
	rmmod my_pmu
}

# perf_sampled CPU FROM: what CPU does while perf stat, on FROM, looks at the measured one
perf_sampled() {
	taskset -c "$2" perf stat -I $interval -C $cpu -e instructions,cycles,instructions,cycles \
		-o /tmp/perf sleep $((watched / 1000 + 2)) &
	sleep 1
	median watch "cpu=$1" times=$watched user=1
	wait
}

samples() {
	sed -n "s/^cpu$cpu samples \([0-9]*\) .*/\1/p" /sys/kernel/debug/my_pmu/counters
}

# Of all functions that the module has called on other CPUs.
cross_calls() {
	awk '{ calls += $2 } END { print calls }' $tracing/kprobe_profile
}

trace_calls() {
	echo 'p:reads my_pmu:intel_capture_cpus' > $tracing/kprobe_events
	echo 'p:answers my_pmu:intel_capture_one' >> $tracing/kprobe_events
	echo 'p:calls my_pmu:call_on_cpu' >> $tracing/kprobe_events
	echo 1 > $tracing/events/kprobes/enable
}

end_trace() {
	echo 0 > $tracing/events/kprobes/enable
	echo > $tracing/kprobe_events
}

written() {
	rdmsr -d -p 0 $((0x4000f100 + 7 * cpu + 2))
}

# at_rest COMMAND: how many samples there were, and what COMMAND says; between two samples
at_rest() {
	local before=-1 after value

	while :; do
		before=$(samples)
		value=$($1)
		after=$(samples)
		[ "$before" != "$after" ] || break
	done
	echo "$before $value"
}

# counted NAME COMMAND: what COMMAND counts, for each sample
# shellcheck disable=SC2046 # two words are wanted
counted() {
	local name=$1

	set -- "$2" $(at_rest "$2")
	sleep 4
	set -- "$@" $(at_rest "$1")
	figure "$name" "$(awk -v n=$(($5 - $3)) -v s=$(($4 - $2)) 'BEGIN { print n / s }')"
}

# In the kernel, on that CPU and from another one.
our_costs() {
	figure read_remote "$(mode read)"
	figure read_group_remote "$(mode read-group)"
	figure read_local $(($(mode local-read) - here))
	figure read_local_seldom $(($(mode local-read pause=5) - here))
	figure read_group_local $(($(mode local-read-group) - here))
	figure toggle_remote "$(mode toggle)"
	figure toggle_local $(($(mode local-toggle) - here))
}

perfs_local_costs() {
	figure perf_read_local $(($(mode local-perf-read) - here))
	figure perf_read_local_seldom $(($(mode local-perf-read pause=5) - here))
	figure perf_read_all_local $(($(mode local-perf-read-all) - here))
	figure perf_toggle_local $(($(mode local-perf-toggle) - here))
}

sysctl -q kernel.nmi_watchdog=0
if [ "${1:-}" = reads ]; then
	figure floor_idle "$(mode call)"
	here=$(mode local-nothing)
	insmod /root/my_pmu.ko counters=none || fail my_pmu.ko
	our_costs
	exit
fi
if [ -n "$prefix" ]; then
	figure floor_idle "$(mode call)"
	sampled sample_generic_4 "counters=$(generic 4)"
	here=$(mode local-nothing)
	perfs_local_costs
	insmod /root/my_pmu.ko counters=none || fail my_pmu.ko
	our_costs
	exit
fi
[ -e $tracing/kprobe_events ] || mount -t tracefs none $tracing
bench sizes | awk '{ print "figure bytes_cpu " $1; print "figure bytes_event " $8 }'

# --- an idle CPU
figure floor_idle "$(mode call)"
sampled sample_idle
for n in 1 2 3 4 5 6 7 8; do
	sampled "sample_generic_$n" "counters=$(generic $n)"
done
sampled sample_unfrozen freeze=0
figure perf_stat_idle "$(perf_sampled $cpu $helper)"
accesses perf_stat_idle

start_sampler
figure sampler_helper "$(median watch cpu=$helper times=$watched)"
rmmod my_pmu
# Where the measured CPU itself takes the sample there is nothing to wait for.
sampler_on=$cpu
sampled sampler_work
sampler_on=$helper
figure perf_stat_work "$(perf_sampled $cpu $cpu)"
interval=500
start_sampler
counted writes written
trace_calls
counted cross_calls cross_calls
end_trace
rmmod my_pmu
start_sampler freeze=0
counted writes_unfrozen written
rmmod my_pmu

# --- in the kernel
here=$(mode local-nothing)
figure perf_read_remote "$(mode perf-read)"
figure perf_read_all_remote "$(mode perf-read-all)"
figure perf_toggle_remote "$(mode perf-toggle)"
perfs_local_costs
insmod /root/my_pmu.ko counters=none || fail my_pmu.ko
our_costs
pmu=$(cat /sys/bus/event_source/devices/my_pmu/type)
figure frontend_read_remote "$(mode perf-read "pmu=$pmu")"
figure frontend_read_local $(($(mode local-perf-read "pmu=$pmu") - here))
rmmod my_pmu

# --- a busy one
taskset -c $cpu /root/spin &
spin=$!
sleep 2
figure floor_busy "$(mode call times=200)"
watched=8000
sampled sample_busy
kill $spin
sed 's/^/# /' /tmp/lines
