# SPDX-License-Identifier: GPL-2.0
# For the guest's tests of scripts/report, after lib.sh: its page, and what must hold of it.
# shellcheck shell=dash

status=0

# What is broken is found with few samples, too.
seconds=1
runs=10

# report [OPTION...]: its page is in /tmp/page then
report() {
	sh /root/my_pmu-report --modules /root --seconds "$seconds" --runs "$runs" "$@" > /tmp/page 2> /tmp/report.err
	status=$?
	sed 's/^/# /' /tmp/page
}

# failed NAME CHECK PATTERN: that check failed, with these words
failed() {
	has "$1: $2 fails" "$(grep "^FAILED  $2 " /tmp/page)" "$3"
	is "$1: exit status 1" $status 1
}

# nothing_left NAME
nothing_left() {
	is "$1: all is put back" "$(grep -o '^my_pmu[^ ]*' /proc/modules)$(ls -d /tmp/my_pmu-report* 2> /dev/null)$(cat /proc/sys/kernel/nmi_watchdog)" "$watchdog"
}

# wait_for FILE WORD: 60 s at most
wait_for() {
	for _ in $(seq 600); do
		[ "$(cat "$1" 2> /dev/null)" = "$2" ] && return
		usleep 100000
	done
	return 1
}

hostname machine-of-somebody
watchdog=$(cat /proc/sys/kernel/nmi_watchdog)
