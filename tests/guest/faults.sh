# SPDX-License-Identifier: GPL-2.0
# Each access of load to a register of the PMU faults in turn, then those of
# samples and of unload: an error and all undone, never an oops.
#
# lab: tool try-faults
# lab: vm --smp 2
# perf's own access, which it does not look at; where it is inlined depends
# lab: vm --allow 'unchecked MSR access error: WRMSR to 0x38f .*(native_write_msr|intel_pmu_(en|dis)able_all)\+'
# in part long, lab: faults=on 6.1
# in sample, lab: faults=on 6.12
# in endurance long: faults=on debug
# shellcheck shell=dash disable=SC1091 # lib.sh is beside it in the guest
. /root/guest/lib.sh

# Of two: what a load does on all CPUs, one by one in the lab, is not what we test.
cpu=1
injector=0x4000f000
watchdog 0
# A counter is in use, of an event that does not happen: so perf does not count to say which
# counters an event has. An RDPMC of perf's that faults is an Oops.
wrmsr -p $cpu 0x18d 0x430051
before=$(/root/pmu-registers $cpu)

# put_back: the registers as before. GLOBAL_STATUS, which was 0, is cleared by
# another register.
put_back() {
	wrmsr -p $cpu 0x390 "0x$(rdmsr -p $cpu 0x38e)"
	echo "$before" | while read -r _ msr value; do
		[ "$value" = absent ] || [ "$msr" = 0x38e ] || wrmsr -p $cpu "$msr" "0x$value"
	done
}

# changed: how many registers are not as before
changed() {
	/root/pmu-registers $cpu > /tmp/now
	echo "$before" | grep -c -v -x -F -f /tmp/now
}

# said WORD: what the line with this word has, of what try-faults said
said() {
	sed -n "s/^$1 *//p" /tmp/tried
}

# refuses_all PARAMETER...: until none is left that faults. When the write faults
# that is to put a register back, that one stays as it is, and no other. Some accesses
# in a row are perf's, which is asked for events, and does not care.
refuses_all() {
	expedited /root/try-faults $cpu /root/my_pmu.ko "cpu=$cpu interval=60000 $*" > /tmp/tried
	status=$?
	nth=$(($(said accesses) + 1))
	left=$(said left)
	perfs=$(said perfs)
	is "$*: each of $((nth - 1)) accesses, faulting, ends in an error and is undone" \
		"$status $(said wrong)" '0 '
	expect "$*: they were more than 50" [ $nth -gt 50 ]
	expect "$*: perf's are some in a row ($perfs)" \
		[ "$(echo "$perfs" | awk '{ print (NF < 10 && (!NF || $NF - $1 == NF - 1)) }')" = 1 ]
	expect "$*: few leave their own register changed ($left)" [ "$left" -le $((nth / 10)) ]
	expect "$*: none has faulted when it loads" [ "$(said rest)" -gt 0 ]
	wrmsr -p $cpu $injector 0
}
refuses_all counters=instructions@gp0,cycles@fixed1
unload
is "all is as before" "$(/root/pmu-registers $cpu)" "$before"

# --- in samples: what faults is told as missed, and nothing is lost
load cpu=$cpu interval=50 counters=instructions@gp0,instructions@fixed0
for nth in 1 2 3 4 5 6 7 8 9; do
	seen=$(samples | wc -l)
	wrmsr -p $cpu $injector $nth
	wait_samples $((seen + 4))
done
is "each has faulted" "$(rdmsr -p $cpu $injector)" 0
unload
expect "each has cost a sample ($(samples | grep -c missed))" [ "$(samples | grep -c missed)" -ge 9 ]
expect "a line says why" [ "$(log | grep -c 'no sample: a PMU register faulted')" -ge 1 ]
is "two counters agree in each sample" "$(value instructions@gp0)" "$(value instructions@fixed0)"
is "two counters have the same total" "$(total instructions@gp0)" "$(total instructions@fixed0)"
is "all is as before, after faults in samples" "$(/root/pmu-registers $cpu)" "$before"

# --- in unload: one line, all others are put back
for nth in 1 3 5 7 9; do
	load cpu=$cpu interval=60000 counters=instructions@gp0,cycles@fixed1
	wrmsr -p $cpu $injector $nth
	unload
	is "unloads when access $nth faults" "$?" 0
	is "and says so" "$(log | grep -c "cpu$cpu: a PMU register faulted, not all are as they were")" 1
	wrmsr -p $cpu $injector 0
	expect "and all others are ($(changed))" [ "$(changed)" -le 1 ]
	put_back
done

finish
