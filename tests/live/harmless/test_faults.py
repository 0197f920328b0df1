"""Where our loads may fault, SIGSEGV and SIGBUS do for a program what they do without us.

The agent of these tests has loads that may fault in every program, and not only beside an
interpreter; the workloads lead its walks to where nothing can be read.
"""

import os
import re
import subprocess
import sys

import live
from live import workload

HARMLESS = ("open", "blocked", "ignored", "handled", "gone", "past_libc")
DEATHS = {"read": 11, "write": 11, "call": 11, "nowhere": 11, "short_file": 7, "sent": 11}


class FaultsTest(live.EachRung):

    def run_bare(self, command):
        return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=120, cwd=self.folder)

    def assert_same(self, command, rates=(1000, 20000)):
        """By events, by timers, and as a user without rights."""
        bare = self.run_bare(command)
        code = bare.returncode if bare.returncode >= 0 else 128 - bare.returncode
        runs = [("sigtrap", self.record), *self.other_runs()]
        for trigger, record in runs:
            for rate in rates:
                with self.subTest(command=command[1:], trigger=trigger, rate=rate, by=record.__name__):
                    recorded = record(command, "--trigger", trigger, rate=rate, expect=code)
                    self.assertEqual(recorded.run.stdout.decode().splitlines(),
                                     bare.stdout.decode().splitlines())
        return bare


class Harmless(FaultsTest):

    def test_walks_that_go_astray_are_not_noticed(self):
        for way in HARMLESS:
            bare = self.assert_same(workload("faulting", way, 400), rates=(20000,))
            self.assertEqual(bare.stdout, b"handled 0\n")

    def test_they_end_where_nothing_can_be_read(self):
        recording = self.record(workload("faulting", "open", 400), rate=20000)
        self.assertGreater(recording.head()["stacks"]["unreadable"], 100)

    def test_a_wait_that_blocks_every_signal_is_interrupted(self):
        """Its mask is our handler's then, and a fault that is blocked kills."""
        for way in ("libc", "raw"):
            self.assert_same(workload("masked_wait", way), rates=(20000,))

    def test_random_sequences_come_out_the_same(self):
        sequences = 100 if live.IS_LONG else 40
        self.assert_same(workload("fault_calls", 1, sequences, 60))
        self.assert_same(workload("fault_calls", 1001, sequences, 60))


class Deaths(FaultsTest):

    def test_a_program_dies_of_its_own_faults(self):
        for way, number in DEATHS.items():
            bare = self.assert_same(workload("faulting", way, 50), rates=(20000,))
            self.assertEqual(bare.returncode, -number)

    def facts_of_core(self, gdb, command, launcher):
        """What a core dump shows of the death: where, of what, and no frame of ours."""
        subprocess.run(launcher(["sh", "-c", 'ulimit -c unlimited; exec "$@"', "sh", *command]),
                       stdin=subprocess.DEVNULL, capture_output=True, timeout=300, cwd=self.folder)
        cores = [self.path(entry) for entry in os.listdir(self.folder) if "core" in entry]
        self.assertEqual(len(cores), 1, os.listdir(self.folder))
        shown = subprocess.run([gdb, "--batch", "-ex", "bt", "-ex", "p $_siginfo.si_signo",
                                "-ex", "p $_siginfo.si_code", "-ex", "x/i $pc", command[0], cores[0]],
                               capture_output=True, timeout=120).stdout.decode()
        os.unlink(cores[0])
        kept = [line for line in shown.splitlines() if re.match(r"#|\$|=>|Program term", line)]
        return [re.sub(r"0x[0-9a-f]{9,}", "ADDRESS", line) for line in kept]

    def test_its_core_dump_is_as_without_us(self):
        gdb = self.need("gdb")
        with open("/proc/sys/kernel/core_pattern") as file:
            pattern = file.read().strip()
        if pattern.startswith("|") or "/" in pattern:
            self.skipTest(f"core dumps go elsewhere: {pattern}")
        record = [live.FATHOM, "record", "-q", "--rate", "20000", "-o", self.path("test.fathom"), "--"]
        for way in DEATHS:
            command = workload("faulting", way, 50)
            bare = self.facts_of_core(gdb, command, lambda c: c)
            self.assertEqual(self.facts_of_core(gdb, command, lambda c: record + c), bare)
            self.assertTrue(any("Program terminated" in line for line in bare), bare)


class Interpreters(FaultsTest):
    """faulthandler passes a fault on to the action that was there before it."""

    def test_pythons_own_handler_of_faults_reports_and_dies(self):
        for death in ("faulthandler._sigsegv()", "faulthandler._read_null()",
                      "os.kill(os.getpid(), signal.SIGSEGV)"):
            code = f"import faulthandler, os, signal; sum(range(10**6)); faulthandler.enable(); {death}"
            command = [sys.executable, "-c", code]
            bare = self.run_bare(command)
            self.assertEqual(bare.returncode, -11)
            recorded = self.record(command, expect=139)
            texts = [re.sub(rb"0x[0-9a-f]+", b"", run.stderr) for run in (bare, recorded.run)]
            self.assertEqual(texts[0], texts[1])


if __name__ == "__main__":
    live.main()
