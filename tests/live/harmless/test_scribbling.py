#!/usr/bin/env python3
"""A program that writes at random into the memory it shares with fathom costs its own figures, and nothing else."""

import os
import subprocess

import live
from live import FATHOM, workload

CODE = 7
SEEDS = (1, 2, 3)
NONSENSE = "wrote nonsense into the memory"
# Of these each child that lives on for a moment is caught; random words may all hit what nothing reads.
ALWAYS_SEEN = ("times of its choice", "committed records")
MS = 1000000


def styles():
    return subprocess.run(workload("scribbles"), stdout=subprocess.PIPE, check=True).stdout.decode().splitlines()


class Scribbling(live.LiveTest):
    compares_times = True

    def setUp(self):
        super().setUp()
        self.runtime = self.path("runtime")
        os.mkdir(self.runtime, 0o700)

    def run_below(self, mode, style, seed):
        """The recording, and that fathom ended as the command did and left nothing."""
        path = self.path("test.fathom")
        for leftover in (path, path + "-wal", path + "-shm", path + ".old"):
            if os.path.exists(leftover):
                os.unlink(leftover)
        places = {"XDG_RUNTIME_DIR": self.runtime, "TMPDIR": self.runtime}
        run = subprocess.run([FATHOM, mode, "-q", "--clock", "cpu", "-o", path, "--", *workload("scribbles", style, seed)],
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120,
                             cwd=self.folder, env={**os.environ, **places})
        self.assertEqual(run.returncode, CODE, run.stderr.decode(errors="replace"))
        # The folder of all recorders of a user stays; what is in it does not.
        left = [name for folder in os.listdir(self.runtime) for name in os.listdir(os.path.join(self.runtime, folder))]
        self.assertEqual(left, [])
        return live.Recording(path, run)

    def assert_reads(self, recording):
        for command in (("info",), ("report",), ("report", "--by", "process"), ("export", "--format", "folded"),
                        ("export", "--format", "pprof", "-o", self.path("out.pb.gz"))):
            name, *options = command
            done = subprocess.run([FATHOM, name, recording.path, *options], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, timeout=120)
            self.assertEqual(done.returncode, 0, done.stderr.decode(errors="replace"))

    def notes(self, recording):
        return [text for text, in recording.rows("SELECT text FROM notes") if NONSENSE in text]

    def each(self):
        for number, style in enumerate(styles()):
            for seed in live.in_turn(SEEDS, number):
                yield style, seed

    def test_what_is_sampled(self):
        for style, seed in self.each():
            with self.subTest(style=style, seed=seed):
                recording = self.run_below("record", style, seed)
                self.assert_reads(recording)
                self.assert_adds_up(recording)
                self.assert_others_are_right(recording)
                if style in ALWAYS_SEEN:
                    self.assertGreater(len(self.notes(recording)), 0)

    def assert_others_are_right(self, recording):
        """The parent's own time is; that of all is no more than the kernel charged, and each slack (decision 0033)."""
        head, truth = recording.head(), recording.truth
        liars = len(recording.rows("SELECT id FROM processes")) - 1
        self.assertGreaterEqual(head["unexplained_ns"],
                                -0.02 * head["kernel_cpu_ns"] - liars * 2 * head["period_ns"], head)
        measured = recording.time_of("work_of_the_parent", "self_ns")
        spent = truth["self"]["work_of_the_parent"]
        self.assertLessEqual(abs(measured - spent), 0.1 * spent + 5 * MS)
        first, last = recording.rows("SELECT min(time_ns), max(time_ns) FROM samples")[0]
        self.assertGreaterEqual(first, 0)
        self.assertLessEqual(last, head["wall_ns"])

    def test_what_is_traced(self):
        for style, seed in self.each():
            with self.subTest(style=style, seed=seed):
                recording = self.run_below("trace", style, seed)
                self.assert_reads(recording)
                rows = {row["name"]: row for row in recording.report()["functions"]}
                self.assertIn("work_of_the_parent", rows)
                spent = recording.truth["self"]["work_of_the_parent"]
                self.assertLessEqual(rows["work_of_the_parent"]["self_ns"], spent + 5 * MS)
                self.assertGreaterEqual(rows["work_of_the_parent"]["self_ns"], 0.8 * spent - 5 * MS)

    def test_programs_that_write_nothing_are_believed(self):
        for mode in ("record", "trace"):
            recording = self.run_below(mode, "nothing", 1)
            self.assertEqual(self.notes(recording), [])


if __name__ == "__main__":
    live.main()
