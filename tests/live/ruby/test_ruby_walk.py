#!/usr/bin/env python3
"""The walker of Ruby's stacks beside what Ruby itself says of them, in programs that stand still.

The walk is from outside (walks/ruby_stacks.c): the headers are those that the agent compiles.
"""

import dataclasses
import json
import os
import pathlib
import subprocess
import unittest

from live_ruby import EACH_WAY, WORKLOADS, RubyTest

RUBY_STACKS = os.environ["RUBY_STACKS"]
STOPS = pathlib.Path(__file__).resolve().parents[1] / "walks" / "stops.rb"
REFUSED = 77
STOPPED_IN = "Truth.thread_cpu_ns"
# From here on backtraces have the names that we give.
SHOWS_NAMES = (3, 4)
# Where those differ all the same: Ruby has a refined method's bare name.
OUR_NAMES = {"String#refined": "refined"}


@dataclasses.dataclass(frozen=True)
class Frame:
    kind: str
    line: int
    path: str
    name: str

    @property
    def is_ruby(self):
        return self.kind.startswith("iseq")

    @property
    def is_reported(self):
        return "+" in self.kind

    @property
    def is_internal(self):
        return self.path.startswith("<internal:")


class Walker:
    """ruby_stacks on a process."""

    def __init__(self, pid):
        self.process = subprocess.Popen([RUBY_STACKS, str(pid), self.interpreter_of(pid)], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    @staticmethod
    def interpreter_of(pid):
        for line in pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines():
            path = line.split(maxsplit=5)[5:]
            if path and "/libruby" in path[0]:
                return path[0]
        return os.readlink(f"/proc/{pid}/exe")

    def walk(self):
        """[(frames, how it ended)], for each thread."""
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        stacks = []
        for line in self.process.stdout:
            word, _, rest = line.rstrip("\n").partition(" ")
            if word == "walked":
                if not stacks:
                    self.end()
                if self.process.returncode == REFUSED:
                    raise unittest.SkipTest("tracing is not permitted here")
                return stacks
            if word == "thread":
                stacks.append(([], []))
            elif word == "frame":
                kind, its_line, _, texts = rest.split(" ", 3)
                path, _, name, _ = texts.split("\t")
                stacks[-1][0].append(Frame(kind, int(its_line), path, name))
            else:
                stacks[-1][1].append(f"{word} {rest}".strip())
        raise AssertionError(f"ruby_stacks ended: {self.process.wait()}")

    def end(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


class WalkTest(RubyTest):
    def stacks_at_stops(self, ruby, *options):
        """Each stop of names.rb: what Ruby says, and what the walks say; and what it printed last."""
        command = ruby.command(*options, "-r", STOPS, WORKLOADS / "names.rb")
        program = subprocess.Popen(command, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   env={**os.environ, "LANG": "C.UTF-8"})
        self.addCleanup(program.stdout.close)
        line = program.stdout.readline()
        walker = Walker(program.pid)
        self.addCleanup(walker.end)
        stops = []
        while line.startswith("["):
            stops.append((json.loads(line), walker.walk()))
            program.stdin.write("\n")
            program.stdin.flush()
            line = program.stdout.readline()
        program.stdin.close()
        self.assertEqual(program.wait(), 0)
        return stops, json.loads(line)

    def stopped(self, walked):
        """The frames of the thread that stands still, outside of where it does."""
        for frames, ended in walked:
            names = [frame.name for frame in frames]
            if STOPPED_IN in names:
                self.assertEqual(ended, ["end"])
                return [frame for frame in frames[names.index(STOPPED_IN) + 1:]
                        if frame.kind in ("c", "iseq", "iseq*") or frame.is_reported]
        raise AssertionError(f"no thread stands still: {walked}")

    def assert_frames_as_ruby_says(self, ruby, frames, said):
        self.assertEqual(len(frames), len(said), f"{frames} beside {said}")
        path, line = "", 0
        for frame, (label, its_path, its_line, base_label) in reversed(list(zip(frames, said))):
            # Methods in C have the line that calls them.
            if frame.is_ruby and not frame.is_internal:
                path, line = frame.path, frame.line
            if not its_path.startswith("<internal:"):
                self.assertEqual((path, line), (its_path, its_line), f"{frame} beside {label}")
            if ruby.version >= SHOWS_NAMES:
                self.assertEqual(OUR_NAMES.get(frame.name, frame.name), label)
            elif not frame.is_reported:
                self.assertTrue(frame.name.endswith(base_label), f"{frame} beside {label}")


    def assert_stops_as_ruby_says(self, ruby, *options):
        stops, _ = self.stacks_at_stops(ruby, *options)
        self.assertGreater(len(stops), 100)
        for said, walked in stops:
            frames = self.stopped(walked)
            if ruby.version >= SHOWS_NAMES:
                # From here on those are left out which their rescue clause has reported.
                frames = [frame for frame in frames if not frame.is_reported]
            self.assert_frames_as_ruby_says(ruby, frames, said)


class StandingStacks(WalkTest):
    def test_frames_are_those_of_a_backtrace(self):
        self.on_each_ruby(self.assert_stops_as_ruby_says, in_ci=EACH_WAY)

    def test_frames_of_machine_code_are_too(self):
        def check(ruby):
            options = "--yjit", "--yjit-call-threshold=1"
            asked = subprocess.run(ruby.command(*options, "-e", "print RubyVM::YJIT.enabled?"), text=True,
                                   capture_output=True, check=False, stdin=subprocess.DEVNULL)
            if asked.stdout != "true":
                self.skipTest(f"{ruby.name} has no YJIT")
            self.assert_stops_as_ruby_says(ruby, *options)

        self.on_each_ruby(check, oldest=(3, 3), in_ci=EACH_WAY)

    def test_names_are_those_that_the_newest_ruby_gives(self):
        def check(ruby):
            stops, truth = self.stacks_at_stops(ruby)
            expected = {tuple(names) for names in truth["above_burn"]}
            seen = set()
            for _, walked in stops:
                names = [frame.name for frame in self.stopped(walked) if not frame.is_reported]
                outer = names[names.index("Object#burn") + 1:]
                seen.add(tuple(outer[:outer.index("Object#main")] if "Object#main" in outer else outer))
            self.assertEqual(seen, expected)

        self.on_each_ruby(check)


if __name__ == "__main__":
    unittest.main(verbosity=2)
