"""live_trace - what `fathom trace` counted."""

import collections
import os
import re
import subprocess

import live
import live_python

PLAIN_NAME = re.compile("0x[0-9a-f]+")
BY_EVENTS = "this build of CPython is traced by sys.monitoring"
SLOWS_LOOPS = "this build of CPython takes longer for each bytecode"


class Tracing:
    """What tests of traced programs share, whatever the interpreter: beside a live_interpreted.InterpretedTest."""

    def trace(self, interpreter, *arguments, options=(), expect=0, name="trace.fathom", below=(), **run_options):
        path = self.path(name)
        for leftover in (path, path + "-wal", path + "-shm", path + ".old"):
            if os.path.exists(leftover):
                os.unlink(leftover)
        run = subprocess.run([*below, self.fathom_for(interpreter), "trace", "-q", "-o", path, *options, "--",
                              *interpreter.command(*arguments)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, timeout=300, cwd=self.folder, **run_options)
        if expect is not None:
            self.assertEqual(run.returncode, expect, run.stderr.decode(errors="replace"))
        return self.opened(path, run)

    def notes(self, trace):
        """What is noted, but for how a build of CPython is traced."""
        return [text for text in self.all_notes(trace) if BY_EVENTS not in text and SLOWS_LOOPS not in text]

    def all_notes(self, trace):
        return [text for text, in trace.rows("SELECT text FROM notes")]


class TraceTest(Tracing, live_python.PythonTest):
    """Tests that trace a program on an interpreter of Python."""

    def assert_only_notes_of_its_build(self, trace, python):
        self.assertEqual(self.notes(trace), [])
        notes = self.all_notes(trace)
        self.assertEqual(any(BY_EVENTS in note for note in notes), python.is_free_threaded)
        self.assertEqual(any(SLOWS_LOOPS in note for note in notes), python.version[:2] == (3, 10))

    def opened(self, path, run):
        return Trace(path, run)


class Trace(live.Recording):
    """A recording of calls, by the tables of docs/recording.md."""

    def stacks(self):
        """{stack: (parent, (path, line, name))}"""
        codes = {row[0]: (row[2] or "~", row[3] if row[2] else 0, PLAIN_NAME.sub("0x", row[1]))
                 for row in self.rows("SELECT id, name, path, line FROM codes")}
        frames = dict(self.rows("SELECT id, address >> 32 FROM frames"))
        return {stack: (parent or 0, codes[frames[frame]])
                for stack, parent, frame in self.rows("SELECT id, parent, frame FROM stacks")}

    def counts_below(self, path, name):
        """Calls by "file:line:name" of a function and of all that was called from it."""
        stacks = self.stacks()
        is_below = {0: False}
        for stack in sorted(stacks):
            parent, code = stacks[stack]
            is_below[stack] = is_below[parent] or code[0] == path and code[2] == name
        counts = collections.Counter()
        for stack, calls in self.rows("SELECT stack, sum(calls) FROM calls WHERE stack > 0 GROUP BY stack"):
            if is_below[stack] and calls:
                counts["%s:%d:%s" % stacks[stack][1]] += calls
        return counts

    def calls_of(self, name, **where):
        """Calls of functions with this name, in the processes and threads that are asked for."""
        stacks = self.stacks()
        rows = self.rows("SELECT calls.stack, calls.calls, threads.tid, processes.pid FROM calls"
                         " JOIN threads ON threads.id = calls.thread JOIN processes ON processes.id = threads.process"
                         " WHERE calls.stack > 0")
        return sum(calls for stack, calls, tid, pid in rows if stacks[stack][1][2] == name
                   and where.get("tid", tid) == tid and where.get("pid", pid) == pid)
