"""Runs a program with cProfile or without it, and prints how often each function was called.

    counted.py cprofile|plain PROGRAM

Prints {"file:line:name": calls} as cProfile counted them, or {}.  What the program imports is imported before.
"""

import ast
import cProfile
import collections
import compileall
import contextlib
import difflib
import functools
import json
import json.decoder
import json.scanner
import os
import re
import sys
import textwrap


def label(code):
    if isinstance(code, str):
        return "~:0:" + re.sub("0x[0-9a-f]+", "0x", code)
    return "%s:%d:%s" % (code.co_filename, code.co_firstlineno, code.co_name)


def main():
    how, path = sys.argv[1:]
    with open(path) as file:
        program = compile(file.read(), path, "exec")
    space = {"__name__": "__main__", "__file__": path}
    counts = collections.Counter()
    if how == "cprofile":
        profile = cProfile.Profile()
        profile.runctx(program, space, space)
        for entry in profile.getstats():
            counts[label(entry.code)] += entry.callcount
    else:
        exec(program, space)
    print(json.dumps(counts))


main()
