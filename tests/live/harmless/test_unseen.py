"""Programs that block signals, give up system calls or replace themselves run as without us."""

import subprocess
import unittest

from live import FATHOM, LiveTest, Recording, workload

FAST = ["--rate", "10000"]


class Unseen(LiveTest):
    compares_times = True

    def record(self, *command, options=FAST):
        path = self.path("run.fathom")
        run = subprocess.run([FATHOM, "record", "-q", "-o", path, *options, "--", *command],
                             capture_output=True, timeout=120)
        return Recording(path, run)

    def test_a_thread_that_blocks_every_signal_is_sampled_and_sees_its_mask(self):
        for trigger in ("sigtrap", "timer"):
            with self.subTest(trigger=trigger):
                recording = self.record(*workload("masked"), options=[*FAST, "--trigger", trigger])
                self.assertEqual(recording.run.returncode, 0, recording.run.stderr)
                truth_ns = recording.truth["total"]["masked_work"]
                if trigger == "sigtrap":
                    sampled_ns = recording.time_of("masked_work", "total_ns")
                    self.assertAlmostEqual(sampled_ns / truth_ns, 1, delta=0.05)
                else:
                    self.assert_sampled_by_ticks(recording, "run", truth_ns)

    def assert_sampled_by_ticks(self, recording, thread, truth_ns):
        """A timer traps at the scheduler's ticks, of which others that want the processor may have most.

        What a thread did since the last that hit it is [exit]; so the truth lies between.
        """
        sampled_ns = recording.time_of(thread, "total_ns")
        self.assertGreater(sampled_ns / truth_ns, 0.5)
        self.assertLessEqual(sampled_ns / truth_ns, 1.05)
        self.assertGreaterEqual((sampled_ns + recording.head()["exit_ns"]) / truth_ns, 0.95)

    def test_a_program_in_strict_mode_lives_and_is_sampled_to_its_end(self):
        bare = subprocess.run(workload("strict"), capture_output=True, timeout=300)
        if bare.returncode == 77:
            self.skipTest("this machine has no strict seccomp mode")
        recording = self.record(*workload("strict"))
        self.assertEqual(recording.run.returncode, 7, recording.run.stderr)
        self.assertEqual(recording.run.stdout, bare.stdout)
        free_ns = recording.time_of("free_work", "total_ns")
        strict_ns = recording.time_of("strict_work", "total_ns")
        self.assertAlmostEqual(strict_ns / free_ns, 1, delta=0.2)

    def test_threads_that_are_first_sampled_behind_a_filter_have_their_own_samples(self):
        recording = self.record(*workload("filtered_threads"))
        if recording.run.returncode == 77:
            self.skipTest("this machine has no seccomp filters for all threads")
        self.assertEqual(recording.run.returncode, 0, recording.run.stderr)
        times = recording.rows("SELECT t.tid, sum(s.weight_ns) FROM samples s JOIN threads t ON t.id = s.thread "
                               "JOIN processes p ON p.id = t.process WHERE t.tid != p.pid GROUP BY t.tid")
        self.assertEqual(len(times), 3, times)
        for _, time_ns in times:
            self.assertAlmostEqual(time_ns / 150e6, 1, delta=0.3)
        self.assertNotIn("nonsense", " ".join(text for text, in recording.rows("SELECT text FROM notes")))

    def test_a_program_in_which_no_handler_may_return_lives_and_is_named(self):
        for way in ("filter", "dispatch", "libc"):
            bare = subprocess.run(workload("unreturning", way), capture_output=True, timeout=300)
            if bare.returncode == 77:
                self.skipTest("this machine cannot forbid system calls by " + way)
            for trigger in ("sigtrap", "timer"):
                with self.subTest(way=way, trigger=trigger):
                    recording = self.record(*workload("unreturning", way),
                                            options=[*FAST, "--trigger", trigger])
                    self.assertEqual(recording.run.returncode, 7, recording.run.stderr)
                    self.assertEqual(recording.run.stdout, bare.stdout)
                    self.assertGreater(recording.time_of("compute", "total_ns"), 0)
                    report = subprocess.run([FATHOM, "report", recording.path],
                                            capture_output=True, text=True, timeout=300).stdout
                    self.assertIn("unreturning (it lets no signal handler return", report)

    def test_threads_that_set_one_action_at_once_all_end(self):
        for trigger in ("sigtrap", "timer"):
            with self.subTest(trigger=trigger):
                recording = self.record(*workload("contended"), options=[*FAST, "--trigger", trigger])
                self.assertEqual(recording.run.returncode, 0, recording.run.stderr)
                self.assertEqual(recording.run.stdout, b"done\n")

    def test_children_that_libc_has_not_made_may_have_children(self):
        for trigger in ("sigtrap", "timer"):
            with self.subTest(trigger=trigger):
                recording = self.record(*workload("copied"), options=[*FAST, "--trigger", trigger])
                self.assertEqual(recording.run.stdout, b"0\n", recording.run.stderr)

    def test_a_chain_of_execs_is_not_killed_by_a_late_trap(self):
        chain = "exec sh -c 'exec sh -c \"exec sh -c \\\"exit 5\\\"\"'"
        for _ in range(10):
            recording = self.record("sh", "-c", chain, options=["--rate", "20000"])
            self.assertEqual(recording.run.returncode, 5, recording.run.stderr)

    def test_an_exec_that_fails_leaves_the_program_sampled(self):
        script = ("import os\n"
                  "for _ in range(50):\n"
                  "    try: os.execv('/nonexistent/program', ['x'])\n"
                  "    except FileNotFoundError: pass\n"
                  "sum(i * i for i in range(3000000))\n")
        recording = self.record("/usr/bin/python3", "-c", script)
        self.assertEqual(recording.run.returncode, 0, recording.run.stderr)
        head = recording.head()
        self.assertGreater(head["sampled_ns"], 0.9 * head["kernel_cpu_ns"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
