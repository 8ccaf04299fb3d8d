# SPDX-License-Identifier: GPL-2.0
# The module's main job on RISC-V: riscv.sh PMU-LIST KERNEL. With one CPU, whose clock goes by
# instructions, the counts of a program are exact.
#
# lab: program loop10 riscv-loop INSTRUCTIONS=10000000 PAUSE=1
# in check: 6.12-riscv64
# in lab: unstable-riscv64
# shellcheck shell=dash disable=SC1091 # lib.sh is beside it in the guest
. /root/guest/lib.sh

watchdog 0
has "it is RISC-V" "$(uname -m)" '^riscv64$'

# --- the default, on a busy CPU
busy 0
load cpu=0 interval=50
is "loads" "$?" 0
if [ ! -e /sys/module/my_pmu ]; then
	log | sed 's/^/# /'
	finish	# what follows would wait for samples
fi
wait_samples 4
unload
idle
samples | sed 's/^/# /'
expect "prints samples ($(samples | wc -l))" [ "$(samples | wc -l)" -ge 4 ]
# An instruction takes a cycle, which is a nanosecond of the guest's, and an interval 50,000,000.
for event in instructions cycles; do
	grown=$(value "$event@[a-z0-9]*" | sed -n 2,4p | sort -n | head -n 1)
	expect "each sample of a busy CPU has grown by an interval's $event ($grown)" \
		[ "${grown:-0}" -gt 40000000 ]
done

# --- a program of known length. It sleeps before and after, and nobody else runs: these samples
# have no user instruction.
load cpu=0 interval=50 counters=instructions:u
wait_samples 1
/root/loop10
wait_samples $(($(samples | wc -l) + 2))
unload
between=$(value 'instructions:u@[a-z0-9]*' |
	awk '$1 == 0 { print sum + 0; sum = 0 } { sum += $1 }' | grep -v '^0$' | tr '\n' ' ')
expect "10,000,000 user instructions are a sample's, or two's, between others of 0 ($between)" \
	[ "$(echo "$between" | tr ' ' '\n' | grep -cx 10000000)" = 1 ]

finish
