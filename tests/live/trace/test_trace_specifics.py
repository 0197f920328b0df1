#!/usr/bin/env python3
"""What interposes pthread_setspecific() in every program: programs do the same, traced, sampled or neither."""

import os
import subprocess

import live
import live_trace

# They set thread-specific values in the first call of malloc(), before most constructors.
ALLOCATORS = ("libjemalloc.so.2", "libtcmalloc_minimal.so.4", "libmimalloc.so.2.0")
FOLDERS = ("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib")

THREADS = """
import threading

def leaf():
    return abs(-1)

def work():
    for _ in range(100):
        leaf()

threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


class ThreadSpecificValues(live_trace.TraceTest):

    def test_values_are_set_as_without_us(self):
        path = self.path("specifics.fathom")
        command = live.workload("specifics")
        alone = subprocess.run(command, capture_output=True, check=True)
        self.assertIn(b"destroyed 8 8 8, handled 100, kept 1, no key 1, NULL 1", alone.stdout)
        for subcommand in ("record", "trace"):
            with self.subTest(subcommand):
                run = subprocess.run([live.FATHOM, subcommand, "-q", "-o", path, "--", *command],
                                     capture_output=True, check=True)
                self.assertEqual((run.stdout, run.stderr), (alone.stdout, alone.stderr))

    def test_allocators_that_set_them_early(self):
        def check(python):
            for name in ALLOCATORS:
                with self.subTest(name):
                    found = [path for path in (os.path.join(folder, name) for folder in FOLDERS) if os.path.exists(path)]
                    if not found:
                        self.skipTest(f"{name} is not installed")
                    trace = self.trace(python, "-c", THREADS, env={**os.environ, "LD_PRELOAD": found[0]})
                    self.assertEqual((trace.calls_of("work"), trace.calls_of("leaf")), (4, 400))
        self.on_each_python(check, (3, 6), ("debian-3.11", "pyenv-3.12"))


if __name__ == "__main__":
    live.main()
