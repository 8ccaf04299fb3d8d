# SPDX-License-Identifier: GPL-2.0
# A PMU that does not count as it says: truth.sh PMU-LIST. What does not count is
# refused, what does is not.
# shellcheck shell=dash disable=SC1091 # lib.sh is beside it in the guest
. /root/guest/lib.sh

cpu=3
kind=$(echo "$1" | sed 's/.*broken=\([a-z-]*\).*/\1/')
mask=$(echo "$1" | sed -n 's/.*broken-counters=\([^,]*\).*/\1/p')
wide=$(echo "$1" | sed -n 's/.*width=\([0-9]*\).*/\1/p')
all=$(printf '%#x' $(((1 << ${wide:-48}) - 1)))

# The counter that is broken, an event for it, and the same on one that is not.
case $mask in
0x4) name=gp2 event=instructions good=instructions@gp0,cycles@fixed1 ;;
0x100000000) name=fixed0 event=instructions good=instructions@gp0,cycles@fixed1 ;;
0x200000000) name=fixed1 event=cycles good=instructions@fixed0,cycles@gp0 ;;
*) name=gp0 event=instructions good= ;;
esac

# How a count that is wrong is told: what is right is one number, or a range.
case $event in
instructions) wrong="1024 instructions where the CPU has executed 2048" ;;
cycles) wrong="1024 cycles in code of 2048 instructions; plausible are 1536 to 32768" ;;
esac
top=$(printf '%#x' $((all - 63)))
case $kind in
ignores-writes) line="$name does not keep what is written to it: $top written, 0x[0-9a-f]+ read" ;;
constant) line="$name does not keep what is written to it: $top written, 0x1234 read" ;;
short) line="$name does not keep what is written to it: $top written, 0x[0-9a-f]+ read" ;;
dead) line="$name stands still: it counts no $event in code of 2048 instructions" ;;
halved) line="$name counts wrong: $wrong" ;;
no-overflow) line= ;;
*) fail "knows what is broken" "$kind" && finish ;;
esac

watchdog 0
before=$(/root/pmu-registers $cpu)
load cpu=$cpu interval=100 counters="$event@$name"
if [ -n "$line" ]; then
	has "refuses $event@$name" "$(cat /tmp/insmod.err)" 'No such device'
	has "says why" "$(log | tail -n 1)" "^cpu3: $line\$"
	is "prints no sample" "$(samples)" ''
	is "is not loaded" "$(lsmod | grep -c my_pmu)" 0
else
	is "loads $event@$name" "$(cat /tmp/insmod.err)" ''
	wait_samples 2
	# Over its wrap, of which it does not tell.
	unload
	wrmsr -p $cpu 0xc1 0xffff0000
	busy $cpu
	load cpu=$cpu interval=100 counters="$event@$name,cycles@fixed1"
	wait_samples 3
	unload
	idle
	is "counts over its wrap" "$(value "$event@$name")" "$(value cycles@fixed1)"
	is "which is told, and nothing else" "$(samples | grep -c ' wrapped=gp0 ') $(samples | grep -c ' stolen=\| late=')" "1 0"
	wrmsr -p $cpu 0xc1 0
fi
is "puts every register back" "$(/root/pmu-registers $cpu)" "$before"
if [ -n "$good" ]; then
	load cpu=$cpu interval=100 counters="$good"
	is "loads $good" "$(cat /tmp/insmod.err)" ''
	wait_samples 2
	unload
	values=$(samples | head -n 1 | tr ' ' '\n' | sed -n 's/^[a-z]*@.*=//p' | sort -u | wc -l)
	is "they agree" "$values" 1
	is "puts every register back after that" "$(/root/pmu-registers $cpu)" "$before"
fi

finish
