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
COMMAND = ["sh", "-c", "\"$0\" \"$1\"; gzip -9 < \"$0\" > /dev/null"]
PROGRAM = """
class Square:
    def sum(self, n):
        return sum(i * i for i in range(n))

Square().sum(3000000)
"""


def fathom(*arguments):
    return subprocess.run([FATHOM, *arguments], capture_output=True, check=True, timeout=120).stdout


class Recorded(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.recording = str(pathlib.Path(folder.name) / "test.fathom")
        cls.program = str(pathlib.Path(folder.name) / "square.py")
        pathlib.Path(cls.program).write_text(PROGRAM, encoding="utf-8")
        fathom("record", "-q", "-o", cls.recording, "--", *COMMAND, os.path.realpath(sys.executable), cls.program)
        report = json.loads(fathom("report", cls.recording, "--json"))
        cls.total_ns = report["total_ns"]
        cls.is_folded = report["recording"]["is_folded"]
        cls.self_ns = {}
        cls.self_ns_by_place = {}
        for row in report["functions"]:
            if row["self_ns"]:
                cls.self_ns[row["name"]] = cls.self_ns.get(row["name"], 0) + row["self_ns"]
                place = f"{row['name']} ({row['file']}:{row['line']})"
                label = place if row["language"] == "python" and row["file"] else row["name"]
                cls.self_ns_by_place[label] = cls.self_ns_by_place.get(label, 0) + row["self_ns"]

    def export(self, format, *options):
        return fathom("export", self.recording, "--format", format, *options)

    def need_python(self):
        if not self.is_folded:
            self.skipTest(f"the functions of {sys.executable} are not seen")

    def test_the_page_has_the_times_of_samples(self):
        page = self.export("flamegraph").decode()
        data = json.loads(page.split('id="profile">')[1].split("</script>")[0])
        time_slots = data["time_slots"]
        self.assertEqual(sum(time_slots["count"]), data["info"]["count"])
        self.assertLess(max(time_slots["slot"]), time_slots["slots"])
        self.assertGreater(len(set(time_slots["slot"])), 2)

    def test_python_functions_have_their_file_and_line(self):
        self.need_python()
        folded = self.export("folded").decode()
        self.assertRegex(folded, rf"\.?sum \({re.escape(self.program)}:3\);.*genexpr> \({re.escape(self.program)}:4\)")
        frames = json.loads(self.export("speedscope"))["shared"]["frames"]
        page = self.export("flamegraph").decode()
        data = json.loads(re.search(r'id="profile">(.*?)</script>', page, re.S).group(1))
        functions = [(file, line) for name, language, module, file, line, *_ in data["functions"]
                     if data["languages"][language] == "python" and module == 0]
        for line in (1, 3, 4):
            self.assertIn((self.program, line), [(frame.get("file"), frame.get("line")) for frame in frames])
            self.assertIn((self.program, line), functions)

    def test_what_is_folded_is_in_other_places_and_not_gone(self):
        self.need_python()

        def sums(*options):
            lines = self.export("folded", *options).decode().splitlines()
            return sum(int(line.rsplit(" ", 1)[1]) for line in lines), len(lines)
        folded, native = sums(), sums("--native")
        self.assertEqual(folded[0], native[0])
        self.assertEqual(folded[0], self.total_ns)
        self.assertLess(folded[1], native[1])

    def test_lines_add_up_to_their_function(self):
        self.need_python()
        report = json.loads(fathom("report", self.recording, "--json", "--lines", "square.<module>"))
        part, = report["listing"]["parts"]
        row, = [row for row in report["functions"] if row["id"] == part["function"]]
        self.assertEqual(sum(line["self_ns"] for line in part["lines"]), row["self_ns"])
        self.assertIsNone(part["why_no_source"])
        self.assertIn("Square().sum(3000000)", [line["source"] for line in part["lines"]])

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
