# SPDX-License-Identifier: GPL-2.0
# Whatever perf takes for an event, and the module takes: both write the same event
# select, and the same value to the same extra register. perf's are read off the counter
# and the registers while perf counts. names.sh PMU-LIST: with extra=on there are extra
# registers.
#
# perf is begun once, with all events, and counts them in turn; the module is loaded with
# eight of them at a time. What no model of CPU changes is tried on the lab's own only.
#
# lab: vm --smp 2 --with perf
# perf has other tables for other models.
# lab: vm --cpu "max,${MY_PMU_CPU:-vendor=GenuineIntel,family=6,model=${MY_PMU_MODEL:-94}},stepping=3,la57=off,pmu=on"
# in part long, lab: extra=on 6.1
# in part, lab: MY_PMU_MODEL=42 6.1
# in sample, lab: MY_PMU_MODEL=42 extra=on 6.1
# in sample, lab: MY_PMU_MODEL=143 extra=on 6.1
# AMD's families 15H, 17H (Zen 1 and 2), 19H (Zen 3 and 4) and 1AH: each has names of its own.
# in sample, lab: MY_PMU_CPU=vendor=AuthenticAMD,family=21,model=2 6.1
# in part, lab: MY_PMU_CPU=vendor=AuthenticAMD,family=23,model=1 6.12
# in sample, lab: MY_PMU_CPU=vendor=AuthenticAMD,family=23,model=49 6.12
# in sample long, lab: MY_PMU_CPU=vendor=AuthenticAMD,family=25,model=1 6.1
# in part, lab: MY_PMU_CPU=vendor=AuthenticAMD,family=25,model=17 version=2 6.12
# in sample, lab: MY_PMU_CPU=vendor=AuthenticAMD,family=26,model=2 version=2 6.12
# in lab: 6.12
# in lab: extra=on 6.12
# shellcheck shell=dash disable=SC1091 # lib.sh is beside it in the guest
. /root/guest/lib.sh

# Another CPU than what we run on: one that counts edges is some hundred times slower.
cpu=1
taskset -p 1 $$ > /dev/null
watchdog 0
in_sysfs=/sys/bus/event_source/devices/cpu/events
model=$(sed -n 's/^model[[:space:]]*: //p' /proc/cpuinfo | head -n 1)
case $1 in
*extra=on*) extra=on ;;
*) extra=off ;;
esac
# Event selects, and the digit that tells the counter; how many are tried at a time.
family=$(sed -n 's/^cpu family[[:space:]]*: //p' /proc/cpuinfo | head -n 1)
vendor=$(sed -n 's/^vendor_id[[:space:]]*: //p' /proc/cpuinfo | head -n 1)
case $vendor in
AuthenticAMD) amd=yes selects='^0xc001020[02468a]$' digits=02468a at_a_time=6 ;;
*) amd=no selects='^0x1(8.|9[0-7])$' digits=6789abcd at_a_time=8 ;;
esac

# --- the events, one in a line

sysfs_names() {
	for file in "$in_sysfs"/*; do
		case ${file##*/} in
		*.scale | *.unit | *.snapshot | ref-cycles) ;;
		*) echo "${file##*/}" ;;
		esac
	done
}

# Raw numbers, fields and modifiers; model 94 has events that other models do not have.
other_events() {
	if [ -e "$in_sysfs/topdown-slots-issued" ]; then
		echo cpu/topdown-slots-issued,r200/
		echo cpu/TopDown-Slots-Issued,cmask=1/u
	fi
	[ "$model" = 94 ] && cat << 'END'
r01c2
r00c4:u
r68401c2
rffdfffc4
r12345
rffff0000000000c4
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
cpu/event=0xc4,name=foo/
branches:u
branches:k
branches:uk
branches:hk
branches:D
branches//u
branches/name=foo/k
END
	[ $extra = on ] && other_values
	[ $amd = yes ] && cat << 'END'
r01c2
r1000020c7
r68401c2
cpu/event=0x1c7,umask=0x20/
cpu/event=0x76,edge=1,cmask=1/u
cpu/event=0xc0,inv,cmask=2/k
cpu/event=0x0,umask=0x8/
cpu/config=0x1000001d0/
cpu/instructions,umask=1/
cpu/event=0x1c0,instructions/
branches:u
branches:k
END
	cat << 'END'
l1d-misses-loads
branch-Reference
L1-data-read-refs
L1-dcache-loads-stores
END
}

# Values for the extra registers. The event selects of OFFCORE_RSP are others since Golden
# Cove; Sandy Bridge has no PEBS_FRONTEND.
other_values() {
	case $model in
	143) codes='0x2a 0x2b' ;;
	*) codes='0xb7 0xbb' ;;
	esac
	for code in $codes; do
		echo "cpu/event=$code,umask=1,config1=0x3f80400001/"
		echo "cpu/event=$code,umask=1,offcore_rsp=0x10003/u"
	done
	[ "$model" = 42 ] || echo "cpu/event=0xc6,umask=1,frontend=0x500112/"
}

# --- what perf and the module make of them

clear_extra() {
	for msr in 0x1a6 0x1a7 0x3f7; do
		[ $extra = off ] || wrmsr -p $cpu $msr 0
	done
}

# selects: of what pmu-registers prints, and lines that say whose it is, the enabled
# event selects: "WHOSE MSR SELECT", without INT, which only perf sets; and with each
# extra register that is not 0: "WHOSE MSR SELECT,REGISTER=VALUE". (busybox's awk
# has no hexadecimal numbers; the two bits are in one digit.)
selects() {
	awk -v selects="$selects" 'BEGIN { digits = "0123456789abcdef" }
	function show_all() {
		for (i = 0; i < n; i++)
			print select[i] extra
		n = 0
		extra = ""
	}
	$1 == "whose" { show_all(); whose = $2; next }
	$2 ~ /^0x(1a6|1a7|3f7)$/ && $3 != "absent" && $3 != "0" { extra = extra "," $2 "=0x" $3 }
	$2 ~ selects && $3 != "absent" && length($3) > 5 {
		at = length($3) - 5
		digit = index(digits, substr($3, at, 1)) - 1
		if (int(digit / 4) % 2)
			select[n++] = whose " " $2 " " substr($3, 1, at - 1) \
				substr(digits, digit - digit % 2 + 1, 1) substr($3, at + 1)
	}
	END { show_all() }'
}

# fixed2 WHOSE: does fixed counter 2 count in user and kernel there?
fixed2() {
	fixed2_control=$(awk -v wanted="$1" '$1 == "whose" { whose = $2 }
		whose == wanted && $2 == "0x38d" { print $3 }' /tmp/registers)
	echo $((0x${fixed2_control:-0} >> 8 & 3))
}

# see WHOSE
see() {
	echo "whose $1"
	/root/pmu-registers $cpu
}

# tell_perf COMMAND: returns when perf has done it, or fails when perf is gone
tell_perf() {
	echo "$1" >&5
	read -r answer <&6
	[ "$answer" = ack ]
}

# ask_perf EVENT...: what there is while it counts each. Each twice the same, so that one
# is on a generic counter. perf knows one with a name by that only, and has it alone.
ask_perf() {
	options=
	mkfifo /tmp/to_perf /tmp/from_perf
	exec 5<> /tmp/to_perf 6<> /tmp/from_perf
	for event; do
		case $event in
		*name=*)
			echo "whose $event"
			clear_extra
			perf stat -x , -o /tmp/stat -C $cpu -e "$event" -e "$event" /root/pmu-registers $cpu
			;;
		*) options="$options -e $event -e $event" ;;
		esac
	done
	# shellcheck disable=SC2086 # no event has a blank
	perf stat -x , -o /tmp/stat -C $cpu -D -1 \
		--control fifo:/tmp/to_perf,/tmp/from_perf $options 2> /tmp/perf.err &
	perf=$!
	(while kill -0 $perf 2> /dev/null; do sleep 1; done && echo gone >&6) &
	for event; do
		case $event in
		*name=*) continue ;;
		esac
		clear_extra	# perf leaves it as it was
		tell_perf "enable $event" || break
		see "$event"
		tell_perf "disable $event" || break
	done
	# It does not end when it is told to.
	tell_perf ping || cat /tmp/perf.err >&2
	kill $perf
	wait $perf 2> /dev/null
	exec 5>&- 6>&-
}

# load_with EVENT...: the first on gp0, the second on gp1, ...
load_with() {
	number=0
	counters=
	for event; do
		counters=$counters,$event@gp$number
		number=$((number + 1))
	done
	load cpu=$cpu interval=60000 "counters=${counters#,}"
}

# ours_are EVENT...: lines "EVENT SELECT[,REGISTER=VALUE]"; what is refused is so alone, too
ours_are() {
	ours_loaded=no
	if load_with "$@"; then
		ours_loaded=yes
		see us > /tmp/registers
		unload
		selects < /tmp/registers > /tmp/selects
	fi
	# Of several it is not known which one needs the extra register.
	if [ $ours_loaded = yes ] && { [ $# = 1 ] || ! grep -q , /tmp/selects; }; then
		awk -v events="$*" -v digits="$digits" 'BEGIN { split(events, event, " ") }
			{ print event[index(digits, substr($2, length($2)))], $3 }' /tmp/selects
	elif [ $# -gt 1 ]; then
		for event; do
			ours_are "$event"
		done
	else
		printf '%s %s\n' "$1" "$(log | tr '\n' ' ')"
	fi
}

ask_us() {
	while [ $# -gt $at_a_time ]; do
		# shellcheck disable=SC2046 # no event has a blank
		ours_are $(printf '%s\n' "$@" | head -n $at_a_time)
		shift $at_a_time
	done
	ours_are "$@"
}

# found EVENT LINES: what its line says, if there is one
found() {
	found_rest=${2#*"
$1 "}
	[ "$found_rest" != "$2" ] && echo "${found_rest%%"
"*}"
}

# perfs EVENT, ours EVENT: its event select
perfs() {
	found "$1" "$perfs"
}

ours() {
	found "$1" "$ours" || echo "it has not been loaded"
}

# listed NAME: the event select in the module's list, with what says how it counts; and its
# extra register
listed() {
	listed_line=$(sed -n "s/^cpu$cpu $1 \(0x[0-9a-f]*\) [^ ]*/\1/p" /tmp/events)
	listed_code=${listed_line%% *}
	printf '%x%s' $((${listed_code:-0} | 0x430000)) \
		"$(echo "${listed_line#"$listed_code"}" | tr ' ' ,)"
}

# perf 6.12 says of a cache event how it is written as one of the PMU, not that it is one.
names=$(perf list hw cache 2> /dev/null |
	sed -n -E 's,^  ([^ ]+) +(.*\[Hardware.*event\]|OR cpu/[^ ]*/)$,\1,p')
load cpu=$cpu interval=60000
cp /sys/kernel/debug/my_pmu/events /tmp/events
is "the list is root's" "$(stat -c %a /sys/kernel/debug/my_pmu/events)" 400
unload
sed 's/^/# /' /tmp/events
# shellcheck disable=SC2046,SC2086 # no event has a blank
ask_perf $names $(sysfs_names | sed 's,.*,cpu/&/,') $(other_events) > /tmp/registers
perfs_fixed2=$(fixed2 ref-cycles)
# Both counters of an event have the same select.
perfs="
$(selects < /tmp/registers | awk '!had[$1, $3]++ { select[$1] = select[$1] " " $3 }
	END { for (event in select) print event select[event] }')
"
clear_extra
# shellcheck disable=SC2046 # no event has a blank
ours="
$(ask_us $({ echo "$names" && sysfs_names | sed 's,.*,&\ncpu/&/,' && other_events; } |
	awk -v amd=$amd '(amd == "yes" || $0 != "ref-cycles") && !had[$0]++'))
"

# --- every name that perf shows
expect "perf shows names" [ "$(echo "$names" | wc -l)" -ge 12 ]
for name in $names; do
	wanted=$(perfs "$name")
	if [ "$name" = ref-cycles ] && [ -z "$wanted" ]; then
		is "ref-cycles: perf has it on fixed2" "$perfs_fixed2" 3
		load cpu=$cpu interval=60000 counters=ref-cycles
		see us > /tmp/registers
		unload
		is "ref-cycles: so have we" "$(fixed2 us)" 3
		is "ref-cycles is listed" "$(grep "^cpu$cpu ref-cycles" /tmp/events)" \
			"cpu$cpu ref-cycles 0x300 fixed2"
		continue
	fi
	# Of the north bridge: a kernel without CONFIG_PERF_EVENTS_AMD_BRS, which Debian's are,
	# forgets family 15H's constraints (amd_brs_init() does nothing, successfully).
	case $amd,$family,$name in
	yes,21,node-*)
		has "$name is counted by no counter of the core" "$(ours "$name")" \
			'has no counter of the core that counts it \(family 15h\)'
		continue
		;;
	esac
	is "$name" "$(ours "$name")" "$wanted"
	is "$name is listed so" "$(listed "$name")" "$wanted"
done
is "no name is listed that perf does not show" \
	"$(while read -r _ name _; do
		[ -e "$in_sysfs/$name" ] || echo "$names" | grep -qx -- "$name" || echo "$name"
	done < /tmp/events)" ""

# --- perf's names in sysfs, of these and of others
for name in $(sysfs_names); do
	wanted=$(perfs "cpu/$name/")
	expect "perf counts cpu/$name/, $(cat "$in_sysfs/$name")" [ -n "$wanted" ]
	is "cpu/$name/" "$(ours "cpu/$name/")" "$wanted"
	is "$name alone" "$(ours "$name")" "$wanted"
	is "$name is in the list" "$(listed "$name")" "$wanted"
done

# --- numbers, fields, modifiers
for event in $(other_events); do
	is "$event" "$(ours "$event")" "$(perfs "$event")"
done

# --- extra registers
with_extra=$(echo "$perfs" | awk '$2 ~ /,0x/ { print $1 }')
echo "$with_extra" | sed "s/^/# with an extra register: /"
if [ $extra = on ]; then
	# Sandy Bridge's perf has no LLC-load-misses.
	needing=$(echo "$names" | grep -E '^(LLC|node)-')
	expect "perf shows names that need an extra register" [ "$(echo "$needing" | wc -l)" -ge 3 ]
	for name in $needing; do
		has "$name is compared with its extra register" "$with_extra" "^$name\$"
	done
	is "so is each other event with a value for one" \
		"$(echo "$with_extra" | grep -c '[1p]=0x\|frontend=')" "$(other_values | wc -l)"
else
	is "no event has an extra register" "$with_extra" ''
fi
if [ $extra = off ] && [ $amd = no ]; then
	load cpu=$cpu counters=LLC-loads
	has "LLC-loads needs another register" "$(log)" "'LLC-loads': it needs an extra register"
	load cpu=$cpu counters=r01b7
	has "r01b7 does" "$(log)" "'r01b7': it needs an extra register"
fi

load cpu=$cpu counters=stalled-cycles-frontend,instructions
case $(echo "$names" | grep -c stalled-cycles-frontend) in
0) has "stalled-cycles-frontend is not here" "$(log)" "CPU $cpu does not have this event, as perf says" ;;
*) unload ;;
esac

# --- perf has its PMU back
has "perf counts" "$(perf stat -e branches:u true 2>&1)" '[0-9]+ +branches:u'
is "nothing is an unknown NMI" "$(dmesg | grep -c Uhhuh)" 0

finish
