#!/usr/bin/env python3
"""trace - what counting every call of a Python program costs: fathom beside cProfile, yappi and viztracer, in one run.

For each interpreter, nanoseconds that a call of an empty Python function and of a builtin take longer than in
the bare program, by the program's own clock, what a loop without calls takes longer, and how many times slower a mixed program
(primes, sorting with a key, recursion, JSON, re, zlib) is.  The tracers take turns; the medians of some rounds are shown.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests" / "live"))

import pythons  # noqa: E402  (a module of the tests)

PACKAGES = ("yappi", "viztracer")
OLDEST = (3, 6)


def venv_of(python):
    return pythons.CACHE / f"tracers-{python.name}"


def fetch(chosen):
    """Tracers are compiled for one version of Python each: an environment for each interpreter."""
    for python in chosen:
        subprocess.run(python.command("-m", "venv", venv_of(python)), check=False)
        for package in PACKAGES:
            subprocess.run([venv_of(python) / "bin" / "python", "-m", "pip", "install", "-q",
                            "--disable-pip-version-check", package], check=False)


def has_package(python, package):
    program = venv_of(python) / "bin" / "python"
    return program.exists() and subprocess.run([program, "-c", f"import {package}"], capture_output=True,
                                               check=False).returncode == 0


def bare(options, python, folder):
    return python.command()


def fathom(*trace_options):
    def command(options, python, folder):
        program = options.fathom
        if pythons.is_fetched(python):
            program = os.path.join(folder, "fathom")
            if not os.path.exists(program):
                pythons.copy_fathom(options.fathom, program)
        return [program, "trace", "-q", "-o", os.path.join(folder, "trace.fathom"), *trace_options, "--",
                *python.command()]
    return command


def cprofile(options, python, folder):
    return python.command("-m", "cProfile", "-o", os.path.join(folder, "cprofile.out"))


def yappi(options, python, folder):
    if not has_package(python, "yappi"):
        return None
    return [venv_of(python) / "bin" / "python", "-m", "yappi", "-c", "wall", "-o", os.path.join(folder, "yappi.out")]


def viztracer(options, python, folder):
    if not has_package(python, "viztracer"):
        return None
    return [venv_of(python) / "bin" / "python", "-m", "viztracer", "--quiet", "-o", os.path.join(folder, "viz.json"), "--"]


TRACERS = {
    "bare": bare,
    "fathom trace": fathom(),
    "fathom trace --no-builtins": fathom("--no-builtins"),
    "cProfile": cprofile,
    "yappi": yappi,
    "viztracer": viztracer,
}


def last_json(text):
    """yappi prints its own below the program's."""
    return json.loads(next(line for line in text.splitlines() if line.startswith("{")))


def run_calls(command, folder):
    done = subprocess.run([*map(str, command), HERE / "python" / "calls.py"], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, cwd=folder, timeout=300, check=True)
    return last_json(done.stdout.decode())


def run_mixed(command, folder):
    """By the program's own stamps: what comes before and after it does not count."""
    times = os.path.join(folder, "times")
    subprocess.run([*map(str, command), HERE / "python" / "mixed.py", times], stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, cwd=folder, timeout=600, check=True)
    with open(times, encoding="utf-8") as file:
        begin, end = list(map(int, file.read().split()))[:2]
    return end - begin


def measure(options, python, folder):
    """{tracer: [(figures of calls, nanoseconds of mixed), ...]}"""
    commands = {name: command(options, python, folder) for name, command in TRACERS.items()}
    found = {}
    for _ in range(options.rounds):
        for name, command in commands.items():
            if command is None:
                continue
            try:
                found.setdefault(name, []).append((run_calls(command, folder), run_mixed(command, folder)))
            except (subprocess.SubprocessError, OSError, ValueError, StopIteration) as failure:
                print(f"# {python.name}: {name}: {failure}", file=sys.stderr)
                commands[name] = None
    return found


def medians_of(found):
    def median(rows, of):
        return statistics.median(of(row) for row in rows)
    table = {name: {**{key: median(rows, lambda row, key=key: row[0][key]) for key in rows[0][0]},
                    "mixed_ns": median(rows, lambda row: row[1])} for name, rows in found.items()}
    return {name: {"python": row["python_ns"] - table["bare"]["python_ns"],
                   "builtin": row["builtin_ns"] - table["bare"]["builtin_ns"],
                   "loop": row["loop_ns"] / table["bare"]["loop_ns"],
                   "mixed": row["mixed_ns"] / table["bare"]["mixed_ns"]} for name, row in table.items()}


def show(python, table):
    theirs = table.get("cProfile")
    print(f"\n{python.name}\n\n| tracer | Python call, ns | of cProfile's | builtin call, ns | of cProfile's | loop | mixed |")
    print("|---|---|---|---|---|---|---|")
    for name, row in table.items():
        def share(kind, row=row):
            return f"{row[kind] / theirs[kind]:.2f}" if theirs and theirs[kind] > 0 else ""
        print(f"| {name} | {row['python']:.0f} | {share('python')} | {row['builtin']:.0f} | {share('builtin')} "
              f"| {row['loop']:.2f} | {row['mixed']:.2f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fathom", default=os.environ.get("FATHOM", "fathom"), help="the program to measure")
    parser.add_argument("--pythons", help="which interpreters, by the names of tests/live/pythons.py")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each (%(default)s)")
    parser.add_argument("--fetch", action="store_true", help="fetch yappi and viztracer from PyPI, and end")
    options = parser.parse_args()
    options.fathom = os.path.abspath(options.fathom) if os.sep in options.fathom else options.fathom
    chosen = [python for python in pythons.every_python() if python.is_there and python.version >= OLDEST
              and (not options.pythons or python.name in options.pythons.split(","))]
    if options.fetch:
        fetch(chosen)
        return
    for python in chosen:
        with tempfile.TemporaryDirectory(prefix="fathom-bench-") as folder:
            show(python, medians_of(measure(options, python, folder)))


if __name__ == "__main__":
    main()
