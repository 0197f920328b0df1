"""Threads that print what their own CPU clocks showed while they called: own_clocks.py HOW

Prints {"threads": [[tid, seconds], ...]} as the last line.
"""

import ctypes
import json
import os
import signal
import sys
import threading
import time

SECONDS = 0.3
clocks = []
paused = []


def leaf(number):
    return number & 3


def calls(seconds):
    """So much of the thread's own time, in calls."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        for number in range(200):
            leaf(number)


def timed(work):
    begin = time.thread_time()
    work()
    clocks.append([threading.get_native_id(), time.thread_time() - begin - sum(paused)])


def in_threads(work, count):
    threads = [threading.Thread(target=timed, args=(work,)) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def plain():
    calls(SECONDS)


def sleeps():
    for _ in range(60):
        calls(SECONDS / 60)
        time.sleep(0.005)


def naps():
    """Each shorter than what a reading of the clock is good for."""
    for _ in range(300):
        calls(SECONDS / 300)
        time.sleep(0.0003)


def reads():
    """Blocked in a system call, which the other end's thread ends."""
    reader, writer = os.pipe()

    def feed():
        for _ in range(50):
            time.sleep(0.004)
            os.write(writer, b"x")
    feeder = threading.Thread(target=feed)
    feeder.start()
    for _ in range(50):
        os.read(reader, 1)
        calls(SECONDS / 50)
    feeder.join()


def preempted():
    """Beside a process that wants the same processor all the time."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    child = os.fork()
    if child == 0:
        end = time.process_time() + 60
        while time.process_time() < end:
            pass
        os._exit(0)
    try:
        calls(SECONDS)
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def moved():
    """From one processor to the next, again and again."""
    processors = sorted(os.sched_getaffinity(0))
    for number in range(60):
        os.sched_setaffinity(0, {processors[number % len(processors)]})
        calls(SECONDS / 60)


def pauses():
    """As long again while it is not traced: that is taken off what the thread says."""
    import fathom
    calls(SECONDS)
    fathom.pause()
    begin = time.thread_time()
    calls(SECONDS)
    paused.append(time.thread_time() - begin)
    fathom.resume()
    calls(SECONDS)


class Rseq(ctypes.Structure):
    _fields_ = [("cpu_id_start", ctypes.c_uint32), ("cpu_id", ctypes.c_int32), ("critical", ctypes.c_uint64)]


class Piece(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint32), ("flags", ctypes.c_uint32), ("start", ctypes.c_uint64),
                ("length", ctypes.c_uint64), ("abort", ctypes.c_uint64)]


# The signature of x86-64, and code that is none.
BYTES = (ctypes.c_uint32 * 4)(0x53053053, 0, 0, 0)
# A descriptor is aligned to 32 bytes.
ROOM = (ctypes.c_char * 128)()


def critical_word():
    """Where this thread's restartable sequence is named, and a name for one."""
    c_library = ctypes.CDLL(None)
    offset = ctypes.c_ssize_t.in_dll(c_library, "__rseq_offset").value
    c_library.pthread_self.restype = ctypes.c_uint64
    rseq = Rseq.from_address(c_library.pthread_self() + offset)
    piece = Piece.from_address((ctypes.addressof(ROOM) + 31) // 32 * 32)
    piece.start, piece.length, piece.abort = (
        ctypes.addressof(BYTES) + 12, 1, ctypes.addressof(BYTES) + 4)
    return rseq, ctypes.addressof(piece)


def uses_rseq():
    """As a program's own restartable sequences do: the word is left set behind them."""
    rseq, mine = critical_word()
    seen = 0
    for _ in range(100):
        rseq.critical = mine
        calls(SECONDS / 100)
        if rseq.critical not in (0, mine):
            seen += 1
    if seen:
        raise SystemExit("another's sequence stands in place of ours")


def main():
    how = sys.argv[1]
    if how == "signals":
        # In the main thread, where Python runs handlers: it is not timed.
        handled = []
        signal.signal(signal.SIGPROF, lambda number, frame: handled.append(leaf(number)))
        signal.setitimer(signal.ITIMER_PROF, 0.001, 0.001)
        in_threads(plain, 2)
        calls(SECONDS)
        signal.setitimer(signal.ITIMER_PROF, 0)
    elif how == "many":
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        in_threads(lambda: calls(0.1), 12)
    elif how == "fork":
        calls(0.05)
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            in_threads(plain, 1)
            os.write(writer, json.dumps(clocks).encode())
            sys.exit(0)
        in_threads(plain, 1)
        os.waitpid(child, 0)
        clocks.extend(json.loads(os.read(reader, 65536)))
    else:
        in_threads({"plain": plain, "sleeps": sleeps, "naps": naps, "reads": reads, "preempted": preempted, "moved": moved,
                    "uses_rseq": uses_rseq, "pauses": pauses}[how], 1)
    print(json.dumps({"threads": clocks}))


main()
