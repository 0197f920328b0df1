#!/usr/bin/env python3
"""pprof's own library and its own command read our profiles back."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import exported

SOURCE = pathlib.Path(__file__).parent / "pprof_reader"


class PprofReader(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        exported.need("go")
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        # Go keeps modules and what it built in the user's caches by itself.
        cls.environment = {**os.environ, "GOFLAGS": "-modcacherw", "GOTOOLCHAIN": "local",
                           "PPROF_TMPDIR": cls.folder.name}
        exported.fetch("the Go module github.com/google/pprof", ["go", "mod", "download"],
                       cwd=SOURCE, env=cls.environment)
        cls.reader = os.path.join(cls.folder.name, "pprof_reader")
        subprocess.run(["go", "build", "-o", cls.reader, "."], cwd=SOURCE, env=cls.environment,
                       check=True, timeout=300)

    def read(self, profile):
        done = subprocess.run([self.reader], input=exported.export(profile, "pprof"),
                              capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return json.loads(done.stdout)

    def test_every_profile_is_valid_and_its_stacks_and_sums_are_what_was_written(self):
        for profile in exported.PROFILES:
            with self.subTest(profile):
                samples = self.read(profile)["samples"] or []
                self.assertEqual(
                    exported.sums_of((s["stack"], s["values"][1]) for s in samples),
                    exported.sums_of(exported.stacks_in_speedscope(profile)))

    def test_head_mappings_and_labels_are_found(self):
        read = self.read("mixed")
        self.assertEqual(read["types"], ["samples/count", "cpu/nanoseconds"])
        self.assertEqual(read["default"], "cpu")
        self.assertEqual(read["period"], 999983)
        self.assertEqual(read["duration"], 12000000)
        self.assertIn("command: ./prog -n 3", read["comments"])
        self.assertIn("lost: 2", read["comments"])
        self.assertEqual(read["mappings"][0]["file"], "/opt/prog")
        self.assertEqual(read["mappings"][0]["build_id"], bytes(range(1, 21)).hex())
        worker = [s for s in read["samples"] if s["labels"]["thread"] == ["worker"]]
        self.assertEqual(sum(s["values"][0] for s in worker), 4)
        self.assertEqual({(s["nums"]["pid"][0], s["nums"]["tid"][0]) for s in worker}, {(100, 101)})

    def pprof(self, profile, *options):
        with tempfile.NamedTemporaryFile(suffix=".pb.gz") as file:
            file.write(exported.export(profile, "pprof"))
            file.flush()
            done = subprocess.run(["go", "tool", "pprof", *options, file.name],
                                  capture_output=True, text=True, env=self.environment, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_the_command_prints_self_and_total_times(self):
        rows = {}
        for line in self.pprof("mixed", "-top").splitlines():
            fields = line.split()
            if len(fields) >= 6 and fields[0].endswith(("ms", "0")) and fields[1].endswith("%"):
                rows[fields[5]] = (fields[0], fields[3])
        self.assertEqual(rows["swap"], ("4ms", "4ms"))
        self.assertEqual(rows["sort"], ("3ms", "7ms"))
        self.assertEqual(rows["main"], ("0", "10ms"))
        self.assertEqual(rows["[start-up]"], ("2ms", "2ms"))

    def test_the_command_sees_inlined_calls_in_their_location(self):
        raw = self.pprof("mixed", "-raw")
        self.assertRegex(raw, r"0x1201 M=\d+ swap src/swap\.h:4(:0)? s=3\n\s+sort src/sort\.c:30(:0)? s=20")


if __name__ == "__main__":
    exported.main()
