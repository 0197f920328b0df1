#!/usr/bin/env python3
"""storms - what recording programs that start many processes costs, beside perf, in one run.

  subshells   a shell forks 1,000 times; no child executes a program
  true        a shell runs /bin/true 500 times
  compile     a shell compiles a small C file 60 times, with a grep and a sed each

Each round runs the bare program and then every profiler once, so that a machine that changes its
pace changes it for all.  Printed are medians of the ratios to the bare run of the same round.

  slow-down   the program's wall time
  whole       wall time until the profiler has ended, too
  its CPU     CPU time of the program and all that it starts
  all CPU     CPU time of everything, the profiler's processes included
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import run

SUBSHELLS = "i=0; while [ $i -lt {count} ]; do (:); i=$((i+1)); done"
TRUE = "i=0; while [ $i -lt {count} ]; do /bin/true; i=$((i+1)); done"
COMPILE = """i=0
while [ $i -lt {count} ]; do
	gcc -O1 -c -o {folder}/small.o {folder}/small.c
	grep -c return {folder}/small.c
	sed -e s/total/sum/ {folder}/small.c
	i=$((i+1))
done"""
SMALL_C = """#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int total(const int *numbers, int count)
{
	int sum = 0;

	for (int i = 0; i < count; i++)
		sum += numbers[i];
	return sum;
}

int main(int argc, char **argv)
{
	int numbers[16] = { argc };

	memset(numbers + 1, 0, sizeof numbers - sizeof *numbers);
	printf("%s %d\\n", argv[0], total(numbers, 16));
	return EXIT_SUCCESS;
}
"""
PROGRAMS = {"subshells": (SUBSHELLS, 1000), "true": (TRUE, 500), "compile": (COMPILE, 60)}
PROFILERS = ("bare", "fathom", "perf -g")
COLUMNS = (("slow-down", "wall_s"), ("whole", "whole_s"), ("its CPU", "cpu_s"), ("all CPU", "all_cpu_s"))


def command_of(bench, program, part):
    script, count = PROGRAMS[program]
    script = script.format(count=max(count // part, 1), folder=bench.folder)
    return ["sh", "-c", script]


def run_once(bench, profiler, rate, command):
    bench.clear()
    front = list(run.PROFILERS[profiler](bench, rate)[0])
    if profiler == "fathom":  # perf record shows no report, either
        front.insert(front.index("record") + 1, "-q")
    times = bench.path("times")
    begin_ns = time.monotonic_ns()
    with open(bench.path("output"), "w+b") as output:
        child = subprocess.Popen([*front, bench.path("stamp"), times, *command], stdin=subprocess.DEVNULL,
                                 stdout=subprocess.DEVNULL, stderr=output)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        whole_s = (time.monotonic_ns() - begin_ns) / 1e9
        output.seek(0)
        text = output.read().decode(errors="replace")
    if child.returncode != 0:
        raise RuntimeError(f"{profiler} ended with {child.returncode}: {text[-600:]}")
    with open(times) as file:
        first_ns, last_ns, cpu_ns = map(int, file.read().split())
    return {"wall_s": (last_ns - first_ns) / 1e9, "whole_s": whole_s, "cpu_s": cpu_ns / 1e9,
            "all_cpu_s": usage.ru_utime + usage.ru_stime}


def measure(bench, program, profilers, options):
    command = command_of(bench, program, options.part)
    rounds = []
    for number in range(options.rounds + 1):
        results = {profiler: run_once(bench, profiler, options.rate, command) for profiler in profilers}
        if number > 0:  # the first round warms the caches
            rounds.append(results)
    return rounds


def table(program, rounds, profilers, is_markdown):
    bare_s = statistics.median(results["bare"]["wall_s"] for results in rounds)
    lines = [[profiler, *(f"{run.median_of(rounds, profiler, what, 'bare'):.2f}" for _, what in COLUMNS)]
             for profiler in profilers]
    return run.text_of_table(f"{program} (bare: {bare_s:.2f} s)", ["profiler", *(head for head, _ in COLUMNS)], lines,
                             is_markdown)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fathom", default=os.environ.get("FATHOM", "fathom"), help="the program to measure")
    parser.add_argument("--programs", default=",".join(PROGRAMS), help="which (%(default)s)")
    parser.add_argument("--profilers", default=",".join(PROFILERS), help="which (%(default)s)")
    parser.add_argument("--rate", type=int, default=1000, help="samples a second (%(default)s)")
    parser.add_argument("--rounds", type=int, default=9, help="runs of each (%(default)s)")
    parser.add_argument("--part", type=int, default=1, help="start only so much less: 10 for a tenth")
    parser.add_argument("--markdown", action="store_true", help="print tables in Markdown")
    parser.add_argument("--json", metavar="FILE", help="also write every single measurement")
    return parser.parse_args()


def main():
    options = parse_arguments()
    asked = ["bare", *(name for name in options.profilers.split(",") if name != "bare")]
    profilers = list(run.available(asked))
    everything = []
    print(f"# {run.machine()}; {options.rate} Hz, medians of {options.rounds}", flush=True)
    with tempfile.TemporaryDirectory(prefix="fathom-bench-") as folder:
        bench = run.Bench(folder, shutil.which(options.fathom) or options.fathom)
        with open(bench.path("small.c"), "w") as file:
            file.write(SMALL_C)
        for program in options.programs.split(","):
            rounds = measure(bench, program, profilers, options)
            print(table(program, rounds, profilers, options.markdown), flush=True)
            everything.append({"program": program, "rounds": rounds})
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"machine": run.machine(), "results": everything}, file, indent=1)


if __name__ == "__main__":
    sys.exit(main())
