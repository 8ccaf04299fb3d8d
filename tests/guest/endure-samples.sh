# SPDX-License-Identifier: GPL-2.0
# A sample in each millisecond for minutes: half of them idle, half busy.
#
# lab: vm --timeout 5400 --with perf --mem 2048
# in endurance: debug kcsan
# in brief: 6.1
# shellcheck shell=dash disable=SC1091 # it is beside this in the guest
. /root/guest/endure.sh

cpu=3
state=/sys/kernel/debug/my_pmu/counters
seconds=$(by_kernel 300 60 8)
before=$(/root/pmu-registers $cpu)

# samples_of KEY: from the file's first line
samples_of() {
	sed -n "s/^cpu$cpu .*\<$1 \([0-9]*\).*/\1/p" $state | head -n 1
}

load cpu=$cpu interval=1
start=$(cut -d ' ' -f 1 /proc/uptime)
sleep "$seconds"
expect "samples are taken while it is idle" [ "$(samples_of samples)" -gt 1000 ]
# All CPUs: the sampler has to share its own.
for busy in 0 1 2 3; do
	taskset $((1 << busy)) timeout "$seconds" sh -c 'while :; do :; done' &
done
# Whoever reads meanwhile disturbs nobody.
for _ in $(seq "$seconds"); do
	cat $state > /dev/null
	sleep 1
done
wait
taken=$(samples_of samples)
missed=$(samples_of missed)
ms=$(awk -v start="$start" '{ printf "%d", ($1 - start) * 1000 }' /proc/uptime)
disagree=$(samples | awk '{
	split("", v)
	for (i = 5; i <= NF; i++)
		if (split($i, pair, "=") == 2)
			v[pair[1]] = pair[2]
	if (v["instructions@gp0"] != v["instructions@fixed0"])
		print
}')
unload
figure "samples taken at intervals of 1 ms: $taken in $((ms / 1000)) s; $missed were told as missed"
expect "each millisecond has a sample, or is told as missed ($taken + $missed of $ms)" \
	[ $((taken + missed > ms - 1000 && taken + missed < ms + 1000)) = 1 ]
is "two counters agree in all samples that the log still has" "$disagree" ''
is "no register is changed" "$(/root/pmu-registers $cpu)" "$before"
all_well
finish
