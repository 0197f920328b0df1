#!/usr/bin/env python3
"""Threads, children, interpreters, and programs and recorders that are killed: what is traced of them."""

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
        self.on_each_python(check, in_ci=("3.8", "3.14"), oldest=(3, 6))

    def test_a_threads_time_is_that_from_its_first_call_to_its_last(self):
        script = ("import threading, time\ndef work():\n    time.sleep(0.2)\n"
                  "t = threading.Thread(target=work)\nt.start()\nt.join()\n")

        def check(python):
            trace = self.trace(python, self.write("sleeps.py", script))
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
        self.on_each_python(check, in_ci=("3.8", "3.14"), oldest=(3, 6))

    def test_a_program_that_is_no_python_runs_as_ever(self):
        trace_path = self.path("none.fathom")
        run = subprocess.run([live.FATHOM, "trace", "-o", trace_path, "--", "sh", "-c", "echo out; exit 3"],
                             capture_output=True, cwd=self.folder, timeout=300, check=False)
        self.assertEqual((run.returncode, run.stdout), (3, b"out\n"))
        self.assertIn(b"no call was traced", run.stderr)

    def test_programs_that_cannot_be_entered_are_named(self):
        trace_path = self.path("static.fathom")
        command = " ".join(3 * [f"{live.WORKLOADS}/brief_static;"]) + f" {live.WORKLOADS}/brief_static; true"
        run = subprocess.run([live.FATHOM, "trace", "-o", trace_path, "--", "sh", "-c", command],
                             capture_output=True, cwd=self.folder, timeout=300, check=False)
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
            trace = self.trace(python, self.write("callbacks.py", script))
            self.assertEqual(trace.calls_of("called"), 4)
            self.assertEqual(trace.calls_of("leaf"), 2000)
        self.on_each_python(check, oldest=(3, 6))


class Endings(live_trace.TraceTest):
    def test_nothing_counted_is_lost_when_the_program_is_killed(self):
        script = ("import os, signal\ndef leaf(i):\n    return abs(i)\n"
                  "for i in range(12345):\n    leaf(i)\nos.kill(os.getpid(), signal.SIGKILL)\n")

        def check(python):
            trace = self.trace(python, self.write("killed.py", script), expect=128 + signal.SIGKILL)
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
                              timeout=300, check=False)
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
            recorder.communicate(b"", timeout=300)
            self.assertEqual(recorder.returncode, 0)
            self.assertEqual(self.reported(), 12345)
            os.unlink(self.path("live.fathom"))
        self.on_each_python(check, in_ci=("3.8", "3.14"), oldest=(3, 6))

    def test_a_recorder_that_is_killed_leaves_what_it_had_read(self):
        def check(python):
            recorder = self.waiting_program(python)
            self.wait_for_report()
            recorder.kill()
            # The program goes on, and ends by itself.
            recorder.communicate(timeout=300)
            self.assertEqual(self.reported(), 12345)
            os.unlink(self.path("live.fathom"))
        self.on_each_python(check, in_ci=("3.8", "3.14"), oldest=(3, 6))

    def test_an_unprivileged_user_traces_as_root_does(self):
        if os.geteuid() != 0:
            self.skipTest("this is an unprivileged user already")
        self.need("setpriv")
        with open(self.path("own.py"), "w", encoding="utf-8") as file:
            file.write("def leaf(i):\n    return abs(i)\nfor i in range(777):\n    leaf(i)\n")
        python = self.any_python()
        path = self.path("user.fathom")
        subprocess.run(["setpriv", f"--reuid={live.ORDINARY_USER}", f"--regid={live.ORDINARY_USER}", "--clear-groups",
                        live.FATHOM, "trace", "-q", "-o", path, "--", *python, self.path("own.py")], check=True,
                       stdin=subprocess.DEVNULL, timeout=300, cwd=self.folder)
        trace = live_trace.Trace(path, None)
        self.assertEqual(trace.calls_of("leaf"), 777)


if __name__ == "__main__":
    live.main()
