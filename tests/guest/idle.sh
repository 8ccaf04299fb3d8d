# SPDX-License-Identifier: GPL-2.0
# What a sample costs an idle, isolated CPU, in instructions.
# shellcheck shell=dash disable=SC1091 # lib.sh is beside it in the guest
. /root/guest/lib.sh

watchdog 0
load cpu=3 interval=100
wait_samples 20
unload
least=$(value instructions@fixed0 | head -n 20 | sort -n | head -n 1)
expect "a sample of four events costs an idle CPU $least instructions, 1300 at most" \
	[ "$least" -le 1300 ]
expect "and more than none" [ "$least" -gt 100 ]
finish
