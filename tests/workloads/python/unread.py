"""Calls many functions while what records it is stopped, and some again: unread.py ONCE AGAIN LETTERS ROUNDS

Their names have so many letters more.  Nothing is read of what is sent until the first round is over.
"""

import os
import signal
import sys
import time


def make(kind, count, letters):
    tail = "_" + "x" * letters
    source = "\n".join("def %s%d%s(): pass" % (kind, number, tail) for number in range(count))
    made = {}
    exec(compile(source, __file__, "exec"), made)
    return [made["%s%d%s" % (kind, number, tail)] for number in range(count)]


def call(functions):
    for function in functions:
        function()


def call_again(functions, rounds):
    """Itself called once."""
    call(functions)
    os.kill(os.getppid(), signal.SIGCONT)
    for _ in range(rounds):
        time.sleep(0.3)
        call(functions)


def main():
    once, again, letters, rounds = map(int, sys.argv[1:])
    first = make("first", once, letters)
    then = make("then", again, letters)
    os.kill(os.getppid(), signal.SIGSTOP)
    call(first)
    call_again(then, rounds)


main()
