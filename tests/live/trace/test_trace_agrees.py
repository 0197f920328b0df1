#!/usr/bin/env python3
"""A trace and samples of one program, on one CPU clock, show the same of where its time went."""

import live
import live_trace
import live_trace_ruby
from test_trace_native import FLAGS, NativeTest

RATE = 10000
# Beside the samples' own error and the correction's: what is between two runs of one program.
BETWEEN_RUNS = 0.015
CLOCK = ("--clock", "cpu")


class Agreement:
    """Of a program in phases: beside a live.LiveTest."""

    compares_times = True

    def shares(self, recording, phases):
        """Of the phases' time, each one's with what it calls."""
        spent = {name: recording.time_of(name, "total_ns") for name in phases}
        return {name: spent[name] / sum(spent.values()) for name in phases}

    def assert_agree(self, sampled, traced, phases):
        by_samples, by_trace = self.shares(sampled, phases), self.shares(traced, phases)
        measuring = traced.head()["measuring"]
        self.assertTrue(measuring["is_corrected"])
        doubt = measuring["uncertainty_ns"] / traced.total_ns()
        for name in phases:
            allowed = BETWEEN_RUNS + live.STANDARD_ERRORS * sampled.standard_error(name, "total") + doubt
            self.assert_share(by_trace[name], by_samples[name], allowed, f"{name}, by the trace")


class Python(Agreement, live_trace.TraceTest):
    def test_the_shares_of_a_program_are_the_same(self):
        def check(python):
            command = self.workload("phases.py"), 250
            self.assert_agree(self.record_python(python, *command, rate=RATE),
                              self.trace(python, *command, options=CLOCK),
                              ("loops", "calls", "recursion", "builtins", "generators"))
        self.on_each_python(check, in_ci=("3.8", "3.11", "3.14"), oldest=(3, 6))


class Ruby(Agreement, live_trace_ruby.RubyTraceTest):
    def test_the_shares_of_a_program_are_the_same(self):
        """Methods in C are their callers' time: where they are counted, operators are called that else are not."""
        def check(ruby):
            command = self.workload("phases.rb"), 120
            self.assert_agree(self.record_ruby(ruby, *command, rate=RATE),
                              self.trace(ruby, *command, options=(*CLOCK, "--no-builtins")),
                              [f"Object#{name}" for name in ("loops", "calls", "recursion", "builtins")])
        self.on_each_ruby(check, in_ci=("3.1",))


class Native(Agreement, NativeTest):
    def test_the_shares_of_a_program_are_the_same(self):
        for kind in FLAGS:
            with self.subTest(kind):
                program = self.build("gcc", "phases.c", kind)
                sampled = self.record([program, "300"], "--rate", str(RATE))
                self.trace(program, "300", options=CLOCK)
                traced = live.Recording(self.path("trace.fathom"), None)
                self.assert_agree(sampled, traced, ("loops", "calls", "recursion"))


if __name__ == "__main__":
    live.main()
