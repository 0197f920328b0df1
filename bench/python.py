#!/usr/bin/env python3
"""python - what recording Python programs costs, and what it gets: fathom beside its peers, in one run.

Each round runs the bare program and then every profiler once, so that a machine that changes its pace
changes it for all.  Printed are medians, of ratios to the bare run of the same round where there is one.

  slow-down   the program's wall time, from its first line to its last
  its CPU     the program's own CPU time between them, handlers and interrupts in it included
  all CPU     CPU time of everything that was started, the profiler's processes included
  kB          of what was recorded
  got         samples, of those asked for in that time
  impossible  samples with a caller that never calls that callee, on the program that knows (callgraph)
  thrown away samples that the profiler took and left out, of all that it took

The programs: mixed (primes, sorting with a key, recursion, JSON, re, zlib), threads (158 asleep and one that
computes) and callgraph (tests/workloads/python).  The floor is an empty signal handler on fathom's trigger:
nothing that traps can cost less.
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
from python_peers import PEERS, Recorded, fetch, live_python, pythons

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = {"mixed": os.path.join(HERE, "python", "mixed.py"),
            "threads": os.path.join(HERE, "python", "many_threads.py"),
            "callgraph": str(live_python.WORKLOADS / "callgraph.py")}
CALLGRAPH_MS = 4000
BEGINNING = "callgraph.py:<module>"
LIMIT_S = 600


class PythonBench(run.Bench):
    """A folder for what is recorded, and fathoms for the interpreters."""

    def __init__(self, folder, fathom):
        super().__init__(folder, fathom)
        self.copies = {}

    def period_ns(self, rate):
        return run.prime_period_ns(rate)

    def fathom_for(self, python):
        if not pythons.is_fetched(python):
            return self.fathom
        if "fathom" not in self.copies:
            self.copies["fathom"] = self.path("fathom")
            pythons.copy_fathom(self.fathom, self.path("fathom"))
        return self.copies["fathom"]


def place_of(frame):
    # Qualified names, where a profiler has them, end in the plain one.
    return f"{os.path.basename(frame.path)}:{frame.name.rpartition('.')[2]}"


def count_impossible(recorded, truth):
    """Samples with a pair of caller and callee that the program says it does not have."""
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


def run_once(bench, peer, python, program, rate, amount):
    output, times = bench.path("recorded"), bench.path("times")
    for path in (output, times, bench.path("traps"), output + ".txt"):
        if os.path.exists(path):
            os.unlink(path)
    first = str(CALLGRAPH_MS) if program == "callgraph" else times
    command = [*peer.command(bench, python, rate, output), PROGRAMS[program], first, *amount]
    environment = peer.environment(bench, rate)
    if environment:
        command = ["env", *(f"{name}={value}" for name, value in environment.items()), *command]
    with open(bench.path("said"), "w+") as said, open(bench.path("printed"), "w+") as printed:
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=printed, stderr=said,
                                 env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "LC_ALL": "C.UTF-8"})
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        for file in (said, printed):
            file.seek(0)
        told, text = printed.read(), said.read()
    if child.returncode != 0:
        raise RuntimeError(f"{peer.name} on {program} ended with {child.returncode}: {text[-400:]}")
    result = {"all_cpu_s": usage.ru_utime + usage.ru_stime}
    recorded = peer.read(bench, output, told + text) or Recorded()
    if os.path.exists(output):
        result["bytes"] = os.path.getsize(output)
    if program == "callgraph":
        truth = next(json.loads(line) for line in told.splitlines() if line.startswith("{"))
        taken = recorded.samples + recorded.thrown_away
        if recorded.stacks:
            result["impossible"] = count_impossible(recorded, truth) / recorded.samples
            result["thrown_away"] = recorded.thrown_away / taken
            result["samples"] = recorded.samples
        return result
    with open(times) as file:
        begin_ns, end_ns, cpu_ns = map(int, file.read().split())
    result.update(wall_s=(end_ns - begin_ns) / 1e9, cpu_s=cpu_ns / 1e9)
    if program == "threads" and recorded.stacks:
        # Some take the threads that sleep as well.
        recorded.samples = sum(count for frames, count in recorded.stacks
                               if any(frame.name == "compute" for frame in frames))
    if recorded.samples:
        # Samplers of wall time are asked for more than those of CPU time where the machine is busy.
        asked = rate * (result["cpu_s"] if peer.name in ("fathom", "floor") else result["wall_s"])
        result.update(samples=recorded.samples, got=recorded.samples / asked)
    return result


COLUMNS = (("slow-down", "wall_s", True, "{:.3f}"), ("its CPU", "cpu_s", True, "{:.3f}"),
           ("all CPU", "all_cpu_s", True, "{:.3f}"), ("kB", "bytes", False, "{:.0f}"),
           ("samples", "samples", False, "{:.0f}"), ("got", "got", False, "{:.1%}"),
           ("impossible", "impossible", False, "{:.3%}"), ("thrown away", "thrown_away", False, "{:.2%}"))


def median_of(rounds, name, what, is_ratio):
    values = []
    for results in rounds:
        value, bare = results.get(name, {}).get(what), results["bare"].get(what)
        if value is not None and (bare or not is_ratio):
            values.append(value / bare if is_ratio else value)
    return statistics.median(values) if values else None


def table(title, rounds, names, is_markdown):
    columns = [column for column in COLUMNS
               if any(column[1] in results.get(name, {}) for results in rounds for name in names)]
    if "wall_s" not in rounds[0]["bare"]:
        # A program that runs for a given time is not slowed down.
        columns = [column for column in columns if not column[2]]
    lines = []
    for name in names:
        cells = []
        for _, what, is_ratio, shape in columns:
            value = median_of(rounds, name, what, is_ratio)
            cells.append("" if value is None else shape.format(value / 1000 if what == "bytes" else value))
        lines.append([name, *cells])
    head = ["profiler", *(column[0] for column in columns)]
    return run.text_of_table(title, head, lines, is_markdown)


def measure(bench, peers, python, program, rate, options):
    rounds, broken = [], set()
    amount = [] if program == "callgraph" or not options.turns else [str(options.turns)]
    for number in range(options.rounds + 1):
        results = {}
        for peer in peers:
            if peer.name in broken:
                continue
            try:
                results[peer.name] = run_once(bench, peer, python, program, rate, amount)
            except (RuntimeError, OSError, StopIteration, ValueError, subprocess.CalledProcessError) as failure:
                print(f"# {failure}", file=sys.stderr)
                broken.add(peer.name)
        if number > 0:  # the first round warms the caches
            rounds.append(results)
    return rounds


def available(names, python):
    for name in names:
        why_not = PEERS[name].why_not(python)
        if why_not:
            print(f"# {name}: left out on {python.name}: {why_not}", file=sys.stderr)
        else:
            yield PEERS[name]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fathom", default=os.environ.get("FATHOM", "fathom"), help="the program to measure")
    parser.add_argument("--pythons", default="debian-3.11,sid-3.15", help="by tests/live/pythons.py (%(default)s)")
    parser.add_argument("--profilers", default=",".join(PEERS), help="which (%(default)s)")
    parser.add_argument("--programs", default=",".join(PROGRAMS), help="which (%(default)s)")
    parser.add_argument("--rates", default="100,1000,10000", help="samples a second (%(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each (%(default)s)")
    parser.add_argument("--turns", type=int, help="how much the programs do")
    parser.add_argument("--markdown", action="store_true", help="print tables in Markdown")
    parser.add_argument("--json", metavar="FILE", help="also write every single measurement")
    parser.add_argument("--fetch", action="store_true", help="fetch the peers from PyPI, and do nothing else")
    return parser.parse_args()


def main():
    options = parse_arguments()
    if options.fetch:
        fetch()
        return
    everything = []
    print(f"# {run.machine()}; medians of {options.rounds}", flush=True)
    there = {python.name: python for python in pythons.every_python() if python.is_there}
    names = ["bare", *(name for name in options.profilers.split(",") if name != "bare")]
    with tempfile.TemporaryDirectory(prefix="fathom-bench-") as folder:
        bench = PythonBench(folder, shutil.which(options.fathom) or options.fathom)
        for python in (there[name] for name in options.pythons.split(",") if name in there):
            peers = list(available(names, python))
            for program in options.programs.split(","):
                # With threads asleep, it is how many there are that costs.
                for rate in [100] if program == "threads" else map(int, options.rates.split(",")):
                    chosen = [peer for peer in peers if peer.takes_rate or program != "callgraph"]
                    chosen = peers[:1] + [peer for peer in chosen if peer.name != "bare"]
                    rounds = measure(bench, chosen, python, program, rate, options)
                    title = f"{program}, {python.name}, {rate} Hz"
                    print(table(title, rounds, [peer.name for peer in chosen], options.markdown), flush=True)
                    everything.append({"program": program, "python": python.name, "rate_hz": rate, "rounds": rounds})
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"machine": run.machine(), "results": everything}, file, indent=1)


if __name__ == "__main__":
    main()
