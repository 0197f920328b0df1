#!/usr/bin/env python3
"""trace - what counting every call costs: fathom beside cProfile, yappi, viztracer, ruby-prof and uftrace, in one run.

For each interpreter, and each flag of the compiler, the first table has nanoseconds that a call of an empty function takes
longer than in the bare program, by the program's own clock.

  bare        a call in the bare program
  floor       the interpreter's documented hooks with an empty callback that reads the clock (an entry and an exit)
  fathom      by the wall clock, and what it is of its peer's; (±) half of what the rounds differ by
  cpu         fathom trace --clock cpu
  aim         what it shall be of the peer's

The second one has how many times as long code takes that calls nothing, and how many times as long, in CPU time, a mixed
program does (parsing or primes, sorting with a key, recursion, JSON, re, zlib), and the kB that were written for that.

The tracers take turns in each round; medians of the rounds are shown, where a round's figure of a call is the least of many
short loops, which no other program on the machine has interrupted.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "tests", "live"))

import pythons  # noqa: E402  (modules of the tests)
import rubies  # noqa: E402
import tracers  # noqa: E402

# Tracers in the order of the tables; which of them is the peer is the subject's to say.
OURS = ("fathom", "fathom --clock cpu")
OTHERS = ("yappi", "viztracer")
TIMEOUT_S = 600


class Lost(Exception):
    """A tracer ran, and did not count what it should have."""


class Size:
    """How much is measured."""

    def __init__(self, is_quick, rounds):
        self.rounds = rounds or (1 if is_quick else 5)
        self.calls, self.loops = (5000, 20) if is_quick else (30000, 60)
        self.turns = ["1"] if is_quick else []


# --- one run --------------------------------------------------------------------------------

def execute(command, folder):
    done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
                          cwd=folder, timeout=TIMEOUT_S, check=False)
    if done.returncode != 0:
        raise Lost(f"exit code {done.returncode}: {done.stderr.decode(errors='replace')[-200:].strip()}")
    return done.stdout.decode()


def clear(output):
    for suffix in ("", "-wal", "-shm", ".old", ".json"):
        if os.path.isdir(output + suffix):
            shutil.rmtree(output + suffix)
        elif os.path.exists(output + suffix):
            os.unlink(output + suffix)


def check_counts(options, output, least):
    """Ours was there: as many calls as the program made, at least."""
    done = subprocess.run([options.fathom, "report", "--json", output], capture_output=True, check=False)
    head = json.loads(done.stdout)["recording"] if done.returncode == 0 else {"calls": 0, "notes": []}
    if head["calls"] < least:
        raise Lost(f"{head['calls']} calls of {least} were traced {head['notes']}")


def run_calls(options, subject, tracer, folder):
    """{kind of call, loop: nanoseconds}.  What else is printed comes behind it."""
    output, size = os.path.join(folder, "calls.out"), options.size
    clear(output)
    said = execute([*subject.tracers[tracer](folder, output), subject.programs[0], size.calls, size.loops], folder)
    if tracer in OURS:
        check_counts(options, output, size.calls * size.loops)
    found = json.loads(next(line for line in said.splitlines() if line.startswith("{")))
    return {key.removesuffix("_ns"): value for key, value in found.items()}


def run_mixed(options, subject, tracer, folder):
    """CPU time between the program's stamps, and the bytes that were written."""
    times, output = os.path.join(folder, "times"), os.path.join(folder, "mixed.out")
    clear(output)
    execute([*subject.tracers[tracer](folder, output), subject.programs[1], times, *options.size.turns], folder)
    with open(times, encoding="utf-8") as file:
        return {"mixed": int(file.read().split()[2]), "bytes": tracers.size_of(output)}


def measure(options, subject, folder):
    """{tracer: [figures of a round, ...]}; what cannot be measured is reported and left out."""
    found = {}
    names = [name for name in subject.tracers if not subject.why_not(name, folder)]
    for name in sorted(set(subject.tracers) - set(names)):
        tracers.say(f"# {subject.name}: {name}: {subject.why_not(name, folder)}")
    for _ in range(options.size.rounds):
        for name in list(names):
            try:
                figures = run_calls(options, subject, name, folder)
                # A call costs the floor what it costs: a program is slowed as the rest of the table says.
                figures.update({} if name == "floor" else run_mixed(options, subject, name, folder))
                found.setdefault(name, []).append(figures)
            except (Lost, subprocess.SubprocessError, OSError, ValueError, StopIteration) as failure:
                tracers.say(f"# {subject.name}: {name}: {failure}")
                names.remove(name)
                found.pop(name, None)
    return found


# --- the tables -----------------------------------------------------------------------------

class Figures:
    """Of one subject: medians over the rounds, each compared with the bare run of its round."""

    def __init__(self, found):
        self.found = found

    def rounds(self, tracer, of):
        return [of(row, bare) for row, bare in zip(self.found.get(tracer, ()), self.found["bare"])]

    def median(self, tracer, of):
        values = self.rounds(tracer, of)
        return statistics.median(values) if values else None

    def added(self, tracer, call):
        return self.median(tracer, lambda row, bare: row[call] - bare[call])

    def spread(self, tracer, call):
        values = self.rounds(tracer, lambda row, bare: row[call] - bare[call])
        return (max(values) - min(values)) / 2 if values else None

    def times(self, tracer, what):
        return self.median(tracer, lambda row, bare: row[what] / bare[what] if what in row else None)

    def bare(self, call):
        return statistics.median(row[call] for row in self.found["bare"])

    def kilobytes(self, tracer):
        return self.median(tracer, lambda row, bare: row["bytes"] / 1000)


def text(value, form="{:.0f}"):
    return "" if value is None else form.format(value)


def calls_row(subject, figures, key, call):
    ours, theirs = figures.added("fathom", key), figures.added(subject.peer, key)
    share = ours / theirs if ours is not None and theirs else None
    met = "" if share is None else "met" if share <= call.aim + 0.005 else "not met"
    peer = f"{subject.peer} {text(theirs)}" if theirs is not None else ""
    cells = [subject.name, call.what, text(figures.bare(key)), text(figures.added("floor", key)),
             text(ours) + text(figures.spread("fathom", key), " ± {:.0f}"),
             text(figures.added("fathom --clock cpu", key)), peer, text(share, "{:.2f}"), f"{call.aim:.2f}", met,
             *(text(figures.added(name, key)) for name in OTHERS)]
    return "| " + " | ".join(cells) + " |"


CALLS_HEAD = ("| | call of | bare, ns | floor | fathom | cpu | peer | of the peer's | aim | | " + " | ".join(OTHERS)
              + " |\n|" + "---|" * (10 + len(OTHERS)))


def mixed_row(subject, figures):
    columns = (*OURS, subject.peer, *OTHERS)
    loops = [text(figures.times(name, "loop"), "{:.2f}") if subject.has_loop else "" for name in columns[:3]]
    cells = [subject.name, *loops, *(text(figures.times(name, "mixed"), "{:.2f}") for name in columns),
             *(text(figures.kilobytes(name)) for name in (OURS[0], subject.peer, *OTHERS))]
    return "| " + " | ".join(cells) + " |"


MIXED_HEAD = ("| | loop: fathom | cpu | peer | mixed: fathom | cpu | peer | yappi | viztracer | kB: fathom | peer | yappi"
              " | viztracer |\n|" + "---|" * 13)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fathom", default=os.environ.get("FATHOM", "fathom"), help="the program to measure")
    parser.add_argument("--pythons", help="which interpreters, by the names of tests/live/pythons.py; '': none")
    parser.add_argument("--rubies", help="which interpreters, by the names of tests/live/rubies.py; '': none")
    parser.add_argument("--flags", help="which of the compiler's flags: --flags=-pg,-finstrument-functions; empty: none")
    parser.add_argument("--rounds", type=int, help="runs of each (5; 1 with --quick)")
    parser.add_argument("--quick", action="store_true", help="few calls: whether it runs, not what it costs")
    parser.add_argument("--fetch", action="store_true", help="fetch yappi and viztracer from PyPI, and end")
    options = parser.parse_args()
    options.fathom = os.path.abspath(options.fathom) if os.sep in options.fathom else options.fathom
    options.size = Size(options.quick, options.rounds)
    return options


def main():
    options = parse_arguments()

    def names(text_of_names):
        return None if text_of_names is None else text_of_names.split(",")
    chosen = tracers.chosen_of(pythons.every_python(), names(options.pythons), tracers.OLDEST_PYTHON)
    if options.fetch:
        tracers.fetch(chosen)
        return
    flags = [flag for flag in tracers.FLAGS if options.flags is None or flag in options.flags.split(",")]
    subjects = tracers.subjects(options.fathom, chosen, tracers.chosen_of(rubies.every_ruby(), names(options.rubies)), flags)
    rows = []
    print(f"{options.size.rounds} rounds\n\n{CALLS_HEAD}", flush=True)
    for subject in subjects:
        with tempfile.TemporaryDirectory(prefix="fathom-bench-") as folder:
            found = measure(options, subject, folder)
        if "bare" not in found:
            continue
        figures = Figures(found)
        for key, call in subject.calls.items():
            print(calls_row(subject, figures, key, call), flush=True)
        rows.append(mixed_row(subject, figures))
    print("\n" + "\n".join((MIXED_HEAD, *rows)))


if __name__ == "__main__":
    main()
