"""python_peers - profilers of Python programs: how each is run, and what it recorded.

They come from PyPI, into a virtual environment below fathom-pythons in the cache (tests/live/pythons.py):
`bench/run python --fetch`.
"""

import json
import os
import re
import subprocess

from beside import BARE, FLOOR, Peer, Place, Recorded, by_name, fathom_peer, read_nothing
import elf_loader  # run.py says where the tests' modules are
import live_python
import pythons

VENV = pythons.CACHE / "peers"
PACKAGES = ("py-spy", "austin-dist", "austin-python", "pyinstrument")


def tool(name):
    return str(VENV / "bin" / name)


def needs_tool(name):
    return lambda python: None if os.access(tool(name), os.X_OK) else f"{tool(name)} is not there: --fetch"


# --- py-spy ---------------------------------------------------------------------------------

def pyspy_command(*options):
    def command(bench, python, rate, output):
        return [tool("py-spy"), "record", "-r", str(rate), "-f", "raw", "-o", output, *options, "--",
                *python.command()]
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
    return [austin_path(), "-i", f"{1000000 // rate}us", "-o", output, *python.command()]


def austin_stacks(output):
    """[(stack, us)] of P1;T0:1;file.py:main:7;file.py:f:3 999, and its comments with 0."""
    text = output + ".txt"
    subprocess.run([tool("mojo2austin"), output, text], capture_output=True, check=True)
    with open(text, errors="replace") as file:
        for line in file:
            stack, _, us = line.rpartition(" ")
            yield (stack, int(us)) if line.startswith("P") else (line, 0)


def read_austin(bench, output, said):
    recorded = Recorded()
    for stack, us in austin_stacks(output):
        match = re.match(r"# errors: (\d+)/", stack)
        if match:
            recorded.thrown_away = int(match[1])
        frames = stack.split(";")[2:] if stack.startswith("P") else ()
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
        return [*python.command(), "-m", "profiling.sampling", "run", "-r", str(rate), "-a", "--collapsed",
                *options, "-o", output]
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
    return [*python.command(), "-m", "pyinstrument", "-i", str(1 / rate), "-r", "json", "-o", output]


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
    return [*python.command(), "-m", "cProfile", "-o", output]


PEERS = by_name(
    BARE, FLOOR, fathom_peer(live_python.LANGUAGE),
    Peer("py-spy", pyspy_command(), read_pyspy, needs_tool("py-spy")),
    Peer("py-spy --nonblocking", pyspy_command("--nonblocking"), read_pyspy, needs_tool("py-spy")),
    Peer("austin", austin_command, read_austin, austin_why_not),
    Peer("profiling.sampling", sampling_command(), read_sampling, sampling_why_not),
    Peer("profiling.sampling --blocking", sampling_command("--blocking"), read_sampling, sampling_why_not),
    Peer("pyinstrument", pyinstrument_command, read_pyinstrument, pyinstrument_why_not,
         environment=lambda bench, rate, output: {"PYTHONPATH": packages_folder()}),
    Peer("cProfile", cprofile_command, read_nothing, takes_rate=False),
)


def fetch():
    """Into an environment of Debian's interpreter: pyinstrument's module is for its version."""
    subprocess.run(["/usr/bin/python3", "-m", "venv", str(VENV)], check=True)
    subprocess.run([tool("pip"), "install", "-q", *PACKAGES], check=True)
