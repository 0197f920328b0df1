#!/usr/bin/env python3
"""Which room may know which: the table of the architecture, held against every #include.

Also: code that runs in the target or in the kernel includes no hosted header, only cli/ prints to
the terminal or ends the program, and only one file reads what a target can write in a ring's header.

What the agent's layers still include from a layer above is listed in EXCEPTIONS, file by file.  The
list may only become shorter: one that is not needed any more fails as well.

usage: layers.py [ROOT]
"""

import pathlib
import re
import sys

LAYERS = {
    "core": (),
    "interpreters": ("core",),
    "control": ("core", "interpreters"),
    "exec": ("core", "interpreters", "control"),
    "signals": ("core", "interpreters", "control", "exec"),
    "sample": ("core", "interpreters", "control", "exec", "signals"),
    "trace": ("core", "interpreters", "control", "exec"),
}

# The recorder's: each uses those before it, and what all of them use is in the table below.
COLLECT = ("system", "events", "costs", "processes", "stacks", "wall", "samples", "calls", "agents", "session")
# What two of them that stand side by side may not know of each other.
COLLECT_APART = {"calls": {"wall"}, "agents": {"calls", "samples", "wall", "stacks"}}

ROOMS = {
    "base": set(),
    "abi": set(),
    "walk": {"abi"},
    # The agent's layers: each uses what is below it; sample and trace do not know each other.
    **{f"agent/{layer}": {"walk", "abi", *(f"agent/{below}" for below in under)} for layer, under in LAYERS.items()},
    # Its own files, beside the layers: the list of mechanisms.
    "agent": {f"agent/{layer}" for layer in LAYERS},
    "target": {"abi", "base"},
    "record": {"abi", "base"},
    "symbol": {"target", "base"},
    "profile": {"base"},
    "report": {"profile", "base"},
    "export": {"profile", "base"},
    # The live view is made of what reports are: names, places, colours.
    "view": {"report", "profile", "base"},
    # Brings the agent into a process that runs.
    "attach": {"target", "abi", "base"},
    # Stacks that the kernel copied are unwound as a process's own are read.
    **{f"collect/{room}": {"attach", "remote", "target", "record", "abi", "base",
                           *(f"collect/{below}" for below in COLLECT[:index]
                             if below not in COLLECT_APART.get(room, ()))}
       for index, room in enumerate(COLLECT)},
    # Joins a recording, its names and a profile.
    "load": {"record", "symbol", "target", "profile", "abi", "base"},
    # Records a program whose truth is known.
    "doctor": {"base", "target", "collect/events", "collect/system", "load", "profile"},
    # Reads a process from outside.
    "remote": {"walk", "target", "abi", "base"},
    # What remote read, with names: as text and as JSON.
    "dump": {"remote", "load", "symbol", "profile", "report", "abi", "base"},
    "cli": {"base", "abi", "target", "record", "symbol", "profile", "report", "export", "view",
            "collect/session", "collect/system", "load", "doctor", "remote", "dump"},
}

# What includes a header of a layer that it may not use, today.
EXCEPTIONS = frozenset()

# These run where there may be no libc.
FREESTANDING_ROOMS = {"abi", "walk"}
FREESTANDING_HEADERS = {"stddef.h", "stdint.h", "stdbool.h", "stdatomic.h", "limits.h",
                        "float.h", "stdalign.h", "stdarg.h", "stdnoreturn.h", "assert.h"}

# What only cli/ may call: it alone speaks and ends the program.  (_exit() is for a child
# between fork and exec, and for base/memory.c when there is no memory.)
SPEAKING = re.compile(r"(?<![\w.>])(printf|vprintf|puts|putchar|perror|exit|quick_exit|abort|"
                      r"errx?|warnx?|assert)\s*\(|\bfv?printf\s*\(\s*(?:stderr|stdout)\b|"
                      r"\bfputs\s*\([^;]*,\s*(?:stderr|stdout)\s*\)")
ENDING_AT_ONCE = re.compile(r"(?<![\w.>])_exit\s*\(|(?<![\w.>])_Exit\s*\(")
MAY_END_AT_ONCE = {"base/memory.c"}
MAY_END_AT_ONCE_ROOMS = {"collect/session", "collect/costs", "collect/system", "cli"}

# A ring's header can be written by its target at any moment: collect/processes/ring_view.c reads each figure
# once and bounds it.  enter.c makes rings; the others hand them on to what takes no figure from them.
FOLLOWING_A_RING = re.compile(r"(?:->|\.)ring->|\bring_words\s*\(")
MAY_FOLLOW_A_RING = {"collect/processes/ring_view.c", "collect/processes/ring_view.h", "collect/processes/ring_memory.c", "collect/agents/enter.c",
                    "collect/agents/enter_ring.c"}

COMMENT_OR_TEXT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'',
                             re.S)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.M)


def without_comments(text):
    """Comments become blank, line for line; texts stay (an #include needs its name)."""
    def blank(match):
        piece = match.group(0)
        if piece[0] != "/":
            return piece
        return " " + "\n" * piece.count("\n")
    return COMMENT_OR_TEXT.sub(blank, text)


def without_texts(text):
    return COMMENT_OR_TEXT.sub(lambda m: '""' + "\n" * m.group(0).count("\n"), text)


def room_of(path):
    """The room of a path relative to src/, or None."""
    for room in ROOMS:
        if path.startswith(room + "/") and not (room == "agent" and path.count("/") > 1):
            return room
    return None


def resolve(source, included, src):
    """The path relative to src/ of what a file of ours includes, or None."""
    beside = (source.parent / included).resolve()
    if beside.is_file() and src in beside.parents:
        return str(beside.relative_to(src))
    if (src / included).is_file() or room_of(included):
        return included
    return None


def is_generated(source, included):
    """protoc-c makes x.pb-c.h of x.proto."""
    stem = included.removesuffix(".pb-c.h")
    return stem != included and (source.parent / (stem + ".proto")).is_file()


def include_problems(source, room, text, src, excepted):
    path = str(source.relative_to(src))
    for match in INCLUDE.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        bracket, included = match.groups()
        ours = resolve(source, included, src) if bracket == '"' else None
        if bracket == "<":
            if room_of(included):
                yield line, f"<{included}> is ours: write it in quotes"
            elif room in FREESTANDING_ROOMS and included not in FREESTANDING_HEADERS:
                yield line, f"{room} runs without a libc and may not include <{included}>"
            continue
        if ours is None and is_generated(source, included):
            continue
        if ours is None:
            yield line, f'"{included}" is in no room of ours'
            continue
        other = room_of(ours)
        if other is None:
            yield line, f'"{included}" ({ours}) is in no room that the table knows'
        elif (path, ours) in excepted:
            continue
        elif other != room and other not in ROOMS[room]:
            may = ", ".join(sorted(ROOMS[room])) or "nothing of ours"
            yield line, f'{room} may not know {other} ("{included}"); it may include {may}'


def speaking_problems(path, room, text):
    text = without_texts(text)
    if room != "cli":
        for match in SPEAKING.finditer(text):
            call = match.group(0).split("(")[0].strip()
            yield text.count("\n", 0, match.start()) + 1, f"only cli/ may call {call}()"
    if path not in MAY_END_AT_ONCE and room not in MAY_END_AT_ONCE_ROOMS:
        for match in ENDING_AT_ONCE.finditer(text):
            yield text.count("\n", 0, match.start()) + 1, f"{room} may not call _exit()"


def ring_problems(path, room, text):
    if not room.startswith("collect/") or path in MAY_FOLLOW_A_RING:
        return
    for match in FOLLOWING_A_RING.finditer(without_texts(text)):
        yield text.count("\n", 0, match.start()) + 1, "only ring_view.c may read a ring, which its target can write"


def out_of_date(src, excepted):
    """A sentence for each exception whose file includes that header no more."""
    for path, header in sorted(excepted):
        source = src / path
        if not source.is_file() or f'"{header}"' not in without_comments(source.read_text(encoding="utf-8")):
            yield f"tests/lint/layers.py: {path} includes {header} no more: take it off the list"


def problems(root, excepted=frozenset()):
    """Every violation as 'path:line: sentence', in order."""
    src = (pathlib.Path(root) / "src").resolve()
    found = list(out_of_date(src, excepted))
    for source in sorted(src.rglob("*")):
        if source.suffix not in (".c", ".h"):
            continue
        path = str(source.relative_to(src))
        room = room_of(path)
        if room is None:
            found.append(f"src/{path}:1: in no room that the table knows")
            continue
        text = without_comments(source.read_text(encoding="utf-8"))
        for line, sentence in (*include_problems(source, room, text, src, excepted),
                               *speaking_problems(path, room, text),
                               *ring_problems(path, room, text)):
            found.append(f"src/{path}:{line}: {sentence}")
    return found


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2]
    found = problems(root, EXCEPTIONS)
    print("\n".join(found) if found else "every room knows only what it may")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
