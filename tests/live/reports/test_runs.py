"""A command again and again, or two in turn, and what is said of it: fathom record --runs."""

import os
import re
import signal
import subprocess
import sys
import time

import live

PROGRAM = """
import sys
def normalize(n):
    s = 0
    for i in range(n): s += i * i
    return s
print("out")
for i in range(8):
    normalize(int(sys.argv[1]))
"""


class Runs(live.LiveTest):

    def runs(self, *arguments, expect=0):
        done = subprocess.run([live.FATHOM, "record", *arguments], cwd=self.path(""), capture_output=True, text=True, check=False,
                              timeout=300, stdin=subprocess.PIPE)
        self.assertEqual(done.returncode, expect, done.stdout + done.stderr)
        return done

    def files(self, folder):
        return sorted(os.listdir(self.path(folder)))

    def test_two_commands_run_in_turn_until_the_verdict_is_clear(self):
        self.write("work.py", PROGRAM)
        python = os.path.realpath(sys.executable)
        done = self.runs("--runs", "9", "--against", f"{python} 'work.py' 20000", "--", python, "work.py", "400000")
        # Ten times the work: no load makes that doubtful, and five rounds are the least.
        first = done.stdout.splitlines()[0]
        self.assertRegex(first, r"work\.py 400000 \(after\) against .*work\.py 20000 \(before\): \d runs each, in random order")
        self.assertIn("of 9 at most: the total's verdict is clear", first)
        self.assertRegex(done.stdout, r"total .* slower")
        self.assertRegex(done.stdout, r"slower +normalize")
        self.assertNotIn("\nout", done.stdout)
        self.assertEqual(done.stderr, "")
        names = self.files("profile.runs")
        self.assertIn("warm-up.before.fathom", names)
        for side in ("before", "after"):
            self.assertIn(f"{side}.5.fathom", names)
            self.assertNotIn(f"{side}.9.fathom", names)
        again = subprocess.run([live.FATHOM, "diff", *[self.path(f"profile.runs/before.{i}.fathom") for i in range(1, 6)], "--",
                                *[self.path(f"profile.runs/after.{i}.fathom") for i in range(1, 6)]],
                               capture_output=True, text=True, check=True)
        self.assertRegex(again.stdout, r"slower +normalize")

    def test_one_command_has_its_total_and_how_much_runs_differ(self):
        done = self.runs("--runs", "2", "-o", "mine", "--", "sh", "-c", "exit 0")
        self.assertRegex(done.stdout, r"^sh -c 'exit 0': 2 runs, after one to warm up\.\ntotal .*±.* from .* to ")
        self.assertEqual(self.files("mine"), ["run.1.fathom", "run.2.fathom", "warm-up.run.fathom"])
        self.assertIn("fathom report mine/run.", done.stdout)
        self.assertIn("mine is there already", self.runs("--runs", "2", "-o", "mine", "--", "true", expect=125).stderr)
        # Without a name of its own each goes to a new folder.
        for folder in ("profile.runs", "profile.runs.2"):
            self.assertEqual(self.runs("-q", "--runs", "2", "--", "true").stdout, "")
            self.assertTrue(os.path.isdir(self.path(folder)))

    def test_a_run_that_fails_ends_it_with_its_exit_code(self):
        done = self.runs("--runs", "3", "--", "sh", "-c", "exit 7", expect=7)
        self.assertIn("the warm-up of sh failed with exit code 7: nothing is compared", done.stderr)
        script = self.write("second", "#!/bin/sh\n[ -e there ] && kill -ABRT $$\n: > there\n")
        os.chmod(script, 0o755)
        done = self.runs("--runs", "3", "--", script, expect=128 + signal.SIGABRT)
        self.assertIn("run 1 of", done.stderr)
        self.assertEqual(done.stdout, "")

    def test_an_interrupt_shows_what_there_is(self):
        script = self.write("third", "#!/bin/sh\necho >> count\n[ $(wc -l < count) -lt 4 ] || exec sleep 100\n")
        os.chmod(script, 0o755)
        with subprocess.Popen([live.FATHOM, "record", "--runs", "9", "-o", "some", "--", script], cwd=self.path(""),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            deadline = time.monotonic() + 120
            while time.monotonic() < deadline:
                if os.path.exists(self.path("count")) and os.path.getsize(self.path("count")) >= 4:
                    break
                time.sleep(0.05)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 130, out + err)
        self.assertIn("2 runs, of 9: it was stopped", out)
        self.assertEqual(self.files("some"), ["run.1.fathom", "run.2.fathom", "warm-up.run.fathom"])

    def test_mistakes_are_said(self):
        for arguments, code, words in (
                (("--against", "true", "--", "true"), 125, "--against goes with --runs"),
                (("--runs", "1", "--", "true"), 125, "from 2 to 1000"),
                (("--runs", "2", "--against", "a | b", "--", "true"), 125, "'|' needs a shell"),
                (("--runs", "2", "--against", "a 'b", "--", "true"), 125, "a quote is not closed"),
                (("--runs", "2", "--against", " ", "--", "true"), 125, "is no command"),
                (("--runs", "2", "--against", "nowhere-to-be-found", "--", "true"), 127, "no such command"),
                (("--runs", "2", "-p", str(os.getpid())), 125, "--runs is for a command"),
                (("--runs", "2", "-o", "gone/there", "--", "true"), 125, "cannot make the folder gone/there")):
            self.assertIn(words, self.runs(*arguments, expect=code).stderr)
        self.assertEqual([name for name in self.files("") if re.search("profile", name)], [])


if __name__ == "__main__":
    live.main()
