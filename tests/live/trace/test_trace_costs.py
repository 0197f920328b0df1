#!/usr/bin/env python3
"""What measuring took is not in the times of traced calls, and nothing of how that was found out is seen."""

import functools
import json
import math
import os
import subprocess

import live
import live_in_step
import live_trace

# Of the time without a tracer: what is left of the cost of measuring, of all works together, may be so much.
MOST = 0.10


class TinyFunctions(live_trace.TraceTest):
    """Functions that do next to nothing: most of their traced time is measuring."""

    compares_times = True
    # What each pair's tiny functions are.
    PARTS = {"functions": ("twice",), "nested": ("square", "of_square"), "methods": ("Point.moved", "moved"),
             "builtins": ("abs", "builtins.abs"), "recursion": ("fib",), "properties": ("Celsius.kelvin", "kelvin"),
             "keys": ("negated", "sorted", "builtins.sorted"), "generators": ("counted", "delegated"),
             "alternating": ("Cell.put", "Cell.take", "put", "take")}

    def run_both(self, python):
        path = self.path("trace.fathom")
        command = python.command(self.workload("tiny_functions.py"), "1000", str(live_in_step.ROUNDS), "in-step")
        fathom = [self.fathom_for(python), "trace", "-q", "-o", path, "--", *command]
        plain, traced = live_in_step.run([command, fathom])
        return live_in_step.Both(plain["took"], traced["took"], live_trace.Trace(path, None).report())

    def test_tiny_functions_agree_with_the_same_work_untraced(self):
        works = {"tiny_" + pair: called for pair, called in self.PARTS.items()}
        markers = ["inlined_" + pair for pair in self.PARTS]

        def check(python):
            found = live_in_step.compare(self, python.name, lambda: self.run_both(python), works, markers)
            self.assertLess(abs(found.left(*works)), MOST + live_in_step.PACE, found)
            live_in_step.check_works(self, found, placed=1)
        self.on_each_python(check, in_ci=("3.8", "3.11", "3.12"), oldest=(3, 6))

    def test_bytecode_takes_longer_while_calls_are_traced_on_3_10_alone(self):
        def check(python):
            trace = self.trace(python, self.workload("tiny_functions.py"))
            (stretch,), = trace.rows("SELECT stretch_permille FROM costs WHERE kind = 1")
            if python.version == (3, 10):
                self.assertGreater(stretch, 1000)
            else:
                self.assertEqual(stretch, 1000)
        self.on_each_python(check, in_ci=("3.8", "3.11"), oldest=(3, 6))


# In every way: before its instructions are specialised, and below another caller when they are.
WAYS = """
class A:
    value = property(lambda self: 1)
    def __add__(self, other): return 2
    def __getitem__(self, key): return key
    def method(self, number=0): return number
def called(*numbers): return 1
def mapped(x): return x
def listed(x): return x
def keyed(x): return x
def generated():
    yield 1
def delegated():
    yield from generated()
def in_all_ways():
    a = A()
    for i in range(200):
        a.value + a[1] + (a + 1) + a.method() + a.method(number=1) + called() + called(*[1])
        for _ in map(mapped, [1]): pass
        list(map(listed, [1])), sorted([2, 1], key=keyed), [x for x in delegated()]
        len("a"), "a".isdigit(), "a".format(), {}.update({})
def again():
    in_all_ways()
in_all_ways()
again()
"""
CALLED, UNCALLED, RESUMED, BUILTIN, METHOD, METHOD_MANY = 1, 11, 12, 2, 3, 14


class Ways(live_trace.TraceTest):
    """What is called costs by the way in which it is."""

    maxDiff = None

    EXPECTED = {"<lambda>": UNCALLED, "__add__": UNCALLED, "__getitem__": UNCALLED, "mapped": UNCALLED,
                "listed": UNCALLED, "keyed": UNCALLED, "method": CALLED, "called": CALLED, "generated": RESUMED, "delegated": RESUMED,
                "<built-in method builtins.len>": BUILTIN, "<method 'isdigit' of 'str' objects>": METHOD,
                "<method 'format' of 'str' objects>": METHOD_MANY, "<method 'update' of 'dict' objects>": METHOD_MANY}

    def test_each_callee_has_the_kind_of_the_way_in_which_it_is_called(self):
        def check(python):
            if python.is_free_threaded:
                self.skipTest("its events do not distinguish an instruction's call from C's")
            trace = self.trace(python, "-c", WAYS)
            kinds, stacks = {}, trace.stacks()
            for stack, kind in trace.rows("SELECT stack, kind FROM calls WHERE stack > 0 AND calls > 50"):
                kinds.setdefault(stacks[stack][1][2], set()).add(kind)
            expected = {name: {kind} for name, kind in self.EXPECTED.items()}
            if python.version == (3, 11):
                # Some releases have an instruction for it, and so a dispatch hook, where it is special.
                del expected["__getitem__"]
            self.assertEqual({name: kinds.get(name) for name in expected}, expected)
        self.on_each_python(check, in_ci=("3.11", "3.12"), oldest=(3, 11))


class Report(live_trace.TraceTest):
    """What a report says of it."""

    def test_raw_times_are_those_that_were_measured(self):
        trace = self.trace(self.debian(), self.workload("tiny_functions.py"))
        corrected, raw = trace.report(), trace.report("--raw")
        written = sum(ns for ns, in trace.rows("SELECT self_ns FROM calls"))

        self.assertTrue(corrected["recording"]["measuring"]["is_corrected"])
        self.assertFalse(raw["recording"]["measuring"]["is_corrected"])
        self.assertEqual(raw["total_ns"], written)
        self.assertEqual(corrected["recording"]["measuring"]["raw_ns"], written)
        measured = {(row["name"], row["file"], row["line"]): row["self_ns"] for row in raw["functions"] if row["file"]}
        # A function of which nothing is left is not listed.
        listed = {(row["name"], row["file"], row["line"]): row["raw_self_ns"] for row in corrected["functions"] if row["file"]}
        self.assertEqual(listed, {key: measured[key] for key in listed})
        self.assertGreater(len(listed), 100)
        measuring = corrected["recording"]["measuring"]
        self.assertTrue(math.isclose(corrected["total_ns"] + measuring["ns"], written, rel_tol=1e-3))
        self.assertGreater(measuring["ns"], 0)
        self.assertGreater(measuring["uncertainty_ns"], 0)

    def test_a_shortest_call_is_no_longer_than_the_longest_one_nor_that_than_all(self):
        trace = self.trace(self.debian(), self.workload("tiny_functions.py"))
        ended = [row for row in trace.report()["functions"] if row["min_ns"] is not None]
        self.assertGreater(sum(row["max_ns"] > 0 for row in ended), 10)
        for row in ended:
            self.assertLessEqual(row["min_ns"], row["max_ns"], row)
            self.assertLessEqual(row["max_ns"], row["total_ns"], row)

    def test_the_head_says_what_was_taken_out(self):
        trace = self.trace(self.debian(), self.workload("tiny_functions.py"))
        text = self.text_of(trace)
        self.assertRegex(text, r"tracing  [0-9.]+ .?s \([0-9.]+ %\) ± [0-9.]+ .?s \([0-9.]+ %\)")
        self.assertIn("is not in these times", " ".join(text.split()))
        self.assertIn("of these times is measuring", " ".join(self.text_of(trace, "--raw").split()))

    def text_of(self, trace, *options):
        return subprocess.run([live.FATHOM, "report", *options, trace.path], capture_output=True, check=True,
                              encoding="utf-8").stdout

    def debian(self):
        debian = next(found for found in self.interpreters if found.name.startswith("debian"))
        if not debian.is_there:
            self.skipTest(debian.why_not)
        return debian


# What calibration compiles and calls (agent/trace/python/calibrate.c), but for what others may be called, too.
CALIBRATED = {"e", "w", *(f"l{loop}" for loop in range(30))}
UNSEEN = """
import gc, json, sys, threading
print(json.dumps({"modules": sorted(sys.modules), "threads": threading.active_count(),
                  "exception": repr(sys.exc_info()[0]), "main": sorted(vars(sys.modules["__main__"])),
                  "garbage": len(gc.garbage), "functions": sorted(o.__name__ for o in gc.get_objects()
                      if type(o).__name__ == "function" and o.__module__ is None and len(o.__name__) < 4),
                  "callbacks": len(gc.callbacks), "profiler": repr(sys.getprofile()), "tracer": repr(sys.gettrace())}))
"""


class Unseen(live_trace.TraceTest):
    """Calibration happens in the program's own interpreter, before its first instruction."""

    def test_the_program_sees_nothing_of_it(self):
        def check(python):
            plain = subprocess.run(python.command("-c", UNSEEN), capture_output=True, check=True)
            trace = self.trace(python, "-c", UNSEEN)
            self.assertEqual(trace.truth, json.loads(plain.stdout))
        self.on_each_python(check, oldest=(3, 6))

    def test_a_program_that_begins_paused_is_calibrated_all_the_same(self):
        def check(python):
            trace = self.trace(python, "-c", "pass", options=("--paused",))
            self.assertGreaterEqual(trace.rows("SELECT count(*) FROM costs")[0][0], 3)
            self.assertEqual(trace.rows("SELECT coalesce(sum(calls), 0) FROM calls")[0][0], 0)
        self.on_each_python(check, in_ci=("3.8", "3.11", "3.12"), oldest=(3, 6))

    def test_what_a_child_of_fork_calls_costs_what_it_costs_its_parent(self):
        script = "import os\nfor i in range(2):\n    if os.fork() == 0:\n        len('')\n        os._exit(0)\n    os.wait()\n"

        def check(python):
            trace = self.trace(python, "-c", script)
            costs = {}
            for process, kind, inside in trace.rows("SELECT process, kind, inside_ps / 100 FROM costs"):
                costs.setdefault(process, {})[kind] = inside
            self.assertEqual(len(costs), 3)
            self.assertEqual(len({tuple(sorted(each)) for each in costs.values()}), 1, costs)
            self.assertEqual(trace.head()["measuring"]["calls_of_unknown_cost"], 0)
        self.on_each_python(check, in_ci=("3.8", "3.11", "3.12"), oldest=(3, 6))

    def test_it_is_in_no_report(self):
        def check(python):
            trace = self.trace(python, "-c", "pass")
            costs = trace.rows("SELECT count(*) FROM costs")
            self.assertGreaterEqual(costs[0][0], 3)
            names = {row["name"].rpartition(".")[2] for row in trace.report()["functions"]}
            self.assertEqual(names & CALIBRATED, set())
        self.on_each_python(check, oldest=(3, 6))


class Compiled(live.LiveTest):
    """Functions of 7, 33 and 66 ns, and the same work inlined: they differ by less than their report says they may."""

    SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "workloads", "native", "tiny.c")
    KINDS = {"instrument": ["-finstrument-functions"], "pg": ["-pg"], "fentry": ["-pg", "-mfentry"]}

    def trace(self, flags, steps, rounds):
        """The CPU time that the program measured, and the report's rows by function."""
        program, path = self.path("tiny"), self.path("tiny.fathom")
        subprocess.run(["gcc", "-O2", *flags, f"-DSTEPS={steps}", self.SOURCE, "-o", program], check=True)
        traced = subprocess.run([live.FATHOM, "trace", "-q", "--clock", "cpu", "-o", path, "--", program, str(rounds)],
                                check=True, stdout=subprocess.PIPE, timeout=100, cwd=self.folder)
        report = subprocess.run([live.FATHOM, "report", "--json", "-n", "0", path], check=True, stdout=subprocess.PIPE)
        return int(traced.stdout), {row["name"]: row for row in json.loads(report.stdout)["functions"]}

    def test_all_cpu_time_is_in_some_call(self):
        self.need("gcc")
        for kind, flags in self.KINDS.items():
            with self.subTest(kind=kind):
                cpu_ns, rows = self.trace(flags, 12, 1000)
                self.assertLess(abs(rows["main"]["raw_total_ns"] / cpu_ns - 1), 0.1, (cpu_ns, rows))

    def check(self, flags, steps):
        _, rows = self.trace(flags, steps, 300)
        off = rows["calls"]["total_ns"] - rows["inlines"]["total_ns"]
        doubt = sum(rows[name]["self_uncertainty_ns"] for name in ("calls", "works", "inlines"))
        self.assertLessEqual(abs(off), doubt, (flags, steps, rows))

    def test_what_is_left_is_what_the_work_takes_within_the_uncertainty(self):
        self.need("gcc")
        for kind, flags in self.KINDS.items():
            for steps in (12, 60, 120):
                # Each has a second sight of its own, and no third.
                with self.subTest(kind=kind, steps=steps):
                    live.at_second_sight(self.id(), functools.partial(self.check, flags), steps)


if __name__ == "__main__":
    live.main()
