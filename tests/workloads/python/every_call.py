"""Calls of every kind, for tracers to count: run by counted.py."""

import ast
import collections
import contextlib
import ctypes
import functools
import json
import re
import sys


class Error(Exception):
    pass


class Point:
    __slots__ = ("x",)

    def __init__(self, x):
        self.x = x

    def __getattr__(self, name):
        return name

    def __len__(self):
        return 3

    def __getitem__(self, index):
        if index > 5:
            raise IndexError(index)
        return index

    @property
    def double(self):
        return 2 * self.x

    @classmethod
    def origin(cls):
        return cls(0)

    @staticmethod
    def twice(x):
        return x + x

    def __eq__(self, other):
        return self.x == other.x

    def __hash__(self):
        return hash(self.x)

    def __del__(self):
        len("")


def factorial(n):
    return 1 if n < 2 else n * factorial(n - 1)


def is_even(n):
    return True if n == 0 else is_odd(n - 1)


def is_odd(n):
    return False if n == 0 else is_even(n - 1)


def deep(n):
    return 0 if n == 0 else deep(n - 1)


def numbers(n):
    try:
        for i in range(n):
            yield i
    finally:
        len("end")


def delegating(n):
    result = yield from numbers(n)
    return result


def raising(depth):
    if depth > 0:
        return raising(depth - 1)
    raise Error(depth)


@contextlib.contextmanager
def context():
    try:
        yield 1
    finally:
        max(1, 2)


class Awaitable:
    def __await__(self):
        yield 1
        return 2


async def inner(n):
    await Awaitable()
    return n


async def ticks(n):
    for i in range(n):
        yield await inner(i)


async def outer():
    found = [x async for x in ticks(5)]
    return sum(found) + await inner(7)


def drive(coroutine):
    try:
        while True:
            coroutine.send(None)
    except StopIteration as stop:
        return stop.value


def recursion():
    for i in range(30):
        factorial(i)
    is_even(50)
    deep(400)


def generators():
    list(numbers(10))
    list(delegating(10))
    closed = numbers(5)
    next(closed)
    closed.close()
    thrown = numbers(5)
    next(thrown)
    try:
        thrown.throw(Error)
    except Error:
        pass
    dropped = numbers(3)
    next(dropped)
    del dropped
    sum(x * x for x in range(10))
    drive(outer())
    coroutine = inner(1)
    coroutine.send(None)
    coroutine.close()


def exceptions():
    for i in range(10):
        try:
            raising(i)
        except Error:
            pass
    for call in (lambda: int("x"), lambda: [].pop(), lambda: list.append(), lambda: {}.popitem(),
                 lambda: json.loads("{"), lambda: next(iter(()))):
        try:
            call()
        except (ValueError, IndexError, TypeError, KeyError, StopIteration):
            pass
    with context():
        pass


def objects():
    points = [Point(i) for i in range(10)]
    for point in points:
        point.double, point.missing, len(point), list(point), point in points, {point}
    Point.origin().twice(3)
    sorted(points, key=lambda point: -point.x)
    type("Made", (), {"method": lambda self: 1})().method()
    object.__new__(Point)
    del points


def builtins():
    [].append(1)
    append = [].append
    append(2)
    list.append([], 3)
    dict.fromkeys([1, 2])
    collections.OrderedDict(a=1).move_to_end("a")
    collections.Counter("abca").most_common(1)
    "a,b".split(",")
    b"".hex()
    (1).bit_length()
    functools.reduce(lambda a, b: a + b, range(10))
    list(map(len, ["a", "b"]))
    list(map(factorial, range(5)))
    functools.partial(max, 1)(2)


class OfOldStyle:
    """What can be iterated over, and has no __iter__."""

    def __getitem__(self, index):
        if index > 3:
            raise IndexError
        return abs(index)


def spread():
    """What is spread is executed by the caller, before the call, which there may not be then."""
    for _ in range(3):
        max(*[1, 2])
        max(*numbers(4))
        max(*OfOldStyle())
        sorted(*iter([[2, 1]]), key=lambda number: -number)
        [].append(*{3})
        max(*(max(*numbers(depth)) for depth in range(2, 4)))
    for call in (lambda: max(*5), lambda: max(*(raising(i) for i in (3, 1))), lambda: len(*numbers(2)),
                 lambda: max(*[1, "x"])):
        try:
            call()
        except (TypeError, Error):
            pass


class MethodDef(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("function", ctypes.c_void_p), ("flags", ctypes.c_int), ("doc", ctypes.c_char_p)]


NO_ARGUMENTS = 4
MADE_OF_C = MethodDef(b"made_of_c", ctypes.cast(ctypes.pythonapi.PyDict_New, ctypes.c_void_p).value, NO_ARGUMENTS, None)


def without_self():
    """Functions of C that no object was given to, as Cython makes them."""
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype = ctypes.py_object
    make.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
    for module in ("some.module", "builtins"):
        made = make(ctypes.addressof(MADE_OF_C), None, id(module))
        made(), made()


def libraries():
    re.sub("a+", lambda match: match.group().upper(), "aabaa")
    re.compile(r"(\w+)\s").findall("some words here")
    json.loads(json.dumps({"a": [1, 2, {"b": None}]}, indent=1))
    for node in ast.walk(ast.parse("def f(x):\n    return [y + 1 for y in x]\n")):
        isinstance(node, ast.Name)


def made():
    exec("def f(x):\n    return x\nfor i in range(3): f(i)", {})
    for i in range(20):
        eval("(lambda: %d)()" % i)

    @functools.lru_cache(None)
    def fibonacci(n):
        return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)
    fibonacci(20)


def main():
    for part in (recursion, generators, exceptions, objects, builtins, spread, without_self, libraries, made):
        part()
    sys.stdout.flush()


main()
