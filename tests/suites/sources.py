"""sources - Debian's source packages, fetched and built once in a cache outside the project.

The cache is $XDG_CACHE_HOME/fathom-suites, or ~/.cache/fathom-suites.  apt gets lists and
settings of its own there: the system's stay as they are, and nothing is installed.
"""

import dataclasses
import fcntl
import io
import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "live"))

from apt import Apt, Unavailable, cache_folder, codename, quietly  # noqa: E402

CACHE = cache_folder("fathom-suites")


@dataclasses.dataclass(frozen=True)
class Sources:
    """A source tree that tests leave as it is: they run in it."""

    pristine: pathlib.Path
    path: pathlib.Path


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
        Apt(CACHE / "apt", codename(), ["deb-src"], log).unpack_source(package, folder / "fetched",
                                                                       "--skip-patches")
        (folder / "fetched" / "unpacked").rename(tree)
        for command in commands:
            # Their configure scripts refuse to run as root unless asked to.
            quietly(["sh", "-c", command], log, cwd=tree, env={**os.environ, "FORCE_UNSAFE_CONFIGURE": "1"})
        # Paths are compiled in, so it runs where it was built and is restored from the copy.
        tree.rename(pristine)
    return Tree(pristine, tree, lock)
