#!/usr/bin/env python3
"""A signal handler of compiled code comes in the middle of an interpreter's hooks: no call is lost on either side."""

import collections
import os
import re
import subprocess

import live
from live_interpreted import IS_LONG
from live_trace import TraceTest
from live_trace_ruby import RubyTraceTest

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "workloads", "native", "alarms.c")
FLAGS = {"instrument": ["-finstrument-functions"], "pg": ["-pg"], "fentry": ["-pg", "-mfentry"]}
# One of each mechanism: a profile function, dispatch hooks, sys.monitoring.
IN_CI = ("3.8", "3.11", "3.12")
KINDS = FLAGS if IS_LONG else ("instrument", "fentry")


class Interrupted:
    """Beside a live_trace.Tracing."""

    def check(self, interpreter, program, turns):
        self.need("gcc")
        library = self.path("alarms.so")
        for kind in KINDS:
            with self.subTest(kind=kind):
                subprocess.run(["gcc", "-O2", "-fPIC", "-shared", *FLAGS[kind], SOURCE, "-o", library], check=True)
                trace = self.trace(interpreter, self.workload(program), library, str(turns))
                counts = collections.Counter()
                for row in trace.report("-n", "0")["functions"]:
                    counts[re.split(r"[.#]", row["name"])[-1]] += row["calls"]
                for line in trace.run.stdout.decode().splitlines():
                    name, count = line.split()[1:]
                    self.assertEqual((name, counts[name]), (name, int(count)))
                self.assertEqual(counts["part_of_alarm"], 2 * counts["on_alarm"])
                self.assertGreater(counts["on_alarm"], 100)


class Pythons(Interrupted, TraceTest):
    def test_python_functions_and_the_handlers(self):
        self.on_each_python(lambda python: self.check(python, "under_alarms.py", 20000), oldest=(3, 6), in_ci=IN_CI)


class Rubys(Interrupted, RubyTraceTest):
    def test_ruby_methods_and_the_handlers(self):
        self.on_each_ruby(lambda ruby: self.check(ruby, "under_alarms.rb", 20000))


if __name__ == "__main__":
    live.main()
