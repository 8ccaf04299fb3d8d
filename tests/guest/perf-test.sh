# SPDX-License-Identifier: GPL-2.0
# perf's own tests of what concerns hardware events, by name. Of the others
# these do not pass here: "Simple expression parser" wants the TSC's frequency
# in the CPU's name, "'import perf' in python" wants python, and "Test dwarf
# unwind" the symbols of perf.
#
# Its workload; busybox's maps no library, which one test looks for.
# lab: vm --with perf --with sleep --with objdump --timeout 480
# in lab alone: 6.1 6.12
# in lab alone: vendor=amd 6.1
# in lab alone: vendor=amd,version=2 6.12
# shellcheck shell=dash disable=SC1091 # lib.sh is beside it in the guest
. /root/guest/lib.sh

# NAME|VERDICT[|WHY]
wanted='Read samples using the mmap interface|Ok
User space counter reading of instructions|Ok
User space counter reading of cycles|Ok
Test event parsing|Ok
Parsing of all PMU events from sysfs|Ok
Parsing of given PMU events from sysfs|Ok
Parsing of aliased events from sysfs|Skip|the PMU has no aliased events
Parsing of aliased events|Ok
Parsing of terms (event modifiers)|Ok
PERF_RECORD_* events & perf_sample fields|Ok
Parse perf pmu format|Ok
PMU event table sanity|Ok
PMU event map aliases|Ok
Parsing of PMU event table metrics|Ok
Parsing of PMU event table metrics with fake PMUs|Ok
Roundtrip evsel->name|Ok
Setup struct perf_event_attr|Skip|it needs python and the files of its source
Breakpoint overflow signal handler|Ok
Breakpoint overflow sampling|Ok
Breakpoint accounting|Ok
Write Only Watchpoint|Ok
Read / Write Watchpoint|Ok
Modify Watchpoint|Ok
Number of exit events of a simple workload|Ok
Software clock events period values|Ok
Object code reading|Ok
Sample parsing|Ok
Use a dummy software event to keep tracking|Ok
Parse with no sample_id_all bit set|Ok
Track with sched_switch|Ok
Synthesize stat config|Ok
Synthesize stat|Ok
Synthesize stat round|Ok
Event times|Ok
Read backward ring buffer|Ok
Parse and process metrics|Ok
Event expansion for cgroups|Ok
TSC support|Ok
Perf time to TSC|Ok
Sigtrap|Ok
x86 bp modify|Ok
x86 Sample parsing|Ok'

perf test list > /tmp/list 2>&1
# main_number NAME: of the test that NAME is, or is a part of
main_number() {
	awk -v name="$1" '{ number = $1; sub(/^ *[0-9:]+: /, "") }
		$0 == name { split(number, part, ":"); print part[1]; exit }' /tmp/list
}

# verdict NAME: what perf printed behind it
verdict() {
	awk -v name="$1" '{ line = $0; sub(/^ *[0-9.]+: /, "", line) }
		index(line, name) == 1 {
			line = substr(line, length(name) + 1)
			if (sub(/^ *: /, "", line)) { print line; exit }
		}' "$2"
}

# Each of perf's tests once, and all its parts with it. One waits until its workload has exited
# and has been reaped: it polls an event that hangs up at the exit, and gives up when poll() has
# returned 1000 times, which it may do before the kernel sends SIGCHLD. So it has no verdict then,
# and is run again.
IFS='|'
echo "$wanted" > /tmp/wanted
while read -r name _; do
	main_number "$name"
done < /tmp/wanted | sort -un > /tmp/numbers
exits=$(main_number 'Number of exit events of a simple workload')
while read -r number; do
	if [ "$number" != "$exits" ]; then
		perf test "$number" < /dev/null
		continue
	fi
	tries=0
	while [ "$tries" -lt 50 ]; do
		tries=$((tries + 1))
		perf test -v "$number" < /dev/null > /tmp/exits 2>&1
		grep -q 'Failed after retrying 1000 times' /tmp/exits || break
	done
	tail -n 1 /tmp/exits
done < /tmp/numbers > /tmp/results 2>&1

while read -r name verdict why; do
	got=$(verdict "$name" /tmp/results)
	if [ -z "$(main_number "$name")" ]; then
		pass "perf test: $name # SKIP this perf has no such test"
	elif [ "$verdict" = Skip ] && [ "${got#Skip}" != "$got" ]; then
		pass "perf test: $name: perf skips it: $why"
	elif [ "$verdict" = "$got" ]; then
		pass "perf test: $name: $got"
	else
		fail "perf test: $name" "$got, not $verdict; perf test -v says: $(perf test -v "$(main_number "$name")" 2>&1 < /dev/null | tail -n 8)"
	fi
done < /tmp/wanted
is "the NMI watchdog and perf leave nothing unknown" \
	"$(dmesg | grep -cE 'WARNING: CPU|Uhhuh|irq loop stuck')" 0

finish
