"""live_core - core files of programs that were killed, and what fathom says of them."""

import os
import resource
import signal
import subprocess

import command_line
import live
import live_dump
import processes

FAILED = command_line.FAILED


def allow_core():
    hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
    resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))


class CoreTest(live_dump.DumpTest):
    def core_folder(self):
        """Where a program that is killed leaves its core."""
        pattern = processes.read_bytes("/proc/sys/kernel/core_pattern").strip()
        if b"/" in pattern or pattern.startswith(b"|") or not pattern:
            self.skipTest(f"kernel.core_pattern is '{pattern.decode()}': cores do not stay with the program")
        if resource.getrlimit(resource.RLIMIT_CORE)[1] == 0:
            self.skipTest("the limit of cores (ulimit -Hc) is 0")
        folder = self.path("cores")
        os.makedirs(folder, exist_ok=True)
        return folder

    def core_in(self, folder):
        found = os.listdir(folder)
        if not found:
            self.skipTest("the kernel wrote no core")
        os.rename(os.path.join(folder, found[0]), self.path("core"))
        return self.path("core")

    def core_of_killed(self, command, number=signal.SIGABRT, is_ready=None):
        """A program that prints a line when it is ready, and its core; it is killed once its threads rest."""
        folder = self.core_folder()
        run = self.start(command, cwd=folder, preexec_fn=allow_core)
        self.dump_until(run.pid, is_ready or live_dump.is_resting, "its threads never all rest")
        os.kill(run.pid, number)
        run.wait(timeout=300)
        return run, self.core_in(folder)

    def run_core(self, core, *options):
        return subprocess.run([live.FATHOM, "dump", "--core", core, *options], capture_output=True, timeout=120)

    def dump_core(self, core, *options):
        done = self.run_core(core, "--json", *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.parse(done.stdout)

    def assert_refused(self, core, *words, options=()):
        done = self.run_core(core, *options)
        said = done.stderr.decode(errors="replace")
        self.assertEqual((done.returncode, done.stdout), (FAILED, b""), said)
        self.assertEqual(said.count("\n"), 1, said)
        for word in words:
            self.assertIn(word, said)
