#!/usr/bin/env python3
"""wall - what the wall clock says of programs that know their waits, on every interpreter at hand.

tests/workloads/known_waits of C, Python and Ruby, at 100 and 1,000 Hz: each state's share of each thread's life,
and which thread made which one wait for how long, beside what the programs measured themselves.  A figure is off
if it differs by more than the larger of 3 standard errors and a point (tests/live/live_wall.py).

With --peers: beside py-spy and perf sched, which know whether a thread waits, but not what for (py-spy --gil: which
has the GIL: beside what it ran; perf sched the same), the share of each thread's life in which it does not wait; Debian's Python, 100 Hz.  py-spy comes with
bench/run python --fetch.  Left out: austin, which has threads' numbers only; Tachyon, which needs CPython 3.15;
rbspy and Vernier, of Ruby programs.
"""

import argparse
import contextlib
import io
import json
import os
import re
import subprocess
import sys
import tempfile
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


# --- beside others --------------------------------------------------------------------------

PEER_SECONDS = 8


def fathom_command(folder):
    return [live_wall.live.FATHOM, "record", "-q", "--clock", "wall", "--rate", "100", "-o", f"{folder}/said", "--"]


def fathom_said(folder, truth):
    recording = live_wall.live.Recording(f"{folder}/said", None)
    return {name: (states.get("running", 0) + states.get("runnable", 0)) / life
            for name, life, states in live_wall.threads_of(recording)}


def pyspy_command(*options):
    return lambda folder: [python_peers.tool("py-spy"), "record", "-r", "100", "-f", "raw", "-o", f"{folder}/said",
                           "--threads", *options, "--"]


def pyspy_said(folder, truth):
    """thread (0x7F…): "gil-0";f (file.py:3) 12"""
    samples = {}
    with open(f"{folder}/said") as file:
        for text in file:
            thread = re.match(r'thread \([^)]*\):? ?"?([^";]*)"?;', text)
            name = thread[1] if thread else ""
            samples[name] = samples.get(name, 0) + int(text.rpartition(" ")[2])
    return {name: samples.get(name, 0) / 100 / (true["life"] / 1e9) for name, true in truth.items()}


def sched_command(folder):
    return ["perf", "sched", "record", "-q", "-o", f"{folder}/said", "--"]


def sched_said(folder, truth):
    """gil-0[1234]  1230  56  812.4 …: the time that it ran"""
    done = subprocess.run(["perf", "sched", "timehist", "-s", "-i", f"{folder}/said"], capture_output=True, text=True)
    found = {}
    for text in done.stdout.splitlines():
        row = re.match(r"\s*(\S+)\[\d+(?:/\d+)?\]\s+\S+\s+\d+\s+([\d.]+)", text)
        if row and row[1] in truth:
            found[row[1]] = float(row[2]) * 1e6 / truth[row[1]]["life"]
    return found


def peer_line(name, kind, command, said_of, states):
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(ROOT, "tests", "workloads", "python", "known_waits.py")
        done = subprocess.run([*command(folder), "/usr/bin/python3", program, kind, str(PEER_SECONDS), f"{folder}/file"],
                              capture_output=True, text=True)
        try:
            truth = json.loads([text for text in done.stdout.splitlines() if text.startswith("{")][-1])["threads"]
            said = said_of(folder, truth)
        except (IndexError, OSError, ValueError) as error:
            print(f"| {name} | {kind} | - | - |\n{name}: {error} {done.stderr[-300:]}", flush=True)
            return
    errors = [abs(said[one] - sum(true[state] for state in states) / true["life"]) for one, true in truth.items()
              if one in said]
    cells = f"{100 * sum(errors) / len(errors):.1f} | {100 * max(errors):.1f}" if errors else "- | -"
    print(f"| {name} | {kind} | {cells} |", flush=True)


def beside_others():
    print("\n| tool | program | points off, mean | at most |\n|---|---|---|---|")
    wants_cpu = ("running", "runnable")
    for kind in ("alone", "gil", "lock"):
        peer_line("fathom", kind, fathom_command, fathom_said, wants_cpu)
        peer_line("py-spy", kind, pyspy_command(), pyspy_said, wants_cpu)
        peer_line("py-spy --gil", kind, pyspy_command("--gil"), pyspy_said, ("running",))
        peer_line("perf sched", kind, sched_command, sched_said, ("running",))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="names of interpreters, and C, with commas between them")
    parser.add_argument("--peers", action="store_true", help="beside other tools, in place of each interpreter")
    chosen = parser.parse_args()
    only = [name for name in chosen.only.split(",") if name]
    print(f"# {run.machine()}")
    if chosen.peers:
        beside_others()
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
    import python_peers
    import test_known_waits
    main()
