#!/usr/bin/env python3
"""attach_ruby - attach.py for Ruby: fathom beside rbspy and perf on Ruby programs that run already.

The programs of ruby.py, and one that says which of its methods calls which: an impossible sample has two
of them, with no other Ruby code between, of which the outer one never calls the inner.
"""

import json
import os
import re

import beside
import ruby as ruby_bench  # bench/ruby.py
import ruby_peers
from attach import attached, attached_perf
from beside import BARE, Peer, by_name
from ruby_peers import fetch, rubies

HERE = os.path.dirname(os.path.abspath(__file__))
CALLGRAPH = os.path.join(HERE, os.pardir, "tests", "workloads", "ruby", "callgraph.rb")
CALLGRAPH_MS = 4000


def plain(name):
    """Without owners, which not every profiler has: "block in Object#f" is "block in f"."""
    return re.sub(r"\b[A-Z][\w:]*[#.]", "", name)


def possible_pairs(truth):
    """(outer, inner) of the program's own methods, by its chains "A#f > Array#map > block in A#f"."""
    own = tuple(owner + mark for owner in truth["owners"] for mark in "#.")
    pairs = set()
    for line in truth["chains"]:
        if " : " not in line:
            names = [plain(name) for name in line.split(" > ") if name.startswith(("<", "block ", *own))]
            pairs.update(zip(names, names[1:]))
    return pairs


def count_impossible(recorded, printed):
    truth = next(json.loads(line) for line in printed.splitlines() if line.startswith("{"))
    pairs, impossible = possible_pairs(truth), 0
    for frames, count in recorded.stacks:
        outer, is_wrong = None, False
        for frame in frames[::-1]:
            if os.path.basename(frame.path) == "callgraph.rb":
                name = plain(frame.name)
                is_wrong |= outer is not None and (outer, name) not in pairs
                outer = name
            elif frame.path.endswith(".rb"):
                outer = None
        impossible += count * is_wrong
    return impossible


PROGRAMS = {
    **ruby_bench.PROGRAMS,
    "callgraph": beside.Program(CALLGRAPH, takes_times=False, argument=str(CALLGRAPH_MS), judge=count_impossible),
}


def rbspy(name, *options):
    def command(bench, ruby, rate, output):
        return attached(str(ruby_peers.RBSPY), "record", "--silent", "--rate", "{rate}", "--format", "collapsed", "--file",
                        "{output}", "--raw-file", bench.path("raw"), *options, "--pid", "{pid}")(bench, ruby, rate, output)
    return Peer(name, command, ruby_peers.read_rbspy, ruby_peers.rbspy_why_not)


PEERS = by_name(
    BARE,
    Peer("fathom", attached("{fathom}", "record", "-q", "--rate", "{rate}", "-o", "{output}", "-p", "{pid}"),
         beside.fathom_reader(ruby_peers.LANGUAGE), clock=beside.CPU, is_inside=True),
    rbspy("rbspy"),
    rbspy("rbspy --nonblocking", "--nonblocking"),
    *attached_perf(),
)


def main():
    options = beside.parse_arguments(__doc__, "rubies", "debian-3.1", PEERS, PROGRAMS)
    if options.fetch:
        fetch()
        return
    beside.main(options, ruby_bench.Catalogue, rubies.every_ruby(), PEERS, PROGRAMS)


if __name__ == "__main__":
    main()
