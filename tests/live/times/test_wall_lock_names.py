"""What threads wait for is called as their program calls it: locks, queues and conditions of Python, Ruby and C."""

import os

import live
import live_dump
import live_python
import live_ruby

PYTHON = """\
import concurrent.futures, queue, sys, threading, time
empty, full, simple = queue.Queue(), queue.Queue(maxsize=1), queue.SimpleQueue()
full.put(1)
lock, recursive, semaphore = threading.Lock(), threading.RLock(), threading.Semaphore(0)
condition, event, barrier = threading.Condition(), threading.Event(), threading.Barrier(2)
future = concurrent.futures.Future()
lock.acquire()
recursive.acquire()
def lock_():
    with lock: pass  # Lock
def recursive_():
    with recursive: pass  # RLock
def gets():
    empty.get()  # Queue.get
def puts():
    full.put(2)  # Queue.put
def simply_gets():
    simple.get()  # SimpleQueue.get
def acquires():
    semaphore.acquire()  # Semaphore.acquire
def is_notified():
    with condition:
        condition.wait()  # Condition.wait
def is_set():
    event.wait()  # Event.wait
def meets():
    try:
        barrier.wait()  # Barrier.wait
    except threading.BrokenBarrierError:
        pass
def has_result():
    future.result()  # Future.result
threads = [threading.Thread(target=target) for target in (lock_, recursive_, gets, puts, simply_gets, acquires,
                                                          is_notified, is_set, meets, has_result)]
for thread in threads:
    thread.start()
time.sleep(1)
lock.release()
recursive.release()
empty.put(1)
full.get()
simple.put(1)
semaphore.release()
with condition:
    condition.notify()
event.set()
barrier.abort()
future.set_result(1)
for thread in threads:
    thread.join()
print("{}")
"""

# gevent's threads for blocking calls wait with a condition of gevent's own.
GEVENT = """\
import threading
class Condition:
    def wait(self, lock):
        lock.acquire()
        acquire_with_timeout(lock)
class Queue:
    def get(self):
        Condition().wait(threading.Lock())
def acquire_with_timeout(lock):
    return lock.acquire(True, 1)
"""
POOL = """\
from gevent import _threading
def works():
    _threading.Queue().get()  # Queue.get
works()
print("{}")
"""

# Two threads that wait for a server's answer: one of them waits for Ruby's own eventfd as well (up to 3.2).
RUBY_SOCKETS = """\
require "io/wait"
require "json"
require "socket"
server = TCPServer.new("127.0.0.1", 0)
port = server.addr[1]
clients = 2.times.map { TCPSocket.new("127.0.0.1", port) }
thread = Thread.new { clients[0].wait_readable(1) }
clients[1].wait_readable(1)
thread.join
puts JSON.generate({ port: port })
"""

RUBY = """\
require "monitor"
mutex, monitor, queue, sized, other = Mutex.new, Monitor.new, Queue.new, SizedQueue.new(1), Mutex.new
condition = ConditionVariable.new
sized << 1
mutex.lock
monitor.enter
threads = [
  -> { mutex.synchronize { } }, # Mutex
  -> { mutex.lock; mutex.unlock }, # Mutex
  -> { monitor.synchronize { } }, # Monitor
  -> { queue.pop }, # Queue#pop
  -> { sized.push(2) }, # SizedQueue#push
  -> { other.synchronize { condition.wait(other) } }, # ConditionVariable#wait
].map { |body| Thread.new { body.call } }
sleep 1
mutex.unlock
monitor.exit
queue << 1
sized.pop
other.synchronize { condition.signal }
threads.each(&:join)
puts "{}"
"""

# Two threads keep the GVL while others begin and end, whose native threads wait for the next.
BRIEF_RUBY = """\
def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
stop = now + 1
busy = 2.times.map { Thread.new { nil while now < stop } }
while now < stop
  8.times.map { Thread.new { 1 + 1 } }.each(&:join)
  sleep 0.01
end
busy.each(&:join)
puts "{}"
"""

C = """\
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static pthread_mutex_t stats_lock = PTHREAD_MUTEX_INITIALIZER, locks[4], own = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static sem_t word;
static pthread_mutex_t *made;
static pthread_cond_t *made_ready;
static void *of_stats(void *unused) { pthread_mutex_lock(&stats_lock); pthread_mutex_unlock(&stats_lock); return unused; }
static void *of_locks(void *unused) { pthread_mutex_lock(&locks[2]); pthread_mutex_unlock(&locks[2]); return unused; }
static void *of_word(void *unused) { sem_wait(&word); return unused; }
static void *of_ready(void *unused)
{
	pthread_mutex_lock(&own);
	pthread_cond_wait(&ready, &own);
	pthread_mutex_unlock(&own);
	return unused;
}
static void *of_made(void *unused)
{
	pthread_mutex_lock(made); /* mutex */
	pthread_mutex_unlock(made);
	return unused;
}
static void *of_made_ready(void *unused)
{
	pthread_mutex_lock(&own);
	pthread_cond_wait(made_ready, &own); /* condition */
	pthread_mutex_unlock(&own);
	return unused;
}
int main(void)
{
	void *(*const bodies[])(void *) = { of_stats, of_locks, of_word, of_ready, of_made, of_made_ready };
	pthread_t threads[6];
	made = malloc(sizeof *made);
	made_ready = malloc(sizeof *made_ready);
	pthread_mutex_init(made, NULL);
	pthread_cond_init(made_ready, NULL);
	for (int i = 0; i < 4; i++)
		pthread_mutex_init(&locks[i], NULL);
	sem_init(&word, 0, 0);
	pthread_mutex_lock(&stats_lock);
	pthread_mutex_lock(&locks[2]);
	pthread_mutex_lock(made);
	for (int i = 0; i < 6; i++)
		pthread_create(&threads[i], NULL, bodies[i], NULL);
	sleep(1);
	pthread_mutex_unlock(&stats_lock);
	pthread_mutex_unlock(&locks[2]);
	pthread_mutex_unlock(made);
	sem_post(&word);
	pthread_mutex_lock(&own);
	pthread_cond_signal(&ready);
	pthread_cond_signal(made_ready);
	pthread_mutex_unlock(&own);
	for (int i = 0; i < 6; i++)
		pthread_join(threads[i], NULL);
	puts("{}");
	return 0;
}
"""


BEGINS = """\
import threading, time
def wait_for_all():
    all_there.wait(1)
for _ in range(3):
    all_there, threads = threading.Event(), []
    for _ in range(120):
        threads.append(threading.Thread(target=wait_for_all))
        threads[-1].start()
        time.sleep(0.0007)
    for thread in threads:
        thread.join()
"""


class Names(live.LiveTest):

    def assert_called(self, recording, source, file, mark):
        """Each line that ends with a comment waits for what that says."""
        calls = {row["name"].split("(", 1)[-1][:-1]: row["self_ns"]
                 for row in recording.report("--state", "lock")["functions"] if row["self_ns"]}
        for number, text in enumerate(source.splitlines(), 1):
            what = text.partition(mark)[2].replace(" */", "").strip()
            if what:
                # It waits for a second; where much else runs it comes late to that.
                self.assertGreater(calls.get(f"{what} at {file}:{number}", 0), 0.3e9, (what, number, calls))
        return calls


class Python(Names, live_python.PythonTest):

    def assert_python(self, python):
        recording = self.record_python(python, self.write("waits.py", PYTHON), options=("--clock", "wall"), rate=100)
        self.assert_called(recording, PYTHON, "waits.py", "  # ")

    def test_each_version(self):
        self.on_each_python(self.assert_python, oldest=(3, 8))

    def test_threads_that_begin_have_their_functions(self):
        """One that waits for long may be read once alone: in the tick in which it began."""
        recording = self.record(self.any_python(self.write("begins.py", BEGINS)), "--clock", "wall", rate=100)
        waits = [frames for frames, ns in recording.folded() if ns > 0.5e9 and any("futex" in frame for frame in frames)]
        self.assertNotEqual(waits, [])
        for frames in waits:
            self.assertTrue({"wait_for_all", "<module>"} & {frame.split(" ")[0] for frame in frames}, frames)

    def test_gevents_pool_waits_for_work(self):
        os.mkdir(self.path("gevent"))
        self.write("gevent/__init__.py", "")
        self.write("gevent/_threading.py", GEVENT)
        recording = self.record(self.any_python(self.write("pool.py", POOL)), "--clock", "wall", rate=100)
        self.assert_called(recording, POOL, "pool.py", "  # ")


class Ruby(Names, live_ruby.RubyTest):

    def assert_ruby(self, ruby):
        recording = self.record_ruby(ruby, self.write("waits.rb", RUBY), options=("--clock", "wall"), rate=100)
        self.assert_called(recording, RUBY, "waits.rb", " # ")

    def test_each_version(self):
        self.on_each_ruby(self.assert_ruby)

    def assert_brief(self, ruby):
        """A thread that waits for its first turn has no frame and no context of its own yet."""
        recording = self.record_ruby(ruby, self.write("brief.rb", BRIEF_RUBY), options=("--clock", "wall"), rate=100)
        states = recording.report()["states_ns"]
        self.assertGreater(states.get("gvl", 0), 0.1 * recording.total_ns(), states)
        self.assertLess(states.get("lock", 0), 0.05 * recording.total_ns(), states)

    def test_threads_before_and_after_their_turn_wait_for_no_lock(self):
        self.on_each_ruby(self.assert_brief, oldest=(3, 0))

    def assert_sockets(self, ruby):
        program = self.write("sockets.rb", RUBY_SOCKETS)
        recording = self.record_ruby(ruby, program, options=("--clock", "wall"), rate=100)
        waits = {row["name"]: row["self_ns"] for row in recording.report("--state", "io")["functions"]
                 if row["self_ns"]}
        self.assertGreater(waits.get(f"ppoll(127.0.0.1:{recording.truth['port']})", 0), 1.2e9, waits)

    def test_a_socket_is_waited_for_alone(self):
        self.on_each_ruby(self.assert_sockets)


# Sleeps without a method that is called so, and waits for a child without one at all.
RUBY_WAITS = """\
child = spawn("sleep", "0.6")
waiter = Process.detach(child)
waiter.name = "waiter"
Thread.new { 6.times { IO.select(nil, nil, nil, 0.1) } }.tap { |one| one.name = "sleeper" }.join
waiter.join
"""
# Brief threads that only sleep.
RUBY_BRIEF = """\
require "json"
asleep, lock = 0, Mutex.new
40.times do
  20.times.map do
    Thread.new do
      before = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
      sleep 0.03
      after = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
      lock.synchronize { asleep += after - before }
    end
  end.each(&:join)
end
puts JSON.dump({ asleep: asleep })
"""


class RubySleeps(Names, live_ruby.RubyTest):

    def assert_waits(self, ruby):
        recording = self.record_ruby(ruby, self.write("waits.rb", RUBY_WAITS), options=("--clock", "wall"), rate=100)
        states = {row["name"]: row["states_ns"]
                  for row in recording.report("--by", "thread", "--idle")["threads"]}
        self.assertGreater(states["waiter"].get("wait", 0), 0.5e9, states)
        self.assertGreater(states["sleeper"].get("sleep", 0), 0.5e9, states)

    def test_what_no_method_is_called_after(self):
        self.on_each_ruby(self.assert_waits)

    def assert_asleep(self, ruby):
        recording = self.record_ruby(ruby, self.write("brief.rb", RUBY_BRIEF), options=("--clock", "wall"), rate=100)
        states = recording.report("--idle")["states_ns"]
        truth = recording.truth["asleep"]
        # What a thread was runnable or waited for the GVL at the end of its sleep is part of the truth.
        more = 0.03 * truth + states.get("runnable", 0) + states.get("gvl", 0)
        self.assertGreater(states.get("sleep", 0), truth - more, states)
        self.assertLess(states.get("lock", 0), 0.02 * truth, states)

    def test_brief_threads_are_asleep(self):
        self.on_each_ruby(self.assert_asleep)


# main() ends its thread alone: the process goes on, and its first thread has no memory any more.
WITHOUT_MAIN = """\
#include <pthread.h>
#include <unistd.h>
static void *works(void *unused) { sleep(1); return unused; }
int main(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, works, NULL);
	pthread_exit(NULL);
}
"""


class InC(Names, live_dump.DumpTest):

    def test_threads_are_read_after_the_first_one_has_ended(self):
        program = self.compile("alone", self.write("alone.c", WITHOUT_MAIN))
        recording = self.record([program], "--clock", "wall", rate=100)
        rows = recording.report("--state", "sleep")["functions"]
        self.assertGreater(sum(row["total_ns"] for row in rows if row["name"] == "works"), 0.5e9, rows)

    def test_variables_have_their_names_and_others_their_place(self):
        program = self.compile("waits", self.write("waits.c", C))
        recording = self.record([program], "--clock", "wall", rate=100)
        calls = self.assert_called(recording, C, "waits.c", " /* ")
        for name in ("mutex stats_lock", "mutex locks+0x50", "semaphore word", "condition ready"):
            self.assertGreater(calls.get(name, 0), 0.3e9, (name, calls))


if __name__ == "__main__":
    live.main()
