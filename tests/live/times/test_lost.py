"""Samples that are taken and do not come to the recording: their time is a row of its own, and in no other."""

import os
import re
import signal
import subprocess

import live
from live import FATHOM, workload
from processes import command_of, end_process, read_bytes, wait_until

# Of the whole: what stands there is the end of threads and processes.
MOST_EXIT = 0.02


def is_over(pid):
    """It has ended, and its parent does not know yet."""
    return read_bytes(f"/proc/{pid}/stat").rpartition(b")")[2].split()[:1] == [b"Z"]


def slice_of(pid):
    """A time slice in ns, where the kernel shows it and can be asked for another one (Linux 6.12)."""
    kernel = tuple(map(int, re.findall(r"\d+", os.uname().release)[:2]))
    shown = re.search(rb"^se\.slice\s*:\s*(\d+)", read_bytes(f"/proc/{pid}/sched"), re.MULTILINE)
    return int(shown[1]) if shown and kernel >= (6, 12) else None


class Lost(live.LiveTest):
    compares_times = True

    def record_without_recorder(self, command, rate):
        """The recorder is stopped from the moment that the command runs until it has ended."""
        run = subprocess.Popen([FATHOM, "record", "-q", "--rate", str(rate), "-o", self.path("test.fathom"), "--", *command],
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.folder)
        self.addCleanup(end_process, run)
        pid = command_of(run.pid)
        wait_until(lambda: b"libfathom-agent" in read_bytes(f"/proc/{pid}/maps"), 300, "no agent came")
        wait_until(lambda: os.path.exists(self.path("test.fathom")), 300, "no recording began")
        try:
            os.kill(run.pid, signal.SIGSTOP)
            wait_until(lambda: is_over(pid), 300, "the command does not end")
        finally:
            os.kill(run.pid, signal.SIGCONT)
        out, err = run.communicate(timeout=300)
        self.assertEqual(run.returncode, 0, err)
        return live.Recording(self.path("test.fathom"), subprocess.CompletedProcess(command, 0, out, err))

    def assert_lost_apart(self, recording):
        """All that was charged is sampled, lost or another row; returns the share that was lost."""
        self.assert_adds_up(recording)
        self.assert_explained(recording)
        head, whole_ns = recording.head(), recording.total_ns()
        rows = [row for row in recording.report()["functions"] if row["name"] == "[lost]"]
        self.assertEqual(sum(row["self_ns"] for row in rows), head["lost_ns"])
        self.assertEqual(head["lost"] > 0, head["lost_ns"] > 0, head)
        self.assertLess(head["exit_ns"] or 0, MOST_EXIT * whole_ns, head)
        share = head["lost_ns"] / whole_ns
        # Each lost sample stood for about as much as each that is there; beside other programs, whose work empties
        # caches, one of many walks stands for the periods that went into it, too.
        if head["lost"] > 0:
            there_ns = (whole_ns - head["lost_ns"] - head["thread_only_ns"]) / head["samples"]
            self.assertLess(there_ns / 3, head["lost_ns"] / head["lost"])
            self.assertGreater(3 * there_ns, head["lost_ns"] / head["lost"])
        return share

    def test_stacks_that_are_ever_new(self):
        for rate in live.in_turn((1000, 10000), 1):
            with self.subTest(rate=rate):
                recording = self.record(workload("novelty", 1000 if live.IS_LONG else 600, 500, 2), rate=rate, timeout=600)
                self.assert_lost_apart(recording)

    def test_stacks_that_are_ever_new_while_nothing_is_read(self):
        recording = self.record_without_recorder(workload("novelty", 2000 if live.IS_LONG else 1000, 2000, 2), 10000)
        self.assertGreater(self.assert_lost_apart(recording), 0.3)
        # What is left is a sample of all: nothing is shifted to one of them.
        halves = [recording.time_of(name, "self_ns") for name in ("half_a", "half_b")]
        self.assert_share(halves[0] / sum(halves), 0.5, 0.15, "self of half_a")

    def test_five_hundred_busy_threads(self):
        for rate, budget_ms in ((1000, 6000), (10000, 6000)) if live.IS_LONG else ((10000, 3000),):
            with self.subTest(rate=rate):
                recording = self.record(workload("crowd", 500, budget_ms), rate=rate, timeout=600)
                self.assert_lost_apart(recording)
                expected = recording.truth["total"]["work_of_thread"] / recording.total_ns()
                lost = recording.head()["lost_ns"] / recording.total_ns()
                self.assert_share(recording.time_of("work_of_thread", "total_ns") / recording.total_ns(), expected,
                                  0.02 + lost, "total of work_of_thread")

    def test_the_recorder_has_a_better_place_and_the_program_its_own(self):
        run = subprocess.Popen([FATHOM, "record", "-q", "--clock", "wall", "-o", self.path("test.fathom"), "--", "sleep", "60"],
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=self.folder)
        self.addCleanup(end_process, run)
        pid = command_of(run.pid)
        own = os.getpriority(os.PRIO_PROCESS, 0)
        may = os.geteuid() == 0 and own == 0 and len(os.sched_getaffinity(0)) > 1
        if may:
            wait_until(lambda: os.getpriority(os.PRIO_PROCESS, run.pid) < 0, 300, "the recorder waits behind what it records")
        self.assertEqual(os.getpriority(os.PRIO_PROCESS, pid), own)
        bare = slice_of(os.getpid())
        if may and bare is not None:
            wait_until(lambda: slice_of(run.pid) < bare, 300, "the recorder waits for the end of others' time slices")
        self.assertEqual(slice_of(pid), bare)
        os.kill(pid, signal.SIGTERM)
        run.wait(timeout=300)
        if not may:
            self.skipTest("a better place is root's, not to be had by a process made nice or on one processor")

    def test_with_timers(self):
        recording = self.record(workload("novelty", 1500, 2000, 2), "--trigger", "timer", rate=1000, timeout=600)
        self.assert_lost_apart(recording)


if __name__ == "__main__":
    live.main()
