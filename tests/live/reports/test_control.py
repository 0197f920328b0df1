#!/usr/bin/env python3
"""Regions that programs name are where they say, and what they switch off is said and not recorded."""

import os
import subprocess

import live
import live_trace
import live_trace_ruby

SHARE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../share")
MS = 1_000_000
# Regions of greenlets that wait while others work, and how long each was open on the stack (CPU time, in ms).
GREENLETS = """
import json, time
import fathom
from greenlet import getcurrent, greenlet

def burn(ms):
    end = time.process_time() + ms / 1000.0
    while time.process_time() < end:
        pass

def serve(name):
    with fathom.region(name):
        burn(60)
        parent.switch()
        burn(60)
    burn(60)

parent = getcurrent()
served = [greenlet(serve), greenlet(serve)]
for number, one in enumerate(served):
    one.switch("served %d" % number)
burn(60)
for one in served:
    one.switch()
print(json.dumps({"regions": {"served 0": 120, "served 1": 120}}))
"""


def regions_of(recording, *options):
    return {row["name"]: row for row in recording.report("--by", "region", *options)["regions"]}


def paths_of(recording):
    """{stack as names, outermost first}, of functions with a name of their own and of regions."""
    nodes = recording.report("--tree")["tree"]
    paths, names = set(), {}
    for node in nodes:
        names[node["id"]] = names.get(node["parent"], ()) + ((node["name"],) if node["name"] else ())
        paths.add(names[node["id"]])
    return paths


def has_in_order(path, *wanted):
    rest = iter(path)
    return all(any(name.split(".")[-1] == part for name in rest) for part in wanted)


# Of the 50 ms that programs burn while they are paused: on a busy machine being preempted takes a part of its own.
PAUSED_DELTA = 25 * MS


class ControlTest:
    """What is true whatever the language: the programs do the same and print how long."""

    def check_regions(self, recording, truth, measure):
        rows = regions_of(recording)
        for name, ms in truth["regions"].items():
            shown = rows[f"[region {name}]"]
            if measure:
                self.assertAlmostEqual(shown["total_ns"], ms * MS, delta=0.15 * ms * MS + 6 * MS, msg=name)
            else:
                self.assertGreater(shown["total_ns"], 0, name)
        return rows

    def assert_path(self, recording, *wanted):
        paths = paths_of(recording)
        self.assertTrue(any(has_in_order(path, *wanted) for path in paths), (wanted, sorted(paths)))

    def assert_no_path(self, recording, *wanted):
        found = [path for path in paths_of(recording) if has_in_order(path, *wanted)]
        self.assertEqual(found, [], wanted)


WITHOUT_THE_LOCK = """
import ctypes, sys
import fathom
work = ctypes.CDLL(sys.argv[1]).work
def begins():
    region = fathom.region("x")
    region.__enter__()
    return region
def outer():
    region = begins()
    number = work(2)
    region.__exit__(None, None, None)
    return number
print(outer())
"""


class Python(ControlTest, live_trace.TraceTest):
    compares_times = True

    def run_options(self):
        return {"env": {**os.environ, "PYTHONPATH": os.path.join(SHARE, "python")}}

    def check_sampled(self, python):
        recording = self.record_python(python, self.workload("regions.py"), **self.run_options())
        truth = recording.truth
        self.assertTrue(truth["is_running"])
        self.check_regions(recording, truth, measure=True)
        self.assertAlmostEqual(recording.head()["paused_ns"], truth["paused"] * MS, delta=PAUSED_DELTA)
        self.assert_adds_up(recording)
        self.assert_path(recording, "entering", "[region load]", "burn")
        self.assert_path(recording, "entering", "[region load]", "[region inner]", "burn")
        self.assert_no_path(recording, "[region inner]", "entering")
        self.assert_no_path(recording, "[region left]", "behind")
        if python.version >= (3, 6):
            self.assert_path(recording, "request", "[region first]", "burn")
            self.assert_no_path(recording, "[region first]", "[region second]")
            self.assert_no_path(recording, "[region second]", "[region first]")
            self.assert_no_path(recording, "[region generator]", "consume")
            self.assert_path(recording, "managed", "[region managed]", "burn")

    def test_a_region_is_inside_of_the_function_that_began_it(self):
        self.on_each_python(self.check_sampled, oldest=(2, 7))

    def check_traced(self, python):
        trace = self.trace(python, self.workload("regions.py"), **self.run_options())
        rows = self.check_regions(trace, trace.truth, measure=False)
        for name, times in trace.truth["times"].items():
            self.assertEqual(rows[f"[region {name}]"]["calls"], times, name)
        self.assertGreater(trace.head()["paused_ns"], 0)
        self.assertEqual(trace.calls_of("while_paused"), 0)
        self.assertEqual(trace.calls_of("resumed"), 3)
        self.assert_path(trace, "entering", "[region load]", "[region inner]", "burn")
        self.assert_no_path(trace, "[region inner]", "entering")
        self.assert_path(trace, "request", "[region first]", "burn")
        self.assert_no_path(trace, "[region first]", "[region second]")
        self.assert_no_path(trace, "[region generator]", "consume")
        self.assert_path(trace, "managed", "[region managed]", "burn")
        self.assert_path(trace, "borrower", "[region borrowed]", "burn")
        self.assertTrue(any("switched tracing off" in note for note in self.notes(trace)), self.notes(trace))

    def test_a_traced_region_has_the_calls_that_were_made_in_it(self):
        self.on_each_python(self.check_traced, oldest=(3, 6))

    def check_around(self, python, *parts):
        trace = self.trace(python, self.workload("regions_around.py"), *parts, **self.run_options())
        expected = trace.truth["work"]
        known = {name for path in expected for name in path.split(">")}
        names, found = {}, {}
        for node in trace.report("--tree", "--min", "0")["tree"]:
            own = [name for name in [(node["name"] or "").split(".")[-1]] if name in known]
            names[node["id"]] = names.get(node["parent"], []) + own
            if own == ["work"]:
                path = ">".join(names[node["id"]])
                found[path] = found.get(path, 0) + node["total_calls"]
        self.assertEqual(found, expected)

    def test_regions_are_of_the_thread_the_child_and_the_generator_that_has_them(self):
        self.on_each_python(lambda python: self.check_around(python, "threads", "fork", "generators"), oldest=(3, 6))

    def test_threads_that_end_within_regions_leave_room_for_those_of_others(self):
        self.on_each_python(lambda python: self.check_around(python, "left"), oldest=(3, 6), in_ci=("3.11",))

    def test_regions_are_of_the_interpreter_that_has_them(self):
        self.on_each_python(lambda python: self.check_around(python, "subinterpreters"), oldest=(3, 8))

    def check_greenlets(self, python):
        if subprocess.run(python.command("-c", "import greenlet"), capture_output=True, check=False).returncode != 0:
            self.skipTest(f"{python.name}: no greenlet is here")
        self.check_around(python, "generators", "greenlets")
        recording = self.record_python(python, self.write("greenlets.py", GREENLETS), **self.run_options())
        self.check_regions(recording, recording.truth, measure=True)

    def test_regions_are_of_the_greenlet_that_has_them(self):
        self.on_each_python(self.check_greenlets, oldest=(3, 6), in_ci=("3.11",))

    def check_paused(self, python):
        program = self.workload("resumes.py")
        recording = self.record_python(python, program, options=("--paused",), **self.run_options())
        self.assertEqual(recording.truth["is_running"], [False, True])
        names = {row["plain_name"] for row in recording.report()["functions"]}
        self.assertIn("behind", names)
        self.assertNotIn("before", names)
        if python.version >= (3, 6):
            trace = self.trace(python, program, options=("--paused",), **self.run_options())
            self.assertEqual((trace.calls_of("before"), trace.calls_of("behind")), (0, 5))
            self.assert_path(trace, "main", "behind")

    def test_compiled_code_is_called_without_the_lock_while_a_region_waits(self):
        """Where events report calls, a region's frame is asked for behind its beginning: not from such code."""
        library = self.path("tiny.so")
        with open(self.path("tiny.c"), "w") as file:
            file.write("int work(int x) { return x + 1; }\n")
        subprocess.run(["gcc", "-shared", "-fPIC", "-finstrument-functions", "-o", library, self.path("tiny.c")], check=True)

        def check(python):
            command = python.command("-c", WITHOUT_THE_LOCK, library)
            run = subprocess.run([live.FATHOM, "trace", "-q", "--only", "*", "-o", self.path("only.fathom"), "--", *command],
                                 capture_output=True, cwd=self.folder, timeout=300, **self.run_options())
            self.assertEqual((run.returncode, run.stdout), (0, b"3\n"), run.stderr)
        self.on_each_python(check, in_ci=("3.12",), oldest=(3, 12))

    def test_a_program_that_begins_paused_is_recorded_from_where_it_asks_for_it(self):
        self.on_each_python(self.check_paused, oldest=(2, 7))

    def check_bare(self, python):
        run = subprocess.run(python.command(self.workload("regions.py")), capture_output=True, timeout=120,
                             cwd=self.folder, check=True, **self.run_options())
        truth = live.truth_of(run.stdout)
        self.assertFalse(truth["is_running"])
        self.assertEqual(truth["modules"], [])
        self.assertEqual(run.stderr, b"")

    def test_without_fathom_nothing_happens_and_nothing_is_imported(self):
        self.on_each_python(self.check_bare, oldest=(2, 7))


class Ruby(ControlTest, live_trace_ruby.RubyTraceTest):
    compares_times = True

    def run_options(self, **environment):
        return {"env": {**os.environ, "RUBYLIB": os.path.join(SHARE, "ruby"), **environment}}

    def check_sampled(self, ruby):
        recording = self.record_ruby(ruby, self.workload("regions.rb"), **self.run_options())
        truth = recording.truth
        self.assertTrue(truth["is_running"])
        self.check_regions(recording, truth, measure=True)
        self.assertAlmostEqual(recording.head()["paused_ns"], truth["paused"] * MS, delta=PAUSED_DELTA)
        self.assert_adds_up(recording)
        self.assert_path(recording, "Object#entering", "[region load]", "[region inner]", "Object#burn")
        self.assert_no_path(recording, "[region fiber]", "Object#beside")

    def test_a_region_is_inside_of_the_method_that_began_it(self):
        self.on_each_ruby(self.check_sampled)

    def check_traced(self, ruby):
        trace = self.trace(ruby, self.workload("regions.rb"), **self.run_options())
        rows = self.check_regions(trace, trace.truth, measure=False)
        for name, times in trace.truth["times"].items():
            self.assertEqual(rows[f"[region {name}]"]["calls"], times, name)
        self.assertGreater(trace.head()["paused_ns"], 0)
        self.assertEqual(trace.calls_of("burn"), trace.truth["burns"])
        self.assert_path(trace, "Object#entering", "[region load]", "[region inner]", "Object#burn")
        self.assert_no_path(trace, "[region inner]", "Object#entering")
        self.assert_no_path(trace, "[region left]", "Object#behind")
        self.assert_no_path(trace, "[region fiber]", "Object#beside")
        self.assertTrue(any("switched tracing off" in note for note in self.notes(trace)), self.notes(trace))

    def test_a_traced_region_has_the_calls_that_were_made_in_it(self):
        self.on_each_ruby(self.check_traced)

    def check_paused(self, ruby):
        program = self.workload("resumes.rb")
        recording = self.record_ruby(ruby, program, options=("--paused",), **self.run_options())
        self.assertEqual(recording.truth["is_running"], [False, True])
        names = {row["plain_name"] for row in recording.report()["functions"]}
        self.assertIn("behind", names)
        self.assertNotIn("before", names)
        trace = self.trace(ruby, program, options=("--paused",), **self.run_options())
        self.assertEqual((trace.calls_of("before"), trace.calls_of("behind")), (0, 5))
        self.assert_path(trace, "Object#main", "Object#behind")

    def test_a_program_that_begins_paused_is_recorded_from_where_it_asks_for_it(self):
        self.on_each_ruby(self.check_paused)

    def check_around(self, ruby):
        # Room for recursion that is deeper than the entries that are kept of a stack.
        deep = {"RUBY_THREAD_VM_STACK_SIZE": str(5 << 20), "RUBY_FIBER_VM_STACK_SIZE": str(1 << 20)}
        trace = self.trace(ruby, self.workload("regions_around.rb"), **self.run_options(**deep))
        calls = trace.truth["calls"]
        self.assertEqual({name: trace.calls_of(name) for name in calls}, calls)
        self.assert_path(trace, "Object#in_fiber", "[region fiber]", "Object#work")
        self.assert_path(trace, "[region around]", "[region child]", "Object#work")
        self.assert_path(trace, "Object#deep", "[region behind]", "Object#work")
        self.assert_no_path(trace, "[region fiber]", "Object#beside")
        self.assert_no_path(trace, "Object#recurse", "[region behind]")

    def test_regions_of_threads_fibers_and_children_and_behind_deep_recursion(self):
        self.on_each_ruby(self.check_around)


class C(ControlTest, live.LiveTest):
    compares_times = True

    def test_a_region_is_inside_of_the_function_that_began_it(self):
        recording = self.record(live.workload("regions"))
        self.check_regions(recording, recording.truth, measure=True)
        self.assertAlmostEqual(recording.head()["paused_ns"], recording.truth["paused"] * MS, delta=PAUSED_DELTA)
        self.assert_adds_up(recording)
        self.assert_path(recording, "entering", "[region load]", "[region inner]", "burn")
        self.assert_path(recording, "by_itself", "[region own]")
        self.assert_no_path(recording, "[region load]", "entering")

    def test_so_it_is_at_a_fixed_address(self):
        recording = self.record(live.workload("regions_fixed"))
        self.check_regions(recording, recording.truth, measure=True)

    def test_and_with_the_timer(self):
        recording = self.record(live.workload("regions"), "--trigger", "timer")
        self.assertIn("[region load]", regions_of(recording))

    def test_without_fathom_nothing_happens(self):
        run = subprocess.run(live.workload("regions"), capture_output=True, check=True, timeout=300)
        self.assertFalse(live.truth_of(run.stdout)["is_running"])


class Module(live.LiveTest):
    def test_the_folder_of_each_module_is_printed(self):
        for language, name in (("python", "fathom.py"), ("ruby", "fathom.rb"), ("c", "fathom.h")):
            run = subprocess.run([live.FATHOM, "module", language], capture_output=True, check=True, text=True)
            self.assertTrue(os.path.exists(os.path.join(run.stdout.rstrip("\n"), name)), run.stdout)

    def test_another_language_is_refused(self):
        for arguments in ([], ["perl"]):
            run = subprocess.run([live.FATHOM, "module", *arguments], capture_output=True, text=True)
            self.assertEqual((run.returncode, run.stdout), (2, ""))
            self.assertIn("python, ruby or c", run.stderr)


if __name__ == "__main__":
    live.main()
