# SPDX-License-Identifier: GPL-2.0
# CPU 1's PMU is another than CPU 0's: 4 generic counters, 40 bits.
#
# perf takes CPU 1 for one like CPU 0
# lab: vm --allow 'unchecked MSR access error: WRMSR to 0x38f .*native_write_msr'
# lab: vm --smp 1 --append nmi_watchdog=0 --with perf
# lab: vm --qemu-arg -smp --qemu-arg 1,maxcpus=2
# lab: vm --qemu-arg -device --qemu-arg max-x86_64-cpu,vendor=GenuineIntel,family=6,model=94,stepping=3,la57=off,monitor=off,pmu=on,pmu-gp=4,pmu-width=40,socket-id=0,core-id=1,thread-id=0
# in check: 6.1
# shellcheck shell=dash disable=SC1091 # lib.sh is beside it in the guest
. /root/guest/lib.sh

before=$(/root/pmu-registers 0 1)
load cpu=0 interval=100 counters=instructions@gp5,cycles
is "CPU 0 has gp5" "$?" 0
has "CPU 0 has 8 generic counters" "$(log)" 'generic registers: +8 \(gp0-7\)$'
unload
load cpu=1 counters=instructions@gp5,cycles
is "CPU 1 has not" "$(log)" \
	"counters: 'instructions@gp5': CPU 1 has no gp5; it has 4 generic (gp) and 3 fixed counters"
load cpu=1 interval=100 "counters={cycles,cycles,cycles,cycles,cycles,cycles}"
is "CPU 1 has counters for five of cycles, not for six" "$(log)" \
	"counters: 'cycles' and its group in braces: no counters are left that count these 6 events at the same time; CPU 1 has 4 generic (gp) and 3 fixed counters"
# --- both
load cpu=all interval=100 counters=instructions,cycles
is "both CPUs can be counted on" "$(log | grep -c 'generic registers: ')" 2
has "what any of them has is held" "$(log)" '^cpu0-1: held against perf, on all CPUs: gp0-7; '
wait_samples 4
unload
has "both are sampled" "$(log)" '^all t=.* cpus=2 '
load cpu=1 interval=10000
is "CPU 1 counts, though its counters must be read more often" "$?" 0
unload
busy 1
load cpu=1 interval=100 counters=instructions@gp3,cycles@fixed1
has "CPU 1 has 4 generic counters" "$(log)" 'generic registers: +4 \(gp0-3\)$'
has "of 40 bits" "$(log)" 'bit width: +40$'
has "all CPUs' are held, as far as it has them" "$(log)" 'on all CPUs: gp0-3; '
has "which is enough" "$(perf stat -C 0 -e cycles true 2>&1)" \
	'not (counted|supported)>? +cycles|[Dd]evice or resource busy'
wait_samples 3
unload
idle
is "they agree" "$(value instructions@gp3)" "$(value cycles@fixed1)"
is "every register is as before" "$(/root/pmu-registers 0 1)" "$before"

finish
