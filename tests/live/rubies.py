#!/usr/bin/env python3
"""rubies - every CRuby at hand, each as a command line, and why others are not there.

Debian's ruby is used where it is.  Other versions come from Debian's and Ubuntu's other suites,
unpacked below $XDG_CACHE_HOME/fathom-rubies (or ~/.cache/fathom-rubies), beside a C library of their
own where this system's is too old for them, and static ones are built there from Debian's sources:
tests use them if they are there, and never fetch.

The folders that a ruby loads its library from are written into it.  Those of the unpacked ones are
changed in the file, so that a command line of theirs is like any other and their children find
the library, too, whatever the environment.

usage: rubies.py            what there is
       rubies.py --fetch    fetch what is missing (200 MB)
       rubies.py --sources  unpack the sources of all of them
       rubies.py --build    build the static ones (minutes)
       rubies.py --copy RUBY FATHOM COPY    a fathom that can enter the fetched one called RUBY
"""

import argparse
import dataclasses
import os
import pathlib
import re
import shutil
import sys

from apt import DEBIAN, UBUNTU, Apt, Archive, Unavailable, cache_folder, have_keys, quietly
from at_hand import Interpreter, print_list, version_of
from elf_loader import set_loader, set_library_folder

CACHE = cache_folder("fathom-rubies")
MACHINE_FOLDER = "x86_64-linux-gnu"
LOADER = "ld-linux-x86-64.so.2"
# What the C library of this system stands in for.
C_LIBRARY = ("libc6", "libgcc-s1", "libstdc++6", "libcrypt1", "gcc-12-base")


@dataclasses.dataclass(frozen=True)
class Origin:
    """The suite that has a minor version."""

    suite: str
    archive: Archive = DEBIAN
    others: tuple = ()
    # "=3.4.5-1": the suite's last has no source any more.
    source_version: str = ""
    # This system's C library is older than the one it was built for.
    is_newer: bool = False


ORIGINS = {"2.7": Origin("bullseye"),
           "3.0": Origin("jammy", UBUNTU, others=("jammy-updates",)),
           "3.2": Origin("noble", UBUNTU, others=("noble-updates",), is_newer=True),
           "3.3": Origin("trixie", is_newer=True),
           "3.4": Origin("experimental", others=("sid",), source_version="=3.4.5-1~exp1", is_newer=True)}
# Whose sources can be had.
SOURCES = ORIGINS | {"3.1": Origin("bookworm")}
# Programs with the interpreter in them, and YJIT, as Ruby's own ./configure makes them; and one at fixed addresses.
STATIC_MINORS = ("3.3", "3.4")
FIXED_MINOR = "3.4"

FIXED_MAIN = """
#include <ruby.h>
int main(int argc, char **argv)
{
	ruby_sysinit(&argc, &argv);
	RUBY_INIT_STACK;
	ruby_init();
	return ruby_run_node(ruby_options(argc, argv));
}
"""


class Ruby(Interpreter):
    """Called debian-3.1, trixie-3.3, built-3.4-static, built-3.4-fixed."""


def ruby_at(name, minor, path, otherwise):
    """The interpreter if it runs, finds its library and is the version it should be."""
    question = ("-e", "require 'json'; $stdout.write(RUBY_VERSION[/\\d+\\.\\d+/])")
    return Ruby(name, version_of(minor), str(path), otherwise, question)


def debian_ruby():
    """Whatever Debian's ruby is."""
    path = pathlib.Path("/usr/bin/ruby").resolve()
    minor = path.name.removeprefix("ruby")
    if not path.exists() or "." not in minor:
        return Ruby("debian-3", (3,), missing="/usr/bin/ruby is not Debian's")
    return ruby_at(f"debian-{minor}", minor, path, f"{path} is no program")


def fetched_ruby(minor):
    path = root_of(minor) / "usr" / "bin" / f"ruby{minor}"
    return ruby_at(f"{ORIGINS[minor].suite}-{minor}", minor, path,
                   f"{path} has not been fetched: tests/live/rubies.py --fetch")


def built_ruby(minor, kind="static"):
    path = CACHE / f"{minor}-static" / "bin" / ("ruby" if kind == "static" else f"ruby-{kind}")
    return ruby_at(f"built-{minor}-{kind}", minor, path,
                   f"{path} has not been built: tests/live/rubies.py --build")


def every_ruby():
    """All that could be there, oldest first."""
    rubies = [debian_ruby(), *map(fetched_ruby, ORIGINS), *map(built_ruby, STATIC_MINORS),
              built_ruby(FIXED_MINOR, "fixed")]
    return sorted(rubies, key=lambda ruby: ruby.version)


def root_of(minor):
    return CACHE / minor


def sources_of(minor):
    """The source tree of the minor version, if it has been unpacked."""
    return CACHE / "sources" / minor


def library_folders(root):
    return [root / "usr" / "lib" / MACHINE_FOLDER, root / "lib" / MACHINE_FOLDER]


def has_own_c_library(ruby):
    """A recorder of this system's C library cannot enter its programs: copy_fathom()."""
    return any(ruby.path.startswith(f"{root_of(minor)}/") for minor, origin in ORIGINS.items() if origin.is_newer)


def loader_in(root):
    return next(folder / LOADER for folder in library_folders(root) if (folder / LOADER).exists())


def copy_fathom(ruby, fathom, path):
    """A recorder enters programs with its own C library: this copy is for this ruby with the fetched one."""
    root = pathlib.Path(ruby.path).parents[2]
    shutil.copy(fathom, path)
    set_loader(path, loader_in(root), ":".join(map(str, library_folders(root))))


# --- fetching and building -----------------------------------------------------------------

def load_path_of(root, minor):
    """The folders that Debian's ruby has its library in."""
    libraries = root / "usr" / "lib"
    return [libraries / "ruby" / "vendor_ruby",
            libraries / MACHINE_FOLDER / "ruby" / "vendor_ruby" / f"{minor}.0",
            libraries / "ruby" / f"{minor}.0",
            libraries / MACHINE_FOLDER / "ruby" / f"{minor}.0"]


def set_load_path(library, folders, minor):
    """Writes the folders over ruby_initial_load_paths, each ended by a NUL, the last by two."""
    data = bytearray(library.read_bytes())
    start = data.index(b"\0/usr/local/lib/site_ruby/%s.0\0" % minor.encode()) + 1
    room = data.index(b"\0\0", start) - start
    text = b"\0".join(os.fsencode(folder) for folder in folders)
    if len(text) > room:
        raise Unavailable(f"the folders below {CACHE} have too long names to be written into {library.name}")
    data[start:start + room] = text.ljust(room, b"\0")
    library.write_bytes(data)


def relocate_scripts(unpacked, root):
    """RubyGems has the folders of its own, and programs name their interpreter."""
    libraries = unpacked / "usr" / "lib" / "ruby" / "vendor_ruby"
    settings = libraries / "rubygems" / "defaults" / "operating_system.rb"
    settings.write_text(re.sub(r"""(['"])/usr/(lib|share)/""", rf"\1{root}/usr/\2/", settings.read_text()))
    for script in (unpacked / "usr" / "bin").iterdir():
        if script.is_file() and script.open("rb").read(19).startswith(b"#!/usr/bin/ruby"):
            script.write_text(script.read_text().replace("#!/usr/bin/", f"#!{root}/usr/bin/", 1))


def relocate(unpacked, root, minor):
    """What is at unpacked runs when it is at root."""
    library = next(folder / f"libruby-{minor}.so.{minor}" for folder in library_folders(unpacked)
                   if (folder / f"libruby-{minor}.so.{minor}").exists())
    set_load_path(library, load_path_of(root, minor), minor)
    programs = unpacked / "usr" / "bin"
    folders = ":".join(map(str, library_folders(root)))
    if ORIGINS[minor].is_newer:
        loader = root / loader_in(unpacked).relative_to(unpacked)
        set_loader(programs / f"ruby{minor}", loader, folders)
    else:
        set_library_folder(programs / f"ruby{minor}", folders)
    for program in list(programs.glob(f"*{minor}")):
        short = program.with_name(program.name.removesuffix(minor))
        short.unlink(missing_ok=True)
        short.symlink_to(program.name)
    relocate_scripts(unpacked, root)


def fetch(minor):
    origin, root, log = ORIGINS[minor], root_of(minor), CACHE / "log"
    CACHE.mkdir(parents=True, exist_ok=True)
    if root.exists():
        return
    have_keys(origin.archive, log)
    apt = Apt(CACHE / f"apt-{origin.suite}", origin.suite, ["deb"], log, origin.archive, origin.others)
    unpacked = CACHE / "unpacked"
    shutil.rmtree(unpacked, ignore_errors=True)
    apt.unpack([f"ruby{minor}", f"libruby{minor}", f"ruby{minor}-dev"], unpacked,
               () if origin.is_newer else C_LIBRARY)
    # Debian's "ruby" is the suite's default version.
    for other in (unpacked / "usr" / "bin").glob("*[0-9].[0-9]"):
        if not other.name.endswith(minor):
            other.unlink()
    relocate(unpacked, root, minor)
    unpacked.rename(root)


def fetch_source(minor):
    origin, tree, log = SOURCES[minor], sources_of(minor), CACHE / "log"
    if tree.exists():
        return
    have_keys(origin.archive, log)
    folder = CACHE / "fetched"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    apt = Apt(CACHE / f"apt-{origin.suite}-sources", origin.suite, ["deb-src"], log, origin.archive, origin.others)
    apt.unpack_original_source(f"ruby{minor}{origin.source_version}", folder)
    tree.parent.mkdir(exist_ok=True)
    (folder / "unpacked").rename(tree)


def build_static(minor):
    """From its authors' source, by this system's compiler."""
    prefix, log = CACHE / f"{minor}-static", CACHE / f"{minor}-static-log"
    if prefix.exists():
        return
    if shutil.which("rustc") is None:
        raise Unavailable("rustc is needed to build YJIT")
    fetch_source(minor)
    folder = CACHE / f"{minor}-static-build"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    quietly([sources_of(minor) / "configure", "-q", "--disable-install-doc", "--enable-yjit",
             f"--prefix={prefix}"], log, cwd=folder)
    quietly(["make", "-s", "-j2"], log, cwd=folder)
    # In one go: what is half installed would be taken for an interpreter.
    staged = folder / "staged"
    # Else it would fetch the bundled gems, which a source package is without.
    quietly(["make", "-s", "install", "HAVE_BASERUBY=no", f"DESTDIR={staged}"], log, cwd=folder)
    staged.joinpath(*prefix.parts[1:]).rename(prefix)
    shutil.rmtree(folder)


def link_fixed(minor):
    """Compilers make programs that can be anywhere, whatever ./configure is given."""
    prefix = CACHE / f"{minor}-static"
    program = prefix / "bin" / "ruby-fixed"
    if program.exists():
        return
    headers, = (prefix / "include").glob("ruby-*")
    source = CACHE / "main.c"
    source.write_text(FIXED_MAIN)
    needed = ["z", "gmp", "crypt", "m", "dl", "pthread"]
    quietly(["cc", "-O2", "-no-pie", "-rdynamic", f"-I{headers}", f"-I{next(headers.glob('*-linux'))}", source,
             "-o", program, "-Wl,--whole-archive", prefix / "lib" / "libruby-static.a", "-Wl,--no-whole-archive",
             *(f"-l{name}" for name in needed)], CACHE / f"{minor}-static-log")


def main():
    parser = argparse.ArgumentParser(description="every CRuby at hand")
    parser.add_argument("--fetch", action="store_true", help="fetch those of other suites")
    parser.add_argument("--sources", action="store_true", help="unpack their sources")
    parser.add_argument("--build", action="store_true", help="build the static ones")
    parser.add_argument("--copy", nargs=3, metavar=("RUBY", "FATHOM", "COPY"), help="make a fathom for a fetched one")
    chosen = parser.parse_args()
    if chosen.copy:
        ruby = next(ruby for ruby in every_ruby() if ruby.name == chosen.copy[0])
        copy_fathom(ruby, *chosen.copy[1:])
        return
    try:
        for minor in ORIGINS if chosen.fetch else ():
            fetch(minor)
        for minor in SOURCES if chosen.sources else ():
            fetch_source(minor)
        for minor in STATIC_MINORS if chosen.build else ():
            build_static(minor)
        if chosen.build:
            link_fixed(FIXED_MINOR)
    except Unavailable as reason:
        sys.exit(f"rubies.py: {reason}")
    print_list(every_ruby())


if __name__ == "__main__":
    main()
