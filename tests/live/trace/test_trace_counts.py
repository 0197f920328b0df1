#!/usr/bin/env python3
"""Traced calls are as many as cProfile counts, function by function, to the last one."""

import collections
import marshal
import re
import subprocess

import live
import live_trace

# From here on cProfile is a tool beside ours, and both count one run.
BOTH_AT_ONCE = (3, 12)
# <method 'seed' of '_random.Random' objects>, <built-in method __new__ of type object at 0x>, <function Random.seed at 0x>
PLAIN_BUILTIN = re.compile(r"<(?:built-in method|method|slot wrapper|function) (?:'|[\w.]*\.)?(\w+)")
OF_THE_PROFILER = ("builtins.exec>", "_lsprof.Profiler")


# C functions whose arguments execute Python when they are dropped, behind the call: a generator is closed, __del__().
DROPPED = """
import cProfile
import json
import sys

def noted():
    pass

class Falls:
    def __del__(self):
        noted()

def numbers():
    try:
        yield 0
        yield 1
    finally:
        noted()

def evens(above):
    return (n % 2 == 0
            for n in range(above, above + 4))

def outer():
    return any(all(evens(n))
               for n in range(5))

def spread():
    next(*[numbers()])
    next(*(i for i in [numbers()]))

def work():
    for n in range(30):
        all(evens(n))
        next(numbers())
        next(numbers(), None)
        numbers().__next__()
        outer()
        sorted([3, 1, 2], key=lambda n: -n)
        spread()
    for n in range(30):
        id(Falls())
        [].append(Falls())

profile = cProfile.Profile()
if len(sys.argv) > 1:
    profile.runcall(work)
    profile.create_stats()
    print(json.dumps([[callee, caller, counts[:2]] for callee, row in profile.stats.items()
                      for caller, counts in row[4].items() if __file__ in (callee[0], caller[0])]))
else:
    work()
"""


class Counts(live_trace.TraceTest):
    def assert_equal_counts(self, profiled, traced):
        def is_counted(key):
            return not any(part in key for part in OF_THE_PROFILER)
        differences = {key: (profiled.get(key, 0), traced.get(key, 0)) for key in {*profiled, *traced}
                       if profiled.get(key, 0) != traced.get(key, 0) and is_counted(key)}
        # A C method that the object's class has another one in the place of has that one's name in cProfile
        # ("<function Random.seed at 0x>", "<method '__init_subclass__' of 'object' objects>"), and its own with us.
        by_name = collections.Counter()
        for key in [key for key in differences if key.startswith("~:0:<")]:
            theirs, ours = differences.pop(key)
            by_name[PLAIN_BUILTIN.search(key).group(1)] += ours - theirs
        self.assertEqual({name: calls for name, calls in by_name.items() if calls}, {})
        self.assertEqual(differences, {}, "cProfile's count and ours")
        self.assertGreater(sum(traced.values()), 1000)

    def check(self, python, program):
        path = self.workload(program)
        counted = self.workload("counted.py")
        # Once before: what is compiled and cached is so for both.
        subprocess.run(python.command(counted, "plain", path), check=True, stdout=subprocess.DEVNULL,
                       cwd=self.folder, timeout=120)
        if python.version >= BOTH_AT_ONCE:
            trace = self.trace(python, counted, "cprofile", path)
            profiled = trace.truth
        else:
            trace = self.trace(python, counted, "plain", path)
            run = subprocess.run(python.command(counted, "cprofile", path), check=True,
                                 stdout=subprocess.PIPE, cwd=self.folder, timeout=120)
            profiled = live.truth_of(run.stdout)
        self.assert_only_notes_of_its_build(trace, python)
        self.assert_equal_counts(profiled, trace.counts_below(path, "<module>"))
        return trace

    def test_calls_of_every_kind_are_counted_as_cprofile_counts_them(self):
        self.on_each_python(lambda python: self.check(python, "every_call.py"), oldest=(3, 6))

    def test_calls_of_the_standard_library_are_counted_as_cprofile_counts_them(self):
        self.on_each_python(lambda python: self.check(python, "library_calls.py"), oldest=(3, 6))

    def test_calls_of_a_json_parser_in_python_are_counted_as_cprofile_counts_them(self):
        self.on_each_python(lambda python: self.check(python, "json_parser.py"), oldest=(3, 6))

    def test_calls_of_benchmarks_are_counted_as_cprofile_counts_them(self):
        self.on_each_python(lambda python: self.check(python, "benchmarks.py"), oldest=(3, 6))

    def test_pstats_has_the_same_counts(self):
        def check(python):
            path = self.workload("every_call.py")
            trace = self.trace(python, path)
            done = subprocess.run([live.FATHOM, "export", trace.path, "--format", "pstats"],
                                  capture_output=True, timeout=300, check=True)
            stats = {"%s:%d:%s" % key: row[1] for key, row in marshal.loads(done.stdout).items()}
            counts = trace.counts_below(path, "<module>")
            own = {key: calls for key, calls in counts.items() if key.startswith(path)}
            self.assertGreater(len(own), 30)
            self.assertEqual({key: stats[key] for key in own}, own)
        self.on_each_python(check, oldest=(3, 6))

    def test_callers_are_those_of_cprofile_where_arguments_are_dropped(self):
        def check(python):
            path = self.path("dropped.py")
            with open(path, "w", encoding="utf-8") as file:
                file.write(DROPPED)
            run = subprocess.run(python.command(path, "profiled"), check=True, stdout=subprocess.PIPE, timeout=300)
            profiled = {(tuple(callee), tuple(caller)): tuple(counts)
                        for callee, caller, counts in live.truth_of(run.stdout)
                        if caller[2] != "runcall" and callee[2] != "work"}
            trace = self.trace(python, path)
            done = subprocess.run([live.FATHOM, "export", trace.path, "--format", "pstats"],
                                  capture_output=True, timeout=300, check=True)
            traced = {(callee, caller): counts[:2] for callee, row in marshal.loads(done.stdout).items()
                      for caller, counts in row[4].items()}
            self.assertGreater(len(profiled), 15)
            self.assertEqual({pair: traced.get(pair) for pair in profiled}, profiled)
        self.on_each_python(check, oldest=(3, 6))

    def test_methods_in_pstats_are_named_as_they_show_themselves(self):
        """From 3.15 on those of object say no type."""
        script = ("class Mine:\n    pass\nmine = Mine()\nmine.__reduce_ex__(4)\n(lambda format: format(''))(mine.__format__)\n"
                  "[].append(1)\nprint(repr(object.__reduce_ex__), object.__format__, list.append, sep='\\n')\n")

        def check(python):
            trace = self.trace(python, self.write("named.py", script))
            done = subprocess.run([live.FATHOM, "export", trace.path, "--format", "pstats"],
                                  capture_output=True, timeout=300, check=True)
            names = {name for _, _, name in marshal.loads(done.stdout)}
            shown = trace.run.stdout.decode().splitlines()
            self.assertEqual((len(shown), [name for name in shown if name not in names]), (3, []))
        self.on_each_python(check, oldest=(3, 6))

    def test_a_report_has_calls_and_primitive_calls(self):
        def check(python):
            trace = self.trace(python, self.workload("every_call.py"))
            head, rows = trace.head(), {row["plain_name"]: row for row in trace.report()["functions"]}
            self.assertEqual((head["mode"], head["clock"], head["samples"]), ("trace", "wall", None))
            factorial = rows["factorial"]
            # Of itself with 0 to 29, and by map() with 0 to 4.
            primitive, every = 30 + 5, 1 + sum(range(1, 30)) + 1 + sum(range(1, 5))
            self.assertEqual((factorial["calls"], factorial["primitive_calls"]), (every, primitive))
            self.assertEqual((rows["is_even"]["calls"], rows["is_even"]["primitive_calls"]), (26, 1))
            self.assertEqual((rows["deep"]["calls"], rows["deep"]["primitive_calls"]), (401, 1))
            self.assertEqual(sum(row["calls"] for row in trace.report()["functions"]), head["calls"])
        self.on_each_python(check, oldest=(3, 6))

    def test_functions_only_when_asked(self):
        def check(python):
            trace = self.trace(python, self.workload("every_call.py"), options=["--no-builtins"])
            names = {name for _, _, name in (code for _, code in trace.stacks().values())}
            self.assertEqual([name for name in names if name.startswith(("<built-in", "<method"))][:3], [])
            self.assertEqual(trace.calls_of("deep"), 401)
        self.on_each_python(check, oldest=(3, 6))

    def test_recursion_that_is_very_deep_is_merged_and_counted(self):
        script = "import sys\nsys.setrecursionlimit(20000)\ndef down(n):\n    return n and down(n - 1)\ndown(5000)\n"

        def check(python):
            trace = self.trace(python, self.write("down.py", script))
            self.assertEqual(trace.calls_of("down"), 5001)
            row, = [row for row in trace.report()["functions"] if row["plain_name"] == "down"]
            self.assertEqual((row["calls"], row["primitive_calls"]), (5001, 1))
            depth, = trace.rows("WITH RECURSIVE walk(id, depth) AS (SELECT id, 1 FROM stacks WHERE parent = 0"
                                " UNION ALL SELECT stacks.id, depth + 1 FROM stacks JOIN walk ON stacks.parent = walk.id)"
                                " SELECT max(depth) FROM walk")
            self.assertLess(depth[0], 300)
        self.on_each_python(check, oldest=(3, 6))


if __name__ == "__main__":
    live.main()
