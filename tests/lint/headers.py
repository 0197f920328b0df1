#!/usr/bin/env python3
"""Every header compiles alone, with the compiler given (default cc); each file says what it is.

A header begins with a comment; a .c with one, or with the #include of its own header.

usage: headers.py [ROOT [COMPILER…]]
"""

import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

FLAGS = ["-std=gnu11", "-D_GNU_SOURCE", "-fsyntax-only",
         "-Werror=implicit-function-declaration", "-Werror=implicit-int", "-x", "c", "-"]

# A warning without a name of its own, which means that a declaration is missing.  (Other
# warnings are no matter of standing alone: a walker's header uses a mem_read() that its user
# defines.)
MISSING_DECLARATION = "inside parameter list"


def is_missing_architecture(header):
    """arch_<machine>.h compiles on its own machine only."""
    name = header.stem
    return name.startswith("arch_") and name != "arch_" + os.uname().machine


def compile_alone(root, compiler, header):
    path = header.relative_to(root)
    source = f'#include "{path.relative_to("src")}"\n'
    # Included from stdin, so that #pragma once does not stand in a main file.
    run = subprocess.run([*compiler, "-I", root / "src", *FLAGS], input=source, text=True,
                         capture_output=True, check=False)
    if run.returncode or MISSING_DECLARATION in run.stderr:
        return f"{path} does not compile alone:\n{run.stderr}"
    return None


def begins_well(path):
    """Whether a stranger learns in the first line what the file is, or where that stands."""
    with open(path, encoding="utf-8") as file:
        first = file.readline().rstrip("\n")
    if first.startswith("/*"):
        return True
    own = path.with_suffix(".h")
    return path.suffix == ".c" and own.is_file() and re.fullmatch(rf'#include "(?:.*/)?{re.escape(own.name)}"', first)


def nameless(root):
    return [f"{path.relative_to(root)}:1: what is this file?"
            for path in sorted((root / "src").rglob("*.[ch]")) if not begins_well(path)]


def problems(root, compiler):
    headers = [h for h in sorted((root / "src").rglob("*.h")) if not is_missing_architecture(h)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = pool.map(lambda header: compile_alone(root, compiler, header), headers)
    return [result for result in results if result]


def main():
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2]
    root = root.resolve()
    found = nameless(root) + problems(root, sys.argv[2:] or ["cc"])
    print("\n".join(found) if found else "every header compiles alone, and each file says what it is")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
