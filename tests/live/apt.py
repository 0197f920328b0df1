"""apt - a distribution's packages in a folder of our own, with lists and settings of its own.

The system's lists and packages stay as they are, and nothing is installed.
"""

import contextlib
import dataclasses
import os
import pathlib
import shutil
import subprocess


@dataclasses.dataclass(frozen=True)
class Archive:
    """Where a distribution's packages are, and by whose keys they are signed."""

    mirror: str = "http://deb.debian.org/debian"
    keyring: str = "/usr/share/keyrings/debian-archive-keyring.gpg"
    components: str = "main"


DEBIAN = Archive()


class Unavailable(Exception):
    """Why something cannot be had here."""


def cache_folder(name):
    """$XDG_CACHE_HOME/name, or ~/.cache/name."""
    return pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / name


KEYS = cache_folder("fathom-rubies") / "keys"
UBUNTU = Archive("http://archive.ubuntu.com/ubuntu",
                 str(KEYS / "usr" / "share" / "keyrings" / "ubuntu-archive-keyring.gpg"), "main universe")


def codename():
    with contextlib.suppress(OSError):
        for line in pathlib.Path("/etc/os-release").read_text().splitlines():
            if line.startswith("VERSION_CODENAME="):
                return line.partition("=")[2].strip('"')
    raise Unavailable("this is no Debian: there are no packages to fetch")


def quietly(command, log, **options):
    """Runs the command; what it says is in the log, whose name comes with a failure."""
    with open(log, "ab") as file:
        file.write(f"\n$ {' '.join(map(str, command))}\n".encode())
        file.flush()
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=file, stderr=file, **options)
    if done.returncode != 0:
        raise Unavailable(f"{command[0]} ended with {done.returncode}; see {log}")


class Apt:
    """An apt whose lists are below folder, of these kinds (deb, deb-src) of one suite.

    What the suite's packages need may come from `others`, too.
    """

    def __init__(self, folder, suite, kinds, log, archive=DEBIAN, others=()):
        self.folder, self.log = folder, log
        for tool in ("apt-get", "dpkg-deb"):
            if shutil.which(tool) is None:
                raise Unavailable(f"{tool} is needed to fetch packages of Debian's")
        self.suite = suite
        (folder / "lists" / "partial").mkdir(parents=True, exist_ok=True)
        # As if nothing were installed: what a package needs comes with it.
        (folder / "status").touch()
        (folder / "sources.list").write_text(
            "".join(f"{kind} [signed-by={archive.keyring}] {archive.mirror} {name} {archive.components}\n"
                    for kind in kinds for name in (suite, *others)))
        settings = {"Dir::Etc::sourcelist": folder / "sources.list", "Dir::Etc::sourceparts": "-",
                    "Dir::State::lists": folder / "lists", "Dir::State::status": folder / "status",
                    "Dir::Cache::pkgcache": "", "Dir::Cache::srcpkgcache": "", "Acquire::Languages": "none",
                    "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled": "false",
                    # Root's cache is closed to the user that apt would fetch as.
                    "APT::Sandbox::User": "root"}
        self.options = [part for name, value in settings.items() for part in ("-o", f"{name}={value}")]
        if not all(any((folder / "lists").glob(f"*_{suite}_*{name}*"))
                   for kind, name in (("deb", "_Packages"), ("deb-src", "_Sources")) if kind in kinds):
            self.update()

    def run(self, *arguments, **options):
        quietly(["apt-get", *self.options, "-q", "-y", *arguments], self.log, **options)

    def update(self):
        self.run("update")

    def unpack_source(self, package, folder, *dpkg_options):
        """The package's source in folder/unpacked."""
        if shutil.which("dpkg-source") is None:
            raise Unavailable(f"dpkg-source is needed to unpack the source of {package} (Debian's dpkg-dev)")
        self.run("source", "--download-only", package, cwd=folder)
        description = next(folder.glob("*.dsc"))
        quietly(["dpkg-source", *dpkg_options, "-x", description.name, "unpacked"], self.log, cwd=folder)

    def unpack_original_source(self, package, folder):
        """The package's source as its authors published it, in folder/unpacked."""
        self.run("source", "--download-only", "--tar-only", package, cwd=folder)
        (folder / "unpacked").mkdir()
        quietly(["tar", "-xf", next(folder.glob("*.orig.tar.*")).name, "--strip-components=1", "-C", "unpacked"],
                self.log, cwd=folder)

    def unpack(self, packages, folder, without=()):
        """The packages and all that they need, `without` some of it, below folder as below /."""
        archives = self.folder / "archives"
        (archives / "partial").mkdir(parents=True, exist_ok=True)
        self.run("-o", f"Dir::Cache::archives={archives}", "--no-install-recommends", "--download-only",
                 "install", *packages)
        for archive in sorted(archives.glob("*.deb")):
            if archive.name.partition("_")[0] not in without:
                quietly(["dpkg-deb", "-x", archive, folder], self.log)
        shutil.rmtree(archives)


def have_keys(archive, log):
    """Ubuntu's keys come in a package of Debian's."""
    if not pathlib.Path(archive.keyring).exists():
        Apt(KEYS.with_name("apt-keys"), "sid", ["deb"], log).unpack(["ubuntu-keyring"], KEYS)
