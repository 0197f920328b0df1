"""Which process is which: programs and processes by name and title, and what they were doing."""

import live
from live_programs import BURN, ProgramsTest


class ByProgram(ProgramsTest):

    def test_brief_processes_are_in_their_programs_sum(self):
        burn = self.build_text("burn", BURN)
        script = f"for i in 1 2 3 4 5 6 7 8 9 10; do /bin/true; done; {burn}; {burn}"
        recording = self.record(["sh", "-c", script], rate=100, expect=3)
        programs = {row["name"]: row for row in recording.report("--by", "program")["programs"]}
        self.assertEqual((programs["burn"]["processes"], programs["burn"]["brief"]), (2, 0), programs)
        true = programs["true"]
        self.assertEqual((true["processes"], true["entered"], true["unentered_reason"]), (10, 10, None))
        self.assertGreaterEqual(true["brief"], 5)
        self.assertGreater(true["self_ns"], 0)
        # It is the processes' sum, and all of them are in a row.
        processes = recording.report("--by", "process")["processes"]
        self.assertEqual(true["self_ns"], sum(row["self_ns"] for row in processes if row["name"] == "true"))
        self.assertEqual(sum(row["processes"] for row in programs.values()), len(processes))
        self.assertEqual(sum(row["self_ns"] for row in programs.values()), recording.total_ns())


if __name__ == "__main__":
    live.main()
