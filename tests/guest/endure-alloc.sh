# SPDX-License-Identifier: GPL-2.0
# Each allocation of loading fails in turn, the kernel's own for a module, too.
#
# Before it starts a module, the kernel makes its trace events, and goes on without one for which
# there is no memory; but it says so with a WARN_ON_ONCE() in event_define_fields().
#
# lab: vm --timeout 5400 --with perf --mem 2048
# lab: vm --allow 'WARNING: .* at kernel/trace/trace_events\.c:[0-9]+ event_define_fields\+'
# lab: tool try-module
# in endurance: debug
# shellcheck shell=dash disable=SC1091 # it is beside this in the guest
. /root/guest/endure.sh

for which in failslab fail_page_alloc; do
	for what in ignore-gfp-wait ignore-gfp-highmem min-order verbose; do
		[ ! -e /sys/kernel/debug/$which/$what ] || echo 0 > /sys/kernel/debug/$which/$what
	done
done
before=$(/root/pmu-registers 3)
/root/try-module fail /root/my_pmu.ko 'cpu=3 interval=1000' > /tmp/tried
sed '$d' /tmp/tried
read -r tried refused loaded wrong << END
$(tail -n 1 /tmp/tried)
END
figure "allocations made to fail: $tried; $refused times it was refused, $loaded times it could go without"
is "all end in ENOMEM, or it goes without" "$wrong" 0
expect "they were some" [ "$tried" -ge 20 ]
expect "it cannot go without some" [ "$refused" -ge 10 ]
is "no register is changed" "$(/root/pmu-registers 3)" "$before"
all_well
finish
