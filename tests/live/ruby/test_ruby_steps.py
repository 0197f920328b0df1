#!/usr/bin/env python3
"""A walk at every instruction of Ruby programs: no stack that the program cannot make.

The agent is one that samples at each instruction (steps/steps.c).  The program knows which method calls which
(workloads/ruby/callgraph.rb); every chain of callers must be one that it has, whatever was being set up or
torn down at that instruction, and no sample is thrown away.
"""

import collections
import os
import unittest

import live_ruby
import test_ruby_stacks

LONG_MS, CI_MS = 10000, 500
# So often steps begin in a second of CPU time, some thousands each time.
RATE = 1000
COMPLETE, UNREADABLE, UNMATCHED = 0, 10, 11
# A walk at each instruction takes a thousand times as long as the program.
HOURS = 3600


class RubySteps(test_ruby_stacks.CallGraphTest):
    def setUp(self):
        super().setUp()
        self.steps = os.environ.get("FATHOM_STEPS_AGENT", "")
        if not os.path.exists(os.path.join(self.steps, "libfathom-agent-record.so")):
            self.skipTest("no FATHOM_STEPS_AGENT: it is built for x86-64 only")

    def assert_whole(self, recording):
        """The Ruby frames, but what a collection hides that began before the agent knew of collections.

        Where fibers are switched no rule has the native frames, for some instructions."""
        stacks, ended = live_ruby.RubyStacks(recording), collections.Counter()
        rows = recording.rows("SELECT ending, stack, count(*) FROM samples GROUP BY ending, stack")
        total = sum(count for _, _, count in rows)
        for ending, stack, count in rows:
            if ending != COMPLETE and not stacks.is_collecting(stack):
                ended[ending] += count
        self.assertLessEqual(ended[UNREADABLE] + ended[UNMATCHED], total // 1000, ended)
        self.assertLessEqual(sum(ended.values()), total // 100, ended)

    def assert_steps(self, ruby, *arguments):
        budget_ms = LONG_MS if live_ruby.IS_LONG else CI_MS
        # What RubyGems does at the start would be most of it.
        recording = self.record_ruby(ruby, "--disable-gems", self.workload("callgraph.rb"), budget_ms, *arguments,
                                     rate=RATE, timeout=HOURS, options=("--trigger", "sigtrap"), env={**os.environ, "FATHOM_AGENT": self.steps})
        self.assertEqual(recording.rows("SELECT reason, samples FROM lost"), [])
        # 2.7 names a frame before it writes it: what stood there may look whole (walk/ruby_whole.h).
        most = 0.001 if ruby.version < (3, 0) else 0
        known = self.assert_possible(recording, "callgraph.rb", most)
        print(f"{ruby.name}: {known} samples in the program, {recording.head()['stacks']}")
        self.assertGreater(known, 20000)
        self.assert_whole(recording)

    def test_no_instruction_has_a_stack_that_cannot_be(self):
        self.on_each_ruby(lambda ruby: self.assert_steps(ruby, 0), in_ci=live_ruby.EACH_WAY)


if __name__ == "__main__":
    unittest.main(verbosity=2)
