"""Threads that end sooner than a sampling period, and those that create them."""

import live
from live import workload

RATE = 1000
MOST_OFF = 0.02
# A sample stands for more periods than this only if it says why.
FEW_PERIODS = 8
# Threads that are short of life at 1,000 Hz, in microseconds; how many at once.
LIVES = [(length, at_once) for length in (20, 100, 500, 2000) for at_once in (1, 4)]


class ShortThreads(live.LiveTest):
    compares_times = True

    def record_threads(self, length_us, at_once, budget_ms=2500):
        recording = self.record(workload("short_threads", budget_ms, length_us, at_once), rate=RATE)
        self.assertGreater(recording.truth["counts"]["threads"], 100)
        self.assert_adds_up(recording)
        return recording

    def assert_near(self, recording, name):
        """Of the whole, the function's time is what its threads' clocks said."""
        expected = recording.truth["total"][name] / recording.total_ns()
        measured = recording.time_of(name, "total_ns") / recording.total_ns()
        allowed = max(MOST_OFF, 3 * recording.standard_error(name, "total"))
        self.assert_share(measured, expected, allowed, f"total of {name}")

    def test_a_creator_of_short_threads_has_its_own_time(self):
        for length_us, at_once in LIVES:
            with self.subTest(length_us=length_us, at_once=at_once):
                self.assert_near(self.record_threads(length_us, at_once), "work_of_creator")


if __name__ == "__main__":
    live.main()
