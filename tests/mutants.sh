#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# Breaks the module on purpose, one line at a time, in a copy. The guest's
# counts test must notice.
set -euo pipefail

here=$(dirname "$(readlink -f "$0")")
top=$here/..
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
kernel=$("$top/scripts/lab-kernel")

# What is broken, where, and how (for sed).
mutants=(
	'umask shifted by 4 instead of 8|pmu_intel.c|s/FIELD_PREP(ARCH_PERFMON_EVENTSEL_UMASK, attr->umask)/((u64)attr->umask << 4)/'
	'read mask one bit too short|pmu_event.h|s/GENMASK_ULL(bits - 1, 0)/GENMASK_ULL(bits - 2, 0)/'
)

# survives MODULE: does the counts test pass with it?
survives() {
	local tap

	tap=$("$here/guest-test" counts 6.1 "$1" 2> "$work/stderr" || true)
	# Without a plan the test itself broke, which is no proof.
	if ! grep -q '^1\.\.[1-9]' <<< "$tap"; then
		cat "$work/stderr" >&2
		echo '# the counts test did not come to its end'
		return 0
	fi
	! grep '^not ok' <<< "$tap" | sed 's/^not ok/#   killed by/'
}

number=0
failed=0
for mutant in "${mutants[@]}"; do
	IFS='|' read -r what file edit <<< "$mutant"
	number=$((number + 1))
	rm -rf "$work/source"
	mkdir "$work/source"
	cp "$top"/*.[ch] "$top/Kbuild" "$work/source"
	sed -i "$edit" "$work/source/$file"
	if cmp -s "$top/$file" "$work/source/$file"; then
		echo "not ok $number - killed: $what (the line to break is gone)"
		failed=1
		continue
	fi
	module=$("$top/scripts/lab-module" "$kernel" "$work/source")
	if survives "$module"; then
		echo "not ok $number - killed: $what"
		failed=1
	else
		echo "ok $number - killed: $what"
	fi
done
echo "1..$number"
exit $failed
