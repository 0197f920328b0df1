#!/usr/bin/env python3
"""The runner of other programs' suites reads their results, and blames fathom when it should."""

import pathlib
import sys
import tempfile
import unittest

import results
import run

JUNIT = """<testsuites><testsuite>
<testcase name="test.test_x.T.test_good"/>
<testcase name="test.test_x.T.test_bad"><failure/></testcase>
<testcase name="test.test_x.T.test_bad"/>
<testcase name="test.test_x.T.test_left_out"><skipped>no gdb</skipped></testcase>
</testsuite></testsuites>"""


class Reading(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def finished(self, output="", ending="exit code 0"):
        return results.Finished(self.folder, self.folder, ending, output)

    def test_of_junit_keeps_the_failure_of_a_subtest(self):
        (self.folder / "junit.xml").write_text(JUNIT)
        self.assertEqual(results.junit(self.finished()),
                         {"test.test_x.T.test_good": "passed", "test.test_x.T.test_bad": "failed",
                          "test.test_x.T.test_left_out": "skipped"})

    def test_of_a_suite_that_crashed_finds_nothing(self):
        self.assertEqual(results.junit(self.finished()), {})

    def test_of_unittest_passes_over_what_a_test_says_of_itself(self):
        said = "test_a (test.test_x.T) ... ok\ntest_b (test.test_x.T)\nIt is so. ... skipped 'no gdb'\nfoo ... ok\n"
        self.assertEqual(results.unittest(self.finished(said)),
                         {"test.test_x.T.test_a": "ok", "test.test_x.T.test_b": "skipped"})

    def test_of_ruby_takes_what_is_listed_behind_the_tests(self):
        said = ("[ 1/3] TestGc#test_a = 0.01 s\n[ 2/3] TestGc#test_b = 0.20 s\n[ 3/3] TestGc#test_c = 0.00 s\n\n"
                "  1) Failure:\nTestGc#test_b [test_gc.rb:7]:\n<1> expected.\n\n  2) Error:\nTestGc#test_c:\nNoMethodError\n")
        self.assertEqual(results.ruby(self.finished(said)),
                         {"TestGc#test_a": "passed", "TestGc#test_b": "failure", "TestGc#test_c": "error"})

    def test_of_redis_distinguishes_tests_of_one_name(self):
        said = "[\033[32mok\033[0m]: SET (7 ms)\n[ok]: SET (1 ms)\n[err]: GET in tests/x.tcl\nother\n"
        self.assertEqual(results.redis(self.finished(said)),
                         {"SET #1": "ok", "SET #2": "ok", "GET in tests/x.tcl #1": "err"})

    def test_of_sqlite_takes_what_was_wrong(self):
        said = "....a-1.1... Ok\na-1.2...\n! a-1.2 expected: [1]\n! a-1.2 got:      [2]\n"
        self.assertEqual(results.sqlite(self.finished(said)), {"a-1.1": "ok", "a-1.2": "failed"})

    def test_of_automake_leaves_nothing_for_the_next_run(self):
        (self.folder / "tests" / "cp").mkdir(parents=True)
        (self.folder / "tests" / "cp" / "a.trs").write_text(":test-result: SKIP\n:recheck: no\n")
        self.assertEqual(results.automake(self.finished()), {"tests/cp/a": "skip"})
        self.assertEqual(results.automake(self.finished()), {})

    def test_of_output_knows_no_process_numbers(self):
        self.assertEqual(results.output(self.finished("group (4711): x")),
                         results.output(self.finished("group (815): x")))

    def test_of_output_takes_the_ending_with_it(self):
        self.assertNotEqual(results.output(self.finished("x")),
                            results.output(self.finished("x", "exit code 139")))


class Played:
    """A runner whose outcomes are written down beforehand."""

    def __init__(self, bare, recorded, rung="perf", name="t"):
        self.bare, self.recorded = iter(bare), iter(recorded)
        self.rung, self.name = run.RUNGS[rung], name

    def run(self, unit, is_recorded):
        outcome = next(self.recorded if is_recorded else self.bare)
        if outcome == "killed":
            return run.Outcome("exit code 139", {self.name: "passed"})
        return run.Outcome("exit code 0", {} if outcome == "nothing" else {self.name: outcome})


class Judging(unittest.TestCase):
    def verdict(self, bare, recorded, *played):
        verdict = run.compare(Played(bare.split(), recorded.split(), *played), "unit")
        return "seen" if verdict.seen and not verdict.wrong else "differs" if verdict.wrong else "flaky" if verdict.flaky else "same"

    def test_the_same_is_run_once(self):
        self.assertEqual(self.verdict("passed", "passed"), "same")
        self.assertEqual(self.verdict("failed", "failed"), "same")

    def test_what_fails_again_and_again_under_fathom_alone_differs(self):
        self.assertEqual(self.verdict(4 * "passed ", 4 * "failed "), "differs")
        self.assertEqual(self.verdict(4 * "passed ", "failed passed failed passed"), "differs")

    def test_what_is_skipped_under_fathom_alone_differs(self):
        self.assertEqual(self.verdict(4 * "passed ", 4 * "skipped "), "differs")

    def test_what_also_fails_bare_is_flaky(self):
        self.assertEqual(self.verdict("passed failed passed passed", "failed failed passed failed"), "flaky")

    def test_what_never_comes_back_is_flaky(self):
        self.assertEqual(self.verdict(4 * "passed ", "failed passed passed passed"), "flaky")

    def test_a_test_that_did_not_run_differs(self):
        self.assertEqual(self.verdict(4 * "passed ", 4 * "nothing "), "differs")

    def test_a_suite_without_results_proves_nothing(self):
        self.assertEqual(self.verdict("nothing", "nothing"), "differs")

    def test_what_sees_the_tracer_by_its_nature_is_reported_and_run_once(self):
        by_nature = "test.test_dis.DisTests.test_loop_quicken"
        self.assertEqual(self.verdict("passed", "failed", "trace", by_nature), "seen")
        self.assertEqual(self.verdict(4 * "passed ", 4 * "failed ", "perf", by_nature), "differs")
        self.assertEqual(self.verdict(4 * "passed ", 4 * "failed ", "trace", "test.test_x.T.test_y"), "differs")

    def test_endings_are_compared_too(self):
        self.assertEqual(self.verdict(4 * "passed ", 4 * "killed "), "differs")


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=2))
