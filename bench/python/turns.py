"""For each line of its input a turn of the same work; prints the CPU time that it took, in nanoseconds."""

import sys
import time

import mixed


def turn():
    mixed.sieve(2500)
    mixed.sort_much(6000)
    mixed.fibonacci(17)
    mixed.through_json(300)
    mixed.words(400)
    mixed.pack(3000)


def main():
    for _ in sys.stdin:
        begin = time.process_time_ns()
        turn()
        print(time.process_time_ns() - begin, flush=True)


if __name__ == "__main__":
    main()
