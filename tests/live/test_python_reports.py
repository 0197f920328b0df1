"""What reports show of Python programs: folded and native, line by line, and within other programs."""

import os
import subprocess

import live
import live_python

PROGRAM = """
import functools, json, os, re

def key(x):
    return -x

def add(a, b):
    return a + b

def upper(match):
    return match.group(0).upper()

class Worker(object):
    def run(self):
        sorted(range(3000), key=key)
        functools.reduce(add, range(3000))
        re.sub("[a-z]+", upper, "the quick brown fox " * 50)
        json.loads(json.dumps({"a": list(range(1000))}))
        return sum(i * i for i in range(5000))

while os.times()[0] < 0.6:
    Worker().run()
"""
WHO = ("language", "name", "file", "line")


def identity(row):
    return tuple(row[field] for field in WHO)


class Reports(live_python.PythonTest):

    def record_program(self, python):
        path = self.path("work.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        return self.record_python(python, path)

    def text(self, recording, *options):
        done = subprocess.run([live.FATHOM, "report", recording.path, *options], capture_output=True,
                              timeout=120, check=True)
        return done.stdout.decode()

    def test_reports_of_each_version_are_folded_without_a_loss_and_have_lines(self):
        self.on_each_python(self.assert_reports)

    def assert_reports(self, python):
        recording = self.record_program(python)
        self.assert_nothing_of_the_interpreter_is_left_within_python(recording)
        self.assert_folding_changes_no_total(recording)
        self.assert_lines_are_those_of_the_source(recording, "run" if python.version < (3, 11) else "Worker.run")

    def assert_nothing_of_the_interpreter_is_left_within_python(self, recording):
        report = recording.report("--tree")
        own = {row["path"] for row in report["recording"]["interpreters"]}
        functions = {row["id"]: row for row in report["functions"]}
        self.assertTrue(report["recording"]["is_folded"])
        is_within = {0: False}
        for node in report["tree"][1:]:
            function = functions[node["function"]]
            is_python = function["language"] == "python"
            self.assertFalse(is_within[node["parent"]] and function["module"] in own, function)
            is_within[node["id"]] = is_python or is_within[node["parent"]]

    def assert_folding_changes_no_total(self, recording):
        folded, native = recording.report(), recording.report("--native")
        self.assertFalse(native["recording"]["is_folded"])
        self.assertEqual(folded["total_ns"], native["total_ns"])
        natives = {identity(row): row for row in native["functions"]}
        seen = [row for row in folded["functions"] if row["language"] == "python"]
        self.assertEqual({identity(row) for row in seen},
                         {who for who in natives if who[0] == "python"})
        for row in seen:
            self.assertEqual(row["total_ns"], natives[identity(row)]["total_ns"], row)
            self.assertGreaterEqual(row["self_ns"], natives[identity(row)]["self_ns"], row)
        self.assertGreater(len(native["functions"]), len(folded["functions"]))

    def assert_lines_are_those_of_the_source(self, recording, name):
        listing = self.text(recording, "--lines", "work." + name)
        source = PROGRAM.splitlines()
        shown = {}
        for line in listing.partition("  source\n")[2].splitlines():
            number, _, text = line[38:].replace(">", " ").strip().partition(" ")
            if number.isdigit():
                shown[int(number)] = text.strip()
        self.assertGreaterEqual(len(shown), 5, listing)
        for number, text in shown.items():
            self.assertEqual(text, source[number - 1].strip())
        self.assertIn(" > ", listing)

    def test_a_source_that_was_changed_since_is_not_shown(self):
        path = self.path("work.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        recording = self.record(self.any_python(path))
        os.utime(path)
        listing = self.text(recording, "--lines", "upper")
        self.assertIn("was changed after it was recorded", " ".join(listing.split()))
        self.assertNotIn("match.group", listing)
        os.unlink(path)
        self.assertIn("is not on this machine", " ".join(self.text(recording, "--lines", "upper").split()))

    def test_a_program_that_embeds_python_stays_around_it(self):
        gdb = self.need("gdb")
        script = self.path("hot.py")
        with open(script, "w", encoding="utf-8") as file:
            file.write("def hot(n):\n    return sum(i * i for i in range(n))\nfor i in range(30):\n    hot(100000)\n")
        recording = self.record([gdb, "-nx", "-batch", "-x", script])
        report = recording.report("--callers", "hot.hot")
        if not report["recording"]["interpreters"]:
            self.skipTest("this gdb has no Python")
        functions = {row["id"]: row for row in report["functions"]}
        modules = [functions[node["function"]]["module"] or "" for node in report["callers"]["nodes"][1:]]
        self.assertTrue(any(os.path.basename(module) == "gdb" for module in modules), modules)
        self.assertFalse(any("libpython" in module for module in modules), modules)


if __name__ == "__main__":
    live.main()
