"""A program that wants to be recorded from a certain point on."""

import json
import time

import fathom

clock = getattr(time, "process_time", None) or time.clock


def burn():
    end = clock() + 0.02
    while clock() < end:
        for _ in range(200):
            pass


def before():
    burn()


def behind():
    burn()


def main():
    is_running = [fathom.is_running()]
    for _ in range(5):
        before()
    fathom.resume()
    is_running.append(fathom.is_running())
    for _ in range(5):
        behind()
    print(json.dumps({"is_running": is_running}))


main()
