"""Lines are those that the interpreter itself says, for each instruction of real modules.

Every CPython at hand (tests/live/pythons.py) compiles modules of its own standard library, and
has the line of each instruction; print_python_lines decodes the same tables.

usage: test_python_line_tables.py PRINT_PYTHON_LINES [--long]
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(ROOT / "tests" / "live"))

import pythons  # noqa: E402

PRINT_LINES = sys.argv[1]
LONG = "--long" in sys.argv
THERE = [python for python in pythons.every_python() if python.is_there]
if not LONG:
    # One of each version: how a build was made is not in its tables.
    THERE = list({python.version: python for python in reversed(THERE)}.values())[::-1]
# As enum python_table.
FORMATS = {"LNOTAB_UNSIGNED": 1, "LNOTAB": 2, "PAIRS": 3, "LOCATIONS": 4}
# Small ones that every version has; then all of the library that compiles.
MODULES = ["heapq", "textwrap", "decimal" if LONG else "bisect", "argparse", "threading"]
DUMP = ROOT / "tools" / "python_line_dump.py"


def dumped(python, files, every=1):
    done = subprocess.run(python.command(DUMP, "--every", every, *files), check=True, capture_output=True, text=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def module_files(python):
    asked = "import os, sys; sys.stdout.write(os.path.dirname(os.__file__))"
    done = subprocess.run(python.command("-c", asked), check=True, capture_output=True, text=True)
    folder = pathlib.Path(done.stdout)
    if LONG:
        return sorted(path for path in folder.glob("*.py") if path.name not in NOT_COMPILED)
    return [path for name in MODULES if (path := folder / f"{name}.py").exists()]


# Written for other versions, or large tables of data.
NOT_COMPILED = {"this.py"}


def lines_of(codes, every):
    questions = "".join(
        f"{FORMATS[code['format']]} {code['first_line']} {code['count']} {every} {code['table']}\n"
        for code in codes)
    done = subprocess.run([PRINT_LINES], input=questions, check=True, capture_output=True, text=True)
    return [list(map(int, line.split())) for line in done.stdout.splitlines()]


class Lines(unittest.TestCase):
    def compare(self, codes, every=1):
        answers = lines_of(codes, every)
        self.assertEqual(len(answers), len(codes))
        for code, answer in zip(codes, answers):
            wanted = [line for count, line in code["lines"] for _ in range(count)]
            self.assertEqual(answer, wanted, code["name"])

    def test_of_each_instruction_are_what_the_interpreter_says(self):
        for python in THERE:
            with self.subTest(python.name):
                codes = dumped(python, [HERE / "many_lines.py", *module_files(python)])
                self.assertGreater(len(codes), 20)
                self.compare(codes)

    def test_are_right_in_a_function_of_many_instructions(self):
        with tempfile.NamedTemporaryFile("w", suffix=".py") as source:
            source.write("def long(a):\n")
            for number in range(15000):
                # Now and then a line that is longer than one entry of a table can be.
                source.write("    a = a + 1\n" if number % 1000 else "    a = " + "+".join("a" * 300) + "\n")
            source.flush()
            for python in THERE:
                with self.subTest(python.name):
                    codes = dumped(python, [source.name], every=997)
                    self.assertGreater(codes[-1]["count"], 64 << 10)
                    self.compare(codes, every=997)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
