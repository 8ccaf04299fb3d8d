# SPDX-License-Identifier: GPL-2.0
# For scripts/lab-speed: speed.sh COUNTERS LINES, COUNTERS being plain, off, on.
# shellcheck shell=dash

# Four generic counters, user and kernel: cycles, instructions, reference
# cycles, branches.
start_counters() {
	register=0
	for event in 3c c0 13c c4; do
		wrmsr -a $((0x186 + register)) $((0x430000 | 0x$event))
		register=$((register + 1))
	done
	wrmsr -a 0x38f 0xf
}

# How many of the four have counted.
moving() {
	moved=0
	for register in 0xc1 0xc2 0xc3 0xc4; do
		now=$(rdmsr -p 0 $register)
		if [ "$now" != 0 ]; then
			moved=$((moved + 1))
		fi
	done
	echo $moved
}

if [ "$1" = on ]; then
	start_counters
fi
/root/guest/crunch.sh "$2" > /dev/null
# So that a run with the counters off is never taken for one with them on.
# QEMU as it is reads 0 from registers that it does not know.
if [ "$(moving)" != "$([ "$1" = on ] && echo 4 || echo 0)" ]; then
	echo "$(moving) of 4 counters count, which is not '$1'" >&2
	exit 1
fi
