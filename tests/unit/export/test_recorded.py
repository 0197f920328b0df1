#!/usr/bin/env python3
"""What is exported of a real recording is what the report says of it."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

FATHOM = os.environ.get("FATHOM", "fathom")
COMMAND = ["sh", "-c", "\"$0\" -c 'sum(i * i for i in range(3000000))'; gzip -9 < \"$0\" > /dev/null"]


def fathom(*arguments):
    return subprocess.run([FATHOM, *arguments], capture_output=True, check=True, timeout=120).stdout


class Recorded(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.recording = str(pathlib.Path(folder.name) / "test.fathom")
        fathom("record", "-q", "-o", cls.recording, "--", *COMMAND, os.path.realpath(sys.executable))
        report = json.loads(fathom("report", cls.recording, "--json"))
        cls.total_ns = report["total_ns"]
        cls.self_ns = {}
        cls.self_ns_by_place = {}
        for row in report["functions"]:
            if row["self_ns"]:
                cls.self_ns[row["name"]] = cls.self_ns.get(row["name"], 0) + row["self_ns"]
                place = f"{row['name']} ({row['file']}:{row['line']})"
                label = place if row["language"] == "python" and row["file"] else row["name"]
                cls.self_ns_by_place[label] = cls.self_ns_by_place.get(label, 0) + row["self_ns"]

    def export(self, format):
        return fathom("export", self.recording, "--format", format)

    def test_folded_gives_every_function_its_time(self):
        times = {}
        for line in self.export("folded").decode().splitlines():
            stack, ns = line.rsplit(" ", 1)
            leaf = stack.rsplit(";", 1)[-1]
            times[leaf] = times.get(leaf, 0) + int(ns)
        self.assertEqual({leaf: ns for leaf, ns in times.items() if ns}, self.self_ns_by_place)

    def test_speedscope_gives_every_function_its_time(self):
        data = json.loads(self.export("speedscope"))
        times = {}
        for thread in data["profiles"]:
            self.assertEqual(sum(thread["weights"]), thread["endValue"])
            for stack, ns in zip(thread["samples"], thread["weights"]):
                leaf = data["shared"]["frames"][stack[-1]]["name"]
                times[leaf] = times.get(leaf, 0) + ns
        # A sample may stand for no time: a thread that got another's trap.
        self.assertEqual({leaf: ns for leaf, ns in times.items() if ns}, self.self_ns)
        self.assertGreaterEqual(len(data["profiles"]), 2)

    def test_the_flame_graph_holds_all_the_time(self):
        page = self.export("flamegraph").decode()
        data = json.loads(re.search(r'id="profile">(.*?)</script>', page, re.S).group(1))
        self.assertEqual(sum(data["rows"]["ns"]), self.total_ns)
        self.assertEqual(data["info"]["command"][0], "sh")

    def test_every_format_gives_the_same_bytes_twice(self):
        for format in ("folded", "speedscope", "pprof", "flamegraph"):
            with self.subTest(format):
                self.assertEqual(self.export(format), self.export(format))


if __name__ == "__main__":
    unittest.main(verbosity=2)
