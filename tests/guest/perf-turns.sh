# SPDX-License-Identifier: GPL-2.0
# Twelve events of the PMU my_pmu in turns, a minute long, beside what each counts alone:
# perf-turns.sh PMU-LIST KERNEL
#
# A minute at the lab's fastest so far, see turns-60.sh; some minutes on a slower host.
# lab: program steady steady TURNS=50000000
# lab: vm --timeout 1800 --with perf
# in endurance alone: version=3,gp=4,fixed=3 6.12
# in endurance alone: 6.1
# shellcheck shell=dash disable=SC1091 # lib.sh is beside it in the guest
. /root/guest/lib.sh

watchdog 0
load cpu=3 counters=none
codes="0xc0 0x3c 0xc4"

# Alone: three events, and a counter for each of them.
# shellcheck disable=SC2046,SC2086 # a list
perf stat -x , -o /tmp/alone $(printf -- ' -e my_pmu/event=%s/u' $codes) /root/steady
is "alone each counts all of the time" "$(sed -n '/my_pmu/p' /tmp/alone | cut -d , -f 5 | sort -u)" 100.00

# shellcheck disable=SC2046,SC2086 # a list
perf stat -x , -o /tmp/turns $(for _ in 1 2 3 4; do printf -- ' -e my_pmu/event=%s/u' $codes; done) /root/steady
seconds=$(awk -F , '/my_pmu/ { print int($4 * 100 / $5 / 1000000000); exit }' /tmp/turns)
expect "in turns for $seconds s" [ "$seconds" -ge 60 ]
is "twelve events" "$(grep -c my_pmu /tmp/turns)" 12
expect "some of them in turns" [ "$(sed -n '/my_pmu/p' /tmp/turns | cut -d , -f 5 | sort -u)" != 100.00 ]
for code in $codes; do
	alone=$(sed -n "s/^\([0-9]*\),.*event=$code\/u.*/\1/p" /tmp/alone)
	turns=$(sed -n "s/^\([0-9]*\),.*event=$code\/u.*/\1/p" /tmp/turns | tr '\n' ' ')
	is "event $code: $turns are within 1 % of $alone" \
		"$(echo "$turns" | awk -v a="$alone" '{ for (i = 1; i <= NF; i++) if ($i < 0.99 * a || $i > 1.01 * a) print $i }')" ''
done
unload

finish
