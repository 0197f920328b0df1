#!/usr/bin/env python3
"""CPython 3.12 and later are traced by dispatch hooks: bytecode stays as it is, callable shims are not seen, other tools are called as ever."""

import os
import subprocess

import live
import live_trace

IN_CI = ("3.12", "3.14")

# What the interpreter's tool 4 has events for; whether calls are made special, and stay so.
SPECIAL = """
import dis, json, sys
def leaf(value):
    return value
def mixed(callees):
    for callee in callees:
        callee(1)
def work(items):
    for item in items:
        leaf(item)
        len(items)
        abs(item)
        items.append
        (1).bit_length()
def opcodes(function):
    return sorted({each.opname for each in dis.get_instructions(function, adaptive=True) if each.opname.startswith("CALL")})
def resumes(function):
    return [each.opname for each in dis.get_instructions(function, adaptive=True) if "RESUME" in each.opname][0]
for turn in range(300):
    work(list(range(20)))
print(json.dumps({"events": sys.monitoring.get_events(4), "calls": opcodes(work), "start": resumes(leaf),
                  "wanted": sys.monitoring.events.PY_UNWIND | sys.monitoring.events.PY_THROW}))
"""

# Looks for callable shims from within calls of C functions, and at what functions are referred to by.
LOOKS = """
import gc, json, sys, traceback
class Looks:
    def __init__(self):
        self.types, self.counts, self.texts = set(), set(), set()
    def __call__(self, value):
        self.types |= {type(each).__name__ for each in gc.get_objects() if "fathom" in repr(type(each))}
        self.types |= {each.__name__ for each in object.__subclasses__() if "fathom" in each.__module__}
        self.counts.add(sys.getrefcount(sorted))
        self.texts.update(type(each).__name__ for each in gc.get_referrers(sorted))
        return value
looks = Looks()
before = sys.getrefcount(sorted)
def run():
    for turn in range(100):
        sorted([1, 2], key=looks)
        list(map(looks, [1]))
run()
after = sys.getrefcount(sorted)
errors = []
for attempt in (lambda: sorted(), lambda: len(1, 2), lambda: abs(*5), lambda: [].append(*[1, 2]), lambda: "".join(x=1),
                lambda: print(**{1: 2}), lambda: max(*[], **{"key": 1})):
    for turn in range(20):
        try:
            attempt()
        except TypeError as error:
            text = str(error)
    errors.append(text)
print(json.dumps({"types": sorted(looks.types), "counts": sorted(looks.counts), "before": before, "after": after,
                  "referrers": sorted(looks.texts - {"Looks"}), "errors": errors}))
"""

# cProfile begins when functions are being executed, and calls are open; it ends, and begins again.
IN_THE_MIDDLE = """
import cProfile, json
def leaf(value):
    return abs(value)
def again(value):
    return sum(map(leaf, [value, value]))
def begins(value):
    if value == 2:
        profiler.enable()
    return leaf(value)
profiler = cProfile.Profile()
def work():
    for value in range(200):
        again(value)
    list(map(begins, [1, 2, 3]))
    for value in range(200):
        again(value)
    profiler.disable()
    for value in range(200):
        again(value)
    profiler.enable()
    for value in range(100):
        again(value)
    profiler.disable()
work()
counts = {}
for each in profiler.getstats():
    name = each.code if isinstance(each.code, str) else each.code.co_name
    counts[name] = counts.get(name, 0) + each.callcount
print(json.dumps(counts))
"""

# Signals, another thread and pending calls have RESUME executed again, or left for a while.
INTERRUPTED = """
import json, signal, sys, threading
sys.setswitchinterval(1e-5)
ticks = []
def on_signal(number, frame):
    ticks.append(1)
signal.signal(signal.SIGPROF, on_signal)
signal.setitimer(signal.ITIMER_PROF, 0.001, 0.001)
def leaf(value):
    return abs(value)
def generator(count):
    for value in range(count):
        yield leaf(value)
def work(times):
    for turn in range(times):
        sum(generator(10))
        exec("def made(value): return leaf(value)\\nmade(1)", globals())
threads = [threading.Thread(target=work, args=(1000,)) for each in range(3)]
for thread in threads:
    thread.start()
work(1000)
for thread in threads:
    thread.join()
signal.setitimer(signal.ITIMER_PROF, 0)
print(json.dumps({"handled": len(ticks)}))
"""

# Bound methods of C functions: from 3.14 on they are reported as what they are bound to.
BOUND = """
import cProfile, json, sys, types
class Bound:
    shown = classmethod(repr)
    length = types.MethodType(len, "abc")
def work():
    bound = Bound()
    kept = bound.shown
    for turn in range(100):
        bound.shown(), kept(), bound.length(), Bound.shown(), (*[kept()],)
profiler = cProfile.Profile()
if sys.argv[1:] == ["cprofile"]:
    profiler.runcall(work)
else:
    work()
counts = {each.code: each.callcount for each in profiler.getstats() if isinstance(each.code, str)}
print(json.dumps({name: count for name, count in counts.items() if "repr" in name or "len" in name}))
"""

# How deep calls get by which C functions call back, in a thread that has the stack for it.
DEEP = """
import json, sys, threading
depth = 0
def by_keywords(level):
    global depth
    depth = level
    sorted([1], key=lambda item: by_keywords(level + 1))
def by_getattr(level):
    getattr(Asked(level), "missing")
class Asked:
    def __init__(self, level):
        self.level = level
    def __getattr__(self, name):
        global depth
        depth = self.level
        by_getattr(self.level + 1)
def by_len(level):
    len(Long(level))
class Long(Asked):
    def __len__(self):
        global depth
        depth = self.level
        by_len(self.level + 1)
def by_method(level):
    global depth
    depth = level
    list.sort([1], key=lambda item: by_method(level + 1))
depths = {}
def work():
    for function in (by_keywords, by_getattr, by_len, by_method):
        for turn in range(2):
            try:
                function(0)
            except RecursionError as error:
                depths[function.__name__, turn] = depth, str(error)
sys.setrecursionlimit(50000)
threading.stack_size(512 << 20)
thread = threading.Thread(target=work)
thread.start()
thread.join()
print(json.dumps(sorted(depths.items())))
"""


class DispatchHooks(live_trace.TraceTest):
    def untraced(self, python, *arguments, **options):
        run = subprocess.run(python.command(*arguments), check=True, stdout=subprocess.PIPE, cwd=self.folder, timeout=120, **options)
        return live.truth_of(run.stdout)

    def builtin_calls(self, trace, path, below, name):
        return trace.counts_below(path, below)[f"~:0:<built-in method builtins.{name}>"]

    def on_each_loop(self, check):
        def check_it(python):
            if not python.is_free_threaded:
                check(python)
        self.on_each_python(check_it, oldest=(3, 12), in_ci=IN_CI)

    def test_only_exceptions_come_from_sys_monitoring_and_calls_stay_special(self):
        def check(python):
            path = self.write("special.py", SPECIAL)
            traced, bare = self.trace(python, path).truth, self.untraced(python, path)
            self.assertEqual(traced["events"], traced["wanted"])
            self.assertEqual((traced["calls"], traced["start"]), (bare["calls"], bare["start"]))
            self.assertGreaterEqual(len(traced["calls"]), 3)
        self.on_each_loop(check)

    def test_callable_shims_are_not_seen(self):
        def check(python):
            path = self.write("looks.py", LOOKS)
            trace, bare = self.trace(python, path), self.untraced(python, path)
            self.assertEqual({**trace.truth, "types": []}, bare)
            self.assertLessEqual(set(trace.truth["types"]), {"callback"})
            self.assertEqual(self.builtin_calls(trace, path, "run", "sorted"), 100)
        self.on_each_loop(check)

    def test_cprofile_that_begins_in_the_middle_has_its_counts_and_so_have_we(self):
        def check(python):
            path = self.write("middle.py", IN_THE_MIDDLE)
            trace = self.trace(python, path)
            self.assertEqual(trace.truth, self.untraced(python, path))
            self.assertEqual((trace.calls_of("leaf"), trace.calls_of("again"), trace.calls_of("<built-in method builtins.abs>"),
                              trace.calls_of("<built-in method builtins.sum>")), (1403, 700, 1403, 700))
        self.on_each_loop(check)

    def test_interrupted_functions_are_counted_once(self):
        def check(python):
            trace = self.trace(python, self.write("interrupted.py", INTERRUPTED))
            self.assertGreater(trace.truth["handled"], 0)
            self.assertEqual(trace.calls_of("on_signal"), trace.truth["handled"])
            self.assertEqual((trace.calls_of("leaf"), trace.calls_of("generator"), trace.calls_of("made")), (44000, 44000, 4000))
        self.on_each_loop(check)

    def test_bound_methods_of_c_functions_are_counted_as_cprofile_counts_them(self):
        def check(python):
            path = self.write("bound.py", BOUND)
            trace = self.trace(python, path)
            theirs = self.untraced(python, path, "cprofile")
            for name in ("repr", "len"):
                self.assertEqual(self.builtin_calls(trace, path, "work", name), theirs.get(f"<built-in method builtins.{name}>", 0))
        self.on_each_loop(check)

    def test_recursion_ends_as_deep_as_without_us_where_calls_are_counted(self):
        def check(python):
            path = self.write("deep.py", DEEP)
            bare = self.untraced(python, path)
            self.assertEqual(len(bare), 8)
            # Later ones look at the stack's pointer, and so at what we have on it.
            if python.version < (3, 14):
                self.assertEqual(self.trace(python, path).truth, bare)
        self.on_each_loop(check)

    def test_where_code_is_compiled_all_events_are_sys_monitorings(self):
        def check(python):
            environment = {**os.environ, "PYTHON_JIT": "1"}
            question = "import json, sys; print(json.dumps(bool(getattr(sys, '_jit', None) and sys._jit.is_enabled())))"
            if not self.untraced(python, "-c", question, env=environment):
                return
            trace = self.trace(python, self.write("special.py", SPECIAL), env=environment)
            self.assertNotEqual(trace.truth["events"], trace.truth["wanted"])
            self.assertGreaterEqual(trace.calls_of("<built-in method builtins.len>"), 6000)
            self.assertEqual(trace.calls_of("leaf"), 6000)
        self.on_each_loop(check)


if __name__ == "__main__":
    live.main()
