# SPDX-License-Identifier: GPL-2.0
# For the endurance tests: what must hold after each of them.
# shellcheck shell=dash disable=SC1091 # lib.sh is beside it in the guest
. /root/guest/lib.sh

# Its information is not for the serial line, which is slow: warnings are.
dmesg -n 5
watchdog 0

# by_kernel DEBUG KCSAN STOCK: the one that is for this kernel. A stock one has no eyes of
# its own for what goes wrong, so that little is enough there.
by_kernel() {
	case $(uname -r) in
	*debug*) echo "$1" ;;
	*kcsan*) echo "$2" ;;
	*) echo "$3" ;;
	esac
}

# figure WORDS: a line for whoever reads what the run has done
figure() {
	echo "# figure: $(uname -r): $*"
}

# What no scan finds a pointer to. An object must be some seconds old.
leaks() {
	echo scan > /sys/kernel/debug/kmemleak
	sleep 7
	echo scan > /sys/kernel/debug/kmemleak
	cat /sys/kernel/debug/kmemleak
}

# all_well: nothing leaks, nothing is held or counts
all_well() {
	if [ -e /sys/kernel/debug/kmemleak ]; then
		is "nothing leaks" "$(leaks)" ''
	fi
	is "it is not loaded" "$(lsmod | grep -c '^my_pmu ')" 0
	has "perf can count" "$(perf stat -e cycles:u true 2>&1)" '[0-9]+ +cycles:u'
}
