#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# What the tests of the tests share. Sourced. A mutant is a line broken on
# purpose in a copy of the source; a test that does not notice is missing.

# path_in DIRECTORY FILE: where the file is: there, or in a folder of the module
path_in() {
	local path

	for path in "$1/$2" "$1"/*/"$2" "$1"/*/x86/"$2" "$1"/*/riscv/"$2"; do
		if [[ -e $path ]]; then
			printf '%s\n' "$path"
			return
		fi
	done
}

# break_file PATH EDIT UNBROKEN: fails if the edit changes nothing; the file as it was
# is UNBROKEN
break_file() {
	cp "$1" "$3"
	sed -i "$2" "$1"
	! cmp -s "$3" "$1"
}

# choose_mutants [--sample N | --part N/M | PATTERN]: sets mutants, of those in all: those whose
# name matches; or N, which depend on the commit, so that in time each of them is tried; or the
# Nth of M parts of the same length.
choose_mutants() {
	local mutant from i

	mutants=()
	if [[ ${1:-} == --sample ]]; then
		from=$(commit_number)
		for ((i = 0; i < ${2:-1}; i++)); do
			mutants+=("${all[(from + i * 97) % ${#all[@]}]}")
		done
		return
	fi
	if [[ ${1:-} == --part ]]; then
		if [[ ! ${2:-} =~ ^([1-9][0-9]?)/([1-9][0-9]?)$ ]] ||
			((BASH_REMATCH[1] > BASH_REMATCH[2] || BASH_REMATCH[2] > ${#all[@]})); then
			echo "${0##*/}: --part ${2:-}: give which part, of how many, like 2/3" >&2
			exit 2
		fi
		from=$((${#all[@]} * (BASH_REMATCH[1] - 1) / BASH_REMATCH[2]))
		mutants=("${all[@]:from:${#all[@]} * BASH_REMATCH[1] / BASH_REMATCH[2] - from}")
		return
	fi
	for mutant in "${all[@]}"; do
		if [[ ${mutant%%@*} =~ ${1:-} ]]; then
			mutants+=("$mutant")
		fi
	done
	if ((${#mutants[@]} == 0)); then
		echo "${0##*/}: no mutant matches '$1'; there are:" >&2
		printf '  %s\n' "${all[@]%%@*}" >&2
		exit 2
	fi
}

# run_mutants COPY SURVIVES MUTANT...: for each MUTANT, WHAT@FILE@EDIT[@MORE]
# (EDIT is for sed), calls `COPY`, which prints the path of a copy of the
# source (what is broken in it is mended afterwards), and after the edit
# `SURVIVES COPY MORE FILE`, which says in comments what it saw. Prints TAP; the status is
# 1 if any survived.
#
# workers are at it side by side, each with a $work of its own. With MY_PMU_PASSED, a
# folder, what was killed is noted there, and not run again.
run_mutants() {
	local count=$(($# - 2)) results=$work/results worker number=0 killed=0 pids=()

	mkdir "$results"
	for ((worker = 0; worker < ${workers:-1}; worker++)); do
		mkdir "$work/worker$worker"
		try_mutants "$results" "$worker" "$@" &
		pids+=($!)
	done
	while ((++number <= count)); do
		# Until it is there, or nobody is left who could bring it.
		while [[ ! -e $results/$number ]] && kill -0 "${pids[@]}" 2> /dev/null; do
			sleep 0.1
		done
		if ! cat "$results/$number" 2> /dev/null; then
			echo "not ok $number - killed: a worker of run_mutants ended before it"
		elif grep -q '^ok' "$results/$number"; then
			killed=$((killed + 1))
		fi
	done
	wait
	echo "1..$count"
	echo "# $killed killed, $((count - killed)) survived"
	# None at all proves nothing.
	return $((killed < count || count == 0))
}

# try_mutants RESULTS WORKER COPY SURVIVES MUTANT...: every so many, from this worker's
# first on; what comes of each is in a file in RESULTS.
try_mutants() {
	local results=$1 worker=$2 copy=$3 survives=$4 work=$work/worker$2 number=0 mutant

	shift 4
	for mutant; do
		number=$((number + 1))
		# The next one that no worker has: some take minutes.
		if mkdir "$results/taken.$number" 2> /dev/null; then
			try_mutant "$copy" "$survives" "$number" "$mutant" > "$work/result"
			mv "$work/result" "$results/$number"
		fi
	done
}

try_mutant() {
	local copy=$1 survives=$2 number=$3 what file edit more source path note=/dev/null

	IFS=@ read -r what file edit more <<< "$4"
	if [[ -n ${MY_PMU_PASSED:-} ]]; then
		note=$MY_PMU_PASSED/$(sha256sum <<< "$4" | cut -c 1-16)
	fi
	if [[ -f $note ]]; then
		echo "ok $number - killed: $what"
		return
	fi
	source=$("$copy")
	path=$(path_in "$source" "$file")
	if [[ -z $path ]] || ! break_file "$path" "$edit" "$source/.unbroken"; then
		echo "not ok $number - killed: $what (the line to break is gone)"
	elif "$survives" "$source" "$more" "$file" "$what"; then
		echo "not ok $number - killed: $what"
	else
		echo "ok $number - killed: $what"
		: > "$note"
	fi
	if [[ -n $path ]]; then
		mv "$source/.unbroken" "$path"
	fi
}

# show_mutants COPY MUTANT...: as run_mutants, but shows what each of them changes, and
# runs nothing. The status is 1 if the line to break is gone, of any.
show_mutants() {
	local copy=$1 number=0 failed=0 mutant what file edit more source changed
	local -A paths=()
	# A mutant costs sed and diff, and no pipe: with one, a thousand of them took minutes.
	local format=(--old-line-format='# < %L' --new-line-format='# > %L' --unchanged-line-format=)

	shift
	source=$("$copy")
	for mutant; do
		IFS=@ read -r what file edit more <<< "$mutant"
		number=$((number + 1))
		[[ -n ${paths[$file]:-} ]] || paths[$file]=$(path_in "$source" "$file")
		if [[ -z ${paths[$file]} ]] || ! sed "$edit" "${paths[$file]}" > "$source/.broken" ||
			changed=$(diff "${format[@]}" "${paths[$file]}" "$source/.broken"); then
			echo "not ok $number - applies: $what (the line to break is gone)"
			failed=$((failed + 1))
			continue
		fi
		echo "ok $number - applies: $what"
		echo "$changed"
	done
	echo "1..$number"
	return $((failed > 0 || number == 0))
}
