# SPDX-License-Identifier: GPL-2.0
# The module on another PMU: versions.sh PMU-LIST
#
# The watchdog uses perf, which cannot use every one of these PMUs.
# lab: vm --smp 2 --append nmi_watchdog=0
# shellcheck shell=dash disable=SC1091,SC2154 # lib.sh and pmu.sh are beside it in the guest
. /root/guest/lib.sh
. /root/guest/pmu.sh

pmu_from "$1"
cpu=1
# There is none where perf takes no PMU, e.g. one with a single counter.
watchdog 0 2> /dev/null
taskset -p 1 $$ > /dev/null

# max_interval BITS: half the range at 2^26 events in a millisecond, and no more
# than 2^31 ms, see pmu_read.c.
max_interval() {
	echo $((1 << ($1 < 58 ? $1 - 27 : 31)))
}

least_bits=$((fixed_width < width ? fixed_width : width))
max=$(max_interval $least_bits)
interval=$((max < 100 ? max : 100))

# fixed_list: as the kernel prints a bitmap
fixed_list() {
	case $((bitmap)) in
	1) echo 0 ;;
	2) echo 1 ;;
	3) echo 0-1 ;;
	4) echo 2 ;;
	5) echo 0,2 ;;
	6) echo 1-2 ;;
	7) echo 0-2 ;;
	esac
}

# place EVENT FIXED: appends the event, and the counter that it gets, if there
# is one. FIXED is the fixed counter that counts it, or none.
events=''
keys=''
free_gp=0
place() {
	if [ "$2" != none ] && has_fixed "$2"; then
		place_counter=fixed$2
	elif [ $free_gp -lt "$gp" ]; then
		place_counter=gp$free_gp
		free_gp=$((free_gp + 1))
	else
		return
	fi
	events=${events:+$events,}$1
	keys="$keys$1@$place_counter "
}

# --- what is found
before=$(/root/pmu-registers $cpu)
place instructions 0
place instructions:u none
place cycles 1
load cpu=$cpu interval=$interval counters="$events"
is "loads $events" "$?" 0
has "says version $version" "$(log)" "\.\.\. version: +$version\$"
has "says $gp generic counters" "$(log)" "\.\.\. generic registers: +$gp \(gp0(-$((gp - 1)))?\)\$"
has "says $width bits" "$(log)" "\.\.\. bit width: +$width\$"
if [ $((bitmap)) = 0 ]; then
	has "says 0 fixed counters" "$(log)" "\.\.\. fixed-purpose events: +0\$"
else
	has "says which fixed counters, of $fixed_width bits" "$(log)" \
		"\.\.\. fixed-purpose events: +$(weight $((bitmap))) \(fixed$(fixed_list)\), $fixed_width bits\$"
fi
# Of a counter of 32 bits that was read late, on a busy machine, nothing is printed.
for n in 2 3 4 5 6 7 8 9; do
	wait_samples $n
	samples | grep -qv ' late=' && break
done
unload
is "puts every register back" "$(/root/pmu-registers $cpu)" "$before"
is "chooses the counters" \
	"$(samples | grep -v ' late=' | head -n 1 | tr ' ' '\n' | sed '1,4d;s/=[0-9]*$//' | tr '\n' ' ')" "$keys"

# --- bounds
refused_at() {
	refused_errno=$1
	shift
	if load cpu=$cpu interval=$interval "$@"; then
		unload
	fi
	has "refuses $*" "$(cat /tmp/insmod.err)" "$refused_errno"
}
loads() {
	load cpu=$cpu interval=$interval "$@"
	is "takes $*" "$(cat /tmp/insmod.err)" ''
	unload
}
loads counters=instructions@gp0 interval=$(($(max_interval "$width") + 1))
loads counters=instructions@gp0 interval="$(max_interval "$width")"
refused_at 'Invalid' counters=cycles@gp"$gp"
for i in 0 1 2 3; do
	event=$(echo instructions cycles ref-cycles r0400 | cut -d ' ' -f $((i + 1)))
	if has_fixed $i; then
		loads counters="$event@fixed$i"
		loads counters="$event@fixed$i" interval=$(($(max_interval "$fixed_width") + 1))
	else
		refused_at 'Invalid' counters="$event@fixed$i"
	fi
done

# --- what CPUID.0AH:EBX says: bit 5 is for branches. Beyond its length a name
# promises an event that nobody knows of; who writes it raw may know it.
if has_event 5; then
	loads counters=branches
	loads counters=r00c4
else
	refused_at 'not supported' counters=branches
	if [ "$ebx_length" -gt 5 ]; then
		refused_at 'not supported' counters=r00c4
	else
		loads counters=r00c4
	fi
fi

# --- counting, over the wrap. On a CPU with a second counter that counts the
# same, the two must agree.
# wraps MSR BITS COUNTER OTHER
wraps() {
	wraps_start=$(printf '%#x' $((($(ones "$2") + 1) - 0x10000)))
	# A counter of 32 bits may have wrapped twice in a sample that came 64 ms late, as
	# it does on a busy machine, and then nobody knows its growth: once more.
	for _ in 1 2 3 4 5; do
		# Legacy writes take 32 bits and extend their sign.
		if [ "${3#gp}" != "$3" ]; then
			wrmsr -p $cpu "$1" 0xffff0000
		else
			wrmsr -p $cpu "$1" "$wraps_start"
		fi
		wraps_before=$(rdmsr -p $cpu "$1")
		busy $cpu
		load cpu=$cpu interval=$interval counters="instructions@$3${4:+,instructions@$4}"
		wait_samples 5
		unload
		idle
		samples | grep -q ' late=' || break
	done
	is "$3 is near its end" "0x$wraps_before" "$wraps_start"
	if [ -z "$4" ]; then
		expect "$3 counts on: no growth is a leap of half the range" \
			[ "$(value "instructions@$3" | sort -n | tail -n 1)" -lt $((1 << ($2 - 1))) ]
	elif [ "$version" -ge 2 ]; then
		is "$3 counts on over its wrap" "$(value "instructions@$3")" "$(value "instructions@$4")"
	else
		# Without GLOBAL_CTRL two counters start and are read one after the other.
		difference=$(($(total "instructions@$3") - $(total "instructions@$4")))
		expect "$3 counts on over its wrap, but for what is between two reads ($difference)" \
			[ $((difference > -1000 && difference < 1000)) = 1 ]
	fi
	expect "$3 has counted ($(total "instructions@$3"))" \
		[ "$(total "instructions@$3")" -gt 100000 ]
	is "nobody is said to have written it" "$(samples | grep -c stolen)" 0
	is "its value is put back" "0x$(rdmsr -p $cpu "$1")" "$wraps_start"
	is "nothing of it stays in GLOBAL_STATUS" \
		"$(rdmsr -p $cpu 0x38e 2> /dev/null || echo absent)" \
		"$([ "$version" -ge 2 ] && echo 0 || echo absent)"
	wrmsr -p $cpu "$1" 0
}
if [ "$gp" -ge 2 ]; then
	wraps 0xc1 "$width" gp0 gp1
elif has_fixed 0; then
	wraps 0xc1 "$width" gp0 fixed0
else
	wraps 0xc1 "$width" gp0 ''
fi
if has_fixed 0; then
	wraps 0x309 "$fixed_width" fixed0 gp0
fi

finish
