# SPDX-License-Identifier: GPL-2.0
# The module's main job: what it counts, where, and what it leaves behind.
#
# lab: program loop10 loop INSTRUCTIONS=10000000
# lab: program loop20 loop INSTRUCTIONS=20000000
# in part, lab: 6.1
# in sample, lab: 6.12
# in lab: MY_PMU_QEMU=10.0 6.1
# in lab: MY_PMU_QEMU=10.2 6.1
# shellcheck shell=dash disable=SC1091 # lib.sh is beside it in the guest
. /root/guest/lib.sh

cpu=3
watchdog 0
# This script and what it starts keep off the CPU that is measured.
taskset -p 7 $$ > /dev/null
before=$(/root/pmu-registers $cpu)

# --- the default, on a busy CPU
busy $cpu
load cpu=$cpu interval=200
is "loads" "$?" 0
if [ ! -e /sys/module/my_pmu ]; then
	finish	# what follows would wait for samples
fi
is "programs instructions on gp0" "$(rdmsr -p $cpu 0x186)" 4300c0
is "programs cycles on gp1" "$(rdmsr -p $cpu 0x187)" 43003c
is "programs fixed0 and fixed1" "$(rdmsr -p $cpu 0x38d)" 33
was=0x$(echo "$before" | sed -n 's/^.* 0x38f //p')
is "lets its counters run, and leaves the others as they were" \
	"0x$(rdmsr -p $cpu 0x38f)" "$(printf '%#x' $((was | 0x300000003)))"
is "cpu is readable" "$(cat /sys/module/my_pmu/parameters/cpu)" $cpu
is "interval is readable" "$(cat /sys/module/my_pmu/parameters/interval)" 200
is "counters is readable" "$(cat /sys/module/my_pmu/parameters/counters)" \
	default
is "parameters cannot be written" \
	"$(stat -c %a /sys/module/my_pmu/parameters/* | sort -u)" 444
wait_samples 10
unload
idle
is "puts every register back" "$(/root/pmu-registers $cpu)" "$before"
has "says the version" "$(log)" '\.\.\. version: +4$'
has "says the bit width" "$(log)" '\.\.\. bit width: +48$'
has "says the generic registers" "$(log)" '\.\.\. generic registers: +8 \(gp0-7\)$'
has "says the fixed-purpose events" "$(log)" \
	'\.\.\. fixed-purpose events: +3 \(fixed0-2\), 48 bits$'
has "says the CPU model" "$(log)" "cpu$cpu: .*family 6 model 94 stepping 3\$"
is "gp0 and fixed0 agree in each sample" "$(value instructions@gp0)" \
	"$(value instructions@fixed0)"
is "gp1 and fixed1 agree in each sample" "$(value cycles@gp1)" \
	"$(value cycles@fixed1)"
# The mean: a sample that comes late leaves the next one what remains of its interval.
samples | sed 's/^/# /'
is "each sample of a busy CPU has grown" "$(value instructions@fixed0 | grep -cx 0)" 0
nr=$(samples | wc -l)
grown=$((nr ? $(total instructions@fixed0) / nr : 0))
expect "a busy CPU shows millions in a sample ($grown)" [ "$grown" -gt 1000000 ]

# --- deadlines do not drift: sample k at start + k * interval. Any one may be
# late, so the most punctual of the first ten and of the last ten are compared.
load cpu=$cpu interval=20 counters=cycles
wait_samples 100
unload
drift=$(samples | head -n 100 | awk '{
	for (i = 1; i <= NF; i++) {
		if ($i ~ /^t=/) t = substr($i, 3)
		if ($i ~ /^missed=/) tick += substr($i, 8)
	}
	late = t - tick++ * 0.020
	if (NR == 1 || (NR <= 10 && late < first)) first = late
	if (NR == 91 || (NR > 90 && late < last)) last = late
} END { printf "%d", (last - first) * 1000000 }')
expect "a hundred samples drift less than half an interval ($drift us)" \
	[ $((drift < 10000 && drift > -10000)) = 1 ]

# --- encodings, modifiers, keys
load cpu=$cpu interval=100 "counters=r01c2@gp0,bus-cycles:u@gp1,branches:k@gp2,cpu/event=0x3c,umask=1/:k@gp3,r00c4:uk@gp4,cpu/event=192/u@gp5,instructions:u@fixed0,cycles:k@fixed1"
is "loads eight events" "$?" 0
is "r01c2 is umask 01, event c2" "$(rdmsr -p $cpu 0x186)" 4301c2
is "bus-cycles:u is 3c/01 at CPL 3" "$(rdmsr -p $cpu 0x187)" 41013c
is "branches:k is c4/00 at CPL 0" "$(rdmsr -p $cpu 0x188)" 4200c4
is "cpu/event=0x3c,umask=1/:k is 3c/01 at CPL 0" "$(rdmsr -p $cpu 0x189)" 42013c
is "r00c4:uk is c4/00 at both" "$(rdmsr -p $cpu 0x18a)" 4300c4
is "cpu/event=192/u is c0/00 at CPL 3" "$(rdmsr -p $cpu 0x18b)" 4100c0
is "fixed counters take u and k" "$(rdmsr -p $cpu 0x38d)" 12
wait_samples 1
unload
is "keys are as written, with the counter" \
	"$(samples | head -n 1 | tr ' ' '\n' | sed '1,4d;s/=[0-9]*$//' | tr '\n' ' ')" \
	"r01c2@gp0 bus-cycles:u@gp1 branches:k@gp2 cpu/event=0x3c,umask=1/:k@gp3 r00c4:uk@gp4 cpu/event=192/u@gp5 instructions:u@fixed0 cycles:k@fixed1 "
is "puts eight events' registers back" "$(/root/pmu-registers $cpu)" "$before"

# --- the module chooses: the fixed counter, else the lowest generic one
load cpu=$cpu interval=100 counters=cycles,cycles:u,branches,instructions@gp0,instructions,ref-cycles,r00c0
wait_samples 1
unload
is "chooses counters, and keeps off pinned ones" \
	"$(samples | head -n 1 | tr ' ' '\n' | sed '1,4d;s/=[0-9]*$//' | tr '\n' ' ')" \
	"cycles@fixed1 cycles:u@gp1 branches@gp2 instructions@gp0 instructions@fixed0 ref-cycles@fixed2 r00c0@gp3 "

# --- more events than one line of the log holds
long=cpu/event=0x000000c0,umask=0x00000000/uk
load cpu=$cpu interval=100 counters=$long,$long,$long,$long,$long,$long,$long,$long,$long
wait_samples 1
unload
is "all nine counters with long names are printed" \
	"$(samples | head -n 1 | grep -o "$long@[a-z0-9]*" | wc -l)" 9

# --- a known program: exactly so many user instructions more
user_total() {
	load cpu=$cpu interval=100 counters=instructions:u
	wait_samples 1
	taskset 8 "$1"
	wait_samples $(($(samples | wc -l) + 2))
	unload
	total instructions:u@fixed0
}
ten=$(user_total /root/loop10)
twenty=$(user_total /root/loop20)
is "20,000,000 user instructions are 10,000,000 more than 10,000,000" \
	$((twenty - ten)) 10000000

# --- a counter near its end: the growth is right over the wrap
near_end=0xfffffff00000
wrmsr -p $cpu 0x4c1 $near_end
wrmsr -p $cpu 0x30a $near_end
busy $cpu
load cpu=$cpu interval=200 counters=instructions@gp0,instructions@gp1,cycles@fixed1
wait_samples 5
unload
idle
is "a sample says that they have wrapped, once" "$(samples | grep -c ' wrapped=gp0,fixed1 ')" 1
is "and no other says so" "$(samples | grep -c ' wrapped=')" 1
is "a wrapped generic counter counts on" "$(value instructions@gp0)" \
	"$(value instructions@gp1)"
is "a wrapped fixed counter counts on" "$(value cycles@fixed1)" \
	"$(value instructions@gp1)"
is "no overflow of ours stays in GLOBAL_STATUS" "$(rdmsr -p $cpu 0x38e)" 0
is "a generic counter's value is put back in all its bits" \
	"$(rdmsr -p $cpu 0xc1)" fffffff00000
is "a fixed counter's value is put back" "$(rdmsr -p $cpu 0x30a)" fffffff00000

# --- counters of more than 32 bits: the growth is right over a multiple of 2^32, and a
# look at the CPU is enough for it.  Of that there is no trace; but of what the CPU does
# where somebody has written GLOBAL_CTRL, which it stops and lets run then.
tracing=/sys/kernel/debug/tracing
writes() {
	grep -c 'write_msr: 38f,' $tracing/per_cpu/cpu$cpu/trace
}
wrmsr -p $cpu 0x4c1 0x12fff00000
wrmsr -p $cpu 0x30a 0x45fff00000
busy $cpu
load cpu=$cpu interval=200 counters=instructions@gp0,instructions@gp1,cycles@fixed1
echo > $tracing/trace
echo 1 > $tracing/events/msr/write_msr/enable
wait_samples 5
looks=$(writes)
other=$((0x$(rdmsr -p $cpu 0x38f) ^ 4))
wrmsr -p $cpu 0x38f $other
wait_samples $(($(samples | wc -l) + 2))
more=$(writes)
echo 0 > $tracing/events/msr/write_msr/enable
crossed="$(($(rdmsr -d -p $cpu 0xc1) >> 32)) $(($(rdmsr -d -p $cpu 0x30a) >> 32))"
wrmsr -p $cpu 0x38f $((other ^ 4))
unload
idle
is "counters come over a multiple of 2^32" "$crossed" "$((0x13)) $((0x46))"
is "a generic counter of more than 32 bits counts on" "$(value instructions@gp0)" \
	"$(value instructions@gp1)"
is "a fixed counter of more than 32 bits counts on" "$(value cycles@fixed1)" \
	"$(value instructions@gp1)"
is "there is nothing to say of them" "$(samples | grep -c 'wrapped=\|stolen=\|late=')" 0
is "each sample of them is one look at the CPU" "$looks" 0
# Of these one is wrmsr's; of what the CPU does the start is traced, and not the stop.
is "except one in which there is more to do ($more)" $((more > 1)) 1
is "a generic counter's more than 32 bits are put back" "$(rdmsr -p $cpu 0xc1)" 12fff00000
is "and a fixed counter's" "$(rdmsr -p $cpu 0x30a)" 45fff00000
wrmsr -p $cpu 0x4c1 0
wrmsr -p $cpu 0x30a 0

# --- a counter that somebody else writes: what no counting explains is not
# growth. 2^47 is half the range of a counter of 48 bits: who looks at one bit
# too few does not see it.
load cpu=$cpu interval=300 counters=instructions@fixed0,instructions@gp0
wait_samples 1
leap=$((1 << 47))
wrmsr -p $cpu 0x309 $((leap + 0x$(rdmsr -p $cpu 0x309)))
wait_samples $(($(samples | wc -l) + 2))
unload
is "a leap of 2^47 is told" "$(samples | grep -c ' stolen=fixed0 instructions@gp0=[0-9]*$')" 1
expect "and is no growth ($(total instructions@fixed0))" \
	[ "$(total instructions@fixed0)" -lt "$(total instructions@gp0)" ]
wrmsr -p $cpu 0x309 0

# --- raw events of the model, whose encodings are architectural on later CPUs
load cpu=$cpu interval=100 counters=r019c@gp0,r02c2@gp1,r0000c0@gp2
is "takes raw events that CPUID.0AH:EBX does not speak of" "$?" 0
is "r0000c0 is c0/00" "$(rdmsr -p $cpu 0x188)" 4300c0
unload

# --- rmmod does not wait for the interval
load cpu=$cpu interval=60000
sleep 1
start=$(cut -d ' ' -f 1 /proc/uptime | tr -d .)
unload
end=$(cut -d ' ' -f 1 /proc/uptime | tr -d .)
expect "rmmod in an interval of 60 s takes less than 1 s ($((end - start))0 ms)" \
	[ $((end - start)) -lt 100 ]

# --- the CPU goes and comes
before=$(/root/pmu-registers $cpu)
load cpu=$cpu interval=100
wait_samples 2
echo 0 > /sys/devices/system/cpu/cpu$cpu/online
sleep 0.5
echo 1 > /sys/devices/system/cpu/cpu$cpu/online
wait_samples $(($(samples | wc -l) + 3))
unload
is "says once that the CPU went" "$(log | grep -c 'goes offline')" 1
is "says once that it is back" "$(log | grep -c 'is back')" 1
is "agrees after that" "$(value instructions@gp0)" "$(value instructions@fixed0)"
load cpu=$cpu interval=100
echo 0 > /sys/devices/system/cpu/cpu$cpu/online
unload
is "unloads while the CPU is away" "$?" 0
echo 1 > /sys/devices/system/cpu/cpu$cpu/online
is "leaves nothing on the CPU that was away" "$(/root/pmu-registers $cpu)" "$before"

finish
