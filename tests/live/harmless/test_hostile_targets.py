"""What reads a process from outside, and what attaches to it: its memory may be anything, and change while it is read.

Another process writes over the memory of one that rests: over its interpreter's objects, its stacks, what libc
keeps.  Whatever becomes of it, fathom ends with what it found, or with a sentence.
"""

import os
import random
import signal
import struct
import subprocess
import threading
import time

import live
import live_dump
import processes
from live import FATHOM
from live_core import CoreTest, allow_core

# Of what only looks at a process or a file, and of 'record'.
FAILURES = (1, 125)
SECONDS = 180
MOST_RESIDENT_KIB = 256 << 10
PAGE = 4096
MOST_OF_A_MAPPING = 32 << 20
EDGES = (0, 1, 2, 4095, 1 << 31, (1 << 32) - 1, 1 << 32, 1 << 62, (1 << 63) - 1, 1 << 63, (1 << 64) - 1, 0x7fffffff7fffffff)

PYTHON = """\
import queue, threading
lock = threading.Lock()
lock.acquire()
def deep(n, held):
    numbers, node, text = {i: [i] * 3 for i in range(5)}, [held], "\\u00e4" * 50
    if n:
        return deep(n - 1, {n: held})
    threading.Event().wait()
def takes():
    values = (1, 2.5, None, {1, 2}, b"xx")
    yield lock.acquire()
for i in range(3):
    threading.Thread(target=deep, args=(20, {}), name=f"deep {i}", daemon=True).start()
threading.Thread(target=lambda: list(takes()), daemon=True).start()
threading.Thread(target=lambda: queue.Queue().get(), daemon=True).start()
print("ready", flush=True)
deep(30, {})
"""
RUBY = """\
$lock = Mutex.new
$lock.lock
def deep(n, held) = n > 0 ? [1].each { deep(n - 1, { n => held }) } : Queue.new.pop
3.times { |i| Thread.new { Thread.current.name = "deep #{i}"; deep(15, {}) } }
Thread.new { $lock.lock }
puts "ready"
$stdout.flush
sleep
"""
# CPython 3.11: PyThreadState.cframe, _PyCFrame.current_frame, _PyInterpreterFrame.previous.
CIRCLE = """\
import ctypes, hashlib, sys, threading, time
assert sys.version_info[:2] == (3, 11)
source = "def f(n):\\n" + "    a = 1\\n" * 5000 + '''
    if n:
        return f(n - 1)
    states.append(ctypes.pythonapi.PyThreadState_Get())
    hashlib.pbkdf2_hmac("sha512", b"x", b"y", 10 ** 9)
'''
states = []
ctypes.pythonapi.PyThreadState_Get.restype = ctypes.c_void_p
exec(source)
threading.Thread(target=f, args=(5,), daemon=True).start()
while not states:
    time.sleep(0.01)
time.sleep(0.3)
at = ctypes.c_uint64.from_address
frame = chain = at(at(states[0] + 56).value + 8).value
for _ in range(4):
    chain = at(chain + 48).value
at(chain + 48).value = frame
print("ready", flush=True)
threading.Event().wait()
"""


# Of a variable, a function, a thread, a file and a library.
ESCAPES = """\
import ctypes, shutil, sys, threading
evil = "\\033[31m\\x9b7m\\u202e"
def f():
    secret = evil
    threading.Event().wait()
names = {name: evil + name for name in ("co_name", "co_qualname", "co_filename") if hasattr(f.__code__, name)}
code = f.__code__.replace(co_varnames=(evil + "v",), **names)
f = type(f)(code, globals())
library = sys.argv[1] + "/lib" + evil + ".so"
shutil.copy(sys.argv[2], library)
call = ctypes.CFUNCTYPE(None)(f)
threading.Thread(target=f, name=evil, daemon=True).start()
threading.Thread(target=lambda: ctypes.CDLL(library).calls(call), daemon=True).start()
print("ready", flush=True)
threading.Event().wait()
"""
CALLS = "void calls(void (*function)(void)) { function(); __asm__ volatile(\"\"); }\n"


class Scribbler(threading.Thread):
    """Writes into the memory of a process until it is stopped: pointers to elsewhere in it, numbers at the edge, noise."""

    def __init__(self, pid, seed, writes):
        super().__init__()
        self.chance = random.Random(seed)
        self.writes = writes
        self.is_over = threading.Event()
        self.fd = os.open(f"/proc/{pid}/mem", os.O_RDWR)
        with open(f"/proc/{pid}/maps") as file:
            ranges = [line.split()[0].split("-") for line in file if " rw" in line]
        self.ranges = [(int(start, 16), int(end, 16)) for start, end in ranges]
        self.pages = dict(self.used_pages())
        self.places = list(self.pages)
        chosen = self.chance.sample(self.places, min(len(self.places), 300))
        words = {word for place in chosen for word in struct.unpack("<512Q", self.pages[place])}
        self.pointers = [word for word in words if any(start <= word < end for start, end in self.ranges)] or [0]

    def used_pages(self):
        for start, end in self.ranges:
            for place in range(start, min(end, start + MOST_OF_A_MAPPING), PAGE):
                try:
                    page = os.pread(self.fd, PAGE, place)
                except OSError:
                    break
                if len(page) == PAGE and page.count(0) < PAGE:
                    yield place, page

    def instead_of(self, word):
        kind = self.chance.randrange(10)
        if kind < 5:
            return self.chance.choice(self.pointers)
        if kind < 7:
            return self.chance.choice(EDGES)
        return word ^ 1 << self.chance.randrange(64) if kind < 9 else self.chance.getrandbits(64)

    def scribble(self):
        place, at = self.chance.choice(self.places), 8 * self.chance.randrange(512)
        word, = struct.unpack_from("<Q", self.pages[place], at)
        try:
            os.pwrite(self.fd, struct.pack("<Q", self.instead_of(word)), place + at)
        except OSError:
            pass

    def run(self):
        while not self.is_over.wait(0.005):
            for _ in range(self.writes):
                self.scribble()

    def stop(self):
        self.is_over.set()
        self.join()
        os.close(self.fd)


class HostileTargets(CoreTest):
    def victims(self):
        yield [self.need("python3"), self.write("victim.py", PYTHON)]
        yield [self.need("ruby"), self.write("victim.rb", RUBY)]

    def run_bounded(self, *command, until=None):
        """Runs it to its end, in bounded time and memory: it does what it can, or says in a sentence why it cannot."""
        with open(self.path("out"), "w+b") as out, open(self.path("err"), "w+b") as err:
            run = subprocess.Popen([FATHOM, *command], stdin=subprocess.DEVNULL, stdout=out, stderr=err)
            timer = threading.Timer(SECONDS, run.kill)
            asked = threading.Timer(until or SECONDS, run.send_signal, (signal.SIGINT,))
            timer.start()
            asked.start()
            _, status, usage = os.wait4(run.pid, 0)
            run.returncode = os.waitstatus_to_exitcode(status)
            timer.cancel()
            asked.cancel()
            err.seek(0)
            said = err.read().decode(errors="replace")
            out.seek(0)
            shown = out.read()
        self.assertIn(run.returncode, (0, *FAILURES), said)
        if run.returncode != 0:
            self.assertRegex(said.splitlines()[-1], r"\Afathom: [^\n]+\Z")
        self.assertLess(usage.ru_maxrss, MOST_RESIDENT_KIB)
        self.assertNotRegex(shown, rb"[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xaa-\xae]")
        return run.returncode

    def scribbled(self, seed, writes, rounds, look):
        """look() so often at each of the victims, while it is written over; anew once it has died of that."""
        for command in self.victims():
            with self.subTest(command=command, seed=seed):
                victim = self.start(command)
                self.dump_until(victim.pid, live_dump.is_resting, "its threads never all rest")
                scribbler = Scribbler(victim.pid, seed, writes)
                scribbler.start()
                self.addCleanup(processes.end_process, victim)
                try:
                    for _ in range(rounds):
                        if victim.poll() is None:
                            look(victim.pid)
                finally:
                    scribbler.stop()
                    processes.end_process(victim)

    def test_dumps(self):
        def look(pid):
            self.run_bounded("dump", "--locals", "--no-pager", str(pid))
            self.run_bounded("dump", "--json", "--locals", "--native", str(pid))
        for seed, writes in ((1, 20), (2, 2000)):
            self.scribbled(seed, writes, 2, look)

    def record(self, pid, *options):
        path = self.path("test.fathom")
        if os.path.exists(path):
            os.unlink(path)
        self.run_bounded("record", "-q", "-d", "0.4", "-o", path, "-p", str(pid), *options)
        if os.path.exists(path):
            self.assertEqual([self.run_bounded(*reader, path) for reader in (("report",), ("info",))], [0, 0])

    def test_recordings_of_one_that_runs(self):
        for seed, options in ((4, ("--clock", "wall")), (5, ("--clock", "cpu")), (6, ("--trigger", "copied"))):
            self.scribbled(seed, 100, 1, lambda pid, options=options: self.record(pid, *options))

    def test_top(self):
        self.scribbled(7, 100, 1, lambda pid: self.run_bounded("top", "-i", "0.3", str(pid), until=1))

    def test_names_that_would_steer_a_terminal(self):
        library = self.path("calls.so")
        with open(self.path("calls.c"), "w") as file:
            file.write(CALLS)
        subprocess.run([self.need("gcc"), "-shared", "-fPIC", "-o", library, self.path("calls.c")], check=True)
        victim = self.start([self.need("python3"), self.write("escapes.py", ESCAPES), self.folder, library])
        dump = self.dump_until(victim.pid, live_dump.is_resting, "its threads never all rest", "--native")
        self.assertIn("\033", "".join(frame["name"] for thread in dump["threads"] for frame in thread["frames"]))
        for options in (("--locals",), ("--native",)):
            self.assertEqual(self.run_bounded("dump", "--no-pager", *options, str(victim.pid)), 0)
        self.record(victim.pid, "--clock", "wall")

    def test_cores(self):
        folder = self.core_folder()
        for command in self.victims():
            for seed in (8, 9):
                with self.subTest(command=command, seed=seed):
                    victim = self.start(command, cwd=folder, preexec_fn=allow_core)
                    self.dump_until(victim.pid, live_dump.is_resting, "its threads never all rest")
                    scribbler = Scribbler(victim.pid, seed, 500)
                    scribbler.start()
                    time.sleep(0.1)
                    scribbler.stop()
                    os.kill(victim.pid, signal.SIGABRT)
                    victim.wait(timeout=SECONDS)
                    core = self.core_in(folder)
                    self.run_bounded("dump", "--locals", "--no-pager", "--core", core)
                    self.run_bounded("dump", "--json", "--native", "--core", core)

    def test_one_whose_mappings_come_and_go(self):
        victim = subprocess.Popen(live.workload("unmapping", live.WORKLOADS, 10 ** 9), stdout=subprocess.DEVNULL)
        self.addCleanup(processes.end_process, victim)
        for _ in range(6):
            self.run_bounded("dump", "--no-pager", str(victim.pid))
        self.record(victim.pid, "--clock", "wall")

    @live.long_only  # the dump takes all its ten seconds; tests/unit/walk/test_python.c has a circle, too
    def test_frames_in_a_circle(self):
        """Each is read in its time, and there is no end of them."""
        victim = self.start([self.need("python3"), self.write("circle.py", CIRCLE)], stderr=subprocess.DEVNULL)
        if victim.first_line != b"ready\n":
            self.skipTest("python3 is not CPython 3.11, whose frames are here made a circle")
        self.assertEqual(self.run_bounded("dump", "--no-pager", str(victim.pid)), 0)


if __name__ == "__main__":
    live.main()
