#!/usr/bin/env python3
"""The examples in README.md, docs/ and the man pages do what they show.

In Markdown, a block marked `console` is a session: each line that begins with "$ " is run by sh
(a line that ends with a backslash goes on), in order, and has to succeed; the lines between are
what it may print, and are not compared.  A block marked `sql` is run on profile.fathom.  In man
pages, .EX … .EE is such a session.  An example that cannot run in a test says why in a comment
before it: <!-- not run: why -->, or .\\" not run: why.

Each document has a folder of its own with ./program (three threads), main.c and a Makefile to
build and run, and a profile.fathom.

usage: test_examples.py FATHOM PROGRAM
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).parents[2]
SKIPPED = 77
SECONDS = 120

FENCED = re.compile(r"(<!-- not run: [^>]*-->\n+)?^```(console|sql)\n(.*?)^```$", re.M | re.S)
EXAMPLE = re.compile(r'(^\.\\" not run: .*\n)?^\.EX\n(.*?)^\.EE$', re.M | re.S)
ROFF = {"\\-": "-", "\\e": "\\", "\\(aq": "'", "\\(dq": '"', "\\(ga": "`", "\\(ti": "~",
        "\\(ha": "^", "\\&": "", "\\fB": "", "\\fI": "", "\\fR": "", "\\fP": ""}

MAIN = """#include <stdio.h>
int main(void)
{
	unsigned sum = 0;
	for (unsigned i = 0; i < 300000000; i++)
		sum = sum * 31 + i;
	printf("%u\\n", sum);
}
"""
MAKEFILE = """program: main.c
	cc -O2 -g -o program main.c
"""


def without_roff(text):
    for escape, plain in ROFF.items():
        text = text.replace(escape, plain)
    return text


def session(text):
    """The commands of a console session."""
    text = text.replace("\\\n", " ")
    return [line.strip()[2:] for line in text.splitlines() if line.strip().startswith("$ ")]


def examples(path):
    """(line, command) of each example that is to be run."""
    text = path.read_text(encoding="utf-8")
    is_markdown = path.suffix == ".md"
    for match in (FENCED if is_markdown else EXAMPLE).finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        if match.group(1):
            continue
        if is_markdown and match.group(2) == "sql":
            yield line, f"sqlite3 -readonly profile.fathom <<'END'\n{match.group(3)}END"
            continue
        body = match.group(3) if is_markdown else without_roff(match.group(2))
        for command in session(body):
            yield line, command


def documents(root):
    yield from (path for path in [root / "README.md"] if path.is_file())
    yield from sorted((root / "docs").rglob("*.md"))
    yield from sorted((root / "docs").rglob("*.[1-9]"))


def prepare(folder, program, environment):
    shutil.copy(program, folder / "program")
    (folder / "main.c").write_text(MAIN, encoding="utf-8")
    (folder / "Makefile").write_text(MAKEFILE, encoding="utf-8")
    subprocess.run(["fathom", "record", "-q", "--", "./program"], cwd=folder, env=environment,
                   stdout=subprocess.DEVNULL, timeout=SECONDS, check=True)


def run(path, folder, environment):
    """How many examples of a document ran; sentences about those that failed."""
    count, failed = 0, []
    for line, command in examples(path):
        count += 1
        try:
            ran = subprocess.run(["sh", "-c", command], cwd=folder, env=environment, text=True,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, timeout=SECONDS, check=False)
            problem = f"exit code {ran.returncode}:\n{ran.stdout}" if ran.returncode else None
        except subprocess.TimeoutExpired:
            problem = f"not done after {SECONDS} seconds"
        if problem:
            failed.append(f"{path.relative_to(ROOT)}:{line}: {command}\n{problem}")
    return count, failed


def main():
    fathom, program = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    environment = {**os.environ, "PATH": f"{fathom.parent}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8"}
    total, failed = 0, []
    for path in documents(ROOT):
        if not list(examples(path)):
            continue
        with tempfile.TemporaryDirectory() as folder:
            prepare(pathlib.Path(folder), program, environment)
            count, wrong = run(path, folder, environment)
        print(f"{path.relative_to(ROOT)}: {count} examples, {len(wrong)} failed")
        total += count
        failed += wrong
    print("\n".join(failed))
    if total == 0:
        print("no document has an example")
        return SKIPPED
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
