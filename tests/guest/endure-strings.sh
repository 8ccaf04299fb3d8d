# SPDX-License-Identifier: GPL-2.0
# Random parameters, from a grammar and then changed: each loads, or is refused
# in one line with an errno that says what is wrong.
#
# lab: vm --timeout 5400 --with perf --mem 2048
# lab: tool try-module
# lab: file parameters make-parameters "${MY_PMU_STRINGS:-10000}"
# in endurance long: debug
# in brief: MY_PMU_STRINGS=200 6.1
# shellcheck shell=dash disable=SC1091 # it is beside this in the guest
. /root/guest/endure.sh

# Most of the time to load a module is waiting for RCU.
echo 1 > /sys/kernel/rcu_expedited
before=$(/root/pmu-registers 0 1 2 3)
/root/try-module strings /root/my_pmu.ko < /root/parameters > /tmp/tried
sed '$d' /tmp/tried
read -r tried loaded wrong << END
$(tail -n 1 /tmp/tried)
END
figure "random parameters tried: $tried; $loaded could be loaded with"
is "all are tried" "$tried" "$(wc -l < /root/parameters)"
is "each loads, or is refused in one line" "$wrong" 0
expect "some load" [ "$loaded" -gt $((tried / 100)) ]
expect "most do not" [ "$loaded" -lt $((tried / 2)) ]
is "no register is changed" "$(/root/pmu-registers 0 1 2 3)" "$before"
all_well
finish
