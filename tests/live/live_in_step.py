"""live_in_step - a program and the same traced, at the same time: how much of the cost of measuring is left.

A processor takes up to twice as long for the same while another program uses what it shares, and this begins and ends within
milliseconds.  So both programs run on one processor, a round of each in turn: what stands side by side here ran at
the same pace.  What a report takes out of all rounds is compared with what tracing added to them.
"""

import collections
import json
import os
import statistics
import subprocess

ROUNDS = 60
# One that took so many times the median was interrupted: another pace is less.
INTERRUPTED = 2.5
# Runs in which the processor had one pace, within so much, and that when calls were calibrated; so many, of so many
# at most.  What another pace takes from costs to costs is within the uncertainty only, and not what is compared.
STEADY = 0.15
RUNS = 7
MOST_RUNS = 25

# Of the time without a tracer, by which runs differ from the next ones.
PACE = 0.03
# Where code stands badly, calls of a kind cost half as much again (docs/decisions/0022).
PLACED = 0.5

# In ns of a round: without a tracer, what that added and what a report takes out; and what it states.
Pair = collections.namedtuple("Pair", "expected added removed doubt")


def run(commands):
    """What each of some programs prints (JSON), which wait for a byte before each of their rounds and report its end."""
    processor = min(os.sched_getaffinity(0))
    programs = [subprocess.Popen(["taskset", "-c", str(processor), *command], stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE, bufsize=0) for command in commands]
    try:
        for _ in range(ROUNDS):
            for program in programs:
                program.stdin.write(b".")
                if program.stdout.read(1) != b".":
                    raise AssertionError(f"{program.args} has ended with {program.wait()}")
        return [json.loads(program.communicate()[0]) for program in programs]
    finally:
        for program in programs:
            program.kill()
            program.communicate()


def mean(took):
    """Of all rounds that were not interrupted."""
    most = INTERRUPTED * statistics.median(took)
    return statistics.mean(taken for taken in took if taken < most)


class Both:
    """What each round of each work took, {work: [ns]}, without a tracer and with one, and the trace's report.

    name_of(a row's name): by which that is asked for, or None.
    """

    def __init__(self, plain, traced, report, name_of=lambda name: name):
        self.plain, self.traced = plain, traced
        self.rows = {name_of(row["name"]): row for row in report["functions"]}
        self.pace = report["recording"]["measuring"]["pace"]

    def is_steady(self, markers):
        """Whether the processor had one pace, as works show that call nothing, and the one that it was calibrated at."""
        rounds = [sum(works) for works in zip(*(self.plain[marker] for marker in markers))]
        times = mean(rounds) / statistics.median(sorted(rounds)[:ROUNDS // 5])
        return times < 1 + STEADY and abs(self.pace - 1) < STEADY

    def beside(self, work):
        """Of a round, what is in no call's time: searching for callees, and interruptions of that."""
        return (sum(self.traced[work]) - self.rows[work]["raw_total_ns"]) / ROUNDS

    def pair(self, work, called, beside):
        """Of a work that calls these functions; so much of a round is in no call's time."""
        expected = mean(self.plain[work])
        removed = (self.rows[work]["raw_total_ns"] - self.rows[work]["total_ns"]) / ROUNDS
        doubt = sum(self.rows[name]["self_uncertainty_ns"] for name in (*called, work) if name in self.rows) / ROUNDS
        return Pair(expected, mean(self.traced[work]) - expected - beside, removed, doubt)


class Comparison:
    """Of some works, {work: functions that it calls}, in some runs."""

    def __init__(self, runs, works):
        # The least: in the others there was an interruption besides.
        beside = {work: min(both.beside(work) for both in runs) for work in works}
        self.runs = [{work: both.pair(work, called, beside[work]) for work, called in works.items()} for both in runs]
        self.paces = [both.pace for both in runs]

    def left(self, *works):
        """Of the time without a tracer, the part of measuring that is left, of these works together: the median run's."""
        return statistics.median(sum(run[work].added - run[work].removed for work in works) /
                                 sum(run[work].expected for work in works) for run in self.runs)

    def doubt(self, work):
        return statistics.median(run[work].doubt / run[work].expected for run in self.runs)

    def beyond(self, more=0.0):
        """Works of which more is left than is stated for them, and a part of what is taken out of them."""
        def bound(work):
            removed = statistics.median(run[work].removed / run[work].expected for run in self.runs)
            return self.doubt(work) + PACE + more * removed
        return [work for work in self.runs[0] if abs(self.left(work)) >= bound(work)]

    def __str__(self):
        """All that was measured, in ns of a round: a run that fails may not be had again."""
        lines = [f"\n{'':20}" + "".join(f"{f'pace {pace:.2f}':>32}" for pace in self.paces)]
        for work in self.runs[0]:
            cells = (f"{pair.expected:.0f} {pair.added:+.0f} -{pair.removed:.0f} ± {pair.doubt:.0f}"
                     for pair in (run[work] for run in self.runs))
            lines.append(f"{work:20}" + "".join(f"{cell:>32}" for cell in cells) +
                         f"   left {self.left(work):+.3f} ± {self.doubt(work):.3f}")
        return "\n".join(lines)


def check_works(test, found, placed=0):
    """Of each no more is left than is stated for it; some may be of code that stands badly."""
    beyond = found.beyond()
    test.assertLessEqual(len(beyond), placed, f"{beyond}: {found}")
    beyond = found.beyond(PLACED)
    test.assertEqual(beyond, [], f"{beyond}: {found}")


def compare(test, name, run_both, works, markers):
    """Of steady runs, as many as are needed."""
    runs = []
    for _ in range(MOST_RUNS):
        both = run_both()
        test.assertIsNotNone(both.pace)
        if both.is_steady(markers):
            runs.append(both)
        if len(runs) == RUNS:
            return Comparison(runs, works)
    return test.skipTest(f"{name}: the processor had one pace in {len(runs)} of {MOST_RUNS} runs only")
