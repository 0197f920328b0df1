#!/usr/bin/env python3
"""An agent believes a recorder of its own user's or root's, and of a ring only what is sound."""

import atexit
import contextlib
import glob
import os
import shutil
import subprocess
import sys
import tempfile

import live
from live import AGENTS, FATHOM, ORDINARY_USER
from processes import end_process
from reachable import is_reachable
from rubies import every_ruby

KINDS = {"record": "agents", "trace": "tracers"}
WORKED = 7
SOCKET_ENVIRONMENT = ("XDG_RUNTIME_DIR", "TMPDIR")
OTHER_USER = ("setpriv", f"--reuid={ORDINARY_USER}", f"--regid={ORDINARY_USER}", "--clear-groups")


def programs():
    """The fake recorder and the survivor, where another user can run them."""
    paths = [os.path.join(os.environ.get("TRUST", "."), name) for name in ("fake_recorder", "survivor")]
    if os.geteuid() != 0 or all(map(is_reachable, paths)):
        return paths
    folder = tempfile.mkdtemp(prefix="fathom-trust-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.chmod(folder, 0o755)
    return [shutil.copy(path, folder) for path in paths]


FAKE_RECORDER, SURVIVOR = programs()


def run_entered(kind, socket, *command, launcher=()):
    """A program that finds the agent of that kind and the socket in its environment."""
    agent = os.path.join(AGENTS, f"libfathom-agent-{kind}.so")
    entries = [f"FATHOM_RECORDER=default:{agent}:{socket}", f"LD_PRELOAD={agent}"]
    return subprocess.run([*launcher, "env", *entries, *(command or (SURVIVOR, "work"))], capture_output=True,
                          timeout=120, check=False)


def ways(kind):
    """How a fake recorder can spoil a ring; the first way is not to."""
    return subprocess.run([FAKE_RECORDER, "list", kind], capture_output=True, check=True, timeout=300).stdout.decode().split()


class FakeRecorder:
    """Answers agents with a ring that is spoiled in some way."""

    def __init__(self, socket, kind, way, launcher=(), scribbles=False):
        self.interpreted = 0
        self.run = subprocess.Popen([*launcher, FAKE_RECORDER, socket, kind, way, *(["scribble"] if scribbles else [])],
                                    stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if self.run.stdout.readline() != "listening\n":
            raise AssertionError(f"the fake recorder does not listen at {socket}")

    def end(self):
        """(requests, in how many rings a program was sampled or traced); sets in how many of those an interpreter was."""
        *requests, begun = self.run.communicate(timeout=300)[0].splitlines()
        if "no layout" in requests:
            raise AssertionError("the program has no interpreter that is known")
        self.interpreted = int(begun.split()[2])
        return len(requests), int(begun.split()[1])


class TrustTest(live.LiveTest):
    def begin_recorder(self, kind, *command):
        """Of a shell that waits for a line and then becomes the command; and where the recorder listens."""
        os.makedirs(self.path("run"), 0o700, exist_ok=True)
        # Others may pass where root's recorder is to be found by those who have given up being root.
        os.chmod(self.path("run"), 0o711 if os.geteuid() == 0 else 0o700)
        environment = {**os.environ, **dict.fromkeys(SOCKET_ENVIRONMENT, self.path("run"))}
        run = subprocess.Popen([FATHOM, kind, "-q", "-o", self.path("test.fathom"), "--", "sh", "-c",
                                'echo here; read line; exec "$@"', "sh", *command], env=environment,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(end_process, run)
        self.assertEqual(run.stdout.readline(), b"here\n")
        socket, = glob.glob(self.path(f"run/**/{KINDS[kind]}"), recursive=True)
        return run, socket

    def end_recorder(self, run, letters=""):
        """Lets the command begin, with letters to obey: what it printed."""
        out, err = run.communicate(b"go\n" + letters.encode(), timeout=300)
        self.assertEqual((run.returncode, err), (0, b""))
        return out.decode().splitlines()

    def needs_root(self):
        if os.geteuid() != 0:
            self.skipTest("only root can become another user")
        self.need("setpriv")

    def fake(self, socket, kind, way, **options):
        fake = FakeRecorder(socket, kind, way, **options)
        self.addCleanup(end_process, fake.run)
        return fake


class HostileRings(TrustTest):
    """The program is as without us, and unsampled, whatever the ring is like."""

    def spoiled(self, kind, way, scribbles=False):
        os.makedirs(self.path(way), exist_ok=True)
        socket = self.path(f"{way}/{KINDS[kind]}")
        with contextlib.suppress(FileNotFoundError):
            os.unlink(socket)
        fake = self.fake(socket, kind, way, scribbles=scribbles)
        run = run_entered(kind, socket)
        requests, begun = fake.end()
        self.assertEqual((run.returncode, run.stdout, run.stderr), (WORKED, b"1 7\n", b""))
        # A process that is not sampled has no children that ask.
        self.assertEqual(requests, 1 + (begun > 0))
        return begun

    def test_a_sound_ring_is_used(self):
        for kind in KINDS:
            with self.subTest(kind):
                self.assertEqual(self.spoiled(kind, ways(kind)[0]), 2)

    def test_no_other_is(self):
        for kind in KINDS:
            for way in ways(kind)[1:]:
                with self.subTest(kind, way=way):
                    self.assertEqual(self.spoiled(kind, way), 0)

    def test_what_is_written_into_a_ring_later_harms_no_program(self):
        for kind in KINDS:
            with self.subTest(kind):
                self.assertEqual(self.spoiled(kind, ways(kind)[0], scribbles=True), 2)


class HostileLayouts(TrustTest):
    """An interpreter's program is as without us, whatever the recorder says of where the interpreter is."""

    def assert_refused(self, language, command, printed):
        every = [way for way in ways("layouts") if way.startswith(language)]
        for kind in KINDS:
            for way in every:
                with self.subTest(kind, way=way):
                    socket = self.path(f"{kind}-{way}")
                    # The agent sees by the name of the socket how long it may wait, and no more.
                    fake = self.fake(socket, kind, way)
                    run = run_entered(kind, socket, *command)
                    requests, begun = fake.end()
                    self.assertEqual((run.returncode, run.stdout, run.stderr), (0, printed, b""))
                    self.assertEqual((requests, begun), (1, 1))
                    self.assertEqual(fake.interpreted, way.endswith((".sound", "_later")))

    def test_python(self):
        script = self.write("script.py", "import time\n"
                            "def work(n):\n    return sum(i * n for i in range(200))\n"
                            "total = 0\n"
                            "while time.process_time() < 0.1:\n    total |= work(3) | len(str(total))\n"
                            "print(work(3))\n")
        self.assert_refused("python", [sys.executable, script], b"59700\n")

    def test_ruby(self):
        ruby = next((ruby for ruby in every_ruby() if ruby.is_there), None)
        if ruby is None:
            self.skipTest("no ruby is at hand")
        script = self.write("script.rb", "def work(n)\n  (0...200).map { |i| i * n }.sum\nend\n"
                            "work(3) while Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) < 0.16\n"
                            "puts work(3)\n")
        self.assert_refused("ruby", ruby.command(script), b"59700\n")


class Survivors(TrustTest):
    """A daemon forks and executes when its recorder has ended, and another listens at the path."""

    commands = answers = None

    def begin_anew(self):
        shutil.rmtree(self.folder)
        os.mkdir(self.folder, 0o755)

    def survive(self, kind):
        """Leaves a daemon behind that was recorded; the path at which its recorder listened."""
        for name in ("commands", "answers"):
            os.mkfifo(self.path(name))
        run, socket = self.begin_recorder(kind, SURVIVOR, "daemon", self.path("commands"), self.path("answers"))
        self.end_recorder(run)
        self.assertFalse(os.path.exists(socket))
        self.commands, self.answers = open(self.path("commands"), "wb", buffering=0), open(self.path("answers"), "rb")
        self.addCleanup(self.commands.close)
        self.addCleanup(self.answers.close)
        return socket

    def say(self, letters):
        self.commands.write(letters.encode())

    def hear(self):
        return self.answers.readline().decode().split()

    def obeys(self, letters):
        for letter in letters:
            self.say(letter)
            self.assertEqual(self.hear(), [letter, str(WORKED)])

    def take_over(self, socket, kind, way, launcher=()):
        folder = os.path.dirname(socket)
        os.makedirs(folder, exist_ok=True)
        while folder != self.folder:
            os.chmod(folder, 0o777)
            folder = os.path.dirname(folder)
        return self.fake(socket, kind, way, launcher=launcher)

    def test_another_user_at_its_path_is_refused(self):
        self.needs_root()
        for kind in KINDS:
            for way in (ways(kind)[0], "is_traced_far_away"):
                with self.subTest(kind, way=way):
                    self.begin_anew()
                    fake = self.take_over(self.survive(kind), kind, way, launcher=OTHER_USER)
                    self.obeys("fesfes")
                    self.assertEqual(fake.end(), (0, 0))

    def test_a_recorder_that_has_gone_is_not_asked_again(self):
        for kind in KINDS:
            with self.subTest(kind):
                self.begin_anew()
                socket = self.survive(kind)
                for letter in "fes":
                    # A child finds nothing at the path ...
                    self.say("g")
                    self.assertEqual(self.hear(), ["g", "here"])
                    fake = self.take_over(socket, kind, ways(kind)[0])
                    # ... and when there is something, it is nothing to what the child forks or executes.
                    self.say(letter)
                    self.assertEqual(self.hear(), ["g", str(WORKED)])
                    self.assertEqual(fake.end(), (0, 0))
                    os.unlink(socket)


class OtherUsers(TrustTest):
    """Programs of root's that become others, and others that have nothing to do with a recorder of root's."""

    def processes(self, recording):
        return recording.rows("SELECT name, unentered_reason FROM processes")

    def test_a_program_that_gives_up_its_user_is_followed(self):
        """So are those that it forks and executes then, and those of one that is another for a while."""
        self.needs_root()
        for kind in KINDS:
            for letters in ("mumfes", "wfbfes"):
                with self.subTest(kind, letters=letters):
                    run, _ = self.begin_recorder(kind, SURVIVOR, "obey")
                    # Those that are executed print a line as well.
                    lines = [line for line in self.end_recorder(run, letters) if line != f"1 {WORKED}"]
                    self.assertEqual(lines, [f"{letter} {WORKED}" for letter in letters])
                    recording = live.Recording(self.path("test.fathom"), run)
                    processes = self.processes(recording)
                    self.assertEqual({reason for _, reason in processes}, {None})
                    # Forks, and those that were executed, each with a child that it forked.
                    self.assertEqual(sum(name == "survivor" for name, _ in processes),
                                     1 + sum({"f": 1, "e": 3, "s": 2}.get(letter, 0) for letter in letters))
                    if kind == "record":
                        self.assertGreater(recording.time_of("left", "total_ns"), 0.5 * recording.total_ns())

    def test_an_unrelated_process_is_not_heard(self):
        self.needs_root()
        for kind in KINDS:
            with self.subTest(kind):
                run, socket = self.begin_recorder(kind, SURVIVOR, "work")
                stranger = run_entered(kind, socket, launcher=OTHER_USER)
                self.assertEqual((stranger.returncode, stranger.stdout), (WORKED, b"1 7\n"))
                run.communicate(b"go\n", timeout=300)
                processes = self.processes(live.Recording(self.path("test.fathom"), run))
                # The shell, what it becomes, and a child of that.
                self.assertEqual(len(processes), 3, processes)


class Folders(TrustTest):
    def test_what_a_killed_recorder_left_is_removed_by_the_next(self):
        run, socket = self.begin_recorder("record", "true")
        run.kill()
        run.communicate(timeout=300)
        self.assertTrue(os.path.exists(socket))
        run, other = self.begin_recorder("record", "true")
        self.assertFalse(os.path.exists(os.path.dirname(socket)))
        self.assertTrue(os.path.exists(other))
        self.end_recorder(run)
        self.assertEqual(os.listdir(os.path.dirname(os.path.dirname(other))), [])


if __name__ == "__main__":
    live.main()
