"""Programs that others take the processor from: what they burned is in their functions.

What the kernel takes to stop and start the sampling event at each of their switches, and interrupts, the events count
and no sample stands for: that is known by thread, and is not [exit].
"""

import contextlib
import os
import subprocess

import live
from live import workload

# Of the whole.
MOST_EXIT = 0.01
MOST_THREAD_ONLY = 0.01
BUDGET_MS = 1500
SHELLS = ["sh", "-c", "while :; do :; done"]


@contextlib.contextmanager
def beside(*commands):
    """Runs them meanwhile, on the one processor that the caller has meanwhile."""
    allowed = os.sched_getaffinity(0)
    runs = []
    os.sched_setaffinity(0, {max(allowed)})
    try:
        for command in commands:
            runs.append(subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL))
        yield
    finally:
        os.sched_setaffinity(0, allowed)
        for run in runs:
            run.kill()
        for run in runs:
            run.wait(timeout=300)


class Preempted(live.LiveTest):
    compares_times = True

    def assert_little_exit(self, recording):
        self.assert_adds_up(recording)
        self.assert_explained(recording)
        head = recording.head()
        self.assertLess(head["exit_ns"] or 0, MOST_EXIT * recording.total_ns(), head)
        self.assertLess(head["unentered_ns"] or 0, MOST_EXIT * recording.total_ns(), head["notes"])
        switching_ns = recording.preemptions * live.MOST_OF_A_SWITCH_NS
        self.assertLess(head["thread_only_ns"], MOST_THREAD_ONLY * recording.total_ns() + switching_ns, head)

    def assert_thirds(self, rate, *neighbours):
        with beside(*neighbours):
            recording = self.record(workload("thirds", BUDGET_MS), rate=rate, timeout=300)
        self.assert_little_exit(recording)
        # Nothing of [exit] is allowed for.
        recording.preemptions = 0
        self.assert_truth(recording, least_samples=BUDGET_MS * rate // 1000 * 9 // 10, widest=0.05)

    def test_preempted_by_two_that_compute(self):
        for rate in live.in_turn((1000, 10000), 0):
            with self.subTest(rate=rate):
                self.assert_thirds(rate, SHELLS, SHELLS)

    def test_preempted_thousands_of_times_a_second(self):
        for rate in live.in_turn((1000, 10000), 1):
            with self.subTest(rate=rate):
                self.assert_thirds(rate, workload("preempting"), workload("preempting"))

    def test_gzip_beside_two_that_compute(self):
        gzip = self.need("gzip")
        with open(self.path("data"), "wb") as file, open(os.path.realpath(live.FATHOM), "rb") as program:
            text = program.read(1 << 22)
            for _ in range(4):
                file.write(text)
        with beside(SHELLS, workload("preempting")):
            recording = self.record([gzip, "-c", self.path("data")], rate=1000, timeout=300)
        self.assert_little_exit(recording)

    def test_three_threads_have_their_own_work_beside_others(self):
        with beside(workload("preempting"), workload("preempting")):
            recording = self.record(workload("threads", BUDGET_MS), rate=1000, timeout=300)
        self.assert_little_exit(recording)
        recording.preemptions = 0
        self.assert_truth(recording, least_samples=BUDGET_MS * 9 // 10, widest=0.05)


if __name__ == "__main__":
    live.main()
