"""The same work by tiny functions and inlined by hand, in turns: tiny_functions.py [TURNS [ROUNDS [in-step]]]

Prints how long each round of either took, by the program's own clock.  In step, each round waits for a byte on standard
input, and reports its end by one on standard output.
"""

import json
import os
import sys
import time

try:
    clock = time.perf_counter_ns
except AttributeError:  # 3.6
    def clock(counter=time.perf_counter):
        return int(counter() * 1e9)


def twice(x):
    return x + x


def tiny_functions(turns):
    total = 0
    for i in range(turns):
        total ^= twice(i)
    return total


def inlined_functions(turns):
    total = 0
    for i in range(turns):
        total ^= i + i
    return total


def square(x):
    return x * x


def of_square(x):
    return square(x) - x


def tiny_nested(turns):
    total = 0
    for i in range(turns):
        total ^= of_square(i)
    return total


def inlined_nested(turns):
    total = 0
    for i in range(turns):
        total ^= i * i - i
    return total


class Point:
    def __init__(self):
        self.x = 1

    def moved(self, by):
        return self.x + by


POINT = Point()


def tiny_methods(turns):
    point, total = POINT, 0
    for i in range(turns):
        total ^= point.moved(i)
    return total


def inlined_methods(turns):
    point, total = POINT, 0
    for i in range(turns):
        total ^= point.x + i
    return total


def tiny_builtins(turns):
    total = 0
    for i in range(turns):
        total ^= abs(i)
    return total


def inlined_builtins(turns):
    total = 0
    for i in range(turns):
        total ^= i if i >= 0 else -i
    return total


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def tiny_recursion(turns):
    return fib(12) + turns


def inlined_recursion(turns):
    total = 0
    for i in range(466):
        total ^= i if i < 2 else i - 1 + i - 2
    return total + turns


class Celsius:
    def __init__(self):
        self.degrees = 20

    @property
    def kelvin(self):
        return self.degrees + 273


CELSIUS = Celsius()


def tiny_properties(turns):
    celsius, total = CELSIUS, 0
    for _ in range(turns):
        total ^= celsius.kelvin
    return total


def inlined_properties(turns):
    celsius, total = CELSIUS, 0
    for _ in range(turns):
        total ^= celsius.degrees + 273
    return total


NUMBERS = [i * 7 % 101 for i in range(100)]


def negated(x):
    return -x


def tiny_keys(turns):
    for _ in range(turns // 100):
        sorted(NUMBERS, key=negated)


def inlined_keys(turns):
    for _ in range(turns // 100):
        keys = []
        for x in NUMBERS:
            keys += (-x,)


def counted(turns):
    for i in range(turns):
        yield i


def delegated(turns):
    yield from counted(turns)


def tiny_generators(turns):
    total = 0
    for i in delegated(turns):
        total ^= i * 3
    return total


def inlined_generators(turns):
    total = 0
    for i in range(turns):
        total ^= i * 3
    return total


class Cell:
    def __init__(self):
        self.value = 0

    def put(self, value):
        self.value = value

    def take(self):
        return self.value


CELL = Cell()


def tiny_alternating(turns):
    cell, total = CELL, 0
    for i in range(turns):
        cell.put(i)
        total ^= cell.take()
    return total


def inlined_alternating(turns):
    cell, total = CELL, 0
    for i in range(turns):
        cell.value = i
        total ^= cell.value
    return total


def main():
    turns, rounds = (list(map(int, sys.argv[1:3])) + [1000, 30][len(sys.argv[1:3]):])
    is_in_step = sys.argv[3:] == ["in-step"]
    pairs = ("functions", "nested", "methods", "builtins", "recursion", "properties", "keys", "generators",
             "alternating")
    took = {}
    for _ in range(rounds):
        if is_in_step:
            os.read(0, 1)
            for pair in pairs:  # Another program was executed meanwhile: little of this one is in the caches.
                globals()["inlined_" + pair](turns)
        for pair in pairs:
            for kind in ("tiny_", "inlined_"):
                work = globals()[kind + pair]
                start = clock()
                work(turns)
                took.setdefault(kind + pair, []).append(clock() - start)
        if is_in_step:
            os.write(1, b".")
    print(json.dumps({"pairs": pairs, "rounds": rounds, "took": took}))


main()
