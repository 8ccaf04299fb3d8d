#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# static.sh [--whole | --reads] [PATTERN]: style, types and layers, or those checks whose name
# matches PATTERN. Each prints nothing when all is well. What takes longest is done in part,
# which depends on the commit, so that in time all of it is: an eighth of coccicheck; the style of
# a quarter of the files; where there are two kernels, style and types by one of them; and the types
# of the KUnit tests or those of RISC-V. With --whole, with PATTERN, or if something is not
# committed, all is done. With --reads nothing is checked: prints, in a line for each check, a hash
# of all that it would read.
#
# COCCI=scripts/coccinelle/... is the only semantic patch for coccicheck then,
# as for the kernel's own; MY_PMU_FILE=... the only file for checkpatch and kernel-doc, and,
# if it is of the module, the only one that is compiled.
#
# Example: tests/static.sh layers
set -euo pipefail

here=$(dirname "$(readlink -f "$0")")
# shellcheck source=scripts/help.sh
source "$here/../scripts/help.sh"
answer_help '--whole|--reads' "$@"
cd "$here/.."
# shellcheck source=scripts/lib.sh
source scripts/lib.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
only_reads=no
# Which of two kernels, of two builds, of four parts of the files and of eight parts of coccicheck;
# or all. Each kernel goes with each build and each part of the files.
kernel_part=all build_part=all files_part=all cocci_part=all
case ${1:-} in
--reads) only_reads=yes && shift ;;
--whole) shift ;;
'')
	if [[ -z ${COCCI:-}${MY_PMU_FILE:-} && -z $(git status --porcelain) ]]; then
		cocci_part=$(($(commit_number) % 8))
		kernel_part=$((cocci_part % 2)) files_part=$((cocci_part / 2))
		build_part=$((files_part % 2))
	fi
	;;
esac
pattern=${1:-}

number=0
failed=0

# result VERDICT NAME
result() {
	number=$((number + 1))
	echo "$1 $number - $2"
}

# silent NAME COMMAND...: succeeds and prints nothing
silent() {
	local name=$1 output status

	shift
	# Not `|| status=$?`: that would suspend errexit inside.
	set +e
	output=$(set -e && "$@" 2>&1)
	status=$?
	set -e
	if [[ $status == 0 && -z $output ]]; then
		result ok "$name"
	else
		failed=1
		result 'not ok' "$name"
		printf '%s (exit status %s)\n' "$output" "$status" | sed 's/^/#   /'
	fi
}

# once NAME CHECK ARGUMENTS...: as silent, but what was clean once is not looked
# at again as long as all that it reads, which CHECK_reads ARGUMENTS... prints,
# is the same. What was not clean is never kept.
once() {
	local name=$1 kept failures=$failed

	if [[ ! $name =~ $pattern ]]; then
		return
	fi
	kept=$(cache_root)/static-$({ echo "$*" && hash_files tests/static.sh && "$2_reads" "${@:3}"; } | content_hash)
	if [[ $only_reads == yes ]]; then
		echo "${kept##*-}"
		return
	fi
	if [[ -d $kept ]]; then
		touch "$kept"	# see scripts/cache
		result ok "$name (clean before, nothing changed)"
		return
	fi
	failed=0
	silent "$@"
	if [[ $failed == 0 ]]; then
		mkdir -p "$kept"
	fi
	failed=$((failed || failures))
}

# chosen_part N PART: of the lines of standard input every Nth one; or all
chosen_part() {
	case $2 in
	all) cat ;;
	*) awk -v n="$1" -v part="$2" 'NR % n == part' ;;
	esac
}

# What the lab's scripts say of their progress is no message of a check's, as
# long as they succeed.
lab() {
	"scripts/$1" "$2" 2> "$work/lab.$BASHPID" || {
		cat "$work/lab.$BASHPID" >&2
		return 1
	}
}

# Kbuild and dkms.conf first.
mapfile -t module < <(module_files .)

compile_reads() {
	hash_files "${module[@]}" samples/* scripts/report.d/*
	lab lab-kernel "$1"
	gcc --version
	sparse --version
}

# The messages of a build with all of gcc's and sparse's warnings, and with the one
# that the kernel's Makefile has switched off.
compile() {
	local kernel targets=modules sparse=2

	kernel=$(lab lab-kernel "$1")
	if [[ ${MY_PMU_FILE:-} == *.c ]]; then
		targets=${MY_PMU_FILE%.c}.o
	fi
	rm -rf "$work/build"
	mkdir "$work/build"
	cp --parents "${module[@]}" "$work/build"
	cp -r samples "$work/build"
	# It has Intel's back end in it.
	if [[ $1 == *-riscv64 ]]; then
		sparse=0	# it does not know what gcc is told of the CPU (-march)
	else
		cp scripts/report.d/my_pmu_report.c "$work/build"
		cat scripts/report.d/Kbuild >> "$work/build/Kbuild"
	fi
	make -s -C "$kernel/headers" M="$work/build" CONFIG_DEBUG_INFO_BTF_MODULES= \
		-j "$(nproc)" W=1 C="$sparse" \
		KCFLAGS=-Wmaybe-uninitialized "$targets" 2>&1 | sed "s,$work/build/,,g"
}

needs_tracing_reads() {
	compile_reads "$1"
}

# Nothing, if a kernel without event tracing gets one error, which names the option; what gcc says
# otherwise.
needs_tracing() {
	local kernel

	kernel=$(lab lab-kernel "$1")
	rm -rf "$work/needs"
	mkdir "$work/needs"
	cp --parents "${module[@]}" "$work/needs"
	echo '#undef CONFIG_EVENT_TRACING' > "$work/needs/without.h"
	make -s -C "$kernel/headers" M="$work/needs" KCFLAGS="-include $work/needs/without.h" users/pmu_frontend.o \
		> "$work/needs/out" 2>&1 || true
	if [[ $(grep -c 'error:' "$work/needs/out") != 1 ]] ||
		! grep -q '#error "my_pmu needs CONFIG_EVENT_TRACING=y' "$work/needs/out"; then
		echo 'users/pmu_frontend.c: without CONFIG_EVENT_TRACING there is another error than the one that says so:'
		cat "$work/needs/out"
	fi
}

compile_tests_reads() {
	compile_reads "$1"
	hash_files tests/kunit/{,riscv/}*.[ch] tests/kunit/Kbuild
}

# The same of the KUnit tests. Debian's kernels have no KUnit to link with.
compile_tests() {
	local kernel others=riscv sparse=2 core=(pmu_test_kunit.c) tests objects

	kernel=$(lab lab-kernel "$1")
	rm -rf "$work/tests"
	mkdir "$work/tests"
	tests=(tests/kunit/*.[ch])
	if [[ $1 == *-riscv64 ]]; then
		others=x86 sparse=0 core=()	# see compile()
		tests=(tests/kunit/riscv/*.[ch] tests/kunit/pmu_clock.h)
	fi
	mapfile -t flat < <(printf '%s\n' "${module[@]}" | grep -v "/$others/")
	cp "${flat[@]}" "$work/tests"
	# the seam is another one
	cp "${tests[@]}" tests/kunit/Kbuild "$work/tests"
	mapfile -t objects < <(cd "$work/tests" && printf '%s\n' test_*.c pmu_sim.c "${core[@]}" | sed 's/c$/o/')
	make -s -C "$kernel/headers" M="$work/tests" CONFIG_MY_PMU_KUNIT_TEST=m \
		-j "$(nproc)" W=1 C="$sparse" "${objects[@]}" 2>&1 | sed "s,$work/tests/,,g"
}

# The model is QEMU's, in QEMU's style; all other C is the kernel's.
tool_files=(tools/*.[ch])
c_files=("${module[@]:2}" samples/*.c scripts/bench.d/*.c scripts/report.d/*.c tests/bare/*.[ch] tests/walk.d/*.c tests/kunit/{,riscv/}*.[ch] tests/fuzz/*.c tests/fuzz/*/*.h)
if [[ -n ${MY_PMU_FILE:-} ]]; then
	c_files=("$MY_PMU_FILE")
	tool_files=(tools/my-pmu.h)
fi

run_kernel_doc_reads() {
	hash_files "${c_files[@]}" "${tool_files[@]}"
	lab lab-source "$1"
}

run_kernel_doc() {
	local dir

	dir=$(lab lab-source "$1")
	"$dir/scripts/kernel-doc" -none -Werror "${c_files[@]}" "${tool_files[@]}"
}

run_checkpatch_reads() {
	hash_files "${c_files[@]}" "${tool_files[@]}"
	lab lab-source "$1"
	echo "$2"
}

run_checkpatch() {
	local dir options=(--no-tree --no-summary --strict --quiet --terse)

	dir=$(lab lab-source "$1")
	mapfile -t rest < <(printf '%s\n' "${c_files[@]}" |
		grep -vxE 'arch/(x86/|riscv/)?pmu_(compat|compat_perf|compat_x86|hw)\.h' | chosen_part 4 "$2")
	"$dir/scripts/checkpatch.pl" "${options[@]}" -f "${rest[@]}"
	# In the kernel's tree there is one version, so nothing to test.
	"$dir/scripts/checkpatch.pl" "${options[@]}" --ignore LINUX_VERSION_CODE,CONSTANT_COMPARISON -f arch/pmu_compat{,_perf}.h arch/x86/pmu_compat_x86.h
	# What the kernel does without: a variable that a signal sets, __printf() defined; and
	# printk()'s strings may be longer than a line, too.
	"$dir/scripts/checkpatch.pl" "${options[@]}" --ignore VOLATILE,PREFER_DEFINED_ATTRIBUTE_MACRO,LONG_LINE_STRING -f "${tool_files[@]}"
	# It takes the % of an asm goto's label for an operator.
	"$dir/scripts/checkpatch.pl" "${options[@]}" --ignore SPACING -f arch/{x86,riscv}/pmu_hw.h
}

# Two of the kernel's semantic patches have code in OCaml, for which coccinelle
# would need the OCaml compiler, 280 MB: the one is about the data of a single
# driver (bq27xxx), and what the other one finds, 0 for NULL, sparse does.
without_ocaml() {
	grep -vE '/(api/check_bq27xxx_data|null/badzero)\.cocci$'
}

# All of the release's own Linux, and those of its other one that are new or have changed.
semantic_patches() {
	local old new patch

	old=$(lab lab-source "${kernels[0]}")
	new=$(lab lab-source "${kernels[-1]}")
	if [[ -n ${COCCI:-} ]]; then
		echo "$old/$COCCI"
		return
	fi
	find "$old/scripts/coccinelle" -name '*.cocci' | sort | without_ocaml
	for patch in $(cd "$new" && find scripts/coccinelle -name '*.cocci' | sort | without_ocaml); do
		if ! cmp -s "$old/$patch" "$new/$patch"; then
			echo "$new/$patch"
		fi
	done
}

run_coccicheck_reads() {
	hash_files "${module[@]}"
	semantic_patches | chosen_part 8 "$1"
	spatch --version
}

# The kernel's own `make coccicheck`, which takes one semantic patch at a time,
# or all. Out of its output go what it always says; its echo of the commands;
# how many files have the words that a patch is about; and what it thinks of
# the kernel's patches themselves. --use-coccigrep: not git grep, which knows
# nothing of a copy outside any repository.
run_coccicheck() {
	local source

	source=$(lab lab-source "${kernels[0]}")
	rm -rf "$work/coccicheck"
	mkdir "$work/coccicheck"
	cp --parents "${module[@]}" "$work/coccicheck"
	semantic_patches | chosen_part 8 "$1" |
		xargs -P "$(nproc)" -I '{}' make -s -C "$source" ARCH=x86_64 M="$work/coccicheck" \
			coccicheck MODE=report J=1 COCCI='{}' SPFLAGS=--use-coccigrep 2>&1 |
		sed -E -e '/^$|^Please check for false positives|^When using "patch" mode/d' \
			-e '\,^[^ ]*spatch -D report ,d' \
			-e '/^[0-9]+ files match$/d' \
			-e '/^warning: line [0-9]+: should .* be a metavariable\?$/d' \
			-e "s,$work/coccicheck/,,g"
}

scripts_of_ours() {
	git ls-files --cached --others --exclude-standard |
		xargs grep -lE '^#!.*(bash|sh)$|shellcheck shell=' --
}

run_shellcheck_reads() {
	local scripts

	mapfile -t scripts < <(scripts_of_ours)
	hash_files .shellcheckrc "${scripts[@]}"
	shellcheck --version
	echo "$1"
}

run_shellcheck() {
	scripts_of_ours | chosen_part 4 "$1" | xargs shellcheck
}

# files_of_ours [PATTERN...]: all that there are, with what is in them
files_of_ours() {
	git ls-files -z --cached --others --exclude-standard -- "$@" | xargs -0 sha256sum --
}

no_spdx_reads() {
	files_of_ours
}

no_spdx() {
	git ls-files --cached --others --exclude-standard |
		grep -vxE 'README.md|LICENSE|\.gitignore' |
		xargs grep -L SPDX-License-Identifier -- || true
}

# How kernels differ is known to one header; tests/layers looks at the module, and
# the modules of the tests are the kernel's, too.
no_versions_reads() {
	hash_files Kbuild tests/guest/*.[ch] tests/kunit/{,riscv/}*.[ch]
}

no_versions() {
	grep -nE 'KERNEL_VERSION|LINUX_VERSION|linux/version\.h' Kbuild tests/guest/*.[ch] tests/kunit/{,riscv/}*.[ch] || true
}

# What is not in the Kbuild file is not compiled, and not missed either.
unbuilt_tests_reads() {
	hash_files tests/kunit/Kbuild
	ls tests/kunit{,/riscv}
}

unbuilt_tests() {
	local file name

	for file in tests/kunit/{,riscv/}*.c; do
		name=${file##*/}
		grep -qw "${name%.c}\.o" tests/kunit/Kbuild || echo "$file is not in tests/kunit/Kbuild"
	done
}

other_leaves_reads() {
	hash_files tests/kunit/{make-leaves,pmu-leaves.csv,leaves.h}
}

other_leaves() {
	tests/kunit/make-leaves tests/kunit/pmu-leaves.csv | diff tests/kunit/leaves.h -
}

layers_reads() {
	files_of_ours '*.[ch]' Kbuild tests/layers docs/layers.md
}

layers() {
	tests/layers
}

documents_reads() {
	files_of_ours
}

# Whoever is told what is wrong needs no more.
documents() {
	tests/docs | sed -n 's/^#   //p'
}

list=$(kernel_series)
mapfile -t kernels <<< "$list"
for i in "${!kernels[@]}"; do
	series=${kernels[$i]}
	once "kernel-doc, Linux $series" run_kernel_doc "$series"
	if [[ $kernel_part == all || ${#kernels[@]} == 1 || $kernel_part == $((i % 2)) ]]; then
		once "W=1 and sparse, Linux $series" compile "$series"
		if [[ $build_part != 1 ]]; then
			once "W=1 and sparse of the KUnit tests, Linux $series" compile_tests "$series"
		fi
		once "checkpatch --strict, Linux $series" run_checkpatch "$series" "$files_part"
	fi
done
once "a kernel without tracing is refused" needs_tracing "${kernels[0]}"
if [[ $build_part != 0 ]]; then
	once "W=1, RISC-V" compile 6.12-riscv64
fi
# check compiles them whenever they have changed, and runs them as a sample.
once "W=1 of the KUnit tests, RISC-V" compile_tests 6.12-riscv64
once "every KUnit test is built" unbuilt_tests
once "leaves.h is what make-leaves makes" other_leaves
once "coccicheck" run_coccicheck "$cocci_part"
once "shellcheck" run_shellcheck "$files_part"
once "SPDX lines" no_spdx
once "layers" layers
once "documents" documents
once "kernels differ in one header" no_versions
if [[ $only_reads == yes ]]; then
	exit
fi
echo "1..$number"
exit $failed
