#!/usr/bin/env python3
"""What `--format pstats` writes is what Python's own pstats reads, and says what cProfile would say."""

import contextlib
import io
import marshal
import pstats
import tempfile
import unittest

from exported import OfCalls

MODULE = ("/srv/a.py", 1, "<module>")
FIB = ("/srv/a.py", 3, "fib")
WALK = ("/srv/a.py", 9, "walk")
VISIT = ("/srv/a.py", 12, "visit")
LEN = ("~", 0, "<built-in method builtins.len>")
ABS = ("~", 0, "<built-in method builtins.abs>")


class Pstats(OfCalls, unittest.TestCase):
    format = "pstats"

    def setUp(self):
        super().setUp()
        self.stats = marshal.loads(self.data)

    def figures(self, key):
        """(primitive calls, calls, self ms, total ms)"""
        primitive, calls, self_s, total_s, _ = self.stats[key]
        return primitive, calls, round(self_s * 1000, 6), round(total_s * 1000, 6)

    def callers(self, key):
        """{caller: (calls, primitive calls, self ms, total ms)}"""
        return {caller: (calls, primitive, round(self_s * 1000, 6), round(total_s * 1000, 6))
                for caller, (calls, primitive, self_s, total_s) in self.stats[key][4].items()}

    def test_rows_in_brackets_are_no_functions(self):
        self.assertEqual(set(self.stats), {MODULE, FIB, WALK, VISIT, LEN, ABS})

    def test_recursion_counts_once_in_total_times(self):
        self.assertEqual(self.figures(MODULE), (1, 1, 10, 129))
        self.assertEqual(self.figures(FIB), (1, 7, 90, 95))
        self.assertEqual(self.figures(WALK), (2, 8, 16, 24))
        self.assertEqual(self.figures(VISIT), (6, 6, 8, 17))

    def test_threads_are_summed(self):
        self.assertEqual(self.figures(LEN), (7, 7, 6, 6))

    def test_callers_have_their_own_counts(self):
        self.assertEqual(self.callers(FIB), {MODULE: (1, 1, 20, 95), FIB: (6, 2, 70, 75)})
        self.assertEqual(self.callers(WALK), {MODULE: (2, 2, 7, 24), VISIT: (6, 6, 9, 9)})
        self.assertEqual(self.callers(LEN), {FIB: (4, 4, 5, 5)})
        self.assertEqual(self.callers(MODULE), {})

    def test_a_count_of_more_than_32_bits_is_whole(self):
        self.assertEqual(self.figures(ABS)[:2], (5000000000, 5000000000))

    def test_pstats_prints_it(self):
        with tempfile.NamedTemporaryFile() as file:
            file.write(self.data)
            file.flush()
            out = io.StringIO()
            stats = pstats.Stats(file.name, stream=out)
            stats.sort_stats("tottime").print_stats()
            stats.print_callers("fib")
            stats.print_callees("walk")
        self.assertRegex(out.getvalue(), r"7/1 +0.090 +0.013 +0.095 +0.095 /srv/a.py:3\(fib\)")


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        unittest.main(verbosity=2)
