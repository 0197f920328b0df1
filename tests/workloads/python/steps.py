"""steps - calls of every kind between Python functions, each of which has one caller.

Prints {function: its callers} as JSON, the functions that C calls, and the C functions that
some call, all of them.  For CPython 2.7 and 3.
"""

import functools
import json
import re
import sys
import threading

CALLERS = {}
FROM_C = []
C_CALLS = {
    "sorting": ["sorted"], "reducing": ["reduce"], "mapping": ["map"], "substituting": ["sub"],
    "generating": ["sum"], "sending": ["next", "send", "close"], "comparing": ["min"],
    "from_c_caught": ["map"], "descend": ["map", "max"],
}
for names in C_CALLS.values():
    names.append("range")  # which is a type from 3.0 on


def called_by(*callers):
    def note(function):
        CALLERS[function.__name__] = callers
        return function
    return note


def called_from_c_by(*callers):
    def note(function):
        FROM_C.append(function.__name__)
        return called_by(*callers)(function)
    return note


# --- from C: keys, reductions, maps, matches ------------------------------------------------

@called_by("sort_key")
def under_key(value):
    return -value


@called_from_c_by("sorting")
def sort_key(value):
    return under_key(value)


@called_by("one_turn")
def sorting():
    return sorted(range(8), key=sort_key)


@called_by("reducer")
def under_reducer(a, b):
    return a + b


@called_from_c_by("reducing")
def reducer(a, b):
    return under_reducer(a, b)


@called_by("one_turn")
def reducing():
    return functools.reduce(reducer, range(8))


@called_from_c_by("mapping")
def mapped(value):
    return value + 1


@called_by("one_turn")
def mapping():
    return list(map(mapped, range(8)))


@called_from_c_by("substituting")
def substitute(match):
    return match.group(0).upper()


@called_by("one_turn")
def substituting():
    return PATTERN.sub(substitute, "a1b2c3")


PATTERN = re.compile("[a-z]")


# --- generators ----------------------------------------------------------------------------

@called_by("inner_generator")
def under_generator(value):
    return value * 2


@called_by("outer_generator")
def inner_generator(count):
    for i in range(count):
        yield under_generator(i)


@called_by("generating")
def outer_generator(count):
    for value in inner_generator(count):
        yield value


@called_by("one_turn")
def generating():
    return sum(outer_generator(8))


@called_by("sending")
def sent_to():
    total = 0
    while True:
        value = yield total
        total += under_sent(value)


@called_by("sent_to")
def under_sent(value):
    return value


@called_by("one_turn")
def sending():
    generator = sent_to()
    next(generator)
    for i in range(6):
        generator.send(i)
    generator.close()


# --- exceptions ----------------------------------------------------------------------------

@called_by("raises_deeper")
def raises(value):
    raise ValueError(value)


@called_by("catching")
def raises_deeper(value):
    try:
        raises(value)
    finally:
        clean_up()


@called_by("raises_deeper")
def clean_up():
    return None


@called_by("one_turn")
def catching():
    for i in range(4):
        try:
            raises_deeper(i)
        except ValueError:
            pass


@called_from_c_by("from_c_caught")
def raises_from_c(value):
    raise KeyError(value)


@called_by("one_turn")
def from_c_caught():
    try:
        list(map(raises_from_c, [1]))
    except KeyError:
        pass


# --- classes, closures, keywords, recursion through C ---------------------------------------

class Thing(object):
    def __init__(self, value):
        self.value = under_init(value)

    def __lt__(self, other):
        return compares(self.value, other.value)

    @property
    def attribute(self):
        return under_property(self.value)


CALLERS["__init__"] = ["making", "<genexpr>"]
CALLERS["__lt__"] = ["comparing"]
CALLERS["attribute"] = ["making"]
FROM_C.append("__lt__")


@called_by("__init__")
def under_init(value):
    return value


@called_by("__lt__")
def compares(a, b):
    return a < b


@called_by("attribute")
def under_property(value):
    return value


@called_by("one_turn")
def making():
    return Thing(3).attribute


@called_by("one_turn")
def comparing():
    return min(THINGS)


THINGS = []


@called_by("one_turn")
def closing_over():
    cell = [0]

    def closure(by=1, *more, **names):
        cell[0] += by
        return names

    CALLERS["closure"] = ["closing_over"]
    for i in range(4):
        closure(i, 2, name=3)
    return functools.partial(closure, 5)()


@called_by("descending")
def descend(depth):
    return 0 if depth == 0 else max(map(descend_more, [depth - 1]))


@called_from_c_by("descend")
def descend_more(depth):
    return descend_again(depth)


@called_by("descend_more")
def descend_again(depth):
    return depth


@called_by("one_turn")
def descending():
    return descend(3)


# --- all of it, in two threads ---------------------------------------------------------------

@called_by("turns")
def one_turn():
    sorting()
    reducing()
    mapping()
    substituting()
    generating()
    sending()
    catching()
    from_c_caught()
    making()
    comparing()
    closing_over()
    descending()


@called_by("main", "run")
def turns(count):
    for _ in range(count):
        one_turn()


@called_by("<module>")
def main():
    count = int(sys.argv[1])
    THINGS.extend(Thing(i) for i in range(5))
    threads = [threading.Thread(target=turns, args=(count,)) for _ in range(2)]
    for thread in threads:
        thread.start()
    turns(count)
    for thread in threads:
        thread.join()
    sys.stdout.write(json.dumps({"callers": CALLERS, "from_c": FROM_C, "c_calls": C_CALLS}) + "\n")


main()
