#!/usr/bin/env python3
"""Files that the documents name are there.

A link leads to a file, from where the document is.  A name in `backquotes` with an ending of ours, or below a
folder of ours, is that of a file of the tree, whole or its last parts: `src/base/`, `clock.c`,
`python/objects.h`.  What other programs call their files is listed in OTHERS.

usage: paths.py [ROOT]
"""

import pathlib
import posixpath
import re
import sys

FOLDERS = ("src/", "tests/", "docs/", "bench/", "tools/", "share/", "include/", "completion/")
NAME = re.compile(r"`([A-Za-z0-9_./{},-]+)`")
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)\s]*)?\)")
ENDING = re.compile(r"[A-Za-z0-9_]\.(?:c|h|py|rb|js|sh|md|build)$")
# Examples' names, and other projects' files.
OTHERS = {"elf/rtld.c", "argparse.py", "test_mine.py", "fuzz_NAME.c", "src/ROOM/"}


def tree(root):
    """Every file and folder, as a path with a slash before it."""
    found = set()
    for path in root.rglob("*"):
        name = path.relative_to(root).as_posix()
        if not name.startswith((".git/", "build")):
            found.add("/" + name)
    return found


def documents(root):
    return sorted([*root.glob("*.md"), *(root / "docs").rglob("*.md"), *(root / "src").rglob("*.md"),
                   *(root / "tests").rglob("*.md")])


def alternatives(name):
    match = re.fullmatch(r"(.*)\{(.*)\}(.*)", name)
    return [match[1] + part + match[3] for part in match[2].split(",")] if match else [name]


def is_there(name, endings):
    return "/" + name.strip("/") in endings


def problems(root):
    paths = tree(root)
    endings = {path[i:] for path in paths for i, letter in enumerate(path) if letter == "/"}
    found = []
    for document in documents(root):
        here = document.relative_to(root).as_posix()
        for number, line in enumerate(document.read_text(encoding="utf-8").splitlines(), 1):
            for link in LINK.findall(line):
                target = "/" + posixpath.normpath(posixpath.join(posixpath.dirname(here), link))
                if "://" not in link and target not in paths:
                    found.append(f"{here}:{number}: a link to {link}, which is not there")
            for given in NAME.findall(line):
                for name in alternatives(given):
                    is_ours = name.startswith(FOLDERS) or ENDING.search(name)
                    if is_ours and name not in OTHERS and not is_there(name, endings):
                        found.append(f"{here}:{number}: {name} is not there")
    return found


def main():
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2]
    found = problems(root.resolve())
    for sentence in found:
        print(sentence)
    print(f"{len(found)} names of files that are not there")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
