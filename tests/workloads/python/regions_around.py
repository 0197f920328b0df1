"""Regions around what has stacks of its own.

    regions_around.py threads|left|fork|generators|greenlets|subinterpreters...

Prints {"work": {the functions and regions that a call of work() is in, outermost first: calls}}; what is not the
program's own (threading's functions, a module's) is not among them.
"""

import collections
import json
import os
import sys
import threading

import fathom

expected = collections.Counter()


def work():
    return 0


def expect(calls, *path):
    expected[">".join(path)] += calls


def in_thread():
    with fathom.region("thread"):
        work()
        work()
    work()


def threads():
    running = [threading.Thread(target=in_thread) for _ in range(2)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    expect(4, "in_thread", "[region thread]", "work")
    expect(2, "in_thread", "work")


def in_child():
    with fathom.region("child"):
        work()


def forks_within():
    with fathom.region("around"):
        child = os.fork()
        if child == 0:
            in_child()
        work()
    work()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    expect(1, "forks_within", "[region around]", "in_child", "[region child]", "work")
    expect(2, "forks_within", "[region around]", "work")
    expect(2, "forks_within", "work")


def generates():
    with fathom.region("generator"):
        for _ in range(3):
            work()
            yield


def consumes():
    for _ in generates():
        work()
    expect(3, "consumes", "generates", "[region generator]", "work")
    expect(3, "consumes", "work")


def begins(name):
    region = fathom.region(name)
    region.__enter__()
    return region


def leaves():
    """Many threads that end within a region, then two that do not."""
    for _ in range(1100):
        thread = threading.Thread(target=begins, args=("left",))
        thread.start()
        thread.join()
    threads()


def serves():
    handles()


def handles():
    region = begins("handled")
    parent.switch()
    work()
    region.__exit__()
    work()
    parent.switch()
    # What waits from here on in one is looked for by the others.
    for _ in generates():
        work()


def beside():
    work()


def greenlets():
    from greenlet import getcurrent, greenlet
    global parent
    parent = getcurrent()
    served = [greenlet(serves) for _ in range(3)]
    for _ in range(3):
        for one in served:
            one.switch()
        beside()
    expect(3, "greenlets", "beside", "work")
    expect(3, "serves", "handles", "[region handled]", "work")
    expect(3 + 9, "serves", "handles", "work")
    expect(9, "serves", "handles", "generates", "[region generator]", "work")


SOURCE = """
import sys
sys.path[:] = %r
import fathom

def work():
    return 0

def in_other():
    with fathom.region("other"):
        work()
    work()

in_other()
"""


def subinterpreters():
    try:
        import _interpreters as interpreters  # from 3.13 on
    except ImportError:
        import _xxsubinterpreters as interpreters
    with fathom.region("outside"):
        other = interpreters.create()
        error = interpreters.run_string(other, SOURCE % sys.path)
        if error:
            raise RuntimeError(error)
        work()
        interpreters.destroy(other)
    expect(1, "subinterpreters", "[region outside]", "in_other", "[region other]", "work")
    expect(1, "subinterpreters", "[region outside]", "in_other", "work")
    expect(1, "subinterpreters", "[region outside]", "work")


for part in sys.argv[1:]:
    {"threads": threads, "fork": forks_within, "left": leaves, "generators": consumes, "greenlets": greenlets,
     "subinterpreters": subinterpreters}[part]()
print(json.dumps({"work": expected}))
