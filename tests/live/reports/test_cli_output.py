"""What fathom prints and writes, to files, pipes and terminals, and the names in it."""

import json
import os
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

import live
from command_line import FAILED, USAGE, CommandLine, as_ordinary_user, run, run_on_terminal

SCHEMA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "docs",
                      "report-json.schema.json")


class OfNames(CommandLine):
    """Recordings whose recorder did not get to look names up."""

    def nameless(self, program):
        """A recording of program without names, in a folder of its own."""
        path = os.path.join(tempfile.mkdtemp(dir=self.folder), "nameless.fathom")
        subprocess.run([live.FATHOM, "record", "-q", "--rate", "5000", "-o", path, "--", program, "-c",
                        "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done"], check=True, timeout=300)
        database = sqlite3.connect(path)
        with database:
            for table in ("functions", "locations", "sources", "notes"):
                database.execute(f"DELETE FROM {table}")
            database.execute("DELETE FROM facts WHERE key = 'symbolized'")
        database.close()
        return path

    def count(self, path, table):
        database = sqlite3.connect(path)
        count = database.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
        database.close()
        return count

    def test_they_are_looked_up_once_and_kept(self):
        path = self.nameless("/bin/sh")
        first = run("report", path)
        self.assertEqual((first.returncode, first.stderr), (0, b""))
        names = self.count(path, "functions")
        self.assertGreater(names, 0)
        self.assertEqual(run("report", path).stdout, first.stdout)
        self.assertEqual(self.count(path, "functions"), names)

    def test_where_they_cannot_be_kept_the_report_says_so(self):
        path = self.nameless("/bin/sh")
        if not as_ordinary_user and os.geteuid() == 0:
            self.skipTest("this user may write everywhere and cannot become another")
        os.chmod(path, 0o444)
        os.chmod(os.path.dirname(path), 0o555)
        try:
            done = run("report", "--json", path, **as_ordinary_user)
        except PermissionError:
            self.skipTest(f"an unprivileged user cannot run {live.FATHOM}")
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        report = json.loads(done.stdout)
        self.assertIn("could not be kept", " ".join(report["recording"]["notes"]))
        self.assertGreater(len(report["functions"]), 1)
        self.assertEqual(self.count(path, "functions"), 0)

    def test_a_program_that_is_gone_is_noted_and_not_held_against_the_recording(self):
        shell = self.path("gone-shell")
        shutil.copy(os.path.realpath("/bin/sh"), shell)
        path = self.nameless(shell)
        os.unlink(shell)
        done = run("export", "-f", "folded", path)
        self.assertEqual(done.returncode, 0)
        self.assertIn("gone-shell+0x", done.stdout.decode())
        self.assertRegex(done.stderr.decode(), r"^fathom: note: .*gone-shell")
        self.assertEqual(self.count(path, "functions"), 0)

    def test_a_terminal_sees_how_far_it_is_when_that_takes_long(self):
        path = self.nameless("/bin/sh")
        database = sqlite3.connect(path)
        with database:
            module, = database.execute("SELECT id FROM modules WHERE path LIKE '%libc%'").fetchone()
            database.executemany("INSERT INTO frames (module, address) VALUES (?, ?)",
                                 ((module, 1 << 40 | i) for i in range(400000)))
        database.close()
        shutil.copy(path, path + ".again")
        output, code = run_on_terminal("report", path, folder=self.folder)
        self.assertEqual(code, 0)
        self.assertRegex(output, r"\rlooking up names: \d+ %")
        self.assertLess(output.rindex("looking up names"), output.rindex("\r\x1b[K"))
        self.assertNotIn(b"looking up", run("report", path + ".again").stderr)

    def test_another_build_of_a_program_gives_no_names(self):
        program = self.path("replaced")
        shutil.copy(os.path.realpath("/bin/sh"), program)
        path = self.nameless(program)
        shutil.copy("/bin/true", program)
        report = json.loads(run("report", "--json", path).stdout)
        names = {row["name"] for row in report["functions"] if (row["module"] or "").endswith("/replaced")}
        self.assertTrue(names)
        for name in names:
            self.assertRegex(name, r"^replaced\+0x[0-9a-f]+$")


class OfOutput(CommandLine):
    def test_json_is_what_the_schema_says(self):
        try:
            import jsonschema
        except ImportError:
            self.skipTest("python3-jsonschema is not installed")
        with open(SCHEMA, encoding="utf-8") as file:
            schema = json.load(file)
        for options in ([], ["--by", "line"], ["--by", "module"], ["--by", "thread"], ["--by", "process"], ["--by", "program"],
                        ["--tree"], ["--callers", "main"], ["--callees", "main"]):
            with self.subTest(options):
                done = run("report", self.recording, "--json", *options)
                if options and options[0].startswith("--calle") and done.returncode == FAILED:
                    self.assert_refused(done, FAILED, "main")
                    continue
                self.assertEqual(done.returncode, 0, done.stderr)
                report = json.loads(done.stdout.decode("utf-8"))
                jsonschema.validate(report, schema)
                self.assertEqual(sum(row["self_ns"] for row in report["functions"]), report["total_ns"])

    def test_json_has_every_function_whatever_is_asked_of_the_table(self):
        whole = run("report", self.recording, "--json").stdout
        self.assertEqual(run("report", self.recording, "--json", "-n", "1", "--min", "50", "--sort", "total")
                         .stdout, whole)

    def test_the_report_at_the_end_says_what_must_not_be_missed(self):
        path = self.path("end.fathom")
        done = run("record", "-o", path, "sh", "-c", "sleep 4 >/dev/null 2>&1 &")
        self.assertEqual((done.returncode, done.stdout), (0, b""))
        self.assertRegex(done.stderr.decode(), r"(?s)\nnote     sleep \(pid \d+\) still ran .*--wait")
        done = run("record", "--trigger", "timer", "-o", path, "true")
        self.assertRegex(done.stderr.decode(), r"\ntimers   .")
        self.assertRegex(done.stderr.decode(), rf"\nRecorded in {re.escape(path)}.\nfathom record --rate 20000 -- true .*\n.*done'.*\n$")
        done = run("record", "--rate", "5000", "-o", path, "sh", "-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done")
        self.assertRegex(done.stderr.decode(), rf"\nRecorded in {re.escape(path)}.\n(fathom .*\n)*fathom open {re.escape(path)} .*\n$")

    def test_unknown_formats(self):
        self.assert_refused(run("export", self.recording, "-f", "foldde"), USAGE, "'folded'")
        self.assert_refused(run("export", self.recording, "--format=xml"), USAGE, "speedscope", "pprof",
                            "flamegraph", "folded")
        self.assert_refused(run("export", self.recording), USAGE, "--format", "folded")

    def test_the_name_of_the_output_may_say_the_format(self):
        done = run("export", self.recording, "-o", self.path("out.folded"))
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        with open(self.path("out.folded"), "rb") as file:
            self.assertEqual(file.read(), run("export", "-f", "folded", self.recording).stdout)

    def test_binary_is_refused_on_a_terminal(self):
        output, code = run_on_terminal("export", "-f", "pprof", self.recording, folder=self.folder)
        self.assertEqual(code, USAGE)
        self.assertIn("binary", output)
        self.assertEqual(output.count("\n"), 1)
        self.assertEqual(run("export", "-f", "pprof", self.recording).stdout[:2], b"\x1f\x8b")

    def test_text_goes_to_a_terminal(self):
        output, code = run_on_terminal("export", "-f", "folded", self.recording, folder=self.folder)
        self.assertEqual(code, 0)
        self.assertIn(";", output)

    def test_a_full_disk_is_reported(self):
        for arguments in (["report", self.recording], ["report", "--json", self.recording],
                          ["info", self.recording], ["export", "-f", "folded", self.recording], ["version"],
                          ["help"]):
            with self.subTest(arguments), open("/dev/full", "wb") as full:
                done = run(*arguments, stdout=full, stderr=subprocess.PIPE)
                self.assertEqual(done.returncode, FAILED)
                self.assertIn("standard output: No space left", done.stderr.decode())
        done = run("export", "-f", "folded", "-o", "/dev/full", self.recording)
        self.assert_refused(done, FAILED, "/dev/full", "No space left")

    def test_an_export_that_fails_leaves_what_was_there(self):
        folder = tempfile.mkdtemp(dir=self.folder)
        target = os.path.join(folder, "out.html")
        before = b"<!DOCTYPE html>\n<!-- A page of fathom's -->\nbefore"
        with open(target, "wb") as file:
            file.write(before)

        def no_room():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        done = run("export", "-f", "flamegraph", "-o", target, self.recording, preexec_fn=no_room)
        self.assert_refused(done, FAILED, "out.html", "File too large")
        self.assertEqual(os.listdir(folder), ["out.html"])
        with open(target, "rb") as file:
            self.assertEqual(file.read(), before)
        self.assertEqual(run("export", "-f", "flamegraph", "-o", target, self.recording).returncode, 0)
        self.assertEqual(os.listdir(folder), ["out.html"])
        with open(target, "rb") as file:
            self.assertIn(b"<html", file.read().lower())

    def test_an_export_follows_a_link_and_keeps_it(self):
        folder = tempfile.mkdtemp(dir=self.folder)
        target, link = os.path.join(folder, "target"), os.path.join(folder, "link")
        with open(target, "wb"):
            pass
        os.symlink("target", link)
        self.assertEqual(run("export", "-f", "folded", "-o", link, self.recording).returncode, 0)
        self.assertTrue(os.path.islink(link))
        self.assertGreater(os.path.getsize(target), 0)

    def test_an_export_has_the_permissions_of_any_new_file(self):
        path = self.path("mode.folded")
        run("export", "-f", "folded", "-o", path, self.recording, preexec_fn=lambda: os.umask(0o027))
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o640)

    def test_outputs_that_cannot_be_made(self):
        self.assert_refused(run("export", "-f", "folded", "-o", self.path("no/such"), self.recording), FAILED,
                            "no/such", "No such file")
        self.assert_refused(run("export", "-f", "folded", "-o", self.folder, self.recording), FAILED,
                            self.folder, "directory")

    def test_a_recording_is_not_overwritten_by_its_export(self):
        done = run("export", "-f", "folded", "-o", self.recording, self.recording)
        self.assert_refused(done, USAGE, "is the recording itself")
        self.assertEqual(run("info", self.recording).returncode, 0)

    def test_no_permission_for_an_export(self):
        folder = tempfile.mkdtemp(dir=self.folder)
        os.chmod(folder, 0o555)
        if not as_ordinary_user and os.access(folder, os.W_OK):
            self.skipTest("this user may write everywhere and cannot become another")
        try:
            done = run("export", "-f", "folded", "-o", os.path.join(folder, "x"), self.recording, **as_ordinary_user)
        except PermissionError:
            self.skipTest(f"an unprivileged user cannot run {live.FATHOM}")
        self.assert_refused(done, FAILED, "Permission denied")

    def test_a_reader_that_goes_away_is_no_error(self):
        for command in (f'"$0" report "$1" | head -1', f'"$0" export -f flamegraph "$1" | head -c 10'):
            done = subprocess.run(["bash", "-o", "pipefail", "-c", command, live.FATHOM, self.recording],
                                  capture_output=True, timeout=300)
            self.assertEqual((done.returncode, done.stderr), (0, b""))

    def test_colour_is_for_terminals(self):
        escape = "\x1b["
        self.assertNotIn(escape, run("report", self.recording).stdout.decode())
        self.assertIn(escape, run("report", self.recording, "--color", "always").stdout.decode())
        for environment, options, has_colour in (
                ({}, [], True), ({"NO_COLOR": "1"}, [], False), ({"NO_COLOR": ""}, [], True),
                ({"TERM": "dumb"}, [], False), ({}, ["--color=never"], False),
                ({"NO_COLOR": "1"}, ["--color=always"], True)):
            with self.subTest(environment=environment, options=options):
                plain = {name: value for name, value in environment.items()}
                output, code = run_on_terminal("report", self.recording, *options, folder=self.folder, **plain)
                self.assertEqual(code, 0)
                self.assertEqual(escape in output, has_colour)

    def test_a_pager_is_for_terminals(self):
        for environment, has_pager in (({"FATHOM_PAGER": "sed s/^/PAGED/"}, True),
                                       ({"FATHOM_PAGER": "", "PAGER": "sed s/^/PAGED/"}, False),
                                       ({"FATHOM_PAGER": "cat"}, False)):
            with self.subTest(environment):
                output, code = run_on_terminal("report", self.recording, folder=self.folder, **environment)
                self.assertEqual(code, 0)
                self.assertEqual("PAGED" in output, has_pager)
                self.assertIn("self %", output)
        self.assertNotIn(b"PAGED", run("report", self.recording,
                                       env={**os.environ, "FATHOM_PAGER": "sed s/^/PAGED/"}).stdout)
        output, code = run_on_terminal("report", "--no-pager", self.recording, folder=self.folder,
                                       FATHOM_PAGER="sed s/^/PAGED/")
        self.assertNotIn("PAGED", output)

    def test_a_pager_that_is_left_early_is_no_error(self):
        output, code = run_on_terminal("report", self.recording, folder=self.folder, FATHOM_PAGER="true")
        self.assertEqual((output, code), ("", 0))

    def test_the_version_is_said(self):
        self.assertRegex(run("--version").stdout.decode(), r"^fathom \d+\.\d+\.\d+\n$")
        self.assertEqual(run("version").stdout, run("--version").stdout)

    def test_foreign_bytes_do_not_reach_the_terminal(self):
        done = run("report", "\x1b[31mred\n.fathom", cwd=self.folder)
        self.assert_refused(done, FAILED, "\\x1b[31mred\\x0a.fathom")


class SoFar(live.LiveTest):
    def test_usr1_prints_the_report_so_far_and_disturbs_nothing(self):
        path = self.path("far.fathom")
        burns = "while [ ! -e stop ]; do :; done; exit 7"
        with subprocess.Popen([live.FATHOM, "record", "-q", "-o", path, "--", "sh", "-c", burns], cwd=self.folder,
                              stderr=subprocess.PIPE) as recorder:
            text = b""
            while b"self %" not in text:
                # Before the first second is committed there is nothing to be reported.
                time.sleep(1)
                recorder.send_signal(signal.SIGUSR1)
                text += os.read(recorder.stderr.fileno(), 65536)
            for _ in range(100):
                recorder.send_signal(signal.SIGUSR1)
                time.sleep(0.01)
            self.write("stop", "")
            text += recorder.stderr.read()
        self.assertEqual(recorder.returncode, 7)
        # However often it is asked: one a second.
        self.assertLess(text.count(b"command  sh"), 20)
        self.assertIn(b" so far: it is still being written", b" ".join(text.split()))
        # How long it took so far, which one thread's CPU time fits into.
        self.assertRegex(text, rb"\((0\.\d\d|1\.0\d) CPUs busy")
        self.assertIn(b"this is a report so far", text)
        self.assertRegex(text, rb"(?m)^ *[\d.]+ .* (sh|dash|bash)\b")
        self.assertIn(b"sh -c", subprocess.run([live.FATHOM, "info", path], capture_output=True, check=True, timeout=300).stdout)

    def test_threads_have_their_names_and_the_agents_are_not_counted_while_it_runs(self):
        program = ("import threading, time\ndef work():\n    while True: sum(range(2000)); time.sleep(0.005)\n"
                   "for n in 'one', 'two': threading.Thread(target=work, name='worker-' + n, daemon=True).start()\n"
                   "print('ready', flush=True)\ninput()")
        with subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as target:
            target.stdout.readline()
            path = self.path("attached.fathom")
            with subprocess.Popen([live.FATHOM, "record", "-q", "-o", path, "-p", str(target.pid)],
                                  stderr=subprocess.DEVNULL) as recorder:
                def shown(*options):
                    return subprocess.run([live.FATHOM, "report", *options, path], capture_output=True,
                                          timeout=60).stdout.decode()
                for _ in range(60):
                    threads, head = shown("--by", "thread", "-n", "0"), shown()
                    if "worker-one" in threads and "worker-two" in threads:
                        break
                    time.sleep(0.5)
                is_running = recorder.poll() is None
                recorder.send_signal(signal.SIGINT)
            target.stdin.close()
        self.assertTrue(is_running)
        self.assertIn("worker-one", threads)
        self.assertIn("worker-two", threads)
        self.assertRegex(head, r"[ ,]3 threads\b")


if __name__ == "__main__":
    live.main()
