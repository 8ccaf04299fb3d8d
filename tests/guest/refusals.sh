# SPDX-License-Identifier: GPL-2.0
# Whatever is refused: the errno, one line that says why, no register changed.
#
# lab: vm --with perf
# in check: 6.1
# in sample, lab: 6.12
# shellcheck shell=dash disable=SC1091 # lib.sh is beside it in the guest
. /root/guest/lib.sh

watchdog 0
before=$(/root/pmu-registers 0 3)

# refused ERRNO-TEXT LINE PARAMETER...
refused() {
	errno=$1
	line=$2
	shift 2
	if load "$@"; then
		fail "refuses $*" "it loads"
		unload
		return
	fi
	lines=$(log | wc -l)
	if ! grep -qF -- "$errno" /tmp/insmod.err; then
		fail "refuses $*" "not '$errno': $(cat /tmp/insmod.err)"
	elif [ "$lines" != 1 ] || ! log | grep -qF -- "$line"; then
		fail "refuses $*" "not one line with '$line': $(log)"
	elif [ "$(/root/pmu-registers 0 3)" != "$before" ]; then
		fail "refuses $*" "registers have changed"
	else
		pass "refuses $*: $errno"
	fi
}

invalid='Invalid parameters'
ten=cycles,cycles,cycles,cycles,cycles,cycles,cycles,cycles,cycles,cycles

refused "$invalid" "cpu: '9': no such CPU; 0-3 are there" cpu=9
refused "$invalid" "cpu: '99999': no such CPU; 0-3 are there" cpu=99999
refused "$invalid" "cpu: '-1': a list of CPUs is needed" cpu=-1
refused "$invalid" "cpu: 'x': a list of CPUs is needed" cpu=x
refused "$invalid" "cpu: '': a list of CPUs is needed" cpu=
refused "$invalid" "interval: '0'; whole milliseconds from 1 on" interval=0
refused "$invalid" "interval: '-5'" interval=-5
refused "$invalid" "interval: '1.5'" interval=1.5
refused "$invalid" "interval: '5s'" interval=5s
refused "$invalid" "interval: ''" interval=
refused "Numerical result out of range" \
	"interval: '4294967296': more than 4294967295 milliseconds" interval=4294967296

refused "$invalid" "no event 'instrs'; known are instructions" counters=instrs
refused "$invalid" "an event is missing" counters=
refused "$invalid" "an event is missing" counters=cycles,
refused "$invalid" "an event is missing" counters=cycles,,instructions
refused "$invalid" "no event ''" counters=@gp0
refused "$invalid" "no event 'r'" counters=r
refused "$invalid" "AnyThread" counters=r2000c0
refused "$invalid" "no event 'r00g0'" counters=r00g0
refused "$invalid" "no event 'r0xc0'" counters=r0xc0
refused "$invalid" "event=0Xc0; a number" counters=cpu/event=0Xc0/
refused "$invalid" "blanks, control characters and non-ASCII" "counters=\"cpu/event=192
/\""
refused "$invalid" "blanks, control characters and non-ASCII" "counters=\"cycles instructions\""
refused "$invalid" "blanks, control characters or non-ASCII; whole milliseconds" "interval=\"5
\""
refused "$invalid" "a list of CPUs is needed" "cpu=$(printf '%0900d' 0),x"
refused "$invalid" "modifiers 'x'; u (user), k (kernel)" counters=cycles:x
refused "$invalid" "modifiers 'uu'" counters=cycles:uu
refused "$invalid" "modifiers ''" counters=cycles:
refused "$invalid" "the second slash" counters=cpu/event=1
refused "$invalid" "event= is missing" counters=cpu/umask=1/
refused "$invalid" "term 'edged'" counters=cpu/event=1,edged/
refused "$invalid" "edge=2; a number from 0 to 0x1" counters=cpu/event=1,edge=2/
refused "Operation not supported" "ldlat: it needs an extra register" counters=cpu/event=0xcd,umask=1,ldlat=3/
refused "Operation not supported" "in_tx: transactions are not told apart" counters=cpu/event=1,in_tx=1/
refused "$invalid" "modifier p (precise) needs samples by PEBS" counters=cycles:p
refused "$invalid" "modifier h (hypervisor) alone" counters=cycles:h
refused "$invalid" "a brace is missing" "counters={cycles"
refused "$invalid" "a brace within braces" "counters={cycles,{cycles}}"
refused "$invalid" "a range goes from the lower" counters=cycles@gp3-1
refused "$invalid" "event=0x1000; a number from 0 to 0xfff" counters=cpu/event=0x1000/
refused "Operation not supported" "has events of 8 bits; more are AMD's" counters=cpu/event=0x100/
refused "$invalid" "event=; a number" counters=cpu/event=/
refused "$invalid" "term 'event'" counters=cpu/event=1,event=2/
refused "$invalid" "'@gp' is no counter; @gpN and @fixedN are" counters=cycles@gp
refused "$invalid" "'@gp32' is no counter" counters=cycles@gp32
refused "$invalid" "'@fixed-1' is no counter" counters=cycles@fixed-1
refused "$invalid" "'@pmc0' is no counter" counters=cycles@pmc0
refused "$invalid" "longer than" \
	counters=cpu/event=0x00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000c0/

refused "$invalid" "CPU 3 has no gp8; it has 8 generic (gp) and 3 fixed" \
	cpu=3 counters=cycles@gp8
refused "$invalid" "CPU 0 has no fixed3" counters=cycles@fixed3
refused "$invalid" "gp1 is taken by another event" counters=cycles@gp1,instructions@gp1
refused "$invalid" "fixed0 cannot count this event" counters=cycles@fixed0
refused "$invalid" "gp0 cannot count this event" counters=ref-cycles@gp0
refused "Operation not supported" "does not have this event" counters=cache-misses
refused "Operation not supported" "does not have this event" counters=r412e
refused "Operation not supported" "has no counter that counts it" counters=r0400
refused "Operation not supported" "does not have UMASK2 (CPUID.23H:EBX), bits 40 to 47" \
	counters=cpu/event=0xc4,umask=0x100/
refused "Operation not supported" "does not have EQ (CPUID.23H:EBX), bit 36" counters=r10000000c4
refused "$invalid" "umask=0x10000; a number from 0 to 0xffff" counters=cpu/event=0xc4,umask=0x10000/
refused "No space left on device" "these 10 events at the same time" "counters={$ten}"
refused "No space left on device" "no counter is left" counters=ref-cycles:D,ref-cycles:D

echo 0 > /sys/devices/system/cpu/cpu2/online
refused "No such device or address" "cpu: 2 is offline; bring it online" cpu=2
echo 1 > /sys/devices/system/cpu/cpu2/online

# --- held by the NMI watchdog, then by perf
watchdog 1
sleep 0.2
dmesg -c > /dev/null
load
has "is busy while the NMI watchdog runs" "$(cat /tmp/insmod.err)" 'Device or resource busy'
is "says how to free it" "$(log)" \
	"the PMU is in use, by perf, the NMI watchdog, or KVM for a guest with a PMU: end them; 'sysctl kernel.nmi_watchdog=0' ends the watchdog"
watchdog 0
# Its event counts when it starts the program.
perf stat -e cycles sh -c 'touch /tmp/counts; exec sleep 5' 2> /dev/null &
while [ ! -e /tmp/counts ]; do
	sleep 0.1
done
load
has "is busy while perf counts" "$(cat /tmp/insmod.err)" 'Device or resource busy'
is "says so" "$(log | grep -c 'the PMU is in use')" 1
wait

# --- while we have it, perf has not
load cpu=3
has "perf counts no hardware event while we do" \
	"$(perf stat -e cycles true 2>&1)" 'cycles.*(EBUSY|busy)|<not (counted|supported)> +cycles|[Dd]evice or resource busy'
unload
has "perf counts again after us" "$(perf stat -e cycles:u true 2>&1)" '[0-9]+ +cycles:u'

finish
