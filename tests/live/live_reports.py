"""live_reports - what reports have to show of interpreted programs, whatever the language: folded and native, line by line."""

import subprocess

import live

WHO = ("language", "name", "file", "line")


def identity(row):
    return tuple(row[field] for field in WHO)


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
        seen = [row for row in folded["functions"] if row["language"] == self.language]
        self.assertEqual({identity(row) for row in seen},
                         {who for who in natives if who[0] == self.language})
        for row in seen:
            self.assertEqual(row["total_ns"], natives[identity(row)]["total_ns"], row)
            self.assertGreaterEqual(row["self_ns"], natives[identity(row)]["self_ns"], row)
        self.assertGreater(len(native["functions"]), len(folded["functions"]))

    def assert_lines_are_those_of_the_source(self, recording, name, source):
        listing = self.text(recording, "--lines", name)
        shown = {}
        for line in listing.partition("  source\n")[2].splitlines():
            number, _, text = line[38:].replace(">", " ").strip().partition(" ")
            if number.isdigit():
                shown[int(number)] = text.strip()
        self.assertGreaterEqual(len(shown), 5, listing)
        for number, text in shown.items():
            self.assertEqual(text, source.splitlines()[number - 1].strip())
        self.assertIn(" > ", listing)
