#!/usr/bin/env python3
"""Code is a thing and has the field's names: no "who" does, "tells" or "is told" anything.

Looks at the sources, the tests, the tools, the documents, the man pages, the completions and what is
installed beside them: at comments, messages, names and prose alike.  Where a person is meant, or the word is another's
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
# In these folders only: elsewhere it is the field's word for something else.
WRONG_IN = {
    "src/agent": {r"stubs?": "dispatch hook"},
    "tests/live/trace": {r"stubs?": "dispatch hook"},
}
# Of people; getrusage()'s own name for its argument; the verdict of fathom diff.
RIGHT = re.compile(r"\b(?:those|users?|people|anybody|person) who\b|\bint who\b|SYS_getrusage, who\b"
                   r"|cannot[ _]tell(?![a-z])|too uncertain to tell\b|\"nobody\"(?=, \"-c\"|, \"sh\")"
                   r"|src/attach/stub\.h", re.I)
CODE = {".c", ".h", ".S", ".cpp", ".py", ".rb", ".js", ".html", ".md"}
PATHS = (("src", CODE), ("include", CODE), ("share", CODE), ("tests", CODE), ("bench", CODE), ("tools", CODE),
         ("completion", None), ("docs", {".md", ".1", ".json"}), ("README.md", None), ("CHANGELOG.md", None),
         ("dev", None), ("meson.build", None))
# What the lint is itself tested with, and what fuzzers have made.
LEFT_OUT = ("tests/lint/", "tests/fuzz/corpus/", "tests/fuzz/findings/")
# In identifiers, too.
def any_of(wrong):
    return re.compile("|".join(rf"(?<![^\W_])(?:{words})(?![^\W_])" for words in wrong), re.I)


ANY = any_of(WRONG)


def files(root):
    for name, suffixes in PATHS:
        path = root / name
        for file in [path] if path.is_file() else sorted(path.rglob("*")):
            name = str(file.relative_to(root))
            if file.is_file() and (suffixes is None or file.suffix in suffixes) and not name.startswith(LEFT_OUT):
                yield file


def wrong_in(name):
    """What is wrong in a file, and how it is found."""
    wrong = dict(WRONG)
    for folder, words in WRONG_IN.items():
        if name.startswith(folder + "/"):
            wrong.update(words)
    return wrong, ANY if len(wrong) == len(WRONG) else any_of(wrong)


def problems(root):
    """A sentence for each word."""
    found = []
    for file in files(root):
        name = str(file.relative_to(root))
        wrong, pattern = wrong_in(name)
        text = file.read_text(encoding="utf-8")
        if not pattern.search(text):
            continue
        for number, line in enumerate(text.splitlines(), 1):
            for match in pattern.finditer(RIGHT.sub("", line)):
                instead = next(to for words, to in wrong.items() if re.fullmatch(words, match.group(0), re.I))
                found.append(f'{name}:{number}: "{match.group(0)}": {instead}')
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
