# SPDX-License-Identifier: GPL-2.0
# my_perf_event_*(), called by a module that is nothing but tests.
#
# lab: core api_core.c
# in check: 6.1
# in sample, lab: 6.12
# shellcheck shell=dash disable=SC1091 # lib.sh is beside it in the guest
. /root/guest/lib.sh

watchdog 0
before=$(/root/pmu-registers 3)
load
log | grep -E '^(not )?ok '
tests=$(log | grep -cE '^(not )?ok ')
# shellcheck disable=SC2034 # lib.sh's
failed=$(log | grep -c '^not ok ')
is "the module came to its end" "$(log | tail -n 1)" "1..$((tests))"
is "every register is as it was" "$(/root/pmu-registers 3)" "$before"
finish
