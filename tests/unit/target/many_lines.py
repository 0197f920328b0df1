"""Code whose tables of lines have a bit of everything; read by every CPython from 2.7 on."""
import functools


def decorate(name, *rest):
    def wrap(function):
        return function
    return wrap


@decorate(
    "one",
    2,
)
@functools.partial(
    decorate("two"),
)
def calls_in_many_lines(first,
                        second=(1,
                                2)):
    total = max(
        first,
        min(
            second,
            key=lambda value: (
                value,
                -first)),
        key=str,
    )
    return [
        total
        for each in
        range(3)
        if each
        != total
    ]


def loops(count):
    while count > 0:
        count -= 1
        for each in (
                1,
                2):
            if each == count:
                continue
            elif each > count: break
        else:
            count = count; count -= 1
    try:
        raise ValueError(
            count)
    except (ValueError,
            KeyError):
        pass
    finally:
        count = 0
    with open(
            "/dev/null") as file, \
            open("/dev/null"):
        yield file


class Example(object):
    """A text that
    takes lines."""

    attribute = {
        "a": 1,
        "b":
            2,
    }

    def method(self): return (self
                              .attribute
                              ["a"])

    @property
    def long_line(self):
        return [1 + len(str(1)) + len(str(2)) + len(str(3)) + len(str(4)) + len(str(5)) + len(str(6)) + len(str(7)), len(str(8)) + len(str(9)) + len(str(10)) + len(str(11)) + len(str(12)) + len(str(13)), len(str(14)) + len(str(15)) + len(str(16)) + len(str(17)) + len(str(18)) + len(str(19)), len(str(20)) + len(str(21)) + len(str(22)) + len(str(23)) + len(str(24)) + len(str(25))]


LAMBDA = lambda one, two=3: (one +
                             two); SECOND = (lambda:
                                             0)


def far_apart():
    first = 1












































































































































































































































































































    return first
