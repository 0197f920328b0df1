"""One caller of many different functions, each called in turn, and then in another order: wide.py FUNCTIONS ROUNDS STEP

The step and the number of functions have no common divisor.
"""

import sys


def make(count):
    source = "\n".join(f"def f{number}(): pass" for number in range(count))
    made = {}
    exec(compile(source, __file__, "exec"), made)
    return [made[f"f{number}"] for number in range(count)]


def dispatch(functions, rounds, step):
    count = len(functions)
    for turn in range(rounds * count):
        functions[turn % count]()
    for turn in range(rounds * count):
        functions[turn * step % count]()


def main():
    count, rounds, step = map(int, sys.argv[1:])
    dispatch(make(count), rounds, step)


main()
