"""What reports show of Python programs: folded and native, line by line, and within other programs."""

import os

import live
import live_python
import live_reports

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


class Reports(live_reports.ReportChecks, live_python.PythonTest):

    def record_program(self, python):
        path = self.path("work.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        return self.record_python(python, path)

    def test_reports_of_each_version_are_folded_without_a_loss_and_have_lines(self):
        self.on_each_python(self.assert_reports)

    def assert_reports(self, python):
        recording = self.record_program(python)
        self.assert_nothing_of_the_interpreter_is_left_within(recording)
        self.assert_folding_changes_no_total(recording)
        name = "run" if python.version < (3, 11) else "Worker.run"
        self.assert_lines_are_those_of_the_source(recording, "work." + name, PROGRAM)

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
