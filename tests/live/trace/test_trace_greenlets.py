#!/usr/bin/env python3
"""Greenlets: each has its own stack of calls, by whatever they are switched; and stacks that are copied."""

import os
import subprocess

import live
import live_filter
import live_trace
from live_trace_ruby import RubyTraceTest

OLDEST = (3, 6)
IN_CI = ("3.11",)

PROGRAM = """
import os, sys, threading
from greenlet import greenlet, getcurrent

TURNS = 100

def leaf_a():
    return abs(1)

def leaf_b():
    return abs(2)

def deep_b(depth):
    if depth:
        return deep_b(depth - 1)
    leaf_b()
    others["a"].switch()
    leaf_b()

def run_a():
    for _ in range(TURNS):
        leaf_a()
        others["b"].switch()
        leaf_a()

def run_b():
    for _ in range(TURNS + 1):
        deep_b(3)

def victim():
    try:
        waits()
    finally:
        leaf_b()

def waits():
    parent.switch()

def starts():
    others["a"].switch()

def ends():
    leaf_a()

others = {"a": greenlet(run_a), "b": greenlet(run_b)}
parent = getcurrent()
starts()
ends()
thrown = greenlet(victim)
thrown.switch()
try:
    thrown.throw(ValueError)
except ValueError:
    ends()
"""

FORKS = """
import os
from greenlet import greenlet, getcurrent

def leaf():
    return abs(1)

def inner():
    parent.switch()
    leaf()

def run():
    inner()
    leaf()

parent = getcurrent()
other = greenlet(run)
other.switch()
child = os.fork()
other.switch()
if child == 0:
    os._exit(0)
os.waitpid(child, 0)
"""

# Nothing refers to it any more: it is killed, and ends, in the midst of another one's call.
DROPPED = """
from greenlet import greenlet, getcurrent

def leaf():
    return abs(1)

def waits():
    try:
        parent.switch()
    finally:
        leaf()

def drops():
    other = greenlet(waits)
    other.switch()
    del other
    leaf()

def outer():
    drops()
    leaf()

parent = getcurrent()
for _ in range(10):
    outer()
"""

# As servers use them: thousands at a time, in more than one thread.
HUB = """
import threading
from greenlet import greenlet

def tick():
    return abs(1)

def worker():
    for _ in range(5):
        tick()
        hubs.at.hub.switch()

def hub():
    running = [greenlet(worker) for _ in range(500)]
    while running:
        for one in running:
            one.switch()
        running = [one for one in running if not one.dead]

def main():
    hubs.at.hub = greenlet(hub)
    hubs.at.hub.switch()

class hubs:
    at = threading.local()

threads = [threading.Thread(target=main) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""

# C's stack is copied while functions of compiled code are on it, whose return addresses are exchanged.
THROUGH_C = """
import ctypes, sys
from greenlet import greenlet, getcurrent

library = ctypes.PyDLL(sys.argv[1])
called = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int)
results = {}

def switch_to(name):
    if not others[name].dead:
        others[name].switch()

def run(name, other):
    function = getattr(library, "calls_back_" + name)

    def switches(i):
        switch_to(other)
        return i

    parent.switch() # Begun where the other one begins, at one depth of the stack.
    results[name] = [function(called(switches), i) for i in range(100)]

parent = getcurrent()
others = {"one": greenlet(lambda: run("one", "two")), "two": greenlet(lambda: run("two", "one"))}
while len(results) < 2:
    switch_to("one")
    switch_to("two")
print(results["one"] == [i + 11 for i in range(100)], results["two"] == [i + 22 for i in range(100)])
"""
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "workloads", "native", "calls_back.c")
KINDS = {"pg": ["-pg"], "fentry": ["-pg", "-mfentry"], "instrument": ["-finstrument-functions"]}


class Continuations(RubyTraceTest):
    def test_return_addresses_are_right_where_the_stack_that_they_are_on_was_copied(self):
        self.need("gcc")
        library = self.path("calls_back.so")

        def check(ruby):
            for kind, flags in KINDS.items():
                with self.subTest(kind=kind):
                    subprocess.run(["gcc", "-O2", "-fPIC", "-shared", *flags, SOURCE, "-o", library], check=True)
                    trace = self.trace(ruby, self.workload("callcc_through_c.rb"), library)
                    self.assertEqual(trace.run.stdout.splitlines(), [b"[16, 16, 16, 16]", b"27"])
                    is_events = any("calls are counted, but seem to last" in note for note in self.notes(trace))
                    self.assertEqual(is_events, kind != "instrument", self.notes(trace))
        self.on_each_ruby(check)


# One sets a profile function while others are inside greenlet's switch().
PROFILED = """
import sys
from greenlet import greenlet, getcurrent
def profile(frame, event, argument):
    events.append((event, frame.f_code.co_name, getattr(argument, "__name__", "")))
def other():
    for i in range(3):
        len("x")
        main.switch(i)
def sets():
    sys.setprofile(profile)
    len("y")
    main.switch(1)
    len("z")
    sys.setprofile(None)
    main.switch(2)
events, main = [], getcurrent()
others = greenlet(other), greenlet(sets)
others[0].switch()
others[1].switch()
others[0].switch()
others[0].switch()
others[1].switch()
print(events)
"""


# More of them wait in switch() than there is room for their callers.
MANY_PROFILED = """
import sys
from greenlet import greenlet, getcurrent
def profile(frame, event, argument):
    if event in ("c_call", "c_return"):
        key = event, argument.__name__
        events[key] = events.get(key, 0) + 1
def waits(i):
    main.switch()
    abs(i)
    main.switch()
def starts(one):
    one.switch(0)
def goes_on(one):
    one.switch()
events, main = {}, getcurrent()
others = [greenlet(waits) for i in range(200)]
sys.setprofile(profile)
for one in others: starts(one)
for one in others: goes_on(one)
for one in others: goes_on(one)
sys.setprofile(None)
print(sorted(events.items()))
"""


class Greenlets(live_trace.TraceTest):

    def on_each_with_greenlets(self, check):
        def check_one(python):
            if subprocess.run(python.command("-c", "import greenlet"), capture_output=True, check=False).returncode != 0:
                self.skipTest(f"{python.name}: no greenlet is here")
            check(python)
        self.on_each_python(check_one, OLDEST, IN_CI)

    def callers_of(self, trace, name):
        """{(caller, its caller): calls} of a function, "" for the outermost."""
        stacks, found = trace.stacks(), {}
        for stack, calls in trace.rows("SELECT stack, sum(calls) FROM calls WHERE stack > 0 GROUP BY stack"):
            parent, code = stacks[stack]
            if code[2] != name or not calls:
                continue
            callers = []
            for _ in range(2):
                callers.append(stacks[parent][1][2] if parent in stacks else "")
                parent = stacks[parent][0] if parent in stacks else 0
            found[tuple(callers)] = found.get(tuple(callers), 0) + calls
        return found

    def test_calls_stand_in_the_greenlet_that_made_them(self):
        def check(python):
            trace = self.trace(python, "-c", PROGRAM)
            self.assertEqual(self.callers_of(trace, "leaf_a"), {("run_a", ""): 200, ("ends", "<module>"): 2})
            self.assertEqual(self.callers_of(trace, "leaf_b"), {("deep_b", "deep_b"): 199, ("victim", ""): 1})
            self.assertEqual(self.callers_of(trace, "deep_b")[("run_b", "")], 100)
            self.assertEqual({callers[0] for callers in self.callers_of(trace, "ends")}, {"<module>"})
            self.assertEqual(self.notes(trace), [])
        self.on_each_with_greenlets(check)

    def test_a_greenlet_that_is_switched_to_in_a_child_of_fork_has_its_calls(self):
        def check(python):
            trace = self.trace(python, "-c", FORKS)
            self.assertEqual(self.callers_of(trace, "leaf"), {("inner", "run"): 2, ("run", ""): 2})
        self.on_each_with_greenlets(check)

    def test_a_profile_function_is_called_as_untraced(self):
        def check(python):
            plain = subprocess.run(python.command("-c", PROFILED), capture_output=True, check=True)
            trace = self.trace(python, "-c", PROFILED)
            self.assertIn(b"'c_return', 'sets', 'switch'", plain.stdout)
            self.assertEqual(trace.run.stdout, plain.stdout)
            plain = subprocess.run(python.command("-c", MANY_PROFILED), capture_output=True, check=True)
            trace = self.trace(python, "-c", MANY_PROFILED)
            self.assertIn(b"(('c_return', 'switch'), 1000)", plain.stdout)
            self.assertEqual(trace.run.stdout, plain.stdout)
        self.on_each_with_greenlets(check)

    def test_one_that_is_dropped_ends_on_the_stack_that_dropped_it(self):
        def check(python):
            trace = self.trace(python, "-c", DROPPED)
            self.assertEqual(self.callers_of(trace, "leaf"),
                             {("waits", "drops"): 10, ("drops", "outer"): 10, ("outer", "<module>"): 10})
        self.on_each_with_greenlets(check)

    def test_thousands_in_several_threads(self):
        self.check_thousands()

    def test_thousands_below_a_filter(self):
        """As in a container: the kernel is not asked to write into greenlet's tables."""
        self.check_thousands(below=live_filter.below(self))

    def check_thousands(self, **options):
        def check(python):
            trace = self.trace(python, "-c", HUB, **options)
            self.assertEqual(self.callers_of(trace, "tick"), {("worker", ""): 5000})
            self.assertEqual(self.callers_of(trace, "worker"), {("", ""): 1000})
        self.on_each_with_greenlets(check)

    def test_return_addresses_are_right_where_the_stack_that_they_are_on_was_copied(self):
        self.need("gcc")
        library = self.path("calls_back.so")

        def check(python):
            for kind, flags in KINDS.items():
                with self.subTest(kind=kind):
                    subprocess.run(["gcc", "-O2", "-fPIC", "-shared", *flags, SOURCE, "-o", library], check=True)
                    trace = self.trace(python, "-c", THROUGH_C, library)
                    self.assertEqual(trace.run.stdout.split(), [b"True", b"True"])
                    counts = {row["name"]: row["calls"] for row in trace.report("-n", "0")["functions"]}
                    self.assertEqual([counts["call_one"], counts["call_two"], counts["calls_back_two"]], [100] * 3)
        self.on_each_with_greenlets(check)


if __name__ == "__main__":
    live.main()
