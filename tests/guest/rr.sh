# SPDX-License-Identifier: GPL-2.0
# rr records programs and replays them: what each replay prints is what its recording printed. rr
# itself compares, at each event, the registers and the number of conditional branches that the PMU
# has counted, and fails if they differ.
#
# rr drives the PMU by perf, and the kernel's own driver has it: the module is not loaded.
#
# lab: vm --rr --no-module ${MY_PMU_ROUNDS:+--append rounds=$MY_PMU_ROUNDS --timeout 3000}
# lab: tool rr-work
# lab: dynamic rr-work rr-work-dynamic
# lab: program jcc loop INSTRUCTIONS=1000000
# in check: 6.1
# in lab long: MY_PMU_ROUNDS=2 6.1 6.12
# shellcheck shell=dash disable=SC1091 # lib.sh is beside it in the guest
. /root/guest/lib.sh

rounds=$(sed -n 's/^.*\<rounds=\([0-9]*\).*$/\1/p' /proc/cmdline)
export _RR_TRACE_DIR=/tmp/rr
recorded=0

# record_and_replay NAME PROGRAM [ARGUMENT...]
record_and_replay() {
	name=$1
	shift
	recorded=$((recorded + 1))
	rm -rf /tmp/rr
	if ! rr record "$@" > /tmp/recorded 2> /tmp/record.err; then
		fail "$name: is recorded" "$(tail -n 20 /tmp/record.err)"
		return
	fi
	if ! rr replay -a > /tmp/replayed 2> /tmp/replay.err; then
		fail "$name: is replayed" "$(tail -n 20 /tmp/replay.err)"
		return
	fi
	if [ -s /tmp/recorded ] && cmp -s /tmp/recorded /tmp/replayed; then
		pass "$name: the replay prints what the recording did"
	else
		fail "$name: the replay prints what the recording did" \
			"$(diff /tmp/recorded /tmp/replayed; cat /tmp/replay.err)"
	fi
}
record_and_replay "static threads" /root/rr-work threads
cat /tmp/recorded /tmp/record.err /tmp/replay.err
finish
