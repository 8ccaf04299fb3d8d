#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""coverage.py SOURCES REASONS: from gcov's JSON, one document a line, on standard
input, TAP: a table of the module's files in comments, and a test for each of them, which
fails if something is not covered without a reason; and one that fails if a reason is no
longer needed.

A header with declarations only is no such file.

REASONS has a line for each: FILE or *: FUNCTION or *: TEXT or *: REASON. TEXT is a part
of the source line."""
import argparse
import collections
import glob
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
        if file in ("*", name) and where in ("*", function) and (what == "*" or what in text):
            used.add(i)
            return reason
    return None


def percent(part, whole):
    return f"{part:4}/{whole:<4} {100 * part // whole if whole else 100:3}%"


def print_row(name, file):
    branches = [b for taken in file.branches.values() for b in taken]
    print(f"# {name:14} {percent(sum(c > 0 for c in file.lines.values()), len(file.lines))}"
          f" {percent(sum(b > 0 for b in branches), len(branches))}")


def gaps_of(path, file):
    """Yields (line number, function, what, text) of what is not covered."""
    with open(path) as stream:
        text = stream.read().splitlines()
    for number in sorted(file.lines):
        taken = file.branches[number]
        if file.lines[number] == 0:
            what = "line"
        elif taken and 0 in taken:
            what = f"{taken.count(0)} of {len(taken)} branches"
        else:
            continue
        yield number, file.function[number], what, text[number - 1].strip()


def has_code(path):
    """Has a function a body there?"""
    with open(path) as stream:
        return any(line.startswith("{") for line in stream)


def names_of(sources):
    """The module's files, where they are, and whether the tests are built with another in its place."""
    paths = glob.glob(os.path.join(sources, "pmu_*.[ch]"))
    paths += glob.glob(os.path.join(sources, "*/pmu_*.[ch]"))
    paths += glob.glob(os.path.join(sources, "*/x86/pmu_*.[ch]"))
    for path in sorted(paths, key=os.path.basename):
        name = os.path.basename(path)
        if name != "pmu_test_kunit.c" and has_code(path):
            yield name, path, os.path.exists(os.path.join(sources, "tests/kunit", name))


def main(sources, reasons_path):
    files = read_gcov(sys.stdin)
    reasons = read_reasons(reasons_path)
    used = set()
    results = []
    print(f"# {'file':14} {'lines':>14} {'branches':>15}")
    for name, path, replaced in names_of(sources):
        unexplained = []
        if replaced or name not in files:
            gaps = [(0, "", "not compiled", "")]
        else:
            print_row(name, files[name])
            gaps = gaps_of(path, files[name])
        for number, function, what, text in gaps:
            if explain(reasons, used, name, function, text) is None:
                place = f"{name}:{number}: {function}()" if number else name
                unexplained.append(f"{place}: {what}: {text}".rstrip(": "))
        results.append((f"{name}: all of it is reached, or it is known why not", unexplained))
    results.append(("no reason is given that is not needed",
                    [": ".join(reason) for i, reason in enumerate(reasons) if i not in used]))
    for number, (what, wrong) in enumerate(results, 1):
        for line in wrong:
            print(f"#   {line}")
        print(f"{'not ok' if wrong else 'ok'} {number} - {what}")
    print(f"1..{len(results)}")
    return 1 if any(wrong for _, wrong in results) else 0


PARSER = argparse.ArgumentParser(
    description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
    epilog="Example: tests/coverage calls it with what gcov has counted in a guest")
PARSER.error = lambda message: PARSER.exit(2, f"coverage.py: {message}\n")
PARSER.add_argument("SOURCES")
PARSER.add_argument("REASONS")
ARGUMENTS = PARSER.parse_args()
sys.exit(main(ARGUMENTS.SOURCES, ARGUMENTS.REASONS))
