"""live_in_step - a program and the same traced, at the same time: how much of the cost of measuring is left.

A processor takes up to twice as long for the same while somebody else uses what it shares, and this begins and ends within
milliseconds.  So both programs run on one processor, a round of each in turn: what stands side by side here ran at
the same pace.  Rounds are compared in which the processor was quick, and runs in which it was as quick when calls
were calibrated.
"""

import collections
import json
import os
import statistics
import subprocess

ROUNDS = 60
# A round is quick if what marks it took no more than so many times the least.
QUICK = 1.15
FEWEST_ROUNDS = 10
# Quick rounds were as quick as when calls were calibrated, within so much, in so many runs of so many at most.
STEADY = 0.1
RUNS = 7
MOST_RUNS = 25

# Both of the time without a tracer: what is left of measuring, and how much may be.
Found = collections.namedtuple("Found", "left doubt told")


def run(commands):
    """What each of some programs prints (JSON), which wait for a byte before each of their rounds and tell of its end."""
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


def mean(values):
    """Of all but a tenth at each end: some rounds were interrupted."""
    values = sorted(values)
    beyond = len(values) // 10
    values = values[beyond:len(values) - beyond]
    return sum(values) / len(values)


class Both:
    """What each round of each work took, {work: [ns]}, without a tracer and with one, and the trace's report.

    name_of(a row's name): by which that is asked for, or None.
    """

    def __init__(self, plain, traced, report, name_of=lambda name: name):
        self.plain, self.traced = plain, traced
        self.rows = {name_of(row["name"]): row for row in report["functions"]}
        self.pace = report["recording"]["measuring"]["pace"]

    def quick_rounds(self, marker):
        """Those in which neither was interrupted, nor the processor slow, as a work beside them tells."""
        took = [max(both) for both in zip(self.plain[marker], self.traced[marker])]
        return [i for i, taken in enumerate(took) if taken < QUICK * min(took)]

    def is_steady(self, markers):
        """Whether there are quick rounds, as quick as when calls were calibrated, which all of them and the pace tell."""
        rounds = [sum(works) for works in zip(*(self.traced[marker] for marker in markers))]
        times = mean(rounds) / sorted(rounds)[len(rounds) // 10]
        return (abs(times / self.pace - 1) < STEADY and
                all(len(self.quick_rounds(marker)) >= FEWEST_ROUNDS for marker in markers))

    def beside(self, work):
        """Of a round, what is in nobody's time: searching for callees, and interruptions of that."""
        return (sum(self.traced[work]) - self.rows[work]["raw_total_ns"]) / ROUNDS

    def removed(self, work):
        """What measuring takes of a round that is as quick as calibration."""
        return (self.rows[work]["raw_total_ns"] - self.rows[work]["total_ns"]) / ROUNDS / self.pace

    def doubt(self, names):
        return sum(self.rows[name]["self_uncertainty_ns"] for name in names if name in self.rows) / ROUNDS / self.pace


def steady_runs(test, name, run_both, markers):
    runs = []
    for _ in range(MOST_RUNS):
        both = run_both()
        test.assertIsNotNone(both.pace)
        if both.is_steady(markers):
            runs.append(both)
        if len(runs) == RUNS:
            return runs
    return test.skipTest(f"{name}: the processor was as quick as when calls were calibrated in {len(runs)} of"
                         f" {MOST_RUNS} runs only")


def compare(runs, work, called, marker):
    """What is left of measuring as the median of all runs has it, for or against; it calls these functions."""
    # The least: in the others there was an interruption besides.
    beside = min(both.beside(work) for both in runs)
    found = []
    for both in runs:
        rounds = both.quick_rounds(marker)
        removed, doubt = both.removed(work), both.doubt((*called, work))
        expected = statistics.median(both.plain[work][i] for i in rounds)
        added = statistics.median(both.traced[work][i] - both.plain[work][i] for i in rounds) - beside
        found.append(Found((added - removed) / expected, doubt / expected,
                           f"{work}: {removed:.0f} ± {doubt:.0f} ns are taken out of {expected + added:.0f}, where"
                           f" {added:.0f} were added to {expected:.0f}"))
    return sorted(found)[len(found) // 2]
