#!/usr/bin/env python3
"""A walk at every instruction of Python programs: no stack that the program cannot make.

The agent is one that samples at each instruction (steps/steps.c).  The program knows which function
calls which (workloads/python/steps.py); every caller and callee of every stack must be such a pair,
whatever was being set up or torn down at that instruction, and no sample is thrown away.

usage: test_python_steps.py [--long] [unittest's arguments]    --long: minutes on each interpreter
"""

import os
import pathlib
import sys
import unittest

import live
import live_python
import pythons
from at_hand import of_names

LONG = "--long" in sys.argv
WORKLOAD = pathlib.Path(__file__).resolve().parents[2] / "workloads" / "python" / "steps.py"
# So often steps begin in a second of CPU time, some thousands each time.
RATE = 1000
# In each chain of frames' first version and the newest that is here, one build of each; --long: in all.
USUAL = of_names(live_python.EVERY_PYTHON, live_python.IN_CI)
CODE_KIND = 5
COMPLETE, UNREADABLE, UNMATCHED = 0, 10, 11


class Stack:
    """Python functions, innermost first; the native frames before each, and the C function it calls."""

    def __init__(self):
        self.functions, self.natives, self.callees = [], [], []

    def put(self, function, natives, callee):
        self.functions.append(function)
        self.natives.append(natives)
        self.callees.append(callee)


def stacks_of(recording):
    """{stack: Stack} of those that were sampled."""
    # Of other files only the names that callers go by.
    codes = {code: name if path == str(WORKLOAD) else f"{name} elsewhere" if name.startswith("__") else name
             for code, name, path in recording.rows("SELECT id, name, path FROM codes")}
    builtins = dict(recording.rows("SELECT id, name FROM codes WHERE path IS NULL"))
    frames = dict(recording.rows(
        "SELECT frames.id, CASE modules.kind WHEN ? THEN frames.address >> 32 END"
        " FROM frames JOIN modules ON modules.id = frames.module", CODE_KIND))
    rows = {stack: (parent, frame) for stack, parent, frame in
            recording.rows("SELECT id, parent, frame FROM stacks")}
    made = {}
    for stack, in recording.rows("SELECT DISTINCT stack FROM samples"):
        made[stack], natives, callee, at = Stack(), 0, None, stack
        while at:
            at, frame = rows[at]
            code = frames[frame]
            if code is None:
                natives += 1
            elif code in builtins:
                callee = builtins[code]
            else:
                made[stack].put(codes[code], natives, callee)
                natives, callee = 0, None
    return made


class PythonSteps(live.LiveTest):
    def setUp(self):
        super().setUp()
        self.steps = os.environ.get("FATHOM_STEPS_AGENT", "")
        if not os.path.exists(os.path.join(self.steps, "libfathom-agent-record.so")):
            self.skipTest("no FATHOM_STEPS_AGENT: it is built for x86-64 only")

    def wrong_in(self, stack, truth):
        """What the program cannot have made of this stack; None: nothing."""
        for function, callee in zip(stack.functions, stack.callees):
            if callee and callee not in truth["c_calls"].get(function, [callee]):
                return f"{function} calls {callee}"
        for i, function in enumerate(stack.functions):
            callers = truth["callers"].get(function)
            if callers is None:
                continue
            if i + 1 == len(stack.functions):
                return f"{function} has no caller"
            if stack.functions[i + 1] not in callers:
                return f"{function} is called by {stack.functions[i + 1]}"
            if function in truth["from_c"] and stack.natives[i + 1] < 2:
                return f"{function} is called by {stack.functions[i + 1]} without C in between"
        return None

    def record_steps(self, python, turns):
        fathom = live.FATHOM
        if pythons.is_fetched(python):
            fathom = self.path("fathom")
            pythons.copy_fathom(live.FATHOM, fathom)
        # A process that waits for the recorder's room switches often: it keeps its events nevertheless.
        return self.record(python.command(WORKLOAD, turns), "--trigger", "sigtrap", rate=RATE, timeout=3600, fathom=fathom,
                           env={**os.environ, "FATHOM_AGENT": self.steps})

    def check(self, python, turns):
        recording = self.record_steps(python, turns)
        truth = recording.truth
        endings = dict(recording.rows("SELECT ending, count(*) FROM samples GROUP BY ending"))
        lost = recording.rows("SELECT reason, samples FROM lost")
        stacks = stacks_of(recording)
        wrong, known = {}, 0
        for stack, count in recording.rows("SELECT stack, count(*) FROM samples GROUP BY stack"):
            why = stack and self.wrong_in(stacks[stack], truth)
            if why:
                wrong[why] = wrong.get(why, 0) + count
            known += count if stack and any(f in truth["callers"] for f in stacks[stack].functions) else 0
        print(f"{python.name}: {sum(endings.values())} samples, {known} in the program's functions,"
              f" endings {endings}", file=sys.stderr)
        self.assertEqual(wrong, {})
        self.assertEqual(lost, [])
        self.assertGreater(known, 10000)
        unwalked = endings.get(UNREADABLE, 0) + endings.get(UNMATCHED, 0)
        self.assertLessEqual(unwalked, sum(endings.values()) // 1000, endings)


def add_tests():
    for python in pythons.every_python():
        name = python.name.replace("-", "_").replace(".", "_")

        def test(self, python=python):
            if not python.is_there:
                self.skipTest(python.why_not)
            if not LONG and python not in USUAL:
                self.skipTest("with --long only")
            self.check(python, 10000 if LONG else 900)

        setattr(PythonSteps, f"test_no_impossible_stack_on_{name}", test)


add_tests()

if __name__ == "__main__":
    sys.argv = [argument for argument in sys.argv if argument != "--long"]
    unittest.main(verbosity=2)
