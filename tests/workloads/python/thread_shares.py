"""Three threads, each with a function of its own, and what each took by its own CPU clock."""

import threading

import truth

UNITS = 20000


def work(units):
    while units:
        units -= 1


def first_work(units):
    work(units)


def second_work(units):
    work(2 * units)


def third_work(units):
    work(3 * units)


class Worker(threading.Thread):

    def __init__(self, function, turns):
        threading.Thread.__init__(self, name=function.__name__)
        self.function, self.turns, self.spent = function, turns, 0

    def run(self):
        begin = truth.thread_cpu_ns()
        for turn in range(self.turns):
            self.function(truth.vary(turn, UNITS // 2, UNITS))
        self.spent = truth.thread_cpu_ns() - begin


def main():
    turns = truth.budget_ns(2000) // 6000000
    workers = [Worker(function, turns) for function in (first_work, second_work, third_work)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
        truth.add("total", worker.name, worker.spent)
        truth.add("threads", worker.name, worker.spent)
    truth.show()


main()
