"""Functions have the same shares of a program that a recorder is attached to as of one that it starts."""

import json
import math
import subprocess

import live
import processes
from live_programs import ProgramsTest

RATE = 1000
# Standard errors of what is counted: of 2,700 comparisons in 180 runs each the widest were 2.9 and 3.7.
ALLOWED = 5
# Of CPU time in the functions.
BUDGET_MS = 1000

# Each says how long its functions took, from when a line is on its standard input.  They take user time only: an
# attached recorder has page faults in a row of their own.
PYTHON = """
import json, select, sys, time
def one(n):
    while n: n -= 1
def two(n):
    n *= 2
    while n: n -= 1
def three(n):
    n *= 3
    while n: n -= 1
def formats(n):
    for i in range(n // 4): "%d" % i
def sums(n):
    return sum(range(3 * n))
spent = dict.fromkeys([one, two, three, formats, sums], 0)
def turn(i):
    for function in spent:
        begin = time.thread_time_ns()
        function(1000 + i * 7919 % 4000)
        spent[function] += time.thread_time_ns() - begin
def warm():
    sum(range(10000))
print("ready", flush=True)
while not select.select([0], [], [], 0)[0]: warm()
end = time.thread_time_ns() + int(sys.argv[1]) * 1000000
turns = 0
while time.thread_time_ns() < end:
    turn(turns)
    turns += 1
print(json.dumps({function.__name__: ns for function, ns in spent.items()}), flush=True)
"""
RUBY = """
require "json"
def one(n) n -= 1 while n > 0 end
def two(n) n *= 2; n -= 1 while n > 0 end
def three(n) n *= 3; n -= 1 while n > 0 end
def sums(n) s = i = 0; while i < n; s += i; i += 1; end; s end
SPENT = %i[one two three sums].to_h { |name| [name, 0] }
def clock() Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID, :nanosecond) end
def turn(i)
  SPENT.each_key do |name|
    start = clock
    __send__(name, 1000 + i * 7919 % 4000)
    SPENT[name] += clock - start
  end
end
def warm() i = 0; i += 1 while i < 10000 end
$stdout.sync = true
puts "ready"
warm until IO.select([$stdin], nil, nil, 0)
finish = clock + ARGV[0].to_i * 1000000
turns = 0
while clock < finish
  turn(turns)
  turns += 1
end
puts JSON.generate(SPENT)
"""


class AttachShares(ProgramsTest):

    compares_times = True

    def measure(self, command, is_attached):
        """{function: its share}, and how many samples that is of."""
        path = self.path("test.fathom")
        program = [*command, str(BUDGET_MS)]
        record = [live.FATHOM, "record", "-q", "-r", str(RATE), "-o", path]
        run = subprocess.Popen(program if is_attached else [*record, "--", *program], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE)
        self.addCleanup(processes.end_process, run)
        self.assertEqual(run.stdout.readline(), b"ready\n")
        recorder = subprocess.Popen([*record, "-p", str(run.pid)]) if is_attached else run
        if is_attached:
            self.addCleanup(processes.end_process, recorder)
        processes.wait_until(lambda: live.has_samples(path), 300, "no sample is committed")
        run.stdin.write(b"\n")
        run.stdin.flush()
        truth = json.loads(run.stdout.readline())
        self.assertEqual((run.wait(60), recorder.wait(60)), (0, 0))
        recording = live.Recording(path, None)
        times = {name: recording.time_of(name, "total_ns") for name in truth}
        if not any(times.values()):
            times = {name: recording.time_of(f"Object#{name}", "total_ns") for name in truth}
        self.trigger = recording.head()["trigger"]
        return self.shares(truth), self.shares(times), sum(times.values()) / 1e9 * RATE

    def shares(self, times):
        return {name: ns / sum(times.values()) for name, ns in times.items()}

    def assert_alike(self, command, trigger):
        attached, attached_times, attached_count = self.measure(command, True)
        if self.trigger != trigger:
            self.skipTest(f"a process that runs is recorded by {self.trigger} here")
        started, started_times, started_count = self.measure(command, False)
        for name, share in attached.items():
            error = math.sqrt(share * (1 - share) / attached_count)
            self.assertAlmostEqual(attached_times[name], share, delta=ALLOWED * error, msg=f"{name}, in truth")
            # What the machine did to the two runs is in both truths.
            error = math.sqrt(share * (1 - share) * (1 / attached_count + 1 / started_count))
            self.assertAlmostEqual(attached_times[name] - share, started_times[name] - started[name],
                                   delta=ALLOWED * error, msg=name)

    def test_python(self):
        self.assert_alike([self.need("/usr/bin/python3"), self.write("shares.py", PYTHON)], "sigtrap")

    def test_ruby(self):
        self.assert_alike([self.need("ruby"), self.write("shares.rb", RUBY)], "sigtrap")

    def test_a_native_program_by_copied_stacks(self):
        self.assert_alike([self.build("shares_gated", "shares_gated.c")], "copied")


if __name__ == "__main__":
    live.main()
