"""live_python - Python programs that print their own truth, on every interpreter at hand.

With FATHOM_LONG=1 in the environment, tests take the minutes that CI does not have.
"""

import collections
import os
import pathlib
import shutil

import live
import pythons

WORKLOADS = pathlib.Path(__file__).resolve().parent.parent / "workloads" / "python"
IS_LONG = os.environ.get("FATHOM_LONG") == "1"
MODULE_KIND_INTERPRETED = 5

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

Frame = collections.namedtuple("Frame", "name qualified_name path first_line line")


class PythonStacks:
    """The stacks of a recording as far as Python made them.

    `frames` has the Python frame of each stack's leaf or None, C functions that Python calls by name
    left out; `nearest` the innermost one at or outside of it; `outermost` the outermost.
    """

    def __init__(self, recording):
        # File names are any bytes.
        codes = {row[0]: row[1:] for row in
                 recording.rows("SELECT id, name, qualified_name, CAST(path AS BLOB), line FROM codes")}
        python = {}
        for frame, address in recording.rows("SELECT f.id, f.address FROM frames f JOIN modules m"
                                             " ON m.id = f.module WHERE m.kind = ?", MODULE_KIND_INTERPRETED):
            name, qualified_name, path, first_line = codes[address >> 32]
            if path is not None:
                python[frame] = Frame(name, qualified_name or name, os.fsdecode(path), first_line,
                                      address & 0xffffffff)
        self.parents, self.frames, self.nearest, self.outermost = {0: 0}, {0: None}, {0: None}, {0: None}
        for stack, parent, frame in recording.rows("SELECT id, parent, frame FROM stacks ORDER BY id"):
            self.parents[stack] = parent or 0
            self.frames[stack] = found = python.get(frame)
            self.nearest[stack] = found or self.nearest[parent or 0]
            self.outermost[stack] = self.outermost[parent or 0] or found

    def pairs(self):
        """(stack, callee, caller or None) for each stack that ends in a Python frame."""
        for stack, frame in self.frames.items():
            if frame:
                yield stack, frame, self.nearest[self.parents[stack]]

    def walk(self, stack):
        """Python frames, innermost first."""
        while stack:
            if self.frames[stack]:
                yield self.frames[stack]
            stack = self.parents[stack]


def place(frame):
    """callgraph.py:main"""
    return f"{os.path.basename(frame.path)}:{frame.name}"


def is_impossible(callee, caller, callers, to_libraries):
    """Whether a program that told who calls whom has no such call; caller None: it is outermost."""
    if callee in callers:
        return caller not in callers[callee] if caller or callers[callee] else False
    # A library's function, or code of the program's that its table leaves out.
    return caller in callers and caller not in to_libraries


class PythonTest(live.LiveTest):
    """Tests that take an interpreter."""

    def workload(self, name):
        """The workload's path in a folder that everybody can read, with what it imports."""
        folder = self.path("workloads")
        if not os.path.exists(folder):
            shutil.copytree(WORKLOADS, folder, ignore=shutil.ignore_patterns("__pycache__"))
        return os.path.join(folder, name)

    def on_each_python(self, check, oldest=(2, 7), in_ci=None):
        """check(python) as a subtest for each interpreter that is no older; what is not there is told.

        All there are, in long tests; else those named in_ci, or one of each version.
        """
        for python in EVERY_PYTHON if IS_LONG or in_ci else EACH_VERSION:
            if python.version < oldest or not IS_LONG and in_ci and python.name not in in_ci:
                continue
            with self.subTest(python.name):
                if not python.is_there:
                    self.skipTest(f"{python.name}: {python.why_not}")
                check(python)

    def any_python(self, *arguments):
        """Debian's, as a command line."""
        debian = next(python for python in EVERY_PYTHON if python.name.startswith("debian"))
        if not debian.is_there:
            self.skipTest(debian.why_not)
        return debian.command(*arguments)

    def fathom_for(self, python):
        if not pythons.is_fetched(python):
            return live.FATHOM
        path = self.path("fathom")
        if not os.path.exists(path):
            try:
                pythons.copy_fathom(live.FATHOM, path)
            except ValueError as error:
                self.skipTest(f"no fathom for {python.name}: {error}")
        return path

    def record_python(self, python, *arguments, options=(), **record_options):
        """Records the interpreter with these arguments; a workload's path is its first."""
        return self.record(python.command(*arguments), *options, fathom=self.fathom_for(python), **record_options)

    def python_rows(self, recording):
        return [row for row in recording.report()["functions"] if row["language"] == "python"]

    def standard_error_of(self, recording, is_hit):
        """Of the share of samples' time whose stack is_hit(stack), by batch means over time."""
        samples = recording.samples()
        size = len(samples) // live.BATCHES
        if size == 0:
            return 1.0
        hits = {stack: is_hit(stack) for stack in {row[2] for row in samples}}
        shares = []
        for first in range(0, size * live.BATCHES, size):
            batch = samples[first:first + size]
            shares.append(sum(row[3] for row in batch if hits[row[2]]) / sum(row[3] for row in batch))
        mean = sum(shares) / len(shares)
        return (sum((share - mean) ** 2 for share in shares) / (len(shares) - 1) / len(shares)) ** 0.5

    def assert_python_truth(self, recording, widest=live.WIDEST_TOLERANCE):
        """Every self and total time, and every line's, that the workload told is what the report says."""
        truth, stacks = recording.truth, PythonStacks(recording)
        self.assert_adds_up(recording)
        whole = recording.total_ns()

        def compare(measured_ns, spent_ns, is_hit, what):
            allowed = min(widest, max(live.ONE_POINT, 3 * self.standard_error_of(recording, is_hit)))
            self.assert_share(measured_ns / whole, spent_ns / truth["cpu_ns"], allowed, what)

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
