#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""coverage.py SOURCES REASONS: from gcov's JSON, one document a line, on standard
input, a table of the module's files, and what is not covered, with its reason.

REASONS has a line for each: FILE: FUNCTION or *: TEXT or *: REASON. TEXT is a part
of the source line. Exits with 1 if something is not covered without a reason, or
if a reason is no longer needed."""
import collections
import json
import os
import sys


class File:
    def __init__(self):
        self.lines = collections.Counter()
        self.branches = {}
        self.function = {}

    def add(self, line):
        number = line["line_number"]
        self.lines[number] += line["count"]
        self.function[number] = line.get("function_name", "")
        # gcov orders the branches of a line the same way in each object
        taken = self.branches.setdefault(number, [])
        for i, branch in enumerate(line["branches"]):
            if i == len(taken):
                taken.append(0)
            taken[i] += branch["count"]


def read_gcov(stream):
    files = collections.defaultdict(File)
    for document in stream:
        for entry in json.loads(document)["files"]:
            for line in entry["lines"]:
                files[os.path.basename(entry["file"])].add(line)
    return files


def read_reasons(path):
    reasons = []
    with open(path) as stream:
        for line in stream:
            if line.strip() and not line.startswith("#"):
                reasons.append([field.strip() for field in line.split(": ", 3)])
    return reasons


def explain(reasons, used, name, function, text):
    for i, (file, where, what, reason) in enumerate(reasons):
        if file == name and where in ("*", function) and (what == "*" or what in text):
            used.add(i)
            return reason
    return None


def percent(part, whole):
    return f"{part:4}/{whole:<4} {100 * part // whole if whole else 100:3}%"


def main(sources, reasons_path):
    files = read_gcov(sys.stdin)
    reasons = read_reasons(reasons_path)
    used = set()
    missing = []
    print(f"{'file':14} {'lines':>14} {'branches':>15}")
    for name in sorted(os.listdir(sources)):
        if not name.startswith("pmu_") or name == "pmu_test_kunit.c":
            continue
        if name not in files:
            missing.append((name, 0, "", "not compiled", ""))
            continue
        file = files[name]
        branches = [b for taken in file.branches.values() for b in taken]
        print(f"{name:14} {percent(sum(c > 0 for c in file.lines.values()), len(file.lines))}"
              f" {percent(sum(b > 0 for b in branches), len(branches))}")
        with open(os.path.join(sources, name)) as stream:
            text = stream.read().splitlines()
        for number in sorted(file.lines):
            taken = file.branches[number]
            if file.lines[number] == 0:
                what = "line"
            elif taken and 0 in taken:
                what = f"{taken.count(0)} of {len(taken)} branches"
            else:
                continue
            missing.append((name, number, file.function[number], what, text[number - 1].strip()))
    print("\nnot covered:")
    unexplained = 0
    for name, number, function, what, text in missing:
        reason = explain(reasons, used, name, function, text)
        unexplained += reason is None
        place = f"{name}:{number}: {function}()" if number else name
        print(f"{place}: {what}: {text}".rstrip(": ") + f"\n\t{reason or 'NO REASON'}")
    for i, reason in enumerate(reasons):
        if i not in used:
            unexplained += 1
            print(f"{reasons_path}: not needed: {': '.join(reason)}")
    return 1 if unexplained else 0


sys.exit(main(*sys.argv[1:]))
