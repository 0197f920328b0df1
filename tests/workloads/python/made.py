"""Ever new functions with new names, where functions were that are no more.

Each is executed for some milliseconds and freed; what is printed says when each one lived, by the
monotonic clock, and at how many addresses there were two or more.
"""

import time

import truth

SOURCE = """
def made_{0}(end, clock):
    turns = 0
    while clock() < end:
        turns += 1
    return turns
"""

monotonic_ns = getattr(time, "monotonic_ns", None) or truth.clock_of_libc(1)


def run_one(number, addresses, lives):
    code = compile("\n" * number + SOURCE.format(number), "<made {0}>".format(number), "exec")
    scope = {}
    exec(code, scope)
    function = scope.pop("made_{0}".format(number))
    addresses.setdefault(id(function.__code__), []).append(number)
    begin = monotonic_ns()
    function(truth.thread_cpu_ns() + 2000000, truth.thread_cpu_ns)
    lives["made_{0}".format(number)] = [begin, monotonic_ns()]


def main():
    addresses, lives = {}, {}
    end = truth.process_cpu_ns() + truth.budget_ns(1500)
    number = 0
    while truth.process_cpu_ns() < end:
        number += 1
        run_one(number, addresses, lives)
    truth.add("counts", "shared_addresses", sum(len(numbers) > 1 for numbers in addresses.values()))
    truth.show(lives=lives)


main()
