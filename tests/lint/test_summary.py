#!/usr/bin/env python3
"""The summary of ./dev test counts what ran, and nothing is skipped silently."""

import contextlib
import io
import json
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "live"))
import live  # noqa: E402
import summary  # noqa: E402


class Summary(unittest.TestCase):
    def tally(self, *tests):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as log:
            log.write("\n".join(json.dumps(test) for test in tests))
            log.flush()
            return summary.tally_of(f"step passed build with gcc\nmeson {log.name} unit tests\n")

    def test_steps_and_tests_are_counted(self):
        tally = self.tally({"name": "fathom:unit / a", "result": "OK", "stdout": ""},
                           {"name": "fathom:unit / b", "result": "FAIL", "stdout": ""})
        self.assertEqual((tally.passed, tally.failed, tally.skipped),
                         (2, ["unit tests: b (fail)"], []))

    def test_a_time_out_is_a_failure(self):
        self.assertEqual(self.tally({"name": "a", "result": "TIMEOUT"}).failed,
                         ["unit tests: a (timeout)"])

    def test_a_skipped_test_says_why(self):
        tally = self.tally({"name": "a", "result": "SKIP", "stdout": "x\nno chromium\n"})
        self.assertEqual(tally.skipped, ["unit tests: a: no chromium"])
        self.assertEqual(tally.passed, 1)
        tally = self.tally({"name": "a", "result": "SKIP",
                            "stderr": "setUpClass (__main__.T) ... skipped 'no go'\n\n"
                                      "OK (skipped=1)\n"})
        self.assertEqual(tally.skipped, ["unit tests: a: no go"])

    def test_a_case_skipped_within_a_program_is_named(self):
        tally = self.tally({"name": "a", "result": "OK",
                            "stdout": "[ RUN      ] one\n[       OK ] one\n"
                                      "[ RUN      ] other\nno perf here\n[  SKIPPED ] other\n"
                                      "[  SKIPPED ] 1 test(s).\n"})
        self.assertEqual(tally.skipped, ["unit tests: a: other: no perf here"])
        tally = self.tally({"name": "a", "result": "OK",
                            "stderr": "test_x (__main__.T.test_x) ... skipped 'no perf'\n"})
        self.assertEqual(tally.skipped, ["unit tests: a: test_x: no perf"])
        tally = self.tally({"name": "a", "result": "OK",
                            "stderr": "test_x (__main__.T)\nIts words. ... skipped 'no perf'\n"
                                      "OK (skipped=1)\n"})
        self.assertEqual(tally.skipped, ["unit tests: a: Its words.: no perf"])

    def test_a_case_that_does_not_say_why_is_counted_all_the_same(self):
        tally = self.tally({"name": "a", "result": "OK", "stderr": "OK (skipped=2)\n"})
        self.assertEqual(tally.skipped, ["unit tests: a: a case that did not say why"] * 2)

    def test_what_passed_at_second_sight_is_listed(self):
        tally = self.tally({"name": "a", "result": "OK", "stderr": "\nfailed at first sight: t: 30 % for 40 %\nok\n"})
        self.assertEqual((tally.passed, tally.repeated), (2, ["unit tests: a: t: 30 % for 40 %"]))

    def test_a_check_has_a_second_sight_and_no_third(self):
        shares = iter([0.3, 0.4, 0.3, 0.3])

        def check():
            live.at_second_sight("a share", lambda: self.assertEqual(next(shares), 0.4))

        with contextlib.redirect_stderr(io.StringIO()) as said:
            check()
            self.assertRaises(AssertionError, check)
        self.assertEqual(len(summary.FAILED_ONCE.findall(said.getvalue())), 2)

    def test_a_part_of_a_test_has_a_second_sight_and_no_third(self):
        seen = []

        class Times(live.LiveTest):
            compares_times = True

            def test_parts(self):
                for share in (1, 2):
                    with self.subTest(share=share):
                        seen.append(share)
                        self.assertEqual(share, wanted.pop(0))

        for wanted, failures in (([1, 3, 1, 2], 0), ([1, 3, 1, 3], 1)):
            result = unittest.TestResult()
            with contextlib.redirect_stderr(io.StringIO()):
                Times("test_parts").run(result)
            self.assertEqual((len(result.failures), len(result.errors), wanted), (failures, 0, []))
        self.assertEqual(seen, [1, 2, 1, 2] * 2)

    def test_missing_interpreters_are_a_line_for_each_kind(self):
        python = "{} has not been fetched: tests/live/pythons.py --fetch"
        skipped = ["live: a: case: pyenv has no 3.10 below /root/.pyenv/versions",
                   "live: b: case: pyenv-3.9: pyenv has no 3.9 below /root/.pyenv/versions",
                   "live: a: case: " + python.format("/c/fathom-pythons/root/usr/bin/python3.15-shared"),
                   "live: a: case: " + python.format("/c/fathom-pythons/focal/usr/bin/python3.8"),
                   "live: b: case: " + python.format("/c/fathom-pythons/focal/usr/bin/python3.8"),
                   "live: a: case: /c/fathom-rubies/3.4-static/bin/ruby has not been built: tests/live/rubies.py --build",
                   "live: a: case: with --long only",
                   "live: c: case: strace is not installed"]
        self.assertEqual(list(summary.in_few_lines(skipped)), [
            "live: c: case: strace is not installed",
            "2 cases for want of Python 3.9, 3.10 of pyenv",
            "3 cases for want of Python 3.8, 3.15-shared, not fetched: tests/live/pythons.py --fetch",
            "1 cases for want of Ruby 3.4-static, not built: tests/live/rubies.py --build",
            "1 cases that ./dev test --long has"])

    def test_a_suite_without_a_log_is_a_failure(self):
        tally = summary.tally_of("meson /nonexistent/log unit tests\nstep failed the build\n"
                                 "step skipped races: no TSan\n")
        self.assertEqual(tally.skipped, ["races: no TSan"])
        self.assertEqual(tally.failed, ["unit tests: no test ran", "the build"])


if __name__ == "__main__":
    unittest.main()
