# SPDX-License-Identifier: GPL-2.0
# turns.sh, eight times a minute.
#
# A minute at the lab's fastest so far, 800,000 in a second; eight times.
# lab: program steady steady TURNS=50000000
# lab: vm --timeout 1800
# in endurance alone: version=3,gp=4,fixed=3 6.1
# in endurance alone: version=2,gp=2,fixed=3,width=40 6.1
# shellcheck shell=dash disable=SC1091 # it is beside this in the guest
. /root/guest/turns.sh
