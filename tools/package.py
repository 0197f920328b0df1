#!/usr/bin/env python3
"""Makes packages of an installed fathom: a .deb, and a wheel for pip.

usage: package.py deb|wheel TREE VERSION FOLDER

TREE is what `meson install` put below its prefix (bin/, lib/…/fathom/, share/…).  The package is
written to FOLDER, and its path printed.  Nothing is published.

The .deb has what runs, its manual pages and completions.  Which libraries it needs is computed
by dpkg-shlibdeps.  The wheel has these libraries in it, but for glibc's own: its tag says which
glibc that is.
"""
import base64
import gzip
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
SUMMARY = "profiler for native, Python and Ruby programs"
DESCRIPTION = """Shows where a program spends its CPU time, with a call graph, over all
its threads and child processes: Python functions and Ruby methods, the C
functions they call, shared libraries and system calls, in one stack."""
# What glibc is made of, and the loader: never in a wheel.
OF_GLIBC = re.compile(r"^(lib(c|m|dl|rt|pthread|util|resolv)\.so\.\d+|ld-linux.*|linux-vdso.*)$")
# Lintian's findings that stay, and why.
LINTIAN_OVERRIDES = {
    "bogus-mail-host": "the package is made where it is used, and has no maintainer to write to",
    "uses-dpkg-database-directly": "it only reads of which package a file is, where one has no names",
    "bogus-mail-host-in-debian-changelog": "the same",
}


def run(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout


def strip(tree):
    """The program and the agents; dynamic symbols stay."""
    binaries = [tree / "bin/fathom", *sorted(tree.glob("lib/**/libfathom-agent-*.so"))]
    for path in binaries:
        run("strip", "--strip-unneeded", path)
        path.chmod(0o644 if path.suffix == ".so" else 0o755)
    return binaries


def write(path, content, mode=0o644):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    path.chmod(mode)


def compress(path):
    """As Debian's policy has it: the same input gives the same bytes."""
    write(path.with_name(path.name + ".gz"), gzip.compress(path.read_bytes(), 9, mtime=0))
    path.unlink()


def needed_packages(root, binaries):
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder) / "debian/control", "Source: fathom\n\nPackage: fathom\nArchitecture: any\n")
        out = run("dpkg-shlibdeps", "-O", f"-S{root}", *[f"-e{path}" for path in binaries], cwd=folder)
    return re.search(r"^shlibs:Depends=(.*)$", out, re.M).group(1)


def add_documents(root, version):
    documents = root / "usr/share/doc/fathom"
    write(documents / "copyright",
          "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n"
          "Upstream-Name: fathom\nSource: the folder this was built in\n\nFiles: *\n"
          "Copyright: the authors of fathom\nLicense: BSD-2-Clause\n"
          + "".join(f" {line}\n" if line else " .\n"
                    for line in (PROJECT / "LICENSE").read_text().rstrip().split("\n")))
    write(documents / "changelog", f"fathom ({version}) unstable; urgency=low\n\n"
          "  * See CHANGELOG.md.\n\n -- fathom <fathom@example.com>  Mon, 23 Nov 2026 00:00:00 +0000\n")
    compress(documents / "changelog")
    write(root / "usr/share/lintian/overrides/fathom",
          "".join(f"# {why}\nfathom: {tag}\n" for tag, why in LINTIAN_OVERRIDES.items()))


def make_deb(tree, version, folder):
    architecture = run("dpkg", "--print-architecture").strip()
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch) / "fathom"
        shutil.copytree(tree, root / "usr", symlinks=True)
        binaries = strip(root / "usr")
        for page in sorted((root / "usr/share/man/man1").glob("*.1")):
            compress(page)
        add_documents(root, version)
        depends = needed_packages(root, binaries)
        size = sum(path.stat().st_size for path in root.rglob("*") if path.is_file()) // 1024
        write(root / "DEBIAN/control",
              f"Package: fathom\nVersion: {version}\nArchitecture: {architecture}\n"
              f"Maintainer: fathom <fathom@example.com>\nInstalled-Size: {size}\nDepends: {depends}\n"
              f"Recommends: less, man-db\nSection: devel\nPriority: optional\nDescription: {SUMMARY}\n"
              + "".join(f" {line}\n" for line in DESCRIPTION.split("\n")))
        sums = [f"{hashlib.md5(path.read_bytes()).hexdigest()}  {path.relative_to(root)}\n"
                for path in sorted((root / "usr").rglob("*")) if path.is_file()]
        write(root / "DEBIAN/md5sums", "".join(sums))
        for path in root.rglob("*"):
            if path.is_dir():
                path.chmod(0o755)
        out = folder / f"fathom_{version}_{architecture}.deb"
        run("dpkg-deb", "--root-owner-group", "--build", str(root), str(out))
    return out


def libraries_of(binary):
    """{name: path} of the libraries that a binary needs, and those need, but glibc's."""
    found = re.findall(r"^\s*(\S+) => (/\S+)", run("ldd", binary), re.M)
    return {name: path for name, path in found if not OF_GLIBC.match(name)}


def glibc_of(paths):
    """The newest version of glibc's symbols that these need."""
    versions = set()
    for path in paths:
        versions |= {tuple(map(int, found.split(".")))
                     for found in re.findall(r"GLIBC_(\d+\.\d+)", run("readelf", "-V", "-W", path))}
    return max(versions)


MAIN = '''"""python -m fathom ARGUMENT...: the program itself, with this Python for a .py file."""
import os
import sys

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_program")


# Options of record and trace behind which a value stands.
WITH_VALUE = ("--clock", "--rate", "-r", "--overhead", "--output", "-o", "--max-size", "--pid", "-p", "--duration", "-d",
              "--runs", "--against", "--trigger", "--color", "--only")


def with_interpreter(arguments):
    """record app.py is record -- python3 app.py, and record -m app is record -- python3 -m app."""
    if arguments[:1] not in (["record"], ["trace"]):
        return arguments
    i = 1
    while i < len(arguments):
        word = arguments[i]
        if word == "-m" or word.endswith(".py") and not word.startswith("-"):
            return arguments[:i] + ["--", sys.executable] + arguments[i:]
        if word == "--" or not word.startswith("-"):
            break
        i += 2 if word in WITH_VALUE else 1
    return arguments


def main():
    arguments = with_interpreter(sys.argv[1:])
    program = os.path.join(HERE, "bin", "fathom")
    os.execv(program, [program, *arguments])


if __name__ == "__main__":
    main()
'''


def fill_wheel(tree, root):
    """The package fathom: the module that marks regions, and the program below it."""
    package = root / "fathom"
    program = package / "_program"
    shutil.copytree(tree, program, symlinks=True)
    shutil.rmtree(program / "share/bash-completion", ignore_errors=True)
    shutil.rmtree(program / "share/zsh", ignore_errors=True)
    shutil.rmtree(program / "share/fish", ignore_errors=True)
    binaries = strip(program)
    write(package / "__init__.py", (tree / "share/fathom/python/fathom.py").read_bytes())
    write(package / "__main__.py", MAIN)
    libraries = {}
    for binary in binaries:
        libraries.update(libraries_of(binary))
    for name, path in libraries.items():
        write(program / "lib/bundled" / name, Path(path).read_bytes(), 0o755)
    # RPATH, which counts for what the libraries need, too, as RUNPATH would not.
    run("patchelf", "--force-rpath", "--set-rpath", "$ORIGIN/../lib/bundled", program / "bin/fathom")
    return [*binaries, *libraries.values()]


def make_wheel(tree, version, folder):
    machine = os.uname().machine
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch)
        major, minor = glibc_of(fill_wheel(tree, root))
        tag = f"py3-none-manylinux_{major}_{minor}_{machine}"
        info = root / f"fathom_profiler-{version}.dist-info"
        write(info / "METADATA", f"Metadata-Version: 2.1\nName: fathom-profiler\nVersion: {version}\n"
              f"Summary: {SUMMARY}\nLicense: BSD-2-Clause\nRequires-Python: >=3.6\n\n{DESCRIPTION}\n")
        write(info / "WHEEL", f"Wheel-Version: 1.0\nGenerator: fathom\nRoot-Is-Purelib: false\nTag: {tag}\n")
        write(info / "entry_points.txt", "[console_scripts]\nfathom = fathom.__main__:main\n")
        write(info / "LICENSE", (PROJECT / "LICENSE").read_bytes())
        out = folder / f"fathom_profiler-{version}-{tag}.whl"
        write_zip(root, out, info)
    return out


def write_zip(root, out, info):
    record = []
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(path for path in root.rglob("*") if path.is_file()):
            name, data = str(path.relative_to(root)), path.read_bytes()
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append(f"{name},sha256={digest},{len(data)}\n")
            add_entry(archive, name, data, path.stat().st_mode)
        name = f"{info.name}/RECORD"
        add_entry(archive, name, "".join([*record, f"{name},,\n"]).encode(), 0o100644)


def add_entry(archive, name, data, mode):
    entry = zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0))
    entry.external_attr = (0o100000 | (mode & 0o777)) << 16
    entry.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(entry, data)


def main():
    if len(sys.argv) != 5 or sys.argv[1] not in ("deb", "wheel"):
        raise SystemExit(__doc__)
    kind, tree, version, folder = sys.argv[1:]
    Path(folder).mkdir(parents=True, exist_ok=True)
    make = make_deb if kind == "deb" else make_wheel
    print(make(Path(tree).resolve(), version, Path(folder).resolve()))


if __name__ == "__main__":
    main()
