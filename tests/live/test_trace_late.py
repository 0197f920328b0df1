"""Programs that load Python when they have begun: its calls are counted from its first one on."""

import glob
import os
import unittest

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

    def test_a_library_that_is_loaded_later_is_traced_from_its_first_call(self):
        self.on_each_library("global", 1, lambda trace: self.check_counts(trace, 1))

    def test_its_names_need_not_be_in_the_global_scope(self):
        self.on_each_library("local", 1, lambda trace: self.check_counts(trace, 1))

    def test_an_interpreter_that_is_made_again_is_traced_again(self):
        self.on_each_library("local", 3, lambda trace: self.check_counts(trace, 3))


if __name__ == "__main__":
    unittest.main()
