#!/usr/bin/env python3
"""Python's stacks where walking them is hard: C functions, recycled code, deep recursion, sub-interpreters."""

import pathlib
import unittest

import live
import live_python
from at_hand import of_names
import pythons

WORKLOADS = pathlib.Path(__file__).resolve().parents[2] / "workloads" / "python"
CODE_KIND = 5
# Where each chain of frames ends, and what this system has.
VERSIONS = ((2, 7), (3, 8), (3, 11), (3, 12), (3, 13), (3, 14), (3, 15))

DESCENT = """
import sys
sys.setrecursionlimit(4000)
def down(n):
    if n == 0:
        x = 0
        for i in range(1000000):
            x += i
        return x
    return down(n - 1) if n % 2 else max(map(down, [n - 1]))
for i in range(int(sys.argv[2])):
    down(int(sys.argv[1]))
"""

INTERPRETERS = """
import time
try:
    import _interpreters as interpreters
    execute = interpreters.exec
except ImportError:
    import _xxsubinterpreters as interpreters
    execute = interpreters.run_string
CODE = '''
def inner_leaf(n):
    x = 0
    for i in range(n):
        x += i
    return x
def by_key(value):
    return inner_leaf(20000)
def inner():
    return sorted(range(60), key=by_key)
inner()
'''
def calls(number):
    execute(number, CODE)
number = interpreters.create()
for i in range(20):
    calls(number)
"""
INTERPRETERS_CHAIN = ["inner_leaf", "by_key", "inner", "<module>", "calls", "<module>"]


def functions_of(recording):
    """{stack: [(name, file)], innermost first} of those that were sampled; C functions have no file."""
    codes = {code: row for code, *row in recording.rows("SELECT id, name, path FROM codes")}
    frames = dict(recording.rows("SELECT frames.id, frames.address >> 32 FROM frames JOIN modules"
                                 " ON modules.id = frames.module WHERE modules.kind = ?", CODE_KIND))
    rows = {stack: (parent, frame) for stack, parent, frame in
            recording.rows("SELECT id, parent, frame FROM stacks")}
    made = {}
    for stack, in recording.rows("SELECT DISTINCT stack FROM samples WHERE stack != 0"):
        names, at = [], stack
        while at:
            at, frame = rows[at]
            if frame in frames:
                names.append(tuple(codes[frames[frame]]))
        made[stack] = names
    return made


class PythonWalks(live.LiveTest):
    compares_times = True

    def record_python(self, python, *arguments, **options):
        if not python.is_there:
            self.skipTest(python.why_not)
        fathom = live.FATHOM
        if pythons.is_fetched(python):
            fathom = self.path("fathom")
            pythons.copy_fathom(live.FATHOM, fathom)
        return self.record(python.command(*arguments), fathom=fathom, **options)

    def check_c_functions(self, python):
        recording = self.record_python(python, WORKLOADS / "builtins.py", 3, rate=5000)
        truth = recording.truth
        total = {}
        for row in recording.report()["functions"]:
            total[row["name"]] = total.get(row["name"], 0) + row["total_ns"]
        module = "__builtin__" if python.version < (3,) else "builtins"
        for name, spent_ns in truth["total"].items():
            full = name if "." in name else f"{module}.{name}"
            allowed = max(0.015, live.STANDARD_ERRORS * recording.standard_error(full, "total"))
            self.assert_share(total.get(full, 0) / recording.total_ns(), spent_ns / truth["cpu_ns"],
                              min(allowed, 0.03), f"{python.name}: {full}")

    def check_recycled_code(self, python):
        recording = self.record_python(python, WORKLOADS / "reused.py", 1, rate=10000)
        met = 0
        for names in functions_of(recording).values():
            for (name, file), (caller, callers_file) in zip(names, names[1:]):
                kind, _, number = name.partition("_")
                if kind not in ("inner", "outer") or not number.isdigit():
                    continue
                met += 1
                expected = f"outer_{number}" if kind == "inner" else "<module>"
                self.assertEqual((file, caller, callers_file),
                                 (f"made_{number}", expected, f"made_{number}"), f"caller of {name}")
        self.assertGreater(met, 100)

    def check_a_thousand_calls(self, python):
        depth = 900
        recording = self.record_python(python, "-c", DESCENT, depth, 3, rate=200)
        deepest = max(sum(name == "down" for name, _ in names) for names in functions_of(recording).values())
        self.assertEqual(deepest, depth + 1)
        self.assertNotIn("too_deep", recording.head()["stacks"])

    def check_interpreters(self, python):
        if python.version < (3, 8):
            self.skipTest("there is no module for several interpreters before 3.8")
        recording = self.record_python(python, "-c", INTERPRETERS, rate=1000)
        chains = [[name for name, file in names if file is not None]
                  for names in functions_of(recording).values()]
        inner = [chain for chain in chains if "by_key" in chain]
        self.assertGreater(len(inner), 0)
        for chain in inner:
            self.assertEqual(chain[chain.index("by_key"):], INTERPRETERS_CHAIN[1:])


def add_tests():
    checks = {
        "c_functions_have_the_time_that_they_took": PythonWalks.check_c_functions,
        "recycled_code_has_its_own_name": PythonWalks.check_recycled_code,
        "deep_recursion_is_whole": PythonWalks.check_a_thousand_calls,
        "several_interpreters_are_one_stack": PythonWalks.check_interpreters,
    }
    for python in live_python.EVERY_PYTHON if live.IS_LONG else of_names(live_python.EVERY_PYTHON, live_python.IN_CI):
        for name, check in checks.items():
            if python.version in VERSIONS:
                name = f"test_{name}_on_{python.name.replace('-', '_').replace('.', '_')}"
                setattr(PythonWalks, name, lambda self, check=check, python=python: check(self, python))


add_tests()

if __name__ == "__main__":
    live.main()
