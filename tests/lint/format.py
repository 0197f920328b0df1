#!/usr/bin/env python3
"""C is formatted as .clang-format says, by clang-format 14 (others format differently).

usage: format.py [--fix] [ROOT]
"""

import pathlib
import re
import shutil
import subprocess
import sys

VERSION = "14"
SKIPPED = 77


def clang_format():
    """The program, or None and why not."""
    for name in (f"clang-format-{VERSION}", "clang-format"):
        program = shutil.which(name)
        if not program:
            continue
        said = subprocess.run([program, "--version"], text=True, capture_output=True, check=True)
        version = re.search(r"version (\d+)", said.stdout)
        if version and version.group(1) == VERSION:
            return program, None
    return None, f"clang-format {VERSION} is not here: install the package clang-format-{VERSION}"


def sources(root):
    for folder in ("src", "tests", "bench"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in (".c", ".h", ".cpp") and path.is_file():
                yield path


def main():
    arguments = [a for a in sys.argv[1:] if a != "--fix"]
    root = pathlib.Path(arguments[0]) if arguments else pathlib.Path(__file__).parents[2]
    program, why_not = clang_format()
    if not program:
        print(why_not)
        return SKIPPED
    files = list(sources(root))
    how = ["-i"] if "--fix" in sys.argv[1:] else ["--dry-run", "--Werror"]
    run = subprocess.run([program, *how, *files], text=True, capture_output=True, check=False)
    wrong = sorted(set(re.findall(r"^(.+?):\d+:\d+: error: code should be clang-formatted",
                                  run.stderr, re.M)))
    for path in wrong:
        print(f"{path}: not formatted (./dev format does it)")
    if run.returncode and not wrong:
        print(run.stderr)
    if not run.returncode:
        print(f"{len(files)} files are formatted")
    return 1 if run.returncode else 0


if __name__ == "__main__":
    sys.exit(main())
