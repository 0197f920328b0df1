#!/usr/bin/env python3
"""A recorder is a program, too: one that is recorded, or traced, by another."""

import subprocess

import live

# Shorter than the recorder measures, or its own traps would not stand out among the program's time.
BRIEF = ["sh", "-c", "i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done"]


class Nested(live.LiveTest):
    def nested(self, outer):
        """The recording of a recorder, and the one that it made, of a brief program."""
        paths = self.path("outer.fathom"), self.path("inner.fathom")
        run = subprocess.run([live.FATHOM, outer, "-q", "-o", paths[0], "--",
                              live.FATHOM, "record", "-q", "-o", paths[1], "--", *BRIEF],
                             capture_output=True, timeout=120, check=False)
        self.assertEqual(run.returncode, 0, run.stderr)
        return [live.Recording(path, run) for path in paths]

    def test_events_that_a_recorder_opens_on_itself_are_no_samples_of_another(self):
        """It measures what a trap costs, and has some hundred for that, in a few milliseconds."""
        recorder, program = self.nested("record")
        if program.head()["trigger"] != "sigtrap":
            self.skipTest("perf events do not trap here: a recorder measures nothing by them")
        head = recorder.head()
        self.assertGreater(program.head()["samples"], 2)
        self.assertLessEqual(head["samples"] * head["period_ns"], 1.05 * head["kernel_cpu_ns"])

    def test_what_another_recorder_is_in_is_reported_as_that(self):
        """Its children as well, which are entered by that one."""
        paths = self.path("outer.fathom"), self.path("inner.fathom")
        command = [live.FATHOM, "record", "-q", "-o", paths[1], "--", "sh", "-c", "sh -c 'true & wait'; true"]
        for outer in "record", "trace":
            with self.subTest(outer):
                run = subprocess.run([live.FATHOM, outer, "-q", "-o", paths[0], "--", *command], capture_output=True,
                                     timeout=120, check=False)
                self.assertEqual(run.returncode, 0, run.stderr)
                recorder, program = (live.Recording(path, run) for path in paths)
                pids = {pid for pid, in program.rows("SELECT pid FROM processes")}
                why = {pid: reason for pid, reason in recorder.rows("SELECT pid, unentered_reason FROM processes"
                                                                    " WHERE unentered_reason IS NOT NULL")}
                self.assertEqual(why, {pid: "another recording is made of it" for pid in pids})

    def test_a_trace_has_no_samples(self):
        recorder, program = self.nested("trace")
        self.assertGreater(program.head()["samples"], 2)
        self.assertEqual(recorder.rows("SELECT count(*) FROM samples"), [(0,)])
        self.assertEqual(recorder.report()["total_ns"], 0)


if __name__ == "__main__":
    live.main()
