"""reused - code objects that are made, called and freed, so that others come to lie in their places.

Each makes a pair: outer_N calls inner_N, from a file made_N.  For CPython 2.7 and 3.
"""

import sys
import time

SOURCE = """
class Made_%(n)d(object):
    def outer_%(n)d(self, rounds):
        return inner_%(n)d(rounds)


def inner_%(n)d(rounds):
    x = 0
    for i in range(rounds):
        x += i
    return x


Made_%(n)d().outer_%(n)d(1000)
"""


def make(n):
    exec(compile(SOURCE % {"n": n}, "made_%d" % n, "exec"), {})


end = time.time() + float(sys.argv[1])
number = 0
while time.time() < end:
    make(number % 1000)
    number += 1
