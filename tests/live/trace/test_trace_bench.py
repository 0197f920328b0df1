#!/usr/bin/env python3
"""The bench of tracing runs: every tracer that is there has a figure, and ours has counted."""

import os
import pathlib
import subprocess

import live

BENCH = pathlib.Path(__file__).resolve().parents[3] / "bench" / "trace.py"


class Bench(live.LiveTest):
    def table(self, *arguments):
        """{(subject, call): cells}, and what was said of tracers that were left out."""
        done = subprocess.run(["python3", "-B", BENCH, "--quick", *arguments], capture_output=True, text=True, timeout=300,
                              cwd=self.folder, env={**os.environ, "FATHOM": live.FATHOM}, check=True)
        calls, _, mixed = done.stdout.partition("\n\n| | loop")
        rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in calls.splitlines() if line.startswith("| ")]
        columns = ["subject", *rows[0][1:]]
        rows = [dict(zip(columns, row)) for row in rows[1:]]
        self.assertEqual(mixed.count("\n| "), len({row["subject"] for row in rows}), done.stdout)
        return {(row["subject"], row["call of"]): row for row in rows}, done.stderr

    def assert_measured(self, row, *columns):
        for column in columns:
            self.assertRegex(row[column], "[0-9]", (column, row))

    def test_of_python_all_columns_are_filled(self):
        python = self.any_python()
        rows, said = self.table("--pythons", python, "--rubies", "", "--flags", "")
        self.assertEqual({call for _, call in rows}, {"Python function", "builtin"}, said)
        for row in rows.values():
            self.assert_measured(row, "bare, ns", "floor", "fathom", "cpu", "peer", "of the peer's", "aim")
            self.assertIn("cProfile", row["peer"])

    def any_python(self):
        path = pathlib.Path("/usr/bin/python3").resolve()
        if not path.exists():
            self.skipTest("there is no /usr/bin/python3")
        return "debian-" + path.name.removeprefix("python")

    def test_of_a_tracer_that_counts_nothing_there_is_no_figure(self):
        """A program without hooks costs nothing to trace, and no table says so."""
        path = self.path("nothing")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f'#!/bin/sh\n[ "$1" = trace ] || exec {live.FATHOM} "$@"\nwhile [ "$1" != -- ]; do shift; done\n'
                       'shift\nexec "$@"\n')
        os.chmod(path, 0o755)
        rows, said = self.table("--fathom", path, "--pythons", self.any_python(), "--rubies", "", "--flags", "")
        self.assertIn("were traced", said)
        for row in rows.values():
            self.assertEqual((row["fathom"], row["of the peer's"]), ("", ""))


if __name__ == "__main__":
    live.main()
