#!/usr/bin/env python3
"""Sums up a run of ./dev test.

Reads what the steps left: "step passed|failed|skipped NAME" and "meson LOG NAME", where LOG is a
testlog of Meson, one JSON object per line.  Prints what failed and, with its reason, what was
skipped or failed at first sight (tests/live/live.py); ends with "N passed, N failed, N skipped".
What was skipped for want of interpreters is a line for each kind of them.  The exit code is 1 if
anything failed or nothing passed.

usage: summary.py STEPS
"""

import collections
import json
import pathlib
import re
import sys

# With what the case said before, which is why.
CMOCKA_SKIPPED = re.compile(r"^\[ RUN      \] (\w+)\n((?:(?!\[ ).*\n)*?)\[  SKIPPED \] \1$", re.M)
UNITTEST_SKIPPED = re.compile(r"^(.+?)(?: \(.*\))? \.\.\. skipped ['\"](.*)['\"]$", re.M)
FAILED_ONCE = re.compile(r"^failed at first sight: (.*)$", re.M)
# What tests/live/pythons.py and rubies.py say of one that is not there: its version, in that sentence.
MISSING = (
    (re.compile(r"pyenv has no (\S+) below"), "Python {} of pyenv"),
    (re.compile(r"/fathom-pythons/\S*python(\S+) has not been (fetched: \S+ --fetch)"), "Python {}, not {}"),
    (re.compile(r"/fathom-pythons/\S*python(\S+) has not been (built: \S+ --build)"), "Python {}, not {}"),
    (re.compile(r"/fathom-rubies/(\d[^/]*)/\S* has not been (fetched: \S+ --fetch)"), "Ruby {}, not {}"),
    (re.compile(r"/fathom-rubies/(\d[^/]*)/\S* has not been (built: \S+ --build)"), "Ruby {}, not {}"),
)
LATER = re.compile(r"with --long only$")
UNITTEST_SKIPS = re.compile(r"^(?:OK|FAILED) \(.*skipped=(\d+).*\)$", re.M)


class Tally:
    def __init__(self):
        self.passed = 0
        self.failed = []
        self.skipped = []
        self.repeated = []

    def add_step(self, result, name):
        if result == "passed":
            self.passed += 1
        elif result == "skipped":
            self.skipped.append(name)
        else:
            self.failed.append(name)

    def add_test(self, suite, test):
        name = f"{suite}: {test['name'].split(' / ')[-1]}"
        said = (test.get("stdout") or "") + (test.get("stderr") or "")
        if test["result"] in ("OK", "EXPECTEDFAIL"):
            self.passed += 1
            self.repeated += [f"{name}: {what}" for what in FAILED_ONCE.findall(said)]
            self.skipped += [f"{name}: {part}" for part in skipped_parts(said)]
        elif test["result"] == "SKIP":
            self.skipped.append(f"{name}: {reason(said)}")
        else:
            self.failed.append(f"{name} ({test['result'].lower()})")

    def add_log(self, path, suite):
        try:
            lines = pathlib.Path(path).read_text(encoding="utf-8").splitlines()
        except OSError:
            # Meson writes no log when a suite has no tests.
            self.failed.append(f"{suite}: no test ran")
            return
        for line in lines:
            self.add_test(suite, json.loads(line))


def reason(said):
    """Why a test was skipped: unittest's word for it, or the last thing it said."""
    for _, why in UNITTEST_SKIPPED.findall(said):
        return why
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return lines[-1] if lines else "it did not say why"


def skipped_parts(said):
    """Cases that were skipped within a program that passed."""
    for name, why in CMOCKA_SKIPPED.findall(said):
        yield f"{name}: {reason(why)}"
    with_reason = UNITTEST_SKIPPED.findall(said)
    for name, why in with_reason:
        yield f"{name}: {why}"
    # Without verbosity=2 unittest only counts.
    for _ in range(sum(map(int, UNITTEST_SKIPS.findall(said))) - len(with_reason)):
        yield "a case that did not say why"


def missing_in(sentence):
    """(kind, version) of the interpreter that was missing, or None."""
    for pattern, kind in MISSING:
        found = pattern.search(sentence)
        if found:
            return kind.format("{}", *found.groups()[1:]), found.group(1)
    return None


def natural(version):
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", version)]


def in_few_lines(skipped):
    """Those for want of an interpreter, and those of the long tests, in a line for each kind."""
    missing, later = collections.defaultdict(list), 0
    for sentence in skipped:
        found = missing_in(sentence)
        if found:
            missing[found[0]].append(found[1])
        elif LATER.search(sentence):
            later += 1
        else:
            yield sentence
    for kind, versions in missing.items():
        names = ", ".join(sorted(set(versions), key=natural))
        yield f"{len(versions)} cases for want of {kind.format(names)}"
    if later:
        yield f"{later} cases that ./dev test --long has"


def tally_of(steps):
    tally = Tally()
    for line in steps.splitlines():
        kind, what, name = line.split(" ", 2)
        if kind == "step":
            tally.add_step(what, name)
        else:
            tally.add_log(what, name)
    return tally


def main():
    tally = tally_of(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))
    print()
    for sentence in in_few_lines(tally.skipped):
        print("skipped:", sentence)
    for sentence in tally.repeated:
        print("passed at second sight:", sentence)
    for sentence in tally.failed:
        print("FAILED: ", sentence)
    print(f"{tally.passed} passed, {len(tally.failed)} failed, {len(tally.skipped)} skipped")
    return 1 if tally.failed or not tally.passed else 0


if __name__ == "__main__":
    sys.exit(main())
