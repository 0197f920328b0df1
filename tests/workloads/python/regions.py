"""Regions of a program that knows how long it was in each (CPU time, in ms)."""

import json
import sys
import time

BEFORE = set(sys.modules)

import fathom  # noqa: E402

MODULES = sorted(set(sys.modules) - BEFORE - {"fathom", "imp", "__future__"})

clock = getattr(time, "process_time", None) or time.clock
spent = {}
times = {}


def burn(ms, *names):
    end = clock() + ms / 1000.0
    while clock() < end:
        for _ in range(200):
            pass
    for name in names:
        spent[name] = spent.get(name, 0) + ms


def region(name):
    times[name] = times.get(name, 0) + 1
    return fathom.region(name)


def entering():
    burn(30)
    with region("load"):
        burn(30, "load")
        with region("inner"):
            burn(30, "load", "inner")
    burn(30)


@fathom.region("decorated")
def decorated():
    burn(30, "decorated")


def leaving():
    with region("left"):
        burn(20, "left")
        raise KeyError


def behind():
    burn(20)


def recursive(depth):
    with region("recursive"):
        if depth > 0:
            recursive(depth - 1)
        else:
            burn(20, "recursive")


def while_paused():
    burn(10)


def resumed():
    burn(1)


class ByHand(object):
    """A context manager that begins a region."""

    def __enter__(self):
        self.region = region("managed")
        self.region.__enter__()

    def __exit__(self, *exception):
        self.region.__exit__(*exception)


def managed():
    with ByHand():
        burn(20, "managed")


def lender(kept):
    kept.append(region("borrowed"))
    kept[0].__enter__()


def borrower():
    kept = []
    lender(kept)
    burn(20, "borrowed")
    kept[0].__exit__(None, None, None)
    burn(20)


ASYNC = """
import asyncio

async def request(name, ms):
    with region(name):
        for _ in range(3):
            burn(ms, name)
            await asyncio.sleep(0)

def generator():
    with region("generator"):
        for value in range(3):
            burn(10, "generator")
            yield value

def consume():
    burn(10)

async def requests():
    await asyncio.gather(request("first", 10), request("second", 20))

def run_requests():
    loop = asyncio.new_event_loop()
    loop.run_until_complete(requests())
    loop.close()
    for _ in generator():
        consume()
"""


def main():
    entering()
    times["decorated"] = 2
    decorated()
    decorated()
    try:
        leaving()
    except KeyError:
        behind()
    recursive(3)
    managed()
    borrower()
    if sys.version_info >= (3, 6):
        names = {"region": region, "burn": burn}
        exec(ASYNC, names)
        names["run_requests"]()
    is_running = fathom.is_running()
    fathom.pause()
    fathom.pause()
    for _ in range(5):
        while_paused()
    fathom.resume()
    for _ in range(3):
        resumed()
    print(json.dumps({"regions": spent, "times": times, "paused": 50, "is_running": is_running,
                      "modules": [] if is_running else MODULES}))


main()
