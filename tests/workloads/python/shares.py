"""Three functions of one, two and five parts of the work, and one of three lines of which the same is true."""

import truth

UNITS = 6000


def one_part(units):
    done = 0
    while done < units:
        done += 1


def two_parts(units):
    done = 0
    while done < 2 * units:
        done += 1


def five_parts(units):
    done = 0
    for _ in range(5):
        done = 0
        while done < units:
            done += 1
    return done


def three_lines(units):
    first = second = third = 0
    begin = truth.thread_cpu_ns()
    while first < units: first += 1  # noqa: E701
    after_first = truth.thread_cpu_ns()
    while second < 2 * units: second += 1  # noqa: E701
    after_second = truth.thread_cpu_ns()
    while third < 3 * units: third += 1  # noqa: E701
    end = truth.thread_cpu_ns()
    line = three_lines.__code__.co_firstlineno
    truth.add("lines", line + 3, after_first - begin)
    truth.add("lines", line + 5, after_second - after_first)
    truth.add("lines", line + 7, end - after_second)


def outer(units):
    """Calls one of them: its total is what that takes."""
    two_parts(units)


def main():
    end = truth.process_cpu_ns() + truth.budget_ns(2000)
    turn = 0
    while truth.process_cpu_ns() < end:
        turn += 1
        units = truth.vary(turn, UNITS // 2, UNITS)
        for function in (one_part, five_parts, outer, three_lines):
            begin = truth.thread_cpu_ns()
            function(units)
            spent = truth.thread_cpu_ns() - begin
            truth.add("total", function.__name__, spent)
            if function is not three_lines:
                truth.add("self", "two_parts" if function is outer else function.__name__, spent)
    truth.show()


main()
