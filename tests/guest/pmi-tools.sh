# SPDX-License-Identifier: GPL-2.0
# Events with a period, read by the tools that docs/sampling.md names: pmi-tools.sh
#
# lab: vm --mem 2048 --with perf --with trace-cmd --with bpftrace
# lab: program pinned pinned INSTRUCTIONS=10000000
# in part long, lab: 6.1
# in sample, lab: 6.12
# shellcheck shell=dash disable=SC1091 # lib.sh is beside it in the guest
. /root/guest/lib.sh

cpu=3
instructions=10000000
# Odd, so that the samples come to lie on both instructions of the program's loop.
period=99991
samples=$((instructions / period))
event=cpu/instructions,period=$period/u
watchdog 0
# This script and what it starts keep off the CPU that is measured.
taskset -p 7 $$ > /dev/null
tracing=/sys/kernel/tracing
overflow=$tracing/events/my_pmu/my_pmu_overflow

# Loaded anew for each tool: the first sample is then at instruction $period.
begin() {
	load cpu=$cpu interval=100 "counters={$event,instructions:u}" || {
		cat /tmp/insmod.err
		return 1
	}
	wait_samples 1
}

# Behind instructions $period, 2 $period, ... The loop is DEC and JNZ: DEC is at the
# beginning of a page, JNZ two bytes on.
wanted_addresses() {
	awk -v p=$period -v n=$samples 'BEGIN {
		for (i = 1; i <= n; i++)
			print i * p % 2 ? "000" : "002"
	}'
}

# What is right in /tmp/records, one record in a line as TP_printk() has it.
expect_records() {
	is "$1: $samples samples" "$(wc -l < /tmp/records)" $samples
	is "$1: each behind the instruction at that distance" \
		"$(sed -n 's/^.* ip=0x[0-9a-f]*\([0-9a-f]\{3\}\) .*$/\1/p' /tmp/records)" \
		"$(wanted_addresses)"
	is "$1: of this event, CPU and program" \
		"$(sed 's/^\(.* cpu=[0-9]*\) .* \(user=[0-9]*\) .* \(period=[0-9]*\) .*$/\1 \2 \3/' \
			/tmp/records | sort -u)" "$event cpu=$cpu user=1 period=$period"
}

# expect_counts NAME: in /tmp/counts, those of both events of the group, one record in a line
expect_counts() {
	is "$1: with the counts of its group" "$(awk -v p=$period \
		'$1 != NR * p || $2 != $1 { print NR ": " $0 }' /tmp/counts | head -n 3)" ''
}

# --- ftrace
begin
echo 1 > $overflow/enable
echo 1 > $tracing/events/my_pmu/my_pmu_sample/enable
echo hist:keys=ip.sym,user > $overflow/trigger
/root/pinned
wait_samples $(($(samples | wc -l) + 2))
echo 0 > $overflow/enable
echo 0 > $tracing/events/my_pmu/my_pmu_sample/enable
sed -n 's/^.* my_pmu_overflow: //p' $tracing/trace > /tmp/records
expect_records ftrace
sed 's/^.*counts={\(.*\)}$/\1/' /tmp/records | tr , ' ' | while read -r first second; do
	echo $((first)) $((second))
done > /tmp/counts
expect_counts ftrace
is "ftrace: my_pmu_sample has all of the program" \
	"$(sed -n "s|^.* my_pmu_sample: $event cpu=$cpu .* known=1 growth=\([0-9]*\) .*\$|\1|p" $tracing/trace |
		awk '{ n += $1 } END { print n }')" $instructions
is "hist: by address, both instructions of the loop have half of the samples" \
	"$(sed -n 's/^{ ip: \[[0-9a-f]*\(...\)\] .* user: *1 } hitcount: *\([0-9]*\)$/\1 \2/p' $overflow/hist |
		sort | tr '\n' ' ')" "000 $((samples / 2)) 002 $((samples / 2)) "
is "hist: none dropped" "$(sed -n 's/^ *Dropped: //p' $overflow/hist)" 0
echo '!hist:keys=ip.sym,user' > $overflow/trigger
unload
is "rmmod empties the buffer of ftrace" "$(grep -vc '^#' $tracing/trace)" 0

# --- trace-cmd
begin
trace-cmd record -q -C mono -o /tmp/trace.dat -e my_pmu:my_pmu_overflow /root/pinned > /tmp/trace-cmd.out 2>&1
unload
trace-cmd report -i /tmp/trace.dat 2> /dev/null > /tmp/report
sed -n 's/^.* my_pmu_overflow: *//p' /tmp/report > /tmp/records
expect_records trace-cmd
sed 's/^.*counts=//' /tmp/records > /tmp/counts
expect_counts trace-cmd
# In ns, whatever is rounded; an NMI of an emulated CPU may be interrupted by its host.
is "trace-cmd: with -C mono its time is that of the record" \
	"$(sed -n 's/^.* \([0-9]*\.[0-9]*\): my_pmu_overflow: .* time=\([0-9]*\) .*$/\1 \2/p' /tmp/report |
		awk '{ d = $1 - $2 / 1e9 } d < -0.001 || d > 1' | head -n 3)" ''

# --- perf, of the program; of the CPU it would itself execute something there
begin
perf record -q -o /tmp/perf.data -e my_pmu:my_pmu_overflow /root/pinned 2> /tmp/perf.err
perf script -i /tmp/perf.data 2> /dev/null | sed -n 's/^.* my_pmu:my_pmu_overflow: //p' > /tmp/records
expect_records perf
sed 's/^.*counts=//' /tmp/records > /tmp/counts
expect_counts perf
is "perf report: by address" \
	"$(perf report -i /tmp/perf.data --stdio -s my_pmu_overflow.ip 2> /dev/null |
		sed -n 's/^ *\([0-9.]*%\)  *0x[0-9a-f]*\(...\) *$/\2 \1/p' | sort | tr '\n' ' ')" \
	"000 50.00% 002 50.00% "

# --- what else perf has meanwhile
has "perf's software events count" "$(tally page-faults /root/pinned)" '^[1-9][0-9]*$'
is "and trace events: both system calls" "$(tally raw_syscalls:sys_enter /root/pinned)" 2
# Several times: the timer of an emulated CPU is its host's, and may come later than the end of one.
perf record -q -o /tmp/perf.data -e cpu-clock -c 1000000 \
	sh -c 'seq 30 | while read -r _; do /root/pinned; done' 2> /tmp/perf.err
expect "and its software events have samples" [ "$(perf script -i /tmp/perf.data 2> /dev/null | grep -c cpu-clock)" -gt 0 ]
perf stat -e instructions /root/pinned > /tmp/perf.err 2>&1
has "its hardware events are busy" "$(cat /tmp/perf.err)" 'Device or resource busy'
perf record -o /tmp/perf.data -e cycles -c 100000 /root/pinned > /tmp/perf.err 2>&1
has "also those with a period" "$(cat /tmp/perf.err)" 'Device or resource busy'
unload

# --- bpftrace
begin
bpftrace -c /root/pinned -e 'tracepoint:my_pmu:my_pmu_overflow {
	@ip[args->ip & 0xfff] = count();
	@event[str(args->event), args->cpu, args->user, args->period, args->counter] = count();
}' > /tmp/bpftrace.out 2>&1
is "bpftrace: by address, both instructions of the loop have half of the samples" \
	"$(grep '^@ip' /tmp/bpftrace.out | sort | tr '\n' ' ')" \
	"@ip[0]: $((samples / 2)) @ip[2]: $((samples / 2)) "
has "bpftrace: of this event, CPU and program" "$(grep '^@event' /tmp/bpftrace.out)" \
	"^@event\[$event, $cpu, 1, $period, [0-9]*\]: $samples\$"

# --- by symbol: the kernel, in which dd spends its time
unload
load cpu=$cpu interval=100 counters=cpu/instructions,period=100003/k
wait_samples 1
perf record -q -o /tmp/perf.data -e my_pmu:my_pmu_overflow -C $cpu \
	taskset $((1 << cpu)) dd if=/dev/zero of=/dev/null bs=64k count=20000 2> /tmp/perf.err
perf script -i /tmp/perf.data -F trace 2> /dev/null | grep ' ip=' > /tmp/records
# If the last instruction of the kernel overflows, the PMI comes in user mode.
sed -n 's/^.* ip=\([^+ ]*\)[^ ]* user=0 .*$/\1/p' /tmp/records | sort | uniq -c | sort -rn > /tmp/symbols
expect "perf: $(awk '{ n += $1 } END { print n }' /tmp/symbols) samples of the kernel" \
	[ "$(awk '{ n += $1 } END { print n + 0 }' /tmp/symbols)" -gt 100 ]
is "perf: each has a symbol" "$(grep 0x /tmp/symbols)" ''
is "perf: or is in user mode, behind SYSRET or IRET" \
	"$(grep -v ' user=0 ' /tmp/records | grep -v ' ip=0x[0-9a-f]* user=1 ')" ''
has "perf: most in what dd does" "$(head -n 2 /tmp/symbols)" 'read_zero|clear_user'
is "no sample is lost, none throttled" \
	"$(grep -c ' lost=0 throttled=0$' /sys/kernel/debug/my_pmu/counters)" 1
unload

is "nothing is an unknown NMI" "$(dmesg | grep -c Uhhuh)" 0

finish
