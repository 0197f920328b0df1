"""How many primes there are, and what is_prime really took of that.

Blocks in which is_prime is called once for each number and such in which it is called twice take turns;
the difference is one time is_prime, the call with it.
"""

import truth


def is_prime(number):
    if number % 2 == 0:
        return number == 2
    divisor = 3
    while divisor * divisor <= number:
        if number % divisor == 0:
            return False
        divisor += 2
    return number > 1


def once(first, last):
    found = 0
    for number in range(first, last, 2):
        if is_prime(number):
            found += 1
    return found


def twice(first, last):
    found = 0
    for number in range(first, last, 2):
        if is_prime(number):
            found += 1
        if is_prime(number):
            found += 1
    return found


def spell(number):
    """Something else to do."""
    text = ""
    for digit in str(number):
        text += digit + "-"
    return text


def main():
    end = truth.process_cpu_ns() + truth.budget_ns(2000)
    first, spent = 1000001, {once: 0, twice: 0}
    while truth.process_cpu_ns() < end:
        for function in (once, twice, twice, once):
            begin = truth.thread_cpu_ns()
            function(first, first + 200)
            spent[function] += truth.thread_cpu_ns() - begin
        for number in range(first, first + 4 * truth.vary(first, 100, 500)):
            spell(number)
        first += 200
    truth.add("total", "is_prime", 3 * (spent[twice] - spent[once]))
    truth.show()


main()
