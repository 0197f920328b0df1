#!/usr/bin/env python3
"""Code is a thing and has the field's names: no "who" does, "tells" or "is told" anything.

Looks at the sources, the documents, the man pages, the completions and what is installed beside
them: at comments, messages and prose alike.  Where a person is meant, or the word is another's
name, RIGHT says how that reads.

usage: words.py [ROOT]
"""

import pathlib
import re
import sys

# What is not said, and what is said instead.
WRONG = {
    r"who|whom|nobody|somebody": "which, what, no code",
    r"tells?|told": "reports, is called back, shows",
    r"stands? before": "interposes (a function), comes before (a word)",
    r"stand-ins?|proxies": "callable shim, substitute signal",
    r"evaluator": "eval_frame, dispatch hook",
    r"toll": "overhead",
}
# Of people; getrusage()'s own name for its argument; the verdict of fathom diff.
RIGHT = re.compile(r"\b(?:those|users?|people|anybody|person) who\b|\bint who\b|SYS_getrusage, who\b"
                   r"|cannot[ _]tell(?![a-z])|too uncertain to tell\b", re.I)
PATHS = (("src", {".c", ".h", ".py", ".js", ".html"}), ("include", {".h"}), ("share", {".py", ".rb"}),
         ("completion", None), ("docs", {".md", ".1", ".json"}), ("README.md", None), ("CHANGELOG.md", None))
# In identifiers, too.
ANY = re.compile("|".join(rf"(?<![^\W_])(?:{words})(?![^\W_])" for words in WRONG), re.I)


def files(root):
    for name, suffixes in PATHS:
        path = root / name
        for file in [path] if path.is_file() else sorted(path.rglob("*")):
            if file.is_file() and (suffixes is None or file.suffix in suffixes):
                yield file


def problems(root):
    """A sentence for each word."""
    found = []
    for file in files(root):
        text = file.read_text(encoding="utf-8")
        if not ANY.search(text):
            continue
        for number, line in enumerate(text.splitlines(), 1):
            for match in ANY.finditer(RIGHT.sub("", line)):
                instead = next(to for words, to in WRONG.items() if re.fullmatch(words, match.group(0), re.I))
                found.append(f'{file.relative_to(root)}:{number}: "{match.group(0)}": {instead}')
    return found


def main():
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2]
    found = problems(root)
    for sentence in found:
        print(sentence)
    print(f"{len(found)} words")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
