#!/usr/bin/env python3
"""CPython 3.8 to 3.10 is traced at its frames and before its calls: to the last one, and nobody sees what stands in."""

import collections
import os
import subprocess

import live
import live_trace
from test_trace_frames import EMBEDDING, SITES

IN_CI = ("pyenv-3.8", "pyenv-3.10")

# By the loop's switch: arguments of more than eight bits, and instructions after an interruption.
SWITCHED = """
import json, signal, sys, threading
many = "0," * 299
def wide():
    eval("max(%s1)" % many), eval("str.format('a',%s)" % many[:-1]), eval("max(%skey=abs)" % many)
    eval("'{}'.format(%s)" % many)
for turn in range(20):
    wide()
sys.setswitchinterval(1e-6)
def work():
    values = []
    for number in range(3000):
        values.append(abs(number)), values.count(number), divmod(*(number, 3)), max(number, 1, key=abs)
threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
signals = turns = 0
def on_signal(*unused):
    global signals
    signals += 1
def interrupted():
    global turns
    while signals < 100:
        abs(abs(abs(abs(turns))))
        turns += 1
signal.signal(signal.SIGALRM, on_signal)
signal.setitimer(signal.ITIMER_REAL, 0.0002, 0.0002)
interrupted()
signal.setitimer(signal.ITIMER_REAL, 0)
print(json.dumps({"turns": turns}))
"""

# Frames that are refused are no calls: each that began has counted itself.
REFUSED = """
import json, sys
begun = {"down": 0, "again": 0, "through": 0}
def down():
    begun["down"] += 1
    down()
def again(depth):
    begun["again"] += 1
    yield from again(depth + 1)
def through(value):
    begun["through"] += 1
    return list(map(through, [value]))
for start in (down, lambda: list(again(0)), lambda: through(1)):
    try:
        start()
    except RecursionError:
        pass
print(json.dumps(begun))
"""

# What a program can ask of functions that it calls, and in their calls.
SEEN = """
import collections, functools, gc, json, sys, types
told = []
class Mapping:
    def keys(self):
        return ["default"]
    def __getitem__(self, key):
        return None
class Sequence:
    def __getitem__(self, index):
        return [3, 1, 2][index]
class Broken:
    def keys(self):
        raise ValueError("broken")
append = [].append
def attempt(what):
    try:
        told.append(repr(what()))
    except BaseException as error:
        told.append("%s: %s" % (type(error).__name__, error))
attempt(lambda: sys.getrefcount(sys.getrefcount))
attempt(lambda: sys.getrefcount(*[sys.getrefcount]))
attempt(lambda: sys.getrefcount(*(append,)))
attempt(lambda: len(gc.get_referrers(append)))
attempt(lambda: gc.get_referrers(*[append])[0] is globals())
attempt(lambda: len([thing for thing in gc.get_objects() if "fathom" in type(thing).__module__]))
attempt(lambda: len(object.__subclasses__()) - len({id(kind) for kind in object.__subclasses__()}))
attempt(lambda: [kind.__name__ for kind in object.__subclasses__() if "fathom" in kind.__module__])
attempt(lambda: {type(thing).__name__ for thing in gc.get_objects() if "function" in type(thing).__name__} - {"function"})
for wrong in (lambda: len(), lambda: len(1, 2), lambda: len(x=1), lambda: abs("a"), lambda: [].append(), lambda: list.append(),
              lambda: list.append(1), lambda: str.join(), lambda: divmod(1), lambda: max(), lambda: max(1, 2, other=3),
              lambda: len(*1), lambda: len(**1), lambda: len(**{1: 2}), lambda: max(1, 2, **Mapping()), lambda: max(*Sequence()),
              lambda: len(*[1], **Broken()), lambda: max(*(1, 2), **collections.OrderedDict(key=abs)), lambda: int.from_bytes(),
              lambda: [].sort(1), lambda: {}.update(**{1: 2}), lambda: print(file=3), lambda: getattr(1), lambda: sorted(key=1),
              lambda: max(*(n for n in (3, 1, 2))), lambda: max(*{}), lambda: abs(*(1 / n for n in (1, 0))),
              lambda: isinstance(1, *[int], *[1]), lambda: max([1], **types.MappingProxyType({"default": 2})),
              lambda: "".join(*["a", "b"], **{}), lambda: functools.reduce(*[]), lambda: dict.get(*[{}, 1], **{"a": 1})):
    attempt(wrong)
class Dropped:
    def __del__(self):
        told.append("dropped")
def drop():
    # The only reference to a bound method, and by it to its object, is on the stack.
    (lambda thing: thing.__reduce_ex__)(Dropped())(2)
    told.append("after")
drop()
print(json.dumps(told))
"""

# Ways of calling beside a profiler of the program's, and after it.
BESIDE = """
import cProfile, json, pstats
def leaf(value):
    return abs(value)
def work(count):
    for number in range(count):
        leaf(number)
work(10)
profile = cProfile.Profile()
profile.enable(); work(100); profile.disable()
work(1000)
counts = {name: row[1] for (_, _, name), row in pstats.Stats(profile).stats.items()}
print(json.dumps({"leaf": counts["leaf"], "abs": counts["<built-in method builtins.abs>"]}))
"""

# An evaluator of the program's own (PEP 523), which calls the one that was there before.
EVALUATES = """
import ctypes, json, sys
library = ctypes.PyDLL(sys.argv[1])
def leaf(value):
    return abs(value)
def work():
    for number in range(50):
        leaf(number)
work()
library.evaluator_set(); work(); list(map(leaf, range(50)))
seen = library.evaluator_count()
library.evaluator_reset(); work(); list(map(leaf, range(50)))
print(json.dumps({"seen": seen}))
"""

DEEP = """
import json, sys
def down(count):
    return count and down(count - 1)
sys.setrecursionlimit(10**6)
down(8000)
print(json.dumps({}))
"""

# How many calls of C functions, made in each way, the interpreter counts as too deep.
COUNTED_DEPTH = """
import functools, json, sys
depth = 0
def plain(level):
    global depth
    depth = level
    max(1, 2, key=lambda item: plain(level + 1))
def spread(level):
    global depth
    depth = level
    max(*[1, 2], key=lambda item: spread(level + 1))
def method(level):
    global depth
    depth = level
    [1].sort(*[], key=lambda item: method(level + 1))
def reduced(level):
    global depth
    depth = level
    functools.reduce(lambda one, other: reduced(level + 1), [1, 2])
depths = []
for function in (plain, spread, method, reduced):
    try:
        function(0)
    except RecursionError as error:
        depths.append((function.__name__, depth, str(error)))
print(json.dumps(depths))
"""


class Evaluator(live_trace.TraceTest):
    def has_own_c_library(self, python):
        return python is not EMBEDDING and super().has_own_c_library(python)

    def on_each_of_them(self, check, in_ci=IN_CI):
        def check_it(python):
            if python.version[:2] <= (3, 10):
                check(python)
        self.on_each_python(check_it, oldest=(3, 8), in_ci=in_ci)

    def alone(self, python, *arguments):
        return subprocess.run(python.command(*arguments), check=True, stdout=subprocess.PIPE, cwd=self.folder, timeout=120)

    def differences(self, python, path, trace):
        theirs = live.truth_of(self.alone(python, self.workload("counted.py"), "cprofile", path).stdout)
        ours = trace.counts_below(path, "<module>")
        keys = {key for key in {*theirs, *ours} if "Profiler" not in key and "builtins.exec>" not in key}
        return {key: (theirs.get(key, 0), ours.get(key, 0)) for key in keys if theirs.get(key, 0) != ours.get(key, 0)}

    def test_sites_that_meet_callees_of_every_kind_are_counted_as_cprofile_counts_them(self):
        def check(python):
            path = self.write("sites.py", SITES)
            trace = self.trace(python, self.workload("counted.py"), "plain", path)
            self.assertEqual(self.differences(python, path, trace), {}, "cProfile's count and ours")
            self.assertEqual(self.notes(trace), [])
        self.on_each_of_them(check)

    def test_calls_that_the_loop_comes_to_by_its_switch_are_counted(self):
        def check(python):
            path = self.write("switched.py", SWITCHED)
            trace = self.trace(python, path)
            self.assertEqual(trace.calls_of("work"), 4)
            counts = sum((trace.counts_below(path, name) for name in ("wide", "work", "interrupted")), collections.Counter())
            wanted = {"<built-in method builtins.abs>": 12000 + 4 * trace.truth["turns"],
                      "<built-in method builtins.divmod>": 12000,
                      "<method 'count' of 'list' objects>": 12000, "<method 'append' of 'list' objects>": 12000,
                      "<built-in method builtins.max>": 12000 + 40, "<method 'format' of 'str' objects>": 40}
            named = {key.split(":")[-1] if isinstance(key, str) else key: count for key, count in counts.items()}
            self.assertEqual({name: named.get(name) for name in wanted}, wanted, named)
        self.on_each_of_them(check)

    def test_frames_that_are_refused_are_not_counted(self):
        def check(python):
            trace = self.trace(python, self.write("refused.py", REFUSED))
            self.assertEqual({name: trace.calls_of(name) for name in trace.truth}, trace.truth)
        self.on_each_of_them(check)

    def test_nobody_sees_what_stands_in_for_a_function(self):
        def check(python):
            path = self.write("seen.py", SEEN)
            trace = self.trace(python, path)
            without = live.truth_of(self.alone(python, path).stdout)
            self.assertEqual(list(zip(without, trace.truth)), list(zip(without, without)))
        self.on_each_of_them(check)

    def test_beside_a_profiler_functions_are_counted_and_builtins_before_and_after_it(self):
        def check(python):
            trace = self.trace(python, self.write("beside.py", BESIDE))
            self.assertEqual(trace.truth, {"leaf": 100, "abs": 100})
            self.assertEqual(trace.calls_of("leaf"), 1110)
            self.assertEqual(trace.calls_of("<built-in method builtins.abs>"), 1010)
            self.assertIn("a profiler of its own", " ".join(self.notes(trace)))
        self.on_each_of_them(check)

    def test_another_tools_evaluator_is_called_and_calls_are_counted(self):
        def check(python):
            path = self.write("evaluates.py", EVALUATES)
            library = live.workload("libevaluator.so")[0]
            without = live.truth_of(self.alone(python, path, library).stdout)
            trace = self.trace(python, path, library)
            self.assertEqual(trace.truth, without)
            self.assertEqual((trace.calls_of("leaf"), trace.calls_of("<built-in method builtins.abs>")), (250, 250))
        self.on_each_of_them(check)

    def test_recursion_is_nearly_as_deep_as_without_us(self):
        def check(python):
            trace = self.trace(python, self.write("deep.py", DEEP))
            self.assertEqual(trace.calls_of("down"), 8001)
        self.on_each_of_them(check)

    def test_recursion_through_c_functions_is_refused_where_it_is_without_us(self):
        def check(python):
            path = self.write("depth.py", COUNTED_DEPTH)
            without = live.truth_of(self.alone(python, path).stdout)
            self.assertEqual(len(without), 4)
            self.assertEqual(self.trace(python, path).truth, without)
        self.on_each_of_them(check)

    def test_functions_only_are_counted_without_stubs(self):
        def check(python):
            trace = self.trace(python, self.write("beside.py", BESIDE), options=("--no-builtins",))
            self.assertEqual(trace.calls_of("leaf"), 1110)
            self.assertEqual(trace.calls_of("<built-in method builtins.abs>"), 0)
        self.on_each_of_them(check)

    def test_where_another_evaluator_was_first_the_profile_function_counts(self):
        program = "def leaf(n):\n    return abs(n)\nfor n in range(100):\n    leaf(n)\n"

        def check(python):
            prefix = os.path.dirname(os.path.dirname(python.path))
            library = os.path.join(prefix, "lib", "libpython%d.%d.so.1.0" % python.version[:2])
            if python.version[:2] < (3, 9) or not os.path.exists(library):
                return
            trace = self.trace(EMBEDDING, library, program, env={**os.environ, "PYTHONHOME": prefix})
            self.assertEqual((trace.calls_of("leaf"), trace.calls_of("<built-in method builtins.abs>")), (100, 100))
            self.assertIn("this build of CPython", " ".join(self.notes(trace)))
            if python.version[:2] == (3, 10):
                stretch, = trace.rows("SELECT stretch_permille FROM costs WHERE kind = 1")[0]
                self.assertGreater(stretch, 1000)
        self.on_each_of_them(check)


if __name__ == "__main__":
    live.main()
