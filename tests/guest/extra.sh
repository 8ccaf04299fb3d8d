# SPDX-License-Identifier: GPL-2.0
# Events that need a register besides their event select: it is written while they count,
# looked at with each sample, and as before afterwards. What they count is not modelled.
#
# lab: vm --smp 2 --with perf
# The lab's registers are Skylake's on each model, so one of Sapphire Rapids's bits faults.
# lab: vm --cpu "max,vendor=GenuineIntel,family=6,model=${MY_PMU_MODEL:-94},stepping=3,la57=off,pmu=on"
# in part, lab: extra=on 6.1
# in sample, lab: MY_PMU_MODEL=143 extra=on 6.1
# in lab: extra=on 6.12
# in lab: MY_PMU_MODEL=143 extra=on 6.12
# shellcheck shell=dash disable=SC1091 # lib.sh is beside it in the guest
. /root/guest/lib.sh

cpu=1
# Another CPU than what we run on.
taskset -p 1 $$ > /dev/null
watchdog 0
model=$(sed -n 's/^model[[:space:]]*: //p' /proc/cpuinfo | head -n 1)
case $model in
143)
	first=0x2a second=0x2b
	llc_loads=0x10001
	;;
*)
	first=0xb7 second=0xbb
	llc_loads=0x3fc0010001
	;;
esac

# rsp VALUE: an event with this value in OFFCORE_RSP_0, or in OFFCORE_RSP_1
rsp() {
	echo "cpu/event=$first,umask=1,config1=$1/"
}

# is_held NAME OFFCORE_RSP_0 OFFCORE_RSP_1 PEBS_FRONTEND
is_held() {
	is "$1" "$(rdmsr -x -p $cpu 0x1a6) $(rdmsr -x -p $cpu 0x1a7) $(rdmsr -x -p $cpu 0x3f7)" \
		"$2 $3 $4"
}

# select_of GP: its event select, without what says how it counts
select_of() {
	printf '%#x' $((0x$(rdmsr -p $cpu "$((0x186 + $1))") & 0xffff))
}

# --- what stock Linux makes of them
is "Linux has tried them at boot, and left them at 0" \
	"$(/root/pmu-registers 0 1 | grep -c ' 0x\(1a6\|1a7\|3f7\) 0$')" 6
has "perf counts LLC-loads" "$(perf stat -x , -C $cpu -e LLC-loads true 2>&1)" '^0,,LLC-loads,'

# Other values than perf's, and on each CPU others.
for other in 0 1; do
	wrmsr -p $other 0x1a6 $((0x100 + other))
	wrmsr -p $other 0x1a7 $((0x200 + other))
	wrmsr -p $other 0x3f7 $((0x300 + other))
done
before=$(/root/pmu-registers 0 1)

# as_before NAME
as_before() {
	is "$1: all registers of both CPUs are as before" "$(/root/pmu-registers 0 1)" "$before"
}

# --- a name
load cpu=$cpu interval=50 counters=LLC-loads@gp2,instructions
is "LLC-loads loads" "$?" 0
is_held "it has its value in OFFCORE_RSP_0, the others are as before" \
	"${llc_loads#0x}" 201 301
is "and its event select" "$(select_of 2)" "0x1${first#0x}"
has "debugfs has both" "$(cat /sys/kernel/debug/my_pmu/events)" \
	"^cpu1 LLC-loads 0x1${first#0x} gp0-3 0x1a6=$llc_loads\$"
wait_samples 3
is "it counts nothing here" "$(value LLC-loads@gp2 | sort -u)" 0

# --- somebody else writes the register
# stolen NAME VALUE
stolen() {
	dmesg -c > /dev/null
	wrmsr -p $cpu 0x1a6 "$2"
	wait_samples $(($(samples | wc -l) + 3))
	is "$1 in OFFCORE_RSP_0 is reported once" \
		"$(samples | sed -n 's/.* stolen=\([^ ]*\).*/\1/p')" gp2
	is_held "$1: the value is back" "${llc_loads#0x}" 201 301
}
stolen "another value" 0x10002
stolen "0" 0
dmesg -c > /dev/null
wrmsr -p $cpu 0x1a7 0x123
wait_samples $(($(samples | wc -l) + 3))
is "a register that no event uses may change" "$(samples | grep -c stolen)" 0
unload
is_held "and stays so" 101 123 301
wrmsr -p $cpu 0x1a7 0x201
as_before "LLC-loads"

# --- several values at the same time
load cpu=$cpu interval=60000 \
	"counters=$(rsp 0x3f80400001)@gp0,$(rsp 0x3f80400002)@gp1,$(rsp 0x3f80400001)@gp2,cpu/event=0xc6,umask=1,frontend=0x11/@gp3"
is "two values of offcore responses and one of the front end load" "$?" 0
is_held "each register has one of them" 3f80400001 3f80400002 11
is "who shares a register has its event select" \
	"$(select_of 0) $(select_of 1) $(select_of 2) $(select_of 3)" \
	"0x1${first#0x} 0x1${second#0x} 0x1${first#0x} 0x1c6"
unload
as_before "several values"

# --- a third value waits for its turn
load cpu=$cpu interval=20 "counters=$(rsp 1),$(rsp 2),$(rsp 4)"
is "three values load" "$?" 0
for _ in $(seq 100); do
	rdmsr -p $cpu 0x1a6
	rdmsr -p $cpu 0x1a7
	sleep 0.02
done | sort -u > /tmp/values
is "each of them is seen" "$(grep -cx '[124]' /tmp/values)" 3
unload
as_before "turns"
load cpu=$cpu "counters={$(rsp 1),$(rsp 2),$(rsp 4)}"
is "not in one group" "$?" 1
has "and why" "$(log)" \
	"config1=4/': what it needs in register 0x1a[67] is 0x4, and events that are counted at the same time on CPU 1 need something else there"
as_before "three values in a group"

# --- reserved bits: perf knows them of its model
load cpu=$cpu "counters=$(rsp 0x8000000001)"
is "bit 39 is refused" "$?" 1
has "by perf" "$(log)" "config1=0x8000000001/': perf, which knows the register .* does not take it"
if [ "$model" = 143 ]; then
	load cpu=$cpu "counters=$(rsp 0x1001)"
	has "a bit that faults here is refused" "$(cat /tmp/insmod.err)" 'Input/output error$'
	has "and why" "$(log)" '^cpu1: a PMU register faulted$'
fi
as_before "reserved bits"

has "perf counts LLC-loads afterwards" "$(perf stat -x , -C $cpu -e LLC-loads true 2>&1)" \
	'^0,,LLC-loads,'
finish
