"""known_waits - threads that wait, each for one thing (alone), that hold the GIL in turn (gil), or a Lock (lock).

usage: known_waits.py alone|gil|lock SECONDS FILE

Prints what is true, as JSON: of each thread how long it lived, ran, was runnable, and waited in which state; of
the four with the GIL and the four with the Lock, which waited for how long while which one held it, and how long
the latter slept at least, without waits for the GIL; its numbers as Python and the system have them.  FILE is made.
"""

import itertools
import json
import mmap
import os
import select
import sys
import threading
import time

KIND, SECONDS, PATH = sys.argv[1], float(sys.argv[2]), sys.argv[3]
FILE_BYTES, BLOCK_BYTES = 8 << 20, 256 << 10
lives, spans, created = {}, {}, {}
until = 0.0
lock, word = threading.Lock(), threading.Semaphore(0)
pipe_out, pipe_in = os.pipe()


def delay_ns(fd):
    return int(os.pread(fd, 96, 0).split()[1])


class Meter:
    """Time on the wall, less what the thread ran and was runnable."""

    def __init__(self):
        self.fd = os.open("/proc/thread-self/schedstat", os.O_RDONLY)

    def begin(self):
        """In one order at both ends: a read of schedstat may wait for the GIL, and for a CPU."""
        self.cpu, self.wall = time.thread_time_ns(), time.monotonic_ns()
        self.delay = delay_ns(self.fd)

    def waited(self):
        """A wait for the GIL behind it is a part."""
        cpu, wall = time.thread_time_ns() - self.cpu, time.monotonic_ns() - self.wall
        return max(0, wall - cpu - (delay_ns(self.fd) - self.delay))


def sleeps(number):
    time.sleep(0.005)


def reads_pipe(number):
    os.read(pipe_out, 1)


def waits_for_word(number):
    word.acquire()


def polls(number):
    waiter = select.poll()
    waiter.register(pipe_in, select.POLLIN)
    waiter.poll(30)


block, direct, synced = mmap.mmap(-1, BLOCK_BYTES), -1, -1


def reads_disk(number):
    os.preadv(direct, [block], number * 7 % (FILE_BYTES // BLOCK_BYTES) * BLOCK_BYTES)


def syncs(number):
    os.pwrite(synced, b"x" * 64, 0)
    os.fsync(synced)


def waits_for_child(number):
    os.waitpid(os.posix_spawn("/bin/sleep", ["sleep", "0.04"], {}), 0)


def set_name(name):
    """As the system has it: before 3.14 Python's name is known of threads only that run."""
    with open("/proc/thread-self/comm", "w") as comm:
        comm.write(name)


def live(name, state, wait):
    set_name(name)
    meter, began, number = Meter(), time.monotonic_ns(), 0
    while time.monotonic() < until:
        wait(number)
        number += 1
    book(name, state, meter, began)


def book(name, state, meter, began):
    """All that it neither ran nor was runnable is what it waited for."""
    life, ran, delayed = time.monotonic_ns() - began, time.thread_time_ns(), delay_ns(meter.fd)
    lives[name] = {"life": life, "running": ran, "runnable": delayed, state: max(0, life - ran - delayed),
                   "ids": [threading.get_ident(), threading.get_native_id()]}


def span_with_gil(numbers):
    """When one call into C, which keeps the GIL, began and ended: by itself, as the GIL can be given up around it."""
    clock = iter(time.monotonic_ns, None)
    marked = itertools.chain(itertools.islice(clock, 1), numbers, itertools.islice(clock, 1))
    return tuple(filter(len(numbers).__lt__, marked))


def holds_gil(name, number):
    """One call into C after the other, of some 8, 4, 2 and 1 ms."""
    set_name(name)
    # It may have no turn for seconds, from its beginning on.
    meter, began, mine = Meter(), created[name], []
    numbers = range(160000 >> number)
    while time.monotonic() < until:
        mine.append(span_with_gil(numbers))
        time.sleep(0)
    ends = [began, *itertools.chain(*mine), time.monotonic_ns()]
    book(name, "gil", meter, began)
    # Before its turns, between them and after the last one it wants it: that may be most of its life.
    spans[name] = (mine, list(zip(ends[::2], ends[1::2])))


def holds_lock(name, number):
    set_name(name)
    meter, began, mine, wanted = Meter(), time.monotonic_ns(), [], []
    slept = locked = least = 0
    while time.monotonic() < until:
        wanting = time.monotonic_ns()
        meter.begin()
        with lock:
            locked += meter.waited()
            from_ns = time.monotonic_ns()
            meter.begin()
            time.sleep(0.008 / (1 << number))
            slept += meter.waited()
            least += (8000000 >> number) + 1000000
            mine.append((from_ns, time.monotonic_ns()))
        wanted.append((wanting, from_ns))
        meter.begin()
        time.sleep(0.001)
        slept += meter.waited()
    book(name, "sleep", meter, began)
    lives[name].update(sleep=slept, lock=locked, least={"sleep": least})
    spans[name] = (mine, wanted)


def feed():
    while time.monotonic() < until:
        time.sleep(0.021)
        os.write(pipe_in, b"x")
        word.release()
    # The reader and the waiter may be in their last waits.
    os.write(pipe_in, b"x")
    word.release()


def together(functions, meanwhile=None):
    global until
    until = time.monotonic() + SECONDS
    threads = [threading.Thread(target=function, name=arguments[0], args=arguments)
               for function, *arguments in functions]
    for thread in threads:
        created[thread.name] = time.monotonic_ns()
        thread.start()
    if meanwhile:
        meanwhile()
    for thread in threads:
        thread.join()


def common(waits, holds):
    both = first = 0
    for begin, end in waits:
        while first < len(holds) and holds[first][1] <= begin:
            first += 1
        for hold in holds[first:]:
            if hold[0] >= end:
                break
            both += max(0, min(end, hold[1]) - max(begin, hold[0]))
    return both


def main():
    global direct, synced
    synced = os.open(PATH, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
    os.write(synced, bytes(FILE_BYTES))
    os.fsync(synced)
    try:
        direct = os.open(PATH, os.O_RDONLY | os.O_DIRECT)
        os.preadv(direct, [block], 0)
    except OSError as error:
        print(json.dumps({"refused": f"no file can be read past the page cache there: {error}"}))
        return
    if KIND == "alone":
        together([(live, "sleep", "sleep", sleeps), (live, "pipe", "io", reads_pipe),
                  (live, "futex", "lock", waits_for_word), (live, "poll", "io", polls),
                  (live, "disk", "io", reads_disk), (live, "fsync", "io", syncs),
                  (live, "child", "wait", waits_for_child)], feed)
    elif KIND == "gil":
        together([(holds_gil, f"gil-{i}", i) for i in range(4)])
    else:
        together([(holds_lock, f"lock-{i}", i) for i in range(4)])
    pairs = {one: {other: common(spans[one][1], spans[other][0]) for other in spans if other != one}
             for one in spans}
    print(json.dumps({"interrupted": 0, "threads": lives, "pairs": pairs}))


main()
