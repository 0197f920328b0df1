"""The .deb and the wheel: made of what is built, unpacked into an empty folder, and used from there."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import live

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(live.FATHOM).resolve().parents[2]
PROGRAM = "def busy():\n    return sum(i * i for i in range(3000000))\nprint(busy())\n"
# What a user without the build has.
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith(("FATHOM", "PYTHON"))}


def need(*programs):
    missing = [program for program in programs if shutil.which(program) is None]
    if missing:
        raise unittest.SkipTest(f"{missing[0]} is not installed")


class Package(unittest.TestCase):
    kind = None

    @classmethod
    def setUpClass(cls):
        need("meson", "strip", "readelf")
        if cls.kind is None:
            raise unittest.SkipTest("one of these packages")
        folder = tempfile.TemporaryDirectory(prefix="fathom-package-", ignore_cleanup_errors=True)
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.folder.chmod(0o755)
        subprocess.run(["meson", "install", "-C", BUILD, "--no-rebuild", "--destdir", cls.folder / "installed"],
                       check=True, capture_output=True, timeout=300)
        prefix = next((cls.folder / "installed").glob("**/bin/fathom")).parents[1]
        made = subprocess.run([sys.executable, "-B", ROOT / "tools/package.py", cls.kind, prefix, "1.2.3",
                               cls.folder / "packages"], capture_output=True, text=True, timeout=300)
        assert made.returncode == 0, made.stderr
        cls.package = made.stdout.strip()
        cls.home = cls.folder / "home"
        cls.home.mkdir()
        (cls.home / "app.py").write_text(PROGRAM, encoding="utf-8")
        cls.home.chmod(0o777)

    def use(self, *command, **environment):
        user = {"user": live.ORDINARY_USER, "group": live.ORDINARY_USER, "extra_groups": []} if os.geteuid() == 0 else {}
        done = subprocess.run(command, cwd=self.home, env={**CLEAN, "HOME": str(self.home), **environment},
                              capture_output=True, text=True, timeout=300, **user)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done


class Deb(Package):
    kind = "deb"

    @classmethod
    def setUpClass(cls):
        need("dpkg-deb", "dpkg-shlibdeps")
        super().setUpClass()
        subprocess.run(["dpkg", "-x", cls.package, cls.folder / "root"], check=True, timeout=300)
        cls.fathom = str(cls.folder / "root/usr/bin/fathom")

    def test_an_ordinary_user_records_with_it(self):
        self.assertIn("busy", self.use(self.fathom, "record", "--", "/usr/bin/python3", "app.py").stderr)
        self.assertIn("busy", self.use(self.fathom, "report").stdout)

    def test_the_doctor_of_a_stripped_program_finds_its_own_work(self):
        done = subprocess.run([self.fathom, "doctor", "--seconds", "1"], cwd=self.home, env=CLEAN, capture_output=True,
                              text=True, timeout=300)
        shares = re.search(r"shares +([\d.]+), ([\d.]+) and ([\d.]+) % of three functions", done.stdout)
        self.assertTrue(shares, done.stdout + done.stderr)
        self.assertGreater(min(map(float, shares.groups())), 0, done.stdout)

    def test_it_says_what_it_needs_and_has_no_more(self):
        fields = subprocess.run(["dpkg-deb", "-f", self.package, "Depends", "Version"], capture_output=True, text=True,
                                check=True, timeout=300).stdout
        self.assertRegex(fields, r"libc6 \(>= 2\.\d+\)")
        self.assertIn("1.2.3", fields)
        names = {str(path.relative_to(self.folder / "root")) for path in (self.folder / "root").rglob("*")
                 if path.is_file()}
        for name in ("usr/share/man/man1/fathom.1.gz", "usr/share/bash-completion/completions/fathom",
                     "usr/share/fathom/python/fathom.py", "usr/share/doc/fathom/copyright"):
            self.assertIn(name, names)
        self.assertEqual([name for name in names if "test" in name or name.endswith(".a")], [])

    def test_lintian_finds_nothing_but_what_is_named(self):
        need("lintian")
        done = subprocess.run(["lintian", "--allow-root", "--fail-on", "error,warning", self.package],
                              capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


class Wheel(Package):
    kind = "wheel"

    @classmethod
    def setUpClass(cls):
        need("patchelf", "ldd")
        python = "/usr/bin/python3"
        if subprocess.run([python, "-m", "pip", "--version"], capture_output=True, timeout=300).returncode != 0:
            raise unittest.SkipTest("pip is not installed")
        super().setUpClass()
        cls.python = python
        cls.site = cls.folder / "site"
        subprocess.run([python, "-m", "pip", "install", "-q", "--no-index", "--no-deps", "--no-compile",
                        "--target", cls.site, cls.package], check=True, capture_output=True, timeout=300)

    def test_python_m_fathom_records_and_reports(self):
        here = {"PYTHONPATH": str(self.site)}
        self.assertIn("busy", self.use(self.python, "-m", "fathom", "record", "-o", "x.fathom", "app.py", **here).stderr)
        self.assertIn("busy", self.use(self.python, "-m", "fathom", "report", "x.fathom", **here).stdout)
        self.assertIn("busy", self.use(self.python, "-m", "fathom", "record", self.python, "app.py", **here).stderr)

    def test_python_m_fathom_records_a_module(self):
        here = {"PYTHONPATH": str(self.site)}
        done = self.use(self.python, "-m", "fathom", "record", "--overhead", "5%", "-o", "m.fathom", "-m", "app", **here)
        self.assertIn("busy", done.stderr)
        self.assertRegex(self.use(self.python, "-m", "fathom", "report", "m.fathom", **here).stdout,
                         r"command +\S+ -m app\n")

    def test_it_knows_which_options_have_a_value(self):
        main = (self.site / "fathom/__main__.py").read_text(encoding="utf-8")
        known = set(re.findall(r'"(--?[a-z-]+)"', re.search(r"WITH_VALUE = \((.*?)\)", main, re.S).group(1)))
        shown = "".join(subprocess.run([live.FATHOM, command, "--help"], capture_output=True, text=True, check=True,
                                       timeout=300).stdout for command in ("record", "trace"))
        there = {name for option in re.findall(r"^ +(?:(-\w), )?(--[a-z-]+) [A-Z]+\b", shown, re.M) for name in option if name}
        self.assertEqual(known, there)

    def test_the_command_and_the_module_for_regions_are_there(self):
        here = {"PYTHONPATH": str(self.site)}
        self.assertRegex(self.use(str(self.site / "bin/fathom"), "version", **here).stdout, r"\d+\.\d+")
        (self.home / "steps.py").write_text("import fathom\nwith fathom.region('load'):\n"
                                            "    sum(i * i for i in range(3000000))\n", encoding="utf-8")
        self.use(self.python, "-m", "fathom", "record", "-o", "r.fathom", "steps.py", **here)
        self.assertIn("load", self.use(self.python, "-m", "fathom", "report", "--by", "region", "r.fathom", **here).stdout)

    def test_its_libraries_are_in_it(self):
        found = self.use("ldd", str(self.site / "fathom/_program/bin/fathom")).stdout
        for name in ("libdw.so.1", "libelf.so.1", "libsqlite3.so.0", "libbz2.so"):
            self.assertRegex(found, rf"{name}\S* => \S*/bundled/")
        self.assertRegex(self.package, r"manylinux_2_\d\d_\w+\.whl$")


if __name__ == "__main__":
    live.main()
