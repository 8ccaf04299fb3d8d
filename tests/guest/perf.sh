# SPDX-License-Identifier: GPL-2.0
# perf in the same guest, after the module was loaded and unloaded.
# shellcheck shell=dash disable=SC1091 # lib.sh is beside it in the guest
. /root/guest/lib.sh

# counted EVENT PROGRAM: what perf stat says
counted() {
	perf stat -x , -e "$1" "$2" 2>&1 | cut -d , -f 1
}

watchdog 0
load cpu=3 interval=100
wait_samples 3
unload

is "perf stat: 10,000,000 user instructions exactly" \
	"$(counted instructions:u /root/loop10)" 10000000
is "perf stat: 20,000,000 user instructions exactly" \
	"$(counted instructions:u /root/loop20)" 20000000
is "perf stat: one cycle per instruction" \
	"$(counted cycles:u /root/loop10)" 10000000
# 4,999,998 turns of the loop, and SYSCALL.
is "perf stat: branches exactly" "$(counted branches:u /root/loop10)" 4999999
is "perf stat: a branch across a page boundary is one branch" \
	"$(counted branches:u /root/crossing)" 2002
is "perf stat: and one instruction" \
	"$(counted instructions:u /root/crossing)" 4005
is "perf stat: not supported what CPUID flags absent" \
	"$(counted cache-misses /root/loop10)" '<not supported>'

perf record -q -o /tmp/perf.data -e instructions -c 100000 /root/loop10 2> /tmp/perf.err
taken=$(perf report -i /tmp/perf.data --stdio -n 2> /dev/null | awk '/loop10/ { n += $2 } END { print n + 0 }')
expect "perf record: a sample each 100,000 instructions ($taken)" \
	[ $((taken >= 99 && taken <= 110)) = 1 ]

# 10,000,000 in 16 turns: each of them is the whole of it.
totals=$(for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
	counted instructions:u /root/loop10
done | sort -u)
is "perf stat: the same each time" "$totals" 10000000
watchdog 1
has "the NMI watchdog starts again" "$(cat /proc/sys/kernel/nmi_watchdog)" 1
is "and nothing is an unknown NMI" "$(dmesg | grep -c Uhhuh)" 0

finish
