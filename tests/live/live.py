"""live - records real programs with fathom and reads back what it says of them.

The build's paths come from the environment: FATHOM is the program, WORKLOADS the
folder of tests/workloads as built.
"""

import contextlib
import functools
import json
import math
import os
import re
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest

from reachable import make_reachable

FATHOM, WORKLOADS, AGENTS = make_reachable(os.environ.get("FATHOM", "fathom"),
                                           os.environ.get("WORKLOADS", "."),
                                           os.environ.get("FATHOM_AGENT", ""))
# The agent of `fathom record`; "": FATHOM_AGENT does not say.
AGENT = AGENTS and os.path.join(AGENTS, "libfathom-agent-record.so")

# Tests take the minutes that CI does not have.
IS_LONG = os.environ.get("FATHOM_LONG") == "1"


def in_turn(choices, number):
    """All of them in the long tests; else one, for each number the next."""
    return choices if IS_LONG else (choices[number % len(choices)],)


long_only = unittest.skipUnless(IS_LONG, "with --long only")
ORDINARY_USER = 65534
BATCHES = 40
ONE_POINT = 0.01
# Of what is compared with a sampled share: of the hundreds of such comparisons none fails by chance.
STANDARD_ERRORS = 5
# So many periods at once, and so long, are no handler's: a host took the processor away, and the clocks of its guest went on.
# Which function's that is no sample shows; so much of the time, at most, may be any one's.
PERIODS_OF_A_JUMP = 10
LEAST_JUMP_NS = 4_000_000
MOST_JUMPED = 0.08
# A standard error that the workload's own rhythm inflates must not make a test empty.  Of a share of a third, by 7,000 samples
# at random, this is 4.4 standard errors: one comparison in 100,000 fails by chance, and then passes at second sight.
WIDEST_TOLERANCE = 0.025
LEAST_SAMPLES = 7000
# What is taken off a thread's clock for a switch, at most; one that is preempted may cost nothing
# (decision 0008), and then so much is in no row but [exit].
MOST_OF_A_SWITCH_NS = 10000


def workload(name, *arguments):
    return [os.path.join(WORKLOADS, name), *map(str, arguments)]


def preemptions_of_children():
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_nivcsw


def truth_of(stdout):
    """What a workload printed of itself: its last line of output."""
    return json.loads(stdout.decode().strip().splitlines()[-1])


def is_named(name, wanted):
    """C++ names carry their parameters, which a workload does not print."""
    return name == wanted or name.startswith(wanted + "(")


class Recording:
    """A recording on disk, and how the command that was recorded ended."""

    def __init__(self, path, run, preemptions=0):
        self.path = path
        self.run = run
        self.preemptions = preemptions
        self._reports = {}
        self._samples = None

    @property
    def truth(self):
        return truth_of(self.run.stdout)

    def taken_off_ns(self):
        """As much of [exit] as preemptions may have cost no row but that."""
        return min(self.head()["exit_ns"] or 0, self.preemptions * MOST_OF_A_SWITCH_NS)

    def report(self, *options):
        """`fathom report --json` with these options."""
        if options not in self._reports:
            done = subprocess.run([FATHOM, "report", self.path, "--json", *options],
                                  capture_output=True, timeout=120)
            if done.returncode != 0:
                raise AssertionError(f"fathom report {options} ended with {done.returncode}: "
                                     f"{done.stderr.decode(errors='replace')}")
            self._reports[options] = json.loads(done.stdout)
        return self._reports[options]

    def head(self):
        return self.report()["recording"]

    def total_ns(self):
        return self.report()["total_ns"]

    def time_of(self, name, field):
        """self_ns or total_ns of all functions with this name."""
        return sum(row[field] for row in self.report()["functions"] if is_named(row["name"], name))

    def folded(self):
        """[(frames outermost first, nanoseconds)] of `fathom export --format folded`."""
        done = subprocess.run([FATHOM, "export", self.path, "--format", "folded"],
                              capture_output=True, timeout=120, check=True)
        stacks = []
        for line in done.stdout.decode().splitlines():
            frames, _, weight = line.rpartition(" ")
            stacks.append((frames.split(";"), int(weight)))
        return stacks

    def rows(self, query, *values):
        """Rows of the database itself, by docs/recording.md."""
        database = sqlite3.connect(f"file:{self.path}?mode=ro", uri=True)
        try:
            return database.execute(query, values).fetchall()
        finally:
            database.close()

    def samples(self):
        """[(time_ns, thread, stack, weight_ns)], earliest first."""
        if self._samples is None:
            self._samples = self.rows("SELECT time_ns, thread, stack, weight_ns FROM samples ORDER BY time_ns")
        return self._samples

    def jumped_share(self):
        """Of all time, what one sample stands for, or none, since the clock jumped."""
        least_ns = max(PERIODS_OF_A_JUMP * self.head()["period_ns"], LEAST_JUMP_NS)
        jumped_ns = self.head()["thread_only_ns"] + sum(row[3] for row in self.samples() if (row[3] or 0) > least_ns)
        return min(jumped_ns / self.total_ns(), MOST_JUMPED)

    def functions_of_stacks(self):
        """{stack: [function names, innermost first]}, inlined calls included."""
        names = {}
        for frame, name in self.rows("SELECT l.frame, f.name FROM locations l JOIN functions f"
                                     " ON f.id = l.function ORDER BY l.frame, l.depth"):
            names.setdefault(frame, []).append(name)
        stacks = {0: []}
        for stack, parent, frame in self.rows("SELECT id, parent, frame FROM stacks ORDER BY id"):
            stacks[stack] = names.get(frame, [f"frame {frame}"]) + stacks[parent or 0]
        return stacks

    def standard_error(self, name, kind):
        """Of the share of name in the sampled time, by batch means over time."""
        stacks = self.functions_of_stacks()
        hits = {}
        for stack, functions in stacks.items():
            seen = functions[:1] if kind == "self" else functions
            hits[stack] = any(is_named(function, name) for function in seen)
        samples = self.samples()
        size = len(samples) // BATCHES
        if size == 0:
            return 1.0
        shares = []
        for first in range(0, size * BATCHES, size):
            batch = samples[first:first + size]
            weight = sum(row[3] for row in batch)
            shares.append(sum(row[3] for row in batch if hits.get(row[2])) / weight)
        mean = sum(shares) / BATCHES
        variance = sum((share - mean) ** 2 for share in shares) / (BATCHES - 1)
        return math.sqrt(variance / BATCHES)


def at_second_sight(name, check, *arguments):
    """check(*arguments), made once more if it fails; the summary of all tests says which were.

    The machine may have changed its pace, or been taken away, in the middle of one.  What is wrong fails twice.
    """
    try:
        return check(*arguments)
    except AssertionError as error:
        print(f"\nfailed at first sight: {name}: {error}", file=sys.stderr)
    return check(*arguments)


def has_samples(path, least=1):
    """Whether a recorder has committed as many."""
    return has_rows(path, "samples", least)


def has_rows(path, table, least=1):
    try:
        return Recording(path, None).rows(f"SELECT count(*) FROM {table}")[0][0] >= least
    except sqlite3.Error:
        return False


class LiveTest(unittest.TestCase):
    """A test with a folder of its own that anybody may write in."""

    # Of tests that compare times a failing one is made twice.
    compares_times = False

    def __init__(self, name="runTest"):
        super().__init__(name)
        self.is_first_sight = False
        if self.compares_times:
            sights = functools.partial(self._look, getattr(self, name), iter((True, False)))
            setattr(self, name, functools.partial(at_second_sight, name, sights))

    def _look(self, check, is_first):
        self.is_first_sight = next(is_first)
        return check()

    @contextlib.contextmanager
    def subTest(self, *name, **parameters):
        """A part that fails at first sight ends the test, which is made again: unittest would book the failure."""
        failure = None
        with super().subTest(*name, **parameters):
            try:
                yield
            except AssertionError as error:
                if not self.is_first_sight:
                    raise
                failure = error
        if failure is not None:
            raise failure

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="fathom-live-")
        os.chmod(self.folder, 0o777)
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        """In the test's folder, in folders of their own where the name has some; its path."""
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def record(self, command, *options, rate=10000, launcher=(), timeout=120, expect=0, fathom=FATHOM,
               **run_options):
        """Records command; its standard output and error are captured."""
        path = self.path("test.fathom")
        for leftover in (path, path + "-wal", path + "-shm", path + ".old"):
            if os.path.exists(leftover):
                os.unlink(leftover)
        preemptions = -preemptions_of_children()
        run = subprocess.run([*launcher, fathom, "record", "-q", *(["--rate", str(rate)] if rate else []), "-o", path, *options,
                              "--", *command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, timeout=timeout, cwd=self.folder, **run_options)
        if expect is not None:
            self.assertEqual(run.returncode, expect, run.stderr.decode(errors="replace"))
        return Recording(path, run, preemptions + preemptions_of_children())

    def record_as_user(self, command, *options, **record_options):
        if os.geteuid() != 0:
            return self.record(command, *options, **record_options)
        if shutil.which("setpriv") is None:
            self.skipTest("setpriv (util-linux) is needed to become an unprivileged user")
        launcher = ("setpriv", f"--reuid={ORDINARY_USER}", f"--regid={ORDINARY_USER}", "--clear-groups")
        recording = self.record(command, *options, launcher=launcher, **record_options)
        # Reading a recording makes no difference to it, but root may have to fold in its journal.
        return recording

    def need(self, program):
        found = shutil.which(program)
        if found is None:
            self.skipTest(f"{program} is not installed")
        return found

    def assert_share(self, measured, expected, allowed, what):
        self.assertLessEqual(abs(measured - expected), allowed,
                             f"{what}: {100 * measured:.2f} % is reported, {100 * expected:.2f} % is true, "
                             f"{100 * allowed:.2f} points are allowed")

    def assert_truth(self, recording, least_samples=LEAST_SAMPLES, widest=WIDEST_TOLERANCE, may_be_unseen=False):
        """Every self and total time the workload printed is what the report says.

        may_be_unseen: what the report calls [exit], kernel time not sampled and known by
        thread only may be a function's (the last part of a period in each of many short threads).
        Of a program that was preempted, as much of [exit] as that may have cost.
        """
        truth = recording.truth
        cpu_ns = sum(truth["processes"].values()) or truth["cpu_ns"]
        head = recording.head()
        if may_be_unseen:
            unseen = (head["exit_ns"] or 0) + (head["kernel_unsampled_ns"] or 0) + head["thread_only_ns"]
        else:
            unseen = recording.taken_off_ns()
        self.assertGreaterEqual(recording.head()["samples"], least_samples)
        self.assert_adds_up(recording)
        self.assertGreater(len(truth["self"]) + len(truth["total"]), 0)
        for kind in ("self", "total"):
            for name, spent_ns in truth[kind].items():
                expected = spent_ns / cpu_ns
                measured = recording.time_of(name, kind + "_ns") / recording.total_ns()
                if measured < expected:
                    measured = min(expected, measured + unseen / recording.total_ns())
                allowed = min(widest, max(ONE_POINT, STANDARD_ERRORS * recording.standard_error(name, kind)))
                allowed += recording.jumped_share()
                self.assert_share(measured, expected, allowed, f"{kind} of {name}")

    def assert_adds_up(self, recording):
        """The head, the total and the rows are one account."""
        report, head = recording.report(), recording.head()
        parts = sum(head[part] or 0 for part in
                    ("sampled_ns", "thread_only_ns", "lost_ns", "startup_ns", "exit_ns", "unentered_ns", "kernel_unsampled_ns",
                     "traced_ns", "paused_ns"))
        self.assertEqual(report["total_ns"], parts)
        self.assertEqual(sum(row["self_ns"] for row in report["functions"]), report["total_ns"])
        if head["kernel_cpu_ns"] is not None:
            self.assertEqual(head["kernel_cpu_ns"], parts + head["unexplained_ns"])

    def assert_explained(self, recording, within=0.02, slack_ns=0):
        head = recording.head()
        self.assertLessEqual(abs(head["unexplained_ns"]), within * head["kernel_cpu_ns"] + slack_ns, head)

    def assert_whole_stacks(self, recording, least=0.99, least_samples=1000):
        stacks = recording.head()["stacks"]
        walked = sum(stacks.values())
        self.assertGreaterEqual(walked, least_samples)
        self.assertGreaterEqual(stacks.get("complete", 0) / walked, least, stacks)
        self.assert_right_beginnings(recording, least)

    def assert_right_beginnings(self, recording, least):
        """A stack that calls itself complete begins where programs and threads begin."""
        begins = re.compile(r"^(_start|_dl_start|_dl_start_user|(__)?clone3?|start_thread|.*\+0x[0-9a-f]+)$")
        names = recording.functions_of_stacks()
        right = wrong = 0
        others = {}
        for stack, count in recording.rows("SELECT stack, count(*) FROM samples"
                                           " WHERE ending = 0 GROUP BY stack"):
            outermost = names[stack][-1] if names[stack] else "nothing"
            if begins.match(outermost):
                right += count
            else:
                wrong += count
                others[outermost] = others.get(outermost, 0) + count
        self.assertGreaterEqual(right, least * (right + wrong), others)


class EachRung(LiveTest):
    """Tests of commands that are to do the same however they are sampled."""

    asked = 0

    def other_runs(self):
        """[(trigger, how it is recorded)] beside events as whoever runs the tests: both in the long tests, else in turn."""
        runs = [("timer", self.record)]
        if os.geteuid() == 0:
            runs.append(("sigtrap", self.record_as_user))
        self.asked += 1
        return in_turn(runs, self.asked)


def main():
    if not os.access(FATHOM, os.X_OK) and shutil.which(FATHOM) is None:
        raise SystemExit(f"FATHOM={FATHOM} is no program: the build must come first")
    unittest.main(verbosity=2)
