"""`fathom trace` of compiled programs: what it counts is what the programs count of themselves."""

import json
import os
import shutil
import subprocess
import sys
import unittest

import live

SOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "workloads", "native")
FLAGS = {
    "instrument": ["-finstrument-functions"],
    "pg": ["-pg"],
    "fentry": ["-pg", "-mfentry"],
    #"patchable": ["-fpatchable-function-entry=6"],
    #"patchable_before": ["-fpatchable-function-entry=9,2"],
}
COMPILERS = [name for name in ("gcc", "clang-14", "clang") if shutil.which(name)][:2]
CALLS_COUNTED = "calls "


class NativeTest(live.LiveTest):
    def build(self, compiler, source, kind, *options, name=None):
        """Another compiler's name for C++ goes by the source's."""
        target = self.path(name or "%s_%s_%s" % (os.path.basename(source).replace(".", "_"), kind, compiler))
        command = [compiler, "-g", "-O2", *FLAGS.get(kind, []), *options, os.path.join(SOURCES, source), "-o", target,
                   "-pthread", "-ldl"] + (["-lstdc++"] if source.endswith(".cpp") else [])
        built = subprocess.run(command, stderr=subprocess.PIPE, text=True)
        if built.returncode != 0 and "unsupported" in built.stderr + "unrecognized":
            self.skipTest("%s does not know %s: %s" % (compiler, " ".join(FLAGS[kind]), built.stderr.splitlines()[0]))
        self.assertEqual(built.returncode, 0, built.stderr)
        return target

    def trace(self, *command, options=(), expect=0, **run_options):
        path = self.path("trace.fathom")
        for leftover in (path, path + "-wal", path + "-shm", path + ".old"):
            if os.path.exists(leftover):
                os.unlink(leftover)
        run = subprocess.run([live.FATHOM, "trace", "-q", "-o", path, *options, "--", *command], cwd=self.folder,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300,
                             text=True, **run_options)
        if expect is not None:
            self.assertEqual(run.returncode, expect, run.stderr + run.stdout)
        return run

    def report(self, *options):
        run = subprocess.run([live.FATHOM, "report", "--json", *options, self.path("trace.fathom")],
                             stdout=subprocess.PIPE, check=True)
        return json.loads(run.stdout)

    def counts(self):
        counts = {}
        for function in self.report("-n", "0")["functions"]:
            counts[function["name"].split("(")[0]] = counts.get(function["name"].split("(")[0], 0) + function["calls"]
        return counts

    def notes(self):
        return [text for text, in live.Recording(self.path("trace.fathom"), None).rows("SELECT text FROM notes")]

    def without_counts(self, output):
        return [line for line in output.splitlines() if not line.startswith(CALLS_COUNTED)]

    def assert_counts_are_the_programs(self, program, *arguments, beside=None, jumps=None):
        """A handler that jumps may come when a call was counted by us, and not yet by itself."""
        plain = subprocess.run([program, *arguments], stdout=subprocess.PIPE, text=True, timeout=100, cwd=self.folder)
        run = self.trace(program, *arguments, expect=plain.returncode)
        self.assertEqual(self.without_counts(run.stdout), self.without_counts(plain.stdout))
        counts = self.counts()
        slack = counts[jumps] if jumps else 0
        for line in run.stdout.splitlines():
            if line.startswith(CALLS_COUNTED):
                name, count = line[len(CALLS_COUNTED):].split()
                expected = int(count) + (beside or {}).get(name, 0)
                self.assertIn(counts.get(name, 0) - expected, range(slack + 1),
                              "%s of %s %s, %d" % (name, program, arguments, expected))

    def on_each(self, source, check, *arguments, **options):
        for compiler in COMPILERS:
            for kind in FLAGS:
                with self.subTest(compiler=compiler, kind=kind):
                    check(self.build(compiler, source, kind), *arguments, **options)


class Calls(NativeTest):
    def test_calls_left_in_every_way_are_counted_and_nothing_else_changes(self):
        self.on_each("calls.c", self.assert_counts_are_the_programs, "plain")

    def test_threads_that_exit_and_are_cancelled(self):
        self.on_each("calls.c", self.assert_counts_are_the_programs, "threads")

    def test_handlers_in_the_middle_of_everything_on_every_stack(self):
        self.on_each("calls.c", self.assert_counts_are_the_programs, "signals", jumps="on_jump")

    def test_coroutines(self):
        self.on_each("calls.c", self.assert_counts_are_the_programs, "contexts")

    def test_children_of_fork_and_vfork(self):
        # What the child of fork counts of itself it does not print.
        self.on_each("calls.c", self.assert_counts_are_the_programs, "children", beside={"in_child": 4, "leaf": 1})

    def test_exceptions(self):
        self.on_each("throws.cpp", self.assert_counts_are_the_programs)


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
