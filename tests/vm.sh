#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# Tests scripts/vm, which all other tests trust. Prints TAP.
#
#   VM_OPTIONS   given to every scripts/vm, e.g. "--plain-qemu --module FILE"
#
# Example: tests/vm.sh

set -euo pipefail
# shellcheck source=scripts/help.sh
source "$(dirname "$(readlink -f "$0")")/../scripts/help.sh"
answer_help '' "$@"

vm=$(dirname "$(readlink -f "$0")")/../scripts/vm
read -r -a options <<< "${VM_OPTIONS:-}"

number=0
failures=0

ok() {
	number=$((number + 1))
	printf 'ok %d - %s\n' "$number" "$1"
}

not_ok() {
	number=$((number + 1))
	failures=$((failures + 1))
	printf 'not ok %d - %s\n' "$number" "$1"
	printf '# %s\n' "${@:2}"
}

skip() {
	number=$((number + 1))
	printf 'ok %d - %s # SKIP %s\n' "$number" "$1" "$2"
}

# is NAME GOT WANTED
is() {
	if [[ $2 == "$3" ]]; then
		ok "$1"
	else
		not_ok "$1" "got:    ${2@Q}" "wanted: ${3@Q}"
	fi
}

# has NAME TEXT PATTERN
has() {
	if grep -qE "$3" <<< "$2"; then
		ok "$1"
	else
		not_ok "$1" "got:    ${2@Q}" "wanted: $3"
	fi
}

# run ARGS...: sets status, and leaves $dir/out and $dir/err.
run() {
	status=0
	"$vm" "${options[@]}" "$@" > "$dir/out" 2> "$dir/err" || status=$?
	forget_progress "$dir/err"
}

# forget_progress FILE: what the lab says while it prepares, in lines of its own before
# the guest begins, depends on what is in the cache, and on who else is at it. Any other
# line stays.
forget_progress() {
	sed -i -E "/^lab: (waiting for another run to finish with [^ ]+|building (QEMU|Linux) .*)\$/d" "$1"
}

# What scripts/vm left behind, besides kernel logs of runs that failed.
leftovers() {
	find "$TMPDIR" -mindepth 1 -maxdepth 1 ! -name '*kernel-log*'
	pgrep -f "^[^ ]*(qemu-system-x86_64|ld-linux-x86-64.so.2 .*/qemu-system-riscv64) .*$TMPDIR" || true
}

# test_bytes [OPTION...]
test_bytes() {
	# shellcheck disable=SC2016 # the guest shall see a $HOME, not expand it
	local logs arguments=(one 'two words' "it's" '' $'new\nline' '$HOME' '\n' '*' '"' '-x')

	head -c 3000000 /dev/urandom > "$dir/random"
	cat > "$dir/bytes.sh" <<-'END'
		printf '%s\0' "$@"
		cat
		echo to stderr >&2
		exit 7
	END
	logs=$(kernel_logs)
	run "$@" --add "$dir/bytes.sh" -- sh bytes.sh "${arguments[@]}" < "$dir/random"
	{ printf '%s\0' "${arguments[@]}" && cat "$dir/random"; } > "$dir/wanted"
	is "the command's status is ours" "$status" 7
	is 'arguments, standard input and output arrive byte for byte' \
		"$(md5sum < "$dir/out")" "$(md5sum < "$dir/wanted")"
	is "the command's stderr is ours" "$(head -n 1 "$dir/err")" 'to stderr'
	is 'a command that has failed leaves no kernel log' "$(sed 1d "$dir/err") $(kernel_logs)" " $logs"
}

kernel_logs() {
	find "$TMPDIR" -maxdepth 1 -name '*kernel-log*' | wc -l
}

test_guest() {
	local expected name

	mkdir -p "$dir/folder/deep" "$dir/programs"
	echo inside > "$dir/folder/deep/file"
	for name in programs/one programs/two three; do
		cp "$(type -P true)" "$dir/$name"
	done
	echo '#!/bin/sh' > "$dir/programs/wrapper"
	chmod +x "$dir/programs/wrapper"
	cat > "$dir/guest.sh" <<-'END'
		hostname; pwd; echo "$HOME"
		cat folder/deep/file /opt/there
		ls /dev/cpu/0/msr
		mount | awk '{ print $3 }' | grep -xE '/proc|/sys|/dev|/dev/pts|/dev/shm|/tmp|/sys/kernel/(debug|tracing)' | sort -u | tr '\n' ' '
		nproc
		grep -c LABTEST /proc/cmdline
		one && two && three && echo found
		type wrapper > /dev/null || ls /lib/terminfo/x/xterm
		echo again > /dev/stderr
		cat
		sleep 1000 &
	END
	expected=$'lab\n/root\n/root\ninside\ninside\n/dev/cpu/0/msr\n'
	expected+=$'/dev /dev/pts /dev/shm /proc /sys /sys/kernel/debug /sys/kernel/tracing /tmp 2\n1\nfound\n/lib/terminfo/x/xterm'
	run --smp 2 --append LABTEST=1 --add "$dir/guest.sh" --add "$dir/folder" \
		--with "$dir/programs" --with "$dir/three" \
		--add "$dir/folder/deep/file:/opt/there" --kernel-log "$dir/log" -- sh guest.sh < /dev/null
	is 'status 0, with /dev/null as input and a process left running' "$status" 0
	is 'the guest is as promised, added files are there' "$(< "$dir/out")" "$expected"
	is 'a good run says nothing' "$(< "$dir/err")" 'again'
	has '--kernel-log keeps the log' "$(< "$dir/log")" 'Linux version'
}

# From here on a guest is one of the saved ones, unless its boot or its PMU is tested: what
# is tested is what carries bytes, verdicts and signals, which is the same for both.
test_closed_input_and_big_output() {
	local sum

	run --saved -- sh -ec 'cat
		dd if=/dev/urandom of=/tmp/x bs=1M count=16 2> /dev/null; md5sum < /tmp/x >&2; cat /tmp/x' <&-
	is 'a closed standard input is an empty one' "$status" 0
	sum=$(md5sum < "$dir/out")
	is '16 MB of output arrive whole' "$sum" "$(< "$dir/err")"
}

test_unread_output() {
	local started=$SECONDS line

	line=$("$vm" "${options[@]}" --saved -- yes 2> "$dir/err" | head -n 1) || true
	is 'the run ends when nobody reads its output' "$line $((SECONDS - started < 30))" 'y 1'
}

test_time_out() {
	run --saved --timeout 6 -- sleep 1000
	is 'a time-out is 124' "$status" 124
	has 'a time-out is said' "$(< "$dir/err")" 'time-out'
	has 'it leaves a kernel log, and names it' "$(< "$dir/err")" "^lab: the kernel log is $TMPDIR/"
}

test_panic() {
	run -- sh -c 'echo before; echo c > /proc/sysrq-trigger'
	is 'a panic is 125' "$status" 125
	has 'the end of the kernel log is shown' "$(< "$dir/err")" 'Kernel panic'
}

test_power_off() {
	run --saved -- poweroff -f
	is 'no verdict is 125' "$status" 125
}

test_qemu_fails() {
	run --qemu-arg -no-such-option -- true
	is 'a QEMU that does not start is 125' "$status" 125
	is "QEMU's message is all that is said" "$(< "$dir/err")" \
		'lab: QEMU: -no-such-option: invalid option'
}

test_bad_cpu() {
	if [[ ${options[*]} == *--plain-qemu* ]]; then
		skip 'a PMU that cannot be' 'this QEMU has none'
		return
	fi
	run --pmu version=99 -- true
	is 'a PMU that cannot be is 125' "$status" 125
	is 'why is said in one line' "$(grep -c . "$dir/err")" 1
	has 'in a sentence' "$(< "$dir/err")" '^lab: QEMU: .*version'
}

test_pmu() {
	if [[ ${options[*]} == *--plain-qemu* ]]; then
		skip '--pmu' 'this QEMU has none'
		return
	fi
	run --pmu version=3,gp=5,fixed=3,width=40 -- dmesg
	is "the guest has --pmu's PMU" \
		"$(sed -nE 's/^.*\.\.\. (version|bit width|generic registers): +//p' "$dir/out" | tr '\n' ' ')" '3 40 5 '
	run --pmu off -- dmesg
	has 'or none' "$(< "$dir/out")" 'Performance Events:.* no PMU driver'
}

# What guests can be given that is wrong with it; no watchdog, whose accesses
# would count.
test_broken_pmu() {
	if [[ ${options[*]} == *--plain-qemu* ]] || ! type -P rdmsr wrmsr > /dev/null; then
		skip '--pmu broken=' 'no PMU, or no msr-tools'
		return
	fi
	run --pmu broken=dead,broken-counters=0x4,firmware=0x2,faults=on --smp 1 \
		--append nmi_watchdog=0 --with rdmsr --with wrmsr -- sh -c '
			rdmsr 0x187
			wrmsr 0x188 0x4300c0 && wrmsr 0xc3 0x55 && rdmsr 0xc3
			wrmsr 0x4000f000 1; rdmsr 0xc3 || rdmsr 0x4000f000'
	is 'a counter of firmware, one that is dead, an access that faults' \
		"$(tr '\n' ' ' < "$dir/out")" '4300c0 55 0 '
}

test_warnings() {
	run --saved -- sh -c 'echo WARNING: test > /dev/kmsg'
	is 'a warning in the kernel log is 3' "$status" 3
	has 'the warning is shown' "$(< "$dir/err")" 'WARNING: test'
	has 'and the kernel log kept' "$(< "$dir/err")" "^lab: the kernel log is $TMPDIR/"
	MY_PMU_LOGS=$TMPDIR run --saved -- false
	has 'for tests it is after each failure' "$status $(< "$dir/err")" "^1 lab: the kernel log is $TMPDIR/"
}

test_signal() {
	local signal=$1 wanted=$2 pid ended=0

	rm -f "$dir/out"
	# Background jobs of a script ignore SIGINT unless told otherwise.
	env --default-signal=INT "$vm" "${options[@]}" --saved -- sh -c 'echo up; sleep 1000' \
		> "$dir/out" 2> "$dir/err" &
	pid=$!
	until [[ -s $dir/out ]] || ! kill -0 "$pid" 2> /dev/null; do
		sleep 0.1
	done
	kill -s "$signal" "$pid"
	wait "$pid" || ended=$?
	is "SIG$signal ends it" "$ended" "$wanted"
	is "SIG$signal leaves nothing behind" "$(leftovers)" ''
}

test_killed() {
	local pid

	rm -f "$dir/out"
	"$vm" "${options[@]}" --saved -- sh -c 'echo up; sleep 1000' > "$dir/out" 2> "$dir/err" &
	pid=$!
	until [[ -s $dir/out ]] || ! kill -0 "$pid" 2> /dev/null; do
		sleep 0.1
	done
	kill -s KILL "$pid"
	wait "$pid" 2> /dev/null || true
	sleep 0.5
	is 'SIGKILL leaves no QEMU behind' "$(leftovers | grep -v my_pmu-vm || true)" ''
	rm -rf "$TMPDIR"/my_pmu-vm.*
}

# The saved guests of these tests: nobody else has this on the command line.
# Its memory is more than QEMU may write to a file.
mark=LABTEST=$$.$RANDOM
marked=(--append "$mark" --mem 3072)

saved_guests() {
	local log

	grep -sla "$mark" "${MY_PMU_CACHE:-$HOME/.cache/my_pmu}"/saved-*/log | while read -r log; do
		echo "${log%/log}"
	done
}

# What a saved guest does is what one does that boots.
test_saved() {
	test_bytes --saved "${marked[@]}"
	run --saved "${marked[@]}" -- grep -c "$mark" /proc/cmdline
	is 'another command line is of another saved guest' "$(< "$dir/out")" 1
	run --saved "${marked[@]}" --kernel-log "$dir/log" -- sh -c 'echo before; echo c > /proc/sysrq-trigger'
	is 'a saved guest panics as others do' "$status $(< "$dir/out")" '125 before'
	has 'and its end is shown' "$(< "$dir/err")" 'Kernel panic'
	is 'its log is whole' "$(grep -cE 'Linux version|Run /init|Kernel panic - ' "$dir/log")" 3
	run --saved "${marked[@]}" --timeout 3 -- sleep 1000
	is 'a time-out of a saved guest is 124' "$status" 124
	is 'one guest was saved for all' "$(saved_guests | wc -l)" 1
	run --saved --qemu-arg -no-such-option -- true
	is 'none is saved if QEMU does not start' "$status $(< "$dir/err")" \
		'125 lab: QEMU: -no-such-option: invalid option'
}

test_broken_saved() {
	local file

	for file in state memory; do
		truncate -s 100K "$(saved_guests)/$file"
		run --saved "${marked[@]}" -- true
		is "a saved guest whose $file is broken is 125" "$status" 125
		has 'that is said in one line' "$(grep -c . "$dir/err") $(< "$dir/err")" '^1 lab: the saved guest is broken'
		run --saved "${marked[@]}" -- true
		is 'the next run makes another' "$status $(saved_guests | wc -l)" '0 1'
	done
	cp -r "${vm%/*}" "$dir/scripts"
	sed -i 's/^hostname lab/hostname other/' "$dir/scripts/guest/init"
	vm=$dir/scripts/vm run --saved "${marked[@]}" -- hostname
	is 'other scripts are of another saved guest' "$(< "$dir/out")" other
	saved_guests | xargs rm -rf
}

# The second has a warning in its kernel log, and may.
test_two_at_once() {
	local first status=0 second=0

	"$vm" "${options[@]}" --saved -- echo first > "$dir/first" 2>&1 &
	first=$!
	"$vm" "${options[@]}" --saved --allow-warnings -- sh -ec 'echo WARNING: test > /dev/kmsg; echo second' \
		> "$dir/second" 2>&1 || second=$?
	wait "$first" || status=$?
	forget_progress "$dir/first"
	forget_progress "$dir/second"
	is 'two runs at once' "$status $second $(cat "$dir/first" "$dir/second")" $'0 0 first\nsecond'
	is '--allow-warnings' "$second" 0
}

# Of all ports of this machine only that one of 127.0.0.1 leads there, and nothing leads back.
test_forward() {
	local port=20000 guest answer='' tries listening

	while (exec 3<> "/dev/tcp/127.0.0.1/$port") 2> /dev/null; do
		port=$((port + 1))
	done
	# 10.0.2.2 would be this machine, where that port answers.
	"$vm" "${options[@]}" --forward "$port:80" -- sh -c "mkdir /www; echo page > /www/index.html
		httpd -h /www; nc -w 3 10.0.2.2 $port < /dev/null || echo alone; sleep 1000" \
		> "$dir/out" 2> "$dir/err" &
	guest=$!
	for ((tries = 0; tries < 300; tries++)); do
		answer=$(timeout 2 bash -c "exec 3<> /dev/tcp/127.0.0.1/$port; printf 'GET / HTTP/1.0\r\n\r\n' >&3; cat <&3" 2> /dev/null || true)
		[[ -s $dir/out && $answer == *page* ]] && break
		sleep 0.2
	done
	has '--forward: what connects here reaches the guest' "$answer" '^page$'
	is '--forward: the guest reaches nobody' "$(< "$dir/out")" alone
	listening=$(awk -v port="$(printf ':%04X$' "$port")" '$4 == "0A" && $2 ~ port { print $2 }' /proc/net/tcp{,6})
	is '--forward: only on 127.0.0.1' "$listening" "$(printf '0100007F:%04X' "$port")"
	refused "port $port of 127.0.0.1 is in use" --forward "$port:80" -- true
	kill "$guest"
	wait "$guest" || true
}

test_kernel_6_12_and_perf() {
	local perf

	perf=$(type -P perf || true)
	run --kernel 6.12 ${perf:+--with perf} -- sh -ec "uname -r; ${perf:+perf --version}"
	has 'kernel 6.12 runs without a warning' "$status $(head -n 1 "$dir/out")" '^0 6\.12\.'
	if [[ -z $perf ]]; then
		skip '--with perf' 'there is no perf on this machine'
	else
		has '--with perf' "$status $(sed 1d "$dir/out")" '^0 perf version'
	fi
}

test_bad_usage() {
	refused 'there is no option --nonsense' --nonsense
	refused 'a -- must stand' true
	refused 'no command' --smp 2
	refused 'no command' --
	refused '--smp needs a value' --smp
	refused 'whole number' --smp 0 -- true
	refused 'whole number' --mem lots -- true
	refused 'whole number' --timeout 1.5 -- true
	refused 'give a series like' --kernel 7 -- true
	refused 'no file or folder /nowhere' --add /nowhere:/root/x -- true
	refused '--pmu needs a value' --pmu
	refused "'' is no KEY=VALUE; the keys are version gp" --pmu '' -- true
	refused "'' is no KEY=VALUE; the keys are version gp" --pmu version=2, -- true
	refused "'gp' is no KEY=VALUE; the keys are version gp" --pmu version=2,gp -- true
	refused "'=2' is no KEY=VALUE; the keys are version gp" --pmu =2 -- true
	refused "there is no key counters; the keys are version gp" --pmu counters=2 -- true
	refused "'off' is no KEY=VALUE" --pmu version=2,off -- true
	refused "'gp=many' has a bad value" --pmu gp=many -- true
	refused "'gp=' has a bad value" --pmu gp= -- true
	refused "'gp=010' has a bad value" --pmu gp=010 -- true
	refused "'pdcm=1' has a bad value" --pmu pdcm=1 -- true
	refused 'gp= is there twice' --pmu gp=2,gp=3 -- true
	refused "'broken=DEAD' has a bad value" --pmu broken=DEAD -- true
	refused "'broken=' has a bad value" --pmu broken= -- true
	refused "'broken-counters=all' has a bad value" --pmu broken=dead,broken-counters=all -- true
	refused "'firmware=0x10000000000000000' has a bad value" --pmu firmware=0x10000000000000000 -- true
	refused "'faults=1' has a bad value" --pmu faults=1 -- true
	refused '--plain-qemu has no PMU' --plain-qemu --pmu version=2 -- true
	refused 'there is no program in this folder' --with "${vm%/*}/config" -- true
	refused 'no such program' --with no-such-program -- true
	refused 'no such file' --module /nowhere.ko -- true
	refused 'can be written' --kernel-log /no/where -- true
	refused 'give two ports from 1 to 65535' --forward 9100 -- true
	refused 'give two ports from 1 to 65535' --forward 0.0.0.0:9100:9100 -- true
	refused 'give two ports from 1 to 65535' --forward 65536:1 -- true
	refused 'leave --saved out' --saved --forward 9100:9100 -- true
}

test_bad_usage_riscv64() {
	local keys='the keys are sscofpmf smcntrpmf (on, off), pmu-mask'

	refused 'give x86_64 or riscv64' --arch arm64 -- true
	refused 'for riscv64 give one of 6.12 unstable' --arch riscv64 --kernel 6.1 -- true
	refused 'for riscv64 give one of 6.12 unstable' --arch riscv64 --kernel 6.12-rt -- true
	refused 'for riscv64 give one of 6.12 unstable' --arch riscv64 --kernel debug -- true
	refused 'for riscv64 give one of 6.12 unstable' --arch riscv64 --kernel /boot/vmlinuz -- true
	refused 'for riscv64 give one of 6.12 unstable' --kernel 6.1-riscv64 -- true
	refused 'leave -riscv64 out' --arch x86_64 --kernel 6.12-riscv64 -- true
	refused "'version=2' is none of riscv64's; $keys" --arch riscv64 --pmu version=2 -- true
	refused "'off' is none of riscv64's; $keys" --pmu off --kernel 6.12-riscv64 -- true
	refused "'sscofpmf=true' is none of riscv64's; $keys" --arch riscv64 --pmu sscofpmf=true -- true
	refused "'pmu-mask=010' is none of riscv64's; $keys" --arch riscv64 --pmu pmu-mask=010 -- true
	refused 'sscofpmf= is there twice' --arch riscv64 --pmu sscofpmf=on,sscofpmf=off -- true
	refused 'leave --qemu and --plain-qemu out' --arch riscv64 --plain-qemu -- true
	refused 'leave --qemu and --plain-qemu out' --arch riscv64 --qemu 10.0 -- true
	refused 'one image for riscv64' --arch riscv64 --vmlinuz -- true
	refused 'leave it out' --arch riscv64 --saved -- true
	refused 'there is none for riscv64 here' --arch riscv64 --gdb -- true
	refused 'no rr for riscv64' --arch riscv64 --rr -- true
	refused 'the only program that the lab has' --arch riscv64 --with gdb -- true
	refused 'whole number' --arch riscv64 --smp many -- true
}

# What differs there: the machine, and who is in the guest.
test_riscv64() {
	if ((${#options[@]} > 0)); then
		skip '--arch riscv64' 'its QEMU is another one'
		return
	fi
	# What has to be downloaded first, the lab says now.
	run --arch riscv64 --no-module --print-command -- true
	has '--print-command prints its line' "$(< "$dir/out")" "^'/.*qemu-system-riscv64 .*-icount' 'shift=0'.* 'rv64,sscofpmf=true,smcntrpmf=true'"
	test_bytes --arch riscv64 --no-module
	run --arch riscv64 --no-module --smp 2 --pmu pmu-mask=0x78 -- sh -ec 'uname -m; nproc; kmod --version | head -n 1
		dmesg | grep -c "and 6 hardware counters"; echo WARNING: test > /dev/kmsg'
	has '--arch riscv64: the guest is as promised' "$(tr '\n' ' ' < "$dir/out")" '^riscv64 2 kmod version [0-9.]+ 1 $'
	is 'its warnings are found' "$status" 3
	run --arch riscv64 --no-module --pmu pmu-mask=1 -- true
	is 'a PMU that QEMU cannot have is 125' "$status" 125
	has 'and QEMU says why' "$(< "$dir/err")" '^lab: QEMU: "pmu-mask" contains invalid bits'
}

# One line, status 2.
refused() {
	local message=$1 ended=0 text
	shift

	text=$("$vm" "$@" 2>&1) || ended=$?
	if [[ $ended == 2 && $text == *"$message"* && $text != *$'\n'* ]]; then
		ok "refused: $*"
	else
		not_ok "refused: $*" "status $ended: $text"
	fi
}

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export TMPDIR=$dir/tmp
unset MY_PMU_LOGS
mkdir "$TMPDIR"

test_bad_usage
test_bad_usage_riscv64
test_bytes
test_guest
test_closed_input_and_big_output
test_unread_output
test_time_out
test_panic
test_power_off
test_qemu_fails
test_bad_cpu
test_pmu
test_broken_pmu
test_warnings
test_two_at_once
test_saved
test_broken_saved
test_kernel_6_12_and_perf
test_forward
test_riscv64
is 'nothing is left behind' "$(leftovers)" ''
test_signal INT 130
test_signal TERM 143
test_killed

printf '1..%d\n' "$number"
((failures == 0))
