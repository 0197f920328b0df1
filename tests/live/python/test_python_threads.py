"""Python's threads go by the names that the program gives them."""

import live
import live_python


class ThreadNames(live_python.PythonTest):

    def test_reports_have_the_names_that_the_program_knows(self):
        self.on_each_python(self.assert_names)

    def assert_names(self, python):
        recording = self.record_python(python, self.workload("thread_names.py"), 8000)
        printed = recording.run.stdout.decode().splitlines()
        self.assertEqual(len(printed), 4)
        seen = [row["name"] for row in recording.report("--by", "thread")["threads"]]
        if python.version >= (3, 14):
            # The kernel's names are of 15 bytes, and Python cuts them so.
            printed = [name.encode()[:15].decode(errors="ignore") for name in printed]
        self.assertEqual([name for name in printed if name not in seen], [], seen)


if __name__ == "__main__":
    live.main()
