# SPDX-License-Identifier: GPL-2.0
# rr records programs and replays them: what each replay prints is what its recording printed.
# The programs print a hash of what a replay has to bring back: see rr-work.c. At each event rr
# itself compares the registers and the number of conditional branches that the PMU has counted,
# and fails if they differ.
#
# rr drives the PMU by perf, and the kernel's own driver has it: the module is not loaded.
#
# lab: vm --rr --no-module ${MY_PMU_ROUNDS:+--append rounds=$MY_PMU_ROUNDS --timeout 3000}
# lab: tool rr-work
# lab: dynamic rr-work rr-work-dynamic
# lab: program jcc loop INSTRUCTIONS=1000000
# in part, lab: 6.1
# in lab long: MY_PMU_ROUNDS=2 6.1 6.12
# PMIs that come 51 instructions late, as CPUs' do:
# in lab long: MY_PMU_ROUNDS=1 pmi-skid=51 6.1
# The model of this CPU does not have the event:
# in lab: model=42 6.1
# shellcheck shell=dash disable=SC1091 # lib.sh is beside it in the guest
. /root/guest/lib.sh

rounds=$(sed -n 's/^.*\<rounds=\([0-9]*\).*$/\1/p' /proc/cmdline)
export _RR_TRACE_DIR=/tmp/rr

# record PROGRAM [ARGUMENT...]: what it prints is in /tmp/recorded
record() {
	rm -rf /tmp/rr
	rr record "$@" > /tmp/recorded 2> /tmp/record.err
}

# record_and_replay PROGRAM [ARGUMENT...]
record_and_replay() {
	name="$*: the replay prints what the recording did"
	if ! record "$@"; then
		fail "$name" "not recorded: $(tail -n 20 /tmp/record.err)"
	elif ! rr replay -a > /tmp/replayed 2> /tmp/replay.err; then
		fail "$name" "not replayed: $(tail -n 20 /tmp/replay.err)"
	elif [ -s /tmp/recorded ] && cmp -s /tmp/recorded /tmp/replayed; then
		pass "$name"
	else
		fail "$name" "$(diff /tmp/recorded /tmp/replayed)"
	fi
}

if echo "$1" | grep -q 'model=42'; then
	is "without the event nothing is recorded" "$(record /root/jcc && echo recorded)" ''
	has "rr says why" "$(cat /tmp/record.err)" 'Got 0 branch events, expected at least'
	finish
fi

# --- a program of known length: DEC and JNZ in turns
record /root/jcc
is "499,998 conditional branches up to the end" \
	"$(rr dump | sed -n "s/^.*event:\`EXIT' .*ticks:\([0-9]*\)$/\1/p")" 499998

# --- what is different each time
if [ -z "$rounds" ]; then
	record_and_replay /root/rr-work-dynamic threads
	record_and_replay /root/rr-work signals
	record_and_replay /root/rr-work-dynamic forks
	record_and_replay /root/rr-work exec 1
	finish
fi
cat > /root/pipes.sh <<'END'
#!/bin/sh
for i in 1 2 3; do
	echo $$ $i | md5sum
	cat /proc/uptime
done | sort
END
cat > /root/traps.sh <<'END'
#!/bin/sh
trap 'echo $i' USR1
i=0
(usleep 20000; kill -USR1 $$) &
while [ $i -lt 3000 ]; do
	i=$((i + 1))
done
wait
cat /proc/self/stat
END
chmod +x /root/pipes.sh /root/traps.sh
for _ in $(seq "$rounds"); do
	for program in /root/rr-work /root/rr-work-dynamic; do
		record_and_replay $program threads
		record_and_replay $program signals
		record_and_replay $program forks
		record_and_replay $program exec 3
	done
	record_and_replay /root/pipes.sh
	record_and_replay /root/traps.sh
done
finish
