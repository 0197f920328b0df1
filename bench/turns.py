#!/usr/bin/env python3
"""turns - what recording costs a program that runs on, and whether the report says so.

Two processes of one program share a processor, one of them recorded.  They take turns of a few milliseconds
of the same work, in random order, and print the CPU time of each: what slows the machine slows both.  The
start of the agent and of the program is in none of them.

  measured  of the recorded one's CPU time: by the median of the pairs' ratios, ± one standard error; by sums
  reported  the same by fathom's report, which includes the start
"""

import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import run
from servers import standard_error

HERE = os.path.dirname(os.path.abspath(__file__))
WARM_UP = 10


def commands(folder):
    native = os.path.join(folder, "turns")
    subprocess.run(["cc", "-O2", *run.WARNINGS, "-o", native, os.path.join(HERE, "native", "turns.c")], check=True)
    return {"native": [native], "python": [sys.executable, os.path.join(HERE, "python", "turns.py")],
            "ruby": ["ruby", os.path.join(HERE, "ruby", "turns.rb")]}


def start(command):
    processor = max(os.sched_getaffinity(0))
    return subprocess.Popen(["taskset", "-c", str(processor), *command], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, text=True)


def turn(process):
    process.stdin.write("\n")
    process.stdin.flush()
    return int(process.stdout.readline())


def measure(fathom, command, rate, seconds, recording):
    """[(CPU ns of a turn bare, CPU ns of one that is recorded)]"""
    both = start(command), start([fathom, "record", "-q", "-r", str(rate), "-o", recording, "--", *command])
    pairs = []
    for _ in range(WARM_UP):
        for process in both:
            turn(process)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        took = [0, 0]
        for which in random.sample((0, 1), 2):
            took[which] = turn(both[which])
        pairs.append(took)
    for process in both:
        process.stdin.close()
        process.wait()
    return pairs


def line_of(fathom, name, pairs, rate, recording):
    report = subprocess.run([fathom, "report", recording, "--json"], check=True, capture_output=True)
    head = json.loads(report.stdout)["recording"]
    ratios = [recorded / bare for bare, recorded in pairs]
    by_sums = 1 - sum(bare for bare, _ in pairs) / sum(recorded for _, recorded in pairs)
    return [f"{name}, {rate} Hz", str(len(pairs)), f"{sum(bare for bare, _ in pairs) / len(pairs) / 1e6:.1f} ms",
            f"{100 * (1 - 1 / statistics.median(ratios)):.1f} ± {100 * standard_error(ratios):.1f} %",
            f"{100 * by_sums:.1f} %", f"{100 * head['sampling_cost_ns'] / head['kernel_cpu_ns']:.1f} %"]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fathom", default=os.environ.get("FATHOM", "fathom"), help="the program to measure")
    parser.add_argument("--programs", default="native,python,ruby", help="which (%(default)s)")
    parser.add_argument("--rates", default="200,1000,10000", help="samples in a second (%(default)s)")
    parser.add_argument("--seconds", type=float, default=30, help="for each (%(default)s)")
    parser.add_argument("--markdown", action="store_true", help="print tables in Markdown")
    return parser.parse_args()


def main():
    options = parse_arguments()
    fathom = os.path.abspath(shutil.which(options.fathom) or options.fathom)
    lines = []
    with tempfile.TemporaryDirectory(prefix="fathom-bench-") as folder:
        known = commands(folder)
        recording = os.path.join(folder, "x.fathom")
        for rate in options.rates.split(","):
            for name in options.programs.split(","):
                pairs = measure(fathom, known[name], int(rate), options.seconds, recording)
                lines.append(line_of(fathom, name, pairs, rate, recording))
    print(run.text_of_table(run.machine(), ["program", "pairs", "turn", "measured", "by sums", "reported"], lines,
                            options.markdown))


if __name__ == "__main__":
    sys.exit(main())
