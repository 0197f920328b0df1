"""Primes, sorting with a key, recursion, JSON, regular expressions and zlib: the same work each time.

    mixed.py TIMES-FILE [TURNS]

Writes when it began and ended (CLOCK_MONOTONIC) and the CPU time between, all in nanoseconds.
"""

import json
import re
import sys
import zlib

import stamp


def is_prime(number):
    divisor = 2
    while divisor * divisor <= number:
        if number % divisor == 0:
            return False
        divisor += 1
    return number > 1


def sieve(limit):
    return sum(1 for number in range(limit) if is_prime(number))


def sort_key(item):
    return item[1] % 1009, item[0]


def sort_much(count):
    return sorted(((n, n * 7919) for n in range(count)), key=sort_key)[0]


def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def through_json(count):
    text = json.dumps([{"name": str(n), "values": list(range(n % 20))} for n in range(count)], indent=1)
    return len(json.loads(text))


def words(count):
    text = "alpha beta-gamma delta42 " * count
    return len(re.sub(r"[a-z]+(\d*)", lambda match: match.group(1) + "x", text))


def pack(count):
    data = b"".join(b"%d," % (n * n) for n in range(count))
    return len(zlib.compress(data, 6))


def main(turns):
    for _ in range(turns):
        sieve(6000)
        sort_much(20000)
        fibonacci(19)
        through_json(800)
        words(3000)
        pack(20000)


if __name__ == "__main__":
    with stamp.times_in(sys.argv[1]):
        main(int((sys.argv + ["20"])[2]))
