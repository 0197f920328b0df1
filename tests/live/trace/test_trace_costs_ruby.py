#!/usr/bin/env python3
"""What measuring took is not in the times of Ruby's traced methods, and nothing of how that was found out is seen."""

import json
import subprocess

import live
import live_in_step
import live_trace
from live_trace_ruby import RubyTraceTest

# Of the time without a tracer: what is left of the cost of measuring, of all works together, may be so much.
MOST = 0.10
# Of the same, by which runs differ from the next ones: medians of seven were -0.13 to +0.01.
PACE = 0.05
CI = ("3.1",)
METHODS = 5,  # enum trace_kind: methods
IN_C = 6, 7  # methods in C, operators
BLOCK = 65  # an event that makes no call, which blocks are from 3.1 on, unless they are wanted


class TinyMethods(RubyTraceTest):
    """Methods that do next to nothing: most of their traced time is measuring."""

    compares_times = True
    # What is called in each part.
    CALLED = {"tiny_methods": ("twice",), "tiny_nested": ("square", "of_square"), "tiny_objects": ("moved",),
              "tiny_recursion": ("fib",), "tiny_blocks": ("times",), "builtins": ("bytesize",), "operators": ("+",)}

    def run_both(self, ruby, options):
        path = self.path("trace.fathom")
        command = ruby.command(self.workload("tiny_methods.rb"), "1000", str(live_in_step.ROUNDS))
        plain, traced = live_in_step.run(
            [command, [self.fathom_for(ruby), "trace", "-q", "-o", path, *options, "--", *command]])
        return live_in_step.Both(plain["took"], traced["took"], live_trace.Trace(path, None).report(),
                                 lambda name: None if name.startswith("Place#tiny") else name.rpartition("#")[2])

    def compare(self, ruby, parts, *options):
        markers = ["pace", *(part.replace("tiny_", "inlined_") for part in self.CALLED if part.startswith("tiny_"))]
        return live_in_step.compare(self, ruby.name, lambda: self.run_both(ruby, options),
                                    {part: self.CALLED[part] for part in parts}, markers)

    def test_tiny_methods_agree_with_the_same_work_untraced(self):
        def check(ruby):
            parts = [part for part in self.CALLED if part.startswith("tiny_")]
            found = self.compare(ruby, parts, "--no-builtins")
            self.assertLess(abs(found.left(*parts)), MOST + PACE, found)
            live_in_step.check_works(self, found, placed=1)
        self.on_each_ruby(check, in_ci=CI)

    def test_methods_in_c_and_operators_agree_within_what_is_stated(self):
        def check(ruby):
            # Up to 3.0 these are no calls.
            parts = ["builtins", "operators"] if ruby.version[:2] >= (3, 1) else ["builtins"]
            live_in_step.check_works(self, self.compare(ruby, parts))
        self.on_each_ruby(check, in_ci=CI)


class Blocks(RubyTraceTest):
    """What the correction needs to know of a program beside its calls."""

    def sum_of(self, ruby, column, condition, program, *options):
        trace = self.trace(ruby, "--disable-gems", "-e", program, options=options)
        (found,), = trace.rows(f"SELECT coalesce(sum({column}), 0) FROM calls WHERE {condition}")
        return found

    def test_blocks_are_counted_where_they_are_slower_and_make_no_call(self):
        def check(ruby):
            for options in (), ("--no-builtins",), ("--blocks",):
                program = "def run(turns) turns.times { } end; run({})"
                few, many = (self.sum_of(ruby, "quiet_builtins", "1", program.replace("({})", f"({turns})"), *options)
                             for turns in (10, 1010))
                is_slower = ruby.version[:2] >= (3, 1) and options != ("--blocks",)
                self.assertEqual(many - few, 1000 if is_slower else 0, options)
        self.on_each_ruby(check)


UNSEEN = """
require "json"
require "objspace"
GC.start
puts JSON.generate({
  symbols: Symbol.all_symbols.size, constants: Object.constants.sort, globals: global_variables.sort,
  methods: Object.instance_methods(true).size + Object.private_instance_methods(true).size,
  locals: TOPLEVEL_BINDING.local_variables, threads: Thread.list.size, error: $!.inspect, disabled: GC.disable,
  modules: ObjectSpace.each_object(Module).map(&:to_s).reject { |name| name.include?("0x") }.sort,
  called: ObjectSpace.each_object(Object).count { |made| made.singleton_methods(false).include?(:call) },
  features: $LOADED_FEATURES.size, caller: caller, signals: Signal.trap("INT", "DEFAULT").inspect })
"""


class Unseen(RubyTraceTest):
    """Calibration happens in the program's own interpreter, before its first instruction."""

    def test_the_program_sees_nothing_of_it(self):
        def check(ruby):
            plain = subprocess.run(ruby.command("-W2", "-e", UNSEEN), capture_output=True, check=True)
            trace = self.trace(ruby, "-W2", "-e", UNSEEN)
            self.assertEqual(trace.truth, json.loads(plain.stdout))
            self.assertEqual(trace.run.stderr, plain.stderr)
        self.on_each_ruby(check)

    def test_it_is_in_no_report_and_every_kind_is_known(self):
        def check(ruby):
            for options in (), ("--blocks",), ("--no-builtins",), ("--paused",):
                trace = self.trace(ruby, "-e", "1.times { 'x'.size }", options=options)
                kinds = tuple(kind for kind, in trace.rows("SELECT kind FROM costs ORDER BY kind"))
                expected = METHODS if options == ("--no-builtins",) else tuple(sorted((*METHODS, *IN_C)))
                expected += (BLOCK,) if ruby.version[:2] >= (3, 1) and options != ("--blocks",) else ()
                self.assertEqual(kinds, expected, options)
                self.assertEqual(trace.head()["measuring"]["calls_of_unknown_cost"], 0)
                paths = {path for path, in trace.rows("SELECT path FROM codes")}
                self.assertEqual([path for path in paths if path and path.startswith("(eval")], [], options)
        self.on_each_ruby(check)


if __name__ == "__main__":
    live.main()
