#!/usr/bin/env python3
"""From CPython 3.11 on calls are traced between instructions: to the last call, beside other tools, and not everywhere."""

import glob
import json
import os
import subprocess

import live
import live_trace

IN_CI = ("3.11", "3.12", "3.14")
# Sites that meet one kind of callee after the other, so that what was made for one finds another.
SITES = """
import functools, json, operator, sys

class Called:
    def __call__(self, value):
        return value
    @classmethod
    def made(cls, value):
        return value
    @staticmethod
    def still(value):
        return value
    def bound(self, value):
        return value
    def __getitem__(self, key):
        return key
    def __new__(cls, *values):
        return object.__new__(cls)

class Failing:
    def __init__(self, count):
        self.count = count
    def __getitem__(self, index):
        return range(self.count)[index]

def plain(value):
    return value

def given(value, *, key=None):
    return value

def generator(count):
    try:
        for number in range(count):
            yield number
    finally:
        plain(count)

def raising(depth):
    if depth == 0:
        {}["missing"]
    return raising(depth - 1)

thing = Called()
callees = [abs, plain, thing, Called.made, Called.still, thing.bound, thing, str, Called, operator.neg,
           functools.partial(plain), functools.partial(abs), (5).__add__, functools.lru_cache(plain), given, hash]
for turn in range(60):
    for callee in callees:
        callee(turn)
        callee(*[turn])
        callee(*(turn,), **{})
    for method in ("strip", "upper", "title", "isalpha"):
        getattr("text", method)()
    for value in ("a", b"a", [1], (1,), {1: 1}, {1}):
        len(value), value.__len__(), type(value).__len__(value), value.__class__, list(value), sorted(value)
    for value in ([], set()):
        (value.append if isinstance(value, list) else value.add)(turn)
    given(1, key=2), given(*(1,), key=2), given(**{"value": 1})
    sorted([3, 1, 2], key=plain), list(map(plain, [1, 2])), functools.reduce(operator.add, [1, 2, 3])
    max([1, 2], key=lambda value: -value), [*filter(None, map(abs, (0, 1)))]
    thing[turn], [item for item in Failing(3)], 2 in Failing(3)
    for attempt in (lambda: raising(5), lambda: len(1), lambda: plain(), lambda: next(iter(())), lambda: abs("a"),
                    lambda: "a".join(1), lambda: given(key=1), lambda: json.loads("{")):
        try:
            attempt()
        except (KeyError, TypeError, StopIteration, ValueError):
            pass
    left = generator(3)
    next(left)
    left.close()
    thrown = generator(3)
    next(thrown)
    try:
        thrown.throw(KeyError)
    except KeyError:
        pass
    del left, thrown
    untouched = generator(2)
    try:
        untouched.throw(KeyError)
    except KeyError:
        pass
    sum(generator(4)), dict.fromkeys(generator(2)), [*generator(2)]
    getattr(thing, "missing", None), hasattr(thing, "missing")
print(json.dumps({}))
"""
# One whose calls are counted while another tool's eval_frame function (PEP 523) is set, and when it is gone.
EVALUATORS = """
import json, _testinternalcapi
def leaf(value):
    return abs(value)
def work():
    for number in range(50):
        leaf(number)
work()
seen = []
_testinternalcapi.set_eval_frame_record(seen)
list(map(leaf, range(50)))
_testinternalcapi.set_eval_frame_default()
work()
print(json.dumps({"seen": seen.count("leaf")}))
"""
DEEP = """
import json, sys
def down(count):
    return count and down(count - 1)
try:
    down(100000)
except RecursionError:
    pass
sys.setrecursionlimit(10**6)
down(150000)
print(json.dumps({"limit": sys.getrecursionlimit()}))
"""


class Embedding:
    """A program of ours in place of an interpreter."""

    def command(self, *arguments):
        return live.workload("evaluates", *arguments)


EMBEDDING = Embedding()


# An argument list that is no tuple is made one by the instruction that calls, which executes the generator for it.
SPREAD = """
import functools, sys

def add(a, b):
    return a + b

def arguments():
    yield add
    yield [1, 2, 3]

def ignore(*event):
    pass

def of_tuple(arguments=(add, [1, 2, 3])):
    functools.reduce(*arguments)

def of_generator():
    functools.reduce(*arguments())

def work():
    for _ in range(5):
        of_tuple()
        of_generator()

work()
sys.setprofile(ignore)
work()
sys.setprofile(None)
work()
sys.settrace(ignore)
work()
sys.settrace(None)
work()
"""


class Frames(live_trace.TraceTest):
    def has_own_c_library(self, python):
        return python is not EMBEDDING and super().has_own_c_library(python)

    def on_each_loop(self, check):
        def check_it(python):
            if not python.is_free_threaded:
                check(python)
        self.on_each_python(check_it, oldest=(3, 11), in_ci=IN_CI)

    def differences(self, theirs, ours):
        keys = {key for key in {*theirs, *ours} if "Profiler" not in key and "builtins.exec>" not in key}
        return {key: (theirs.get(key, 0), ours.get(key, 0)) for key in keys if theirs.get(key, 0) != ours.get(key, 0)}

    def test_sites_that_meet_callees_of_every_kind_are_counted_as_cprofile_counts_them(self):
        def check(python):
            path = self.write("sites.py", SITES)
            counted = self.workload("counted.py")
            trace = self.trace(python, counted, "plain", path)
            run = subprocess.run(python.command(counted, "cprofile", path), check=True, stdout=subprocess.PIPE,
                                 cwd=self.folder, timeout=120)
            ours = trace.counts_below(path, "<module>")
            self.assertEqual(self.differences(live.truth_of(run.stdout), ours), {}, "cProfile's count and ours")
            self.assertGreater(sum(ours.values()), 5000)
            self.assertEqual(self.notes(trace), [])
        self.on_each_loop(check)

    def test_calls_are_counted_as_well_while_cprofile_counts_them(self):
        def check(python):
            path = self.write("sites.py", SITES)
            trace = self.trace(python, self.workload("counted.py"), "cprofile", path)
            self.assertEqual(self.differences(trace.truth, trace.counts_below(path, "<module>")), {})
            self.assertEqual(self.notes(trace), [])
        self.on_each_loop(check)

    def test_what_is_called_by_c_stands_below_it_beside_another_tool(self):
        def check(python):
            trace = self.trace(python, "-c", SPREAD)
            nodes = trace.report("--callers", "add", "-n", "0")["callers"]["nodes"]
            self.assertEqual([(node["name"], node["total_calls"]) for node in nodes if node["parent"] == 0],
                             [("_functools.reduce", 100)])
        self.on_each_loop(check)

    def test_another_tools_eval_frame_is_called_and_calls_are_counted(self):
        def check(python):
            path = self.write("evaluators.py", EVALUATORS)
            without = subprocess.run(python.command(path), capture_output=True, cwd=self.folder, timeout=300, check=False)
            if b"No module named" in without.stderr:
                self.skipTest(f"{python.name}: there is no _testinternalcapi")
            trace = self.trace(python, path)
            self.assertEqual(trace.truth, live.truth_of(without.stdout))
            self.assertEqual(trace.truth["seen"], 50)
            self.assertEqual((trace.calls_of("leaf"), trace.calls_of("<built-in method builtins.abs>")), (150, 150), self.notes(trace))
        self.on_each_loop(check)

    def test_recursion_is_as_deep_as_without_us(self):
        def check(python):
            path = self.write("deep.py", DEEP)
            trace = self.trace(python, path)
            self.assertEqual(trace.truth, {"limit": 10**6})
            self.assertGreater(trace.calls_of("down"), 150001)
        self.on_each_loop(check)

    def test_a_child_of_fork_is_traced_as_its_parent(self):
        script = ("import json, os\ndef leaf(n):\n    return abs(n)\ndef work():\n    for n in range(100):\n"
                  "        leaf(n)\nchild = os.fork()\nwork()\nif child == 0:\n    os._exit(0)\n"
                  "os.waitpid(child, 0)\nprint(json.dumps({'child': child}))\n")

        def check(python):
            trace = self.trace(python, self.write("forks.py", script))
            self.assertEqual(trace.calls_of("leaf"), 200)
            self.assertEqual(trace.calls_of("leaf", pid=trace.truth["child"]), 100)
        self.on_each_loop(check)

    def test_a_program_that_begins_paused_is_tried_out_all_the_same(self):
        def check(python):
            trace = self.trace(python, "-c", "pass", options=("--paused",))
            self.assertNotIn("takes longer for each bytecode", " ".join(self.all_notes(trace)))
        self.on_each_loop(check)

    def test_where_the_interpreter_is_not_as_it_should_be_the_profile_function_counts(self):
        program = "def leaf(n):\n    return abs(n)\nfor n in range(100):\n    leaf(n)\n"

        libraries = glob.glob("/usr/lib/*-linux-gnu/libpython3.11.so.1.0")
        if not libraries:
            self.skipTest("no shared libpython3.11 is here")
        trace = self.trace(EMBEDDING, libraries[0], program, env={**os.environ, "PYTHONHOME": "/usr"})
        self.assertEqual((trace.calls_of("leaf"), trace.calls_of("<built-in method builtins.abs>")), (100, 100))
        texts = [text for text, in trace.rows("SELECT text FROM notes")]
        self.assertEqual([text for text in texts if "takes longer for each bytecode" in text][1:], [])
        self.assertIn("takes longer for each bytecode", " ".join(texts))


if __name__ == "__main__":
    live.main()
