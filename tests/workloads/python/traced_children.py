"""A parent, a child of fork within a function, and one that it executes."""

import os
import subprocess
import sys


def leaf(n):
    for i in range(n):
        abs(i)


def in_child():
    leaf(1000)
    leaf(5)


def start():
    pid = os.fork()
    if pid == 0:
        in_child()
        os._exit(0)
    os.waitpid(pid, 0)


def main():
    leaf(10)
    start()
    subprocess.check_call([sys.executable, "-c", "def leaf():\n    [abs(i) for i in range(333)]\nleaf()"])


main()
