#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# Minimal systems of a Debian release, from the machine's own mirror, for tests that have one in
# a chroot. Sourced behind scripts/lib.sh. Whoever makes one has called apt_refresh, as apt names
# a source only if it has a list of it.

# What is put before a command that only root can run.
as_root=()

# ---------------------------------------------------------------- the machine's apt

# sources_of RELEASE: the machine's entries of Debian's main, updates and security, for it
sources_of() {
	local release=$1

	# shellcheck disable=SC2016 # the variables are apt's
	private_apt apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Identifier: Packages' |
		sed -n -E "s,^(https?:[^ ]*) $(main_suite)(|-updates|-security) main\$,deb \1 $release\3 main,p" | sort -u
}

# What the machine says of proxies and of how to trust a mirror; not its hooks, which are
# for programs that are not in the chroot.
apt_settings() {
	local scheme proxy

	for scheme in http https; do
		proxy=${scheme}_proxy
		if [[ -n ${!proxy:-} ]]; then
			printf 'Acquire::%s::Proxy "%s";\n' "$scheme" "${!proxy}"
		fi
	done
	apt-config dump | grep -E '^Acquire::(http|https|Check-|Retries)' || true
}

# copy_keys DIR: all that the machine's apt trusts. Debian 12 has other names for some of
# them, and apt takes a key's format from its name.
copy_keys() {
	local dir=$1 key name

	mkdir "$dir"
	{
		printf '%s\n' /etc/apt/trusted.gpg /etc/apt/trusted.gpg.d/*
		sed -n -E 's/.*[Ss]igned-[Bb]y[=:][[:space:]]*([^] ]*).*/\1/p' "$(apt_dir)"/sources/* | tr ',' '\n'
	} | sort -u | while read -r key; do
		if [[ $key != /* || ! -s $key ]]; then
			continue
		fi
		name=${key##*/}
		if grep -q -e '-----BEGIN PGP' "$key"; then
			cp "$key" "$dir/${name%.*}.asc"
		else
			cp "$key" "$dir/${name%.*}.gpg"
		fi
	done
}

# ---------------------------------------------------------------- the system

# shellcheck disable=SC2317 # called by name
make_base() {
	local dir=$1 release=$2 sources=$3 packages
	shift 3

	packages=$*
	copy_keys "$dir/keys"
	apt_settings > "$dir/apt.conf"
	say "$release: making a minimal system"
	if ! "${as_root[@]}" env TMPDIR="$dir" mmdebstrap --variant=minbase --include="${packages// /,}" --keyring="$dir/keys" \
		--aptopt="$dir/apt.conf" "$release" "$dir/base.tar" - <<< "$sources" > "$dir/log" 2>&1; then
		tail -n 5 "$dir/log" >&2
		die "mmdebstrap has failed"
	fi
}

# base_system RELEASE PACKAGE...: prints a directory with base.tar, a minimal system that has
# these, and keys/, by which its apt trusts the mirror. It is made anew each month: who begins has
# the newest.
base_system() {
	local release=$1 sources

	sources=$(sources_of "$release")
	[[ -n $sources ]] || die "the machine's package sources have no Debian"
	cache_entry "fresh-base-$release-$({ hash_code make_base copy_keys apt_settings &&
		echo "$sources $*" && date +%Y-%m; } | content_hash)" make_base "$release" "$sources" "${@:2}"
}
