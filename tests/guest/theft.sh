# SPDX-License-Identifier: GPL-2.0
# Somebody else writes our registers while we count: the sample in which it shows
# says so, adds nothing, and all goes on from there: theft.sh PMU-LIST.
#
# in check: 6.1
# in sample, lab: version=2,gp=4,fixed=3,width=32 6.1
# in sample, lab: version=5,gp=8,fixed=3 6.12
# in endurance: debug
# shellcheck shell=dash disable=SC1091 # lib.sh is beside it in the guest
. /root/guest/lib.sh

cpu=3
watchdog 0
interval=200
case $1 in
*width=32*) interval=15 ;;
esac
before=$(/root/pmu-registers $cpu)
busy $cpu
load cpu=$cpu interval=$interval counters=instructions@gp0,instructions@gp1,instructions@fixed0,cycles@fixed1
is "loads" "$?" 0

select=$(rdmsr -p $cpu 0x186)
fixed=$(rdmsr -p $cpu 0x38d)
global=$(rdmsr -p $cpu 0x38f)
ours=$((0x300000003))

# The kernel's log holds some hundreds of samples: it begins anew, all are in a file.
keep_samples() {
	dmesg -c | sed -n '/ t=/s/^.*my_pmu: //p' >> /tmp/samples
}

# stolen NAME MARK MSR VALUE
stolen() {
	keep_samples
	wait_samples 1
	wrmsr -p $cpu "$3" "$4"
	wait_samples $(($(samples | wc -l) + 3))
	is "$1 is reported once, as $2" \
		"$(samples | sed -n 's/.* stolen=\([^ ]*\).*/\1/p')" "$2"
	is "$1: all registers are ours again" \
		"$(rdmsr -p $cpu 0x186) $(rdmsr -p $cpu 0x187) $(rdmsr -p $cpu 0x38d) $((0x$(rdmsr -p $cpu 0x38f) & ours))" \
		"$select $select $fixed $ours"
}

# First, while the counters are small: to go back from there takes almost a whole
# round, which nothing counts in an interval.  From the middle of 32 bits it may.
# What is counted until the next sample, which may be late, must not make up for it.
wait_samples 20
stolen "a counter set back to 0" gp0 0xc1 0
stolen "a counter set back by half" gp1 0xc2 $((0x$(rdmsr -p $cpu 0xc2) / 2 & 0x7fffffff))
stolen "a fixed counter set to 1" fixed0 0x309 1
stolen "another event" gp0 0x186 0x4300c4
stolen "no event" gp0 0x186 0
stolen "an event that is not enabled" gp1 0x187 0x0300c0
stolen "an interrupt" gp0 0x186 0x5300c0
stolen "user code only" gp1 0x187 0x4100c0
stolen "a fixed counter that is off" fixed0 0x38d $((0x$fixed & ~0xf))
stolen "another level of a fixed counter" fixed1 0x38d $((0x$fixed & ~0x10))
stolen "a counter that does not run" gp1 0x38f $((0x$global & ~2))
stolen "no counter that runs" gp0,gp1,fixed0,fixed1 0x38f 0

# --- bits of GLOBAL_CTRL that are not ours stay as others want them
other=$((0x$global ^ 4))
wrmsr -p $cpu 0x38f $other
keep_samples
wait_samples 3
is "a bit that is not ours stays as it was written" \
	"$(printf '%d' "0x$(rdmsr -p $cpu 0x38f)")" $other
is "and is no theft" "$(samples | grep -c stolen)" 0
unload
keep_samples
is "and stays so after us" $((0x$(rdmsr -p $cpu 0x38f) & 4)) $((other & 4))
idle
wrmsr -p $cpu 0x38f "0x$(echo "$before" | sed -n "s/^cpu$cpu 0x38f //p")"

# In the lab one instruction takes one cycle.
is "in each sample all that is printed agrees" "$(awk '{
	first = ""
	for (i = 5; i <= NF; i++) {
		if ($i !~ /@/)
			continue
		sub(/.*=/, "", $i)
		if (first == "")
			first = $i
		else if ($i != first)
			print
	}
}' /tmp/samples)" ''
is "nothing is printed of what was stolen" \
	"$(grep -c 'stolen=gp0 .*@gp0=\|stolen=gp1 .*@gp1=\|stolen=fixed0 .*@fixed0=' /tmp/samples)" 0
expect "and that is of all samples" [ "$(wc -l < /tmp/samples)" -gt 50 ]

# --- a counter that stands still is set to its end, and wraps from there to more than it
# had: by what it shows it has grown; only that it has wrapped tells.
# wraps_to_more COUNTER MSR END
wraps_to_more() {
	wrmsr -p $cpu "$2" 0
	load cpu=$cpu interval=$interval counters="instructions:u@$1"
	wait_samples 2
	wrmsr -p $cpu "$2" "$3"
	taskset 8 true
	wait_samples $(($(samples | wc -l) + 3))
	unload
	is "$1 set to its end, and more than it was when that shows, is reported once" \
		"$(samples | sed -n 's/.* stolen=\([^ ]*\).*/\1/p')" "$1"
}
taskset -p 7 $$ > /dev/null
# With 32 bits any growth is plausible: the end is read before the wrap, and believed.
if [ $interval -eq 200 ]; then
	# To a generic counter 32 bits are written, and their sign is extended.
	wraps_to_more gp0 0xc1 0xffffffff
	fixed_bits=$(log | sed -n 's/.*fixed-purpose events: .*, \([0-9]*\) bits$/\1/p')
	wraps_to_more fixed0 0x309 "$(printf '%#x' $(((1 << fixed_bits) - 1)))"
fi
wrmsr -p $cpu 0x309 "0x$(echo "$before" | sed -n "s/^cpu$cpu 0x309 //p")"
is "every register is as before" "$(/root/pmu-registers $cpu | grep -v ' 0xc[12] ')" \
	"$(echo "$before" | grep -v ' 0xc[12] ')"

finish
