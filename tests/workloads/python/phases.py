"""The same work each time, in turns: loops without calls, calls of tiny functions, recursion, C functions, generators."""

import sys
import time


def loops(units):
    done = 0
    while done < 12 * units:
        done += 1
    return done


def tiny(number):
    return number & 7


def calls(units):
    total = 0
    for number in range(3 * units):
        total += tiny(number)
    return total


def fibonacci(number):
    return number if number < 2 else fibonacci(number - 1) + fibonacci(number - 2)


def recursion(_):
    return fibonacci(16)


def builtins(units):
    numbers = [(number * 7919) % 1009 for number in range(units)]
    return sorted(numbers)[0] + max(numbers) + sum(numbers) + len(str(numbers))


def numbers_below(end):
    number = 0
    while number < end:
        yield number
        number += 1


def generators(units):
    total = 0
    for number in numbers_below(2 * units):
        total += number
    return total


PHASES = (loops, calls, recursion, builtins, generators)


def main():
    begin = time.process_time()
    for turn in range(int(sys.argv[1])):
        for phase in PHASES:
            phase(1000 + turn * 37 % 500)
    print('{"cpu_s": %f}' % (time.process_time() - begin))


main()
