#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# What tests share that run a command and then ask what came of it. Sourced; the
# last command's output is in $work/out.

number=0
# shellcheck disable=SC2034 # whoever sources this ends with it
failed=0

# result NAME CONDITION...: what the last command printed explains a failure
result() {
	local name=$1 verdict=ok

	shift
	number=$((number + 1))
	if ! "$@"; then
		verdict='not ok'
		# shellcheck disable=SC2034
		failed=1
		# shellcheck disable=SC2154 # whoever sources this has it
		sed 's/^/#   /' "$work/out"
	fi
	echo "$verdict $number - $name"
}
