# SPDX-License-Identifier: GPL-2.0
# For the guest's test scripts (busybox sh): TAP, samples, MSRs.
# shellcheck shell=dash

tests=0
failed=0
# make endurance, whose kernels these are, takes its time.
case ${2:-} in
debug | kcsan) toggles=60 ;;
*) toggles=20 ;;
esac

pass() {
	tests=$((tests + 1))
	echo "ok $tests - $1"
}

# fail NAME [WHAT WAS SEEN]
fail() {
	tests=$((tests + 1))
	failed=$((failed + 1))
	echo "not ok $tests - $1"
	if [ $# -gt 1 ]; then
		echo "$2" | sed 's/^/#   /'
	fi
}

# is NAME GOT WANTED
is() {
	if [ "$2" = "$3" ]; then
		pass "$1"
	else
		fail "$1" "got '$2', wanted '$3'"
	fi
}

# has NAME TEXT PATTERN
has() {
	if echo "$2" | grep -qE -- "$3"; then
		pass "$1"
	else
		fail "$1" "no '$3' in: $2"
	fi
}

# expect NAME COMMAND...: the command succeeds
expect() {
	expect_name=$1
	shift
	if expect_output=$("$@" 2>&1); then
		pass "$expect_name"
	else
		fail "$expect_name" "failed: $*: $expect_output"
	fi
}

# The plan comes last: a script that stops on its way has none, and failed.
finish() {
	echo "1..$tests"
	exit $((failed > 0))
}

# It may fail where there is no PMU for it; whether it is on is what counts then.
watchdog() {
	sysctl -q -w kernel.nmi_watchdog="$1" 2> /tmp/watchdog.err && return
	[ "$(cat /proc/sys/kernel/nmi_watchdog)" = "$1" ] || {
		echo "# the NMI watchdog cannot be set to $1: $(cat /tmp/watchdog.err)"
		return 1
	}
}

# Most of a load and of an unload is waiting for RCU, which is of no interest here.
expedited() {
	echo 1 > /sys/kernel/rcu_expedited
	"$@"
	expedited=$?
	echo 0 > /sys/kernel/rcu_expedited
	return $expedited
}

# load PARAMETER...: with an empty kernel log, so that what is in it is ours.
load() {
	dmesg -c > /dev/null
	expedited insmod /root/my_pmu.ko "$@" 2> /tmp/insmod.err
}

unload() {
	expedited rmmod my_pmu
}

# load_while_toggled CPU MODULE FILE PARAMETER...: $toggles times, or until once, it is loaded, and
# while_loaded is called, which prints what is wrong, and it is unloaded, while the CPU
# goes and comes. It may be refused while the CPU is away, but not always.
#
# With pauses of any length: the two would go in step otherwise, and meet always in
# the same place.
load_while_toggled() {
	toggled_online=/sys/devices/system/cpu/cpu$1/online
	toggled_module=$2
	toggled_file=$3
	shift 3
	# shellcheck disable=SC3028 # busybox has RANDOM
	(while [ ! -e /tmp/stop ]; do
		echo 0 > "$toggled_online"
		usleep $((RANDOM % 50000))
		echo 1 > "$toggled_online"
		usleep $((RANDOM % 50000))
	done) 2> /dev/null &
	toggler=$!
	loaded=0
	refused=0
	other=''
	tries=0
	while [ $tries -lt "$toggles" ] || { [ $loaded = 0 ] && [ $tries -lt $((10 * toggles)) ]; }; do
		tries=$((tries + 1))
		if insmod "$toggled_file" "$@" 2> /tmp/insmod.err; then
			loaded=$((loaded + 1))
			other=$other$(while_loaded)
			rmmod "$toggled_module" || other="$other rmmod: $?"
		elif grep -q 'No such device or address' /tmp/insmod.err; then
			refused=$((refused + 1))
		else
			other=$other$(cat /tmp/insmod.err)
		fi
	done
	touch /tmp/stop
	wait $toggler
	echo 1 > "$toggled_online" 2> /dev/null
	is "of $tries times it loads ($loaded), or is told that the CPU is away ($refused)" \
		"$((loaded + refused)) $other" "$tries "
	expect "it has loaded" [ $loaded -gt 0 ]
}

# The module's lines, without what the kernel says of any such module.
log() {
	dmesg | sed -n -e '/out-of-tree module taints/d' \
		-e '/module verification failed/d' -e 's/^.*my_pmu: //p'
}

samples() {
	log | grep ' t='
}

# wait_samples N: until there are so many, 60 s at most. Each program that is started to see
# whether takes some 10 ms of an emulated CPU.
wait_samples() {
	read -r wait_from _ < /proc/uptime
	while [ "$(dmesg | grep -c 'my_pmu: .* t=')" -lt "$1" ]; do
		read -r wait_now _ < /proc/uptime
		if [ $((${wait_now%.*} - ${wait_from%.*})) -gt 60 ]; then
			echo "# no $1 samples in 60 s"
			return 1
		fi
		sleep 0.1
	done
}

# value KEY: of each sample, one in a line; there may be slashes in it
value() {
	samples | sed -n "s|^.* $1=\([0-9]*\).*\$|\1|p"
}

# total KEY: of all samples
total() {
	total_sum=0
	for total_value in $(value "$1"); do
		total_sum=$((total_sum + total_value))
	done
	echo "$total_sum"
}

# Suspends to RAM and wakes up, which takes scripts/vm --vmlinuz. All CPUs except 0 go offline:
# who was kept to some of them may run on any CPU afterwards.
# If the alarm comes while the guest is not yet suspended, because the host is busy, it
# ends the attempt (Documentation/ABI/testing/sysfs-power, wakeup_count): otherwise
# nothing would ever wake it. The time is doubled then.
sleep_and_wake() {
	for seconds in 4 8 16; do
		wakeups=$(cat /sys/power/wakeup_count)
		echo 0 > /sys/class/rtc/rtc0/wakealarm
		echo +$seconds > /sys/class/rtc/rtc0/wakealarm
		echo "$wakeups" > /sys/power/wakeup_count
		! echo mem > /sys/power/state || return 0
	done
	echo "# the guest cannot be suspended within $seconds s"
}

# trace_overflows TRACEFS KB: this script and what it starts keep off CPU 3, which is measured;
# there is so much room for the records of each CPU
trace_overflows() {
	watchdog 0
	taskset -p 7 $$ > /dev/null
	[ -d "$1/events" ] || mount -t tracefs tracefs "$1"
	echo "$2" > "$1/buffer_size_kb"
}

# run_pinned PARAMETER...: load on $cpu, run the program "pinned" once; its records, by the tracefs
# at $tracing, in /tmp/records, and the file counters in /tmp/counters
# shellcheck disable=SC2154 # cpu and tracing are the caller's
run_pinned() {
	load cpu="$cpu" interval=100 "$@" || {
		cat /tmp/insmod.err
		return 1
	}
	echo > "$tracing/trace"
	echo 1 > "$tracing/events/my_pmu/my_pmu_overflow/enable"
	wait_samples 1
	/root/pinned
	wait_samples $(($(samples | wc -l) + 2))
	echo 0 > "$tracing/events/my_pmu/my_pmu_overflow/enable"
	sed -n 's/^.*my_pmu_overflow: //p' "$tracing/trace" > /tmp/records
	grep . /sys/kernel/debug/my_pmu/counters > /tmp/counters
	unload
}

# nmis_of CPU: how many it has had; offline CPUs have no column
nmis_of() {
	awk -v cpu="CPU$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == cpu) field = i + 1 }
		$1 == "NMI:" { print $field }' /proc/interrupts
}

# CPU 3 is stuck, by stuck.ko, with the NMI watchdog on. Its NMI comes after a threshold's
# worth of cycles at the TSC's rate, and the second one in a row finds that the CPU is stuck:
# five thresholds' worth will do, however long a busy host takes for them. Interrupts are off there, so RCU waits, too; it is not asked.
be_stuck() {
	sysctl -q -w kernel.soft_watchdog=0
	sysctl -q -w kernel.watchdog_thresh=1
	watchdog 1
	echo 1 > /sys/module/rcupdate/parameters/rcu_cpu_stall_suppress
	dmesg -c > /dev/null
	taskset 8 /sbin/insmod /root/stuck.ko seconds=5 2> /dev/null
}

# Keeps a CPU busy until the shell's job is killed.
busy() {
	taskset "$(printf '%x' $((1 << $1)))" sh -c 'while :; do :; done' &
	busy_pid=$!
}

idle() {
	kill "$busy_pid"
	wait "$busy_pid" 2> /dev/null
}

# wait_stop PID: until a program has stopped itself
wait_stop() {
	until grep -q '^State:.T' "/proc/$1/status"; do
		usleep 10000
	done
}

# counted EVENT[,EVENT...] PROGRAM [ARGUMENT...]: what perf stat says of each
# event, in their order, one in a line. A group is in braces.
counted() {
	counted_events=$1
	shift
	perf stat -x , -o /tmp/stat -e "$counted_events" -- "$@"
	sed -e '/^#/d' -e '/^$/d' -e 's/,.*//' /tmp/stat
}

# tally EVENT...: as above, with blanks between the numbers
tally() {
	counted "$@" | tr '\n' ' ' | sed 's/ $//'
}
