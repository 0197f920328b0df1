"""What calls of empty functions cost, by the program's own clock: calls.py [CALLS [ROUNDS]]

Prints one JSON object: nanoseconds for a call of a Python function and of a C one, the loop taken off; the least of some rounds.
"""

import json
import sys
import time


def now():
    """Nanoseconds; 3.6 has no perf_counter_ns()."""
    return time.perf_counter() * 1e9


def empty():
    pass


def loop(calls):
    for _ in range(calls):
        pass


def python_calls(calls):
    for _ in range(calls):
        empty()


def builtin_calls(calls):
    function, argument = abs, 1
    for _ in range(calls):
        function(argument)


def main():
    calls, rounds = (list(map(int, sys.argv[1:])) + [30000, 60][len(sys.argv) - 1:])
    least = {}
    for _ in range(rounds):
        for program in (loop, python_calls, builtin_calls):
            begin = now()
            program(calls)
            spent = (now() - begin) / calls
            least[program.__name__] = min(spent, least.get(program.__name__, spent))
    print(json.dumps({"python_ns": least["python_calls"] - least["loop"],
                      "builtin_ns": least["builtin_calls"] - least["loop"], "loop_ns": least["loop"]}))


main()
