#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# crunch.sh LINES: work for a CPU: arithmetic, sorting, a compressor, a
# checksum, and processes that come and go.
seq 1 "$1" > /tmp/numbers
awk '{ s += $1 * $1 % 7 } END { print s }' /tmp/numbers
sort -r /tmp/numbers | gzip -9 | sha256sum
i=0
while [ $((i += 1)) -le $(($1 / 500)) ]; do
	/bin/busybox true
done
