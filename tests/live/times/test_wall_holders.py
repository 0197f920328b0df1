"""Which thread held what others waited for, on the wall clock, where only frames say so, or another process has it."""

import live
import live_dump
import live_python
import live_wall

# Three threads hold each lock in turn as they sleep.  The last is released by another function than acquires it, so
# that no frame shows which thread has it.
PROGRAM = """\
import json, sys, threading, time
until = time.monotonic() + float(sys.argv[1])
lock, recursive, taken = threading.Lock(), threading.RLock(), threading.Lock()
condition, apart, inside = threading.Condition(threading.Lock()), threading.Lock(), threading.Lock()
class Store:
    of_class = threading.Lock()
    def __init__(self):
        self.lock = threading.Lock()
store = Store()
def naps():
    time.sleep(0.015)
def of_lock():
    while time.monotonic() < until:
        with lock:  # lock
            naps()
        time.sleep(0.002)
def of_rlock():
    while time.monotonic() < until:
        with recursive:  # rlock
            naps()
        time.sleep(0.002)
def of_condition():
    while time.monotonic() < until:
        with condition:  # condition
            naps()
        time.sleep(0.002)
def of_taken():
    while time.monotonic() < until:
        taken.acquire()  # taken
        naps()
        taken.release()
        time.sleep(0.002)
def of_tried():
    while time.monotonic() < until:
        store.lock.acquire()  # tried
        try:
            naps()
        finally:
            store.lock.release()
        time.sleep(0.002)
def of_timed(self=store):
    while time.monotonic() < until:
        if not self.of_class.acquire(timeout=5):  # timed
            continue
        try:
            naps()
        finally:
            self.of_class.release()
        time.sleep(0.002)
def shares():
    shared = threading.Lock()
    def of_shared():
        while time.monotonic() < until:
            shared.acquire()  # shared
            naps()
            shared.release()
            time.sleep(0.002)
    return of_shared
def inside_try():
    while time.monotonic() < until:
        try:
            inside.acquire(timeout=5)
            naps()
        finally:
            inside.release()
        time.sleep(0.002)
def enters():
    apart.acquire()
def leaves():
    apart.release()
def takes():
    while time.monotonic() < until:
        enters()
        naps()
        leaves()
        time.sleep(0.002)
threads = [threading.Thread(target=target, name=f"{target.__name__}-{i}")
           for target in (of_lock, of_rlock, of_condition, of_taken, of_tried, of_timed, shares(), takes,
                          inside_try)
           for i in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(json.dumps({}))
"""
# Of a lock's waits, what is booked on a holder that naps.  While it is passed on no thread has it, and where much
# else runs that takes long.
LEAST = 0.7
KINDS = {"of_lock": "Lock", "of_rlock": "RLock", "of_condition": "Lock of Condition", "of_taken": "Lock",
         "of_tried": "Lock", "of_timed": "Lock", "of_shared": "Lock"}

# Six threads that hold a lock in turn, as they work and as they nap, in waits that end sooner than a tick: how much
# of the whole time each was, by their own clocks, waits for a CPU and for the GIL with them.
POOL = """\
import json, sys, threading, time
until = time.monotonic() + float(sys.argv[1])
lock = threading.Lock()
took = {"works": 0, "naps": 0}
def works():
    end = time.thread_time() + 0.0003
    while time.thread_time() < end:
        pass
def naps():
    time.sleep(0.0015)
def holds(function):
    begin = time.monotonic()
    function()
    took[function.__name__] += time.monotonic() - begin
def task():
    while time.monotonic() < until:
        with lock:
            holds(works)
            holds(naps)
threads = [threading.Thread(target=task) for i in range(6)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(json.dumps(took))
"""


# Four threads that nap with a lock, longer than a tick.
NAPPING = """\
import threading, time
lock = threading.Lock()
def naps():
    time.sleep(0.03)
def task():
    for i in range(10):
        with lock:
            naps()
        time.sleep(0.001)
threads = [threading.Thread(target=task) for i in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("{}")
"""


def stacks(row, side):
    return [frame["name"].rpartition(".")[2] for frame in row[side]["stack"]]


class Holders(live_wall.WallTest, live_python.PythonTest):

    def assert_holders(self, python):
        seconds = 8 if live.IS_LONG else 2
        program = self.write("holders.py", PROGRAM)
        recording = self.record_python(python, program, str(seconds), options=("--clock", "wall"), rate=100)
        report = recording.report("--blame")
        names = {row["name"] for row in recording.report("--by", "thread")["threads"]}
        for function, kind in KINDS.items():
            # Names of Python's, of each thread that was read.
            self.assertLessEqual({f"{function}-{i}" for i in range(3)}, names)
            held = [row for row in report["blame"] if function in stacks(row, "waiter")]
            unowned = [row for row in report["blame_unowned"] if row["state"] == "lock"
                       and function in stacks(row, "waiter")]
            waited = sum(row["ns"] for row in held + unowned if row["state"] == "lock")
            self.assertGreater(waited, 1e9 * seconds, function)
            napping = sum(row["ns"] for row in held if {"naps", function} <= set(stacks(row, "holder")))
            self.assertGreater(napping, LEAST * waited, (function, napping, waited))
            # Nothing else has it.
            for row in held:
                if row["state"] == "lock":
                    self.assertIn(function, row["holder"]["thread"])
                    self.assertNotEqual(row["holder"]["thread"], row["waiter"]["thread"])
            self.assert_named(recording, function, kind)
        # What no function both takes and releases has no holder, and no other is made up; nor where acquire() is
        # inside of the `try` block and may have failed: threads that still wait there do not have it.
        self.assertEqual([row for row in report["blame"] if row["state"] == "lock" and "takes" in stacks(row, "waiter")
                          and row["holder"]["thread"].startswith("of_")], [])
        for function in ("takes", "inside_try"):
            unowned, held = (sum(row["ns"] for row in report[table] if row["state"] == "lock"
                                 and function in stacks(row, "waiter")) for table in ("blame_unowned", "blame"))
            self.assertGreater(unowned, 0.5e9 * seconds, function)
            self.assertGreater(unowned, LEAST * (unowned + held), function)

    def assert_named(self, recording, function, kind):
        line = next(number for number, text in enumerate(PROGRAM.splitlines(), 1)
                    if text.endswith(f"# {function[3:]}"))
        calls = {row["name"] for row in recording.report("--state", "lock")["functions"] if row["self_ns"]}
        self.assertIn(f"futex({kind} at holders.py:{line})", calls)

    def test_each_version(self):
        self.on_each_python(self.assert_holders, oldest=(3, 8))

    def test_without_perf_events_a_lock_is_held_where_its_holder_naps(self):
        program = self.write("pool.py", NAPPING)
        recording = self.record(self.any_python(program), "--clock", "wall", rate=100,
                                launcher=live.workload("without_perf"))
        held = [row for row in recording.report("--blame")["blame"] if row["state"] == "lock"]
        waited = sum(row["self_ns"] for row in recording.report("--state", "lock")["functions"])
        self.assertGreater(waited, 2e9)
        # The first look at a wait may come late.
        self.assertGreater(sum(row["ns"] for row in held), LEAST * waited)
        self.assertGreater(sum(row["ns"] for row in held if "naps" in stacks(row, "holder")),
                           0.9 * sum(row["ns"] for row in held))

    def test_what_a_holder_did_has_its_share(self):
        """Also of a holder that rests since after the tick before, and of one that was woken and has no CPU yet."""
        seconds = 8 if live.IS_LONG else 3
        program = self.write("pool.py", POOL)
        recording = self.record(self.any_python(program, str(seconds)), "--clock", "wall", rate=400)
        took = recording.truth
        held = {"works": 0, "naps": 0}
        for row in recording.report("--blame")["blame"]:
            for function in held:
                if row["state"] == "lock" and function in stacks(row, "holder"):
                    held[function] += row["ns"]
        share = held["naps"] / sum(held.values())
        truth = took["naps"] / sum(took.values())
        # Five waiters are looked at together: a tick counts once.  And of how it is passed on, 3 % of the time, a
        # part is booked on what its new holder begins with.
        # A holder that was woken has the frame of all waits for a CPU: with another one of that name these had no row.
        self.assertEqual(recording.rows("SELECT DISTINCT language FROM codes WHERE name = '[waits for a CPU]'"), [(4,)])
        self.assertAlmostEqual(share, truth, delta=0.05 + 3 * (truth * (1 - truth) / (400 * seconds)) ** 0.5)


# A child has what its parent wants.
SHARED = """\
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
static void naps(void) { usleep(400000); }
int main(void)
{
	pthread_mutex_t *mutex = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_mutexattr_t attributes;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(mutex, &attributes);
	if (fork() == 0) {
		pthread_mutex_lock(mutex);
		naps();
		pthread_mutex_unlock(mutex);
		_exit(0);
	}
	usleep(100000);
	pthread_mutex_lock(mutex);
	wait(NULL);
	return 0;
}
"""


class Shared(live_dump.DumpTest):
    compares_times = True

    def test_a_lock_of_two_processes_is_held_by_the_other(self):
        program = self.compile("shared", self.write("shared.c", SHARED))
        recording = self.record([program], "--clock", "wall", rate=100)
        rows = [row for row in recording.report("--blame")["blame"] if row["state"] == "lock"]
        self.assertGreater(sum(row["ns"] for row in rows if "naps" in stacks(row, "holder")), 0.2e9, rows)


if __name__ == "__main__":
    live.main()
