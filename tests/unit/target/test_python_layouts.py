"""What is found in an interpreter's file is where the interpreter itself has it.

Every CPython at hand (tests/live/pythons.py) is asked for its own objects' addresses, and for what
stands at the offsets that read_python found in its file.

usage: test_python_layouts.py READ_PYTHON [CLASS]
"""

import functools
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(ROOT / "tests" / "live"))

import pythons  # noqa: E402

READ_PYTHON = sys.argv[1]
ALL = pythons.every_python()
THERE = [python for python in ALL if python.is_there]
MAPPED = """
import re
for line in open('/proc/self/maps'):
    path = line.split(None, 5)[5:]
    if path and ' r-xp ' in line and re.search('python', path[0]) and 'lib-dynload' not in path[0]:
        print(path[0].strip())
"""


@functools.lru_cache(maxsize=None)
def found_in(path):
    """read_python's answer: {"version": …}, without what it says more than once."""
    done = subprocess.run([READ_PYTHON, path], check=True, capture_output=True, text=True)
    return dict(line.partition(" ")[::2] for line in done.stdout.splitlines()), done.stdout


@functools.lru_cache(maxsize=None)
def file_of(python):
    """The file that the interpreter is in: the program, or its libpython."""
    done = subprocess.run(python.command("-c", MAPPED), check=True, capture_output=True, text=True)
    files = [path for path in done.stdout.split() if "none" not in found_in(path)[0] or
             "version" in found_in(path)[0]]
    return files[-1]


def ranges_of(answer):
    return [tuple(map(int, match)) for match in re.findall(r"^loop (\d+) (\d+)$", answer, re.M)]


class Layouts(unittest.TestCase):
    def each_python(self):
        for python in THERE:
            with self.subTest(python.name):
                yield python, file_of(python)

    def test_are_those_of_the_running_interpreter(self):
        for python, path in self.each_python():
            found, answer = found_in(path)
            self.assertNotIn("why_not", found, path)
            with tempfile.NamedTemporaryFile("w") as layout:
                layout.write(answer)
                layout.flush()
                done = subprocess.run(python.command(HERE / "probe_layout.py", layout.name),
                                      capture_output=True, text=True)
            self.assertRegex(done.stdout, r"\A\d\d compared\n\Z", done.stderr)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_say_the_version(self):
        for python, path in self.each_python():
            done = subprocess.run(python.command("-c", "import platform; print(platform.python_version())"),
                                  check=True, capture_output=True, text=True)
            # "3.8.18+": changed after its release.
            self.assertEqual(found_in(path)[0]["version"], done.stdout.strip().rstrip("+"))

    def test_have_every_part_of_the_loop_that_has_a_symbol(self):
        seen = False
        for _, path in self.each_python():
            names = subprocess.run(["nm", "-S", path], capture_output=True, text=True).stdout
            ranges = ranges_of(found_in(path)[1])
            for address, size in re.findall(r"^(\w+) (\w+) . _?PyEval_EvalFrame(?:Default|Ex)\.cold\S*$",
                                            names, re.M):
                start, size = int(address, 16), int(size, 16)
                # A few bytes that nothing jumps to are what is left of __builtin_unreachable().
                if size > 16:
                    self.assertIn((start, start + size), ranges, path)
                seen = True
        if not seen:
            self.skipTest("no interpreter here has both symbols and a loop in parts")

    def test_are_the_same_in_a_stripped_file(self):
        for _, path in self.each_python():
            with tempfile.TemporaryDirectory() as folder:
                stripped = pathlib.Path(folder) / "stripped"
                shutil.copy(path, stripped)
                subprocess.run(["strip", stripped], check=True)
                self.assertEqual(found_in(stripped)[1].split("\n", 1)[1], found_in(path)[1].split("\n", 1)[1])


class Rows(unittest.TestCase):
    def test_are_what_the_debug_information_says(self):
        checked = False
        for python in THERE:
            path = file_of(python)
            sections = subprocess.run(["readelf", "-SW", path], capture_output=True, text=True).stdout
            if shutil.which("gdb") and ".debug_info" in sections:
                done = subprocess.run([sys.executable, ROOT / "tools" / "python_offsets.py", "--check",
                                       "--interpreter", path], capture_output=True, text=True)
                self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
                checked = True
        if not checked:
            self.skipTest("there is no gdb here, or no interpreter with debug information")


if __name__ == "__main__":
    for python in ALL:
        if not python.is_there:
            print(f"{python.name}: {python.why_not}", file=sys.stderr)
    unittest.main(argv=sys.argv[:1] + sys.argv[2:], verbosity=2)
