#!/usr/bin/env python3
"""python - what recording Python programs costs, and what it gets: fathom beside its peers, in one run.

The programs: mixed (primes, sorting with a key, recursion, JSON, re, zlib), threads (158 asleep and one that
computes) and callgraph (tests/workloads/python).
"""

import json
import os

import beside
from python_peers import PEERS, fetch, live_python, pythons

HERE = os.path.dirname(os.path.abspath(__file__))
CALLGRAPH_MS = 4000
BEGINNING = "callgraph.py:<module>"


def place_of(frame):
    # Qualified names, where a profiler has them, end in the plain one.
    return f"{os.path.basename(frame.path)}:{frame.name.rpartition('.')[2]}"


def count_impossible(recorded, printed):
    """Samples with a pair of caller and callee that the program says it does not have."""
    truth = next(json.loads(line) for line in printed.splitlines() if line.startswith("{"))
    callers, to_libraries = truth["callers"], set(truth["to_libraries"])
    impossible = 0
    for frames, count in recorded.stacks:
        places = [place_of(frame) for frame in frames]
        # A profiler that is a Python program stands around it.
        if BEGINNING in places:
            places = places[places.index(BEGINNING):]
        pairs = zip(places[1:], places)
        impossible += count * any(live_python.is_impossible(callee, caller, callers, to_libraries)
                                  for callee, caller in pairs)
    return impossible


PROGRAMS = {
    "mixed": beside.Program(os.path.join(HERE, "python", "mixed.py")),
    # With threads asleep, it is how many there are that costs.
    "threads": beside.Program(os.path.join(HERE, "python", "many_threads.py"), rates=(100,), function="compute"),
    "callgraph": beside.Program(str(live_python.WORKLOADS / "callgraph.py"), takes_times=False,
                                argument=str(CALLGRAPH_MS), judge=count_impossible),
}


class Catalogue:
    """Which interpreters need a fathom of their own."""

    is_fetched = staticmethod(pythons.is_fetched)

    @staticmethod
    def copy_fathom(_python, fathom, copy):
        pythons.copy_fathom(fathom, copy)


def main():
    options = beside.parse_arguments(__doc__, "pythons", "debian-3.11,sid-3.15", PEERS, PROGRAMS)
    if options.fetch:
        fetch()
        return
    beside.main(options, Catalogue, pythons.every_python(), PEERS, PROGRAMS)


if __name__ == "__main__":
    main()
