"""Sub-interpreters, one called by the main thread and one by a thread of its own, beside plain work."""

import threading

import truth

try:
    import _interpreters as interpreters  # from 3.13 on
except ImportError:
    import _xxsubinterpreters as interpreters

SOURCE = """
def {0}_outer():
    return {0}(time.thread_time_ns() + {1})

def {0}(end):
    while time.thread_time_ns() < end:
        pass

import time
{0}_outer()
"""


def main_work(end):
    while truth.thread_cpu_ns() < end:
        pass


def run_in_new(name, budget_ns):
    interpreter = interpreters.create()
    begin = truth.thread_cpu_ns()
    interpreters.run_string(interpreter, SOURCE.format(name, budget_ns))
    truth.add("total", name, budget_ns)
    truth.add("counts", "around_" + name, truth.thread_cpu_ns() - begin)
    interpreters.destroy(interpreter)


def main():
    budget_ns = truth.budget_ns(1500) // 3
    thread = threading.Thread(target=run_in_new, args=("thread_sub", budget_ns))
    thread.start()
    thread.join()
    run_in_new("main_sub", budget_ns)
    main_work(truth.thread_cpu_ns() + budget_ns)
    truth.add("total", "main_work", budget_ns)
    truth.show()


main()
