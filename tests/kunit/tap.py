#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""kunit.py's results (its --json, on standard input) as TAP, a test for each
case, and for each row of those that have parameters."""
import argparse
import json
import sys


def cases(group, path=()):
    """Yields (name, status) of each leaf."""
    for case in group["test_cases"]:
        yield ".".join(path + (case["name"],)), case["status"]
    for sub in group["sub_groups"]:
        yield from cases(sub, path + (sub["name"],))


parser = argparse.ArgumentParser(
    description=__doc__, epilog="Example: tests/kunit/tap.py < results.json")
parser.error = lambda message: parser.exit(2, f"tap.py: {message}\n")
parser.parse_args()
number = 0
for name, status in cases(json.load(sys.stdin)):
    number += 1
    skip = " # SKIP in the kernel log is why" if status == "SKIP" else ""
    print(f"{'ok' if status in ('PASS', 'SKIP') else 'not ok'} {number} - {name}{skip}")
print(f"1..{number}")
