# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What a script says of itself with --help: the comment at its head, or usage(). Sourced.

# answer_help OPTIONS ARG...: if the first ARG is --help or -h, prints that comment and
# ends; an option that is none of OPTIONS (--this|--that, or nothing) ends with one line.
answer_help() {
	local options=$1

	shift
	case ${1:-} in
	-h | --help)
		awk 'NR <= 3 { next } !/^#/ { exit } /^# shellcheck/ { next } { sub(/^# ?/, ""); print }' "$0"
		exit 0
		;;
	-*)
		if [[ "|$options|" != *"|$1|"* ]]; then
			echo "${0##*/}: there is no option $1; --help says what there is" >&2
			exit 2
		fi
		;;
	esac
}

# answer_usage OPTIONS ARG...: the same for a script that has a function usage.
answer_usage() {
	if [[ ${2:-} == -h || ${2:-} == --help ]]; then
		usage
		exit 0
	fi
	answer_help "$@"
}
