"""ruby_peers - profilers of Ruby programs: how each is run, and what it recorded.

stackprof is Debian's, for Debian's ruby.  rbspy comes from crates.io, into the folder of
tests/live/rubies.py in the cache: `bench/run ruby --fetch`.
"""

import json
import os
import subprocess

from beside import BARE, CPU, FLOOR, PERF, WALL, Peer, Place, Recorded, by_name, fathom_peer
import rubies  # run.py says where the tests' modules are

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = rubies.CACHE / "peers"
RBSPY = FOLDER / "bin" / "rbspy"
RBSPY_VERSION = "0.55.0"
# In recordings.
LANGUAGE = 2


def script(name):
    return os.path.join(HERE, "ruby", name)


# --- rbspy ----------------------------------------------------------------------------------

def rbspy_command(*options):
    def command(bench, ruby, rate, output):
        return [str(RBSPY), "record", "--silent", "--rate", str(rate), "--format", "collapsed", "--file", output,
                "--raw-file", bench.path("raw"), *options, "--", *ruby.command()]
    return command


def read_rbspy(bench, output, said):
    """<main> - file.rb:7;f - file.rb:3 12"""
    recorded = Recorded()
    with open(output, errors="replace") as file:
        for line in file:
            stack, _, count = line.rpartition(" ")
            recorded.stacks.append(([place_of(frame) for frame in stack.split(";")], int(count)))
            recorded.samples += int(count)
    return recorded


def place_of(frame):
    name, _, place = frame.rpartition(" - ")
    return Place(place.rpartition(":")[0], name)


def rbspy_why_not(ruby):
    return None if os.access(RBSPY, os.X_OK) else f"{RBSPY} is not there: --fetch"


# --- stackprof ------------------------------------------------------------------------------

def stackprof_command(bench, ruby, rate, output):
    return ruby.command("-r", script("under_stackprof.rb"))


def stackprof_environment(mode):
    def environment(bench, rate, output):
        return {"STACKPROF_MODE": mode, "STACKPROF_INTERVAL_US": str(1000000 // rate), "STACKPROF_OUT": output}
    return environment


def read_stackprof(bench, output, said):
    done = subprocess.run(["ruby", script("read_stackprof.rb"), output], capture_output=True, check=True)
    found = json.loads(done.stdout)
    return Recorded(found["samples"], found["missed"],
                    [([Place(*frame) for frame in reversed(frames)], count) for frames, count in found["stacks"]])


def stackprof_why_not(ruby):
    done = subprocess.run(ruby.command("-r", "stackprof", "-e", ""), capture_output=True)
    return None if done.returncode == 0 else "it has no stackprof"


def stackprof_peer(mode, clock):
    return Peer(f"stackprof {mode}", stackprof_command, read_stackprof, stackprof_why_not,
                environment=stackprof_environment(mode), clock=clock, is_inside=True)


PEERS = by_name(
    BARE, FLOOR, fathom_peer(LANGUAGE), PERF,
    Peer("rbspy", rbspy_command(), read_rbspy, rbspy_why_not),
    Peer("rbspy --nonblocking", rbspy_command("--nonblocking"), read_rbspy, rbspy_why_not),
    stackprof_peer("cpu", CPU),
    stackprof_peer("wall", WALL),
)


def fetch():
    """Built from source: minutes."""
    subprocess.run(["cargo", "install", "--quiet", "--locked", "--root", str(FOLDER), "rbspy", "--version",
                    RBSPY_VERSION], check=True)
