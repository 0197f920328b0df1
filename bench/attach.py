#!/usr/bin/env python3
"""attach - what it costs to record a Python program that runs already, and what it gets: fathom beside its peers.

The programs of python.py, which begin bare; each profiler is started on their number a tenth of a second
later (after.py), and ends with them.  So the columns are of the whole program, that tenth included.
"""

import os
import sys

import beside
import python as python_bench  # bench/python.py
import python_peers
from beside import BARE, Peer, by_name
from python_peers import fetch, live_python, pythons, tool

HERE = os.path.dirname(os.path.abspath(__file__))


def attached(*words):
    """A command in front of the program; {pid}, {rate}, {interval_us}, {output} and {fathom} are put in."""
    def command(bench, python, rate, output):
        filled = [word.format(rate=rate, interval_us=1000000 // rate, output=output, fathom=bench.fathom_for(python),
                              pid="{pid}") for word in words]
        return [sys.executable, os.path.join(HERE, "after.py"), *filled, "--", *python.command()]
    return command


def austin_command(bench, python, rate, output):
    return attached(python_peers.austin_path(), "-i", "{interval_us}us", "-o", "{output}", "-p", "{pid}")(
        bench, python, rate, output)


def attached_perf():
    return (Peer("perf -g", attached("perf", "record", "-F", "{rate}", "-g", "-o", "{output}", "-p", "{pid}"),
                 beside.read_perf, beside.needs_perf, clock=beside.CPU, is_inside=True),
            Peer("perf --call-graph dwarf", attached("perf", "record", "-F", "{rate}", "--call-graph", "dwarf,16384", "-o",
                                                          "{output}", "-p", "{pid}"),
                 beside.read_perf, beside.needs_perf, clock=beside.CPU, is_inside=True))


PEERS = by_name(
    BARE,
    Peer("fathom", attached("{fathom}", "record", "-q", "--rate", "{rate}", "-o", "{output}", "-p", "{pid}"),
         beside.fathom_reader(live_python.LANGUAGE), clock=beside.CPU, is_inside=True),
    Peer("py-spy", attached(tool("py-spy"), "record", "-r", "{rate}", "-f", "raw", "-o", "{output}", "-d", "600",
                                 "-p", "{pid}"), python_peers.read_pyspy, python_peers.needs_tool("py-spy")),
    Peer("py-spy --nonblocking", attached(tool("py-spy"), "record", "-r", "{rate}", "-f", "raw", "-o", "{output}", "-d",
                                               "600", "--nonblocking", "-p", "{pid}"),
         python_peers.read_pyspy, python_peers.needs_tool("py-spy")),
    Peer("austin", austin_command, python_peers.read_austin, python_peers.austin_why_not),
    *attached_perf(),
)


def main():
    options = beside.parse_arguments(__doc__, "pythons", "debian-3.11", PEERS, python_bench.PROGRAMS)
    if options.fetch:
        fetch()
        return
    beside.main(options, python_bench.Catalogue, pythons.every_python(), PEERS, python_bench.PROGRAMS)


if __name__ == "__main__":
    main()
