#!/usr/bin/env python3
"""An agent believes a recorder of its own user's or root's, and of a ring only what is sound."""

import contextlib
import glob
import os
import shutil
import subprocess
import unittest

import live
from live import AGENT, FATHOM, NOBODY
from processes import end_process
from reachable import make_reachable

FAKE_RECORDER, SURVIVOR = (os.path.join(os.environ.get("TRUST", "."), name)
                           for name in ("fake_recorder", "survivor"))
KINDS = {"record": "agents", "trace": "tracers"}
WORKED = 7
OTHER_USER = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")


def ways(kind):
    """How a fake recorder can spoil a ring; the first way is not to."""
    return subprocess.run([FAKE_RECORDER, "list", kind], capture_output=True, check=True, timeout=30).stdout.decode().split()


class FakeRecorder:
    """Answers agents with a ring that is spoiled in some way."""

    def __init__(self, socket, kind, way, launcher=(), scribbles=False):
        self.run = subprocess.Popen([*launcher, FAKE_RECORDER, socket, kind, way, *(["scribble"] if scribbles else [])],
                                    stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if self.run.stdout.readline() != "listening\n":
            raise AssertionError(f"the fake recorder does not listen at {socket}")

    def end(self):
        """(hellos, in how many rings a program was sampled or traced)."""
        *hellos, begun = self.run.communicate(timeout=30)[0].splitlines()
        return len(hellos), int(begun.split()[1])


class TrustTest(live.LiveTest):
    def fake(self, socket, kind, way, **options):
        fake = FakeRecorder(socket, kind, way, **options)
        self.addCleanup(end_process, fake.run)
        return fake


class HostileRings(TrustTest):
    """The program is as without us, and unsampled, whatever the ring is like."""

    def run_entered(self, socket):
        environment = {**os.environ, "FATHOM_RECORDER": f"default:{AGENT}:{socket}", "LD_PRELOAD": AGENT}
        return subprocess.run([SURVIVOR, "work"], env=environment, capture_output=True, timeout=120, check=False)

    def spoiled(self, kind, way, scribbles=False):
        os.makedirs(self.path(way), exist_ok=True)
        socket = self.path(f"{way}/{KINDS[kind]}")
        with contextlib.suppress(FileNotFoundError):
            os.unlink(socket)
        fake = self.fake(socket, kind, way, scribbles=scribbles)
        run = self.run_entered(socket)
        hellos, begun = fake.end()
        self.assertEqual((run.returncode, run.stdout, run.stderr), (WORKED, b"1 7\n", b""))
        # A process that is not sampled has no children that ask.
        self.assertEqual(hellos, 1 + (begun > 0))
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


class Survivors(TrustTest):
    """A daemon forks and executes when its recorder has ended, and another listens at the path."""

    commands = answers = None

    def begin_anew(self):
        shutil.rmtree(self.folder)
        os.makedirs(self.path("run"), 0o700)
        os.chmod(self.folder, 0o755)

    def survive(self, kind):
        """Leaves a daemon behind that was recorded; the path at which its recorder listened."""
        for name in ("commands", "answers"):
            os.mkfifo(self.path(name))
        environment = {**os.environ, "XDG_RUNTIME_DIR": self.path("run"), "TMPDIR": self.path("run")}
        run = subprocess.Popen([FATHOM, kind, "-q", "-o", self.path("test.fathom"), "--", "sh", "-c",
                                'echo here; read line; exec "$@"', "sh", SURVIVOR, "daemon", self.path("commands"),
                                self.path("answers")], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(end_process, run)
        self.assertEqual(run.stdout.readline(), b"here\n")
        socket, = glob.glob(self.path(f"run/**/{KINDS[kind]}"), recursive=True)
        run.communicate(b"go\n", timeout=60)
        self.assertEqual(run.returncode, 0)
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
        if os.geteuid() != 0:
            self.skipTest("only root can become another user, to take a path over")
        self.need("setpriv")
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


if __name__ == "__main__":
    live.main()
