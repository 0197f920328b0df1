# -*- coding: utf-8 -*-
"""Functions whose names, and whose files' names, are not all ASCII; each burns some milliseconds."""

import os
import sys

import truth

BURN = u"""
def {0}(end, clock):
    while clock() < end:
        pass
"""

NAMES = [u"größe", u"имя", u"関数", u"𐌰𐌱𐌲", u"ü" * 60]


def burn(name, path):
    scope = {}
    exec(compile(BURN.format(name), path, "exec"), scope)
    scope[name](truth.process_cpu_ns() + truth.budget_ns(100), truth.process_cpu_ns)


def main():
    named = []
    # A file name that is no UTF-8 has its bytes behind surrogates.
    odd = b"/tmp/\xff\xfe/na\xc3\xafve.py"
    for number, name in enumerate(NAMES):
        path = os.fsdecode(odd) if number == 0 else u"/tmp/ордер {0}/{1}.py".format(number, name)
        burn(name, path)
        named.append([name, [byte for byte in os.fsencode(path)]])
    truth.show(names=named)


sys.setrecursionlimit(10000)
main()
