"""python_peers - profilers of Python programs: how each is run, and what it recorded.

A peer is a row: its command in front of the program, what it needs, and a reader that turns its
output into a `Recorded`.  They come from PyPI, into a virtual environment below fathom-pythons in the
cache (tests/live/pythons.py): `bench/python.py --fetch`.
"""

import collections
import dataclasses
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, os.pardir, "tests", "live"))
import elf_loader  # noqa: E402
import live_python  # noqa: E402
import pythons  # noqa: E402

VENV = pythons.CACHE / "peers"
PACKAGES = ("py-spy", "austin-dist", "austin-python", "pyinstrument")

Place = collections.namedtuple("Place", "path name")


@dataclasses.dataclass
class Recorded:
    """How many samples there are, how many its profiler threw away, and [(frames, count)] if it tells."""

    samples: int = 0
    thrown_away: int = 0
    stacks: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass(frozen=True)
class Peer:
    name: str
    command: object         # (bench, python, rate, output) -> [argument] in front of the program
    read: object            # (bench, output, said) -> Recorded
    why_not: object = lambda python: None
    takes_rate: bool = True
    environment: object = lambda bench, rate: {}


def tool(name):
    return str(VENV / "bin" / name)


def needs_tool(name):
    return lambda python: None if os.access(tool(name), os.X_OK) else f"{tool(name)} is not there: --fetch"


# --- fathom, and what it is compared with ---------------------------------------------------

def fathom_command(bench, python, rate, output):
    return [bench.fathom_for(python), "record", "-q", "--rate", str(rate), "-o", output, "--", python.path]


def read_fathom(bench, output, said):
    done = subprocess.run([bench.fathom, "report", output, "--json"], capture_output=True, check=True)
    head = json.loads(done.stdout)["recording"]
    recording = live_python.live.Recording(output, None)
    stacks = live_python.PythonStacks(recording)
    counts = recording.rows("SELECT stack, count(*) FROM samples GROUP BY stack")
    return Recorded(head["samples"], head["lost"],
                    [([Place(frame.path, frame.name) for frame in stacks.walk(stack)][::-1], count)
                     for stack, count in counts])


def bare_command(bench, python, rate, output):
    return [python.path]


def read_nothing(bench, output, said):
    return Recorded()


def read_floor(bench, output, said):
    with open(bench.path("traps")) as file:
        return Recorded(sum(map(int, file)))


def floor_environment(bench, rate):
    return {"LD_PRELOAD": bench.path("floor.so"), "FLOOR_PERIOD_NS": str(bench.period_ns(rate)),
            "FLOOR_COUNT": bench.path("traps")}


# --- py-spy ---------------------------------------------------------------------------------

def pyspy_command(*options):
    def command(bench, python, rate, output):
        return [tool("py-spy"), "record", "-r", str(rate), "-f", "raw", "-o", output, *options, "--", python.path]
    return command


PYSPY_FRAME = re.compile(r"(.*) \((.*?)(?::\d+)?\)$")


def read_pyspy(bench, output, said):
    """main (file.py:7);f (file.py:3) 12"""
    recorded = Recorded()
    with open(output, errors="replace") as file:
        for line in file:
            stack, _, count = line.rpartition(" ")
            frames = [PYSPY_FRAME.match(frame) for frame in stack.split(";")]
            recorded.stacks.append(([Place(frame[2], frame[1]) for frame in frames if frame], int(count)))
            recorded.samples += int(count)
    errors = re.search(r"Errors: (\d+)", said)
    recorded.thrown_away = int(errors[1]) if errors else 0
    return recorded


# --- austin ---------------------------------------------------------------------------------

def austin_path():
    """Its file needs a newer C library than this Debian's."""
    path = VENV / "bin" / "austin-loaded"
    if not path.exists():
        path.write_bytes((VENV / "bin" / "austin").read_bytes())
        path.chmod(0o755)
        elf_loader.set_loader(path, pythons.LOADER, pythons.LIBRARIES)
    return str(path)


def austin_why_not(python):
    if not pythons.LOADER.exists():
        return "austin needs a newer C library: tests/live/pythons.py --fetch"
    return needs_tool("austin")(python)


def austin_command(bench, python, rate, output):
    return [austin_path(), "-i", f"{1000000 // rate}us", "-o", output, python.path]


def read_austin(bench, output, said):
    """P1;T0:1;file.py:main:7;file.py:f:3 999"""
    text = output + ".txt"
    subprocess.run([tool("mojo2austin"), output, text], capture_output=True, check=True)
    recorded = Recorded()
    with open(text, errors="replace") as file:
        for line in file:
            match = re.match(r"# errors: (\d+)/", line)
            if match:
                recorded.thrown_away = int(match[1])
            if line.startswith("P"):
                frames = line.rpartition(" ")[0].split(";")[2:]
                # Without frames it has slept, or begun.
                if frames:
                    recorded.samples += 1
                    recorded.stacks.append((places_of(frames), 1))
    return recorded


def places_of(frames):
    """file.py:name:7"""
    split = [frame.rsplit(":", 2) for frame in frames]
    return [Place(parts[0], parts[1]) for parts in split if len(parts) == 3]


# --- CPython's own, and tracers ---------------------------------------------------------------

def sampling_command(*options):
    def command(bench, python, rate, output):
        return [python.path, "-m", "profiling.sampling", "run", "-r", str(rate), "-a", "--collapsed", *options,
                "-o", output]
    return command


def read_sampling(bench, output, said):
    """tid:1;file.py:main:7;file.py:f:3 12"""
    recorded = Recorded()
    with open(output, errors="replace") as file:
        for line in file:
            stack, _, count = line.rpartition(" ")
            recorded.stacks.append((places_of(stack.split(";")[1:]), int(count)))
            recorded.samples += int(count)
    rate = re.search(r"Error rate: ([\d.]+)", said)
    captured = re.search(r"Captured (\d+) samples", said)
    if rate and captured:
        recorded.thrown_away = round(float(rate[1]) / 100 * int(captured[1]))
    return recorded


def sampling_why_not(python):
    return None if python.version >= (3, 15) else "CPython has it from 3.15 on"


def pyinstrument_command(bench, python, rate, output):
    # A folder of its own: the environment's interpreter may be another one.
    return [python.path, "-m", "pyinstrument", "-i", str(1 / rate), "-r", "json", "-o", output]


def read_pyinstrument(bench, output, said):
    with open(output) as file:
        return Recorded(json.load(file)["sample_count"])


def pyinstrument_why_not(python):
    asked = subprocess.run([python.path, "-c", "import pyinstrument"], capture_output=True,
                           env={**os.environ, "PYTHONPATH": packages_folder()})
    return None if asked.returncode == 0 else f"{python.name} cannot import pyinstrument of {VENV}: --fetch"


def packages_folder():
    return next((str(path) for path in VENV.glob("lib/python3*/site-packages")), "")


def cprofile_command(bench, python, rate, output):
    return [python.path, "-m", "cProfile", "-o", output]


PEERS = {peer.name: peer for peer in (
    Peer("bare", bare_command, read_nothing, takes_rate=False),
    Peer("floor", bare_command, read_floor, environment=floor_environment),
    Peer("fathom", fathom_command, read_fathom),
    Peer("py-spy", pyspy_command(), read_pyspy, needs_tool("py-spy")),
    Peer("py-spy --nonblocking", pyspy_command("--nonblocking"), read_pyspy, needs_tool("py-spy")),
    Peer("austin", austin_command, read_austin, austin_why_not),
    Peer("profiling.sampling", sampling_command(), read_sampling, sampling_why_not),
    Peer("profiling.sampling --blocking", sampling_command("--blocking"), read_sampling, sampling_why_not),
    Peer("pyinstrument", pyinstrument_command, read_pyinstrument, pyinstrument_why_not,
         environment=lambda bench, rate: {"PYTHONPATH": packages_folder()}),
    Peer("cProfile", cprofile_command, read_nothing, takes_rate=False),
)}


def fetch():
    """Into an environment of Debian's interpreter: pyinstrument's module is for its version."""
    subprocess.run(["/usr/bin/python3", "-m", "venv", str(VENV)], check=True)
    subprocess.run([tool("pip"), "install", "-q", *PACKAGES], check=True)
