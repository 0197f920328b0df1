"""live_reports - what reports have to show of interpreted programs, whatever the language: folded and native, line by line."""

import re
import subprocess

import live

IDENTITY = ("language", "name", "file", "line")


def identity(row):
    return tuple(row[field] for field in IDENTITY)


def is_of_import(row):
    """Python's import system is one frame where frames are folded, and a module's code has its module's name."""
    return (row["name"] == "<module>" or row["name"].startswith("import ")
            or "importlib" in (row["file"] or "") or row["file"] == "<frozen zipimport>")


class ReportChecks:
    """For tests that are an InterpretedTest as well."""

    def text(self, recording, *options):
        done = subprocess.run([live.FATHOM, "report", recording.path, *options], capture_output=True,
                              timeout=120, check=True)
        return done.stdout.decode()

    def assert_nothing_of_the_interpreter_is_left_within(self, recording):
        report = recording.report("--tree")
        own = {row["path"] for row in report["recording"]["interpreters"]}
        functions = {row["id"]: row for row in report["functions"]}
        self.assertTrue(report["recording"]["is_folded"])
        is_within = {0: False}
        for node in report["tree"][1:]:
            function = functions[node["function"]]
            is_interpreted = function["language"] == self.language
            self.assertFalse(is_within[node["parent"]] and function["module"] in own, function)
            is_within[node["id"]] = is_interpreted or is_within[node["parent"]]

    def assert_folding_changes_no_total(self, recording):
        folded, native = recording.report(), recording.report("--native")
        self.assertFalse(native["recording"]["is_folded"])
        self.assertEqual(folded["total_ns"], native["total_ns"])
        natives = {identity(row): row for row in native["functions"]}
        seen = [row for row in folded["functions"] if row["language"] == self.language and not is_of_import(row)]
        # Built-in functions that the import system calls are a part of it.
        names = {key for key, row in natives.items() if key[0] == self.language and not is_of_import(row)}
        self.assertLessEqual({identity(row) for row in seen}, names)
        self.assertEqual({identity(row) for row in seen if row["file"]}, {name for name in names if name[2]})
        for row in seen:
            native_row = natives[identity(row)]
            if row["file"] or self.language != "python":
                self.assertEqual(row["total_ns"], native_row["total_ns"], row)
                self.assertGreaterEqual(row["self_ns"], native_row["self_ns"], row)
            else:
                self.assertLessEqual(row["total_ns"], native_row["total_ns"], row)
        self.assertGreater(len(native["functions"]), len(folded["functions"]))

    def assert_lines_are_those_of_the_source(self, recording, name, source):
        listing = self.text(recording, "--lines", name)
        shown = {}
        for line in listing.partition("  source\n")[2].splitlines():
            # The number, after a column of times or after none; the source, after two blanks.
            row = re.match(r"(?:.*? [nmµ]?s)?[ >]* (\d+)  (.*)", line)
            if row:
                shown[int(row[1])] = row[2].strip()
        self.assertGreaterEqual(len(shown), 5, listing)
        for number, text in shown.items():
            self.assertEqual(text, source.splitlines()[number - 1].strip())
        self.assertIn(" > ", listing)
