"""A budget in place of a rate: fathom record --overhead."""

import re
import subprocess

import live
from live import workload

# Handlers in deep stacks take many times as long as in a flat one: the rate is to follow.
ALTERNATING = """
import sys
sys.setrecursionlimit(10000)
def flat(n):
    s = 0
    for i in range(n): s += i * i
    return s
def deep(depth, n):
    return flat(n) if depth == 0 else deep(depth - 1, n)
for _ in range(2):
    flat(2000000)
    deep(900, 2000000)
"""


class Overhead(live.LiveTest):
    compares_times = True

    def note(self, recording):
        notes = [row[0] for row in recording.rows("SELECT text FROM notes")]
        found = [text for text in notes if text.startswith("--overhead")]
        self.assertEqual(len(found), 1, notes)
        return found[0]

    def test_shares_are_what_they_are_and_the_account_adds_up(self):
        for program in (workload("thirds", 1200), workload("threads", 1200)):
            with self.subTest(program=program):
                recording = self.record(program, "--overhead", "5%", rate=None)
                self.assertRegex(self.note(recording), r"^--overhead 5%: ")
                self.assert_adds_up(recording)
                self.assert_explained(recording, slack_ns=5_000_000)
                truth = recording.truth
                cpu_ns = sum(truth["processes"].values()) or truth["cpu_ns"]
                for name, spent_ns in truth["self"].items():
                    allowed = 0.02 + 5 * recording.standard_error(name, "self") + recording.taken_off_ns() / cpu_ns
                    self.assert_share(recording.time_of(name, "self_ns") / recording.total_ns(), spent_ns / cpu_ns, allowed, name)

    def test_what_handlers_take_in_brief_processes_is_learned(self):
        """None of them lasts for a window of the budget's; 100.0 us is the guess for the first."""
        loop = "for i in 1 2 3 4 5 6 7 8; do awk 'BEGIN { for (i = 0; i < 1000000; i++) x += i }'; done"
        recording = self.record(["sh", "-c", loop], "--overhead", "5%", rate=None)
        found = re.search(r"its handler ([0-9.]+) µs", self.note(recording))
        self.assertIsNotNone(found, self.note(recording))
        self.assertNotEqual(found.group(1), "100.0")

    def test_a_larger_budget_has_more_samples_and_each_keeps_its_weight(self):
        program = self.write("alternating.py", ALTERNATING)
        samples = []
        for budget in ("1%", "20%"):
            recording = self.record(["python3", program], "--overhead", budget, rate=None)
            self.assert_adds_up(recording)
            # A first period and a last one are of no sample.
            self.assert_explained(recording, slack_ns=30_000_000)
            self.assertGreater(recording.time_of("flat", "total_ns"), 0.7 * recording.total_ns())
            samples.append(recording.head()["samples"])
        self.assertLess(samples[0], samples[1])
        # Shown as what was asked for.
        shown = subprocess.run([live.FATHOM, "info", recording.path], capture_output=True, text=True, check=True).stdout
        self.assertIn("(--overhead 20%)", re.sub(r"\s+", " ", shown))

    def test_where_no_rate_can_follow_one_is_chosen(self):
        recording = self.record(workload("thirds", 1200), "--overhead", "1%", "--trigger", "timer", rate=None)
        self.assertIn("no perf event samples here", self.note(recording))
        self.assert_adds_up(recording)

    def test_what_does_not_go_together_is_said(self):
        for arguments, words in ((("record", "--overhead", "1%", "--rate", "100"), "does not go with --rate"),
                                 (("record", "--overhead", "1%", "--clock", "wall"), "does not go with --clock wall"),
                                 (("record", "--overhead", "0"), "from 0.1 to 50"),
                                 (("record", "--overhead", "much"), "like 1%")):
            done = subprocess.run([live.FATHOM, *arguments, "--", "true"], capture_output=True, text=True, check=False, cwd=self.folder)
            self.assertEqual(done.returncode, 125)
            self.assertIn(words, done.stderr)


if __name__ == "__main__":
    live.main()
