# SPDX-License-Identifier: GPL-2.0
# Loads and unloads many times, while the CPU goes and comes and perf tries
# to have events.
#
# lab: vm --timeout 5400 --with perf --mem 2048
# in endurance long: debug
# in endurance: kcsan
# in brief: 6.1
# shellcheck shell=dash disable=SC1091 # it is beside this in the guest
. /root/guest/endure.sh

cpu=3
online=/sys/devices/system/cpu/cpu$cpu/online
cycles=$(by_kernel 1000 200 40)
# Most of the time to load a module is waiting for RCU.
echo 1 > /sys/kernel/rcu_expedited
before=$(/root/pmu-registers $cpu)
touch /tmp/went /tmp/perf

(while [ ! -e /tmp/stop ]; do
	echo 0 > $online && echo >> /tmp/went
	sleep 0.02
	echo 1 > $online
	# While it goes or comes nothing loads, and on these kernels that takes a second.
	sleep "$(by_kernel 4 2 0.5)"
done) &
toggler=$!
(while [ ! -e /tmp/stop ]; do
	if perf stat -o /tmp/stat -e cycles -C 0 sleep 0.01 && grep -q '[0-9] *cycles' /tmp/stat; then
		echo >> /tmp/perf
	fi
	# It takes this kernel seconds of a CPU to start perf.
	sleep "$(by_kernel 15 5 1)"
done) > /dev/null 2>&1 &
perf=$!

loaded=0
busy=0
away=0
wrong=''
while [ $loaded -lt "$cycles" ] && [ -z "$wrong" ]; do
	if insmod /root/my_pmu.ko cpu=$cpu interval=1 2> /tmp/insmod.err; then
		loaded=$((loaded + 1))
		[ $((loaded % 4)) != 0 ] || sleep 0.01
		rmmod my_pmu || wrong="rmmod: $?"
	elif grep -q 'resource busy' /tmp/insmod.err; then
		busy=$((busy + 1))
	elif grep -q 'No such device or address' /tmp/insmod.err; then
		away=$((away + 1))
	else
		wrong="$(cat /tmp/insmod.err) $(dmesg | tail -n 3)"
	fi
done
touch /tmp/stop
wait $toggler $perf
echo 1 > $online 2> /dev/null
went=$(wc -l < /tmp/went)
counted=$(wc -l < /tmp/perf)
figure "load/unload cycles: $loaded; refused: $busy while perf had the PMU, $away while the CPU was away; the CPU went $went times, perf counted $counted times"
is "loads and unloads $cycles times" "$loaded $wrong" "$cycles "
expect "the CPU went meanwhile" [ "$went" -ge 10 ]
expect "perf counted meanwhile" [ "$counted" -ge 1 ]

# perf may have left its own behind; what we find now we must leave.
enabled=0
for msr in 0x186 0x187 0x188 0x189 0x18a 0x18b 0x18c 0x18d; do
	enabled=$((enabled | 0x$(rdmsr -p $cpu $msr)))
done
is "no counter is left enabled" "$((enabled & 0x400000)) $((0x$(rdmsr -p $cpu 0x38d)))" "0 0"
is "no register is changed" "$(/root/pmu-registers $cpu | grep -v ' 0x38f ')" \
	"$(echo "$before" | grep -v ' 0x38f ')"
before=$(/root/pmu-registers $cpu)
load cpu=$cpu interval=100
unload
is "nor is one by another cycle" "$(/root/pmu-registers $cpu)" "$before"
all_well
finish
