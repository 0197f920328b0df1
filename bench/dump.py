#!/usr/bin/env python3
"""dump - what `fathom dump` sees: of threads that know their own stacks, and beside other tools.

  stacks  threads of C, Python and Ruby that wait in read, poll, a lock and a sleep at known depths,
          some of them waking all the time, are read a hundred thousand times: how many stacks are
          wrong, and what share has none, for each kind of wait
  beside  the same processes by py-spy, gdb, rbspy and fathom: how many threads have their lines,
          and the time to answer
"""

import argparse
import collections
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

FATHOM = os.environ["FATHOM"]
WORKLOADS = os.environ.get("WORKLOADS", os.path.join(os.path.dirname(FATHOM), "..", "..", "tests", "workloads"))
BLOCKED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "workloads", "blocked.c")
PYTHON = """import os, random, select, sys, threading, time
ends = [os.pipe() for _ in range(2)]
lock = threading.Lock()
lock.acquire()

def down(depth, wait):
    if depth > 0:
        return down(depth - 1, wait)
    wait()

def wait_read():
    os.read(ends[0][0], 1)

def wait_poll():
    poll = select.poll()
    poll.register(ends[0][0], select.POLLIN)
    poll.poll()

def wait_lock():
    lock.acquire()

def wait_sleep():
    time.sleep(100000)

def wait_nap():
    time.sleep(0.002)

def nap(depth):
    while True:
        down(depth, wait_nap)

waits = (wait_read, wait_poll, wait_lock, wait_sleep)
for i in range(THREADS):
    target = (nap, (i % 9,)) if i % 5 == 4 else (down, (i % 9, waits[i % 5]))
    threading.Thread(target=target[0], args=target[1], name=str(i), daemon=True).start()
time.sleep(1)
print("ready", flush=True)
sys.stdin.read()
os._exit(0)
"""
RUBY = """ends = IO.pipe
$mutex = Mutex.new
$mutex.lock
$reader = ends[0]

def down(depth, wait)
  return down(depth - 1, wait) if depth > 0
  send(wait)
end
def wait_read = $reader.sysread(1)
def wait_poll = IO.select([$reader])
def wait_lock = $mutex.lock
def wait_sleep = sleep(100000)
def wait_nap = sleep(0.002)

waits = %i[wait_read wait_poll wait_lock wait_sleep]
THREADS.times do |i|
  thread = Thread.new do
    i % 5 == 4 ? loop { down(i % 9, :wait_nap) } : down(i % 9, waits[i % 5])
  end
  thread.name = i.to_s
end
sleep 1
puts "ready"
STDOUT.flush
STDIN.read
exit!(0)
"""


def start(command):
    run = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    run.first_line = run.stdout.readline()
    return run


def end(run):
    run.kill()
    run.wait()


def dump(pid):
    done = subprocess.run([FATHOM, "dump", str(pid), "--json"], capture_output=True, check=True)
    return json.loads(done.stdout)


class Tally:
    def __init__(self):
        self.reads, self.wrong = 0, 0
        self.kinds = collections.defaultdict(collections.Counter)

    def add(self, kind, thread, is_right):
        self.reads += 1
        is_sure = thread["trust"] in ("consistent", "copied", "agreed")
        result = "none" if thread["trust"] == "unread" else "doubtful" if not is_sure else "right" if is_right else "wrong"
        if is_sure and not thread["ending"] in ("complete", None):
            result = "cut"
        if result == "wrong":
            self.wrong += 1
            print("WRONG", kind, json.dumps(thread)[:2000], file=sys.stderr)
        self.kinds[kind][result] += 1

    def show(self, language):
        for kind, counts in sorted(self.kinds.items()):
            total = sum(counts.values())
            shares = "  ".join(f"{name} {100 * counts[name] / total:6.2f} %"
                               for name in ("right", "wrong", "cut", "doubtful", "none"))
            print(f"{language:14}{kind:14}{total:8} reads  {shares}", flush=True)


def own(thread, pattern):
    return [name for name in (re.sub(r".*[#.]", "", frame["name"]) for frame in thread["frames"])
            if re.fullmatch(pattern, name)]


def read_c(libc, program, reads):
    tally = Tally()
    for how in ("still", "churn"):
        run = start([program, how, "200" if how == "still" else "40"])
        truth = json.loads(run.first_line)["threads"] if how == "still" else {}
        levels = [f"level_{i}" for i in range(8)]
        begun = tally.reads
        while tally.reads - begun < reads / 2:
            for thread in dump(run.pid)["threads"]:
                if how == "still" and str(thread["tid"]) in truth:
                    known = truth[str(thread["tid"])]
                    found = own(thread, "plain|with_alloca|wait_here")
                    tally.add(known["how"], thread, found[::-1] == known["functions"])
                elif how == "churn" and thread["tid"] != run.pid:
                    found = own(thread, r"level_\d")[::-1]
                    tally.add("poll, waking", thread, found == levels[:len(found)])
        end(run)
    tally.show(libc)
    return tally


def c_programs(folder):
    """The same program with each C library that is here, dynamic and static."""
    programs = {"glibc": os.path.join(WORKLOADS, "blocked")}
    for name, command in (("glibc, static", ["gcc", "-static"]), ("musl", ["musl-gcc"]), ("musl, static", ["musl-gcc", "-static"])):
        path = os.path.join(folder, name.replace(", ", "-"))
        if shutil.which(command[0]) and subprocess.run([*command, "-O2", "-g", "-D_GNU_SOURCE", "-pthread", "-o", path, BLOCKED],
                                                       capture_output=True).returncode == 0:
            programs[name] = path
    return programs


def read_interpreted(language, command, reads, threads):
    """Threads are known by the order they began in, which is that of their numbers."""
    tally = Tally()
    kinds = ["read", "poll", "lock", "sleep", "nap"]
    run = start(command)
    while tally.reads < reads:
        found = [thread for thread in dump(run.pid)["threads"] if own(thread, "wait_.*|down") or thread["tid"] != run.pid]
        found = [thread for thread in found if thread["tid"] != run.pid][-threads:]
        for i, thread in enumerate(found):
            names = own(thread, r"wait_.*|down")
            kind = kinds[i % 5]
            right = (["wait_" + kind] + (i % 9 + 1) * ["down"])
            # One that naps is on its way between them for a part of the time.
            is_right = names == right if kind != "nap" else right[-len(names):] == names or not names
            tally.add(kind if kind != "nap" else "sleep, waking", thread, is_right)
    end(run)
    tally.show(language)
    return tally


def stacks(options):
    total, threads = 0, 50
    with tempfile.TemporaryDirectory() as folder:
        programs = c_programs(folder)
        tallies = [read_c(name, path, options.reads / 2 / len(programs)) for name, path in programs.items()]
        for language, interpreter, text in (("Python", options.python, PYTHON), ("Ruby", shutil.which("ruby"), RUBY)):
            if not interpreter:
                print(f"{language}: no interpreter")
                continue
            path = os.path.join(folder, language)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text.replace("THREADS", str(threads)))
            tallies.append(read_interpreted(language, [interpreter, path], options.reads / 4, threads))
    total = sum(tally.reads for tally in tallies)
    wrong = sum(tally.wrong for tally in tallies)
    print(f"{total} reads, {wrong} wrong")
    return wrong == 0


DEADLOCK = """import sys, threading
first, second = threading.Lock(), threading.Lock()
both = threading.Barrier(2)
def take(one, other):
    with one:
        both.wait()
        with other:
            pass
for pair in ((first, second), (second, first)):
    threading.Thread(target=take, args=pair, daemon=True).start()
for _ in range(7):
    threading.Thread(target=threading.Event().wait, daemon=True).start()
print("ready", flush=True)
sys.stdin.read()
"""
MANY = """import sys, threading
def wait_here(): threading.Event().wait()
for _ in range(200): threading.Thread(target=wait_here, daemon=True).start()
print("ready", flush=True)
sys.stdin.read()
"""
SERVER = """require "socket"
def serve_one(server) = server.accept
def serve
  server = TCPServer.new("127.0.0.1", 0)
  4.times { Thread.new { serve_one(server) } }
  puts "ready"
  STDOUT.flush
  serve_one(server)
end
serve
"""
PREFORK = """import os, socket, sys
def serve(listener):
    listener.accept()
listener = socket.socket(); listener.bind(("127.0.0.1", 0)); listener.listen()
for _ in range(3):
    if os.fork() == 0: serve(listener)
print("ready", flush=True)
sys.stdin.read()
"""


def tools(options, pid, core):
    target = ["--core", core] if core else [str(pid)]
    found = {"fathom dump": [FATHOM, "dump", *target]}
    if options.py_spy:
        found["py-spy dump"] = [options.py_spy, "dump", *(["--core", core] if core else ["--pid", str(pid)])]
    if options.rbspy and not core:
        found["rbspy snapshot"] = [options.rbspy, "snapshot", "--pid", str(pid)]
    if shutil.which("gdb"):
        found["gdb"] = ["gdb", "-q", "-nx", "-batch", "-iex", "set debuginfod enabled off",
                        *([os.path.realpath(f"/proc/{pid}/exe"), core] if core else ["-p", str(pid)]),
                        "-ex", "thread apply all bt"]
    return found


def compare(options, title, pid, wanted, count, core=None):
    """wanted: what a thread's line looks like that was found right; count: how many of them there are."""
    for name, command in tools(options, pid, core).items():
        times = []
        for _ in range(options.rounds):
            begin = time.monotonic()
            done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True)
            times.append(time.monotonic() - begin)
        text = done.stdout.decode(errors="replace")
        found = sum(bool(re.search(wanted, block)) for block in re.split(r"\n(?=[Tt]hread )", text))
        why = "" if found else " " + (done.stderr.decode(errors="replace").strip().splitlines() or ["nothing"])[-1][:90]
        print(f"{title:34}{name:16}{found:4} of {count:3}  {statistics.median(times) * 1e3:7.0f} ms{why}", flush=True)


def beside(options):
    with tempfile.TemporaryDirectory() as folder:
        def program(name, text):
            path = os.path.join(folder, name)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            return path

        cases = [("Python, a deadlock, ten threads", [options.python, program("deadlock.py", DEADLOCK)], r"take\b.*deadlock.py:7\b|take \(.*deadlock.py:7\)", 2),
                 ("Python, 200 threads", [options.python, program("many.py", MANY)], r"wait_here\b.*many.py:2\b|wait_here \(.*many.py:2\)", 200),
                 ("Ruby, a server that waits", [shutil.which("ruby"), program("server.rb", SERVER)], r"serve_one\b.*server.rb:2\b", 5),
                 ("C, five kinds of wait, a mutex", [os.path.join(WORKLOADS, "blocked"), "still", "10"], r"wait_here\b.*blocked.c:\d+", 10)]
        for title, command, wanted, count in cases:
            run = start(command)
            time.sleep(0.5)
            compare(options, title, run.pid, wanted, count)
            end(run)
        run = start([options.python, program("prefork.py", PREFORK)])
        time.sleep(0.5)
        with open(f"/proc/{run.pid}/task/{run.pid}/children", encoding="ascii") as file:
            children = [int(word) for word in file.read().split()]
        compare(options, "Python, one of three workers", children[0], r"serve\b.*prefork.py:3\b|serve \(.*prefork.py:3\)", 1)
        for child in children:
            os.kill(child, 9)
        end(run)
        unshare = ["unshare", "--fork", "--pid", "--mount-proc", options.python, program("inside.py", DEADLOCK)]
        run = start(unshare)
        time.sleep(0.5)
        with open(f"/proc/{run.pid}/task/{run.pid}/children", encoding="ascii") as file:
            child = int(file.read().split()[0])
        compare(options, "Python, in other namespaces", child, r"take\b.*inside.py:7\b|take \(.*inside.py:7\)", 2)
        os.kill(child, 9)
        end(run)
        cores(options, folder, program)


def cores(options, folder, program):
    for title, command, wanted, count in (
            ("a core of Python", [options.python, program("dead.py", DEADLOCK)], r"take\b.*dead.py:7\b|take \(.*dead.py:7\)", 2),
            ("a core of Ruby", [shutil.which("ruby"), program("cored.rb", SERVER)], r"serve_one\b.*cored.rb:2\b", 5),
            ("a core of C", [os.path.join(WORKLOADS, "blocked"), "still", "10"], r"wait_here\b.*blocked.c:\d+", 10)):
        run = start(command)
        time.sleep(0.5)
        subprocess.run(["gcore", "-o", os.path.join(folder, "core"), str(run.pid)], stdin=subprocess.DEVNULL,
                       capture_output=True)
        core = os.path.join(folder, f"core.{run.pid}")
        if os.path.exists(core):
            compare(options, title, run.pid, wanted, count, core)
        end(run)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=("stacks", "beside"))
    parser.add_argument("--reads", type=int, default=100000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--py-spy", default=shutil.which("py-spy"))
    parser.add_argument("--rbspy", default=shutil.which("rbspy"))
    options = parser.parse_args()
    if options.part == "stacks":
        sys.exit(0 if stacks(options) else 1)
    beside(options)


if __name__ == "__main__":
    main()
