#!/usr/bin/env python3
"""Real programs are traced, and notice nothing: what they print, how they end, what they count themselves."""

import signal
import subprocess
import time

import live
import live_trace


class Recorders(live_trace.TraceTest):
    def test_a_recorder_too_late_to_answer_lets_the_program_run_and_says_so(self):
        path = self.path("late.fathom")
        run = subprocess.Popen([live.FATHOM, "trace", "-q", "-o", path, "--", "sh", "-c",
                                'echo READY; read line; "$@"; echo DONE $?', "sh", *self.any_python("-c", "print(1)")],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=self.folder)
        self.addCleanup(run.stdout.close)
        self.assertEqual(run.stdout.readline(), b"READY\n")
        run.send_signal(signal.SIGSTOP)
        try:
            run.stdin.write(b"go\n")
            run.stdin.flush()
            self.assertEqual(run.stdout.readline(), b"1\n")
        finally:
            run.send_signal(signal.SIGCONT)
        out, _ = run.communicate(timeout=60)
        self.assertEqual((run.returncode, out), (0, b"DONE 0\n"))
        self.assertIn("too late to answer", " ".join(self.notes(live_trace.Trace(path, run))))


if __name__ == "__main__":
    live.main()
