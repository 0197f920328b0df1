#!/usr/bin/env python3
"""Runs a live test by its name, in whatever folder it is.

usage: run.py NAME [TEST…]     run.py truth Truth.test_recursion_counts_once_in_totals
       run.py                  the names, by folder
"""

import os
import pathlib
import runpy
import signal
import sys

HERE = pathlib.Path(__file__).resolve().parent


def print_names():
    for folder in sorted({path.parent for path in HERE.glob("*/test_*.py")}):
        print(f"{folder.name}:", *sorted(path.stem.removeprefix("test_") for path in folder.glob("test_*.py")))


def do_not_ignore_signals():
    """A shell ignores them for what it runs in the background, and programs would inherit that."""
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)


def main():
    if len(sys.argv) == 1:
        print_names()
        return
    found = list(HERE.glob(f"*/test_{sys.argv[1]}.py"))
    if len(found) != 1:
        sys.exit(f"run.py: {len(found)} live tests are called '{sys.argv[1]}'; without a name it prints all")
    # Modules that tests share are beside this file, and tests that others begin with in their folder.
    sys.path[:1] = [str(HERE), str(found[0].parent)]
    sys.argv = [str(found[0]), *sys.argv[2:]]
    # Reports that tests read have whole names and all columns; test_widths has others.
    os.environ.setdefault("COLUMNS", "250")
    do_not_ignore_signals()
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main()
