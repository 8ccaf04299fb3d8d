# SPDX-License-Identifier: GPL-2.0
# Several CPUs: read all at once, a line for each or one for all, and the file that
# has every sample.
#
# in check: 6.1
# in sample, lab: 6.12
# shellcheck shell=dash disable=SC1091 # lib.sh is beside it in the guest
. /root/guest/lib.sh

state=/sys/kernel/debug/my_pmu
watchdog 0
tracing=/sys/kernel/tracing
mount -t tracefs none $tracing 2> /dev/null
number=$(grep -c '^processor' /proc/cpuinfo)
last=$((number - 1))

registers() {
	registers_cpu=0
	while [ $registers_cpu -le $last ]; do
		/root/pmu-registers $registers_cpu
		registers_cpu=$((registers_cpu + 1))
	done
}

# The functions of the module that other CPUs are made to run, as they are run.
trace_calls() {
	echo 'p:reads my_pmu:intel_capture_cpus' > $tracing/kprobe_events
	echo 'p:calls my_pmu:call_on_cpu' >> $tracing/kprobe_events
	echo mono > $tracing/trace_clock
	echo > $tracing/trace
	echo 1 > $tracing/events/kprobes/enable
}

# They were called so often; when reads were is in /tmp/reads, CPU by CPU.
traced_calls() {
	sed 's/^ *//; s/  */ /g' $tracing/kprobe_profile
	stop_cpu=0
	while [ $stop_cpu -le $last ]; do
		sed -n "s/^.* \([0-9.]*\): reads: .*/$stop_cpu \1/p" $tracing/per_cpu/cpu$stop_cpu/trace
		stop_cpu=$((stop_cpu + 1))
	done > /tmp/reads
	echo > $tracing/kprobe_events
}

# rows FIELD=VALUE...: how many of the file's rows have all of them
rows() {
	awk -F, -v conditions="$*" 'BEGIN {
		n = split(conditions, condition, " ")
		for (i = 1; i <= n; i++) {
			split(condition[i], pair, "=")
			field[i] = pair[1]; wanted[i] = pair[2]
		}
	}
	/^sample,/ { for (i = 1; i <= NF; i++) place[$i] = i; next }
	{
		for (i = 1; i <= n; i++)
			if ($place[field[i]] != wanted[i]) next
		rows++
	} END { print rows + 0 }' /tmp/rows
}

before=$(registers)

# --- as many lines as a screen has, or one
load cpu=all counters=instructions@gp0,instructions interval=200
is "all $number CPUs: loads" $? 0
wait_all=60
while [ "$(log | grep -c '^all t=')" -lt 5 ] && [ $wait_all -gt 0 ]; do
	sleep 1
	wait_all=$((wait_all - 1))
done
unload
echo "# $(log | grep '^all t=' | sed -n 3p)"
all=$(log | grep -c '^all t=')
expect "there is a line for all, each time ($all)" [ "$all" -ge 5 ]
if [ "$number" -gt 24 ]; then
	is "and none for each" "$(log | grep -c '^cpu[0-9]* t=')" 0
else
	is "and one for each" "$(log | grep -c '^cpu[0-9]* t=')" $((all * number))
fi
is "it has all CPUs" "$(log | grep '^all t=' | sed 's/.* cpus=\([0-9]*\) .*/\1/' | sort -u)" "$number"
has "and the time between the first and the last" "$(log | grep '^all t=')" ' spread=[0-9]+ '
is "gp0 and fixed0 agree in the sum" "$(log | sed -n 's/^all .* instructions@gp0=\([0-9]*\) .*/\1/p')" \
	"$(log | sed -n 's/^all .* instructions=\([0-9]*\)$/\1/p')"
is "every register of every CPU is as it was" "$(registers)" "$before"

# --- one cross-call for each CPU and sample, however many events
load cpu=1-$last counters=instructions,cycles,branches,branches:u interval=100
trace_calls
sleep 4
echo 0 > $tracing/events/kprobes/enable
cat $state/samples > /tmp/rows
unload
profile=$(traced_calls)
is "nothing else is called than a read" "$(echo "$profile" | sed -n 's/^calls //p')" "0 0"
# Of each CPU: the calls, and the samples from the first of them until the last, whose own
# sample comes after it.
awk -F'[ ,]' 'FNR == NR {
	calls[$1]++
	if (calls[$1] == 1) first[$1] = $2 * 1e9
	last[$1] = $2 * 1e9
	next
}
/"instructions"/ && $2 in calls && $3 >= first[$2] - 1000 && $3 < last[$2] { samples[$2]++ }
END { for (cpu in calls) print cpu, calls[cpu] - 1, samples[cpu] + 0 }' /tmp/reads /tmp/rows > /tmp/calls
echo "# cpu, calls, samples: $(sort -n /tmp/calls | head -n 1)"
is "the CPUs that are asked are called" "$(wc -l < /tmp/calls)" $last
is "once for each sample" "$(awk '$2 != $3' /tmp/calls | wc -l)" 0
expect "and often enough to tell" [ "$(sed -n '1s/^[0-9]* \([0-9]*\) .*/\1/p' /tmp/calls)" -gt 5 ]

# --- the file
header=sample,cpu,time_ns,dt_ns,latency_ns,missed,event,counter,growth,enabled_ns,running_ns,flag
is "the file has a header" "$(head -n 1 /tmp/rows)" "$header"
is "each row has its 12 fields" "$(awk -F, 'NF != 12' /tmp/rows | wc -l)" 0
newest=$(tail -n 1 /tmp/rows | cut -d, -f1)
whole=$((newest - 1))
is "a sample has a row for each CPU and event" "$(rows sample=$whole)" $((last * 4))
is "and a CPU one for each event" "$(rows sample=$whole cpu=1)" 4
is "the counter is named" "$(rows sample=$whole counter=fixed0)" "$last"
is "root alone may read it" "$(stat -c %a $state 2> /dev/null; stat -c %a /sys/kernel/debug)" "700"

# --- followed while it grows
load cpu=0-1 counters=instructions,cycles interval=20
timeout 3 cat $state/samples_pipe > /tmp/rows
is "root alone may read the files" "$(stat -c %a $state/samples $state/samples_pipe | sort -u)" 400
first=$(sed -n 2p /tmp/rows | cut -d, -f1)
followed=$(tail -n 1 /tmp/rows | cut -d, -f1)
expect "the pipe goes on ($followed samples)" [ "$followed" -gt 20 ]
is "none is lost on the way" "$(sed 1d /tmp/rows | cut -d, -f1 | uniq -c | awk -v n="$first" '$1 != 4 || $2 != n++' | sed '$d' | wc -l)" 0
is "nothing was dropped" "$(grep -c dropped /tmp/rows)" 0
exec 3< $state/samples
read -r line <&3
is "who opens it later has the header, too" "$line" "$header"
expect "while it is open the module stays" [ "$(unload 2>&1 | grep -c 'in use')" = 1 ]
exec 3<&-
unload
# --- a reader who is too slow is told
load cpu=all counters=instructions,cycles,branches,branches:u interval=1
exec 3< $state/samples
read -r line <&3
# The ring has 4096 rows: until twice as many have been written.
rest=600
while [ "$(sed -n 's/^cpu0 samples \([0-9]*\) .*/\1/p' $state/counters)" -lt $((8192 / (number * 4) + 64)) ] &&
	[ $rest -gt 0 ]; do
	sleep 0.1
	rest=$((rest - 1))
done
cat <&3 > /tmp/rows
exec 3<&-
unload
expect "a slow reader is told how many rows are gone ($(grep dropped /tmp/rows | head -n 1))" \
	[ "$(grep -c '^# dropped [1-9][0-9]* rows$' /tmp/rows)" -ge 1 ]

# --- a CPU that comes later
if [ "$number" -le 24 ]; then
	echo 0 > /sys/devices/system/cpu/cpu$last/online
	load cpu=all counters=instructions interval=50
	wait_samples 2
	is "a CPU that is offline is left out" "$(log | grep -c "^cpu$last ")" 0
	echo 1 > /sys/devices/system/cpu/cpu$last/online
	is "it joins when it comes" "$(log | grep -c "^cpu$last is new, counting goes on")" 1
	sleep 1
	expect "and is sampled" [ "$(log | grep -c "^cpu$last t=")" -ge 2 ]
	echo 0 > /sys/devices/system/cpu/cpu$last/online
	echo 1 > /sys/devices/system/cpu/cpu$last/online
	is "it is back, the next time" "$(log | grep -c "^cpu$last is back, counting goes on")" 1
	unload
	load cpu=1-$last,0-1 interval=50 counters=cycles
	is "a list" $? 0
	wait_samples 4
	unload
fi
is "every register of every CPU is as it was, again" "$(registers)" "$before"
finish
