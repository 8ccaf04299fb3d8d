# SPDX-License-Identifier: GPL-2.0
# Whose the PMU is, who may see it, and that all of it is given back: on the
# CPU that is measured, and on the others.
#
# /dev/mem has the APIC's page then.
# lab: vm --with perf --with setpriv --append iomem=relaxed
# in check: 6.1
# in sample, lab: 6.12
# shellcheck shell=dash disable=SC1091 # lib.sh is beside it in the guest
. /root/guest/lib.sh

cpu=3
state=/sys/kernel/debug/my_pmu/counters

# What is no MSR here: the local vector table's entry for the PMU, of each CPU.
lvtpc() {
	for lvtpc_mask in 1 2 4 8; do
		taskset $lvtpc_mask devmem 0xfee00340 32
	done
}

# nobody COMMAND...: as a user who is nobody special
nobody() {
	setpriv --reuid=1000 --regid=1000 --clear-groups --no-new-privs "$@" 2>&1
}

watchdog 0
before=$(/root/pmu-registers 0 1 2 3)
lvtpc=$(lvtpc)
is "the LVTPC can be read" "$(echo "$lvtpc" | grep -c '^0x000[01]0[04]00$')" 4
load cpu=$cpu interval=100
is "loads" "$?" 0

# --- who owns what
is "one line says who owns what" "$(log | grep 'held against')" \
	"cpu3: held against perf, on all CPUs: gp0-7; counting: gp0-1 fixed0-1; the firmware's: none"
has "a file says how many samples there were" "$(head -n 1 $state)" '^cpu3 samples [0-9]+ missed [0-9]+$'
is "and whose each counter is" "$(sed 1d $state)" "cpu3 gp0 counting instructions
cpu3 gp1 counting cycles
cpu3 gp2 held
cpu3 gp3 held
cpu3 gp4 held
cpu3 gp5 held
cpu3 gp6 held
cpu3 gp7 held
cpu3 fixed0 counting instructions
cpu3 fixed1 counting cycles
cpu3 fixed2 unused"
for target in 0 3; do
	has "perf has no hardware event on CPU $target" "$(perf stat -e cycles -C $target true 2>&1)" \
		'not (counted|supported)>? +cycles|[Dd]evice or resource busy'
done

# --- what is never set: INT and AnyThread, of neither kind of counter
wait_samples 2
bits=0
for msr in 0x186 0x187 0x188 0x189 0x18a 0x18b 0x18c 0x18d; do
	bits=$((bits | 0x$(rdmsr -p $cpu $msr)))
done
is "no event select has INT or AnyThread" $((bits & 0x300000)) 0
is "the selects that were read are ours" $((bits & 0x400000)) $((0x400000))
is "no fixed counter has PMI or AnyThread" $((0x$(rdmsr -p $cpu 0x38d) & 0xccc)) 0

# --- nobody else's business
is "parameters can be read by all, and written by none" \
	"$(stat -c %a /sys/module/my_pmu/parameters/* | sort -u)" 444
is "nothing of the module's can be written by others than root" \
	"$(find /sys/module/my_pmu /sys/kernel/debug/my_pmu -perm /022 ! -type l)" ''
is "the file of the counters is root's alone" "$(stat -c '%a %u' $state)" "400 0"
mount -o remount,mode=755 /sys/kernel/debug
has "also where debugfs is open to all" "$(nobody cat $state)" 'Permission denied'
mount -o remount,mode=700 /sys/kernel/debug
has "others cannot unload it" "$(nobody rmmod my_pmu)" 'not permitted'
is "so is the device" "$(stat -c '%a %u' /dev/my_pmu)" "600 0"
has "which others cannot read" "$(nobody head -n 1 /dev/my_pmu)" 'Permission denied'
is "there is no other file of it" "$(find /dev /proc/sys /proc/my_pmu -name '*my_pmu*' 2> /dev/null)" /dev/my_pmu

# --- all of it is given back
is "other CPUs' registers are never touched" "$(/root/pmu-registers 0 1 2)" \
	"$(echo "$before" | grep -v "^cpu$cpu ")"
is "nor is any LVTPC" "$(lvtpc)" "$lvtpc"
is "nor DEBUGCTL" "$(rdmsr -p $cpu 0x1d9)" "$(echo "$before" | sed -n "s/^cpu$cpu 0x1d9 //p")"
unload
is "every register of every CPU is as before" "$(/root/pmu-registers 0 1 2 3)" "$before"
is "every LVTPC, too" "$(lvtpc)" "$lvtpc"
is "the file is gone" "$(ls $state 2> /dev/null)" ''
has "perf counts again" "$(perf stat -e cycles:u true 2>&1)" '[0-9]+ +cycles:u'

# --- what perf leaves behind is not taken for somebody's: an event select
# with an event and without EN, which GLOBAL_INUSE tells as in use.
perf stat -C $cpu -e branches:u,branches:u,branches:u sleep 0.2 2> /dev/null
leftover=$(rdmsr -p $cpu 0x186)
expect "perf has left an event select behind ($leftover)" [ $((0x$leftover & 0x4000ff)) = $((0xc4)) ]
expect "and GLOBAL_INUSE has it" [ $((0x$(rdmsr -p $cpu 0x392) & 1)) = 1 ]
before=$(/root/pmu-registers $cpu)
load cpu=$cpu interval=100 counters=instructions@gp0,cycles@gp1
is "that counter can be had" "$(cat /tmp/insmod.err)" ''
unload
is "perf's leftover is back" "$(/root/pmu-registers $cpu)" "$before"
# As after a precise event, which perf counts without INT; the lab's PMU has no PEBS.
wrmsr -p $cpu 0x186 0x100c4
before=$(/root/pmu-registers $cpu)
load cpu=$cpu interval=100 counters=instructions@gp0,cycles@gp1
is "nor is that of a precise event" "$(cat /tmp/insmod.err)" ''
unload
is "and that is back, too" "$(/root/pmu-registers $cpu)" "$before"

finish
