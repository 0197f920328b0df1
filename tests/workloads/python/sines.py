"""A worker thread computes sines while the main thread waits for it."""

import math
import threading


class Worker(threading.Thread):

    def run(self):
        total = 0.0
        for number in range(4000000):
            total += math.sin(number)
        self.total = total


worker = Worker()
worker.start()
worker.join()
print(worker.total)
