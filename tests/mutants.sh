#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# Breaks the module on purpose, one line at a time, in a copy. The guest's
# counts test must notice.
set -euo pipefail

here=$(dirname "$(readlink -f "$0")")
top=$here/..
# shellcheck source=tests/lib-mutants.sh
source "$here/lib-mutants.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
kernel=$("$top/scripts/lab-kernel")

mutants=(
	'umask shifted by 4 instead of 8@pmu_intel.c@s/FIELD_PREP(ARCH_PERFMON_EVENTSEL_UMASK, attr->umask)/((u64)attr->umask << 4)/'
	'read mask one bit too short@pmu_event.h@s/GENMASK_ULL(bits - 1, 0)/GENMASK_ULL(bits - 2, 0)/'
)

copy_module() {
	rm -rf "$work/source"
	mkdir "$work/source"
	cp "$top"/*.[ch] "$top/Kbuild" "$work/source"
	echo "$work/source"
}

# Does the counts test pass with it?
module_survives() {
	local tap module

	module=$("$top/scripts/lab-module" "$kernel" "$1")
	tap=$("$here/guest-test" counts 6.1 "$module" 2> "$work/stderr" || true)
	# Without a plan the test itself broke, which is no proof.
	if ! grep -q '^1\.\.[1-9]' <<< "$tap"; then
		cat "$work/stderr" >&2
		echo '# the counts test did not come to its end'
		return 0
	fi
	! grep '^not ok' <<< "$tap" | sed 's/^not ok/#   killed by/'
}

run_mutants copy_module module_survives "${mutants[@]}"
