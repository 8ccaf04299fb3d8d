# SPDX-License-Identifier: GPL-2.0
# On a CPU of AMD whose hypervisor has no PMU, whatever CPUID says.
#
# lab: vm --cpu max,la57=off,pmu=off
# in check: 6.1
# in sample, lab: 6.12
# shellcheck shell=dash disable=SC1091 # lib.sh is beside it in the guest
. /root/guest/lib.sh

load
has "refuses an AMD CPU" "$(cat /tmp/insmod.err)" 'Input/output error'
is "says why" "$(log)" \
	"cpu0: no PMU: its first counter faults (in a virtual machine, its hypervisor must provide a PMU)"
finish
