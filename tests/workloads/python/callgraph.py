"""Calls of every kind, all the time, and which may call which: each function has one caller.

    callgraph.py MILLISECONDS [THREADS [LIBRARY]]

LIBRARY is unwalkable.c's: then there are calls through code that no native walk can leave, too.
What it prints has, for each function of this file, the functions that call it (C code may be between
them), and which of its functions call Python functions of libraries.
"""

import ctypes
import functools
import gc
import re
import sys
import threading

import truth

HERE = "callgraph.py"
MADE = "<made>"
callers = {}


def may_call(caller, callee, callee_file=HERE, caller_file=HERE):
    callers.setdefault(callee_file + ":" + callee, []).append(caller_file + ":" + caller)


# --- plain calls, and calls from C -----------------------------------------------------------

def plain_outer(n):
    return plain_middle(n) + 1


def plain_middle(n):
    return plain_inner(n) + plain_inner(n + 1)


def plain_inner(n):
    return plain_leaf(n)


def plain_leaf(n):
    return n * 3 + 1


def empty_caller(n):
    while n:
        empty()
        n -= 1


def empty():
    pass


def sort_caller(n):
    return sorted(range(n), key=sort_key)


def sort_key(item):
    return sort_key_inner(item)


def sort_key_inner(item):
    return -item


def map_caller(n):
    return list(map(map_item, range(n)))


def map_item(item):
    return map_item_inner(item) + 1


def map_item_inner(item):
    return item * 2


def reduce_caller(n):
    return functools.reduce(reduce_step, range(n))


def reduce_step(left, right):
    return reduce_inner(left, right)


def reduce_inner(left, right):
    return left ^ right


word = re.compile("[a-z]+")


def sub_caller(n):
    return word.sub(sub_replace, "one two three four " * n)


def sub_replace(match):
    return sub_replace_inner(match.group())


def sub_replace_inner(text):
    return text.upper()


def nested_caller(n):
    """C between Python between C."""
    return sorted(map(nested_item, range(n)), key=nested_key)


def nested_item(item):
    return max(range(3), key=nested_max)


def nested_max(item):
    return item


def nested_key(item):
    return min((1, 2, 3), key=nested_min)


def nested_min(item):
    return -item


def partial_caller(n):
    return partially(n)


def partial_target(first, second):
    return partial_inner(first) + second


def partial_inner(first):
    return first


partially = functools.partial(partial_target, 1)

Comparison = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))
libc = ctypes.CDLL(None)
libc.qsort.restype = None


def ctypes_caller(n):
    numbers = (ctypes.c_int * n)(*range(n, 0, -1))
    libc.qsort(numbers, n, ctypes.sizeof(ctypes.c_int), comparison)
    return numbers[0]


def ctypes_compare(left, right):
    return ctypes_compare_inner(left[0], right[0])


def ctypes_compare_inner(left, right):
    return left - right


comparison = Comparison(ctypes_compare)


# --- generators, exceptions, recursion -------------------------------------------------------

def generator_caller(n):
    total = 0
    for item in generator_outer(n):
        total += item
    return total


def generator_outer(n):
    for item in generator_inner(n):
        yield generator_helper(item)


def generator_inner(n):
    while n:
        n -= 1
        yield n


def generator_helper(item):
    return item + 1


def generator_sum_caller(n):
    return sum(generator_summed(n))


def generator_summed(n):
    while n:
        n -= 1
        yield generator_summed_inner(n)


def generator_summed_inner(n):
    return n


def genexpr_caller(n):
    return sum(genexpr_inner(item) for item in range(n))


def genexpr_inner(item):
    return item


def closed_caller(n):
    generator = closed_generator()
    next(generator)
    generator.close()


def closed_generator():
    try:
        yield 1
    finally:
        closed_finally()


def closed_finally():
    return 1


def raise_caller(n):
    while n:
        n -= 1
        try:
            raise_middle(n)
        except ValueError:
            raise_handler(n)


def raise_middle(n):
    try:
        raise_inner(n)
    finally:
        raise_finally(n)


def raise_inner(n):
    raise ValueError(n)


def raise_finally(n):
    return n


def raise_handler(n):
    return n


def recursion_caller(n):
    return recursion(n)


def recursion(n):
    return recursion(n - 1) + 1 if n else recursion_end()


def recursion_end():
    return 0


def mutual_caller(n):
    return mutual_even(n)


def mutual_even(n):
    return mutual_odd(n - 1) if n > 0 else 0


def mutual_odd(n):
    return list(map(mutual_even, (n - 1,)))


# --- methods that the interpreter calls ------------------------------------------------------

class Vector(object):

    def __init__(self, x):
        self.x = init_inner(x)

    def __add__(self, other):
        return add_inner(self, other)

    def __eq__(self, other):
        return eq_inner(self, other)

    def __hash__(self):
        return hash_inner(self)

    def __getattr__(self, name):
        return getattr_inner(name)

    def __enter__(self):
        return enter_inner(self)

    def __exit__(self, *reason):
        return exit_inner(self)

    def __iter__(self):
        return iter_inner(self)

    @property
    def doubled(self):
        return doubled_inner(self)


def init_caller(n):
    return Vector(n)


def init_inner(x):
    return x


def add_caller(vector):
    return vector + vector


def add_inner(left, right):
    return left.x + right.x


def eq_caller(vector):
    return [1, 2, vector].index(vector) + [vector].count(1)


def eq_inner(left, right):
    return left is right


def hash_caller(vector):
    return {vector: 1}


def hash_inner(vector):
    return 7


def getattr_caller(vector):
    return vector.missing


def getattr_inner(name):
    return len(name)


def with_caller(vector):
    with vector:
        return with_inner()


def with_inner():
    return 1


def enter_inner(vector):
    return vector


def exit_inner(vector):
    return False


def iter_caller(vector):
    return list(vector)


def iter_inner(vector):
    return iter((1, 2, 3))


def doubled_caller(vector):
    return vector.doubled


def doubled_inner(vector):
    return vector.x * 2


class Deleted(object):

    def __del__(self):
        deleted_inner()


def deleted_caller(n):
    while n:
        n -= 1
        Deleted()


def deleted_inner():
    return 1


class Cyclic(object):

    def __init__(self):
        self.me = self

    def __del__(self):
        cyclic_inner()


def cyclic_caller():
    Cyclic()
    gc.collect()


def cyclic_inner():
    return 1


# --- code that is made while it runs ---------------------------------------------------------

source = """
def made_outer(n):
    return made_inner(n)
def made_inner(n):
    return n + 1
made_outer(1)
"""


def exec_caller():
    exec_compiled(compile(source, MADE, "exec"))


def exec_compiled(code):
    exec(code, {})


def class_caller():
    class Body(object):
        value = class_inner()
    return Body


def class_inner():
    return 1


def lambda_caller(n):
    return (lambda: lambda_inner(n))()


def lambda_inner(n):
    return n


# --- code that no native walk can leave ------------------------------------------------------

unwalkable = None
Called = ctypes.CFUNCTYPE(ctypes.c_long, ctypes.c_long)


def unwalkable_round(turn):
    n = truth.vary(turn, 3, 20)
    unwalkable_spin_caller(n)
    unwalkable_sort_caller(n)
    unwalkable_call_caller(n)


def unwalkable_spin_caller(n):
    unwalkable.unwalkable_spin(n * 1000)


def unwalkable_sort_caller(n):
    return sorted(range(n), key=unwalkable_key)


def unwalkable_key(item):
    unwalkable.unwalkable_spin(item * 100)
    return -item


def unwalkable_call_caller(n):
    return unwalkable.unwalkable_call(unwalkable_called, n)


def unwalkable_callback(n):
    return unwalkable_callback_inner(n)


def unwalkable_callback_inner(n):
    unwalkable.unwalkable_spin(n * 100)
    return max(range(n), key=unwalkable_callback_key)


def unwalkable_callback_key(item):
    return -item


unwalkable_called = Called(unwalkable_callback)


# --- all of it -------------------------------------------------------------------------------

def one_round(turn):
    n = truth.vary(turn, 3, 20)
    plain_outer(n)
    empty_caller(n)
    sort_caller(n)
    map_caller(n)
    reduce_caller(n)
    sub_caller(2)
    nested_caller(n)
    partial_caller(n)
    generator_caller(n)
    generator_sum_caller(n)
    genexpr_caller(n)
    closed_caller(n)
    raise_caller(n)
    recursion_caller(n)
    mutual_caller(n)
    vector = init_caller(n)
    add_caller(vector)
    eq_caller(vector)
    hash_caller(vector)
    getattr_caller(vector)
    with_caller(vector)
    iter_caller(vector)
    doubled_caller(vector)
    deleted_caller(n)
    lambda_caller(n)


def slow_round(turn):
    """What is more than calls."""
    ctypes_caller(truth.vary(turn, 3, 20))
    exec_caller()
    class_caller()


EDGES = """
main all_rounds             main cyclic_caller
thread_main all_rounds      all_rounds one_round        all_rounds cyclic_caller
all_rounds slow_round
one_round plain_outer       plain_outer plain_middle    plain_middle plain_inner    plain_inner plain_leaf
one_round empty_caller      empty_caller empty
one_round sort_caller       sort_caller sort_key        sort_key sort_key_inner
one_round map_caller        map_caller map_item         map_item map_item_inner
one_round reduce_caller     reduce_caller reduce_step   reduce_step reduce_inner
one_round sub_caller        sub_caller sub_replace      sub_replace sub_replace_inner
one_round nested_caller     nested_caller nested_item   nested_item nested_max
nested_caller nested_key    nested_key nested_min
one_round partial_caller    partial_caller partial_target   partial_target partial_inner
slow_round ctypes_caller     ctypes_caller ctypes_compare    ctypes_compare ctypes_compare_inner
one_round generator_caller  generator_caller generator_outer
generator_outer generator_inner                         generator_outer generator_helper
one_round generator_sum_caller  generator_sum_caller generator_summed
generator_summed generator_summed_inner
one_round genexpr_caller    genexpr_caller <genexpr>    <genexpr> genexpr_inner
one_round closed_caller     closed_caller closed_generator  closed_generator closed_finally
one_round raise_caller      raise_caller raise_middle   raise_middle raise_inner
raise_middle raise_finally  raise_caller raise_handler
one_round recursion_caller  recursion_caller recursion  recursion recursion         recursion recursion_end
one_round mutual_caller     mutual_caller mutual_even   mutual_even mutual_odd      mutual_odd mutual_even
one_round init_caller       init_caller __init__        __init__ init_inner
one_round add_caller        add_caller __add__          __add__ add_inner
one_round eq_caller         eq_caller __eq__            __eq__ eq_inner
one_round hash_caller       hash_caller __hash__        __hash__ hash_inner
one_round getattr_caller    getattr_caller __getattr__  __getattr__ getattr_inner
one_round with_caller       with_caller __enter__       __enter__ enter_inner       with_caller with_inner
with_caller __exit__        __exit__ exit_inner
one_round iter_caller       iter_caller __iter__        __iter__ iter_inner
one_round doubled_caller    doubled_caller doubled      doubled doubled_inner
one_round deleted_caller    deleted_caller __del__      __del__ deleted_inner
cyclic_caller __init__      cyclic_caller __del__       __del__ cyclic_inner
slow_round exec_caller       exec_caller exec_compiled
slow_round class_caller      class_caller Body           Body class_inner
one_round lambda_caller     lambda_caller <lambda>      <lambda> lambda_inner
all_rounds unwalkable_round                             unwalkable_round unwalkable_spin_caller
unwalkable_round unwalkable_sort_caller                 unwalkable_sort_caller unwalkable_key
unwalkable_round unwalkable_call_caller                 unwalkable_call_caller unwalkable_callback
unwalkable_callback unwalkable_callback_inner           unwalkable_callback_inner unwalkable_callback_key
<module> main               <module> Vector             <module> Deleted            <module> Cyclic
"""


def all_rounds(end):
    turn = 0
    while truth.process_cpu_ns() < end:
        turn += 1
        one_round(turn)
        if turn % 10 == 0:
            slow_round(turn)
        if unwalkable:
            unwalkable_round(turn)
        if turn % 1000 == 0:
            cyclic_caller()
    return turn


def thread_main(end):
    all_rounds(end)


def main():
    global unwalkable
    if len(sys.argv) > 3:
        unwalkable = ctypes.CDLL(sys.argv[3])
        # ctypes looks a function up where it is first wanted.
        unwalkable.unwalkable_spin.restype = unwalkable.unwalkable_call.restype = None
    # What a collection deletes, it deletes wherever it comes.
    gc.disable()
    end = truth.process_cpu_ns() + truth.budget_ns(2000)
    threads = [threading.Thread(target=thread_main, args=(end,)) for _ in range(int((sys.argv + ["", "0"])[2] or 0))]
    for thread in threads:
        thread.start()
    truth.add("counts", "rounds", all_rounds(end))
    for thread in threads:
        thread.join()
    # While one thread collects, another's collect() does nothing, and the interpreter's end would do it.
    cyclic_caller()
    words = EDGES.split()
    for caller, callee in zip(words[::2], words[1::2]):
        may_call(caller, callee)
    may_call("run", "thread_main", caller_file="threading.py")
    may_call("exec_compiled", "<module>", MADE)
    may_call("<module>", "made_outer", MADE, MADE)
    may_call("made_outer", "made_inner", MADE, MADE)
    callers[HERE + ":<module>"] = []
    truth.show(callers=callers, to_libraries=[HERE + ":main", HERE + ":<module>", HERE + ":all_rounds",
                                              HERE + ":one_round", HERE + ":slow_round", HERE + ":unwalkable_round"])


main()
