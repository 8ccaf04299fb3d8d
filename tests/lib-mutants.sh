#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# What the tests of the tests share. Sourced. A mutant is a line broken on
# purpose in a copy of the source; a test that does not notice is missing.

# run_mutants COPY SURVIVES MUTANT...: for each MUTANT, WHAT@FILE@EDIT[@MORE]
# (EDIT is for sed), calls `COPY`, which prints the path of a fresh copy of the
# source, and after the edit `SURVIVES COPY MORE`, which says in comments what
# it saw. Prints TAP; the status is 1 if any survived.
run_mutants() {
	local copy=$1 survives=$2 number=0 failed=0 mutant what file edit more source

	shift 2
	for mutant; do
		IFS=@ read -r what file edit more <<< "$mutant"
		number=$((number + 1))
		source=$("$copy")
		cp "$source/$file" "$source/.unbroken"
		sed -i "$edit" "$source/$file"
		if cmp -s "$source/.unbroken" "$source/$file"; then
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
