"""Threads that end sooner than a sampling period, and those that create them."""

import os
import subprocess
import time

import live
from live import FATHOM, workload
from processes import end_process

RATE = 1000
MOST_OFF = 0.02
# A sample behind a system call stands for ten milliseconds and the system time of its thread; others for less.
MOST_OF_A_SAMPLE_NS = 25000000
# Of the recorder, with ten thousand threads or processes.
MOST_DESCRIPTORS = 200
MOST_RESIDENT_KIB = 128 << 10
NO_SAMPLES = ("[shorter than a sampling period]", "[not sampled]")
# Threads that are short of life at 1,000 Hz, in microseconds; how many at once.
# Each length, alone and beside others; without --long each in one of the two ways.
LIVES = [(length, at_once) for number, length in enumerate((20, 100, 500, 2000))
         for at_once in live.in_turn((4, 1), number)]


class ShortThreads(live.LiveTest):
    compares_times = True

    def record_threads(self, length_us, at_once, budget_ms=1500):
        recording = self.record(workload("short_threads", budget_ms, length_us, at_once), rate=RATE)
        self.assertGreater(recording.truth["counts"]["threads"], 100)
        self.assert_adds_up(recording)
        return recording

    def assert_near(self, recording, name):
        """Of the whole, the function's time is what its threads' clocks said.

        Of a program that was preempted, as much of [exit] as that may have cost is a function's.
        """
        expected = recording.truth["total"][name] / recording.total_ns()
        measured = recording.time_of(name, "total_ns") / recording.total_ns()
        if measured < expected:
            measured = min(expected, measured + recording.taken_off_ns() / recording.total_ns())
        allowed = max(MOST_OFF, live.STANDARD_ERRORS * recording.standard_error(name, "total"))
        self.assert_share(measured, expected, allowed, f"total of {name}")

    def test_each_function_has_what_its_threads_burned(self):
        self.is_first_sight = False
        for length_us, at_once in LIVES:
            with self.subTest(length_us=length_us, at_once=at_once):
                # Each has a second sight of its own: of all sixteen shares one may be off at first.
                live.at_second_sight(f"{length_us} us, {at_once} at once", self.assert_threads, length_us, at_once)

    def assert_threads(self, length_us, at_once):
        recording = self.record_threads(length_us, at_once)
        self.assert_near(recording, "work_of_creator")
        self.assert_near(recording, "work_of_thread")
        self.assert_explained(recording)
        self.assert_few_periods(recording)
        # It switches since it creates threads, and these are too brief for timers (decision 0045).
        self.assertEqual([note for note in recording.head()["notes"] if "sampled by timers" in note], [])

    def assert_few_periods(self, recording):
        """No sample stands for many periods, but behind a system call; what is in none has rows of its own."""
        longest_ns, = recording.rows("SELECT max(weight_ns) FROM samples WHERE ending <> 14")[0]
        self.assertLess(longest_ns, MOST_OF_A_SAMPLE_NS)
        head = recording.head()
        rows = [row for row in recording.report()["functions"] if row["language"] == "fathom"]
        booked_ns = sum(row["self_ns"] for row in rows if row["name"] in NO_SAMPLES)
        self.assertEqual(booked_ns, head["thread_only_ns"])
        self.assertLess(head["exit_ns"], 0.06 * recording.total_ns())


class Many(live.LiveTest):
    """Ten thousand at once: the recorder's memory and descriptors are those of a few, and nothing is unexplained."""

    compares_times = True

    def watch(self, command):
        run = subprocess.Popen([FATHOM, "record", "-q", "--rate", str(RATE), "-o", self.path("test.fathom"), "--",
                                *command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, cwd=self.folder)
        self.addCleanup(end_process, run)
        descriptors = resident_kib = 0
        while run.poll() is None:
            try:
                descriptors = max(descriptors, len(os.listdir(f"/proc/{run.pid}/fd")))
                with open(f"/proc/{run.pid}/status") as file:
                    resident_kib = max([resident_kib, *(int(line.split()[1]) for line in file if "VmHWM" in line)])
            except OSError:
                break
            time.sleep(0.02)
        out, err = run.communicate(timeout=300)
        if run.returncode == 77:
            self.skipTest(err.decode().strip())
        self.assertEqual(run.returncode, 0, err)
        self.assertLess(descriptors, MOST_DESCRIPTORS)
        self.assertLess(resident_kib, MOST_RESIDENT_KIB)
        ended = subprocess.CompletedProcess(command, run.returncode, out, err)
        recording = live.Recording(self.path("test.fathom"), ended)
        self.assert_adds_up(recording)
        self.assert_explained(recording)
        return recording

    def test_ten_thousand_threads_at_once(self):
        recording = self.watch(workload("crowd", 10000))
        self.assertEqual(recording.rows("SELECT count(*) FROM threads")[0][0], 10001)
        expected = recording.truth["total"]["work_of_thread"] / recording.total_ns()
        self.assert_share(recording.time_of("work_of_thread", "total_ns") / recording.total_ns(), expected, MOST_OFF,
                          "total of work_of_thread")

    def test_ten_thousand_short_processes(self):
        recording = self.watch(workload("masses", "exits", 10000))
        self.assertEqual(recording.rows("SELECT count(DISTINCT pid) FROM processes")[0][0], 10001)


if __name__ == "__main__":
    live.main()
