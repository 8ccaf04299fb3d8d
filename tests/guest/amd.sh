# SPDX-License-Identifier: GPL-2.0
# On a CPU of a vendor whose PMU is another, whatever CPUID.0AH says.
#
# lab: vm --cpu max,la57=off
# in check: 6.1
# in sample, lab: 6.12
# shellcheck shell=dash disable=SC1091 # lib.sh is beside it in the guest
. /root/guest/lib.sh

load
has "refuses an AMD CPU" "$(cat /tmp/insmod.err)" 'No such device'
is "says why" "$(log)" \
	"cpu0: no PMU that is known here: Intel's, Zhaoxin's and Centaur's are, AMD's is not yet"
finish
