"""Everything that can be wrong on the command line: one sentence, the right exit code."""

import json
import os
import pty
import resource
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import unittest

import live

SCHEMA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs",
                      "report-json.schema.json")
OURS, NOT_EXECUTABLE, NOT_FOUND = 125, 126, 127
FAILED, USAGE = 1, 2

# An unprivileged user, for whom permissions count.
as_nobody = {"user": live.NOBODY, "group": live.NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}


def run(*arguments, **options):
    options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE,
               "timeout": 60, **options}
    return subprocess.run([live.FATHOM, *arguments], **options)


def run_on_terminal(*arguments, folder, stdout_only=False, **environment):
    """Output and exit code with a terminal for stdout (and stderr)."""
    master, slave = pty.openpty()
    done = subprocess.Popen([live.FATHOM, *arguments], stdin=subprocess.DEVNULL, stdout=slave,
                            stderr=subprocess.PIPE if stdout_only else slave, cwd=folder,
                            env={**os.environ, "TERM": "xterm", "FATHOM_PAGER": "", **environment})
    os.close(slave)
    output = b""
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:  # EIO: the last one closed it
            break
        if not piece:
            break
        output += piece
    os.close(master)
    done.wait(timeout=60)
    return output.decode(), done.returncode


class CommandLine(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="fathom-cli-")
        os.chmod(cls.folder, 0o777)
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.recording = os.path.join(cls.folder, "good.fathom")
        subprocess.run([live.FATHOM, "record", "-q", "--rate", "5000", "-o", cls.recording, "--",
                        "sh", "-c", "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done"],
                       check=True, timeout=60)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, content, mode=0o644):
        with open(self.path(name), "wb") as file:
            file.write(content)
        os.chmod(self.path(name), mode)
        return self.path(name)

    def assert_refused(self, done, code, *parts):
        """One line on stderr that has all parts, nothing on stdout, the exit code."""
        stderr = done.stderr.decode()
        self.assertEqual(done.returncode, code, stderr)
        self.assertTrue(stderr.startswith("fathom: "), stderr)
        self.assertEqual(stderr.count("\n"), 1, stderr)
        self.assertEqual(done.stdout, b"")
        for part in parts:
            self.assertIn(part, stderr)


class OfRecord(CommandLine):
    def busy_program(self):
        """A program that exec refuses (ETXTBSY) because it is open for writing."""
        shutil.copy("/bin/true", self.path("busy"))
        return open(self.path("busy"), "r+b")

    def test_a_command_that_does_not_exist_is_127(self):
        done = run("record", "--", "no-such-command", cwd=self.folder)
        self.assert_refused(done, NOT_FOUND, "no-such-command", "PATH")
        self.assert_refused(run("record", "./no-such-file", cwd=self.folder), NOT_FOUND, "No such file")
        self.assertNotIn("profile.fathom", os.listdir(self.folder))

    def test_a_file_that_is_not_executable_is_126(self):
        plain = self.write("plain", b"text")
        self.assert_refused(run("record", plain, cwd=self.folder), NOT_EXECUTABLE, "Permission denied")
        self.assert_refused(run("record", self.folder, cwd=self.folder), NOT_EXECUTABLE, "directory")

    def test_a_program_that_cannot_start_is_126_and_leaves_nothing(self):
        with self.busy_program() as busy:
            done = run("record", busy.name, cwd=self.folder)
        self.assert_refused(done, NOT_EXECUTABLE, busy.name, "Text file busy")
        self.assertNotIn("profile.fathom", os.listdir(self.folder))

    def test_a_failed_start_gives_the_older_recording_its_name_back(self):
        folder = tempfile.mkdtemp(dir=self.folder)
        shutil.copy(self.recording, os.path.join(folder, "profile.fathom"))
        with self.busy_program() as busy:
            for command, code in ((busy.name, NOT_EXECUTABLE), ("no-such-command", NOT_FOUND)):
                self.assert_refused(run("record", command, cwd=folder), code, command)
                self.assertEqual(os.listdir(folder), ["profile.fathom"])
                self.assertEqual(run("report", cwd=folder).returncode, 0)

    def test_no_command_is_125(self):
        self.assert_refused(run("record"), OURS, "fathom record -- COMMAND")
        self.assert_refused(run("record", "--wait", "--"), OURS, "fathom record -- COMMAND")

    def test_rates_out_of_range_are_125(self):
        for rate in ("0", "50001", "abc", "-5", "1.5", "", " 7", "99999999999999999999"):
            with self.subTest(rate):
                self.assert_refused(run("record", "--rate", rate, "true", cwd=self.folder), OURS,
                                    "from 1 to 50000", f"'{rate}'")

    def test_words_that_are_none_name_those_there_are(self):
        self.assert_refused(run("record", "--clock", "wal", "true"), OURS, "cpu or user", "'wal'")
        self.assert_refused(run("record", "--trigger=x", "true"), OURS, "auto, sigtrap or timer")
        self.assert_refused(run("record", "--color", "red", "true"), OURS, "auto, always or never")

    def test_an_unknown_option_names_the_nearest(self):
        self.assert_refused(run("record", "--rat", "5", "true"), OURS, "'--rat'", "'--rate'")
        self.assert_refused(run("record", "--nochildren", "true"), OURS, "'--no-children'")
        self.assert_refused(run("record", "--xyzzy", "true"), OURS, "'--xyzzy'", "--help")
        self.assert_refused(run("record", "-Z", "true"), OURS, "'-Z'")

    def test_a_value_that_is_missing_or_too_much(self):
        self.assert_refused(run("record", "--rate"), OURS, "'--rate'", "needs a value")
        self.assert_refused(run("record", "-o"), OURS, "'--output'", "needs a value")
        self.assert_refused(run("record", "-o", "", "true"), OURS, "'--output'", "not an empty one")
        self.assert_refused(run("record", "--wait=1", "true"), OURS, "'--wait'", "takes no value")

    def test_options_of_record_end_at_the_command(self):
        done = run("record", "-q", "-o", self.path("ends.fathom"), "sh", "-c", "echo $0 $1", "--rate", "-q")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"--rate -q\n", b""))
        done = run("record", "-qo", self.path("ends.fathom"), "--", "echo", "--")
        self.assertEqual((done.returncode, done.stdout), (0, b"--\n"))

    def test_an_output_that_cannot_be_made_is_125(self):
        self.assert_refused(run("record", "-o", self.path("no/such/folder"), "true"), OURS,
                            "no/such/folder", "No such file")
        self.assert_refused(run("record", "-o", self.folder, "true"), OURS, self.folder)

    def test_a_file_that_is_no_recording_is_not_overwritten(self):
        other = self.write("notes.txt", b"mine")
        self.assert_refused(run("record", "-o", other, "true"), OURS, "notes.txt", "not a recording")
        with open(other, "rb") as file:
            self.assertEqual(file.read(), b"mine")

    def test_no_permission_for_the_output_is_125(self):
        folder = tempfile.mkdtemp(dir=self.folder)
        os.chmod(folder, 0o555)
        if not as_nobody and os.access(folder, os.W_OK):
            self.skipTest("this user may write everywhere and cannot become another")
        try:
            done = run("record", "-o", os.path.join(folder, "x.fathom"), "true", **as_nobody)
        except PermissionError:
            self.skipTest(f"an unprivileged user cannot run {live.FATHOM}")
        self.assert_refused(done, OURS, "x.fathom", "Permission denied")

    def test_an_agent_that_is_not_there_is_125(self):
        done = run("record", "true", cwd=self.folder, env={**os.environ, "FATHOM_AGENT": "/no/agent.so"})
        self.assert_refused(done, OURS, "/no/agent.so", "No such file", "FATHOM_AGENT")

    def test_an_agent_that_cannot_be_preloaded_is_125(self):
        agent = self.path("an agent.so")
        shutil.copy(live.AGENT, agent)
        done = run("record", "true", cwd=self.folder, env={**os.environ, "FATHOM_AGENT": agent})
        self.assert_refused(done, OURS, "an agent.so", "a space or a colon")

    def test_an_agent_may_be_named_from_here(self):
        shutil.copy(live.AGENT, self.path("agent.so"))
        done = run("record", "-o", "relative.fathom", "sh", "-c", "cd /; exec true", cwd=self.folder,
                   env={**os.environ, "FATHOM_AGENT": "agent.so"})
        self.assertEqual(done.returncode, 0)
        self.assertNotIn("LD_PRELOAD", done.stderr.decode())

    def test_a_forced_trigger_that_is_refused_is_125_and_leaves_nothing(self):
        folder = tempfile.mkdtemp(dir=self.folder)
        done = subprocess.run([*live.workload("without_perf"), live.FATHOM, "record", "--trigger", "sigtrap", "true"],
                              cwd=folder, capture_output=True, timeout=60)
        self.assert_refused(done, OURS, "sigtrap", "perf_event_open", "--trigger timer")
        self.assertEqual(os.listdir(folder), [])

    def test_the_exit_code_is_the_commands(self):
        for command, code in (("exit 3", 3), ("exit 125", 125), ("kill -TERM $$", 128 + signal.SIGTERM),
                              ("kill -KILL $$", 128 + signal.SIGKILL)):
            with self.subTest(command):
                done = run("record", "-q", "-o", self.path("code.fathom"), "sh", "-c", command)
                self.assertEqual((done.returncode, done.stderr), (code, b""))

    def test_a_report_that_cannot_be_printed_changes_nothing(self):
        reader, writer = os.pipe()
        os.close(reader)
        done = run("record", "-o", self.path("pipe.fathom"), "sh", "-c", "exit 3", stderr=writer)
        os.close(writer)
        self.assertEqual(done.returncode, 3)
        self.assertEqual(run("info", self.path("pipe.fathom")).returncode, 0)

    def test_an_older_recording_is_kept(self):
        folder = tempfile.mkdtemp(dir=self.folder)
        for word in ("one", "two"):
            run("record", "-q", "echo", word, cwd=folder)
        self.assertEqual(sorted(os.listdir(folder)), ["profile.fathom", "profile.fathom.old"])
        self.assertIn("echo two", run("info", cwd=folder).stdout.decode())
        self.assertIn("echo one", run("info", "profile.fathom.old", cwd=folder).stdout.decode())

    def test_one_that_is_being_written_is_not_renamed(self):
        folder = tempfile.mkdtemp(dir=self.folder)
        first = subprocess.Popen([live.FATHOM, "record", "-q", "--", "sh", "-c", "echo; read x"], cwd=folder,
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        first.stdout.read(1)
        second = run("record", "-q", "true", cwd=folder)
        first.communicate(b"\n", timeout=30)
        self.assertIn("still being written", second.stderr.decode())
        self.assertEqual((first.returncode, second.returncode), (0, 0))
        names = sorted(os.listdir(folder))
        self.assertEqual(len(names), 2)
        self.assertIn("profile.fathom", names)
        self.assertRegex(" ".join(names), r"profile\.\d+\.fathom")
        self.assertIn("sh -c", run("info", cwd=folder).stdout.decode())

    def test_a_recording_that_is_taken_away_changes_nothing(self):
        folder = tempfile.mkdtemp(dir=self.folder)
        for options in ([], ["-q"]):
            with self.subTest(options):
                done = run("record", *options, "sh", "-c", "rm profile.fathom; exit 3", cwd=folder)
                self.assertEqual(done.returncode, 3)
                self.assertRegex(done.stderr.decode(), r"\Afathom: .*profile\.fathom.*No such file.*\n\Z")

    def test_a_closed_stderr_is_not_the_recordings_file(self):
        folder = tempfile.mkdtemp(dir=self.folder)
        subprocess.run(["sh", "-c", '"$0" record sh -c "echo text >&2" 2>&- >&- <&-', live.FATHOM], cwd=folder,
                       timeout=60, check=False)
        done = run("info", cwd=folder)
        self.assertEqual(done.returncode, 0, done.stderr)


class OfReading(CommandLine):
    def test_a_file_that_is_not_there(self):
        for command in (["report"], ["info"], ["export", "-f", "folded"]):
            with self.subTest(command):
                done = run(*command, self.path("missing.fathom"))
                self.assert_refused(done, FAILED, "missing.fathom", "No such file", "fathom record")
                self.assert_refused(run(*command, cwd="/"), FAILED, "profile.fathom")

    def test_a_directory(self):
        for command in ("report", "info"):
            self.assert_refused(run(command, self.folder), FAILED, self.folder, "not a recording")

    def test_foreign_files(self):
        for name, content, why in (("empty", b"", "empty"), ("text", b"hello\n" * 1000, "not a recording"),
                                   ("elf", b"\x7fELF" + bytes(5000), "not a recording")):
            with self.subTest(name):
                self.assert_refused(run("report", self.write(name, content)), FAILED, name, why)

    def test_another_database(self):
        path = self.path("other.db")
        database = sqlite3.connect(path)
        database.execute("CREATE TABLE t (a)")
        database.commit()
        database.close()
        self.assert_refused(run("report", path), FAILED, "other.db", "another program")

    def test_a_truncated_recording(self):
        with open(self.recording, "rb") as file:
            whole = file.read()
        for size in (50, 100, 4096, 8192, len(whole) // 2, len(whole) - 1):
            with self.subTest(size):
                done = run("report", self.write("cut.fathom", whole[:size]))
                self.assert_refused(done, FAILED, "cut.fathom")

    def test_no_permission(self):
        secret = self.path("secret.fathom")
        shutil.copy(self.recording, secret)
        os.chmod(secret, 0)
        if not as_nobody and os.access(secret, os.R_OK):
            self.skipTest("this user may read everything and cannot become another")
        try:
            done = run("report", secret, **as_nobody)
        except PermissionError:
            self.skipTest(f"an unprivileged user cannot run {live.FATHOM}")
        self.assert_refused(done, FAILED, "secret.fathom", "Permission denied")

    def test_a_second_file(self):
        for command in (["report"], ["info"], ["export", "-f", "folded"]):
            self.assert_refused(run(*command, "a.fathom", "b.fathom"), USAGE, "'b.fathom'")

    def test_words_and_numbers_that_are_none(self):
        for options, parts in (
                (["--by", "foo"], ["function, line, module, thread or process", "'foo'"]),
                (["--sort", "foo"], ["self or total"]),
                (["--min", "200"], ["0 to 100"]),
                (["--min", "x"], ["0 to 100"]),
                (["--min", "nan"], ["0 to 100"]),
                (["-n", "-3"], ["'-3'"]),
                (["-nx"], ["'x'"]),
                (["--color=blue"], ["auto, always or never"]),
                (["--tre"], ["'--tree'"]),
                (["--sortby"], ["'--sort'"]),
                (["-Q"], ["'-Q'"]),
                (["--thread"], ["needs a value"]),
                (["--json=1"], ["takes no value"])):
            with self.subTest(options):
                self.assert_refused(run("report", self.recording, *options), USAGE, *parts)

    def test_names_that_are_not_in_the_recording(self):
        for option in ("--thread", "--module", "--callers", "--callees"):
            with self.subTest(option):
                self.assert_refused(run("report", self.recording, option, "no-such"), FAILED, "no-such")

    def test_unknown_commands(self):
        self.assert_refused(run("reprot"), USAGE, "'reprot'", "'report'")
        self.assert_refused(run("xyzzy"), USAGE, "'xyzzy'", "fathom help")
        self.assert_refused(run("help", "recrod"), USAGE, "'record'")

    def test_no_arguments_show_what_there_is(self):
        done = run()
        self.assertEqual((done.returncode, done.stdout), (USAGE, b""))
        self.assertIn("record", done.stderr.decode())

    def test_help_is_no_error_message(self):
        for arguments in (["--help"], ["help"], ["help", "record"], ["record", "--help"], ["report", "-h"],
                          ["export", "--help"], ["info", "--help"], ["version", "--help"]):
            with self.subTest(arguments):
                done = run(*arguments)
                self.assertEqual((done.returncode, done.stderr), (0, b""))
                self.assertTrue(done.stdout.startswith(b"usage: fathom"), done.stdout)

    def test_options_may_stand_before_and_after_the_file(self):
        after = run("report", self.recording, "--by", "module", "-n", "2")
        before = run("report", "--by=module", "-n2", self.recording)
        self.assertEqual((after.returncode, before.returncode), (0, 0))
        self.assertEqual(after.stdout, before.stdout)
        self.assertEqual(run("report", "--json", "--", self.recording).returncode, 0)

    def test_a_file_whose_name_begins_with_a_dash(self):
        shutil.copy(self.recording, self.path("--by"))
        self.assertEqual(run("info", "--", "--by", cwd=self.folder).returncode, 0)

    def test_a_recording_in_a_folder_that_cannot_be_written(self):
        folder = tempfile.mkdtemp(dir=self.folder)
        shutil.copy(self.recording, os.path.join(folder, "r.fathom"))
        os.chmod(folder, 0o555)
        try:
            done = run("report", os.path.join(folder, "r.fathom"), **as_nobody)
        except PermissionError:
            self.skipTest(f"an unprivileged user cannot run {live.FATHOM}")
        self.assertEqual(done.returncode, 0, done.stderr)


class OfNames(CommandLine):
    """Recordings whose recorder did not get to look names up."""

    def nameless(self, program):
        """A recording of program without names, in a folder of its own."""
        path = os.path.join(tempfile.mkdtemp(dir=self.folder), "nameless.fathom")
        subprocess.run([live.FATHOM, "record", "-q", "--rate", "5000", "-o", path, "--", program, "-c",
                        "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done"], check=True, timeout=60)
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
        if not as_nobody and os.geteuid() == 0:
            self.skipTest("this user may write everywhere and cannot become another")
        os.chmod(path, 0o444)
        os.chmod(os.path.dirname(path), 0o555)
        try:
            done = run("report", "--json", path, **as_nobody)
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
        for options in ([], ["--by", "line"], ["--by", "module"], ["--by", "thread"], ["--by", "process"],
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

    def test_a_full_disk_is_told(self):
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
        with open(target, "wb") as file:
            file.write(b"before")

        def no_room():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        done = run("export", "-f", "flamegraph", "-o", target, self.recording, preexec_fn=no_room)
        self.assert_refused(done, FAILED, "out.html", "File too large")
        self.assertEqual(os.listdir(folder), ["out.html"])
        with open(target, "rb") as file:
            self.assertEqual(file.read(), b"before")
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
        if not as_nobody and os.access(folder, os.W_OK):
            self.skipTest("this user may write everywhere and cannot become another")
        try:
            done = run("export", "-f", "folded", "-o", os.path.join(folder, "x"), self.recording, **as_nobody)
        except PermissionError:
            self.skipTest(f"an unprivileged user cannot run {live.FATHOM}")
        self.assert_refused(done, FAILED, "Permission denied")

    def test_a_reader_that_goes_away_is_no_error(self):
        for command in (f'"$0" report "$1" | head -1', f'"$0" export -f flamegraph "$1" | head -c 10'):
            done = subprocess.run(["bash", "-o", "pipefail", "-c", command, live.FATHOM, self.recording],
                                  capture_output=True, timeout=60)
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


if __name__ == "__main__":
    live.main()
