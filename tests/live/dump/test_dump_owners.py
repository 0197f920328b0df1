"""What each thread of an interpreter waits for, as a state of the wall clock, and which thread it
waits for."""

import live
import live_dump
import live_python
import live_ruby

PYTHON = """\
import os, select, subprocess, sys, threading, time
pipe = os.pipe()
def sleeper():
    time.sleep(1000)
def reader():
    os.read(pipe[0], 1)
def poller():
    select.select([pipe[0]], [], [], 1000)
def waiter():
    subprocess.Popen(["cat"], stdin=subprocess.PIPE).wait()
lock = threading.Lock()
lock.acquire()
def locked():
    lock.acquire()
def burner():
    while True:
        sum(range(100))
for function in [sleeper, reader, poller, waiter, locked] + 3 * [burner]:
    thread = threading.Thread(target=function)
    thread.daemon = True
    thread.start()
print("ready")
sys.stdout.flush()
sys.stdin.read()
"""
PYTHON_STATES = {"sleeper": "sleep", "reader": "io", "poller": "io", "waiter": "wait", "locked": "lock"}

RUBY = """\
require "monitor"
mutex, monitor = Mutex.new, Monitor.new
reader, writer = IO.pipe
def holder(mutex, monitor) mutex.lock; monitor.enter; sleep 1000 end
def locker(mutex) mutex.lock end
def synchronizer(mutex) mutex.synchronize {} end
def monitorer(monitor) monitor.synchronize {} end
def joiner(thread) thread.join end
def reads(pipe) pipe.read(1) end
$ends = IO.pipe
def waiter() system("cat", in: $ends[0]) end
def popper() Queue.new.pop end
def conditional(mutex, condition) mutex.synchronize { condition.wait(mutex) } end
def burner() loop { 1 + 1 } end
first = Thread.new { holder(mutex, monitor) }
Thread.pass until mutex.locked? && first.status == "sleep"
[-> { locker(mutex) }, -> { synchronizer(mutex) }, -> { monitorer(monitor) }, -> { joiner(first) },
 -> { conditional(Mutex.new, ConditionVariable.new) },
 -> { reads(reader) }, -> { waiter }, -> { popper }, -> { burner }, -> { burner }, -> { burner }
].each { |body| Thread.new(&body) }
puts "ready"
STDOUT.flush
STDIN.read
"""
RUBY_STATES = {"holder": "sleep", "locker": "lock", "synchronizer": "lock", "monitorer": "lock", "joiner": "wait",
               "reads": "io", "waiter": "wait", "popper": "lock", "conditional": "lock"}
RUBY_OWNED = {"locker": "ruby_mutex", "synchronizer": "ruby_mutex", "monitorer": "ruby_mutex", "joiner": "thread"}


def function_of(thread, language, names):
    """Which of these functions a thread executes; None: none of them."""
    plain = [name.replace(".", "#").rpartition("#")[2] for name in live_dump.names(thread, language)]
    return next((name for name in plain if name in names), None)


class OwnersTest(live_dump.DumpTest):
    def by_function(self, dump, language, names):
        return {function_of(thread, language, names): thread for thread in dump["threads"]}

    def has_states(self, dump, language, states):
        threads = self.by_function(dump, language, states)
        return all(name in threads and threads[name]["wait_state"] == state for name, state in states.items())

    def assert_contended(self, pid, language, lock, states):
        """Of three threads that burn, those that wait do so for what one of the three holds."""
        seen, waiting = set(), set()

        def is_seen(dump):
            threads = [thread for thread in dump["threads"] if function_of(thread, language, ["burner"])]
            tids = {thread["tid"] for thread in threads}
            for thread in threads:
                self.assertIn(thread["wait_state"], ("running", lock, "lock"), thread)
                if thread["wait_state"] == lock:
                    self.assertEqual(thread["waits_for"], lock)
                    waiting.add(thread["tid"])
                    seen.update({thread["wait_owner"]} & tids)
            # Where Ruby keeps the holder is not known of each version.
            is_owned = len(seen) > 1 or dump["process"]["gvl_is_verified"] is False
            return len(tids) == 3 and len(waiting) > 1 and is_owned and self.has_states(dump, language, states)
        return self.dump_until(pid, is_seen, f"no thread is found to wait for the {lock}, {states} are not")


class PythonOwners(live_python.PythonTest, OwnersTest):
    def assert_python(self, python):
        program = self.write("states.py", PYTHON)
        run = self.start(python.command(program))
        lock = "gil" if not python.is_free_threaded and python.version >= (3, 7) else "lock"
        if lock == "gil":
            self.assert_contended(run.pid, "python", "gil", PYTHON_STATES)
        else:
            self.dump_until(run.pid, lambda dump: self.has_states(dump, "python", PYTHON_STATES), "states are others")

    def test_states_and_the_gil_in_python(self):
        self.on_each_python(self.assert_python)


class RubyOwners(live_ruby.RubyTest, OwnersTest):
    def assert_ruby(self, ruby):
        run = self.start(ruby.command(self.write("states.rb", RUBY)))
        dump = self.assert_contended(run.pid, "ruby", "gvl", RUBY_STATES)
        threads = self.by_function(dump, "ruby", RUBY_STATES)
        self.assertIsNone(threads["conditional"]["waits_for"])
        for name, kind in RUBY_OWNED.items():
            self.assertEqual((threads[name]["waits_for"], threads[name]["wait_owner"]), (kind, threads["holder"]["tid"]))

    def test_states_the_gvl_and_the_owners_of_mutexes_in_ruby(self):
        self.on_each_ruby(self.assert_ruby)


if __name__ == "__main__":
    live.main()
