# SPDX-License-Identifier: GPL-2.0
# On which counters an event is counted: as perf has it for the CPU's model.
#
# lab: vm --smp 2 --with perf
# lab: vm --cpu "max,vendor=GenuineIntel,family=6,model=${MY_PMU_MODEL:-94},stepping=3,la57=off,pmu=on"
# in check: 6.1
# in sample, lab: MY_PMU_MODEL=143 6.1
# in sample, lab: MY_PMU_MODEL=42 6.1
# in sample, lab: MY_PMU_MODEL=26 6.1
# in sample, lab: MY_PMU_MODEL=200 6.1
# in lab: 6.12
# in lab: MY_PMU_MODEL=143 6.12
# shellcheck shell=dash disable=SC1091 # lib.sh is beside it in the guest
. /root/guest/lib.sh

cpu=1
watchdog 0
before=$(/root/pmu-registers 0 1)
model=$(sed -n 's/^model[[:space:]]*: //p' /proc/cpuinfo | head -n 1)

# --- Nehalem needs a workaround that only perf has
if [ "$model" = 26 ]; then
	load cpu=$cpu interval=1000
	is "Nehalem is refused" "$?" 1
	has "and why" "$(log)" '^cpu1: no PMU that can be used: counters of this model \(26\) count wrong'
	is "nothing is touched" "$(/root/pmu-registers 0 1)" "$before"
	finish
fi

# counters_of EVENT: nine of it take turns on all counters that it can have
counters_of() {
	load cpu=$cpu interval=60000 "counters=$1,$1,$1,$1,$1,$1,$1,$1,$1" || cat /tmp/insmod.err
	sed -n "s/^cpu$cpu \([a-z]*[0-9]*\) counting .*/\1/p" /sys/kernel/debug/my_pmu/counters |
		tr '\n' ' '
	unload 2> /dev/null
}

eight='gp0 gp1 gp2 gp3 gp4 gp5 gp6 gp7 '
four='gp0 gp1 gp2 gp3 '

# The tables of arch/x86/events/intel/core.c: an event, and its counters on a model.
tried=0
while read -r of event wanted; do
	[ "$of" = "$model" ] || continue
	case $wanted in
	eight) wanted=$eight ;;
	four) wanted=$four ;;
	*) wanted="$wanted " ;;
	esac
	is "model $model counts $event on $wanted" "$(counters_of "$event")" "$wanted"
	tried=$((tried + 1))
done << 'END'
94 r01c0 gp1
94 r81d0 four
94 r01d1 four
94 r01d2 four
94 r0151 eight
94 r0148 eight
94 r04a3 eight
94 r00c4 eight
94 L1-dcache-loads four
94 L1-dcache-load-misses eight
42 r01c0 gp1
42 r0148 gp2
42 r02a3 gp2
42 r04a3 four
42 r0151 eight
143 r0151 four
143 r0148 four
143 r01c2 eight
143 r04a4 gp0
143 r02cd gp0
143 r01ce gp0
143 r81d0 four
143 r00c4 eight
200 r01c0 gp1
200 r0148 gp2
200 r04a4 gp0
200 r0151 four
200 r00c4 eight
END
if [ "$model" = 200 ]; then
	has "perf does not know this model" "$(cat /sys/bus/event_source/devices/cpu/caps/pmu_name)" \
		'^generic'
fi
expect "there are events of model $model ($tried)" [ "$tried" -ge 5 ]
is "registers of all CPUs are as before" "$(/root/pmu-registers 0 1)" "$before"

# --- what is listed is the same; and what perf is asked for does not count in KVM's guests
# Bit 20 of attr's flags, exclude_guest: KVM with a mediated vPMU has perf refuse others.
tracing=/sys/kernel/tracing
echo 'p:asked perf_event_create_kernel_counter flags=+40(%di):u64' > $tracing/kprobe_events
echo 1 > $tracing/events/kprobes/enable
load cpu=$cpu interval=60000 counters=cycles
echo 0 > $tracing/events/kprobes/enable
asked=$(sed -n 's/.* asked: .* flags=//p' $tracing/trace)
others=0
for flags in $asked; do
	others=$((others + !(flags >> 20 & 1)))
done
expect "perf is asked ($(echo "$asked" | wc -w))" [ -n "$asked" ]
is "without KVM's guests" "$others" 0
if [ "$model" = 94 ]; then
	has "L1-dcache-loads is listed" "$(cat /sys/kernel/debug/my_pmu/events)" \
		'^cpu1 L1-dcache-loads 0x81d0 gp0-3$'
	has "so is L1-dcache-load-misses" "$(cat /sys/kernel/debug/my_pmu/events)" \
		'^cpu1 L1-dcache-load-misses 0x151 gp0-7$'
fi
unload

# --- whoever names a counter means it, and is told
case $model in
94 | 42)
	load cpu=$cpu interval=60000 counters=r01c0@gp2
	is "r01c0@gp2 is obeyed" "$(rdmsr -p $cpu 0x188)" 4301c0
	has "with a line" "$(log)" \
		"^cpu1: 'r01c0' may count wrong on gp2; this model is known to count it on gp1\$"
	unload
	;;
esac
is "registers are as before at the end, too" "$(/root/pmu-registers 0 1)" "$before"

finish
