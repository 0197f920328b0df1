"""live_ruby - Ruby programs that print their own truth, on every interpreter at hand."""

import os
import pathlib

import live
import rubies
from live_interpreted import IS_LONG, InterpretedStacks, InterpretedTest

WORKLOADS = pathlib.Path(__file__).resolve().parent.parent / "workloads" / "ruby"
LANGUAGE = 2
# What Ruby's own library has in Ruby where another version has it in C.
INTERNAL = "<internal:"
COLLECTION = "[garbage collection"

EVERY_RUBY = rubies.every_ruby()
# Names as of at_hand.of_names().
DEBIAN = ("debian",)
# For a few tests of what is read: from 3.3 on, no symbol shows the VM, of a shared and of a static one.
EACH_WAY = ("debian", "3.3", "3.4-static")


def is_collection(name):
    return name is not None and name.startswith(COLLECTION)


class RubyStacks(InterpretedStacks):
    """The stacks of a recording as far as Ruby made them; nothing is distinguished that is written in
    Ruby in one version and in C in another."""

    def __init__(self, recording):
        super().__init__(recording, LANGUAGE)
        self.internal = set()
        for stack, frame in self.frames.items():
            if frame and frame.path.startswith(INTERNAL):
                self.frames[stack], self.builtins[stack] = None, frame.qualified_name
                self.internal.add(stack)
        for stack, parent in self.parents.items():
            if stack:
                self.nearest[stack] = self.frames[stack] or self.nearest[parent]
                self.outermost[stack] = self.outermost[parent] or self.frames[stack]

    def is_collecting(self, stack):
        return any(is_collection(self.builtins[at]) for at in self.outwards(stack))

    def innermost(self, stack):
        """The name of the innermost frame of Ruby's, be it written in Ruby or in C; collections left out."""
        return next((name for name in self.names(stack) if not is_collection(name)), None)


class RubyTest(InterpretedTest):
    """Tests that take an interpreter."""

    maxDiff = None
    language = "ruby"
    workloads = WORKLOADS
    interpreters = EVERY_RUBY
    in_ci = DEBIAN

    def has_own_c_library(self, ruby):
        return rubies.has_own_c_library(ruby)

    def copy_fathom(self, ruby, path):
        rubies.copy_fathom(ruby, live.FATHOM, path)

    def on_each_ruby(self, check, oldest=(2, 7), in_ci=None):
        self.on_each(check, oldest, in_ci)

    def any_ruby(self, *arguments):
        return self.any_interpreter(*arguments)

    def record_ruby(self, ruby, *arguments, **options):
        return self.record_with(ruby, *arguments, **options)

    def time_of_rows(self, recording, name, field):
        return sum(row[field] for row in self.rows_of_language(recording) if row["name"] == name)

    def assert_ruby_truth(self, recording, widest=live.WIDEST_TOLERANCE):
        """Every self and total time, and every line's, that the workload printed is what the report says.

        Returns what was compared: [(what, true share, reported share, allowed)].
        """
        truth, stacks = recording.truth, RubyStacks(recording)
        self.assert_adds_up(recording)
        whole, compared = recording.total_ns(), []

        def compare(measured_ns, spent_ns, is_hit, what):
            compared.append((what, spent_ns / truth["cpu_ns"], measured_ns / whole,
                             self.allowed(recording, is_hit, widest)))

        for name, spent_ns in truth["self"].items():
            compare(self.time_of_rows(recording, name, "self_ns"), spent_ns,
                    lambda stack, name=name: next(stacks.names(stack), None) == name, f"self of {name}")
        for name, spent_ns in truth["total"].items():
            compare(self.time_of_rows(recording, name, "total_ns"), spent_ns,
                    lambda stack, name=name: name in stacks.names(stack), f"total of {name}")
        for line, spent_ns in truth["lines"].items():
            measured_ns = sum(row["self_ns"] for row in recording.report("--by", "line")["lines"]
                              if row["line"] == int(line) and (row["file"] or "").startswith(self.folder))
            compare(measured_ns, spent_ns,
                    lambda stack, line=line: stacks.nearest[stack] and stacks.nearest[stack].line == int(line),
                    f"line {line}")
        for what, expected, measured, allowed in compared:
            self.assert_share(measured, expected, allowed, what)
        self.assertGreater(len(compared), 0)
        return compared

    def assert_whole_ruby_stacks(self, recording, least=0.99):
        """Walks came to their ends, or to where another stack begins."""
        tally = recording.head()["stacks"]
        whole = tally.get("complete", 0) + tally.get("switched", 0)
        self.assertGreaterEqual(whole, least * sum(tally.values()), tally)


def is_own(frame, program):
    """Whether it is a piece of the program's own code."""
    return frame is not None and os.path.basename(frame.path) == program
