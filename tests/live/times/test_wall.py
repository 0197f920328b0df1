"""The wall clock: every thread's life is in the recording, each moment in one state, waits with their stacks."""

import subprocess
import sys

import live
from live import workload

STATES = ("running", "runnable", "gil", "gvl", "lock", "syscall", "stopped", "io", "sleep", "wait")
# Of a thread's life: what all states may be off.
MOST_OFF = 0.001
# Of a thread's waits, by its own clock: at both ends of each, a few microseconds are not waited.
TOLERANCE = 0.01
EDGE_NS = 60_000

PYTHON = """
import os, threading, time
lock = threading.Lock()
def sleeps():
    time.sleep(0.6)
def holds():
    with lock:
        time.sleep(0.5)
def locks():
    time.sleep(0.1)
    with lock:
        pass
r, w = os.pipe()
def reads():
    os.read(r, 1)
def burns():
    end = time.thread_time() + 0.3
    while time.thread_time() < end:
        pass
threads = [threading.Thread(target=f) for f in (holds, sleeps, locks, reads, burns, burns)]
for thread in threads:
    thread.start()
time.sleep(0.7)
os.write(w, b"x")
for thread in threads:
    thread.join()
"""

HOLDERS = """
import threading, time
def holds_it(end):
    while time.monotonic() < end:
        sum(range(20000))
def light(end):
    while time.monotonic() < end:
        time.sleep(0.001)
end = time.monotonic() + 2
threads = [threading.Thread(target=f, args=(end,)) for f in (holds_it, light)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""

SERVER = """
import threading, time
def naps():
    while True:
        time.sleep(0.05)
for _ in range(3):
    threading.Thread(target=naps, daemon=True).start()
print("ready", flush=True)
time.sleep(600)
"""


def threads_of(recording):
    """[(name, life in ns, {state: ns})]"""
    lives = {}
    end = recording.head()["wall_ns"]
    for row, name, life in recording.rows("SELECT id, name, coalesce(end_ns, ?) - start_ns FROM threads", end):
        lives[row] = (name, life, {})
    for row, state, ns in recording.rows("SELECT thread, state, sum(weight_ns) FROM samples GROUP BY thread, state"):
        lives[row][2][STATES[state]] = ns
    return list(lives.values())


class Wall(live.LiveTest):
    compares_times = True

    def record_wall(self, command, *options, rate=100):
        return self.record(command, "--clock", "wall", *options, rate=rate)

    def assert_whole_lives(self, recording):
        threads = threads_of(recording)
        for name, life, states in threads:
            self.assertLessEqual(abs(sum(states.values()) - life), life * MOST_OFF + 1000, (name, life, states))
        self.assertEqual(sum(sum(states.values()) for _, _, states in threads), recording.total_ns())
        self.assertEqual(sum(recording.report()["states_ns"].values()), recording.total_ns())
        return threads

    def stacks_of(self, recording, state):
        """{leaf function: ns} of a state, with the names of the frames that it stands on."""
        names = recording.functions_of_stacks()
        found = {}
        for stack, ns in recording.rows("SELECT stack, sum(weight_ns) FROM samples WHERE state = ? GROUP BY stack",
                                        STATES.index(state)):
            leaf = names[stack][0] if names[stack] else ""
            frames, before = found.get(leaf, (set(), 0))
            found[leaf] = (frames | set(names[stack][1:]), before + ns)
        return found

    def test_each_wait_has_its_time_and_its_state(self):
        for rate in (100, 1000):
            with self.subTest(rate=rate):
                recording = self.record_wall(workload("lives", 1.5), rate=rate)
                threads = {name: (life, states) for name, life, states in self.assert_whole_lives(recording)}
                self.assertEqual(recording.truth["interrupted"], 0)
                for name, truth in recording.truth["threads"].items():
                    life, states = threads[name]
                    got = states.get(truth["state"], 0)
                    rest = sum(states.get(state, 0) for state in ("runnable", "running"))
                    edges = EDGE_NS * truth["waits"]
                    # What it measured has what it waited for a CPU behind each wait, too.
                    self.assertLessEqual(got, truth["ns"] * (1 + TOLERANCE), (name, truth, states))
                    self.assertGreaterEqual(got + rest + edges, truth["ns"] * (1 - TOLERANCE), (name, truth, states))

    def test_a_waiting_stack_ends_with_the_call_and_what_it_is_on(self):
        recording = self.record_wall(workload("lives", 1), rate=100)
        io = self.stacks_of(recording, "io")
        self.assertIn("read(a pipe)", io)
        self.assertIn("reads", io["read(a pipe)"][0])
        self.assertTrue(any(leaf.startswith("poll(") and "polls" in frames for leaf, (frames, _) in io.items()), io)
        sleep = self.stacks_of(recording, "sleep")
        self.assertTrue(any("sleeps" in frames for frames, _ in sleep.values()), sleep)
        self.assertTrue(any("locks" in frames for frames, _ in self.stacks_of(recording, "lock").values()))
        self.assertTrue(any("waits_for_child" in frames for frames, _ in self.stacks_of(recording, "wait").values()))

    def test_pythons_functions_stand_on_their_waits(self):
        recording = self.record_wall([sys.executable, "-c", PYTHON])
        self.assert_whole_lives(recording)
        for state, function, least in (("sleep", "sleeps", 0.55e9), ("lock", "locks", 0.3e9), ("io", "reads", 0.6e9),
                                       ("gil", "burns", 0.1e9)):
            rows = recording.report("--state", state)["functions"]
            ns = sum(row["total_ns"] for row in rows if row["name"] == function)
            self.assertGreater(ns, least, (state, function, [(row["name"], row["total_ns"]) for row in rows]))
        # Running and waiting, it is one function.
        self.assertEqual(sum(row["name"] == "burns" for row in recording.report()["functions"]), 1)

    def test_reports_by_state(self):
        recording = self.record_wall(workload("lives", 0.5))
        states = recording.report("--by", "state")["states"]
        self.assertEqual(sum(row["self_ns"] for row in states), recording.total_ns())
        self.assertEqual({row["name"]: row["self_ns"] for row in states},
                         {name: ns for name, ns in recording.report()["states_ns"].items() if ns})
        waiting = recording.report("--state", "waiting")
        self.assertEqual(waiting["total_ns"], sum(ns for name, ns in recording.report()["states_ns"].items()
                                                  if name not in ("running", "runnable")))
        text = subprocess.run([live.FATHOM, "report", recording.path], capture_output=True, timeout=120, text=True)
        self.assertIn("threads lived", text.stdout)
        refused = subprocess.run([live.FATHOM, "report", "--state", "idle", recording.path], capture_output=True,
                                 timeout=120, text=True)
        self.assertIn("no state", refused.stderr)

    def test_without_perf_events_schedstat_has_the_lengths(self):
        recording = self.record(workload("lives", 1.5), "--clock", "wall", rate=100,
                                launcher=(workload("without_perf")[0],))
        self.assertTrue(any("schedstat" in note for note in recording.head()["notes"]), recording.head()["notes"])
        for name, life, states in threads_of(recording):
            if life > 500_000_000:
                self.assertLessEqual(abs(sum(states.values()) - life), life * MOST_OFF, (name, life, states))
        sleep = recording.report("--state", "sleep")["functions"]
        # Of three threads' 4.5 s: a wait of 0.2 ms is read by chance, and beside a load a thread is late.
        self.assertGreater(sum(row["total_ns"] for row in sleep if row["name"] == "sleeps"), 2 * 1_000_000_000)
        io = recording.report("--state", "io")["functions"]
        self.assertGreater(sum(row["total_ns"] for row in io if row["name"] in ("reads", "polls")), 2 * 1_000_000_000)
        self.assertEqual(recording.truth["interrupted"], 0)

    def test_a_new_name_of_a_thread_is_seen_without_perf_events(self):
        program = self.write("names.py", "import ctypes, time\ntime.sleep(0.2)\n"
                                         "ctypes.CDLL(None).prctl(15, b'renamed')\ntime.sleep(0.5)\n")
        recording = self.record([sys.executable, program], "--clock", "wall", rate=100, launcher=workload("without_perf"))
        self.assertIn("renamed", [row["name"] for row in recording.report("--by", "thread")["threads"]])

    def test_brief_threads_without_perf_events_live_as_long_as_is_known(self):
        """Two hundred, each over before /proc is scanned again: most are known from their samples alone."""
        recording = self.record(workload("churn", 1600), "--clock", "wall", rate=1000, launcher=(workload("without_perf")[0],))
        threads = threads_of(recording)
        self.assertGreater(len(threads), 20)
        for name, life, states in threads:
            self.assertLessEqual(abs(sum(states.values()) - life), life * MOST_OFF + 1000, (name, life, states))

    def test_a_process_that_runs_already(self):
        server = subprocess.Popen([sys.executable, "-c", SERVER], stdout=subprocess.PIPE)
        self.addCleanup(server.stdout.close)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        server.stdout.readline()
        path = self.path("attached.fathom")
        subprocess.run([live.FATHOM, "record", "-q", "--clock", "wall", "-d", "1", "-o", path, "-p", str(server.pid)],
                       check=True, capture_output=True, timeout=120)
        recording = live.Recording(path, None)
        # They are left one after the other, when the recording is over.
        threads = self.assert_whole_lives(recording)
        # Those that brought the agent in are not the program's.
        threads = [thread for thread in threads if thread[1] > 500_000_000]
        self.assertEqual(len(threads), 4)
        for name, life, states in threads:
            self.assertGreater(states.get("sleep", 0) + states.get("runnable", 0), 0.8 * life, (name, states))
        functions = {row["name"] for row in recording.report("--state", "sleep")["functions"]}
        self.assertIn("naps", functions)

    def blame_of(self, recording, waiter, state):
        """{what the holder executed of these: ns} of the threads that stood in `waiter`, and all of it."""
        parts, whole = {}, 0
        for row in recording.report("--blame")["blame"]:
            if row["state"] != state or waiter not in [frame["name"] for frame in row["waiter"]["stack"]]:
                continue
            whole += row["ns"]
            for name in {frame["name"] for frame in row["holder"]["stack"]}:
                parts[name] = parts.get(name, 0) + row["ns"]
        return parts, whole

    def test_a_thread_that_waits_for_the_gil_is_booked_with_what_its_holder_did(self):
        recording = self.record_wall([sys.executable, "-c", HOLDERS])
        parts, whole = self.blame_of(recording, "light", "gil")
        gil = sum(row["total_ns"] for row in recording.report("--state", "gil")["functions"] if row["name"] == "light")
        self.assertGreater(gil, 0)
        self.assertGreater(parts.get("holds_it", 0), 0.5 * whole, parts)
        self.assertLessEqual(whole, gil * 1.01)

    def test_a_mutex_is_held_by_what_its_owner_does(self):
        recording = self.record_wall(workload("lives", 1.0))
        parts, whole = self.blame_of(recording, "locks", "lock")
        self.assertGreater(whole, 0)
        # It naps for 48 of the 50 ms.
        self.assertGreater(parts.get("nap", 0), 0.8 * whole, parts)
        text = subprocess.run([live.FATHOM, "report", "--blame", recording.path], capture_output=True, timeout=120,
                              text=True).stdout
        self.assertRegex(text, r"mutex mutex +holder .* nap .*locker .* locks")

    def test_blame_needs_the_wall_clock(self):
        recording = self.record(["true"])
        refused = subprocess.run([live.FATHOM, "report", "--blame", recording.path], capture_output=True, timeout=120,
                                 text=True)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("--clock wall", refused.stderr)

    def test_the_cpu_clocks_head_names_the_wall_clock(self):
        recording = self.record(["sleep", "0.3"], rate=1000)
        text = subprocess.run([live.FATHOM, "report", recording.path], capture_output=True, timeout=120, text=True)
        # Of a machine that has nothing to spare it says so.
        self.assertRegex(text.stdout, r"(?s)busy: (mostly\s+waiting;\s+--clock\s+wall\s+shows\s+where|"
                                      r"others used [0-9.]+ of \d+)\).*\nfathom record --clock wall -- sleep 0.3")


if __name__ == "__main__":
    live.main()
