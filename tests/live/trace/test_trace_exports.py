#!/usr/bin/env python3
"""A trace in other tools' formats, and in every view: the same counts and times."""

import json
import marshal
import pathlib
import shutil
import subprocess
import sys

import live
import live_trace

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "unit" / "export"))
from callgrind import Callgrind  # noqa: E402

DEBIAN = ("3.11",)
OF_EACH_KIND = ("3.8", "3.11", "3.14")


class Exports(live_trace.TraceTest):
    def export(self, trace, form):
        done = subprocess.run([live.FATHOM, "export", trace.path, "--format", form], capture_output=True, timeout=120)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        return done.stdout

    def test_callgrind_has_the_calls_and_the_costs_of_pstats(self):
        def check(python):
            trace = self.trace(python, self.workload("every_call.py"))
            stats = marshal.loads(self.export(trace, "pstats"))
            read = Callgrind(self.export(trace, "callgrind").decode())
            file = self.workload("every_call.py")
            # Names of their own, in one file: the same function in both.
            for name in ("factorial", "is_even", "is_odd", "deep", "main", "recursion"):
                line, = {key[1] for key in stats if key[0] == file and key[2] == name}
                primitive, calls, self_s, total_s, callers = stats[file, line, name]
                ours = {caller: figures for (caller, callee), figures in read.calls.items()
                        if callee == ("python", file, name)}
                self.assertEqual(sum(count for count, _ in ours.values()), calls)
                self.assertAlmostEqual(read.own["python", file, name] / 1e9, self_s, places=6)
                self.assertEqual(sorted(count for count, _ in ours.values()),
                                 sorted(figures[0] for figures in callers.values()))
                for figures, theirs in zip(sorted(ours.values()),
                                           sorted((row[0], row[3]) for row in callers.values())):
                    self.assertAlmostEqual(figures[1] / 1e9, theirs[1], places=6)
                self.assertLessEqual(primitive, calls)
                self.assertGreaterEqual(total_s, 0)
            self.assertEqual(int(read.head["summary"]), trace.report()["total_ns"])
            self.assertEqual(sum(read.own.values()), trace.report()["total_ns"])
        self.on_each_python(check, in_ci=OF_EACH_KIND, oldest=(3, 6))

    def test_callgrind_annotate_reads_it(self):
        def check(python):
            if shutil.which("callgrind_annotate") is None:
                self.skipTest("callgrind_annotate is not installed (package valgrind)")
            trace = self.trace(python, self.workload("worker_threads.py"), 2, 5000, 2)
            with open(self.path("trace.callgrind"), "wb") as file:
                file.write(self.export(trace, "callgrind"))
            done = subprocess.run(["callgrind_annotate", "--threshold=100", "--auto=no", "--tree=calling",
                                   self.path("trace.callgrind")], capture_output=True, text=True, timeout=300, check=True)
            self.assertEqual(done.stderr, "")
            self.assertRegex(done.stdout, r"> .*math\.sin \(10,?000x\)")
            self.assertRegex(done.stdout, r"> .*step \(10,?000x\)")
        self.on_each_python(check, in_ci=DEBIAN, oldest=(3, 6))

    def test_every_format_has_the_whole_time(self):
        def check(python):
            trace = self.trace(python, self.workload("worker_threads.py"), 2, 5000, 2)
            whole_ns = trace.report()["total_ns"]
            self.assertEqual(sum(ns for _, ns in trace.folded()), whole_ns)
            scope = json.loads(self.export(trace, "speedscope"))
            self.assertEqual(sum(sum(profile["weights"]) for profile in scope["profiles"]), whole_ns)
            self.assertEqual(self.export(trace, "pprof")[:2], b"\x1f\x8b")
            self.assertIn(b"math.sin", self.export(trace, "flamegraph"))
        self.on_each_python(check, in_ci=DEBIAN, oldest=(3, 6))

    def test_every_view_shows_it(self):
        def check(python):
            trace = self.trace(python, self.workload("worker_threads.py"), 2, 5000, 2)
            for options, wanted in (
                    (("--callers", "step"), "10,000"), (("--callees", "step"), "math.sin"), (("--tree", "--min", "0"), "math.sin"),
                    (("--by", "thread"), "10,"), (("--by", "process"), "process"), (("--by", "module"), "worker_threads.py"),
                    (("--sort", "total"), "math.sin"), (("--thread", "1",), None), (("--raw",), "math.sin")):
                done = subprocess.run([live.FATHOM, "report", "--no-pager", "-n", "0", *options, trace.path],
                                      capture_output=True, text=True, timeout=300)
                if wanted is None:
                    self.assertNotEqual(done.returncode, 0)
                    self.assertEqual(done.stdout, "")
                    continue
                self.assertEqual((done.returncode, done.stderr), (0, ""), options)
                self.assertIn(wanted, done.stdout, options)
            done = subprocess.run([live.FATHOM, "info", trace.path], capture_output=True, text=True, timeout=300)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn("traced", done.stdout)
        self.on_each_python(check, in_ci=DEBIAN, oldest=(3, 6))

    def test_lines_are_refused_with_a_sentence(self):
        def check(python):
            trace = self.trace(python, self.workload("every_call.py"))
            for options in (("--by", "line"), ("--lines", "factorial")):
                done = subprocess.run([live.FATHOM, "report", *options, trace.path], capture_output=True, text=True,
                                      timeout=300)
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assertIn("a trace has the times of functions, not of their lines", done.stderr)
        self.on_each_python(check, in_ci=DEBIAN, oldest=(3, 6))


if __name__ == "__main__":
    live.main()
