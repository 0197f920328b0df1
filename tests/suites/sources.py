"""sources - Debian's source packages, fetched and built once in a cache outside the project.

The cache is $XDG_CACHE_HOME/fathom-suites, or ~/.cache/fathom-suites.  apt gets lists and
settings of its own there: the system's stay as they are, and nothing is installed.
"""

import contextlib
import dataclasses
import fcntl
import io
import os
import pathlib
import shutil
import subprocess

CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "fathom-suites"
MIRROR = "http://deb.debian.org/debian"
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"


class Unavailable(Exception):
    """Why a suite cannot run here."""


def codename():
    with contextlib.suppress(OSError):
        for line in pathlib.Path("/etc/os-release").read_text().splitlines():
            if line.startswith("VERSION_CODENAME="):
                return line.partition("=")[2].strip('"')
    raise Unavailable("this is no Debian: there are no source packages to fetch")


def quietly(command, log, **options):
    """Runs the command; what it says is in the log, whose name comes with a failure."""
    with open(log, "ab") as file:
        file.write(f"\n$ {' '.join(map(str, command))}\n".encode())
        file.flush()
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=file, stderr=file, **options)
    if done.returncode != 0:
        raise Unavailable(f"{command[0]} ended with {done.returncode}; see {log}")


def apt_options():
    """Lists and caches of our own; the sources of the release this system is."""
    apt = CACHE / "apt"
    (apt / "lists" / "partial").mkdir(parents=True, exist_ok=True)
    (apt / "sources.list").write_text(f"deb-src [signed-by={KEYRING}] {MIRROR} {codename()} main\n")
    settings = {"Dir::Etc::sourcelist": apt / "sources.list", "Dir::Etc::sourceparts": "-",
                "Dir::State::lists": apt / "lists", "Dir::Cache::pkgcache": "",
                "Dir::Cache::srcpkgcache": ""}
    return [part for name, value in settings.items() for part in ("-o", f"{name}={value}")]


def fetch(package, folder, log):
    """Unpacks the package's source below folder, without Debian's patches."""
    for tool in ("apt-get", "dpkg-source"):
        if shutil.which(tool) is None:
            raise Unavailable(f"{tool} is needed to fetch the source of {package} (Debian's dpkg-dev)")
    options = apt_options()
    if not any((CACHE / "apt" / "lists").glob("*_Sources*")):
        quietly(["apt-get", *options, "-q", "update"], log)
    quietly(["apt-get", *options, "-q", "source", "--download-only", package], log, cwd=folder)
    description = next(folder.glob("*.dsc"))
    quietly(["dpkg-source", "--skip-patches", "-x", description.name, "unpacked"], log, cwd=folder)


@dataclasses.dataclass(frozen=True)
class Tree:
    """A built source tree: kept pristine, run at path by whoever holds the lock."""

    pristine: pathlib.Path
    path: pathlib.Path
    lock: io.IOBase

    def restore(self):
        """The tree as it was built, whatever the last run did to it."""
        shutil.rmtree(self.path, ignore_errors=True)
        subprocess.run(["cp", "-a", "--no-target-directory", self.pristine, self.path], check=True)


def built(name, package, commands):
    """The tree of a suite, fetched and built if it was not.  It is ours until it is forgotten."""
    folder = CACHE / name
    tree, log = folder / "tree", folder / "log"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = open(folder / "lock", "w")
    except OSError as error:
        raise Unavailable(f"no place for the source of {package}: {error}") from error
    fcntl.flock(lock, fcntl.LOCK_EX)
    pristine = folder / "built"
    if not pristine.exists():
        for leftover in ("fetched", "tree"):
            shutil.rmtree(folder / leftover, ignore_errors=True)
        (folder / "fetched").mkdir()
        fetch(package, folder / "fetched", log)
        (folder / "fetched" / "unpacked").rename(tree)
        for command in commands:
            # Their configure scripts refuse to run as root unless told.
            quietly(["sh", "-c", command], log, cwd=tree, env={**os.environ, "FORCE_UNSAFE_CONFIGURE": "1"})
        # Paths are compiled in, so it runs where it was built and is restored from the copy.
        tree.rename(pristine)
    return Tree(pristine, tree, lock)
