# SPDX-License-Identifier: GPL-2.0
# /dev/my_pmu: samples, and changes of what is counted: device.sh PMU-LIST KERNEL
#
# lab: vm --with perf --with setpriv
# lab: sample
# lab: program loop10 loop INSTRUCTIONS=10000000
# in check: 6.1
# in sample, lab: 6.12
# in sample, lab: vendor=amd,version=2 6.12
# in sample, lab: version=6,gp=6,fixed=4 unstable
# in endurance: debug kcsan
# shellcheck shell=dash disable=SC1091,SC2154 # lib.sh is beside it in the guest
. /root/guest/lib.sh

device=/dev/my_pmu
watchdog 0
taskset -p 1 $$ > /dev/null
# Where a CPU comes back, Linux writes AMD's GLOBAL_CTL.
registers() {
	/root/pmu-registers 0 1 2 3 | grep -v '^cpu[23] 0xc0000301'
}
before=$(registers)

# change WORDS: asks for that; a refusal's errno and sentence are printed. The shell's echo would not
# tell the errno.
change() {
	echo "$1" > /tmp/words
	exec 9<> $device
	if cat /tmp/words >&9 2> /tmp/change.err; then
		echo granted
	else
		sed 's/.*: //' /tmp/change.err
		dd bs=4096 count=1 <&9 2> /dev/null | sed -n '2s/^# //p'
	fi
	exec 9>&-
}

# refused NAME WORDS ERRNO SENTENCE
refused() {
	has "$1: refused" "$(change "$2" | tr '\n' ' ')" "^$3 $4"
	is "$1: counting goes on" "$(counting)" "$counting"
}

# What is counted where, without how many samples there were.
counting() {
	sed -n '/ counting /p' /sys/kernel/debug/my_pmu/counters
}

# rows N: the next rows of a file that is opened now, without the old ones
rows() {
	dd bs=1000000 count=1 <&8 > /dev/null 2>&1
	head -n "$1" <&8
}

# grown PATTERN: the growth of all rows that are there and match, by event and counter
grown() {
	dd bs=1000000 count=1 <&8 2> /dev/null | grep "$1" > /tmp/rows
	awk -F , '{ n[$7 " " $8] += $9 } END { for (e in n) print n[e] }' /tmp/rows
}

# field N: of rows
field() {
	cut -d , -f "$1" /tmp/rows
}

# --- the same rows as in samples_pipe
load cpu=3 interval=100 log=0 counters=instructions:u,cycles:u
is "it is root's only" "$(stat -c %A $device)" crw-------
exec 8< $device
rows 4 > /tmp/rows
is "rows, as in samples_pipe: the header" "$(head -n 1 $device)" "$(head -n 1 /sys/kernel/debug/my_pmu/samples_pipe)"
is "two of each sample" "$(field 7 | tr '\n' ' ')" '"instructions:u" "cycles:u" "instructions:u" "cycles:u" '
rmmod my_pmu 2> /dev/null
expect "rmmod does not take it from who reads" [ -d /sys/module/my_pmu ]

has "who has no capabilities is refused" \
	"$(setpriv --bounding-set=-all --inh-caps=-all head -n 1 $device 2>&1)" 'Permission denied'

# --- what is refused changes nothing
counting=$(counting)
refused "an unknown word" "period=1" 'Invalid argument' "'period=1': cpu=, counters= or interval= is needed"
refused "nothing" "" 'Invalid argument' "nothing: "
refused "a word twice" "interval=10 interval=20" 'Invalid argument' 'interval= is there twice'
refused "no interval" "interval=0 counters=cycles" 'Invalid argument' 'interval: '
refused "no such CPU" "cpu=64" 'Invalid argument' "cpu: '64': no such CPU; 0-3 are there"
refused "no list of CPUs" "cpu=x counters=cycles" 'Invalid argument' "cpu: 'x': a list of CPUs is needed"
refused "no such event" "counters=cycles,instrs cpu=2-3 interval=500" 'Invalid argument' "counters: 'instrs'"
refused "what the CPU does not have" "counters=bogus-misses" 'Invalid argument' "counters: 'bogus-misses'"
refused "two on one counter" "counters=cycles@gp1,instructions@gp1" '[A-Z].*' "counters: "
echo 0 > /sys/devices/system/cpu/cpu2/online
refused "an offline CPU" "cpu=1-3" 'No such device or address' 'cpu: 2 is offline; bring it online'
echo 1 > /sys/devices/system/cpu/cpu2/online
refused "too long" "counters=$(printf '%4096s' ' ' | tr ' ' x)" 'Message too long' 'too long: at most 4095'
echo counters=nothing > $device 2> /dev/null
has "who only writes finds the reason in the log" "$(log)" "^counters: 'nothing': no event"
is "and samples come as before" "$(rows 2 > /tmp/rows; field 7 | tr '\n' ' ')" '"instructions:u" "cycles:u" '

# --- the interval
is "another interval" "$(change interval=300)" granted
rows 22 | tail -n 18 > /tmp/rows
is "the CPU counts on" "$(counting)" "$counting"
# Their median: one that comes late is early for the next, which is due when it was.
expect "samples are due every 300 ms: $(field 4 | tr '\n' ' ')" \
	[ "$(field 4 | sort -n | awk 'NR == 9 && $1 > 280e6 && $1 < 320e6' | wc -l)" = 1 ]
change interval=100 > /dev/null

# --- the growth of all samples is what was counted, also while the interval changes
dd bs=1000000 count=1 <&8 > /dev/null 2>&1
taskset 8 /root/loop10
change interval=50 > /dev/null
whole=$(grown instructions:u)
(while [ ! -e /tmp/stop ]; do
	change interval=50
	change interval=2000
done) > /tmp/changes &
taskset 8 /root/loop10
touch /tmp/stop
wait $!
rm /tmp/stop
change interval=50 > /dev/null
lost=$((whole - $(grown instructions:u)))
expect "a program and what starts it: $whole" [ $((whole >= 10000000 && whole < 10010000)) = 1 ]
is "$(wc -l < /tmp/changes) changes of the interval: none was refused" "$(grep -vc granted /tmp/changes)" 0
is "and no growth is lost" $lost 0

# --- the events
is "other events" "$(change counters=instructions:u,instructions:u@gp1,instructions:k)" granted
taskset 8 /root/loop10
is "are counted" "$(counting | grep -c instructions)" 3
change interval=100 > /dev/null
is "from the first program on" "$(grown instructions:u)" "$whole
$whole"
is "no row has a flag" "$(field 12 | sort -u)" ''
is "the same events again" "$(change counters=instructions:u,instructions:u@gp1,instructions:k)" granted
is "more events than counters" "$(change counters=instructions:u,branches:u,r00c4:u,r01c4:u,r02c4,r003c:k,r013c:k,branches:k,r00c0:k,r10c4,r11c4,r12c4,r13c4)" granted
rows 14 > /tmp/rows
expect "are multiplexed" [ "$(awk -F , '$11 < $10' /tmp/rows | wc -l)" -gt 2 ]
is "none" "$(change counters=none)" granted
is "are counted" "$(counting)" ''
is "the defaults" "$(change counters=default)" granted
defaults=$(counting | wc -l)
expect "are counted, on $defaults counters" [ "$defaults" -ge 2 ]

# --- the CPUs
is "all CPUs" "$(change cpu=all)" granted
rows 40 > /tmp/rows
is "are counted on" "$(field 2 | sort -u | tr '\n' ' ')" '0 1 2 3 '
echo 0 > /sys/devices/system/cpu/cpu2/online
echo 1 > /sys/devices/system/cpu/cpu2/online
has "one of them goes and comes" "$(log)" 'cpu2 is back, counting goes on'
echo 0 > /sys/devices/system/cpu/cpu2/online
is "another interval while it is away" "$(change interval=120)" granted
echo 1 > /sys/devices/system/cpu/cpu2/online
is "it is still one of them" "$(counting | grep -c cpu2)" "$defaults"
is "another list" "$(change 'cpu=1,2 counters=cycles,instructions:u interval=50')" granted
rows 12 > /tmp/rows
is "of CPUs" "$(field 2 | sort -u | tr '\n' ' ')" '1 2 '
is "all three at once" "$(field 7 | sort -u | tr '\n' ' ')" '"cycles" "instructions:u" '
echo 0 > /sys/devices/system/cpu/cpu2/online
is "other events while one of them is away" "$(change counters=instructions:u)" granted
echo 1 > /sys/devices/system/cpu/cpu2/online
taskset 4 /root/loop10
change interval=60 > /dev/null
back=$(grown '^[0-9]*,2,.*instructions:u' | sort -n | tail -n 1)
expect "it counts them when it is back: $back" [ "$back" -ge 10000000 ]
exec 8<&-

# --- beside others
insmod /root/my_pmu_sample.ko cpu=1 turns=1000
sample=$(counting)
counting=$(counting)
refused "more than others leave" "counters={$(for n in 0 1 2 3 4 5 6 7 8 9 a b; do printf 'r%sc4,' "0$n"; done)cycles:u}" \
	'No space left on device' 'counters: '
is "others count on" "$(counting)" "$sample"
rmmod my_pmu_sample
if [ -e /sys/bus/event_source/devices/my_pmu ]; then
	perf stat -C 2 -x , -o /tmp/stat -e my_pmu/event=0xc0/u -- sh -c "
		taskset 4 /root/loop10
		for n in 1 2 3 4 5; do
			echo counters=instructions,cycles,branches cpu=1-2 > $device
			echo counters=cycles:u cpu=2-3 > $device
		done
		taskset 4 /root/loop10"
	expect "perf's event counts on: $(grep c0 /tmp/stat)" \
		[ "$(grep c0 /tmp/stat | awk -F , '{ print ($1 >= 20000000) }')" = 1 ]
	is "all of the time" "$(grep c0 /tmp/stat | cut -d , -f 5)" 100.00
fi

# --- changes, readers, and a CPU that goes and comes, at the same time
cat $device > /tmp/all 2>&1 &
reader=$!
(while [ ! -e /tmp/stop ]; do
	echo 0 > /sys/devices/system/cpu/cpu3/online
	echo 1 > /sys/devices/system/cpu/cpu3/online
done) 2> /dev/null &
toggler=$!
tries=0
while [ $tries -lt "$toggles" ]; do
	tries=$((tries + 1))
	change 'counters=instructions,cycles cpu=all interval=10'
	change 'counters=default cpu=2-3'
	change counters=none
	change 'counters=cycles:u cpu=1-2 interval=20'
done > /tmp/changes
touch /tmp/stop
wait $toggler
echo 1 > /sys/devices/system/cpu/cpu3/online 2> /dev/null
is "only an offline CPU is refused" "$(grep -vE '^(granted|No such device or address|cpu: 3 is offline.*|cpu: 3 is not all .*)$' /tmp/changes)" ''
kill $reader
wait $reader 2> /dev/null
expect "$((4 * tries)) changes while a CPU goes and comes; samples: $(wc -l < /tmp/all)" [ -s /tmp/all ]
is "none is wrong" "$(awk -F , 'NF != 12 && !/^# dropped/' /tmp/all)" ''

# --- the end
expect "rmmod" unload
expect "the device is gone" [ ! -e $device ]
is "all registers are as before" "$(registers)" "$before"
# Linux has data races of its own; scripts/vm looks for ours.
is "the kernel has seen nothing wrong" "$(dmesg | grep -v 'BUG: KCSAN: ' | grep -E 'WARNING|BUG|Uhhuh|refcount|leak')" ''
finish
