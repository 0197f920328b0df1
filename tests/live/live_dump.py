"""live_dump - programs that wait, and what `fathom dump` says of them."""

import json
import os
import subprocess

import live
import processes

FATHOM = live.FATHOM
SOURCES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "workloads")


class DumpTest(live.LiveTest):
    def start(self, command, **options):
        """A program that prints a line when it is ready, and ends with its standard input."""
        run = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, **options)
        self.addCleanup(processes.end_process, run)
        run.first_line = run.stdout.readline()
        return run

    def compile(self, name, source, *flags):
        """A program of a file in tests/workloads; skips the test where it cannot be built."""
        program = self.path(name)
        done = subprocess.run([self.need("gcc"), "-g", "-w", *flags, "-pthread", os.path.join(SOURCES, source),
                               "-o", program], capture_output=True, timeout=120)
        if done.returncode != 0:
            self.skipTest(f"gcc {' '.join(flags)}: {done.stderr.decode(errors='replace').splitlines()[-1]}")
        return program

    def dump(self, pid, *options, as_user=None):
        done = self.dump_run(pid, "--json", *options, as_user=as_user)
        self.assertEqual((done.returncode, done.stderr), (0, b""), done.stderr)
        return json.loads(done.stdout)

    def dump_run(self, pid, *options, as_user=None):
        more = {"user": as_user, "group": as_user, "extra_groups": []} if as_user is not None else {}
        return subprocess.run([FATHOM, "dump", str(pid), *options], capture_output=True, timeout=60, **more)

    def dump_until(self, pid, is_so, otherwise, *options):
        """The dump of a program that is on its way to where it is to be looked at."""
        seen = {}

        def look():
            seen["dump"] = self.dump(pid, *options)
            return is_so(seen["dump"])
        processes.wait_until(look, 60, otherwise)
        return seen["dump"]


def names(thread, language=None):
    """The functions of a thread, innermost first."""
    return [frame["name"] for frame in thread["frames"] if language in (None, frame["language"])]


def places(thread, language):
    """[(name, line)], innermost first."""
    return [(frame["name"], frame["line"]) for frame in thread["frames"] if frame["language"] == language]


def is_resting(dump):
    return all(thread["trust"] == "consistent" for thread in dump["threads"])
