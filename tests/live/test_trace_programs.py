#!/usr/bin/env python3
"""Threads, children, interpreters, other tools, and programs and recorders that are killed: what is traced of them."""

import itertools
import json
import os
import re
import signal
import subprocess
import time

import live
import live_trace

# How a thread's calls are written: often enough that a program is seen while it runs.
PATIENCE_S = 60


class Threads(live_trace.TraceTest):
    def check(self, python, *arguments):
        trace = self.trace(python, self.workload("worker_threads.py"), *arguments)
        self.assert_only_notes_of_its_build(trace, python)
        self.assertEqual(trace.calls_of("step"), trace.truth["steps"])
        self.assertEqual(trace.calls_of("<built-in method math.sin>"), trace.truth["steps"])
        self.assertEqual(trace.calls_of("run"), trace.truth["runs"])
        return trace

    def test_every_thread_is_traced_from_its_first_call(self):
        def check(python):
            trace = self.check(python, 3, 10000, 3)
            workers = [row for row in trace.report("--by", "thread")["threads"]
                       if row["calls"] > 20000 and row["tid"] != row["pid"]]
            self.assertEqual(len(workers), 3, trace.report("--by", "thread")["threads"])
            self.assertEqual(trace.calls_of("step", tid=workers[0]["tid"]), 10000)
        self.on_each_python(check, oldest=(3, 6))

    def test_thousands_of_short_threads_are_traced(self):
        def check(python):
            self.check(python, 3000, 10, 100)
        self.on_each_python(check, in_ci=("pyenv-3.8", "pyenv-3.13"), oldest=(3, 6))

    def test_a_threads_time_is_that_from_its_first_call_to_its_last(self):
        script = ("import threading, time\ndef work():\n    time.sleep(0.2)\n"
                  "t = threading.Thread(target=work)\nt.start()\nt.join()\n")

        def check(python):
            with open(self.path("sleeps.py"), "w", encoding="utf-8") as file:
                file.write(script)
            trace = self.trace(python, self.path("sleeps.py"))
            waits = [row for row in trace.report()["functions"] if row["name"] == "time.sleep"]
            self.assertEqual(len(waits), 1)
            self.assertGreaterEqual(waits[0]["self_ns"], 190000000)
            head = trace.head()
            main = max(row["self_ns"] for row in trace.report("--by", "thread")["threads"])
            self.assertLess(main, head["wall_ns"] * 1.05)
            self.assertGreater(main, 0.2e9)
            # The same clock, whatever was counted: its ticks were weighed rightly.
            self.assertEqual(sum(row["self_ns"] for row in trace.report()["functions"]),
                             trace.report()["total_ns"])
        self.on_each_python(check, oldest=(3, 6))


class Children(live_trace.TraceTest):
    def test_children_are_traced_below_what_they_were_born_in(self):
        def check(python):
            trace = self.trace(python, self.workload("traced_children.py"))
            stacks = trace.stacks()
            by_process = {}
            for stack, calls, pid in trace.rows(
                    "SELECT calls.stack, calls.calls, processes.pid FROM calls JOIN threads ON"
                    " threads.id = calls.thread JOIN processes ON processes.id = threads.process WHERE stack > 0"):
                if stacks[stack][1][2] == "<built-in method builtins.abs>":
                    by_process[pid] = by_process.get(pid, 0) + calls
            self.assertEqual(sorted(by_process.values()), [10, 333, 1005])
            path, = [row for row in trace.report("--tree")["tree"] if row["name"] == "in_child"]
            nodes = {row["id"]: row for row in trace.report("--tree")["tree"]}
            self.assertEqual(nodes[path["parent"]]["name"], "start")
            self.assertEqual(trace.calls_of("start"), 1)
            self.assertEqual(trace.calls_of("in_child"), 1)
        self.on_each_python(check, oldest=(3, 6))

    def test_other_processes_are_left_alone_when_asked(self):
        def check(python):
            trace = self.trace(python, self.workload("traced_children.py"), options=["--no-children"])
            self.assertEqual(trace.calls_of("<built-in method builtins.abs>"), 10)
        self.on_each_python(check, in_ci=("pyenv-3.8", "pyenv-3.13"), oldest=(3, 6))

    def test_a_program_that_is_no_python_runs_as_ever(self):
        trace_path = self.path("none.fathom")
        run = subprocess.run([live.FATHOM, "trace", "-o", trace_path, "--", "sh", "-c", "echo out; exit 3"],
                             capture_output=True, cwd=self.folder, timeout=60, check=False)
        self.assertEqual((run.returncode, run.stdout), (3, b"out\n"))
        self.assertIn(b"no call was traced", run.stderr)

    def test_programs_that_cannot_be_entered_are_named(self):
        trace_path = self.path("static.fathom")
        command = " ".join(3 * [f"{live.WORKLOADS}/brief_static;"]) + f" {live.WORKLOADS}/brief_static; true"
        run = subprocess.run([live.FATHOM, "trace", "-o", trace_path, "--", "sh", "-c", command],
                             capture_output=True, cwd=self.folder, timeout=60, check=False)
        self.assertEqual(run.returncode, 0)
        self.assertEqual(len(re.findall(rb"brief_static \(pid \d+\) ran untraced: statically linked", run.stderr)), 3)
        self.assertIn(b"1 more process ran untraced", run.stderr)


class Interpreters(live_trace.TraceTest):
    def test_subinterpreters_are_traced(self):
        def check(python):
            for options in ((), ("--no-builtins",)):
                trace = self.trace(python, self.workload("subinterpreters.py"), 150, options=options)
                for name in ("main_sub", "main_sub_outer", "thread_sub", "thread_sub_outer", "main_work"):
                    self.assertEqual(trace.calls_of(name), 1, name)
        self.on_each_python(check, oldest=(3, 8))

    def test_threads_that_c_made_are_traced(self):
        """A callback of ctypes, called by a thread that Python did not start."""
        script = """
import ctypes, json, time
libc = ctypes.CDLL(None)
CALLBACK = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
def leaf(i):
    return i
def called(argument):
    for i in range(500):
        leaf(i)
    return 0
callback = CALLBACK(called)
for _ in range(4):
    thread = ctypes.c_ulong()
    assert libc.pthread_create(ctypes.byref(thread), None, callback, None) == 0
    libc.pthread_join(thread, None)
"""

        def check(python):
            with open(self.path("callbacks.py"), "w", encoding="utf-8") as file:
                file.write(script)
            trace = self.trace(python, self.path("callbacks.py"))
            self.assertEqual(trace.calls_of("called"), 4)
            self.assertEqual(trace.calls_of("leaf"), 2000)
        self.on_each_python(check, oldest=(3, 6))


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
                                     timeout=60, cwd=self.folder)
            trace = self.trace(python, self.path("tools.py"))
            self.assertEqual(trace.truth, live.truth_of(without.stdout))
            self.assertEqual(trace.truth["cprofile"], 100)
            notes = " ".join(self.notes(trace))
            if python.version >= (3, 11):
                self.assertEqual(notes, "")
            else:
                self.assertIn("a profiler of its own", notes)
            # Up to 3.7 a thread has one profile function: ours is there again when the other one has gone.
            self.assertEqual(trace.calls_of("leaf"), 170 if python.version >= (3, 8) else 50)
            self.assertEqual(self.callers_of_leaf(trace), {"work"})
        self.on_each_python(check, oldest=(3, 6))

    def test_who_takes_away_a_profile_function_that_was_not_there_loses_nothing(self):
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
            has_one_place = python.version < (3, 8)
            for way, options in itertools.product(("set_by_python", "set_by_c", "of_cprofile", "that_fails"),
                                                  ((), ("--no-builtins",))):
                trace = self.trace(python, self.write(f"{way}.py", script.format(way)), options=options)
                meanwhile = 0 if has_one_place or way == "that_fails" else 2 * 10
                self.assertEqual(trace.calls_of("leaf"), 2 * 20 + meanwhile, (way, options))
                is_told = has_one_place or python.version < (3, 11) and not options and way != "that_fails"
                self.assertEqual("a profiler of its own" in " ".join(self.notes(trace)), is_told, (way, options))
        self.on_each_python(check, oldest=(3, 6))

    def test_who_sets_a_profile_function_is_told_what_it_is_told_without_us(self):
        script = """
import json, profile, sys, threading
def leaf(i):
    return abs(i)
told = []
def profiler(frame, event, argument):
    told.append((event, frame.f_code.co_name, getattr(argument, "__name__", None)))
def work():
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
print(json.dumps({"told": told}))
"""

        def check(python):
            self.check_same_truth(python, script)
        self.on_each_python(check, oldest=(3, 6))

    def test_where_others_are_told_of_calls_a_profile_function_is_told_what_it_is_told_without_us(self):
        """As another thread, or another tool, has asked for calls, it may be told of the end of one that it did not see begin."""
        script = """
import json, sys, threading, time
def leaf(i):
    return abs(i)
told = []
def profiler(frame, event, argument):
    if frame.f_code.co_filename == __file__:
        told.append((threading.current_thread().name, event, frame.f_code.co_name, getattr(argument, "__name__", None)))
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
    # Without a GIL the other threads' functions are told of what they are in the midst of.
    if getattr(sys, "_is_gil_enabled", lambda: True)():
        for i in range(2):
            beside(set_all, wait)
            threading.setprofile_all_threads(None)
# What threads do beside each other has an order in each of them only.
told.sort(key=lambda row: row[0])
print(json.dumps({"told": told}))
"""

        def check(python):
            self.check_same_truth(python, script)
        self.on_each_python(check, oldest=(3, 6))

    def check_same_truth(self, python, script):
        path = self.write("told.py", script)
        without = subprocess.run(python.command(path), stdout=subprocess.PIPE, check=True, timeout=60, cwd=self.folder)
        for options in ((), ("--no-builtins",)):
            self.assertEqual(self.trace(python, path, options=options).truth, live.truth_of(without.stdout), options)


class Endings(live_trace.TraceTest):
    def test_nothing_counted_is_lost_when_the_program_is_killed(self):
        script = ("import os, signal\ndef leaf(i):\n    return abs(i)\n"
                  "for i in range(12345):\n    leaf(i)\nos.kill(os.getpid(), signal.SIGKILL)\n")

        def check(python):
            with open(self.path("killed.py"), "w", encoding="utf-8") as file:
                file.write(script)
            trace = self.trace(python, self.path("killed.py"), expect=128 + signal.SIGKILL)
            self.assertEqual(trace.calls_of("leaf"), 12345)
            self.assertEqual(trace.calls_of("<built-in method builtins.abs>"), 12345)
            self.assertEqual(trace.calls_of("<built-in method posix.kill>"), 1)
        self.on_each_python(check, oldest=(3, 6))

    def waiting_program(self, python):
        """A program that has called leaf 12,345 times and waits, and the recorder that traces it."""
        with open(self.path("waits.py"), "w", encoding="utf-8") as file:
            file.write("import sys\ndef leaf(i):\n    return abs(i)\nfor i in range(12345):\n    leaf(i)\n"
                       "print('ready', flush=True)\nsys.stdin.read()\n")
        recorder = subprocess.Popen([self.fathom_for(python), "trace", "-q", "-o", self.path("live.fathom"), "--",
                                     *python.command(self.path("waits.py"))], stdin=subprocess.PIPE,
                                    stdout=subprocess.PIPE, cwd=self.folder)
        self.addCleanup(recorder.stdout.close)
        self.assertEqual(recorder.stdout.readline(), b"ready\n")
        return recorder

    def reported(self):
        """How often leaf was called, by a report of what is being written."""
        done = subprocess.run([live.FATHOM, "report", self.path("live.fathom"), "--json"], capture_output=True,
                              timeout=60, check=False)
        if done.returncode != 0:
            return 0
        return sum(row["calls"] for row in json.loads(done.stdout)["functions"] if row["plain_name"] == "leaf")

    def wait_for_report(self):
        end = time.monotonic() + PATIENCE_S
        while self.reported() != 12345 and time.monotonic() < end:
            time.sleep(0.2)
        self.assertEqual(self.reported(), 12345)

    def test_a_report_of_a_running_program_has_its_calls(self):
        def check(python):
            recorder = self.waiting_program(python)
            self.wait_for_report()
            recorder.communicate(b"", timeout=60)
            self.assertEqual(recorder.returncode, 0)
            self.assertEqual(self.reported(), 12345)
            os.unlink(self.path("live.fathom"))
        self.on_each_python(check, in_ci=("pyenv-3.8", "pyenv-3.13"), oldest=(3, 6))

    def test_a_recorder_that_is_killed_leaves_what_it_had_read(self):
        def check(python):
            recorder = self.waiting_program(python)
            self.wait_for_report()
            recorder.kill()
            # The program goes on, and ends by itself.
            recorder.communicate(timeout=60)
            self.assertEqual(self.reported(), 12345)
            os.unlink(self.path("live.fathom"))
        self.on_each_python(check, in_ci=("pyenv-3.8", "pyenv-3.13"), oldest=(3, 6))

    def test_an_unprivileged_user_traces_as_root_does(self):
        if os.geteuid() != 0:
            self.skipTest("this is an unprivileged user already")
        self.need("setpriv")
        with open(self.path("own.py"), "w", encoding="utf-8") as file:
            file.write("def leaf(i):\n    return abs(i)\nfor i in range(777):\n    leaf(i)\n")
        python = self.any_python()
        path = self.path("nobody.fathom")
        subprocess.run(["setpriv", f"--reuid={live.NOBODY}", f"--regid={live.NOBODY}", "--clear-groups",
                        live.FATHOM, "trace", "-q", "-o", path, "--", *python, self.path("own.py")], check=True,
                       stdin=subprocess.DEVNULL, timeout=60, cwd=self.folder)
        trace = live_trace.Trace(path, None)
        self.assertEqual(trace.calls_of("leaf"), 777)


if __name__ == "__main__":
    live.main()
