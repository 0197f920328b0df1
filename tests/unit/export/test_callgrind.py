#!/usr/bin/env python3
"""What `--format callgrind` writes has each call's count and cost, and is read by callgrind_annotate."""

import contextlib
import shutil
import subprocess
import tempfile
import unittest

from callgrind import Callgrind
from exported import OfCalls

MS = 1000000


def key(name, file="/srv/a.py", module="python"):
    return module, file, name


class CallgrindFormat(OfCalls, unittest.TestCase):
    format = "callgrind"

    def setUp(self):
        super().setUp()
        self.read = Callgrind(self.data.decode())

    def edge(self, caller, callee):
        calls, cost = self.read.calls[caller, callee]
        return calls, cost / MS

    def test_the_head_says_what_is_counted(self):
        self.assertEqual(self.data.splitlines()[0], b"# callgrind format")
        self.assertEqual(self.read.head["version"], "1")
        self.assertEqual(self.read.head["events"], "ns")
        self.assertEqual(self.read.head["positions"], "line")
        self.assertEqual(int(self.read.head["summary"]), sum(self.read.own.values()))

    def test_self_costs_are_those_of_functions(self):
        self.assertEqual(self.read.own[key("fib")], 90 * MS)
        self.assertEqual(self.read.own[key("Tree.walk")], 16 * MS)

    def test_each_caller_has_its_count_of_calls_and_their_cost(self):
        self.assertEqual(self.edge(key("<module>"), key("fib")), (1, 95))
        self.assertEqual(self.edge(key("fib"), key("fib")), (6, 75))
        self.assertEqual(self.edge(key("fib"), key("builtins.len", "???")), (4, 5))

    def test_rows_in_brackets_have_their_time(self):
        outside = [cost for (_, _, name), cost in self.read.own.items() if name.startswith("[")]
        self.assertGreater(sum(outside), 0)

    def test_callgrind_annotate_reads_it(self):
        if shutil.which("callgrind_annotate") is None:
            self.skipTest("callgrind_annotate is not installed (package valgrind)")
        with tempfile.NamedTemporaryFile() as file:
            file.write(self.data)
            file.flush()
            done = subprocess.run(["callgrind_annotate", "--threshold=100", "--auto=no", "--tree=calling", file.name],
                                  capture_output=True, text=True, timeout=60, check=True)
        self.assertEqual(done.stderr, "")
        self.assertRegex(done.stdout, r"90,000,000 .*\* +/srv/a.py:fib")
        self.assertRegex(done.stdout, r"5,000,000 .*> +\?\?\?:builtins.len \(4x\)")


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        unittest.main(verbosity=2)
