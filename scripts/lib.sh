#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# What the lab's scripts share: messages, the cache, and a private apt.
# Sourced, never run. A script that sources it is in `set -euo pipefail`.

set -euo pipefail
# Without this a failure inside $(...) would go unnoticed.
shopt -s inherit_errexit
# Where depmod, modprobe, rdmsr and wrmsr are; not every user has it.
PATH=$PATH:/usr/sbin:/sbin

# shellcheck source=scripts/help.sh
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/help.sh"

# ---------------------------------------------------------------- messages

say() {
	printf 'lab: %s\n' "$*" >&2
}

die() {
	say "$*"
	exit 1
}

# ---------------------------------------------------------------- tests

# By which tests that try a part of what there is choose it: another one with each commit.
commit_number() {
	local commit

	commit=$(git -C "$(dirname "${BASH_SOURCE[0]}")" rev-parse HEAD)
	echo $((16#${commit:0:7}))
}

# What every kernel that runs the KUnit tests is told: of a third CPU that could be but is not
# there; and to end after an Oops.
# shellcheck disable=SC2034 # of those that source this
kunit_arguments=(possible_cpus=3 oops=panic)

# ---------------------------------------------------------------- the host

# The rate of its TSC in kHz, which is the guests', too.
tsc_khz() {
	local dir

	dir=$(dirname "${BASH_SOURCE[0]}")/guest
	if [[ ! -x $dir/tsc-khz ]]; then
		dir=$(cache_entry "tsc-khz-$(hash_files "$dir/tsc-khz.c")" build_tsc_khz "$dir/tsc-khz.c")
	fi
	"$dir/tsc-khz"
}

build_tsc_khz() {
	gcc -O2 -Wall -Wextra -o "$1/tsc-khz" "$2"
}

# ---------------------------------------------------------------- the module

# module_files DIR: its sources there, by their paths below DIR; before them Kbuild and
# dkms.conf, which Kbuild reads
module_files() {
	(cd "$1" && printf '%s\n' Kbuild dkms.conf {,*/,*/*/}*.[ch]) | grep -E '^(Kbuild|dkms\.conf|my_pmu\.h|([a-z]+/(x86/|riscv/)?)?pmu_[a-z0-9_]+\.[ch])$'
}

# copy_module FROM TO
copy_module() {
	local files

	mapfile -t files < <(module_files "$1")
	(cd "$1" && cp --parents -- "${files[@]}" "$2")
}

# ---------------------------------------------------------------- the release

# The Debian releases that the lab runs on, and what each has: the series of stock kernels,
# its own first; the series of QEMU.
declare -A release_kernels=([bookworm]='6.1 6.12' [trixie]=6.12)
declare -A release_qemu=([bookworm]=7.2 [trixie]=10.0)

# os_release FIELD: of the machine's file of that name, or for tests of another one
os_release() {
	(
		# shellcheck source=/dev/null
		source "${MY_PMU_OS_RELEASE:-/etc/os-release}" 2> /dev/null || true
		printf '%s\n' "${!1:-}"
	)
}

# debian_release: prints the codename of the machine's Debian, or refuses a machine on which
# there can be no lab.
debian_release() {
	local id codename name architecture

	id=$(os_release ID)
	codename=$(os_release VERSION_CODENAME)
	if [[ $id != debian || -z ${release_kernels[${codename:-none}]:-} ]]; then
		name=$(os_release PRETTY_NAME)
		die "this is ${name:-no Debian}; the lab runs on Debian 12 and 13 (the module itself builds on any distribution, with make: docs/using.md)"
	fi
	architecture=$(uname -m)
	[[ $architecture == x86_64 ]] || die "this machine is $architecture; the lab runs on x86_64"
	printf '%s\n' "$codename"
}

# kernel_series: prints the series of stock kernels that the release has, its own first
kernel_series() {
	local name

	name=$(debian_release)
	tr ' ' '\n' <<< "${release_kernels[$name]}"
}

default_kernel() {
	local name

	name=$(debian_release)
	printf '%s\n' "${release_kernels[$name]%% *}"
}

# riscv64's kernels are those of Debian 13, which is its first release, and of unstable.
riscv64_kernels='6.12 unstable'

# check_riscv64_kernel SERIES
check_riscv64_kernel() {
	[[ " $riscv64_kernels " == *" $1 "* ]] ||
		refuse "there is no kernel $1 for riscv64: give one of $riscv64_kernels"
}

default_qemu() {
	local name

	name=$(debian_release)
	printf '%s\n' "${release_qemu[$name]}"
}

# ---------------------------------------------------------------- kernel logs

# What a sane run never says, matched against the whole kernel log; and what
# stock kernels say at boot of the CPU that we emulate.
trouble='Kernel panic|WARNING:|BUG:|kernel BUG at|Oops|general protection fault|unchecked MSR access error'
trouble+='|Uhhuh|Dazed and confused|nobody cared|INFO: task .* blocked|rcu.*detected.*stall'
# Debug kernels have more to say: lockdep, KASAN and KCSAN (most of it is in
# "WARNING:" and "BUG:"), debug objects, kmemleak, slub, the watchdogs; and when
# one of them gives up. "page allocation failure" is no trouble: faults are
# injected on purpose.
trouble+='|INFO: (possible|trying|suspicious|task)|suspicious RCU usage|possible deadlock|bad unlock balance'
trouble+='|DEBUG_LOCKS_WARN_ON|turning off the locking correctness validator'
trouble+='|UBSAN:|ODEBUG:|kmemleak: |BUG [^ ]+ \(|sleeping function called from invalid context'
trouble+='|soft lockup|hard LOCKUP|rcu: INFO'
harmless='(Spectre V2|Speculative Return Stack Overflow|RETBleed|TAA|MDS|MMIO Stale Data)[ :]+WARNING:'
harmless+='|kmemleak: (Kernel memory leak detector initialized|Automatic memory scanning thread (started|ended))'
# When its allocations are made to fail: it scans more than it must.
harmless+='|kmemleak: Cannot allocate a scan area, scanning the full object'
# It cannot tell where an access was reordered to. The race is told all the same.
harmless+='|WARNING: .* at kernel/kcsan/report\.c'

# trouble_in FILE: prints its lines that say so; returns 1 if there are none.
trouble_in() {
	without_kernel_races < "$1" | grep -aE "$trouble" | grep -avE "$harmless"
}

# Linux has data races of its own, and KCSAN tells of them sooner or later. Only
# those stay in which a module's code is at one of the two ends: the first line of a
# stack, which follows "... by task 1 on cpu 0:", names it, "f+0x1/0x2 [my_pmu]". A
# report ends with a line of equals signs; one that has no end stays, too.
without_kernel_races() {
	LC_ALL=C awk '
		/BUG: KCSAN: / { title = $0 }
		title != "" && end && / \[[a-z]/ { print title; title = "" }
		{ end = / by (task|interrupt).*:$/ }
		/==========/ { title = "" }
		!/BUG: KCSAN: /
		END { if (title != "") print title }'
}

# ---------------------------------------------------------------- the PMU

# QEMU's model for a CPU like Intel's Skylake, with all that QEMU can emulate. It emulates MWAIT
# by spinning, and an offline CPU would use it. A CPU with ERMS or FSRM has memory cleared and
# copied by the byte, which is what QEMU then does.
# shellcheck disable=SC2034 # of those that source this
default_cpu=max,vendor=GenuineIntel,family=6,model=94,stepping=3,la57=off,monitor=off,erms=off,fsrm=off,pmu=on

# What a PMU is described by, and the property of QEMU's CPU for each.
declare -A pmu_property=(
	[version]=pmu-version [gp]=pmu-gp [gp-bitmap]=pmu-gp-bitmap [width]=pmu-width
	[fixed]=pmu-fixed [fixed-width]=pmu-fixed-width [fixed-bitmap]=pmu-fixed-bitmap
	[ebx]=pmu-ebx [ebx-length]=pmu-ebx-length
	[full-width]=full-width-write [pdcm]=pdcm [hypervisor]=hypervisor
	[broken]=pmu-broken [broken-counters]=pmu-broken-counters [starved]=pmu-starved
	[paused]=pmu-paused [pmi-skid]=pmu-pmi-skid [acr]=pmu-acr [reload]=pmu-reload [extra]=pmu-extra
	[firmware]=pmu-firmware [faults]=pmu-faults [odometer]=pmu-odometer
	[model]=model
	[vendor]=vendor [core]=perfctr-core [freeze]=pmu-freeze [free-running]=pmu-free-running
)
pmu_keys='version gp gp-bitmap width fixed fixed-width fixed-bitmap ebx ebx-length'
pmu_keys+=' starved paused pmi-skid model (numbers)'
pmu_keys+=', full-width pdcm hypervisor acr reload extra faults odometer (on, off)'
pmu_keys+=', broken (a word), broken-counters firmware (64-bit masks)'
pmu_keys+=', vendor (amd, hygon), and of these core freeze free-running (on, off)'

# pmu_pattern KEY: what its values look like, for a regular expression
pmu_pattern() {
	case $1 in
	full-width | pdcm | hypervisor | acr | reload | extra | faults | odometer) printf 'on|off\n' ;;
	core | freeze | free-running) printf 'on|off\n' ;;
	vendor) printf 'amd|hygon\n' ;;
	broken) printf '[a-z][a-z-]*\n' ;;
	# no leading zeros: QEMU would take the number for an octal one
	broken-counters | firmware) printf '0|[1-9][0-9]{0,18}|0x[0-9a-fA-F]{1,16}\n' ;;
	*) printf '0|[1-9][0-9]{0,9}|0x[0-9a-fA-F]{1,8}\n' ;;
	esac
}

# pmu_properties KEY=VALUE,... | off: prints what to append to QEMU's CPU model
# to give it this PMU. Bad usage ends the caller's $(...) with status 2. Which
# values can be, and together, QEMU knows.
pmu_properties() {
	local list=$1 rest=$1, word key value properties=,pmu=on

	if [[ $list == off ]]; then
		printf ',pmu=off\n'
		return
	fi
	while [[ -n $rest ]]; do
		word=${rest%%,*} rest=${rest#*,}
		key=${word%%=*} value=${word#*=}
		if [[ $word == ?*=* && -z ${pmu_property[$key]:-} ]]; then
			bad_pmu "$list" "there is no key $key; the keys are $pmu_keys"
		elif [[ $word != ?*=* ]]; then
			bad_pmu "$list" "'$word' is no KEY=VALUE; the keys are $pmu_keys"
		elif [[ $properties == *",${pmu_property[$key]}="* ]]; then
			bad_pmu "$list" "$key= is there twice; the keys are $pmu_keys"
		elif [[ ! $value =~ ^($(pmu_pattern "$key"))$ ]]; then
			bad_pmu "$list" "'$word' has a bad value; the keys are $pmu_keys"
		fi
		properties+=,${pmu_property[$key]}=$value
	done
	if [[ $properties == *,vendor=* && $properties == *,model=* ]]; then
		bad_pmu "$list" "model= is that of a CPU of Intel's: leave out vendor="
	fi
	name_cpu
	printf '%s\n' "$properties"
}

# AMD's PMUs are told apart by family, too: these are of Zen, Zen 2 and Zen 4, and of Dhyana.
name_cpu() {
	case $properties in
	*,vendor=hygon*) properties=${properties/vendor=hygon/vendor=HygonGenuine,family=24,model=0,stepping=1} ;;
	*,vendor=amd*)
		case $properties in
		*,pmu-version=2*) properties=${properties/vendor=amd/vendor=AuthenticAMD,family=25,model=17,stepping=1} ;;
		*,perfctr-core=off*) properties=${properties/vendor=amd/vendor=AuthenticAMD,family=23,model=1,stepping=2} ;;
		*) properties=${properties/vendor=amd/vendor=AuthenticAMD,family=23,model=49,stepping=0} ;;
		esac
		;;
	esac
}

# QEMU's own model of a RISC-V CPU, with the extensions that filter by mode and interrupt at an
# overflow.
# shellcheck disable=SC2034 # of those that source this
default_riscv64_cpu=rv64,sscofpmf=true,smcntrpmf=true

# riscv64_pmu_properties KEY=VALUE,...: the same for riscv64, whose QEMU is not ours. The keys are
# its -cpu's.
riscv64_pmu_properties() {
	local rest=$1, word properties='' keys='the keys are sscofpmf smcntrpmf (on, off), pmu-mask (32-bit mask)'

	while [[ -n $rest ]]; do
		word=${rest%%,*} rest=${rest#*,}
		if [[ $properties, == *",${word%%=*}="* ]]; then
			refuse "PMU ${1@Q}: ${word%%=*}= is there twice; $keys"
		fi
		[[ $word =~ ^((sscofpmf|smcntrpmf)=(on|off)|pmu-mask=(0|[1-9][0-9]{0,9}|0x[0-9a-fA-F]{1,8}))$ ]] ||
			refuse "PMU ${1@Q}: '$word' is none of riscv64's; $keys"
		properties+=,$word
	done
	printf '%s\n' "$properties"
}

bad_pmu() {
	say "PMU ${1@Q}: $2; or off"
	exit 2
}

# ---------------------------------------------------------------- settings of make

# For what make takes from its user.
refuse() {
	say "$*"
	exit 2
}

# read_machine: sets arch, kernel, smp and cpu by ARCH, KERNEL, SMP and CPU. None of these, nor
# what make was given, is for the makes that build modules and QEMU.
# shellcheck disable=SC2034 # of those that source this
read_machine() {
	arch=${ARCH:-x86_64} kernel=${KERNEL:-} smp=${SMP:-4} cpu=${CPU:-3}
	if [[ $kernel == *-riscv64 ]]; then
		arch=riscv64 kernel=${kernel%-riscv64}
	fi
	case $arch in
	x86_64) kernel=${kernel:-$(default_kernel)} ;;
	riscv64)
		kernel=${kernel:-${riscv64_kernels%% *}} smp=${SMP:-1} cpu=${CPU:-0}
		check_riscv64_kernel "$kernel"
		kernel+=-riscv64
		;;
	*) refuse "ARCH=$arch: give x86_64 or riscv64" ;;
	esac
	unset ARCH MAKEFLAGS MAKEOVERRIDES
	check_smp "$smp"
}

# check_pmu LIST: or refuses
check_pmu() {
	if [[ -n $1 && $arch == riscv64 ]]; then
		riscv64_pmu_properties "$1" > /dev/null
	elif [[ -n $1 ]]; then
		pmu_properties "$1" > /dev/null
	fi
}

check_smp() {
	[[ $1 =~ ^[1-9][0-9]{0,2}$ ]] || refuse "SMP=$1: give a number of CPUs, like 4"
}

# cpus_of LIST SMP: prints the CPUs of a list like 3 or 0-2,5, or all, one in a line
cpus_of() {
	local part range='^([0-9]{1,3})(-([0-9]{1,3}))?$' last

	if [[ $1 == all ]]; then
		seq 0 $(($2 - 1))
		return
	fi
	for part in ${1//,/ }; do
		[[ $part =~ $range ]] || return
		last=$((10#${BASH_REMATCH[3]:-${BASH_REMATCH[1]}}))
		((last < $2)) || return
		seq $((10#${BASH_REMATCH[1]})) $last
	done | sort -nu
}

# check_cpus LIST SMP: prints them, or refuses
check_cpus() {
	local cpus

	cpus=$(cpus_of "$1" "$2") || cpus=''
	[[ -n $cpus ]] || refuse "CPU=$1: the guest has CPUs 0 to $(($2 - 1)) (SMP=$2); give some of these, as 0 or 0-1, or all"
	printf '%s\n' "$cpus"
}

# ---------------------------------------------------------------- the cache
#
# An entry is a directory that is complete or absent. It is made in a
# temporary directory beside it and renamed when finished, so a run that is
# killed half-way leaves nothing that a later one could take for an entry.

case ${MY_PMU_CACHE:-/} in
/*) ;;
*) die "MY_PMU_CACHE=$MY_PMU_CACHE: give a path that begins with /" ;;
esac

cache_root() {
	printf '%s\n' "${MY_PMU_CACHE:-${HOME:?neither MY_PMU_CACHE nor HOME is set}/.cache/my_pmu}"
}

# A short name for what comes in on standard input.
content_hash() {
	local sum

	sum=$(sha256sum)
	printf '%s\n' "${sum:0:16}"
}

# The content, and the base names, of some files, in the order given: of all by one program,
# for each run of the lab asks this of a hundred.
hash_files() {
	if (($# == 0)); then
		content_hash < /dev/null
		return
	fi
	sha256sum -- "$@" | sed -E 's,^([0-9a-f]+)  (.*/)?,\1  - ,' | content_hash
}

# hash_code NAME...: functions and variables of a script, whose other parts may change
hash_code() {
	local name

	for name in "$@"; do
		declare -f "$name" || declare -p "$name"
	done | content_hash
}

# with_lock [--shared] NAME COMMAND...: runs COMMAND while no other run is under NAME; with
# --shared others may be that say so, too.
# Children inherit the lock on purpose: when we are killed, it stays held
# until whatever we had started has stopped writing.
with_lock() {
	local mode=--exclusive name lock_dir fd

	if [[ $1 == --shared ]]; then
		mode=--shared
		shift
	fi
	name=$1
	shift
	lock_dir=$(cache_root)/.lock
	mkdir -p "$lock_dir" || die "cannot create $lock_dir"
	exec {fd}> "$lock_dir/$name"
	if ! flock "$mode" --nonblock "$fd"; then
		say "waiting for another run to finish with $name"
		flock "$mode" "$fd"
	fi
	"$@"
	exec {fd}>&-
}

# cache_entry KEY FUNCTION ARGS...: prints the path of entry KEY, made by
# `FUNCTION DIRECTORY ARGS...` if there is none yet. Never call it where bash
# suspends errexit (if, ||, &&): FUNCTION relies on it.
cache_entry() {
	# Versions have colons, which configure scripts and PATH take amiss.
	local key=${1//[:\/]/_} path
	shift

	path=$(cache_root)/$key
	if [[ ! -d $path ]]; then
		with_lock "$key" make_cache_entry "$path" "$key" "$@" >&2
	fi
	touch "$path"	# see scripts/cache
	printf '%s\n' "$path"
}

make_cache_entry() {
	local path=$1 key=$2 fill=$3 temp
	shift 3

	# Another run may have made it while we waited for the lock.
	if [[ -d $path ]]; then
		return
	fi
	# We hold the key's lock, so whatever is there was left by a killed run.
	temp=$(cache_root)/.tmp/$key
	rm -rf "$temp"
	mkdir -p "$temp"
	"$fill" "$temp" "$@"
	mv -T "$temp" "$path"
}

# fetch NAME FUNCTION ARGS...: prints the path of the entry that FUNCTION
# makes from what the package lists say and prints. When that fails the lists
# may be too old, so they are read again; when it fails still (no network, most
# likely), the last entry that was had under NAME will do.
fetch() {
	local name=$1 path status last
	shift

	# Not `if path=...`: that would suspend errexit inside.
	set +e
	path=$(set -e && "$@")
	status=$?
	if ((status != 0)) && lists_may_be_old; then
		apt_refresh_now
		path=$(set -e && "$@")
		status=$?
	fi
	set -e
	if ((status == 0)); then
		remember "$name" "${path##*/}"
	else
		last=$(recall "$name")
		path=$(cache_root)/$last
		if [[ -z $last || ! -d $path ]]; then
			exit "$status"
		fi
		say "going on with what is in the cache: $last"
	fi
	printf '%s\n' "$path"
}

# remember NAME VALUE and recall NAME: the last value that worked, for days
# without a network.
remember() {
	local dir

	dir=$(cache_root)/.last
	mkdir -p "$dir"
	if [[ $(recall "$1") != "$2" ]]; then
		printf '%s\n' "$2" > "$dir/$1.$$"
		mv "$dir/$1.$$" "$dir/$1"
	fi
}

recall() {
	local file

	file=$(cache_root)/.last/$1
	if [[ -f $file ]]; then
		cat "$file"
	fi
}

# ---------------------------------------------------------------- apt
#
# The machine's own sources, with lists and caches of our own, so that source
# packages can be had and nothing on the machine is edited. Works as root and
# as anybody.

# Empty, or "backports", "unstable" or "trixie": the release's backports, or that suite of
# Debian's, instead, and nothing else. Or "bookworm", which has its backports, too.
apt_suite=''
# Empty, or "riscv64": its packages instead of the machine's.
apt_architecture=''

# What the names of lists and of packages' trees have behind them.
apt_suffix() {
	printf '%s%s\n' "${apt_suite:+-$apt_suite}" "${apt_architecture:+-$apt_architecture}"
}

apt_dir() {
	printf '%s/.apt%s\n' "$(cache_root)" "$(apt_suffix)"
}

# with_backports COMMAND...: has the backports for COMMAND. They have lists of
# their own, made when they are first asked for: what is newest in the machine's
# own sources shall not depend on them, nor on a mirror having any.
with_backports() {
	local apt_suite=backports

	"$@"
}

# with_unstable COMMAND...: has unstable for COMMAND, likewise. The machine's
# archive keyring verifies it: unstable is signed with the releases' keys.
with_unstable() {
	local apt_suite=unstable

	"$@"
}

# with_trixie COMMAND...: has Debian 13 for COMMAND, on Debian 12, too; of its updates and
# security nothing. Its keys are those of the releases before it, as well.
with_trixie() {
	local apt_suite=trixie

	"$@"
}

# with_bookworm COMMAND...: has Debian 12 and its backports for COMMAND, on Debian 13, too.
with_bookworm() {
	local apt_suite=bookworm

	"$@"
}

# with_riscv64 COMMAND...: has the packages for riscv64, of the suite that is chosen, for COMMAND.
with_riscv64() {
	local apt_architecture=riscv64

	"$@"
}

# One-line sources, each `deb` line followed by its `deb-src` twin.
sources_from_list() {
	if [[ -n $apt_architecture ]]; then
		sed -n -E 's/^[[:space:]]*deb[[:space:]](.*)/deb \1/p' | sed -E 's/(\[.*)\barch=[^] ]*/\1/'
		return
	fi
	sed -n -E 's/^[[:space:]]*deb[[:space:]](.*)/deb \1\ndeb-src \1/p'
}

# deb822 sources; everything but the Types field, keys included, stays. Of another architecture
# no source is wanted, and the machine's own may be named.
sources_from_deb822() {
	if [[ -n $apt_architecture ]]; then
		sed -E -e '/^[Aa]rchitectures:/d' -e 's/^([Tt][Yy][Pp][Ee][Ss]):.*/\1: deb/'
		return
	fi
	sed -E '/^[Tt][Yy][Pp][Ee][Ss]:/{ /[[:space:]]deb([[:space:]]|$)/ s/:.*/: deb deb-src/ }'
}

# The names that the main suite may have in sources, for a regular expression.
# Only a release has backports; a machine that is unstable itself has unstable.
main_suite() {
	local others='stable|oldstable'

	if [[ $apt_suite == unstable ]]; then
		others+='|testing|unstable|sid'
	fi
	printf '(%s|%s)\n' "$(os_release VERSION_CODENAME)" "$others"
}

# Entries of the main suite, with the other one instead. Debian's archive has a
# component main; somebody else's that is named after the release most often
# has not, nor the other suite.
other_suite_of_list() {
	local lines="\\1$apt_suite\\4"

	case $apt_suite in
	backports) lines='\1\3-backports\4' ;;
	bookworm) lines+='\n\1bookworm-backports\4' ;;
	esac
	sed -n -E "s/^([[:space:]]*deb([[:space:]]+\[[^]]*\])?[[:space:]]+[^[:space:]]+[[:space:]]+)$(main_suite)([[:space:]](.*[[:space:]])?main([[:space:]].*)?)\$/$lines/p"
}

# The same for deb822; what else a stanza says, keys included, stays.
other_suite_of_deb822() {
	local suites=$apt_suite

	if [[ $apt_suite == bookworm ]]; then
		suites+=' bookworm-backports'
	fi
	awk -v main="^$(main_suite)\$" -v other="$suites" '
		function finish() {
			if (suite != "" && components ~ / main /)
				printf "%sSuites: %s\n\n", rest, suite
			rest = suite = components = field = ""
		}
		/^[[:space:]]*$/ { finish(); next }
		/^#/ { next }
		/^[^[:space:]]/ { sub(/:/, ": "); field = tolower($1) }
		field == "components:" { gsub(/[[:space:]]+/, " "); components = components $0 " " }
		field == "suites:" {
			for (i = 1; i <= NF; i++)
				if ($i ~ main)
					suite = other == "backports" ? $i "-" other : other
			next
		}
		{ rest = rest $0 "\n" }
		END { finish() }'
}

# Standard input, or what is asked for instead of it.
suite_of() {
	if [[ -n $apt_suite ]]; then
		"other_suite_of_$1"
	else
		cat
	fi
}

write_apt_sources() {
	local parts=$1 file

	rm -rf "$parts"
	mkdir -p "$parts"
	for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
		if [[ -f $file ]]; then
			suite_of list < "$file" | sources_from_list > "$parts/${file##*/}"
		fi
	done
	# sources.list itself has no .list ending that apt would look for.
	if [[ -f $parts/sources.list ]]; then
		mv "$parts/sources.list" "$parts/00-machine.list"
	fi
	for file in /etc/apt/sources.list.d/*.sources; do
		if [[ -f $file ]]; then
			suite_of deb822 < "$file" | sources_from_deb822 > "$parts/${file##*/}"
		fi
	done
}

# apt reads APT_CONFIG first and the machine's files after it, so that they
# would win. We take the machine's settings as they are now, without its
# hooks (they act on the machine's own caches), and let apt read nothing else:
# not what is installed here either, for we look for what there is to be had.
write_apt_config() {
	local dir=$1

	unset APT_CONFIG
	apt-config dump |
		grep -v -E "^(APT::Update::(Pre|Post)-Invoke|DPkg::(Pre|Post)-${apt_architecture:+|APT::Architecture})"
	if [[ -n $apt_architecture ]]; then
		printf 'APT::Architecture%s "%s";\n' '' "$apt_architecture" 's::' "$apt_architecture"
	fi
	cat <<-END
		Dir::Etc::main "/dev/null";
		Dir::Etc::parts "/dev/null";
		Dir::Etc::sourcelist "/dev/null";
		Dir::Etc::sourceparts "$dir/sources";
		Dir::State::lists "$dir/lists";
		Dir::State::status "/dev/null";
		Dir::Cache "$dir/cache";
		Dir::Cache::pkgcache "pkgcache.bin";
		Dir::Cache::srcpkgcache "srcpkgcache.bin";
		APT::Sandbox::User "$(id -un)";
		Acquire::Languages "none";
		Acquire::Retries "2";
	END
}

apt_prepare() {
	local dir

	debian_release > /dev/null
	dir=$(apt_dir)
	mkdir -p "$dir/lists/partial" "$dir/cache/archives/partial"
	write_apt_sources "$dir/sources"
	write_apt_config "$dir" > "$dir/apt.conf.$$"
	mv "$dir/apt.conf.$$" "$dir/apt.conf"
}

private_apt() {
	APT_CONFIG=$(apt_dir)/apt.conf "$@"
}

# The time of the last update is that of the last attempt: a machine without
# a network must not wait for time-outs at every run.
lists_stamp() {
	printf '%s/updated\n' "$(apt_dir)"
}

# While many tests run side by side, all of them have the same lists: MY_PMU_LISTS=keep.
lists_are_fresh() {
	[[ ${MY_PMU_LISTS:-} == keep && -e $(lists_stamp) ]] ||
		[[ -n $(find "$(lists_stamp)" -mmin -1440 2> /dev/null) ]]
}

apt_update() {
	local log

	apt_prepare
	say "reading the package lists${apt_suite:+ of $apt_suite}${apt_architecture:+ for $apt_architecture} (apt-get update, in a directory of the lab's own)"
	log=$(apt_dir)/update.log
	if ! private_apt apt-get update -q > "$log" 2>&1 || grep -q '^[WE]: Failed to fetch' "$log"; then
		say "apt-get update failed (see $log); going on with the lists there are"
	fi
	touch "$(lists_stamp)"
}

# Brings the lists up to date if they are older than a day.
apt_refresh() {
	if ! lists_are_fresh; then
		with_lock apt apt_update_if_stale
	fi
}

lists_may_be_old() {
	[[ ${MY_PMU_LISTS:-} != keep && -n $(find "$(lists_stamp)" -mmin +10 2> /dev/null) ]]
}

apt_refresh_now() {
	with_lock apt apt_update
}

apt_update_if_stale() {
	if ! lists_are_fresh; then
		apt_update
	fi
}

# resolve NAME FUNCTION ARGS...: prints what `FUNCTION ARGS...` prints, run
# once per state of the package lists.
resolve() {
	local name=$1 memo
	shift

	apt_refresh
	memo=$(apt_dir)/resolved/$name
	if [[ ! $memo -nt $(lists_stamp) ]]; then
		with_lock apt make_memo "$memo" "$@" >&2
	fi
	cat "$memo"
}

make_memo() {
	local memo=$1 answer
	shift

	mkdir -p "${memo%/*}"
	answer=$("$@")
	if [[ -z $answer ]]; then
		die "the machine's package sources have no package for: ${memo##*/}"
	fi
	printf '%s\n' "$answer" > "$memo.$$"
	mv "$memo.$$" "$memo"
}

# The newest version of a binary package, and of a source package: of all its
# versions, or source_version NAME SERIES for those that begin with, say, 10.0.
package_version() {
	private_apt apt-cache madison "$1" | awk -F ' *[|] *' '$3 ~ /Packages/ { print $2 }' | sort_versions | tail -n 1
}

source_version() {
	private_apt apt-cache showsrc --only-source "$1" | sed -n 's/^Version: //p' |
		versions_of_series "${2:-}" | sort_versions | tail -n 1
}

# A machine may have backports among its own sources; who names no series
# means the release's.
versions_of_series() {
	awk -v series="$1" '
		series == "" { if ($0 !~ /~bpo/) print; next }
		{ upstream = $0; sub(/^[0-9]+:/, "", upstream) }
		index(upstream, series) == 1 && substr(upstream, length(series) + 1) !~ /^[0-9]/'
}

# lab_versions: prints the versions of the source packages of QEMU and of each kernel that the
# release has
lab_versions() {
	local qemu series list

	qemu=$(default_qemu)
	resolve "qemu-source-$qemu" source_version qemu "$qemu"
	list=$(kernel_series)
	for series in $list; do
		resolve "linux-source-$series" package_version "linux-source-$series"
	done
}

# dpkg's order of versions ("~" sorts before nothing), which sort -V shares.
sort_versions() {
	sort -V
}

# The PACKAGE=VERSION of some packages, and of whatever they depend on, as apt
# would install them on a machine that has nothing.
with_dependencies() {
	private_apt apt-get install -q --simulate --no-install-recommends "$@" |
		sed -n -E 's/^Inst ([^ ]+) \(([^ ]+) .*/\1=\2/p'
}

# Downloads PACKAGE=VERSION... into the current directory.
download_packages() {
	local log=download.log what=${*:1:4}

	if (($# > 4)); then
		what+=" and $(($# - 4)) more"
	fi
	say "downloading $what"
	if ! private_apt apt-get download -q "$@" > "$log" 2>&1; then
		tail -n 3 "$log" >&2
		die "could not download $what"
	fi
	rm "$log"
}

# package_tree NAME: prints the path of the unpacked, not installed, package.
package_tree() {
	fetch "$1$(apt_suffix)" find_package_tree "$1"
}

find_package_tree() {
	local name=$1 version

	version=$(resolve "$name" package_version "$name")
	cache_entry "$name-$version${apt_architecture:+-$apt_architecture}" unpack_packages "$name=$version"
}

# whole_tree NAME...: the same of packages and all that they depend on, in one tree.
whole_tree() {
	fetch "whole-$*$(apt_suffix)" find_whole_tree "$@"
}

find_whole_tree() {
	local list packages

	list=$(resolve "whole-$*" with_dependencies "$@")
	mapfile -t packages <<< "$list"
	cache_entry "whole-$1-$(content_hash <<< "$list")" unpack_packages "${packages[@]}"
}

unpack_packages() {
	local dir=$1 deb
	shift

	mkdir -p "$dir/.deb"
	(cd "$dir/.deb" && download_packages "$@")
	for deb in "$dir"/.deb/*.deb; do
		dpkg-deb -x "$deb" "$dir"
	done
	rm -r "$dir/.deb"
}

# ---------------------------------------------------------------- programs of another release

is_dynamic() {
	[[ $(head -c 4 "$1" | tr -d '\0') == $'\x7fELF' ]] && readelf --program-headers --wide "$1" | grep ' INTERP ' > /dev/null
}

# A program's interpreter is an absolute path, that of the machine's C library;
# so it becomes a script that runs it under the one beside it.
wrap_program() {
	local root=$1 program=$2

	mv "$program" "$program.elf"
	write_wrapper "$root" "$program" "${program#"$root"/}.elf"
}

# write_wrapper ROOT SCRIPT PROGRAM: SCRIPT runs PROGRAM, a path below ROOT.
# argv[0] stays: gcc finds its parts by it, and modpost the rest of itself.
write_wrapper() {
	local root=$1 script=$2 program=$3 up

	up=$(realpath -m --relative-to="${script%/*}" "$root")
	cat > "$script" <<-END
		#!/bin/sh
		root=\${0%/*}/$up
		lib=\$root/usr/lib/x86_64-linux-gnu
		exec "\$lib/ld-linux-x86-64.so.2" --library-path "\$lib" --argv0 "\$0" "\$root/$program" "\$@"
	END
	chmod 755 "$script"
}

# ---------------------------------------------------------------- images of kernels

# Prints the number of SIZE bytes at OFFSET.
number_at() {
	od -A n -t "u$3" -j "$2" -N "$3" "$1" | tr -d ' '
}

# What a vmlinuz unpacks when it starts, which takes an emulated CPU seconds.
# The offsets are those of the kernel's Documentation/arch/x86/boot.rst:
# setup_sects, payload_offset, payload_length. The payload's last four bytes
# are its unpacked size.
extract_vmlinux() {
	local file=$1 image=$2 setup_sects offset length unpack

	setup_sects=$(number_at "$file" 0x1f1 1)
	offset=$(number_at "$file" 0x248 4)
	length=$(number_at "$file" 0x24c 4)
	offset=$(((setup_sects + 1) * 512 + offset))
	case $(od -A n -t x1 -j "$offset" -N 4 "$file" | tr -d ' ') in
	fd377a58) unpack=(xz -dc) ;;
	28b52ffd) unpack=(zstd -qdc) ;;
	02214c18) unpack=(lz4 -dc) ;;
	*) return ;;
	esac
	dd if="$file" bs=1M iflag=skip_bytes,count_bytes skip="$offset" count=$((length - 4)) status=none |
		"${unpack[@]}" > "$image"
}

# arrange_image DIR RELEASE: of a linux-image package that is unpacked in DIR/root, all that
# lab-kernel promises of a directory but the headers.
arrange_image() {
	local dir=$1 release=$2 boot=$1/root/boot

	# Packages may rely on /lib being /usr/lib.
	if [[ ! -d $dir/root/lib ]]; then
		ln -s usr/lib "$dir/root/lib"
	fi
	ln -s "root/lib/modules/$release" "$dir/modules"
	if [[ -e $dir/modules/vmlinuz ]]; then
		mv "$dir/modules/vmlinuz" "$dir/modules/config" "$dir"
	else
		mv "$boot/vmlinuz-$release" "$dir/vmlinuz"
		mv "$boot/config-$release" "$dir/config"
	fi
	printf '%s\n' "$release" > "$dir/release"
	if grep -qx CONFIG_PVH=y "$dir/config"; then
		extract_vmlinux "$dir/vmlinuz" "$dir/vmlinux"
	fi
	rm -rf "$dir/modules/build" "$dir/modules/source" "$boot"
	depmod -b "$dir/root" "$release"
}

# ---------------------------------------------------------------- built kernels and modules

# compiler_of HEADERS: the gcc-NN that Debian built this kernel with. The build
# tree of a kernel that was built here names none.
compiler_of() {
	if [[ -f $1/.kernelvariables ]]; then
		grep -ohE 'gcc-[0-9]+' "$1/.kernelvariables" | head -n 1 || true
	fi
}

# show_build_log DIR: its build.log, with the files of DIR/src named as in the
# checkout, so that an editor can follow them.
show_build_log() {
	sed -e "s,$1/src/,,g" -e '/^make.*directory/d' "$1/build.log"
}

# add_built_kernel DIR BUILD: from the build tree BUILD, all that lab-kernel
# promises of a directory but its headers. Its modules are those that are built.
add_built_kernel() {
	local dir=$1 build=$2 release

	release=$(< "$build/include/config/kernel.release")
	mkdir -p "$dir/root/lib/modules/$release"
	cp "$build"/modules.{builtin,builtin.modinfo,order} "$dir/root/lib/modules/$release"
	if [[ -s $build/modules.order ]]; then
		make -s -C "$build" INSTALL_MOD_PATH="$dir/root" INSTALL_MOD_STRIP=1 DEPMOD=true modules_install
		rm -f "$dir/root/lib/modules/$release"/{build,source}
	fi
	depmod -b "$dir/root" "$release"
	ln -s "root/lib/modules/$release" "$dir/modules"
	cp "$build/.config" "$dir/config"
	cp "$build/vmlinux" "$dir/vmlinux"
	cp -L "$build/arch/x86/boot/bzImage" "$dir/vmlinuz"
	printf '%s\n' "$release" > "$dir/release"
}
