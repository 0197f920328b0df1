"""truth - what a Python workload knows of itself, as one line of JSON.

As tests/workloads/truth.h is for C: a workload measures its own phases by the thread's CPU clock, and
prints at its end what each function, line or thread of it really took.  Runs on Python 2.7 and later.
"""

import ctypes
import json
import sys
import time

CLOCK_PROCESS_CPUTIME_ID = 2
CLOCK_THREAD_CPUTIME_ID = 3


def clock_of_libc(number):
    """Python 2.7 to 3.6 have no such clock of their own."""
    class Timespec(ctypes.Structure):
        _fields_ = [("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long)]

    read = ctypes.CDLL(None).clock_gettime

    def clock_ns():
        now = Timespec()
        read(number, ctypes.byref(now))
        return now.seconds * 1000000000 + now.nanoseconds
    return clock_ns


thread_cpu_ns = getattr(time, "thread_time_ns", None) or clock_of_libc(CLOCK_THREAD_CPUTIME_ID)
process_cpu_ns = getattr(time, "process_time_ns", None) or clock_of_libc(CLOCK_PROCESS_CPUTIME_ID)

facts = {kind: {} for kind in ("self", "total", "lines", "threads", "processes", "counts")}


def add(kind, name, amount):
    facts[kind][name] = facts[kind].get(name, 0) + amount


def show(**more):
    """The last line of what the workload prints."""
    print(json.dumps(dict(facts, cpu_ns=process_cpu_ns(), **more)))
    sys.stdout.flush()


def budget_ns(default_ms):
    """The first argument is milliseconds of CPU time to burn."""
    return int(float(sys.argv[1]) if len(sys.argv) > 1 else default_ms) * 1000000


def vary(turn, least, span):
    """An amount of work for this turn without rhythm: equal turns fall into step with a sampler."""
    return least + (turn * 2654435761 >> 7) % (span + 1)
