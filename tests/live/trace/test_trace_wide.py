#!/usr/bin/env python3
"""A caller of thousands of different functions has an exact count of each.

How far each is looked for, tests/unit/agent/test_trace_tree.c says: one by one, these would take half a minute.
"""

import collections
import contextlib
import re
import subprocess
import sys

import live
import live_trace
import test_trace_native
import test_trace_ruby

FUNCTIONS, ROUNDS, STEP = 20000, 3, 7919
CALLS = 2 * ROUNDS
# Functions that are called first and then, and letters: there is no room for the names of the first.
TOO_LONG = 20000, 10000, 450
UNKNOWN = "[unknown Python function]"
FUNCTIONS_IN_C = 4096  # wide.c has so many


def counts_of(report):
    """How many rows have been called how often, of functions that are named by numbers."""
    return collections.Counter(row["calls"] for row in report["functions"]
                               if row["name"].rpartition("#")[2].split("(")[0][1:].isdigit())


@contextlib.contextmanager
def busy_machine(count=8):
    """So many other programs compute meanwhile: the recorder seldom runs while names are sent."""
    others = []
    try:
        for _ in range(count):
            others.append(subprocess.Popen([sys.executable, "-c", "while True: pass"]))
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


class Python(live_trace.TraceTest):
    @live.long_only  # with a recorder that is stopped, below, none is either
    def test_no_name_is_lost_on_a_busy_machine(self):
        def check(python):
            with busy_machine():
                trace = self.trace(python, self.workload("wide.py"), FUNCTIONS, ROUNDS, STEP)
            self.assertEqual(counts_of(trace.report("-n", "0")), {CALLS: FUNCTIONS})
        self.on_each_python(check, in_ci=("3.11",), oldest=(3, 11))

    def test_each_of_many_callees_is_counted(self):
        def check(python):
            trace = self.trace(python, self.workload("wide.py"), FUNCTIONS, ROUNDS, STEP)
            self.assertEqual(counts_of(trace.report("-n", "0")), {CALLS: FUNCTIONS})
        self.on_each_python(check, in_ci=("3.8", "3.11", "3.14"), oldest=(3, 6))


class Unread(live_trace.TraceTest):
    """The recorder is stopped while names are sent."""

    def trace_unread(self, python, *arguments):
        return self.trace(python, self.workload("unread.py"), *arguments)

    def counts(self, trace):
        """{name without its number and its letters: {calls: functions}}"""
        counts = collections.defaultdict(collections.Counter)
        for row in trace.report("-n", "0")["functions"]:
            counts[re.sub(r"\d+_x*$", "", row["name"])][row["calls"]] += 1
        return counts

    def nameless(self, trace):
        return [note for note in trace.head()["notes"] if "callees have no names" in note]

    def test_thousands_of_names_at_once_have_room(self):
        def check(python):
            trace = self.trace_unread(python, 0, FUNCTIONS, 0, 0)
            self.assertEqual(self.counts(trace)["then"], {1: FUNCTIONS})
            self.assertFalse(self.nameless(trace))
        self.on_each_python(check, in_ci=("3.11",), oldest=(3, 11))

    def test_names_without_room_are_sent_later(self):
        def check(python):
            trace = self.trace_unread(python, *TOO_LONG, 3)
            counts = self.counts(trace)
            self.assertEqual(counts["then"], {4: TOO_LONG[1]})
            self.assertEqual(counts["call_again"], {1: 1})
        self.on_each_python(check, in_ci=("3.11",), oldest=(3, 11))

    def test_calls_without_names_are_counted(self):
        def check(python):
            trace = self.trace_unread(python, *TOO_LONG, 0)
            counts = self.counts(trace)
            unknown = sum(counts[UNKNOWN])
            self.assertGreaterEqual(unknown, TOO_LONG[1])
            # What else was called then, such as call_again(), is more.
            self.assertIn(counts["first"][1] + counts["then"][1] + unknown,
                          range(sum(TOO_LONG[:2]), sum(TOO_LONG[:2]) + 10))
            self.assertEqual(len(self.nameless(trace)), 1)
        self.on_each_python(check, in_ci=("3.11",), oldest=(3, 11))


class Ruby(test_trace_ruby.RubyTraceTest):
    def test_each_of_many_callees_is_counted(self):
        def check(ruby):
            trace = self.trace(ruby, self.workload("wide.rb"), FUNCTIONS, ROUNDS, STEP)
            self.assertEqual(counts_of(trace.report("-n", "0")), {CALLS: FUNCTIONS})
        self.on_each_ruby(check, in_ci=("3.1",))


class Compiled(test_trace_native.NativeTest):
    def test_each_of_many_callees_is_counted(self):
        for kind in ("instrument", "fentry"):
            with self.subTest(kind=kind):
                # Its functions are what they are: to optimise thousands takes five seconds.
                self.trace(self.build("gcc", "wide.c", kind, "-O0"))
                self.assertEqual(counts_of(self.report("-n", "0")), {CALLS: FUNCTIONS_IN_C})


if __name__ == "__main__":
    live.main()
