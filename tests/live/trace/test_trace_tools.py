#!/usr/bin/env python3
"""Other tools in a traced program: what they see, and what is counted meanwhile and behind them."""

import functools
import itertools
import os
import pathlib
import subprocess

import live
import live_filter
import live_trace

# What a profile function is called for, in a script.
SEEN = """def leaf(i):
    return abs(i)
seen = []
def profiler(frame, event, argument):
    seen.append((event, frame.f_code.co_name, getattr(argument, "__name__", None)))
"""


class Tools(live_trace.TraceTest):
    """What a program sees of other profilers, tracers and debuggers is what it sees without us."""

    def callers_of_leaf(self, trace):
        stacks = trace.stacks()
        return {stacks[parent][1][2] for parent, code in stacks.values() if code[2] == "leaf"}

    def test_other_tools_see_what_they_see_without_us(self):
        script = """
import cProfile, json, sys, threading
def leaf(i):
    return i
def work(n):
    for i in range(n):
        leaf(i)
seen = {"before": repr(sys.getprofile())}
profile = cProfile.Profile()
profile.enable(); work(100); profile.disable()
seen["cprofile"] = sum(e.callcount for e in profile.getstats() if getattr(e.code, "co_name", "") == "leaf")
lines = []
def tracer(frame, event, argument):
    if event == "line" and frame.f_code is leaf.__code__:
        lines.append(frame.f_lineno)
    return tracer
sys.settrace(tracer); work(50); sys.settrace(None)
seen["lines"] = len(lines)
events = []
def profiler(frame, event, argument):
    if frame.f_code is leaf.__code__:
        events.append(event)
sys.setprofile(profiler); work(20); sys.setprofile(None)
seen["events"] = len(events)
seen["after"] = repr(sys.getprofile()) + repr(sys.gettrace())
print(json.dumps(seen))
"""

        def check(python):
            with open(self.path("tools.py"), "w", encoding="utf-8") as file:
                file.write(script)
            without = subprocess.run(python.command(self.path("tools.py")), stdout=subprocess.PIPE, check=True,
                                     timeout=300, cwd=self.folder)
            trace = self.trace(python, self.path("tools.py"))
            self.assertEqual(trace.truth, live.truth_of(without.stdout))
            self.assertEqual(trace.truth["cprofile"], 100)
            notes = " ".join(self.notes(trace))
            self.assertEqual("a profiler of its own" in notes, python.version < (3, 11), notes)
            # Up to 3.10 a thread has one profile function: ours is there again when the other one has gone.
            self.assertEqual(trace.calls_of("leaf"), 170 if python.version >= (3, 11) else 50)
            self.assertEqual(self.callers_of_leaf(trace), {"work"})
        self.on_each_python(check, oldest=(3, 6))

    def test_a_thread_that_takes_away_a_profile_function_that_was_not_there_loses_nothing(self):
        """As pools of threads do, for each of their tasks."""
        script = ("import sys, threading\ndef leaf(i):\n    return abs(i)\ndef work():\n    for i in range(10):\n"
                  "        leaf(i)\n        sys.setprofile(None)\n        leaf(i)\n"
                  "thread = threading.Thread(target=work)\nthread.start()\nthread.join()\nwork()\n")

        def check(python):
            trace = self.trace(python, self.write("none.py", script))
            self.assertEqual((trace.calls_of("leaf"), trace.calls_of("<built-in method builtins.abs>"),
                              trace.calls_of("<built-in method sys.setprofile>")), (40, 40, 20))
            self.assertEqual(self.notes(trace), [])
        self.on_each_python(check, oldest=(3, 6))

    def test_a_thread_whose_profiler_has_gone_is_traced_again(self):
        script = """
import cProfile, sys, threading
def leaf(i):
    return abs(i)
def ignore(frame, event, argument):
    pass
def fail(frame, event, argument):
    raise ValueError
def tens(*steps):
    for step in (lambda: None, *steps):
        try:
            step()
        except ValueError:
            pass
        for i in range(10):
            leaf(i)
profile = cProfile.Profile()
def set_by_python():
    tens(lambda: sys.setprofile(ignore), lambda: sys.setprofile(None))
def set_by_c():
    tens(lambda: list(map(sys.setprofile, [ignore])), lambda: list(map(sys.setprofile, [None])))
def of_cprofile():
    tens(lambda: profile.enable(), lambda: profile.disable())
def that_fails():
    tens(lambda: sys.setprofile(fail))
{0}()
thread = threading.Thread(target={0})
thread.start()
thread.join()
"""

        def check(python):
            has_one_place = python.version < (3, 11)
            for way, options in itertools.product(("set_by_python", "set_by_c", "of_cprofile", "that_fails"),
                                                  ((), ("--no-builtins",))):
                trace = self.trace(python, self.write(f"{way}.py", script.format(way)), options=options)
                meanwhile = 0 if has_one_place or way == "that_fails" else 2 * 10
                self.assertEqual(trace.calls_of("leaf"), 2 * 20 + meanwhile, (way, options))
                self.assertEqual("a profiler of its own" in " ".join(self.notes(trace)), has_one_place, (way, options))
        self.on_each_python(check, oldest=(3, 6))

    def test_a_module_that_sets_profile_functions_in_c_is_noted_where_it_takes_the_place_of_ours(self):
        script = "import sets_profile\nprofiler = sets_profile.Profiler()\nprofiler.begin()\nprofiler.end()\n"

        def check(python):
            include = subprocess.run(python.command("-c", "import sysconfig; print(sysconfig.get_path('include'))"),
                                     stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
            if not os.path.exists(os.path.join(include, "Python.h")):
                self.skipTest(f"{python.name}: no headers of Python's in {include}")
            source = pathlib.Path(__file__).resolve().parents[2] / "workloads" / "native" / "sets_profile.c"
            subprocess.run([self.need("gcc"), "-O2", "-fPIC", "-shared", "-I" + include, "-o", self.path("sets_profile.so"),
                            source], check=True)
            notes = " ".join(self.notes(self.trace(python, self.write("sets.py", script))))
            self.assertEqual("a profiler of its own" in notes, python.version < (3, 11), notes)
        self.on_each_python(check, oldest=(3, 6), in_ci=("3.8",))

    def test_a_profile_function_that_is_set_is_called_as_without_us(self):
        script = """
import json, profile, sys, threading
""" + SEEN + """def work():
    leaf(1)
    sys.setprofile(profiler)
    leaf(2)
    sys.setprofile(profiler)
    leaf(3)
    sys.setprofile(None)
    leaf(4)
    list(map(sys.setprofile, [profiler]))
    leaf(5)
    sys.setprofile(None)
    any(map(sys.setprofile, [profiler]))
    leaf(6)
    sys.setprofile(None)
    exec("sys.setprofile(profiler)")
    leaf(7)
    exec("leaf(8); sys.setprofile(None)")
work()
thread = threading.Thread(target=work)
thread.start()
thread.join()
exec("work(); sys.setprofile(profiler); leaf(9)")
sys.setprofile(None)
for i in range(2):
    pure = profile.Profile()
    pure.runcall(work)
print(json.dumps({"seen": seen}))
"""
        self.on_each_python(functools.partial(self.check_same_truth, script), oldest=(3, 6))

    def test_where_others_ask_for_calls_a_profile_function_is_called_as_without_us(self):
        """As another thread, or another tool, has asked for calls, it may be called at the end of one that it did not see begin."""
        script = """
import json, sys, threading, time
def leaf(i):
    return abs(i)
seen = []
def profiler(frame, event, argument):
    if frame.f_code.co_filename == __file__:
        seen.append((threading.current_thread().name, event, frame.f_code.co_name, getattr(argument, "__name__", None)))
def work():
    for i in range(2):
        leaf(1)
        sys.setprofile(profiler)
        leaf(2)
        sys.setprofile(profiler)
        leaf(3)
        sys.setprofile(None)
def place_of(thread):
    frame = sys._current_frames()[thread.ident]
    return frame.f_code, frame.f_lineno - frame.f_code.co_firstlineno
def beside(act, wait):
    go = threading.Lock()
    go.acquire()
    thread = threading.Thread(target=wait, args=(go,), name="beside")
    thread.start()
    while place_of(thread) != (wait.__code__, 2):
        time.sleep(0.001)
    act()
    go.release()
    thread.join()
def wait_with_one(go):
    sys.setprofile(lambda *arguments: None)
    go.acquire()
    sys.setprofile(None)
def wait(go):
    leaf(4)
    go.acquire()
    leaf(5)
def set_all():
    threading.setprofile_all_threads(profiler)
    leaf(6)
def generate():
    yield sys.setprofile(profiler)
    leaf(7)
    yield sys.setprofile(None)
work()
beside(work, wait_with_one)
work()
for _ in generate():
    leaf(8)
if sys.version_info >= (3, 12):
    monitoring = sys.monitoring
    monitoring.use_tool_id(3, "another")
    monitoring.register_callback(3, monitoring.events.CALL, lambda *arguments: None)
    monitoring.set_events(3, monitoring.events.CALL)
    work()
    monitoring.set_events(3, 0)
    work()
    # Without a GIL the other threads' functions are called at the ends of what they are in the midst of.
    if getattr(sys, "_is_gil_enabled", lambda: True)():
        for i in range(2):
            beside(set_all, wait)
            threading.setprofile_all_threads(None)
# What threads do beside each other has an order in each of them only.
seen.sort(key=lambda row: row[0])
print(json.dumps({"seen": seen}))
"""
        self.on_each_python(functools.partial(self.check_same_truth, script), oldest=(3, 6))

    def test_in_other_interpreters_a_profile_function_is_called_as_without_us(self):
        """Each time one is entered, and where calls of C functions are events."""
        script = """
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
code = '''
import json, os, sys
""" + SEEN + """def work():
    for i in range(2):
        sys.setprofile(profiler)
        leaf(1)
        sys.setprofile(None)
work()
monitoring = sys.monitoring
monitoring.use_tool_id(3, "another")
monitoring.register_callback(3, monitoring.events.CALL, lambda *arguments: None)
monitoring.set_events(3, monitoring.events.CALL)
monitoring.set_events(3, 0)
monitoring.free_tool_id(3)
work()
os.write(1, json.dumps(seen).encode() + b",")
'''
print("[", end="", flush=True)
for i in range(2):
    made = interpreters.create()
    for j in range(2):
        interpreters.run_string(made, code)
    interpreters.destroy(made)
print("0]")
"""
        self.on_each_python(functools.partial(self.check_same_truth, script), oldest=(3, 12), in_ci=("3.12", "3.13t", "3.14"))

    def test_below_a_filter_a_profile_function_is_called_as_ever_and_its_thread_is_traced_again(self):
        """The kernel may not be asked then whether memory can be written."""
        script = """
import json, profile, sys
""" + SEEN + """for i in range(2):
    profile.Profile().runcall(leaf, i)
    sys.setprofile(profiler)
    leaf(i)
    sys.setprofile(None)
for i in range(100):
    leaf(i)
print(json.dumps(seen))
"""
        below = live_filter.below(self)

        def check(python):
            path = self.write("seen.py", script)
            without = subprocess.run(python.command(path), stdout=subprocess.PIPE, check=True, timeout=300)
            for options in ((), ("--no-builtins",)):
                trace = self.trace(python, path, options=options, below=below)
                self.assertEqual(trace.truth, live.truth_of(without.stdout), options)
                self.assertEqual(trace.calls_of("leaf"), 100 if python.version < (3, 11) else 104, options)
        self.on_each_python(check, oldest=(3, 6), in_ci=("3.8", "3.11", "3.12"))

    def check_same_truth(self, script, python):
        path = self.write("seen.py", script)
        without = subprocess.run(python.command(path), stdout=subprocess.PIPE, check=True, timeout=300, cwd=self.folder)
        for options in ((), ("--no-builtins",)):
            self.assertEqual(self.trace(python, path, options=options).truth, live.truth_of(without.stdout), options)


if __name__ == "__main__":
    live.main()
