#!/usr/bin/env python3
"""wall - what the wall clock says of programs that know their waits, on every interpreter at hand.

tests/workloads/known_waits of C, Python and Ruby, at 100 and 1,000 Hz: each state's share of each thread's life,
and which thread made which one wait for how long, beside what the programs measured themselves.  A figure is off
if it differs by more than the larger of 3 standard errors and a point (tests/live/live_wall.py).

With --peers: beside other tools (wall_peers.py).
"""

import argparse
import contextlib
import io
import os
import sys
import unittest

os.environ["FATHOM_LONG"] = "1"

import run  # says where the tests' modules are

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir)
sys.path.insert(0, os.path.join(ROOT, "tests", "live", "times"))


def columns(kinds):
    return [f"{kind} {rate:,} Hz" for kind in kinds for rate in (100, 1000)]


def collected(tests, name):
    """{kind at a rate: Comparison} of one interpreter; '': of C."""
    found, failures = {}, []

    class One(tests):
        compares_times = False
        kind = "C"

        def assert_known(self, recording, rate, states=(), has_global_lock=False):
            self.assertNotIn("refused", recording.truth)
            self.assert_whole_lives(recording)
            found[f"{One.kind} {rate:,} Hz"] = live_wall.Comparison(recording, rate, states, has_global_lock)

        def assert_kinds(self, record, kinds):
            def record_kind(*options, rate, arguments):
                One.kind = arguments[0]
                return record(*options, rate=rate, arguments=arguments)
            super().assert_kinds(record_kind, kinds)

    live_interpreted.ONLY = name
    for case in unittest.defaultTestLoader.getTestCaseNames(One):
        result = unittest.TestResult()
        with contextlib.redirect_stderr(io.StringIO()):
            One(case).run(result)
        failures += [text.strip().splitlines()[-1] for _, text in result.failures + result.errors]
        failures += [why for _, why in result.skipped]
    return found, failures


def cell(compared):
    off = compared.off()
    most = max((abs(said - true) - allowed for _, true, said, allowed in compared.rows), default=0)
    return f"{len(off)} of {len(compared.rows)}" + (f" ({100 * most:.1f})" if off else "")


def line(name, kinds, tests, only=""):
    found, failures = collected(tests, only)
    cells = [cell(found[column]) if column in found else "-" for column in columns(kinds)]
    print(f"| {name} | {' | '.join(cells)} |", flush=True)
    for column, compared in found.items():
        for what, true, said, allowed in compared.off():
            print(f"{name}, {column}: {what}: {100 * true:.2f} % true, {100 * said:.2f} % said,"
                  f" {100 * allowed:.2f} allowed", file=sys.stderr)
    for why in failures:
        print(f"{name}: {why}", file=sys.stderr)


def head(what, kinds):
    print(f"\n| {what} | {' | '.join(columns(kinds))} |\n|{'---|' * (1 + 2 * len(kinds))}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="names of interpreters, and C, with commas between them")
    parser.add_argument("--peers", action="store_true", help="beside other tools, in place of each interpreter")
    chosen = parser.parse_args()
    only = [name for name in chosen.only.split(",") if name]
    print(f"# {run.machine()}")
    if chosen.peers:
        wall_peers.beside_others()
        return
    for what, kinds, tests, interpreters in (
            ("C", ("C",), test_known_waits.KnownWaits, None),
            ("Python", ("alone", "gil", "lock"), test_known_waits.KnownWaitsOfPython, live_python.EVERY_PYTHON),
            ("Ruby", ("alone", "gvl", "lock"), test_known_waits.KnownWaitsOfRuby, live_ruby.EVERY_RUBY)):
        names = ["C"] if interpreters is None else [one.name for one in interpreters
                                                    if one.is_there and one.version >= (2, 7) and
                                                    (what == "Ruby" or one.version >= (3, 8))]
        names = [name for name in names if not only or name in only]
        if names:
            head(what, kinds)
        for name in names:
            line(name, kinds, tests, "" if name == "C" else name)


if __name__ == "__main__":
    import live_interpreted
    import live_python
    import live_ruby
    import live_wall
    import test_known_waits
    import wall_peers
    main()
