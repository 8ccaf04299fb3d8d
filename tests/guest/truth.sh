# SPDX-License-Identifier: GPL-2.0
# A PMU that does not count as it says: truth.sh PMU-LIST. What does not count is
# refused, what does is not.
#
# Linux itself is not to use such a PMU.
# lab: vm --append nmi_watchdog=0
# in part, lab: broken=ignores-writes,broken-counters=0x300000004 6.1
# in part, lab: broken=constant,broken-counters=0x300000004 6.1
# in part, lab: broken=dead,broken-counters=0x300000004 6.1
# in part, lab: broken=halved,broken-counters=0x300000004 6.1
# in part, lab: broken=short,broken-counters=0x300000004 6.1
# in part, lab: broken=ignores-writes 6.1
# in part, lab: broken=dead,version=1,gp=2,width=40 6.1
# in part, lab: broken=halved,version=5,gp=6,fixed=3 6.1
# in part, lab: broken=no-overflow 6.1
# shellcheck shell=dash disable=SC1091 # lib.sh is beside it in the guest
. /root/guest/lib.sh

cpu=3
kind=$(echo "$1" | sed 's/.*broken=\([a-z-]*\).*/\1/')
mask=$(echo "$1" | sed -n 's/.*broken-counters=\([^,]*\).*/\1/p')
wide=$(echo "$1" | sed -n 's/.*width=\([0-9]*\).*/\1/p')
all=$(printf '%#x' $(((1 << ${wide:-48}) - 1)))

# refusal NAME EVENT: how it is told that a counter is broken
refusal() {
	top=$(printf '%#x' $((all - 63)))
	case $kind in
	ignores-writes | short)
		echo "$1 does not keep what is written to it: $top written, 0x[0-9a-f]+ read"
		;;
	constant) echo "$1 does not keep what is written to it: $top written, 0x1234 read" ;;
	dead) echo "$1 stands still: it counts no $2 in code of 2048 instructions" ;;
	# What is right is one number, or a range.
	halved)
		case $2 in
		instructions) echo "$1 counts wrong: 1024 instructions where the CPU has executed 2048" ;;
		cycles) echo "$1 counts wrong: 1024 cycles in code of 2048 instructions; plausible are 1536 to 131072" ;;
		esac
		;;
	esac
}

# is_refused NAME EVENT: on a counter that is broken
is_refused() {
	load cpu=$cpu interval=100 counters="$2@$1"
	has "refuses $2@$1" "$(cat /tmp/insmod.err)" 'No such device'
	has "says why" "$(log | tail -n 1)" "^cpu3: $(refusal "$1" "$2")\$"
	is "prints no sample" "$(samples)" ''
	is "is not loaded" "$(lsmod | grep -c my_pmu)" 0
	is "puts every register back" "$(/root/pmu-registers $cpu)" "$before"
}

# The counter wraps without setting its overflow bit.
counts_over_wrap() {
	load cpu=$cpu interval=100 counters=instructions@gp0
	is "loads instructions@gp0" "$(cat /tmp/insmod.err)" ''
	wait_samples 2
	unload
	wrmsr -p $cpu 0xc1 0xffff0000
	busy $cpu
	load cpu=$cpu interval=100 counters=instructions@gp0,cycles@fixed1
	wait_samples 3
	unload
	idle
	is "counts over its wrap" "$(value instructions@gp0)" "$(value cycles@fixed1)"
	is "which is told, and nothing else" "$(samples | grep -c ' wrapped=gp0 ') $(samples | grep -c ' stolen=\| late=')" "1 0"
	wrmsr -p $cpu 0xc1 0
	is "puts every register back" "$(/root/pmu-registers $cpu)" "$before"
}

case $kind in
ignores-writes | short | constant | dead | halved | no-overflow) ;;
*) fail "knows what is broken" "$kind" && finish ;;
esac
watchdog 0
before=$(/root/pmu-registers $cpu)
case $kind.$mask in
no-overflow.) counts_over_wrap ;;
*.) is_refused gp0 instructions ;;
*.0x300000004)
	is_refused gp2 instructions
	is_refused fixed0 instructions
	is_refused fixed1 cycles
	load cpu=$cpu interval=100 counters=instructions@gp0,cycles@gp1
	is "loads on the others" "$(cat /tmp/insmod.err)" ''
	wait_samples 2
	unload
	values=$(samples | head -n 1 | tr ' ' '\n' | sed -n 's/^[a-z]*@.*=//p' | sort -u | wc -l)
	is "they agree" "$values" 1
	is "puts every register back after that" "$(/root/pmu-registers $cpu)" "$before"
	;;
*) fail "knows what is broken" "$mask" ;;
esac

finish
