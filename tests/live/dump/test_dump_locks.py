"""Deadlocks in Python, Ruby and C++: which thread holds what others wait for, and where."""

import os

import live
import live_dump
import live_python
import live_ruby
from live_dump import is_resting, names

PYTHON = """\
import sys, threading, time
make = getattr(threading, sys.argv[1])
first, second, held, taken = make(), make(), make(), threading.Lock()
taken.acquire()
ready = [threading.Event() for _ in range(6)]
class Account:
    def __init__(self, lock):
        self.lock = lock
def move(account, other, mine, others):
    for _ in range(1):
        with account.lock:  # line 11
            with open("/dev/null"):
                pass
            ready[mine].set()
            ready[others].wait()
            try:
                other.lock.acquire()
            except ValueError:
                pass
def deposit(lock, other, mine, others):
    with threading.Lock(), lock:  # line 21
        ready[mine].set()
        ready[others].wait()
        with other:
            pass
def rests():
    with held:  # line 27
        ready[2].set()
        time.sleep(1000)
def wants_held():
    ready[2].wait()
    with held:
        pass
def wants_taken():
    taken.acquire()
condition = threading.Condition(threading.Lock())
def gives_away():
    with condition:
        condition.wait()
def wants_own():
    lock = threading.Lock()
    with lock:  # line 42
        lock.acquire()
def joins():
    threads[0].join()
busy = threading.Condition(threading.Lock())
def has_condition():
    with busy:  # line 48
        ready[3].set()
        threading.Event().wait()
def wants_condition():
    ready[3].wait()
    with busy:
        pass
tried = make()
def has_tried():
    tried.acquire()  # line 57
    try:
        ready[4].set()
        threading.Event().wait()
    finally:
        tried.release()
def wants_tried():
    ready[4].wait()
    tried.acquire()
timed = threading.Lock()
def holds_timed():
    with timed:  # line 68
        ready[5].set()
        threading.Event().wait()
def tries_timed():
    ready[5].wait()
    try:
        timed.acquire(timeout=1000)
    finally:
        timed.release()
def has_not_timed():
    ready[5].wait()
    acquired = timed.acquire(False)
    try:
        threading.Event().wait()
    finally:
        if acquired:
            timed.release()
def start(function, *arguments):
    thread = threading.Thread(target=function, args=arguments)
    thread.daemon = True
    thread.start()
    return thread
one, two = Account(first), Account(second)
threads = [start(move, one, two, 0, 1), start(deposit, second, first, 1, 0)]
for function in [rests, wants_held, wants_taken, gives_away, wants_own, joins, has_condition, wants_condition,
                 has_tried, wants_tried, holds_timed, tries_timed, has_not_timed]:
    start(function)
print("ready")
sys.stdout.flush()
sys.stdin.read()
"""
HELD_AT = {"move": ("deposit", 21), "deposit": ("move", 11), "wants_held": ("rests", 27), "wants_own": ("wants_own", 42),
           "wants_condition": ("has_condition", 48), "wants_tried": ("has_tried", 57),
           "tries_timed": ("holds_timed", 68)}
OTHERS = ["rests", "wants_taken", "gives_away", "joins", "has_condition", "has_tried", "holds_timed", "has_not_timed"]

# A lock that the outermost of many frames has, each of which has calls for another lock, last of a module's names.
DEEP = """\
import sys, threading
for i in range(3000):
    globals()[f"name_{i}"] = i
sys.setrecursionlimit(2000)
threading.stack_size(64 << 20)
far, near = threading.Lock(), threading.Lock()
is_deep = threading.Event()
def descends(depth):
    if depth > 0:
        descends(depth - 1)
    else:
        is_deep.set()
        threading.Event().wait()
    near.acquire()
    near.release()
def holds_far():
    far.acquire()  # line 17
    descends(int(sys.argv[1]))
    far.release()
def wants_far():
    is_deep.wait()
    far.acquire()
for function in (holds_far, wants_far):
    threading.Thread(target=function, daemon=True).start()
print("ready")
sys.stdout.flush()
sys.stdin.read()
"""

RUBY = """\
require "monitor"
first, second, ready, other = Mutex.new, Monitor.new, Queue.new, Queue.new
def forth(first, second, ready, others)
  first.synchronize { ready << 1; others.pop; second.enter }
end
def back(first, second, ready, others)
  second.synchronize { ready << 1; others.pop; first.lock }
end
Thread.new { forth(first, second, ready, other) }
Thread.new { back(first, second, other, ready) }
puts "ready"
STDOUT.flush
STDIN.read
"""


class LocksTest(live_dump.DumpTest):
    def by_function(self, dump, functions):
        return {name: thread for name in functions for thread in dump["threads"]
                if any(found.rpartition(".")[2].rpartition("#")[2] == name for found in names(thread))}

    def assert_circle(self, dump, threads):
        """The threads' circle is one of those that are named, each of them once."""
        tids = [thread["tid"] for thread in threads]
        circle = next(circle for circle in dump["deadlocks"] if set(circle) == set(tids))
        self.assertEqual((circle[0], len(circle)), (min(tids), len(tids)))
        owners = {thread["tid"]: (thread["wait_owner"], thread["lock_owner"]) for thread in threads}
        for tid, following in zip(circle, circle[1:] + circle[:1]):
            self.assertEqual(owners[tid], (following, following))


class Python(live_python.PythonTest, LocksTest):
    def dump_of(self, python, kind):
        self.program = self.write("locks.py", PYTHON)
        self.run_ = self.start([*python.command(self.program), kind])
        return self.dump_until(self.run_.pid, lambda dump: is_resting(dump) and len(dump["deadlocks"]) == 2 and all(
            thread["wait_state"] != "gil" for thread in dump["threads"]) and len(
                self.by_function(dump, [*HELD_AT, *OTHERS])) == len(HELD_AT) + len(OTHERS),
            "its threads do not come to rest")

    def assert_locks(self, python, kind, word):
        dump = self.dump_of(python, kind)
        threads = self.by_function(dump, [*HELD_AT, *OTHERS])
        self.assert_circle(dump, [threads["move"], threads["deposit"]])
        self.assert_circle(dump, [threads["wants_own"]])
        self.assertEqual(threads["wants_held"]["wait_owner"], threads["rests"]["tid"])
        for name in ("move", "deposit", "wants_held"):
            self.assertEqual(threads[name]["waits_for"], word)
        for name, (holder, line) in HELD_AT.items():
            self.assertEqual(threads[name]["held_at"], {"name": holder, "file": self.program, "line": line})
        # A condition's waiter has given the lock away; what is held around the wait for an event is held.
        for name, waits_for, owner in (("wants_taken", "python_lock", None), ("gives_away", None, None),
                                       ("has_condition", None, None),
                                       ("wants_condition", "python_lock", threads["has_condition"]["tid"]),
                                       ("wants_tried", word, threads["has_tried"]["tid"])):
            self.assertEqual((threads[name]["waits_for"], threads[name]["wait_owner"]), (waits_for, owner))
        # One that still waits within its `try` block, and one that releases only what it has acquired, hold nothing.
        self.assertEqual(threads["tries_timed"]["wait_owner"], threads["holds_timed"]["tid"])
        self.assertEqual((threads["joins"]["waits_for"], threads["joins"]["wait_owner"], threads["joins"]["wait_state"]),
                         ("thread", threads["move"]["tid"], "wait"))
        return threads

    def assert_of_lock(self, python):
        threads = self.assert_locks(python, "Lock", "python_lock")
        text = self.dump_run(self.run_.pid).stdout.decode()
        circle = sorted([threads["move"], threads["deposit"]], key=lambda thread: thread["tid"])
        self.assertRegex(text, "".join(
            rf"(deadlock:|\n         ) thread {thread['tid']} waits for the Lock at {thread['lock']}, which thread "
            rf"{thread['wait_owner']} holds, in `with` at {self.program}:{thread['held_at']['line']}" for thread in circle))
        self.assertIn("for a Lock, whose owner CPython does not record", text)
        self.assertIn(f"for a Lock that thread {threads['has_tried']['tid']} holds, by acquire() at {self.program}:57", text)
        self.assertIn(f"for a Lock that it holds itself, in `with` at {self.program}:42", text)

    def test_threads_in_a_with_hold_its_lock_and_others_are_not_known(self):
        self.on_each_python(self.assert_of_lock, oldest=(3, 6), in_ci=live_python.EACH_LAYOUT)

    def held_across(self, depth):
        run = self.start(self.any_python(self.write("deep.py", DEEP), str(depth)))
        dump = self.dump_until(run.pid, lambda dump: is_resting(dump) and len(
            self.by_function(dump, ["holds_far", "wants_far"])) == 2 and self.by_function(
                dump, ["wants_far"])["wants_far"]["waits_for"] == "python_lock", "its threads do not come to rest")
        held_at = self.by_function(dump, ["wants_far"])["wants_far"]["held_at"]
        return held_at and (held_at["name"], held_at["line"])

    def test_what_is_read_of_a_stack_for_its_locks_is_bounded(self):
        self.assertEqual(self.held_across(40), ("holds_far", 17))
        self.assertIsNone(self.held_across(900))

    def assert_of_rlock(self, python):
        self.assert_locks(python, "RLock", "python_rlock")

    def test_an_rlock_says_which_thread_holds_it(self):
        self.on_each_python(self.assert_of_rlock, oldest=(3, 6), in_ci=live_python.EACH_LAYOUT)


class Ruby(live_ruby.RubyTest, LocksTest):
    def assert_ruby(self, ruby):
        run = self.start(ruby.command(self.write("locks.rb", RUBY)))
        dump = self.dump_until(run.pid, lambda dump: len(dump["deadlocks"]) == 1, "its deadlock is not seen")
        threads = self.by_function(dump, ["forth", "back"])
        self.assert_circle(dump, list(threads.values()))
        text = self.dump_run(run.pid).stdout.decode()
        self.assertRegex(text, rf"thread {threads['forth']['tid']} waits for the Mutex at {threads['forth']['lock']}, "
                               rf"which thread {threads['back']['tid']} holds")

    def test_a_mutex_and_a_monitor_in_a_circle(self):
        self.on_each_ruby(self.assert_ruby, in_ci=live_ruby.EACH_WAY)


class Native(LocksTest):
    WAITING = {"wants_to_read": "rwlock", "wants_to_write": "rwlock", "wants_to_write_what_is_read": "rwlock",
               "first_then_second": "mutex", "second_then_first": "mutex"}

    def test_mutexes_and_read_write_locks_of_cplusplus(self):
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "programs", "locks.cpp")
        program = self.compile("locks", source, "-std=c++20", compiler="g++")
        run = self.start([program])
        functions = [*self.WAITING, "writes", "reads"]

        def find(dump):
            return {name: thread for name in functions for thread in dump["threads"] if f"{name}()" in names(thread)}
        dump = self.dump_until(run.pid, lambda dump: is_resting(dump) and len(dump["deadlocks"]) == 1 and all(
            find(dump).get(name, {"waits_for": 0})["waits_for"] == kind for name, kind in self.WAITING.items()),
            "its threads do not come to rest")
        threads = find(dump)
        self.assert_circle(dump, [threads["first_then_second"], threads["second_then_first"]])
        for name in ("wants_to_read", "wants_to_write"):
            self.assertEqual((threads[name]["wait_owner"], threads[name]["lock_readers"]), (threads["writes"]["tid"], None))
        read = threads["wants_to_write_what_is_read"]
        self.assertEqual((read["wait_owner"], read["lock_readers"]), (None, 2))
        text = self.dump_run(run.pid).stdout.decode()
        self.assertIn(f"for a read-write lock that thread {threads['writes']['tid']} holds for writing", text)
        self.assertIn("for a read-write lock that 2 threads hold for reading", text)


if __name__ == "__main__":
    live.main()
