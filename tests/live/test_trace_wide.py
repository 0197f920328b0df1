#!/usr/bin/env python3
"""A caller of thousands of different functions has an exact count of each.

How far each is looked for, tests/unit/agent/test_trace_tree.c says: one by one, these would take half a minute.
"""

import collections

import live
import live_trace
import test_trace_native
import test_trace_ruby

FUNCTIONS, ROUNDS, STEP = 20000, 3, 7919
CALLS = 2 * ROUNDS
FUNCTIONS_IN_C = 4096  # wide.c has so many


def counts_of(report):
    """How many rows have been called how often, of functions that are named by numbers."""
    return collections.Counter(row["calls"] for row in report["functions"]
                               if row["name"].rpartition("#")[2].split("(")[0][1:].isdigit())


class Python(live_trace.TraceTest):
    def test_each_of_many_callees_is_counted(self):
        def check(python):
            trace = self.trace(python, self.workload("wide.py"), FUNCTIONS, ROUNDS, STEP)
            self.assertEqual(counts_of(trace.report("-n", "0")), {CALLS: FUNCTIONS})
        self.on_each_python(check, in_ci=("pyenv-3.8", "debian-3.11", "pyenv-3.13"), oldest=(3, 6))


class Ruby(test_trace_ruby.RubyTraceTest):
    def test_each_of_many_callees_is_counted(self):
        def check(ruby):
            trace = self.trace(ruby, self.workload("wide.rb"), FUNCTIONS, ROUNDS, STEP)
            self.assertEqual(counts_of(trace.report("-n", "0")), {CALLS: FUNCTIONS})
        self.on_each_ruby(check, in_ci=("debian-3.1",))


class Compiled(test_trace_native.NativeTest):
    def test_each_of_many_callees_is_counted(self):
        for kind in ("instrument", "fentry"):
            with self.subTest(kind=kind):
                self.trace(self.build("gcc", "wide.c", kind))
                self.assertEqual(counts_of(self.report("-n", "0")), {CALLS: FUNCTIONS_IN_C})


if __name__ == "__main__":
    live.main()
