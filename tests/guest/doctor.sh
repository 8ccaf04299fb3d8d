# SPDX-License-Identifier: GPL-2.0
# What my-pmu doctor says of other PMUs than the lab's usual one: doctor.sh PMU-LIST
#
# lab: my-pmu
# in sample, lab: vendor=amd,version=2 6.1
# in sample, lab: vendor=amd,core=off 6.1
# in sample, lab: version=0 6.1
# in sample, lab: firmware=0x100000004 6.1
# shellcheck shell=dash disable=SC1091 # lib.sh is beside it in the guest
. /root/guest/lib.sh

my-pmu doctor --module /root/my_pmu.ko > /tmp/out
status=$?
says() {
	has "$1: doctor says so" "$(cat /tmp/out)" "$2"
}
wanted=0
case $1 in
vendor=amd,version=2) says "$1" "^ok +AuthenticAMD: AMD's PMU, PerfMonV2: 6 counters\$" ;;
vendor=amd,core=off) says "$1" "^ok +AuthenticAMD: AMD's PMU: 4 counters\$" ;;
firmware=*) says "$1" '^note +the firmware uses counters of this machine' ;;
version=0)
	says "$1" '^WRONG this virtual machine has no PMU$'
	says "$1" '^my-pmu cannot count here yet. Next: have its host offer one'
	wanted=1
	;;
*) fail "$1: doctor.sh does not know what is right" ;;
esac
is "its exit status" $status $wanted

# It is right.
my-pmu stat --module /root/my_pmu.ko -C 3 -- true > /tmp/out 2> /tmp/err
is "my-pmu stat says the same" $? $wanted

finish
