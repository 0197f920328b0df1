"""Stacks of every kind are walked, and none is written over: small, alternate, and those that go."""

import subprocess
import unittest

from live import WORKLOADS, LiveTest, workload


class MemoryThatGoes(LiveTest):

    def test_nobody_dies_of_memory_that_goes_while_it_is_read(self):
        command = workload("unmapping", WORKLOADS, 500)
        bare = subprocess.run(command, capture_output=True, timeout=60)
        self.assertEqual(bare.returncode, 0, bare.stderr)
        for _ in range(3):
            recording = self.record(command, rate=20000)
            self.assertEqual(recording.truth["counts"], {"turns": 500})
            self.assertGreater(recording.head()["samples"], 1000)

    def test_an_ordinary_user_does_not_die_of_it_either(self):
        recording = self.record_as_nobody(workload("unmapping", WORKLOADS, 500), rate=20000)
        self.assertEqual(recording.truth["counts"], {"turns": 500})

    def test_a_library_that_is_opened_and_closed_is_walked_all_the_same(self):
        recording = self.record(workload("unmapping", WORKLOADS, 500), rate=20000)
        stacks = recording.functions_of_stacks()
        ends = [ending for stack, ending in recording.rows("SELECT stack, ending FROM samples")
                if stacks[stack][:1] in (["first_work"], ["second_work"])]
        self.assertGreater(len(ends), 200)
        self.assertGreater(ends.count(0) / len(ends), 0.99)


if __name__ == "__main__":
    unittest.main()
