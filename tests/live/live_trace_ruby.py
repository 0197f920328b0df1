"""live_trace_ruby - what `fathom trace` counted of Ruby programs."""

import collections
import re

import live_ruby
import live_trace

# A method in C whose owner has a constant's name.
OWNED = re.compile(r"[A-Z]\w*(::[A-Z]\w*)*[.#]")


def is_called(callee, name):
    """Whether it is that method of main's, or that block."""
    return callee in (name, f"Object#{name}", name.replace(" in ", " in Object#"))


class RubyTrace(live_trace.Trace):
    """A recording of Ruby's calls."""

    def stacks(self):
        """{stack: (parent, (path, line, "Owner#method"))}"""
        codes = {row[0]: (row[3] or "", row[4], row[2] or row[1])
                 for row in self.rows("SELECT id, name, qualified_name, path, line FROM codes")}
        frames = dict(self.rows("SELECT id, address >> 32 FROM frames"))
        return {stack: (parent or 0, codes[frames[frame]])
                for stack, parent, frame in self.rows("SELECT id, parent, frame FROM stacks")}

    def paths(self):
        """Of each stack the names of its callees without their owners, from the outermost one."""
        stacks = self.stacks()
        paths = {0: []}
        for stack in sorted(stacks):
            parent, (_, _, callee) = stacks[stack]
            paths[stack] = paths[parent] + [callee.rpartition("#")[2]]
        return list(paths.values())

    def counts_below(self, name):
        """Calls of all that was called from a method, in its thread and fiber, as counted_calls.rb has them."""
        stacks = self.stacks()
        is_below = {0: False}
        for stack in sorted(stacks):
            parent = stacks[stack][0]
            is_below[stack] = is_below[parent] or parent != 0 and stacks[parent][1][2] == name
        counts = collections.Counter()
        for stack, calls in self.rows("SELECT stack, sum(calls) FROM calls WHERE stack > 0 GROUP BY stack"):
            if is_below[stack] and calls:
                path, line, callee = stacks[stack][1]
                if path == "":
                    callee = callee if OWNED.match(callee) else callee.rpartition("#")[2]
                counts[f"{path}:{line}" if path else callee] += calls
        return counts

    def rows_by_thread(self):
        stacks = self.stacks()
        for stack, calls, thread in self.rows("SELECT stack, calls, thread FROM calls WHERE stack > 0"):
            yield thread, stacks[stack][1][2], calls

    def calls_of(self, name):
        """Calls of methods with this name, whoever owns them."""
        return sum(calls for _, callee, calls in self.rows_by_thread() if is_called(callee, name))

    def calls_by_thread(self):
        """{thread: {name without its owner: calls}}"""
        threads = {}
        for thread, callee, calls in self.rows_by_thread():
            counts = threads.setdefault(thread, collections.Counter())
            counts[callee.rpartition("#")[2]] += calls
        return threads

    def own_callers(self, names):
        """(name, the nearest of its callers that is one of them, or None) of each stack that ends in one of names."""
        stacks = self.stacks()

        def own(stack):
            return next((name for name in names if is_called(stacks[stack][1][2], name)), None)
        for stack in stacks:
            if own(stack) is None:
                continue
            above = stacks[stack][0]
            while above and own(above) is None:
                above = stacks[above][0]
            yield own(stack), own(above) if above else None


class RubyTraceTest(live_trace.Tracing, live_ruby.RubyTest):
    """Tests that trace a program on an interpreter of Ruby."""

    def opened(self, path, run):
        return RubyTrace(path, run)
