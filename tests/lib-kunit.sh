#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# What the tests that load my_pmu_kunit.ko share. Sourced.

lab=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../scripts
# Whose tests; riscv64's guests are not saved.
kunit_arch=x86_64

# In the guest: prints an archive with what gcov has counted in the module, if it has:
# the tests that are built in, and rest, may have been instrumented, too. What made them
# rest is for the module, too, since Linux 6.6; there it can be changed.
# shellcheck disable=SC2016 # the variables are the guest's
kunit_guest='
	glob=/sys/module/kunit/parameters/filter_glob
	[ ! -e $glob ] || printf "*" > $glob
	insmod my_pmu.ko || exit
	mkdir /tmp/gcov
	find /sys/kernel/debug/gcov -path "*/kunit-module-*/src/*.gcda" | while read -r file; do
		cat "$file" > "/tmp/gcov/${file##*/}"
	done
	tar -c -C /tmp/gcov .'

# kunit_module LOG SERIES [SRCDIR]: runs the tests as a module; LOG gets the
# kernel log, standard output the archive. Those built in are told to rest. As in
# scripts/kunit there are two CPUs, and one that could be but is not there. It takes half
# a minute, instrumented a whole one; beside other guests some times as long.
kunit_module() {
	local log=$1 saved=()

	if [[ ${MY_PMU_SAVED:-} == yes ]]; then
		saved=(--saved)
	fi
	shift
	kunit_load "$log" "$("$lab/kunit" --arch "$kunit_arch" module "$@")" "${saved[@]}"
}

# kunit_load LOG DIR [OPTION...]: likewise, of a module that is built; DIR is as scripts/kunit
# has it, the options are for scripts/vm.
kunit_load() {
	local log=$1 dir=$2 options

	shift 2
	# shellcheck disable=SC2154 # of scripts/lib.sh
	options="kunit.filter_glob=none ${kunit_arguments[*]}"

	# Instrumented, beside other guests, the loops over all accesses take that long. That locks
	# are taken in order is proved where nothing is instrumented.
	if [[ -n ${MY_PMU_GCOV:-} ]]; then
		options+=' rcupdate.rcu_cpu_stall_timeout=120 lockdep.prove_locking=0'
	fi
	# Without ACPI, Linux finds one CPU of each socket, those that the BIOS lists for it (MP table).
	if [[ $kunit_arch == x86_64 ]]; then
		set -- --qemu-arg -smp --qemu-arg sockets=2 "$@"
	fi
	"$lab/vm" --arch "$kunit_arch" --kernel "$dir/kernel" --kernel-log "$log" --timeout 600 --smp 2 --append "$options" \
		--module "$dir/src/my_pmu_kunit.ko" "$@" -- sh -c "$kunit_guest" < /dev/null
}

# Before Linux 6.6 a module's suites come without the head that kunit.py needs: how many
# there are is in the tests' source.
kunit_results() {
	local tests=("$lab"/../{,tests/kunit/}*.c)

	if [[ $kunit_arch == riscv64 ]]; then
		tests=("$lab"/../tests/kunit/riscv/*.c)
	fi
	echo 'KTAP version 1'
	printf '1..%s\n' "$(cat "${tests[@]}" | grep -cE "^kunit_test_suites?\(")"
	sed -n '/my_pmu_kunit: loading out-of-tree module/,$p' "$1" | sed '/^KTAP version 1$/d; /^1\.\.[0-9]*$/d'
}

# kunit_tap LOG SERIES: the results in it, read by kunit.py, as TAP.
kunit_tap() {
	local log=$1 status=0 tree

	tree=$("$lab/lab-source" --arch "$kunit_arch" "$2")
	kunit_results "$log" > "$log.results"
	python3 -B "$tree/tools/testing/kunit/kunit.py" parse --json="$log.json" "$log.results" > "$log.text" || status=$?
	# What it could not make sense of is no failure to kunit.py.
	if grep -q 'Ran .*, errors: ' "$log.text"; then
		status=1
	fi
	if ((status != 0)); then
		grep -v '\[PASSED\]' "$log.text" | tail -n 200 | sed 's/^/# /'
	fi
	"$lab/../tests/kunit/tap.py" < "$log.json"
	return $status
}
