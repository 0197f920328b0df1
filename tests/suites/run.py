#!/usr/bin/env python3
"""The test suites of real programs, each test by itself, bare and under fathom.

For every suite of suites.py: each unit runs bare and under `fathom record --rate 10000` (on the rung
"trace" under `fathom trace`); what each single test came to, and how the unit ended, has to be the
same.  What differs is run again on both sides before it is judged: a test that also comes out otherwise
without fathom is flaky, and only said to be; what shows that it is traced, by its nature, is listed in
traced.py.  The recordings are looked at, too: reports read them, and their books add up.

usage: run.py [--quick] [--rung RUNG] [--unit UNIT]... [SUITE]...
       run.py --list

Exit code: 0 the same, 1 something differs, 77 nothing could run here.
"""

import argparse
import collections
import dataclasses
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "live"))

import live
import results
from sources import Tree, Unavailable
from suites import SUITES
from traced import seen_by_nature

RATE = 10000
RERUNS = 3
LEAST_WHOLE = 0.95
LEAST_WALKED = 1000
SKIPPED = 77


@dataclasses.dataclass(frozen=True)
class Rung:
    """What the recorder is asked for, and as which user everything runs."""

    name: str
    what: str
    words: tuple = ("record", "-q", "--rate", str(RATE))
    as_ordinary_user: bool = False

    @property
    def is_trace(self):
        return self.words[0] == "trace"


RUNGS = {rung.name: rung for rung in (
    Rung("perf", "perf events, as whoever runs the tests"),
    Rung("timer", "timers", words=("record", "-q", "--rate", str(RATE), "--trigger", "timer")),
    Rung("user", "as an unprivileged user: perf events count user mode only", as_ordinary_user=True),
    Rung("trace", "every call traced", words=("trace", "-q")),
)}


@dataclasses.dataclass
class Outcome:
    """One run of a unit."""

    ending: str
    tests: dict
    recording: object = None


# --- running -------------------------------------------------------------------------------

class Runner:
    """Runs units of one suite on one rung; keeps logs of what differed in folder."""

    def __init__(self, suite, prepared, rung, folder):
        self.suite, self.prepared, self.rung = suite, prepared, rung
        self.folder = folder
        self.turn = 0
        self.fathom = live.FATHOM
        if suite.copy_fathom:
            self.fathom = folder / "fathom"
            suite.copy_fathom(live.FATHOM, self.fathom)
        if isinstance(prepared, Tree):
            prepared.restore()

    def environment(self, scratch):
        environment = {**os.environ, "TMPDIR": str(scratch), "LC_ALL": "C.UTF-8",
                       "PYTHONDONTWRITEBYTECODE": "1", **self.suite.environment(self.prepared, scratch)}
        environment.pop("LD_LIBRARY_PATH", None)
        return environment

    def launcher(self):
        if not self.rung.as_ordinary_user:
            return []
        return ["setpriv", f"--reuid={live.ORDINARY_USER}", f"--regid={live.ORDINARY_USER}", "--clear-groups"]

    def run(self, unit, is_recorded):
        """The unit once, with an empty scratch folder."""
        self.turn += 1
        side = "recorded" if is_recorded else "bare"
        place = self.folder / f"{self.turn:03}-{unit.replace('/', '-')}-{side}"
        # Paths are in what tests say: both sides get the same.
        scratch = self.folder / "scratch"
        shutil.rmtree(scratch, ignore_errors=True)
        for made in (place, scratch):
            made.mkdir()
            made.chmod(0o777)
        command, folder = self.suite.command(self.prepared, unit, scratch)
        path = place / "recording.fathom"
        if is_recorded:
            command = [str(self.fathom), *self.rung.words, "-o", str(path), "--", *command]
        ending, output = self.execute([*self.launcher(), *command], folder or scratch, place / "output",
                                      self.environment(scratch))
        finished = results.Finished(folder or scratch, scratch, ending, output)
        return Outcome(ending, self.suite.read(finished),
                       live.Recording(str(path), None) if is_recorded else None)

    def execute(self, command, folder, log, environment):
        with open(log, "wb") as file:
            child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=file, stderr=file, cwd=folder,
                                     env=environment, start_new_session=True)
            try:
                ending = f"exit code {child.wait(self.suite.unit_seconds)}"
            except subprocess.TimeoutExpired:
                ending = f"not ended after {self.suite.unit_seconds} s"
            finally:
                # Whatever the tests left running.
                end_session(child)
        return ending, log.read_text(errors="replace")


def as_from_a_terminal():
    """Tests of signals fail when we were started in the background, with these ignored."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def end_session(child):
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    child.wait()


# --- judging -------------------------------------------------------------------------------

@dataclasses.dataclass
class Verdict:
    """What is to be said of one unit."""

    unit: str
    outcomes: collections.Counter
    wrong: list
    flaky: list
    seen: list
    samples: int = 0
    calls: int = 0
    walked: int = 0
    whole: int = 0
    seconds: tuple = (0.0, 0.0)
    recording: object = None


def differences(bare, recorded):
    """Names whose outcome is not the same, the unit's ending among them."""
    ending = ["(ending)"] if bare.ending != recorded.ending else []
    if bool(bare.tests) != bool(recorded.tests):
        # One side did not come to its end: that is all there is to say.
        return ["(all of them)"] + ending
    names = [name for name in {**bare.tests, **recorded.tests}
             if bare.tests.get(name) != recorded.tests.get(name)]
    return names + ending


def outcome_of(outcome, name):
    if name == "(all of them)":
        return "ran" if outcome.tests else "did not run"
    return outcome.ending if name == "(ending)" else outcome.tests.get(name, "did not run")


def said(values):
    """3 x passed, 1 x failed"""
    return ", ".join(f"{count} x {value}" for value, count in collections.Counter(values).items())


def judge(name, bare_runs, recorded_runs):
    """(is it fathom's doing, the sentence)."""
    bare = [outcome_of(run, name) for run in bare_runs]
    recorded = [outcome_of(run, name) for run in recorded_runs]
    sentence = f"{name}: bare {said(bare)}; recorded {said(recorded)}"
    # What varies without us proves nothing, and one failure that never came back is only reported.
    varies = len(set(bare)) > 1
    others = sum(value != bare[0] for value in recorded)
    return (not varies and others > 1), sentence


def compare(runner, unit):
    begin = time.monotonic()
    bare = [runner.run(unit, False)]
    middle = time.monotonic()
    recorded = [runner.run(unit, True)]
    seconds = (middle - begin, time.monotonic() - middle)
    verdict = Verdict(unit, collections.Counter(bare[0].tests.values()), [], [], [], seconds=seconds)
    if not bare[0].tests:
        verdict.wrong.append(f"no test's result could be read of the bare run, {bare[0].ending}")
    suspects = differences(bare[0], recorded[0])
    if runner.rung.is_trace:
        verdict.seen, suspects = seen_by_nature(suspects)
    for _ in range(RERUNS if suspects else 0):
        bare.append(runner.run(unit, False))
        recorded.append(runner.run(unit, True))
    for name in suspects:
        is_ours, sentence = judge(name, bare, recorded)
        (verdict.wrong if is_ours else verdict.flaky).append(sentence)
    verdict.recording = recorded[0].recording
    return verdict


def look_at_trace(verdict):
    """Each thread's calls are in the report, and no time but theirs."""
    try:
        head, report = verdict.recording.head(), verdict.recording.report()
    except (AssertionError, ValueError) as error:
        verdict.wrong.append(f"recording: {error}")
        return
    verdict.calls = head["calls"]
    own_ns = sum(row["self_ns"] for row in report["functions"])
    if own_ns != report["total_ns"] or sum(row["calls"] for row in report["functions"]) != head["calls"]:
        verdict.wrong.append("recording: the functions' times or calls are not all there are")
    if not head["calls"]:
        verdict.wrong.append("recording: no call was traced")


def look_at_recording(verdict):
    """What was recorded beside the tests has to be a whole account."""
    try:
        head = verdict.recording.head()
        live.LiveTest().assert_adds_up(verdict.recording)
    except (AssertionError, ValueError) as error:
        verdict.wrong.append(f"recording: {error}")
        return
    verdict.samples = head["samples"]
    verdict.walked = sum(head["stacks"].values())
    verdict.whole = head["stacks"].get("complete", 0)
    if head["samples"] == 0 and head["sampled_ns"]:
        verdict.wrong.append("recording: time without samples")


# --- telling -------------------------------------------------------------------------------

def percent(part, whole):
    return f"{100 * part / whole:.1f} %" if whole else "-"


def print_verdict(verdict):
    got = (f"{verdict.calls:10} calls" if verdict.calls else
           f"{verdict.samples:8} samples  {percent(verdict.whole, verdict.walked)} whole")
    counts = ", ".join(f"{count} {outcome}" for outcome, count in sorted(verdict.outcomes.items())[:4])
    print(f"  {'DIFFERS' if verdict.wrong else 'same':8} {verdict.unit:34} {counts:44.44} "
          f"{verdict.seconds[0]:6.1f} {verdict.seconds[1]:6.1f} s {got}")
    for sentence in verdict.wrong:
        print(f"      differs: {sentence}")
    for sentence in verdict.flaky:
        print(f"      flaky:   {sentence}")
    for sentence in verdict.seen:
        print(f"      seen:    {sentence}")
    sys.stdout.flush()


def run_suite(suite, rung, units, folder):
    """Whether all was the same.  Raises Unavailable."""
    if rung.as_ordinary_user and (os.geteuid() != 0 or shutil.which("setpriv") is None):
        raise Unavailable("only root can become an unprivileged user, with setpriv (util-linux)")
    prepared = suite.prepare()
    if rung.as_ordinary_user and isinstance(prepared, Tree):
        raise Unavailable("a tree that root has built is root's")
    print(f"{suite.name}: {suite.what}; {rung.what}")
    runner = Runner(suite, prepared, rung, folder)
    verdicts = []
    for unit in units or (suite.traced_units if rung.is_trace else suite.units)(prepared):
        verdicts.append(compare(runner, unit))
        (look_at_trace if rung.is_trace else look_at_recording)(verdicts[-1])
        print_verdict(verdicts[-1])
    tests = sum(sum(verdict.outcomes.values()) for verdict in verdicts)
    wrong = sum(len(verdict.wrong) for verdict in verdicts)
    flaky = sum(len(verdict.flaky) for verdict in verdicts)
    walked, whole = sum(verdict.walked for verdict in verdicts), sum(verdict.whole for verdict in verdicts)
    # A test may overflow its stack all day, a suite does not.
    is_whole = whole >= LEAST_WHOLE * walked or walked < LEAST_WALKED
    stacks = (f"{sum(verdict.calls for verdict in verdicts)} calls were traced" if rung.is_trace else
              f"{percent(whole, walked)} of {walked} stacks are whole{'' if is_whole else ', which is too few'}")
    print(f"{suite.name}: {tests} tests in {len(verdicts)} units; {wrong} differ, {flaky} are flaky; {stacks}")
    return wrong == 0 and is_whole


def options():
    parser = argparse.ArgumentParser(description="test suites of real programs, bare and under fathom")
    parser.add_argument("suites", nargs="*", metavar="SUITE")
    parser.add_argument("--quick", action="store_true", help="the units that CI has time for")
    parser.add_argument("--rung", choices=RUNGS, default="perf")
    parser.add_argument("--unit", action="append", default=[], help="only this unit; may be repeated")
    parser.add_argument("--list", action="store_true", help="the suites there are")
    chosen = parser.parse_args()
    unknown = set(chosen.suites) - {suite.name for suite in SUITES}
    if unknown:
        parser.error(f"no such suite: {', '.join(sorted(unknown))}; --list says which there are")
    return chosen


def quick_units(suite, rung):
    return suite.traced_quick if rung.is_trace else suite.quick


def main():
    chosen = options()
    if chosen.list:
        for suite in SUITES:
            print(f"{suite.name:14} {suite.what}")
        return 0
    as_from_a_terminal()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="fathom-suites-"))
    folder.chmod(0o755)
    all_same, ran, rung = True, 0, RUNGS[chosen.rung]
    for suite in SUITES:
        units = chosen.unit or (quick_units(suite, rung) if chosen.quick else [])
        if (chosen.suites and suite.name not in chosen.suites) or (chosen.quick and not units):
            continue
        if rung.is_trace and suite.traced_units is None:
            continue
        place = folder / suite.name
        place.mkdir(mode=0o777)
        place.chmod(0o777)
        try:
            all_same = run_suite(suite, rung, units, place) and all_same
            ran += 1
        except Unavailable as reason:
            print(f"{suite.name}: skipped: {reason}")
    if not all_same:
        print(f"what each run said and recorded is in {folder}")
        return 1
    shutil.rmtree(folder, ignore_errors=True)
    return 0 if ran else SKIPPED


if __name__ == "__main__":
    sys.exit(main())
