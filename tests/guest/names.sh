# SPDX-License-Identifier: GPL-2.0
# Whatever perf takes for an event, and the module takes: both write the same event
# select. perf's is read off the counter while perf counts.
#
# perf switches jump labels on and off, and QEMU 7.2 may translate an INT3 that another
# CPU is just removing ("Oops: int3"): one CPU where one will do.
# lab: vm --smp 1 --with perf
# perf has other tables for other models.
# lab: vm --cpu "max,vendor=GenuineIntel,family=6,model=${MY_PMU_MODEL:-94},stepping=3,la57=off,pmu=on"
# in check long: 6.1
# in check long: MY_PMU_MODEL=26 6.1
# in lab: 6.12
# shellcheck shell=dash disable=SC1091 # lib.sh is beside it in the guest
. /root/guest/lib.sh

cpu=0
watchdog 0

# selects FILE: the enabled event selects in it, without INT, which only perf sets
selects() {
	while read -r _ msr value; do
		case $msr in
		0x18? | 0x19[0-7]) ;;
		*) continue ;;
		esac
		if [ "$value" != absent ] && [ $((0x$value & 1 << 22)) != 0 ]; then
			printf '%s %x\n' "$msr" $((0x$value & ~(1 << 20)))
		fi
	done < "$1"
}

# perfs EVENT: its event select. Twice the same, so that one is on a generic counter.
perfs() {
	perf stat -x , -o /tmp/stat -C $cpu -e "$1" -e "$1" /root/pmu-registers $cpu > /tmp/perfs
	selects /tmp/perfs | sed 's/.* //' | sort -u
}

# fixed2 FILE: does fixed counter 2 count in user and kernel?
fixed2() {
	echo $((0x$(sed -n 's/^.* 0x38d //p' "$1") >> 8 & 3))
}

# ours EVENT: the event select of gp0
ours() {
	if ! load cpu=$cpu interval=60000 "counters=$1@gp0"; then
		log
		return
	fi
	/root/pmu-registers $cpu > /tmp/ours
	unload
	selects /tmp/ours | sed -n 's/^0x186 //p'
}

# listed NAME: the event select in the module's list, with what says how it counts
listed() {
	code=$(sed -n "s/^cpu$cpu $1 \(0x[0-9a-f]*\) .*/\1/p" /tmp/events)
	printf '%x' $((${code:-0} | 0x430000))
}

# --- every name that perf shows
names=$(perf list hw cache 2> /dev/null | sed -n 's/^  \([^ ]*\) .*\[Hardware.*event\]$/\1/p')
load cpu=$cpu interval=60000
cp /sys/kernel/debug/my_pmu/events /tmp/events
is "the list is root's" "$(stat -c %a /sys/kernel/debug/my_pmu/events)" 400
unload
sed 's/^/# /' /tmp/events
expect "perf shows names" [ "$(echo "$names" | wc -l)" -ge 12 ]
for name in $names; do
	wanted=$(perfs "$name")
	if [ "$name" = ref-cycles ] && [ -z "$wanted" ]; then
		is "ref-cycles: perf has it on fixed2" "$(fixed2 /tmp/perfs)" 3
		load cpu=$cpu interval=60000 counters=ref-cycles
		/root/pmu-registers $cpu > /tmp/ours
		unload
		is "ref-cycles: so have we" "$(fixed2 /tmp/ours)" 3
		is "ref-cycles is listed" "$(grep "^cpu$cpu ref-cycles" /tmp/events)" \
			"cpu$cpu ref-cycles 0x300 fixed2"
		continue
	fi
	is "$name" "$(ours "$name")" "$wanted"
	is "$name is listed so" "$(listed "$name")" "$wanted"
done
in_sysfs=/sys/bus/event_source/devices/cpu/events
is "no name is listed that perf does not show" \
	"$(while read -r _ name _; do
		[ -e "$in_sysfs/$name" ] || echo "$names" | grep -qx -- "$name" || echo "$name"
	done < /tmp/events)" ""

# --- perf's names in sysfs, of these and of others
for file in "$in_sysfs"/*; do
	name=${file##*/}
	case $name in
	*.scale | *.unit | *.snapshot | ref-cycles) continue ;;
	esac
	wanted=$(perfs "cpu/$name/")
	expect "perf counts cpu/$name/, $(cat "$file")" [ -n "$wanted" ]
	is "cpu/$name/" "$(ours "cpu/$name/")" "$wanted"
	is "$name alone" "$(ours "$name")" "$wanted"
	is "$name is in the list" "$(listed "$name")" "$wanted"
done
if [ -e "$in_sysfs/topdown-slots-issued" ]; then
	for event in cpu/topdown-slots-issued,r200/ cpu/TopDown-Slots-Issued,cmask=1/u; do
		is "$event" "$(ours "$event")" "$(perfs "$event")"
	done
fi

# --- numbers, fields, modifiers
while read -r event; do
	is "$event" "$(ours "$event")" "$(perfs "$event")"
done << 'END'
r01c2
r00c4:u
r68401c2
rffdfffc4
r12345
rffff00000000c4
cpu/event=0xc4,edge/
cpu/event=0xc4,edge=1,cmask=1/u
cpu/event=0xc0,inv,cmask=2/k
cpu/event=0xc0,inv/
cpu/event=0xc4,pc/
cpu/event=0xc4,umask=1,edge,inv,cmask=255,pc/
cpu/event=0xc4,any=0/
cpu/r1c2/
cpu/r0x1c2,cmask=3/
cpu/config=0x18401c2/
cpu/umask=1,r0c2/
cpu/instructions,cmask=1/
cpu/event=cpu-cycles,inv,cmask=2/
cpu/instructions,umask=1/
cpu/event=0x02,umask=0x40,instructions/
cpu/config=0x100,instructions,edge/
cpu/event=0xc4,name=foo,period=100000/
branches:u
branches:k
branches:uk
branches:uH
branches:hk
branches:D
branches//u
branches/name=foo/k
l1d-misses-loads
branch-Reference
L1-data-read-refs
L1-dcache-loads-stores
END

# --- what perf would need another register for
load cpu=$cpu counters=LLC-loads
has "LLC-loads needs another register" "$(log)" "'LLC-loads': it needs an extra register"
load cpu=$cpu counters=r01b7
has "r01b7 does" "$(log)" "'r01b7': it needs an extra register"
load cpu=$cpu counters=stalled-cycles-frontend,instructions
case $(echo "$names" | grep -c stalled-cycles-frontend) in
0) has "stalled-cycles-frontend is not here" "$(log)" 'CPU 0 does not have this event, as perf says' ;;
*) unload ;;
esac

# --- perf has its PMU back
has "perf counts" "$(perf stat -e branches:u true 2>&1)" '[0-9]+ +branches:u'
is "nothing is an unknown NMI" "$(dmesg | grep -c Uhhuh)" 0

finish
