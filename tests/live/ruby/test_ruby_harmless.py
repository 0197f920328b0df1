"""Ruby programs behave as without fathom: what they see, what Ruby counts, and whatever is moved or freed meanwhile."""

import difflib
import json
import re
import subprocess

import live
import live_ruby

# What the agent's comparison of its walk with Ruby's makes, once in a process (docs/ruby.md).
MOST_OBJECTS = 50
HAZARDS = 40000 if live_ruby.IS_LONG else 1500


class Harmless(live_ruby.RubyTest):

    def bare(self, ruby, *arguments):
        return subprocess.run(ruby.command(*arguments), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, cwd=self.folder, timeout=600)

    def assert_same(self, ruby, *arguments, options=(), **more):
        bare = self.bare(ruby, *arguments)
        recording = self.record_ruby(ruby, *arguments, options=options, expect=None, timeout=900, **more)
        run = recording.run
        for one, other in ((bare.stdout, run.stdout), (bare.stderr, run.stderr)):
            # Where an object lies is another place each time.
            one, other = (re.sub(rb"0x[0-9a-f]{16}", b"0x", text) for text in (one, other))
            self.assertEqual(one, other, "\n".join(difflib.unified_diff(
                one.decode(errors="replace").splitlines(), other.decode(errors="replace").splitlines(), lineterm="")))
        # As a shell reports a signal.
        self.assertEqual(bare.returncode if bare.returncode >= 0 else 128 - bare.returncode, run.returncode)
        return recording

    def test_a_program_sees_itself_and_its_surroundings_as_ever(self):
        self.on_each_ruby(lambda ruby: self.assert_same(ruby, self.workload("surroundings.rb"), "one", "two"))

    def test_and_with_timers(self):
        self.on_each_ruby(lambda ruby: self.assert_same(ruby, self.workload("surroundings.rb"),
                                                        options=("--trigger", "timer")))

    def test_what_moves_frees_and_switches_while_it_is_read_does_not_kill(self):
        self.on_each_ruby(lambda ruby: self.assert_same(ruby, self.workload("hazards.rb"), HAZARDS, rate=20000))

    def test_an_uncaught_exception_and_a_fatal_signal_end_it_as_ever(self):
        self.on_each_ruby(self.assert_endings)

    def assert_endings(self, ruby):
        burn = "100_000.times { |n| n.to_s }; "
        for ending in ("raise 'over'", "abort 'over'", "exit! 5", "Process.kill(:TERM, $$); sleep",
                       "Process.kill(:KILL, $$)", "at_exit { exit 4 }; raise 'over'", "throw :nothing",
                       "def down; down; end; down rescue 1", "Thread.new { raise 'over' }.join"):
            with self.subTest(ending):
                self.assert_same(ruby, "-e", burn + ending)

    def test_what_ruby_counts_differs_by_a_constant(self):
        self.on_each_ruby(self.assert_counts)

    def assert_counts(self, ruby):
        bare = json.loads(self.bare(ruby, self.workload("counted.rb")).stdout)
        recorded = self.record_ruby(ruby, self.workload("counted.rb")).truth
        for name in ("total", "allocated", "data", "symbols"):
            self.assertLessEqual(abs(recorded[name] - bare[name]), MOST_OBJECTS, name)
        # One more collection may have become due.
        self.assertLessEqual(abs(recorded["collections"] - bare["collections"]), 1)
        for name in ("classes", "threads", "traced"):
            self.assertEqual(recorded[name], bare[name], name)


if __name__ == "__main__":
    live.main()
