"""Threads that count what they call, and print it: worker_threads.py [THREADS [CALLS [AT_ONE_TIME]]]"""

import json
import math
import sys
import threading


class Worker(threading.Thread):
    def __init__(self, calls):
        threading.Thread.__init__(self)
        self.calls = calls
        self.counted = 0

    def step(self, i):
        self.counted += 1
        return math.sin(i)

    def run(self):
        for i in range(self.calls):
            self.step(i)


def main():
    threads, calls, at_one_time = (list(map(int, sys.argv[1:])) + [3, 10000, 3][len(sys.argv) - 1:])
    counted = 0
    for first in range(0, threads, at_one_time):
        workers = [Worker(calls) for _ in range(min(at_one_time, threads - first))]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
            counted += worker.counted
    print(json.dumps({"steps": counted, "runs": threads}))


main()
