"""Programs that switch often: sampled by timers once that is seen, with the same results and a whole account."""

import re
import subprocess

import live
import live_wall
from live import workload

CHANGED = re.compile(r"\(pid (\d+).*\) switched (\d+) times .* sampled by timers since ([0-9.]+) s")
# Of CPU time of one end: enough before it is seen, and enough behind.
LONG_MS = 1500 if live.IS_LONG else 1100
BARE_MS = 200
HEAVY = 2 / 3
ALLOWED = 0.06
UNEXPLAINED = 0.03
# Of its CPU time: where sampling costs more, it is to be changed.
DEAR = 0.04
CHILD_NS = 3 * 120_000_000
SLEEPERS_NS = 20 * 60_000_000


class Servers(live.LiveTest):
    compares_times = True
    bare = {}

    def changes_of(self, recording):
        notes = recording.head()["notes"]
        return [match for match in map(CHANGED.search, notes) if match]

    @classmethod
    def run_bare(cls, kind):
        """Once for each kind: it prints and returns the same each time, however long it runs."""
        if kind not in cls.bare:
            cls.bare[kind] = subprocess.run(workload("switches", kind, BARE_MS), stdin=subprocess.DEVNULL, capture_output=True,
                                            timeout=120)
        return cls.bare[kind]

    def record_switching(self, kind, *options, record=None, **record_options):
        """Recorded at the default rate, and as it is without: output and status."""
        command = workload("switches", kind, LONG_MS)
        bare = self.run_bare(kind)
        recording = (record or self.record)(command, *options, rate=1000, expect=bare.returncode, **record_options)
        self.assertEqual(recording.run.stdout, bare.stdout)
        self.assertEqual(recording.run.stderr, bare.stderr)
        self.assert_adds_up(recording)
        return recording

    def record_changed(self, kind, **record_options):
        recording = self.record_switching(kind, **record_options)
        if recording.head()["trigger"] != "sigtrap":
            self.skipTest("sampling events cannot be had here: timers trigger all the time")
        changes = self.changes_of(recording)
        if not changes:
            head = recording.head()
            self.assertLess(head["sampling_cost_ns"], DEAR * head["kernel_cpu_ns"], head["notes"])
            self.skipTest("on this machine events make switches hardly dearer: nothing was changed")
        return recording, float(changes[0].group(3)) * 1e9

    def share_of_heavy(self, recording, from_ns, to_ns):
        """Of heavy() among both, in the samples of that time; and how many there are."""
        stacks = recording.functions_of_stacks()
        spent = {"heavy": 0, "light": 0}
        count = 0
        for time_ns, _, stack, weight_ns in recording.samples():
            name = next((function for function in stacks[stack] if function in spent), None)
            if name and from_ns <= time_ns < to_ns:
                spent[name] += weight_ns if weight_ns is not None else recording.head()["period_ns"]
                count += 1
        return spent["heavy"] / (sum(spent.values()) or 1), count

    def assert_shares(self, recording, changed_ns):
        for from_ns, to_ns in ((0, changed_ns), (changed_ns, 1 << 62)):
            share, count = self.share_of_heavy(recording, from_ns, to_ns)
            self.assertGreater(count, 10)
            error = (HEAVY * (1 - HEAVY) / count) ** 0.5
            self.assert_share(share, HEAVY, ALLOWED + live.STANDARD_ERRORS * error, f"heavy() from {from_ns / 1e9:.1f} s on")

    def test_two_threads(self):
        recording, changed_ns = self.record_changed("threads")
        self.assert_shares(recording, changed_ns)
        self.assert_explained(recording, within=UNEXPLAINED)

    def test_switches_from_thread_to_thread_are_not_priced_as_others(self):
        """They take a fifth longer; each at the price of another switch would be six times the whole and more."""
        recording = self.record_switching("siblings", "--trigger", "sigtrap")
        head = recording.head()
        self.assertLess(head["sampling_cost_ns"], 3 * head["kernel_cpu_ns"])

    def test_two_processes(self):
        recording, changed_ns = self.record_changed("processes")
        self.assert_shares(recording, changed_ns)
        self.assert_explained(recording, within=UNEXPLAINED)
        # What makes code has its mappings read again and again, which these do not.
        self.assertEqual(recording.rows("SELECT count(*) FROM modules WHERE kind = 2"), [(0,)])

    def test_an_ordinary_users(self):
        recording, changed_ns = self.record_changed("processes", record=self.record_as_user)
        self.assert_shares(recording, changed_ns)
        self.assert_explained(recording, within=UNEXPLAINED)

    def test_children_of_a_changed_process_begin_by_timers(self):
        recording, _ = self.record_changed("forks")
        self.assert_explained(recording, within=UNEXPLAINED)
        spent_ns = recording.time_of("work_of_child", "total_ns")
        self.assertGreater(spent_ns, 0.8 * CHILD_NS)
        children = recording.rows(
            "SELECT count(*), min(weight_ns) FROM samples s JOIN threads t ON s.thread = t.id WHERE t.process IN"
            " (SELECT id FROM processes ORDER BY id DESC LIMIT 3) GROUP BY t.process")
        self.assertEqual(len(children), 3)

    def test_threads_that_sleep_meanwhile_are_sampled_when_they_wake(self):
        recording, _ = self.record_changed("crowd")
        self.assert_explained(recording, within=UNEXPLAINED)
        # Behind its last tick each may have burned one more, which is on its first function: 4 ms of 60, 10 where the
        # kernel has 100 ticks; and where much else runs some more at its beginning.
        self.assertGreater(recording.time_of("work_of_child", "total_ns"), 0.7 * SLEEPERS_NS)
        sampled = recording.rows("SELECT count(DISTINCT thread) FROM samples")[0][0]
        self.assertGreaterEqual(sampled, 20)

    def test_a_user_that_asks_for_events_keeps_them(self):
        recording = self.record_switching("threads", "--trigger", "sigtrap")
        self.assertEqual(self.changes_of(recording), [])

    def test_on_the_wall_clock_it_is_read_more_rarely(self):
        recording = self.record(workload("switches", "processes", LONG_MS), "--clock", "wall", rate=100,
                                expect=self.run_bare("processes").returncode)
        self.assertEqual(recording.run.stdout, self.run_bare("processes").stdout)
        notes = " ".join(recording.head()["notes"])
        if "lengths of waits come from schedstat" not in notes:
            self.skipTest("this machine is too busy for so many switches that their reports are given up")
        self.assertRegex(notes, r"from \d+\.\d s on .* are read every \d+ ms")
        lives = live_wall.threads_of(recording)
        for name, life, states in lives:
            self.assertLessEqual(abs(sum(states.values()) - life), life * live_wall.MOST_OFF, (name, life, states))
        waits = {state: sum(states.get(state, 0) for _, _, states in lives) for state in live_wall.STATES[2:]}
        # Each end waits for the other's byte, and for nothing else.
        self.assertGreater(waits["io"], 0.8 * sum(waits.values()), waits)

    def test_a_program_that_computes_keeps_them(self):
        recording = self.record_switching("quiet")
        self.assertEqual(self.changes_of(recording), [])


if __name__ == "__main__":
    live.main()
