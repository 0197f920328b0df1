#!/usr/bin/env python3
"""Sums up a run of ./dev test.

Reads what the steps left: "step passed|failed|skipped NAME" and "meson LOG NAME", where LOG is a
testlog of Meson, one JSON object per line.  Prints what failed and, with its reason, what was
skipped or failed at first sight (tests/live/live.py); ends with "N passed, N failed, N skipped".  The exit code is 1 if anything failed or
nothing passed.

usage: summary.py STEPS
"""

import json
import pathlib
import re
import sys

# With what the case said before, which is why.
CMOCKA_SKIPPED = re.compile(r"^\[ RUN      \] (\w+)\n((?:(?!\[ ).*\n)*?)\[  SKIPPED \] \1$", re.M)
UNITTEST_SKIPPED = re.compile(r"^(.+?)(?: \(.*\))? \.\.\. skipped ['\"](.*)['\"]$", re.M)
FAILED_ONCE = re.compile(r"^failed at first sight: (.*)$", re.M)
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
    for sentence in tally.skipped:
        print("skipped:", sentence)
    for sentence in tally.repeated:
        print("passed at second sight:", sentence)
    for sentence in tally.failed:
        print("FAILED: ", sentence)
    print(f"{tally.passed} passed, {len(tally.failed)} failed, {len(tally.skipped)} skipped")
    return 1 if tally.failed or not tally.passed else 0


if __name__ == "__main__":
    sys.exit(main())
