"""Everything that can be wrong on the command line: one sentence, the right exit code."""

import os
import shutil
import signal
import sqlite3
import subprocess
import tempfile

import live
from command_line import (FAILED, NOT_EXECUTABLE, NOT_FOUND, OURS, USAGE, CommandLine, as_ordinary_user, run)


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
        self.assert_refused(run("record", "--clock", "wal", "true"), OURS, "cpu, user or wall", "'wal'")
        self.assert_refused(run("record", "--trigger=x", "true"), OURS, "auto, sigtrap, timer or copied")
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
        if not as_ordinary_user and os.access(folder, os.W_OK):
            self.skipTest("this user may write everywhere and cannot become another")
        try:
            done = run("record", "-o", os.path.join(folder, "x.fathom"), "true", **as_ordinary_user)
        except PermissionError:
            self.skipTest(f"an unprivileged user cannot run {live.FATHOM}")
        self.assert_refused(done, OURS, "x.fathom", "Permission denied")

    def test_anothers_recording_stays_where_it_is(self):
        folder = tempfile.mkdtemp(dir=self.folder)
        theirs = os.path.join(folder, "theirs.fathom")
        shutil.copy(self.recording, theirs)
        os.chmod(theirs, 0)
        os.chmod(folder, 0o777)
        if not as_ordinary_user and os.access(theirs, os.R_OK):
            self.skipTest("this user may read everything and cannot become another")
        try:
            done = run("record", "-o", theirs, "true", **as_ordinary_user)
        except PermissionError:
            self.skipTest(f"an unprivileged user cannot run {live.FATHOM}")
        self.assert_refused(done, OURS, "theirs.fathom", "may not be read", "-o")
        self.assertEqual(os.listdir(folder), ["theirs.fathom"])

    def test_an_agent_that_is_not_there_is_125(self):
        done = run("record", "true", cwd=self.folder, env={**os.environ, "FATHOM_AGENT": "/no/agents"})
        self.assert_refused(done, OURS, "/no/agents/libfathom-agent-record.so", "No such file", "FATHOM_AGENT")

    def test_an_agent_that_cannot_be_preloaded_is_125(self):
        agents = self.path("its agents")
        os.mkdir(agents)
        shutil.copy(live.AGENT, agents)
        done = run("record", "true", cwd=self.folder, env={**os.environ, "FATHOM_AGENT": agents})
        self.assert_refused(done, OURS, "its agents/libfathom-agent-record.so", "a space or a colon")

    def test_an_agent_may_be_named_from_here(self):
        shutil.copy(live.AGENT, self.folder)
        done = run("record", "-o", "relative.fathom", "sh", "-c", "cd /; exec true", cwd=self.folder,
                   env={**os.environ, "FATHOM_AGENT": "."})
        self.assertEqual(done.returncode, 0)
        self.assertNotIn("LD_PRELOAD", done.stderr.decode())

    def test_a_forced_trigger_that_is_refused_is_125_and_leaves_nothing(self):
        folder = tempfile.mkdtemp(dir=self.folder)
        done = subprocess.run([*live.workload("without_perf"), live.FATHOM, "record", "--trigger", "sigtrap", "true"],
                              cwd=folder, capture_output=True, timeout=300)
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
        first.communicate(b"\n", timeout=300)
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
                       timeout=300, check=False)
        done = run("info", cwd=folder)
        self.assertEqual(done.returncode, 0, done.stderr)


class OfReading(CommandLine):
    def test_a_file_that_is_not_there(self):
        for command in (["report"], ["info"], ["export", "-f", "folded"]):
            with self.subTest(command):
                done = run(*command, self.path("missing.fathom"))
                self.assert_refused(done, FAILED, "missing.fathom", "No such file", "fathom record")
                self.assert_refused(run(*command, cwd="/"), FAILED, "profile.fathom")

    def test_words_of_other_profilers(self):
        for arguments, here in (
                (["attach", "1"], "'fathom record -p PID'"), (["flamegraph"], "'fathom open'"), (["tree"], "--tree"),
                (["html"], "'fathom open'"), (["collapsed"], "--format folded"), (["--", "true"], "'fathom record -- COMMAND'"),
                (["report", "-F", "99"], "'fathom record --rate HZ'"), (["report", "--gil"], "'fathom dump PID'"),
                (["report", "-s", "tottime"], "--sort WHAT"), (["report", "-g"], "--tree"), (["report", "-d", "libc"], "--module"),
                (["report", "-f", "html"], "'fathom open'"), (["report", "--wall"], "'fathom record --clock wall'"),
                (["report", "-list", "main"], "'fathom report --lines FUNCTION'"), (["report", "-V"], "'fathom --version'"),
                (["dump", "--pid", "1"], "'fathom dump PID'"), (["top", "-p", "1"], "'fathom top PID'"),
                (["report", "--sort", "comm,dso"], "use '--by program'"), (["report", "--by", "dso"], "use '--by module'"),
                (["report", "--sort", "cum"], "use '--sort total'"), (["peek", "main"], "--callers FUNCTION"),
                (["trace", "-p", "1"], "'fathom trace -- COMMAND'"), (["report", "--tui"], "'fathom open'"),
                (["trace", "--wall", "true"], "'--clock wall'"), (["open", "--pid", "1"], "'--process PROCESS'")):
            with self.subTest(arguments):
                done = run(*arguments)
                self.assert_refused(done, OURS if arguments[0] in ("trace", "top") else USAGE, here)
                self.assertNotIn(b"did you mean", done.stderr)

    def test_words_of_other_recorders(self):
        for option, here in (("-F", "--rate HZ"), ("-g", "always recorded"), ("--call-graph=dwarf", "always recorded"),
                             ("-s", "--children"), ("-f", "-o x.html"), ("-V", "'fathom --version'"), ("--wall", "'--clock wall'"),
                             ("-m", "python3 -m MODULE"), ("--gil", "fathom dump")):
            with self.subTest(option):
                done = run("record", option, "true")
                self.assert_refused(done, OURS, f"'{option.split('=')[0]}'", here)
                self.assertNotIn(b"did you mean", done.stderr)
        self.assertEqual(run("-V").stdout, run("--version").stdout)

    def test_a_program_without_record(self):
        self.write("slow.py", b"")
        self.assert_refused(run("python3", "app.py"), USAGE, "'fathom record -- python3'")
        self.assert_refused(run("slow.py", cwd=self.folder), USAGE, "'fathom record -- slow.py'")

    def test_an_export_replaces_no_source_program_or_recording(self):
        for name in ("app.py", "other.fathom", "tool", "page.html", "notes.txt"):
            path = self.write(name, b"kept")
            os.chmod(path, 0o755 if name == "tool" else 0o644)
            with self.subTest(name):
                self.assert_refused(run("export", "-f", "folded", "-o", path, self.recording), 2, name, "name another file")
                with open(path, "rb") as file:
                    self.assertEqual(file.read(), b"kept")
        path = self.write("stacks.txt", b"main;an_export_before 12\n")
        self.assertEqual(run("export", "-f", "folded", "-o", path, self.recording).returncode, 0)

    def test_a_script_that_is_no_command(self):
        self.write("app.py", b"")
        self.assert_refused(run("record", "app.py", cwd=self.folder), 127, "python3 app.py")

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
        if not as_ordinary_user and os.access(secret, os.R_OK):
            self.skipTest("this user may read everything and cannot become another")
        try:
            done = run("report", secret, **as_ordinary_user)
        except PermissionError:
            self.skipTest(f"an unprivileged user cannot run {live.FATHOM}")
        self.assert_refused(done, FAILED, "secret.fathom", "Permission denied")

    def test_a_second_file(self):
        for command in (["report"], ["info"], ["export", "-f", "folded"]):
            self.assert_refused(run(*command, "a.fathom", "b.fathom"), USAGE, "'b.fathom'")

    def test_words_and_numbers_that_are_none(self):
        for options, parts in (
                (["--by", "foo"], ["function, line, module, package, region, state, thread, process or program", "'foo'"]),
                (["--sort", "foo"], ["self, total or calls"]),
                (["--min", "200"], ["0 to 100"]),
                (["--min", "x"], ["0 to 100"]),
                (["--min", "nan"], ["0 to 100"]),
                (["-n", "-3"], ["'-3'"]),
                (["-nx"], ["'x'"]),
                (["--color=blue"], ["auto, always or never"]),
                (["--tree", "--sort", "self"], ["'--sort'", "total time"]),
                (["--callers", "main", "--by", "module"], ["'--by'", "trees are of functions"]),
                (["--lines", "main", "--min-max"], ["'--min-max'", "table of functions"]),
                (["--by", "module", "--min-max"], ["'--min-max'", "table of functions"]),
                (["--tree", "--own", "x"], ["'--own'", "first screen", "'--package own'"]),
                (["--by", "function", "--all"], ["'--all'", "first screen"]),
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
        os.chmod(os.path.join(folder, "r.fathom"), 0o444)
        os.chmod(folder, 0o555)
        try:
            done = run("report", os.path.join(folder, "r.fathom"), **as_ordinary_user)
        except PermissionError:
            self.skipTest(f"an unprivileged user cannot run {live.FATHOM}")
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    live.main()
