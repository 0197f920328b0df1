"""What benchmarks of interpreters do, and what the standard library does in pure Python.  Run by counted.py."""

import _pydecimal
import argparse
import collections
import configparser
import contextlib
import copy
import csv
import email
import email.message
import fractions
import functools
import html.parser
import inspect
import io
import itertools
import logging
import pickle
import random
import statistics
import string
import sys
import tokenize
import traceback
import unittest
import xml.dom.minidom


class Task:
    """As in richards: tasks that hand on packets."""

    def __init__(self, name, after):
        self.name, self.after, self.queue, self.done = name, after, collections.deque(), 0

    def take(self, packet):
        self.queue.append(packet)
        return self

    def run(self):
        while self.queue:
            packet = self.queue.popleft()
            self.done += 1
            if packet > 0 and self.after is not None:
                self.after.take(packet - 1)


def schedule(rounds):
    tasks = [Task("last", None)]
    for number in range(5):
        tasks.append(Task("task %d" % number, tasks[-1]))
    for number in range(rounds):
        tasks[-1].take(number % 9)
        for task in reversed(tasks):
            task.run()
    return sum(task.done for task in tasks)


def queens(size):
    columns = range(size)
    for places in itertools.permutations(columns):
        if size == len(set(places[i] + i for i in columns)) == len(set(places[i] - i for i in columns)):
            yield places


def pi_digits():
    q, r, t, k, n, l = 1, 0, 1, 1, 3, 3
    while True:
        if 4 * q + r - t < n * t:
            yield n
            q, r, n = q * 10, 10 * (r - n * t), (10 * (3 * q + r)) // t - 10 * n
        else:
            q, r, t, k, n, l = q * k, (2 * q + r) * l, t * l, k + 1, (q * (7 * k) + 2 + r * l) // (t * l), l + 2


def tree(depth):
    return (tree(depth - 1), tree(depth - 1)) if depth else (None, None)


def leaves(node):
    left, right = node
    return 1 if left is None else leaves(left) + leaves(right)


@functools.lru_cache(maxsize=None)
def ways(amount, coins):
    if amount == 0:
        return 1
    return 0 if amount < 0 or not coins else ways(amount - coins[0], coins) + ways(amount, coins[1:])


@functools.singledispatch
def shape(thing):
    return "other"


@shape.register(int)
def shape_of_int(thing):
    return "int"


@shape.register(list)
def shape_of_list(thing):
    return [shape(inner) for inner in thing]


def algorithms():
    assert schedule(300) > 1000
    assert len(list(queens(6))) == 4
    assert list(itertools.islice(pi_digits(), 30))[:5] == [3, 1, 4, 1, 5]
    assert leaves(tree(8)) == 256
    assert ways(40, (25, 10, 5, 1)) == 31
    assert shape([1, "a", [2]]) == ["int", "other", ["int"]]
    chooser = random.Random(1)
    numbers = [chooser.randrange(1000) for _ in range(300)]
    assert sorted(numbers, key=functools.cmp_to_key(lambda a, b: a - b)) == sorted(numbers)
    chooser.shuffle(numbers)
    assert statistics.mean([fractions.Fraction(number) for number in numbers]) == fractions.Fraction(sum(numbers), 300)
    assert _pydecimal.Decimal(2).sqrt(_pydecimal.Context(prec=20)) < 2


class Kept(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags = []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)


class Shown(unittest.TestCase):
    def test_that_passes(self):
        with self.assertRaises(ZeroDivisionError):
            1 / 0

    def test_that_fails(self):
        self.assertEqual([1, 2], [1, 3])


def documents():
    parser = Kept()
    parser.feed("<html><body>" + "<p class='a'>text &amp; <b>more</b></p>" * 30 + "</body></html>")
    assert len(parser.tags) == 62
    config = configparser.ConfigParser()
    config.read_string("[a]\nx = 1\ny = %(x)s2\n[b]\nz: no\n")
    assert config.getint("a", "y") == 12 and not config.getboolean("b", "z")
    text = io.StringIO()
    csv.DictWriter(text, ["a", "b"]).writerows({"a": n, "b": str(n)} for n in range(50))
    assert len(list(csv.reader(io.StringIO(text.getvalue())))) == 50
    document = xml.dom.minidom.parseString("<a>" + "<b c='1'>t</b>" * 20 + "</a>")
    assert len(document.getElementsByTagName("b")) == 20
    message = email.message.EmailMessage()
    message["Subject"], message["To"] = "hello", "a@example.org"
    message.set_content("text\n" * 5)
    assert email.message_from_string(message.as_string())["Subject"] == "hello"


def tools():
    parser = argparse.ArgumentParser(prog="x")
    parser.add_argument("--number", type=int, default=3)
    parser.add_argument("names", nargs="*")
    assert parser.parse_args(["--number", "4", "a", "b"]).names == ["a", "b"]
    data = {"a": [1, 2, (3, "x")], "b": {"c": None}}
    assert pickle._loads(pickle._dumps(data)) == copy.deepcopy(data) == data
    assert string.Template("$a and ${b}").substitute(a=1, b=2) == "1 and 2"
    log = logging.getLogger("of.benchmarks")
    log.propagate = False
    log.addHandler(logging.StreamHandler(io.StringIO()))
    for number in range(20):
        log.warning("number %d", number)
    assert len(list(tokenize.generate_tokens(io.StringIO("x = [1, 2]\nif x:\n    y(x)\n").readline))) > 15
    assert list(inspect.signature(tools).parameters) == []
    result = unittest.TestResult()
    unittest.TestLoader().loadTestsFromTestCase(Shown).run(result)
    assert (result.testsRun, len(result.failures)) == (2, 1)
    try:
        with contextlib.ExitStack() as stack:
            stack.callback(len, "")
            stack.enter_context(contextlib.suppress(KeyError))
            {}["missing"]
            raise AssertionError
    except AssertionError:
        traceback.format_exc()


def main():
    for part in (algorithms, documents, tools):
        part()
    sys.stdout.flush()


main()
