#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# Style, types and layers: each check prints nothing when all is well.
set -euo pipefail

here=$(dirname "$(readlink -f "$0")")
cd "$here/.."
# shellcheck source=scripts/lib.sh
source scripts/lib.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

number=0
failed=0

# silent NAME COMMAND...: succeeds and prints nothing
silent() {
	local name=$1 output status=0

	shift
	number=$((number + 1))
	output=$("$@" 2>&1) || status=$?
	if [[ $status == 0 && -z $output ]]; then
		echo "ok $number - $name"
	else
		failed=1
		echo "not ok $number - $name"
		printf '%s (exit status %s)\n' "$output" "$status" | sed 's/^/#   /'
	fi
}

# The messages of a build with all of gcc's and sparse's warnings.
compile() {
	local series=$1 kernel

	kernel=$(scripts/lab-kernel "$series" 2> "$work/lab") || cat "$work/lab"
	rm -rf "$work/build"
	mkdir "$work/build"
	cp ./*.[ch] Kbuild "$work/build"
	make -s -C "$kernel/headers" M="$work/build" CONFIG_DEBUG_INFO_BTF_MODULES= \
		W=1 C=2 modules 2>&1
}

fetch_kernel_scripts() {
	local package

	(cd "$1" && download_packages linux-source-6.1)
	package=$(echo "$1"/linux-source-6.1_*.deb)
	dpkg-deb --fsys-tarfile "$package" |
		tar -xO ./usr/src/linux-source-6.1.tar.xz |
		tar -xJ -C "$1" --strip-components=2 linux-source-6.1/scripts/checkpatch.pl \
			linux-source-6.1/scripts/spelling.txt \
			linux-source-6.1/scripts/const_structs.checkpatch \
			linux-source-6.1/scripts/kernel-doc
	rm "$package"
}

kernel_scripts() {
	cache_entry kernel-scripts-6.1 fetch_kernel_scripts 2> "$work/lab"
}

run_kernel_doc() {
	local dir

	dir=$(kernel_scripts) || cat "$work/lab"
	"$dir/kernel-doc" -none -Werror ./*.[ch] tests/bare/*.[ch]
}

run_checkpatch() {
	local dir

	dir=$(kernel_scripts) || cat "$work/lab"
	# The model is QEMU's, in QEMU's style; all other C is the kernel's.
	"$dir/checkpatch.pl" --no-tree --no-summary --strict --quiet --terse -f ./*.[ch] tests/bare/*.[ch]
}

scripts_of_ours() {
	git ls-files --cached --others --exclude-standard |
		xargs grep -lE '^#!.*(bash|sh)$|shellcheck shell=' --
}

run_shellcheck() {
	scripts_of_ours | xargs shellcheck
}

no_spdx() {
	git ls-files --cached --others --exclude-standard |
		grep -vxE 'README.md|LICENSE|\.gitignore' |
		xargs grep -L SPDX-License-Identifier -- || true
}

# forbidden PATTERN FILE...: lines of code that DESIGN.md's layers forbid
forbidden() {
	local pattern=$1

	shift
	grep -nE -- "$pattern" "$@" || true
}

everything_but() {
	local skip

	skip=$(printf '|%s' "$@")
	printf '%s\n' *.[ch] | grep -vxE "${skip#|}"
}

layers() {
	local below=(pmu_event.c pmu_event.h pmu_read.c pmu_parse.c pmu_parse.h
		pmu_intel.c pmu_intel.h pmu_hw.h pmu_why.h)

	# Only the core speaks, starts threads, has parameters and hotplug states.
	forbidden '\b(printk|pr_[a-z]+|module_param|kthread_|cpuhp_)' "${below[@]}"
	# Cross-calls are in two files.
	mapfile -t rest < <(everything_but pmu_event.c pmu_read.c)
	forbidden '\b(smp_call_|on_each_cpu)' "${rest[@]}"
	# The hardware is behind the seam, and kernels differ only there.
	mapfile -t rest < <(everything_but pmu_hw.h)
	forbidden '\b(rdmsr|wrmsr|rdpmc|cpuid)[a-z_]*\(|KERNEL_VERSION' "${rest[@]}" |
		grep -vE '\bhw_|->rdpmc_index' || true
	# Registers are known to the architecture's file alone.
	mapfile -t rest < <(everything_but pmu_intel.c pmu_intel.h)
	forbidden '\bMSR_|ARCH_PERFMON_' "${rest[@]}"
	# Nothing includes what stands above it.
	forbidden '#include "pmu_(event|parse|read|core|intel)' pmu_hw.h pmu_why.h
	forbidden '#include "pmu_parse' pmu_intel.c pmu_intel.h pmu_event.c pmu_event.h pmu_read.c
	forbidden '#include "pmu_(intel|hw)' pmu_core.c pmu_read.c pmu_parse.c
}

silent "W=1 and sparse, Linux 6.1" compile 6.1
silent "W=1 and sparse, Linux 6.12" compile 6.12
silent "checkpatch --strict" run_checkpatch
silent "kernel-doc" run_kernel_doc
silent "shellcheck" run_shellcheck
silent "SPDX lines" no_spdx
silent "layers" layers
echo "1..$number"
exit $failed
