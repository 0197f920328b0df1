#!/usr/bin/env python3
"""No cycles of #include: neither of headers nor of modules.

A module is x.h with x.c: what either includes, the module uses.  Modules that use each other, directly
or by way of others, can only be read, tested and moved together.  Those that do so today are listed
below, with what they are.  The list may only become shorter: a module that joins a cycle fails, and so
does one that is listed and in a cycle no longer.

usage: cycles.py [ROOT]
"""

import collections
import pathlib
import sys

from layers import INCLUDE, resolve, without_comments

Known = collections.namedtuple("Known", "what modules")
# What is not listed by name: at most so many modules with this folder in their path.
Counted = collections.namedtuple("Counted", "what folder most")

KNOWN = ()
COUNTED = ()


def module_of(path):
    return path.rsplit(".", 1)[0]


def headers_only(path):
    return path


def includes(root, name_of, suffixes):
    """{name: {name that it includes: "path:line"}} of the files of src/ with these suffixes."""
    src = (pathlib.Path(root) / "src").resolve()
    graph = collections.defaultdict(dict)
    for source in sorted(src.rglob("*")):
        if source.suffix not in suffixes:
            continue
        path = str(source.relative_to(src))
        text = without_comments(source.read_text(encoding="utf-8"))
        for match in INCLUDE.finditer(text):
            bracket, included = match.groups()
            ours = resolve(source, included, src) if bracket == '"' else None
            if ours is None or not (src / ours).is_file() or name_of(ours) == name_of(path) != path:
                continue
            line = text.count("\n", 0, match.start()) + 1
            graph[name_of(path)].setdefault(name_of(ours), f"src/{path}:{line}")
    return graph


def reachable(graph, begin):
    """All that can be reached from a name by one step or more."""
    seen, waiting = set(), [begin]
    while waiting:
        for name in graph.get(waiting.pop(), ()):
            if name not in seen:
                seen.add(name)
                waiting.append(name)
    return seen


def cycles_of(graph):
    """The sets of names of which each can be reached from each, largest first."""
    reach = {name: reachable(graph, name) for name in graph}
    found, done = [], set()
    for name in sorted(graph):
        if name in reach[name] and name not in done:
            cycle = {other for other in reach[name] if name in reach.get(other, ())}
            done |= cycle
            found.append(cycle)
    return sorted(found, key=lambda cycle: (-len(cycle), min(cycle)))


def shortest(graph, begin):
    """The names of the shortest way from a name back to it, both ends included."""
    ways = collections.deque([(begin,)])
    seen = set()
    while ways:
        way = ways.popleft()
        for name in graph.get(way[-1], ()):
            if name == begin:
                return (*way, name)
            if name not in seen:
                seen.add(name)
                ways.append((*way, name))
    return ()


def sentence(graph, name):
    way = shortest(graph, name)
    return f"{graph[way[0]][way[1]]}: a cycle of #include: {' -> '.join(way)}"


def is_below(folder, name):
    return f"/{folder}/" in f"/{name}"


def joined(graph, cycle, known):
    """Of a cycle: those that it has beyond the listed cycle that it shares most with."""
    listed = max((row.modules for row in known), key=lambda modules: len(modules & cycle), default=set())
    return [sentence(graph, name) for name in sorted(cycle - listed)]


def problems(root, known=KNOWN, counted=COUNTED):
    """Every cycle that is not listed, and every row that is out of date, as a sentence each."""
    headers = includes(root, headers_only, {".h"})
    found = [sentence(headers, min(cycle)) for cycle in cycles_of(headers)]
    graph = includes(root, module_of, {".c", ".h"})
    of_modules = cycles_of(graph)
    for cycle in of_modules:
        if not any(all(is_below(row.folder, name) for name in cycle) for row in counted):
            found += joined(graph, cycle, known)
    in_cycles = set().union(*of_modules)
    for row in known:
        found += [f"tests/lint/cycles.py: {name} is in no cycle any more: take it off the list"
                  for name in sorted(row.modules - in_cycles)]
    for row in counted:
        count = sum(is_below(row.folder, name) for name in in_cycles)
        if count > row.most:
            found.append(f"src: {count} modules below {row.folder}/ are in cycles of #include, {row.most} were")
    return found


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2]
    found = problems(root)
    print("\n".join(found) if found else "no cycles of #include but those that are listed")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
