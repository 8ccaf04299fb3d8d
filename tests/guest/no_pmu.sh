# SPDX-License-Identifier: GPL-2.0
# On a CPU without a PMU.
#
# lab: vm --pmu off
# in check: 6.1
# in sample, lab: 6.12
# shellcheck shell=dash disable=SC1091 # lib.sh is beside it in the guest
. /root/guest/lib.sh

load
has "refuses a CPU without a PMU" "$(cat /tmp/insmod.err)" 'No such device'
is "says that there is none" "$(log)" \
	"cpu0: no PMU: CPUID.0AH says version 0 (in a virtual machine, its hypervisor must provide one)"
finish
