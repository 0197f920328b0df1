#!/usr/bin/env python3
"""Traced calls of Ruby programs are as many as a TracePoint counts, method by method, to the last one."""

import collections
import json
import os
import re
import subprocess

import live
import live_ruby
import live_trace


# A method in C whose owner has a constant's name.
OWNED = re.compile(r"[A-Z]\w*(::[A-Z]\w*)*[.#]")


class RubyTrace(live_trace.Trace):
    """A recording of Ruby's calls."""

    def stacks(self):
        """{stack: (parent, (path, line, "Owner#method"))}"""
        codes = {row[0]: (row[3] or "", row[4], row[2] or row[1])
                 for row in self.rows("SELECT id, name, qualified_name, path, line FROM codes")}
        frames = dict(self.rows("SELECT id, address >> 32 FROM frames"))
        return {stack: (parent or 0, codes[frames[frame]])
                for stack, parent, frame in self.rows("SELECT id, parent, frame FROM stacks")}

    def counts_below(self, name):
        """Calls of all that was called from a method, in its thread and fiber, as counted_calls.rb has them."""
        stacks = self.stacks()
        is_below = {0: False}
        for stack in sorted(stacks):
            parent = stacks[stack][0]
            is_below[stack] = is_below[parent] or parent != 0 and stacks[parent][1][2] == name
        counts = collections.Counter()
        for stack, calls in self.rows("SELECT stack, sum(calls) FROM calls WHERE stack > 0 GROUP BY stack"):
            if is_below[stack] and calls:
                path, line, callee = stacks[stack][1]
                if path == "":
                    callee = callee if OWNED.match(callee) else callee.rpartition("#")[2]
                counts[f"{path}:{line}" if path else callee] += calls
        return counts


class RubyTraceTest(live_ruby.RubyTest):
    """Tests that trace a program on an interpreter."""

    def trace(self, ruby, *arguments, options=(), expect=0, name="trace.fathom", **run_options):
        path = self.path(name)
        for leftover in (path, path + "-wal", path + "-shm", path + ".old"):
            if os.path.exists(leftover):
                os.unlink(leftover)
        run = subprocess.run([self.fathom_for(ruby), "trace", "-q", "-o", path, *options, "--",
                              *ruby.command(*arguments)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, timeout=300, cwd=self.folder, **run_options)
        if expect is not None:
            self.assertEqual(run.returncode, expect, run.stderr.decode(errors="replace"))
        return RubyTrace(path, run)

    def notes(self, trace):
        return [text for text, in trace.rows("SELECT text FROM notes")]


class Counts(RubyTraceTest):
    def outside(self):
        """What the TracePoint counts of run_counted() itself."""
        path = self.workload("counted_calls.rb")
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
        return {f"{path}:{lines.index('def run_counted(program)') + 1}"}

    def check(self, ruby, program):
        path = self.workload(program)
        trace = self.trace(ruby, self.workload("counted_calls.rb"), "tracepoint", path)
        counted = {callee: calls for callee, calls in trace.truth.items() if callee not in self.outside()}
        traced = trace.counts_below("Object#run_counted")
        differences = {name: (counted.get(name, 0), traced.get(name, 0)) for name in {*counted, *traced}
                       if counted.get(name, 0) != traced.get(name, 0)}
        self.assertEqual(differences, {}, "a TracePoint's count and ours")
        self.assertGreater(sum(traced.values()), 1000)
        self.assertEqual(self.notes(trace), [])
        return trace

    def test_calls_of_every_kind_are_counted_as_a_tracepoint_counts_them(self):
        self.on_each_ruby(lambda ruby: self.check(ruby, "every_call.rb"))

    def test_calls_of_the_standard_library_are_counted_as_a_tracepoint_counts_them(self):
        self.on_each_ruby(lambda ruby: self.check(ruby, "library_calls.rb"))


if __name__ == "__main__":
    live.main()
