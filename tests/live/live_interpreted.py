"""live_interpreted - what tests of interpreted programs share, whatever the interpreter.

With FATHOM_LONG=1 in the environment, tests take the minutes that CI does not have; FATHOM_ONLY names the
one interpreter that a test is to run on.
"""

import collections
import functools
import os
import shutil
import zlib

import live
from at_hand import of_names

IS_LONG = live.IS_LONG
ONLY = os.environ.get("FATHOM_ONLY")
MODULE_KIND_INTERPRETED = 5

Frame = collections.namedtuple("Frame", "name qualified_name path first_line line")


class InterpretedStacks:
    """The stacks of a recording as far as one language made them.

    `frames` has the interpreted frame of each stack's leaf or None, what is written in C left out;
    `builtins` the name of the C function that the interpreter calls there, or None; `nearest` the
    innermost interpreted frame at or outside of it; `outermost` the outermost.
    """

    def __init__(self, recording, language):
        # File names are any bytes.
        codes = {row[0]: row[1:] for row in
                 recording.rows("SELECT id, name, qualified_name, CAST(path AS BLOB), line FROM codes"
                                " WHERE language = ?", language)}
        interpreted, builtins = {}, {}
        for frame, address in recording.rows("SELECT f.id, f.address FROM frames f JOIN modules m"
                                             " ON m.id = f.module WHERE m.kind = ?", MODULE_KIND_INTERPRETED):
            if address >> 32 not in codes:
                continue
            name, qualified_name, path, first_line = codes[address >> 32]
            if path is None:
                builtins[frame] = qualified_name or name
            else:
                interpreted[frame] = Frame(name, qualified_name or name, os.fsdecode(path), first_line,
                                           address & 0xffffffff)
        self.parents, self.frames, self.builtins = {0: 0}, {0: None}, {0: None}
        self.nearest, self.outermost = {0: None}, {0: None}
        for stack, parent, frame in recording.rows("SELECT id, parent, frame FROM stacks ORDER BY id"):
            self.parents[stack] = parent or 0
            self.frames[stack] = found = interpreted.get(frame)
            self.builtins[stack] = builtins.get(frame)
            self.nearest[stack] = found or self.nearest[parent or 0]
            self.outermost[stack] = self.outermost[parent or 0] or found

    def pairs(self):
        """(stack, callee, caller or None) for each stack that ends in an interpreted frame."""
        for stack, frame in self.frames.items():
            if frame:
                yield stack, frame, self.nearest[self.parents[stack]]

    def outwards(self, stack):
        while stack:
            yield stack
            stack = self.parents[stack]

    def walk(self, stack):
        """Interpreted frames, innermost first."""
        return (self.frames[at] for at in self.outwards(stack) if self.frames[at])

    def names(self, stack):
        """Of interpreted frames and of the C functions between them, innermost first."""
        for at in self.outwards(stack):
            if self.frames[at] or self.builtins[at]:
                yield self.builtins[at] or self.frames[at].qualified_name


class InterpretedTest(live.LiveTest):
    """Tests that take an interpreter.  What is one the language's own module says."""

    language = ""      # as reports call it
    workloads = None   # the folder of its programs
    interpreters = ()  # all that could be there
    in_ci = ()         # names of those that are enough for CI
    either = ()        # of these, one: which, the test's name says

    def workload(self, name):
        """The workload's path in a folder that everybody can read, with what it needs."""
        folder = self.path("workloads")
        if not os.path.exists(folder):
            shutil.copytree(self.workloads, folder, ignore=shutil.ignore_patterns("__pycache__"))
        return os.path.join(folder, name)

    def on_each(self, check, oldest, in_ci=None):
        """check(interpreter) as a subtest for each that is no older; what is not there is reported.

        All there are, in long tests, or the one that FATHOM_ONLY names; else those named in_ci (at_hand.of_names), or
        what is enough for it.
        """
        if self.compares_times:
            # Each has a second sight of its own: of all interpreters one may fail at first.
            self.is_first_sight = False
            check = functools.partial(live.at_second_sight, self.id(), check)
        chosen = self.interpreters if IS_LONG or ONLY else of_names(self.interpreters, in_ci or self.usual())
        chosen = [one for one in chosen if one.version >= oldest and ONLY in (None, one.name)]
        if not chosen:
            self.skipTest("of no interpreter but with --long only")
        for interpreter in chosen:
            with self.subTest(interpreter.name):
                if not interpreter.is_there:
                    self.skipTest(f"{interpreter.name}: {interpreter.why_not}")
                check(interpreter)

    def usual(self):
        number = zlib.crc32(self.id().partition(".")[2].encode())
        others = {name for place, name in enumerate(self.either) if place != number % len(self.either)}
        return [name for name in self.in_ci if name not in others]

    def any_interpreter(self, *arguments):
        """Debian's, as a command line."""
        debian = next(found for found in self.interpreters if found.name.startswith("debian"))
        if not debian.is_there:
            self.skipTest(debian.why_not)
        return debian.command(*arguments)

    def has_own_c_library(self, interpreter):
        """A recorder enters programs with its own C library."""
        raise NotImplementedError

    def copy_fathom(self, interpreter, path):
        """A fathom with the interpreter's C library."""
        raise NotImplementedError

    def fathom_for(self, interpreter):
        if not self.has_own_c_library(interpreter):
            return live.FATHOM
        path = self.path(f"fathom-{interpreter.name}")
        if not os.path.exists(path):
            try:
                self.copy_fathom(interpreter, path)
            except ValueError as error:
                os.unlink(path)  # what is half changed is no fathom for the next
                self.skipTest(f"no fathom for {interpreter.name}: {error}")
        return path

    def record_with(self, interpreter, *arguments, options=(), **record_options):
        """Records the interpreter with these arguments; a workload's path is its first."""
        return self.record(interpreter.command(*arguments), *options, fathom=self.fathom_for(interpreter),
                           **record_options)

    def rows_of_language(self, recording):
        return [row for row in recording.report()["functions"] if row["language"] == self.language]

    def standard_error_of(self, recording, is_hit):
        """Of the share of samples' time whose stack is_hit(stack), by batch means over time."""
        samples = recording.samples()
        size = len(samples) // live.BATCHES
        if size == 0:
            return 1.0
        hits = {stack: is_hit(stack) for stack in {row[2] for row in samples}}
        shares = []
        for first in range(0, size * live.BATCHES, size):
            batch = samples[first:first + size]
            shares.append(sum(row[3] for row in batch if hits[row[2]]) / sum(row[3] for row in batch))
        mean = sum(shares) / len(shares)
        return (sum((share - mean) ** 2 for share in shares) / (len(shares) - 1) / len(shares)) ** 0.5

    def allowed(self, recording, is_hit, widest):
        error = self.standard_error_of(recording, is_hit)
        return min(widest, max(live.ONE_POINT, live.STANDARD_ERRORS * error)) + recording.jumped_share()
