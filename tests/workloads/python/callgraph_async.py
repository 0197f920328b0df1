"""Coroutines that call one another, and which may await which: callgraph.py's rules, from Python 3.7 on."""

import asyncio

import truth

HERE = "callgraph_async.py"


async def first_outer(n):
    return await first_middle(n)


async def first_middle(n):
    total = 0
    for item in range(n):
        total += await first_inner(item)
    return total


async def first_inner(item):
    await asyncio.sleep(0)
    return first_leaf(item)


def first_leaf(item):
    return sum(range(item))


async def second_outer(n):
    total = 0
    async for item in second_generator(n):
        total += len(second_leaf(item))
    return total


async def second_generator(n):
    for item in range(n):
        yield await second_inner(item)


async def second_inner(item):
    if item % 3 == 0:
        await asyncio.sleep(0)
    return second_inner_leaf(item)


def second_inner_leaf(item):
    return item + 1


def second_leaf(item):
    return sorted(range(item), key=second_key)


def second_key(item):
    return -item


async def third_outer(n):
    async with Managed():
        return third_leaf(n)


class Managed:

    async def __aenter__(self):
        managed_begin()
        await asyncio.sleep(0)

    async def __aexit__(self, *reason):
        managed_end()


def managed_begin():
    return 1


def managed_end():
    return 2


def third_leaf(n):
    return list(map(third_item, range(n)))


def third_item(item):
    return item


async def many():
    end = truth.process_cpu_ns() + truth.budget_ns(2000)
    rounds = 0
    while truth.process_cpu_ns() < end:
        rounds += 1
        n = truth.vary(rounds, 3, 20)
        tasks = []
        for coroutine in (first_outer, second_outer, third_outer):
            tasks.append(asyncio.ensure_future(coroutine(n)))
        all_results(await asyncio.gather(*tasks))
    truth.add("counts", "rounds", rounds)


def all_results(results):
    return len(results)


EDGES = """
first_outer first_middle            first_middle first_inner        first_inner first_leaf
second_outer second_generator       second_generator second_inner   second_inner second_inner_leaf
second_outer second_leaf            second_leaf second_key          third_outer __aenter__
third_outer __aexit__               __aenter__ managed_begin        __aexit__ managed_end
third_outer third_leaf              third_leaf third_item           many all_results
<module> Managed                    <module> main
"""


def main():
    asyncio.run(many())
    # A task's coroutine is run by the loop, through a C task.
    callers = {f"{HERE}:{task}": ["events.py:_run"] for task in ("first_outer", "second_outer", "third_outer", "many")}
    callers[f"{HERE}:<module>"] = []
    words = EDGES.split()
    for caller, callee in zip(words[::2], words[1::2]):
        callers.setdefault(f"{HERE}:{callee}", []).append(f"{HERE}:{caller}")
    truth.show(callers=callers, to_libraries=[f"{HERE}:{name}" for name in
                                              ("main", "<module>", "many", "first_inner", "second_outer", "second_inner",
                                               "__aenter__")])


main()
