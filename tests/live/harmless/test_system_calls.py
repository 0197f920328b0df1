"""A program makes the system calls under fathom that it makes without, and a known few more.

They are counted by the kernel's tracepoint (tests/workloads/count_calls.c), by number, over the
program and all its descendants.
"""

import os
import re
import subprocess

import live
from live import FATHOM, workload

# What is allowed to be more, and why: {call: how many at most}.  Nothing may be fewer.
ALLOWED = {
    # The dynamic linker maps the agent, which looks at what signals do, shows the kernel where the
    # environment ends without its own, makes its handshake, asks whose process answers, and maps
    # its ring if its size is sealed.  Without CAP_SYS_RESOURCE the kernel refuses the short way to say where the
    # environment ends (agent/core/environment_end.h): prctl(), once more, then.
    "image": {
        "openat": 2, "read": 2, "newfstatat": 1, "mmap": 7, "mprotect": 1, "madvise": 1, "close": 4,
        "rt_sigaction": 4, "rt_sigprocmask": 4, "sigaltstack": 1, "prctl": 3, "prlimit64": 1, "brk": 1,
        "getpid": 2, "getrusage": 3, "clock_gettime": 7,
        "socket": 1, "setsockopt": 2, "connect": 1, "sendto": 1, "recvmsg": 1,
        "getsockopt": 1, "fcntl": 1, "lseek": 1,
    },
    # A child gives the parent's ring back, makes its handshake and maps its own.
    "fork": {
        "munmap": 1, "mmap": 1, "madvise": 1, "close": 2, "rt_sigprocmask": 4, "getpid": 4,
        "getrusage": 3, "clock_gettime": 7,
        "socket": 1, "setsockopt": 2, "connect": 1, "sendto": 1, "recvmsg": 1,
        "getsockopt": 1, "fcntl": 1, "lseek": 1,
    },
    # What is to be run is looked at first (abi/program.h): ld.so would complain of an agent it
    # cannot load.  The trap is held back meanwhile, and ignored from then on.
    "exec": {
        "openat": 1, "pread64": 4, "newfstatat": 1, "close": 1, "getresuid": 1, "getresgid": 1,
        # Each place in PATH that is asked for it; a kernel before 5.8 has only the first.
        "faccessat": 3, "faccessat2": 3,
        # The pages its arguments and its environment lie in are proven readable.
        "getpid": 3, "getrusage": 1, "clock_gettime": 1, "rt_sigaction": 2, "rt_sigprocmask": 12,
    },
    # A new thread has an alternate stack of ours until it ends, mapped for sixteen threads at a time.  At its
    # end its clock, its switches and its number are read (docs/decisions/0037); its number twice where its first
    # sample is taken while it is asked for it.  Before the first, what signals are ignored is looked up
    # (agent/signals/ignored.h).
    "thread": {
        "sigaltstack": 2, "mmap": 1, "madvise": 1,
        "rt_sigaction": 40,
        "gettid": 2, "clock_gettime": 3, "getrusage": 2, "rt_sigprocmask": 2,
    },
    # A timer of its own: the thread is known to the kernel by its number.
    "thread by timer": {"timer_create": 1, "timer_settime": 1, "timer_delete": 1, "gettid": 1},
    # The handler returns; it may read the thread's clock and its switches (docs/decisions/0008),
    # prove a page of a stack readable, and copy from where memory may go.  Where it has found a
    # call interrupted it asks what signals wait (0010); a wait it has ended begins anew (0009).
    # A walk that takes a good part of the period is measured by the thread's clock (agent/sample/budget.h):
    # that of a short program is, since all its rules are still to be found.  One that took long by the clock
    # on the wall, as where others preempt it, is measured once more (trap_count()); what is copied may lie
    # across two pages.
    "trap": {
        "rt_sigreturn": 1, "clock_gettime": 4, "getrusage": 1, "rt_sigprocmask": 1, "process_vm_readv": 2,
        # Where an interpreter's frames are read, what SIGSEGV does is asked first (0004).
        "rt_sigpending": 1, "rt_sigaction": 1,
    },
    # A timer of each thread, the first of each image or child included.
    "image or fork by timer": {"timer_create": 1, "timer_settime": 1, "gettid": 1},
}

# How often threads wait for one another is not a program's to say; how many pieces of a new
# arena malloc() gives back goes by its address.
VARIES_WITH_THREADS = {"futex", "sched_yield", "munmap"}

# The workload's ten shells of popen(), whose streams we make; its ten execs in children of vfork(),
# which have their environment from a room that is given back so; and its waits.  A thread that is
# first sampled on a stack of another kind has up to 8 MiB looked through, a page a call, to know its own by.  For
# each alternate stack, and each action that asks for one, it is asked whether that is in a child of vfork() (0038):
# as often as the workload does it.  One such stack has a page that guards it.
EVERY_KIND_MORE = {"prctl": 10, "set_tid_address": 10, "rt_sigsuspend": 50, "rt_sigprocmask": 8192 + 2000,
                   "getpid": 800, "mprotect": 1}

# Before the first of its frames is read ours goes before what SIGSEGV and SIGBUS do (0004), once: how a
# handler returns is in SIGTRAP's action, which is asked for; each of both is asked for, and set.
# Whether an action that asks for an alternate stack is set in a child of vfork() is asked by getpid (0038).
INTERPRETER_MORE = {"rt_sigaction": 5, "getpid": 4, "sigaltstack": 4}

# Two threads wait in turn for a time, a pipe and a poll, six milliseconds each turn.
WAITS = """
import os, select, sys, threading, time
def waits(number):
    r, w = os.pipe()
    poll = select.poll()
    poll.register(r, select.POLLIN)
    for turn in range(number):
        time.sleep(0.003)
        poll.poll(3)
        os.write(w, b"x")
        os.read(r, 1)
thread = threading.Thread(target=waits, args=(int(sys.argv[1]),))
thread.start()
waits(int(sys.argv[1]))
thread.join()
"""

RUNGS = {
    "sigtrap": (),
    "user time": ("--clock", "user"),
    "timer": ("--trigger", "timer"),
}


def names_of_calls():
    """{number: name}, as the C library's headers have them."""
    for path in ("/usr/include/x86_64-linux-gnu/asm/unistd_64.h", "/usr/include/asm/unistd_64.h"):
        if os.path.exists(path):
            with open(path) as file:
                return {number: name for name, number in re.findall(r"#define __NR_(\w+) (\d+)", file.read())}
    return None


def allowed(counts, traps, is_timer):
    """{call: how many more there may be}."""
    times = {
        "image": counts["images"], "fork": counts["forks"], "exec": counts["images"], "thread": counts["threads"],
        "trap": traps, "image or fork by timer": (counts["images"] + counts["forks"]) * is_timer,
        "thread by timer": counts["threads"] * is_timer,
    }
    more = {}
    for event, calls in ALLOWED.items():
        for call, number in calls.items():
            more[call] = more.get(call, 0) + number * times[event]
    return more


class SystemCalls(live.LiveTest):

    def setUp(self):
        super().setUp()
        self.names = names_of_calls()
        if self.names is None:
            self.skipTest("the numbers of system calls are not in /usr/include")
        # LD_LIBRARY_PATH would have every program look for libraries in vain.
        self.environment = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}
        self.environment["PYTHONHASHSEED"] = "0"
        # Each place in it costs a call where a program is searched for: as many as are allowed for.
        self.environment["PATH"] = "/usr/local/bin:/usr/bin:/bin"

    def count(self, command):
        run = subprocess.run([*workload("count_calls", "fathom"), *command], stdin=subprocess.DEVNULL,
                             capture_output=True, cwd=self.folder, env=self.environment, timeout=300)
        if run.returncode == 77:
            self.skipTest(run.stderr.decode().strip())
        self.assertEqual(run.returncode, 0, run.stderr.decode(errors="replace"))
        counts = live.truth_of(run.stdout)
        self.assertEqual(counts["lost"], 0)
        counts["calls"] = {self.names.get(number, number): n for number, n in counts["calls"].items()}
        return counts

    def assert_same(self, command, varies=frozenset(), special={}, rungs=RUNGS, rate=10000):
        """Each count is a bare run's, or more by what is allowed."""
        bare = [self.count(command) for _ in range(2)]
        for title, options in rungs.items():
            with self.subTest(rung=title):
                recorded = self.count([FATHOM, "record", "-q", "--rate", str(rate), *options,
                                       "-o", self.path("test.fathom"), "--", *command])
                for what in ("images", "forks", "threads"):
                    self.assertEqual(recorded[what], bare[0][what], what)
                self.assert_within(bare, recorded, title == "timer", varies, special)

    def assert_within(self, bare, recorded, is_timer, varies, special):
        def least_and_most(call):
            counts = [run["calls"].get(call, 0) for run in bare]
            return min(counts), max(counts)

        traps = recorded["calls"].get("rt_sigreturn", 0) - least_and_most("rt_sigreturn")[0]
        more = allowed(recorded, traps, is_timer)
        wrong = {}
        for call in sorted({*bare[0]["calls"], *bare[1]["calls"], *recorded["calls"]} - set(varies)):
            least, most = least_and_most(call)
            number = recorded["calls"].get(call, 0)
            allowed_more = more.get(call, 0) + special.get(call, 0)
            if not least <= number <= most + allowed_more:
                wrong[call] = f"{number}, not {least} to {most} + {allowed_more}"
        self.assertEqual(wrong, {}, f"{recorded['images']} images, {recorded['forks']} forks, {traps} traps")

    def test_of_every_kind_there_are_as_many(self):
        self.assert_same(workload("every_kind", os.path.join(live.WORKLOADS, "libfirst.so")),
                         varies=VARIES_WITH_THREADS, special=EVERY_KIND_MORE)

    def test_of_waits_on_the_wall_clock(self):
        """No call ends early and begins again, however often its thread is looked at.  (With events: a program that
        switches as often as this one is sampled by timers otherwise, which are made by system calls.)"""
        self.assert_same(["/usr/bin/python3", "-S", "-c", WAITS, str(10000 if live.IS_LONG else 300)],
                         VARIES_WITH_THREADS, INTERPRETER_MORE, {"wall": ("--clock", "wall", "--trigger", "sigtrap")},
                         rate=1000)

    def test_of_real_programs(self):
        source = self.path("source")
        with open(source, "w") as file:
            file.writelines(f"line {n} of {n * n} words\n" for n in range(60000))
        for command, varies, special in (
                (["gzip", "-kf", source], (), {}),
                (["xz", "-T2", "-0kf", source], VARIES_WITH_THREADS, {}),
                (["sqlite3", ":memory:", "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n"
                  " LIMIT 100000) SELECT sum(i) FROM n;"], (), {}),
                (["/usr/bin/python3", "-S", "-c", "print(sum(i * i for i in range(300000)))"], (), INTERPRETER_MORE),
                (["bash", "-c", "for i in 1 2 3 4 5 6 7 8; do /bin/true; x=$(echo $i | cat); done"], (), {})):
            with self.subTest(command[0]):
                self.need(command[0])
                self.assert_same(command, varies, special)


if __name__ == "__main__":
    live.main()
