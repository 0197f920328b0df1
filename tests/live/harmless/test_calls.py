"""Calls that wait are not interrupted by being sampled, and those that are to fail still do."""

import json
import subprocess

import live
from live import workload

# How many calls each row makes, in one run; and where it is stopped.
TURNS, TURNS_STOPPED = (1000, 1000) if live.IS_LONG else (250, 300)
# The more traps, the more calls they may end.
RATES = (1000, 10000) if live.IS_LONG else (10000,)
ALARMS = 20000 if live.IS_LONG else 5000


class Waiting(live.LiveTest):
    """The table that this prints has a line for each call and a column for each way of sampling."""

    def rungs(self):
        """[(title, how it is recorded, options)]: what traps, and what time it counts."""
        yield "sigtrap", self.record, ("--trigger", "sigtrap")
        yield "user time", self.record_as_user, ("--trigger", "sigtrap", "--clock", "user")
        # Events that count no system time, and ticks for that.
        yield "user mode", self.record_as_user, ()
        yield "timer", self.record, ("--trigger", "timer")

    def test_no_call_is_interrupted_or_cut_short(self):
        command = workload("interruptible", TURNS)
        columns = {}
        if live.IS_LONG:
            bare = subprocess.run(command, capture_output=True, check=True, cwd=self.folder, timeout=120)
            columns["bare"] = json.loads(bare.stdout)
        for title, record, options in self.rungs():
            for rate in RATES:
                recording = record(command, *options, rate=rate)
                columns[f"{title}, {rate} Hz"] = recording.truth
                self.assertGreater(recording.head()["samples"], 100)
        print_table(columns)
        wrong = [f"{call}, {title}: {row}" for title, rows in columns.items() for call, row in rows.items()
                 if wrong_answers(row)]
        self.assertEqual(wrong, [])
        recorded = [rows for title, rows in columns.items() if title != "bare"]
        made = {call: sum(rows[call]["made"] for rows in recorded) for call in recorded[0]}
        self.assertGreaterEqual(min(made.values()), len(RATES) * 3 * TURNS // 4, made)


class Stopped(live.LiveTest):
    """Calls that go on when the program was stopped and continued do so when it is sampled."""

    # After how much time it is stopped, each time.
    RUN_US = 500
    STOPS = TURNS_STOPPED // 2
    # What the kernel has fail after a stop, for everybody (signal(7)); and a futex by syscall(), whose
    # limit is from when it was called (0010).
    FAIL = {"epoll_wait", "epoll_pwait", "recv", "sigtimedwait", "semtimedop", "semop", "sigwaitinfo", "futex"}

    def columns(self, run):
        """[{call: row}] of as many runs as have enough stops."""
        runs, stops = [], 0
        while stops < self.STOPS:
            rows, count = map(json.loads, run(workload("interruptible", TURNS_STOPPED, self.RUN_US)).splitlines())
            runs.append(rows)
            stops += count["stops"]
        return runs

    def assert_all_go_on(self, run):
        for rows in self.columns(run):
            wrong = {call: row for call, row in rows.items() if wrong_answers(row) and call not in self.FAIL}
            self.assertEqual(wrong, {})

    @live.long_only  # of the kernel and the workload, as are the other bare ones
    def test_bare_all_go_on(self):
        self.assert_all_go_on(lambda command: subprocess.run(command, capture_output=True, check=True,
                                                             timeout=120).stdout.decode())

    def test_all_go_on(self):
        for options in (("--trigger", "sigtrap"), ("--trigger", "timer")):
            for rate in RATES:
                with self.subTest(options=options, rate=rate):
                    self.assert_all_go_on(lambda command: self.record(command, *options, rate=rate)
                                          .run.stdout.decode())


class Ignored(live.LiveTest):
    """A signal that is ignored ends no wait, whatever the thread does that the kernel offers it to."""

    def assert_none_ends_a_wait(self, counts):
        self.assertEqual((counts["ended_waits"], counts["ended_timed_waits"]), (0, 0), counts)
        self.assertEqual(counts["handled"], counts["sent_to_handler"], counts)
        self.assertGreater(counts["waits"], 50, counts)

    @live.long_only
    def test_bare_none_ends_a_wait(self):
        run = subprocess.run(workload("ignored_signals"), capture_output=True, check=True, timeout=120)
        self.assert_none_ends_a_wait(live.truth_of(run.stdout)["counts"])

    def test_none_ends_a_wait(self):
        for options in (("--trigger", "sigtrap"), ("--trigger", "timer")):
            with self.subTest(options=options):
                self.assert_none_ends_a_wait(self.record(workload("ignored_signals"), *options).truth["counts"])


class Interrupted(live.LiveTest):
    """A signal whose handler has no SA_RESTART ends a read(); one whose handler has it does not."""

    def assert_same(self, record, *options):
        for rate in RATES:
            with self.subTest(rate=rate):
                counts = record(workload("lost_eintr", ALARMS), *options, rate=rate).truth["counts"]
                self.assertEqual(counts["alarms"], ALARMS)
                self.assertEqual((counts["odd"], counts["failed"]), (0, 0), counts)
                # An alarm may come between the note that the read begins and its beginning.
                self.assertLessEqual(counts["lost"], 2, counts)

    @live.long_only
    def test_bare_nothing_is_lost(self):
        run = subprocess.run(workload("lost_eintr"), capture_output=True, check=True, timeout=120)
        self.assertLessEqual(live.truth_of(run.stdout)["counts"]["lost"], 2)

    def test_others_fail_as_well(self):
        for call in ("poll", "select", "nanosleep", "pause"):
            with self.subTest(call=call):
                counts = self.record(workload("lost_eintr", 5000, call)).truth["counts"]
                self.assertEqual(counts["odd"], 0, counts)
                self.assertLessEqual(counts["lost"], 2, counts)

    def test_where_traps_count_system_time(self):
        self.assert_same(self.record, "--trigger", "sigtrap")

    def test_where_traps_count_user_time(self):
        self.assert_same(self.record_as_user, "--trigger", "sigtrap", "--clock", "user")

    def test_where_timers_trap(self):
        self.assert_same(self.record, "--trigger", "timer")


def print_table(columns):
    """How often a call failed with EINTR, was back too soon or answered oddly, of so many."""
    width = max(len(title) for title in columns) + 2
    print(f"\n{'EINTR, too soon, odd':20}" + "".join(f"{title:>{width}}" for title in columns))
    for call in next(iter(columns.values())):
        cells = [f"{wrong_answers(rows[call])} of {rows[call]['made']}" for rows in columns.values()]
        print(f"{call:20}" + "".join(f"{cell:>{width}}" for cell in cells))


def wrong_answers(row):
    return row["eintr"] + row["early"] + row["odd"]


if __name__ == "__main__":
    live.main()
