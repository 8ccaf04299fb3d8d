# SPDX-License-Identifier: GPL-2.0
# For the guest's tests of perf record, after lib.sh: what is recorded, and what must hold of
# samples by period.
# shellcheck shell=dash

# An emulated NMI takes long: perf would soon take fewer samples than asked for.
sysctl -q -w kernel.perf_event_max_sample_rate=1000000
sysctl -q -w kernel.perf_cpu_time_max_percent=0

# record OPTION... -- PROGRAM: into /tmp/samples, a line for each: time, period,
# address, symbol
record() {
	perf record -q -o /tmp/perf.data "$@" 2> /tmp/perf.err
	perf script -i /tmp/perf.data -F time,period,ip,sym,dso 2> /dev/null |
		tr -d : > /tmp/samples
}

lost() {
	perf report -i /tmp/perf.data --stats 2> /dev/null | grep -cE 'LOST|THROTTLE'
}

# Samples in a second. While the host takes the CPU away the clock goes on, and no samples
# come: judged is the half second that has most of them.
rate() {
	awk 'NR == 1 { start = $1 } { n[int(2 * ($1 - start))]++ }
		END {
			for (i = 1; i < int(2 * ($1 - start)); i++)
				most = n[i] > most ? n[i] : most
			printf "%d", 2 * most
		}' /tmp/samples
}

# record_task OPTION... -- PROGRAM: as record, one event for the task. By default perf has one for
# each CPU: a task that moves leaves the rest of a period behind.
record_task() {
	record --per-thread -T "$@"
}

# by_period PERIOD OPTION...: a sample behind each PERIODth of loop10's 10,000,000 user instructions
by_period() {
	by_period=$1
	shift
	record_task "$@" /root/loop10
	is "each $by_period: as many samples as whole periods" \
		"$(wc -l < /tmp/samples)" $((10000000 / by_period))
	[ "$(wc -l < /tmp/samples)" = $((10000000 / by_period)) ] ||
		awk '{ n[$3 " " $5]++ } END { for (at in n) print "# at " at ": " n[at] }' /tmp/samples
	is "each $by_period: of this period, all of them" "$(awk '{ print $2 }' /tmp/samples | sort -u)" "$by_period"
	is "each $by_period: none lost, none throttled" "$(lost)" 0
}

# at_each_address OPTION...: instruction 1 is the program's first; from 2 on DEC and JNZ take turns.
# Behind an odd one comes the DEC, which is $dec, behind an even one the JNZ, 3 bytes on. At a
# real-time priority, because no counter overflows after a single event (Linux:
# x86_perf_event_set_period()): a program that loses its CPU one instruction before a sample has it
# one late.
at_each_address() {
	chrt -f -p 1 $$
	record_task "$@" -c 99991 /root/loop10
	chrt -o -p 0 $$
	dec=$(awk 'NR == 1 { print $3 }' /tmp/samples)
	jnz=$(printf '%x' $((0x$dec + 3)))
	is "each address is the next instruction's" \
		"$(awk -v dec="$dec" -v jnz="$jnz" '$3 != (NR % 2 ? dec : jnz)' /tmp/samples)" ''
	has "which is the program's loop" "$(awk '{ print $5 }' /tmp/samples | sort -u)" '^\(?/root/loop10\)?$'
}
