# SPDX-License-Identifier: GPL-2.0
# cpus.sh, on many CPUs.
#
# lab: vm --smp 64 --mem 4096
# in sample, lab: 6.1
# shellcheck shell=dash disable=SC1091 # it is beside this in the guest
. /root/guest/cpus.sh
