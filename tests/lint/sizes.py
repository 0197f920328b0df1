#!/usr/bin/env python3
"""Files, functions and lines stay small enough to be read.

A file of src/ of more than 400 lines is a failure, unless it is made by a tool and says so in its first
lines.  Elsewhere one of more than 500 lines is a question, which is printed, and of more than 1,000 a
failure; so is a function of more than 60 lines, and of more than 100.  A line of C of more than 96
columns (clang-format breaks no comments and no texts) is a question, of more than 120 a failure.  Prose
in Markdown has at most 100 columns; tables and what is quoted as it is have as many as they need.

usage: sizes.py [ROOT]
"""

import pathlib
import re
import sys

SOURCE_FAILURE = 400
FILE_QUESTION, FILE_FAILURE = 500, 1000
FUNCTION_QUESTION, FUNCTION_FAILURE = 60, 100
LINE_QUESTION, LINE_FAILURE = 96, 120
PROSE_FAILURE = 100
SUFFIXES = {".c", ".h", ".cpp", ".py", ".js", ".html", ".sh"}
# With kernel braces a function's opening brace is alone in the first column, as its closing one.
FUNCTION = re.compile(r"^\{\n.*?^\}", re.M | re.S)
NAME = re.compile(r"(\w+)\s*\(")


def functions(text):
    """(line, name, length in lines) of each C function."""
    for match in FUNCTION.finditer(text):
        before = text[:match.start()].rstrip("\n").rsplit("\n\n", 1)[-1]
        before = before.rsplit("\n}", 1)[-1].rsplit("*/", 1)[-1]
        name = NAME.search(before)
        line = text.count("\n", 0, match.start()) + 1
        yield line, name.group(1) if name else "?", match.group(0).count("\n") + 1


def is_made(text):
    """Tables of offsets, and the like: tools/ has what writes them."""
    return "Made by tools/" in text[:400]


def long_lines(text):
    """(line, columns) of each line too wide for a screen; a tab is 8."""
    for number, line in enumerate(text.splitlines(), 1):
        columns = len(line.expandtabs(8))
        if columns > LINE_QUESTION:
            yield number, columns


def long_prose(text):
    """(line, columns) of each line of prose that is too wide."""
    is_fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            is_fenced = not is_fenced
        elif len(line) > PROSE_FAILURE and not is_fenced and not line.startswith("    ") \
                and not line.lstrip().startswith("|"):
            yield number, len(line)


def documents(root):
    return sorted([*root.glob("*.md"), *(path for folder in ("docs", "src", "tests", "bench")
                                         for path in (root / folder).rglob("*.md"))])


def problems(root):
    """(questions, failures), each a list of sentences."""
    questions, failures = [], []
    for path in documents(root):
        for line, columns in long_prose(path.read_text(encoding="utf-8")):
            failures.append(f"{path.relative_to(root)}:{line}: a line of {columns} columns: wrap it at {PROSE_FAILURE}")
    for folder in ("src", "tests", "bench"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in SUFFIXES or not path.is_file():
                continue
            text = path.read_text(encoding="utf-8", errors="replace")
            name = path.relative_to(root)
            lines = text.count("\n")
            most = SOURCE_FAILURE if folder == "src" else FILE_FAILURE
            if lines > min(most, FILE_QUESTION) and not is_made(text):
                (failures if lines > most else questions).append(
                    f"{name}:1: {lines} lines: can it be split?")
            if path.suffix not in (".c", ".h"):
                continue
            for line, columns in long_lines(text):
                (failures if columns > LINE_FAILURE else questions).append(
                    f"{name}:{line}: a line of {columns} columns")
            for line, function, length in functions(text):
                if length > FUNCTION_QUESTION:
                    (failures if length > FUNCTION_FAILURE else questions).append(
                        f"{name}:{line}: {function}() has {length} lines: can it be split?")
    return questions, failures


def main():
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2]
    questions, failures = problems(root)
    for sentence in questions:
        print("question:", sentence)
    for sentence in failures:
        print("failure:", sentence)
    print(f"{len(questions)} questions, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
