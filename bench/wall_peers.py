"""wall_peers - fathom's wall clock beside other tools, on programs that know their waits.

Of each thread, the share of its life in which it waited, as a tool shows it, beside what the program measured:

- fathom: its states but running and runnable;
- a tool that leaves out threads that wait (py-spy, Tachyon's cpu mode): what has no sample;
- a tool that samples each thread always (py-spy --idle, austin, Tachyon's wall mode): the samples whose innermost
  line is a call that waits, as a reader of its output would take them;
- a tool's samples with the GIL (--gil): beside how long the thread ran;
- perf sched: all but the time that the thread ran, beside all that it did not run.

py-spy and austin come with `bench/run python --fetch`, Tachyon is CPython 3.15's profiling.sampling
(tests/live/pythons.py --fetch).
"""

import dataclasses
import json
import linecache
import os
import re
import subprocess
import tempfile

import live_python
import live_ruby
import live_wall
import python_peers
import ruby_peers

WORKLOADS = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "tests", "workloads")
PYTHON_PROGRAM = os.path.join(WORKLOADS, "python", "known_waits.py")
RUBY_PROGRAM = os.path.join(WORKLOADS, "ruby", "known_waits.rb")
SECONDS, RATE = 5, 100
WAITS = re.compile(r"with lock|time\.sleep|os\.(read|preadv|pwrite|fsync|waitpid)\(|\.poll\(|word\.acquire")


def waited(true):
    return 1 - (true["running"] + true["runnable"]) / true["life"]


def ran(true):
    return true["running"] / true["life"]


def did_not_run(true):
    return 1 - ran(true)


@dataclasses.dataclass
class Peer:
    """said() is {thread: share}, true() the same share of one thread by its own account."""

    name: str
    command: object  # of a folder, which comes before the program
    said: object     # of the folder and the truth
    true: object = waited
    why_not: str = ""


# --- what they print -------------------------------------------------------------------------

def fathom_command(folder):
    return [live_wall.live.FATHOM, "record", "-q", "--clock", "wall", "--rate", str(RATE), "-o", f"{folder}/said", "--"]


def fathom_said(folder, truth):
    recording = live_wall.live.Recording(f"{folder}/said", None)
    return {name: 1 - (states.get("running", 0) + states.get("runnable", 0)) / life
            for name, life, states in live_wall.threads_of(recording)}


def is_waiting_line(place, line):
    """place: file.py, function"""
    file, function = place
    if os.path.basename(file) == "threading.py":
        return function in ("acquire", "wait")
    return bool(WAITS.search(linecache.getline(PYTHON_PROGRAM, line)))


def by_number(truth):
    return {number: name for name, true in truth.items() for number in true.get("ids", ())}


def shares(counts, truth, second=RATE):
    """Of samples, or of other units of which a second has so many."""
    return {name: counts.get(name, 0) / second / (true["life"] / 1e9) for name, true in truth.items()}


def pyspy_samples(folder, truth):
    """thread (0x7F…): "gil-0";main (file.py:7);f (file.py:3) 12"""
    with open(f"{folder}/said", errors="replace") as file:
        for text in file:
            thread = re.match(r'thread \([^)]*\):? ?"?([^";]*)"?;', text)
            leaf = re.search(r"([^;]*) \(([^();]*):(\d+)\) (\d+)$", text)
            count = int(text.rpartition(" ")[2])
            yield thread[1] if thread else "", leaf and is_waiting_line((leaf[2], leaf[1]), int(leaf[3])), count


def austin_samples(folder, truth):
    """P1;T0:1;file.py:main:7;file.py:f:3 9999, in us"""
    names = by_number(truth)
    for stack, us in python_peers.austin_stacks(f"{folder}/said"):
        number = re.match(r"P\d+;T(?:\d+:)?(\w+)", stack)
        leaf = stack.rpartition(";")[2].rsplit(":", 2)
        is_waiting = len(leaf) == 3 and is_waiting_line(leaf[:2], int(leaf[2]))
        yield names.get(int(number[1]) if number else 0, ""), is_waiting, us


def tachyon_samples(folder, truth):
    """tid:1;file.py:main:7;file.py:f:3 12"""
    names = by_number(truth)
    with open(f"{folder}/said") as file:
        for text in file:
            stack, _, count = text.rpartition(" ")
            leaf = stack.rpartition(";")[2].rsplit(":", 2)
            is_waiting = len(leaf) == 3 and is_waiting_line(leaf[:2], int(leaf[2]))
            yield names.get(int(stack.partition(";")[0].removeprefix("tid:")), ""), is_waiting, int(count)


def has_sample(samples_of):
    """The share of a thread's life that has samples, by the rate that was asked for."""
    def said(folder, truth):
        counts = {}
        for name, _, count in samples_of(folder, truth):
            counts[name] = counts.get(name, 0) + count
        return shares(counts, truth)
    return said


def has_no_sample(samples_of):
    return lambda folder, truth: {name: 1 - share for name, share in has_sample(samples_of)(folder, truth).items()}


def is_at_a_wait(samples_of):
    """Of a thread's samples, those at a call that waits."""
    def said(folder, truth):
        waits, every = {}, {}
        for name, is_waiting, count in samples_of(folder, truth):
            every[name] = every.get(name, 0) + count
            waits[name] = waits.get(name, 0) + (count if is_waiting else 0)
        return {name: waits[name] / every[name] for name in truth if every.get(name)}
    return said


# Its stacks name no threads: where each has a function of its own, that shows which it is.
RUBY_FUNCTIONS = {"sleeps": "sleep", "reads_pipe": "pipe", "pops": "queue", "selects": "select", "syncs": "fsync",
                  "waits_for_child": "child"}


def rbspy_said(folder, truth):
    """<main> - file.rb:7;f - file.rb:3 12; which of the samples show a wait is not in them: as if all did"""
    counts = {}
    with open(f"{folder}/said", errors="replace") as file:
        for text in file:
            stack, _, count = text.rpartition(" ")
            functions = {frame.partition(" - ")[0] for frame in stack.split(";")}
            for name in {RUBY_FUNCTIONS[function] for function in functions & RUBY_FUNCTIONS.keys()}:
                counts[name] = counts.get(name, 0) + int(count)
    return shares(counts, truth) if counts else {}


def sched_said(folder, truth):
    """gil-0[1234]  1230  56  812.4 …: the time that it ran, in ms"""
    done = subprocess.run(["perf", "sched", "timehist", "-s", "-i", f"{folder}/said"], capture_output=True, text=True)
    found = {}
    for text in done.stdout.splitlines():
        row = re.match(r"\s*(\S+)\[\d+(?:/\d+)?\]\s+\S+\s+\d+\s+([\d.]+)", text)
        if row and row[1] in truth:
            found[row[1]] = 1 - float(row[2]) * 1e6 / truth[row[1]]["life"]
    return found


# --- which they are --------------------------------------------------------------------------

def pyspy_command(*options):
    return lambda folder: [python_peers.tool("py-spy"), "record", "-r", str(RATE), "-f", "raw", "-o",
                           f"{folder}/said", "--threads", *options, "--"]


def pyspy(options, said, true=waited):
    why_not = python_peers.needs_tool("py-spy")(None) or ""
    return Peer(" ".join(("py-spy", *options)), pyspy_command(*options), said(pyspy_samples), true, why_not)


def tachyon(mode, said, true=waited):
    return Peer(f"Tachyon, {mode} mode", lambda folder: ["-m", "profiling.sampling", "run", "-r", str(RATE), "-a",
                                                         "--mode", mode, "--collapsed", "-o", f"{folder}/said"],
                said(tachyon_samples), true)


FATHOM = Peer("fathom", fathom_command, fathom_said)
PERF = Peer("perf sched", lambda folder: ["perf", "sched", "record", "-q", "-o", f"{folder}/said", "--"], sched_said,
            did_not_run)


def python_peers_here():
    austin = Peer("austin", lambda folder: [python_peers.austin_path(), "-i", f"{1000000 // RATE}us", "-o",
                                            f"{folder}/said"], is_at_a_wait(austin_samples),
                  why_not=python_peers.austin_why_not(None) or "")
    return [FATHOM, pyspy((), has_no_sample), pyspy(("--idle",), is_at_a_wait), pyspy(("--gil",), has_sample, ran),
            austin, PERF]


def tachyon_peers():
    return [FATHOM, tachyon("wall", is_at_a_wait), tachyon("cpu", has_no_sample), tachyon("gil", has_sample, ran)]


def ruby_peers_here():
    rbspy = Peer("rbspy", lambda folder: [str(ruby_peers.RBSPY), "record", "--silent", "--rate", str(RATE), "--format",
                                          "collapsed", "--file", f"{folder}/said", "--"], rbspy_said,
                 why_not=ruby_peers.rbspy_why_not(None) or "")
    return [FATHOM, PERF, rbspy,
            Peer("Vernier", None, None, why_not="a gem that has to be built, for Ruby 3.2 or later")]


# --- the table -------------------------------------------------------------------------------

def cells_of(peer, interpreter, program, kind):
    """Points off, in the mean over the threads and at most."""
    with tempfile.TemporaryDirectory() as folder:
        own = peer.command(folder)
        command = [interpreter, *own] if own[0] == "-m" else [*own, interpreter]
        done = subprocess.run([*command, program, kind, str(SECONDS), f"{folder}/file"], capture_output=True, text=True)
        try:
            truth = json.loads([text for text in done.stdout.splitlines() if text.startswith("{")][-1])["threads"]
            said = peer.said(folder, truth)
        except (IndexError, OSError, ValueError, subprocess.CalledProcessError) as error:
            return f"failed: {error} {done.stderr[-300:]}"
    errors = [abs(said[one] - peer.true(true)) for one, true in truth.items() if one in said]
    missing = len(truth) - len(errors)
    if not errors:
        return "no thread"
    found = f"{100 * sum(errors) / len(errors):.1f}, {100 * max(errors):.1f}"
    return found + (f"; {missing} of {len(truth)} threads missing" if missing else "")


def table(what, interpreter, program, kinds, peers):
    print(f"\n| {what} | {' | '.join(kinds)} |\n|{'---|' * (1 + len(kinds))}", flush=True)
    for peer in peers:
        if peer.why_not:
            print(f"| {peer.name} | {peer.why_not} |{' |' * (len(kinds) - 1)}", flush=True)
            continue
        cells = [cells_of(peer, interpreter, program, kind) for kind in kinds]
        print(f"| {peer.name} | {' | '.join(cells)} |", flush=True)


def newest(interpreters, version):
    return next((one for one in interpreters if one.is_there and one.version >= version), None)


def beside_others():
    newer = newest(live_python.EVERY_PYTHON, (3, 15))
    table("Python 3.11", "/usr/bin/python3", PYTHON_PROGRAM, ("alone", "gil", "lock"), python_peers_here())
    if newer is None:
        print("Tachyon needs CPython 3.15: tests/live/pythons.py --fetch")
    else:
        table("Python 3.15", newer.path, PYTHON_PROGRAM, ("alone", "gil", "lock"), tachyon_peers())
    table("Ruby", "/usr/bin/ruby", RUBY_PROGRAM, ("alone", "gvl", "lock"), ruby_peers_here())
