#!/usr/bin/env python3
"""Programs that load Python when they have begun: its calls are counted from its first one on."""

import glob
import os
import shutil
import subprocess

import live
import live_interpreted
import live_trace

PROGRAM = """
import threading

def leaf():
    return abs(-1)

def work():
    for _ in range(100):
        leaf()

other = threading.Thread(target=work)
other.start()
other.join()
work()
"""
# In an interpreter that ends right after it: no threads.
SHORT_PROGRAM = """
def leaf():
    return abs(-1)

def work():
    for _ in range(100):
        leaf()

work()
work()
"""
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "programs", "interpreters.c")
# One that is traced by its thread states, one by sys.monitoring.
IN_CI = ("3.11", "3.12")


def shared_libraries():
    """[(version, path, home)] of the interpreters that are here, Debian's first."""
    found = {}
    for pattern in ("/usr/lib/*-linux-gnu", os.path.expanduser("~/.pyenv/versions/3.*/lib")):
        for path in sorted(glob.glob(os.path.join(pattern, "libpython3.*.so.1.0"))):
            version = os.path.basename(path)[len("libpython"):-len(".so.1.0")].rstrip("m")
            home = os.path.dirname(os.path.dirname(path))
            found.setdefault(version, (path, "/usr" if home.startswith("/usr") else home))
    return [(version, *found[version]) for version in sorted(found)
            if live_interpreted.IS_LONG or version in IN_CI]


class Embedding:
    """A program of ours in place of an interpreter."""

    def __init__(self, *arguments):
        self.arguments = arguments

    def command(self, *arguments):
        return live.workload("embeds_again", *self.arguments, *arguments)


class Program:
    """Any, in place of an interpreter."""

    def __init__(self, path):
        self.path = path

    def command(self, *arguments):
        return [self.path, *arguments]


class LatePython(live_trace.TraceTest):

    def has_own_c_library(self, python):
        return False

    def on_each_library(self, scope, rounds, check):
        libraries = shared_libraries()
        if not libraries:
            self.skipTest("no shared libpython is here")
        for version, library, home in libraries:
            with self.subTest(version):
                check(self.trace(Embedding(library, scope, rounds), PROGRAM, env={**os.environ, "PYTHONHOME": home}))

    def check_counts(self, trace, rounds):
        self.assertEqual((trace.calls_of("work"), trace.calls_of("leaf")), (2 * rounds, 200 * rounds))
        self.assertEqual(trace.calls_of("<built-in method builtins.abs>"), 200 * rounds)
        self.assertEqual(self.notes(trace), [])

    def test_interpreters_that_c_makes_are_traced(self):
        """From 3.8 on: before, nothing is called when one begins."""
        if shutil.which("gcc") is None:
            self.skipTest("no gcc is here")
        for version, library, home in shared_libraries():
            if version in ("3.6", "3.7"):
                continue
            with self.subTest(version):
                path = self.path("interpreters-" + version)
                built = subprocess.run(["gcc", "-o", path, SOURCE, library, "-Wl,-rpath," + os.path.dirname(library)],
                                       capture_output=True, check=False)
                if built.returncode != 0:
                    self.skipTest(f"gcc cannot link {library}")
                trace = self.trace(Program(path), SHORT_PROGRAM, env={**os.environ, "PYTHONHOME": home})
                self.check_counts(trace, 4)

    def test_a_library_that_is_loaded_later_is_traced_from_its_first_call(self):
        self.on_each_library("global", 1, lambda trace: self.check_counts(trace, 1))

    def test_its_names_need_not_be_in_the_global_scope(self):
        self.on_each_library("local", 1, lambda trace: self.check_counts(trace, 1))

    def test_a_library_that_a_plugin_is_linked_with_is_traced(self):
        """As uwsgi's and Apache's plugins load it: it was never opened by its own name."""
        if shutil.which("gcc") is None:
            self.skipTest("no gcc is here")
        for version, library, home in shared_libraries():
            with self.subTest(version):
                plugin = self.path("plugin-" + version + ".so")
                built = subprocess.run(["gcc", "-shared", "-o", plugin, "-Wl,--no-as-needed", library,
                                        "-Wl,-rpath," + os.path.dirname(library)],
                                       capture_output=True, check=False)
                if built.returncode != 0:
                    self.skipTest(f"gcc cannot link {library}")
                trace = self.trace(Embedding(plugin, "local", 1), PROGRAM, env={**os.environ, "PYTHONHOME": home})
                self.check_counts(trace, 1)

    def test_an_interpreter_that_is_made_again_is_traced_again(self):
        self.on_each_library("local", 3, lambda trace: self.check_counts(trace, 3))


if __name__ == "__main__":
    live.main()
