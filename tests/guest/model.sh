# SPDX-License-Identifier: GPL-2.0
# The lab's PMU, register by register: version 4, 8 generic and 3 fixed
# counters of 48 bits, full-width writes. What is expected is the SDM's.
#
# in check, lab: 6.1
# shellcheck shell=dash disable=SC1091 # lib.sh is beside it in the guest
. /root/guest/lib.sh

cpu=3
watchdog 0

# reads REGISTER VALUE
reads() {
	is "$1 reads $2" "$(rdmsr -p $cpu "$1" 2> /dev/null || echo fault)" "$2"
}

# takes REGISTER VALUE READ-BACK
takes() {
	wrmsr -p $cpu "$1" "$2" 2> /dev/null
	is "$1 takes $2" "$(rdmsr -p $cpu "$1" 2> /dev/null || echo fault)" "$3"
}

# faults REGISTER VALUE: #GP, and nothing has changed
faults() {
	faults_before=$(rdmsr -p $cpu "$1" 2> /dev/null || echo fault)
	if wrmsr -p $cpu "$1" "$2" 2> /dev/null; then
		fail "$1 refuses $2" "it was written"
	else
		is "$1 refuses $2" "$(rdmsr -p $cpu "$1" 2> /dev/null || echo fault)" \
			"$faults_before"
	fi
}

evtsel=0x186 pmc=0xc1 a_pmc=0x4c1 fixed=0x309 fixed_ctrl=0x38d
status=0x38e ctrl=0x38f ovf_ctrl=0x390 status_set=0x391 inuse=0x392

# --- what there is, and what is reserved
takes $evtsel 0xffffffff ffffffff
takes $evtsel 0 0
faults $evtsel 0x100000000
faults $evtsel 0x8000000000000000
takes 0x18d 0x100ff 100ff
takes 0x18d 0 0
takes $fixed_ctrl 0xfff fff
takes $fixed_ctrl 0 0
faults $fixed_ctrl 0x1000
faults $fixed_ctrl 0x100000000
reads 0x30c fault
faults 0x30c 0
takes $ctrl 0x7000000ff 7000000ff
faults $ctrl 0x100
faults $ctrl 0x800000000
takes $ctrl 0 0
faults $status 0
faults $inuse 0
reads 0x345 2000
faults 0x345 0x2000
is "leaf 0AH: 8 generic counters of 48 bits, version 4" \
	"$(dmesg | grep -cE '\.\.\. (version: +4|bit width: +48|generic registers: +8|fixed-purpose events: +3)$')" 4

# --- writes: 32 bits sign-extended, or all of them
takes $pmc 0x7fffffff 7fffffff
takes $pmc 0x80000000 ffff80000000
takes $pmc 0x1234567812345678 12345678
takes $a_pmc 0xffffffffffff ffffffffffff
reads $pmc ffffffffffff
faults $a_pmc 0x1000000000000
takes $a_pmc 0 0
takes $fixed 0xffffffffffff ffffffffffff
faults $fixed 0x1000000000000
takes $fixed 0 0

# --- in use: computed from the controls
takes $evtsel 0x1000c0 1000c0
reads $inuse 8000000000000001
takes $evtsel 0 0
takes $fixed_ctrl 0x210 210
reads $inuse 600000000
takes $fixed_ctrl 0 0
reads $inuse 0

# --- status: set and cleared by writing ones
takes $status_set 0x100000003 0
reads $status 100000003
takes $ovf_ctrl 0x1 0
reads $status 100000002
wrmsr -p $cpu $ovf_ctrl 0x100000002
reads $status 0
faults $status_set 0x100
faults $ovf_ctrl 0x800000000

# --- gates: EN, the mode, GLOBAL_CTRL
grows() {
	grows_from=$(rdmsr -p $cpu "$1")
	taskset 8 true
	[ "$(rdmsr -p $cpu "$1")" != "$grows_from" ]
}
stands() {
	! grows "$1"
}
wrmsr -p $cpu $evtsel 0x4300c0
wrmsr -p $cpu $fixed_ctrl 0x3
expect "GLOBAL_CTRL 0: a generic counter stands" stands $pmc
expect "GLOBAL_CTRL 0: a fixed counter stands" stands $fixed
wrmsr -p $cpu $ctrl 0x1
expect "GLOBAL_CTRL 1: gp0 counts" grows $pmc
expect "GLOBAL_CTRL 1: fixed0 stands" stands $fixed
wrmsr -p $cpu $ctrl 0x100000001
expect "GLOBAL_CTRL 100000001: fixed0 counts" grows $fixed
wrmsr -p $cpu $evtsel 0x0300c0
expect "without EN it stands" stands $pmc
wrmsr -p $cpu $evtsel 0x4000c0
expect "without USR and OS it stands" stands $pmc
wrmsr -p $cpu $evtsel 0x4100c0
expect "with USR it counts" grows $pmc
wrmsr -p $cpu $evtsel 0x4200c0
expect "with OS it counts" grows $pmc
wrmsr -p $cpu $fixed_ctrl 0
expect "a fixed counter without USR and OS stands" stands $fixed

# --- overflow sets the status bit, without INT
wrmsr -p $cpu $ctrl 0
wrmsr -p $cpu $evtsel 0x4300c0
wrmsr -p $cpu $pmc 0xffffff00
wrmsr -p $cpu $ctrl 0x1
grows $pmc
wrmsr -p $cpu $ctrl 0
reads $status 1
expect "a counter goes on after its overflow" [ "0x$(rdmsr -p $cpu $pmc)" != 0xffffffffff00 ]
wrmsr -p $cpu $ovf_ctrl 1
wrmsr -p $cpu $evtsel 0
wrmsr -p $cpu $pmc 0
reads $status 0

# --- reset: generic counters may run
reads_reset=$(for i in 0 1 2; do rdmsr -p $i $ctrl; done | sort -u)
has "GLOBAL_CTRL is at reset, or as perf left it" "$reads_reset" '^(ff|7000000ff|0)$'

finish
