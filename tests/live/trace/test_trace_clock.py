#!/usr/bin/env python3
"""Calls timed by threads' own CPU clocks: what a thread's calls took is what its clock showed."""

import json
import os
import pathlib
import subprocess

import live
import live_reports
import live_trace

CANNOT_COUNT = 77
MODULES = str(pathlib.Path(__file__).resolve().parents[3] / "share" / "python")
# The number of the system call.
CLOCK_GETTIME = {"x86_64": "228", "aarch64": "113"}
ONE_OF_EACH_HOOK = ("3.8", "3.11", "3.14")
# What stands on both sides of what the thread timed itself: threading's own calls, and naming
# what is called for the first time, which is no call's.
AROUND_S = 0.004
SHARE = 0.02


class CpuClock(live_reports.ReportChecks, live_trace.TraceTest):
    compares_times = True

    def trace_by_cpu(self, python, how, **options):
        return self.trace(python, self.workload("own_clocks.py"), how, options=("--clock", "cpu"), **options)

    def check_threads(self, trace):
        counted = dict(trace.rows("SELECT threads.tid, sum(calls.self_ns) / 1e9 FROM calls"
                                  " JOIN threads ON threads.id = calls.thread GROUP BY threads.id"))
        self.assertGreater(len(trace.truth["threads"]), 0)
        for tid, seconds in trace.truth["threads"]:
            self.assertAlmostEqual(counted[tid], seconds, delta=AROUND_S + SHARE * seconds)

    def check_each(self, how, in_ci=("3.11",)):
        def check(python):
            trace = self.trace_by_cpu(python, how)
            self.assertEqual(self.notes(trace), self.said_of_clock(trace))
            self.check_threads(trace)
        self.on_each_python(check, in_ci=in_ci, oldest=(3, 8))

    def said_of_clock(self, trace):
        """What is true of a machine: its kernel or its C library may not say."""
        return [text for text in self.notes(trace) if "each event costs a system call" in text]

    def test_a_threads_calls_take_what_its_clock_shows(self):
        self.check_each("plain", ONE_OF_EACH_HOOK)

    def test_sleep_is_no_time(self):
        self.check_each("sleeps")

    def test_the_shortest_sleep_is_nobodys(self):
        def check(python):
            trace = self.trace_by_cpu(python, "naps")
            self.check_threads(trace)
            sleep, = [row for row in trace.report()["functions"] if row["name"] == "time.sleep"]
            self.assertGreaterEqual(sleep["calls"], 300)
            # Of 300 us of sleep and more, what going to sleep and waking up takes.
            self.assertLess(sleep["self_ns"] / sleep["calls"], 150000)
        self.on_each_python(check, in_ci=("3.11",), oldest=(3, 8))

    def test_a_call_costs_no_system_call(self):
        def check(python):
            run = subprocess.run(
                [*live.workload("count_calls", "fathom"), self.fathom_for(python), "trace", "-q", "--clock", "cpu", "-o",
                 self.path("counted.fathom"), "--", *python.command(self.workload("own_clocks.py"), "plain")],
                capture_output=True, timeout=120)
            if run.returncode == CANNOT_COUNT:
                self.skipTest(run.stderr.decode().strip())
            self.assertEqual(run.returncode, 0, run.stderr)
            counted = json.loads(run.stdout.decode().splitlines()[-1])
            trace = live_trace.Trace(self.path("counted.fathom"), run)
            if self.said_of_clock(trace):
                self.skipTest(self.said_of_clock(trace)[0])
            # A reading is good for a millisecond, or until the thread is switched away from.  The
            # workload itself asks its clock at every 201st call.
            asked = trace.calls_of("<built-in method time.thread_time>")
            calls = trace.head()["calls"]
            self.assertGreater(calls, 100000)
            self.assertLess(counted["calls"].get(CLOCK_GETTIME[os.uname().machine], 0) - asked, 0.02 * calls)
        self.on_each_python(check, in_ci=("3.11",), oldest=(3, 8))

    def test_waiting_in_a_system_call_is_no_time(self):
        self.check_each("reads")

    def test_the_time_of_others_on_the_same_processor_is_no_time(self):
        self.check_each("preempted")

    def test_a_thread_may_be_moved(self):
        self.check_each("moved")

    def test_many_threads_share_a_processor(self):
        self.check_each("many")

    def test_signal_handlers_run_in_between(self):
        self.check_each("signals")

    def test_the_clock_stands_still_while_the_program_has_switched_tracing_off(self):
        def check(python):
            trace = self.trace_by_cpu(python, "pauses", env=dict(os.environ, PYTHONPATH=MODULES))
            self.check_threads(trace)
        self.on_each_python(check, in_ci=("3.11",), oldest=(3, 8))

    def test_a_child_of_fork_has_a_clock_of_its_own(self):
        self.check_each("fork", ONE_OF_EACH_HOOK)

    def test_a_program_that_uses_restartable_sequences_has_them(self):
        def check(python):
            trace = self.trace_by_cpu(python, "uses_rseq")
            self.check_threads(trace)
            if not self.said_of_clock(trace):
                self.assertIn("1 threads use restartable sequences themselves", "\n".join(self.notes(trace)))
        if os.uname().machine != "x86_64":
            self.skipTest("the workload knows the signature of x86-64 only")
        self.on_each_python(check, in_ci=("3.11",), oldest=(3, 8))

    def test_without_restartable_sequences_the_report_says_what_it_costs(self):
        def check(python):
            if self.has_own_c_library(python):
                self.skipTest(f"{python.name} has a C library of its own, which is asked otherwise")
            environment = dict(os.environ, GLIBC_TUNABLES="glibc.pthread.rseq=0")
            trace = self.trace_by_cpu(python, "sleeps", env=environment)
            self.assertIn("each event costs a system call", "\n".join(self.notes(trace)))
            self.check_threads(trace)
        self.on_each_python(check, in_ci=("3.11",), oldest=(3, 8))

    def test_the_report_names_the_clock(self):
        def check(python):
            trace = self.trace_by_cpu(python, "plain")
            self.assertEqual(trace.head()["clock"], "cpu")
            self.assertEqual(trace.head()["mode"], "trace")
            text = self.text(trace)
            self.assertIn("times are by the cpu clock", " ".join(text.split()))
            self.assertIn("the CPU time of each thread", text)
        self.on_each_python(check, in_ci=("3.11",), oldest=(3, 8))


if __name__ == "__main__":
    live.main()
