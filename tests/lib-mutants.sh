#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# What the tests of the tests share. Sourced. A mutant is a line broken on
# purpose in a copy of the source; a test that does not notice is missing.

# path_in DIRECTORY FILE: where the file is, which may have moved to a sub-folder
path_in() {
	if [[ -e $1/$2 ]]; then
		printf '%s\n' "$1/$2"
	else
		find "$1" -name "${2##*/}" -type f -print -quit
	fi
}

# break_file PATH EDIT UNBROKEN: fails if the edit changes nothing; the file as it was
# is UNBROKEN
break_file() {
	cp "$1" "$3"
	sed -i "$2" "$1"
	! cmp -s "$3" "$1"
}

# run_mutants COPY SURVIVES MUTANT...: for each MUTANT, WHAT@FILE@EDIT[@MORE]
# (EDIT is for sed), calls `COPY`, which prints the path of a fresh copy of the
# source, and after the edit `SURVIVES COPY MORE`, which says in comments what
# it saw. Prints TAP; the status is 1 if any survived.
run_mutants() {
	local copy=$1 survives=$2 number=0 failed=0 mutant what file edit more source path

	shift 2
	for mutant; do
		IFS=@ read -r what file edit more <<< "$mutant"
		number=$((number + 1))
		source=$("$copy")
		path=$(path_in "$source" "$file")
		if [[ -z $path ]] || ! break_file "$path" "$edit" "$source/.unbroken"; then
			echo "not ok $number - killed: $what (the line to break is gone)"
			failed=$((failed + 1))
		elif "$survives" "$source" "$more"; then
			echo "not ok $number - killed: $what"
			failed=$((failed + 1))
		else
			echo "ok $number - killed: $what"
		fi
	done
	echo "1..$number"
	echo "# $((number - failed)) killed, $failed survived"
	# None at all proves nothing.
	return $((failed > 0 || number == 0))
}

# show_mutants COPY MUTANT...: as run_mutants, but shows what each of them changes, and
# runs nothing. The status is 1 if the line to break is gone, of any.
show_mutants() {
	local copy=$1 number=0 failed=0 mutant what file edit more source path

	shift
	source=$("$copy")
	for mutant; do
		IFS=@ read -r what file edit more <<< "$mutant"
		number=$((number + 1))
		path=$(path_in "$source" "$file")
		if [[ -z $path ]] || ! break_file "$path" "$edit" "$source/.unbroken"; then
			echo "not ok $number - applies: $what (the line to break is gone)"
			failed=$((failed + 1))
			continue
		fi
		echo "ok $number - applies: $what"
		{ diff "$source/.unbroken" "$path" || true; } | sed -n 's/^[<>]/# &/p'
		cp "$source/.unbroken" "$path"
	done
	echo "1..$number"
	return $((failed > 0 || number == 0))
}
