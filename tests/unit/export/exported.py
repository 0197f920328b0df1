"""Exports of the profiles made by hand, and other people's readers for them.

EXPORT_HANDMADE is the program that writes them.  What is fetched from npm or Go's
modules goes into the user's cache, never into the project.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

HANDMADE = os.environ.get("EXPORT_HANDMADE", "")
PROFILES = ["empty", "one frame", "recursion", "mixed", "waits", "hostile", "long names", "deep", "large"]
STATES = ["running", "runnable", "gil", "gvl", "lock", "syscall", "stopped", "io", "sleep", "wait"]
SECONDS_TO_FETCH = 180


def cache_folder(name):
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    folder = pathlib.Path(base) / "fathom-tests" / name
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def export(profile, format):
    return subprocess.run([HANDMADE, profile, format], capture_output=True, check=True,
                          timeout=60).stdout


class OfCalls:
    """What every format of counted calls has to hold to: beside a unittest.TestCase."""

    format = None

    def setUp(self):
        self.data = export("trace", self.format)

    def test_the_same_profile_gives_the_same_bytes(self):
        self.assertEqual(self.data, export("trace", self.format))

    def test_samples_are_refused(self):
        for profile in PROFILES:
            done = subprocess.run([HANDMADE, profile, self.format], capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"{self.format} needs counted calls", done.stderr)
            self.assertIn("fathom trace", done.stderr)
            self.assertEqual(done.stdout, "")


def need(program):
    if shutil.which(program) is None:
        raise unittest.SkipTest(f"{program} is not installed")


def fetch(what, command, **options):
    """Runs a command that needs the network; without it the test is skipped."""
    try:
        done = subprocess.run(command, capture_output=True, text=True,
                              timeout=SECONDS_TO_FETCH, **options)
    except subprocess.TimeoutExpired:
        raise unittest.SkipTest(f"{what} could not be fetched in {SECONDS_TO_FETCH} s")
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip().splitlines()
        reasons = [line for line in said if "complete log" not in line and line != "npm error"]
        raise unittest.SkipTest(f"{what} could not be fetched: {(reasons or ['no reason given'])[-1]}")


def sums_of(stacks):
    """{stack: ns} of (stack, ns) pairs: without stacks of no time."""
    sums = {}
    for stack, ns in stacks:
        sums[tuple(stack)] = sums.get(tuple(stack), 0) + ns
    return {stack: ns for stack, ns in sums.items() if ns}


def stacks_in_speedscope(profile):
    """(stack, ns) of every thread, frames by name, without the states of the wall clock."""
    states = [f"[{state}]" for state in STATES] if profile == "waits" else []
    data = json.loads(export(profile, "speedscope"))
    names = [frame["name"] for frame in data["shared"]["frames"]]
    for thread in data["profiles"]:
        assert len(thread["samples"]) == len(thread["weights"])
        for stack, ns in zip(thread["samples"], thread["weights"]):
            frames = [names[frame] for frame in stack]
            assert not states or frames[-1] in states, frames
            yield frames[:-1] if states else frames, ns


def main():
    """Like unittest.main(), and 77 when nothing could be tested, with the reason."""
    if not os.access(HANDMADE, os.X_OK):
        raise SystemExit(f"EXPORT_HANDMADE={HANDMADE} is no program: the build must come first")
    result = unittest.main(verbosity=2, exit=False).result
    if result.wasSuccessful() and result.skipped and len(result.skipped) >= result.testsRun:
        print(result.skipped[0][1])
        sys.exit(77)
    sys.exit(not result.wasSuccessful())
