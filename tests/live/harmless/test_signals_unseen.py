"""What a program does with signals comes out as without us, SIGTRAP's own uses among it."""

import os
import re
import subprocess

import live
from live import workload

WAYS = ("sigwait", "ppoll", "pselect", "epoll_pwait", "sigsuspend", "signalfd")


class SignalsTest(live.EachRung):

    def run_bare(self, command, expect=0):
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=120, cwd=self.folder)
        if expect is not None:
            self.assertEqual(done.returncode, expect, done.stderr)
        return done

    def assert_same(self, command, *options, expect=0, timeout=120, look=None):
        """By events, whose recording is looked at, by timers, and as a user without rights."""
        bare = self.run_bare(command, expect)
        code = bare.returncode if bare.returncode >= 0 else 128 - bare.returncode
        runs = [("sigtrap", self.record), *self.other_runs()]
        for trigger, record in runs:
            with self.subTest(command=command[1:], trigger=trigger, by=record.__name__):
                recorded = record(command, "--trigger", trigger, *options, expect=code, timeout=timeout)
                self.assertEqual(recorded.run.stdout.decode().splitlines(),
                                 bare.stdout.decode().splitlines())
                if look:
                    look(recorded)
                    look = None
        return bare


class Waits(SignalsTest):

    def test_with_every_signal_blocked_only_the_programs_own_end_a_wait_and_its_thread_is_sampled(self):
        for way in WAYS:
            self.assert_same(workload("waiting", way), look=self.assert_waiting_is_sampled)

    def assert_waiting_is_sampled(self, recording):
        self.assertGreater(recording.time_of("compute_until_done", "total_ns"), 0)
        self.assertGreater(recording.time_of("run", "total_ns"), 0)

    def test_a_wait_that_two_signals_end_runs_one_handler(self):
        for number, way in enumerate(("ppoll", "pselect", "sigsuspend", "syscall")):
            bare = live.truth_of(self.run_bare(workload("two_at_once", way)).stdout)
            self.assertEqual((bare["none"], bare["both"]), (0, 0), bare)
            for trigger in live.in_turn(("sigtrap", "timer"), number):
                with self.subTest(way=way, trigger=trigger):
                    truth = self.record(workload("two_at_once", way), "--trigger", trigger).truth
                    self.assertEqual(truth, bare)

    def test_a_wait_is_left_by_pthread_cancel(self):
        bare = self.assert_same(workload("cancelled"))
        counts = re.findall(rb"cancelled (\d+)", bare.stdout)
        self.assertEqual(set(counts), {b"100"}, bare.stdout)


class OwnTraps(SignalsTest):

    def test_each_use_of_sigtrap_comes_out_the_same(self):
        names = self.run_bare(workload("trapped")).stdout.decode().split()
        self.assertGreater(len(names), 20)
        for name in names:
            self.assert_same(workload("trapped", name), expect=None)

    def test_what_is_not_handled_kills_with_sigtrap(self):
        for name in ("by_default", "kill_by_default", "handled_once", "blocked_by_default",
                     "breakpoint_by_default", "breakpoint_ignored", "breakpoint_blocked"):
            with self.subTest(name):
                self.assertEqual(self.run_bare(workload("trapped", name), expect=None).returncode, -5)
                self.record(workload("trapped", name), expect=133)

    def test_a_core_dump_is_of_the_programs_own_frames(self):
        gdb = self.need("gdb")
        with open("/proc/sys/kernel/core_pattern") as file:
            pattern = file.read().strip()
        if pattern.startswith("|") or "/" in pattern:
            self.skipTest(f"core dumps go elsewhere: {pattern}")
        for name in ("by_default", "breakpoint_blocked"):
            self.record(["sh", "-c", 'ulimit -c unlimited; exec "$@"', "sh", *workload("trapped", name)],
                        expect=133)
            cores = [self.path(entry) for entry in os.listdir(self.folder) if "core" in entry]
            self.assertEqual(len(cores), 1, os.listdir(self.folder))
            shown = subprocess.run([gdb, "--batch", "-ex", "bt", workload("trapped")[0], cores[0]],
                                   capture_output=True, timeout=120).stdout.decode()
            os.unlink(cores[0])
            self.assertIn("SIGTRAP", shown)
            self.assertIn("main", shown)
            for ours in ("on_trap", "forward_on_substitute", "signal handler called"):
                self.assertNotIn(ours, shown)


class Properties(SignalsTest):

    def test_actions_and_masks_read_back_as_they_were_set(self):
        self.assert_same(workload("round_trips"))

    def test_random_sequences_of_signal_calls_come_out_the_same(self):
        sequences = 60 if live.IS_LONG else 25
        self.assert_same(workload("signal_calls", 1, sequences, 100))
        self.assert_same(workload("signal_calls", 1001, sequences, 100))


class Threads(SignalsTest):

    def test_stacks_of_threads_begin_as_without_us(self):
        """The timer's threads begin in a function of ours, which is no frame of any stack."""
        recording = self.record(workload("threads", 400), "--trigger", "timer")
        names = {row["name"] for row in recording.report()["functions"]}
        self.assertIn("start_thread", names)
        self.assertEqual({name for name in names if name.startswith("thread_run")}, set())


if __name__ == "__main__":
    live.main()
