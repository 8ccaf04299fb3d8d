# SPDX-License-Identifier: GPL-2.0
# The module on version 6: version6.sh PMU-LIST KERNEL. All counters, those behind holes
# and fixed4 to fixed6, too; and that perf and the module keep each other out, where
# reservations do that and where a guard does, because perf has registers that nobody can
# reserve.
#
# lab: vm --smp 2 --with perf
# lab: program loop10 loop INSTRUCTIONS=10000000
# in part, lab: version=6,gp=3,gp-bitmap=0xb7,fixed=1,fixed-bitmap=0x75 6.1
# in part, lab: version=6,reload=on 6.12
# in lab: version=6 unstable
# in lab: version=6,gp=3,gp-bitmap=0xb7,fixed=1,fixed-bitmap=0x75 6.12 unstable
# shellcheck shell=dash disable=SC1091,SC2154 # lib.sh and pmu.sh are beside it in the guest
. /root/guest/lib.sh
. /root/guest/pmu.sh

pmu_from "$1"
cpu=1
case $(uname -r) in
6.[0-9].*) guarded= ;;
*) guarded=1 ;;
esac
taskset -p 1 $$ > /dev/null
is "the NMI watchdog runs" "$(cat /proc/sys/kernel/nmi_watchdog)" 1
load cpu=$cpu
has "and keeps the module out" "$(cat /tmp/insmod.err)" 'busy'
has "which says so" "$(log)" 'the PMU is in use, by perf, the NMI watchdog'
watchdog 0
before=$(/root/pmu-registers $cpu)

# --- every counter
counters=''
keys=''
has_counter() {
	counters=$counters${counters:+,}$1:u@$2
	keys="$keys $1:u@$2"
}
for i in $(seq 0 31); do
	if [ $((gp_bitmap >> i & 1)) = 1 ]; then
		has_counter instructions gp"$i"
	fi
done
for i in 0 1 2 3 4 5 6; do
	if has_fixed $i; then
		has_counter "$(echo instructions cycles ref-cycles r0400 r73 r19c r2c2 |
			cut -d ' ' -f $((i + 1)))" fixed$i
	fi
done
load cpu=$cpu interval=200 counters="$counters"
is "loads $counters" "$(cat /tmp/insmod.err)" ''
has "says what leaf 23H has" "$(log)" \
	"generic registers: +$(weight "$gp_bitmap") \(gp$([ "$gp_bitmap" = 255 ] && echo 0-7 || echo 0-2,4-5,7)\)"
if [ $guarded ]; then
	has "says how perf is kept out" "$(log)" 'cpu1: held against perf, on these CPUs: gp0-'
else
	has "says how perf is kept out" "$(log)" 'cpu1: held against perf, on all CPUs: gp0-'
fi
taskset 2 /root/loop10
last=$(samples | wc -l)
wait_samples $((last + 1))
counted=$(total instructions:u@gp0)
expect "10,000,000 instructions are counted, and those of taskset ($counted)" \
	[ $((counted >= 10000000 && counted < 10100000)) = 1 ]

# --- perf has no counter there, and where it has one on the other CPU it counts
has "perf does not count there" "$(perf stat -C $cpu -e cycles true 2>&1)" \
	'not (counted|supported)>? +cycles|[Dd]evice or resource busy'
has "nor for a process that runs there" "$(taskset 2 perf stat -e cycles:u /root/loop10 2>&1)" \
	'not (counted|supported)>? +cycles|[Dd]evice or resource busy'
if [ $guarded ]; then
	is "perf counts elsewhere" "$(tally instructions:u /root/loop10)" 10000000
fi
last=$(samples | wc -l)
wait_samples $((last + 1))
# What it does not know of it stops when it tries: 6.12 has read leaf 0AH alone.
case $(uname -r),$gp_bitmap in
6.12*,183) stolen=stolen=gp4,gp5,gp7 ;;
*) stolen='' ;;
esac
is "nothing was stolen meanwhile, but what perf does not know" \
	"$(samples | grep -o 'stolen=[^ ]*' | sort -u)" "$stolen"
unload
is "every register is as before" "$(/root/pmu-registers $cpu)" "$before"
for key in $keys; do
	case $key in
	r73* | r19c*) # the lab loses no slot
		is "$key has none" "$(total "$key")" 0
		;;
	*)
		is "$key agrees in each sample" \
			"$(samples | grep -v stolen | sed -n "s/^.* $key=\([0-9]*\).*\$/\1/p")" \
			"$(samples | grep -v stolen | sed -n "s/^.* instructions:u@gp0=\([0-9]*\).*\$/\1/p")"
		;;
	esac
done

# --- what version 6 adds to an event select
# In the lab an event with a UMASK2 counts nothing, and without CMASK EQ has the cycles
# without the event.
load cpu=$cpu interval=200 \
	counters=instructions:u,branches:u@gp4,cpu/event=0xc4,eq,cmask=1/u@gp1,cpu/event=0xc4,eq/u@gp2,cpu/event=0xc4,umask=0x100/u
is "loads with UMASK2 and EQ" "$(cat /tmp/insmod.err)" ''
taskset 2 /root/loop10
last=$(samples | wc -l)
wait_samples $((last + 1))
unload
branches=$(total branches:u@gp4)
expect "branches are counted ($branches)" [ "$branches" -ge 4999999 ]
is "eq, cmask=1: cycles with one" "$(total cpu/event=0xc4,eq,cmask=1/u@gp1)" "$branches"
is "eq: cycles without one" "$(total cpu/event=0xc4,eq/u@gp2)" \
	$(($(total instructions:u@fixed0) - branches))
is "umask=0x100: another event" \
	"$(samples | sed -n 's/^.* cpu[^ ]*umask=0x100[^ ]*=\([0-9]*\).*$/\1/p' | sort -u)" 0
if [ -e /sys/bus/event_source/devices/cpu/format/eq ]; then
	event=cpu/event=0xc4,umask=0x1234,eq=1,cmask=2/k
	# without INT, which only perf sets
	perfs=$(perf stat -x , -o /tmp/stat -C $cpu -e "$event" /root/pmu-registers $cpu |
		sed -n 's/^cpu1 0x18[0-9a-f] \(12[0-9a-f]*34c4\)$/\1/p')
	load cpu=$cpu interval=60000 counters="$event@gp1"
	is "perf writes the same event select for $event" "$(rdmsr -p $cpu 0x1905)" \
		"$(printf '%x' $((0x${perfs:-0} & ~0x100000)))"
	unload
fi

# --- and the other way round
# Its events count when it starts the program.
perf stat -C $cpu -e branches:u sh -c 'touch /tmp/counts; exec sleep 60' 2> /dev/null &
perf=$!
while [ ! -e /tmp/counts ]; do
	sleep 0.1
done
load cpu=$cpu
has "perf keeps the module out" "$(cat /tmp/insmod.err)" 'busy'
has "which says so" "$(log)" 'the PMU is in use, by perf, the NMI watchdog'
kill -INT $perf
wait $perf
has "perf counts again" "$(perf stat -C $cpu -e cycles true 2>&1)" '[0-9] +cycles'
load cpu=$cpu interval=100
is "the module loads again" "$(cat /tmp/insmod.err)" ''
watchdog 1
has "the NMI watchdog gets nothing" "$(cat /proc/sys/kernel/nmi_watchdog)" '[01]'
wait_samples 3
is "and takes nothing" "$(samples | grep -c stolen)" 0
unload
watchdog 0
watchdog 1
is "then it starts" "$(cat /proc/sys/kernel/nmi_watchdog)" 1
is "nothing on the way is amiss" \
	"$(dmesg | grep -cE 'WARNING: CPU|unchecked MSR|Uhhuh')" 0
finish
