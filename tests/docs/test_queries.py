#!/usr/bin/env python3
"""The queries in docs/recording.md run on a recording, as they are written.

usage: test_queries.py FATHOM PROGRAM
"""

import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).parents[2]
QUERY = re.compile(r"^```sql\n(.*?)^```$", re.M | re.S)
FATHOM, PROGRAM = sys.argv[1:3]


class Queries(unittest.TestCase):
    def test_each_finds_rows(self):
        queries = QUERY.findall((ROOT / "docs/recording.md").read_text(encoding="utf-8"))
        self.assertGreater(len(queries), 0)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "profile.fathom"
            subprocess.run([FATHOM, "record", "-q", "--rate", "10000", "-o", path, "--", PROGRAM],
                           stdout=subprocess.DEVNULL, timeout=120, check=True)
            database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
            for query in queries:
                with self.subTest(query):
                    rows = database.execute(query).fetchall()
                    # PROGRAM is native: read_recording.py has what is Python's.
                    self.assertEqual(len(rows) > 0, "JOIN codes" not in query)
            database.close()


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
