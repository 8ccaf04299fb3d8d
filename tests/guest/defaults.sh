# SPDX-License-Identifier: GPL-2.0
# insmod without any parameter counts on any PMU that has instructions and cycles:
# defaults.sh PMU-LIST
#
# lab: program loop loop INSTRUCTIONS=200000000
# lab: vm --smp 2 --append nmi_watchdog=0
# shellcheck shell=dash disable=SC1091,SC2154 # lib.sh and pmu.sh are beside it in the guest
. /root/guest/lib.sh
. /root/guest/pmu.sh

pmu_from "$1"
cpu=0
program=200000000
# There is none where perf takes no PMU, e.g. one with a single counter.
watchdog 0 2> /dev/null
# This script and what it starts keep off the CPU that is measured.
taskset -p 2 $$ > /dev/null

# --- what each sample is to have

# has_both: fixed counters for both events
has_both() {
	has_fixed 0 && has_fixed 1
}

# With two generic counters each event has one. A single one is for the event that has no
# fixed counter; where both have theirs it is a second one for either; where none has, both
# take turns on it, and no counter is theirs.
wanted_keys() {
	if has_fixed 0; then
		echo instructions@fixed0
	fi
	if has_fixed 1; then
		echo cycles@fixed1
	fi
	if [ "$gp" -ge 2 ]; then
		echo cycles@gp
		echo instructions@gp
	elif has_both; then
		echo either@gp
	elif has_fixed 0; then
		echo cycles@gp
	elif has_fixed 1; then
		echo instructions@gp
	else
		echo 'cycles(%)'
		echo 'instructions(%)'
	fi
}

# keys: of each sample, one set in a line, in order. Which generic counters they are is
# the module's choice; that there is something that spoils a sample is a key, too.
keys() {
	samples | while read -r line; do
		echo "$line" | tr ' ' '\n' | sed -e '/^cpu0$/d' -e '/^\(t\|dt\|latency\|missed\|wrapped\)=/d' \
			-e 's/=[0-9][0-9]*//' -e 's/@gp[0-9]*$/@gp/' -e 's/([0-9]*%)$/(%)/' | sort | tr '\n' ' '
		echo
	done
}

# sums: of all samples, "KEY GROWTH" in each line
sums() {
	samples | tr ' ' '\n' | sed -n 's/^\(\(instructions\|cycles\)[@a-z0-9]*\)=\([0-9]*\).*$/\1 \3/p' |
		awk '{ sum[$1] += $2 } END { for (key in sum) printf "%s %.0f\n", key, sum[key] }' | sort
}

# used: the counters
used() {
	sums | sed -n 's/^.*@\([a-z0-9]*\) .*$/\1/p' | sort
}

wanted=$(wanted_keys | sort | tr '\n' ' ')
shares=no
case $wanted in
*%*) shares=yes ;;
esac

check_keys() {
	case $wanted in
	*either*)
		is "$1: in each sample there are $wanted" \
			"$(keys | sed 's/\(cycles\|instructions\)@gp/either@gp/' |
				tr ' ' '\n' | sed '/^$/d' | sort -u | tr '\n' ' ')" "$wanted"
		is "$1: and no more" "$(keys | awk 'NF != 3' | wc -l)" 0
		;;
	*)
		is "$1: in each sample there are $wanted" "$(keys | sort -u)" "$wanted"
		;;
	esac
}

# In the lab an instruction takes a cycle, and from version 2 on one write starts and stops
# all counters: all show the same. Others are read one after the other.
within=0
if [ "$version" -lt 2 ]; then
	within=1000
fi
check_agreement() {
	if [ $shares = yes ]; then
		return
	fi
	is "$1: all counters show the same, within $within" "$(samples | awk -v within=$within '{
		least = most = ""
		for (i = 1; i <= NF; i++) {
			if ($i !~ /^(instructions|cycles)@/)
				continue
			value = $i
			sub(/^.*=/, "", value)
			value += 0
			if (least == "" || value < least) least = value
			if (most == "" || value > most) most = value
		}
		if (most - least > within) print
	}')" ""
}

# start_at FROM_END: each counter, whichever the module takes, so many events before its
# end, or twice as many, and so on: no two wrap at the same time; or all at 0. Legacy
# writes take 32 bits and extend their sign.
start_at() {
	from_end=$1
	for i in $(seq 0 $((gp - 1))); do
		wrmsr -p $cpu $((0xc1 + i)) $((-from_end & 0xffffffff))
		from_end=$((from_end + $1))
	done
	for i in 0 1 2; do
		if has_fixed $i; then
			wrmsr -p $cpu $((0x309 + i)) "$(printf '%#x' $((-from_end & $(ones "$fixed_width"))))"
			from_end=$((from_end + $1))
		fi
	done
	before=$(/root/pmu-registers $cpu)
}

check_registers() {
	is "$1: every register is as it was" "$(/root/pmu-registers $cpu)" "$before"
}

# attempts COMMAND...: up to five times. A counter of 32 bits may be read too late on a
# busy machine, and then nobody knows its growth.
attempts() {
	for _ in 1 2 3 4 5; do
		"$@"
		samples | grep -q ' late=' || break
		echo "# once more: $(samples | grep -m 1 ' late=')"
	done
}

# --- no parameter at all: a program of known length, over a wrap
run_program() {
	load
	loaded=$?
	[ "$loaded" = 0 ] || return
	parameters="$(cat /sys/module/my_pmu/parameters/cpu) $(cat /sys/module/my_pmu/parameters/interval)"
	taskset 1 /root/loop
	wait_samples $(($(samples | wc -l) + 1))
	unload
}
start_at 0x100000
attempts run_program
is "insmod without a parameter loads" "$loaded $(cat /tmp/insmod.err)" "0 "
if [ "$loaded" != 0 ]; then
	log | sed 's/^/# /'
	finish
fi
echo "# $(samples | tail -n 1)"
is "it counts on CPU 0 every 5000 ms" "$parameters" "0 5000"
dt=$(samples | sed -n '1s/^.* dt=\([0-9]*\)\.\([0-9]\{3\}\).*$/\1\2/p')
expect "and the first sample is 5 s after the start ($dt ms)" [ "$((dt > 4900 && dt < 10000))" = 1 ]
is "nothing but samples of CPU 0" "$(samples | grep -cv '^cpu0 t=')" 0
check_keys "5000 ms"
check_agreement "5000 ms"
check_registers "5000 ms"

# What the kernel does on the CPU counts, too, some millions in a second; with turns it is
# an estimate.
seconds=$(samples | sed 's/^.* dt=\([0-9]*\).*$/\1/' | awk '{ sum += $1 + 1 } END { print sum }')
least=$program
most=$((program + seconds * 10000000))
if [ $shares = yes ]; then
	least=$((least * 8 / 10))
	most=$((most * 12 / 10))
fi
for key in $(sums | cut -d ' ' -f 1); do
	growth=$(sums | sed -n "s/^$key //p")
	expect "$key grew by the program's $program ($growth)" \
		[ $((growth >= least && growth <= most)) = 1 ]
done
if [ $shares = no ]; then
	is "all counters have wrapped, and a sample says so" \
		"$(samples | sed -n 's/^.* wrapped=\([a-z0-9,]*\).*$/\1/p' | tr , '\n' | sort -u)" "$(used)"
fi

# --- counters of 32 bits go round several times in an interval: one of each kind is moved
# on by a quarter at most at a time, always forwards, and past its end it counts by itself
# (of each kind one: whenever one of them wraps a busy machine may be too late)
narrow=''
if [ "$width" = 32 ]; then
	narrow=$(used | grep -m 1 gp)
fi
if [ "$fixed_width" = 32 ]; then
	narrow="$narrow $(used | grep -m 1 fixed)"
fi

# move_to VALUE
move_to() {
	for counter in $narrow; do
		case $counter in
		gp*) msr=$((0xc1 + ${counter#gp})) ;;
		*) msr=$((0x309 + ${counter#fixed})) ;;
		esac
		wrmsr -p $cpu $msr "$1"
	done
}

rounds=3
go_round() {
	busy $cpu
	load
	for _ in $(seq $rounds); do
		for value in 0x40000000 0x80000000 0xc0000000 0xffffff00; do
			move_to $value
			sleep 0.05
		done
	done
	wait_samples $(($(samples | wc -l) + 1))
	unload
	idle
}
if [ -n "${narrow% }" ]; then
	start_at 0
	attempts go_round
	samples | sed 's/^/# /'
	check_keys "32 bits"
	for key in $(sums | cut -d ' ' -f 1); do
		went=0
		case " $narrow " in
		*" ${key#*@} "*) went=$rounds ;;
		esac
		is "$key went round $went times in $(samples | wc -l) samples" \
			$(($(sums | sed -n "s/^$key //p") >> 32)) $went
	done
	check_registers "32 bits"
fi

# --- more samples, of a busy CPU
run_busy() {
	busy $cpu
	load interval=200
	loaded=$?
	wait_samples 5
	unload
	idle
}
start_at 0
attempts run_busy
is "loads with interval=200" "$loaded" 0
echo "# $(samples | head -n 1)"
check_keys "200 ms"
check_agreement "200 ms"
check_registers "200 ms"
grown=$(sums | sed -n '/^instructions/{s/^.* //p;q}')
expect "a busy CPU shows millions ($grown)" [ "$grown" -gt 5000000 ]

finish
