"""Which interpreters there are in which processes, as the recorder finds them."""

import glob
import os
import struct
import subprocess
import textwrap

import live

PYTHON = "/usr/bin/python3"
VERSION = "import platform; print(platform.python_version())"
LIBRARY = ("import sysconfig; print(sysconfig.get_config_var('LIBDIR'),"
           " sysconfig.get_config_var('INSTSONAME'))")


def ask(python, program):
    return subprocess.run([python, "-c", program], capture_output=True, check=True,
                          timeout=300).stdout.decode().strip()


class Interpreters(live.LiveTest):
    def setUp(self):
        super().setUp()
        if not os.access(PYTHON, os.X_OK):
            self.skipTest(f"{PYTHON} is not there")

    def interpreters(self, recording):
        """[(pid's image, version, why_not, module's file)], by process."""
        return recording.rows(
            "SELECT i.process, i.version, i.why_not, m.path FROM interpreters i"
            " JOIN modules m ON m.id = i.module ORDER BY i.process, i.id")

    def entered(self, recording):
        return [row[0] for row in recording.rows(
            "SELECT id FROM processes WHERE period_ns IS NOT NULL ORDER BY id")]

    def notes(self, recording):
        return [row[0] for row in recording.rows("SELECT text FROM notes")]

    def assert_known(self, recording, processes):
        rows = self.interpreters(recording)
        self.assertEqual([row[1:3] for row in rows], [(ask(PYTHON, VERSION), None)] * processes, rows)
        self.assertEqual(len({row[0] for row in rows}), processes)

    def test_a_program_without_one_has_none(self):
        recording = self.record(["/bin/sh", "-c", "true"])
        self.assertEqual(self.interpreters(recording), [])

    def test_a_python_is_known_by_its_version(self):
        self.assert_known(self.record([PYTHON, "-c", "sum(range(1000000))"]), 1)

    def test_so_it_is_where_timers_trigger(self):
        self.assert_known(
            self.record([PYTHON, "-c", "sum(range(1000000))"], "--trigger", "timer"), 1)

    def test_so_it_is_for_an_unprivileged_user(self):
        self.assert_known(self.record_as_user([PYTHON, "-c", "sum(range(1000000))"]), 1)

    def test_thread_states_that_are_never_as_they_should_be_are_reported(self):
        if not ask(PYTHON, VERSION).startswith("3.11."):
            self.skipTest("where 3.11 keeps a state's thread_id is known here")
        recording = self.record([PYTHON, "-c", textwrap.dedent("""
            import ctypes, time
            get = ctypes.pythonapi.PyThreadState_Get
            get.restype = ctypes.c_void_p
            thread_id = ctypes.c_ulong.from_address(get() + 152)
            kept, thread_id.value = thread_id.value, 1
            while time.thread_time() < 1.5:
                pass
            thread_id.value = kept
            """)], rate=20)
        why_not = self.interpreters(recording)[0][2]
        self.assertIn("do not look as CPython 3.11", why_not)
        self.assertIn(why_not, "\n".join(self.notes(recording)))
        self.assertEqual(recording.rows("SELECT count(*) FROM codes WHERE path IS NOT NULL"), [(0,)])

    def test_children_of_fork_and_of_exec_have_their_own(self):
        program = ("import os, sys, subprocess\n"
                   "pid = os.fork()\n"
                   "sum(range(1000000))\n"
                   "if pid:\n"
                   "    os.waitpid(pid, 0)\n"
                   "    subprocess.run([sys.executable, '-c', 'pass'])\n"
                   "    os.execv('/bin/true', ['true'])\n")
        for options in ((), ("--trigger", "timer")):
            recording = self.record([PYTHON, "-c", program], *options)
            self.assert_known(recording, 3)
            # And what was executed in its place has none.
            self.assertEqual(len(self.entered(recording)), 4)

    def test_a_library_that_comes_late_is_found_when_it_comes(self):
        for python in [PYTHON, *sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/3*/bin/python")))]:
            folder, name = ask(python, LIBRARY).split()
            path = os.path.join(folder, name)
            if name.endswith(".so") or ".so." in name and os.path.exists(path):
                break
        else:
            self.skipTest("no Python here is a shared library")
        environment = {**os.environ, "PYTHONHOME": ask(python, "import sys; print(sys.prefix)")}
        for options in ((), ("--trigger", "timer")):
            recording = self.record(
                live.workload("embeds", path, "def late():\n  sum(range(30000000))\nlate()"),
                *options, env=environment)
            rows = self.interpreters(recording)
            self.assertEqual([row[1:] for row in rows],
                             [(ask(python, VERSION), None, os.path.realpath(path))], rows)
            self.assertGreater(recording.time_of("late", "total_ns"), 0.5 * recording.total_ns())

    def make_unknown(self):
        """A Python of an unknown version, and that works all the same."""
        version = ask(PYTHON, VERSION)
        number = int(ask(PYTHON, "import sys; print(sys.hexversion)"))
        with open(PYTHON, "rb") as file:
            data = file.read()
        minor = version.split(".")[1]
        unknown = data.replace(struct.pack("<I", number),
                               struct.pack("<I", number & 0xff00ffff | 99 << 16))
        unknown = unknown.replace(version.encode() + b"\0",
                                  version.replace(minor, "99", 1).encode() + b"\0")
        if len(minor) != 2 or version.encode() + b"\0" not in data:
            self.skipTest(f"{PYTHON} does not hold its version")
        path = self.path("unknown")
        with open(path, "wb") as file:
            file.write(unknown)
        os.chmod(path, 0o755)
        return path

    def test_an_unknown_version_is_reported_once_for_its_file(self):
        python = self.make_unknown()
        program = "import os; os.fork() or os._exit(0); os.wait(); sum(range(3000000))"
        recording = self.record([python, "-c", program])
        rows = self.interpreters(recording)
        self.assertEqual(len(rows), 2, rows)
        for _, version, why_not, path in rows:
            self.assertRegex(version, r"^3\.99\.")
            self.assertIn(f"CPython {version} is not known", why_not)
            self.assertEqual(path, python)
        self.assertEqual([note for note in self.notes(recording) if "Python" in note],
                         [f"{python}: no Python functions in its stacks: {rows[0][2]}"])
        self.assertEqual(recording.rows("SELECT count(*) FROM codes WHERE language IN (1, 2)"), [(0,)])


if __name__ == "__main__":
    live.main()
