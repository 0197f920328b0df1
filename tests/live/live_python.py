"""live_python - Python programs that print their own truth, on every interpreter at hand."""

import os
import pathlib

import live
import pythons
from live_interpreted import IS_LONG, InterpretedStacks, InterpretedTest

WORKLOADS = pathlib.Path(__file__).resolve().parent.parent / "workloads" / "python"
LANGUAGE = 1

EVERY_PYTHON = pythons.every_python()


def one_of_each_version():
    """Enough for CI: the first that is there of each minor version, or the first that is not."""
    chosen = {}
    for python in EVERY_PYTHON:
        kind = (python.version, python.is_free_threaded)
        if kind not in chosen or python.is_there and not chosen[kind].is_there:
            chosen[kind] = python
    return list(chosen.values())


EACH_VERSION = one_of_each_version()
# One for each way that frames are chained, and the newest.
EACH_CHAIN = ("pyenv-2.7", "pyenv-3.8", "debian-3.11", "pyenv-3.12", "pyenv-3.13", "sid-3.15")


class PythonStacks(InterpretedStacks):
    """The stacks of a recording as far as Python made them."""

    def __init__(self, recording):
        super().__init__(recording, LANGUAGE)


def place(frame):
    """callgraph.py:main"""
    return f"{os.path.basename(frame.path)}:{frame.name}"


def is_impossible(callee, caller, callers, to_libraries):
    """Whether a program that told who calls whom has no such call; caller None: it is outermost."""
    if callee in callers:
        return caller not in callers[callee] if caller or callers[callee] else False
    # A library's function, or code of the program's that its table leaves out.
    return caller in callers and caller not in to_libraries


class PythonTest(InterpretedTest):
    """Tests that take an interpreter."""

    language = "python"
    workloads = WORKLOADS
    interpreters = EVERY_PYTHON
    in_ci = EACH_VERSION

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
        """Every self and total time, and every line's, that the workload told is what the report says."""
        truth, stacks = recording.truth, PythonStacks(recording)
        self.assert_adds_up(recording)
        whole = recording.total_ns()

        def compare(measured_ns, spent_ns, is_hit, what):
            self.assert_share(measured_ns / whole, spent_ns / truth["cpu_ns"],
                              self.allowed(recording, is_hit, widest), what)

        for kind in ("self", "total"):
            for name, spent_ns in truth[kind].items():
                def is_hit(stack, name=name, kind=kind):
                    frames = stacks.walk(stack) if kind == "total" else [stacks.nearest[stack]]
                    return any(frame and frame.name == name for frame in frames)
                measured_ns = sum(row[kind + "_ns"] for row in self.python_rows(recording)
                                  if row["plain_name"] == name)
                compare(measured_ns, spent_ns, is_hit, f"{kind} of {name}")
        for line, spent_ns in truth["lines"].items():
            measured_ns = sum(row["self_ns"] for row in recording.report("--by", "line")["lines"]
                              if row["line"] == int(line) and (row["file"] or "").startswith(self.folder))
            compare(measured_ns, spent_ns,
                    lambda stack: stacks.nearest[stack] and stacks.nearest[stack].line == int(line), f"line {line}")
