"""tracers - what bench/trace.py measures: programs of each language, and the tracers that count their calls.

A subject is an interpreter, or a compiler with one of its flags; a tracer is a command in front of the subject's
program.  The peers of Python come from PyPI, into an environment for each interpreter (`bench/run trace --fetch`);
ruby-prof and uftrace are Debian's.
"""

import dataclasses
import functools
import os
import pathlib
import shutil
import subprocess
import sys

import pythons  # trace.py says where the tests' modules are
import rubies

HERE = pathlib.Path(__file__).resolve().parent
PACKAGES = ("yappi", "viztracer")
OLDEST_PYTHON = (3, 6)
FLAGS = ("-finstrument-functions", "-pg", "-pg -mfentry")


class Missing(Exception):
    """The tracer cannot be had for this subject; says why."""


@dataclasses.dataclass(frozen=True)
class Call:
    """A kind of call: what it is called, and the part of its peer's cost that ours is to be."""

    what: str
    aim: float


@dataclasses.dataclass(frozen=True)
class Subject:
    """Something that executes programs.  Commands are (folder, output) -> [argument]; programs stand behind them."""

    name: str
    calls: dict          # {key of what the program of calls prints, without _ns: Call}
    peer: str            # the tracer that ours is compared with
    programs: tuple      # of calls, and a mixed one
    tracers: dict        # {name: command}
    has_loop: bool = True  # whether code without calls may be slowed

    def why_not(self, tracer, folder):
        try:
            self.tracers[tracer](folder, os.devnull)
        except Missing as reason:
            return str(reason)
        return None


def need(program, package):
    found = shutil.which(program)
    if found is None:
        raise Missing(f"{program} is not installed (Debian: {package})")
    return found


def compiled(folder, name, source, *flags, compiler="gcc"):
    """Once in a folder."""
    path = os.path.join(folder, name)
    if not os.path.exists(path):
        done = subprocess.run([need(compiler, compiler), "-O2", *flags, "-o", path, str(HERE / source)], capture_output=True)
        if done.returncode != 0:
            raise Missing(f"{source} cannot be compiled: {done.stderr.decode()[-300:]}")
    return path


def fathom_tracers(fathom_for, command):
    def tracer(*options):
        return lambda folder, output: [fathom_for(folder), "trace", "-q", "-o", output, *options, "--", *command(folder)]
    return {"fathom": tracer(), "fathom --clock cpu": tracer("--clock", "cpu")}


def copied_fathom(fathom, interpreter, has_own_c_library, copy):
    """For interpreters that have a C library of their own."""
    def path(folder):
        if not has_own_c_library(interpreter):
            return fathom
        made = os.path.join(folder, f"fathom-{interpreter.name}")
        if not os.path.exists(made):
            copy(made)
        return made
    return path


# --- Python ---------------------------------------------------------------------------------

def python_aim(version):
    """Of cProfile's cost."""
    return {(3, 11): 0.5, (3, 12): 0.45}.get(version, 1 / 3)


def venv_of(python):
    return pythons.CACHE / f"tracers-{python.name}"


def fetch(chosen):
    """Tracers are compiled for one version of Python each: an environment for each interpreter."""
    for python in chosen:
        subprocess.run(python.command("-m", "venv", venv_of(python)), check=False)
        for package in PACKAGES:
            subprocess.run([venv_of(python) / "bin" / "python", "-m", "pip", "install", "-q",
                            "--disable-pip-version-check", package], check=False)


def python_with(python, package):
    program = venv_of(python) / "bin" / "python"
    if not program.exists() or subprocess.run([program, "-c", f"import {package}"], capture_output=True,
                                              check=False).returncode != 0:
        raise Missing(f"{package} is not there: --fetch")
    return str(program)


def python_floor(python, folder, output):
    return python.command(HERE / "python" / "floor.py",
                          compiled(folder, "floor_python.so", "floor_python.c", "-shared", "-fPIC"))


def python_subject(fathom, python):
    fathom_for = copied_fathom(fathom, python, pythons.is_fetched, functools.partial(pythons.copy_fathom, fathom))
    aim = python_aim(python.version)
    return Subject(
        python.name, {"python": Call("Python function", aim), "builtin": Call("builtin", aim)}, "cProfile",
        (HERE / "python" / "calls.py", HERE / "python" / "mixed.py"),
        {"bare": lambda folder, output: python.command(),
         "floor": functools.partial(python_floor, python),
         **fathom_tracers(fathom_for, lambda folder: python.command()),
         "cProfile": lambda folder, output: python.command("-m", "cProfile", "-o", output),
         "yappi": lambda folder, output: [python_with(python, "yappi"), "-m", "yappi", "-c", "wall", "-o", output],
         "viztracer": lambda folder, output: [python_with(python, "viztracer"), "-m", "viztracer", "--quiet", "-o",
                                              output + ".json", "--"]})


# --- Ruby -----------------------------------------------------------------------------------

def ruby_prof(ruby, folder, output):
    if ruby.path != os.path.realpath("/usr/bin/ruby"):
        raise Missing("Debian's ruby-prof is for Debian's ruby")
    return [need("ruby-prof", "ruby-prof"), "--mode=wall", "-p", "flat", "-f", output]


def ruby_floor(ruby, folder, output):
    return ruby.command("-r", compiled(folder, "floor_ruby.so", "floor_ruby.c", "-shared", "-fPIC"))


def ruby_subject(fathom, ruby):
    fathom_for = copied_fathom(fathom, ruby, rubies.has_own_c_library,
                               functools.partial(rubies.copy_fathom, ruby, fathom))
    return Subject(
        ruby.name, {"ruby": Call("Ruby method", 0.3), "c": Call("C method", 0.3)}, "ruby-prof",
        (HERE / "ruby" / "calls.rb", HERE / "ruby" / "mixed.rb"),
        {"bare": lambda folder, output: ruby.command(),
         "floor": functools.partial(ruby_floor, ruby),
         **fathom_tracers(fathom_for, lambda folder: ruby.command()),
         "ruby-prof": functools.partial(ruby_prof, ruby)})


# --- native ---------------------------------------------------------------------------------

class Native:
    """A compiler's flag: both programs are compiled with it into the folder, and stand by their names behind a command."""

    def __init__(self, fathom, compiler, flag):
        self.fathom, self.compiler, self.flag = fathom, compiler, flag

    def build(self, folder, flag, suffix):
        for program in ("calls", "mixed"):
            compiled(folder, f"{program}{suffix}", f"native/{program}.c", "-fno-inline", *flag.split(), compiler=self.compiler)

    def launcher(self, folder, suffix):
        """Program and arguments stand behind it: the name is what was compiled."""
        path = os.path.join(folder, f"run{suffix}.sh")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f'program=$1\nshift\nexec "{folder}/$program{suffix}" "$@"\n')
        return ["sh", path]

    def plain(self, folder, output=None):
        self.build(folder, "", "-plain")
        return self.launcher(folder, "-plain")

    def flagged(self, folder, output=None):
        self.build(folder, self.flag, "-traced")
        return self.launcher(folder, "-traced")

    def floor(self, folder, output):
        library = compiled(folder, "floor_native.so", "floor_native.c", "-shared", "-fPIC")
        return ["env", f"LD_PRELOAD={library}", *self.flagged(folder)]

    def uftrace(self, folder, output):
        self.flagged(folder)
        return [need("uftrace", "uftrace"), "record", "--no-libcall", "--force", "-d", output, *self.flagged(folder)]

    def subject(self):
        return Subject(
            f"{self.compiler} {self.flag}", {"native": Call("native function", 0.2)}, "uftrace", ("calls", "mixed"),
            {"bare": self.plain, "floor": self.floor, **fathom_tracers(lambda folder: self.fathom, self.flagged),
             "uftrace": self.uftrace}, has_loop=False)


# --- all ------------------------------------------------------------------------------------

def chosen_of(interpreters, names, oldest=()):
    return [found for found in interpreters if found.is_there and found.version >= oldest
            and (names is None or found.name in names)]


def subjects(fathom, chosen_pythons, chosen_rubies, flags):
    return [*(python_subject(fathom, python) for python in chosen_pythons),
            *(ruby_subject(fathom, ruby) for ruby in chosen_rubies),
            *(Native(fathom, "gcc", flag).subject() for flag in flags)]


def size_of(path):
    """Of a file, of what stands beside it by its name, or of a folder; bytes."""
    whole = 0
    for found in pathlib.Path(path).parent.glob(pathlib.Path(path).name + "*"):
        files = found.rglob("*") if found.is_dir() else [found]
        whole += sum(file.stat().st_size for file in files if file.is_file())
    return whole


def say(text):
    print(text, file=sys.stderr, flush=True)
