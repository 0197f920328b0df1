"""158 threads asleep and one that computes: many_threads.py TIMES-FILE [TURNS]"""

import sys
import threading

import stamp

ASLEEP = 158


def wait(event):
    event.wait()


def compute(turns):
    for _ in range(turns):
        left = 100000
        while left:
            left -= 1


def main(turns):
    event = threading.Event()
    threads = [threading.Thread(target=wait, args=(event,)) for _ in range(ASLEEP)]
    for thread in threads:
        thread.start()
    with stamp.times_in(sys.argv[1]):
        compute(turns)
    event.set()
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    main(int((sys.argv + ["400"])[2]))
