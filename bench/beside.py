"""beside - programs of an interpreter under each profiler in turn, in one run: what its benches share.

Each round runs the bare program and then every profiler once, so that a machine that changes its pace
changes it for all.  Printed are medians, of ratios to the bare run of the same round where there is one.

  slow-down   the program's wall time, from its first line to its last
  its CPU     the program's own CPU time between them, handlers and interrupts in it included
  all CPU     CPU time of everything that was started, the profiler's processes included
  µs each     what its CPU time is more than the bare run's, for each sample taken inside the program
  kB          of what was recorded
  got         samples, of those asked for in that time
  named       samples with a function of the program's, of those it took
  impossible  samples with a caller that never calls that callee, on the program that knows (callgraph)
  thrown away samples that the profiler took and left out, of all that it took

The floor is an empty signal handler on fathom's trigger: nothing that traps can cost less.
"""

import argparse
import collections
import dataclasses
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

import run
import live  # run.py says where the tests' modules are
import live_interpreted

Place = collections.namedtuple("Place", "path name")

WALL, CPU = "wall_s", "cpu_s"
ENOUGH_SAMPLES = 1000


@dataclasses.dataclass
class Recorded:
    """How many samples there are, how many its profiler threw away, and [(frames, count)] if it shows any."""

    samples: int = 0
    thrown_away: int = 0
    stacks: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass(frozen=True)
class Peer:
    """A profiler: its command in front of the program, what it needs, and a reader of what it wrote."""

    name: str
    command: object         # (bench, interpreter, rate, output) -> [argument] in front of the program
    read: object            # (bench, output, said) -> Recorded
    why_not: object = lambda interpreter: None
    takes_rate: bool = True
    environment: object = lambda bench, rate, output: {}
    clock: str = WALL       # what its rate is of
    is_inside: bool = False # what it does is in the program's CPU time


@dataclasses.dataclass(frozen=True)
class Program:
    """What is run: its arguments are a file for its times, unless it has others, and the turns."""

    path: str
    takes_times: bool = True
    argument: str = ""
    rates: tuple = ()       # instead of those asked for
    function: str = ""      # samples without it are of threads that sleep
    judge: object = None    # (recorded, what the program printed) -> how many samples are impossible


class Bench(run.Bench):
    """A folder for what is recorded, and fathoms for the interpreters."""

    def __init__(self, folder, fathom, catalogue):
        super().__init__(folder, fathom)
        self.catalogue = catalogue

    def fathom_for(self, interpreter):
        if not self.catalogue.is_fetched(interpreter):
            return self.fathom
        copy = self.path(f"fathom-{interpreter.name}")
        if not os.path.exists(copy):
            self.catalogue.copy_fathom(interpreter, self.fathom, copy)
        return copy


# --- what each of them is compared with -----------------------------------------------------

def bare_command(bench, interpreter, rate, output):
    return interpreter.command()


def read_nothing(bench, output, said):
    return Recorded()


def read_floor(bench, output, said):
    with open(bench.path("traps")) as file:
        return Recorded(sum(map(int, file)))


def floor_environment(bench, rate, output):
    return {"LD_PRELOAD": bench.path("floor.so"), "FLOOR_PERIOD_NS": str(run.prime_period_ns(rate)),
            "FLOOR_COUNT": bench.path("traps")}


def fathom_command(bench, interpreter, rate, output):
    return [bench.fathom_for(interpreter), "record", "-q", "--rate", str(rate), "-o", output, "--",
            *interpreter.command()]


def fathom_reader(language):
    """Of recordings of programs in this language, by its number there."""
    def read(bench, output, said):
        done = subprocess.run([bench.fathom, "report", output, "--json"], capture_output=True, check=True)
        head = json.loads(done.stdout)["recording"]
        recording = live.Recording(output, None)
        stacks = live_interpreted.InterpretedStacks(recording, language)
        counts = recording.rows("SELECT stack, count(*) FROM samples GROUP BY stack")
        return Recorded(head["samples"], head["lost"],
                        [([Place(frame.path, frame.name) for frame in stacks.walk(stack)][::-1], count)
                         for stack, count in counts])
    return read


def fathom_peer(language):
    return Peer("fathom", fathom_command, fathom_reader(language), clock=CPU, is_inside=True)


def perf_command(bench, interpreter, rate, output):
    return ["perf", "record", "-F", str(rate), "-g", "-o", output, "--", *interpreter.command()]


def read_perf(bench, output, said):
    match = re.search(r"\(~?(\d+) samples\)", said)
    return Recorded(int(match[1]) if match else 0)


def needs_perf(interpreter):
    return None if shutil.which("perf") else "perf is not installed"


BARE = Peer("bare", bare_command, read_nothing, takes_rate=False)
FLOOR = Peer("floor", bare_command, read_floor, environment=floor_environment, clock=CPU, is_inside=True)
PERF = Peer("perf -g", perf_command, read_perf, needs_perf, clock=CPU, is_inside=True)


def by_name(*peers):
    return {peer.name: peer for peer in peers}


# --- one run --------------------------------------------------------------------------------

def execute(bench, peer, interpreter, program, rate, turns):
    """(what it and its profiler said, what it printed, CPU time of all that was started)"""
    output = bench.path("recorded")
    for path in (output, output + ".txt", bench.path("times"), bench.path("traps")):
        if os.path.exists(path):
            os.unlink(path)
    first = bench.path("times") if program.takes_times else program.argument
    command = [*peer.command(bench, interpreter, rate, output), program.path, first,
               *([str(turns)] if turns and program.takes_times else [])]
    environment = peer.environment(bench, rate, output)
    # A preloaded sampler goes into the program alone.
    if environment:
        command = ["env", *(f"{name}={value}" for name, value in environment.items()), *command]
    with open(bench.path("said"), "w+") as said, open(bench.path("printed"), "w+") as printed:
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=printed, stderr=said,
                                 env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "LC_ALL": "C.UTF-8"})
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        for file in (said, printed):
            file.seek(0)
        text, output = said.read(), printed.read()
    if child.returncode != 0:
        raise RuntimeError(f"{peer.name} on {program.path} ended with {child.returncode}: {text[-400:]}")
    return text, output, usage.ru_utime + usage.ru_stime


def only_with(recorded, function):
    """The samples that have this function."""
    stacks = [(frames, count) for frames, count in recorded.stacks
              if any(function in re.split(r"\W+", frame.name) for frame in frames)]
    return Recorded(sum(count for _, count in stacks), recorded.thrown_away, stacks)


def shares(recorded, program, printed):
    """What the stacks show."""
    if not recorded.samples or not recorded.stacks:
        return {}
    file = os.path.basename(program.path)
    named = sum(count for frames, count in recorded.stacks
                if any(os.path.basename(frame.path) == file for frame in frames))
    result = {"named": named / recorded.samples,
              "thrown_away": recorded.thrown_away / (recorded.samples + recorded.thrown_away)}
    if program.judge:
        result["impossible"] = program.judge(recorded, printed) / recorded.samples
    return result


def run_once(bench, peer, interpreter, program, rate, turns):
    said, printed, all_cpu_s = execute(bench, peer, interpreter, program, rate, turns)
    output = bench.path("recorded")
    result = {"all_cpu_s": all_cpu_s}
    if os.path.exists(output):
        result["bytes"] = os.path.getsize(output)
    recorded = peer.read(bench, output, printed + said)
    result.update(shares(recorded, program, printed))
    if program.function and recorded.stacks:
        recorded = only_with(recorded, program.function)
    if recorded.samples:
        result["samples"] = recorded.samples
    if program.takes_times:
        with open(bench.path("times")) as file:
            begin_ns, end_ns, cpu_ns = map(int, file.read().split())
        result.update(wall_s=(end_ns - begin_ns) / 1e9, cpu_s=cpu_ns / 1e9)
        if recorded.samples:
            # Samplers of wall time are asked for more than those of CPU time where the machine is busy.
            result["got"] = recorded.samples / (rate * result[peer.clock])
    return result


def measure(bench, peers, interpreter, program, rate, options):
    rounds, broken = [], set()
    for number in range(options.rounds + 1):
        results = {}
        for peer in peers:
            if peer.name in broken:
                continue
            try:
                results[peer.name] = run_once(bench, peer, interpreter, program, rate, options.turns)
            except (RuntimeError, OSError, StopIteration, ValueError, subprocess.CalledProcessError) as failure:
                print(f"# {failure}", file=sys.stderr)
                broken.add(peer.name)
        add_costs(peers, results)
        if number > 0:  # the first round warms the caches
            rounds.append(results)
    return rounds


def add_costs(peers, results):
    bare_s = results["bare"].get("cpu_s")
    for peer in peers:
        result = results.get(peer.name, {})
        # Of fewer it would be the machine's moods.
        if bare_s and peer.is_inside and result.get("samples", 0) >= ENOUGH_SAMPLES:
            result["each_us"] = (result["cpu_s"] - bare_s) * 1e6 / result["samples"]


# --- tables ---------------------------------------------------------------------------------

COLUMNS = (("slow-down", "wall_s", True, "{:.3f}"), ("its CPU", "cpu_s", True, "{:.3f}"),
           ("all CPU", "all_cpu_s", True, "{:.3f}"), ("µs each", "each_us", False, "{:.1f}"),
           ("kB", "bytes", False, "{:.0f}"), ("samples", "samples", False, "{:.0f}"),
           ("got", "got", False, "{:.1%}"), ("named", "named", False, "{:.1%}"),
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
    return run.text_of_table(title, ["profiler", *(column[0] for column in columns)], lines, is_markdown)


# --- the command ----------------------------------------------------------------------------

def available(peers, names, interpreter):
    for name in names:
        why_not = peers[name].why_not(interpreter)
        if why_not:
            print(f"# {name}: left out on {interpreter.name}: {why_not}", file=sys.stderr)
        else:
            yield peers[name]


def parse_arguments(description, kind, default, peers, programs):
    """`kind` is that of the interpreters: pythons."""
    parser = argparse.ArgumentParser(description=f"{description}\n\n{__doc__}",
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fathom", default=os.environ.get("FATHOM", "fathom"), help="the program to measure")
    parser.add_argument(f"--{kind}", dest="interpreters", metavar="NAMES", default=default,
                        help=f"by tests/live/{kind}.py (%(default)s)")
    parser.add_argument("--profilers", default=",".join(peers), help="which (%(default)s)")
    parser.add_argument("--programs", default=",".join(programs), help="which (%(default)s)")
    parser.add_argument("--rates", default="100,1000,10000", help="samples a second (%(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each (%(default)s)")
    parser.add_argument("--turns", type=int, help="how much the programs do")
    parser.add_argument("--markdown", action="store_true", help="print tables in Markdown")
    parser.add_argument("--json", metavar="FILE", help="also write every single measurement")
    parser.add_argument("--fetch", action="store_true", help="fetch the peers, and do nothing else")
    return parser.parse_args()


def each_run(options, interpreters, programs):
    """(interpreter, name of the program, rate)"""
    there = {found.name: found for found in interpreters if found.is_there}
    for name in options.interpreters.split(","):
        if name not in there:
            print(f"# {name}: left out, it is not there", file=sys.stderr)
            continue
        for program in options.programs.split(","):
            for rate in programs[program].rates or map(int, options.rates.split(",")):
                yield there[name], program, rate


def bench_all(options, bench, interpreters, peers, programs):
    names = ["bare", *(name for name in options.profilers.split(",") if name != "bare")]
    chosen = {}
    for interpreter, program, rate in each_run(options, interpreters, programs):
        if interpreter.name not in chosen:
            chosen[interpreter.name] = list(available(peers, names, interpreter))
        # What takes as long as it is asked to shows nothing of what has no rate.
        taken = [peer for peer in chosen[interpreter.name]
                 if peer.name == "bare" or peer.takes_rate or programs[program].takes_times]
        rounds = measure(bench, taken, interpreter, programs[program], rate, options)
        title = f"{program}, {interpreter.name}, {rate} Hz"
        print(table(title, rounds, [peer.name for peer in taken], options.markdown), flush=True)
        yield {"program": program, "interpreter": interpreter.name, "rate_hz": rate, "rounds": rounds}


def main(options, catalogue, interpreters, peers, programs):
    """`catalogue` has is_fetched(interpreter) and copy_fathom(interpreter, fathom, copy)."""
    print(f"# {run.machine()}; medians of {options.rounds}", flush=True)
    with tempfile.TemporaryDirectory(prefix="fathom-bench-") as folder:
        bench = Bench(folder, shutil.which(options.fathom) or options.fathom, catalogue)
        everything = list(bench_all(options, bench, interpreters, peers, programs))
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"machine": run.machine(), "results": everything}, file, indent=1)
