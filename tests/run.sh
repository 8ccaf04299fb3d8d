#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# make run, as a user would.
#
# Example: tests/run.sh
set -euo pipefail
# shellcheck source=scripts/help.sh
source "$(dirname "$(readlink -f "$0")")/../scripts/help.sh"
answer_help '' "$@"

cd "$(dirname "$(readlink -f "$0")")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# shellcheck source=tests/lib-tap.sh
source tests/lib-tap.sh

run() {
	status=0
	make -s run "$@" > "$work/out" 2>&1 < /dev/null || status=$?
}

lines() {
	[[ $(grep -cE "$2" "$work/out") == "$1" ]]
}

# start COMMAND...: in the background
start() {
	: > "$work/out"	# else wait_for may see what was there before
	"$@" > "$work/out" 2>&1 < /dev/null &
	run=$!
}

# wait_for TEXT: until it has been printed, 60 s at most
wait_for() {
	local tries

	for ((tries = 0; tries < 600; tries++)); do
		if grep -q -- "$1" "$work/out"; then
			return
		fi
		sleep 0.1
	done
}

run SAMPLES=2 INTERVAL=300
result "exits 0" test $status = 0
# A host that is busy may make the guest miss one.
result "prints two sample lines" lines 2 \
	'^my_pmu: cpu3 t=[0-9.]+ dt=[0-9.]+ latency=[0-9]+( missed=[0-9]+)? instructions@fixed0=[0-9]+ cycles@fixed1=[0-9]+ instructions@gp0=[0-9]+ cycles@gp1=[0-9]+$'
result "prints the PMU block" lines 4 '^my_pmu: \.\.\. '
result "says which PMU is used" lines 1 "QEMU's TCG with an emulated PMU"

run SAMPLES=1 INTERVAL=200 CPU=1 SMP=2 COUNTERS=branches:u
result "takes CPU, SMP and COUNTERS" lines 1 '^my_pmu: cpu1 t=.* branches:u@gp0=[0-9]+$'

run SAMPLES=1 COUNTERS=nonsense
result "a parameter that the module refuses: not 0" test $status != 0
result "and why, once" lines 1 "^my_pmu: counters: 'nonsense': no event"

run SAMPLES=2 INTERVAL=300 CPU=1,2-3 COUNTERS=instructions
result "takes a list of CPUs" test $status = 0
result "a line for each CPU" lines 6 '^my_pmu: cpu[123] t='
result "and one for all" lines 2 '^my_pmu: all t=.* cpus=3 '

run CPU=4
result "a CPU that the guest does not have: not 0" test $status != 0
result "and why" lines 1 'CPU=4: the guest has CPUs 0 to 3'
run COUNTERS=none
result "nothing to count: not 0" test $status != 0
result "and why" lines 1 'COUNTERS=none: then there are no samples'
run CPU=1,x
result "no list of CPUs: not 0" test $status != 0
result "and what would be one" lines 1 'CPU=1,x: .* give some of these, as 0 or 0-1, or all$'
run "COUNTERS=instructions cycles"
result "blanks between events: not 0" test $status != 0
result "and why" lines 1 'COUNTERS=instructions cycles: give events with commas'
run SAMPLES=many
result "no number of samples: not 0" test $status != 0

run ARCH=arm64
result "an architecture that there is not: not 0" test $status != 0
result "and why" lines 1 'ARCH=arm64: give x86_64 or riscv64$'
run ARCH=riscv64 KERNEL=6.1
result "a kernel that riscv64 has not: not 0" test $status != 0
result "and why" lines 1 'no kernel 6.1 for riscv64: give one of 6.12 unstable$'

# Without end, until Ctrl-C: here SIGINT to the script itself.
# A background job would ignore SIGINT.
start env --default-signal=INT SAMPLES=0 INTERVAL=300 scripts/run
wait_for ' t='
kill -INT $run
status=0
wait $run || status=$?
result "SIGINT ends it with 0" test $status = 0
result "and unloads first" lines 1 '^# rmmod my_pmu$'

# Without end, and make is killed: nobody is left to stop it but itself.
start make -s run SAMPLES=0 INTERVAL=300
wait_for ' t='
kill -KILL $run
wait_for 'all is well'
result "it ends when make is gone" lines 1 'all is well'

echo "1..$number"
exit $failed
