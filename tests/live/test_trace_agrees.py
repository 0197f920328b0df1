#!/usr/bin/env python3
"""A trace and samples of one program, on one CPU clock, tell the same of where its time went."""

import live
import live_trace

PHASES = ("loops", "calls", "recursion", "builtins", "generators")
TURNS = 250
RATE = 10000
# Beside the samples' own error and the correction's: what is between two runs of one program.
BETWEEN_RUNS = 0.015


class Agreement(live_trace.TraceTest):
    compares_times = True

    def shares(self, recording):
        """Of the phases' time, each one's with what it calls."""
        spent = {name: recording.time_of(name, "total_ns") for name in PHASES}
        return {name: spent[name] / sum(spent.values()) for name in PHASES}

    def check(self, python):
        program = self.workload("phases.py")
        sampled = self.record_python(python, program, TURNS, rate=RATE)
        traced = self.trace(python, program, TURNS, options=("--clock", "cpu"))
        by_samples, by_trace = self.shares(sampled), self.shares(traced)
        measuring = traced.head()["measuring"]
        self.assertTrue(measuring["is_corrected"])
        doubt = measuring["uncertainty_ns"] / traced.total_ns()
        for name in PHASES:
            allowed = BETWEEN_RUNS + 3 * sampled.standard_error(name, "total") + doubt
            self.assert_share(by_trace[name], by_samples[name], allowed, f"{name}, by the trace")

    def test_the_shares_of_a_program_are_the_same(self):
        self.on_each_python(self.check, in_ci=("pyenv-3.8", "debian-3.11", "pyenv-3.13"), oldest=(3, 6))


if __name__ == "__main__":
    live.main()
