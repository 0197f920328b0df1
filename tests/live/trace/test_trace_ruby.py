#!/usr/bin/env python3
"""Traced calls of Ruby programs are as many as a TracePoint counts, method by method, to the last one."""

import collections
import json
import os
import subprocess

import live
import processes
from live_trace_ruby import RubyTraceTest


def merged(counts, as_one):
    """The counts, with those of callees that are one to the counter as one's."""
    one_of = {}
    for names in as_one:
        whole = {one_of.get(name, name) for name in names}
        one = min(whole)
        one_of.update({name: one for name in names})
        one_of.update({name: one for name, other in one_of.items() if other in whole})
    sums = collections.Counter()
    for name, calls in counts.items():
        sums[one_of.get(name, name)] += calls
    return sums


class Counts(RubyTraceTest):
    def outside(self):
        """What the TracePoint counts of run_counted() itself."""
        path = self.workload("counted_calls.rb")
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
        return {f"{path}:{lines.index('def run_counted(program)') + 1}"}

    def check(self, ruby, program, counter="tracepoint"):
        path = self.workload(program)
        trace = self.trace(ruby, self.workload("counted_calls.rb"), counter, path)
        counted = {callee: calls for callee, calls in trace.truth["calls"].items() if callee not in self.outside()}
        counted = merged(counted, trace.truth["as_one"])
        traced = merged(trace.counts_below("Object#run_counted"), trace.truth["as_one"])
        differences = {name: (counted.get(name, 0), traced.get(name, 0)) for name in {*counted, *traced}
                       if counted.get(name, 0) != traced.get(name, 0)}
        self.assertEqual(differences, {}, f"the count of {counter} and ours")
        self.assertGreater(sum(traced.values()), 1000)
        self.assertEqual(self.notes(trace), [])
        return trace

    def test_calls_of_every_kind_are_counted_as_a_tracepoint_counts_them(self):
        self.on_each_ruby(lambda ruby: self.check(ruby, "every_call.rb"))

    def test_calls_of_the_standard_library_are_counted_as_a_tracepoint_counts_them(self):
        self.on_each_ruby(lambda ruby: self.check(ruby, "library_calls.rb"))

    def test_ruby_prof_counts_as_many_in_the_same_run(self):
        def check(ruby):
            if subprocess.run(ruby.command("-e", "require 'ruby-prof'"), capture_output=True, check=False).returncode != 0:
                self.skipTest(f"{ruby.name}: ruby-prof is not installed")
            self.check(ruby, "library_calls.rb", "ruby-prof")
        self.on_each_ruby(check, in_ci=("3.1",))


class Contexts(RubyTraceTest):
    """Threads, fibers, Ractors and children: what is called is counted, and stands below its caller."""

    # The nearest of the program's own methods that each is called by; None: of its thread or fiber it is the first.
    CALLERS = {"inner": {"outer"}, "between": {"inner"}, "outer": {None}, "made": {None}, "resume_one": {"resume_all"},
               "in_fiber_of_thread": {None}, "cleaned_up": {"ends_by_itself"}, "step": {"run_thread", None}}

    def check(self, ruby, program):
        trace = self.trace(ruby, self.workload(program))
        self.assertEqual(self.notes(trace), [])
        expected = trace.truth["calls"]
        self.assertEqual({name: trace.calls_of(name) for name in expected}, expected)
        return trace

    def test_threads_and_fibers_have_stacks_of_their_own(self):
        def check(ruby):
            trace = self.check(ruby, "traced_threads.rb")
            callers = {}
            for name, caller in trace.own_callers(trace.truth["calls"]):
                callers.setdefault(name, set()).add(caller)
            self.assertEqual({name: callers[name] for name in self.CALLERS}, self.CALLERS)
            by_thread = [sum(calls for name, calls in threads.items() if name == "step")
                         for threads in trace.calls_by_thread().values()]
            self.assertEqual(sorted(calls for calls in by_thread if calls > 1), trace.truth["threads"])
        self.on_each_ruby(check)

    def test_ractors_are_traced_and_do_not_end_the_trace(self):
        self.on_each_ruby(lambda ruby: self.check(ruby, "traced_ractors.rb"), oldest=(3, 0))

    def test_what_is_moved_and_made_anew_is_counted(self):
        self.on_each_ruby(lambda ruby: self.check(ruby, "traced_collections.rb"))

    def test_children_go_on_in_what_they_were_born_in(self):
        def check(ruby):
            trace = self.check(ruby, "traced_children.rb")
            self.assertIn(("in_child", "start"), set(trace.own_callers(trace.truth["calls"])))
            # The methods that fork() was called in are on a child's stack once: none of them calls itself.
            for path in trace.paths():
                names = [name for name in path if name in trace.truth["calls"]]
                self.assertEqual(len(names), len(set(names)), path)
        self.on_each_ruby(check)


class Programs(RubyTraceTest):
    def test_methods_only_when_asked(self):
        def check(ruby):
            trace = self.trace(ruby, self.workload("every_call.rb"), options=["--no-builtins"])
            self.assertEqual([callee for _, callee in trace.stacks().values() if callee[0] == ""], [])
            self.assertEqual(sum(calls["deep"] for calls in trace.calls_by_thread().values()), 401)
        self.on_each_ruby(check)

    def test_blocks_when_asked(self):
        program = """
def taker
  yield
  yield
end
define_method(:defined) { |x| x } if false
self.class.define_method(:defined) { |x| x }
def work
  3.times { taker { 1 } }
  defined(1)
end
work
"""

        def check(ruby):
            path = self.write("blocks.rb", program)
            counts = self.trace(ruby, path, options=["--blocks"]).calls_of
            self.assertEqual((counts("block in work"), counts("block (2 levels) in work"), counts("taker")), (3, 6, 3))
            # A block that is a method is called once, not twice.
            self.assertEqual(counts("block in <main>"), 1)
            self.assertEqual(self.trace(ruby, path).calls_of("block in work"), 0)
        self.on_each_ruby(check)

    def test_a_threads_time_is_that_from_its_first_call_to_its_last(self):
        def check(ruby):
            trace = self.trace(ruby, self.write("sleeps.rb", "def work\n  sleep 0.2\nend\nThread.new { work }.join\n"))
            row, = [row for row in trace.report()["functions"] if row["name"] == "Kernel#sleep"]
            self.assertGreaterEqual(row["self_ns"], 190000000)
            main = max(row["self_ns"] for row in trace.report("--by", "thread")["threads"])
            self.assertLess(main, trace.head()["wall_ns"] * 1.05)
            self.assertGreater(main, 0.2e9)
            self.assertEqual(sum(row["self_ns"] for row in trace.report()["functions"]),
                             trace.report()["total_ns"])
        self.on_each_ruby(check)

    def test_however_a_program_ends_its_calls_are_counted(self):
        ways = {"exit!(3)": 3, "abort": 1, "Process.kill(:KILL, $$); sleep": -9, "raise 'x'": 1,
                "exec('sh', '-c', 'exit 4')": 4, "Thread.new { exit(5) }.join": 5}

        def check(ruby):
            for way, code in ways.items():
                program = f"def leaf(i)\n  i\nend\n1000.times {{ |i| leaf(i) }}\n{way}\n"
                trace = self.trace(ruby, self.write("ends.rb", program), expect=None)
                self.assertEqual((trace.calls_of("leaf"), trace.run.returncode % 256), (1000, code % 256 if code >= 0
                                                                                        else 128 - code), way)
        self.on_each_ruby(check, in_ci=("3.1",))

    def test_other_tools_are_called_as_without_us(self):
        program = """
require "json"
require "coverage"
seen = Hash.new(0)
def leaf(i)
  i.to_s
end
trace = TracePoint.new(:call, :return, :c_call, :c_return, :line) { |point| seen[[point.event, point.method_id]] += 1 }
trace.enable { 10.times { |i| leaf(i) } }
events = 0
set_trace_func(proc { |event, *| events += 1 })
leaf(1)
set_trace_func(nil)
Coverage.start
leaf(2)
Coverage.result
trace.enable { leaf(3) }
puts JSON.generate([seen.map { |key, value| [key, value] }, events])
"""

        def check(ruby):
            path = self.write("tools.rb", program)
            plain = subprocess.run(ruby.command(path), stdout=subprocess.PIPE, check=True, timeout=300).stdout
            trace = self.trace(ruby, path)
            self.assertEqual(trace.run.stdout, plain)
            self.assertEqual(trace.calls_of("leaf"), 13)
        self.on_each_ruby(check)

    def reported(self, name, method):
        """How often it was called, by a report of what is being written."""
        done = subprocess.run([live.FATHOM, "report", self.path(name), "--json"], capture_output=True, timeout=300,
                              check=False)
        if done.returncode != 0:
            return 0
        return sum(row["calls"] for row in json.loads(done.stdout)["functions"] if row["plain_name"] == method)

    def test_what_is_not_compiled_for_being_traced_is_reported(self):
        ways = ["--yjit"], ["-e", "RubyVM::YJIT.enable"]
        program = "def leaf(i)\n  i\nend\n1000.times { |i| leaf(i) }\n"

        def check(ruby):
            # Debian's 3.3 has been built without it.
            if not ruby.name.startswith("built"):
                return
            path = self.write("compiled.rb", program)
            self.assertEqual(self.notes(self.trace(ruby, path)), [])
            for options in ways:
                trace = self.trace(ruby, *options, path)
                self.assertTrue(any("YJIT" in note for note in self.notes(trace)), options)
                self.assertEqual(trace.calls_of("leaf"), 0 if "-e" in options else 1000)
        self.on_each_ruby(check, in_ci=("3.4-static",), oldest=(3, 3))

    def test_a_running_program_can_be_reported(self):
        program = "def leaf(i)\n  i\nend\n1000.times { |i| leaf(i) }\n$stdout.puts\n$stdout.flush\n$stdin.read\n"

        def check(ruby):
            run = subprocess.Popen([self.fathom_for(ruby), "trace", "-q", "-o", self.path("runs.fathom"), "--",
                                    *ruby.command(self.write("runs.rb", program))],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            try:
                run.stdout.readline()
                processes.wait_until(lambda: self.reported("runs.fathom", "leaf") == 1000, 60,
                                     "its calls are not reported")
            finally:
                run.communicate(timeout=300)
            os.unlink(self.path("runs.fathom"))
        self.on_each_ruby(check, in_ci=("3.1",))


if __name__ == "__main__":
    live.main()
