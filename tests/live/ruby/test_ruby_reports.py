"""What reports show of Ruby programs: folded and native, line by line, and exported."""

import subprocess

import live
import live_reports
import live_ruby
from at_hand import of_names

PROGRAM = """
require "json"

class Worker
  def key(number)
    -number
  end

  def add(left, right)
    left + right
  end

  def run
    (1..3000).sort_by { |number| key(number) }
    (1..3000).inject { |left, right| add(left, right) }
    ("the quick brown fox " * 50).gsub(/[a-z]+/) { |word| word.upcase }
    JSON.parse(JSON.generate({ a: (1..1000).to_a }))
    (1..5000).sum { |number| number * number }
  end
end

Worker.new.run while Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) < 0.6
"""


class Reports(live_reports.ReportChecks, live_ruby.RubyTest):

    def record_program(self, ruby):
        path = self.path("work.rb")
        with open(path, "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        return self.record_ruby(ruby, path)

    def test_reports_of_each_version_are_folded_without_a_loss_and_have_lines(self):
        self.on_each_ruby(self.assert_reports)

    def assert_reports(self, ruby):
        recording = self.record_program(ruby)
        self.assert_nothing_of_the_interpreter_is_left_within(recording)
        self.assert_folding_changes_no_total(recording)
        self.assert_lines_are_those_of_the_source(recording, "Worker#run", PROGRAM)

    def test_the_version_is_shown(self):
        self.on_each_ruby(self.assert_version)

    def assert_version(self, ruby):
        said = subprocess.run(ruby.command("-e", "print RUBY_VERSION"), capture_output=True, check=True).stdout.decode()
        recording = self.record_ruby(ruby, "-e", "200_000.times { |n| n.to_s }")
        found = [row for row in recording.report()["recording"]["interpreters"] if row["language"] == "ruby"]
        self.assertEqual([(row["version"], row["why_not"]) for row in found], [(said, None)])

    def test_folded_stacks_have_methods_in_ruby_and_in_c(self):
        recording = self.record_program(of_names(live_ruby.EVERY_RUBY, live_ruby.DEBIAN)[0])
        stacks = [[frame.partition(" (")[0] for frame in frames] for frames, _ in recording.folded()]
        wanted = ["<main>", "Worker#run", "Enumerable#inject", "Range#each", "block in Worker#run", "Worker#add"]
        self.assertTrue(any(wanted == [name for name in stack if name in wanted] for stack in stacks), stacks[:20])


if __name__ == "__main__":
    live.main()
