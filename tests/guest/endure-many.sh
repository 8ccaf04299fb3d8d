# SPDX-License-Identifier: GPL-2.0
# On each of many CPUs in turn.
#
# lab: vm --timeout 5400 --with perf --mem 6144 --smp 64
# in endurance alone: debug
# shellcheck shell=dash disable=SC1091 # it is beside this in the guest
. /root/guest/endure.sh

cpus=$(nproc --all)
wrong=''
total=0
for cpu in $(seq 0 $((cpus - 1))); do
	before=$(/root/pmu-registers "$cpu")
	load cpu="$cpu" interval=10 || wrong="$wrong cpu$cpu: $(cat /tmp/insmod.err)"
	wait_samples 2 || wrong="$wrong cpu$cpu: no samples"
	unload
	total=$((total + $(samples | wc -l)))
	[ "$(value instructions@gp0)" = "$(value instructions@fixed0)" ] || wrong="$wrong cpu$cpu: counters disagree"
	[ "$(/root/pmu-registers "$cpu")" = "$before" ] || wrong="$wrong cpu$cpu: registers changed"
done
figure "CPUs counted on, one after the other: $cpus; samples: $total"
is "on each of $cpus CPUs it counts, and leaves nothing" "$wrong" ''
is "there are as many as there should be" "$cpus" 64
all_well
finish
