"""Ruby and Python in one process and on one stack: each has its frames where it was called from."""

import ctypes.util
import glob
import subprocess

import live
import live_python
import live_ruby

NEARLY_ALL = 0.9


def is_in_order(names, wanted):
    """Whether all that is wanted stands among the names, in that order."""
    rest = iter(names)
    return all(name in rest for name in wanted)


class TwoLanguages(live_ruby.RubyTest):

    def assert_both_are_seen(self, recording):
        found = recording.report()["recording"]["interpreters"]
        self.assertEqual({(row["language"], row["why_not"]) for row in found}, {("ruby", None), ("python", None)})
        self.assert_whole_ruby_stacks(recording)

    def total_of(self, recording, language, name):
        return sum(row["total_ns"] for row in recording.report()["functions"]
                   if (row["language"], row["name"]) == (language, name))

    def assert_stacks_of(self, recording, function, outwards, others):
        """Wherever the function stands, what called it does, too, and nothing of the others."""
        count = 0
        for frames, _ in recording.folded():
            names = [frame.partition(" (")[0] for frame in frames]
            if function not in names:
                continue
            count += 1
            self.assertTrue(is_in_order(names, outwards + [function]), names)
            self.assertFalse(set(others) & set(names), names)
        self.assertGreater(count, 0)

    def test_python_that_ruby_calls_stands_inside_of_it(self):
        library = ctypes.util.find_library("python3.11")
        if library is None:
            self.skipTest("no libpython3.11, which Debian's package of that name has")
        command = self.any_ruby(self.workload("calls_python.rb"), library)
        recording = self.record(command)
        self.assert_both_are_seen(recording)
        self.assert_ruby_truth(recording)
        self.assert_stacks_of(recording, "f", ["<main>", "Bridge#python", "Fiddle::Function#call", "<module>"],
                              ["Bridge#ruby"])
        self.assert_stacks_of(recording, "block in Bridge#ruby", ["<main>", "Bridge#ruby", "Integer#times"],
                              ["Bridge#python", "f"])
        self.assertGreaterEqual(self.total_of(recording, "python", "f"),
                                NEARLY_ALL * self.total_of(recording, "ruby", "Bridge#python"))

    def test_ruby_that_python_calls_stands_inside_of_it(self):
        version = subprocess.run(self.any_ruby("-e", "print RUBY_VERSION[/\\d+\\.\\d+/]"), capture_output=True,
                                 check=True).stdout.decode()
        libraries = glob.glob(f"/usr/lib/*-linux-gnu/libruby-{version}.so.{version}")
        debian = next(python for python in live_python.EVERY_PYTHON if python.name.startswith("debian"))
        if not libraries or not debian.is_there:
            self.skipTest(f"no libruby {version}, or {debian.why_not}")
        program = str(live_python.WORKLOADS / "calls_ruby.py")
        recording = self.record(debian.command(program, libraries[0]))
        self.assert_both_are_seen(recording)
        self.assert_stacks_of(recording, "Foo#bar", ["<module>", "main", "call_ruby", "<main>"], ["call_python"])
        self.assert_stacks_of(recording, "call_python.<locals>.<genexpr>", ["<module>", "main", "call_python"],
                              ["call_ruby", "Foo#bar"])
        self.assertGreaterEqual(self.total_of(recording, "ruby", "Foo#bar"),
                                NEARLY_ALL * self.total_of(recording, "python", "call_ruby"))


if __name__ == "__main__":
    live.main()
