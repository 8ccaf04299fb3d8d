# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# fleet-guest.sh LOOPS [OPTION...]: a machine of tests/fleet: its folder for node_exporter is on a
# disk, /dev/vda. OPTION is for my-pmu export. Prints what it finds there, each line after "found ";
# the module's rows as they come; and at the end the file, each line after "last ". Commands come
# from standard input.
folder=/var/lib/prometheus/node-exporter
loops=$1
shift

# Each of these may be there already.
for module in disk/*; do
	insmod "$module" 2> /dev/null
done
mkdir -p "$folder"
mount -t ext4 /dev/vda "$folder" || exit
if [ -e "$folder/my_pmu.prom" ]; then
	sed 's/^/found /' "$folder/my_pmu.prom"
fi
prometheus-node-exporter --collector.disable-defaults --collector.textfile \
	--collector.textfile.directory="$folder" > /dev/null 2>&1 &
export loops
# shellcheck disable=SC2016 # the inner shell has the variables
taskset 2 sh -c 'while :; do i=0; while [ $i -lt $loops ]; do i=$((i + 1)); done; sleep 0.2; done' &
my-pmu export --module my_pmu.ko --textfile "$folder" -I 1000 "$@" >&2 &
export=$!
until [ -e /dev/my_pmu ]; do
	kill -0 $export || exit
	sleep 0.1
done
cat /dev/my_pmu &
rows=$!
while read -r command; do
	case $command in
	# Of the event on the first generic counter.
	steal) wrmsr -p 1 0x186 0 ;;
	stop)
		kill $export
		wait $export
		kill $rows
		wait $rows
		sed 's/^/last /' "$folder/my_pmu.prom"
		;;
	end)
		umount "$folder"
		exit 0
		;;
	esac
done
