"""What is found in an interpreter's file is where the interpreter itself has it.

Every CRuby at hand (tests/live/rubies.py) is asked for its own objects' addresses, and for what
stands at the offsets that read_ruby found in its file.

usage: test_ruby_layouts.py READ_RUBY [--long]
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path[:0] = [str(ROOT / "tests" / "live"), str(ROOT / "tools")]

import ruby_offsets  # noqa: E402
import rubies  # noqa: E402

READ_RUBY = sys.argv[1]
IS_LONG = "--long" in sys.argv[2:]
ALL = rubies.every_ruby()
THERE = [ruby for ruby in ALL if ruby.is_there]
MAPPED = r"""
paths = File.readlines('/proc/self/maps').map { |line| line.split(' ', 6)[5].to_s.strip }.uniq
puts(paths.grep(%r{/libruby[^/]*\.so}).first || File.realpath('/proc/self/exe'))
"""
OPERATORS = "".join(f"operator {name} {operator}\n" for name, operator in ruby_offsets.OPERATORS.items())


def found_in(path):
    """read_ruby's answer: {"version": …}, without what it says more than once; and all of it."""
    done = subprocess.run([READ_RUBY, path], check=True, capture_output=True, text=True)
    return dict(line.partition(" ")[::2] for line in done.stdout.splitlines()), done.stdout


def file_of(ruby):
    """The file that the interpreter is in: the program, or its libruby."""
    return subprocess.run(ruby.command("-e", MAPPED), check=True, capture_output=True, text=True).stdout.strip()


def is_moved(path):
    """Whether the file's addresses begin at 0, and are added to where it is mapped."""
    headers = subprocess.run(["readelf", "-hW", path], check=True, capture_output=True, text=True).stdout
    return "EXEC (" not in headers


@unittest.skipUnless(THERE, "there is no CRuby here")
class Layouts(unittest.TestCase):
    def compare(self, ruby):
        path = file_of(ruby)
        found, answer = found_in(path)
        self.assertIsNone(found.get("why_not"), path)
        with tempfile.NamedTemporaryFile("w") as layout:
            layout.write(answer + OPERATORS)
            layout.flush()
            done = subprocess.run(ruby.command("--disable-gems", HERE / "probe_ruby_layout.rb", layout.name),
                                  capture_output=True, text=True,
                                  env={**os.environ, "PROBED_FILE": path,
                                       "PROBED_IS_MOVED": str(int(is_moved(path)))})
        self.assertRegex(done.stdout, r"\A\d{3} compared\n\Z", done.stderr)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_are_those_of_the_running_interpreter(self):
        for ruby in THERE:
            with self.subTest(ruby.name):
                self.compare(ruby)

    def test_say_the_version(self):
        for ruby in THERE:
            with self.subTest(ruby.name):
                done = subprocess.run(ruby.command("-e", "puts RUBY_VERSION"), check=True, capture_output=True,
                                      text=True)
                self.assertEqual(found_in(file_of(ruby))[0].get("version"), done.stdout.strip())

    def test_are_the_same_in_a_stripped_file(self):
        for ruby in THERE:
            path = file_of(ruby)
            with self.subTest(ruby.name), tempfile.TemporaryDirectory() as folder:
                stripped = pathlib.Path(folder) / "stripped"
                shutil.copy(path, stripped)
                stripped.chmod(0o755)
                subprocess.run(["strip", stripped], check=True)
                self.assertEqual(found_in(stripped)[1].split("\n", 1)[1], found_in(path)[1].split("\n", 1)[1])


class Rows(unittest.TestCase):
    def row_of(self, release):
        """The text of the row for a release."""
        for row in ruby_offsets.HEADER.rows().values():
            number = {field: int(re.search(rf"\.{field} = (\d+)", row)[1]) for field in
                      ("major", "minor", "first_patch", "last_patch")}
            if (number["major"], number["minor"]) == release[:2] and \
                    number["first_patch"] <= release[2] <= number["last_patch"]:
                return row
        self.fail(f"no row is for CRuby {'.'.join(map(str, release))}")

    @unittest.skipUnless(THERE, "there is no CRuby here")
    def test_have_the_instructions_that_the_interpreter_names(self):
        for ruby in THERE:
            with self.subTest(ruby.name):
                asked = "puts RUBY_VERSION, RubyVM::INSTRUCTION_NAMES"
                done = subprocess.run(ruby.command("-e", asked), check=True, capture_output=True, text=True)
                version, *names = done.stdout.split()
                row = self.row_of(tuple(map(int, version.split("."))))
                operators = dict(re.findall(r"\[(\d+)\] = \w+\((\w+)\)", row))
                self.assertEqual(int(re.search(r"\.instruction_count = (\d+)", row)[1]), len(names))
                self.assertEqual([operators.get(str(opcode), "NONE") for opcode in range(len(names))],
                                 [ruby_offsets.OPERATORS.get(name.removeprefix("trace_"), "NONE") for name in names])

    @unittest.skipUnless(IS_LONG, "each version is configured, which takes minutes: --long")
    def test_are_what_the_sources_say(self):
        trees = [tree for tree in map(rubies.sources_of, rubies.SOURCES) if tree.exists()]
        if not trees or not shutil.which("gdb"):
            self.skipTest("there is no gdb here, or no source: tests/live/rubies.py --sources")
        for tree in trees:
            with self.subTest(tree.name):
                done = subprocess.run([sys.executable, "-B", ROOT / "tools" / "ruby_offsets.py", "--check",
                                       "--source", tree], capture_output=True, text=True)
                self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)


if __name__ == "__main__":
    for ruby in ALL:
        if not ruby.is_there:
            print(f"{ruby.name}: {ruby.why_not}", file=sys.stderr)
    unittest.main(argv=sys.argv[:1], verbosity=2)
