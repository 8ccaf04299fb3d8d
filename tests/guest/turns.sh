# SPDX-License-Identifier: GPL-2.0
# More events than counters, and groups: the same program is counted with too few
# counters and with enough, and the totals must agree. turns.sh PMU-LIST: the PMU is of
# version 2 or later, has two generic counters or more, and counts branches.
#
# Some seven seconds at the lab's speed; alone a tenth of it will do.
# lab: program steady steady TURNS=5000000
# lab: program tenth steady TURNS=500000
# in sample alone, lab alone: version=3,gp=4,fixed=3 6.1
# in sample alone, lab alone: version=2,gp=2,fixed=3,width=40 6.1
# in lab alone: version=5,gp=6,fixed=3 6.12
# shellcheck shell=dash disable=SC1091,SC2154 # lib.sh and pmu.sh are beside it in the guest
. /root/guest/lib.sh
. /root/guest/pmu.sh

pmu_from "$1"
cpu=3
watchdog 0
taskset -p 7 $$ > /dev/null
before=$(/root/pmu-registers $cpu)

user="instructions:u cycles:u branches:u bus-cycles:u r00c0:u"
# Nothing else counts it.
if has_fixed 2; then
	user="instructions:u cycles:u ref-cycles:u branches:u bus-cycles:u r00c0:u"
fi
# (not edge or inv: the emulator is so slow with them that the work is not steady)
more="cpu/event=0xc0,cmask=1/u cpu/event=0xc4,cmask=1/u cpu/event=0x3c,cmask=1/u r003c:u r00c4:u r013c:u"

# generic_needed EVENT...: how many generic counters these need, all at the same time:
# each needs one for which no fixed counter is left
generic_needed() {
	needed=0
	needed_left=$((bitmap))
	for needed_event; do
		case $needed_event in
		instructions:u | r00c0:u) needed_fixed=1 ;;
		cycles:u | r003c:u) needed_fixed=2 ;;
		ref-cycles:u) needed_fixed=4 ;;
		*) needed_fixed=0 ;;
		esac
		if [ $((needed_left & needed_fixed)) = 0 ]; then
			needed=$((needed + 1))
		fi
		needed_left=$((needed_left & ~needed_fixed))
	done
	echo $needed
}

# One generic counter is never free, see agree(). As many more events as it takes for them
# not to fit on the others: one event, with as many names as it has leading zeros.
others_free=$((gp - 1))
zeros=00
# shellcheck disable=SC2086 # words
while [ "$(generic_needed $user $more)" -le $others_free ]; do
	zeros=0$zeros
	more="$more r${zeros}c4:u"
done

list() {
	echo "$*" | tr ' ' ','
}

# run COUNTERS [PROGRAM]: while it runs, from before its start until after its end
run() {
	load cpu=$cpu interval=500 counters="$1"
	run_loaded=$?
	taskset 8 "${2:-/root/steady}"
	run_samples=$(samples | wc -l)
	wait_samples $((run_samples + 2))
	unload
	return $run_loaded
}

# sum EVENT: of all samples, whatever counter and share stand with it
sum() {
	samples | awk -v event="$1" '{
		for (i = 1; i <= NF; i++) {
			key = $i
			value = $i
			sub(/(@[a-z0-9]+)?=[0-9]+(\([0-9]+%\))?$/, "", key)
			sub(/^.*=/, "", value)
			if (key == event)
				sum += value + 0
		}
	} END { printf "%.0f", sum }'
}

# alone EVENT...: what each counts when it need not share, into files
alone() {
	while [ $# -gt 0 ]; do
		run "$1${2:+,$2}" $alone
		if samples | grep -q '%)'; then
			fail "$1 and $2 do not share" "$(samples | head -n 1)"
		fi
		for alone_event in "$1" ${2:+"$2"}; do
			echo $((times * $(sum "$alone_event"))) > "/tmp/alone.$(echo "$alone_event" | tr / _)"
		done
		shift
		[ $# = 0 ] || shift
	done
}

# The same program, or a tenth of it.
alone=/root/steady
times=1
if [ -e /root/tenth ]; then
	alone=/root/tenth
	times=10
fi

# close_to NAME GOT WANTED: within 1 % over a minute; over seven seconds of a machine
# that does other things, too, what is counted in turns is not so steady
within=1
[ $times = 1 ] || within=4
close_to() {
	if [ "$3" -gt 0 ] && [ $(($2 * 100)) -ge $(($3 * (100 - within))) ] &&
		[ $(($2 * 100)) -le $(($3 * (100 + within))) ]; then
		pass "$1: $2, alone $3"
	else
		fail "$1" "$2, alone $3"
	fi
}

# in_each_sample KEY: it has a value in each, and it is not scaled
in_each_sample() {
	is "$1 is in each sample" "$(samples | grep -cE " $1=[0-9]+( |\$)")" "$(samples | wc -l)"
}

# agree WHAT EVENT...: all of them together, against each alone. One that counts
# branches is on in each turn: the program does not take longer with branches, but
# whenever the emulator begins or ceases to count any it has to look up all its code
# anew, the kernel's too, and turns after which it did would be shorter.
agree() {
	agree_what=$1
	shift
	run "branches@gp0,$(list "$@")"
	is "$agree_what: loads" $? 0
	echo "# $(samples | sed -n 3p)"
	for agree_event in "$@"; do
		close_to "$agree_what: $agree_event" "$(sum "$agree_event")" \
			"$(cat "/tmp/alone.$(echo "$agree_event" | tr / _)")"
	done
	in_each_sample branches@gp0
	is "$agree_what: every register is as it was" "$(/root/pmu-registers $cpu)" "$before"
}

# odd_times: samples whose times do not add up, from the module's file: what is pinned
# runs always, one of the turns at any time, and what a change takes is nobody's
odd_times() {
	awk -F, '
		function check() {
			if (sample != "" && (turns != enabled || enabled >= dt))
				print sample ": " turns " of " enabled " of " dt
			turns = 0
		}
		/^#/ || NR == 1 { next }
		$1 != sample { check() }
		{ sample = $1; dt = $4; enabled = $10 }
		$8 != "" && $11 != $10 { print sample ": " $8 ": " $11 " of " $10 }
		# one of a pair
		$8 == "" && !(pairs && $7 == last) { turns += $11; last = $7; next }
		{ last = "" }
		END { check(); if (sample < 20) print "no 20 samples" }
	' pairs="$1" /sys/kernel/debug/my_pmu/samples
}

# shellcheck disable=SC2086 # words
alone $user $more
few=$(echo "$user" | wc -w)
# shellcheck disable=SC2086
agree "$few events" $user
shared=$(samples | grep -c '%)')
all=$(samples | wc -l)
# shellcheck disable=SC2086
if [ "$(generic_needed $user)" -gt $others_free ]; then
	expect "$few events share ($shared of $all)" [ "$shared" -ge $((all - 1)) ]
else
	is "$few events need not share" "$shared" 0
fi
many=$(echo "$user $more" | wc -w)
# shellcheck disable=SC2086
agree "$many events" $user $more
expect "$many events share" [ "$(samples | grep -c '%)')" -ge 3 ]
shares=$(samples | sed -n '3s/[^(]*(\([0-9]*\)%)[^(]*/\1 /gp')
is "each has its share ($shares)" "$(echo "$shares" | wc -w)" "$many"

# --- a group is together, or not at all; one that is pinned always, whatever turns. It
# leaves two generic counters, one if there are only two: so one of the others fits, and
# no second one.
if [ "$gp" -gt 2 ]; then
	pairs=1
	always=$((gp - 2))
	others="{branches,branches},{branches:u,branches:u},branches:k"
else
	pairs=0
	always=1
	others="branches,branches:u,branches:k"
fi
pinned_to=''
for i in $(seq 0 $((always - 1))); do
	pinned_to="$pinned_to gp$i"
done
if has_fixed 0; then
	pinned_to="$pinned_to fixed0"
fi
# shellcheck disable=SC2086
pinned=$(printf ',instructions@%s' $pinned_to)
busy $cpu
load cpu=$cpu interval=100 "counters={${pinned#,}},$others"
is "a pinned group and three that take turns: loads" $? 0
wait_samples 30
odd=$(odd_times $pairs)
unload
idle
echo "# $(samples | sed -n 3p)"
in_each_sample instructions@gp0
is "in each sample their times add up" "$odd" ""
for other in ${pinned_to# gp0}; do
	is "gp0 and $other agree in each sample" "$(value instructions@gp0)" "$(value "instructions@$other")"
done
if [ $pairs = 1 ]; then
	pairs=$(samples | sed -n 's/^.* branches=\([0-9]*([0-9]*%)\) branches=\([0-9]*([0-9]*%)\) .*$/\1 \2/p')
	expect "the pair was counted ($(echo "$pairs" | tail -n 1))" [ "$(echo "$pairs" | wc -l)" -ge 20 ]
	is "those of a pair agree in each sample, and have the same share" \
		"$(echo "$pairs" | awk '$1 != $2' | wc -l)" 0
fi
is "every register is as it was" "$(/root/pmu-registers $cpu)" "$before"

# --- what can never be: one more than there are counters
too_many=$((gp + 1))
load cpu=$cpu "counters={branches$(printf ',branches%.0s' $(seq "$gp"))}"
is "a group too large for the counters is refused" $? 1
has "and says so" "$(log)" "these $too_many events at the same time"
finish
