"""builtins - time in C functions that Python calls: how much, it measures itself.

None of them makes much that is to be freed when it has returned.

Prints {"total": {function: nanoseconds}, "cpu_ns": ...}.  For CPython 2.7 and 3.
"""

import json
import math
import resource
import sys

try:
    from time import clock_gettime, CLOCK_THREAD_CPUTIME_ID

    def now_ns():
        return int(clock_gettime(CLOCK_THREAD_CPUTIME_ID) * 1e9)
except ImportError:
    def now_ns():
        usage = resource.getrusage(resource.RUSAGE_SELF)
        return int((usage.ru_utime + usage.ru_stime) * 1e9)

NUMBERS = list(range(20000))
ZEROS = [0] * 20000
TEXT = ",".join(["word"] * 20000)
SPENT = {}


def spend(name, function, *arguments):
    """Calls it for some milliseconds at a time, so that reading the clock costs nothing."""
    begin = now_ns()
    for _ in range(20):
        function(*arguments)
    SPENT[name] = SPENT.get(name, 0) + now_ns() - begin


def counting():
    for _ in range(5):
        NUMBERS.count(-1)


def finding():
    for _ in range(50):
        TEXT.find("wort")


def looking():
    for _ in range(5):
        any(ZEROS)


def adding():
    for _ in range(5):
        sum(NUMBERS)


def rounding():
    for _ in range(5):
        math.fsum(NUMBERS)


for _ in range(int(sys.argv[1])):
    spend("list.count", counting)
    spend("str.find", finding)
    spend("any", looking)
    spend("sum", adding)
    spend("math.fsum", rounding)
usage = resource.getrusage(resource.RUSAGE_SELF)
sys.stdout.write(json.dumps({"total": SPENT, "cpu_ns": int((usage.ru_utime + usage.ru_stime) * 1e9)}) + "\n")
