#!/usr/bin/env python3
"""What `report --json` writes is what docs/report-json.schema.json and docs/report-json.md say.

usage: test_json_schema.py SHOW_EXAMPLE SCHEMA
"""

import copy
import itertools
import json
import pathlib
import subprocess
import sys
import unittest

import jsonschema

from check_report_json import check

SHOW_EXAMPLE = sys.argv[1]
SCHEMA_PATH = pathlib.Path(sys.argv[2])
SCHEMA = json.loads(SCHEMA_PATH.read_text(encoding="utf-8"))


def made(profile, *options):
    return subprocess.run([SHOW_EXAMPLE, profile, "json", *options], check=True,
                          capture_output=True).stdout.decode("utf-8", "strict")


class JsonSchema(unittest.TestCase):
    def test_the_schema_is_a_schema(self):
        jsonschema.Draft7Validator.check_schema(SCHEMA)

    def test_every_grouping_is_as_documented(self):
        for by in ("function", "line", "module", "package", "thread", "process", "program"):
            report = check(made("example", "by", by), SCHEMA)
            self.assertIn({"process": "processes"}.get(by, by + "s"), report)

    def test_states_of_rows_sum_to_them(self):
        for by, key in (("region", "regions"), ("thread", "threads"), ("process", "processes"),
                        ("program", "programs")):
            rows = check(made("waits", "by", by), SCHEMA)[key]
            for row in rows:
                self.assertEqual(sum(row["states_ns"].values()), row["total_ns"], row)
        region = next(row for row in check(made("waits", "by", "region"), SCHEMA)["regions"]
                      if row["name"] == "[region request]")
        self.assertEqual({state: ns for state, ns in region["states_ns"].items() if ns},
                         {"running": 90_000_000, "gil": 30_000_000, "io": 360_000_000})
        self.assertEqual((region["longest_wait"]["name"], region["longest_wait"]["ns"]),
                         ("read(a socket)", 360_000_000))
        for row in check(made("example", "by", "thread"), SCHEMA)["threads"]:
            self.assertIsNone(row["states_ns"])
            self.assertIsNone(row["longest_wait"])

    def test_filters_and_trees_are_as_documented(self):
        filters = ([], ["thread", "redis-server"], ["module", "libc"],
                   ["thread", "4203", "module", "redis"])
        trees = ([], ["tree", "1"], ["callers", "dictFind"], ["callees", "call"],
                 ["tree", "1", "callers", "malloc", "callees", "aeMain"])
        for options in itertools.product(filters, trees):
            check(made("example", *itertools.chain(*options)), SCHEMA)

    def test_python_and_its_lines_are_as_documented(self):
        report = check(made("python", "lines", "run"), SCHEMA)
        self.assertEqual([row["version"] for row in report["recording"]["interpreters"]], ["3.11.2", "3.16?"])
        part, = report["listing"]["parts"]
        self.assertEqual([line["line"] for line in part["lines"]], [6, 12])
        self.assertIn("/srv/app/worker.py", part["why_no_source"])
        check(made("python", "lines", "math.sin", "by", "module"), SCHEMA)
        check(made("example", "lines", "dictFind", "tree", "1"), SCHEMA)

    def test_a_trace_is_as_documented(self):
        report = check(made("trace", "tree", "1", "callers", "fib", "callees", "run", "by", "thread"), SCHEMA)
        recording = report["recording"]
        self.assertEqual((recording["mode"], recording["clock"], recording["calls"]), ("trace", "wall", 301977))
        for field in ("samples", "lost", "rate_hz", "period_ns", "trigger", "stacks", "sampled_ns"):
            self.assertIsNone(recording[field], field)
        fib, = [row for row in report["functions"] if row["name"] == "fib"]
        self.assertEqual((fib["calls"], fib["primitive_calls"], fib["total_ns"]), (1973, 1, 80000000))
        self.assertEqual([row["calls"] for row in report["threads"]], [1974, 300003])
        self.assertEqual(report["callers"]["nodes"][0]["total_calls"], fib["calls"])
        own, = [node for node in report["callers"]["nodes"] if node["parent"] == 0 and node["name"] == "fib"]
        self.assertEqual((own["total_calls"], own["total_ns"]), (fib["calls"] - fib["primitive_calls"], 0))
        sin, = [node for node in report["callees"]["nodes"] if node["name"] == "math.sin"]
        self.assertEqual(sin["self_calls"], 300000)
        for by in ("module", "process", "program"):
            check(made("trace", "by", by), SCHEMA)

    def test_an_empty_profile_is_as_documented(self):
        report = check(made("empty", "tree", "1"), SCHEMA)
        self.assertEqual(report["functions"], [])
        self.assertEqual(report["total_ns"], 0)

    def test_foreign_bytes_and_limits_are_as_documented(self):
        for by in ("function", "line", "module", "package", "thread", "process", "program"):
            report = check(made("hostile", "by", by, "tree", "1"), SCHEMA, is_sum_exact=False)
            self.assertEqual(report["total_ns"], 2**64 - 1)
        self.assertEqual(report["recording"]["command"], ["\\xff\"\\\n", ""])

    def test_every_field_is_described_in_words(self):
        words = SCHEMA_PATH.with_name("report-json.md").read_text(encoding="utf-8")
        fields = set(SCHEMA["properties"])
        for part in SCHEMA["definitions"].values():
            fields.update(part.get("properties", ()))
        for field in fields:
            self.assertIn(f"`{field}`", words)


class TheCheckItself(unittest.TestCase):
    """A check that lets everything pass would make the tests above worthless."""

    def assert_refused(self, change, *options):
        report = json.loads(made("example", *options))
        check(json.dumps(report), SCHEMA)
        change(report)
        with self.assertRaises((AssertionError, jsonschema.ValidationError)):
            check(json.dumps(report), SCHEMA)

    def test_a_field_that_is_missing(self):
        for key in SCHEMA["required"]:
            self.assert_refused(lambda report, key=key: report.pop(key))
        for key in SCHEMA["definitions"]["function"]["required"]:
            self.assert_refused(lambda report, key=key: report["functions"][0].pop(key))

    def test_a_field_that_is_not_documented(self):
        self.assert_refused(lambda report: report.update(more=1))
        self.assert_refused(lambda report: report["functions"][0].update(more=1))

    def test_a_row_that_is_missing(self):
        self.assert_refused(lambda report: report["functions"].pop(0))
        self.assert_refused(lambda report: report["threads"].pop(0), "by", "thread")

    def test_one_row_twice(self):
        self.assert_refused(
            lambda report: report["functions"].append(copy.copy(report["functions"][-1])))

    def test_a_child_without_a_parent(self):
        self.assert_refused(lambda report: report["tree"][-1].update(parent=4711), "tree", "1")

    def test_an_account_that_does_not_add_up(self):
        self.assert_refused(lambda report: report["recording"].update(startup_ns=1))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
