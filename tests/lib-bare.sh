#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# What the runners of tests/bare share. Sourced, with here and work set.
# shellcheck disable=SC2034,SC2154

bare_cpu=max,vendor=GenuineIntel,family=6,model=94,stepping=3,la57=off,pmu=on

# build_bare: leaves the program in $work/bare
build_bare() {
	gcc -O2 -Wall -Wextra -Werror -ffreestanding -nostdlib -static -no-pie -fno-pie \
		-fno-stack-protector -fno-asynchronous-unwind-tables \
		-mno-red-zone -mgeneral-regs-only -Wl,--build-id=none \
		-Wl,-z,max-page-size=4096 -Wl,-z,noexecstack -Wl,--no-warn-rwx-segments \
		-T "$here/bare/link.ld" -o "$work/bare64" "$here"/bare/*.[cS]
	# Sections of 32-bit ELF are what a multiboot loader takes.
	objcopy -O elf32-i386 "$work/bare64" "$work/bare"
}
