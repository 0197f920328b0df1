#!/usr/bin/env python3
"""The gate of fathom diff in a git history: does it name the function that became slower, and only it?

The history is that of modules of CPython's own library, as two versions of it have them, and a third
commit in which one function was made slower.  Each commit's work (diffs, wrapped text, parsed HTML) is
recorded in turn with that of the commit before (record --runs), and each function with a fiftieth of
the time has a limit of +25 % (diff --fail-if).

usage: history_gate.py FATHOM OLDER-LIB NEWER-LIB [--runs N] [--python PROGRAM]
       (LIB: a folder lib/python3.N of CPython)
"""

import argparse
import glob
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

MODULES = ("difflib.py", "textwrap.py", "html/parser.py", "html/__init__.py", "html/entities.py", "_markupbase.py", "shlex.py", "string.py")
SHARE = 0.02
LIMIT = 25

# Its work is done twice.
SLOW_IN, SLOW_BEFORE = "difflib.py", "    def find_longest_match("

WORK = """
import os, random, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
import difflib, html.parser, shlex, textwrap
random.seed(1)
words = [chr(97 + i % 26) * (i % 9 + 1) for i in range(400)]
def lines(n): return [" ".join(random.choices(words, k=8)) for _ in range(n)]
class Parser(html.parser.HTMLParser):
    def handle_starttag(self, tag, attributes): pass
for turn in range(4):
    a, b = lines(60), lines(60)
    b[10:40] = a[20:50]
    list(difflib.ndiff(a[:6], b[:6]))
    difflib.SequenceMatcher(None, " ".join(a), " ".join(b)).get_matching_blocks()
    list(difflib.unified_diff(a, b))
    textwrap.fill(" ".join(lines(200)), 60)
    Parser().feed("".join(f"<p class='x{i}'><b>{line}</b>&amp;</p>" for i, line in enumerate(lines(300))))
    for line in lines(60): shlex.split(line)
"""


def commit(repository, message):
    """All that is there; the commit's name."""
    git = ["git", "-C", repository, "-c", "user.name=bench", "-c", "user.email=bench@localhost"]
    subprocess.run([*git, "add", "-A"], check=True)
    subprocess.run([*git, "commit", "-qm", message], check=True)
    return subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()


def put(repository, library):
    """A version's modules."""
    for module in MODULES:
        target = pathlib.Path(repository, "lib", module)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(os.path.join(library, module), target)
    pathlib.Path(repository, "work.py").write_text(WORK, encoding="utf-8")


def plant(repository):
    """find_longest_match() looks twice."""
    path = pathlib.Path(repository, "lib", SLOW_IN)
    text = path.read_text(encoding="utf-8")
    head, rest = text.split(SLOW_BEFORE, 1)
    # Its body a second time, in a loop of two turns: the function is itself slower.
    signature, body = rest.split("):", 1)
    end = body.index("\n    def ")
    doc = body.index('"""', body.index('"""') + 3) + 3
    inner = body[doc:end].rstrip()
    indented = "\n".join(("    " + line if line.strip() else line) for line in inner.splitlines())
    indented = indented.replace("return Match(besti, bestj, bestsize)", "found = Match(besti, bestj, bestsize)")
    path.write_text(head + SLOW_BEFORE + signature + "):" + body[:doc] + "\n        for _again in range(2):" + indented +
                    "\n        return found\n" + body[end:], encoding="utf-8")


def main():
    """Gates each commit against the one before."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("fathom")
    parser.add_argument("older")
    parser.add_argument("newer")
    parser.add_argument("--runs", type=int, default=8)
    parser.add_argument("--python", default="python3")
    arguments = parser.parse_args()
    fathom = os.path.abspath(arguments.fathom)
    with tempfile.TemporaryDirectory() as folder:
        repository = os.path.join(folder, "repository")
        os.mkdir(repository)
        subprocess.run(["git", "init", "-q", repository], check=True)
        commits = []
        for message, library in (("older", arguments.older), ("newer", arguments.newer), ("planted", None)):
            if library:
                put(repository, library)
            else:
                plant(repository)
            commits.append((message, commit(repository, message)))
            subprocess.run(["git", "-C", repository, "worktree", "add", "-q", os.path.join(folder, message), commits[-1][1]], check=True)
        os.chdir(folder)
        for before, after in (("older", "older"), ("older", "newer"), ("newer", "planted")):
            runs = f"runs.{before}.{after}"
            subprocess.run([fathom, "record", "-q", "-r", "2000", "--runs", str(arguments.runs), "-o", runs, "--against",
                            f"{arguments.python} {before}/work.py", "--", arguments.python, f"{after}/work.py"], check=True)
            sides = [*sorted(glob.glob(f"{runs}/before.*")), "--", *sorted(glob.glob(f"{runs}/after.*"))]
            rows = json.loads(subprocess.run([fathom, "diff", "--json", *sides], capture_output=True, text=True, check=True).stdout)
            least = SHARE * rows["total"]["before_ns"]
            # Of the modules' own functions; of what calls others, what those take is theirs.
            names = sorted({row["name"] for row in rows["functions"] if max(row["before_ns"], row["after_ns"]) > least and
                            os.path.basename(row["file"] or "") in {os.path.basename(module) for module in MODULES}})
            limits = [word for name in names for word in ("--fail-if", f"{name}>+{LIMIT}%")]
            done = subprocess.run([fathom, "diff", *limits, *sides], capture_output=True, text=True, check=False)
            print(f"{before} -> {after}: {len(names)} limits, exit code {done.returncode}")
            print(done.stderr, end="", flush=True)


if __name__ == "__main__":
    sys.exit(main())
