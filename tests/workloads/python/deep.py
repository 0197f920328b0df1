"""Recursion to several depths, pure Python and through C: how often one and the other go down.

The first argument is milliseconds, the second how deep.
"""

import sys

import truth


def descend(n, end):
    return descend(n - 1, end) + 1 if n else bottom(end)


def descend_through_c(n, end):
    return max(map(descend_through_c, (n - 1,), (end,))) + 1 if n else bottom_of_c(end)


def bottom(end):
    while truth.process_cpu_ns() < end:
        pass
    return 0


def bottom_of_c(end):
    while truth.process_cpu_ns() < end:
        pass
    return 0


def main():
    depth = int(sys.argv[2])
    sys.setrecursionlimit(4 * depth + 200)
    begin = truth.process_cpu_ns()
    descend(depth, begin + truth.budget_ns(500) // 2)
    # There is less room for this, and 3.12 has a limit of its own for it.
    through_c = min(depth // 4, 500)
    descend_through_c(through_c, begin + truth.budget_ns(500))
    truth.add("counts", "descend", depth)
    truth.add("counts", "descend_through_c", through_c)
    truth.show()


main()
