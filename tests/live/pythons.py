#!/usr/bin/env python3
"""pythons - every CPython at hand, each as a command line, and why others are not there.

Debian's python3 and pyenv's interpreters are used where they are.  What this Debian is too old for
comes from its later suites, unpacked beside a C library of its own below
$XDG_CACHE_HOME/fathom-pythons (or ~/.cache/fathom-pythons); what older distributions have, which
their own compilers made, is unpacked there to be used with this system's; and free-threaded builds
are made there from Debian's sources: tests use them if they are there, and never fetch.

usage: pythons.py            what there is
       pythons.py --fetch    fetch what is missing (200 MB)
       pythons.py --have 3.8 3.14    fetch one of each of these versions, where there is none
       pythons.py --build    build the free-threaded ones, too (minutes)
       pythons.py --compile  compile the libraries of those that were fetched, as --fetch does (seconds, once)
       pythons.py --copy FATHOM COPY    a fathom that can enter the fetched ones
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys

from apt import DEBIAN, UBUNTU, Apt, Unavailable, cache_folder, have_keys, quietly
from at_hand import Interpreter, print_list, version_of
from elf_loader import set_library_folder, set_loader

CACHE = cache_folder("fathom-pythons")
ROOT = CACHE / "root"
LIBRARIES = ROOT / "usr" / "lib" / "x86_64-linux-gnu"
LOADER = LIBRARIES / "ld-linux-x86-64.so.2"
SUITE = "sid"

PYENV_MINORS = ("2.7", "3.6", "3.7", "3.8", "3.9", "3.10", "3.11", "3.12", "3.13")
FETCHED_MINORS = ("3.13", "3.14", "3.15")
# Distributions that came with a version that this one no longer has: suite, archive, more suites.
OLDER = {"3.8": ("focal", UBUNTU, ("focal-updates",)),
         "3.9": ("bullseye", DEBIAN, ()),
         "3.10": ("jammy", UBUNTU, ("jammy-updates",))}
# What this system's stands in for.
C_LIBRARY = ("libc6", "libgcc-s1", "libcrypt1", "gcc-9-base", "gcc-10-base", "gcc-12-base")
# Of these minor versions Debian has sources, in this suite.
FREE_THREADED_MINORS = {"3.13": "trixie"}

# Debian has one program, with the interpreter in it; this one has it in libpython.
SHARED_MAIN = """
int Py_BytesMain(int argc, char **argv);
int main(int argc, char **argv)
{
	return Py_BytesMain(argc, argv);
}
"""


class Python(Interpreter):
    """Called pyenv-3.8, debian-3.11, sid-3.15-shared, built-3.14t."""

    @property
    def is_free_threaded(self):
        return self.name.endswith("t")


def python_at(name, minor, path, otherwise):
    """The interpreter if it runs and is the version it should be."""
    question = ("-c", "import sys; sys.stdout.write('%d.%d' % sys.version_info[:2])")
    return Python(name, version_of(minor), str(path), otherwise, question)


def debian_python():
    """Whatever Debian's python3 is."""
    path = pathlib.Path("/usr/bin/python3").resolve()
    minor = path.name.removeprefix("python")
    if not path.exists() or not minor.startswith("3."):
        return Python("debian-3", (3,), missing="/usr/bin/python3 is not Debian's")
    return python_at(f"debian-{minor}", minor, path, f"{path} is no program")


def pyenv_python(minor):
    root = pathlib.Path(os.environ.get("PYENV_ROOT") or pathlib.Path.home() / ".pyenv") / "versions"
    found = sorted((folder for folder in root.glob(f"{minor}.*") if folder.name.count(".") == 2),
                   key=lambda folder: int("0" + "".join(filter(str.isdigit, folder.name.split(".")[2]))))
    if not found:
        return Python(f"pyenv-{minor}", version_of(minor), missing=f"pyenv has no {minor} below {root}")
    return python_at(f"pyenv-{minor}", minor, found[-1] / "bin" / "python", f"{found[-1]} has no bin/python")


def fetched_python(minor, shared=""):
    path = ROOT / "usr" / "bin" / f"python{minor}{shared}"
    return python_at(f"{SUITE}-{minor}{shared}", minor, path,
                     f"{path} has not been fetched: tests/live/pythons.py --fetch")


def built_python(minor):
    path = CACHE / f"{minor}t" / "bin" / f"python{minor}t"
    return python_at(f"built-{minor}t", minor, path,
                     f"{path} has not been built: tests/live/pythons.py --build")


def older_root(minor):
    return CACHE / OLDER[minor][0]


def older_python(minor):
    path = older_root(minor) / "usr" / "bin" / f"python{minor}"
    return python_at(f"{OLDER[minor][0]}-{minor}", minor, path,
                     f"{path} has not been fetched: tests/live/pythons.py --fetch")


def every_python():
    """All that could be there, oldest first."""
    pythons = [debian_python(), *map(pyenv_python, PYENV_MINORS), *map(older_python, OLDER),
               *map(fetched_python, FETCHED_MINORS),
               *(fetched_python(minor, "-shared") for minor in FETCHED_MINORS),
               *map(built_python, FREE_THREADED_MINORS)]
    return sorted(pythons, key=lambda python: python.version)


def is_fetched(python):
    return python.path.startswith(str(ROOT))


def copy_fathom(fathom, path):
    """A recorder enters programs with its own C library: this copy is for those with the fetched one."""
    shutil.copy(fathom, path)
    set_loader(path, LOADER, LIBRARIES)


# --- fetching and building -----------------------------------------------------------------

def fetch(minors=FETCHED_MINORS):
    log = CACHE / "log"
    CACHE.mkdir(parents=True, exist_ok=True)
    minors = [minor for minor in minors if not (ROOT / "usr" / "bin" / f"python{minor}").exists()]
    if not minors:
        return
    apt = Apt(CACHE / "apt", SUITE, ["deb"], log)
    unpacked = CACHE / "unpacked"
    shutil.rmtree(unpacked, ignore_errors=True)
    apt.unpack([package.format(minor) for minor in minors
                for package in ("python{}", "libpython{}", "libpython{}-testsuite")], unpacked)
    # Paths are written into the programs.
    if ROOT.exists():
        quietly(["cp", "-a", f"{unpacked}/.", ROOT], log)
    else:
        unpacked.rename(ROOT)
    for minor in minors:
        program = ROOT / "usr" / "bin" / f"python{minor}-shared"
        source = CACHE / "main.c"
        source.write_text(SHARED_MAIN)
        quietly(["gcc", "-O2", "-o", program, source, LIBRARIES / f"libpython{minor}.so.1.0",
                 "-Wl,--unresolved-symbols=ignore-in-shared-libs"], log)
        for path in (program, program.with_name(f"python{minor}")):
            # DT_RPATH counts for what libraries need, too; an environment variable would for children.
            set_loader(path, LOADER, LIBRARIES)


def fetch_older(minor):
    suite, archive, others = OLDER[minor]
    root, log = older_root(minor), CACHE / "log"
    CACHE.mkdir(parents=True, exist_ok=True)
    if root.exists():
        return
    have_keys(archive, log)
    apt = Apt(CACHE / f"apt-{suite}", suite, ["deb"], log, archive, others)
    unpacked = CACHE / "unpacked"
    shutil.rmtree(unpacked, ignore_errors=True)
    apt.unpack([f"python{minor}", f"libpython{minor}-testsuite"], unpacked, C_LIBRARY)
    # Its programs and modules need libraries of its time (libssl, libffi).
    folders = ":".join(str(root / folder) for folder in ("usr/lib/x86_64-linux-gnu", "lib/x86_64-linux-gnu"))
    set_library_folder(unpacked / "usr" / "bin" / f"python{minor}", folders)
    unpacked.rename(root)


def have(minor):
    """Fetches one of this version if there is none, or says why not."""
    if any(python.is_there and python.version == version_of(minor) for python in every_python()):
        return
    try:
        if minor in FETCHED_MINORS:
            fetch((minor,))
        elif minor in OLDER:
            fetch_older(minor)
        else:
            raise Unavailable("it is used from pyenv, and not fetched")
    except (Unavailable, OSError) as reason:
        print(f"CPython {minor} is not tried: {reason}")


def compile_libraries():
    """As the packages' installation does: or each start would compile what it imports.  Tests are left out."""
    for python in every_python():
        if not python.is_there or not python.path.startswith(str(CACHE)):
            continue
        asked_for = [python.path, "-c", "import os, sys; sys.stdout.write(os.path.dirname(os.__file__))"]
        folder = pathlib.Path(subprocess.run(asked_for, stdout=subprocess.PIPE, text=True, check=True).stdout)
        if not any(folder.glob("__pycache__/os.*.pyc")):
            quietly([python.path, "-m", "compileall", "-q", "-x", "/(test|tests|lib2to3|idlelib)/", str(folder)],
                    CACHE / "log")


def build_free_threaded(minor):
    """From Debian's source, by this system's compiler."""
    folder = CACHE / f"{minor}t-source"
    prefix = CACHE / f"{minor}t"
    if prefix.exists():
        return
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    log = CACHE / f"{minor}t-log"
    apt = Apt(CACHE / "apt-sources", FREE_THREADED_MINORS[minor], ["deb-src"], log)
    apt.unpack_source(f"python{minor}", folder, "--skip-patches")
    tree = folder / "unpacked"
    quietly(["./configure", "-q", "--disable-gil", "--without-ensurepip", f"--prefix={prefix}"], log, cwd=tree)
    quietly(["make", "-s", "-j2"], log, cwd=tree)
    # In one go: what is half installed would be taken for an interpreter.
    staged = folder / "staged"
    quietly(["make", "-s", "install", f"DESTDIR={staged}"], log, cwd=tree)
    staged.joinpath(*prefix.parts[1:]).rename(prefix)
    shutil.rmtree(folder)


def main():
    parser = argparse.ArgumentParser(description="every CPython at hand")
    parser.add_argument("--fetch", action="store_true", help="fetch those of Debian's later suites")
    parser.add_argument("--build", action="store_true", help="and build the free-threaded ones")
    parser.add_argument("--have", nargs="+", metavar="VERSION", default=(), help="fetch these where there is none")
    parser.add_argument("--compile", action="store_true", help="compile the fetched ones' libraries")
    parser.add_argument("--copy", nargs=2, metavar=("FATHOM", "COPY"), help="make a fathom for the fetched ones")
    chosen = parser.parse_args()
    if chosen.copy:
        copy_fathom(*chosen.copy)
        return
    try:
        for minor in chosen.have:
            have(minor)
        if chosen.fetch or chosen.build:
            fetch()
            for minor in OLDER:
                fetch_older(minor)
        for minor in FREE_THREADED_MINORS if chosen.build else ():
            build_free_threaded(minor)
        if chosen.fetch or chosen.build or chosen.have or chosen.compile:
            compile_libraries()
    except Unavailable as reason:
        sys.exit(f"pythons.py: {reason}")
    if not chosen.have:
        print_list(every_python())


if __name__ == "__main__":
    main()
