# -*- coding: utf-8 -*-
"""Threads that compute, and the names they have: prints them, each in a line."""

from __future__ import print_function

import sys
import threading

TURNS = int(sys.argv[1])


def work():
    for _ in range(TURNS):
        sum(range(1000))


class WithAttributes(threading.Thread):
    """Has attributes before those of Thread, and asks for its dictionary."""

    def __init__(self, name):
        self.first, self.second = 1, {}
        threading.Thread.__init__(self, name=name)

    def run(self):
        self.__dict__["third"] = None
        work()


class Renamed(threading.Thread):
    def run(self):
        self.name = "renamed later"
        work()


threads = [
    threading.Thread(target=work, name="plain worker"),
    # 2.7 has no names beyond ASCII.
    WithAttributes(u"\u00e9t\u00e9 \u20ac \U0001f40d" if sys.version_info > (3,) else "another"),
    Renamed(name="the first name"),
    threading.Thread(target=work),
]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
names = [thread.name for thread in threads]
getattr(sys.stdout, "buffer", sys.stdout).write("\n".join(names).encode("utf-8") + b"\n")
