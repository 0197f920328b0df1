"""Ruby's threads go by the names that the program gives them."""

import live
import live_ruby


class ThreadNames(live_ruby.RubyTest):

    def test_reports_have_the_names_that_the_program_knows(self):
        self.on_each_ruby(self.assert_names)

    def assert_names(self, ruby):
        recording = self.record_ruby(ruby, self.workload("thread_names.rb"), 150)
        printed = recording.run.stdout.decode().splitlines()
        self.assertEqual(len(printed), 4)
        seen = [row["name"] for row in recording.report("--by", "thread")["threads"]]
        self.assertEqual([name for name in printed if name not in seen], [], seen)


if __name__ == "__main__":
    live.main()
