"""live_python - Python programs that print their own truth, on every interpreter at hand."""

import os
import pathlib

import live
import pythons
from live_interpreted import IS_LONG, InterpretedStacks, InterpretedTest

WORKLOADS = pathlib.Path(__file__).resolve().parent.parent / "workloads" / "python"
LANGUAGE = 1

EVERY_PYTHON = pythons.every_python()


# Names as of at_hand.of_names(): what CI has.  Frames are chained in one way up to 3.10, in another in 3.11, and from
# 3.12 on.
IN_CI = ("3.8", "debian", "3.12", "3.14")
# Of these each test that is content with IN_CI has one: what is read of them differs little.
EITHER = ("3.12", "3.14")
# For a few tests of what is read.  The others are in the long tests: their neighbours differ little in what we read.
EACH_LAYOUT = ("2.7", "3.8", "debian", "3.12", "3.13", "3.13t", "3.14", "3.15")
# For what another test has of each, by other programs.
FEW = ("debian", "3.14")
DEBIAN = ("debian",)


# Of a function's own time, what the loop spends in the C library: 2.7 takes and gives its lock every 100
# instructions, and says so by frames of its own.
MOST_IN_C = 0.08


class PythonStacks(InterpretedStacks):
    """The stacks of a recording as far as Python made them."""

    def __init__(self, recording):
        super().__init__(recording, LANGUAGE)


def place(frame):
    """callgraph.py:main"""
    return f"{os.path.basename(frame.path)}:{frame.name}"


def is_impossible(callee, caller, callers, to_libraries):
    """Whether a program that printed which function calls which has no such call; caller None: it is outermost."""
    if callee in callers:
        return caller not in callers[callee] if caller or callers[callee] else False
    # A library's function, or code of the program's that its table leaves out.
    return caller in callers and caller not in to_libraries


class PythonTest(InterpretedTest):
    """Tests that take an interpreter."""

    language = "python"
    workloads = WORKLOADS
    interpreters = EVERY_PYTHON
    in_ci = IN_CI
    either = EITHER

    def has_own_c_library(self, python):
        return pythons.is_fetched(python)

    def copy_fathom(self, python, path):
        pythons.copy_fathom(live.FATHOM, path)

    def on_each_python(self, check, oldest=(2, 7), in_ci=None):
        self.on_each(check, oldest, in_ci)

    def any_python(self, *arguments):
        return self.any_interpreter(*arguments)

    def record_python(self, python, *arguments, **options):
        return self.record_with(python, *arguments, **options)

    def python_rows(self, recording):
        return self.rows_of_language(recording)

    def assert_python_truth(self, recording, widest=live.WIDEST_TOLERANCE):
        """Every self and total time, and every line's, that the workload printed is what the report says."""
        truth, stacks = recording.truth, PythonStacks(recording)
        self.assert_adds_up(recording)
        whole = recording.total_ns()

        def compare(measured_ns, spent_ns, is_hit, what):
            self.assert_share(measured_ns / whole, spent_ns / truth["cpu_ns"],
                              self.allowed(recording, is_hit, widest), what)

        def compare_own(measured_ns, in_c_ns, spent_ns, is_nearest, what):
            """What the program calls a function's own time has the C library's beneath the loop."""
            self.assertLessEqual(in_c_ns, MOST_IN_C * spent_ns, what)
            compare(measured_ns + in_c_ns, spent_ns,
                    lambda stack: stacks.nearest[stack] is not None and is_nearest(stacks.nearest[stack]), what)

        for name, spent_ns in truth["total"].items():
            measured_ns = sum(row["total_ns"] for row in self.python_rows(recording) if row["plain_name"] == name)
            compare(measured_ns, spent_ns,
                    lambda stack, name=name: any(frame.name == name for frame in stacks.walk(stack)), f"total of {name}")
        for name, spent_ns in truth["self"].items():
            rows = [row for row in self.python_rows(recording) if row["plain_name"] == name]
            compare_own(sum(row["self_ns"] for row in rows), sum(self.in_c_ns(recording, row) for row in rows), spent_ns,
                        lambda frame, name=name: frame.name == name, f"self of {name}")
        for line, spent_ns in truth["lines"].items():
            rows = [row for row in recording.report("--by", "line")["lines"]
                    if row["line"] == int(line) and (row["file"] or "").startswith(self.folder)]
            own_ns = sum(row["self_ns"] for row in rows)
            # These lines call nothing of Python's.
            compare_own(own_ns, sum(row["total_ns"] for row in rows) - own_ns, spent_ns,
                        lambda frame, line=line: frame.line == int(line), f"line {line}")

    def in_c_ns(self, recording, row):
        """What a function spends beneath the loop in C that is no function of Python's."""
        report = recording.report("--callees", row["name"])
        languages = {function["id"]: function["language"] for function in report["functions"]}
        return sum(node["total_ns"] for node in report["callees"]["nodes"]
                   if node["parent"] == 0 and languages[node["function"]] != self.language)
