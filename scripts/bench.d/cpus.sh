# SPDX-License-Identifier: GPL-2.0
# In a guest of 64 CPUs: what a sample costs each of them, of one and of all; and how far
# apart the first and the last of them are read. Prints "figure NAME VALUE".
# shellcheck shell=dash
watched=6000

fail() {
	echo "cpus: $*" >&2
	dmesg | tail -n 5 >&2
	exit 1
}

# sampled NAME CPUS LAST INTERVAL
sampled() {
	insmod /root/my_pmu.ko "cpu=$2" "interval=$4" log=0 || fail "my_pmu.ko cpu=$2"
	sleep 1
	dmesg -c > /dev/null
	insmod /root/my_pmu_bench.ko what=watch cpu=1 "last_cpu=$3" times=$watched 2> /dev/null
	dmesg | sed -n 's/.*my_pmu_bench: watch: //p' > /tmp/line
	[ -s /tmp/line ] || fail "$1: no result"
	echo "figure $1 $(sed -n 's/^mode \([0-9]*\) .*/\1/p' /tmp/line)"
	sed 's/^/# /' /tmp/line
	cat /sys/kernel/debug/my_pmu/samples > /tmp/rows
	rmmod my_pmu
}

sysctl -q kernel.nmi_watchdog=0
sampled cpus_1 1 1 50
sampled cpus_2 1-2 2 50
sampled cpus_4 1-4 4 50
sampled cpus_16 1-16 16 100
sampled cpus_64 all 63 500
# Of each sample that all CPUs have, from the first reading to the last, ns.
awk -F, 'NR > 1 && NF > 3 {
	if (!($1 in n) || $3 < first[$1]) first[$1] = $3
	if (!($1 in n) || $3 > last[$1]) last[$1] = $3
	n[$1]++
}
END { for (s in n) if (n[s] == 64 * 4) print last[s] - first[s] }' /tmp/rows | sort -n > /tmp/spread
awk '{ v[NR] = $1 }
END {
	if (!NR) exit 1
	print "figure spread_least " v[1]
	print "figure spread_median " v[int((NR + 1) / 2)]
	print "figure spread_most " v[NR]
}' /tmp/spread || fail "no sample has all CPUs"
