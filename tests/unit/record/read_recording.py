#!/usr/bin/env python3
"""A second reader of recordings, written from docs/recording.md alone.

Usage: read_recording.py MAKE_RECORDING DOCS_RECORDING_MD
Makes a recording with the first, reads it, and compares with what its maker says.
"""

import collections
import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
import unittest

MAKE, DOC = sys.argv[1:3]


class Recording:
    def __init__(self, path):
        self.db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        if self.pragma("application_id") != 1718904941:
            raise ValueError("not a recording")
        if self.pragma("user_version") > 8:
            raise ValueError("made by a newer fathom")

    def pragma(self, name):
        return self.db.execute(f"PRAGMA {name}").fetchone()[0]

    def rows(self, table):
        return list(self.db.execute(f"SELECT * FROM {table} ORDER BY id"))

    def samples(self):
        """(time_ns, thread, stack, state, ending, weight_ns) of each sample, in order."""
        usual = {row[0]: row[8] for row in self.rows("processes")}
        process = {row[0]: row[1] for row in self.rows("threads")}
        batches = collections.deque(self.rows("batches"))
        base_ns = None
        for number, time, thread, stack, weight, how in self.rows("sample_rows"):
            while batches and batches[0][0] <= number:
                base_ns = batches.popleft()[1]
            if weight is None:
                weight = usual[process[thread]]
            yield base_ns + time, thread, stack, how % 16, how // 16, weight

    def sums(self):
        """{(thread, stack, state): [weight_ns, samples]} without reading every sample."""
        total = collections.defaultdict(lambda: [0, 0])
        for _, _, thread, stack, state, weight, samples in self.rows("sums"):
            total[thread, stack, state][0] += weight
            total[thread, stack, state][1] += samples
        covered = [(first, last) for _, first, last, _, _ in self.rows("intervals")]
        for number, sample in enumerate(self.samples(), start=1):
            if not any(first <= number <= last for first, last in covered):
                _, thread, stack, state, _, weight = sample
                total[thread, stack, state][0] += weight
                total[thread, stack, state][1] += 1
        return dict(total)


class TheSecondReader(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="fathom-record-")
        path = os.path.join(cls.folder.name, "a.fathom")
        out = subprocess.run([MAKE, path], check=True, capture_output=True).stdout
        cls.truth = [tuple(sample) for sample in json.loads(out)]
        cls.recording = Recording(path)

    @classmethod
    def tearDownClass(cls):
        cls.recording.db.close()
        cls.folder.cleanup()

    def test_reads_every_sample(self):
        self.assertEqual(list(self.recording.samples()), self.truth)

    def test_reads_every_sample_by_the_view(self):
        rows = self.recording.db.execute(
            "SELECT time_ns, thread, stack, state, ending, weight_ns FROM samples ORDER BY id")
        self.assertEqual(list(rows), self.truth)

    def test_sums_agree_with_samples(self):
        due = collections.defaultdict(lambda: [0, 0])
        for _, thread, stack, state, _, weight in self.truth:
            due[thread, stack, state][0] += weight
            due[thread, stack, state][1] += 1
        self.assertGreater(len(self.recording.rows("sums")), 0)
        self.assertEqual(self.recording.sums(), dict(due))

    def test_endings_agree_with_samples(self):
        endings = collections.Counter()
        for _, _, ending, samples in self.recording.rows("endings"):
            endings[ending] += samples
        last = max(row[2] for row in self.recording.rows("intervals"))
        endings.update(sample[4] for sample in self.truth[last:])
        self.assertEqual(endings, collections.Counter(sample[4] for sample in self.truth))

    def test_an_interval_spans_its_samples(self):
        for _, first, last, from_ns, to_ns in self.recording.rows("intervals"):
            times = [sample[0] for sample in self.truth[first - 1:last]]
            self.assertEqual((from_ns, to_ns), (min(times), max(times)))

    def test_reads_names_facts_and_addresses(self):
        facts = {key: value for _, key, value in self.recording.rows("facts")}
        self.assertEqual(json.loads(facts["command"]), ["sort", "-n"])
        self.assertEqual((facts["rate_hz"], facts["finished"]), (1000, 1))
        names = [row[3] for row in self.recording.rows("processes")]
        self.assertEqual(names, ["sort", b"odd\xff"])
        self.assertEqual(self.recording.rows("frames")[7], (8, 1, -1))
        self.assertIsNone(self.recording.rows("threads")[0][6])

    def python_truth(self):
        """What make_recording says of its Python functions, most time first."""
        nanoseconds = collections.Counter()
        innermost = {}
        for number, parent, frame in self.recording.rows("stacks"):
            _, module, address = self.recording.rows("frames")[frame - 1]
            innermost[number] = address >> 32 if module == 2 else innermost.get(parent)
        for _, _, stack, _, _, weight in self.truth:
            if innermost[stack] is not None:
                nanoseconds[innermost[stack]] += weight
        codes = {1: ("Worker.run", "/w.py", 3), 2: ("sorted", None, 0)}
        return [(*codes[code], sum_ / 1e9) for code, sum_ in nanoseconds.most_common()]

    def test_reads_what_an_interpreter_executes(self):
        self.assertEqual(self.recording.rows("codes"), [
            (1, 1, "run", "Worker.run", "/w.py", 3), (2, 1, "sorted", None, None, 0)])
        self.assertEqual(self.recording.rows("interpreters"), [
            (1, 1, 1, 1, "3.11.2", None), (2, 2, 1, 1, "3.16?", "not known")])
        addresses = [address for _, module, address in self.recording.rows("frames")
                     if module == 2]
        self.assertEqual([(a >> 32, a & 0xffffffff) for a in addresses], [(1, 5), (2, 0)])

    def test_the_page_names_every_table_and_column(self):
        with open(DOC, encoding="utf-8") as file:
            page = file.read()
        tables = self.recording.db.execute("SELECT name FROM sqlite_schema").fetchall()
        self.assertGreater(len(tables), 15)
        for table, in tables:
            section = re.search(rf"\*\*`{table}`\*\*[^(]*\(([^)]*)\)", page)
            self.assertIsNotNone(section, table)
            due = [row[1] for row in self.recording.db.execute(f"PRAGMA table_info({table})")]
            if table != "samples":
                due.remove("id")
            self.assertEqual(re.findall(r"`(\w+)`", section[1]), due, table)

    def test_the_examples_of_the_page_run(self):
        with open(DOC, encoding="utf-8") as file:
            examples = re.findall(r"```sql\n(.*?)```", file.read(), re.DOTALL)
        self.assertEqual(len(examples), 3)
        by_function, by_code, stack = (
            self.recording.db.execute(sql).fetchall() for sql in examples)
        self.assertEqual([row[0] for row in by_function], ["compare"])
        self.assertEqual(by_code, self.python_truth())
        self.assertEqual([row[0] for row in stack], [1, 2])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
