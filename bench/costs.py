#!/usr/bin/env python3
"""costs - whether the report's "cost" is what recording cost, by programs of many kinds.

  subshells, true, compile   as in storms.py
  ping-pong                  two threads on one processor pass a byte to and fro 100,000 times
  native, python, ruby       a C, a Python and a Ruby program that compute

Each round runs the program bare, recorded and bare again, so that a change of the machine's
speed affects both.  Servers are in servers.py.

  measured  the share of the CPU time of the program and its children that the bare run did not take: median
            of the rounds
  +/-       one standard error of that median, by the rounds' differences
  reported  the same by fathom's report: median
  reported/measured
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

import run
import storms

HERE = os.path.dirname(os.path.abspath(__file__))


def mixed(interpreter, file, turns):
    return lambda bench: [interpreter, os.path.join(HERE, file), bench.out("mixed"), turns]


def storm(name):
    return lambda bench: storms.command_of(bench, name, 1)


PROGRAMS = {**{name: storm(name) for name in storms.PROGRAMS},
            "ping-pong": lambda bench: [bench.path("ping_pong"), "100000"],
            "native": lambda bench: [bench.path("native"), "20"],
            "python": mixed("python3", "python/mixed.py", "8"),
            "ruby": mixed("ruby", "ruby/mixed.rb", "20")}


def cpu_s_of(bench, front, command):
    """Of the program, and what fathom says recording cost of it, as a share."""
    bench.clear()
    times = bench.path("times")
    subprocess.run([*front, bench.path("stamp"), times, *command], check=True, stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL)
    with open(times) as file:
        return int(file.read().split()[2]) / 1e9


def reported_by(bench):
    done = subprocess.run([bench.fathom, "report", bench.out("x.fathom"), "--json"], check=True, capture_output=True)
    head = json.loads(done.stdout)["recording"]
    return head["sampling_cost_ns"] / head["kernel_cpu_ns"]


def measure(bench, name, options):
    command = PROGRAMS[name]
    front = [bench.fathom, "record", "-q", "--rate", str(options.rate), "-o", bench.out("x.fathom"), "--"]
    rounds = []
    for number in range(options.rounds + 1):
        before_s = cpu_s_of(bench, [], command(bench))
        recorded_s = cpu_s_of(bench, front, command(bench))
        reported = reported_by(bench)
        bare_s = (before_s + cpu_s_of(bench, [], command(bench))) / 2
        if number > 0:  # the first round warms the caches
            rounds.append({"bare_s": bare_s, "recorded_s": recorded_s, "reported": reported, "measured": 1 - bare_s / recorded_s})
    return rounds


def of_median(values):
    """One standard error of the median, by the quartiles, as if values were normal."""
    low, _, high = statistics.quantiles(values, n=4)
    return 1.2533 * (high - low) / 1.349 / len(values) ** 0.5


def row(name, rounds):
    measured = [each["measured"] for each in rounds]
    reported = statistics.median(each["reported"] for each in rounds)
    middle = statistics.median(measured)
    bare_s = statistics.median(each["bare_s"] for each in rounds)
    return [f"{name} ({bare_s:.2f} s)", f"{100 * middle:.1f} %", f"{100 * of_median(measured):.1f}", f"{100 * reported:.1f} %",
            f"{reported / middle:.2f}" if middle > 0 else "-"]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fathom", default=os.environ.get("FATHOM", "fathom"), help="the program to measure")
    parser.add_argument("--programs", default=",".join(PROGRAMS), help="which (%(default)s)")
    parser.add_argument("--rate", type=int, default=1000, help="samples a second (%(default)s)")
    parser.add_argument("--rounds", type=int, default=9, help="of each (%(default)s)")
    parser.add_argument("--markdown", action="store_true", help="print a table in Markdown")
    parser.add_argument("--json", metavar="FILE", help="also write every single measurement")
    return parser.parse_args()


def main():
    options = parse_arguments()
    everything, rows = [], []
    with tempfile.TemporaryDirectory(prefix="fathom-bench-") as folder:
        bench = run.Bench(folder, shutil.which(options.fathom) or options.fathom)
        subprocess.run(["cc", "-O2", *run.WARNINGS, "-pthread", "-o", bench.path("ping_pong"),
                        os.path.join(HERE, "ping_pong.c")], check=True)
        with open(bench.path("small.c"), "w") as file:
            file.write(storms.SMALL_C)
        for name in options.programs.split(","):
            rounds = measure(bench, name, options)
            rows.append(row(name, rounds))
            everything.append({"program": name, "rounds": rounds})
    print(run.text_of_table(f"{run.machine()}; {options.rate} Hz, medians of {options.rounds}",
                            ["program (bare)", "measured", "+/-", "reported", "reported/measured"], rows, options.markdown))
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"machine": run.machine(), "results": everything}, file, indent=1)


if __name__ == "__main__":
    sys.exit(main())
