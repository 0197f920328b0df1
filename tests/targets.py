#!/usr/bin/env python3
"""Prints what the tests of a suite are made of, as ninja calls it; and what is built below other folders.

usage: targets.py BUILD_FOLDER SUITE [FOLDER...]
"""

import json
import os
import subprocess
import sys


def introspect(folder, what):
    done = subprocess.run(["meson", "introspect", "--" + what, folder], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def main(folder, suite, *others):
    targets = introspect(folder, "targets")
    files = {target["id"]: target["filename"] for target in targets}
    below = tuple(os.path.join(os.path.realpath(folder), other, "") for other in others)
    needed = {path for target in targets if target["build_by_default"] for path in target["filename"]
              if os.path.realpath(path).startswith(below)}
    for test in introspect(folder, "tests"):
        # "project:suite"
        if suite in [name.rpartition(":")[2] for name in test["suite"]]:
            needed.update(path for target in test["depends"] for path in files.get(target, ()))
    print("\n".join(sorted(os.path.relpath(path, folder) for path in needed)))


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
