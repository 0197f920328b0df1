"""A thread that sleeps beside the main thread's work, and a main thread that waits for a worker's end: each has its
whole life, in Python and Ruby."""

import live
import live_python
import live_ruby
import live_wall

PYTHON_JOIN = """
import json, threading, time
def worker():
    end = time.thread_time() + 0.2
    while time.thread_time() < end:
        pass
    time.sleep(0.4)
thread = threading.Thread(target=worker, name="worker")
begun = time.monotonic_ns()
thread.start()
thread.join()
print(json.dumps({"wait": time.monotonic_ns() - begun}))
"""

PYTHON_SLEEP = """
import json, threading, time
took = {}
def sleeper():
    begun = time.monotonic_ns()
    time.sleep(1)
    took["sleep"] = time.monotonic_ns() - begun
thread = threading.Thread(target=sleeper, name="sleeper")
thread.start()
def work():
    while thread.is_alive():
        sum(range(1000))
work()
print(json.dumps(took))
"""

RUBY_JOIN = """
require "json"
def now() Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond) end
def cpu() Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) end
def worker
  ends = cpu + 0.2
  nil while cpu < ends
  sleep 0.4
end
begun = now
thread = Thread.new { Thread.current.name = "worker"; worker }
thread.join
puts JSON.generate("wait" => now - begun)
"""

RUBY_SLEEP = """
require "json"
def now() Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond) end
def sleeper
  begun = now
  sleep 1
  $slept = now - begun
end
thread = Thread.new { Thread.current.name = "sleeper"; sleeper }
def work(thread)
  (1..1000).sum { |i| i * 2 } while thread.alive?
end
work(thread)
puts JSON.generate("sleep" => $slept)
"""

# Around a wait a thread runs, wants a CPU or its interpreter's lock, and has waits that none is met of.
UNREAD = "[waits too short to read]"
AROUND = ("running", "runnable", "gil", "gvl", "syscall")


class Joins(live_wall.WallTest):

    def threads(self, recording):
        """({state: ns} of the first thread, of the other one), whose lives are whole."""
        (_, _, main), *others = self.assert_whole_lives(recording)
        # From 3.3 on Ruby has a helper of its own.
        return main, next(states for name, _, states in others if name in ("worker", "sleeper") or len(others) == 1)

    def ns_in(self, recording, state, names):
        functions = recording.report("--state", state)["functions"]
        return sum(row["total_ns"] for row in functions if row["name"] in names)

    def assert_is_known(self, recording, states, state, calls):
        """The wait by the program's own clock is in these calls, but for what is around it; returns it."""
        true, said = recording.truth[state], self.ns_in(recording, state, calls)
        unread = states[state] - said
        self.assertGreater(said, 0)
        self.assertLessEqual(said, true)
        self.assertGreaterEqual(said + unread + sum(states.get(other, 0) for other in AROUND), true, states)
        # All of it that was read.
        self.assertEqual(unread, self.ns_in(recording, state, (UNREAD,)))
        return said

    def check_sleep(self, recording, function, calls):
        main, sleeper = self.threads(recording)
        # The agent interposes functions that wait.
        for row in recording.report("--state", "waiting")["functions"]:
            self.assertNotIn("fathom-agent", row["module"] or "", row)
        slept = self.assert_is_known(recording, sleeper, "sleep", calls)
        self.assertEqual(self.ns_in(recording, "sleep", function), slept)
        self.assertGreater(main["running"], 0)
        self.assertNotIn("sleep", main)

    def check_join(self, recording, calls, most_left=0.0):
        main, worker = self.threads(recording)
        waited = self.assert_is_known(recording, main, "wait", calls)
        self.assertLessEqual(worker.pop("wait", 0), most_left * sum(worker.values()))
        rows = [row for row in recording.report("--blame", "-n", "0")["blame"] if row["state"] == "wait"]
        self.assertEqual({row["holder"]["thread"] for row in rows}, {"worker"}, rows)
        # Parts of a row that are less than a nanosecond are in none.
        self.assertLessEqual(abs(sum(row["ns"] for row in rows) - waited), 1000 + len(rows))


class Python(Joins, live_python.PythonTest):

    def test_each_version(self):
        self.on_each_python(self.check, oldest=(3, 7))

    def record_program(self, python, program):
        return self.record_python(python, self.write("app.py", program), options=("--clock", "wall"), rate=100)

    def check(self, python):
        self.check_join(self.record_program(python, PYTHON_JOIN), ("Thread.join", "join"))
        self.check_sleep(self.record_program(python, PYTHON_SLEEP), ("sleeper",), ("time.sleep",))


class Ruby(Joins, live_ruby.RubyTest):

    def test_each_version(self):
        self.on_each_ruby(self.check)

    def record_program(self, ruby, program):
        return self.record_ruby(ruby, self.write("app.rb", program), options=("--clock", "wall"), rate=100)

    def check(self, ruby):
        # Up to 3.2 the worker waits for another Thread.new until the program ends.
        most_left = 0.05 if ruby.version < (3, 3) else 0.0
        self.check_join(self.record_program(ruby, RUBY_JOIN), ("Thread#join",), most_left)
        self.check_sleep(self.record_program(ruby, RUBY_SLEEP), ("Object#sleeper",), ("Kernel#sleep", "Kernel.sleep"))


if __name__ == "__main__":
    live.main()
