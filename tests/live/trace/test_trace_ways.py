#!/usr/bin/env python3
"""Where a call of Python stands, and by which way it came, where the interpreter's state does not say at once."""

import live
import live_trace

CALLED, UNCALLED = 1, 11

# More callees than there are values of a byte in an instruction's cache: it must not be taken for an instruction.
CACHES = """
COUNT = 600
source = ["def f%d(x): return x\\n" % i for i in range(COUNT)]
source += ["class Kind%d:\\n @property\\n def value%d(self): return 1\\n def __getitem__(self, i): return i\\n"
           "def attribute%d(x):\\n return x.value%d\\ndef item%d(x):\\n return x[1]\\n" % ((i,) * 5) for i in range(100)]
source += ["def calls():\\n for _ in range(60):\\n", *["  f%d(1)\\n" % i for i in range(COUNT)]]
exec("".join(source))
def kinds():
    for i in range(100):
        attribute, item, x = globals()["attribute%d" % i], globals()["item%d" % i], globals()["Kind%d" % i]()
        for _ in range(60):
            attribute(x), item(x)
def everything():
    calls(), kinds()
def again():
    everything()
everything()
again()
"""

# The child's functions are those that its parent was in, and are called again in it.
FORK = """
import os, sys
class Object:
    @property
    def value(self):
        return innermost()
def innermost():
    global child
    if child is None:
        child = os.fork()
        if child == 0:
            child = -1
    return 1
def called(x):
    return x.value
def outer(x):
    for i in range(60):
        called(x)
child = None
outer(Object())
if child > 0:
    os.waitpid(child, 0)
"""

# Another function is called at the ends of calls, of which more are under way than have entries.
ENDS_UNSEEN = """
import sys, threading
def ignore(*event): pass
def leaf(): pass
def down(depth):
    if depth:
        down(depth - 1)
    else:
        sys.setprofile(ignore)
def outer():
    down(40000)
    sys.setprofile(None)
    for _ in range(10):
        leaf()
sys.setrecursionlimit(50000)
threading.stack_size(1 << 29)
thread = threading.Thread(target=outer)
thread.start()
thread.join()
"""


class Ends(live_trace.TraceTest):

    def test_of_calls_without_an_entry_whose_ends_were_not_seen_none_is_awaited(self):
        def check(python):
            if python.version > (3, 7):
                self.skipTest("it is traced by no profile function")
            trace = self.trace(python, "-c", ENDS_UNSEEN)
            stacks = trace.stacks()
            callers = {stacks[stacks[stack][0]][1][2]: calls for stack, calls in
                       trace.rows("SELECT stack, sum(calls) FROM calls WHERE stack > 0 GROUP BY stack")
                       if stacks[stack][1][2] == "leaf"}
            self.assertEqual(callers, {"outer": 10})
        self.on_each_python(check, in_ci=("3.8",), oldest=(3, 6))


class Ways(live_trace.TraceTest):

    def kinds(self, trace, **where):
        """{a name without its number: {kinds of its calls}}"""
        found, stacks = {}, trace.stacks()
        for stack, kind, pid in trace.rows("SELECT stack, kind, pid FROM calls JOIN threads ON threads.id = calls.thread"
                                           " JOIN processes ON processes.id = threads.process"
                                           " WHERE stack > 0 AND calls > 50"):
            if where.get("but_pid") != pid:
                found.setdefault(stacks[stack][1][2].rstrip("0123456789"), set()).add(kind)
        return found

    def test_what_is_in_an_instructions_cache_is_taken_for_no_instruction(self):
        def check(python):
            if python.is_free_threaded:
                self.skipTest("its events do not distinguish an instruction's call from C's")
            kinds = self.kinds(self.trace(python, "-c", CACHES))
            expected = {"f": {CALLED}, "calls": None, "attribute": {CALLED}, "item": {CALLED}, "value": {UNCALLED}}
            if python.version != (3, 11): # Some of its releases have an instruction for it, and so a dispatch hook.
                expected["__getitem__"] = {UNCALLED}
            self.assertEqual({name: kinds.get(name) for name in expected}, expected)
        self.on_each_python(check, in_ci=("3.12",), oldest=(3, 11))

    def test_what_a_child_of_fork_was_in_is_called_as_it_was(self):
        def check(python):
            if python.is_free_threaded:
                self.skipTest("its events do not distinguish an instruction's call from C's")
            trace = self.trace(python, "-c", FORK)
            parent, = trace.rows("SELECT min(pid) FROM processes")[0]
            kinds = self.kinds(trace, but_pid=parent)
            self.assertEqual({name: kinds.get(name) for name in ("innermost", "value", "called")},
                             {"innermost": {CALLED}, "value": {UNCALLED}, "called": {CALLED}})
        self.on_each_python(check, in_ci=("3.11",), oldest=(3, 11))


if __name__ == "__main__":
    live.main()
