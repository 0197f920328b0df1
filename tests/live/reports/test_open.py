"""The page that open writes and shows, exports that record writes at once, and parts of a profile."""

import json
import os
import subprocess

import live
from command_line import FAILED, USAGE, CommandLine, run

HERE = {name: value for name, value in os.environ.items()
        if name not in ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME", "WSL_INTEROP")}


class Open(CommandLine):
    def setUp(self):
        for name in os.listdir(self.folder):
            if name.endswith(".html"):
                os.unlink(self.path(name))

    def open(self, *arguments, **environment):
        return run("open", self.recording, *arguments, env={**HERE, **environment}, cwd=self.folder)

    def test_the_page_stands_beside_the_recording_and_is_made_anew(self):
        for _ in range(2):
            done = self.open()
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stdout.decode(), f"file://{os.path.realpath(self.path('good.html'))}\n")
        with open(self.path("good.html"), encoding="utf-8") as file:
            self.assertIn("fathom", file.read(300))

    def test_without_a_display_it_says_what_to_do(self):
        self.assertIn(b"there is no display here", self.open().stderr)
        self.assertEqual(self.open("--no-browser").stderr, b"")

    def test_the_browser_gets_the_page(self):
        for browser in ("cp -T %s seen.html", "sh -c 'cp \"$0\" seen.html'"):
            with self.subTest(browser):
                done = self.open(BROWSER=browser)
                self.assertEqual((done.returncode, done.stderr), (0, b""))
                self.assertTrue(os.path.exists(self.path("seen.html")))
                os.unlink(self.path("seen.html"))

    def test_xdg_open_is_asked_where_there_is_a_display(self):
        tools = self.path("tools")
        os.makedirs(tools, exist_ok=True)
        with open(os.path.join(tools, "xdg-open"), "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\ncp \"$1\" shown.html\n")
        os.chmod(os.path.join(tools, "xdg-open"), 0o755)
        self.open(DISPLAY=":0", PATH=tools + ":" + HERE["PATH"])
        self.assertTrue(os.path.exists(self.path("shown.html")))

    def test_a_browser_that_fails_is_said(self):
        done = self.open(BROWSER="false")
        self.assertEqual(done.returncode, 0)
        self.assertIn(b"failed", done.stderr)

    def test_what_is_not_a_page_of_ours_stays(self):
        path = self.write("good.html", b"<html>mine</html>")
        self.assert_refused(self.open(), USAGE, "good.html", "-o names another")
        with open(path, "rb") as file:
            self.assertEqual(file.read(), b"<html>mine</html>")
        self.assertEqual(self.open("-o", self.path("other.html")).returncode, 0)

    def test_in_a_folder_that_cannot_be_written_it_is_a_temporary_file(self):
        folder = self.path("closed")
        os.makedirs(folder, exist_ok=True)
        inside = os.path.join(folder, "run.fathom")
        with open(self.recording, "rb") as file, open(inside, "wb") as copy:
            copy.write(file.read())
        os.chmod(inside, 0o644)
        os.chmod(folder, 0o555)
        user = {}
        if os.geteuid() == 0:
            user = {"user": live.ORDINARY_USER, "group": live.ORDINARY_USER, "extra_groups": []}
        try:
            done = run("open", inside, env={**HERE, "TMPDIR": self.folder}, **user)
        except PermissionError:
            self.skipTest(f"an unprivileged user cannot run {live.FATHOM}")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout.decode(), r"^file://.*/fathom-\w{6}\.html\n$")


class AtOnce(CommandLine):
    def record(self, name, *options):
        return run("record", *options, "-o", self.path(name), "--", "sh", "-c", "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done")

    def test_record_writes_the_export_and_beside_it_the_recording(self):
        for name, begins in (("a.html", b"<!DOCTYPE html>"), ("b.json", b'{"$schema"'), ("c.pb.gz", b"\x1f\x8b"),
                             ("e.speedscope.json", b'{"$schema"'), ("d.folded", b""), ("h.svg", b"<?xml")):
            with self.subTest(name):
                done = self.record(name, "-q")
                self.assertEqual((done.returncode, done.stderr), (0, b""))
                with open(self.path(name), "rb") as file:
                    self.assertTrue(file.read().startswith(begins))
                recording = self.path(name[0] + ".fathom")
                self.assertEqual(run("info", recording).returncode, 0)

    def test_it_says_so_unless_it_is_quiet(self):
        self.assertRegex(self.record("f.html").stderr.decode(), r"Exported as flamegraph to \S*f\.html\.\n$")

    def test_a_picture_of_dots_is_refused_with_what_there_is(self):
        done = run("record", "-o", self.path("h.png"), "touch", self.path("ran"))
        self.assert_refused(done, 125, "h.png", "-o x.svg", "-o x.html")
        self.assertFalse(os.path.exists(self.path("ran")))
        self.assert_refused(run("export", "-o", self.path("h.png"), self.recording), USAGE, "h.png", "-o x.html")

    def test_a_file_of_others_is_refused_before_the_command_runs(self):
        self.write("g.html", b"<html>mine</html>")
        done = run("record", "-o", self.path("g.html"), "touch", self.path("ran"))
        self.assert_refused(done, 125, "g.html")
        self.assertFalse(os.path.exists(self.path("ran")))


class Parts(CommandLine):
    """A shell with a child, both of which compute."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        work = "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done"
        with open(os.path.join(cls.folder, "child.sh"), "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\n{work}\n")
        os.chmod(os.path.join(cls.folder, "child.sh"), 0o755)
        subprocess.run([live.FATHOM, "record", "-q", "--rate", "5000", "-o", cls.recording, "--", "sh", "-c",
                        f"{work}; ./child.sh; true"], check=True, timeout=300, cwd=cls.folder)

    def total(self, *options):
        done = run("export", "-f", "folded", *options, self.recording)
        self.assertEqual(done.returncode, 0, done.stderr)
        return sum(int(line.rsplit(" ", 1)[1]) for line in done.stdout.decode().splitlines())

    def test_an_export_of_one_process_is_what_the_report_says_of_it(self):
        whole = json.loads(run("report", "--json", "--by", "process", self.recording).stdout)
        self.assertEqual(self.total(), whole["total_ns"])
        child = next(row for row in whole["processes"] if row["name"] == "child.sh")
        self.assertEqual(self.total("--process", "child.sh"), child["self_ns"])
        self.assertEqual(self.total("--process", str(child["pid"])), child["self_ns"])
        part = json.loads(run("report", "--json", "--process", "child.sh", self.recording).stdout)
        self.assertEqual((part["total_ns"], part["filter"]["process"]), (child["self_ns"], "child.sh"))

    def test_an_export_of_one_module(self):
        part = json.loads(run("report", "--json", "--module", "libc", self.recording).stdout)
        self.assertEqual(self.total("--module", "libc"), part["total_ns"])

    def test_an_export_of_one_thread_of_a_process(self):
        self.assertEqual(self.total("--process", "child.sh", "--thread", "child.sh"), self.total("--process", "child.sh"))

    def test_what_is_not_there_is_said_with_what_is(self):
        done = run("export", "-f", "folded", "--process", "nothing", self.recording)
        self.assert_refused(done, FAILED, "nothing", "child.sh", "--by process")


if __name__ == "__main__":
    live.main()
