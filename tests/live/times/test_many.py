"""Many processes, many threads, many stacks: results as without fathom, books that add up, bounded use."""

import functools
import os
import subprocess
import time

import live
from live import FATHOM, workload
from processes import end_process

MIB = 1 << 20
UNEXPLAINED = 0.02
# What a child of clone(2) burns, of twenty.  No agent is in it, and where a busy machine lets the recorder run too late, its
# counter is gone with it: one in each third such run.
CLONE_NS = 21_000_000
# Of the processes, these must be in the account with time of their own: more than the kernel takes to make one.
LEAST_ACCOUNTED = 0.99
LEAST_NS = 20000
# What one burns that was over before the recorder looked at it, as the account says by this reason.
GONE = "it ended before it could be looked at"
GONE_NS = 25_000
# How long stacks are ever new, and how many there are then at least; 49,152 are an epoch (collect/stacks/epochs.h).
NEW_MS, NEW_STACKS = (4000, 250000) if live.IS_LONG else (1400, 75000)
PROGRAMS = 500 if live.IS_LONG else 150
# Of these ways so many children, in place of the workload's own numbers.
FEWER = {} if live.IS_LONG else {"exits": 300, "now and then": 150, "execs": 100, "vforks": 100, "forks of threads": 100}
# The workload's own and its children, whatever their lives.
PROCESSES = {"exits": 1001, "now and then": 501, "execs": 201, "vforks": 201, "crowds": 65, "clones": 21, "forks of threads": 201,
             "orphans": 41, "daemons": 41}


class Masses(live.LiveTest):
    compares_times = True

    @staticmethod
    @functools.lru_cache(maxsize=None)
    def bare(*arguments):
        """Once for all tests: it prints the same each time."""
        return subprocess.run(workload("masses", *arguments), stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=120, check=True)

    def assert_same(self, way, *options, how_many=(), **record_options):
        bare = self.bare(way, *how_many)
        recording = self.record(workload("masses", way, *how_many), *options, **record_options)
        self.assertEqual(recording.run.stdout, bare.stdout)
        self.assertEqual(recording.run.stderr, bare.stderr)
        self.assert_adds_up(recording)
        self.assert_named(recording)
        return recording

    def assert_accounted(self, recording):
        """No process is missing from the account: each has burned what a process burns at least."""
        spent = recording.rows("SELECT p.pid, sum(t.cpu_ns) FROM processes p JOIN threads t ON t.process = p.id"
                               " GROUP BY p.pid")
        accounted = [pid for pid, cpu_ns in spent if (cpu_ns or 0) >= LEAST_NS]
        self.assertGreaterEqual(len(accounted), LEAST_ACCOUNTED * len(spent))

    def assert_named(self, recording):
        """Each process has its name, an end, and a period or the reason why it has none."""
        for name, end_ns, period_ns, reason in recording.rows(
                "SELECT name, end_ns, period_ns, unentered_reason FROM processes"):
            self.assertEqual(name, "masses")
            self.assertIsNotNone(end_ns)
            self.assertTrue(period_ns is not None or reason, (period_ns, reason))

    def test_every_way_to_make_many_gives_the_same(self):
        ways = self.bare().stdout.decode().splitlines()
        self.assertLessEqual(set(PROCESSES), set(ways))
        for way in ways:
            with self.subTest(way):
                recording = self.assert_same(way, how_many=(FEWER[way],) if way in FEWER else ())
                gone = recording.rows(f"SELECT count(*) FROM processes WHERE unentered_reason = '{GONE}'")[0][0]
                self.assert_explained(recording, within=UNEXPLAINED,
                                      slack_ns=gone * GONE_NS + (3 * CLONE_NS if way == "clones" else 0))
                # A child of vfork() that ends at once is over before anything could count it.
                if way != "vforks":
                    self.assert_accounted(recording)
                pids = {pid for pid, in recording.rows("SELECT pid FROM processes")}
                self.assertEqual(len(pids), FEWER[way] + 1 if way in FEWER else PROCESSES.get(way, len(pids)))

    def test_a_child_accounts_for_its_own_time_from_its_first_trap_on(self):
        """At this rate traps come while the child's account begins, where its parent's stood."""
        for way in ("exits", "forks of threads") if live.IS_LONG else ("exits",):
            with self.subTest(way):
                recording = self.assert_same(way, rate=50000, how_many=() if live.IS_LONG else (400,))
                self.assertEqual([text for text, in recording.rows("SELECT text FROM notes WHERE text LIKE '%nonsense%'")], [])

    def test_so_it_does_with_the_timer(self):
        for way in ("exits", "execs", "forks of threads", "threads", "daemons") if live.IS_LONG else ("execs", "daemons"):
            with self.subTest(way):
                self.assert_same(way, "--trigger", "timer")

    def test_so_it_does_without_privileges(self):
        for way in ("execs", "vforks", "clones", "forks of threads"):
            with self.subTest(way):
                bare = self.bare(way)
                recording = self.record_as_user(workload("masses", way))
                self.assertEqual(recording.run.stdout, bare.stdout)

    def test_a_child_of_fork_does_what_its_parent_did_and_has_its_stacks(self):
        recording = self.assert_same("alike")
        self.assertNotIn("no_stack", recording.head()["stacks"])
        whole = sum(ns for frames, ns in recording.folded() if "main" in frames and "work_of_children" in frames)
        self.assertGreater(whole, 0.9 * recording.total_ns())

    def test_children_by_raw_system_calls_are_reported(self):
        """No handler of fork runs in them, so no agent is in them."""
        recording = self.assert_same("clones")
        unentered = recording.rows("SELECT count(*) FROM processes WHERE unentered_reason IS NOT NULL")[0][0]
        self.assertEqual(unentered, 20)
        # One that ended before the recorder looked at it has that for a reason.
        reasons = recording.rows("SELECT DISTINCT unentered_reason FROM processes WHERE unentered_reason LIKE '%clone(2)%'")
        self.assertEqual(len(reasons), 1)
        self.assertGreater(recording.head()["unentered_ns"], 200 * 1000000)

    def test_the_recorder_keeps_up_and_keeps_nothing(self):
        """3,000 children: its descriptors and its memory are those of a few."""
        run = subprocess.Popen([FATHOM, "record", "-q", "-o", self.path("test.fathom"), "--",
                                *workload("masses", "exits", 3000)], stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.folder)
        self.addCleanup(end_process, run)
        descriptors, resident = watch(run)
        out, err = run.communicate(timeout=300)
        self.assertEqual(run.returncode, 0, err)
        self.assertIn(b"3000 ended", out)
        self.assertGreater(descriptors, 0)
        self.assertLess(descriptors, 100)
        self.assertLess(resident, 60 * MIB)


class Brief(live.LiveTest):

    def test_a_loop_of_brief_static_programs_is_explained(self):
        """Each is over before a sample of it is due, and no agent comes; bash calls fork(), dash vfork()."""
        program = workload("brief_static")[0]
        for shell in ("bash", "dash"):
            loop = [self.need(shell), "-c", f"i=0; while [ $i -lt {PROGRAMS} ]; do {program} 1; i=$((i+1)); done"]
            for record in (self.record, self.record_as_user):
                with self.subTest(shell=shell, by=record.__name__):
                    recording = record(loop, rate=1000)
                    of_them, = recording.rows("SELECT sum(t.cpu_ns) FROM processes p JOIN threads t"
                                              " ON t.process = p.id WHERE p.name = 'brief_static'")[0]
                    self.assertGreater(of_them, 400_000 * PROGRAMS)
                    self.assert_explained(recording, within=0.05)


class EverNewStacks(live.LiveTest):
    compares_times = True

    def test_the_store_of_stacks_begins_anew_and_nothing_is_lost(self):
        run = subprocess.Popen([FATHOM, "record", "-q", "--rate", "20000", "-o", self.path("test.fathom"), "--",
                                *workload("novelty", NEW_MS, 12, 2)], stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.folder)
        self.addCleanup(end_process, run)
        _, resident = watch(run)
        run.communicate(timeout=300)
        self.assertEqual(run.returncode, 0)
        recording = live.Recording(self.path("test.fathom"), run)
        self.assertEqual(recording.head()["stacks"].get("no_stack", 0), 0)
        self.assert_whole_stacks(recording, least_samples=25 * NEW_MS // 2)
        self.assertGreater(recording.rows("SELECT count(*) FROM stacks")[0][0], NEW_STACKS)
        for half in ("half_a", "half_b"):
            self.assert_share(recording.time_of(half, "self_ns") / recording.total_ns(), 0.46, 0.05, half)
        self.assertLess(resident, 256 * MIB)


def watch(run):
    """The most descriptors and memory that the recorder had at a time, until it ended."""
    descriptors = resident = 0
    while run.poll() is None:
        try:
            descriptors = max(descriptors, len(os.listdir(f"/proc/{run.pid}/fd")))
            with open(f"/proc/{run.pid}/statm") as file:
                resident = max(resident, int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE"))
        except (OSError, IndexError):
            break
        time.sleep(0.02)
    return descriptors, resident


if __name__ == "__main__":
    live.main()
